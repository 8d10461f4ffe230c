/* SPDX-License-Identifier: MIT
 *
 * Exhaustive enumeration, as plainly as it can be written: nested loops over
 * degrees, factor matrices and cuts; every plan priced from scratch. Nothing
 * is bounded or skipped but what the space itself excludes.
 */
#include "tests/prop/brute.h"

#include <math.h>
#include <string.h>

#define OPERATION_MAX (2 * BRUTE_BATCH_MAX * BRUTE_STAGE_MAX)

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* ---- network ---- */

static double rate(const struct problem *problem, uint32_t l, double k)
{
	const struct problem_level *level = &problem->level[l];
	double below = 1, uplink;

	for (uint32_t i = 0; i < l; i++)
		below *= problem->level[i].fanout;
	uplink = below * level->bandwidth_Bps / level->oversubscription / k;
	return level->efficiency *
	       (uplink < level->bandwidth_Bps ? uplink : level->bandwidth_Bps);
}

static double ring(const struct problem *problem, const uint32_t *members,
		   const uint32_t *used, double bytes)
{
	double n = 1, slowest = 0, latency = 0;

	for (uint32_t l = 0; l < problem->level_count; l++) {
		double here;

		if (members[l] == 1)
			continue;
		here = n * rate(problem, l, used[l]);
		if (slowest == 0 || here < slowest)
			slowest = here;
		if (problem->level[l].latency_s > latency)
			latency = problem->level[l].latency_s;
		n *= members[l];
	}
	return 2 * (n - 1) / n * bytes / slowest + 2 * (n - 1) * latency;
}

static double tree(const struct problem *problem, const uint32_t *members,
		   const uint32_t *used, double bytes)
{
	double inside = 1, slowest = 0, latency = 0;

	for (uint32_t l = 0; l < problem->level_count; l++) {
		uint32_t steps = 0;
		double here;

		if (members[l] == 1)
			continue;
		while ((1u << steps) < members[l])
			steps++;
		here = inside * rate(problem, l, used[l]);
		if (slowest == 0 || here < slowest)
			slowest = here;
		latency += steps * problem->level[l].latency_s;
		inside *= members[l];
	}
	return 2 * bytes / slowest + 2 * latency;
}

static double hierarchical(const struct problem *problem,
			   const uint32_t *members, const uint32_t *used,
			   double bytes, bool reduce_in_network)
{
	double inside = 1, total = 0;

	for (uint32_t l = 0; l < problem->level_count; l++) {
		double n = members[l], here = rate(problem, l, used[l]);
		double latency = problem->level[l].latency_s;

		if (members[l] == 1)
			continue;
		if (reduce_in_network && problem->level[l].in_network_reduction)
			total += bytes / inside / here + 2 * latency;
		else
			total += 2 * (n - 1) / n * bytes / inside / here +
				 2 * (n - 1) * latency;
		inside *= n;
	}
	return total;
}

static double all_to_all(const struct problem *problem, const uint32_t *members,
			 const uint32_t *used, double bytes)
{
	double n = 1, inside = 1, worst = 0, latency = 0;

	for (uint32_t l = 0; l < problem->level_count; l++)
		n *= members[l];
	for (uint32_t l = 0; l < problem->level_count; l++) {
		double here;

		if (members[l] == 1)
			continue;
		here = (n - inside) / n * bytes / rate(problem, l, used[l]);
		if (here > worst)
			worst = here;
		latency += (members[l] - 1) * problem->level[l].latency_s;
		inside *= members[l];
	}
	return worst + latency;
}

double brute_collective(const struct problem *problem, const uint32_t *members,
			const uint32_t *used, enum collective kind,
			double bytes)
{
	uint32_t n = 1;
	double best;

	for (uint32_t l = 0; l < problem->level_count; l++)
		n *= members[l];
	if (n == 1 || bytes == 0)
		return 0;
	if (kind == COLLECTIVE_ALL_TO_ALL)
		return all_to_all(problem, members, used, bytes);
	best = ring(problem, members, used, bytes);
	if (kind == COLLECTIVE_ALL_REDUCE) {
		best = fmin(best, tree(problem, members, used, bytes));
		return fmin(best, hierarchical(problem, members, used, bytes,
					       true));
	}
	return fmin(best / 2, hierarchical(problem, members, used, bytes,
					   false) / 2);
}

