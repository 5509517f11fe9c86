/*
 * The state machine of SparkApplications of spark.apache.org: (object, observed pods, time) in, actions out. Pure.
 *
 *      if (apache_core_observe(core, &object))                      an object or pod changed, or an action ended
 *              queue key "namespace/name"
 *      …
 *      deadline = apache_core_reconcile(core, ns, name, now_ms);    when the queue yields the key
 *      while (apache_core_next_action(core, &action)) {             also after apache_core_done
 *              shell performs it, and later calls apache_core_done(core, …)
 *              apache_action_deinit(&action);
 *      }
 *      queue the key again at `deadline`
 *
 * Behaviour: the states of Apache's spark-kubernetes-operator. Each state is stored before the next one is entered.
 *
 * Differs from Apache's operator: an API server that is busy or does not answer is asked again, and fails nothing. A
 * driver whose pod was deleted counts as failed once the API server confirms it, without a minute of grace. A driver's
 * end is seen before executors are counted. An invalid application is not restarted. The state's message says why in
 * words. Objects get no finalizer, and lose the one of Apache's operator when they are deleted. The times of a status
 * that are in the future count from the core's first look at it.
 *
 * Invariants: at most one action with an answer is under way for an application. The pods of a namespace are passed
 * before its objects.
 *
 * Times are ms since 1970. Applications have keys "namespace/name". One thread.
 */
#pragma once

#include "operator/apache/apache_policy.h"

#include <stddef.h>

struct apache_core;

enum apache_pod_end {
        APACHE_POD_LIVES,
        APACHE_POD_SUCCEEDED,
        APACHE_POD_FAILED,
        APACHE_POD_EVICTED,
        APACHE_POD_INIT_FAILED, /* an init container failed */
        APACHE_POD_RESTARTED,   /* its container was started again, which loses the application */
};

/* A pod as it was read (apache_reading.h). Texts are borrowed for the call. */
struct apache_pod {
        const char *namespace, *name, *uid;
        const char *application;    /* the label APACHE_LABEL_APPLICATION */
        const char *application_id; /* the label spark-app-selector */
        uint64_t version;           /* resourceVersion; 0: not a number */
        bool is_driver, leaving, ready;
        /* The rest is read of a driver only. */
        bool started; /* its container is ready */
        bool container_ended, container_restarted;
        enum apache_pod_end end;
        int exit_code;
        const char *reason, *message, *waiting, *waiting_message; /* or NULL */
};

/* An object as it was read. Texts are borrowed for the call. */
struct apache_observation {
        const char *namespace, *name, *uid;
        uint64_t version; /* resourceVersion; 0: not a number */
        int64_t generation, created_ms;
        bool leaving;  /* has a deletion timestamp */
        int finalizer; /* 1 + the index of Apache's finalizer in metadata.finalizers; 0: it has none */
        struct apache_policy policy;
        const char *own_id, *own_driver_pod; /* from sparkConf, or NULL */
        const char *invalid;                 /* why it is refused; NULL: valid */
        const char *labels;                  /* for metrics; the core does not read them. NULL: none */
        struct apache_status status;
};

enum apache_action_kind {
        /* Answered: call apache_core_done. */
        APACHE_SUBMIT,       /* create the objects of the attempt; those that exist and are its own are fine */
        APACHE_RELEASE,      /* delete the driver's pod, which owns the other objects; a missing one is fine */
        APACHE_WRITE_STATUS, /* apache_status_patch(from, transition, version) */
        APACHE_DELETE,       /* delete the object (its time to live is over) */
        APACHE_FIND_DRIVER,  /* read the driver's pod and observe it: a watch may be late. NOT_FOUND: gone */
        APACHE_LET_GO,       /* remove the finalizer of Apache's operator from an object that is being deleted */
        /* Not answered. */
        APACHE_EVENT,
        APACHE_TRANSITION, /* for metrics */
};

struct apache_action {
        enum apache_action_kind kind;
        uint64_t ticket; /* for apache_core_done; 0: not answered */
        char *namespace, *name, *uid;
        uint64_t version;
        int64_t attempt;               /* SUBMIT */
        char *app_id;                  /* the label spark-app-selector of the attempt */
        char *driver_pod, *driver_uid; /* driver_uid may be NULL */
        bool force;                    /* RELEASE: without a grace period */
        int finalizer;                 /* LET_GO: as in the observation */
        struct apache_status from;     /* WRITE_STATUS */
        struct apache_transition transition;
        bool warning; /* EVENT */
        char *reason, *message;
        char *labels;                                 /* TRANSITION: of the observation, or NULL */
        enum apache_state before, to;                 /* TRANSITION */
        int64_t since_created_ms, since_submitted_ms; /* TRANSITION; the latter of this attempt */
};

void apache_action_deinit(struct apache_action *a);

enum apache_result {
        APACHE_RESULT_OK,
        APACHE_RESULT_FAILED,    /* final for SUBMIT: `message`. Others will be tried again */
        APACHE_RESULT_RETRY,     /* no answer, or the server was too busy: nothing is known */
        APACHE_RESULT_CONFLICT,  /* WRITE_STATUS: the object has changed */
        APACHE_RESULT_NOT_FOUND, /* the object is gone */
};

struct apache_core_options {
        /*
         * The objects are SparkClusters: a submission makes them RunningHealthy, and every state after it is final, but
         * that a refused submission is repeated after pauses, and an invalid object after its correction. APACHE_SUBMIT
         * applies the cluster's objects. Pods are not observed.
         */
        bool clusters;
        int64_t driver_grace_ms; /* 0: 10 s. How long a missing driver pod is waited for before it is looked for */
};

struct apache_core *apache_core_new(const struct apache_core_options *options);
void apache_core_free(struct apache_core *core);

/*
 * Observations. Return true if the application should be queued for apache_core_reconcile. Older ones than the known
 * are ignored. An application that is not known yet keeps its pods.
 */
bool apache_core_observe(struct apache_core *core, const struct apache_observation *o);
bool apache_core_removed(struct apache_core *core, const char *namespace, const char *name, const char *uid);
bool apache_core_observe_pod(struct apache_core *core, const struct apache_pod *pod);

/* @uid NULL: any pod of the name. Returns the application to queue, borrowed until the next observation, or NULL. */
const char *apache_core_pod_removed(struct apache_core *core, const char *namespace, const char *name, const char *uid);

/* Emits the actions for one application. Returns the time at which to call it again without a cause, or INT64_MAX. */
int64_t apache_core_reconcile(struct apache_core *core, const char *namespace, const char *name, int64_t now_ms);
bool apache_core_next_action(struct apache_core *core, struct apache_action *action);

/*
 * An action has ended. @message: why it failed, or NULL. @version: of WRITE_STATUS, the new resourceVersion. Returns
 * true if the application should be queued, after a pause if the action failed.
 */
bool apache_core_done(struct apache_core *core, const char *namespace, const char *name, uint64_t ticket,
                      enum apache_result result, const char *message, uint64_t version, int64_t now_ms);

/* The current state as known, or APACHE_NEW. For metrics and tests. */
enum apache_state apache_core_state(const struct apache_core *core, const char *namespace, const char *name);

/* Calls @visit for each application with what runs of it. For metrics. */
typedef void apache_running_visit(void *owner, const char *labels, bool application, size_t executors);
void apache_core_visit_running(const struct apache_core *core, apache_running_visit *visit, void *owner);
