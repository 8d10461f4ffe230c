/* SPDX-License-Identifier: MIT
 *
 * The constants of training.
 */
#include "compiler/training.h"

/* Of a precision, the optimizer's own states aside. */
struct kept {
	double weight, gradient, copies;
	double reduce, gather;
	double step;
};

/* Kept: the table of Megatron-LM's documentation of its distributed optimizer
 * (docs/source/api-guide/dist_optimizer.md), with Adam's 8: bf16 with 32-bit gradients
 * 18 = 2 + 4 + 12, sharded 6 + 12/d; fp16 20 = 2 + 2 + 16, sharded 4 + 16/d; fp32 16 =
 * 4 + 4 + 8, sharded 8 + 8/d. fp8 is bf16 with an 8-bit copy of the weight and its
 * transpose (Transformer Engine without 8-bit primary weights).
 * Sent: gradients as they are accumulated, weights as they are used.
 * Step: the gradient once for its norm and once for the update, the 32-bit weight
 * read and written, the 16-bit one written; fp16 first unscales to 32 bits. States are
 * read and written besides. */
static const struct kept kept_table[IR_PRECISION_COUNT] = {
	[IR_BF16] = { 2, 4, 4, 4, 2, 4 + 4 + 8 + 2 },
	[IR_FP16] = { 2, 2, 8, 2, 2, 6 + 4 + 4 + 8 + 2 },
	[IR_FP32] = { 4, 4, 0, 4, 4, 4 + 4 + 8 },
	[IR_FP8] = { 4, 4, 4, 4, 2, 4 + 4 + 8 + 2 },
};

/* Bytes of states per parameter. Adam: two moments. SGD: none, or its momentum.
 * Adafactor without momentum: a second moment per row and per column, which is
 * neglected (Shazeer and Stern 2018, "Adafactor", section 3: n + m numbers for n x
 * m weights). 8-bit Adam: two moments of a byte, each with a 32-bit scale per 256
 * (Dettmers et al. 2022, "8-bit Optimizers via Block-wise Quantization"; blocks
 * as in bitsandbytes), and Adam's of embeddings. Muon: of a matrix a momentum, of
 * anything else Adam's
 * (Jordan et al. 2024, kellerjordan.github.io/posts/muon; Liu et al. 2025, "Muon is
 * Scalable for LLM Training", arXiv 2502.16982, section 2.3). */
static const struct {
	double most, apart;
	bool has_apart, whole;
} states_table[IR_OPTIMIZER_COUNT] = {
	[IR_ADAM] = { .most = 4 + 4 },
	[IR_SGD] = { .most = 0 },
	[IR_SGD_MOMENTUM] = { .most = 4 },
	[IR_ADAFACTOR] = { .most = 0 },
	[IR_ADAM_8BIT] = { .most = 4 + 4, .apart = 2 * (1 + 4.0 / 256),
			   .has_apart = true },
	[IR_MUON] = { .most = 4 + 4, .apart = 4, .has_apart = true,
		      .whole = true },
};

bool training_states_apart(enum ir_optimizer optimizer)
{
	return states_table[optimizer].has_apart;
}

bool training_needs_whole(enum ir_optimizer optimizer)
{
	return states_table[optimizer].whole;
}

struct training training_of(const struct ir_job *job)
{
	const struct kept *kept = &kept_table[job->precision];
	double most = states_table[job->optimizer].most;
	double apart = states_table[job->optimizer].apart;
	struct training training = {
		.weight = kept->weight,
		.gradient = kept->gradient,
		.optimizer = kept->copies + most,
		.reduce = kept->reduce,
		.gather = kept->gather,
		.step = kept->step + 2 * most,
	};

	if (!training_states_apart(job->optimizer))
		return training;
	training.apart = kept->copies + apart;
	training.apart_step = kept->step + 2 * apart +
			      (training_needs_whole(job->optimizer) ?
				       TRAINING_ORTHOGONALISE_BYTES : 0);
	return training;
}
