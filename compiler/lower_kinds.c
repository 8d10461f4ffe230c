/* SPDX-License-Identifier: MIT
 *
 * Clusters whose children differ. Each kind of child becomes a topology of
 * devices that are all alike: the child's own levels, then the level that
 * joins all kinds with as many children as there are of this one. What is equal
 * in all of them becomes one more topology, in which every device counts as the
 * slowest.
 */
#include <string.h>

#include "compiler/lower.h"
#include "solver/most.h"

/* Fields of the joining level that may differ from kind to kind: one number for
 * all, or a list of one for each. */
static const char *const listed_fields[] = {
	"bandwidth", "latency", "overhead", "oversubscription", "efficiency",
	"nics", "rails",
};

#define LISTED_COUNT (sizeof(listed_fields) / sizeof(*listed_fields))

static bool may_be_listed(const char *name)
{
	for (size_t i = 0; i < LISTED_COUNT; i++)
		if (!strcmp(listed_fields[i], name))
			return true;
	return false;
}

static const char *name_of(struct lower *lower, const char *name)
{
	return intern_string(&lower->compilation->intern, name);
}

/* ---- checks of what is written ---- */

/* Kinds of which there are any. */
static uint32_t count_kinds(const struct record *level)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < level->part_count; i++)
		count += level->part_repeat[i] > 0;
	return count;
}

static bool check_joining_level(struct lower *lower, const struct record *level)
{
	uint32_t kinds = count_kinds(level);
	bool good = true;

	for (uint32_t i = 0; i < level->field_count; i++) {
		const struct field *field = &level->field[i];
		const struct value *value = field->value;

		if (!strcmp(field->name, "fanout") ||
		    !strcmp(field->name, "torus")) {
			good = diag_error(lower->diags, E_CHILDREN, field->span,
					  "level '%s' has both 'children' and '%s'",
					  level->name, field->name);
			diag_help(lower->diags, "leave out '%s': the children say how many there are",
				  field->name);
		}
		if (!strcmp(field->name, "kind") && kinds > 1 &&
		    value->kind == VALUE_SYMBOL &&
		    strcmp(value->string, "switch"))
			good = diag_error(lower->diags, E_CHILDREN, field->span,
					  "children of several kinds can be joined by switches only");
		if (!may_be_listed(field->name) || value->kind != VALUE_LIST ||
		    value->item_count == level->part_count)
			continue;
		good = diag_error(lower->diags, E_CHILDREN, field->span,
				  "'%s' has %u values for %u kinds of children",
				  field->name, value->item_count,
				  level->part_count);
		diag_help(lower->diags, "write one value for all, or one for each kind");
	}
	return good;
}

static bool check_cluster(struct lower *lower, const struct record *cluster)
{
	const struct record *level = cluster->part[0];
	const struct field *device = record_find(cluster,
						 name_of(lower, "device"));
	uint32_t kinds = count_kinds(level);
	bool good = check_joining_level(lower, level);

	if (device) {
		good = diag_error(lower->diags, E_CHILDREN, device->span,
				  "the children of level '%s' have devices of their own",
				  level->name);
		diag_help(lower->diags, "leave out 'device'");
	}
	if (kinds > KIND_MAX) {
		good = diag_error(lower->diags, E_CHILDREN, level->span,
				  "level '%s' has %u kinds of children, and at most %d are possible",
				  level->name, kinds, KIND_MAX);
		diag_help(lower->diags, "write children that are alike once, with their number: '2 * node'");
	}
	if (kinds > 1 && cluster->part_count > 1) {
		good = diag_error(lower->diags, E_CHILDREN,
				  cluster->part[1]->span,
				  "a level with several kinds of children must be the outermost");
		diag_label(lower->diags, level->span, "the children differ here");
		diag_help(lower->diags, "join all children of one kind below '%s'",
			  level->name);
	}
	return good;
}

/* ---- one kind as a topology ---- */

static void push_field(struct lower *lower, struct record *record,
		       const char *name, struct span span, struct value value)
{
	struct value *kept = ARENA_NEW(lower->arena, struct value);

	*kept = value;
	record->field[record->field_count++] = (struct field){
		.name = name_of(lower, name), .span = span, .value = kept,
	};
}

