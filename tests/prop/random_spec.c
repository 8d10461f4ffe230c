/* SPDX-License-Identifier: MIT
 *
 * One function a production of the grammar.
 */
#include "tests/prop/random_spec.h"

#include <stdbool.h>

struct maker {
	struct text *out;
	uint64_t state;
	uint32_t brackets;	/* ( and [ open: line breaks mean nothing */
	uint32_t comments;	/* written so far; each has its number */
	uint32_t noise;		/* of 100: how often layout is odd */
};

static uint32_t pick(struct maker *maker, uint32_t below)
{
	/* Knuth's MMIX multiplier; the high bits are the random ones. */
	maker->state = maker->state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(maker->state >> 33) % below;
}

static bool chance(struct maker *maker, uint32_t percent)
{
	return pick(maker, 100) < percent;
}

static void put(struct maker *maker, const char *text)
{
	text_append(maker->out, text);
}

static const char *one_of(struct maker *maker, const char *const *words)
{
	uint32_t count = 0;

	while (words[count])
		count++;
	return words[pick(maker, count)];
}

static void put_comment(struct maker *maker, const char *mark)
{
	text_printf(maker->out, "%s note %u%s\n", mark, ++maker->comments,
		    chance(maker, 10) ? "  \t" : "");
}

/* Not at the margin: there, some words begin a declaration whatever is open. */
static void put_indentation(struct maker *maker)
{
	for (uint32_t i = 1 + pick(maker, 11); i; i--)
		put(maker, " ");
}

/* Between two tokens of one line. */
static void blank(struct maker *maker)
{
	put(maker, " ");
	while (chance(maker, maker->noise))
		put(maker, chance(maker, 20) ? "\t" : " ");
}

/* Where the next token cannot begin an item: a line may end. */
static void gap(struct maker *maker)
{
	blank(maker);
	while (chance(maker, maker->noise / 2)) {
		if (chance(maker, 40))
			put_comment(maker, "#");
		else
			put(maker, chance(maker, 20) ? "\r\n" : "\n");
		put_indentation(maker);
	}
}

/* The same where that holds within brackets only. */
static void inner_gap(struct maker *maker)
{
	if (maker->brackets)
		gap(maker);
	else
		blank(maker);
}

static const char *a_name(struct maker *maker)
{
	static const char *const names[] = {
		"a", "b", "tensor", "hidden", "seq", "a_rather_long_name",
		"x1", "memory", "device", "topology", "model", "job", "template",
		"test", "heads", "h", "s", "d", "GiB", NULL
	};

	return one_of(maker, names);
}

static void put_number(struct maker *maker)
{
	static const char *const numbers[] = {
		"0", "1", "8", "12_288", "2.5", "1e6", "80GiB", "450 GB/s",
		"3us", "90%", "2.5$/h", "989TFLOP/s", "1.5e-3", NULL
	};

	put(maker, one_of(maker, numbers));
}

static void put_string(struct maker *maker)
{
	static const char *const strings[] = {
		"\"\"", "\"why not\"", "\"a \\\"b\\\" \\\\ \\n\\t\"",
		"\"# no comment\"", "\"\xc3\xa9t\xc3\xa9\"", NULL
	};

	put(maker, one_of(maker, strings));
}

/* ---- expressions: level 0 binds loosest ---- */

enum { SET, IF, OR, AND, NOT, COMPARISON, RANGE, SUM, PRODUCT, SIGN, POWER,
       POSTFIX };

static void expression(struct maker *maker, int level, uint32_t depth);
static void items(struct maker *maker, uint32_t depth);

static void in_brackets(struct maker *maker, const char *open)
{
	put(maker, open);
	maker->brackets++;
	inner_gap(maker);
}

static void out_of_brackets(struct maker *maker, const char *close)
{
	inner_gap(maker);
	maker->brackets--;
	put(maker, close);
}

static void argument(struct maker *maker, uint32_t depth, uint32_t index,
		     bool is_call)
{
	if (is_call && chance(maker, 10)) {
		expression(maker, OR, depth);
		inner_gap(maker);
		put(maker, "->");
		inner_gap(maker);
		expression(maker, OR, depth);
		return;
	}
	if (index && chance(maker, 70)) {
		put(maker, a_name(maker));
		inner_gap(maker);
		put(maker, "=");
		inner_gap(maker);
	}
	expression(maker, SET, depth);
}

static void list(struct maker *maker, const char *open, const char *close,
		 uint32_t depth, bool is_call)
{
	uint32_t count = pick(maker, chance(maker, 10) ? 9 : 4);
	uint32_t brackets = maker->brackets;

	in_brackets(maker, open);
	/* In braces a sign at the start of a line is none of a sum. */
	if (*open == '{')
		maker->brackets = 0;
	for (uint32_t i = 0; i < count; i++) {
		argument(maker, depth, is_call ? i : 0, is_call);
		inner_gap(maker);
		if (i + 1 < count || chance(maker, 10)) {
			put(maker, ",");
			gap(maker);
		}
	}
	put(maker, " ");
	maker->brackets = brackets;
	put(maker, close);
}

