/*
 * Requests about existing executor pods: deletes one pod (optionally after its last log lines went to the driver's log)
 * or many by label, labels a pod, lists claims. Only the claims and the final deletions report a result. Other failures
 * are logged.
 */
#pragma once

#include "kubernetes/executors/pods_allocator.h"

struct kube_client;
struct pod_requests;
struct pod_state;

/* How much of a failed executor's log goes to the driver's. */
#define POD_LOG_LINES 100
#define POD_LOG_BYTES 16384

/* Borrowed while the object lives. */
struct pod_requests_options {
        struct kube_client *client;
        const char *namespace, *app_id;
        const char *container; /* the Spark container, for pods with more than one */
};

struct pod_requests_ops {
        /* The application's claims. @n negative: they cannot be listed. Borrowed for the call. */
        void (*claims)(void *owner, const struct pod_claim *claims, int n);
};

/* Copies @options. @ops and @owner are borrowed. Never NULL. */
struct pod_requests *pod_requests_new(const struct pod_requests_options *options, const struct pod_requests_ops *ops,
                                      void *owner);

/* Makes no further callbacks. Call it before the client is freed, or right after. NULL is allowed. */
void pod_requests_free(struct pod_requests *calls);

/* POD_ACTION_DELETE_MANY, POD_ACTION_DELETE and POD_ACTION_LIST_CLAIMS of pod_actions.h. */
void pod_requests_delete_pods(struct pod_requests *calls, const int32_t *ids, int n, bool pending);
void pod_requests_delete_pod(struct pod_requests *calls, const struct pod_state *pod, bool log_first);
void pod_requests_list_claims(struct pod_requests *calls);

/* Sets a label of a pod. @value "" is allowed. */
void pod_requests_label(struct pod_requests *calls, const char *pod, const char *label, const char *value);

/* Deletes all of the application's objects of a kind ("pods", …), with this role unless it is NULL. */
void pod_requests_delete_all(struct pod_requests *calls, const char *resource, const char *role);

/* Deletes these pods with some hundred concurrent requests: the server deletes the pods of one request one by one. */
void pod_requests_delete_known(struct pod_requests *calls, const struct pods_snapshot *pods);

/* Returns the number of calls of the two functions above without a response. */
int pod_requests_deleting(const struct pod_requests *calls);

/* Returns the number of running log fetches, whose pods are not deleted yet. */
int pod_requests_fetching(const struct pod_requests *calls);
