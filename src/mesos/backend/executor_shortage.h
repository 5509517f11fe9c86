/*
 * Warns that tasks wait and no executor is registered, with the reason: what the offers of Mesos lack, how executors
 * ended, or that they do not reach the driver. The first warning comes after spark.starvation.timeout; each further one
 * after twice the time, at most ten minutes.
 *
 *      executor_shortage_start(&s, &options);
 *      executor_shortage_offered(&s, offers, n);               ← OFFERS
 *      executor_shortage_launched(&s, agent, n);
 *      executor_shortage_ended(&s, agent, message);            an executor's task has ended
 *      executor_shortage_registered(&s), _forgotten(&s);
 *      executor_shortage_stop(&s);
 *      executor_shortage_deinit(&s);                           once the loop has ended
 *
 * On the thread that runs the loop.
 */
#pragma once

#include "mesos/offers/agent_offers.h"

#include <uv.h>

struct fst_conf;

/* Borrowed until executor_shortage_stop. */
struct executor_shortage_options {
        uv_loop_t *loop;
        const struct fst_conf *conf;
        struct offer_needs needs; /* of an executor */
        const char *driver_url;
        const char *home; /* of this installation; NULL: unknown */
        const char *log_name;
        bool excludes_agents; /* that failed twice */
        bool (*wants_executors)(void *owner);
        void *owner;
};

struct executor_shortage {
        struct executor_shortage_options options;
        uv_timer_t timer;
        bool started;
        struct agent_offers offers;
        int64_t first_wait, wait;    /* ns */
        int64_t begun, next;         /* of the shortage, INT64_MAX: there is none; of the next warning */
        int64_t max_age;             /* ns: older offers do not count */
        size_t registered;           /* executors */
        size_t launched, ended;      /* since the last registration */
        char *launched_on;           /* the host of the last one */
        char *ended_on, *end_reason; /* the host and the message of the last one that ended */
};

/* The settings are valid: the manager has read them. */
void executor_shortage_start(struct executor_shortage *s, const struct executor_shortage_options *options);

/* Closes the timer. Nothing if it was not started. */
void executor_shortage_stop(struct executor_shortage *s);
void executor_shortage_deinit(struct executor_shortage *s);

void executor_shortage_offered(struct executor_shortage *s, const struct mesos_offer *offers, size_t n);
void executor_shortage_launched(struct executor_shortage *s, const char *agent, size_t n);

/* @reason may be NULL. */
void executor_shortage_ended(struct executor_shortage *s, const char *agent, const char *reason);
void executor_shortage_registered(struct executor_shortage *s);
void executor_shortage_forgotten(struct executor_shortage *s);
