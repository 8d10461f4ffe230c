/* SPDX-License-Identifier: MIT
 *
 * Scopes as chained hash tables on the interned pointer of a name. Nothing
 * here depends on the order of the pointers, so that messages are the same on
 * every run.
 */
#include "lang/scope.h"

#include <string.h>

#include "lang/ast.h"
#include "lang/diag.h"

#define SCOPE_CAPACITY_FIRST 8u

static uint32_t slot_of(const struct scope *scope, const char *name)
{
	uint64_t hash = (uint64_t)(uintptr_t)name;

	hash ^= hash >> 33;
	hash *= 0xff51afd7ed558ccdull;
	hash ^= hash >> 29;
	return (uint32_t)hash & (scope->capacity - 1);
}

struct scope *scope_new(struct arena *arena, struct scope *outer)
{
	struct scope *scope = ARENA_NEW(arena, struct scope);

	scope->arena = arena;
	scope->outer = outer;
	return scope;
}

static void scope_grow(struct scope *scope)
{
	struct binding **old = scope->slot;
	uint32_t old_capacity = scope->capacity;

	scope->capacity = old_capacity ? 2 * old_capacity : SCOPE_CAPACITY_FIRST;
	scope->slot = ARENA_ARRAY(scope->arena, struct binding *,
				  scope->capacity);
	for (uint32_t i = 0; i < old_capacity; i++) {
		while (old[i]) {
			struct binding *binding = old[i];
			uint32_t slot = slot_of(scope, binding->name);

			old[i] = binding->next;
			binding->next = scope->slot[slot];
			scope->slot[slot] = binding;
		}
	}
}

/* The binding itself, not what it imports. */
static struct binding *scope_lookup(const struct scope *scope, const char *name)
{
	struct binding *binding;

	if (!scope->count)
		return NULL;
	binding = scope->slot[slot_of(scope, name)];
	while (binding && binding->name != name)
		binding = binding->next;
	return binding;
}

struct binding *scope_add(struct scope *scope, const char *name)
{
	struct binding *binding;
	uint32_t slot;

	if (scope_lookup(scope, name))
		return NULL;
	if (scope->count >= scope->capacity)
		scope_grow(scope);
	slot = slot_of(scope, name);
	binding = ARENA_NEW(scope->arena, struct binding);
	binding->name = name;
	binding->home = scope;
	binding->next = scope->slot[slot];
	scope->slot[slot] = binding;
	scope->count++;
	return binding;
}

void scope_set(struct scope *scope, const char *name, struct value value)
{
	struct binding *binding = scope_lookup(scope, name);

	if (!binding)
		binding = scope_add(scope, name);
	binding->value = value;
	binding->state = BINDING_DONE;
}

struct binding *scope_declare(struct scope *scope, const struct ast *declaration,
			      struct scope *home)
{
	struct binding *binding = scope_add(scope, declaration->name);

	if (binding) {
		binding->declaration = declaration;
		binding->home = home;
	}
	return binding;
}

void scope_import(struct scope *scope, struct binding *target,
		  const struct ast *import)
{
	struct binding *binding = scope_lookup(scope, target->name);

	if (!binding) {
		binding = scope_add(scope, target->name);
		binding->target = target;
		binding->declaration = target->declaration;
		binding->import = import;
	} else if (binding->target != target) {
		binding->rival = target;
	}
}

static struct binding *binding_resolve(struct binding *binding)
{
	return binding && binding->target && !binding->rival ? binding->target
							     : binding;
}

struct binding *scope_find_here(const struct scope *scope, const char *name)
{
	return binding_resolve(scope_lookup(scope, name));
}

struct binding *scope_find(const struct scope *scope, const char *name)
{
	for (; scope; scope = scope->outer) {
		struct binding *binding = scope_lookup(scope, name);

		if (binding)
			return binding_resolve(binding);
	}
	return NULL;
}

const char *scope_suggest(const struct scope *scope, const char *name)
{
	const char *best = NULL;
	unsigned best_distance = 0;

	for (; scope; scope = scope->outer) {
		for (uint32_t i = 0; i < scope->capacity; i++) {
			const struct binding *binding = scope->slot[i];

			for (; binding; binding = binding->next) {
				unsigned distance;

				if (!diag_resembles(name, binding->name, &distance))
					continue;
				if (best && (distance > best_distance ||
					     (distance == best_distance &&
					      strcmp(binding->name, best) >= 0)))
					continue;
				best = binding->name;
				best_distance = distance;
			}
		}
	}
	return best;
}

/* Keeps the first `most` names in order. */
static uint32_t insert_name(const char **found, uint32_t count, uint32_t most,
			    const char *name)
{
	uint32_t at = count;

	for (uint32_t i = 0; i < count; i++)
		if (!strcmp(found[i], name))
			return count;
	while (at && strcmp(name, found[at - 1]) < 0)
		at--;
	if (at == most)
		return count;
	if (count < most)
		count++;
	for (uint32_t i = count - 1; i > at; i--)
		found[i] = found[i - 1];
	found[at] = name;
	return count;
}

uint32_t scope_beginnings(const struct scope *scope, const char *name,
			  const char **found, uint32_t most)
{
	size_t length = strlen(name);
	uint32_t count = 0;

	for (; scope; scope = scope->outer)
		for (uint32_t i = 0; i < scope->capacity; i++)
			for (const struct binding *binding = scope->slot[i];
			     binding; binding = binding->next)
				if (!strncmp(binding->name, name, length) &&
				    binding->name[length] == '_')
					count = insert_name(found, count, most,
							    binding->name);
	return count;
}
