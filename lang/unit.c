/* SPDX-License-Identifier: MIT
 *
 * Dimensions as vectors of exponents; reading, suggesting and printing units
 * from the table in units.def.
 */
#include "lang/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lang/diag.h"

struct unit_row {
	const char *spelling;
	double scale;
	struct unit unit;
};

static const struct unit_row units[] = {
#define UNIT(spelling, scale, byte, second, flop, watt, dollar) \
	{ spelling, scale, { { byte, second, flop, watt, dollar } } },
#include "lang/units.def"
#undef UNIT
};

static const struct {
	const char *wrong, *right;
} hints[] = {
#define UNIT_HINT(wrong, right) { wrong, right },
#include "lang/units.def"
#undef UNIT_HINT
};

static const struct {
	const char *type, *description;
	struct unit unit;
} quantities[] = {
#define QUANTITY(type, description, byte, second, flop, watt, dollar) \
	{ type, description, { { byte, second, flop, watt, dollar } } },
#include "lang/units.def"
#undef QUANTITY
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define POWER_MAX 100

bool unit_equal(struct unit a, struct unit b)
{
	return memcmp(a.power, b.power, sizeof(a.power)) == 0;
}

bool unit_is_none(struct unit unit)
{
	return unit_equal(unit, UNIT_NONE);
}

/* a * b^exponent */
static bool combine(struct unit a, struct unit b, int exponent,
		    struct unit *result)
{
	for (int i = 0; i < BASE_DIMENSION_COUNT; i++) {
		long power = a.power[i] + (long)b.power[i] * exponent;

		if (power < -POWER_MAX || power > POWER_MAX)
			return false;
		result->power[i] = (int8_t)power;
	}
	return true;
}

bool unit_multiply(struct unit a, struct unit b, struct unit *product)
{
	return combine(a, b, 1, product);
}

bool unit_divide(struct unit a, struct unit b, struct unit *quotient)
{
	return combine(a, b, -1, quotient);
}

bool unit_power(struct unit a, int exponent, struct unit *power)
{
	return combine(UNIT_NONE, a, exponent, power);
}

/* Bytes of the word at the start of text: one sign, or letters and digits. */
static size_t word_length(const char *text, size_t length)
{
	size_t n = 0;

	if (length && (text[0] == '$' || text[0] == '%'))
		return 1;
	while (n < length &&
	       ((text[n] >= 'a' && text[n] <= 'z') ||
		(text[n] >= 'A' && text[n] <= 'Z') || text[n] == '_' ||
		(unsigned char)text[n] >= 0x80 ||
		(n && text[n] >= '0' && text[n] <= '9')))
		n++;
	return n;
}

static bool same_word(const char *spelling, const char *text, size_t length)
{
	return strncmp(spelling, text, length) == 0 && !spelling[length];
}

static const struct unit_row *find_unit(const char *text, size_t length)
{
	for (size_t i = 0; length && i < COUNT(units); i++)
		if (same_word(units[i].spelling, text, length))
			return &units[i];
	return NULL;
}

size_t unit_parse(const char *text, size_t length, struct unit *unit,
		  double *scale)
{
	size_t first = word_length(text, length), second;
	const struct unit_row *over = find_unit(text, first);
	const struct unit_row *under;

	if (!over)
		return 0;
	*unit = over->unit;
	*scale = over->scale;
	if (text[0] == '%' || first == length || text[first] != '/')
		return first;
	text += first + 1;
	length -= first + 1;
	second = word_length(text, length);
	if (second && text[0] == '%')
		return first;
	under = find_unit(text, second);
	if (!under)
		return first;
	unit_divide(over->unit, under->unit, unit);
	*scale = over->scale / under->scale;
	return first + 1 + second;
}

static bool same_without_case(const char *spelling, const char *text,
			      size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!spelling[i] || (spelling[i] | 0x20) != (text[i] | 0x20))
			return false;
	return !spelling[length];
}

