/* SPDX-License-Identifier: MIT
 *
 * The price of one complete plan: the cost model in one place. What a plan
 * costs is defined here; the search only bounds it.
 *
 * Replicas. A parameter is replicated over data x context, R = data x context
 * members, one of an expert over expert data, X = tensor x context x data / (expert x
 * expert_tensor). Under ZeRO 1 to 3 each of these groups is cut in two at level
 * choice.shard_level: the shard group, its members in the same child of that
 * level (S of them, of experts S_x), which share out, and the rest group, one
 * member of each shard group (R / S, X / S_x). Shard level 0: the shard group is the
 * whole group and the rest group one member alone, which costs nothing. Which
 * of both a level's members are in: shard.h.
 *
 * Layer, one micro-batch: f = forward_s + exposed forward collectives; b likewise
 * backward; exposed = max(slowing x time, time - hidden_s) of each collective. Those over the
 * expert and expert-tensor groups make expert_s. Which cost a block layer has
 * under RECOMPUTE_FULL: choice.recompute_layers. With its own parameters P_l and
 * expert_parameters E_l (a tied weight counts in both of its layers, and each moves
 * it for itself):
 *	gather_l = ZeRO 3: all-gather of P_l x gather_bytes over the shard group, and
 *		  then of E_l x gather_bytes over that of experts; else 0
 *	scatter_l = ZeRO 2, 3: reduce-scatter of P_l x reduce_bytes over the shard
 *		  group, and then of E_l x reduce_bytes over that of experts; else 0
 *	forward	= f + (overlap_gather ? max(0, gather_l - f) : gather_l)
 *	backward = b + max(0, (overlap_gather ? gather_l : 0)
 *				+ (overlap_reduce ? scatter_l : 0) - b)
 *		  + (overlap_gather ? 0 : gather_l) + (overlap_reduce ? 0 : scatter_l)
 * What is added to f and b makes sharding_s. Under ZeRO 3 a layer is gathered before
 * its forward and again before its backward, whose recomputation uses the same
 * copy, while the layer before it in that order runs; under ZeRO 2 and 3 every
 * micro-batch's gradients are scattered, since whole ones have no place to add up.
 *
 * Device k of the pipeline with P parameters (tied ones once), E parameters of
 * experts, and chunks of total forward F_k and backward B_k per micro-batch, the
 * above included:
 *	reduce	= ZeRO 0: all-reduce of P x reduce_bytes over data x context
 *		  ZeRO 1: reduce-scatter of that over the shard group, then
 *		  ZeRO 1 to 3: all-reduce of P x reduce_bytes / S over the rest group;
 *		  and then all of it with E, S_x and the groups of experts
 *	reduce_exposed = max(0, reduce - (overlap_reduce ? B'_k : 0)), plus, when a tied
 *		  weight lives on two stages, latency_l + a transfer of
 *		  tied_parameters x reduce_bytes (ZeRO 2, 3: / S) across that pair's
 *		  level l
 *	gather	= ZeRO 1, 2: all-gather of P x gather_bytes over the shard group, and
 *		  then of E x gather_bytes over that of experts
 *	gather_exposed = max(0, gather - (overlap_gather ? F'_k : 0))
 *	step	= (P + E) x step_bytes / memory_bandwidth;
 *		  ZeRO 1 to 3: (P / S + E / S_x) x step_bytes / memory_bandwidth;
 *		  of weights with states apart (problem.states_apart) instead the sum
 *		  of their step_s; ZeRO 1 to 3: the larger of that / S and their
 *		  largest_step_s; of those of experts likewise with S_x
 *	time	= max over k of (finish_k + reduce_exposed_k)
 *		+ max over k of (step_k + gather_exposed_k)
 * with finish_k of the simulated schedule: the clipping norm is a barrier
 * between gradients and step.
 *
 * B'_k = max(0, B_k - transfers in front of its chunks), F'_k = max(0, F_k -
 * transfers after its chunks): while the last micro-batch's gradients, or the first
 * one's activations, go over an uplink, it does not carry the exchange. That counts for
 * boundaries of a level above the innermost, where the replicas of a weight leave the
 * innermost children too: they have a factor of data or context above that level, or,
 * under a linear packing, there are several and the plan has more devices than one such
 * child. It does not count in a plan of several segments (mixed.h), nor for the
 * exchanges of single layers under ZeRO 2 and 3.
 *
 * When a tied weight is apart, both stages of the pair pay for the exchange;
 * the transfer is that of a pipeline (network_transfer). A boundary
 * carries output_bytes of the last layer before it.
 *
 * Memory of a device: P + E times weight, gradient and optimizer bytes, P / S + E /
 * S_x times the optimizer bytes under ZeRO 1 to 3, the gradient bytes under ZeRO 2
 * and 3, the weight bytes under ZeRO 3; of parameters with states apart, M of P and M_x
 * of E, apart_bytes in place of the optimizer bytes, under ZeRO 1 to 3 for max(M / S,
 * largest) + max(M_x / S_x, largest of experts) parameters; the peak of saved activations in the
 * schedule's order; working: the largest working_bytes of its layers, plus G times
 * gradient_bytes (ZeRO 2, 3) and weight_bytes (ZeRO 3), where G is the sum of the
 * two largest (S > 1 ? P_l : 0) + (S_x > 1 ? E_l : 0) among its layers (the
 * layer that runs, and the one whose parameters arrive or whose gradients leave;
 * of a device with one layer that one); and reserve_bytes +
 * group_bytes x (number of groups with more than one member it is in, of
 * tensor, context, data x context, pipeline and, where expert x expert_tensor is
 * more than 1, also of expert, expert tensor, expert data; with a shard level above
 * 0 also of the shard group and the rest group of data x context and, where there are
 * experts in that sense, of expert data).
 *
 * Weights that must be whole are dealt out as evenly as can be: one replica has the
 * largest, and one the mean or more. That both are met is an idealisation (dealing the largest
 * first is at most 4/3 above the best; Graham 1969), and so is that the exchange of
 * their gradients and parameters takes no longer for unequal parts.
 *
 * Sources: Rajbhandari et al. 2020, "ZeRO: Memory Optimizations Toward Training
 * Trillion Parameter Models", sections 5 and 7; Zhao et al. 2023, "PyTorch FSDP:
 * Experiences on Scaling Fully Sharded Data Parallel", sections 3.2 (sharding
 * factor, hybrid sharding), 3.3 (prefetching, gradient accumulation with
 * communication) and 3.4 (at most two gathered units at once); shards in ZeRO 1:
 * Megatron-LM, --num-distributed-optimizer-instances. That the all-reduce over the
 * rest group comes once per iteration and not per micro-batch is PyTorch's
 * FSDPModule.set_requires_all_reduce.
 *
 * Breakdown: of the device k that decides the first maximum: m x its compute and
 * exposed collectives (sharding_s in data_s), its reduce_exposed, and the second
 * maximum's step and gather; pipeline_s is what the schedule's end gains when transfers cost
 * nothing, limited to k's idle time; bubble_s the rest of it. The device of a
 * maximum is the first within 1e-12 of it.
 */
