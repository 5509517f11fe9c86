/*
 * The driver's own pod, seen from the driver. It owns the objects that the driver creates. If executors find the driver
 * by its service's name, the driver waits until its pod is ready, because the name resolves only then.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

struct fst_error;
struct kube_client;
struct driver_pod_wait;

/*
 * Fetches the pod while running the client's loop. The caller owns *@out. Returns 0, -ENOENT with Spark's message if
 * the pod is missing, or the codes of kube_client.h, negated.
 */
int driver_pod_fetch(struct kube_client *client, const char *namespace, const char *name, json_t **out,
                     struct fst_error *error);

/* Calls @ready once, when the pod's condition Ready is true. Checks every @interval_ms until then. */
struct driver_pod_wait *driver_pod_wait_begin(struct kube_client *client, const char *namespace, const char *name,
                                              int64_t interval_ms, void (*ready)(void *owner), void *owner);

/* Stops checking. The loop must run once more. Call it before the client is freed. NULL is allowed. */
void driver_pod_wait_end(struct driver_pod_wait *wait);
