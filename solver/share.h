/* SPDX-License-Identifier: MIT
 *
 * What the parameters of a device cost under a configuration: their bytes, the
 * optimizer step, and the bytes set aside beside them. Parameters of experts
 * have replicas of their own, so the two kinds are counted apart.
 */
#ifndef NEST_SOLVER_SHARE_H
#define NEST_SOLVER_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "solver/plan.h"

/* Elements on one device. */
struct holding {
	double parameters;		/* replicated over data x context */
	double experts;			/* and besides, over expert data */
};

static inline struct holding holding_add(struct holding a, struct holding b)
{
	return (struct holding){ a.parameters + b.parameters,
				 a.experts + b.experts };
}

static inline struct holding holding_subtract(struct holding a, struct holding b)
{
	return (struct holding){ a.parameters - b.parameters,
				 a.experts - b.experts };
}

static inline struct holding holding_times(struct holding a, double factor)
{
	return (struct holding){ a.parameters * factor, a.experts * factor };
}

static inline struct holding holding_of(const struct problem_weight *weight)
{
	return (struct holding){ weight->parameters, weight->expert_parameters };
}

struct share {
	double replicas;		/* data x context */
	double expert_replicas;		/* ranks of a stage / (expert x expert_tensor) */
	/* Of one parameter of either kind: weight, gradient and optimizer bytes,
	 * and the time of its optimizer step. */
	double parameter_bytes, expert_bytes;
	double step_s, expert_step_s;
	double reserve_bytes;		/* of a device: reserve and groups */
};

/* Shape, data, pipeline and zero of the choice decide. */
struct share share_of(const struct problem *problem, const struct choice *choice);

static inline double share_bytes(const struct share *share, struct holding held)
{
	return held.parameters * share->parameter_bytes +
	       held.experts * share->expert_bytes;
}

static inline double share_step(const struct share *share, struct holding held)
{
	return held.parameters * share->step_s +
	       held.experts * share->expert_step_s;
}

/* Whether any layer has parameters or collectives of experts. */
bool share_has_experts(const struct problem *problem);

#endif
