/* SPDX-License-Identifier: MIT
 *
 * `split` items of templates: which axis may be cut over which dimension at
 * all, and, once the graph is known, whether every value and operator can be
 * cut that way.
 */
#include <string.h>

#include "compiler/lower_template.h"

static const struct {
	const char *name;
	enum ir_split split;
} dimensions[] = {
	{ "tensor", IR_SPLIT_TENSOR },
	{ "context", IR_SPLIT_CONTEXT },
	{ "expert", IR_SPLIT_EXPERT },
	{ "expert_tensor", IR_SPLIT_EXPERT_TENSOR },
};

enum { DIMENSIONS = sizeof(dimensions) / sizeof(*dimensions) };

static const char *split_name(enum ir_split split)
{
	for (uint32_t i = 0; i < DIMENSIONS; i++)
		if (dimensions[i].split == split)
			return dimensions[i].name;
	return "data";
}

static bool split_dimension(struct template *template, const struct ast *item,
			    enum ir_split *split)
{
	const char *names[DIMENSIONS];
	struct lower *lower = template->lower;

	for (uint32_t i = 0; i < DIMENSIONS; i++) {
		names[i] = dimensions[i].name;
		if (strcmp(item->name, names[i]))
			continue;
		*split = dimensions[i].split;
		return true;
	}
	diag_error(lower->diags, E_SPLIT_DIMENSION, item->name_span,
		   "an axis cannot be split by '%s'", item->name);
	if (!strcmp(item->name, "data"))
		diag_note(lower->diags, SPAN_NONE,
			  "'batch' is always cut by data, without a split");
	else if (!strcmp(item->name, "pipeline"))
		diag_note(lower->diags, SPAN_NONE,
			  "pipeline stages cut the chain of layers, never an axis");
	else if (!strcmp(item->name, "sequence"))
		diag_note(lower->diags, SPAN_NONE, "sequence parallelism follows "
			  "from 'tensor' where the plan turns it on");
	else
		diag_note(lower->diags, SPAN_NONE,
			  "axes are split by tensor, context, expert or expert_tensor");
	lower_suggest(lower, item->name, names, DIMENSIONS);
	return false;
}

static bool split_refused(struct template *template, const struct ast *name,
			  enum ir_split split)
{
	struct diags *diags = template->lower->diags;
	bool is_seq = !strcmp(name->name, "seq");

	if (!strcmp(name->name, "batch")) {
		diag_error(diags, E_SPLIT_AXIS, name->span,
			   "'batch' cannot be split: data parallelism always cuts it");
		diag_help(diags, "leave 'batch' out of the split");
		return true;
	}
	if (is_seq && split != IR_SPLIT_CONTEXT) {
		diag_error(diags, E_SPLIT_AXIS, name->span,
			   "'seq' cannot be split by %s", split_name(split));
		diag_help(diags, split == IR_SPLIT_TENSOR ?
			  "sequence parallelism needs no split: "
			  "it is the plan variable 'sequence'" :
			  "write: split seq by context");
		return true;
	}
	if (!is_seq && split == IR_SPLIT_CONTEXT) {
		diag_error(diags, E_SPLIT_AXIS, name->span,
			   "'%s' cannot be split by context, which cuts 'seq' only",
			   name->name);
		diag_help(diags, "write: split seq by context");
		return true;
	}
	return false;
}

static bool split_axis(struct template *template, const struct ast *item,
		       const struct ast *name, enum ir_split split,
		       uint32_t pad)
{
	struct lower *lower = template->lower;
	struct ir_axis *axis;
	uint32_t index;

	if (name->kind != AST_NAME)
		return name->kind != AST_ERROR &&
		       diag_error(lower->diags, E_SPLIT_AXIS, name->span,
				  "only the name of an axis can be split");
	if (split_refused(template, name, split))
		return false;
	index = template_axis(template, name->name, name->span);
	if (index == IR_NONE)
		return false;
	axis = &template->axis.at[index];
	if (axis->split != IR_SPLIT_NONE) {
		diag_error(lower->diags, E_SPLIT_TWICE, name->span,
			   "axis '%s' is split twice", axis->name);
		diag_label(lower->diags, axis->split_span, "it is split here already");
		return false;
	}
	axis->split = split;
	axis->split_span = item->span;
	axis->pad = pad;
	return true;
}

