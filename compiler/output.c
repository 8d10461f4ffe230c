/* SPDX-License-Identifier: MIT
 *
 * Writes output files whole or not at all.
 */
#include "compiler/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/cli.h"
#include "lang/base/path.h"
#include "lang/diag.h"

/* Symbolic links that are followed before giving up. */
#define LINKS_MAX 32

void outputs_init(struct outputs *outputs, struct arena *arena,
		  struct diags *diags)
{
	*outputs = (struct outputs){ .arena = arena, .diags = diags };
}

bool outputs_add(struct outputs *outputs, const char *path, const char *bytes,
		 size_t length)
{
	struct output output = { .path = path, .bytes = bytes,
				 .length = length };

	if (path && strcmp(path, "-") == 0)
		output.path = NULL;
	for (size_t i = 0; output.path && i < outputs->all.count; i++) {
		const char *other = outputs->all.at[i].path;

		if (other && strcmp(other, output.path) == 0) {
			cli_complain("two outputs go to the same file '%s'",
				     output.path);
			return false;
		}
	}
	VEC_PUSH(&outputs->all, outputs->arena, output);
	return true;
}

static bool report(const struct outputs *outputs, const struct output *output)
{
	if (!output->path)
		return diag_error(outputs->diags, E_UNWRITABLE, SPAN_NONE,
				  "standard output cannot be written: %s",
				  strerror(errno));
	return diag_error(outputs->diags, E_UNWRITABLE, SPAN_NONE,
			  "'%s' cannot be written: %s", output->path,
			  strerror(errno));
}

static bool write_all(int descriptor, const char *bytes, size_t length)
{
	while (length) {
		ssize_t written = write(descriptor, bytes, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return false;
		bytes += written;
		length -= (size_t)written;
	}
	return true;
}

/* What a path finally names, which need not exist: a rename must replace the
 * file a link points to, not the link. */
static const char *follow_links(struct arena *arena, const char *path)
{
	for (int i = 0; i < LINKS_MAX; i++) {
		char link[4096];
		ssize_t length = readlink(path, link, sizeof(link) - 1);

		if (length < 0)
			return path;
		link[length] = '\0';
		path = link[0] == '/' ?
			       arena_copy(arena, link, (size_t)length) :
			       arena_printf(arena, "%s%s",
					    path_directory(arena, path), link);
	}
	return path;
}

static mode_t mode_of(const struct stat *existing)
{
	mode_t mask;

	if (existing)
		return existing->st_mode & 07777;
	mask = umask(0);
	umask(mask);
	return 0666 & ~mask;
}

/* Writes a regular file's new contents beside it. */
static bool write_aside(const struct outputs *outputs, struct output *output,
			const struct stat *existing)
{
	char *aside = arena_printf(outputs->arena, "%s.nestc-XXXXXX",
				   output->target);
	int descriptor = mkstemp(aside);
	bool fine;

	if (descriptor < 0)
		return report(outputs, output);
	output->aside = aside;
	fine = write_all(descriptor, output->bytes, output->length) &&
	       fchmod(descriptor, mode_of(existing)) == 0;
	if (!fine) {
		report(outputs, output);
		close(descriptor);
		return false;
	}
	return close(descriptor) == 0 || report(outputs, output);
}

static bool write_directly(const struct outputs *outputs,
			   const struct output *output, int descriptor)
{
	return write_all(descriptor, output->bytes, output->length) ||
	       report(outputs, output);
}

static bool write_special(const struct outputs *outputs,
			  const struct output *output)
{
	int descriptor = open(output->target, O_WRONLY | O_NOCTTY);
	bool fine;

	if (descriptor < 0)
		return report(outputs, output);
	fine = write_directly(outputs, output, descriptor);
	if (close(descriptor) != 0 && fine)
		fine = report(outputs, output);
	return fine;
}

/* Whether a path is another name of standard output (/dev/stdout): replacing
 * that file would take it away from whoever reads it. */
static bool is_standard_output(const struct stat *status)
{
	struct stat standard;

	return fstat(STDOUT_FILENO, &standard) == 0 &&
	       standard.st_dev == status->st_dev &&
	       standard.st_ino == status->st_ino;
}

/* Regular files only: others are written last, nothing can undo them. */
static bool stage(struct outputs *outputs)
{
	for (size_t i = 0; i < outputs->all.count; i++) {
		struct output *output = &outputs->all.at[i];
		struct stat status;
		bool exists;

		if (!output->path)
			continue;
		exists = stat(output->path, &status) == 0;
		if (exists && is_standard_output(&status)) {
			output->path = NULL;
			continue;
		}
		output->target = follow_links(outputs->arena, output->path);
		if (exists && S_ISDIR(status.st_mode)) {
			errno = EISDIR;
			return report(outputs, output);
		}
		if (exists && !S_ISREG(status.st_mode))
			continue;
		/* A rename would replace even a file that is write-protected. */
		if (exists && access(output->target, W_OK) != 0)
			return report(outputs, output);
		if (!write_aside(outputs, output,
				 exists ? &status : NULL))
			return false;
	}
	return true;
}

static bool write_unstaged(const struct outputs *outputs)
{
	for (size_t i = 0; i < outputs->all.count; i++) {
		const struct output *output = &outputs->all.at[i];

		if (!output->path && !write_directly(outputs, output, STDOUT_FILENO))
			return false;
		if (output->path && !output->aside && !write_special(outputs, output))
			return false;
	}
	return true;
}

static bool commit(struct outputs *outputs)
{
	for (size_t i = 0; i < outputs->all.count; i++) {
		struct output *output = &outputs->all.at[i];

		if (!output->aside)
			continue;
		if (rename(output->aside, output->target) != 0)
			return report(outputs, output);
		output->aside = NULL;
	}
	return true;
}

static void discard(struct outputs *outputs)
{
	for (size_t i = 0; i < outputs->all.count; i++)
		if (outputs->all.at[i].aside)
			unlink(outputs->all.at[i].aside);
}

bool outputs_write(struct outputs *outputs)
{
	if (stage(outputs) && write_unstaged(outputs) && commit(outputs))
		return true;
	discard(outputs);
	return false;
}
