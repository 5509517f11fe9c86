/*
 * The driver's record of an executor pod: executor id, state, and details for messages. A pod is some 8 KB of JSON.
 * This record is one block of some 250 bytes, so that a driver can hold thousands. Container details are stored only
 * after the pod has ended.
 *
 *      struct pod_state *pod;
 *      if (pod_state_read(json, &rules, &pod) == 0) {
 *              printf("%d is %s\n", pod->id, pod_state_kind_name(pod->kind));
 *              pod_state_unref(pod);
 *      }
 *
 * Immutable and reference-counted. Counting uses no locks: one thread.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Spark's ExecutorPodState. */
enum pod_state_kind {
        POD_PENDING,
        POD_RUNNING,
        POD_SUCCEEDED,
        POD_FAILED,
        POD_DELETED,     /* being deleted, or gone, and not running */
        POD_TERMINATING, /* a phase of some API servers */
        POD_UNKNOWN,     /* the server has no contact with the node */
};

/* For tests: returns "pending", … */
const char *pod_state_kind_name(enum pod_state_kind kind);

/* The pod does not run again: succeeded, failed or deleted. */
bool pod_state_kind_is_final(enum pod_state_kind kind);

enum container_kind { CONTAINER_UNTOLD, CONTAINER_WAITING, CONTAINER_RUNNING, CONTAINER_TERMINATED };

/* A container's status from the server. Absent texts are NULL. */
struct pod_container {
        const char *name, *image;
        enum container_kind kind;
        const char *started, *finished; /* in the server's time format */
        const char *reason;             /* "OOMKilled", "Error", "ImagePullBackOff" */
        const char *memory_limit;       /* from its spec: "1408Mi" */
        int exit_code;                  /* of a terminated container */
};

/* Reads one of status.containerStatuses. @spec: its part of spec.containers, or NULL. Texts are borrowed from both. */
struct pod_container pod_container_read(const json_t *status, const json_t *spec);

/* An unusual reason why a pod waits: "Unschedulable" and "0/3 nodes are available: …". */
struct pod_wait {
        const char *reason, *message; /* NULL: no unusual reason */
        const char *container;        /* NULL: the pod itself waits */
};

/* Returns the condition @type of a pod's status if its status is @value ("True"), or NULL. */
const json_t *pod_condition_find(const json_t *status, const char *type, const char *value);

/* Finds the reason in a pod's status. Texts are borrowed from it. */
struct pod_wait pod_wait_read(const json_t *status);

struct pod_state {
        int refs;
        int32_t id;      /* executor id */
        int32_t profile; /* resource profile id; 0 without label */
        enum pod_state_kind kind;
        bool leaving;  /* has a deletion timestamp */
        bool inactive; /* has the label for ended pods that are kept for inspection */
        bool ended;    /* the Spark container has terminated with exit_code */
        int exit_code;
        int32_t n_containers, n_claims;
        uint64_t version; /* metadata.resourceVersion; 0: absent or not a number */
        int64_t created;  /* by the server's clock, ms since 1970; 0: unknown */
        const char *name, *uid, *node;
        const char *reason, *message; /* status.reason, .message: "Evicted", … */
        /* Why it waits, if the status tells: "Unschedulable" and "0/3 nodes are available: …". */
        const char *waiting, *waiting_message;
        const char *waiting_container; /* NULL: the pod itself */
        /* Reason of its condition DisruptionTarget: "PreemptionByScheduler", "DeletionByTaintManager", … */
        const char *disruption, *disruption_message;
        const struct pod_container *containers; /* set if kind is final */
        const char *const *claims;              /* names of its persistent volume claims */
};

/* Rules for reading pods. */
struct pod_rules {
        /* The Spark container: spark.kubernetes.executor.podTemplateContainerName. NULL: Spark's default. */
        const char *container;
        bool check_all; /* spark.kubernetes.executor.checkAllContainers: any failed container fails the pod */
};

/* The pod has no executor id (or "EXECID" from a StatefulSet template), or no name. */
#define FST_POD_E_NO_EXECUTOR 1

/* Reads a pod into *@out with one reference. Returns 0, or FST_POD_E_NO_EXECUTOR if it is not an executor pod. */
int pod_state_read(const json_t *pod, const struct pod_rules *rules, struct pod_state **out);

/* Returns a copy of @pod as deleted, for a deletion whose event has only the name. *@out has one reference. */
struct pod_state *pod_state_deleted(const struct pod_state *pod);

/* Whether all fields but the version are equal. */
bool pod_state_same(const struct pod_state *a, const struct pod_state *b);

struct pod_state *pod_state_ref(struct pod_state *pod);

/* NULL is allowed. */
void pod_state_unref(struct pod_state *pod);

/*
 * Parses "2026-11-22T08:42:00Z", with fractions and offsets, to ms since 1970. Returns 0 for an invalid time. NULL is
 * allowed.
 */
int64_t pod_time_read(const char *text);
