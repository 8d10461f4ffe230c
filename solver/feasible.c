/* SPDX-License-Identifier: MIT
 *
 * The independent checker. It recomputes a plan from the problem: the legality
 * of its degrees, placement and cut, its schedule as a longest path over the
 * graph of operations, every collective from the formulas in network.h, memory,
 * breakdown and requirements. It shares no code with what found the plan.
 */
#include "solver/feasible.h"

#include <math.h>
#include <string.h>

#include "solver/feasible_check.h"

#define TOLERANCE 1e-9

/* Graphs of more operations than this are refused instead of filling memory. */
#define OPERATIONS_MAX (UINT64_C(1) << 25)

/* Equal to within the tolerance; scale is the size of the terms that were
 * added and subtracted on the way, where those are larger than the result. */
static bool near(double a, double b, double scale)
{
	double size = fmax(fmax(fabs(a), fabs(b)), fabs(scale));

	if (!isfinite(a) || !isfinite(b))
		return false;
	return fabs(a - b) <= TOLERANCE * size;
}

static bool domain_allows(const struct problem_domain *domain, uint32_t value)
{
	if (domain->count == 0)
		return true;
	for (uint32_t i = 0; i < domain->count; i++)
		if (domain->at[i] == value)
			return true;
	return false;
}

/* ---- degrees, placement, cut ---- */

static bool check_policy(struct check *c)
{
	const struct problem *problem = c->problem;
	const struct choice *choice = &c->plan->choice;

	if (choice->zero > 3 || !problem->zero[choice->zero]) {
		text_printf(c->reason, "ZeRO stage %u is not allowed", choice->zero);
		return false;
	}
	if (choice->zero > 1) {
		text_printf(c->reason, "ZeRO stage %u cannot be checked yet",
			    choice->zero);
		return false;
	}
	if ((unsigned)choice->recompute >= RECOMPUTE_COUNT ||
	    !problem->recompute[choice->recompute]) {
		text_printf(c->reason, "recomputation policy %u is not allowed",
			    (unsigned)choice->recompute);
		return false;
	}
	return true;
}

static bool check_experts(struct check *c)
{
	uint64_t members = (uint64_t)c->degree[DIMENSION_TENSOR] *
			   c->degree[DIMENSION_CONTEXT] *
			   c->degree[DIMENSION_DATA];
	uint64_t cut = (uint64_t)c->shape->expert * c->shape->expert_tensor;

	if (cut == 0 || members % cut != 0) {
		text_printf(c->reason, "expert %u x expert tensor %u do not divide "
			    "a stage's %u devices", c->shape->expert,
			    c->shape->expert_tensor, (uint32_t)members);
		return false;
	}
	c->replicas = (double)c->degree[DIMENSION_DATA] *
		      c->degree[DIMENSION_CONTEXT];
	c->expert_replicas = (double)(members / cut);
	return true;
}

static bool check_batch(struct check *c)
{
	const struct choice *choice = &c->plan->choice;
	uint64_t replica_batch = (uint64_t)c->shape->micro_batch * choice->data;

	if (replica_batch == 0 || c->problem->global_batch % replica_batch != 0) {
		text_printf(c->reason, "a global batch of %u is no multiple of "
			    "micro-batch %u x data %u", c->problem->global_batch,
			    c->shape->micro_batch, choice->data);
		return false;
	}
	if (choice->micro_batches != c->problem->global_batch / replica_batch) {
		text_printf(c->reason, "%u micro-batches where the batch gives %u",
			    choice->micro_batches,
			    (uint32_t)(c->problem->global_batch / replica_batch));
		return false;
	}
	if (choice->virtual_stages > 1 && choice->pipeline == 1) {
		text_append(c->reason, "virtual stages need more than one stage");
		return false;
	}
	if (choice->virtual_stages > 1 &&
	    choice->micro_batches % choice->pipeline != 0) {
		text_printf(c->reason, "interleaving needs micro-batches (%u) in "
			    "multiples of the pipeline (%u)",
			    choice->micro_batches, choice->pipeline);
		return false;
	}
	return true;
}

