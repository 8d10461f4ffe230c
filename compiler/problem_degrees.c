/* SPDX-License-Identifier: MIT
 *
 * Degrees and policies that a search or plan asks for and that cannot be together,
 * whatever else is chosen: more devices than there are, more stages than layers,
 * batches that do not divide. The search would find the same, but not say it in one
 * sentence.
 */
#include "compiler/problem_build.h"

#include "compiler/variable.h"

static const enum plan_variable factors[] = {
	VARIABLE_TENSOR, VARIABLE_CONTEXT, VARIABLE_DATA, VARIABLE_PIPELINE,
};

#define FACTOR_COUNT (sizeof(factors) / sizeof(*factors))

/* The least value of a variable; 1 where all are allowed. */
static uint32_t least(const struct ir_job *job, enum plan_variable variable)
{
	const struct ir_domain *domain = &job->domain[variable];

	return domain->given && domain->count ? domain->at[0] : 1;
}

static uint32_t devices_of(const struct ir *ir)
{
	return ir->topology.cluster_devices ? ir->topology.cluster_devices :
					      ir->topology.device_count;
}

/* Points at every domain that takes part, the first of them with the error. */
static bool check_product(struct problem_build *build)
{
	const struct ir_job *job = &build->ir->job;
	uint32_t first = FACTOR_COUNT, devices = devices_of(build->ir);
	double product = 1;
	struct text list;

	text_init(&list, build->arena);
	for (uint32_t i = 0; i < FACTOR_COUNT; i++) {
		uint32_t degree = least(job, factors[i]);

		product *= degree;
		if (degree == 1)
			continue;
		text_printf(&list, "%s'%s = %u'",
			    first == FACTOR_COUNT ? "" : " x ",
			    variable_name(factors[i]), degree);
		if (first == FACTOR_COUNT)
			first = i;
	}
	if (product <= devices)
		return true;
	diag_error(build->diags, E_NO_SHAPE, job->domain[factors[first]].span,
		   "%s needs %.0f devices, and the topology has %u", list.at,
		   product, devices);
	for (uint32_t i = first + 1; i < FACTOR_COUNT; i++)
		if (least(job, factors[i]) > 1)
			diag_label(build->diags, job->domain[factors[i]].span,
				   "and this");
	diag_help(build->diags, "allow smaller degrees, or give the topology more devices");
	return false;
}

static bool check_devices(struct problem_build *build)
{
	const struct ir_job *job = &build->ir->job;
	uint32_t wanted = least(job, VARIABLE_DEVICES);

	if (wanted <= devices_of(build->ir))
		return true;
	diag_error(build->diags, E_NO_SHAPE, job->domain[VARIABLE_DEVICES].span,
		   "no plan uses %u devices: the topology has %u", wanted,
		   devices_of(build->ir));
	diag_note(build->diags, build->ir->topology.span,
		  "the topology is this one");
	return false;
}

static bool check_stages(struct problem_build *build)
{
	const struct ir_job *job = &build->ir->job;
	uint32_t pipeline = least(job, VARIABLE_PIPELINE);
	uint32_t chunks = least(job, VARIABLE_VIRTUAL), layers = 0;

	for (uint32_t i = 0; i < build->ir->model.run_count; i++)
		layers += build->ir->model.run[i].count;
	if ((double)pipeline * chunks <= layers)
		return true;
	diag_error(build->diags, E_NO_SHAPE,
		   job->domain[pipeline > 1 ? VARIABLE_PIPELINE :
					      VARIABLE_VIRTUAL].span,
		   "%u stages%s need as many layers, and the chain of model '%s' has %u",
		   pipeline,
		   chunks > 1 ? arena_printf(build->arena, " of %u chunks each",
					     chunks) : "",
		   build->ir->model.name, layers);
	if (pipeline > 1 && chunks > 1)
		diag_label(build->diags, job->domain[VARIABLE_VIRTUAL].span,
			   "and this");
	diag_help(build->diags, "allow fewer stages");
	return false;
}

/* ---- batches ---- */

/* Values that are tried of a domain together with those of others. */
#define TRIED_MAX 256

/* The values of a domain, or just `any` where all are allowed. */
struct values {
	const uint32_t *at;
	uint32_t count;
	uint32_t any;
};

static struct values values_of(const struct problem_build *build,
			       enum plan_variable variable, uint32_t any)
{
	const struct ir_domain *domain = &build->ir->job.domain[variable];
	struct values values = { .any = any, .count = 1 };

	if (domain->given && domain->count) {
		values.at = domain->at;
		values.count = domain->count;
	}
	return values;
}

static uint32_t values_get(const struct values *values, uint32_t i)
{
	return values->at ? values->at[i] : values->any;
}

