/*
 * Shared by the files of the history server: history_server.c (lifetime, source of the site), history_cache.c (the
 * applications in memory), history_jobs.c (queues and the threads that read logs), history_scanner.c (the thread that
 * scans the directories). Users include history_server.h.
 *
 * Invariants: `lock` guards everything but what a loaded application holds. Threads hold it for short times only, never
 * while they read files. A job that is taken from a queue belongs to its thread until the thread queues it again or
 * ends it. An application with users or a job is not freed.
 */
#pragma once

#include "base/string_list.h"
#include "base/vec.h"
#include "conf/redact.h"
#include "history/history_app.h"
#include "history/history_listing.h"
#include "history/history_server.h"
#include "history/history_settings.h"

#include <pthread.h>

#define HISTORY_LOG "FsHistoryProvider"

struct file_system;
struct history_probe;
struct history_store;

struct history_dir {
        char *path;
        const char *name; /* display name */
        char *own_name;
        const struct file_system *fs;
        int watch; /* of inotify; -1: none */
        char *problem;                 /* why the last scan failed; NULL: it did not. Guarded by the lock */
        struct string_list unreadable; /* messages about rolling logs of the last scan; the scanner's */
        bool is_scanned; /* else its logs are found only by their ids */
};

/* Something to read: the head and end of a log, or an application. */
struct history_job {
        struct history_job *next;
        struct history_probe *probe; /* or */
        struct history_app *app;
        char *path; /* of the log to probe or to compact */
        int dir;
};

struct history_queue {
        struct history_job *first, **end;
};

struct history_server {
        struct app_source source;
        const struct fst_conf *conf;
        struct redactor redactor;
        struct history_settings settings;
        struct history_app_options app_options;
        struct history_store *store; /* NULL: none */
        VEC(struct history_dir) dirs;
        int inotify, wakeup; /* descriptors */

        pthread_mutex_t lock;
        pthread_cond_t work, loaded; /* a job was queued; an application was loaded, or a scan ended */
        void (*on_loaded)(void *owner); /* the same for the site; NULL: requests wait */
        void *on_loaded_owner;
        pthread_cond_t compact;      /* a log to compact was queued */
        struct history_listing listing;
        struct history_queue probes, loads, compactions;
        bool load_was_last; /* queues take turns */
        VEC(struct history_app *) apps;
        int64_t scanned_ms, n_uses;
        size_t n_scans;
        bool is_ending;
        VEC(pthread_t) threads;
};

/* The caller of a function holds the lock, unless its comment says otherwise. */

/* history_server.c */

/* Tells all that wait that an application was loaded, or could not be, or that a scan ended. */
void history_server_tell_loaded(struct history_server *s);

/* history_jobs.c */

/* Queues the first job of an application. */
void history_server_queue_app(struct history_server *s, struct history_app *app);
/* Carries out the actions of the listing. Releases the lock while files are removed. */
void history_server_act(struct history_server *s);
/* Lists what the store holds, before the first scan. Needs no lock: no thread runs yet. */
void history_server_list_store(struct history_server *s);
/* Frees the jobs that no thread has taken. Needs no lock: the threads have ended. */
void history_server_free_jobs(struct history_server *s);
/* A thread that reads logs until the server ends. It takes the lock. */
void *history_server_work(void *server);
/* A thread that compacts logs until the server ends. It takes the lock. */
void *history_server_compact(void *server);

/* history_cache.c */

/* Frees stale applications, and the least recently used ones beyond the limits. */
void history_server_trim_apps(struct history_server *s);
/* Frees all applications. Needs no lock: the threads have ended. */
void history_server_free_apps(struct history_server *s);
/* A log that was loaded has changed: it is read on, or its application is loaded anew for the next reader. */
void history_server_follow(struct history_server *s, const struct history_log *log);
/* Returns the newest log of an attempt, or NULL. @attempt NULL: the first one that is listed. */
const struct history_log *history_server_find_log(struct history_server *s, const char *id, const char *attempt);
/*
 * Returns the application of a log, which it begins to load if it is not in memory. Returns 0, or negative with @error.
 */
int history_server_get_app(struct history_server *s, const struct history_log *log, struct history_app **out,
                           struct fst_error *error);

/* history_demand.c */

/*
 * Looks for the log of an application that no scan has found, and waits until it is listed. Releases the lock
 * meanwhile.
 * @attempt NULL: any.
 */
void history_server_demand(struct history_server *s, const char *id, const char *attempt);

/* history_scanner.c */

/* The thread that scans the directories and runs the cleaners until the server ends. It takes the lock. */
void *history_server_watch(void *server);
