/*
 * Between the messages of a standalone cluster (standalone_wire.h) and what the master's core takes and holds: specs
 * out of messages, which anybody may have sent, and parts of messages out of the core's objects.
 *
 * Specs borrow from the message and from @memory, in which the message was decoded.
 */
#pragma once

#include "standalone/core/master_state.h"
#include "standalone/wire/standalone_wire.h"

struct fst_error;

/* ----------------------------------------------------------------------------------------- specs, out of messages */

/* 0, or -EINVAL with @error: what is missing in it or cannot be, a sentence for who sent it. */
int master_read_worker(const Firesteel__Standalone__RegisterWorker *r, struct wire_memory *memory,
                       struct worker_spec *spec, struct fst_error *error);
int master_read_app(const Firesteel__Standalone__RegisterApplication *r, struct wire_memory *memory,
                    struct app_spec *spec, struct fst_error *error);
int master_read_driver(const Firesteel__Standalone__DriverDescription *d, struct wire_memory *memory,
                       struct driver_spec *spec, struct fst_error *error);

/* Arrays in @memory. 0, or -EINVAL with @error. */
int master_read_targets(Firesteel__Standalone__ExecutorTarget *const *targets, size_t n, struct wire_memory *memory,
                        struct executor_target **out, struct fst_error *error);
int master_read_state(const Firesteel__Standalone__WorkerState *state, struct wire_memory *memory,
                      struct executor_report **executors, struct driver_report **drivers, struct fst_error *error);

/* ------------------------------------------------------------------------------- messages, out of what is held */

/* The addresses that @holds are, as a message has them; arrays in @memory, texts the worker's. */
Firesteel__Standalone__Resource **master_resources(const struct master_worker *w, const struct resource_hold *holds,
                                                   int n, struct wire_memory *memory);
