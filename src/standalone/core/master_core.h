/* The core of a standalone master: it decides where executors and drivers run, without sockets and files.
 *
 *      struct master *m = master_new(&config);
 *      master_elected(m, NULL, 0, NULL, 0, NULL, 0, now);
 *      master_register_worker(m, peer, &worker, now);   → MASTER_STORE, MASTER_WORKER_REGISTERED
 *      master_register_app(m, peer, &app, now);         → MASTER_STORE, MASTER_APP_REGISTERED
 *      master_schedule(m, now);                         → MASTER_LAUNCH_EXECUTOR, MASTER_EXECUTOR_ADDED for each
 *      master_executor_changed(m, app, 0, EXECUTOR_EXITED, NULL, &status, now);  → MASTER_EXECUTOR_UPDATED
 *      while ((action = master_next_action(m))) …
 *
 * The core is pure (docs/pure-cores.md): each function takes an event and the time, changes state and appends
 * actions. It opens nothing, reads no clock and starts no thread. One thread makes all calls. Pages, JSON and records
 * read the state between calls (master_state.h).
 *
 * Only master_schedule places executors and drivers. The owner calls it once after each batch of events, so that a
 * thousand applications that arrive together cost one pass. A pass looks only at objects that may have changed since
 * the last one.
 *
 * Times are nanoseconds of a monotonic clock. Struct master_config holds its offset to the time of day, which only
 * ids and pages show. Memory is in MiB. The core copies strings, arrays and bodies that it is given.
 *
 * States, ids, limits and messages are those of Spark 4's Master. Docs/differences.md lists the exceptions.
 */
#pragma once

#include "base/clock.h"
#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct master;
struct master_worker;
struct master_app;
struct master_driver;
struct master_executor;
struct fst_error;

/* Spark's names; master_…_name() returns them as text. */
enum master_status { MASTER_STANDBY, MASTER_ALIVE, MASTER_RECOVERING, MASTER_COMPLETING_RECOVERY };
enum worker_state { WORKER_ALIVE, WORKER_DEAD, WORKER_DECOMMISSIONED, WORKER_UNKNOWN };
enum app_state {
        APP_WAITING,
        APP_RUNNING,
        APP_FINISHED,
        APP_FAILED,
        APP_KILLED,
        APP_UNKNOWN,
        APP_WAITING_FOR_DRIVER, /* its driver is gone, and the next one may resume it; not a state of Spark */
};
enum executor_state {
        EXECUTOR_LAUNCHING,
        EXECUTOR_RUNNING,
        EXECUTOR_KILLED,
        EXECUTOR_FAILED,
        EXECUTOR_LOST,
        EXECUTOR_EXITED,
        EXECUTOR_DECOMMISSIONED,
};
enum driver_state {
        DRIVER_SUBMITTED,
        DRIVER_RUNNING,
        DRIVER_FINISHED,
        DRIVER_RELAUNCHING,
        DRIVER_UNKNOWN,
        DRIVER_KILLED,
        DRIVER_FAILED,
        DRIVER_ERROR,
};

const char *master_status_name(enum master_status status);
const char *worker_state_name(enum worker_state state);
const char *app_state_name(enum app_state state);
const char *executor_state_name(enum executor_state state);
const char *driver_state_name(enum driver_state state);

/* Sets *@state to the state of that name. Returns false, and leaves *@state unchanged, for an unknown name. */
bool executor_state_named(const char *name, enum executor_state *state);
bool driver_state_named(const char *name, enum driver_state *state);

/* Returns true for KILLED, FAILED, LOST and EXITED. */
bool executor_state_is_finished(enum executor_state state);

/* spark.deploy.workerSelectionPolicy: the order in which suitable workers are chosen; ties are broken by id. */
enum worker_selection { CORES_FREE_DESC, CORES_FREE_ASC, MEMORY_FREE_DESC, MEMORY_FREE_ASC, WORKER_BY_ID };

