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
#include "kubernetes/api/log_tail.h"
#include "kubernetes/driver/driver_diagnosis.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct kube_call;
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

/* How much of a failed driver's log is shown. */
#define DRIVER_LOG_LINES 30
#define DRIVER_LOG_BYTES 8192

struct driver_watch {
        struct driver_subject subject;
        struct kube_client *client;
        struct kube_watch *watch;
        uv_timer_t timer;
        json_t *pod;                       /* as it was seen last */
        char *waits;                       /* what for, as it was told last; NULL: nothing was */
        bool ended, gone;                  /* gone: deleted before it ended */
        struct driver_diagnosis diagnosis; /* once it has ended */
        struct kube_call *log_call;        /* fetches the end of the log of a driver that failed; NULL: none does */
        struct log_tail log;
        struct fst_error log_error; /* the log cannot be read */
        int refusals;               /* how often watching was forbidden, the last times */
        struct fst_error error;     /* it cannot be watched */
        int result;
};

void driver_watch_begin(struct driver_watch *w, struct kube_client *client, const struct driver_subject *subject);

/* The driver has ended, or it cannot be watched. */
bool driver_watch_has_ended(const struct driver_watch *w);

/* The same, and the end of a failed driver's log has arrived. */
bool driver_watch_is_over(const struct driver_watch *w);

/*
 * Stop. If the driver has ended, log its end and why it failed; 0 with *@status: the exit code of the driver's
 * container, or 1 for a pod that failed without one or was deleted. Negative with @error: it could not be watched. The
 * loop has to turn once more.
 */
int driver_watch_end(struct driver_watch *w, int *status, struct fst_error *error);
