/*
 * Objects as Java serializes them (java.io.ObjectOutputStream), read into a tree: what the index of a file of
 * aggregated logs is.
 *
 *      _cleanup_(arena_deinit) struct arena arena = ARENA_INIT;
 *      const struct java_object *root;
 *      r = java_object_read(&arena, data, len, &root, error);
 *      const struct java_object *list = java_object_at(root, "logMetas");
 *      for (size_t i = 0; list && i < list->n_items; i++) …
 *
 * No class is known: an object has the fields that the stream describes. What a class writes by itself, as the elements
 * of java.util.ArrayList and the keys and values of java.util.HashMap, are its items.
 */
#pragma once

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

struct fst_error;

#define JAVA_OBJECTS_MAX_SIZE ((size_t)32 << 20) /* of a stream */

enum java_value_kind {
        JAVA_NULL,
        JAVA_NUMBER, /* a whole number, a character or a truth value; floating-point numbers are 0 */
        JAVA_TEXT,   /* a string, or the name of an enumeration's constant */
        JAVA_OBJECT,
};

struct java_value {
        enum java_value_kind kind;
        union {
                int64_t number;
                const char *text;
                const struct java_object *object;
        };
};

struct java_field {
        const char *name;
        struct java_value value;
};

/* Objects may point to each other in a cycle. */
struct java_object {
        const char *class_name; /* "java.util.ArrayList" */
        struct java_field *fields;
        struct java_value *items;
        size_t n_fields, n_items;
};

/*
 * Reads the first object of the stream of @len bytes. The tree lies in @arena and borrows nothing. Returns 0; -EBADMSG
 * with @error for a damaged stream; -ENOTSUP for arrays, proxies and classes that write themselves whole; -EFBIG for a
 * stream larger than JAVA_OBJECTS_MAX_SIZE.
 */
int java_object_read(struct arena *arena, const void *data, size_t len, const struct java_object **out,
                     struct fst_error *error);

/* The field @name of @object as an object, text or number; NULL, NULL or -1 if it is none, or @object is NULL. */
const struct java_object *java_object_at(const struct java_object *object, const char *name);
const char *java_object_text(const struct java_object *object, const char *name);
int64_t java_object_number(const struct java_object *object, const char *name);
