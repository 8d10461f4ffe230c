/* SPDX-License-Identifier: MIT
 *
 * The model's layers to classes and runs: one class for each template with
 * equal arguments, one run for each stretch of equal layers. Parameters of the
 * whole are counted exactly.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "compiler/extent.h"
#include "compiler/lower.h"
#include "lang/call.h"

static bool value_equal(const struct value *a, const struct value *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case VALUE_NONE:
		return true;
	case VALUE_BOOL:
		return a->boolean == b->boolean;
	case VALUE_NUMBER:
		return a->number == b->number && unit_equal(a->unit, b->unit);
	case VALUE_STRING:
	case VALUE_SYMBOL:
		return !strcmp(a->string, b->string);
	default:
		return false;
	}
}

/* What makes two layers equal: one template and equal arguments. */
struct layer_key {
	const struct ast *declaration;
	struct value *value;		/* of every parameter, in order */
	uint32_t count;
};

static bool layer_key(struct lower *lower, const struct record *layer,
		      struct layer_key *key)
{
	const struct ast *parameters = declaration_parameters(layer->declaration);

	key->declaration = layer->declaration;
	key->count = parameters ? parameters->child_count : 0;
	key->value = ARENA_ARRAY(lower->arena, struct value, key->count);
	for (uint32_t i = 0; i < key->count; i++)
		if (!lower_name_value(lower, layer->scope,
				      parameters->child[i]->name, layer->span,
				      &key->value[i]))
			return false;
	return true;
}

static bool layer_key_equal(const struct layer_key *a, const struct layer_key *b)
{
	if (a->declaration != b->declaration)
		return false;
	for (uint32_t i = 0; i < a->count; i++)
		if (!value_equal(&a->value[i], &b->value[i]))
			return false;
	return true;
}

static void add_run(struct ir_model *model, uint32_t class_index, uint32_t count)
{
	if (model->run_count &&
	    model->run[model->run_count - 1].class_index == class_index) {
		model->run[model->run_count - 1].count += count;
		return;
	}
	model->run[model->run_count++] = (struct ir_run){ class_index, count };
}

/* The class of a layer, lowered unless an equal layer came before. */
static bool find_class(struct lower *lower, const struct record *layer,
		       struct layer_key *key, uint32_t *index)
{
	struct ir_model *model = &lower->ir->model;
	struct layer_key *own = &key[model->class_count];

	*index = model->class_count;
	if (!layer_key(lower, layer, own))
		return false;
	for (uint32_t i = 0; i < model->class_count; i++) {
		if (!layer_key_equal(&key[i], own))
			continue;
		*index = i;
		return true;
	}
	return lower_template(lower, layer, &model->class[model->class_count++]);
}

/* Each template is lowered although one before it failed. */
static bool lower_layers(struct lower *lower, const struct record *record)
{
	struct ir_model *model = &lower->ir->model;
	struct layer_key *key =
		ARENA_ARRAY(lower->arena, struct layer_key, record->part_count);
	bool good = true;

	model->class = ARENA_ARRAY(lower->arena, struct ir_class,
				   record->part_count);
	model->run = ARENA_ARRAY(lower->arena, struct ir_run, record->part_count);
	for (uint32_t i = 0; i < record->part_count; i++) {
		uint32_t index, count = record->part_repeat[i];
		struct ir_class *class;

		if (!eval_step(&lower->eval, record->part[i]->span))
			return false;
		if (!count)
			continue;
		good = find_class(lower, record->part[i], key, &index) && good;
		class = &model->class[index];
		class->is_block =
			!ir_find_operator(class, IR_AUXILIARY_LOSS) &&
			(class->is_block || count > 1 ||
			 ir_find_operator(class, IR_ATTENTION));
		add_run(model, index, count);
	}
	return good;
}

static bool check_chain(struct lower *lower, const struct record *record)
{
	uint64_t length = 0;

	for (uint32_t i = 0; i < record->part_count; i++)
		length += record->part_repeat[i];
	if (!length) {
		diag_error(lower->diags, E_MODEL_LAYERS, record->span,
			   "model '%s' has no layers", record->name);
		diag_help(lower->diags, "add for instance: layers { embedding(vocab = 32_000, "
			  "hidden) 32 * block(hidden) lm_head(vocab = 32_000, hidden) }");
		return false;
	}
	if (length <= CHAIN_MAX)
		return true;
	return diag_error(lower->diags, E_MODEL_LAYERS, record->span,
			  "model '%s' has %" PRIu64 " layers, and at most %d are possible",
			  record->name, length, CHAIN_MAX);
}

/* ---- joints between layers ---- */

