/* SPDX-License-Identifier: MIT
 *
 * Bytes that training keeps, sends and moves for every parameter, by precision
 * and optimizer.
 */
#ifndef NEST_COMPILER_TRAINING_H
#define NEST_COMPILER_TRAINING_H

#include <stdbool.h>

#include "compiler/ir.h"

/* All in bytes per parameter. */
struct training {
	double weight, gradient;	/* kept */
	double optimizer;		/* kept: 32-bit copies and states, */
	double matrix;			/*   of a parameter of a matrix, where the optimizer
					 * treats those apart; else 0 */
	double reduce, gather;		/* sent */
	double step;			/* read and written by the step, */
	double matrix_step;		/*   of a matrix, but for its products */
};

struct training training_of(const struct ir_job *job);

/* Whether the optimizer steps matrices whole (Muon), and everything else like Adam. */
bool training_has_matrices(enum ir_optimizer optimizer);

#endif
