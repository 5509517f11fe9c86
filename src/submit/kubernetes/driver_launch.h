/*
 * Creates a driver's pod and its other objects on a loop, all or none (Spark: Client.run). One client may run many
 * launches at the same time.
 *
 *      launch = driver_launch_begin(client, &plan, launched, owner);
 *      …                                   → launched(owner, 0, NULL), driver_launch_pod(launch)
 *      driver_launch_free(launch);
 *
 * The launch creates the objects that the pod needs, then the pod, then the others at once. The pod owns them all, so
 * Kubernetes deletes them with the pod. If a creation fails, the launch deletes the objects that it created and leaves
 * older ones alone. It also deletes an object whose creation was not confirmed, if that is certainly this submission's.
 * If it cannot delete an object, the log names it.
 *
 * Everything runs on the loop's thread. `done` is called exactly once, unless the launch is freed before, and never
 * from within a function of this header. It may free the launch.
 */
#pragma once

#include <jansson.h>

struct driver_launch;
struct driver_plan;
struct fst_error;
struct kube_client;

/* The launch was stopped before the pod existed, and all known objects were deleted. */
#define FST_LAUNCH_E_STOPPED 1

/*
 * @r is 0 if all objects exist, or FST_LAUNCH_E_STOPPED. If negative, @error is set and the objects were deleted:
 * -EACCES the API server denies it, -EEXIST a pod of that name exists, -EINVAL the server rejects an object or another
 * owner has one of its name, others as in kube_client.h.
 */
typedef void driver_launch_done(void *owner, int r, const struct fst_error *error);

/* Sets the owner of @plan's objects. @plan is borrowed until the launch is freed. */
struct driver_launch *driver_launch_begin(struct kube_client *client, struct driver_plan *plan,
                                          driver_launch_done *done, void *owner);

/*
 * The same for a launch that was interrupted after its pod was created: creates the other objects of @plan, owned by
 * @pod, which the server returned. Objects that exist are left alone. A failure deletes what this call has created, and
 * the pod. It has no caller yet.
 */
struct driver_launch *driver_launch_resume(struct kube_client *client, struct driver_plan *plan, json_t *pod,
                                           driver_launch_done *done, void *owner);

/*
 * Ends the launch soon: deletes the objects if there is no pod, or if the first attempt to complete the launch fails,
 * and completes it otherwise. Does not wait for an API server that was never reached, and waits at most two seconds for
 * one that stopped replying.
 */
void driver_launch_stop(struct driver_launch *l);

/* The pod as the server returned it, or NULL. Borrowed. */
json_t *driver_launch_pod(const struct driver_launch *l);

/* Call before the client is freed. Cancels pending requests. NULL is allowed. */
void driver_launch_free(struct driver_launch *l);
