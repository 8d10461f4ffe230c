/* SPDX-License-Identifier: MIT
 *
 * Families of plans, each with a bound, and the queue that gives the one of least
 * bound first.
 */
#ifndef NEST_SOLVER_NODE_H
#define NEST_SOLVER_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lang/base/arena.h"
#include "lang/base/vec.h"
#include "solver/fits.h"
#include "solver/plan.h"

/* From many plans to few. */
enum node_kind {
	NODE_SHAPE,
	NODE_DATA,			/* and a data degree */
	NODE_DEGREES,			/* and pipeline and virtual degrees, schedule */
	NODE_CONFIGURATION,		/* and a policy */
	NODE_PLACED,			/* and a placement; bounded by its times only */
	NODE_BOUNDED,			/* not yet cut */
	NODE_CUT,			/* seeded */
	NODE_LEFT,			/* cuts not settled by a short look */
};

/* Of a node that no thread was given, see ahead.h. */
#define TICKET_NONE UINT32_MAX

struct node {
	double objective[2];		/* bounds of the first two objectives */
	double time_s, memory_bytes;	/* bounds */
	struct choice choice;		/* as far as the kind says */
	enum node_kind kind;
	uint32_t record;		/* from NODE_PLACED on: of the configuration */
	uint32_t placed;		/* index into its placements */
	uint32_t ticket;
	/* NODE_DEGREES: recomputation policies that memory may have room for, by ZeRO
	 * stage. */
	fits_set fits[4];
};

/* Least bound first; among equals the one nearest to a plan. */
bool node_before(const struct node *a, const struct node *b);

/* A binary heap, in blocks: it is most of a search's memory, and a copy would double
 * that. */
enum { QUEUE_BLOCK = 512 };

struct queue {
	struct arena arena;
	VEC(struct node *) block;
	size_t count;
};

void queue_init(struct queue *queue);
void queue_release(struct queue *queue);
void queue_push(struct queue *queue, const struct node *node);
struct node queue_pop(struct queue *queue);	/* of one that is not empty */

/* The i-th place; 0 is the first node, and early places hold early nodes. */
struct node *queue_at(const struct queue *queue, size_t i);

#endif
