/* SPDX-License-Identifier: MIT
 *
 * Ways out of an infeasible job: changes that were solved and found to work, the most
 * welcome first.
 */
#include "compiler/infeasible_internal.h"

#include "compiler/describe.h"
#include "compiler/variable.h"
#include "lang/compilation.h"

/* Changes named for an idea that wants memory. */
#define ADVICE_MAX 3
/* The largest that reluctance() gives. */
#define RELUCTANCE_MOST 5

/* How welcome a change is: settings before wishes, wishes before limits. What
 * is asked for is only taken back for lack of memory. */
static int reluctance(const struct inquiry *inquiry,
		      const struct constraint *constraint)
{
	if (inquiry_is_asked(inquiry, constraint) && !(inquiry->least_bytes > 0))
		return RELUCTANCE_MOST;
	if (constraint->kind == CONSTRAINT_MEMORY)
		return 4;
	if (constraint->kind == CONSTRAINT_REQUIREMENT ||
	    constraint->kind == CONSTRAINT_PLACE ||
	    constraint->kind == CONSTRAINT_DEVICES)
		return 3;
	switch ((enum plan_variable)constraint->index) {
	case VARIABLE_ZERO:
		return 0;
	case VARIABLE_RECOMPUTE:
		return 1;
	default:
		return 2;
	}
}

static const char *spelling(struct inquiry *inquiry,
			    enum plan_variable variable, uint32_t value)
{
	struct text text;

	text_init(&text, &inquiry->compilation->arena);
	variable_value_print(variable, value, &text);
	return text.at;
}

static void advise_domain(struct inquiry *inquiry,
			  const struct constraint *constraint)
{
	enum plan_variable variable = (enum plan_variable)constraint->index;
	struct diags *diags = &inquiry->compilation->diags;
	const struct plan *plan = &inquiry->result.plan;
	const char *name = variable_name(variable);
	const char *choice = inquiry_degrees(inquiry, plan, inquiry->problem);
	const char *value = spelling(inquiry, variable,
				     variable_of_plan(variable, inquiry->problem,
						      plan));
	const char *peak = inquiry_bytes(inquiry, plan->memory_peak_bytes);

	if (inquiry_is_asked(inquiry, constraint))
		diag_help(diags, "with '%s = %s' instead, %s fits, with %s a device",
			  name, value, choice, peak);
	else
		diag_help(diags, "allow '%s in { %s }': then %s fits, with %s a device",
			  name, value, choice, peak);
}

/* " and 17.0 s an iteration" where that is what the requirement is about: of the best
 * plan by it, or one near that. */
static const char *outcome(struct inquiry *inquiry,
			   const struct constraint *constraint)
{
	enum plan_variable variable = VARIABLE_TIME;
	const struct plan *plan = &inquiry->result.plan;
	struct text text;

	if (constraint->kind != CONSTRAINT_REQUIREMENT ||
	    !inquiry->ir->job.requirement[constraint->index].predicate.needs_outcome)
		return "";
	text_init(&text, &inquiry->compilation->arena);
	text_append(&text, " and ");
	if (inquiry->relaxed->job.objective_count)
		variable = inquiry->relaxed->job.objective->step[0].variable;
	if (variable == VARIABLE_COST || variable == VARIABLE_ENERGY)
		describe_outcome(variable, plan->certificate.value, &text);
	else
		describe_seconds(plan->time_s, &text);
	text_append(&text, " an iteration");
	return text.at;
}

