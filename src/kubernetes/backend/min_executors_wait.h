/*
 * Waits for the minimum executors of a gang (gang_scheduling.h) in the driver: logs the wait, and gives up after the
 * timeout.
 *
 *      wait = min_executors_wait_begin(loop, &gang, &ops, owner);
 *      min_executors_wait_arrived(wait);               ← an executor has registered
 *      min_executors_wait_end(wait);
 *
 * Threads: the loop's thread.
 */
#pragma once

#include "kubernetes/pods/gang_scheduling.h"

#include <uv.h>

struct min_executors_wait;

struct min_executors_wait_ops {
        /* Returns why executors are missing, or "". The caller owns the result. */
        char *(*why)(void *owner);
        /* Called once after the timeout. @message has the number of executors and the remedy. */
        void (*given_up)(void *owner, const char *message);
};

/* @ops and @owner are borrowed. Returns NULL if there is nothing to wait for. The functions below accept NULL. */
struct min_executors_wait *min_executors_wait_begin(uv_loop_t *loop, const struct gang *gang,
                                                    const struct min_executors_wait_ops *ops, void *owner);

/* Reports that an executor has registered. */
void min_executors_wait_arrived(struct min_executors_wait *wait);

/* The loop must run once more. */
void min_executors_wait_end(struct min_executors_wait *wait);
