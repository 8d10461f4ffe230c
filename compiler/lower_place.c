/* SPDX-License-Identifier: MIT
 *
 * The place block: `tensor within node` keeps the groups of a dimension inside
 * one child of a level, `stage[0] in rack[0]` puts a pipeline rank on particular
 * devices, `avoid node[17]` leaves some out.
 */
#include <string.h>

#include "compiler/place_part.h"

/* Words for the rows of the placement matrix. */
static const char *const dimension_names[DIMENSION_COUNT] = {
	[DIMENSION_TENSOR] = "tensor",
	[DIMENSION_CONTEXT] = "context",
	[DIMENSION_DATA] = "data",
	[DIMENSION_PIPELINE] = "pipeline",
};

#define STAGE_WORD "stage"

struct placing {
	struct lower *lower;
	VEC(struct ir_place) place;
	uint32_t rule;			/* items so far */
	uint32_t pins;
};

/* ---- dimensions within levels ---- */

static bool find_dimension(const char *name, uint32_t *dimension)
{
	for (*dimension = 0; *dimension < DIMENSION_COUNT; (*dimension)++)
		if (!strcmp(name, dimension_names[*dimension]))
			return true;
	return false;
}

static bool place_dimension(struct lower *lower, const struct ast *item,
			    uint32_t dimension, const struct ast *object)
{
	struct ir_job *job = &lower->ir->job;
	uint32_t within;

	if (object->kind != AST_NAME) {
		diag_error(lower->diags, E_PLACE, object->span,
			   "the groups of '%s' are kept within a level, and this is no level",
			   dimension_names[dimension]);
		diag_help(lower->diags,
			  "write the level alone, as in '%s within node'; a stage can be put on "
			  "particular devices, as in 'stage[0] in node[0]'",
			  dimension_names[dimension]);
		return false;
	}
	if (!place_level(&lower->ir->topology, object->name, &within))
		return place_no_level(lower, object->name, object->span);
	if (job->within[dimension]) {
		diag_error(lower->diags, E_PLACE, item->span,
			   "'%s' is placed twice", dimension_names[dimension]);
		diag_label(lower->diags, job->within_span[dimension],
			   "placed here first");
		return false;
	}
	job->within[dimension] = within;
	job->within_span[dimension] = item->span;
	return true;
}

/* ---- particular devices ---- */

/* Mixed clusters are searched one kind at a time. */
static bool have_numbers(struct lower *lower, struct span span)
{
	const struct ir_topology *topology = &lower->ir->topology;

	if (topology->kind_count)
		return lower_not_yet(lower, span,
				     "naming devices of a cluster whose children differ");
	return true;
}

static void push_place(struct placing *placing, struct ir_place place)
{
	place.rule = placing->rule;
	VEC_PUSH(&placing->place, placing->lower->arena, place);
}

/* Puts a stage on devices, the last one if that is what `last` says. */
static bool push_pin(struct placing *placing, const struct ast *item, bool last,
		     uint32_t rank, struct device_range range)
{
	if (placing->pins == PIN_MAX)
		return diag_error(placing->lower->diags, E_PLACE, item->span,
				  "more than %d stages are put on particular devices",
				  PIN_MAX);
	placing->pins++;
	push_place(placing, (struct ir_place){
		.last = last,
		.rank = rank,
		.first = range.first,
		.count = range.count,
		.span = item->span,
	});
	return true;
}

static bool avoid_parts(struct placing *placing, const struct ast *item)
{
	struct device_ranges ranges = { { 0 } };

	if (!place_part(placing->lower, item->child[1], &ranges) ||
	    !have_numbers(placing->lower, item->span))
		return false;
	for (size_t i = 0; i < ranges.range.count; i++)
		push_place(placing, (struct ir_place){
			.avoid = true,
			.first = ranges.range.at[i].first,
			.count = ranges.range.at[i].count,
			.span = item->span,
		});
	return true;
}

/* The one stretch of devices that a pipeline rank is put on. */
static bool pin_part(struct lower *lower, const struct ast *object,
		     struct device_range *range)
{
	struct device_ranges ranges = { { 0 } };

