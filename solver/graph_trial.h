/* SPDX-License-Identifier: MIT
 *
 * Plans tried on a graph: each as it stands, then with its stages side by side, with
 * the children of levels in other places and with moved stage borders, while that
 * helps; the best of all is kept.
 */
#ifndef NEST_SOLVER_GRAPH_TRIAL_H
#define NEST_SOLVER_GRAPH_TRIAL_H

#include "solver/deadline.h"
#include "solver/graph_owner.h"
#include "solver/incumbent.h"
#include "solver/memo.h"
#include "solver/most.h"

struct trial {
	const struct problem *problem;	/* with its graph */
	struct arena *arena;		/* of the best plan */
	struct arena *scratch;
	double goal;			/* the first objective's; no better plan is looked
					 * for */
	uint64_t routed;		/* plans priced so far */
	uint64_t left;			/* and how many more may be */
	const struct deadline *deadline;	/* after which only a first is routed; NULL, as
						 * at first: never */
	struct memo routes;
	bool has_detours;		/* of few children: also over plans that are slower */
	struct incumbent best;
	uint32_t *best_map;		/* its device_map */
	bool *faulty;			/* by device of the graph: it is one of the nearest
					 * to an end of a link that is slower than its family */
	struct graph_owners owners;	/* with every device in its first place */
	uint64_t *twin[LEVEL_MAX];	/* by child of a level: equal for twins */
};

/* The goal is what the best plan has on the hierarchy. The best lives in the arena. */
void trial_init(struct trial *trial, const struct problem *problem, double goal,
		struct arena *arena, struct arena *scratch);

void trial_release(struct trial *trial);

/* Tries a plan (choice, placement, chunks). map, if not NULL: from these places, too,
 * where no device is avoided or pinned. */
void trial_plan(struct trial *trial, const struct plan *plan, const uint32_t *map);

/* Whether a plan of that time on the hierarchy cannot become the best, or time is
 * over. */
bool trial_excludes(const struct trial *trial, double hierarchy_s);

/* Whether the best is as good as the goal, or time is over. */
bool trial_is_done(const struct trial *trial);

#endif
