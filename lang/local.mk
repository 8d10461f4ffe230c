# SPDX-License-Identifier: MIT

noinst_LIBRARIES += %D%/liblang.a
%C%_liblang_a_SOURCES = \
	%D%/base/arena.c %D%/base/arena.h \
	%D%/base/intern.c %D%/base/intern.h \
	%D%/base/text.c %D%/base/text.h \
	%D%/base/vec.h \
	%D%/ast.c %D%/ast.def %D%/ast.h \
	%D%/ast_dump.c \
	%D%/check.c %D%/check.h \
	%D%/codes.def \
	%D%/compilation.c %D%/compilation.h \
	%D%/diag.c %D%/diag.h \
	%D%/diag_json.c \
	%D%/diag_text.c \
	%D%/eval.c %D%/eval.h \
	%D%/gram.y \
	%D%/module.c %D%/module.h \
	%D%/parse.c %D%/parse.h \
	%D%/scan.l \
	%D%/scope.c %D%/scope.h \
	%D%/source.c %D%/source.h \
	%D%/symbols.def \
	%D%/unit.c %D%/unit.h %D%/units.def \
	%D%/value.c %D%/value.h
BUILT_SOURCES += %D%/gram.h

# The long text of every code, embedded in the command.
EXTRA_DIST += %D%/embed.sh $(explain_pages)
