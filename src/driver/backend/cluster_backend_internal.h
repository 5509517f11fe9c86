/* Shared by the files of the cluster backend (cluster_backend.h). Runs on the scheduler's thread. */
#pragma once

#include "base/string_list.h"
#include "base/hash_table.h"
#include "driver/backend/cluster_backend.h"
#include "driver/backend/executor_manager.h"
#include "driver/backend/executor_table.h"
#include "rpc/rpc.h"
#include "store/file_cipher.h"

struct driver_transfer;
struct security;
struct shuffle_service_cleanup;
struct slot_monitor;
struct stage_shipping;

/* An executor that asks for the configuration before the key of the application's files is known. */
struct waiting_config {
        struct rpc_call *call;
        int resource_profile;
};

/* The executors of an earlier driver, which may register again until `over`. */
struct adoption {
        const struct earlier_executor *earlier; /* n of them */
        struct object_table by_id;              /* these */
        bool *awaited;                          /* by position: it has neither registered nor ended */
        int n, n_awaited;
        bool over;
        bool has_key;       /* one has brought the key of the application's files */
        uv_timer_t timeout; /* runs while some are awaited */
        VEC(struct waiting_config) configs;
};

struct cluster_backend {
        struct scheduler_backend backend;
        struct fst_context *sc;
        struct job_runner *runner;
        struct executor_manager *manager;
        uv_loop_t loop;
        uv_async_t wake;
        uv_timer_t deadline, expiry, drain, memory_check;
        struct slot_monitor *watch; /* of no slots, for the memory of this process; NULL: no control group */
        bool drained;               /* DRAIN_MS have passed */
        struct security *security;
        bool made_secret;     /* this driver made the secret of spark.authenticate */
        struct rpc_port port; /* bound before the application has its id */
        struct rpc_env *rpc;
        struct executor_table executors;
        struct stage_shipping *stages;
        struct driver_transfer *transfer;
        struct shuffle_service_cleanup *service_cleanup; /* NULL: no shuffle service */
        uint8_t io_secret[MAX_FILE_SECRET];              /* executors derive the keys of their files from it */
        size_t io_secret_len;                            /* 0: no encryption */
        struct strmap settings;                          /* the executors' configuration; empty until the first asks */
        struct buf tokens;                               /* the latest delegation tokens */
        size_t unmeasured_results; /* bytes of results since the memory of this process was last measured */
        int64_t heartbeat_timeout_ms;
        int64_t decommission_ms; /* spark.executor.decommission.forceKillTimeout; -1: no limit */
        int requested;           /* number of executors; -1: never requested */
        struct string_list excluded_hosts;
        int epoch;                /* of this driver among those of the application; 0: it has no journal */
        struct adoption adoption; /* of the executors of an earlier driver */
        bool stopping;            /* StopExecutor was sent */
        bool closing;  /* the scheduler is gone: report nothing to it */
};

/* ------------------------------------------------------------------------------------------- cluster_backend.c */

/* Send an executor its collected messages. */
void cluster_flush(struct remote_executor *x);

/* Collect a removal for an executor. */
void cluster_append_removal(struct cluster_backend *b, struct remote_executor *x, const Firesteel__Remove *removal);

/* Count a run's results and fetch those that did not come with the status. The run is done when all have arrived. */
void cluster_fetch_results(struct cluster_backend *b, struct remote_executor *x, struct task_batch *run);

/* As scheduler_backend_class.remove_output. */
void cluster_remove_output(struct scheduler_backend *backend, int executor, int shuffle_id, int map_partition,
                           int64_t task_id);

/* Whether a result of the run is still being fetched. */
bool cluster_awaits_results(const struct task_batch *run);

/* Send all executors StopExecutor. */
void cluster_stop_executors(struct cluster_backend *b);

/* --------------------------------------------------------------------------------------------- executor_loss.c */

/* An executor is lost, with its tasks and outputs. Call once for each. Does nothing once the scheduler is gone. */
void cluster_lose(struct cluster_backend *b, struct remote_executor *x, bool caused_by_app, const char *reason);

/*
 * The connection is lost: the executor gets no tasks until its manager gives the reason. As
 * rpc_endpoint_class.disconnected.
 */
void cluster_disconnected(void *backend, struct rpc_peer *peer, const char *why);

/* Send a new executor the list of all lost executors. */
void cluster_broadcast_lost_executors(struct cluster_backend *b, const struct remote_executor *to);

/* A timer callback, with the backend as data: loses executors whose heartbeats have timed out. */
void cluster_look_for_expired(uv_timer_t *timer);

/* ----------------------------------------------------------------------------------------- executor_requests.c */

/*
 * Kill an executor. @replace keeps the requested number, otherwise it falls by one. As in Spark, it is counted from the
 * running executors if none was requested. Does nothing once the scheduler is gone.
 */
