/* SPDX-License-Identifier: MIT
 *
 * Reading of the published solver's problem files. Every field is checked:
 * such files come from other people's programs.
 */
#include "compiler/published_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/json_file.h"
#include "lang/compilation.h"

struct reader {
	struct compilation *compilation;
	uint32_t source;
	struct published_file *file;
};

static bool complain(struct reader *reader, const char *text, const char *where)
{
	struct span span = { .file = reader->source };

	return diag_error(&reader->compilation->diags, E_PROBLEM_FILE, span,
			  "'%s' %s", where, text);
}

static bool read_number(struct reader *reader, const json_t *object,
			const char *name, double least, double *number)
{
	const json_t *value = json_object_get(object, name);

	if (!json_is_number(value))
		return complain(reader, "is missing or no number", name);
	*number = json_number_value(value);
	if (!isfinite(*number) || *number < least)
		return complain(reader, "is out of range", name);
	return true;
}

static bool read_count(struct reader *reader, const json_t *object,
		       const char *name, double most, uint32_t *count)
{
	double number;

	if (!read_number(reader, object, name, 1, &number))
		return false;
	if (number > most || number != floor(number))
		return complain(reader, "is no whole number in its range", name);
	*count = (uint32_t)number;
	return true;
}

static bool read_flag(struct reader *reader, const json_t *object,
		      const char *name, bool *flag)
{
	const json_t *value = json_object_get(object, name);

	if (!json_is_boolean(value))
		return complain(reader, "is missing or neither true nor false", name);
	*flag = json_is_true(value);
	return true;
}

static bool read_levels(struct reader *reader, const json_t *root)
{
	struct published_problem *problem = &reader->file->problem;
	const json_t *fanouts = json_object_get(root, "devices_per_level");
	const json_t *rates = json_object_get(root, "bws");
	const json_t *latencies = json_object_get(root, "latency_per_level");
	size_t count = json_array_size(rates);
	double devices = 1;

	if (count < 1 || count > LEVEL_MAX)
		return complain(reader, "must list 1 to 8 levels", "bws");
	if (json_array_size(fanouts) != count)
		return complain(reader, "must have as many entries as 'bws'",
				"devices_per_level");
	if (json_array_size(latencies) != count)
		return complain(reader, "must have as many entries as 'bws'",
				"latency_per_level");
	problem->level_count = (uint32_t)count;
	for (size_t l = 0; l < count; l++) {
		double fanout = json_number_value(json_array_get(fanouts, l));
		double rate = json_number_value(json_array_get(rates, l));
		double latency = json_number_value(json_array_get(latencies, l));

		if (!(fanout >= 1) || fanout != floor(fanout) ||
		    (devices *= fanout) > PUBLISHED_DEVICES_MAX)
			return complain(reader, "must hold whole numbers whose product is at most 131072",
					"devices_per_level");
		if (!(rate > 0) || !isfinite(rate))
			return complain(reader, "must hold positive numbers", "bws");
		if (!(latency >= 0) || !isfinite(latency))
			return complain(reader, "must hold numbers of at least 0",
					"latency_per_level");
		problem->fanout[l] = (uint32_t)fanout;
		problem->bandwidth_Bps[l] = rate;
		problem->latency_s[l] = latency;
	}
	if ((double)problem->device_count != devices)
		return complain(reader, "is not the product of 'devices_per_level'",
				"maxDevices");
	return true;
}

/* Position of a node id in the order found so far; node_count if unknown. */
static uint32_t position_of(const struct reader *reader, int64_t id)
{
	uint32_t i = 0;

	while (i < reader->file->problem.node_count &&
	       reader->file->node_id[i] != id)
		i++;
	return i;
}

static bool find_edge(const struct reader *reader, const json_t *edge,
		      uint32_t *from, uint32_t *to)
{
	*from = position_of(reader, json_integer_value(json_object_get(edge, "sourceId")));
	*to = position_of(reader, json_integer_value(json_object_get(edge, "destId")));
	return *from < reader->file->problem.node_count &&
	       *to < reader->file->problem.node_count && *from != *to;
}

