/* SPDX-License-Identifier: MIT
 *
 * The independent checker: optimizer states and step of a device, where some
 * weights may be matrices that are dealt out whole.
 */
#include "solver/feasible_check.h"

#include <math.h>

/* What the layers of a pipeline rank have in matrices of one kind. */
struct pile {
	double elements, step_s;
	double largest, longest_s;
};

static struct pile pile_of(const struct check *c, uint32_t k, bool experts)
{
	struct pile pile = { 0 };

	for (uint32_t i = 0; i < c->layer_count; i++) {
		const struct problem_weight *weight = feasible_weight_of(c, i);
		const struct problem_matrices *some = experts ?
			&weight->expert_matrices : &weight->matrices;

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

/* Parameters of one kind in no matrix, on one of these devices. */
static double loose_elements(const struct check *c, uint32_t k, bool experts,
			     const struct pile *pile)
{
	const struct stage_cost *stage = &c->stage[k];
	double all = experts ? stage->expert_parameters :
			       stage->parameters - stage->expert_parameters;

	return (all - pile->elements) / sharers(feasible_site(c, k), experts);
}

double feasible_states_bytes(const struct check *c, uint32_t k)
{
	const struct site *site = feasible_site(c, k);
	const struct problem_memory *memory = &site->problem->memory;
	double bytes = 0;

	for (int e = 0; e < 2; e++) {
		struct pile pile = pile_of(c, k, e);
		double mean = pile.elements / sharers(site, e);

		bytes += loose_elements(c, k, e, &pile) * memory->optimizer_bytes +
			 fmax(mean, pile.largest) * memory->matrix_bytes;
	}
	return bytes;
}

double feasible_step_s(const struct check *c, uint32_t k)
{
	const struct site *site = feasible_site(c, k);
	const struct problem_sync *sync = &site->problem->sync;
	double step_s = 0;

	for (int e = 0; e < 2; e++) {
		struct pile pile = pile_of(c, k, e);
		double mean_s = pile.step_s / sharers(site, e);

		if (sync->step_bytes > 0)
			step_s += loose_elements(c, k, e, &pile) *
				  sync->step_bytes / sync->memory_bandwidth_Bps;
		step_s += fmax(mean_s, pile.longest_s);
	}
	return step_s;
}
