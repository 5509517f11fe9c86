/*
 * A submission that waits for its driver: tells what becomes of the pod, and ends with it. Spark's
 * LoggingPodStatusWatcherImpl.
 *
 *      struct driver_watch w;
 *      driver_watch_begin(&w, client, &subject);
 *      while (!driver_watch_is_over(&w))
 *              uv_run(loop, UV_RUN_ONCE);
 *      r = driver_watch_end(&w, &status, error);
 *
 * An API server that does not answer for a while is waited for; what happened meanwhile is told when it is back.
 */
#pragma once

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct kube_client;
struct kube_watch;

/* All is borrowed. */
struct driver_subject {
        const json_t *pod;     /* as the server returned it when it was created */
        const char *namespace; /* where it is */
        const char *container; /* that runs the driver */
        const char *app_name, *app_id;
        const char *submission_id; /* "namespace:pod" */
        int64_t interval_ms;       /* between reports; 0: none */
};

struct driver_watch {
        struct driver_subject subject;
        struct kube_client *client;
        struct kube_watch *watch;
        uv_timer_t timer;
        json_t *pod;            /* as it was seen last */
        char *waits;            /* what for, as it was told last; NULL: nothing was */
        bool over, gone;        /* gone: deleted before it ended */
        int refusals;           /* how often watching was forbidden, the last times */
        struct fst_error error; /* it cannot be watched */
        int result;
};

void driver_watch_begin(struct driver_watch *w, struct kube_client *client, const struct driver_subject *subject);
bool driver_watch_is_over(const struct driver_watch *w);

/*
 * Stop. 0 with *@status, if it is over: the exit code of the driver's container; 1 for a pod that failed without one or
 * was deleted. Negative with @error: it could not be watched. The loop has to turn once more.
 */
int driver_watch_end(struct driver_watch *w, int *status, struct fst_error *error);
