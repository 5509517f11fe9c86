/*
 * Applies the patches of the genuine operator's mutating webhook to the pods of an application, in its order. Pure.
 *
 * A driver's pod is patched when it is complete. Executors are created by the driver from a template: the template is
 * patched, and Spark adds its own afterwards.
 */
#pragma once

#include "operator/render/application_objects.h"

/*
 * Changes @pod. Returns 0, or -EINVAL with @error if it has no container, or a memory limit is invalid. Appends fields
 * without effect to @warnings.
 */
int pod_patch_apply(const struct spark_application *app, bool driver, json_t *pod, struct field_problems *warnings,
                    struct fst_error *error);

/*
 * Returns the template of a pod: the user's, or one with an empty Spark container, and the reference to the
 * application. The caller owns it.
 */
json_t *pod_patch_template(const struct spark_application *app, bool driver);
