/* SPDX-License-Identifier: MIT
 *
 * Linear placements: ranks in the order of the devices, where degrees do not divide
 * the fan-outs (tensor 7 on nodes of 8; data 3 x pipeline 33 on 128 nodes).
 *
 * Linear placements are candidates beside the factor placements, in problems whose
 * levels are all switches or full, and only for shard level 0; not in a segment of a
 * mixed plan, nor on a graph. There are eight: the order of dimensions (enum packing) and
 * `aligned`, from 0 to 3. One that puts every rank on the same device as an earlier
 * one does (in the order of ties), or as a factor placement that fits does with every
 * rank at its position (network_device), is none.
 *
 * Laying. The ranks, numbered in that order, first dimension fastest, take one usable
 * device after the other (not avoided, ascending). The block of the innermost i
 * dimensions of the order around a rank are the ranks that differ from it in these
 * dimensions only, b_i in number; L_i is the lowest level (level_count: the whole
 * network) whose children have b_i devices or more. For 1 <= i <= aligned every
 * block of i dimensions lies in one child of level L_i: one that would leave the child
 * in which its first rank is begins again at the first usable device of the next
 * child of L_i that has any, until it fits. Blocks of fewer dimensions are laid by the
 * same rule within those of more. If the devices end, that placement does not exist.
 * It fits if all ranks have a device and these keep `within` and the pins. Expert
 * degrees need no fitting: ranks r of a pipeline stage are numbered as in network.h,
 * and groups are what their definition there says.
 *
 * Groups. An instance of a group is one set of n ranks that communicates; all
 * instances of a kind work at once, and the group is priced by what the worst of
 * them needs. A child of a level holds m ranks of an instance; the instance *leaves*
 * it if 0 < m < n, and *crosses* level l if it has ranks in two children of l within
 * one child of l + 1.
 *
 * A group is even if for each level l every child of l that holds ranks of an
 * instance holds M_l of them, the same number for all instances and children (M_0 =
 * 1, n at the top). Its lines are those of network.h with n_l = M_(l+1) / M_l and
 * U_l the most devices used in any child of level l.
 *
 * Any other group has these lines. Let t be the highest level that any instance
 * crosses. For an instance and a child c of level l that holds ranks of it, f(c) = 1 if
 * l = 0, else q x the least f of the q children of level l - 1 in c that hold some: so
 * many copies of a ring can enter and leave c, each at a rank of its own, if every
 * copy begins with another child at every level. Over all instances and the
 * children of level l that they leave, N_l is the least f, and X_l the most
 * instances that leave the same child. With port_l = efficiency x bandwidth and
 * link_l = efficiency x P_l x bandwidth / oversubscription of level l (network.h), seconds
 * per byte that goes around are
 *
 *	switch, l <= t		g_l = max(1 / (N_l port_l), X_l / link_l)
 *	full, if any crosses it	g_l = max(1 / (N_l port_l), (fanout - 1) X_l / link_l)
 *	full, if none does	g_l = 0
 *
 * and the lines are
 *
 *	reduce-scatter, all-gather	(n - 1)/n x S x max g_l + around
 *	all-reduce			twice that (ring; nothing else is offered)
 *	broadcast			S x max g_l + around
 *	all-to-all			S x max h_l + exchange
 *
 *	switch, l <= t	h_l = max((n - m)/n / port_l, sum of m (n - m)/n / link_l)
 *	full, crossed	h_l = max((n - m)/n / port_l,
 *				  (fanout - 1) x sum of m w/n / link_l)
 *
 * the largest over all children of level l; the first term for each instance that
 * leaves the child, the sum over all of them together; w is the most ranks that the
 * instance has in another child of l in the same child of l + 1.
 *
 * Around: for every child of l + 1 in which an instance has ranks in q > 1 children of
 * l, it has q - 1 hops across l; and one more at the highest level that it crosses;
 * the sum of all these latency_l but one of the least among them, the largest over
 * the instances. Exchange: the sum over the levels crossed of (c_l - 1) latency_l
 * (switch) or latency_l (full), c_l the largest q there; each of them above 0 that has
 * rails adds the latency of the level below it. To all lines the largest overhead of
 * the levels crossed by any instance is added. Where one of these levels has a protocol
 * for short messages, these lines exist by it, too, as in network.h.
 *
 * Transfers. The boundaries between the pipeline ranks 0 and 1, 1 and 2, .. are crossed
 * at once, by each device of a rank to that with the same other coordinates. k_l is
 * the most of these transfers that leave the same child of level l; or the most of
 * those from the last rank to the first, if these are more (they come alone); at least
 * 1. Across level l, with rate as in network.h,
 *
 *	s_per_byte = 1 / the least of efficiency_l x rate_l(k_l, w), w = 1 (switch) or
 *		     1/(fanout - 1) (full), and efficiency_j x rate_j(k_j, 1) of all switches j < l
 *	latency    = overhead_l + latency_l
 *
 * and where level l > 0 has rails, and one of the transfers named above whose highest level is l
 * changes its device's index within a child of l, modulo rails, what network.h adds
 * then. If one of them has a highest level j < l, the line of l is at least that of j in
 * both terms. A boundary crosses the highest level that one of its transfers
 * crosses; so does the exchange of a tied weight between any two ranks.
 *
 * Played as flows over the wired network none of these times is too short
 * (tests/prop/linear_prop.c).
 */
