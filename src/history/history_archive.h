/* A zip archive of event logs, which is read while it is sent. */
#pragma once

#include "events/event_files.h"
#include "ui/ui_stream.h"

struct history_archive;

struct history_archive *history_archive_new(void);

/*
 * Adds a log: its file, or its directory with the files that are there now. Returns 0, or negative with @error if the
 * directory cannot be listed.
 */
int history_archive_add(struct history_archive *a, const struct file_system *fs, const struct event_log_info *log,
                        struct fst_error *error);

/* The archive as a stream, whose `free` frees it. */
struct ui_stream *history_archive_stream(struct history_archive *a);
