/* Shared by the runners of a worker's executors and drivers, which borrow it while they exist. */
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
        const char *web_ui;     /* "http://host:8081"; "": no pages */
        const char *program;    /* path of the firesteel binary */
        const char *secret;     /* of spark.authenticate; NULL: none, or in the environment */
        struct redactor redactor;
        struct cgroups *groups; /* NULL: without control groups */
};

/* Creates a control group for a process of @memory MiB and @cores cores, plus Spark's memory overhead (a tenth, at
 * least 384 MiB). *@out is NULL if control groups are off. Negative with @error.
 */
int worker_context_group(const struct worker_context *c, const char *name, int64_t memory, int cores,
                         struct cgroup **out, struct fst_error *error);
