/* SPDX-License-Identifier: MIT
 *
 * Enumeration of shapes: degrees from the search domains, or all that are
 * legal, and the reports when a domain leaves none.
 */

#include "compiler/problem_build.h"

/* Divisors named in advice at most. */
#define ADVICE_MAX 12

/* Dimensions that cut axes. */
enum cutting { TENSOR, CONTEXT, EXPERT, EXPERT_TENSOR, CUTTING_COUNT };

static const struct {
	const char *name;
	enum plan_variable variable;
	enum ir_split split;
} dimensions[CUTTING_COUNT] = {
	[TENSOR] = { "tensor", VARIABLE_TENSOR, IR_SPLIT_TENSOR },
	[CONTEXT] = { "context", VARIABLE_CONTEXT, IR_SPLIT_CONTEXT },
	[EXPERT] = { "expert", VARIABLE_EXPERT, IR_SPLIT_EXPERT },
	[EXPERT_TENSOR] = { "expert_tensor", VARIABLE_EXPERT_TENSOR,
			    IR_SPLIT_EXPERT_TENSOR },
};

struct degree_list {
	VEC(uint32_t) degrees;
};

struct degrees {
	struct degree_list cutting[CUTTING_COUNT];
	VEC(uint32_t) micro_batch;
	bool sequence[2];		/* off, on */
	uint32_t devices_max;
};

static bool is_legal(const struct problem_build *build,
		     const struct problem_shape *shape,
		     const struct ir_axis **axis, uint32_t *degree)
{
	const struct ir_model *model = &build->ir->model;

	for (uint32_t i = 0; i < model->class_count; i++)
		if (!layout_is_legal(&model->class[i], model, shape, axis,
				     degree))
			return false;
	return true;
}

/* A shape cut over one dimension. Layers with experts need sequence parallelism
 * beside tensor parallelism, so it is on where the job allows that. */
static struct problem_shape degree_shape(const struct problem_build *build,
					 enum cutting dimension, uint32_t degree)
{
	struct problem_shape shape = { .tensor = 1, .context = 1, .expert = 1,
				       .expert_tensor = 1, .micro_batch = 1 };

	switch (dimension) {
	case TENSOR:
		shape.tensor = degree;
		shape.sequence = degree > 1 && ir_has_experts(&build->ir->model);
		break;
	case CONTEXT:
		shape.context = degree;
		break;
	case EXPERT:
		shape.expert = degree;
		break;
	default:
		shape.expert_tensor = degree;
		break;
	}
	return shape;
}

/* Whether any axis of the model can be cut by the dimension. */
static bool has_split(const struct problem_build *build, enum ir_split split)
{
	const struct ir_model *model = &build->ir->model;

	for (uint32_t i = 0; i < model->class_count; i++)
		for (uint32_t j = 0; j < model->class[i].axis_count; j++)
			if (model->class[i].axis[j].split == split)
				return true;
	return false;
}

/* "1, 2, 4, 5": degrees up to last that are legal for all layers. */
static const char *legal_degrees(struct problem_build *build,
				 enum cutting dimension, uint32_t last)
{
	struct text text;
	uint32_t count = 0;

	text_init(&text, build->arena);
	for (uint32_t i = 1; i <= last && count < ADVICE_MAX; i++) {
		struct problem_shape shape = degree_shape(build, dimension, i);

		if (!is_legal(build, &shape, NULL, NULL))
			continue;
		text_printf(&text, "%s%u", count++ ? ", " : "", i);
	}
	return text.at;
}

/* No value of a given domain is legal: names the first one's obstacle. */
static bool report_degrees(struct problem_build *build, enum cutting dimension,
			   uint32_t devices_max)
{
	const struct ir_domain *domain =
		&build->ir->job.domain[dimensions[dimension].variable];
	const char *name = dimensions[dimension].name;
	const struct ir_axis *axis = NULL;
	struct problem_shape shape;
	uint32_t degree = 1, last = 1;

	for (uint32_t i = 0; i < domain->count; i++)
		if (domain->at[i] <= devices_max)
			last = domain->at[i];
	for (uint32_t i = 0; i < domain->count && !axis; i++) {
		shape = degree_shape(build, dimension, domain->at[i]);
		if (domain->at[i] && domain->at[i] <= devices_max)
			is_legal(build, &shape, &axis, &degree);
	}
	if (!axis) {
		if (domain->count == 1 && domain->at[0] > devices_max)
			diag_error(build->diags, E_NO_SHAPE, domain->span,
				   "'%s = %u' needs %u devices, and a plan has at most %u",
				   name, domain->at[0], domain->at[0], devices_max);
		else if (domain->at[0] > devices_max)
			diag_error(build->diags, E_NO_SHAPE, domain->span,
				   "every value of '%s' is more than the %u devices of a plan",
				   name, devices_max);
		else
			diag_error(build->diags, E_NO_SHAPE, domain->span,
				   "no value of '%s' can be run on %u devices",
				   name, devices_max);
		diag_help(build->diags, "all layers can be split by '%s' in %s",
			  name, legal_degrees(build, dimension, devices_max));
		return false;
	}
	diag_error(build->diags, E_INDIVISIBLE, domain->span,
		   "'%s = %llu' cannot be split over '%s = %u'", axis->name,
		   (unsigned long long)axis->size, name, degree);
	if (!span_is_nowhere(axis->split_span))
		diag_note(build->diags, axis->split_span,
			  "'%s' is split by '%s' here", axis->name, name);
	else
		diag_note(build->diags, axis->span,
			  "'%s' has its size from here", axis->name);
	if (dimension == CONTEXT)
		diag_note(build->diags, SPAN_NONE,
			  "each context rank takes two equal pieces of the sequence");
	/* Also some that are larger than what was asked for. */
	last = last > devices_max / 4 ? devices_max : 4 * last;
	diag_help(build->diags, "all layers can be split by '%s' in %s", name,
		  legal_degrees(build, dimension, last));
	return false;
}

