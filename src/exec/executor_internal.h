/* Internal to the executor (executor.h). Everything is used on the loop's thread unless stated otherwise. */
#pragma once

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "exec/exec_env.h"
#include "exec/executor.h"
#include "exec/lost_executors.h"
#include "exec/slot.h"
#include "exec/task_gate.h"
#include "rpc/rpc.h"

#include <pthread.h>
#include <time.h>

#include <uv.h>

struct driver_client;
struct executor_transfer;
struct executor_sinks;
struct executor_resume;
struct executor_stages;
struct gated_task;
struct startup_request;
struct migration;
struct security;
struct slot_monitor;
struct worker_watcher;
struct zygote;
struct Firesteel__Holdings;

struct gate_end {
        int64_t task_id;
        enum task_gate_end how;
};

struct executor {
        const struct executor_options *options;
        struct fst_conf conf;
        uv_loop_t loop;
        uv_async_t wake;            /* signals new data in the outbox */
        uv_timer_t heartbeat, look; /* look: runs slot_monitor */
        uv_signal_t terminated, decommission;
        struct security *security;
        struct rpc_env *rpc;
        struct rpc_ref *driver;
        struct startup_request *first_ask; /* NULL: no startup request is pending */
        struct rpc_peer *peer; /* of the driver with which it has registered; NULL: none */
        int epoch;             /* of that driver; atomic; 0: it has no journal */
        struct executor_resume *resume; /* NULL: the executor ends with its driver */
        struct driver_client *asks;
        struct exec_env env;
        struct executor_transfer *data;
        char *app_id, *driver_host;
        char *resume_application; /* the name of the driver's journal, if executors wait for the next driver; or "" */
        int driver_port;
        struct buf files; /* packed Files that arrived before app_files exists */
        struct executor_stages *stages;
        struct lost_executors lost;    /* other executors */
        struct buf io_secret;          /* for the keys of local files */
        struct worker_watcher *worker; /* NULL: no worker started this executor */
        bool worker_lost;
        bool decommissioned;
        struct migration *migration; /* after decommissioning; NULL: nothing is moved */
        int64_t reported_ns;         /* time when outcomes were last sent */
        struct slot **slots;
        int n_slots; /* one for each core, and as many for batches whose outputs are being stored */
        struct slot_monitor *watch;
        struct executor_sinks *sinks; /* NULL: no sinks */
        int index;                    /* the scheduler's index of this executor */
        int32_t writer;               /* its number for map outputs that outlive it: of its first driver, for good */
        int64_t max_direct_result;
        VEC(struct gated_task *) gated; /* task_gate.c */

        pthread_mutex_t lock;        /* protects the fields below */
        struct task_batch **running; /* by slot */
        int storing;                 /* batches that gave their core back: at most n_slots - cores */
        struct task_batch *spare;
        struct buf outbox;    /* StatusUpdate */
        VEC(int64_t) through; /* killed tasks that have ended */
        VEC(struct gate_end) gate_ends; /* tasks to report to the gate after the outbox */

        struct buf sending, updates;
        int missed_heartbeats, most_missed;
        bool registered, ended; /* used by the loop only */
        int exit_status;
        struct zygote *zygote;      /* until isolation takes it */
        struct fst_error no_zygote; /* why there is no zygote */
};

/* ------------------------------------------------------------------------------------------------ executor.c */

/* Leaves the loop and ends the process with @status. Only the first call has an effect. */
void executor_end(struct executor *x, int status);

/* Kills all tasks. They may end later. */
void executor_kill_all_tasks(struct executor *x);

/* Sends a registration, with @holdings if the executor had an earlier driver. Returns 0, or negative with @error. */
int executor_send_registration(struct executor *x, struct rpc_ref *driver, struct Firesteel__Holdings *holdings,
                               rpc_answer_fn answered, void *owner, struct fst_error *error);

/* ------------------------------------------------------------------------------------------- executor_resume.c */

/*
 * Prepares to wait for the next driver if the configuration says so. @application: the name of the journal; @epoch: of
 * the driver. Returns 0, or negative with @error.
 */
int executor_resume_new(struct executor *x, const char *application, int epoch, struct fst_error *error);

/* True if a message of a driver with @epoch (0: it does not say) is obeyed. */
bool executor_obeys(const struct executor *x, int epoch);

/* True if there is no driver, and the executor looks for the next one. */
bool executor_is_waiting(const struct executor *x);

/* The connection to the driver has ended. Returns false if the executor must end. */
bool executor_driver_lost(struct executor *x, const char *why);

/* A heartbeat is sent, or was answered. */
void executor_resume_heartbeat(struct executor *x, bool answered);

/*
 * How many drivers it has had. And waits, without a driver, until there is another one than that many, or the executor
 * ends. Any thread but the loop's.
 */
uint32_t executor_drivers(struct executor *x);
void executor_await_driver(struct executor *x, uint32_t drivers);

/* The executor ends. And after the loop has ended. */
void executor_resume_stop(struct executor *x);
void executor_resume_free(struct executor *x);

/* -------------------------------------------------------------------------------------------- executor_runs.c */

/* Returns an empty batch for executor_stages_run. */
struct task_batch *executor_batch_new(struct executor *x);

/* As executor_stages_options.ready, and as slot_done_fn (on the slot's thread), with the executor as owner. */
void executor_batch_ready(void *executor, struct task_batch *run, const char *why);
void executor_batch_done(void *executor, struct task_batch *run);

/* Callback of the handle that signals the outbox. Data is the executor. */
void executor_send_outbox(uv_async_t *handle);
void executor_look(uv_timer_t *timer);

/*
 * Marks task @task_id as killed if it runs or its outcome is not yet in the outbox. Returns its slot, or -1. The slot
 * monitor then gets the end of the task, so the caller may start to watch it.
 */
int executor_mark_killed(struct executor *x, int64_t task_id);

/* The number of batches that run. The owner is the executor. Any thread. */
int executor_running_batches(void *executor);

/* True if no task runs. Any thread. */
bool executor_is_idle(struct executor *x);

/* Starts the slot monitor: memory, and tasks that do not end. Returns negative with @error. */
int executor_start_watch(struct executor *x, struct fst_error *error);

/* --------------------------------------------------------------------------------------------- decommission.c */

/* Handles the driver's decommission message: moves data, finishes running tasks, and ends. */
void executor_decommission(struct executor *x);

/* Ends a decommissioned executor when its tasks have ended and its data was moved. */
void executor_end_if_decommissioned(struct executor *x);

/* Starts to handle spark.executor.decommission.signal. */
int executor_watch_signal(struct executor *x, struct fst_error *error);

/* ----------------------------------------------------------------------------------------------- task_gate.c */

/* Takes a launched batch until the gate permits it. Returns false if there is no gate. */
bool executor_gate_holds(struct executor *x, struct task_batch *run);

/* The driver kills a task that waits at the gate. Returns false if it does not. */
bool executor_gate_kills(struct executor *x, int64_t task_id);

/* A task has ended, and the driver was told. */
void executor_gate_ended(struct executor *x, int64_t task_id, enum task_gate_end how);

void executor_gate_free(struct executor *x);

/* ---------------------------------------------------------------------------------------- executor_endpoint.c */

/* The endpoint "Executor", with the executor as owner. */
extern const struct rpc_endpoint_class executor_endpoint_class;

/* Adds files that arrive with the configuration or later. */
void executor_add_files(struct executor *x, const uint8_t *body, size_t len);

/* From now on, the executor and its task processes use these delegation tokens of the driver. None: those of the
 * environment stay. */
void executor_take_tokens(struct executor *x, const void *tokens, size_t len);
