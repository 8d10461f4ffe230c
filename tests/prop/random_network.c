/* SPDX-License-Identifier: MIT
 *
 * Random problems: their networks.
 */
#include "tests/prop/random_parts.h"

static void make_fanouts(struct maker *maker)
{
	static const uint32_t any[] = { 1, 2, 2, 2, 3, 4, 4, 5, 6, 7, 8, 16 };
	static const uint32_t power[] = { 1, 2, 2, 4, 8, 16 };
	struct problem *problem = maker->problem;
	uint32_t most = 4 + maker_below(maker, 13);

	if (maker_chance(maker, 0.1))
		most = 1 + maker_below(maker, 3);
	if (maker->roomy || maker->cuts)
		most = 12 + maker_below(maker, 5);
	problem->level_count = maker->shards ? 2 + maker_below(maker, 2) :
					       1 + maker_below(maker, 3);
	problem->device_count = 1;
	for (uint32_t l = 0; l < problem->level_count; l++) {
		uint32_t fanout = maker->dyadic ? maker_pick(maker, power, 6) :
						  maker_pick(maker, any, 12);

		if (l + 1 == problem->level_count && maker_chance(maker, 0.7))
			fanout = maker->dyadic ? 16 : most / problem->device_count;
		while (fanout * problem->device_count > most)
			fanout = maker->dyadic ? fanout / 2 : fanout - 1;
		problem->level[l].fanout = fanout ? fanout : 1;
		problem->device_count *= problem->level[l].fanout;
	}
}

/* Dyadic problems keep to halves: no full levels, tori of two dimensions. */
static void make_level_kind(struct maker *maker, struct problem_level *level,
			    uint32_t l)
{
	if (maker_chance(maker, 0.35))
		level->overhead_s = maker_amount(maker, 0x1p-6);
	if (level->overhead_s > 0 && maker_chance(maker, 0.7)) {
		level->short_efficiency = level->efficiency / 4;
		level->short_overhead_s = level->overhead_s / 4;
	}
	if (maker_chance(maker, 0.2))
		level->nics = maker->dyadic ? 1u << maker_below(maker, 3) :
					      1 + maker_below(maker, 8);
	if (l > 0 && maker_chance(maker, 0.2))
		level->rails = 1 + maker_below(maker, 8);
	if (level->in_network_reduction && maker_chance(maker, 0.5))
		level->reduction_efficiency = maker->dyadic ? 0.25 :
			0.3 + 0.7 * random_unit(&maker->random);
	if (!maker_chance(maker, 0.4))
		return;
	level->in_network_reduction = false;
	level->kind = !maker->dyadic && maker_chance(maker, 0.4) ? LEVEL_FULL :
							     LEVEL_RING;
	if (level->kind == LEVEL_FULL)
		return;
	level->wrap = maker_chance(maker, 0.6);
	if (l > 0 && (!maker->dyadic || l == 1))
		level->joined = level[-1].kind == LEVEL_RING &&
				maker_chance(maker, 0.7);
}

void maker_network(struct maker *maker)
{
	struct problem *problem = maker->problem;
	bool free_latency = maker_chance(maker, 0.2);

	make_fanouts(maker);
	for (uint32_t l = 0; l < problem->level_count; l++) {
		struct problem_level *level = &problem->level[l];

		level->bandwidth_Bps = maker_amount(maker, l == 0 ? 2048 : 512);
		level->latency_s = free_latency ? 0 :
				   maker_amount_or_zero(maker, 0x1p-6, 0.2);
		level->oversubscription = 1;
		if (maker_chance(maker, 0.4))
			level->oversubscription = 1 + (maker->dyadic ?
				maker_pick(maker, (uint32_t[]){ 1, 3, 7 }, 3) :
				5 * random_unit(&maker->random));
		level->efficiency = 1;
		if (maker_chance(maker, 0.4))
			level->efficiency = maker->dyadic ? 0.5 :
				0.3 + 0.7 * random_unit(&maker->random);
		level->in_network_reduction = maker_chance(maker, 0.25);
		make_level_kind(maker, level, l);
	}
}
