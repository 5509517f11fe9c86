/*
 * Compression: of pages and blocks in one go (lz4 blocks and zstd frames), and of text input as a stream (gzip,
 * zstd and lz4 frames).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fst_error;
struct open_file;

enum codec_kind { CODEC_NONE, CODEC_LZ4, CODEC_ZSTD, CODEC_GZIP };

/*
 * The codec named by spark.io.compression.codec: "lz4", "zstd", or "none"; also Spark's class names for these.
 * -EINVAL for "snappy", "lzf" and everything else, with the names that there are.
 */
int codec_parse(const char *name, enum codec_kind *kind, struct fst_error *error);

/* "lz4", "zstd", "gzip", "none". */
const char *codec_name(enum codec_kind kind);

/* The codec of a file by its name: .gz, .zst, .lz4; CODEC_NONE otherwise. */
enum codec_kind codec_of_file(const char *path);

/* -------------------------------------------------------------------------------------------- in one go */

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
 * Unpacks a file from its beginning. Concatenated gzip members and frames are one stream. Reusable: contexts and the
 * input buffer stay until decoder_free. One thread at a time.
 */
struct decoder;

struct decoder *decoder_new(void);
void decoder_free(struct decoder *d);

/* Start on @file (open for reading, borrowed until the next start). @kind: CODEC_GZIP, CODEC_ZSTD or CODEC_LZ4. */
int decoder_start(struct decoder *d, enum codec_kind kind, struct open_file *file, struct fst_error *error);

/*
 * Up to @size unpacked bytes: *@got is 0 only at the end. -EBADMSG when the file is corrupt or ends too early, with
 * its name and the offset (of packed bytes) in the message; and what the file system answers.
 */
int decoder_read(struct decoder *d, void *data, size_t size, size_t *got, struct fst_error *error);

/* Packed bytes read from the file since decoder_start. */
uint64_t decoder_bytes(const struct decoder *d);