const char *unit_suggest(const char *text, size_t length)
{
	const char *best = NULL;
	unsigned best_distance = 0;
	char word[32];

	for (size_t i = 0; i < COUNT(hints); i++)
		if (same_word(hints[i].wrong, text, length))
			return hints[i].right;
	if (!length || length >= sizeof(word))
		return NULL;
	for (size_t i = 0; i < COUNT(units); i++)
		if (same_without_case(units[i].spelling, text, length))
			return units[i].spelling;
	memcpy(word, text, length);
	word[length] = '\0';
	for (size_t i = 0; i < COUNT(units); i++) {
		unsigned distance;

		if (!diag_resembles(word, units[i].spelling, &distance))
			continue;
		if (!best || distance < best_distance) {
			best = units[i].spelling;
			best_distance = distance;
		}
	}
	return best;
}

bool unit_is_misspelt(const char *text, size_t length)
{
	for (size_t i = 0; i < COUNT(hints); i++)
		if (length > 1 && same_word(hints[i].wrong, text, length))
			return true;
	return false;
}

/* "B*s/W" for a dimension no row of the tables has. */
static void print_dimension(struct unit unit, struct text *out)
{
	static const char *const symbols[BASE_DIMENSION_COUNT] = {
		[BASE_BYTE] = "B",
		[BASE_SECOND] = "s",
		[BASE_FLOP] = "FLOP",
		[BASE_WATT] = "W",
		[BASE_DOLLAR] = "$",
	};
	bool empty = true;

	for (int sign = 1; sign >= -1; sign -= 2) {
		for (int i = 0; i < BASE_DIMENSION_COUNT; i++) {
			int power = unit.power[i] * sign;

			if (power <= 0)
				continue;
			if (sign < 0)
				text_append(out, empty ? "1/" : "/");
			else if (!empty)
				text_append_char(out, '*');
			text_append(out, symbols[i]);
			if (power > 1)
				text_printf(out, "^%d", power);
			empty = false;
		}
	}
}

const char *unit_describe(struct unit unit, struct text *scratch)
{
	for (size_t i = 0; i < COUNT(quantities); i++)
		if (unit_equal(quantities[i].unit, unit))
			return quantities[i].description;
	scratch->length = 0;
	text_append(scratch, "a quantity in ");
	print_dimension(unit, scratch);
	return scratch->at;
}

bool unit_of_type(const char *type_name, struct unit *unit)
{
	for (size_t i = 0; i < COUNT(quantities); i++) {
		if (strcmp(quantities[i].type, type_name) == 0) {
			*unit = quantities[i].unit;
			return true;
		}
	}
	return false;
}

/* Spellings to print a dimension with, largest first. */
struct print_scale {
	double scale;
	const char *spelling;
};

static const struct print_scale size_decimal[] = {
	{ 1e15, "PB" }, { 1e12, "TB" }, { 1e9, "GB" }, { 1e6, "MB" },
	{ 1e3, "kB" }, { 1.0, "B" }, { 0.0, NULL },
};
static const struct print_scale size_binary[] = {
	{ 0x1p50, "PiB" }, { 0x1p40, "TiB" }, { 0x1p30, "GiB" },
	{ 0x1p20, "MiB" }, { 0x1p10, "KiB" }, { 1.0, "B" }, { 0.0, NULL },
};
static const struct print_scale bandwidth[] = {
	{ 1e15, "PB/s" }, { 1e12, "TB/s" }, { 1e9, "GB/s" }, { 1e6, "MB/s" },
	{ 1e3, "kB/s" }, { 1.0, "B/s" }, { 0.0, NULL },
};
static const struct print_scale time_parts[] = {
	{ 1.0, "s" }, { 1e-3, "ms" }, { 1e-6, "us" }, { 1e-9, "ns" },
	{ 0.0, NULL },
};
static const struct print_scale work[] = {
	{ 1e21, "ZFLOP" }, { 1e18, "EFLOP" }, { 1e15, "PFLOP" },
	{ 1e12, "TFLOP" }, { 1e9, "GFLOP" }, { 1e6, "MFLOP" },
	{ 1e3, "kFLOP" }, { 1.0, "FLOP" }, { 0.0, NULL },
};
static const struct print_scale rate[] = {
	{ 1e18, "EFLOP/s" }, { 1e15, "PFLOP/s" }, { 1e12, "TFLOP/s" },
	{ 1e9, "GFLOP/s" }, { 1e6, "MFLOP/s" }, { 1e3, "kFLOP/s" },
	{ 1.0, "FLOP/s" }, { 0.0, NULL },
};
static const struct print_scale power[] = {
	{ 1e6, "MW" }, { 1e3, "kW" }, { 1.0, "W" }, { 0.0, NULL },
};
static const struct print_scale energy[] = {
	{ 3.6e9, "MWh" }, { 3.6e6, "kWh" }, { 1e3, "kJ" }, { 1.0, "J" },
	{ 0.0, NULL },
};
static const struct print_scale money[] = { { 1.0, "$" }, { 0.0, NULL } };
static const struct print_scale price[] = {
	{ 1.0 / 3600.0, "$/h" }, { 0.0, NULL },
};

