/* SPDX-License-Identifier: MIT
 *
 * Building synthetic problems.
 */
#include "tests/bench/synthetic.h"

#include <string.h>

const struct synthetic_model synthetic_models[] = {
	{ "llama3-70b", 8192, 0.125, 28672, 3, 128256, 8192, 80, 64, 8 },
	{ "gpt3-175b", 12288, 1, 49152, 2, 50304, 2048, 96, 96, 96 },
	{ "llama3-405b", 16384, 0.0625, 53248, 3, 128256, 8192, 126, 128, 8 },
	{ .name = NULL },
};

struct builder {
	struct arena *arena;
	const struct synthetic_model *model;
	struct problem *problem;
	struct problem_shape *shape;
	struct problem_cost *cost;
	struct problem_weight *weight;
	struct problem_collective *collective;
	uint32_t collective_count;
};

enum { EMBEDDING, BLOCK, HEAD, CLASSES };

static const double peak_flops = 989e12, memory_Bps = 3.35e12;

static double gemm_s(double rows, double inner, double columns)
{
	double flops = 2 * rows * inner * columns;
	double efficiency = 0.75 * inner / (inner + 400);

	return flops / (peak_flops * efficiency) + 4e-6;
}

static void add_collective(struct builder *b, struct problem_cost *cost,
			   enum collective kind, enum group group, bool backward,
			   double bytes)
{
	struct problem_collective *c = &b->collective[b->collective_count++];

	*c = (struct problem_collective){ .kind = kind, .group = group,
					  .backward = backward, .bytes = bytes };
	cost->collective_count++;
}

static void fill_block(struct builder *b, const struct problem_shape *s,
		       struct problem_cost *cost, struct problem_weight *weight,
		       enum recompute recompute)
{
	const struct synthetic_model *model = b->model;
	double h = model->hidden, t = s->tensor;
	double rows = model->sequence * s->micro_batch / s->context;
	double qkv = h * (1 + 2 * model->kv_share) / t;
	double kv = model->kv_share * h / t, ff = model->feed / t;
	double whole = rows * h * 2, part = s->sequence ? t : 1;
	double attention = 2 * rows * model->sequence * h / t * 1.0;
	double gemms = gemm_s(rows, h, qkv) + gemm_s(rows, h / t, h) +
		       (model->feed_matrices - 1) * gemm_s(rows, h, ff) +
		       gemm_s(rows, ff, h);
	double core = attention / (peak_flops * 0.5);
	double small = 10 * whole / part / (memory_Bps * 0.8);
	bool full = recompute == RECOMPUTE_FULL;

	weight->parameters = h * qkv + h * h / t +
			     model->feed_matrices * h * ff + 2 * h;
	weight->output_bytes = whole / part;
	cost->forward_s = gemms + core + small;
	cost->backward_s = 2 * gemms + 2.5 * core + 2 * small;
	cost->saved_bytes = whole * (6 / part) + rows * 2 * (qkv + 2 * h / t) +
			    rows * 2 * 3 * ff;
	cost->working_bytes = 4 * whole;
	if (recompute == RECOMPUTE_SELECTIVE) {
		cost->saved_bytes -= rows * 2 * (qkv + h / t);
		cost->backward_s += core;
	}
	if (full) {
		cost->working_bytes += cost->saved_bytes;
		cost->saved_bytes = whole / part;
		cost->backward_s += cost->forward_s;
	}
	cost->collective_first = b->collective_count;
	for (int i = 0; t > 1 && i < 2 + full; i++) {
		bool back = i > 0;

		for (int j = 0; j < 2; j++) {
			if (s->sequence) {
				add_collective(b, cost, COLLECTIVE_ALL_GATHER,
					       GROUP_TENSOR, back, whole);
				add_collective(b, cost,
					       COLLECTIVE_REDUCE_SCATTER,
					       GROUP_TENSOR, back, whole);
			} else {
				add_collective(b, cost, COLLECTIVE_ALL_REDUCE,
					       GROUP_TENSOR, back, whole);
			}
		}
	}
	for (int i = 0; s->context > 1 && i < 2; i++)
		add_collective(b, cost, COLLECTIVE_ALL_GATHER, GROUP_CONTEXT, i,
			       2 * 2 * rows * kv * s->context);
}

static void fill_ends(struct builder *b, const struct problem_shape *s,
		      struct problem_cost *embedding, struct problem_cost *head,
		      struct problem_weight *weight)
{
	const struct synthetic_model *model = b->model;
	double h = model->hidden, t = s->tensor;
	double rows = model->sequence * s->micro_batch / s->context;
	double vocabulary = model->vocabulary / t;
	double whole = rows * h * 2, part = s->sequence ? t : 1;
	double gemm = gemm_s(rows, h, vocabulary);

	weight[EMBEDDING].parameters = h * vocabulary;
	weight[EMBEDDING].output_bytes = whole / part;
	weight[HEAD].parameters = h * vocabulary;
	embedding->forward_s = embedding->backward_s = whole / memory_Bps;
	embedding->collective_first = b->collective_count;
	if (t > 1)
		add_collective(b, embedding, COLLECTIVE_ALL_REDUCE, GROUP_TENSOR,
			       false, whole);
	head->forward_s = gemm + rows * vocabulary * 6 / memory_Bps;
	head->backward_s = 2 * gemm + rows * vocabulary * 6 / memory_Bps;
	head->saved_bytes = whole / part;
	head->working_bytes = rows * vocabulary * 8;
	head->collective_first = b->collective_count;
	if (t > 1)
		add_collective(b, head, COLLECTIVE_ALL_REDUCE, GROUP_TENSOR, true,
			       whole);
}

