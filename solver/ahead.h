/* SPDX-License-Identifier: MIT
 *
 * Threads that open nodes ahead of the search. The search takes nodes in the order in
 * which it would take them alone; where a node has been opened ahead, under the same
 * incumbent, it takes what came out. Since that depends on nothing else (expand.h), any
 * number of threads gives the same result as none.
 */
#ifndef NEST_SOLVER_AHEAD_H
#define NEST_SOLVER_AHEAD_H

#include <stdint.h>

#include "lang/base/arena.h"
#include "solver/expand.h"

struct ahead;

/* So many threads beside the caller's, which begin when they are first of use; NULL for
 * 0 or when the system gives none. */
struct ahead *ahead_new(struct families *families, uint32_t threads,
			struct arena *arena);
void ahead_release(struct ahead *ahead);	/* NULL: nothing */

/* A free job, or JOB_NONE. */
uint32_t ahead_job(struct ahead *ahead);

/* Hands a node to a thread, with what expand takes. */
void ahead_give(struct ahead *ahead, uint32_t job,
		const struct incumbent *incumbent, const struct node *node,
		const struct placement_set *set, uint64_t effort);

/* What came out, after a wait for it if need be; NULL if no thread has begun or the
 * incumbent has changed since. Valid until the job is given back. */
struct expansion *ahead_take(struct ahead *ahead, uint32_t job);

/* The job is free again, done or not. */
void ahead_give_back(struct ahead *ahead, uint32_t job);

/* What has not been begun is begun under the new incumbent, what has been is void. */
void ahead_renew(struct ahead *ahead, const struct incumbent *incumbent);

#endif
