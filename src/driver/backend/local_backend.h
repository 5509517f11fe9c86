/* Tasks on threads of this process: local[N]. One executor, "driver", with a slot for each core. */
#pragma once

#include "driver/backend/scheduler_backend.h"

struct fst_context;
struct task_batch;

/* Never NULL. Its threads start with `start`. */
struct scheduler_backend *local_backend_new(struct fst_context *sc);

/* For tests: who sees the runs of every local backend. */
struct local_backend_probe {
        void (*launched)(struct fst_context *sc, struct task_batch *run); /* scheduler's thread; no slot has it yet */
        void (*done)(struct fst_context *sc, struct task_batch *run); /* slot's thread; the driver has not heard yet */
};

/* NULL: nobody does. For contexts that are made from now on. */
void local_backend_set_probe(const struct local_backend_probe *probe);
