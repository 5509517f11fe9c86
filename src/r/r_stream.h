/*
 * The stream between an executor and one R worker (SparkR's worker.R), as bytes: the head and the rows that go in, and
 * the items that come out. Pure.
 *
 * All numbers are big-endian. A string is an int length, which counts the NUL at its end, then the bytes and the NUL.
 * The input ends when the executor closes the connection.
 */
#pragma once

#include <firesteel/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/* SparkR's forms of rows. */
enum r_form {
        R_FORM_BYTE,   /* serialized R vectors */
        R_FORM_STRING, /* lines of text */
        R_FORM_ROW,    /* lists of typed values, which need no length on their way to a worker */
        R_FORMS,
};

/* SparkR's names of them. */
extern const char *const r_form_names[R_FORMS];

/* A broadcast variable travels with every task. */
struct r_broadcast {
        int64_t id;
        fst_bytes value;
};

struct r_head {
        int partition;
        enum r_form deserializer, serializer;
        fst_bytes packages, function; /* serialized by R */
        const struct r_broadcast *broadcasts;
        size_t n_broadcasts;
        int buckets; /* number of partitions of a shuffle, or -1 */
};

/* Appends the head, up to the flag of r_stream_put_flag. */
void r_stream_put_head(struct buf *out, const struct r_head *head);

/* Appends the flag that tells the worker whether rows follow. */
void r_stream_put_flag(struct buf *out, bool rows_follow);

/* Appends a row: R_FORM_BYTE a length and the bytes, R_FORM_STRING the line and a line end, R_FORM_ROW the bytes. */
void r_stream_put_row(struct buf *out, fst_bytes row, enum r_form form);

/* Appends a string with its NUL. */
void r_stream_put_string(struct buf *out, const char *text);

/* How a worker answers. */
enum r_answer {
        R_ANSWER_BYTES,    /* rows of bytes */
        R_ANSWER_LINES,    /* rows of text, each with a NUL behind it */
        R_ANSWER_SHUFFLED, /* pairs of a bucket and a row of bytes */
};

enum r_item_kind {
        R_ITEM_PART, /* the bytes end before the item does: `size` bytes are needed, or more */
        R_ITEM_ROW,
        R_ITEM_TIMES,
        R_ITEM_END,
};

/* The times of a worker: since 1970 and durations, in seconds. */
enum r_time { R_TIME_BOOT, R_TIME_INIT, R_TIME_BROADCAST, R_TIME_INPUT, R_TIME_COMPUTE, R_TIME_OUTPUT, R_TIMES };

struct r_item {
        enum r_item_kind kind;
        size_t size;   /* bytes that the item takes */
        int bucket;    /* of a row of R_ANSWER_SHUFFLED */
        fst_bytes row; /* borrows from the data */
        double times[R_TIMES];
};

/*
 * Reads the item at the start of the @len bytes at @data. Returns 0 with *@item, or -EBADMSG for bytes that a worker
 * does not send.
 */
int r_stream_read_item(enum r_answer answer, const char *data, size_t len, struct r_item *item);