/* Legal degrees of one dimension, from its domain or all up to the devices. */
static bool find_degrees(struct problem_build *build, enum cutting dimension,
			 struct degrees *degrees)
{
	const struct ir_domain *domain =
		&build->ir->job.domain[dimensions[dimension].variable];
	const char *name = dimensions[dimension].name;
	struct degree_list *list = &degrees->cutting[dimension];
	bool any = has_split(build, dimensions[dimension].split);
	uint32_t last = any ? degrees->devices_max : 1;
	uint32_t count = domain->given ? domain->count : last;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t degree = domain->given ? domain->at[i] : i + 1;
		struct problem_shape shape =
			degree_shape(build, dimension, degree);

		if (degree == 0 || degree > last ||
		    !is_legal(build, &shape, NULL, NULL))
			continue;
		VEC_PUSH(&list->degrees, build->arena, degree);
	}
	if (list->degrees.count)
		return true;
	if (any)
		return report_degrees(build, dimension, degrees->devices_max);
	diag_error(build->diags, E_NO_SHAPE, domain->span,
		   "no axis of model '%s' is split by '%s'",
		   build->ir->model.name, name);
	diag_help(build->diags, "allow '%s = 1', or add a 'split' to a template",
		  name);
	return false;
}

/* Divisors of the global batch that the domain has, ascending. */
static bool find_micro_batches(struct problem_build *build,
			       struct degrees *degrees)
{
	const struct ir_job *job = &build->ir->job;
	const struct ir_domain *domain = &job->domain[VARIABLE_MICRO_BATCH];
	uint32_t batch = job->global_batch;
	VEC(uint32_t) large = { 0 };

	for (uint32_t i = 1; (uint64_t)i * i <= batch; i++) {
		if (batch % i)
			continue;
		if (ir_domain_allows(domain, i))
			VEC_PUSH(&degrees->micro_batch, build->arena, i);
		if (i != batch / i && ir_domain_allows(domain, batch / i))
			VEC_PUSH(&large, build->arena, batch / i);
	}
	for (size_t i = large.count; i > 0; i--)
		VEC_PUSH(&degrees->micro_batch, build->arena, large.at[i - 1]);
	if (degrees->micro_batch.count)
		return true;
	diag_error(build->diags, E_MICRO_BATCH, domain->span,
		   "no value of 'micro_batch' divides 'global_batch = %u'", batch);
	if (!span_is_nowhere(job->global_batch_span))
		diag_note(build->diags, job->global_batch_span,
			  "the global batch is given here");
	diag_help(build->diags,
		  "micro_batch x data must divide the global batch: allow 'micro_batch = 1'");
	return false;
}

static uint32_t devices_max(const struct problem_build *build)
{
	const struct ir_domain *domain =
		&build->ir->job.domain[VARIABLE_DEVICES];
	const struct ir_topology *topology = &build->ir->topology;
	/* Kinds of a cluster have the same shapes: those of all its devices. */
	uint32_t all = topology->cluster_devices ? topology->cluster_devices :
						   topology->device_count;

	if (!domain->given || domain->count == 0)
		return all;
	return domain->at[domain->count - 1] < all ?
		       domain->at[domain->count - 1] : all;
}

/* Operators of all classes: the work of one shape. */
static uint64_t operator_count(const struct ir_model *model)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < model->class_count; i++)
		count += model->class[i].operator_count;
	return count;
}

static bool report_many(struct problem_build *build, uint64_t count)
{
	diag_error(build->diags, E_SHAPES_MANY, build->ir->job.span,
		   "the search space has more than %llu combinations of "
		   "'tensor', 'context', %s'sequence' and 'micro_batch'",
		   (unsigned long long)count,
		   ir_has_experts(&build->ir->model) ?
			   "'expert', 'expert_tensor', " : "");
	diag_help(build->diags,
		  "give 'micro_batch' or 'context' a domain in 'search', "
		  "for example micro_batch in { 1, 2, 4 }");
	return false;
}

