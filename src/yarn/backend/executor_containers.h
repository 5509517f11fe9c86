/*
 * The executors of an application in containers: yarn_executors with the application's settings, sizes and launch
 * contexts. The process that is the ApplicationMaster hosts it: the driver, or `firesteel yarn-am`.
 *
 *      r = executor_containers_init(&c, conf, error);
 *      … set yarn_conf, driver_url, app_id, user, staging_dir, resources …
 *      r = executor_containers_start(&c, loop, &start, &ops, owner, error);
 *      executor_containers_request(&c, &target);
 *      executor_containers_deinit(&c);                 after executor_containers_stop and a turn of the loop
 */
#pragma once

#include "yarn/backend/executor_launch.h"
#include "yarn/backend/yarn_executors.h"
#include "yarn/conf/am_settings.h"
#include "yarn/conf/executor_size.h"

struct fst_conf;
struct fst_error;
struct metrics_daemon;

struct executor_containers_ops {
        /* A container is about to start an executor. May be NULL. */
        void (*launching)(void *owner, int32_t executor);
        /* As in yarn_executors_ops. */
        void (*exited)(void *owner, int32_t executor, int exit_status, bool caused_by_app, const char *reason);
        void (*decommission)(void *owner, int32_t executor, const char *host);
        void (*failed)(void *owner, int exit_code, const char *message);
        void (*finished)(void *owner);
};

/* Cores of the executors of a resource profile. */
struct profile_cores {
        int32_t profile;
        int cores;
};

struct executor_containers {
        const struct fst_conf *conf; /* borrowed */
        struct yarn_conf yarn_conf;
        struct am_settings settings;
        struct yarn_executor_size size; /* of the default profile's executors */
        VEC(struct profile_cores) cores;
        char *driver_url, *app_id, *user, *staging_dir;
        char *view_acl, *modify_acl;           /* NULL before the start: those of `user` */
        struct local_resources resources;      /* that executors get */
        struct hadoop_credentials credentials; /* of containers */
        struct executor_launch launch;
        const struct executor_containers_ops *ops;
        void *owner;
        struct yarn_executors *executors; /* NULL: not started */
        struct metrics_daemon *metrics;   /* NULL: no sinks */
        int32_t last_executor;            /* the highest id that was launched */
};

struct executor_containers_start {
        const struct hadoop_token *token; /* YARN_AM_RM_TOKEN; borrowed for the call */
        const char *host, *tracking_url;
        int32_t last_executor;        /* ids up to this one were used before */
        int32_t attempt;              /* of the ApplicationMaster, from 1 */
        const struct yarn_kept *kept; /* executors of an earlier attempt; borrowed for the call */
        size_t n_kept;
};

/* Reads the settings. @conf is borrowed. Returns 0, or -EINVAL with @error. @c is zeroed; deinit it in either case. */
int executor_containers_init(struct executor_containers *c, const struct fst_conf *conf, struct fst_error *error);

/* Adds the secret of spark.authenticate to the containers' credentials if it is on. */
int executor_containers_add_secret(struct executor_containers *c, struct fst_error *error);

/* Adds the tokens of @own, which the ApplicationMaster has, to those of executors, except its own for the
 * ResourceManager. */
void executor_containers_add_tokens(struct executor_containers *c, const struct hadoop_credentials *own);

/* Creates the executors and begins to register with the ResourceManager. Returns 0, or negative with @error. */
int executor_containers_start(struct executor_containers *c, uv_loop_t *loop,
                              const struct executor_containers_start *start, const struct executor_containers_ops *ops,
                              void *owner, struct fst_error *error);

/* Adds the target's profile if it is new, and sets its target. */
void executor_containers_request(struct executor_containers *c, const struct yarn_target *target);

/* Reports the metrics once more and frees the executors. Does nothing before the start. */
void executor_containers_stop(struct executor_containers *c);
void executor_containers_deinit(struct executor_containers *c);
