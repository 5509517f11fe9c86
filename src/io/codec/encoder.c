/*
 * Encoders of streams (the last part of codec.h). All work alike: compressed bytes gather in `out`, which is written to
 * the file when it holds OUT_SIZE bytes.
 *
 * The levels are Hadoop's: 6 for gzip and zlib, 9 for bzip2, 3 for zstd, the fast one for lz4.
 */
#include "io/codec/codec.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "io/codec/bzip2_library.h"
#include "io/fs/file_system.h"
#include "io/codec/lz4_blocks.h"

#include <limits.h>
#include <lz4.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define OUT_SIZE ((size_t)256 << 10)
#define ROOM ((size_t)64 << 10) /* for the output of one step */
#define ZSTD_LEVEL 3
#define BZIP2_LEVEL 9

struct encoder {
        enum codec_kind kind;
        struct open_file *file;
        uint64_t bytes; /* written to the file */
        struct buf out;

        z_stream zlib;
        enum codec_kind zlib_kind; /* CODEC_NONE: the stream is not ready */
        ZSTD_CCtx *zstd;
        const struct bzip2_library *library;
        bz_stream bzip2;
        bool bzip2_ready;
        void *lz4;       /* lz4's state */
        struct buf text; /* of the current lz4 block */
};

struct encoder *encoder_new(void)
{
        return new0(struct encoder);
}

static void encoder_end_bzip2(struct encoder *e)
{
        if (e->bzip2_ready)
                e->library->compress_end(&e->bzip2);
        e->bzip2_ready = false;
}

static void encoder_end_zlib(struct encoder *e)
{
        if (e->zlib_kind != CODEC_NONE)
                deflateEnd(&e->zlib);
        e->zlib_kind = CODEC_NONE;
}

void encoder_free(struct encoder *e)
{
        if (!e)
                return;
        encoder_end_zlib(e);
        encoder_end_bzip2(e);
        ZSTD_freeCCtx(e->zstd);
        free(e->lz4);
        buf_deinit(&e->text);
        buf_deinit(&e->out);
        free(e);
}

static bool encoder_start_zlib(struct encoder *e, enum codec_kind kind)
{
        if (e->zlib_kind == kind)
                return deflateReset(&e->zlib) == Z_OK;
        encoder_end_zlib(e);
        e->zlib = (z_stream){0};
        int r = deflateInit2(&e->zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kind == CODEC_GZIP ? 15 + 16 : 15, 8,
                             Z_DEFAULT_STRATEGY);
        if (r == Z_OK)
                e->zlib_kind = kind;
        return r == Z_OK;
}

static int encoder_start_bzip2(struct encoder *e, struct fst_error *error)
{
        int r = bzip2_library_load(&e->library, error);
        if (r < 0)
                return r;
        encoder_end_bzip2(e);
        e->bzip2 = (bz_stream){0};
        e->bzip2_ready = e->library->compress_init(&e->bzip2, BZIP2_LEVEL, 0, 0) == BZ_OK;
        return 0;
}

