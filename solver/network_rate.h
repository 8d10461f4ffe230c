/* SPDX-License-Identifier: MIT
 *
 * Rates of single links, for network*.c and linear*.c alone: see network.h.
 */
#ifndef NEST_SOLVER_NETWORK_RATE_H
#define NEST_SOLVER_NETWORK_RATE_H

#include "solver/most.h"
#include "solver/network.h"

/* A sender's share of a child's links; below = C_l. */
static inline double link_share(const struct problem_level *level, double below,
			 double senders, double share)
{
	double ports = level->nics ? level->nics : below;

	return share * ports * level->bandwidth_Bps / level->oversubscription /
	       senders;
}

/* rate_l(k, w) without the efficiency. */
static inline double link_rate(const struct problem_level *level, double below,
			double senders, double share)
{
	return least(level->bandwidth_Bps,
		     link_share(level, below, senders, share));
}

/* What passes a switch on its way out of the children around it gets no more
 * than there. */
static inline double pass_switch(const struct problem_level *level, double below,
			  double senders, double rate_Bps)
{
	if (level->kind != LEVEL_SWITCH)
		return rate_Bps;
	return least(rate_Bps, level->efficiency *
				       link_rate(level, below, senders, 1));
}

/* The levels as the protocol for short messages sees them. False if no level
 * at which the group has members has one. */
bool network_short_levels(const struct problem *problem,
			  const struct group_shape *shape,
			  struct problem_level level[LEVEL_MAX]);

#endif
