/* SPDX-License-Identifier: MIT
 *
 * Requirements against the same condition written in C, for every plan of a
 * small grid; the memory limit; kinds and dimensions that do not fit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/lower_spec.h"

#define REQUIRE(text) "model = llama2_7b require { " text " }"

/* One plan of the grid. */
struct point {
	int tensor, pipeline, sequence, recompute, first, second;
	double time, memory;
};

static struct predicate_input input_of(const struct point *point,
				       const uint32_t stage_layers[2])
{
	struct predicate_input input = { .stage_layers = stage_layers,
					 .stage_count = 2 };

	input.value[VARIABLE_TENSOR] = point->tensor;
	input.value[VARIABLE_PIPELINE] = point->pipeline;
	input.value[VARIABLE_SEQUENCE] = point->sequence;
	input.value[VARIABLE_RECOMPUTE] = point->recompute;
	input.value[VARIABLE_MICRO_BATCHES] = point->tensor + point->pipeline;
	input.value[VARIABLE_TIME] = point->time;
	input.value[VARIABLE_MEMORY] = point->memory;
	input.value[VARIABLE_STAGES_UNIFORM] = point->first == point->second;
	return input;
}

static bool all_hold(const struct ir_job *job, const struct point *point)
{
	const uint32_t stage_layers[2] = { (uint32_t)point->first,
					   (uint32_t)point->second };
	struct predicate_input input = input_of(point, stage_layers);

	for (uint32_t i = 0; i < job->requirement_count; i++)
		if (!(predicate_evaluate(&job->requirement[i].predicate,
					 &input) != 0))
			return false;
	return true;
}

static void compare(const char *items, bool (*wanted)(const struct point *))
{
	struct spec spec;
	struct point p;

	spec_good(&spec, "let four = 4\nfn twice(x) = 2 * x", items);
	for (p.tensor = 1; p.tensor <= 9; p.tensor++)
	for (p.pipeline = 1; p.pipeline <= 6; p.pipeline++)
	for (p.sequence = 0; p.sequence < 2; p.sequence++)
	for (p.recompute = 0; p.recompute < 3; p.recompute++)
	for (p.first = 1; p.first < 4; p.first++)
	for (p.second = 1; p.second < 4; p.second++) {
		p.time = p.tensor * 0.75;
		p.memory = p.pipeline * 10e9;
		if (all_hold(&spec.ir->job, &p) == wanted(&p))
			continue;
		fail_msg("%s differs at tensor %d pipeline %d sequence %d "
			 "recompute %d stages %d %d", items, p.tensor, p.pipeline,
			 p.sequence, p.recompute, p.first, p.second);
	}
	spec_release(&spec);
}

static bool always(const struct point *p)
{
	(void)p;
	return true;
}

static bool tensor_at_most_8(const struct point *p)
{
	return p->tensor <= 8;
}

static bool arithmetic(const struct point *p)
{
	return (p->tensor * p->pipeline - 3) % 4 == 1 ||
	       -p->tensor + p->pipeline > 2 || p->tensor * p->tensor == 49;
}

static bool sequence_when_tensor(const struct point *p)
{
	return !(p->tensor > 1) || p->sequence;
}

static bool recompute_full(const struct point *p)
{
	return p->recompute == 2;
}

static bool recompute_some(const struct point *p)
{
	return p->recompute >= 1;
}

static bool tensor_1_2_4(const struct point *p)
{
	return p->tensor == 1 || p->tensor == 2 || p->tensor == 4;
}

static bool tensor_odd_to_7(const struct point *p)
{
	return p->tensor >= 3 && p->tensor <= 7 && p->tensor % 2;
}

static bool half_is_whole(const struct point *p)
{
	return p->tensor % 2 == 0 && p->tensor / 2 >= 1 && p->tensor / 2 <= 3;
}

static bool stages(const struct point *p)
{
	return p->first < p->second;
}

