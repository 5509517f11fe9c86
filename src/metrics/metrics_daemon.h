/*
 * The sinks of a daemon whose state belongs to the thread of a loop. That thread publishes the values once a second,
 * and sinks report the last ones. Without sinks there is no timer.
 */
#pragma once

#include "metrics/metrics_snapshot.h"

#include <uv.h>

struct fst_conf;
struct fst_error;
struct metrics_daemon;

struct metrics_daemon_options {
        uv_loop_t *loop;
        const char *instance; /* "master", "applications", "worker" */
        const struct fst_conf *conf;
        const char *app_id;                                         /* for the group of a pushgateway; NULL: none */
        void (*measure)(void *owner, struct metrics_snapshot *out); /* on the loop's thread */
        void *owner;
};

/*
 * Starts the sinks of metrics.properties. Returns 0 with *@out NULL without any, or -EINVAL with @error for an invalid
 * sink.
 */
int metrics_daemon_start(const struct metrics_daemon_options *options, struct metrics_daemon **out,
                         struct fst_error *error);

/*
 * Publishes and reports once more, which takes at most a second, and releases. The loop must run once more. NULL is
 * allowed.
 */
void metrics_daemon_stop(struct metrics_daemon *d);
