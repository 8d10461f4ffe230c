/* SPDX-License-Identifier: MIT
 *
 * The monotonic clock against a moment.
 */
#include "solver/deadline.h"

#include <math.h>

struct deadline deadline_in(double seconds)
{
	struct deadline deadline = { .set = seconds > 0 };
	double whole = floor(seconds);

	if (!deadline.set)
		return deadline;
	clock_gettime(CLOCK_MONOTONIC, &deadline.at);
	if (whole > 1e9)
		whole = 1e9;
	deadline.at.tv_sec += (time_t)whole;
	deadline.at.tv_nsec += seconds < 1e9 ? (long)((seconds - whole) * 1e9) : 0;
	if (deadline.at.tv_nsec >= 1000000000) {
		deadline.at.tv_nsec -= 1000000000;
		deadline.at.tv_sec++;
	}
	return deadline;
}

struct deadline deadline_part(const struct deadline *deadline, uint32_t parts)
{
	struct timespec now;
	double left_s;

	if (!deadline->set || deadline->passed)
		return *deadline;
	clock_gettime(CLOCK_MONOTONIC, &now);
	left_s = (double)(deadline->at.tv_sec - now.tv_sec) +
		 1e-9 * (double)(deadline->at.tv_nsec - now.tv_nsec);
	return left_s > 0 ? deadline_in(left_s / parts) : *deadline;
}

bool deadline_passed(const struct deadline *deadline)
{
	struct timespec now;

	if (deadline->passed)
		return deadline->passed(deadline->closure);
	if (!deadline->set)
		return false;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec > deadline->at.tv_sec ||
	       (now.tv_sec == deadline->at.tv_sec &&
		now.tv_nsec >= deadline->at.tv_nsec);
}

bool deadline_glance(const struct deadline *deadline, uint32_t *asked)
{
	return (*asked)++ % 16 == 0 && deadline_passed(deadline);
}