struct master_config {
        bool spread_out_apps;    /* spark.deploy.spreadOutApps: use as many workers as possible, or as few */
        bool spread_out_drivers; /* spark.deploy.spreadOutDrivers: choose workers at random, or the first by id */
        enum worker_selection selection;
        int default_cores;        /* spark.deploy.defaultCores: for an application without spark.cores.max */
        int max_drivers;          /* spark.deploy.maxDrivers: the most drivers that run at once */
        int max_executor_retries; /* spark.deploy.maxExecutorRetries; negative: failed executors never fail the
                                     application */
        int retained_apps, retained_drivers; /* spark.deploy.retainedApplications, .retainedDrivers */
        int64_t worker_timeout;              /* spark.worker.timeout */
        int reaper_iterations; /* spark.dead.worker.persistence: timeouts during which the pages still show a dead
                                  worker */
        int64_t app_timeout;   /* spark.firesteel.standalone.reconnectTimeout: how long a disconnected application may
                                  register again; 0: the master removes it at once */
        int64_t recovery_timeout;      /* spark.deploy.recoveryTimeout; 0: worker_timeout */
        int app_number_modulo;         /* spark.deploy.appNumberModulo; 0: none */
        const char *app_id_pattern;    /* spark.deploy.appIdPattern */
        const char *driver_id_pattern; /* spark.deploy.driverIdPattern */
        bool app_name_as_id;           /* spark.master.useAppNameAsAppId.enabled */
        int64_t wall_offset;           /* to add to `now` for the time of day since 1970 */
        uint64_t seed;                 /* seed of the random order for spread-out drivers */
        enum log_level log_level;      /* the core formats no lines of lower levels */
};

/* Spark's defaults. */
#define MASTER_CONFIG_DEFAULT                                                                                          \
        ((struct master_config){.spread_out_apps = true,                                                               \
                                .spread_out_drivers = true,                                                            \
                                .default_cores = INT32_MAX,                                                            \
                                .max_drivers = INT32_MAX,                                                              \
                                .max_executor_retries = 10,                                                            \
                                .retained_apps = 200,                                                                  \
                                .retained_drivers = 200,                                                               \
                                .worker_timeout = 60 * NS_PER_SECOND,                                                  \
                                .reaper_iterations = 15,                                                               \
                                .log_level = LOG_INFO,                                                                 \
                                .app_id_pattern = "app-%s-%04d",                                                       \
                                .driver_id_pattern = "driver-%s-%04d"})

/* An amount of a custom resource that an executor or driver needs. */
struct resource_need {
        const char *name; /* "gpu" */
        int amount;
};

/* Addresses of a custom resource: those of a worker, or those assigned to an executor or driver. */
struct resource_addresses {
        const char *name;
        const char *const *addresses;
        int n;
};

/* Encoded data that the core stores without reading it (a command, an environment). */
struct master_body {
        const void *data;
        size_t size;
};

struct worker_spec {
        const char *id; /* chosen by the worker: worker-<date>-<host>-<port> */
        const char *host;
        int port; /* host and port are the address; no two live workers share one */
        const char *web_ui;
        int cores;
        int64_t memory;
        const struct resource_addresses *resources;
        int n_resources;
};

/* The needs of each executor of a resource profile. Id 0 is the application's default profile. */
struct executor_profile {
        int id;
        int cores; /* 0: one executor takes all cores that a worker can give */
        int64_t memory;
        const struct resource_need *needs;
        int n_needs;
        struct master_body body;
};

/* What the driver of an application with a journal tells (spark.firesteel.resume.enabled). */
struct app_resume {
        int epoch;         /* of the journal: counts the drivers of the application; 0: another cannot resume it */
        int64_t timeout;   /* how long the master keeps the application and its executors for the next driver */
        const char *token; /* that only drivers of the application know */
};

#define MAX_RESUME_TIMEOUT (366 * 24 * 3600 * NS_PER_SECOND)

