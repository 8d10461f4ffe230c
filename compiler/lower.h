/* SPDX-License-Identifier: MIT
 *
 * Inside the lowering from the checked tree to the placement program: what its
 * passes share. Only the lower*.c files include this. Every function reports
 * what is wrong itself and returns false then.
 */
#ifndef NEST_COMPILER_LOWER_H
#define NEST_COMPILER_LOWER_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/ir.h"
#include "compiler/variable.h"
#include "lang/base/vec.h"
#include "lang/compilation.h"
#include "lang/eval.h"

struct job_let {
	const char *name;
	const struct ast *expression;	/* mentions plan variables */
};

/* One topology of alike devices, of those a cluster of several kinds stands for. */
struct lower_variant {
	struct record *record;		/* as if written so; NULL: the equal part */
	struct record *device;		/* what `device` means in the job */
	uint32_t kind;			/* index into the level's children */
	struct ir_topology topology;
};

struct lower_kinds {
	struct lower_variant equal;	/* what is equal in all kinds */
	struct lower_variant at[KIND_MAX];
	uint32_t count;
};

/* The state of one lowering. */
struct lower {
	struct compilation *compilation;
	struct arena *arena;
	struct diags *diags;
	struct eval eval;
	const struct module *module;
	const struct ast *job;
	struct ir *ir;
	struct scope *scope;		/* the module's, then device, topology, model, lets */
	/* lets of the job that only the solver can evaluate: used in place */
	VEC(struct job_let) let;
	VEC(struct ir_requirement) requirement;
	struct record *model;		/* NULL until found */
	struct record *topology;
	const struct lower_variant *variant;	/* instead of the topology's own levels */
	const struct lower_kinds *kinds;	/* NULL: all children are alike */
	uint32_t depth;			/* of nested expressions now */
};

/* In lower_aid.c. */

/* Guards a recursion over expressions: false, reported, beyond the depth the
 * compilation allows. Each true needs one lower_leave. */
bool lower_enter(struct lower *lower, struct span span);
void lower_leave(struct lower *lower);

/* Refuses a construct whose meaning a later version will have. */
bool lower_not_yet(struct lower *lower, struct span span, const char *what);

/* Adds "did you mean" for the nearest of count names; false if none is near. */
bool lower_suggest(struct lower *lower, const char *name,
		   const char *const *known, uint32_t count);

/* The value a name has in a scope; the span is where it is used. */
bool lower_name_value(struct lower *lower, struct scope *scope,
		      const char *name, struct span span, struct value *value);

/* Warns of a lowered model that begins with no embedding, ends with no loss, or says
 * nothing about positions. */
void lower_model_ends(struct lower *lower);

/* The item `name = e` of a body, or NULL. */
const struct ast *lower_field(const struct ast *body, const char *name);

/* The body of a declaration, block or labelled block, or NULL. */
const struct ast *lower_body(const struct ast *node);

/* The passes, in order; each may run although one before it failed. */
bool lower_job_fields(struct lower *lower);
bool lower_topology(struct lower *lower);
bool lower_model(struct lower *lower);
bool lower_recompute_modules(struct lower *lower);
bool lower_exchange(struct lower *lower);
bool lower_search(struct lower *lower);
bool lower_plans(struct lower *lower);
bool lower_requirements(struct lower *lower);
bool lower_place(struct lower *lower);
bool lower_objective(struct lower *lower);
bool lower_profile(struct lower *lower);
bool lower_precision(struct lower *lower);

/* In lower_topology.c: a topology whose devices are all alike. */
bool lower_plain_topology(struct lower *lower, const struct record *record);

/* In lower_kinds.c: if the children of the topology differ, finds what it stands
 * for, and chooses the equal part as variant unless one is chosen already. */
bool lower_kinds(struct lower *lower);

/* Levels of a hierarchy, in lower_level.c: fills levels and device_count of the
 * program's topology. */
bool lower_levels(struct lower *lower, const struct record *record);
/* The same of a graph, whose hierarchy is found, in lower_graph.c. */
bool lower_graph(struct lower *lower, const struct record *record);

/* One template applied to arguments becomes a class (is_block left alone). */
bool lower_template(struct lower *lower, const struct record *layer,
		    struct ir_class *class);

/* Search domains, in lower_search.c. */

/* The plan variable that an item of a search or a plan names. */
bool lower_variable(struct lower *lower, const struct ast *item,
		    enum plan_variable *variable);
/* The elements of a list, set or range as a domain of a variable. */
bool lower_domain_elements(struct lower *lower, const struct ast *item,
			   enum plan_variable variable,
			   const struct value *value, uint32_t count,
			   struct ir_domain *domain);

/* The domain of `variable in ..`. */
bool lower_domain(struct lower *lower, const struct ast *item,
		  enum plan_variable variable, struct ir_domain *domain);

/* Whether an expression depends on the plan, in lower_predicate.c. */
bool lower_mentions_plan(struct lower *lower, const struct ast *expression);

/* Requirements, in lower_requirement.c. */

/* Adds a requirement; it must be true or false for every plan. The condition
 * and the reason may be NULL. */
bool lower_require(struct lower *lower, const struct ast *expression,
		   const struct ast *condition, const char *reason);

/* Adds `variable is one of these numbers` as a requirement. */
void lower_require_member(struct lower *lower, enum plan_variable variable,
			  const struct ir_domain *domain);

#endif
