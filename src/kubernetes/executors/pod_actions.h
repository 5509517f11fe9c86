/*
 * The actions of the core of executor pods (executor_pods.h), in order. Its parts append actions. The backend takes
 * them one by one (executor_pods_next_action) and performs them.
 *
 * Behaviour: the API server answers only POD_ACTION_CREATE and POD_ACTION_LIST_CLAIMS, and each of these answers is an
 * event. The core repeats every other action as long as it has no effect, so a lost answer costs only time.
 *
 * Ownership: an action owns the objects that it points to. The backend borrows it until it takes the next one.
 */
#pragma once

#include "base/log.h"
#include "base/queue.h"
#include "kubernetes/executors/exit_reason.h"

enum pod_action_kind {
        /*
         * create: build and create the pod of executor `id`. Answered by pods_allocator_created or
         * pods_allocator_create_failed. `recovery`: the executor runs one task at a time. The pod mounts claim
         * `claims[i]` in place of the i-th claim of pods_allocator_config.claims, and a new claim where that is NULL.
         */
        POD_ACTION_CREATE,
        /*
         * delete_many: DELETE …/pods?labelSelector=spark-app-selector=APP,spark-role=executor,spark-exec-id in (IDS),
         * and with `pending` &fieldSelector=status.phase=Pending. At most MAX_PODS_DELETE ids.
         */
        POD_ACTION_DELETE_MANY,
        /*
         * delete: DELETE …/pods/NAME with its uid as precondition, after the tail of the log of its Spark container
         * was copied into the driver's if `log_first`. A pod that is gone already is not an error.
         */
        POD_ACTION_DELETE,
        /* pod: PATCH …/pods/NAME with the label spark-exec-inactive=true. */
        POD_ACTION_LABEL_INACTIVE,
        /*
         * GET …/persistentvolumeclaims?labelSelector=spark-app-selector=APP. Answered by pods_allocator_claims. Only
         * with pods_allocator_config.reuse_claims.
         */
        POD_ACTION_LIST_CLAIMS,
        /* remove: the scheduler removes the executor. If it knew the executor, it calls executor_pods_unregistered. */
        POD_ACTION_REMOVE_EXECUTOR,
        /* stop: too many executors failed. End the application with this exit code. At most once. */
        POD_ACTION_STOP_APPLICATION,
        POD_ACTION_LOG,
};

#define MAX_PODS_DELETE 200

struct pod_action {
        enum pod_action_kind kind;
        union {
                struct {
                        int32_t id, profile;
                        bool recovery;
                        char **claims;
                        int n_claims;
                } create;
                struct {
                        int32_t *ids;
                        int n;
                        bool pending;
                } delete_many;
                struct {
                        struct pod_state *pod; /* a reference */
                        bool log_first;
                } delete;
                struct pod_state *pod; /* a reference */
                struct {
                        int32_t id;
                        struct exit_reason reason;
                } remove;
                struct {
                        int exit_code;
                        char *message;
                } stop;
                struct {
                        enum log_level level;
                        const char *component; /* static */
                        char *line;
                } log;
        };
};

struct pod_actions {
        QUEUE(struct pod_action) queue;
        struct pod_action current; /* the last action taken */
        bool has_current;
};

void pod_actions_deinit(struct pod_actions *actions);

/* Appends @action and takes ownership of its content. */
void pod_actions_push(struct pod_actions *actions, struct pod_action action);
void pod_actions_log(struct pod_actions *actions, enum log_level level, const char *component, const char *format, ...)
        __attribute__((format(printf, 4, 5)));

/* Takes the oldest action, or returns NULL. Borrowed until the next call. */
const struct pod_action *pod_actions_next(struct pod_actions *actions);
