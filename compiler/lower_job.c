/* SPDX-License-Identifier: MIT
 *
 * The job's own items: its fields, the records of its model and topology, and the
 * scope of its requirements.
 */
#include <string.h>

#include "compiler/job_names.h"
#include "compiler/lower.h"
#include "lang/foreign.h"

/* ---- items ---- */

/* What may stand in a job: fields and blocks, the required ones with an
 * example. */
static const struct {
	const char *name;
	bool is_block;
	const char *example;		/* NULL: may be left out */
} job_items[] = {
	{ "model", false, "model = llama3_8b(seq = 8192)" },
	{ "topology", false, "topology = spine_leaf(device = h100_sxm)" },
	{ "global_batch", false, "global_batch = 1024" },
	{ "precision", false, NULL },
	{ "optimizer", false, NULL },
	{ "target", false, NULL },
	{ "recompute_modules", false, NULL },
	{ "overlap_expert_exchange", false, NULL },
	{ "token_dispatcher", false, NULL },
	{ "muon_mode", false, NULL },
	{ "profile", false, NULL },
	{ "search", true, NULL },
	{ "require", true, NULL },
	{ "place", true, NULL },
	{ "plan", true, NULL },
};

#define JOB_ITEM_COUNT (sizeof(job_items) / sizeof(*job_items))

static size_t job_item_find(const char *name)
{
	size_t i = 0;

	while (i < JOB_ITEM_COUNT && strcmp(job_items[i].name, name))
		i++;
	return i;
}

/* A misspelt item counts as seen, so that it is not reported as missing too. */
static bool unknown_item(struct lower *lower, const struct ast *item,
			 const struct ast **seen)
{
	const char *names[JOB_ITEM_COUNT];
	uint32_t count = 0;

	diag_error(lower->diags, E_JOB_FIELD, item->name_span,
		   "a job has no %s '%s'", ast_kind_name(item->kind), item->name);
	for (size_t i = 0; i < JOB_ITEM_COUNT; i++) {
		if (job_items[i].is_block != (item->kind != AST_FIELD))
			continue;
		names[count++] = job_items[i].name;
		if (!seen[i] && diag_resembles(item->name, job_items[i].name, NULL))
			seen[i] = item;
	}
	if (foreign_meaning(item->name) && !strcmp(foreign_meaning(item->name), "seq"))
		diag_help(lower->diags, "the sequence length is the model's: model = llama3_8b(seq = 8192)");
	else
		lower_suggest(lower, item->name, names, count);
	if (item->kind == AST_FIELD && variable_find(item->name) != VARIABLE_COUNT)
		diag_help(lower->diags, "to fix it, write: search { %s in { .. } }",
			  item->name);
	return false;
}

static bool check_named_item(struct lower *lower, const struct ast *item,
			     const struct ast **seen)
{
	size_t index = job_item_find(item->name);

	if (index == JOB_ITEM_COUNT ||
	    job_items[index].is_block != (item->kind != AST_FIELD))
		return unknown_item(lower, item, seen);
	if (!strcmp(item->name, "plan") && item->kind == AST_BLOCK) {
		diag_error(lower->diags, E_JOB_FIELD, item->name_span,
			   "a plan needs a name of its own");
		diag_help(lower->diags, "write for instance: plan mine { tensor = 8 }");
		return false;
	}
	if (strcmp(item->name, "plan") && item->kind == AST_NAMED_BLOCK)
		return diag_error(lower->diags, E_JOB_FIELD, item->name_span,
				  "the block '%s' of a job has no name of its own",
				  item->name);
	if (seen[index] && !job_items[index].is_block) {
		diag_error(lower->diags, E_JOB_TWICE, item->name_span,
			   "'%s' is given twice", item->name);
		diag_label(lower->diags, seen[index]->name_span, "given here first");
		return false;
	}
	seen[index] = item;
	return true;
}

/* A let that depends on the plan is kept aside; any other is an ordinary name,
 * evaluated when it is wanted. */
static bool job_let(struct lower *lower, const struct ast *item)
{
	struct job_let let = { item->name, item->child[0] };

	if (variable_find(item->name) != VARIABLE_COUNT) {
		diag_error(lower->diags, E_JOB_TWICE, item->name_span,
			   "'%s' is a plan variable", item->name);
		diag_help(lower->diags, "give this value another name");
		return false;
	}
	if (lower_mentions_plan(lower, item->child[0])) {
		VEC_PUSH(&lower->let, lower->arena, let);
		return true;
	}
	if (scope_declare(lower->scope, item, lower->scope))
		return true;
	return diag_error(lower->diags, E_JOB_TWICE, item->name_span,
			  "'%s' is given twice", item->name);
}

/* The field that an expression begins with the name of: "model tiny", "model == tiny"; it
 * counts as seen. JOB_ITEM_COUNT if there is none. */
