/*
 * The validating webhook as a process: `firesteel operator webhook start`.
 *
 *      r = webhook_daemon_new(loop, &conf, &daemon, error);
 *      uv_run(loop, UV_RUN_DEFAULT);
 *      webhook_daemon_free(daemon);            from a signal's handler, for example; then the loop ends
 *
 * Threads: the loop's thread.
 */
#pragma once

#include "operator/shell/operator_conf.h"

#include <uv.h>

struct fst_error;
struct webhook_daemon;

/* @conf is borrowed until webhook_daemon_free. Negative with @error: no configuration of an API server, a port is
 * taken. */
int webhook_daemon_new(uv_loop_t *loop, const struct operator_conf *conf, struct webhook_daemon **out,
                       struct fst_error *error);
void webhook_daemon_free(struct webhook_daemon *d); /* NULL is allowed */
