/* The steps of a pod: Spark's and the user's, without excluded ones. For the builders only. */
#pragma once

#include "kubernetes/pods/feature_step.h"
#include "kubernetes/pods/native_feature_step.h"

/* A built-in step or a user's module. */
struct listed_step {
        const struct feature_step *built_in;
        native_step_fn *native;
        char *name; /* owned: the module's name; NULL for a built-in step */
};

struct step_list {
        struct listed_step *data;
        size_t len, cap;
};

/*
 * Appends the @n built-in steps and those of spark.kubernetes.*.pod.featureSteps, after checking or loading them,
 * without those of spark.kubernetes.*.pod.excludedFeatureSteps. Returns -EINVAL with @error for an invalid or unknown
 * step.
 */
int step_list_make(const struct kube_conf *c, const struct feature_step *const *built_in, size_t n,
                   struct step_list *out, struct fst_error *error);
void step_list_deinit(struct step_list *list);

/* Runs one step on @pod, with the outputs of feature_step.h. @properties and @before are NULL for executors. */
int listed_step_run(const struct listed_step *step, const struct kube_conf *c, struct spark_pod *pod,
                    struct strmap *properties, json_t *before, json_t *after, struct fst_error *error);
