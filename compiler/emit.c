/* SPDX-License-Identifier: MIT
 *
 * The table of emitters.
 */
#include "compiler/emit.h"

#include <string.h>

static const struct emitter emitter_table[] = {
#define EMITTER(name, function, title) { name, title, function },
#include "compiler/emitters.def"
#undef EMITTER
	{ NULL, NULL, NULL }
};

const struct emitter *emitter_find(const char *name)
{
	for (const struct emitter *row = emitter_table; row->name; row++)
		if (strcmp(row->name, name) == 0)
			return row;
	return NULL;
}

const struct emitter *emitters(void)
{
	return emitter_table;
}
