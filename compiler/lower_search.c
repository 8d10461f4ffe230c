/* SPDX-License-Identifier: MIT
 *
 * The search block of a job: which values of which plan variables are tried.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/lower.h"

/* Values of one search domain. */
#define DOMAIN_MAX 65536

bool lower_variable(struct lower *lower, const struct ast *item,
		    enum plan_variable *variable)
{
	struct diags *diags = lower->diags;

	*variable = variable_find(item->name);
	if (*variable <= VARIABLE_DEVICES)
		return true;
	if (*variable < VARIABLE_COUNT) {
		diag_error(diags, E_SEARCH_VARIABLE, item->name_span,
			   "'%s' is an outcome of the plan and cannot be chosen",
			   item->name);
		diag_help(diags, "bound it in a requirement: require { %s <= .. }",
			  item->name);
		return false;
	}
	diag_error(diags, E_SEARCH_VARIABLE, item->name_span,
		   "'%s' is no plan variable", item->name);
	lower_suggest(lower, item->name, variable_name_list(), VARIABLE_DEVICES + 1);
	return false;
}

static bool value_error(struct lower *lower, enum plan_variable variable,
			const struct value *value, struct span span,
			const char *wanted)
{
	struct text text;

	text_init(&text, lower->arena);
	value_print(value, &text);
	return diag_error(lower->diags, E_SEARCH_VALUE, span,
			  "'%s' cannot be %s: it must be %s",
			  variable_name(variable), text.at, wanted);
}

/* Replicas can be cut at every level but the innermost. A topology that could not
 * be read is reported already. */
static int64_t shard_level_most(const struct lower *lower)
{
	uint32_t levels = lower->ir->topology.level_count;

	return levels ? levels - 1 : LEVEL_MAX - 1;
}

/* One element of a domain to its number. */
static bool domain_value(struct lower *lower, enum plan_variable variable,
			 const struct value *value, struct span span,
			 uint32_t *number)
{
	bool from_zero = variable == VARIABLE_ZERO ||
			 variable == VARIABLE_SHARD_LEVEL;
	int64_t low = from_zero ? 0 : 1;
	int64_t high = variable == VARIABLE_ZERO ? 3 :
		       from_zero ? shard_level_most(lower) : INT32_MAX;

	if (value->kind == VALUE_ERROR)
		return false;
	if (variable_symbols(variable)) {
		if (value->kind == VALUE_SYMBOL &&
		    variable_symbol(variable, value->string, number))
			return true;
		*number = value->kind == VALUE_BOOL && value->boolean;
		if (value->kind == VALUE_BOOL && variable == VARIABLE_SEQUENCE)
			return true;
		return value_error(lower, variable, value, span,
				   variable_symbols(variable));
	}
	if (value->kind != VALUE_NUMBER || !value_is_integer(value) ||
	    value->number < (double)low || value->number > (double)high)
		return value_error(lower, variable, value, span,
				   from_zero ?
				   arena_printf(lower->arena,
						"a whole number from 0 to %d",
						(int)high) :
				   "a whole number from 1 on");
	*number = (uint32_t)value->number;
	return true;
}

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

bool lower_domain_elements(struct lower *lower, const struct ast *item,
			   enum plan_variable variable,
			   const struct value *value, uint32_t count,
			   struct ir_domain *domain)
{
	domain->at = ARENA_ARRAY(lower->arena, uint32_t, count);
	for (uint32_t i = 0; i < count; i++) {
		struct value element = value_at(value, i);
		struct span span = element.span.file == item->span.file &&
				   value->kind != VALUE_RANGE ?
				   element.span : item->child[0]->span;

		if (!domain_value(lower, variable, &element, span, &domain->at[i]))
			return false;
	}
	qsort(domain->at, count, sizeof(*domain->at), compare_numbers);
	for (uint32_t i = 1; i < count; i++)
		if (domain->at[i] == domain->at[i - 1])
			return diag_error(lower->diags, E_SEARCH_VALUE,
					  item->child[0]->span,
					  "the domain of '%s' holds a value twice",
					  item->name);
	domain->count = count;
	return true;
}

bool lower_domain(struct lower *lower, const struct ast *item,
		  enum plan_variable variable, struct ir_domain *domain)
{
	struct diags *diags = lower->diags;
	struct value value;
	uint64_t count;

	domain->span = item->span;
	if (!eval_expression(&lower->eval, lower->scope, item->child[0], &value) ||
	    value.kind == VALUE_ERROR)
		return false;
	if (!value_count(&value, &count)) {
		diag_error(diags, E_SEARCH_VALUE, item->child[0]->span,
			   "the domain of '%s' must be a set or a range", item->name);
		diag_help(diags, "for instance %s in { 1, 2, 4 } or %s in 1 .. 8",
			  item->name, item->name);
		return false;
	}
	if (!count) {
		diag_error(diags, E_SEARCH_EMPTY, item->child[0]->span,
			   "the domain of '%s' is empty", item->name);
		diag_help(diags, "leave '%s' out to search every value that is legal",
			  item->name);
		return false;
	}
	if (count > DOMAIN_MAX)
		return diag_error(diags, E_SEARCH_VALUE, item->child[0]->span,
				  "the domain of '%s' holds %" PRIu64
				  " values, and at most %d are possible",
				  item->name, count, DOMAIN_MAX);
	domain->given = lower_domain_elements(lower, item, variable, &value,
					      (uint32_t)count, domain);
	return domain->given;
}

static bool search_item(struct lower *lower, const struct ast *item)
{
	enum plan_variable variable;
	struct ir_domain *domain;

	if (item->kind == AST_ERROR)
		return false;
	if (item->kind != AST_IN) {
		diag_error(lower->diags, E_SEARCH_VARIABLE, item->span,
			   "a search block holds domains, and this is %s",
			   ast_a_kind(item->kind));
		diag_help(lower->diags, "write for instance: tensor in { 1, 2, 4, 8 }");
		return false;
	}
	if (!lower_variable(lower, item, &variable))
		return false;
	domain = &lower->ir->job.domain[variable];
	if (domain->count || domain->given) {
		diag_error(lower->diags, E_JOB_TWICE, item->name_span,
			   "'%s' has two domains", item->name);
		diag_label(lower->diags, domain->span, "the first is here");
		return false;
	}
	if (!lower_domain(lower, item, variable, domain))
		return false;
	/* Not a choice of the solver but a consequence: a requirement. */
	if (variable == VARIABLE_MICRO_BATCHES)
		lower_require_member(lower, variable, domain);
	return true;
}

bool lower_search(struct lower *lower)
{
	const struct ast *body = lower_body(lower->job);
	bool good = true;

	for (uint32_t i = 0; i < body->child_count; i++) {
		const struct ast *block = body->child[i], *items;

		if (!block || block->kind != AST_BLOCK ||
		    strcmp(block->name, "search"))
			continue;
		items = lower_body(block);
		for (uint32_t j = 0; items && j < items->child_count; j++)
			if (items->child[j])
				good = search_item(lower, items->child[j]) && good;
	}
	return good;
}
