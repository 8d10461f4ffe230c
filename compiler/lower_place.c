/* SPDX-License-Identifier: MIT
 *
 * The place block: `tensor within node` keeps the groups of a dimension inside
 * one child of a level.
 */
#include <string.h>

#include "compiler/lower.h"

/* Words for the rows of the placement matrix. */
static const char *const dimension_names[DIMENSION_COUNT] = {
	[DIMENSION_TENSOR] = "tensor",
	[DIMENSION_CONTEXT] = "context",
	[DIMENSION_DATA] = "data",
	[DIMENSION_PIPELINE] = "pipeline",
};

static bool find_dimension(struct lower *lower, const struct ast *subject,
			   uint32_t *dimension)
{
	if (subject->kind != AST_NAME)
		return lower_not_yet(lower, subject->span,
				     "placing anything but a whole dimension");
	for (*dimension = 0; *dimension < DIMENSION_COUNT; (*dimension)++)
		if (!strcmp(subject->name, dimension_names[*dimension]))
			return true;
	if (!strncmp(subject->name, "expert", strlen("expert")))
		return lower_not_yet(lower, subject->span, "placing experts");
	diag_error(lower->diags, E_PLACE, subject->span,
		   "'%s' is no dimension that can be placed", subject->name);
	lower_suggest(lower, subject->name, dimension_names, DIMENSION_COUNT);
	return false;
}

/* A torus level stands for one level per dimension, named `slice.x` and so on:
 * its name means all of them. */
static bool is_part(const char *level, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(level, name, length) &&
	       (level[length] == '\0' || level[length] == '.');
}

static bool find_level(struct lower *lower, const struct ast *object,
		       uint32_t *within)
{
	const struct ir_topology *topology = &lower->ir->topology;
	const char *names[LEVEL_MAX];

	*within = 0;
	if (object->kind != AST_NAME)
		return lower_not_yet(lower, object->span,
				     "placing within one particular part");
	for (uint32_t l = 0; l < topology->level_count; l++) {
		names[l] = topology->level[l].name;
		if (is_part(names[l], object->name))
			*within = l + 1;
	}
	if (*within)
		return true;
	diag_error(lower->diags, E_PLACE, object->span,
		   "the topology has no level '%s'", object->name);
	lower_suggest(lower, object->name, names, topology->level_count);
	diag_note(lower->diags, topology->span, "the topology is this one");
	return false;
}

static bool place_item(struct lower *lower, const struct ast *item)
{
	struct ir_job *job = &lower->ir->job;
	uint32_t dimension, within;

	if (item->kind == AST_ERROR)
		return false;
	if (item->kind != AST_WITHIN || strcmp(item->name, "within"))
		return lower_not_yet(lower, item->span,
				     "placing other than by 'within'");
	if (!find_level(lower, item->child[1], &within) ||
	    !find_dimension(lower, item->child[0], &dimension))
		return false;
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
	bool good = true;

	for (uint32_t i = 0; i < body->child_count; i++) {
		const struct ast *item = body->child[i];
		const struct ast *rules;

		if (!item || item->kind != AST_BLOCK || strcmp(item->name, "place"))
			continue;
		rules = lower_body(item);
		for (uint32_t j = 0; rules && j < rules->child_count; j++)
			if (rules->child[j])
				good = place_item(lower, rules->child[j]) && good;
	}
	keep_types_apart(lower);
	return good;
}
