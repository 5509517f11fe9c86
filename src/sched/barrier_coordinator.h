/*
 * The meeting point of the tasks of a barrier stage attempt: each says that it is there, with a message; when all are,
 * each gets the messages of all.
 *
 * Pure, as sched.h: answers leave by operations, which must not call back. Strings are borrowed for a call.
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
        int index; /* of the asking task among them */
        int64_t task_id;
        int epoch; /* how many times the tasks have met before */
        enum barrier_method method;
        struct barrier_message message;
        void *user; /* comes back with the answer */
};

struct barrier_ops {
        /* All are there: their messages by index. */
        void (*reply)(void *owner, void *user, const struct barrier_message *messages, int n);
        /* They will not meet, for this reason. */
        void (*fail)(void *owner, void *user, const char *message);
};

/* @timeout is spark.barrier.sync.timeout in ns. */
struct barrier_coordinator *barrier_coordinator_new(int64_t timeout, const struct barrier_ops *ops, void *owner);

/* Who still waits is not answered. */
void barrier_coordinator_free(struct barrier_coordinator *c);

/* A task is there. Answered at once, or by a later call of this or one of the next two functions. */
void barrier_coordinator_request(struct barrier_coordinator *c, const struct barrier_request *request, int64_t now);

/* The stage attempt is over (@stage_attempt < 0: all of its attempts): who waits is failed, the rest forgotten. */
void barrier_coordinator_stage_end(struct barrier_coordinator *c, int stage, int stage_attempt);

/* When tick wants to be called; INT64_MAX if nobody waits. */
int64_t barrier_coordinator_deadline(const struct barrier_coordinator *c);
void barrier_coordinator_tick(struct barrier_coordinator *c, int64_t now);
