/* SPDX-License-Identifier: MIT
 *
 * The placement program: what a job means once the language is gone but
 * before any number of devices is chosen. Layer classes are operator graphs
 * over named axes; an axis knows over which dimension it may be cut. Repeats
 * stay repeats. All arrays live in the compilation's arena; references are
 * indices, so that the program can be printed and compared.
 */
#ifndef NEST_COMPILER_IR_H
#define NEST_COMPILER_IR_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/ast.h"
#include "lang/source.h"
#include "solver/graph.h"
#include "solver/problem.h"

#define IR_NONE UINT32_MAX
#define IR_RANK_MAX 6		/* axes of one value */
#define IR_FACTOR_MAX 4		/* axes multiplied in one term of an extent */
#define IR_TERM_MAX 4		/* terms added in one extent */

/* Over what an axis may be cut. */
enum ir_split {
	IR_SPLIT_NONE,
	IR_SPLIT_TENSOR,
	IR_SPLIT_CONTEXT,
	IR_SPLIT_EXPERT,
	IR_SPLIT_EXPERT_TENSOR,
	IR_SPLIT_DATA		/* the batch axis, always */
};

struct ir_axis {
	const char *name;
	uint64_t size;			/* whole; `batch` has the micro-batch, size 0 here */
	enum ir_split split;
	bool replicable;		/* kv heads: fewer than the degree are copied */
	uint32_t pad;			/* cut after rounding up to a multiple of pad x degree; 0: none */
	struct span span;		/* where its size comes from */
	struct span split_span;		/* the `split` item */
};

/* A size as a sum of products of axes: heads * head_dim + 2 * kv_heads * head_dim. */
struct ir_term {
	uint64_t coefficient;
	uint32_t axis[IR_FACTOR_MAX];
	uint32_t axis_count;
};

struct ir_extent {
	struct ir_term term[IR_TERM_MAX];
	uint32_t term_count;
};

/* A tensor value of a template: the result of an operator or the input. A routed
 * value lies between the DISPATCH and the COMBINE of a mixture of experts. Its
 * extents are those of the tokens it comes from, and it has one row for every
 * copy of a token that the router sends out; which expert a row meets is known
 * when it is there only. Operators on it have a weight for each expert. */
struct ir_value {
	const char *name;		/* as named in the template, or NULL */
	struct span span;
	struct ir_extent extent[IR_RANK_MAX];
	uint32_t rank;
	uint32_t producer;		/* operator, IR_NONE for the layer's input */
	uint32_t router;		/* the ROUTER of a routed value, else IR_NONE */
};

#define OPERATOR_INPUT_MAX 4

enum ir_operator_kind {
#define OPERATOR(kind, name, inputs) IR_##kind,
#include "compiler/operators.def"
#undef OPERATOR
	IR_OPERATOR_COUNT
};

struct ir_operator {
	enum ir_operator_kind kind;
	struct span span;
	uint32_t input[OPERATOR_INPUT_MAX];	/* values */
	uint32_t input_count;
	uint32_t output;			/* value */
	/* LINEAR, EMBEDDING, LM_HEAD, ROUTER: the weight's two extents. The norms:
	 * `from` is what they normalise over where that is not all of the last
	 * extent, else without terms. */
	struct ir_extent from, to;
	bool eager;			/* RMSNORM: many kernels, one an operation */
	bool bias;			/* a bias (LINEAR, LM_HEAD, ROUTER), or a
					 * shift (LAYERNORM) */
	bool tied;			/* LM_HEAD, EMBEDDING: the weight is another's,
					 * see ir_model.tied */
	/* ATTENTION. Its fourth input, if any, is a part of the key that all heads
	 * share (the rotary part of multi-head latent attention). */
	uint32_t heads_axis, kv_heads_axis;
	uint64_t head_size;		/* of one query and of one key, shared part included */
	uint64_t value_size;		/* of one value */
	bool causal;
	bool flash;			/* false: the s x s scores are materialised and kept */
	uint64_t window;		/* sliding window in tokens; 0: none */
	double dropout;			/* DROPOUT, and ATTENTION's own */
	/* EMBEDDING: rows of a learned position table, and of a table of token
	 * types; 0: none. */
	uint64_t positions, types;
	/* ROUTER: experts a token is sent to; rows of the busiest expert over
	 * those of the mean. */
	uint64_t top_k;
	double capacity;
	/* Equal groups of consecutive experts, and how many of them a token's experts
	 * lie in; 1 and 1: anywhere. */
	uint64_t groups, top_groups;
	/* CUSTOM: per token and device before cutting, see language.md. */
	double custom_flops, custom_read_bytes, custom_write_bytes,
	       custom_parameters, custom_saved_bytes;
};

