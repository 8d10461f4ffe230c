/* SPDX-License-Identifier: MIT
 *
 * Plans by the devices they lie on.
 */
#include "compiler/site.h"

#include "compiler/describe.h"

struct sites plan_sites(const struct ir *ir, const struct problem *problem,
			const struct plan *plan)
{
	struct sites sites = { .count = plan->segment_count };
	uint32_t first = 0;

	if (!sites.count) {
		sites.count = 1;
		sites.at[0] = (struct site){ .ir = ir, .problem = problem,
					     .ranks = plan->choice.pipeline,
					     .plan = *plan };
		return sites;
	}
	for (uint32_t i = 0; i < sites.count; i++) {
		const struct segment *segment = &plan->segment[i];
		const struct ir_kind *kind = &ir->topology.kind[segment->kind];

		sites.at[i] = (struct site){
			.ir = kind->only,
			.problem = problem->kind[segment->kind],
			.kind = kind,
			.first = first,
			.ranks = segment->ranks,
			.plan = *plan,
		};
		sites.at[i].plan.segment_count = 0;
		sites.at[i].plan.placement = segment->placement;
		first += segment->ranks;
	}
	return sites;
}

const struct site *site_of_stage(const struct sites *sites, uint32_t stage)
{
	const struct site *site = sites->at;

	while (stage >= site->first + site->ranks)
		site++;
	return site;
}

uint32_t cluster_devices(const struct ir_topology *topology)
{
	return topology->cluster_devices ? topology->cluster_devices :
					   topology->device_count;
}

void cluster_describe(const struct ir_topology *topology, struct text *out)
{
	if (!topology->kind_count) {
		describe_count(topology->device_count, out);
		text_printf(out, " x %s", topology->device.name);
	}
	for (uint32_t k = 0; k < topology->kind_count; k++) {
		text_append(out, k ? " + " : "");
		cluster_describe(&topology->kind[k].only->topology, out);
	}
}

/* Children of the outermost level that a site's ranks are in. */
static uint32_t children_used(const struct site *site)
{
	uint32_t top = site->ir->topology.level_count - 1, used = 1;
	const struct placement *placement = &site->plan.placement;

	if (placement->packing != PACKING_FACTORS) {
		uint32_t child = site->ir->topology.device_count /
				 site->ir->topology.level[top].network.fanout;
		uint32_t children = (site->plan.devices + child - 1) / child;

		return children;
	}
	for (uint32_t d = 0; d < DIMENSION_COUNT; d++)
		used *= placement->factor[d][top];
	return used;
}

void sites_describe(const struct sites *sites, struct text *out)
{
	for (uint32_t i = 0; i < sites->count; i++) {
		const struct site *site = &sites->at[i];

		if (!site->kind)
			continue;
		text_append(out, i ? ", " : "");
		describe_count(children_used(site), out);
		text_append(out, " of ");
		describe_count(site->kind->count, out);
		text_printf(out, " %s", site->kind->name);
	}
}

/* Of a cluster whose devices all count as the slowest: the mean over its children,
 * which have equally many of the devices that count. */
static double mean_peak(const struct ir *ir)
{
	const struct ir_topology *topology = &ir->topology;
	double sum = 0, children = 0;

	if (!topology->kind_count)
		return topology->device.peak_flops[ir->job.precision];
	for (uint32_t k = 0; k < topology->kind_count; k++) {
		const struct ir_kind *kind = &topology->kind[k];

		sum += kind->count * mean_peak(kind->only);
		children += kind->count;
	}
	return sum / children;
}

double sites_peak_flops(const struct sites *sites)
{
	double sum = 0, ranks = 0;

	for (uint32_t i = 0; i < sites->count; i++) {
		sum += sites->at[i].ranks * mean_peak(sites->at[i].ir);
		ranks += sites->at[i].ranks;
	}
	return sum / ranks;
}

uint32_t cluster_node(const struct ir_topology *topology, uint32_t device)
{
	uint32_t nodes = 0;

	for (uint32_t k = 0; k < topology->kind_count; k++) {
		const struct ir_topology *kind =
			&topology->kind[k].only->topology;
		uint32_t fanout = kind->level[0].network.fanout;

		if (device < kind->device_count)
			return nodes + device / fanout;
		device -= kind->device_count;
		nodes += kind->device_count / fanout;
	}
	return nodes + device / topology->level[0].network.fanout;
}
