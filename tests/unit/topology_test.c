/* SPDX-License-Identifier: MIT
 *
 * Levels of topologies as they are lowered: kinds, tori, NICs, rails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/lower_spec.h"

#define LEVEL(fields) "level a { bandwidth = 60GB/s latency = 1us " fields " } "

/* A job on a topology of these levels. */
static void topology_build(struct spec *spec, const char *levels)
{
	static const char *const before =
		"nest 1\nimport std.device.h100\nimport std.model.llama2\n"
		"job j { model = llama2_7b topology = t global_batch = 8 }\n"
		"topology t { device = h100_sxm ";
	size_t size = strlen(before) + strlen(levels) + 4;
	char *text = malloc(size);

	assert_non_null(text);
	snprintf(text, size, "%s%s }\n", before, levels);
	spec_lower(spec, text);
	free(text);
}

static const struct ir_topology *topology_good(struct spec *spec,
					       const char *levels)
{
	topology_build(spec, levels);
	if (!spec->ir) {
		spec_show(spec);
		fail_msg("these levels should be right: %s", levels);
	}
	return &spec->ir->topology;
}

/* One ring per dimension over its share of the links; dimensions of one are
 * none. */
static void torus_is_rings(void **state)
{
	const struct ir_topology *topology;
	struct spec spec;

	(void)state;
	topology = topology_good(&spec, LEVEL("torus = [4, 2, 1, 16]")
				 "level pod { fanout = 3 bandwidth = 5GB/s latency = 9us }");
	assert_int_equal(topology->level_count, 4);
	assert_int_equal(topology->device_count, 384);
	assert_string_equal(topology->level[0].name, "a.x");
	assert_string_equal(topology->level[1].name, "a.y");
	assert_string_equal(topology->level[2].name, "a");
	for (int i = 0; i < 3; i++) {
		const struct problem_level *ring = &topology->level[i].network;

		assert_int_equal(ring->kind, LEVEL_RING);
		assert_true(ring->wrap);
		assert_true(ring->joined == (i > 0));
		assert_true(ring->bandwidth_Bps == 20e9);
		assert_true(ring->latency_s == 1e-6);
	}
	assert_int_equal(topology->level[2].network.fanout, 16);
	assert_int_equal(topology->level[3].network.kind, LEVEL_SWITCH);
	spec_release(&spec);
}

static void kinds(void **state)
{
	const struct problem_level *level;
	struct spec spec;

	(void)state;
	level = &topology_good(&spec, LEVEL("fanout = 8 kind = full"))
			 ->level[0].network;
	assert_int_equal(level->kind, LEVEL_FULL);
	assert_false(level->wrap);
	spec_release(&spec);
	level = &topology_good(&spec, LEVEL("fanout = 8 kind = ring wrap = false"))
			 ->level[0].network;
	assert_int_equal(level->kind, LEVEL_RING);
	assert_false(level->wrap);
	spec_release(&spec);
	level = &topology_good(&spec, LEVEL("torus = [8]"))
			 ->level[0].network;
	assert_int_equal(level->kind, LEVEL_RING);
	assert_true(level->wrap);
	assert_true(level->bandwidth_Bps == 60e9);
	spec_release(&spec);
}

static void numbers(void **state)
{
	const struct problem_level *level;
	struct spec spec;

	(void)state;
	level = &topology_good(&spec, LEVEL("fanout = 8 overhead = 9us "
					    "in_network_reduction = true "
					    "reduction_efficiency = 60%")
			       "level b { fanout = 4 bandwidth = 50GB/s latency = 5us "
			       "nics = 4 rails = 8 }")->level[0].network;
	assert_true(level->overhead_s == 9e-6);
	assert_true(level->in_network_reduction);
	assert_true(level->reduction_efficiency == 0.6);
	level = &spec.ir->topology.level[1].network;
	assert_int_equal(level->nics, 4);
	assert_int_equal(level->rails, 8);
	assert_true(level->overhead_s == 0);
	spec_release(&spec);
}

static void wrong_levels(void **state)
{
	static const struct {
		const char *levels;
		enum diag_code code;
	} wrong[] = {
		{ LEVEL("torus = 4"), E_LEVEL_VALUE },
		{ LEVEL("torus = [4, 0]"), E_LEVEL_VALUE },
		{ LEVEL("torus = [4, 2.5]"), E_LEVEL_VALUE },
		{ LEVEL("torus = [2, 2, 2, 2, 2, 2, 2, 2, 2]"), E_LEVEL_VALUE },
		{ LEVEL("torus = [2, 2, 2, 2, 2, 2, 2, 2]")
		  "level b { fanout = 2 bandwidth = 1GB/s latency = 0 }", E_LEVEL_COUNT },
		{ LEVEL("torus = [1024, 1024, 1024]"), E_DEVICE_COUNT },
		{ LEVEL("torus = [4, 4] fanout = 8"), E_LEVEL_VALUE },
		{ LEVEL("torus = [4, 4] kind = switch"), E_LEVEL_VALUE },
		{ LEVEL("fanout = 8 kind = torus"), E_LEVEL_VALUE },
		{ LEVEL("fanout = 8 kind = 3"), E_LEVEL_VALUE },
		{ LEVEL("fanout = 8 wrap = true"), E_LEVEL_FIELD },
		{ LEVEL("fanout = 8 kind = ring in_network_reduction = true"),
		  E_LEVEL_FIELD },
		{ LEVEL("fanout = 8 nics = 4"), E_LEVEL_FIELD },
		{ LEVEL("fanout = 8 rails = 4"), E_LEVEL_FIELD },
		{ LEVEL("fanout = 8") "level b { fanout = 2 bandwidth = 1GB/s latency = 0 "
		  "nics = 0 }", E_LEVEL_VALUE },
		{ LEVEL("fanout = 8 overhead = 9"), E_NEEDS_UNIT },
		{ LEVEL("fanout = 8 reduction_efficiency = 110%"), E_LEVEL_VALUE },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct spec spec;

		topology_build(&spec, wrong[i].levels);
		if (spec.ir || spec_error(&spec) != wrong[i].code) {
			spec_show(&spec);
			fail_msg("expected %s of: %s",
				 diag_code_name(wrong[i].code), wrong[i].levels);
		}
		spec_release(&spec);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(torus_is_rings),
		cmocka_unit_test(kinds),
		cmocka_unit_test(numbers),
		cmocka_unit_test(wrong_levels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
