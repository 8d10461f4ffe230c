# SPDX-License-Identifier: MIT
#
# The standard library: installed for people to read, and embedded so that the
# bare program works alone.

stdlib_modules = \
	device/a100.nest \
	device/b200.nest \
	device/h100.nest \
	device/h200.nest \
	device/l40s.nest \
	device/mi300x.nest \
	device/tpu.nest \
	device/v100.nest \
	model/gpt.nest \
	model/gpt2.nest \
	model/gpt3.nest \
	model/llama.nest \
	model/llama2.nest \
	model/llama3.nest \
	prelude.nest \
	topology/cloud.nest \
	topology/dgx.nest \
	topology/spine_leaf.nest

explain_pages =

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
dist_stdlibdevice_DATA = %D%/device/a100.nest %D%/device/b200.nest %D%/device/h100.nest %D%/device/h200.nest %D%/device/l40s.nest %D%/device/mi300x.nest %D%/device/tpu.nest %D%/device/v100.nest

stdlibmodeldir = $(pkgdatadir)/stdlib/model
dist_stdlibmodel_DATA = %D%/model/gpt.nest %D%/model/gpt2.nest %D%/model/gpt3.nest %D%/model/llama.nest %D%/model/llama2.nest %D%/model/llama3.nest

stdlibtopologydir = $(pkgdatadir)/stdlib/topology
dist_stdlibtopology_DATA = %D%/topology/cloud.nest %D%/topology/dgx.nest %D%/topology/spine_leaf.nest

schemadir = $(pkgdatadir)/stdlib/schema
dist_schema_DATA = %D%/schema/plan.schema.json
