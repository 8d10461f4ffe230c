# SPDX-License-Identifier: MIT

noinst_LIBRARIES += %D%/liblang.a
%C%_liblang_a_SOURCES = \
	%D%/ast.c \
	%D%/ast.def \
	%D%/ast.h \
	%D%/ast_dump.c \
	%D%/base/arena.c \
	%D%/base/arena.h \
	%D%/base/checked.h \
	%D%/base/intern.c \
	%D%/base/intern.h \
	%D%/base/path.c \
	%D%/base/path.h \
	%D%/base/text.c \
	%D%/base/text.h \
	%D%/base/vec.h \
	%D%/builtin.c \
	%D%/builtin.h \
	%D%/call.c \
	%D%/call.h \
	%D%/check.c \
	%D%/check.h \
	%D%/check_cycle.c \
	%D%/check_expression.c \
	%D%/check_internal.h \
	%D%/codes.def \
	%D%/compilation.c \
	%D%/compilation.h \
	%D%/diag.c \
	%D%/diag.h \
	%D%/diag_json.c \
	%D%/diag_text.c \
	%D%/eval.c \
	%D%/eval.h \
	%D%/eval_call.c \
	%D%/eval_children.c \
	%D%/eval_graph.c \
	%D%/eval_internal.h \
	%D%/eval_member.c \
	%D%/eval_model.c \
	%D%/eval_operator.c \
	%D%/eval_param.c \
	%D%/eval_record.c \
	%D%/eval_record.h \
	%D%/eval_topology.c \
	%D%/eval_with.c \
	%D%/format.c \
	%D%/format.h \
	%D%/format_expression.c \
	%D%/format_internal.h \
	%D%/format_text.c \
	%D%/gram.y \
	%D%/lint.c \
	%D%/lint.def \
	%D%/lint.h \
	%D%/literal.c \
	%D%/module.c \
	%D%/module.h \
	%D%/network_graph.h \
	%D%/parse.c \
	%D%/parse.h \
	%D%/scan.l \
	%D%/scope.c \
	%D%/scope.h \
	%D%/source.c \
	%D%/source.h \
	%D%/symbol.c \
	%D%/symbol.h \
	%D%/symbols.def \
	%D%/token.c \
	%D%/token.h \
	%D%/unit.c \
	%D%/unit.h \
	%D%/units.def \
	%D%/value.c \
	%D%/value.h \
	%D%/words.def
BUILT_SOURCES += %D%/gram.h

EXTRA_DIST += %D%/embed.sh
