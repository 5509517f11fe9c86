/*
 * Which executor pods to create, and which to delete because they are too many: Spark's ExecutorPodsAllocator.
 *
 *      struct pods_allocator *a = pods_allocator_new(&config, lifecycle, &actions);
 *      pods_allocator_start(a, now);
 *      pods_allocator_set_target(a, 0, 1000, now);          → POD_ACTION_CREATE for each that the server may be asked
 * for pods_allocator_created(a, 1, now);                   → POD_ACTION_CREATE for the next
 *      pods_allocator_create_failed(a, 2, CREATE_SLOW_DOWN, 0, "…", now);
 *      pods_allocator_snapshot(a, &batch, now);             ← a batch of the snapshots store
 *      … call pods_allocator_tick at pods_allocator_deadline(a)
 *
 * An executor is asked for, then created, then in the snapshot; what of it was in none within `creation_timeout` is
 * deleted and replaced. For each profile
 *
 *      executors that run + pending + created + asked for ≤ target,
 *
 * but for those that were there before the target fell: those that the scheduler does not know are deleted when they
 * are older than `idle_timeout`, unless they run. Pods not running are at most `max_pending`. Ids begin with 1 and are
 * never used twice, whatever becomes of a creation.
 *
 * Pace. Spark creates `batch_size` pods one after the other, then waits for `batch_delay` and until all of them were in
 * a snapshot. So it is here if the user has set spark.kubernetes.allocation.batch.size (`batch_size_set`). Else
 * creations are under way side by side (create_window.h), the batch size being only where that begins.
 *
 * A creation without an answer counts as created. If the pod is not among all that there are `missing_delta` later, it
 * is asked for again, under another id; should the first one come after all, it is deleted, as is every pod whose
 * executor was given up.
 *
 * Pure: it appends to the actions of executor_pods.h. Times are ns of any monotonic clock. One thread.
 */
#pragma once

#include "kubernetes/executors/create_window.h"
#include "kubernetes/executors/pod_actions.h"
#include "kubernetes/executors/snapshots_store.h"

struct fst_error;
struct lifecycle_manager;
struct pods_allocator;

/* A persistent volume claim that every executor's pod mounts and that is new unless there is a free one. */
struct claim_need {
        char *storage_class; /* NULL: none */
        int64_t size;        /* bytes */
};

struct pods_allocator_config {
        int batch_size;              /* spark.kubernetes.allocation.batch.size */
        bool batch_size_set;         /* by the user: see Pace */
        int64_t batch_delay;         /* .allocation.batch.delay */
        int max_pending;             /* .allocation.maxPendingPods */
        int max_pending_per_profile; /* .allocation.maxPendingPodsPerRp */
        int maximum;                 /* .allocation.maximum: ids stay below it */
        int64_t creation_timeout;    /* .allocation.executor.timeout; 5 batch delays at least */
        int64_t missing_delta;       /* .executor.missingPodDetectDelta */
        int64_t idle_timeout;        /* spark.dynamicAllocation.executorIdleTimeout */
        bool wait_for_driver;        /* executors find the driver pod by a name that leads to ready pods only */
        int64_t driver_timeout;      /* .allocation.driver.readinessTimeout */
        bool delete_executors;       /* .executor.deleteOnTermination */
        bool reuse_claims;    /* .driver.ownPersistentVolumeClaim, .reusePersistentVolumeClaim, and a driver pod */
        bool wait_for_claims; /* and .driver.waitToReusePersistentVolumeClaim */
        const struct claim_need *claims; /* "OnDemand", of each pod; borrowed as long as the allocator is */
        int n_claims;                    /* 0 without reuse_claims */
        int max_claims; /* with wait_for_claims: spark.dynamicAllocation.maxExecutors, else spark.executor.instances */
        int recovery;   /* .allocation.recoveryMode.enabled: 0 never, 1 always, -1 when an executor ran out of memory */
        int64_t wall_offset;                /* what to add to `now` for the time of day since 1970 */
        struct create_window_config window; /* start 0: batch_size */
};

