/* SPDX-License-Identifier: MIT
 *
 * What becomes of a person's own idea of a plan, `tensor = 8, pipeline = 4`: the best
 * plan like it beside the chosen one, or why there is none.
 */
#ifndef NEST_COMPILER_WHY_NOT_H
#define NEST_COMPILER_WHY_NOT_H

#include <stdbool.h>

#include <jansson.h>

#include "compiler/ir.h"
#include "compiler/pipeline.h"
#include "lang/base/text.h"
#include "lang/diag.h"

struct compilation;
struct module;

/* An idea as it was given. */
struct idea {
	const char *text;
	struct ir_plan plan;		/* what it fixes */
	struct span span;		/* of the text, a source of its own */
};

/* Reads the idea about a job (NULL: the only one) that can be lowered. False after
 * reported errors, or a complaint if there is nothing in it. */
bool idea_read(struct compilation *compilation, const struct module *module,
	       const char *job, const char *text, struct idea *idea);

/* The best plan of a program, with what it was found in. */
struct answer {
	const struct ir *ir;
	const struct problem *problem;
	struct plan plan;
};

struct why_not {
	struct compilation *compilation;
	const struct idea *idea;
	struct answer chosen;
	enum {
		WHY_NOT_CHOSEN,		/* the chosen plan is like that */
		WHY_NOT_FOUND,		/* `asked` is the best plan like that */
		WHY_NOT_IMPOSSIBLE,	/* there is none: `reason` */
		WHY_NOT_UNKNOWN,	/* none was found in the time there was */
	} outcome;
	struct answer asked;
	/* IMPOSSIBLE: what the same in the spec would report. */
	struct diagnostic **reason;
	size_t reason_count;
	/* IMPOSSIBLE for one requirement or domain alone: `asked` is the best plan
	 * without that. */
	bool has_without;
};

/* Answers; the pipeline holds the chosen plan. STATUS_FAULT, complained of, if a plan does
 * not pass the checkers. */
enum status why_not_answer(const struct cli *cli,
			   struct compilation *compilation,
			   const struct pipeline *pipeline,
			   const struct idea *idea, struct why_not *answer);

/* Which item of `search` leaves out what the plan asked for has of a variable: its
 * place, SPAN_NONE where it is only looked at when named; false if none does. */
bool why_not_excluded(const struct why_not *answer, enum plan_variable variable,
		      struct span *span);

/* "llama.nest:18:7"; lives in the arena. */
const char *why_not_place(const struct why_not *answer, struct span span);

void why_not_print(const struct why_not *answer, struct text *out);
/* The caller owns it. */
json_t *why_not_json(const struct why_not *answer);

#endif
