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

#include "solver/most.h"
#include "solver/shard.h"

/* On one device. */
struct holding {
	double parameters;		/* elements replicated over data x context */
	double experts;			/* and besides, over expert data */
	struct problem_matrices matrices, expert_matrices;	/* of these */
};

static inline struct problem_matrices matrices_add(struct problem_matrices a,
						   struct problem_matrices b)
{
	return (struct problem_matrices){
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
		matrices_add(a.matrices, b.matrices),
		matrices_add(a.expert_matrices, b.expert_matrices),
	};
}

static inline struct problem_matrices matrices_subtract(struct problem_matrices a,
							struct problem_matrices b)
{
	return (struct problem_matrices){
		.parameters = a.parameters - b.parameters,
		.step_s = a.step_s - b.step_s,
	};
}

/* Of the sums: which matrix is the largest of the rest is unknown, and 0. */
static inline struct holding holding_subtract(struct holding a, struct holding b)
{
	return (struct holding){
		a.parameters - b.parameters,
		a.experts - b.experts,
		matrices_subtract(a.matrices, b.matrices),
		matrices_subtract(a.expert_matrices, b.expert_matrices),
	};
}

static inline struct problem_matrices matrices_times(struct problem_matrices a,
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
		matrices_times(a.matrices, factor),
		matrices_times(a.expert_matrices, factor),
	};
}

static inline struct holding holding_of(const struct problem_weight *weight)
{
	return (struct holding){ weight->parameters, weight->expert_parameters,
				 weight->matrices, weight->expert_matrices };
}

struct share {
	double replicas;		/* data x context */
	double expert_replicas;		/* ranks of a stage / (expert x expert_tensor) */
	double shards;			/* replicas that share out what ZeRO says */
	double expert_shards;
	/* Of one parameter of either kind that is of no matrix: weight, gradient and
	 * optimizer bytes, and the time of its optimizer step. */
	double parameter_bytes, expert_bytes;
	double step_s, expert_step_s;
	/* Of matrices: what their optimizer bytes are more than of such a parameter
	 * (may be negative), where every replica has an equal share of them; how many
	 * that are; and the bytes of one parameter before sharing. */
	bool matrices;			/* there are some */
	double matrix_more_bytes, expert_matrix_more_bytes;
	double dealt, expert_dealt;
	double matrix_bytes;
	/* Of one parameter of a layer that is being gathered or scattered. */
	double moving_bytes, expert_moving_bytes;
	double reserve_bytes;		/* of a device: reserve and groups */
};

/* Shape, data, pipeline, zero and shard_level of the choice decide, and the
 * placement through its sharding. Without one (NULL) what no placement has less
 * of: as many shards as can be. */
struct share share_of(const struct problem *problem, const struct choice *choice,
		      const struct sharding *sharding);

/* What a device has and takes at least, as if matrices could be cut to share them
 * out equally. Additive: of several holdings together the sum. */
static inline double share_least_bytes(const struct share *share,
				       struct holding held)
{
	double bytes = held.parameters * share->parameter_bytes +
		       held.experts * share->expert_bytes;

	if (!share->matrices)
		return bytes;
	return bytes + held.matrices.parameters * share->matrix_more_bytes +
	       held.expert_matrices.parameters * share->expert_matrix_more_bytes;
}

static inline double share_least_step(const struct share *share,
				      struct holding held)
{
	const struct problem_matrices *own = &held.matrices;
	const struct problem_matrices *expert = &held.expert_matrices;

	if (!share->matrices)
		return held.parameters * share->step_s +
		       held.experts * share->expert_step_s;
	return (held.parameters - own->parameters) * share->step_s +
	       (held.experts - expert->parameters) * share->expert_step_s +
	       own->step_s / share->dealt + expert->step_s / share->expert_dealt;
}

/* Parameters of matrices whose states the device has that has most of each kind. */
static inline double share_matrix_states(const struct share *share,
					 struct holding held)
{
	return most(held.matrices.largest,
		    held.matrices.parameters / share->dealt) +
	       most(held.expert_matrices.largest,
		    held.expert_matrices.parameters / share->expert_dealt);
}

/* The step of the matrices of the device that takes longest for those of each kind. */
static inline double share_matrix_step(const struct share *share,
				       struct holding held)
{
	return most(held.matrices.largest_step_s,
		    held.matrices.step_s / share->dealt) +
	       most(held.expert_matrices.largest_step_s,
		    held.expert_matrices.step_s / share->expert_dealt);
}

/* What the fullest replica has of something more than the mean of all: it has the
 * largest matrix at least. */
static inline double share_uneven(double largest, double sum, double dealt)
{
	return most(0, largest - sum / dealt);
}

/* What the device has and takes that is dealt most. Of several holdings together
 * not more than the sum. */
static inline double share_bytes(const struct share *share, struct holding held)
{
	double bytes = share_least_bytes(share, held);

	if (!share->matrices)
		return bytes;
	return bytes + share->matrix_bytes *
		       (share_uneven(held.matrices.largest,
				     held.matrices.parameters, share->dealt) +
			share_uneven(held.expert_matrices.largest,
				     held.expert_matrices.parameters,
				     share->expert_dealt));
}

static inline double share_step(const struct share *share, struct holding held)
{
	double step_s = share_least_step(share, held);

	if (!share->matrices)
		return step_s;
	return step_s +
	       share_uneven(held.matrices.largest_step_s, held.matrices.step_s,
			    share->dealt) +
	       share_uneven(held.expert_matrices.largest_step_s,
			    held.expert_matrices.step_s, share->expert_dealt);
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
