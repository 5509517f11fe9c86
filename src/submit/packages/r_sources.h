/* The sources of the R package in a jar, below R/pkg. libarchive is loaded to read it. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

struct fst_error;

/* Whether the jar's manifest says so. -EINVAL with Java's sentence for what is no jar or has a damaged manifest. */
int r_sources_are_in(const char *jar, bool *out, struct fst_error *error);

/*
 * Extract them into the existing directory @into, each entry told on @out unless that is NULL. -EINVAL "Malicious zip
 * entry escaping target dir: …" for a name that leads elsewhere, -E2BIG for more than there should be, -EIO for a
 * damaged jar, -errno for files that cannot be written.
 */
int r_sources_extract(const char *jar, const char *into, FILE *out, struct fst_error *error);