static bool check_degrees(struct check *c)
{
	const struct problem *problem = c->problem;
	const struct plan *plan = c->plan;
	const struct choice *choice = &plan->choice;
	uint64_t devices = 1;

	if (choice->shape >= problem->shape_count) {
		text_printf(c->reason, "shape %u of %u", choice->shape,
			    problem->shape_count);
		return false;
	}
	c->shape = &problem->shape[choice->shape];
	c->degree[DIMENSION_TENSOR] = c->shape->tensor;
	c->degree[DIMENSION_CONTEXT] = c->shape->context;
	c->degree[DIMENSION_DATA] = choice->data;
	c->degree[DIMENSION_PIPELINE] = choice->pipeline;
	for (int d = 0; d < DIMENSION_COUNT; d++) {
		if (c->degree[d] == 0) {
			text_append(c->reason, "a degree of 0");
			return false;
		}
		devices *= c->degree[d];
		if (devices > problem->device_count) {
			text_printf(c->reason, "more devices than the %u there are",
				    problem->device_count);
			return false;
		}
	}
	if (plan->devices != devices) {
		text_printf(c->reason, "%u devices where the degrees use %u",
			    plan->devices, (uint32_t)devices);
		return false;
	}
	if (choice->virtual_stages == 0 ||
	    !domain_allows(&problem->data, choice->data) ||
	    !domain_allows(&problem->pipeline, choice->pipeline) ||
	    !domain_allows(&problem->virtual_stages, choice->virtual_stages) ||
	    !domain_allows(&problem->devices, plan->devices)) {
		text_printf(c->reason, "data %u, pipeline %u, virtual %u or "
			    "devices %u outside its domain", choice->data,
			    choice->pipeline, choice->virtual_stages,
			    plan->devices);
		return false;
	}
	return check_policy(c) && check_batch(c) && check_experts(c);
}

/* The groups of experts cover strides too: 1 .. x, x .. x e and the rest. Each of
 * the two borders must fall between digits or divide the digit it falls into. */
static bool check_expert_digits(struct check *c)
{
	uint64_t inner = c->shape->expert_tensor;
	uint64_t outer = inner * c->shape->expert;
	uint64_t from, to;

	for (int d = 0; d < DIMENSION_PIPELINE; d++)
		for (uint32_t l = 0; l < c->problem->level_count; l++) {
			feasible_digit_strides(c, d, l, &from, &to);
			if ((inner % to == 0 || to % inner == 0) &&
			    (outer % to == 0 || to % outer == 0))
				continue;
			text_printf(c->reason, "level %u: the factors do not fit "
				    "expert %u x expert tensor %u", l,
				    c->shape->expert, c->shape->expert_tensor);
			return false;
		}
	return true;
}

static bool check_placement(struct check *c)
{
	const struct problem *problem = c->problem;
	const struct placement *placement = &c->plan->placement;
	uint64_t row[DIMENSION_COUNT] = { 1, 1, 1, 1 };

	for (uint32_t l = 0; l < problem->level_count; l++) {
		uint64_t column = 1;

		for (int d = 0; d < DIMENSION_COUNT; d++) {
			uint32_t factor = placement->factor[d][l];

			column *= factor;
			row[d] *= factor;
			if (factor > 1 && problem->within[d] &&
			    l >= problem->within[d]) {
				text_printf(c->reason, "level %u: a dimension goes "
					    "beyond the level it must stay within", l);
				return false;
			}
			if (factor == 0 || column > problem->level[l].fanout ||
			    row[d] > c->degree[d]) {
				text_printf(c->reason, "level %u: factors beyond "
					    "the fan-out or the degree", l);
				return false;
			}
		}
		c->below[l] = l ? c->below[l - 1] * problem->level[l - 1].fanout : 1;
		if (l == 0)
			c->used[l] = 1;
		if (l + 1 < problem->level_count)
			c->used[l + 1] = c->used[l] * (double)column;
	}
	for (uint32_t l = problem->level_count; l < LEVEL_MAX; l++)
		for (int d = 0; d < DIMENSION_COUNT; d++)
			if (placement->factor[d][l] > 1) {
				text_printf(c->reason, "a factor at level %u of %u",
					    l, problem->level_count);
				return false;
			}
	for (int d = 0; d < DIMENSION_COUNT; d++)
		if (row[d] != c->degree[d]) {
			text_printf(c->reason, "dimension %d: factors multiply to "
				    "%u and not to %u", d, (uint32_t)row[d],
				    c->degree[d]);
			return false;
		}
	return check_expert_digits(c);
}

static bool expand_chain(struct check *c)
{
	const struct problem *problem = c->problem;
	uint64_t total = 0;
	uint32_t at = 0;

	for (uint32_t r = 0; r < problem->run_count; r++) {
		total += problem->run[r].count;
		if (total > CHAIN_MAX ||
		    problem->run[r].class_index >= problem->class_count) {
			text_printf(c->reason, "run %u of the chain", r);
			return false;
		}
	}
	c->layer_count = (uint32_t)total;
	c->class_of = ARENA_ARRAY(c->scratch, uint32_t, total);
	c->chunk_of = ARENA_ARRAY(c->scratch, uint32_t, total);
	for (uint32_t r = 0; r < problem->run_count; r++)
		for (uint32_t i = 0; i < problem->run[r].count; i++)
			c->class_of[at++] = problem->run[r].class_index;
	return true;
}

/* Interleaved cuts are nearly even (even.h). */
static bool check_nearly_even(struct check *c, const uint32_t *blocks)
{
	uint32_t last = c->plan->chunk_count - 1;

	for (uint32_t i = 0; i <= last; i++)
		for (uint32_t j = 1; j < last; j++) {
			if (blocks[i] <= blocks[j] + 1)
				continue;
			text_printf(c->reason, "chunk %u has %u layers and chunk %u "
				    "has %u: interleaved chunks differ by at most one",
				    i, blocks[i], j, blocks[j]);
			return false;
		}
	return true;
}

