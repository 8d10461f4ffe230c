/* SPDX-License-Identifier: MIT
 *
 * The rule of thumb as the first incumbent: it takes a part of a second where the
 * search, which goes by bounds, may be long on its way to the first whole plan.
 */
#include "solver/first_plan.h"

#include "solver/attempt.h"
#include "solver/strategy.h"

void first_plan(const struct problem *problem, const struct deadline *deadline,
		struct arena *arena, struct incumbent *incumbent)
{
	struct attempts attempts;
	struct arena scratch;

	if (!deadline->set)
		return;
	arena_init(&scratch);
	attempts_init(&attempts, problem, arena, &scratch);
	attempts.deadline = deadline;
	strategy_manual(&attempts);
	if (attempts.incumbent.found)
		incumbent_offer(incumbent, &attempts.incumbent.plan,
				&attempts.incumbent.merit);
	arena_release(&scratch);
}
