/* SPDX-License-Identifier: MIT
 *
 * Interleaved cuts device by device. A device's chunks of all rows, its column, are
 * decided at once: its load and memory are then known, and columns of neighbours
 * that differ stall each other, which a simulation shows in which all that is not
 * decided is as small as it may be. Where devices have little room for more layers
 * than they must take, few columns are left, and hardly any two of them agree.
 * doc/solver.md has the proof.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "solver/even.h"
#include "solver/most.h"
#include "solver/partition.h"
#include "solver/schedule.h"

/* More columns of a device than this are not looked at, nor more rows. */
#define COLUMNS_MOST 64
#define ROWS_MOST 8

/* One device. */
struct device {
	uint32_t *column;		/* units by row, of each of its columns */
	uint32_t count;			/* of these */
	uint32_t units_least, units_most;	/* that any column has */
	uint32_t rest_least, rest_most;	/* and the devices after it together */
	/* The search: */
	uint32_t next;			/* column to try */
	uint32_t left;			/* units for it and those after it */
	double reduce_s, step_s;	/* with the column that it has */
};

struct columns {
	struct partition *partition;
	const struct chain *chain;
	uint32_t pipeline, rows, chunks;
	uint32_t low;			/* least units of an inner chunk */
	uint32_t head_blocks, tail_blocks;	/* first and last layer, 1 if a block */
	const double *units_most;	/* by device */
	struct device *device;
	double mean_step_s;
	/* By chunk, as decided or the least. */
	uint32_t *units;
	double *forward_s, *backward_s;
	struct cut cut;
	uint64_t simulations;		/* besides those of whole cuts */
	uint64_t stop;			/* of both */
};

/* The layers of a chunk of so many units, somewhere in the chain where they may be. */
static void chunk_layers(const struct columns *columns, uint32_t chunk,
			 uint32_t units, uint32_t *begin, uint32_t *end)
{
	uint32_t length = columns->chain->length;
	bool last = chunk + 1 == columns->chunks;

	*begin = last ? length - 1 - units : chunk ? 1 : 0;
	*end = last ? length : 1 + units;
}

static uint32_t units_least(const struct columns *columns, uint32_t chunk)
{
	return chunk && chunk + 1 < columns->chunks ? columns->low : 0;
}

static uint32_t units_most(const struct columns *columns, uint32_t chunk)
{
	uint32_t blocks = columns->low + 1;

	if (!chunk)
		return blocks - columns->head_blocks;
	return chunk + 1 < columns->chunks ? blocks :
					     blocks - columns->tail_blocks;
}

static void set_units(struct columns *columns, uint32_t chunk, uint32_t units)
{
	uint32_t begin, end;

	chunk_layers(columns, chunk, units, &begin, &end);
	columns->units[chunk] = units;
	columns->forward_s[chunk] = chain_forward(columns->chain, begin, end);
	columns->backward_s[chunk] = chain_backward(columns->chain, begin, end);
}

/* What a device holds of everything with a column. */
struct column_sum {
	struct chain_sum chunks;	/* tied parameters counted once */
	double memory_bytes;
};

static struct column_sum sum_column(const struct columns *columns, uint32_t k,
				    const uint32_t *column, double *saved)
{
	const struct partition *partition = columns->partition;
	const struct chain *chain = columns->chain;
	struct column_sum sum = { .memory_bytes = 0 };
	struct chain_sum *chunks = &sum.chunks;

	for (uint32_t row = 0; row < columns->rows; row++) {
		uint32_t begin, end;

		chunk_layers(columns, row * columns->pipeline + k, column[row],
			     &begin, &end);
		chain_sum_add(chain, &partition->share, begin, end, chunks);
		saved[row] = chain_saved(chain, begin, end);
	}
	/* Both tied layers may be on this device. */
	if (chain->tied_last < chain->length)
		chunks->held.parameters = most(0, chunks->held.parameters -
							  chain->tied_parameters);
	sum.memory_bytes = share_bytes(&partition->share, chunks->held) +
			   chunks->working_bytes + chunks->moving.first +
			   chunks->moving.second + partition->share.reserve_bytes +
			   schedule_peak_bytes(&partition->schedule, k, saved);
	return sum;
}

/* Takes a column into the list of device k if it may be in a cut. False where there
 * are too many. */
static bool list_column(struct columns *columns, uint32_t k, uint32_t units,
			const uint32_t *column)
{
	struct device *device = &columns->device[k];
	double *saved = columns->partition->saved_bytes;
	struct column_sum sum = sum_column(columns, k, column, saved);

	if (!partition_fits(columns->partition, sum.memory_bytes))
		return true;
	if (device->count == COLUMNS_MOST)
		return false;
	memcpy(device->column + (size_t)device->count++ * columns->rows, column,
	       columns->rows * sizeof(*column));
	if (units < device->units_least)
		device->units_least = units;
	if (units > device->units_most)
		device->units_most = units;
	return true;
}

