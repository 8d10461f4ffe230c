/* SPDX-License-Identifier: MIT
 *
 * The generator aims at the edges: memory limits that bind, requirements that
 * exclude about half the plans, networks as slow as the compute, zeros, ones
 * and equal numbers more often than chance would give them.
 */
#include "tests/prop/random_problem.h"

#include <math.h>
#include <string.h>

#define STEPS_MAX 12

uint64_t random_next(struct random *random)
{
	/* splitmix64: Steele, Lea, Flood 2014 */
	uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint32_t random_below(struct random *random, uint32_t bound)
{
	return (uint32_t)(random_next(random) % bound);
}

double random_unit(struct random *random)
{
	return (double)(random_next(random) >> 11) * 0x1p-53;
}

bool random_chance(struct random *random, double probability)
{
	return random_unit(random) < probability;
}

/* What is being made, and with which taste. */
struct maker {
	struct random random;
	struct random_problem *made;
	struct problem *problem;
	struct arena *arena;
	bool dyadic;
	bool flat;		/* all costs from a few equal values */
	bool plain;		/* all alike: nearly everything ties */
	bool still;		/* and compute takes no time */
	bool roomy;		/* as large a space as the oracle can walk */
	bool cuts;		/* few configurations, all with many cuts */
	bool experts;		/* some layers have experts */
	double comm;		/* typical bytes of a collective */
};

static bool chance(struct maker *maker, double probability)
{
	return random_chance(&maker->random, probability);
}

static uint32_t below(struct maker *maker, uint32_t bound)
{
	return random_below(&maker->random, bound);
}

static uint32_t pick(struct maker *maker, const uint32_t *from, uint32_t count)
{
	return from[below(maker, count)];
}

/* A positive amount around `typical`: exact in dyadic problems. */
static double amount(struct maker *maker, double typical)
{
	static const double few[] = { 0.5, 1, 1, 2 };

	if (maker->plain)
		return typical;
	if (maker->dyadic || maker->flat)
		return typical * few[below(maker, 4)];
	return typical * exp2(4 * random_unit(&maker->random) - 2);
}

static double amount_or_zero(struct maker *maker, double typical, double zero)
{
	if (maker->plain)
		zero = (1 + zero) / 2;
	return chance(maker, zero) ? 0 : amount(maker, typical);
}

/* A whole amount: bytes and parameters. */
static double whole(struct maker *maker, double typical)
{
	return ceil(amount(maker, typical));
}

/* ---- network ---- */

static void make_fanouts(struct maker *maker)
{
	static const uint32_t any[] = { 1, 2, 2, 2, 3, 4, 4, 5, 6, 7, 8, 16 };
	static const uint32_t power[] = { 1, 2, 2, 4, 8, 16 };
	struct problem *problem = maker->problem;
	uint32_t most = 4 + below(maker, 13);

	if (chance(maker, 0.1))
		most = 1 + below(maker, 3);
	if (maker->roomy || maker->cuts)
		most = 12 + below(maker, 5);
	problem->level_count = 1 + below(maker, 3);
	problem->device_count = 1;
	for (uint32_t l = 0; l < problem->level_count; l++) {
		uint32_t fanout = maker->dyadic ? pick(maker, power, 6) :
						  pick(maker, any, 12);

		if (l + 1 == problem->level_count && chance(maker, 0.7))
			fanout = maker->dyadic ? 16 : most / problem->device_count;
		while (fanout * problem->device_count > most)
			fanout = maker->dyadic ? fanout / 2 : fanout - 1;
		problem->level[l].fanout = fanout ? fanout : 1;
		problem->device_count *= problem->level[l].fanout;
	}
}

/* Dyadic problems keep to halves: no full levels, tori of two dimensions. */
static void make_level_kind(struct maker *maker, struct problem_level *level,
			    uint32_t l)
{
	if (chance(maker, 0.2))
		level->overhead_s = amount(maker, 0x1p-6);
	if (chance(maker, 0.2))
		level->nics = maker->dyadic ? 1u << below(maker, 3) :
					      1 + below(maker, 8);
	if (l > 0 && chance(maker, 0.2))
		level->rails = 1 + below(maker, 8);
	if (level->in_network_reduction && chance(maker, 0.5))
		level->reduction_efficiency = maker->dyadic ? 0.25 :
			0.3 + 0.7 * random_unit(&maker->random);
	if (!chance(maker, 0.4))
		return;
	level->in_network_reduction = false;
	level->kind = !maker->dyadic && chance(maker, 0.4) ? LEVEL_FULL :
							     LEVEL_RING;
	if (level->kind == LEVEL_FULL)
		return;
	level->wrap = chance(maker, 0.6);
	if (l > 0 && (!maker->dyadic || l == 1))
		level->joined = level[-1].kind == LEVEL_RING &&
				chance(maker, 0.7);
}

static void make_network(struct maker *maker)
{
	struct problem *problem = maker->problem;
	bool free_latency = chance(maker, 0.2);

	make_fanouts(maker);
	for (uint32_t l = 0; l < problem->level_count; l++) {
		struct problem_level *level = &problem->level[l];

		level->bandwidth_Bps = amount(maker, l == 0 ? 2048 : 512);
		level->latency_s = free_latency ? 0 :
				   amount_or_zero(maker, 0x1p-6, 0.2);
		level->oversubscription = 1;
		if (chance(maker, 0.4))
			level->oversubscription = 1 + (maker->dyadic ?
				pick(maker, (uint32_t[]){ 1, 3, 7 }, 3) :
				5 * random_unit(&maker->random));
		level->efficiency = 1;
		if (chance(maker, 0.4))
			level->efficiency = maker->dyadic ? 0.5 :
				0.3 + 0.7 * random_unit(&maker->random);
		level->in_network_reduction = chance(maker, 0.25);
		make_level_kind(maker, level, l);
	}
}

/* ---- chain ---- */

/* An embedding, blocks of one or two kinds, a head. */
static void make_model_chain(struct maker *maker, struct problem_run *run,
			     bool *is_block, uint32_t layers)
{
	struct problem *problem = maker->problem;
	uint32_t last = problem->class_count - 1, count = 0;

	is_block[0] = is_block[last] = false;
	is_block[1] = true;
	run[count++] = (struct problem_run){ 0, 1 };
	run[count++] = (struct problem_run){ 1, layers - 2 };
	if (last > 2 && layers > 3) {
		run[1].count = 1 + below(maker, layers - 3);
		run[count++] = (struct problem_run){ 2, layers - 2 - run[1].count };
	}
	run[count++] = (struct problem_run){ last, 1 };
	problem->run_count = count;
}

static void make_chain(struct maker *maker)
{
	struct problem *problem = maker->problem;
	uint32_t runs = 1 + below(maker, 4), left = 3 + below(maker, 6);
	struct problem_run *run = ARENA_ARRAY(maker->arena, struct problem_run, 4);
	bool *is_block;

	if (chance(maker, 0.3))
		left = 1 + below(maker, 4);
	if (maker->roomy)
		left = 6 + below(maker, 3);
	if (maker->cuts)
		left = 7 + below(maker, 4);
	problem->class_count = 1 + below(maker, 3) + below(maker, 2);
	is_block = ARENA_ARRAY(maker->arena, bool, problem->class_count);
	for (uint32_t i = 0; i < problem->class_count; i++)
		is_block[i] = chance(maker, 0.7);
	problem->run = run;
	problem->class_is_block = is_block;
	if (left > 2 && problem->class_count > 2 && chance(maker, 0.6)) {
		make_model_chain(maker, run, is_block, left);
		return;
	}
	for (uint32_t r = 0; r < runs && left > 0; r++) {
		run[r].class_index = below(maker, problem->class_count);
		run[r].count = r + 1 == runs ? left : 1 + below(maker, left);
		if (r == 0 && chance(maker, 0.5))
			run[r].count = 1;
		left -= run[r].count;
		problem->run_count = r + 1;
	}
}

static uint32_t class_layers(const struct problem *problem, uint32_t class_index)
{
	uint32_t count = 0;

	for (uint32_t r = 0; r < problem->run_count; r++)
		if (problem->run[r].class_index == class_index)
			count += problem->run[r].count;
	return count;
}

/* Ties two classes that occur once each, where there are such. */
static void make_tied(struct maker *maker)
{
	struct problem *problem = maker->problem;
	uint32_t once[4], count = 0;

	problem->tied_class = problem->tied_with_class = CLASS_NONE;
	for (uint32_t i = 0; i < problem->class_count; i++)
		if (class_layers(problem, i) == 1)
			once[count++] = i;
	if (count < 2 || !chance(maker, 0.6))
		return;
	problem->tied_class = once[count - 1];
	problem->tied_with_class = once[below(maker, count - 1)];
}

/* ---- shapes and costs ---- */

static void cut_experts(struct maker *maker, struct problem_shape *shape)
{
	static const uint32_t power[] = { 1, 2, 2, 4, 8 };
	static const uint32_t any[] = { 1, 2, 2, 3, 4, 6 };

	shape->expert = maker->dyadic ? pick(maker, power, 5) :
					pick(maker, any, 6);
	if (chance(maker, 0.4))
		shape->expert_tensor = maker->dyadic ? 2 : 2 + below(maker, 2);
}

static void make_shapes(struct maker *maker)
{
	static const uint32_t power[] = { 1, 1, 1, 2, 2, 4 };
	static const uint32_t any[] = { 1, 1, 2, 2, 3, 4 };
	static const uint32_t micro[] = { 1, 1, 2, 3, 4 };
	static const uint32_t micro_power[] = { 1, 1, 2, 4 };
	struct problem *problem = maker->problem;
	struct problem_shape *shape;

	problem->shape_count = 1 + below(maker, chance(maker, 0.5) ? 6 : 3);
	if (maker->roomy)
		problem->shape_count = 3 + below(maker, 4);
	if (maker->cuts)
		problem->shape_count = 1 + below(maker, 2);
	shape = ARENA_ARRAY(maker->arena, struct problem_shape,
			    problem->shape_count);
	for (uint32_t s = 0; s < problem->shape_count; s++) {
		shape[s].tensor = maker->dyadic ? pick(maker, power, 6) :
						  pick(maker, any, 6);
		shape[s].context = chance(maker, 0.6) ? 1 :
				   maker->dyadic ? pick(maker, power, 6) :
						   pick(maker, any, 6);
		shape[s].expert = shape[s].expert_tensor = 1;
		if (s == 0 && chance(maker, 0.7))
			shape[s].tensor = shape[s].context = 1;
		if (maker->experts && chance(maker, 0.7))
			cut_experts(maker, &shape[s]);
		shape[s].sequence = chance(maker, 0.4);
		shape[s].micro_batch = maker->dyadic ?
			pick(maker, micro_power, 4) : pick(maker, micro, 5);
		if (maker->cuts)
			shape[s].tensor = shape[s].context = 1;
		if (maker->cuts || chance(maker, 0.5))
			shape[s].micro_batch = 1;
	}
	problem->shape = shape;
}

static uint32_t make_collectives(struct maker *maker,
				 struct problem_collective *out)
{
	static const enum group groups[] = {
		GROUP_TENSOR, GROUP_TENSOR, GROUP_TENSOR, GROUP_CONTEXT,
		GROUP_CONTEXT, GROUP_EXPERT, GROUP_EXPERT, GROUP_EXPERT_TENSOR,
	};
	uint32_t count = below(maker, 4), kinds = maker->experts ? 8 : 5;

	for (uint32_t i = 0; i < count; i++) {
		out[i].kind = (enum collective)below(maker, COLLECTIVE_COUNT);
		out[i].group = groups[below(maker, kinds)];
		out[i].backward = chance(maker, 0.5);
		out[i].bytes = amount_or_zero(maker, maker->comm, 0.1);
		out[i].hidden_s = amount_or_zero(maker, 0.125, 0.6);
	}
	return count;
}

static void make_cost(struct maker *maker, const struct problem_shape *shape,
		      struct problem_cost *policy, bool is_block)
{
	double work = (double)shape->micro_batch /
		      (shape->tensor * shape->context);
	double typical = is_block || maker->plain ? work : work / 4;
	bool zero = maker->still || chance(maker, 0.05);

	policy[0].forward_s = zero ? 0 : amount(maker, typical);
	policy[0].backward_s = maker->flat || maker->plain ?
		2 * policy[0].forward_s :
		amount_or_zero(maker, 2 * typical, 0.05);
	policy[0].saved_bytes = chance(maker, maker->plain ? 0.7 : 0.05) ? 0 :
				whole(maker, 64 * shape->micro_batch);
	policy[0].working_bytes = amount_or_zero(maker, 64, 0.3);
	for (int r = 1; r < RECOMPUTE_COUNT; r++) {
		double again = maker->dyadic ? 0.25 * r :
			       r * random_unit(&maker->random) / 2;

		policy[r].forward_s = policy[0].forward_s;
		policy[r].backward_s = policy[0].backward_s +
				       again * policy[0].forward_s;
		policy[r].saved_bytes = chance(maker, 0.1) ?
			policy[0].saved_bytes :
			floor(policy[0].saved_bytes / (1 + 2 * r));
		policy[r].working_bytes = policy[0].working_bytes +
			amount_or_zero(maker, 32 * r, 0.5);
	}
}

static void make_costs(struct maker *maker)
{
	struct problem *problem = maker->problem;
	uint32_t count = problem->shape_count * problem->class_count *
			 RECOMPUTE_COUNT;
	struct problem_cost *cost =
		ARENA_ARRAY(maker->arena, struct problem_cost, count);
	struct problem_collective *collective =
		ARENA_ARRAY(maker->arena, struct problem_collective, 3 * count);

	problem->collective_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct problem_shape *shape = &problem->shape[
			i / (problem->class_count * RECOMPUTE_COUNT)];
		uint32_t class_index = i / RECOMPUTE_COUNT % problem->class_count;

		if (i % RECOMPUTE_COUNT == 0)
			make_cost(maker, shape, &cost[i],
				  problem->class_is_block[class_index]);
		cost[i].collective_first = problem->collective_count;
		cost[i].collective_count = make_collectives(maker,
			&collective[problem->collective_count]);
		problem->collective_count += cost[i].collective_count;
	}
	problem->cost = cost;
	problem->collective = collective;
}

