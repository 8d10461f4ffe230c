/* SPDX-License-Identifier: MIT
 *
 * Members of groups under a placement, transfers between pipeline ranks, and
 * the numbers of devices: see network.h.
 */
#include "solver/network.h"

#include <math.h>
#include <stddef.h>

#include "solver/most.h"
#include "solver/network_rate.h"

static uint32_t column_product(const struct placement *placement, uint32_t level)
{
	uint32_t product = 1;

	for (uint32_t d = 0; d < DIMENSION_COUNT; d++)
		product *= placement->factor[d][level];
	return product;
}

/* ---- members of groups ---- */

/* A group under construction: parts are added level by level. */
static void shape_add(struct group_shape *shape, uint32_t level, uint32_t stride,
		      uint32_t part)
{
	if (part <= 1)
		return;
	shape->members[level] *= part;
	/* The last part reaches furthest. */
	shape->apart[level] = stride * part / shape->members[level];
}

/* Positions between neighbours of a dimension at a level. */
static uint32_t digit_stride(const struct placement *placement,
			     enum dimension dimension, uint32_t level)
{
	uint32_t stride = 1;

	for (uint32_t d = 0; d < (uint32_t)dimension; d++)
		stride *= placement->factor[d][level];
	return stride;
}

static void shape_add_row(const struct problem *problem,
			  const struct placement *placement,
			  enum dimension dimension, struct group_shape *shape)
{
	for (uint32_t l = 0; l < problem->level_count; l++)
		shape_add(shape, l, digit_stride(placement, dimension, l),
			  placement->factor[dimension][l]);
}

/* Deals the digits of tensor, context and data to expert tensor, expert and
 * expert data. False if the placement does not fit; shape may be NULL. */
static bool deal_experts(const struct problem *problem,
			 const struct placement *placement,
			 const struct problem_shape *degrees, enum group group,
			 struct group_shape *shape)
{
	static const enum dimension row[] = {
		DIMENSION_TENSOR, DIMENSION_CONTEXT, DIMENSION_DATA
	};
	static const enum group receiver[] = {
		GROUP_EXPERT_TENSOR, GROUP_EXPERT, GROUP_EXPERT_DATA
	};
	uint32_t left[] = { degrees->expert_tensor ? degrees->expert_tensor : 1,
			    degrees->expert ? degrees->expert : 1, 0 };
	uint32_t to = 0;

	for (uint32_t r = 0; r < 3; r++) {
		for (uint32_t l = 0; l < problem->level_count; l++) {
			uint32_t digit = placement->factor[row[r]][l];
			uint32_t stride = digit_stride(placement, row[r], l);

			while (digit > 1) {
				uint32_t part = digit;

				if (left[to] == 1) {
					to++;
					continue;
				}
				if (left[to] && left[to] % digit)
					part = left[to];
				if (digit % part)
					return false;
				if (shape && receiver[to] == group)
					shape_add(shape, l, stride, part);
				if (left[to])
					left[to] /= part;
				stride *= part;
				digit /= part;
			}
		}
	}
	/* What is left of a degree has no ranks. */
	return left[0] == 1 && left[1] == 1;
}

struct group_shape network_group(const struct problem *problem,
				 const struct placement *placement,
				 const struct problem_shape *degrees,
				 enum group group)
{
	struct group_shape shape = { .members = { 0 } };
	uint32_t used = 1;

	for (uint32_t l = 0; l < LEVEL_MAX; l++) {
		shape.members[l] = shape.apart[l] = 1;
		shape.used[l] = used;
		if (l < problem->level_count)
			used *= column_product(placement, l);
	}
	switch (group) {
	case GROUP_TENSOR:
		shape_add_row(problem, placement, DIMENSION_TENSOR, &shape);
		break;
	case GROUP_DATA_CONTEXT:
		shape_add_row(problem, placement, DIMENSION_CONTEXT, &shape);
		shape_add_row(problem, placement, DIMENSION_DATA, &shape);
		break;
	case GROUP_CONTEXT:
		shape_add_row(problem, placement, DIMENSION_CONTEXT, &shape);
		break;
	default:
		deal_experts(problem, placement, degrees, group, &shape);
	}
	return shape;
}

bool network_experts_fit(const struct problem *problem,
			 const struct placement *placement,
			 const struct problem_shape *shape)
{
	return deal_experts(problem, placement, shape, GROUP_EXPERT, NULL);
}

/* ---- transfers ---- */

