/* SPDX-License-Identifier: MIT
 *
 * Templates, models, topologies and jobs to placement programs: published
 * parameter counts, shapes, classes and runs, and what is refused.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/lower_spec.h"

#define MODEL "model = net"

/* A small model around the body of a template `block(hidden, ffn)`. */
#define BLOCK(body)                                                         \
	"template block(hidden, ffn, heads = 4, kv_heads = 2, head_dim = 8) { " \
	body "\n}\n"                                                        \
	"model net(seq = 128) { layers { 3 * block(hidden = 32, ffn = 96) } }\n"

/* ---- parameters ---- */

/* Published counts. Llama: parameters of the released checkpoints (model cards
 * at huggingface.co/meta-llama). GPT-2 small: of the released checkpoint
 * (huggingface.co/openai-community/gpt2). GPT-2 XL: the same; of GPT-3 the
 * count by the formula of arXiv 2104.04473, equation (2), with exact terms:
 * V h + S h + L (12 h^2 + 13 h) + 2 h. */
static void published_parameter_counts(void **state)
{
	static const struct {
		const char *model;
		uint64_t parameters;
		uint32_t layers;
	} published[] = {
		{ "model = llama2_7b", 6738415616, 32 },
		{ "model = llama2_13b", 13015864320, 40 },
		{ "model = llama2_70b", 68976648192, 80 },
		{ "model = llama3_8b", 8030261248, 32 },
		{ "model = llama3_70b", 70553706496, 80 },
		{ "model = llama3_405b", 405853388800, 126 },
		{ "model = gpt2_small", 124439808, 12 },
		{ "model = gpt2_xl", 1557611200, 48 },
		{ "model = gpt3_175b",
		  50257ull * 12288 + 2048ull * 12288 +
		  96 * (12 * 12288ull * 12288 + 13 * 12288ull) + 2 * 12288, 96 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(published); i++) {
		struct spec spec;

		spec_good(&spec, "", published[i].model);
		assert_int_equal(spec.ir->model.parameters,
				 published[i].parameters);
		assert_int_equal(spec.ir->model.layer_count, published[i].layers);
		spec_release(&spec);
	}
}

/* Every operator that owns parameters, counted by hand. */
static void parameters_of_operators(void **state)
{
	static const struct {
		const char *body;
		uint64_t parameters;	/* of one block */
	} cases[] = {
		{ "x : [batch, seq, hidden] return linear(x, hidden -> hidden)",
		  32 * 32 },
		{ "x : [batch, seq, hidden] "
		  "return linear(linear(x, hidden -> ffn, bias = true), ffn -> hidden)",
		  32 * 96 + 96 + 96 * 32 },
		{ "x : [batch, seq, hidden] return rmsnorm(x)", 32 },
		{ "x : [batch, seq, hidden] return layernorm(x)", 64 },
		{ "x : [batch, seq, hidden] return layernorm(x, bias = false)", 32 },
		{ "x : [batch, seq, hidden] return gelu(relu(silu(x * x)))", 0 },
		{ "x : [batch, seq, hidden] return custom(x, params = 1000)", 1000 },
		/* (heads + 2 kv_heads) head_dim = (4 + 4) 8 = 64 */
		{ "x : [batch, seq, hidden] "
		  "return linear(linear(x, hidden -> (heads + 2 * kv_heads) * head_dim), "
		  "(heads + 2 * kv_heads) * head_dim -> hidden)", 2 * 32 * 64 },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		char text[1024];
		struct spec spec;

		snprintf(text, sizeof(text), BLOCK("%s"), cases[i].body);
		spec_good(&spec, text, MODEL);
		assert_int_equal(spec.ir->model.class[0].parameters,
				 cases[i].parameters);
		assert_int_equal(spec.ir->model.parameters,
				 3 * cases[i].parameters);
		spec_release(&spec);
	}
}

/* One product for queries, keys and values has as many parameters as three. */
static void fused_and_separate_projections(void **state)
{
	static const char separate[] = BLOCK(
		"x : [batch, seq, hidden] split heads, kv_heads by tensor "
		"q = linear(x, hidden -> heads * head_dim, bias = true) "
		"k = linear(x, hidden -> kv_heads * head_dim, bias = true) "
		"v = linear(x, hidden -> kv_heads * head_dim, bias = true) "
		"return linear(attention(q, k, v), heads * head_dim -> hidden)");
	/* 32 (4 + 2 + 2) 8 weights, (4 + 2 + 2) 8 biases, 32 x 32 after. */
	const uint64_t fused = 32 * 8 * 8 + 8 * 8 + 32 * 32;
	struct spec spec;

	(void)state;
	spec_good(&spec, separate, MODEL);
	assert_int_equal(spec.ir->model.class[0].parameters, fused);
	spec_release(&spec);
}

/* ---- graphs ---- */

static const struct ir_class *class_of(const struct spec *spec, const char *name)
{
	for (uint32_t i = 0; i < spec->ir->model.class_count; i++)
		if (!strcmp(spec->ir->model.class[i].name, name))
			return &spec->ir->model.class[i];
	fail_msg("there is no class '%s'", name);
	return NULL;
}

static const struct ir_axis *axis_of(const struct ir_class *class,
				     const char *name)
{
	for (uint32_t i = 0; i < class->axis_count; i++)
		if (!strcmp(class->axis[i].name, name))
			return &class->axis[i];
	fail_msg("there is no axis '%s'", name);
	return NULL;
}

/* Llama 3 70B's block: norm, q, k, v, attention, output, sum, norm, gate, silu,
 * up, product, down, sum. */
static void graph_of_a_llama_block(void **state)
{
	static const enum ir_operator_kind kinds[] = {
		IR_RMSNORM, IR_LINEAR, IR_LINEAR, IR_LINEAR, IR_ATTENTION,
		IR_LINEAR, IR_ADD, IR_RMSNORM, IR_LINEAR, IR_SILU, IR_LINEAR,
		IR_MULTIPLY, IR_LINEAR, IR_ADD,
	};
	const struct ir_class *class;
	const struct ir_operator *attention;
	struct spec spec;

	(void)state;
	spec_good(&spec, "", "model = llama3_70b");
	class = class_of(&spec, "llama_block");
	assert_true(class->is_block);
	assert_int_equal(class->operator_count, COUNT(kinds));
	for (uint32_t i = 0; i < class->operator_count; i++)
		assert_int_equal(class->operator[i].kind, kinds[i]);
	attention = &class->operator[4];
	assert_string_equal(class->axis[attention->heads_axis].name, "heads");
	assert_string_equal(class->axis[attention->kv_heads_axis].name, "kv_heads");
	assert_int_equal(attention->head_size, 128);
	assert_int_equal(attention->value_size, 128);
	assert_true(attention->causal && attention->flash);
	assert_int_equal(axis_of(class, "head_dim")->size, 8192 / 64);
	assert_int_equal(axis_of(class, "heads")->split, IR_SPLIT_TENSOR);
	assert_int_equal(axis_of(class, "ffn")->split, IR_SPLIT_TENSOR);
	assert_int_equal(axis_of(class, "hidden")->split, IR_SPLIT_NONE);
	assert_int_equal(axis_of(class, "seq")->split, IR_SPLIT_CONTEXT);
	assert_int_equal(axis_of(class, "seq")->size, 8192);
	assert_true(axis_of(class, "kv_heads")->replicable);
	assert_false(axis_of(class, "heads")->replicable);
	/* The second sum adds to the first, not to the input. */
	assert_int_equal(class->operator[13].input[0], class->operator[6].output);
	spec_release(&spec);
}

static void embedding_and_head(void **state)
{
	const struct ir_class *embedding, *head;
	struct spec spec;

	(void)state;
	spec_good(&spec, "", "model = gpt2_small");
	assert_int_equal(spec.ir->model.class_count, 3);
	embedding = &spec.ir->model.class[0];
	head = &spec.ir->model.class[2];
	assert_false(head->is_block);
	assert_false(embedding->is_block);
	assert_int_equal(axis_of(head, "vocab")->pad, 128);
	assert_true(spec.ir->model.tied);
	/* Final layernorm alone: the weight belongs to the embedding. */
	assert_int_equal(head->parameters, 2 * 768);
	assert_int_equal(head->value[head->output].rank, 2);
	assert_int_equal(embedding->parameters, (50257 + 1024) * 768);
	spec_release(&spec);
}

/* A let that is a product of axes is that product; any other is an axis. */
static void lets_of_a_template(void **state)
{
	static const char text[] = BLOCK(
		"let inner = heads * head_dim "
		"let wide = 2 * ffn - 8 "
		"x : [batch, seq, hidden] "
		"a = linear(x, hidden -> inner) "
		"b = linear(x, hidden -> heads * head_dim) "
		"c = linear(a + b, inner -> wide) "
		"return linear(c, wide -> hidden)");
	const struct ir_class *class;
	struct spec spec;

	(void)state;
	spec_good(&spec, text, MODEL);
	class = class_of(&spec, "block");
	assert_int_equal(axis_of(class, "wide")->size, 184);
	assert_int_equal(class->parameters, 32 * 32 * 2 + 32 * 184 + 184 * 32);
	spec_release(&spec);
}

/* What only a branch that was not taken needs is dropped. */
static void branches(void **state)
{
	static const char text[] =
		"template block(hidden, ffn, gated) { "
		"x : [batch, seq, hidden] "
		"up = linear(x, hidden -> ffn) "
		"gate = silu(linear(x, hidden -> ffn)) "
		"h = if gated then gate * up else gelu(up) "
		"return x + linear(h, ffn -> hidden) }\n"
		"model net(seq = 8) { layers { "
		"2 * block(hidden = 4, ffn = 16, gated = true) "
		"2 * block(hidden = 4, ffn = 16, gated = false) } }\n";
	struct spec spec;

	(void)state;
	spec_good(&spec, text, MODEL);
	assert_int_equal(spec.ir->model.class_count, 2);
	assert_int_equal(spec.ir->model.class[0].parameters, 3 * 4 * 16);
	assert_int_equal(spec.ir->model.class[1].parameters, 2 * 4 * 16);
	assert_int_equal(spec.ir->model.class[1].operator_count, 4);
	spec_release(&spec);
}

static void dropping_nothing_is_no_operator(void **state)
{
	struct spec spec;

	(void)state;
	spec_good(&spec, BLOCK("x : [batch, seq, hidden] "
			       "return dropout(dropout(rmsnorm(x), 0), 10%)"), MODEL);
	assert_int_equal(spec.ir->model.class[0].operator_count, 2);
	assert_true(spec.ir->model.class[0].operator[1].dropout == 0.1);
	spec_release(&spec);
}

/* An axis that is only split does not restrict how the layer is cut. */
static void an_axis_nothing_has(void **state)
{
	struct spec spec;

	(void)state;
	spec_good(&spec, BLOCK("split ffn, heads by tensor " "x : [batch, seq, hidden] "
			       "return linear(linear(x, hidden -> heads), heads -> hidden)"),
		  MODEL);
	assert_int_equal(spec.ir->model.class[0].axis_count, 4);
	assert_string_equal(spec.ir->model.class[0].axis[2].name, "heads");
	assert_string_equal(spec.ir->model.class[0].axis[3].name, "hidden");
	assert_int_equal(spec.ir->model.class[0].parameters, 2 * 4 * 32);
	spec_release(&spec);
}

/* Heads are those split by tensor, or those that are named. */
static void heads_of_an_attention(void **state)
{
	static const char *const bodies[] = {
		BLOCK("split heads, kv_heads by tensor x : [batch, seq, hidden] "
		      "q = linear(x, hidden -> head_dim * heads) "
		      "k = linear(x, hidden -> kv_heads * head_dim) "
		      "return linear(attention(q, k, k), heads * head_dim -> hidden)"),
		BLOCK("x : [batch, seq, hidden] "
		      "q = linear(x, hidden -> head_dim * heads) "
		      "k = linear(x, hidden -> kv_heads * head_dim) "
		      "return linear(attention(q, k, k, heads, kv_heads = kv_heads, "
		      "causal = true, window = 64, flash = false, dropout = 0.1), "
		      "heads * head_dim -> hidden)"),
	};

	(void)state;
	for (size_t i = 0; i < COUNT(bodies); i++) {
		const struct ir_operator *attention;
		const struct ir_class *class;
		struct spec spec;

		spec_good(&spec, bodies[i], MODEL);
		class = &spec.ir->model.class[0];
		attention = &class->operator[2];
		assert_int_equal(attention->kind, IR_ATTENTION);
		assert_int_equal(class->axis[attention->heads_axis].size, 4);
		assert_int_equal(class->axis[attention->kv_heads_axis].size, 2);
		assert_int_equal(attention->head_size, 8);
		assert_true(class->axis[attention->kv_heads_axis].replicable);
		assert_int_equal(attention->window, i ? 64 : 0);
		assert_int_equal(attention->flash, !i);
		assert_int_equal(attention->causal, i);
		spec_release(&spec);
	}
}

/* ---- chains ---- */

#define NORM "template norm(hidden) { x : [batch, seq, hidden] return rmsnorm(x) }\n"

static void equal_layers_share_a_class(void **state)
{
	static const char text[] =
		NORM
		"template other(hidden) { x : [batch, seq, hidden] return gelu(x) }\n"
		"model net(seq = 8) { layers { 2 * norm(hidden = 4) norm(4) "
		"other(hidden = 4) 3 * norm(hidden = 2 + 2) } }\n";
	const struct ir_model *model;
	struct spec spec;

	(void)state;
	spec_good(&spec, text, MODEL);
	model = &spec.ir->model;
	assert_int_equal(model->class_count, 2);
	assert_int_equal(model->run_count, 3);
	assert_int_equal(model->run[0].count, 3);
	assert_int_equal(model->run[1].count, 1);
	assert_int_equal(model->run[2].count, 3);
	assert_int_equal(model->run[2].class_index, 0);
	/* `other` is neither repeated nor has it an attention. */
	assert_int_equal(model->layer_count, 6);
	spec_release(&spec);
}

static void facts_of_a_model(void **state)
{
	struct spec spec;

	(void)state;
	spec_good(&spec, NORM "model net(seq = 8) { rotary_base = 5e5 "
		  "max_positions = 131072 layers { 2 * norm(hidden = 4) } }", MODEL);
	assert_true(spec.ir->model.facts.rotary_base == 500000);
	assert_int_equal(spec.ir->model.facts.max_positions, 131072);
	assert_true(spec.ir->model.facts.norm_epsilon == 1e-5);
	assert_int_equal(spec.ir->model.sequence_length, 8);
	spec_release(&spec);
}

/* ---- topologies ---- */

static void levels_of_a_topology(void **state)
{
	const struct ir_topology *topology;
	struct spec spec;

	(void)state;
	spec_lower(&spec, "nest 1\nimport std.model.llama2\n"
		   "device d { memory = 80GB memory_bandwidth = 2TB/s "
		   "peak { bf16 = 300TFLOP/s } price = 3.6$/h }\n"
		   "topology t { device = d with { memory = 96GB } "
		   "level node { fanout = 8 bandwidth = 400Gb/s latency = 2us "
		   "in_network_reduction = true efficiency = 75% } "
		   "level pod { fanout = 6 bandwidth = 25GB/s latency = 0 "
		   "oversubscription = 2 kind = switch } }\n"
		   "job j { model = llama2_7b topology = t global_batch = 8 }");
	if (!spec.ir)
		spec_show(&spec);
	assert_non_null(spec.ir);
	topology = &spec.ir->topology;
	assert_int_equal(topology->device_count, 48);
	assert_int_equal(topology->level_count, 2);
	assert_string_equal(topology->level[0].name, "node");
	assert_true(topology->level[0].network.bandwidth_Bps == 50e9);
	assert_true(topology->level[0].network.in_network_reduction);
	assert_true(topology->level[0].network.efficiency == 0.75);
	assert_true(topology->level[0].network.oversubscription == 1);
	assert_true(topology->level[1].network.oversubscription == 2);
	assert_true(topology->device.memory_bytes == 96e9);
	assert_true(topology->device.peak_flops[IR_BF16] == 300e12);
	assert_true(topology->device.peak_flops[IR_FP8] == 0);
	assert_true(topology->device.dollars_per_s == 3.6 / 3600);
	assert_true(spec.ir->job.memory_limit_bytes == 96e9);
	spec_release(&spec);
}

/* ---- jobs ---- */

static void check_domain(const struct ir_job *job, enum plan_variable variable,
			 uint32_t count, const uint32_t *at)
{
	const struct ir_domain *domain = &job->domain[variable];

	assert_true(domain->given);
	assert_int_equal(domain->count, count);
	assert_memory_equal(domain->at, at, count * sizeof(*at));
}

static void search_domains(void **state)
{
	static const uint32_t tensor[] = { 1, 2, 8 }, pipeline[] = { 1, 4, 7 };
	static const uint32_t zero[] = { 0, 1 }, recompute[] = { 0, 2 };
	const struct ir_job *job;
	struct spec spec;

	(void)state;
	spec_good(&spec, "let most = 8", "model = llama2_7b precision = fp8 "
		  "target = megatron optimizer = sgd "
		  "search { tensor in { most, 1, 2 } pipeline in 1 .. 8 step 3 "
		  "zero in { 0, 1 } recompute in { full, none } sequence in { on } "
		  "recompute_layers in { 4, 2 } schedule in { gpipe, one_f_one_b } "
		  "shard_level in { 0 } "
		  "expert in { 1 } } minimize devices then time");
	job = &spec.ir->job;
	check_domain(job, VARIABLE_TENSOR, 3, tensor);
	check_domain(job, VARIABLE_PIPELINE, 3, pipeline);
	check_domain(job, VARIABLE_ZERO, 2, zero);
	check_domain(job, VARIABLE_RECOMPUTE, 2, recompute);
	check_domain(job, VARIABLE_SEQUENCE, 1, (uint32_t[]){ 1 });
	check_domain(job, VARIABLE_RECOMPUTE_LAYERS, 2, (uint32_t[]){ 2, 4 });
	check_domain(job, VARIABLE_SCHEDULE, 2,
		     (uint32_t[]){ SCHEDULE_1F1B, SCHEDULE_GPIPE });
	check_domain(job, VARIABLE_SHARD_LEVEL, 1, (uint32_t[]){ 0 });
	assert_false(job->domain[VARIABLE_DATA].given);
	assert_int_equal(job->precision, IR_FP8);
	assert_int_equal(job->optimizer, IR_SGD);
	assert_int_equal(job->target, IR_TARGET_MEGATRON);
	assert_int_equal(job->global_batch, 64);
	assert_int_equal(job->objective_count, 2);
	assert_string_equal(job->objective_name[0], "devices");
	assert_int_equal(job->objective[1].step[0].variable, VARIABLE_TIME);
	spec_release(&spec);
}

/* ---- what is refused ---- */

#define X "x : [batch, seq, hidden] "

static void wrong_templates(void **state)
{
	static const struct wrong_spec wrong[] = {
		{ BLOCK(X "y = rmsnorm(x)"), MODEL, E_TEMPLATE_RETURN },
		{ BLOCK(X "return x y = rmsnorm(x)"), MODEL, E_TEMPLATE_RETURN },
		{ BLOCK(X "y = rmsnorm(x) return x"), MODEL, E_UNUSED_VALUE },
		{ BLOCK(X "gelu(x) return x"), MODEL, E_UNUSED_VALUE },
		{ BLOCK(X "z : [batch, seq, hidden] return x + z"), MODEL,
		  E_TEMPLATE_INPUT },
		{ BLOCK("x : [seq, batch, hidden] return x"), MODEL,
		  E_TEMPLATE_INPUT },
		{ BLOCK(X "return x - x"), MODEL, E_UNKNOWN_OPERATOR },
		{ BLOCK(X "return x + 1"), MODEL, E_NOT_A_TENSOR },
		{ BLOCK(X "return hidden"), MODEL, E_NOT_A_TENSOR },
		{ BLOCK(X "return x + linear(x, hidden -> ffn)"), MODEL, E_SHAPE },
		{ BLOCK(X "return linear(x, ffn -> hidden)"), MODEL, E_SHAPE },
		{ BLOCK(X "return linear(x, hidden -> seq)"), MODEL, E_SHAPE },
		{ BLOCK(X "return linear(x)"), MODEL, E_OPERATOR_ARGUMENT },
		{ BLOCK(X "return rmsnorm(x, x)"), MODEL, E_OPERATOR_ARGUMENT },
		{ BLOCK(X "return rmsnorm()"), MODEL, E_OPERATOR_ARGUMENT },
		{ BLOCK(X "return rmsnorm(x, hidden -> ffn)"), MODEL,
		  E_OPERATOR_ARGUMENT },
		{ BLOCK(X "return linear(x, hidden -> hidden, bia = true)"), MODEL,
		  E_OPERATOR_ARGUMENT },
		{ BLOCK(X "return linear(x, hidden -> hidden, bias = true, bias = true)"),
		  MODEL, E_OPERATOR_ARGUMENT },
		{ BLOCK(X "return dropout(x, p = 1)"), MODEL, E_OPERATOR_VALUE },
		{ BLOCK(X "return linear(x, hidden -> ffn - 1)"), MODEL,
		  E_AXIS_EXPRESSION },
		{ BLOCK(X "let none_at_all = 0 "
			"return linear(x, hidden -> none_at_all)"), MODEL, E_AXIS_SIZE },
		{ BLOCK(X "return auxiliary_loss(x, x)"), MODEL, E_SHAPE },
		{ BLOCK(X "return x + rmsnorm(x, over = ffn)"), MODEL, E_SHAPE },
		{ BLOCK("split hidden by tensor " X "return x"), MODEL, E_SPLIT_AXIS },
		{ BLOCK("split ffn by pipeline " X "return x"), MODEL,
		  E_SPLIT_DIMENSION },
		{ BLOCK("split ffn by tensor split ffn by tensor " X "return x"), MODEL,
		  E_SPLIT_TWICE },
		{ BLOCK("split batch by tensor " X "return x"), MODEL, E_SPLIT_AXIS },
		{ BLOCK("split seq by tensor " X "return x"), MODEL, E_SPLIT_AXIS },
		{ BLOCK("split ffn by context " X "return x"), MODEL, E_SPLIT_AXIS },
		{ BLOCK("split hidden by tensor " X "return x"), MODEL, E_SPLIT_AXIS },
		{ BLOCK("split ffn by tensor " X
			"return linear(rmsnorm(linear(x, hidden -> ffn)), ffn -> hidden)"),
		  MODEL, E_SPLIT_AXIS },
		{ BLOCK("split ffn, heads by tensor " X
			"return linear(linear(linear(x, hidden -> ffn), ffn -> heads), "
			"heads -> hidden)"), MODEL, E_SPLIT_AXIS },
		{ BLOCK("split heads, ffn by tensor " X
			"return linear(gelu(linear(x, hidden -> heads * ffn)), "
			"heads * ffn -> hidden)"), MODEL, E_SPLIT_AXIS },
		{ BLOCK("split heads by tensor " X
			"return linear(linear(x, hidden -> heads + ffn), "
			"heads + ffn -> hidden)"), MODEL, E_SPLIT_AXIS },
		{ BLOCK(X "let x = 3 return x"), MODEL, E_NAMED_TWICE },
		{ BLOCK(X "for i in 1 .. 2 { y = x } return x"), MODEL, E_NOT_YET },
		{ BLOCK(X "search { } return x"), MODEL, E_TEMPLATE_ITEM },
	};

	(void)state;
	check_wrong(wrong, COUNT(wrong));
}

#define Q "q = linear(x, hidden -> heads * head_dim) "
#define K "k = linear(x, hidden -> kv_heads * head_dim) "
#define OUT "return linear(a, heads * head_dim -> hidden)"

static void wrong_heads(void **state)
{
	static const struct wrong_spec wrong[] = {
		/* Not clear which axis counts heads. */
		{ BLOCK(X Q K "a = attention(q, k, k) " OUT), MODEL, E_HEADS },
		/* No product of two axes. */
		{ BLOCK(X "return attention(x, x, x)"), MODEL, E_HEADS },
		/* 4 is no multiple of 3. */
		{ "template block(hidden, heads, kv_heads, head_dim) { "
		  "split heads, kv_heads by tensor " X Q K
		  "a = attention(q, k, k) " OUT " } "
		  "model net(seq = 8) { layers { 2 * block(hidden = 8, heads = 4, "
		  "kv_heads = 3, head_dim = 2) } }", MODEL, E_HEADS },
		{ BLOCK("split heads by tensor " X Q K
			"a = attention(q, k, k, kv_heads = kv_heads) " OUT), MODEL,
		  E_HEADS },
		{ BLOCK(X Q K "a = attention(q, k, q, heads = heads) " OUT), MODEL,
		  E_HEADS },
		/* Keys and values of different heads; a query that lacks the
		 * shared part of the key, and a key of two axes. */
		{ BLOCK("split heads, kv_heads by tensor " X Q K
			"a = attention(q, k, q) " OUT), MODEL, E_HEADS },
		{ BLOCK("split heads, kv_heads by tensor " X Q K
			"a = attention(q, k, k, shared_key = linear(x, hidden -> ffn)) "
			OUT), MODEL, E_HEADS },
		{ BLOCK("split heads by tensor " X Q
			"a = attention(q, q, q, shared_key = 3) " OUT), MODEL,
		  E_NOT_A_TENSOR },
		{ BLOCK(X Q K "a = attention(q, k, k, heads = ffn) " OUT), MODEL,
		  E_HEADS },
		{ BLOCK(X Q K "a = attention(q, k, k, heads = 4) " OUT), MODEL,
		  E_OPERATOR_ARGUMENT },
	};

	(void)state;
	check_wrong(wrong, COUNT(wrong));
}

/* A mixture of 8 experts of 96, 2 for each token; F is what each does. */
#define MIXTURE(splits, body)                                                  \
	"template block(hidden, ffn, n = 8) { " splits " " X body " } "         \
	"model net(seq = 128) { layers { 3 * block(hidden = 32, ffn = 96) } }"
#define F "linear(gelu(linear(e, hidden -> ffn)), ffn -> hidden)"
#define SPLITS "split n by expert split ffn by expert_tensor"

static void mixture_of_experts(void **state)
{
	static const enum ir_operator_kind kinds[] = {
		IR_RMSNORM, IR_ROUTER, IR_DISPATCH, IR_LINEAR, IR_GELU, IR_LINEAR,
		IR_COMBINE, IR_ADD,
	};
	const struct ir_operator *router;
	const struct ir_class *class;
	struct spec spec;

	(void)state;
	spec_good(&spec, MIXTURE(SPLITS, "m = rmsnorm(x) r = router(m, experts = n, "
				 "top_k = 2, capacity = 1.25, bias = true) "
				 "return x + experts(m, r) { e -> " F " }"), MODEL);
	class = class_of(&spec, "block");
	assert_int_equal(class->operator_count, COUNT(kinds));
	for (uint32_t i = 0; i < COUNT(kinds); i++) {
		bool routed = i >= 2 && i < 6;

		assert_int_equal(class->operator[i].kind, kinds[i]);
		assert_int_equal(class->value[class->operator[i].output].router,
				 routed ? 1 : IR_NONE);
	}
	router = &class->operator[1];
	assert_int_equal(router->top_k, 2);
	assert_true(router->capacity == 1.25 && router->bias);
	assert_int_equal(class->value[router->output].rank, 3);
	assert_int_equal(axis_of(class, "n")->split, IR_SPLIT_EXPERT);
	assert_int_equal(axis_of(class, "ffn")->split, IR_SPLIT_EXPERT_TENSOR);
	/* A norm, 8 scores with biases, 8 experts of two 32 x 96; 2 are met. */
	assert_int_equal(class->parameters, 32 + 33 * 8 + 8 * 2 * 32 * 96);
	assert_int_equal(class->active_parameters, 32 + 33 * 8 + 2 * 2 * 32 * 96);
	assert_int_equal(spec.ir->model.active_parameters,
			 3 * class->active_parameters);
	spec_release(&spec);
}

static void wrong_experts(void **state)
{
	static const struct wrong_spec wrong[] = {
		{ MIXTURE("", "return experts(x, x) { e -> " F " }"), MODEL, E_EXPERTS },
		{ MIXTURE("", "return experts(x) { e -> " F " }"), MODEL, E_EXPERTS },
		{ MIXTURE("", "r = router(x, experts = n, top_k = 2) "
			  "return experts(x, r)"), MODEL, E_EXPERTS },
		{ MIXTURE("", "r = router(x, experts = n, top_k = 2) "
			  "return experts(x, r) { e -> x }"), MODEL, E_EXPERTS },
		{ MIXTURE("", "r = router(x, experts = n, top_k = 2) "
			  "return experts(x, r) { e -> 3 }"), MODEL, E_EXPERTS },
		{ MIXTURE("", "r = router(x, experts = n, top_k = 2) "
			  "return experts(x, r) { e -> e + x }"), MODEL, E_EXPERTS },
		{ MIXTURE("", "r = router(x, experts = n, top_k = 2) "
			  "return experts(x, r) { e -> rmsnorm(e) }"), MODEL,
		  E_EXPERTS },
		{ MIXTURE("", "r = router(x, experts = n, top_k = 2) "
			  "return experts(x, r) { e -> experts(e, r) { f -> f } }"),
		  MODEL, E_EXPERTS },
		/* e is gone after the experts. */
		{ MIXTURE("", "r = router(x, experts = n, top_k = 2) "
			  "y = experts(x, r) { e -> " F " } return y + e"), MODEL,
		  E_UNKNOWN_NAME },
		{ MIXTURE("", "r = router(x, experts = n, top_k = 2) "
			  "return experts(x, r) { x -> x }"), MODEL, E_NAMED_TWICE },
		{ MIXTURE("", "r = router(linear(x, hidden -> ffn), experts = n, "
			  "top_k = 2) return experts(x, r) { e -> " F " }"), MODEL,
		  E_SHAPE },
		{ MIXTURE("", "r = router(x, experts = n) "
			  "return experts(x, r) { e -> " F " }"), MODEL,
		  E_OPERATOR_ARGUMENT },
		{ MIXTURE("", "r = router(x, top_k = 2) "
			  "return experts(x, r) { e -> " F " }"), MODEL,
		  E_OPERATOR_ARGUMENT },
		{ MIXTURE("", "r = router(x, experts = n, top_k = 9) "
			  "return experts(x, r) { e -> " F " }"), MODEL,
		  E_OPERATOR_VALUE },
		{ MIXTURE("", "r = router(x, experts = n, top_k = 0) "
			  "return experts(x, r) { e -> " F " }"), MODEL,
		  E_OPERATOR_VALUE },
		{ MIXTURE("", "r = router(x, experts = n, top_k = 2, capacity = 0.5) "
			  "return experts(x, r) { e -> " F " }"), MODEL,
		  E_OPERATOR_VALUE },
		{ MIXTURE("", "return linear(x, hidden -> hidden) { e -> e }"), MODEL,
		  E_OPERATOR_ARGUMENT },
		/* Splits: each region has its own, and experts are counted. */
		{ MIXTURE("split ffn by tensor", "r = router(x, experts = n, top_k = 2) "
			  "return experts(x, r) { e -> " F " }"), MODEL, E_SPLIT_AXIS },
		{ MIXTURE("split ffn by expert_tensor",
			  "return linear(linear(x, hidden -> ffn), ffn -> hidden)"),
		  MODEL, E_SPLIT_AXIS },
		{ MIXTURE("split ffn by expert",
			  "return linear(linear(x, hidden -> ffn), ffn -> hidden)"),
		  MODEL, E_SPLIT_AXIS },
		{ MIXTURE("split n by tensor", "r = router(x, experts = n, top_k = 2) "
			  "return experts(x, r) { e -> " F " }"), MODEL, E_SPLIT_AXIS },
		{ MIXTURE("split seq by expert", "return x"), MODEL, E_SPLIT_AXIS },
		{ MIXTURE("split ffn by expert_tensor",
			  "r = router(x, experts = n, top_k = 2) "
			  "return linear(experts(x, r) { e -> linear(e, hidden -> ffn) }, "
			  "ffn -> hidden)"), MODEL, E_SPLIT_AXIS },
	};

	(void)state;
	check_wrong(wrong, COUNT(wrong));
}

/* Latent attention: queries of 8 + 4, keys of 8 with 4 that all heads share,
 * values of 6. */
static void latent_attention(void **state)
{
	const struct ir_operator *attention;
	const struct ir_class *class;
	struct spec spec;

	(void)state;
	spec_good(&spec,
		  "template block(hidden, heads, a = 8, b = 4, c = 6) { "
		  "split heads by tensor " X
		  "q = linear(x, hidden -> heads * (a + b)) "
		  "k = linear(x, hidden -> heads * a) "
		  "v = linear(x, hidden -> heads * c) "
		  "o = attention(q, k, v, shared_key = linear(x, hidden -> b)) "
		  "return x + linear(o, heads * c -> hidden) } "
		  "model net(seq = 128) { layers { 2 * block(hidden = 32, heads = 4) } }",
		  MODEL);
	class = class_of(&spec, "block");
	attention = ir_find_operator(class, IR_ATTENTION);
	assert_int_equal(attention->input_count, 4);
	assert_int_equal(attention->head_size, 12);
	assert_int_equal(attention->value_size, 6);
	assert_int_equal(attention->heads_axis, attention->kv_heads_axis);
	assert_int_equal(class->parameters, 32 * 4 * (12 + 8 + 6) + 32 * 4 +
						    32 * 4 * 6);
	spec_release(&spec);
}

/* A norm within heads has as many weights as one head is wide; token numbers
 * may stand beside the input; a layer with a loss of its own is no block. */
static void other_operators(void **state)
{
	const struct ir_class *class;
	struct spec spec;

	(void)state;
	spec_good(&spec,
		  "template block(hidden, heads, head_dim = 8) { "
		  "split heads by tensor " X
		  "q = linear(x, hidden -> heads * head_dim) "
		  "n = rmsnorm(q, over = head_dim) "
		  "a = attention(n, n, n) "
		  "return x + linear(a, heads * head_dim -> hidden) } "
		  "template predict(hidden, vocab) { " X " ids : [batch, seq] "
		  "t = embedding(ids, vocab -> hidden, tied = true) "
		  "l = lm_head(t, hidden -> vocab, tied = true) "
		  "return auxiliary_loss(x, cross_entropy(l)) } "
		  "model net(seq = 128) { layers { embedding(vocab = 100, hidden = 32) "
		  "2 * block(hidden = 32, heads = 4) predict(hidden = 32, vocab = 100) "
		  "lm_head(vocab = 100, hidden = 32, tied = false) } }",
		  MODEL);
	class = class_of(&spec, "block");
	assert_int_equal(class->parameters, 2 * 32 * 32 + 8);
	class = class_of(&spec, "predict");
	assert_false(class->is_block);
	assert_int_equal(class->value[class->tokens].rank, 2);
	assert_int_equal(class->value[class->input].rank, 3);
	assert_int_equal(class->parameters, 0);
	assert_int_equal(spec.ir->model.layer_count, 2);
	assert_int_equal(spec.ir->model.parameters,
			 2 * 100 * 32 + 32 + 2 * (2 * 32 * 32 + 8));
	spec_release(&spec);
}

static void wrong_models(void **state)
{
	static const struct wrong_spec wrong[] = {
		{ NORM "model net { layers { 2 * norm(hidden = 4) } }", MODEL,
		  E_MODEL_SEQUENCE },
		{ NORM "model net(seq = 0) { layers { 2 * norm(hidden = 4) } }", MODEL,
		  E_MODEL_SEQUENCE },
		{ NORM "model net(seq = 8) { layers { 0 * norm(hidden = 4) } }", MODEL,
		  E_MODEL_LAYERS },
		{ NORM "model net(seq = 8) { layers { 4097 * norm(hidden = 4) } }",
		  MODEL, E_MODEL_LAYERS },
		{ NORM "model net(seq = 8) { layers { norm(hidden = 4) "
		  "norm(hidden = 5) } }", MODEL, E_MODEL_JOINT },
		{ "template grow(hidden) { " X "return linear(x, hidden -> 2 * hidden) } "
		  "model net(seq = 8) { layers { 2 * grow(hidden = 4) } }", MODEL,
		  E_MODEL_JOINT },
		{ "model net(seq = 8) { layers { embedding(vocab = 10, hidden = 4) "
		  "lm_head(vocab = 11, hidden = 4, tied = true) } }", MODEL,
		  E_MODEL_TIED },
		{ "model net(seq = 8) { layers { embedding(vocab = 10, hidden = 4, "
		  "positions = 7) } }", MODEL, E_OPERATOR_VALUE },
		{ NORM "model net(seq = 8) { norm_epsilon = 2 "
		  "layers { 2 * norm(hidden = 4) } }", MODEL, E_MODEL_FACT },
		{ NORM "model net(seq = 8) { layers { 2 * norm(hidden = 2.5) } }",
		  MODEL, E_NOT_WHOLE },
		{ NORM "model net(seq = 8) { layers { 2 * norm(hidden = bf16) } }",
		  MODEL, E_AXIS_SIZE },
		/* 2^26 x 2^28 elements of one weight. */
		{ "template wide(hidden) { " X "return linear(x, hidden -> 4 * hidden) } "
		  "model net(seq = 8) { layers { wide(hidden = 67_108_864) } }", MODEL,
		  E_AXIS_SIZE },
	};

	(void)state;
	check_wrong(wrong, COUNT(wrong));
}

/* A topology with the given level and device. */
#define DEVICE(items) "device d { memory = 80GB memory_bandwidth = 2TB/s " items " }\n"
#define CLUSTER(items) "topology cluster { device = d " items " }\n"
#define LEVEL(items) "level node { fanout = 8 bandwidth = 1GB/s latency = 1us " items " }"
#define HERE "model = llama2_7b topology = cluster global_batch = 8"

static void wrong_topologies(void **state)
{
	static const struct {
		const char *text;
		enum diag_code code;
	} wrong[] = {
		{ DEVICE("memmory_efficiency = 1") CLUSTER(LEVEL("")), E_DEVICE_FIELD },
		{ DEVICE("peak { bf17 = 1TFLOP/s }") CLUSTER(LEVEL("")),
		  E_DEVICE_FIELD },
		{ DEVICE("peak = 1TFLOP/s") CLUSTER(LEVEL("")), E_DEVICE_FIELD },
		{ DEVICE("memory_efficiency = 120%") CLUSTER(LEVEL("")),
		  E_DEVICE_VALUE },
		{ DEVICE("power = 0W - 1W") CLUSTER(LEVEL("")), E_DEVICE_VALUE },
		{ "topology cluster { " LEVEL("") " }", E_TOPOLOGY_FIELD },
		{ DEVICE("") CLUSTER("speed = 3 " LEVEL("")), E_TOPOLOGY_FIELD },
		{ DEVICE("") CLUSTER(""), E_LEVEL_COUNT },
		{ DEVICE("") CLUSTER(LEVEL("speed = 3")), E_LEVEL_FIELD },
		{ DEVICE("") CLUSTER(LEVEL("efficiency = 2")), E_LEVEL_VALUE },
		{ DEVICE("") CLUSTER(LEVEL("oversubscription = 0.5")), E_LEVEL_VALUE },
		{ DEVICE("") CLUSTER(LEVEL("children = 2")), E_CHILDREN },
		{ DEVICE("") CLUSTER(LEVEL("kind = bf16")), E_LEVEL_VALUE },
		{ DEVICE("") CLUSTER("level node { fanout = 0 bandwidth = 1GB/s "
				     "latency = 1us }"), E_LEVEL_VALUE },
		{ DEVICE("") CLUSTER("level node { fanout = 8 bandwidth = 0GB/s "
				     "latency = 1us }"), E_LEVEL_VALUE },
		{ DEVICE("") CLUSTER(LEVEL("") " level rack { fanout = 1_000_000 "
				     "bandwidth = 1GB/s latency = 1us }"),
		  E_DEVICE_COUNT },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(wrong); i++) {
		char text[2048];
		struct spec spec;

		snprintf(text, sizeof(text), "nest 1\nimport std.model.llama2\n%s\n"
			 "job j { " HERE " }\n", wrong[i].text);
		spec_lower(&spec, text);
		if (spec.ir || spec_error(&spec) != wrong[i].code) {
			spec_show(&spec);
			fail_msg("expected %s of: %s", diag_code_name(wrong[i].code),
				 wrong[i].text);
		}
		spec_release(&spec);
	}
}

static void wrong_jobs(void **state)
{
	static const struct wrong_spec wrong[] = {
		{ "", "", E_JOB_MISSING },
		{ "", "model = llama2_7b model = llama2_7b", E_JOB_TWICE },
		{ "", "model = llama2_7b globl = 3", E_JOB_FIELD },
		{ "", "model = llama2_7b searching { }", E_JOB_FIELD },
		{ "", "model = llama2_7b precision = adam", E_JOB_VALUE },
		{ "", "model = llama2_7b place { tensor within nowhere }", E_PLACE },
		{ "", "model = llama2_7b profile = \"x\"", E_UNREADABLE },
		{ "", "model = llama2_7b plan { tensor = 8 }", E_JOB_FIELD },
		{ "", "model = llama2_7b plan mine { tensr = 8 }",
		  E_SEARCH_VARIABLE },
		{ "", "model = llama2_7b plan mine { memory = 8GiB }",
		  E_SEARCH_VARIABLE },
		{ "", "model = llama2_7b plan mine { tensor in { 8 } }",
		  E_SEARCH_VARIABLE },
		{ "", "model = llama2_7b plan mine { recompute = 3 }",
		  E_SEARCH_VALUE },
		{ "", "model = llama2_7b plan mine { tensor = 8 tensor = 4 }",
		  E_JOB_TWICE },
		{ "", "model = llama2_7b plan mine { } plan mine { }",
		  E_JOB_TWICE },
		{ "", "model = llama2_7b prefer 3 weight 2", E_REQUIREMENT_TYPE },
		{ "", "model = llama2_7b prefer tensor == 8 weight 0",
		  E_OUT_OF_RANGE },
		{ "", "model = llama2_7b search { tensr in { 1 } }",
		  E_SEARCH_VARIABLE },
		{ "", "model = llama2_7b search { memory in { 1 } }",
		  E_SEARCH_VARIABLE },
		{ "", "model = llama2_7b search { tensor = 8 }", E_SEARCH_VARIABLE },
		{ "", "model = llama2_7b search { tensor in { 0, 1 } }",
		  E_SEARCH_VALUE },
		{ "", "model = llama2_7b search { tensor in { 1, 2, 1 } }",
		  E_SEARCH_VALUE },
		{ "", "model = llama2_7b search { tensor in { 1.5 } }",
		  E_SEARCH_VALUE },
		{ "", "model = llama2_7b search { tensor in 8 }", E_SEARCH_VALUE },
		{ "", "model = llama2_7b search { recompute in { 1 } }",
		  E_SEARCH_VALUE },
		{ "", "model = llama2_7b search { tensor in 1 .. 100_000 }",
		  E_SEARCH_VALUE },
		{ "", "model = llama2_7b search { tensor in 8 .. 1 }",
		  E_SEARCH_EMPTY },
		{ "", "model = llama2_7b search { tensor in { 1 } tensor in { 2 } }",
		  E_JOB_TWICE },
		{ "", "model = llama2_7b search { expert in { 0, 2 } }", E_SEARCH_VALUE },
		{ "", "model = llama2_7b search { zero in { 4 } }", E_SEARCH_VALUE },
		{ "", "model = llama2_7b search { recompute_layers in { 0 } }",
		  E_SEARCH_VALUE },
		{ "", "model = llama2_7b search { schedule in { full } }",
		  E_SEARCH_VALUE },
		{ "", "model = llama2_7b search { shard_level in { 8 } }",
		  E_SEARCH_VALUE },
		{ "", "model = llama2_7b minimize time + 1GiB", E_DIMENSION },
		{ "", "model = llama2_7b minimize 1s", E_OBJECTIVE },
		{ "", "model = llama2_7b minimize tensor == 8", E_OBJECTIVE },
		{ "", "model = llama2_7b minimize time then time", E_JOB_TWICE },
		{ "", "model = llama2_7b minimize time minimize cost", E_JOB_TWICE },
	};

	(void)state;
	check_wrong(wrong, COUNT(wrong));
}

static void objectives_need_facts_of_the_device(void **state)
{
	struct spec spec;

	(void)state;
	spec_lower(&spec, "nest 1\nimport std.model.llama2\n"
		   DEVICE("") CLUSTER(LEVEL(""))
		   "job j { " HERE " minimize cost }\n");
	assert_int_equal(spec_error(&spec), E_OBJECTIVE);
	spec_release(&spec);
}

/* Templates beyond the bounds: 70 axes, and 1,100 operators. */
static void templates_that_are_too_large(void **state)
{
	static char text[65536];

	(void)state;
	for (int operators = 0; operators < 2; operators++) {
		struct spec spec;
		size_t at = (size_t)snprintf(text, sizeof(text),
			"template block(hidden) { x : [batch, seq, hidden] y0 = x ");

		for (int i = 0; i < (operators ? 1100 : 70); i++)
			at += (size_t)snprintf(text + at, sizeof(text) - at,
				operators ? "y%d = gelu(y%d)\n" :
				"let a%d = %d - 0 y%d = linear(linear(y%d, hidden -> a%d), "
				"a%d -> hidden)\n",
				operators ? i + 1 : i, operators ? i : i + 1, i + 1, i,
				i, i);
		snprintf(text + at, sizeof(text) - at, "return y%d }\n"
			 "model net(seq = 8) { layers { block(hidden = 4) } }\n",
			 operators ? 1100 : 70);
		spec_build(&spec, text, MODEL);
		if (spec_error(&spec) != E_TEMPLATE_SIZE)
			spec_show(&spec);
		assert_int_equal(spec_error(&spec), E_TEMPLATE_SIZE);
		spec_release(&spec);
	}
}

/* Each let is twice the one before: 2^40 steps unless somebody counts. */
static void work_is_bounded(void **state)
{
	char text[4096];
	struct spec spec;
	size_t at;

	(void)state;
	at = (size_t)snprintf(text, sizeof(text), "template block(hidden) { "
			      "x : [batch, seq, hidden] let a0 = hidden + hidden\n");
	for (int i = 0; i < 40; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at,
				       "let a%d = a%d + a%d\n", i + 1, i, i);
	snprintf(text + at, sizeof(text) - at, "return linear(linear(x, "
		 "hidden -> a40), a40 -> hidden) }\n"
		 "model net(seq = 8) { layers { block(hidden = 4) } }\n");
	spec_build(&spec, text, MODEL);
	assert_int_equal(spec_error(&spec), E_STEP_LIMIT);
	spec_release(&spec);
}

/* objective x (1 + weights of what is not kept), of the first one only. */
static void preferences_weigh_the_objective(void **state)
{
	struct predicate_input input = { 0 };
	const struct ir_job *job;
	struct spec spec;

	(void)state;
	spec_build(&spec, BLOCK(X "return rmsnorm(x)"),
		   "model = net minimize time + 1s * pipeline then devices "
		   "prefer tensor == 8 weight 5% prefer pipeline < 3 weight 2");
	assert_non_null(spec.ir);
	job = &spec.ir->job;
	assert_int_equal(job->objective_count, 2);
	input.value[VARIABLE_TIME] = 6;
	input.value[VARIABLE_PIPELINE] = 4;
	input.value[VARIABLE_DEVICES] = 32;
	input.value[VARIABLE_TENSOR] = 8;
	/* (6 + 4) x (1 + 2) */
	assert_true(predicate_evaluate(&job->objective[0], &input) == 30);
	/* (6 + 4) x (1 + 0.05 + 2) */
	input.value[VARIABLE_TENSOR] = 4;
	assert_true(fabs(predicate_evaluate(&job->objective[0], &input) -
			 30.5) < 1e-12);
	input.value[VARIABLE_PIPELINE] = 2;
	input.value[VARIABLE_TENSOR] = 8;
	assert_true(predicate_evaluate(&job->objective[0], &input) == 8);
	assert_true(predicate_evaluate(&job->objective[1], &input) == 32);
	assert_string_equal(job->objective_name[1], "devices");
	spec_release(&spec);
}

/* Each value of a plan is a domain of one; the others stay open. */
static void plans_by_hand(void **state)
{
	const struct ir_plan *plan;
	struct spec spec;

	(void)state;
	spec_build(&spec, BLOCK(X "return rmsnorm(x)"),
		   "model = net plan mine { tensor = 2 * 4 recompute = full "
		   "sequence = on } plan other { }");
	assert_non_null(spec.ir);
	assert_int_equal(spec.ir->job.plan_count, 2);
	plan = spec.ir->job.plan;
	assert_string_equal(plan->name, "mine");
	assert_true(plan->domain[VARIABLE_TENSOR].given);
	assert_int_equal(plan->domain[VARIABLE_TENSOR].count, 1);
	assert_int_equal(plan->domain[VARIABLE_TENSOR].at[0], 8);
	assert_int_equal(plan->domain[VARIABLE_RECOMPUTE].at[0], RECOMPUTE_FULL);
	assert_int_equal(plan->domain[VARIABLE_SEQUENCE].at[0], 1);
	assert_false(plan->domain[VARIABLE_PIPELINE].given);
	assert_false(spec.ir->job.domain[VARIABLE_TENSOR].given);
	spec_release(&spec);
}

/* Several faults are reported in one run. */
static void several_errors_in_one_run(void **state)
{
	struct spec spec;

	(void)state;
	spec_build(&spec, BLOCK(X "return linear(x, ffn -> hidden)"),
		   "model = net search { tensor in { 0 } zero in { 9 } } "
		   "minimize 3");
	assert_null(spec.ir);
	assert_int_equal(spec.compilation.diags.errors, 4);
	spec_release(&spec);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_parameter_counts),
		cmocka_unit_test(parameters_of_operators),
		cmocka_unit_test(fused_and_separate_projections),
		cmocka_unit_test(graph_of_a_llama_block),
		cmocka_unit_test(embedding_and_head),
		cmocka_unit_test(lets_of_a_template),
		cmocka_unit_test(branches),
		cmocka_unit_test(dropping_nothing_is_no_operator),
		cmocka_unit_test(an_axis_nothing_has),
		cmocka_unit_test(heads_of_an_attention),
		cmocka_unit_test(equal_layers_share_a_class),
		cmocka_unit_test(facts_of_a_model),
		cmocka_unit_test(levels_of_a_topology),
		cmocka_unit_test(search_domains),
		cmocka_unit_test(wrong_templates),
		cmocka_unit_test(wrong_heads),
		cmocka_unit_test(mixture_of_experts),
		cmocka_unit_test(wrong_experts),
		cmocka_unit_test(latent_attention),
		cmocka_unit_test(other_operators),
		cmocka_unit_test(wrong_models),
		cmocka_unit_test(wrong_topologies),
		cmocka_unit_test(wrong_jobs),
		cmocka_unit_test(objectives_need_facts_of_the_device),
		cmocka_unit_test(templates_that_are_too_large),
		cmocka_unit_test(work_is_bounded),
		cmocka_unit_test(preferences_weigh_the_objective),
		cmocka_unit_test(plans_by_hand),
		cmocka_unit_test(several_errors_in_one_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
