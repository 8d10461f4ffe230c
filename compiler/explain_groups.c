/* SPDX-License-Identifier: MIT
 *
 * Groups and stage boundaries as text.
 */
#include "compiler/explain_groups.h"

#include <math.h>

#include "compiler/describe.h"
#include "compiler/network_names.h"
#include "solver/placement.h"
#include "solver/share.h"

struct report {
	const struct ir *ir;
	const struct problem *problem;
	const struct plan *plan;
	const struct problem_shape *shape;
	struct placed placed;
	struct placement_reach reach[GROUP_COUNT];
	struct text *out;
};

/* What a group does in one go. */
struct exchange {
	enum collective kind;
	double bytes;
	double time_s;
	enum algorithm algorithm;
	const char *when;
};

static const struct ir_level *level_of(const struct report *report, uint32_t l)
{
	return &report->ir->topology.level[l];
}

/* ---- members ---- */

static void print_count(struct text *out, uint32_t least, uint32_t most)
{
	if (least == most)
		text_printf(out, "%u", most);
	else
		text_printf(out, "%u to %u", least, most);
}

/* "32 members: 8 per node, 32 per rack". */
static void print_members(struct report *report, const char *name,
			  const struct placement_reach *reach)
{
	const struct ir_topology *topology = &report->ir->topology;
	struct text *out = report->out;
	bool any = false;

	text_printf(out, "  %-15s %u members", name, reach->members);
	for (uint32_t l = 0; l < topology->level_count; l++) {
		const struct placement_part *around = &reach->level[l + 1];

		text_append(out, any ? ", " : ": ");
		any = true;
		print_count(out, around->least, around->most);
		text_printf(out, " per %s", topology->level[l].name);
		if (around->least == reach->members)
			break;
	}
	text_append_char(out, '\n');
}

/* ---- limits ---- */

static double port_Bps(const struct problem_level *level)
{
	return level->efficiency * level->bandwidth_Bps;
}

/* Of one child of the level, as far as a group of that reach can use them. */
static double links_Bps(const struct report *report,
			const struct placement_reach *reach, uint32_t l)
{
	const struct problem_level *level = &report->problem->level[l];
	double below = 1;

	for (uint32_t i = 0; i < l; i++)
		below *= report->problem->level[i].fanout;
	return reach->level[l].share * port_Bps(level) *
	       (level->nics ? level->nics : below) / level->oversubscription;
}

/* Seconds per byte of the group at a level: of its members' ports there, and of the
 * links it shares. */
static double at_ports(const struct report *report,
		       const struct placement_reach *reach, uint32_t l)
{
	return 1 / (reach->level[l].copies * port_Bps(&report->problem->level[l]));
}

static double at_links(const struct report *report,
		       const struct placement_reach *reach, uint32_t l)
{
	return reach->level[l].sharers / links_Bps(report, reach, l);
}

static bool level_counts(const struct report *report,
			 const struct placement_reach *reach, uint32_t l)
{
	return reach->level[l].sharers &&
	       (reach->level[l].crossed ||
		report->problem->level[l].kind == LEVEL_SWITCH);
}

/* The level at which its bytes take longest. */
static uint32_t limiting_level(const struct report *report,
			       const struct placement_reach *reach)
{
	double longest = 0;
	uint32_t limit = 0;

	for (uint32_t l = 0; l < report->problem->level_count; l++) {
		double time;

		if (!level_counts(report, reach, l))
			continue;
		time = fmax(at_ports(report, reach, l),
			    at_links(report, reach, l));
		if (time <= longest)
			continue;
		longest = time;
		limit = l;
	}
	return limit;
}

static void print_rate(struct text *out, double Bps)
{
	text_printf(out, "%.4g GB/s", Bps / 1e9);
}

/* Whether the pipeline's transfers cross a level, or one further out. */
static bool pipeline_crosses(const struct report *report, uint32_t l)
{
	uint32_t pipeline = report->plan->choice.pipeline;

	for (uint32_t r = 0; r + 1 < pipeline; r++)
		if (report->placed.boundary_level[r] >= l)
			return true;
	return false;
}

/* The other kinds that leave the same children. */
static void print_others(struct report *report,
			 const struct placement_reach *reach, uint32_t l)
{
	struct text *out = report->out;
	bool any = false;

	for (int g = 0; g < GROUP_COUNT; g++) {
		const struct placement_reach *other = &report->reach[g];

		if (other == reach || other->members < 2 ||
		    !other->level[l].sharers)
			continue;
		text_printf(out, "%s %s", any ? "," : "; also used by:",
			    group_name((enum group)g));
		any = true;
	}
	if (pipeline_crosses(report, l))
		text_printf(out, "%s stage boundaries",
			    any ? "," : "; also used by:");
}

static void print_limit(struct report *report,
			const struct placement_reach *reach)
{
	uint32_t l = limiting_level(report, reach);
	const struct placement_part *part = &reach->level[l];
	double ports = at_ports(report, reach, l);
	double links = at_links(report, reach, l);
	struct text *out = report->out;

	text_append(out, "                  limit: ");
	if (ports >= links || !l) {
		text_printf(out, "each device's port into %s, ",
			    level_of(report, l)->name);
		print_rate(out, port_Bps(&report->problem->level[l]));
		if (l && part->copies > 1)
			text_printf(out, ", %u of them for a group",
				    part->copies);
	} else {
		text_printf(out, "the links of a %s into %s, ",
			    level_of(report, l - 1)->name,
			    level_of(report, l)->name);
		print_rate(out, links_Bps(report, reach, l));
		if (part->sharers > 1)
			text_printf(out, ", shared by %u such groups",
				    part->sharers);
		else
			text_append(out, ", for one such group");
	}
	print_others(report, reach, l);
	text_append_char(out, '\n');
}

