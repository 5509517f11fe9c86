/*
 * The engine's state of a running attempt, beside the public fst_task: its memory, first failure and counters. Each
 * slot has one and begins it anew for each attempt. Only the slot's thread uses it, except for the flag at
 * task.stopped, which any thread may set.
 */
#pragma once

#include "base/error.h"

#include <firesteel/task.h>

#include <stdint.h>

struct accumulator_update;
struct accumulator_updates;
struct memory_manager;
struct memory_task;
struct spill_space;
struct Firesteel__BarrierReply;
struct strmap;
struct task_listener;
struct task_resources;
struct task_services;

/* Counters of one attempt, named as in the listeners and the event log. Times in ns, sizes in bytes. */
struct task_counters {
        int64_t run_ns, cpu_ns;
        int64_t result_bytes;
        int64_t peak_memory;
        int64_t memory_spilled, disk_spilled;
        int64_t input_bytes, input_records;
        int64_t output_bytes, output_records;
        int64_t shuffle_local_blocks, shuffle_local_bytes;   /* read from map outputs of this executor */
        int64_t shuffle_remote_blocks, shuffle_remote_bytes; /* fetched from other executors, compressed */
        int64_t shuffle_fetch_wait_ns;                       /* time spent waiting for remote blocks */
        int64_t shuffle_remote_requests_ns;                  /* from each request to the end of its response */
        int64_t shuffle_read_records;
        int64_t shuffle_write_bytes, shuffle_write_records, shuffle_write_ns;
};

/* A broadcast value that the attempt has fetched. */
struct held_broadcast {
        int64_t id;
        uint64_t size;
        const void *data;
        void *hold; /* the executor's handle; released when the attempt ends */
};

struct task_run {
        fst_task task; /* the public part; task.run points back here */
        struct memory_manager *memory_manager;
        const struct spill_space *spill; /* spill files of operators; NULL: spilling is not possible */
        struct memory_task *memory;      /* created on first use: task_run_memory */
        size_t held;                     /* bytes held now; atomic, for other threads */
        struct fst_error error;          /* message of the first failure */
        int status;                      /* 0, or the first failure */
        /* the default target of task.stopped, for slots without a flag for each task */
        int stop;
        const char *function; /* name of the running user function, for crash reports; borrowed */
        bool fetch_failed;    /* the failure is a failed read of a map output: */
        int fetch_shuffle, fetch_map;
        int fetch_executor; /* the scheduler's index of the executor that had it; -1: unknown; SHUFFLE_REMOTE - w: the
                               writer w (shuffle/shuffle_reader.h) */
        int partitions;     /* number of the stage's partitions; the runner sets this and the next */
        int cpus;
        double sample_scale; /* when a sample is read: rows that each row stands for; otherwise 1 */
        struct task_counters counters;
        int64_t records_read; /* input and shuffle records so far; atomic, for other threads */

        /* rdd/task_shared.c */
        const struct task_services *services;        /* the executor's; NULL: none. Set after task_run_init */
        struct accumulator_updates *accumulated;     /* NULL: no updates yet */
        struct accumulator_update *accumulated_last; /* in `accumulated`; valid until that grows */
        struct held_broadcast *broadcasts;
        int n_broadcasts, broadcasts_room;

        /* rdd/pipeline/barrier.c */
        bool barrier;      /* its stage is a barrier stage; the runner sets this */
        int barrier_epoch; /* number of barriers that the attempt has passed */
        /* the reply of the last barrier; messages point into it; owned */
        struct Firesteel__BarrierReply *barrier_reply;

        struct task_listener *on_completion, *on_failure; /* latest first: rdd/pipeline/task_listeners.c */
        /* local properties of its job; the runner sets them; NULL: none */
        const struct strmap *properties;

        const struct task_resources *resources; /* its custom resources; the runner sets them; NULL: none */
};

