/*
 * Runs tasks on executors in other processes: the driver's endpoint "CoarseGrainedScheduler" and the table of
 * registered executors (Spark: CoarseGrainedSchedulerBackend).
 *
 * An executor is in one of these states:
 *
 *      ALIVE           registered: takes tasks
 *      PENDING_LOSS    connection lost: takes no tasks, until its manager gives the reason or LOSS_REASON_MS have
 * passed GONE            its tasks and map outputs are lost; its index is not used again
 */
#pragma once

#include "driver/backend/executor_manager.h"
#include "driver/backend/scheduler_backend.h"

#include <uv.h>

struct cluster_backend;
struct fst_context;
struct rpc_env;

/* How long the driver waits for the reason of a lost connection. Then it blames the application. */
#define LOSS_REASON_MS 5000

/* Owns @manager. Never NULL. */
struct scheduler_backend *cluster_backend_new(struct fst_context *sc, struct executor_manager *manager);

/* --------------------------------------------------------------------------------------- for executor managers */

/* The loop of the scheduler's thread. */
uv_loop_t *cluster_backend_loop(struct cluster_backend *backend);

/* The messaging of the driver, for endpoints of a manager; NULL before `start`. */
struct rpc_env *cluster_backend_rpc(struct cluster_backend *backend);

/* How full the fullest local directory of the executor was at its last heartbeat, 0 to 1; negative: not reported. */
double cluster_backend_disk_usage(struct cluster_backend *backend, const char *executor_id);

/*
 * Executors with ids below @next are about to be started. A manager that gives them numbers itself must call this
 * before: a later driver of the application gives no executor such a number. Waits until the driver's journal, if there
 * is one, has it.
 */
void cluster_backend_reserve_executor_ids(struct cluster_backend *backend, int next);

/*
 * An executor has ended, registered or not. @caused_by_app: probably because of its tasks. @reason is a sentence for
 * the log and for the failures of its tasks.
 */
void cluster_backend_executor_exited(struct cluster_backend *backend, const char *executor_id, bool caused_by_app,
                                     const char *reason);

/*
 * An executor will end soon for good. It gets no new tasks, and migrates its blocks if the configuration says so.
 * @host_too: its host ends too, with its disks. @reason is for the log. Ignores executors that have not registered or
 * are already decommissioned.
 */
void cluster_backend_executor_decommissioned(struct cluster_backend *backend, const char *executor_id, bool host_too,
                                             const char *reason);

/* New delegation tokens, a stream of credentials (hadoop/credentials.h): for this process and for all executors,
 * including later ones. */
void cluster_backend_update_tokens(struct cluster_backend *backend, const void *stream, size_t len);

/* Ask a connected executor to stop. Its manager makes sure that it ends. */
void cluster_backend_send_stop(struct cluster_backend *backend, const char *executor_id);

/*
 * A worker and its shuffle service are gone. The map outputs of executors on @host are dropped at once and recomputed
 * where needed. The manager reports the ends of the worker's executors first (cluster_backend_executor_exited). Does
 * nothing without a shuffle service.
 */
void cluster_backend_worker_removed(struct cluster_backend *backend, const char *worker_id, const char *host,
                                    const char *message);

/*
 * The cluster manager started again without the application's executors (a second attempt of an ApplicationMaster):
 * loses all of them, and dynamic allocation begins with the initial number.
 */
void cluster_backend_manager_restarted(struct cluster_backend *backend);

/*
 * The cluster offers cores of registered executors, one for each task (executor_manager_class.launching). Unknown
 * executors are ignored. @ids and @cores have @n entries.
 */
void cluster_backend_offer(struct cluster_backend *backend, const char *const *ids, const int *cores, int n);

/* The cluster did not start the task or has ended it: @reason. The executor reports its end. Ignores unknown tasks. */
void cluster_backend_task_ended(struct cluster_backend *backend, const char *executor_id, int64_t task_id,
                                const char *reason);

/* No executor can be started: fail all jobs of the application with @reason. */
void cluster_backend_abort(struct cluster_backend *backend, const char *reason);
