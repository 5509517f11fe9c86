/*
 * The pod that a driver runs in, as the driver sees it. It owns the objects that the driver creates. Where executors
 * find the driver by its service's name, the driver waits until its pod is ready: only then the name leads to it.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

struct fst_error;
struct kube_client;
struct driver_pod_wait;

/*
 * Fetch it, running the client's loop; *@out is the caller's. -ENOENT with Spark's sentence if it is not there, others
 * as kube_client.h has them, negative.
 */
int driver_pod_fetch(struct kube_client *client, const char *namespace, const char *name, json_t **out,
                     struct fst_error *error);

/* Call @ready once, when the pod's condition Ready holds; look again every @interval_ms until then. */
struct driver_pod_wait *driver_pod_wait_begin(struct kube_client *client, const char *namespace, const char *name,
                                              int64_t interval_ms, void (*ready)(void *owner), void *owner);

/* Look no more; the loop has to turn. Before the client is freed. NULL is allowed. */
void driver_pod_wait_end(struct driver_pod_wait *wait);