/* ---- schedule ---- */

static struct brute_operation nth(uint32_t p, uint32_t v, uint32_t q,
				  bool backward)
{
	struct brute_operation operation = { .backward = backward };

	if (v == 1) {
		operation.micro_batch = q;
		return operation;
	}
	operation.micro_batch = q / (p * v) * p + q % p;
	operation.chunk = q % (p * v) / p;
	if (backward)
		operation.chunk = v - 1 - operation.chunk;
	return operation;
}

uint32_t brute_order(uint32_t p, uint32_t v, uint32_t m, uint32_t k,
		     struct brute_operation *operation)
{
	uint32_t warm, forward = 0, backward = 0, count = 0;

	if (v == 1)
		warm = smaller(p - 1 - k, m);
	else
		warm = smaller(2 * (p - 1 - k) + (v - 1) * p, m * v);
	while (forward < warm)
		operation[count++] = nth(p, v, forward++, false);
	while (forward < m * v) {
		operation[count++] = nth(p, v, forward++, false);
		operation[count++] = nth(p, v, backward++, true);
	}
	while (backward < m * v)
		operation[count++] = nth(p, v, backward++, true);
	return count;
}

/* Sweeps over the devices, each running whatever it can, until all is done. */
double brute_schedule(uint32_t p, uint32_t v, uint32_t m,
		      const double *forward_s, const double *backward_s,
		      const double *transfer_s, double *finish_s)
{
	static struct brute_operation order[BRUTE_STAGE_MAX][OPERATION_MAX];
	static double end[2][BRUTE_STAGE_MAX][BRUTE_BATCH_MAX];
	uint32_t next[BRUTE_STAGE_MAX] = { 0 }, last = p * v - 1;
	bool moved = true;
	double latest = 0;

	for (uint32_t k = 0; k < p; k++) {
		brute_order(p, v, m, k, order[k]);
		finish_s[k] = 0;
	}
	for (uint32_t c = 0; c <= last; c++)
		for (uint32_t i = 0; i < m; i++)
			end[0][c][i] = end[1][c][i] = -1;
	while (moved) {
		moved = false;
		for (uint32_t k = 0; k < p; k++) {
			while (next[k] < 2 * m * v) {
				struct brute_operation o = order[k][next[k]];
				uint32_t c = o.chunk * p + k, i = o.micro_batch;
				double start = finish_s[k];

				if (o.backward) {
					if (end[0][c][i] < 0 ||
					    (c < last && end[1][c + 1][i] < 0))
						break;
					start = fmax(start, end[0][c][i]);
					if (c < last)
						start = fmax(start,
							end[1][c + 1][i] +
							transfer_s[c]);
					finish_s[k] = start + backward_s[c];
				} else {
					if (c > 0 && end[0][c - 1][i] < 0)
						break;
					if (c > 0)
						start = fmax(start,
							end[0][c - 1][i] +
							transfer_s[c - 1]);
					finish_s[k] = start + forward_s[c];
				}
				end[o.backward][c][i] = finish_s[k];
				next[k]++;
				moved = true;
			}
		}
	}
	for (uint32_t k = 0; k < p; k++) {
		if (next[k] < 2 * m * v)
			return -1;
		latest = fmax(latest, finish_s[k]);
	}
	return latest;
}

double brute_activations(uint32_t p, uint32_t v, uint32_t m, uint32_t k,
			 const double *saved_bytes)
{
	static struct brute_operation order[OPERATION_MAX];
	uint32_t count = brute_order(p, v, m, k, order);
	double now = 0, peak = 0;

	for (uint32_t q = 0; q < count; q++) {
		if (order[q].backward)
			now -= saved_bytes[order[q].chunk];
		else
			now += saved_bytes[order[q].chunk];
		peak = fmax(peak, now);
	}
	return peak;
}

