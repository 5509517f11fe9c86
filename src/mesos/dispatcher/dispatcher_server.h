/*
 * A Mesos dispatcher: takes drivers by REST and runs them as tasks of Mesos. The shell around dispatcher_core.h.
 *
 *      r = dispatcher_server_new(&loop, &conf, ended, owner, &server, error);
 *      uv_run(&loop, …);                                → ended(owner, status) when it cannot go on
 *      dispatcher_server_close(server);                 drivers go on; the loop frees the rest
 *
 * It starts as Spark's: first the page, then the election and the subscription, then the REST server. With a recovery
 * mode, a dispatcher with the same store stands by until this one ends. Calls and replies wait until the records that
 * they depend on are durable.
 */
#pragma once

#include "mesos/dispatcher/dispatcher_conf.h"
#include "mesos/dispatcher/dispatcher_core.h"

#include <uv.h>

struct dispatcher_server;
struct fst_error;
struct rest_answer;
struct rest_exchange;
struct rest_request;

/*
 * @conf is borrowed until the loop has ended. @ended is called once, with an exit status; then close. Returns 0, or
 * negative with @error: a port is taken, a setting is invalid, a module is missing. The loop must run after that, too.
 */
int dispatcher_server_new(uv_loop_t *loop, const struct dispatcher_conf *conf, void (*ended)(void *owner, int status),
                          void *owner, struct dispatcher_server **out, struct fst_error *error);

/* Leaves the drivers to Mesos, where the next dispatcher finds them. The memory is released when the loop has run. */
void dispatcher_server_close(struct dispatcher_server *s);
