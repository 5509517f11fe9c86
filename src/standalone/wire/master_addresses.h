/* The addresses in the URL of a standalone cluster's masters: spark://host:port[,host:port…]. */
#pragma once

#include "base/string_list.h"

struct fst_error;

/*
 * Append each "host:port" of @url to @out. Returns 0, or -EINVAL with @error and @out unchanged if @url does not start
 * with "spark://", has no address, or has one that is not of the form host:port with a port from 1 to 65535.
 */
int master_addresses_parse(const char *url, struct string_list *out, struct fst_error *error);
