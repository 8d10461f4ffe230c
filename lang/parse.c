/* SPDX-License-Identifier: MIT
 *
 * One parse from end to end, and the words for what is wrong in it.
 */
#include "lang/parse.h"

#include <string.h>

#include "lang/diag.h"
#include "lang/foreign.h"
#include "lang/gram.h"
#include "lang/token.h"

struct span parse_span(const struct parse *parse, uint32_t begin, uint32_t end)
{
	return (struct span){ .file = parse->file, .begin = begin, .end = end };
}

bool parse_may_report(struct parse *parse)
{
	if (parse->has_failed)
		return false;
	if (++parse->errors >= NEST_ERRORS_MAX)
		parse->has_failed = true;
	return true;
}

struct ast *parse_bounded(struct parse *parse, struct ast *node)
{
	struct diags *diags = &parse->compilation->diags;

	if (node->depth <= AST_DEPTH_MAX)
		return node;
	if (!parse->is_depth_reported && parse_may_report(parse)) {
		parse->is_depth_reported = true;
		diag_error(diags, E_NESTING,
			   parse_span(parse, node->span.end - 1,
				      node->span.end),
			   "an expression or block has more than %d levels",
			   AST_DEPTH_MAX);
		diag_note(diags, SPAN_NONE,
			  "each operator of a chain such as a + b + c counts"
			  " as a level");
		diag_help(diags, "give parts of it a name with 'let'");
	}
	return ast_new(parse->arena, AST_ERROR, node->span);
}

void parse_document(struct parse *parse, struct ast *node)
{
	size_t low = 0, high = parse->documentations.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct documentation *found =
			&parse->documentations.at[middle];

		if (found->begin == node->span.begin) {
			node->documentation = found->text;
			return;
		}
		if (found->begin < node->span.begin)
			low = middle + 1;
		else
			high = middle;
	}
}

/* The alternatives of a syntax error, gathered into words for people. */
struct expectation {
	const char *const *name;	/* aliases of gram.y */
	int count;
	bool is_covered[256];		/* said by a word for a group */
	const char *word[8];
	int word_count;
};

static int find(const struct expectation *expected, const char *name)
{
	for (int i = 0; i < expected->count; i++)
		if (strcmp(expected->name[i], name) == 0)
			return i;
	return -1;
}

static bool has(const struct expectation *expected, const char *name)
{
	return find(expected, name) >= 0;
}

/* Leaves out the names of a list that ends with NULL. */
static void cover(struct expectation *expected, const char *const *names)
{
	for (; *names; names++) {
		int at = find(expected, *names);

		if (at >= 0)
			expected->is_covered[at] = true;
	}
}

static void add_word(struct expectation *expected, const char *word)
{
	/* Two uses of one bracket are the same to people. */
	for (int i = 0; i < expected->word_count; i++)
		if (strcmp(expected->word[i], word) == 0)
			return;
	if (expected->word_count < 8)
		expected->word[expected->word_count++] = word;
}

static const char *const name_tokens[] = {
	"name", "device", "job", "level", "link", "model", "node", "pad",
	"plan", "switch", "template", "test", "topology", NULL,
};
static const char *const operand_tokens[] = {
	"number", "string", "true", "false", "not", "if", "(", "[", "{",
	"- as a sign", NULL,
};
static const char *const operator_tokens[] = {
	"+", "-", "*", "/", "%", "^", "==", "!=", "<", "<=", ">", ">=", "..",
	"in", "and", "or", "with", ".", "( of a call", "[ of an index",
	"{ of a lambda", "within", "when", "step", NULL,
};
static const char *const item_tokens[] = {
	"let", "fn", "split", "return", "for", "require", "prefer",
	"minimize", "avoid", "expect", ",", ";", NULL,
};
static const char *const declaration_tokens[] = {
	"import", "param", "let", "fn", "extern", "device", "topology",
	"template", "model", "job", "test", ",", ";", "nest", NULL,
};

static bool has_operators(const struct expectation *expected)
{
	return has(expected, "+") && has(expected, "*");
}

static void gather(struct expectation *expected)
{
	bool has_name = has(expected, "name");

	if (has_operators(expected)) {
		add_word(expected, "an operator");
		cover(expected, operator_tokens);
	}
	if (has(expected, "return")) {
		add_word(expected, "an item");
		cover(expected, name_tokens);
		cover(expected, operand_tokens);
		cover(expected, item_tokens);
	} else if (has_name && has(expected, "number")) {
		add_word(expected, "an expression");
		cover(expected, name_tokens);
		cover(expected, operand_tokens);
	} else if (has_name) {
		add_word(expected, "a name");
		cover(expected, name_tokens);
	} else if (has(expected, "import")) {
		add_word(expected, "a declaration");
		cover(expected, declaration_tokens);
	}
}