/* The joining level as one kind sees it. */
static struct record *joining_level(struct lower *lower,
				    const struct record *level, uint32_t kind)
{
	struct record *own = ARENA_NEW(lower->arena, struct record);
	struct value fanout = {
		.kind = VALUE_NUMBER, .span = level->span, .unit = UNIT_NONE,
		.number = level->part_repeat[kind],
	};

	*own = *level;
	own->part = NULL;
	own->part_count = 0;
	own->field = ARENA_ARRAY(lower->arena, struct field,
				 level->field_count + 1);
	own->field_count = 0;
	for (uint32_t i = 0; i < level->field_count; i++) {
		const struct field *field = &level->field[i];
		struct value value = *field->value;

		if (!strcmp(field->name, "children"))
			continue;
		if (may_be_listed(field->name) && value.kind == VALUE_LIST)
			value = value.item[kind];
		push_field(lower, own, field->name, field->span, value);
	}
	push_field(lower, own, "fanout", level->span, fanout);
	return own;
}

static bool level_names_differ(struct lower *lower, const struct record *record)
{
	for (uint32_t i = 0; i < record->part_count; i++)
		for (uint32_t j = 0; j < i; j++) {
			if (record->part[i]->name != record->part[j]->name)
				continue;
			diag_error(lower->diags, E_DUPLICATE_NAME,
				   record->part[i]->span,
				   "the level '%s' is given twice",
				   record->part[i]->name);
			diag_label(lower->diags, record->part[j]->span,
				   "given here first");
			return false;
		}
	return true;
}

/* A topology record of devices that are alike. */
static struct record *kind_record(struct lower *lower,
				  const struct record *cluster, uint32_t kind)
{
	const struct record *level = cluster->part[0];
	struct record *child = level->part[kind];
	struct record *record = ARENA_NEW(lower->arena, struct record);
	uint32_t inner = child->kind == RECORD_TOPOLOGY ? child->part_count : 0;

	*record = *child;
	record->kind = RECORD_TOPOLOGY;
	record->part = ARENA_ARRAY(lower->arena, struct record *,
				   inner + cluster->part_count);
	record->part_count = 0;
	for (uint32_t i = 0; i < inner; i++)
		record->part[record->part_count++] = child->part[i];
	record->part[record->part_count++] = joining_level(lower, level, kind);
	for (uint32_t i = 1; i < cluster->part_count; i++)
		record->part[record->part_count++] = cluster->part[i];
	if (child->kind == RECORD_DEVICE) {
		struct value device = { .kind = VALUE_RECORD,
					.span = child->span, .record = child };

		record->declaration = NULL;
		record->field = ARENA_ARRAY(lower->arena, struct field, 1);
		record->field_count = 0;
		push_field(lower, record, "device", child->span, device);
	}
	return record;
}

static bool lower_kind(struct lower *lower, const struct record *cluster,
		       uint32_t kind, struct lower_variant *variant)
{
	struct record *record = kind_record(lower, cluster, kind);
	const struct field *device = record_find(record, name_of(lower, "device"));
	struct ir *kept = lower->ir;
	bool good;

	variant->record = record;
	variant->kind = kind;
	if (device && device->value->kind == VALUE_RECORD)
		variant->device = device->value->record;
	lower->ir = ARENA_NEW(lower->arena, struct ir);
	good = level_names_differ(lower, record) &&
	       lower_plain_topology(lower, record);
	variant->topology = lower->ir->topology;
	variant->topology.name = cluster->name;
	variant->topology.span = cluster->span;
	lower->ir = kept;
	return good;
}

/* ---- the equal part of all kinds ---- */

/* NICs of a child in a level, counted where every device has its own. */
static uint32_t nics_of(const struct ir_topology *topology, uint32_t level)
{
	uint32_t devices = 1;

	if (topology->level[level].network.nics)
		return topology->level[level].network.nics;
	for (uint32_t l = 0; l < level; l++)
		devices *= topology->level[l].network.fanout;
	return devices;
}

