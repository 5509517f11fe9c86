/*
 * The actions of the cores that answer offers (coarse_offers.h, fine_offers.h), in order. The shell takes them one by
 * one and performs them.
 *
 * An action borrows offers from the event that brought them, and arrays and texts from the core. The shell takes all
 * actions of an event, until there is none, before it releases the event and before it passes the next one. What the
 * shell does for an action may call the core again, but not take actions.
 */
#pragma once

#include "base/arena.h"
#include "base/log.h"
#include "base/queue.h"
#include "mesos/offers/mesos_offer.h"
#include "mesos/offers/task_outcome.h"

/* Filters without refuse_seconds: Mesos offers what was not used again after 5 s. */
#define MESOS_REFUSE_DEFAULT (-1)

enum offer_action_kind {
        /* accept: launch its tasks with one call ACCEPT. */
        OFFER_ACTION_ACCEPT,
        /* decline: one call DECLINE. */
        OFFER_ACTION_DECLINE,
        OFFER_ACTION_REVIVE,
        OFFER_ACTION_SUPPRESS,
        /* kill: one call KILL. */
        OFFER_ACTION_KILL,
        /* ended: report to the driver that the executor is gone. */
        OFFER_ACTION_EXECUTOR_ENDED,
        /* host: register the application with the shuffle service there. */
        OFFER_ACTION_SHUFFLE_SERVICE,
        OFFER_ACTION_LOG,
};

/* A task to launch. Resources are in the order of Spark: cpus, mem, ports, gpus. */
struct mesos_launch {
        int64_t task;         /* coarse-grained: the executor's id; fine-grained: the id of Spark's task */
        int64_t cores;        /* whole cpus */
        bool starts_executor; /* fine-grained: no executor is known on the agent */
        const struct mesos_resource *resources;
        size_t n_resources;
        const struct mesos_resource *executor_resources; /* fine-grained: of the agent's executor */
        size_t n_executor_resources;
};

struct offer_action {
        enum offer_action_kind kind;
        union {
                struct {
                        const struct mesos_offer *const *offers; /* all of one agent */
                        size_t n_offers;
                        const struct mesos_launch *launches; /* in the order in which they are sent */
                        size_t n_launches;
                        int64_t refuse_ms; /* for the rest of the offers; or MESOS_REFUSE_DEFAULT */
                } accept;
                struct {
                        const struct mesos_offer *const *offers;
                        size_t n_offers;
                        int64_t refuse_ms; /* or MESOS_REFUSE_DEFAULT */
                } decline;
                struct {
                        int64_t task;
                        const char *agent;
                } kill;
                struct {
                        int64_t executor; /* fine-grained: -1; the agent names the executor */
                        const char *agent;
                        enum task_outcome outcome;
                        bool caused_by_app; /* counts as a failure of the tasks that ran there */
                        const char *reason;
                } ended;
                const char *host;
                struct {
                        enum log_level level;
                        const char *line;
                } log;
        };
};

struct offer_actions {
        QUEUE(struct offer_action) queue;
        struct offer_action current; /* the last action taken */
        bool has_current;            /* the shell may still use it */
        struct arena arena;          /* of the arrays and texts of the waiting actions */
};

void offer_actions_deinit(struct offer_actions *actions);

/* The next action, or NULL. Borrowed until the next call. */
const struct offer_action *offer_actions_next(struct offer_actions *actions);

/* Releases what earlier actions pointed to, unless some still wait. Cores call it when an event begins. */
void offer_actions_begin(struct offer_actions *actions);

/* Appends DECLINE of the @n offers in @offers; nothing for 0. Copies the array. */
void offer_actions_decline(struct offer_actions *actions, const struct mesos_offer *const *offers, size_t n,
                           int64_t refuse_ms);
void offer_actions_log(struct offer_actions *actions, enum log_level level, const char *format, ...)
        __attribute__((format(printf, 3, 4)));
