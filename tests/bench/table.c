/* SPDX-License-Identifier: MIT
 *
 * Reading of comma-separated values.
 */
#include "tests/bench/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	size_t size = 0, capacity = 1 << 16;
	char *text = malloc(capacity);

	if (!file || !text)
		goto fail;
	for (;;) {
		size += fread(text + size, 1, capacity - size - 1, file);
		if (size + 1 < capacity)
			break;
		char *larger = realloc(text, capacity *= 2);
		if (!larger)
			goto fail;
		text = larger;
	}
	text[size] = '\0';
	fclose(file);
	return text;
fail:
	if (file)
		fclose(file);
	free(text);
	return NULL;
}

/* Ends the cell at *at in place and moves *at to the next; returns what stood
 * behind the cell: ',', '\n' or '\0'. */
static char cut_cell(char **at, char **cell)
{
	char *from = *at, *to = from;
	bool quoted = *from == '"';
	char end;

	*cell = to;
	if (quoted)
		from++;
	while (*from) {
		if (quoted && from[0] == '"' && from[1] == '"')
			from++;
		else if (quoted && from[0] == '"') {
			quoted = false;
			from++;
			continue;
		} else if (!quoted && (*from == ',' || *from == '\n'))
			break;
		*to++ = *from++;
	}
	end = *from;
	if (to > *cell && to[-1] == '\r')
		to--;
	*at = end ? from + 1 : from;
	*to = '\0';
	return end;
}

static bool cut_cells(struct table *table)
{
	char *at = table->text;
	size_t count = 0, capacity = 0, in_row = 0;

	while (*at) {
		if (count == capacity) {
			size_t larger = capacity ? capacity * 2 : 1024;
			char **cell = realloc(table->cell,
					      larger * sizeof(*cell));

			if (!cell)
				return false;
			table->cell = cell;
			capacity = larger;
		}
		char end = cut_cell(&at, &table->cell[count++]);

		in_row++;
		if (end == ',')
			continue;
		if (!table->columns)
			table->columns = in_row;
		if (in_row != table->columns)
			return false;
		in_row = 0;
	}
	if (!table->columns || in_row)
		return false;
	table->rows = count / table->columns - 1;
	return true;
}

bool table_read(struct table *table, const char *directory, const char *name)
{
	char path[4096];

	memset(table, 0, sizeof(*table));
	if (snprintf(path, sizeof(path), "%s/%s", directory, name) >=
	    (int)sizeof(path))
		return false;
	table->text = read_file(path);
	if (table->text && cut_cells(table))
		return true;
	table_release(table);
	return false;
}

void table_release(struct table *table)
{
	free(table->cell);
	free(table->text);
	memset(table, 0, sizeof(*table));
}

const char *table_text(const struct table *table, size_t row,
		       const char *column)
{
	for (size_t i = 0; i < table->columns; i++)
		if (!strcmp(table->cell[i], column))
			return table->cell[(row + 1) * table->columns + i];
	return "";
}

double table_number(const struct table *table, size_t row, const char *column)
{
	const char *text = table_text(table, row, column);
	char *end;
	double number = strtod(text, &end);

	return end == text ? NAN : number;
}