/* One alternative that no group took: "'{'", "a string". */
static const char *describe(struct parse *parse, const char *name)
{
	if (strcmp(name, "number") == 0)
		return "a number";
	if (strcmp(name, "string") == 0)
		return "a string";
	if (strcmp(name, "end of file") == 0)
		return "the end of the file";
	return arena_printf(parse->arena, "'%.*s'", (int)strcspn(name, " "),
			    name);
}

/* "; expected a name, '(' or '{'", or nothing when there is too much. */
static const char *list_expected(struct parse *parse,
				 struct expectation *expected)
{
	struct text list;

	for (int i = 0; i < expected->count; i++) {
		if (expected->is_covered[i])
			continue;
		if (expected->word_count == 6)
			return "";
		add_word(expected, describe(parse, expected->name[i]));
	}
	if (!expected->word_count)
		return "";
	text_init(&list, parse->arena);
	text_append(&list, "; expected ");
	for (int i = 0; i < expected->word_count; i++) {
		if (i && i + 1 == expected->word_count)
			text_append(&list, " or ");
		else if (i)
			text_append(&list, ", ");
		text_append(&list, expected->word[i]);
	}
	return list.at;
}

static bool is_reserved(int kind)
{
	switch (kind) {
#define WORD(token, spelling)
#define RESERVED(token, spelling) case TOK_##token:
#include "lang/words.def"
#undef RESERVED
#undef WORD
		return true;
	}
	return false;
}

static bool is_comparison(int kind)
{
	switch (kind) {
	case TOK_EQUAL:
	case TOK_UNEQUAL:
	case TOK_LESS:
	case TOK_LESS_EQUAL:
	case TOK_GREATER:
	case TOK_GREATER_EQUAL:
	case TOK_IN:
		return true;
	}
	return false;
}

/* The word of the grammar that a name stands for by mistake, or NULL. */
static const char *find_slip(const struct expectation *expected,
			     const struct token *token)
{
	const char *best = NULL;
	unsigned best_distance = 0;

	if (token->kind != TOK_NAME)
		return NULL;
	for (int i = 0; i < expected->count; i++) {
		const char *name = expected->name[i];
		unsigned distance;

		/* 'and' and its like resemble too much. */
		if (strlen(name) < 4 && has_operators(expected))
			continue;
		if (name[0] < 'a' || name[0] > 'z' || strchr(name, ' ') ||
		    strcmp(name, "name") == 0 || strcmp(name, "number") == 0 ||
		    strcmp(name, "string") == 0 ||
		    !diag_resembles(token->value.name, name, &distance))
			continue;
		if (!best || distance < best_distance) {
			best = name;
			best_distance = distance;
		}
	}
	return best;
}

/* Whether the token stands directly in the braces of a set. */
static bool is_in_set(const struct parse *parse, const struct token *token)
{
	const struct bracket *bracket;

	if (!token->depth || token->depth > parse->bracket_count)
		return false;
	bracket = &parse->bracket[token->depth - 1];
	return bracket->opening == '{' && !bracket->is_body;
}

/* Whether the token is where the edition stands. */
static bool is_opening(const struct parse *parse,
		       const struct expectation *expected)
{
	return parse->before[0].kind == TOK_NEST || has(expected, "nest");
}

