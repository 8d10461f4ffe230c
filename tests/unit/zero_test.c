/* SPDX-License-Identifier: MIT
 *
 * What ZeRO keeps and sends, against the tables and the analysis of Rajbhandari et al.
 * 2020, "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models"
 * (arXiv 1910.02054), sections 5 and 7.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "solver/layer.h"
#include "solver/placement.h"
#include "solver/share.h"
#include "tests/unit/fixture.h"

/* Two bytes of a weight, two of its gradient, K = 12 of Adam's states; a network of n devices
 * of 1 B/s without latency. A layer of 100 weights of a byte each way. */
struct replicas {
	struct problem_run run;
	struct problem_shape shape;
	struct problem_cost cost[RECOMPUTE_COUNT];
	struct problem_weight weight;
	struct problem problem;
	struct choice choice;
};

static const bool is_block[] = { true };

static void replicas_init(struct replicas *replicas, uint32_t n)
{
	*replicas = (struct replicas){
		.run = { 0, 1 },
		.shape = { 1, 1, 1, 1, false, 1 },
		.weight = { .parameters = 100 },
		.choice = { .data = n, .pipeline = 1, .virtual_stages = 1,
			    .micro_batches = 1 },
	};
	replicas->problem = (struct problem){
		.run = &replicas->run, .run_count = 1, .class_count = 1,
		.class_is_block = is_block, .tied_class = CLASS_NONE,
		.tied_with_class = CLASS_NONE, .shape = &replicas->shape,
		.shape_count = 1, .cost = replicas->cost,
		.weight = &replicas->weight,
		.level = { { .fanout = n, .bandwidth_Bps = 1, .efficiency = 1,
			     .oversubscription = 1 } },
		.level_count = 1, .device_count = n, .global_batch = n,
		.memory = { .weight_bytes = 2, .gradient_bytes = 2,
			    .optimizer_bytes = 12 },
		.sync = { .reduce_bytes = 1, .gather_bytes = 1 },
	};
}

/* Table 1 and figure 1: GB of a device for 7.5, 128 and 1,000 billion parameters on so many
 * replicas, where they share states, gradients, weights: (4 + 12/n), (2 + 14/n),
 * 16/n bytes of each. Figure 1 (7.5 on 64) is quoted in many places; the other rows of the
 * table are from memory; each is what the formula gives, as many digits as are printed. */
static void memory(void **state)
{
	static const struct {
		double billions;
		uint32_t replicas;
		double gigabytes[4];
	} published[] = {
		{ 7.5, 4, { 120, 52.5, 41.3, 30 } },
		{ 7.5, 16, { 120, 35.6, 21.6, 7.5 } },
		{ 7.5, 64, { 120, 31.4, 16.6, 1.88 } },
		{ 7.5, 1024, { 120, 30.1, 15.1, 0.12 } },
		{ 128, 64, { 2048, 536, 284, 32 } },
		{ 1000, 1024, { 16000, 4011, 2013, 15.6 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(published) / sizeof(*published); i++) {
		struct replicas replicas;

		replicas_init(&replicas, published[i].replicas);
		for (uint32_t zero = 0; zero < 4; zero++) {
			double expected = published[i].gigabytes[zero], actual;

			replicas.choice.zero = zero;
			actual = published[i].billions *
				 share_of(&replicas.problem, &replicas.choice, NULL)
					 .parameter_bytes;
			/* As many digits as are printed. */
			assert_true(fabs(actual - expected) <=
				    fmax(0.003 * expected, 0.005));
		}
	}
}

/* Section 7: data parallelism sends twice the parameters, sharing states and gradients as
 * much, sharing weights too half as much again. Of n devices each sends (n - 1)/n. */
static void volume(void **state)
{
	struct arena arena;

	(void)state;
	arena_init(&arena);
	for (uint32_t n = 2; n <= 64; n *= 2) {
		double one = 100 * (n - 1.0) / n;
		struct placed placed = { .placement.factor[0][0] = 1 };
		struct layer_setting setting = { .zero = 3 };
		struct replicas replicas;
		struct sharding sharding;
		struct layer_time time;

		replicas_init(&replicas, n);
		for (int d = 0; d < DIMENSION_COUNT; d++)
			for (int l = 0; l < LEVEL_MAX; l++)
				placed.placement.factor[d][l] = 1;
		placed.placement.factor[DIMENSION_DATA][0] = n;
		placement_price(&replicas.problem, &replicas.shape, &arena,
				&placed);
		sharding = sharding_of(&replicas.problem, &placed.placement,
				       &replicas.shape, placed.group, 0);
		assert_number(shard_reduce_s(&sharding, 0, 100, 0), 2 * one);
		assert_number(shard_reduce_s(&sharding, 1, 100, 0) +
				      shard_gather_s(&sharding, 1, 100, 0),
			      2 * one);
		setting.problem = &replicas.problem;
		setting.group = placed.group;
		setting.sharding = &sharding;
		time = layer_time(&setting, 0);
		assert_number(time.forward_s + time.backward_s, 3 * one);
		/* Gradients alone are scattered by the layer, weights gathered once. */
		setting.zero = 2;
		time = layer_time(&setting, 0);
		assert_number(time.forward_s + time.backward_s +
				      shard_gather_s(&sharding, 2, 100, 0),
			      2 * one);
	}
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory),
		cmocka_unit_test(volume),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
