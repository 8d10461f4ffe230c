/* SPDX-License-Identifier: MIT
 *
 * The chain of layers as prefix sums, so that what any stretch of layers costs
 * is a difference of two numbers.
 */
#ifndef NEST_SOLVER_CHAIN_H
#define NEST_SOLVER_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/arena.h"
#include "solver/deal.h"
#include "solver/layer.h"
#include "solver/share.h"

struct chain {
	const struct problem *problem;
	uint32_t length;
	/* Prefix sums, length + 1 entries: what the first i layers come to. */
	double *forward_s, *backward_s;	/* of one micro-batch, communication included */
	struct holding *held;
	double *saved_bytes;		/* per micro-batch */
	uint32_t *blocks;		/* layers that count as layers */
	/* By layer. */
	double *output_bytes;		/* what goes on to the next layer */
	double *working_bytes;
	uint32_t *run_end;		/* where the layer's run ends */
	double output_least_bytes;	/* over all layers but the last */
	double working_least_bytes;
	double layer_most_s;		/* largest forward + backward of a layer */
	double half_most_s;		/* largest forward or backward of a layer */
	struct deal deal;
	/* Positions of the two layers that share a weight; length if none do. */
	uint32_t tied_first, tied_last;
	double tied_parameters;
};

void chain_init(struct chain *chain, const struct problem *problem,
		struct arena *arena);

/* Fills what depends on shape and recomputation but not on placement. */
void chain_load(struct chain *chain, uint32_t shape, enum recompute recompute);

/* Fills the times, given those of one layer of every class. */
void chain_time(struct chain *chain, const struct layer_time *time);

static inline double chain_forward(const struct chain *chain, uint32_t begin,
				   uint32_t end)
{
	return chain->forward_s[end] - chain->forward_s[begin];
}

static inline double chain_backward(const struct chain *chain, uint32_t begin,
				    uint32_t end)
{
	return chain->backward_s[end] - chain->backward_s[begin];
}

/* Forward and backward. */
static inline double chain_both(const struct chain *chain, uint32_t begin,
				uint32_t end)
{
	return chain_forward(chain, begin, end) +
	       chain_backward(chain, begin, end);
}

static inline double chain_saved(const struct chain *chain, uint32_t begin,
				 uint32_t end)
{
	return chain->saved_bytes[end] - chain->saved_bytes[begin];
}

/* Tied parameters counted once if both layers are there. */
static inline struct holding chain_held(const struct chain *chain, uint32_t begin,
					uint32_t end)
{
	struct holding held = holding_subtract(chain->held[end],
					       chain->held[begin]);

	if (begin <= chain->tied_first && chain->tied_last < end)
		held.parameters -= chain->tied_parameters;
	return held;
}

/* The same with the tied ones counted in both layers. */
static inline struct holding chain_held_apart(const struct chain *chain,
					      uint32_t begin, uint32_t end)
{
	return holding_subtract(chain->held[end], chain->held[begin]);
}

double chain_working(const struct chain *chain, uint32_t begin, uint32_t end);

#endif
