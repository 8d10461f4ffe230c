/* SPDX-License-Identifier: MIT
 *
 * Members by their digits (graph_lines.h).
 */
#include "solver/graph_pattern.h"

uint32_t graph_members_inside(const struct graph_groups *groups, uint32_t level)
{
	uint32_t inside = 1;

	for (uint32_t l = 0; l < level; l++)
		inside *= groups->members[l];
	return inside;
}

uint32_t graph_top_level(const struct graph_groups *groups)
{
	uint32_t top = 0;

	for (uint32_t l = 0; l < groups->level_count; l++)
		if (groups->members[l] > 1)
			top = l;
	return top;
}

/* ---- rings ---- */

static struct graph_rings rings_new(uint32_t count, uint32_t size,
				    struct arena *arena)
{
	return (struct graph_rings){
		.member = ARENA_ARRAY(arena, uint32_t, (size_t)count * size + 1),
		.count = count,
		.size = size,
	};
}

struct graph_rings graph_level_rings(const struct graph_groups *groups, uint32_t level,
				     struct arena *arena)
{
	uint32_t n = groups->members[level];
	uint32_t inside = graph_members_inside(groups, level);
	struct graph_rings rings = rings_new(groups->size / n, n, arena);
	uint32_t *at = rings.member;

	for (uint32_t outer = 0; outer < groups->size; outer += n * inside)
		for (uint32_t m = outer; m < outer + inside; m++)
			for (uint32_t i = 0; i < n; i++)
				*at++ = m + i * inside;
	return rings;
}

/* The lowest digit of a place that is not its last, or the highest level. */
static uint32_t carry_of(const struct graph_groups *groups, uint32_t place)
{
	uint32_t top = graph_top_level(groups), level = 0;

	while (level < top && place % groups->members[level] + 1 ==
				      groups->members[level])
		place /= groups->members[level++];
	return level;
}

/* With one added to the digits up to a level. */
static uint32_t step(const struct graph_groups *groups, uint32_t member,
		     uint32_t level)
{
	uint32_t inside = 1;

	for (uint32_t l = 0; l <= level; l++) {
		uint32_t n = groups->members[l], digit = member / inside % n;

		member += ((digit + 1) % n - digit) * inside;
		inside *= n;
	}
	return member;
}

struct graph_flat_ring graph_flat_ring(const struct graph_groups *groups,
				       struct arena *arena)
{
	uint32_t top = graph_top_level(groups), n = groups->size;
	struct graph_flat_ring ring = {
		.size = n,
		.copies = graph_members_inside(groups, top),
		.carries = top + 1,
		.carry = ARENA_ARRAY(arena, uint32_t, n),
		.next = ARENA_ARRAY(arena, uint32_t, (size_t)n * (top + 1)),
	};

	for (uint32_t i = 0; i < n; i++)
		ring.carry[i] = carry_of(groups, i);
	for (uint32_t c = 0; c <= top; c++)
		for (uint32_t m = 0; m < n; m++)
			ring.next[(size_t)c * n + m] = step(groups, m, c);
	return ring;
}

/* ---- patterns ---- */

static struct graph_pattern pattern_new(uint64_t most, struct arena *arena)
{
	return (struct graph_pattern){
		.send = ARENA_ARRAY(arena, struct graph_send, most + 1),
	};
}

static void add(struct graph_pattern *pattern, uint32_t from, uint32_t to,
		double bytes)
{
	pattern->send[pattern->count++] = (struct graph_send){ from, to, bytes };
}

struct graph_pattern graph_around(const struct graph_rings *rings, double bytes,
				  struct arena *arena)
{
	uint32_t n = rings->size;
	struct graph_pattern pattern = pattern_new(2ull * rings->count * n, arena);

	for (uint32_t k = 0; k < rings->count; k++) {
		const uint32_t *member = rings->member + (size_t)k * n;

		for (uint32_t i = 0; i < n; i++) {
			uint32_t next = member[i + 1 < n ? i + 1 : 0];

			add(&pattern, member[i], next, bytes);
			add(&pattern, next, member[i], bytes);
		}
	}
	return pattern;
}

/* In all copies a member stands at the places that have its highest digit. */
static uint32_t count_steps(const struct graph_flat_ring *ring, uint32_t carry)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < ring->copies; i++)
		count += ring->carry[i] == carry;
	return count;
}

