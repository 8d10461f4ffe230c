/* SPDX-License-Identifier: MIT
 *
 * Names of files, as text: nothing here looks at the file system.
 */
#ifndef NEST_LANG_BASE_PATH_H
#define NEST_LANG_BASE_PATH_H

#include "lang/base/arena.h"

/* The directory of a path with its slash; "" if it has none. */
const char *path_directory(struct arena *arena, const char *path);

/* What a path names in its directory: all of it after the last slash. */
const char *path_name(const char *path);

/* A path that is meant relative to a directory ("" is the current one). Paths
 * from the root stay; a leading "./" goes. */
const char *path_join(struct arena *arena, const char *directory,
		      const char *path);

#endif
