/* SPDX-License-Identifier: MIT
 *
 * --emit megatron: a bash file with the arguments of Megatron-LM's
 * pretrain_gpt.py that build the model and run the plan. Rules of the
 * framework: megatron/training/arguments.py (validate_args),
 * megatron/core/transformer/transformer_config.py,
 * megatron/core/parallel_state.py.
 */
#include <stdarg.h>
#include <string.h>

#include "compiler/describe.h"
#include "compiler/emit.h"
#include "compiler/megatron_model.h"
#include "compiler/megatron_shards.h"
#include "compiler/ranks.h"
#include "compiler/site.h"
#include "compiler/recompute_module.h"
#include "lang/compilation.h"

enum flag {
#define FLAG(enumerator, spelling, kind, minor, patch) FLAG_##enumerator,
#include "compiler/megatron_flags.def"
#undef FLAG
	FLAG_COUNT
};

enum flag_kind { FLAG_SWITCH, FLAG_VALUE };

static const struct {
	const char *spelling;
	enum flag_kind kind;
	int minor, patch;		/* of megatron-core 0.minor.patch */
} flag_table[FLAG_COUNT] = {
#define FLAG(enumerator, spelling, kind, minor, patch) \
	{ spelling, FLAG_##kind, minor, patch },
#include "compiler/megatron_flags.def"
#undef FLAG
};

struct megatron {
	const struct emit_input *input;
	const struct ir *ir;
	const struct plan *plan;
	const struct choice *choice;
	const struct problem_shape *shape;
	struct megatron_model model;
	enum rank_order order;
	enum rank_match match;
	uint32_t instances;		/* of its optimizer; see megatron_shards.h */
	int minor, patch;		/* newest flag or feature in use */
	struct text array;		/* between the parentheses */
};

static bool refuse(struct megatron *megatron, struct span span,
		   const char *what)
{
	struct diags *diags = &megatron->input->compilation->diags;

	if (span_is_nowhere(span))
		span = megatron->ir->job.span;
	diag_error(diags, E_TARGET_PLAN, span,
		   "megatron cannot run this plan: %s", what);
	diag_help(diags, "write 'target = megatron' in the job: then only plans it can run are "
			 "searched");
	return false;
}

static void need_release(struct megatron *megatron, int minor, int patch)
{
	if (minor < megatron->minor ||
	    (minor == megatron->minor && patch <= megatron->patch))
		return;
	megatron->minor = minor;
	megatron->patch = patch;
}

static void add_switch(struct megatron *megatron, enum flag flag)
{
	need_release(megatron, flag_table[flag].minor, flag_table[flag].patch);
	text_printf(&megatron->array, "  %s\n", flag_table[flag].spelling);
}

/* Quotes what a shell would read otherwise. */
static void append_quoted(struct text *out, const char *value)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-+./:=@%";

	if (*value && strspn(value, plain) == strlen(value))
		text_append(out, value);
	else
		text_printf(out, "'%s'", value);
}

static void add_text(struct megatron *megatron, enum flag flag,
		     const char *value)
{
	need_release(megatron, flag_table[flag].minor, flag_table[flag].patch);
	text_printf(&megatron->array, "  %s ", flag_table[flag].spelling);
	append_quoted(&megatron->array, value);
	text_append_char(&megatron->array, '\n');
}

static void add_number(struct megatron *megatron, enum flag flag, double number)
{
	struct text value;

	text_init(&value, &megatron->input->compilation->arena);
	text_append_number(&value, number);
	add_text(megatron, flag, value.at);
}

static void add_heading(struct megatron *megatron, const char *heading)
{
	text_printf(&megatron->array, "%s  # %s\n",
		    megatron->array.length ? "\n" : "", heading);
}

/* Whether the layer for multi-token prediction, before the head, is in a chunk. */
static bool has_prediction(const struct megatron *megatron, uint32_t chunk)
{
	const uint32_t *first = megatron->plan->chunk_first;
	uint32_t layer = first[megatron->plan->chunk_count] - 2;

	return megatron->model.prediction && first[chunk] <= layer &&
	       layer < first[chunk + 1];
}

