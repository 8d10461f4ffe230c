/* SPDX-License-Identifier: MIT
 *
 * The state of one independent check, and what its parts call of each other.
 * Only the feasible*.c files include this.
 */
#ifndef NEST_SOLVER_FEASIBLE_CHECK_H
#define NEST_SOLVER_FEASIBLE_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "solver/feasible.h"

/* What one layer class costs under the plan and one policy of recomputation,
 * one micro-batch. */
struct class_cost {
	double forward_s, backward_s;	/* communication included */
	double compute_s, tensor_s, context_s, expert_s, sharding_s;
};

/* The transfers of a linear placement at one level. */
struct linear_border {
	double leaving;			/* k_l */
	bool changes_rail;
	bool crossed;			/* by some transfer as its highest level */
};

/* The devices that pipeline ranks first_rank .. first_rank + degree - 1 lie on: all
 * of the plan's, or those of one segment of a plan on a mixed cluster (mixed.h). */
struct site {
	const struct problem *problem;	/* of these devices */
	const struct choice *choice;
	const struct placement *placement;
	const struct problem_shape *shape;
	uint32_t first_rank;
	uint32_t degree[DIMENSION_COUNT];	/* pipeline: ranks of the site */
	double replicas;		/* data x context */
	double expert_replicas;		/* of an expert's weight */
	double shards, expert_shards;	/* of these, those that share out: S, S_x */
	double below[LEVEL_MAX];	/* devices of one child of each level */
	double used[LEVEL_MAX];		/* of these, used by the site */
	struct class_cost *class_cost;	/* class x policy */
	struct arena *scratch;
	/* Of a linear placement: the device of every rank, numbered as plan.device is,
	 * and what its transfers find. */
	const uint32_t *device;
	struct linear_border *border;	/* by level */
	const struct routed_rank *routed;	/* of a pipeline rank on a graph */
};

struct check {
	const struct problem *problem;
	const struct plan *plan;
	struct arena *scratch;
	struct text *reason;

	const struct problem_shape *shape;
	struct site *site;
	uint32_t site_count;
	const struct routed *routed;	/* in problems with a graph: the network, */
	struct site *routed_site;	/* and the site seen by every pipeline rank */
	uint32_t layer_count;
	uint32_t *class_of;		/* class of every chain position */
	uint32_t *chunk_of;		/* chunk of every chain position */
	enum recompute *policy_of;	/* and its policy */

	struct stage_cost *stage;	/* what they should be */
	double *finish_s;		/* of the schedule, per stage */
	double end_s;			/* the largest of them */
	double end_free_s;		/* the same when transfers cost nothing */
	double time_s;
	double reduce_end_s;		/* largest finish + exposed reduction */
	double step_end_s;		/* largest step + exposed gather */
	double peak_bytes;
};

/* The site of a pipeline rank. */
const struct site *feasible_site(const struct check *c, uint32_t rank);

/* Whether the plan lies in the space; otherwise false, and why in reason. */
bool feasible_degrees(struct check *c);
bool feasible_placement(struct check *c);
bool feasible_cut(struct check *c);

/* What a layer costs and weighs under the plan. */
const struct problem_cost *feasible_cost_of(const struct check *c,
					    uint32_t layer);
const struct problem_weight *feasible_weight_of(const struct check *c,
						uint32_t layer);

/* Fills class_cost and stage but for memory and sends. */
void feasible_price_layers(struct check *c);

const struct class_cost *feasible_price_of(const struct check *c,
					   uint32_t layer);

/* Elements that a device holds of what ZeRO `stage` and above share out. */
double feasible_held(const struct site *site, const struct stage_cost *cost,
		     uint32_t stage);

/* Fills optimizer states and step of pipeline rank k, whose parameters are known. */
void feasible_price_optimizer(struct check *c, uint32_t k);

/* Operation q of device k in its documented order. */
struct feasible_operation {
	bool backward;
	uint32_t chunk;			/* of the device */
	uint32_t micro_batch;
};
struct feasible_operation feasible_operation(const struct choice *choice,
					     uint32_t k, uint64_t q);

