/* SPDX-License-Identifier: MIT
 *
 * Every invariant of the placement program that its header states.
 */
#include <math.h>

#include "compiler/ir.h"
#include "compiler/profile.h"

#define FAIL_UNLESS(condition, text)    \
	do {                            \
		if (!(condition))       \
			return (text);  \
	} while (0)

static const uint8_t operator_inputs[IR_OPERATOR_COUNT] = {
#define OPERATOR(kind, name, inputs) [IR_##kind] = inputs,
#include "compiler/operators.def"
#undef OPERATOR
};

static bool is_number(double number)
{
	return isfinite(number) && number >= 0;
}

static const char *verify_axes(const struct ir *ir, const struct ir_class *class)
{
	FAIL_UNLESS(class->axis_count >= 2, "a class lacks batch or seq");
	FAIL_UNLESS(class->axis[0].split == IR_SPLIT_DATA && !class->axis[0].size,
		    "axis 0 is not batch");
	FAIL_UNLESS(class->axis[1].size == ir->model.sequence_length,
		    "axis 1 is not seq");
	for (uint32_t i = 1; i < class->axis_count; i++) {
		FAIL_UNLESS(class->axis[i].name, "an axis has no name");
		FAIL_UNLESS(class->axis[i].size, "an axis has no size");
		FAIL_UNLESS(class->axis[i].split != IR_SPLIT_DATA,
			    "an axis besides batch is split by data");
		FAIL_UNLESS(class->axis[i].split != IR_SPLIT_CONTEXT || i == 1,
			    "an axis besides seq is split by context");
	}
	return NULL;
}

static const char *verify_extent(const struct ir_class *class,
				 const struct ir_extent *extent)
{
	FAIL_UNLESS(extent->term_count >= 1 && extent->term_count <= IR_TERM_MAX,
		    "an extent has no or too many terms");
	for (uint32_t i = 0; i < extent->term_count; i++) {
		const struct ir_term *term = &extent->term[i];

		FAIL_UNLESS(term->coefficient, "a term has coefficient 0");
		FAIL_UNLESS(term->axis_count <= IR_FACTOR_MAX,
			    "a term has too many axes");
		for (uint32_t j = 0; j < term->axis_count; j++) {
			FAIL_UNLESS(term->axis[j] < class->axis_count,
				    "a term names an axis that does not exist");
			FAIL_UNLESS(!j || term->axis[j - 1] <= term->axis[j],
				    "the axes of a term are not in order");
		}
	}
	return NULL;
}

static const char *verify_value(const struct ir_class *class, uint32_t index)
{
	const struct ir_value *value = &class->value[index];

	FAIL_UNLESS(value->rank >= 1 && value->rank <= IR_RANK_MAX,
		    "a value has no or too many axes");
	for (uint32_t i = 0; i < value->rank; i++) {
		const char *reason = verify_extent(class, &value->extent[i]);

		if (reason)
			return reason;
	}
	if (value->producer == IR_NONE) {
		FAIL_UNLESS(index == class->input || index == class->tokens,
			    "a value comes from nowhere");
		FAIL_UNLESS(value->router == IR_NONE, "an input is routed");
		return NULL;
	}
	FAIL_UNLESS(value->router == IR_NONE ||
		    (value->router < value->producer &&
		     class->operator[value->router].kind == IR_ROUTER),
		    "a value is routed by no router before it");
	FAIL_UNLESS(value->producer < class->operator_count,
		    "a value has a producer that does not exist");
	FAIL_UNLESS(class->operator[value->producer].output == index,
		    "a value and its producer disagree");
	return NULL;
}

static const char *verify_weight(const struct ir_class *class,
				 const struct ir_operator *operator)
{
	const char *reason;

	if (operator->kind == IR_ROUTER)
		FAIL_UNLESS(operator->top_k &&
			    operator->top_k <= ir_extent_size(class, &operator->to) &&
			    operator->capacity >= 1 && is_number(operator->capacity),
			    "a router sends out too little or too much");
	else if (operator->kind != IR_LINEAR && operator->kind != IR_EMBEDDING &&
		 operator->kind != IR_LM_HEAD)
		return NULL;
	reason = verify_extent(class, &operator->from);
	return reason ? reason : verify_extent(class, &operator->to);
}