static bool check_even(struct check *c)
{
	const struct plan *plan = c->plan;
	uint32_t *blocks = ARENA_ARRAY(c->scratch, uint32_t, plan->chunk_count);

	for (uint32_t i = 0; i < c->layer_count; i++)
		blocks[c->chunk_of[i]] +=
			c->problem->class_is_block[c->class_of[i]];
	if (plan->choice.virtual_stages > 1 && !check_nearly_even(c, blocks))
		return false;
	if (!c->problem->uniform_stages)
		return true;
	for (uint32_t i = 1; i < plan->chunk_count; i++)
		if (blocks[i] != blocks[0]) {
			text_printf(c->reason, "chunk %u has %u layers and chunk 0 "
				    "has %u, though cuts must be even", i,
				    blocks[i], blocks[0]);
			return false;
		}
	return true;
}

static bool check_cut(struct check *c)
{
	const struct plan *plan = c->plan;
	const uint32_t *first = plan->chunk_first;
	uint64_t count = (uint64_t)plan->choice.pipeline *
			 plan->choice.virtual_stages;

	if (!expand_chain(c))
		return false;
	if (plan->chunk_count != count || count > c->layer_count) {
		text_printf(c->reason, "%u chunks for pipeline %u x virtual %u "
			    "over %u layers", plan->chunk_count,
			    plan->choice.pipeline, plan->choice.virtual_stages,
			    c->layer_count);
		return false;
	}
	if (first[0] != 0 || first[count] != c->layer_count) {
		text_append(c->reason, "the cut does not cover the chain");
		return false;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (first[i + 1] <= first[i] || first[i + 1] > c->layer_count) {
			text_printf(c->reason, "chunk %u is empty", i);
			return false;
		}
		for (uint32_t j = first[i]; j < first[i + 1]; j++)
			c->chunk_of[j] = i;
	}
	return check_even(c);
}

/* ---- layers and stages ---- */

static const struct problem_cost *cost_of(const struct check *c, uint32_t layer)
{
	return problem_cost_at(c->problem, c->plan->choice.shape,
			       c->class_of[layer], c->plan->choice.recompute);
}

static const struct problem_weight *weight_of(const struct check *c,
					      uint32_t layer)
{
	return problem_weight_at(c->problem, c->plan->choice.shape,
				 c->class_of[layer]);
}

static void price_class(struct check *c, uint32_t class_index)
{
	struct class_cost *price = &c->class_cost[class_index];
	const struct problem_cost *cost =
		problem_cost_at(c->problem, c->plan->choice.shape, class_index,
				c->plan->choice.recompute);

	price->forward_s = cost->forward_s;
	price->backward_s = cost->backward_s;
	price->compute_s = cost->forward_s + cost->backward_s;
	for (uint32_t i = 0; i < cost->collective_count; i++) {
		const struct problem_collective *collective =
			&c->problem->collective[cost->collective_first + i];
		double exposed_s = feasible_collective_s(c, collective->kind,
						collective->group,
						collective->bytes) -
				   collective->hidden_s;

		if (exposed_s <= 0)
			continue;
		*(collective->backward ? &price->backward_s :
					 &price->forward_s) += exposed_s;
		*(collective->group == GROUP_TENSOR ? &price->tensor_s :
		  collective->group == GROUP_CONTEXT ? &price->context_s :
						       &price->expert_s) += exposed_s;
	}
}

static void add_layers(struct check *c)
{
	for (uint32_t i = 0; i < c->layer_count; i++) {
		struct stage_cost *stage =
			&c->stage[c->chunk_of[i] % c->plan->choice.pipeline];
		const struct class_cost *price = &c->class_cost[c->class_of[i]];

		stage->layers += c->problem->class_is_block[c->class_of[i]];
		stage->parameters += weight_of(c, i)->parameters +
				     weight_of(c, i)->expert_parameters;
		stage->expert_parameters += weight_of(c, i)->expert_parameters;
		stage->forward_s += price->forward_s;
		stage->backward_s += price->backward_s;
		stage->compute_s += price->compute_s;
		stage->tensor_s += price->tensor_s;
		stage->context_s += price->context_s;
		stage->expert_s += price->expert_s;
		stage->memory.working = fmax(stage->memory.working,
					     cost_of(c, i)->working_bytes);
	}
}

/* Stores tied weights once where both ends share a device; otherwise gives
 * the two stages and the time of adding up their gradients. */
