/* An application's client of a standalone cluster: it registers with the masters of a list, gets its id from the
 * leader, and receives updates about its executors.
 *
 *      struct app_client_options o = {.loop = loop, .conf = conf, .masters = "spark://a:7077,b:7077",
 *                                     .application = &registration, .ops = &ops, .owner = owner};
 *      app_client_new(&o, &client, error);     → ops.registered, or ops.dead
 *      app_client_request(client, targets, n);
 *      app_client_kill(client, 3);             → ops.executor_killed
 *      app_client_stop(client, stopped, owner); → stopped: then app_client_free
 *
 * Masters may end, come back and take over from each other: the client sends its requests to each new leader, and the
 * application continues with its executors meanwhile. The first registration must succeed within TIMEOUT_MS (Spark's
 * three attempts of 20 s). Later the client waits forever.
 *
 * The client has its own rpc env, without an application's id: that of the cluster's secret. All calls and operations
 * run on the loop's thread. Operations are called from the loop only and must not free the client.
 */
#pragma once

#include "standalone/wire/standalone_wire.h"

#include <stdbool.h>
#include <uv.h>

struct app_client;
struct fst_conf;
struct fst_error;

#define APP_CLIENT_TIMEOUT_MS 60000

struct app_client_ops {
        /* The id that the master assigned; called once. app_client_id returns it from now on. */
        void (*registered)(void *owner, const char *app_id);
        void (*executor_added)(void *owner, const Firesteel__Standalone__ExecutorAdded *executor);
        void (*executor_updated)(void *owner, const Firesteel__Standalone__ExecutorUpdated *executor);
        void (*worker_removed)(void *owner, const Firesteel__Standalone__WorkerRemoved *worker);
        /* No worker can hold an executor: the reason and the keys to set. */
        void (*executors_do_not_fit)(void *owner, const char *message);
        /* The master has removed the executor on request, or did not know it. */
        void (*executor_killed)(void *owner, int executor);
        /* No master leads. Called once, until one leads again. */
        void (*disconnected)(void *owner);
        /* The application has failed: no master accepts it. @remedy may be NULL. The last call. */
        void (*dead)(void *owner, const char *reason, const char *remedy);
};

struct app_client_options {
        uv_loop_t *loop;
        const struct fst_conf *conf; /* for the connections */
        const char *masters;         /* spark://host:port[,host:port…] */
        /* The registration without version and app_id. Packed during the call. With resume_id, the master may give the
         * application the id and the executors that it had under an earlier driver.
         */
        const Firesteel__Standalone__RegisterApplication *application;
        int64_t timeout_ms; /* 0: APP_CLIENT_TIMEOUT_MS */
        const struct app_client_ops *ops;
        void *owner;
};

/* Returns 0, or -EINVAL with @error for an invalid list of masters, or an error of security_new. */
int app_client_new(const struct app_client_options *options, struct app_client **out, struct fst_error *error);

/* "" before registration. Borrowed. */
const char *app_client_id(const struct app_client *client);

/* Returns true if the application has this executor of an earlier driver, or may have it because the master still
 * learns from workers what runs. Valid after registration.
 */
bool app_client_may_have(const struct app_client *client, int executor);

/* Sets the numbers of executors to maintain. Replaces earlier requests. */
void app_client_request(struct app_client *client, Firesteel__Standalone__ExecutorTarget **targets, size_t n);

/* Returns true while the leading master has not answered a request for numbers of executors. */
bool app_client_is_asking(const struct app_client *client);

/* Asks the master to remove this executor. */
void app_client_kill(struct app_client *client, int executor);

/* Unregisters the application and closes: no more operations are called, and later requests are dropped. @stopped is
 * called when the last handle is closed.
 */
void app_client_stop(struct app_client *client, void (*stopped)(void *owner), void *owner);

/* Call it after @stopped. NULL is allowed. */
void app_client_free(struct app_client *client);
