/* SPDX-License-Identifier: MIT
 *
 * Raises the lines of a placement's groups and boundaries.
 */
#include "solver/graph_bound.h"

#include <math.h>
#include <string.h>

#include "solver/graph_lines.h"
#include "solver/most.h"
#include "solver/share.h"

/* A child is slow if its uplink is below the widest by more than rounding. */
#define SLOWER (1 - 1e-9)

struct raising {
	const struct problem *problem;
	const struct graph_cuts *cuts;
	const struct problem_shape *shape;
	const struct placement *placement;
	struct arena *arena;
	uint32_t pipeline;
	uint32_t stage[LEVEL_MAX + 1];	/* devices of one pipeline rank in a child, */
	uint32_t ranks[LEVEL_MAX + 1];	/* pipeline ranks there, */
	uint32_t used[LEVEL_MAX + 1];	/* devices used there; last: in all */
	/* Of a slow child. */
	uint32_t level;
	struct graph_uplink uplink;
};

/* Seconds per byte that a group takes at least. */
struct crossing {
	double ring, levels;		/* a reduce-scatter */
	double tree;			/* an all-reduce */
	double direct;			/* all-to-all */
};

/* ---- groups ---- */

/* Of the members of a group: n_l, their product and those below each level. */
struct members {
	const uint32_t *at;
	uint32_t top;			/* the highest level with several */
	double below[LEVEL_MAX + 1];	/* N_l */
	double all;
	bool full;			/* some level with several is full */
};

static struct members members_of(const struct raising *raising,
				 const uint32_t *at)
{
	struct members members = { .at = at, .all = 1 };

	for (uint32_t l = 0; l < raising->problem->level_count; l++) {
		members.below[l] = members.all;
		members.all *= at[l];
		if (at[l] < 2)
			continue;
		members.top = l;
		members.full |= raising->problem->level[l].kind == LEVEL_FULL;
	}
	return members;
}

/* Bytes that a member sends to others at a level, level by level, of one. */
static double sent_at(const struct members *members, uint32_t level)
{
	double n = members->at[level];

	return (n - 1) / n / members->below[level];
}

/* The part of it that goes to one sibling. */
static double sent_to_one(const struct raising *raising,
			  const struct members *members, uint32_t level)
{
	double n = members->at[level];

	if (raising->problem->level[level].kind == LEVEL_FULL)
		return 1 / n / members->below[level];
	return sent_at(members, level) * (n > 2 ? 0.5 : 1);
}

/* Devices whose groups surely share what leaves the slow child. */
static double sharers(const struct raising *raising)
{
	return raising->uplink.lone ? raising->used[raising->level] :
				      raising->stage[raising->level];
}

/* Level by level: out of any child that it leaves, to one sibling, and out of the slow
 * child; the times of the levels add up. */
static double cross_levels(const struct raising *raising,
			   const struct members *members, bool slow)
{
	double sum = 0;

	for (uint32_t l = 0; l < raising->problem->level_count; l++) {
		double each = 0, time;

		if (members->at[l] < 2)
			continue;
		for (uint32_t i = 0; i <= l; i++)
			each = most(each, raising->stage[i] /
					  raising->cuts->widest[i][0].rate_Bps);
		if (slow && l >= raising->level)
			each = most(each, sharers(raising) /
					  raising->uplink.rate_Bps);
		time = each * sent_at(members, l);
		sum += most(time, raising->stage[l] / raising->cuts->pair_Bps[l] *
				  sent_to_one(raising, members, l));
	}
	return sum;
}

/* From a child of each level to one sibling. A copy of the flat ring goes on to
 * the sibling but for the last child of a parent. */
static struct crossing cross_pairs(const struct raising *raising,
				   const struct members *members)
{
	struct crossing crossing = {
		.levels = cross_levels(raising, members, false),
	};
	double n = members->all;

	for (uint32_t l = 0; l < raising->problem->level_count; l++) {
		double pair = raising->cuts->pair_Bps[l], at = members->at[l];
		double groups = raising->stage[l] / members->below[l];

		if (at < 2)
			continue;
		crossing.ring = most(crossing.ring,
				     groups / pair * (n - 1) / n *
					     (l < members->top ? (at - 1) / at / 2 :
					      at > 2 ? 0.5 : 1));
		crossing.direct = most(crossing.direct,
				       raising->stage[l] * members->below[l] /
					       n / pair);
	}
	return crossing;
}

/* Out of the slow child. Of both trees' roots it can be one only, so it sends half. */
static struct crossing cross_slow(const struct raising *raising,
				  const struct members *members)
{
	double inside = members->below[raising->level], n = members->all;
	double each = sharers(raising) / inside / raising->uplink.rate_Bps;

	if (inside == n)
		return (struct crossing){ 0 };
	return (struct crossing){
		.ring = each * (n - 1) / n,
		.levels = cross_levels(raising, members, true),
		.tree = each,
		.direct = each * inside * (n - inside) / n,
	};
}

