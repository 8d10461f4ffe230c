/* SPDX-License-Identifier: MIT
 *
 * What the parts of an explanation share. Only explain_*.c include this.
 */
#ifndef NEST_COMPILER_EXPLAIN_INTERNAL_H
#define NEST_COMPILER_EXPLAIN_INTERNAL_H

#include <stdbool.h>

#include "compiler/ir.h"
#include "compiler/site.h"
#include "lang/base/text.h"
#include "solver/plan.h"

struct compilation;
struct routed;

/* One plan while it is explained, as the devices of one site see it. */
struct explanation {
	struct compilation *compilation;
	const struct ir *ir;
	const struct problem *problem;
	const struct plan *plan;
	const struct problem_shape *shape;
	const struct routed *routed;	/* on a graph; else NULL */
	struct sites sites;
	struct text *out;
};

/* The whole plan. */
struct explanation explanation_of(struct compilation *compilation,
				  const struct ir *ir,
				  const struct problem *problem,
				  const struct plan *plan, struct text *out);

/* The same plan as the devices of one site see it; the second also says so, on a
 * cluster of several kinds. */
void explain_turn(struct explanation *explanation, const struct site *site);
void explain_site(struct explanation *explanation, const struct site *site);

/* "llama3_8b on rack: tensor 8 x data 4, ..". */
void explain_title(struct explanation *explanation);

/* Numbers as words that live in the compilation's arena; "-" for nothing. */
struct text explain_scratch(const struct explanation *explanation);
const char *explain_seconds(const struct explanation *explanation, double number);
const char *explain_bytes(const struct explanation *explanation, double number);
/* A time that may well be nothing: "0" then. */
const char *explain_exposed(const struct explanation *explanation, double number);
/* "llama.nest:18:7"; the directory is left out to keep rows short. */
const char *explain_place(const struct explanation *explanation,
			  struct span span);

/* One kind of layer, operator by operator; `work`: with operations and bytes. */
void explain_class(struct explanation *explanation, uint32_t index, bool work);

#endif
