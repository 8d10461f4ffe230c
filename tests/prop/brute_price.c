/* SPDX-License-Identifier: MIT
 *
 * The oracle: the price of one plan, from the formulas of price.h.
 */
#include "tests/prop/brute_parts.h"

#include <math.h>
#include <string.h>

void brute_unroll(struct brute_pricing *pricing)
{
	pricing->layer_count = 0;
	for (uint32_t r = 0; r < pricing->problem->run_count; r++)
		for (uint32_t i = 0; i < pricing->problem->run[r].count; i++)
			pricing->layer_class[pricing->layer_count++] =
				pricing->problem->run[r].class_index;
}

void brute_price_placement(struct brute_pricing *pricing)
{
	const struct problem *problem = pricing->problem;
	uint32_t used = 1;

	for (uint32_t l = 0; l < problem->level_count; l++) {
		pricing->used[l] = used;
		for (int d = 0; d < DIMENSION_COUNT; d++)
			used *= pricing->plan->placement.factor[d][l];
	}
	for (uint32_t class = 0; class < problem->class_count; class++) {
		const struct problem_cost *cost = problem_cost_at(problem,
			pricing->plan->choice.shape, class,
			pricing->plan->choice.recompute);

		pricing->forward_s[class] = cost->forward_s;
		pricing->backward_s[class] = cost->backward_s;
		for (uint32_t i = 0; i < cost->collective_count; i++) {
			const struct problem_collective *one =
				&problem->collective[cost->collective_first + i];
			double time = brute_group_time(pricing, one->group, one->kind,
						       one->bytes);
			double exposed = fmax(0, time - one->hidden_s);

			if (one->backward)
				pricing->backward_s[class] += exposed;
			else
				pricing->forward_s[class] += exposed;
		}
	}
}

uint32_t brute_chunk_of(const struct brute_plan *plan, uint32_t layer)
{
	uint32_t chunk = 0;

	while (plan->chunk_first[chunk + 1] <= layer)
		chunk++;
	return chunk;
}

/* The tied pair: the extra reduction time, and on which stages; or a saving
 * of parameters on one. */
static void price_tied(const struct brute_pricing *pricing, double *parameters,
		       double *extra_s)
{
	const struct problem *problem = pricing->problem;
	const struct problem_weight *weight;
	uint32_t p = pricing->plan->choice.pipeline, a = p, b = p, level;
	double bytes;

	if (problem->tied_class == CLASS_NONE)
		return;
	for (uint32_t i = 0; i < pricing->layer_count; i++) {
		if (pricing->layer_class[i] == problem->tied_class)
			a = brute_chunk_of(pricing->plan, i) % p;
		if (pricing->layer_class[i] == problem->tied_with_class)
			b = brute_chunk_of(pricing->plan, i) % p;
	}
	if (a == p || b == p)
		return;
	weight = problem_weight_at(problem, pricing->plan->choice.shape,
				   problem->tied_class);
	if (a == b) {
		parameters[a] -= weight->tied_parameters;
		return;
	}
	bytes = weight->tied_parameters * problem->sync.reduce_bytes;
	level = brute_border(pricing, a, b);
	extra_s[a] = extra_s[b] = problem->level[level].latency_s +
				  brute_send(pricing, a, b, bytes);
}

/* Cost and weight of the layers of every chunk. */
struct chunks {
	double forward_s[BRUTE_STAGE_MAX], backward_s[BRUTE_STAGE_MAX];
	double saved_bytes[BRUTE_STAGE_MAX], transfer_s[BRUTE_STAGE_MAX];
	double stage_forward_s[BRUTE_STAGE_MAX];
	double stage_backward_s[BRUTE_STAGE_MAX];
	double working_bytes[BRUTE_STAGE_MAX];
	double parameters[BRUTE_STAGE_MAX];	/* without those of experts */
	double expert_parameters[BRUTE_STAGE_MAX];
};

static void fill_chunks(const struct brute_pricing *pricing, struct chunks *chunks)
{
	const struct problem *problem = pricing->problem;
	struct brute_plan *plan = pricing->plan;
	uint32_t p = plan->choice.pipeline;
	uint32_t count = p * plan->choice.virtual_stages;

	memset(chunks, 0, sizeof(*chunks));
	memset(plan->stage_layers, 0, sizeof(plan->stage_layers));
	for (uint32_t c = 0; c < count; c++) {
		uint32_t k = c % p;

		for (uint32_t i = plan->chunk_first[c];
		     i < plan->chunk_first[c + 1]; i++) {
			uint32_t class = pricing->layer_class[i];
			const struct problem_cost *cost = problem_cost_at(
				problem, plan->choice.shape, class,
				plan->choice.recompute);
			const struct problem_weight *weight = problem_weight_at(
				problem, plan->choice.shape, class);

			chunks->forward_s[c] += pricing->forward_s[class];
			chunks->backward_s[c] += pricing->backward_s[class];
			chunks->saved_bytes[c] += cost->saved_bytes;
			chunks->working_bytes[k] = fmax(
				chunks->working_bytes[k], cost->working_bytes);
			chunks->parameters[k] += weight->parameters;
			chunks->expert_parameters[k] += weight->expert_parameters;
			plan->stage_layers[k] += problem->class_is_block[class];
			chunks->transfer_s[c] = c + 1 == count ? 0 :
				brute_send(pricing, k, (c + 1) % p,
					   weight->output_bytes);
		}
		chunks->stage_forward_s[k] += chunks->forward_s[c];
		chunks->stage_backward_s[k] += chunks->backward_s[c];
	}
}

