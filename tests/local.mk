# SPDX-License-Identifier: MIT
#
# All tests speak TAP: cmocka programs and shell scripts alike.

TEST_EXTENSIONS = .tap
LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) $(top_srcdir)/build-aux/tap-driver.sh
TAP_LOG_DRIVER = $(LOG_DRIVER)
TAP_LOG_COMPILER = $(SHELL)
AM_TESTS_ENVIRONMENT = \
	LC_ALL=C; export LC_ALL; \
	CMOCKA_MESSAGE_OUTPUT=TAP; export CMOCKA_MESSAGE_OUTPUT; \
	NESTC='$(abs_top_builddir)/nestc$(EXEEXT)'; export NESTC; \
	top_srcdir='$(abs_top_srcdir)'; export top_srcdir; \
	top_builddir='$(abs_top_builddir)'; export top_builddir; \
	AWK='$(AWK)'; export AWK;

# One program a module; see HACKING in doc/hacking.md for how to add one.
unit_tests =
prop_tests =
include %D%/programs.mk

if HAVE_CMOCKA
check_PROGRAMS += $(unit_tests) $(prop_tests)
TESTS += $(unit_tests) $(prop_tests)
endif
cmocka_libs = $(nest_libs) $(CMOCKA_LIBS) $(system_libs)

# Replays the corpus; with clang the same file is a libFuzzer target.
check_PROGRAMS += %D%/fuzz/fuzz_parse
%C%_fuzz_fuzz_parse_SOURCES = %D%/fuzz/fuzz_parse.c

tap_scripts = \
	%D%/layers.tap \
	%D%/sources.tap \
	%D%/golden.tap \
	%D%/examples.tap \
	%D%/docs.tap \
	%D%/explain.tap \
	%D%/megatron.tap \
	%D%/corpus.tap \
	%D%/extern.tap \
	%D%/format.tap \
	%D%/graph.tap \
	%D%/large.tap \
	%D%/published.tap \
	%D%/figure.tap \
	%D%/profile.tap \
	%D%/editors.tap \
	%D%/files.tap
TESTS += $(tap_scripts)

EXTRA_DIST += $(tap_scripts) %D%/large_spec.awk %D%/lib.sh %D%/count.sh %D%/valgrind.sh \
	%D%/programs.mk %D%/manifest.py %D%/megatron_rules.py

# Everything the scripts read, so that the tarball tests itself.
dist-hook: dist-tests
.PHONY: dist-tests
dist-tests:
	for directory in tests/golden tests/data tests/fuzz/corpus; do \
		mkdir -p "$(distdir)/$$directory" && \
		cp -R "$(srcdir)/$$directory/." "$(distdir)/$$directory/" || exit 1; \
	done

# make bench: figures, never a pass or a failure.
.PHONY: bench
bench: nestc$(EXEEXT) $(bench_programs)
	top_srcdir="$(top_srcdir)" top_builddir="$(top_builddir)" \
		$(SHELL) $(srcdir)/tests/bench/bench.sh
# Iteration times against the published runs in NESTC_MEASURED_DIR.
.PHONY: bench-fidelity
bench-fidelity: nestc$(EXEEXT) %D%/bench/fidelity_bench$(EXEEXT)
	%D%/bench/fidelity_bench
EXTRA_DIST += %D%/bench/bench.sh
EXTRA_PROGRAMS += $(bench_programs)
CLEANFILES += $(bench_programs)
