/* SPDX-License-Identifier: MIT
 *
 * Counts floating-point operations of an iteration from the operator graphs.
 */
#include "compiler/flops.h"

#include "compiler/operator_time.h"
#include "compiler/recompute_module.h"

static double extent_size(const struct ir *ir, const struct ir_class *class,
			  const struct ir_extent *extent)
{
	double sum = 0;

	for (uint32_t i = 0; i < extent->term_count; i++) {
		const struct ir_term *term = &extent->term[i];
		double product = (double)term->coefficient;

		for (uint32_t j = 0; j < term->axis_count; j++) {
			const struct ir_axis *axis = &class->axis[term->axis[j]];

			product *= axis->split == IR_SPLIT_DATA ?
					   ir->job.global_batch :
					   (double)axis->size;
		}
		sum += product;
	}
	return sum;
}

/* Elements of a value without its last extent, for the global batch; of a
 * routed one the rows that tokens are sent as, unfilled capacity aside. */
static double rows(const struct ir *ir, const struct ir_class *class,
		   uint32_t value)
{
	const struct ir_value *of = &class->value[value];
	double product = 1;

	if (of->router != IR_NONE)
		product = (double)class->operator[of->router].top_k;

	for (uint32_t i = 0; i + 1 < of->rank; i++)
		product *= extent_size(ir, class, &of->extent[i]);
	return product;
}

static double product_flops(const struct ir *ir, const struct ir_class *class,
			    const struct ir_operator *operator)
{
	return 2 * rows(ir, class, operator->input[0]) *
	       extent_size(ir, class, &operator->from) *
	       extent_size(ir, class, &operator->to);
}

static double core_flops(const struct ir *ir, const struct ir_class *class,
			 const struct ir_operator *operator, bool causal)
{
	struct attention_shape shape = {
		.batch = ir->job.global_batch,
		.query_tokens = (double)ir->model.sequence_length,
		.key_tokens = (double)ir->model.sequence_length,
		.heads = (double)class->axis[operator->heads_axis].size,
		.kv_heads = (double)class->axis[operator->kv_heads_axis].size,
		.head_dim = (double)operator->head_size,
		.value_dim = (double)operator->value_size,
		.causal = operator->causal && causal,
		.window = (double)operator->window,
	};

	return attention_flops(&shape);
}

/* Adds one layer's operator. */
static void add_operator(const struct ir *ir, const struct ir_class *class,
			 const struct ir_operator *operator, bool redone,
			 double count, struct flops *flops)
{
	double forward, causal, executed;

	if (operator->kind == IR_ATTENTION) {
		forward = count * core_flops(ir, class, operator, false);
		causal = count * core_flops(ir, class, operator, true);
		executed = operator->flash ? causal : forward;
		flops->model += 3 * forward;
		flops->model_causal += 3 * causal;
		flops->hardware += (redone ? 4 : 3) * forward;
		flops->executed += executed * ((operator->flash ? 3.5 : 3) +
					       (redone ? 1 : 0));
		return;
	}
	if (operator->kind == IR_LINEAR || operator->kind == IR_LM_HEAD ||
	    operator->kind == IR_ROUTER)
		forward = count * product_flops(ir, class, operator);
	else if (operator->kind == IR_CUSTOM)
		forward = count * operator->custom_flops * ir->job.global_batch *
			  (double)ir->model.sequence_length;
	else
		return;
	flops->model += 3 * forward;
	flops->model_causal += 3 * forward;
	flops->hardware += (redone ? 4 : 3) * forward;
	flops->executed += (redone ? 4 : 3) * forward;
}

/* Adds so many layers of a class. */
static void add_layers(const struct ir *ir, uint32_t class_index, uint32_t count,
		       enum recompute recompute, struct arena *arena,
		       struct flops *flops)
{
	const struct ir_class *class = &ir->model.class[class_index];
	uint32_t chosen = ir_recompute_modules(&ir->job);
	uint32_t *modules = recompute_modules_of(class, arena);

	recompute = recompute_of_class(class, recompute);
	for (uint32_t i = 0; i < class->operator_count; i++) {
		bool redone = recompute == RECOMPUTE_FULL ||
			      (recompute == RECOMPUTE_SELECTIVE &&
			       (modules[i] & chosen));

		add_operator(ir, class, &class->operator[i], redone, count,
			     flops);
	}
}

struct flops ir_flops(const struct ir *ir, enum recompute recompute)
{
	struct flops flops = { 0 };
	struct arena arena;

	arena_init(&arena);
	for (uint32_t i = 0; i < ir->model.run_count; i++)
		add_layers(ir, ir->model.run[i].class_index,
			   ir->model.run[i].count, recompute, &arena, &flops);
	arena_release(&arena);
	return flops;
}

/* A walk over the chain that counts what is recomputed. */
struct recomputation {
	const struct plan *plan;
	uint32_t chunk;			/* that the position is in */
	uint32_t left;			/* layers it still recomputes */
	uint32_t position;
};

/* Goes on by so many layers; of blocks those that are recomputed. */
static uint32_t walk_layers(struct recomputation *walk, uint32_t count,
			    bool are_blocks)
{
	const uint32_t *first = walk->plan->chunk_first;
	uint32_t end = walk->position + count, blocks = 0;

	while (walk->position < end) {
		uint32_t stop = first[walk->chunk + 1] < end ?
			first[walk->chunk + 1] : end;
		uint32_t here = stop - walk->position;

		here = !are_blocks ? 0 : here < walk->left ? here : walk->left;
		blocks += here;
		walk->left -= here;
		walk->position = stop;
		if (stop != first[walk->chunk + 1])
			continue;
		walk->chunk++;
		walk->left = walk->plan->choice.recompute_layers;
	}
	return blocks;
}

struct flops ir_plan_flops(const struct ir *ir, const struct plan *plan,
			   uint32_t *recomputed)
{
	const struct choice *choice = &plan->choice;
	struct recomputation walk = { .plan = plan,
				      .left = choice->recompute_layers };
	struct flops flops = { 0 };
	struct arena arena;

	*recomputed = choice->recompute == RECOMPUTE_FULL ?
		ir->model.layer_count : 0;
	if (!choice->recompute_layers)
		return ir_flops(ir, choice->recompute);
	*recomputed = 0;
	arena_init(&arena);
	for (uint32_t i = 0; i < ir->model.run_count; i++) {
		const struct ir_run *run = &ir->model.run[i];
		uint32_t full = walk_layers(
			&walk, run->count,
			ir->model.class[run->class_index].is_block);

		add_layers(ir, run->class_index, full, RECOMPUTE_FULL, &arena,
			   &flops);
		add_layers(ir, run->class_index, run->count - full,
			   RECOMPUTE_NONE, &arena, &flops);
		*recomputed += full;
	}
	arena_release(&arena);
	return flops;
}

double ir_model_flops(const struct ir *ir)
{
	return ir_flops(ir, RECOMPUTE_NONE).model;
}
