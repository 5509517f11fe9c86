/*
 * A driver's pod and what it needs, created on a loop, whole or not at all: many of them may be under way on one
 * client. Spark's Client.run.
 *
 *      launch = driver_launch_begin(client, &plan, launched, owner);
 *      …                                   → launched(owner, 0, NULL), driver_launch_pod(launch)
 *      driver_launch_free(launch);
 *
 * What has to be there before the pod comes first, then the pod, then everything else at once, the pod its owner: it
 * goes when the pod goes. If something cannot be created, what was created is deleted again; what had been there before
 * stays. What may have been created without that its answer came is deleted as well, if it is certainly this
 * submission's; if that cannot be done, the log says what may be left.
 *
 * Everything happens on the loop's thread; `done` is called exactly once, unless the launch is freed before, and never
 * from within a function of this header. The launch may be freed within it.
 */
#pragma once

#include <jansson.h>

struct driver_launch;
struct driver_plan;
struct fst_error;
struct kube_client;

/* It was stopped before there was a pod, and nothing of it is left that is known of. */
#define FST_LAUNCH_E_STOPPED 1

/*
 * @r 0: it is there, whole. FST_LAUNCH_E_STOPPED. Negative with @error, and taken back: -EACCES the API server does not
 * allow it, -EEXIST there is a pod of that name, -EINVAL it refuses what was sent, others as kube_client.h has them.
 */
typedef void driver_launch_done(void *owner, int r, const struct fst_error *error);

/* @plan's objects are given their owner; it is borrowed until the launch is freed. */
struct driver_launch *driver_launch_begin(struct kube_client *client, struct driver_plan *plan,
                                          driver_launch_done *done, void *owner);

/*
 * End soon: without a pod, or if it cannot be completed at the first attempt, it is taken back; with one it is
 * completed. An API server that was not reached is not waited for, and one that answers nobody for two seconds at most.
 */
void driver_launch_stop(struct driver_launch *l);

/* The pod as the server returned it; NULL: there is none. Borrowed. */
json_t *driver_launch_pod(const struct driver_launch *l);

/* Before the client; what is under way is cancelled. NULL is allowed. */
void driver_launch_free(struct driver_launch *l);
