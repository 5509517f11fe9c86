/*
 * The format of an object with map outputs: the outputs of several map tasks of one shuffle, partition by partition, so
 * that a reduce task reads one range.
 *
 *      header      "FSTOBJ01"
 *      blocks      of partition 0, then 1, …; within a partition by output, in the order of the index
 *                      output u32 | check u32 | frame (store/page_frame.h)
 *      index       partitions u32 | outputs u32
 *                  for each output, ascending: map partition u32 | task id u64
 *                  for each partition: bytes of its blocks, as a varint
 *                  xxh3 of the index u64
 *      trailer     bytes of the index u32 | flags u32 (1: encrypted) | initial value, 16 bytes | lower half of the xxh3
 *                  of all before in the trailer u32 | 0 u32 | "FSTOBJE1"
 *
 * Little-endian. `check` is the lower half of the xxh3 of `output` and the frame's header; the frame's header has the
 * checksum of the page. So each byte that a reader uses is covered by a checksum. With spark.io.encryption.enabled,
 * blocks and index are encrypted by their offset in the object (store/file_cipher.h). Index and blocks are untrusted:
 * others may write to the store.
 */
#pragma once

#include "store/file_cipher.h"
#include "store/page_frame.h"

#include <stdbool.h>
#include <stdint.h>

struct file_system;
struct fst_error;
struct remote_output;
struct spill_space;

#define OBJECT_HEADER 8
#define OBJECT_TRAILER 40
#define OBJECT_BLOCK (8 + PAGE_FRAME_HEADER) /* bytes before the payload of a page */

/* Limits of what a reader accepts. */
#define OBJECT_MAX_OUTPUTS (1u << 20)
#define OBJECT_MAX_PARTITIONS (1u << 24)
#define OBJECT_MAX_INDEX ((size_t)256 << 20)

struct object_output {
        int32_t map_partition;
        int64_t task_id;
};

/* A read index. Constant. */
struct object_index {
        uint64_t size; /* of the object */
        uint32_t partitions, n_outputs;
        bool encrypted;
        uint8_t iv[FILE_IV];
        uint64_t *at;                  /* offset of each partition's blocks, and the end of the last: partitions + 1 */
        struct object_output *outputs; /* ascending by map partition, then by task id */
};

/*
 * Writes an object with @outputs at @path, and replaces one that exists. They are sorted by map partition and task id.
 * @key is NULL for no encryption. @space has the codec. *@bytes is the size. Returns 0 once the object is complete in
 * the store; or negative with @error, and then there may be a part of an object.
 */
int object_write(const struct file_system *fs, const char *path, const struct file_key *key,
                 const struct spill_space *space, struct remote_output *outputs, int n, uint64_t *bytes,
                 struct fst_error *error);

/* The content of the trailer. */
struct object_trailer {
        size_t index_size; /* of the index before it */
        bool encrypted;
        uint8_t iv[FILE_IV];
};

/* Reads the last OBJECT_TRAILER bytes of an object of @size bytes. Returns 0, or -EBADMSG with @error. */
int object_trailer_read(const unsigned char data[static OBJECT_TRAILER], uint64_t size, struct object_trailer *trailer,
                        struct fst_error *error);

/*
 * Reads the index, decrypted and trailer->index_size bytes long, of an object of @size bytes. The caller frees *@index
 * with object_index_free. Returns 0; -EBADMSG with @error if it is damaged; -ENOMEM.
 */
int object_index_read(const struct object_trailer *trailer, uint64_t size, const unsigned char *data,
                      struct object_index **index, struct fst_error *error);
void object_index_free(struct object_index *index); /* NULL is allowed */

/* Returns the bytes of memory that @index takes. */
size_t object_index_memory(const struct object_index *index);

/* Returns the ordinal of an output, or -1. */
int object_index_find(const struct object_index *index, int32_t map_partition, int64_t task_id);

/*
 * Checks the first OBJECT_BLOCK bytes of a block. Returns 0 with the ordinal of its output and its frame; or -EBADMSG
 * with @error.
 */
int object_block_parse(const unsigned char *block, const struct object_index *index, fst_type type, uint32_t *output,
                       struct page_frame *frame, struct fst_error *error);
