/* SPDX-License-Identifier: MIT
 *
 * A moment at which a search stops.
 */
#ifndef NEST_SOLVER_DEADLINE_H
#define NEST_SOLVER_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct deadline {
	bool set;
	struct timespec at;
	uint64_t asked;
};

/* So many seconds from now; 0 or less: never. */
void deadline_set(struct deadline *deadline, double seconds);

/* Whether it is past. Looks at the clock every sixteenth time only. */
bool deadline_passed(struct deadline *deadline);

#endif
