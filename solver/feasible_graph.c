/* SPDX-License-Identifier: MIT
 *
 * The independent checker: plans on a graph. Routes and loads are taken from
 * routed.h, which property tests hold against flows over the links; what a plan
 * makes of them is computed here anew.
 */
#include "solver/feasible_check.h"

#include "solver/routed.h"

/* Every device of the hierarchy is one of the graph, and no two the same. */
static bool check_map(struct check *c)
{
	const struct problem *problem = c->problem;
	uint32_t devices = problem->graph->device_count;
	bool *taken = ARENA_ARRAY(c->scratch, bool, devices);

	if (!c->plan->device_map || !c->plan->device) {
		text_append(c->reason, "the plan names no devices of the graph");
		return false;
	}
	for (uint32_t i = 0; i < problem->device_count; i++) {
		uint32_t device = c->plan->device_map[i];

		if (device >= devices || taken[device]) {
			text_printf(c->reason, "place %u of the hierarchy is device "
				    "%u of the graph, which is none or taken", i,
				    device);
			return false;
		}
		taken[device] = true;
	}
	return true;
}

bool feasible_route(struct check *c)
{
	struct routed *routed = ARENA_NEW(c->scratch, struct routed);
	uint32_t pipeline = c->plan->choice.pipeline;

	if (!c->problem->graph)
		return true;
	if (!check_map(c))
		return false;
	routed_plan(c->problem, c->plan, c->scratch, routed);
	c->routed = routed;
	c->routed_site = ARENA_ARRAY(c->scratch, struct site, pipeline);
	for (uint32_t k = 0; k < pipeline; k++) {
		c->routed_site[k] = *c->site;
		c->routed_site[k].routed = &routed->rank[k];
	}
	return true;
}

double feasible_routed_s(const struct site *site, enum collective kind,
			 struct group_part part, double bytes)
{
	const struct routed_rank *rank = site->routed;
	const struct shard_group *shard = part.group == GROUP_EXPERT_DATA ?
		&rank->sharding.experts : &rank->sharding.parameters;

	if (part.first >= LEVEL_MAX)
		return 0;
	if (part.first > 0)
		return network_time(&shard->outside, kind, bytes, NULL);
	if (part.end < LEVEL_MAX)
		return network_time(&shard->inside, kind, bytes, NULL);
	return network_time(&rank->group[part.group], kind, bytes, NULL);
}

double feasible_routed_send_s(const struct check *c, uint32_t rank, double bytes)
{
	const struct network_line *line = &c->routed->boundary[rank];

	return line->latency_s + bytes * line->s_per_byte;
}

double feasible_routed_tied_s(const struct check *c, double bytes)
{
	return c->routed->tied_latency_s + c->routed->tied.latency_s +
	       bytes * c->routed->tied.s_per_byte;
}
