/*
 * Event log files; see event_file.h.
 *
 * Text is collected in a buffer. When the buffer is full, or on a flush, the codec writes it to the file. A zstd file
 * is one frame, flushed block by block, so that a reader of a log in progress gets everything up to the last flush. lz4
 * is the block stream of lz4-java, which Spark reads and writes under that name: a header of magic, method, both
 * lengths and an xxHash32, then at most one block's bytes. snappy is the block stream of snappy-java.
 *
 * After the first error nothing more is written, and every call returns that error's code.
 *
 * The directory may lie in any file system (io/fs/file_systems.h). A file in a bucket of S3 exists when it is closed,
 * so a rolling log grows there file by file. HDFS shows a file that is written as far as its datanode has stored it.
 */
#include "driver/events/event_file.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "events/event_files.h"
#include "io/codec/snappy_library.h"
#include "io/fs/file_systems.h"
#include "io/fs/path.h"

#include <lz4.h>
#include <xxhash.h>
#include <zstd.h>

#define IN_PROGRESS ".inprogress"
#define FILE_MODE 0660
#define DIRECTORY_MODE 0770
#define LZ4_SEED 0x9747b28cu
#define LZ4_HEAD 21
#define SNAPPY_HEAD 4

struct event_file {
        struct event_file_options options; /* strings owned below */
        const struct file_system *fs;
        char *name;        /* APPID[_ATTEMPT] */
        char *path;        /* the final file, or the directory when rolling */
        char *status_path; /* rolling: appstatus file without IN_PROGRESS */
        char *open_path;   /* of the open file */
        struct open_file file;
        int failed;        /* 0, or the code of the first error */
        int index;         /* rolling: of the current file */
        int64_t file_text; /* bytes of text in the current file */
        struct buf text;   /* not yet compressed */
        struct buf out;    /* scratch for the codec */
        ZSTD_CCtx *zstd;
        const struct snappy_library *snappy;
};

int event_codec_parse(const char *name, enum event_codec *codec, struct fst_error *error)
{
        static const struct {
                const char *name;
                enum event_codec codec;
        } names[] = {{"zstd", EVENT_CODEC_ZSTD},
                     {"org.apache.spark.io.ZStdCompressionCodec", EVENT_CODEC_ZSTD},
                     {"lz4", EVENT_CODEC_LZ4},
                     {"org.apache.spark.io.LZ4CompressionCodec", EVENT_CODEC_LZ4},
                     {"snappy", EVENT_CODEC_SNAPPY},
                     {"org.apache.spark.io.SnappyCompressionCodec", EVENT_CODEC_SNAPPY}};
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                if (strcasecmp(name, names[i].name) == 0) {
                        *codec = names[i].codec;
                        return 0;
                }
        return error_set(error, -EINVAL, "spark.eventLog.compression.codec: '%s' is not available: use zstd, lz4 or snappy",
                         name);
}

/* ------------------------------------------------------------------------------------------------- bytes */

static int event_file_put(struct event_file *f, const char *data, size_t size, struct fst_error *error)
{
        int r = f->fs->write(&f->file, data, size, error);
        if (r < 0)
                f->failed = error_wrap(error, r, "event log");
        return r < 0 ? f->failed : 0;
}

static int event_file_write_zstd(struct event_file *f, ZSTD_EndDirective how, struct fst_error *error)
{
        ZSTD_inBuffer in = {f->text.data, f->text.len, 0};
        size_t left;
        do {
                ZSTD_outBuffer out = {f->out.data, f->out.cap, 0};
                left = ZSTD_compressStream2(f->zstd, &out, &in, how);
                if (ZSTD_isError(left)) {
                        f->failed = error_set(error, -EIO, "compressing the event log %s: %s", f->open_path,
                                              ZSTD_getErrorName(left));
                        return f->failed;
                }
                int r = event_file_put(f, f->out.data, out.pos, error);
                if (r < 0)
                        return r;
        } while (how == ZSTD_e_continue ? in.pos < in.size : left > 0);
        return 0;
}

static void event_file_put_le32(char *p, uint32_t v)
{
        for (int i = 0; i < 4; i++)
                p[i] = (char)(v >> 8 * i);
}

/* Writes a block's header. Its length is that of the stored body. */
static void event_file_lz4_header(const struct event_file *f, char *head, int method, uint32_t stored, uint32_t length,
                                  uint32_t checksum)
{
        int level = 0; /* log2 of the block size, from 1 KiB */
        while (((size_t)1024 << level) < f->options.lz4_block_size)
                level++;
        memcpy(head, "LZ4Block", 8);
        head[8] = (char)(method | level);
        event_file_put_le32(head + 9, stored);
        event_file_put_le32(head + 13, length);
        event_file_put_le32(head + 17, checksum);
}

