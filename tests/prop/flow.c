/* SPDX-License-Identifier: MIT
 *
 * Links, ways and max-min fair sharing by progressive filling: of all links the
 * one that gives its flows least fixes their rates, then the next.
 */
#include "tests/prop/flow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sorts of links at a level. */
enum {
	PORT_OUT, PORT_IN,		/* by device */
	LINK_A, LINK_B,			/* switch: up, down; ring: to the next, to
					 * the one before; by child. full: A only, by
					 * child and other child */
};

static uint32_t add_links(struct flow_net *net, uint32_t count, double Bps)
{
	uint32_t first = net->link_count;

	for (uint32_t i = 0; i < count; i++)
		net->capacity_Bps[net->link_count++] = Bps;
	return first;
}

static void wire_level(struct flow_net *net, uint32_t l)
{
	const struct problem_level *level = &net->problem->level[l];
	uint32_t devices = net->problem->device_count;
	uint32_t children = devices / net->below[l];
	double port = level->efficiency * level->bandwidth_Bps;
	double uplink = port * (level->nics ? level->nics : net->below[l]) /
			level->oversubscription;

	net->first[l][PORT_OUT] = add_links(net, devices, port);
	net->first[l][PORT_IN] = add_links(net, devices, port);
	switch (level->kind) {
	case LEVEL_FULL:
		net->first[l][LINK_A] = add_links(net, children * level->fanout,
			level->fanout > 1 ? uplink / (level->fanout - 1) : uplink);
		break;
	case LEVEL_RING:
		net->first[l][LINK_A] = add_links(net, children, uplink / 2);
		net->first[l][LINK_B] = add_links(net, children, uplink / 2);
		break;
	default:
		net->first[l][LINK_A] = add_links(net, children, uplink);
		net->first[l][LINK_B] = add_links(net, children, uplink);
	}
}

void flow_net_init(struct flow_net *net, const struct problem *problem,
		   struct arena *arena)
{
	uint32_t links = 0;

	memset(net, 0, sizeof(*net));
	net->problem = problem;
	net->arena = arena;
	net->below[0] = 1;
	for (uint32_t l = 0; l < problem->level_count; l++) {
		net->below[l + 1] = net->below[l] * problem->level[l].fanout;
		links += problem->device_count * (4 + problem->level[l].fanout);
	}
	net->capacity_Bps = ARENA_ARRAY(arena, double, links);
	for (uint32_t l = 0; l < problem->level_count; l++)
		wire_level(net, l);
}

void flows_add(struct flows *flows, uint32_t from, uint32_t to, double bytes)
{
	struct flow flow = { from, to, bytes };

	if (from == to || bytes <= 0)
		return;
	for (size_t i = 0; i < flows->flow.count; i++)
		if (flows->flow.at[i].from == from && flows->flow.at[i].to == to) {
			flows->flow.at[i].bytes += bytes;
			return;
		}
	VEC_PUSH(&flows->flow, flows->net->arena, flow);
}

/* ---- ways ---- */

#define WAY_MAX 256

struct way {
	uint32_t link[WAY_MAX];
	uint32_t count;
	double latency_s;
};

static void way_push(struct way *way, uint32_t link)
{
	if (way->count == WAY_MAX)
		abort();
	way->link[way->count++] = link;
}

/* Child of a device at a level, counted over the whole network, and its
 * position among its siblings. */
static uint32_t child_of(const struct flow_net *net, uint32_t l, uint32_t device)
{
	return device / net->below[l];
}

static uint32_t position_of(const struct flow_net *net, uint32_t l,
			    uint32_t device)
{
	return child_of(net, l, device) % net->problem->level[l].fanout;
}

static void way_ports(const struct flow_net *net, uint32_t l, uint32_t from,
		      uint32_t to, struct way *way)
{
	way_push(way, net->first[l][PORT_OUT] + from);
	way_push(way, net->first[l][PORT_IN] + to);
}

/* Out of the source's child and into the target's, at a switch. */
static void way_switch(const struct flow_net *net, uint32_t l, uint32_t from,
		       uint32_t to, struct way *way)
{
	way_ports(net, l, from, to, way);
	way_push(way, net->first[l][LINK_A] + child_of(net, l, from));
	way_push(way, net->first[l][LINK_B] + child_of(net, l, to));
}

static void way_full(const struct flow_net *net, uint32_t l, uint32_t from,
		     uint32_t to, struct way *way)
{
	way_ports(net, l, from, to, way);
	way_push(way, net->first[l][LINK_A] +
		      child_of(net, l, from) * net->problem->level[l].fanout +
		      position_of(net, l, to));
}

/* Along a ring; `other` takes the other one of two equally long ways. */
static void way_ring(const struct flow_net *net, uint32_t l, uint32_t from,
		     uint32_t to, bool other, struct way *way)
{
	const struct problem_level *level = &net->problem->level[l];
	uint32_t f = level->fanout, at = position_of(net, l, from);
	uint32_t child = child_of(net, l, from) - at;
	uint32_t end = position_of(net, l, to);
	uint32_t ahead = (end + f - at) % f;
	bool up = end > at;

	if (level->wrap && !net->on_line[l] && 2 * ahead != f)
		up = 2 * ahead < f;
	if (level->wrap && !net->on_line[l] && 2 * ahead == f)
		up = !other;
	way_ports(net, l, from, to, way);
	while (at != end) {
		way_push(way, net->first[l][up ? LINK_A : LINK_B] + child + at);
		at = up ? (at + 1) % f : (at + f - 1) % f;
		way->latency_s += level->latency_s;
	}
}

/* A device with its position at level l taken from another. */
static uint32_t moved(const struct flow_net *net, uint32_t l, uint32_t device,
		      uint32_t to)
{
	return device + (position_of(net, l, to) - position_of(net, l, device)) *
			net->below[l];
}

