/* SPDX-License-Identifier: MIT
 *
 * The plan term by term, as text: its layers, its stages' times and memory, and how
 * they make the iteration.
 */
#include "compiler/explain_plan.h"

#include <math.h>

#include "compiler/apart.h"
#include "compiler/describe.h"
#include "compiler/explain_groups.h"
#include "compiler/explain_internal.h"
#include "compiler/network_names.h"
#include "compiler/time_terms.h"
#include "compiler/training.h"
#include "lang/compilation.h"
#include "solver/placement.h"
#include "solver/routed.h"

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
		    explain_seconds(explanation, stage->forward_s),
		    explain_seconds(explanation, stage->backward_s));
	text_printf(out, ": compute %s", explain_seconds(explanation, stage->compute_s));
	if (stage->tensor_s > 0)
		text_printf(out, ", tensor %s",
			    explain_seconds(explanation, stage->tensor_s));
	if (stage->context_s > 0)
		text_printf(out, ", context %s",
			    explain_seconds(explanation, stage->context_s));
	if (stage->expert_s > 0)
		text_printf(out, ", expert %s",
			    explain_seconds(explanation, stage->expert_s));
	if (stage->sharding_s > 0)
		text_printf(out, ", gathers and scatters %s",
			    explain_seconds(explanation, stage->sharding_s));
	text_append_char(out, '\n');
	if (stage->send_s > 0)
		text_printf(out, "  send          %s across %s\n",
			    explain_seconds(explanation, stage->send_s),
			    topology->level[stage->send_level].name);
	text_printf(out, "  gradients     %s, exposed %s\n",
		    explain_seconds(explanation, stage->reduce_s),
		    explain_exposed(explanation, stage->reduce_exposed_s));
	if (stage->gather_s > 0)
		text_printf(out, "  weights       gathered in %s, exposed %s\n",
			    explain_seconds(explanation, stage->gather_s),
			    explain_exposed(explanation,
					    stage->gather_exposed_s));
	text_printf(out, "  optimizer     %s",
		    explain_seconds(explanation, stage->step_s));
	if (stage->apart_step_s > 0)
		text_printf(out, ", of what is %s %s",
			    apart_words(explanation->ir->job.optimizer),
			    explain_seconds(explanation, stage->apart_step_s));
	text_append_char(out, '\n');
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

/* Optimizer states of another size. */
static void print_apart(struct explanation *explanation,
			const struct stage_cost *stage)
{
	enum ir_optimizer optimizer = explanation->ir->job.optimizer;
	struct text *out = explanation->out;

	if (stage->apart_parameters <= 0)
		return;
	text_append(out, "\n                  but of ");
	describe_count((uint64_t)llround(stage->apart_parameters), out);
	text_printf(out, " %s x %g B", apart_words(optimizer),
		    explanation->problem->memory.apart_bytes);
	if (explanation->plan->choice.zero) {
		text_append(out, training_needs_whole(optimizer) ?
			    ", dealt out whole: " : ", shared out: ");
		describe_count((uint64_t)llround(stage->apart_states), out);
		text_append(out, training_needs_whole(optimizer) ?
			    " on the fullest" : " on each");
	}
	text_append(out, "\n                 ");
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
		    explain_bytes(explanation, stage->memory.parameters),
		    memory->gradient_bytes);
	print_sharers(explanation, stage, 2);
	text_printf(out, " = %s\n                optimizer x %g B",
		    explain_bytes(explanation, stage->memory.gradients),
		    memory->optimizer_bytes);
	print_sharers(explanation, stage, 1);
	print_apart(explanation, stage);
	text_printf(out, " = %s\n",
		    explain_bytes(explanation, stage->memory.optimizer));
	text_printf(out, "                activations %s, working set %s, reserve %s\n",
		    explain_bytes(explanation, stage->memory.activations),
		    explain_bytes(explanation, stage->memory.working),
		    explain_bytes(explanation, stage->memory.reserve));
	text_printf(out, "                in all %s of %s\n",
		    explain_bytes(explanation, stage->memory.total),
		    explain_bytes(explanation, memory->limit_bytes));
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
			    explain_seconds(explanation, number),
			    100 * number / explanation->plan->time_s);
}

static void print_iteration(struct explanation *explanation)
{
	const struct breakdown *part = &explanation->plan->breakdown;

	text_printf(explanation->out, "\nIteration of %u micro-batches per pipeline: %s, of which "
				      "the slowest stage spends\n",
		    explanation->plan->choice.micro_batches,
		    explain_seconds(explanation, explanation->plan->time_s));
	for (int i = 0; i < TIME_TERM_COUNT; i++)
		print_term(explanation, time_term_words((enum time_term)i),
			   time_term_s(part, (enum time_term)i));
	if (explanation->routed)
		text_printf(explanation->out, "  routed over the links of the graph; %s on the hierarchy they imply\n",
			    explain_seconds(explanation, explanation->plan->hierarchy_s));
}

void explain_plan(struct compilation *compilation, const struct ir *ir,
		  const struct problem *problem, const struct plan *plan,
		  struct text *out)
{
	struct explanation explanation =
		explanation_of(compilation, ir, problem, plan, out);
	const struct sites *sites = &explanation.sites;

	explain_title(&explanation);
	for (uint32_t s = 0; s < sites->count; s++) {
		explain_site(&explanation, &sites->at[s]);
		for (uint32_t i = 0; i < ir->model.class_count; i++)
			explain_class(&explanation, i, false);
	}
	for (uint32_t s = 0; s < sites->count; s++) {
		explain_turn(&explanation, &sites->at[s]);
		print_stages(&explanation, &sites->at[s]);
	}
	explanation.plan = plan;
	print_iteration(&explanation);
	/* A graph's links are named with the stages. */
	if (sites->count == 1 && !explanation.routed)
		explain_groups(sites->at[0].ir, sites->at[0].problem,
			       &sites->at[0].plan, &compilation->arena, out);
}
