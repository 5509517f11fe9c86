/* See log_store.h. */
#include "logs/log_store.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "io/fs/file_system.h"
#include "io/fs/path.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_SIZE ((size_t)256 << 10)

int log_store_write(const struct file_system *fs, const char *path, const char *name, const char *data, size_t n,
                    struct fst_error *error)
{
        _cleanup_free_ char *whole = path_join(path, name);
        struct open_file file = OPEN_FILE_INIT;
        int r = fs->create(fs, whole, &file, error);
        if (r < 0)
                return r;
        r = fs->write(&file, data, n, error);
        if (r < 0) {
                fs->discard(&file);
                return r;
        }
        return fs->close(&file, error);
}

int log_store_remove(const struct file_system *fs, const char *path, const char *name, struct fst_error *error)
{
        _cleanup_free_ char *whole = path_join(path, name);
        return fs->remove(fs, whole, error);
}

/* ---------------------------------------------------------------------------------------------------------- listing */

void stored_logs_deinit(struct stored_logs *logs)
{
        for (size_t i = 0; i < logs->list.len; i++) {
                free(logs->list.data[i].process);
                free(logs->list.data[i].output);
                vec_deinit(&logs->list.data[i].pieces);
        }
        vec_deinit(&logs->list);
}

static struct stored_log *stored_logs_get(struct stored_logs *logs, const char *process, const char *output, size_t n)
{
        for (size_t i = 0; i < logs->list.len; i++) {
                struct stored_log *log = &logs->list.data[i];
                if (strcmp(log->process, process) == 0 && strlen(log->output) == n &&
                    strncmp(log->output, output, n) == 0)
                        return log;
        }
        vec_push(&logs->list, (struct stored_log){.process = mem_strdup(process), .output = mem_strndup(output, n)});
        return &logs->list.data[logs->list.len - 1];
}

static int log_store_list_process(const struct file_system *fs, const char *path, struct stored_logs *out,
                                  struct fst_error *error)
{
        struct file_list files = {0};
        const int r = fs->list(fs, path, &files, error);
        for (size_t i = 0; r == 0 && i < files.len; i++) {
                struct piece_range range;
                size_t n;
                const char *name = path_name(files.data[i].path);
                if (!files.data[i].directory && log_piece_parse(name, &n, &range))
                        vec_push(&stored_logs_get(out, path_name(path), name, n)->pieces, range);
        }
        file_list_deinit(&files);
        return r;
}

/* "executor-10" comes after "executor-9". */
static int stored_log_compare(const void *a, const void *b)
{
        const struct stored_log *x = a, *y = b;
        const int process = strverscmp(x->process, y->process);
        return process ? process : strcmp(x->output, y->output);
}

int log_store_list(const struct file_system *fs, const char *path, struct stored_logs *out, struct fst_error *error)
{
        struct file_list processes = {0};
        int r = fs->list(fs, path, &processes, error);
        for (size_t i = 0; r == 0 && i < processes.len; i++)
                if (processes.data[i].directory)
                        r = log_store_list_process(fs, processes.data[i].path, out, error);
        file_list_deinit(&processes);
        if (out->list.len)
                qsort(out->list.data, out->list.len, sizeof(*out->list.data), stored_log_compare);
        return r;
}

/* ---------------------------------------------------------------------------------------------------------- reading */

