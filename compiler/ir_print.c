/* SPDX-License-Identifier: MIT
 *
 * The placement program as text. Numbers are in base units and in the
 * shortest form that reads back the same; sizes stand beside axis names.
 */
#include <inttypes.h>

#include "compiler/describe.h"
#include "compiler/extent.h"
#include "compiler/job_names.h"
#include "compiler/variable.h"

static const char *const split_names[] = {
	[IR_SPLIT_NONE] = "none", [IR_SPLIT_TENSOR] = "tensor",
	[IR_SPLIT_CONTEXT] = "context", [IR_SPLIT_EXPERT] = "expert",
	[IR_SPLIT_EXPERT_TENSOR] = "expert_tensor", [IR_SPLIT_DATA] = "data",
};

static void print_number(struct text *out, const char *name, double number)
{
	text_printf(out, " %s=", name);
	text_append_number(out, number);
}

static void print_axis(struct text *out, const struct ir_axis *axis)
{
	text_printf(out, "    axis %s", axis->name);
	if (axis->size)
		text_printf(out, " = %" PRIu64, axis->size);
	if (axis->split != IR_SPLIT_NONE)
		text_printf(out, " split by %s", split_names[axis->split]);
	if (axis->pad)
		text_printf(out, " pad %" PRIu32, axis->pad);
	if (axis->replicable)
		text_append(out, " replicable");
	text_append_char(out, '\n');
}

static void print_value(struct text *out, const struct ir_class *class,
			uint32_t index)
{
	const struct ir_value *value = &class->value[index];

	text_printf(out, "%%%" PRIu32, index);
	if (value->name)
		text_printf(out, " %s", value->name);
	text_append(out, " : [");
	for (uint32_t i = 0; i < value->rank; i++) {
		if (i)
			text_append(out, ", ");
		extent_print(class->axis, &value->extent[i], out);
	}
	text_append(out, value->router == IR_NONE ? "]" : "] routed");
}

static void print_weight(struct text *out, const struct ir_class *class,
			 const struct ir_operator *operator)
{
	text_append(out, " (");
	extent_print(class->axis, &operator->from, out);
	if (operator->to.term_count) {
		text_append(out, " -> ");
		extent_print(class->axis, &operator->to, out);
	}
	text_append_char(out, ')');
}

static void print_attention(struct text *out, const struct ir_class *class,
			    const struct ir_operator *operator)
{
	text_printf(out, " heads=%s kv_heads=%s head=%" PRIu64,
		    class->axis[operator->heads_axis].name,
		    class->axis[operator->kv_heads_axis].name,
		    operator->head_size);
	if (operator->value_size != operator->head_size)
		text_printf(out, " value=%" PRIu64, operator->value_size);
	text_printf(out, "%s%s", operator->causal ? " causal" : "",
		    operator->flash ? "" : " unfused");
	if (operator->window)
		text_printf(out, " window=%" PRIu64, operator->window);
}

static void print_custom(struct text *out, const struct ir_operator *operator)
{
	print_number(out, "flops", operator->custom_flops);
	print_number(out, "read", operator->custom_read_bytes);
	print_number(out, "write", operator->custom_write_bytes);
	print_number(out, "params", operator->custom_parameters);
	print_number(out, "saves", operator->custom_saved_bytes);
}

static void print_operator(struct text *out, const struct ir_class *class,
			   const struct ir_operator *operator)
{
	text_append(out, "    ");
	print_value(out, class, operator->output);
	text_printf(out, " = %s", ir_operator_names[operator->kind]);
	for (uint32_t i = 0; i < operator->input_count; i++)
		text_printf(out, " %%%" PRIu32, operator->input[i]);
	if (operator->from.term_count)
		print_weight(out, class, operator);
	if (operator->kind == IR_ATTENTION)
		print_attention(out, class, operator);
	if (operator->kind == IR_CUSTOM)
		print_custom(out, operator);
	if (operator->eager)
		text_append(out, " eager");
	if (operator->bias)
		text_append(out, " bias");
	if (operator->tied)
		text_append(out, " tied");
	if (operator->positions)
		text_printf(out, " positions=%" PRIu64, operator->positions);
	if (operator->types)
		text_printf(out, " types=%" PRIu64, operator->types);
	if (operator->kind == IR_ROUTER) {
		text_printf(out, " top_k=%" PRIu64, operator->top_k);
		print_number(out, "capacity", operator->capacity);
		if (operator->groups > 1)
			text_printf(out, " groups=%" PRIu64 " top_groups=%" PRIu64,
				    operator->groups, operator->top_groups);
	}
	if (operator->dropout > 0)
		print_number(out, "dropout", operator->dropout);
	text_append_char(out, '\n');
}

