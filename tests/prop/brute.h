/* SPDX-License-Identifier: MIT
 *
 * The oracle: every plan of the space of solver/solver.h, one after another,
 * priced plainly from the formulas in the solver's headers. Only for small
 * problems. It calls nothing of the solver but predicate_evaluate.
 */
#ifndef NEST_TESTS_PROP_BRUTE_H
#define NEST_TESTS_PROP_BRUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "solver/network.h"
#include "solver/plan.h"
#include "tests/prop/random_problem.h"

#define BRUTE_CHAIN_MAX 12	/* layers */
#define BRUTE_STAGE_MAX 16	/* pipeline x virtual stages, at most the chain */
#define BRUTE_BATCH_MAX 256	/* micro-batches */
#define BRUTE_OBJECTIVE_MAX 4
#define BRUTE_DEVICE_MAX 64

struct brute_plan {
	struct choice choice;
	struct placement placement;
	uint32_t devices;
	uint32_t device[BRUTE_DEVICE_MAX];	/* of every rank, if linear */
	uint32_t chunk_first[BRUTE_STAGE_MAX + 1];
	uint32_t stage_layers[BRUTE_STAGE_MAX];
	double stage_bytes[BRUTE_STAGE_MAX];
	double finish_s[BRUTE_STAGE_MAX];
	double reduce_exposed_s[BRUTE_STAGE_MAX];
	double update_s[BRUTE_STAGE_MAX];	/* step + exposed gather */
	double time_s;
	double peak_bytes;
	double bubble;
	double objective[BRUTE_OBJECTIVE_MAX];
};

/* Plans come configuration by configuration. */
typedef void brute_visit(void *closure, const struct brute_plan *plan);

struct brute_result {
	bool found;
	struct brute_plan best;
	uint64_t configurations;	/* in the space */
	uint64_t plans;			/* priced */
	uint64_t placements;		/* by factors, of the last configuration */
	bool has_lightest;		/* a plan that meets all but memory */
	double lightest_peak_bytes;	/* the least peak of these */
	struct random random;
	struct brute_plan sample;	/* any of the plans priced, by the seed */
	brute_visit *visit;		/* of every plan priced, if not NULL */
	void *closure;
};

void brute_solve(const struct problem *problem, uint64_t seed,
		 struct brute_result *result);

/* Shows every plan of the space, whether it is legal or not. */
void brute_each(const struct problem *problem, brute_visit *visit, void *closure);

/* Negative when a comes before b in the order of solver/solver.h. */
int brute_compare(const struct problem *problem, const struct brute_plan *a,
		  const struct brute_plan *b);

/* Prices one given choice, placement and cut (chunk_first) and fills the rest.
 * True if it meets the requirements and fits in memory. */
bool brute_price(const struct problem *problem, struct brute_plan *plan);

/* The parts, for comparison with the solver's own. */
double brute_collective(const struct problem *problem,
			const struct group_shape *group, enum collective kind,
			double bytes);

struct brute_operation {
	bool backward;
	uint32_t chunk;
	uint32_t micro_batch;
};

/* A pipeline and how it takes its turns. */
struct brute_pipeline {
	uint32_t stages;		/* p */
	uint32_t chunks;		/* of a stage: v */
	uint32_t micro_batches;		/* m */
	bool gpipe;
};

/* Order of device k; returns how many operations. */
uint32_t brute_order(struct brute_pipeline pipeline, uint32_t k,
		     struct brute_operation *operation);

/* Ends of all devices; returns the largest, or a negative number for a
 * deadlock. */
double brute_schedule(struct brute_pipeline pipeline, const double *forward_s,
		      const double *backward_s, const double *transfer_s,
		      double *finish_s);

double brute_activations(struct brute_pipeline pipeline, uint32_t k,
			 const double *saved_bytes);

#endif
