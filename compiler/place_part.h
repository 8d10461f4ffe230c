/* SPDX-License-Identifier: MIT
 *
 * Parts of a cluster as place rules name them: `node[17]`, `rack[0 .. 3]`,
 * `rack[2].node[{ 0, 1 }]`, `device[5]`, and lists of these.
 */
#ifndef NEST_COMPILER_PLACE_PART_H
#define NEST_COMPILER_PLACE_PART_H

#include "compiler/lower.h"

/* Devices first .. first + count - 1. */
struct device_range {
	uint32_t first, count;
};

struct device_ranges {
	VEC(struct device_range) range;
};

/* Whether an expression names a level: *above receives one more than its index. A torus,
 * one level per dimension named `slice.x` and so on, is meant as a whole by its name. */
bool place_level(const struct ir_topology *topology, const char *name,
		 uint32_t *above);

/* Reports that no level is called so. */
bool place_no_level(struct lower *lower, const char *name, struct span span);

/* Whether an expression looks like a particular part. */
bool place_is_part(const struct ast *expression);

/* The whole numbers that an index stands for: one, or those of a list, set or range, each
 * below limit, of which `what` has so many. */
bool place_numbers(struct lower *lower, const struct ast *index, uint32_t limit,
		   const char *what, struct device_ranges *numbers);

/* Appends the devices of a part, or of a list of parts. False, reported, if it names
 * what does not exist. */
bool place_part(struct lower *lower, const struct ast *expression,
		struct device_ranges *out);

#endif
