/*
 * The context: one application. It holds what lives as long as the application does; the scheduler's thread, which
 * makes tasks of jobs, is in driver/job_runner.h.
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
struct event_log_setup;
struct progress_bar;
struct app_status;
struct launcher_backend;
struct scheduler_backend;

/* A context that has not started, with @conf, which it owns. */
struct fst_context *context_alloc(struct fst_conf *conf);

struct fst_context {
        struct rdd_registry registry; /* first: lineage knows it */
        struct fst_conf *conf;
        int status; /* not 0: it could not start; every action answers it */
        struct fst_error error;

        char *app_id, *app_name, *user, *host;
        const struct cluster_manager_class *manager; /* of spark.master */
        struct master_url master;                    /* its numbers */
        int64_t started_ms;
        struct executor_resources resources; /* of the driver */

        struct exec_env env;
        struct task_services services;        /* of tasks in this process */
        VEC(struct executor_ref *) executors; /* by the scheduler's number; the scheduler thread's, while it runs */
        struct scheduler_backend *backend;    /* until the runner takes it */
        int registered_cores;                 /* of executors that are there; atomic */
        struct job_runner *runner;
        struct accumulators *accumulators;
        struct broadcast_variables *broadcasts;
        struct application_files *files;

        struct listener_bus *bus;
        struct driver_log *driver_log;           /* of spark.driver.log.*; NULL: none is written */
        struct extra_listeners *extra_listeners; /* of spark.extraListeners; NULL: none are */
        struct event_log_setup *event_log;       /* NULL: none is written */
        struct app_status *app_status;
        struct progress_bar *progress;
        struct launcher_backend *launcher; /* NULL: nobody has launched it */

        bool stopping;            /* fst_context_stop has begun; atomic */
        pthread_mutex_t lock;     /* of what follows */
        int first_failure;        /* of an action */
        bool clean;               /* RDDs were released: driver/cleaner.c */
        int acting;               /* threads inside of an action: fst_context_stop waits for them */
        pthread_cond_t acted;     /* one has left */
        struct kept_result *kept; /* results that actions handed out: freed at the end */
        pthread_mutex_t prepare;  /* of fst_rdd.preparing: driver/actions/single_flight.h */
        pthread_cond_t prepared;  /* some thread has computed bounds, or failed to */
};

/* Memory that an application was given and that lives until the context stops. */
struct kept_result {
        struct kept_result *next;
        void (*free)(struct kept_result *self);
        /*
         * Rows that the application reads: the iterator and the allocation that has it. `free` then frees all but that
         * allocation, so that fst_next can say that the context has stopped. NULL: `free` frees all.
         */
        fst_iter *iter;
        void *memory;
};
void context_keep(struct fst_context *sc, struct kept_result *result);

/* Tell the user about an action that failed, remember its status, and return it. Takes @error's message. */
int context_action_failed(struct fst_context *sc, const char *action, int status, struct fst_error *error);

/*
 * Around every action, so that the context is not freed under a thread whose job it cancelled:
 * `_cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);`
 */
fst_context *context_enter(fst_context *sc);
void context_leave(fst_context **sc);

int64_t context_now_ms(void);

/* Cores of the process that runs tasks, or of each of them; INT_MAX if the cluster decides. */
int context_cores_of_one(const struct fst_context *sc);
