/* SPDX-License-Identifier: MIT
 *
 * Adding up what devices have room for.
 */
#include "solver/fits.h"

#include <math.h>

#include "solver/incumbent.h"
#include "solver/schedule.h"

void fits_init(struct fits *fits, const struct facts *facts,
	       const struct problem *problem, uint32_t shape,
	       const struct share *share, uint32_t micro_batches)
{
	const struct problem_memory *memory = &problem->memory;
	struct holding unit = holding_of(problem_weight_at(problem, shape,
							   facts->deal.kind));

	*fits = (struct fits){
		.facts = facts,
		.allowed = facts->allowed,
		.unit_bytes = share_least_bytes(share, unit),
		.micro_batches = micro_batches,
	};
	for (int r = 0; r < FACTS_COUNT; r++)
		fits->policy[r] = (struct fits_policy){
			.room_bytes = memory->limit_bytes * (1 + TIE) -
				      memory->reserve_bytes -
				      facts->working_least_bytes[r],
			.saved_bytes = facts->unit_saved_bytes[r],
			.saved_less_bytes = facts->unit_saved_bytes[r] -
					    facts->block_saved_bytes[r],
		};
}

/* Whole layers of the frequent kind that a device has room for when it keeps what they
 * save for so many micro-batches. */
static double layers_with(const struct fits *fits, const struct fits_policy *policy,
			  uint32_t kept)
{
	double each = fits->unit_bytes + kept * policy->saved_bytes;

	if (policy->room_bytes < 0)
		return 0;
	return each > 0 ? floor(policy->room_bytes / each * (1 + 1e-9)) : INFINITY;
}

/* Under every schedule device k of p keeps min(p - k, m) micro-batches or more. */
void fits_pipelines(const struct fits *fits, uint32_t pipeline_most, fits_set *sets)
{
	double layers[FACTS_COUNT] = { 0 };
	uint32_t m = fits->micro_batches;

	for (uint32_t p = 1; p <= pipeline_most; p++) {
		sets[p] = 0;
		for (int r = 0; r < FACTS_COUNT; r++) {
			if (!(fits->allowed & 1u << r))
				continue;
			layers[r] += layers_with(fits, &fits->policy[r],
						 p < m ? p : m);
			if (layers[r] >= fits->facts->deal.units)
				sets[p] |= (fits_set)(1u << r);
		}
	}
}

fits_set fits_interleaved(const struct fits *fits, fits_set set, uint32_t pipeline,
			  uint32_t virtual_stages)
{
	const struct facts *facts = fits->facts;
	uint32_t base = facts->blocks / (pipeline * virtual_stages);
	struct schedule_shape schedule = {
		.kind = SCHEDULE_INTERLEAVED,
		.pipeline = pipeline,
		.virtual_stages = virtual_stages,
		.micro_batches = fits->micro_batches,
	};
	double kept = schedule_inner_kept(&schedule);
	/* Each spare layer may be where most micro-batches are kept. */
	double spare = facts->deal.spare * (2.0 * pipeline);

	if (!facts->deal.even)
		return set;
	kept *= base ? base : 1;
	for (int r = 0; r < FACTS_COUNT; r++) {
		const struct fits_policy *policy = &fits->policy[r];
		double bytes = facts->deal.units * fits->unit_bytes +
			       kept * policy->saved_bytes -
			       spare * policy->saved_less_bytes;

		if (bytes > pipeline * policy->room_bytes * (1 + 1e-9))
			set &= (fits_set)~(1u << r);
	}
	return set;
}
