/*
 * Compression: of pages and blocks in one go (lz4 blocks and zstd frames), and of text files as a stream, by the codecs
 * that Hadoop has for them:
 *
 *      suffix     class of org.apache.hadoop.io.compress      what the file is
 *      .gz        GzipCodec                                   gzip members, one after another
 *      .bz2       BZip2Codec                                  bzip2 streams, one after another
 *      .zst       ZStandardCodec                              zstd frames
 *      .lz4       Lz4Codec                                    Hadoop's own sequence of lz4 blocks
 * (io/codec/lz4_blocks.h); what the lz4 tool makes (frames) is read as well .deflate   DefaultCodec, DeflateCodec zlib
 * streams
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fst_error;
struct open_file;

/* Numbers travel in stages. */
enum codec_kind { CODEC_NONE, CODEC_LZ4, CODEC_ZSTD, CODEC_GZIP, CODEC_BZIP2, CODEC_DEFLATE, CODEC_KINDS };

/*
 * The codec named by spark.io.compression.codec: "lz4", "zstd", or "none"; also Spark's class names for these.
 * -EINVAL for "snappy", "lzf" and everything else, with the names that there are.
 */
int codec_parse(const char *name, enum codec_kind *kind, struct fst_error *error);

/* "lz4", "zstd", "gzip", "bzip2", "deflate", "none". */
const char *codec_name(enum codec_kind kind);

/* The codec of a file by its name; CODEC_NONE if no codec has its suffix. */
enum codec_kind codec_of_file(const char *path);

/* ".gz" and so on, "" for CODEC_NONE. */
const char *codec_suffix(enum codec_kind kind);

/*
 * The codec that a user names for files: codec_name's, a class of Hadoop's ("org.apache.hadoop.io.compress.GzipCodec",
 * "GzipCodec"), "none" or "uncompressed"; in any case. -EINVAL for everything else, with the names that there are.
 */
int codec_parse_file(const char *name, enum codec_kind *kind, struct fst_error *error);

/* -ENOTSUP naming the file if its suffix is of a codec that Hadoop has and we have not (.snappy, .lzo …); else 0. */
int codec_check_file(const char *path, struct fst_error *error);

/* ----------------------------------------------------------------------------------------------- blocks */

/*
 * A compressor and decompressor for blocks; its contexts are made when first used and kept. One thread at a time.
 * Kinds: CODEC_NONE, CODEC_LZ4, CODEC_ZSTD. @level is zstd's (spark.io.compression.zstd.level, 1 by default); lz4
 * has none.
 */
struct codec {
        enum codec_kind kind;
        int level;
        void *compressor, *decompressor;
};

void codec_init(struct codec *codec, enum codec_kind kind, int level);
void codec_deinit(struct codec *codec);

/* Room that compressing @size bytes can take at most. 0 if @size is more than can be (1.9 GiB). */
size_t codec_bound(enum codec_kind kind, size_t size);

/*
 * Compress @size bytes into @out; *@written is what it took. -ENOBUFS when @room was not enough (never with
 * codec_bound of it), -EOVERFLOW for a block that is too large.
 */
int codec_compress(struct codec *codec, const void *data, size_t size, void *out, size_t room, size_t *written,
                   struct fst_error *error);

/*
 * Decompress a block that was @out_size bytes before; exactly these are written. -EBADMSG when the data is corrupt or
 * does not yield that many. Never writes past @out_size, whatever @data is.
 */
int codec_decompress(struct codec *codec, const void *data, size_t size, void *out, size_t out_size,
                     struct fst_error *error);

/* ------------------------------------------------------------------------------------------------ streams */

/*
 * Unpacks a file from its beginning. Concatenated members, streams and frames are one. Reusable: contexts and the
 * input buffer stay until decoder_free. One thread at a time.
 */
struct decoder;

struct decoder *decoder_new(void);
void decoder_free(struct decoder *d);

/*
 * Start on @file (open for reading, borrowed until the next start). @kind: one of files. -ENOTSUP for bzip2 when its
 * module cannot be loaded; what reading answers.
 */
int decoder_start(struct decoder *d, enum codec_kind kind, struct open_file *file, struct fst_error *error);

/*
 * Up to @size unpacked bytes: *@got is 0 only at the end. -EBADMSG when the file is corrupt or ends too early, with
 * its name and the offset (of packed bytes) in the message; and what the file system answers.
 */
int decoder_read(struct decoder *d, void *data, size_t size, size_t *got, struct fst_error *error);

/* Packed bytes read from the file since decoder_start. */
uint64_t decoder_bytes(const struct decoder *d);

/* Packs what is written to a file. Reusable, as a decoder. One thread at a time. */
struct encoder;

struct encoder *encoder_new(void);
void encoder_free(struct encoder *e);

/* Start on @file (open for writing, borrowed until the next start). @kind: one of files. -ENOTSUP as decoder_start. */
int encoder_start(struct encoder *e, enum codec_kind kind, struct open_file *file, struct fst_error *error);

/* Errors: what writing the file answers, -ENOMEM. The file is then only good for being discarded. */
int encoder_write(struct encoder *e, const void *data, size_t size, struct fst_error *error);

/* Pack and write what is left, and what ends the stream. The file stays open. */
int encoder_end(struct encoder *e, struct fst_error *error);

/* Packed bytes that were given to the file since encoder_start. */
uint64_t encoder_bytes(const struct encoder *e);