static const char *verify_heads(const struct ir_class *class,
				const struct ir_operator *operator)
{
	if (operator->kind != IR_ATTENTION)
		return NULL;
	FAIL_UNLESS(operator->heads_axis < class->axis_count &&
		    operator->kv_heads_axis < class->axis_count,
		    "an attention lacks an axis");
	FAIL_UNLESS(operator->head_size && operator->value_size,
		    "heads of an attention have no size");
	FAIL_UNLESS(class->axis[operator->heads_axis].size %
		    class->axis[operator->kv_heads_axis].size == 0,
		    "heads are no multiple of kv heads");
	return NULL;
}

/* Rows are routed from a DISPATCH to a COMBINE, and meet no others there. */
static const char *verify_routes(const struct ir_class *class,
				 const struct ir_operator *operator)
{
	uint32_t first = class->value[operator->input[0]].router;
	uint32_t router = class->value[operator->output].router;

	if (operator->kind == IR_DISPATCH || operator->kind == IR_COMBINE) {
		uint32_t choice = class->value[operator->input[1]].producer;

		FAIL_UNLESS(choice != IR_NONE &&
			    class->operator[choice].kind == IR_ROUTER,
			    "experts do not follow a router");
		FAIL_UNLESS(operator->kind == IR_DISPATCH ?
				    first == IR_NONE && router == choice :
				    first == choice && router == IR_NONE,
			    "experts do not take and give tokens");
		return NULL;
	}
	for (uint32_t i = 0; i < operator->input_count; i++)
		FAIL_UNLESS(class->value[operator->input[i]].router == router,
			    "routed rows meet others");
	return NULL;
}

static const char *verify_operator(const struct ir_class *class, uint32_t index)
{
	const struct ir_operator *operator = &class->operator[index];
	const char *reason;

	FAIL_UNLESS((unsigned)operator->kind < IR_OPERATOR_COUNT,
		    "an operator has no kind");
	FAIL_UNLESS(operator->input_count == operator_inputs[operator->kind] ||
		    (operator->kind == IR_ATTENTION && operator->input_count == 4),
		    "an operator has the wrong number of inputs");
	FAIL_UNLESS(operator->output < class->value_count &&
		    class->value[operator->output].producer == index,
		    "an operator and its output disagree");
	for (uint32_t i = 0; i < operator->input_count; i++) {
		uint32_t input = operator->input[i];

		FAIL_UNLESS(input < class->value_count,
			    "an operator has an input that does not exist");
		FAIL_UNLESS(input == class->input || input == class->tokens ||
			    class->value[input].producer < index,
			    "an operator comes before what it needs");
	}
	FAIL_UNLESS(operator->dropout >= 0 && operator->dropout < 1,
		    "a dropout is no probability");
	reason = verify_routes(class, operator);
	if (!reason)
		reason = verify_weight(class, operator);
	return reason ? reason : verify_heads(class, operator);
}

static const char *verify_class(const struct ir *ir, const struct ir_class *class)
{
	const char *reason = verify_axes(ir, class);

	FAIL_UNLESS(class->name, "a class has no name");
	FAIL_UNLESS(class->output < class->value_count, "a class has no output");
	FAIL_UNLESS(class->input < class->value_count &&
		    class->value[class->input].producer == IR_NONE,
		    "a class has no input");
	for (uint32_t i = 0; !reason && i < class->value_count; i++)
		reason = verify_value(class, i);
	for (uint32_t i = 0; !reason && i < class->operator_count; i++)
		reason = verify_operator(class, i);
	return reason;
}

