/* SPDX-License-Identifier: MIT
 *
 * The independent checker: groups and transfers of a linear placement, counted
 * out over the devices of the ranks, from the text of linear.h.
 */
#include "solver/feasible_check.h"

#include <math.h>
#include <stdlib.h>

static uint32_t rank_count(const struct site *site)
{
	return site->degree[DIMENSION_TENSOR] * site->degree[DIMENSION_CONTEXT] *
	       site->degree[DIMENSION_DATA] * site->degree[DIMENSION_PIPELINE];
}

/* ---- groups ---- */

/* The instance of a group that a rank is in, and how many members it has. */
static uint32_t instance_of(const struct site *site, enum group group,
			    uint32_t rank, uint32_t *members)
{
	uint32_t t = site->degree[DIMENSION_TENSOR];
	uint32_t c = site->degree[DIMENSION_CONTEXT];
	uint32_t d = site->degree[DIMENSION_DATA];
	uint32_t x = site->shape->expert_tensor, e = site->shape->expert;
	uint32_t r = rank % (t * c * d), stage = rank / (t * c * d);

	switch (group) {
	case GROUP_TENSOR:
		*members = t;
		return rank / t;
	case GROUP_CONTEXT:
		*members = c;
		return rank % t + t * (rank / (t * c));
	case GROUP_DATA_CONTEXT:
		*members = c * d;
		return rank % t + t * stage;
	case GROUP_EXPERT_TENSOR:
		*members = x;
		return r / x + stage * (t * c * d / x);
	case GROUP_EXPERT:
		*members = e;
		return r % x + x * (r / (x * e) + stage * (t * c * d / (x * e)));
	default:
		*members = t * c * d / (x * e);
		return r % (x * e) + x * e * stage;
	}
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The ranks of an instance in one child of a level. */
struct clump {
	uint32_t child;
	double members;			/* m */
	double copies;			/* f */
};

/* What all instances together do at one level. */
struct use {
	bool crossed;
	double children_most;		/* c_l */
	double copies_least;		/* N_l */
	double held_least, held_most;	/* M_l: of children that hold some */
	double sent_most;		/* largest (n - m)/n of those that leave */
	double *leaving;		/* by child: instances that leave it */
	double *exchanged;		/* by child: the sum of an all-to-all */
};

struct uses {
	double members;			/* n */
	double around_s;
	struct use level[LEVEL_MAX];
};

static struct uses uses_start(const struct site *site, uint32_t members)
{
	struct uses uses = { .members = members };
	uint64_t children = site->problem->device_count;

	for (uint32_t l = 0; l < site->problem->level_count; l++) {
		uses.level[l].copies_least = uses.level[l].held_least = INFINITY;
		uses.level[l].leaving = ARENA_ARRAY(site->scratch, double, children);
		uses.level[l].exchanged = ARENA_ARRAY(site->scratch, double,
						      children);
		children /= site->problem->level[l].fanout;
	}
	return uses;
}

/* One clump among those in the same child of the next level, the fullest other
 * one of which has `beside` members. */
static void use_child(struct uses *uses, const struct problem_level *level,
		      struct use *use, const struct clump *clump, double beside)
{
	double n = uses->members, m = clump->members;

	use->held_least = fmin(use->held_least, m);
	use->held_most = fmax(use->held_most, m);
	if (m >= n)
		return;
	use->leaving[clump->child]++;
	use->copies_least = fmin(use->copies_least, clump->copies);
	use->sent_most = fmax(use->sent_most, (n - m) / n);
	use->exchanged[clump->child] += level->kind == LEVEL_FULL ?
		m * beside / n : m * (n - m) / n;
}

static double fullest_but(const struct clump *clump, uint32_t count, uint32_t i)
{
	double most = 0;

	for (uint32_t j = 0; j < count; j++)
		if (j != i)
			most = fmax(most, clump[j].members);
	return most;
}

/* The clumps of one instance in the children of level l become those of the next
 * level; returns how many, and counts its hops. */
static uint32_t use_level(const struct site *site, struct uses *uses, uint32_t l,
			  struct clump *clump, uint32_t count, double *hops_s,
			  double *least_s, double *top_s)
{
	const struct problem_level *level = &site->problem->level[l];
	struct use *use = &uses->level[l];
	uint32_t next = 0;

	for (uint32_t i = 0, q; i < count; i += q) {
		struct clump outer = {
			.child = clump[i].child / level->fanout,
			.copies = INFINITY,
		};

		for (q = 0; i + q < count &&
		     clump[i + q].child / level->fanout == outer.child; q++) {
			outer.members += clump[i + q].members;
			outer.copies = fmin(outer.copies, clump[i + q].copies);
		}
		outer.copies *= q;
		for (uint32_t j = 0; j < q; j++)
			use_child(uses, level, use, &clump[i + j],
				  fullest_but(clump + i, q, j));
		use->children_most = fmax(use->children_most, q);
		if (q > 1) {
			use->crossed = true;
			*hops_s += (q - 1) * level->latency_s;
			*least_s = fmin(*least_s, level->latency_s);
			*top_s = level->latency_s;
		}
		clump[next++] = outer;
	}
	return next;
}

static void use_instance(const struct site *site, struct uses *uses,
			 uint32_t *device, struct clump *clump)
{
	uint32_t count = (uint32_t)uses->members;
	double hops_s = 0, least_s = INFINITY, top_s = 0;

	qsort(device, count, sizeof(*device), by_number);
	for (uint32_t i = 0; i < count; i++)
		clump[i] = (struct clump){ device[i], 1, 1 };
	for (uint32_t l = 0; l < site->problem->level_count; l++)
		count = use_level(site, uses, l, clump, count, &hops_s, &least_s,
				  &top_s);
	uses->around_s = fmax(uses->around_s, hops_s + top_s - least_s);
}

static struct uses use_group(const struct site *site, enum group group)
{
	uint32_t ranks = rank_count(site), members;
	uint32_t *device, *filled;
	struct clump *clump;
	struct uses uses;

	instance_of(site, group, 0, &members);
	uses = uses_start(site, members);
	device = ARENA_ARRAY(site->scratch, uint32_t, ranks);
	filled = ARENA_ARRAY(site->scratch, uint32_t, ranks / members);
	clump = ARENA_ARRAY(site->scratch, struct clump, members);
	for (uint32_t rank = 0; rank < ranks; rank++) {
		uint32_t instance = instance_of(site, group, rank, &members);

		device[instance * members + filled[instance]++] =
			site->device[rank];
	}
	for (uint32_t i = 0; i < ranks / members; i++)
		use_instance(site, &uses, device + i * members, clump);
	return uses;
}

/* ---- lines ---- */

struct loads {
	double around_spb, exchange_spb, exchange_s, overhead_s;
};

static void load_level(const struct site *site, const struct uses *uses,
		       uint32_t l, struct loads *loads)
{
	const struct problem_level *level = &site->problem->level[l];
	const struct use *use = &uses->level[l];
	double port_Bps = level->efficiency * level->bandwidth_Bps;
	double link_Bps = level->efficiency * feasible_links_Bps(site, l, 1, 1);
	double leaving = 0, exchanged = 0;

	if (level->kind == LEVEL_FULL && !use->crossed)
		return;
	if (level->kind == LEVEL_FULL)
		link_Bps /= level->fanout - 1.0;
	for (uint32_t i = 0; i < site->problem->device_count / site->below[l]; i++) {
		leaving = fmax(leaving, use->leaving[i]);
		exchanged = fmax(exchanged, use->exchanged[i]);
	}
	loads->around_spb = fmax(loads->around_spb, fmax(
		1 / (use->copies_least * port_Bps), leaving / link_Bps));
	loads->exchange_spb = fmax(loads->exchange_spb, fmax(
		use->sent_most / port_Bps, exchanged / link_Bps));
	if (!use->crossed)
		return;
	loads->exchange_s += level->latency_s *
		(level->kind == LEVEL_FULL ? 1 : use->children_most - 1);
	if (l > 0 && level->rails > 0)
		loads->exchange_s += level[-1].latency_s;
	loads->overhead_s = fmax(loads->overhead_s, level->overhead_s);
}

static double uneven_s(const struct site *site, const struct uses *uses,
		       enum collective kind, double bytes)
{
	struct loads loads = { 0 };
	double n = uses->members, half_s;
	uint32_t top = 0;

	for (uint32_t l = 0; l < site->problem->level_count; l++)
		if (uses->level[l].crossed)
			top = l;
	for (uint32_t l = 0; l <= top; l++)
		load_level(site, uses, l, &loads);
	half_s = (n - 1) / n * bytes * loads.around_spb + uses->around_s;
	switch (kind) {
	case COLLECTIVE_ALL_REDUCE:
		return 2 * half_s + loads.overhead_s;
	case COLLECTIVE_ALL_TO_ALL:
		return bytes * loads.exchange_spb + loads.exchange_s +
		       loads.overhead_s;
	case COLLECTIVE_BROADCAST:
		return bytes * loads.around_spb + uses->around_s +
		       loads.overhead_s;
	default:
		return half_s + loads.overhead_s;
	}
}

/* Members below each level if all instances hold equally many everywhere. */
static bool is_even(const struct site *site, const struct uses *uses,
		    double *members)
{
	for (uint32_t l = 0; l < site->problem->level_count; l++) {
		const struct use *use = &uses->level[l];
		double above = l + 1 < site->problem->level_count ?
			use[1].held_most : uses->members;

		if (use->held_least != use->held_most)
			return false;
		members[l] = above / use->held_most;
	}
	return true;
}

double feasible_linear_s(const struct site *site, enum collective kind,
			 struct group_part part, double bytes)
{
	struct arena_mark mark = arena_mark(site->scratch);
	double members[LEVEL_MAX], best_s;
	bool crossed[LEVEL_MAX] = { false };
	struct problem shorter;
	struct site by_short = *site;
	struct uses uses;
	uint32_t size;

	instance_of(site, part.group, 0, &size);
	/* Shards are whole groups here, and the rest is nobody. */
	if (size < 2 || bytes == 0 || part.first > 0)
		return 0;
	uses = use_group(site, part.group);
	if (is_even(site, &uses, members)) {
		part.counts = members;
		best_s = feasible_collective_s(site, kind, part, bytes);
	} else {
		best_s = uneven_s(site, &uses, kind, bytes);
		for (uint32_t l = 0; l < LEVEL_MAX; l++)
			crossed[l] = uses.level[l].crossed;
		by_short.problem = &shorter;
		if (feasible_shorten(site->problem, crossed, &shorter))
			best_s = fmin(best_s, uneven_s(&by_short, &uses, kind,
						       bytes));
	}
	arena_rewind(site->scratch, mark);
	return best_s;
}

/* ---- transfers ---- */

/* Devices of one pipeline rank. */
static uint32_t stage_ranks(const struct site *site)
{
	return rank_count(site) / site->degree[DIMENSION_PIPELINE];
}

/* Counts the transfers from one pipeline rank to another: those that leave each
 * child of each level. */
static void count_border(const struct site *site, uint32_t from, uint32_t to,
			 uint32_t *const *leaving)
{
	uint32_t width = stage_ranks(site);

	for (uint32_t i = 0; i < width; i++) {
		uint32_t a = site->device[from * width + i];
		uint32_t b = site->device[to * width + i];

		for (uint32_t l = 0; l < site->problem->level_count && a != b; l++) {
			const struct problem_level *level =
				&site->problem->level[l];
			uint32_t child = (uint32_t)site->below[l];

			leaving[l][a]++;
			if (a / level->fanout == b / level->fanout)
				site->border[l].crossed = true;
			if (level->rails > 0 &&
			    a / level->fanout == b / level->fanout &&
			    site->device[from * width + i] % child % level->rails !=
			    site->device[to * width + i] % child % level->rails)
				site->border[l].changes_rail = true;
			a /= level->fanout;
			b /= level->fanout;
		}
	}
}

static void take_most(const struct site *site, uint32_t **leaving)
{
	for (uint32_t l = 0; l < site->problem->level_count; l++) {
		uint32_t children = (uint32_t)(site->problem->device_count /
					       site->below[l]);

		for (uint32_t i = 0; i < children; i++) {
			site->border[l].leaving = fmax(site->border[l].leaving,
						       leaving[l][i]);
			leaving[l][i] = 0;
		}
	}
}

void feasible_linear_borders(struct site *site)
{
	uint32_t ranks = site->degree[DIMENSION_PIPELINE];
	uint32_t *leaving[LEVEL_MAX];

	site->border = ARENA_ARRAY(site->scratch, struct linear_border,
				   site->problem->level_count);
	for (uint32_t l = 0; l < site->problem->level_count; l++) {
		site->border[l].leaving = 1;
		leaving[l] = ARENA_ARRAY(site->scratch, uint32_t,
					 site->problem->device_count);
	}
	for (uint32_t r = 0; r + 1 < ranks; r++)
		count_border(site, r, r + 1, leaving);
	take_most(site, leaving);
	if (ranks > 1)
		count_border(site, ranks - 1, 0, leaving);
	take_most(site, leaving);
}

uint32_t feasible_linear_level(const struct site *site, uint32_t a, uint32_t b)
{
	uint32_t width = stage_ranks(site), highest = 0;

	for (uint32_t i = 0; i < width && a != b; i++) {
		uint32_t from = site->device[a * width + i];
		uint32_t to = site->device[b * width + i];

		for (uint32_t l = 0; from != to; l++) {
			highest = l > highest ? l : highest;
			from /= site->problem->level[l].fanout;
			to /= site->problem->level[l].fanout;
		}
	}
	return highest;
}

/* The line of transfers whose highest level this is. */
static struct transfer_line own_transfer(const struct site *site, uint32_t level)
{
	const struct problem_level *at = &site->problem->level[level];
	double share = at->kind == LEVEL_FULL ? 1 / (at->fanout - 1.0) : 1;
	struct transfer_line line = {
		.latency_s = at->overhead_s + at->latency_s,
	};
	double rate_Bps = at->efficiency * feasible_rate_Bps(site, level,
		site->border[level].leaving, share);

	for (uint32_t l = 0; l < level; l++)
		if (site->problem->level[l].kind == LEVEL_SWITCH)
			rate_Bps = fmin(rate_Bps,
				site->problem->level[l].efficiency *
				feasible_rate_Bps(site, l,
						  site->border[l].leaving, 1));
	line.s_per_byte = 1 / rate_Bps;
	if (level > 0 && site->border[level].changes_rail) {
		line.latency_s += at[-1].latency_s;
		line.s_per_byte += 1 / (at[-1].efficiency *
					at[-1].bandwidth_Bps);
	}
	return line;
}

struct transfer_line feasible_linear_transfer(const struct site *site,
					      uint32_t level)
{
	struct transfer_line line = own_transfer(site, level);

	for (uint32_t l = 0; l < level; l++) {
		struct transfer_line lower = own_transfer(site, l);

		if (!site->border[l].crossed)
			continue;
		line.latency_s = fmax(line.latency_s, lower.latency_s);
		line.s_per_byte = fmax(line.s_per_byte, lower.s_per_byte);
	}
	return line;
}