static void raise_line(struct network_line *line, double s_per_byte)
{
	line->s_per_byte = most(line->s_per_byte, s_per_byte);
}

static void raise_by(struct protocol_lines *lines, const struct crossing *least,
		     const struct members *members)
{
	raise_line(&lines->half[0], least->ring);
	raise_line(&lines->half[1], least->levels);
	raise_line(&lines->all_reduce[0], 2 * least->ring);
	raise_line(&lines->all_reduce[1], 2 * least->levels);
	raise_line(&lines->all_reduce[2],
		   members->full ? 2 * least->ring : least->tree);
	raise_line(&lines->all_reduce[3], 2 * least->levels);
	raise_line(&lines->all_to_all, least->direct);
	raise_line(&lines->broadcast,
		   least->ring * members->all / (members->all - 1));
}

static void raise_group(const struct raising *raising, const uint32_t *at,
			bool slow, struct network_lines *lines)
{
	struct members members = members_of(raising, at);
	double ranks = raising->used[raising->problem->level_count];
	struct crossing least;

	if (lines->alone || members.all < 2)
		return;
	least = slow ? cross_slow(raising, &members) :
		       cross_pairs(raising, &members);
	/* What is not routed takes the time of the levels. */
	if (ranks * (members.all - 1) > GRAPH_DIRECT_MAX)
		least.direct = fmin(least.direct, least.levels);
	raise_by(&lines->by[0], &least, &members);
	raise_by(&lines->by[1], &least, &members);
}

static void raise_shards(const struct raising *raising, enum group group,
			 uint32_t level, bool slow, struct shard_group *to)
{
	struct group_shape whole = network_group(raising->problem,
						 raising->placement,
						 raising->shape, group);
	struct group_shape part = shard_inside(&whole, level);

	raise_group(raising, part.members, slow, &to->inside);
	part = shard_outside(&whole, level);
	if (level)
		raise_group(raising, part.members, slow, &to->outside);
}

static void raise_groups(const struct raising *raising, bool slow,
			 struct placed *placed)
{
	bool experts = share_has_experts(raising->problem);

	for (int i = 0; i < GROUP_COUNT; i++) {
		struct group_shape shape;

		if (i >= GROUP_EXPERT && !experts)
			break;
		shape = network_group(raising->problem, raising->placement,
				      raising->shape, (enum group)i);
		raise_group(raising, shape.members, slow, &placed->group[i]);
	}
	for (uint32_t l = 0; l < LEVEL_MAX; l++) {
		struct sharding *sharding;

		if (!placed->sharding[l])
			continue;
		sharding = ARENA_NEW(raising->arena, struct sharding);
		*sharding = *placed->sharding[l];
		raise_shards(raising, GROUP_DATA_CONTEXT, l, slow,
			     &sharding->parameters);
		if (experts)
			raise_shards(raising, GROUP_EXPERT_DATA, l, slow,
				     &sharding->experts);
		placed->sharding[l] = sharding;
	}
}

/* ---- boundaries ---- */

/* From one child of a level to a sibling: all devices of a rank there, those of one
 * child inside to one inside the other. */
static double transfer_least(const struct raising *raising, uint32_t level)
{
	const struct graph_cuts *cuts = raising->cuts;
	double pair_s = raising->stage[level] / cuts->pair_Bps[level];
	uint32_t inside = level ? raising->stage[level - 1] : 1;

	if (!level)
		return pair_s;
	return most(pair_s, inside * cuts->match_s[level][
				raising->stage[level] / inside - 1]);
}

static void raise_transfers(const struct raising *raising, struct placed *placed)
{
	for (uint32_t l = 0; l < raising->problem->level_count; l++)
		if (raising->placement->factor[DIMENSION_PIPELINE][l] > 1)
			raise_line(&placed->transfer[l],
				   transfer_least(raising, l));
}

/* The boundary after a rank leaves or enters a slow child: its line comes behind those
 * of the levels, one for each level that it may cross. One that stays inside the innermost
 * level keeps its own, as it does not keep an exchange waiting (price.h). */
static void slow_boundary(const struct raising *raising, uint32_t rank,
			  const struct placed *from, struct placed *placed)
{
	uint32_t level = from->boundary_level[rank];
	uint32_t line = raising->problem->level_count + level - raising->level;

	if (!level || line >= LEVEL_MAX)
		return;
	placed->transfer[line] = from->transfer[level];
	raise_line(&placed->transfer[line], raising->stage[raising->level] /
						    raising->uplink.rate_Bps);
	placed->boundary_level[rank] = (uint8_t)line;
}

/* ---- cases ---- */

