/* SPDX-License-Identifier: MIT
 *
 * Constraints of a job, leaving some out, and what is found without them.
 */
#include "compiler/inquiry.h"

#include <string.h>

#include "compiler/problem_from_ir.h"
#include "compiler/variable.h"
#include "lang/compilation.h"

bool inquiry_is_asked(const struct inquiry *inquiry,
		      const struct constraint *constraint)
{
	return inquiry->idea &&
	       constraint->span.file == inquiry->idea->span.file;
}

/* The domain of an item of an idea. */
static const struct constraint *find_domain(const struct inquiry *inquiry,
					    struct span span)
{
	for (size_t i = 0; i < inquiry->constraints.count; i++) {
		const struct constraint *constraint =
			&inquiry->constraints.at[i];

		if (constraint->kind == CONSTRAINT_DOMAIN &&
		    inquiry_is_asked(inquiry, constraint) &&
		    constraint->span.file == span.file &&
		    constraint->span.begin == span.begin)
			return constraint;
	}
	return NULL;
}

void inquiry_begin(struct inquiry *inquiry)
{
	struct arena *arena = &inquiry->compilation->arena;
	const struct ir_job *job = &inquiry->ir->job;

	arena_init(&inquiry->arena);
	inquiry->aim = VARIABLE_COUNT;
	for (uint32_t i = 0; i <= VARIABLE_DEVICES; i++) {
		struct constraint constraint = { .kind = CONSTRAINT_DOMAIN,
						 .index = i,
						 .span = job->domain[i].span };

		/* Micro-batches are kept to theirs by a requirement. */
		if (job->domain[i].given && i != VARIABLE_MICRO_BATCHES)
			VEC_PUSH(&inquiry->constraints, arena, constraint);
	}
	for (uint32_t i = 0; i < job->requirement_count; i++) {
		struct constraint constraint = {
			.kind = CONSTRAINT_REQUIREMENT,
			.index = i,
			.span = job->requirement[i].span,
		};

		/* It goes with the domain of the same item of an idea. */
		if (find_domain(inquiry, constraint.span))
			continue;
		VEC_PUSH(&inquiry->constraints, arena, constraint);
	}
	for (uint32_t i = 0; i < DIMENSION_COUNT; i++) {
		struct constraint constraint = { .kind = CONSTRAINT_PLACE,
						 .index = i,
						 .span = job->within_span[i] };

		if (job->within[i])
			VEC_PUSH(&inquiry->constraints, arena, constraint);
	}
	for (uint32_t i = 0; i < job->place_count; i++) {
		struct constraint constraint = { .kind = CONSTRAINT_DEVICES,
						 .index = job->place[i].rule,
						 .span = job->place[i].span };

		if (!i || job->place[i].rule != job->place[i - 1].rule)
			VEC_PUSH(&inquiry->constraints, arena, constraint);
	}
	if (job->memory_limit_bytes < inquiry->ir->topology.device.memory_bytes) {
		struct constraint constraint = { .kind = CONSTRAINT_MEMORY,
						 .span = job->memory_limit_span };

		VEC_PUSH(&inquiry->constraints, arena, constraint);
	}
}

/* Leaves out what one place rule says. */
static void drop_rule(struct ir_job *job, uint32_t rule)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < job->place_count; i++)
		if (job->place[i].rule != rule)
			job->place[kept++] = job->place[i];
	job->place_count = kept;
}

/* All stages of ZeRO, where the job does not say. */
static void allow_every_zero(struct ir_job *job)
{
	static uint32_t every[] = { 0, 1, 2, 3 };

	if (!job->domain[VARIABLE_ZERO].given)
		job->domain[VARIABLE_ZERO] = (struct ir_domain){
			.given = true, .span = job->span, .at = every, .count = 4 };
}

/* The job's own domain counts again where the idea has one. */
static void drop_domain(const struct inquiry *inquiry,
			const struct constraint *constraint, struct ir_job *job)
{
	job->domain[constraint->index] =
		inquiry_is_asked(inquiry, constraint) ?
			inquiry->idea->ir->job.domain[constraint->index] :
			(struct ir_domain){ .given = false };
}

/* Whether a requirement is left out, itself or with its domain. */
static bool is_dropped(const struct inquiry *inquiry, uint32_t requirement)
{
	const struct ir_job *job = &inquiry->ir->job;
	const struct constraint *domain;

	if (requirement >= job->requirement_count)
		return false;
	domain = find_domain(inquiry, job->requirement[requirement].span);
	for (size_t i = 0; i < inquiry->constraints.count; i++) {
		const struct constraint *constraint =
			&inquiry->constraints.at[i];

		if (constraint->kind == CONSTRAINT_REQUIREMENT &&
		    constraint->index == requirement)
			return constraint->dropped;
	}
	return domain && domain->dropped;
}

