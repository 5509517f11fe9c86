/*
 * The streams of Spark's codecs that only JVMs write: sequences of blocks, which event logs of Spark consist of.
 *
 *      lz4       lz4-java's LZ4BlockOutputStream. A block has 21 bytes before its data: "LZ4Block", a byte (method and
 *                level), then in little-endian order the compressed size, the size, and a checksum (the lower 28 bits
 *                of xxhash32). A block of size 0 ends a stream, and another stream may follow.
 *      snappy    snappy-java's SnappyOutputStream: a header of 16 bytes (0x82 "SNAPPY" 0, version, lowest compatible
 *                version), then blocks: the compressed size as a big-endian number and a block of snappy. Another
 *                header may stand in place of a block.
 *      lzf       compress-lzf's LZFOutputStream: blocks of at most 65,535 bytes. A block has before its data: "ZV", a byte
 *                (0: stored, 1: compressed), the size in the file and, if it is compressed, the size, both of two bytes
 *                in big-endian order. The data is that of liblzf.
 *
 * A block that does not decompress, that has a wrong checksum, or that claims more than MAX_JAVA_BLOCK is damage.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fst_error;
struct java_blocks;

enum java_blocks_kind { JAVA_BLOCKS_LZ4, JAVA_BLOCKS_SNAPPY, JAVA_BLOCKS_LZF };

/* The maximal size of a block, compressed and decompressed. JVMs write at most 32 MiB. */
#define MAX_JAVA_BLOCK ((size_t)64 << 20)

/* Returns 0, or -ENOTSUP with @error if the snappy module cannot be loaded. */
int java_blocks_new(enum java_blocks_kind kind, struct java_blocks **out, struct fst_error *error);
void java_blocks_free(struct java_blocks *b); /* NULL is allowed */

/*
 * Decompresses. On entry *@in is the number of bytes at @data, on return the number consumed. *@got is the number of
 * bytes written to @out, which has room for @size. Returns NULL, or the problem, static. Both numbers are 0 only if
 * @data is consumed.
 */
const char *java_blocks_step(struct java_blocks *b, const unsigned char *data, size_t *in, void *out, size_t size,
                             size_t *got);

/* Returns true if the input so far ends between two blocks and all text was returned. */
bool java_blocks_between(const struct java_blocks *b);
