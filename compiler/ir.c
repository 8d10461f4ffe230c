/* SPDX-License-Identifier: MIT
 *
 * Arithmetic on the placement program that everybody shares.
 */
#include "compiler/ir.h"

#include <stddef.h>

/* `+`, `*`, `dispatch` and `combine` are harmless here, since the lowering
 * knows no call of these. */
const char *const ir_operator_names[] = {
#define OPERATOR(kind, name, inputs) name,
#include "compiler/operators.def"
#undef OPERATOR
	"experts",
	NULL,
};

uint32_t ir_class_layers(const struct ir_model *model, uint32_t class_index)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < model->run_count; i++)
		if (model->run[i].class_index == class_index)
			count += model->run[i].count;
	return count;
}

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

const struct ir_operator *ir_find_operator(const struct ir_class *class,
					   enum ir_operator_kind kind)
{
	for (uint32_t i = 0; i < class->operator_count; i++)
		if (class->operator[i].kind == kind)
			return &class->operator[i];
	return NULL;
}

const struct ir_operator *ir_operator_router(const struct ir_class *class,
					     const struct ir_operator *operator)
{
	uint32_t router = class->value[operator->input[0]].router;

	return router == IR_NONE ? NULL : &class->operator[router];
}

bool ir_has_experts(const struct ir_model *model)
{
	for (uint32_t i = 0; i < model->class_count; i++)
		if (ir_find_operator(&model->class[i], IR_ROUTER))
			return true;
	return false;
}

bool ir_domain_allows(const struct ir_domain *domain, uint32_t value)
{
	if (!domain->given)
		return true;
	for (uint32_t i = 0; i < domain->count; i++)
		if (domain->at[i] == value)
			return true;
	return false;
}
