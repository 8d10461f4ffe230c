/* SPDX-License-Identifier: MIT
 *
 * The grammar of the language. Actions only build nodes; ast.def says what
 * their children are. Brackets always nest here and tokens are skipped after
 * an error before TOK_RESYNC: see token.h.
 */
%require "3.8"
%define api.pure full
%define api.prefix {nest_gram_}
%define api.token.prefix {TOK_}
%define api.token.raw
%define api.value.type {union token_value}
%define api.location.type {struct span}
%define parse.error custom
%define parse.lac full
%locations
%expect 0
%param {struct parse *parse}

%code requires {
#include "lang/token.h"
}

%code {
#include <string.h>

#include "lang/diag.h"

static int nest_gram_lex(union token_value *value, struct span *span,
			 struct parse *parse);
static void nest_gram_error(const struct span *span, struct parse *parse,
			    const char *message);

#define YYLLOC_DEFAULT(current, rhs, count)                               \
	do {                                                              \
		if (count) {                                              \
			(current) = YYRHSLOC(rhs, 1);                     \
			(current).end = YYRHSLOC(rhs, count).end;         \
		} else {                                                  \
			(current) = YYRHSLOC(rhs, 0);                     \
			(current).begin = (current).end;                  \
		}                                                         \
	} while (0)

/* Nodes with no, one, two or three children; with a name; with a list. */
static struct ast *leaf(struct parse *parse, enum ast_kind kind,
			struct span span);
static struct ast *with1(struct parse *parse, enum ast_kind kind,
			 struct span span, struct ast *a);
static struct ast *with2(struct parse *parse, enum ast_kind kind,
			 struct span span, struct ast *a, struct ast *b);
static struct ast *with3(struct parse *parse, enum ast_kind kind,
			 struct span span, struct ast *a, struct ast *b,
			 struct ast *c);
static struct ast *with_list(struct parse *parse, enum ast_kind kind,
			     struct span span, struct ast_list list);
static struct ast *named(struct ast *node, const char *name, struct span span);
static struct ast *unary(struct parse *parse, struct span span,
			 const char *name, struct span name_span,
			 struct ast *operand);
static struct ast *binary(struct parse *parse, struct span span,
			  const char *name, struct span name_span,
			  struct ast *left, struct ast *right);
static struct ast *name_node(struct parse *parse, const char *name,
			     struct span span);
static struct ast *string_node(struct parse *parse, const char *text,
			       struct span span);
static struct ast *split_node(struct parse *parse, struct span span,
			      struct ast *pad, struct ast_list axes);
static struct ast *expression_item(struct parse *parse, struct span span,
				   struct ast *expression);
static struct ast_list list_of(struct parse *parse, struct ast *node);
static void push(struct parse *parse, struct ast_list *list,
		 struct ast *node);
static void push_item(struct parse *parse, struct ast_list *list,
		      struct ast *node);
}

%initial-action {
	@$ = parse_span(parse, 0, 0);
}

%token END 0		"end of file"
%token START_FILE	"start of file"
%token START_EXPRESSION	"start of expression"
%token START_ITEMS	"start of items"
%token RESYNC		"skipped text"

%token <name> NAME	"name"
%token <node> NUMBER	"number"
%token <name> STRING	"string"

%token <name>
	AND "and"  AS "as"  AVOID "avoid"  BY "by"  ELSE "else"
	EXPECT "expect"  EXTERN "extern"  FALSE "false"  FN "fn"  FOR "for"
	IF "if"  IMPORT "import"  IN "in"  LET "let"  MINIMIZE "minimize"
	NEST "nest"  NOT "not"  OR "or"  PARAM "param"  PREFER "prefer"
	REQUIRE "require"  RETURN "return"  SPLIT "split"  STEP "step"
	THEN "then"  TRUE "true"  WEIGHT "weight"  WHEN "when"  WITH "with"
	WITHIN "within"

/* Words that are also names; `pad` only comes with a number or name behind. */
%token <name>
	DEVICE "device"  JOB "job"  LEVEL "level"  LINK "link"  MODEL "model"
	NODE "node"  PAD "pad"  PLAN "plan"  SWITCH "switch"  TEMPLATE "template"
	TEST "test"  TOPOLOGY "topology"

