/* SPDX-License-Identifier: MIT
 *
 * Predicates over ranges against predicates over numbers.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "solver/range.h"
#include "tests/prop/random_problem.h"
#include "tests/prop/trial.h"

#define PROGRAM_MAX 24

/* A random program: its steps, and how many. */
static uint32_t random_program(struct random *random,
			       struct predicate_step *step)
{
	static const double numbers[] = { 0, 1, 2, 0.5, -1, 3 };
	uint32_t depth = 0, count = 0;

	while (count < PROGRAM_MAX - 8 || depth > 1) {
		struct predicate_step *next = &step[count++];

		memset(next, 0, sizeof(*next));
		if (depth >= 2 && (count > PROGRAM_MAX - 8 ||
				   random_chance(random, 0.5))) {
			next->op = (enum predicate_op)(PREDICATE_ADD +
				random_below(random, 13));
			depth--;
		} else if (depth >= 1 && random_chance(random, 0.25)) {
			next->op = random_chance(random, 0.5) ?
				   PREDICATE_NOT : PREDICATE_NEGATE;
		} else if (random_chance(random, 0.3)) {
			next->op = PREDICATE_CONSTANT;
			next->number = numbers[random_below(random, 6)];
			depth++;
		} else {
			next->op = PREDICATE_VARIABLE;
			next->variable = (enum plan_variable)
				random_below(random, VARIABLE_COUNT);
			next->index = random_below(random, 3);
			depth++;
		}
		if (depth == 1 && random_chance(random, 0.1))
			break;
	}
	return count;
}

static struct range random_range(struct random *random)
{
	double low = random_below(random, 4);

	if (random_chance(random, 0.4))
		return range_point(low);
	if (random_chance(random, 0.2))
		return range_between(low, INFINITY);
	return range_between(low, low + random_unit(random) * 3);
}

static double point_in(struct random *random, struct range range)
{
	double high = isinf(range.high) ? range.low + 50 : range.high;

	if (random_chance(random, 0.3))
		return range.low;
	if (random_chance(random, 0.3))
		return high;
	return fmin(high, range.low + random_unit(random) * (high - range.low));
}

/* Whatever the variables are, the result lies in the range promised. */
static void test_range(void **state)
{
	uint64_t first = number_from("PROP_SEED", 1);
	uint64_t count = 8 * number_from("PROP_COUNT", COUNT_DEFAULT);

	(void)state;
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct random random = { seed };
		struct predicate_step step[PROGRAM_MAX + 8];
		struct predicate program = { .step = step,
					     .needs_outcome = true };
		struct range layers[3], promised;
		struct range_input input = { .stage_layers = layers };

		program.step_count = random_program(&random, step);
		assert_true(predicate_is_valid(&program));
		for (int i = 0; i < VARIABLE_COUNT; i++)
			input.value[i] = random_range(&random);
		for (int i = 0; i < 3; i++)
			layers[i] = random_range(&random);
		input.stages_known = random_chance(&random, 0.7);
		input.stage_count = 1 + random_below(&random, 3);
		promised = range_evaluate(&program, &input);
		for (int again = 0; again < 8; again++) {
			uint32_t held[3];
			struct predicate_input point = {
				.stage_layers = held,
				.stage_count = input.stage_count,
			};
			double result;

			for (int i = 0; i < VARIABLE_COUNT; i++)
				point.value[i] = point_in(&random,
							  input.value[i]);
			for (int i = 0; i < 3; i++) {
				held[i] = (uint32_t)layers[i].low;
			}
			result = predicate_evaluate(&program, &point);
			if (isnan(result) ? !promised.may_nan :
			    result < promised.low || result > promised.high)
				fail_msg("seed %llu: %.17g outside %.17g .. "
					 "%.17g", (unsigned long long)seed,
					 result, promised.low, promised.high);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_range),
	};

	return cmocka_run_group_tests_name("ranges", tests, NULL, NULL);
}