static double settle_tied(struct check *c, uint32_t *one, uint32_t *other)
{
	uint32_t pipeline = c->plan->choice.pipeline;
	const struct problem_weight *weight;
	uint32_t head = c->layer_count, table = c->layer_count, level;
	double bytes;

	*one = *other = pipeline;
	if (c->problem->tied_class == CLASS_NONE)
		return 0;
	for (uint32_t i = 0; i < c->layer_count; i++) {
		if (c->class_of[i] == c->problem->tied_class)
			head = i;
		if (c->class_of[i] == c->problem->tied_with_class)
			table = i;
	}
	if (head == c->layer_count || table == c->layer_count)
		return 0;
	weight = weight_of(c, head);
	*one = c->chunk_of[head] % pipeline;
	*other = c->chunk_of[table] % pipeline;
	if (*one == *other) {
		c->stage[*one].parameters -= weight->tied_parameters;
		*one = *other = pipeline;
		return 0;
	}
	bytes = weight->tied_parameters * c->problem->sync.reduce_bytes;
	level = feasible_pipeline_level(c, *one, *other);
	return c->problem->level[level].latency_s + feasible_transfer_s(c, level, bytes);
}

/* What a device steps, and keeps optimizer state of. */
static double sharded_parameters(const struct check *c,
				 const struct stage_cost *stage)
{
	double experts = stage->expert_parameters;

	if (c->plan->choice.zero != 1)
		return stage->parameters;
	return (stage->parameters - experts) / c->replicas +
	       experts / c->expert_replicas;
}

/* A collective over all replicas of a stage's weights, then of its experts. */
static double replicas_s(const struct check *c, enum collective kind,
			 const struct stage_cost *stage, double bytes)
{
	double experts = stage->expert_parameters;

	return feasible_collective_s(c, kind, GROUP_DATA_CONTEXT,
			    (stage->parameters - experts) * bytes) +
	       feasible_collective_s(c, kind, GROUP_EXPERT_DATA, experts * bytes);
}

static void price_updates(struct check *c)
{
	const struct problem_sync *sync = &c->problem->sync;
	bool sharded = c->plan->choice.zero == 1;
	uint32_t one, other;
	double tied_s = settle_tied(c, &one, &other);

	for (uint32_t k = 0; k < c->plan->choice.pipeline; k++) {
		struct stage_cost *stage = &c->stage[k];

		stage->reduce_s = replicas_s(c, sharded ?
			COLLECTIVE_REDUCE_SCATTER : COLLECTIVE_ALL_REDUCE, stage,
			sync->reduce_bytes);
		stage->reduce_exposed_s = fmax(0, stage->reduce_s -
			(sync->overlap_reduce ? stage->backward_s : 0));
		if (k == one || k == other)
			stage->reduce_exposed_s += tied_s;
		if (sharded)
			stage->gather_s = replicas_s(c, COLLECTIVE_ALL_GATHER,
						     stage, sync->gather_bytes);
		stage->gather_exposed_s = fmax(0, stage->gather_s -
			(sync->overlap_gather ? stage->forward_s : 0));
		if (sync->step_bytes > 0)
			stage->step_s = sharded_parameters(c, stage) *
					sync->step_bytes /
					sync->memory_bandwidth_Bps;
	}
}

/* ---- the schedule ---- */

/* Operation q of device k in its documented order. */
struct operation {
	bool backward;
	uint32_t chunk;			/* of the device */
	uint32_t micro_batch;
};

static struct operation operation_at(const struct choice *choice, uint32_t k,
				     uint64_t q)
{
	uint64_t p = choice->pipeline, v = choice->virtual_stages;
	uint64_t half = choice->micro_batches * v;
	uint64_t warm = v == 1 ? p - 1 - k : 2 * (p - 1 - k) + (v - 1) * p;
	struct operation operation;
	uint64_t turn;

	if (warm > half)
		warm = half;
	if (q < warm) {
		operation.backward = false;
		turn = q;
	} else if (q >= 2 * half - warm) {
		operation.backward = true;
		turn = q - half;
	} else {
		operation.backward = (q - warm) % 2;
		turn = (q - warm) / 2 + (operation.backward ? 0 : warm);
	}
	if (v == 1) {
		operation.chunk = 0;
		operation.micro_batch = (uint32_t)turn;
		return operation;
	}
	operation.chunk = (uint32_t)(turn % (p * v) / p);
	if (operation.backward)
		operation.chunk = (uint32_t)(v - 1 - operation.chunk);
	operation.micro_batch = (uint32_t)(turn / (p * v) * p + turn % p);
	return operation;
}

/* The graph of all operations. Node k x length + q is operation q of device k. */
struct graph {
	const struct choice *choice;
	uint64_t length;		/* operations of one device */
	uint32_t *node_of;		/* by direction, chunk, micro-batch */
	unsigned char *waits;		/* predecessors not yet done */
	double *start_s;
	uint32_t *ready;		/* a device has at most one that is */
	uint32_t ready_count;
};

static uint32_t *graph_node(const struct graph *graph, bool backward,
			    uint64_t chunk, uint64_t micro_batch)
{
	uint64_t chunks = (uint64_t)graph->choice->pipeline *
			  graph->choice->virtual_stages;

	return &graph->node_of[((backward ? chunks : 0) + chunk) *
			       graph->choice->micro_batches + micro_batch];
}