static void body(struct maker *maker, uint32_t depth)
{
	uint32_t brackets = maker->brackets;

	put(maker, "{");
	maker->brackets = 0;
	items(maker, depth);
	maker->brackets = brackets;
	put(maker, "}");
}

static void postfix(struct maker *maker, uint32_t depth)
{
	static const char *const flags[] = { "true", "false", NULL };
	uint32_t kind = pick(maker, depth ? 12 : 5), brackets;

	switch (kind) {
	case 0:
		put_number(maker);
		return;
	case 1:
		put_string(maker);
		return;
	case 2:
		put(maker, one_of(maker, flags));
		return;
	case 3:
	case 4:
		put(maker, a_name(maker));
		return;
	case 5:
		in_brackets(maker, "(");
		expression(maker, SET, depth - 1);
		out_of_brackets(maker, ")");
		return;
	case 6:
		list(maker, "[", "]", depth - 1, false);
		return;
	case 7:
	case 8:
		put(maker, a_name(maker));
		list(maker, "(", ")", depth - 1, true);
		if (!chance(maker, 15))
			return;
		put(maker, " { e -> ");
		brackets = maker->brackets;
		maker->brackets = 0;
		expression(maker, IF, depth - 1);
		maker->brackets = brackets;
		put(maker, " }");
		return;
	case 9:
		put(maker, a_name(maker));
		put(maker, chance(maker, 50) ? "." : " . ");
		put(maker, a_name(maker));
		return;
	case 10:
		put(maker, a_name(maker));
		in_brackets(maker, "[");
		expression(maker, SET, depth - 1);
		out_of_brackets(maker, "]");
		return;
	default:
		put(maker, a_name(maker));
		put(maker, " with ");
		body(maker, depth - 1);
	}
}

static void binary(struct maker *maker, int left, const char *const *words,
		   int right, uint32_t depth)
{
	expression(maker, left, depth - 1);
	inner_gap(maker);
	put(maker, one_of(maker, words));
	gap(maker);
	expression(maker, right, depth - 1);
}

static void choice(struct maker *maker, uint32_t depth)
{
	put(maker, "if");
	gap(maker);
	expression(maker, OR, depth - 1);
	gap(maker);
	put(maker, "then");
	gap(maker);
	expression(maker, SET, depth - 1);
	gap(maker);
	put(maker, "else");
	gap(maker);
	expression(maker, SET, depth - 1);
}

static void range(struct maker *maker, uint32_t depth)
{
	static const char *const dots[] = { "..", NULL };

	binary(maker, SUM, dots, SUM, depth);
	if (!chance(maker, 30))
		return;
	put(maker, " step ");
	expression(maker, SUM, depth - 1);
}

static void one_level(struct maker *maker, int level, uint32_t depth)
{
	static const char *const ors[] = { "or", NULL };
	static const char *const ands[] = { "and", NULL };
	static const char *const comparisons[] = { "==", "!=", "<", "<=", ">",
						   ">=", "in", NULL };
	static const char *const sums[] = { "+", "-", NULL };
	static const char *const products[] = { "*", "/", " % ", NULL };
	static const char *const powers[] = { "^", NULL };

	switch (level) {
	case SET:
		list(maker, "{", "}", depth - 1, false);
		break;
	case IF:
		choice(maker, depth);
		break;
	case OR:
		binary(maker, OR, ors, AND, depth);
		break;
	case AND:
		binary(maker, AND, ands, NOT, depth);
		break;
	case NOT:
		put(maker, "not ");
		expression(maker, NOT, depth - 1);
		break;
	case COMPARISON:
		binary(maker, RANGE, comparisons, RANGE, depth);
		break;
	case RANGE:
		range(maker, depth);
		break;
	case SUM:
		binary(maker, SUM, sums, PRODUCT, depth);
		break;
	case PRODUCT:
		binary(maker, PRODUCT, products, SIGN, depth);
		break;
	case SIGN:
		put(maker, "-");
		expression(maker, POWER, depth - 1);
		break;
	case POWER:
		binary(maker, POSTFIX, powers, SIGN, depth);
		break;
	default:
		postfix(maker, depth);
	}
}

static void expression(struct maker *maker, int level, uint32_t depth)
{
	int wanted = POSTFIX;

	if (depth && chance(maker, 60))
		wanted = (int)pick(maker, POSTFIX + 1);
	if (wanted == SET && level > SET)
		wanted = POSTFIX;
	if (wanted >= level) {
		one_level(maker, wanted, depth);
		return;
	}
	in_brackets(maker, "(");
	one_level(maker, wanted, depth);
	out_of_brackets(maker, ")");
}

