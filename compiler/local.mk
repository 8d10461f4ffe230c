# SPDX-License-Identifier: MIT

# Everything but main, so that tests can link it.
noinst_LIBRARIES += %D%/libcompiler.a
%C%_libcompiler_a_SOURCES = \
	%D%/cli.c \
	%D%/cli.h \
	%D%/cmd_check.c \
	%D%/cmd_compare.c \
	%D%/cmd_compile.c \
	%D%/cmd_doc.c \
	%D%/cmd_eval.c \
	%D%/cmd_explain.c \
	%D%/cmd_fmt.c \
	%D%/cmd_list.c \
	%D%/cmd_params.c \
	%D%/cmd_solve.c \
	%D%/cmd_test.c \
	%D%/commands.def \
	%D%/depfile.c \
	%D%/depfile.h \
	%D%/describe.c \
	%D%/describe.h \
	%D%/device_fields.def \
	%D%/digest.c \
	%D%/digest.h \
	%D%/emit.c \
	%D%/emit.h \
	%D%/emit_manifest.c \
	%D%/emit_megatron.c \
	%D%/emit_profile.c \
	%D%/emit_solver_input.c \
	%D%/emit_summary.c \
	%D%/emitters.def \
	%D%/explain_page.c \
	%D%/explain_page.h \
	%D%/explain_plan.c \
	%D%/explain_plan.h \
	%D%/flops.c \
	%D%/flops.h \
	%D%/hand_plan.c \
	%D%/hand_plan.h \
	%D%/infeasible.c \
	%D%/infeasible.h \
	%D%/ir.c \
	%D%/ir.h \
	%D%/ir_print.c \
	%D%/ir_verify.c \
	%D%/json_file.c \
	%D%/json_file.h \
	%D%/json_print.c \
	%D%/json_print.h \
	%D%/layout.c \
	%D%/layout.h \
	%D%/layout_collectives.c \
	%D%/layout_cost.c \
	%D%/layout_legal.c \
	%D%/layout_redone.c \
	%D%/layout_saved.c \
	%D%/layout_walk.h \
	%D%/library.c \
	%D%/library.h \
	%D%/lower.c \
	%D%/lower.h \
	%D%/lower_attention.c \
	%D%/lower_build.c \
	%D%/lower_call.c \
	%D%/lower_experts.c \
	%D%/lower_extent.c \
	%D%/lower_graph.c \
	%D%/lower_job.c \
	%D%/lower_kinds.c \
	%D%/lower_level.c \
	%D%/lower_model.c \
	%D%/lower_objective.c \
	%D%/lower_operator.c \
	%D%/lower_operator.h \
	%D%/lower_place.c \
	%D%/lower_plan.c \
	%D%/lower_predicate.c \
	%D%/lower_profile.c \
	%D%/lower_recompute.c \
	%D%/lower_requirement.c \
	%D%/lower_split.c \
	%D%/lower_template.c \
	%D%/lower_topology.c \
	%D%/megatron_flags.def \
	%D%/megatron_match.c \
	%D%/megatron_match.h \
	%D%/megatron_model.c \
	%D%/megatron_model.h \
	%D%/native.c \
	%D%/native.h \
	%D%/operator_time.c \
	%D%/operator_time.h \
	%D%/operators.def \
	%D%/options.def \
	%D%/output.c \
	%D%/output.h \
	%D%/performance.c \
	%D%/performance.h \
	%D%/pipeline.c \
	%D%/pipeline.h \
	%D%/place_part.c \
	%D%/place_part.h \
	%D%/plan_value.c \
	%D%/plan_value.h \
	%D%/plan_verify.c \
	%D%/plan_verify.h \
	%D%/print_problem.c \
	%D%/print_problem.h \
	%D%/problem_build.h \
	%D%/problem_costs.c \
	%D%/problem_from_ir.c \
	%D%/problem_from_ir.h \
	%D%/problem_profile.c \
	%D%/problem_shapes.c \
	%D%/profile.c \
	%D%/profile.h \
	%D%/progress.c \
	%D%/progress.h \
	%D%/published_json.c \
	%D%/published_json.h \
	%D%/published_write.c \
	%D%/ranks.c \
	%D%/ranks.h \
	%D%/recompute_module.c \
	%D%/recompute_module.h \
	%D%/recompute_modules.def \
	%D%/target.h \
	%D%/target_megatron.c \
	%D%/text_diff.c \
	%D%/text_diff.h \
	%D%/value_show.c \
	%D%/value_show.h \
	%D%/variable.c \
	%D%/variable.h

bin_PROGRAMS += nestc
nestc_SOURCES = %D%/main.c
nest_libs = compiler/libcompiler.a solver/libsolver.a stdlib/libstdlib.a \
	lang/liblang.a stdlib/libstdlib.a
system_libs = $(JANSSON_LIBS) $(NETTLE_LIBS) $(FFI_LIBS)
LDADD = $(nest_libs) $(system_libs)

man_MANS += %D%/nestc.1
