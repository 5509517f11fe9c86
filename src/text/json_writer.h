/*
 * Writes JSON in the layout of Spark's pages: two blanks of indent, lists of objects on the line of their bracket.
 *
 *      struct json_out j = {.out = &b};
 *      json_begin(&j);                          {
 *      json_text(&j, "id", worker->id);           "id" : "w-1",
 *      json_int(&j, "cores", 4);                  "cores" : 4,
 *      json_list(&j, "drivers");                  "drivers" : [ {
 *      json_begin(&j); … json_end(&j);            } ]
 *      json_list_end(&j);
 *      json_end(&j);                            }
 *
 * Inside a list the name is NULL. A text may contain any bytes: invalid UTF-8 becomes U+FFFD.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

#define JSON_OUT_DEEPEST 16

struct json_out {
        struct buf *out;
        int depth; /* depth of nested objects and lists */
        struct {
                bool list;
                int64_t n;
        } level[JSON_OUT_DEEPEST];
};

void json_begin(struct json_out *j); /* the root object, or an element of a list */
void json_begin_in(struct json_out *j, const char *name);
void json_end(struct json_out *j);
void json_list(struct json_out *j, const char *name);
void json_list_end(struct json_out *j);
void json_text(struct json_out *j, const char *name, const char *value); /* NULL: null */
void json_int(struct json_out *j, const char *name, int64_t value);
void json_double(struct json_out *j, const char *name, double value); /* as Java's Double.toString; "NaN" in quotes */
void json_bool(struct json_out *j, const char *name, bool value);
