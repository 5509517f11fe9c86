/* The R package sources in a jar, below R/pkg. Loads libarchive to read them. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct fst_error;

/*
 * Whether the jar's manifest declares an R package. Returns -EINVAL with Java's message for a file that is not a jar,
 * or for a damaged manifest.
 */
int r_sources_are_in(const char *jar, bool *out, struct fst_error *error);

/*
 * Extracts the sources into the existing directory @into, and lists each entry on @out unless that is NULL. Returns
 * -EINVAL "Malicious zip entry escaping target dir: …" for a name that leads outside, -E2BIG above the size limits,
 * -EIO for a damaged jar, -errno if a file cannot be written.
 */
int r_sources_extract(const char *jar, const char *into, FILE *out, struct fst_error *error);
