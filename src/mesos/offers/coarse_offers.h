/*
 * Which offers an application accepts in coarse-grained mode: the pure core of Spark's
 * MesosCoarseGrainedSchedulerBackend. Events go in, with the time. Actions (offer_actions.h) come out.
 *
 *      coarse_offers_init(&c, &config);
 *      coarse_offers_set_limit(&c, 20, hosts, n_hosts, now);      dynamic allocation     → REVIVE
 *      coarse_offers_received(&c, offers, n, now);                ← OFFERS               → ACCEPT, DECLINE, SUPPRESS
 *      coarse_offers_updated(&c, &update);                        ← UPDATE               → EXECUTOR_ENDED, REVIVE, …
 *      coarse_offers_kill(&c, executor);                                                 → KILL
 *      coarse_offers_stop(&c);                                    accept no more offers
 *      while ((action = coarse_offers_next_action(&c)))
 *              shell_do(action);
 *
 * An executor is a task of Mesos. Both have the same id: 0, 1, … in the order of decisions. An offer takes executors in
 * turn with the other offers of its event. Without spark.executor.cores an executor takes all cores of its offer.
 *
 * Differs from Spark:
 *   - Offers that are declined for the same reason are declined with one call.
 *   - While no executor is wanted, SUPPRESS stops the offers. Spark declines them each 5 s. REVIVE follows when the
 *     limit grows or an executor ends.
 *   - REVIVE follows at once when the limit grows. Spark waits for the next offers.
 *   - A launch that fails because its offer is no longer valid does not count as a failure of its agent.
 *   - Hosts that the scheduler excludes (spark.excludeOnFailure) get no executor.
 *   - Updates of unknown tasks are ignored, unless an earlier driver has launched them, and an executor ends once.
 *
 * Invariants. Each offer is accepted or declined, once. The cores of executors that have not ended are at most
 * max_cores, their number is at most the limit at the time of each launch, their gpus are at most max_gpus. No id is
 * used twice. Each launched executor ends once.
 *
 * Pure: no I/O and no clock; times are ns of any monotonic clock. One thread.
 */
#pragma once

#include "base/hash_table.h"
#include "base/list.h"
#include "mesos/offers/mesos_constraints.h"
#include "mesos/offers/offer_actions.h"

#include <stdint.h>

#define COARSE_OFFERS_NO_LIMIT (-1)

struct coarse_offers_config {
        int64_t max_cores;       /* spark.cores.max, rounded down to a multiple of executor_cores */
        int64_t executor_cores;  /* spark.executor.cores; 0: all of an offer */
        int64_t executor_memory; /* MiB, with overhead */
        int64_t max_gpus;        /* spark.mesos.gpus.max */
        uint16_t port;           /* spark.blockManager.port; 0: any */
        int64_t limit;           /* executors at the start, or COARSE_OFFERS_NO_LIMIT */
        int64_t first_executor;  /* smaller ids were used by an earlier driver */
        int64_t refuse_unmet_ms, refuse_max_cores_ms; /* spark.mesos.rejectOfferDurationFor… */
        int64_t locality_wait;                        /* ns; spark.locality.wait */
        bool prefers_hosts;                           /* spark.dynamicAllocation.enabled */
        bool shuffle_service;                         /* spark.shuffle.service.enabled */
        struct mesos_constraints constraints;         /* spark.mesos.constraints */
};

/* How an executor's task goes on. Borrowed. */
struct coarse_update {
        int64_t executor;
        const char *agent;
        mesos_task_state state;
        bool invalid_offer;  /* the reason is REASON_INVALID_OFFERS */
        const char *message; /* or NULL */
};

/* An executor of an earlier driver. Borrowed. */
struct coarse_adopted {
        int64_t executor, cores;
        const char *host;
};

struct coarse_agent;
struct coarse_executor;
struct coarse_host;

struct coarse_offers {
        const struct coarse_offers_config *config;
        struct offer_actions actions;
        LIST(struct coarse_agent) agents; /* that had an executor; never forgotten */
        LIST(struct coarse_host) hosts;   /* that had an executor, are preferred or are excluded; never forgotten */
        LIST(struct coarse_executor) executors; /* that have not ended, oldest first */
        struct object_table by_agent, by_host, by_executor;
        int64_t n_preferred, n_excluded; /* hosts */
        int64_t limit, next_executor;
        int64_t n_executors, cores, gpus; /* of executors that have not ended */
        int64_t wait_start;               /* since when offers of hosts that tasks do not prefer wait */
        bool launching;                   /* the number of executors has been below the limit since wait_start */
        bool suppressed, stopped;
        bool resumed; /* an earlier driver had executors */
};

/* @config is borrowed until coarse_offers_deinit. */
void coarse_offers_init(struct coarse_offers *c, const struct coarse_offers_config *config);
void coarse_offers_deinit(struct coarse_offers *c);

/*
 * The @n executors of an earlier driver of the same framework run on, and others get larger ids than @next - 1. Called
 * before the framework subscribes; then the shell reconciles. An update tells on which agent an executor is, or that it
 * has ended, which is no failure. A task that runs although the earlier driver did not know its executor is killed.
 */
void coarse_offers_adopt(struct coarse_offers *c, const struct coarse_adopted *executors, size_t n, int64_t next);

/* The next action, or NULL. Borrowed until the next call. */
const struct offer_action *coarse_offers_next_action(struct coarse_offers *c);

/* The framework has subscribed, for the first time or again: the master has forgotten SUPPRESS. */
void coarse_offers_subscribed(struct coarse_offers *c);

/* Offers have come. Borrowed until all actions are taken. */
void coarse_offers_received(struct coarse_offers *c, const struct mesos_offer *offers, size_t n, int64_t now);

void coarse_offers_updated(struct coarse_offers *c, const struct coarse_update *update);

/*
 * At most @limit executors, those that run included; COARSE_OFFERS_NO_LIMIT: as many as fit. Tasks prefer the @n
 * @hosts, which are copied.
 */
void coarse_offers_set_limit(struct coarse_offers *c, int64_t limit, const char *const *hosts, size_t n, int64_t now);

/* The scheduler excludes these @n hosts, and no others any more. Copied. */
void coarse_offers_set_excluded(struct coarse_offers *c, const char *const *hosts, size_t n);

/* Ends an executor. An id that is unknown or has ended is ignored. */
void coarse_offers_kill(struct coarse_offers *c, int64_t executor);

/* The driver has told the executor to end: its end is no failure of the agent or of tasks. */
void coarse_offers_expect_end(struct coarse_offers *c, int64_t executor);

/* Launch nothing more. Offers that still come are declined. */
void coarse_offers_stop(struct coarse_offers *c);

/* Whether the executor was launched and has not ended. */
bool coarse_offers_knows(const struct coarse_offers *c, int64_t executor);

/* Calls @visit for each executor that has not ended: to reconcile. @agent is borrowed for the call; "": unknown. */
void coarse_offers_each(const struct coarse_offers *c,
                        void (*visit)(void *context, int64_t executor, const char *agent), void *context);
