/*
 * Ends a process with the standalone worker that started it: keeps a connection to the worker and reports its loss,
 * however the worker ended. Spark's name for it is WorkerWatcher.
 *
 * The connection belongs to the cluster: with spark.authenticate it uses no application's secret.
 */
#pragma once

#include <uv.h>

struct fst_conf;
struct fst_error;
struct worker_watcher;

/* Message type for the endpoint "Worker". It gets no reply. */
#define WORKER_WATCHER_MESSAGE 100

/*
 * Connects to @url, "spark://Worker@host:port". @lost is called once, on the loop's thread, if the worker is
 * unreachable or its connection closes. The reason is logged. Returns negative with @error for an invalid URL or
 * configuration.
 */
int worker_watcher_new(uv_loop_t *loop, const struct fst_conf *conf, const char *url, void (*lost)(void *owner),
                       void *owner, struct worker_watcher **out, struct fst_error *error);

/* Runs the loop until its handles are closed; `lost` is not called any more. NULL is allowed. */
void worker_watcher_free(struct worker_watcher *w);