static const char *shape_text(struct lower *lower, const struct ir_class *class,
			      uint32_t value)
{
	const struct ir_value *at = &class->value[value];
	struct text text;

	text_init(&text, lower->arena);
	text_append_char(&text, '[');
	for (uint32_t i = 0; i < at->rank; i++) {
		if (i)
			text_append(&text, ", ");
		extent_print(class->axis, &at->extent[i], &text);
		if (i > AXIS_SEQ)
			text_printf(&text, " = %" PRIu64,
				    ir_extent_size(class, &at->extent[i]));
	}
	text_append_char(&text, ']');
	return text.at;
}

static bool check_joint(struct lower *lower, const struct ir_class *before,
			const struct ir_class *after)
{
	const struct ir_value *out = &before->value[before->output];
	const struct ir_value *in = &after->value[after->input];
	bool fits = out->rank == in->rank;

	for (uint32_t i = 2; fits && i < out->rank; i++)
		fits = ir_extent_size(before, &out->extent[i]) ==
		       ir_extent_size(after, &in->extent[i]);
	if (fits)
		return true;
	diag_error(lower->diags, E_MODEL_JOINT, after->span,
		   "layer '%s' expects %s but '%s' before it gives %s", after->name,
		   shape_text(lower, after, after->input), before->name,
		   shape_text(lower, before, before->output));
	if (before != after)
		diag_note(lower->diags, before->span, "the layer before it");
	return false;
}

static bool check_joints(struct lower *lower)
{
	const struct ir_model *model = &lower->ir->model;
	bool good = true;

	for (uint32_t i = 0; i < model->class_count; i++)
		if (model->class[i].input == IR_NONE) {
			diag_error(lower->diags, E_TEMPLATE_INPUT,
				   model->class[i].span,
				   "the input of layer '%s' does not reach its result",
				   model->class[i].name);
			return false;
		}
	for (uint32_t i = 0; i < model->run_count; i++) {
		const struct ir_class *class = &model->class[model->run[i].class_index];

		if (i)
			good = check_joint(lower, &model->class[
						model->run[i - 1].class_index],
					   class) && good;
		if (model->run[i].count > 1)
			good = check_joint(lower, class, class) && good;
	}
	return good;
}

/* ---- tied weights ---- */

static bool same_weight(const struct ir_class *a_class,
			const struct ir_extent *a_rows,
			const struct ir_extent *a_columns,
			const struct ir_class *b_class,
			const struct ir_extent *b_rows,
			const struct ir_extent *b_columns)
{
	return ir_extent_size(a_class, a_rows) == ir_extent_size(b_class, b_rows) &&
	       ir_extent_size(a_class, a_columns) ==
	       ir_extent_size(b_class, b_columns);
}

/* Whether a class owns a weight that a tied operator can share: a head that of
 * an embedding, or one before the last layer that of the last one's head; an
 * embedding that of the first layer's. */
static bool can_share(const struct ir_model *model, const struct ir_class *owner,
		      const struct ir_class *class,
		      const struct ir_operator *tied)
{
	const struct ir_class *last =
		&model->class[model->run[model->run_count - 1].class_index];
	const struct ir_operator *embedding =
		ir_find_operator(owner, IR_EMBEDDING);
	const struct ir_operator *head = ir_find_operator(owner, IR_LM_HEAD);

	if (tied->kind == IR_LM_HEAD && owner == last && owner != class && head &&
	    !head->tied)
		return same_weight(owner, &head->to, &head->from, class, &tied->to,
				   &tied->from);
	if (!embedding || embedding->tied)
		return false;
	if (tied->kind == IR_EMBEDDING)
		return same_weight(owner, &embedding->from, &embedding->to, class,
				   &tied->from, &tied->to);
	return same_weight(owner, &embedding->from, &embedding->to, class,
			   &tied->to, &tied->from);
}

static bool report_tied(struct lower *lower, const struct ir_class *class,
			const struct ir_operator *tied)
{
	bool head = tied->kind == IR_LM_HEAD;

	diag_error(lower->diags, E_MODEL_TIED, class->span,
		   "the %s is tied, but no embedding of model '%s' "
		   "has %" PRIu64 " rows of %" PRIu64, head ? "head" : "embedding",
		   lower->ir->model.name,
		   ir_extent_size(class, head ? &tied->to : &tied->from),
		   ir_extent_size(class, head ? &tied->from : &tied->to));
	diag_help(lower->diags, "give both layers the same vocab and "
		  "hidden, or write tied = false");
	return false;
}

static bool check_tied_class(struct lower *lower, const struct ir_class *class)
{
	struct ir_model *model = &lower->ir->model;

	for (uint32_t i = 0; i < class->operator_count; i++) {
		const struct ir_operator *tied = &class->operator[i];
		uint32_t owner = 0;

		if (!tied->tied)
			continue;
		while (owner < model->class_count &&
		       !can_share(model, &model->class[owner], class, tied))
			owner++;
		if (owner == model->class_count)
			return report_tied(lower, class, tied);
		model->tied = true;
	}
	return true;
}

static bool check_tied(struct lower *lower)
{
	for (uint32_t i = 0; i < lower->ir->model.class_count; i++)
		if (!check_tied_class(lower, &lower->ir->model.class[i]))
			return false;
	return true;
}

