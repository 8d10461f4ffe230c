/* SPDX-License-Identifier: MIT
 *
 * Random problems: what is searched, memory and synchronisation.
 */
#include "tests/prop/random_parts.h"

#include <math.h>

/* Ascending values from 1 to most, usually with 1 among them. */
static struct problem_domain make_domain(struct maker *maker, uint32_t most,
					 bool powers, double free)
{
	struct problem_domain domain = { NULL, 0 };
	uint32_t *at;

	if (!powers &&
	    maker_chance(maker, maker->roomy || maker->cuts ? 0.95 : free))
		return domain;
	at = ARENA_ARRAY(maker->arena, uint32_t, most + 1);
	for (uint32_t i = 1; i <= most; i++) {
		if (powers && (i & (i - 1)) != 0)
			continue;
		if (maker_chance(maker, i == 1 ? 0.9 : 0.7))
			at[domain.count++] = i;
	}
	if (domain.count == 0)
		at[domain.count++] = 1;
	domain.at = at;
	return domain;
}

static struct problem_domain make_single(struct maker *maker, uint32_t value)
{
	uint32_t *at = ARENA_NEW(maker->arena, uint32_t);

	*at = value;
	return (struct problem_domain){ at, 1 };
}

/* Devices that fail, and pipeline ranks that have their place. */
static void make_devices(struct maker *maker)
{
	struct problem *problem = maker->problem;
	uint32_t devices = problem->device_count;
	uint32_t *avoided = ARENA_ARRAY(maker->arena, uint32_t, devices);
	struct problem_pin *pin =
		ARENA_ARRAY(maker->arena, struct problem_pin, 2);

	problem->avoided = avoided;
	problem->pin = pin;
	if (maker_chance(maker, 0.2))
		for (uint32_t i = 0; i < devices; i++)
			if (maker_chance(maker, 0.2) &&
			    problem->avoided_count + 1 < devices)
				avoided[problem->avoided_count++] = i;
	if (!maker_chance(maker, 0.12))
		return;
	problem->pin_count = 1 + maker_below(maker, 2);
	for (uint32_t i = 0; i < problem->pin_count; i++) {
		pin[i].last = maker_chance(maker, 0.4);
		pin[i].rank = pin[i].last ? 0 : maker_below(maker, 3);
		pin[i].first = maker_below(maker, devices);
		pin[i].count = 1 + maker_below(maker, devices - pin[i].first);
	}
}

/* ZeRO stages and shard levels. */
static void make_zero(struct maker *maker)
{
	struct problem *problem = maker->problem;
	double more = maker->shards ? 0.5 : 0.25;
	uint32_t allowed = 0;

	problem->zero[0] = maker_chance(maker, maker->shards ? 0.1 : 0.6);
	problem->zero[1] = maker_chance(maker, 0.4);
	problem->zero[2] = maker_chance(maker, more);
	problem->zero[3] = maker_chance(maker, more);
	for (uint32_t zero = 0; zero < 4; zero++)
		allowed += problem->zero[zero];
	if (allowed == 0)
		problem->zero[maker_below(maker, 4)] = true;
	if (!maker_chance(maker, maker->shards ? 1 :
			  problem->level_count == 1 ? 0.1 : 0.4))
		return;
	for (uint32_t l = 0; l < problem->level_count; l++)
		problem->shard_level[l] = maker_chance(maker, l ? 0.7 : 0.4);
}

/* Recomputation, how many layers of it, and schedules. */
static void make_policies(struct maker *maker)
{
	struct problem *problem = maker->problem;
	uint32_t *layers = ARENA_ARRAY(maker->arena, uint32_t, 8), count = 0;

	for (int r = 0; r < RECOMPUTE_COUNT; r++)
		problem->recompute[r] = maker_chance(maker, 0.45);
	if (maker->roomy)
		problem->recompute[2] = true;
	if (!problem->recompute[1] && !problem->recompute[2])
		problem->recompute[0] = true;
	if (maker_chance(maker, 0.4)) {
		uint32_t most = 2 + maker_below(maker, 3);

		for (uint32_t i = 1; i < 8 && count < most; i++)
			if (maker_chance(maker, 0.4))
				layers[count++] = i;
		problem->recompute_layers =
			(struct problem_domain){ layers, count };
	}
	if (maker_chance(maker, 0.35))
		for (int s = 0; s < SCHEDULE_COUNT; s++)
			problem->schedule[s] = maker_chance(maker, 0.6);
}

void maker_space(struct maker *maker)
{
	static const uint32_t batch[] = { 1, 2, 3, 4, 6, 8, 12, 12, 16, 24 };
	static const uint32_t batch_power[] = { 1, 2, 4, 8, 8, 16 };
	struct problem *problem = maker->problem;
	uint32_t devices = problem->device_count;

	problem->global_batch = maker->dyadic ? maker_pick(maker, batch_power, 6) :
						maker_pick(maker, batch, 10);
	if ((maker->roomy || maker->cuts) && problem->global_batch < 8)
		problem->global_batch = maker->dyadic ? 16 : 12;
	problem->data = make_domain(maker, devices, false, 0.75);
	if (maker->cuts || maker_chance(maker, 0.25))
		problem->data = make_single(maker, maker->cuts ?
					    1 + maker_below(maker, 2) : 1);
	problem->pipeline = make_domain(maker, devices, maker->dyadic, 0.75);
	if (maker->cuts)
		problem->pipeline = make_single(maker,
			maker->dyadic ? 2u << maker_below(maker, 2) :
					2 + maker_below(maker, 3));
	problem->virtual_stages = make_domain(maker, 8, false, 0.7);
	problem->devices = make_domain(maker, devices, false, 0.75);
	if (maker_chance(maker, 0.08))
		problem->devices = make_single(maker, devices);
	make_zero(maker);
	make_policies(maker);
	make_devices(maker);
	problem->uniform_stages = maker_chance(maker, 0.2);
	for (int d = 0; d < DIMENSION_COUNT; d++)
		if (maker_chance(maker, 0.1))
			problem->within[d] = 1 + maker_below(maker, problem->level_count);
}

