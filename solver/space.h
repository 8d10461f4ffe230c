/* SPDX-License-Identifier: MIT
 *
 * The configurations of a problem: which combinations of degrees are legal,
 * and how many lie below a partial choice, so that whole families can be
 * counted when a bound discards them at once.
 */
#ifndef NEST_SOLVER_SPACE_H
#define NEST_SOLVER_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/arena.h"
#include "solver/plan.h"

struct space_count;

/* What may be chosen beside shape, degrees and schedule. */
struct policy {
	uint32_t zero, shard_level;
	enum recompute recompute;
	uint32_t recompute_layers;
	uint32_t fewer_layers;		/* the next smaller number of them; 0: none */
};

struct space {
	const struct problem *problem;
	struct arena *arena;
	uint32_t chain_length;
	uint32_t *data;			/* data degrees any shape can have, ascending */
	uint32_t data_count;
	uint32_t *interleavings;	/* by pipeline degree: virtual degrees above 1 */
	bool plain;			/* virtual degree 1 is allowed */
	struct policy *policy;		/* by recomputation, then ZeRO and shard level */
	uint32_t policies;
	struct choice lightest;		/* the ZeRO stage and shard level that leave a
					 * device the least of its parameters */
	struct space_count *count;	/* memory of space_count_shape, a hash table */
	uint32_t count_used, count_capacity;
};

void space_init(struct space *space, const struct problem *problem,
		struct arena *arena);

/* micro_batch x data divides the global batch, expert x expert_tensor the ranks
 * of a stage, and the devices suffice. */
bool space_has_data(const struct space *space, uint32_t shape, uint32_t data);

/* Largest pipeline degree the devices and the chain allow, domains aside. */
uint32_t space_pipeline_max(const struct space *space, uint32_t shape,
			    uint32_t data);
bool space_has_pipeline(const struct space *space, uint32_t shape,
			uint32_t data, uint32_t pipeline);
bool space_has_virtual(const struct space *space, uint32_t pipeline,
		       uint32_t virtual_stages, uint32_t micro_batches);
bool space_has_schedule(const struct space *space, uint32_t pipeline,
			uint32_t virtual_stages, enum schedule schedule);

static inline void choice_set_policy(struct choice *choice,
				     const struct policy *policy)
{
	choice->zero = policy->zero;
	choice->shard_level = policy->shard_level;
	choice->recompute = policy->recompute;
	choice->recompute_layers = policy->recompute_layers;
}

/* Configurations below a shape; a shape and data; and these and a pipeline
 * that is legal with them. */
uint64_t space_count_shape(struct space *space, uint32_t shape);
uint64_t space_count_data(const struct space *space, uint32_t shape,
			  uint32_t data);
uint64_t space_count_interleaved(const struct space *space, uint32_t pipeline);
uint64_t space_count_pipeline(const struct space *space, uint32_t pipeline,
			      uint32_t micro_batches);

static inline uint32_t space_micro_batches(const struct space *space,
					   uint32_t shape, uint32_t data)
{
	return space->problem->global_batch /
	       space->problem->shape[shape].micro_batch / data;
}

#endif
