/* SPDX-License-Identifier: MIT
 *
 * Prices every class under every shape. The collectives of a class and shape lie
 * in one run, in this order: what selective recomputation adds, what every
 * policy has, what full recomputation adds; so each policy's are contiguous.
 */
#include "compiler/apart.h"
#include "compiler/problem_build.h"
#include "compiler/recompute_module.h"

/* One class under one shape, while it is priced. */
struct pricing {
	uint32_t class_index;
	struct layout_result result;
	uint32_t first;			/* collectives before those of the class */
	uint32_t selective_count, base_count, full_count;
};

static bool same_origin(const struct problem_origin *a,
			const struct problem_origin *b)
{
	return a->operator == b->operator && a->value == b->value &&
	       a->kind == b->kind && a->group == b->group &&
	       a->backward == b->backward && a->recomputed == b->recomputed;
}

/* The number of an origin; shapes share them. */
static uint32_t origin_index(struct problem_build *build,
			     const struct problem_origin *origin)
{
	struct class_origins *of = &build->class_origins[origin->class_index];
	uint32_t index = (uint32_t)build->origin.count;

	for (size_t i = 0; i < of->origins.count; i++)
		if (same_origin(&build->origin.at[of->origins.at[i]], origin))
			return of->origins.at[i];
	VEC_PUSH(&build->origin, build->arena, *origin);
	VEC_PUSH(&of->origins, build->arena, index);
	return index;
}

static void push_collective(struct problem_build *build,
			    const struct pricing *pricing,
			    const struct inferred *inferred, bool recomputed)
{
	struct problem_origin origin = {
		.class_index = pricing->class_index,
		.operator = inferred->operator,
		.value = inferred->value,
		.kind = inferred->kind,
		.group = inferred->group,
		.backward = inferred->backward || recomputed,
		.recomputed = recomputed,
		.span = inferred->span,
		.split_span = inferred->split_span,
	};
	struct problem_collective collective = {
		.kind = inferred->kind,
		.group = inferred->group,
		.backward = origin.backward,
		.bytes = inferred->bytes,
		.hidden_s = inferred->hidden_s,
		.slowing = inferred->slowing,
		.source = origin_index(build, &origin),
	};

	VEC_PUSH(&build->collective, build->arena, collective);
}

static void push_collectives(struct problem_build *build,
			     struct pricing *pricing)
{
	const struct layout_result *result = &pricing->result;
	const struct ir_class *class =
		&build->ir->model.class[pricing->class_index];
	bool partly = recompute_of_class(class, RECOMPUTE_SELECTIVE) ==
		      RECOMPUTE_SELECTIVE;

	pricing->first = (uint32_t)build->collective.count;
	for (uint32_t i = 0; partly && i < result->inferred_count; i++) {
		const struct inferred *inferred = &result->inferred[i];

		if (!inferred->selective)
			continue;
		push_collective(build, pricing, inferred, true);
		pricing->selective_count++;
	}
	for (uint32_t i = 0; i < result->inferred_count; i++)
		push_collective(build, pricing, &result->inferred[i], false);
	pricing->base_count = result->inferred_count;
	for (uint32_t i = 0; class->is_block && i < result->inferred_count; i++) {
		if (result->inferred[i].backward)
			continue;
		push_collective(build, pricing, &result->inferred[i], true);
		pricing->full_count++;
	}
}

static struct problem_cost policy_cost(const struct problem_build *build,
				       const struct pricing *pricing,
				       enum recompute recompute)
{
	const struct layout_result *result = &pricing->result;
	struct problem_cost cost = {
		.forward_s = result->forward_s,
		.backward_s = result->backward_s,
		.saved_bytes = result->saved_bytes,
		.working_bytes = result->working_bytes,
		.collective_first = pricing->first + pricing->selective_count,
		.collective_count = pricing->base_count,
	};

	switch (recompute_of_class(&build->ir->model.class[pricing->class_index],
				   recompute)) {
	case RECOMPUTE_SELECTIVE:
		cost.backward_s += result->selective_forward_s;
		cost.saved_bytes = result->selective_saved_bytes;
		cost.working_bytes += result->selective_working_bytes;
		cost.collective_first = pricing->first;
		cost.collective_count += pricing->selective_count;
		return cost;
	case RECOMPUTE_FULL:
		cost.backward_s += result->forward_s;
		cost.saved_bytes = result->input_bytes;
		cost.working_bytes += result->saved_bytes -
				      (result->input_saved ?
					       result->input_bytes : 0);
		cost.collective_count += pricing->full_count;
		return cost;
	default:
		return cost;
	}
}

/* Where the exchange of experts is overlapped a layer of another micro-batch runs beside
 * each: it adds what it keeps before that one frees what it kept. */
static void add_layer_beside(const struct problem_build *build, uint32_t shape,
			     struct problem_cost *cost)
{
	if (build->ir->job.overlap_experts && build->shape.at[shape].expert > 1)
		cost->working_bytes += cost->working_bytes + cost->saved_bytes;
}

