/* SPDX-License-Identifier: MIT
 *
 * Finds the parts of a layer in its operator graph, see the header.
 */
#include "compiler/recompute_module.h"

#include <string.h>

static const struct {
	const char *name, *what;
	bool discards;
} module_table[RECOMPUTE_MODULE_COUNT] = {
#define RECOMPUTE_MODULE(enumerator, name, discards, what) \
	[MODULE_##enumerator] = { name, what, discards },
#include "compiler/recompute_modules.def"
#undef RECOMPUTE_MODULE
};

static const char *const module_names[RECOMPUTE_MODULE_COUNT] = {
#define RECOMPUTE_MODULE(enumerator, name, discards, what) \
	[MODULE_##enumerator] = name,
#include "compiler/recompute_modules.def"
#undef RECOMPUTE_MODULE
};

const char *recompute_module_name(enum recompute_module module)
{
	return module_table[module].name;
}

const char *recompute_module_what(enum recompute_module module)
{
	return module_table[module].what;
}

bool recompute_module_discards(enum recompute_module module)
{
	return module_table[module].discards;
}

enum recompute recompute_of_class(const struct ir_class *class,
				  enum recompute policy)
{
	bool partly = policy == RECOMPUTE_SELECTIVE &&
		      ir_find_operator(class, IR_ATTENTION);

	return class->is_block || partly ? policy : RECOMPUTE_NONE;
}

const char *const *recompute_module_names(void)
{
	return module_names;
}

enum recompute_module recompute_module_find(const char *name)
{
	int i = 0;

	while (i < RECOMPUTE_MODULE_COUNT && strcmp(module_names[i], name))
		i++;
	return (enum recompute_module)i;
}

uint32_t recompute_module_around(enum recompute_module module)
{
	if (module == MODULE_EXPERT_ACTIVATION || module == MODULE_SHARED_EXPERT)
		return recompute_module_bit(MODULE_EXPERTS);
	return 0;
}

uint32_t ir_recompute_modules(const struct ir_job *job)
{
	return job->recompute_modules ? job->recompute_modules :
			recompute_module_bit(MODULE_CORE_ATTENTION);
}

enum recompute_module recompute_module_chosen(uint32_t of_operator, uint32_t chosen)
{
	uint32_t both = of_operator & chosen;
	int i = 0;

	while (i < RECOMPUTE_MODULE_COUNT && !(both >> i & 1))
		i++;
	return (enum recompute_module)i;
}

void recompute_modules_print(uint32_t set, const char *separator,
			     struct text *out)
{
	const char *before = "";

	for (int i = 0; i < RECOMPUTE_MODULE_COUNT; i++) {
		if (!(set >> i & 1))
			continue;
		text_printf(out, "%s%s", before, module_names[i]);
		before = separator;
	}
}

/* One layer being searched. Marks are by value. */
struct finder {
	const struct ir_class *class;
	uint32_t *modules;		/* by operator */
	bool *above;			/* the value comes from the one looked at */
	bool *below;			/* the one looked at comes from the value */
};

static bool is_norm(const struct ir_operator *operator)
{
	return operator->kind == IR_RMSNORM || operator->kind == IR_LAYERNORM;
}

static void add(struct finder *finder, uint32_t operator,
		enum recompute_module module)
{
	finder->modules[operator] |= recompute_module_bit(module);
}

/* Operators lie in the order in which they run, so one pass does it. */
static void mark_above(struct finder *finder, uint32_t value)
{
	const struct ir_class *class = finder->class;

	memset(finder->above, 0, class->value_count * sizeof(*finder->above));
	finder->above[value] = true;
	for (uint32_t i = 0; i < class->operator_count; i++) {
		const struct ir_operator *operator = &class->operator[i];

		for (uint32_t j = 0; j < operator->input_count; j++)
			if (finder->above[operator->input[j]])
				finder->above[operator->output] = true;
	}
}

static void mark_below(struct finder *finder, uint32_t value)
{
	const struct ir_class *class = finder->class;

	memset(finder->below, 0, class->value_count * sizeof(*finder->below));
	finder->below[value] = true;
	for (uint32_t i = class->operator_count; i-- > 0;) {
		const struct ir_operator *operator = &class->operator[i];

		for (uint32_t j = 0; j < operator->input_count; j++)
			if (finder->below[operator->output])
				finder->below[operator->input[j]] = true;
	}
}

static bool is_cut_by_tensor(const struct ir_class *class,
			     const struct ir_extent *extent)
{
	for (uint32_t i = 0; i < extent->term_count; i++)
		for (uint32_t j = 0; j < extent->term[i].axis_count; j++)
			if (class->axis[extent->term[i].axis[j]].split ==
			    IR_SPLIT_TENSOR)
				return true;
	return false;
}

/* Whether a norm is part of the products that read it. */
static bool is_fused_norm(const struct ir_class *class,
			  const struct ir_operator *norm)
{
	bool read = false;

	if (norm->output == class->output || norm->eager)
		return false;
	for (uint32_t i = 0; i < class->operator_count; i++) {
		const struct ir_operator *operator = &class->operator[i];

		for (uint32_t j = 0; j < operator->input_count; j++) {
			if (operator->input[j] != norm->output)
				continue;
			if (operator->kind != IR_LINEAR ||
			    !is_cut_by_tensor(class, &operator->to))
				return false;
			read = true;
		}
	}
	return read;
}

static bool reads(const struct ir_operator *operator, uint32_t value)
{
	for (uint32_t i = 0; i < operator->input_count; i++)
		if (operator->input[i] == value)
			return true;
	return false;
}

static bool is_between(const struct finder *finder,
		       const struct ir_operator *operator, uint32_t from)
{
	return operator->output != from && finder->above[operator->output] &&
	       finder->below[operator->output];
}

/* Whether an operator of a branch is not part of its module: the norm before it
 * where that is a kernel of its own, norm and dropout behind it. */
static bool is_outside(const struct finder *finder, const struct ir_operator *operator,
		       uint32_t from, uint32_t to)
{
	if (is_norm(operator) && reads(operator, from))
		return !is_fused_norm(finder->class, operator);
	return operator->output == to &&
	       (is_norm(operator) || operator->kind == IR_DROPOUT);
}

/* The expert every token sees: products and activations beside the routed ones. */
static bool is_beside(const struct ir_class *class, const struct ir_operator *operator)
{
	return class->value[operator->output].router == IR_NONE &&
	       operator->kind != IR_ROUTER && operator->kind != IR_COMBINE &&
	       operator->kind != IR_ADD && !is_norm(operator);
}

/* `from` + `to`, the second computed from the first. */
static void mark_branch(struct finder *finder, uint32_t from, uint32_t to)
{
	const struct ir_class *class = finder->class;
	bool attention = false, experts = false;

	mark_above(finder, from);
	if (!finder->above[to])
		return;
	mark_below(finder, to);
	for (uint32_t i = 0; i < class->operator_count; i++) {
		const struct ir_operator *operator = &class->operator[i];

		if (!is_between(finder, operator, from))
			continue;
		attention |= operator->kind == IR_ATTENTION;
		experts |= operator->kind == IR_DISPATCH;
	}
	for (uint32_t i = 0; i < class->operator_count && !attention; i++) {
		const struct ir_operator *operator = &class->operator[i];

		if (!is_between(finder, operator, from) ||
		    is_outside(finder, operator, from, to))
			continue;
		add(finder, i, experts ? MODULE_EXPERTS : MODULE_MLP);
		if (experts && is_beside(class, operator))
			add(finder, i, MODULE_SHARED_EXPERT);
	}
}

/* The products that end in a value of latent attention, and the norm they read. */
static void mark_latent(struct finder *finder, uint32_t value)
{
	const struct ir_class *class = finder->class;
	uint32_t product = class->value[value].producer, norm;

	if (product == IR_NONE || class->operator[product].kind != IR_LINEAR)
		return;
	add(finder, product, MODULE_LATENT_UP);
	norm = class->value[class->operator[product].input[0]].producer;
	if (norm != IR_NONE && is_norm(&class->operator[norm]) &&
	    is_fused_norm(class, &class->operator[norm]))
		add(finder, norm, MODULE_LATENT_UP);
}

/* Norms of the layer's input or of a sum. */
static bool is_stream_norm(const struct ir_class *class,
			   const struct ir_operator *operator)
{
	uint32_t producer = class->value[operator->input[0]].producer;

	return is_norm(operator) && !operator->from.term_count &&
	       operator->output != class->output &&
	       !is_fused_norm(class, operator) &&
	       (producer == IR_NONE || class->operator[producer].kind == IR_ADD);
}

static bool is_expert_activation(const struct ir_class *class,
				 const struct ir_operator *operator)
{
	return class->value[operator->output].router != IR_NONE &&
	       (operator->kind == IR_GELU || operator->kind == IR_SILU ||
		operator->kind == IR_RELU || operator->kind == IR_MULTIPLY);
}

uint32_t *recompute_modules_of(const struct ir_class *class, struct arena *arena)
{
	struct finder finder = {
		.class = class,
		.modules = ARENA_ARRAY(arena, uint32_t, class->operator_count),
		.above = ARENA_ARRAY(arena, bool, class->value_count),
		.below = ARENA_ARRAY(arena, bool, class->value_count),
	};

	for (uint32_t i = 0; i < class->operator_count; i++) {
		const struct ir_operator *operator = &class->operator[i];

		if (operator->kind == IR_ATTENTION)
			add(&finder, i, MODULE_CORE_ATTENTION);
		for (uint32_t j = 0; operator->kind == IR_ATTENTION &&
				     operator->input_count > 3 && j < 3; j++)
			mark_latent(&finder, operator->input[j]);
		if (is_stream_norm(class, operator))
			add(&finder, i, MODULE_NORM);
		if (is_expert_activation(class, operator))
			add(&finder, i, MODULE_EXPERT_ACTIVATION);
		if (operator->kind != IR_ADD)
			continue;
		mark_branch(&finder, operator->input[0], operator->input[1]);
		mark_branch(&finder, operator->input[1], operator->input[0]);
	}
	return finder.modules;
}