/* What stands behind the first blank of an alias is for this file only. */
%token
	LBRACE "{"  RBRACE "}"  LAMBDA "{ of a lambda"
	LPAREN "("  CALL "( of a call"  RPAREN ")"
	LBRACKET "["  INDEX "[ of an index"  RBRACKET "]"
	COMMA ","  SEMICOLON ";"  DOT "."  COLON ":"  ASSIGN "="
	EQUAL "=="  UNEQUAL "!="  LESS "<"  LESS_EQUAL "<="
	GREATER ">"  GREATER_EQUAL ">="  RANGE ".."
	PLUS "+"  MINUS "-"  SIGN "- as a sign"  TIMES "*"  DIVIDE "/"
	REMAINDER "%"  POWER "^"  ARROW "->"  LINKED "--"

%type <name> name
%type <node>
	declaration alias.opt parameters.opt parameters parameter type.opt
	type default.opt body item pad.opt condition.opt reason.opt network_body
	place value conditional expression call lambda postfix primary set
	axes arguments argument
%type <list>
	path items names objectives parameter_list some_parameters values
	some_values some_arguments

/* At the start of an item `level x`, `plan x`, `node x`, `switch x` and `link x`
 * are taken together, rather than as one item and the next. */
%precedence WORD_ALONE
%precedence
	NAME DEVICE JOB LEVEL LINK MODEL NODE PAD PLAN SWITCH TEMPLATE TEST
	TOPOLOGY

%left "or"
%left "and"
%precedence "not"
%nonassoc "==" "!=" "<" "<=" ">" ">=" "in"
%nonassoc ".."
%precedence "step"
%left "+" "-"
%left "*" "/" "%"
%precedence "- as a sign"
%right "^"

%start start

%%

start:
	"start of file" edition declarations
|	"start of expression" value	{ parse->expression = $value; }
|	"start of items" items		{ parse->items = $items; }
;

edition:
	%empty
|	"nest" "number"[number]
	{
		parse->edition = $number->number;
		if ($number->number != 1 && parse_may_report(parse)) {
			diag_error(&parse->compilation->diags, E_EDITION,
				   @number, "edition '%s' is not known",
				   $number->text);
			diag_help(&parse->compilation->diags,
				  "this nestc knows edition 1: 'nest 1'");
		}
	}
|	"nest" error "skipped text"	{ yyerrok; }
;

declarations:
	%empty
|	declarations declaration
	{ push_item(parse, &parse->items, $declaration); }
|	declarations ","
|	declarations ";"
|	declarations error "skipped text"
	{
		yyerrok;
		push(parse, &parse->items, leaf(parse, AST_ERROR, @error));
		parse->compilation->has_lost_names = true;
	}
;

declaration:
	"import" path alias.opt
	{
		$$ = named(with1(parse, AST_IMPORT, @$,
				 with_list(parse, AST_PATH, @path, $path)),
			   $[alias.opt] ? $[alias.opt]->name : NULL,
			   @[alias.opt]);
	}
|	"import" "string"[file] alias.opt
	{
		$$ = named(with1(parse, AST_IMPORT, @$,
				 string_node(parse, $file, @file)),
			   $[alias.opt] ? $[alias.opt]->name : NULL,
			   @[alias.opt]);
	}
|	"param" name type.opt "=" value
	{
		$$ = named(with2(parse, AST_PARAM, @$, $[type.opt], $value),
			   $name, @name);
	}
|	"let" name "=" value
	{ $$ = named(with1(parse, AST_LET, @$, $value), $name, @name); }
|	"fn" name parameters "=" value
	{
		$$ = named(with2(parse, AST_FUNCTION, @$, $parameters, $value),
			   $name, @name);
	}
|	"extern" "string"[library] "fn" name parameters "->" type
	{
		$$ = named(with3(parse, AST_EXTERN, @$,
				 string_node(parse, $library, @library),
				 $parameters, $type),
			   $name, @name);
	}
|	"device" name parameters.opt body
	{
		$$ = named(with2(parse, AST_DEVICE, @$, $[parameters.opt],
				 $body), $name, @name);
	}
|	"topology" name parameters.opt body
	{
		$$ = named(with2(parse, AST_TOPOLOGY, @$, $[parameters.opt],
				 $body), $name, @name);
	}
|	"template" name parameters.opt body
	{
		$$ = named(with2(parse, AST_TEMPLATE, @$, $[parameters.opt],
				 $body), $name, @name);
	}
|	"model" name parameters.opt body
	{
		$$ = named(with2(parse, AST_MODEL, @$, $[parameters.opt],
				 $body), $name, @name);
	}
|	"job" name body
	{ $$ = named(with1(parse, AST_JOB, @$, $body), $name, @name); }
