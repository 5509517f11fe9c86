/*
 * The file format of Hadoop's Lz4Codec: a sequence of blocks. All numbers are big-endian.
 *
 *      block     uint32 size of its text, then chunks until they hold that much
 *      chunk     uint32 size, then that many bytes of an lz4 block (bare, without a frame)
 *
 * A block of size 0 has no chunks. There are no checksums: only chunks that do not decompress are detected.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/* The maximal text of a chunk that is written: that of Hadoop with its buffer of 256 KiB, the most that its reader
 * accepts. */
#define LZ4_BLOCKS_CHUNK ((size_t)262144 - 262144 / 255 - 16)

/* The maximal size of a chunk that is read, compressed and decompressed. */
#define MAX_LZ4_BLOCKS ((size_t)64 << 20)

/* True if a file that begins with these 4 bytes has this format and is not an lz4 frame. */
bool lz4_blocks_begin(const unsigned char magic[4]);

/* Appends a block of @size bytes, at most LZ4_BLOCKS_CHUNK. @state has LZ4_sizeofState() bytes. */
void lz4_blocks_put(void *state, const void *data, size_t size, struct buf *out);

struct lz4_blocks;

struct lz4_blocks *lz4_blocks_new(void);
void lz4_blocks_free(struct lz4_blocks *b);

/* Starts a new file. */
void lz4_blocks_reset(struct lz4_blocks *b);

/*
 * Decompresses. On entry *@in is the number of bytes at @data, on return the number consumed. *@got is the number of
 * bytes written to @out, which has room for @size. Returns NULL, or the error ("a chunk of 7 bytes is damaged"), valid
 * until the next call. Both numbers are 0 only if @data is consumed.
 */
const char *lz4_blocks_step(struct lz4_blocks *b, const unsigned char *data, size_t *in, void *out, size_t size,
                            size_t *got);

/* True if the input so far ends between two blocks and all text was returned. */
bool lz4_blocks_between(const struct lz4_blocks *b);
