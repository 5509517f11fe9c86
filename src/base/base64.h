/* Base64 (RFC 4648). */
#pragma once

#include "base/buf.h"

/* Appends the base64 text of @len bytes, with padding. */
void base64_put(struct buf *out, const void *data, size_t len);

/*
 * Appends the bytes that @text encodes. Accepts both alphabets, with or without padding. Returns false for any other
 * character or an invalid length. Some bytes may have been appended by then.
 */
bool base64_decode(const char *text, size_t len, struct buf *out);
