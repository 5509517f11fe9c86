/*
 * lz4 as Hadoop's Lz4Codec puts it into files: a sequence of blocks, all numbers with their highest byte first.
 *
 *      block     uint32 size of the text in it, then chunks until there is as much
 *      chunk     uint32 size, then that many bytes of an lz4 block (bare, without a frame)
 *
 * A block of size 0 has no chunks. Nothing is checked but that chunks can be unpacked.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/* Text of one chunk at most, as Hadoop has it with its buffer of 256 KiB: a reader of such a buffer takes no more. */
#define LZ4_BLOCKS_CHUNK ((size_t)262144 - 262144 / 255 - 16)

/* What a chunk may be at most when it is read, packed and unpacked. */
#define MAX_LZ4_BLOCKS ((size_t)64 << 20)

/* Whether a file that begins with these 4 bytes is of this kind, and no frame. */
bool lz4_blocks_begin(const unsigned char magic[4]);

/* Append a block of @size bytes, LZ4_BLOCKS_CHUNK at most. @state has LZ4_sizeofState() bytes. */
void lz4_blocks_put(void *state, const void *data, size_t size, struct buf *out);

struct lz4_blocks;

struct lz4_blocks *lz4_blocks_new(void);
void lz4_blocks_free(struct lz4_blocks *b);

/* Begin a new file. */
void lz4_blocks_reset(struct lz4_blocks *b);

/*
 * Unpack: *@in says how many bytes of @data there are, and then how many were taken; *@got how many were put into @out,
 * which has room for @size. NULL, or why it cannot be ("a chunk of 7 bytes is damaged"), which stays until the next
 * call. Both may be 0 only if @data was used up.
 */
const char *lz4_blocks_step(struct lz4_blocks *b, const unsigned char *data, size_t *in, void *out, size_t size,
                            size_t *got);

/* Whether what has come so far ends between two blocks, all of it given. */
bool lz4_blocks_between(const struct lz4_blocks *b);
