/* SPDX-License-Identifier: MIT
 *
 * --emit megatron: a bash file with the arguments of Megatron-LM's
 * pretrain_gpt.py that build the model and run the plan, and with where each rank
 * runs when that is not as Megatron-LM would have it.
 */
#include "compiler/emit_megatron.h"

#include "compiler/describe.h"
#include "compiler/megatron_shards.h"
#include "compiler/site.h"
#include "lang/base/path.h"
#include "lang/compilation.h"

/* Text in a comment: one line, printable. */
static const char *clean(struct arena *arena, const char *text)
{
	char *copy = arena_printf(arena, "%s", text);

	for (char *c = copy; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
	return copy;
}

static void print_header(struct megatron *megatron, struct text *out)
{
	const struct emit_input *input = megatron->input;
	const struct ir_topology *topology = &megatron->ir->topology;
	struct arena *arena = &input->compilation->arena;

	text_printf(out, "# Arguments for Megatron-LM, made by nestc %s from %s, job '%s'.\n#\n",
		    PACKAGE_VERSION, clean(arena, path_name(input->spec_name)),
		    megatron->ir->job.name);
	text_printf(out, "# model    %s, ", megatron->ir->model.name);
	describe_parameters((double)megatron->ir->model.parameters, out);
	text_printf(out, " parameters\n# cluster  %s, ", topology->name);
	cluster_describe(topology, out);
	text_append(out, "\n# plan     ");
	describe_choice(input->problem, megatron->plan, out);
	text_printf(out, "\n# needs    megatron-core 0.%d.%d or later%s\n#\n",
		    megatron->minor, megatron->patch,
		    megatron->ir->job.optimizer == IR_MUON ?
			    ", and the package emerging-optimizers" : "");
	text_append(out, "# Source this file with bash, then start one process a device:\n"
			 "#   pretrain_gpt.py \"${MEGATRON_ARGS[@]}\" DATA TOKENIZER SCHEDULE "
			 "CHECKPOINT\n"
			 "# where the words in capitals are your own flags: they do not change "
			 "the plan.\n");
}

static void print_launchers(struct megatron *megatron, struct text *out)
{
	const struct node_order *nodes = &megatron->nodes;

	if (nodes->is_whole && nodes->ranks > 1)
		text_printf(out, "# The ranks of a node follow one another: those from %u i on run on node\n"
				 "# ${NODE_ORDER[i]}. torchrun does it with --nproc-per-node %u "
				 "--nnodes %u there,\n"
				 "# --node-rank i, and as --master-addr the node ${NODE_ORDER[0]}.\n",
			    nodes->ranks, nodes->ranks, nodes->count);
	else if (nodes->are_blocks)
		text_append(out, "# The ranks of a node follow one another: any launcher can do "
				 "it that is given\n"
				 "# the nodes, and the devices of each, in the order of the "
				 "list.\n");
	else
		text_append(out, "# The ranks of a node do not follow one another, which torchrun "
				 "cannot start:\n"
				 "# take a launcher that places every rank, such as srun "
				 "--distribution=arbitrary\n"
				 "# or mpirun with a rankfile.\n");
}

static void print_order(struct megatron *megatron, struct text *out)
{
	text_printf(out, "#\n# Megatron-LM numbers its ranks in the order %s. ",
		    rank_order_name(megatron->order));
	switch (megatron->match) {
	case RANK_MATCH_SAME:
		text_append(out, "With it rank r runs\n"
				 "# on device r: start the ranks in the order of the devices.\n");
		return;
	case RANK_MATCH_ASCENDING:
		text_append(out, "The plan leaves\n"
				 "# devices idle: start rank r on device ${RANK_TO_DEVICE[r]}, "
				 "listed below.\n");
		print_launchers(megatron, out);
		return;
	case RANK_MATCH_NONE:
		text_append(out, "Neither of its\n"
				 "# orders puts rank r on device r under this plan: start rank r "
				 "on device\n"
				 "# ${RANK_TO_DEVICE[r]}, listed below. In another order the "
				 "exchange is slower.\n");
		print_launchers(megatron, out);
		return;
	}
}

/* The name of a device's node: its own without what follows the last '/'. */
static void print_node(const struct ir_topology *topology, uint32_t device,
		       struct text *out)
{
	size_t begin = out->length;

	device_path(topology, device, out);
	while (out->length > begin && out->at[out->length - 1] != '/')
		out->length--;
	if (out->length > begin)
		out->at[--out->length] = '\0';
}

static void print_nodes(struct megatron *megatron, struct text *out)
{
	const struct node_order *nodes = &megatron->nodes;

	if (!nodes->is_whole || nodes->ranks == 1)
		return;
	text_append(out, "\n# Nodes are numbered from the first one of the cluster on.\n"
			 "NODE_ORDER=(\n");
	for (uint32_t i = 0; i < nodes->count; i++) {
		text_printf(out, "  %-7u # ranks %u to %u: ", nodes->node[i],
			    i * nodes->ranks, (i + 1) * nodes->ranks - 1);
		print_node(&megatron->ir->topology, nodes->device[i], out);
		text_append_char(out, '\n');
	}
	text_append(out, ")\n");
}

static void print_devices(struct megatron *megatron, struct text *out)
{
	if (megatron->match == RANK_MATCH_SAME)
		return;
	print_nodes(megatron, out);
	text_append(out, "\n# Devices are numbered from the first one of the first node on.\n"
			 "RANK_TO_DEVICE=(\n");
	for (uint32_t i = 0; i < megatron->plan->devices; i++) {
		struct rank rank = rank_at(megatron->input->problem,
					   megatron->plan, megatron->order, i);

		rank.device = physical_device(megatron->plan, rank.device);
		text_printf(out, "  %-7u # rank %u: ", rank.device, i);
		device_path(&megatron->ir->topology, rank.device, out);
		text_append_char(out, '\n');
	}
	text_append(out, ")\n");
}

static void print_environment(struct megatron *megatron, struct text *out)
{
	text_printf(out, "\nMEGATRON_WORLD_SIZE=%u\n", megatron->plan->devices);
	if (megatron->choice->zero > 1) {
		text_append(out, "# Sharded parameters arrive while kernels run.\n"
				 "unset CUDA_DEVICE_MAX_CONNECTIONS\n");
		return;
	}
	if (megatron->shape->tensor == 1 && megatron->shape->context == 1)
		return;
	text_append(out, "# The order of kernels that tensor and context parallelism rely on.\n"
			 "export CUDA_DEVICE_MAX_CONNECTIONS=1\n");
}

bool emit_megatron(const struct emit_input *input, struct text *out)
{
	struct megatron megatron = {
		.input = input,
		.ir = input->ir,
		.plan = input->plan,
		.choice = &input->plan->choice,
		.shape = &input->problem->shape[input->plan->choice.shape],
		.minor = 8,
	};

	megatron.instances = megatron_instances(input->problem, input->plan);
	if (!megatron_model_read(input->compilation, input->ir,
				 &megatron.model) ||
	    !megatron_check(&megatron))
		return false;
	megatron.order = rank_order_choose(input->problem, input->plan,
					   &megatron.match);
	megatron.nodes = node_order_read(&input->ir->topology, input->problem,
					 input->plan, megatron.order,
					 &input->compilation->arena);
	text_init(&megatron.array, &input->compilation->arena);
	megatron_add_parallelism(&megatron);
	megatron_add_training(&megatron);
	megatron_add_model(&megatron);
	print_header(&megatron, out);
	print_order(&megatron, out);
	print_environment(&megatron, out);
	text_append(out, "MEGATRON_ARGS=(\n");
	text_append_bytes(out, megatron.array.at, megatron.array.length);
	text_append(out, ")\n");
	print_devices(&megatron, out);
	return true;
}
