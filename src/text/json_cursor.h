/*
 * Reads JSON in place and without a tree, for lines of which there are millions.
 *
 *      static const struct json_field fields[] = {
 *              JSON_FIELD(INT32, struct point, x, "X"),
 *              JSON_FIELD(TEXT, struct point, name, "Name"),
 *      };
 *      struct json_cursor c = {.at = line, .end = line + length};
 *      if (!json_read_object(&c, &JSON_FIELDS(fields), &point, NULL))
 *              complain(c.problem);
 *
 * Fields are tried in the order of the table, so that an object whose fields have this order costs one comparison for
 * each field. Other orders work too. Unknown fields are skipped, missing ones leave their members unchanged, and so
 * does null, except that it sets a text to NULL.
 *
 * Strings are unescaped where they lie and end with NUL: the text changes, and a part of it can be read only once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of readable bytes that must follow the end. The first of them is 0. */
#define JSON_CURSOR_SLACK 64

struct json_cursor {
        char *at, *end;
        const char *problem; /* static text; NULL: none */
};

enum json_kind {
        JSON_KIND_INT64,
        JSON_KIND_INT32,
        JSON_KIND_BOOL,
        JSON_KIND_DOUBLE,
        JSON_KIND_TEXT,
        JSON_KIND_OBJECT,
        JSON_KIND_CALL
};

/* Reads a value into @base. Returns false with c->problem. */
typedef bool json_read_value(struct json_cursor *c, void *base, void *context);

struct json_fields {
        const struct json_field *fields;
        size_t n;
};

struct json_field {
        const char *quoted; /* `"Name":` */
        uint8_t length, kind;
        uint16_t offset;
        const struct json_fields *object; /* JSON_KIND_OBJECT: its fields; base moves by the offset */
        json_read_value *call;            /* JSON_KIND_CALL; base moves by the offset; NULL: skip the value */
};

#define JSON_FIELD_HEAD(name) .quoted = "\"" name "\":", .length = sizeof(name) + 2
#define JSON_FIELD(what, type, member, name)                                                                           \
        {                                                                                                              \
                JSON_FIELD_HEAD(name), .kind = JSON_KIND_##what, .offset = offsetof(type, member)                      \
        }
#define JSON_FIELD_OBJECT(table, place, name)                                                                          \
        {                                                                                                              \
                JSON_FIELD_HEAD(name), .kind = JSON_KIND_OBJECT, .offset = (place), .object = (table)                  \
        }
#define JSON_FIELD_CALL(function, place, name)                                                                         \
        {                                                                                                              \
                JSON_FIELD_HEAD(name), .kind = JSON_KIND_CALL, .offset = (place), .call = (function)                   \
        }
#define JSON_FIELDS(array)                                                                                             \
        (const struct json_fields)                                                                                     \
        {                                                                                                              \
                (array), sizeof(array) / sizeof((array)[0])                                                            \
        }

/* All return false with c->problem for text that is not JSON or has another type. */
bool json_read_object(struct json_cursor *c, const struct json_fields *fields, void *base, void *context);
bool json_read_int(struct json_cursor *c, int64_t *value); /* fractions are cut off */
bool json_read_double(struct json_cursor *c, double *value);
bool json_read_text(struct json_cursor *c, char **text, size_t *length); /* @length may be NULL; null: NULL, 0 */
bool json_skip_value(struct json_cursor *c);

/*
 * Loop over an array or an object:
 *
 *      bool more = json_begin_array(&c);
 *      for (; more; more = json_next_element(&c)) read one value
 *      if (c.problem) …
 */
bool json_begin_array(struct json_cursor *c);
bool json_next_element(struct json_cursor *c);
bool json_begin_members(struct json_cursor *c, char **name);
bool json_next_member(struct json_cursor *c, char **name);

/* True if only blanks follow. */
bool json_at_end(struct json_cursor *c);
