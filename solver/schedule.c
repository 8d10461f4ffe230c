/* SPDX-License-Identifier: MIT
 *
 * Simulation of pipeline schedules in an order in which every operation comes
 * after those it waits for, so that one pass gives all times.
 *
 * Let w_k be the warm-up of device k, uncut by the number of operations.
 *
 * 1F1B: forward i of device k is put into round 2 i + k, backward j into round
 * 2 j + 2 (p - 1) - k, after the forward of that round. In every round a device
 * does at most one of each, j = i - w_k. A forward's input was made one round
 * earlier (2 i + k - 1), a backward's too (2 j + 2 (p - 1) - (k + 1)), and the
 * operation before forward i on device k is backward i - w_k - 1 of round
 * 2 i + k - 2.
 *
 * Interleaved: the q-th forward of device k goes into round q + k, its j-th
 * backward into round j + w_k + k, after the forward of that round, where
 * w_k + k = (v + 1) p - 2 - k. Forward q of device 0 takes what forward q - p of
 * the last device made, in round q - p + p - 1: one round earlier again;
 * backward j of the last device takes backward j - p of the first, made in
 * round j - p + (v + 1) p - 2, one round before j + v p - 1. The forward that
 * a backward needs on its own device is the (j + (v - 1 - 2 c) p)-th, c
 * counted from the last chunk: never after the (j + w_k)-th.
 *
 * So in both what a device needs was made by its neighbour in the round
 * before, and one slot per device and direction holds all values in flight.
 *
 * Once all devices alternate, the state (all slots and clocks) after one
 * period of rounds is a fixed function of the state before it, made of maxima
 * and sums: if one period adds the same amount to every entry, so does every
 * later one, and those can be added at once. Such functions never enlarge the
 * largest difference of two states, so a tolerance of 1e-13 stays one.
 */
#include "solver/schedule.h"
#include "solver/most.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static uint64_t fewer(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* All times are ends. */
struct schedule_state {
	uint32_t pipeline;
	double *clock;		/* of each device's last operation */
	double *forward;	/* newest forward of each device */
	double *backward;
	double *snapshot;	/* an earlier clock, forward, backward */
	uint64_t snapshot_round;
	uint64_t snapshot_gap;	/* rounds until the next snapshot */
};

static void state_init(struct schedule_state *state, struct arena *arena,
		       uint32_t pipeline)
{
	double *all = ARENA_ARRAY(arena, double, 6 * (size_t)pipeline);

	*state = (struct schedule_state){
		.pipeline = pipeline,
		.clock = all,
		.forward = all + pipeline,
		.backward = all + 2 * (size_t)pipeline,
		.snapshot = all + 3 * (size_t)pipeline,
	};
}

static void state_snapshot(struct schedule_state *state, uint64_t round)
{
	memcpy(state->snapshot, state->clock,
	       3 * (size_t)state->pipeline * sizeof(double));
	state->snapshot_gap = state->snapshot_gap ? 2 * state->snapshot_gap : 1;
	state->snapshot_round = round;
}

/* Whether everything moved by the same amount since the snapshot. */
static bool state_repeats(const struct schedule_state *state, double *moved)
{
	double by = state->clock[0] - state->snapshot[0];
	double slack = 1e-13 * by;

	for (size_t i = 1; i < 3 * (size_t)state->pipeline; i++)
		if (fabs(state->clock[i] - state->snapshot[i] - by) > slack)
			return false;
	*moved = by;
	return true;
}

/* Called at the start of a round in which all devices alternate until round
 * `steady_end`, at a multiple of the period. Returns the rounds that could be
 * skipped. */
static uint64_t state_skip(struct schedule_state *state, uint64_t round,
			   uint64_t period, uint64_t steady_end)
{
	uint64_t gone = round - state->snapshot_round;
	double moved;
	uint64_t times;

	if (!state->snapshot_gap) {
		state_snapshot(state, round);
		return 0;
	}
	if (state_repeats(state, &moved)) {
		times = (steady_end - round) / gone;
		for (size_t i = 0; i < 3 * (size_t)state->pipeline; i++)
			state->clock[i] += (double)times * moved;
		return times * gone;
	}
	if (gone >= state->snapshot_gap * period)
		state_snapshot(state, round);
	return 0;
}

static void round_1f1b(const struct schedule_input *input,
		       struct schedule_state *state, uint64_t round)
{
	uint32_t p = input->shape.pipeline, m = input->shape.micro_batches;

