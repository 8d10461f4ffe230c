/* SPDX-License-Identifier: MIT
 *
 * The plan term by term, as text. Times of operators come from the inference,
 * those of exchanges from the network model, all else from the plan.
 */
#include "compiler/explain_plan.h"

#include <math.h>
#include <string.h>

#include "compiler/describe.h"
#include "compiler/explain_groups.h"
#include "compiler/layout.h"
#include "compiler/network_names.h"
#include "compiler/problem_from_ir.h"
#include "compiler/profile.h"
#include "compiler/recompute_module.h"
#include "compiler/site.h"
#include "lang/compilation.h"
#include "solver/layer.h"
#include "solver/placement.h"
#include "solver/routed.h"

struct explanation {
	struct compilation *compilation;
	const struct ir *ir;
	const struct problem *problem;
	const struct plan *plan;
	const struct problem_shape *shape;
	const struct routed *routed;	/* on a graph; else NULL */
	struct text *out;
};

static struct text scratch(const struct explanation *explanation)
{
	struct text text;

	text_init(&text, &explanation->compilation->arena);
	return text;
}

static const char *seconds(const struct explanation *explanation, double number)
{
	struct text text = scratch(explanation);

	if (number == 0)
		return "-";
	describe_seconds(number, &text);
	return text.at;
}

/* A time that may well be nothing. */
static const char *exposed_seconds(const struct explanation *explanation,
				   double number)
{
	return number > 0 ? seconds(explanation, number) : "0";
}

static const char *bytes(const struct explanation *explanation, double number)
{
	struct text text = scratch(explanation);

	if (number == 0)
		return "-";
	describe_bytes(number, &text);
	return text.at;
}

/* "llama.nest:18:7"; the directory is left out to keep rows short. */
static const char *place(const struct explanation *explanation,
			 struct span span)
{
	struct text text = scratch(explanation);
	const struct source *source;
	struct place at;
	const char *slash;

	if (span_is_nowhere(span))
		return "";
	source = explanation->compilation->sources.at[span.file];
	at = source_place(source, span.begin);
	slash = strrchr(source->name, '/');
	text_printf(&text, "%s:%u:%u", slash ? slash + 1 : source->name, at.line,
		    at.column);
	return text.at;
}

static const char *local_shape(const struct explanation *explanation,
			       const struct ir_class *class,
			       const struct operator_cost *cost,
			       uint32_t operator)
{
	uint32_t rank = class->value[class->operator[operator].output].rank;
	struct text text = scratch(explanation);

	for (uint32_t i = 0; i < rank; i++)
		text_printf(&text, "%s%llu", i ? " x " : "",
			    (unsigned long long)cost->local[i]);
	return text.at;
}

/* What the operator keeps under the plan's policy; where only the first layers of a
 * chunk are recomputed whole, in the others. */
static double kept_bytes(const struct explanation *explanation,
			 const struct ir_class *class,
			 const struct operator_cost *cost)
{
	const struct choice *choice = &explanation->plan->choice;

	switch (recompute_of_class(class, choice->recompute)) {
	case RECOMPUTE_SELECTIVE:
		return cost->selective_saved_bytes;
	case RECOMPUTE_FULL:
		return choice->recompute_layers ? cost->saved_bytes : 0;
	default:
		return cost->saved_bytes;
	}
}

static void print_operators(struct explanation *explanation,
			    const struct ir_class *class,
			    const struct layout_result *layout)
{
	struct text *out = explanation->out;

	text_printf(out, "  %-13s %-18s %9s %9s %10s  %s\n", "operator",
		    "local result", "forward", "backward", "kept", "from");
	for (uint32_t i = 0; i < class->operator_count; i++) {
		const struct operator_cost *cost = &layout->operator[i];

		text_printf(out, "  %-13s %-18s %9s %9s %10s  %s\n",
			    ir_operator_names[class->operator[i].kind],
			    local_shape(explanation, class, cost, i),
			    seconds(explanation, cost->forward_s),
			    seconds(explanation, cost->backward_s),
			    bytes(explanation,
				  kept_bytes(explanation, class, cost)),
			    place(explanation, class->operator[i].span));
	}
}

static const char *count_text(const struct explanation *explanation,
			      double number)
{
	static const char *const unit[] = { "", "k", "M", "G", "T", "P" };
	struct text text = scratch(explanation);
	size_t i = 0;

	if (number == 0)
		return "-";
	while (number >= 1000 && i < 5) {
		number /= 1000;
		i++;
	}
	text_printf(&text, "%.3g%s", number, unit[i]);
	return text.at;
}

