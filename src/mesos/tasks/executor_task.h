/*
 * The Mesos tasks of executors: what Spark's backends write into a TaskInfo, with `firesteel` in the place of java.
 *
 * Coarse-grained, an executor is a task with a command:
 *
 *      cd firesteel-1*; LD_LIBRARY_PATH="/opt/lib:$LD_LIBRARY_PATH" ./bin/firesteel executor …
 *
 * Fine-grained, a task of Spark is a task of Mesos, and its ExecutorInfo has the command of `firesteel mesos-executor`.
 *
 *      struct executor_tasks t;
 *      r = executor_tasks_init(&t, &options, &error);
 *      Firesteel__Mesos__TaskInfo *task = executor_task_new(&t, &arena, offer, launch);
 *
 * Differs from Spark: SPARK_EXECUTOR_OPTS lacks the module options that Spark writes for its JVM. Settings that an
 * executor needs before it knows the driver's (spark.rpc.*, spark.ssl.*, ports) follow as --conf, and the secret of
 * spark.authenticate is the variable _SPARK_AUTH_SECRET.
 */
#pragma once

#include "base/strmap.h"
#include "mesos/offers/offer_actions.h"
#include "mesos/tasks/task_parts.h"

#include <stdbool.h>
#include <stdint.h>

/* Borrowed until executor_tasks_deinit. */
struct executor_tasks_options {
        const struct fst_conf *conf;
        bool fine; /* fine-grained: @driver_url is not used */
        const char *driver_url, *app_id, *app_name, *user;
        const char *home;   /* of this installation, for agents without spark.mesos.executor.home; NULL: unknown */
        const char *secret; /* of spark.authenticate; NULL: none */
        const char *(*env)(const char *name); /* getenv */
        const uint8_t *data;                  /* fine-grained: what executors get */
        size_t data_len;
};

struct executor_tasks {
        struct executor_tasks_options options;
        struct task_parts parts;
        struct strmap environment; /* the same in all tasks */
        char *class_path;          /* spark.executor.extraClassPath, or NULL */
        char *java_options;        /* spark.executor.extraJavaOptions, or "" */
        char *begin;               /* of the command, up to the arguments of the executor */
        char *settings;            /* of the command: " --conf …" */
        int64_t extra_cores;       /* spark.mesos.extra.cores */
        bool has_network;          /* spark.mesos.network.name: the agent's name is not the executor's */
};

/*
 * Returns 0, or a negative status with @error and @t empty: -ENOENT if neither options nor settings say where agents
 * find the installation.
 */
int executor_tasks_init(struct executor_tasks *t, const struct executor_tasks_options *options,
                        struct fst_error *error);
void executor_tasks_deinit(struct executor_tasks *t);

/* Coarse-grained: the task of an executor. In @arena; points to @t, @offer and @launch. */
Firesteel__Mesos__TaskInfo *executor_task_new(const struct executor_tasks *t, struct arena *arena,
                                              const struct mesos_offer *offer, const struct mesos_launch *launch);

/*
 * Fine-grained: the task of a task of Spark, @name "task 0.0 in stage 0.0 (TID 0)", with @len bytes of @data for its
 * executor. As above.
 */
Firesteel__Mesos__TaskInfo *fine_task_new(const struct executor_tasks *t, struct arena *arena,
                                          const struct mesos_offer *offer, const struct mesos_launch *launch,
                                          const char *name, const uint8_t *data, size_t len);
