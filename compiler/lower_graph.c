/* SPDX-License-Identifier: MIT
 *
 * A topology that is a graph: what was read becomes one-way links between
 * vertices, with a vertex for every device, and the hierarchy that these imply
 * becomes the levels.
 */

#include "compiler/lower.h"
#include "lang/network_graph.h"
#include "solver/graph_hierarchy.h"

struct graph_lowering {
	struct lower *lower;
	const struct network_graph *read;
	const struct record *record;
	struct ir_graph *made;
	struct graph_link *link;
	uint32_t link_count;
	struct scope *families;		/* binding.index: number */
	uint32_t family_count;
};

/* ---- links ---- */

/* Links between vertices of the same names, indices aside, are one family. */
static uint32_t family_of(struct graph_lowering *lowering, const char *from,
			  const char *to)
{
	const char *name = intern_string(
		&lowering->lower->compilation->intern,
		arena_printf(lowering->lower->arena, "%s>%s", from, to));
	struct binding *binding = scope_find_here(lowering->families, name);

	if (!binding) {
		binding = scope_add(lowering->families, name);
		binding->index = lowering->family_count++;
	}
	return binding->index;
}

static void push_link(struct graph_lowering *lowering, uint32_t from,
		      uint32_t to, const struct graph_wire *wire,
		      uint32_t family)
{
	lowering->link[lowering->link_count++] = (struct graph_link){
		.from = from,
		.to = to,
		.count = wire->count,
		.rate_Bps = wire->bandwidth_Bps * wire->efficiency * wire->count,
		.latency_s = wire->latency_s,
		.overhead_s = wire->overhead_s,
		.short_rate_Bps = wire->bandwidth_Bps * wire->short_efficiency *
				  wire->count,
		.short_overhead_s = wire->short_overhead_s,
		.family = family,
	};
}

static void push_links(struct graph_lowering *lowering)
{
	const struct network_graph *read = lowering->read;

	for (uint32_t i = 0; i < read->link_count; i++) {
		const struct graph_link_item *item = &read->link[i];
		const char *a = read->vertex[item->from].family;
		const char *b = read->vertex[item->to].family;

		push_link(lowering, item->from, item->to, &item->wire,
			  family_of(lowering, a, b));
		if (!item->one_way)
			push_link(lowering, item->to, item->from, &item->wire,
				  family_of(lowering, b, a));
	}
}

/* ---- devices ---- */

/* The devices of a node with an inside get vertices of their own behind those
 * of the spec. */
static void push_devices(struct graph_lowering *lowering)
{
	const struct network_graph *read = lowering->read;
	struct graph *graph = &lowering->made->graph;
	struct arena *arena = lowering->lower->arena;
	uint32_t devices = 0;

	for (uint32_t v = 0; v < read->vertex_count; v++) {
		const struct graph_vertex *vertex = &read->vertex[v];
		const char *inner = arena_printf(arena, "%s/gpu", vertex->family);
		uint32_t out, in;

		if (!vertex->has_inside) {
			if (!vertex->devices)
				continue;
			lowering->made->device_name[devices] = vertex->name;
			graph->device[devices++].vertex = v;
			continue;
		}
		out = family_of(lowering, inner, vertex->family);
		in = family_of(lowering, vertex->family, inner);
		for (uint32_t i = 0; i < vertex->devices; i++) {
			uint32_t own = graph->vertex_count++;

			lowering->made->vertex_name[own] =
				lowering->made->device_name[devices] =
				arena_printf(arena, "%s/gpu%u", vertex->name, i);
			lowering->made->family[own] = inner;
			graph->device[devices++].vertex = own;
			push_link(lowering, own, v, &vertex->inside, out);
			push_link(lowering, v, own, &vertex->inside, in);
			lowering->link[lowering->link_count - 1].inner =
				lowering->link[lowering->link_count - 2].inner =
				true;
		}
	}
}

static void make_graph(struct graph_lowering *lowering)
{
	const struct network_graph *read = lowering->read;
	struct ir_graph *made = lowering->made;
	struct arena *arena = lowering->lower->arena;
	uint32_t vertices = read->vertex_count + read->device_count;
	uint32_t links = 2 * (read->link_count + read->device_count);

	lowering->link = ARENA_ARRAY(arena, struct graph_link, links + 1);
	lowering->families = scope_new(arena, NULL);
	made->vertex_name = ARENA_ARRAY(arena, const char *, vertices + 1);
	made->family = ARENA_ARRAY(arena, const char *, vertices + 1);
	made->device_name = ARENA_ARRAY(arena, const char *,
					read->device_count + 1);
	made->graph.device = ARENA_ARRAY(arena, struct graph_device,
					 read->device_count + 1);
	for (uint32_t v = 0; v < read->vertex_count; v++) {
		made->vertex_name[v] = read->vertex[v].name;
		made->family[v] = read->vertex[v].family;
	}
	made->graph.vertex_count = read->vertex_count;
	made->graph.device_count = read->device_count;
	push_links(lowering);
	push_devices(lowering);
	made->graph.link = lowering->link;
	made->graph.link_count = lowering->link_count;
	for (uint32_t i = 0; i < lowering->link_count; i++)
		made->graph.has_short |=
			lowering->link[i].short_rate_Bps <
				lowering->link[i].rate_Bps ||
			lowering->link[i].short_overhead_s <
				lowering->link[i].overhead_s;
}

/* ---- checks ---- */

