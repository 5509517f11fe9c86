/* Bytes as text: RFC 4648's base64. */
#pragma once

#include "base/buf.h"

/* Append @len bytes as text, with padding. */
void base64_put(struct buf *out, const void *data, size_t len);

/*
 * Append the bytes that @text stands for. Either alphabet, with or without padding; false, with some of it appended,
 * for any other character or a length that cannot be.
 */
bool base64_decode(const char *text, size_t len, struct buf *out);