/* The same with what the times come from. Bytes of a product are those its
 * formula takes, and not listed. */
static void print_work(struct explanation *explanation,
		       const struct ir_class *class,
		       const struct layout_result *layout)
{
	struct text *out = explanation->out;

	text_printf(out, "  %-13s %-18s %9s %9s %9s %9s %10s %9s  %s\n",
		    "operator", "local result", "FLOP", "moved", "forward",
		    "backward", "kept", "weights", "from");
	for (uint32_t i = 0; i < class->operator_count; i++) {
		const struct operator_cost *cost = &layout->operator[i];

		text_printf(out,
			    "  %-13s %-18s %9s %9s %9s %9s %10s %9s  %s\n",
			    ir_operator_names[class->operator[i].kind],
			    local_shape(explanation, class, cost, i),
			    count_text(explanation, cost->forward_flops),
			    bytes(explanation, cost->forward_bytes),
			    seconds(explanation, cost->forward_s),
			    seconds(explanation, cost->backward_s),
			    bytes(explanation,
				  kept_bytes(explanation, class, cost)),
			    count_text(explanation, cost->parameters),
			    place(explanation, class->operator[i].span));
	}
}

/* On a graph that of the pipeline rank where it takes longest. */
static double routed_time(const struct explanation *explanation,
			  const struct problem_collective *collective,
			  enum algorithm *algorithm)
{
	double slowest = -1;

	for (uint32_t r = 0; r < explanation->plan->choice.pipeline; r++) {
		enum algorithm own;
		double time = network_time(
			&explanation->routed->rank[r].group[collective->group],
			collective->kind, collective->bytes, &own);

		if (time <= slowest)
			continue;
		slowest = time;
		*algorithm = own;
	}
	return slowest;
}

/* By the placement, on levels. */
static double placed_time(const struct explanation *explanation,
			  const struct problem_collective *collective,
			  enum algorithm *algorithm)
{
	struct arena *arena = &explanation->compilation->arena;
	struct placed placed = { .placement = explanation->plan->placement };

	placement_price(explanation->problem, explanation->shape, arena, &placed);
	return network_time(&placed.group[collective->group], collective->kind,
			    collective->bytes, algorithm);
}

static void print_collective(struct explanation *explanation,
			     const struct problem_collective *collective)
{
	const struct problem_origin *origin =
		problem_origin(explanation->problem, collective->source);
	enum algorithm algorithm;
	double time = placed_time(explanation, collective, &algorithm);
	double exposed;
	struct text *out = explanation->out;

	if (explanation->routed)
		time = routed_time(explanation, collective, &algorithm);
	exposed = fmax(0, time - collective->hidden_s);
	text_printf(out, "  %-8s  %-14s over %-14s %10s %9s, exposed %s (%s)\n",
		    collective->backward ? "backward" : "forward",
		    collective_name(collective->kind),
		    group_name(collective->group),
		    bytes(explanation, collective->bytes),
		    seconds(explanation, time),
		    exposed_seconds(explanation, exposed),
		    algorithm_name(algorithm));
	if (!origin)
		return;
	text_printf(out, "            of %s%s",
		    place(explanation, origin->span),
		    origin->recomputed ? ", run again" : "");
	if (!span_is_nowhere(origin->split_span))
		text_printf(out, ", since %s splits it",
			    place(explanation, origin->split_span));
	text_append_char(out, '\n');
}

static uint32_t class_layers(const struct ir_model *model, uint32_t class_index)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < model->run_count; i++)
		if (model->run[i].class_index == class_index)
			count += model->run[i].count;
	return count;
}

/* The times of operators stay modelled; their sum may not be. */
static void print_measured(struct explanation *explanation, uint32_t index)
{
	const struct ir_profile *profile = &explanation->ir->job.profile;
	enum recompute recompute = explanation->plan->choice.recompute;
	const struct ir_measurement *found = profile_find(
		explanation->ir, index, explanation->shape, recompute);
	struct text *out = explanation->out;

	if (!profile->file)
		return;
	text_append(out, "  times         ");
	if (!found)
		found = profile_find(explanation->ir, index, explanation->shape,
				     RECOMPUTE_NONE);
	if (found)
		text_printf(out, "measured: %s%s\n",
			    place(explanation,
				  profile_place(explanation->compilation,
						explanation->ir, found, "")),
			    profile->with_communication ?
				    ", communication included" : "");
	else
		text_append(out, profile->scaled ? "scaled as what is measured\n" :
						   "modelled\n");
}

