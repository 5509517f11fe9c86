/* Edits the JSON of a spec. */
#pragma once

#include "operator/resources/spark_application.h"

#include "kubernetes/pods/spark_pod.h"

/* Returns spec.driver or spec.executor of the application's own object. Borrowed. */
static inline json_t *spec_of(const struct spark_application *app)
{
        return json_object_get(app->object, "spec");
}

static inline json_t *spec_role(const struct spark_application *app, bool driver)
{
        return kube_child(spec_of(app), driver ? "driver" : "executor");
}

/* Returns {apiVersion, kind, metadata: {name, namespace, ownerReferences: the application}}. The caller owns it. */
json_t *owned_object(const struct spark_application *app, const char *version, const char *kind, const char *name);

/* Returns the reference to the application. @controls: with controller and blockOwnerDeletion. The caller owns it. */
json_t *owner_reference(const struct spark_application *app, bool controls);

/*
 * Sets *@out to an amount of memory of Java ("512m", "1g", "1024") in Kubernetes' notation. The caller owns it. "Ki"
 * and the like pass unchanged.
 */
char *kubernetes_memory(const char *java);
