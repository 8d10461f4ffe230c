/* SPDX-License-Identifier: MIT
 *
 * The cost model of price.h, term by term: what layers and boundaries take, what each
 * stage exchanges and holds. What follows from the stages is price_schedule.c.
 */
#include "solver/price.h"

#include "solver/devices.h"
#include "solver/layer.h"
#include "solver/mixed.h"
#include "solver/network.h"
#include "solver/placement.h"
#include "solver/routed.h"
#include "solver/schedule.h"
#include "solver/share.h"
#include "solver/most.h"

/* What a pipeline rank's groups take. */
struct site {
	const struct network_lines *group;	/* by enum group */
	struct sharding sharding;
	struct layer_time *time;	/* by class */
	struct layer_time *kept_time;	/* likewise, of layers that keep everything
					 * under partial recomputation */
};

/* What pricing collects on its way over the chain. */
struct pricing {
	const struct problem *problem;
	struct plan *plan;
	struct arena *scratch;
	const struct problem_shape *shape;
	struct site *site;		/* by rank, or one for all */
	uint32_t site_count;
	struct price_times times;
	double *saved_bytes;		/* by rank, then the rank's chunks */
	struct holding *held;		/* by rank */
	struct moving *moving;		/* by rank */
	double *tied_s;			/* by rank: exchange of a tied weight */
	double *before_s, *after_s;	/* by rank: transfers that the exchange of its
					 * gradients meets, and that of its parameters */
	struct share share;
	struct placed placed;
	struct routed routed;		/* in problems with a graph */
	uint32_t placed_ranks;		/* fewer than the pipeline's in a segment's own
					 * plan, whose boundaries are priced later */
	uint32_t recompute_left;	/* block layers of the chunk still to recompute */
	uint32_t tied_rank, tied_with_rank;
};

static struct site *site_of(const struct pricing *pricing, uint32_t rank)
{
	return &pricing->site[pricing->site_count > 1 ? rank : 0];
}

static void init_sites(struct pricing *pricing, struct memo *routes)
{
	const struct problem *problem = pricing->problem;
	const struct plan *plan = pricing->plan;
	struct sharding sharding = sharding_of(
		problem, &plan->placement, pricing->shape,
		pricing->placed.group, plan->choice.shard_level);

	pricing->site_count = problem->graph ? plan->choice.pipeline : 1;
	pricing->site = ARENA_ARRAY(pricing->scratch, struct site,
				    pricing->site_count);
	if (problem->graph)
		routed_network(problem, plan, &pricing->placed, &sharding, routes,
			       pricing->scratch, &pricing->routed);
	for (uint32_t i = 0; i < pricing->site_count; i++) {
		struct site *site = &pricing->site[i];
		struct routed_rank *rank = problem->graph ?
						   &pricing->routed.rank[i] :
						   NULL;

		site->group = rank ? rank->group : pricing->placed.group;
		site->sharding = rank ? rank->sharding : sharding;
	}
}

static void pricing_init(struct pricing *pricing, const struct problem *problem,
			 struct arena *arena, struct memo *routes, struct plan *plan)
{
	uint32_t p = plan->choice.pipeline, chunks = plan->chunk_count;

	*pricing = (struct pricing){
		.problem = problem,
		.plan = plan,
		.scratch = arena,
		.shape = &problem->shape[plan->choice.shape],
		.times = {
			.forward_s = ARENA_ARRAY(arena, double, chunks),
			.backward_s = ARENA_ARRAY(arena, double, chunks),
			.transfer_s = ARENA_ARRAY(arena, double, chunks),
		},
		.saved_bytes = ARENA_ARRAY(arena, double, chunks),
		.held = ARENA_ARRAY(arena, struct holding, p),
		.moving = ARENA_ARRAY(arena, struct moving, p),
		.tied_s = ARENA_ARRAY(arena, double, p),
		.before_s = ARENA_ARRAY(arena, double, p),
		.after_s = ARENA_ARRAY(arena, double, p),
	};
	pricing->placed.placement = plan->placement;
	placement_price(problem, pricing->shape, arena, &pricing->placed);
	pricing->placed_ranks = 1;
	for (uint32_t l = 0; l < problem->level_count; l++)
		pricing->placed_ranks *=
			plan->placement.factor[DIMENSION_PIPELINE][l];
	init_sites(pricing, routes);
	pricing->share = share_of(problem, &plan->choice,
				  &pricing->site->sharding);
}

