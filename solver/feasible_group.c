/* SPDX-License-Identifier: MIT
 *
 * The independent checker: members of groups, from the text of network.h and
 * shard.h.
 */
#include "solver/feasible_check.h"

#include <math.h>

void feasible_digit_strides(const struct site *site, int d, uint32_t l,
			  uint64_t *from, uint64_t *to)
{
	*from = 1;
	for (int i = 0; i < d; i++)
		*from *= site->degree[i];
	for (uint32_t i = 0; i < l; i++)
		*from *= site->placement->factor[d][i];
	*to = *from * site->placement->factor[d][l];
}

/* Members of an expert group that meet at level l, and the positions there that
 * they stretch over. */
static double expert_members(const struct site *site, enum group group, uint32_t l,
			     double *stretch)
{
	double inner = site->shape->expert_tensor, outer = inner * site->shape->expert;
	double first = group == GROUP_EXPERT_TENSOR ? 1 :
		       group == GROUP_EXPERT ? inner : outer;
	double last = group == GROUP_EXPERT_TENSOR ? inner :
		      group == GROUP_EXPERT ? outer : INFINITY;
	double members = 1, position = 1;

	if (stretch)
		*stretch = 1;
	for (int d = 0; d < DIMENSION_PIPELINE; d++) {
		uint64_t from, to;

		feasible_digit_strides(site, d, l, &from, &to);
		if (fmin((double)to, last) > fmax((double)from, first)) {
			members *= fmin((double)to, last) /
				   fmax((double)from, first);
			if (stretch)
				*stretch = position * fmin((double)to, last) /
					   (double)from;
		}
		position *= site->placement->factor[d][l];
	}
	return members;
}

double feasible_members(const struct site *site, struct group_part part, uint32_t l)
{
	const struct placement *placement = site->placement;

	if (part.counts)
		return part.counts[l];
	if (l < part.first || l >= part.end)
		return 1;
	switch (part.group) {
	case GROUP_TENSOR:
		return placement->factor[DIMENSION_TENSOR][l];
	case GROUP_CONTEXT:
		return placement->factor[DIMENSION_CONTEXT][l];
	case GROUP_DATA_CONTEXT:
		return (double)placement->factor[DIMENSION_DATA][l] *
		       placement->factor[DIMENSION_CONTEXT][l];
	default:
		return expert_members(site, part.group, l, NULL);
	}
}

struct group_part feasible_whole(enum group group)
{
	return (struct group_part){ group, 0, LEVEL_MAX, NULL };
}

struct group_part feasible_all(const struct site *site, enum group group)
{
	(void)site;
	return feasible_whole(group);
}

struct group_part feasible_shard(const struct site *site, enum group group)
{
	uint32_t level = site->choice->shard_level;

	return (struct group_part){ group, 0, level ? level : LEVEL_MAX, NULL };
}

struct group_part feasible_rest(const struct site *site, enum group group)
{
	uint32_t level = site->choice->shard_level;

	return (struct group_part){ group, level ? level : LEVEL_MAX, LEVEL_MAX,
				     NULL };
}

double feasible_size(const struct site *site, struct group_part part)
{
	double members = 1;

	for (uint32_t l = 0; l < site->problem->level_count; l++)
		members *= feasible_members(site, part, l);
	return members;
}

double feasible_apart(const struct site *site, enum group group, uint32_t l)
{
	double stretch;

	if (group >= GROUP_EXPERT)
		return expert_members(site, group, l, &stretch) > 1 ?
			stretch / expert_members(site, group, l, NULL) : 1;
	if (group == GROUP_CONTEXT || group == GROUP_DATA_CONTEXT)
		return site->placement->factor[DIMENSION_TENSOR][l];
	return 1;
}
