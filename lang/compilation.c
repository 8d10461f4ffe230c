/* SPDX-License-Identifier: MIT
 *
 * Start and end of a compilation, and the reading of its files.
 */
#include "lang/compilation.h"

#include <errno.h>
#include <string.h>

/* Deep enough for any spec a person writes, shallow enough for the stack. */
#define DEPTH_MAX_DEFAULT 400u
/* A model of a thousand different layers takes some ten thousand steps. */
#define STEP_MAX_DEFAULT 1000000u

void compilation_init(struct compilation *compilation)
{
	memset(compilation, 0, sizeof(*compilation));
	arena_init(&compilation->arena);
	intern_init(&compilation->intern, &compilation->arena);
	sources_init(&compilation->sources, &compilation->arena);
	diags_init(&compilation->diags, &compilation->arena,
		   &compilation->sources);
	compilation->depth_max = DEPTH_MAX_DEFAULT;
	compilation->step_max = STEP_MAX_DEFAULT;
}

void compilation_release(struct compilation *compilation)
{
	arena_release(&compilation->arena);
	memset(compilation, 0, sizeof(*compilation));
}

bool compilation_read(struct compilation *compilation, const char *path,
		      struct span span, uint32_t *file)
{
	struct diags *diags = &compilation->diags;

	for (const struct overlay *overlay = compilation->overlay; overlay;
	     overlay = overlay->next) {
		if (strcmp(overlay->path, path) != 0)
			continue;
		*file = sources_add_file(&compilation->sources, path,
					 overlay->bytes, overlay->length);
		return true;
	}
	errno = 0;
	switch (sources_read(&compilation->sources, path, file)) {
	case SOURCE_OK:
	case SOURCE_NOT_TEXT:
		return true;
	case SOURCE_TOO_LARGE:
		return diag_error(diags, E_FILE_SIZE, span,
				  "'%s' has more than %u bytes", path,
				  SOURCE_BYTES_MAX);
	case SOURCE_UNREADABLE:
		break;
	}
	return diag_error(diags, E_UNREADABLE, span, "'%s' cannot be read: %s",
			  path, strerror(errno));
}
