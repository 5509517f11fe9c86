/*
 * Following the worker of a standalone cluster into death: whoever a worker started keeps a connection to it and is
 * told when that is lost, however the worker ended. Spark's name for it is WorkerWatcher.
 *
 * The connection is one of the cluster, not of the application: with spark.authenticate it is proved for no
 * application.
 */
#pragma once

#include <uv.h>

struct fst_conf;
struct fst_error;
struct worker_watcher;

/* The type of the message that is sent to the endpoint "Worker", and not answered. */
#define WORKER_WATCHER_MESSAGE 100

/*
 * Connect to @url, "spark://Worker@host:port". @lost is called once, on the loop's thread: it cannot be reached, or is
 * gone; that was logged. Negative with @error for what is no URL, or a configuration that cannot be.
 */
int worker_watcher_new(uv_loop_t *loop, const struct fst_conf *conf, const char *url, void (*lost)(void *owner),
                       void *owner, struct worker_watcher **out, struct fst_error *error);

/* Runs the loop until its handles are closed; `lost` is not called any more. NULL is allowed. */
void worker_watcher_free(struct worker_watcher *w);
