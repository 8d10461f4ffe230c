/* SPDX-License-Identifier: MIT
 *
 * The price of one complete plan: the cost model in one place. What a plan
 * costs is defined here; the search only bounds it.
 *
 * Layer, one micro-batch: forward = forward_s + exposed forward collectives;
 * backward likewise; exposed = max(0, time - hidden_s) of each collective. Those
 * over the expert and expert-tensor groups make expert_s.
 *
 * Device k of the pipeline with P parameters (tied ones once), E parameters of
 * experts, and chunks of total forward F_k and backward B_k per micro-batch; R =
 * data x context, X = tensor x context x data / (expert x expert_tensor):
 *	reduce	= all-reduce (ZeRO 0) or reduce-scatter (ZeRO 1) of P x reduce_bytes
 *		  over data x context, and then of E x reduce_bytes over expert data
 *	reduce_exposed = max(0, reduce - (overlap_reduce ? B_k : 0)), plus, when a tied
 *		  weight lives on two stages, latency_l + a transfer of its
 *		  S = tied_parameters x reduce_bytes across that pair's level l
 *	gather	= ZeRO 1: all-gather of P x gather_bytes over data x context, and then
 *		  of E x gather_bytes over expert data
 *	gather_exposed = max(0, gather - (overlap_gather ? F_k : 0))
 *	step	= (P + E) x step_bytes / memory_bandwidth;
 *		  ZeRO 1: (P / R + E / X) x step_bytes / memory_bandwidth
 *	time	= max over k of (finish_k + reduce_exposed_k)
 *		+ max over k of (step_k + gather_exposed_k)
 * with finish_k of the simulated schedule: the clipping norm is a barrier
 * between gradients and step.
 *
 * When a tied weight is apart, both stages of the pair pay for the exchange;
 * the transfer is that of a pipeline (network_transfer). A boundary
 * carries output_bytes of the last layer before it.
 *
 * Memory of a device: P + E times weight, gradient and optimizer bytes (the last
 * P / R + E / X times under ZeRO 1), the peak of saved activations in the
 * schedule's order, the largest working_bytes of its layers, and reserve_bytes +
 * group_bytes x (number of groups with more than one member it is in, of
 * tensor, context, data x context, pipeline and, where expert x expert_tensor is
 * more than 1, also of expert, expert tensor, expert data).
 *
 * Breakdown: of the device k that decides the first maximum: m x its compute and
 * exposed collectives, its reduce_exposed, and the second maximum's step and
 * gather; pipeline_s is what the schedule's end gains when transfers cost
 * nothing, limited to k's idle time; bubble_s the rest of it. The device of a
 * maximum is the first within 1e-12 of it.
 */
#ifndef NEST_SOLVER_PRICE_H
#define NEST_SOLVER_PRICE_H

#include <stdbool.h>

#include "lang/base/arena.h"
#include "solver/plan.h"

/* Prices choice + placement + chunks that plan already holds, and fills the
 * rest (stage array from the arena; the certificate is left alone). The plan
 * must be well formed; whether it fits in memory is the caller's question. */
void price_plan(const struct problem *problem, struct arena *arena,
		struct plan *plan);

/* Values of all plan variables for requirements and objectives. */
void price_variables(const struct problem *problem, const struct plan *plan,
		     struct arena *arena, struct predicate_input *input);

#endif
