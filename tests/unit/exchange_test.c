/* SPDX-License-Identifier: MIT
 *
 * Places that a token of several experts is sent to, by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "solver/exchange.h"
#include "solver/network.h"
#include "tests/unit/fixture.h"

static double share(double copies, double experts, double groups, double chosen,
		    double places)
{
	struct problem_exchange exchange = { copies, experts, groups, chosen };

	return exchange_share(&exchange, places);
}

/* Two of four experts over two places of two: both lie in one place with 2 of the 6
 * pairs, so that 4/6 x 2 + 2/6 x 1 = 5/3 places are met, of 2 copies. */
static void anywhere(void **state)
{
	(void)state;
	assert_number(share(2, 4, 1, 1, 2), 5.0 / 3 / 2);
	/* An expert a place: every copy goes elsewhere. */
	assert_number(share(2, 4, 1, 1, 4), 1);
	/* One place has all of them. */
	assert_number(share(8, 256, 1, 1, 1), 1.0 / 8);
	/* Rows are sent to each expert. */
	assert_number(share(0, 0, 0, 0, 16), 1);
	/* One expert a token. */
	assert_number(share(1, 64, 8, 1, 8), 1);
}

/* Two of eight experts, out of two of four groups of two. */
static void limited(void **state)
{
	(void)state;
	/* A group a place: both copies in one group with 2 of 6 pairs. */
	assert_number(share(2, 8, 4, 2, 4), 5.0 / 3 / 2);
	/* Two groups a place: of the 6 pairs of groups 2 lie in one place; the other 4
	 * are one group each, of whose 4 experts 2 in one group are 2 of 6 pairs:
	 * 2/6 x 1 + 4/6 x 5/3 = 13/9 places. */
	assert_number(share(2, 8, 4, 2, 2), 13.0 / 9 / 2);
	/* An expert a place, four of them to choose from. */
	assert_number(share(2, 8, 4, 2, 8), 1);
	/* Places that cut groups count as if there were none: 3 places of 8/3. */
	assert_number(share(2, 8, 4, 2, 3), share(2, 8, 1, 1, 3));
}

/* DeepSeek-V3 on eight nodes: a token's 8 of 256 experts lie in at most 4 nodes of 32
 * experts (arXiv 2412.19437, section 2.1.2). A chosen node has none of them
 * with (96 x 95 x .. x 89) / (128 x 127 x .. x 121) = 0.0928. */
static void node_limited(void **state)
{
	double none = 1;

	(void)state;
	for (int i = 0; i < 8; i++)
		none *= (96.0 - i) / (128 - i);
	assert_number(share(8, 256, 8, 4, 8), 4 * (1 - none) / 8);
	assert_true(8 * share(8, 256, 8, 4, 8) > 3.6);
	assert_true(8 * share(8, 256, 8, 4, 8) < 3.65);
	assert_true(share(8, 256, 8, 4, 8) < share(8, 256, 1, 1, 8));
}

/* Two nodes of two devices, 2 of 4 experts: 1 GB in 8 GB/s a device inside, 1 GB/s out.
 * Of each device's bytes half leave the node, 5/6 of them sent: 0.5 x 5/6 s. Inside
 * 3/4 leave the device, at 8 GB/s, all of them sent. */
static void exchange_time(void **state)
{
	struct problem problem = {
		.level = {
			{ .fanout = 2, .bandwidth_Bps = 8e9, .efficiency = 1,
			  .oversubscription = 1 },
			{ .fanout = 2, .bandwidth_Bps = 1e9, .efficiency = 1,
			  .oversubscription = 1 },
		},
		.level_count = 2,
		.device_count = 4,
	};
	struct group_shape group = { .members = { 2, 2 }, .used = { 1, 2 },
				     .apart = { 1, 1 } };

	(void)state;
	for (uint32_t l = 2; l < LEVEL_MAX; l++)
		group.members[l] = group.used[l] = group.apart[l] = 1;
	assert_number(network_collective(&problem, &group, COLLECTIVE_ALL_TO_ALL,
					 1e9, NULL), 0.5);
	problem.exchange = (struct problem_exchange){ 2, 4, 1, 1 };
	assert_number(network_collective(&problem, &group, COLLECTIVE_ALL_TO_ALL,
					 1e9, NULL), 0.5 * 5 / 6);
	problem.level[0].bandwidth_Bps = 1e9;
	assert_number(network_collective(&problem, &group, COLLECTIVE_ALL_TO_ALL,
					 1e9, NULL), 0.75);
}

/* A second of exchange behind four: a fifth shows, by which it slows them down; five
 * behind four: one second is left over. */
static void exposed(void **state)
{
	struct problem_collective one = { .hidden_s = 4, .slowing = 0.2 };

	(void)state;
	assert_number(problem_exposed_s(&one, 1), 0.2);
	assert_number(problem_exposed_s(&one, 5), 1);
	one.slowing = 0;
	assert_number(problem_exposed_s(&one, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(anywhere),
		cmocka_unit_test(limited),
		cmocka_unit_test(node_limited),
		cmocka_unit_test(exchange_time),
		cmocka_unit_test(exposed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
