/* SPDX-License-Identifier: MIT
 *
 * Flags of Megatron-LM, and since which release it has them.
 */
#include "compiler/emit_megatron.h"

#include <string.h>

#include "lang/compilation.h"

static const struct {
	const char *spelling;
	int minor, patch;		/* of megatron-core 0.minor.patch, the first with it */
} flags[FLAG_COUNT] = {
#define FLAG(enumerator, spelling, kind, minor, patch) \
	{ spelling, minor, patch },
#include "compiler/megatron_flags.def"
#undef FLAG
};

void megatron_need(struct megatron *megatron, int minor, int patch)
{
	if (minor < megatron->minor ||
	    (minor == megatron->minor && patch <= megatron->patch))
		return;
	megatron->minor = minor;
	megatron->patch = patch;
}

void flag_heading(struct megatron *megatron, const char *heading)
{
	text_printf(&megatron->array, "%s  # %s\n",
		    megatron->array.length ? "\n" : "", heading);
}

void flag_switch(struct megatron *megatron, enum flag flag)
{
	megatron_need(megatron, flags[flag].minor, flags[flag].patch);
	text_printf(&megatron->array, "  %s\n", flags[flag].spelling);
}

/* Quotes what a shell would read otherwise. */
static void append_quoted(struct text *out, const char *value)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_-+./:=@%";

	if (*value && strspn(value, plain) == strlen(value))
		text_append(out, value);
	else
		text_printf(out, "'%s'", value);
}

void flag_words(struct megatron *megatron, enum flag flag, const char *words)
{
	megatron_need(megatron, flags[flag].minor, flags[flag].patch);
	text_printf(&megatron->array, "  %s %s\n", flags[flag].spelling, words);
}

void flag_text(struct megatron *megatron, enum flag flag, const char *value)
{
	struct text quoted;

	text_init(&quoted, &megatron->input->compilation->arena);
	append_quoted(&quoted, value);
	flag_words(megatron, flag, quoted.at);
}

void flag_number(struct megatron *megatron, enum flag flag, double number)
{
	struct text value;

	text_init(&value, &megatron->input->compilation->arena);
	text_append_number(&value, number);
	flag_text(megatron, flag, value.at);
}