	for (uint32_t k = (uint32_t)(round % 2); k < p && k <= round; k += 2) {
		uint64_t i = (round - k) / 2;
		uint64_t j = (round + k) / 2 - (p - 1);	/* may wrap: then >= m */
		double clock = state->clock[k];

		if (i < m) {
			if (k)
				clock = most(clock, state->forward[k - 1] +
							    input->transfer_s[k - 1]);
			clock += input->forward_s[k];
			state->forward[k] = clock;
		}
		if (j < m) {
			if (k + 1 < p)
				clock = most(clock, state->backward[k + 1] +
							    input->transfer_s[k]);
			clock += input->backward_s[k];
			state->backward[k] = clock;
		}
		state->clock[k] = clock;
	}
}

/* Devices beyond the last forward still have backwards to do. */
static void simulate_1f1b(const struct schedule_input *input,
			  struct schedule_state *state)
{
	uint64_t p = input->shape.pipeline, m = input->shape.micro_batches;
	uint64_t rounds = 2 * m + 2 * p - 2;
	uint64_t steady = 2 * p - 2, steady_end = 2 * m;

	for (uint64_t round = 0; round < rounds; round++) {
		if (round >= steady && round < steady_end && round % 2 == 0)
			round += state_skip(state, round, 2, steady_end);
		round_1f1b(input, state, round);
	}
}

/* Forwards of one round. From the last device to the first, so that a slot is
 * read before its device fills it again; `wrapped` is the last one's. */
static void forwards_interleaved(const struct schedule_input *input,
				 struct schedule_state *state, uint64_t round)
{
	uint32_t p = input->shape.pipeline, v = input->shape.virtual_stages;
	uint64_t all = (uint64_t)input->shape.micro_batches * v;
	uint32_t begin = round < p ? (uint32_t)round : p - 1;
	uint32_t end = round < all ? 0 : (uint32_t)fewer(round - all + 1, p);
	uint64_t first = round - begin;		/* index q on device begin */
	uint32_t row = (uint32_t)(first / p % v), column = (uint32_t)(first % p);
	double wrapped = state->forward[p - 1];

	for (uint32_t k = begin + 1; k-- > end;) {
		uint32_t chunk = row * p + k;
		double clock = state->clock[k];

		if (chunk)
			clock = most(clock, (k ? state->forward[k - 1] : wrapped) +
						    input->transfer_s[chunk - 1]);
		clock += input->forward_s[chunk];
		state->clock[k] = state->forward[k] = clock;
		if (++column == p) {
			column = 0;
			row = row + 1 < v ? row + 1 : 0;
		}
	}
}

/* Backwards of one round, from the first device to the last. */
static void backwards_interleaved(const struct schedule_input *input,
				  struct schedule_state *state, uint64_t round)
{
	uint32_t p = input->shape.pipeline, v = input->shape.virtual_stages;
	uint64_t all = (uint64_t)input->shape.micro_batches * v;
	uint64_t lag = ((uint64_t)v + 1) * p - 2;	/* round of backward 0 on device 0 */
	uint64_t begin = round < lag ? lag - round : 0;
	uint64_t end = fewer(all + lag - round, p);
	uint64_t first = round + begin - lag;		/* index j on device begin */
	uint32_t row = v - 1 - (uint32_t)(first / p % v);
	uint32_t column = (uint32_t)(first % p);
	double wrapped = state->backward[0];

	for (uint32_t k = (uint32_t)begin; k < end; k++) {
		uint32_t chunk = row * p + k;
		double clock = state->clock[k];

		if (chunk + 1 < p * v)
			clock = most(clock,
				     (k + 1 < p ? state->backward[k + 1] : wrapped) +
					     input->transfer_s[chunk]);
		clock += input->backward_s[chunk];
		state->clock[k] = state->backward[k] = clock;
		if (++column == p) {
			column = 0;
			row = row ? row - 1 : v - 1;
		}
	}
}

static void simulate_interleaved(const struct schedule_input *input,
				 struct schedule_state *state)
{
	uint64_t p = input->shape.pipeline, v = input->shape.virtual_stages;
	uint64_t all = input->shape.micro_batches * v, period = p * v;
	uint64_t rounds = all + (v + 1) * p - 2;
	uint64_t steady = (v + 1) * p - 2, steady_end = all;

