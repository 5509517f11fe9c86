/* What a cluster-mode submission sends to the API server, in order. */
#pragma once

#include <jansson.h>

struct fst_error;
struct kube_conf;

/*
 * An array of objects: what must be there before the driver's pod, the pod, its service, config maps, secrets, claims.
 * For people and programs that want to see it; owners are left out, as nobody knows the pod's uid before it exists. The
 * caller owns *@out; *@pod_at (NULL is allowed) is the place of the pod, as what comes before it may hold pods, too.
 * Negative with Spark's sentence in @error.
 */
int driver_objects_make(const struct kube_conf *c, json_t **out, size_t *pod_at, struct fst_error *error);

/*
 * The same as it is sent, the pod's uid being @uid: what comes before the pod is sent again after it, with its owner.
 */
int driver_objects_sent(const struct kube_conf *c, const char *uid, json_t **out, struct fst_error *error);
