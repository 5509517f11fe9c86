/* Runs tasks on threads of this process: local[N]. It has one executor, "driver", with a slot for each core. */
#pragma once

#include "driver/backend/scheduler_backend.h"

struct fst_context;
struct task_batch;

/* `start` starts its threads. Never NULL. */
struct scheduler_backend *local_backend_new(struct fst_context *sc);

/* For tests: observes the runs of every local backend. */
struct local_backend_probe {
        void (*launched)(struct fst_context *sc, struct task_batch *run); /* scheduler's thread, before a slot has it */
        void (*done)(struct fst_context *sc, struct task_batch *run);     /* slot's thread, before the driver has it */
};

/* For tests: sets the probe of contexts created from now on. NULL: none. */
void local_backend_set_probe(const struct local_backend_probe *probe);