/* One kind of layer: a template applied to arguments. */
struct ir_class {
	const char *name;		/* of the template */
	const struct ast *template_ast;
	struct span span;		/* the layer in the model */
	bool is_block;			/* counts as a layer; embedding, head and layers
					 * with a loss of their own do not */
	struct ir_axis *axis;
	uint32_t axis_count;
	struct ir_value *value;
	uint32_t value_count;
	struct ir_operator *operator;
	uint32_t operator_count;
	uint32_t input;			/* value, or IR_NONE */
	uint32_t tokens;		/* value of token numbers besides the input, which
					 * every stage can read; else IR_NONE */
	uint32_t output;		/* value */
	uint64_t parameters;		/* whole, unpadded; tied ones counted where they are owned */
	uint64_t active_parameters;	/* of these, what one token meets */
};

struct ir_run {
	uint32_t class_index;
	uint32_t count;
};

/* What frameworks must be told about a model beyond its graph; read from
 * fields of the `model` with these names, else the defaults here. */
struct ir_model_facts {
	double rotary_base;		/* 0: no rotary positions */
	uint64_t max_positions;		/* 0: the sequence length */
	double norm_epsilon;		/* 1e-5 */
};

struct ir_model {
	const char *name;
	struct span span;
	uint64_t sequence_length;	/* tokens */
	struct ir_class *class;
	uint32_t class_count;
	struct ir_run *run;
	uint32_t run_count;
	uint32_t layer_count;		/* blocks: what people call the number of layers */
	uint64_t parameters;		/* whole model, exact, unpadded */
	uint64_t active_parameters;	/* of these, what one token meets */
	/* A weight is shared: by the head with the embedding, or by the head of a
	 * layer before the last (multi-token prediction) with the last one's. A
	 * tied embedding shares the first layer's. */
	bool tied;
	struct ir_model_facts facts;
};

/* Numeric formats a job may train in. */
enum ir_precision {
	IR_BF16,
	IR_FP16,
	IR_FP32,
	IR_FP8,
	IR_PRECISION_COUNT
};

struct ir_device {
	const char *name;
	struct span span;
	double memory_bytes;
	double memory_bandwidth_Bps;
	double memory_efficiency;		/* share reached by element-wise kernels */
	double peak_flops[IR_PRECISION_COUNT];	/* per second; 0: not offered */
	double gemm_efficiency;			/* share of peak large products reach */
	double gemm_efficiency_fp8;		/* the same with 8-bit inputs */
	double gemm_overhead_fp8_s;		/* scaling kernels around an 8-bit product */
	double gemm_half_k;			/* contraction length at which half of it is lost */
	double gemm_wave;			/* share of a partly filled wave of tiles that is paid */
	double gemm_narrow;			/* what tiles of half the width reach of the rate */
	double attention_efficiency;		/* share of peak of the flash kernel, forward */
	double attention_backward_efficiency;	/* and backward */
	double attention_half_sequence;		/* keys lost to masks and ramp per query row */
	double tile_m, tile_n;			/* output tile of one multiprocessor */
	double multiprocessors;
	double throttling;			/* share of these rates lost under continuous load */
	double kernel_overhead_s;		/* per kernel that is not hidden */
	double host_operator_s;			/* host time to launch one operator's kernels */
	double reserve_bytes;			/* context, libraries, fragmentation */
	double group_bytes;			/* per communicator */
	double dollars_per_s;
	double watts;
};

