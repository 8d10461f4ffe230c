/* SPDX-License-Identifier: MIT
 *
 * Cutting the chain into pipeline x virtual_stages chunks for one
 * configuration under one placement: bounds on what any cut can reach, cuts
 * that are good from the start, and the exact search.
 */
#ifndef NEST_SOLVER_PARTITION_H
#define NEST_SOLVER_PARTITION_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/arena.h"
#include "solver/chain.h"
#include "solver/incumbent.h"
#include "solver/placement.h"
#include "solver/schedule.h"

/* A cut with what the simulation says about it. */
struct cut {
	uint32_t *first;		/* chunks + 1 entries */
	double time_s;
	double memory_bytes;
};

struct partition {
	const struct problem *problem;
	const struct choice *choice;
	const struct placed *placed;
	const struct chain *chain;	/* loaded and timed for these */
	struct incumbent *incumbent;
	struct arena *scratch;

	struct schedule_shape schedule;
	uint32_t pipeline, virtual_stages, micro_batches, chunks;
	bool gpipe;
	uint32_t blocks_each;		/* uniform stages: block layers of a chunk */
	struct share share;
	double *transfer_least_s;	/* by boundary, chunks - 1 entries, then 0 */
	double *transfer_rest_s;	/* by chunk: least transfers from it to the end */
	double whole_s;			/* one micro-batch through all, at least */
	uint32_t blocks_most;		/* of a chunk */

	/* Room for one cut's numbers, from partition_room on; before, for a number by
	 * device in all but transfer_s. */
	double *forward_s, *backward_s, *transfer_s, *saved_bytes, *finish_s;

	/* The fastest legal cut simulated here; INFINITY before there is one. */
	uint32_t *best_first;
	double best_s;

	/* What came out. */
	double span_s;			/* no schedule ends before */
	double low_s;			/* no cut left to try is faster; INFINITY: none left */
	uint64_t simulated;
	uint64_t looked;		/* work of the search besides, in simulations */
	bool feasible;			/* a simulated cut satisfied everything */
	bool over_memory;		/* a cut was refused for its memory */
	bool over_requirement;		/* or for a requirement */
	uint32_t failed_requirement;	/* the only one that ever refused; or ... */
	bool bounded;			/* a cut was left out for its bound */
	bool complete;			/* nothing was left out for lack of effort */
};

enum { REQUIREMENT_NONE = 0xffffffffu, REQUIREMENT_SEVERAL = 0xfffffffeu };

/* Allocates from scratch. */
void partition_init(struct partition *partition, const struct problem *problem,
		    const struct choice *choice, const struct placed *placed,
		    const struct chain *chain, struct incumbent *incumbent,
		    struct arena *scratch);

/* Before any cut is seeded, climbed or searched; likewise from scratch. */
void partition_room(struct partition *partition);

/* The time of the boundary after chunk `chunk` when the next begins at end. */
static inline double partition_transfer(const struct partition *partition,
					uint32_t chunk, uint32_t end)
{
	uint32_t rank = chunk % partition->pipeline;
	const struct network_line *line =
		&partition->placed->transfer[partition->placed->boundary_level[rank]];

	if (end == partition->chain->length)
		return 0;
	return line->latency_s +
	       partition->chain->output_bytes[end - 1] * line->s_per_byte;
}

/* Memory of rank k when it holds one chunk only (virtual_stages 1). */
double partition_stage_memory(const struct partition *partition, uint32_t rank,
			      uint32_t begin, uint32_t end);

/* At least that, and of a chunk that begins later and ends where another does
 * never more than of the other. */
double partition_least_memory(const struct partition *partition, uint32_t rank,
			      uint32_t begin, uint32_t end);

/* No schedule with such a stage ends before (virtual_stages 1): the stages before
 * it take prefix_s with two transfers each. Grows with the stage. */
double partition_stage_end(const struct partition *partition, double prefix_s,
			   double stage_s);

/* Exposed gradient reduction of a rank without a tied weight's exchange, and
 * optimizer step with exposed gather. */
double partition_reduce(const struct partition *partition, uint32_t rank,
			struct holding held, double backward_s);
double partition_step(const struct partition *partition, uint32_t rank,
		      struct holding held, double forward_s);

/* What is left of the collectives of both when compute has hidden what it can;
 * negative when it could hide more. Concave in the number of layers. */
double partition_reduce_left(const struct partition *partition,
			     struct holding held, double backward_s);
double partition_gather_left(const struct partition *partition,
			     struct holding held, double forward_s);

/* A tied weight's exchange if its layers lie on the ranks a and b. */
double partition_exchange(const struct partition *partition, uint32_t a,
			  uint32_t b);

/* Whether memory suffices (within TIE). */
static inline bool partition_fits(const struct partition *partition,
				  double bytes)
{
	return bytes <= partition->problem->memory.limit_bytes * (1 + TIE);
}

/* Simulates a cut and offers it to the incumbent. False if it is not legal. */
bool partition_try(struct partition *partition, struct cut *cut);

/* Notes that a requirement, or several, refused cuts. */
void partition_refuse(struct partition *partition, uint32_t requirement);

/* What a family of cuts has at least; true if it cannot be better than the
 * incumbent. */
bool partition_excluded(const struct partition *partition, double time_s,
			double memory_bytes);

/* Whether the chain is a first layer, equal layers that are blocks, and a last. */
bool partition_chain_is_plain(const struct chain *chain);

/* At least what the layers from a chunk's first on take in both directions. */
double partition_rest(const struct partition *partition, uint32_t begin);

/* Sets span_s and low_s to what little work tells: partition_bound is never below. */
void partition_glance(struct partition *partition);

/* Sets span_s and low_s to what follows from sums over the chain and from
 * dealing whole layers to devices. Plans slower than the incumbent may be
 * left out of low_s. */
void partition_bound(struct partition *partition);

/* False if no cut fits in memory (may be true although none does when
 * virtual_stages is above 1). */
bool partition_can_fit(const struct partition *partition);

/* Bounds the time by the load of devices, and offers good cuts. */
void partition_seed(struct partition *partition);

/* Interleaved, a plain chain: offers cuts in which all chunks of one layer more are in a
 * row, so that columns of few devices differ from their neighbours'. At most that
 * many, which must be positive; there are twice as many as chunks. */
void partition_runs(struct partition *partition, uint64_t simulations);

/* Interleaved: improves on the seeds by moving one layer from a chunk to another,
 * with at most that many simulations. */
void partition_climb(struct partition *partition, uint64_t simulations);

/* The most layers of the frequent kind that each device has in a cut that could replace
 * the incumbent. Before partition_room or after; fills p entries. */
void partition_units_most(struct partition *partition, double *units_most);

/* Interleaved: goes through all cuts device by device, with at most that many
 * simulations, each of them counted as looked at. True if none is left: whatever
 * could replace the incumbent has. */
bool partition_columns(struct partition *partition, uint64_t simulations);

/* Tries all cuts not excluded by a bound, with at most that many simulations. */
void partition_search(struct partition *partition, uint64_t simulations);

#endif
