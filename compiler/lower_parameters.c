/* SPDX-License-Identifier: MIT
 *
 * Parameters of a layer class: all of them, and those that work on one token, which
 * leave out the experts it is not sent to.
 */
#include "compiler/lower_template.h"

static bool add_product(uint64_t a, uint64_t b, uint64_t *sum)
{
	uint64_t product;

	return !__builtin_mul_overflow(a, b, &product) &&
	       !__builtin_add_overflow(*sum, product, sum) &&
	       *sum <= SIZE_MAX_EXACT;
}

/* The elements an operator owns, for one expert where there are several. */
static bool own_parameters(const struct ir_class *class,
			   const struct ir_operator *operator, uint64_t *sum)
{
	const struct ir_value *input = &class->value[operator->input[0]];
	uint64_t last = ir_extent_size(class, &input->extent[input->rank - 1]);
	uint64_t from = ir_extent_size(class, &operator->from);
	uint64_t to = ir_extent_size(class, &operator->to);

	switch (operator->kind) {
	case IR_LINEAR:
	case IR_ROUTER:
		return add_product(from, to, sum) &&
		       add_product(operator->bias, to, sum);
	case IR_EMBEDDING:
		return operator->tied ||
		       (add_product(from, to, sum) &&
			add_product(operator->positions, to, sum) &&
			add_product(operator->types, to, sum));
	case IR_LM_HEAD:
		return (operator->tied || add_product(from, to, sum)) &&
		       add_product(operator->bias, to, sum);
	case IR_RMSNORM:
	case IR_LAYERNORM:
		return add_product(operator->bias ? 2 : 1,
				   operator->from.term_count ? from : last, sum);
	case IR_CUSTOM:
		return add_product(1, (uint64_t)operator->custom_parameters, sum);
	default:
		return true;
	}
}

static bool add_parameters(struct ir_class *class,
			   const struct ir_operator *operator)
{
	const struct ir_operator *router = ir_operator_router(class, operator);
	uint64_t own = 0;

	return own_parameters(class, operator, &own) &&
	       add_product(own, router ? ir_extent_size(class, &router->to) : 1,
			   &class->parameters) &&
	       add_product(own, router ? router->top_k : 1,
			   &class->active_parameters);
}

bool class_count_parameters(struct lower *lower, struct ir_class *class)
{
	for (uint32_t i = 0; i < class->operator_count; i++)
		if (!add_parameters(class, &class->operator[i]))
			return diag_error(lower->diags, E_TEMPLATE_SIZE,
					  class->operator[i].span,
					  "layer '%s' has more than 2^53 parameters",
					  class->name);
	return true;
}
