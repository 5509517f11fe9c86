/*
 * What the engine keeps beside the public fst_task while a task's attempt runs: its memory, its first failure,
 * its counters. One belongs to a slot and is begun anew for each attempt; only the slot's thread uses it, but
 * what task.stopped points to may be set from any thread.
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

/* Counters of one attempt, as the listeners and the event log name them. Times in ns, sizes in bytes. */
struct task_counters {
        int64_t run_ns, cpu_ns;
        int64_t result_bytes;
        int64_t peak_memory;
        int64_t memory_spilled, disk_spilled;
        int64_t input_bytes, input_records;
        int64_t output_bytes, output_records;
        int64_t shuffle_local_blocks, shuffle_local_bytes;   /* read from map outputs of this executor */
        int64_t shuffle_remote_blocks, shuffle_remote_bytes; /* fetched from others, as they came */
        int64_t shuffle_fetch_wait_ns;                       /* spent waiting for those */
        int64_t shuffle_remote_requests_ns;                  /* from each request to the end of its answer */
        int64_t shuffle_read_records;
        int64_t shuffle_write_bytes, shuffle_write_records, shuffle_write_ns;
};

/* The value of a broadcast variable that the attempt has asked for. */
struct held_broadcast {
        int64_t id;
        uint64_t size;
        const void *data;
        void *hold; /* the executor's: released when the attempt ends */
};

struct task_run {
        fst_task task; /* what user functions see; task.run points back here */
        struct memory_manager *memory_manager;
        const struct spill_space *spill; /* where operators write what memory does not hold; NULL: nowhere */
        struct memory_task *memory;      /* created when first needed: task_run_memory */
        size_t held;                     /* what it holds: for other threads to read. Atomic */
        struct fst_error error;          /* the first failure's sentence */
        int status;                      /* 0, or that failure */
        int stop;                        /* what task.stopped points to unless a slot's task has a flag of its own */
        const char *function;            /* of the user that is being called: for crash reports; borrowed */
        bool fetch_failed;               /* the failure is that a map output could not be read: */
        int fetch_shuffle, fetch_map;
        int fetch_executor; /* the scheduler's index of who was to have it; -1 if not known */
        int partitions;     /* of its stage; with the next set by who runs it */
        int cpus;
        double sample_scale; /* rows that each row seen stands for, when only a sample is read; else 1 */
        struct task_counters counters;

        /* rdd/task_shared.c */
        const struct task_services *services;        /* the executor's; NULL: it has none. Set after task_run_init */
        struct accumulator_updates *accumulated;     /* NULL: nothing was added yet */
        struct accumulator_update *accumulated_last; /* within it, until it grows */
        struct held_broadcast *broadcasts;
        int n_broadcasts, broadcasts_room;

        /* rdd/pipeline/barrier.c */
        int barrier_epoch;                             /* how many times the attempt has met the others of its stage */
        struct Firesteel__BarrierReply *barrier_reply; /* of the last time: messages point into it; owned */

        struct task_listener *on_completion, *on_failure; /* rdd/pipeline/task_listeners.c: the latest first */
        const struct strmap *properties;                  /* local ones of its job; set by who runs it. NULL: none */

        const struct task_resources *resources; /* custom ones that it may use; set by who runs it. NULL: none */
};

/* A status that says: another attempt of this task has committed its output. */
#define FST_COMMIT_DENIED (-EALREADY)

void task_run_init(struct task_run *run, struct memory_manager *memory_manager, const struct spill_space *spill);
void task_run_deinit(struct task_run *run);

/* Begin an attempt: ids as given, counters and error cleared, random numbers seeded by @seed, stage and partition. */
void task_run_begin(struct task_run *run, const struct fst_task_info *info, uint64_t seed);

/* Give the attempt's memory back, and what it held of broadcast variables; forget what it added to accumulators. */
void task_run_end(struct task_run *run);

/* What the attempt added to accumulators, for its result: owned by the caller; NULL if nothing. Before task_run_end. */
struct accumulator_updates *task_run_take_accumulated(struct task_run *run);

/* What task_run_end does of that, and of barriers: for itself alone. */
void task_run_release_shared(struct task_run *run);
void task_run_release_barrier(struct task_run *run);

/*
 * The attempt whose functions the calling thread runs, or NULL. The task runner sets it around each attempt, so that
 * public functions of the driver can refuse to run inside of tasks.
 */
struct task_run *task_run_current(void);
void task_run_set_current(struct task_run *run);

/* What Spark says of those. */
#define TASK_RUN_DRIVER_ONLY                                                                                           \
        "RDD transformations and actions can only be invoked by the driver, not inside of other transformations "      \
        "(SPARK-5063)"

/*
 * For public functions of the driver: true inside of a task, which then has failed and names @what, the call
 * ("count at x.c:5").
 */
bool task_run_refuses(const char *what);

/*
 * For public functions of tasks: whether @task is NULL, which is logged, and fails the task of the calling thread if
 * there is one.
 */
bool task_run_missing(const fst_task *task, const char *function);

/* The same of another argument, which is to be @what. */
bool task_run_missing_argument(const fst_task *task, const void *argument, const char *function, const char *what);

struct memory_task *task_run_memory(struct task_run *run);

/*
 * Record a failure unless there is one already, and return its (negative) status. The _by form says which user
 * function answered @status; it keeps the sentence that fst_fail gave.
 */
int task_run_fail(struct task_run *run, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));
int task_run_fail_by(struct task_run *run, int status, const char *function);

/* Record a failure that a lower layer described; takes the message out of @error. */
int task_run_fail_with(struct task_run *run, int status, struct fst_error *error);

/* 0, or the attempt's failure: also that of a spill which nobody has forwarded. */
int task_run_check(struct task_run *run);

static inline bool task_run_stopped(const struct task_run *run)
{
        return fst_task_interrupted(&run->task);
}

/* The failure of a task that was told to stop. */
static inline int task_run_cancelled(struct task_run *run)
{
        return task_run_fail(run, -ECANCELED, "task was cancelled");
}

/* Put back what task_run_enter has returned. Who watches over slots reads it from another thread. */
static inline void task_run_leave(struct task_run *run, const char *outer)
{
        __atomic_store_n(&run->function, outer, __ATOMIC_RELAXED);
}

/* Note that @function is being called; returns what was noted before, to be put back afterwards. */
static inline const char *task_run_enter(struct task_run *run, const char *function)
{
        const char *outer = run->function;
        __atomic_store_n(&run->function, function, __ATOMIC_RELAXED);
        __asm__ volatile("" ::: "memory"); /* a signal handler may look */
        return outer;
}
