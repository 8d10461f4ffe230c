/* SPDX-License-Identifier: MIT
 *
 * The summary's placement: which level each degree lies in, and over which devices.
 */
#include "compiler/emit_summary.h"

#include "compiler/describe.h"
#include "compiler/graph_report.h"
#include "compiler/node_order.h"
#include "compiler/ranks.h"
#include "compiler/spread.h"
#include "lang/compilation.h"

static void print_dimension(struct summary *summary, const struct site *site,
			    enum dimension dimension, const char *name)
{
	struct arena *arena = &summary->input->compilation->arena;
	struct text text;

	text_init(&text, arena);
	spread_describe(&site->ir->topology, &site->plan.placement, dimension,
			&text);
	if (text.length)
		text_printf(summary->out, "  %-10s%s\n", name, text.at);
}

/* Dimensions in the order of a linear placement. */
static const enum dimension linear_order[PACKING_COUNT][DIMENSION_COUNT] = {
	[PACKING_DATA_PIPELINE] = { DIMENSION_TENSOR, DIMENSION_CONTEXT,
				    DIMENSION_DATA, DIMENSION_PIPELINE },
	[PACKING_PIPELINE_DATA] = { DIMENSION_TENSOR, DIMENSION_CONTEXT,
				    DIMENSION_PIPELINE, DIMENSION_DATA },
};

static const char *const dimension_words[DIMENSION_COUNT] = {
	[DIMENSION_TENSOR] = "tensor",
	[DIMENSION_CONTEXT] = "context",
	[DIMENSION_DATA] = "data",
	[DIMENSION_PIPELINE] = "pipeline",
};

/* The level whose groups have room for so many devices, or NULL when only the
 * whole cluster has, or none is needed. */
static const char *level_for(const struct ir_topology *topology, uint64_t devices)
{
	uint64_t below = 1;

	for (uint32_t l = 0; devices > 1 && l + 1 < topology->level_count; l++) {
		below *= topology->level[l].network.fanout;
		if (below >= devices)
			return topology->level[l].name;
	}
	return NULL;
}

/* Blocks that a border does not cut. */
static void print_whole(struct summary *summary, const struct site *site)
{
	const struct placement *placement = &site->plan.placement;
	struct text *out = summary->out;
	uint64_t block = 1;
	bool any = false;

	for (uint32_t i = 0; i < placement->aligned; i++) {
		enum dimension last = linear_order[placement->packing][i];
		const char *level;
		bool first = true;

		block *= placement->factor[last][0];
		level = level_for(&site->ir->topology, block);
		if (placement->factor[last][0] == 1 || !level)
			continue;
		text_append(out, any ? ", " : "  whole     ");
		any = true;
		for (uint32_t j = 0; j <= i; j++) {
			enum dimension at = linear_order[placement->packing][j];

			if (placement->factor[at][0] == 1)
				continue;
			text_printf(out, "%s%s", first ? "" : " x ",
				    dimension_words[at]);
			first = false;
		}
		text_printf(out, " within a %s", level);
	}
	if (any)
		text_append_char(out, '\n');
}

/* The order, and the blocks that are kept whole. */
static void print_linear(struct summary *summary, const struct site *site)
{
	const struct placement *placement = &site->plan.placement;
	struct text *out = summary->out;
	bool any = false;

	text_append(out, "  linear    in the order of the devices:");
	for (int i = 0; i < DIMENSION_COUNT; i++) {
		enum dimension at = linear_order[placement->packing][i];

		if (placement->factor[at][0] == 1)
			continue;
		text_printf(out, "%s %u %s", any ? "," : "",
			    placement->factor[at][0], dimension_words[at]);
		any = true;
	}
	text_append_char(out, '\n');
	print_whole(summary, site);
}

static void print_avoided(struct summary *summary)
{
	const struct problem *problem = summary->input->problem;

	if (problem->avoided_count)
		text_printf(summary->out, "  avoided   %u devices\n",
			    problem->avoided_count);
}

static void print_site(struct summary *summary, const struct site *site)
{
	struct text *out = summary->out;

	if (site->kind) {
		text_printf(out, "  %-10s", "stages");
		if (site->ranks > 1)
			text_printf(out, "%u to %u", site->first,
				    site->first + site->ranks - 1);
		else
			text_printf(out, "%u", site->first);
		text_printf(out, " on %s\n", site->kind->name);
	}
	if (site->plan.placement.packing != PACKING_FACTORS) {
		print_linear(summary, site);
		return;
	}
	print_dimension(summary, site, DIMENSION_TENSOR, "tensor");
	print_dimension(summary, site, DIMENSION_CONTEXT, "context");
	print_dimension(summary, site, DIMENSION_DATA, "data");
	print_dimension(summary, site, DIMENSION_PIPELINE, "pipeline");
}

/* Where the ranks of an order run. */
static const char *rank_words(struct summary *summary, enum rank_order order,
			      enum rank_match match)
{
	const struct emit_input *input = summary->input;
	struct node_order nodes;

	if (match == RANK_MATCH_SAME)
		return "rank r on device r";
	if (match == RANK_MATCH_ASCENDING)
		return "on the devices used, in their order";
	nodes = node_order_read(&input->ir->topology, input->problem,
				summary->plan, order, &input->compilation->arena);
	return nodes.is_whole && nodes.ranks > 1 ?
		       "node by node, in the NODE_ORDER of --emit=megatron" :
		       "by the table in the manifest";
}

void summary_placement(struct summary *summary)
{
	enum rank_match match;
	enum rank_order order = rank_order_choose(summary->input->problem,
						  summary->plan, &match);
	struct text *out = summary->out;

	if (summary->plan->devices == 1)
		return;
	text_append(out, "\nPlacement\n");
	for (uint32_t i = 0; i < summary->sites.count; i++)
		print_site(summary, &summary->sites.at[i]);
	print_avoided(summary);
	if (summary->input->ir->topology.graph)
		graph_report_stages(summary->input->compilation,
				    &summary->input->ir->topology,
				    summary->plan, out);
	text_printf(out, "  %-10s%s order, %s\n", "ranks",
		    rank_order_name(order), rank_words(summary, order, match));
}
