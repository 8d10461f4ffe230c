/* SPDX-License-Identifier: MIT
 *
 * Topologies that are graphs: loops are unrolled, nodes, switches and links read.
 */
#include <math.h>
#include <string.h>

#include "lang/eval_graph.h"

/* Most indices after one name. */
#define INDICES_MAX 8

static struct graph_maker *graph_of(struct maker *maker)
{
	if (!maker->graph) {
		maker->graph = ARENA_NEW(arena_of(maker->eval),
					 struct graph_maker);
		maker->graph->names = scope_new(arena_of(maker->eval), NULL);
	}
	return maker->graph;
}

/* ---- names ---- */

/* "gpu[2][5]" of a place in a scope; NULL after a report. */
static const char *place_name(struct maker *maker, struct scope *scope,
			      const struct ast *place, const char **family)
{
	struct eval *eval = maker->eval;
	const struct ast *step[INDICES_MAX];
	uint32_t count = 0;
	struct text text;

	for (; place->kind != AST_NAME; place = place->child[0]) {
		if (count == INDICES_MAX) {
			diag_error(&eval->compilation->diags, E_OUT_OF_RANGE,
				   place->span,
				   "the name of a node has more than %d indices",
				   INDICES_MAX);
			return NULL;
		}
		step[count++] = place;
	}
	*family = place->name;
	text_init(&text, arena_of(eval));
	text_append(&text, place->name);
	while (count--) {
		int64_t index;

		if (step[count]->kind == AST_MEMBER) {
			text_printf(&text, ".%s", step[count]->name);
			continue;
		}
		if (!eval_integer(eval, scope, step[count]->child[1], 0,
				  UINT32_MAX, "the index of a node or switch",
				  &index))
			return NULL;
		text_printf(&text, "[%lld]", (long long)index);
	}
	return intern_string(&eval->compilation->intern, text.at);
}

/* Gives a vertex its name; false if it has one already. */
static bool vertex_add(struct maker *maker, const struct ast *item,
		       const struct graph_vertex *vertex)
{
	struct graph_maker *graph = maker->graph;
	struct diags *diags = &maker->eval->compilation->diags;
	struct binding *binding = scope_find_here(graph->names, vertex->name);

	if (binding) {
		maker->ok = diag_error(diags, E_GRAPH_NAME,
				       item->child[0]->span,
				       "'%s' is given twice", vertex->name);
		diag_label(diags, graph->vertex.at[binding->index].span,
			   "given here first");
		return false;
	}
	if (graph->vertex.count == GRAPH_VERTICES_MAX) {
		maker->ok = diag_error(diags, E_GRAPH_SIZE, item->span,
				       "topology '%s' has more than %u nodes and switches",
				       maker->record->name, GRAPH_VERTICES_MAX);
		return false;
	}
	binding = scope_add(graph->names, vertex->name);
	binding->index = (uint32_t)graph->vertex.count;
	VEC_PUSH(&graph->vertex, arena_of(maker->eval), *vertex);
	return true;
}

/* ---- bodies of links and nodes ---- */

static const char *const wire_fields[] = {
	"bandwidth", "latency", "efficiency", "overhead", "short_efficiency",
	"short_overhead", "count",
};

static bool check_wire_fields(struct maker *maker, const struct record *record)
{
	struct diags *diags = &maker->eval->compilation->diags;

	for (uint32_t i = 0; i < record->field_count; i++) {
		const struct field *field = &record->field[i];
		bool known = false;

		for (size_t j = 0; j < sizeof(wire_fields) /
					       sizeof(*wire_fields); j++)
			known |= !strcmp(wire_fields[j], field->name);
		if (known)
			continue;
		diag_error(diags, E_LINK_FIELD, field->span,
			   "a link has no field '%s'", field->name);
		diag_help(diags, "a link has bandwidth, latency, efficiency, overhead, short_efficiency, short_overhead and count");
		return false;
	}
	return true;
}

/* One number of a wire, within [low, high], or (low, high] where it is open. */
static bool wire_number(struct maker *maker, const struct record *record,
			const char *name, struct unit unit, bool open,
			double low, double high, double *number)
{
	struct eval *eval = maker->eval;
	const struct field *field = record_find(
		record, intern_string(&eval->compilation->intern, name));

	if (!field)
		return true;
	if (!eval_field_number(eval, record, name, unit, true, number))
		return false;
	if (isfinite(*number) && *number <= high &&
	    (open ? *number > low : *number >= low))
		return true;
	return diag_error(&eval->compilation->diags, E_LINK_VALUE, field->span,
			  high == 1 ? "'%s' of a link must be above %g and at most 100%%" :
			  open ? "'%s' of a link must be above %g" :
				 "'%s' of a link must be at least %g and finite",
			  name, low);
}

