/* SPDX-License-Identifier: MIT
 *
 * The monotonic clock against a moment.
 */
#include "solver/deadline.h"

#include <math.h>

void deadline_set(struct deadline *deadline, double seconds)
{
	double whole = floor(seconds);

	*deadline = (struct deadline){ .set = seconds > 0 };
	if (!deadline->set)
		return;
	clock_gettime(CLOCK_MONOTONIC, &deadline->at);
	if (whole > 1e9)
		whole = 1e9;
	deadline->at.tv_sec += (time_t)whole;
	deadline->at.tv_nsec += seconds < 1e9 ? (long)((seconds - whole) * 1e9) : 0;
	if (deadline->at.tv_nsec >= 1000000000) {
		deadline->at.tv_nsec -= 1000000000;
		deadline->at.tv_sec++;
	}
}

bool deadline_passed(struct deadline *deadline)
{
	struct timespec now;

	if (!deadline->set || deadline->asked++ % 16)
		return false;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec > deadline->at.tv_sec ||
	       (now.tv_sec == deadline->at.tv_sec &&
		now.tv_nsec >= deadline->at.tv_nsec);
}
