/*
 * Listeners: a shared object that receives the events of an application: jobs, stages, tasks, executors. This is the
 * counterpart of a class in Spark's spark.extraListeners.
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
 * The value is a list of paths of shared objects, with or without file:// or local://. dlopen's rules apply to a path
 * without "/". The driver loads the objects: in cluster mode they must be on its machine, or in its image. The
 * application does not start if an object cannot be loaded, lacks fst_listener_start, or returns an error from it. A
 * listener links no library.
 *
 * Threads: fst_listener_start runs on the thread that makes the context. The callbacks run on one thread of the driver,
 * one after another, in the order of events. They may block, but when the queue is full, the scheduler waits for them
 * (spark.scheduler.listenerbus.eventqueue.capacity). They must not call functions of firesteel.h.
 *
 * Versions: each struct begins with its size in the running Firesteel. New members are added at its end only. An object
 * that was compiled with a newer header may find a smaller size: check a new member with FST_EVENT_HAS before you read
 * it. You may set callbacks beyond the size of struct fst_listener, but they are never called.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* True if @event, a pointer to a struct of this header, has @member. */
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
        const int *stage_ids; /* at the start only: all stages of the job, including skipped ones */
        size_t n_stages;
        const char *group, *description; /* at the start only; NULL if not set */
        const char *failure;             /* at the end: the reason; NULL if it succeeded */
};

struct fst_event_stage {
        size_t size;
        int id, attempt;
        const char *name; /* "reduce_by_key at wordcount.c:14" */
        int tasks;
        int64_t submission_ms, completion_ms;
        const char *failure; /* NULL if it has not failed */
};

struct fst_event_executor {
        size_t size;
        const char *id, *host; /* host: NULL in on_executor_removed */
        int cores;
        int64_t time_ms;
        const char *reason; /* in on_executor_removed: why it was removed */
};

/* Sizes in bytes. All zero for a task that never ran. */
struct fst_event_task_metrics {
        size_t size;
        int64_t run_ms, cpu_ns;
        int64_t result_size;
        int64_t peak_execution_memory, memory_spilled, disk_spilled;
        int64_t input_bytes, input_records;
        int64_t output_bytes, output_records;
        int64_t shuffle_read_bytes, shuffle_read_records; /* local and remote */
        int64_t shuffle_fetch_wait_ms;
        int64_t shuffle_write_bytes, shuffle_write_records;
};

struct fst_event_task {
        size_t size;
        int64_t id; /* unique in the application */
        int stage_id, stage_attempt;
        int index;     /* in the stage attempt */
        int attempt;   /* number of this attempt, from 0 */
        int partition; /* the partition that it computes */
        bool speculative;
        const char *executor_id, *host;
        int64_t launch_ms, finish_ms;
        /* At the end: "Success", "ExceptionFailure", "FetchFailed", "TaskKilled", …, as in the event log. */
        const char *result;
        const char *message;                          /* why it failed; NULL if it succeeded or the reason is unknown */
        const struct fst_event_task_metrics *metrics; /* at the end */
};

struct fst_listener {
        size_t size;
        void *state; /* yours */

        /* The application's setting of @key without default or substitution, or NULL. Only in fst_listener_start. */
        const char *(*setting)(const struct fst_listener *self, const char *key);

        /* Callbacks for events. NULL: the listener ignores the event. */
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

        /* Called after the last event: release @state. Also called if the application could not start. */
        void (*on_stop)(struct fst_listener *self);
};

/*
 * The function that the object exports. Set the callbacks you need and return 0. With any other value the application
 * does not start. Called once for each context that names the object.
 */
__attribute__((visibility("default"))) int fst_listener_start(struct fst_listener *listener);

#ifdef __cplusplus
}
#endif
