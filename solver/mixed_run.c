/* SPDX-License-Identifier: MIT
 *
 * What an incumbent of a mixed cluster can be compared with, and when to stop.
 */
#include "solver/mixed_run.h"

#include <math.h>

void mixed_run_blend(struct mixed_run *run, const struct mixed_family *family,
		     const struct mixed_ranks *ranks)
{
	struct problem *blend = &run->blend;
	double price = ranks ? 0 : INFINITY, power = price, pipeline = 0;

	blend->device_count = 0;
	for (uint32_t i = 0; i < family->kind_count; i++) {
		const struct problem *kind = run->problem->kind[family->kind[i]];

		blend->device_count += kind->device_count;
		if (ranks) {
			price += ranks->ranks[i] * kind->device_dollars_per_s;
			power += ranks->ranks[i] * kind->device_watts;
			pipeline += ranks->ranks[i];
			continue;
		}
		if (kind->device_dollars_per_s < price)
			price = kind->device_dollars_per_s;
		if (kind->device_watts < power)
			power = kind->device_watts;
	}
	blend->device_dollars_per_s = ranks ? price / pipeline : price;
	blend->device_watts = ranks ? power / pipeline : power;
}

bool mixed_run_look_ahead(const struct mixed_run *run,
			  const struct outlook *outlook, double *objective)
{
	struct merit merit;

	outlook_merit(run->incumbent, outlook, &merit);
	*objective = merit.objective[0];
	return !incumbent_excludes(run->incumbent, &merit);
}

void mixed_run_give_up(struct mixed_run *run, double objective)
{
	run->result->complete = false;
	if (objective < run->unsettled)
		run->unsettled = objective;
}

void mixed_run_leave(struct mixed_run *run, const struct outlook *outlook)
{
	double objective;

	if (mixed_run_look_ahead(run, outlook, &objective))
		mixed_run_give_up(run, objective);
}

bool mixed_run_must_stop(struct mixed_run *run)
{
	if (!run->stopped && deadline_passed(&run->limits->deadline)) {
		run->stopped = true;
		run->result->certificate.out_of_time = true;
		run->result->complete = false;
	}
	return run->stopped;
}

double mixed_run_time_most(const struct mixed_run *run)
{
	const struct incumbent *incumbent = run->incumbent;

	return incumbent->found && incumbent->time_only ?
		       incumbent->merit.objective[0] * (1 + 2 * TIE) : INFINITY;
}
