/*
 * Decoders of streams (the second part of codec.h): gzip members and zlib streams by zlib, bzip2 streams, zstd frames,
 * lz4 frames and Hadoop's sequences of lz4 blocks.
 *
 * All work alike: compressed bytes go into `input`; a step consumes some, produces some, and knows whether it is
 * between two frames. A file may end only there. Only another gzip member may follow a gzip member. Zeros after the
 * last one are padding, as for gzip(1).
 *
 * Invariant: position − (filled − at) is the offset in the file up to which compressed bytes are consumed. Messages
 * name it.
 */
#include "io/codec/codec.h"

#include "base/error.h"
#include "base/mem.h"
#include "io/codec/bzip2_library.h"
#include "io/fs/file_system.h"
#include "io/codec/lz4_blocks.h"

#include <limits.h>
#include <lz4frame.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define INPUT_SIZE ((size_t)128 << 10)

struct decoder {
        enum codec_kind kind;
        struct open_file *file;
        uint64_t position; /* file offset of the next bytes to read into the input buffer */
        size_t at, filled; /* positions in the input buffer */
        bool input_ended;
        bool between; /* at the beginning, or after a frame */
        bool any;     /* a complete frame was read */
        bool padding; /* zeros after the last gzip member: no other data may follow */
        bool growing; /* the end of the file is not the end of its content */

        z_stream zlib;
        bool zlib_ready;
        ZSTD_DCtx *zstd;
        LZ4F_dctx *lz4;
        struct lz4_blocks *blocks;
        bool in_blocks; /* the current file has Hadoop's blocks, not frames */
        const struct bzip2_library *library;
        bz_stream bzip2;
        bool bzip2_ready;
        unsigned char input[INPUT_SIZE];
};

struct decoder *decoder_new(void)
{
        return new0(struct decoder);
}

void decoder_free(struct decoder *d)
{
        if (!d)
                return;
        if (d->zlib_ready)
                inflateEnd(&d->zlib);
        if (d->bzip2_ready)
                d->library->decompress_end(&d->bzip2);
        lz4_blocks_free(d->blocks);
        ZSTD_freeDCtx(d->zstd);
        LZ4F_freeDecompressionContext(d->lz4);
        free(d);
}

static bool decoder_start_zlib(struct decoder *d, enum codec_kind kind)
{
        int bits = kind == CODEC_GZIP ? 15 + 16 : 15;
        if (d->zlib_ready)
                return inflateReset2(&d->zlib, bits) == Z_OK;
        return d->zlib_ready = inflateInit2(&d->zlib, bits) == Z_OK;
}

/* Creates a new state: libbz2 has no reset. */
static bool decoder_start_bzip2(struct decoder *d)
{
        if (d->bzip2_ready)
                d->library->decompress_end(&d->bzip2);
        d->bzip2 = (bz_stream){0};
        return d->bzip2_ready = d->library->decompress_init(&d->bzip2, 0, 0) == BZ_OK;
}

/* Detects from the first bytes whether the file has frames or Hadoop's blocks. */
static int decoder_start_lz4(struct decoder *d, struct open_file *file, bool *ready, struct fst_error *error)
{
        unsigned char magic[4];
        size_t n = 0;
        for (ssize_t got = 1; got > 0 && n < sizeof(magic); n += (size_t)got)
                if ((got = file->fs->read_at(file, magic + n, sizeof(magic) - n, n, error)) < 0)
                        return (int)got;
        d->in_blocks = n == sizeof(magic) && lz4_blocks_begin(magic);
        if (d->in_blocks) {
                d->blocks = d->blocks ? d->blocks : lz4_blocks_new();
                lz4_blocks_reset(d->blocks);
                *ready = true;
                return 0;
        }
        if (!d->lz4 && LZ4F_isError(LZ4F_createDecompressionContext(&d->lz4, LZ4F_VERSION)))
                d->lz4 = NULL;
        if (d->lz4)
                LZ4F_resetDecompressionContext(d->lz4);
        *ready = d->lz4;
        return 0;
}

int decoder_start(struct decoder *d, enum codec_kind kind, struct open_file *file, struct fst_error *error)
{
        bool ready = false;
        int r = 0;
        switch (kind) {
        case CODEC_GZIP:
        case CODEC_DEFLATE:
                ready = decoder_start_zlib(d, kind);
                break;
        case CODEC_BZIP2:
                r = bzip2_library_load(&d->library, error);
                ready = r == 0 && decoder_start_bzip2(d);
                break;
        case CODEC_ZSTD:
                if (!d->zstd)
                        d->zstd = ZSTD_createDCtx();
                ready = d->zstd && !ZSTD_isError(ZSTD_DCtx_reset(d->zstd, ZSTD_reset_session_only));
                break;
        case CODEC_LZ4:
                r = decoder_start_lz4(d, file, &ready, error);
                break;
        default:
                return error_set(error, -EINVAL, "%s: codec %s cannot decompress files", file->path, codec_name(kind));
        }
        if (r < 0)
                return r == -ENOTSUP ? error_wrap(error, r, "%s", file->path) : r;
        if (!ready)
                return error_set(error, -ENOMEM, "%s: no memory to decompress %s", file->path, codec_name(kind));
        d->kind = kind;
        d->file = file;
        d->position = 0;
        d->at = d->filled = 0;
        d->input_ended = d->any = d->padding = d->growing = false;
        d->between = true;
        return 0;
}

void decoder_set_growing(struct decoder *d, bool growing)
{
        d->growing = growing;
        d->input_ended = false;
}

uint64_t decoder_bytes(const struct decoder *d)
{
        return d->position;
}

