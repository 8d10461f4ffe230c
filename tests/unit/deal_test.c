/* SPDX-License-Identifier: MIT
 *
 * The end before which no dealing of layers is done, against all dealings there
 * are.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "solver/deal.h"

#define DEVICES 4

struct dealing {
	struct deal deal;
	struct deal_limits limits;
	double entry[DEVICES], through[DEVICES], stay[DEVICES], room[DEVICES];
};

/* xorshift64*, Vigna 2016. */
static uint64_t next_number(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

static uint32_t between(uint64_t *state, uint32_t low, uint32_t high)
{
	return low + (uint32_t)((next_number(state) >> 33) % (high - low + 1));
}

static void draw(struct dealing *d, uint64_t *state)
{
	uint32_t p = between(state, 2, DEVICES), v = between(state, 1, 3);
	uint32_t m = p * between(state, 1, 6);

	d->deal = (struct deal){
		.units = between(state, 0, 12),
		.unit_s = between(state, 1, 9) / 8.0,
		.first_s = between(state, 0, 9) / 16.0,
		.last_s = between(state, 0, 9) / 16.0,
		.first_is_block = between(state, 0, 1),
	};
	if (between(state, 0, 2) == 0) {
		d->deal.extra_s = between(state, 1, 4) / 16.0;
		d->deal.extra_layers = between(state, 1, 3);
	}
	for (uint32_t k = 0; k < p; k++) {
		d->entry[k] = between(state, 0, 40) / 8.0;
		d->through[k] = between(state, 0, 80) / 8.0;
		d->stay[k] = between(state, 0, 80) / 8.0;
		d->room[k] = between(state, 1, 14);
	}
	d->limits = (struct deal_limits){
		.pipeline = p,
		.chunks = v,
		.micro_batches = m,
		.all_first = v == 1 && between(state, 0, 3) == 0,
		.entry_s = d->entry,
		.whole_s = between(state, 0, 1) ? between(state, 1, 90) / 8.0 : 0,
		.through_s = between(state, 0, 1) ? d->through : NULL,
		.stay_s = between(state, 0, 1) ? d->stay : NULL,
		.dwell_s = between(state, 0, 40) / 8.0,
		.dwell_least = between(state, 0, 2),
		.units_most = between(state, 0, 1) ? d->room : NULL,
	};
}

/* The least end over all ways to deal `left` units to devices k, k + 1, .. */
static double least_end(const struct dealing *d, uint32_t k, uint32_t left)
{
	double best = INFINITY;

	if (k == d->limits.pipeline)
		return left ? INFINITY : 0;
	for (uint32_t units = 0; units <= left; units++) {
		double own, rest;

		if (units < deal_units_least(&d->deal, &d->limits, k) ||
		    (d->limits.units_most && units > d->limits.units_most[k]))
			continue;
		own = deal_end_with(&d->deal, &d->limits, k, units);
		rest = least_end(d, k + 1, left - units);
		best = fmin(best, fmax(own, rest));
	}
	return best;
}

/* Never above the least; when it is above `until` it may stay below the least
 * but not below `until`. */
static void check(const struct dealing *d, double from, double until,
		  double slack)
{
	double truth = fmax(from, least_end(d, 0, d->deal.units));
	double bound = bound_deal_end(&d->deal, &d->limits, from, until);

	assert_true(bound >= from);
	if (isinf(truth))
		return;
	assert_true(bound <= truth * (1 + 1e-9));
	if (truth <= until)
		assert_true(bound >= truth - slack);
	else
		assert_true(bound >= fmin(until, truth - slack));
}

/* Devices that have fewer chunks than layers for certain get none too few: where a
 * dealing exists the bound is near it. Ten halvings leave 1/1024 of the first
 * step, m units, or of a later one, twice, four times as long. */
static void test_against_all_dealings(void **state)
{
	uint64_t numbers = 20261130;
	uint32_t feasible = 0;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct dealing d;
		double truth, slack, middle;

		draw(&d, &numbers);
		truth = least_end(&d, 0, d.deal.units);
		feasible += !isinf(truth);
		slack = 8 * d.limits.micro_batches * d.deal.unit_s / 1024;
		middle = isinf(truth) ? 10 : truth;
		/* All units must be somewhere, so the mean is a bound, too. */
		check(&d, 0, INFINITY, slack);
		check(&d, middle * 0.7, INFINITY, slack);
		check(&d, middle * 1.2, INFINITY, slack);
		check(&d, 0, middle * 0.8, slack);
		check(&d, middle * 0.5, middle * 1.1, slack);
	}
	assert_true(feasible > 5000);
}

/* The load alone, with ends of the chain that may weigh as much as several units. */
static void test_loads(void **state)
{
	uint64_t numbers = 4;
	uint32_t feasible = 0, met = 0;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct dealing d;
		double truth, bound;

		draw(&d, &numbers);
		d.deal.first_s = between(&numbers, 0, 60) / 16.0;
		d.deal.last_s = between(&numbers, 0, 60) / 16.0;
		for (uint32_t k = 0; k < d.limits.pipeline; k++)
			d.entry[k] = 0;
		d.limits.micro_batches = 1;
		d.limits.whole_s = 0;
		d.limits.through_s = d.limits.stay_s = NULL;
		d.limits.units_most = NULL;
		truth = least_end(&d, 0, d.deal.units);
		if (isinf(truth))
			continue;
		bound = bound_deal(&d.deal, d.limits.pipeline, d.limits.chunks);
		assert_true(bound <= truth * (1 + 1e-9));
		feasible++;
		met += bound >= truth * (1 - 1e-9);
	}
	assert_true(feasible > 5000 && met == feasible);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_against_all_dealings),
		cmocka_unit_test(test_loads),
	};

	return cmocka_run_group_tests_name("deal", tests, NULL, NULL);
}
