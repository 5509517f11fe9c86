/*
 * Listeners of your own: a shared object that hears what happens in an application: jobs, stages, tasks, executors.
 * What a class named in spark.extraListeners is for genuine Spark.
 *
 *      #include <firesteel/listener.h>
 *      #include <stdio.h>
 *
 *      static void on_job_end(struct fst_listener *self, const struct fst_event_job *job)
 *      {
 *              fprintf(stderr, "job %d %s\n", job->id, job->failure ? job->failure : "succeeded");
 *      }
 *
 *      int fst_listener_start(struct fst_listener *listener)
 *      {
 *              listener->on_job_end = on_job_end;
 *              return 0;
 *      }
 *
 *      cc -shared -fPIC -o jobs.so jobs.c
 *      spark-submit --conf spark.extraListeners=/opt/listeners/jobs.so …
 *
 * The value is a list of paths of shared objects, with file:// or local:// before them or not; a path without "/" is
 * looked for as dlopen does. They are loaded where the driver runs: in cluster mode they must be on that machine, or in
 * the driver's image. An object that cannot be loaded, lacks fst_listener_start, or refuses keeps the application from
 * starting. Nothing has to be linked.
 *
 * Threads: fst_listener_start is called on the thread that makes the context; the callbacks on one thread of the
 * driver, one after another, in the order of events. They may block, but then the scheduler waits for them in the end
 * (spark.scheduler.listenerbus.eventqueue.capacity). They must not call functions of firesteel.h.
 *
 * Versions: each struct begins with its size as the running Firesteel knows it. Members are only ever added at its end.
 * An object that was compiled with a newer header may find a smaller size: what lies behind it is not there
 * (FST_EVENT_HAS). Callbacks behind the size of struct fst_listener are never called; setting them is allowed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether @event, a pointer to a struct of this header, has @member. */
#define FST_EVENT_HAS(event, member)                                                                                   \
        ((size_t)((const char *)(&(event)->member + 1) - (const char *)(event)) <= (event)->size)

/* Texts and structs live until the callback returns. Times are milliseconds since 1970; 0: not yet. */

struct fst_event_application {
        size_t size;
        const char *name, *id, *user; /* NULL at the end of the application */
        int64_t time_ms;
};

struct fst_event_job {
        size_t size;
        int id;
        int64_t time_ms;
        const int *stage_ids; /* all that the job needs, also those that will be skipped; at the start only */
        size_t n_stages;
        const char *group, *description; /* at the start only; NULL: none is set */
        const char *failure;             /* at the end: why it failed; NULL: it succeeded */
};

struct fst_event_stage {
        size_t size;
        int id, attempt;
        const char *name; /* "reduce_by_key at wordcount.c:14" */
        int tasks;
        int64_t submission_ms, completion_ms;
        const char *failure; /* NULL: none */
};

struct fst_event_executor {
        size_t size;
        const char *id, *host; /* host: NULL when it is removed */
        int cores;
        int64_t time_ms;
        const char *reason; /* when it is removed: why */
};

/* Sizes in bytes. All zero for a task that never ran. */
struct fst_event_task_metrics {
        size_t size;
        int64_t run_ms, cpu_ns;
        int64_t result_size;
        int64_t peak_execution_memory, memory_spilled, disk_spilled;
        int64_t input_bytes, input_records;
        int64_t output_bytes, output_records;
        int64_t shuffle_read_bytes, shuffle_read_records; /* of this executor and others together */
        int64_t shuffle_fetch_wait_ms;
        int64_t shuffle_write_bytes, shuffle_write_records;
};

struct fst_event_task {
        size_t size;
        int64_t id; /* unique in the application */
        int stage_id, stage_attempt;
        int index;     /* in its stage attempt */
        int attempt;   /* of this index, from 0 */
        int partition; /* that it computes */
        bool speculative;
        const char *executor_id, *host;
        int64_t launch_ms, finish_ms;
        /* At the end: "Success", "ExceptionFailure", "FetchFailed", "TaskKilled", "ExecutorLostFailure", … as in logs.
         */
        const char *result;
        const char *message;                          /* why it did not succeed; NULL: it did, or nothing is known */
        const struct fst_event_task_metrics *metrics; /* at the end */
};

struct fst_listener {
        size_t size;
        void *state; /* yours */

        /* The application's setting of that name as it was given, or NULL. Only while fst_listener_start runs. */
        const char *(*setting)(const struct fst_listener *self, const char *key);

        /* What you want to hear: NULL for the rest. */
        void (*on_application_start)(struct fst_listener *self, const struct fst_event_application *event);
        void (*on_application_end)(struct fst_listener *self, const struct fst_event_application *event);
        void (*on_job_start)(struct fst_listener *self, const struct fst_event_job *event);
        void (*on_job_end)(struct fst_listener *self, const struct fst_event_job *event);
        void (*on_stage_submitted)(struct fst_listener *self, const struct fst_event_stage *event);
        void (*on_stage_completed)(struct fst_listener *self, const struct fst_event_stage *event);
        void (*on_task_start)(struct fst_listener *self, const struct fst_event_task *event);
        void (*on_task_end)(struct fst_listener *self, const struct fst_event_task *event);
        void (*on_executor_added)(struct fst_listener *self, const struct fst_event_executor *event);
        void (*on_executor_removed)(struct fst_listener *self, const struct fst_event_executor *event);

        /* Nothing comes any more: release @state. Also called when the application could not start. */
        void (*on_stop)(struct fst_listener *self);
};

/*
 * What the object exports. Fill in what is wanted and return 0; anything else refuses, and the application does not
 * start. Called once for each context that names the object.
 */
__attribute__((visibility("default"))) int fst_listener_start(struct fst_listener *listener);

#ifdef __cplusplus
}
#endif