static bool is_tried(const struct values *values)
{
	return values->count <= TRIED_MAX;
}

/* Whether some data x micro_batch x micro_batches is the global batch; what is
 * not given may be anything. */
static bool batch_is_possible(const struct problem_build *build)
{
	const struct ir_job *job = &build->ir->job;
	struct values data = values_of(build, VARIABLE_DATA, 1);
	struct values size = values_of(build, VARIABLE_MICRO_BATCH, 1);
	struct values rounds = values_of(build, VARIABLE_MICRO_BATCHES, 1);
	bool whole = data.at && size.at && rounds.at;

	if (!is_tried(&data) || !is_tried(&size) || !is_tried(&rounds))
		return true;
	for (uint32_t i = 0; i < data.count; i++)
		for (uint32_t j = 0; j < size.count; j++)
			for (uint32_t k = 0; k < rounds.count; k++) {
				double product = (double)values_get(&data, i) *
						 values_get(&size, j) *
						 values_get(&rounds, k);

				if (product <= job->global_batch &&
				    job->global_batch % (uint32_t)product == 0 &&
				    (!whole || product == job->global_batch))
					return true;
			}
	return false;
}

/* "'data = 3' x 'micro_batch = 2'", or without a number where it has several; the
 * span receives the place of the first with one number, else of the first. */
static const char *spell_product(struct problem_build *build,
				 const enum plan_variable *variable,
				 uint32_t count, struct span *span)
{
	const struct ir_job *job = &build->ir->job;
	bool pointed = false;
	struct text text;

	text_init(&text, build->arena);
	for (uint32_t i = 0; i < count; i++) {
		const struct ir_domain *domain = &job->domain[variable[i]];

		if (!domain->given)
			continue;
		text_append(&text, text.length ? " x " : "");
		if (domain->count == 1)
			text_printf(&text, "'%s = %u'",
				    variable_name(variable[i]), domain->at[0]);
		else
			text_printf(&text, "'%s'", variable_name(variable[i]));
		if (span_is_nowhere(*span) ||
		    (domain->count == 1 && !pointed))
			*span = domain->span;
		pointed |= domain->count == 1;
	}
	return text.at;
}

/* Divisors of a batch that are no more than the devices: "1, 2, 4, 8". */
static const char *divisors(struct problem_build *build, uint32_t batch)
{
	uint32_t devices = devices_of(build->ir), most = 12, found = 0;
	struct text text;

	text_init(&text, build->arena);
	for (uint32_t d = 1; d <= batch && d <= devices; d++) {
		if (batch % d)
			continue;
		if (++found > most) {
			text_append(&text, ", ..");
			break;
		}
		text_printf(&text, "%s%u", found > 1 ? ", " : "", d);
	}
	return text.at;
}

static bool check_batch(struct problem_build *build)
{
	static const enum plan_variable factor[] = {
		VARIABLE_DATA, VARIABLE_MICRO_BATCH, VARIABLE_MICRO_BATCHES,
	};
	const struct ir_job *job = &build->ir->job;
	struct span span = SPAN_NONE;
	const char *product;
	bool whole = true;

	if (batch_is_possible(build))
		return true;
	for (int i = 0; i < 3; i++)
		whole &= job->domain[factor[i]].given;
	product = spell_product(build, factor, 3, &span);
	diag_error(build->diags, E_MICRO_BATCH, span,
		   whole ? "%s is not 'global_batch = %u'" :
			   "%s does not divide 'global_batch = %u'",
		   product, job->global_batch);
	if (!span_is_nowhere(job->global_batch_span))
		diag_note(build->diags, job->global_batch_span,
			  "the global batch is given here");
	diag_note(build->diags, SPAN_NONE,
		  "data x micro_batch x micro_batches is the global batch");
	if (job->domain[VARIABLE_DATA].given &&
	    !job->domain[VARIABLE_MICRO_BATCHES].given)
		diag_help(build->diags,
			  "with 'micro_batch = %u', 'data' can be %s",
			  least(job, VARIABLE_MICRO_BATCH),
			  divisors(build, job->global_batch /
						  least(job, VARIABLE_MICRO_BATCH)));
	return false;
}

/* ---- one thing that another needs ---- */

/* The greatest value of a variable; UINT32_MAX where all are allowed. */
static uint32_t greatest(const struct ir_job *job, enum plan_variable variable)
{
	const struct ir_domain *domain = &job->domain[variable];

	return domain->given && domain->count ? domain->at[domain->count - 1] :
						UINT32_MAX;
}

static bool is_given(const struct ir_job *job, enum plan_variable variable)
{
	return job->domain[variable].given && job->domain[variable].count;
}

