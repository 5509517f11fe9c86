/*
 * The master of a standalone cluster, without its sockets and files: workers, applications and drivers come in,
 * executors and drivers to launch come out.
 *
 *      struct master *m = master_new(&config);
 *      master_elected(m, NULL, 0, NULL, 0, NULL, 0, now);
 *      master_register_worker(m, peer, &worker, now);   → MASTER_STORE, MASTER_WORKER_REGISTERED
 *      master_register_app(m, peer, &app, now);         → MASTER_STORE, MASTER_APP_REGISTERED
 *      master_schedule(m, now);                         → MASTER_LAUNCH_EXECUTOR, MASTER_EXECUTOR_ADDED for each
 *      master_executor_changed(m, app, 0, EXECUTOR_EXITED, NULL, &status, now);  → MASTER_EXECUTOR_UPDATED
 *      while ((action = master_next_action(m))) …
 *
 * It is pure (docs/architecture.md): every function takes what happened and when, changes state and appends actions.
 * It opens nothing, reads no clock and starts no thread. All calls come from one thread. What it holds may be looked at
 * between calls (master_state.h): that is what pages, JSON and records are made of.
 *
 * Nothing is placed outside master_schedule: whoever owns the master calls it once after each batch of events, so
 * that a thousand applications that come at once cost one pass. It looks only at what may have changed since the last.
 *
 * Times are milliseconds of any clock that never goes back; struct master_config says how far it is from the time
 * of day, which only ids and pages show. Memory is in MiB. Strings, arrays and bodies given to a function are copied.
 * States, ids, limits and messages are those of Spark 4's Master; docs/differences.md has what is not.
 */
#pragma once

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

/* As Spark names them, with master_…_name(). */
enum master_status { MASTER_STANDBY, MASTER_ALIVE, MASTER_RECOVERING, MASTER_COMPLETING_RECOVERY };
enum worker_state { WORKER_ALIVE, WORKER_DEAD, WORKER_DECOMMISSIONED, WORKER_UNKNOWN };
enum app_state { APP_WAITING, APP_RUNNING, APP_FINISHED, APP_FAILED, APP_KILLED, APP_UNKNOWN };
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

/* The state of that name: false, and *@state as it was, if there is none. */
bool executor_state_named(const char *name, enum executor_state *state);
bool driver_state_named(const char *name, enum driver_state *state);

/* KILLED, FAILED, LOST or EXITED. */
bool executor_state_is_finished(enum executor_state state);

/* spark.deploy.workerSelectionPolicy: which of the workers that could is taken first. Equal ones go by id. */
enum worker_selection { CORES_FREE_DESC, CORES_FREE_ASC, MEMORY_FREE_DESC, MEMORY_FREE_ASC, WORKER_BY_ID };

struct master_config {
        bool spread_out_apps;    /* spark.deploy.spreadOutApps: over as many workers as possible, or as few */
        bool spread_out_drivers; /* spark.deploy.spreadOutDrivers: at random, or the first worker by id */
        enum worker_selection selection;
        int default_cores;        /* spark.deploy.defaultCores: of an application that sets no spark.cores.max */
        int max_drivers;          /* spark.deploy.maxDrivers: that run at once */
        int max_executor_retries; /* spark.deploy.maxExecutorRetries; negative: an application never fails of it */
        int retained_apps, retained_drivers; /* spark.deploy.retainedApplications, .retainedDrivers */
        int64_t worker_timeout;              /* spark.worker.timeout, ms */
        int reaper_iterations;         /* spark.dead.worker.persistence: timeouts for which a dead worker is shown */
        int64_t app_timeout;           /* spark.firesteel.standalone.reconnectTimeout, ms: so long may an application
                                           that lost its connection come back; 0: it is removed at once */
        int64_t recovery_timeout;      /* spark.deploy.recoveryTimeout, ms; 0: worker_timeout */
        int app_number_modulo;         /* spark.deploy.appNumberModulo; 0: none */
        const char *app_id_pattern;    /* spark.deploy.appIdPattern */
        const char *driver_id_pattern; /* spark.deploy.driverIdPattern */
        bool app_name_as_id;           /* spark.master.useAppNameAsAppId.enabled */
        int64_t wall_offset;           /* what to add to `now` for the time of day, ms since 1970 */
        uint64_t seed;                 /* of the order in which drivers are spread out */
        enum log_level log_level;      /* what is more talkative is not even put into words */
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
                                .worker_timeout = 60000,                                                               \
                                .reaper_iterations = 15,                                                               \
                                .log_level = LOG_INFO,                                                                 \
                                .app_id_pattern = "app-%s-%04d",                                                       \
                                .driver_id_pattern = "driver-%s-%04d"})

