/*
 * A framework's connection to the leading Mesos master, on a loop: the scheduler's API, version 1.
 *
 *      r = mesos_scheduler_new(loop, &options, &ops, owner, &s, error);
 *      …                                          → ops.subscribed(owner, framework_id, false)
 *                                                 → ops.event(owner, event)     OFFERS, UPDATE, …
 *      mesos_scheduler_revive(s); mesos_scheduler_call_send(s, call_message_accept(…));
 *      mesos_scheduler_teardown(s, 5000, done, context);   → done(owner, context)
 *      mesos_scheduler_free(s);
 *
 * The stream of events is one connection, and all calls go over a second one, one after the other, in the order in
 * which they were made. The connection finds the leader, follows redirections and subscribes again, with the
 * framework's id, when the stream breaks, heartbeats are missing or another master leads (subscription.h). What a
 * master forgets or never got it says after RECONCILE: on `reconcile` the owner asks for its tasks. UPDATEs with a uuid
 * are acknowledged as soon as ops.event returns.
 *
 * With failover_timeout 0 the master ends a framework, and its tasks, as soon as the stream breaks. To subscribe again
 * helps only with another leader. The same master then answers `Framework has been removed`, which is a failure.
 *
 * All calls and callbacks are on the loop's thread. No callback runs inside a call. Callbacks may call
 * everything, mesos_scheduler_free too.
 */
#pragma once

#include "mesos/scheduler/call_message.h"

#include <stdbool.h>
#include <uv.h>

struct mesos_credentials;
struct mesos_master;
struct mesos_scheduler;

/* The settings of FrameworkInfo. Borrowed. NULL, zero and false: the field is left out, unless stated otherwise. */
struct mesos_framework {
        const char *user, *name; /* never NULL */
        const char *id;          /* of the framework that this one goes on with, or wants to be */
        const char *role, *hostname, *webui_url, *principal;
        double failover_timeout; /* seconds */
        bool has_failover_timeout;
        bool checkpoint;
        bool gpus; /* capability GPU_RESOURCES */
};

struct mesos_scheduler_options {
        const struct mesos_master *master;           /* borrowed until mesos_scheduler_free */
        const struct mesos_credentials *credentials; /* borrowed until mesos_scheduler_free */
        const struct mesos_framework *framework;     /* borrowed for the call */
};

struct mesos_scheduler_ops {
        /* The master has accepted the framework; @again: this connection was subscribed before. All offers that came
         * earlier are void.
         */
        void (*subscribed)(void *owner, const char *framework_id, bool again);
        /* The stream has broken. Offers are void. Calls are dropped until `subscribed`, except KILL and REVIVE, which
         * are made then. (Those are also made again if a connected master does not answer them.)
         */
        void (*disconnected)(void *owner, const char *why);
        /* OFFERS, RESCIND, UPDATE, MESSAGE or FAILURE. @event is borrowed for the call. */
        void (*event)(void *owner, const mesos_scheduler_event *event);
        /* The master's view of tasks may differ: after a resubscription, and if a call got no answer. Call
         * mesos_scheduler_reconcile with all tasks that have not ended. NULL: the owner keeps no tasks.
         */
        void (*reconcile)(void *owner);
        /* The framework has ended, by the master's ERROR or because it cannot subscribe. Once, as the last callback. */
        void (*failed)(void *owner, const char *message);
};

/* Begins to connect. @ops and @owner are borrowed until mesos_scheduler_free. Returns 0, or -ENOENT or -ELIBBAD with
 * @error when the module for HTTP is not there.
 */
int mesos_scheduler_new(uv_loop_t *loop, const struct mesos_scheduler_options *options,
                        const struct mesos_scheduler_ops *ops, void *owner, struct mesos_scheduler **out,
                        struct fst_error *error);

/*
 * Ends the connection at once and leaves the framework to the master, whose failover_timeout begins. No callback
 * follows. The memory is released when the loop has run, which with ZooKeeper takes until its session has ended, unless
 * mesos_scheduler_teardown has waited for that. NULL is allowed.
 */
void mesos_scheduler_free(struct mesos_scheduler *s);

/* Ends the framework and its tasks, after the calls made before, and the search for leaders. @done is called on the
 * loop when the master has confirmed it, cannot be reached, or @timeout_ms have passed, and the session with ZooKeeper
 * has ended. From now on there are no other callbacks.
 */
void mesos_scheduler_teardown(struct mesos_scheduler *s, int64_t timeout_ms, void (*done)(void *owner, void *context),
                              void *context);

/* "host:port" of the master of the stream, or NULL. */
const char *mesos_scheduler_master(const struct mesos_scheduler *s);

/*
 * Makes a call. @call is borrowed for the call, which sets its framework_id. Returns false if the framework is not
 * subscribed: then the call is dropped, unless it is KILL or REVIVE.
 */
bool mesos_scheduler_call_send(struct mesos_scheduler *s, mesos_scheduler_call *call);

/* The same for calls that the scheduler makes up. @agent may be NULL. */
bool mesos_scheduler_revive(struct mesos_scheduler *s);
bool mesos_scheduler_suppress(struct mesos_scheduler *s);
bool mesos_scheduler_kill(struct mesos_scheduler *s, const char *task, const char *agent);

/* Asks for the states of @n tasks, which come as UPDATEs without a uuid. Nothing for 0. */
bool mesos_scheduler_reconcile(struct mesos_scheduler *s, const struct mesos_task_place *tasks, size_t n);
