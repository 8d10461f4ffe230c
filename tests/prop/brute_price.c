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

struct brute_pipeline brute_pipeline(const struct choice *choice)
{
	return (struct brute_pipeline){ choice->pipeline, choice->virtual_stages,
					choice->micro_batches,
					choice->schedule == SCHEDULE_GPIPE };
}

/* What ZeRO 3 gathers and what ZeRO 2 and 3 scatter of a layer. */
static void price_sharing(struct brute_pricing *pricing, uint32_t class,
			  double *forward_s, double *backward_s)
{
	const struct problem_sync *sync = &pricing->problem->sync;
	const struct problem_weight *weight = problem_weight_at(
		pricing->problem, pricing->plan->choice.shape, class);
	double gather = brute_part_time(pricing, GROUP_DATA_CONTEXT, true,
			COLLECTIVE_ALL_GATHER,
			weight->parameters * sync->gather_bytes) +
		brute_part_time(pricing, GROUP_EXPERT_DATA, true,
			COLLECTIVE_ALL_GATHER,
			weight->expert_parameters * sync->gather_bytes);
	double scatter = brute_part_time(pricing, GROUP_DATA_CONTEXT, true,
			COLLECTIVE_REDUCE_SCATTER,
			weight->parameters * sync->reduce_bytes) +
		brute_part_time(pricing, GROUP_EXPERT_DATA, true,
			COLLECTIVE_REDUCE_SCATTER,
			weight->expert_parameters * sync->reduce_bytes);
	double hidden = 0, bare = 0;

	if (pricing->plan->choice.zero < 2)
		return;
	if (pricing->plan->choice.zero < 3)
		gather = 0;
	if (sync->overlap_gather) {
		*forward_s = fmax(*forward_s, gather);
		hidden += gather;
	} else {
		*forward_s += gather;
		bare += gather;
	}
	if (sync->overlap_reduce)
		hidden += scatter;
	else
		bare += scatter;
	*backward_s = fmax(*backward_s, hidden) + bare;
}

static void price_class(struct brute_pricing *pricing, int policy,
			uint32_t class)
{
	const struct problem *problem = pricing->problem;
	const struct problem_cost *cost = problem_cost_at(problem,
		pricing->plan->choice.shape, class, (enum recompute)policy);
	double forward_s = cost->forward_s, backward_s = cost->backward_s;

	for (uint32_t i = 0; i < cost->collective_count; i++) {
		const struct problem_collective *one =
			&problem->collective[cost->collective_first + i];
		double time = brute_group_time(pricing, one->group, one->kind,
					       one->bytes);
		double exposed = fmax(one->slowing * time, time - one->hidden_s);

		if (one->backward)
			backward_s += exposed;
		else
			forward_s += exposed;
	}
	price_sharing(pricing, class, &forward_s, &backward_s);
	pricing->forward_s[policy][class] = forward_s;
	pricing->backward_s[policy][class] = backward_s;
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
	pricing->sharers = brute_sharers(pricing, GROUP_DATA_CONTEXT);
	pricing->expert_sharers = brute_sharers(pricing, GROUP_EXPERT_DATA);
	for (uint32_t class = 0; class < problem->class_count; class++)
		for (int policy = 0; policy < RECOMPUTE_COUNT; policy++)
			price_class(pricing, policy, class);
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
	if (pricing->plan->choice.zero >= 2)
		bytes /= pricing->sharers;
	level = brute_border(pricing, a, b);
	extra_s[a] = extra_s[b] = problem->level[level].latency_s +
				  brute_send(pricing, a, b, bytes);
}

/* What of a stage has states apart: elements and step of all, and the most of one
 * weight that must be whole. */
struct apart {
	double elements, step_s, most_elements, most_step_s;
};