/* ---- exchanges ---- */

static void consider(const struct report *report, enum group group,
		     enum collective kind, double bytes, const char *when,
		     struct exchange *largest)
{
	struct exchange one = { .kind = kind, .bytes = bytes, .when = when };

	one.time_s = network_time(&report->placed.group[group], kind, bytes,
				  &one.algorithm);
	if (one.time_s > largest->time_s)
		*largest = one;
}

/* Within layers, once a micro-batch. */
static void consider_layers(const struct report *report, enum group group,
			    struct exchange *largest)
{
	const struct choice *choice = &report->plan->choice;

	for (uint32_t i = 0; i < report->problem->class_count; i++) {
		const struct problem_cost *cost =
			problem_cost_at(report->problem, choice->shape, i,
					choice->recompute);

		for (uint32_t j = 0; j < cost->collective_count; j++) {
			const struct problem_collective *one =
				&report->problem->collective
					 [cost->collective_first + j];

			if (one->group == group)
				consider(report, group, one->kind, one->bytes,
					 report->ir->model.class[i].name,
					 largest);
		}
	}
}

/* Gradients: once an iteration, or under ZeRO 2 and 3 by layers. */
static void consider_gradients(const struct report *report, enum group group,
			       struct exchange *largest)
{
	const struct choice *choice = &report->plan->choice;
	const struct problem *problem = report->problem;
	double bytes = problem->sync.reduce_bytes;
	bool experts = group == GROUP_EXPERT_DATA;

	if (choice->shard_level)
		return;
	for (uint32_t k = 0; choice->zero < 2 && k < choice->pipeline; k++) {
		const struct stage_cost *stage = &report->plan->stage[k];

		consider(report, group,
			 choice->zero ? COLLECTIVE_REDUCE_SCATTER :
					COLLECTIVE_ALL_REDUCE,
			 bytes * (experts ? stage->expert_parameters :
					    stage->parameters -
						    stage->expert_parameters),
			 NULL, largest);
	}
	for (uint32_t i = 0; choice->zero > 1 && i < problem->class_count; i++) {
		const struct problem_weight *weight =
			problem_weight_at(problem, choice->shape, i);

		consider(report, group, COLLECTIVE_REDUCE_SCATTER,
			 bytes * (experts ? weight->expert_parameters :
					    weight->parameters),
			 report->ir->model.class[i].name, largest);
	}
}

static void print_exchange(struct report *report, enum group group)
{
	struct exchange largest = { .time_s = 0 };
	struct text *out = report->out;
	bool gradients = group == GROUP_DATA_CONTEXT ||
			 group == GROUP_EXPERT_DATA;

	if (gradients)
		consider_gradients(report, group, &largest);
	else
		consider_layers(report, group, &largest);
	if (!(largest.time_s > 0))
		return;
	text_printf(out, "                  %s of ", collective_name(largest.kind));
	describe_bytes(largest.bytes, out);
	text_append(out, " in ");
	describe_seconds(largest.time_s, out);
	text_printf(out, ", %s; ", algorithm_name(largest.algorithm));
	if (largest.when)
		text_printf(out, "%s, of %s, each micro-batch\n",
			    gradients ? "gradients" : "the longest",
			    largest.when);
	else
		text_append(out, "gradients, once an iteration\n");
}

/* ---- the pipeline ---- */

/* Boundaries by the level they cross; the longest of one micro-batch. */
static void print_boundaries(struct report *report)
{
	const struct choice *choice = &report->plan->choice;
	struct text *out = report->out;
	uint32_t count[LEVEL_MAX] = { 0 };
	double longest[LEVEL_MAX] = { 0 };
	bool any = false;

	if (choice->pipeline < 2)
		return;
	for (uint32_t r = 0; r + 1 < choice->pipeline; r++) {
		uint32_t l = report->placed.boundary_level[r];

		count[l]++;
		longest[l] = fmax(longest[l], report->plan->stage[r].send_s);
	}
	text_printf(out, "  %-15s %u boundar%s:", "pipeline",
		    choice->pipeline - 1, choice->pipeline > 2 ? "ies" : "y");
	for (uint32_t l = 0; l < report->problem->level_count; l++) {
		if (!count[l])
			continue;
		text_printf(out, "%s %u across %s in ", any ? "," : "", count[l],
			    level_of(report, l)->name);
		describe_seconds(longest[l], out);
		any = true;
	}
	text_append_char(out, '\n');
}

void explain_groups(const struct ir *ir, const struct problem *problem,
		    const struct plan *plan, struct arena *arena,
		    struct text *out)
{
	struct report report = {
		.ir = ir,
		.problem = problem,
		.plan = plan,
		.shape = &problem->shape[plan->choice.shape],
		.placed.placement = plan->placement,
		.out = out,
	};
	int groups = share_has_experts(problem) ? GROUP_COUNT : GROUP_EXPERT;

	if (plan->devices < 2 || plan->segment_count > 1 ||
	    !placement_price(problem, report.shape, arena, &report.placed))
		return;
	for (int g = 0; g < groups; g++)
		placement_reach(problem, report.shape, &report.placed,
				(enum group)g, arena, &report.reach[g]);
	text_append(out, "\nGroups\n");
	for (int g = 0; g < groups; g++) {
		if (report.reach[g].members < 2)
			continue;
		print_members(&report, group_name((enum group)g),
			      &report.reach[g]);
		print_exchange(&report, (enum group)g);
		print_limit(&report, &report.reach[g]);
	}
	print_boundaries(&report);
}