static void fill_shape(struct builder *b, uint32_t index)
{
	struct problem_weight *weight = &b->weight[index * CLASSES];

	for (int r = 0; r < RECOMPUTE_COUNT; r++) {
		struct problem_cost *cost = &b->cost[index * CLASSES * RECOMPUTE_COUNT];

		fill_block(b, &b->shape[index], &cost[BLOCK * RECOMPUTE_COUNT + r],
			   &weight[BLOCK], (enum recompute)r);
		fill_ends(b, &b->shape[index],
			  &cost[EMBEDDING * RECOMPUTE_COUNT + r],
			  &cost[HEAD * RECOMPUTE_COUNT + r], weight);
	}
}

static void fill_shapes(struct builder *b)
{
	uint32_t count = 0;

	for (uint32_t t = 1; t <= b->model->heads && t <= 64; t *= 2)
		for (uint32_t c = 1; c <= 16; c *= 2)
			for (uint32_t s = 0; s <= (t > 1); s++)
				for (uint32_t m = 1; m <= 16; m *= 2)
					b->shape[count++] = (struct problem_shape){
						.tensor = t, .context = c,
						.expert = 1, .expert_tensor = 1,
						.sequence = s, .micro_batch = m };
	for (uint32_t i = 0; i < count; i++)
		fill_shape(b, i);
	b->problem->shape_count = count;
	b->problem->collective_count = b->collective_count;
}

static void fill_network(struct problem *problem, uint32_t devices)
{
	uint32_t racks = devices / 32;
	struct problem_level level[3] = {
		{ .fanout = 8, .bandwidth_Bps = 450e9, .latency_s = 1e-6,
		  .oversubscription = 1, .efficiency = 0.8 },
		{ .fanout = 4, .bandwidth_Bps = 50e9, .latency_s = 5e-6,
		  .oversubscription = 1, .efficiency = 0.85 },
		{ .fanout = racks, .bandwidth_Bps = 50e9, .latency_s = 10e-6,
		  .oversubscription = 2, .efficiency = 0.85 },
	};

	problem->level_count = racks > 1 ? 3 : 2;
	memcpy(problem->level, level, sizeof(level));
	if (devices > 4096) {
		problem->level[2].fanout = 32;
		problem->level[3] = level[2];
		problem->level[3].fanout = racks / 32;
		problem->level[3].oversubscription = 4;
		problem->level[3].latency_s = 15e-6;
		problem->level_count = 4;
	}
	problem->device_count = devices;
}

struct problem *synthetic_problem(const struct synthetic_model *model,
				  uint32_t devices, struct arena *arena)
{
	static const bool blocks[CLASSES] = { false, true, false };
	struct problem_run *run = ARENA_ARRAY(arena, struct problem_run, 3);
	struct problem *problem = ARENA_NEW(arena, struct problem);
	struct builder b = { .arena = arena, .model = model, .problem = problem };
	size_t room = 512;

	run[0] = (struct problem_run){ EMBEDDING, 1 };
	run[1] = (struct problem_run){ BLOCK, model->layers };
	run[2] = (struct problem_run){ HEAD, 1 };
	b.shape = ARENA_ARRAY(arena, struct problem_shape, room);
	b.cost = ARENA_ARRAY(arena, struct problem_cost,
			     room * CLASSES * RECOMPUTE_COUNT);
	b.weight = ARENA_ARRAY(arena, struct problem_weight, room * CLASSES);
	b.collective = ARENA_ARRAY(arena, struct problem_collective, room * 128);
	*problem = (struct problem){
		.run = run, .run_count = 3,
		.class_count = CLASSES, .class_is_block = blocks,
		.tied_class = CLASS_NONE, .tied_with_class = CLASS_NONE,
		.shape = b.shape, .cost = b.cost, .weight = b.weight,
		.collective = b.collective,
		.global_batch = devices < 1024 ? 512 : devices * 2,
		.zero = { true, true }, .recompute = { true, true, true },
		.memory = { .limit_bytes = 80e9, .reserve_bytes = 4e9,
			    .group_bytes = 0.3e9, .weight_bytes = 2,
			    .gradient_bytes = 4, .optimizer_bytes = 12 },
		.sync = { .reduce_bytes = 4, .gather_bytes = 2,
			  .overlap_reduce = true, .overlap_gather = true,
			  .step_bytes = 28, .memory_bandwidth_Bps = 2.8e12 },
	};
	fill_network(problem, devices);
	fill_shapes(&b);
	return problem;
}

/* Nodes of eight, racks of four, rows of eight and halls of eight, and what is left;
 * each level further out is slower. */
void synthetic_five_levels(struct problem *problem)
{
	static const uint32_t fanout[] = { 8, 4, 8, 8 };
	struct problem_level outer = problem->level[problem->level_count - 1];

	problem->level_count = 5;
	outer.fanout = problem->device_count;
	for (uint32_t l = 2; l < 5; l++) {
		problem->level[l] = outer;
		problem->level[l].oversubscription = l;
		problem->level[l].latency_s = 5e-6 * l;
	}
	for (uint32_t l = 0; l < 4; l++) {
		problem->level[l].fanout = fanout[l];
		problem->level[4].fanout /= fanout[l];
	}
}

void synthetic_free_policies(struct problem *problem)
{
	for (int i = 0; i < 4; i++)
		problem->zero[i] = true;
	for (int i = 0; i < SCHEDULE_COUNT; i++)
		problem->schedule[i] = true;
	problem->shard_level[0] = problem->shard_level[1] = true;
}
