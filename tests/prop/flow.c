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

/* ---- nets of wires ---- */

#define FAR 1000000u

static size_t pair_of(const struct flow_net *net, uint32_t from, uint32_t to)
{
	return (size_t)from * net->vertex_count + to;
}

static bool is_shorter(uint32_t hops, double latency_s, uint32_t than_hops,
		       double than_latency_s)
{
	return hops < than_hops ||
	       (hops == than_hops && latency_s < than_latency_s);
}

/* Floyd and Warshall: ways through one more vertex each round. */
static void join_ways(struct flow_net *net)
{
	uint32_t n = net->vertex_count;

	for (uint32_t k = 0; k < n; k++) {
		for (uint32_t i = 0; i < n; i++) {
			for (uint32_t j = 0; j < n; j++) {
				size_t a = pair_of(net, i, k);
				size_t b = pair_of(net, k, j);
				size_t c = pair_of(net, i, j);
				uint32_t hops = net->hops[a] + net->hops[b];
				double latency = net->latency_s[a] +
						 net->latency_s[b];

				if (!is_shorter(hops, latency, net->hops[c],
						net->latency_s[c]))
					continue;
				net->hops[c] = hops;
				net->latency_s[c] = latency;
			}
		}
	}
}

void flow_net_of_wires(struct flow_net *net, const struct flow_wire *wire,
		       uint32_t wire_count, uint32_t vertex_count,
		       struct arena *arena)
{
	size_t pairs = (size_t)vertex_count * vertex_count;

	memset(net, 0, sizeof(*net));
	net->arena = arena;
	net->wire = wire;
	net->vertex_count = vertex_count;
	net->link_count = wire_count;
	net->capacity_Bps = ARENA_ARRAY(arena, double, wire_count);
	net->hops = ARENA_ARRAY(arena, uint32_t, pairs);
	net->latency_s = ARENA_ARRAY(arena, double, pairs);
	for (uint32_t i = 0; i < vertex_count; i++)
		for (uint32_t j = 0; j < vertex_count; j++)
			net->hops[pair_of(net, i, j)] = i == j ? 0 : FAR;
	for (uint32_t i = 0; i < wire_count; i++) {
		size_t pair = pair_of(net, wire[i].from, wire[i].to);

		net->capacity_Bps[i] = wire[i].Bps;
		net->hops[pair] = 1;
		net->latency_s[pair] = wire[i].latency_s;
	}
	join_ways(net);
}

/* Whether a wire is on a shortest way from its beginning. */
static bool wire_leads(const struct flow_net *net, uint32_t wire, uint32_t to)
{
	const struct flow_wire *at = &net->wire[wire];
	size_t whole = pair_of(net, at->from, to), rest = pair_of(net, at->to, to);

	return at->from != to && net->hops[whole] == net->hops[rest] + 1 &&
	       fabs(net->latency_s[whole] -
		    (net->latency_s[rest] + at->latency_s)) <=
		       1e-9 * net->latency_s[whole];
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

#define WAY_MAX 128

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

	if (net->wire)
		return net->latency_s[pair_of(net, from, to)];
	find_way(net, from, to, false, &way);
	return way.latency_s;
}

/* ---- sharing ---- */

struct sharing {
	struct way *way;		/* the parts of every flow */
	double *bytes, *rate_Bps;
	uint32_t count, capacity;
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

static void add_part(struct sharing *sharing, const struct way *way, double bytes)
{
	if (sharing->count == sharing->capacity)
		abort();
	sharing->way[sharing->count] = *way;
	sharing->bytes[sharing->count++] = bytes;
}

/* One way, or two halves. */
static void add_halves(const struct flow_net *net, const struct flow *flow,
		       struct sharing *sharing)
{
	struct way one, other;
	bool same;

	find_way(net, flow->from, flow->to, false, &one);
	find_way(net, flow->from, flow->to, true, &other);
	same = one.count == other.count &&
	       !memcmp(one.link, other.link, one.count * sizeof(one.link[0]));
	add_part(sharing, &one, same ? flow->bytes : flow->bytes / 2);
	if (!same)
		add_part(sharing, &other, flow->bytes / 2);
}

/* All ways over wires from a vertex on, each with its share. */
static void add_ways(const struct flow_net *net, uint32_t from, uint32_t to,
		     double bytes, struct way *way, struct sharing *sharing)
{
	uint32_t lines = 0;

	if (from == to) {
		add_part(sharing, way, bytes);
		return;
	}
	for (uint32_t i = 0; i < net->link_count; i++)
		if (net->wire[i].from == from && wire_leads(net, i, to))
			lines += net->wire[i].lines;
	for (uint32_t i = 0; i < net->link_count; i++) {
		if (net->wire[i].from != from || !wire_leads(net, i, to))
			continue;
		way_push(way, i);
		add_ways(net, net->wire[i].to, to,
			 bytes * net->wire[i].lines / lines, way, sharing);
		way->count--;
	}
}

double flows_time(const struct flows *flows)
{
	struct flow_net *net = flows->net;
	struct arena_mark mark = arena_mark(net->arena);
	size_t count = flows->flow.count, parts = count * (net->wire ? 24 : 2);
	struct sharing sharing = {
		.way = ARENA_ARRAY(net->arena, struct way, parts),
		.bytes = numbers(net->arena, parts),
		.rate_Bps = numbers(net->arena, parts),
		.room_Bps = numbers(net->arena, net->link_count),
		.users = ARENA_ARRAY(net->arena, uint32_t, net->link_count),
		.capacity = (uint32_t)parts,
	};
	double time = 0, step;

	for (size_t i = 0; i < count; i++) {
		const struct flow *flow = &flows->flow.at[i];
		struct way way = { .count = 0 };

		if (net->wire)
			add_ways(net, flow->from, flow->to, flow->bytes, &way,
				 &sharing);
		else
			add_halves(net, flow, &sharing);
	}
	do {
		share(net, &sharing);
		step = advance(&sharing);
		time += step;
	} while (step > 0);
	arena_rewind(net->arena, mark);
	return time;
}

double flows_load_time(const struct flows *flows)
{
	struct flow_net *net = flows->net;
	struct arena_mark mark = arena_mark(net->arena);
	double *bytes = numbers(net->arena, net->link_count), time = 0;

	for (size_t i = 0; i < flows->flow.count; i++) {
		const struct flow *flow = &flows->flow.at[i];

		for (int half = 0; half < 2; half++) {
			struct way way;

			find_way(net, flow->from, flow->to, half, &way);
			for (uint32_t j = 0; j < way.count; j++)
				bytes[way.link[j]] += flow->bytes / 2;
		}
	}
	for (uint32_t k = 0; k < net->link_count; k++)
		time = fmax(time, bytes[k] / net->capacity_Bps[k]);
	arena_rewind(net->arena, mark);
	return time;
}
