/* SPDX-License-Identifier: MIT
 *
 * Requirements and objectives as small stack programs over plan variables, so
 * that the solver evaluates them without knowing any language.
 */
#ifndef NEST_SOLVER_PREDICATE_H
#define NEST_SOLVER_PREDICATE_H

#include <stdbool.h>
#include <stdint.h>

/* Everything a requirement may mention. Those before VARIABLE_TIME are known
 * as soon as a configuration is chosen; the rest only once it is priced. */
enum plan_variable {
	VARIABLE_TENSOR,
	VARIABLE_SEQUENCE,		/* 0 or 1 */
	VARIABLE_CONTEXT,
	VARIABLE_EXPERT,
	VARIABLE_EXPERT_TENSOR,
	VARIABLE_DATA,
	VARIABLE_PIPELINE,
	VARIABLE_VIRTUAL,
	VARIABLE_MICRO_BATCH,
	VARIABLE_MICRO_BATCHES,
	VARIABLE_ZERO,
	VARIABLE_RECOMPUTE,		/* enum recompute */
	VARIABLE_RECOMPUTE_LAYERS,	/* block layers of a chunk recomputed whole, at most:
					 * choice.recompute_layers, or those of the model where
					 * that is 0 under RECOMPUTE_FULL; else 0 */
	VARIABLE_SCHEDULE,		/* enum schedule */
	VARIABLE_SHARD_LEVEL,		/* choice.shard_level */
	VARIABLE_DEVICES,		/* devices used */
	VARIABLE_TIME,			/* iteration time, seconds */
	VARIABLE_MEMORY,		/* largest device total, bytes */
	VARIABLE_BUBBLE,		/* breakdown.bubble_s / time, 0 .. 1 */
	VARIABLE_COST,			/* dollars per iteration, for the devices used */
	VARIABLE_ENERGY,		/* joules per iteration (watt seconds), likewise */
	VARIABLE_STAGE_LAYERS,		/* operand: stage index; NaN beyond the last */
	VARIABLE_STAGES_UNIFORM,	/* 1 when all stages hold equally many layers */
	VARIABLE_COUNT
};

enum predicate_op {
	PREDICATE_CONSTANT,	/* push number */
	PREDICATE_VARIABLE,	/* push variable (index for STAGE_LAYERS) */
	PREDICATE_NEGATE,
	PREDICATE_NOT,
	PREDICATE_ADD,
	PREDICATE_SUBTRACT,
	PREDICATE_MULTIPLY,
	PREDICATE_DIVIDE,	/* by zero gives NaN: every comparison is false */
	PREDICATE_REMAINDER,
	PREDICATE_POWER,
	PREDICATE_EQUAL,
	PREDICATE_NOT_EQUAL,
	PREDICATE_LESS,
	PREDICATE_LESS_EQUAL,
	PREDICATE_GREATER,
	PREDICATE_GREATER_EQUAL,
	PREDICATE_AND,
	PREDICATE_OR
};

/* How many numbers an operation takes from the stack; it leaves one. */
static inline uint32_t predicate_operands(enum predicate_op op)
{
	switch (op) {
	case PREDICATE_CONSTANT:
	case PREDICATE_VARIABLE:
		return 0;
	case PREDICATE_NEGATE:
	case PREDICATE_NOT:
		return 1;
	default:
		return 2;
	}
}

struct predicate_step {
	enum predicate_op op;
	enum plan_variable variable;	/* of PREDICATE_VARIABLE */
	uint32_t index;			/* of the stage, of VARIABLE_STAGE_LAYERS */
	double number;			/* of PREDICATE_CONSTANT */
};

/* Numbers that a program may have on its stack at once. */
#define PREDICATE_STACK_MAX 64

struct predicate {
	const struct predicate_step *step;
	uint32_t step_count;
	bool needs_outcome;	/* mentions a variable from VARIABLE_TIME on */
	uint32_t source;	/* caller's number for it, to explain what failed */
};

/* Values of the variables of one plan. */
struct predicate_input {
	double value[VARIABLE_COUNT];
	const uint32_t *stage_layers;	/* layers of every stage, or NULL */
	uint32_t stage_count;
};

/* Runs the program; the result is a number (0 and 1 for truth). A comparison
 * with NaN is false, inequality too; a number is true unless it is 0 or NaN. A
 * well-formed program leaves exactly one number; see predicate_is_valid. */
double predicate_evaluate(const struct predicate *predicate,
			  const struct predicate_input *input);

/* Whether the program never under- or overflows the stack and leaves one
 * number. Checked once when a problem is built. */
bool predicate_is_valid(const struct predicate *predicate);

#endif
