/*
 * Tasks on executors that are processes of their own: the driver's endpoint "CoarseGrainedScheduler", to which they
 * connect, and the table of those that have (Spark's CoarseGrainedSchedulerBackend).
 *
 * An executor is in one of these states:
 *
 *      ALIVE           registered: takes tasks
 *      PENDING_LOSS    its connection is gone: takes none, until its manager has said why, or LOSS_REASON_MS are over
 *      GONE            its tasks and map outputs are lost; its number is not used again
 */
#pragma once

#include "driver/backend/executor_manager.h"
#include "driver/backend/scheduler_backend.h"

#include <uv.h>

struct cluster_backend;
struct fst_context;

/* How long the driver waits for the reason of a lost connection, before it takes the application for the cause. */
#define LOSS_REASON_MS 5000

/* Never NULL. @manager is taken. */
struct scheduler_backend *cluster_backend_new(struct fst_context *sc, struct executor_manager *manager);

/* --------------------------------------------------------------------------------------- for executor managers */

/* The loop of the scheduler's thread. */
uv_loop_t *cluster_backend_loop(struct cluster_backend *backend);

/*
 * An executor has ended, registered or not. @caused_by_app: by what its tasks did, as far as one can tell. @reason is a
 * sentence for the log and for the tasks' failures.
 */
void cluster_backend_executor_exited(struct cluster_backend *backend, const char *executor_id, bool caused_by_app,
                                     const char *reason);

/*
 * An executor will go soon, and not come back: it gets no new tasks, and is told to move its blocks away if the
 * configuration says so. @host_too: its machine goes, with all that lies on its disks. @reason is for the log. One that
 * has not registered, or that was told before, is ignored.
 */
void cluster_backend_executor_decommissioned(struct cluster_backend *backend, const char *executor_id, bool host_too,
                                             const char *reason);

/*
 * Tell an executor to end by itself, in order; its manager sees to it that it does. One that is not connected is not
 * told.
 */
void cluster_backend_send_stop(struct cluster_backend *backend, const char *executor_id);

/*
 * A worker is gone, and its shuffle service with it: what executors on @host left there is forgotten at once, and made
 * again where it is needed. Its executors' ends are told apart from this (cluster_backend_executor_exited), before.
 * Without a service there is nothing to forget.
 */
void cluster_backend_worker_removed(struct cluster_backend *backend, const char *worker_id, const char *host,
                                    const char *message);

/* No executor can be had: the application cannot go on. Its jobs fail with @reason. */
void cluster_backend_abort(struct cluster_backend *backend, const char *reason);
