/* SPDX-License-Identifier: MIT
 *
 * Prints a problem: chain, network, job, then every shape with the costs of
 * every class. Numbers are exact.
 */
#include "compiler/print_problem.h"

#include "compiler/describe.h"
#include "compiler/job_names.h"

static const char *const collective_name[COLLECTIVE_COUNT] = {
	[COLLECTIVE_ALL_REDUCE] = "all_reduce",
	[COLLECTIVE_REDUCE_SCATTER] = "reduce_scatter",
	[COLLECTIVE_ALL_GATHER] = "all_gather",
	[COLLECTIVE_ALL_TO_ALL] = "all_to_all",
	[COLLECTIVE_BROADCAST] = "broadcast",
};

static const char *const group_name[GROUP_COUNT] = {
	[GROUP_TENSOR] = "tensor",
	[GROUP_CONTEXT] = "context",
	[GROUP_DATA_CONTEXT] = "data_context",
	[GROUP_EXPERT] = "expert",
	[GROUP_EXPERT_TENSOR] = "expert_tensor",
	[GROUP_EXPERT_DATA] = "expert_data",
};

static void print_number(struct text *out, const char *name, double number)
{
	text_printf(out, " %s=", name);
	text_append_number(out, number);
}

static void print_domain(struct text *out, const char *name,
			 const struct problem_domain *domain)
{
	if (!domain->count)
		return;
	text_printf(out, "domain %s", name);
	for (uint32_t i = 0; i < domain->count; i++)
		text_printf(out, " %u", domain->at[i]);
	text_append_char(out, '\n');
}

/* What is allowed of few values, where a problem says so. */
static void print_set(struct text *out, const char *name, const bool *has,
		      uint32_t count)
{
	bool any = false;

	for (uint32_t i = 0; i < count; i++) {
		if (!has[i])
			continue;
		if (!any)
			text_printf(out, "domain %s", name);
		any = true;
		text_printf(out, " %u", i);
	}
	text_append(out, any ? "\n" : "");
}

static void print_network(const struct problem *problem, struct text *out)
{
	for (uint32_t i = 0; i < problem->level_count; i++) {
		text_printf(out, "level %u ", i);
		describe_level(&problem->level[i], out);
		text_append_char(out, '\n');
	}
}

static void print_job(const struct problem *problem, struct text *out)
{
	const struct problem_memory *memory = &problem->memory;
	const struct problem_sync *sync = &problem->sync;

	text_printf(out, "devices %u\nglobal_batch %u\n", problem->device_count,
		    problem->global_batch);
	print_domain(out, "data", &problem->data);
	print_domain(out, "pipeline", &problem->pipeline);
	print_domain(out, "virtual", &problem->virtual_stages);
	print_domain(out, "devices", &problem->devices);
	print_domain(out, "recompute_layers", &problem->recompute_layers);
	print_set(out, "schedule", problem->schedule, SCHEDULE_COUNT);
	print_set(out, "shard_level", problem->shard_level, LEVEL_MAX);
	text_append(out, "memory");
	print_number(out, "limit", memory->limit_bytes);
	print_number(out, "reserve", memory->reserve_bytes);
	print_number(out, "group", memory->group_bytes);
	print_number(out, "weight", memory->weight_bytes);
	print_number(out, "gradient", memory->gradient_bytes);
	print_number(out, "optimizer", memory->optimizer_bytes);
	if (problem->states_apart)
		print_number(out, "apart", memory->apart_bytes);
	if (problem->exchange.copies > 0) {
		text_append(out, "\nexchange");
		print_number(out, "copies", problem->exchange.copies);
		print_number(out, "experts", problem->exchange.experts);
		print_number(out, "groups", problem->exchange.groups);
		print_number(out, "chosen_groups", problem->exchange.chosen_groups);
	}
	text_append(out, "\nsync");
	print_number(out, "reduce", sync->reduce_bytes);
	print_number(out, "gather", sync->gather_bytes);
	print_number(out, "step", sync->step_bytes);
	print_number(out, "memory_bandwidth", sync->memory_bandwidth_Bps);
	text_printf(out, "%s%s\n",
		    sync->overlap_reduce ? " overlap_reduce" : "",
		    sync->overlap_gather ? " overlap_gather" : "");
	text_printf(out, "zero %d %d %d %d\nrecompute %d %d %d\nuniform_stages %d\nrequirements "
			 "%u\n",
		    problem->zero[0], problem->zero[1], problem->zero[2],
		    problem->zero[3], problem->recompute[RECOMPUTE_NONE],
		    problem->recompute[RECOMPUTE_SELECTIVE],
		    problem->recompute[RECOMPUTE_FULL],
		    problem->uniform_stages, problem->requirement_count);
}