/* Blocks, and nothing else, of a chunk. */
static uint32_t chunk_blocks(const struct megatron *megatron, uint32_t chunk)
{
	const uint32_t *first = megatron->plan->chunk_first;
	uint32_t blocks = first[chunk + 1] - first[chunk];

	/* The chain is embedding, blocks, perhaps a prediction layer, head:
	 * megatron_model_read saw to it. */
	if (chunk == 0)
		blocks--;
	if (has_prediction(megatron, chunk))
		blocks--;
	if (chunk + 1 == megatron->plan->chunk_count)
		blocks--;
	return blocks;
}

/* Equally many blocks in each chunk, and the prediction layer beside the head: what
 * the program does without being told. */
static bool is_even(const struct megatron *megatron)
{
	if (megatron->model.prediction &&
	    !has_prediction(megatron, megatron->plan->chunk_count - 1))
		return false;
	for (uint32_t i = 1; i < megatron->plan->chunk_count; i++)
		if (chunk_blocks(megatron, i) != chunk_blocks(megatron, 0))
			return false;
	return true;
}

/* "Et*7|t*8|t*8|t*9L": stages in the order of execution. */
static const char *stage_layout(struct megatron *megatron)
{
	uint32_t count = megatron->plan->chunk_count;
	struct text text;

	text_init(&text, &megatron->input->compilation->arena);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t blocks = chunk_blocks(megatron, i);

		text_append(&text, i ? "|" : "E");
		if (blocks > 1)
			text_printf(&text, "t*%u", blocks);
		else if (blocks == 1)
			text_append_char(&text, 't');
		if (has_prediction(megatron, i)) {
			text_append_char(&text, 'm');
			/* Releases before 0.16 want it beside the head. */
			need_release(megatron, i + 1 == count ? 14 : 16,
				     i + 1 == count ? 0 : 1);
		}
		if (i + 1 == count)
			text_append_char(&text, 'L');
	}
	return text.at;
}

static void add_parallelism(struct megatron *megatron)
{
	const struct choice *choice = megatron->choice;

	add_heading(megatron, "parallelism");
	add_number(megatron, FLAG_TENSOR, megatron->shape->tensor);
	/* Megatron-LM switches it off by itself where tensor = 1. */
	if (megatron->shape->sequence && megatron->shape->tensor > 1)
		add_switch(megatron, FLAG_SEQUENCE);
	add_number(megatron, FLAG_CONTEXT, megatron->shape->context);
	/* The keys that travel are priced as hidden behind attention: a ring. */
	if (megatron->shape->context > 1)
		add_text(megatron, FLAG_CONTEXT_KIND, "p2p");
	add_number(megatron, FLAG_PIPELINE, choice->pipeline);
	if (choice->pipeline > 1 && !is_even(megatron))
		add_text(megatron, FLAG_STAGE_LAYOUT, stage_layout(megatron));
	else if (choice->virtual_stages > 1)
		add_number(megatron, FLAG_VIRTUAL, choice->virtual_stages);
	if (megatron->order == RANK_ORDER_PIPELINE_DATA)
		add_switch(megatron, FLAG_RANK_ORDER);
	if (!megatron->model.block.experts)
		return;
	add_number(megatron, FLAG_EXPERT, megatron->shape->expert);
	/* Left out it is tensor. */
	add_number(megatron, FLAG_EXPERT_TENSOR, megatron->shape->expert_tensor);
}

static void add_batch(struct megatron *megatron)
{
	add_heading(megatron, "batch");
	add_number(megatron, FLAG_MICRO_BATCH, megatron->shape->micro_batch);
	add_number(megatron, FLAG_GLOBAL_BATCH, megatron->ir->job.global_batch);
}

/* Its ZeRO 2 and 3, which keep checkpoints in a format of their own. */
static void add_fsdp(struct megatron *megatron)
{
	if (megatron->choice->zero < 2)
		return;
	add_switch(megatron, FLAG_FSDP);
	add_text(megatron, FLAG_SHARDING, megatron->choice->zero == 2 ?
		 "optim_grads" : "optim_grads_params");
	add_switch(megatron, FLAG_NO_FUSION);
	add_text(megatron, FLAG_CHECKPOINTS, "fsdp_dtensor");
}

