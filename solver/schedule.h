/* SPDX-License-Identifier: MIT
 *
 * Pipeline schedules, simulated exactly.
 *
 * A device runs its operations one at a time in a fixed order and starts each
 * as soon as the one before it is done and its input has arrived. Chunk c
 * (0 .. p v - 1) lives on device c mod p. Forward of chunk c and micro-batch i
 * waits for forward of chunk c - 1 plus the transfer; backward of chunk c for
 * backward of chunk c + 1 plus the transfer, and for its own forward. A
 * transfer delays its receiver and occupies no device.
 *
 * Orders (m micro-batches, p devices, v chunks each, device k):
 *	1F1B (v = 1): w = min(p - 1 - k, m) forwards, then forward and backward
 *	in turn, then the w backwards that are left.
 *	GPipe (v = 1): the m forwards, then the m backwards, micro-batches in the
 *	same order (backwards in reverse take as long: all of the last device's forwards
 *	come before any backward). Device k ends at
 *	  sum over all j of f_j + x_j, + (m - 1) max over all j of f_j
 *	  + sum over j >= k of b_j + x_j, + (m - 1) max over j >= k of b_j,
 *	with f, b forward and backward of a stage, x the transfer after it (the last
 *	one has none): a flow shop of equal jobs.
 *	Interleaved (v > 1, m a multiple of p): w = min(2 (p - 1 - k) + (v - 1) p,
 *	m v) forwards first. The q-th forward is micro-batch (q / (p v)) p + q mod p of
 *	the device's chunk (q mod (p v)) / p; the q-th backward the same with the
 *	device's chunks counted from the last.
 * Sources: Huang et al. 2019, "GPipe: Efficient Training of Giant Neural Networks
 * using Pipeline Parallelism", section 2.3; Narayanan et al. 2021, "Efficient
 * Large-Scale Language Model Training on GPU Clusters Using Megatron-LM", section
 * 2.2; the order of operations is that of Megatron-LM's
 * forward_backward_pipelining_with_interleaving.
 */
#ifndef NEST_SOLVER_SCHEDULE_H
#define NEST_SOLVER_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/arena.h"
#include "solver/plan.h"

/* What decides the order of operations. */
struct schedule_shape {
	enum schedule kind;		/* interleaved where v > 1, whatever this says */
	uint32_t pipeline;		/* p */
	uint32_t virtual_stages;	/* v */
	uint32_t micro_batches;		/* m */
};

static inline struct schedule_shape schedule_of(const struct choice *choice)
{
	return (struct schedule_shape){
		.kind = choice->schedule,
		.pipeline = choice->pipeline,
		.virtual_stages = choice->virtual_stages,
		.micro_batches = choice->micro_batches,
	};
}

struct schedule_input {
	struct schedule_shape shape;
	const double *forward_s;	/* p v chunks */
	const double *backward_s;	/* p v chunks */
	const double *transfer_s;	/* p v - 1 boundaries */
};

/* Fills finish_s[p], the end of every device's last operation, and returns the
 * largest. Scratch memory comes from the arena and is given back. */
double schedule_simulate(const struct schedule_input *input,
			 struct arena *scratch, double *finish_s);

/* The operations of one device in order, for memory and for reports:
 * operation q is forward or backward of a micro-batch through one of its
 * chunks (0 .. v - 1). Returns how many there are (2 m v). */
struct schedule_operation {
	uint32_t micro_batch;
	uint32_t chunk;			/* of this device: 0 .. v - 1 */
	bool backward;
};
uint32_t schedule_order(const struct schedule_shape *shape, uint32_t device,
			struct schedule_operation *operation);

/* Peak bytes of saved activations on a device, given what each of its chunks
 * keeps per micro-batch: a forward adds them, the backward frees them. */
double schedule_peak_bytes(const struct schedule_shape *shape, uint32_t device,
			   const double *saved_bytes /* v */);

/* The most chunks of micro-batches that a device keeps at once. */
uint32_t schedule_most_kept(const struct schedule_shape *shape, uint32_t device);

/* A number of micro-batches that a device keeps, at some moment, through every
 * one of its chunks at once: its peak is at least that times what all its
 * chunks save together (exactly that where v = 1). */
uint32_t schedule_least_kept(const struct schedule_shape *shape,
			     uint32_t device);

/* And how many more chunks of micro-batches it keeps at that moment, the first
 * chunk of device 0 and the last of the last left out: what is saved by one layer
 * of each chunk is kept that many times more. */
uint32_t schedule_more_kept(const struct schedule_shape *shape, uint32_t device);

/* Micro-batches that a device keeps through each of its chunks when its first
 * backward is about to begin: full + p through those of the first `row` rows, full +
 * part through that of row `row`, full through the others. */
struct schedule_kept {
	uint32_t pipeline, full, row, part;
};
struct schedule_kept schedule_first_kept(const struct schedule_shape *shape,
					 uint32_t device);

static inline uint32_t schedule_kept_in(const struct schedule_kept *kept,
					uint32_t row)
{
	return kept->full + (row < kept->row ? kept->pipeline :
			     row == kept->row ? kept->part : 0);
}

/* Interleaved: chunks of micro-batches that the devices keep together, each when its
 * first backward is about to begin, but for those of the first chunk of the chain and
 * the last, and for what is kept ahead. In closed form: see the test for the sum. */
double schedule_inner_kept(const struct schedule_shape *shape);

#endif
