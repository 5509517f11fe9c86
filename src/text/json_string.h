/* Quotes strings as JSON literals. */
#pragma once

#include "base/buf.h"

/*
 * Appends @text to @b with quotes and escapes as Jackson writes them: \b, \t, \n, \f, \r, and \uXXXX for other control
 * characters. Each byte that is not valid UTF-8 becomes U+FFFD. NULL becomes null.
 */
void json_put_string(struct buf *b, const char *text);

/* As above for the @length bytes at @text, which may contain NUL. */
void json_put_string_n(struct buf *b, const char *text, size_t length);
