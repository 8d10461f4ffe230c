/* SPDX-License-Identifier: MIT
 *
 * Opening shapes and data degrees.
 */
#include <math.h>

#include "solver/expand_internal.h"
#include "solver/fits.h"
#include "solver/most.h"

/* The parameters of a shape and data degree under a ZeRO stage, shared out most. */
static struct share share_under(const struct families *families,
				const struct choice *choice, uint32_t zero)
{
	struct choice trial = *choice;

	trial.zero = zero;
	return share_of(families->problem, &trial, NULL);
}

/* Least memory of a device with its part of the parameters. */
static double memory_floor(const struct opening *opening, uint32_t shape,
			   const struct share *share, uint32_t pipeline_most)
{
	const struct families *families = opening->families;

	return families->problem->memory.reserve_bytes +
	       share_bytes(share, families->facts[shape]->held) / pipeline_most;
}

/* Fills in, by pipeline degree, the policies that memory may have room for where
 * parameters are shared out so; `sets` is that of the ZeRO stage. */
static void fill_fits(const struct families *families, const struct choice *choice,
		      const struct share *share, uint32_t pipeline_most,
		      struct fits *fits, fits_set *sets)
{
	fits_init(fits, families->facts[choice->shape], families->problem,
		  choice->shape, share, choice->micro_batches);
	fits_pipelines(fits, pipeline_most, sets);
}

static void open_shape_with(struct opening *opening, const struct node *node,
			    uint32_t data)
{
	struct families *families = opening->families;
	const struct space *space = &families->space;
	uint32_t shape = node->choice.shape;
	uint32_t pipeline_most = space_pipeline_max(space, shape, data);
	struct node child = {
		.kind = NODE_DATA,
		.choice = {
			.shape = shape,
			.data = data,
			.micro_batches = space_micro_batches(space, shape, data),
		},
	};
	uint32_t lightest = space->lightest.zero;
	fits_set *sets = opening->expander->fits[lightest], set;
	struct share share = share_under(families, &child.choice, lightest);
	struct fits fits;

	fill_fits(families, &child.choice, &share, pipeline_most, &fits, sets);
	set = sets[pipeline_most];
	if (!set) {
		opening->expansion->count.infeasible_memory +=
			family_count(families, &child);
		return;
	}
	child.time_s = most(node->time_s,
			    facts_bound_data(families->facts[shape], set,
					     pipeline_most,
					     child.choice.micro_batches));
	child.memory_bytes = memory_floor(opening, shape, &share, pipeline_most);
	expand_add(opening, &child);
}

void open_shape(struct opening *opening, const struct node *node)
{
	struct families *families = opening->families;
	const struct space *space = &families->space;
	uint32_t shape = node->choice.shape;
	struct facts *facts;

	if (expand_discard_refused(opening, node))
		return;
	facts = ARENA_NEW(&families->arena, struct facts);
	pthread_mutex_lock(&families->lock);
	facts_fill(facts, families->problem, &families->cache, shape,
		   &families->arena);
	pthread_mutex_unlock(&families->lock);
	families->facts[shape] = facts;
	for (uint32_t i = 0; i < space->data_count; i++)
		if (space_has_data(space, shape, space->data[i]))
			open_shape_with(opening, node, space->data[i]);
}

/* No plan of any of the policies ends its schedule before. */
static double least_over_policies(const struct opening *opening,
				  const struct choice *choice, fits_set set)
{
	const struct problem *problem = opening->families->problem;
	const struct facts *facts = opening->families->facts[choice->shape];
	struct choice trial = *choice;
	double time = INFINITY;

	for (int r = 0; r < FACTS_COUNT; r++) {
		double other;

		if (!(set & 1u << r))
			continue;
		trial.recompute = r == FACTS_PARTIAL ? RECOMPUTE_FULL :
						       (enum recompute)r;
		trial.recompute_layers = r == FACTS_PARTIAL ?
			problem->recompute_layers.at[0] : 0;
		other = facts_span(facts, &facts->loads[r], &trial,
				   facts_transfers(facts, &trial));
		time = other < time ? other : time;
	}
	return time;
}

