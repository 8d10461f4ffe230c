/* SPDX-License-Identifier: MIT
 *
 * Placement program to solver problem: the parts in order.
 */
#include "compiler/problem_from_ir.h"

#include <math.h>

#include "compiler/describe.h"
#include "compiler/job_names.h"
#include "compiler/problem_build.h"
#include "compiler/training.h"

static struct problem_domain domain_of(const struct ir_job *job,
				       enum plan_variable variable)
{
	const struct ir_domain *domain = &job->domain[variable];

	if (!domain->given)
		return (struct problem_domain){ 0 };
	return (struct problem_domain){ .at = domain->at,
					.count = domain->count };
}

static void build_chain(struct problem_build *build)
{
	struct problem *problem = &build->built->problem;
	const struct ir_model *model = &build->ir->model;
	struct problem_run *run = ARENA_ARRAY(build->arena, struct problem_run,
					      model->run_count);
	bool *is_block = ARENA_ARRAY(build->arena, bool, model->class_count);

	for (uint32_t i = 0; i < model->run_count; i++)
		run[i] = (struct problem_run){
			.class_index = model->run[i].class_index,
			.count = model->run[i].count,
		};
	for (uint32_t i = 0; i < model->class_count; i++)
		is_block[i] = model->class[i].is_block;
	problem->run = run;
	problem->run_count = model->run_count;
	problem->class_count = model->class_count;
	problem->class_is_block = is_block;
}

static void build_network(struct problem_build *build)
{
	struct problem *problem = &build->built->problem;
	const struct ir_topology *topology = &build->ir->topology;

	for (uint32_t i = 0; i < topology->level_count; i++)
		problem->level[i] = topology->level[i].network;
	problem->level_count = topology->level_count;
	problem->device_count = topology->device_count;
	if (topology->graph) {
		problem->graph = &topology->graph->graph;
		problem->graph_device = topology->graph->device;
	}
	problem->device_dollars_per_s = topology->device.dollars_per_s;
	problem->device_watts = topology->device.watts;
}

/* All routers choose alike where tokens are sent once a place. */
static void build_exchange(struct problem_build *build)
{
	const struct ir_model *model = &build->ir->model;

	if (build->ir->job.dispatcher != IR_DISPATCHER_DEEPEP)
		return;
	for (uint32_t i = 0; i < model->class_count; i++) {
		const struct ir_operator *router =
			ir_find_operator(&model->class[i], IR_ROUTER);

		if (router)
			build->built->problem.exchange = (struct problem_exchange){
				.copies = (double)router->top_k,
				.experts = (double)ir_extent_size(&model->class[i],
								  &router->to),
				.groups = (double)router->groups,
				.chosen_groups = (double)router->top_groups,
			};
	}
}

static void build_training(struct problem_build *build)
{
	struct problem *problem = &build->built->problem;
	const struct ir_job *job = &build->ir->job;
	const struct ir_device *device = &build->ir->topology.device;
	const struct training training = training_of(job);

	problem->global_batch = job->global_batch;
	problem->memory = (struct problem_memory){
		.limit_bytes = job->memory_limit_bytes,
		.reserve_bytes = device->reserve_bytes,
		.group_bytes = device->group_bytes,
		.weight_bytes = training.weight,
		.gradient_bytes = training.gradient,
		.optimizer_bytes = training.optimizer,
		.apart_bytes = training.apart,
	};
	problem->states_apart = training_states_apart(job->optimizer);
	build_exchange(build);
	problem->sync = (struct problem_sync){
		.reduce_bytes = training.reduce,
		.gather_bytes = training.gather,
		.overlap_reduce = build->rules.overlap_reduce,
		.overlap_gather = build->rules.overlap_gather,
		.step_bytes = training.step,
		.memory_bandwidth_Bps = device->memory_bandwidth_Bps *
					device->memory_efficiency *
					(1 - device->throttling),
	};
}