static int event_file_write_lz4(struct event_file *f, bool end, struct fst_error *error)
{
        for (size_t at = 0; at < f->text.len;) {
                int n = (int)MIN(f->options.lz4_block_size, f->text.len - at);
                char *body = f->out.data + LZ4_HEAD;
                int stored = LZ4_compress_default(f->text.data + at, body, n, (int)f->out.cap - LZ4_HEAD);
                bool raw = stored <= 0 || stored >= n;
                if (raw)
                        memcpy(body, f->text.data + at, (size_t)(stored = n));
                event_file_lz4_header(f, f->out.data, raw ? 0x10 : 0x20, (uint32_t)stored, (uint32_t)n,
                                      XXH32(f->text.data + at, (size_t)n, LZ4_SEED) & 0x0fffffff);
                int r = event_file_put(f, f->out.data, LZ4_HEAD + (size_t)stored, error);
                if (r < 0)
                        return r;
                at += (size_t)n;
        }
        if (!end)
                return 0;
        event_file_lz4_header(f, f->out.data, 0x10, 0, 0, 0);
        return event_file_put(f, f->out.data, LZ4_HEAD, error);
}

static void event_file_put_be32(char *p, uint32_t v)
{
        for (int i = 0; i < 4; i++)
                p[i] = (char)(v >> (24 - 8 * i));
}

/* A block is its length, then a block of snappy. */
static int event_file_write_snappy(struct event_file *f, struct fst_error *error)
{
        for (size_t at = 0; at < f->text.len;) {
                const size_t n = MIN(f->options.snappy_block_size, f->text.len - at);
                size_t stored = f->out.cap - SNAPPY_HEAD;
                if (f->snappy->compress(f->text.data + at, n, f->out.data + SNAPPY_HEAD, &stored) != SNAPPY_OK) {
                        f->failed = error_set(error, -EIO, "compressing the event log %s with snappy failed",
                                              f->open_path);
                        return f->failed;
                }
                event_file_put_be32(f->out.data, (uint32_t)stored);
                const int r = event_file_put(f, f->out.data, SNAPPY_HEAD + stored, error);
                if (r < 0)
                        return r;
                at += n;
        }
        return 0;
}

/* Compress and write the collected text. */
static int event_file_compress(struct event_file *f, ZSTD_EndDirective how, struct fst_error *error)
{
        int r;
        if (f->options.codec == EVENT_CODEC_ZSTD)
                r = event_file_write_zstd(f, how, error);
        else if (f->options.codec == EVENT_CODEC_LZ4)
                r = event_file_write_lz4(f, how == ZSTD_e_end, error);
        else if (f->options.codec == EVENT_CODEC_SNAPPY)
                r = event_file_write_snappy(f, error);
        else
                r = event_file_put(f, f->text.data, f->text.len, error);
        buf_reset(&f->text);
        return r;
}

/* ------------------------------------------------------------------------------------------------- files */

static const char *event_file_suffix(const struct event_file *f)
{
        static const char *const suffixes[] = {
                [EVENT_CODEC_NONE] = "",
                                               [EVENT_CODEC_ZSTD] = ".zstd",
                                               [EVENT_CODEC_LZ4] = ".lz4",
                                               [EVENT_CODEC_SNAPPY] = ".snappy"};
        return suffixes[f->options.codec];
}

static bool event_file_is_local(const struct event_file *f)
{
        return strcmp(f->fs->scheme, "file") == 0;
}

static int event_file_set_mode(const struct event_file *f, const char *path, unsigned mode, struct fst_error *error)
{
        return f->fs->set_permission ? f->fs->set_permission(f->fs, path, mode, error) : 0;
}

/* A local file gets its mode before its content. Others exist for certain only when they are closed. */
static int event_file_create(struct event_file *f, const char *path, struct fst_error *error)
{
        int r = f->fs->create(f->fs, path, &f->file, error);
        if (r == 0 && event_file_is_local(f) && (r = event_file_set_mode(f, path, FILE_MODE, error)) < 0)
                f->fs->discard(&f->file);
        return r < 0 ? error_wrap(error, r, "event log (spark.eventLog.dir)") : 0;
}

static int event_file_finish(struct event_file *f, const char *path, struct fst_error *error)
{
        int r = f->fs->close(&f->file, error);
        f->file = OPEN_FILE_INIT;
        if (r == 0 && !event_file_is_local(f))
                r = event_file_set_mode(f, path, FILE_MODE, error);
        return r < 0 ? error_wrap(error, r, "event log") : 0;
}

