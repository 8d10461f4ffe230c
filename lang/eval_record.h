/* SPDX-License-Identifier: MIT
 *
 * What the files share that make records of declarations. Only eval_*.c
 * include this.
 */
#ifndef NEST_LANG_EVAL_RECORD_H
#define NEST_LANG_EVAL_RECORD_H

#include "lang/base/vec.h"
#include "lang/call.h"
#include "lang/eval_internal.h"

/* A record while its body is read. */
struct maker {
	struct eval *eval;
	struct record *record;
	struct scope *inside;		/* parameters and lets */
	struct scope *visible;		/* fields so far; encloses `inside`; may be NULL */
	VEC(struct field) field;
	VEC(struct record *) part;
	VEC(uint32_t) repeat;		/* one for each part */
	struct graph_maker *graph;	/* nodes and links so far, or NULL */
	bool ok;			/* nothing was reported so far */
};

static inline struct arena *arena_of(struct eval *eval)
{
	return &eval->compilation->arena;
}

/* An empty record; the declaration is NULL for blocks. */
struct record *record_new(struct eval *eval, enum record_kind kind,
			  const char *name, const struct ast *declaration,
			  struct span span);

/* ---- any record (eval_record.c) ---- */

/* Gives the record the fields and parts collected. */
void maker_finish(struct maker *maker);
/* The field of that (interned) name, or NULL. */
struct field *maker_find(struct maker *maker, const char *name);
/* Sets a field and makes it visible to what follows; the value is copied. */
void maker_set(struct maker *maker, const struct ast *item,
	       struct value value);
/* Whether no field has the item's name; reports a second one. */
bool maker_is_new(struct maker *maker, const struct ast *item);
/* Reports an item that cannot stand in such a record. */
void maker_refuse(struct maker *maker, const struct ast *item);
/* Reports what a later version understands. */
void maker_not_yet(struct maker *maker, const struct ast *item,
		   const char *what);

/* Reads one item of a body into the record; reports and clears `ok`. */
void maker_item(struct maker *maker, const struct ast *item);
/* The record of a block or level inside another; *record is set in any case. */
bool maker_block_record(struct maker *outer, const struct ast *body,
			enum record_kind kind, const char *name,
			const struct ast *item, struct record **record);

/* ---- topologies (eval_topology.c) ---- */

/* `level NAME { .. }` of a topology. */
void maker_level(struct maker *maker, const struct ast *item);
/* topology.devices: the product of all fanouts. */
bool eval_topology_devices(struct eval *eval, const struct record *topology,
			   struct span span, struct value *value);
/* topology.levels: its levels as a list, innermost first. */
void eval_topology_levels(struct eval *eval, const struct record *topology,
			  struct span span, struct value *value);

/* ---- children of several kinds (eval_children.c) ---- */

/* Whether the item is `children = ..` of a level. */
bool maker_is_children(const struct maker *maker, const struct ast *item);
/* Reads it: the children become the parts of the record. */
void maker_children(struct maker *maker, const struct ast *item);
/* Devices of all children of such a level together. */
bool eval_children_devices(struct eval *eval, const struct record *level,
			   double *devices);

/* ---- topologies that are graphs (eval_graph.c) ---- */

/* A node, switch, link, or a loop over these. */
void maker_graph_item(struct maker *maker, const struct ast *item);
/* Resolves the ends of the links and gives the record its graph, once the whole
 * body has been read. */
void maker_graph_finish(struct maker *maker);

/* ---- models (eval_model.c) ---- */

/* An item of a model, `layers { .. }` among them, which may stand once. */
void maker_model_item(struct maker *maker, const struct ast *item,
		      bool *has_layers);
/* model.layers: what people count as its layers, the repeated parts and those
 * with attention. */
double model_layer_count(const struct record *model);
/* model.parameters: counted by the compiler, which knows the operators. */
bool eval_model_parameters(struct eval *eval, const struct record *model,
			   struct span span, struct value *value);

#endif
