/*
 * Synchronizes the tasks of running barrier stages: keeps their addresses and their pending requests
 * (sched/barrier_coordinator.h decides when a barrier is complete).
 *
 *      the stage is launched   barrier_sync_launching
 *      a task sends a request  barrier_sync_request: replies now, later, or when the stage attempt ends
 *      stage_completed         barrier_sync_stage_end
 *
 * Runs on the scheduler's thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct fst_conf;
struct fst_error;
struct barrier_sync;

/* Where to send a reply. Exactly one of the two functions is called, once, on the scheduler's thread. Copied. */
struct barrier_requester {
        /* @reply is a packed BarrierReply, borrowed. */
        void (*reply)(void *owner, const uint8_t *reply, size_t len);
        void (*fail)(void *owner, const char *message);
        void *owner;
};

/* Returns 0, or -EINVAL with @error for an invalid spark.barrier.sync.timeout. */
int barrier_sync_new(const struct fst_conf *conf, struct barrier_sync **sync, struct fst_error *error);

/* Pending requests fail: the application ends. */
void barrier_sync_free(struct barrier_sync *s);

/* The @n tasks of a stage attempt are about to start, at these @addresses. Copies them. */
void barrier_sync_launching(struct barrier_sync *s, int stage, int attempt, const char *const *addresses, int n);

/* The stage attempt has ended: its pending requests fail. Ignores unknown attempts. */
void barrier_sync_stage_end(struct barrier_sync *s, int stage, int attempt);

/* Handles a task's request, a packed BarrierSync. Untrusted. */
void barrier_sync_request(struct barrier_sync *s, const uint8_t *request, size_t len,
                          const struct barrier_requester *requester, int64_t now);

/* When to call barrier_sync_tick; INT64_MAX: no request is pending. */
int64_t barrier_sync_deadline(const struct barrier_sync *s);
void barrier_sync_tick(struct barrier_sync *s, int64_t now);

/*
 * For tasks in the driver's own process: a requester whose reply another thread waits for. barrier_waiter_wait returns
 * what task_services.barrier does, after the reply or once @stopped (atomic) is set, and releases the caller's
 * reference. The waiter is freed when both sides have released theirs.
 */
struct barrier_waiter;
struct barrier_waiter *barrier_waiter_new(struct barrier_requester *requester);
int barrier_waiter_wait(struct barrier_waiter *wait, const int *stopped, uint8_t **answer, size_t *len,
                        struct fst_error *error);