/* The header of a stream: a magic, the version, and the lowest version that can read it. */
static int event_file_begin_snappy(struct event_file *f, struct fst_error *error)
{
        static const char header[16] = {(char)0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0, 0, 0, 0, 1, 0, 0, 0, 1};
        return event_file_put(f, header, sizeof(header), error);
}

static int event_file_open_path(struct event_file *f, char *path, struct fst_error *error)
{
        int r = event_file_create(f, path, error);
        if (r < 0) {
                free(path);
                return r;
        }
        free(f->open_path);
        f->open_path = path;
        f->file_text = 0;
        if (f->zstd)
                ZSTD_CCtx_reset(f->zstd, ZSTD_reset_session_only);
        return f->snappy ? event_file_begin_snappy(f, error) : 0;
}

static int event_file_close_current(struct event_file *f, struct fst_error *error)
{
        int r = f->failed ? f->failed : event_file_compress(f, ZSTD_e_end, error);
        if (r == 0)
                r = f->failed = event_file_finish(f, f->open_path, error);
        return r;
}

static int event_file_open_next(struct event_file *f, struct fst_error *error)
{
        f->index++;
        return event_file_open_path(
                f, mem_printf("%s/events_%d_%s%s", f->path, f->index, f->name, event_file_suffix(f)), error);
}

/* Makes way for the log at f->path: it must not exist, or is removed with spark.eventLog.overwrite. */
static int event_file_replace(const struct event_file *f, struct fst_error *error)
{
        _cleanup_(error_deinit) struct fst_error why = FST_ERROR_INIT;
        struct file_status status = {0};
        int r = f->fs->stat(f->fs, f->path, &status, &why);
        file_status_deinit(&status);
        if (r < 0)
                return r == -ENOENT ? 0
                                    : error_set(error, r, "event log (spark.eventLog.dir): %s", error_message(&why));
        if (!f->options.overwrite)
                return error_set(error, -EEXIST,
                                 "the event log %s already exists: remove it, or set spark.eventLog.overwrite=true",
                                 event_file_path(f));
        return f->fs->remove(f->fs, f->path, error);
}

static int event_file_open_rolling(struct event_file *f, const char *dir, struct fst_error *error)
{
        _cleanup_free_ char *name = mem_printf("eventlog_v2_%s", f->name), *status = NULL;
        f->path = path_join(dir, name);
        f->status_path = mem_printf("%s/appstatus_%s", f->path, f->name);
        status = mem_printf("%s" IN_PROGRESS, f->status_path);
        int r = event_file_replace(f, error);
        if (r == 0 && ((r = f->fs->mkdirs(f->fs, f->path, error)) < 0 ||
                       (r = event_file_set_mode(f, f->path, DIRECTORY_MODE, error)) < 0))
                r = error_wrap(error, r, "event log (spark.eventLog.dir)");
        if (r == 0)
                r = event_file_create(f, status, error);
        if (r == 0)
                r = event_file_finish(f, status, error);
        return r < 0 ? r : event_file_open_next(f, error);
}

static int event_file_open_single(struct event_file *f, const char *dir, struct fst_error *error)
{
        _cleanup_free_ char *name = mem_printf("%s%s", f->name, event_file_suffix(f));
        f->path = path_join(dir, name);
        int r = event_file_replace(f, error);
        return r < 0 ? r : event_file_open_path(f, mem_printf("%s" IN_PROGRESS, f->path), error);
}

static void event_file_release(struct event_file *f)
{
        if (f->file.fs)
                f->fs->discard(&f->file);
        ZSTD_freeCCtx(f->zstd);
        buf_deinit(&f->text);
        buf_deinit(&f->out);
        free(f->open_path);
        free(f->status_path);
        free(f->path);
        free(f->name);
        free(f);
}

/* Resolves @address as Spark does: without a scheme it is local, whatever fs.defaultFS says. */
static int event_file_check_dir(const char *address, char **dir, const struct file_system **fs, struct fst_error *error)
{
        struct file_status status = {0};
        int r = path_resolve(address, dir, error);
        if (r == 0)
                r = file_system_of(*dir, fs, error);
        if (r < 0)
                return error_wrap(error, r, "spark.eventLog.dir %s", address);
        r = (*fs)->stat(*fs, *dir, &status, error);
        file_status_deinit(&status);
        if (r < 0)
                return error_wrap(error, r, "spark.eventLog.dir %s: create it, or set another", address);
        return status.directory
                       ? 0
                       : error_set(error, -ENOTDIR, "spark.eventLog.dir: log directory %s is not a directory", address);
}