/* Every vertex has a link: a device alone is a mistake, a switch useless. */
static bool check_linked(struct graph_lowering *lowering)
{
	const struct network_graph *read = lowering->read;
	struct diags *diags = lowering->lower->diags;
	bool *linked = ARENA_ARRAY(lowering->lower->arena, bool,
				   read->vertex_count + 1);

	for (uint32_t i = 0; i < read->link_count; i++)
		linked[read->link[i].from] = linked[read->link[i].to] = true;
	for (uint32_t v = 0; v < read->vertex_count; v++) {
		const struct graph_vertex *vertex = &read->vertex[v];

		if (linked[v] || (vertex->has_inside && vertex->devices > 1 &&
				  read->vertex_count == 1))
			continue;
		diag_error(diags, E_GRAPH_UNLINKED, vertex->span,
			   "%s '%s' has no link",
			   vertex->device ? "node" : "switch", vertex->name);
		diag_help(diags, "add for instance: link %s -- .. { bandwidth = 50GB/s  latency = 1us }",
			  vertex->name);
		return false;
	}
	return true;
}

static bool check_size(struct graph_lowering *lowering)
{
	struct lower *lower = lowering->lower;

	if (lowering->read->device_count < 2) {
		diag_error(lower->diags, E_GRAPH_NODE, lowering->record->span,
			   "topology '%s' has one device and needs no graph",
			   lowering->record->name);
		diag_help(lower->diags,
			  "write 'level node { fanout = 1  bandwidth = 450GB/s  latency = 1us }'");
		return false;
	}
	if (!graph_is_too_large(&lowering->made->graph, lower->arena))
		return true;
	diag_error(lower->diags, E_GRAPH_SIZE, lowering->record->span,
		   "topology '%s' is too large to be routed",
		   lowering->record->name);
	diag_help(lower->diags, "make one node of devices that are joined inside: 'node host[0] : 8 * h100_sxm { .. }'");
	return false;
}

/* The spec's vertex of a device. */
static const struct graph_vertex *vertex_of(const struct graph_lowering *lowering,
					    uint32_t device)
{
	const struct network_graph *read = lowering->read;

	for (uint32_t v = 0; v < read->vertex_count; v++) {
		if (device < read->vertex[v].devices)
			return &read->vertex[v];
		device -= read->vertex[v].devices;
	}
	return &read->vertex[0];
}

static bool report_lost(struct graph_lowering *lowering)
{
	const struct ir_graph *made = lowering->made;
	struct diags *diags = lowering->lower->diags;
	const struct graph_vertex *from =
		vertex_of(lowering, made->graph.lost_from);
	const struct graph_vertex *to = vertex_of(lowering, made->graph.lost_to);

	diag_error(diags, E_GRAPH_SPLIT, from->span,
		   "no way leads from '%s' to '%s'",
		   made->device_name[made->graph.lost_from],
		   made->device_name[made->graph.lost_to]);
	if (from->span.begin != to->span.begin)
		diag_label(diags, to->span, "this is out of reach");
	diag_help(diags, "every device must reach every other; '--' links both ways, '->' one");
	return false;
}

/* ---- levels ---- */

static const char *level_name(struct graph_lowering *lowering, uint32_t l,
			      uint32_t witness)
{
	struct ir_topology *topology = &lowering->lower->ir->topology;
	const char *name = witness == GRAPH_NONE ? NULL :
			   lowering->made->family[witness];

	for (uint32_t i = 0; name && i < l; i++)
		if (topology->level[i].name == name)
			name = NULL;
	if (name)
		return name;
	return intern_string(&lowering->lower->compilation->intern,
			     arena_printf(lowering->lower->arena, "tier%u",
					  l + 1));
}

static void warn_left_out(struct graph_lowering *lowering,
			  const struct graph_hierarchy *hierarchy)
{
	const struct graph *graph = &lowering->made->graph;
	struct diags *diags = lowering->lower->diags;
	bool *used = ARENA_ARRAY(lowering->lower->arena, bool,
				 graph->device_count);
	uint32_t first = 0;

	if (hierarchy->device_count == graph->device_count)
		return;
	for (uint32_t i = 0; i < hierarchy->device_count; i++)
		used[hierarchy->device[i]] = true;
	while (used[first])
		first++;
	diag_warning(diags, E_GRAPH_UNEVEN, vertex_of(lowering, first)->span,
		     "%u of the %u devices of '%s' are left out",
		     graph->device_count - hierarchy->device_count,
		     graph->device_count, lowering->record->name);
	diag_note(diags, SPAN_NONE,
		  "plans need groups of equal size, and '%s' is the first device that fits into none",
		  lowering->made->device_name[first]);
}

static void take_hierarchy(struct graph_lowering *lowering)
{
	struct ir_topology *topology = &lowering->lower->ir->topology;
	struct graph_hierarchy hierarchy;

	graph_hierarchy(&lowering->made->graph, lowering->lower->arena,
			&hierarchy);
	topology->level_count = hierarchy.level_count;
	topology->device_count = hierarchy.device_count;
	for (uint32_t l = 0; l < hierarchy.level_count; l++)
		topology->level[l] = (struct ir_level){
			.name = level_name(lowering, l, hierarchy.witness[l]),
			.span = lowering->record->span,
			.network = hierarchy.level[l],
		};
	lowering->made->device = hierarchy.device;
	lowering->made->link_items = lowering->read->link_count;
	topology->graph = lowering->made;
	warn_left_out(lowering, &hierarchy);
}

bool lower_graph(struct lower *lower, const struct record *record)
{
	struct graph_lowering lowering = {
		.lower = lower,
		.read = record->graph,
		.record = record,
		.made = ARENA_NEW(lower->arena, struct ir_graph),
	};

	if (!check_linked(&lowering))
		return false;
	make_graph(&lowering);
	if (!check_size(&lowering))
		return false;
	if (!graph_prepare(&lowering.made->graph, lower->arena))
		return report_lost(&lowering);
	take_hierarchy(&lowering);
	return true;
}
