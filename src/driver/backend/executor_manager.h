/*
 * An executor manager: who gets processes started for an application and says how they ended. All that a cluster
 * manager is to the driver; what the processes say to it is the cluster backend's business
 * (driver/backend/cluster_backend.h).
 *
 * All calls are on the scheduler's thread, but for `announce`, `start` and `free`, when that thread does not run. A
 * manager may put handles of its own on the backend's loop; it closes them in `stop`.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cluster_backend;
struct executor_manager;
struct executor_request; /* sched/allocation/executor_allocation.h */
struct fst_error;

struct executor_manager_class {
        const char *name;

        /* What was started for the application stays if nobody calls `stopped`: also when a signal ends the process. */
        bool outlives_driver;

        /* Nobody but the driver tells the shuffle services on executors' hosts that the application has ended. */
        bool must_notify_shuffle_services;

        /*
         * spark.authenticate is on, and no secret was given: set spark.authenticate.secret to one that reaches the
         * executors as well. Called before `start`. NULL: the user must give one.
         */
        int (*make_secret)(struct executor_manager *manager, struct fst_error *error);

        /*
         * Introduce the application to the cluster, which gives it its id: *@app_id becomes the caller's. Executors
         * connect to @driver_url, from now on; they wait to be answered until after `start`. May run the backend's
         * loop until it is done. 0, or negative with @error. NULL: the context makes up the id.
         */
        int (*announce)(struct executor_manager *manager, struct cluster_backend *backend, const char *driver_url,
                        char **app_id, struct fst_error *error);

        /*
         * Have executors started that connect to @driver_url. They may register at any time from now on. As many as
         * request_executors has asked for; if it was not called before, as many as the configuration says.
         */
        int (*start)(struct executor_manager *manager, struct cluster_backend *backend, const char *driver_url,
                     struct fst_error *error);

        /* Whether an executor that wants to register is one that was given up. NULL: none ever is. */
        bool (*refuses)(const struct executor_manager *manager, const char *executor_id);

        /* An executor has registered. */
        void (*registered)(struct executor_manager *manager, const char *executor_id);

        /* One that had registered is gone, for whatever reason; its manager may be who has said so. May be NULL. */
        void (*forgotten)(struct executor_manager *manager, const char *executor_id);

        /* An executor is to end when its tasks have: the driver has told it. May be NULL. */
        void (*decommissioned)(struct executor_manager *manager, const char *executor_id);

        /*
         * Keep up these numbers of executors, those that run included: one request for each resource profile that
         * was ever used, in place of all that was requested before. More are started as there is room for them,
         * now or later; none is ended because fewer are requested. May come before `start`: then these are the
         * numbers to begin with. False: nobody could be asked, and the same will be requested again. Borrowed for the
         * call.
         */
        bool (*request_executors)(struct executor_manager *manager, const struct executor_request *requests, int n);

        /*
         * End this executor, by force if need be; cluster_backend_executor_exited says when it is gone. What was
         * requested stays: when it is more than what still runs, another one is started. Who wants fewer requests
         * fewer first, as the cluster backend does where nothing is to be started in its place. It may not have
         * registered, or be gone already.
         */
        void (*kill)(struct executor_manager *manager, const char *executor_id);

        /*
         * Cores that the executors will have together once all that the configuration asks for are there, and which
         * part of them the first task waits for unless spark.scheduler.minRegisteredResourcesRatio says so (stays 0 if
         * not written). NULL: not known, nothing is waited for.
         */
        int64_t (*expected_cores)(const struct executor_manager *manager, double *ratio);

        /* Executors were told to end: do not start others. True when all are gone. Called again until it is. */
        bool (*stopped)(struct executor_manager *manager);

        /*
         * A signal ends the process, so that neither `stop` nor `free` is called: report to the cluster manager that the
         * application has ended. May run the backend's loop for a moment. NULL: the manager sees it by itself.
         */
        void (*leave)(struct executor_manager *manager);

        /* The patience is over: end what is left, and close all handles. */
        void (*stop)(struct executor_manager *manager);

        /* The loop has run to its end. */
        void (*free)(struct executor_manager *manager);
};

struct executor_manager {
        const struct executor_manager_class *class;
};
