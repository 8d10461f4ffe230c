/* SPDX-License-Identifier: MIT
 *
 * Evaluation of expressions and of declarations to records. Every function
 * reports what is wrong itself and returns false then; an erroneous value
 * (VALUE_ERROR) passes through in silence.
 */
#ifndef NEST_LANG_EVAL_H
#define NEST_LANG_EVAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/scope.h"
#include "lang/value.h"

struct compilation;
struct module;

/* A binding being evaluated, kept on the caller's stack to show cycles. */
struct eval_running {
	const struct binding *binding;
	struct span span;		/* where it was asked for */
	struct eval_running *outer;
};

struct eval {
	struct compilation *compilation;
	uint32_t depth;			/* of nested expressions and calls now */
	uint64_t steps;			/* taken so far */
	bool stopped;			/* a limit was passed and reported */
	struct eval_running *running;
};

void eval_init(struct eval *eval, struct compilation *compilation);

/* The value of an expression in a scope. */
bool eval_expression(struct eval *eval, struct scope *scope,
		     const struct ast *expression, struct value *value);

/* The same, demanding a kind or dimension; the message names `what`, for
 * instance "'global_batch'". Integers must be whole and within low .. high. */
bool eval_number(struct eval *eval, struct scope *scope,
		 const struct ast *expression, struct unit unit,
		 const char *what, double *number);
bool eval_integer(struct eval *eval, struct scope *scope,
		  const struct ast *expression, int64_t low, int64_t high,
		  const char *what, int64_t *number);
bool eval_boolean(struct eval *eval, struct scope *scope,
		  const struct ast *expression, const char *what, bool *boolean);

/* Applies a declaration (fn, device, topology, model, template) to the
 * arguments of a call: a function gives its value, the others a record. A
 * template gives RECORD_LAYER whose scope binds its parameters; its body is
 * left to the compiler, which knows the operators. */
bool eval_apply(struct eval *eval, const struct value *callee,
		struct scope *scope, const struct ast *call,
		struct value *value);

/* Demands a kind of record, applying a declaration without arguments. */
bool eval_record(struct eval *eval, struct scope *scope,
		 const struct ast *expression, enum record_kind kind,
		 const char *what, struct record **record);

/* A field of a record with its dimension checked; *number keeps its value
 * when the field is absent and not required. */
bool eval_field_number(struct eval *eval, const struct record *record,
		       const char *name, struct unit unit, bool required,
		       double *number);

/* The member `name` of a value: a field, parameter, let, level, or one of the
 * computed ones (topology.devices, topology.levels, model.layers,
 * model.parameters). */
bool eval_member(struct eval *eval, const struct value *value, const char *name,
		 struct span span, struct value *member);

/* A declaration that needs no argument becomes what it gives; any other value
 * stays as it is. */
bool eval_applied(struct eval *eval, struct span span, struct value *value);

/* Evaluates every constant, and every device, topology and model that needs no
 * argument, of a module, so that mistakes show without a job using them. */
void eval_module(struct eval *eval, const struct module *module);

/* Gives each -D to the param of that name visible in the module; reports those
 * that name none. */
void eval_overrides_bind(struct compilation *compilation,
			 const struct module *module);

/* One step of work; false (reported once) when the limit is passed. */
bool eval_step(struct eval *eval, struct span span);

/* Whether a name can stand after `:` as a type. */
bool type_is_known(const char *name);

#endif
