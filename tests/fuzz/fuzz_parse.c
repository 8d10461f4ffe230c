/* SPDX-License-Identifier: MIT
 *
 * Any bytes through scanner, grammar, dump and the three ways to print
 * diagnostics. With clang, -fsanitize=fuzzer and -DNEST_LIBFUZZER this is a
 * libFuzzer target; otherwise main replays the files named as arguments.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "lang/ast.h"
#include "lang/compilation.h"
#include "lang/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every node lies within its parent, and the tree is as shallow as promised;
 * anything else is a fault of the parser. */
static void check_node(const struct ast *node, const struct ast *parent,
		       unsigned depth)
{
	if (depth > AST_DEPTH_MAX + 1 || node->span.begin > node->span.end ||
	    node->span.begin < parent->span.begin ||
	    node->span.end > parent->span.end)
		abort();
	for (uint32_t i = 0; i < node->child_count; i++)
		if (node->child[i])
			check_node(node->child[i], node, depth + 1);
}

static void flush_as(struct compilation *compilation, enum diag_format format)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		abort();
	diags_flush(&compilation->diags, out, format, true);
	fclose(out);
	free(text);
}

static void parse_as(const uint8_t *data, size_t size, enum diag_format format)
{
	struct compilation compilation;
	struct ast *tree;
	struct text dump;
	uint32_t file;
	bool clean;

	compilation_init(&compilation);
	file = sources_add(&compilation.sources, "fuzz", "fuzz",
			   (const char *)data, size, false);
	tree = parse_file(&compilation, file, &clean);
	if (clean != (compilation.diags.errors == 0))
		abort();
	check_node(tree, tree, 1);
	text_init(&dump, &compilation.arena);
	ast_dump(tree, &dump);
	parse_expression(&compilation, file);
	flush_as(&compilation, format);
	compilation_release(&compilation);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum diag_format formats[] = {
		DIAG_FORMAT_TEXT, DIAG_FORMAT_JSON, DIAG_FORMAT_SARIF,
	};

	/* The dump of a deep tree is quadratic in its depth. */
	if (size > 1024 * 1024)
		return 0;
	parse_as(data, size, formats[size % 3]);
	return 0;
}

#ifndef NEST_LIBFUZZER
static int replay(const char *path)
{
	static uint8_t data[1024 * 1024];
	FILE *in = fopen(path, "rb");
	size_t size;

	if (!in) {
		perror(path);
		return 4;
	}
	size = fread(data, 1, sizeof(data), in);
	fclose(in);
	return LLVMFuzzerTestOneInput(data, size);
}

int main(int argc, char **argv)
{
	int status = 0;

	for (int i = 1; i < argc && !status; i++)
		status = replay(argv[i]);
	return status;
}
#endif