static void print_apart(struct text *out, const char *kind,
			   const struct problem_apart *apart)
{
	if (apart->parameters <= 0)
		return;
	text_printf(out, " %sapart", kind);
	print_number(out, "parameters", apart->parameters);
	print_number(out, "largest", apart->largest);
	print_number(out, "step", apart->step_s);
	print_number(out, "longest", apart->largest_step_s);
}

static void print_cost(const struct problem *problem, uint32_t shape,
		       uint32_t class_index, enum recompute recompute,
		       struct text *out)
{
	const struct problem_cost *cost =
		problem_cost_at(problem, shape, class_index, recompute);

	text_printf(out, "    recompute %s", recompute_name(recompute));
	print_number(out, "forward", cost->forward_s);
	print_number(out, "backward", cost->backward_s);
	print_number(out, "saved", cost->saved_bytes);
	print_number(out, "working", cost->working_bytes);
	text_append_char(out, '\n');
	for (uint32_t i = 0; i < cost->collective_count; i++) {
		const struct problem_collective *collective =
			&problem->collective[cost->collective_first + i];

		text_printf(out, "      %s %s %s",
			    collective->backward ? "backward" : "forward",
			    collective_name[collective->kind],
			    group_name[collective->group]);
		print_number(out, "bytes", collective->bytes);
		print_number(out, "hidden", collective->hidden_s);
		if (collective->slowing > 0)
			print_number(out, "slowing", collective->slowing);
		text_append_char(out, '\n');
	}
}

static void print_shape(const struct ir *ir, const struct problem *problem,
			uint32_t index, struct text *out)
{
	const struct problem_shape *shape = &problem->shape[index];

	text_printf(out, "shape %u tensor=%u context=%u expert=%u expert_tensor=%u sequence=%d "
			 "micro_batch=%u\n",
		    index, shape->tensor, shape->context, shape->expert,
		    shape->expert_tensor, shape->sequence, shape->micro_batch);
	for (uint32_t i = 0; i < problem->class_count; i++) {
		const struct problem_weight *weight =
			problem_weight_at(problem, index, i);

		text_printf(out, "  class %s", ir->model.class[i].name);
		print_number(out, "parameters", weight->parameters);
		print_number(out, "tied", weight->tied_parameters);
		print_number(out, "output", weight->output_bytes);
		print_apart(out, "", &weight->apart);
		print_apart(out, "expert_", &weight->expert_apart);
		text_append_char(out, '\n');
		for (int j = 0; j < RECOMPUTE_COUNT; j++)
			print_cost(problem, index, i, (enum recompute)j, out);
	}
}

void problem_print(const struct ir *ir, const struct problem *problem,
		   struct text *out)
{
	for (uint32_t i = 0; i < problem->run_count; i++)
		text_printf(out, "run %s %u\n",
			    ir->model.class[problem->run[i].class_index].name,
			    problem->run[i].count);
	print_network(problem, out);
	print_job(problem, out);
	for (uint32_t i = 0; i < problem->shape_count; i++)
		print_shape(ir, problem, i, out);
}