static uint32_t highest_level(const struct flow_net *net, uint32_t from,
			      uint32_t to)
{
	uint32_t l = net->problem->level_count;

	while (l-- > 1)
		if (child_of(net, l, from) != child_of(net, l, to))
			return l;
	return 0;
}

static void find_way(const struct flow_net *net, uint32_t from, uint32_t to,
		     bool other, struct way *way)
{
	const struct problem_level *level = net->problem->level;
	uint32_t h = highest_level(net, from, to), low = h, at = from;

	way->count = 0;
	way->latency_s = 0;
	while (low > 0 && level[low].joined)
		low--;
	for (uint32_t l = 0; l < low; l++)
		if (level[l].kind == LEVEL_SWITCH)
			way_switch(net, l, from, to, way);
	if (level[h].kind != LEVEL_RING) {
		if (level[h].kind == LEVEL_FULL)
			way_full(net, h, from, to, way);
		else
			way_switch(net, h, from, to, way);
		way->latency_s = level[h].latency_s;
		return;
	}
	/* One dimension after the other. */
	for (uint32_t l = low; l <= h; l++) {
		uint32_t next;

		if (position_of(net, l, at) == position_of(net, l, to))
			continue;
		next = moved(net, l, at, to);
		way_ring(net, l, at, next, other, way);
		at = next;
	}
}

double flow_latency(const struct flow_net *net, uint32_t from, uint32_t to)
{
	struct way way;

	find_way(net, from, to, false, &way);
	return way.latency_s;
}

/* ---- sharing ---- */

struct sharing {
	struct way *way;		/* two halves of every flow */
	double *bytes, *rate_Bps;
	uint32_t count;
	double *room_Bps;		/* of every link */
	uint32_t *users;		/* flows without a rate on every link */
};

static double *numbers(struct arena *arena, size_t count)
{
	return ARENA_ARRAY(arena, double, count);
}

static bool is_live(const struct sharing *sharing, uint32_t i)
{
	return sharing->bytes[i] > 0;
}

/* Max-min fair rates of the flows that still have bytes. */
static void share(const struct flow_net *net, struct sharing *sharing)
{
	uint32_t waiting = 0;

	memcpy(sharing->room_Bps, net->capacity_Bps,
	       net->link_count * sizeof(double));
	memset(sharing->users, 0, net->link_count * sizeof(uint32_t));
	for (uint32_t i = 0; i < sharing->count; i++) {
		sharing->rate_Bps[i] = 0;
		if (!is_live(sharing, i))
			continue;
		waiting++;
		for (uint32_t j = 0; j < sharing->way[i].count; j++)
			sharing->users[sharing->way[i].link[j]]++;
	}
	while (waiting) {
		double least = INFINITY;

		for (uint32_t k = 0; k < net->link_count; k++)
			if (sharing->users[k])
				least = fmin(least, sharing->room_Bps[k] /
						    sharing->users[k]);
		for (uint32_t i = 0; i < sharing->count; i++) {
			const struct way *way = &sharing->way[i];
			bool held = false;

			if (!is_live(sharing, i) || sharing->rate_Bps[i] > 0)
				continue;
			for (uint32_t j = 0; j < way->count; j++) {
				uint32_t k = way->link[j];

				held |= sharing->room_Bps[k] <=
					least * sharing->users[k] * (1 + 1e-9);
			}
			if (!held)
				continue;
			sharing->rate_Bps[i] = least;
			waiting--;
			for (uint32_t j = 0; j < way->count; j++) {
				sharing->room_Bps[way->link[j]] -= least;
				sharing->users[way->link[j]]--;
			}
		}
	}
}

/* Lets the flows run until the next one ends; that time. */
static double advance(struct sharing *sharing)
{
	double step = INFINITY;

	for (uint32_t i = 0; i < sharing->count; i++)
		if (is_live(sharing, i))
			step = fmin(step, sharing->bytes[i] /
					  sharing->rate_Bps[i]);
	if (isinf(step))
		return 0;
	for (uint32_t i = 0; i < sharing->count; i++) {
		double left = sharing->bytes[i] - step * sharing->rate_Bps[i];

		if (is_live(sharing, i))
			sharing->bytes[i] = left > 1e-9 * sharing->bytes[i] ?
					    left : 0;
	}
	return step;
}

double flows_time(const struct flows *flows)
{
	struct flow_net *net = flows->net;
	struct arena_mark mark = arena_mark(net->arena);
	size_t count = flows->flow.count;
	struct sharing sharing = {
		.way = ARENA_ARRAY(net->arena, struct way, 2 * count),
		.bytes = numbers(net->arena, 2 * count),
		.rate_Bps = numbers(net->arena, 2 * count),
		.room_Bps = numbers(net->arena, net->link_count),
		.users = ARENA_ARRAY(net->arena, uint32_t, net->link_count),
	};
	double time = 0, step;

	for (size_t i = 0; i < count; i++) {
		const struct flow *flow = &flows->flow.at[i];
		struct way *way = &sharing.way[sharing.count];

		find_way(net, flow->from, flow->to, false, &way[0]);
		find_way(net, flow->from, flow->to, true, &way[1]);
		sharing.bytes[sharing.count] = flow->bytes;
		sharing.count++;
		if (way[0].count == way[1].count &&
		    !memcmp(way[0].link, way[1].link,
			    way[0].count * sizeof(way[0].link[0])))
			continue;
		sharing.bytes[sharing.count - 1] /= 2;
		sharing.bytes[sharing.count++] = flow->bytes / 2;
	}
	do {
		share(net, &sharing);
		step = advance(&sharing);
		time += step;
	} while (step > 0);
	arena_rewind(net->arena, mark);
	return time;
}