struct app_spec {
        const char *name, *user, *ui_url;
        const char *address;   /* of its driver, "host:port"; no two live applications share one */
        const char *app_id;    /* assigned earlier; NULL or "": none. Not stored */
        const char *resume_id; /* assigned to an earlier driver; NULL or "": this is the first one. Not stored */
        struct app_resume resume;
        int next_executor;     /* earlier drivers had executors with lower ids. Not stored */
        int max_cores;         /* spark.cores.max; 0: not set */
        int initial_executors; /* limit until the application requests others; negative: none */
        struct executor_profile profile;
        struct master_body body;
};

struct driver_spec {
        const char *main_class;
        int cores;
        int64_t memory;
        bool supervise;            /* launched again under a new id when its worker is lost */
        const char *submission_id; /* its first id; NULL or "": this is the first launch */
        const struct resource_need *needs;
        int n_needs;
        struct master_body body;
};

/* An executor in a worker's report. */
struct executor_report {
        const char *app_id;
        int id, profile, cores;
        int64_t memory;
        enum executor_state state;
        const struct resource_addresses *resources;
        int n_resources;
};

struct driver_report {
        const char *id;
        const struct resource_addresses *resources;
        int n_resources;
};

/* Stored records, which a new leader reads. */
struct app_record {
        const char *id;
        int64_t submitted; /* time of day, ms */
        bool waiting;      /* for its next driver */
        int next_executor; /* of an application with a journal: no executor has had this id or a higher one */
        struct app_spec spec;
};

struct driver_record {
        const char *id;
        int64_t submitted;
        bool launched; /* false: it was waiting for a worker */
        struct driver_spec spec;
};

enum master_record {
        MASTER_RECORD_APP,
        MASTER_RECORD_DRIVER,
        MASTER_RECORD_WORKER,
        MASTER_RECORD_FRAMEWORK, /* of a Mesos dispatcher, not of a master */
};

/* Actions that the owner must carry out. An action for a worker or application goes to `peer`. The owner drops the
 * action if `peer` is 0 (not connected), except that for MASTER_CHANGED_… it connects to the address.
 */
enum master_action_kind {
        /* record, id, object: store `object` (struct master_app, _driver or _worker) under `id`, replacing; or remove
         * it. Nothing that follows MASTER_STORE may leave the process before the record is durable.
         */
        MASTER_STORE,
        MASTER_REMOVE,

        /* To a worker. */
        MASTER_WORKER_REGISTERED, /* worker, again: it was registered already. It answers with master_worker_state */
        MASTER_WORKER_REFUSED,    /* text: the reason */
        MASTER_RECONNECT_WORKER,  /* to a worker that believes it is registered but is unknown to this master */
        MASTER_LAUNCH_EXECUTOR,   /* executor, worker */
        MASTER_KILL_EXECUTOR,     /* worker, text: the application's id, executor_id */
        MASTER_LAUNCH_DRIVER,     /* driver, worker */
        MASTER_KILL_DRIVER,       /* worker, text: the driver's id */
        MASTER_APP_FINISHED, /* app. To every worker for which app_concerns is true: it may remove the files. No peer */

        /* To an application. */
        /* app, again: this registration had arrived before. The application has the executors of its earlier drivers
         * that are on a worker, and if the master is recovering those that workers report.
         */
        MASTER_APP_REGISTERED,
        MASTER_EXECUTOR_ADDED, /* executor, worker */
        /* executor, state, text: a message or NULL, exit_status if known, worker: the worker if it is being
         * decommissioned, or NULL
         */
        MASTER_EXECUTOR_UPDATED,
        /* app, text. No worker can hold one of its executors, or its core limit is too low for one. The text has the
         * numbers and the keys to set. Sent once, until the profile gets an executor.
         */
        MASTER_EXECUTORS_DO_NOT_FIT,
        MASTER_APP_REMOVED, /* app: the master ended it; app->state says how */
        /* app. To a driver of the application that is not its newest one: it must end, and may request nothing. */
        MASTER_APP_SUPERSEDED,

        MASTER_WORKER_REMOVED, /* worker, text: the reason. To every application. No peer */

        /* text: the worker's id or the application's address, is_app. To a peer that tried to register: this master
         * does not lead.
         */
        MASTER_IN_STANDBY,