/* ---- items ---- */

static void names(struct maker *maker)
{
	put(maker, a_name(maker));
	while (chance(maker, 40)) {
		put(maker, ",");
		gap(maker);
		put(maker, a_name(maker));
	}
}

static void parameters(struct maker *maker, uint32_t depth)
{
	static const char *const types[] = { "int", "float", "size", NULL };
	uint32_t count = pick(maker, 5);

	in_brackets(maker, "(");
	for (uint32_t i = 0; i < count; i++) {
		if (chance(maker, maker->noise / 4)) {
			put(maker, "\n");
			put_comment(maker, "##");
			put_indentation(maker);
		}
		put(maker, a_name(maker));
		if (chance(maker, 30)) {
			put(maker, " : ");
			put(maker, one_of(maker, types));
		}
		if (chance(maker, 50)) {
			put(maker, " = ");
			expression(maker, SET, depth);
		}
		if (i + 1 < count) {
			put(maker, ",");
			inner_gap(maker);
		}
	}
	out_of_brackets(maker, ")");
}

static void place(struct maker *maker, uint32_t depth)
{
	put(maker, a_name(maker));
	while (chance(maker, 40)) {
		put(maker, "[");
		expression(maker, SET, depth);
		put(maker, "]");
	}
}

static void assignment(struct maker *maker, const char *word, uint32_t depth)
{
	put(maker, word);
	put(maker, a_name(maker));
	blank(maker);
	put(maker, "=");
	gap(maker);
	expression(maker, SET, depth);
}

static void rule(struct maker *maker, uint32_t depth)
{
	bool has_word = chance(maker, 60);

	if (has_word) {
		put(maker, "require");
		gap(maker);
	}
	expression(maker, OR, depth);
	if (chance(maker, 60)) {
		gap(maker);
		put(maker, "when ");
		expression(maker, OR, depth);
	}
	if (chance(maker, 50)) {
		gap(maker);
		put(maker, "else ");
		put_string(maker);
	}
}

static void network_item(struct maker *maker, uint32_t depth)
{
	if (chance(maker, 20)) {
		put(maker, "switch ");
		place(maker, depth);
		return;
	}
	if (chance(maker, 50)) {
		put(maker, "node ");
		place(maker, depth);
		put(maker, ": ");
		expression(maker, OR, depth);
	} else {
		put(maker, "link ");
		place(maker, depth);
		put(maker, chance(maker, 70) ? " -- " : " -> ");
		place(maker, depth);
	}
	if (!chance(maker, 50))
		return;
	put(maker, " ");
	body(maker, depth);
}

static void block_item(struct maker *maker, uint32_t depth)
{
	static const char *const labelled[] = { "level ", "plan ", NULL };

	switch (pick(maker, 4)) {
	case 0:
		put(maker, one_of(maker, labelled));
		put(maker, a_name(maker));
		break;
	case 1:
		put(maker, "require");
		break;
	case 2:
		put(maker, "for ");
		put(maker, a_name(maker));
		put(maker, " in ");
		expression(maker, SET, depth);
		break;
	default:
		put(maker, a_name(maker));
	}
	inner_gap(maker);
	body(maker, depth);
}

static void list_item(struct maker *maker, uint32_t depth)
{
	switch (pick(maker, 3)) {
	case 0:
		put(maker, a_name(maker));
		put(maker, " : ");
		list(maker, "[", "]", depth, false);
		return;
	case 1:
		put(maker, "split ");
		names(maker);
		gap(maker);
		put(maker, "by ");
		put(maker, a_name(maker));
		if (chance(maker, 40)) {
			put(maker, " pad 8 * ");
			expression(maker, SIGN, depth);
		}
		return;
	default:
		put(maker, "minimize ");
		expression(maker, OR, depth);
		while (chance(maker, 30)) {
			gap(maker);
			put(maker, "then ");
			expression(maker, OR, depth);
		}
	}
}

static void word_item(struct maker *maker, uint32_t depth)
{
	static const char *const words[] = { "return ", "expect ", "avoid ",
					     NULL };
	const char *word = one_of(maker, words);

	switch (pick(maker, 3)) {
	case 0:
		put(maker, word);
		if (*word == 'a' && chance(maker, 30))
			list(maker, "{", "}", depth, false);
		else
			expression(maker, *word == 'a' ? OR : IF, depth);
		return;
	case 1:
		put(maker, "prefer ");
		expression(maker, OR, depth);
		put(maker, " weight ");
		expression(maker, OR, depth);
		return;
	default:
		expression(maker, OR, depth);
		put(maker, " within ");
		expression(maker, OR, depth);
	}
}

