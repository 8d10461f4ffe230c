/* SPDX-License-Identifier: MIT
 *
 * Problems of any size for timing the solver: a decoder on a cluster of nodes of
 * eight devices, with costs by a short formula (what counts is that they have
 * the shape of real ones).
 */
#ifndef NEST_TESTS_BENCH_SYNTHETIC_H
#define NEST_TESTS_BENCH_SYNTHETIC_H

#include "lang/base/arena.h"
#include "solver/problem.h"

/* A decoder: hidden size, heads, sizes of the feed-forward net, layers. */
struct synthetic_model {
	const char *name;
	double hidden, kv_share, feed, feed_matrices, vocabulary, sequence;
	uint32_t layers, heads, kv_heads;
};

/* The largest Llama 3s and GPT-3; ends with an entry without a name. */
extern const struct synthetic_model synthetic_models[];

/* The model on so many devices (a multiple of 32), every dimension free. */
struct problem *synthetic_problem(const struct synthetic_model *model,
				  uint32_t devices, struct arena *arena);

/* The same devices in five levels. */
void synthetic_five_levels(struct problem *problem);

/* Frees what is usually fixed, too: ZeRO 2 and 3, shards within a node, GPipe. */
void synthetic_free_policies(struct problem *problem);

#endif