/* ---- one plan ---- */

struct pricing {
	const struct problem *problem;
	struct brute_plan *plan;
	const struct problem_shape *shape;
	uint32_t layer_count;
	uint32_t layer_class[BRUTE_CHAIN_MAX];
	uint32_t used[LEVEL_MAX];
	/* per class, communication included */
	double forward_s[BRUTE_CHAIN_MAX], backward_s[BRUTE_CHAIN_MAX];
};

static void unroll(struct pricing *pricing)
{
	pricing->layer_count = 0;
	for (uint32_t r = 0; r < pricing->problem->run_count; r++)
		for (uint32_t i = 0; i < pricing->problem->run[r].count; i++)
			pricing->layer_class[pricing->layer_count++] =
				pricing->problem->run[r].class_index;
}

static void group_of(const struct pricing *pricing, enum group group,
		     uint32_t *members)
{
	const struct placement *f = &pricing->plan->placement;

	for (uint32_t l = 0; l < pricing->problem->level_count; l++) {
		members[l] = 1;
		if (group == GROUP_TENSOR)
			members[l] = f->factor[DIMENSION_TENSOR][l];
		if (group == GROUP_CONTEXT)
			members[l] = f->factor[DIMENSION_CONTEXT][l];
		if (group == GROUP_DATA_CONTEXT)
			members[l] = f->factor[DIMENSION_DATA][l] *
				     f->factor[DIMENSION_CONTEXT][l];
	}
}

static double group_time(const struct pricing *pricing, enum group group,
			 enum collective kind, double bytes)
{
	uint32_t members[LEVEL_MAX];

	group_of(pricing, group, members);
	return brute_collective(pricing->problem, members, pricing->used, kind,
				bytes);
}

static void price_placement(struct pricing *pricing)
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
			double time = group_time(pricing, one->group, one->kind,
						 one->bytes);
			double exposed = fmax(0, time - one->hidden_s);

			if (one->backward)
				pricing->backward_s[class] += exposed;
			else
				pricing->forward_s[class] += exposed;
		}
	}
}

/* Level and rate between two pipeline ranks. */
static uint32_t border(const struct pricing *pricing, uint32_t a, uint32_t b,
		       double *rate_Bps)
{
	const uint32_t *factor =
		pricing->plan->placement.factor[DIMENSION_PIPELINE];
	uint32_t level = 0, inside = 1, ranks = 1;

	for (uint32_t l = 0; l < pricing->problem->level_count; l++) {
		if (a / inside % factor[l] != b / inside % factor[l])
			level = l;
		inside *= factor[l];
	}
	for (uint32_t l = 0; l < level; l++)
		ranks *= factor[l];
	*rate_Bps = rate(pricing->problem, level,
			 (double)pricing->used[level] / ranks);
	return level;
}

static double send(const struct pricing *pricing, uint32_t a, uint32_t b,
		   double bytes)
{
	double rate_Bps;
	uint32_t level = border(pricing, a, b, &rate_Bps);

	return pricing->problem->level[level].latency_s + bytes / rate_Bps;
}

static uint32_t chunk_of(const struct brute_plan *plan, uint32_t layer)
{
	uint32_t chunk = 0;

	while (plan->chunk_first[chunk + 1] <= layer)
		chunk++;
	return chunk;
}

/* The tied pair: the extra reduction time, and on which stages; or a saving
 * of parameters on one. */