static void price_stage(const struct brute_pricing *pricing,
			const struct chunks *chunks, uint32_t k, double extra_s)
{
	const struct problem *problem = pricing->problem;
	const struct problem_memory *memory = &problem->memory;
	const struct problem_sync *sync = &problem->sync;
	struct brute_plan *plan = pricing->plan;
	uint32_t p = plan->choice.pipeline, v = plan->choice.virtual_stages;
	double parameters = chunks->parameters[k];
	double experts = chunks->expert_parameters[k];
	double replicas = plan->choice.data * pricing->shape->context;
	uint32_t cut = pricing->shape->expert * pricing->shape->expert_tensor;
	double copies = replicas * pricing->shape->tensor / cut;
	double stepped = plan->choice.zero == 1 ?
		parameters / replicas + experts / copies : parameters + experts;
	double saved[BRUTE_STAGE_MAX], time, gather = 0;
	uint32_t groups = (pricing->shape->tensor > 1) +
			  (pricing->shape->context > 1) + (replicas > 1) +
			  (p > 1);
	enum collective reduction = plan->choice.zero == 1 ?
		COLLECTIVE_REDUCE_SCATTER : COLLECTIVE_ALL_REDUCE;

	if (cut > 1)
		groups += (pricing->shape->expert > 1) +
			  (pricing->shape->expert_tensor > 1) + (copies > 1);
	time = brute_group_time(pricing, GROUP_DATA_CONTEXT, reduction,
				parameters * sync->reduce_bytes) +
	       brute_group_time(pricing, GROUP_EXPERT_DATA, reduction,
				experts * sync->reduce_bytes);
	if (sync->overlap_reduce)
		time = fmax(0, time - chunks->stage_backward_s[k]);
	plan->reduce_exposed_s[k] = time + extra_s;

	if (plan->choice.zero == 1)
		gather = brute_group_time(pricing, GROUP_DATA_CONTEXT,
					  COLLECTIVE_ALL_GATHER,
					  parameters * sync->gather_bytes) +
			 brute_group_time(pricing, GROUP_EXPERT_DATA,
					  COLLECTIVE_ALL_GATHER,
					  experts * sync->gather_bytes);
	if (sync->overlap_gather)
		gather = fmax(0, gather - chunks->stage_forward_s[k]);
	plan->update_s[k] = gather + stepped * sync->step_bytes /
				     sync->memory_bandwidth_Bps;

	for (uint32_t j = 0; j < v; j++)
		saved[j] = chunks->saved_bytes[j * p + k];
	plan->stage_bytes[k] = (parameters + experts) * memory->weight_bytes +
		(parameters + experts) * memory->gradient_bytes +
		stepped * memory->optimizer_bytes +
		brute_activations(p, v, plan->choice.micro_batches, k, saved) +
		chunks->working_bytes[k] + memory->reserve_bytes +
		groups * memory->group_bytes;
}

/* Share of the iteration that the device which decides its end waits for
 * others' compute: its idle time, less what free transfers would save. */
static double bubble_share(const struct brute_pricing *pricing,
			   const struct chunks *chunks)
{
	const struct brute_plan *plan = pricing->plan;
	const struct choice *choice = &plan->choice;
	double free_s[BRUTE_STAGE_MAX] = { 0 }, ignored[BRUTE_STAGE_MAX];
	double latest = 0, end = 0, idle, saved;
	uint32_t k = 0;

	for (uint32_t i = 0; i < choice->pipeline; i++) {
		latest = fmax(latest, plan->finish_s[i] +
				      plan->reduce_exposed_s[i]);
		end = fmax(end, plan->finish_s[i]);
	}
	while (plan->finish_s[k] + plan->reduce_exposed_s[k] <
	       latest * (1 - 1e-12))
		k++;
	idle = plan->finish_s[k] - choice->micro_batches *
	       (chunks->stage_forward_s[k] + chunks->stage_backward_s[k]);
	saved = end - brute_schedule(choice->pipeline, choice->virtual_stages,
				     choice->micro_batches, chunks->forward_s,
				     chunks->backward_s, free_s, ignored);
	if (plan->time_s == 0)
		return 0;
	return fmax(0, idle - fmax(0, saved)) / plan->time_s;
}

/* Prices the cut that plan holds; the placement is priced already. */
void brute_price_cut(struct brute_pricing *pricing)
{
	struct brute_plan *plan = pricing->plan;
	uint32_t p = plan->choice.pipeline;
	double extra_s[BRUTE_STAGE_MAX] = { 0 }, first = 0, second = 0;
	struct chunks chunks;

	fill_chunks(pricing, &chunks);
	price_tied(pricing, chunks.parameters, extra_s);
	brute_schedule(p, plan->choice.virtual_stages,
		       plan->choice.micro_batches, chunks.forward_s,
		       chunks.backward_s, chunks.transfer_s, plan->finish_s);
	plan->peak_bytes = 0;
	for (uint32_t k = 0; k < p; k++) {
		price_stage(pricing, &chunks, k, extra_s[k]);
		first = fmax(first, plan->finish_s[k] +
				    plan->reduce_exposed_s[k]);
		second = fmax(second, plan->update_s[k]);
		plan->peak_bytes = fmax(plan->peak_bytes, plan->stage_bytes[k]);
	}
	plan->time_s = first + second;
	plan->bubble = bubble_share(pricing, &chunks);
}
