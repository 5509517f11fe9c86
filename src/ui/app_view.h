/*
 * One application as its pages and /api/v1 see it: the entities of its status core behind a lock, and what only the
 * source of the application knows. A driver has one view, fed by the listener bus. A history server has one for each
 * application that it has loaded.
 *
 *      app_view_read(view);
 *      … copies what it needs from view->status …
 *      app_view_end(view);
 *
 * A reader that needs more than some 10 ms calls app_view_pause now and then, so that a driver's events never wait for
 * it.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/vec.h"
#include "status/status.h"

#include <pthread.h>

struct app_view;
struct metrics_snapshot;
struct redactor;

/* One thread of a process, as a thread dump shows it. Texts live in the arena of the list. */
struct app_thread {
        int64_t id;
        const char *name;
        const char *state;    /* Java's word: "RUNNABLE", "TIMED_WAITING" */
        const char *wait;     /* the system call or the place in the kernel; "": unknown */
        const char *function; /* of the application, that runs; "": none or unknown */
        int64_t task_id;      /* -1: none */
        int64_t cpu_ms;
        const char *const *stack; /* "split+0x1c (wordcount.so)", the innermost first */
        size_t n_stack;           /* 0: unknown */
};

struct app_threads {
        struct arena texts; /* holds all that the threads refer to */
        VEC(struct app_thread) list;
};

static inline void app_threads_deinit(struct app_threads *threads)
{
        vec_deinit(&threads->list);
        arena_deinit(&threads->texts);
}

/* The questions that a source answers. Any thread calls these. A member is NULL if the source cannot do it. */
struct app_view_class {
        /* Whether @user (NULL: unknown) may see the application. NULL: whoever may see the site. */
        bool (*may_view)(struct app_view *view, const char *user);
        /*
         * Returns true if data of the application were lost while it was read: what was read does not count, and
         * opening the application again gives all of it. NULL: never.
         */
        bool (*is_damaged)(struct app_view *view);
        /* Cancel a running job or stage. NULL: pages have no links for it. */
        void (*kill_job)(struct app_view *view, int job);
        void (*kill_stage)(struct app_view *view, int stage);
        /*
         * Fills @out, which is empty, with the threads of a running executor, "driver" included. Returns false if they
         * are unknown. May take seconds: the view is not locked.
         */
        bool (*threads)(struct app_view *view, const char *executor, struct app_threads *out);
        /*
         * Returns the text of a source file that a call site names, or NULL if it is unknown. It stays valid as long as
         * the view. NULL: sources are not shown.
         */
        const char *(*source)(struct app_view *view, const char *file);
        /* Takes a snapshot of the driver's metrics. The view is not locked. */
        void (*measure)(struct app_view *view, struct metrics_snapshot *out);
};

struct app_view {
        const struct app_view_class *class;
        void *owner;                     /* for the class */
        struct status *status;           /* read between app_view_read and app_view_end; never changed */
        const struct redactor *redactor; /* hides secrets of the configuration; not NULL */
        const char *logs_dir;            /* durable logs that pages may read (logs/log_store.h); NULL: none */
        bool is_live;                    /* the application runs in this process */
        int64_t updated_ms;              /* of an unfinished log: when it was changed last; 0: its last event */

        /* Private. */
        pthread_mutex_t lock;
        int n_writers; /* waiting ones; atomic */
};

void app_view_init(struct app_view *view, const struct app_view_class *class, struct status *status,
                   const struct redactor *redactor);
void app_view_deinit(struct app_view *view); /* frees neither the status nor the redactor */

/* Surround changes of the status. A writer goes before readers that pause. */
void app_view_write(struct app_view *view);
void app_view_written(struct app_view *view);

/* Surround reading. */
void app_view_read(struct app_view *view);
void app_view_end(struct app_view *view);

/* Lets a waiting writer go first. Returns true if one did: pointers into the status are invalid then. */
bool app_view_pause(struct app_view *view);

/* True if what was read does not count: see app_view_class. */
static inline bool app_view_is_damaged(struct app_view *view)
{
        return view->class->is_damaged && view->class->is_damaged(view);
}

/* Returns the time up to which running tasks have lasted: @now_ms of a live application. */
static inline int64_t app_view_now(const struct app_view *view, int64_t now_ms)
{
        return view->is_live ? now_ms : view->updated_ms ? view->updated_ms : view->status->last_event_ms;
}
