/*
 * The patterns of ids: spark.deploy.appIdPattern, spark.deploy.driverIdPattern and spark.worker.idPattern. They are
 * formats of Java's String.format, of which %s, %d, %05d, %5s, %-5s, %1$s and %% are known here.
 */
#pragma once

#include "base/buf.h"

#include <stdint.h>

struct fst_error;

struct id_argument {
        const char *text; /* NULL: the number */
        int64_t number;
};

/*
 * Append @pattern with @args filled in. 0, or -EINVAL with a sentence that says which conversion is wrong (unknown, an
 * argument that is not there, %d of a text) or that it has blanks; then @out is as before.
 */
int id_pattern_format(struct buf *out, const char *pattern, const struct id_argument *args, int n,
                      struct fst_error *error);

/* "20231101235959": the local time of @wall, ms since 1970. @text holds 15 bytes. */
void id_pattern_date(int64_t wall, char *text);
