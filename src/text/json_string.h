/* Strings as JSON literals. */
#pragma once

#include "base/buf.h"

/*
 * Append @text to @b with quotes and escapes, as Jackson writes it: \b, \t, \n, \f, \r, and \uXXXX for other control
 * characters. Each byte that is not part of a valid UTF-8 sequence becomes U+FFFD. NULL is written as null.
 */
void json_put_string(struct buf *b, const char *text);

/* The same for the @length bytes at @text, which may contain NUL. */
void json_put_string_n(struct buf *b, const char *text, size_t length);
