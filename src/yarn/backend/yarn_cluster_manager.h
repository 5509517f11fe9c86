/* The executor manager for master "yarn" (driver/backend/executor_manager.h). */
#pragma once

struct executor_manager;
struct fst_context;
struct fst_error;

/* As cluster_manager_class.executor_manager_new. */
int yarn_manager_new(struct fst_context *sc, struct executor_manager **out, struct fst_error *error);
