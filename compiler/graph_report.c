/* SPDX-License-Identifier: MIT
 *
 * Nodes are named, not devices: "host[3]" stands for all devices of that node
 * which a stage has.
 */
#include "compiler/graph_report.h"

#include <string.h>

#include "compiler/describe.h"
#include "compiler/ranks.h"
#include "lang/base/vec.h"
#include "lang/compilation.h"

/* Nodes that are named before the rest is only counted. */
#define NAMED_MAX 6

/* Nodes in the order in which they are met. */
struct node_list {
	const struct ir_graph *graph;
	struct intern *intern;
	VEC(const char *) name;
	struct arena *arena;
};

/* "host[3]" of "host[3]/gpu5". */
static const char *node_name(const struct node_list *list, uint32_t device)
{
	const char *name = list->graph->device_name[device];
	const char *slash = strchr(name, '/');

	return intern_bytes(list->intern, name,
			    slash ? (size_t)(slash - name) : strlen(name));
}

static void add_node(struct node_list *list, uint32_t device)
{
	const char *name = node_name(list, device);

	for (size_t i = list->name.count; i-- > 0;)
		if (list->name.at[i] == name)
			return;
	VEC_PUSH(&list->name, list->arena, name);
}

static void print_nodes(const struct node_list *list, struct text *out)
{
	size_t count = list->name.count;

	for (size_t i = 0; i < count && i < NAMED_MAX; i++)
		text_printf(out, "%s%s", i ? ", " : "", list->name.at[i]);
	if (count > NAMED_MAX) {
		text_append(out, " and ");
		describe_count(count - NAMED_MAX, out);
		text_append(out, " more");
	}
	text_append_char(out, '\n');
}

void graph_report_time(const struct ir_graph *graph, const struct plan *plan,
		       struct text *out)
{
	text_append(out, "Network   routed over the ");
	describe_count(graph->link_items, out);
	text_append(out, " links of the graph; ");
	describe_seconds(plan->hierarchy_s, out);
	text_append(out, " on the hierarchy they imply\n");
}

void graph_report_stages(struct compilation *compilation,
			 const struct ir_topology *topology,
			 const struct plan *plan, struct text *out)
{
	const struct ir_graph *graph = topology->graph;
	uint32_t devices = graph->graph.device_count;
	uint32_t ranks = plan->devices / plan->choice.pipeline;
	struct arena *arena = &compilation->arena;
	bool *used = ARENA_ARRAY(arena, bool, devices);
	struct node_list list = {
		.graph = graph, .intern = &compilation->intern, .arena = arena,
	};

	for (uint32_t i = 0; i < plan->devices; i++) {
		uint32_t device = physical_device(plan, plan->device[i]);

		used[device] = true;
		add_node(&list, device);
		if ((i + 1) % ranks)
			continue;
		text_printf(out, "  stage %-4u", i / ranks);
		print_nodes(&list, out);
		list.name.count = 0;
	}
	if (plan->devices == devices)
		return;
	for (uint32_t d = 0; d < devices; d++)
		if (!used[d])
			add_node(&list, d);
	text_append(out, "  idle      ");
	print_nodes(&list, out);
}

void graph_report_proof(const struct plan *plan, struct text *out)
{
	const struct certificate *certificate = &plan->certificate;

	text_append(out, "          proved on the hierarchy that the links imply, "
			 "where no plan is slower");
	if (certificate->linked) {
		text_append(out, ";\n          cuts through the links bound the ");
		describe_count(certificate->linked, out);
		text_append(out, certificate->linked == 1 ?
				 " placement that this leaves" :
				 " placements that this leaves");
	}
	text_append(out, ";\n          ");
	describe_count(certificate->routed, out);
	text_append(out, certificate->routed == 1 ?
			 " plan priced on the links\n" :
			 " plans priced on the links\n");
}