static void price_layers(struct pricing *pricing, struct site *site)
{
	const struct choice *choice = &pricing->plan->choice;
	uint32_t classes = pricing->problem->class_count;
	struct layer_setting setting = {
		.problem = pricing->problem,
		.shape = choice->shape,
		.recompute = choice->recompute,
		.zero = choice->zero,
		.group = site->group,
		.sharding = &site->sharding,
	};

	site->time = ARENA_ARRAY(pricing->scratch, struct layer_time, classes);
	site->kept_time = ARENA_ARRAY(pricing->scratch, struct layer_time,
				      classes);
	layer_times(&setting, site->time);
	setting.recompute = RECOMPUTE_NONE;
	if (choice->recompute == RECOMPUTE_FULL && choice->recompute_layers)
		layer_times(&setting, site->kept_time);
}

/* What layers of one class add to their device and chunk, whatever their
 * policy. */
static void add_weights(struct pricing *pricing, uint32_t rank, uint32_t class,
			uint32_t count)
{
	const struct problem *problem = pricing->problem;
	const struct problem_weight *weight = problem_weight_at(
		problem, pricing->plan->choice.shape, class);
	struct stage_cost *stage = &pricing->plan->stage[rank];
	double n = count;

	stage->parameters += n * (weight->parameters + weight->expert_parameters);
	stage->expert_parameters += n * weight->expert_parameters;
	pricing->held[rank] = holding_add(pricing->held[rank],
					  holding_times(holding_of(weight), n));
	for (uint32_t i = 0; i < count && i < 2; i++)
		moving_add(&pricing->moving[rank],
			   share_moving(&pricing->share, holding_of(weight)));
	if (problem->class_is_block[class])
		stage->layers += count;
	if (class == problem->tied_class)
		pricing->tied_rank = rank;
	if (class == problem->tied_with_class)
		pricing->tied_with_rank = rank;
}

/* And what they add under a policy. */
static void add_times(struct pricing *pricing, uint32_t chunk, uint32_t class,
		      uint32_t count, enum recompute recompute,
		      const struct layer_time *time)
{
	const struct choice *choice = &pricing->plan->choice;
	const struct problem_cost *cost = problem_cost_at(
		pricing->problem, choice->shape, class, recompute);
	uint32_t rank = chunk % choice->pipeline;
	uint32_t row = chunk / choice->pipeline;
	struct stage_cost *stage = &pricing->plan->stage[rank];
	double n = count;

	if (!count)
		return;
	pricing->times.forward_s[chunk] += n * time->forward_s;
	pricing->times.backward_s[chunk] += n * time->backward_s;
	pricing->saved_bytes[rank * choice->virtual_stages + row] +=
		n * cost->saved_bytes;
	stage->forward_s += n * time->forward_s;
	stage->backward_s += n * time->backward_s;
	stage->compute_s += n * time->compute_s;
	stage->tensor_s += n * time->tensor_s;
	stage->context_s += n * time->context_s;
	stage->expert_s += n * time->expert_s;
	stage->sharding_s += n * time->sharding_s;
	stage->memory.working = most(stage->memory.working, cost->working_bytes);
}

/* count layers of one class at the end of what a chunk holds so far. */
static void add_layers(struct pricing *pricing, uint32_t chunk, uint32_t class,
		       uint32_t count)
{
	const struct choice *choice = &pricing->plan->choice;
	uint32_t rank = chunk % choice->pipeline, kept = 0;
	const struct site *site = site_of(pricing, rank);

	add_weights(pricing, rank, class, count);
	if (layer_may_be_kept(pricing->problem, choice, class)) {
		kept = count > pricing->recompute_left ?
			count - pricing->recompute_left : 0;
		pricing->recompute_left -= count - kept;
	}
	add_times(pricing, chunk, class, count - kept, choice->recompute,
		  &site->time[class]);
	add_times(pricing, chunk, class, kept, RECOMPUTE_NONE,
		  &site->kept_time[class]);
}

