/* The objects that a cluster-mode submission sends to the API server, in order. */
#pragma once

#include <jansson.h>

struct fst_error;
struct kube_conf;

/*
 * Builds an array: the objects needed before the driver's pod, the pod, its service, config maps, secrets, claims. For
 * display, so without owners, because the pod has no uid before it exists. The caller owns *@out. *@pod_at, if not
 * NULL, is set to the pod's index, because earlier objects may include pods. Returns a negative code with Spark's
 * message in @error.
 */
int driver_objects_make(const struct kube_conf *c, json_t **out, size_t *pod_at, struct fst_error *error);

/*
 * For tests: as driver_objects_make, but as the objects are sent if the pod gets @uid: earlier objects are sent again
 * after the pod, with their owner.
 */
int driver_objects_sent(const struct kube_conf *c, const char *uid, json_t **out, struct fst_error *error);