|	"test" "string"[title] body
	{
		$$ = with1(parse, AST_TEST, @$, $body);
		$$->text = $title;
	}
;

alias.opt:
	%empty				{ $$ = NULL; }
|	"as" name
	{
		$$ = name_node(parse, $name, @name);
		@$ = @name;
	}
;

path:
	name		{ $$ = list_of(parse, name_node(parse, $name, @name)); }
|	path[left] "." name
	{
		$$ = $left;
		push(parse, &$$, name_node(parse, $name, @name));
	}
;

parameters.opt:
	%empty				{ $$ = NULL; }
|	parameters
;

parameters:
	"( of a call" parameter_list ")"
	{ $$ = with_list(parse, AST_PARAMETERS, @$, $parameter_list); }
|	"(" parameter_list ")"
	{ $$ = with_list(parse, AST_PARAMETERS, @$, $parameter_list); }
;

parameter_list:
	%empty				{ $$ = (struct ast_list){ 0 }; }
|	some_parameters
|	some_parameters ","
;

some_parameters:
	parameter			{ $$ = list_of(parse, $parameter); }
|	some_parameters[left] "," parameter
	{
		$$ = $left;
		push(parse, &$$, $parameter);
	}
;

parameter:
	name type.opt default.opt
	{
		$$ = named(with2(parse, AST_PARAMETER, @$, $[type.opt],
				 $[default.opt]), $name, @name);
		parse_document(parse, $$);
	}
;

type.opt:
	%empty				{ $$ = NULL; }
|	":" type			{ $$ = $type; }
;

type:
	name
	{ $$ = named(leaf(parse, AST_TYPE, @$), $name, @name); }
;

default.opt:
	%empty				{ $$ = NULL; }
|	"=" value			{ $$ = $value; }
;

body:
	"{" items "}"
	{ $$ = with_list(parse, AST_BODY, @$, $items); }
;

items:
	%empty				{ $$ = (struct ast_list){ 0 }; }
|	items[left] item
	{
		$$ = $left;
		push_item(parse, &$$, $item);
	}
|	items[left] ","			{ $$ = $left; }
|	items[left] ";"			{ $$ = $left; }
|	items[left] error "skipped text"
	{
		yyerrok;
		$$ = $left;
		push(parse, &$$, leaf(parse, AST_ERROR, @error));
	}
;

item:
	name "=" value
	{ $$ = named(with1(parse, AST_FIELD, @$, $value), $name, @name); }
|	name ":" axes
	{ $$ = named(with1(parse, AST_VALUE, @$, $axes), $name, @name); }
|	name body
	{ $$ = named(with1(parse, AST_BLOCK, @$, $body), $name, @name); }
|	"level"[word] name body
	{
		$$ = named(with2(parse, AST_NAMED_BLOCK, @$,
				 name_node(parse, $name, @name), $body),
			   $word, @word);
	}
|	"plan"[word] name body
	{
		$$ = named(with2(parse, AST_NAMED_BLOCK, @$,
				 name_node(parse, $name, @name), $body),
			   $word, @word);
	}
|	"let" name "=" value
	{ $$ = named(with1(parse, AST_LET, @$, $value), $name, @name); }
|	"fn" name parameters "=" value
	{
		$$ = named(with2(parse, AST_FUNCTION, @$, $parameters, $value),
			   $name, @name);
	}
|	"split" names "by" name pad.opt
	{
		$$ = named(split_node(parse, @$, $[pad.opt], $names), $name,
			   @name);
	}
|	"return" conditional
	{ $$ = with1(parse, AST_RETURN, @$, $conditional); }
|	"for" name "in" value body
	{
		$$ = named(with2(parse, AST_FOR, @$, $value, $body), $name,
			   @name);
	}
|	"require" conditional condition.opt reason.opt
	{
		$$ = with3(parse, AST_REQUIRE, @$, $conditional,
			   $[condition.opt], $[reason.opt]);
	}
|	"require" body
	{
		$$ = named(with1(parse, AST_BLOCK, @$, $body), $1, @1);
	}
|	"prefer" expression "weight" expression[weight]
	{ $$ = with2(parse, AST_PREFER, @$, $2, $weight); }
|	"minimize" objectives
	{ $$ = with_list(parse, AST_MINIMIZE, @$, $objectives); }
|	conditional "within" expression
	{
		$$ = named(with2(parse, AST_WITHIN, @$, $conditional,
				 $expression), $2, @2);
	}
