/*
 * Where durable logs are: below spark.firesteel.logs.dir (file, hdfs, s3a) a directory for each application, in it one
 * for each process ("driver", "executor-3"), with
 *
 *      index.json                                   host, process id, container, time of the start
 *      stderr.00000…-00000…, stdout.…               pieces of its output (logs/log_pieces.h)
 *
 * Functions block. Paths are full paths of @fs.
 */
#pragma once

#include "base/buf.h"
#include "base/string_list.h"
#include "base/vec.h"
#include "logs/log_pieces.h"

struct file_system;
struct fst_error;

#define LOG_STORE_INDEX "index.json"

/* One output of a process. */
struct stored_log {
        char *process, *output; /* "executor-3", "stderr" */
        VEC(struct piece_range) pieces;
};

struct stored_logs {
        VEC(struct stored_log) list; /* ordered by process and output */
};

/* Writes the file @name of the directory @path. Returns 0, or negative with @error. */
int log_store_write(const struct file_system *fs, const char *path, const char *name, const char *data, size_t n,
                    struct fst_error *error);
int log_store_remove(const struct file_system *fs, const char *path, const char *name, struct fst_error *error);

/* Lists what the application in the directory @path has. Returns 0, -ENOENT without such a directory, or negative. */
int log_store_list(const struct file_system *fs, const char *path, struct stored_logs *out, struct fst_error *error);
void stored_logs_deinit(struct stored_logs *logs);

/*
 * Passes the bytes of @log from *@at to @until on to @sink, and moves *@at to their end. A range that no piece has is
 * skipped, and @sink gets a line that says so. Nonzero of @sink ends the reading. Returns 0, that value, or negative
 * with @error.
 */
int log_store_read(const struct file_system *fs, const char *path, const struct stored_log *log, uint64_t *at,
                   uint64_t until, int (*sink)(void *owner, const char *data, size_t n), void *owner,
                   struct fst_error *error);

/* A part of a log. */
struct stored_part {
        uint64_t start, end;   /* the bytes in `text`, but for lines about missing ones */
        uint64_t first, total; /* what is stored: from `first` on, up to `total` */
        struct buf text;
};

/*
 * Reads at most @bytes of the log @output of @process, whose application has the directory @path: from *@offset on, or
 * the last ones if @offset is NULL. Returns 0 and @out; -ENOENT if nothing of it is stored; or negative. With @error.
 */
int log_store_read_part(const struct file_system *fs, const char *path, const char *process, const char *output,
                        const int64_t *offset, int64_t bytes, struct stored_part *out, struct fst_error *error);
void stored_part_deinit(struct stored_part *part);

/*
 * Removes the applications below @dir of which no file has changed for @max_age_ms; @keep stays, and so do
 * directories without logs. Errors of single applications are logged.
 */
int log_store_clean(const struct file_system *fs, const char *dir, const char *keep, int64_t max_age_ms, int64_t now_ms,
                    struct fst_error *error);