static void add_optimizer_kind(struct megatron *megatron)
{
	switch (megatron->ir->job.optimizer) {
	case IR_ADAM:
		add_text(megatron, FLAG_OPTIMIZER, "adam");
		return;
	case IR_MUON:
		add_text(megatron, FLAG_OPTIMIZER, "muon");
		/* What is priced; the default differs between releases. */
		add_text(megatron, FLAG_MUON_MODE, "blockwise");
		/* Overlapping exchanges, and Adam's part under the distributed
		 * optimizer: pull requests 3524 and 4771. */
		need_release(megatron, 18, 2);
		return;
	default:
		/* Left out, its momentum is 0.9. */
		add_text(megatron, FLAG_OPTIMIZER, "sgd");
		if (megatron->ir->job.optimizer == IR_SGD)
			add_number(megatron, FLAG_MOMENTUM, 0);
	}
}

static void add_optimizer(struct megatron *megatron)
{
	const struct problem_sync *sync = &megatron->input->problem->sync;
	bool half = megatron->ir->job.precision != IR_FP32;

	add_heading(megatron, "optimizer and its exchange");
	add_optimizer_kind(megatron);
	if (megatron->choice->zero)
		add_switch(megatron, FLAG_ZERO);
	if (megatron->choice->zero && megatron->instances > 1) {
		add_number(megatron, FLAG_INSTANCES, megatron->instances);
		if (megatron->model.block.experts)
			need_release(megatron, 13, 1);
	}
	add_fsdp(megatron);
	if (sync->overlap_reduce)
		add_switch(megatron, FLAG_OVERLAP_REDUCE);
	if (megatron->choice->zero && sync->overlap_reduce &&
	    sync->overlap_gather)
		add_switch(megatron, FLAG_OVERLAP_GATHER);
	if (half && sync->reduce_bytes == 2)
		add_switch(megatron, FLAG_REDUCE_BF16);
}

/* Left out they are attention proper. */
static void add_recompute_modules(struct megatron *megatron)
{
	struct text names;

	if (!megatron->ir->job.recompute_modules)
		return;
	need_release(megatron, flag_table[FLAG_RECOMPUTE_MODULES].minor,
		     flag_table[FLAG_RECOMPUTE_MODULES].patch);
	if (megatron->ir->job.recompute_modules &
	    recompute_module_bit(MODULE_SHARED_EXPERT))
		need_release(megatron, 14, 0);
	text_init(&names, &megatron->input->compilation->arena);
	recompute_modules_print(megatron->ir->job.recompute_modules, " ", &names);
	text_printf(&megatron->array, "  %s %s\n",
		    flag_table[FLAG_RECOMPUTE_MODULES].spelling, names.at);
}

static void add_recompute(struct megatron *megatron)
{
	if (megatron->choice->recompute == RECOMPUTE_NONE)
		return;
	add_heading(megatron, "recomputation");
	add_text(megatron, FLAG_RECOMPUTE,
		 recompute_name(megatron->choice->recompute));
	if (megatron->choice->recompute == RECOMPUTE_SELECTIVE)
		add_recompute_modules(megatron);
	if (megatron->choice->recompute != RECOMPUTE_FULL)
		return;
	if (megatron->choice->recompute_layers) {
		add_text(megatron, FLAG_RECOMPUTE_METHOD, "block");
		add_number(megatron, FLAG_RECOMPUTE_LAYERS,
			   megatron->choice->recompute_layers);
		return;
	}
	add_text(megatron, FLAG_RECOMPUTE_METHOD, "uniform");
	add_number(megatron, FLAG_RECOMPUTE_LAYERS, 1);
}

static void add_precision(struct megatron *megatron)
{
	switch (megatron->ir->job.precision) {
	case IR_BF16:
		add_heading(megatron, "precision");
		add_switch(megatron, FLAG_BF16);
		return;
	case IR_FP16:
		add_heading(megatron, "precision");
		add_switch(megatron, FLAG_FP16);
		return;
	case IR_FP8:
		add_heading(megatron, "precision");
		add_switch(megatron, FLAG_BF16);
		add_text(megatron, FLAG_FP8, "hybrid");
		return;
	default:
		return;		/* 32 bit is what it does without a flag */
	}
}

