/* What the runners of a worker's executors and drivers share. Borrowed by all of them for their whole life. */
#pragma once

#include "conf/redact.h"
#include "standalone/worker/cgroup.h"
#include "standalone/worker/worker_conf.h"

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
        struct cgroups *groups; /* NULL: without control groups */
};

/*
 * A control group for a process of so many MiB and cores, with what Spark allows executors beyond their memory (a
 * tenth, 384 MiB at least). *@out is NULL where there are none. Negative with @error.
 */
int worker_context_group(const struct worker_context *c, const char *name, int64_t memory, int cores,
                         struct cgroup **out, struct fst_error *error);
