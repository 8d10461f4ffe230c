/* SPDX-License-Identifier: MIT
 *
 * Dimensions and units of quantities. A unit is a vector of exponents over
 * the base dimensions; a number is always kept in base units (bytes, seconds,
 * floating-point operations, watts, dollars).
 */
#ifndef NEST_LANG_UNIT_H
#define NEST_LANG_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lang/base/text.h"

enum base_dimension {
	BASE_BYTE,
	BASE_SECOND,
	BASE_FLOP,
	BASE_WATT,
	BASE_DOLLAR,
	BASE_DIMENSION_COUNT
};

struct unit {
	int8_t power[BASE_DIMENSION_COUNT];	/* exponent of each base dimension */
};

#define UNIT_NONE ((struct unit){ { 0 } })
#define UNIT_BYTE ((struct unit){ { [BASE_BYTE] = 1 } })
#define UNIT_SECOND ((struct unit){ { [BASE_SECOND] = 1 } })
#define UNIT_BYTE_PER_SECOND ((struct unit){ { [BASE_BYTE] = 1, [BASE_SECOND] = -1 } })
#define UNIT_FLOP ((struct unit){ { [BASE_FLOP] = 1 } })
#define UNIT_FLOP_PER_SECOND ((struct unit){ { [BASE_FLOP] = 1, [BASE_SECOND] = -1 } })
#define UNIT_WATT ((struct unit){ { [BASE_WATT] = 1 } })
#define UNIT_DOLLAR_PER_SECOND ((struct unit){ { [BASE_DOLLAR] = 1, [BASE_SECOND] = -1 } })

bool unit_equal(struct unit a, struct unit b);
bool unit_is_none(struct unit unit);
/* False when an exponent would leave -100 .. 100. */
bool unit_multiply(struct unit a, struct unit b, struct unit *product);
bool unit_divide(struct unit a, struct unit b, struct unit *quotient);
bool unit_power(struct unit a, int exponent, struct unit *power);

/* Reads a unit expression such as "GiB", "GB/s", "TFLOP/s", "$/h", "%", "us"
 * from the first length bytes. Returns how many bytes form the longest known
 * unit (0 if none), with its dimension and its size in base units. */
size_t unit_parse(const char *text, size_t length, struct unit *unit,
		  double *scale);

/* The spelling in units.def nearest to the text, or NULL. */
const char *unit_suggest(const char *text, size_t length);

/* Whether the word is a known misspelling of a unit ("TFLOPS", "Gbps"). */
bool unit_is_misspelt(const char *text, size_t length);

/* "a size (bytes)", "a time (seconds)", "a plain number", ... for messages. */
const char *unit_describe(struct unit unit, struct text *scratch);

/* Prints a quantity the way people write it: 80 GiB, 450 GB/s, 3 us. */
void unit_print(double number, struct unit unit, struct text *out);

/* The unit a type name (int, float, size, time, bandwidth, flops, ...) stands for;
 * false when the name is no quantity type. */
bool unit_of_type(const char *type_name, struct unit *unit);

#endif
