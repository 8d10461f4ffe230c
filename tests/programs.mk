# SPDX-License-Identifier: MIT
#
# The cmocka and bench programs: one file each, and the libraries of what they share.

EXTRA_DIST += \
	%D%/unit/diags_look.h \
	%D%/unit/fixture.h \
	%D%/unit/ir_build.h \
	%D%/unit/lang_run.h \
	%D%/unit/lower_spec.h

unit_tests += %D%/unit/arena_test
%C%_unit_arena_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/attempt_test
%C%_unit_attempt_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/bound_test
%C%_unit_bound_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/cli_test
%C%_unit_cli_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/closed_form_test
%C%_unit_closed_form_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/deal_test
%C%_unit_deal_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/describe_test
%C%_unit_describe_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/devices_test
%C%_unit_devices_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/diag_test
%C%_unit_diag_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/eval_test
%C%_unit_eval_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/exchange_test
%C%_unit_exchange_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/extent_test
%C%_unit_extent_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/feasible_test
%C%_unit_feasible_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/format_test
%C%_unit_format_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/graph_pattern_test
%C%_unit_graph_pattern_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/graph_test
%C%_unit_graph_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/intern_test
%C%_unit_intern_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/layout_test
%C%_unit_layout_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/level_kinds_test
%C%_unit_level_kinds_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/linear_test
%C%_unit_linear_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/lower_test
%C%_unit_lower_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/matrices_test
%C%_unit_matrices_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/memo_test
%C%_unit_memo_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/mixed_test
%C%_unit_mixed_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/module_test
%C%_unit_module_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/network_test
%C%_unit_network_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/operator_time_test
%C%_unit_operator_time_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/output_test
%C%_unit_output_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/parse_test
%C%_unit_parse_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/plan_verify_test
%C%_unit_plan_verify_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/predicate_test
%C%_unit_predicate_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/price_test
%C%_unit_price_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/problem_test
%C%_unit_problem_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/progress_test
%C%_unit_progress_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/published_test
%C%_unit_published_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/recompute_test
%C%_unit_recompute_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/requirement_test
%C%_unit_requirement_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/schedule_test
%C%_unit_schedule_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/scope_test
%C%_unit_scope_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/search_test
%C%_unit_search_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/source_test
%C%_unit_source_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/stages_test
%C%_unit_stages_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/text_test
%C%_unit_text_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/topology_test
%C%_unit_topology_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/unit_test
%C%_unit_unit_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/usual_order_test
%C%_unit_usual_order_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/value_test
%C%_unit_value_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/why_not_test
%C%_unit_why_not_test_LDADD = $(cmocka_libs)
unit_tests += %D%/unit/zero_test
%C%_unit_zero_test_LDADD = $(cmocka_libs)

if HAVE_CMOCKA
check_LIBRARIES = %D%/prop/libprop.a
endif
%C%_prop_libprop_a_SOURCES = \
	%D%/prop/brute.c \
	%D%/prop/brute.h \
	%D%/prop/brute_devices.c \
	%D%/prop/brute_group.c \
	%D%/prop/brute_judge.c \
	%D%/prop/brute_linear.c \
	%D%/prop/brute_network.c \
	%D%/prop/brute_parts.h \
	%D%/prop/brute_price.c \
	%D%/prop/brute_schedule.c \
	%D%/prop/census.c \
	%D%/prop/census.def \
	%D%/prop/census.h \
	%D%/prop/errors.c \
	%D%/prop/errors.h \
	%D%/prop/flow.c \
	%D%/prop/flow.h \
	%D%/prop/random.c \
	%D%/prop/random.h \
	%D%/prop/random_chain.c \
	%D%/prop/random_derive.c \
	%D%/prop/random_graph.c \
	%D%/prop/random_graph.h \
	%D%/prop/random_job.c \
	%D%/prop/random_network.c \
	%D%/prop/random_parts.h \
	%D%/prop/random_print.c \
	%D%/prop/random_problem.c \
	%D%/prop/random_problem.h \
	%D%/prop/random_program.c \
	%D%/prop/random_spec.c \
	%D%/prop/random_spec.h \
	%D%/prop/trial.c \
	%D%/prop/trial.h

prop_tests += %D%/prop/bound_prop
%C%_prop_bound_prop_LDADD = %D%/prop/libprop.a $(cmocka_libs)
prop_tests += %D%/prop/checker_prop
%C%_prop_checker_prop_LDADD = %D%/prop/libprop.a $(cmocka_libs)
prop_tests += %D%/prop/format_prop
%C%_prop_format_prop_LDADD = %D%/prop/libprop.a $(cmocka_libs)
prop_tests += %D%/prop/graph_plan_prop
%C%_prop_graph_plan_prop_LDADD = %D%/prop/libprop.a $(cmocka_libs)
prop_tests += %D%/prop/graph_prop
%C%_prop_graph_prop_LDADD = %D%/prop/libprop.a $(cmocka_libs)
prop_tests += %D%/prop/limit_prop
%C%_prop_limit_prop_LDADD = %D%/prop/libprop.a $(cmocka_libs)
prop_tests += %D%/prop/linear_prop
%C%_prop_linear_prop_LDADD = %D%/prop/libprop.a $(cmocka_libs)
prop_tests += %D%/prop/mixed_prop
%C%_prop_mixed_prop_LDADD = %D%/prop/libprop.a $(cmocka_libs)
prop_tests += %D%/prop/network_prop
%C%_prop_network_prop_LDADD = %D%/prop/libprop.a $(cmocka_libs)
prop_tests += %D%/prop/part_prop
%C%_prop_part_prop_LDADD = %D%/prop/libprop.a $(cmocka_libs)
prop_tests += %D%/prop/range_prop
%C%_prop_range_prop_LDADD = %D%/prop/libprop.a $(cmocka_libs)
prop_tests += %D%/prop/solver_prop
%C%_prop_solver_prop_LDADD = %D%/prop/libprop.a $(cmocka_libs)
prop_tests += %D%/prop/strategy_prop
%C%_prop_strategy_prop_LDADD = %D%/prop/libprop.a $(cmocka_libs)
prop_tests += %D%/prop/threads_prop
%C%_prop_threads_prop_LDADD = %D%/prop/libprop.a $(cmocka_libs)

EXTRA_LIBRARIES = %D%/bench/libbench.a
CLEANFILES += %D%/bench/libbench.a
%C%_bench_libbench_a_SOURCES = \
	%D%/bench/synthetic.c \
	%D%/bench/synthetic.h \
	%D%/bench/table.c \
	%D%/bench/table.h

bench_programs =
bench_programs += %D%/bench/command_bench
%C%_bench_command_bench_LDADD = %D%/bench/libbench.a $(LDADD)
bench_programs += %D%/bench/fidelity_bench
%C%_bench_fidelity_bench_LDADD = %D%/bench/libbench.a $(LDADD)
bench_programs += %D%/bench/network_bench
%C%_bench_network_bench_LDADD = %D%/bench/libbench.a $(LDADD)
bench_programs += %D%/bench/operator_bench
%C%_bench_operator_bench_LDADD = %D%/bench/libbench.a $(LDADD)
bench_programs += %D%/bench/published_bench
%C%_bench_published_bench_LDADD = %D%/bench/libbench.a $(LDADD)
bench_programs += %D%/bench/scale_bench
%C%_bench_scale_bench_LDADD = %D%/bench/libbench.a $(LDADD)
bench_programs += %D%/bench/solver_bench
%C%_bench_solver_bench_LDADD = %D%/bench/libbench.a $(LDADD)