/* chosen: blocks, rising. */
static void make_case(const struct raising *raising, const struct placed *placed,
		      const struct placed *slow, const uint32_t *chosen,
		      uint32_t blocks, struct graph_case *at)
{
	uint32_t p = raising->pipeline, count = raising->ranks[raising->level];
	uint32_t *first = ARENA_ARRAY(raising->arena, uint32_t, blocks);
	bool *is_slow = ARENA_ARRAY(raising->arena, bool, p);
	uint8_t *boundary = ARENA_ARRAY(raising->arena, uint8_t, p);

	*at = (struct graph_case){
		.first = first,
		.blocks = blocks,
		.count = count,
		.placed = count == p ? *slow : *placed,
		.slow = *slow,
	};
	if (count == p)
		return;
	memcpy(boundary, placed->boundary_level, p * sizeof(*boundary));
	at->placed.boundary_level = boundary;
	at->placed.slow = is_slow;
	at->placed.slow_sharding = at->slow.sharding;
	for (uint32_t i = 0; i < blocks; i++) {
		first[i] = chosen[i] * count;
		for (uint32_t r = 0; r < count; r++)
			is_slow[first[i] + r] = true;
		slow_boundary(raising, (first[i] + p - 1) % p, placed,
			      &at->placed);
		slow_boundary(raising, first[i] + count - 1, placed,
			      &at->placed);
	}
}

/* The next choice of so many out of all; false after the last. */
static bool next_choice(uint32_t *chosen, uint32_t count, uint32_t all)
{
	uint32_t i = count;

	while (i && chosen[i - 1] == all - count + i - 1)
		i--;
	if (!i)
		return false;
	chosen[i - 1]++;
	for (; i < count; i++)
		chosen[i] = chosen[i - 1] + 1;
	return true;
}

static double choices(uint32_t count, uint32_t all)
{
	double product = 1;

	for (uint32_t i = 0; i < count; i++)
		product *= (double)(all - i) / (i + 1);
	return product;
}

/* Blocks that lie in slow children at least: a block has several children, and
 * all its slow ones may be there. */
static uint32_t slow_blocks(const struct raising *raising, uint32_t children,
			    uint32_t blocks)
{
	const struct graph_uplink *widest = raising->cuts->widest[raising->level];
	uint32_t each = children / blocks, slow = 1, least;

	while (slow < children && widest[children - 1 - slow].rate_Bps <=
					  raising->uplink.rate_Bps)
		slow++;
	least = (slow + each - 1) / each;
	return choices(least, blocks) <= GRAPH_CASES_MAX ? least : 1;
}

static void add_cases(struct raising *raising, uint32_t level,
		      struct graph_site *site)
{
	uint32_t levels = raising->problem->level_count;
	uint32_t children = raising->used[levels] / raising->used[level];
	const struct graph_uplink *widest = raising->cuts->widest[level];
	uint32_t all = raising->pipeline / raising->ranks[level], blocks;
	uint32_t *chosen = ARENA_ARRAY(raising->arena, uint32_t, all);
	struct placed slow = site->placed;
	struct graph_case *at;

	if (widest[children - 1].rate_Bps >= widest[0].rate_Bps * SLOWER)
		return;
	raising->level = level;
	raising->uplink = widest[children - 1];
	blocks = slow_blocks(raising, children, all);
	raise_groups(raising, true, &slow);
	for (uint32_t i = 0; i < blocks; i++)
		chosen[i] = i;
	at = ARENA_ARRAY(raising->arena, struct graph_case,
			 (size_t)choices(blocks, all) + 1);
	do
		make_case(raising, &site->placed, &slow, chosen, blocks,
			  &at[site->count[level]++]);
	while (next_choice(chosen, blocks, all));
	site->at[level] = at;
}

static void count_devices(struct raising *raising)
{
	const struct placement *placement = raising->placement;

	raising->stage[0] = raising->ranks[0] = raising->used[0] = 1;
	for (uint32_t l = 0; l < raising->problem->level_count; l++) {
		uint32_t ranks = placement->factor[DIMENSION_PIPELINE][l];
		uint32_t stage = 1;

		for (uint32_t d = 0; d < DIMENSION_PIPELINE; d++)
			stage *= placement->factor[d][l];
		raising->stage[l + 1] = raising->stage[l] * stage;
		raising->ranks[l + 1] = raising->ranks[l] * ranks;
		raising->used[l + 1] = raising->used[l] * stage * ranks;
	}
	raising->pipeline = raising->ranks[raising->problem->level_count];
}

void graph_site(const struct problem *problem, const struct graph_cuts *cuts,
		const struct problem_shape *shape, const struct placed *placed,
		struct arena *arena, struct graph_site *site)
{
	struct raising raising = {
		.problem = problem,
		.cuts = cuts,
		.shape = shape,
		.placement = &site->placed.placement,
		.arena = arena,
	};

	*site = (struct graph_site){ .placed = *placed };
	if (placed->placement.packing != PACKING_FACTORS)
		return;
	count_devices(&raising);
	raise_groups(&raising, false, &site->placed);
	raise_transfers(&raising, &site->placed);
	for (uint32_t l = 0; l < problem->level_count; l++)
		add_cases(&raising, l, site);
}
