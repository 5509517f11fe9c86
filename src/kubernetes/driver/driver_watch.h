/*
 * Waits for the driver of a submission: reports the pod's states and ends with the pod. Spark's
 * LoggingPodStatusWatcherImpl.
 *
 *      struct driver_watch w;
 *      driver_watch_begin(&w, client, &subject);
 *      loop_wait(loop, …, LOOP_WAIT_FOREVER);        until driver_watch_is_over(&w)
 *      r = driver_watch_end(&w, &status, error);
 *
 * It waits for an unreachable API server and reports the changes afterwards.
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

/* All borrowed. */
struct driver_subject {
        const json_t *pod;     /* the server's response to its creation */
        const char *namespace; /* the pod's namespace */
        const char *container; /* the driver's container */
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
        json_t *pod;                       /* the last known state */
        char *waits;                       /* the last reported reason to wait, or NULL */
        bool ended, gone;                  /* gone: deleted before it ended */
        struct driver_diagnosis diagnosis; /* set once it has ended */
        struct kube_call *log_call;        /* fetches the last log lines of a failed driver; NULL: no fetch */
        struct log_tail log;
        struct fst_error log_error; /* why the log cannot be read */
        int refusals;               /* consecutive 403 responses to the watch */
        struct fst_error error;     /* why the pod cannot be watched */
        int result;
};

void driver_watch_begin(struct driver_watch *w, struct kube_client *client, const struct driver_subject *subject);

/* Whether the driver has ended, or cannot be watched. */
bool driver_watch_has_ended(const struct driver_watch *w);

/* As above, and the last log lines of a failed driver have arrived. */
bool driver_watch_is_over(const struct driver_watch *w);

/*
 * Stops. If the driver has ended, logs its end and the cause, and returns 0 with *@status: the exit code of the
 * driver's container, or 1 for a pod that failed without one or was deleted. Returns a negative code with @error if the
 * pod could not be watched. The loop must run once more.
 */
int driver_watch_end(struct driver_watch *w, int *status, struct fst_error *error);