int event_file_open(struct event_file **file, const struct event_file_options *options, struct fst_error *error)
{
        _cleanup_free_ char *dir = NULL;
        const struct file_system *fs = NULL;
        int r = event_file_check_dir(options->dir, &dir, &fs, error);
        if (r < 0)
                return r;
        if (options->rolling && options->max_file_size < 10 << 20)
                return error_set(error, -EINVAL, "spark.eventLog.rolling.maxFileSize should be at least 10m");
        struct event_file *f = new0(struct event_file);
        f->options = *options;
        f->options.dir = f->options.app_id = f->options.attempt_id = NULL;
        f->fs = fs;
        f->file = OPEN_FILE_INIT;
        _cleanup_free_ char *id = event_log_clean_name(options->app_id);
        _cleanup_free_ char *attempt = event_log_clean_name(options->attempt_id ? options->attempt_id : "");
        f->name = mem_printf(*attempt ? "%s_%s" : "%s%s", id, attempt);
        if (options->codec == EVENT_CODEC_ZSTD) {
                f->zstd = ZSTD_createCCtx();
                ZSTD_CCtx_setParameter(f->zstd, ZSTD_c_compressionLevel, options->zstd_level);
                ZSTD_CCtx_setParameter(f->zstd, ZSTD_c_checksumFlag, 1);
                buf_reserve(&f->out, ZSTD_CStreamOutSize());
        } else if (options->codec == EVENT_CODEC_LZ4) {
                f->options.lz4_block_size = MAX(options->lz4_block_size, (size_t)1024);
                f->options.lz4_block_size = MIN(f->options.lz4_block_size, (size_t)32 << 20);
                buf_reserve(&f->out, LZ4_HEAD + (size_t)LZ4_compressBound((int)f->options.lz4_block_size));
        }
        if (options->codec == EVENT_CODEC_SNAPPY && (r = snappy_library_load(&f->snappy, error)) == 0) {
                f->options.snappy_block_size = MAX(options->snappy_block_size, (size_t)1024);
                f->options.snappy_block_size = MIN(f->options.snappy_block_size, (size_t)32 << 20);
                buf_reserve(&f->out, SNAPPY_HEAD + f->snappy->max_compressed_length(f->options.snappy_block_size));
        }
        if (r == 0)
                r = options->rolling ? event_file_open_rolling(f, dir, error) : event_file_open_single(f, dir, error);
        if (r < 0) {
                event_file_release(f);
                return r;
        }
        *file = f;
        return 0;
}

int event_file_write(struct event_file *f, const char *lines, size_t size, struct fst_error *error)
{
        while (size > 0 && !f->failed) {
                size_t n = size;
                if (f->options.rolling && f->file_text + (int64_t)size > f->options.max_file_size) {
                        /* Line by line at the limit: the line that exceeds it begins the next file. */
                        const char *end = memchr(lines, '\n', size);
                        n = end ? (size_t)(end - lines) + 1 : size;
                        if (f->file_text > 0 && f->file_text + (int64_t)n > f->options.max_file_size) {
                                int r = event_file_close_current(f, error);
                                if (r == 0 && (r = event_file_open_next(f, error)) < 0)
                                        f->failed = r;
                                if (r < 0)
                                        return r;
                        }
                }
                buf_append(&f->text, lines, n);
                f->file_text += (int64_t)n;
                lines += n;
                size -= n;
                if (f->text.len >= f->options.buffer_size)
                        event_file_compress(f, ZSTD_e_continue, error);
        }
        return f->failed;
}

int event_file_flush(struct event_file *f, struct fst_error *error)
{
        if (f->failed)
                return f->failed;
        return event_file_compress(f, ZSTD_e_flush, error);
}

const char *event_file_path(const struct event_file *f)
{
        return event_file_is_local(f) ? path_local(f->path) : f->path;
}

int event_file_close(struct event_file *f, struct fst_error *error)
{
        if (!f)
                return 0;
        int r = event_file_close_current(f, error);
        if (r == 0) {
                const char *to = f->status_path ? f->status_path : f->path;
                _cleanup_free_ char *from = mem_printf("%s" IN_PROGRESS, to);
                if ((r = f->fs->rename(f->fs, from, to, error)) < 0)
                        error_wrap(error, r, "event log");
        }
        event_file_release(f);
        return r;
}

void event_file_abandon(struct event_file *f)
{
        if (f)
                event_file_release(f);
}
