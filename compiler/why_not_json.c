/* SPDX-License-Identifier: MIT
 *
 * The answer about an idea, for programs.
 */
#include "compiler/why_not.h"

#include "compiler/plan_json.h"
#include "compiler/time_terms.h"
#include "compiler/variable.h"
#include "lang/compilation.h"

static void set(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

static json_t *difference_json(const struct plan *chosen,
			       const struct plan *asked)
{
	json_t *object = json_object(), *parts = json_object();

	for (int i = 0; i < TIME_TERM_COUNT; i++) {
		enum time_term term = (enum time_term)i;

		set(parts, time_term_key(term),
		    plan_json_number(time_term_s(&asked->breakdown, term) -
				     time_term_s(&chosen->breakdown, term)));
	}
	set(object, "time", plan_json_number(asked->time_s - chosen->time_s));
	set(object, "breakdown", parts);
	set(object, "memory", plan_json_number(asked->memory_peak_bytes -
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
		set(object, "variable", json_string(variable_name(variable)));
		set(object, "place", span_is_nowhere(span) ?
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

	set(root, "schema", json_string("nest.why-not/1"));
	set(root, "model", json_string(answer->chosen.ir->model.name));
	set(root, "job", json_string(answer->chosen.ir->job.name));
	set(root, "idea", any_string(answer->idea->text));
	set(root, "outcome", json_string(outcome_name(answer)));
	set(root, "chosen", plan_json_priced(answer->chosen.problem,
					     &answer->chosen.plan));
	if (answer->outcome == WHY_NOT_FOUND)
		set(root, "excluded_by", excluded_json(answer));
	if (answer->outcome == WHY_NOT_FOUND || answer->has_without) {
		set(root, "asked", plan_json_priced(answer->asked.problem,
						    &answer->asked.plan));
		set(root, "difference",
		    difference_json(chosen, &answer->asked.plan));
	}
	if (answer->outcome == WHY_NOT_IMPOSSIBLE)
		set(root, "reasons", reasons_json(answer));
	return root;
}