|	"avoid" expression
	{
		$$ = named(with2(parse, AST_WITHIN, @$, NULL, $expression),
			   $1, @1);
	}
|	"avoid" set
	{ $$ = named(with2(parse, AST_WITHIN, @$, NULL, $set), $1, @1); }
|	"node" place ":" expression network_body
	{
		$$ = with3(parse, AST_NODE_ITEM, @$, $place, $expression,
			   $network_body);
	}
|	"switch" place
	{ $$ = with1(parse, AST_SWITCH_ITEM, @$, $place); }
|	"link" place[from] "--" place[to] network_body
	{ $$ = with3(parse, AST_LINK, @$, $from, $to, $network_body); }
|	"link" place[from] "->"[way] place[to] network_body
	{
		$$ = named(with3(parse, AST_LINK, @$, $from, $to,
				 $network_body),
			   intern_string(&parse->compilation->intern, "->"),
			   @way);
	}
|	"expect" conditional
	{ $$ = with1(parse, AST_EXPECT, @$, $conditional); }
|	conditional[expression] "when" conditional[condition] reason.opt
	{
		$$ = named(with3(parse, AST_REQUIRE, @$, $[expression],
				 $[condition], $[reason.opt]), $2, @2);
	}
|	conditional "else" "string"[text]
	{
		$$ = named(with3(parse, AST_REQUIRE, @$, $conditional, NULL,
				 string_node(parse, $text, @text)), $2, @2);
	}
|	conditional
	{ $$ = expression_item(parse, @$, $conditional); }
;

names:
	name		{ $$ = list_of(parse, name_node(parse, $name, @name)); }
|	names[left] "," name
	{
		$$ = $left;
		push(parse, &$$, name_node(parse, $name, @name));
	}
;

pad.opt:
	%empty	%prec WORD_ALONE	{ $$ = NULL; }
|	"pad" expression		{ $$ = $expression; }
;

condition.opt:
	%empty				{ $$ = NULL; }
|	"when" conditional		{ $$ = $conditional; }
;

reason.opt:
	%empty				{ $$ = NULL; }
|	"else" "string"[text]		{ $$ = string_node(parse, $text, @text); }
;

objectives:
	conditional			{ $$ = list_of(parse, $conditional); }
|	objectives[left] "then" conditional
	{
		$$ = $left;
		push(parse, &$$, $conditional);
	}
;

/* A vertex of a network that is given as a graph. */
place:
	name		{ $$ = name_node(parse, $name, @name); }
|	place[left] "[ of an index" value "]"
	{ $$ = with2(parse, AST_INDEX, @$, $left, $value); }
|	place[left] "." name
	{ $$ = named(with1(parse, AST_MEMBER, @$, $left), $name, @name); }
;

network_body:
	%empty				{ $$ = NULL; }
|	body
;

axes:
	"[" values "]"
	{ $$ = with_list(parse, AST_AXES, @$, $values); }
;

/* What may stand behind '=', in arguments and in lists. A set is no operand:
 * it could not be told from the body of a block. */
value:
	conditional
|	set
;

conditional:
	expression
|	"if" expression[condition] "then" value[yes] "else" value[no]
	{ $$ = with3(parse, AST_IF, @$, $condition, $yes, $no); }
;

expression:
	postfix
|	"- as a sign" expression[operand]
	{ $$ = unary(parse, @$, "-", @1, $operand); }
|	"not" expression[operand]
	{ $$ = unary(parse, @$, "not", @1, $operand); }
|	expression[a] "or" expression[b]
	{ $$ = binary(parse, @$, "or", @2, $a, $b); }
|	expression[a] "and" expression[b]
	{ $$ = binary(parse, @$, "and", @2, $a, $b); }
|	expression[a] "==" expression[b]
	{ $$ = binary(parse, @$, "==", @2, $a, $b); }
|	expression[a] "!=" expression[b]
	{ $$ = binary(parse, @$, "!=", @2, $a, $b); }
|	expression[a] "<" expression[b]
	{ $$ = binary(parse, @$, "<", @2, $a, $b); }
|	expression[a] "<=" expression[b]
	{ $$ = binary(parse, @$, "<=", @2, $a, $b); }
|	expression[a] ">" expression[b]
	{ $$ = binary(parse, @$, ">", @2, $a, $b); }
|	expression[a] ">=" expression[b]
	{ $$ = binary(parse, @$, ">=", @2, $a, $b); }
