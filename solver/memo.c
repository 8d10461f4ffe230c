/* SPDX-License-Identifier: MIT
 *
 * A hash table with lists.
 */
#include "solver/memo.h"

#include <string.h>

struct memo_entry {
	struct memo_entry *next;	/* in the same slot */
	const uint32_t *key;
	size_t words;
	const void *result;
};

void memo_init(struct memo *memo, size_t most_bytes)
{
	*memo = (struct memo){ .left_bytes = most_bytes };
	arena_init(&memo->arena);
}

void memo_release(struct memo *memo)
{
	arena_release(&memo->arena);
}

static size_t slot_of(const uint32_t *key, size_t words)
{
	uint64_t hash = words;

	for (size_t i = 0; i < words; i++) {
		hash = (hash ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	return hash % MEMO_SLOTS;
}

const void *memo_find(const struct memo *memo, const uint32_t *key, size_t words)
{
	const struct memo_entry *entry = memo->slot[slot_of(key, words)];

	for (; entry; entry = entry->next)
		if (entry->words == words &&
		    !memcmp(entry->key, key, words * sizeof(*key)))
			return entry->result;
	return NULL;
}

static void *copy(struct arena *arena, const void *from, size_t bytes)
{
	return memcpy(arena_alloc(arena, bytes), from, bytes);
}

void memo_keep(struct memo *memo, const uint32_t *key, size_t words,
	       const void *result, size_t bytes)
{
	size_t taken = words * sizeof(*key) + bytes + sizeof(struct memo_entry);
	struct memo_entry **slot = &memo->slot[slot_of(key, words)], *entry;

	if (taken > memo->left_bytes)
		return;
	memo->left_bytes -= taken;
	entry = ARENA_NEW(&memo->arena, struct memo_entry);
	*entry = (struct memo_entry){
		.next = *slot,
		.key = copy(&memo->arena, key, words * sizeof(*key)),
		.words = words,
		.result = copy(&memo->arena, result, bytes),
	};
	*slot = entry;
}
