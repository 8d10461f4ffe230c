/* SPDX-License-Identifier: MIT
 *
 * A bump allocator. All memory of one compilation lives in one arena and is
 * freed with it; nothing is freed singly. Allocation never returns NULL: when
 * the system has no memory left the process reports it and stops, the one
 * place where that happens.
 */
#ifndef NEST_LANG_BASE_ARENA_H
#define NEST_LANG_BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *block;	/* newest block first */
	size_t used;			/* bytes handed out in that block */
	size_t total_bytes;		/* bytes taken from the system so far */
};

/* A point in an arena's life, to which it can be rewound. */
struct arena_mark {
	struct arena_block *block;
	size_t used;
};

void arena_init(struct arena *arena);
void arena_release(struct arena *arena);

/* Zeroed memory, aligned for any type. A size of 0 gives a valid pointer. */
void *arena_alloc(struct arena *arena, size_t size);

/* Zeroed memory for count elements; stops the process on overflow. */
void *arena_array(struct arena *arena, size_t count, size_t size);

/* A copy of length bytes of text, with a NUL added. */
char *arena_copy(struct arena *arena, const char *text, size_t length);

/* A formatted string in the arena. */
char *arena_printf(struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3), nonnull(2)));

struct arena_mark arena_mark(const struct arena *arena);

/* Frees everything allocated since the mark was taken. */
void arena_rewind(struct arena *arena, struct arena_mark mark);

#define ARENA_NEW(arena, type) ((type *)arena_alloc((arena), sizeof(type)))
#define ARENA_ARRAY(arena, type, count) \
	((type *)arena_array((arena), (count), sizeof(type)))

#endif