#ifndef NEST_SOLVER_PRICE_H
#define NEST_SOLVER_PRICE_H

#include <stdbool.h>

#include "lang/base/arena.h"
#include "solver/memo.h"
#include "solver/plan.h"

/* What of an exchange is not hidden: behind_s of work may hide it. */
static inline double price_exposed(double exchange_s, bool overlap,
				   double behind_s)
{
	double hidden_s = overlap && behind_s > 0 ? behind_s : 0;

	return exchange_s > hidden_s ? exchange_s - hidden_s : 0;
}

/* Prices choice + placement + chunks that plan already holds, and fills the
 * rest (stage array from the arena; the certificate is left alone). The plan
 * must be well formed; whether it fits in memory is the caller's question. */
void price_plan(const struct problem *problem, struct arena *arena,
		struct plan *plan);

/* The same, where routes, if not NULL, is a memo of this problem alone: what has been
 * routed over the links of its graph before is taken from there. */
void price_routed(const struct problem *problem, struct arena *arena,
		  struct memo *routes, struct plan *plan);

/* What the end of pricing needs besides the stages, of one micro-batch. */
struct price_times {
	double *forward_s, *backward_s;	/* by chunk */
	double *transfer_s;		/* by boundary: one fewer than chunks */
};

/* The end of pricing alone: memory peak, schedule, time and breakdown, from the
 * stages as they stand. For plans whose stages were priced apart (mixed.h). */
void price_schedule(struct plan *plan, const struct price_times *times,
		    struct arena *arena);

/* Values of all plan variables for requirements and objectives. */
void price_variables(const struct problem *problem, const struct plan *plan,
		     struct arena *arena, struct predicate_input *input);

#endif
