/*
 * Containers for the executors of one application on YARN: the pure core of the ApplicationMaster (Spark's
 * YarnAllocator). Events go in, with the time. Actions (allocator_actions.h) come out.
 *
 *      yarn_allocator_init(&a, &config);
 *      yarn_allocator_add_profile(&a, &profile);
 *      yarn_allocator_expect(&a, kept, n);                  of an earlier ApplicationMaster
 *      yarn_allocator_adopt(&a, containers, n);             ← the registration         → YARN_ACTION_RELEASE, …
 *      yarn_allocator_set_targets(&a, targets, n);
 *      yarn_allocator_set_excluded(&a, hosts, n, now);                                  → YARN_ACTION_EXCLUDE, …
 *      yarn_allocator_update(&a, now);                        before each heartbeat   → YARN_ACTION_ASK, …
 *      while ((action = yarn_allocator_next_action(&a)))
 *              shell_do(action);
 *      yarn_allocator_allocated(&a, containers, n);         ← the answer               → YARN_ACTION_LAUNCH
 *      yarn_allocator_launched(&a, container);              ← the NodeManager
 *      yarn_allocator_completed(&a, &completed, now);       ← the answer               → YARN_ACTION_EXECUTOR_EXITED
 *      if (yarn_allocator_failure(&a, now, &status))        give up the application
 *
 * Parts: container_requests.h (what is asked for), container_placement.h (on which hosts), node_health.h (which hosts
 * are excluded), failure_tracker.h (how many executors failed), container_exit.h (why).
 *
 * Differs from Spark: the ResourceManager's table is followed, so that a grant does not send the rest of the table
 * again and more containers than needed are rarely granted; a container that is not needed any more is given back,
 * where Spark keeps it without an executor; an executor that still starts can be killed.
 *
 * Invariants. Each granted container is launched or given back. Each kept one runs an expected executor or is given
 * back. No executor id is used twice. An executor that is expected or whose launch was emitted is reported as exited
 * exactly once, unless its launch failed.
 *
 * Pure: no I/O and no clock; times are ns of any monotonic clock. One thread.
 */
#pragma once

#include "base/hash_table.h"
#include "base/list.h"
#include "yarn/allocator/allocator_actions.h"
#include "yarn/allocator/container_requests.h"
#include "yarn/allocator/node_health.h"

struct yarn_allocator_config {
        int max_executor_failures; /* spark.yarn.max.executor.failures */
        int32_t last_executor;     /* ids up to this one were used by an earlier ApplicationMaster */
        bool ignore_locality; /* spark.yarn.executor.nodeLabelExpression is set: YARN takes no hosts beside a label */
        bool decommission;    /* spark.decommission.enabled, without a shuffle service */
        struct node_health_config health;
};

/* The size of the containers of a resource profile. Its number is also the priority of its requests. */
struct yarn_profile {
        int32_t id;
        int64_t memory_mb; /* with overhead, as requested */
        int cores;
        int tasks_per_executor;
        char *custom; /* " with custom resources: …" for the log, or NULL; copied */
};

/* A host with the number of tasks that prefer it. Borrowed. */
struct yarn_host_tasks {
        const char *host, *rack; /* rack: NULL if it is not known */
        int tasks;
};

/* How many executors of a profile the driver wants, those that run included. Borrowed. */
struct yarn_target {
        int32_t profile;
        int total;
        int locality_tasks; /* that prefer some host */
        const struct yarn_host_tasks *hosts;
        size_t n_hosts;
        const struct strmap *settings; /* of its executors, in the place of the application's; NULL: none */
};

/* A container that YARN has granted. Borrowed. */
struct yarn_granted {
        struct yarn_container_id id;
        const char *host, *rack;
        int32_t priority; /* of the request: the profile */
        int64_t memory_mb;
};

/* An executor of an earlier ApplicationMaster that may still run. Borrowed. */
struct yarn_kept {
        struct yarn_container_id container;
        int32_t executor, profile;
        const char *host;
};

/* A container that has ended. Borrowed. */
struct yarn_completed {
        struct yarn_container_id id;
        int exit_status;
        const char *state; /* "COMPLETE" */
        const char *diagnostics;
};

/* Why the application cannot go on; exit codes are those of Spark's ApplicationMaster. */
struct yarn_failure {
        int exit_code; /* 11: too many executor failures */
        char *message; /* owned by the caller */
};
#define YARN_AM_EXIT_MAX_EXECUTOR_FAILURES 11

