/* Global synchronisation of the tasks of a barrier stage attempt: each task sends a request with a message. When all
 * have arrived, each gets the messages of all.
 *
 * Pure (docs/pure-cores.md): replies are actions, which the owner takes out after each event. Strings are borrowed for
 * a call.
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

/* Replies to the requests of @users. */
struct barrier_action {
        void **users;
        int n;
        struct barrier_message *messages; /* all n tasks have arrived: their messages by index. NULL: */
        char *failure;                    /* the synchronisation failed for this reason */
};

/* @timeout is spark.barrier.sync.timeout. */
struct barrier_coordinator *barrier_coordinator_new(int64_t timeout);

/* Takes the oldest action out; NULL: the queue is empty. The action is borrowed until the next call. */
const struct barrier_action *barrier_coordinator_next_action(struct barrier_coordinator *c);

/* Pending requests get no reply, and actions that are still queued are dropped. */
void barrier_coordinator_free(struct barrier_coordinator *c);

/* A task has arrived. This call, or a later one of this or the next two functions, appends the reply. */
void barrier_coordinator_request(struct barrier_coordinator *c, const struct barrier_request *request, int64_t now);

/* The stage attempt has ended (@stage_attempt < 0: all of its attempts): fails pending requests and forgets the rest.
 */
void barrier_coordinator_stage_end(struct barrier_coordinator *c, int stage, int stage_attempt);

/* Time of the next tick; INT64_MAX if no request is pending. */
int64_t barrier_coordinator_deadline(const struct barrier_coordinator *c);
void barrier_coordinator_tick(struct barrier_coordinator *c, int64_t now);
