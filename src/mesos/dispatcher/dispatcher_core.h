/*
 * The drivers of a Mesos dispatcher: the pure core of Spark's MesosClusterScheduler. Events go in, with the time.
 * Actions come out.
 *
 *      dispatcher_init(&d, &config);
 *      dispatcher_recover(&d, &record);                            each record of an earlier dispatcher
 *      dispatcher_subscribed(&d, "fw-1", now);                     → STORE_FRAMEWORK, RECONCILE, REVIVE
 *      reply = dispatcher_submit(&d, &spec, now);                  → STORE, REVIVE
 *      dispatcher_received(&d, offers, n, now);                    ← OFFERS    → STORE, ACCEPT, DECLINE
 *      dispatcher_updated(&d, &update, now);                       ← UPDATE    → STORE or REMOVE, REVIVE
 *      reply = dispatcher_kill(&d, "driver-2026…", now);           → KILL or REMOVE
 *      while ((action = dispatcher_next_action(&d)))
 *              shell_do(action);
 *      start_timer(dispatcher_deadline(&d));                       → dispatcher_tick(&d, now)
 *
 * A driver is queued, launched, and finished. Queued drivers are ordered by the priority of their queue, then by the
 * time of their submission. A supervised driver that failed or was lost waits and is launched again: 1 s, then twice as
 * long each time, at most config.max_retry_wait. Its task is then called "<id>-retry-1", "<id>-retry-2", …
 * Offers go first to drivers that are due for a retry, then to the queue in order; each takes the first offer that
 * fits.
 *
 * Differs from Spark:
 *   - A task whose offer was no longer valid was never launched: its driver goes back to its place in the queue.
 *   - REVIVE is sent when a retry is due. Spark sends it when the wait begins, declines what comes, and gets offers
 * again only after spark.mesos.rejectOfferDuration.
 *   - A driver that was killed is not started again if its agent is lost instead, and the kill is repeated after a
 *     disconnection.
 *   - Records are written before a task is launched, so no driver starts twice.
 *
 * Invariants. Each offer is accepted or declined, once. A driver has at most one task that has not ended. No task id is
 * used for two launches, unless Mesos refused the first. A driver that was submitted with success ends in finished.
 *
 * Pure: no I/O and no clock; times are ns of a monotonic clock. One thread.
 */
#pragma once

#include "base/arena.h"
#include "base/hash_table.h"
#include "base/list.h"
#include "base/log.h"
#include "base/queue.h"
#include "mesos/offers/mesos_constraints.h"
#include "mesos/offers/mesos_offer.h"
#include "mesos/offers/task_outcome.h"

#include <stdint.h>

/* spark.mesos.dispatcher.queue.NAME */
struct dispatcher_queue {
        const char *name;
        float priority;
};

struct dispatcher_config {
        int max_drivers;                       /* launched at a time; spark.mesos.maxDrivers */
        int retained_drivers;                  /* spark.mesos.retainedDrivers */
        int64_t max_retry_wait;                /* ns; spark.mesos.cluster.retry.wait.max */
        int64_t refuse_ms;                     /* spark.mesos.rejectOfferDuration */
        const struct dispatcher_queue *queues; /* without "default", whose priority is 0 unless it is listed */
        size_t n_queues;
        int64_t wall_offset; /* ns: the time of day less the clock of the events */
};

enum mesos_driver_state { MESOS_DRIVER_QUEUED, MESOS_DRIVER_LAUNCHED, MESOS_DRIVER_RETRYING, MESOS_DRIVER_FINISHED };

/* A submission. Borrowed, except for @constraints, which the core takes. */
struct mesos_driver_spec {
        const char *name, *main_class, *queue;
        int64_t cpus_milli, memory; /* what the task takes: thousandths, MiB */
        bool supervise;
        struct mesos_constraints constraints; /* spark.mesos.driver.constraints */
        const void *body;                     /* the description, which the core does not read */
        size_t body_size;
};

/* Read-only for the shell. */
struct mesos_driver {
        char *id; /* of the submission */
        char *name, *main_class, *queue;
        int64_t cpus_milli, memory;
        bool supervise;
        struct mesos_constraints constraints;
        void *body;
        size_t body_size;
        float priority;
        int64_t sequence;  /* of its submission to this dispatcher */
        int64_t submitted; /* ms since 1970 */
        enum mesos_driver_state state;

        /* Since the first launch. */
        char *task_id, *agent, *hostname; /* of the last task; NULL before */
        int64_t started, finished;        /* ms since 1970; 0 before */
        bool killed;                      /* a kill was asked for */
        bool reconciling;                 /* after a recovery, until its task's first update */
        bool has_status;
        mesos_task_state task_state;
        void *status; /* the last update as it came, for answers; NULL: none */
        size_t status_size;

        /* Retries. */
        int retries;
        int64_t retry_wait;   /* ns: the last wait */
        int64_t next_retry;   /* ns of the events' clock */
        bool retry_announced; /* REVIVE was sent when it was due */
        struct mesos_driver *prev, *next;
};

typedef LIST(struct mesos_driver) mesos_driver_list;

enum dispatcher_action_kind {
        /* driver: store it under driver->id, replacing. Later actions and the reply must not leave the process before
         * the record is durable.
         */
        DISPATCHER_STORE,
        DISPATCHER_REMOVE,          /* id */
        DISPATCHER_STORE_FRAMEWORK, /* id: of the framework */
        DISPATCHER_ACCEPT,          /* accept: one call that launches its tasks */
        DISPATCHER_DECLINE,         /* decline: one call */
        DISPATCHER_KILL,            /* driver: kill its task */
        DISPATCHER_RECONCILE,       /* reconcile: ask for the states of their tasks */
        DISPATCHER_REVIVE,
        DISPATCHER_LOG,
};

