/* The executor manager of Mesos: mesos:// master URLs. spark.mesos.coarse chooses its mode. */
#pragma once

struct executor_manager;
struct fst_context;
struct fst_error;

/* Slot executor_manager_new of the class (driver/backend/cluster_manager.h). */
int mesos_manager_new(struct fst_context *sc, struct executor_manager **out, struct fst_error *error);
