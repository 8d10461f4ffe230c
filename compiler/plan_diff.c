/* SPDX-License-Identifier: MIT
 *
 * Comparing manifests. Both are JSON values that may come from files: whatever
 * is missing or of another kind counts as a difference, never as a fault.
 */
#include "compiler/plan_diff.h"

#include <math.h>
#include <string.h>

#include "compiler/describe.h"
#include "compiler/json_print.h"
#include "compiler/json_set.h"

/* Parts of a manifest that make a plan another one. */
static const char *const parts[] = {
	"model", "cluster", "parallelism", "stages", "placement", "predicted",
};

#define PART_COUNT (sizeof(parts) / sizeof(*parts))

struct differ {
	struct text *out;
	bool differs;
};

static const json_t *at(const json_t *object, const char *part, const char *key)
{
	return json_object_get(json_object_get(object, part), key);
}

static double number_of(const json_t *value)
{
	return json_is_number(value) ? json_number_value(value) : NAN;
}

/* ---- for people ---- */

static void append_value(const json_t *value, struct text *out)
{
	if (!value || json_is_null(value))
		text_append(out, "-");
	else if (json_is_string(value))
		text_append(out, json_string_value(value));
	else
		json_print_flat(value, out);
}

static void heading(struct differ *differ, bool *printed, const char *title)
{
	if (!*printed)
		text_printf(differ->out, "%s\n", title);
	*printed = true;
	differ->differs = true;
}

/* Members of a part that are plain values, in the order of the first plan, then
 * what only the second one has. */
static void print_members(struct differ *differ, const json_t *before,
			  const json_t *after, const char *part)
{
	const json_t *one = json_object_get(before, part);
	const json_t *two = json_object_get(after, part);
	bool printed = false;
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)one, key, value) {
		const json_t *other = json_object_get(two, key);

		if (json_is_object(value) || json_equal(value, other))
			continue;
		heading(differ, &printed, part);
		text_printf(differ->out, "  %-20s ", key);
		append_value(value, differ->out);
		text_append(differ->out, " -> ");
		append_value(other, differ->out);
		text_append_char(differ->out, '\n');
	}
	json_object_foreach((json_t *)two, key, value) {
		if (json_object_get(one, key) || json_is_object(value))
			continue;
		heading(differ, &printed, part);
		text_printf(differ->out, "  %-20s - -> ", key);
		append_value(value, differ->out);
		text_append_char(differ->out, '\n');
	}
}

static void append_change(double before, double after, struct text *out)
{
	if (before > 0 && isfinite(after))
		text_printf(out, "  %+.1f %%", 100 * (after / before - 1));
	text_append_char(out, '\n');
}

static void print_quantity(struct differ *differ, const char *name,
			   double before, double after,
			   void (*describe)(double, struct text *))
{
	struct text *out = differ->out;

	text_printf(out, "  %-20s ", name);
	if (isnan(before))
		text_append(out, "-");
	else
		describe(before, out);
	text_append(out, " -> ");
	if (isnan(after))
		text_append(out, "-");
	else
		describe(after, out);
	append_change(before, after, out);
}

static bool same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static void print_time(struct differ *differ, const json_t *before,
		       const json_t *after)
{
	const json_t *one = at(before, "predicted", "breakdown");
	const json_t *two = at(after, "predicted", "breakdown");
	double old_s = number_of(at(before, "predicted", "iteration_time"));
	double new_s = number_of(at(after, "predicted", "iteration_time"));
	bool printed = false;
	const char *key;
	json_t *value;

	if (!same(old_s, new_s)) {
		heading(differ, &printed, "time");
		print_quantity(differ, "iteration", old_s, new_s,
			       describe_seconds);
	}
	json_object_foreach((json_t *)one, key, value) {
		double a = number_of(value);
		double b = number_of(json_object_get(two, key));

		if (same(a, b))
			continue;
		heading(differ, &printed, "time");
		print_quantity(differ, key, a, b, describe_seconds);
	}
}

static double stage_memory(const json_t *plan, size_t stage)
{
	const json_t *stages = json_object_get(plan, "stages");

	return number_of(at(json_array_get(stages, stage), "memory", "total"));
}

static void print_memory(struct differ *differ, const json_t *before,
			 const json_t *after)
{
	size_t count = json_array_size(json_object_get(before, "stages"));
	size_t other = json_array_size(json_object_get(after, "stages"));
	double old_bytes = number_of(at(before, "predicted", "memory_peak"));
	double new_bytes = number_of(at(after, "predicted", "memory_peak"));
	bool printed = false;
	char name[32];

	if (!same(old_bytes, new_bytes)) {
		heading(differ, &printed, "memory");
		print_quantity(differ, "fullest device", old_bytes, new_bytes,
			       describe_bytes);
	}
	for (size_t i = 0; i < (count > other ? count : other); i++) {
		double a = stage_memory(before, i), b = stage_memory(after, i);

		if (same(a, b))
			continue;
		heading(differ, &printed, "memory");
		snprintf(name, sizeof(name), "stage %zu", i);
		print_quantity(differ, name, a, b, describe_bytes);
	}
}

static void append_layers(const json_t *stages, struct text *out)
{
	const json_t *stage;
	size_t i;

	if (!json_array_size(stages))
		text_append(out, "-");
	json_array_foreach(stages, i, stage) {
		text_append(out, i ? ", " : "");
		append_value(json_object_get(stage, "layers"), out);
	}
}