#ifndef NEST_SOLVER_LINEAR_H
#define NEST_SOLVER_LINEAR_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/base/arena.h"
#include "solver/network.h"
#include "solver/plan.h"

/* Whether the problem's levels can have linear placements at all. */
bool linear_is_possible(const struct problem *problem);

/* The linear placement of degrees with that order and alignment. */
struct placement linear_placement(const uint32_t degree[DIMENSION_COUNT],
				  enum packing packing, uint32_t aligned);

/* The device of every rank, numbered as plan.device is; product of the degrees in
 * number. False if the devices end before the ranks do. Neither `within` nor pins are
 * looked at. */
bool linear_lay(const struct problem *problem, const struct placement *placement,
		struct arena *scratch, uint32_t *device);

/* Whether `aligned` may put any rank elsewhere than 0 does; false only where it does
 * not for certain. */
bool linear_aligns(const struct problem *problem,
		   const struct placement *placement);

/* Whether these devices keep `within` and the pins. */
bool linear_keeps_rules(const struct problem *problem,
			const struct placement *placement,
			const uint32_t *device);

/* Whether a factor placement puts every rank on the same device; *factors receives it
 * then. Expert degrees are not looked at. */
bool linear_is_factored(const struct problem *problem,
			const struct placement *placement,
			const uint32_t *device, struct placement *factors);

/* The same told from the degrees alone: no device is avoided, and every block of the
 * order divides the children of a level, or they divide it, as far as the ranks
 * go. Where it is false linear_is_factored may still be true. */
bool linear_divides(const struct problem *problem,
		    const struct placement *placement,
		    struct placement *factors);

/* The lines of a group whose ranks have these devices. */
struct network_lines linear_lines(const struct problem *problem,
				  const struct placement *placement,
				  const struct problem_shape *shape,
				  const uint32_t *device, enum group group,
				  struct arena *scratch);

struct placement_reach;

/* How they lie; reach is zeroed, with one member. */
void linear_reach(const struct problem *problem, const struct placement *placement,
		  const struct problem_shape *shape, const uint32_t *device,
		  enum group group, struct arena *scratch,
		  struct placement_reach *reach);

/* Lines that no uneven group of so many members is above: each is at most what any of
 * them has. False if a group of so many is never uneven. */
bool linear_least(const struct problem *problem, uint32_t members,
		  struct network_lines *lines);

/* Fills a line for every level, and the level that each boundary crosses, from
 * pipeline rank r to (r + 1) mod pipeline. */
void linear_transfers(const struct problem *problem,
		      const struct placement *placement, const uint32_t *device,
		      struct arena *scratch, struct network_line *line,
		      uint8_t *boundary_level);

/* The highest level at which a device of pipeline rank a and that of b with the same
 * other coordinates lie apart; 0 where a is b. */
uint32_t linear_pipeline_level(const struct problem *problem,
			       const struct placement *placement,
			       const uint32_t *device, uint32_t a, uint32_t b);

#endif
