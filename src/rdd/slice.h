/*
 * Slices of parallelize data on the wire: each task in another process needs the slice of one partition.
 *
 *      magic "FSS1" u32 | kind of the rows u32 | rows u64 | bytes that follow u64 | xxh3 of these u64
 *      I64, F64, FIXED: the rows, one after another
 *      BYTES: the length of each row u32; then their bytes, one after another
 *
 * All numbers are little-endian. If the buffer is aligned to 8 bytes, numbers are read in place.
 */
#pragma once

#include "rdd/rdd.h"

#include <firesteel/emit.h>

struct buf;

#define SLICE_HEADER 32

/* The start of slice @i of @n of a collection of @count rows, as in Spark's ParallelCollectionRDD. @n is not 0. */
static inline uint64_t slice_start(uint64_t count, int i, int n)
{
        return (uint64_t)((unsigned __int128)count * (unsigned)i / (unsigned)n);
}

/* The size in bytes of all rows of @rdd, an RDD_PARALLELIZE node, as one slice. */
size_t slice_size(const fst_rdd *rdd);

/* Appends the slice of partition @partition of @rdd (an RDD_PARALLELIZE node), or of all its rows for -1. Returns
 * -EINVAL with @error for an unknown partition, -E2BIG for a row of 4 GiB. Any thread. */
int slice_encode(const fst_rdd *rdd, int partition, struct buf *out, struct fst_error *error);

/* Reads a slice. Borrows the bytes that it was opened on. */
struct slice {
        fst_type type;
        uint64_t rows, at;
        const unsigned char *column; /* the rows, or their lengths */
        const char *heap;            /* BYTES */
        size_t heap_size, heap_at;
};

/* Opens untrusted @data as @rows rows of @type (one column). Returns -EBADMSG with @error if they are damaged or do not
 * match. */
int slice_open(struct slice *slice, fst_type type, uint64_t rows, const void *data, size_t len,
               struct fst_error *error);

/* Returns the next rows, at most @most, as a column, and their number (0 at the end). BYTES use @views, which has room
 * for @most. */
uint32_t slice_next(struct slice *slice, uint32_t most, fst_bytes *views, fst_column *column);
