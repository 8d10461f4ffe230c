/* SPDX-License-Identifier: MIT
 *
 * The levels of a topology to numbers, each checked for range. A torus becomes
 * one ring level per dimension.
 */
#include <math.h>
#include <string.h>

#include "compiler/lower.h"

static const char *const level_fields[] = {
	"fanout", "torus", "kind", "wrap", "bandwidth", "latency", "overhead",
	"oversubscription", "efficiency", "short_efficiency", "short_overhead",
	"nics", "rails",
	"in_network_reduction", "reduction_efficiency",
};

/* Fields that only levels of switches have. */
static const char *const switch_fields[] = {
	"nics", "rails", "in_network_reduction", "reduction_efficiency",
};

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof(*(array))))

static bool is_one_of(const char *name, const char *const *names, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static const struct field *level_field(struct lower *lower,
				       const struct record *record,
				       const char *name)
{
	return record_find(record,
			   intern_string(&lower->compilation->intern, name));
}

static struct span level_span(struct lower *lower, const struct record *record,
			      const char *name)
{
	const struct field *field = level_field(lower, record, name);

	return field ? field->span : record->span;
}

static bool check_level_fields(struct lower *lower, const struct record *record)
{
	bool good = true;

	for (uint32_t i = 0; i < record->field_count; i++) {
		const struct field *field = &record->field[i];

		if (is_one_of(field->name, level_fields, COUNT(level_fields)))
			continue;
		good = diag_error(lower->diags, E_LEVEL_FIELD, field->span,
				  "a level has no field '%s'", field->name);
		if (!lower_suggest(lower, field->name, level_fields,
				   COUNT(level_fields)))
			diag_help(lower->diags, "a level says its 'fanout', 'bandwidth' and 'latency', "
				  "and may say how it is wired ('kind', 'nics', ..)");
	}
	return good;
}

static bool level_boolean(struct lower *lower, const struct record *record,
			  const char *name, bool *boolean)
{
	const struct field *field = level_field(lower, record, name);

	if (!field)
		return true;
	if (field->value->kind == VALUE_SYMBOL &&
	    (!strcmp(field->value->string, "on") ||
	     !strcmp(field->value->string, "off"))) {
		*boolean = !strcmp(field->value->string, "on");
		return true;
	}
	if (field->value->kind != VALUE_BOOL)
		return field->value->kind != VALUE_ERROR &&
		       diag_error(lower->diags, E_LEVEL_VALUE, field->span,
				  "'%s' must be true or false", name);
	*boolean = field->value->boolean;
	return true;
}

/* The range of a number: (low, high], or [low, high] where closed. */
struct bounds {
	double low;
	bool closed;
	double high;
};

/* Each number within its range; absent ones keep their value. */
static bool level_number(struct lower *lower, const struct record *record,
			 const char *name, struct unit unit, bool required,
			 struct bounds bounds, double *number)
{
	if (!eval_field_number(&lower->eval, record, name, unit, required, number))
		return false;
	if (isfinite(*number) && *number <= bounds.high &&
	    (bounds.closed ? *number >= bounds.low : *number > bounds.low))
		return true;
	diag_error(lower->diags, E_LEVEL_VALUE, level_span(lower, record, name),
		   "'%s' of level '%s' must be %s %g%s", name, record->name,
		   bounds.closed ? "at least" : "above", bounds.low,
		   bounds.high == 1 ? " and at most 100%" : "");
	if (bounds.high == 1 && *number >= 2 && *number <= 100)
		diag_help(lower->diags, "did you mean '%g%%'?", *number);
	return false;
}

static bool is_count(double number)
{
	return number >= 1 && number <= DEVICES_MAX && floor(number) == number;
}

static bool level_count(struct lower *lower, const struct record *record,
			const char *name, bool required, uint32_t *count)
{
	double number = 1;

	if (!required && !level_field(lower, record, name))
		return true;
	if (!eval_field_number(&lower->eval, record, name, UNIT_NONE, true,
			       &number))
		return false;
	if (is_count(number)) {
		*count = (uint32_t)number;
		return true;
	}
	return diag_error(lower->diags, E_LEVEL_VALUE,
			  level_span(lower, record, name),
			  "the %s of level '%s' is %g, and must be a whole number from 1 to %u",
			  name, record->name, number, DEVICES_MAX);
}

/* ---- kinds ---- */

/* One level as written: a torus still whole. */
struct written_level {
	struct problem_level network;
	uint32_t size[LEVEL_MAX];	/* of a torus, first dimension first */
	uint32_t size_count;		/* 0: no torus */
};

static bool torus_sizes(struct lower *lower, const struct record *record,
			const struct field *field, struct written_level *level)
{
	const struct value *list = field->value;

	if (list->kind == VALUE_ERROR)
		return false;
	if (list->kind != VALUE_LIST || !list->item_count ||
	    list->item_count > LEVEL_MAX) {
		diag_error(lower->diags, E_LEVEL_VALUE, field->span,
			   "'torus' of level '%s' must be a list of 1 to %d sizes",
			   record->name, LEVEL_MAX);
		diag_help(lower->diags, "write for instance 'torus = [4, 4, 4]'");
		return false;
	}
	for (uint32_t i = 0; i < list->item_count; i++) {
		if (list->item[i].kind == VALUE_ERROR)
			return false;
		if (!value_is_integer(&list->item[i]) ||
		    !is_count(list->item[i].number))
			return diag_error(lower->diags, E_LEVEL_VALUE, field->span,
					  "a size of 'torus' must be a whole number from 1 to %u",
					  DEVICES_MAX);
		level->size[i] = (uint32_t)list->item[i].number;
	}
	level->size_count = list->item_count;
	return true;
}

/* What a level joins: fanout, or a torus' sizes, which then say fanout too. */
static bool level_size(struct lower *lower, const struct record *record,
		       struct written_level *level)
{
	const struct field *torus = level_field(lower, record, "torus");
	const struct field *fanout = level_field(lower, record, "fanout");
	uint64_t children = 1;

	if (!torus)
		return level_count(lower, record, "fanout", true,
				   &level->network.fanout);
	if (!torus_sizes(lower, record, torus, level))
		return false;
	for (uint32_t i = 0; i < level->size_count; i++) {
		children *= level->size[i];
		if (children > DEVICES_MAX)
			return diag_error(lower->diags, E_DEVICE_COUNT, torus->span,
					  "the torus of level '%s' has more than %u devices",
					  record->name, DEVICES_MAX);
	}
	level->network.fanout = (uint32_t)children;
	if (!fanout || (fanout->value->kind == VALUE_NUMBER &&
			fanout->value->number == (double)children))
		return true;
	diag_error(lower->diags, E_LEVEL_VALUE, fanout->span,
		   "'fanout' and 'torus' of level '%s' give different numbers of children",
		   record->name);
	diag_help(lower->diags, "leave out 'fanout': the torus has %u",
		  level->network.fanout);
	return false;
}

static bool level_kind(struct lower *lower, const struct record *record,
		       struct written_level *level)
{
	const struct field *field = level_field(lower, record, "kind");
	bool torus = level_field(lower, record, "torus") != NULL;
	const char *kind = NULL;

	level->network.kind = torus ? LEVEL_RING : LEVEL_SWITCH;
	if (!field || field->value->kind == VALUE_ERROR)
		return true;
	if (field->value->kind == VALUE_SYMBOL || field->value->kind == VALUE_STRING)
		kind = field->value->string;
	if (kind && !torus && !strcmp(kind, "switch"))
		return true;
	if (kind && !torus && (!strcmp(kind, "ring") || !strcmp(kind, "full"))) {
		level->network.kind = kind[0] == 'r' ? LEVEL_RING : LEVEL_FULL;
		return true;
	}
	diag_error(lower->diags, E_LEVEL_VALUE, field->span,
		   torus ? "a level with a torus needs no kind" :
			   "the kind of a level is switch, ring or full");
	diag_help(lower->diags, "a torus is written 'torus = [4, 4, 4]'");
	return false;
}

/* Fields that mean nothing to a level of this kind, or at its place. */
static bool check_kind_fields(struct lower *lower, const struct record *record,
			      const struct written_level *level, bool innermost)
{
	enum level_kind kind = level->network.kind;
	bool good = true;

	for (uint32_t i = 0; i < record->field_count; i++) {
		const struct field *field = &record->field[i];

		if (kind != LEVEL_SWITCH &&
		    is_one_of(field->name, switch_fields, COUNT(switch_fields)))
			good = diag_error(lower->diags, E_LEVEL_FIELD, field->span,
					  "'%s' belongs to a level of switches, and '%s' is a %s",
					  field->name, record->name,
					  level->size_count ? "torus" :
					  kind == LEVEL_RING ? "ring" : "full mesh");
		if (kind != LEVEL_RING && !strcmp(field->name, "wrap"))
			good = diag_error(lower->diags, E_LEVEL_FIELD, field->span,
					  "'wrap' belongs to a ring or a torus");
		if (innermost && (!strcmp(field->name, "rails") ||
				  !strcmp(field->name, "nics")))
			good = diag_error(lower->diags, E_LEVEL_FIELD, field->span,
					  "'%s' of the innermost level: its children are devices",
					  field->name);
	}
	return good;
}

static bool level_numbers(struct lower *lower, const struct record *record,
			  struct problem_level *network)
{
	static const struct bounds rate = { 0, false, 1e18 };
	static const struct bounds time = { 0, true, 1e6 };
	static const struct bounds share = { 0, false, 1 };
	static const struct bounds ratio = { 1, true, 1e9 };
	bool good = true;

	network->oversubscription = 1;
	network->efficiency = 1;
	good = level_number(lower, record, "bandwidth", UNIT_BYTE_PER_SECOND, true,
			    rate, &network->bandwidth_Bps) && good;
	good = level_number(lower, record, "latency", UNIT_SECOND, true, time,
			    &network->latency_s) && good;
	good = level_number(lower, record, "overhead", UNIT_SECOND, false, time,
			    &network->overhead_s) && good;
	good = level_number(lower, record, "oversubscription", UNIT_NONE, false,
			    ratio, &network->oversubscription) && good;
	good = level_number(lower, record, "efficiency", UNIT_NONE, false, share,
			    &network->efficiency) && good;
	if (level_field(lower, record, "short_efficiency") ||
	    level_field(lower, record, "short_overhead"))
		good = level_number(lower, record, "short_efficiency", UNIT_NONE,
				    true, share, &network->short_efficiency) &&
		       level_number(lower, record, "short_overhead", UNIT_SECOND,
				    true, time, &network->short_overhead_s) && good;
	if (level_field(lower, record, "reduction_efficiency"))
		good = level_number(lower, record, "reduction_efficiency",
				    UNIT_NONE, true, share,
				    &network->reduction_efficiency) && good;
	return good;
}

static bool read_level(struct lower *lower, const struct record *record,
		       bool innermost, struct written_level *level)
{
	struct problem_level *network = &level->network;
	bool good = check_level_fields(lower, record);

	*level = (struct written_level){ .size_count = 0 };
	good = level_kind(lower, record, level) && good;
	good = level_size(lower, record, level) && good;
	good = check_kind_fields(lower, record, level, innermost) && good;
	good = level_numbers(lower, record, network) && good;
	good = level_count(lower, record, "nics", false, &network->nics) && good;
	good = level_count(lower, record, "rails", false, &network->rails) && good;
	network->wrap = network->kind == LEVEL_RING;
	good = level_boolean(lower, record, "wrap", &network->wrap) && good;
	return level_boolean(lower, record, "in_network_reduction",
			     &network->in_network_reduction) && good;
}

/* ---- the hierarchy ---- */

static bool push_level(struct lower *lower, const struct record *record,
		       const char *name, const struct problem_level *network)
{
	struct ir_topology *topology = &lower->ir->topology;

	if (topology->level_count == LEVEL_MAX)
		return diag_error(lower->diags, E_LEVEL_COUNT, record->span,
				  "topology '%s' has more than %d levels, each dimension of a torus being one",
				  topology->name, LEVEL_MAX);
	topology->level[topology->level_count++] = (struct ir_level){
		.name = name, .span = record->span, .network = *network,
	};
	return true;
}

/* The dimensions of more than one child, each a ring over its share of a
 * device's links; the outermost bears the level's name. */
static bool push_torus(struct lower *lower, const struct record *record,
		       const struct written_level *level)
{
	static const char letter[] = "xyzwvuts";
	struct problem_level ring = level->network;
	uint32_t dimensions = 0, left;

	_Static_assert(sizeof(letter) > LEVEL_MAX, "a letter for each dimension");
	for (uint32_t i = 0; i < level->size_count; i++)
		dimensions += level->size[i] > 1;
	if (!dimensions)
		return push_level(lower, record, record->name, &ring);
	ring.bandwidth_Bps /= dimensions;
	left = dimensions;
	for (uint32_t i = 0; i < level->size_count; i++) {
		const char *name = record->name;

		if (level->size[i] == 1)
			continue;
		if (--left)
			name = arena_printf(lower->arena, "%s.%c", record->name,
					    letter[i]);
		ring.fanout = level->size[i];
		ring.joined = left + 1 < dimensions;
		if (!push_level(lower, record, name, &ring))
			return false;
	}
	return true;
}

static bool count_devices(struct lower *lower)
{
	struct ir_topology *topology = &lower->ir->topology;
	uint64_t devices = 1;

	for (uint32_t i = 0; i < topology->level_count; i++) {
		devices *= topology->level[i].network.fanout;
		if (devices > DEVICES_MAX)
			return diag_error(lower->diags, E_DEVICE_COUNT,
					  topology->level[i].span,
					  "topology '%s' has more than %u devices",
					  topology->name, DEVICES_MAX);
	}
	topology->device_count = (uint32_t)devices;
	return true;
}

bool lower_levels(struct lower *lower, const struct record *record)
{
	bool good = true;

	if (!record->part_count) {
		diag_error(lower->diags, E_LEVEL_COUNT, record->span,
			   "topology '%s' has no levels", record->name);
		diag_help(lower->diags, "add for instance: level node "
			  "{ fanout = 8  bandwidth = 450GB/s  latency = 3us }");
		return false;
	}
	if (record->part_count > LEVEL_MAX)
		return diag_error(lower->diags, E_LEVEL_COUNT,
				  record->part[LEVEL_MAX]->span,
				  "topology '%s' has %u levels, and at most %d are possible",
				  record->name, record->part_count, LEVEL_MAX);
	lower->ir->topology.level_count = 0;
	for (uint32_t i = 0; i < record->part_count; i++) {
		const struct record *part = record->part[i];
		struct written_level level;

		if (!read_level(lower, part, !i, &level))
			good = false;
		else if (level.size_count)
			good = push_torus(lower, part, &level) && good;
		else
			good = push_level(lower, part, part->name,
					  &level.network) && good;
	}
	return good && count_devices(lower);
}
