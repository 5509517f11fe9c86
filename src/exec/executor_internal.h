/* Inside an executor (executor.h): shared by its files only. On the loop's thread, where nothing else is said. */
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
#include "rpc/rpc.h"

#include <pthread.h>
#include <time.h>

#include <uv.h>

struct driver_asks;
struct executor_data;
struct executor_stages;
struct first_ask;
struct isolation;
struct migration;
struct security;
struct slot_watch;
struct worker_watcher;
struct zygote;

struct executor {
        const struct executor_options *options;
        struct fst_conf conf;
        uv_loop_t loop;
        uv_async_t wake;            /* the outbox has something */
        uv_timer_t heartbeat, look; /* look: at what slot_watch watches */
        uv_signal_t terminated, decommission;
        struct security *security;
        struct rpc_env *rpc;
        struct rpc_ref *driver;
        struct first_ask *first_ask; /* NULL: nothing waits for the driver's answer */
        struct driver_asks *asks;
        struct exec_env env;
        struct executor_data *data;
        char *app_id, *driver_host;
        int driver_port;
        struct buf files; /* packed Files, until there is somebody to know them */
        struct executor_stages *stages;
        struct lost_executors lost;    /* others that are gone */
        struct buf io_secret;          /* of the keys of local files */
        struct buf tokens;             /* delegation tokens, as the driver last sent them */
        struct worker_watcher *worker; /* NULL: no worker started this executor */
        bool worker_lost;
        bool decommissioned;
        struct migration *migration; /* of a decommissioned one; NULL: nothing is moved */
        int64_t reported_ns;         /* when outcomes of tasks were last sent */
        struct slot **slots;
        struct slot_watch *watch;
        int index; /* the scheduler's number for this executor */
        int64_t max_direct_result;

        pthread_mutex_t lock;        /* of what follows */
        struct task_batch **running; /* by slot */
        struct task_batch *spare;
        struct buf outbox;    /* StatusUpdate */
        VEC(int64_t) through; /* tasks that were told to end, and have */

        struct buf sending, updates;
        int missed_heartbeats, most_missed;
        bool asking, registered, ended; /* the loop's */
        int exit_status;
        struct zygote *zygote;      /* until isolation has it */
        struct fst_error no_zygote; /* why there is none */
};

/* ------------------------------------------------------------------------------------------------ executor.c */

/* Leave the loop, and the process with @status; only the first call counts. */
void executor_end(struct executor *x, int status);

/* -------------------------------------------------------------------------------------------- executor_runs.c */

/* A run to be filled in and given to executor_stages_run. */
struct task_batch *executor_run_new(struct executor *x);

/* As executor_stages_options.ready, and slot_done_fn (on the slot's thread), with the executor as owner. */
void executor_run_ready(void *executor, struct task_batch *run, const char *why);
void executor_run_done(void *executor, struct task_batch *run);

/* For the handle that says that the outbox has something, and the timer that looks after slots; data: the executor. */
void executor_send_outbox(uv_async_t *handle);
void executor_look(uv_timer_t *timer);

/* No task runs. Any thread. */
bool executor_is_idle(struct executor *x);

/* Start to look after slots: memory and tasks that do not end. Negative with @error. */
int executor_start_watch(struct executor *x, struct fst_error *error);

/* --------------------------------------------------------------------------------------------- decommission.c */

/* The driver sends no more tasks: move what is here, finish what runs, and end. */
void executor_decommission(struct executor *x);

/* A decommissioned executor ends when its tasks have, and all that it had is with others. */
void executor_end_if_decommissioned(struct executor *x);

/* Start to watch for the signal by which somebody here wants this executor gone. */
int executor_watch_signal(struct executor *x, struct fst_error *error);

/* ---------------------------------------------------------------------------------------- executor_endpoint.c */

/* "Executor", with the executor as owner. */
extern const struct rpc_endpoint_class executor_endpoint_class;

/* What comes with the configuration and again later. */
void executor_add_files(struct executor *x, const uint8_t *body, size_t len);
void executor_take_tokens(struct executor *x, const void *tokens, size_t len);
