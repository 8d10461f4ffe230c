/* SPDX-License-Identifier: MIT
 *
 * Random problems: requirements and objectives.
 */
#include "tests/prop/random_parts.h"

#include <math.h>

#define STEPS_MAX 12

struct program {
	struct maker *maker;
	struct predicate_step *step;
	struct predicate predicate;
};

static void add_step(struct program *program, struct predicate_step step)
{
	program->step[program->predicate.step_count++] = step;
}

static void add_number(struct program *program, double number)
{
	add_step(program, (struct predicate_step){
		.op = PREDICATE_CONSTANT, .number = number });
}

static void add_variable(struct program *program, enum plan_variable variable)
{
	add_step(program, (struct predicate_step){
		.op = PREDICATE_VARIABLE, .variable = variable,
		.index = variable == VARIABLE_STAGE_LAYERS ?
			 maker_below(program->maker, 3) : 0 });
	if (variable >= VARIABLE_TIME)
		program->predicate.needs_outcome = true;
	if (variable == VARIABLE_TIME || variable == VARIABLE_COST ||
	    variable == VARIABLE_ENERGY)
		program->maker->made->mentions_time = true;
}

static void add_op(struct program *program, enum predicate_op op)
{
	add_step(program, (struct predicate_step){ .op = op });
}

static struct program program_start(struct maker *maker)
{
	struct program program = { .maker = maker };

	program.step = ARENA_ARRAY(maker->arena, struct predicate_step,
				   STEPS_MAX);
	program.predicate.step = program.step;
	return program;
}

/* A rough iteration time, so that bounds on it bind now and then. */
static double rough_time(const struct problem *problem)
{
	double total = 0;

	for (uint32_t r = 0; r < problem->run_count; r++) {
		const struct problem_cost *cost = problem_cost_at(problem, 0,
			problem->run[r].class_index, RECOMPUTE_NONE);

		total += problem->run[r].count *
			 (cost->forward_s + cost->backward_s);
	}
	return total * problem->global_batch / problem->shape[0].micro_batch;
}

static void add_choice_test(struct program *program)
{
	static const enum predicate_op comparison[] = {
		PREDICATE_EQUAL, PREDICATE_NOT_EQUAL, PREDICATE_LESS,
		PREDICATE_LESS_EQUAL, PREDICATE_LESS_EQUAL, PREDICATE_GREATER,
		PREDICATE_GREATER_EQUAL,
	};
	struct maker *maker = program->maker;

	add_variable(program, (enum plan_variable)maker_below(maker, VARIABLE_TIME));
	if (maker_chance(maker, 0.3)) {
		add_variable(program,
			     (enum plan_variable)maker_below(maker, VARIABLE_TIME));
		add_op(program, maker_chance(maker, 0.5) ? PREDICATE_MULTIPLY :
						     PREDICATE_REMAINDER);
	}
	add_number(program, maker_below(maker, 5));
	add_op(program, comparison[maker_below(maker, 7)]);
}

static void add_outcome_test(struct program *program)
{
	struct maker *maker = program->maker;
	struct problem *problem = maker->problem;
	double time = rough_time(problem) *
		      exp2(3 * random_unit(&maker->random) - 2.5);

	switch (maker_below(maker, 7)) {
	case 0:
		add_variable(program, VARIABLE_TIME);
		add_number(program, time);
		break;
	case 1:
		add_variable(program, VARIABLE_COST);
		add_number(program, 2 * time * problem->device_dollars_per_s);
		break;
	case 2:
		add_variable(program, VARIABLE_BUBBLE);
		add_number(program, 0.6 * random_unit(&maker->random) + 0.01);
		break;
	case 3:
		add_variable(program, VARIABLE_MEMORY);
		add_number(program, 300 * exp2(6 * random_unit(&maker->random)));
		break;
	case 4:
		add_variable(program, VARIABLE_STAGE_LAYERS);
		add_number(program, 1 + maker_below(maker, 3));
		break;
	case 5:
		add_number(program, 1);
		add_variable(program, VARIABLE_STAGES_UNIFORM);
		break;
	default:
		add_variable(program, VARIABLE_TIME);
		add_variable(program, VARIABLE_DEVICES);
		add_op(program, PREDICATE_MULTIPLY);
		add_number(program, 2 * time);
		break;
	}
	add_op(program, maker_chance(maker, 0.9) ? PREDICATE_LESS_EQUAL :
					     PREDICATE_GREATER_EQUAL);
}