void maker_memory(struct maker *maker)
{
	struct problem *problem = maker->problem;
	struct problem_memory *memory = &problem->memory;
	double chain = 0;

	memory->weight_bytes = 2;
	memory->gradient_bytes = maker_chance(maker, 0.5) ? 4 : 2;
	memory->optimizer_bytes = maker_chance(maker, 0.1) ? 0 : 12;
	memory->reserve_bytes = maker_amount_or_zero(maker, 64, 0.5);
	memory->group_bytes = maker_amount_or_zero(maker, 16, 0.5);
	for (uint32_t r = 0; r < problem->run_count; r++) {
		uint32_t class_index = problem->run[r].class_index;
		const struct problem_cost *cost =
			problem_cost_at(problem, 0, class_index, RECOMPUTE_NONE);

		chain += problem->run[r].count *
			 (problem_weight_at(problem, 0, class_index)->parameters *
			  18 + 3 * cost->saved_bytes);
	}
	chain += 128;
	memory->limit_bytes = 1e30;
	if (maker_chance(maker, 0.75))
		memory->limit_bytes = floor(chain *
			exp2(3 * random_unit(&maker->random) - 2.5));
	if (maker_chance(maker, 0.04))
		memory->limit_bytes = 1;
}

void maker_sync(struct maker *maker)
{
	struct problem_sync *sync = &maker->problem->sync;

	sync->reduce_bytes = maker_chance(maker, 0.1) ? 0 : maker_chance(maker, 0.5) ? 4 : 2;
	sync->gather_bytes = maker_chance(maker, 0.1) ? 0 : 2;
	sync->overlap_reduce = maker_chance(maker, 0.5);
	sync->overlap_gather = maker_chance(maker, 0.5);
	sync->step_bytes = maker_chance(maker, 0.1) ? 0 : 16;
	sync->memory_bandwidth_Bps = maker_amount(maker, 4096);
	maker->problem->device_dollars_per_s = maker_amount_or_zero(maker, 1, 0.3);
	maker->problem->device_watts = maker_amount_or_zero(maker, 512, 0.3);
}

/* Some of `all` parameters: none, half or all of them; if they must be whole, in one
 * weight or more. */
static struct problem_apart make_apart(struct maker *maker, double all, bool whole)
{
	static const uint32_t parts[] = { 1, 1, 2, 4, 8 };
	struct problem_apart apart = { 0 };

	if (all <= 0 || maker_chance(maker, 0.2))
		return apart;
	apart.parameters = maker_chance(maker, 0.5) ? all : all / 2;
	apart.step_s = maker_amount_or_zero(maker, 0.25, 0.1);
	if (!whole)
		return apart;
	apart.largest = apart.parameters / maker_pick(maker, parts, 5);
	apart.largest_step_s = apart.step_s / maker_pick(maker, parts, 5);
	return apart;
}

/* Draws from numbers of its own: the rest of a problem is the same without. */
void maker_apart(struct maker *maker)
{
	struct random before = maker->random;
	struct problem *problem = maker->problem;
	uint32_t weights = problem->shape_count * problem->class_count;
	struct problem_weight *weight =
		ARENA_ARRAY(maker->arena, struct problem_weight, weights);
	bool whole;

	maker->random.state ^= UINT64_C(0x6a09e667f3bcc909);
	problem->states_apart = maker_chance(maker, 0.2);
	whole = maker_chance(maker, 0.7);
	for (uint32_t i = 0; i < weights && problem->states_apart; i++) {
		double own = problem->weight[i].parameters -
			     problem->weight[i].tied_parameters;

		weight[i] = problem->weight[i];
		weight[i].apart = make_apart(maker, own, whole);
		weight[i].expert_apart =
			make_apart(maker, weight[i].expert_parameters, whole);
	}
	if (problem->states_apart) {
		problem->weight = weight;
		problem->memory.apart_bytes = maker_chance(maker, 0.5) ? 8 : 16;
	}
	if (problem->states_apart && whole) {
		problem->zero[1] |= !problem->zero[0];
		problem->zero[2] = problem->zero[3] = false;
	}
	maker->random = before;
}

/* How experts exchange; likewise. */
void maker_exchange(struct maker *maker)
{
	struct random before = maker->random;

	maker->random.state ^= UINT64_C(0xbb67ae8584caa73b);
	if (maker_chance(maker, 0.3)) {
		struct problem_exchange *exchange = &maker->problem->exchange;
		static const uint32_t groups[] = { 1, 2, 4, 3 };

		exchange->groups = maker_pick(maker, groups, 4);
		exchange->experts = 8 * exchange->groups * (1 + maker_chance(maker, 0.5));
		exchange->copies = 1 + maker_below(maker, 8);
		exchange->chosen_groups =
			1 + maker_below(maker, (uint32_t)exchange->groups);
		/* Shares of several copies are no binary fractions. */
		if (maker->dyadic)
			exchange->copies = exchange->groups =
				exchange->chosen_groups = 1;
	}
	maker->random = before;
}