/* Passes bytes @at to @until, at most @range.end, of a piece. A piece that is still being written may have fewer. */
static int log_store_read_piece(const struct file_system *fs, const char *path, const char *output,
                                struct piece_range range, uint64_t *at, uint64_t until,
                                int (*sink)(void *owner, const char *data, size_t n), void *owner,
                                struct fst_error *error)
{
        char name[LOG_PIECE_NAME];
        _cleanup_free_ char *whole = path_join(path, log_piece_name(output, range, name));
        struct open_file file = OPEN_FILE_INIT;
        int r = fs->open(fs, whole, &file, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *data = mem_alloc(READ_SIZE);
        const uint64_t end = MIN(range.end, until);
        while (r == 0 && *at < end) {
                const ssize_t n =
                        fs->read_at(&file, data, MIN(READ_SIZE, (size_t)(end - *at)), *at - range.start, error);
                r = n < 0 ? (int)n : n == 0 ? 1 : sink(owner, data, (size_t)n);
                *at += n > 0 ? (uint64_t)n : 0;
                if (n == 0)
                        break;
        }
        const int closed = fs->close(&file, r < 0 ? NULL : error);
        return r == 1 ? 1 : r ? r : closed;
}

int log_store_read(const struct file_system *fs, const char *path, const struct stored_log *log, uint64_t *at,
                   uint64_t until, int (*sink)(void *owner, const char *data, size_t n), void *owner,
                   struct fst_error *error)
{
        _cleanup_free_ char *process = path_join(path, log->process);
        for (;;) {
                const size_t i = log_pieces_find(log->pieces.data, log->pieces.len, *at);
                if (i == log->pieces.len || *at >= until)
                        return 0;
                const struct piece_range range = log->pieces.data[i];
                if (range.start > *at) {
                        char line[96];
                        const int n = snprintf(line, sizeof(line), "[bytes %llu to %llu are missing]\n",
                                               (unsigned long long)*at, (unsigned long long)range.start - 1);
                        const int r = sink(owner, line, (size_t)n);
                        if (r)
                                return r;
                        *at = range.start;
                }
                const uint64_t before = *at;
                const int r = log_store_read_piece(fs, process, log->output, range, at, until, sink, owner, error);
                if (r == -ENOENT || (r == 1 && *at == before))
                        return 0; /* removed or not yet written; another look will find what covers it */
                if (r && r != 1)
                        return r;
        }
}

static int log_store_append(void *owner, const char *data, size_t n)
{
        buf_append(owner, data, n);
        return 0;
}

/* The bytes that are stored of a log: from *@first up to *@total. */
static void stored_log_bounds(const struct stored_log *log, uint64_t *first, uint64_t *total)
{
        *first = UINT64_MAX;
        *total = 0;
        for (size_t i = 0; i < log->pieces.len; i++) {
                *first = MIN(*first, log->pieces.data[i].start);
                *total = MAX(*total, log->pieces.data[i].end);
        }
}

static int stored_part_read(const struct file_system *fs, const char *path, const struct stored_log *log,
                            const int64_t *offset, uint64_t bytes, struct stored_part *out, struct fst_error *error)
{
        stored_log_bounds(log, &out->first, &out->total);
        const uint64_t wanted = !offset ? out->total - MIN(bytes, out->total) : *offset < 0 ? 0 : (uint64_t)*offset;
        uint64_t at = MIN(MAX(wanted, out->first), out->total);
        out->start = at;
        const int r = log_store_read(fs, path, log, &at, out->total - at < bytes ? out->total : at + bytes,
                                     log_store_append, &out->text, error);
        out->end = at;
        return r;
}

int log_store_read_part(const struct file_system *fs, const char *path, const char *process, const char *output,
                        const int64_t *offset, int64_t bytes, struct stored_part *out, struct fst_error *error)
{
        enum { LOOKS = 3 }; /* a listed piece may be removed, because another one covers it, before it is read */
        _cleanup_free_ char *directory = path_join(path, process);
        const struct stored_log *log = NULL;
        int r = 0;
        for (int i = 0; i < LOOKS && r == 0 && (!log || (out->end == out->start && out->start < out->total)); i++) {
                struct stored_logs logs = {0};
                r = log_store_list_process(fs, directory, &logs, error);
                log = NULL;
                for (size_t k = 0; k < logs.list.len; k++)
                        if (strcmp(logs.list.data[k].output, output) == 0)
                                log = &logs.list.data[k];
                if (r == 0 && !log)
                        r = error_set(error, -ENOENT, "%s has no log %s", directory, output);
                else if (r == 0)
                        r = stored_part_read(fs, path, log, offset, (uint64_t)MAX(bytes, (int64_t)0), out, error);
                stored_logs_deinit(&logs);
        }
        return r;
}

void stored_part_deinit(struct stored_part *part)
{
        buf_deinit(&part->text);
}

/* -------------------------------------------------------------------------------------------------------- retention */

/* The time of the newest file below @path, at most @depth levels down. Sets *@ours if a process has left its index. */
static int log_store_newest(const struct file_system *fs, const char *path, int depth, int64_t *newest, bool *ours,
                            struct fst_error *error)
{
        struct file_list files = {0};
        int r = fs->list(fs, path, &files, error);
        for (size_t i = 0; r == 0 && i < files.len; i++) {
                *newest = MAX(*newest, files.data[i].modified_ms);
                *ours = *ours || (depth == 0 && strcmp(path_name(files.data[i].path), LOG_STORE_INDEX) == 0);
                if (files.data[i].directory && depth > 0)
                        r = log_store_newest(fs, files.data[i].path, depth - 1, newest, ours, error);
        }
        file_list_deinit(&files);
        return r;
}

int log_store_clean(const struct file_system *fs, const char *dir, const char *keep, int64_t max_age_ms, int64_t now_ms,
                    struct fst_error *error)
{
        struct file_list applications = {0};
        const int r = fs->list(fs, dir, &applications, error);
        for (size_t i = 0; r == 0 && i < applications.len; i++) {
                const struct file_status *a = &applications.data[i];
                _cleanup_(error_deinit) struct fst_error why = FST_ERROR_INIT;
                int64_t newest = a->modified_ms;
                if (!a->directory || strcmp(path_name(a->path), keep) == 0)
                        continue;
                bool ours = false;
                int code = log_store_newest(fs, a->path, 1, &newest, &ours, &why);
                if (code == 0 && ours && newest < now_ms - max_age_ms)
                        code = fs->remove(fs, a->path, &why);
                if (code < 0)
                        log_warn("DurableLogs", "%s cannot be cleaned: %s", a->path, error_message(&why));
        }
        file_list_deinit(&applications);
        return r;
}