|	expression[a] "in" expression[b]
	{ $$ = binary(parse, @$, "in", @2, $a, $b); }
|	expression[a] "in" set[b]
	{ $$ = binary(parse, @$, "in", @2, $a, $b); }
|	expression[low] ".." expression[high]
	{ $$ = with3(parse, AST_RANGE, @$, $low, $high, NULL); }
|	expression[low] ".." expression[high] "step" expression[step] %prec ".."
	{ $$ = with3(parse, AST_RANGE, @$, $low, $high, $step); }
|	expression[a] "+" expression[b]
	{ $$ = binary(parse, @$, "+", @2, $a, $b); }
|	expression[a] "-" expression[b]
	{ $$ = binary(parse, @$, "-", @2, $a, $b); }
|	expression[a] "*" expression[b]
	{ $$ = binary(parse, @$, "*", @2, $a, $b); }
|	expression[a] "/" expression[b]
	{ $$ = binary(parse, @$, "/", @2, $a, $b); }
|	expression[a] "%" expression[b]
	{ $$ = binary(parse, @$, "%", @2, $a, $b); }
|	expression[a] "^" expression[b]
	{ $$ = binary(parse, @$, "^", @2, $a, $b); }
;

postfix:
	primary
|	call
|	call lambda
	{
		$$ = $call;
		if ($$->kind == AST_CALL)
			$$ = with3(parse, AST_CALL, @$, $$->child[0],
				   $$->child[1], $lambda);
	}
|	postfix[left] "[ of an index" value "]"
	{ $$ = with2(parse, AST_INDEX, @$, $left, $value); }
|	postfix[left] "." name
	{ $$ = named(with1(parse, AST_MEMBER, @$, $left), $name, @name); }
|	postfix[left] "with" body
	{ $$ = with2(parse, AST_WITH, @$, $left, $body); }
;

call:
	postfix "( of a call" arguments ")"
	{
		$arguments->span = span_join(@2, @4);
		$$ = with3(parse, AST_CALL, @$, $postfix, $arguments, NULL);
	}
;

lambda:
	"{ of a lambda" name "->" conditional "}"
	{
		$$ = named(with1(parse, AST_LAMBDA, @$, $conditional), $name,
			   @name);
	}
;

primary:
	name		{ $$ = name_node(parse, $name, @name); }
|	"number"
|	"string"[text]	{ $$ = string_node(parse, $text, @text); }
|	"true"
	{
		$$ = leaf(parse, AST_BOOLEAN, @$);
		$$->number = 1;
	}
|	"false"		{ $$ = leaf(parse, AST_BOOLEAN, @$); }
|	"(" value ")"
	{
		$$ = $value;
		$$->parentheses++;
	}
|	"[" values "]"	{ $$ = with_list(parse, AST_LIST, @$, $values); }
;

set:
	"{" values "}"	{ $$ = with_list(parse, AST_SET, @$, $values); }
;

values:
	%empty				{ $$ = (struct ast_list){ 0 }; }
|	some_values
|	some_values ","
;

some_values:
	value				{ $$ = list_of(parse, $value); }
|	some_values[left] "," value
	{
		$$ = $left;
		push(parse, &$$, $value);
	}
;

arguments:
	%empty
	{
		$$ = leaf(parse, AST_ARGUMENTS, @$);
	}
|	some_arguments
	{ $$ = with_list(parse, AST_ARGUMENTS, @$, $some_arguments); }
|	some_arguments ","
	{ $$ = with_list(parse, AST_ARGUMENTS, @$, $some_arguments); }
;

some_arguments:
	argument			{ $$ = list_of(parse, $argument); }
|	some_arguments[left] "," argument
	{
		$$ = $left;
		push(parse, &$$, $argument);
	}
;

argument:
	value
|	name "=" value
	{ $$ = named(with1(parse, AST_ARGUMENT, @$, $value), $name, @name); }
|	expression[from] "->" expression[to]
	{ $$ = with2(parse, AST_ARROW, @$, $from, $to); }
;

name:
	"name"
|	"device"
|	"job"
|	"level"		%prec WORD_ALONE
|	"link"		%prec WORD_ALONE
|	"model"
|	"node"		%prec WORD_ALONE
|	"pad"		%prec WORD_ALONE
|	"plan"		%prec WORD_ALONE
|	"switch"	%prec WORD_ALONE
|	"template"
|	"test"
|	"topology"
;

%%

static int nest_gram_lex(union token_value *value, struct span *span,
			 struct parse *parse)
{
	struct token token;

