/*
 * A prepared submission (submit/prepare/submission.h) as the configuration of its driver's pod.
 *
 *      struct cluster_submission k;
 *      r = cluster_submission_init(&k, &s, error);
 *      if (r == 0)
 *              r = driver_objects_make(&k.conf, &objects, NULL, error);
 *      cluster_submission_deinit(&k);
 */
#pragma once

#include "conf/conf.h"
#include "submit/kubernetes/client_arguments.h"
#include "kubernetes/conf/generated_names.h"
#include "kubernetes/conf/kube_conf.h"

#include <stdio.h>

struct submission;

struct cluster_submission {
        struct kube_conf conf;
        struct fst_conf settings;
        struct client_arguments arguments;
        struct fresh_names names;
        char *user;
};

/*
 * @s stays as it is, and has to stay. -EINVAL with @error if it is none for Kubernetes in cluster mode, or says what
 * cannot be. Deinit in either case.
 */
int cluster_submission_init(struct cluster_submission *k, const struct submission *s, struct fst_error *error);
void cluster_submission_deinit(struct cluster_submission *k);

/*
 * --dry-run --output objects: what would be created, as a List of JSON that `kubectl create -f -` takes. Nothing is
 * sent or uploaded.
 */
int cluster_submission_show(const struct submission *s, FILE *out, struct fst_error *error);