/* Cost and weight of the layers of every chunk. */
struct chunks {
	double forward_s[BRUTE_STAGE_MAX], backward_s[BRUTE_STAGE_MAX];
	double saved_bytes[BRUTE_STAGE_MAX], transfer_s[BRUTE_STAGE_MAX];
	double stage_forward_s[BRUTE_STAGE_MAX];
	double stage_backward_s[BRUTE_STAGE_MAX];
	double working_bytes[BRUTE_STAGE_MAX];
	double parameters[BRUTE_STAGE_MAX];	/* without those of experts */
	double expert_parameters[BRUTE_STAGE_MAX];
	struct apart apart[2][BRUTE_STAGE_MAX];	/* of others, of experts */
	/* Of all layers of a stage, in falling order: what is gathered at once. */
	double gathered[BRUTE_STAGE_MAX][BRUTE_CHAIN_MAX];
};

/* Inserts into a falling list. */
static void insert(double *list, double number)
{
	for (uint32_t i = 0; i < BRUTE_CHAIN_MAX; i++) {
		double other = list[i];

		if (other >= number)
			continue;
		list[i] = number;
		number = other;
	}
}

/* The policy of a layer of a chunk, `before` blocks of which come before it. */
static enum recompute policy_of(const struct brute_pricing *pricing,
				uint32_t class, uint32_t before)
{
	const struct choice *choice = &pricing->plan->choice;

	if (choice->recompute == RECOMPUTE_FULL && choice->recompute_layers &&
	    pricing->problem->class_is_block[class] &&
	    before >= choice->recompute_layers)
		return RECOMPUTE_NONE;
	return choice->recompute;
}

static void add_apart(struct apart *to, const struct problem_apart *of)
{
	to->elements += of->parameters;
	to->step_s += of->step_s;
	to->most_elements = fmax(to->most_elements, of->largest);
	to->most_step_s = fmax(to->most_step_s, of->largest_step_s);
}

static void add_layer(const struct brute_pricing *pricing,
		      struct chunks *chunks, uint32_t c, uint32_t class,
		      enum recompute policy)
{
	const struct problem *problem = pricing->problem;
	uint32_t k = c % pricing->plan->choice.pipeline;
	const struct problem_cost *cost = problem_cost_at(problem,
		pricing->plan->choice.shape, class, policy);
	const struct problem_weight *weight = problem_weight_at(problem,
		pricing->plan->choice.shape, class);

	chunks->forward_s[c] += pricing->forward_s[policy][class];
	chunks->backward_s[c] += pricing->backward_s[policy][class];
	chunks->saved_bytes[c] += cost->saved_bytes;
	chunks->working_bytes[k] = fmax(chunks->working_bytes[k],
					cost->working_bytes);
	chunks->parameters[k] += weight->parameters;
	chunks->expert_parameters[k] += weight->expert_parameters;
	add_apart(&chunks->apart[0][k], &weight->apart);
	add_apart(&chunks->apart[1][k], &weight->expert_apart);
	insert(chunks->gathered[k],
	       (pricing->sharers > 1 ? weight->parameters : 0) +
	       (pricing->expert_sharers > 1 ? weight->expert_parameters : 0));
}

static void fill_chunks(const struct brute_pricing *pricing,
			struct chunks *chunks)
{
	const struct problem *problem = pricing->problem;
	struct brute_plan *plan = pricing->plan;
	uint32_t p = plan->choice.pipeline;
	uint32_t count = p * plan->choice.virtual_stages;

	memset(chunks, 0, sizeof(*chunks));
	memset(plan->stage_layers, 0, sizeof(plan->stage_layers));
	for (uint32_t c = 0; c < count; c++) {
		uint32_t k = c % p, blocks = 0, class = 0;

		for (uint32_t i = plan->chunk_first[c];
		     i < plan->chunk_first[c + 1]; i++) {
			class = pricing->layer_class[i];
			add_layer(pricing, chunks, c, class,
				  policy_of(pricing, class, blocks));
			blocks += problem->class_is_block[class];
		}
		plan->stage_layers[k] += blocks;
		if (c + 1 < count)
			chunks->transfer_s[c] = brute_send(pricing, k,
				(c + 1) % p, problem_weight_at(problem,
					plan->choice.shape, class)->output_bytes);
		chunks->stage_forward_s[k] += chunks->forward_s[c];
		chunks->stage_backward_s[k] += chunks->backward_s[c];
	}
}

