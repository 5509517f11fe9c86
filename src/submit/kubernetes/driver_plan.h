/*
 * The part of a cluster-mode submission that is decided before anything is sent: its name, the API server, and the
 * objects to create.
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
        int64_t interval_ms; /* between status reports while waiting */
        json_t *objects;     /* in order: before the pod, the pod, after it */
        size_t pod_at;
        const char *container; /* the container that runs the driver, or "" if it is unnamed; points into @objects */
};

#define DRIVER_PLAN_INIT ((struct driver_plan){.server = KUBE_CONFIG_INIT})

/*
 * Reads names and settings. @s was prepared for SUBMIT_CLASS_KUBERNETES, is unchanged, and must remain until
 * driver_plan_make returns. Returns 0, or -EINVAL with @error for settings that Spark refuses.
 */
int driver_plan_read(struct driver_plan *p, const struct submission *s, struct fst_error *error);

/* The same with the given unique names, and no new ones. */
int driver_plan_read_named(struct driver_plan *p, const struct submission *s, const struct fresh_names *names,
                           struct fst_error *error);

/* A part of driver_plan_make: makes the objects without the server's address. */
int driver_plan_make_objects(struct driver_plan *p, struct fst_error *error);

/* Makes the server's address and the objects, and uploads files. Blocks. Returns 0, or negative with @error. */
int driver_plan_make(struct driver_plan *p, struct fst_error *error);

void driver_plan_deinit(struct driver_plan *p);

/* The driver's pod as it will be sent, and its name. Borrowed. */
const json_t *driver_plan_pod(const struct driver_plan *p);
const char *driver_plan_pod_name(const struct driver_plan *p);
