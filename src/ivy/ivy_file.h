/*
 * ivy.xml, as local Ivy repositories have it.
 *
 * Configurations, publications, dependencies with their mappings, exclusions and artifacts, and overrides are
 * understood; conflict managers and what Ivy computes (extends, include) are refused.
 */
#pragma once

#include "ivy/module.h"

struct fst_error;

/* -EINVAL or -ENOTSUP with @error. */
int ivy_file_read(struct names *n, const char *data, size_t len, struct module **module, struct fst_error *error);
