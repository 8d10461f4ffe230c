/* SPDX-License-Identifier: MIT
 *
 * A problem as text, for whoever looks into a failure.
 */
#include "tests/prop/random_problem.h"

static void print_domain(FILE *file, const char *name,
			 const struct problem_domain *domain)
{
	fprintf(file, "  %s:", name);
	for (uint32_t i = 0; i < domain->count; i++)
		fprintf(file, " %u", domain->at[i]);
	fprintf(file, "%s\n", domain->count ? "" : " any");
}

static void print_set(FILE *file, const char *name, const bool *allowed,
		      uint32_t count)
{
	fprintf(file, "  %s:", name);
	for (uint32_t i = 0; i < count; i++)
		if (allowed[i])
			fprintf(file, " %u", i);
	fprintf(file, "\n");
}

static void print_program(FILE *file, const char *name,
			  const struct predicate *predicate)
{
	static const char *const op[] = {
		"", "", "neg", "not", "+", "-", "*", "/", "%", "^", "==",
		"!=", "<", "<=", ">", ">=", "and", "or",
	};
	static const char *const variable[] = {
		"tensor", "sequence", "context", "expert", "expert_tensor",
		"data", "pipeline", "virtual", "micro_batch", "micro_batches",
		"zero", "recompute", "recompute_layers", "schedule",
		"shard_level", "devices", "time",
		"memory", "bubble", "cost", "energy", "stage_layers", "uniform",
	};

	fprintf(file, "  %s:", name);
	for (uint32_t i = 0; i < predicate->step_count; i++) {
		const struct predicate_step *step = &predicate->step[i];

		if (step->op == PREDICATE_CONSTANT)
			fprintf(file, " %.17g", step->number);
		else if (step->op == PREDICATE_VARIABLE)
			fprintf(file, " %s[%u]", variable[step->variable],
				step->index);
		else
			fprintf(file, " %s", op[step->op]);
	}
	fprintf(file, "\n");
}

static void print_apart(FILE *file, const char *kind,
			   const struct problem_apart *apart)
{
	if (apart->parameters > 0)
		fprintf(file, "      %sapart: %.17g, largest %.17g, step %.17g, "
			"longest %.17g\n", kind, apart->parameters,
			apart->largest, apart->step_s,
			apart->largest_step_s);
}

static void print_shape(FILE *file, const struct problem *problem, uint32_t s)
{
	const struct problem_shape *shape = &problem->shape[s];

	fprintf(file, "  shape %u: tensor %u context %u expert %u x %u micro-batch "
		"%u%s\n", s, shape->tensor, shape->context, shape->expert,
		shape->expert_tensor, shape->micro_batch,
		shape->sequence ? " sequence" : "");
	for (uint32_t i = 0; i < problem->class_count; i++) {
		const struct problem_weight *weight =
			problem_weight_at(problem, s, i);

		fprintf(file, "    class %u: parameters %.17g experts %.17g tied "
			"%.17g output %.17g\n", i, weight->parameters,
			weight->expert_parameters, weight->tied_parameters,
			weight->output_bytes);
		print_apart(file, "", &weight->apart);
		print_apart(file, "expert ", &weight->expert_apart);
		for (int r = 0; r < RECOMPUTE_COUNT; r++) {
			const struct problem_cost *cost = problem_cost_at(
				problem, s, i, (enum recompute)r);

			fprintf(file, "      recompute %d: forward %.17g backward "
				"%.17g saved %.17g working %.17g\n", r,
				cost->forward_s, cost->backward_s,
				cost->saved_bytes, cost->working_bytes);
			for (uint32_t j = 0; j < cost->collective_count; j++) {
				const struct problem_collective *one =
					&problem->collective[
						cost->collective_first + j];

				fprintf(file, "        collective %d group %d "
					"%s %.17g bytes hidden %.17g slowing %.17g\n",
					(int)one->kind, (int)one->group,
					one->backward ? "backward" : "forward",
					one->bytes, one->hidden_s,
					one->slowing);
			}
		}
	}
}

