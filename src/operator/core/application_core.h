/*
 * The state machine of SparkApplications: (object, observed pods, time) in, actions out. Pure.
 *
 *      if (application_core_observe(core, &object))                an object or pod changed, or an action ended
 *              queue key "namespace/name"
 *      …
 *      deadline = application_core_reconcile(core, ns, name, now_ms);     when the queue yields the key
 *      while (application_core_next_action(core, &action)) {                also after application_core_done
 *              shell performs it, and later calls application_core_done(core, …)
 *              application_action_deinit(&action);
 *      }
 *      queue the key again at `deadline`
 *
 * Behaviour: kubeflow's operator v2. One call of application_core_reconcile enters at most one state. A state is
 * entered once the API server has stored the one before.
 *
 * Differs from the genuine operator: a driver that was evicted, preempted or lost with its node is started again
 * without using up a retry. A driver whose container has ended beside a running sidecar ends the application at once. A
 * submission that was interrupted is found and completed.
 *
 * Invariants: at most one action with an answer is under way for an application. The core never submits while a driver
 * pod of an earlier submission exists, and not before application_core_synced.
 *
 * Times are ms since 1970. Applications have keys "namespace/name". One thread.
 */
#pragma once

#include "operator/core/pod_observation.h"
#include "operator/resources/application_status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct application_core;

struct application_core_options {
        int64_t driver_creation_grace_ms; /* 0: 10 s. How long a missing driver pod is looked for */
        int64_t default_time_to_live_s;   /* 0: none */
        int32_t max_tracked_executors;    /* for an application; 0: 1000 */
        bool partial_restart;             /* gate PartialRestart */
        int32_t max_loss_restarts;        /* restarts after a loss of the pod that use up no retry; 0: 100 */
        bool ui_service;                  /* drivers get a service of their UI */
        bool batch_schedulers;            /* applications may name one, whose group CLEAN_UP deletes */
        bool default_batch_scheduler;     /* those that name none have one, too */
};

enum restart_type { RESTART_NEVER, RESTART_ON_FAILURE, RESTART_ALWAYS };

/* The part of an object's spec that the core needs: application_policy_read. */
struct application_policy {
        enum restart_type restart;
        int32_t failure_retries, submission_retries;       /* -1: unset */
        int64_t failure_interval_s, submission_interval_s; /* -1: unset */
        bool has_time_to_live;
        int64_t time_to_live_s;
        bool suspend;
        bool batch_scheduler; /* it names one */
        bool exposes_driver;  /* it asks for ingresses or a disruption budget of its driver */
        uint64_t spec_hash;
        uint64_t partial_hash; /* of the spec without the executor fields that PartialRestart excepts */
};

struct spark_application_spec;

/* Reads the policy of @spec with defaults, as spark_application_read makes it. @hash: its spec_hash. */
void application_policy_read(const struct spark_application_spec *spec, uint64_t hash, struct application_policy *out);

/*
 * Whether the restart policy allows another attempt in this state, and how long to wait for it: the ms from @now_ms,
 * at most 0 if it is due, or INT64_MAX if it never is (no interval, no attempt, no time of it).
 */
bool application_may_retry(const struct application_policy *policy, const struct application_status *status);
int64_t application_retry_wait_ms(const struct application_policy *policy, const struct application_status *status,
                                  int64_t now_ms);

/* An object as it was read. Texts are borrowed for the call. */
struct application_observation {
        const char *namespace, *name, *uid;
        int64_t generation, created_ms;
        uint64_t version; /* resourceVersion; 0: not a number */
        bool leaving;     /* has a deletion timestamp */
        bool known_spec;  /* application_core_knows: policy, driver_pod and invalid are not read again */
        struct application_policy policy;
        const char *driver_pod;           /* the name that its driver's pod gets */
        const char *invalid;              /* why it is refused; NULL: valid */
        const char *labels;               /* for metrics; the core does not read them. NULL: none */
        struct application_status status; /* borrowed; the core copies it */
};

enum application_action_kind {
        /* Answered: call application_core_done. */
        APPLICATION_SUBMIT,           /* create the driver pod and its objects, all or none */
        APPLICATION_FINISH_SUBMIT,    /* the pod exists: create those of its objects that are missing */
        APPLICATION_DELETE_RESOURCES, /* delete the driver pod, UI service and ingress; missing ones are fine */
        APPLICATION_EXPOSE,           /* create UI service, ingresses, disruption budget; existing ones are fine */
        APPLICATION_WRITE_STATUS,     /* replace the status subresource if the object still has `version` */
        APPLICATION_DELETE,           /* delete the object (its time to live is over) */
        APPLICATION_CLEAN_UP,         /* the application is about to end: delete the batch scheduler's group */
        APPLICATION_FIND_DRIVER,      /* read the driver's pod and observe it: a watch may be late. NOT_FOUND: gone */
        /* Not answered. */
        APPLICATION_EVENT,
        APPLICATION_TRANSITION,     /* for metrics */
        APPLICATION_EXECUTOR_ENDED, /* for metrics */
};