void cluster_kill(struct cluster_backend *b, const char *executor_id, bool replace);

/* As the slots of these names in scheduler_backend_class. */
bool cluster_request_executors(struct scheduler_backend *backend, const struct executor_request *requests, int n);
bool cluster_request_more(struct scheduler_backend *backend, int more);
bool cluster_lends_cores(struct scheduler_backend *backend);
int64_t cluster_expected_cores(struct scheduler_backend *backend, double *ratio);
const char *cluster_rack(struct scheduler_backend *backend, const char *host);
void cluster_host_excluded(struct scheduler_backend *backend, const char *host, bool excluded);
int cluster_kill_executors(struct scheduler_backend *backend, const char *const *ids, int n);
int cluster_remove_executors(struct scheduler_backend *backend, const int32_t *executors, int n, bool decommission,
                             int32_t *accepted);

bool cluster_ask_threads(struct scheduler_backend *backend, const char *executor_id,
                         void (*answered)(void *owner, const uint8_t *dump, size_t len), void *owner);

/* Read the configuration of decommissioning. Returns 0, or a negative status with @error for unsupported settings. */
int cluster_read_decommission(struct cluster_backend *b, struct fst_error *error);

/* Let an executor finish its tasks, take no new ones, and end. */
void cluster_decommission(struct cluster_backend *b, struct remote_executor *x, bool host_too, const char *reason);

/* ------------------------------------------------------------------------------------ remote_shuffle_backend.c */

/* Makes the place for map outputs outside of executors that the configuration names, if any. Returns 0, or negative with
 * @error, which names the key. */
int cluster_remote_shuffle_start(struct cluster_backend *b, struct fst_error *error);

/* Passes on an executor's question. The reply follows through cluster_remote_shuffle_reply. */
void cluster_remote_shuffle_ask(struct cluster_backend *b, struct rpc_message *m);

/* Sends the answers to such questions. */
void cluster_remote_shuffle_reply(struct cluster_backend *b);

/* ------------------------------------------------------------------------------------------------- adoption.c */

/* Tells the manager about the executors of an earlier driver. Before it starts. */
void cluster_adopt(struct cluster_backend *b);

/* Ends this process if another driver has the application. Else checks the registration of an executor that had an
 * earlier driver. Returns 0, or negative with @error: refuse it. */
int cluster_adoption_check(struct cluster_backend *b, const Firesteel__RegisterExecutor *r, struct fst_error *error);

/*
 * A new executor must not get a key before those of an earlier driver have brought theirs. Returns true if it gets its
 * configuration later, by cluster_send_config; @epoch as in RetrieveAppConfig.
 */
bool cluster_adoption_defers_config(struct cluster_backend *b, struct rpc_message *m, int epoch, int resource_profile);

/* It is registered: takes what it brings. */
void cluster_adoption_registered(struct cluster_backend *b, struct remote_executor *x,
                                 const Firesteel__Holdings *holdings);

/* The backend ends: executors that wait for their configuration get none. */
void cluster_adoption_deinit(struct cluster_backend *b);

/* An executor has ended without having registered with this driver. Returns true if the driver awaited it as one of an
 * earlier driver. */
bool cluster_adoption_ended(struct cluster_backend *b, const char *id);

/* As the slots of these names in scheduler_backend_class. */
bool cluster_is_adopting(struct scheduler_backend *backend);
void cluster_end_adoption(struct scheduler_backend *backend, const int *rdds, int n);
void cluster_settle_run(struct scheduler_backend *backend, const struct held_batch *run, bool adopted);
void cluster_job_submitted(struct scheduler_backend *backend);

/* Launches a batch that the executor runs or has run: it learns whose it is. */
void cluster_launch_held(struct cluster_backend *b, struct remote_executor *x, struct task_batch *run);

/* Batches of an earlier driver do not run any more, by their first tasks, and nobody had adopted them. */
void cluster_held_runs_ended(struct cluster_backend *b, struct remote_executor *x, const int64_t *first_ids, size_t n);

/* Takes BlockUpdates of an executor with such batches. */
void cluster_held_runs_updated(struct cluster_backend *b, struct remote_executor *x, const struct rpc_message *m);

/*
 * Creates a secret if none is set and the manager can pass it to the executors, or takes that of an earlier driver.
 * Returns 0, or negative with @error.
 */
int cluster_ensure_secret(struct cluster_backend *b, struct fst_error *error);

/* An executor refuses this driver. */
void cluster_refused(struct cluster_backend *b, const struct rpc_message *m);

/* ------------------------------------------------------------------------------------------- driver_endpoint.c */

/* Sends an executor the application's configuration: the reply to @call. */
void cluster_send_config(struct cluster_backend *b, struct rpc_call *call, int resource_profile);

/* "CoarseGrainedScheduler", with the backend as owner. */
extern const struct rpc_endpoint_class driver_endpoint_class;
