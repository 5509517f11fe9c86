/*
 * Reads ivy.xml, the description in local Ivy repositories.
 *
 * Supports configurations, publications, dependencies with mappings, exclusions and artifacts, and overrides. Rejects
 * conflict managers and Ivy's computed parts (extends, include).
 */
#pragma once

#include "ivy/module.h"

struct fst_error;

/* Returns -EINVAL or -ENOTSUP with @error. */
int ivy_file_read(struct names *n, const char *data, size_t len, struct ivy_module **module, struct fst_error *error);
