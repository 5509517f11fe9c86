/*
 * URIs as Java's java.net.URI takes them, which decides in Spark what is a URI and what is a path: RFC 2396 with a few
 * liberties (characters beyond ASCII, an empty authority before a path, brackets in queries).
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

struct uri_part {
        const char *text; /* into what was parsed; NULL: not there */
        size_t len;
};

struct uri {
        struct uri_part scheme, authority, path, query, fragment; /* as written, %XX and all */
        bool opaque; /* "mailto:x": a scheme and no path; what stands there is in no part */
};

/* Whether Java takes @text for a URI; then its parts in *@out, borrowed from @text. Nothing is kept otherwise. */
bool uri_parse(const char *text, struct uri *out);

/* Whether the scheme is @name, letter for letter. */
bool uri_has_scheme(const struct uri *u, const char *name);

/* A part with its %XX as the bytes they stand for, "" for one that is not there. The caller owns it. */
char *uri_decode(struct uri_part part);

/* The path that @name is or, for a file: URI, that it names; NULL for another scheme. The caller owns it. */
char *uri_local_path(const char *name);

/* Append @path with what a URI's path may not hold as %XX. "/" stays, and what is beyond ASCII. */
void uri_put_path(struct buf *out, const char *path);

/* Append @text as a query or fragment, "%" too as %25. */
void uri_put_fragment(struct buf *out, const char *text);

/* Append @text with all but letters, digits, "-._~" and what @also names as %XX, also what is beyond ASCII. */
void uri_put_quoted(struct buf *out, const char *text, const char *also);