static bool allows(const struct ir_job *job, enum plan_variable variable,
		   uint32_t value)
{
	return ir_domain_allows(&job->domain[variable], value);
}

/* Reports that what a variable is given needs another one to be otherwise. */
static bool report_need(struct problem_build *build, enum plan_variable variable,
			enum plan_variable other, const char *message,
			const char *help)
{
	const struct ir_job *job = &build->ir->job;

	diag_error(build->diags, E_NO_SHAPE, job->domain[variable].span, "%s",
		   message);
	if (is_given(job, other))
		diag_label(build->diags, job->domain[other].span, "beside this");
	diag_help(build->diags, "%s", help);
	return false;
}

/* Whether micro-batches can come in whole rounds of some pipeline. */
static bool rounds_are_possible(const struct problem_build *build)
{
	const struct ir_job *job = &build->ir->job;
	struct values data = values_of(build, VARIABLE_DATA, 1);
	struct values size = values_of(build, VARIABLE_MICRO_BATCH, 1);
	struct values stages = values_of(build, VARIABLE_PIPELINE, 1);

	if (!is_tried(&data) || !is_tried(&size) || !is_tried(&stages))
		return true;
	for (uint32_t i = 0; i < data.count; i++)
		for (uint32_t j = 0; j < size.count; j++)
			for (uint32_t k = 0; k < stages.count; k++) {
				double product = (double)values_get(&data, i) *
						 values_get(&size, j) *
						 values_get(&stages, k);

				if ((!stages.at || values_get(&stages, k) > 1) &&
				    product <= job->global_batch &&
				    job->global_batch % (uint32_t)product == 0)
					return true;
			}
	return false;
}

static bool check_interleaving(struct problem_build *build)
{
	static const enum plan_variable factor[] = {
		VARIABLE_DATA, VARIABLE_MICRO_BATCH, VARIABLE_PIPELINE,
	};
	const struct ir_job *job = &build->ir->job;
	struct span span = SPAN_NONE;

	if (least(job, VARIABLE_VIRTUAL) < 2)
		return true;
	if (greatest(job, VARIABLE_PIPELINE) < 2)
		return report_need(build, VARIABLE_VIRTUAL, VARIABLE_PIPELINE,
				   "virtual stages need a pipeline, and 'pipeline = 1' is none",
				   "allow 'virtual = 1', or a larger 'pipeline'");
	if (rounds_are_possible(build))
		return true;
	diag_error(build->diags, E_NO_SHAPE, job->domain[VARIABLE_VIRTUAL].span,
		   "virtual stages need micro-batches in whole rounds of the pipeline, and %s does not divide 'global_batch = %u'",
		   spell_product(build, factor, 3, &span), job->global_batch);
	diag_help(build->diags, "allow 'virtual = 1', or a 'pipeline' that divides the micro-batches");
	return false;
}

static bool check_schedule(struct problem_build *build)
{
	const struct ir_job *job = &build->ir->job;
	bool interleaved = allows(job, VARIABLE_SCHEDULE, SCHEDULE_INTERLEAVED);
	bool plain = allows(job, VARIABLE_SCHEDULE, SCHEDULE_1F1B) ||
		     allows(job, VARIABLE_SCHEDULE, SCHEDULE_GPIPE);

	if (!is_given(job, VARIABLE_SCHEDULE))
		return true;
	if (!interleaved && least(job, VARIABLE_VIRTUAL) > 1)
		return report_need(build, VARIABLE_SCHEDULE, VARIABLE_VIRTUAL,
				   "more than one virtual stage a device is the schedule 'interleaved'",
				   "allow 'schedule = interleaved', or 'virtual = 1'");
	if (!plain && greatest(job, VARIABLE_VIRTUAL) < 2 &&
	    (job->is_fixed || least(job, VARIABLE_PIPELINE) > 1))
		return report_need(build, VARIABLE_SCHEDULE, VARIABLE_VIRTUAL,
				   "the schedule 'interleaved' needs more than one virtual stage a device",
				   "allow a larger 'virtual', or 'schedule = one_f_one_b'");
	if (job->is_fixed && !allows(job, VARIABLE_SCHEDULE, SCHEDULE_1F1B) &&
	    greatest(job, VARIABLE_PIPELINE) < 2)
		return report_need(build, VARIABLE_SCHEDULE, VARIABLE_PIPELINE,
				   "this schedule needs a pipeline, and 'pipeline = 1' is none",
				   "allow a larger 'pipeline', or leave 'schedule' out");
	return true;
}