static double line_time(const struct network_line *line, double bytes)
{
	return line->latency_s + bytes * line->s_per_byte;
}

/* From a rank to the next one. */
static const struct network_line *boundary_line(const struct pricing *pricing,
						uint32_t rank)
{
	const struct placed *placed = &pricing->placed;

	return pricing->problem->graph ?
		       &pricing->routed.boundary[rank] :
		       &placed->transfer[placed->boundary_level[rank]];
}

/* The boundary after a chunk whose last layer is of that class. */
static void add_boundary(struct pricing *pricing, uint32_t chunk, uint32_t class)
{
	const struct problem *problem = pricing->problem;
	struct plan *plan = pricing->plan;
	uint32_t p = plan->choice.pipeline, rank = chunk % p;
	uint32_t level;

	if (chunk + 1 == plan->chunk_count || rank >= pricing->placed_ranks)
		return;
	level = pricing->placed.boundary_level[rank];
	pricing->times.transfer_s[chunk] = line_time(
		boundary_line(pricing, rank),
		problem_weight_at(problem, plan->choice.shape, class)->output_bytes);
	if (level && pricing->placed.replicas_leave) {
		pricing->after_s[rank] += pricing->times.transfer_s[chunk];
		pricing->before_s[(chunk + 1) % p] += pricing->times.transfer_s[chunk];
	}
	if (chunk < p) {
		plan->stage[rank].send_level = level;
		plan->stage[rank].send_s = pricing->times.transfer_s[chunk];
	}
}

static void price_chunks(struct pricing *pricing)
{
	const struct problem *problem = pricing->problem;
	const uint32_t *first = pricing->plan->chunk_first;
	uint32_t chunk = 0, position = 0;

	pricing->recompute_left = pricing->plan->choice.recompute_layers;
	for (uint32_t i = 0; i < problem->run_count; i++) {
		uint32_t class = problem->run[i].class_index;
		uint32_t end = position + problem->run[i].count;

		while (position < end) {
			uint32_t stop = first[chunk + 1] < end ? first[chunk + 1] : end;

			add_layers(pricing, chunk, class, stop - position);
			position = stop;
			if (position != first[chunk + 1])
				continue;
			add_boundary(pricing, chunk++, class);
			pricing->recompute_left =
				pricing->plan->choice.recompute_layers;
		}
	}
}

/* A tied weight is stored once where both layers meet; apart, both stages wait
 * for the exchange of its gradient. */
static void price_tied(struct pricing *pricing)
{
	const struct problem *problem = pricing->problem;
	struct plan *plan = pricing->plan;
	uint32_t a = pricing->tied_rank, b = pricing->tied_with_rank, level;
	double tied, exchange;

	if (problem->tied_class == CLASS_NONE)
		return;
	tied = problem_weight_at(problem, plan->choice.shape, problem->tied_class)
		       ->tied_parameters;
	if (a == b) {
		plan->stage[a].parameters -= tied;
		pricing->held[a].parameters -= tied;
		return;
	}
	if (plan->choice.zero > 1)
		tied /= pricing->share.shards;
	level = placement_pipeline_level(problem, &pricing->placed, a, b);
	exchange = problem->level[level].latency_s +
		   line_time(&pricing->placed.transfer[level],
			     tied * problem->sync.reduce_bytes);
	if (problem->graph)
		exchange = pricing->routed.tied_latency_s +
			   line_time(&pricing->routed.tied,
				     tied * problem->sync.reduce_bytes);
	pricing->tied_s[a] = exchange;
	pricing->tied_s[b] = exchange;
}

