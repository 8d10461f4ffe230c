/* SPDX-License-Identifier: MIT
 *
 * The published NEST solver's JSON problem file (its `dp_input`), read into a
 * struct published_problem, and answers written in the form of its output.
 */
#ifndef NEST_COMPILER_PUBLISHED_JSON_H
#define NEST_COMPILER_PUBLISHED_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/text.h"
#include "solver/published.h"

struct compilation;

/* One of the file's `baselines`: degrees chosen by another method. */
struct published_baseline {
	const char *name;
	uint32_t pipeline, tensor, data;
	uint32_t blocks;	/* num_transformer_layers; 0 when absent */
};

struct published_file {
	struct published_problem problem;
	int64_t *node_id;	/* original id of each position */
	struct published_baseline *baseline;
	uint32_t baseline_count;
};

/* Reads and checks a file; false after reported errors. Everything lives in
 * the compilation's arena. */
bool published_read(struct compilation *compilation, const char *path,
		    struct published_file *file);

/* Writes the answer: finalTimePerBatch, degrees, stages, networkSkeleton and
 * baselineResults as the published solver does, `certificate`, and `zeroStage` where
 * weights or what belongs to them are sharded over the replicas. Baselines
 * are given their best cut and are priced like the plan. */
void published_write(const struct published_file *file,
		     enum published_objective objective,
		     const struct published_plan *plan, struct arena *arena,
		     struct text *out);

#endif
