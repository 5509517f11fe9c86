/* Which steps make a pod: Spark's, then the user's own, less those that are excluded. For the builders only. */
#pragma once

#include "kubernetes/pods/feature_step.h"
#include "kubernetes/pods/native_feature_step.h"

/* One of ours, or a module of the user's. */
struct listed_step {
        const struct feature_step *built_in;
        native_step_fn *native;
        char *name; /* owned: what the module was called; NULL for one of ours */
};

struct step_list {
        struct listed_step *data;
        size_t len, cap;
};

/*
 * Append the @n built-in steps and those of spark.kubernetes.*.pod.featureSteps, all of them checked or loaded, less
 * what spark.kubernetes.*.pod.excludedFeatureSteps names. -EINVAL with @error for what is wrong with any, or is none.
 */
int step_list_make(const struct kube_conf *c, const struct feature_step *const *built_in, size_t n,
                   struct step_list *out, struct fst_error *error);
void step_list_deinit(struct step_list *list);

/* Run one on @pod, with the outputs of feature_step.h; @properties and @before are NULL for executors. */
int listed_step_run(const struct listed_step *step, const struct kube_conf *c, struct spark_pod *pod,
                    struct strmap *properties, json_t *before, json_t *after, struct fst_error *error);
