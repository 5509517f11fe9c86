/* The state of a master. The owner may read it between calls of master_core.h but must not change it. The files
 * master_*.c share it.
 *
 * Ownership. The master owns workers, applications and drivers. An application owns its executors. An executor is in
 * two lists, of its application and of its worker, and leaves each separately: a decommissioned executor no longer
 * counts for the application but still occupies the worker. When it is in neither, app->removed remembers it.
 *
 * Invariants. A worker's cores_used, memory_used and used addresses are the sums over its executors and drivers, and
 * never exceed its totals. An application's cores_granted is the sum over its executors that are not `left`. A worker
 * is in `index` and `alive` exactly while it is ALIVE.
 */
#pragma once

#include "base/list.h"
#include "base/queue.h"
#include "standalone/core/master_core.h"
#include "base/hash_table.h"
#include "standalone/core/worker_selection.h"

/* Bits of master_app.had_by. Workers that share a bit get some notifications that do not concern them. */
#define MASTER_HAD_BITS 16384

/* Ended executors that an application remembers. */
#define MASTER_RETAINED_EXECUTORS 1000

/* A custom resource of a worker. Each address is free or used. */
struct worker_resource {
        char *name;
        char **addresses;
        bool *used;
        int n, free;
};

/* Addresses held by an executor or driver: indexes into the worker's resource and its addresses. */
struct resource_hold {
        int resource, n;
        int *addresses;
};

/* A copy of the needs of a profile or driver. */
struct owned_needs {
        struct resource_need *data;
        int n;
};

struct master_worker {
        char *id, *host, *web_ui, *address; /* address: "host:port" */
        int port;
        int cores, cores_used;
        int64_t memory, memory_used;
        struct worker_resource *resources;
        int n_resources;
        enum worker_state state;
        uint64_t peer;          /* 0: not connected */
        int64_t last_heartbeat; /* by `now` */
        uint64_t registered;    /* the master's event of the last registration */
        struct master_executor *executors;
        struct master_driver *drivers;
        int n_executors, n_drivers;
        unsigned bit;  /* index of its id in had_by of applications */
        bool only_own; /* it gets only the ends of applications that ran on it */
        struct index_node node;
        size_t alive_at; /* its index in master.alive */
        uint64_t gained; /* master.supply when capacity last became free on it */
        struct master_worker *gained_prev, *gained_next;
        struct master_worker *prev, *next; /* by last heartbeat, in master.workers or .dead */
};

struct master_executor {
        int id;
        struct master_app *app;
        struct app_profile *profile;
        struct master_worker *worker; /* NULL once it has ended */
        char *worker_id, *worker_address;
        int cores;
        int64_t memory;
        struct resource_hold *holds;
        int n_holds;
        enum executor_state state;
        uint64_t launched; /* the master's event */
        bool left;         /* no longer counts for the application */
        bool runs;         /* has been RUNNING: counted in app->n_running, unless `left` */
        struct master_executor *prev_in_app, *next_in_app;
        struct master_executor *prev_on_worker, *next_on_worker;
};

/* A resource profile of an application and its progress. */
struct app_profile {
        int id, cores;
        int64_t memory;
        struct owned_needs needs;
        void *body;
        size_t body_size;
        int target, executors;
        bool known;       /* false: only a worker has reported it; the application has not described it yet */
        bool starved;     /* wants more, and no worker had room for one at `tried` */
        uint64_t tried;   /* master.supply at the last attempt */
        bool told_misfit; /* the application knows that no worker can hold one */
};

struct master_app {
        char *id, *name, *user, *ui_url, *address;
        int max_cores, initial_executors; /* as registered */
        void *body;
        size_t body_size;
        int64_t submitted, ended; /* time of day, ms; 0: not yet */
        enum app_state state;
        uint64_t peer;
        int64_t lost;             /* when the master removes it unless it reconnects; 0: it is connected */
        struct app_resume resume; /* the token is owned */
        int cores_limit, cores_granted;
        int n_executors; /* not counting `left` */
        int n_running;   /* of n_executors */
        int retries;     /* failures since an executor last ran */
        int next_executor;
        int stored_executors; /* next_executor of its record: ids that the next leader must not use again */
        struct master_executor *executors; /* includes those `left` that are still on a worker */
        VEC(struct master_executor *) removed;
        VEC(struct app_profile *) profiles; /* by id */
        uint8_t *had_by;                    /* a set of workers' ids, by hash; NULL after its end */
        struct master_app *prev, *next;
};

