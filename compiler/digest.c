/* SPDX-License-Identifier: MIT
 *
 * Digests of input files.
 */
#include "compiler/digest.h"

#include <nettle/sha2.h>

#include "lang/base/text.h"

const char *source_sha256(struct arena *arena, const struct source *source)
{
	struct sha256_ctx context;
	uint8_t digest[SHA256_DIGEST_SIZE];
	struct text text;

	sha256_init(&context);
	sha256_update(&context, source->length, (const uint8_t *)source->bytes);
	sha256_digest(&context, sizeof(digest), digest);
	text_init(&text, arena);
	for (size_t i = 0; i < sizeof(digest); i++)
		text_printf(&text, "%02x", digest[i]);
	return text.at;
}