/* ---- sums and facts ---- */

static bool count_layers(struct lower *lower)
{
	struct ir_model *model = &lower->ir->model;

	for (uint32_t i = 0; i < model->run_count; i++) {
		const struct ir_run *run = &model->run[i];
		const struct ir_class *class = &model->class[run->class_index];
		uint64_t parameters;

		if (class->is_block)
			model->layer_count += run->count;
		model->active_parameters += run->count * class->active_parameters;
		if (__builtin_mul_overflow(class->parameters, run->count,
					   &parameters) ||
		    __builtin_add_overflow(model->parameters, parameters,
					   &model->parameters) ||
		    model->parameters > SIZE_MAX_EXACT)
			return diag_error(lower->diags, E_MODEL_LAYERS, model->span,
					  "model '%s' has more than 2^53 parameters",
					  model->name);
	}
	return true;
}

static bool model_fact(struct lower *lower, const struct record *record,
		       const char *name, bool whole, double low, double high,
		       double *number)
{
	const struct field *field;

	if (!eval_field_number(&lower->eval, record, name, UNIT_NONE, false, number))
		return false;
	if (isfinite(*number) && *number >= low && *number <= high &&
	    (!whole || floor(*number) == *number))
		return true;
	field = record_find(record, intern_string(&lower->compilation->intern, name));
	return diag_error(lower->diags, E_MODEL_FACT,
			  field ? field->span : record->span,
			  "'%s' is %g, and must be %s from %g to %g", name, *number,
			  whole ? "a whole number" : "a number", low, high);
}

/* Every field means something, so that none is misspelt in silence. */
static bool check_fields(struct lower *lower, const struct record *record)
{
	static const char *const known[] = {
		"rotary_base", "max_positions", "norm_epsilon", "seq",
	};
	uint32_t count = sizeof(known) / sizeof(*known);
	bool good = true;

	for (uint32_t i = 0; i < record->field_count; i++) {
		const struct field *field = &record->field[i];
		uint32_t j = 0;

		while (j < count && strcmp(known[j], field->name))
			j++;
		if (j < count)
			continue;
		good = diag_error(lower->diags, E_MODEL_FIELD, field->span,
				  "a model has no field '%s'", field->name);
		if (!lower_suggest(lower, field->name, known, count))
			diag_help(lower->diags, "a value of the spec's own is a 'let': let %s = ..",
				  field->name);
	}
	return good;
}

static bool model_facts(struct lower *lower, const struct record *record)
{
	struct ir_model_facts *facts = &lower->ir->model.facts;
	double positions = 0;
	bool good;

	if (!check_fields(lower, record))
		return false;
	facts->norm_epsilon = 1e-5;
	good = model_fact(lower, record, "rotary_base", false, 0, 1e15,
			  &facts->rotary_base);
	good = model_fact(lower, record, "max_positions", true, 0, 1e12,
			  &positions) && good;
	facts->max_positions = (uint64_t)(good ? positions : 0);
	return model_fact(lower, record, "norm_epsilon", false, 0, 1,
			  &facts->norm_epsilon) && good;
}

/* The model's `seq`: a parameter, a let or a field. */
static bool model_sequence(struct lower *lower, const struct record *record)
{
	const char *seq = intern_string(&lower->compilation->intern, "seq");
	const struct field *field = record_find(record, seq);
	struct value value;

	if (field)
		value = *field->value;
	else if (!record->scope || !scope_find(record->scope, seq)) {
		diag_error(lower->diags, E_MODEL_SEQUENCE, record->span,
			   "model '%s' does not say its sequence length",
			   record->name);
		diag_help(lower->diags, "give it a parameter: model %s(seq = 4096) { .. }",
			  record->name);
		return false;
	} else if (!lower_name_value(lower, record->scope, seq, record->span,
				     &value))
		return false;
	if (value.kind == VALUE_ERROR)
		return false;
	if (value.kind == VALUE_NUMBER && unit_is_none(value.unit) &&
	    value_is_integer(&value) && value.number >= 1 && value.number <= 1e12) {
		lower->ir->model.sequence_length = (uint64_t)value.number;
		return true;
	}
	return diag_error(lower->diags, E_MODEL_SEQUENCE, record->span,
			  "'seq' of model '%s' must be a whole number of tokens from 1 on",
			  record->name);
}

bool lower_model(struct lower *lower)
{
	const struct record *record = lower->model;
	struct ir_model *model = &lower->ir->model;
	bool good;

	if (!record)
		return false;
	model->name = record->name;
	model->span = record->span;
	good = model_facts(lower, record);
	if (!model_sequence(lower, record) || !check_chain(lower, record) ||
	    !lower_layers(lower, record))
		return false;
	return check_joints(lower) && check_tied(lower) && count_layers(lower) &&
	       good;
}
