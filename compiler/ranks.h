/* SPDX-License-Identifier: MIT
 *
 * Ranks: the numbering of a plan's processes, and the device each one runs on.
 * Two orders exist in Megatron-LM (parallel_state.py, initialize_model_parallel);
 * in both the leftmost coordinate varies fastest.
 */
#ifndef NEST_COMPILER_RANKS_H
#define NEST_COMPILER_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir.h"
#include "lang/base/text.h"
#include "solver/plan.h"

enum rank_order {
	RANK_ORDER_DATA_PIPELINE,	/* tp-cp-dp-pp, the default */
	RANK_ORDER_PIPELINE_DATA,	/* tp-cp-pp-dp, --use-tp-pp-dp-mapping */
	RANK_ORDER_COUNT
};

/* How well an order meets the plan's devices. */
enum rank_match {
	RANK_MATCH_SAME,	/* rank r runs on device r */
	RANK_MATCH_ASCENDING,	/* on the r-th of the devices used */
	RANK_MATCH_NONE,	/* a table is needed */
};

struct rank {
	uint32_t number;
	uint32_t coordinate[DIMENSION_COUNT];
	uint32_t device;
};

/* "tp-cp-dp-pp" or "tp-cp-pp-dp". */
const char *rank_order_name(enum rank_order order);

/* Degrees of the dimensions of a plan. */
void plan_degrees(const struct problem *problem, const struct plan *plan,
		  uint32_t degree[DIMENSION_COUNT]);

/* The device at a rank's coordinates. */
uint32_t rank_device(const struct problem *problem, const struct plan *plan,
		     const uint32_t coordinate[DIMENSION_COUNT]);

/* Whether every rank's device is what the placement's factors say, the digits of a
 * level in that order: no rule and no linear packing moves any. */
bool ranks_follow_factors(const struct problem *problem, const struct plan *plan,
			  enum rank_order order);

/* The device as it is counted and named in the spec: of a graph the one that
 * stands at that place of its hierarchy, else the same number. */
static inline uint32_t physical_device(const struct plan *plan, uint32_t device)
{
	return plan->device_map ? plan->device_map[device] : device;
}

/* The coordinates and device of rank `number`. */
struct rank rank_at(const struct problem *problem, const struct plan *plan,
		    enum rank_order order, uint32_t number);

enum rank_match rank_order_match(const struct problem *problem,
				 const struct plan *plan, enum rank_order order);

/* The order that matches best; the default one where they are equal. */
enum rank_order rank_order_choose(const struct problem *problem,
				  const struct plan *plan,
				  enum rank_match *match);

/* A device's place in the topology: "spine0/rack3/node1/gpu5", or its name in a
 * graph (of a physical_device): "host[3]/gpu5". */
void device_path(const struct ir_topology *topology, uint32_t device,
		 struct text *out);

#endif
