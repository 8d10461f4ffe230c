/* SPDX-License-Identifier: MIT
 *
 * Lines by Myers' algorithm ("An O(ND) difference algorithm and its
 * variations", Algorithmica 1, 1986). Texts that differ in more than
 * EDITS_MAX lines are shown as one replacement of all that lies between their
 * common ends.
 */
#include "compiler/text_diff.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define EDITS_MAX 1000
#define CONTEXT 3

struct line {
	const char *at;
	size_t length;			/* with its line break */
};

struct lines {
	struct line *at;
	int32_t count;
};

/* What happens to each line, in order: ' ' kept, '-' taken away, '+' added. */
struct script {
	char *edit;
	int32_t count;
};

static struct lines split(struct arena *arena, const char *text, size_t length)
{
	struct lines lines = { 0 };
	size_t count = 1;

	for (size_t i = 0; i < length; i++)
		count += text[i] == '\n';
	lines.at = ARENA_ARRAY(arena, struct line, count);
	for (size_t at = 0; at < length;) {
		const char *end = memchr(text + at, '\n', length - at);
		size_t size = end ? (size_t)(end - text) + 1 - at : length - at;

		lines.at[lines.count++] = (struct line){ text + at, size };
		at += size;
	}
	return lines;
}

static bool same(const struct line *a, const struct line *b)
{
	return a->length == b->length && memcmp(a->at, b->at, a->length) == 0;
}

/* The range of both texts that is left when their common ends are off. */
struct middle {
	const struct line *before, *after;
	int32_t before_count, after_count;
};

/* furthest[d][k + d]: the line of `before` reached on diagonal k after d
 * edits. Returns d at which the end is reached, or -1 beyond EDITS_MAX. */
static int32_t search(const struct middle *middle, struct arena *arena,
		      int32_t **furthest)
{
	int32_t n = middle->before_count, m = middle->after_count;

	for (int32_t d = 0; d <= EDITS_MAX; d++) {
		const int32_t *last = d ? furthest[d - 1] : NULL;

		furthest[d] = ARENA_ARRAY(arena, int32_t, (size_t)(2 * d + 1));
		for (int32_t k = -d; k <= d; k += 2) {
			int32_t x = 0;

			/* In the array of d - 1, diagonal k is k + d - 1. */
			if (d && (k == -d || (k != d && last[k + d - 2] <
							       last[k + d])))
				x = last[k + d];
			else if (d)
				x = last[k + d - 2] + 1;
			while (x < n && x - k < m &&
			       same(&middle->before[x], &middle->after[x - k]))
				x++;
			furthest[d][k + d] = x;
			if (x >= n && x - k >= m)
				return d;
		}
	}
	return -1;
}

/* Walks back from the end and writes the edits from last to first. */
static void walk_back(const struct middle *middle, int32_t **furthest,
		      int32_t d, char *end)
{
	int32_t x = middle->before_count, y = middle->after_count;

	for (; d > 0; d--) {
		const int32_t *last = furthest[d - 1];
		int32_t k = x - y;
		bool is_added = k == -d ||
				(k != d && last[k + d - 2] < last[k + d]);
		int32_t from = is_added ? last[k + d] : last[k + d - 2];
		int32_t begin = is_added ? from : from + 1;

		for (; x > begin; x--, y--)
			*--end = ' ';
		*--end = is_added ? '+' : '-';
		if (is_added)
			y--;
		else
			x--;
	}
	for (; x > 0; x--)
		*--end = ' ';
}

static void compare(const struct middle *middle, struct arena *arena,
		    struct script *script)
{
	int32_t **furthest = ARENA_ARRAY(arena, int32_t *, EDITS_MAX + 1);
	int32_t n = middle->before_count, m = middle->after_count;
	int32_t d = search(middle, arena, furthest);
	int32_t count;