struct ir_level {
	const char *name;
	struct span span;
	struct problem_level network;
};

/* One kind of children of a cluster whose children differ. */
struct ir_kind {
	const char *name;		/* of the child: a topology's or a device's */
	struct span span;
	uint32_t count;			/* children of this kind */
	uint32_t first_device;		/* its devices' numbers follow, in the cluster's */
	struct ir *only;		/* the same job on this kind alone */
};

/* A network given by its links; the levels are those it implies. */
struct ir_graph {
	struct graph graph;
	uint32_t link_items;		/* links, as they are counted in the spec */
	const char **vertex_name;	/* "leaf[3]" */
	const char **family;		/* "leaf": the same without indices */
	const char **device_name;	/* by number in the graph: "host[2]/gpu5" */
	uint32_t *device;		/* of the graph, by number in the hierarchy; some
					 * devices of the graph may be left out */
};

struct ir_topology {
	const char *name;
	struct span span;
	struct ir_device device;
	struct ir_level level[LEVEL_MAX];	/* innermost first */
	uint32_t level_count;
	uint32_t device_count;
	const struct ir_graph *graph;		/* NULL: given as levels */
	/* A cluster of several kinds: this topology is then what is equal in all
	 * children of the outermost level, each device as slow and small as the
	 * slowest and smallest. */
	struct ir_kind *kind;
	uint32_t kind_count;		/* 0: all children are alike */
	uint32_t cluster_devices;	/* of all kinds, also in each kind's own topology;
					 * 0: device_count */
};

enum ir_optimizer {
	IR_ADAM,
	IR_SGD,
	IR_SGD_MOMENTUM,
	IR_ADAFACTOR,
	IR_ADAM_8BIT,
	IR_MUON,		/* of matrices; else Adam */
	IR_OPTIMIZER_COUNT
};

/* How ranks of a tensor group orthogonalise a weight that is cut over them, see
 * matrices.h. */
enum ir_muon_mode {
	IR_MUON_BLOCKWISE,
	IR_MUON_DUPLICATED,
	IR_MUON_DISTRIBUTED,
	IR_MUON_MODE_COUNT
};

/* How tokens reach their experts. */
enum ir_dispatcher {
	IR_DISPATCHER_ALLTOALL,	/* a row for each expert of a token */
	IR_DISPATCHER_DEEPEP,	/* one for each place that has some of them */
	IR_DISPATCHER_COUNT
};

enum ir_target { IR_TARGET_NONE, IR_TARGET_MEGATRON, IR_TARGET_COUNT };

/* A requirement, kept with its source for explanations. */
struct ir_requirement {
	struct predicate predicate;	/* source = index of this entry */
	struct span span;
	const char *reason;		/* the `else` text, or NULL */
	const char *rule;		/* set when a target's rule made it */
};

/* A search domain as written: `tensor in { 1, 2, 4 }`. */
struct ir_domain {
	bool given;
	struct span span;
	uint32_t *at;			/* ascending, no repeats */
	uint32_t count;
};

/* A plan written by hand: a domain of one value for each variable it fixes. */
struct ir_plan {
	const char *name;
	struct span span;
	struct ir_domain domain[VARIABLE_DEVICES + 1];	/* by plan variable */
};

/* A `place` rule about particular devices. */
struct ir_place {
	bool avoid;			/* no plan uses them; else they must hold: */
	bool last;			/*   the last pipeline rank, */
	uint32_t rank;			/*   or this one */
	uint32_t first, count;		/* devices */
	uint32_t rule;			/* its number in the source: one may make several */
	struct span span;
};

/* Measured compute time of one layer of a class under one shape, for one
 * micro-batch on one device. */
struct ir_measurement {
	uint32_t class_index;
	struct problem_shape shape;	/* without experts: expert degrees 1 */
	enum recompute recompute;
	double forward_s, backward_s;	/* more than 0 */
	uint32_t entry;			/* of the file, from 0 */
};