/* So many of a custom resource, for an executor or a driver. */
struct resource_need {
        const char *name; /* "gpu" */
        int amount;
};

/* The addresses of a custom resource: what a worker has, or what an executor or driver was given. */
struct resource_addresses {
        const char *name;
        const char *const *addresses;
        int n;
};

/* Whatever its owner needs to know besides (a command, an environment), as it was encoded: kept, not read. */
struct master_body {
        const void *data;
        size_t size;
};

struct worker_spec {
        const char *id; /* the worker made it: worker-<date>-<host>-<port> */
        const char *host;
        int port; /* with host, its address: no two workers that live have the same */
        const char *web_ui;
        int cores;
        int64_t memory;
        const struct resource_addresses *resources;
        int n_resources;
};

/* What each executor of a resource profile needs. The id 0 is the application's default profile. */
struct executor_profile {
        int id;
        int cores; /* 0: one executor takes what a worker can give */
        int64_t memory;
        const struct resource_need *needs;
        int n_needs;
        struct master_body body;
};

struct app_spec {
        const char *name, *user, *ui_url;
        const char *address;   /* of its driver, "host:port": no two applications that live have the same */
        const char *app_id;    /* that it was given before; NULL or "": none. Not stored */
        int max_cores;         /* spark.cores.max; 0: not set */
        int initial_executors; /* limit until it asks for others; negative: none */
        struct executor_profile profile;
        struct master_body body;
};

struct driver_spec {
        const char *main_class;
        int cores;
        int64_t memory;
        bool supervise; /* launched again when its worker is lost, under a new id */
        const struct resource_need *needs;
        int n_needs;
        struct master_body body;
};

/* An executor as a worker tells of it. */
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

/* What was stored and is read again by a master that becomes leader. */
struct app_record {
        const char *id;
        int64_t submitted; /* time of day, ms */
        struct app_spec spec;
};

struct driver_record {
        const char *id;
        int64_t submitted;
        bool launched; /* false: it still waited for a worker */
        struct driver_spec spec;
};

enum master_record { MASTER_RECORD_APP, MASTER_RECORD_DRIVER, MASTER_RECORD_WORKER };

/*
 * What the master wants done. An action for a worker or application goes to `peer`. If that is 0, nobody is connected,
 * and the owner drops the action; only for MASTER_CHANGED_… it connects to the address.
 */
enum master_action_kind {
        /*
         * record, id, object: store `object` (struct master_app, _driver or _worker) under `id`, replacing; or remove
         * it. Nothing that comes after MASTER_STORE may be seen outside before the record is safe.
         */
        MASTER_STORE,
        MASTER_REMOVE,

        /* To a worker. */
        MASTER_WORKER_REGISTERED, /* worker, again: it was registered already. It answers with master_worker_state */
        MASTER_WORKER_REFUSED,    /* text: why */
        MASTER_RECONNECT_WORKER,  /* it takes itself for registered, and this master does not know it */
        MASTER_LAUNCH_EXECUTOR,   /* executor, worker */
        MASTER_KILL_EXECUTOR,     /* worker, text: the application's id, executor_id */
        MASTER_LAUNCH_DRIVER,     /* driver, worker */
        MASTER_KILL_DRIVER,       /* worker, text: the driver's id */
        MASTER_APP_FINISHED,      /* app. To every worker that app_concerns: its files may be removed. No peer */

