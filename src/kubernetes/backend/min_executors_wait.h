/*
 * Waiting for a gang (gang.h) on the driver's side: told in the log while it lasts, and given up when it lasts too
 * long.
 *
 *      watch = gang_watch_begin(loop, &gang, &ops, owner);
 *      gang_watch_arrived(watch);               ← an executor has registered
 *      gang_watch_end(watch);
 *
 * On the loop's thread.
 */
#pragma once

#include "kubernetes/pods/gang_scheduling.h"

#include <uv.h>

struct gang_watch;

struct gang_watch_ops {
        /* Why executors are not there, in words, or "". The caller of it owns what is returned. */
        char *(*why)(void *owner);
        /* The time is over. @message says how many came, and what to do. Once. */
        void (*given_up)(void *owner, const char *message);
};

/* @ops and @owner are borrowed. NULL: nobody is to be waited for, which the functions below take. */
struct gang_watch *gang_watch_begin(uv_loop_t *loop, const struct gang *gang, const struct gang_watch_ops *ops,
                                    void *owner);

/* An executor has registered. */
void gang_watch_arrived(struct gang_watch *watch);

/* The loop has to turn. */
void gang_watch_end(struct gang_watch *watch);