struct master_driver {
        char *id, *main_class;
        char *submission_id; /* the id of its first launch, as the submission knows it; NULL: this is the first one */
        int cores;
        int64_t memory;
        bool supervise;
        struct owned_needs needs;
        void *body;
        size_t body_size;
        int64_t submitted; /* time of day, ms */
        enum driver_state state;
        char *exception;
        struct master_worker *worker;     /* NULL: waiting or ended */
        char *worker_id, *worker_address; /* where it was launched; kept after its end */
        bool waiting, was_launched;       /* was_launched: as in its record */
        bool idle_warned;
        struct resource_hold *holds;
        int n_holds;
        uint64_t launched; /* the master's event */
        uint64_t tried;    /* 1 + master.supply when no worker had room for it; 0: never */
        struct master_driver *prev_on_worker, *next_on_worker;
        struct master_driver *prev, *next;
};

/* An object that the master has forgotten but that queued actions may name. */
struct buried {
        void *object;
        void (*free)(void *object);
};

struct master {
        struct master_config config;
        char *app_id_pattern, *driver_id_pattern; /* copies of the configuration's */
        QUEUE(struct master_action) actions;
        struct master_action current; /* the last action taken out, if has_current */
        bool has_current;
        VEC(struct buried) buried; /* freed when the queue is empty */
        enum master_status status;
        int64_t now, recovery_ends, recovery_began;
        uint64_t event; /* counts events */
        uint64_t random;
        int next_app, next_driver;

        LIST(struct master_worker) workers; /* all but dead ones, oldest heartbeat first */
        LIST(struct master_worker) dead;
        int n_workers, n_dead, n_unknown_workers;
        VEC(struct master_worker *) alive;
        struct worker_index index; /* live workers, by the selection policy */
        uint64_t supply;           /* counts releases of capacity */
        struct master_worker *gained, *last_gained;
        bool dirty; /* master_schedule may find something to place */

        LIST(struct master_app) apps; /* in the order of registration */
        int n_apps, n_unknown_apps, n_lost_apps;
        VEC(struct master_app *) completed_apps;

        LIST(struct master_driver) drivers;
        int n_drivers, n_waiting_drivers;
        VEC(struct master_driver *) completed_drivers;

        struct object_table workers_by_id, workers_by_address, apps_by_id, apps_by_address, drivers_by_id, executors;
        struct object_table dead_by_id, dead_by_address;
};

struct master_worker *master_worker(const struct master *m, const char *id);
struct master_app *master_app(const struct master *m, const char *id);
struct master_driver *master_driver(const struct master *m, const char *id); /* that has not ended */
struct master_executor *master_executor(const struct master *m, const struct master_app *app, int id);

/* --------------------------------------------------------------------------------------------- internal functions */

void master_emit(struct master *m, struct master_action action);

/* Append the action that stores or removes a record. */
void master_store(struct master *m, enum master_record record, const char *id, const void *object);
void master_remove_record(struct master *m, enum master_record record, const char *id);

/* Frees @object when no queued action names it any more. */
void master_bury(struct master *m, void *object, void (*free_object)(void *object));

void master_log(struct master *m, enum log_level level, const char *format, ...) __attribute__((format(printf, 3, 4)));
int64_t master_wall(const struct master *m, int64_t now); /* the time of day, ms since 1970 */

/* When a dead worker disappears from the pages. */
int64_t master_dead_until(const struct master *m, const struct master_worker *w);

void master_begin(struct master *m, int64_t now); /* starts an event */

/* Returns an id by @pattern that is not @taken, as far as the pattern allows. Increments *@number, modulo @modulo if
 * that is not 0. The caller owns the id.
 */
typedef bool master_id_taken(const struct master *m, const char *id);
char *master_new_id(struct master *m, const char *pattern, int *number, int modulo, master_id_taken *taken);