static bool wire_count(struct maker *maker, const struct record *record,
		       uint32_t *count)
{
	double number = 1;

	if (!wire_number(maker, record, "count", UNIT_NONE, false, 1, 1e6,
			 &number))
		return false;
	*count = (uint32_t)number;
	if (*count == number)
		return true;
	return diag_error(&maker->eval->compilation->diags, E_LINK_VALUE,
			  record->span, "the count of a link is %g, and must be a whole number",
			  number);
}

/* Both numbers of the protocol for short messages, or none. */
static bool read_short(struct maker *maker, const struct record *record,
		       const struct ast *item, struct graph_wire *wire)
{
	struct intern *intern = &maker->eval->compilation->intern;
	bool share = record_find(record, intern_string(intern, wire_fields[4]));
	bool fixed = record_find(record, intern_string(intern, wire_fields[5]));

	wire->short_efficiency = wire->efficiency;
	wire->short_overhead_s = wire->overhead_s;
	if (share != fixed)
		return diag_error(&maker->eval->compilation->diags, E_LINK_FIELD,
				  item->span,
				  "this link has a %s and does not say its %s",
				  wire_fields[share ? 4 : 5],
				  wire_fields[share ? 5 : 4]);
	return wire_number(maker, record, wire_fields[4], UNIT_NONE, true, 0, 1,
			   &wire->short_efficiency) &&
	       wire_number(maker, record, wire_fields[5], UNIT_SECOND, false, 0,
			   1e6, &wire->short_overhead_s);
}

static bool read_wire(struct maker *maker, struct scope *scope,
		      const struct ast *item, const struct ast *body,
		      struct graph_wire *wire)
{
	struct diags *diags = &maker->eval->compilation->diags;
	struct maker outer = { .eval = maker->eval, .inside = scope };
	struct record *record;

	*wire = (struct graph_wire){ .efficiency = 1, .count = 1 };
	if (!body) {
		diag_error(diags, E_LINK_FIELD, item->span,
			   "this link does not say its bandwidth");
		diag_help(diags, "add for instance: { bandwidth = 50GB/s  latency = 1us }");
		return false;
	}
	if (!maker_block_record(&outer, body, RECORD_BLOCK, NULL, item,
				&record) ||
	    !check_wire_fields(maker, record))
		return false;
	for (uint32_t i = 0; i < 2; i++) {
		const char *name = intern_string(
			&maker->eval->compilation->intern, wire_fields[i]);

		if (record_find(record, name))
			continue;
		diag_error(diags, E_LINK_FIELD, item->span,
			   "this link does not say its %s", name);
		diag_help(diags, "add for instance: %s", i ? "latency = 1us" :
			  "bandwidth = 50GB/s");
		return false;
	}
	return wire_number(maker, record, "bandwidth", UNIT_BYTE_PER_SECOND,
			   true, 0, 1e18, &wire->bandwidth_Bps) &&
	       wire_number(maker, record, "latency", UNIT_SECOND, false, 0, 1e6,
			   &wire->latency_s) &&
	       wire_number(maker, record, "efficiency", UNIT_NONE, true, 0, 1,
			   &wire->efficiency) &&
	       wire_number(maker, record, "overhead", UNIT_SECOND, false, 0,
			   1e6, &wire->overhead_s) &&
	       read_short(maker, record, item, wire) &&
	       wire_count(maker, record, &wire->count);
}

/* ---- items ---- */

/* `d` or `n * d`. */
static bool read_devices(struct maker *maker, struct scope *scope,
			 const struct ast *expression,
			 struct graph_vertex *vertex)
{
	struct eval *eval = maker->eval;
	const struct ast *count = NULL;
	struct value value;
	int64_t devices = 1;

	if (expression->kind == AST_BINARY && !strcmp(expression->name, "*")) {
		count = expression->child[0];
		expression = expression->child[1];
	}
	if (count && !eval_integer(eval, scope, count, 1, GRAPH_DEVICES_MAX,
				   "the number of devices of a node", &devices))
		return false;
	if (!eval_expression(eval, scope, expression, &value) ||
	    !eval_applied(eval, expression->span, &value))
		return false;
	if (value.kind == VALUE_ERROR)
		return false;
	vertex->devices = (uint32_t)devices;
	vertex->device_span = expression->span;
	if (value.kind == VALUE_RECORD && value.record->kind == RECORD_DEVICE) {
		vertex->device = value.record;
		return true;
	}
	diag_error(&eval->compilation->diags, E_GRAPH_NODE, expression->span,
		   "a node is a device, and this is %s",
		   eval_describe(eval, &value));
	diag_help(&eval->compilation->diags,
		  "write 'node %s : h100_sxm', or 'node %s : 8 * h100_sxm { .. }'; what has no devices is a switch",
		  vertex->name, vertex->name);
	return false;
}

