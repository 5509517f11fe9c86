/*
 * The file, or the directory of rolling files, that an event log is written to: names, compression, rolling,
 * renaming. It knows nothing of events but that they are lines.
 *
 *      DIR/APPID[_ATTEMPT][.CODEC]              and ".inprogress" behind it while the application runs
 *      DIR/eventlog_v2_APPID[_ATTEMPT]/         when rolling, which is the default:
 *              appstatus_APPID[_ATTEMPT]        empty; ".inprogress" behind it while the application runs
 *              events_N_APPID[_ATTEMPT][.CODEC] N = 1, 2, …
 *
 * Files have mode 0660, directories 0770, whatever the umask. Names are made of lower-case ids in which blanks,
 * ':' and '/' are '-', and any of .${}'" is '_'. Not for threads.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fst_error;
struct event_file;

enum event_codec { EVENT_CODEC_NONE, EVENT_CODEC_ZSTD, EVENT_CODEC_LZ4 };

struct event_file_options {
        const char *dir;                 /* a path, or file:… */
        const char *app_id, *attempt_id; /* attempt_id may be NULL */
        enum event_codec codec;
        int zstd_level;
        size_t lz4_block_size;
        size_t buffer_size; /* bytes of text kept back */
        bool rolling;
        int64_t max_file_size; /* bytes of text after which the next file begins */
        bool overwrite;
};

/*
 * "zstd", "lz4", or the class name that Spark takes; 0, or -EINVAL naming the key and what can be used.
 */
int event_codec_parse(const char *name, enum event_codec *codec, struct fst_error *error);

/*
 * Create the files. -ENOENT, -ENOTDIR: the directory is not there; -EEXIST: the log is, and may not be
 * overwritten; -EINVAL: not a local path; -errno. @error says which key to change.
 */
int event_file_open(struct event_file **file, const struct event_file_options *options, struct fst_error *error);

/* Append whole lines; rolls before lines that would exceed the size. 0, or negative once writing failed. */
int event_file_write(struct event_file *file, const char *lines, size_t size, struct fst_error *error);

/* Make all that was written visible to readers. Does not wait for the disk, as Spark does not on local files. */
int event_file_flush(struct event_file *file, struct fst_error *error);

/* Where the log is (or will be once it is closed). Owned by @file. */
const char *event_file_path(const struct event_file *file);

/* Finish: end the compressed stream and take ".inprogress" away. Releases @file in every case. NULL: 0. */
int event_file_close(struct event_file *file, struct fst_error *error);

/* Release without renaming, after an error: readers see that the application did not end well. */
void event_file_abandon(struct event_file *file);
