/*
 * Query strings and bodies of forms: "appId=app-1&logType=stdout&x=%C3%A9", by whomever they were sent.
 */
#pragma once

#include "base/buf.h"
#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

struct form_field {
        char *name, *value; /* decoded; "" for "name" and "name=" */
};

struct form {
        VEC(struct form_field) fields; /* in their order */
};

#define FORM_INIT ((struct form){0})
#define FORM_MOST_FIELDS 1000

void form_deinit(struct form *f);

/*
 * Append what @text says. A percent sign that begins no two hexadecimal digits stands for itself. False, and @f as it
 * was: there is a NUL among what was decoded, or there are more than FORM_MOST_FIELDS.
 */
bool form_parse(struct form *f, const char *text, size_t len);

/* The first value of that name; NULL if there is none. */
const char *form_get(const struct form *f, const char *name);

/*
 * The number that the first value of that name is: 1; 0 if there is none; -1 if it is none of 64 bits. *@out is
 * changed in the first case only.
 */
int form_get_int(const struct form *f, const char *name, int64_t *out);

/* Append @len bytes of a path, decoded; a plus stays one. False: there is a NUL among them. */
bool form_put_decoded(struct buf *out, const char *text, size_t len);

/* Whether @text has control characters, which no id has and no line of a log should. */
bool form_has_controls(const char *text);

/* Append @text so that it can stand as a value or in a path: everything but letters, digits and -._~ is encoded. */
void form_put_encoded(struct buf *out, const char *text);
