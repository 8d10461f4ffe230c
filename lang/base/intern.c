/* SPDX-License-Identifier: MIT
 *
 * A hash table with open addressing. Each string is kept behind its length
 * and hash, so that a probe rarely compares bytes and growing never rehashes.
 */
#include "lang/base/intern.h"

#include <stdint.h>
#include <string.h>

struct entry {
	size_t length;
	uint64_t hash;
	char text[];
};

void intern_init(struct intern *intern, struct arena *arena)
{
	*intern = (struct intern){ .arena = arena };
}

static const struct entry *entry_of(const char *text)
{
	return (const struct entry *)(const void *)
		(text - offsetof(struct entry, text));
}

/* FNV-1a, then mixed so that the low bits depend on all bytes. */
static uint64_t hash_bytes(const char *text, size_t length)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < length; i++) {
		hash ^= (unsigned char)text[i];
		hash *= UINT64_C(0x100000001b3);
	}
	return hash ^ (hash >> 32);
}

static const char **find_slot(const char **slot, size_t capacity,
			      const char *text, size_t length, uint64_t hash)
{
	size_t at = (size_t)hash & (capacity - 1);

	while (slot[at]) {
		const struct entry *entry = entry_of(slot[at]);

		if (entry->hash == hash && entry->length == length &&
		    memcmp(entry->text, text, length) == 0)
			break;
		at = (at + 1) & (capacity - 1);
	}
	return &slot[at];
}

static void grow(struct intern *intern)
{
	size_t capacity = intern->capacity ? 2 * intern->capacity : 64;
	const char **slot = ARENA_ARRAY(intern->arena, const char *, capacity);

	for (size_t i = 0; i < intern->capacity; i++) {
		const struct entry *entry;

		if (!intern->slot[i])
			continue;
		entry = entry_of(intern->slot[i]);
		*find_slot(slot, capacity, entry->text, entry->length,
			   entry->hash) = entry->text;
	}
	intern->slot = slot;
	intern->capacity = capacity;
}

const char *intern_bytes(struct intern *intern, const char *text, size_t length)
{
	uint64_t hash = hash_bytes(text, length);
	struct entry *entry;
	const char **slot;

	/* At most three quarters full. */
	if (4 * (intern->count + 1) > 3 * intern->capacity)
		grow(intern);
	slot = find_slot(intern->slot, intern->capacity, text, length, hash);
	if (*slot)
		return *slot;
	entry = arena_alloc(intern->arena, sizeof(*entry) + length + 1);
	entry->length = length;
	entry->hash = hash;
	memcpy(entry->text, text, length);
	intern->count++;
	*slot = entry->text;
	return *slot;
}

const char *intern_string(struct intern *intern, const char *text)
{
	return intern_bytes(intern, text, strlen(text));
}