        /* To an application. */
        MASTER_APP_REGISTERED, /* app, again: its registration had arrived already */
        MASTER_EXECUTOR_ADDED, /* executor, worker */
        /* executor, state, text: a message or NULL, exit_status if known, worker: it is leaving as a whole, or NULL */
        MASTER_EXECUTOR_UPDATED,
        /*
         * app, text. No worker could hold one of its executors, or it may not have the cores for one: the text has the
         * numbers and what to set. Once, until it has had one.
         */
        MASTER_EXECUTORS_DO_NOT_FIT,
        MASTER_APP_REMOVED, /* app: it ended, and not by its own wish; app->state says how */

        MASTER_WORKER_REMOVED, /* worker, text: why. To every application. No peer */

        /* text: the worker's id or the application's address, is_app. To who wanted to register: it does not lead. */
        MASTER_IN_STANDBY,

        /* This master leads now: to what it recovered. The answers are master_app_changed and master_worker_state. */
        MASTER_CHANGED_APP,    /* app */
        MASTER_CHANGED_WORKER, /* worker */

        MASTER_LEADERSHIP_LOST, /* another master leads: end this process */
        MASTER_LOG_LINE,        /* level, text */
};

/* The kind says which members are set. Never to be changed. */
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

/*
 * 0, or -EINVAL with the configuration key and what is wrong with it: a pattern that is not one, a modulo below 1000,
 * default cores or drivers below 1.
 */
int master_config_check(const struct master_config *config, struct fst_error *error);

/* @config must pass master_config_check and is copied. In standby. Never NULL. */
struct master *master_new(const struct master_config *config);

/* Actions that nobody took out are dropped. NULL is allowed. */
void master_free(struct master *m);

/*
 * Takes the oldest action out; NULL: there is none. The action is borrowed until the next call; the objects that it
 * names stay until the queue is empty, even if the master has forgotten them meanwhile.
 */
const struct master_action *master_next_action(struct master *m);

/* The time of day was set: what `now` is away from it. */
void master_set_wall_offset(struct master *m, int64_t offset);

/*
 * This master leads, and this is what was stored. With nothing stored it is ALIVE; else it asks what was recorded
 * (MASTER_CHANGED_…) and is RECOVERING until all have answered or recovery_timeout is over. Then workers and
 * applications that did not answer are removed, and drivers that no worker has are launched again if supervised or
 * never launched, else end as ERROR. Only from standby.
 */
void master_elected(struct master *m, const struct app_record *apps, int n_apps, const struct driver_record *drivers,
                    int n_drivers, const struct worker_spec *workers, int n_workers, int64_t now);

/* → MASTER_LEADERSHIP_LOST. */
void master_revoked(struct master *m, int64_t now);

/* Place what waits and can be placed; nothing unless ALIVE. */
void master_schedule(struct master *m, int64_t now);

/* When master_tick has something to do; INT64_MAX: not before another event. */
int64_t master_deadline(const struct master *m);

/* Workers that sent no heartbeat for worker_timeout are lost; a recovery that waits for too long is completed. */
void master_tick(struct master *m, int64_t now);

/* ------------------------------------------------------------------------------------------------ from workers */

/*
 * @peer is the owner's name for the connection, not 0. Answered by MASTER_WORKER_REGISTERED, MASTER_WORKER_REFUSED
 * (another worker lives at that address) or MASTER_IN_STANDBY. Registering again under the same id over another
 * connection is allowed.
 */
void master_register_worker(struct master *m, uint64_t peer, const struct worker_spec *spec, int64_t now);
void master_heartbeat(struct master *m, uint64_t peer, const char *worker_id, int64_t now);

/*
 * What runs on a worker, after it has registered or heard that the master changed. A recovering master takes it over.
 * Otherwise what the master does not know is killed, and what it launched before the worker registered and is not
 * there is lost.
 */
