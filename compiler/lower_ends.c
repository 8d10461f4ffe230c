/* SPDX-License-Identifier: MIT
 *
 * What a whole language model has and a spec may forget: an embedding before its
 * layers, a loss behind them, and something that says where a token stands. A part of
 * a model can be planned without, so these are warnings.
 */
#include "compiler/lower.h"

/* What a custom operator does is not known. */
static bool may_hold(const struct ir_class *class, enum ir_operator_kind kind)
{
	return ir_find_operator(class, kind) ||
	       ir_find_operator(class, IR_CUSTOM);
}

static void warn_ends(struct lower *lower)
{
	const struct ir_model *model = &lower->ir->model;
	const struct ir_class *first = &model->class[model->run[0].class_index];
	const struct ir_class *last =
		&model->class[model->run[model->run_count - 1].class_index];

	if (!may_hold(first, IR_EMBEDDING)) {
		diag_warning(lower->diags, E_MODEL_ENDS, first->span,
			     "the first layer of model '%s' has no embedding: its time and memory are not counted",
			     model->name);
		diag_help(lower->diags, "begin 'layers' with: embedding(vocab = .., hidden = ..)");
	}
	if (!may_hold(last, IR_CROSS_ENTROPY)) {
		diag_warning(lower->diags, E_MODEL_ENDS, last->span,
			     "the last layer of model '%s' gives no loss: logits and loss are not counted",
			     model->name);
		diag_help(lower->diags, "end 'layers' with: lm_head(vocab = .., hidden = ..)");
	}
}

/* Of a target that asks. `rotary_base = 0` says that there are none. */
static void warn_positions(struct lower *lower)
{
	const struct ir_model *model = &lower->ir->model;
	const char *name = intern_string(&lower->compilation->intern, "rotary_base");
	bool attends = false;

	if (!lower->ir->job.target || record_find(lower->model, name))
		return;
	for (uint32_t i = 0; i < model->class_count; i++) {
		const struct ir_operator *table =
			ir_find_operator(&model->class[i], IR_EMBEDDING);

		if ((table && table->positions) ||
		    ir_find_operator(&model->class[i], IR_CUSTOM))
			return;
		attends |= ir_find_operator(&model->class[i], IR_ATTENTION) != NULL;
	}
	if (!attends)
		return;
	diag_warning(lower->diags, E_MODEL_POSITIONS, model->span,
		     "model '%s' has no positions, neither rotary nor learned, and is launched without",
		     model->name);
	diag_help(lower->diags, "add 'rotary_base = 10_000' to it, or 'positions = ..' to its embedding; "
				"'rotary_base = 0' says that it has none");
}

void lower_model_ends(struct lower *lower)
{
	warn_ends(lower);
	warn_positions(lower);
}
