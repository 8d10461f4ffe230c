/* SPDX-License-Identifier: MIT
 *
 * Inside the walk over layouts: what an operator can ask of its inputs. Only the
 * layout*.c files include this. Where a value already lies as it is wanted, nothing
 * happens; what is recorded once for a value is not recorded again.
 */
#ifndef NEST_COMPILER_LAYOUT_CONVERT_H
#define NEST_COMPILER_LAYOUT_CONVERT_H

#include "compiler/layout_walk.h"

/* Appends a collective over the tensor group (of routed values the expert-tensor
 * group), exposed, of a whole value. The operator is the one it is for, or IR_NONE at
 * the ends of a layer; the axis the one whose split causes it, or IR_NONE. */
struct inferred *layout_record(struct layout_walk *walk, enum collective kind,
			       bool backward, uint32_t operator, uint32_t value,
			       uint32_t axis);

/* The layout a value has between regions that are cut: by sequence where the layer
 * is parallel over the sequence, else whole. */
enum layout layout_resting(const struct layout_walk *walk, uint32_t value);

/* Adds up a partial value. */
void layout_settle(struct layout_walk *walk, uint32_t value);

/* Makes the value whole for an operator. If that operator works on a part of
 * its output (cutting), the input's gradient is a sum over the group. */
void layout_want_whole(struct layout_walk *walk, uint32_t value,
		       uint32_t operator, uint32_t axis, bool cutting);

/* Makes the value cut, or whole where it has no axis to cut; the cause is the axis
 * that the operator cuts. */
void layout_want_cut(struct layout_walk *walk, uint32_t value,
		     uint32_t operator, uint32_t cause);

/* Makes a value by sequence for an operator whose other input lies so. */
void layout_want_sequence(struct layout_walk *walk, uint32_t value,
			  uint32_t operator);

#endif
