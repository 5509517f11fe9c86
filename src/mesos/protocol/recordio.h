/*
 * RecordIO, the framing of Mesos's event streams: each record is its length in decimal digits, a line feed, and its
 * bytes. Records and the pieces in which they arrive are independent of each other.
 *
 *      struct recordio r = RECORDIO_INIT;
 *      recordio_feed(&r, data, n, on_record, owner, error);     → on_record(owner, record, len), once for each record
 *      recordio_deinit(&r);
 *
 * Pure: opens nothing and reads no clock. A hostile length costs no memory before its bytes arrive.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct fst_error;

/* Longest accepted record: the offers of some 100,000 agents in one event. */
#define RECORDIO_MAX_RECORD (64u << 20)

struct recordio {
        struct buf partial; /* the record so far */
        uint64_t length;    /* of the present record, as far as its digits have arrived */
        int digits;         /* of `length` so far */
        bool in_record;     /* the line feed after the length has arrived */
};

#define RECORDIO_INIT ((struct recordio){.length = 0})

/* @record is borrowed for the call. Nonzero ends the feeding. */
typedef int recordio_sink(void *owner, const uint8_t *record, size_t len);

/*
 * Passes each record that @data completes to @sink, in order, and keeps the rest. Returns 0; the sink's nonzero value;
 * -EPROTO with @error for a length that is not a number; -EMSGSIZE with @error for one above RECORDIO_MAX_RECORD;
 * -ENOMEM with @error. After a nonzero value, call only recordio_deinit or recordio_reset. The sink must not call
 * functions of @r.
 */
int recordio_feed(struct recordio *r, const void *data, size_t len, recordio_sink *sink, void *owner,
                  struct fst_error *error);

/* Begins a new stream. */
void recordio_reset(struct recordio *r);
void recordio_deinit(struct recordio *r);

/* Appends a record to @out. For the scripted servers of tests, too. */
void recordio_write(struct buf *out, const void *record, size_t len);
