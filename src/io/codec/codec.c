/*
 * Codecs by name, and compression of blocks; see codec.h. lz4 blocks have the bare format: the caller stores the sizes
 * before and after compression.
 *
 * Differs from Spark in the bytes: Spark's shuffle uses lz4-java's framing, which only a JVM reads.
 */
#include "io/codec/codec.h"

#include "base/error.h"
#include "base/mem.h"
#include "io/fs/path.h"

#include <lz4.h>
#include <string.h>
#include <strings.h>
#include <zstd.h>
#include <zstd_errors.h>

int codec_parse(const char *name, enum codec_kind *kind, struct fst_error *error)
{
        static const struct {
                const char *name, *class_name;
                enum codec_kind kind;
        } names[] = {
                {"lz4", "org.apache.spark.io.LZ4CompressionCodec", CODEC_LZ4},
                {"zstd", "org.apache.spark.io.ZStdCompressionCodec", CODEC_ZSTD},
                {"none", "none", CODEC_NONE},
        };
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                if (strcasecmp(name, names[i].name) == 0 || strcmp(name, names[i].class_name) == 0) {
                        *kind = names[i].kind;
                        return 0;
                }
        }
        return error_set(error, -EINVAL,
                         "compression codec %s is not available: consider setting "
                         "spark.io.compression.codec=lz4 or zstd (or none)",
                         name);
}

/* Codecs of files. */
static const struct {
        const char *name, *suffix, *class_name, *class_name_too;
} kinds[CODEC_KINDS] = {
        [CODEC_NONE] = {"none", "", "uncompressed", NULL},
        [CODEC_LZ4] = {"lz4", ".lz4", "Lz4Codec", NULL},
        [CODEC_ZSTD] = {"zstd", ".zst", "ZStandardCodec", NULL},
        [CODEC_GZIP] = {"gzip", ".gz", "GzipCodec", NULL},
        [CODEC_BZIP2] = {"bzip2", ".bz2", "BZip2Codec", NULL},
        [CODEC_DEFLATE] = {"deflate", ".deflate", "DefaultCodec", "DeflateCodec"},
};

const char *codec_name(enum codec_kind kind)
{
        return kinds[kind].name;
}

const char *codec_suffix(enum codec_kind kind)
{
        return kinds[kind].suffix;
}

enum codec_kind codec_of_file(const char *path)
{
        const char *dot = strrchr(path_name(path), '.');
        for (int kind = CODEC_NONE + 1; dot && kind < CODEC_KINDS; kind++)
                if (strcmp(dot, kinds[kind].suffix) == 0)
                        return (enum codec_kind)kind;
        return CODEC_NONE;
}

int codec_parse_file(const char *name, enum codec_kind *kind, struct fst_error *error)
{
        static const char package[] = "org.apache.hadoop.io.compress.";
        bool full = strncmp(name, package, strlen(package)) == 0;
        const char *class_name = name + (full ? strlen(package) : 0);
        for (int k = 0; k < CODEC_KINDS; k++) {
                const char *too = kinds[k].class_name_too;
                if ((!full && strcasecmp(name, kinds[k].name) == 0) ||
                    strcasecmp(class_name, kinds[k].class_name) == 0 || (too && strcasecmp(class_name, too) == 0)) {
                        *kind = (enum codec_kind)k;
                        return 0;
                }
        }
        return error_set(error, -EINVAL,
                         "compression codec %s is not available for files: use gzip, bzip2, zstd, lz4, deflate or "
                         "none, or GzipCodec, BZip2Codec, ZStandardCodec, Lz4Codec or DefaultCodec of "
                         "org.apache.hadoop.io.compress",
                         name);
}

int codec_check_file(const char *path, struct fst_error *error)
{
        static const char *const others[] = {".snappy", ".lzo", ".lzo_deflate"};
        const char *dot = strrchr(path_name(path), '.');
        for (size_t i = 0; dot && i < ARRAY_SIZE(others); i++)
                if (strcmp(dot, others[i]) == 0)
                        return error_set(error, -ENOTSUP,
                                         "%s: files with the suffix %s are not supported: use .gz, .bz2, .zst, .lz4 "
                                         "or .deflate",
                                         path, dot);
        return 0;
}

void codec_init(struct codec *codec, enum codec_kind kind, int level)
{
        *codec = (struct codec){.kind = kind, .level = level};
}

void codec_deinit(struct codec *codec)
{
        if (codec->kind == CODEC_ZSTD) {
                ZSTD_freeCCtx(codec->compressor);
                ZSTD_freeDCtx(codec->decompressor);
        } else {
                free(codec->compressor);
        }
        codec->compressor = codec->decompressor = NULL;
}

