/* SPDX-License-Identifier: MIT
 *
 * Arithmetic on the placement program that everybody shares.
 */
#include "compiler/ir.h"

#include <stddef.h>

/* `router` and `experts` are refused by the lowering; `+` and `*` are harmless
 * here, since no call is spelt so. */
const char *const ir_operator_names[] = {
#define OPERATOR(kind, name, inputs) name,
#include "compiler/operators.def"
#undef OPERATOR
	"router",
	"experts",
	NULL,
};

uint64_t ir_extent_size(const struct ir_class *class,
			const struct ir_extent *extent)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < extent->term_count; i++) {
		const struct ir_term *term = &extent->term[i];
		uint64_t product = term->coefficient;

		for (uint32_t j = 0; j < term->axis_count; j++)
			product *= class->axis[term->axis[j]].size;
		sum += product;
	}
	return sum;
}
