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

/* Whether the ranks of each node are numbered without a gap, so that a launcher
 * which starts nodes one after the other can do it. */
static bool nodes_are_blocks(const struct megatron *megatron)
{
	const struct ir_topology *topology = &megatron->ir->topology;
	bool *seen = ARENA_ARRAY(&megatron->input->compilation->arena, bool,
				 cluster_devices(topology));
	uint32_t last = 0;

	for (uint32_t i = 0; i < megatron->plan->devices; i++) {
		struct rank rank = rank_at(megatron->input->problem,
					   megatron->plan, megatron->order, i);
		uint32_t node = cluster_node(topology, rank.device);

		if (seen[node] && node != last)
			return false;
		seen[node] = true;
		last = node;
	}
	return true;
}

static void print_launchers(struct megatron *megatron, struct text *out)
{
	if (nodes_are_blocks(megatron))
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

static void print_devices(struct megatron *megatron, struct text *out)
{
	if (megatron->match == RANK_MATCH_SAME)
		return;
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
