/*
 * The rows of parallelize as they travel: to tasks in other processes, each of which needs the slice of one partition.
 *
 *      magic "FSS1" u32 | kind of the rows u32 | rows u64 | bytes that follow u64 | xxh3 of these u64
 *      I64, F64, FIXED: the rows, one after another
 *      BYTES: the length of each row u32; then their bytes, one after another
 *
 * All little-endian. In memory that is aligned to 8, numbers are read where they lie.
 */
#pragma once

#include "rdd/rdd.h"

#include <firesteel/emit.h>

struct buf;

#define SLICE_HEADER 32

/* Where slice @i of @n of a collection of @count begins, as Spark's ParallelCollectionRDD cuts. @n is not 0. */
static inline uint64_t slice_start(uint64_t count, int i, int n)
{
        return (uint64_t)((unsigned __int128)count * (unsigned)i / (unsigned)n);
}

/* Bytes that all rows of @rdd, an RDD_PARALLELIZE node, take as one slice. */
size_t slice_size(const fst_rdd *rdd);

/*
 * Append the slice of partition @partition of @rdd (an RDD_PARALLELIZE node), or for -1 all its rows as one. -EINVAL
 * with @error for a partition that there is not, -E2BIG for a row of 4 GiB. Any thread.
 */
int slice_encode(const fst_rdd *rdd, int partition, struct buf *out, struct fst_error *error);

/* Reading one: borrows the bytes that it was opened on. */
struct slice {
        fst_type type;
        uint64_t rows, at;
        const unsigned char *column; /* the rows, or their lengths */
        const char *heap;            /* BYTES */
        size_t heap_size, heap_at;
};

/*
 * Open untrusted @data as @rows rows of @type (one column). -EBADMSG with @error when it is damaged, or something
 * else.
 */
int slice_open(struct slice *slice, fst_type type, uint64_t rows, const void *data, size_t len,
               struct fst_error *error);

/* The next rows, @most at a time, as a column; bytes are viewed through @views, room for as many. 0 at the end. */
uint32_t slice_next(struct slice *slice, uint32_t most, fst_bytes *views, fst_column *column);
