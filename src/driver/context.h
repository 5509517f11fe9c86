/*
 * The context of one application: owns everything that lives as long as the application. The scheduler's thread is in
 * driver/job_runner.h.
 */
#pragma once

#include "base/error.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "conf/master_url.h"
#include "driver/events/listener_bus.h"
#include "exec/exec_services.h"
#include "exec/executor_resources.h"
#include "exec/actions/stage_context.h"
#include "rdd/rdd_registry.h"

#include <pthread.h>

struct accumulators;
struct application_files;
struct broadcast_variables;
struct cluster_manager_class;
struct job_runner;
struct driver_metrics;
struct driver_ui;
struct event_log_setup;
struct progress_bar;
struct resource_profiles;
struct app_status;
struct launcher_backend;
struct resume;
struct scheduler_backend;

/* Returns a context that has not started. Owns @conf. */
struct fst_context *context_alloc(struct fst_conf *conf);

struct fst_context {
        struct rdd_registry registry; /* first: lineage casts to it */
        struct fst_conf *conf;
        int status; /* not 0: the start failed, and every action returns it */
        struct fst_error error;

        char *app_id, *app_name, *user, *host;
        char *attempt_id; /* set by a cluster manager that starts the driver again after a failure; NULL: none */
        const struct cluster_manager_class *manager; /* of spark.master */
        struct master_url master;                    /* the fields parsed from spark.master */
        bool check;                                  /* driver/check_mode.h */
        int64_t started_ms;
        struct executor_resources resources; /* the driver's own */
        struct resource_profiles *profiles;  /* NULL: the context has not started */

        struct exec_env env;
        struct task_services services; /* for tasks in this process */
        VEC(struct executor_ref *)
        executors; /* by the scheduler's index; belongs to the scheduler's thread while it runs */
        struct scheduler_backend *backend; /* until the job runner owns it */
        int registered_cores;              /* of registered executors; atomic */
        struct job_runner *runner;
        struct accumulators *accumulators;
        struct broadcast_variables *broadcasts;
        struct application_files *files;
        struct resume *resume; /* NULL: spark.firesteel.resume.enabled is false */

        struct listener_bus *bus;
        struct driver_log *driver_log;           /* spark.driver.log.*; NULL: off */
        struct extra_listeners *extra_listeners; /* spark.extraListeners; NULL: none */
        struct event_log_setup *event_log;       /* NULL: off */
        struct app_status *app_status;
        struct driver_metrics *metrics;
        struct driver_ui *ui;   /* NULL: spark.ui.enabled is false */
        struct remote_shuffle_driver *remote_shuffle; /* map outputs outside of executors; NULL: there are none */
        int block_manager_port; /* in events; the backend sets it if executors fetch blocks from the driver */
        struct progress_bar *progress;
        struct launcher_backend *launcher; /* NULL: not started by a launcher */

        bool in_group;                  /* a control group limits the memory of this process */
        bool stopping;                  /* fst_context_stop has begun; atomic */
        pthread_mutex_t lock;           /* guards the fields below */
        int first_failure;              /* of any action; 0: none failed */
        char *failed_action;            /* the first that failed: "count at app.c:12"; NULL: none */
        bool clean;                     /* RDDs were released (driver/cleaner.c) */
        int acting;                     /* threads inside an action; fst_context_stop waits for them */
        pthread_cond_t acted;           /* signalled when one leaves */
        bool signalled, ending, ended;  /* see context_begin_end */
        pthread_cond_t has_ended;       /* signalled when `ended` is set */
        struct context_result *results; /* results handed to the application; freed at the end */
        pthread_mutex_t prepare;        /* guards fst_rdd.preparing (driver/actions/single_flight.h) */
        pthread_cond_t prepared;        /* signalled when a thread has computed bounds, or failed to */
        int n_awaiting;                 /* threads that wait for it; for tests */
};

/* Memory handed to the application, which lives until the context stops. */
struct context_result {
        struct context_result *next;
        void (*free)(struct context_result *self);
        /*
         * For rows that the application reads: the iterator, and the allocation that contains it. `free` then keeps
         * that allocation, so that fst_next can report the stopped context. NULL: `free` frees everything.
         */
        fst_iter *iter;
        void *memory;
};
void context_own(struct fst_context *sc, struct context_result *result);

/* Log a failed action, remember its status, and return it. Takes @error's message. */
int context_action_failed(struct fst_context *sc, const char *action, int status, struct fst_error *error);

/*
 * Surrounds every action, so that the context outlives a thread whose job it cancelled: `_cleanup_(context_leave)
 * fst_context *in = context_enter(rdd->sc);`
 */
fst_context *context_enter(fst_context *sc);
void context_leave(fst_context **sc);

/*
 * Ends @sc because the process ends: cancels its jobs, waits a moment for their tasks, closes the event log, removes
 * files. Frees nothing, because threads of the application may still use @sc. Their calls fail. @exit_code is the exit
 * status of the process.
 */
void context_end(struct fst_context *sc, int exit_code);

/* Cores of each process that runs tasks; INT_MAX if the cluster decides. */
int context_cores_of_one(const struct fst_context *sc);
