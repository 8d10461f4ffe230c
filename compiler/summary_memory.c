/* SPDX-License-Identifier: MIT
 *
 * The summary's stages: which layers each holds, what memory that takes, and how
 * close that is to the limit.
 */
#include "compiler/emit_summary.h"

#include <stdio.h>
#include <string.h>

#include "compiler/describe.h"
#include "lang/compilation.h"

#define GIB (1024.0 * 1024 * 1024)

/* "embedding + 20", "19 + lm_head": what a stage holds. */
static void print_contents(struct summary *summary, uint32_t stage,
			   struct text *out)
{
	const struct ir_model *model = &summary->input->ir->model;
	const struct plan *plan = summary->plan;
	bool first = true, layers_named = false;

	for (uint32_t i = stage; i < plan->chunk_count;
	     i += plan->choice.pipeline) {
		uint32_t position = 0;

		for (uint32_t j = 0; j < model->run_count; j++) {
			const struct ir_class *class =
				&model->class[model->run[j].class_index];
			uint32_t end = position + model->run[j].count;
			bool held = position < plan->chunk_first[i + 1] &&
				    end > plan->chunk_first[i];

			position = end;
			if (!held || (class->is_block && layers_named))
				continue;
			text_append(out, first ? "" : " + ");
			first = false;
			if (class->is_block)
				text_printf(out, "%u", plan->stage[stage].layers);
			else
				text_append(out, class->name);
			layers_named |= class->is_block;
		}
	}
}

static const char *memory_row(struct summary *summary, uint32_t stage)
{
	const struct stage_memory *memory = &summary->plan->stage[stage].memory;
	struct text row;

	text_init(&row, &summary->input->compilation->arena);
	text_printf(&row, "%7.1f %10.1f %10.1f %12.1f %6.1f %6.1f  ",
		    memory->parameters / GIB, memory->gradients / GIB,
		    memory->optimizer / GIB, memory->activations / GIB,
		    (memory->working + memory->reserve) / GIB,
		    memory->total / GIB);
	if (summary->plan->choice.pipeline == 1)
		text_append(&row, "everything");
	else
		print_contents(summary, stage, &row);
	return row.at;
}

/* One row a stage; neighbours that look the same share one. */
static void print_stages(struct summary *summary, const struct site *site)
{
	uint32_t end = site->first + site->ranks, first = site->first;
	struct text *out = summary->out;

	while (first < end) {
		const char *row = memory_row(summary, first);
		uint32_t last = first;
		char label[24];

		while (last + 1 < end &&
		       strcmp(memory_row(summary, last + 1), row) == 0)
			last++;
		if (last > first)
			snprintf(label, sizeof(label), "%u-%u", first, last);
		else
			snprintf(label, sizeof(label), "%u", first);
		text_printf(out, "  %-6s %s\n", label, row);
		first = last + 1;
	}
}

/* Estimates are not that good: a plan with less of a device left over may not fit. */
#define TIGHT 0.02

/* Says so of the fullest stage, and how to ask for more room. */
static void print_tight(struct summary *summary)
{
	double least = TIGHT;
	uint32_t fullest = 0;

	for (uint32_t i = 0; i < summary->sites.count; i++) {
		const struct site *site = &summary->sites.at[i];
		double bytes = site->ir->topology.device.memory_bytes;

		for (uint32_t j = site->first; j < site->first + site->ranks; j++) {
			double left = 1 - summary->plan->stage[j].memory.total / bytes;

			if (left >= least)
				continue;
			least = left;
			fullest = j;
		}
	}
	if (least < TIGHT)
		text_printf(summary->out, "  stage %u leaves %.1f %% of its device free: "
					  "'memory <= 95%% * device.memory' in 'require' asks for more\n",
			    fullest, 100 * least);
}

void summary_memory(struct summary *summary)
{
	struct text *out = summary->out;

	for (uint32_t i = 0; i < summary->sites.count; i++) {
		const struct site *site = &summary->sites.at[i];
		const struct ir *ir = site->ir;

		text_append(out, "\nMemory per device");
		if (site->kind)
			text_printf(out, " of %s", site->kind->name);
		if (site->kind && strcmp(site->kind->name, ir->topology.device.name))
			text_printf(out, " (%s)", ir->topology.device.name);
		text_printf(out, " in GiB, limit %.1f of %.1f\n",
			    ir->job.memory_limit_bytes / GIB,
			    ir->topology.device.memory_bytes / GIB);
		text_printf(out, "  %-6s %7s %10s %10s %12s %6s %6s  %s\n", "stage",
			    "weights", "gradients", "optimizer", "activations",
			    "other", "total", "layers");
		print_stages(summary, site);
	}
	print_tight(summary);
}
