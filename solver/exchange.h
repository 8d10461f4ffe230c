/* SPDX-License-Identifier: MIT
 *
 * The exchange of experts where every token is sent once to each place that holds some of
 * its experts, and passed on from there (DeepEP, github.com/deepseek-ai/DeepEP):
 * how many places that are.
 */
#ifndef NEST_SOLVER_EXCHANGE_H
#define NEST_SOLVER_EXCHANGE_H

/* How a router chooses. Experts are taken to be met equally often. */
#define COPIES_MAX 4096		/* experts of a token, and groups */

struct problem_exchange {
	double copies;			/* experts of a token; 0: a row is sent to each */
	double experts;			/* of the whole layer */
	/* A token's experts lie in so many of so many groups of consecutive experts
	 * (node-limited routing: DeepSeek-AI 2024, arXiv 2412.19437, section 2.1.2);
	 * 1 and 1: anywhere. */
	double groups, chosen_groups;
};

/* Places that a token is sent to, over its copies: at most 1. The E experts are shared
 * out over so many places; that none of k copies among A experts is one of d has
 * the probability
 *
 *	none(A, d) = product over i < k of (A - d - i) / (A - i)
 *
 * and with M of g groups chosen the share is places / k times
 *
 *	g = 1			1 - none(E, E / places)
 *	places >= g		M / g (1 - none(M E / g, E / places))
 *	places of q groups	1 - sum over j of P(j) none(M E / g, j E / g)
 *
 * where P(j) = C(q, j) C(g - q, M - j) / C(g, M). Places that cut groups otherwise count
 * as without groups, which is no less. */
double exchange_share(const struct problem_exchange *exchange, double places);

#endif
