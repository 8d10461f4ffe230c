/* SPDX-License-Identifier: MIT
 *
 * Holds a plan against the placement program, one claim after the other. It
 * trusts no field that another one implies.
 */
#include "compiler/plan_verify.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "compiler/layout.h"
#include "compiler/ranks.h"
#include "compiler/site.h"
#include "solver/price.h"

/* Relative error of sums in another order. */
#define TOLERANCE 1e-9

struct verify {
	const struct ir *ir;
	const struct problem *problem;
	const struct plan *plan;
	struct arena *scratch;
	struct text *reason;
	const struct problem_shape *shape;
	uint32_t degree[DIMENSION_COUNT];
	struct sites sites;
};

static const char *const dimension_name[DIMENSION_COUNT] = {
	[DIMENSION_TENSOR] = "tensor",
	[DIMENSION_CONTEXT] = "context",
	[DIMENSION_DATA] = "data",
	[DIMENSION_PIPELINE] = "pipeline",
};

__attribute__((format(printf, 2, 3))) static bool
fail(struct verify *verify, const char *format, ...)
{
	va_list arguments;
	char line[256];

	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	text_append(verify->reason, line);
	return false;
}

static bool nearly(double a, double b)
{
	return fabs(a - b) <= TOLERANCE * fmax(fabs(a), fabs(b));
}

static bool verify_degrees(struct verify *verify)
{
	const struct choice *choice = &verify->plan->choice;
	const struct ir_topology *topology = &verify->ir->topology;
	uint64_t devices = 1;

	for (uint32_t i = 0; i < DIMENSION_COUNT; i++) {
		uint64_t product = 1;

		for (uint32_t j = 0; j < topology->level_count; j++)
			product *= verify->plan->placement.factor[i][j];
		if (!verify->degree[i] || product != verify->degree[i])
			return fail(verify, "the factors of %s multiply to %" PRIu64 ", not to %u",
				    dimension_name[i], product,
				    verify->degree[i]);
		devices *= verify->degree[i];
	}
	if (devices != verify->plan->devices ||
	    devices > topology->device_count)
		return fail(verify, "the degrees use %" PRIu64 " devices, the plan says %u of %u",
			    devices, verify->plan->devices,
			    topology->device_count);
	for (uint32_t j = 0; j < topology->level_count; j++) {
		uint64_t product = 1;

		for (uint32_t i = 0; i < DIMENSION_COUNT; i++)
			product *= verify->plan->placement.factor[i][j];
		if (product > topology->level[j].network.fanout &&
		    verify->plan->placement.packing == PACKING_FACTORS)
			return fail(verify, "the factors at level '%s' exceed its fan-out",
				    topology->level[j].name);
	}
	if ((uint64_t)choice->micro_batches * choice->data *
		    verify->shape->micro_batch != verify->ir->job.global_batch)
		return fail(verify, "micro-batches do not add up to the global batch");
	return true;
}

/* Whether a variable means anything beside the others: a domain holds only then. */
static bool is_searched(const struct choice *choice, enum plan_variable variable)
{
	switch (variable) {
	case VARIABLE_RECOMPUTE_LAYERS:
		return choice->recompute == RECOMPUTE_FULL;
	case VARIABLE_SCHEDULE:
		return choice->pipeline > 1;
	case VARIABLE_SHARD_LEVEL:
		return choice->zero > 0;
	default:
		return true;
	}
}

