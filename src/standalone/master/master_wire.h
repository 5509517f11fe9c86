/* Converts between messages of a standalone cluster (standalone_wire.h) and the core's types: untrusted messages to
 * specs, and the core's objects to parts of messages.
 *
 * Specs borrow from the message and from @memory, in which the message was decoded.
 */
#pragma once

#include "standalone/core/master_state.h"
#include "standalone/wire/standalone_wire.h"

struct fst_error;

/* ----------------------------------------------------------------------------------------- messages to specs */

/* Returns 0, or -EINVAL with @error: the missing or invalid field, worded for the sender. */
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

/* ---------------------------------------------------------------------------------------- objects to messages */

/* The addresses in @holds as message fields. Arrays in @memory, strings borrowed from the worker. */
Firesteel__Standalone__Resource **master_resources(const struct master_worker *w, const struct resource_hold *holds,
                                                   int n, struct wire_memory *memory);