static void graph_build(struct graph *graph, struct check *c)
{
	const struct choice *choice = graph->choice;
	uint64_t count = graph->length * choice->pipeline;
	uint32_t last = choice->pipeline * choice->virtual_stages - 1;

	graph->node_of = ARENA_ARRAY(c->scratch, uint32_t, count);
	graph->ready = ARENA_ARRAY(c->scratch, uint32_t, choice->pipeline);
	graph->waits = ARENA_ARRAY(c->scratch, unsigned char, count);
	graph->start_s = ARENA_ARRAY(c->scratch, double, count);
	for (uint64_t node = 0; node < count; node++) {
		uint32_t k = (uint32_t)(node / graph->length);
		struct operation o =
			operation_at(choice, k, node % graph->length);
		uint32_t chunk = o.chunk * choice->pipeline + k;

		*graph_node(graph, o.backward, chunk, o.micro_batch) =
			(uint32_t)node;
		graph->waits[node] = (unsigned char)(
			(node % graph->length != 0) +
			(o.backward ? 1 + (chunk < last) : chunk > 0));
		if (graph->waits[node] == 0)
			graph->ready[graph->ready_count++] = (uint32_t)node;
	}
}

static void graph_release(struct graph *graph, uint32_t node, double from_s)
{
	graph->start_s[node] = fmax(graph->start_s[node], from_s);
	if (--graph->waits[node] == 0)
		graph->ready[graph->ready_count++] = node;
}

/* Marks a node done and tells its successors: the device's next operation,
 * the neighbouring chunk, and a forward's own backward. */
static double graph_finish(struct graph *graph, uint32_t node,
			   const double *duration_s, const double *boundary_s)
{
	const struct choice *choice = graph->choice;
	uint32_t k = (uint32_t)(node / graph->length);
	uint32_t chunks = choice->pipeline * choice->virtual_stages;
	struct operation o = operation_at(choice, k, node % graph->length);
	uint32_t chunk = o.chunk * choice->pipeline + k;
	double end_s = graph->start_s[node] +
		       duration_s[(o.backward ? chunks : 0) + chunk];

	if ((node + 1) % graph->length != 0)
		graph_release(graph, node + 1, end_s);
	if (!o.backward)
		graph_release(graph, *graph_node(graph, true, chunk,
						 o.micro_batch), end_s);
	if (o.backward && chunk > 0)
		graph_release(graph, *graph_node(graph, true, chunk - 1,
						 o.micro_batch),
			      end_s + boundary_s[chunk - 1]);
	if (!o.backward && chunk + 1 < chunks)
		graph_release(graph, *graph_node(graph, false, chunk + 1,
						 o.micro_batch),
			      end_s + boundary_s[chunk]);
	return end_s;
}

/* Longest path to the end of every device; false if the orders deadlock. */
static bool longest_path(struct check *c, const double *duration_s,
			 const double *boundary_s, double *finish_s,
			 double *end_s)
{
	struct arena_mark mark = arena_mark(c->scratch);
	struct graph graph = { .choice = &c->plan->choice };
	uint64_t done = 0, count;

	graph.length = (uint64_t)2 * graph.choice->micro_batches *
		       graph.choice->virtual_stages;
	count = graph.length * graph.choice->pipeline;
	graph_build(&graph, c);
	*end_s = 0;
	for (uint32_t k = 0; finish_s && k < graph.choice->pipeline; k++)
		finish_s[k] = 0;
	for (; graph.ready_count > 0; done++) {
		uint32_t node = graph.ready[--graph.ready_count];
		double at_s = graph_finish(&graph, node, duration_s, boundary_s);

		*end_s = fmax(*end_s, at_s);
		if (finish_s)
			finish_s[node / graph.length] =
				fmax(finish_s[node / graph.length], at_s);
	}
	arena_rewind(c->scratch, mark);
	return done == count;
}

/* Times of the boundaries between chunks, and the stages' sends. */
static double *price_boundaries(struct check *c)
{
	uint32_t pipeline = c->plan->choice.pipeline;
	uint32_t chunks = c->plan->chunk_count;
	double *boundary_s = ARENA_ARRAY(c->scratch, double, chunks);

	for (uint32_t i = 0; i + 1 < chunks; i++) {
		uint32_t last = c->plan->chunk_first[i + 1] - 1;
		uint32_t level = feasible_pipeline_level(c, i % pipeline,
						(i + 1) % pipeline);

		boundary_s[i] = feasible_transfer_s(c, level,
					   weight_of(c, last)->output_bytes);
		if (i < pipeline) {
			c->stage[i].send_level = level;
			c->stage[i].send_s = boundary_s[i];
		}
	}
	return boundary_s;
}

