/* SPDX-License-Identifier: MIT
 *
 * The best configurations, for people and for programs.
 */
#include "compiler/runners_up.h"

#include <math.h>
#include <string.h>

#include "compiler/describe.h"
#include "compiler/plan_json.h"
#include "compiler/time_terms.h"
#include "compiler/variable.h"
#include "lang/compilation.h"

/* Whether what is said of other variables says it: no sequence parallelism without
 * tensor, recompute_layers where they are not searched, the schedule but for GPipe. */
static bool follows(const struct runners_up *runners, const struct plan *plan,
		    enum plan_variable variable, uint32_t value, uint32_t best)
{
	if (variable == VARIABLE_SEQUENCE)
		return runners->problem->shape[plan->choice.shape].tensor == 1;
	if (variable == VARIABLE_RECOMPUTE_LAYERS)
		return !runners->problem->recompute_layers.count;
	return variable == VARIABLE_SCHEDULE && value != SCHEDULE_GPIPE &&
	       best != SCHEDULE_GPIPE;
}

/* "data 32, pipeline 8": what is not as in the best one. */
static void print_differences(const struct runners_up *runners,
			      const struct plan *plan, struct text *out)
{
	const struct plan *best = &runners->at[0].plan;
	bool any = false;

	for (int i = 0; i < VARIABLE_DEVICES; i++) {
		enum plan_variable variable = (enum plan_variable)i;
		uint32_t value = variable_of_plan(variable, runners->problem, plan);
		uint32_t other = variable_of_plan(variable, runners->problem, best);

		if (!variable_is_chosen(variable) || value == other ||
		    follows(runners, plan, variable, value, other))
			continue;
		text_printf(out, "%s%s ", any ? ", " : "",
			    variable_name(variable));
		variable_value_print(variable, value, out);
		any = true;
	}
}

/* "pipeline bubble +80.1 ms": where most of the difference is. */
static void print_loss(const struct runners_up *runners, const struct plan *plan,
		       struct text *out)
{
	const struct breakdown *best = &runners->at[0].plan.breakdown;
	enum time_term most = TIME_COMPUTE;
	double loss = 0;

	for (int i = 0; i < TIME_TERM_COUNT; i++) {
		double part = time_term_s(&plan->breakdown, (enum time_term)i) -
			      time_term_s(best, (enum time_term)i);

		if (part <= loss)
			continue;
		loss = part;
		most = (enum time_term)i;
	}
	if (!(loss > 0))
		return;
	text_printf(out, "%s +", time_term_words(most));
	describe_seconds(loss, out);
}

static const char *behind(struct compilation *compilation, double best,
			  double value)
{
	double share = (value - best) / fabs(best);

	if (!(share > 1e-12))
		return "as good";
	if (share < 0.00005)
		return "< 0.01 %";
	return arena_printf(&compilation->arena, "%.2f %%", 100 * share);
}

static void print_row(const struct runners_up *runners, uint32_t i,
		      struct compilation *compilation, struct text *out)
{
	const struct runner *runner = &runners->at[i];
	double value = runner->plan.certificate.value;
	struct text time, memory, loss, objective;

	text_init(&time, &compilation->arena);
	text_init(&memory, &compilation->arena);
	text_init(&loss, &compilation->arena);
	text_init(&objective, &compilation->arena);
	describe_seconds(runner->plan.time_s, &time);
	describe_bytes(runner->plan.memory_peak_bytes, &memory);
	if (!runners->by_time)
		describe_objective_number(&runners->ir->job, value, &objective);
	text_printf(out, "  %2u  ", i + 1);
	if (!runners->by_time)
		text_printf(out, "%10s  ", objective.at);
	text_printf(out, "%9s  %9s  %9s  ", time.at,
		    i ? behind(compilation, runners->at[0].plan.certificate.value,
			       value) : "best",
		    memory.at);
	if (i)
		print_loss(runners, &runner->plan, &loss);
	text_printf(out, "%-27s  ", loss.length ? loss.at : "");
	if (i)
		print_differences(runners, &runner->plan, out);
	else
		describe_choice(runners->problem, &runner->plan, out);
	if (runner->lower_bound < value)
		text_printf(out, " (gap %.2f %%)",
			    100 * (value - runner->lower_bound) / value);
	text_append_char(out, '\n');
}

static void print_proof(const struct runners_up *runners, struct text *out)
{
	bool gap = false;

	if (runners->exhausted)
		text_printf(out, "\nNo other configuration can run\n");
	else if (runners->count < runners->wanted)
		text_printf(out, "\nNo further one was found before the search ended\n");
	for (uint32_t i = 0; i < runners->count; i++)
		gap |= runners->at[i].lower_bound <
		       runners->at[i].plan.certificate.value;
	text_append(out, "\nProof     each is the best plan of all configurations but those above it");
	text_append(out, gap ? ",\n          up to the gap where one is given\n" :
			       " (gap 0)\n");
}

void runners_up_print(const struct runners_up *runners,
		      struct compilation *compilation, struct text *out)
{
	const struct ir *ir = runners->ir;

	text_printf(out, "%s on %s, the %u best of ", ir->model.name,
		    ir->topology.name, runners->count);
	describe_count(runners->at[0].plan.certificate.configurations, out);
	text_printf(out, " configurations\n\n  %2s  ", "");
	if (!runners->by_time)
		text_printf(out, "%10s  ",
			    strlen(objective_name(&ir->job)) > 10 ?
				    "objective" : objective_name(&ir->job));
	text_printf(out, "%9s  %9s  %9s  %-27s  %s\n", "time", "behind", "memory",
		    "loses most in", "differs from the best in");
	for (uint32_t i = 0; i < runners->count; i++)
		print_row(runners, i, compilation, out);
	print_proof(runners, out);
}

json_t *runners_up_json(const struct runners_up *runners)
{
	json_t *root = json_object(), *list = json_array();

	for (uint32_t i = 0; i < runners->count; i++) {
		const struct runner *runner = &runners->at[i];
		json_t *object = plan_json_priced(runners->problem, &runner->plan);
		double value = runner->plan.certificate.value;

		json_object_set_new(object, "lower_bound",
				    plan_json_number(runner->lower_bound));
		json_object_set_new(object, "gap", plan_json_number(
			runner->lower_bound < value ?
				(value - runner->lower_bound) / fabs(value) : 0));
		json_array_append_new(list, object);
	}
	json_object_set_new(root, "schema", json_string("nest.top/1"));
	json_object_set_new(root, "model", json_string(runners->ir->model.name));
	json_object_set_new(root, "job", json_string(runners->ir->job.name));
	json_object_set_new(root, "configurations", json_integer((json_int_t)
		runners->at[0].plan.certificate.configurations));
	json_object_set_new(root, "exhausted", json_boolean(runners->exhausted));
	json_object_set_new(root, "plans", list);
	return root;
}