struct strmap;
struct yarn_container; /* yarn_allocator.c */
struct profile_state;

struct yarn_allocator {
        struct yarn_allocator_config config; /* borrowed lists */
        struct yarn_actions actions;
        struct node_health health;
        VEC(struct profile_state *) profiles;
        LIST(struct yarn_container) containers; /* granted and not ended, oldest first */
        struct object_table by_container, by_executor;
        int32_t last_executor;
        int64_t n_unexpected; /* containers that ended without being given back */
        bool stopped;
};

/* @config is copied; the lists in it are borrowed until yarn_allocator_deinit. */
void yarn_allocator_init(struct yarn_allocator *a, const struct yarn_allocator_config *config);
void yarn_allocator_deinit(struct yarn_allocator *a);

/* Does nothing for an id that is there already. */
void yarn_allocator_add_profile(struct yarn_allocator *a, const struct yarn_profile *profile);

/*
 * The driver wants these numbers of executors; profiles that are not named keep theirs. A target of an unknown profile
 * is ignored.
 */
void yarn_allocator_set_targets(struct yarn_allocator *a, const struct yarn_target *targets, size_t n);

/* The driver's scheduler excludes these @n hosts, and no others any more. */
void yarn_allocator_set_excluded(struct yarn_allocator *a, const char *const *hosts, size_t n, int64_t now);

/*
 * Computes what to ask for, and ends exclusions whose time is over. The asks, releases and excluded hosts emitted so
 * far belong into the next heartbeat.
 */
void yarn_allocator_update(struct yarn_allocator *a, int64_t now);

/*
 * An earlier ApplicationMaster had these executors. Until yarn_allocator_adopt they count as starting, and can be
 * killed. Called once, before anything else is asked for.
 */
void yarn_allocator_expect(struct yarn_allocator *a, const struct yarn_kept *kept, size_t n);

/*
 * The containers that the ResourceManager has kept of earlier attempts. Those of expected executors run on, and others
 * are given back. Expected executors without a container are reported as exited. May come again, with the same ones.
 */
void yarn_allocator_adopt(struct yarn_allocator *a, const struct yarn_granted *containers, size_t n);

void yarn_allocator_allocated(struct yarn_allocator *a, const struct yarn_granted *containers, size_t n);
void yarn_allocator_completed(struct yarn_allocator *a, const struct yarn_completed *completed, int64_t now);

/* Answers to YARN_ACTION_LAUNCH. A container that could not be started is given back. */
void yarn_allocator_launched(struct yarn_allocator *a, struct yarn_container_id id);
void yarn_allocator_launch_failed(struct yarn_allocator *a, struct yarn_container_id id, const char *reason);

/* Gives the executor's container back. Another one is asked for unless the target fell before. */
void yarn_allocator_kill(struct yarn_allocator *a, int32_t executor);

/* The host leaves the cluster soon: its executors are decommissioned if the configuration allows it. */
void yarn_allocator_decommissioning(struct yarn_allocator *a, const char *host);

void yarn_allocator_set_cluster_nodes(struct yarn_allocator *a, int n);

/* The ResourceManager was started again and knows nothing: everything is asked for again. */
void yarn_allocator_resend(struct yarn_allocator *a, int64_t now);

/* The application ends: nothing more is asked for, launched or counted as a failure. */
void yarn_allocator_stop(struct yarn_allocator *a);

/* True if the application cannot go on. */
bool yarn_allocator_failure(struct yarn_allocator *a, int64_t now, struct yarn_failure *out);

const struct yarn_action *yarn_allocator_next_action(struct yarn_allocator *a);

/* The numbers of Spark's ApplicationMasterSource, over all profiles. */
struct yarn_allocator_numbers {
        int failed; /* executors, within the validity interval */
        int running;
        int released; /* containers that were given back and have not ended */
        int locality_tasks;
        int pending; /* containers that are asked for */
};
struct yarn_allocator_numbers yarn_allocator_measure(struct yarn_allocator *a, int64_t now);

/* Numbers over all profiles. */
int yarn_allocator_count_running(const struct yarn_allocator *a);
int yarn_allocator_count_starting(const struct yarn_allocator *a);
int yarn_allocator_count_pending(const struct yarn_allocator *a);
