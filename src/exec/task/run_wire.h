/*
 * Runs of tasks on the wire: a launch as the driver writes it and an executor reads it, and the outcomes on their way
 * back (rpc/control.proto: LaunchTasks, StatusUpdate).
 *
 * Each append adds a whole message with one run. Because that is how protobuf merges messages, the messages for several
 * runs, one behind the other, are one message with all of them.
 */
#pragma once

#include "exec/slot.h"

struct buf;
struct fst_error;
struct action;

typedef struct Firesteel__TaskRun launched_run;
typedef struct Firesteel__RunStatus run_status;

/* Append a LaunchTasks with @run. */
void run_launch_append(const struct task_batch *run, struct buf *to);

/*
 * Fill in @run (zeroed, or used before): everything but `work`, `user` and `executor`. Untrusted: -EBADMSG with @error,
 * and @run as it was, for a run that cannot be, or with a slot not below @slots.
 */
int run_launch_read(const launched_run *from, int slots, struct task_batch *run, struct fst_error *error);

/*
 * Append a StatusUpdate with the outcomes of @run. Results are encoded by @action (NULL: a map stage); messages and
 * results are released. @max_direct: a result with more bytes is not sent, but kept for the driver to
 * fetch.
 */
struct run_status_options {
        size_t max_direct;
        /* Copies the result; negative with @error fails the task. NULL: all are sent. */
        int (*keep)(void *owner, int64_t task_id, const struct buf *encoded, struct fst_error *error);
        void *owner;
};
void run_status_append(struct task_batch *run, struct action *action, const struct run_status_options *options,
                       struct buf *to);

/*
 * Read outcomes into @run, which was launched: states, times, messages, counters, results as they came
 * (slot_task.encoded). Untrusted: -EBADMSG with @error for another run's, and @run as it was.
 */
int run_status_read(const run_status *from, struct task_batch *run, struct fst_error *error);