static void advise(struct inquiry *inquiry, const struct constraint *constraint)
{
	struct diags *diags = &inquiry->compilation->diags;
	const struct plan *plan = &inquiry->result.plan;

	switch (constraint->kind) {
	case CONSTRAINT_DOMAIN:
		advise_domain(inquiry, constraint);
		return;
	case CONSTRAINT_REQUIREMENT:
	case CONSTRAINT_PLACE:
	case CONSTRAINT_DEVICES:
		diag_help(diags, "without %s a plan exists: %s, with %s a device%s",
			  inquiry_written(inquiry, constraint->span, "that requirement"),
			  inquiry_degrees(inquiry, plan, inquiry->problem),
			  inquiry_bytes(inquiry, plan->memory_peak_bytes),
			  outcome(inquiry, constraint));
		return;
	case CONSTRAINT_MEMORY:
		diag_help(diags, "a limit of %s would do, or devices with more memory",
			  inquiry_bytes(inquiry, inquiry->least_bytes > 0 ?
						     inquiry->least_bytes :
						     plan->memory_peak_bytes));
		return;
	}
}

bool infeasible_advise_change(struct inquiry *inquiry, const bool *in_core)
{
	bool memory_is_short = inquiry->least_bytes > 0;
	uint32_t most = inquiry->idea && memory_is_short ? ADVICE_MAX : 1;
	uint32_t given = 0;

	for (int rank = 0; rank <= RELUCTANCE_MOST; rank++) {
		for (size_t i = 0; i < inquiry->constraints.count; i++) {
			struct constraint *constraint =
				&inquiry->constraints.at[i];

			if (!in_core[i] || reluctance(inquiry, constraint) != rank)
				continue;
			if (!inquiry_ask_without(inquiry, constraint))
				continue;
			advise(inquiry, constraint);
			if (inquiry->idea && !inquiry_is_asked(inquiry, constraint) &&
			    !memory_is_short)
				inquiry->idea->without = inquiry->relaxed;
			if (++given == most)
				return true;
		}
	}
	return given > 0;
}

bool infeasible_advise_several(struct inquiry *inquiry)
{
	struct diags *diags = &inquiry->compilation->diags;
	struct text taken;
	uint32_t count = 0;

	for (size_t i = 0; i < inquiry->constraints.count; i++)
		inquiry->constraints.at[i].dropped =
			inquiry_is_asked(inquiry, &inquiry->constraints.at[i]);
	if (!inquiry_ask(inquiry))
		return false;
	for (size_t i = 0; i < inquiry->constraints.count; i++) {
		struct constraint *constraint = &inquiry->constraints.at[i];

		if (!inquiry_is_asked(inquiry, constraint))
			continue;
		constraint->dropped = false;
		constraint->dropped = !inquiry_ask(inquiry);
	}
	inquiry_ask(inquiry);
	text_init(&taken, &inquiry->compilation->arena);
	for (size_t i = 0; i < inquiry->constraints.count; i++)
		if (inquiry->constraints.at[i].dropped)
			text_printf(&taken, "%s%s", count++ ? " and " : "",
				    inquiry_written(inquiry,
						    inquiry->constraints.at[i].span,
						    "that requirement"));
	diag_help(diags, "without %s, %s fits, with %s a device", taken.at,
		  inquiry_degrees(inquiry, &inquiry->result.plan, inquiry->problem),
		  inquiry_bytes(inquiry, inquiry->result.plan.memory_peak_bytes));
	return true;
}

bool infeasible_advise_zero(struct inquiry *inquiry)
{
	bool fits;

	if (inquiry->ir->job.domain[VARIABLE_ZERO].given)
		return false;
	inquiry->every_zero = true;
	inquiry_drop_all(inquiry, false);
	fits = inquiry_ask(inquiry);
	inquiry->every_zero = false;
	if (!fits)
		return false;
	diag_help(&inquiry->compilation->diags,
		  inquiry->idea ?
			  "ZeRO 2 and 3 are only looked at where they are named: with 'zero = %u' too, "
			  "%s fits, with %s a device" :
			  "ZeRO 2 and 3 are only looked at where 'search' names them: with "
			  "'zero in { %u }' %s fits, with %s a device",
		  inquiry->result.plan.choice.zero,
		  inquiry_degrees(inquiry, &inquiry->result.plan, inquiry->problem),
		  inquiry_bytes(inquiry, inquiry->result.plan.memory_peak_bytes));
	return true;
}
