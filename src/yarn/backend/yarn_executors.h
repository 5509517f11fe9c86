/*
 * An application's containers on a loop: the shell around the allocator (allocator/yarn_allocator.h). It registers with
 * the ResourceManager's scheduler, sends heartbeats, starts containers on NodeManagers and unregisters at the end. The
 * process that owns it is the application's ApplicationMaster, wherever it runs.
 *
 *      r = yarn_executors_new(loop, &options, &ops, owner, &x, error);
 *      yarn_executors_register(x);                               → ops.registered(owner, …)
 *      yarn_executors_set_targets(x, targets, n);
 *                                                                → ops.launch_context(owner, …) for each container
 *                                                                → ops.exited(owner, …) when one has ended
 *      yarn_executors_finish(x, YARN_FINAL_SUCCEEDED, NULL);       → ops.finished(owner)
 *      yarn_executors_free(x);
 *
 * Heartbeats come every `heartbeat_ms`. While containers are pending they begin with `initial_ms` and double, and begin
 * again after an answer with containers. A ResourceManager that was started again and does not know the application is
 * registered with again, and told everything.
 *
 * All calls and callbacks are on the loop's thread. No callback runs inside a call.
 */
#pragma once

#include "hadoop/credentials.h"
#include "yarn/allocator/yarn_allocator.h"
#include "yarn/conf/yarn_conf.h"
#include "yarn/protocol/resource_manager.h"

struct yarn_executors;

struct yarn_executors_options {
        const struct yarn_conf *conf;     /* borrowed until yarn_executors_free */
        const struct hadoop_token *token; /* YARN_AM_RM_TOKEN; borrowed for the call */
        const char *host;                 /* of the ApplicationMaster, as the ResourceManager shows it */
        int rpc_port;                     /* 0: none */
        const char *tracking_url;         /* the driver's pages, or "" */
        const char *history_url;          /* where the ended application is shown, or NULL */
        int64_t heartbeat_ms;             /* spark.yarn.scheduler.heartbeat.interval-ms */
        int64_t initial_ms;               /* spark.yarn.scheduler.initial-allocation.interval */
        int max_failures;                 /* spark.yarn.scheduler.reporterThread.maxFailures */
        const char *node_label;           /* spark.yarn.executor.nodeLabelExpression, or NULL */
        int64_t max_final_message;        /* spark.yarn.am.finalMessageLimit; 0: no limit */
        struct yarn_allocator_config allocator;
        const struct yarn_kept *kept; /* executors of an earlier attempt; borrowed for the call */
        size_t n_kept;
};

/* A container in which an executor is to start. Borrowed. */
struct yarn_launch {
        struct yarn_container_id container;
        int32_t executor, profile;
        const char *host, *node_http_address; /* "host:port" of the NodeManager's pages */
};

struct yarn_executors_ops {
        /* The application is registered: the largest container that the cluster allows. Again after a restart of the
         * ResourceManager. */
        void (*registered)(void *owner, int64_t memory_mb, int cores);
        /* Returns the launch of the container. The answer's strings are borrowed until the callback's next call. */
        const Firesteel__Yarn__ContainerLaunchContext *(*launch_context)(void *owner, const struct yarn_launch *launch);
        /* The executor has ended or could not be started. */
        void (*exited)(void *owner, int32_t executor, int exit_status, bool caused_by_app, const char *reason);
        /* The executor's host leaves the cluster soon. */
        void (*decommission)(void *owner, int32_t executor, const char *host);
        /* The application cannot go on; @exit_code is the ApplicationMaster's (10 to 16). Once. */
        void (*failed)(void *owner, int exit_code, const char *message);
        /* The ResourceManager has unregistered the application, or cannot be reached any more. */
        void (*finished)(void *owner);
};

#define YARN_AM_EXIT_REPORTER_FAILURE 12

/* @ops and @owner are borrowed until yarn_executors_free. 0, or negative with @error. */
int yarn_executors_new(uv_loop_t *loop, const struct yarn_executors_options *options,
                       const struct yarn_executors_ops *ops, void *owner, struct yarn_executors **out,
                       struct fst_error *error);

/* Drops what is under way; containers end when the ResourceManager misses the application. NULL is allowed. The memory
 * is released when the loop has run. */
void yarn_executors_free(struct yarn_executors *x);

void yarn_executors_register(struct yarn_executors *x);

/* Custom resources (@values, @n_values) may be NULL; both are copied. */
void yarn_executors_add_profile(struct yarn_executors *x, const struct yarn_profile *profile,
                                Firesteel__Yarn__ResourceValue *const *values, size_t n_values);

/*
 * As yarn_allocator_set_targets; a heartbeat follows at once. Racks that are NULL are looked up (conf/rack_resolver.h).
 * May come before the registration.
 */
void yarn_executors_set_targets(struct yarn_executors *x, const struct yarn_target *targets, size_t n);

/* As yarn_allocator_set_excluded, with the next heartbeat. */
void yarn_executors_set_excluded(struct yarn_executors *x, const char *const *hosts, size_t n);
void yarn_executors_kill(struct yarn_executors *x, int32_t executor);

/* Unregisters. @diagnostics may be NULL; at most `max_final_message` bytes are sent. Without a registration, `finished`
 * comes at once. */
void yarn_executors_finish(struct yarn_executors *x, enum yarn_final_status status, const char *diagnostics);

/* For metrics. */
struct yarn_allocator_numbers yarn_executors_measure(struct yarn_executors *x);
