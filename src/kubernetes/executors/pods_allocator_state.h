/*
 * The state of a pods_allocator, shared by pods_allocator*.c only.
 *
 * Invariants: a profile's counts cover its executors that are not `deleted`, by stage and whether the scheduler knows
 * them. Ids in `executors` increase. None exceeds last_id.
 */
#pragma once

#include "base/vec.h"
#include "kubernetes/executors/pods_allocator.h"

#define allocator_log(a, level, ...) pod_actions_log((a)->actions, level, "ExecutorPodsAllocator", __VA_ARGS__)

enum executor_pod_stage {
        EXECUTOR_POD_REQUESTED, /* creation requested, no response yet */
        EXECUTOR_POD_CREATED,   /* created, or possibly so; in no snapshot yet */
        EXECUTOR_POD_PENDING,   /* pending in the snapshot */
        EXECUTOR_POD_RUNNING,
        EXECUTOR_POD_TERMINATING, /* in another state in the snapshot; not counted */
        EXECUTOR_POD_ENDED,       /* gone, or given up; the record can be dropped */
};

struct allocated_executor {
        int32_t id, profile;
        enum executor_pod_stage stage;
        bool known;           /* the scheduler knows it */
        bool deleted;         /* its deletion was requested; not counted */
        bool leaving;         /* its pod has a deletion timestamp */
        int64_t since;        /* time of the request, then of the creation */
        int64_t retry_at;     /* deleted: time of the next deletion if it still exists */
        int new_claims;       /* claims that its creation makes */
        char **reused_claims; /* names of its reused claims, until it is in a snapshot */
        int n_reused_claims;
};

struct allocated_profile {
        int32_t id;
        int target;
        int n[EXECUTOR_POD_TERMINATING][2]; /* [stage][known] */
        bool deficit_logged;                /* the deficit is in the log */
};

struct free_claim {
        char *name, *storage_class;
        int64_t size;
};

struct pods_allocator {
        struct pods_allocator_config config;
        struct lifecycle_manager *lifecycle;
        struct pod_actions *actions;
        struct create_window window;
        VEC(struct allocated_executor) executors; /* by id */
        int n_ended;
        VEC(struct allocated_profile) profiles; /* by id */
        const struct pods_snapshot *pods;
        int32_t last_id;
        bool started, stopped, driver_ready;
        bool news;         /* an event arrived since the last creation */
        bool notified;     /* act on the new target without waiting for the batch delay */
        bool limit_logged; /* the maximum is in the log */
        char *last_error;  /* the last refusal in the log */
        int64_t driver_deadline, last_round;
        int64_t timeout_at, excess_at, retry_at; /* before these times nothing changes by itself */
        int64_t create_at;                       /* when time allows creations again */

        VEC(struct free_claim) claims;
        enum { CLAIMS_UNKNOWN, CLAIMS_ASKED, CLAIMS_LISTED } claims_state;
        int64_t claims_at;
        int claims_made;
};

/* pods_allocator.c */
/* Before the start and after the stop nothing is created or deleted. */
bool allocator_is_idle(const struct pods_allocator *a);
struct allocated_executor *allocator_find(const struct pods_allocator *a, int32_t id);
void allocator_move(struct pods_allocator *a, struct allocated_executor *e, enum executor_pod_stage stage);
void allocator_mark_deleted(struct pods_allocator *a, struct allocated_executor *e);
bool allocator_adapts(const struct pods_allocator *a);
struct allocated_executor *allocator_add(struct pods_allocator *a, int32_t id, int32_t profile, int64_t now);

/* pods_allocator_reconcile.c: deletes excess and lost pods, creates missing ones. */
void allocator_reconcile(struct pods_allocator *a, int64_t now);

/* Requests the deletion of these executors, which no longer count. @ids is sorted. */
void allocator_delete(struct pods_allocator *a, const int32_t *ids, int n, bool pending, int64_t now);

/* pods_allocator_pvc.c */
/* Whether claims allow creations now. If not, a list of claims is requested, or a claim must become free. */
bool allocator_claims_ready(struct pods_allocator *a, int64_t now);

/*
 * Returns an array with one entry for each of config.claims: the name of a free claim, now assigned to @e, or NULL. The
 * caller owns the array and the names.
 */
char **allocator_claims_take(struct pods_allocator *a, struct allocated_executor *e);
void allocator_claims_deinit(struct pods_allocator *a);
void executor_claims_clear(struct allocated_executor *e);