void master_worker_state(struct master *m, uint64_t peer, const char *worker_id,
                         const struct executor_report *executors, int n_executors, const struct driver_report *drivers,
                         int n_drivers, int64_t now);

/*
 * It keeps files of an application that lives; and whether the ends of others are nothing to it (until that is said, it
 * hears of all).
 */
void master_worker_keeps(struct master *m, const char *worker_id, const char *app_id);
void master_worker_only_own(struct master *m, const char *worker_id, bool only_own);

/* The connection is gone; ignored if the worker has another one by now. */
void master_worker_disconnected(struct master *m, uint64_t peer, const char *worker_id, int64_t now);

/* No new executors and drivers for it; applications are told. Unknown or decommissioned already: a warning. */
void master_decommission_worker(struct master *m, const char *worker_id, int64_t now);

/* All on these hosts, whatever the case of the names; how many that were. 0 in standby. */
int master_decommission_hosts(struct master *m, const char *const *hosts, int n, int64_t now);

/* @message and @exit_status may be NULL. An executor that is not known: a warning. */
void master_executor_changed(struct master *m, const char *app_id, int executor, enum executor_state state,
                             const char *message, const int *exit_status, int64_t now);

/* FINISHED, KILLED, FAILED or ERROR; anything else is refused with a warning. @exception may be NULL. */
void master_driver_changed(struct master *m, const char *driver_id, enum driver_state state, const char *exception,
                           int64_t now);

/* ------------------------------------------------------------------------------------------- from applications */

/* → MASTER_APP_REGISTERED or MASTER_IN_STANDBY. An application that registers twice from the same address keeps its id.
 */
void master_register_app(struct master *m, uint64_t peer, const struct app_spec *spec, int64_t now);
void master_unregister_app(struct master *m, const char *app_id, int64_t now);

/* It is removed, unless it registers again, with its id, within app_timeout; meanwhile it is given nothing. */
void master_app_disconnected(struct master *m, uint64_t peer, const char *app_id, int64_t now);

/* How many executors an application wants of a profile: all it has, not more of them. */
struct executor_target {
        struct executor_profile profile;
        int executors;
};

/*
 * The answer to MASTER_CHANGED_APP. @targets: what it wants by now; @next_executor: the id after the highest it was
 * ever given. Both are the application's to know: they change too often to be stored.
 */
void master_app_changed(struct master *m, uint64_t peer, const char *app_id, const struct executor_target *targets,
                        int n_targets, int next_executor, int64_t now);

/* False: there is no such application. Profiles that are not named keep their targets; nothing is killed by this. */
bool master_request_executors(struct master *m, const char *app_id, const struct executor_target *targets, int n,
                              int64_t now);

/* False: there is no such application. Those that it has not are named in a warning. Ask for fewer first. */
bool master_kill_executors(struct master *m, const char *app_id, const int *executors, int n, int64_t now);

/* ----------------------------------------------------------------- from submission gateways and from the pages */

struct master_reply {
        bool success;
        char *driver_id; /* owned; NULL if there is none */
        char *message;   /* owned, for the user */
};

void master_reply_deinit(struct master_reply *reply);

/* Drivers are taken and killed only by a master that is ALIVE. */
struct master_reply master_submit_driver(struct master *m, const struct driver_spec *spec, int64_t now);
struct master_reply master_kill_driver(struct master *m, const char *driver_id, int64_t now);
struct master_reply master_kill_all_drivers(struct master *m, int64_t now);

/*
 * The driver, running or retained; NULL: not found, and then *@message, if the master is not ALIVE, says so (owned by
 * the caller; else NULL).
 */
const struct master_driver *master_driver_status(const struct master *m, const char *driver_id, char **message);

/* End an application as KILLED: the kill button. False: there is no such application. */
bool master_kill_app(struct master *m, const char *app_id, int64_t now);

/* Forget what has ended. */
void master_clear_completed(struct master *m);
