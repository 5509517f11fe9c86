/*
 * What the driver keeps of an executor's pod: which executor it is, how it is, and what a person may want to know about
 * it. A pod is some 8 KB of JSON; this is some 250 bytes, in one block, so that thousands fit into a driver. What only
 * matters at the end (its containers, how each of them ended) is only kept of a pod that has ended.
 *
 *      struct pod_state *pod;
 *      if (pod_state_read(json, &rules, &pod) == 0) {
 *              printf("%d is %s\n", pod->id, pod_state_kind_name(pod->kind));
 *              pod_state_unref(pod);
 *      }
 *
 * It never changes once it was read; who keeps it takes a reference. References are counted without locks: one thread.
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
        POD_DELETED,     /* it is to go, or gone, and does not run */
        POD_TERMINATING, /* a phase that some API servers have */
        POD_UNKNOWN,     /* the server does not know: its node is not heard of */
};

/* "pending", … */
const char *pod_state_kind_name(enum pod_state_kind kind);

/* It will not run (again): succeeded, failed or deleted. */
bool pod_state_kind_is_final(enum pod_state_kind kind);

enum container_kind { CONTAINER_UNTOLD, CONTAINER_WAITING, CONTAINER_RUNNING, CONTAINER_TERMINATED };

/* A container, as the server says it is. Texts are NULL where the server says nothing. */
struct pod_container {
        const char *name, *image;
        enum container_kind kind;
        const char *started, *finished; /* as the server writes times */
        const char *reason;             /* "OOMKilled", "Error", "ImagePullBackOff" */
        const char *memory_limit;       /* of its spec: "1408Mi" */
        int exit_code;                  /* of a terminated one */
};

/* One of status.containerStatuses; @spec: its part of spec.containers, or NULL. Texts are borrowed from both. */
struct pod_container pod_container_read(const json_t *status, const json_t *spec);

/* What a pod waits for that is out of the ordinary: "Unschedulable" and "0/3 nodes are available: …". */
struct pod_wait {
        const char *reason, *message; /* @reason NULL: nothing */
        const char *container;        /* NULL: the pod itself waits */
};

/* Of a pod's status. Texts are borrowed from it. */
struct pod_wait pod_wait_read(const json_t *status);

struct pod_state {
        int refs;
        int32_t id;      /* of the executor */
        int32_t profile; /* of resources; 0 without label */
        enum pod_state_kind kind;
        bool leaving;  /* it has a deletion timestamp */
        bool inactive; /* labelled so: it ended, and was left for people to look at */
        bool ended;    /* the Spark container has terminated: exit_code is its status */
        int exit_code;
        int32_t n_containers, n_claims;
        uint64_t version; /* metadata.resourceVersion; 0: none, or no number */
        int64_t created;  /* by the server's clock, ms since 1970; 0: not said */
        const char *name, *uid, *node;
        const char *reason, *message; /* status.reason, .message: "Evicted", … */
        /* What for it waits, if that is said: "Unschedulable" and "0/3 nodes are available: …". */
        const char *waiting, *waiting_message;
        const char *waiting_container; /* NULL: the pod itself */
        /* Its condition DisruptionTarget: "PreemptionByScheduler", "DeletionByTaintManager", … */
        const char *disruption, *disruption_message;
        const struct pod_container *containers; /* if kind is final */
        const char *const *claims;              /* names of the persistent volume claims that it mounts */
};

/* How pods are read. */
struct pod_rules {
        const char *container; /* that runs Spark: spark.kubernetes.executor.podTemplateContainerName; NULL: as Spark
                                  names it */
        bool check_all;        /* spark.kubernetes.executor.checkAllContainers: one that fails fails the pod */
};

/* The pod has no executor id (or "EXECID", which stands in templates of stateful sets), or no name. */
#define FST_POD_E_NO_EXECUTOR 1

/* Read a pod. *@out: one reference. 0, or FST_POD_E_NO_EXECUTOR: it is not an executor's pod. */
int pod_state_read(const json_t *pod, const struct pod_rules *rules, struct pod_state **out);

/*
 * The same pod as it was, but deleted: for a deletion of which the server only tells the name. *@out: one reference.
 */
struct pod_state *pod_state_deleted(const struct pod_state *pod);

/* Whether all that is kept is the same, but for the version. */
bool pod_state_same(const struct pod_state *a, const struct pod_state *b);

struct pod_state *pod_state_ref(struct pod_state *pod);

/* NULL is allowed. */
void pod_state_unref(struct pod_state *pod);

/* "2026-11-22T08:42:00Z", with fractions and offsets, as ms since 1970; 0 if it is no time. NULL is allowed. */
int64_t pod_time_read(const char *text);