        /* To recovered peers: this master leads now. They answer with master_app_changed and master_worker_state. */
        MASTER_CHANGED_APP,    /* app */
        MASTER_CHANGED_WORKER, /* worker */

        MASTER_LEADERSHIP_LOST, /* another master leads: exit */
        MASTER_LOG_LINE,        /* level, text */
};

/* `kind` determines which members are set. Read-only. */
struct master_action {
        enum master_action_kind kind;
        uint64_t peer;
        struct master_worker *worker;
        union {
                struct master_app *app;
                struct master_executor *executor;
                struct master_driver *driver;
                const void *object;
        };
        union {
                const char *id;
                struct {
                        bool has_exit_status;
                        int exit_status;
                };
        };
        union {
                enum master_record record;
                enum executor_state state;
                enum log_level level;
                int executor_id;
                bool again, is_app;
        };
        char *text; /* owned by the action */
};

/* Returns 0, or -EINVAL with the configuration key and the problem: an invalid pattern, a modulo below 1000, default
 * cores or drivers below 1.
 */
int master_config_check(const struct master_config *config, struct fst_error *error);

/* Returns a master in standby, never NULL. @config must pass master_config_check. It is copied. */
struct master *master_new(const struct master_config *config);

/* Drops actions that are still queued. NULL is allowed. */
void master_free(struct master *m);

/* Takes the oldest action out; NULL: the queue is empty. The action is borrowed until the next call. The objects that
 * it names stay until the queue is empty, even if the master has forgotten them.
 */
const struct master_action *master_next_action(struct master *m);

/* Sets the offset between `now` and the time of day. */
void master_set_wall_offset(struct master *m, int64_t offset);

/* This master leads and gets the stored records. Without records it becomes ALIVE. Otherwise it notifies the recorded
 * peers (MASTER_CHANGED_…) and stays RECOVERING until all have answered or recovery_timeout is over. Then it removes
 * workers and applications that did not answer. It relaunches drivers that no worker reported if they are supervised
 * or were never launched. The others end as ERROR. Call it only in standby.
 */
void master_elected(struct master *m, const struct app_record *apps, int n_apps, const struct driver_record *drivers,
                    int n_drivers, const struct worker_spec *workers, int n_workers, int64_t now);

/* → MASTER_LEADERSHIP_LOST. */
void master_revoked(struct master *m, int64_t now);

/* Places waiting drivers and executors. Does nothing unless ALIVE. */
void master_schedule(struct master *m, int64_t now);

/* Time of the next master_tick; INT64_MAX: not before another event. */
int64_t master_deadline(const struct master *m);

/* Removes workers without a heartbeat for worker_timeout, and completes a recovery that takes too long. */
void master_tick(struct master *m, int64_t now);

/* ------------------------------------------------------------------------------------------------ from workers */

/* @peer is the owner's id of the connection, not 0. The reply is MASTER_WORKER_REGISTERED, MASTER_WORKER_REFUSED
 * (another live worker has that address) or MASTER_IN_STANDBY. A worker may register again under the same id over
 * another connection.
 */
void master_register_worker(struct master *m, uint64_t peer, const struct worker_spec *spec, int64_t now);
void master_heartbeat(struct master *m, uint64_t peer, const char *worker_id, int64_t now);

/* A worker reports its executors and drivers, after registering or after a change of master. A recovering master
 * adopts them. Otherwise the master kills unknown ones, and marks as lost those that it launched before the worker
 * registered and that are missing.
 */
void master_worker_state(struct master *m, uint64_t peer, const char *worker_id,
                         const struct executor_report *executors, int n_executors, const struct driver_report *drivers,
                         int n_drivers, int64_t now);

/* The worker keeps files of a live application. With only_own the worker is notified only of the ends of applications
 * that ran on it. Until the worker reports this, it is notified of all.
 */
void master_worker_keeps(struct master *m, const char *worker_id, const char *app_id);
void master_worker_only_own(struct master *m, const char *worker_id, bool only_own);

