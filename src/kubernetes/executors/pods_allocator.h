/*
 * Decides which executor pods to create, and which to delete as excess: Spark's ExecutorPodsAllocator.
 *
 *      struct pods_allocator *a = pods_allocator_new(&config, lifecycle, &actions);
 *      pods_allocator_start(a, now);
 *      pods_allocator_set_target(a, 0, 1000, now);          → POD_ACTION_CREATE for each pod of the window
 *      pods_allocator_created(a, 1, now);                   → POD_ACTION_CREATE for the next
 *      pods_allocator_create_failed(a, 2, CREATE_SLOW_DOWN, 0, "…", now);
 *      pods_allocator_snapshot(a, &batch, now);             ← a batch of the snapshots store
 *      … call pods_allocator_tick at pods_allocator_deadline(a)
 *
 * An executor is requested, then created, then in the snapshot. A pod that is in no snapshot within `creation_timeout`
 * is deleted and replaced. For each profile
 *
 *      running + pending + created + requested executors ≤ target,
 *
 * except for executors from before the target fell. Of those, the ones that the scheduler does not know are deleted
 * once they are older than `idle_timeout`, unless they run. At most `max_pending` pods are not running. Ids start at 1
 * and are never used twice, even if a creation fails.
 *
 * Pace. Spark creates `batch_size` pods one after the other, then waits for `batch_delay` and until all of them are in
 * a snapshot. The allocator does the same if the user has set spark.kubernetes.allocation.batch.size
 * (`batch_size_set`). Otherwise creations run concurrently (create_window.h), and the batch size is only the first
 * window.
 *
 * A creation without a response counts as created. If no full list has the pod `missing_delta` later, a new pod is
 * requested under another id. If the first pod appears later it is deleted, like every pod whose executor was given up.
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

/* A persistent volume claim of every executor pod: a free one is reused, else a new one is created. */
struct claim_need {
        char *storage_class; /* NULL: none */
        int64_t size;        /* bytes */
};

