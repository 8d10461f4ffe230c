/* SPDX-License-Identifier: MIT
 *
 * Counts configurations by the requirement that alone removes them. Families
 * are counted at once as soon as every requirement is decided for them.
 */
#include "solver/failure.h"

#include <string.h>

#include "solver/incumbent.h"
#include "solver/space.h"

struct tally {
	const struct problem *problem;
	uint64_t *removed_by;
	struct arena arena;
	struct space space;
	struct incumbent incumbent;	/* for outlook_ranges only */
	const struct deadline *deadline;
	uint32_t asked;			/* for the clock */
	bool out_of_time;
};

/* Counts a family if it is decided; false if it must be split. */
static bool tally_family(struct tally *tally, const struct choice *choice,
			 int known, uint64_t count)
{
	const struct problem *problem = tally->problem;
	struct outlook outlook = { .choice = choice };
	struct range_input input;
	uint32_t failed = 0, open = 0, last = 0;

	if (!tally->out_of_time)
		tally->out_of_time = deadline_glance(tally->deadline,
						     &tally->asked);
	if (tally->out_of_time)
		return true;
	outlook.known = known;
	outlook_ranges(&tally->incumbent, &outlook, &input);
	for (uint32_t i = 0; i < problem->requirement_count; i++) {
		enum certainty certainty;

		if (problem->requirement[i].needs_outcome)
			continue;
		certainty = outlook_requirement(&outlook, &problem->requirement[i],
						&input);
		if (certainty == CERTAINLY_FALSE) {
			failed++;
			last = i;
		} else if (certainty == UNCERTAIN) {
			open++;
		}
	}
	if (failed < 2 && open && known != OUTLOOK_ALL)
		return false;
	if (failed == 1)
		tally->removed_by[last] += count;
	return true;
}

static void tally_policies(struct tally *tally, struct choice *choice)
{
	const struct space *space = &tally->space;

	for (uint32_t i = 0; i < space->policies; i++) {
		choice_set_policy(choice, &space->policy[i]);
		tally_family(tally, choice, OUTLOOK_ALL, 1);
	}
}

static void tally_schedules(struct tally *tally, struct choice *choice)
{
	const struct space *space = &tally->space;

	for (int s = 0; s < SCHEDULE_COUNT; s++) {
		if (!space_has_schedule(space, choice->pipeline,
					choice->virtual_stages,
					(enum schedule)s))
			continue;
		choice->schedule = (enum schedule)s;
		if (!tally_family(tally, choice, OUTLOOK_DEGREES,
				  space->policies))
			tally_policies(tally, choice);
	}
}

static void tally_data(struct tally *tally, struct choice *choice)
{
	const struct space *space = &tally->space;
	uint32_t most = space_pipeline_max(space, choice->shape, choice->data);

	for (uint32_t p = 1; p <= most; p++) {
		if (!space_has_pipeline(space, choice->shape, choice->data, p))
			continue;
		choice->pipeline = p;
		for (uint32_t v = 1; v <= space->chain_length / p; v++) {
			if (!space_has_virtual(space, p, v, choice->micro_batches))
				continue;
			choice->virtual_stages = v;
			tally_schedules(tally, choice);
		}
	}
}

static void tally_shape(struct tally *tally, struct choice *choice)
{
	struct space *space = &tally->space;

	for (uint32_t i = 0; i < space->data_count; i++) {
		if (!space_has_data(space, choice->shape, space->data[i]))
			continue;
		choice->data = space->data[i];
		choice->micro_batches =
			space_micro_batches(space, choice->shape, choice->data);
		if (!tally_family(tally, choice, OUTLOOK_DATA,
				  space_count_data(space, choice->shape,
						   choice->data)))
			tally_data(tally, choice);
	}
}

void failure_tally(const struct problem *problem, const struct deadline *deadline,
		   uint64_t *removed_by)
{
	struct tally tally = { .problem = problem, .removed_by = removed_by,
			       .deadline = deadline };

	if (!problem->requirement_count)
		return;
	arena_init(&tally.arena);
	space_init(&tally.space, problem, &tally.arena);
	incumbent_init(&tally.incumbent, problem, &tally.arena);
	for (uint32_t i = 0; i < problem->shape_count; i++) {
		struct choice choice = { .shape = i };

		if (!tally_family(&tally, &choice, OUTLOOK_SHAPE,
				  space_count_shape(&tally.space, i)))
			tally_shape(&tally, &choice);
	}
	if (tally.out_of_time)
		memset(removed_by, 0,
		       problem->requirement_count * sizeof(*removed_by));
	arena_release(&tally.arena);
}
