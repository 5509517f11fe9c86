/* Parses query strings and bodies of forms: "appId=app-1&logType=stdout&x=%C3%A9". The input is untrusted. */
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
 * Appends the fields of @text. A percent sign without two hexadecimal digits stands for itself. Returns false, and
 * leaves @f unchanged, if a decoded value contains a NUL or if there are more than FORM_MOST_FIELDS.
 */
bool form_parse(struct form *f, const char *text, size_t len);

/* The first value of that name, or NULL. */
const char *form_get(const struct form *f, const char *name);

/*
 * Parses the first value of that name as a 64-bit number. Returns 1 and sets *@out, 0 if there is no value, -1 if the
 * value is not such a number.
 */
int form_get_int(const struct form *f, const char *name, int64_t *out);

/* Appends @len bytes of a path, decoded. A plus stays a plus. Returns false if there is a NUL. */
bool form_put_decoded(struct buf *out, const char *text, size_t len);

/* Whether @text has control characters, which are not valid in ids and must not reach log lines. */
bool form_has_controls(const char *text);
