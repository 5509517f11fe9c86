/* Runs one driver on a worker: its directory work/DRIVER, its files, its process. A supervised driver is restarted
 * after it fails.
 */
#pragma once

#include "standalone/wire/standalone_wire.h"
#include "standalone/worker/worker_context.h"
#include "standalone/worker/worker_state.h"

struct driver_runner;

/* The driver has ended: state->state is FINISHED, KILLED, FAILED or ERROR, the last with state->exception. */
typedef void driver_ended(void *owner, struct driver_runner *d);

/* Creates a runner for the leader's command; starts nothing. Never NULL: driver_runner_start reports unreadable
 * commands.
 */
struct driver_runner *driver_runner_new(const struct worker_context *context,
                                        const Firesteel__Standalone__LaunchDriver *launch);

/* Starts the driver. @ended is called once, from the loop, never from within this call. A supervised driver that
 * exits with a status other than 0 is restarted after 1 s, 2 s, 4 s, … 60 s. After a run of 5 s the delays start
 * anew.
 */
void driver_runner_start(struct driver_runner *d, driver_ended *ended, void *owner);

/* Ends the driver, or prevents its start; → ended. */
void driver_runner_kill(struct driver_runner *d);

/* The state for pages. Valid as long as the runner. */
struct worker_driver_state *driver_runner_state(struct driver_runner *d);
struct driver_runner *driver_runner_of(struct worker_driver_state *state);

/* The driver must have ended. */
void driver_runner_free(struct driver_runner *d);