/* Another attempt of this task has committed its output. */
#define FST_COMMIT_DENIED (-EALREADY)

void task_run_init(struct task_run *run, struct memory_manager *memory_manager, const struct spill_space *spill);
void task_run_deinit(struct task_run *run);

/*
 * Starts an attempt: sets the ids, clears counters and error, and seeds random numbers by @seed, stage and partition.
 */
void task_run_begin(struct task_run *run, const struct fst_task_info *info, uint64_t seed);

/* Releases the attempt's memory and broadcast variables, and drops its accumulator updates. */
void task_run_end(struct task_run *run);

/*
 * Returns the attempt's accumulator updates for its result, or NULL. The caller owns them. Call it before task_run_end.
 */
struct accumulator_updates *task_run_take_accumulated(struct task_run *run);

/* The part of task_run_end that releases broadcast variables, accumulator updates and barriers. */
void task_run_release_shared(struct task_run *run);
void task_run_release_barrier(struct task_run *run);

/* Appends the addresses of all tasks of the barrier stage, in their order, separated by commas. Returns 0, or negative
 * after the task has failed. */
struct buf;
int task_run_barrier_addresses(struct task_run *run, struct buf *list);

/* The attempt that the calling thread runs, or NULL. The task runner sets it around each attempt, so that public
 * functions of the driver can refuse to run inside a task. */
struct task_run *task_run_current(void);
void task_run_set_current(struct task_run *run);

/* Spark's message for such calls. */
#define TASK_RUN_DRIVER_ONLY                                                                                           \
        "RDD transformations and actions can only be invoked by the driver, not inside of other transformations "      \
        "(SPARK-5063)"

/* For public functions of the driver: true inside a task. The task then fails with a message that names the call @what
 * ("count at x.c:5"). */
bool task_run_refuses(const char *what);

/*
 * For public functions of tasks: true if @task is NULL. Logs it, and fails the calling thread's task, if there is one.
 */
bool task_run_missing(const fst_task *task, const char *function);

/* The same check for another argument; @what describes it. */
bool task_run_missing_argument(const fst_task *task, const void *argument, const char *function, const char *what);

struct memory_task *task_run_memory(struct task_run *run);

/* Records a failure unless there already is one, and returns its negative status. The _by form names the user function
 * that returned @status and keeps the message of fst_fail. */
int task_run_fail(struct task_run *run, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));
int task_run_fail_by(struct task_run *run, int status, const char *function);

/* Records a failure of a lower layer and takes the message out of @error. */
int task_run_fail_with(struct task_run *run, int status, struct fst_error *error);

/* Returns 0 or the attempt's failure, including a failed spill that no caller has forwarded. */
int task_run_check(struct task_run *run);

/* Counts @rows records that the attempt has read, in *@counter (input_records or shuffle_read_records). */
static inline void task_run_count_read(struct task_run *run, int64_t *counter, int64_t rows)
{
        *counter += rows;
        __atomic_store_n(&run->records_read, run->records_read + rows, __ATOMIC_RELAXED);
}

static inline bool task_run_stopped(const struct task_run *run)
{
        return fst_task_interrupted(&run->task);
}

/* Fails a task that was asked to stop. */
static inline int task_run_cancelled(struct task_run *run)
{
        return task_run_fail(run, -ECANCELED, "task was cancelled");
}

/* Restores the value that task_run_enter returned. The thread that watches the slots reads it. */
static inline void task_run_leave(struct task_run *run, const char *outer)
{
        __atomic_store_n(&run->function, outer, __ATOMIC_RELAXED);
}

/* Records that @function is being called. Returns the earlier value, for task_run_leave. */
static inline const char *task_run_enter(struct task_run *run, const char *function)
{
        const char *outer = run->function;
        __atomic_store_n(&run->function, function, __ATOMIC_RELAXED);
        __asm__ volatile("" ::: "memory"); /* a signal handler may look */
        return outer;
}
