/*
 * Reads pickles of plain values: numbers, texts, bytes, truth values, None, and lists and tuples of these, in protocols 2
 * to 5. Pure: it calls nothing by name, as Python's pickle module would.
 *
 * Values are a flat array: a list is followed by its elements, each with its own elements behind it.
 */
#pragma once

#include "base/vec.h"

#include <firesteel/types.h>

struct fst_error;

enum pickle_kind {
        PICKLE_NONE,
        PICKLE_BOOL,  /* number */
        PICKLE_INT,   /* number */
        PICKLE_BIG,   /* an int of more than 64 bits: real, its nearest double */
        PICKLE_FLOAT, /* real */
        PICKLE_TEXT,  /* bytes, UTF-8 */
        PICKLE_BYTES, /* bytes */
        PICKLE_LIST,  /* number: how many elements it has */
        PICKLE_TUPLE, /* likewise */
};

struct pickle_value {
        enum pickle_kind kind;
        size_t size; /* in the array: 1, and the sizes of its elements */
        union {
                int64_t number;
                double real;
                fst_bytes bytes; /* a view into the pickle */
        };
};

typedef VEC(struct pickle_value) pickle_values;

/* Limits of one pickle, so that references cannot make much of little. */
#define PICKLE_MAX_VALUES ((size_t)1 << 20)

/* "int", "str", …: the name of @kind in Python. */
const char *pickle_kind_name(enum pickle_kind kind);

/*
 * Reads the pickle in @data into @values, which it empties first. values->data[0] is the object. Returns -EBADMSG with
 * @error for damaged data, -ENOTSUP for objects of other classes (the message names the class if it can) and other
 * protocols, -E2BIG for more than PICKLE_MAX_VALUES values or deep nesting.
 */
int pickle_read(fst_bytes data, pickle_values *values, struct fst_error *error);
