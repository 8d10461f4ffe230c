/* SPDX-License-Identifier: MIT
 *
 * --emit profile: the times of every kind of layer under every shape of the
 * search, in the form that a job's `profile` is read in (doc/profile.md,
 * stdlib/schema/profile.schema.json). Unchanged, it gives the same plan; people
 * put in what they have measured.
 */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "compiler/emit.h"
#include "compiler/job_names.h"
#include "compiler/json_print.h"
#include "compiler/json_set.h"
#include "compiler/profile.h"
#include "lang/base/vec.h"
#include "lang/compilation.h"

struct rows {
	const struct emit_input *input;
	VEC(struct ir_measurement) all;
};

/* One without recomputation, to which the model adds that; and those that the
 * job's own profile has measured with it. */
static void push_rows(struct rows *rows, uint32_t shape, uint32_t class_index)
{
	const struct emit_input *input = rows->input;
	const struct ir *ir = input->ir;
	const struct problem_shape *at = &input->problem->shape[shape];
	struct ir_measurement row = {
		.class_index = class_index,
		.shape = profile_shape(&ir->model.class[class_index], at),
	};

	for (int i = 0; i < RECOMPUTE_COUNT; i++) {
		enum recompute recompute = (enum recompute)i;
		const struct problem_cost *cost = problem_cost_at(
			input->problem, shape, class_index, recompute);

		if (recompute != RECOMPUTE_NONE &&
		    (!ir->model.class[class_index].is_block ||
		     !profile_find(ir, class_index, at, recompute)))
			continue;
		/* A layer without work takes no time, and has no row. */
		if (!(cost->forward_s > 0) || !(cost->backward_s > 0))
			continue;
		row.recompute = recompute;
		row.forward_s = cost->forward_s;
		row.backward_s = cost->backward_s;
		VEC_PUSH(&rows->all, &input->compilation->arena, row);
	}
}

static int by_key(const void *a, const void *b)
{
	return profile_compare(a, b);
}

/* Whether several kinds of layers have the name of a class. */
static bool is_ambiguous(const struct ir_model *model, uint32_t class_index)
{
	uint32_t same = 0;

	for (uint32_t i = 0; i < model->class_count; i++)
		same += !strcmp(model->class[i].name,
				model->class[class_index].name);
	return same > 1;
}

static json_t *make_row(const struct ir *ir, const struct ir_measurement *row)
{
	const struct ir_class *class = &ir->model.class[row->class_index];
	json_t *object = json_object();

	json_set(object, "layer", json_string(class->name));
	if (is_ambiguous(&ir->model, row->class_index))
		json_set(object, "position",
			 json_integer(profile_position(&ir->model, row->class_index)));
	json_set(object, "tensor", json_integer(row->shape.tensor));
	json_set(object, "sequence", json_boolean(row->shape.sequence));
	json_set(object, "context", json_integer(row->shape.context));
	if (ir_find_operator(class, IR_ROUTER)) {
		json_set(object, "expert", json_integer(row->shape.expert));
		json_set(object, "expert_tensor",
			 json_integer(row->shape.expert_tensor));
	}
	json_set(object, "micro_batch", json_integer(row->shape.micro_batch));
	if (row->recompute != RECOMPUTE_NONE)
		json_set(object, "recompute",
			 json_string(recompute_name(row->recompute)));
	json_set(object, "forward", json_real(row->forward_s));
	json_set(object, "backward", json_real(row->backward_s));
	return object;
}

static void print_text(struct text *out, const char *key, const char *value)
{
	json_t *string = json_string(value);

	text_printf(out, "  \"%s\": ", key);
	json_print_flat(string, out);
	text_append(out, ",\n");
	json_decref(string);
}

/* Printed one by one: there may be a hundred thousand. */
static void print_rows(struct rows *rows, struct text *out)
{
	const struct ir *ir = rows->input->ir;
	const struct ir_measurement *before = NULL;

	text_append(out, "  \"layers\": [");
	for (size_t i = 0; i < rows->all.count; i++) {
		const struct ir_measurement *row = &rows->all.at[i];
		json_t *object;

		/* Shapes that differ in expert degrees alone. */
		if (before && !profile_compare(before, row))
			continue;
		object = make_row(ir, row);
		text_append(out, before ? ",\n    " : "\n    ");
		json_print_flat(object, out);
		json_decref(object);
		before = row;
	}
	text_append(out, "\n  ]\n");
}

bool emit_profile(const struct emit_input *input, struct text *out)
{
	const struct ir *ir = input->ir;
	struct rows rows = { .input = input };

	if (ir->topology.kind_count) {
		diag_error(&input->compilation->diags, E_NOT_YET, ir->topology.span,
			   "a profile is of one device type, and this cluster has several");
		diag_help(&input->compilation->diags,
			  "give the job a topology of one kind of device");
		return false;
	}
	for (uint32_t i = 0; i < input->problem->shape_count; i++)
		for (uint32_t j = 0; j < ir->model.class_count; j++)
			push_rows(&rows, i, j);
	if (rows.all.count)
		qsort(rows.all.at, rows.all.count, sizeof(*rows.all.at), by_key);
	text_append(out, "{\n");
	print_text(out, "schema", "nest.profile/1");
	print_text(out, "comment",
		   "modelled by nestc " PACKAGE_VERSION
		   "; replace the times you have measured, and leave out the others");
	print_text(out, "model", ir->model.name);
	print_text(out, "device", ir->topology.device.name);
	print_text(out, "precision", precision_name(ir->job.precision));
	text_printf(out, "  \"sequence_length\": %llu,\n",
		    (unsigned long long)ir->model.sequence_length);
	print_text(out, "unit", "s");
	print_text(out, "communication",
		   ir->job.profile.with_communication ? "included" : "excluded");
	print_rows(&rows, out);
	text_append(out, "}\n");
	return true;
}