bool template_split(struct template *template, const struct ast *item)
{
	enum ir_split split = IR_SPLIT_NONE;
	int64_t pad = 0;
	bool good = true;

	if (!split_dimension(template, item, &split))
		return false;
	if (item->child_count && item->child[0] &&
	    !eval_integer(&template->lower->eval, template->scope,
			  item->child[0], 1, 65536, "'pad'", &pad))
		return false;
	for (uint32_t i = 1; i < item->child_count; i++)
		good = split_axis(template, item, item->child[i], split,
				  (uint32_t)pad) && good;
	return good;
}

/* ---- against the graph ---- */

static bool is_cut(const struct ir_axis *axis)
{
	return axis->split == IR_SPLIT_TENSOR ||
	       axis->split == IR_SPLIT_EXPERT_TENSOR;
}

/* The first axis of an extent that is cut, or NULL. */
static const struct ir_axis *cut_axis(const struct ir_class *class,
				      const struct ir_extent *extent)
{
	for (uint32_t i = 0; i < extent->term_count; i++)
		for (uint32_t j = 0; j < extent->term[i].axis_count; j++)
			if (is_cut(&class->axis[extent->term[i].axis[j]]))
				return &class->axis[extent->term[i].axis[j]];
	return NULL;
}

static bool report_cut(struct lower *lower, const struct ir_axis *axis,
		       struct span span, const char *what)
{
	diag_error(lower->diags, E_SPLIT_AXIS, span,
		   "axis '%s' cannot be split by %s: %s", axis->name,
		   split_name(axis->split), what);
	diag_label(lower->diags, axis->split_span, "it is split here");
	diag_help(lower->diags, "leave '%s' out of the split", axis->name);
	return false;
}

/* Experts are cut over their own group, everything else over tensor. */
static bool check_region(struct lower *lower, const struct ir_axis *axis,
			 struct span span, bool routed)
{
	enum ir_split right = routed ? IR_SPLIT_EXPERT_TENSOR : IR_SPLIT_TENSOR;

	if (axis->split == right)
		return true;
	diag_error(lower->diags, E_SPLIT_AXIS, span,
		   "axis '%s' is split by %s, but %s", axis->name,
		   split_name(axis->split), routed ?
		   "within experts an axis is split by expert_tensor" :
		   "only axes of experts are");
	diag_label(lower->diags, axis->split_span, "it is split here");
	diag_help(lower->diags, routed ?
		  "write: split %s by expert_tensor" : "write: split %s by tensor",
		  axis->name);
	return false;
}

/* An extent can be cut if every term has exactly one axis that is. */
static bool check_extent(struct lower *lower, const struct ir_class *class,
			 const struct ir_extent *extent, struct span span,
			 bool routed)
{
	const struct ir_axis *first = cut_axis(class, extent);

	if (first && !check_region(lower, first, span, routed))
		return false;
	for (uint32_t i = 0; first && i < extent->term_count; i++) {
		const struct ir_term *term = &extent->term[i];
		uint32_t cut = 0;

		for (uint32_t j = 0; j < term->axis_count; j++)
			cut += is_cut(&class->axis[term->axis[j]]);
		if (cut == 1)
			continue;
		return report_cut(lower, first, span, cut ?
				  "another axis multiplied with it is split too" :
				  "a term added to it is not split");
	}
	return true;
}

static bool check_whole(struct lower *lower, const struct ir_class *class,
			const struct ir_extent *extent, struct span span,
			const char *why)
{
	const struct ir_axis *axis = cut_axis(class, extent);

	return !axis || report_cut(lower, axis, span, why);
}

