/* SPDX-License-Identifier: MIT
 *
 * Facts behind the parts of an iteration's time.
 */
#include "compiler/time_facts.h"

#include "compiler/describe.h"
#include "compiler/job_names.h"
#include "compiler/spread.h"

struct facts {
	const struct ir *ir;
	const struct problem *problem;
	const struct plan *plan;
	const struct problem_shape *shape;
	struct text *out;
};

/* "32 micro-batches of 43.8 ms". */
static void micro_batches(const struct facts *facts, double seconds)
{
	uint32_t count = facts->plan->choice.micro_batches;

	text_printf(facts->out, "%u micro-batch%s of ", count,
		    count == 1 ? "" : "es");
	describe_seconds(seconds / count, facts->out);
}

static void compute(const struct facts *facts)
{
	const struct choice *choice = &facts->plan->choice;

	micro_batches(facts, facts->plan->breakdown.compute_s);
	text_printf(facts->out, ", %u sequence%s each, recompute %s",
		    facts->shape->micro_batch,
		    facts->shape->micro_batch == 1 ? "" : "s",
		    recompute_name(choice->recompute));
}

/* ": 2 within a node, 16 across racks", as far as there is one placement. */
static void spread(const struct facts *facts, enum dimension dimension)
{
	const struct placement *placement = &facts->plan->placement;
	size_t before;

	if (facts->plan->segment_count ||
	    placement->packing != PACKING_FACTORS)
		return;
	text_append(facts->out, ": ");
	before = facts->out->length;
	spread_describe(&facts->ir->topology, placement, dimension, facts->out);
	if (facts->out->length == before) {
		facts->out->length -= 2;
		facts->out->at[facts->out->length] = '\0';
	}
}

static void exchange(const struct facts *facts, double seconds,
		     enum dimension dimension)
{
	micro_batches(facts, seconds);
	spread(facts, dimension);
}

static void experts(const struct facts *facts)
{
	micro_batches(facts, facts->plan->breakdown.expert_s);
	text_printf(facts->out, ", experts over %u", facts->shape->expert);
	if (facts->shape->expert_tensor > 1)
		text_printf(facts->out, ", each cut by %u",
			    facts->shape->expert_tensor);
}

/* What decides a bubble: (pipeline - 1) / (micro-batches x virtual). */
static void bubble(const struct facts *facts)
{
	const struct choice *choice = &facts->plan->choice;

	text_printf(facts->out, "%u stages, %u micro-batch%s", choice->pipeline,
		    choice->micro_batches,
		    choice->micro_batches == 1 ? "" : "es");
	if (choice->virtual_stages > 1)
		text_printf(facts->out, ", %u virtual stages a device",
			    choice->virtual_stages);
	if (choice->schedule == SCHEDULE_GPIPE)
		text_append(facts->out, ", GPipe");
}

static void transfers(const struct facts *facts)
{
	const struct choice *choice = &facts->plan->choice;

	text_printf(facts->out, "%u stages", choice->pipeline);
	if (choice->virtual_stages > 1)
		text_printf(facts->out, ", %u times around",
			    choice->virtual_stages);
	spread(facts, DIMENSION_PIPELINE);
}

static void replicas(const struct facts *facts)
{
	const struct choice *choice = &facts->plan->choice;

	text_printf(facts->out, "%u replicas, ZeRO %u", choice->data,
		    choice->zero);
	spread(facts, DIMENSION_DATA);
}

static void step(const struct facts *facts)
{
	const struct plan *plan = facts->plan;
	double most = 0;

	for (uint32_t i = 0; i < plan->choice.pipeline; i++)
		if (plan->stage[i].parameters > most)
			most = plan->stage[i].parameters;
	describe_parameters(most, facts->out);
	text_printf(facts->out, " parameters a device, ZeRO %u",
		    plan->choice.zero);
}

/* The parts are those of the slowest stage. */
static const char *why_nothing(const struct facts *facts, enum time_term term)
{
	const struct choice *choice = &facts->plan->choice;
	const struct problem_shape *shape = facts->shape;
	static const char hidden[] = "none that the slowest stage waits for";

	switch (term) {
	case TIME_TENSOR:
		return shape->tensor > 1 ? hidden : "tensor 1";
	case TIME_CONTEXT:
		return shape->context > 1 ? hidden : "context 1";
	case TIME_EXPERT:
		return shape->expert > 1 ? hidden : "expert 1";
	case TIME_PIPELINE:
	case TIME_BUBBLE:
		return choice->pipeline > 1 ? hidden : "no pipeline";
	case TIME_DATA:
		return choice->data * shape->context > 1 ? hidden : "one replica";
	default:
		return "none";
	}
}

void time_facts(const struct ir *ir, const struct problem *problem,
		const struct plan *plan, enum time_term term, struct text *out)
{
	struct facts facts = {
		.ir = ir,
		.problem = problem,
		.plan = plan,
		.shape = &problem->shape[plan->choice.shape],
		.out = out,
	};

	if (!(time_term_s(&plan->breakdown, term) > 0)) {
		text_append(out, why_nothing(&facts, term));
		return;
	}
	switch (term) {
	case TIME_COMPUTE:
		compute(&facts);
		return;
	case TIME_TENSOR:
		exchange(&facts, plan->breakdown.tensor_s, DIMENSION_TENSOR);
		return;
	case TIME_CONTEXT:
		exchange(&facts, plan->breakdown.context_s, DIMENSION_CONTEXT);
		return;
	case TIME_EXPERT:
		experts(&facts);
		return;
	case TIME_PIPELINE:
		transfers(&facts);
		return;
	case TIME_BUBBLE:
		bubble(&facts);
		return;
	case TIME_DATA:
		replicas(&facts);
		return;
	case TIME_OPTIMIZER:
		step(&facts);
		return;
	case TIME_TERM_COUNT:
		return;
	}
}