uint32_t network_pipeline_level(const struct problem *problem,
				const struct placement *placement,
				uint32_t a, uint32_t b)
{
	uint32_t highest = 0;

	for (uint32_t l = 0; l < problem->level_count; l++) {
		uint32_t base = placement->factor[DIMENSION_PIPELINE][l];

		if (a % base != b % base)
			highest = l;
		a /= base;
		b /= base;
	}
	return highest;
}

/* What the pipeline does at a level. */
struct border {
	const struct problem_level *level;
	double below;			/* C_l */
	double senders;			/* k, in one child */
	double apart;			/* a */
	double ranks;			/* p */
};

/* Between two children of the level, from each sender to its receiver, so many
 * children further on a ring. */
static struct network_line border_line(const struct border *border, double hops)
{
	const struct problem_level *at = border->level;
	struct network_line line = { .latency_s = at->latency_s };
	double share = 1, senders = border->senders;

	if (at->kind == LEVEL_FULL && at->fanout > 1)
		share = 1.0 / (at->fanout - 1);
	if (at->kind == LEVEL_RING) {
		if (at->wrap)
			hops = least(hops, at->fanout - hops);
		share = at->wrap && 2 * hops == at->fanout ? 1 : 0.5;
		senders *= border->apart;
		line.latency_s *= hops;
	}
	line.s_per_byte = 1 / (at->efficiency *
			       link_rate(at, border->below, senders, share));
	return line;
}

/* Adds the way back along an inner dimension of a torus. */
static void add_way_back(const struct border *border, struct network_line *line)
{
	struct network_line back = border_line(border, (border->ranks - 1) *
						       border->apart);

	if (border->ranks < 2)
		return;
	line->latency_s += back.latency_s;
	line->s_per_byte = most(line->s_per_byte, back.s_per_byte);
}

/* Whether a boundary that crosses the level ends on another rail. */
static bool changes_rail(const struct problem *problem,
			 const struct placement *placement, uint32_t level)
{
	uint64_t moved = 0, below = 1;

	if (!problem->level[level].rails)
		return false;
	for (uint32_t l = 0; l < level; l++) {
		moved += below * digit_stride(placement, DIMENSION_PIPELINE, l) *
			 (placement->factor[DIMENSION_PIPELINE][l] - 1);
		below *= problem->level[l].fanout;
	}
	return moved % problem->level[level].rails != 0;
}

struct network_line network_transfer_line(const struct problem *problem,
					  const struct placement *placement,
					  uint32_t level)
{
	struct border border[LEVEL_MAX];
	const struct problem_level *at = &problem->level[level];
	double below = 1, senders = 1, passed_Bps = INFINITY;
	struct network_line line;

	for (uint32_t l = 0; l <= level; l++) {
		uint32_t ranks = placement->factor[DIMENSION_PIPELINE][l];

		border[l] = (struct border){
			.level = &problem->level[l],
			.below = below,
			.senders = senders,
			.apart = digit_stride(placement, DIMENSION_PIPELINE, l),
			.ranks = ranks,
		};
		if (l < level)
			passed_Bps = pass_switch(border[l].level, below, senders,
						 passed_Bps);
		below *= problem->level[l].fanout;
		senders *= column_product(placement, l) / ranks;
	}
	line = border_line(&border[level], border[level].apart);
	line.latency_s += at->overhead_s;
	for (uint32_t l = level; l && border[l].level->joined; l--)
		add_way_back(&border[l - 1], &line);
	line.s_per_byte = most(line.s_per_byte, 1 / passed_Bps);
	if (level && changes_rail(problem, placement, level)) {
		line.latency_s += at[-1].latency_s;
		line.s_per_byte += 1 / (at[-1].efficiency *
					at[-1].bandwidth_Bps);
	}
	return line;
}

double network_transfer(const struct problem *problem,
			const struct placement *placement, uint32_t level,
			double bytes)
{
	struct network_line line = network_transfer_line(problem, placement,
							 level);

	return line.latency_s + bytes * line.s_per_byte;
}

uint32_t network_device(const struct problem *problem,
			const struct placement *placement,
			const uint32_t coordinate[DIMENSION_COUNT])
{
	uint32_t rest[DIMENSION_COUNT];
	uint32_t device = 0, below = 1;

	for (uint32_t d = 0; d < DIMENSION_COUNT; d++)
		rest[d] = coordinate[d];
	for (uint32_t l = 0; l < problem->level_count; l++) {
		uint32_t position = 0, stride = 1;

		for (uint32_t d = 0; d < DIMENSION_COUNT; d++) {
			uint32_t base = placement->factor[d][l];

			position += rest[d] % base * stride;
			rest[d] /= base;
			stride *= base;
		}
		device += position * below;
		below *= problem->level[l].fanout;
	}
	return device;
}
