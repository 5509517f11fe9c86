/*
 * An application's side of a standalone cluster: it introduces itself to every master of the list, has the one that
 * leads give it an id, and hears from it what becomes of its executors.
 *
 *      struct app_client_options o = {.loop = loop, .conf = conf, .masters = "spark://a:7077,b:7077",
 *                                     .application = &registration, .ops = &ops, .owner = owner};
 *      app_client_new(&o, &client, error);     → ops.registered, or ops.dead
 *      app_client_request(client, targets, n);
 *      app_client_kill(client, 3);             → ops.executor_killed
 *      app_client_stop(client, stopped, owner); → stopped: then app_client_free
 *
 * Masters may go, come back and take over from each other: what was asked for is said to whoever leads, as soon as it
 * is there, and the application goes on meanwhile with the executors that it has. Until it is registered for the first
 * time it is patient for TIMEOUT_MS (Spark's three attempts of 20 s); after that for ever.
 *
 * The client has an rpc env of its own, without an application's id: that of the cluster's secret. All is on the
 * loop's thread, and operations are called from the loop only. They may not free the client.
 */
#pragma once

#include "standalone/wire/standalone_wire.h"

#include <uv.h>

struct app_client;
struct fst_conf;
struct fst_error;

#define APP_CLIENT_TIMEOUT_MS 60000

struct app_client_ops {
        /* The id that the master gave, once; app_client_id from now on. */
        void (*registered)(void *owner, const char *app_id);
        void (*executor_added)(void *owner, const Firesteel__Standalone__ExecutorAdded *executor);
        void (*executor_updated)(void *owner, const Firesteel__Standalone__ExecutorUpdated *executor);
        void (*worker_removed)(void *owner, const Firesteel__Standalone__WorkerRemoved *worker);
        /* No executor can be had as things are: why, and what to set. */
        void (*executors_do_not_fit)(void *owner, const char *message);
        /* The master has taken it away as was asked for; or knew nothing of it. */
        void (*executor_killed)(void *owner, int executor);
        /* Nobody leads now. Told once, until somebody does again. */
        void (*disconnected)(void *owner);
        /* It is over: no master wants it. The last that is told. */
        void (*dead)(void *owner, const char *reason);
};

struct app_client_options {
        uv_loop_t *loop;
        const struct fst_conf *conf; /* for the connections */
        const char *masters;         /* spark://host:port[,host:port…] */
        /* What the application says of itself, but for version and app_id. Packed at once. */
        const Firesteel__Standalone__RegisterApplication *application;
        int64_t timeout_ms; /* 0: APP_CLIENT_TIMEOUT_MS */
        const struct app_client_ops *ops;
        void *owner;
};

/* 0, or -EINVAL with @error for a list of masters that is none, or as security_new. */
int app_client_new(const struct app_client_options *options, struct app_client **out, struct fst_error *error);

/* "" until it is registered. Borrowed. */
const char *app_client_id(const struct app_client *client);

/* Keep up these numbers of executors, in place of all that was asked for before. */
void app_client_request(struct app_client *client, Firesteel__Standalone__ExecutorTarget **targets, size_t n);

/* Have the master take this executor away. */
void app_client_kill(struct app_client *client, int executor);

/*
 * Unregister the application from the masters, and close: nothing more is told, and later requests are dropped. @stopped is called when the last
 * handle is closed.
 */
void app_client_stop(struct app_client *client, void (*stopped)(void *owner), void *owner);

/* After @stopped. NULL is allowed. */
void app_client_free(struct app_client *client);