void maker_requirements(struct maker *maker)
{
	struct predicate *requirement =
		ARENA_ARRAY(maker->arena, struct predicate, 3);
	uint32_t count = maker_chance(maker, 0.6) ? 0 : 1 + maker_below(maker, 3);

	for (uint32_t i = 0; i < count; i++) {
		struct program program = program_start(maker);
		uint32_t form = maker_below(maker, 10);

		if (form < 3)
			add_outcome_test(&program);
		else
			add_choice_test(&program);
		if (form == 9)
			add_op(&program, PREDICATE_NOT);
		if (form == 8) {
			add_choice_test(&program);
			add_op(&program, PREDICATE_OR);
		}
		program.predicate.source = i;
		requirement[i] = program.predicate;
	}
	maker->problem->requirement = requirement;
	maker->problem->requirement_count = count;
}

/* A sum of variables; a weight of 0 leaves the number out. */
static struct predicate make_objective(struct maker *maker,
				       enum plan_variable first, double weight,
				       enum plan_variable second)
{
	struct program program = program_start(maker);

	add_variable(&program, first);
	if (weight != 0) {
		add_number(&program, weight);
		add_variable(&program, second);
		add_op(&program, PREDICATE_MULTIPLY);
		add_op(&program, PREDICATE_ADD);
	}
	return program.predicate;
}

void maker_objectives(struct maker *maker)
{
	struct predicate *objective =
		ARENA_ARRAY(maker->arena, struct predicate, 2);
	uint32_t count = 1;

	switch (maker_below(maker, 16)) {
	case 0:
		objective[0] = make_objective(maker, VARIABLE_TIME, 0, 0);
		break;
	case 1:
		objective[0] = make_objective(maker, VARIABLE_COST, 0, 0);
		objective[1] = make_objective(maker, VARIABLE_TIME, 0, 0);
		count = 2;
		break;
	case 2:
		objective[0] = make_objective(maker, VARIABLE_DEVICES, 0, 0);
		objective[1] = make_objective(maker, VARIABLE_TIME, 0, 0);
		count = 2;
		break;
	case 3:
		objective[0] = make_objective(maker, VARIABLE_TIME, 0.5,
					      VARIABLE_DEVICES);
		break;
	case 4:
		objective[0] = make_objective(maker, VARIABLE_ENERGY, 2,
					      VARIABLE_PIPELINE);
		break;
	case 5:
		objective[0] = make_objective(maker, VARIABLE_TIME, 0, 0);
		objective[1] = make_objective(maker, VARIABLE_MEMORY, 0, 0);
		count = 2;
		break;
	case 6:
		objective[0] = make_objective(maker, VARIABLE_PIPELINE, 0, 0);
		objective[1] = make_objective(maker, VARIABLE_ENERGY, 0, 0);
		count = 2;
		break;
	case 7:
		objective[0] = make_objective(maker, VARIABLE_MEMORY, 0, 0);
		objective[1] = make_objective(maker, VARIABLE_TIME, 0, 0);
		count = 2;
		break;
	case 8:
		objective[0] = make_objective(maker, VARIABLE_TIME, 0x1p-10,
					      VARIABLE_MEMORY);
		break;
	default:
		count = 0;
	}
	maker->problem->objective = objective;
	maker->problem->objective_count = count;
}