static void make_weights(struct maker *maker)
{
	struct problem *problem = maker->problem;
	uint32_t classes = problem->class_count;
	struct problem_weight *weight = ARENA_ARRAY(maker->arena,
		struct problem_weight, problem->shape_count * classes);

	for (uint32_t s = 0; s < problem->shape_count; s++) {
		double shared = 0;

		for (uint32_t i = 0; i < classes; i++) {
			struct problem_weight *w = &weight[s * classes + i];

			w->parameters = chance(maker, 0.05) ? 0 :
				whole(maker, 256.0 / problem->shape[s].tensor);
			if (maker->experts && chance(maker, 0.6))
				w->expert_parameters = whole(maker, 256.0 /
					problem->shape[s].expert /
					problem->shape[s].expert_tensor);
			w->output_bytes = amount_or_zero(maker, maker->comm, 0.1);
		}
		if (problem->tied_class == CLASS_NONE)
			continue;
		shared = fmin(weight[s * classes + problem->tied_class].parameters,
			weight[s * classes + problem->tied_with_class].parameters);
		if (chance(maker, 0.1))
			shared = 0;
		weight[s * classes + problem->tied_class].tied_parameters = shared;
		weight[s * classes + problem->tied_with_class].tied_parameters =
			shared;
	}
	problem->weight = weight;
}