	if (!place_part(lower, object, &ranges) ||
	    !have_numbers(lower, object->span))
		return false;
	if (ranges.range.count != 1) {
		diag_error(lower->diags, E_PLACE, object->span,
			   "a stage is put on devices that follow one another, and these have "
			   "others between them");
		diag_help(lower->diags, "write for instance rack[0] or rack[0 .. 3]");
		return false;
	}
	*range = ranges.range.at[0];
	return true;
}

static bool pin_stages(struct placing *placing, const struct ast *item,
		       const struct ast *subject, const struct ast *object)
{
	struct device_ranges stages = { { 0 } };
	struct device_range range;

	if (!place_numbers(placing->lower, subject->child[1], CHAIN_MAX,
			   STAGE_WORD, &stages) ||
	    !pin_part(placing->lower, object, &range))
		return false;
	for (size_t i = 0; i < stages.range.count; i++)
		for (uint32_t j = 0; j < stages.range.at[i].count; j++)
			if (!push_pin(placing, item, false,
				      stages.range.at[i].first + j, range))
				return false;
	return true;
}

/* How often a class occurs in the chain. */
static uint32_t occurrences(const struct ir_model *model, const char *name)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < model->run_count; i++)
		if (!strcmp(model->class[model->run[i].class_index].name, name))
			count += model->run[i].count;
	return count;
}

/* A layer by the name of its template: the first and the last of the chain lie on
 * the first and the last stage. */
static bool pin_layer(struct placing *placing, const struct ast *item,
		      const char *name, struct span span,
		      const struct ast *object)
{
	struct lower *lower = placing->lower;
	const struct ir_model *model = &lower->ir->model;
	uint32_t last = model->run_count - 1;
	bool is_first = !strcmp(
		model->class[model->run[0].class_index].name, name);
	bool is_last = !strcmp(
		model->class[model->run[last].class_index].name, name);
	struct device_range range;

	if (occurrences(model, name) != 1 || (!is_first && !is_last)) {
		diag_error(lower->diags, E_PLACE, span,
			   "which stages '%s' lies on depends on the plan", name);
		diag_note(lower->diags, model->span,
			  "only the first and the last layer of the model are always on the first "
			  "and the last stage");
		diag_help(lower->diags, "write a stage, as in 'stage[0] in rack[0]'");
		return false;
	}
	return pin_part(lower, object, &range) &&
	       push_pin(placing, item, !is_first, 0, range);
}

static bool no_subject(struct lower *lower, const char *name, struct span span)
{
	const struct ir_model *model = &lower->ir->model;
	uint32_t count = DIMENSION_COUNT + 1;
	const char **names = ARENA_ARRAY(lower->arena, const char *,
					 count + model->class_count);

	memcpy(names, dimension_names, sizeof(dimension_names));
	names[DIMENSION_COUNT] = STAGE_WORD;
	for (uint32_t i = 0; i < model->class_count; i++)
		names[count++] = model->class[i].name;
	diag_error(lower->diags, E_PLACE, span,
		   "'%s' is no dimension, stage or layer that can be placed", name);
	lower_suggest(lower, name, names, count);
	return false;
}

/* `subject within object`, or `in`. */
static bool place_named(struct placing *placing, const struct ast *item,
			const char *name, struct span span,
			const struct ast *object)
{
	struct lower *lower = placing->lower;
	uint32_t dimension;

	if (find_dimension(name, &dimension))
		return place_dimension(lower, item, dimension, object);
	if (!strcmp(name, STAGE_WORD)) {
		diag_error(lower->diags, E_PLACE, span, "which stage is not said");
		diag_help(lower->diags, "write for instance stage[0] or stage[0 .. 3]");
		return false;
	}
	if (lower->ir->model.run_count && occurrences(&lower->ir->model, name))
		return pin_layer(placing, item, name, span, object);
	if (!strncmp(name, "expert", strlen("expert"))) {
		lower_not_yet(lower, span, "placing experts");
		diag_help(lower->diags, "experts are shared out within a stage: 'tensor within rack', "
			  "'context within rack' and 'data within rack' keep a whole stage together");
		return false;
	}
	return no_subject(lower, name, span);
}