/* ZeRO stages of the domain that the target has. */
static bool build_zero(struct problem_build *build)
{
	const struct ir_domain *domain = &build->ir->job.domain[VARIABLE_ZERO];
	const struct target_rules *rules = &build->rules;
	bool *zero = build->built->problem.zero;
	bool any = false;

	for (uint32_t i = 0; i < 4; i++)
		zero[i] = !domain->given && rules->zero[i] && rules->zero_searched[i];
	for (uint32_t i = 0; domain->given && i < domain->count; i++)
		zero[domain->at[i]] = rules->zero[domain->at[i]];
	for (uint32_t i = 0; i < 4; i++)
		any |= zero[i];
	if (any)
		return true;
	if (training_needs_whole(build->ir->job.optimizer)) {
		diag_error(build->diags, E_SEARCH_VALUE, domain->span,
			   "ZeRO 2 and 3 cut matrices, which '%s' needs whole",
			   optimizer_name(build->ir->job.optimizer));
		diag_help(build->diags,
			  "allow 'zero = 1', or use 'optimizer = adam'");
		return false;
	}
	diag_error(build->diags, E_TARGET_RULE, domain->span,
		   "the target has no optimizer sharding for this optimizer");
	diag_help(build->diags, "allow 'zero = 0', or use 'optimizer = adam'");
	return false;
}

static bool build_recompute(struct problem_build *build)
{
	const struct ir_job *job = &build->ir->job;
	const struct ir_domain *layers =
		&job->domain[VARIABLE_RECOMPUTE_LAYERS];
	const struct ir_domain *domain = &job->domain[VARIABLE_RECOMPUTE];
	bool *recompute = build->built->problem.recompute;

	for (int i = 0; i < RECOMPUTE_COUNT; i++)
		recompute[i] = !domain->given;
	for (uint32_t i = 0; domain->given && i < domain->count; i++)
		if (domain->at[i] < RECOMPUTE_COUNT)
			recompute[domain->at[i]] = true;
	if (!layers->given || recompute[RECOMPUTE_FULL])
		return true;
	diag_error(build->diags, E_SEARCH_VALUE, layers->span,
		   "'recompute_layers' counts layers that are recomputed whole, and "
		   "'recompute' is never full");
	diag_label(build->diags, domain->span, "recompute is given here");
	diag_help(build->diags, "allow 'full' there, or leave 'recompute_layers' out");
	return false;
}

/* Where a schedule is given, those of it that the target has. */
static bool build_schedules(struct problem_build *build)
{
	const struct ir_domain *domain =
		&build->ir->job.domain[VARIABLE_SCHEDULE];
	bool *schedule = build->built->problem.schedule;
	bool any = !domain->given;

	for (uint32_t i = 0; domain->given && i < domain->count; i++) {
		schedule[domain->at[i]] = domain->at[i] != SCHEDULE_GPIPE ||
					  build->rules.gpipe;
		any |= schedule[domain->at[i]];
	}
	if (any)
		return true;
	diag_error(build->diags, E_TARGET_RULE, domain->span,
		   "the target has no GPipe schedule");
	diag_help(build->diags, "allow 'one_f_one_b' or 'interleaved', or leave "
		  "'target' out");
	return false;
}

static void build_shard_levels(struct problem_build *build)
{
	const struct ir_domain *domain =
		&build->ir->job.domain[VARIABLE_SHARD_LEVEL];

	for (uint32_t i = 0; domain->given && i < domain->count; i++)
		build->built->problem.shard_level[domain->at[i]] = true;
}

