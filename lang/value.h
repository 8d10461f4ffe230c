/* SPDX-License-Identifier: MIT
 *
 * Values of the evaluator. They are immutable and live in the compilation's
 * arena; a value is passed by copy.
 */
#ifndef NEST_LANG_VALUE_H
#define NEST_LANG_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/ast.h"
#include "lang/base/text.h"
#include "lang/unit.h"

enum value_kind {
	VALUE_ERROR,		/* already reported; silences what follows */
	VALUE_NONE,		/* absent */
	VALUE_BOOL,
	VALUE_NUMBER,
	VALUE_STRING,
	VALUE_SYMBOL,		/* a bare word with a fixed meaning: none, selective, bf16, adam */
	VALUE_LIST,		/* [a, b] */
	VALUE_SET,		/* { a, b }, or a range expanded lazily: see struct range */
	VALUE_RANGE,		/* low .. high step s */
	VALUE_RECORD,		/* device, topology, level, model, layer, or a `with` copy */
	VALUE_CALLABLE,		/* a declaration that takes arguments, not yet applied */
	VALUE_PLAN_VARIABLE,	/* tensor, memory, ...: known only to the solver */
};

struct value;

struct field {
	const char *name;	/* interned */
	struct span span;	/* of the whole item that set it */
	struct value *value;
};

/* What a record was made by; RECORD_BLOCK is an inner block such as `peak`. */
enum record_kind {
	RECORD_DEVICE,
	RECORD_TOPOLOGY,
	RECORD_LEVEL,
	RECORD_MODEL,
	RECORD_LAYER,		/* a template applied to arguments */
	RECORD_BLOCK,
	RECORD_PLAN,		/* what was found for a job */
};

struct scope;
struct network_graph;		/* lang/network_graph.h */

struct record {
	enum record_kind kind;
	const char *name;		/* of the declaration, interned */
	const struct ast *declaration;	/* NULL for blocks */
	struct span span;		/* where it was made */
	struct field *field;
	uint32_t field_count;
	/* RECORD_TOPOLOGY: levels, innermost first, as written.
	 * RECORD_MODEL: the chain, one entry a run. */
	struct record **part;
	uint32_t *part_repeat;		/* RECORD_MODEL: how often each part repeats */
	uint32_t part_count;
	/* RECORD_TOPOLOGY: its nodes, switches and links, where it is given by
	 * these instead of levels; else NULL. */
	const struct network_graph *graph;
	/* RECORD_LAYER, RECORD_MODEL, RECORD_TOPOLOGY: names visible inside. */
	struct scope *scope;
};

struct range {
	int64_t low, high, step;	/* inclusive; step >= 1 */
};

struct value {
	enum value_kind kind;
	struct span span;		/* where it came from */
	union {
		bool boolean;
		struct {
			double number;		/* in base units */
			struct unit unit;
		};
		const char *string;		/* VALUE_STRING, VALUE_SYMBOL, VALUE_PLAN_VARIABLE */
		struct {
			const struct value *item;
			uint32_t item_count;
		};
		struct range range;
		struct record *record;
		struct {
			const struct ast *declaration;	/* FUNCTION, TEMPLATE, MODEL, ... */
			struct scope *home;		/* scope it was declared in */
		} callable;
	};
};

#define VALUE_FAILED ((struct value){ .kind = VALUE_ERROR })

/* A plain or dimensioned number. */
struct value value_of_number(double number, struct unit unit, struct span span);

/* Largest magnitude up to which a number is surely exact as an integer. */
#define VALUE_INTEGER_MAX 9007199254740992.0	/* 2^53 */

/* Field by name, or NULL. */
const struct field *record_find(const struct record *record, const char *name);

/* "a size (bytes)", "a device", "a list", ...: for messages. */
const char *value_describe(const struct value *value, struct text *scratch);
/* The value as a person would write it. */
void value_print(const struct value *value, struct text *out);
/* A plain whole number within +-VALUE_INTEGER_MAX. */
bool value_is_integer(const struct value *value);

/* How many elements a list, set or range has; false for other kinds. */
bool value_count(const struct value *value, uint64_t *count);
/* Element number index (below that count). */
struct value value_at(const struct value *value, uint64_t index);

/* "device", "topology", ...: what made a record. */
const char *record_kind_name(enum record_kind kind);

#endif
