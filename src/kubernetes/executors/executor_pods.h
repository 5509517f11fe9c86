/*
 * The pods of an application's executors: the pure core of the driver's side on Kubernetes. What the API server says
 * and what the scheduler wants go in, with the time; creations, deletions and removals come out.
 *
 *      struct executor_pods *p = executor_pods_new(&config, &ops, owner);
 *      executor_pods_start(p, now);
 *      executor_pods_set_target(p, 0, 1000, now);                  → ops.create_pod × the window
 *      executor_pods_created(p, 1, now);                           ← the answer to the first → ops.create_pod
 *      executor_pods_pod(p, json, now);                            ← the watch: ADDED, MODIFIED
 *      executor_pods_registered(p, 1, now);                        ← the executor has connected
 *      executor_pods_pod_gone(p, json, now);                       ← the watch: DELETED  → ops.remove_executor, …
 *      uv_timer_start(…, executor_pods_deadline(p) - now);         → executor_pods_tick(p, now)
 *
 * WHO DOES WHAT. It puts these together, and is all that its owner needs:
 *
 *      snapshots_store.h     what pods there are, and who is told of their changes when
 *      pods_allocator.h      how many pods to create, and when; which are too many
 *      create_window.h       how many creations may be under way at once
 *      lifecycle_manager.h   executors whose pods end: out of the scheduler, pods deleted or labelled, reasons
 *      exit_reason.h         these reasons, in words
 *      executor_roll.h       which executor the roll plugin replaces
 *      executor_pods_conf.h  the settings, from an application's configuration
 *
 * THE OWNER (the cluster manager) opens connections, builds pods, knows the time. For each operation it is told here
 * what is asked of the API server, and which function takes the answer. Only creations and lists of claims are
 * answered; everything else is asked for again for as long as it has not happened, so that a lost answer costs time
 * only. At the end: stop, then delete by label (spark-app-selector, spark-role=executor) what there is, and once more
 * after a creation that was still under way has been answered (executor_pods_in_flight).
 *
 * NEVER: two pods for one id, an id given twice, a pod that is forgotten; more pods that live or are asked for than the
 * target, but for those that were there before it fell.
 *
 * Pure: operations are called from within these functions and must not call back (take_claim within create_pod may be
 * called). Times are ms of any monotonic clock; config.wall_offset says how far that is from the time of day. One
 * thread. Nothing is opened, no clock is read, and what is to be logged goes to ops.log.
 */
#pragma once

#include "kubernetes/executors/lifecycle_manager.h"
#include "kubernetes/executors/pods_allocator.h"

struct executor_pods;

struct executor_pods_config {
        struct pods_allocator_config allocation;
        struct lifecycle_config lifecycle; /* its rules are everybody's */
        int64_t event_interval;            /* spark.kubernetes.executor.eventProcessingInterval */
};

#define EXECUTOR_PODS_DEFAULT                                                                                          \
        ((struct executor_pods_config){                                                                                \
                .allocation = PODS_ALLOCATOR_DEFAULT, .lifecycle = LIFECYCLE_DEFAULT, .event_interval = 1000})

struct executor_pods_ops {
        /* Answered by executor_pods_created or executor_pods_create_failed; see pods_allocator.h. */
        void (*create_pod)(void *owner, int32_t id, int32_t profile, bool recovery);
        /*
         * DELETE …/pods?labelSelector=spark-app-selector=APP,spark-role=executor,spark-exec-id in (IDS), and with
         * @pending &fieldSelector=status.phase=Pending.
         */
        void (*delete_pods)(void *owner, const int32_t *ids, int n, bool pending);
        /* DELETE …/pods/NAME with its uid as precondition, after the tail of its log was fetched if @log_first. */
        void (*delete_pod)(void *owner, const struct pod_state *pod, bool log_first);
        /* PATCH …/pods/NAME: the label spark-exec-inactive=true. */
        void (*label_inactive)(void *owner, const struct pod_state *pod);
        /* GET …/persistentvolumeclaims?labelSelector=spark-app-selector=APP. Answered by executor_pods_claims. */
        void (*list_claims)(void *owner);
        /* The scheduler forgets the executor, and says so with executor_pods_unregistered if it knew it. */
        void (*remove_executor)(void *owner, int32_t id, const struct exit_reason *reason);
        void (*stop_application)(void *owner, int exit_code, const char *message);
        void (*log)(void *owner, enum log_level level, const char *component, const char *line);
};

/* 0, or -EINVAL with the key and what is wrong with it. */
int executor_pods_config_check(const struct executor_pods_config *config, struct fst_error *error);

