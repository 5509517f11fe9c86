/* What the runners of a worker's executors and drivers share. Borrowed by all of them for their whole life. */
#pragma once

#include "conf/redact.h"
#include "deploy/standalone/worker_conf.h"

#include <uv.h>

struct worker_context {
        uv_loop_t *loop;
        const struct worker_conf *conf;
        const char *id;         /* the worker's */
        const char *worker_url; /* "spark://Worker@host:port" */
        const char *web_ui;     /* "http://host:8081"; "": it has no pages */
        const char *program;    /* firesteel */
        const char *secret;     /* of spark.authenticate; NULL: none, or the environment has it */
        struct redactor redactor;
};