/* The largest scale that leaves at least one before the point; else the last. */
static const struct print_scale *pick(const struct print_scale *table,
				      double number)
{
	/* 999.9999 of a unit that rounds to 1000 takes the next larger one. */
	double magnitude = fabs(number) * (1 + 1e-7);

	while (table[1].spelling && magnitude < table->scale)
		table++;
	return table;
}

/* Six digits are what a person reads; whether they lose nothing. */
static bool is_short(double number)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%.6g", number);
	return fabs(strtod(digits, NULL) - number) <= 1e-12 * fabs(number);
}

static void print_scaled(const struct print_scale *row, double number,
			 struct text *out)
{
	double shown = number / row->scale;

	if (fabs(shown) >= 1e5 && fabs(shown) < 1e15 &&
	    shown == floor(shown))
		text_printf(out, "%.0f %s", shown, row->spelling);
	else
		text_printf(out, "%.6g %s", shown, row->spelling);
}

/* Decimal where that is how it must have been written, else binary. */
static void print_size(double number, struct text *out)
{
	const struct print_scale *binary = pick(size_binary, number);
	const struct print_scale *decimal = pick(size_decimal, number);

	if (is_short(number / decimal->scale) &&
	    !is_short(number / binary->scale))
		binary = decimal;
	print_scaled(binary, number, out);
}

static void print_time(double number, struct text *out)
{
	static const struct print_scale whole[] = {
		{ 86400.0, "d" }, { 3600.0, "h" }, { 60.0, "min" },
	};

	for (size_t i = 0; i < COUNT(whole); i++) {
		if (number != 0 && fmod(number, whole[i].scale) == 0) {
			print_scaled(&whole[i], number, out);
			return;
		}
	}
	print_scaled(pick(time_parts, number), number, out);
}

void unit_print(double number, struct unit unit, struct text *out)
{
	static const struct {
		struct unit unit;
		const struct print_scale *scales;
	} tables[] = {
		{ UNIT_BYTE_PER_SECOND, bandwidth },
		{ UNIT_FLOP, work },
		{ UNIT_FLOP_PER_SECOND, rate },
		{ UNIT_WATT, power },
		{ { { [BASE_WATT] = 1, [BASE_SECOND] = 1 } }, energy },
		{ { { [BASE_DOLLAR] = 1 } }, money },
		{ UNIT_DOLLAR_PER_SECOND, price },
	};

	if (unit_is_none(unit)) {
		text_append_number(out, number);
		return;
	}
	if (unit_equal(unit, UNIT_BYTE)) {
		print_size(number, out);
		return;
	}
	if (unit_equal(unit, UNIT_SECOND)) {
		print_time(number, out);
		return;
	}
	for (size_t i = 0; i < COUNT(tables); i++) {
		if (unit_equal(unit, tables[i].unit)) {
			print_scaled(pick(tables[i].scales, number), number,
				     out);
			return;
		}
	}
	text_append_number(out, number);
	text_append_char(out, ' ');
	print_dimension(unit, out);
}
