/*
 * An executor manager: who gets processes started for an application and says how they ended. All that a cluster
 * manager is to the driver; what the processes say to it is the cluster backend's business (driver/cluster_backend.h).
 *
 * All calls are on the scheduler's thread, but for `start` and `free`, when that thread does not run. A manager may put
 * handles of its own on the backend's loop; it closes them in `stop`.
 */
#pragma once

#include <stdbool.h>

struct cluster_backend;
struct executor_manager;
struct fst_error;

struct executor_manager_class {
        const char *name;

        /*
         * spark.authenticate is on, and no secret was given: set spark.authenticate.secret to one that reaches the
         * executors as well. Called before `start`. NULL: the user must give one.
         */
        int (*make_secret)(struct executor_manager *manager, struct fst_error *error);

        /* Have executors started that connect to @driver_url. They may register at any time from now on. */
        int (*start)(struct executor_manager *manager, struct cluster_backend *backend, const char *driver_url,
                     struct fst_error *error);

        /* An executor has registered. */
        void (*registered)(struct executor_manager *manager, const char *executor_id);

        /* End this executor, by force if need be; cluster_backend_executor_exited says when it is gone. */
        void (*kill)(struct executor_manager *manager, const char *executor_id, bool replace);

        /* Executors were told to end: do not start others. True when all are gone. Called again until it is. */
        bool (*stopped)(struct executor_manager *manager);

        /* The patience is over: end what is left, and close all handles. */
        void (*stop)(struct executor_manager *manager);

        /* The loop has run to its end. */
        void (*free)(struct executor_manager *manager);
};

struct executor_manager {
        const struct executor_manager_class *class;
};
