/* SPDX-License-Identifier: MIT
 *
 * Local sizes: of axes, extents and values on one device, in each layout.
 */
#include "compiler/layout_walk.h"

/* Of several cut axes in one product only the first is cut. */
uint64_t layout_extent_size(const struct layout_walk *walk,
			    const struct ir_extent *extent, enum layout layout)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < extent->term_count; i++) {
		const struct ir_term *term = &extent->term[i];
		uint64_t product = term->coefficient;
		bool done = false;

		for (uint32_t j = 0; j < term->axis_count; j++) {
			bool cut = walk->axis[term->axis[j]].is_cut;

			product *= layout_axis_size(walk, term->axis[j],
						    cut && done ? LAYOUT_WHOLE :
								  layout);
			done |= cut;
		}
		sum += product;
	}
	return sum;
}

/* Rows that reach a device for every token it holds itself. */
static double copies(const struct layout_walk *walk, const struct ir_value *value)
{
	const struct ir_operator *router = &walk->class->operator[value->router];

	return (double)router->top_k * router->capacity *
	       walk->shape->expert_tensor;
}

static double elements(const struct layout_walk *walk, uint32_t value,
		       uint32_t rank, enum layout layout)
{
	const struct ir_value *of = &walk->class->value[value];
	bool routed = of->router != IR_NONE;
	double product = routed ? copies(walk, of) : 1;

	/* Batch and sequence of a routed value are those of the tokens sent. */
	for (uint32_t i = 0; i < rank; i++)
		product *= (double)layout_extent_size(
			walk, &of->extent[i],
			routed && i < 2 ? LAYOUT_SEQUENCE : layout);
	return product;
}

double layout_local_experts(const struct layout_walk *walk,
			    const struct ir_operator *router)
{
	return (double)ir_extent_size(walk->class, &router->to) /
	       walk->shape->expert;
}

double layout_value_elements(const struct layout_walk *walk, uint32_t value,
			     enum layout layout)
{
	return elements(walk, value, walk->class->value[value].rank, layout);
}

double layout_value_bytes(const struct layout_walk *walk, uint32_t value,
			  enum layout layout)
{
	return walk->element_bytes * layout_value_elements(walk, value, layout);
}

double layout_value_rows(const struct layout_walk *walk, uint32_t value,
			 enum layout layout)
{
	uint32_t rank = walk->class->value[value].rank;

	return rank ? elements(walk, value, rank - 1, layout) : 1;
}

uint32_t layout_cut_axis(const struct layout_walk *walk,
			 const struct ir_extent *extent)
{
	for (uint32_t i = 0; i < extent->term_count; i++)
		for (uint32_t j = 0; j < extent->term[i].axis_count; j++)
			if (walk->axis[extent->term[i].axis[j]].is_cut)
				return extent->term[i].axis[j];
	return IR_NONE;
}

uint32_t layout_value_cut_axis(const struct layout_walk *walk, uint32_t value)
{
	const struct ir_value *of = &walk->class->value[value];

	for (uint32_t i = 0; i < of->rank; i++) {
		uint32_t axis = layout_cut_axis(walk, &of->extent[i]);

		if (axis != IR_NONE)
			return axis;
	}
	return IR_NONE;
}