static bool same_chunks(const json_t *one, const json_t *two)
{
	size_t count = json_array_size(one);

	if (count != json_array_size(two))
		return false;
	for (size_t i = 0; i < count; i++)
		if (!json_equal(json_object_get(json_array_get(one, i), "chunks"),
				json_object_get(json_array_get(two, i), "chunks")))
			return false;
	return true;
}

static void print_layers(struct differ *differ, const json_t *before,
			 const json_t *after)
{
	const json_t *one = json_object_get(before, "stages");
	const json_t *two = json_object_get(after, "stages");

	if (same_chunks(one, two))
		return;
	differ->differs = true;
	text_append(differ->out, "layers of the stages\n  ");
	append_layers(one, differ->out);
	text_append(differ->out, " -> ");
	append_layers(two, differ->out);
	text_append_char(differ->out, '\n');
}

/* Ranks that are on another device; all where only one plan lists them. */
static size_t moved_ranks(const json_t *before, const json_t *after)
{
	const json_t *one = at(before, "placement", "ranks");
	const json_t *two = at(after, "placement", "ranks");
	size_t count = json_array_size(one), other = json_array_size(two);
	size_t moved = count > other ? count - other : other - count;

	for (size_t i = 0; i < count && i < other; i++)
		moved += !json_equal(
			json_object_get(json_array_get(one, i), "device"),
			json_object_get(json_array_get(two, i), "device"));
	return moved;
}

static void print_placement(struct differ *differ, const json_t *before,
			    const json_t *after)
{
	const json_t *one = at(before, "placement", "factors");
	const json_t *two = at(after, "placement", "factors");
	size_t moved = moved_ranks(before, after);
	bool printed = false;
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)one, key, value) {
		if (json_equal(value, json_object_get(two, key)))
			continue;
		heading(differ, &printed, "placement, factors by level from the inside");
		text_printf(differ->out, "  %-20s ", key);
		append_value(value, differ->out);
		text_append(differ->out, " -> ");
		append_value(json_object_get(two, key), differ->out);
		text_append_char(differ->out, '\n');
	}
	if (!moved)
		return;
	heading(differ, &printed, "placement");
	text_printf(differ->out, "  %-20s %zu of %zu on another device\n",
		    "ranks", moved,
		    json_array_size(at(before, "placement", "ranks")));
}

bool plan_diff_print(const json_t *before, const json_t *after, struct text *out)
{
	struct differ differ = { .out = out };

	print_members(&differ, before, after, "model");
	print_members(&differ, before, after, "cluster");
	print_members(&differ, before, after, "parallelism");
	print_layers(&differ, before, after);
	print_time(&differ, before, after);
	print_memory(&differ, before, after);
	print_placement(&differ, before, after);
	return differ.differs;
}

/* ---- for programs ---- */

static void add_change(json_t *list, const char *path, const json_t *before,
		       const json_t *after)
{
	json_t *change = json_object();

	json_set(change, "path", json_string(path));
	json_set(change, "before",
		 before ? json_deep_copy(before) : json_null());
	json_set(change, "after",
		 after ? json_deep_copy(after) : json_null());
	json_array_append_new(list, change);
}

/* The path is built in a text that shrinks back. */
static void compare(json_t *list, struct text *path, const json_t *before,
		    const json_t *after);

static void compare_at(json_t *list, struct text *path, const char *step,
		       const json_t *before, const json_t *after)
{
	size_t length = path->length;

	text_append(path, length ? "." : "");
	text_append(path, step);
	compare(list, path, before, after);
	path->length = length;
	path->at[length] = '\0';
}

static void compare(json_t *list, struct text *path, const json_t *before,
		    const json_t *after)
{
	const char *key;
	json_t *value;

	if (json_equal(before, after) || !strcmp(path->at, "placement.ranks"))
		return;
	if (json_is_object(before) && json_is_object(after)) {
		json_object_foreach((json_t *)before, key, value)
			compare_at(list, path, key, value,
				   json_object_get(after, key));
		json_object_foreach((json_t *)after, key, value)
			if (!json_object_get(before, key))
				compare_at(list, path, key, NULL, value);
		return;
	}
	if (json_is_array(before) && json_is_array(after) &&
	    json_array_size(before) == json_array_size(after) &&
	    json_is_object(json_array_get(before, 0))) {
		for (size_t i = 0; i < json_array_size(before); i++) {
			char step[24];

			snprintf(step, sizeof(step), "%zu", i);
			compare_at(list, path, step, json_array_get(before, i),
				   json_array_get(after, i));
		}
		return;
	}
	add_change(list, path->at, before, after);
}

json_t *plan_diff_list(const json_t *before, const json_t *after)
{
	json_t *list = json_array();
	size_t moved = moved_ranks(before, after);
	struct arena arena;
	struct text path;

	arena_init(&arena);
	text_init(&path, &arena);
	for (size_t i = 0; i < PART_COUNT; i++)
		compare_at(list, &path, parts[i],
			   json_object_get(before, parts[i]),
			   json_object_get(after, parts[i]));
	if (moved) {
		json_t *none = json_integer(0);
		json_t *some = json_integer((json_int_t)moved);

		add_change(list, "placement.ranks.moved", none, some);
		json_decref(none);
		json_decref(some);
	}
	arena_release(&arena);
	return list;
}
