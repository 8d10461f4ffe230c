/* SPDX-License-Identifier: MIT
 *
 * --emit solver-input: the job as a problem file of the published NEST solver.
 * That solver searches tensor width, replicas, stages and cuts; what else the
 * form holds once (context degree, sequence parallelism, micro-batch,
 * recomputation) is that of the plan found.
 *
 * A node is a layer, an edge what it sends on. Times are seconds of one
 * micro-batch, exchanges within the layer included, with tensor ranks as far
 * inside the network as they go. parameterSize is in bytes of the weights;
 * gradients count for as much again there and Adam for six times it, which is
 * that solver's rule and not this program's. Memory of a device is what the
 * reserve leaves. The bandwidth of a level is what reaches the wire: times its
 * efficiency, over its oversubscription.
 */
#include <stdio.h>

#include <jansson.h>

#include "compiler/emit.h"
#include "compiler/job_names.h"
#include "compiler/json_print.h"
#include "compiler/json_set.h"
#include "lang/compilation.h"
#include "solver/layer.h"
#include "solver/published.h"
#include "solver/view.h"

/* Cycles per millisecond of the published files; nothing here is in cycles. */
#define FREQUENCY 1.05e6

struct form {
	const struct emit_input *input;
	const struct problem *problem;
	struct attempts attempts;
	struct view view;
	struct arena scratch;
	uint32_t length;
};

static bool refuse(const struct form *form, struct span span, const char *what,
		   const char *help)
{
	struct diags *diags = &form->input->compilation->diags;

	diag_error(diags, E_SOLVER_INPUT, span,
		   "a problem file of the published solver cannot say that %s", what);
	diag_help(diags, "%s", help);
	return false;
}

static bool levels_are_plain(const struct form *form)
{
	const struct ir_topology *topology = &form->input->ir->topology;

	if (topology->kind_count)
		return refuse(form, topology->span, "devices differ",
			      "give the job a topology of one kind of device");
	if (topology->graph)
		return refuse(form, topology->span, "the network is a graph",
			      "give the job a topology of levels");
	for (uint32_t l = 0; l < topology->level_count; l++) {
		const struct problem_level *level = &topology->level[l].network;

		if (level->kind != LEVEL_SWITCH)
			return refuse(form, topology->level[l].span,
				      "a level is no switch",
				      "describe it as a switch of the same bandwidth");
		if (level->in_network_reduction)
			return refuse(form, topology->level[l].span,
				      "switches add up",
				      "leave out 'in_network_reduction'");
	}
	return true;
}

/* Its name in the form, which knows two; else NULL. */
static const char *form_optimizer(enum ir_optimizer optimizer)
{
	switch (optimizer) {
	case IR_ADAM:
		return "Adam";
	case IR_SGD:
		return "SGD";
	default:
		return NULL;
	}
}

static bool optimizer_is_known(const struct form *form)
{
	const struct ir_job *job = &form->input->ir->job;
	char *what;

	if (form_optimizer(job->optimizer))
		return true;
	what = arena_printf(&form->input->compilation->arena,
			    "the optimizer is '%s'",
			    optimizer_name(job->optimizer));
	return refuse(form, job->span, what, "use 'optimizer = adam' or 'sgd'");
}

static bool can_say(const struct form *form)
{
	const struct problem_shape *shape =
		&form->problem->shape[form->input->plan->choice.shape];
	const struct ir *ir = form->input->ir;

	if (!levels_are_plain(form) || !optimizer_is_known(form))
		return false;
	if (form->problem->device_count > PUBLISHED_DEVICES_MAX)
		return refuse(form, ir->topology.span, "there are so many devices",
			      "use at most 131,072");
	if (form->length > PUBLISHED_NODES_MAX)
		return refuse(form, ir->model.span, "the chain is so long",
			      "use a model of at most 512 layers");
	if (shape->expert > 1 || shape->expert_tensor > 1)
		return refuse(form, ir->job.span,
			      "ranks of experts are ranks of data parallelism too",
			      "write 'expert in { 1 }' into the job's 'search'");
	return true;
}