/* Sorts node_id topologically, the smallest id first where there is a choice. */
static bool sort_nodes(struct reader *reader, const json_t *edges)
{
	uint32_t count = reader->file->problem.node_count, placed = 0;
	struct arena *arena = &reader->compilation->arena;
	int64_t *sorted = ARENA_ARRAY(arena, int64_t, count);
	uint32_t *waiting = ARENA_ARRAY(arena, uint32_t, count);
	bool *done = ARENA_ARRAY(arena, bool, count);
	const json_t *edge;
	size_t index;
	uint32_t from, to;

	json_array_foreach(edges, index, edge) {
		if (!find_edge(reader, edge, &from, &to))
			return complain(reader, "has an edge between nodes that are not there, or to itself",
					"edges");
		waiting[to]++;
	}
	for (; placed < count; placed++) {
		uint32_t next = count;

		for (uint32_t i = 0; i < count; i++)
			if (!done[i] && !waiting[i] &&
			    (next == count || reader->file->node_id[i] <
			     reader->file->node_id[next]))
				next = i;
		if (next == count)
			return complain(reader, "has a cycle", "edges");
		done[next] = true;
		sorted[placed] = reader->file->node_id[next];
		json_array_foreach(edges, index, edge)
			if (find_edge(reader, edge, &from, &to) && from == next)
				waiting[to]--;
	}
	memcpy(reader->file->node_id, sorted, count * sizeof(*sorted));
	return true;
}

/* The node ids and their order, from the first width. */
static bool read_order(struct reader *reader, const json_t *nodes,
		       const json_t *edges)
{
	const json_t *node;
	size_t index;

	reader->file->problem.node_count = 0;
	reader->file->node_id = ARENA_ARRAY(&reader->compilation->arena, int64_t,
					    json_array_size(nodes));
	json_array_foreach(nodes, index, node) {
		int64_t id = json_integer_value(json_object_get(node, "id"));

		if (!json_is_integer(json_object_get(node, "id")) ||
		    position_of(reader, id) < reader->file->problem.node_count)
			return complain(reader, "has a node without an id of its own",
					"nodes");
		reader->file->node_id[reader->file->problem.node_count++] = id;
	}
	return sort_nodes(reader, edges);
}

static bool read_nodes(struct reader *reader, const json_t *nodes,
		       struct published_width *width)
{
	struct arena *arena = &reader->compilation->arena;
	uint32_t count = reader->file->problem.node_count;
	double *forward = ARENA_ARRAY(arena, double, count);
	double *backward = ARENA_ARRAY(arena, double, count);
	double *parameters = ARENA_ARRAY(arena, double, count);
	double *activations = ARENA_ARRAY(arena, double, count);
	bool *seen = ARENA_ARRAY(arena, bool, count);
	const json_t *node;
	size_t index;

	if (json_array_size(nodes) != count)
		return complain(reader, "must hold the same nodes for every width",
				"nodes");
	json_array_foreach(nodes, index, node) {
		uint32_t i = position_of(reader,
			json_integer_value(json_object_get(node, "id")));

		if (i == count || seen[i])
			return complain(reader, "must hold the same nodes for every width",
					"nodes");
		seen[i] = true;
		if (!read_number(reader, node, "optimalLatencyFw", 0, &forward[i]) ||
		    !read_number(reader, node, "optimalLatencyBw", 0, &backward[i]) ||
		    !read_number(reader, node, "parameterSize", 0, &parameters[i]) ||
		    !read_number(reader, node, "activationSize", 0, &activations[i]))
			return false;
	}
	width->forward_s = forward;
	width->backward_s = backward;
	width->parameter_bytes = parameters;
	width->activation_bytes = activations;
	return true;
}

static bool read_edges(struct reader *reader, const json_t *edges,
		       struct published_width *width)
{
	uint32_t count = reader->file->problem.node_count;
	struct published_edge *list;
	bool *joined = ARENA_ARRAY(&reader->compilation->arena, bool, count);
	const json_t *edge;
	size_t index;

	if (!json_is_array(edges) || json_array_size(edges) > (size_t)count * count)
		return complain(reader, "must be a list for every width", "edges");
	list = ARENA_ARRAY(&reader->compilation->arena, struct published_edge,
			   json_array_size(edges));
	json_array_foreach(edges, index, edge) {
		struct published_edge *out = &list[index];

		if (!find_edge(reader, edge, &out->from, &out->to) ||
		    out->from > out->to)
			return complain(reader, "must be the same for every width",
					"edges");
		if (!read_number(reader, edge, "communicationCost", 0, &out->bytes))
			return false;
		if (out->to == out->from + 1)
			joined[out->to] = true;
	}
	for (uint32_t i = 1; i < count; i++)
		if (!joined[i])
			return complain(reader, "must join every node with the one before it: the model has to be a chain",
					"edges");
	width->edge = list;
	width->edge_count = (uint32_t)json_array_size(edges);
	return true;
}

static int by_tensor(const void *a, const void *b)
{
	const struct published_width *x = a, *y = b;

	return (x->tensor > y->tensor) - (x->tensor < y->tensor);
}

