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
#include "solver/most.h"
#include "solver/share.h"

/* Sums under a policy, and by layer. */
struct chain_cost {
	/* Prefix sums, length + 1 entries: what the first i layers come to. */
	double *forward_s, *backward_s;	/* of one micro-batch, communication included */
	double *saved_bytes;		/* per micro-batch */
	double *working_bytes;		/* of each layer */
};

struct chain {
	const struct problem *problem;
	uint32_t length;
	struct chain_cost cost;		/* under the policy */
	struct holding *held;		/* prefix sums */
	struct holding *layer_held;	/* of each layer, where states are apart */
	uint32_t *blocks;		/* layers that count as layers, likewise */
	/* By layer. */
	double *output_bytes;		/* what goes on to the next layer */
	uint32_t *run_end;		/* where the layer's run ends */
	/* Only the first recompute_layers blocks of a chunk have `cost`; its other
	 * blocks have that of the policy that keeps everything. */
	bool partial;
	uint32_t recompute_layers;
	struct chain_cost kept;
	uint32_t *split;		/* of a chunk that begins at a layer: the end of
					 * the stretch that has `cost`, at most */
	struct chain_cost cheapest;	/* of each layer the cheaper of both */
	struct chain_cost floor;	/* that, or `cost` where the chain is not partial */
	/* What a block recomputed costs more than its floor, at least. */
	double extra_s;
	/* A chunk takes and keeps no more than one that begins earlier and ends where
	 * it does. */
	bool monotone;
	bool one_block;			/* all blocks are of one class */
	double output_least_bytes;	/* over all layers but the last */
	double working_least_bytes;
	double layer_most_s;		/* largest forward + backward of a layer */
	double half_most_s;		/* largest forward or backward of a layer */
	struct deal deal;
	/* Positions of the two layers that share a weight; length if none do. */
	uint32_t tied_first, tied_last;
	double tied_parameters;
	/* What chain_load has filled, with recompute_layers. */
	bool loaded;
	uint32_t loaded_shape;
	enum recompute loaded_recompute;
};

void chain_init(struct chain *chain, const struct problem *problem,
		struct arena *arena);

/* Fills what depends on shape and recomputation but not on placement. */
void chain_load(struct chain *chain, const struct choice *choice);

/* Fills the times, given those of one layer of every class under the policy and,
 * where the chain is partial, under the one that keeps everything. */
void chain_time(struct chain *chain, const struct layer_time *time,
		const struct layer_time *kept);

/* Whether all layers between the first and the last are alike and blocks. */
bool chain_is_plain(const struct chain *chain);

struct placed;

/* chain_load and chain_time for a choice whose groups lie as placed; time and kept are
 * room for the times of layers, by class. */
void chain_place(struct chain *chain, const struct choice *choice,
		 const struct placed *placed, struct layer_time *time,
		 struct layer_time *kept);

/* Where a chunk [begin, end) stops to have `cost`. */
static inline uint32_t chain_split(const struct chain *chain, uint32_t begin,
				   uint32_t end)
{
	return chain->split[begin] < end ? chain->split[begin] : end;
}

/* Forward time of a chunk. */
static inline double chain_forward(const struct chain *chain, uint32_t begin,
				   uint32_t end)
{
	const double *sum = chain->cost.forward_s;
	uint32_t split;

	if (!chain->partial)
		return sum[end] - sum[begin];
	split = chain_split(chain, begin, end);
	return sum[split] - sum[begin] +
	       (chain->kept.forward_s[end] - chain->kept.forward_s[split]);
}

static inline double chain_backward(const struct chain *chain, uint32_t begin,
				    uint32_t end)
{
	const double *sum = chain->cost.backward_s;
	uint32_t split;

	if (!chain->partial)
		return sum[end] - sum[begin];
	split = chain_split(chain, begin, end);
	return sum[split] - sum[begin] +
	       (chain->kept.backward_s[end] - chain->kept.backward_s[split]);
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
	const double *sum = chain->cost.saved_bytes;
	uint32_t split;

	if (!chain->partial)
		return sum[end] - sum[begin];
	split = chain_split(chain, begin, end);
	return sum[split] - sum[begin] +
	       (chain->kept.saved_bytes[end] - chain->kept.saved_bytes[split]);
}