/* ---- network ---- */

/* What a device reaches when all of its child send. */
static double rate(const struct problem_level *level, double child_devices)
{
	double ports = level->nics && level->nics < child_devices ?
		level->nics / child_devices : 1;

	return level->bandwidth_Bps * level->efficiency * ports /
	       level->oversubscription;
}

static void set_network(const struct form *form, json_t *root)
{
	json_t *rates = json_array(), *latencies = json_array();
	json_t *fanouts = json_array();
	double below = 1;

	for (uint32_t l = 0; l < form->problem->level_count; l++) {
		const struct problem_level *level = &form->problem->level[l];

		json_array_append_new(rates, json_real(rate(level, below)));
		json_array_append_new(latencies, json_real(level->latency_s));
		json_array_append_new(fanouts, json_integer(level->fanout));
		below *= level->fanout;
	}
	json_set(root, "bandwidth", json_copy(json_array_get(rates, 0)));
	json_set(root, "bws", rates);
	json_set(root, "latency_per_level", latencies);
	json_set(root, "devices_per_level", fanouts);
}

/* ---- layers ---- */

/* The shape of that width which is otherwise that of the plan. */
static bool find_width(const struct form *form, uint32_t tensor, uint32_t *index)
{
	const struct problem *problem = form->problem;
	const struct problem_shape *like =
		&problem->shape[form->input->plan->choice.shape];
	bool found = false;

	for (uint32_t i = 0; i < problem->shape_count; i++) {
		const struct problem_shape *shape = &problem->shape[i];

		if (shape->tensor != tensor || shape->context != like->context ||
		    shape->expert != 1 || shape->expert_tensor != 1 ||
		    shape->micro_batch != like->micro_batch)
			continue;
		/* A plan of width 1 says nothing of sequence parallelism. */
		if (tensor > 1 && like->tensor > 1 &&
		    shape->sequence != like->sequence)
			continue;
		*index = i;
		found = true;
	}
	return found;
}

static bool load_width(struct form *form, uint32_t shape)
{
	static const enum dimension order[DIMENSION_COUNT] = {
		DIMENSION_TENSOR, DIMENSION_CONTEXT, DIMENSION_DATA,
		DIMENSION_PIPELINE
	};
	const struct choice *found = &form->input->plan->choice;
	struct choice choice = {
		.shape = shape, .pipeline = 1, .virtual_stages = 1,
		.recompute = found->recompute == RECOMPUTE_FULL ? RECOMPUTE_NONE :
								  found->recompute,
	};

	choice.data = attempts_data(&form->attempts, shape, 1,
				    form->problem->device_count);
	if (!choice.data || !view_place(&form->view, &choice, order))
		return false;
	choice.micro_batches = 1;
	view_load(&form->view, &form->attempts, &choice, 0);
	return true;
}

static json_t *node_json(const struct form *form, uint32_t shape, uint32_t layer)
{
	const struct problem *problem = form->problem;
	uint32_t class = form->attempts.class_of[layer];
	const struct problem_weight *weight =
		problem_weight_at(problem, shape, class);

	return json_pack("{s:I,s:f,s:f,s:b,s:f,s:f,s:i}", "id", (json_int_t)layer,
			 "activationSize", form->view.kept_bytes[layer + 1] -
					   form->view.kept_bytes[layer],
			 "parameterSize", (weight->parameters +
					   weight->expert_parameters) *
					  problem->memory.weight_bytes,
			 "isTensorParallelized", problem->shape[shape].tensor > 1,
			 "optimalLatencyFw", form->view.layer[class].forward_s,
			 "optimalLatencyBw", form->view.layer[class].backward_s,
			 "energy", 0);
}

