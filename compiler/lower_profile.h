/* SPDX-License-Identifier: MIT
 *
 * What the files share that read a profile. Only lower_profile*.c include this.
 */
#ifndef NEST_COMPILER_LOWER_PROFILE_H
#define NEST_COMPILER_LOWER_PROFILE_H

#include "compiler/json_file.h"
#include "compiler/lower.h"
#include "compiler/profile.h"

struct profile_reader {
	struct lower *lower;
	struct json_file json;
	struct ir_profile *profile;
	double per_second;		/* units of the times in the file */
	uint32_t wrong;			/* entries reported */
	size_t entry;			/* being read */
};

/* Keys a file or an entry may have; another is most likely a slip, and would
 * be ignored in silence. */
bool profile_check_keys(struct profile_reader *reader, const json_t *object,
			struct span (*place)(const struct profile_reader *),
			const char *what, const char *const *known,
			uint32_t count);

/* Reads `layers` into the profile, sorted; false after reported mistakes. */
bool profile_read_entries(struct profile_reader *reader);

#endif
