/*
 * A submission in cluster mode, as far as it can be decided before anything is sent: what it is called, how the API
 * server is reached, which objects there are to be.
 *
 *      struct driver_plan plan = DRIVER_PLAN_INIT;
 *      r = driver_plan_read(&plan, &submission, error);
 *      if (r == 0)
 *              r = driver_plan_make(&plan, error);
 *      …                                           → driver_launch.h
 *      driver_plan_deinit(&plan);
 *
 * Belongs to one thread at a time.
 */
#pragma once

#include "submit/kubernetes/cluster_submission.h"
#include "kubernetes/api/kube_config.h"
#include "kubernetes/driver/submission_files.h"

#include <jansson.h>

struct driver_plan {
        struct cluster_submission k;
        struct submission_files files;
        struct kube_config server;
        char *namespace;
        bool wait;           /* spark.kubernetes.submission.waitAppCompletion */
        int64_t interval_ms; /* between reports of who waits */
        json_t *objects;     /* in order: before the pod, the pod, after it */
        size_t pod_at;
        const char *container; /* that runs the driver; "" if it has no name. Of @objects. */
};

#define DRIVER_PLAN_INIT ((struct driver_plan){.server = KUBE_CONFIG_INIT})

/*
 * Names and settings. @s was prepared for SUBMIT_CLASS_KUBERNETES, stays as it is, and has to stay until
 * driver_plan_make returned. 0, or -EINVAL with @error for what Spark refuses.
 */
int driver_plan_read(struct driver_plan *p, const struct submission *s, struct fst_error *error);

/* How the server is reached, and the objects; uploads files. Blocks. 0, or negative with @error. */
int driver_plan_make(struct driver_plan *p, struct fst_error *error);

void driver_plan_deinit(struct driver_plan *p);

/* The driver's pod, as it is going to be sent, and its name. Borrowed. */
const json_t *driver_plan_pod(const struct driver_plan *p);
const char *driver_plan_pod_name(const struct driver_plan *p);