struct pods_allocator_config {
        int batch_size;              /* spark.kubernetes.allocation.batch.size */
        bool batch_size_set;         /* set by the user: see Pace */
        int64_t batch_delay;         /* .allocation.batch.delay */
        int max_pending;             /* .allocation.maxPendingPods */
        int max_pending_per_profile; /* .allocation.maxPendingPodsPerRp */
        int maximum;                 /* .allocation.maximum: ids stay below it */
        int64_t creation_timeout;    /* .allocation.executor.timeout, at least 5 batch delays */
        int64_t missing_delta;       /* .executor.missingPodDetectDelta */
        int64_t idle_timeout;        /* spark.dynamicAllocation.executorIdleTimeout */
        bool wait_for_driver;        /* executors find the driver by a name that resolves only to ready pods */
        int64_t driver_timeout;      /* .allocation.driver.readinessTimeout */
        bool delete_executors;       /* .executor.deleteOnTermination */
        bool reuse_claims;    /* .driver.ownPersistentVolumeClaim, .reusePersistentVolumeClaim, and the driver runs in a
                                 pod */
        bool wait_for_claims; /* in addition .driver.waitToReusePersistentVolumeClaim */
        const struct claim_need *claims; /* claims "OnDemand" of each pod; borrowed while the allocator lives */
        int n_claims;                    /* 0 without reuse_claims */
        int max_claims; /* with wait_for_claims: spark.dynamicAllocation.maxExecutors, else spark.executor.instances */
        int recovery; /* .allocation.recoveryMode.enabled: 0 never, 1 always, -1 after an executor ran out of memory */
        int64_t wall_offset;                /* added to `now` gives the time of day since 1970 */
        struct create_window_config window; /* start 0: use batch_size */
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

/* Returns 0, or -EINVAL with the key and the problem in Spark's words. */
int pods_allocator_config_check(const struct pods_allocator_config *config, struct fst_error *error);

/*
 * @config must pass the check. It is copied. @lifecycle and @actions are borrowed. The allocator reports permanent
 * creation failures to @lifecycle, and creates nothing after the lifecycle manager has given up. Never NULL.
 */
struct pods_allocator *pods_allocator_new(const struct pods_allocator_config *config,
                                          struct lifecycle_manager *lifecycle, struct pod_actions *actions);
void pods_allocator_free(struct pods_allocator *a);

/* Allows creations. With wait_for_driver they wait for driver_timeout or pods_allocator_driver_ready. */
void pods_allocator_start(struct pods_allocator *a, int64_t now);
void pods_allocator_driver_ready(struct pods_allocator *a, int64_t now);

/*
 * Before the start. Ids up to @last belong to executors of an earlier driver. The ones that are adopted count as
 * created, and their pods are expected in the first snapshot, unless it becomes known that they have none.
 */
void pods_allocator_skip_ids(struct pods_allocator *a, int32_t last);
void pods_allocator_adopt(struct pods_allocator *a, int32_t id, int32_t profile, int64_t now);
void pods_allocator_abandon(struct pods_allocator *a, int32_t id);

/* After it no pod is created or deleted. */
void pods_allocator_stop(struct pods_allocator *a);

/* Sets the wanted number of executors of a profile. Profiles are never removed. */
void pods_allocator_set_target(struct pods_allocator *a, int32_t profile, int target, int64_t now);

/* ---------------------------------------------------------------------------------------------------------- events */

void pods_allocator_created(struct pods_allocator *a, int32_t id, int64_t now);

/* Reports a creation that met 429 and that the client retries, before its response. */
void pods_allocator_throttled(struct pods_allocator *a);

/* @outcome is not CREATE_DONE. @message: the server's reason, or why the pod could not be built. */
void pods_allocator_create_failed(struct pods_allocator *a, int32_t id, enum create_outcome outcome,
                                  int64_t retry_after, const char *message, int64_t now);

/* Reports the application's claims. @n negative: they cannot be listed. */
void pods_allocator_claims(struct pods_allocator *a, const struct pod_claim *claims, int n, int64_t now);

/* @batch->pods is the store's snapshot, which must stay valid. */
void pods_allocator_snapshot(struct pods_allocator *a, const struct pods_batch *batch, int64_t now);

/* Reports that the scheduler has added (the executor registered) or removed an executor. */
void pods_allocator_known(struct pods_allocator *a, int32_t id, bool known, int64_t now);

/* -------------------------------------------------------------------------------------------------------- deadlines */

/* Returns the time of the next pods_allocator_tick, or INT64_MAX for none before the next event. */
int64_t pods_allocator_deadline(const struct pods_allocator *a);
void pods_allocator_tick(struct pods_allocator *a, int64_t now);

/* ---------------------------------------------------------------------------------------------------------- queries */

/* Whether the executor was deleted or given up, so that its registration must be refused. */
bool pods_allocator_is_excluded(const struct pods_allocator *a, int32_t id);

struct pods_allocator_counts {
        int target;
        int requested; /* no response yet */
        int created;   /* not in a snapshot yet */
        int pending, running;
        int known_created, known_pending; /* those of them that the scheduler knows */
};

/* Counts executors of one profile, or of all if @profile is negative. */
struct pods_allocator_counts pods_allocator_counts(const struct pods_allocator *a, int32_t profile);

/* Spark's numOutstandingPods: not running, and unknown to the scheduler. */
int pods_allocator_outstanding(const struct pods_allocator *a);

/* Returns the number of creations without a response. */
int pods_allocator_in_flight(const struct pods_allocator *a);

/* For tests: returns the highest id used. */
int32_t pods_allocator_last_id(const struct pods_allocator *a);

/* For tests: returns the number of new claims that creations have made or will make. */
int pods_allocator_claims_made(const struct pods_allocator *a);

/* Returns the number of records, for tests and metrics. */
size_t pods_allocator_size(const struct pods_allocator *a);

/* Spark's splitSlots: distributes @slots over @n. The first ones get the remainder. */
void pods_split_slots(int n, int slots, int *out);