/* What other languages and formats leave out or write in another way. */
static bool advise_missing(struct parse *parse,
			   const struct expectation *expected,
			   const struct token *token)
{
	struct diags *diags = &parse->compilation->diags;
	int before = parse->before[0].kind;

	if (has(expected, "then"))
		diag_help(diags, "write 'if c then a else b'; a requirement with a condition is 'e when c'");
	else if (has(expected, "weight"))
		diag_help(diags, "say what it is worth: 'prefer tensor <= 4 weight 2%%'");
	else if (before == TOK_COLON && has(expected, "[") &&
		 token->kind != TOK_END)
		diag_help(diags, "a value is given with '='");
	else if (token->kind == TOK_LINKED)
		diag_help(diags, "a comment begins with '#'");
	else if (token->kind == TOK_DOT && has(expected, "number"))
		diag_help(diags, "a number begins with a digit: 0.5");
	else if (before == TOK_IMPORT || (before == TOK_DOT && has(expected, "name") &&
					  token->kind == TOK_TIMES))
		diag_help(diags, "a module is imported whole: import std.model.llama2, or "
				 "import \"./other.nest\"");
	else if (token->kind == TOK_COMMA && has(expected, ")") &&
		 has_operators(expected))
		diag_help(diags, "a set is written '{ 1, 2 }', a list '[1, 2]'");
	else if (is_opening(parse, expected))
		diag_help(diags, "the first line is: nest 1");
	else if (before == TOK_ELSE && has(expected, "string"))
		diag_help(diags, "the reason is a string: else \"too wide\"");
	else if (token->kind == TOK_DIVIDE && has(expected, "as"))
		diag_help(diags, "the parts of a module's name are joined by '.': std.model.llama2");
	else if (token->kind == TOK_EQUAL && has(expected, "=") &&
		 expected->count < 4)
		diag_help(diags, "a value is given with one '='");
	else
		return false;
	return true;
}

/* One piece of advice for the slips that are made most. */
static void advise(struct parse *parse, const struct expectation *expected,
		   const struct token *token)
{
	struct diags *diags = &parse->compilation->diags;
	const char *slip = find_slip(expected, token);

	if (slip) {
		diag_help(diags, "did you mean '%s'?", slip);
		diag_fix(diags, token->span, slip);
	} else if (token->kind == TOK_NAME && has(expected, "import") &&
		   foreign_advise(diags, token->value.name, token->span)) {
		return;
	} else if (advise_missing(parse, expected, token)) {
		return;
	} else if (is_reserved(token->kind) && has(expected, "name") &&
		   !has(expected, "number")) {
		diag_note(diags, SPAN_NONE,
			  "'%s' is a word of the language and cannot be a name",
			  token->value.name);
	} else if (is_comparison(token->kind) && has(expected, "and")) {
		diag_help(diags, "comparisons do not chain; join two of them"
				 " with 'and'");
	} else if (token->kind == TOK_RANGE && has(expected, "step")) {
		diag_help(diags, "a range has two ends and perhaps a 'step'");
	} else if (token->kind == TOK_ASSIGN && is_in_set(parse, token)) {
		diag_help(diags, "a block is written without '=' before its"
				 " '{'");
	} else if (token->kind == TOK_ASSIGN && has_operators(expected)) {
		diag_help(diags, "equality is tested with '=='");
	} else if (token->kind == TOK_IF && !has_operators(expected) &&
		   has(expected, "number")) {
		diag_help(diags, "put the whole 'if' in parentheses");
	} else if (has(expected, ",") && !has(expected, "return") &&
		   !has(expected, "import") &&
		   !token->is_first && token->depth > token->body &&
		   (token->kind == TOK_NAME || token->kind == TOK_NUMBER ||
		    token->kind == TOK_STRING)) {
		diag_help(diags, "separate the elements with ','");
	}
}

/* Points at the bracket in which an expression was left unfinished. */
static void point_at_bracket(struct parse *parse, const struct token *token)
{
	struct diags *diags = &parse->compilation->diags;
	const struct bracket *bracket;
	uint32_t line;

	if (!token->depth || token->depth > parse->bracket_count)
		return;
	bracket = &parse->bracket[token->depth - 1];
	line = source_place(parse->source, bracket->begin).line;
	if (bracket->is_body ||
	    line == source_place(parse->source, token->span.begin).line)
		return;
	diag_label(diags, parse_span(parse, bracket->begin,
				     bracket->begin + 1),
		   "inside the '%c' opened here", bracket->opening);
}

/* The token with which a line ends that is not finished, when the item of the
 * next line has been taken for its rest: that shows only at the '='. */
static const struct token *find_unfinished(const struct parse *parse)
{
	const struct token *name = &parse->before[0];
	const struct token *operator = &parse->before[1];

	if (parse->last.kind != TOK_ASSIGN || !name->is_first ||
	    name->kind != TOK_NAME || !operator->kind ||
	    token_ends_expression(operator->kind))
		return NULL;
	return operator;
}

static void report_unfinished(struct parse *parse, const struct token *token)
{
	diag_error(&parse->compilation->diags, E_SYNTAX, token->span,
		   "the line ends with '%.*s'; expected an expression behind"
		   " it",
		   (int)(token->span.end - token->span.begin),
		   parse->source->bytes + token->span.begin);
}

