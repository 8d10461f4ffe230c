/* SPDX-License-Identifier: MIT
 *
 * Bounds from the fact that layers come in whole numbers: a pipeline's fullest
 * device has at least so many.
 */
#ifndef NEST_SOLVER_DEAL_H
#define NEST_SOLVER_DEAL_H

#include <stdbool.h>
#include <stdint.h>

#include "solver/problem.h"

/* The layers as they can be dealt to the devices of a pipeline of two or more:
 * the first layer is on the first device, the last on the last, and the
 * layers of the most frequent kind between them anywhere, in whole numbers. */
struct deal {
	uint32_t kind;			/* class index of the most frequent layer */
	uint32_t units;			/* layers of it between the ends */
	uint32_t spare;			/* other layers between the ends */
	/* Whether all layers between the ends are blocks, and the spare ones come first:
	 * a plain chain, or some dense layers before those with experts. */
	bool even;
	double unit_s;			/* time of such a layer, both ways, at least */
	/* Partial recomputation: what a layer that is recomputed takes more than
	 * that, and how many blocks at the head of every chunk are. 0: none. */
	double extra_s;
	uint32_t extra_layers;
	bool first_is_block;
	double first_s, last_s;		/* time of the ends; a lone layer is the first */
};

/* Finds kind, units, spare, even. */
struct deal deal_find(const struct problem *problem);

/* The least load of the fullest device in one micro-batch, when every device has
 * `chunks` layers or more. */
double bound_deal(const struct deal *deal, uint32_t pipeline, uint32_t chunks);

/* What else keeps devices from taking layers. */
struct deal_limits {
	uint32_t pipeline, chunks, micro_batches;
	bool all_first;			/* GPipe: no device's warm-up ends early */
	/* Device k is not done before entry_s[k] + m x its load, */
	const double *entry_s;
	/* nor, if whole_s is positive, before
	 * whole_s + (m - 1 - w / 2) x its load, w = 0 if all_first, else
	 * min(pipeline - 1 - k, m - 1), */
	double whole_s;
	/* nor before through_s[k] + (m - pipeline) x its load, */
	const double *through_s;	/* NULL: nothing known */
	/* nor before stay_s[k] + (m - pipeline) x its load + dwell_s x the layers of
	 * the fullest of its chunks, which are dwell_least or its share, rounded up, */
	const double *stay_s;		/* NULL: nothing known */
	double dwell_s, dwell_least;
	/* and has no room for more than so many of the frequent layers. */
	const double *units_most;	/* NULL: for any number */
};

/* The end by which device k has taken so many layers of the frequent kind. */
double deal_end_with(const struct deal *deal, const struct deal_limits *limits,
		     uint32_t k, double units);

/* No schedule ends before, when none ends before from_s; INFINITY when the layers do
 * not fit. Where it is more than until_s, a better bound may have been left out. */
double bound_deal_end(const struct deal *deal, const struct deal_limits *limits,
		      double from_s, double until_s);

/* Layers of the frequent kind that are recomputed at least where the heads of chunks
 * are, no device having room for more than units_most says. */
double deal_recomputed(const struct deal *deal, const struct deal_limits *limits);

/* The most layers of the frequent kind that device k can have by that end. */
double deal_units_by(const struct deal *deal, const struct deal_limits *limits,
		     uint32_t k, double end);

/* And those that it has for certain. */
double deal_units_least(const struct deal *deal,
			const struct deal_limits *limits, uint32_t k);

#endif