static bool uniform(const struct point *p)
{
	return p->first == p->second && p->tensor * p->pipeline <= 12;
}

static bool time_below_3s(const struct point *p)
{
	return p->tensor * 0.75 < 3;
}

static bool smaller(const struct point *p)
{
	int least = p->tensor < p->pipeline ? p->tensor : p->pipeline;
	int most = p->tensor > 2 ? p->tensor : 2;

	return least == 3 || most == 2;
}

static bool rounded(const struct point *p)
{
	int down = p->tensor / 3, up = (p->tensor + 2) / 3;

	/* (tensor - 9) / 2 is not positive: rounding up goes towards 0. */
	return down == 1 || up == 3 || (9 - p->tensor) / 2 == 4;
}

static bool chosen(const struct point *p)
{
	return (p->sequence ? p->tensor : p->pipeline) == 4;
}

static bool chosen_truth(const struct point *p)
{
	return p->tensor > 4 ? p->sequence : p->recompute == 0;
}

static bool either_but_not_both(const struct point *p)
{
	return (p->tensor == 8) != (p->pipeline == 2);
}

static bool divided(const struct point *p)
{
	return p->tensor != 4 && 8.0 / (p->tensor - 4) <= 2;
}

static void requirements_mean_what_they_say(void **state)
{
	static const struct {
		const char *items;
		bool (*wanted)(const struct point *);
	} cases[] = {
		{ REQUIRE("tensor <= 8"), tensor_at_most_8 },
		{ REQUIRE("8 >= tensor"), tensor_at_most_8 },
		{ REQUIRE("tensor <= twice(four)"), tensor_at_most_8 },
		{ REQUIRE("tensor <= topology.node.fanout"), tensor_at_most_8 },
		{ REQUIRE("not tensor > 8"), tensor_at_most_8 },
		{ REQUIRE("1 + 1 == 2"), always },
		{ REQUIRE("tensor >= 1 and true"), always },
		{ REQUIRE("model.layers == 32 and device.memory > 79GiB"), always },
		{ REQUIRE("(tensor * pipeline - 3) % four == 1 or "
			  "0 - tensor + pipeline > 2 or tensor ^ 2 == 49"), arithmetic },
		{ REQUIRE("require sequence when tensor > 1"),
		  sequence_when_tensor },
		{ REQUIRE("require sequence == on when tensor > 1 else \"why\""),
		  sequence_when_tensor },
		{ REQUIRE("require on == sequence when tensor > 1 and four == 4"),
		  sequence_when_tensor },
		{ REQUIRE("tensor == 1 or sequence != off"), sequence_when_tensor },
		{ REQUIRE("require tensor > 9 when four == 5"), always },
		{ REQUIRE("require tensor <= 8 when four == 4"), tensor_at_most_8 },
		{ REQUIRE("recompute == full"), recompute_full },
		{ REQUIRE("full == recompute"), recompute_full },
		{ REQUIRE("recompute in { full }"), recompute_full },
		{ REQUIRE("recompute in { selective, full }"), recompute_some },
		{ REQUIRE("recompute != none"), recompute_some },
		{ REQUIRE("tensor in { 1, 2, four }"), tensor_1_2_4 },
		{ REQUIRE("not (tensor in { 3, 5 .. 9 })"), tensor_1_2_4 },
		{ REQUIRE("tensor in 3 .. 8 step 2"), tensor_odd_to_7 },
		{ REQUIRE("tensor / 2 in 1 .. 3"), half_is_whole },
		{ REQUIRE("stage[0].layers < stage[1].layers"), stages },
		{ "let world = tensor * pipeline "
		  REQUIRE("stages.uniform and world <= 12"), uniform },
		{ REQUIRE("time < 3s"), time_below_3s },
		{ "let limit = 3000ms " REQUIRE("time < limit"), time_below_3s },
		{ REQUIRE("time / 3s < 1"), time_below_3s },
		{ REQUIRE("min(tensor, pipeline) == 3 or max(tensor, 2) == 2"),
		  smaller },
		{ REQUIRE("floor(tensor / 3) == 1 or ceil(tensor / 3) == 3 or "
			  "ceil((tensor - 9) / 2) == 0 - 4"), rounded },
		{ REQUIRE("(if sequence then tensor else pipeline) == 4"), chosen },
		{ REQUIRE("if tensor > 4 then sequence else recompute == none"),
		  chosen_truth },
		{ REQUIRE("(tensor == 8) != (pipeline == 2)"), either_but_not_both },
		{ REQUIRE("8 / (tensor - 4) <= 2"), divided },
		{ "model = llama2_7b require tensor <= 8", tensor_at_most_8 },
		{ "model = llama2_7b require { } require { tensor <= 8 }",
		  tensor_at_most_8 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		compare(cases[i].items, cases[i].wanted);
}

/* micro_batches is no choice of the solver: its domain is a requirement. */
static bool five_or_seven(const struct point *p)
{
	return p->tensor + p->pipeline == 5 || p->tensor + p->pipeline == 7;
}

static void a_domain_of_micro_batches(void **state)
{
	(void)state;
	compare("model = llama2_7b search { micro_batches in { 7, 5 } }",
		five_or_seven);
}

static void conjuncts_are_apart(void **state)
{
	struct spec spec;

	(void)state;
	spec_good(&spec, "", REQUIRE("tensor <= 8 and (pipeline <= 4 and time < 9s)"));
	assert_int_equal(spec.ir->job.requirement_count, 3);
	assert_false(spec.ir->job.requirement[0].predicate.needs_outcome);
	assert_true(spec.ir->job.requirement[2].predicate.needs_outcome);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(spec.ir->job.requirement[i].predicate.source, i);
	spec_release(&spec);
}

static void reasons_are_kept(void **state)
{
	struct spec spec;

	(void)state;
	spec_good(&spec, "", REQUIRE("require tensor <= 8 else \"one node\""));
	assert_string_equal(spec.ir->job.requirement[0].reason, "one node");
	spec_release(&spec);
}

/* ---- memory ---- */

static void memory_limits(void **state)
{
	static const double whole = 80.0 * 1024 * 1024 * 1024;
	static const struct {
		const char *items;
		double limit;
		uint32_t requirements;
	} cases[] = {
		{ REQUIRE("tensor <= 8"), 80.0 * 1024 * 1024 * 1024, 1 },
		{ REQUIRE("memory <= 60GB"), 60e9, 0 },
		{ REQUIRE("60GB >= memory"), 60e9, 0 },
		{ REQUIRE("memory < 60GB"), 60e9, 1 },
		{ REQUIRE("memory <= 50% * device.memory and tensor <= 8"),
		  40.0 * 1024 * 1024 * 1024, 1 },
		{ REQUIRE("memory <= 60GB memory <= 50GB memory <= 70GB"), 50e9, 0 },
		{ REQUIRE("memory <= 1TB"), 80.0 * 1024 * 1024 * 1024, 0 },
		{ REQUIRE("memory <= 60GB or tensor == 8"),
		  80.0 * 1024 * 1024 * 1024, 1 },
		{ REQUIRE("memory <= tensor * 10GB"), 80.0 * 1024 * 1024 * 1024, 1 },
		{ REQUIRE("memory >= 10GB"), 80.0 * 1024 * 1024 * 1024, 1 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct spec spec;

		spec_good(&spec, "", cases[i].items);
		assert_true(spec.ir->topology.device.memory_bytes == whole);
		assert_true(spec.ir->job.memory_limit_bytes == cases[i].limit);
		assert_int_equal(spec.ir->job.requirement_count,
				 cases[i].requirements);
		spec_release(&spec);
	}
}

/* ---- what is refused ---- */

static void wrong_requirements(void **state)
{
	static const struct wrong_spec wrong[] = {
		{ "", REQUIRE("tensor + 1"), E_REQUIREMENT_TYPE },
		{ "", REQUIRE("tensor and sequence"), E_REQUIREMENT_TYPE },
		{ "", REQUIRE("recompute == 2"), E_REQUIREMENT_TYPE },
		{ "", REQUIRE("recompute == bf16"), E_REQUIREMENT_TYPE },
		{ "", REQUIRE("recompute > none"), E_REQUIREMENT_TYPE },
		{ "", REQUIRE("sequence == full"), E_REQUIREMENT_TYPE },
		{ "", REQUIRE("sequence + 1 == 2"), E_REQUIREMENT_TYPE },
		{ "", REQUIRE("tensor in { \"a\" }"), E_REQUIREMENT_TYPE },
		{ "", REQUIRE("tensor in 8"), E_REQUIREMENT_TYPE },
		{ "", REQUIRE("tensor == device"), E_REQUIREMENT_TYPE },
		{ "", REQUIRE("memory <= 80"), E_NEEDS_UNIT },
		{ "", REQUIRE("memory <= 3s"), E_DIMENSION },
		{ "", REQUIRE("tensor <= 3s"), E_DIMENSION },
		{ "", REQUIRE("time + memory > 0"), E_DIMENSION },
		{ "", REQUIRE("memory <= 0"), E_REQUIREMENT_FALSE },
		{ "", REQUIRE("1 == 2"), E_REQUIREMENT_FALSE },
		{ "", REQUIRE("tensor in { }"), E_REQUIREMENT_FALSE },
		{ "", REQUIRE("stage == 3"), E_REQUIREMENT_FORM },
		{ "", REQUIRE("stages"), E_REQUIREMENT_FORM },
		{ "", REQUIRE("stage[0].memory < 3GB"), E_REQUIREMENT_FORM },
		{ "", REQUIRE("stage[tensor].layers < 3"), E_REQUIREMENT_FORM },
		{ "", REQUIRE("log2(tensor) == 3"), E_REQUIREMENT_FORM },
		{ "", REQUIRE("tensor in { 1, pipeline }"), E_REQUIREMENT_FORM },
		{ "", REQUIRE("tensor in { 1, 2 } or nonsense"), E_UNKNOWN_NAME },
		{ "", REQUIRE("schedule < gpipe"), E_REQUIREMENT_TYPE },
		{ "", REQUIRE("schedule == full"), E_REQUIREMENT_TYPE },
		{ "", "model = llama2_7b let tensor = 3", E_JOB_TWICE },
		/* Each `in` repeats what stands before it. */
		{ "", REQUIRE("(tensor + 0) in 1 .. 3 or "
			      "min(min(min(min(min(min(min(min(min(min(tensor, 1), 1), "
			      "1), 1), 1), 1), 1), 1), 1), 1) == 1"),
		  E_REQUIREMENT_SIZE },
	};

	(void)state;
	check_wrong(wrong, COUNT(wrong));
}

/* A sum bracketed to the right needs a number on the stack for each term. */
static void a_deep_requirement(void **state)
{
	char items[1024] = "model = llama2_7b require { ";
	struct spec spec;

	(void)state;
	for (int i = 0; i < 64; i++)
		strcat(items, "tensor+(");
	strcat(items, "1");
	for (int i = 0; i < 64; i++)
		strcat(items, ")");
	strcat(items, " > 0 }");
	spec_build(&spec, "", items);
	assert_null(spec.ir);
	assert_int_equal(spec_error(&spec), E_REQUIREMENT_SIZE);
	spec_release(&spec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requirements_mean_what_they_say),
		cmocka_unit_test(a_domain_of_micro_batches),
		cmocka_unit_test(conjuncts_are_apart),
		cmocka_unit_test(reasons_are_kept),
		cmocka_unit_test(memory_limits),
		cmocka_unit_test(wrong_requirements),
		cmocka_unit_test(a_deep_requirement),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