static bool read_widths(struct reader *reader, const json_t *root)
{
	struct published_problem *problem = &reader->file->problem;
	const json_t *nodes = json_object_get(root, "nodes");
	const json_t *edges = json_object_get(root, "edges");
	struct published_width *width;
	const char *key;
	json_t *list;

	if (!json_is_object(nodes) || !json_object_size(nodes) ||
	    json_object_size(nodes) > 64)
		return complain(reader, "must hold lists by tensor width", "nodes");
	width = ARENA_ARRAY(&reader->compilation->arena, struct published_width,
			    json_object_size(nodes));
	json_object_foreach((json_t *)nodes, key, list) {
		struct published_width *next = &width[problem->width_count];
		char *end;
		long tensor = strtol(key, &end, 10);

		if (*end || tensor < 1 || tensor > PUBLISHED_DEVICES_MAX)
			return complain(reader, "has a key that is no tensor width",
					"nodes");
		if (!json_array_size(list) ||
		    json_array_size(list) > PUBLISHED_NODES_MAX)
			return complain(reader, "must hold 1 to 512 nodes a width",
					"nodes");
		next->tensor = (uint32_t)tensor;
		if (!problem->width_count &&
		    !read_order(reader, list, json_object_get(edges, key)))
			return false;
		if (!read_nodes(reader, list, next) ||
		    !read_edges(reader, json_object_get(edges, key), next))
			return false;
		problem->width_count++;
	}
	qsort(width, problem->width_count, sizeof(*width), by_tensor);
	problem->width = width;
	return true;
}

static bool read_baselines(struct reader *reader, const json_t *root)
{
	const json_t *all = json_object_get(root, "baselines");
	struct published_file *file = reader->file;
	const char *name;
	json_t *item;

	file->baseline = ARENA_ARRAY(&reader->compilation->arena,
				     struct published_baseline,
				     json_object_size(all));
	json_object_foreach((json_t *)all, name, item) {
		struct published_baseline *next =
			&file->baseline[file->baseline_count];

		next->name = intern_string(&reader->compilation->intern, name);
		if (!read_count(reader, item, "p", PUBLISHED_DEVICES_MAX, &next->pipeline) ||
		    !read_count(reader, item, "t", PUBLISHED_DEVICES_MAX, &next->tensor) ||
		    !read_count(reader, item, "d", PUBLISHED_DEVICES_MAX, &next->data))
			return false;
		if (json_object_get(item, "num_transformer_layers") &&
		    !read_count(reader, item, "num_transformer_layers",
				PUBLISHED_NODES_MAX, &next->blocks))
			return false;
		file->baseline_count++;
	}
	return true;
}

static bool read_problem(struct reader *reader, const json_t *root)
{
	struct published_problem *problem = &reader->file->problem;
	const char *optimizer =
		json_string_value(json_object_get(root, "optimizerAlgorithm"));

	if (!json_is_object(root))
		return complain(reader, "must be an object", "problem");
	if (!optimizer || (strcmp(optimizer, "SGD") && strcmp(optimizer, "Adam")))
		return complain(reader, "must be \"SGD\" or \"Adam\"",
				"optimizerAlgorithm");
	problem->adam = !strcmp(optimizer, "Adam");
	return read_number(reader, root, "maxMemoryPerDevice", 0,
			   &problem->memory_bytes) &&
	       read_count(reader, root, "maxDevices", PUBLISHED_DEVICES_MAX,
			  &problem->device_count) &&
	       read_count(reader, root, "mbsInBatch", 1e9,
			  &problem->micro_batches) &&
	       read_count(reader, root, "ep_degree", PUBLISHED_DEVICES_MAX,
			  &problem->expert) &&
	       read_count(reader, root, "cp_degree", PUBLISHED_DEVICES_MAX,
			  &problem->context) &&
	       read_flag(reader, root, "activationRecomputation",
			 &problem->recompute) &&
	       read_levels(reader, root) && read_widths(reader, root) &&
	       read_baselines(reader, root);
}

bool published_read(struct compilation *compilation, const char *path,
		    struct published_file *file)
{
	struct reader reader = { .compilation = compilation, .file = file };
	struct json_file json;
	bool good;

	*file = (struct published_file){ .baseline_count = 0 };
	if (!json_file_read(compilation, path, SPAN_NONE, E_PROBLEM_FILE, &json))
		return false;
	reader.source = json.source;
	good = read_problem(&reader, json.root);
	json_file_release(&json);
	return good;
}
