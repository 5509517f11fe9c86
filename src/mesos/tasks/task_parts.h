/*
 * The parts that all Mesos tasks of an application share, from its settings: container, labels, secrets, files.
 *
 *      struct task_parts parts;
 *      r = task_parts_read(&parts, conf, TASK_OF_EXECUTOR, &error);
 *      task.container = parts.container;
 *      task_parts_deinit(&parts);
 *
 * The messages lie in the arena of the parts and are not changed after they are read. An element of a list that cannot
 * be parsed (a volume, a port mapping, a parameter of Docker) is left out with a warning, as in Spark.
 */
#pragma once

#include "base/arena.h"
#include "mesos/protocol/mesos_messages.h"

#include <stdbool.h>

struct buf;
struct fst_conf;
struct fst_error;

enum mesos_task_kind {
        TASK_OF_EXECUTOR,      /* coarse-grained: spark.mesos.executor.secret.*, spark.mesos.task.labels */
        TASK_OF_FINE_EXECUTOR, /* fine-grained: no secrets, no labels, files not kept */
        TASK_OF_DRIVER,        /* in cluster mode: spark.mesos.driver.secret.*, spark.mesos.driver.labels */
};

struct task_parts {
        struct arena arena;
        Firesteel__Mesos__ContainerInfo *container;
        Firesteel__Mesos__Labels *labels;                  /* of the task; empty if none are set. NULL: fine-grained */
        Firesteel__Mesos__Environment__Variable **secrets; /* variables of type SECRET */
        size_t n_secrets;
        Firesteel__Mesos__CommandInfo__URI **uris; /* spark.mesos.uris; of executors, spark.executor.uri first */
        size_t n_uris;
        char *archive; /* spark.executor.uri or SPARK_EXECUTOR_URI, NULL: none; of executors only */
        bool cache;    /* spark.mesos.fetcherCache.enable */
};

/* @env is getenv. Returns 0, or a negative status with @error and @out empty. */
int task_parts_read(struct task_parts *out, const struct fst_conf *conf, enum mesos_task_kind kind,
                    const char *(*env)(const char *name), struct fst_error *error);
void task_parts_deinit(struct task_parts *parts);

/* A copy of @text in @arena, or NULL for NULL. */
char *task_text(struct arena *arena, const char *text);

/* A file to fetch. @cache: may agents keep it. */
Firesteel__Mesos__CommandInfo__URI *task_uri_new(struct arena *arena, const char *value, bool cache);

/* A variable of a task's environment. */
Firesteel__Mesos__Environment__Variable *task_variable_new(struct arena *arena, const char *name, const char *value);

/*
 * Appends the directory that an archive @uri unpacks to, as a pattern of the shell: the part of its last path element
 * before the first point, and "*".
 */
void task_put_archive_directory(struct buf *out, const char *uri);
