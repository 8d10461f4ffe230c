/* SPDX-License-Identifier: MIT
 *
 * What the parameters of a device cost under a configuration: their bytes, the
 * optimizer step, and the bytes set aside beside them. Parameters of experts
 * have replicas of their own, so the two kinds are counted apart.
 */
#ifndef NEST_SOLVER_SHARE_H
#define NEST_SOLVER_SHARE_H

#include <stdbool.h>

#include "solver/most.h"
#include "solver/shard.h"

/* On one device. */
struct holding {
	double parameters;		/* elements replicated over data x context */
	double experts;			/* and besides, over expert data */
	struct problem_apart apart, expert_apart;	/* of these */
};

static inline struct problem_apart apart_add(struct problem_apart a,
						   struct problem_apart b)
{
	return (struct problem_apart){
		.parameters = a.parameters + b.parameters,
		.step_s = a.step_s + b.step_s,
		.largest = most(a.largest, b.largest),
		.largest_step_s = most(a.largest_step_s, b.largest_step_s),
	};
}

static inline struct holding holding_add(struct holding a, struct holding b)
{
	return (struct holding){
		a.parameters + b.parameters,
		a.experts + b.experts,
		apart_add(a.apart, b.apart),
		apart_add(a.expert_apart, b.expert_apart),
	};
}

static inline struct problem_apart apart_subtract(struct problem_apart a,
							struct problem_apart b)
{
	return (struct problem_apart){
		.parameters = a.parameters - b.parameters,
		.step_s = a.step_s - b.step_s,
	};
}

/* Of the sums: which weight is the largest of the rest is unknown, and 0. */
static inline struct holding holding_subtract(struct holding a, struct holding b)
{
	return (struct holding){
		a.parameters - b.parameters,
		a.experts - b.experts,
		apart_subtract(a.apart, b.apart),
		apart_subtract(a.expert_apart, b.expert_apart),
	};
}

static inline struct problem_apart apart_times(struct problem_apart a,
						     double factor)
{
	a.parameters *= factor;
	a.step_s *= factor;
	return a;
}

static inline struct holding holding_times(struct holding a, double factor)
{
	return (struct holding){
		a.parameters * factor,
		a.experts * factor,
		apart_times(a.apart, factor),
		apart_times(a.expert_apart, factor),
	};
}

static inline struct holding holding_of(const struct problem_weight *weight)
{
	return (struct holding){ weight->parameters, weight->expert_parameters,
				 weight->apart, weight->expert_apart };
}

struct share {
	double replicas;		/* data x context */
	double expert_replicas;		/* ranks of a stage / (expert x expert_tensor) */
	double shards;			/* replicas that share out what ZeRO says */
	double expert_shards;
	/* Of one parameter of either kind whose states are not apart: weight, gradient and
	 * optimizer bytes, and the time of its optimizer step. */
	double parameter_bytes, expert_bytes;
	double step_s, expert_step_s;
	/* Of those apart: what their optimizer bytes are more than of such a parameter
	 * (may be negative), where every replica has an equal share of them; how many
	 * replicas that are; and the bytes of one before sharing. */
	bool apart;			/* there are some */
	double apart_more_bytes, expert_apart_more_bytes;
	double dealt, expert_dealt;
	double apart_bytes;
	/* Of one parameter of a layer that is being gathered or scattered. */
	double moving_bytes, expert_moving_bytes;
	double reserve_bytes;		/* of a device: reserve and groups */
};

/* Shape, data, pipeline, zero and shard_level of the choice decide, and the
 * placement through its sharding. Without one (NULL) what no placement has less
 * of: as many shards as can be. */
struct share share_of(const struct problem *problem, const struct choice *choice,
		      const struct sharding *sharding);

/* What a device has and takes at least, as if every weight could be cut to share it
 * out equally. Additive: of several holdings together the sum. */
static inline double share_least_bytes(const struct share *share,
				       struct holding held)
{
	double bytes = held.parameters * share->parameter_bytes +
		       held.experts * share->expert_bytes;

	if (!share->apart)
		return bytes;
	return bytes + held.apart.parameters * share->apart_more_bytes +
	       held.expert_apart.parameters * share->expert_apart_more_bytes;
}

static inline double share_least_step(const struct share *share,
				      struct holding held)
{
	const struct problem_apart *own = &held.apart;
	const struct problem_apart *expert = &held.expert_apart;

	if (!share->apart)
		return held.parameters * share->step_s +
		       held.experts * share->expert_step_s;
	return (held.parameters - own->parameters) * share->step_s +
	       (held.experts - expert->parameters) * share->expert_step_s +
	       own->step_s / share->dealt + expert->step_s / share->expert_dealt;
}

/* Parameters with states apart whose states the device has that has most. */
static inline double share_apart_states(const struct share *share,
					 struct holding held)
{
	return most(held.apart.largest,
		    held.apart.parameters / share->dealt) +
	       most(held.expert_apart.largest,
		    held.expert_apart.parameters / share->expert_dealt);
}

/* Their step on the device that takes longest. */
static inline double share_apart_step(const struct share *share,
				       struct holding held)
{
	return most(held.apart.largest_step_s,
		    held.apart.step_s / share->dealt) +
	       most(held.expert_apart.largest_step_s,
		    held.expert_apart.step_s / share->expert_dealt);
}

/* What the fullest replica has of something more than the mean of all: it has the
 * largest whole weight at least. */
static inline double share_uneven(double largest, double sum, double dealt)
{
	return most(0, largest - sum / dealt);
}

/* What the device has and takes that is dealt most. Of several holdings together
 * not more than the sum. */
static inline double share_bytes(const struct share *share, struct holding held)
{
	double bytes = share_least_bytes(share, held);

	if (!share->apart)
		return bytes;
	return bytes + share->apart_bytes *
		       (share_uneven(held.apart.largest,
				     held.apart.parameters, share->dealt) +
			share_uneven(held.expert_apart.largest,
				     held.expert_apart.parameters,
				     share->expert_dealt));
}

static inline double share_step(const struct share *share, struct holding held)
{
	double step_s = share_least_step(share, held);

	if (!share->apart)
		return step_s;
	return step_s +
	       share_uneven(held.apart.largest_step_s, held.apart.step_s,
			    share->dealt) +
	       share_uneven(held.expert_apart.largest_step_s,
			    held.expert_apart.step_s, share->expert_dealt);
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
