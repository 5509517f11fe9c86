/*
 * One driver of a worker: its directory work/DRIVER, what is fetched for it, its process, which is started again when
 * it fails if that was wanted.
 */
#pragma once

#include "standalone/wire/standalone_wire.h"
#include "standalone/worker/worker_context.h"
#include "standalone/worker/worker_state.h"

struct driver_runner;

/* It has ended: state->state is FINISHED, KILLED, FAILED or ERROR, the last with state->exception. */
typedef void driver_ended(void *owner, struct driver_runner *d);

/* What a leader asks for; nothing is started yet. Never NULL: what cannot be read is found by driver_runner_start. */
struct driver_runner *driver_runner_new(const struct worker_context *context,
                                        const Firesteel__Standalone__LaunchDriver *launch);

/*
 * Start it; @ended is called once, from the loop, not from within this. With supervise, a driver that ends with another
 * status than 0 is started again after 1 s, 2 s, 4 s, … 60 s; one that ran for 5 s has a new start.
 */
void driver_runner_start(struct driver_runner *d, driver_ended *ended, void *owner);

/* End it, or do not even start it; → ended. */
void driver_runner_kill(struct driver_runner *d);

/* What pages see; stays as long as the runner. */
struct worker_driver_state *driver_runner_state(struct driver_runner *d);
struct driver_runner *driver_runner_of(struct worker_driver_state *state);

/* Only one that has ended. */
void driver_runner_free(struct driver_runner *d);