static void print_sum(struct explanation *explanation,
		      const struct problem_cost *cost, enum recompute recompute)
{
	text_printf(explanation->out,
		    "  %-13s %-18s %9s %9s %10s  recompute %s\n", "sum",
		    "compute only", seconds(explanation, cost->forward_s),
		    seconds(explanation, cost->backward_s),
		    bytes(explanation, cost->saved_bytes),
		    recompute_name(recompute));
}

static void print_class(struct explanation *explanation, uint32_t index,
			bool work)
{
	const struct ir_class *class = &explanation->ir->model.class[index];
	const struct choice *choice = &explanation->plan->choice;
	const struct problem_cost *cost = problem_cost_at(
		explanation->problem, choice->shape, index, choice->recompute);
	const struct problem_weight *weight =
		problem_weight_at(explanation->problem, choice->shape, index);
	struct layout_result layout;
	struct text *out = explanation->out;

	layout_infer(explanation->ir, index, explanation->shape,
		     &explanation->compilation->arena, &layout);
	text_printf(out, "\nLayer %s, %u of them: one micro-batch on one device\n",
		    class->name, class_layers(&explanation->ir->model, index));
	if (work)
		print_work(explanation, class, &layout);
	else
		print_operators(explanation, class, &layout);
	print_sum(explanation, cost, recompute_of_class(class, choice->recompute));
	if (layer_may_be_kept(explanation->problem, choice, index))
		print_sum(explanation,
			  problem_cost_at(explanation->problem, choice->shape,
					  index, RECOMPUTE_NONE),
			  RECOMPUTE_NONE);
	print_measured(explanation, index);
	text_append(out, "  parameters    ");
	describe_count((uint64_t)llround(weight->parameters +
					 weight->expert_parameters), out);
	if (weight->expert_parameters > 0) {
		text_append(out, " (");
		describe_count((uint64_t)llround(weight->expert_parameters),
			       out);
		text_append(out, " of experts)");
	}
	text_printf(out, " held; sends %s to the next stage; working set %s\n",
		    bytes(explanation, weight->output_bytes),
		    bytes(explanation, cost->working_bytes));
	for (uint32_t i = 0; i < cost->collective_count; i++)
		print_collective(explanation,
				 &explanation->problem->collective
					  [cost->collective_first + i]);
}

/* Whether two stages would print the same numbers. */
static bool same_stage(const struct stage_cost *a, const struct stage_cost *b)
{
	return a->layers == b->layers && a->parameters == b->parameters &&
	       a->forward_s == b->forward_s && a->backward_s == b->backward_s &&
	       a->send_level == b->send_level && a->send_s == b->send_s &&
	       a->reduce_s == b->reduce_s &&
	       a->reduce_exposed_s == b->reduce_exposed_s &&
	       a->gather_s == b->gather_s && a->step_s == b->step_s &&
	       a->memory.total == b->memory.total &&
	       a->memory.activations == b->memory.activations;
}

static void print_stage_time(struct explanation *explanation,
			     const struct stage_cost *stage)
{
	const struct ir_topology *topology = &explanation->ir->topology;
	struct text *out = explanation->out;

	text_printf(out, "  micro-batch   forward %s, backward %s",
		    seconds(explanation, stage->forward_s),
		    seconds(explanation, stage->backward_s));
	text_printf(out, ": compute %s", seconds(explanation, stage->compute_s));
	if (stage->tensor_s > 0)
		text_printf(out, ", tensor %s",
			    seconds(explanation, stage->tensor_s));
	if (stage->context_s > 0)
		text_printf(out, ", context %s",
			    seconds(explanation, stage->context_s));
	if (stage->expert_s > 0)
		text_printf(out, ", expert %s",
			    seconds(explanation, stage->expert_s));
	if (stage->sharding_s > 0)
		text_printf(out, ", gathers and scatters %s",
			    seconds(explanation, stage->sharding_s));
	text_append_char(out, '\n');
	if (stage->send_s > 0)
		text_printf(out, "  send          %s across %s\n",
			    seconds(explanation, stage->send_s),
			    topology->level[stage->send_level].name);
	text_printf(out, "  gradients     %s, exposed %s\n",
		    seconds(explanation, stage->reduce_s),
		    exposed_seconds(explanation, stage->reduce_exposed_s));
	if (stage->gather_s > 0)
		text_printf(out, "  weights       gathered in %s, exposed %s\n",
			    seconds(explanation, stage->gather_s),
			    exposed_seconds(explanation,
					    stage->gather_exposed_s));
	text_printf(out, "  optimizer     %s\n",
		    seconds(explanation, stage->step_s));
}

