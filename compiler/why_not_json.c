/* SPDX-License-Identifier: MIT
 *
 * The answer about an idea, for programs.
 */
#include "compiler/why_not.h"

#include "compiler/json_set.h"
#include "compiler/plan_json.h"
#include "compiler/time_terms.h"
#include "compiler/variable.h"
#include "lang/compilation.h"

static json_t *difference_json(const struct plan *chosen,
			       const struct plan *asked)
{
	json_t *object = json_object(), *parts = json_object();

	for (int i = 0; i < TIME_TERM_COUNT; i++) {
		enum time_term term = (enum time_term)i;

		json_set(parts, time_term_key(term),
			 plan_json_number(time_term_s(&asked->breakdown, term) -
					  time_term_s(&chosen->breakdown, term)));
	}
	json_set(object, "time", plan_json_number(asked->time_s - chosen->time_s));
	json_set(object, "breakdown", parts);
	json_set(object, "memory", plan_json_number(asked->memory_peak_bytes -
						    chosen->memory_peak_bytes));
	return object;
}

/* Names of files and what is typed may be no UTF-8. */
static json_t *any_string(const char *text)
{
	json_t *string = json_string(text);

	return string ? string : json_string("?");
}

static json_t *excluded_json(const struct why_not *answer)
{
	json_t *list = json_array();

	for (int i = 0; i <= VARIABLE_DEVICES; i++) {
		enum plan_variable variable = (enum plan_variable)i;
		struct span span;
		json_t *object;

		if (!why_not_excluded(answer, variable, &span))
			continue;
		object = json_object();
		json_set(object, "variable", json_string(variable_name(variable)));
		json_set(object, "place", span_is_nowhere(span) ?
					  json_null() : any_string(why_not_place(answer, span)));
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *reasons_json(const struct why_not *answer)
{
	json_t *list = json_array();

	for (size_t i = 0; i < answer->reason_count; i++) {
		struct text text;

		text_init(&text, &answer->compilation->arena);
		diag_render_json(&answer->compilation->diags, answer->reason[i],
				 &text);
		json_array_append_new(list, json_loadb(text.at, text.length, 0,
						       NULL));
	}
	return list;
}

static const char *outcome_name(const struct why_not *answer)
{
	switch (answer->outcome) {
	case WHY_NOT_CHOSEN:
		return "chosen";
	case WHY_NOT_FOUND:
		return "found";
	case WHY_NOT_IMPOSSIBLE:
		return "impossible";
	default:
		return "unknown";
	}
}

json_t *why_not_json(const struct why_not *answer)
{
	const struct plan *chosen = &answer->chosen.plan;
	json_t *root = json_object();

	json_set(root, "schema", json_string("nest.why-not/1"));
	json_set(root, "model", json_string(answer->chosen.ir->model.name));
	json_set(root, "job", json_string(answer->chosen.ir->job.name));
	json_set(root, "idea", any_string(answer->idea->text));
	json_set(root, "outcome", json_string(outcome_name(answer)));
	json_set(root, "chosen", plan_json_priced(answer->chosen.problem,
						  &answer->chosen.plan));
	if (answer->outcome == WHY_NOT_FOUND)
		json_set(root, "excluded_by", excluded_json(answer));
	if (answer->outcome == WHY_NOT_FOUND || answer->has_without) {
		json_set(root, "asked", plan_json_priced(answer->asked.problem,
							 &answer->asked.plan));
		json_set(root, "difference",
			 difference_json(chosen, &answer->asked.plan));
	}
	if (answer->outcome == WHY_NOT_IMPOSSIBLE)
		json_set(root, "reasons", reasons_json(answer));
	return root;
}
