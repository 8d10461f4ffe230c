/* SPDX-License-Identifier: MIT
 *
 * The placement in the manifest: factors or order of the degrees, and every rank with
 * its device.
 */
#include "compiler/manifest_placement.h"

#include <string.h>

#include "compiler/json_print.h"
#include "compiler/json_set.h"
#include "compiler/ranks.h"
#include "compiler/site.h"
#include "lang/compilation.h"

static json_t *make_factors(const struct site *site)
{
	static const char *const name[DIMENSION_COUNT] = {
		[DIMENSION_TENSOR] = "tensor",
		[DIMENSION_CONTEXT] = "context",
		[DIMENSION_DATA] = "data",
		[DIMENSION_PIPELINE] = "pipeline",
	};
	json_t *factors = json_object();

	for (uint32_t i = 0; i < DIMENSION_COUNT; i++) {
		json_t *row = json_array();

		for (uint32_t j = 0; j < site->ir->topology.level_count; j++)
			json_array_append_new(
				row,
				json_integer(site->plan.placement.factor[i][j]));
		json_set(factors, name[i], row);
	}
	return factors;
}

/* Degrees in the order in which they are laid over the devices. */
static json_t *make_linear(const struct placement *placement)
{
	bool swapped = placement->packing == PACKING_PIPELINE_DATA;
	json_t *linear = json_object(), *order = json_array();

	json_array_append_new(order, json_string("tensor"));
	json_array_append_new(order, json_string("context"));
	json_array_append_new(order, json_string(swapped ? "pipeline" : "data"));
	json_array_append_new(order, json_string(swapped ? "data" : "pipeline"));
	json_set(linear, "order", order);
	json_set(linear, "aligned", json_integer(placement->aligned));
	return linear;
}

/* A rank's place in its expert group: see solver/network.h. */
static uint32_t expert_coordinate(const struct emit_input *input,
				  const struct rank *rank)
{
	const struct problem_shape *shape =
		&input->problem->shape[input->plan->choice.shape];
	uint32_t number = rank->coordinate[DIMENSION_TENSOR] +
			  shape->tensor *
				  (rank->coordinate[DIMENSION_CONTEXT] +
				   shape->context *
					   rank->coordinate[DIMENSION_DATA]);

	return number / shape->expert_tensor % shape->expert;
}

static json_t *make_rank(const struct emit_input *input, enum rank_order order,
			 uint32_t index, struct text *path)
{
	struct rank rank = rank_at(input->problem, input->plan, order, index);
	json_t *object = json_object();

	path->length = 0;
	rank.device = physical_device(input->plan, rank.device);
	device_path(&input->ir->topology, rank.device, path);
	json_set(object, "rank", json_integer(index));
	json_set(object, "device", json_integer(rank.device));
	json_set(object, "path", json_string(path->at));
	json_set(object, "tensor", json_integer(rank.coordinate[DIMENSION_TENSOR]));
	json_set(object, "context", json_integer(rank.coordinate[DIMENSION_CONTEXT]));
	json_set(object, "expert", json_integer(expert_coordinate(input, &rank)));
	json_set(object, "data", json_integer(rank.coordinate[DIMENSION_DATA]));
	json_set(object, "pipeline",
	    json_integer(rank.coordinate[DIMENSION_PIPELINE]));
	return object;
}

/* Printed one by one: a hundred thousand of them would fill the memory. */
static void print_ranks(const struct emit_input *input, enum rank_order order,
			struct text *out)
{
	struct text path;

	text_init(&path, &input->compilation->arena);
	text_append(out, ",\n    \"ranks\": [");
	for (uint32_t i = 0; i < input->plan->devices; i++) {
		json_t *rank = make_rank(input, order, i, &path);

		text_append(out, i ? ",\n      " : "\n      ");
		json_print_flat(rank, out);
		json_decref(rank);
	}
	text_append(out, "\n    ]");
}

/* The placement's matrix or order; *name is the field it belongs in. */
static json_t *make_layout(const struct site *site, const char **name)
{
	bool linear = site->plan.placement.packing != PACKING_FACTORS;

	*name = linear ? "linear" : "factors";
	return linear ? make_linear(&site->plan.placement) : make_factors(site);
}

static json_t *make_segments(const struct sites *sites)
{
	json_t *segments = json_array();

	for (uint32_t i = 0; i < sites->count; i++) {
		const struct site *site = &sites->at[i];
		json_t *segment = json_object(), *layout;
		const char *name;

		layout = make_layout(site, &name);
		json_set(segment, "kind", json_string(site->kind->name));
		json_set(segment, "first_stage", json_integer(site->first));
		json_set(segment, "stages", json_integer(site->ranks));
		json_set(segment, name, layout);
		json_array_append_new(segments, segment);
	}
	return segments;
}

void manifest_print_placement(const struct emit_input *input, struct text *out)
{
	struct sites sites = plan_sites(input->ir, input->problem, input->plan);
	enum rank_match match;
	enum rank_order order =
		rank_order_choose(input->problem, input->plan, &match);
	const char *name = "segments";
	json_t *layout = sites.at->kind ? make_segments(&sites) :
					  make_layout(sites.at, &name);

	text_printf(out, ",\n  \"placement\": {\n    \"order\": \"%s\",\n    \"%s\": ",
		    rank_order_name(order), name);
	json_print(layout, 4, out);
	json_decref(layout);
	if (!strcmp(name, "factors") &&
	    !ranks_follow_factors(input->problem, input->plan, order))
		text_append(out, ",\n    \"moved\": true");
	if (!input->ranks_as_factors)
		print_ranks(input, order, out);
	text_append(out, "\n  }");
}