static void price_sync(struct pricing *pricing, uint32_t rank)
{
	const struct problem_sync *sync = &pricing->problem->sync;
	const struct choice *choice = &pricing->plan->choice;
	struct stage_cost *stage = &pricing->plan->stage[rank];
	struct holding held = pricing->held[rank];
	const struct sharding *sharding = &site_of(pricing, rank)->sharding;

	stage->reduce_s = shard_reduce_s(sharding, choice->zero,
					 held.parameters * sync->reduce_bytes,
					 held.experts * sync->reduce_bytes);
	stage->reduce_exposed_s =
		price_exposed(stage->reduce_s, sync->overlap_reduce,
			      stage->backward_s - pricing->before_s[rank]) +
		pricing->tied_s[rank];
	stage->gather_s = shard_gather_s(sharding, choice->zero,
					 held.parameters * sync->gather_bytes,
					 held.experts * sync->gather_bytes);
	stage->gather_exposed_s =
		price_exposed(stage->gather_s, sync->overlap_gather,
			      stage->forward_s - pricing->after_s[rank]);
	stage->step_s = share_step(&pricing->share, held);
	if (pricing->share.apart)
		stage->apart_step_s = share_apart_step(&pricing->share, held);
}

/* Where states are apart they are of another size. */
static void price_apart(const struct share *share,
			   const struct problem_memory *memory,
			   struct holding held, struct stage_cost *stage)
{
	double own = held.apart.parameters / share->dealt +
		     held.expert_apart.parameters / share->expert_dealt;

	stage->apart_parameters = held.apart.parameters +
				   held.expert_apart.parameters;
	stage->apart_states = share_apart_states(share, held);
	stage->memory.optimizer += stage->apart_states * memory->apart_bytes -
				   own * memory->optimizer_bytes;
}

static void price_memory(struct pricing *pricing, uint32_t rank)
{
	const struct problem_memory *memory = &pricing->problem->memory;
	const struct choice *choice = &pricing->plan->choice;
	const struct share *share = &pricing->share;
	struct stage_cost *stage = &pricing->plan->stage[rank];
	struct stage_memory *bytes = &stage->memory;
	struct schedule_shape schedule = schedule_of(choice);
	struct holding held = pricing->held[rank];
	double whole = held.parameters + held.experts;
	double shared = held.parameters / share->shards +
			held.experts / share->expert_shards;

	bytes->parameters = (choice->zero > 2 ? shared : whole) *
			    memory->weight_bytes;
	bytes->gradients = (choice->zero > 1 ? shared : whole) *
			   memory->gradient_bytes;
	bytes->optimizer = (choice->zero > 0 ? shared : whole) *
			   memory->optimizer_bytes;
	if (share->apart)
		price_apart(share, memory, held, stage);
	bytes->activations = schedule_peak_bytes(
		&schedule, rank,
		pricing->saved_bytes + (size_t)rank * choice->virtual_stages);
	bytes->working += pricing->moving[rank].first +
			  pricing->moving[rank].second;
	bytes->reserve = share->reserve_bytes;
	bytes->total = bytes->parameters + bytes->gradients + bytes->optimizer +
		       bytes->activations + bytes->working + bytes->reserve;
}

void price_plan(const struct problem *problem, struct arena *arena,
		struct plan *plan)
{
	price_routed(problem, arena, NULL, plan);
}

void price_routed(const struct problem *problem, struct arena *arena,
		  struct memo *routes, struct plan *plan)
{
	uint32_t p = plan->choice.pipeline;
	struct pricing pricing;
	struct arena_mark mark;

	if (plan->segment_count) {
		mixed_price(problem, arena, plan);
		return;
	}
	plan->stage = ARENA_ARRAY(arena, struct stage_cost, p);
	plan->devices = problem->shape[plan->choice.shape].tensor *
			problem->shape[plan->choice.shape].context *
			plan->choice.data * p;
	if (problem->graph && !plan->device_map)
		plan->device_map = problem->graph_device;
	if (problem->graph && !plan->device)
		devices_fill(problem, arena, plan);
	mark = arena_mark(arena);
	pricing_init(&pricing, problem, arena, routes, plan);
	for (uint32_t i = 0; i < pricing.site_count; i++)
		price_layers(&pricing, &pricing.site[i]);
	price_chunks(&pricing);
	price_tied(&pricing);
	for (uint32_t k = 0; k < p; k++) {
		price_sync(&pricing, k);
		price_memory(&pricing, k);
	}
	price_schedule(plan, &pricing.times, arena);
	arena_rewind(arena, mark);
}
