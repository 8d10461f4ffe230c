/* SPDX-License-Identifier: MIT
 *
 * The independent checker: optimizer states and step of a device, where some
 * weights may have others than the rest, and be dealt out whole.
 */
#include "solver/feasible_check.h"

#include <math.h>

/* What the layers of a pipeline rank have with states apart. */
struct pile {
	double elements, step_s;
	double largest, longest_s;
};

static struct pile pile_of(const struct check *c, uint32_t k, bool experts)
{
	struct pile pile = { 0 };

	for (uint32_t i = 0; i < c->layer_count; i++) {
		const struct problem_weight *weight = feasible_weight_of(c, i);
		const struct problem_apart *some = experts ?
			&weight->expert_apart : &weight->apart;

		if (c->chunk_of[i] % c->plan->choice.pipeline != k)
			continue;
		pile.elements += some->parameters;
		pile.step_s += some->step_s;
		pile.largest = fmax(pile.largest, some->largest);
		pile.longest_s = fmax(pile.longest_s, some->largest_step_s);
	}
	return pile;
}

/* Devices that share the states of one kind out. */
static double sharers(const struct site *site, bool experts)
{
	if (site->choice->zero == 0)
		return 1;
	return experts ? site->expert_shards : site->shards;
}

/* Parameters without, on one of these devices. */
static double loose_elements(const struct check *c, uint32_t k, bool experts,
			     const struct pile *pile)
{
	const struct stage_cost *stage = &c->stage[k];
	double all = experts ? stage->expert_parameters :
			       stage->parameters - stage->expert_parameters;

	return (all - pile->elements) / sharers(feasible_site(c, k), experts);
}

/* One device has the largest whole weight, and one the mean or more. */
static void price_kind(struct check *c, uint32_t k, bool experts)
{
	const struct site *site = feasible_site(c, k);
	const struct problem_memory *memory = &site->problem->memory;
	const struct problem_sync *sync = &site->problem->sync;
	struct stage_cost *stage = &c->stage[k];
	struct pile pile = pile_of(c, k, experts);
	double loose = loose_elements(c, k, experts, &pile);
	double states = fmax(pile.elements / sharers(site, experts), pile.largest);
	double step_s = fmax(pile.step_s / sharers(site, experts), pile.longest_s);

	stage->apart_parameters += pile.elements;
	stage->apart_states += states;
	stage->apart_step_s += step_s;
	stage->memory.optimizer += loose * memory->optimizer_bytes +
				   states * memory->apart_bytes;
	stage->step_s += step_s;
	if (sync->step_bytes > 0)
		stage->step_s += loose * sync->step_bytes /
				 sync->memory_bandwidth_Bps;
}

void feasible_price_optimizer(struct check *c, uint32_t k)
{
	price_kind(c, k, false);
	price_kind(c, k, true);
}
