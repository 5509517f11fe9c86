/*
 * The hosts on which no containers are wanted: those of the configuration, those that the scheduler excludes, and those
 * where YARN failed to run executors too often (Spark's YarnAllocatorNodeHealthTracker). Emits YARN_ACTION_EXCLUDE and
 * YARN_ACTION_INCLUDE when the set changes.
 */
#pragma once

#include "base/string_list.h"
#include "yarn/allocator/allocator_actions.h"
#include "yarn/allocator/failure_tracker.h"

struct node_health_config {
        bool exclude_on_launch_failure; /* spark.yarn.executor.launch.excludeOnFailure.enabled */
        int max_failures;               /* spark.excludeOnFailure.application.maxFailedExecutorsPerNode */
        int64_t timeout;                /* spark.excludeOnFailure.timeout, ns */
        struct string_list excluded;    /* spark.yarn.exclude.nodes */
        int64_t failures_validity;      /* spark.executor.failuresValidityInterval, ns; 0: failures count for ever */
};

struct excluded_host {
        char *host;
        int64_t until;
};

struct node_health {
        const struct node_health_config *config;
        struct failure_tracker failures;
        VEC(struct excluded_host) failing; /* where YARN failed too often */
        struct string_list by_scheduler;
        struct string_list current; /* sorted: what the ResourceManager was told */
        int cluster_nodes;          /* INT_MAX: not known */
};

/* @config is borrowed until node_health_deinit. */
void node_health_init(struct node_health *h, const struct node_health_config *config);
void node_health_deinit(struct node_health *h);

/* An executor failed on @host, NULL: not known. It counts unless the host is excluded already. */
void node_health_failed(struct node_health *h, const char *host, int64_t now, struct yarn_actions *actions);

/* The scheduler excludes these @n hosts, and no others any more. */
void node_health_set_scheduler(struct node_health *h, const char *const *hosts, size_t n, int64_t now,
                               struct yarn_actions *actions);

/* Ends the exclusions of failing hosts whose time is over. */
void node_health_expire(struct node_health *h, int64_t now, struct yarn_actions *actions);

/* Tells a ResourceManager that has forgotten the application: the whole set once more. */
void node_health_resend(struct node_health *h, int64_t now, struct yarn_actions *actions);

/* Every node of the cluster is excluded. */
bool node_health_excludes_all(const struct node_health *h);