static int decoder_corrupt(struct decoder *d, const char *why, struct fst_error *error)
{
        return error_set(error, -EBADMSG, "%s: corrupt %s data at byte %llu: %s", d->file->path, codec_name(d->kind),
                         (unsigned long long)(d->position - (d->filled - d->at)), why);
}

static int decoder_fill(struct decoder *d, struct fst_error *error)
{
        ssize_t n = d->file->fs->read_at(d->file, d->input, INPUT_SIZE, d->position, error);
        if (n < 0)
                return (int)n;
        d->position += (uint64_t)n;
        d->at = 0;
        d->filled = (size_t)n;
        d->input_ended = n == 0;
        return 0;
}

static int decoder_step_zlib(struct decoder *d, void *out, size_t size, size_t *got, struct fst_error *error)
{
        z_stream *z = &d->zlib;
        if (d->between && d->any) {
                if (d->kind == CODEC_GZIP && d->input[d->at] == 0)
                        d->padding = true;
                if (d->padding) {
                        while (d->at < d->filled && d->input[d->at] == 0)
                                d->at++;
                        *got = 0;
                        return d->at < d->filled ? decoder_corrupt(d, "unexpected data after the padding", error) : 0;
                }
                inflateReset(z);
        }
        d->between = false;
        z->next_in = d->input + d->at;
        z->avail_in = (uInt)(d->filled - d->at);
        z->next_out = out;
        z->avail_out = (uInt)size;
        int r = inflate(z, Z_NO_FLUSH);
        d->at = d->filled - z->avail_in;
        *got = size - z->avail_out;
        if (r == Z_STREAM_END)
                d->between = d->any = true;
        else if (r != Z_OK && r != Z_BUF_ERROR)
                return decoder_corrupt(d, z->msg ? z->msg : "cannot be decompressed", error);
        return 0;
}

static int decoder_step_bzip2(struct decoder *d, void *out, size_t size, size_t *got, struct fst_error *error)
{
        bz_stream *z = &d->bzip2;
        *got = 0;
        if (d->between && d->any && !decoder_start_bzip2(d))
                return error_set(error, -ENOMEM, "%s: no memory to decompress bzip2", d->file->path);
        d->between = false;
        z->next_in = (char *)d->input + d->at;
        z->avail_in = (unsigned)(d->filled - d->at);
        z->next_out = out;
        z->avail_out = (unsigned)size;
        int r = d->library->decompress(z);
        d->at = d->filled - z->avail_in;
        *got = size - z->avail_out;
        if (r == BZ_STREAM_END)
                d->between = d->any = true;
        else if (r == BZ_MEM_ERROR)
                return error_set(error, -ENOMEM, "%s: no memory to decompress bzip2", d->file->path);
        else if (r != BZ_OK)
                return decoder_corrupt(d, r == BZ_DATA_ERROR_MAGIC ? "not a bzip2 stream" : "cannot be decompressed",
                                       error);
        return 0;
}

static int decoder_step_blocks(struct decoder *d, void *out, size_t size, size_t *got, struct fst_error *error)
{
        size_t in = d->filled - d->at;
        const char *why = lz4_blocks_step(d->blocks, d->input + d->at, &in, out, size, got);
        d->at += in;
        d->between = lz4_blocks_between(d->blocks);
        return why ? decoder_corrupt(d, why, error) : 0;
}

static int decoder_step_zstd(struct decoder *d, void *out, size_t size, size_t *got, struct fst_error *error)
{
        ZSTD_inBuffer in = {d->input, d->filled, d->at};
        ZSTD_outBuffer to = {out, size, 0};
        size_t r = ZSTD_decompressStream(d->zstd, &to, &in);
        d->at = in.pos;
        *got = to.pos;
        if (ZSTD_isError(r))
                return decoder_corrupt(d, ZSTD_getErrorName(r), error);
        d->between = r == 0;
        return 0;
}

static int decoder_step_lz4(struct decoder *d, void *out, size_t size, size_t *got, struct fst_error *error)
{
        size_t in = d->filled - d->at;
        *got = size;
        size_t r = LZ4F_decompress(d->lz4, out, got, d->input + d->at, &in, NULL);
        if (LZ4F_isError(r)) {
                *got = 0;
                return decoder_corrupt(d, LZ4F_getErrorName(r), error);
        }
        d->at += in;
        d->between = r == 0;
        return 0;
}

static int decoder_step(struct decoder *d, void *out, size_t size, size_t *got, struct fst_error *error)
{
        switch (d->kind) {
        case CODEC_BZIP2:
                return decoder_step_bzip2(d, out, size, got, error);
        case CODEC_ZSTD:
                return decoder_step_zstd(d, out, size, got, error);
        case CODEC_LZ4:
                return d->in_blocks ? decoder_step_blocks(d, out, size, got, error)
                                    : decoder_step_lz4(d, out, size, got, error);
        default:
                return decoder_step_zlib(d, out, size, got, error);
        }
}

int decoder_read(struct decoder *d, void *data, size_t size, size_t *got, struct fst_error *error)
{
        size_t made = 0, room = MIN(size, (size_t)INT_MAX);
        while (made == 0 && room > 0) {
                /* Between frames only more input helps. Inside a frame the decoder may still hold output for consumed
                 * input, so it is called once more before the file counts as truncated. */
                if (d->at == d->filled && !d->input_ended) {
                        int r = decoder_fill(d, error);
                        if (r < 0)
                                return r;
                }
                if (d->at == d->filled && d->between)
                        break;
                size_t before = d->at;
                int r = decoder_step(d, data, room, &made, error);
                if (r < 0)
                        return r;
                if (made == 0 && d->at == before && d->input_ended && !d->between) {
                        if (d->growing)
                                break;
                        return decoder_corrupt(d, "the file is truncated", error);
                }
        }
        *got = made;
        return 0;
}
