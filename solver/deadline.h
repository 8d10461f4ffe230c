/* SPDX-License-Identifier: MIT
 *
 * A moment at which a search stops. One for all that a caller waits for: what a
 * search calls is given the same moment, never so many seconds anew.
 */
#ifndef NEST_SOLVER_DEADLINE_H
#define NEST_SOLVER_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* All 0: never. */
struct deadline {
	bool set;
	struct timespec at;		/* of the monotonic clock */
	/* Asked instead of the clock, if not NULL: whether to stop. Once true it must
	 * stay true. Every thread of a search may ask. */
	bool (*passed)(void *closure);
	void *closure;
};

/* So many seconds from now; 0 or less: never. */
struct deadline deadline_in(double seconds);

/* After one of so many equal parts of what is left until then; the same where that
 * is never, or not told by the clock. */
struct deadline deadline_part(const struct deadline *deadline, uint32_t parts);

bool deadline_passed(const struct deadline *deadline);

/* The same, for inner loops: looks every sixteenth time only, which *asked, at first 0,
 * counts. */
bool deadline_glance(const struct deadline *deadline, uint32_t *asked);

#endif