struct graph_pattern graph_flat_around(const struct graph_flat_ring *ring,
				       struct arena *arena)
{
	struct graph_pattern pattern = pattern_new(
		2ull * ring->carries * ring->size, arena);
	double n = ring->size, each = (n - 1) / n / ring->copies / 2;

	for (uint32_t c = 0; c < ring->carries; c++) {
		const uint32_t *next = ring->next + (size_t)c * ring->size;
		double bytes = each * count_steps(ring, c);

		for (uint32_t m = 0; m < ring->size && bytes > 0; m++) {
			add(&pattern, m, next[m], bytes);
			add(&pattern, next[m], m, bytes);
		}
	}
	return pattern;
}

struct graph_pattern graph_among(const struct graph_rings *rings, double bytes,
				 struct arena *arena)
{
	uint32_t n = rings->size;
	struct graph_pattern pattern = pattern_new((uint64_t)rings->count * n *
						   (n - 1), arena);

	for (uint32_t k = 0; k < rings->count; k++) {
		const uint32_t *member = rings->member + (size_t)k * n;

		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = 0; j < n; j++)
				if (i != j)
					add(&pattern, member[i], member[j], bytes);
	}
	return pattern;
}

/* Parent of node i of n in a binary tree laid out in order, so that the leaves
 * are the odd nodes; node 0 is the root. */
static uint32_t tree_parent(uint32_t i, uint32_t n)
{
	uint32_t bit = i & (0u - i), up = (i ^ bit) | bit << 1;

	if (!i)
		return 0;
	return up >= n ? i ^ bit : up;
}

/* The same in a second tree, mirrored or turned by one place where n is odd, so
 * that the leaves of the first are inner nodes; other_root is the root. */
static uint32_t other_root(uint32_t n)
{
	return n % 2 ? 1 % n : n - 1;
}

static uint32_t other_parent(uint32_t i, uint32_t n)
{
	if (n % 2 == 0)
		return n - 1 - tree_parent(n - 1 - i, n);
	return (tree_parent((i + n - 1) % n, n) + 1) % n;
}

struct graph_pattern graph_all(uint32_t size, struct arena *arena)
{
	uint32_t *member = ARENA_ARRAY(arena, uint32_t, size);
	struct graph_rings ring = { member, 1, size };

	for (uint32_t m = 0; m < size; m++)
		member[m] = m;
	return graph_among(&ring, 1.0 / size, arena);
}

/* Both trees at one level of the copies whose member has that digit there. Below the
 * highest level both have the member as root that goes on further up. */
static void add_trees(const struct graph_groups *groups, uint32_t root, uint32_t level,
		      double bytes, struct graph_pattern *pattern)
{
	uint32_t n = groups->members[level];
	uint32_t inside = graph_members_inside(groups, level);
	uint32_t turn = level == graph_top_level(groups) ? 0 : other_root(n);

	for (uint32_t m = 0; m < groups->size; m++) {
		uint32_t digit = m / inside % n, first = m - digit * inside;
		uint32_t i = (digit + n - root) % n;
		uint32_t p = tree_parent(i, n);
		uint32_t q = (other_parent((i + turn) % n, n) + n - turn) % n;

		if (p != i)
			add(pattern, m, first + (p + root) % n * inside, bytes);
		if (q != i)
			add(pattern, m, first + (q + root) % n * inside, bytes);
	}
}

/* Of the highest level's digits, copies have the first. */
struct graph_pattern graph_trees(const struct graph_groups *groups,
				 struct arena *arena)
{
	uint32_t top = graph_top_level(groups);
	uint64_t count = 2ull * groups->size;
	struct graph_pattern pattern;

	for (uint32_t l = 0; l < top; l++)
		count += 2ull * groups->size * groups->members[l];
	pattern = pattern_new(count, arena);
	for (uint32_t l = 0; l <= top; l++) {
		uint32_t roots = l < top ? groups->members[l] : 1;
		/* Copies / inside / roots of them share 1 / copies of the bytes. */
		double bytes = 0.5 / graph_members_inside(groups, l) / roots;

		for (uint32_t r = 0; r < roots && groups->members[l] > 1; r++)
			add_trees(groups, r, l, bytes, &pattern);
	}
	return pattern;
}