/* All columns of device k with as many units as it may have: an odometer that turns
 * its first row fastest. */
static bool list_columns(struct columns *columns, uint32_t k, uint32_t fewest)
{
	struct device *device = &columns->device[k];
	uint32_t rows = columns->rows, p = columns->pipeline, row = 0, units = 0;
	uint32_t *column = ARENA_ARRAY(columns->partition->scratch, uint32_t, rows);

	*device = (struct device){ .units_least = UINT32_MAX };
	device->column = ARENA_ARRAY(columns->partition->scratch, uint32_t,
				     (size_t)COLUMNS_MOST * rows);
	for (uint32_t r = 0; r < rows; r++)
		units += column[r] = units_least(columns, r * p + k);
	while (row < rows) {
		if (units >= fewest && units <= columns->units_most[k] &&
		    !list_column(columns, k, units, column))
			return false;
		for (row = 0; row < rows; row++) {
			uint32_t chunk = row * p + k;

			if (column[row] < units_most(columns, chunk)) {
				column[row]++;
				units++;
				break;
			}
			units -= column[row] - units_least(columns, chunk);
			column[row] = units_least(columns, chunk);
		}
	}
	return true;
}

/* Lists the columns of all devices. False where they are too many. */
static bool list_all(struct columns *columns)
{
	double room = 0, all = columns->chain->length - 2;
	uint32_t p = columns->pipeline;

	for (uint32_t k = 0; k < p; k++)
		room += columns->units_most[k];
	for (uint32_t k = 0; k < p; k++) {
		double fewest = all - (room - columns->units_most[k]);

		if (!list_columns(columns, k, fewest > 0 ? (uint32_t)fewest : 0))
			return false;
	}
	for (uint32_t k = p; k-- > 0;) {
		struct device *device = &columns->device[k];
		const struct device *after = device + 1;

		if (!device->count)
			continue;
		device->rest_least = k + 1 == p ? 0 :
			after->rest_least + after->units_least;
		device->rest_most = k + 1 == p ? 0 :
			after->rest_most + after->units_most;
	}
	return true;
}

/* No cut with the columns of the first k devices, all other chunks being as small as
 * can be, is faster: times of schedules never fall when operations grow. */
static double bound_columns(struct columns *columns, uint32_t k)
{
	struct partition *partition = columns->partition;
	struct schedule_input input = {
		.shape = partition->schedule,
		.forward_s = columns->forward_s,
		.backward_s = columns->backward_s,
		.transfer_s = partition->transfer_least_s,
	};
	double end, step = columns->mean_step_s;

	end = schedule_simulate(&input, partition->scratch, partition->finish_s);
	columns->simulations++;
	for (uint32_t j = 0; j < k; j++) {
		const struct device *device = &columns->device[j];

		end = most(end, partition->finish_s[j] + device->reduce_s);
		step = most(step, device->step_s);
	}
	return end + step;
}

static void try_cut(struct columns *columns)
{
	uint32_t at = 0;

	for (uint32_t c = 0; c < columns->chunks; c++) {
		columns->cut.first[c] = at;
		at += columns->units[c] + (c == 0);
	}
	columns->cut.first[columns->chunks] = columns->chain->length;
	partition_try(columns->partition, &columns->cut);
}

/* Gives device k a column. */
static void take_column(struct columns *columns, uint32_t k, const uint32_t *column)
{
	struct partition *partition = columns->partition;
	struct device *device = &columns->device[k];
	struct column_sum sum = sum_column(columns, k, column,
					   partition->saved_bytes);

	for (uint32_t row = 0; row < columns->rows; row++)
		set_units(columns, row * columns->pipeline + k, column[row]);
	device->reduce_s = partition_reduce(partition, k, sum.chunks.held,
					    sum.chunks.backward_s);
	device->step_s = partition_step(partition, k, sum.chunks.held,
					sum.chunks.forward_s);
}

static void drop_column(struct columns *columns, uint32_t k)
{
	for (uint32_t row = 0; row < columns->rows; row++) {
		uint32_t chunk = row * columns->pipeline + k;

		set_units(columns, chunk, units_least(columns, chunk));
	}
}

static uint32_t sum_units(const struct columns *columns, const uint32_t *column)
{
	uint32_t units = 0;

	for (uint32_t row = 0; row < columns->rows; row++)
		units += column[row];
	return units;
}