/* @config must pass the check and is copied; @ops and @owner are borrowed. Never NULL. */
struct executor_pods *executor_pods_new(const struct executor_pods_config *config, const struct executor_pods_ops *ops,
                                        void *owner);

/* Calls no operation. NULL is allowed. */
void executor_pods_free(struct executor_pods *p);

/* From here on pods are created, when the driver's pod is ready if that is to be waited for. */
void executor_pods_start(struct executor_pods *p, int64_t now);
void executor_pods_driver_ready(struct executor_pods *p, int64_t now);

/* No pod is created or deleted any more, no executor removed. */
void executor_pods_stop(struct executor_pods *p);

/* ------------------------------------------------------------------------------------------- from the scheduler */

/* All executors of a resource profile that there are to be (doRequestTotalExecutors). */
void executor_pods_set_target(struct executor_pods *p, int32_t profile, int target, int64_t now);

/* An executor has registered, or the scheduler has forgotten it, for whatever reason. */
void executor_pods_registered(struct executor_pods *p, int32_t id, int64_t now);
void executor_pods_unregistered(struct executor_pods *p, int32_t id, int64_t now);

/* Whether a registration is to be refused: its pod was deleted or given up (isExecutorExcluded). */
bool executor_pods_is_excluded(const struct executor_pods *p, int32_t id);

/* Executors that were told to end (doKillExecutors). Lower the target first if they are not to be replaced. */
void executor_pods_kill(struct executor_pods *p, const int32_t *ids, int n, int64_t now);

/* ------------------------------------------------------------------------------------------ from the API server */

/*
 * Answers to create_pod: it and its claims were created; or not, and why. What kube_client.h answers becomes
 *
 *      TOO_MANY, UNAVAILABLE with status 503, CONFLICT     CREATE_SLOW_DOWN, with retry_after_ms
 *      QUOTA                                               CREATE_QUOTA
 *      < 0, UNAVAILABLE otherwise                          CREATE_UNKNOWN
 *      the others; a pod that cannot be built              CREATE_REFUSED
 *
 * and a claim that fails after its pod was created CREATE_CLAIM_FAILED.
 */
void executor_pods_created(struct executor_pods *p, int32_t id, int64_t now);

/* Before the answer to a creation that met 429 and was tried again (kube_answer.throttled): fewer go side by side. */
void executor_pods_throttled(struct executor_pods *p);
void executor_pods_create_failed(struct executor_pods *p, int32_t id, enum create_outcome outcome, int64_t retry_after,
                                 const char *message, int64_t now);

/* The answer to list_claims; @n negative: they cannot be listed. */
void executor_pods_claims(struct executor_pods *p, const struct pod_claim *claims, int n, int64_t now);

/* Within create_pod: the name of a claim to use in place of a new one, or NULL. */
const char *executor_pods_take_claim(struct executor_pods *p, int32_t id, const char *storage_class, int64_t size);

/* A watch (kube_watch.h): ADDED and MODIFIED; DELETED; SYNCED, and again every polling interval while it stands. */
void executor_pods_pod(struct executor_pods *p, const json_t *pod, int64_t now);
void executor_pods_pod_gone(struct executor_pods *p, const json_t *pod, int64_t now);
void executor_pods_synced(struct executor_pods *p, int64_t now);

/* A poll: begin, each pod, end (snapshots_store.h). May come besides a watch. */
void executor_pods_list_begin(struct executor_pods *p);
void executor_pods_list_pod(struct executor_pods *p, const json_t *pod, int64_t now);
void executor_pods_list_end(struct executor_pods *p, const char *version, int64_t now);

/* -------------------------------------------------------------------------------------------------------- time */

/*
 * When executor_pods_tick has something to do, perhaps at once; INT64_MAX: nothing until something happens. Look at it
 * again after each batch of events: pods that are told of are only acted upon in a tick.
 */
int64_t executor_pods_deadline(const struct executor_pods *p);
void executor_pods_tick(struct executor_pods *p, int64_t now);

/* ------------------------------------------------------------------------------------------------------- looks */

struct pods_allocator_counts executor_pods_counts(const struct executor_pods *p, int32_t profile);

/* Creations that were not answered yet. */
int executor_pods_in_flight(const struct executor_pods *p);

/* The pod of an executor; NULL: none is known. Borrowed until the next call. */
const struct pod_state *executor_pods_get(const struct executor_pods *p, int32_t id);

/* All pods that are known. Borrowed until the next call. */
const struct pods_snapshot *executor_pods_known(const struct executor_pods *p);

/* Failures of executors that count, now (spark.executor.maxNumFailures). */
int executor_pods_failures(struct executor_pods *p, int64_t now);
