/* SPDX-License-Identifier: MIT
 *
 * Small questions to a problem, and its well-formedness: everything the other files
 * take for granted is checked here once.
 */
#include "solver/problem.h"

#include <math.h>
#include <stddef.h>

uint32_t problem_chain_length(const struct problem *problem)
{
	uint32_t length = 0;

	for (uint32_t i = 0; i < problem->run_count; i++)
		length += problem->run[i].count;
	return length;
}

uint32_t problem_block_count(const struct problem *problem)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < problem->run_count; i++)
		if (problem->class_is_block[problem->run[i].class_index])
			count += problem->run[i].count;
	return count;
}

bool problem_requirements_hold(const struct problem *problem,
			       const struct predicate_input *input)
{
	for (uint32_t i = 0; i < problem->requirement_count; i++) {
		double value = predicate_evaluate(&problem->requirement[i], input);

		if (value == 0 || isnan(value))
			return false;
	}
	return true;
}

static bool is_amount(double number)
{
	return isfinite(number) && number >= 0;
}

static uint32_t class_occurrences(const struct problem *problem, uint32_t class)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < problem->run_count; i++)
		if (problem->run[i].class_index == class)
			count += problem->run[i].count;
	return count;
}

static const char *check_chain(const struct problem *problem)
{
	uint32_t length = 0;

	if (!problem->run || !problem->run_count || !problem->class_count ||
	    !problem->class_is_block)
		return "the chain has no layers";
	for (uint32_t i = 0; i < problem->run_count; i++) {
		const struct problem_run *run = &problem->run[i];

		if (run->class_index >= problem->class_count)
			return "a run names a class that does not exist";
		if (!run->count)
			return "a run has no layers";
		if (run->count > CHAIN_MAX - length)
			return "the chain is longer than CHAIN_MAX";
		length += run->count;
	}
	if (problem->tied_class == CLASS_NONE)
		return NULL;
	if (problem->tied_class >= problem->class_count ||
	    problem->tied_with_class >= problem->class_count ||
	    problem->tied_class == problem->tied_with_class)
		return "tied classes do not exist";
	if (class_occurrences(problem, problem->tied_class) != 1 ||
	    class_occurrences(problem, problem->tied_with_class) != 1)
		return "tied classes do not occur once each";
	return NULL;
}

static const char *check_cost(const struct problem *problem,
			      const struct problem_cost *cost)
{
	if (!is_amount(cost->forward_s) || !is_amount(cost->backward_s) ||
	    !is_amount(cost->saved_bytes) || !is_amount(cost->working_bytes))
		return "a cost is negative or not finite";
	if (cost->collective_first > problem->collective_count ||
	    cost->collective_count >
		    problem->collective_count - cost->collective_first)
		return "a cost names collectives that do not exist";
	return NULL;
}

/* Parameters of the `all`; sums may have been rounded. */
static const char *check_apart(const struct problem *problem,
			       const struct problem_apart *apart, double all)
{
	const double room = 1 + 1e-9;

	if (!is_amount(apart->parameters) || !is_amount(apart->step_s) ||
	    !is_amount(apart->largest) || !is_amount(apart->largest_step_s))
		return "what has states apart is negative or not finite";
	if (!problem->states_apart &&
	    (apart->parameters > 0 || apart->step_s > 0))
		return "there are states apart, but no optimizer that has them";
	if (apart->parameters > all * room)
		return "more parameters have states apart than there are";
	if (apart->largest > apart->parameters * room ||
	    apart->largest_step_s > apart->step_s * room)
		return "a weight is larger than all together";
	if (apart->largest > 0 && (problem->zero[2] || problem->zero[3]))
		return "ZeRO 2 and 3 cut weights that the optimizer needs whole";
	return NULL;
}

static const char *check_weight(const struct problem *problem,
				const struct problem_weight *weight)
{
	const char *wrong;

	if (!is_amount(weight->parameters) ||
	    !is_amount(weight->expert_parameters) ||
	    !is_amount(weight->tied_parameters) ||
	    !is_amount(weight->output_bytes))
		return "a weight is negative or not finite";
	if (weight->tied_parameters > weight->parameters)
		return "a class ties more parameters than it has";
	wrong = check_apart(problem, &weight->apart,
			    weight->parameters - weight->tied_parameters);
	return wrong ? wrong : check_apart(problem, &weight->expert_apart,
					   weight->expert_parameters);
}