static void merge_level(struct problem_level *into,
			const struct problem_level *from)
{
	double reduction[2] = {
		into->reduction_efficiency > 0 ? into->reduction_efficiency :
						 into->efficiency,
		from->reduction_efficiency > 0 ? from->reduction_efficiency :
						 from->efficiency,
	};

	into->bandwidth_Bps = least(into->bandwidth_Bps, from->bandwidth_Bps);
	into->latency_s = most(into->latency_s, from->latency_s);
	into->overhead_s = most(into->overhead_s, from->overhead_s);
	into->oversubscription = most(into->oversubscription,
				      from->oversubscription);
	into->efficiency = least(into->efficiency, from->efficiency);
	into->rails = into->rails > from->rails ? into->rails : from->rails;
	into->in_network_reduction &= from->in_network_reduction;
	into->wrap &= from->wrap;
	into->reduction_efficiency =
		into->in_network_reduction ? least(reduction[0], reduction[1]) : 0;
	/* Joined otherwise, only a single child of each is equal. */
	into->fanout = into->kind != from->kind || into->joined != from->joined ?
			       1 : into->fanout < from->fanout ? into->fanout :
								 from->fanout;
}

/* Room for one level of a single child below the outermost one. */
static void pad_levels(struct ir_topology *topology, uint32_t count)
{
	struct ir_level outer = topology->level[topology->level_count - 1];

	while (topology->level_count < count) {
		struct ir_level *level =
			&topology->level[topology->level_count - 1];

		*level = outer;
		level->network.fanout = 1;
		level->network.nics = 0;
		level->network.rails = 0;
		topology->level[topology->level_count++] = outer;
	}
}

static void merge_topology(struct ir_topology *into, struct ir_topology from)
{
	uint32_t nics[LEVEL_MAX], last = into->level_count - 1, children;
	uint32_t devices = 1;

	pad_levels(&from, into->level_count);
	for (uint32_t l = 0; l <= last; l++) {
		uint32_t own = nics_of(into, l), other = nics_of(&from, l);

		nics[l] = own < other ? own : other;
	}
	children = into->level[last].network.fanout +
		   from.level[last].network.fanout;
	for (uint32_t l = 0; l <= last; l++)
		merge_level(&into->level[l].network, &from.level[l].network);
	into->level[last].network.fanout = children;
	for (uint32_t l = 0; l <= last; l++) {
		into->level[l].network.nics = nics[l] < devices ? nics[l] : 0;
		devices *= into->level[l].network.fanout;
	}
	into->device_count = devices;
}

/* How fast a device multiplies, to find the slowest one. */
static double speed_of(const struct ir_device *device, enum ir_precision precision)
{
	return device->peak_flops[precision] * device->gemm_efficiency *
	       (1 - device->throttling);
}

static void merge_device(struct ir_device *into, const struct ir_device *from)
{
	into->memory_bytes = least(into->memory_bytes, from->memory_bytes);
	into->reserve_bytes = most(into->reserve_bytes, from->reserve_bytes);
	into->group_bytes = most(into->group_bytes, from->group_bytes);
}

/* The slowest device's record with the least memory, for `device.memory`. */
static struct record *device_with_memory(struct lower *lower,
					 const struct record *device,
					 double memory_bytes)
{
	struct record *record = ARENA_NEW(lower->arena, struct record);

	*record = *device;
	record->field = ARENA_ARRAY(lower->arena, struct field,
				    device->field_count);
	for (uint32_t i = 0; i < device->field_count; i++) {
		struct field *field = &record->field[i];
		struct value *value = ARENA_NEW(lower->arena, struct value);

		*field = device->field[i];
		*value = *field->value;
		if (!strcmp(field->name, "memory") &&
		    value->kind == VALUE_NUMBER)
			value->number = memory_bytes;
		field->value = value;
	}
	return record;
}

/* Price and power are no matter of waiting: the mean over the children, which have
 * equally many devices in the equal part. */
static void mean_rates(const struct lower_kinds *kinds, struct ir_device *device)
{
	double children = 0;

	device->dollars_per_s = device->watts = 0;
	for (uint32_t k = 0; k < kinds->count; k++) {
		const struct ir_topology *topology = &kinds->at[k].topology;
		double count = topology->level[topology->level_count - 1]
				       .network.fanout;

		device->dollars_per_s += count * topology->device.dollars_per_s;
		device->watts += count * topology->device.watts;
		children += count;
	}
	device->dollars_per_s /= children;
	device->watts /= children;
}

