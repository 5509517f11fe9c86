/*
 * The driver pod's configuration, made from a prepared submission (submit/prepare/submission.h).
 *
 *      struct cluster_submission k;
 *      r = cluster_submission_init(&k, &s, NULL, error);
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
 * @s is unchanged and must outlive the result. @names: the unique names of its objects; NULL generates new ones.
 * Returns -EINVAL with @error if @s is not for Kubernetes in cluster mode, or holds an invalid setting. The caller must
 * deinit in either case.
 */
int cluster_submission_init(struct cluster_submission *k, const struct submission *s, const struct fresh_names *names,
                            struct fst_error *error);
void cluster_submission_deinit(struct cluster_submission *k);

/*
 * --dry-run --output objects: the objects that would be created, as a JSON List for `kubectl create -f -`. Sends and
 * uploads nothing.
 */
int cluster_submission_show(const struct submission *s, FILE *out, struct fst_error *error);
