/* SPDX-License-Identifier: MIT
 *
 * --emit manifest: the whole plan as JSON, described by
 * stdlib/schema/plan.schema.json. Sizes are bytes, times seconds.
 */
#include <jansson.h>

#include "compiler/describe.h"
#include "compiler/digest.h"
#include "compiler/emit.h"
#include "compiler/job_names.h"
#include "compiler/json_print.h"
#include "compiler/json_set.h"
#include "compiler/manifest_placement.h"
#include "compiler/performance.h"
#include "compiler/plan_json.h"
#include "compiler/profile.h"
#include "compiler/ranks.h"
#include "compiler/site.h"
#include "compiler/recompute_module.h"
#include "lang/compilation.h"
#include "solver/network.h"

static json_t *known(double value)
{
	return value > 0 ? plan_json_number(value) : json_null();
}

/* Names of files and -D values may hold any bytes; JSON may not. */
static json_t *foreign_string(const char *text, struct arena *arena)
{
	json_t *string = json_string(text);
	char *copy;

	if (string)
		return string;
	copy = arena_printf(arena, "%s", text);
	for (char *c = copy; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	return json_string(copy);
}

/* What of the layer times was measured. */
static json_t *make_profile(const struct emit_input *input)
{
	const struct ir_profile *profile = &input->ir->job.profile;
	struct arena *arena = &input->compilation->arena;
	struct profile_coverage coverage = profile_coverage(
		input->ir, input->problem, input->plan, arena);
	json_t *object = json_object();

	json_set(object, "file", foreign_string(profile->file, arena));
	json_set(object, "sha256",
		 json_string(source_sha256(arena, input->compilation->sources.at
							  [profile->source])));
	json_set(object, "measurements", json_integer(profile->measurement_count));
	json_set(object, "measured_share", plan_json_number(coverage.plan_share));
	return object;
}

static json_t *make_spec(const struct emit_input *input)
{
	const struct ir_profile *profile = &input->ir->job.profile;
	struct arena *arena = &input->compilation->arena;
	json_t *spec = json_object(), *overrides = json_object();

	for (uint32_t i = 0; i < input->override_count; i++)
		json_set(overrides, input->override[i].name,
			 foreign_string(input->override[i].expression, arena));
	json_set(spec, "file", foreign_string(input->spec_name, arena));
	json_set(spec, "sha256", json_string(input->spec_sha256));
	json_set(spec, "job", json_string(input->ir->job.name));
	if (input->hand_plan)
		json_set(spec, "plan", json_string(input->hand_plan));
	json_set(spec, "overrides", overrides);
	if (profile->file)
		json_set(spec, "profile", make_profile(input));
	return spec;
}

static json_t *make_model(const struct emit_input *input,
			  const struct performance *performance)
{
	json_t *model = json_object();

	json_set(model, "name", json_string(input->ir->model.name));
	json_set(model, "layers", json_integer(input->ir->model.layer_count));
	json_set(model, "parameters",
		 json_integer((json_int_t)input->ir->model.parameters));
	json_set(model, "flops_per_iteration", plan_json_number(performance->model_flops));
	return model;
}

static json_t *make_level(const struct ir_level *level)
{
	json_t *object = json_object();

	json_set(object, "name", json_string(level->name));
	json_set(object, "fanout", json_integer(level->network.fanout));
	json_set(object, "bandwidth", plan_json_number(level->network.bandwidth_Bps));
	json_set(object, "latency", plan_json_number(level->network.latency_s));
	json_set(object, "oversubscription", plan_json_number(level->network.oversubscription));
	json_set(object, "efficiency", plan_json_number(level->network.efficiency));
	json_set(object, "in_network_reduction",
		 json_boolean(level->network.in_network_reduction));
	json_set(object, "reduction_efficiency",
		 plan_json_number(level->network.reduction_efficiency));
	json_set(object, "overhead", plan_json_number(level->network.overhead_s));
	json_set(object, "short_efficiency", plan_json_number(level->network.short_efficiency));
	json_set(object, "short_overhead", plan_json_number(level->network.short_overhead_s));
	json_set(object, "kind", json_string(level_kind_name(level->network.kind)));
	json_set(object, "wrap", json_boolean(level->network.wrap));
	json_set(object, "joined", json_boolean(level->network.joined));
	json_set(object, "nics", json_integer(level->network.nics));
	json_set(object, "rails", json_integer(level->network.rails));
	return object;
}

/* The device of the graph at each place of the levels. */
static json_t *make_graph(const struct ir_graph *graph, const struct plan *plan,
			  uint32_t places)
{
	json_t *object = json_object(), *map = json_array();

	for (uint32_t i = 0; i < places; i++)
		json_array_append_new(map, json_integer(
			physical_device(plan, i)));
	json_set(object, "devices", json_integer(graph->graph.device_count));
	json_set(object, "links", json_integer(graph->link_items));
	json_set(object, "places", map);
	return object;
}

static json_t *make_levels(const struct ir_topology *topology)
{
	json_t *levels = json_array();

	for (uint32_t i = 0; i < topology->level_count; i++)
		json_array_append_new(levels, make_level(&topology->level[i]));
	return levels;
}

static json_t *make_kind(const struct ir_kind *kind)
{
	const struct ir_topology *topology = &kind->only->topology;
	json_t *object = json_object();

	json_set(object, "name", json_string(kind->name));
	json_set(object, "count", json_integer(kind->count));
	json_set(object, "device", json_string(topology->device.name));
	json_set(object, "first_device", json_integer(kind->first_device));
	json_set(object, "devices", json_integer(topology->device_count));
	json_set(object, "levels", make_levels(topology));
	return object;
}

static json_t *make_cluster(const struct ir_topology *topology,
			    const struct plan *plan)
{
	json_t *cluster = json_object(), *kinds;

	json_set(cluster, "topology", json_string(topology->name));
	json_set(cluster, "device", json_string(topology->device.name));
	json_set(cluster, "devices", json_integer(cluster_devices(topology)));
	json_set(cluster, "levels", make_levels(topology));
	if (topology->graph)
		json_set(cluster, "graph", make_graph(topology->graph, plan,
						      topology->device_count));
	if (!topology->kind_count)
		return cluster;
	kinds = json_array();
	for (uint32_t k = 0; k < topology->kind_count; k++)
		json_array_append_new(kinds, make_kind(&topology->kind[k]));
	json_set(cluster, "kinds", kinds);
	return cluster;
}

/* What is redone when parts of layers are. */
static json_t *make_modules(const struct emit_input *input)
{
	uint32_t chosen = ir_recompute_modules(&input->ir->job);
	json_t *modules = json_array();

	if (input->plan->choice.recompute != RECOMPUTE_SELECTIVE)
		return modules;
	for (int i = 0; i < RECOMPUTE_MODULE_COUNT; i++)
		if (chosen >> i & 1)
			json_array_append_new(
				modules, json_string(recompute_module_name(
						 (enum recompute_module)i)));
	return modules;
}

static json_t *make_parallelism(const struct emit_input *input,
				const struct performance *performance)
{
	const struct choice *choice = &input->plan->choice;
	const struct problem_shape *shape = &input->problem->shape[choice->shape];
	json_t *object = json_object();

	json_set(object, "tensor", json_integer(shape->tensor));
	json_set(object, "sequence", json_boolean(shape->sequence));
	json_set(object, "context", json_integer(shape->context));
	json_set(object, "expert", json_integer(shape->expert));
	json_set(object, "expert_tensor", json_integer(shape->expert_tensor));
	json_set(object, "data", json_integer(choice->data));
	json_set(object, "pipeline", json_integer(choice->pipeline));
	json_set(object, "virtual", json_integer(choice->virtual_stages));
	json_set(object, "micro_batch", json_integer(shape->micro_batch));
	json_set(object, "micro_batches", json_integer(choice->micro_batches));
	json_set(object, "global_batch", json_integer(input->ir->job.global_batch));
	json_set(object, "zero", json_integer(choice->zero));
	json_set(object, "recompute", json_string(recompute_name(choice->recompute)));
	json_set(object, "recompute_modules", make_modules(input));
	json_set(object, "recompute_layers",
		 json_integer(performance->recompute_layers));
	json_set(object, "recompute_layers_per_chunk",
		 json_integer(variable_of_plan(VARIABLE_RECOMPUTE_LAYERS,
					       input->problem, input->plan)));
	json_set(object, "schedule",
		 json_string(choice->schedule == SCHEDULE_1F1B ?
				     "1f1b" : schedule_name(choice->schedule)));
	if (input->ir->job.overlap_experts && shape->expert > 1)
		json_set(object, "overlap_expert_exchange", json_true());
	if (input->ir->job.dispatcher == IR_DISPATCHER_DEEPEP)
		json_set(object, "token_dispatcher", json_string("deepep"));
	json_set(object, "shard_level", json_integer(choice->shard_level));
	json_set(object, "shards", json_integer(choice->zero ? plan_shards(input->plan) :
							       1));
	return object;
}

/* Runs of equal layers between two positions of the chain. */
static json_t *make_kinds(const struct ir_model *model, uint32_t first,
			  uint32_t end)
{
	json_t *kinds = json_array();
	uint32_t position = 0;

	for (uint32_t i = 0; i < model->run_count; i++) {
		uint32_t run_end = position + model->run[i].count;
		uint32_t low = first > position ? first : position;
		uint32_t high = end < run_end ? end : run_end;
		json_t *kind;

		position = run_end;
		if (low >= high)
			continue;
		kind = json_object();
		json_set(kind, "kind",
			 json_string(model->class[model->run[i].class_index].name));
		json_set(kind, "count", json_integer(high - low));
		json_array_append_new(kinds, kind);
	}
	return kinds;
}

static json_t *make_chunks(const struct emit_input *input, uint32_t stage)
{
	const struct plan *plan = input->plan;
	json_t *chunks = json_array();

	for (uint32_t i = stage; i < plan->chunk_count;
	     i += plan->choice.pipeline) {
		json_t *chunk = json_object();

		json_set(chunk, "first_layer", json_integer(plan->chunk_first[i]));
		json_set(chunk, "last_layer",
			 json_integer(plan->chunk_first[i + 1] - 1));
		json_set(chunk, "kinds",
			 make_kinds(&input->ir->model, plan->chunk_first[i],
				    plan->chunk_first[i + 1]));
		json_array_append_new(chunks, chunk);
	}
	return chunks;
}

static json_t *make_memory(const struct stage_memory *memory, double limit)
{
	json_t *object = json_object();

	json_set(object, "parameters", plan_json_number(memory->parameters));
	json_set(object, "gradients", plan_json_number(memory->gradients));
	json_set(object, "optimizer", plan_json_number(memory->optimizer));
	json_set(object, "activations", plan_json_number(memory->activations));
	json_set(object, "working", plan_json_number(memory->working));
	json_set(object, "reserve", plan_json_number(memory->reserve));
	json_set(object, "total", plan_json_number(memory->total));
	json_set(object, "limit", plan_json_number(limit));
	return object;
}

static json_t *make_stage(const struct emit_input *input, uint32_t index)
{
	const struct stage_cost *cost = &input->plan->stage[index];
	struct sites sites = plan_sites(input->ir, input->problem, input->plan);
	const struct site *site = site_of_stage(&sites, index);
	const struct ir_topology *topology = &site->ir->topology;
	json_t *stage = json_object();

	json_set(stage, "index", json_integer(index));
	if (input->ir->topology.kind_count)
		json_set(stage, "device", json_string(topology->device.name));
	json_set(stage, "chunks", make_chunks(input, index));
	json_set(stage, "layers", json_integer(cost->layers));
	json_set(stage, "parameters_per_device", plan_json_number(cost->parameters));
	json_set(stage, "forward", plan_json_number(cost->forward_s));
	json_set(stage, "backward", plan_json_number(cost->backward_s));
	json_set(stage, "send_level",
		 cost->send_s > 0 ?
			 json_string(topology->level[cost->send_level].name) :
			 json_null());
	json_set(stage, "memory",
		 make_memory(&cost->memory, site->ir->job.memory_limit_bytes));
	return stage;
}

static json_t *make_stages(const struct emit_input *input)
{
	json_t *stages = json_array();

	for (uint32_t i = 0; i < input->plan->choice.pipeline; i++)
		json_array_append_new(stages, make_stage(input, i));
	return stages;
}

static json_t *make_predicted(const struct emit_input *input,
			      const struct performance *performance)
{
	const struct plan *plan = input->plan;
	json_t *object = json_object();

	json_set(object, "iteration_time", plan_json_number(plan->time_s));
	if (input->ir->topology.graph)
		json_set(object, "hierarchy_time", plan_json_number(plan->hierarchy_s));
	json_set(object, "tokens_per_second", plan_json_number(performance->tokens_per_s));
	json_set(object, "tokens_per_second_per_device",
		 plan_json_number(performance->tokens_per_s / plan->devices));
	json_set(object, "model_tflops_per_device",
		 plan_json_number(performance->model_flops_per_s / 1e12));
	json_set(object, "mfu", plan_json_number(performance->mfu));
	json_set(object, "hfu", plan_json_number(performance->hfu));
	json_set(object, "breakdown", plan_json_breakdown(&plan->breakdown));
	json_set(object, "memory_peak", plan_json_number(plan->memory_peak_bytes));
	json_set(object, "cost_per_iteration", known(performance->dollars));
	json_set(object, "energy_per_iteration", known(performance->joules));
	return object;
}

static json_t *make_certificate(const struct emit_input *input)
{
	const struct certificate *certificate = &input->plan->certificate;
	const struct ir_job *job = &input->ir->job;
	json_t *object = json_object();

	json_set(object, "objective",
		 json_string(job->objective_count && job->objective_name[0] ?
				     job->objective_name[0] :
				     "time"));
	json_set(object, "value", plan_json_number(certificate->value));
	json_set(object, "lower_bound", plan_json_number(certificate->lower_bound));
	json_set(object, "gap", plan_json_number(certificate->gap));
	json_set(object, "configurations",
		 json_integer((json_int_t)certificate->configurations));
	json_set(object, "priced", json_integer((json_int_t)certificate->priced));
	json_set(object, "bounded", json_integer((json_int_t)certificate->bounded));
	json_set(object, "infeasible_memory",
		 json_integer((json_int_t)certificate->infeasible_memory));
	json_set(object, "infeasible_requirement",
		 json_integer((json_int_t)certificate->infeasible_requirement));
	json_set(object, "infeasible_placement",
		 json_integer((json_int_t)certificate->infeasible_placement));
	json_set(object, "partitions",
		 json_integer((json_int_t)certificate->partitions));
	if (input->ir->topology.graph)
		json_set(object, "routed", json_integer((json_int_t)certificate->routed));
	if (certificate->linked)
		json_set(object, "linked", json_integer((json_int_t)certificate->linked));
	if (certificate->out_of_time && certificate->gap > 0)
		json_set(object, "out_of_time", json_true());
	if (input->timing)
		json_set(object, "seconds", plan_json_number(input->solve_s));
	return object;
}

static void print_member(struct text *out, const char *key, json_t *value)
{
	text_printf(out, ",\n  \"%s\": ", key);
	json_print(value, 2, out);
	json_decref(value);
}

bool emit_manifest(const struct emit_input *input, struct text *out)
{
	struct performance performance;

	plan_performance(input->ir, input->problem, input->plan, &performance);
	text_append(out, "{\n  \"schema\": \"nest.plan/1\",\n");
	text_append(out, "  \"nestc\": \"" PACKAGE_VERSION "\"");
	print_member(out, "spec", make_spec(input));
	print_member(out, "model", make_model(input, &performance));
	print_member(out, "cluster", make_cluster(&input->ir->topology,
						 input->plan));
	print_member(out, "parallelism", make_parallelism(input, &performance));
	print_member(out, "stages", make_stages(input));
	manifest_print_placement(input, out);
	print_member(out, "predicted", make_predicted(input, &performance));
	print_member(out, "certificate", make_certificate(input));
	text_append(out, "\n}\n");
	return true;
}