/* Whether an axis split by expert counts the experts of this router. */
static bool check_router(struct lower *lower, const struct ir_class *class,
			 const struct ir_operator *operator)
{
	const struct ir_axis *experts =
		&class->axis[operator->to.term[0].axis[0]];

	if (experts->split == IR_SPLIT_NONE || experts->split == IR_SPLIT_EXPERT)
		return true;
	diag_error(lower->diags, E_SPLIT_AXIS, operator->span,
		   "axis '%s' counts experts and cannot be split by %s",
		   experts->name, split_name(experts->split));
	diag_label(lower->diags, experts->split_span, "it is split here");
	diag_help(lower->diags, "write: split %s by expert", experts->name);
	return false;
}

static bool check_operator(struct lower *lower, const struct ir_class *class,
			   const struct ir_operator *operator)
{
	const struct ir_value *input = &class->value[operator->input[0]];
	const struct ir_axis *from;

	switch (operator->kind) {
	case IR_RMSNORM:
	case IR_LAYERNORM:
		return check_whole(lower, class, operator->from.term_count ?
				   &operator->from :
				   &input->extent[input->rank - 1],
				   operator->span, "a norm needs all of it");
	case IR_EMBEDDING:
		return check_whole(lower, class, &operator->to, operator->span,
				   "an embedding is cut by its rows only");
	case IR_LM_HEAD:
		return check_whole(lower, class, &operator->from, operator->span,
				   "a head is cut by its outputs only");
	case IR_LINEAR:
		from = cut_axis(class, &operator->from);
		return !from || !cut_axis(class, &operator->to) ||
		       report_cut(lower, from, operator->span,
				  "this product would be cut on both sides");
	case IR_ROUTER:
		return check_router(lower, class, operator) &&
		       check_whole(lower, class, &operator->from, operator->span,
				   "a router needs all of it");
	case IR_DISPATCH:
	case IR_COMBINE:
		return check_whole(lower, class, &input->extent[input->rank - 1],
				   operator->span,
				   "what is sent to experts and back is whole");
	default:
		return true;
	}
}

/* An axis split by expert must count experts. */
static bool check_expert_axes(struct lower *lower, const struct ir_class *class)
{
	for (uint32_t i = 0; i < class->axis_count; i++) {
		const struct ir_axis *axis = &class->axis[i];
		bool counts = axis->split != IR_SPLIT_EXPERT;

		for (uint32_t j = 0; j < class->operator_count && !counts; j++)
			counts = class->operator[j].kind == IR_ROUTER &&
				 extent_has_axis(&class->operator[j].to, i);
		if (counts)
			continue;
		diag_error(lower->diags, E_SPLIT_AXIS, axis->split_span,
			   "axis '%s' is split by expert, but no router counts its "
			   "experts by it", axis->name);
		diag_help(lower->diags, "give it to the router: router(m, experts = %s, "
			  "top_k = 2)", axis->name);
		return false;
	}
	return true;
}

static bool check_value(struct lower *lower, const struct ir_class *class,
			uint32_t index)
{
	static const char residual[] = "what layers pass on is whole";
	const struct ir_value *value = &class->value[index];
	bool passed = index == class->input || index == class->output;

	for (uint32_t j = 0; j < value->rank; j++)
		if (!(passed ? check_whole(lower, class, &value->extent[j],
					   value->span, residual) :
			       check_extent(lower, class, &value->extent[j],
					    value->span,
					    value->router != IR_NONE)))
			return false;
	return true;
}

/* The first that is wrong tells enough. */
bool template_check_splits(struct lower *lower, const struct ir_class *class)
{
	const struct ir_value *output = &class->value[class->output];

	for (uint32_t i = 0; i < class->value_count; i++)
		if (!check_value(lower, class, i))
			return false;
	for (uint32_t i = 0; i < class->operator_count; i++)
		if (!check_operator(lower, class, &class->operator[i]))
			return false;
	if (!check_expert_axes(lower, class))
		return false;
	if (output->rank >= 2 && extent_has_axis(&output->extent[0], AXIS_BATCH))
		return true;
	return diag_error(lower->diags, E_SHAPE, output->span,
			  "a layer's result must begin with 'batch' and 'seq'");
}
