/* SPDX-License-Identifier: MIT
 *
 * Threads that open nodes ahead of the search. The search takes nodes in the order in
 * which it would take them alone; where a node has been opened ahead, under the same
 * incumbent, it takes what came out. Since that depends on nothing else (expand.h), any
 * number of threads gives the same result as none.
 *
 * Nodes are handed over by the batch, since most are opened in microseconds.
 */
#ifndef NEST_SOLVER_AHEAD_H
#define NEST_SOLVER_AHEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/arena.h"
#include "solver/expand.h"

struct ahead;

/* So many threads beside the caller's, which begin when they are first of use; NULL for
 * 0. */
struct ahead *ahead_new(struct families *families, uint32_t threads,
			struct arena *arena);
void ahead_release(struct ahead *ahead);	/* NULL: nothing */

/* Puts a node into the batch that is being filled; `set` as of expand. Returns its
 * ticket, or TICKET_NONE when the batch is full. */
uint32_t ahead_put(struct ahead *ahead, const struct node *node,
		   const struct placement_set *set);

/* Hands the batch to the threads; false if there is nothing in it. */
bool ahead_send(struct ahead *ahead, const struct incumbent *incumbent,
		uint64_t effort);

/* What came out; NULL if the incumbent has changed since. Valid until the ticket is
 * given back. Where it is not there yet the caller works on batches meanwhile, with
 * its own expander. */
struct expansion *ahead_take(struct ahead *ahead, uint32_t ticket,
			     struct expander *expander);

/* The ticket's node is done with, taken or not. */
void ahead_give_back(struct ahead *ahead, uint32_t ticket);

/* What has not been begun is begun under the new incumbent, what has been is void. */
void ahead_renew(struct ahead *ahead, const struct incumbent *incumbent);

#endif
