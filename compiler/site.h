/* SPDX-License-Identifier: MIT
 *
 * Where the stages of a plan are: stretches of the pipeline on devices that are
 * alike. Most plans have one site; on a cluster of several kinds one for each kind
 * they use. Outputs go through the sites, and need not know of kinds.
 */
#ifndef NEST_COMPILER_SITE_H
#define NEST_COMPILER_SITE_H

#include <stdint.h>

#include "compiler/ir.h"
#include "lang/base/text.h"
#include "solver/plan.h"

struct site {
	const struct ir *ir;		/* the job on these devices alone */
	const struct problem *problem;	/* likewise */
	const struct ir_kind *kind;	/* NULL: all devices of the cluster are alike,
					 * or count as the slowest */
	uint32_t first, ranks;		/* of the pipeline */
	struct plan plan;		/* with the placement of this site and no segments;
					 * a pipeline rank counts from `first` there */
};

struct sites {
	struct site at[KIND_MAX];
	uint32_t count;
};

struct sites plan_sites(const struct ir *ir, const struct problem *problem,
			const struct plan *plan);

/* The site of a stage. */
const struct site *site_of_stage(const struct sites *sites, uint32_t stage);

/* Devices of the whole cluster. */
uint32_t cluster_devices(const struct ir_topology *topology);

/* "128 x h100_sxm + 64 x a100_sxm_80". */
void cluster_describe(const struct ir_topology *topology, struct text *out);

/* "16 of 16 h100_node, 3 of 8 a100_node" that a plan uses, fully or in part. */
void sites_describe(const struct sites *sites, struct text *out);

/* The peak rate of the devices used, in the mean; where all count as the slowest, of
 * those of the cluster. */
double sites_peak_flops(const struct sites *sites);

/* The number of the innermost group of devices, such as a node, in the cluster. */
uint32_t cluster_node(const struct ir_topology *topology, uint32_t device);

#endif