/* What one constraint says is left out; of requirements see is_dropped. */
static void drop(const struct inquiry *inquiry,
		 const struct constraint *constraint, double device_bytes,
		 struct ir_job *job)
{
	switch (constraint->kind) {
	case CONSTRAINT_DOMAIN:
		drop_domain(inquiry, constraint, job);
		return;
	case CONSTRAINT_REQUIREMENT:
		return;
	case CONSTRAINT_MEMORY:
		job->memory_limit_bytes = device_bytes;
		return;
	case CONSTRAINT_PLACE:
		job->within[constraint->index] = 0;
		return;
	case CONSTRAINT_DEVICES:
		drop_rule(job, constraint->index);
		return;
	}
}

/* The least of one outcome. */
static void aim_at(struct arena *arena, enum plan_variable variable,
		   struct ir_job *job)
{
	struct predicate_step *step = ARENA_NEW(arena, struct predicate_step);

	*step = (struct predicate_step){ .op = PREDICATE_VARIABLE,
					 .variable = variable };
	job->objective = ARENA_NEW(arena, struct predicate);
	*job->objective = (struct predicate){ .step = step, .step_count = 1,
					      .needs_outcome = true };
	job->objective_name = ARENA_NEW(arena, const char *);
	*job->objective_name = variable_name(variable);
	job->objective_count = 1;
}

/* The outcome that a requirement bounds from above and says nothing else about;
 * VARIABLE_COUNT if it is no such one. */
static enum plan_variable bounded_outcome(const struct predicate *predicate)
{
	const struct predicate_step *first = predicate->step, *last;

	if (predicate->step_count < 3)
		return VARIABLE_COUNT;
	last = &predicate->step[predicate->step_count - 1];
	if ((last->op != PREDICATE_LESS && last->op != PREDICATE_LESS_EQUAL) ||
	    first->op != PREDICATE_VARIABLE || first->variable < VARIABLE_TIME ||
	    first->variable > VARIABLE_ENERGY)
		return VARIABLE_COUNT;
	for (uint32_t i = 1; i + 1 < predicate->step_count; i++)
		if (predicate->step[i].op != PREDICATE_CONSTANT)
			return VARIABLE_COUNT;
	return first->variable;
}

static void relax(const struct inquiry *inquiry, double device_bytes,
		  struct ir_job *job)
{
	struct arena *arena = &inquiry->compilation->arena;
	const struct ir_requirement *all = job->requirement;
	const struct ir_place *place = job->place;
	uint32_t kept = 0;

	job->requirement = ARENA_ARRAY(arena, struct ir_requirement,
				       job->requirement_count);
	job->place = ARENA_ARRAY(arena, struct ir_place, job->place_count);
	for (uint32_t i = 0; i < job->place_count; i++)
		job->place[i] = place[i];
	for (size_t i = 0; i < inquiry->constraints.count; i++)
		if (inquiry->constraints.at[i].dropped)
			drop(inquiry, &inquiry->constraints.at[i], device_bytes,
			     job);
	if (inquiry->every_zero)
		allow_every_zero(job);
	if (inquiry->aim != VARIABLE_COUNT)
		aim_at(arena, inquiry->aim, job);
	for (uint32_t i = 0; i < job->requirement_count; i++) {
		if (is_dropped(inquiry, i))
			continue;
		job->requirement[kept] = all[i];
		job->requirement[kept].predicate.source = kept;
		kept++;
	}
	job->requirement_count = kept;
}

/* The program without the constraints that are dropped, on devices of each kind
 * too. */
static struct ir *relaxed(const struct inquiry *inquiry, const struct ir *ir)
{
	struct arena *arena = &inquiry->compilation->arena;
	struct ir *copy = ARENA_NEW(arena, struct ir);
	struct ir_topology *topology = &copy->topology;

	*copy = *ir;
	relax(inquiry, topology->device.memory_bytes, &copy->job);
	topology->kind = ARENA_ARRAY(arena, struct ir_kind, topology->kind_count);
	for (uint32_t k = 0; k < topology->kind_count; k++) {
		topology->kind[k] = ir->topology.kind[k];
		topology->kind[k].only =
			relaxed(inquiry, ir->topology.kind[k].only);
	}
	return copy;
}

/* A sensible plan will do, on mixed clusters any; a good one is shown of an idea's, and
 * without a requirement on an outcome, where that is quick. */