static size_t field_begun(const struct ast *item, const struct ast **seen)
{
	const struct ast *first = item->child[0];
	size_t index;

	while (first->kind != AST_NAME && first->child_count && first->child[0])
		first = first->child[0];
	if (first->kind != AST_NAME)
		return JOB_ITEM_COUNT;
	index = job_item_find(first->name);
	if (index < JOB_ITEM_COUNT && !seen[index])
		seen[index] = item;
	return index;
}

/* Whether an expression stands behind an objective: "minimize time, cost". */
static bool is_objective(const struct lower *lower, const struct ast *item)
{
	const struct ast *body = lower_body(lower->job);

	for (uint32_t i = 1; i < body->child_count; i++)
		if (body->child[i] == item)
			return body->child[i - 1] &&
			       body->child[i - 1]->kind == AST_MINIMIZE &&
			       item->child[0]->kind == AST_NAME &&
			       variable_find(item->child[0]->name) != VARIABLE_COUNT;
	return false;
}

static bool lone_expression(struct lower *lower, const struct ast *item,
			    const struct ast **seen)
{
	size_t field = field_begun(item, seen);

	diag_error(lower->diags, E_JOB_FIELD, item->span,
		   "an expression does not belong in a job by itself");
	if (item->child[0]->kind == AST_NUMBER)
		diag_help(lower->diags, "digits are grouped with '_', as in 1_024");
	else if (is_objective(lower, item))
		diag_help(lower->diags, "objectives are joined by 'then': minimize time then %s",
			  item->child[0]->name);
	else if (field < JOB_ITEM_COUNT)
		diag_help(lower->diags, "a field is given with '=': %s = ..",
			  job_items[field].name);
	return false;
}

static bool check_item(struct lower *lower, const struct ast *item,
		       const struct ast **seen)
{
	switch (item->kind) {
	case AST_FIELD:
	case AST_BLOCK:
	case AST_NAMED_BLOCK:
		return check_named_item(lower, item, seen);
	case AST_LET:
		return job_let(lower, item);
	case AST_MINIMIZE:
		return true;
	case AST_REQUIRE:
		if (!item->name)
			return true;
		diag_error(lower->diags, E_JOB_FIELD, item->span,
			   "a condition does not belong in a job by itself");
		diag_help(lower->diags, "begin it with the word 'require'");
		return false;
	case AST_PREFER:
		return true;
	case AST_ERROR:
		return false;
	case AST_ITEM:
		return lone_expression(lower, item, seen);
	default:
		return diag_error(lower->diags, E_JOB_FIELD, item->span,
				  "%s does not belong in a job",
				  ast_a_kind(item->kind));
	}
}

/* Whether an expression is the second half of one that was refused: "model tiny". */
static bool goes_on(const struct lower *lower, const struct ast *body, uint32_t index)
{
	const struct ast *item = body->child[index];
	const struct ast *before = index ? body->child[index - 1] : NULL;
	const char *bytes;

	if (!before || item->kind != AST_ITEM || before->kind != AST_ITEM)
		return false;
	bytes = lower->compilation->sources.at[item->span.file]->bytes;
	return !memchr(bytes + before->span.end, '\n',
		       item->span.begin - before->span.end);
}

static bool check_items(struct lower *lower, const struct ast *body)
{
	const struct ast *seen[JOB_ITEM_COUNT] = { NULL };
	bool good = true;

	for (uint32_t i = 0; i < body->child_count; i++)
		if (body->child[i] && !goes_on(lower, body, i))
			good = check_item(lower, body->child[i], seen) && good;
	for (size_t i = 0; i < JOB_ITEM_COUNT; i++) {
		if (!job_items[i].example || seen[i])
			continue;
		good = diag_error(lower->diags, E_JOB_MISSING, lower->job->name_span,
				  "job '%s' does not say its %s", lower->job->name,
				  job_items[i].name);
		diag_help(lower->diags, "add for instance: %s", job_items[i].example);
	}
	return good;
}

/* ---- fields ---- */

/* Whether an expression names a device. */
static bool is_device(struct lower *lower, const struct ast *expression)
{
	const struct binding *binding;

	if (expression->kind != AST_NAME)
		return false;
	binding = scope_find(lower->scope, expression->name);
	return binding && binding->declaration &&
	       binding->declaration->kind == AST_DEVICE;
}

static bool job_record(struct lower *lower, const struct ast *body,
		       const char *name, enum record_kind kind,
		       struct record **record)
{
	const struct ast *field = lower_field(body, name);

	if (!field)
		return false;
	if (eval_record(&lower->eval, lower->scope, field->child[0], kind,
			arena_printf(lower->arena, "'%s'", name), record))
		return true;
	if (kind == RECORD_TOPOLOGY && is_device(lower, field->child[0]))
		diag_help(lower->diags, "a topology is made of devices, for instance: single_node(device = %s)",
			  field->child[0]->name);
	return false;
}