int encoder_start(struct encoder *e, enum codec_kind kind, struct open_file *file, struct fst_error *error)
{
        bool ready = false;
        int r = 0;
        switch (kind) {
        case CODEC_GZIP:
        case CODEC_DEFLATE:
                ready = encoder_start_zlib(e, kind);
                break;
        case CODEC_BZIP2:
                r = encoder_start_bzip2(e, error);
                ready = e->bzip2_ready;
                break;
        case CODEC_ZSTD:
                if (!e->zstd && (e->zstd = ZSTD_createCCtx())) {
                        ZSTD_CCtx_setParameter(e->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
                        ZSTD_CCtx_setParameter(e->zstd, ZSTD_c_checksumFlag, 1); /* so that damage is detected */
                }
                ready = e->zstd && !ZSTD_isError(ZSTD_CCtx_reset(e->zstd, ZSTD_reset_session_only));
                break;
        case CODEC_LZ4:
                if (!e->lz4)
                        e->lz4 = mem_alloc((size_t)LZ4_sizeofState());
                ready = true;
                break;
        default:
                return error_set(error, -EINVAL, "%s: codec %s cannot compress files", file->path, codec_name(kind));
        }
        if (r < 0)
                return error_wrap(error, r, "%s", file->path);
        if (!ready)
                return error_set(error, -ENOMEM, "%s: no memory to compress %s", file->path, codec_name(kind));
        e->kind = kind;
        e->file = file;
        e->bytes = 0;
        buf_reset(&e->out);
        buf_reset(&e->text);
        return 0;
}

uint64_t encoder_bytes(const struct encoder *e)
{
        return e->bytes;
}

static int encoder_flush(struct encoder *e, size_t least, struct fst_error *error)
{
        size_t n = e->out.len;
        if (n == 0 || n < least)
                return 0;
        e->bytes += n;
        int r = e->file->fs->write(e->file, e->out.data, n, error);
        buf_reset(&e->out);
        return r;
}

static int encoder_failed(struct encoder *e, const char *why, struct fst_error *error)
{
        return error_set(error, -EIO, "%s: compression by %s failed: %s", e->file->path, codec_name(e->kind), why);
}

/* Compresses all of @data; with @last also ends the stream. */
static int encoder_pack_zlib(struct encoder *e, const void *data, size_t size, bool last, struct fst_error *error)
{
        z_stream *z = &e->zlib;
        int r = Z_OK;
        z->next_in = (void *)data;
        z->avail_in = (uInt)size;
        do {
                buf_reserve(&e->out, ROOM);
                z->next_out = (unsigned char *)e->out.data + e->out.len;
                z->avail_out = (uInt)ROOM;
                r = deflate(z, last ? Z_FINISH : Z_NO_FLUSH);
                if (r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR)
                        return encoder_failed(e, z->msg ? z->msg : "zlib", error);
                e->out.len += ROOM - z->avail_out;
                int f = encoder_flush(e, OUT_SIZE, error);
                if (f < 0)
                        return f;
        } while (last ? r != Z_STREAM_END : z->avail_in > 0 || z->avail_out == 0);
        return 0;
}

static int encoder_pack_bzip2(struct encoder *e, const void *data, size_t size, bool last, struct fst_error *error)
{
        bz_stream *z = &e->bzip2;
        int r = BZ_RUN_OK;
        z->next_in = (char *)data;
        z->avail_in = (unsigned)size;
        while (last ? r != BZ_STREAM_END : z->avail_in > 0) {
                buf_reserve(&e->out, ROOM);
                z->next_out = e->out.data + e->out.len;
                z->avail_out = (unsigned)ROOM;
                r = e->library->compress(z, last ? BZ_FINISH : BZ_RUN);
                if (r < 0)
                        return encoder_failed(e, "libbz2", error);
                e->out.len += ROOM - z->avail_out;
                int f = encoder_flush(e, OUT_SIZE, error);
                if (f < 0)
                        return f;
        }
        return 0;
}

static int encoder_pack_zstd(struct encoder *e, const void *data, size_t size, bool last, struct fst_error *error)
{
        ZSTD_inBuffer in = {data, size, 0};
        size_t left;
        do {
                buf_reserve(&e->out, ROOM);
                ZSTD_outBuffer to = {e->out.data + e->out.len, ROOM, 0};
                left = ZSTD_compressStream2(e->zstd, &to, &in, last ? ZSTD_e_end : ZSTD_e_continue);
                if (ZSTD_isError(left))
                        return encoder_failed(e, ZSTD_getErrorName(left), error);
                e->out.len += to.pos;
                int f = encoder_flush(e, OUT_SIZE, error);
                if (f < 0)
                        return f;
        } while (last ? left > 0 : in.pos < in.size);
        return 0;
}

/* Writes blocks of equal size. As in Hadoop, an empty file has one empty block. */
static int encoder_pack_lz4(struct encoder *e, const void *data, size_t size, bool last, struct fst_error *error)
{
        const char *from = data;
        while (size > 0) {
                size_t n = MIN(size, LZ4_BLOCKS_CHUNK - e->text.len);
                if (e->text.len > 0 || n < LZ4_BLOCKS_CHUNK)
                        buf_append(&e->text, from, n);
                else
                        lz4_blocks_put(e->lz4, from, n, &e->out);
                from += n;
                size -= n;
                if (e->text.len == LZ4_BLOCKS_CHUNK) {
                        lz4_blocks_put(e->lz4, e->text.data, e->text.len, &e->out);
                        buf_reset(&e->text);
                }
                int r = encoder_flush(e, OUT_SIZE, error);
                if (r < 0)
                        return r;
        }
        if (last && (e->text.len > 0 || e->bytes + e->out.len == 0))
                lz4_blocks_put(e->lz4, e->text.data, e->text.len, &e->out);
        return 0;
}

static int encoder_pack(struct encoder *e, const void *data, size_t size, bool last, struct fst_error *error)
{
        switch (e->kind) {
        case CODEC_BZIP2:
                return encoder_pack_bzip2(e, data, size, last, error);
        case CODEC_ZSTD:
                return encoder_pack_zstd(e, data, size, last, error);
        case CODEC_LZ4:
                return encoder_pack_lz4(e, data, size, last, error);
        default:
                return encoder_pack_zlib(e, data, size, last, error);
        }
}

int encoder_write(struct encoder *e, const void *data, size_t size, struct fst_error *error)
{
        const char *from = data;
        int r = 0;
        for (size_t n; r == 0 && size > 0; from += n, size -= n) {
                n = MIN(size, (size_t)INT_MAX);
                r = encoder_pack(e, from, n, false, error);
        }
        return r;
}

int encoder_end(struct encoder *e, struct fst_error *error)
{
        int r = encoder_pack(e, NULL, 0, true, error);
        return r < 0 ? r : encoder_flush(e, 0, error);
}