/* Layers that are not recomputed under partial recomputation keep everything. */
static bool policy_is_priced(const struct problem *problem,
			     enum recompute recompute)
{
	return problem->recompute[recompute] ||
	       (recompute == RECOMPUTE_NONE &&
		problem->recompute[RECOMPUTE_FULL] &&
		problem->recompute_layers.count);
}

static const char *check_shapes(const struct problem *problem)
{
	uint64_t weights = (uint64_t)problem->shape_count * problem->class_count;

	if (!problem->shape || !problem->shape_count)
		return "there are no shapes";
	if (!problem->cost || !problem->weight)
		return "there are no costs";
	if (weights > UINT32_MAX / RECOMPUTE_COUNT)
		return "there are too many shapes";
	for (uint32_t i = 0; i < problem->shape_count; i++) {
		const struct problem_shape *shape = &problem->shape[i];

		if (!shape->tensor || !shape->context || !shape->micro_batch ||
		    !shape->expert || !shape->expert_tensor)
			return "a shape has a degree of 0";
		if (shape->tensor > DEVICES_MAX || shape->context > DEVICES_MAX ||
		    shape->expert > DEVICES_MAX ||
		    shape->expert_tensor > DEVICES_MAX)
			return "a shape has a degree above DEVICES_MAX";
	}
	for (uint32_t i = 0; i < problem->shape_count; i++)
		if (problem->tied_class != CLASS_NONE &&
		    problem_weight_at(problem, i, problem->tied_class)
				    ->tied_parameters >
			    problem_weight_at(problem, i, problem->tied_with_class)
				    ->parameters)
			return "a class ties more parameters than the other has";
	for (uint64_t i = 0; i < weights; i++) {
		const char *wrong = check_weight(problem, &problem->weight[i]);

		if (wrong)
			return wrong;
	}
	for (uint64_t i = 0; i < weights * RECOMPUTE_COUNT; i++) {
		const char *wrong;

		if (!policy_is_priced(problem,
				      (enum recompute)(i % RECOMPUTE_COUNT)))
			continue;
		wrong = check_cost(problem, &problem->cost[i]);
		if (wrong)
			return wrong;
	}
	return NULL;
}

static const char *check_collectives(const struct problem *problem)
{
	if (problem->collective_count && !problem->collective)
		return "there are no collectives";
	for (uint32_t i = 0; i < problem->collective_count; i++) {
		const struct problem_collective *collective =
			&problem->collective[i];

		if ((unsigned)collective->kind >= COLLECTIVE_COUNT)
			return "a collective is of no kind";
		if (collective->group != GROUP_TENSOR &&
		    collective->group != GROUP_CONTEXT &&
		    collective->group != GROUP_EXPERT &&
		    collective->group != GROUP_EXPERT_TENSOR)
			return "a layer's collective is over replicas";
		if (!is_amount(collective->bytes) ||
		    !is_amount(collective->hidden_s) ||
		    !is_amount(collective->slowing) || collective->slowing > 1)
			return "a collective is negative or not finite";
	}
	return NULL;
}

static const char *check_level(const struct problem_level *level, bool innermost)
{
	if (!level->fanout || level->fanout > DEVICES_MAX)
		return "a fan-out is 0 or above DEVICES_MAX";
	if ((unsigned)level->kind >= LEVEL_KIND_COUNT)
		return "a level is of no kind";
	if (!(level->bandwidth_Bps > 0) || !isfinite(level->bandwidth_Bps))
		return "a bandwidth is not positive and finite";
	if (!is_amount(level->latency_s) || !is_amount(level->overhead_s) ||
	    !is_amount(level->short_overhead_s))
		return "a latency is negative or not finite";
	if (!(level->oversubscription >= 1) || !isfinite(level->oversubscription))
		return "an oversubscription is below 1 or not finite";
	if (!(level->efficiency > 0) || level->efficiency > 1)
		return "an efficiency is not in (0, 1]";
	if (!(level->short_efficiency >= 0) || level->short_efficiency > 1)
		return "an efficiency of short messages is not in [0, 1]";
	if (!(level->reduction_efficiency >= 0) || level->reduction_efficiency > 1)
		return "an efficiency of reductions is not in [0, 1]";
	if (level->nics > DEVICES_MAX || level->rails > DEVICES_MAX)
		return "there are more NICs or rails than DEVICES_MAX";
	if (innermost && (level->joined || level->rails))
		return "the innermost level is joined to another or has rails";
	if (level->joined && level->kind != LEVEL_RING)
		return "a dimension of a torus is no ring";
	if (level->in_network_reduction && level->kind != LEVEL_SWITCH)
		return "a level without switches reduces in the network";
	return NULL;
}