/* A symbol of a field as an index into names; keeps it where it is absent. */
static bool job_symbol(struct lower *lower, const struct ast *body,
		       const char *name, const char *const *names,
		       uint32_t count, uint32_t *index)
{
	const struct ast *field = lower_field(body, name);
	struct text list;
	struct value value;

	if (!field)
		return true;
	if (!eval_expression(&lower->eval, lower->scope, field->child[0], &value) ||
	    value.kind == VALUE_ERROR)
		return false;
	for (*index = 0; value.kind == VALUE_SYMBOL && *index < count; (*index)++)
		if (!strcmp(names[*index], value.string))
			return true;
	text_init(&list, lower->arena);
	for (uint32_t i = 0; i < count; i++)
		text_printf(&list, "%s%s", i ? ", " : "", names[i]);
	diag_error(lower->diags, E_JOB_VALUE, field->child[0]->span,
		   "'%s' must be one of: %s", name, list.at);
	if (value.kind == VALUE_SYMBOL)
		lower_suggest(lower, value.string, names, count);
	for (uint32_t i = 0; value.kind == VALUE_STRING && i < count; i++)
		if (!strcmp(names[i], value.string))
			diag_help(lower->diags, "write it without the quotes: %s",
				  names[i]);
	*index = 0;
	return false;
}

/* The mode says how Muon steps. */
static bool check_muon_mode(struct lower *lower, const struct ast *body)
{
	const struct ast *field = lower_field(body, "muon_mode");

	if (!field || lower->ir->job.optimizer == IR_MUON)
		return true;
	diag_error(lower->diags, E_JOB_VALUE, field->span,
		   "'muon_mode' is for 'optimizer = muon'");
	diag_help(lower->diags, "leave it out, or write 'optimizer = muon'");
	return false;
}

static bool job_symbols(struct lower *lower, const struct ast *body)
{
	struct ir_job *job = &lower->ir->job;
	uint32_t precision = IR_BF16, optimizer = IR_ADAM, target = IR_TARGET_NONE;
	uint32_t dispatcher = IR_DISPATCHER_ALLTOALL, mode = IR_MUON_BLOCKWISE;
	bool good = job_symbol(lower, body, "precision", precision_names,
			       IR_PRECISION_COUNT, &precision);

	good = job_symbol(lower, body, "optimizer", optimizer_names,
			  IR_OPTIMIZER_COUNT, &optimizer) && good;
	good = job_symbol(lower, body, "target", target_names, IR_TARGET_COUNT,
			  &target) && good;
	good = job_symbol(lower, body, "token_dispatcher", dispatcher_names,
			  IR_DISPATCHER_COUNT, &dispatcher) && good;
	good = job_symbol(lower, body, "muon_mode", muon_mode_names,
			  IR_MUON_MODE_COUNT, &mode) && good;
	job->dispatcher = (enum ir_dispatcher)dispatcher;
	job->muon_mode = (enum ir_muon_mode)mode;
	job->precision = (enum ir_precision)precision;
	job->optimizer = (enum ir_optimizer)optimizer;
	job->target = (enum ir_target)target;
	return check_muon_mode(lower, body) && good;
}

static bool job_batch(struct lower *lower, const struct ast *body)
{
	const struct ast *field = lower_field(body, "global_batch");
	struct ir_job *job = &lower->ir->job;
	int64_t number;

	if (!field)
		return false;
	job->global_batch_span = field->span;
	if (!eval_integer(&lower->eval, lower->scope, field->child[0], 1, INT32_MAX,
			  "'global_batch'", &number))
		return false;
	job->global_batch = (uint32_t)number;
	return true;
}

static void bind_record(struct lower *lower, const char *name,
			struct record *record)
{
	struct value value = {
		.kind = record ? VALUE_RECORD : VALUE_ERROR,
		.span = lower->job->name_span,
	};

	if (record) {
		value.span = record->span;
		value.record = record;
	}
	scope_set(lower->scope, intern_string(&lower->compilation->intern, name),
		  value);
}

/* The job's device, topology and model under these names, for requirements. */
static void bind_records(struct lower *lower)
{
	const char *name = intern_string(&lower->compilation->intern, "device");
	struct record *device = NULL;
	const struct field *field;

	if (lower->variant) {
		device = lower->variant->device;
	} else if (lower->topology) {
		field = record_find(lower->topology, name);
		if (field && field->value->kind == VALUE_RECORD)
			device = field->value->record;
	}
	bind_record(lower, "device", device);
	bind_record(lower, "topology", lower->topology);
	bind_record(lower, "model", lower->model);
}

bool lower_job_fields(struct lower *lower)
{
	const struct ast *body = lower_body(lower->job);
	bool good;

	lower->ir->job.name = lower->job->name;
	lower->ir->job.span = lower->job->name_span;
	good = check_items(lower, body);
	good = job_record(lower, body, "model", RECORD_MODEL, &lower->model) && good;
	good = job_record(lower, body, "topology", RECORD_TOPOLOGY,
			  &lower->topology) && good;
	good = job_batch(lower, body) && good;
	good = job_symbols(lower, body) && good;
	good = lower_kinds(lower) && good;
	bind_records(lower);
	return good;
}
