/* SPDX-License-Identifier: MIT
 *
 * The best plan so far, and the one place that says which of two plans is
 * better: the objectives in order, then the order of ties of solver.h.
 */
#ifndef NEST_SOLVER_INCUMBENT_H
#define NEST_SOLVER_INCUMBENT_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/arena.h"
#include "solver/plan.h"
#include "solver/range.h"

/* Values closer than this, relative to the larger, count as equal. */
#define TIE 1e-12

/* What decides between equal objectives, in order; all smaller is better. */
enum tie {
	TIE_DEVICES,
	TIE_TENSOR,
	TIE_CONTEXT,
	TIE_EXPERT,
	TIE_EXPERT_TENSOR,
	TIE_PIPELINE,
	TIE_VIRTUAL,
	TIE_MICRO_BATCH,
	TIE_ZERO,
	TIE_SHARD_LEVEL,
	TIE_RECOMPUTE,
	TIE_RECOMPUTE_LAYERS,
	TIE_SCHEDULE,
	TIE_SHAPE,
	TIE_COUNT
};

/* What a plan is worth, or a bound that no plan of a family goes below. */
struct merit {
	double objective[OBJECTIVE_MAX];
	uint32_t objective_count;	/* known ones, from the first; at least 1 */
	double memory_bytes;
	uint32_t tie[TIE_COUNT];
	uint32_t tie_count;		/* known ones, from the first */
};

/* What is known about a family of plans: a point for a single configuration
 * once it is chosen, else what its members have at least. */
struct outlook {
	const struct choice *choice;	/* as far as `known` says */
	enum {
		OUTLOOK_SHAPE,		/* shape */
		OUTLOOK_DATA,		/* and data, micro_batches */
		OUTLOOK_DEGREES,	/* and pipeline, virtual_stages, schedule */
		OUTLOOK_ALL		/* and zero, shard_level, recompute,
					 * recompute_layers */
	} known;
	double time_s;			/* at least */
	double device_s;		/* devices x time, at least */
	double memory_bytes;		/* at least */
};

struct incumbent {
	const struct problem *problem;
	struct arena *arena;		/* of the result */
	bool time_only;			/* the only objective is time */
	bool outcomes;			/* a requirement needs the priced plan */
	uint32_t block_count;
	bool found;
	struct merit merit;
	struct plan plan;		/* choice, placement, chunks; not priced */
};

void incumbent_init(struct incumbent *incumbent, const struct problem *problem,
		    struct arena *arena);

/* The outlook as ranges of the plan variables. */
void outlook_ranges(const struct incumbent *incumbent,
		    const struct outlook *outlook, struct range_input *input);

/* What is certain of a requirement for the family the ranges describe. */
enum certainty { CERTAINLY_FALSE, CERTAINLY_TRUE, UNCERTAIN };

enum certainty outlook_requirement(const struct outlook *outlook,
				   const struct predicate *requirement,
				   const struct range_input *input);

/* A bound on the merit of every plan of the family. */
void outlook_merit(const struct incumbent *incumbent,
		   const struct outlook *outlook, struct merit *merit);

/* True if no plan with such a bound can replace the incumbent. */
bool incumbent_excludes(const struct incumbent *incumbent,
			const struct merit *bound);

/* No plan that takes longer can replace the incumbent; INFINITY where objectives
 * other than time leave that open. */
double incumbent_time_most(const struct incumbent *incumbent);

/* The merit of a plan with these outcomes. The plan must be priced unless
 * time_only; memory for input comes from scratch. */
void plan_merit(const struct incumbent *incumbent, const struct plan *plan,
		const struct predicate_input *input, struct merit *merit);

/* Whether a plan of this merit ties with the incumbent in all but placement. */
bool incumbent_equals(const struct incumbent *incumbent,
		      const struct merit *merit);

/* Takes the plan (choice, placement, chunks copied) if it is better. */
bool incumbent_offer(struct incumbent *incumbent, const struct plan *plan,
		     const struct merit *merit);

#endif
