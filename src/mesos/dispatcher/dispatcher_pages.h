/*
 * The pages of a dispatcher (port 8081), and its metrics:
 *
 *      /                 queued, launched, finished and waiting drivers
 *      /driver/?id=ID    a driver: settings, command, the last update of its task
 *      /metrics/json     gauges of metrics.properties' instance mesos_cluster
 */
#pragma once

#include "mesos/dispatcher/dispatcher_conf.h"
#include "mesos/dispatcher/dispatcher_core.h"

#include <uv.h>

struct dispatcher_pages;
struct fst_error;

struct dispatcher_pages_options {
        uv_loop_t *loop;
        const struct dispatcher_conf *conf;
        const struct dispatcher *core; /* read on the loop's thread */
        /* "host:port" of the leading master, for links to sandboxes, or NULL; borrowed for the call. */
        const char *(*master)(void *owner);
        void *owner;
};

/* Listens. Everything in @options is borrowed. Returns 0, or negative with @error. */
int dispatcher_pages_new(const struct dispatcher_pages_options *options, struct dispatcher_pages **out,
                         struct fst_error *error);
void dispatcher_pages_free(struct dispatcher_pages *p); /* NULL is allowed */

/* The address for users: "http://host:8081". Borrowed. */
const char *dispatcher_pages_url(const struct dispatcher_pages *p);
