/*
 * local-cluster[N,C,M]: N executors of C cores and M MiB, each a process on this machine, started and replaced here.
 */
#pragma once

#include "driver/backend/executor_manager.h"

struct fst_context;

/* Never NULL. @sc->master says how many. */
struct executor_manager *local_cluster_new(struct fst_context *sc);
