/* Percent-encoding of RFC 3986, for parts of URLs. */
#pragma once

struct buf;

/*
 * Appends @text with everything but letters, digits, "-._~" and the characters of @also as %XX, including characters
 * beyond ASCII.
 */
void percent_encode(struct buf *out, const char *text, const char *also);
