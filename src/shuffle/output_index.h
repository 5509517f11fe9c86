/*
 * The index of a map output that is a file: which of the pages in it belong to which partition.
 *
 *      partitions u32 | type tag u32 | key size u32 | value size u32 | rows u64 | bytes u64 | pages u32 | in memory u32
 *      the file's initial value, 16 bytes, if spark.io.encryption.enabled
 *      for each page, in the order of the file: partition u32 | bytes in the file u32
 *
 * Little-endian. Pages lie one behind the other from the file's beginning on. Whoever wrote it may be damaged or
 * hostile: what is read is checked, and the pages themselves are verified when they are read.
 */
#pragma once

#include "base/buf.h"
#include "shuffle/shuffle_output.h"

/* The most partitions that an index may have: a reader makes 16 bytes for each. */
#define OUTPUT_INDEX_PARTITIONS (1u << 24)

/* Append the index of @output, all of whose pages are in its file. @in_memory: which is a memfd. */
void output_index_put(const struct shuffle_output *output, bool in_memory, struct buf *index);

/* What an index begins with. */
struct output_index {
        int partitions;
        fst_type type;
        bool in_memory;
        const uint8_t *iv; /* in the index; NULL: the file is plain */
};

/* Read the beginning. 0, or -EBADMSG with @error for one that cannot be. */
int output_index_parse(const void *index, size_t len, struct output_index *out, struct fst_error *error);

/*
 * An output with the pages of an index that was parsed, and no file yet; *@size is how long that must be. 0, or
 * -EBADMSG with @error.
 */
int output_index_take(const void *index, size_t len, struct memory_manager *manager, struct shuffle_output **output,
                      uint64_t *size, struct fst_error *error);