/* ---- job ---- */

/* Ascending values from 1 to most, usually with 1 among them. */
static struct problem_domain make_domain(struct maker *maker, uint32_t most,
					 bool powers, double free)
{
	struct problem_domain domain = { NULL, 0 };
	uint32_t *at;

	if (!powers &&
	    chance(maker, maker->roomy || maker->cuts ? 0.95 : free))
		return domain;
	at = ARENA_ARRAY(maker->arena, uint32_t, most + 1);
	for (uint32_t i = 1; i <= most; i++) {
		if (powers && (i & (i - 1)) != 0)
			continue;
		if (chance(maker, i == 1 ? 0.9 : 0.7))
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

static void make_space(struct maker *maker)
{
	static const uint32_t batch[] = { 1, 2, 3, 4, 6, 8, 12, 12, 16, 24 };
	static const uint32_t batch_power[] = { 1, 2, 4, 8, 8, 16 };
	struct problem *problem = maker->problem;
	uint32_t devices = problem->device_count;

	problem->global_batch = maker->dyadic ? pick(maker, batch_power, 6) :
						pick(maker, batch, 10);
	if ((maker->roomy || maker->cuts) && problem->global_batch < 8)
		problem->global_batch = maker->dyadic ? 16 : 12;
	problem->data = make_domain(maker, devices, false, 0.75);
	if (maker->cuts || chance(maker, 0.25))
		problem->data = make_single(maker, maker->cuts ?
					    1 + below(maker, 2) : 1);
	problem->pipeline = make_domain(maker, devices, maker->dyadic, 0.75);
	if (maker->cuts)
		problem->pipeline = make_single(maker,
			maker->dyadic ? 2u << below(maker, 2) :
					2 + below(maker, 3));
	problem->virtual_stages = make_domain(maker, 8, false, 0.7);
	problem->devices = make_domain(maker, devices, false, 0.75);
	if (chance(maker, 0.08))
		problem->devices = make_single(maker, devices);
	problem->zero[0] = chance(maker, 0.8);
	problem->zero[1] = !problem->zero[0] || chance(maker, 0.5);
	for (int r = 0; r < RECOMPUTE_COUNT; r++)
		problem->recompute[r] = chance(maker, 0.5);
	if (maker->roomy)
		problem->zero[0] = problem->zero[1] = problem->recompute[2] =
			true;
	if (!problem->recompute[1] && !problem->recompute[2])
		problem->recompute[0] = true;
	problem->uniform_stages = chance(maker, 0.2);
	for (int d = 0; d < DIMENSION_COUNT; d++)
		if (chance(maker, 0.1))
			problem->within[d] = 1 + below(maker, problem->level_count);
}

static void make_memory(struct maker *maker)
{
	struct problem *problem = maker->problem;
	struct problem_memory *memory = &problem->memory;
	double chain = 0;

	memory->weight_bytes = 2;
	memory->gradient_bytes = chance(maker, 0.5) ? 4 : 2;
	memory->optimizer_bytes = chance(maker, 0.1) ? 0 : 12;
	memory->reserve_bytes = amount_or_zero(maker, 64, 0.5);
	memory->group_bytes = amount_or_zero(maker, 16, 0.5);
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
	if (chance(maker, 0.75))
		memory->limit_bytes = floor(chain *
			exp2(3 * random_unit(&maker->random) - 2.5));
	if (chance(maker, 0.04))
		memory->limit_bytes = 1;
}

static void make_sync(struct maker *maker)
{
	struct problem_sync *sync = &maker->problem->sync;

	sync->reduce_bytes = chance(maker, 0.1) ? 0 : chance(maker, 0.5) ? 4 : 2;
	sync->gather_bytes = chance(maker, 0.1) ? 0 : 2;
	sync->overlap_reduce = chance(maker, 0.5);
	sync->overlap_gather = chance(maker, 0.5);
	sync->step_bytes = chance(maker, 0.1) ? 0 : 16;
	sync->memory_bandwidth_Bps = amount(maker, 4096);
	maker->problem->device_dollars_per_s = amount_or_zero(maker, 1, 0.3);
	maker->problem->device_watts = amount_or_zero(maker, 512, 0.3);
}

/* ---- requirements and objectives ---- */

struct program {
	struct maker *maker;
	struct predicate_step *step;
	struct predicate predicate;
};

static void add_step(struct program *program, struct predicate_step step)
{
	program->step[program->predicate.step_count++] = step;
}

static void add_number(struct program *program, double number)
{
	add_step(program, (struct predicate_step){
		.op = PREDICATE_CONSTANT, .number = number });
}

static void add_variable(struct program *program, enum plan_variable variable)
{
	add_step(program, (struct predicate_step){
		.op = PREDICATE_VARIABLE, .variable = variable,
		.index = variable == VARIABLE_STAGE_LAYERS ?
			 below(program->maker, 3) : 0 });
	if (variable >= VARIABLE_TIME)
		program->predicate.needs_outcome = true;
	if (variable == VARIABLE_TIME || variable == VARIABLE_COST ||
	    variable == VARIABLE_ENERGY)
		program->maker->made->mentions_time = true;
}

static void add_op(struct program *program, enum predicate_op op)
{
	add_step(program, (struct predicate_step){ .op = op });
}

static struct program program_start(struct maker *maker)
{
	struct program program = { .maker = maker };

	program.step = ARENA_ARRAY(maker->arena, struct predicate_step,
				   STEPS_MAX);
	program.predicate.step = program.step;
	return program;
}

/* A rough iteration time, so that bounds on it bind now and then. */
static double rough_time(const struct problem *problem)
{
	double total = 0;

	for (uint32_t r = 0; r < problem->run_count; r++) {
		const struct problem_cost *cost = problem_cost_at(problem, 0,
			problem->run[r].class_index, RECOMPUTE_NONE);

		total += problem->run[r].count *
			 (cost->forward_s + cost->backward_s);
	}
	return total * problem->global_batch / problem->shape[0].micro_batch;
}

static void add_choice_test(struct program *program)
{
	static const enum predicate_op comparison[] = {
		PREDICATE_EQUAL, PREDICATE_NOT_EQUAL, PREDICATE_LESS,
		PREDICATE_LESS_EQUAL, PREDICATE_LESS_EQUAL, PREDICATE_GREATER,
		PREDICATE_GREATER_EQUAL,
	};
	struct maker *maker = program->maker;

	add_variable(program, (enum plan_variable)below(maker, VARIABLE_TIME));
	if (chance(maker, 0.3)) {
		add_variable(program,
			     (enum plan_variable)below(maker, VARIABLE_TIME));
		add_op(program, chance(maker, 0.5) ? PREDICATE_MULTIPLY :
						     PREDICATE_REMAINDER);
	}
	add_number(program, below(maker, 5));
	add_op(program, comparison[below(maker, 7)]);
}

static void add_outcome_test(struct program *program)
{
	struct maker *maker = program->maker;
	struct problem *problem = maker->problem;
	double time = rough_time(problem) *
		      exp2(3 * random_unit(&maker->random) - 2.5);

	switch (below(maker, 7)) {
	case 0:
		add_variable(program, VARIABLE_TIME);
		add_number(program, time);
		break;
	case 1:
		add_variable(program, VARIABLE_COST);
		add_number(program, 2 * time * problem->device_dollars_per_s);
		break;
	case 2:
		add_variable(program, VARIABLE_BUBBLE);
		add_number(program, 0.6 * random_unit(&maker->random) + 0.01);
		break;
	case 3:
		add_variable(program, VARIABLE_MEMORY);
		add_number(program, 300 * exp2(6 * random_unit(&maker->random)));
		break;
	case 4:
		add_variable(program, VARIABLE_STAGE_LAYERS);
		add_number(program, 1 + below(maker, 3));
		break;
	case 5:
		add_number(program, 1);
		add_variable(program, VARIABLE_STAGES_UNIFORM);
		break;
	default:
		add_variable(program, VARIABLE_TIME);
		add_variable(program, VARIABLE_DEVICES);
		add_op(program, PREDICATE_MULTIPLY);
		add_number(program, 2 * time);
		break;
	}
	add_op(program, chance(maker, 0.9) ? PREDICATE_LESS_EQUAL :
					     PREDICATE_GREATER_EQUAL);
}

static void make_requirements(struct maker *maker)
{
	struct predicate *requirement =
		ARENA_ARRAY(maker->arena, struct predicate, 3);
	uint32_t count = chance(maker, 0.6) ? 0 : 1 + below(maker, 3);

	for (uint32_t i = 0; i < count; i++) {
		struct program program = program_start(maker);
		uint32_t form = below(maker, 10);

		if (form < 3)
			add_outcome_test(&program);
		else
			add_choice_test(&program);
		if (form == 9)
			add_op(&program, PREDICATE_NOT);
		if (form == 8) {
			add_choice_test(&program);
			add_op(&program, PREDICATE_OR);
		}
		program.predicate.source = i;
		requirement[i] = program.predicate;
	}
	maker->problem->requirement = requirement;
	maker->problem->requirement_count = count;
}

/* A sum of variables; a weight of 0 leaves the number out. */
static struct predicate make_objective(struct maker *maker,
				       enum plan_variable first, double weight,
				       enum plan_variable second)
{
	struct program program = program_start(maker);

	add_variable(&program, first);
	if (weight != 0) {
		add_number(&program, weight);
		add_variable(&program, second);
		add_op(&program, PREDICATE_MULTIPLY);
		add_op(&program, PREDICATE_ADD);
	}
	return program.predicate;
}

static void make_objectives(struct maker *maker)
{
	struct predicate *objective =
		ARENA_ARRAY(maker->arena, struct predicate, 2);
	uint32_t count = 1;

	switch (below(maker, 16)) {
	case 0:
		objective[0] = make_objective(maker, VARIABLE_TIME, 0, 0);
		break;
	case 1:
		objective[0] = make_objective(maker, VARIABLE_COST, 0, 0);
		objective[1] = make_objective(maker, VARIABLE_TIME, 0, 0);
		count = 2;
		break;
	case 2:
		objective[0] = make_objective(maker, VARIABLE_DEVICES, 0, 0);
		objective[1] = make_objective(maker, VARIABLE_TIME, 0, 0);
		count = 2;
		break;
	case 3:
		objective[0] = make_objective(maker, VARIABLE_TIME, 0.5,
					      VARIABLE_DEVICES);
		break;
	case 4:
		objective[0] = make_objective(maker, VARIABLE_ENERGY, 2,
					      VARIABLE_PIPELINE);
		break;
	case 5:
		objective[0] = make_objective(maker, VARIABLE_TIME, 0, 0);
		objective[1] = make_objective(maker, VARIABLE_MEMORY, 0, 0);
		count = 2;
		break;
	case 6:
		objective[0] = make_objective(maker, VARIABLE_PIPELINE, 0, 0);
		objective[1] = make_objective(maker, VARIABLE_ENERGY, 0, 0);
		count = 2;
		break;
	case 7:
		objective[0] = make_objective(maker, VARIABLE_MEMORY, 0, 0);
		objective[1] = make_objective(maker, VARIABLE_TIME, 0, 0);
		count = 2;
		break;
	case 8:
		objective[0] = make_objective(maker, VARIABLE_TIME, 0x1p-10,
					      VARIABLE_MEMORY);
		break;
	default:
		count = 0;
	}
	maker->problem->objective = objective;
	maker->problem->objective_count = count;
}

void random_problem_make(struct random_problem *made, uint64_t seed,
			 struct arena *arena)
{
	struct maker maker = {
		.random = { seed * UINT64_C(0xd1342543de82ef95) + 1 },
		.made = made,
		.problem = &made->problem,
		.arena = arena,
	};
	bool mentions_time;

	memset(made, 0, sizeof(*made));
	maker.dyadic = made->dyadic = chance(&maker, 0.25);
	maker.flat = chance(&maker, 0.2);
	maker.plain = maker.dyadic && chance(&maker, 0.4);
	maker.still = maker.plain && chance(&maker, 0.3);
	maker.roomy = chance(&maker, 0.3);
	maker.cuts = !maker.roomy && chance(&maker, 0.3);
	maker.experts = chance(&maker, 0.35);
	maker.comm = chance(&maker, 0.1) ? 0x1p-4 : chance(&maker, 0.5) ? 64 : 512;
	make_network(&maker);
	make_chain(&maker);
	make_tied(&maker);
	make_shapes(&maker);
	make_costs(&maker);
	make_weights(&maker);
	make_space(&maker);
	make_memory(&maker);
	make_sync(&maker);
	make_requirements(&maker);
	mentions_time = made->mentions_time;
	make_objectives(&maker);
	made->mentions_time = mentions_time;
}

/* ---- derived problems ---- */

void random_problem_slow(const struct problem *problem, struct problem *slow,
			 struct arena *arena)
{
	uint32_t costs = problem->shape_count * problem->class_count *
			 RECOMPUTE_COUNT;
	struct problem_cost *cost =
		ARENA_ARRAY(arena, struct problem_cost, costs);
	struct problem_collective *collective = ARENA_ARRAY(arena,
		struct problem_collective, problem->collective_count);

	*slow = *problem;
	for (uint32_t i = 0; i < costs; i++) {
		cost[i] = problem->cost[i];
		cost[i].forward_s *= 2;
		cost[i].backward_s *= 2;
	}
	for (uint32_t i = 0; i < problem->collective_count; i++) {
		collective[i] = problem->collective[i];
		collective[i].hidden_s *= 2;
	}
	for (uint32_t l = 0; l < problem->level_count; l++) {
		slow->level[l].bandwidth_Bps /= 2;
		slow->level[l].latency_s *= 2;
		slow->level[l].overhead_s *= 2;
	}
	slow->sync.memory_bandwidth_Bps /= 2;
	slow->cost = cost;
	slow->collective = collective;
}

void random_problem_widen(const struct problem *problem, struct problem *wide)
{
	uint32_t outermost = problem->level_count - 1;

	*wide = *problem;
	/* More children thin out the links of a full level and open rings. */
	if (wide->level[outermost].kind != LEVEL_SWITCH)
		return;
	wide->level[outermost].fanout++;
	wide->device_count = wide->device_count / problem->level[outermost].fanout *
			     wide->level[outermost].fanout;
}

/* A random order of count things: new place of each. */
static uint32_t *shuffle(struct random *random, uint32_t count,
			 struct arena *arena)
{
	uint32_t *place = ARENA_ARRAY(arena, uint32_t, count);

	for (uint32_t i = 0; i < count; i++) {
		uint32_t j = random_below(random, i + 1);

		place[i] = place[j];
		place[j] = i;
	}
	return place;
}

void random_problem_permute(const struct problem *problem,
			    struct problem *permuted, uint64_t seed,
			    struct arena *arena)
{
	struct random random = { seed };
	uint32_t shapes = problem->shape_count, classes = problem->class_count;
	uint32_t *shape_at = shuffle(&random, shapes, arena);
	uint32_t *class_at = shuffle(&random, classes, arena);
	struct problem_shape *shape =
		ARENA_ARRAY(arena, struct problem_shape, shapes);
	struct problem_cost *cost = ARENA_ARRAY(arena, struct problem_cost,
		shapes * classes * RECOMPUTE_COUNT);
	struct problem_weight *weight =
		ARENA_ARRAY(arena, struct problem_weight, shapes * classes);
	struct problem_run *run =
		ARENA_ARRAY(arena, struct problem_run, problem->run_count);
	bool *is_block = ARENA_ARRAY(arena, bool, classes);

	*permuted = *problem;
	for (uint32_t s = 0; s < shapes; s++) {
		shape[shape_at[s]] = problem->shape[s];
		for (uint32_t i = 0; i < classes; i++) {
			uint32_t to = shape_at[s] * classes + class_at[i];

			weight[to] = *problem_weight_at(problem, s, i);
			for (int r = 0; r < RECOMPUTE_COUNT; r++)
				cost[to * RECOMPUTE_COUNT + (uint32_t)r] =
					*problem_cost_at(problem, s, i,
							 (enum recompute)r);
		}
	}
	for (uint32_t i = 0; i < classes; i++)
		is_block[class_at[i]] = problem->class_is_block[i];
	for (uint32_t r = 0; r < problem->run_count; r++) {
		run[r].class_index = class_at[problem->run[r].class_index];
		run[r].count = problem->run[r].count;
	}
	if (problem->tied_class != CLASS_NONE) {
		permuted->tied_class = class_at[problem->tied_class];
		permuted->tied_with_class = class_at[problem->tied_with_class];
	}
	permuted->shape = shape;
	permuted->cost = cost;
	permuted->weight = weight;
	permuted->run = run;
	permuted->class_is_block = is_block;
}

/* ---- printing ---- */

static void print_domain(FILE *file, const char *name,
			 const struct problem_domain *domain)
{
	fprintf(file, "  %s:", name);
	for (uint32_t i = 0; i < domain->count; i++)
		fprintf(file, " %u", domain->at[i]);
	fprintf(file, "%s\n", domain->count ? "" : " any");
}

static void print_program(FILE *file, const char *name,
			  const struct predicate *predicate)
{
	static const char *const op[] = {
		"", "", "neg", "not", "+", "-", "*", "/", "%", "^", "==",
		"!=", "<", "<=", ">", ">=", "and", "or",
	};
	static const char *const variable[] = {
		"tensor", "sequence", "context", "expert", "expert_tensor",
		"data", "pipeline", "virtual", "micro_batch", "micro_batches",
		"zero", "recompute", "recompute_layers", "devices", "time",
		"memory", "bubble", "cost", "energy", "stage_layers", "uniform",
	};

	fprintf(file, "  %s:", name);
	for (uint32_t i = 0; i < predicate->step_count; i++) {
		const struct predicate_step *step = &predicate->step[i];

		if (step->op == PREDICATE_CONSTANT)
			fprintf(file, " %.17g", step->number);
		else if (step->op == PREDICATE_VARIABLE)
			fprintf(file, " %s[%u]", variable[step->variable],
				step->index);
		else
			fprintf(file, " %s", op[step->op]);
	}
	fprintf(file, "\n");
}

static void print_shape(FILE *file, const struct problem *problem, uint32_t s)
{
	const struct problem_shape *shape = &problem->shape[s];

	fprintf(file, "  shape %u: tensor %u context %u expert %u x %u micro-batch "
		"%u%s\n", s, shape->tensor, shape->context, shape->expert,
		shape->expert_tensor, shape->micro_batch,
		shape->sequence ? " sequence" : "");
	for (uint32_t i = 0; i < problem->class_count; i++) {
		const struct problem_weight *weight =
			problem_weight_at(problem, s, i);

		fprintf(file, "    class %u: parameters %.17g experts %.17g tied "
			"%.17g output %.17g\n", i, weight->parameters,
			weight->expert_parameters, weight->tied_parameters,
			weight->output_bytes);
		for (int r = 0; r < RECOMPUTE_COUNT; r++) {
			const struct problem_cost *cost = problem_cost_at(
				problem, s, i, (enum recompute)r);

			fprintf(file, "      recompute %d: forward %.17g backward "
				"%.17g saved %.17g working %.17g\n", r,
				cost->forward_s, cost->backward_s,
				cost->saved_bytes, cost->working_bytes);
			for (uint32_t j = 0; j < cost->collective_count; j++) {
				const struct problem_collective *one =
					&problem->collective[
						cost->collective_first + j];

				fprintf(file, "        collective %d group %d "
					"%s %.17g bytes hidden %.17g\n",
					(int)one->kind, (int)one->group,
					one->backward ? "backward" : "forward",
					one->bytes, one->hidden_s);
			}
		}
	}
}

void random_problem_print(const struct problem *problem, FILE *file)
{
	const struct problem_memory *memory = &problem->memory;
	const struct problem_sync *sync = &problem->sync;

	fprintf(file, "  chain:");
	for (uint32_t r = 0; r < problem->run_count; r++)
		fprintf(file, " %u x class %u%s", problem->run[r].count,
			problem->run[r].class_index,
			problem->class_is_block[problem->run[r].class_index] ?
			" (block)" : "");
	fprintf(file, "\n  tied: %d with %d\n", (int)problem->tied_class,
		(int)problem->tied_with_class);
	for (uint32_t l = 0; l < problem->level_count; l++) {
		const struct problem_level *level = &problem->level[l];

		fprintf(file, "  level %u: fanout %u bandwidth %.17g latency %.17g "
			"oversubscription %.17g efficiency %.17g%s", l,
			level->fanout, level->bandwidth_Bps, level->latency_s,
			level->oversubscription, level->efficiency,
			level->in_network_reduction ? " reduces" : "");
		fprintf(file, " %.17g kind %d%s%s overhead %.17g nics %u "
			"rails %u\n", level->reduction_efficiency,
			(int)level->kind, level->wrap ? " wraps" : "",
			level->joined ? " joined" : "", level->overhead_s,
			level->nics, level->rails);
	}
	fprintf(file, "  batch %u, zero %d%d, recompute %d%d%d, uniform %d\n",
		problem->global_batch, problem->zero[0], problem->zero[1],
		problem->recompute[0], problem->recompute[1],
		problem->recompute[2], problem->uniform_stages);
	print_domain(file, "data", &problem->data);
	print_domain(file, "pipeline", &problem->pipeline);
	print_domain(file, "virtual", &problem->virtual_stages);
	print_domain(file, "devices", &problem->devices);
	fprintf(file, "  memory: limit %.17g reserve %.17g group %.17g weight "
		"%.17g gradient %.17g optimizer %.17g\n", memory->limit_bytes,
		memory->reserve_bytes, memory->group_bytes, memory->weight_bytes,
		memory->gradient_bytes, memory->optimizer_bytes);
	fprintf(file, "  sync: reduce %.17g%s gather %.17g%s step %.17g at %.17g; "
		"%.17g dollars, %.17g watts\n", sync->reduce_bytes,
		sync->overlap_reduce ? " hidden" : "", sync->gather_bytes,
		sync->overlap_gather ? " hidden" : "", sync->step_bytes,
		sync->memory_bandwidth_Bps, problem->device_dollars_per_s,
		problem->device_watts);
	for (uint32_t i = 0; i < problem->requirement_count; i++)
		print_program(file, "require", &problem->requirement[i]);
	for (uint32_t i = 0; i < problem->objective_count; i++)
		print_program(file, "minimise", &problem->objective[i]);
	for (uint32_t s = 0; s < problem->shape_count; s++)
		print_shape(file, problem, s);
}