static uint32_t count_groups(const struct brute_pricing *pricing)
{
	const struct problem_shape *shape = pricing->shape;
	const struct choice *choice = &pricing->plan->choice;
	uint32_t replicas = choice->data * shape->context;
	uint32_t cut = shape->expert * shape->expert_tensor;
	uint32_t copies = replicas * shape->tensor / cut;
	uint32_t sizes[] = {
		shape->tensor, shape->context, replicas, choice->pipeline,
		choice->shard_level ? pricing->sharers : 1,
		choice->shard_level ? replicas / pricing->sharers : 1,
		shape->expert, shape->expert_tensor, cut > 1 ? copies : 1,
		cut > 1 && choice->shard_level ? pricing->expert_sharers : 1,
		cut > 1 && choice->shard_level ?
			copies / pricing->expert_sharers : 1,
	};
	uint32_t count = 0;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		count += sizes[i] > 1;
	return count;
}

/* The reduction at the end of an iteration. */
static double reduction(const struct brute_pricing *pricing, double parameters,
			double experts)
{
	double bytes = pricing->problem->sync.reduce_bytes, time = 0;
	uint32_t zero = pricing->plan->choice.zero;

	parameters *= bytes;
	experts *= bytes;
	if (zero == 0)
		return brute_group_time(pricing, GROUP_DATA_CONTEXT,
					COLLECTIVE_ALL_REDUCE, parameters) +
		       brute_group_time(pricing, GROUP_EXPERT_DATA,
					COLLECTIVE_ALL_REDUCE, experts);
	if (zero == 1)
		time = brute_part_time(pricing, GROUP_DATA_CONTEXT, true,
				       COLLECTIVE_REDUCE_SCATTER, parameters) +
		       brute_part_time(pricing, GROUP_EXPERT_DATA, true,
				       COLLECTIVE_REDUCE_SCATTER, experts);
	return time + brute_part_time(pricing, GROUP_DATA_CONTEXT, false,
				      COLLECTIVE_ALL_REDUCE,
				      parameters / pricing->sharers) +
	       brute_part_time(pricing, GROUP_EXPERT_DATA, false,
			       COLLECTIVE_ALL_REDUCE,
			       experts / pricing->expert_sharers);
}

static double gather_at_end(const struct brute_pricing *pricing,
			    double parameters, double experts)
{
	double bytes = pricing->problem->sync.gather_bytes;
	uint32_t zero = pricing->plan->choice.zero;

	if (zero == 0 || zero == 3)
		return 0;
	return brute_part_time(pricing, GROUP_DATA_CONTEXT, true,
			       COLLECTIVE_ALL_GATHER, parameters * bytes) +
	       brute_part_time(pricing, GROUP_EXPERT_DATA, true,
			       COLLECTIVE_ALL_GATHER, experts * bytes);
}

/* Sharers of the states of parameters of experts, or of others. */
static double state_sharers(const struct brute_pricing *pricing, int experts)
{
	if (pricing->plan->choice.zero == 0)
		return 1;
	return experts ? pricing->expert_sharers : pricing->sharers;
}

/* Parameters of stage k whose states are not apart. */
static double loose(const struct chunks *chunks, uint32_t k, int experts)
{
	return (experts ? chunks->expert_parameters[k] : chunks->parameters[k]) -
	       chunks->apart[experts][k].elements;
}

/* Optimizer states: some weights go to sharers whole, so that one sharer has the
 * largest, and one the mean or more. */
static double states_of(const struct brute_pricing *pricing,
			const struct chunks *chunks, uint32_t k)
{
	const struct problem_memory *memory = &pricing->problem->memory;
	double bytes = 0;

	for (int e = 0; e < 2; e++) {
		const struct apart *apart = &chunks->apart[e][k];
		double sharers = state_sharers(pricing, e);

		bytes += loose(chunks, k, e) / sharers * memory->optimizer_bytes;
		bytes += fmax(apart->elements / sharers,
			      apart->most_elements) * memory->apart_bytes;
	}
	return bytes;
}

