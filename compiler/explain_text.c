/* SPDX-License-Identifier: MIT
 *
 * The beginning of an explanation, and its numbers and places as words.
 */
#include "compiler/explain_internal.h"

#include <string.h>

#include "compiler/describe.h"
#include "lang/base/path.h"
#include "lang/compilation.h"
#include "solver/routed.h"

struct text explain_scratch(const struct explanation *explanation)
{
	struct text text;

	text_init(&text, &explanation->compilation->arena);
	return text;
}

const char *explain_seconds(const struct explanation *explanation, double number)
{
	struct text text = explain_scratch(explanation);

	if (number == 0)
		return "-";
	describe_seconds(number, &text);
	return text.at;
}

const char *explain_exposed(const struct explanation *explanation,
				   double number)
{
	return number > 0 ? explain_seconds(explanation, number) : "0";
}

const char *explain_bytes(const struct explanation *explanation, double number)
{
	struct text text = explain_scratch(explanation);

	if (number == 0)
		return "-";
	describe_bytes(number, &text);
	return text.at;
}

const char *explain_place(const struct explanation *explanation,
			 struct span span)
{
	struct text text = explain_scratch(explanation);
	const struct source *source;
	struct place at;

	if (span_is_nowhere(span))
		return "";
	source = explanation->compilation->sources.at[span.file];
	at = source_place(source, span.begin);
	text_printf(&text, "%s:%u:%u", path_name(source->name), at.line,
		    at.column);
	return text.at;
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

struct explanation explanation_of(struct compilation *compilation,
				  const struct ir *ir,
				  const struct problem *problem,
				  const struct plan *plan, struct text *out)
{
	return (struct explanation){
		.compilation = compilation,
		.ir = ir,
		.problem = problem,
		.plan = plan,
		.shape = &problem->shape[plan->choice.shape],
		.routed = route(compilation, problem, plan),
		.sites = plan_sites(ir, problem, plan),
		.out = out,
	};
}

void explain_turn(struct explanation *explanation, const struct site *site)
{
	explanation->ir = site->ir;
	explanation->problem = site->problem;
	explanation->plan = &site->plan;
}

void explain_site(struct explanation *explanation, const struct site *site)
{
	const struct ir_topology *topology = &site->ir->topology;

	explain_turn(explanation, site);
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

void explain_title(struct explanation *explanation)
{
	const struct ir *ir = explanation->ir;

	text_printf(explanation->out, "%s on %s: ", ir->model.name,
		    ir->topology.name);
	describe_choice(explanation->problem, explanation->plan,
			explanation->out);
	text_append_char(explanation->out, '\n');
}