/* Tries the next column of device k; the next device to decide, or k again. */
static uint32_t step_column(struct columns *columns, uint32_t k)
{
	struct device *device = &columns->device[k];
	const uint32_t *column = device->column +
				 (size_t)device->next++ * columns->rows;
	uint32_t units = sum_units(columns, column), left;

	if (units > device->left)
		return k;
	left = device->left - units;
	if (left < device->rest_least || left > device->rest_most)
		return k;
	take_column(columns, k, column);
	if (k + 1 == columns->pipeline) {
		try_cut(columns);
		return k;
	}
	if (partition_excluded(columns->partition, bound_columns(columns, k + 1), 0))
		return k;
	device[1].next = 0;
	device[1].left = left;
	return k + 1;
}

/* Goes through all cuts whose least inner chunk has columns->low units. False when
 * the effort is spent before. */
static bool search_columns(struct columns *columns)
{
	uint32_t k = 0;

	for (uint32_t c = 0; c < columns->chunks; c++)
		set_units(columns, c, units_least(columns, c));
	columns->device[0].next = 0;
	columns->device[0].left = columns->chain->length - 2;
	for (;;) {
		if (columns->simulations + columns->partition->simulated >=
		    columns->stop)
			return false;
		if (columns->device[k].next < columns->device[k].count) {
			k = step_column(columns, k);
			continue;
		}
		drop_column(columns, k);
		if (!k--)
			return true;
	}
}

/* Whether some device can have no column, so that there is no cut. */
static bool is_empty(const struct columns *columns)
{
	for (uint32_t k = 0; k < columns->pipeline; k++)
		if (!columns->device[k].count)
			return true;
	return false;
}

static void columns_init(struct columns *columns, struct partition *partition,
			 const double *units_most, uint64_t simulations)
{
	const struct chain *chain = partition->chain;
	struct arena *arena = partition->scratch;
	uint32_t length = chain->length, chunks = partition->chunks;
	double *times = ARENA_ARRAY(arena, double, 2 * (size_t)chunks);

	*columns = (struct columns){
		.partition = partition,
		.chain = chain,
		.pipeline = partition->pipeline,
		.rows = partition->virtual_stages,
		.chunks = chunks,
		.head_blocks = chain->blocks[1],
		.tail_blocks = chain->blocks[length] - chain->blocks[length - 1],
		.units_most = units_most,
		.device = ARENA_ARRAY(arena, struct device, partition->pipeline),
		.mean_step_s = share_step(&partition->share,
					  chain_held(chain, 0, length)) /
			       partition->pipeline,
		.units = ARENA_ARRAY(arena, uint32_t, chunks),
		.forward_s = times,
		.backward_s = times + chunks,
		.cut = { .first = ARENA_ARRAY(arena, uint32_t, (size_t)chunks + 1) },
		.stop = partition->simulated + simulations,
	};
}

/* The least inner chunk has no fewer blocks than the mean of all chunks rounded down,
 * since none has more than one more than it, and no more than that of inner ones. */
static bool settle(struct columns *columns)
{
	uint32_t blocks = columns->chain->blocks[columns->chain->length];
	uint32_t chunks = columns->chunks, low = blocks / chunks;

	for (low = low ? low : 1; low <= blocks / (chunks - 2); low++) {
		columns->low = low;
		if (!list_all(columns))
			return false;
		if (!is_empty(columns) && !search_columns(columns))
			return false;
	}
	return true;
}

/* Whether the bounds here know such cuts: what a chunk takes and holds follows from its
 * place and its number of layers. */
static bool is_known(const struct partition *partition)
{
	const struct chain *chain = partition->chain;

	return partition->virtual_stages > 1 &&
	       partition->virtual_stages <= ROWS_MOST &&
	       partition_chain_is_plain(chain) &&
	       (!chain->partial || chain->monotone) &&
	       !partition->problem->uniform_stages &&
	       !partition->incumbent->outcomes &&
	       !isinf(incumbent_time_most(partition->incumbent));
}

bool partition_columns(struct partition *partition, uint64_t simulations)
{
	struct arena_mark mark = arena_mark(partition->scratch);
	double units = partition->chain->length - 2, room = 0, *units_most;
	uint32_t p = partition->pipeline;
	struct columns columns;
	bool settled = false;

	if (!is_known(partition))
		return false;
	units_most = ARENA_ARRAY(partition->scratch, double, p);
	partition_units_most(partition, units_most);
	for (uint32_t k = 0; k < p; k++)
		room += units_most[k];
	if (room < units) {
		settled = true;
	} else if (2 * (room - units) < p) {
		columns_init(&columns, partition, units_most, simulations);
		settled = settle(&columns);
		partition->looked += columns.simulations;
	}
	partition->bounded |= settled;
	arena_rewind(partition->scratch, mark);
	return settled;
}
