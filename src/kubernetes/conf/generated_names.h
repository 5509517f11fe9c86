/* Generates the unique names of a submission and its objects. */
#pragma once

#include "base/fs.h"

struct fresh_names {
        char app_id[64]; /* "spark-" and 32 hexadecimal digits */
        char unique[64]; /* six random hexadecimal digits, then the milliseconds since 1970, in Spark's format */
        char uuid[UUID_TEXT];
        char prefix[64]; /* of the names of objects; "": made from the application's name and `unique` */
};

void fresh_names_make(struct fresh_names *names);