	for (uint64_t round = 0; round < rounds; round++) {
		if (round >= steady && round < steady_end &&
		    (round - steady) % period == 0)
			round += state_skip(state, round, period, steady_end);
		forwards_interleaved(input, state, round);
		if (round + p > steady)
			backwards_interleaved(input, state, round);
	}
}

/* Equal jobs on a line of devices, there and back: the slowest device so far
 * sets the pace. */
static void simulate_gpipe(const struct schedule_input *input, double *finish_s)
{
	uint32_t p = input->shape.pipeline;
	double more = input->shape.micro_batches - 1;
	double clock = 0, slowest = 0;

	for (uint32_t k = 0; k < p; k++) {
		clock += input->forward_s[k] + (k + 1 < p ? input->transfer_s[k] : 0);
		slowest = most(slowest, input->forward_s[k]);
	}
	clock += more * slowest;
	slowest = 0;
	for (uint32_t k = p; k-- > 0;) {
		clock += input->backward_s[k] + (k + 1 < p ? input->transfer_s[k] : 0);
		slowest = most(slowest, input->backward_s[k]);
		finish_s[k] = clock + more * slowest;
	}
}

static bool is_gpipe(const struct schedule_shape *shape)
{
	return shape->virtual_stages == 1 && shape->kind == SCHEDULE_GPIPE;
}

double schedule_simulate(const struct schedule_input *input,
			 struct arena *scratch, double *finish_s)
{
	struct arena_mark mark = arena_mark(scratch);
	struct schedule_state state;
	double last = 0;

	if (is_gpipe(&input->shape)) {
		simulate_gpipe(input, finish_s);
		return finish_s[0];
	}
	state_init(&state, scratch, input->shape.pipeline);
	if (input->shape.virtual_stages > 1)
		simulate_interleaved(input, &state);
	else
		simulate_1f1b(input, &state);
	for (uint32_t k = 0; k < input->shape.pipeline; k++) {
		finish_s[k] = state.clock[k];
		last = most(last, state.clock[k]);
	}
	arena_rewind(scratch, mark);
	return last;
}

static uint64_t forward_count(const struct schedule_shape *shape)
{
	return (uint64_t)shape->micro_batches * shape->virtual_stages;
}

/* Forwards before the first backward, but for the one just before it. */
static uint32_t warm_up(const struct schedule_shape *shape, uint32_t k)
{
	uint32_t p = shape->pipeline, v = shape->virtual_stages;
	uint64_t all = forward_count(shape);
	uint64_t lead = v == 1 ? p - 1 - k :
				 2 * (uint64_t)(p - 1 - k) + (uint64_t)(v - 1) * p;

	return (uint32_t)(is_gpipe(shape) ? all : fewer(lead, all));
}

static struct schedule_operation operation_at(uint32_t p, uint32_t v,
					      uint64_t index, bool backward)
{
	uint64_t group = (uint64_t)p * v;
	uint32_t chunk = v == 1 ? 0 : (uint32_t)(index % group / p);

	return (struct schedule_operation){
		.micro_batch = v == 1 ? (uint32_t)index :
					(uint32_t)(index / group * p + index % p),
		.chunk = backward ? v - 1 - chunk : chunk,
		.backward = backward,
	};
}

uint32_t schedule_order(const struct schedule_shape *shape, uint32_t device,
			struct schedule_operation *operation)
{
	uint32_t p = shape->pipeline, v = shape->virtual_stages;
	uint32_t all = (uint32_t)forward_count(shape);
	uint32_t ahead = warm_up(shape, device), count = 0;

	for (uint32_t i = 0; i < all + ahead; i++) {
		if (i < all)
			operation[count++] = operation_at(p, v, i, false);
		if (i >= ahead)
			operation[count++] = operation_at(p, v, i - ahead, true);
	}
	return count;
}

/* How many of the first `count` forwards are through chunk c of the device. */
static uint64_t forwards_of_chunk(uint32_t p, uint32_t v, uint64_t count,
				  uint32_t c)
{
	uint64_t group = (uint64_t)p * v, rest = count % group;
	uint64_t before = (uint64_t)c * p;
	uint64_t partial = rest > before ? fewer(rest - before, p) : 0;

	return count / group * p + partial;
}

static double bytes_in_flight(uint32_t p, uint32_t v, uint64_t forwards,
			      uint64_t backwards, const double *saved_bytes)
{
	double bytes = 0;

	for (uint32_t c = 0; c < v; c++) {
		uint64_t kept = forwards_of_chunk(p, v, forwards, c) -
				forwards_of_chunk(p, v, backwards, v - 1 - c);

		bytes += (double)kept * saved_bytes[c];
	}
	return bytes;
}

