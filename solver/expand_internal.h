/* SPDX-License-Identifier: MIT
 *
 * Between expand.c, expand_degrees.c and expand_cut.c.
 */
#ifndef NEST_SOLVER_EXPAND_INTERNAL_H
#define NEST_SOLVER_EXPAND_INTERNAL_H

#include "solver/expand.h"

/* A node being opened. */
struct opening {
	struct expander *expander;
	struct families *families;
	const struct incumbent *incumbent;
	const struct placement_set *set;
	uint64_t effort;
	struct expansion *expansion;
};

/* Loaded for the choice; valid until it is asked for another. */
struct chain *expander_chain(struct expander *expander,
			     const struct choice *choice);

/* Adds a child, or counts it when it is excluded. */
void expand_add(struct opening *opening, struct node *node);

/* Counts the node's configurations and returns true if a requirement surely fails. */
bool expand_discard_refused(struct opening *opening, const struct node *node);

static inline bool excluded(const struct opening *opening,
			    const struct node *node)
{
	return family_excluded(opening->families, opening->incumbent, node);
}

static inline void add_child(struct opening *opening, struct node *node)
{
	struct expansion *expansion = opening->expansion;

	family_bound(opening->families, opening->incumbent, node);
	node->ticket = TICKET_NONE;
	VEC_PUSH(&expansion->child, expansion->arena, *node);
}

void open_shape(struct opening *opening, const struct node *node);
void open_data(struct opening *opening, const struct node *node);
void open_configuration(struct opening *opening, const struct node *node);
void open_placed(struct opening *opening, const struct node *node);
void open_bounded(struct opening *opening, const struct node *node);
void open_cut(struct opening *opening, const struct node *node);
void open_left(struct opening *opening, const struct node *node);

#endif
