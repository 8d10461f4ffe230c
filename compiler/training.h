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
	double apart;			/*   of a parameter whose states are of another kind
					 * (apart.h); 0 if none are */
	double reduce, gather;		/* sent */
	double step;			/* read and written by the step, */
	double apart_step;		/*   of such a parameter, products aside */
};

struct training training_of(const struct ir_job *job);

/* Whether some weights have states of another kind than most, and whether the step
 * needs these weights whole. */
bool training_states_apart(enum ir_optimizer optimizer);
bool training_needs_whole(enum ir_optimizer optimizer);

/* Bytes of a parameter around the products of a Newton-Schulz iteration: the 32-bit
 * update is read for its norm, read and written in 16 bits, and what comes out is
 * read. */
enum { TRAINING_ORTHOGONALISE_BYTES = 4 + 4 + 2 + 2 };

#endif
