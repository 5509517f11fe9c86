/* local-cluster[N,C,M]: starts and replaces N executors of C cores and M MiB, each a process on this machine. */
#pragma once

#include "driver/backend/executor_manager.h"

struct fst_context;
struct fst_error;

/* cluster_manager_class.executor_manager_new for the numbers in @sc->master. Always returns 0. */
int local_cluster_new(struct fst_context *sc, struct executor_manager **out, struct fst_error *error);
