/* SPDX-License-Identifier: MIT
 *
 * What a plan achieves: rates and utilisation, from its predicted time.
 */
#ifndef NEST_COMPILER_PERFORMANCE_H
#define NEST_COMPILER_PERFORMANCE_H

#include "compiler/ir.h"
#include "solver/plan.h"

struct performance {
	double tokens;			/* of one iteration */
	double tokens_per_s;
	double model_flops;		/* of one iteration; see compiler/flops.h */
	double executed_flops;		/* with what is recomputed */
	double model_flops_per_s;	/* of one device */
	double mfu, hfu;		/* shares of the peak of the job's precision */
	double dollars, joules;		/* of one iteration; 0 if unknown */
	uint32_t recompute_layers;	/* layers recomputed whole */
};

void plan_performance(const struct ir *ir, const struct problem *problem,
		      const struct plan *plan, struct performance *out);

#endif
