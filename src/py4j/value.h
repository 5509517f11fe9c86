/*
 * Values of the Py4J protocol: the parts of a command and its answer.
 *
 * A part is one line: a letter for the type and the value as text. An answer is one line as well: '!', 'y' for a value
 * or 'x' for an exception, and a part. Text escapes backslash, line feed and carriage return, so that a value never
 * contains a line end.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <inttypes.h>

struct fst_error;
struct py4j_object;

/* The letters of the protocol. An object's class has the letter of an answer: 'r', or that of a collection. */
enum py4j_type {
        PY4J_NULL = 'n',
        PY4J_BOOL = 'b',
        PY4J_INT = 'i',
        PY4J_LONG = 'L',
        PY4J_DOUBLE = 'd',
        PY4J_DECIMAL = 'D',
        PY4J_STRING = 's',
        PY4J_BYTES = 'j',
        PY4J_OBJECT = 'r',
        PY4J_PROXY = 'f', /* a Python object that could be called back: only its text is kept */
        PY4J_VOID = 'v',  /* from here on in answers only */
        PY4J_PACKAGE = 'p',
        PY4J_CLASS = 'c',
        PY4J_METHOD = 'm',
        PY4J_NO_MEMBER = 'o',
};

struct py4j_value {
        enum py4j_type type;
        union {
                bool yes;
                int64_t number;             /* INT, LONG */
                double real;                /* DOUBLE */
                struct py4j_object *object; /* OBJECT: a reference that the value owns; NULL until the id is resolved */
        };
        char *text; /* STRING, DECIMAL, CLASS, PROXY, BYTES (decoded), OBJECT (the id, in a command); owned; ends in NUL
                     */
        size_t len;
};

#define PY4J_VALUE_INIT ((struct py4j_value){.type = PY4J_VOID})

/* Releases text and reference. The value is void afterwards. */
void py4j_value_deinit(struct py4j_value *value);

/* A copy with a text and a reference of its own. */
struct py4j_value py4j_value_copy(const struct py4j_value *value);

/* Values. The second copies its text; the third takes over a reference, and is null for NULL. */
struct py4j_value py4j_bool(bool yes);
struct py4j_value py4j_int(int64_t number);
struct py4j_value py4j_long(int64_t number);
struct py4j_value py4j_double(double real);
struct py4j_value py4j_string(const char *text); /* null for NULL */
struct py4j_value py4j_string_n(const char *text, size_t len);
struct py4j_value py4j_bytes(const void *data, size_t len);
struct py4j_value py4j_object_value(struct py4j_object *object);

/* Whether two values are equal as Java's collections compare: numbers by type and value, objects by identity. */
bool py4j_value_equals(const struct py4j_value *a, const struct py4j_value *b);

/* Appends the text of Java's String.valueOf. */
void py4j_value_print(const struct py4j_value *value, struct buf *out);

/*
 * Parses the part @line of @len bytes, without its line feed. Returns 0, or -EINVAL with @error and *@out unchanged.
 * Ids of objects stay unresolved.
 */
int py4j_value_parse(const char *line, size_t len, struct py4j_value *out, struct fst_error *error);

/* Appends letter and text as in an answer, for any value but an object, which needs an id. */
void py4j_value_write(const struct py4j_value *value, struct buf *out);

/* Appends @text with escapes. */
void py4j_escape(struct buf *out, const char *text, size_t len);
