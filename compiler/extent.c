/* SPDX-License-Identifier: MIT
 *
 * Arithmetic of extents in normal form.
 */
#include "compiler/extent.h"

#include <inttypes.h>
#include <string.h>

static int term_order(const struct ir_term *a, const struct ir_term *b)
{
	uint32_t shorter = a->axis_count < b->axis_count ? a->axis_count :
							   b->axis_count;

	for (uint32_t i = 0; i < shorter; i++)
		if (a->axis[i] != b->axis[i])
			return a->axis[i] < b->axis[i] ? -1 : 1;
	if (a->axis_count == b->axis_count)
		return 0;
	return a->axis_count > b->axis_count ? -1 : 1;
}

/* Adds one term, keeping the normal form. */
static bool extent_insert(struct ir_extent *extent, const struct ir_term *term)
{
	uint32_t at = 0;

	while (at < extent->term_count &&
	       term_order(&extent->term[at], term) < 0)
		at++;
	if (at < extent->term_count && !term_order(&extent->term[at], term))
		return !__builtin_add_overflow(extent->term[at].coefficient,
					       term->coefficient,
					       &extent->term[at].coefficient);
	if (extent->term_count == IR_TERM_MAX)
		return false;
	memmove(&extent->term[at + 1], &extent->term[at],
		(extent->term_count - at) * sizeof(*term));
	extent->term[at] = *term;
	extent->term_count++;
	return true;
}

static bool term_multiply(const struct ir_term *a, const struct ir_term *b,
			  struct ir_term *product)
{
	uint32_t i = 0, j = 0;

	*product = (struct ir_term){ 0 };
	if (__builtin_mul_overflow(a->coefficient, b->coefficient,
				   &product->coefficient))
		return false;
	if (a->axis_count + b->axis_count > IR_FACTOR_MAX)
		return false;
	while (i < a->axis_count || j < b->axis_count) {
		bool left = j == b->axis_count ||
			    (i < a->axis_count && a->axis[i] <= b->axis[j]);

		product->axis[product->axis_count++] =
			left ? a->axis[i++] : b->axis[j++];
	}
	return true;
}

void extent_of_axis(uint32_t axis, struct ir_extent *extent)
{
	*extent = (struct ir_extent){
		.term = { { .coefficient = 1, .axis = { axis }, .axis_count = 1 } },
		.term_count = 1,
	};
}

bool extent_add(const struct ir_extent *a, const struct ir_extent *b,
		struct ir_extent *sum)
{
	struct ir_extent result = *a;

	for (uint32_t i = 0; i < b->term_count; i++)
		if (!extent_insert(&result, &b->term[i]))
			return false;
	*sum = result;
	return true;
}

bool extent_multiply(const struct ir_extent *a, const struct ir_extent *b,
		     struct ir_extent *product)
{
	struct ir_extent result = { 0 };

	for (uint32_t i = 0; i < a->term_count; i++) {
		for (uint32_t j = 0; j < b->term_count; j++) {
			struct ir_term term;

			if (!term_multiply(&a->term[i], &b->term[j], &term) ||
			    !extent_insert(&result, &term))
				return false;
		}
	}
	*product = result;
	return true;
}

bool extent_equal(const struct ir_extent *a, const struct ir_extent *b)
{
	if (a->term_count != b->term_count)
		return false;
	for (uint32_t i = 0; i < a->term_count; i++)
		if (term_order(&a->term[i], &b->term[i]) ||
		    a->term[i].coefficient != b->term[i].coefficient)
			return false;
	return true;
}

bool extent_has_axis(const struct ir_extent *extent, uint32_t axis)
{
	for (uint32_t i = 0; i < extent->term_count; i++)
		for (uint32_t j = 0; j < extent->term[i].axis_count; j++)
			if (extent->term[i].axis[j] == axis)
				return true;
	return false;
}

static void term_print(const struct ir_axis *axis, const struct ir_term *term,
		       struct text *out)
{
	const char *times = "";

	if (term->coefficient != 1 || !term->axis_count) {
		text_printf(out, "%" PRIu64, term->coefficient);
		times = " * ";
	}
	for (uint32_t i = 0; i < term->axis_count; i++) {
		text_printf(out, "%s%s", times, axis[term->axis[i]].name);
		times = " * ";
	}
}

void extent_print(const struct ir_axis *axis, const struct ir_extent *extent,
		  struct text *out)
{
	for (uint32_t i = 0; i < extent->term_count; i++) {
		if (i)
			text_append(out, " + ");
		term_print(axis, &extent->term[i], out);
	}
}

bool extent_size(const struct ir_axis *axis, const struct ir_extent *extent,
		 uint64_t *size)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < extent->term_count; i++) {
		const struct ir_term *term = &extent->term[i];
		uint64_t product = term->coefficient;

		for (uint32_t j = 0; j < term->axis_count; j++) {
			uint32_t a = term->axis[j];

			if (a != AXIS_BATCH &&
			    __builtin_mul_overflow(product, axis[a].size, &product))
				return false;
		}
		if (__builtin_add_overflow(sum, product, &sum))
			return false;
	}
	*size = sum;
	return sum <= SIZE_MAX_EXACT;
}
