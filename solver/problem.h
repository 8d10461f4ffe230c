/* SPDX-License-Identifier: MIT
 *
 * The solver's input: plain numbers, no text. The caller owns every array and
 * keeps it alive while the solver runs. Sizes are bytes, times seconds, rates
 * per second.
 */
#ifndef NEST_SOLVER_PROBLEM_H
#define NEST_SOLVER_PROBLEM_H

#include <stdbool.h>
#include <stdint.h>

#include "solver/dimension.h"
#include "solver/exchange.h"
#include "solver/predicate.h"

#define LEVEL_MAX 8		/* levels of a topology */
#define CHAIN_MAX 4096		/* layers of a model */
#define DEVICES_MAX (1u << 20)
#define OBJECTIVE_MAX 8
#define KIND_MAX 4		/* device types of a cluster */
#define PIN_MAX 64		/* pipeline ranks with a place of their own */
#define BATCH_MAX (1u << 24)	/* sequences of a global batch */

/* How the children of a level are joined. */
enum level_kind {
	LEVEL_SWITCH,		/* any to any, through the children's uplinks */
	LEVEL_RING,		/* each child to the next one, in both directions */
	LEVEL_FULL,		/* a link from every child to every other */
	LEVEL_KIND_COUNT
};

/* One level of the network, innermost first. A level joins `fanout` equal
 * children (level 0 joins devices). A torus is one ring level per dimension,
 * all but the innermost `joined`. What is 0 has its default. */
struct problem_level {
	uint32_t fanout;
	enum level_kind kind;
	bool wrap;			/* RING: the last child borders on the first */
	bool joined;			/* works beside the level below in one collective */
	double bandwidth_Bps;		/* what one device sends into it, one direction,
					 * over all its links there */
	double latency_s;		/* of one message step (RING: from child to child) */
	double overhead_s;		/* of a whole collective or transfer, once */
	double oversubscription;	/* >= 1: a child's uplink carries
					 * children's devices x bandwidth / this */
	double efficiency;		/* share of the bandwidth large messages reach */
	double short_efficiency;	/* share by the protocol for short messages; 0:
					 * there is none */
	double short_overhead_s;	/* its overhead, in place of overhead_s */
	uint32_t nics;			/* of one child, each of that bandwidth; 0: one
					 * per device */
	uint32_t rails;			/* separate networks, device i of a child on
					 * rail i mod rails; 0: one network */
	bool in_network_reduction;	/* switches add up all-reduces */
	double reduction_efficiency;	/* share that these reach; 0: efficiency */
};

/* A communication of one layer, once per micro-batch. `bytes` is the size of
 * the whole buffer: what each rank holds before an all-reduce, reduce-scatter
 * or all-to-all, and after an all-gather. */
struct problem_collective {
	enum collective kind;
	enum group group;
	bool backward;			/* in the backward pass (or its recomputation) */
	double bytes;
	double hidden_s;		/* seconds of compute it runs behind; the rest is exposed, */
	double slowing;			/*   and at least this share of it, by which it slows that
					 * compute down; 0 .. 1 */
	uint32_t source;		/* caller's number for what it was inferred from */
};

/* One layer class under one shape and one recomputation policy. */
struct problem_cost {
	double forward_s;		/* compute of one micro-batch, no communication */
	double backward_s;		/* likewise, recomputation included */
	double saved_bytes;		/* kept per micro-batch in flight */
	double working_bytes;		/* transient peak while the layer runs */
	uint32_t collective_first;	/* into problem.collective */
	uint32_t collective_count;
};

/* Weights whose optimizer states and step are of another kind than those of most
 * (problem.states_apart): matrices under Muon, 8-bit states. Where the step needs a
 * weight whole, `largest` says so. */
struct problem_apart {
	double parameters;		/* elements on one device, over all of them */
	double step_s;			/* of all their steps, on one device */
	double largest;			/* elements of the largest weight that must be whole;
					 * 0: none must */
	double largest_step_s;		/* and the longest step of one */
};