static void price_tied(const struct pricing *pricing, double *parameters,
		       double *extra_s)
{
	const struct problem *problem = pricing->problem;
	const struct problem_weight *weight;
	uint32_t p = pricing->plan->choice.pipeline, a = p, b = p, level;
	double bytes, rate_Bps;

	if (problem->tied_class == CLASS_NONE)
		return;
	for (uint32_t i = 0; i < pricing->layer_count; i++) {
		if (pricing->layer_class[i] == problem->tied_class)
			a = chunk_of(pricing->plan, i) % p;
		if (pricing->layer_class[i] == problem->tied_with_class)
			b = chunk_of(pricing->plan, i) % p;
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
	level = border(pricing, a, b, &rate_Bps);
	extra_s[a] = extra_s[b] =
		2 * problem->level[level].latency_s + bytes / rate_Bps;
}

/* Cost and weight of the layers of every chunk. */
struct chunks {
	double forward_s[BRUTE_STAGE_MAX], backward_s[BRUTE_STAGE_MAX];
	double saved_bytes[BRUTE_STAGE_MAX], transfer_s[BRUTE_STAGE_MAX];
	double stage_forward_s[BRUTE_STAGE_MAX];
	double stage_backward_s[BRUTE_STAGE_MAX];
	double working_bytes[BRUTE_STAGE_MAX];
	double parameters[BRUTE_STAGE_MAX];
};

static void fill_chunks(const struct pricing *pricing, struct chunks *chunks)
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
			plan->stage_layers[k] += problem->class_is_block[class];
			chunks->transfer_s[c] = c + 1 == count ? 0 :
				send(pricing, k, (c + 1) % p,
				     weight->output_bytes);
		}
		chunks->stage_forward_s[k] += chunks->forward_s[c];
		chunks->stage_backward_s[k] += chunks->backward_s[c];
	}
}

static void price_stage(const struct pricing *pricing,
			const struct chunks *chunks, uint32_t k, double extra_s)
{
	const struct problem *problem = pricing->problem;
	const struct problem_memory *memory = &problem->memory;
	const struct problem_sync *sync = &problem->sync;
	struct brute_plan *plan = pricing->plan;
	uint32_t p = plan->choice.pipeline, v = plan->choice.virtual_stages;
	double parameters = chunks->parameters[k];
	double replicas = plan->choice.data * pricing->shape->context;
	double shard = plan->choice.zero == 1 ? replicas : 1;
	double saved[BRUTE_STAGE_MAX], time, gather = 0;
	uint32_t groups = (pricing->shape->tensor > 1) +
			  (pricing->shape->context > 1) + (replicas > 1) +
			  (p > 1);

	time = group_time(pricing, GROUP_DATA_CONTEXT, plan->choice.zero == 1 ?
			  COLLECTIVE_REDUCE_SCATTER : COLLECTIVE_ALL_REDUCE,
			  parameters * sync->reduce_bytes);
	if (sync->overlap_reduce)
		time = fmax(0, time - chunks->stage_backward_s[k]);
	plan->reduce_exposed_s[k] = time + extra_s;

	if (plan->choice.zero == 1)
		gather = group_time(pricing, GROUP_DATA_CONTEXT,
				    COLLECTIVE_ALL_GATHER,
				    parameters * sync->gather_bytes);
	if (sync->overlap_gather)
		gather = fmax(0, gather - chunks->stage_forward_s[k]);
	plan->update_s[k] = gather + parameters * sync->step_bytes / shard /
				     sync->memory_bandwidth_Bps;

	for (uint32_t j = 0; j < v; j++)
		saved[j] = chunks->saved_bytes[j * p + k];
	plan->stage_bytes[k] = parameters * memory->weight_bytes +
		parameters * memory->gradient_bytes +
		parameters * memory->optimizer_bytes / shard +
		brute_activations(p, v, plan->choice.micro_batches, k, saved) +
		chunks->working_bytes[k] + memory->reserve_bytes +
		groups * memory->group_bytes;
}

/* Share of the iteration that the device which decides its end waits for
 * others' compute: its idle time, less what free transfers would save. */