/* After the warm-up every forward is followed by a backward: with w + j + 1
 * forwards and j backwards done the device holds most. What it then holds is,
 * as a function of j, linear between the points where the chunk of the next
 * forward or of the next backward changes, and repeats after p v. So the peak
 * is at one of these points of the first period, or at the last forward. */
double schedule_peak_bytes(const struct schedule_shape *shape, uint32_t device,
			   const double *saved_bytes)
{
	uint32_t p = shape->pipeline, v = shape->virtual_stages;
	uint64_t all = forward_count(shape);
	uint64_t ahead = warm_up(shape, device);
	uint64_t steps;		/* forwards after the warm-up that matter */
	uint64_t to_forward, to_backward = p;
	uint32_t forward, backward = v - 1;	/* chunks of the next operations */
	double peak, bytes;

	if (v == 1)
		return (double)fewer(ahead + 1, all) * saved_bytes[0];
	if (ahead == all)
		return bytes_in_flight(p, v, all, 0, saved_bytes);
	steps = fewer(all - ahead, (uint64_t)p * v + 1);
	forward = (uint32_t)((ahead + 1) / p % v);
	to_forward = p - (ahead + 1) % p;
	peak = bytes = bytes_in_flight(p, v, ahead + 1, 0, saved_bytes);
	for (uint64_t j = 0; j < steps - 1;) {
		uint64_t step = fewer(fewer(to_forward, to_backward), steps - 1 - j);

		bytes += (double)step * (saved_bytes[forward] - saved_bytes[backward]);
		peak = most(peak, bytes);
		j += step;
		to_forward -= step;
		to_backward -= step;
		if (!to_forward) {
			forward = forward + 1 < v ? forward + 1 : 0;
			to_forward = p;
		}
		if (!to_backward) {
			backward = backward ? backward - 1 : v - 1;
			to_backward = p;
		}
	}
	return peak;
}

/* After the warm-up every forward is followed by a backward. */
uint32_t schedule_most_kept(const struct schedule_shape *shape, uint32_t device)
{
	return (uint32_t)fewer((uint64_t)warm_up(shape, device) + 1,
			       forward_count(shape));
}

/* At the first forward after the warm-up, before any backward, the last chunk
 * has seen the fewest forwards. */
uint32_t schedule_least_kept(const struct schedule_shape *shape, uint32_t device)
{
	uint32_t p = shape->pipeline, v = shape->virtual_stages;
	uint64_t forwards = schedule_most_kept(shape, device);

	if (v == 1)
		return (uint32_t)forwards;
	return (uint32_t)forwards_of_chunk(p, v, forwards, v - 1);
}

uint32_t schedule_more_kept(const struct schedule_shape *shape, uint32_t device)
{
	uint32_t p = shape->pipeline, v = shape->virtual_stages;
	uint64_t forwards = schedule_most_kept(shape, device);
	uint64_t least_kept, first;

	if (v == 1)
		return 0;
	least_kept = forwards_of_chunk(p, v, forwards, v - 1);
	first = device ? 0 : forwards_of_chunk(p, v, forwards, 0) - least_kept;
	return (uint32_t)(forwards - v * least_kept - first);
}

struct schedule_kept schedule_first_kept(const struct schedule_shape *shape,
					 uint32_t device)
{
	uint32_t p = shape->pipeline, v = shape->virtual_stages;
	uint32_t forwards = schedule_most_kept(shape, device);
	uint32_t rest = forwards % (p * v);

	if (v == 1)
		return (struct schedule_kept){ .pipeline = p, .full = forwards,
					       .row = 0, .part = 0 };
	return (struct schedule_kept){
		.pipeline = p,
		.full = forwards / (p * v) * p,
		.row = rest / p,
		.part = rest % p,
	};
}

/* Device k keeps min((v - 1) p + 2 (p - k) - 1, v m), m a multiple of p; of that the
 * first chunk of the chain min(2 p - 1, m), the last one 1. */
double schedule_inner_kept(const struct schedule_shape *shape)
{
	double p = shape->pipeline, v = shape->virtual_stages;
	double half = (shape->pipeline + 1) / 2;

	if (shape->micro_batches > shape->pipeline)
		return v * p * p - 2 * p;
	return (v - 1) * p * p + half * half + (p - half) * p - p - 1;
}