static void add_schedules(struct opening *opening, const struct node *node,
			  double step_s)
{
	fits_set set = node->fits[0] | node->fits[1] | node->fits[2] | node->fits[3];

	for (int s = 0; s < SCHEDULE_COUNT; s++) {
		struct node child = *node;

		if (!space_has_schedule(&opening->families->space, node->choice.pipeline,
					node->choice.virtual_stages,
					(enum schedule)s))
			continue;
		if (!set) {
			opening->expansion->count.infeasible_memory +=
				family_count(opening->families, &child);
			continue;
		}
		child.choice.schedule = (enum schedule)s;
		child.time_s = most(child.time_s,
				    least_over_policies(opening, &child.choice,
							set) + step_s);
		expand_add(opening, &child);
	}
}

/* Whether no interleaved schedule of the pipeline degree is fast enough. */
static bool interleaved_excluded(const struct opening *opening,
				 const struct node *node, fits_set set,
				 double step_s)
{
	const struct facts *facts = opening->families->facts[node->choice.shape];
	struct node family = *node;

	family.time_s = most(family.time_s,
			     facts_mean(facts, set, &node->choice) + step_s);
	return excluded(opening, &family);
}

/* All virtual degrees of a pipeline degree. */
static void add_virtual(struct opening *opening, const struct node *node,
			const struct fits *fits, double step_s)
{
	const struct space *space = &opening->families->space;
	const struct problem *problem = opening->families->problem;
	uint32_t p = node->choice.pipeline, m = node->choice.micro_batches;
	fits_set any = 0;

	for (int z = 0; z < 4; z++)
		if (problem->zero[z])
			any |= opening->expander->fits[z][p];
	for (uint32_t v = 1; v <= space->chain_length / p; v++) {
		struct node child = *node;

		if (v == 2 && (p == 1 || m % p))
			break;
		if (v == 2 && any &&
		    interleaved_excluded(opening, node, any, step_s)) {
			opening->expansion->count.bounded +=
				space_count_interleaved(space, p);
			break;
		}
		if (!space_has_virtual(space, p, v, m))
			continue;
		child.choice.virtual_stages = v;
		for (int z = 0; z < 4; z++) {
			fits_set set = opening->expander->fits[z][p];

			if (problem->zero[z])
				child.fits[z] = v == 1 ? set : fits_interleaved(
					&fits[z], set, p, v);
		}
		add_schedules(opening, &child, step_s);
	}
}

void open_data(struct opening *opening, const struct node *node)
{
	const struct families *families = opening->families;
	const struct space *space = &families->space;
	uint32_t shape = node->choice.shape, data = node->choice.data;
	uint32_t pipeline_most = space_pipeline_max(space, shape, data);
	const struct share *lightest;
	struct share share[4];
	struct fits fits[4];
	double steps_s;

	if (expand_discard_refused(opening, node))
		return;
	for (uint32_t z = 0; z < 4; z++) {
		if (!families->problem->zero[z])
			continue;
		share[z] = share_under(families, &node->choice, z);
		fill_fits(families, &node->choice, &share[z], pipeline_most,
			  &fits[z], opening->expander->fits[z]);
	}
	lightest = &share[space->lightest.zero];
	steps_s = facts_steps(families->facts[shape], lightest);
	for (uint32_t p = 1; p <= pipeline_most; p++) {
		struct node child = *node;

		if (!space_has_pipeline(space, shape, data, p))
			continue;
		child.kind = NODE_DEGREES;
		child.choice.pipeline = p;
		child.memory_bytes = memory_floor(opening, shape, lightest, p);
		add_virtual(opening, &child, fits, steps_s / p);
	}
}