static const char *check_network(const struct problem *problem)
{
	uint64_t devices = 1;

	if (!problem->level_count || problem->level_count > LEVEL_MAX)
		return "the topology has no level, or more than LEVEL_MAX";
	for (uint32_t i = 0; i < DIMENSION_COUNT; i++)
		if (problem->within[i] > problem->level_count)
			return "a dimension is placed within a level that is not there";
	for (uint32_t i = 0; i < problem->level_count; i++) {
		const char *wrong = check_level(&problem->level[i], !i);

		if (wrong)
			return wrong;
		devices *= problem->level[i].fanout;
		if (devices > DEVICES_MAX)
			return "there are more devices than DEVICES_MAX";
	}
	if (devices != problem->device_count)
		return "the device count is not the product of the fan-outs";
	return NULL;
}

static bool domain_is_ascending(const struct problem_domain *domain)
{
	uint32_t before = 0;

	if (domain->count && !domain->at)
		return false;
	for (uint32_t i = 0; i < domain->count; i++) {
		if (domain->at[i] <= before)
			return false;
		before = domain->at[i];
	}
	return true;
}

static const char *check_memory(const struct problem *problem)
{
	const struct problem_memory *memory = &problem->memory;
	const struct problem_sync *sync = &problem->sync;

	if (!is_amount(memory->limit_bytes) || !is_amount(memory->reserve_bytes) ||
	    !is_amount(memory->group_bytes) || !is_amount(memory->weight_bytes) ||
	    !is_amount(memory->gradient_bytes) ||
	    !is_amount(memory->optimizer_bytes) ||
	    !is_amount(memory->apart_bytes))
		return "a size of memory is negative or not finite";
	if (!is_amount(sync->reduce_bytes) || !is_amount(sync->gather_bytes) ||
	    !is_amount(sync->step_bytes))
		return "a size of synchronisation is negative or not finite";
	if (!is_amount(sync->memory_bandwidth_Bps) ||
	    (sync->step_bytes > 0 && sync->memory_bandwidth_Bps <= 0))
		return "the memory bandwidth is not positive and finite";
	if (!is_amount(problem->device_dollars_per_s) ||
	    !is_amount(problem->device_watts))
		return "the price or power of a device is negative or not finite";
	return NULL;
}

static const char *check_places(const struct problem *problem)
{
	if ((problem->avoided_count && !problem->avoided) ||
	    (problem->pin_count && !problem->pin))
		return "there are no devices to avoid, or no pins";
	for (uint32_t i = 0; i < problem->avoided_count; i++)
		if (problem->avoided[i] >= problem->device_count ||
		    (i && problem->avoided[i] <= problem->avoided[i - 1]))
			return "the devices to avoid do not ascend below the device count";
	if (problem->pin_count > PIN_MAX)
		return "there are more pins than PIN_MAX";
	for (uint32_t i = 0; i < problem->pin_count; i++) {
		const struct problem_pin *pin = &problem->pin[i];

		if (!pin->count || pin->first >= problem->device_count ||
		    pin->count > problem->device_count - pin->first)
			return "a pin names devices that do not exist";
	}
	return NULL;
}

static bool predicate_is_sound(const struct predicate *predicate)
{
	if (!predicate_is_valid(predicate))
		return false;
	for (uint32_t i = 0; i < predicate->step_count; i++)
		if (predicate->step[i].op == PREDICATE_VARIABLE &&
		    predicate->step[i].variable >= VARIABLE_TIME &&
		    !predicate->needs_outcome)
			return false;
	return true;
}