static void print_levels(FILE *file, const struct problem *problem)
{
	for (uint32_t l = 0; l < problem->level_count; l++) {
		const struct problem_level *level = &problem->level[l];

		fprintf(file, "  level %u: fanout %u bandwidth %.17g latency %.17g "
			"oversubscription %.17g efficiency %.17g%s", l,
			level->fanout, level->bandwidth_Bps, level->latency_s,
			level->oversubscription, level->efficiency,
			level->in_network_reduction ? " reduces" : "");
		fprintf(file, " %.17g kind %d%s%s overhead %.17g short %.17g %.17g "
			"nics %u rails %u\n", level->reduction_efficiency,
			(int)level->kind, level->wrap ? " wraps" : "",
			level->joined ? " joined" : "", level->overhead_s,
			level->short_efficiency, level->short_overhead_s,
			level->nics, level->rails);
	}
}

static void print_devices(FILE *file, const struct problem *problem)
{
	fprintf(file, "  avoided:");
	for (uint32_t i = 0; i < problem->avoided_count; i++)
		fprintf(file, " %u", problem->avoided[i]);
	for (uint32_t i = 0; i < problem->pin_count; i++)
		fprintf(file, "; rank %d on %u + %u", problem->pin[i].last ? -1 :
			(int)problem->pin[i].rank, problem->pin[i].first,
			problem->pin[i].count);
	fprintf(file, "\n");
}

static void print_rates(FILE *file, const struct problem *problem)
{
	const struct problem_memory *memory = &problem->memory;
	const struct problem_sync *sync = &problem->sync;

	fprintf(file, "  memory: limit %.17g reserve %.17g group %.17g weight "
		"%.17g gradient %.17g optimizer %.17g\n", memory->limit_bytes,
		memory->reserve_bytes, memory->group_bytes, memory->weight_bytes,
		memory->gradient_bytes, memory->optimizer_bytes);
	if (problem->states_apart)
		fprintf(file, "  states apart: %.17g bytes\n",
			memory->apart_bytes);
	if (problem->exchange.copies > 0)
		fprintf(file, "  %.17g of %.17g experts, in %.17g of %.17g groups\n",
			problem->exchange.copies, problem->exchange.experts,
			problem->exchange.chosen_groups, problem->exchange.groups);
	fprintf(file, "  sync: reduce %.17g%s gather %.17g%s step %.17g at %.17g; "
		"%.17g dollars, %.17g watts\n", sync->reduce_bytes,
		sync->overlap_reduce ? " hidden" : "", sync->gather_bytes,
		sync->overlap_gather ? " hidden" : "", sync->step_bytes,
		sync->memory_bandwidth_Bps, problem->device_dollars_per_s,
		problem->device_watts);
}

void random_problem_print(const struct problem *problem, FILE *file)
{
	fprintf(file, "  chain:");
	for (uint32_t r = 0; r < problem->run_count; r++)
		fprintf(file, " %u x class %u%s", problem->run[r].count,
			problem->run[r].class_index,
			problem->class_is_block[problem->run[r].class_index] ?
			" (block)" : "");
	fprintf(file, "\n  tied: %d with %d\n", (int)problem->tied_class,
		(int)problem->tied_with_class);
	print_levels(file, problem);
	fprintf(file, "  batch %u, uniform %d\n", problem->global_batch,
		problem->uniform_stages);
	print_devices(file, problem);
	print_set(file, "zero", problem->zero, 4);
	print_set(file, "shard levels", problem->shard_level, LEVEL_MAX);
	print_set(file, "recompute", problem->recompute, RECOMPUTE_COUNT);
	print_domain(file, "recomputed layers", &problem->recompute_layers);
	print_set(file, "schedules", problem->schedule, SCHEDULE_COUNT);
	print_domain(file, "data", &problem->data);
	print_domain(file, "pipeline", &problem->pipeline);
	print_domain(file, "virtual", &problem->virtual_stages);
	print_domain(file, "devices", &problem->devices);
	print_rates(file, problem);
	for (uint32_t i = 0; i < problem->requirement_count; i++)
		print_program(file, "require", &problem->requirement[i]);
	for (uint32_t i = 0; i < problem->objective_count; i++)
		print_program(file, "minimise", &problem->objective[i]);
	for (uint32_t s = 0; s < problem->shape_count; s++)
		print_shape(file, problem, s);
}