/* master_workers.c */
bool master_add_worker(struct master *m, const struct worker_spec *spec, uint64_t peer, enum worker_state state);
void master_worker_alive(struct master *m, struct master_worker *w);
/* The master stops to use @w, which is lost: makes it DEAD, loses its executors, starts its drivers elsewhere. */
void master_remove_worker(struct master *m, struct master_worker *w, const char *why);
void master_worker_free(void *worker);
bool worker_has(const struct master_worker *w, int cores, int64_t memory, const struct owned_needs *needs);
int worker_cores_free(const struct master_worker *w);
int64_t worker_memory_free(const struct master_worker *w);

/* Returns true if the worker has room for one more after @times of the same. */
bool worker_has_beside(const struct master_worker *w, int times, int64_t memory, const struct owned_needs *needs);

/* Take or give back capacity, and update the index and the list of workers with new capacity. worker_take fills
 * *@holds, owned.
 */
void worker_take(struct master *m, struct master_worker *w, int cores, int64_t memory, const struct owned_needs *needs,
                 struct resource_hold **holds, int *n_holds);
/* The same for a reported executor or driver. Ignores addresses that the worker lacks or that are in use. */
void worker_take_back(struct master *m, struct master_worker *w, int cores, int64_t memory,
                      const struct resource_addresses *resources, int n, struct resource_hold **holds, int *n_holds);
void worker_give(struct master *m, struct master_worker *w, int cores, int64_t memory, struct resource_hold *holds,
                 int n_holds); /* frees @holds */

/* master_apps.c */
struct master_app *master_add_app(struct master *m, const char *id, const struct app_spec *spec, int64_t submitted,
                                  uint64_t peer, enum app_state state);
void master_app_set_targets(struct master_app *app, const struct executor_target *targets, int n);
struct app_profile *app_profile_by_id(const struct master_app *app, int id);
int app_cores_left(const struct master_app *app);
void master_remove_app(struct master *m, struct master_app *app, enum app_state state);
void master_remove_lost_apps(struct master *m); /* removes those that did not reconnect in time */
/* The driver of an application with a journal is gone: keeps the application until @until. */
void app_wait_for_driver(struct master *m, struct master_app *app, int64_t until);
void master_app_free(void *app);
struct master_executor *app_add_executor(struct master *m, struct master_app *app, struct app_profile *profile,
                                         struct master_worker *w, int id, int cores, int64_t memory,
                                         enum executor_state state);
/* Records that the worker holds, or held, files of the application. */
void app_had_by(struct master_app *app, const struct master_worker *w);
/* Returns true if the worker may hold files of the application and must be notified of its end. */
bool app_concerns(const struct master_app *app, const struct master_worker *w);
/* Remove the executor from the application, or from its worker. The latter may free the executor. */
void executor_leave_app(struct master *m, struct master_executor *e);
void executor_leave_worker(struct master *m, struct master_executor *e);
/* → MASTER_EXECUTOR_UPDATED. @message is copied; it, @exit_status and @leaving may be NULL. */
void executor_tell_app(struct master *m, struct master_executor *e, const char *message, const int *exit_status,
                       struct master_worker *leaving);
/* → MASTER_KILL_EXECUTOR */
void worker_kill_executor(struct master *m, struct master_worker *w, const char *app_id, int executor);

/* master_drivers.c */
struct master_driver *master_add_driver(struct master *m, const char *id, const struct driver_spec *spec,
                                        int64_t submitted, bool waiting);
void master_driver_on(struct master *m, struct master_driver *d, struct master_worker *w);
void master_driver_wait(struct master *m, struct master_driver *d);
void master_relaunch_driver(struct master *m, struct master_driver *d);
void master_remove_driver(struct master *m, struct master_driver *d, enum driver_state state, const char *exception);
/* → MASTER_KILL_DRIVER */
void worker_kill_driver(struct master *m, struct master_worker *w, const char *driver_id);
void master_driver_free(void *driver);

/* master_feasibility.c: notifies the application if no worker can ever hold an executor of this profile. */
void master_check_fit(struct master *m, struct master_app *app, struct app_profile *p);

/* master_recovery.c */
void master_recovery_check(struct master *m);
void master_complete_recovery(struct master *m);

/* Return copies. */
struct owned_needs needs_copy(const struct resource_need *needs, int n);
void needs_deinit(struct owned_needs *needs);
void *body_copy(const struct master_body *body);
