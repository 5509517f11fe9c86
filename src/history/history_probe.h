/*
 * Reads what lists show of a log: its head up to the start of the application and its environment, and its end, where
 * the end of the application is. A log that is compressed is read whole, or its last file if it is a rolling one.
 *
 * Reading proceeds in steps, so that a thread can serve several logs.
 */
#pragma once

#include "history/history_listing.h"

struct file_system;
struct fst_error;
struct history_probe;

struct history_probe_options {
        bool is_fast_in_progress; /* do not search the end of a log that is still written */
        uint64_t tail_bytes;      /* how much of the end is searched first; 0: everything */
        size_t max_line;
};

/* Copies @log; borrows @fs and @options. */
struct history_probe *history_probe_new(const struct file_system *fs, const struct event_log_info *log,
                                        const struct history_probe_options *options);
void history_probe_free(struct history_probe *p); /* NULL is allowed */

/* Reads about @budget bytes. Sets *@done at the end. Returns 0 or negative with @error. */
int history_probe_step(struct history_probe *p, size_t budget, bool *done, struct fst_error *error);

/* After the end: moves the result to @out. Returns false if no application starts in the log. */
bool history_probe_take(struct history_probe *p, struct history_info *out);