/* One layer class under one shape, whatever the policy. */
struct problem_weight {
	double parameters;		/* elements on one device, replicated over data x context */
	double expert_parameters;	/* and besides, elements of experts, replicated over
					 * the expert-data group */
	double tied_parameters;		/* of `parameters`, shared with problem.tied_class when
					 * both are on one device; see below. None have
					 * states apart */
	struct problem_apart apart;	/* among `parameters`, */
	struct problem_apart expert_apart;	/* and among expert_parameters */
	double output_bytes;		/* what a device sends to the next stage per micro-batch */
};

/* A way to cut a layer: everything that decides its local shapes. Expert degrees
 * are no factors of the world: expert x expert_tensor must divide tensor x
 * context x data, whose ranks they divide anew (network.h). Both are 1 where
 * there are no experts. */
struct problem_shape {
	uint32_t tensor;
	uint32_t context;
	uint32_t expert;		/* ranks that share the experts out */
	uint32_t expert_tensor;		/* ranks that cut each expert */
	bool sequence;			/* sequence parallelism within the tensor group */
	uint32_t micro_batch;		/* sequences */
};

struct problem_run {
	uint32_t class_index;
	uint32_t count;
};

/* Values a plan variable may take, ascending; count 0 means every legal one. */
struct problem_domain {
	const uint32_t *at;
	uint32_t count;
};

struct problem_memory {
	double limit_bytes;		/* of one device */
	double reserve_bytes;		/* runtime context, fragmentation */
	double group_bytes;		/* communicator buffers, per group a rank is in */
	double weight_bytes;		/* per parameter */
	double gradient_bytes;		/* per parameter */
	double optimizer_bytes;		/* per parameter, before any sharding; */
	double apart_bytes;		/*   the same of one whose states are apart */
};

struct problem_sync {
	double reduce_bytes;		/* per parameter in gradient reduction */
	double gather_bytes;		/* per parameter in the gather after a sharded step */
	bool overlap_reduce;		/* behind the last micro-batch's backward; ZeRO 2, 3:
					 * a layer's behind its own backward */
	bool overlap_gather;		/* behind the first micro-batch's forward; ZeRO 3: a
					 * layer's behind its own forward and backward */
	double step_bytes;		/* read and written per parameter by the optimizer
					 * step, where states are not apart */
	double memory_bandwidth_Bps;	/* which the step reaches */
};

enum { CLASS_NONE = 0xffffffffu };

/* Where the devices of one pipeline rank must be; a plan without that rank keeps the
 * rule. */
struct problem_pin {
	bool last;			/* the last rank, else rank `rank` */
	uint32_t rank;
	uint32_t first, count;		/* devices first .. first + count - 1 */
};

struct graph;			/* graph.h */

struct problem {
	/* The chain, as runs of equal layers. */
	const struct problem_run *run;
	uint32_t run_count;
	uint32_t class_count;
	const bool *class_is_block;	/* counts as a layer (embedding and head do not) */

	/* Tied weights: the class (the head) that shares tied_parameters with
	 * another (the embedding); each occurs once in the chain. On one device
	 * they are stored once; apart,
	 * each keeps a copy and their gradients are added over the pair of
	 * stages. CLASS_NONE when nothing is tied. */
	uint32_t tied_class;
	uint32_t tied_with_class;

	/* Costs: index with problem_cost_at and problem_weight_at. */
	const struct problem_shape *shape;
	uint32_t shape_count;
	const struct problem_cost *cost;	/* shape x class x recompute */
	const struct problem_weight *weight;	/* shape x class */
	const struct problem_collective *collective;
	uint32_t collective_count;

	/* Network: device_count is the product of the fan-outs. */
	struct problem_level level[LEVEL_MAX];
	uint32_t level_count;
	uint32_t device_count;
	/* A network given by its links: the levels are those graph_hierarchy found,
	 * and plans are priced as the graph routes them. NULL: the levels are all
	 * there is. The device of the graph that each device of the levels is. */
	const struct graph *graph;
	const uint32_t *graph_device;	/* device_count entries */

