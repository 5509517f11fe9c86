/*
 * Builds the launch of an executor's or of client mode's ApplicationMaster's container: command, environment, files and
 * credentials, as Spark's ExecutorRunnable, with `firesteel executor` instead of java. Pure: a message from its
 * arguments.
 */
#pragma once

#include "base/buf.h"
#include "hadoop/credentials.h"
#include "yarn/application/container_launch.h"
#include "yarn/backend/yarn_executors.h"

struct fst_conf;

/* Borrowed. */
struct executor_launch_options {
        const struct fst_conf *conf; /* the application's */
        const char *driver_url, *app_id, *user;
        const char *staging_dir;                 /* SPARK_YARN_STAGING_DIR; NULL: none */
        const struct yarn_conf *yarn_conf;       /* of executors only */
        const struct local_resources *resources; /* with the program's archive */
        const struct hadoop_credentials *credentials;
        char *view_acl, *modify_acl; /* of an executor's container; NULL: none */
        int cores;
};

/* A message and the memory that it points to. */
struct executor_launch {
        Firesteel__Yarn__ContainerLaunchContext message;
        struct container_launch container;
        struct arena arena;
        struct buf tokens;
};

/*
 * Fills @out with the ApplicationMaster of client mode, `firesteel yarn-am`, which connects to the driver at @driver,
 * "host:port". @out is zeroed or was filled before.
 */
void am_launch_fill(struct executor_launch *out, const struct executor_launch_options *options, const char *driver);

/* The same with an executor; @launch says for which container. */
void executor_launch_fill(struct executor_launch *out, const struct executor_launch_options *options,
                          const struct yarn_launch *launch);
void executor_launch_deinit(struct executor_launch *launch);
