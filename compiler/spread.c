/* SPDX-License-Identifier: MIT
 *
 * Factors of a degree as words.
 */
#include "compiler/spread.h"

#include <string.h>

static void append_plural(struct text *out, const char *noun)
{
	size_t length = strlen(noun);
	bool hisses = length && (strchr("sx", noun[length - 1]) ||
				 (length > 1 && noun[length - 1] == 'h' &&
				  strchr("cs", noun[length - 2])));

	text_printf(out, "%s%s", noun, hisses ? "es" : "s");
}

/* The letter that the name of a torus' outermost dimension lacks. */
static const char *last_dimension(const struct ir_topology *topology, uint32_t l)
{
	static const char *const letter[] = { "", ".y", ".z", ".w" };
	uint32_t below = 0;

	if (l + 1 < topology->level_count && topology->level[l + 1].network.joined)
		return "";
	while (topology->level[l - below].network.joined)
		below++;
	return below < 4 ? letter[below] : "";
}

static void describe_factor(const struct ir_topology *topology, uint32_t l,
			    uint32_t factor, struct text *out)
{
	const char *level = topology->level[l].name;

	if (topology->level[l].network.kind == LEVEL_RING) {
		text_printf(out, "%u along %s%s", factor, level,
			    last_dimension(topology, l));
		return;
	}
	if (l == 0) {
		text_printf(out, "%u within a %s", factor, level);
		return;
	}
	text_printf(out, "%u across ", factor);
	append_plural(out, topology->level[l - 1].name);
	if (l + 1 < topology->level_count)
		text_printf(out, " in a%s %s", strchr("aeio", level[0]) ? "n" : "",
			    level);
}

void spread_describe(const struct ir_topology *topology,
		     const struct placement *placement, enum dimension dimension,
		     struct text *out)
{
	bool first = true;

	for (uint32_t l = 0; l < topology->level_count; l++) {
		uint32_t factor = placement->factor[dimension][l];

		if (factor == 1)
			continue;
		text_append(out, first ? "" : ", ");
		first = false;
		describe_factor(topology, l, factor, out);
	}
}
