/* SPDX-License-Identifier: MIT
 *
 * Specs given as text, lowered to placement programs, for tests.
 */
#ifndef NEST_TESTS_LOWER_SPEC_H
#define NEST_TESTS_LOWER_SPEC_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/ir.h"
#include "lang/compilation.h"
#include "lang/module.h"

struct spec {
	struct compilation compilation;
	struct ir *ir;			/* NULL after errors */
};

/* Lowers the only job of a text. The spec is read from a file of its own. */
static inline void spec_lower(struct spec *spec, const char *text)
{
	char path[] = "lower_spec_XXXXXX";
	struct module *module;
	const char *reason;
	int file = mkstemp(path);

	assert_true(file >= 0);
	assert_int_equal(write(file, text, strlen(text)), (long)strlen(text));
	close(file);
	compilation_init(&spec->compilation);
	spec->compilation.operator_names = ir_operator_names;
	spec->ir = NULL;
	module = module_load(&spec->compilation, path);
	unlink(path);
	assert_non_null(module);
	if (!module->clean)
		return;
	spec->ir = lower_job(&spec->compilation, module, NULL);
	if (!spec->ir)
		return;
	assert_int_equal(spec->compilation.diags.errors, 0);
	if (!ir_verify(spec->ir, &reason))
		fail_msg("the program breaks a rule: %s", reason);
}

static inline void spec_release(struct spec *spec)
{
	compilation_release(&spec->compilation);
}

/* Prints what was reported, where a test did not expect it. */
static inline void spec_show(struct spec *spec)
{
	diags_flush(&spec->compilation.diags, stderr, DIAG_FORMAT_TEXT, false);
}

/* The first error reported; DIAG_CODE_COUNT without any. */
static inline enum diag_code spec_error(const struct spec *spec)
{
	for (size_t i = 0; i < spec->compilation.diags.count; i++)
		if (spec->compilation.diags.at[i]->severity == DIAG_ERROR)
			return spec->compilation.diags.at[i]->code;
	return DIAG_CODE_COUNT;
}

/* What every spec here begins with; `%s` stand for declarations and for items
 * of the job. */
#define SPEC_TEXT                                                        \
	"nest 1\n"                                                       \
	"import std.device.h100\n"                                       \
	"import std.topology.spine_leaf\n"                               \
	"import std.model.llama2\n"                                      \
	"import std.model.llama3\n"                                      \
	"import std.model.gpt2\n"                                        \
	"import std.model.gpt3\n"                                        \
	"%s\n"                                                           \
	"job test_job {\n"                                               \
	"  topology = spine_leaf(device = h100_sxm)\n"                   \
	"  global_batch = 64\n"                                          \
	"%s\n"                                                           \
	"}\n"

static inline void spec_build(struct spec *spec, const char *declarations,
			      const char *items)
{
	size_t size = sizeof(SPEC_TEXT) + strlen(declarations) + strlen(items);
	char *text = malloc(size);

	assert_non_null(text);
	snprintf(text, size, SPEC_TEXT, declarations, items);
	spec_lower(spec, text);
	free(text);
}

/* The same, demanding success. */
static inline void spec_good(struct spec *spec, const char *declarations,
			     const char *items)
{
	spec_build(spec, declarations, items);
	if (spec->ir)
		return;
	spec_show(spec);
	fail_msg("this spec should be right: %s %s", declarations, items);
}

/* One wrong spec and the code it must give. */
struct wrong_spec {
	const char *declarations, *items;
	enum diag_code code;
};

static inline void check_wrong(const struct wrong_spec *wrong, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct spec spec;

		spec_build(&spec, wrong[i].declarations, wrong[i].items);
		if (spec.ir || spec_error(&spec) != wrong[i].code) {
			spec_show(&spec);
			fail_msg("expected %s of: %s %s",
				 diag_code_name(wrong[i].code),
				 wrong[i].declarations, wrong[i].items);
		}
		spec_release(&spec);
	}
}

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

#endif
