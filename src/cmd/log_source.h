/*
 * An event log, read as a whole into a status core for a command.
 */
#pragma once

#include "base/vec.h"
#include "status/status.h"

struct event_reader;

/* A damaged line. */
struct log_source_line {
        size_t line;
        char *problem; /* owned */
};

struct log_source {
        struct event_reader *reader;
        struct status *status;
        const char *path; /* for messages */
        size_t n_reported;
        bool has_events;
        VEC(struct log_source_line) early; /* before the first event: reported once it comes */
};

/*
 * Reads the log @path, a file, the directory of a rolling log or a URI, and borrows the path. Damaged lines are
 * reported on standard error and skipped. The error of a directory of several logs names them, each behind @command
 * ("firesteel jobs"; NULL: none). Returns 0, or negative after it reported the error.
 */
int log_source_init(struct log_source *source, const char *path, const char *command);
void log_source_deinit(struct log_source *source);

/* Reports lost events, once the tables are printed. */
void log_source_warn(const struct log_source *source);
