/* SPDX-License-Identifier: MIT
 *
 * Blocks are taken from the system with malloc and chained, newest first.
 * Under AddressSanitizer what is not handed out is poisoned, so that running
 * over the end of an allocation is found even inside a block.
 */
#include "lang/base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_POISON 1
#endif
#endif

#ifdef ARENA_POISON
#include <sanitizer/asan_interface.h>
#define poison(at, size) ASAN_POISON_MEMORY_REGION((at), (size))
#define unpoison(at, size) ASAN_UNPOISON_MEMORY_REGION((at), (size))
#define ARENA_GAP_BYTES ARENA_ALIGN	/* between allocations, never valid */
#else
#define poison(at, size) ((void)(at), (void)(size))
#define unpoison(at, size) ((void)(at), (void)(size))
#define ARENA_GAP_BYTES 0
#endif

/* Debug builds set this small, to make blocks end everywhere. */
#ifndef ARENA_BLOCK_BYTES
#define ARENA_BLOCK_BYTES ((size_t)64 * 1024)
#endif
#define ARENA_BLOCK_BYTES_MAX ((size_t)4 * 1024 * 1024)
#define ARENA_ALIGN _Alignof(max_align_t)

struct arena_block {
	struct arena_block *older;
	size_t capacity;		/* of bytes */
	_Alignas(max_align_t) unsigned char bytes[];
};

static _Noreturn void out_of_memory(void)
{
	fputs("nestc: out of memory\n", stderr);
	exit(70);
}

void arena_init(struct arena *arena)
{
	*arena = (struct arena){ 0 };
}

static void drop_newest_block(struct arena *arena)
{
	struct arena_block *block = arena->block;

	arena->block = block->older;
	arena->total_bytes -= block->capacity;
	unpoison(block->bytes, block->capacity);
	free(block);
}

void arena_release(struct arena *arena)
{
	while (arena->block)
		drop_newest_block(arena);
	arena_init(arena);
}

/* Blocks grow with the arena, so that their number stays small. */
static size_t next_block_bytes(const struct arena *arena, size_t needed)
{
	size_t size = ARENA_BLOCK_BYTES;

	while (size < arena->total_bytes && size < ARENA_BLOCK_BYTES_MAX)
		size *= 2;
	return needed > size ? needed : size;
}

static void add_block(struct arena *arena, size_t needed)
{
	size_t capacity = next_block_bytes(arena, needed);
	struct arena_block *block;

	if (capacity > SIZE_MAX - sizeof(*block))
		out_of_memory();
	block = malloc(sizeof(*block) + capacity);
	if (!block)
		out_of_memory();
	block->older = arena->block;
	block->capacity = capacity;
	poison(block->bytes, capacity);
	arena->block = block;
	arena->used = 0;
	arena->total_bytes += capacity;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	size_t taken;
	void *at;

	if (size > SIZE_MAX / 2)
		out_of_memory();
	taken = (size + ARENA_GAP_BYTES + ARENA_ALIGN - 1) &
		~(ARENA_ALIGN - 1);
	if (!arena->block || taken > arena->block->capacity - arena->used)
		add_block(arena, taken);
	at = arena->block->bytes + arena->used;
	arena->used += taken;
	unpoison(at, size);
	return memset(at, 0, size);
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size)
		out_of_memory();
	return arena_alloc(arena, count * size);
}

char *arena_copy(struct arena *arena, const char *text, size_t length)
{
	char *copy;

	if (length == SIZE_MAX)
		out_of_memory();
	copy = arena_alloc(arena, length + 1);
	if (length)
		memcpy(copy, text, length);
	return copy;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
	va_list arguments;
	char *text;
	int length;

	va_start(arguments, format);
	length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (length < 0)
		return arena_copy(arena, "", 0);
	text = arena_alloc(arena, (size_t)length + 1);
	va_start(arguments, format);
	vsnprintf(text, (size_t)length + 1, format, arguments);
	va_end(arguments);
	return text;
}

struct arena_mark arena_mark(const struct arena *arena)
{
	return (struct arena_mark){ .block = arena->block,
				    .used = arena->used };
}

void arena_rewind(struct arena *arena, struct arena_mark mark)
{
	while (arena->block != mark.block)
		drop_newest_block(arena);
	arena->used = mark.used;
	if (arena->block)
		poison(arena->block->bytes + mark.used,
		       arena->block->capacity - mark.used);
}