	/* Job. */
	uint32_t global_batch;		/* sequences */
	struct problem_domain data, pipeline, virtual_stages, devices;
	bool zero[4];			/* allowed ZeRO stages */
	/* Allowed shard levels of ZeRO 1 to 3, by level; [0]: the whole group. With
	 * none set, only 0. Levels must exist. ZeRO 0 has shard level 0, whatever is
	 * allowed. */
	bool shard_level[LEVEL_MAX];
	bool recompute[RECOMPUTE_COUNT];
	/* Values of choice.recompute_layers under RECOMPUTE_FULL; each is a
	 * configuration. Count 0: only 0, that is all layers (where a domain is given,
	 * a value of at least the number of block layers means the same). */
	struct problem_domain recompute_layers;
	/* Allowed schedules for pipeline > 1: 1F1B and GPipe for virtual_stages 1,
	 * interleaved for more. With none set, 1F1B and interleaved. Where pipeline
	 * is 1 there is only 1F1B, whatever is allowed. */
	bool schedule[SCHEDULE_COUNT];
	/* Levels a dimension may be factored over, counted from the innermost; its
	 * factors above them are 1: ranks that differ in that coordinate only lie in
	 * the same child of level `within`. 0: any. */
	uint32_t within[DIMENSION_COUNT];
	/* Devices that no plan uses (failed, reserved): ascending, none twice. A plan has
	 * at most device_count - avoided_count devices. */
	const uint32_t *avoided;
	uint32_t avoided_count;
	const struct problem_pin *pin;
	uint32_t pin_count;		/* at most PIN_MAX */
	bool uniform_stages;		/* the framework can only cut evenly: every
					 * chunk has equally many block layers */
	struct problem_memory memory;
	struct problem_sync sync;
	/* Some weights have optimizer states of another kind. Those that must be whole are
	 * dealt out whole where ZeRO shares out states; ZeRO 2 and 3, which cut them, are
	 * then not allowed. False: no weight has states apart. */
	bool states_apart;
	/* How tokens reach their experts. On levels of rings or links from each to each,
	 * under linear placements and on graphs each copy is counted as sent. */
	struct problem_exchange exchange;
	double device_dollars_per_s;	/* price of one device; 0 if unknown */
	double device_watts;

	const struct predicate *requirement;	/* all must hold */
	uint32_t requirement_count;
	const struct predicate *objective;	/* minimised in order; none means time.
						 * Must not decrease when time grows. */
	uint32_t objective_count;		/* at most OBJECTIVE_MAX */

	/* Mixed clusters: the job on the devices of each kind alone, each a problem
	 * without kinds; see mixed.h. kind_count 0: all devices are alike. */
	const struct problem *const *kind;
	uint32_t kind_count;			/* 0, or 2 .. KIND_MAX */
};

/* Devices that plans may use. */
static inline uint32_t problem_usable(const struct problem *problem)
{
	return problem->device_count - problem->avoided_count;
}

/* Sums the run counts. */
uint32_t problem_chain_length(const struct problem *problem);

/* Layers that count as such. */
uint32_t problem_block_count(const struct problem *problem);

/* What of a collective that takes so long is exposed. */
static inline double problem_exposed_s(const struct problem_collective *collective,
				       double time_s)
{
	double behind_s = time_s - collective->hidden_s;
	double slowed_s = time_s * collective->slowing;

	return behind_s > slowed_s ? behind_s : slowed_s;
}

static inline const struct problem_cost *
problem_cost_at(const struct problem *problem, uint32_t shape,
		uint32_t class_index, enum recompute recompute)
{
	return &problem->cost[(shape * problem->class_count + class_index) *
			      RECOMPUTE_COUNT + (uint32_t)recompute];
}

static inline const struct problem_weight *
problem_weight_at(const struct problem *problem, uint32_t shape,
		  uint32_t class_index)
{
	return &problem->weight[shape * problem->class_count + class_index];
}

/* Whether all requirements hold for a plan's values: each is neither 0 nor NaN. */
bool problem_requirements_hold(const struct problem *problem,
			       const struct predicate_input *input);

/* What is wrong with a problem, or NULL if it is well formed: sizes within
 * their bounds, all numbers finite and not negative, programs valid. The text
 * is static. */
const char *problem_check(const struct problem *problem);

#endif