/* What a kind of state is divided by, from a stage of ZeRO on. */
static void print_sharers(struct explanation *explanation,
			  const struct stage_cost *stage, uint32_t from_zero)
{
	const struct choice *choice = &explanation->plan->choice;
	struct placed placed = { .placement = explanation->plan->placement };
	struct sharding sharding;
	struct text *out = explanation->out;

	if (choice->zero < from_zero)
		return;
	placement_price(explanation->problem, explanation->shape,
			&explanation->compilation->arena, &placed);
	sharding = sharding_of(explanation->problem, &placed.placement,
			       explanation->shape, placed.group,
			       choice->shard_level);
	text_printf(out, " / %g (data x context%s)", sharding.parameters.members,
		    choice->shard_level ? " in a shard" : "");
	if (stage->expert_parameters > 0)
		text_printf(out, ", of experts / %g", sharding.experts.members);
}

static void print_link(struct explanation *explanation, const char *what,
		       uint32_t number, bool *first)
{
	const struct ir_graph *graph = explanation->ir->topology.graph;
	const struct graph_link *link;

	if (number == GRAPH_NONE)
		return;
	link = &graph->graph.link[number];
	text_printf(explanation->out, "%s%s %s -> %s",
		    *first ? "  busiest links " : "\n                ", what,
		    graph->vertex_name[link->from],
		    graph->vertex_name[link->to]);
	*first = false;
}

/* On a graph: the links that decide what the stage's exchanges take. */
static void print_stage_links(struct explanation *explanation, uint32_t stage)
{
	const struct routed_rank *rank;
	bool first = true;

	if (!explanation->routed)
		return;
	rank = &explanation->routed->rank[stage];
	for (uint32_t i = 0; i < GROUP_COUNT; i++)
		print_link(explanation, group_name(i), rank->link[i], &first);
	print_link(explanation, "next stage", rank->boundary_link, &first);
	if (!first)
		text_append_char(explanation->out, '\n');
}

static void print_stage_memory(struct explanation *explanation,
			       const struct stage_cost *stage)
{
	const struct problem_memory *memory = &explanation->problem->memory;
	struct text *out = explanation->out;

	text_append(out, "  memory        ");
	describe_count((uint64_t)llround(stage->parameters), out);
	text_printf(out, " parameters x %g B", memory->weight_bytes);
	print_sharers(explanation, stage, 3);
	text_printf(out, " = %s\n                gradients x %g B",
		    bytes(explanation, stage->memory.parameters),
		    memory->gradient_bytes);
	print_sharers(explanation, stage, 2);
	text_printf(out, " = %s\n                optimizer x %g B",
		    bytes(explanation, stage->memory.gradients),
		    memory->optimizer_bytes);
	print_sharers(explanation, stage, 1);
	text_printf(out, " = %s\n",
		    bytes(explanation, stage->memory.optimizer));
	text_printf(out, "                activations %s, working set %s, reserve %s\n",
		    bytes(explanation, stage->memory.activations),
		    bytes(explanation, stage->memory.working),
		    bytes(explanation, stage->memory.reserve));
	text_printf(out, "                in all %s of %s\n",
		    bytes(explanation, stage->memory.total),
		    bytes(explanation, memory->limit_bytes));
}

static void print_stages(struct explanation *explanation,
			 const struct site *site)
{
	const struct plan *plan = explanation->plan;
	uint32_t first = site->first, end = site->first + site->ranks;
	struct text *out = explanation->out;

	while (first < end) {
		const struct stage_cost *stage = &plan->stage[first];
		uint32_t last = first;

		while (last + 1 < end &&
		       same_stage(stage, &plan->stage[last + 1]))
			last++;
		if (last > first)
			text_printf(out, "\nStages %u to %u, %u layers each",
				    first, last, stage->layers);
		else
			text_printf(out, "\nStage %u, %u layers", first,
				    stage->layers);
		text_printf(out, "%s%s\n", site->kind ? ", on " : "",
			    site->kind ? site->kind->name : "");
		print_stage_time(explanation, stage);
		print_stage_links(explanation, first);
		print_stage_memory(explanation, stage);
		first = last + 1;
	}
}

static void print_term(struct explanation *explanation, const char *name,
		       double number)
{
	if (number > 0)
		text_printf(explanation->out, "  %-22s %9s %6.2f %%\n", name,
			    seconds(explanation, number),
			    100 * number / explanation->plan->time_s);
}