struct application_action {
        enum application_action_kind kind;
        uint64_t ticket; /* for application_core_done; 0: not answered */
        char *namespace, *name, *uid;
        uint64_t version;
        int64_t generation;
        char *submission_id;      /* of the submission to make, complete or delete */
        char *pod_name, *pod_uid; /* the driver's pod; pod_uid may be NULL */
        uint64_t spec_hash;
        struct application_status status;             /* WRITE_STATUS */
        const char *event_type, *event_reason;        /* EVENT: "Normal" or "Warning", "SparkApplicationSubmitted" */
        char *message;                                /* EVENT */
        char *labels;                                 /* TRANSITION, EXECUTOR_ENDED: of the observation, or NULL */
        bool succeeded;                               /* EXECUTOR_ENDED */
        enum application_state from, to;              /* TRANSITION */
        int64_t since_created_ms, since_submitted_ms; /* TRANSITION */
};

void application_action_deinit(struct application_action *a);

/* The result of an action. */
enum application_result {
        APPLICATION_RESULT_OK,
        APPLICATION_RESULT_FAILED,    /* final for SUBMIT, EXPOSE, CLEAN_UP: `message`. Others will be tried again */
        APPLICATION_RESULT_RETRY,     /* no answer, or the server was too busy: nothing is known */
        APPLICATION_RESULT_CONFLICT,  /* WRITE_STATUS: the object has changed. SUBMIT: another pod has the driver's name
                                       */
        APPLICATION_RESULT_NOT_FOUND, /* the object is gone */
};

struct application_answer {
        enum application_result result;
        const char *message; /* NULL for OK */
        uint64_t version;    /* WRITE_STATUS: the new resourceVersion */
        /* EXPOSE; SUBMIT and FINISH_SUBMIT if `exposed`, with why the server refused it, or NULL. */
        bool exposed;
        const char *expose_error;
        const char *ui_service, *ui_address, *ui_ingress, *ui_ingress_address;
        int32_t ui_port;
        /* SUBMIT, FINISH_SUBMIT: the driver's pod. */
        const char *pod_uid;
        const char *application_id; /* its label spark-app-selector, or NULL */
};

struct application_core *application_core_new(const struct application_core_options *options);
void application_core_free(struct application_core *core);

/*
 * Observations. Return true if the application should be queued for application_core_reconcile. Older ones than the
 * known are ignored. An application that is not known yet keeps its pods.
 */
bool application_core_observe(struct application_core *core, const struct application_observation *o);

/*
 * Whether the core has the object's spec of this generation. Most events of an application are changes of its status,
 * for which the spec need not be read.
 */
bool application_core_knows(const struct application_core *core, const char *namespace, const char *name,
                            const char *uid, int64_t generation);
bool application_core_removed(struct application_core *core, const char *namespace, const char *name, const char *uid);
bool application_core_observe_pod(struct application_core *core, const struct pod_observation *pod);
bool application_core_pod_removed(struct application_core *core, const struct pod_observation *pod);

/*
 * Returns the application of a known pod by the pod's name, and whether it is the driver, or NULL. @uid: of the pod, of
 * which the core knows only the driver's. Borrowed until the next observation.
 */
const char *application_core_pod_owner(const struct application_core *core, const char *namespace, const char *pod,
                                       const char *uid, bool *is_driver);

/* The first complete lists of objects and pods were passed. Before that, reconcile does nothing. */
void application_core_synced(struct application_core *core);

/* Emits the actions for one application. Returns the time at which to call it again without a cause, or INT64_MAX. */
int64_t application_core_reconcile(struct application_core *core, const char *namespace, const char *name,
                                   int64_t now_ms);
bool application_core_next_action(struct application_core *core, struct application_action *action);

/* An action has ended. Returns true if the application should be queued, after a pause if the action failed. */
bool application_core_done(struct application_core *core, const char *namespace, const char *name, uint64_t ticket,
                           const struct application_answer *answer, int64_t now_ms);

/* The current state as known, or APPLICATION_NEW. For metrics and tests. */
enum application_state application_core_state(const struct application_core *core, const char *namespace,
                                              const char *name);
size_t application_core_count(const struct application_core *core, enum application_state state);

/* Calls @visit for each application with what runs of it. For metrics. */
typedef void application_running_visit(void *owner, const char *labels, bool application, size_t executors);
void application_core_visit_running(const struct application_core *core, application_running_visit *visit, void *owner);
