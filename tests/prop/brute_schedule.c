/* SPDX-License-Identifier: MIT
 *
 * The oracle: schedules, by letting every device run whatever it can.
 */
#include "tests/prop/brute_parts.h"

#include <math.h>

#define OPERATION_MAX (2 * BRUTE_BATCH_MAX * BRUTE_STAGE_MAX)

static struct brute_operation nth(uint32_t p, uint32_t v, uint32_t q,
				  bool backward)
{
	struct brute_operation operation = { .backward = backward };

	if (v == 1) {
		operation.micro_batch = q;
		return operation;
	}
	operation.micro_batch = q / (p * v) * p + q % p;
	operation.chunk = q % (p * v) / p;
	if (backward)
		operation.chunk = v - 1 - operation.chunk;
	return operation;
}

uint32_t brute_order(struct brute_pipeline pipeline, uint32_t k,
		     struct brute_operation *operation)
{
	uint32_t p = pipeline.stages, v = pipeline.chunks;
	uint32_t m = pipeline.micro_batches;
	uint32_t warm, forward = 0, backward = 0, count = 0;

	if (pipeline.gpipe)
		warm = m * v;
	else if (v == 1)
		warm = brute_smaller(p - 1 - k, m);
	else
		warm = brute_smaller(2 * (p - 1 - k) + (v - 1) * p, m * v);
	while (forward < warm)
		operation[count++] = nth(p, v, forward++, false);
	while (forward < m * v) {
		operation[count++] = nth(p, v, forward++, false);
		operation[count++] = nth(p, v, backward++, true);
	}
	while (backward < m * v)
		operation[count++] = nth(p, v, backward++, true);
	return count;
}

/* Sweeps over the devices, each running whatever it can, until all is done. */
double brute_schedule(struct brute_pipeline pipeline, const double *forward_s,
		      const double *backward_s, const double *transfer_s,
		      double *finish_s)
{
	static struct brute_operation order[BRUTE_STAGE_MAX][OPERATION_MAX];
	static double end[2][BRUTE_STAGE_MAX][BRUTE_BATCH_MAX];
	uint32_t p = pipeline.stages, v = pipeline.chunks;
	uint32_t m = pipeline.micro_batches;
	uint32_t next[BRUTE_STAGE_MAX] = { 0 }, last = p * v - 1;
	bool moved = true;
	double latest = 0;

	for (uint32_t k = 0; k < p; k++) {
		brute_order(pipeline, k, order[k]);
		finish_s[k] = 0;
	}
	for (uint32_t c = 0; c <= last; c++)
		for (uint32_t i = 0; i < m; i++)
			end[0][c][i] = end[1][c][i] = -1;
	while (moved) {
		moved = false;
		for (uint32_t k = 0; k < p; k++) {
			while (next[k] < 2 * m * v) {
				struct brute_operation o = order[k][next[k]];
				uint32_t c = o.chunk * p + k, i = o.micro_batch;
				double start = finish_s[k];

				if (o.backward) {
					if (end[0][c][i] < 0 ||
					    (c < last && end[1][c + 1][i] < 0))
						break;
					start = fmax(start, end[0][c][i]);
					if (c < last)
						start = fmax(start,
							end[1][c + 1][i] +
							transfer_s[c]);
					finish_s[k] = start + backward_s[c];
				} else {
					if (c > 0 && end[0][c - 1][i] < 0)
						break;
					if (c > 0)
						start = fmax(start,
							end[0][c - 1][i] +
							transfer_s[c - 1]);
					finish_s[k] = start + forward_s[c];
				}
				end[o.backward][c][i] = finish_s[k];
				next[k]++;
				moved = true;
			}
		}
	}
	for (uint32_t k = 0; k < p; k++) {
		if (next[k] < 2 * m * v)
			return -1;
		latest = fmax(latest, finish_s[k]);
	}
	return latest;
}

double brute_activations(struct brute_pipeline pipeline, uint32_t k,
			 const double *saved_bytes)
{
	static struct brute_operation order[OPERATION_MAX];
	uint32_t count = brute_order(pipeline, k, order);
	double now = 0, peak = 0;

	for (uint32_t q = 0; q < count; q++) {
		if (order[q].backward)
			now -= saved_bytes[order[q].chunk];
		else
			now += saved_bytes[order[q].chunk];
		peak = fmax(peak, now);
	}
	return peak;
}
