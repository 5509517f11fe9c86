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
#include "exec/resume/held_runs.h"
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
        struct held_runs held;  /* ended, while no driver wanted them */
        uint32_t driver_number; /* of the current driver; 0: there will be no next one */
        bool holding;           /* there is no driver */
        bool over;              /* there will be none: the executor ends */
        pthread_cond_t adopted; /* a run was adopted or abandoned, or one of the three above has changed */
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

/* The executor ends. And after the loop has ended. */
void executor_resume_stop(struct executor *x);
void executor_resume_free(struct executor *x);

/* ------------------------------------------------------------------------------- resume/executor_held_runs.c */

/* The number of the current driver among those of this executor, from 1; 0: it does not outlive its driver. Any thread. */
uint32_t executor_driver_number(struct executor *x);

/* The driver is lost, or left for another one: outcomes are held. And the executor has registered with the next one. */
void executor_begin_holding(struct executor *x, bool leaves);
void executor_end_holding(struct executor *x);

/* True if the next driver may adopt the batch. Any thread. */
bool executor_may_hold(const struct executor *x, const struct task_batch *run);

/* Returns true if no driver wants the outcome of @run now: it must be held, or, if it is abandoned, dropped. With the
 * lock. */
bool executor_holds(const struct executor *x, const struct task_batch *run);

/* Holds @status, the outcome of @run, or drops it. With the lock. Returns whether the loop must be woken. */
bool executor_hold_outcome(struct executor *x, const struct task_batch *run, struct buf *status);

/* Fails of a batch without a driver do not count. On the slot's thread. */
void executor_excuse_failures(struct task_batch *run);

/*
 * The driver adopts the run that begins with @first_id: it is its own from now on, and if it has ended its outcome is
 * sent. Returns false if there is no such run. And the driver does not want it.
 */
bool executor_adopt_run(struct executor *x, int64_t first_id);
void executor_abandon_run(struct executor *x, int64_t first_id);

/* Kills the tasks that no driver may adopt. Returns false while some of them run. */
bool executor_kill_unheld_tasks(struct executor *x);

/* Adds the held runs to a registration. */
void executor_list_held_runs(struct executor *x, struct Firesteel__Holdings *holdings);

/* True if the task is one of a run that the executor lists so. */
bool executor_holds_task(struct executor *x, int64_t task_id);

/*
 * Waits until the driver has launched or adopted the task's run. Returns false if the task must end, else the driver's
 * number in *@driver. Not on the loop's thread.
 */
bool executor_await_adoption(struct executor *x, int64_t task_id, uint32_t *driver);

/* The connection to the driver with this number has ended: waits until the executor has noticed it. As above. */
void executor_await_loss(struct executor *x, uint32_t driver);

/* The executor ends: nobody waits any more. */
void executor_stop_holding(struct executor *x);

/* -------------------------------------------------------------------------------------------- executor_runs.c */

/* Returns an empty batch for executor_stages_run. */
struct task_batch *executor_batch_new(struct executor *x);

/* The driver adopts a run whose outcome was dropped: reports that its tasks were killed. */
void executor_batch_missing(struct executor *x, struct task_batch *run);

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
