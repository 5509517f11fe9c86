/*
 * The file, or the directory of rolling files, of an event log: names, compression, rolling, renaming. It treats events
 * as lines.
 *
 *      DIR/APPID[_ATTEMPT][.CODEC]              followed by ".inprogress" while the application runs
 *      DIR/eventlog_v2_APPID[_ATTEMPT]/         when rolling, which is the default:
 *              appstatus_APPID[_ATTEMPT]        empty; followed by ".inprogress" while the application runs
 *              events_N_APPID[_ATTEMPT][.CODEC] N = 1, 2, …
 *
 * Files have mode 0660 and directories 0770 with any umask. Names are lower-case ids in which '-' replaces blanks, ':'
 * and '/', and '_' replaces any of .${}'".
 *
 * Threads: one at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fst_error;
struct event_file;

enum event_codec { EVENT_CODEC_NONE, EVENT_CODEC_ZSTD, EVENT_CODEC_LZ4, EVENT_CODEC_SNAPPY };

struct event_file_options {
        const char *dir;                 /* a local path, or file:…, hdfs://…, s3a://… */
        const char *app_id, *attempt_id; /* attempt_id may be NULL */
        enum event_codec codec;
        int zstd_level;
        size_t lz4_block_size, snappy_block_size;
        size_t buffer_size; /* bytes of text collected before a write */
        bool rolling;
        int64_t max_file_size; /* bytes of text before the next file begins */
        bool overwrite;
};

/*
 * Parse "zstd", "lz4", "snappy", or Spark's class name. Returns 0, or -EINVAL with @error, which names the key and the valid
 * values.
 */
int event_codec_parse(const char *name, enum event_codec *codec, struct fst_error *error);

/*
 * Create the files. Returns 0, or a negative status with @error, which names the key to change: -ENOENT or -ENOTDIR
 * without the directory, -EEXIST if the log exists and must not be overwritten, -EPROTONOSUPPORT for an unknown scheme,
 * or the error of the file system.
 */
int event_file_open(struct event_file **file, const struct event_file_options *options, struct fst_error *error);

/*
 * Append whole lines. Starts a new file before lines that would exceed the size. Returns 0, or a negative status once
 * writing has failed.
 */
int event_file_write(struct event_file *file, const char *lines, size_t size, struct fst_error *error);

/* Make written lines visible to readers. Does not sync the disk, like Spark on local files. */
int event_file_flush(struct event_file *file, struct fst_error *error);

/* The final path of the log, for messages: without a scheme if it is local. Owned by @file. */
const char *event_file_path(const struct event_file *file);

/*
 * End the compressed stream and remove ".inprogress" from the name. Releases @file in every case. Returns 0 for NULL.
 */
int event_file_close(struct event_file *file, struct fst_error *error);

/* Release without renaming, after an error: readers see that the application did not end normally. */
void event_file_abandon(struct event_file *file);
