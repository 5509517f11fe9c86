/*
 * An executor manager: starts an application's executors and reports their ends. It is the driver's whole interface to
 * a cluster manager. Messages of executors go to the cluster backend (driver/backend/cluster_backend.h).
 *
 * Calls come on the scheduler's thread, except `announce`, `start` and `free`, which come while that thread does not
 * run. A manager may put handles on the backend's loop and closes them in `stop`.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cluster_backend;
struct executor_manager;
struct executor_request; /* sched/allocation/executor_allocation.h */
struct fst_error;
struct task_batch;

/*
 * An executor that an earlier driver of the application had. It may still run: for
 * spark.firesteel.resume.executorTimeout it finishes its tasks, keeps what it holds, and looks for the next driver, at
 * the same address and in the place of the journal (exec/resume/). Then it registers again with the id that it had.
 */
struct earlier_executor {
        const char *id, *host;
        int cores, profile; /* profile: of its resources; 0: the default one */
        int64_t pid;        /* on its host */
        uint64_t started;   /* of that process, in clock ticks since the host started; 0: unknown */
        const char *container; /* its attribute CONTAINER_ID, or "": YARN's container */
};

struct executor_manager_class {
        const char *name;

        /*
         * The cluster keeps what was started for the application until `stopped` is called, so a driver that a signal
         * ends must call it too.
         */
        bool outlives_driver;

        /* Only the driver reports the end of the application to the shuffle services on the executors' hosts. */
        bool must_notify_shuffle_services;

        /*
         * spark.authenticate is on without a secret: set spark.authenticate.secret to one that the executors receive
         * too. Called before `start`. NULL: the user must give one.
         */
        int (*make_secret)(struct executor_manager *manager, struct fst_error *error);

        /*
         * Register the application with the cluster. *@app_id receives its id, which the caller owns. From now on
         * executors connect to @driver_url. Their requests are answered after `start`. May run the backend's loop.
         * Returns 0, or a negative status with @error. NULL: the context makes up the id.
         */
        int (*announce)(struct executor_manager *manager, struct cluster_backend *backend, const char *driver_url,
                        char **app_id, struct fst_error *error);

        /*
         * Start executors that connect to @driver_url: as many as request_executors asked for, or, if it was not called
         * before, as many as the configuration says. They may register at any time from now on.
         */
        int (*start)(struct executor_manager *manager, struct cluster_backend *backend, const char *driver_url,
                     struct fst_error *error);

        /*
         * The driver goes on with an application whose executors may still run: they wait for it, and register again
         * with their ids. @executors are those that the earlier driver had not lost; NULL with @n 0: none is awaited.
         * Called at most once, after `announce` and before `start`. The manager
         *  - counts those that may still run as running, so that it starts fewer,
         *  - gives new executors ids that no earlier one has had: numbers from @next_id on, if it gives them itself
         *    (cluster_backend_reserve_executor_ids),
         *  - reports the end of each, now or later: cluster_backend_executor_exited. The driver's first job waits until
         *    each has registered or ended, or for spark.firesteel.resume.registrationTimeout,
         *  - ends them by `kill`, `stopped` and `stop` as if it had started them.
         * Borrows @executors for the call. NULL: executors of an earlier driver are refused, and end.
         */
        void (*adopt)(struct executor_manager *manager, struct cluster_backend *backend,
                      const struct earlier_executor *executors, int n, int next_id);

        /* Whether an executor that registers was already given up. NULL: never. */
        bool (*refuses)(const struct executor_manager *manager, const char *executor_id);

        /* An executor has registered. May be NULL. */
        void (*registered)(struct executor_manager *manager, const char *executor_id);

        /*
         * Each task of the application is a task of the cluster, too, and has a core of its own, which the cluster
         * offers: cluster_backend_offer. `launching` comes from within that call, before a task goes to its executor.
         * `waiting`: the scheduler has decided what it can, and @n tasks wait for a core. NULL, both: executors keep
         * their cores.
         */
        void (*launching)(struct executor_manager *manager, const char *executor_id, const struct task_batch *run);
        void (*waiting)(struct executor_manager *manager, int n);

        /* A registered executor is gone, for any reason, even one that the manager itself reported. May be NULL. */
        void (*forgotten)(struct executor_manager *manager, const char *executor_id);

        /* The driver has told an executor to end once its tasks have ended. May be NULL. */
        void (*decommissioned)(struct executor_manager *manager, const char *executor_id);

        /*
         * Keep these numbers of executors running. Replaces all earlier requests. There is one request for each
         * resource profile ever used. Running executors count. Starts more when there is room, now or later, and ends
         * none if the numbers fall. May come before `start`: then these are the initial numbers. Returns false if the
         * cluster could not be asked. The same request then comes again. Borrows @requests for the call.
         */
        bool (*request_executors)(struct executor_manager *manager, const struct executor_request *requests, int n);

        /* The rack of a host, valid until the next call; NULL: unknown. May block. NULL: the manager knows no racks. */
        const char *(*rack)(struct executor_manager *manager, const char *host);

        /*
         * The scheduler excludes these hosts for the whole application, and no others any more: start no executors
         * there. Borrows @hosts for the call. NULL: the manager does not choose hosts.
         */
        void (*set_excluded_hosts)(struct executor_manager *manager, const char *const *hosts, size_t n);

        /*
         * End an executor, by force if needed. cluster_backend_executor_exited reports its end. The requested numbers
         * stay, so another one is started if too few are left. To reduce them, the cluster backend calls
         * request_executors first. The executor may not have registered, or may be gone already.
         */
        void (*kill)(struct executor_manager *manager, const char *executor_id);

        /*
         * Cores of all configured executors together, and the share of them that the first task waits for unless
         * spark.scheduler.minRegisteredResourcesRatio is set (0 if not written). NULL: unknown, the first task does not
         * wait.
         */
        int64_t (*expected_cores)(const struct executor_manager *manager, double *ratio);

        /*
         * Maximum number of processes of the application that share the driver's control group, the driver included.
         * NULL: 1, executors have their own.
         */
        int (*group_processes)(const struct executor_manager *manager);

        /*
         * The application ends, and executors are told to stop next: start none in their place. May run the backend's
         * loop briefly. NULL: `stopped`, which follows before the loop runs, is early enough.
         */
        void (*ending)(struct executor_manager *manager);

        /* Executors were told to stop: start no others. Returns true once all are gone. Called again until then. */
        bool (*stopped)(struct executor_manager *manager);

        /*
         * A signal ends the process, and neither `stop` nor `free` follows: report the end of the application to the
         * cluster manager. May run the backend's loop briefly. NULL: the manager notices it.
         */
        void (*leave)(struct executor_manager *manager);

        /* The timeout of `stopped` has passed: end the remaining executors and close all handles. */
        void (*stop)(struct executor_manager *manager);

        /* Called after the loop has ended. */
        void (*free)(struct executor_manager *manager);
};

struct executor_manager {
        const struct executor_manager_class *class;
};