/* The connection is closed. Ignored if the worker already uses another one. */
void master_worker_disconnected(struct master *m, uint64_t peer, const char *worker_id, int64_t now);

/* Places nothing more on the worker and notifies applications. Warns if it is unknown or decommissioned already. */
void master_decommission_worker(struct master *m, const char *worker_id, int64_t now);

/* Decommissions all workers on these hosts, ignoring case. Returns their number; 0 in standby. */
int master_decommission_hosts(struct master *m, const char *const *hosts, int n, int64_t now);

/* @message and @exit_status may be NULL. Warns about an unknown executor. */
void master_executor_changed(struct master *m, const char *app_id, int executor, enum executor_state state,
                             const char *message, const int *exit_status, int64_t now);

/* @state is FINISHED, KILLED, FAILED or ERROR. Others are refused with a warning. @exception may be NULL. */
void master_driver_changed(struct master *m, const char *driver_id, enum driver_state state, const char *exception,
                           int64_t now);

/* ------------------------------------------------------------------------------------------- from applications */

/* → MASTER_APP_REGISTERED or MASTER_IN_STANDBY. An application that registers twice from one address keeps its id.
 *
 * A driver whose spec->resume_id is a live application, and that knows its token, takes it over with its id and
 * executors if its epoch is higher than that of the last driver. If the last one is still connected, it is superseded
 * (MASTER_APP_SUPERSEDED), and the executors, which are connected to it, are killed. With a lower epoch the driver is
 * superseded itself. If the application is gone, the driver gets a new id.
 */
void master_register_app(struct master *m, uint64_t peer, const struct app_spec *spec, int64_t now);
void master_unregister_app(struct master *m, const char *app_id, int64_t now);

/* Removes the application unless it registers again with its id within app_timeout; until then it gets no executors.
 * With a journal it is WAITING_FOR_DRIVER meanwhile, for at least spec->resume.timeout, and its next driver may come.
 */
void master_app_disconnected(struct master *m, uint64_t peer, const char *app_id, int64_t now);

/* The total number of executors that an application wants of a profile. */
struct executor_target {
        struct executor_profile profile;
        int executors;
};

/* The answer to MASTER_CHANGED_APP. @targets: the current targets; @next_executor: one above the highest executor id
 * so far. Records hold neither, since both change too often.
 */
void master_app_changed(struct master *m, uint64_t peer, const char *app_id, const struct executor_target *targets,
                        int n_targets, int next_executor, int64_t now);

/* Returns false for an unknown application. Profiles not listed keep their targets. Kills nothing. */
bool master_request_executors(struct master *m, const char *app_id, const struct executor_target *targets, int n,
                              int64_t now);

/* Returns false for an unknown application. Warns about unknown executors. Call master_request_executors first with a
 * lower target.
 */
bool master_kill_executors(struct master *m, const char *app_id, const int *executors, int n, int64_t now);

/* ----------------------------------------------------------------- from submission gateways and from the pages */

struct master_reply {
        bool success;
        char *driver_id; /* owned; NULL if there is none */
        char *message;   /* owned, shown to the user */
};

void master_reply_deinit(struct master_reply *reply);

/* Only an ALIVE master accepts these requests. master_kill_driver also accepts the id of a submission whose driver was
 * launched again under another id.
 */
struct master_reply master_submit_driver(struct master *m, const struct driver_spec *spec, int64_t now);
struct master_reply master_kill_driver(struct master *m, const char *driver_id, int64_t now);
struct master_reply master_kill_all_drivers(struct master *m, int64_t now);

/* Returns the driver, running or retained, or NULL if there is no such driver. For the id of a submission whose driver
 * was launched again it is the last driver. If the master is not ALIVE, *@message says so (owned by the caller).
 * Otherwise it is NULL.
 */
const struct master_driver *master_driver_status(const struct master *m, const char *driver_id, char **message);

/* Ends an application as KILLED (the kill button). Returns false for an unknown application. */
bool master_kill_app(struct master *m, const char *app_id, int64_t now);

/* Forgets ended applications and drivers. */
void master_clear_completed(struct master *m);
