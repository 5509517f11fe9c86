/*
 * Feature steps in shared objects of the user's (include/firesteel/pod_step.h), loaded and run.
 *
 * The role of the classes that spark.kubernetes.*.pod.featureSteps names for genuine Spark. A module is loaded once in
 * a process and stays: executors are made one after the other, for as long as the driver lives.
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

/* Whether @name is a module's path, and no class. */
bool native_step_is_named(const char *name);

/*
 * Load the module that @name says. -EINVAL with @error: it is no absolute path, cannot be loaded, or has no such
 * function.
 */
int native_step_load(const char *name, native_step_fn **out, struct fst_error *error);

/*
 * Run it on @pod, with the outputs of a step (feature_step.h); @properties and @before are NULL for an executor.
 * -EINVAL with the step's sentence in @error, or one that names it; the outputs are then of no use any more.
 */
int native_step_run(native_step_fn *step, const char *name, const struct kube_conf *c, struct spark_pod *pod,
                    struct strmap *properties, json_t *before, json_t *after, struct fst_error *error);