/* Numbers that the formulas count up to are bounded. */
static const char *check_exchange(const struct problem_exchange *exchange)
{
	double g = exchange->groups, chosen = exchange->chosen_groups;

	if (exchange->copies == 0)
		return NULL;
	if (!(exchange->copies >= 1 && exchange->copies <= COPIES_MAX &&
	      g >= 1 && g <= COPIES_MAX && chosen >= 1 && chosen <= g &&
	      is_amount(exchange->experts)))
		return "the exchange of experts is out of range";
	if (exchange->copies > chosen * exchange->experts / g)
		return "a token goes to more experts than there are to choose from";
	return NULL;
}

static const char *check_job(const struct problem *problem)
{
	bool any = false;

	if (!problem->global_batch)
		return "the global batch is 0";
	if (problem->global_batch > BATCH_MAX)
		return "the global batch is above BATCH_MAX";
	if (!domain_is_ascending(&problem->data) ||
	    !domain_is_ascending(&problem->pipeline) ||
	    !domain_is_ascending(&problem->virtual_stages) ||
	    !domain_is_ascending(&problem->devices) ||
	    !domain_is_ascending(&problem->recompute_layers))
		return "a domain does not ascend from 1";
	if (!problem->zero[0] && !problem->zero[1] && !problem->zero[2] &&
	    !problem->zero[3])
		return "no ZeRO stage is allowed";
	for (uint32_t l = problem->level_count; l < LEVEL_MAX; l++)
		if (problem->shard_level[l])
			return "shards are cut at a level that is not there";
	for (uint32_t i = 0; i < RECOMPUTE_COUNT; i++)
		any |= problem->recompute[i];
	if (!any)
		return "no recomputation policy is allowed";
	if ((problem->requirement_count && !problem->requirement) ||
	    (problem->objective_count && !problem->objective))
		return "there are no predicates";
	if (problem->objective_count > OBJECTIVE_MAX)
		return "there are more objectives than OBJECTIVE_MAX";
	for (uint32_t i = 0; i < problem->requirement_count; i++)
		if (!predicate_is_sound(&problem->requirement[i]))
			return "a requirement is not well formed";
	for (uint32_t i = 0; i < problem->objective_count; i++)
		if (!predicate_is_sound(&problem->objective[i]))
			return "an objective is not well formed";
	return NULL;
}

/* Kinds are the same job on other devices. */
static const char *check_kind(const struct problem *problem,
			      const struct problem *kind)
{
	const char *wrong = kind->kind_count ? "a kind has kinds" :
					       problem_check(kind);

	if (wrong)
		return wrong;
	if (kind->run_count != problem->run_count ||
	    kind->class_count != problem->class_count ||
	    kind->shape_count != problem->shape_count ||
	    kind->global_batch != problem->global_batch ||
	    kind->requirement_count > problem->requirement_count)
		return "a kind has another job";
	if (kind->level[kind->level_count - 1].kind != LEVEL_SWITCH)
		return "kinds do not meet at a switch";
	return NULL;
}

static const char *check_kinds(const struct problem *problem)
{
	const char *wrong = NULL;

	if (problem->kind_count == 1 || problem->kind_count > KIND_MAX)
		return "too many kinds, or one";
	for (uint32_t k = 0; !wrong && k < problem->kind_count; k++)
		wrong = check_kind(problem, problem->kind[k]);
	return wrong;
}

const char *problem_check(const struct problem *problem)
{
	const char *wrong = check_chain(problem);

	if (!wrong)
		wrong = check_collectives(problem);
	if (!wrong)
		wrong = check_shapes(problem);
	if (!wrong)
		wrong = check_network(problem);
	if (!wrong)
		wrong = check_places(problem);
	if (!wrong)
		wrong = check_memory(problem);
	if (!wrong)
		wrong = check_job(problem);
	if (!wrong)
		wrong = check_exchange(&problem->exchange);
	if (!wrong)
		wrong = check_kinds(problem);
	return wrong;
}
