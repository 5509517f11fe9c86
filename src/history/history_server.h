/*
 * The applications of a history server: finds event logs in directories, reads what the list shows, and loads the
 * status of an application when somebody asks for it (Spark: FsHistoryProvider and ApplicationCache). It is the source
 * of the applications of a site (ui/ui_site.h).
 *
 *      one thread     scans the directories, at every spark.history.fs.update.interval and when a file appears on a
 *                     local disk, and runs the cleaners
 *      some threads   read logs, in turn, a piece of each, so that a large log never delays the others
 *
 * Requests wait in their own threads until the application that they need is loaded.
 */
#pragma once

#include "ui/app_source.h"

struct fst_conf;
struct fst_error;
struct history_server;
struct metrics_snapshot;

/*
 * Starts the threads. Borrows @conf. Returns 0, -ENOENT if a log directory does not exist, -EINVAL for an invalid
 * setting, or another negative code, with @error.
 */
int history_server_new(const struct fst_conf *conf, struct history_server **out, struct fst_error *error);

/* Asks the threads to end. Requests that wait for an application get an error. */
void history_server_stop(struct history_server *s);

/* Ends the threads. No request may be pending. NULL is allowed. */
void history_server_free(struct history_server *s);

struct app_source *history_server_source(struct history_server *s);

/* The facts about the server itself that the list page shows. Any thread. */
struct history_server_state {
        int64_t scanned_ms;      /* when the last scan ended, ms since 1970; 0: never */
        size_t n_pending;        /* logs that wait to be read */
        size_t n_loaded;         /* applications in memory */
        const char *title;       /* spark.history.ui.title */
        const char *dirs;        /* as configured */
        size_t max_applications; /* of the list page */
        char *problem;           /* why a directory cannot be listed; NULL: none. The caller frees it */
};
void history_server_get_state(struct history_server *s, struct history_server_state *out);

/* The server of a source that history_server_source returned. */
struct history_server *history_server_of(struct app_source *source);
