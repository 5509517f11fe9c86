/*
 * Waits for the minimum executors of a gang (gang_scheduling.h) in the driver: logs the wait, and gives up after the
 * timeout.
 *
 *      watch = gang_watch_begin(loop, &gang, &ops, owner);
 *      gang_watch_arrived(watch);               ← an executor has registered
 *      gang_watch_end(watch);
 *
 * Threads: the loop's thread.
 */
#pragma once

#include "kubernetes/pods/gang_scheduling.h"

#include <uv.h>

struct gang_watch;

struct gang_watch_ops {
        /* Returns why executors are missing, or "". The caller owns the result. */
        char *(*why)(void *owner);
        /* Called once after the timeout. @message has the number of executors and the remedy. */
        void (*given_up)(void *owner, const char *message);
};

/* @ops and @owner are borrowed. Returns NULL if there is nothing to wait for. The functions below accept NULL. */
struct gang_watch *gang_watch_begin(uv_loop_t *loop, const struct gang *gang, const struct gang_watch_ops *ops,
                                    void *owner);

/* Reports that an executor has registered. */
void gang_watch_arrived(struct gang_watch *watch);

/* The loop must run once more. */
void gang_watch_end(struct gang_watch *watch);
