/* Which steps make a pod: Spark's, then the user's own, less those that are excluded. For the builders only. */
#pragma once

#include "deploy/kubernetes/feature_step.h"

struct step_list {
        const struct feature_step **data;
        size_t len, cap;
};

/*
 * Append the @n built-in steps and those of spark.kubernetes.*.pod.featureSteps, all of them checked, less what
 * spark.kubernetes.*.pod.excludedFeatureSteps names. -EINVAL with @error for what is wrong with any, or is none.
 */
int step_list_make(const struct kube_conf *c, const struct feature_step *const *built_in, size_t n,
                   struct step_list *out, struct fst_error *error);
void step_list_deinit(struct step_list *list);