/* The job's requirements, then those of the target. */
static void build_requirements(struct problem_build *build)
{
	struct problem *problem = &build->built->problem;
	const struct ir_job *job = &build->ir->job;
	const struct target_rules *rules = &build->rules;
	uint32_t count = job->requirement_count + rules->requirement_count;
	struct ir_requirement *all =
		ARENA_ARRAY(build->arena, struct ir_requirement, count);
	struct predicate *predicate =
		ARENA_ARRAY(build->arena, struct predicate, count);

	for (uint32_t i = 0; i < count; i++) {
		all[i] = i < job->requirement_count ?
				 job->requirement[i] :
				 rules->requirement[i - job->requirement_count];
		all[i].predicate.source = i;
		predicate[i] = all[i].predicate;
	}
	build->built->requirement = all;
	problem->requirement = predicate;
	problem->requirement_count = count;
	problem->objective = job->objective;
	problem->objective_count = job->objective_count;
}

static bool build_rules(struct problem_build *build)
{
	bool whole = training_needs_whole(build->ir->job.optimizer);

	build->rules = (struct target_rules){
		.zero = { true, true, !whole, !whole },
		.zero_searched = { true, true },
		.gpipe = true,
		.overlap_reduce = true,
		.overlap_gather = true,
	};
	if (build->ir->job.target == IR_TARGET_MEGATRON &&
	    !target_megatron_rules(build->compilation, build->ir, &build->rules))
		return false;
	if (build->ir->job.overlap_experts)
		target_overlap_rules(&build->ir->job, &build->rules);
	return true;
}

/* Devices to avoid, each once, and pins. */
static void build_places(struct problem_build *build)
{
	const struct ir_job *job = &build->ir->job;
	struct problem *problem = &build->built->problem;
	bool *avoided = ARENA_ARRAY(build->arena, bool, problem->device_count);
	uint32_t *at = ARENA_ARRAY(build->arena, uint32_t, problem->device_count);
	struct problem_pin *pin = ARENA_ARRAY(build->arena, struct problem_pin,
					      PIN_MAX);

	for (uint32_t i = 0; i < job->place_count; i++) {
		const struct ir_place *place = &job->place[i];

		for (uint32_t j = 0; place->avoid && j < place->count; j++)
			avoided[place->first + j] = true;
		if (!place->avoid)
			pin[problem->pin_count++] = (struct problem_pin){
				.last = place->last,
				.rank = place->rank,
				.first = place->first,
				.count = place->count,
			};
	}
	for (uint32_t i = 0; i < problem->device_count; i++)
		if (avoided[i])
			at[problem->avoided_count++] = i;
	problem->avoided = at;
	problem->pin = pin;
}

static void build_domains(struct problem_build *build)
{
	struct problem *problem = &build->built->problem;
	const struct ir_job *job = &build->ir->job;

	problem->data = domain_of(job, VARIABLE_DATA);
	problem->pipeline = domain_of(job, VARIABLE_PIPELINE);
	problem->virtual_stages = domain_of(job, VARIABLE_VIRTUAL);
	problem->devices = domain_of(job, VARIABLE_DEVICES);
	problem->recompute_layers = domain_of(job, VARIABLE_RECOMPUTE_LAYERS);
	problem->uniform_stages = build->rules.uniform_stages;
	memcpy(problem->within, build->ir->job.within, sizeof(problem->within));
}

/* The problem of devices that are all alike. */
static struct problem *build_alike(struct compilation *compilation,
				   const struct ir *ir)
{
	struct problem_build build = {
		.compilation = compilation,
		.ir = ir,
		.arena = &compilation->arena,
		.diags = &compilation->diags,
	};
	bool good;

	build.built = ARENA_NEW(build.arena, struct problem_built);
	good = build_rules(&build) && build_zero(&build);
	good = build_recompute(&build) && good;
	good = build_schedules(&build) && good;
	build_shard_levels(&build);
	good = problem_build_shapes(&build) && problem_check_degrees(&build) &&
	       good;
	if (!good)
		return NULL;
	build_chain(&build);
	build_network(&build);
	build_training(&build);
	if (ir->job.place_count)
		build_places(&build);
	build_domains(&build);
	build_requirements(&build);
	problem_build_costs(&build);
	return &build.built->problem;
}

