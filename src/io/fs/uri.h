/* Parses URIs like Java's java.net.URI, by which Spark distinguishes URIs from paths: RFC 2396 with a few liberties
 * (characters beyond ASCII, an empty authority before a path, brackets in queries). */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

struct uri_part {
        const char *text; /* points into the parsed text; NULL: missing */
        size_t len;
};

struct uri {
        struct uri_part scheme, authority, path, query, fragment; /* as written, with %XX */
        bool opaque; /* "mailto:x": a scheme without a path; the remaining text is in no part */
};

/* True if Java accepts @text as a URI. Then *@out has its parts, borrowed from @text. Otherwise *@out is unchanged. */
bool uri_parse(const char *text, struct uri *out);

/* True if the scheme equals @name, including case. */
bool uri_has_scheme(const struct uri *u, const char *name);

/* A part with %XX decoded, "" for a missing part. The caller owns it. */
char *uri_decode(struct uri_part part);

/* The local path of a path or file: URI @name; NULL for another scheme. The caller owns it. */
char *uri_local_path(const char *name);

/* Appends @path with characters that a URI's path may not have as %XX. Keeps "/" and characters beyond ASCII. */
void uri_put_path(struct buf *out, const char *path);

/* Appends @text as a query or fragment; "%" becomes %25. */
void uri_put_fragment(struct buf *out, const char *text);
