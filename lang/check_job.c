/* SPDX-License-Identifier: MIT
 *
 * Bodies of jobs, in which the variables of a plan are names too, and of tests.
 */
#include "lang/check_internal.h"

#include <string.h>

#include "lang/symbol.h"

/* Scopes of a job: its lets in the module's scope, then its records, then the
 * names of the plan, which come first. */
struct job_scopes {
	struct scope *lets;
	struct scope *plan;
};

static struct job_scopes job_scopes_new(struct check *check)
{
	struct job_scopes scopes;
	struct scope *records;
	const char *word;

	scopes.lets = scope_new(check->arena, check->module->scope);
	records = scope_new(check->arena, scopes.lets);
	check_some_value(check, records, "device");
	check_some_value(check, records, "topology");
	check_some_value(check, records, "model");
	scopes.plan = scope_new(check->arena, records);
	for (unsigned i = 0; (word = symbol_at(SYMBOL_PLAN, i)); i++)
		check_some_value(check, scopes.plan, word);
	return scopes;
}

static void check_job_items(struct check *check, const struct ast *body,
			    const struct job_scopes *scopes);
static void check_job_item(struct check *check, const struct ast *item,
			   const struct job_scopes *scopes);

/* A field, which is no requirement, is refused by the lowering: what it says, names of
 * the plan perhaps, is of no interest. */
static void check_requirements(struct check *check, const struct ast *body,
			       const struct job_scopes *scopes)
{
	for (uint32_t i = 0; i < body->child_count; i++)
		if (body->child[i] && body->child[i]->kind != AST_FIELD)
			check_job_item(check, body->child[i], scopes);
}

static void check_job_item(struct check *check, const struct ast *item,
			   const struct job_scopes *scopes)
{
	switch (item->kind) {
	case AST_FIELD:
		/* A value of a plan (`plan { tensor = 8 }`) or of the job. */
		check_expression(check, scopes->lets, item->child[0]);
		return;
	case AST_LET:
		check_expression(check, scopes->plan, item->child[0]);
		check_declare(check, scopes->lets, item);
		return;
	case AST_IN:
	case AST_ITEM:
	case AST_REQUIRE:
	case AST_PREFER:
	case AST_MINIMIZE:
		for (uint32_t i = 0; i < item->child_count; i++)
			check_expression(check, scopes->plan, item->child[i]);
		return;
	case AST_BLOCK:
		/* What `place` names are levels and groups, not values. */
		if (!strcmp(item->name, "require"))
			check_requirements(check, item->child[0], scopes);
		else if (strcmp(item->name, "place"))
			check_job_items(check, item->child[0], scopes);
		return;
	case AST_NAMED_BLOCK:
		check_job_items(check, item->child[1], scopes);
		return;
	default:
		return;		/* refused by the lowering */
	}
}

static void check_job_items(struct check *check, const struct ast *body,
			    const struct job_scopes *scopes)
{
	struct check_body here = { body, check->body };

	check->body = &here;
	for (uint32_t i = 0; i < body->child_count; i++)
		if (body->child[i])
			check_job_item(check, body->child[i], scopes);
	check->body = here.outer;
}

void check_job(struct check *check, const struct ast *job)
{
	struct job_scopes scopes = job_scopes_new(check);

	check_job_items(check, job->child[0], &scopes);
}

void check_test(struct check *check, const struct ast *test)
{
	const struct ast *body = test->child[0];
	struct scope *scope = scope_new(check->arena, check->module->scope);
	struct check_body here = { body, check->body };

	check->body = &here;
	for (uint32_t i = 0; i < body->child_count; i++) {
		const struct ast *item = body->child[i];

		if (item->kind == AST_LET)
			check_let(check, scope, item);
		else if (item->kind == AST_EXPECT)
			check_expression(check, scope, item->child[0]);
		else
			check_refuse(check, item, "test");
	}
	check->body = here.outer;
}
