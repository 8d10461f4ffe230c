/* SPDX-License-Identifier: MIT
 *
 * The stream of tokens between scanner and grammar, and the state of one
 * parse. Private to scan.l, gram.y, literal.c, token.c and parse.c.
 *
 * The stream balances brackets: what the grammar sees always nests, whatever
 * the text does. It also tells a bracket or minus that begins something from
 * one that continues an expression, and skips tokens after a syntax error.
 */
#ifndef NEST_LANG_TOKEN_H
#define NEST_LANG_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/ast.h"
#include "lang/base/text.h"
#include "lang/base/vec.h"
#include "lang/compilation.h"
#include "lang/parse.h"
#include "lang/source.h"

/* Greatest number of brackets open at a time. */
#define NEST_BRACKETS_MAX 200
/* Errors of one file after which the rest of it is not looked at. */
#define NEST_ERRORS_MAX 100

/* What the grammar keeps of a token or a phrase. */
union token_value {
	const char *name;	/* of a name or word; interned */
	struct ast *node;
	struct ast_list list;
};

struct token {
	int kind;		/* TOK_..., see gram.y */
	union token_value value;
	struct span span;
	bool is_first;		/* on its line */
	uint32_t indentation;	/* of its line, in bytes */
	bool is_made_up;	/* a closing bracket that is missing */
	uint32_t depth;		/* brackets open before it */
	uint32_t body;		/* of these, up to the innermost body's `{` */
};

struct bracket {
	char opening;		/* ( [ or { */
	bool is_body;		/* a brace around items, not around a set */
	bool is_reported;	/* an error inside has been told already */
	uint32_t begin;		/* where it stands */
	uint32_t body;		/* brackets up to the innermost body with it */
	uint32_t indentation;	/* of its line, in bytes */
};

/* A `##` comment and the place of the token behind it. */
struct documentation {
	uint32_t begin;
	const char *text;
};

struct parse {
	struct compilation *compilation;
	struct arena *arena;
	const struct source *source;
	uint32_t file;
	uint32_t errors;		/* reported so far */
	bool has_failed;		/* given up: nothing more is reported */
	bool is_depth_reported;

	/* Scanner: the token being scanned is [begin, end). */
	void *scanner;
	uint32_t begin, end;
	uint32_t number_begin, number_end;	/* while its unit is looked for */
	bool is_first;			/* nothing before it on its line */
	uint32_t line_begin;		/* of the line being scanned */
	uint32_t indentation;		/* of that line */
	uint32_t stray_line;		/* line_begin + 1 where a character meant nothing last;
					 * 0: nowhere yet */
	struct text comment;		/* `##` lines not yet attached */
	VEC(struct documentation) documentations;	/* by place */
	struct comments *comments;	/* to keep them all, or NULL */

	/* Stream. */
	int start;			/* token that chooses what to parse; 0 once given */
	struct bracket bracket[NEST_BRACKETS_MAX];
	uint32_t bracket_count;
	struct bracket suspect;		/* closed by a brace further out */
	bool has_suspect;
	int previous;			/* kind of the last token balanced */
	struct token held;		/* waits behind made-up brackets */
	bool is_held;
	bool is_closing;		/* until no bracket is open */
	struct token last;		/* given to the grammar last */
	struct token before[2];		/* the two before that, nearest first */
	bool is_recovering;
	bool is_repeated;		/* last is to be given once more */
	uint32_t recovery_body;		/* to which recovery skips */
	uint32_t recovered_at;		/* place where it ended last */

	/* Results. */
	struct ast_list items;
	double edition;
	struct ast *expression;
};

/* scan.l: one token of the text, as it stands. */
bool scan_open(struct parse *parse);
void scan_close(struct parse *parse);
void scan_token(struct parse *parse, struct token *token);

/* literal.c */
struct ast *literal_number(struct parse *parse, struct unit unit, double scale);
const char *literal_string(struct parse *parse, const char *text,
			   size_t length);
/* How much of the text behind a number is its unit; reports unknown ones.
 * `separate` says that a blank stands between. */
size_t literal_unit(struct parse *parse, const char *text, size_t length,
		    bool separate, struct unit *unit, double *scale);

/* token.c: the next token for the grammar. */
void token_next(struct parse *parse, struct token *token);
/* After a syntax error at the token given last: skip to the next item. */
void token_recover(struct parse *parse);

/* Whether an expression may end with a token of this kind. */
bool token_ends_expression(int kind);

/* parse.c: counts an error; false when it is not to be reported. */
bool parse_may_report(struct parse *parse);
struct span parse_span(const struct parse *parse, uint32_t begin,
		       uint32_t end);
/* Reports the last token, given the names of what could have stood there. */
void parse_report_unexpected(struct parse *parse, const char *const *expected,
			     int count);
/* A finished node, or AST_ERROR in its place when the tree gets too deep. */
struct ast *parse_bounded(struct parse *parse, struct ast *node);
/* Attaches the `##` comment before a node, if there is one. */
void parse_document(struct parse *parse, struct ast *node);

#endif