static double gap_wanted(const struct inquiry *inquiry)
{
	const struct ir_job *job = &inquiry->ir->job;
	bool good = inquiry->idea != NULL;

	for (size_t i = 0; i < inquiry->constraints.count; i++) {
		const struct constraint *constraint =
			&inquiry->constraints.at[i];

		if (constraint->kind == CONSTRAINT_REQUIREMENT &&
		    constraint->dropped)
			good |= job->requirement[constraint->index]
					.predicate.needs_outcome;
	}
	if (inquiry->ir->topology.kind_count)
		return 0.9;
	return good ? 0.01 : 0.02;
}

bool inquiry_ask(struct inquiry *inquiry)
{
	struct solve_limits limits = { .gap = gap_wanted(inquiry),
				       .deadline = *inquiry->deadline };
	struct diags saved = inquiry->compilation->diags;
	enum solve_status status;

	arena_release(&inquiry->arena);
	arena_init(&inquiry->arena);
	inquiry->relaxed = relaxed(inquiry, inquiry->ir);
	inquiry->problem =
		problem_from_ir(inquiry->compilation, inquiry->relaxed);
	inquiry->compilation->diags = saved;
	if (!inquiry->problem)
		return false;
	memset(&inquiry->result, 0, sizeof(inquiry->result));
	status = solve(inquiry->problem, &limits, &inquiry->arena,
		       &inquiry->result);
	inquiry->unanswered |= status == SOLVE_UNKNOWN;
	return status == SOLVE_OPTIMAL || status == SOLVE_FEASIBLE;
}

bool inquiry_ask_without(struct inquiry *inquiry, struct constraint *constraint)
{
	bool found;

	inquiry_drop_all(inquiry, false);
	constraint->dropped = true;
	if (constraint->kind == CONSTRAINT_REQUIREMENT && !inquiry->idea)
		inquiry->aim = bounded_outcome(
			&inquiry->ir->job.requirement[constraint->index].predicate);
	found = inquiry_ask(inquiry);
	inquiry->aim = VARIABLE_COUNT;
	if (found || !inquiry_is_asked(inquiry, constraint) ||
	    constraint->kind != CONSTRAINT_DOMAIN ||
	    constraint->index != VARIABLE_ZERO)
		return found;
	inquiry->every_zero = true;
	found = inquiry_ask(inquiry);
	inquiry->every_zero = false;
	return found;
}

void inquiry_drop_all(struct inquiry *inquiry, bool dropped)
{
	for (size_t i = 0; i < inquiry->constraints.count; i++)
		inquiry->constraints.at[i].dropped = dropped;
}

/* What a conflict is hardest to see through is dropped first: of several conflicts the
 * one that remains is arithmetic wherever there is such a one. */
static uint32_t opacity(const struct inquiry *inquiry,
			const struct constraint *constraint)
{
	switch (constraint->kind) {
	case CONSTRAINT_MEMORY:
		return 0;
	case CONSTRAINT_REQUIREMENT:
		return inquiry->ir->job.requirement[constraint->index]
				       .predicate.needs_outcome ? 0 : 3;
	case CONSTRAINT_DEVICES:
	case CONSTRAINT_PLACE:
		return 1;
	case CONSTRAINT_DOMAIN:
		break;
	}
	return 2;
}

#define OPACITY_MOST 3

/* Leaves `dropped` false for the members of a smallest conflicting set. */
static void shrink(struct inquiry *inquiry)
{
	for (uint32_t turn = 0; turn <= OPACITY_MOST; turn++) {
		for (size_t i = 0; i < inquiry->constraints.count; i++) {
			struct constraint *constraint =
				&inquiry->constraints.at[i];

			if (opacity(inquiry, constraint) != turn)
				continue;
			constraint->dropped = true;
			constraint->dropped = !inquiry_ask(inquiry);
		}
	}
}

void inquiry_end(struct inquiry *inquiry)
{
	arena_release(&inquiry->arena);
}

bool inquiry_single_changes(struct inquiry *inquiry, bool *helps)
{
	bool any = false;

	for (size_t i = 0; i < inquiry->constraints.count; i++) {
		helps[i] = inquiry_ask_without(inquiry,
					       &inquiry->constraints.at[i]);
		any |= helps[i];
	}
	return any;
}

void inquiry_find_core(struct inquiry *inquiry, bool *in_core)
{
	inquiry_drop_all(inquiry, false);
	shrink(inquiry);
	for (size_t i = 0; i < inquiry->constraints.count; i++)
		in_core[i] = !inquiry->constraints.at[i].dropped;
}
