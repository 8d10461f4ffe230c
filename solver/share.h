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

#include "solver/shard.h"

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
	double shards;			/* replicas that share out what ZeRO says */
	double expert_shards;
	/* Of one parameter of either kind: weight, gradient and optimizer bytes,
	 * and the time of its optimizer step. */
	double parameter_bytes, expert_bytes;
	double step_s, expert_step_s;
	/* Of one parameter of a layer that is being gathered or scattered. */
	double moving_bytes, expert_moving_bytes;
	double reserve_bytes;		/* of a device: reserve and groups */
};

/* Shape, data, pipeline, zero and shard_level of the choice decide, and the
 * placement through its sharding. Without one (NULL) what no placement has less
 * of: as many shards as can be. */
struct share share_of(const struct problem *problem, const struct choice *choice,
		      const struct sharding *sharding);

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

/* Of one layer, while it is being gathered or scattered. */
static inline double share_moving(const struct share *share, struct holding layer)
{
	return layer.parameters * share->moving_bytes +
	       layer.experts * share->expert_moving_bytes;
}

/* The two largest of what has been added; see G in price.h. */
struct moving {
	double first, second;
};

static inline void moving_add(struct moving *moving, double bytes)
{
	if (bytes > moving->first) {
		moving->second = moving->first;
		moving->first = bytes;
	} else if (bytes > moving->second) {
		moving->second = bytes;
	}
}

/* Whether any layer has parameters or collectives of experts. */
bool share_has_experts(const struct problem *problem);

#endif