static double bubble_share(const struct pricing *pricing,
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
static void price_cut(struct pricing *pricing)
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

/* ---- requirements, objectives, order ---- */

static void fill_variables(const struct pricing *pricing,
			   struct predicate_input *input)
{
	const struct problem *problem = pricing->problem;
	const struct brute_plan *plan = pricing->plan;
	const struct choice *choice = &plan->choice;
	double *value = input->value;
	uint32_t blocks = 0;

	for (uint32_t i = 0; i < pricing->layer_count; i++)
		blocks += problem->class_is_block[pricing->layer_class[i]];
	memset(input, 0, sizeof(*input));
	value[VARIABLE_TENSOR] = pricing->shape->tensor;
	value[VARIABLE_SEQUENCE] = pricing->shape->sequence;
	value[VARIABLE_CONTEXT] = pricing->shape->context;
	value[VARIABLE_EXPERT] = pricing->shape->expert;
	value[VARIABLE_EXPERT_TENSOR] = pricing->shape->expert_tensor;
	value[VARIABLE_DATA] = choice->data;
	value[VARIABLE_PIPELINE] = choice->pipeline;
	value[VARIABLE_VIRTUAL] = choice->virtual_stages;
	value[VARIABLE_MICRO_BATCH] = pricing->shape->micro_batch;
	value[VARIABLE_MICRO_BATCHES] = choice->micro_batches;
	value[VARIABLE_ZERO] = choice->zero;
	value[VARIABLE_RECOMPUTE] = choice->recompute;
	value[VARIABLE_RECOMPUTE_LAYERS] =
		choice->recompute == RECOMPUTE_FULL ? blocks : 0;
	value[VARIABLE_DEVICES] = plan->devices;
	value[VARIABLE_TIME] = plan->time_s;
	value[VARIABLE_MEMORY] = plan->peak_bytes;
	value[VARIABLE_BUBBLE] = plan->bubble;
	value[VARIABLE_COST] = plan->devices * plan->time_s *
			       problem->device_dollars_per_s;
	value[VARIABLE_ENERGY] = plan->devices * plan->time_s *
				 problem->device_watts;
	value[VARIABLE_STAGES_UNIFORM] = 1;
	for (uint32_t k = 1; k < choice->pipeline; k++)
		if (plan->stage_layers[k] != plan->stage_layers[0])
			value[VARIABLE_STAGES_UNIFORM] = 0;
	input->stage_layers = plan->stage_layers;
	input->stage_count = choice->pipeline;
}

static bool requirements_hold(const struct problem *problem,
			      const struct predicate_input *input)
{
	for (uint32_t i = 0; i < problem->requirement_count; i++) {
		double truth = predicate_evaluate(&problem->requirement[i],
						  input);

		if (truth == 0 || isnan(truth))
			return false;
	}
	return true;
}

/* Prices, evaluates the objectives; whether the requirements hold. */
static bool judge_plan(struct pricing *pricing)
{
	const struct problem *problem = pricing->problem;
	struct brute_plan *plan = pricing->plan;
	struct predicate_input input;

	price_cut(pricing);
	fill_variables(pricing, &input);
	plan->objective[0] = plan->time_s;
	for (uint32_t i = 0; i < problem->objective_count; i++)
		plan->objective[i] = predicate_evaluate(&problem->objective[i],
							&input);
	return requirements_hold(problem, &input);
}

bool brute_price(const struct problem *problem, struct brute_plan *plan)
{
	struct pricing pricing = {
		.problem = problem,
		.plan = plan,
		.shape = &problem->shape[plan->choice.shape],
	};

	unroll(&pricing);
	price_placement(&pricing);
	return judge_plan(&pricing) &&
	       plan->peak_bytes <= problem->memory.limit_bytes;
}

/* even.h, read literally. */
static bool blocks_are_nearly_even(const uint32_t *blocks, uint32_t chunks)
{
	uint32_t least = UINT32_MAX, largest = 0;

	for (uint32_t c = 1; c + 1 < chunks; c++) {
		if (blocks[c] < least)
			least = blocks[c];
		if (blocks[c] > largest)
			largest = blocks[c];
	}
	return largest - least <= 1 && blocks[0] <= least + 1 &&
	       blocks[chunks - 1] <= least + 1;
}

static bool cut_is_allowed(const struct pricing *pricing)
{
	const struct brute_plan *plan = pricing->plan;
	uint32_t chunks = plan->choice.pipeline * plan->choice.virtual_stages;
	uint32_t blocks[BRUTE_STAGE_MAX] = { 0 };

	for (uint32_t i = 0; i < pricing->layer_count; i++)
		blocks[chunk_of(plan, i)] +=
			pricing->problem->class_is_block[pricing->layer_class[i]];
	if (plan->choice.virtual_stages > 1 &&
	    !blocks_are_nearly_even(blocks, chunks))
		return false;
	for (uint32_t c = 1; c < chunks; c++)
		if (pricing->problem->uniform_stages && blocks[c] != blocks[0])
			return false;
	return true;
}

/* Compact placements first: the larger factor at the inner level. */
static int compare_placement(const struct placement *a,
			     const struct placement *b, uint32_t levels)
{
	for (int d = 0; d < DIMENSION_COUNT; d++)
		for (uint32_t l = 0; l < levels; l++)
			if (a->factor[d][l] != b->factor[d][l])
				return a->factor[d][l] > b->factor[d][l] ? -1 : 1;
	return 0;
}

int brute_compare(const struct problem *problem, const struct brute_plan *a,
		  const struct brute_plan *b)
{
	const struct problem_shape *s = &problem->shape[a->choice.shape];
	const struct problem_shape *t = &problem->shape[b->choice.shape];
	const double key[][2] = {
		{ a->peak_bytes, b->peak_bytes },
		{ a->devices, b->devices },
		{ s->tensor, t->tensor },
		{ s->context, t->context },
		{ a->choice.pipeline, b->choice.pipeline },
		{ a->choice.virtual_stages, b->choice.virtual_stages },
		{ s->micro_batch, t->micro_batch },
		{ a->choice.zero, b->choice.zero },
		{ a->choice.recompute, b->choice.recompute },
	};
	uint32_t objectives = problem->objective_count ?
			      problem->objective_count : 1;

	for (uint32_t i = 0; i < objectives; i++)
		if (a->objective[i] != b->objective[i])
			return a->objective[i] < b->objective[i] ? -1 : 1;
	for (size_t i = 0; i < sizeof(key) / sizeof(key[0]); i++)
		if (key[i][0] != key[i][1])
			return key[i][0] < key[i][1] ? -1 : 1;
	return compare_placement(&a->placement, &b->placement,
				 problem->level_count);
}

/* ---- enumeration ---- */

static void try_plan(struct pricing *pricing, struct brute_result *result)
{
	const struct problem *problem = pricing->problem;
	struct brute_plan *plan = pricing->plan;
	bool meets;

	if (!cut_is_allowed(pricing))
		return;
	meets = judge_plan(pricing);
	if (random_below(&result->random, (uint32_t)++result->plans) == 0)
		result->sample = *plan;
	if (!meets)
		return;
	if (!result->has_lightest ||
	    plan->peak_bytes < result->lightest_peak_bytes)
		result->lightest_peak_bytes = plan->peak_bytes;
	result->has_lightest = true;
	if (plan->peak_bytes > problem->memory.limit_bytes)
		return;
	if (!result->found || brute_compare(problem, plan, &result->best) < 0)
		result->best = *plan;
	result->found = true;
}

/* All cuts: chunk `chunk` begins at `from`. */
static void try_cuts(struct pricing *pricing, uint32_t chunk, uint32_t from,
		     struct brute_result *result)
{
	struct brute_plan *plan = pricing->plan;
	uint32_t chunks = plan->choice.pipeline * plan->choice.virtual_stages;

	plan->chunk_first[chunk] = from;
	if (chunk == chunks) {
		if (from == pricing->layer_count)
			try_plan(pricing, result);
		return;
	}
	for (uint32_t next = from + 1; next <= pricing->layer_count; next++)
		try_cuts(pricing, chunk + 1, next, result);
}

/* All factor matrices, one cell after another; left[d] is what remains of a
 * degree. */
static void try_placements(struct pricing *pricing, uint32_t cell,
			   const uint32_t *left, struct brute_result *result)
{
	const struct problem *problem = pricing->problem;
	uint32_t d = cell % DIMENSION_COUNT, l = cell / DIMENSION_COUNT;
	struct placement *placement = &pricing->plan->placement;
	uint32_t column = 1, rest[DIMENSION_COUNT];

	if (l == problem->level_count) {
		for (d = 0; d < DIMENSION_COUNT; d++)
			if (left[d] != 1)
				return;
		price_placement(pricing);
		try_cuts(pricing, 0, 0, result);
		return;
	}
	for (uint32_t i = 0; i < d; i++)
		column *= placement->factor[i][l];
	for (uint32_t f = 1; f <= left[d]; f++) {
		if (left[d] % f != 0 || column * f > problem->level[l].fanout)
			continue;
		memcpy(rest, left, sizeof(rest));
		rest[d] /= f;
		placement->factor[d][l] = f;
		try_placements(pricing, cell + 1, rest, result);
	}
}

static bool in_domain(const struct problem_domain *domain, uint32_t value)
{
	for (uint32_t i = 0; i < domain->count; i++)
		if (domain->at[i] == value)
			return true;
	return domain->count == 0;
}

static void try_policies(struct pricing *pricing, struct brute_result *result)
{
	const struct problem *problem = pricing->problem;
	struct brute_plan *plan = pricing->plan;
	uint32_t degree[DIMENSION_COUNT] = {
		pricing->shape->tensor, pricing->shape->context,
		plan->choice.data, plan->choice.pipeline,
	};

	for (uint32_t zero = 0; zero < 2; zero++) {
		for (int r = 0; r < RECOMPUTE_COUNT; r++) {
			if (!problem->zero[zero] || !problem->recompute[r])
				continue;
			plan->choice.zero = zero;
			plan->choice.recompute = (enum recompute)r;
			result->configurations++;
			try_placements(pricing, 0, degree, result);
		}
	}
}

static void try_shape(struct pricing *pricing, struct brute_result *result)
{
	const struct problem *problem = pricing->problem;
	const struct problem_shape *shape = pricing->shape;
	struct choice *choice = &pricing->plan->choice;

	for (uint32_t d = 1; d <= problem->device_count; d++)
	for (uint32_t p = 1; p <= problem->device_count; p++)
	for (uint32_t v = 1; p * v <= pricing->layer_count; v++) {
		uint32_t devices = shape->tensor * shape->context * d * p;

		if (devices > problem->device_count ||
		    !in_domain(&problem->devices, devices) ||
		    !in_domain(&problem->data, d) ||
		    !in_domain(&problem->pipeline, p) ||
		    !in_domain(&problem->virtual_stages, v))
			continue;
		if (problem->global_batch % (shape->micro_batch * d) != 0)
			continue;
		choice->data = d;
		choice->pipeline = p;
		choice->virtual_stages = v;
		choice->micro_batches =
			problem->global_batch / (shape->micro_batch * d);
		if (v > 1 && (p == 1 || choice->micro_batches % p != 0))
			continue;
		pricing->plan->devices = devices;
		try_policies(pricing, result);
	}
}

void brute_solve(const struct problem *problem, uint64_t seed,
		 struct brute_result *result)
{
	struct brute_plan plan;
	struct pricing pricing = { .problem = problem, .plan = &plan };

	memset(result, 0, sizeof(*result));
	result->random.state = seed;
	memset(&plan, 0, sizeof(plan));
	unroll(&pricing);
	for (uint32_t s = 0; s < problem->shape_count; s++) {
		plan.choice.shape = s;
		pricing.shape = &problem->shape[s];
		try_shape(&pricing, result);
	}
}
