/*
 * The operations of commands on applications and schedules, through the API server: each function blocks.
 *
 *      r = operator_client_open(NULL, &client, error);
 *      r = operator_client_kill(client, "jobs", "pi", error);
 *      operator_client_free(client);
 *
 * The functions change objects, and the operator acts on the change. All of them work with the genuine operator, too.
 * SparkApplications are those of both groups, unless a function says otherwise.
 *
 * Errors: negative with a message; -ENOENT if there is no such object, -EACCES without the right. One thread.
 */
#pragma once

#include "kubernetes/api/kube_client.h"

struct operator_client;
struct fst_error;

/* Those of spark.apache.org come last: where both groups have an object of a name, it is the other's. */
enum application_kind {
        KIND_SPARK_APPLICATION,
        KIND_SCHEDULE,
        KIND_APACHE_APPLICATION, /* SparkApplication of spark.apache.org */
        KIND_SPARK_CLUSTER,
        N_APPLICATION_KINDS,
};

/* Returns the kind as users write it, such as "SparkApplication of spark.apache.org". */
const char *application_kind_name(enum application_kind kind);

/* Return the members kind and apiVersion of objects of a kind. */
const char *application_kind_of(enum application_kind kind);
const char *application_kind_api(enum application_kind kind);

/* Reads the kubeconfig files, or the pod's account. @kubeconfig NULL: KUBECONFIG, ~/.kube/config. */
int operator_client_open(const char *kubeconfig, struct operator_client **out, struct fst_error *error);
void operator_client_free(struct operator_client *c); /* NULL is allowed */

/* The namespace of the context. */
const char *operator_client_namespace(const struct operator_client *c);

/* Returns an array of all objects of a kind, sorted by namespace and name. @namespace NULL: all. The caller owns it. */
int operator_client_list(struct operator_client *c, enum application_kind kind, const char *namespace, json_t **out,
                         struct fst_error *error);

/* Reads an object. The caller owns it. */
int operator_client_get(struct operator_client *c, enum application_kind kind, const char *namespace, const char *name,
                        json_t **out, struct fst_error *error);

/* Finds the first object @name, in the order of the kinds. Kinds that the user may not read are left out. */
int operator_client_find(struct operator_client *c, const char *namespace, const char *name,
                         enum application_kind *kind, json_t **out, struct fst_error *error);

/* Deletes the driver's pod. The application fails, or its restart policy starts it again. */
int operator_client_kill(struct operator_client *c, const char *namespace, const char *name, struct fst_error *error);

/* Makes the operator submit the application again, from the beginning, also after its end. Not of spark.apache.org. */
int operator_client_restart(struct operator_client *c, const char *namespace, const char *name,
                            struct fst_error *error);

/* Starts a run of a schedule now. *@run: its name, owned by the caller. */
int operator_client_reschedule(struct operator_client *c, const char *namespace, const char *schedule, char **run,
                               struct fst_error *error);

/* Creates the application @name with the template of a schedule, which does not own it. */
int operator_client_create_from(struct operator_client *c, const char *namespace, const char *schedule,
                                const char *name, struct fst_error *error);

/* Suspends or resumes an application or a schedule. Not of spark.apache.org. */
int operator_client_suspend(struct operator_client *c, const char *namespace, const char *name, bool suspend,
                            struct fst_error *error);

/* Deletes an object of any kind, and all that belongs to it. */
int operator_client_delete(struct operator_client *c, const char *namespace, const char *name, struct fst_error *error);

/* Creates an object, in its own namespace if it names one. */
int operator_client_create(struct operator_client *c, const char *namespace, const json_t *object,
                           struct fst_error *error);

/*
 * Finds the driver's pod, and the port of its UI: that of the status, else spark.ui.port, else 4040. The caller owns
 * *@pod. -ENOENT if the application has no driver yet.
 */
int operator_client_driver_ui(struct operator_client *c, const char *namespace, const char *name, char **pod,
                              int *ui_port, struct fst_error *error);

/* Returns 1 while a pod is pending or runs, 0 if it has ended or is gone, or negative with @error. */
int operator_client_pod_lives(struct operator_client *c, const char *namespace, const char *pod,
                              struct fst_error *error);

/* The address and credentials; valid until operator_client_free. Any thread may read them. */
const struct kube_config *operator_client_config(const struct operator_client *c);

/*
 * Writes the log of the driver, or of executor @executor, to @sink. @follow: until the container has ended. -ENOENT if
 * the application has no such pod yet.
 */
int operator_client_logs(struct operator_client *c, const char *namespace, const char *name, const char *executor,
                         bool follow, kube_sink *sink, void *owner, struct fst_error *error);

/* Returns an array of the events of an application, oldest first. The caller owns it. */
int operator_client_events(struct operator_client *c, const char *namespace, const char *name, json_t **out,
                           struct fst_error *error);
