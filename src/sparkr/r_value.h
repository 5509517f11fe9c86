/*
 * Typed values as R and Spark's R backend exchange them, and the requests made of them. Pure.
 *
 * A value is a letter and its content, big-endian. Strings from R end with a NUL that their length counts. Values that
 * were read borrow from the message and from an arena.
 */
#pragma once

#include "base/arena.h"

#include <firesteel/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct fst_error;

/* The letters. */
enum r_type {
        R_NULL = 'n',
        R_INT = 'i',
        R_DOUBLE = 'd',
        R_BOOL = 'b',
        R_STRING = 'c',
        R_BYTES = 'r',
        R_DATE = 'D',  /* a string, YYYY-MM-DD */
        R_TIME = 't',  /* seconds since 1970 */
        R_ARRAY = 'a', /* elements of one type */
        R_LIST = 'l',
        R_STRUCT = 's', /* a list */
        R_MAP = 'e',
        R_OBJECT = 'j', /* an id */
};

struct r_value {
        enum r_type type;
        union {
                int32_t integer; /* also of R_BOOL: 0 or 1 */
                double number;
                fst_bytes bytes; /* R_STRING, R_DATE, R_OBJECT: a NUL follows */
                struct r_values {
                        struct r_value *items;
                        size_t n;
                } list; /* R_MAP: key, value, key, value, … */
        };
};

/* A call: of a member of an object (its id), or of a class (its name). */
struct r_request {
        bool is_static;
        const char *target, *member;
        struct r_values arguments;
};

/*
 * Reads a request from @len bytes, which end with a NUL behind them (as in struct buf). Returns 0, or -EBADMSG with
 * @error. Lists may be 32 levels deep.
 */
int r_request_read(const char *data, size_t len, struct arena *arena, struct r_request *request,
                   struct fst_error *error);

/*
 * Appends a value with its letter. An array whose elements are no numbers becomes a list, as by Spark's backend. A map
 * has strings as keys.
 */
void r_value_put(struct buf *out, const struct r_value *value);

/* Appends answers: of a call that succeeded, of one that failed, and the sign that a call is still running. */
void r_answer_put(struct buf *out, const struct r_value *value);
void r_answer_put_error(struct buf *out, const char *message);
void r_answer_put_waiting(struct buf *out);

/* Appends a number or a string as in the file and the handshake that start a session. */
void r_value_put_int(struct buf *out, int32_t x);
void r_value_put_string(struct buf *out, fst_bytes text);

static inline struct r_value r_value_int(int32_t x)
{
        return (struct r_value){.type = R_INT, .integer = x};
}

static inline struct r_value r_value_bool(bool x)
{
        return (struct r_value){.type = R_BOOL, .integer = x};
}

static inline struct r_value r_value_double(double x)
{
        return (struct r_value){.type = R_DOUBLE, .number = x};
}

/* A string that is copied to @arena, or R_NULL for NULL. */
struct r_value r_value_string(struct arena *arena, const char *text);