static void print_class(struct text *out, const struct ir_class *class,
			uint32_t index)
{
	text_printf(out, "  class %" PRIu32 " %s%s parameters=%" PRIu64, index,
		    class->name, class->is_block ? " block" : "",
		    class->parameters);
	if (class->active_parameters != class->parameters)
		text_printf(out, " active=%" PRIu64, class->active_parameters);
	text_append_char(out, '\n');
	for (uint32_t i = 0; i < class->axis_count; i++)
		print_axis(out, &class->axis[i]);
	text_append(out, "    ");
	print_value(out, class, class->input);
	text_append(out, " = input\n");
	if (class->tokens != IR_NONE) {
		text_append(out, "    ");
		print_value(out, class, class->tokens);
		text_append(out, " = tokens\n");
	}
	for (uint32_t i = 0; i < class->operator_count; i++)
		print_operator(out, class, &class->operator[i]);
	text_printf(out, "    return %%%" PRIu32 "\n", class->output);
}

static void print_model(struct text *out, const struct ir_model *model)
{
	text_printf(out, "model %s seq=%" PRIu64 " layers=%" PRIu32
		    " parameters=%" PRIu64, model->name, model->sequence_length,
		    model->layer_count, model->parameters);
	if (model->active_parameters != model->parameters)
		text_printf(out, " active=%" PRIu64, model->active_parameters);
	text_append(out, model->tied ? " tied\n" : "\n");
	text_append(out, "  facts");
	print_number(out, "rotary_base", model->facts.rotary_base);
	text_printf(out, " max_positions=%" PRIu64, model->facts.max_positions);
	print_number(out, "norm_epsilon", model->facts.norm_epsilon);
	text_append_char(out, '\n');
	for (uint32_t i = 0; i < model->class_count; i++)
		print_class(out, &model->class[i], i);
	for (uint32_t i = 0; i < model->run_count; i++)
		text_printf(out, "  run %" PRIu32 " * class %" PRIu32 "\n",
			    model->run[i].count, model->run[i].class_index);
}

static void print_topology(struct text *out, const struct ir_topology *topology)
{
	text_printf(out, "topology %s devices=%" PRIu32 "\n", topology->name,
		    topology->device_count);
	text_printf(out, "  device %s\n", topology->device.name);
#define FIELD(member, name, unit, required, fallback)         \
	text_append(out, "    " name " = ");                  \
	text_append_number(out, topology->device.member);     \
	text_append_char(out, '\n');
#include "compiler/device_fields.def"
#undef FIELD
	for (uint32_t i = 0; i < topology->level_count; i++) {
		text_printf(out, "  level %s ", topology->level[i].name);
		describe_level(&topology->level[i].network, out);
		text_append_char(out, '\n');
	}
	for (uint32_t i = 0; i < topology->kind_count; i++) {
		const struct ir_kind *kind = &topology->kind[i];

		text_printf(out, "kind %s count=%" PRIu32 " first_device=%" PRIu32
			    "\n", kind->name, kind->count, kind->first_device);
		print_topology(out, &kind->only->topology);
	}
}

static const char *op_spelling(enum predicate_op op)
{
	switch (op) {
	case PREDICATE_NEGATE: return "negate";
	case PREDICATE_NOT: return "not";
	case PREDICATE_ADD: return "+";
	case PREDICATE_SUBTRACT: return "-";
	case PREDICATE_MULTIPLY: return "*";
	case PREDICATE_DIVIDE: return "/";
	case PREDICATE_REMAINDER: return "%";
	case PREDICATE_POWER: return "^";
	case PREDICATE_EQUAL: return "==";
	case PREDICATE_NOT_EQUAL: return "!=";
	case PREDICATE_LESS: return "<";
	case PREDICATE_LESS_EQUAL: return "<=";
	case PREDICATE_GREATER: return ">";
	case PREDICATE_GREATER_EQUAL: return ">=";
	case PREDICATE_AND: return "and";
	case PREDICATE_OR: return "or";
	default: return "?";
	}
}