/* Spark's defaults. */
#define PODS_ALLOCATOR_DEFAULT                                                                                         \
        ((struct pods_allocator_config){.batch_size = 20,                                                              \
                                        .batch_delay = NS_PER_SECOND,                                                  \
                                        .max_pending = INT32_MAX,                                                      \
                                        .max_pending_per_profile = INT32_MAX,                                          \
                                        .maximum = INT32_MAX,                                                          \
                                        .creation_timeout = 600 * NS_PER_SECOND,                                       \
                                        .missing_delta = 30 * NS_PER_SECOND,                                           \
                                        .idle_timeout = 60 * NS_PER_SECOND,                                            \
                                        .driver_timeout = NS_PER_SECOND,                                               \
                                        .delete_executors = true,                                                      \
                                        .max_claims = INT32_MAX,                                                       \
                                        .recovery = -1})

/* A persistent volume claim of the application. */
struct pod_claim {
        const char *name, *storage_class; /* storage_class NULL: none */
        int64_t size;                     /* bytes */
        int64_t created;                  /* by the server's clock, ms since 1970 */
};

/* 0, or -EINVAL with the key and what is wrong with it, in Spark's words. */
int pods_allocator_config_check(const struct pods_allocator_config *config, struct fst_error *error);

/*
 * @config passes the check and is copied; @lifecycle and @actions are borrowed. The allocator reports creations that
 * failed for good to @lifecycle, and creates nothing once that gave up. Never NULL.
 */
struct pods_allocator *pods_allocator_new(const struct pods_allocator_config *config,
                                          struct lifecycle_manager *lifecycle, struct pod_actions *actions);
void pods_allocator_free(struct pods_allocator *a);

/* Nothing is created before; with wait_for_driver, not before driver_timeout or pods_allocator_driver_ready. */
void pods_allocator_start(struct pods_allocator *a, int64_t now);
void pods_allocator_driver_ready(struct pods_allocator *a, int64_t now);

/* No pod is created or deleted any more. */
void pods_allocator_stop(struct pods_allocator *a);

/* How many executors of a profile there are to be. A profile stays for ever. */
void pods_allocator_set_target(struct pods_allocator *a, int32_t profile, int target, int64_t now);

/* ------------------------------------------------------------------------------------------------- what happened */

void pods_allocator_created(struct pods_allocator *a, int32_t id, int64_t now);

/* Before the answer to a creation that met 429 and was tried again. */
void pods_allocator_throttled(struct pods_allocator *a);

/* @outcome is not CREATE_DONE. @message: the server's words, or why it could not be built. */
void pods_allocator_create_failed(struct pods_allocator *a, int32_t id, enum create_outcome outcome,
                                  int64_t retry_after, const char *message, int64_t now);

/* The application's claims; @n negative: they cannot be listed. */
void pods_allocator_claims(struct pods_allocator *a, const struct pod_claim *claims, int n, int64_t now);

/* @batch->pods must stay what it is: the store's. */
void pods_allocator_snapshot(struct pods_allocator *a, const struct pods_batch *batch, int64_t now);

/* The scheduler knows an executor (it has registered), or does no longer. */
void pods_allocator_known(struct pods_allocator *a, int32_t id, bool known, int64_t now);

/* ----------------------------------------------------------------------------------------------------- what is done */

/* When pods_allocator_tick has something to do; INT64_MAX: nothing until something happens. */
int64_t pods_allocator_deadline(const struct pods_allocator *a);
void pods_allocator_tick(struct pods_allocator *a, int64_t now);

/* ------------------------------------------------------------------------------------------------------------ looks */

/* It was deleted, or given up: its registration is to be refused. */
bool pods_allocator_is_excluded(const struct pods_allocator *a, int32_t id);

struct pods_allocator_counts {
        int target;
        int asked;   /* no answer yet */
        int created; /* not in a snapshot yet */
        int pending, running;
        int known_created, known_pending; /* of them, those that the scheduler knows */
};

/* Of one profile; of all with @profile negative. */
struct pods_allocator_counts pods_allocator_counts(const struct pods_allocator *a, int32_t profile);

/* Spark's numOutstandingPods: not running, and unknown to the scheduler. */
int pods_allocator_outstanding(const struct pods_allocator *a);

/* Creations that were not answered yet. */
int pods_allocator_in_flight(const struct pods_allocator *a);

/* The highest id that was given. */
int32_t pods_allocator_last_id(const struct pods_allocator *a);

/* New claims that creations have made, or will have. */
int pods_allocator_claims_made(const struct pods_allocator *a);

/* Records that it holds, for tests and metrics. */
size_t pods_allocator_size(const struct pods_allocator *a);

/* Spark's splitSlots: @slots shared among @n, the first ones getting what is left over. */
void pods_split_slots(int n, int slots, int *out);
