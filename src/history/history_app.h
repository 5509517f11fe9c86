/*
 * An application that a history server has loaded: the status core that its log gives, behind a view for pages. Its log
 * is read in steps. A log that grows is read on later; what was read before is not read again.
 *
 * Loading and reading on belong to one thread at a time. The owner counts references.
 */
#pragma once

#include "history/history_listing.h"
#include "status/status_snapshot.h"
#include "ui/app_view.h"

#include <stdatomic.h>

struct access;
struct file_system;
struct fst_conf;
struct fst_error;
struct history_store;
struct redactor;

enum history_app_state { HISTORY_APP_LOADING, HISTORY_APP_READY, HISTORY_APP_FAILED };

struct history_app {
        struct app_view view;
        char *id, *attempt;        /* attempt NULL: the only one */
        struct event_log_info log; /* as it was when it was last read */
        int dir;
        size_t damaged; /* lines that were skipped */

        /* For the owner. */
        enum history_app_state state;
        char *problem;     /* of HISTORY_APP_FAILED; owned */
        int code;          /* the negative code of it */
        int64_t failed_ns; /* when */
        bool is_stale;     /* a newer one is to be loaded in its place */
        bool is_queued;    /* a thread reads its log, or will */
        bool is_begun;     /* the first step was taken */
        bool is_restored;  /* from the store; the log was not read */
        bool is_awaited;   /* a request that is to be repeated has asked for it since it was opened last */
        size_t n_users;
        int64_t used;   /* the time of the last use, for the least recently used one */
        size_t bytes;   /* of tasks; the server's, under its lock */
        int n_restarts; /* because files of the log went */

        /* Private. */
        const struct file_system *fs;
        const struct history_app_options *options;
        bool warned_of_urls;
        struct history_store *store; /* of a restored one: its tasks lie there */
        struct status_snapshot_source source;
        struct event_log_position position; /* of a restored one whose log grows: what came before is restored */
        bool is_part;                       /* there is a position */
        atomic_bool has_lost_tasks;
        uint64_t stored_bytes; /* of the text that the reader got, when the status was stored last */
        int64_t updated_ms;    /* of the log, for the next step */
        struct event_reader *reader;
        struct event_log_stream *stream;
        struct access *access;
};

struct history_app_options {
        const struct fst_conf *conf; /* limits of the status core, spark.history.ui.acls.* */
        const struct redactor *redactor;
        const char *logs_dir; /* durable logs that pages may read; NULL: none. Outlives the application */
        size_t max_line;
        const char *log_url;        /* the pattern of executors' logs; NULL: none */
        bool log_url_of_incomplete; /* use it for running applications too */
};

/*
 * Copies @log. The application's user and those of its ACLs may view it if spark.history.ui.acls.enable is
 * true. Returns 0, or -EINVAL with @error for an invalid configuration.
 */
int history_app_new(const struct history_app_options *options, const struct file_system *fs,
                    const struct history_log *log, struct history_app **out, struct fst_error *error);
void history_app_free(struct history_app *a); /* NULL is allowed */

/* Reads about @budget bytes. Sets *@done at the present end of the log. Returns 0 or negative with @error. */
int history_app_step(struct history_app *a, size_t budget, bool *done, struct fst_error *error);

/* Drops what was read, and begins anew with @log. Nobody uses the application yet. */
void history_app_restart(struct history_app *a, const struct event_log_info *log);

/* Returns true if the log can be read on when it grows: it was not complete. */
bool history_app_follows(const struct history_app *a);

/*
 * Takes the status that the store has for the log, in place of reading it. Of a log that grows it takes the status of
 * its beginning, and the next step reads on. Before the first step only. Returns false if there is none. The tasks of
 * large stages stay in the store, which must outlive the application, until a page or the next step needs them.
 */
bool history_app_restore(struct history_app *a, struct history_store *store);

/*
 * Stores the status: of a complete log that was read, or of what was read of a log that grows, once that is at least
 * @least bytes of text more than what the store has. The calling thread reads the log, and no other.
 */
void history_app_store(struct history_app *a, struct history_store *store, uint64_t least);

/* True if the store has lost tasks of a restored application: the log is to be read again. */
bool history_app_is_damaged(const struct history_app *a);

/* Returns true if @log is what was read last. */
bool history_app_is_current(const struct history_app *a, const struct event_log_info *log);

/* Replaces what is known of the log's files, before it is read on. @updated_ms: when it was changed. */
void history_app_set_log(struct history_app *a, const struct event_log_info *log, int64_t updated_ms);
