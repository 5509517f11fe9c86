/*
 * Compression: of pages and blocks (lz4 blocks and zstd frames), and of text files as streams, with Hadoop's codecs:
 *
 *      suffix     class of org.apache.hadoop.io.compress      content of the file
 *      .gz        GzipCodec                                   gzip members, one after another
 *      .bz2       BZip2Codec                                  bzip2 streams, one after another
 *      .zst       ZStandardCodec                              zstd frames
 *      .lz4       Lz4Codec                                    Hadoop's sequence of lz4 blocks (io/codec/lz4_blocks.h);
 *                                                             lz4 frames, as the lz4 tool writes them, are read, too
 *      .deflate   DefaultCodec, DeflateCodec                  zlib streams
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fst_error;
struct open_file;

/* The numbers are sent in stages. */
enum codec_kind { CODEC_NONE, CODEC_LZ4, CODEC_ZSTD, CODEC_GZIP, CODEC_BZIP2, CODEC_DEFLATE, CODEC_KINDS };

/* Parses spark.io.compression.codec: "lz4", "zstd", "none", or Spark's class names for these. Returns -EINVAL for
 * "snappy", "lzf" and all other names. The message lists the valid ones. */
int codec_parse(const char *name, enum codec_kind *kind, struct fst_error *error);

/* "lz4", "zstd", "gzip", "bzip2", "deflate", "none". */
const char *codec_name(enum codec_kind kind);

/* The codec for a file's suffix, or CODEC_NONE. */
enum codec_kind codec_of_file(const char *path);

/* ".gz" and so on; "" for CODEC_NONE. */
const char *codec_suffix(enum codec_kind kind);

/*
 * Parses a user's codec for files: a name of codec_name, a class of Hadoop ("org.apache.hadoop.io.compress.GzipCodec",
 * "GzipCodec"), "none" or "uncompressed", in any case. Returns -EINVAL for other names. The message lists the valid
 * ones.
 */
int codec_parse_file(const char *name, enum codec_kind *kind, struct fst_error *error);

/* Returns -ENOTSUP naming the file if its suffix belongs to a codec of Hadoop that Firesteel lacks (.snappy, .lzo …);
 * otherwise 0. */
int codec_check_file(const char *path, struct fst_error *error);

/* ----------------------------------------------------------------------------------------------- blocks */

/* A compressor and decompressor for blocks. Its contexts are created on first use and kept. One thread at a time.
 * Kinds: CODEC_NONE, CODEC_LZ4, CODEC_ZSTD. @level applies to zstd (spark.io.compression.zstd.level, 1 by default). */
struct codec {
        enum codec_kind kind;
        int level;
        void *compressor, *decompressor;
};

void codec_init(struct codec *codec, enum codec_kind kind, int level);
void codec_deinit(struct codec *codec);

/* The maximal compressed size of @size bytes, or 0 if @size exceeds the limit (1.9 GiB). */
size_t codec_bound(enum codec_kind kind, size_t size);

/* Compresses @size bytes into @out and sets *@written. Returns -ENOBUFS if @room was too small (never with
 * codec_bound), -EOVERFLOW if the block is too large. */
int codec_compress(struct codec *codec, const void *data, size_t size, void *out, size_t room, size_t *written,
                   struct fst_error *error);

/* Decompresses a block to exactly @out_size bytes, its original size. Returns -EBADMSG if the data is corrupt or has
 * another size. Never writes beyond @out_size, whatever @data is. */
int codec_decompress(struct codec *codec, const void *data, size_t size, void *out, size_t out_size,
                     struct fst_error *error);

/* ------------------------------------------------------------------------------------------------ streams */

/* Decompresses a file from its beginning. Concatenated members, streams and frames are read as one. Reusable: contexts
 * and the input buffer stay until decoder_free. One thread at a time. */
struct decoder;

struct decoder *decoder_new(void);
void decoder_free(struct decoder *d);

/* Starts on @file (open for reading, borrowed until the next start) with @kind, a codec for files. Returns -ENOTSUP if
 * bzip2's module cannot be loaded, or the error of a read. */
int decoder_start(struct decoder *d, enum codec_kind kind, struct open_file *file, struct fst_error *error);

/* Returns up to @size decompressed bytes; *@got is 0 only at the end. Returns -EBADMSG if the file is corrupt or
 * truncated, with its name and the offset of compressed bytes in the message, or the error of the file system. */
int decoder_read(struct decoder *d, void *data, size_t size, size_t *got, struct fst_error *error);

/*
 * Sets whether the file is @growing: its end inside a frame is then no error, but the present end of the text. After
 * each call the file is read on beyond an end that was seen before. For zstd; decoder_start resets it.
 */
void decoder_set_growing(struct decoder *d, bool growing);

/* Compressed bytes read from the file since decoder_start. */
uint64_t decoder_bytes(const struct decoder *d);

/* Compresses the content of a file. Reusable, like a decoder. One thread at a time. */
struct encoder;

struct encoder *encoder_new(void);
void encoder_free(struct encoder *e);

/* Starts on @file (open for writing, borrowed until the next start) with @kind, a codec for files. -ENOTSUP as
 * decoder_start. */
int encoder_start(struct encoder *e, enum codec_kind kind, struct open_file *file, struct fst_error *error);

/* Returns the error of writing the file, or -ENOMEM. After an error the file must be discarded. */
int encoder_write(struct encoder *e, const void *data, size_t size, struct fst_error *error);

/* Compresses and writes the remaining data and the end of the stream. Does not close the file. */
int encoder_end(struct encoder *e, struct fst_error *error);

/* Compressed bytes given to the file since encoder_start. */
uint64_t encoder_bytes(const struct encoder *e);
