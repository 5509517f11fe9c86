/*
 * Which offers an application accepts in fine-grained mode: the pure core of Spark's
 * MesosFineGrainedSchedulerBackend. Each task of Spark is a task of Mesos. One executor on each agent runs them and
 * starts with the first.
 *
 *      fine_offers_init(&f, &config);
 *      fine_offers_received(&f, offers, n);             ← OFFERS          → DECLINE of those that are of no use
 *      for (size_t i = 0; i < f.n_usable; i++)
 *              … choose tasks for f.usable[i].cores cores on the agent f.usable[i].offers[0]->agent …
 *              fine_offers_add_task(&f, i, task);
 *      fine_offers_answer(&f);                                            → ACCEPT, DECLINE
 *      fine_offers_registered(&f, agent);               ← its executor has registered with the driver
 *      fine_offers_updated(&f, &update);                ← UPDATE          → EXECUTOR_ENDED
 *      fine_offers_executor_lost(&f, agent, …);         ← FAILURE         → EXECUTOR_ENDED
 *
 * Differs from Spark:
 *   - All offers of one agent in one event are used together. Spark uses the last one and forgets the others.
 *   - A task that its executor reports as failed leaves the executor known. Spark forgets it, and then needs its memory
 *     once more on that agent.
 *   - Offers that are declined for the same reason are declined with one call.
 *   - An agent whose executors end twice in a row before they register gets no more. Spark never stops to start them.
 *
 * Invariants. Each offer is accepted or declined, once. An agent has at most one executor; only launches of the event
 * that starts it charge its resources. A task ends once.
 *
 * Pure: no I/O and no clock. One thread.
 */
#pragma once

#include "base/hash_table.h"
#include "base/list.h"
#include "mesos/offers/mesos_constraints.h"
#include "mesos/offers/offer_actions.h"

struct fine_offers_config {
        int64_t executor_cores_milli; /* thousandths; spark.mesos.mesosExecutor.cores */
        int64_t executor_memory;      /* MiB, with overhead */
        int64_t task_cores;           /* spark.task.cpus */
        int64_t refuse_unmet_ms;      /* spark.mesos.rejectOfferDurationForUnmetConstraints */
        struct mesos_constraints constraints;
};

struct fine_agent;
struct fine_task;

/* How a task goes on. Borrowed. */
struct fine_update {
        int64_t task;
        mesos_task_state state;
        bool by_executor;    /* its executor reports it, neither agent nor master */
        bool not_launched;   /* it never reached the agent, whose executors this does not blame */
        const char *message; /* or NULL */
};

/* The offers of an agent, which can run tasks. */
struct fine_usable {
        const struct mesos_offer **offers; /* of one agent */
        size_t n_offers;
        int64_t cores; /* whole cores that tasks may still take */
        struct fine_agent *agent;
        struct mesos_resources rest;
        bool starts_executor; /* its first task starts the executor */
        struct mesos_launch *launches;
        size_t n_launches, room;
};

struct fine_offers {
        const struct fine_offers_config *config;
        struct offer_actions actions;
        LIST(struct fine_agent) agents; /* that made offers; never forgotten */
        LIST(struct fine_task) tasks;   /* that have not ended */
        struct object_table by_agent, by_task;
        struct fine_usable *usable; /* in the arena of the actions; valid until fine_offers_answer */
        size_t n_usable;
        bool stopped;
};

/* @config is borrowed until fine_offers_deinit. */
void fine_offers_init(struct fine_offers *f, const struct fine_offers_config *config);
void fine_offers_deinit(struct fine_offers *f);
const struct offer_action *fine_offers_next_action(struct fine_offers *f);

/* Offers have come. Declines those of no use and fills f->usable. Borrowed until the actions are taken. */
void fine_offers_received(struct fine_offers *f, const struct mesos_offer *offers, size_t n);

/* Gives the agent at @index of f->usable one task with spark.task.cpus cores. Returns false if its cores do not
 * suffice. */
bool fine_offers_add_task(struct fine_offers *f, size_t index, int64_t task);

/* The same for an agent by its id, however many there are. Returns false also if f->usable does not have the agent. */
bool fine_offers_add_task_on(struct fine_offers *f, const char *agent, int64_t task);

/* Accepts the offers that got tasks and declines the others. Every fine_offers_received needs one. */
void fine_offers_answer(struct fine_offers *f);

/*
 * A task goes on or ends. An unknown task is ignored. If agent or master report a failure, the executor is gone.
 * Returns whether the task was known.
 */
bool fine_offers_updated(struct fine_offers *f, const struct fine_update *update);

/*
 * The executor of @agent has ended, or the agent is lost. Its tasks get updates of their own. Does nothing if none is
 * known there.
 */
void fine_offers_executor_lost(struct fine_offers *f, const char *agent, bool caused_by_app, const char *reason);

/* The executor of @agent has registered with the driver: earlier failures there no longer count. */
void fine_offers_registered(struct fine_offers *f, const char *agent);

/* The scheduler has tasks to place. */
void fine_offers_revive(struct fine_offers *f);

/* Launch nothing more. */
void fine_offers_stop(struct fine_offers *f);

/* Calls @visit for each task that has not ended: to reconcile. @agent is borrowed for the call. */
void fine_offers_each(const struct fine_offers *f, void (*visit)(void *context, int64_t task, const char *agent),
                      void *context);

/* Whether an executor is known on the agent. */
bool fine_offers_has_executor(const struct fine_offers *f, const char *agent);