/* "([0]*3+[1]*58)": which blocks have experts. */
static void add_moe_layers(struct megatron *megatron)
{
	const struct ir_model *model = &megatron->ir->model;
	const char *plus = "";
	bool dense = false;
	struct text text;

	text_init(&text, &megatron->input->compilation->arena);
	text_append_char(&text, '(');
	for (uint32_t i = 1; i < megatron->model.block_run_end; i++) {
		text_printf(&text, "%s[%u]*%u", plus, megatron->model.moe_run[i],
			    model->run[i].count);
		plus = "+";
		dense |= !megatron->model.moe_run[i];
	}
	text_append_char(&text, ')');
	if (dense)
		add_text(megatron, FLAG_MOE_LAYERS, text.at);
}

static void add_experts(struct megatron *megatron)
{
	const struct megatron_block *block = &megatron->model.block;

	if (!block->experts)
		return;
	add_number(megatron, FLAG_EXPERTS, (double)block->experts);
	add_moe_layers(megatron);
	add_number(megatron, FLAG_EXPERT_FFN, (double)block->expert_ffn);
	if (block->shared_ffn)
		add_number(megatron, FLAG_SHARED_FFN, (double)block->shared_ffn);
	add_number(megatron, FLAG_TOP_K, (double)block->top_k);
	if (block->router_bias) {
		add_text(megatron, FLAG_SCORES, "sigmoid");
		add_switch(megatron, FLAG_ROUTER_BIAS);
	} else if (block->top_k == 1) {
		add_switch(megatron, FLAG_PRE_SOFTMAX);
	}
	/* What the exchange and the products are priced as. */
	add_text(megatron, FLAG_DISPATCHER, "alltoall");
	add_switch(megatron, FLAG_GROUPED_GEMM);
}

/* Latent attention normalises both latents. */
static void add_latent(struct megatron *megatron)
{
	const struct megatron_block *block = &megatron->model.block;

	add_switch(megatron, FLAG_LATENT);
	add_number(megatron, FLAG_Q_RANK, (double)block->q_rank);
	add_number(megatron, FLAG_KV_RANK, (double)block->kv_rank);
	add_number(megatron, FLAG_QK_DIM,
		   (double)(block->head_dim - block->rope_dim));
	add_number(megatron, FLAG_ROPE_DIM, (double)block->rope_dim);
	add_number(megatron, FLAG_VALUE_DIM, (double)block->value_dim);
}

static void add_attention(struct megatron *megatron)
{
	const struct megatron_block *block = &megatron->model.block;

	add_number(megatron, FLAG_HEADS, (double)block->heads);
	if (block->qk_norm || block->kv_rank)
		add_switch(megatron, FLAG_QK_NORM);
	if (block->kv_rank)
		add_latent(megatron);
	if (block->kv_heads != block->heads) {
		/* Without the switch the number is ignored in silence. */
		add_switch(megatron, FLAG_GROUPED);
		add_number(megatron, FLAG_KV_HEADS, (double)block->kv_heads);
		/* Copied key and value heads. */
		if (block->kv_heads % megatron->shape->tensor != 0)
			need_release(megatron, 16, 1);
	}
	if (!block->kv_rank)
		add_number(megatron, FLAG_HEAD_DIM, (double)block->head_dim);
	if (block->window) {
		char window[48];

		/* Tokens looked back at, besides the token itself. */
		snprintf(window, sizeof(window), "(%llu,0)",
			 (unsigned long long)block->window - 1);
		add_text(megatron, FLAG_WINDOW, window);
	}
	if (!block->flash)
		add_text(megatron, FLAG_BACKEND, "unfused");
}

static uint64_t max_positions(const struct megatron *megatron)
{
	uint64_t positions = megatron->model.positions;

	if (!positions)
		positions = megatron->ir->model.facts.max_positions;
	return positions ? positions : megatron->ir->model.sequence_length;
}