static void lower_equal_part(struct lower *lower, struct lower_kinds *kinds)
{
	enum ir_precision precision = lower->ir->job.precision;
	struct lower_variant *equal = &kinds->equal;
	struct ir_device device;
	uint32_t slowest = 0, deepest = 0;
	struct text name;

	for (uint32_t k = 1; k < kinds->count; k++) {
		const struct ir_topology *topology = &kinds->at[k].topology;

		if (speed_of(&topology->device, precision) <
		    speed_of(&kinds->at[slowest].topology.device, precision))
			slowest = k;
		if (topology->level_count >
		    kinds->at[deepest].topology.level_count)
			deepest = k;
	}
	device = kinds->at[slowest].topology.device;
	mean_rates(kinds, &device);
	equal->topology = kinds->at[deepest].topology;
	text_init(&name, lower->arena);
	for (uint32_t k = 0; k < kinds->count; k++) {
		const struct ir_topology *topology = &kinds->at[k].topology;

		text_printf(&name, "%s%s", k ? " + " : "", topology->device.name);
		merge_device(&device, &topology->device);
		if (k != deepest)
			merge_topology(&equal->topology, *topology);
	}
	device.name = name.at;
	equal->topology.device = device;
	equal->device = device_with_memory(lower, kinds->at[slowest].device,
					   device.memory_bytes);
	equal->topology.kind_count = kinds->count;
	equal->topology.kind = ARENA_ARRAY(lower->arena, struct ir_kind,
					   kinds->count);
}

/* ---- names and numbers of the kinds ---- */

static uint32_t total_devices(const struct lower_kinds *kinds)
{
	uint64_t total = 0;

	for (uint32_t k = 0; k < kinds->count; k++)
		total += kinds->at[k].topology.device_count;
	return total > DEVICES_MAX ? 0 : (uint32_t)total;
}

/* The child's name, or where two are called alike with a number. */
static const char *kind_name(struct lower *lower, const struct record *level,
			     uint32_t kind)
{
	uint32_t before = 0, alike = 0;

	for (uint32_t i = 0; i < level->part_count; i++) {
		if (level->part[i]->name != level->part[kind]->name)
			continue;
		alike++;
		before += i < kind;
	}
	if (alike < 2)
		return level->part[kind]->name;
	return arena_printf(lower->arena, "%s[%u]", level->part[kind]->name,
			    before);
}

static void name_kinds(struct lower *lower, const struct record *level,
		       struct lower_kinds *kinds)
{
	uint32_t devices = 0, total = total_devices(kinds);

	for (uint32_t k = 0; k < kinds->count; k++) {
		struct ir_topology *topology = &kinds->at[k].topology;
		uint32_t kind = kinds->at[k].kind;

		kinds->equal.topology.kind[k] = (struct ir_kind){
			.name = kind_name(lower, level, kind),
			.span = level->part[kind]->span,
			.count = level->part_repeat[kind],
			.first_device = devices,
		};
		devices += topology->device_count;
		topology->cluster_devices = total;
	}
	kinds->equal.topology.cluster_devices = total;
}

bool lower_kinds(struct lower *lower)
{
	struct record *cluster = lower->topology;
	struct lower_kinds *kinds;
	const struct record *level;
	bool good = true;

	if (lower->variant || !cluster || !cluster->part_count ||
	    !cluster->part[0]->part_count)
		return true;
	if (!check_cluster(lower, cluster))
		return false;
	level = cluster->part[0];
	kinds = ARENA_NEW(lower->arena, struct lower_kinds);
	for (uint32_t i = 0; i < level->part_count; i++)
		if (level->part_repeat[i])
			good = lower_kind(lower, cluster, i,
					  &kinds->at[kinds->count++]) && good;
	if (!good)
		return false;
	if (!total_devices(kinds))
		return diag_error(lower->diags, E_DEVICE_COUNT, level->span,
				  "topology '%s' has more than %u devices",
				  cluster->name, DEVICES_MAX);
	if (kinds->count == 1) {
		lower->variant = &kinds->at[0];
		return true;
	}
	lower_equal_part(lower, kinds);
	name_kinds(lower, level, kinds);
	lower->kinds = kinds;
	lower->variant = &kinds->equal;
	return true;
}