static bool verify_domains(struct verify *verify)
{
	const struct choice *choice = &verify->plan->choice;
	const struct {
		enum plan_variable variable;
		uint32_t value;
		const char *name;
	} known[] = {
		{ VARIABLE_TENSOR, verify->shape->tensor, "tensor" },
		{ VARIABLE_SEQUENCE, verify->shape->sequence, "sequence" },
		{ VARIABLE_CONTEXT, verify->shape->context, "context" },
		{ VARIABLE_EXPERT, verify->shape->expert, "expert" },
		{ VARIABLE_EXPERT_TENSOR, verify->shape->expert_tensor,
		  "expert_tensor" },
		{ VARIABLE_DATA, choice->data, "data" },
		{ VARIABLE_PIPELINE, choice->pipeline, "pipeline" },
		{ VARIABLE_VIRTUAL, choice->virtual_stages, "virtual" },
		{ VARIABLE_MICRO_BATCH, verify->shape->micro_batch, "micro_batch" },
		{ VARIABLE_MICRO_BATCHES, choice->micro_batches, "micro_batches" },
		{ VARIABLE_ZERO, choice->zero, "zero" },
		{ VARIABLE_RECOMPUTE, choice->recompute, "recompute" },
		{ VARIABLE_RECOMPUTE_LAYERS, choice->recompute_layers,
		  "recompute_layers" },
		{ VARIABLE_SCHEDULE, choice->schedule, "schedule" },
		{ VARIABLE_SHARD_LEVEL, choice->shard_level, "shard_level" },
		{ VARIABLE_DEVICES, verify->plan->devices, "devices" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (is_searched(choice, known[i].variable) &&
		    !ir_domain_allows(&verify->ir->job.domain[known[i].variable],
			       known[i].value))
			return fail(verify, "%s = %u is outside its search domain",
				    known[i].name, known[i].value);
	return true;
}

static bool verify_shape(struct verify *verify)
{
	const struct ir_model *model = &verify->ir->model;

	for (uint32_t i = 0; i < model->class_count; i++) {
		const struct ir_axis *axis = NULL;
		uint32_t degree = 0;

		if (!layout_is_legal(&model->class[i], model, verify->shape,
				     &axis, &degree))
			return fail(verify, "axis '%s' of '%s' cannot be cut by %u",
				    axis ? axis->name : "?",
				    model->class[i].name, degree);
	}
	return true;
}

/* Number of chain positions before `end` that count as layers. */
static uint32_t blocks_before(const struct ir_model *model, uint32_t end)
{
	uint32_t position = 0, blocks = 0;

	for (uint32_t i = 0; i < model->run_count && position < end; i++) {
		const struct ir_run *run = &model->run[i];
		uint32_t taken = run->count;

		if (taken > end - position)
			taken = end - position;
		if (model->class[run->class_index].is_block)
			blocks += taken;
		position += taken;
	}
	return blocks;
}

static bool verify_chunks(struct verify *verify)
{
	const struct plan *plan = verify->plan;
	const struct ir_model *model = &verify->ir->model;
	uint32_t length = 0;

	for (uint32_t i = 0; i < model->run_count; i++)
		length += model->run[i].count;
	if (plan->chunk_count !=
	    plan->choice.pipeline * plan->choice.virtual_stages)
		return fail(verify, "the number of chunks is not pipeline x virtual");
	if (plan->chunk_first[0] != 0 ||
	    plan->chunk_first[plan->chunk_count] != length)
		return fail(verify, "the chunks do not cover the chain");
	for (uint32_t i = 0; i < plan->chunk_count; i++)
		if (plan->chunk_first[i] >= plan->chunk_first[i + 1])
			return fail(verify, "chunk %u holds no layer", i);
	if (blocks_before(model, length) != model->layer_count)
		return fail(verify, "the chain has not the model's number of layers");
	return true;
}

static bool verify_layers(struct verify *verify)
{
	const struct plan *plan = verify->plan;
	const struct ir_model *model = &verify->ir->model;
	uint32_t sum = 0;

	for (uint32_t stage = 0; stage < plan->choice.pipeline; stage++) {
		uint32_t layers = 0;

		for (uint32_t i = stage; i < plan->chunk_count;
		     i += plan->choice.pipeline)
			layers += blocks_before(model, plan->chunk_first[i + 1]) -
				  blocks_before(model, plan->chunk_first[i]);
		if (layers != plan->stage[stage].layers)
			return fail(verify, "stage %u says %u layers and holds %u",
				    stage, plan->stage[stage].layers, layers);
		sum += layers;
	}
	if (sum != model->layer_count)
		return fail(verify, "the stages hold %u layers of %u", sum,
			    model->layer_count);
	return true;
}

static bool verify_parameters(struct verify *verify)
{
	double sum = 0;

	for (uint32_t i = 0; i < verify->plan->choice.pipeline; i++) {
		const struct stage_cost *stage = &verify->plan->stage[i];
		double experts = stage->expert_parameters;

		sum += (stage->parameters - experts) * verify->shape->tensor +
		       experts * verify->shape->expert *
			       verify->shape->expert_tensor;
	}
	if (sum < (double)verify->ir->model.parameters * (1 - TOLERANCE))
		return fail(verify, "the stages hold %.0f parameters of %" PRIu64,
			    sum, verify->ir->model.parameters);
	return true;
}

static bool verify_memory(struct verify *verify)
{
	const struct plan *plan = verify->plan;
	double peak = 0;

	for (uint32_t i = 0; i < plan->choice.pipeline; i++) {
		const struct stage_memory *memory = &plan->stage[i].memory;
		double limit = site_of_stage(&verify->sites, i)
				       ->ir->job.memory_limit_bytes;
		double sum = memory->parameters + memory->gradients +
			     memory->optimizer + memory->activations +
			     memory->working + memory->reserve;

		if (!nearly(sum, memory->total))
			return fail(verify, "memory of stage %u does not sum to its total",
				    i);
		if (!(memory->total <= limit * (1 + TOLERANCE)))
			return fail(verify, "stage %u needs %.0f bytes of %.0f", i,
				    memory->total, limit);
		peak = fmax(peak, memory->total);
	}
	if (!nearly(peak, plan->memory_peak_bytes))
		return fail(verify, "the memory peak is not that of the largest stage");
	return true;
}

static bool verify_time(struct verify *verify)
{
	const struct plan *plan = verify->plan;
	const struct breakdown *part = &plan->breakdown;
	const struct certificate *certificate = &plan->certificate;
	double sum = part->compute_s + part->tensor_s + part->context_s +
		     part->expert_s + part->pipeline_s + part->bubble_s +
		     part->data_s + part->optimizer_s;

	if (!(plan->time_s > 0) || !isfinite(plan->time_s))
		return fail(verify, "the iteration time is not a positive number");
	if (!nearly(sum, plan->time_s))
		return fail(verify, "the breakdown sums to %.9g s of %.9g s", sum,
			    plan->time_s);
	if (certificate->lower_bound > certificate->value * (1 + TOLERANCE))
		return fail(verify, "the lower bound is above the plan's value");
	if (certificate->configurations !=
	    certificate->priced + certificate->bounded +
		    certificate->infeasible_memory +
		    certificate->infeasible_requirement +
		    certificate->infeasible_placement)
		return fail(verify, "the certificate's counts do not add up");
	return true;
}

/* Members of the group along one dimension through a rank that lie in the same
 * child of `level` as its first member. */
static uint32_t members_together(const struct verify *verify,
				 struct rank rank, enum dimension dimension,
				 uint32_t level)
{
	uint32_t size = 1, first = 0, together = 0;

	for (uint32_t i = 0; i < level; i++)
		size *= verify->ir->topology.level[i].network.fanout;
	for (uint32_t i = 0; i < verify->degree[dimension]; i++) {
		uint32_t device;

		rank.coordinate[dimension] = i;
		device = rank_device(verify->problem, verify->plan,
				     rank.coordinate);
		if (i == 0)
			first = device / size;
		together += device / size == first;
	}
	return together;
}

static bool verify_groups(struct verify *verify, uint32_t number)
{
	struct rank rank = rank_at(verify->problem, verify->plan,
				   RANK_ORDER_DATA_PIPELINE, number);

	for (uint32_t i = 0; i < DIMENSION_COUNT; i++) {
		uint32_t wanted = 1;

		for (uint32_t j = 0; j < verify->ir->topology.level_count; j++) {
			if (members_together(verify, rank, (enum dimension)i, j) !=
			    wanted)
				return fail(verify, "the %s group of rank %u does not match its "
						    "factors",
					    dimension_name[i], number);
			wanted *= verify->plan->placement.factor[i][j];
		}
	}
	return true;
}

/* Rules about particular devices. */
static bool verify_place(struct verify *verify, const struct ir_place *place,
			 const struct rank *rank)
{
	uint32_t stage = rank->coordinate[DIMENSION_PIPELINE];
	uint32_t bound = place->last ? verify->plan->choice.pipeline - 1 :
				       place->rank;
	bool inside = rank->device >= place->first &&
		      rank->device - place->first < place->count;

	if (place->avoid ? inside : stage == bound && !inside)
		return fail(verify, "rank %u is on device %u, against a place rule",
			    rank->number, rank->device);
	return true;
}

/* Ranks that differ in one coordinate only lie in one child of the level that the
 * dimension must not leave. */
static bool verify_within(struct verify *verify, const struct rank *rank)
{
	for (uint32_t i = 0; i < DIMENSION_COUNT; i++) {
		uint32_t level = verify->ir->job.within[i], size = 1;
		struct rank first = *rank;

		for (uint32_t j = 0; j < level; j++)
			size *= verify->ir->topology.level[j].network.fanout;
		first.coordinate[i] = 0;
		first.device = rank_device(verify->problem, verify->plan,
					   first.coordinate);
		if (level && first.device / size != rank->device / size)
			return fail(verify, "the %s group of rank %u leaves the level that it "
					    "must stay within",
				    dimension_name[i], rank->number);
	}
	return true;
}

static bool verify_ranks(struct verify *verify)
{
	const struct ir_job *job = &verify->ir->job;
	uint32_t device_count = verify->ir->topology.device_count;
	bool *taken = ARENA_ARRAY(verify->scratch, bool, device_count);

	for (uint32_t i = 0; i < verify->plan->devices; i++) {
		struct rank rank = rank_at(verify->problem, verify->plan,
					   RANK_ORDER_DATA_PIPELINE, i);

		if (rank.device >= device_count || taken[rank.device])
			return fail(verify, "rank %u has no device of its own", i);
		taken[rank.device] = true;
		for (uint32_t j = 0; j < job->place_count; j++)
			if (!verify_place(verify, &job->place[j], &rank))
				return false;
		if (!verify_within(verify, &rank))
			return false;
	}
	return verify->plan->placement.packing != PACKING_FACTORS ||
	       (verify_groups(verify, 0) &&
		verify_groups(verify, verify->plan->devices - 1));
}

/* Of a graph every device stands at one place of the hierarchy at most. */
static bool verify_graph(struct verify *verify)
{
	const struct ir_topology *topology = &verify->ir->topology;
	uint32_t devices = topology->graph ?
				   topology->graph->graph.device_count : 0;
	bool *taken = ARENA_ARRAY(verify->scratch, bool, devices + 1);

	if (!topology->graph)
		return true;
	if (!verify->plan->device_map || !verify->plan->device)
		return fail(verify, "the plan does not say its devices in the graph");
	for (uint32_t i = 0; i < topology->device_count; i++) {
		uint32_t device = verify->plan->device_map[i];

		if (device >= devices || taken[device])
			return fail(verify, "place %u has no device of the graph", i);
		taken[device] = true;
	}
	if (verify->plan->time_s < verify->plan->hierarchy_s * (1 - TOLERANCE))
		return fail(verify, "the plan is faster on the graph than on its hierarchy");
	return true;
}

/* Where the ranks are: at each site as if it were a plan of its own. */
static bool verify_site(const struct verify *verify, const struct site *site)
{
	struct problem problem = *site->problem;
	struct plan plan = site->plan;
	struct verify own = *verify;

	problem.kind_count = 0;
	plan.devices = plan.devices / plan.choice.pipeline * site->ranks;
	plan.choice.pipeline = site->ranks;
	own.ir = site->ir;
	own.problem = &problem;
	own.plan = &plan;
	own.degree[DIMENSION_PIPELINE] = site->ranks;
	return verify_degrees(&own) && verify_ranks(&own);
}

/* No device of the cluster has two ranks. */
static bool verify_cluster(struct verify *verify)
{
	uint32_t count = cluster_devices(&verify->ir->topology);
	bool *taken = ARENA_ARRAY(verify->scratch, bool, count);

	for (uint32_t i = 0; i < verify->plan->devices; i++) {
		uint32_t device = rank_at(verify->problem, verify->plan,
					  RANK_ORDER_DATA_PIPELINE, i).device;

		if (device >= count || taken[device])
			return fail(verify, "rank %u has no device of its own", i);
		taken[device] = true;
	}
	return true;
}

static bool verify_sites(struct verify *verify)
{
	uint32_t ranks = 0;

	for (uint32_t i = 0; i < verify->sites.count; i++) {
		if (!verify_site(verify, &verify->sites.at[i]))
			return false;
		ranks += verify->sites.at[i].ranks;
	}
	if (ranks != verify->plan->choice.pipeline)
		return fail(verify, "the segments have %u ranks of %u", ranks,
			    verify->plan->choice.pipeline);
	return !verify->problem->kind_count || verify_cluster(verify);
}

static bool verify_requirements(struct verify *verify)
{
	struct predicate_input input = { 0 };

	price_variables(verify->problem, verify->plan, verify->scratch, &input);
	for (uint32_t s = 0; s < verify->sites.count; s++) {
		const struct ir_job *job = &verify->sites.at[s].ir->job;

		for (uint32_t i = 0; i < job->requirement_count; i++) {
			double truth = predicate_evaluate(
				&job->requirement[i].predicate, &input);

			if (!(fabs(truth) > 0))
				return fail(verify, "requirement %u does not hold",
					    i);
		}
	}
	return true;
}

bool plan_verify(const struct ir *ir, const struct problem *problem,
		 const struct plan *plan, struct arena *scratch,
		 struct text *reason)
{
	struct arena_mark mark = arena_mark(scratch);
	struct verify verify = { .ir = ir, .problem = problem, .plan = plan,
				 .scratch = scratch, .reason = reason };
	bool right;

	if (plan->choice.shape >= problem->shape_count)
		return fail(&verify, "the plan has no shape of the problem");
	verify.shape = &problem->shape[plan->choice.shape];
	plan_degrees(problem, plan, verify.degree);
	verify.sites = plan_sites(ir, problem, plan);
	right = verify_sites(&verify) && verify_domains(&verify) &&
		verify_shape(&verify) && verify_chunks(&verify) &&
		verify_layers(&verify) && verify_parameters(&verify) &&
		verify_memory(&verify) && verify_time(&verify) &&
		verify_graph(&verify) &&
		verify_requirements(&verify);
	/* The reason must outlive the scratch memory when both share an arena. */
	if (reason->arena != scratch || right)
		arena_rewind(scratch, mark);
	return right;
}