static void set_width(struct form *form, uint32_t shape, json_t *nodes,
		      json_t *edges)
{
	char key[16];
	json_t *chain = json_array(), *joints = json_array();

	for (uint32_t i = 0; i < form->length; i++) {
		json_array_append_new(chain, node_json(form, shape, i));
		if (i)
			json_array_append_new(joints, json_pack("{s:I,s:I,s:f}",
				"sourceId", (json_int_t)i - 1,
				"destId", (json_int_t)i, "communicationCost",
				problem_weight_at(form->problem, shape,
					form->attempts.class_of[i - 1])
					->output_bytes));
	}
	snprintf(key, sizeof(key), "%u", form->problem->shape[shape].tensor);
	json_set(nodes, key, chain);
	json_set(edges, key, joints);
}

static void set_layers(struct form *form, json_t *root)
{
	json_t *nodes = json_object(), *edges = json_object();

	for (uint32_t t = 1; t <= form->problem->device_count; t++) {
		uint32_t shape;

		if (find_width(form, t, &shape) && load_width(form, shape))
			set_width(form, shape, nodes, edges);
	}
	json_set(root, "nodes", nodes);
	json_set(root, "edges", edges);
}

/* ---- the rest ---- */

/* Plans written by hand that fix the three degrees. */
static void set_baselines(const struct form *form, json_t *root)
{
	const struct ir *ir = form->input->ir;
	json_t *all = json_object();

	for (uint32_t i = 0; i < ir->job.plan_count; i++) {
		const struct ir_plan *plan = &ir->job.plan[i];
		const struct ir_domain *p = &plan->domain[VARIABLE_PIPELINE];
		const struct ir_domain *t = &plan->domain[VARIABLE_TENSOR];
		const struct ir_domain *d = &plan->domain[VARIABLE_DATA];

		if (p->given && t->given && d->given)
			json_set(all, plan->name, json_pack("{s:I,s:I,s:I,s:I}",
				     "p", (json_int_t)p->at[0], "t", (json_int_t)t->at[0],
				     "d", (json_int_t)d->at[0], "num_transformer_layers",
				     (json_int_t)ir->model.layer_count));
	}
	json_set(root, "baselines", all);
}

static json_t *form_json(struct form *form)
{
	const struct problem *problem = form->problem;
	const struct choice *choice = &form->input->plan->choice;
	const struct problem_shape *shape = &problem->shape[choice->shape];
	json_t *root = json_pack("{s:i,s:b,s:I}", "ep_degree", 1, "sp_enabled",
				 shape->sequence, "cp_degree",
				 (json_int_t)shape->context);

	json_set(root, "maxMemoryPerDevice", json_real(problem->memory.limit_bytes -
						       problem->memory.reserve_bytes));
	json_set(root, "maxDevices", json_integer(problem->device_count));
	set_network(form, root);
	json_set(root, "frequency", json_real(FREQUENCY));
	json_set(root, "mbsInBatch",
		 json_integer(problem->global_batch / shape->micro_batch));
	set_layers(form, root);
	json_set(root, "activationRecomputation",
		 json_boolean(choice->recompute == RECOMPUTE_FULL));
	json_set(root, "optimizerAlgorithm",
		 json_string(form_optimizer(form->input->ir->job.optimizer)));
	set_baselines(form, root);
	return root;
}

bool emit_solver_input(const struct emit_input *input, struct text *out)
{
	struct form form = { .input = input, .problem = input->problem };
	json_t *root;
	bool good;

	arena_init(&form.scratch);
	form.length = problem_chain_length(form.problem);
	good = can_say(&form);
	if (good) {
		attempts_init(&form.attempts, form.problem, &form.scratch,
			      &form.scratch);
		view_true(&form.view, &form.attempts);
		root = form_json(&form);
		json_print(root, 0, out);
		text_append_char(out, '\n');
		json_decref(root);
	}
	arena_release(&form.scratch);
	return good;
}