/* Measured times of a job (doc/profile.md). */
struct ir_profile {
	const char *file;		/* as the job names it; NULL: no profile */
	uint32_t source;		/* its text */
	struct span span;		/* of the name in the job */
	bool with_communication;	/* times include exchanges inside the layer */
	bool scaled;			/* what is not measured is modelled, times the
					 * mean of measured over modelled of that layer */
	struct ir_measurement *measurement;	/* ascending, each once: see profile.h */
	uint32_t measurement_count;
};

struct ir_job {
	const char *name;
	struct span span;
	uint32_t global_batch;
	struct span global_batch_span;
	enum ir_precision precision;
	enum ir_optimizer optimizer;
	enum ir_target target;
	struct ir_domain domain[VARIABLE_DEVICES + 1];	/* by plan variable */
	/* `recompute_modules`: what selective recomputation redoes, a set as in
	 * recompute_module.h; 0: not said. */
	uint32_t recompute_modules;
	struct span recompute_modules_span;
	/* `overlap_expert_exchange`: what experts exchange runs behind the work of
	 * another micro-batch. */
	bool overlap_experts;
	struct span overlap_experts_span;
	enum ir_dispatcher dispatcher;	/* `token_dispatcher` */
	enum ir_muon_mode muon_mode;
	/* `place`: levels each dimension may use, as problem.within, and where
	 * that is said. */
	uint32_t within[DIMENSION_COUNT];
	struct span within_span[DIMENSION_COUNT];
	struct ir_place *place;		/* by rule */
	uint32_t place_count;
	struct ir_requirement *requirement;
	uint32_t requirement_count;
	struct predicate *objective;
	const char **objective_name;
	uint32_t objective_count;
	struct ir_plan *plan;
	uint32_t plan_count;
	bool is_fixed;			/* some variables have the values of a plan, and
					 * keep them also where they would mean nothing */
	struct ir_profile profile;
	double memory_limit_bytes;	/* device memory, or less where required */
	struct span memory_limit_span;
};

struct ir {
	struct ir_model model;
	struct ir_topology topology;
	struct ir_job job;
};

struct compilation;
struct eval;
struct module;
struct record;

/* Lowers a job (NULL: the only one) to the placement program. NULL after
 * reported errors. */
struct ir *lower_job(struct compilation *compilation,
		     const struct module *module, const char *job_name);

/* What the items of an idea (parse_items) fix of a job that can be lowered, as a plan
 * of it without a name. False after reported errors. */
bool lower_idea(struct compilation *compilation, const struct module *module,
		const char *job_name, const struct ast *items,
		struct ir_plan *plan);

/* The parameters of a model by itself, for compilation.count_parameters. */
bool model_count_parameters(const struct eval *eval, const struct record *model,
			    double *count);

/* Names of the operators templates call like functions, ending with NULL: for
 * compilation.operator_names. */
extern const char *const ir_operator_names[];

/* Whether a domain holds a value; one that is not given holds all. */
bool ir_domain_allows(const struct ir_domain *domain, uint32_t value);

/* Whole size of an extent. */
uint64_t ir_extent_size(const struct ir_class *class, const struct ir_extent *extent);

/* The first operator of a kind, or NULL. */
const struct ir_operator *ir_find_operator(const struct ir_class *class,
					   enum ir_operator_kind kind);

/* The router whose experts an operator belongs to, or NULL. */
const struct ir_operator *ir_operator_router(const struct ir_class *class,
					     const struct ir_operator *operator);

/* How many layers of the chain are of a class. */
uint32_t ir_class_layers(const struct ir_model *model, uint32_t class_index);

/* Whether any layer of the model has experts. */
bool ir_has_experts(const struct ir_model *model);

/* Checks every invariant the comments above state; false with *reason (static
 * text) on the first that is broken. */
bool ir_verify(const struct ir *ir, const char **reason);

/* The program as text, for --dump=ir and tests. */
void ir_print(const struct ir *ir, struct text *out);

#endif
