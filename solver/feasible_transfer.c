/* SPDX-License-Identifier: MIT
 *
 * The independent checker: what a level lets through, and transfers between
 * stages.
 */
#include "solver/feasible_check.h"

#include <math.h>

/* A share of a child's links at level l, for each of k senders in it. */
double feasible_links_Bps(const struct site *site, uint32_t l, double senders,
			  double share)
{
	const struct problem_level *level = &site->problem->level[l];
	double links = level->nics > 0 ? level->nics : site->below[l];

	return share * links * level->bandwidth_Bps /
	       level->oversubscription / senders;
}

/* What each gets of that, the efficiency aside. */
double feasible_rate_Bps(const struct site *site, uint32_t l, double senders,
			 double share)
{
	return fmin(site->problem->level[l].bandwidth_Bps,
		    feasible_links_Bps(site, l, senders, share));
}

/* The least rate of the switches below a level, for what all used devices
 * send, or only those of one pipeline rank. */
double feasible_passed_Bps(const struct site *site, uint32_t level, bool one_rank)
{
	const uint32_t *factor = site->placement->factor[DIMENSION_PIPELINE];
	double least_Bps = INFINITY, ranks = 1;

	for (uint32_t l = 0; l < level; l++) {
		double senders = one_rank ? site->used[l] / ranks : site->used[l];

		if (site->problem->level[l].kind == LEVEL_SWITCH)
			least_Bps = fmin(least_Bps, site->problem->level[l].efficiency *
					 feasible_rate_Bps(site, l, senders, 1));
		ranks *= factor[l];
	}
	return least_Bps;
}

/* The outermost level at which two pipeline ranks lie in different children. */
uint32_t feasible_pipeline_level(const struct site *site, uint32_t a, uint32_t b)
{
	const uint32_t *factor = site->placement->factor[DIMENSION_PIPELINE];
	uint32_t highest = 0;

	if (site->device)
		return feasible_linear_level(site, a, b);
	for (uint32_t l = 0; l < site->problem->level_count; l++) {
		if (a % factor[l] != b % factor[l])
			highest = l;
		a /= factor[l];
		b /= factor[l];
	}
	return highest;
}

/* Positions from one pipeline rank to the next at a level. */
static double pipeline_stride(const struct site *site, uint32_t l)
{
	const struct placement *placement = site->placement;

	return (double)placement->factor[DIMENSION_TENSOR][l] *
	       placement->factor[DIMENSION_CONTEXT][l] *
	       placement->factor[DIMENSION_DATA][l];
}

/* How far the next stage's device lies from this one's within their children
 * of the level, in devices, when the boundary crosses it. */
static double border_shift(const struct site *site, uint32_t level)
{
	const uint32_t *factor = site->placement->factor[DIMENSION_PIPELINE];
	double shift = 0;

	for (uint32_t l = 0; l < level; l++)
		shift += (factor[l] - 1.0) * pipeline_stride(site, l) * site->below[l];
	return shift;
}

/* From one pipeline rank to `ahead` ranks further at level l: what each sender
 * gets, and how many children it passes. */
static double border_Bps(const struct site *site, uint32_t l, double ahead,
			 double *hops)
{
	const uint32_t *factor = site->placement->factor[DIMENSION_PIPELINE];
	const struct problem_level *at = &site->problem->level[l];
	double ranks = 1, share = 1, apart = 1;

	*hops = 1;
	for (uint32_t i = 0; i < l; i++)
		ranks *= factor[i];
	if (at->kind == LEVEL_FULL && at->fanout > 1)
		share = 1 / (at->fanout - 1.0);
	if (at->kind == LEVEL_RING) {
		apart = pipeline_stride(site, l);
		*hops = ahead * apart;
		if (at->wrap)
			*hops = fmin(*hops, at->fanout - *hops);
		share = at->wrap && 2 * *hops == at->fanout ? 1 : 0.5;
	}
	return at->efficiency *
	       feasible_rate_Bps(site, l, apart * site->used[l] / ranks, share);
}

struct transfer_line feasible_transfer(const struct site *site, uint32_t level)
{
	const struct problem_level *at = &site->problem->level[level];
	struct transfer_line line;
	double hops, rate_Bps;

	if (site->device)
		return feasible_linear_transfer(site, level);
	rate_Bps = fmin(border_Bps(site, level, 1, &hops),
			feasible_passed_Bps(site, level, true));
	line.latency_s = at->overhead_s + hops * at->latency_s;

	for (uint32_t l = level; l > 0 && site->problem->level[l].joined; l--) {
		const struct problem_level *inner = &site->problem->level[l - 1];
		double ranks = site->placement->factor[DIMENSION_PIPELINE][l - 1];
		double back_Bps = border_Bps(site, l - 1, ranks - 1, &hops);

		if (ranks < 2)
			continue;
		line.latency_s += hops * inner->latency_s;
		rate_Bps = fmin(rate_Bps, back_Bps);
	}
	line.s_per_byte = 1 / rate_Bps;
	if (at->rails > 0 && level > 0 &&
	    fmod(border_shift(site, level), at->rails) != 0) {
		const struct problem_level *inner = at - 1;

		line.latency_s += inner->latency_s;
		line.s_per_byte += 1 / (inner->efficiency *
					inner->bandwidth_Bps);
	}
	return line;
}

uint32_t feasible_border_level(const struct check *c, uint32_t a, uint32_t b)
{
	const struct site *from = feasible_site(c, a), *to = feasible_site(c, b);

	if (from != to && !c->routed)
		return from->problem->level_count - 1;
	return feasible_pipeline_level(from, a - from->first_rank,
				       b - from->first_rank);
}

double feasible_send_s(const struct check *c, uint32_t a, uint32_t b,
		       double bytes)
{
	const struct site *from = feasible_site(c, a), *to = feasible_site(c, b);
	struct transfer_line line;

	if (c->routed)
		return feasible_routed_send_s(c, a, bytes);
	line = feasible_transfer(from, feasible_border_level(c, a, b));
	if (from != to) {
		struct transfer_line other = feasible_transfer(to,
			to->problem->level_count - 1);

		line.latency_s = fmax(line.latency_s, other.latency_s);
		line.s_per_byte = fmax(line.s_per_byte, other.s_per_byte);
	}
	return line.latency_s + bytes * line.s_per_byte;
}