static void slow_steps(struct problem_apart *steps,
		       const struct problem_apart *kind)
{
	steps->step_s = fmax(steps->step_s, kind->step_s);
	steps->largest_step_s = fmax(steps->largest_step_s, kind->largest_step_s);
}

/* Every device takes as long as the slowest for everything. */
static void slow_down(struct problem *problem, const struct problem *kind)
{
	size_t costs = (size_t)problem->shape_count * problem->class_count *
		       RECOMPUTE_COUNT;
	struct problem_cost *cost = (struct problem_cost *)problem->cost;
	struct problem_collective *collective =
		(struct problem_collective *)problem->collective;
	struct problem_weight *weight = (struct problem_weight *)problem->weight;

	for (size_t i = 0; i < costs / RECOMPUTE_COUNT; i++) {
		slow_steps(&weight[i].apart, &kind->weight[i].apart);
		slow_steps(&weight[i].expert_apart,
			   &kind->weight[i].expert_apart);
	}
	for (size_t i = 0; i < costs; i++) {
		cost[i].forward_s = fmax(cost[i].forward_s,
					 kind->cost[i].forward_s);
		cost[i].backward_s = fmax(cost[i].backward_s,
					  kind->cost[i].backward_s);
	}
	for (uint32_t i = 0; i < problem->collective_count; i++)
		collective[i].hidden_s = fmin(collective[i].hidden_s,
					      kind->collective[i].hidden_s);
	problem->sync.memory_bandwidth_Bps =
		fmin(problem->sync.memory_bandwidth_Bps,
		     kind->sync.memory_bandwidth_Bps);
}

struct problem *problem_from_ir(struct compilation *compilation,
				const struct ir *ir)
{
	struct problem *problem = build_alike(compilation, ir);
	uint32_t count = ir->topology.kind_count;
	const struct problem **kind;

	if (!problem || !count)
		return problem;
	kind = ARENA_ARRAY(&compilation->arena, const struct problem *, count);
	for (uint32_t k = 0; k < count; k++) {
		kind[k] = build_alike(compilation, ir->topology.kind[k].only);
		if (!kind[k])
			return NULL;
		slow_down(problem, kind[k]);
	}
	problem->kind = kind;
	problem->kind_count = count;
	return problem;
}

static struct problem *require(struct arena *arena,
			       const struct problem *problem,
			       const struct ir_requirement *requirement,
			       uint32_t count)
{
	struct problem_built *built = ARENA_NEW(arena, struct problem_built);
	uint32_t before = problem->requirement_count;
	struct ir_requirement *all =
		ARENA_ARRAY(arena, struct ir_requirement, before + count);
	struct predicate *predicate =
		ARENA_ARRAY(arena, struct predicate, before + count);

	*built = *(const struct problem_built *)problem;
	for (uint32_t i = 0; i < before + count; i++) {
		all[i] = i < before ? built->requirement[i] :
				      requirement[i - before];
		all[i].predicate.source = i;
		predicate[i] = all[i].predicate;
	}
	built->requirement = all;
	built->problem.requirement = predicate;
	built->problem.requirement_count = before + count;
	return &built->problem;
}

struct problem *problem_require(struct arena *arena,
				const struct problem *problem,
				const struct ir_requirement *requirement,
				uint32_t count)
{
	struct problem *all = require(arena, problem, requirement, count);
	const struct problem **kind = ARENA_ARRAY(
		arena, const struct problem *, problem->kind_count);

	for (uint32_t k = 0; k < problem->kind_count; k++)
		kind[k] = require(arena, problem->kind[k], requirement, count);
	all->kind = kind;
	return all;
}

const struct problem_origin *problem_origin(const struct problem *problem,
					    uint32_t source)
{
	return &((const struct problem_built *)problem)->origin[source];
}

const struct ir_requirement *problem_requirement(const struct problem *problem,
						 uint32_t source)
{
	return &((const struct problem_built *)problem)->requirement[source];
}
