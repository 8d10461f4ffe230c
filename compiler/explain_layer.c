/* SPDX-License-Identifier: MIT
 *
 * A kind of layer under a plan, operator by operator, with the exchanges inferred
 * from its splits. Times of operators come from the inference, those of exchanges
 * from the network model.
 */
#include "compiler/explain_internal.h"

#include <math.h>
#include <string.h>

#include "compiler/apart.h"
#include "compiler/describe.h"
#include "compiler/explain_plan.h"
#include "compiler/job_names.h"
#include "compiler/layout.h"
#include "compiler/network_names.h"
#include "compiler/problem_from_ir.h"
#include "compiler/profile.h"
#include "compiler/recompute_module.h"
#include "lang/compilation.h"
#include "solver/layer.h"
#include "solver/placement.h"
#include "solver/routed.h"

static const char *local_shape(const struct explanation *explanation,
			       const struct ir_class *class,
			       const struct operator_cost *cost,
			       uint32_t operator)
{
	uint32_t rank = class->value[class->operator[operator].output].rank;
	struct text text = explain_scratch(explanation);

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
			    explain_seconds(explanation, cost->forward_s),
			    explain_seconds(explanation, cost->backward_s),
			    explain_bytes(explanation,
				  kept_bytes(explanation, class, cost)),
			    explain_place(explanation, class->operator[i].span));
	}
}

static const char *count_text(const struct explanation *explanation,
			      double number)
{
	static const char *const unit[] = { "", "k", "M", "G", "T", "P" };
	struct text text = explain_scratch(explanation);
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
			    explain_bytes(explanation, cost->forward_bytes),
			    explain_seconds(explanation, cost->forward_s),
			    explain_seconds(explanation, cost->backward_s),
			    explain_bytes(explanation,
				  kept_bytes(explanation, class, cost)),
			    count_text(explanation, cost->parameters),
			    explain_place(explanation, class->operator[i].span));
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
	exposed = problem_exposed_s(collective, time);
	text_printf(out, "  %-8s  %-14s over %-14s %10s %9s, exposed %s (%s)\n",
		    collective->backward ? "backward" : "forward",
		    collective_name(collective->kind),
		    group_name(collective->group),
		    explain_bytes(explanation, collective->bytes),
		    explain_seconds(explanation, time),
		    explain_exposed(explanation, exposed),
		    algorithm_name(algorithm));
	if (!origin)
		return;
	text_printf(out, "            of %s%s",
		    explain_place(explanation, origin->span),
		    origin->recomputed ? ", run again" : "");
	if (!span_is_nowhere(origin->split_span))
		text_printf(out, ", since %s splits it",
			    explain_place(explanation, origin->split_span));
	text_append_char(out, '\n');
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
			    explain_place(explanation,
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
		    "compute only", explain_seconds(explanation, cost->forward_s),
		    explain_seconds(explanation, cost->backward_s),
		    explain_bytes(explanation, cost->saved_bytes),
		    recompute_name(recompute));
}

/* What has optimizer states of another kind. */
static void print_layer_apart(struct explanation *explanation,
			      const struct problem_weight *weight)
{
	double parameters = weight->apart.parameters +
			    weight->expert_apart.parameters;

	if (parameters <= 0)
		return;
	text_append(explanation->out, " (");
	describe_count((uint64_t)llround(parameters), explanation->out);
	text_printf(explanation->out, " %s, whose step takes %s)",
		    apart_words(explanation->ir->job.optimizer),
		    explain_seconds(explanation,
				    weight->apart.step_s +
					    weight->expert_apart.step_s));
}

void explain_class(struct explanation *explanation, uint32_t index,
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
		    class->name, ir_class_layers(&explanation->ir->model, index));
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
	print_layer_apart(explanation, weight);
	text_printf(out, " held; sends %s to the next stage; working set %s\n",
		    explain_bytes(explanation, weight->output_bytes),
		    explain_bytes(explanation, cost->working_bytes));
	for (uint32_t i = 0; i < cost->collective_count; i++)
		print_collective(explanation,
				 &explanation->problem->collective
					  [cost->collective_first + i]);
}

bool explain_layer(struct compilation *compilation, const struct ir *ir,
		   const struct problem *problem, const struct plan *plan,
		   const char *name, struct text *out)
{
	struct explanation explanation =
		explanation_of(compilation, ir, problem, plan, out);
	bool found = false;

	explain_title(&explanation);
	for (uint32_t s = 0; s < explanation.sites.count; s++) {
		explain_site(&explanation, &explanation.sites.at[s]);
		for (uint32_t i = 0; i < ir->model.class_count; i++) {
			if (strcmp(ir->model.class[i].name, name) != 0)
				continue;
			explain_class(&explanation, i, true);
			found = true;
		}
	}
	return found;
}