struct dispatcher_launch {
        const struct mesos_driver *driver;
        const struct mesos_resource *resources; /* cpus, mem */
        size_t n_resources;
};

/* Borrowed, together with what it points to, until the next event. */
struct dispatcher_action {
        enum dispatcher_action_kind kind;
        union {
                const struct mesos_driver *driver;
                const char *id;
                struct {
                        const struct mesos_offer *offer;
                        const struct dispatcher_launch *launches;
                        size_t n_launches;
                } accept;
                struct {
                        const struct mesos_offer *const *offers;
                        size_t n_offers;
                        int64_t refuse_ms;
                } decline;
                struct {
                        const struct mesos_driver *const *drivers;
                        size_t n_drivers;
                } reconcile;
                struct {
                        enum log_level level;
                        const char *line;
                } log;
        };
};

struct dispatcher {
        const struct dispatcher_config *config;
        int64_t wall_offset;
        QUEUE(struct dispatcher_action) actions;
        struct dispatcher_action action; /* the last one taken */
        struct arena arena;              /* of the actions of an event */
        mesos_driver_list queued, launched, retrying, finished;
        size_t n_queued, n_launched, n_retrying, n_finished;
        struct object_table by_id;
        int64_t next_number, next_sequence;
        char *framework_id; /* NULL before the first subscription */
        bool ready;         /* has subscribed */
};

/* @config is borrowed until dispatcher_deinit. */
void dispatcher_init(struct dispatcher *d, const struct dispatcher_config *config);
void dispatcher_deinit(struct dispatcher *d);

/* The next action, or NULL. */
const struct dispatcher_action *dispatcher_next_action(struct dispatcher *d);

/* When dispatcher_tick must be called, or INT64_MAX. */
int64_t dispatcher_deadline(const struct dispatcher *d);
void dispatcher_tick(struct dispatcher *d, int64_t now);

/* The time of day has changed. */
void dispatcher_set_wall_offset(struct dispatcher *d, int64_t wall_offset);

/* ---------------------------------------------------------------------------------------------- recovery */

/* A driver of an earlier dispatcher that had not finished. Borrowed, except for spec.constraints. */
struct mesos_driver_record {
        const char *id;
        struct mesos_driver_spec spec;
        enum mesos_driver_state state;
        int64_t submitted, started, next_retry_ms; /* ms since 1970 */
        const char *task_id, *agent, *hostname;    /* NULL: none */
        int retries;
        int64_t retry_wait;
        bool killed;
        const void *status;
        size_t status_size;
        mesos_task_state task_state;
};

/* The id of the framework of an earlier dispatcher. Call it before dispatcher_subscribed. */
void dispatcher_recover_framework(struct dispatcher *d, const char *framework_id);

/* Call it before dispatcher_subscribed, for each record in the order of their submission. */
void dispatcher_recover(struct dispatcher *d, const struct mesos_driver_record *record, int64_t now);

/* What dispatcher_recover takes. Borrowed from @driver. */
void mesos_driver_to_record(const struct dispatcher *d, const struct mesos_driver *driver,
                            struct mesos_driver_record *record);

/* ---------------------------------------------------------------------------------------------- Mesos */

/* The framework has subscribed, for the first time or again. */
void dispatcher_subscribed(struct dispatcher *d, const char *framework_id, int64_t now);

/* The master has removed the framework for good: its tasks are lost, and the next subscription gets another id. */
void dispatcher_framework_removed(struct dispatcher *d, int64_t now);

/* The states of the tasks may have changed unseen. → RECONCILE */
void dispatcher_ask_states(struct dispatcher *d);

/* Offers have come. Borrowed until all actions are taken. */
void dispatcher_received(struct dispatcher *d, const struct mesos_offer *offers, size_t n, int64_t now);

/* How a task goes on. Borrowed. */
struct dispatcher_update {
        const char *task_id;
        mesos_task_state state;
        bool reconciliation; /* the reason is REASON_RECONCILIATION */
        bool invalid_offer;  /* the reason is REASON_INVALID_OFFERS */
        const void *status;  /* the whole update, which is kept; NULL: none */
        size_t status_size;
};

void dispatcher_updated(struct dispatcher *d, const struct dispatcher_update *update, int64_t now);

/* ---------------------------------------------------------------------------------------------- requests */

struct dispatcher_reply {
        bool success;
        const char *driver_id; /* of a submission; borrowed until the next event; NULL: none */
        const char *message;   /* a constant; NULL: none */
};

/* Whether @queue is configured. A driver of another queue is refused before dispatcher_submit. */
bool dispatcher_has_queue(const struct dispatcher_config *config, const char *queue);

struct dispatcher_reply dispatcher_submit(struct dispatcher *d, struct mesos_driver_spec *spec, int64_t now);
struct dispatcher_reply dispatcher_kill(struct dispatcher *d, const char *id, int64_t now);

/* The driver, or NULL. */
const struct mesos_driver *dispatcher_driver(const struct dispatcher *d, const char *id);

/* The id of the driver's next task: "<id>" or "<id>-retry-<n>", in a text that the caller owns. */
char *mesos_driver_next_task_id(const struct mesos_driver *driver);

/* "QUEUED", "RUNNING", "RETRYING", "FINISHED", as the REST server says it. */
const char *mesos_driver_state_name(enum mesos_driver_state state);

/* @now as ms since 1970. */
int64_t dispatcher_wall(const struct dispatcher *d, int64_t now);
