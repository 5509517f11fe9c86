/*
 * Formats ids by spark.deploy.appIdPattern, spark.deploy.driverIdPattern and spark.worker.idPattern. The patterns are
 * those of Java's String.format, limited to %s, %d, %05d, %5s, %-5s, %1$s and %%.
 */
#pragma once

#include "base/buf.h"

#include <stdint.h>

struct fst_error;

struct id_argument {
        const char *text; /* NULL: use the number */
        int64_t number;
};

/*
 * Appends @pattern with @args filled in. Returns 0, or -EINVAL with @error naming the invalid conversion (unknown,
 * without an argument, %d of a text) or the whitespace. @out is unchanged on failure.
 */
int id_pattern_format(struct buf *out, const char *pattern, const struct id_argument *args, int n,
                      struct fst_error *error);

/* Writes "20231101235959", the local time of @wall (ms since 1970). @text holds 15 bytes. */
void id_pattern_date(int64_t wall, char *text);
