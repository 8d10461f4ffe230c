/* SPDX-License-Identifier: MIT
 *
 * The solver's output: a plan, what it costs term by term, and the
 * certificate. Everything in it can be recomputed from the problem and
 * struct choice + placement + chunks alone (feasible.h does).
 */
#ifndef NEST_SOLVER_PLAN_H
#define NEST_SOLVER_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "solver/problem.h"

/* The degrees of a plan. */
struct choice {
	uint32_t shape;			/* index into problem.shape */
	uint32_t data;
	uint32_t pipeline;
	uint32_t virtual_stages;	/* model chunks per device; 1: plain 1F1B */
	uint32_t micro_batches;		/* per pipeline: global_batch / (micro_batch x data) */
	uint32_t zero;			/* what replicas share out: 0 nothing, 1 optimizer
					 * states, 2 gradients too, 3 parameters too */
	enum recompute recompute;
	/* Under RECOMPUTE_FULL: of the block layers of every chunk so many, the
	 * first ones, are recomputed, and the others keep what they keep under
	 * RECOMPUTE_NONE. Layers that are no blocks (class_is_block) have their cost
	 * under RECOMPUTE_FULL whatever this says. 0: all block layers. 0 under any
	 * other policy. (Megatron-LM: --recompute-method block
	 * --recompute-num-layers, counted per model chunk.) */
	uint32_t recompute_layers;
	/* SCHEDULE_INTERLEAVED where virtual_stages > 1, never else; SCHEDULE_1F1B
	 * where pipeline is 1. */
	enum schedule schedule;
	/* ZeRO shares out among the replicas below this level only (members of the
	 * replica group in the same child of level shard_level); each such shard is
	 * replicated over the rest of the group. 0: among all of them. 0 under ZeRO 0. */
	uint32_t shard_level;
};

/* How a placement says where ranks are. */
enum packing {
	PACKING_FACTORS,		/* by a matrix of factors */
	/* Linear (linear.h): laid over the devices in their order, the first dimension
	 * fastest. */
	PACKING_DATA_PIPELINE,		/* tensor, context, data, pipeline */
	PACKING_PIPELINE_DATA,		/* tensor, context, pipeline, data */
	PACKING_COUNT
};

/* Degrees factored over the levels: row products are the degrees, column
 * products at most the fan-outs. Within a level the digits of tensor vary
 * fastest, then context, data, pipeline. Under a linear packing
 * factor[dimension][0] is the degree, all other factors are 1, and fan-outs do not
 * bound the columns. */
struct placement {
	uint32_t factor[DIMENSION_COUNT][LEVEL_MAX];
	enum packing packing;
	uint32_t aligned;		/* linear: dimensions, from the fastest on, whose
					 * blocks are kept whole; 0 .. 3. Else 0 */
};

/* Consecutive pipeline ranks on the devices of one kind of a mixed cluster. */
struct segment {
	uint32_t kind;			/* index into problem.kind */
	uint32_t ranks;			/* of the pipeline */
	struct placement placement;	/* of tensor, context, data and these ranks, in
					 * the network of that kind */
};

struct stage_memory {
	double parameters, gradients, optimizer, activations, working, reserve;
	double total;			/* their sum */
};

/* One device of a pipeline rank. */
struct stage_cost {
	uint32_t layers;		/* that count as layers (class_is_block) */
	double parameters;		/* elements on one device, */
	double expert_parameters;	/*   of these in experts, */
	double apart_parameters;	/*   and with states apart (problem.states_apart) */
	double apart_states;		/* those of them whose optimizer states are on the
					 * device that has most of them */
	double forward_s;		/* one micro-batch through all its chunks, */
	double backward_s;		/*   communication included */
	double compute_s;		/* of forward_s + backward_s: compute, */
	double tensor_s;		/*   exposed tensor-parallel, */
	double context_s;		/*   context-parallel */
	double expert_s;		/*   expert-parallel communication */
	double sharding_s;		/*   and exposed gathers and scatters of ZeRO 2, 3 */
	uint32_t send_level;		/* level the boundary after its first chunk crosses */
	double send_s;			/* time of that transfer; 0 after the last chunk */
	double reduce_s;		/* gradient synchronisation over data x context and
					 * expert data, one after the other */
	double reduce_exposed_s;	/* and what no backward hides */
	double gather_s;		/* parameter gather, whole */
	double gather_exposed_s;
	double step_s;			/* optimizer step, */
	double apart_step_s;		/*   of this where states are apart */
	struct stage_memory memory;
};

/* Where the time of an iteration goes; sums to time_s. */
struct breakdown {
	double compute_s;
	double tensor_s;
	double context_s;
	double expert_s;
	double pipeline_s;		/* waiting for transfers between stages */
	double bubble_s;		/* waiting for other stages' compute */
	double data_s;			/* exposed gradient reduction and gathers; gathers
					 * and scatters within layers (ZeRO 2, 3) too */
	double optimizer_s;
};

struct certificate {
	double value;			/* the first objective's */
	double lower_bound;		/* no plan of the space is below this */
	double gap;			/* (value - lower_bound) / value; 0: proved optimal */
	/* configurations = priced + bounded + infeasible_*; a configuration is
	 * one combination of shape, data, pipeline, virtual stages, schedule, ZeRO,
	 * shard level, recomputation and recomputed layers. */
	uint64_t configurations;
	uint64_t priced;
	uint64_t bounded;
	uint64_t infeasible_memory;
	uint64_t infeasible_requirement;
	uint64_t infeasible_placement;	/* no factorisation fits the fan-outs */
	uint64_t partitions;		/* stage partitions simulated */
	uint64_t routed;		/* plans priced on the graph, in problems with one;
					 * the counts above are those of its hierarchy */
	uint64_t linked;		/* families of plans, that is configurations under
					 * one placement, bounded by cuts through its links */
	bool out_of_time;		/* the deadline ended the search: with more time the
					 * answer may be better */
};

/* Adds up the counts of parts of a search. */
void certificate_add(struct certificate *sum, const struct certificate *more);

struct plan {
	struct choice choice;
	struct placement placement;	/* of segment[0] where there are segments */
	/* Mixed clusters (mixed.h). 0: a plan of the problem itself; 1: one of
	 * problem.kind[segment[0].kind], on its devices only; more: in the order of
	 * the pipeline, no kind twice. */
	struct segment segment[KIND_MAX];
	uint32_t segment_count;
	uint32_t devices;		/* used: tensor x context x data x pipeline */
	/* Of every rank tensor + t (context + c (data + d pipeline)), its device, as
	 * devices.h says; `devices` entries. Filled by devices_fill; NULL while the
	 * search runs, and where there are several segments; of one, numbered as in
	 * its kind. */
	uint32_t *device;
	/* In problems with a graph: the device of the graph that each device of
	 * the hierarchy (an entry of `device`) is; NULL elsewhere. */
	const uint32_t *device_map;
	/* Chunk i = virtual stage i / pipeline on pipeline rank i % pipeline
	 * holds chain positions chunk_first[i] .. chunk_first[i + 1] - 1. */
	uint32_t chunk_count;		/* pipeline x virtual_stages */
	uint32_t *chunk_first;		/* chunk_count + 1 entries */
	struct stage_cost *stage;	/* pipeline entries */
	double time_s;			/* of one iteration */
	double hierarchy_s;		/* in problems with a graph: on its hierarchy */
	struct breakdown breakdown;
	double memory_peak_bytes;	/* largest stage total */
	uint32_t memory_peak_stage;
	struct certificate certificate;
};

#endif
