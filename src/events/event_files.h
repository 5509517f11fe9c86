/*
 * Event logs as files: lists them in a directory and reads them as streams of text.
 *
 *      APP[_ATTEMPT][.CODEC][.inprogress]           a single log
 *      eventlog_v2_APP[_ATTEMPT]/                   a rolling log
 *              appstatus_APP[_ATTEMPT][.inprogress]
 *              events_N_APP[_ATTEMPT][.CODEC][.compact]
 *
 * The suffix ".inprogress" marks a log that is still written. A compacted file replaces all files up to its number.
 * Codecs are zstd, lz4, snappy and lzf.
 *
 *      struct event_log_stream *s = event_log_stream_new(fs, reader);
 *      do
 *              r = event_log_stream_read(s, &log, 1 << 20, &ended, error);
 *      while (r == 0 && !ended);
 *      event_reader_end(reader, !log.is_complete);
 *      event_log_stream_free(s);
 *
 * A stream of a log that grows can be read on later with a newer status of the log.
 */
#pragma once

#include "base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_reader;
struct file_system;
struct fst_error;
struct string_list;

#define EVENT_LOG_ROLLING_PREFIX "eventlog_v2_"
#define EVENT_LOG_IN_PROGRESS ".inprogress"
#define EVENT_LOG_COMPACTED ".compact"

enum event_log_codec { EVENT_LOG_PLAIN, EVENT_LOG_ZSTD, EVENT_LOG_LZ4, EVENT_LOG_SNAPPY, EVENT_LOG_LZF };

/* The codec that a file's name tells. */
enum event_log_codec event_log_codec_of(const char *path);

/* The form of an id in names of logs: Spark's rules for lower case and for signs. The caller owns it. */
char *event_log_clean_name(const char *id);

struct event_log_file {
        char *path;  /* owned */
        long number; /* of a rolling log, from 1; 0: a single log */
        uint64_t size;
        int64_t modified_ms; /* since 1970 */
        bool is_compacted;
};

struct event_log_info {
        char *path;          /* of the file or directory; owned */
        char *name;          /* "APP" or "APP_ATTEMPT"; owned */
        bool is_rolling;     /* a directory */
        bool is_complete;    /* its application has ended or was given up */
        uint64_t size;       /* of all files */
        int64_t modified_ms; /* of the file that was written last */
        VEC(struct event_log_file)
        files; /* in the order of their events, without those that a compacted one replaces */
};

struct event_log_list {
        struct event_log_info *data;
        size_t len, cap;
};

void event_log_deinit(struct event_log_info *log);
void event_log_copy(struct event_log_info *to, const struct event_log_info *from); /* a deep copy */
void event_log_list_deinit(struct event_log_list *list);

/*
 * Appends the logs of the directory @path to @out. Skips what is no log, hidden and empty files, and
 * what cannot be read. Adds a message to @unreadable for each rolling log whose directory cannot be listed; NULL: none.
 * Returns 0, or the error of listing @path.
 */
int event_log_list_directory(const struct file_system *fs, const char *path, struct event_log_list *out,
                             struct string_list *unreadable, struct fst_error *error);

/*
 * Looks up one log, a file or a directory with files events_N_…. Returns 0, -ENOENT, or another negative code with
 * @error.
 */
int event_log_look_up(const struct file_system *fs, const char *path, struct event_log_info *out,
                      struct fst_error *error);

struct event_log_stream;

/* Borrows both. @reader gets the text. */
struct event_log_stream *event_log_stream_new(const struct file_system *fs, struct event_reader *reader);
void event_log_stream_free(struct event_log_stream *s); /* NULL is allowed */

/*
 * Reads on in @log, about @budget bytes of text. Sets *@ended at the present end of the log. A log that is not complete
 * may end anywhere. Returns 0; -ENOTSUP without the snappy module; -EBADMSG if compressed data is damaged;
 * -ESTALE if a file that was read before is gone or replaced, so that the caller must begin anew; or the error of the
 * file system.
 */
int event_log_stream_read(struct event_log_stream *s, const struct event_log_info *log, size_t budget, bool *ended,
                          struct fst_error *error);

/* Where a line of a log begins. */
struct event_log_position {
        long number;       /* of the file, as in struct event_log_file */
        uint64_t text;     /* bytes of its text before the line */
        uint64_t head;     /* of the file's first bytes so many */
        uint64_t checksum; /* have this one: the file was not replaced */
};

/* Tells where the line begins that the reader gets next. Returns false if that is not known. */
bool event_log_stream_position(struct event_log_stream *s, struct event_log_position *out);

/*
 * Moves to a position, of this log as it was before it grew. Returns false, and changes nothing, if the log does not
 * have it any more. Only before the first read. The text of a compressed file before it is decoded once more.
 */
bool event_log_stream_resume(struct event_log_stream *s, const struct event_log_info *log,
                             const struct event_log_position *position);

/*
 * Moves to the end of a log: to the beginning of a line among the last @bytes of its last file, or to the beginning of
 * that file if it is compressed or smaller. Returns false, and changes nothing, if that is the beginning of the log.
 * Only before the first read.
 */
bool event_log_stream_seek_tail(struct event_log_stream *s, const struct event_log_info *log, uint64_t bytes);
