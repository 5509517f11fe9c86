/*
 * The operator as a process: watches objects, leads or waits, lets the cores decide, performs their actions.
 *
 *      r = operator_daemon_new(loop, &conf, on_ended, owner, &daemon, error);
 *      uv_run(loop, UV_RUN_DEFAULT);                  → on_ended(owner, status)
 *
 * All operators watch; the leader alone acts. An operator that loses the lease ends with status 1, as the genuine one
 * does, and its pod starts again. Without --leader-election it acts at once.
 *
 * Threads: the loop's thread.
 */
#pragma once

#include "operator/shell/operator_conf.h"

#include <uv.h>

struct fst_error;
struct operator_daemon;

/*
 * @conf is borrowed. @ended is called once, from the loop; the daemon is freed afterwards. Returns 0, or negative with
 * @error: no configuration of an API server, a port is taken.
 */
int operator_daemon_new(uv_loop_t *loop, const struct operator_conf *conf, void (*ended)(void *owner, int status),
                        void *owner, struct operator_daemon **out, struct fst_error *error);

/* Gives the lease up, and ends with @status. */
void operator_daemon_stop(struct operator_daemon *d, int status);
