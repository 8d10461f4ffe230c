/* SPDX-License-Identifier: MIT
 *
 * Tables of comma-separated values with a header line, as published
 * measurements come. Cells may be quoted; a quote is doubled inside.
 */
#ifndef NEST_TESTS_BENCH_TABLE_H
#define NEST_TESTS_BENCH_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct table {
	char *text;		/* the file, cut into cells in place */
	char **cell;		/* rows x columns; row 0 is the header */
	size_t columns;
	size_t rows;		/* without the header */
};

/* False when the file cannot be read or a row has the wrong number of cells. */
bool table_read(struct table *table, const char *directory, const char *name);
void table_release(struct table *table);

/* A cell by the name of its column; "" if there is no such column. */
const char *table_text(const struct table *table, size_t row,
		       const char *column);
/* The same as a number; NAN when it is none. */
double table_number(const struct table *table, size_t row, const char *column);

#endif