static bool run_schedule(struct check *c)
{
	const struct choice *choice = &c->plan->choice;
	uint32_t chunks = c->plan->chunk_count;
	double *duration_s = ARENA_ARRAY(c->scratch, double, 2 * (size_t)chunks);
	double *free_s = ARENA_ARRAY(c->scratch, double, chunks);
	double *boundary_s = price_boundaries(c);

	if ((double)chunks * choice->micro_batches * 2 > (double)OPERATIONS_MAX) {
		text_printf(c->reason, "%u chunks of %u micro-batches are too "
			    "many operations to check", chunks,
			    choice->micro_batches);
		return false;
	}
	for (uint32_t i = 0; i < c->layer_count; i++) {
		const struct class_cost *price = &c->class_cost[c->class_of[i]];

		duration_s[c->chunk_of[i]] += price->forward_s;
		duration_s[chunks + c->chunk_of[i]] += price->backward_s;
	}
	c->finish_s = ARENA_ARRAY(c->scratch, double, choice->pipeline);
	if (!longest_path(c, duration_s, boundary_s, c->finish_s, &c->end_s) ||
	    !longest_path(c, duration_s, free_s, NULL, &c->end_free_s)) {
		text_append(c->reason, "the schedule never ends");
		return false;
	}
	return true;
}

/* ---- memory ---- */

/* Replays a device's operations: forwards keep, backwards free. The peak of
 * bytes is taken over counts of micro-batches held, not running sums. */
static double replay_activations(struct check *c, uint32_t k)
{
	const struct choice *choice = &c->plan->choice;
	struct arena_mark mark = arena_mark(c->scratch);
	uint32_t v = choice->virtual_stages;
	uint64_t length = (uint64_t)2 * choice->micro_batches * v;
	double *saved_bytes = ARENA_ARRAY(c->scratch, double, v);
	uint32_t *held = ARENA_ARRAY(c->scratch, uint32_t, v);
	double peak_bytes = 0;

	for (uint32_t i = 0; i < c->layer_count; i++)
		if (c->chunk_of[i] % choice->pipeline == k)
			saved_bytes[c->chunk_of[i] / choice->pipeline] +=
				cost_of(c, i)->saved_bytes;
	for (uint64_t q = 0; q < length; q++) {
		struct operation o = operation_at(choice, k, q);
		double now_bytes = 0;

		if (o.backward) {
			held[o.chunk]--;
			continue;
		}
		held[o.chunk]++;
		for (uint32_t j = 0; j < v; j++)
			now_bytes += held[j] * saved_bytes[j];
		peak_bytes = fmax(peak_bytes, now_bytes);
	}
	arena_rewind(c->scratch, mark);
	return peak_bytes;
}

static void price_memory(struct check *c)
{
	const struct problem_memory *memory = &c->problem->memory;
	double groups = (c->degree[DIMENSION_TENSOR] > 1) +
			(c->degree[DIMENSION_CONTEXT] > 1) + (c->replicas > 1) +
			(c->degree[DIMENSION_PIPELINE] > 1);

	if (c->shape->expert > 1 || c->shape->expert_tensor > 1)
		groups += (c->shape->expert > 1) + (c->shape->expert_tensor > 1) +
			  (c->expert_replicas > 1);
	for (uint32_t k = 0; k < c->plan->choice.pipeline; k++) {
		struct stage_cost *stage = &c->stage[k];
		struct stage_memory *part = &stage->memory;

		part->parameters = stage->parameters * memory->weight_bytes;
		part->gradients = stage->parameters * memory->gradient_bytes;
		part->optimizer = sharded_parameters(c, stage) *
				  memory->optimizer_bytes;
		part->activations = replay_activations(c, k);
		part->reserve = memory->reserve_bytes +
				groups * memory->group_bytes;
		part->total = part->parameters + part->gradients +
			      part->optimizer + part->activations +
			      part->working + part->reserve;
		c->peak_bytes = fmax(c->peak_bytes, part->total);
	}
}

/* ---- comparing ---- */

static bool agrees(struct check *c, const char *what, double stated,
		   double found, double scale)
{
	if (near(stated, found, scale))
		return true;
	text_append(c->reason, what);
	text_append(c->reason, " is stated as ");
	text_append_number(c->reason, stated);
	text_append(c->reason, " and is ");
	text_append_number(c->reason, found);
	return false;
}

static bool compare_memory(struct check *c, uint32_t k)
{
	const struct stage_memory *stated = &c->plan->stage[k].memory;
	const struct stage_memory *found = &c->stage[k].memory;
	double limit_bytes = c->problem->memory.limit_bytes;

	if (!agrees(c, "parameter memory", stated->parameters, found->parameters, 0) ||
	    !agrees(c, "gradient memory", stated->gradients, found->gradients, 0) ||
	    !agrees(c, "optimizer memory", stated->optimizer, found->optimizer, 0) ||
	    !agrees(c, "activation memory", stated->activations,
		    found->activations, 0) ||
	    !agrees(c, "working memory", stated->working, found->working, 0) ||
	    !agrees(c, "reserved memory", stated->reserve, found->reserve, 0) ||
	    !agrees(c, "total memory", stated->total, found->total, 0))
		return false;
	if (found->total > limit_bytes && !near(found->total, limit_bytes, 0)) {
		text_append(c->reason, "it needs ");
		text_append_number(c->reason, found->total);
		text_append(c->reason, " bytes of ");
		text_append_number(c->reason, limit_bytes);
		return false;
	}
	return true;
}