/* False for a bare word, behind which a comma must stand. */
static bool item(struct maker *maker, uint32_t depth)
{
	static const char *const bare[] = { "level", "plan", "node", "link",
					    NULL };
	uint32_t inner = depth ? depth - 1 : 0;

	switch (pick(maker, depth ? 14 : 9)) {
	case 0:
	case 1:
	case 2:
		assignment(maker, "", inner);
		return true;
	case 3:
		assignment(maker, "let ", inner);
		return true;
	case 4:
		put(maker, a_name(maker));
		put(maker, " in ");
		if (chance(maker, 50))
			list(maker, "{", "}", inner, false);
		else
			expression(maker, RANGE, inner);
		return true;
	case 5:
		list_item(maker, inner);
		return true;
	case 6:
		word_item(maker, inner);
		return true;
	case 7:
		put(maker, one_of(maker, bare));
		return false;
	case 8:
		expression(maker, IF, inner);
		return true;
	case 9:
		network_item(maker, inner);
		return true;
	case 10:
		put(maker, "fn f");
		parameters(maker, inner);
		put(maker, " = ");
		expression(maker, SET, inner);
		return true;
	case 11:
		rule(maker, inner);
		return true;
	default:
		block_item(maker, inner);
		return true;
	}
}

static void separate(struct maker *maker, bool by_comma)
{
	static const char *const commas[] = { ",", ";", ",;", NULL };

	if (by_comma || chance(maker, maker->noise / 2))
		put(maker, one_of(maker, commas));
	if (chance(maker, maker->noise)) {
		blank(maker);
		put_comment(maker, chance(maker, 10) ? "##" : "#");
	} else {
		put(maker, "\n");
	}
	while (chance(maker, maker->noise / 2)) {
		if (chance(maker, 40))
			put_comment(maker, chance(maker, 30) ? "##" : "#");
		else
			put(maker, chance(maker, 20) ? "  \n" : "\n");
	}
}

static void items(struct maker *maker, uint32_t depth)
{
	uint32_t count = pick(maker, 5);
	bool on_one_line = chance(maker, 40);

	if (on_one_line)
		blank(maker);
	else
		separate(maker, false);
	for (uint32_t i = 0; i < count; i++) {
		bool is_closed;

		put_indentation(maker);
		is_closed = item(maker, depth);
		if (on_one_line)
			put(maker, chance(maker, 50) ? " ; " : ", ");
		else
			separate(maker, !is_closed);
	}
}

static void plain_declaration(struct maker *maker)
{
	static const char *const imports[] = {
		"import std.device.h100", "import \"./other.nest\"",
		"import a . b as lab", "import \"./x y.nest\" as x", NULL
	};

	switch (pick(maker, 5)) {
	case 0:
		put(maker, one_of(maker, imports));
		return;
	case 1:
		put(maker, "param ");
		put(maker, a_name(maker));
		if (chance(maker, 50))
			put(maker, " : int");
		put(maker, " = ");
		expression(maker, SET, 3);
		return;
	case 2:
		put(maker, "fn f");
		parameters(maker, 2);
		put(maker, " = ");
		expression(maker, SET, 3);
		return;
	case 3:
		put(maker, "extern \"./lib.so\" fn g");
		parameters(maker, 0);
		put(maker, "  ->   time");
		return;
	default:
		assignment(maker, "let ", 3);
	}
}

static void declaration(struct maker *maker)
{
	static const char *const kinds[] = { "device ", "topology ",
					     "template ", "model ", NULL };

	switch (pick(maker, 4)) {
	case 0:
		plain_declaration(maker);
		return;
	case 1:
		put(maker, "job ");
		put(maker, a_name(maker));
		gap(maker);
		break;
	case 2:
		put(maker, "test ");
		put_string(maker);
		put(maker, " ");
		break;
	default:
		put(maker, one_of(maker, kinds));
		put(maker, a_name(maker));
		if (chance(maker, 50))
			parameters(maker, 2);
		gap(maker);
	}
	body(maker, 4);
}

void random_spec(uint64_t seed, struct text *out)
{
	struct maker maker = { .out = out, .state = seed };
	uint32_t count;

	/* The first numbers of neighbouring seeds are alike. */
	for (int i = 0; i < 8; i++)
		pick(&maker, 2);
	maker.noise = pick(&maker, 4) * 15;
	count = 1 + pick(&maker, 8);
	while (chance(&maker, maker.noise))
		put_comment(&maker, "#");
	put(&maker, "nest 1");
	separate(&maker, false);
	for (uint32_t i = 0; i < count; i++) {
		declaration(&maker);
		separate(&maker, false);
	}
}
