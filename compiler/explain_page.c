/* SPDX-License-Identifier: MIT
 *
 * Finds the explanation of a code among the embedded pages.
 */
#include "compiler/explain_page.h"

#include <string.h>

#include "lang/base/path.h"

const struct embedded_file *explain_page(enum diag_code code)
{
	const char *name = diag_code_name(code);
	size_t length = strlen(name);

	for (const struct embedded_file *page = nest_explain; page->path; page++) {
		const char *file = path_name(page->path);

		if (strncmp(file, name, length) == 0 && file[length] == '.')
			return page;
	}
	return NULL;
}