size_t codec_bound(enum codec_kind kind, size_t size)
{
        if (size > LZ4_MAX_INPUT_SIZE)
                return 0;
        switch (kind) {
        case CODEC_LZ4:
                return (size_t)LZ4_compressBound((int)size);
        case CODEC_ZSTD:
                return ZSTD_compressBound(size);
        default:
                return size;
        }
}

static int codec_no_room(enum codec_kind kind, size_t size, size_t room, struct fst_error *error)
{
        return error_set(error, -ENOBUFS, "%s: %zu bytes do not fit into %zu", codec_name(kind), size, room);
}

static int codec_compress_lz4(struct codec *codec, const void *data, size_t size, void *out, size_t room,
                              size_t *written, struct fst_error *error)
{
        if (!codec->compressor)
                codec->compressor = mem_alloc((size_t)LZ4_sizeofState());
        int n = LZ4_compress_fast_extState(codec->compressor, data, out, (int)size, (int)MIN(room, (size_t)INT32_MAX),
                                           1);
        if (n <= 0)
                return codec_no_room(CODEC_LZ4, size, room, error);
        *written = (size_t)n;
        return 0;
}

static int codec_compress_zstd(struct codec *codec, const void *data, size_t size, void *out, size_t room,
                               size_t *written, struct fst_error *error)
{
        if (!codec->compressor)
                codec->compressor = ZSTD_createCCtx();
        if (!codec->compressor)
                return error_set(error, -ENOMEM, "zstd: no memory for a compressor");
        size_t n = ZSTD_compressCCtx(codec->compressor, out, room, data, size, codec->level);
        if (ZSTD_isError(n)) {
                if (ZSTD_getErrorCode(n) == ZSTD_error_dstSize_tooSmall)
                        return codec_no_room(CODEC_ZSTD, size, room, error);
                return error_set(error, -EIO, "zstd: %s", ZSTD_getErrorName(n));
        }
        *written = n;
        return 0;
}

int codec_compress(struct codec *codec, const void *data, size_t size, void *out, size_t room, size_t *written,
                   struct fst_error *error)
{
        if (size > LZ4_MAX_INPUT_SIZE)
                return error_set(error, -EOVERFLOW, "%s: a block of %zu bytes is too large; the limit is %d",
                                 codec_name(codec->kind), size, LZ4_MAX_INPUT_SIZE);
        switch (codec->kind) {
        case CODEC_LZ4:
                return codec_compress_lz4(codec, data, size, out, room, written, error);
        case CODEC_ZSTD:
                return codec_compress_zstd(codec, data, size, out, room, written, error);
        case CODEC_NONE:
                if (size > room)
                        return codec_no_room(CODEC_NONE, size, room, error);
                if (size > 0)
                        memcpy(out, data, size);
                *written = size;
                return 0;
        default:
                return error_set(error, -EINVAL, "%s cannot compress blocks", codec_name(codec->kind));
        }
}

static int codec_corrupt(enum codec_kind kind, size_t size, size_t out_size, const char *why, struct fst_error *error)
{
        return error_set(error, -EBADMSG, "%s: corrupt block: %zu bytes should give %zu%s%s", codec_name(kind), size,
                         out_size, why ? ": " : "", why ? why : "");
}

int codec_decompress(struct codec *codec, const void *data, size_t size, void *out, size_t out_size,
                     struct fst_error *error)
{
        switch (codec->kind) {
        case CODEC_LZ4: {
                if (size > INT32_MAX || out_size > INT32_MAX)
                        return codec_corrupt(CODEC_LZ4, size, out_size, "too large", error);
                int n = LZ4_decompress_safe(data, out, (int)size, (int)out_size);
                return n < 0 || (size_t)n != out_size ? codec_corrupt(CODEC_LZ4, size, out_size, NULL, error) : 0;
        }
        case CODEC_ZSTD: {
                if (!codec->decompressor)
                        codec->decompressor = ZSTD_createDCtx();
                if (!codec->decompressor)
                        return error_set(error, -ENOMEM, "zstd: no memory for a decompressor");
                size_t n = ZSTD_decompressDCtx(codec->decompressor, out, out_size, data, size);
                if (ZSTD_isError(n))
                        return codec_corrupt(CODEC_ZSTD, size, out_size, ZSTD_getErrorName(n), error);
                return n != out_size ? codec_corrupt(CODEC_ZSTD, size, out_size, NULL, error) : 0;
        }
        case CODEC_NONE:
                if (size != out_size)
                        return codec_corrupt(CODEC_NONE, size, out_size, NULL, error);
                if (size > 0)
                        memcpy(out, data, size);
                return 0;
        default:
                return error_set(error, -EINVAL, "%s cannot decompress blocks", codec_name(codec->kind));
        }
}
