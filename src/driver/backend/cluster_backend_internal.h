/* Inside the cluster backend (cluster_backend.h): shared by its files only. All of it is on the scheduler's thread. */
#pragma once

#include "driver/backend/cluster_backend.h"
#include "driver/backend/executor_table.h"
#include "rpc/rpc.h"
#include "store/file_cipher.h"

struct driver_transfer;
struct security;
struct shuffle_service_cleanup;
struct stage_shipping;

struct cluster_backend {
        struct scheduler_backend backend;
        struct fst_context *sc;
        struct job_runner *runner;
        struct executor_manager *manager;
        uv_loop_t loop;
        uv_async_t wake;
        uv_timer_t deadline, expiry, leaving;
        bool left; /* the moment is over */
        struct security *security;
        struct rpc_port port; /* taken before the application had its id */
        struct rpc_env *rpc;
        struct executor_table executors;
        struct stage_shipping *stages;
        struct driver_transfer *data;
        struct shuffle_service_cleanup *service_cleanup; /* NULL: there is no shuffle service */
        uint8_t io_secret[MAX_FILE_SECRET];              /* of the keys of executors' files */
        size_t io_secret_len;                            /* 0: they are not encrypted */
        struct strmap settings;                          /* what executors are told: once the first has asked */
        struct buf tokens;                               /* delegation tokens, as who renews them last sent them */
        int64_t heartbeat_timeout_ms;
        int64_t decommission_ms; /* spark.executor.decommission.forceKillTimeout; -1: for ever */
        int requested;           /* executors in all; -1: nobody has said how many */
        bool stopping;           /* executors were told to end */
        bool closing;            /* the scheduler is gone: nothing may be reported any more */
};

/* ------------------------------------------------------------------------------------------- cluster_backend.c */

/* Send what was gathered for an executor. */
void cluster_flush(struct remote_executor *x);

/* Count a run's results, and fetch those that did not come with its status; it is done when all are here. */
void cluster_fetch_results(struct cluster_backend *b, struct remote_executor *x, struct task_batch *run);

/* As the scheduler backend's slot. */
void cluster_remove_output(struct scheduler_backend *backend, int executor, int shuffle_id, int map_partition,
                           int64_t task_id);

/* Whether a result of the run is still awaited. */
bool cluster_awaits_results(const struct task_batch *run);

/* Tell all executors to end. */
void cluster_stop_executors(struct cluster_backend *b);

/* --------------------------------------------------------------------------------------------- executor_loss.c */

/* An executor is gone, with its tasks and outputs. Once for each; nothing when the scheduler is gone. */
void cluster_lose(struct cluster_backend *b, struct remote_executor *x, bool caused_by_app, const char *reason);

/* Its connection is lost: no tasks for it until its manager has said why. As rpc_endpoint_class.disconnected. */
void cluster_disconnected(void *backend, struct rpc_peer *peer, const char *why);

/* Tell a new executor of all that are gone. */
void cluster_broadcast_lost_executors(struct cluster_backend *b, const struct remote_executor *to);

/* For a timer whose data is the backend: executors that have sent no heartbeat for too long are gone. */
void cluster_look_for_expired(uv_timer_t *timer);

/* ----------------------------------------------------------------------------------------- executor_requests.c */

/*
 * Have an executor ended. With @replace, as many are wanted as before; else one fewer, as Spark counts: from those that
 * there are, if nobody has said how many. Nothing when the scheduler is gone.
 */
void cluster_kill(struct cluster_backend *b, const char *executor_id, bool replace);

/* As the scheduler backend's slots of these names. */
bool cluster_request_executors(struct scheduler_backend *backend, const struct executor_request *requests, int n);
bool cluster_request_more(struct scheduler_backend *backend, int more);
int cluster_kill_executors(struct scheduler_backend *backend, const char *const *ids, int n);
int cluster_remove_executors(struct scheduler_backend *backend, const int32_t *executors, int n, bool decommission,
                             int32_t *accepted);

/* What of the configuration decommissioning follows: 0, or negative with @error for what there is not. */
int cluster_read_decommission(struct cluster_backend *b, struct fst_error *error);

/* Let this executor take no new tasks, and end when its own have. */
void cluster_decommission(struct cluster_backend *b, struct remote_executor *x, bool host_too, const char *reason);

/* ------------------------------------------------------------------------------------------- driver_endpoint.c */

/* "CoarseGrainedScheduler", with the backend as owner. */
extern const struct rpc_endpoint_class driver_endpoint_class;
