/*
 * Loads and runs feature steps from the user's shared objects (include/firesteel/pod_step.h).
 *
 * They replace the Java classes in Spark's spark.kubernetes.*.pod.featureSteps. A module is loaded once in a process
 * and stays, because the driver creates executors as long as it lives.
 */
#pragma once

#include "base/strmap.h"

#include <jansson.h>
#include <stdbool.h>

struct fst_error;
struct fst_pod_step;
struct kube_conf;
struct spark_pod;

typedef int native_step_fn(struct fst_pod_step *step);

/* Whether @name is the path of a module and not a class. */
bool native_step_is_named(const char *name);

/*
 * Loads the module @name. Returns -EINVAL with @error if the path is not absolute, the module cannot be loaded, or it
 * lacks the function.
 */
int native_step_load(const char *name, native_step_fn **out, struct fst_error *error);

/*
 * Runs the step on @pod, with the outputs of feature_step.h. @properties and @before are NULL for an executor. Returns
 * -EINVAL with the step's message in @error, or one that names the step. The outputs are then unusable.
 */
int native_step_run(native_step_fn *step, const char *name, const struct kube_conf *c, struct spark_pod *pod,
                    struct strmap *properties, json_t *before, json_t *after, struct fst_error *error);
