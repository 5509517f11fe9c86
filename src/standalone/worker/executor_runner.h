/*
 * One executor of a worker: its directory work/APP/N, its process, its end.
 */
#pragma once

#include "standalone/wire/standalone_wire.h"
#include "standalone/worker/worker_context.h"
#include "standalone/worker/worker_state.h"

struct executor_runner;
struct fst_error;

/* It has ended: state->state is KILLED or EXITED. Called once for each that was started, from the loop. */
typedef void executor_ended(void *owner, struct executor_runner *x, int status, const char *message);

/* What a leader asks for, LAUNCHING; nothing is started yet. Never NULL. */
struct executor_runner *executor_runner_new(const struct worker_context *context,
                                            const Firesteel__Standalone__LaunchExecutor *launch);

/*
 * Start it: RUNNING then. @local_dirs are where it keeps blocks, separated by colons. Negative with @error, FAILED
 * then: a command that is no executor's, a directory that cannot be made, a full disk, …
 */
int executor_runner_start(struct executor_runner *x, const Firesteel__Standalone__LaunchExecutor *launch,
                          const char *local_dirs, executor_ended *ended, void *owner, struct fst_error *error);

/* End it; → ended. Nothing if it does not run. */
void executor_runner_kill(struct executor_runner *x);

/* Tell it that it will be lost, if it understands that. */
void executor_runner_decommission(struct executor_runner *x);

/* What pages see; stays as long as the runner. */
struct worker_executor_state *executor_runner_state(struct executor_runner *x);
struct executor_runner *executor_runner_of(struct worker_executor_state *state);

/* Only one that does not run. */
void executor_runner_free(struct executor_runner *x);
