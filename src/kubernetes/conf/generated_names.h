/* Generates the unique names of a submission and its objects. */
#pragma once

#include "base/fs.h"

struct fresh_names {
        char app_id[39]; /* "spark-" and 32 hexadecimal digits */
        char unique[18]; /* six random hexadecimal digits, then the milliseconds since 1970, in Spark's format */
        char uuid[UUID_TEXT];
};

void fresh_names_make(struct fresh_names *names);
