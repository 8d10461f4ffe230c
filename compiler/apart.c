/* SPDX-License-Identifier: MIT
 *
 * Which weights have optimizer states of another kind.
 */
#include "compiler/apart.h"

#include "compiler/matrices.h"
#include "compiler/training.h"

/* All but embeddings, and heads that share their weight with one. */
static void fill_quantised(const struct ir_class *class,
			   const struct layout_result *result,
			   double s_per_parameter, struct problem_weight *weight)
{
	for (uint32_t i = 0; i < class->operator_count; i++) {
		const struct operator_cost *cost = &result->operator[i];
		struct problem_apart *to = cost->is_expert ?
			&weight->expert_apart : &weight->apart;
		double parameters = cost->parameters - cost->tied_parameters;

		if (class->operator[i].kind == IR_EMBEDDING)
			continue;
		to->parameters += parameters;
		to->step_s += parameters * s_per_parameter;
	}
}

void apart_fill(const struct ir *ir, const struct ir_class *class,
		const struct layout_result *result, double bandwidth_Bps,
		struct arena *scratch, struct problem_weight *weight)
{
	double step_bytes = training_of(&ir->job).apart_step;

	switch (ir->job.optimizer) {
	case IR_MUON:
		matrices_fill(ir, class, result, step_bytes, bandwidth_Bps,
			      scratch, weight);
		return;
	case IR_ADAM_8BIT:
		fill_quantised(class, result, step_bytes / bandwidth_Bps, weight);
		return;
	default:
		return;
	}
}

const char *apart_words(enum ir_optimizer optimizer)
{
	return optimizer == IR_MUON ? "in matrices" : "in 8 bits";
}
