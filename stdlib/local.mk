# SPDX-License-Identifier: MIT
#
# The standard library: installed for people to read, and embedded so that the
# bare program works alone.

stdlib_modules = \
	device/a100.nest \
	device/a800.nest \
	device/b200.nest \
	device/h100.nest \
	device/h20.nest \
	device/h200.nest \
	device/h800.nest \
	device/l40s.nest \
	device/mi250x.nest \
	device/mi300x.nest \
	device/tpu.nest \
	device/trainium.nest \
	device/v100.nest \
	model/bert.nest \
	model/deepseek.nest \
	model/gemma.nest \
	model/gpt.nest \
	model/gpt2.nest \
	model/gpt3.nest \
	model/kimi.nest \
	model/llama.nest \
	model/llama2.nest \
	model/llama3.nest \
	model/mistral.nest \
	model/mixtral.nest \
	model/moe.nest \
	model/qwen2.nest \
	model/qwen3.nest \
	prelude.nest \
	topology/cloud.nest \
	topology/dgx.nest \
	topology/dragonfly.nest \
	topology/fat_tree.nest \
	topology/mi300.nest \
	topology/spine_leaf.nest \
	topology/tpu.nest

explain_pages = \
	E0101.md \
	E0102.md \
	E0103.md \
	E0104.md \
	E0105.md \
	E0106.md \
	E0107.md \
	E0108.md \
	E0109.md \
	E0110.md \
	E0201.md \
	E0202.md \
	E0203.md \
	E0204.md \
	E0205.md \
	E0206.md \
	E0207.md \
	E0208.md \
	E0209.md \
	E0210.md \
	E0211.md \
	E0212.md \
	E0213.md \
	E0214.md \
	E0215.md \
	E0216.md \
	E0218.md \
	E0219.md \
	E0220.md \
	E0221.md \
	E0250.md \
	E0251.md \
	E0252.md \
	E0253.md \
	E0254.md \
	E0255.md \
	E0256.md \
	E0257.md \
	E0301.md \
	E0302.md \
	E0303.md \
	E0304.md \
	E0305.md \
	E0306.md \
	E0307.md \
	E0308.md \
	E0309.md \
	E0310.md \
	E0311.md \
	E0312.md \
	E0313.md \
	E0314.md \
	E0315.md \
	E0316.md \
	E0317.md \
	E0318.md \
	E0319.md \
	E0320.md \
	E0390.md \
	E0401.md \
	E0402.md \
	E0410.md \
	E0411.md \
	E0412.md \
	E0413.md \
	E0414.md \
	E0416.md \
	E0420.md \
	E0421.md \
	E0422.md \
	E0423.md \
	E0424.md \
	E0425.md \
	E0426.md \
	E0427.md \
	E0428.md \
	E0429.md \
	E0430.md \
	E0431.md \
	E0501.md \
	E0502.md \
	E0503.md \
	E0504.md \
	E0505.md \
	E0506.md \
	E0507.md \
	E0508.md \
	E0509.md \
	E0510.md \
	E0511.md \
	E0512.md \
	E0520.md \
	E0521.md \
	E0522.md \
	E0523.md \
	E0524.md \
	E0530.md \
	E0540.md \
	E0541.md \
	E0542.md \
	E0543.md \
	E0544.md \
	E0545.md \
	E0546.md \
	E0547.md \
	E0560.md \
	E0601.md \
	E0602.md \
	E0603.md \
	E0604.md \
	E0605.md \
	E0606.md \
	E0607.md \
	E0608.md \
	E0609.md \
	E0610.md \
	E0611.md \
	E0612.md \
	E0620.md \
	E0621.md \
	E0622.md \
	E0623.md \
	E0624.md \
	E0630.md \
	E0640.md \
	E0660.md \
	E0661.md \
	E0662.md \
	E0663.md \
	E0701.md \
	E0702.md \
	E0703.md \
	E0801.md \
	E0802.md \
	E0901.md \
	E0902.md \
	E0903.md \
	E0910.md \
	E0911.md \
	E0912.md

noinst_LIBRARIES += %D%/libstdlib.a
nodist_%C%_libstdlib_a_SOURCES = %D%/embedded.c %D%/explain_pages.c
CLEANFILES += %D%/embedded.c %D%/explain_pages.c
EXTRA_DIST += $(explain_pages:%=lang/explain/%)

%D%/embedded.c: lang/embed.sh $(stdlib_modules:%=%D%/%)
	$(AM_V_GEN)$(MKDIR_P) %D% && \
		$(SHELL) $(srcdir)/lang/embed.sh nest_stdlib $(srcdir)/stdlib $(stdlib_modules) >$@.new && \
		mv $@.new $@
%D%/explain_pages.c: lang/embed.sh $(explain_pages:%=lang/explain/%)
	$(AM_V_GEN)$(MKDIR_P) %D% && \
		$(SHELL) $(srcdir)/lang/embed.sh nest_explain $(srcdir)/lang/explain $(explain_pages) >$@.new && \
		mv $@.new $@

stdlibdir = $(pkgdatadir)/stdlib
dist_stdlib_DATA = %D%/prelude.nest

stdlibdevicedir = $(pkgdatadir)/stdlib/device
dist_stdlibdevice_DATA = %D%/device/a100.nest %D%/device/a800.nest %D%/device/b200.nest %D%/device/h100.nest %D%/device/h20.nest %D%/device/h200.nest %D%/device/h800.nest %D%/device/l40s.nest %D%/device/mi250x.nest %D%/device/mi300x.nest %D%/device/tpu.nest %D%/device/trainium.nest %D%/device/v100.nest

stdlibmodeldir = $(pkgdatadir)/stdlib/model
dist_stdlibmodel_DATA = %D%/model/bert.nest %D%/model/deepseek.nest %D%/model/gemma.nest %D%/model/gpt.nest %D%/model/gpt2.nest %D%/model/gpt3.nest %D%/model/kimi.nest %D%/model/llama.nest %D%/model/llama2.nest %D%/model/llama3.nest %D%/model/mistral.nest %D%/model/mixtral.nest %D%/model/moe.nest %D%/model/qwen2.nest %D%/model/qwen3.nest

stdlibtopologydir = $(pkgdatadir)/stdlib/topology
dist_stdlibtopology_DATA = %D%/topology/cloud.nest %D%/topology/dgx.nest %D%/topology/dragonfly.nest %D%/topology/fat_tree.nest %D%/topology/mi300.nest %D%/topology/spine_leaf.nest %D%/topology/tpu.nest

schemadir = $(pkgdatadir)/stdlib/schema
dist_schema_DATA = %D%/schema/plan.schema.json %D%/schema/profile.schema.json
