/*
 * The index of a map output file: the partition of each of its pages.
 *
 *      partitions u32 | type tag u32 | key size u32 | value size u32 | rows u64 | bytes u64 | pages u32 | in memory u32
 *      the file's initial value, 16 bytes, if spark.io.encryption.enabled
 *      for each page, in the order of the file: partition u32 | bytes in the file u32
 *
 * Little-endian. Pages follow each other from the beginning of the file. The writer is untrusted: the index is checked
 * when it is read, and so is each page.
 */
#pragma once

#include "base/buf.h"
#include "shuffle/shuffle_output.h"

/* Limit of an index's partitions: a reader allocates 16 bytes for each. */
#define OUTPUT_INDEX_PARTITIONS (1u << 24)

/* Appends the index of @output, which has all its pages in its file. @in_memory: the file is a memfd. */
void output_index_put(const struct shuffle_output *output, bool in_memory, struct buf *index);

/* The beginning of an index. */
struct output_index {
        int partitions;
        fst_type type;
        bool in_memory;
        const uint8_t *iv; /* points into the index; NULL: the file is not encrypted */
};

/* Reads the beginning. Returns 0, or -EBADMSG with @error if it is invalid. */
int output_index_parse(const void *index, size_t len, struct output_index *out, struct fst_error *error);

/*
 * Makes an output with the pages of a parsed index and no file yet; *@size is the required file size. Returns 0, or
 * -EBADMSG with @error.
 */
int output_index_take(const void *index, size_t len, struct memory_manager *manager, struct shuffle_output **output,
                      uint64_t *size, struct fst_error *error);
