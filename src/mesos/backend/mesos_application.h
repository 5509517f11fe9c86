/*
 * What both modes have in common: the application's settings for Mesos, and its framework.
 *
 *      r = mesos_application_init(&a, sc, error);
 *      r = mesos_application_register(&a, loop, &ops, owner, error);      waits until Mesos knows the framework
 *      a.scheduler                                                      … its connection
 *      mesos_application_end(&a, loop);                                   ends the framework
 *      mesos_application_deinit(&a);
 *
 * On the thread that runs the loop.
 */
#pragma once

#include "mesos/conf/mesos_credentials.h"
#include "mesos/conf/mesos_master.h"
#include "mesos/scheduler/mesos_scheduler.h"

#include <stdint.h>

struct fst_context;

struct mesos_application {
        struct fst_context *sc;
        struct mesos_master master;
        struct mesos_credentials credentials;
        char *role, *webui_url, *framework_id; /* NULL: not set */
        double failover_timeout;               /* seconds */
        int64_t max_gpus;
        bool checkpoint; /* agents keep executors when they restart */
        bool coarse;
        struct mesos_scheduler *scheduler; /* NULL before the registration and after the end */
        bool torn_down;
};

/* Borrows @sc. Returns 0, or a negative status with @error and @a empty. */
int mesos_application_init(struct mesos_application *a, struct fst_context *sc, struct fst_error *error);
void mesos_application_deinit(struct mesos_application *a);

/*
 * Begins the connection of the framework. @ops->failed comes also while nobody waits. Returns 0, or a negative status
 * with @error.
 */
int mesos_application_connect(struct mesos_application *a, uv_loop_t *loop, const struct mesos_scheduler_ops *ops,
                              void *owner, struct fst_error *error);

/* Ends the framework and closes its connection. Runs the loop for at most some seconds. */
void mesos_application_end(struct mesos_application *a, uv_loop_t *loop);

/* Mesos's message for the end of a framework, with the remedy where one is known. The caller owns it. */
char *mesos_application_failure(const char *message);