/* All micro-batches of one way to cut. */
static bool push_shapes(struct problem_build *build,
			const struct degrees *degrees, struct problem_shape shape)
{
	uint64_t work = operator_count(&build->ir->model);
	uint64_t most = INFERENCES_MAX / (work ? work : 1);

	if (!is_legal(build, &shape, NULL, NULL))
		return true;
	if (most > SHAPES_MAX)
		most = SHAPES_MAX;
	if (build->shape.count + degrees->micro_batch.count > most)
		return report_many(build, most);
	for (size_t i = 0; i < degrees->micro_batch.count; i++) {
		shape.micro_batch = degrees->micro_batch.at[i];
		VEC_PUSH(&build->shape, build->arena, shape);
	}
	return true;
}

/* Parts of experts that are tried: those of the domain, else the divisors of
 * tensor. */
static bool tries_expert_tensor(const struct problem_build *build,
				const struct problem_shape *shape)
{
	return build->ir->job.domain[VARIABLE_EXPERT_TENSOR].given ||
	       shape->tensor % shape->expert_tensor == 0;
}

/* All expert degrees beside the other degrees of a shape. */
static bool combine_experts(struct problem_build *build,
			    const struct degrees *degrees,
			    struct problem_shape shape)
{
	const struct degree_list *expert = &degrees->cutting[EXPERT];
	const struct degree_list *part = &degrees->cutting[EXPERT_TENSOR];

	for (size_t i = 0; i < expert->degrees.count; i++)
		for (size_t j = 0; j < part->degrees.count; j++) {
			shape.expert = expert->degrees.at[i];
			shape.expert_tensor = part->degrees.at[j];
			if ((uint64_t)shape.expert * shape.expert_tensor >
			    degrees->devices_max)
				break;
			if (tries_expert_tensor(build, &shape) &&
			    !push_shapes(build, degrees, shape))
				return false;
		}
	return true;
}

static bool combine(struct problem_build *build, const struct degrees *degrees)
{
	const struct degree_list *tensor = &degrees->cutting[TENSOR];
	const struct degree_list *context = &degrees->cutting[CONTEXT];
	struct problem_shape shape = { .micro_batch = 1 };

	for (size_t i = 0; i < tensor->degrees.count; i++)
		for (size_t j = 0; j < context->degrees.count; j++) {
			shape.tensor = tensor->degrees.at[i];
			shape.context = context->degrees.at[j];
			if ((uint64_t)shape.tensor * shape.context >
			    degrees->devices_max)
				break;
			for (int k = 0; k < 2; k++) {
				shape.sequence = k == 1;
				if (degrees->sequence[k] &&
				    !combine_experts(build, degrees, shape))
					return false;
			}
		}
	return true;
}

/* Degrees that are legal one by one, but in no combination. */
static bool report_none(struct problem_build *build,
			const struct degrees *degrees)
{
	const struct ir_job *job = &build->ir->job;
	const struct ir_domain *domain = &job->domain[VARIABLE_SEQUENCE];

	if (domain->given && !degrees->sequence[0]) {
		diag_error(build->diags, E_NO_SHAPE, domain->span,
			   "'sequence = on' fits none of the values of 'tensor'");
		diag_note(build->diags, SPAN_NONE,
			  "sequence parallelism needs tensor > 1 that divides "
			  "the %llu tokens of a sequence over context",
			  (unsigned long long)build->ir->model.sequence_length);
		diag_help(build->diags, "allow 'sequence = off' as well");
		return false;
	}
	if (domain->given && !degrees->sequence[1] &&
	    ir_has_experts(&build->ir->model)) {
		diag_error(build->diags, E_NO_SHAPE, domain->span,
			   "layers with experts need 'sequence = on' with "
			   "tensor > 1");
		diag_note(build->diags, SPAN_NONE,
			  "each tensor rank sends its own part of the sequence to "
			  "the experts");
		diag_help(build->diags, "allow 'sequence = on' or 'tensor = 1' as well");
		return false;
	}
	diag_error(build->diags, E_NO_SHAPE, job->span,
		   "no combination of 'tensor' and 'context' can be run on %u devices",
		   degrees->devices_max);
	diag_help(build->diags, "allow smaller values of 'tensor' or 'context'");
	return false;
}

bool problem_build_shapes(struct problem_build *build)
{
	struct degrees degrees = { .devices_max = devices_max(build) };
	const struct ir_domain *sequence =
		&build->ir->job.domain[VARIABLE_SEQUENCE];
	bool good = true;

	/* Every report is wanted, so none of these may be skipped. */
	for (int i = 0; i < CUTTING_COUNT; i++)
		good &= find_degrees(build, (enum cutting)i, &degrees);
	good &= find_micro_batches(build, &degrees);
	degrees.sequence[0] = ir_domain_allows(sequence, 0);
	degrees.sequence[1] = ir_domain_allows(sequence, 1);
	if (!good || !combine(build, &degrees))
		return false;
	return build->shape.count ? true : report_none(build, &degrees);
}