static const char *verify_model(const struct ir *ir)
{
	const struct ir_model *model = &ir->model;
	uint64_t chain = 0, layers = 0, parameters = 0;
	const char *reason = NULL;

	FAIL_UNLESS(model->name && model->sequence_length && model->class_count &&
		    model->run_count, "a model lacks something");
	for (uint32_t i = 0; !reason && i < model->class_count; i++)
		reason = verify_class(ir, &model->class[i]);
	for (uint32_t i = 0; !reason && i < model->run_count; i++) {
		const struct ir_run *run = &model->run[i];

		FAIL_UNLESS(run->count && run->class_index < model->class_count,
			    "a run has no layers");
		FAIL_UNLESS(!i || run[-1].class_index != run->class_index,
			    "two runs of one class follow each other");
		chain += run->count;
		parameters += run->count * model->class[run->class_index].parameters;
		if (model->class[run->class_index].is_block)
			layers += run->count;
	}
	if (reason)
		return reason;
	FAIL_UNLESS(chain <= CHAIN_MAX, "the chain is too long");
	FAIL_UNLESS(layers == model->layer_count, "the layers do not add up");
	FAIL_UNLESS(parameters == model->parameters,
		    "the parameters do not add up");
	FAIL_UNLESS(is_number(model->facts.rotary_base) &&
		    is_number(model->facts.norm_epsilon),
		    "a fact of the model is no number");
	return NULL;
}

static const char *verify_device(const struct ir_device *device)
{
	FAIL_UNLESS(device->name, "a device has no name");
#define FIELD(member, name, unit, required, fallback)                       \
	FAIL_UNLESS(is_number(device->member) &&                            \
		    (!(required) || device->member > 0),                    \
		    "'" name "' of the device is out of range");
#include "compiler/device_fields.def"
#undef FIELD
	return NULL;
}

static const char *verify_topology(const struct ir_topology *topology)
{
	uint64_t devices = 1;

	FAIL_UNLESS(topology->name, "a topology has no name");
	FAIL_UNLESS(topology->level_count >= 1 && topology->level_count <= LEVEL_MAX,
		    "a topology has no or too many levels");
	for (uint32_t i = 0; i < topology->level_count; i++) {
		const struct problem_level *level = &topology->level[i].network;

		FAIL_UNLESS(level->fanout >= 1 && level->fanout <= DEVICES_MAX &&
			    level->bandwidth_Bps > 0 && is_number(level->bandwidth_Bps) &&
			    is_number(level->latency_s) && level->efficiency > 0 &&
			    level->efficiency <= 1 && level->oversubscription >= 1 &&
			    is_number(level->oversubscription) &&
			    is_number(level->overhead_s) &&
			    is_number(level->short_overhead_s) &&
			    level->short_efficiency >= 0 &&
			    level->short_efficiency <= 1 &&
			    level->reduction_efficiency >= 0 &&
			    level->reduction_efficiency <= 1,
			    "a level is out of range");
		FAIL_UNLESS(!level->joined ||
			    (i > 0 && level->kind == LEVEL_RING),
			    "a dimension of a torus joins no other");
		devices *= level->fanout;
		FAIL_UNLESS(devices <= DEVICES_MAX, "there are too many devices");
	}
	FAIL_UNLESS(devices == topology->device_count, "the devices do not add up");
	return verify_device(&topology->device);
}

static const char *verify_predicate(const struct predicate *predicate,
				    uint32_t index)
{
	bool outcome = false;

	FAIL_UNLESS(predicate_is_valid(predicate), "a plan program is not valid");
	FAIL_UNLESS(predicate->source == index, "a plan program has the wrong number");
	for (uint32_t i = 0; i < predicate->step_count; i++)
		outcome = outcome ||
			  (predicate->step[i].op == PREDICATE_VARIABLE &&
			   predicate->step[i].variable >= VARIABLE_TIME);
	FAIL_UNLESS(outcome == predicate->needs_outcome,
		    "a plan program and its needs disagree");
	return NULL;
}

static const char *verify_domain(const struct ir_domain *domain)
{
	FAIL_UNLESS(domain->given == (domain->count > 0),
		    "a domain is given but empty");
	for (uint32_t i = 1; i < domain->count; i++)
		FAIL_UNLESS(domain->at[i - 1] < domain->at[i],
			    "a domain is not ascending");
	return NULL;
}