static void add_positions(struct megatron *megatron)
{
	double rotary_base = megatron->ir->model.facts.rotary_base;

	add_number(megatron, FLAG_SEQUENCE_LENGTH,
		   (double)megatron->ir->model.sequence_length);
	add_number(megatron, FLAG_POSITIONS, (double)max_positions(megatron));
	add_text(megatron, FLAG_POSITION_KIND,
		 megatron->model.positions ? "learned_absolute" :
		 rotary_base > 0	   ? "rope" :
					     "none");
	if (rotary_base > 0)
		add_number(megatron, FLAG_ROTARY_BASE, rotary_base);
}

static void add_model(struct megatron *megatron)
{
	const struct megatron_model *model = &megatron->model;
	const struct megatron_block *block = &model->block;

	add_heading(megatron, "model");
	add_number(megatron, FLAG_LAYERS, megatron->ir->model.layer_count);
	if (model->prediction)
		add_number(megatron, FLAG_PREDICTION, model->prediction);
	/* Tokens are shifted over the context since then. */
	if (model->prediction && megatron->shape->context > 1)
		need_release(megatron, 14, 0);
	add_number(megatron, FLAG_HIDDEN, (double)block->hidden);
	add_number(megatron, FLAG_FFN,
		   (double)(block->ffn ? block->ffn : block->expert_ffn));
	add_experts(megatron);
	add_attention(megatron);
	add_positions(megatron);
	add_text(megatron, FLAG_NORM, block->rmsnorm ? "RMSNorm" : "LayerNorm");
	add_number(megatron, FLAG_EPSILON,
		   megatron->ir->model.facts.norm_epsilon);
	if (block->swiglu)
		add_switch(megatron, FLAG_SWIGLU);
	if (!block->bias)
		add_switch(megatron, FLAG_NO_BIAS);
	if (block->qkv_bias)
		add_switch(megatron, FLAG_QKV_BIAS);
	add_number(megatron, FLAG_ATTENTION_DROPOUT, block->attention_dropout);
	add_number(megatron, FLAG_HIDDEN_DROPOUT, block->hidden_dropout);
	if (!model->tied)
		add_switch(megatron, FLAG_UNTIED);
	add_number(megatron, FLAG_VOCABULARY, (double)model->vocabulary);
	add_number(megatron, FLAG_VOCABULARY_PAD,
		   model->vocabulary_pad ? model->vocabulary_pad : 1);
}

/* The framework's rules, which a plan found without a target may break. */
static bool check_model_cuts(struct megatron *megatron)
{
	const struct megatron_block *block = &megatron->model.block;
	uint64_t sequence = megatron->ir->model.sequence_length;
	uint32_t tensor = megatron->shape->tensor;
	uint32_t context = megatron->shape->context;

	if (block->heads % tensor != 0)
		return refuse(megatron, SPAN_NONE,
			      "its number of heads must be a multiple of tensor");
	if (block->kv_heads % tensor != 0 && tensor % block->kv_heads != 0)
		return refuse(megatron, SPAN_NONE,
			      "tensor must divide its key-value heads or be a multiple of them");
	if (block->ffn % tensor != 0)
		return refuse(megatron, SPAN_NONE,
			      "its feed-forward width must be a multiple of tensor");
	if (context > 1 && sequence % (2 * (uint64_t)context) != 0)
		return refuse(megatron, SPAN_NONE,
			      "the sequence must be a multiple of 2 x context");
	if (megatron->shape->sequence && sequence / context % tensor != 0)
		return refuse(megatron, SPAN_NONE,
			      "with sequence parallelism, sequence / context must be a multiple "
			      "of tensor");
	if (context > 1 && !block->flash)
		return refuse(megatron, SPAN_NONE,
			      "the context is cut only with flash attention");
	if (max_positions(megatron) < sequence)
		return refuse(megatron, megatron->ir->model.span,
			      "it needs as many positions as tokens");
	return true;
}

