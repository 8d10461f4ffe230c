/* SPDX-License-Identifier: MIT
 *
 * Bracket matching, and the way back after a syntax error.
 *
 * A bracket that is missing is reported here, where its partner is known, and
 * made up for the grammar; one too many is left out. After any other error
 * the grammar drops what it was in the middle of, up to the innermost body,
 * and this file skips to that body's next item or its end, and says so by
 * TOK_RESYNC.
 */
#include "lang/token.h"

#include <string.h>

#include "lang/diag.h"
#include "lang/gram.h"

static struct bracket *innermost(struct parse *parse)
{
	if (!parse->bracket_count)
		return NULL;
	return &parse->bracket[parse->bracket_count - 1];
}

static struct span bracket_span(const struct parse *parse,
				const struct bracket *bracket)
{
	return parse_span(parse, bracket->begin, bracket->begin + 1);
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Skips a name; gives the same offset when there is none. */
static uint32_t skip_name(const struct parse *parse, uint32_t at)
{
	const char *bytes = parse->source->bytes;

	if (!is_letter(bytes[at]))
		return at;
	while (is_letter(bytes[at]) || (bytes[at] >= '0' && bytes[at] <= '9'))
		at++;
	return at;
}

/* Whether "name ->" follows: then a brace opens a lambda. */
static bool lambda_follows(const struct parse *parse, uint32_t at)
{
	uint32_t begin = source_skip_blanks(parse->source, at);
	uint32_t end = skip_name(parse, begin);

	if (begin == end)
		return false;
	end = source_skip_blanks(parse->source, end);
	return strncmp(parse->source->bytes + end, "->", 2) == 0;
}

/* Whether a declaration begins with this token although brackets are open:
 * one of its words at the very start of a line, and what goes with it. */
static bool is_declaration_head(const struct parse *parse,
				const struct token *token)
{
	uint32_t at = token->span.begin, end;

	if (!token->is_first || (at && parse->source->bytes[at - 1] != '\n'))
		return false;
	switch (token->kind) {
	case TOK_IMPORT:
	case TOK_PARAM:
	case TOK_EXTERN:
		return true;
	case TOK_DEVICE:
	case TOK_TOPOLOGY:
	case TOK_TEMPLATE:
	case TOK_MODEL:
	case TOK_JOB:
		at = source_skip_blanks(parse->source, token->span.end);
		end = skip_name(parse, at);
		if (end == at)
			return false;
		end = source_skip_blanks(parse->source, end);
		return parse->source->bytes[end] == '{' ||
		       parse->source->bytes[end] == '(';
	}
	return false;
}

bool token_ends_expression(int kind)
{
	switch (kind) {
	case TOK_NAME:
	case TOK_NUMBER:
	case TOK_STRING:
	case TOK_TRUE:
	case TOK_FALSE:
	case TOK_RPAREN:
	case TOK_RBRACKET:
	case TOK_RBRACE:
#define RESERVED(token, spelling)
#define WORD(token, spelling) case TOK_##token:
#include "lang/words.def"
#undef WORD
#undef RESERVED
		return true;
	}
	return false;
}

/* Whether a brace after a token of this kind holds items. */
static bool begins_body_after(int kind)
{
	return token_ends_expression(kind) || kind == TOK_WITH ||
	       kind == TOK_REQUIRE;
}

/* Tells the two uses of ( [ - and the three of { apart. */
static void classify(struct parse *parse, struct token *token)
{
	const struct bracket *outer = innermost(parse);
	bool is_new = token->is_first && (!outer || outer->opening == '{');
	bool goes_on = !is_new && token_ends_expression(parse->previous);

	switch (token->kind) {
	case TOK_LPAREN:
		if (goes_on)
			token->kind = TOK_CALL;
		break;
	case TOK_LBRACKET:
		if (goes_on)
			token->kind = TOK_INDEX;
		break;
	case TOK_MINUS:
		if (!goes_on)
			token->kind = TOK_SIGN;
		break;
	case TOK_LBRACE:
		if (lambda_follows(parse, token->span.end))
			token->kind = TOK_LAMBDA;
		break;
	}
}

static char opening_of(int kind)
{
	switch (kind) {
	case TOK_LPAREN:
	case TOK_CALL:
		return '(';
	case TOK_LBRACKET:
	case TOK_INDEX:
		return '[';
	case TOK_LBRACE:
	case TOK_LAMBDA:
		return '{';
	}
	return 0;
}

/* The opening partner of a closing bracket. */
static char partner_of(int kind)
{
	switch (kind) {
	case TOK_RPAREN:
		return '(';
	case TOK_RBRACKET:
		return '[';
	case TOK_RBRACE:
		return '{';
	}
	return 0;
}

static void give_up(struct parse *parse)
{
	parse->has_failed = true;
	parse->is_closing = true;
}

static void open_bracket(struct parse *parse, const struct token *token)
{
	const struct bracket *outer = innermost(parse);
	struct bracket *bracket;

	if (parse->bracket_count == NEST_BRACKETS_MAX) {
		if (parse_may_report(parse)) {
			diag_error(&parse->compilation->diags, E_NESTING,
				   token->span,
				   "brackets are nested more than %d deep",
				   NEST_BRACKETS_MAX);
			diag_help(&parse->compilation->diags,
				  "give inner parts a name with 'let'");
		}
		give_up(parse);
		return;
	}
	bracket = &parse->bracket[parse->bracket_count++];
	*bracket = (struct bracket){
		.opening = opening_of(token->kind),
		.begin = token->span.begin,
		.indentation = token->indentation,
		.body = outer ? outer->body : 0,
		.is_body = token->kind == TOK_LBRACE &&
			   begins_body_after(parse->previous),
	};
	if (bracket->is_body)
		bracket->body = parse->bracket_count;
}

/* A brace that closes at less indentation than its partner's line has most
 * likely been meant for an outer one: the partner lacks its own. */
static void note_suspect(struct parse *parse, const struct token *token)
{
	const struct bracket *bracket = innermost(parse);

	if (parse->has_suspect || !token->is_first || token->is_made_up ||
	    bracket->opening != '{')
		return;
	if (token->indentation >= bracket->indentation)
		return;
	parse->suspect = *bracket;
	parse->has_suspect = true;
}

/* Reports a bracket without a partner. The token is where that shows, if the
 * label has something to say about it. */
static void report_unclosed(struct parse *parse, struct bracket *bracket,
			    const struct token *token, const char *label)
{
	struct diags *diags = &parse->compilation->diags;
	struct bracket blamed = *bracket;

	if (bracket->is_reported)
		return;
	bracket->is_reported = true;
	if (bracket->opening == '{' && parse->has_suspect) {
		blamed = parse->suspect;
		parse->has_suspect = false;
	}
	if (!parse_may_report(parse))
		return;
	diag_error(diags, E_UNCLOSED, bracket_span(parse, &blamed),
		   "'%c' is never closed", blamed.opening);
	if (label)
		diag_label(diags, token->span, "%s", label);
}

static int closing_kind(const struct bracket *bracket)
{
	switch (bracket->opening) {
	case '(':
		return TOK_RPAREN;
	case '[':
		return TOK_RBRACKET;
	}
	return TOK_RBRACE;
}

/* Closes the innermost bracket, which lacks its partner, before a token. */
static void make_up(struct parse *parse, const struct token *before,
		    struct token *token)
{
	*token = (struct token){
		.kind = closing_kind(innermost(parse)),
		.span = parse_span(parse, before->span.begin,
				   before->span.begin),
		.is_made_up = true,
	};
	parse->held = *before;
	parse->is_held = true;
}

/* Whether a bracket of this kind is open and may be closed by ) or ], which
 * cannot reach out of a brace. */
static bool is_within_reach(const struct parse *parse, char opening)
{
	for (uint32_t i = parse->bracket_count; i-- > 0;) {
		if (parse->bracket[i].opening == opening)
			return true;
		if (parse->bracket[i].opening == '{')
			return false;
	}
	return false;
}

/* Whether '}' has a partner somewhere. */
static bool is_brace_open(const struct parse *parse)
{
	for (uint32_t i = 0; i < parse->bracket_count; i++)
		if (parse->bracket[i].opening == '{')
			return true;
	return false;
}

/* Deals with a closing bracket that does not match the innermost one: false
 * when it is left out, otherwise the token is what comes instead. */
static bool mend_closing(struct parse *parse, struct token *token)
{
	struct diags *diags = &parse->compilation->diags;
	struct bracket *bracket = innermost(parse);
	char opening = partner_of(token->kind);
	char closing = parse->source->bytes[token->span.begin];
	struct token before = *token;

	if (opening == '{' ? is_brace_open(parse)
			   : is_within_reach(parse, opening)) {
		report_unclosed(parse, bracket, token,
				"closed by the bracket around it");
		make_up(parse, &before, token);
		return true;
	}
	if (!bracket || bracket->opening == '{') {
		if (parse_may_report(parse))
			diag_error(diags, E_UNOPENED, token->span,
				   "'%c' closes nothing that is open",
				   closing);
		return false;
	}
	/* ] for ) or the other way round. */
	if (!bracket->is_reported && parse_may_report(parse)) {
		diag_error(diags, E_UNOPENED, token->span,
			   "'%c' does not close '%c'", closing,
			   bracket->opening);
		diag_label(diags, bracket_span(parse, bracket), "opened here");
	}
	token->kind = closing_kind(bracket);
	token->is_made_up = true;
	return true;
}

/* The next token of the text with its brackets balanced. */
static void next_balanced(struct parse *parse, struct token *token)
{
	const struct bracket *bracket;

again:
	if (parse->is_held) {
		*token = parse->held;
		parse->is_held = false;
	} else {
		scan_token(parse, token);
		classify(parse, token);
	}
	if (parse->has_failed && !parse->is_closing) {
		give_up(parse);
		token->kind = TOK_END;
	}
	bracket = innermost(parse);
	if (bracket && (token->kind == TOK_END || parse->is_closing)) {
		struct token before = *token;

		if (token->kind == TOK_END)
			report_unclosed(parse, innermost(parse), token, NULL);
		make_up(parse, &before, token);
	} else if (bracket && is_declaration_head(parse, token)) {
		report_unclosed(parse, innermost(parse), token,
				"a new declaration begins here");
		parse->is_closing = true;
		parse->held = *token;
		parse->is_held = true;
		goto again;
	} else if (partner_of(token->kind) &&
		   (!bracket || bracket->opening != partner_of(token->kind))) {
		if (!mend_closing(parse, token))
			goto again;
	}
	if (!bracket) {
		if (parse->has_failed && parse->is_closing)
			token->kind = TOK_END;
		parse->is_closing = false;
	}
}

/* Keeps the stack of brackets and notes where the token stands in it. */
static void place_token(struct parse *parse, struct token *token)
{
	const struct bracket *bracket = innermost(parse);

	token->depth = parse->bracket_count;
	token->body = bracket ? bracket->body : 0;
	if (opening_of(token->kind)) {
		open_bracket(parse, token);
	} else if (partner_of(token->kind)) {
		note_suspect(parse, token);
		parse->bracket_count--;
	}
	parse->previous = token->kind;
}

/* Whether a declaration or an item may begin with a token of this kind. */
static bool begins_item(int kind, bool in_body)
{
	switch (kind) {
	case TOK_LET:
	case TOK_FN:
		return true;
	case TOK_IMPORT:
	case TOK_PARAM:
	case TOK_EXTERN:
		return !in_body;
	case TOK_DEVICE:
	case TOK_TOPOLOGY:
	case TOK_TEMPLATE:
	case TOK_MODEL:
	case TOK_JOB:
	case TOK_TEST:
		return true;
	case TOK_NAME:
	case TOK_LEVEL:
	case TOK_LINK:
	case TOK_NODE:
	case TOK_PAD:
	case TOK_PLAN:
	case TOK_SPLIT:
	case TOK_RETURN:
	case TOK_FOR:
	case TOK_REQUIRE:
	case TOK_PREFER:
	case TOK_MINIMIZE:
	case TOK_AVOID:
	case TOK_EXPECT:
	case TOK_NOT:
	case TOK_IF:
	case TOK_NUMBER:
	case TOK_STRING:
	case TOK_SIGN:
	case TOK_LPAREN:
	case TOK_LBRACKET:
		return in_body;
	}
	return false;
}

/* Whether parsing can go on at this token after an error. */
static bool is_safe(const struct parse *parse, const struct token *token)
{
	if (token->kind == TOK_END)
		return true;
	if (token->depth != parse->recovery_body)
		return false;
	if (token->kind == TOK_RBRACE)
		return true;
	/* Going on at the same place twice would never end. */
	if (token->span.begin == parse->recovered_at)
		return false;
	if (token->kind == TOK_SEMICOLON)
		return true;
	return token->is_first &&
	       begins_item(token->kind, parse->recovery_body > 0);
}

static void next(struct parse *parse, struct token *token)
{
	parse->before[1] = parse->before[0];
	parse->before[0] = parse->last;
	next_balanced(parse, token);
	place_token(parse, token);
}

void token_next(struct parse *parse, struct token *token)
{
	if (parse->start) {
		*token = (struct token){ .kind = parse->start,
					 .span = parse_span(parse, 0, 0) };
		parse->start = 0;
		return;
	}
	if (parse->is_repeated) {
		*token = parse->last;
		parse->is_repeated = false;
		return;
	}
	if (!parse->is_recovering) {
		next(parse, token);
		parse->last = *token;
		return;
	}
	while (!is_safe(parse, &parse->last))
		next(parse, &parse->last);
	parse->is_recovering = false;
	parse->is_repeated = true;
	parse->recovered_at = parse->last.span.begin;
	*token = (struct token){
		.kind = TOK_RESYNC,
		.span = parse_span(parse, parse->last.span.begin,
				   parse->last.span.begin),
	};
}

/* Whether a token at the start of a line, no further in than the line on which
 * the outermost unfinished ( or [ of the body stands, begins the next item:
 * then that bracket has been forgotten. */
static bool is_next_item(const struct parse *parse, const struct token *token)
{
	const struct bracket *bracket = &parse->bracket[token->body];

	return token->is_first && token->depth > token->body &&
	       token->depth == parse->bracket_count &&
	       token->indentation <= bracket->indentation &&
	       begins_item(token->kind, token->body > 0);
}

/* Brackets that are open inside the body that is left have been part of the
 * error: they are not reported again. */
void token_recover(struct parse *parse)
{
	struct token *last = &parse->last;

	parse->is_recovering = true;
	parse->recovery_body = last->body;
	if (is_next_item(parse, last)) {
		parse->bracket_count = last->body;
		last->depth = last->body;
		return;
	}
	for (uint32_t i = last->body; i < parse->bracket_count; i++)
		if (parse->bracket[i].opening != '{')
			parse->bracket[i].is_reported = true;
}