static double update_of(const struct brute_pricing *pricing,
			const struct chunks *chunks, uint32_t k)
{
	const struct problem_sync *sync = &pricing->problem->sync;
	double time = 0;

	for (int e = 0; e < 2; e++) {
		const struct apart *apart = &chunks->apart[e][k];
		double sharers = state_sharers(pricing, e);

		time += loose(chunks, k, e) / sharers * sync->step_bytes /
			sync->memory_bandwidth_Bps;
		time += fmax(apart->step_s / sharers, apart->most_step_s);
	}
	return time;
}

static double memory_of(const struct brute_pricing *pricing,
			const struct chunks *chunks, uint32_t k)
{
	const struct problem_memory *memory = &pricing->problem->memory;
	const struct choice *choice = &pricing->plan->choice;
	double whole = chunks->parameters[k] + chunks->expert_parameters[k];
	double share = chunks->parameters[k] / pricing->sharers +
		       chunks->expert_parameters[k] / pricing->expert_sharers;
	double at_once = chunks->gathered[k][0] + chunks->gathered[k][1];
	double saved[BRUTE_STAGE_MAX], total = memory->reserve_bytes;

	for (uint32_t j = 0; j < choice->virtual_stages; j++)
		saved[j] = chunks->saved_bytes[j * choice->pipeline + k];
	total += chunks->working_bytes[k];
	total += count_groups(pricing) * memory->group_bytes;
	total += brute_activations(brute_pipeline(choice), k, saved);
	total += states_of(pricing, chunks, k);
	total += memory->gradient_bytes *
		 (choice->zero >= 2 ? share + at_once : whole);
	total += memory->weight_bytes *
		 (choice->zero >= 3 ? share + at_once : whole);
	return total;
}

/* How long the uplinks of stage k carry what it sends back, and on. */
static void links_busy(const struct brute_pricing *pricing,
		       const struct chunks *chunks, uint32_t k, double busy[2])
{
	const struct brute_plan *plan = pricing->plan;
	const struct placement *placement = &plan->placement;
	uint32_t p = plan->choice.pipeline;
	uint32_t count = p * plan->choice.virtual_stages;
	uint32_t replicas = plan->choice.data * pricing->shape->context;
	uint32_t near = placement->factor[DIMENSION_DATA][0] *
			placement->factor[DIMENSION_CONTEXT][0];
	bool out = near < replicas;

	if (placement->packing != PACKING_FACTORS)
		out = replicas > 1 &&
		      replicas * p * pricing->shape->tensor >
			      pricing->problem->level[0].fanout;
	for (uint32_t c = 0; out && c + 1 < count; c++) {
		uint32_t from = c % p, to = (c + 1) % p;

		if (brute_border(pricing, from, to) == 0)
			continue;
		busy[0] += to == k ? chunks->transfer_s[c] : 0;
		busy[1] += from == k ? chunks->transfer_s[c] : 0;
	}
}

static void price_stage(const struct brute_pricing *pricing,
			const struct chunks *chunks, uint32_t k, double extra_s)
{
	const struct problem_sync *sync = &pricing->problem->sync;
	struct brute_plan *plan = pricing->plan;
	double parameters = chunks->parameters[k];
	double experts = chunks->expert_parameters[k];
	double time = reduction(pricing, parameters, experts);
	double gather = gather_at_end(pricing, parameters, experts);
	double busy[2] = { 0, 0 };

	links_busy(pricing, chunks, k, busy);
	if (sync->overlap_reduce)
		time = fmax(0, time - fmax(0, chunks->stage_backward_s[k] -
						      busy[0]));
	plan->reduce_exposed_s[k] = time + extra_s;
	if (sync->overlap_gather)
		gather = fmax(0, gather - fmax(0, chunks->stage_forward_s[k] -
							  busy[1]));
	plan->update_s[k] = gather + update_of(pricing, chunks, k);
	plan->stage_bytes[k] = memory_of(pricing, chunks, k);
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
	saved = end - brute_schedule(brute_pipeline(choice), chunks->forward_s,
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
	brute_schedule(brute_pipeline(&plan->choice), chunks.forward_s,
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
