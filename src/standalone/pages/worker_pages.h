/*
 * The pages of a standalone worker (port 8081), its JSON, logs and metrics.
 *
 *      /                  executors and drivers, running and finished
 *      /logPage/  /log/   logs, also the worker's own: log_pages.h
 *      /json/             as Spark's JsonProtocol has it
 *      /metrics/json  /metrics/prometheus
 */
#pragma once

#include "standalone/worker/worker_state.h"

#include <uv.h>

struct fst_conf;
struct fst_error;
struct worker_pages;

struct worker_pages_options {
        uv_loop_t *loop;
        const struct fst_conf *conf; /* borrowed */
        const char *host;            /* to listen on; NULL: SPARK_LOCAL_IP, or all addresses */
        int port;
        const char *work_dir; /* borrowed */
        const struct worker_view *(*view)(void *owner);
        void *owner;
};

/* Listens. Returns 0, or negative with @error. */
int worker_pages_new(const struct worker_pages_options *options, struct worker_pages **out, struct fst_error *error);

/* Reads in progress end by themselves. The loop must run until then. NULL is allowed. */
void worker_pages_free(struct worker_pages *p);

int worker_pages_port(const struct worker_pages *p);
bool worker_pages_are_secure(const struct worker_pages *p); /* https */