	token_next(parse, &token);
	*value = token.value;
	*span = token.span;
	return token.kind;
}

static int yyreport_syntax_error(const yypcontext_t *context,
				 struct parse *parse)
{
	yysymbol_kind_t kinds[YYNTOKENS];
	const char *names[YYNTOKENS];
	int count = yypcontext_expected_tokens(context, kinds, YYNTOKENS);

	for (int i = 0; i < count; i++)
		names[i] = yysymbol_name(kinds[i]);
	parse_report_unexpected(parse, names, count > 0 ? count : 0);
	token_recover(parse);
	return 0;
}

/* Only called when the parser's stack is full. */
static void nest_gram_error(const struct span *span, struct parse *parse,
			    const char *message)
{
	struct diags *diags = &parse->compilation->diags;

	(void)message;
	if (!parse_may_report(parse))
		return;
	diag_error(diags, E_NESTING, *span,
		   "expressions are nested too deeply to go on from here");
	parse->has_failed = true;
}

static struct ast *leaf(struct parse *parse, enum ast_kind kind,
			struct span span)
{
	return ast_new(parse->arena, kind, span);
}

static struct ast *with1(struct parse *parse, enum ast_kind kind,
			 struct span span, struct ast *a)
{
	return parse_bounded(parse, ast_with(parse->arena, kind, span, 1, a));
}

static struct ast *with2(struct parse *parse, enum ast_kind kind,
			 struct span span, struct ast *a, struct ast *b)
{
	return parse_bounded(parse,
			     ast_with(parse->arena, kind, span, 2, a, b));
}

static struct ast *with3(struct parse *parse, enum ast_kind kind,
			 struct span span, struct ast *a, struct ast *b,
			 struct ast *c)
{
	return parse_bounded(parse,
			     ast_with(parse->arena, kind, span, 3, a, b, c));
}

static struct ast *with_list(struct parse *parse, enum ast_kind kind,
			     struct span span, struct ast_list list)
{
	struct ast *node = leaf(parse, kind, span);

	ast_adopt(node, parse->arena, &list);
	return parse_bounded(parse, node);
}

static struct ast *named(struct ast *node, const char *name, struct span span)
{
	if (name) {
		node->name = name;
		node->name_span = span;
	}
	return node;
}

static struct ast *unary(struct parse *parse, struct span span,
			 const char *name, struct span name_span,
			 struct ast *operand)
{
	return named(with1(parse, AST_UNARY, span, operand),
		     intern_string(&parse->compilation->intern, name),
		     name_span);
}

static struct ast *binary(struct parse *parse, struct span span,
			  const char *name, struct span name_span,
			  struct ast *left, struct ast *right)
{
	return named(with2(parse, AST_BINARY, span, left, right),
		     intern_string(&parse->compilation->intern, name),
		     name_span);
}

static struct ast *name_node(struct parse *parse, const char *name,
			     struct span span)
{
	return named(leaf(parse, AST_NAME, span), name, span);
}

static struct ast *string_node(struct parse *parse, const char *text,
			       struct span span)
{
	struct ast *node = leaf(parse, AST_STRING, span);

	node->text = text;
	return node;
}

static struct ast *split_node(struct parse *parse, struct span span,
			      struct ast *pad, struct ast_list axes)
{
	struct ast *node = ast_with(parse->arena, AST_SPLIT, span, 1, pad);

	ast_adopt(node, parse->arena, &axes);
	return parse_bounded(parse, node);
}

/* `x in {1, 2}` is a domain; any other expression stands for itself. */
static struct ast *expression_item(struct parse *parse, struct span span,
				   struct ast *expression)
{
	const struct ast *left;

	if (expression->kind != AST_BINARY ||
	    strcmp(expression->name, "in") != 0 ||
	    expression->child[0]->kind != AST_NAME)
		return with1(parse, AST_ITEM, span, expression);
	left = expression->child[0];
	return named(with1(parse, AST_IN, span, expression->child[1]),
		     left->name, left->span);
}

static struct ast_list list_of(struct parse *parse, struct ast *node)
{
	struct ast_list list = { 0 };

	push(parse, &list, node);
	return list;
}

static void push(struct parse *parse, struct ast_list *list, struct ast *node)
{
	ast_list_push(list, parse->arena, node);
}

static void push_item(struct parse *parse, struct ast_list *list,
		      struct ast *node)
{
	parse_document(parse, node);
	push(parse, list, node);
}
