/* SPDX-License-Identifier: MIT
 *
 * A split plan (mixed.h) whose segments have their placements: the line of ranks
 * over which the chain is still to be cut. What a rank costs, bounds on every
 * cut, and the search for the best one.
 */
#ifndef NEST_SOLVER_MIXED_LINE_H
#define NEST_SOLVER_MIXED_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/arena.h"
#include "solver/deadline.h"
#include "solver/partition.h"

/* A segment with all that pricing its ranks needs. */
struct mixed_part {
	const struct problem *problem;	/* of its kind */
	uint32_t kind;
	uint32_t first, ranks;		/* of the pipeline */
	struct chain *chain;		/* loaded and timed for it */
	struct placed placed;		/* boundary_level by rank of the whole pipeline */
	struct partition partition;	/* for the costs of single ranks */
	/* Instead of the chain's times, those of the first i layers, both ways, under
	 * the best placement there can be: for a bound on every placement. NULL when
	 * the placement counts. */
	const double *ideal_s;
};

struct mixed_line {
	const struct problem *problem;	/* has the kinds */
	struct choice choice;
	uint32_t pipeline, micro_batches, length;
	struct mixed_part *part;
	uint32_t part_count;
	struct incumbent *incumbent;
	struct arena *scratch;
	const struct deadline *deadline;	/* of seed and search; NULL, as at
						 * first: never */
	uint32_t *part_of;		/* by rank */
	struct network_line *boundary;	/* after each rank but the last */
	uint32_t blocks_each;		/* uniform stages: of a rank; else 0 */
	/* Of ranks r .. with the layers from i on, at r x (length + 1) + i; INFINITY
	 * where these do not fit or cannot beat the incumbent: the least Z (time
	 * before a rank + m x its own), the least time of one micro-batch there and
	 * back, and the last layer of rank r in the cut of the first. */
	double *load_s, *rest_s;
	uint32_t *best_end;
	/* What came out. */
	double low_s;			/* no cut is faster */
	uint64_t simulated, nodes;
	bool feasible, over_memory, over_requirement, bounded;
	uint32_t failed_requirement;	/* as in struct partition */
	bool complete;
};

/* What a rank costs with the layers [begin, end). */
struct mixed_stage {
	double forward_s, backward_s;
	double memory_bytes;
	double reduce_s, step_s;	/* exposed reduction; step and exposed gather */
};

/* Chains and placements by segment; part holds problem, kind, first, ranks,
 * chain and the placement found. Allocates from scratch. */
void mixed_line_init(struct mixed_line *line, const struct problem *problem,
		     const struct choice *choice, struct mixed_part *part,
		     uint32_t part_count, struct incumbent *incumbent,
		     struct arena *scratch);

struct mixed_stage mixed_line_stage(const struct mixed_line *line, uint32_t rank,
				    uint32_t begin, uint32_t end);

/* Forward and backward of one micro-batch. */
double mixed_line_both(const struct mixed_line *line, uint32_t rank,
		       uint32_t begin, uint32_t end);

/* The boundary after a rank that ends there. */
double mixed_line_transfer(const struct mixed_line *line, uint32_t rank,
			   uint32_t end);

/* Whether the rank has memory for the layers; more never need less. */
bool mixed_line_fits(const struct mixed_line *line, uint32_t rank,
		     uint32_t begin, uint32_t end);

/* Whether rank 0 .. may end there at all. */
bool mixed_line_legal_end(const struct mixed_line *line, uint32_t rank,
			  uint32_t end);

/* Whether nothing that slow can replace the incumbent. */
bool mixed_line_excluded(const struct mixed_line *line, double time_s);

/* Whether some cut may fit into memory and end within limit_s, transfers aside; if not,
 * none does. Needs no tables. */
bool mixed_line_reaches(const struct mixed_line *line, double limit_s);

/* Fills the tables and low_s. False when no cut fits in memory. */
bool mixed_line_bound(struct mixed_line *line);

/* Simulates a cut and offers it. first has pipeline + 1 entries. INFINITY if it
 * is not legal, else its time. */
double mixed_line_try(struct mixed_line *line, const uint32_t *first);

/* Whether the deadline has passed. */
bool mixed_line_is_over(const struct mixed_line *line);

/* Offers the cut of least Z, improved by moving single layers. */
void mixed_line_seed(struct mixed_line *line);

/* Tries all cuts that no bound excludes, looking at so many ranks at most and until
 * the deadline. */
void mixed_line_search(struct mixed_line *line, uint64_t nodes);

#endif