static const char *verify_profile(const struct ir *ir)
{
	const struct ir_profile *profile = &ir->job.profile;

	FAIL_UNLESS(profile->file || !profile->measurement_count,
		    "measurements come from nowhere");
	for (uint32_t i = 0; i < profile->measurement_count; i++) {
		const struct ir_measurement *at = &profile->measurement[i];

		FAIL_UNLESS(at->class_index < ir->model.class_count,
			    "a measurement is of no layer");
		FAIL_UNLESS(at->forward_s > 0 && is_number(at->forward_s) &&
			    at->backward_s > 0 && is_number(at->backward_s),
			    "a measured time is out of range");
		FAIL_UNLESS(!i || profile_compare(at - 1, at) < 0,
			    "measurements are not ascending");
	}
	return NULL;
}

static const char *verify_job(const struct ir *ir)
{
	const struct ir_job *job = &ir->job;
	const char *reason = NULL;

	FAIL_UNLESS(job->name && job->global_batch, "a job lacks something");
	FAIL_UNLESS((unsigned)job->precision < IR_PRECISION_COUNT &&
		    (unsigned)job->optimizer < IR_OPTIMIZER_COUNT &&
		    (unsigned)job->target < IR_TARGET_COUNT,
		    "a choice of the job is out of range");
	FAIL_UNLESS(job->memory_limit_bytes > 0 &&
		    job->memory_limit_bytes <= ir->topology.device.memory_bytes,
		    "the memory limit is out of range");
	FAIL_UNLESS(job->objective_count, "a job minimizes nothing");
	for (uint32_t i = 0; !reason && i <= VARIABLE_DEVICES; i++)
		reason = verify_domain(&job->domain[i]);
	for (uint32_t i = 0; !reason && i < job->requirement_count; i++)
		reason = verify_predicate(&job->requirement[i].predicate, i);
	for (uint32_t i = 0; !reason && i < job->objective_count; i++)
		reason = verify_predicate(&job->objective[i], i);
	return reason ? reason : verify_profile(ir);
}

/* The job on one kind alone, which is that of the whole but for its devices. */
static const char *verify_kind(const struct ir *ir, const struct ir_kind *kind)
{
	const struct ir *only = kind->only;
	const struct ir_topology *topology = &only->topology;
	const char *found;

	found = verify_model(only);
	if (!found)
		found = verify_topology(topology);
	if (!found)
		found = verify_job(only);
	if (found)
		return found;
	FAIL_UNLESS(kind->name && !topology->kind_count &&
			    topology->cluster_devices ==
				    ir->topology.cluster_devices,
		    "a kind is no topology of alike devices");
	FAIL_UNLESS(topology->level[topology->level_count - 1].network.fanout ==
			    kind->count,
		    "a kind has another number of children");
	FAIL_UNLESS(only->model.class_count == ir->model.class_count &&
			    only->job.global_batch == ir->job.global_batch,
		    "a kind has another job");
	return NULL;
}

static const char *verify_kinds(const struct ir *ir)
{
	const struct ir_topology *topology = &ir->topology;
	uint32_t devices = 0;
	const char *found = NULL;

	FAIL_UNLESS(topology->kind_count != 1 && topology->kind_count <= KIND_MAX,
		    "a cluster has too many kinds, or too few");
	for (uint32_t k = 0; !found && k < topology->kind_count; k++) {
		const struct ir_kind *kind = &topology->kind[k];

		FAIL_UNLESS(kind->first_device == devices,
			    "the devices of a kind have the wrong numbers");
		devices += kind->only->topology.device_count;
		found = verify_kind(ir, kind);
	}
	FAIL_UNLESS(!topology->kind_count || topology->cluster_devices == devices,
		    "the devices of the kinds do not add up");
	return found;
}

bool ir_verify(const struct ir *ir, const char **reason)
{
	const char *found = verify_model(ir);

	if (!found)
		found = verify_topology(&ir->topology);
	if (!found)
		found = verify_job(ir);
	if (!found)
		found = verify_kinds(ir);
	if (reason)
		*reason = found;
	return !found;
}
