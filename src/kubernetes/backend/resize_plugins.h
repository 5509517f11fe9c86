/*
 * Executors that get more memory or larger claims when they need them: Spark's ExecutorResizePlugin and
 * ExecutorPVCResizePlugin, each if spark.plugins names it.
 *
 *      memory   each spark.kubernetes.executor.resizeInterval: a container that uses more than resizeThreshold of its
 *               limit, as the metrics server measures it, gets resizeFactor more of both limit and request
 *      claims   each spark.kubernetes.executor.pvc.resizeInterval: the claims of an executor whose fullest local
 *               directory is used beyond pvc.resizeThreshold get pvc.resizeFactor more. A claim that is being resized
 * is left alone, and a claim that could not be resized is never tried again
 *
 * Differs from Spark: executors report the usage of their local directories with each heartbeat.
 */
#pragma once

#include <uv.h>

struct fst_conf;
struct fst_error;
struct kube_client;
struct resize_plugins;

struct resize_plugins_options {
        struct kube_client *client;                                 /* borrowed until resize_plugins_end */
        const struct fst_conf *conf;                                /* borrowed for the call */
        const char *namespace, *app_id;                             /* borrowed until resize_plugins_end */
        double (*disk_usage)(void *owner, const char *executor_id); /* 0 … 1; negative: not reported */
        void *owner;
};

/* *@out is NULL if no plugin is named and active. 0, or negative with @error for an invalid value. The loop's thread.
 */
int resize_plugins_begin(const struct resize_plugins_options *options, struct resize_plugins **out,
                         struct fst_error *error);

/* Cancels what runs. The loop has to turn once more. NULL is allowed. */
void resize_plugins_end(struct resize_plugins *plugins);