static bool check_experts(struct megatron *megatron)
{
	const struct megatron_block *block = &megatron->model.block;
	const struct problem_shape *shape = megatron->shape;

	if (!block->experts)
		return (shape->expert == 1 && shape->expert_tensor == 1) ||
		       refuse(megatron, SPAN_NONE,
			      "the model has no experts to divide");
	if (block->experts % shape->expert != 0)
		return refuse(megatron, SPAN_NONE,
			      "its number of experts must be a multiple of expert");
	if (block->expert_ffn % shape->expert_tensor != 0)
		return refuse(megatron, SPAN_NONE,
			      "the width of its experts must be a multiple of expert_tensor");
	if (block->shared_ffn % shape->tensor != 0)
		return refuse(megatron, SPAN_NONE,
			      "the width of its shared expert must be a multiple of tensor");
	if (block->expert_bias && shape->expert_tensor > 1)
		return refuse(megatron, SPAN_NONE,
			      "experts with biases are not cut by expert_tensor");
	return shape->tensor == 1 || shape->sequence ||
	       refuse(megatron, SPAN_NONE,
		      "experts with tensor > 1 need sequence parallelism");
}

/* Matrices are whole, and dealt out over all replicas. */
static bool check_muon(struct megatron *megatron)
{
	const struct ir_job *job = &megatron->ir->job;

	if (job->optimizer != IR_MUON)
		return true;
	if (job->precision == IR_FP16)
		return refuse(megatron, job->span, "it has no muon in fp16");
	if (megatron->choice->zero > 1)
		return refuse(megatron, job->domain[VARIABLE_ZERO].span,
			      "its ZeRO 2 and 3 (Megatron-FSDP) have no muon");
	if (megatron->choice->zero && megatron->instances > 1)
		return refuse(megatron, job->domain[VARIABLE_SHARD_LEVEL].span,
			      "it shares the states of muon out over all replicas");
	return true;
}

static bool check_plan(struct megatron *megatron)
{
	const struct choice *choice = megatron->choice;
	const struct ir_job *job = &megatron->ir->job;

	if (!check_experts(megatron))
		return false;
	if (choice->zero > 1 && choice->pipeline > 1)
		return refuse(megatron, job->domain[VARIABLE_ZERO].span,
			      "its ZeRO 2 and 3 (Megatron-FSDP) have no pipeline");
	if (choice->zero && !megatron->instances)
		return refuse(megatron, job->domain[VARIABLE_SHARD_LEVEL].span,
			      "the replicas that share out do not follow one another");
	if (choice->schedule == SCHEDULE_GPIPE)
		return refuse(megatron, job->domain[VARIABLE_SCHEDULE].span,
			      "it has no GPipe schedule");
	if (job->optimizer == IR_ADAFACTOR || job->optimizer == IR_ADAM_8BIT)
		return refuse(megatron, job->span, "it has no such optimizer");
	if (choice->zero && job->optimizer != IR_ADAM &&
	    job->optimizer != IR_MUON)
		return refuse(megatron, job->domain[VARIABLE_ZERO].span,
			      "its distributed optimizer knows adam and muon only");
	if (!check_muon(megatron))
		return false;
	if (choice->virtual_stages > 1 &&
	    (choice->pipeline == 1 ||
	     choice->micro_batches % choice->pipeline != 0))
		return refuse(megatron, job->domain[VARIABLE_VIRTUAL].span,
			      "virtual stages need a pipeline that divides the micro-batches");
	return check_model_cuts(megatron);
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

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
		    PACKAGE_VERSION, clean(arena, file_name(input->spec_name)),
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
	    !check_plan(&megatron))
		return false;
	megatron.order = rank_order_choose(input->problem, input->plan,
					   &megatron.match);
	text_init(&megatron.array, &input->compilation->arena);
	add_parallelism(&megatron);
	add_batch(&megatron);
	add_optimizer(&megatron);
	add_recompute(&megatron);
	add_precision(&megatron);
	add_model(&megatron);
	print_header(&megatron, out);
	print_order(&megatron, out);
	print_environment(&megatron, out);
	text_append(out, "MEGATRON_ARGS=(\n");
	text_append_bytes(out, megatron.array.at, megatron.array.length);
	text_append(out, ")\n");
	print_devices(&megatron, out);
	return true;
}
