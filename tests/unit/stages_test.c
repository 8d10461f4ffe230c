/* SPDX-License-Identifier: MIT
 *
 * Stages by dynamic programming against every cut of short chains, and long
 * chains, which are cut between groups.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "solver/stages.h"

#define LENGTH_MAX 8

struct sample {
	double time_s[LENGTH_MAX + 1], transfer_s[LENGTH_MAX + 1];
	double held_bytes[LENGTH_MAX + 1], kept_bytes[LENGTH_MAX + 1];
	struct stages_input input;
};

static double unit(unsigned short state[3])
{
	return erand48(state);
}

static void make_sample(struct sample *sample, uint32_t seed)
{
	unsigned short state[3] = { 1, (unsigned short)seed, 7 };

	*sample = (struct sample){ .input.length = 1 + seed % LENGTH_MAX };
	for (uint32_t i = 0; i < sample->input.length; i++) {
		sample->time_s[i + 1] = sample->time_s[i] + unit(state);
		sample->transfer_s[i + 1] = unit(state) / 4;
		sample->held_bytes[i + 1] = sample->held_bytes[i] + unit(state);
		sample->kept_bytes[i + 1] = sample->kept_bytes[i] + unit(state) / 3;
	}
	sample->input.time_s = sample->time_s;
	sample->input.transfer_s = sample->transfer_s;
	sample->input.held_bytes = seed % 3 ? sample->held_bytes : NULL;
	sample->input.kept_bytes = sample->kept_bytes;
	sample->input.limit_bytes = 1 + 3 * unit(state);
	sample->input.micro_batches = 1 + seed % 5;
}

/* What one cut comes to; infinite where a stage does not fit. */
static void price_cut(const struct sample *sample, const uint32_t *first,
		      uint32_t count, double *slowest, double *sum)
{
	const struct stages_input *input = &sample->input;

	*slowest = *sum = 0;
	for (uint32_t k = 0; k < count; k++) {
		uint32_t a = first[k], b = first[k + 1], left = count - k;
		double time = input->time_s[b] - input->time_s[a] +
			      (a ? input->transfer_s[a] : 0) +
			      (b < input->length ? input->transfer_s[b] : 0);
		double flight = left < input->micro_batches ? left :
							     input->micro_batches;

		if (input->held_bytes &&
		    input->held_bytes[b] - input->held_bytes[a] +
		    flight * (input->kept_bytes[b] - input->kept_bytes[a]) >
		    input->limit_bytes)
			time = INFINITY;
		*slowest = fmax(*slowest, time);
		*sum += time;
	}
}

/* Every cut into `count`: the least slowest stage, and the least sum of those
 * no slower than limit. */
static void enumerate(const struct sample *sample, uint32_t count, double limit,
		      double *slowest, double *sum)
{
	uint32_t length = sample->input.length;

	*slowest = *sum = INFINITY;
	for (uint32_t bits = 0; bits < 1u << (length - 1); bits++) {
		uint32_t first[LENGTH_MAX + 1] = { 0 }, n = 1;
		double most, all;

		for (uint32_t i = 0; i + 1 < length; i++)
			if (bits >> i & 1)
				first[n++] = i + 1;
		first[n] = length;
		if (n != count)
			continue;
		price_cut(sample, first, count, &most, &all);
		*slowest = fmin(*slowest, most);
		if (most <= limit)
			*sum = fmin(*sum, all);
	}
}

static void assert_close(double a, double b)
{
	if (isinf(a) || isinf(b))
		assert_true(isinf(a) && isinf(b));
	else
		assert_true(fabs(a - b) <= 1e-12 * (1 + fabs(b)));
}

static void cuts_equal_enumeration(void **state)
{
	(void)state;
	for (uint32_t seed = 1; seed <= 400; seed++) {
		struct stages stages;
		struct sample sample;
		struct arena arena;

		make_sample(&sample, seed);
		arena_init(&arena);
		stages_fill(&stages, &sample.input, sample.input.length, &arena);
		for (uint32_t count = 1; count <= sample.input.length; count++) {
			uint32_t first[LENGTH_MAX + 1];
			double slowest, sum, most, all, limit;

			enumerate(&sample, count, INFINITY, &slowest, &sum);
			assert_close(stages_slowest(&stages, count), slowest);
			if (isinf(slowest))
				continue;
			stages_cut(&stages, count, first);
			price_cut(&sample, first, count, &most, &all);
			assert_close(most, slowest);
			limit = slowest * (1 + (seed % 4) / 8.0) + 1e-9;
			enumerate(&sample, count, limit, &slowest, &sum);
			assert_close(stages_least_sum(&stages, count, limit, &arena,
						      first, &most), sum);
			price_cut(&sample, first, count, &slowest, &all);
			assert_close(all, sum);
			assert_close(most, slowest);
		}
		arena_release(&arena);
	}
}

/* 1,000 equal layers: 500 positions of two layers each; 8 stages of 124 or 126
 * layers, the slowest with 126. */
static void long_chains_are_grouped(void **state)
{
	static double time_s[1001], transfer_s[1001];
	struct stages_input input = { .length = 1000, .time_s = time_s,
				      .transfer_s = transfer_s };
	uint32_t first[9];
	struct stages stages;
	struct arena arena;

	(void)state;
	for (int i = 0; i <= 1000; i++)
		time_s[i] = i;
	arena_init(&arena);
	stages_fill(&stages, &input, 8, &arena);
	assert_int_equal(stages.positions, 500);
	assert_close(stages_slowest(&stages, 8), 126);
	stages_cut(&stages, 8, first);
	assert_int_equal(first[0], 0);
	assert_int_equal(first[8], 1000);
	for (int k = 0; k < 8; k++)
		assert_true(first[k + 1] - first[k] <= 126 && first[k] % 2 == 0);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cuts_equal_enumeration),
		cmocka_unit_test(long_chains_are_grouped),
	};

	return cmocka_run_group_tests_name("stages", tests, NULL, NULL);
}
