/* SPDX-License-Identifier: MIT
 *
 * The state of a search for split plans, and what all its parts ask of it.
 */
#ifndef NEST_SOLVER_MIXED_RUN_H
#define NEST_SOLVER_MIXED_RUN_H

#include "solver/mixed_search.h"
#include "solver/mixed_space.h"
#include "solver/chain.h"

/* Ranks of a family under a recomputation. */
struct mixed_entry {
	uint32_t family;
	struct mixed_ranks ranks;
	enum recompute recompute;
	double low_s;
};

struct mixed_run {
	const struct problem *problem;
	const struct solve_limits *limits;
	struct incumbent *incumbent;
	uint64_t *removed_by;
	struct search_result *result;
	struct arena arena;		/* space, entries */
	struct arena scratch;		/* one line at a time */
	struct mixed_space space;
	struct chain chain[KIND_MAX];
	struct problem blend;		/* what incumbent and outlooks take as problem */
	VEC(struct mixed_entry) entry;
	double unsettled;		/* least bound given up on, of the objective */
	uint64_t nodes_left;
	bool stopped;
	bool diving;			/* good cuts only, no search for the best */
	uint32_t dives;
};

/* Makes run->blend the problem as one of devices that are alike: price and power of the
 * mean of those used, or of the least where ranks are NULL. */
void mixed_run_blend(struct mixed_run *run, const struct mixed_family *family,
		     const struct mixed_ranks *ranks);

/* Whether what the outlook describes may hold a better plan; *objective is the first
 * objective of all of it, at least. */
bool mixed_run_look_ahead(const struct mixed_run *run,
			  const struct outlook *outlook, double *objective);

/* Leaves plans of that first objective and above unsettled. */
void mixed_run_give_up(struct mixed_run *run, double objective);

/* Gives up on all that the outlook describes, if it may hold a better plan. */
void mixed_run_leave(struct mixed_run *run, const struct outlook *outlook);

/* The time beyond which no plan is of interest. */
double mixed_run_time_most(const struct mixed_run *run);

/* Whether time is over, or the gap asked for is reached. */
bool mixed_run_must_stop(struct mixed_run *run);

/* Configurations of an entry: ZeRO stages, and layers recomputed. */
uint32_t mixed_entry_policies(const struct mixed_run *run,
			      const struct mixed_entry *entry);

/* Searches all of them (mixed_entry.c). */
void mixed_entry_search(struct mixed_run *run, const struct mixed_entry *entry);

#endif