static bool compare_stage(struct check *c, uint32_t k)
{
	const struct stage_cost *stated = &c->plan->stage[k];
	const struct stage_cost *found = &c->stage[k];
	double pass_s = found->forward_s + found->backward_s;

	if (stated->layers != found->layers) {
		text_printf(c->reason, "%u layers are stated and it holds %u",
			    stated->layers, found->layers);
		return false;
	}
	if (stated->send_level != found->send_level) {
		text_printf(c->reason, "its boundary crosses level %u and not %u",
			    found->send_level, stated->send_level);
		return false;
	}
	return agrees(c, "parameters", stated->parameters, found->parameters, 0) &&
	       agrees(c, "expert parameters", stated->expert_parameters,
		      found->expert_parameters, 0) &&
	       agrees(c, "forward time", stated->forward_s, found->forward_s, 0) &&
	       agrees(c, "backward time", stated->backward_s, found->backward_s, 0) &&
	       agrees(c, "compute time", stated->compute_s, found->compute_s, 0) &&
	       agrees(c, "tensor time", stated->tensor_s, found->tensor_s, pass_s) &&
	       agrees(c, "context time", stated->context_s, found->context_s,
		      pass_s) &&
	       agrees(c, "expert time", stated->expert_s, found->expert_s, pass_s) &&
	       agrees(c, "send time", stated->send_s, found->send_s, 0) &&
	       agrees(c, "reduction", stated->reduce_s, found->reduce_s, 0) &&
	       agrees(c, "exposed reduction", stated->reduce_exposed_s,
		      found->reduce_exposed_s, found->reduce_s) &&
	       agrees(c, "gather", stated->gather_s, found->gather_s, 0) &&
	       agrees(c, "exposed gather", stated->gather_exposed_s,
		      found->gather_exposed_s, found->gather_s) &&
	       agrees(c, "optimizer step", stated->step_s, found->step_s, 0) &&
	       compare_memory(c, k);
}

static bool compare_stages(struct check *c)
{
	for (uint32_t k = 0; k < c->plan->choice.pipeline; k++) {
		struct text why;

		text_init(&why, c->scratch);
		text_printf(&why, "stage %u: ", k);
		{
			struct check inner = *c;

			inner.reason = &why;
			if (compare_stage(&inner, k))
				continue;
		}
		text_append(c->reason, why.at);
		return false;
	}
	return true;
}

/* Whether the stated breakdown is that of device k, with k_step deciding the
 * second maximum. */
static bool breakdown_is_of(const struct check *c, uint32_t k, uint32_t k_step)
{
	const struct breakdown *stated = &c->plan->breakdown;
	const struct stage_cost *stage = &c->stage[k];
	double m = c->plan->choice.micro_batches;
	double idle_s = fmax(0, c->finish_s[k] -
			     m * (stage->forward_s + stage->backward_s));
	double wait_s = fmin(idle_s, fmax(0, c->end_s - c->end_free_s));
	double scale = c->time_s;

	return near(stated->compute_s, m * stage->compute_s, scale) &&
	       near(stated->tensor_s, m * stage->tensor_s, scale) &&
	       near(stated->context_s, m * stage->context_s, scale) &&
	       near(stated->expert_s, m * stage->expert_s, scale) &&
	       near(stated->pipeline_s, wait_s, scale) &&
	       near(stated->bubble_s, idle_s - wait_s, scale) &&
	       near(stated->data_s, stage->reduce_exposed_s +
		    c->stage[k_step].gather_exposed_s, scale) &&
	       near(stated->optimizer_s, c->stage[k_step].step_s, scale);
}

static bool compare_breakdown(struct check *c)
{
	const struct breakdown *b = &c->plan->breakdown;
	uint32_t pipeline = c->plan->choice.pipeline;
	double sum_s = b->compute_s + b->tensor_s + b->context_s + b->expert_s +
		       b->pipeline_s + b->bubble_s + b->data_s + b->optimizer_s;

	if (!agrees(c, "the breakdown's sum", sum_s, c->time_s, 0))
		return false;
	for (uint32_t k = 0; k < pipeline; k++) {
		if (!near(c->finish_s[k] + c->stage[k].reduce_exposed_s,
			  c->reduce_end_s, c->time_s))
			continue;
		for (uint32_t j = 0; j < pipeline; j++)
			if (near(c->stage[j].step_s + c->stage[j].gather_exposed_s,
				 c->step_end_s, c->time_s) &&
			    breakdown_is_of(c, k, j))
				return true;
	}
	text_append(c->reason, "the breakdown is that of no deciding stage");
	return false;
}

