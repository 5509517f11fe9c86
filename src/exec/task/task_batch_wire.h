/*
 * Encodes and decodes task batches: the launch that the driver sends, and the outcomes that the executor returns
 * (rpc/control.proto: LaunchTasks, StatusUpdate).
 *
 * Each append adds a complete message with one batch. protobuf merges concatenated messages, so several of them are one
 * message with all batches.
 */
#pragma once

#include "exec/slot.h"

struct buf;
struct fst_error;
struct action;

typedef struct Firesteel__TaskRun task_launch_message;
typedef struct Firesteel__RunStatus run_status;

typedef struct ProtobufCMessage ProtobufCMessage;

/* Appends a message. */
void task_batch_append(const ProtobufCMessage *message, struct buf *to);

/* Appends a LaunchTasks with @run. */
void task_batch_append_launch(const struct task_batch *run, struct buf *to);

/*
 * Decodes one task batch of a launch message (LaunchTasks): fills @run (zeroed, or used before) except `work`, `user`
 * and `executor`. Untrusted: returns -EBADMSG with @error and leaves @run unchanged for an invalid batch or a slot not
 * below @slots.
 */
int task_batch_read_launch(const task_launch_message *from, int slots, struct task_batch *run, struct fst_error *error);

/*
 * Appends a StatusUpdate with the outcomes of @run. @action (NULL: a map stage) encodes results. Messages and results
 * are released. A result of more than @max_direct bytes is not sent but kept until the driver fetches it.
 */
struct task_status_options {
        size_t max_direct;
        /* Copies the result. Negative with @error fails the task. NULL: all results are sent. */
        int (*keep)(void *owner, int64_t task_id, const struct buf *encoded, struct fst_error *error);
        void *owner;
};
void task_batch_append_status(struct task_batch *run, struct action *action, const struct task_status_options *options,
                              struct buf *to);

/* Appends a StatusUpdate by which @run gives its core back before its outcomes are known. */
void task_batch_append_computed(const struct task_batch *run, struct buf *to);

/*
 * Reads outcomes into @run, the launched batch: states, times, messages, counters, encoded results (slot_task.encoded).
 * Untrusted: returns -EBADMSG with @error and leaves @run unchanged for another batch's outcomes.
 */
int task_batch_read_status(const run_status *from, struct task_batch *run, struct fst_error *error);