/* In the order the machine runs it: operands before operators. */
static void print_predicate(struct text *out, const struct predicate *predicate)
{
	for (uint32_t i = 0; i < predicate->step_count; i++) {
		const struct predicate_step *step = &predicate->step[i];

		text_append_char(out, ' ');
		if (step->op == PREDICATE_CONSTANT)
			text_append_number(out, step->number);
		else if (step->op != PREDICATE_VARIABLE)
			text_append(out, op_spelling(step->op));
		else if (step->variable == VARIABLE_STAGE_LAYERS)
			text_printf(out, "stage[%" PRIu32 "].layers", step->index);
		else if (step->variable == VARIABLE_STAGES_UNIFORM)
			text_append(out, "stages.uniform");
		else
			text_append(out, variable_name(step->variable));
	}
}

static void print_domain(struct text *out, enum plan_variable variable,
			 const struct ir_domain *domain)
{
	text_printf(out, "  search %s in {", variable_name(variable));
	for (uint32_t i = 0; i < domain->count; i++)
		text_printf(out, "%s %" PRIu32, i ? "," : "", domain->at[i]);
	text_append(out, " }\n");
}

static void print_places(struct text *out, const struct ir_job *job)
{
	static const char *const name[DIMENSION_COUNT] = {
		[DIMENSION_TENSOR] = "tensor",
		[DIMENSION_CONTEXT] = "context",
		[DIMENSION_DATA] = "data",
		[DIMENSION_PIPELINE] = "pipeline",
	};

	for (uint32_t i = 0; i < DIMENSION_COUNT; i++)
		if (job->within[i])
			text_printf(out, "  place %s within %" PRIu32 " levels\n",
				    name[i], job->within[i]);
	for (uint32_t i = 0; i < job->place_count; i++) {
		const struct ir_place *place = &job->place[i];

		if (place->avoid)
			text_append(out, "  place avoid");
		else if (place->last)
			text_append(out, "  place last stage in");
		else
			text_printf(out, "  place stage %" PRIu32 " in",
				    place->rank);
		text_printf(out, " devices %" PRIu32 " .. %" PRIu32 "\n",
			    place->first, place->first + place->count - 1);
	}
}

static void print_job(struct text *out, const struct ir_job *job)
{
	text_printf(out, "job %s global_batch=%" PRIu32
		    " precision=%s optimizer=%s target=%s\n", job->name,
		    job->global_batch, precision_name(job->precision),
		    optimizer_name(job->optimizer), target_names[job->target]);
	for (int i = 0; i <= VARIABLE_DEVICES; i++)
		if (job->domain[i].given)
			print_domain(out, (enum plan_variable)i, &job->domain[i]);
	if (job->profile.file)
		text_printf(out, "  profile \"%s\" measurements=%" PRIu32 "%s\n",
			    job->profile.file, job->profile.measurement_count,
			    job->profile.with_communication ? " communication" :
			    job->profile.scaled		    ? " scaled" :
							      "");
	text_append(out, "  memory_limit =");
	text_append_char(out, ' ');
	text_append_number(out, job->memory_limit_bytes);
	text_append_char(out, '\n');
	for (uint32_t i = 0; i < job->requirement_count; i++) {
		text_append(out, "  require");
		print_predicate(out, &job->requirement[i].predicate);
		if (job->requirement[i].reason)
			text_printf(out, " else \"%s\"", job->requirement[i].reason);
		text_append_char(out, '\n');
	}
	print_places(out, job);
	for (uint32_t i = 0; i < job->objective_count; i++) {
		text_append(out, "  minimize");
		print_predicate(out, &job->objective[i]);
		text_append_char(out, '\n');
	}
}

void ir_print(const struct ir *ir, struct text *out)
{
	print_model(out, &ir->model);
	print_topology(out, &ir->topology);
	print_job(out, &ir->job);
}
