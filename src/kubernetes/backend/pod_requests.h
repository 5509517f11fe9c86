/*
 * What is asked of the API server about executors' pods that are there: to delete them, one after the end of its log
 * was put into ours, or many by their labels; to label them; to list the claims that they mount. Nobody waits for an
 * answer but to claims and to the last deletion; what fails is told in the log.
 */
#pragma once

#include "kubernetes/executors/pods_allocator.h"

struct kube_client;
struct pod_calls;
struct pod_state;

/* How much of the log of an executor that failed is put into the driver's. */
#define POD_LOG_LINES 100
#define POD_LOG_BYTES 16384

/* Borrowed as long as the calls are. */
struct pod_calls_options {
        struct kube_client *client;
        const char *namespace, *app_id;
        const char *container; /* that runs Spark, where a pod has more than one */
};

struct pod_calls_ops {
        /* The application's claims; @n negative: they cannot be listed. Borrowed for the call. */
        void (*claims)(void *owner, const struct pod_claim *claims, int n);
};

/* @options is copied; @ops and @owner are borrowed. Never NULL. */
struct pod_calls *pod_calls_new(const struct pod_calls_options *options, const struct pod_calls_ops *ops, void *owner);

/* Nothing is answered any more. Before the client is freed, or right after it. NULL is allowed. */
void pod_calls_free(struct pod_calls *calls);

/* POD_ACTION_DELETE_MANY, POD_ACTION_DELETE and POD_ACTION_LIST_CLAIMS of pod_actions.h. */
void pod_calls_delete_pods(struct pod_calls *calls, const int32_t *ids, int n, bool pending);
void pod_calls_delete_pod(struct pod_calls *calls, const struct pod_state *pod, bool log_first);
void pod_calls_list_claims(struct pod_calls *calls);

/* Set a label of a pod; @value "" is allowed. */
void pod_calls_label(struct pod_calls *calls, const char *pod, const char *label, const char *value);

/* Delete all of the application's objects of a kind, "pods", …; those with this role unless it is NULL. */
void pod_calls_delete_all(struct pod_calls *calls, const char *resource, const char *role);

/* Delete these pods, some hundred side by side: the API server deletes what one call names one after the other. */
void pod_calls_delete_known(struct pod_calls *calls, const struct pods_snapshot *pods);

/* Of the last two: without an answer yet. */
int pod_calls_deleting(const struct pod_calls *calls);

/* Logs that have not come to their end: of pods that are not to be deleted before that. */
int pod_calls_fetching(const struct pod_calls *calls);