	if (d < 0) {
		memset(script->edit + script->count, '-', (size_t)n);
		memset(script->edit + script->count + n, '+', (size_t)m);
		script->count += n + m;
		return;
	}
	/* Every line of both is in it once, and kept ones stand for two. */
	count = (n + m + d) / 2;
	walk_back(middle, furthest, d, script->edit + script->count + count);
	script->count += count;
}

static struct script edit_script(const struct lines *before,
				 const struct lines *after,
				 struct arena *arena)
{
	struct script script = { 0 };
	struct middle middle;
	int32_t head = 0, tail = 0;
	int32_t least = before->count < after->count ? before->count
						     : after->count;

	script.edit = arena_alloc(arena, (size_t)before->count +
						 (size_t)after->count + 1);
	while (head < least && same(&before->at[head], &after->at[head]))
		head++;
	while (tail < least - head &&
	       same(&before->at[before->count - 1 - tail],
		    &after->at[after->count - 1 - tail]))
		tail++;
	middle.before = before->at + head;
	middle.after = after->at + head;
	middle.before_count = before->count - head - tail;
	middle.after_count = after->count - head - tail;
	memset(script.edit, ' ', (size_t)head);
	script.count = head;
	compare(&middle, arena, &script);
	memset(script.edit + script.count, ' ', (size_t)tail);
	script.count += tail;
	return script;
}

/* The end of the hunk that begins with an edit: changes less than two
 * contexts apart are shown together. */
static int32_t hunk_end(const struct script *script, int32_t begin)
{
	int32_t last = begin;

	for (int32_t i = begin; i < script->count && i <= last + 2 * CONTEXT;
	     i++)
		if (script->edit[i] != ' ')
			last = i;
	return last + 1 + CONTEXT < script->count ? last + 1 + CONTEXT
						  : script->count;
}

static void put_range(int32_t first, int32_t count, struct text *out)
{
	/* An empty range is said to stand behind the line before it. */
	text_printf(out, "%d", count ? first + 1 : first);
	if (count != 1)
		text_printf(out, ",%d", count);
}

static void put_line(char mark, const struct line *line, struct text *out)
{
	text_append_char(out, mark);
	text_append_bytes(out, line->at, line->length);
	if (line->at[line->length - 1] != '\n')
		text_append(out, "\n\\ No newline at end of file\n");
}

static void put_hunk(const struct lines *before, const struct lines *after,
		     const struct script *script, int32_t begin, int32_t end,
		     int32_t x, int32_t y, struct text *out)
{
	int32_t kept = 0, removed = 0, added = 0;

	for (int32_t i = begin; i < end; i++) {
		kept += script->edit[i] == ' ';
		removed += script->edit[i] == '-';
		added += script->edit[i] == '+';
	}
	text_append(out, "@@ -");
	put_range(x, kept + removed, out);
	text_append(out, " +");
	put_range(y, kept + added, out);
	text_append(out, " @@\n");
	for (int32_t i = begin; i < end; i++) {
		char mark = script->edit[i];

		put_line(mark, mark == '+' ? &after->at[y] : &before->at[x],
			 out);
		x += mark != '+';
		y += mark != '-';
	}
}

void text_diff(const char *name, const char *before_text, size_t before_length,
	       const char *after_text, size_t after_length, struct text *out)
{
	struct lines before = split(out->arena, before_text, before_length);
	struct lines after = split(out->arena, after_text, after_length);
	struct script script = edit_script(&before, &after, out->arena);
	int32_t x = 0, y = 0, done = 0;
	bool has_head = false;

	for (int32_t i = 0; i < script.count; i++) {
		int32_t begin, end;

		if (script.edit[i] == ' ')
			continue;
		begin = i - CONTEXT > done ? i - CONTEXT : done;
		for (; done < begin; done++, x++, y++)
			;
		end = hunk_end(&script, i);
		if (!has_head)
			text_printf(out, "--- %s\n+++ %s\n", name, name);
		has_head = true;
		put_hunk(&before, &after, &script, begin, end, x, y, out);
		for (; done < end; done++) {
			x += script.edit[done] != '+';
			y += script.edit[done] != '-';
		}
		i = end - 1;
	}
}
