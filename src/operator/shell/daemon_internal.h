/* The types and calls that the parts of the operator's daemon share. */
#pragma once

#include "base/list.h"
#include "base/mem.h"
#include "kubernetes/api/kube_client.h"
#include "kubernetes/api/kube_watch.h"
#include "operator/apache/apache_core.h"
#include "operator/core/application_core.h"
#include "operator/render/application_objects.h"
#include "operator/schedule/schedule_core.h"
#include "operator/shell/kube_event_recorder.h"
#include "operator/shell/operator_metrics.h"
#include "operator/shell/waiting_objects.h"
#include "operator/shell/work_queue.h"

#define OPERATOR_LOG "SparkOperator"

/* An answer without spec and status: the API server need not write them, and the operator need not parse them. */
#define KUBE_ACCEPT_METADATA "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"

#define OPERATOR_API "sparkoperator.k8s.io/v1beta2"
#define APPLICATIONS_RESOURCE "sparkapplications"
#define CLUSTERS_RESOURCE "sparkclusters"
#define SCHEDULES_RESOURCE "scheduledsparkapplications"

/* The kinds of keys in the work queue. */
enum work_kind { WORK_APPLICATION, WORK_SCHEDULE, WORK_APACHE_APPLICATION, WORK_SPARK_CLUSTER };

/* A request under way for an action. The daemon cancels those that remain when it ends. */
struct operator_call {
        struct operator_call *prev, *next;
        struct operator_daemon *daemon;
        struct kube_call *call; /* NULL while none runs */
        void (*free)(struct operator_call *call);
};

struct operator_context {
        struct kube_client *client;
        struct schedule_core *schedules;
        struct application_core *applications;
        struct waiting_objects *waiting;
        struct apache_core *apache, *clusters; /* NULL: --enable-apache-applications is not given */
        struct kube_event_recorder *events;
        struct operator_metrics *metrics;
        struct render_options render; /* but for the submission's id */
        struct work_queue *queue;
        LIST(struct operator_call) calls;
        size_t n_calls;
};

struct operator_context *operator_daemon_context(struct operator_daemon *d);

/*
 * A thread reads the context from now on, until its end on the loop's thread. The daemon keeps the context until then,
 * even if it stops.
 */
void operator_daemon_thread_began(struct operator_daemon *d);
void operator_daemon_thread_ended(struct operator_daemon *d);

void operator_call_begin(struct operator_call *call, struct operator_daemon *d);

/* Removes the call, frees it, and lets the daemon continue: @queue tells whether the key has work, @failed to pause. */
void operator_call_end(struct operator_call *call, enum work_kind kind, const char *namespace, const char *name,
                       bool queue, bool failed);

/* Performs an action of the schedules' core, and steals its content. */
void schedule_action_perform(struct operator_daemon *d, struct schedule_action *action);

/*
 * Returns a JSON patch that replaces the status of an object if it still has the version @version. The caller owns it.
 * Steals @status.
 */
json_t *status_patch(uint64_t version, json_t *status);