/* At least what the layers take in both directions, however they are cut into
 * chunks; of a stretch that ends where another does and begins later not more
 * than of the other. */
static inline double chain_least_both(const struct chain *chain, uint32_t begin,
				      uint32_t end)
{
	uint32_t blocks;

	if (!chain->partial)
		return chain_both(chain, begin, end);
	blocks = chain->blocks[end] - chain->blocks[begin];
	if (blocks > chain->recompute_layers)
		blocks = chain->recompute_layers;
	return chain->floor.forward_s[end] - chain->floor.forward_s[begin] +
	       (chain->floor.backward_s[end] - chain->floor.backward_s[begin]) +
	       blocks * chain->extra_s;
}

/* At least what layers take wherever in a chunk they lie. */
static inline double chain_floor_both(const struct chain *chain, uint32_t begin,
				      uint32_t end)
{
	return chain->floor.forward_s[end] - chain->floor.forward_s[begin] +
	       (chain->floor.backward_s[end] - chain->floor.backward_s[begin]);
}

static inline double chain_least_forward(const struct chain *chain,
					 uint32_t begin, uint32_t end)
{
	return chain->floor.forward_s[end] - chain->floor.forward_s[begin];
}

static inline double chain_least_backward(const struct chain *chain,
					  uint32_t begin, uint32_t end)
{
	return chain->floor.backward_s[end] - chain->floor.backward_s[begin];
}

/* Likewise of what the layers keep. */
static inline double chain_least_saved(const struct chain *chain, uint32_t begin,
				       uint32_t end)
{
	return chain->floor.saved_bytes[end] - chain->floor.saved_bytes[begin];
}

/* Fills in the largest whole weights of the layers that `held` sums up. */
void chain_largest(const struct chain *chain, uint32_t begin, uint32_t end,
		   struct holding *held);

/* What layers hold, tied parameters counted in both of theirs. */
static inline struct holding chain_held_apart(const struct chain *chain,
					      uint32_t begin, uint32_t end)
{
	struct holding held = holding_subtract(chain->held[end],
					       chain->held[begin]);

	if (chain->problem->states_apart)
		chain_largest(chain, begin, end, &held);
	return held;
}

/* Tied parameters counted once if both layers are there. */
static inline struct holding chain_held(const struct chain *chain, uint32_t begin,
					uint32_t end)
{
	struct holding held = chain_held_apart(chain, begin, end);

	if (begin <= chain->tied_first && chain->tied_last < end)
		held.parameters -= chain->tied_parameters;
	return held;
}

/* Largest transient of a chunk's layers, and at least that. */
double chain_working(const struct chain *chain, uint32_t begin, uint32_t end);
double chain_least_working(const struct chain *chain, uint32_t begin,
			   uint32_t end);

/* Adds what of a chunk's layers may have to be whole for a while. */
void chain_moving(const struct chain *chain, const struct share *share,
		  uint32_t begin, uint32_t end, struct moving *moving);

/* What chunks of one device come to together; all zero before the first. */
struct chain_sum {
	struct holding held;		/* tied parameters counted in both of theirs */
	double forward_s, backward_s;
	double working_bytes;
	struct moving moving;
};

static inline void chain_sum_add(const struct chain *chain,
				 const struct share *share, uint32_t begin,
				 uint32_t end, struct chain_sum *sum)
{
	sum->held = holding_add(sum->held, chain_held_apart(chain, begin, end));
	sum->forward_s += chain_forward(chain, begin, end);
	sum->backward_s += chain_backward(chain, begin, end);
	sum->working_bytes = most(sum->working_bytes,
				  chain_working(chain, begin, end));
	chain_moving(chain, share, begin, end, &sum->moving);
}

#endif