static bool compare_plan(struct check *c)
{
	const struct plan *plan = c->plan;
	uint32_t k = plan->memory_peak_stage;

	for (uint32_t i = 0; i < plan->choice.pipeline; i++) {
		const struct stage_cost *stage = &c->stage[i];

		c->reduce_end_s = fmax(c->reduce_end_s, c->finish_s[i] +
				       stage->reduce_exposed_s);
		c->step_end_s = fmax(c->step_end_s, stage->step_s +
				     stage->gather_exposed_s);
	}
	c->time_s = c->reduce_end_s + c->step_end_s;
	if (!compare_stages(c) ||
	    !agrees(c, "the iteration time", plan->time_s, c->time_s, 0) ||
	    !agrees(c, "peak memory", plan->memory_peak_bytes, c->peak_bytes, 0))
		return false;
	if (k >= plan->choice.pipeline ||
	    !near(c->stage[k].memory.total, c->peak_bytes, 0)) {
		text_printf(c->reason, "stage %u does not have the peak memory", k);
		return false;
	}
	return compare_breakdown(c);
}

/* ---- requirements ---- */

static void fill_outcome(const struct check *c, double *value)
{
	const struct plan *plan = c->plan;
	double device_s = plan->devices * plan->time_s;
	bool uniform = true;

	for (uint32_t k = 1; k < plan->choice.pipeline; k++)
		uniform = uniform && plan->stage[k].layers == plan->stage[0].layers;
	value[VARIABLE_TIME] = plan->time_s;
	value[VARIABLE_MEMORY] = plan->memory_peak_bytes;
	value[VARIABLE_BUBBLE] = plan->time_s > 0 ?
		plan->breakdown.bubble_s / plan->time_s : 0;
	value[VARIABLE_COST] = device_s * c->problem->device_dollars_per_s;
	value[VARIABLE_ENERGY] = device_s * c->problem->device_watts;
	value[VARIABLE_STAGES_UNIFORM] = uniform;
}

static void fill_choice(const struct check *c, double *value)
{
	const struct choice *choice = &c->plan->choice;
	uint32_t blocks = 0;

	for (uint32_t i = 0; i < c->layer_count; i++)
		blocks += c->problem->class_is_block[c->class_of[i]];
	value[VARIABLE_TENSOR] = c->shape->tensor;
	value[VARIABLE_SEQUENCE] = c->shape->sequence;
	value[VARIABLE_CONTEXT] = c->shape->context;
	value[VARIABLE_EXPERT] = c->shape->expert;
	value[VARIABLE_EXPERT_TENSOR] = c->shape->expert_tensor;
	value[VARIABLE_DATA] = choice->data;
	value[VARIABLE_PIPELINE] = choice->pipeline;
	value[VARIABLE_VIRTUAL] = choice->virtual_stages;
	value[VARIABLE_MICRO_BATCH] = c->shape->micro_batch;
	value[VARIABLE_MICRO_BATCHES] = choice->micro_batches;
	value[VARIABLE_ZERO] = choice->zero;
	value[VARIABLE_RECOMPUTE] = choice->recompute;
	value[VARIABLE_RECOMPUTE_LAYERS] =
		choice->recompute == RECOMPUTE_FULL ? blocks : 0;
	value[VARIABLE_DEVICES] = c->plan->devices;
}

/* The stated outcome is used: compare_plan has found it right, and a search
 * that meets a bound exactly must not fail here by a rounding. */
static bool check_requirements(struct check *c)
{
	struct predicate_input input = { .stage_count = c->plan->choice.pipeline };
	uint32_t *layers = ARENA_ARRAY(c->scratch, uint32_t, input.stage_count);

	for (uint32_t k = 0; k < input.stage_count; k++)
		layers[k] = c->stage[k].layers;
	input.stage_layers = layers;
	fill_choice(c, input.value);
	fill_outcome(c, input.value);
	for (uint32_t i = 0; i < c->problem->requirement_count; i++) {
		double truth = predicate_evaluate(&c->problem->requirement[i],
						  &input);

		if (isnan(truth) || truth == 0) {
			text_printf(c->reason, "requirement %u does not hold", i);
			return false;
		}
	}
	return true;
}

bool feasible_check(const struct problem *problem, const struct plan *plan,
		    struct arena *scratch, struct text *reason)
{
	struct check c = { .problem = problem, .plan = plan,
			   .scratch = scratch, .reason = reason };

	if (!check_degrees(&c) || !check_placement(&c) || !check_cut(&c))
		return false;
	c.class_cost = ARENA_ARRAY(scratch, struct class_cost,
				   problem->class_count);
	for (uint32_t i = 0; i < problem->class_count; i++)
		price_class(&c, i);
	c.stage = ARENA_ARRAY(scratch, struct stage_cost, plan->choice.pipeline);
	add_layers(&c);
	price_updates(&c);
	if (!run_schedule(&c))
		return false;
	price_memory(&c);
	return compare_plan(&c) && check_requirements(&c);
}