static bool place_subject(struct placing *placing, const struct ast *item,
			  const struct ast *subject, const struct ast *object)
{
	if (subject->kind == AST_NAME)
		return place_named(placing, item, subject->name, subject->span,
				   object);
	if (subject->kind != AST_INDEX || subject->child[0]->kind != AST_NAME) {
		diag_error(placing->lower->diags, E_PLACE, subject->span,
			   "this is no dimension, stage or layer that can be placed");
		return false;
	}
	if (strcmp(subject->child[0]->name, STAGE_WORD))
		return no_subject(placing->lower, subject->child[0]->name,
				  subject->child[0]->span);
	return pin_stages(placing, item, subject, object);
}

static bool place_item(struct placing *placing, const struct ast *item)
{
	const struct ast *expression;

	placing->rule++;
	switch (item->kind) {
	case AST_ERROR:
		return false;
	case AST_WITHIN:
		if (!item->child[0])
			return avoid_parts(placing, item);
		return place_subject(placing, item, item->child[0],
				     item->child[1]);
	case AST_IN:
		return place_named(placing, item, item->name, item->name_span,
				   item->child[0]);
	case AST_ITEM:
		expression = item->child[0];
		if (expression->kind == AST_BINARY &&
		    !strcmp(expression->name, "in"))
			return place_subject(placing, item, expression->child[0],
					     expression->child[1]);
		break;
	default:
		break;
	}
	diag_error(placing->lower->diags, E_PLACE, item->span,
		   "a place block holds rules, and this is none");
	diag_help(placing->lower->diags,
		  item->kind == AST_ITEM && place_is_part(item->child[0]) ?
			  "write several parts as a set: avoid { node[3], node[17] }" :
			  "write for instance 'tensor within node', 'stage[0] in rack[0]' or "
			  "'avoid node[17]'");
	return false;
}

/* Whether any device is left. */
static bool leaves_devices(struct lower *lower)
{
	const struct ir_job *job = &lower->ir->job;
	uint32_t devices = lower->ir->topology.device_count, left = devices;
	bool *avoided = ARENA_ARRAY(lower->arena, bool, devices);
	struct span span = SPAN_NONE;

	for (uint32_t i = 0; i < job->place_count; i++) {
		const struct ir_place *place = &job->place[i];

		for (uint32_t j = 0; place->avoid && j < place->count; j++) {
			left -= !avoided[place->first + j];
			avoided[place->first + j] = true;
			span = place->span;
		}
	}
	if (left || !devices)
		return true;
	diag_error(lower->diags, E_PLACE, span,
		   "these rules avoid every device of the cluster");
	return false;
}

/* Tensor groups do not mix device types unless a rule lets them. */
static void keep_types_apart(struct lower *lower)
{
	const struct ir_topology *topology = &lower->ir->topology;
	struct ir_job *job = &lower->ir->job;
	uint32_t *within = &job->within[DIMENSION_TENSOR];
	struct ir_domain single = { .given = true, .span = topology->span,
				    .count = 1 };

	if (!topology->kind_count || *within)
		return;
	if (topology->level_count > 1) {
		*within = topology->level_count - 1;
		return;
	}
	single.at = ARENA_ARRAY(lower->arena, uint32_t, 1);
	single.at[0] = 1;
	lower_require_member(lower, VARIABLE_TENSOR, &single);
	job->requirement = lower->requirement.at;
	job->requirement_count = (uint32_t)lower->requirement.count;
}

bool lower_place(struct lower *lower)
{
	const struct ast *body = lower_body(lower->job);
	struct placing placing = { .lower = lower };
	struct ir_job *job = &lower->ir->job;
	bool good = true;

	for (uint32_t i = 0; i < body->child_count; i++) {
		const struct ast *item = body->child[i];
		const struct ast *rules;

		if (!item || item->kind != AST_BLOCK || strcmp(item->name, "place"))
			continue;
		rules = lower_body(item);
		for (uint32_t j = 0; rules && j < rules->child_count; j++)
			if (rules->child[j])
				good = place_item(&placing, rules->child[j]) && good;
	}
	job->place = placing.place.at;
	job->place_count = (uint32_t)placing.place.count;
	good = good && leaves_devices(lower);
	keep_types_apart(lower);
	return good;
}
