/* SPDX-License-Identifier: MIT
 *
 * Names of files.
 */
#include "lang/base/path.h"

#include <string.h>

const char *path_directory(struct arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? arena_copy(arena, path, (size_t)(slash - path) + 1) : "";
}

const char *path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

const char *path_join(struct arena *arena, const char *directory,
		      const char *path)
{
	size_t length = strlen(directory);

	while (path[0] == '.' && path[1] == '/') {
		path += 2;
		while (*path == '/')
			path++;
	}
	if (path[0] == '/' || !length)
		return path;
	return arena_printf(arena, "%s%s%s", directory,
			    directory[length - 1] == '/' ? "" : "/", path);
}