static bool check_shards(struct problem_build *build)
{
	const struct ir_job *job = &build->ir->job;

	if (!job->is_fixed || !is_given(job, VARIABLE_SHARD_LEVEL) ||
	    !least(job, VARIABLE_SHARD_LEVEL) ||
	    greatest(job, VARIABLE_ZERO) > 0)
		return true;
	return report_need(build, VARIABLE_SHARD_LEVEL, VARIABLE_ZERO,
			   "'shard_level' says among whom ZeRO shares out, and 'zero = 0' shares nothing",
			   "allow 'zero = 1' or more, or 'shard_level = 0'");
}

/* ---- experts, devices: where all degrees are single numbers ---- */

/* The product of degrees that are all given as one number; 0 if they are not. */
static uint64_t known_product(const struct ir_job *job,
			      const enum plan_variable *variable, uint32_t count)
{
	uint64_t product = 1;

	for (uint32_t i = 0; i < count; i++) {
		const struct ir_domain *domain = &job->domain[variable[i]];

		if (!domain->given || domain->count != 1 ||
		    product * domain->at[0] > DEVICES_MAX)
			return 0;
		product *= domain->at[0];
	}
	return product;
}

/* The ranks of a stage that experts are shared out among are those of no other. */
static bool check_expert_ranks(struct problem_build *build)
{
	static const enum plan_variable expert[] = { VARIABLE_EXPERT,
						     VARIABLE_EXPERT_TENSOR };
	const struct ir_job *job = &build->ir->job;
	double parts = (double)least(job, VARIABLE_EXPERT) *
		       least(job, VARIABLE_EXPERT_TENSOR);
	uint32_t pipeline = least(job, VARIABLE_PIPELINE);
	uint32_t devices = devices_of(build->ir);
	struct span span = SPAN_NONE;

	if (parts * pipeline <= devices)
		return true;
	diag_error(build->diags, E_NO_SHAPE,
		   job->domain[is_given(job, VARIABLE_EXPERT) ?
				       VARIABLE_EXPERT :
				       VARIABLE_EXPERT_TENSOR].span,
		   "%s needs %.0f ranks in every stage, and of %u devices a stage has at most %u",
		   spell_product(build, expert, 2, &span), parts, devices,
		   devices / pipeline);
	if (pipeline > 1)
		diag_label(build->diags, job->domain[VARIABLE_PIPELINE].span,
			   "with this");
	diag_note(build->diags, SPAN_NONE,
		  "experts are shared out among the tensor x context x data ranks of a stage");
	return false;
}

static bool check_experts(struct problem_build *build)
{
	static const enum plan_variable expert[] = { VARIABLE_EXPERT,
						     VARIABLE_EXPERT_TENSOR };
	static const enum plan_variable rank[] = {
		VARIABLE_TENSOR, VARIABLE_CONTEXT, VARIABLE_DATA,
	};
	const struct ir_job *job = &build->ir->job;
	uint64_t parts = least(job, VARIABLE_EXPERT) *
			 (uint64_t)least(job, VARIABLE_EXPERT_TENSOR);
	uint64_t ranks = known_product(job, rank, 3);
	struct span span = SPAN_NONE, other = SPAN_NONE;
	const char *divisor, *whole;

	if (!ranks || job->domain[VARIABLE_EXPERT].count > 1 ||
	    job->domain[VARIABLE_EXPERT_TENSOR].count > 1 || ranks % parts == 0)
		return true;
	divisor = spell_product(build, expert, 2, &span);
	whole = spell_product(build, rank, 3, &other);
	diag_error(build->diags, E_NO_SHAPE, span,
		   "%s does not divide the %u ranks of a stage, %s", divisor,
		   (unsigned)ranks, whole);
	diag_note(build->diags, SPAN_NONE,
		  "experts are shared out among the tensor x context x data ranks of a stage");
	return false;
}

static bool check_used(struct problem_build *build)
{
	const struct ir_job *job = &build->ir->job;
	uint64_t used = known_product(job, factors, FACTOR_COUNT);
	struct span span = SPAN_NONE;

	if (!used || !is_given(job, VARIABLE_DEVICES) ||
	    allows(job, VARIABLE_DEVICES, (uint32_t)used))
		return true;
	diag_error(build->diags, E_NO_SHAPE, job->domain[VARIABLE_DEVICES].span,
		   "%s are %u devices, which 'devices' does not allow",
		   spell_product(build, factors, FACTOR_COUNT, &span),
		   (unsigned)used);
	diag_help(build->diags, "leave one of them out");
	return false;
}

bool problem_check_degrees(struct problem_build *build)
{
	return check_product(build) && check_devices(build) &&
	       check_stages(build) && check_batch(build) &&
	       check_interleaving(build) && check_schedule(build) &&
	       check_shards(build) && check_expert_ranks(build) &&
	       check_experts(build) && check_used(build);
}