static bool read_node(struct maker *maker, struct scope *scope,
		      const struct ast *item, struct graph_vertex *vertex)
{
	struct diags *diags = &maker->eval->compilation->diags;
	const struct ast *body = item->child[2];

	if (!read_devices(maker, scope, item->child[1], vertex))
		return false;
	maker->graph->device_count += vertex->devices;
	if (maker->graph->device_count > GRAPH_DEVICES_MAX)
		return diag_error(diags, E_GRAPH_SIZE, item->span,
				  "topology '%s' has more than %u devices",
				  maker->record->name, GRAPH_DEVICES_MAX);
	vertex->has_inside = body != NULL;
	if (body)
		return read_wire(maker, scope, item, body, &vertex->inside);
	if (vertex->devices == 1)
		return true;
	diag_error(diags, E_GRAPH_NODE, item->span,
		   "'%s' has %u devices and does not say how they are joined",
		   vertex->name, vertex->devices);
	diag_help(diags, "add for instance: { bandwidth = 450GB/s  latency = 1us }");
	return false;
}

static void make_vertex(struct maker *maker, struct scope *scope,
			const struct ast *item)
{
	struct graph_vertex vertex = { .span = item->child[0]->span };

	vertex.name = place_name(maker, scope, item->child[0], &vertex.family);
	if (!vertex.name ||
	    (item->kind == AST_NODE_ITEM &&
	     !read_node(maker, scope, item, &vertex)))
		maker->ok = false;
	else
		vertex_add(maker, item, &vertex);
}

static void make_link(struct maker *maker, struct scope *scope,
		      const struct ast *item)
{
	struct graph_maker *graph = maker->graph;
	struct pending_link pending = {
		.item = item,
		.link = { .one_way = item->name != NULL, .span = item->span },
	};
	struct diags *diags = &maker->eval->compilation->diags;
	const char *family;

	pending.from = place_name(maker, scope, item->child[0], &family);
	pending.to = pending.from ? place_name(maker, scope, item->child[1],
					       &family) : NULL;
	if (!pending.to ||
	    !read_wire(maker, scope, item, item->child[2], &pending.link.wire)) {
		maker->ok = false;
		return;
	}
	if (pending.from == pending.to) {
		maker->ok = diag_error(diags, E_GRAPH_SELF, item->span,
				       "this link leads from '%s' to itself",
				       pending.from);
		return;
	}
	if (graph->pending.count == GRAPH_LINKS_MAX) {
		maker->ok = diag_error(diags, E_GRAPH_SIZE, item->span,
				       "topology '%s' has more than %u links",
				       maker->record->name, GRAPH_LINKS_MAX);
		diag_help(diags, "links side by side are one with 'count = N'");
		return;
	}
	VEC_PUSH(&graph->pending, arena_of(maker->eval), pending);
}

static void make_item(struct maker *maker, struct scope *scope,
		      const struct ast *item);

static void make_loop(struct maker *maker, struct scope *scope,
		      const struct ast *item)
{
	struct eval *eval = maker->eval;
	const struct ast *body = item->child[1];
	struct value range;
	uint64_t count;

	if (!eval_loop(eval, scope, item->child[0], &range, &count)) {
		maker->ok = false;
		return;
	}
	/* One wrong round tells enough. */
	for (uint64_t i = 0; i < count && maker->ok; i++) {
		struct scope *inner;

		if (!eval_step(eval, item->span)) {
			maker->ok = false;
			return;
		}
		inner = scope_new(arena_of(eval), scope);
		scope_set(inner, item->name, value_at(&range, i));
		for (uint32_t j = 0; j < body->child_count; j++)
			make_item(maker, inner, body->child[j]);
	}
}

static void make_let(struct maker *maker, struct scope *scope,
		     const struct ast *item)
{
	struct binding *binding = scope_declare(scope, item, scope);
	struct value value;

	/* A second one was reported by the checker. */
	if (binding && !eval_binding(maker->eval, binding, item->name_span,
				     &value))
		maker->ok = false;
}

static void make_item(struct maker *maker, struct scope *scope,
		      const struct ast *item)
{
	struct eval *eval = maker->eval;

	if (!eval_step(eval, item->span)) {
		maker->ok = false;
		return;
	}
	if (eval->depth >= eval->compilation->depth_max) {
		maker->ok = diag_error(&eval->compilation->diags, E_DEPTH_LIMIT,
				       item->span,
				       "loops are nested more than %lu levels deep",
				       (unsigned long)eval->compilation->depth_max);
		return;
	}
	eval->depth++;
	switch (item->kind) {
	case AST_NODE_ITEM:
	case AST_SWITCH_ITEM:
		make_vertex(maker, scope, item);
		break;
	case AST_LINK:
		make_link(maker, scope, item);
		break;
	case AST_FOR:
		make_loop(maker, scope, item);
		break;
	case AST_LET:
		make_let(maker, scope, item);
		break;
	default:
		if (item->kind != AST_ERROR)
			diag_error(&eval->compilation->diags, E_MISPLACED_ITEM,
				   item->span,
				   "a %s cannot stand in a loop over nodes and links",
				   ast_kind_name(item->kind));
		maker->ok = false;
	}
	eval->depth--;
}

void maker_graph_item(struct maker *maker, const struct ast *item)
{
	graph_of(maker);
	make_item(maker, maker->inside, item);
}