/* Fills the sends, finish_s, end_s and end_free_s; false if the schedule is too
 * long to check or never ends. */
bool feasible_run_schedule(struct check *c);

/* Fills every stage's memory, and peak_bytes. */
void feasible_price_memory(struct check *c);

/* Whether the plan states what was found, and fits in memory. */
bool feasible_compare(struct check *c);

/* The ranks of a stage are numbered with the digits of tensor, context and data,
 * innermost level first; a digit covers the strides from `*from` to `*to`. Walks to
 * the digit of dimension d at level l. */
void feasible_digit_strides(const struct site *site, int d, uint32_t l,
			    uint64_t *from, uint64_t *to);

/* The highest level at which two pipeline ranks of a site differ. */
uint32_t feasible_pipeline_level(const struct site *site, uint32_t a, uint32_t b);

/* The members of a group at the levels first .. end - 1, one in each child
 * elsewhere. */
struct group_part {
	enum group group;
	uint32_t first, end;
	const double *counts;		/* its members of each level, if counted out */
};

struct group_part feasible_whole(enum group group);
/* All of a group of replicas, those that share out (shard.h), and the rest. */
struct group_part feasible_all(const struct site *site, enum group group);
struct group_part feasible_shard(const struct site *site, enum group group);
struct group_part feasible_rest(const struct site *site, enum group group);

double feasible_size(const struct site *site, struct group_part part);

/* Members of a group that one child's device meets at level l. */
double feasible_members(const struct site *site, struct group_part part,
			uint32_t l);

/* Groups of that kind that lie in the same stretch of level l: what varies
 * faster than the group's own digits. */
double feasible_apart(const struct site *site, enum group group, uint32_t l);

/* A share of a child's links at level l, for each of so many senders in it;
 * what each gets of that, efficiency aside; */
double feasible_links_Bps(const struct site *site, uint32_t l, double senders,
			  double share);
double feasible_rate_Bps(const struct site *site, uint32_t l, double senders,
			 double share);

/* and the least rate of the switches below a level, for what all used devices
 * send, or only those of one pipeline rank. */
double feasible_passed_Bps(const struct site *site, uint32_t level, bool one_rank);

/* Time of a transfer: of no byte, and of each one more. */
struct transfer_line {
	double latency_s, s_per_byte;
};

/* Time of a collective of so many bytes. */
double feasible_collective_s(const struct site *site, enum collective kind,
			     struct group_part part, double bytes);

/* Fills `shorter` with the levels as the protocol for short messages has them;
 * whether one of those crossed has such. */
bool feasible_shorten(const struct problem *problem, const bool *crossed,
		      struct problem *shorter);

/* feasible_linear.c: the same under a linear placement; what its transfers
 * find; the level between two ranks; a transfer. */
double feasible_linear_s(const struct site *site, enum collective kind,
			 struct group_part part, double bytes);
void feasible_linear_borders(struct site *site);
uint32_t feasible_linear_level(const struct site *site, uint32_t a, uint32_t b);
struct transfer_line feasible_linear_transfer(const struct site *site,
					      uint32_t level);

/* feasible_graph.c: fills routed and routed_site where there is a graph; a
 * collective of one rank; the boundary after a rank; the exchange of a tied
 * weight. */
bool feasible_route(struct check *c);
double feasible_routed_s(const struct site *site, enum collective kind,
			 struct group_part part, double bytes);
double feasible_routed_send_s(const struct check *c, uint32_t rank,
			      double bytes);
double feasible_routed_tied_s(const struct check *c, double bytes);

/* feasible_devices.c: whether the devices of the ranks are such as devices.h and
 * linear.h want them. */
bool feasible_devices(struct check *c, struct site *site);

/* A transfer between stages across a level. */
struct transfer_line feasible_transfer(const struct site *site, uint32_t level);

/* The level that a boundary between two pipeline ranks crosses, and the time of
 * so many bytes over it. */
uint32_t feasible_border_level(const struct check *c, uint32_t a, uint32_t b);
double feasible_send_s(const struct check *c, uint32_t a, uint32_t b,
		       double bytes);

#endif
