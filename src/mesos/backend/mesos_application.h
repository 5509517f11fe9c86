/*
 * What both modes have in common: the application's settings for Mesos, and its framework.
 *
 *      r = mesos_application_init(&a, sc, error);
 *      r = mesos_application_announce(&a, loop, &ops, owner, driver_url, &app_id, error);    waits for one of the two:
 *      …                                                          ops.subscribed calls mesos_application_subscribed
 *      …                                                          ops.failed     calls mesos_application_failed
 *      a.scheduler                                                its connection
 *      mesos_application_end(&a, loop);                           ends the framework
 *      mesos_application_deinit(&a);
 *
 * On the thread that runs the loop.
 */
#pragma once

#include "base/buf.h"
#include "mesos/conf/mesos_credentials.h"
#include "mesos/conf/mesos_master.h"
#include "mesos/scheduler/mesos_scheduler.h"
#include "mesos/tasks/executor_task.h"

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
        char *driver_url, *app_id;         /* NULL before the announcement, and before the registration */
        struct executor_tasks tasks;       /* set up if has_tasks */
        bool has_tasks;
        struct buf data;              /* for fine-grained executors */
        struct fst_error *announcing; /* until the framework is registered, or failed */
        int announced;                /* 1: registered; negative: failed */
        bool torn_down;
};

/* Borrows @sc. Returns 0, or a negative status with @error and @a empty. */
int mesos_application_init(struct mesos_application *a, struct fst_context *sc, struct fst_error *error);
void mesos_application_deinit(struct mesos_application *a);

/*
 * Connects the framework, and waits until Mesos has registered or refused it. @ops->failed comes also later. Returns 0
 * with *@app_id, which the caller owns, or a negative status with @error.
 */
int mesos_application_announce(struct mesos_application *a, uv_loop_t *loop, const struct mesos_scheduler_ops *ops,
                               void *owner, const char *driver_url, char **app_id, struct fst_error *error);

/*
 * Call it in @ops->subscribed. The first time it sets up `tasks`, and the announcement ends. Returns 1 the first time,
 * later 0; negative if the announcement fails for want of a valid setting.
 */
int mesos_application_subscribed(struct mesos_application *a, const char *framework_id);

/*
 * Call it in @ops->failed with Mesos's @message. Returns NULL if the announcement was waiting, which then fails; else
 * the reason of the application's end, with a remedy if one is known, after an error in the log. The caller owns it.
 */
char *mesos_application_failed(struct mesos_application *a, const char *message, const char *log_name);

/* "its process was ended by SIGKILL (signal 9)", "its process has exited with status 1": from wait(2)'s status. The
 * caller owns it.
 */
char *mesos_application_exit(int wait_status);

/*
 * Before the announcement: if executors may wait for the next driver (driver/resume/), the master keeps the framework
 * for as long as they do. *@resumed: the framework is that of an earlier driver, whose executors may run. Returns 0, or
 * a negative status with @error.
 */
int mesos_application_outlive(struct mesos_application *a, bool *resumed, struct fst_error *error);

/*
 * In @ops->failed, while the announcement waits: the framework of an earlier driver is not there any more, so a new one
 * is announced. Returns 0, or a negative status, and the announcement fails.
 */
int mesos_application_announce_anew(struct mesos_application *a, uv_loop_t *loop, const struct mesos_scheduler_ops *ops,
                                    void *owner);

/* Ends the framework and closes its connection; an announcement no longer waits. Runs the loop for at most some
 * seconds.
 */
void mesos_application_end(struct mesos_application *a, uv_loop_t *loop);
