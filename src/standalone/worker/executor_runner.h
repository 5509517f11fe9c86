/* Runs one executor on a worker: its directory work/APP/N and its process. */
#pragma once

#include "standalone/wire/standalone_wire.h"
#include "standalone/worker/worker_context.h"
#include "standalone/worker/worker_state.h"

struct executor_runner;
struct fst_error;

/* The executor has ended: state->state is KILLED or EXITED. Called once for each started executor, from the loop. */
typedef void executor_ended(void *owner, struct executor_runner *x, int status, const char *message);

/* Creates a runner for the leader's command, in state LAUNCHING; starts nothing. Never NULL. */
struct executor_runner *executor_runner_new(const struct worker_context *context,
                                            const Firesteel__Standalone__LaunchExecutor *launch);

/* Starts the executor: RUNNING. @local_dirs: its directories for blocks, separated by colons. Negative with @error,
 * and FAILED: not an executor's command, a directory that cannot be created, a full disk, …
 */
int executor_runner_start(struct executor_runner *x, const Firesteel__Standalone__LaunchExecutor *launch,
                          const char *local_dirs, executor_ended *ended, void *owner, struct fst_error *error);

/* Ends the executor; → ended. Does nothing if it does not run. */
void executor_runner_kill(struct executor_runner *x);

/* Signals decommissioning to an executor that handles the signal. */
void executor_runner_decommission(struct executor_runner *x);

/* The state for pages. Valid as long as the runner. */
struct worker_executor_state *executor_runner_state(struct executor_runner *x);
struct executor_runner *executor_runner_of(struct worker_executor_state *state);

/* The executor must not be running. */
void executor_runner_free(struct executor_runner *x);