void parse_report_unexpected(struct parse *parse, const char *const *names,
			     int count)
{
	struct diags *diags = &parse->compilation->diags;
	struct expectation expected = { .name = names, .count = count };
	const struct token *token = &parse->last;
	const char *text = parse->source->bytes + token->span.begin;
	uint32_t length = token->span.end - token->span.begin;
	const struct token *unfinished = find_unfinished(parse);
	const char *list;

	/* What follows a character that means nothing is its rest. */
	if (token->is_made_up || parse->stray_line == parse->line_begin + 1 ||
	    !parse_may_report(parse))
		return;
	if (unfinished) {
		report_unfinished(parse, unfinished);
		return;
	}
	gather(&expected);
	list = list_expected(parse, &expected);
	if (token->kind == TOK_END)
		diag_error(diags, E_SYNTAX, token->span,
			   "unexpected end of the file%s", list);
	else if (length > 40)
		diag_error(diags, E_SYNTAX, token->span,
			   "unexpected text%s", list);
	else
		diag_error(diags, E_SYNTAX, token->span, "unexpected '%.*s'%s",
			   (int)length, text, list);
	point_at_bracket(parse, token);
	advise(parse, &expected, token);
}

static void report_not_text(struct parse *parse, uint32_t offset)
{
	struct diags *diags = &parse->compilation->diags;
	unsigned char byte = (unsigned char)parse->source->bytes[offset];
	struct span span = parse_span(parse, offset, offset + 1);

	parse->errors++;
	if (!byte)
		diag_error(diags, E_NOT_TEXT, span,
			   "the file holds a NUL byte here");
	else
		diag_error(diags, E_NOT_TEXT, span,
			   "the byte 0x%02x here is not UTF-8", byte);
	diag_help(diags, "a spec is a text file in UTF-8");
}

/* Runs scanner and grammar over a source; false if it is no text. */
static bool run(struct parse *parse, struct compilation *compilation,
		uint32_t file, int start, struct comments *comments)
{
	uint32_t offset;

	*parse = (struct parse){
		.compilation = compilation,
		.arena = &compilation->arena,
		.source = compilation->sources.at[file],
		.file = file,
		.start = start,
		.comments = comments,
		.recovered_at = UINT32_MAX,
	};
	if (!source_is_text(parse->source, &offset)) {
		report_not_text(parse, offset);
		return false;
	}
	text_init(&parse->comment, parse->arena);
	if (!scan_open(parse))
		return false;
	nest_gram_parse(parse);
	scan_close(parse);
	return true;
}

static void report_no_edition(struct parse *parse)
{
	struct diags *diags = &parse->compilation->diags;
	struct span start = parse_span(parse, 0, 0);

	parse->errors++;
	diag_error(diags, E_EDITION, start,
		   "the file does not begin with its edition");
	diag_help(diags, "write 'nest 1' as its first line");
	diag_fix_safe(diags, start, "nest 1\n");
}

struct ast *parse_file(struct compilation *compilation, uint32_t file,
		       bool *clean)
{
	return parse_file_and_comments(compilation, file, clean, NULL);
}

struct ast *parse_file_and_comments(struct compilation *compilation,
				    uint32_t file, bool *clean,
				    struct comments *comments)
{
	struct ast *tree;
	struct parse *parse = ARENA_NEW(&compilation->arena, struct parse);

	run(parse, compilation, file, TOK_START_FILE, comments);
	if (!parse->errors && parse->edition == 0)
		report_no_edition(parse);
	tree = ast_new(parse->arena, AST_FILE,
		       parse_span(parse, 0, parse->source->length));
	tree->number = parse->edition;
	ast_adopt(tree, parse->arena, &parse->items);
	*clean = parse->errors == 0;
	return tree;
}

struct ast *parse_expression(struct compilation *compilation, uint32_t file)
{
	struct parse *parse = ARENA_NEW(&compilation->arena, struct parse);

	run(parse, compilation, file, TOK_START_EXPRESSION, NULL);
	return parse->errors ? NULL : parse->expression;
}

struct ast *parse_items(struct compilation *compilation, uint32_t file)
{
	struct parse *parse = ARENA_NEW(&compilation->arena, struct parse);
	struct ast *body;

	run(parse, compilation, file, TOK_START_ITEMS, NULL);
	if (parse->errors)
		return NULL;
	body = ast_new(parse->arena, AST_BODY,
		       parse_span(parse, 0, parse->source->length));
	ast_adopt(body, parse->arena, &parse->items);
	return body;
}