/* The first class that has such an operator, tied or not; CLASS_NONE if none. */
static uint32_t find_class(const struct ir_model *model,
			   enum ir_operator_kind kind, bool tied)
{
	for (uint32_t i = 0; i < model->class_count; i++) {
		const struct ir_operator *operator =
			ir_find_operator(&model->class[i], kind);

		if (operator && operator->tied == tied)
			return i;
	}
	return CLASS_NONE;
}

/* The pair of classes that share a weight: the last head with the embedding,
 * else a head before it with the last one. Any other copy of a weight (a second
 * prediction head, a tied embedding) is priced as its layer's own. */
static void find_tied(struct problem_build *build)
{
	struct problem *problem = &build->built->problem;
	const struct ir_model *model = &build->ir->model;
	uint32_t last = model->run[model->run_count - 1].class_index;
	const struct ir_operator *head =
		ir_find_operator(&model->class[last], IR_LM_HEAD);

	problem->tied_class = find_class(model, IR_LM_HEAD, true);
	problem->tied_with_class = head && !head->tied ?
					   last :
					   find_class(model, IR_EMBEDDING, false);
	if (head && head->tied)
		problem->tied_class = last;
	if (problem->tied_class != CLASS_NONE &&
	    problem->tied_with_class != CLASS_NONE &&
	    problem->tied_class != problem->tied_with_class &&
	    ir_class_layers(model, problem->tied_class) == 1 &&
	    ir_class_layers(model, problem->tied_with_class) == 1)
		return;
	problem->tied_class = CLASS_NONE;
	problem->tied_with_class = CLASS_NONE;
}

static void price(struct problem_build *build, uint32_t shape,
		  uint32_t class_index, struct arena *scratch,
		  struct problem_cost *cost, struct problem_weight *weight)
{
	struct pricing pricing = { .class_index = class_index };

	layout_infer(build->ir, class_index, &build->shape.at[shape], scratch,
		     &pricing.result);
	problem_take_measured(build, shape, class_index, &pricing.result);
	push_collectives(build, &pricing);
	for (int i = 0; i < RECOMPUTE_COUNT; i++) {
		cost[i] = policy_cost(build, &pricing, (enum recompute)i);
		add_layer_beside(build, shape, &cost[i]);
		problem_take_measured_policy(build, shape, class_index,
					     (enum recompute)i, &cost[i]);
	}
	*weight = (struct problem_weight){
		.parameters = pricing.result.parameters,
		.expert_parameters = pricing.result.expert_parameters,
		.tied_parameters = pricing.result.tied_parameters,
		.output_bytes = pricing.result.output_bytes,
	};
	if (build->built->problem.states_apart)
		apart_fill(build->ir, &build->ir->model.class[class_index],
			   &pricing.result,
			   build->built->problem.sync.memory_bandwidth_Bps,
			   scratch, weight);
}

/* Both owners of a tied weight say how much they share, and nobody else. */
static void share_tied(const struct problem *problem,
		       struct problem_weight *weight)
{
	double shared = problem->tied_class == CLASS_NONE ?
				0 : weight[problem->tied_class].tied_parameters;

	for (uint32_t i = 0; i < problem->class_count; i++)
		weight[i].tied_parameters = i == problem->tied_class ||
					    i == problem->tied_with_class ?
						    shared : 0;
}

void problem_build_costs(struct problem_build *build)
{
	struct problem *problem = &build->built->problem;
	uint32_t shapes = (uint32_t)build->shape.count;
	uint32_t classes = build->ir->model.class_count;
	struct problem_cost *cost = ARENA_ARRAY(
		build->arena, struct problem_cost,
		(size_t)shapes * classes * RECOMPUTE_COUNT);
	struct problem_weight *weight = ARENA_ARRAY(
		build->arena, struct problem_weight, (size_t)shapes * classes);
	struct arena scratch;
	struct arena_mark mark;

	build->class_origins = ARENA_ARRAY(build->arena, struct class_origins,
					   classes);
	find_tied(build);
	arena_init(&scratch);
	arena_alloc(&scratch, 0);	/* so that rewinding keeps a block */
	mark = arena_mark(&scratch);
	problem_prepare_profile(build);
	for (uint32_t i = 0; i < shapes; i++) {
		size_t at = (size_t)i * classes;

		for (uint32_t j = 0; j < classes; j++) {
			price(build, i, j, &scratch,
			      &cost[(at + j) * RECOMPUTE_COUNT],
			      &weight[at + j]);
			arena_rewind(&scratch, mark);
		}
		share_tied(problem, &weight[at]);
	}
	arena_release(&scratch);
	problem_report_doubtful(build);
	problem->shape = build->shape.at;
	problem->shape_count = shapes;
	problem->cost = cost;
	problem->weight = weight;
	problem->collective = build->collective.at;
	problem->collective_count = (uint32_t)build->collective.count;
	build->built->origin = build->origin.at;
}