static void print_iteration(struct explanation *explanation)
{
	const struct breakdown *part = &explanation->plan->breakdown;

	text_printf(explanation->out, "\nIteration of %u micro-batches per pipeline: %s, of which "
				      "the slowest stage spends\n",
		    explanation->plan->choice.micro_batches,
		    seconds(explanation, explanation->plan->time_s));
	print_term(explanation, "compute", part->compute_s);
	print_term(explanation, "tensor exchange", part->tensor_s);
	print_term(explanation, "context exchange", part->context_s);
	print_term(explanation, "expert exchange", part->expert_s);
	print_term(explanation, "waiting for transfers", part->pipeline_s);
	print_term(explanation, "waiting for stages", part->bubble_s);
	print_term(explanation, "gradients, weights", part->data_s);
	print_term(explanation, "optimizer step", part->optimizer_s);
	if (explanation->routed)
		text_printf(explanation->out, "  routed over the links of the graph; %s on the hierarchy they imply\n",
			    seconds(explanation, explanation->plan->hierarchy_s));
}

static const struct routed *route(struct compilation *compilation,
				  const struct problem *problem,
				  const struct plan *plan)
{
	struct routed *routed;

	if (!problem->graph)
		return NULL;
	routed = ARENA_NEW(&compilation->arena, struct routed);
	routed_plan(problem, plan, &compilation->arena, routed);
	return routed;
}

/* The same plan as the devices of one site see it. */
static void turn_to(struct explanation *explanation, const struct site *site)
{
	explanation->ir = site->ir;
	explanation->problem = site->problem;
	explanation->plan = &site->plan;
}

static void print_site(struct explanation *explanation, const struct site *site)
{
	const struct ir_topology *topology = &site->ir->topology;

	turn_to(explanation, site);
	if (!site->kind)
		return;
	text_printf(explanation->out, "\nOn %s (%s), ", site->kind->name,
		    topology->device.name);
	if (site->ranks > 1)
		text_printf(explanation->out, "stages %u to %u\n", site->first,
			    site->first + site->ranks - 1);
	else
		text_printf(explanation->out, "stage %u\n", site->first);
}

static void print_title(struct explanation *explanation)
{
	const struct ir *ir = explanation->ir;

	text_printf(explanation->out, "%s on %s: ", ir->model.name,
		    ir->topology.name);
	describe_choice(explanation->problem, explanation->plan,
			explanation->out);
	text_append_char(explanation->out, '\n');
}

void explain_plan(struct compilation *compilation, const struct ir *ir,
		  const struct problem *problem, const struct plan *plan,
		  struct text *out)
{
	struct sites sites = plan_sites(ir, problem, plan);
	struct explanation explanation = {
		.compilation = compilation,
		.ir = ir,
		.problem = problem,
		.plan = plan,
		.shape = &problem->shape[plan->choice.shape],
		.routed = route(compilation, problem, plan),
		.out = out,
	};

	print_title(&explanation);
	for (uint32_t s = 0; s < sites.count; s++) {
		print_site(&explanation, &sites.at[s]);
		for (uint32_t i = 0; i < ir->model.class_count; i++)
			print_class(&explanation, i, false);
	}
	for (uint32_t s = 0; s < sites.count; s++) {
		turn_to(&explanation, &sites.at[s]);
		print_stages(&explanation, &sites.at[s]);
	}
	explanation.plan = plan;
	print_iteration(&explanation);
	/* A graph's links are named with the stages. */
	if (sites.count == 1 && !explanation.routed)
		explain_groups(sites.at[0].ir, sites.at[0].problem,
			       &sites.at[0].plan, &compilation->arena, out);
}

bool explain_layer(struct compilation *compilation, const struct ir *ir,
		   const struct problem *problem, const struct plan *plan,
		   const char *name, struct text *out)
{
	struct sites sites = plan_sites(ir, problem, plan);
	struct explanation explanation = {
		.compilation = compilation,
		.ir = ir,
		.problem = problem,
		.plan = plan,
		.shape = &problem->shape[plan->choice.shape],
		.routed = route(compilation, problem, plan),
		.out = out,
	};
	bool found = false;

	print_title(&explanation);
	for (uint32_t s = 0; s < sites.count; s++) {
		print_site(&explanation, &sites.at[s]);
		for (uint32_t i = 0; i < ir->model.class_count; i++) {
			if (strcmp(ir->model.class[i].name, name) != 0)
				continue;
			print_class(&explanation, i, true);
			found = true;
		}
	}
	return found;
}
