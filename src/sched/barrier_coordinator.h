/* Global synchronisation of the tasks of a barrier stage attempt: each task sends a request with a message. When all
 * have arrived, each gets the messages of all.
 *
 * Pure, as sched.h: replies leave by operations, which must not call back. Strings are borrowed for a call.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct barrier_coordinator;

enum barrier_method { BARRIER_BARRIER, BARRIER_ALL_GATHER };

struct barrier_message {
        const void *data;
        size_t len;
};

struct barrier_request {
        int stage, stage_attempt;
        int n_tasks;
        int index; /* of the requesting task among them */
        int64_t task_id;
        int epoch; /* number of earlier synchronisations */
        enum barrier_method method;
        struct barrier_message message;
        void *user; /* returned with the reply */
};

struct barrier_ops {
        /* All tasks have arrived: their messages by index. */
        void (*reply)(void *owner, void *user, const struct barrier_message *messages, int n);
        /* The synchronisation failed for this reason. */
        void (*fail)(void *owner, void *user, const char *message);
};

/* @timeout is spark.barrier.sync.timeout in ns. */
struct barrier_coordinator *barrier_coordinator_new(int64_t timeout, const struct barrier_ops *ops, void *owner);

/* Pending requests get no reply. */
void barrier_coordinator_free(struct barrier_coordinator *c);

/* A task has arrived. The reply comes at once, or from a later call of this or one of the next two functions. */
void barrier_coordinator_request(struct barrier_coordinator *c, const struct barrier_request *request, int64_t now);

/* The stage attempt has ended (@stage_attempt < 0: all of its attempts): fails pending requests and forgets the rest.
 */
void barrier_coordinator_stage_end(struct barrier_coordinator *c, int stage, int stage_attempt);

/* Time of the next tick; INT64_MAX if no request is pending. */
int64_t barrier_coordinator_deadline(const struct barrier_coordinator *c);
void barrier_coordinator_tick(struct barrier_coordinator *c, int64_t now);
