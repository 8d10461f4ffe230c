/* SPDX-License-Identifier: MIT
 *
 * Inside the lowering from the checked tree to the placement program: what its
 * passes share. Only the lower_*.c files include this. Every function reports
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

/* Bounds on what one spec may describe; each has its own diagnostic. */
#define AXES_MAX 64			/* of one template */
#define OPERATORS_MAX 1024		/* of one template */
#define SIZE_MAX_EXACT (1ull << 53)	/* of an axis, an extent or a weight */
#define DOMAIN_MAX 65536		/* values of one search domain */
#define PREDICATE_STEPS_MAX 16384	/* of one requirement */

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

/* The item `name = e` of a body, or NULL. */
const struct ast *lower_field(const struct ast *body, const char *name);

/* The body of a declaration, block or labelled block, or NULL. */
const struct ast *lower_body(const struct ast *node);

/* The passes, in order; each may run although one before it failed. */
bool lower_job_fields(struct lower *lower);
bool lower_topology(struct lower *lower);
bool lower_model(struct lower *lower);
bool lower_recompute_modules(struct lower *lower);
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

/* Whether an expression depends on the plan. */
bool lower_mentions_plan(struct lower *lower, const struct ast *expression);

/* Adds a requirement; it must be true or false for every plan. The condition
 * and the reason may be NULL. */
bool lower_require(struct lower *lower, const struct ast *expression,
		   const struct ast *condition, const char *reason);

/* Adds `variable is one of these numbers` as a requirement. */
void lower_require_member(struct lower *lower, enum plan_variable variable,
			  const struct ir_domain *domain);

/* ---- plan programs, in lower_predicate.c ---- */

/* What a part of a requirement is. */
enum operand_kind {
	OPERAND_NUMBER,
	OPERAND_BOOLEAN,
	OPERAND_CHOICE,		/* a plan variable whose values are symbols */
	OPERAND_SYMBOL,		/* a symbol, its number still unknown */
};

struct operand {
	enum operand_kind kind;
	struct span span;
	struct unit unit;		/* NUMBER */
	enum plan_variable variable;	/* CHOICE */
	const char *symbol;		/* SYMBOL */
	size_t step;			/* SYMBOL: the constant to fill in */
	bool is_zero;			/* the constant 0, which fits every unit */
};

/* A program under construction. */
struct predicate_builder {
	struct lower *lower;
	VEC(struct predicate_step) step;
	uint32_t depth;			/* numbers on the stack now */
	bool needs_outcome;
};

/* Appends the steps of an expression, which leave one number. */
bool predicate_compile(struct predicate_builder *builder,
		       const struct ast *expression, struct operand *operand);
/* Demands true or false of what was compiled last. */
bool predicate_truth(struct predicate_builder *builder, struct operand *operand);
/* Appends one step; false, reported at span, when the program gets too long. */
bool predicate_push(struct predicate_builder *builder, struct span span,
		    struct predicate_step step);
struct predicate predicate_finish(const struct predicate_builder *builder,
				  uint32_t source);

/* ---- templates ---- */

/* A name of a template's body. */
struct template_name {
	const char *name;
	struct span span;
	uint32_t value;			/* tensor, or IR_NONE: a number */
	const struct ast *expression;	/* of a number */
	bool used;
	bool gone;			/* of experts whose body has ended */
};

/* One template being lowered. Arrays grow here and are copied to the class. */
struct template {
	struct lower *lower;
	const struct record *layer;
	const char *name;
	struct scope *scope;		/* parameters, batch, seq, lets */
	VEC(struct ir_axis) axis;
	VEC(struct ir_value) value;
	VEC(struct ir_operator) operator;
	VEC(struct template_name) known;
	uint32_t input;			/* value, or IR_NONE */
	uint32_t tokens;		/* value of token numbers besides it, or IR_NONE */
	uint32_t output;
	uint32_t router;		/* of the experts whose body this is, or IR_NONE */
};

enum { AXIS_BATCH, AXIS_SEQ };		/* the first two axes of every class */

/* A tensor expression; appends the operators it needs. */
bool template_tensor(struct template *template, const struct ast *expression,
		     uint32_t *value);
/* Whether the expression has a tensor in it (else it is a number). */
bool template_has_tensor(struct template *template,
			 const struct ast *expression);
struct template_name *template_find(struct template *template,
				    const char *name);
/* Whether the name of an item is free; reports what it stands for otherwise. */
bool template_name_is_free(struct template *template, const struct ast *item);
/* Gives an item's name to a tensor. */
void template_name_value(struct template *template, const struct ast *item,
			 uint32_t value);
/* Marks every tensor an expression names as used. */
void template_use(struct template *template, const struct ast *expression);

/* Splits, in lower_split.c. */

/* Takes one `split` item. */
bool template_split(struct template *template, const struct ast *item);
/* Whether everything in the finished class can be cut as its axes are split. */
bool template_check_splits(struct lower *lower, const struct ir_class *class);

/* Calls of operators, in lower_operator.c. */
bool operator_is_known(const char *name);
bool template_call(struct template *template, const struct ast *call,
		   uint32_t *value);
bool template_binary(struct template *template, const struct ast *binary,
		     uint32_t *value);

/* Axes and extents, in lower_extent.c. */

/* The axis called so, made on first use; IR_NONE after a report. */
uint32_t template_axis(struct template *template, const char *name,
		       struct span span);
/* A sum of products of axes and integers, in normal form. */
bool template_extent(struct template *template, const struct ast *expression,
		     struct ir_extent *extent);
void extent_of_axis(uint32_t axis, struct ir_extent *extent);
bool extent_add(const struct ir_extent *a, const struct ir_extent *b,
		struct ir_extent *sum);
bool extent_multiply(const struct ir_extent *a, const struct ir_extent *b,
		     struct ir_extent *product);
bool extent_equal(const struct ir_extent *a, const struct ir_extent *b);
bool extent_has_axis(const struct ir_extent *extent, uint32_t axis);
/* "heads * head_dim". */
void extent_print(const struct ir_axis *axis, const struct ir_extent *extent,
		  struct text *out);
/* Its whole size, batch counted as 1; false beyond SIZE_MAX_EXACT. */
bool extent_size(const struct ir_axis *axis, const struct ir_extent *extent,
		 uint64_t *size);

#endif
