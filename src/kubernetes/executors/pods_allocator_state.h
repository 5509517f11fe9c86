/*
 * What a pods_allocator holds: common ground of pods_allocator*.c. Not for others.
 *
 * What never changes: a profile's counts are those of the executors of it that are not `deleted`, by stage and whether
 * the scheduler knows them; ids in `executors` grow; none is above last_id.
 */
#pragma once

#include "base/vec.h"
#include "kubernetes/executors/pods_allocator.h"

#define allocator_log(a, level, ...) pod_actions_log((a)->actions, level, "ExecutorPodsAllocator", __VA_ARGS__)

enum executor_pod_stage {
        EXECUTOR_POD_REQUESTED, /* for its creation: no answer yet */
        EXECUTOR_POD_CREATED,   /* or perhaps so; in no snapshot yet */
        EXECUTOR_POD_PENDING,   /* in the snapshot, as these */
        EXECUTOR_POD_RUNNING,
        EXECUTOR_POD_TERMINATING, /* in the snapshot as anything else: counts for nothing */
        EXECUTOR_POD_ENDED,       /* gone, or given up; its place is to be cleared */
};

struct allocated_executor {
        int32_t id, profile;
        enum executor_pod_stage stage;
        bool known;           /* by the scheduler */
        bool deleted;         /* we asked for its deletion: counts for nothing */
        bool leaving;         /* its pod has a deletion timestamp */
        int64_t since;        /* when it was asked for, or, if it was, created */
        int64_t retry_at;     /* deleted: when it is deleted again if it is still there */
        int new_claims;       /* that its creation makes */
        char **reused_claims; /* names of claims that it was given; until it is in a snapshot */
        int n_reused_claims;
};

struct allocated_profile {
        int32_t id;
        int target;
        int n[EXECUTOR_POD_TERMINATING][2]; /* [stage][known] */
        bool deficit_logged;                /* said that more are requested */
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
        bool news;         /* the server told something since pods were last created */
        bool notified;     /* a new target may be acted on without waiting for the batch delay */
        bool limit_logged; /* that the maximum is reached */
        char *last_error;  /* what the server refused with, as it was last said */
        int64_t driver_deadline, last_round;
        int64_t timeout_at, excess_at, retry_at; /* not before these has time changed anything */
        int64_t create_at;                       /* when pods may be created that only time holds back */

        VEC(struct free_claim) claims;
        enum { CLAIMS_UNKNOWN, CLAIMS_ASKED, CLAIMS_LISTED } claims_state;
        int64_t claims_at;
        int claims_made;
};

/* pods_allocator.c */
/* Not started, or the end has begun: nothing is created or deleted. */
bool allocator_is_idle(const struct pods_allocator *a);
struct allocated_executor *allocator_find(const struct pods_allocator *a, int32_t id);
void allocator_move(struct pods_allocator *a, struct allocated_executor *e, enum executor_pod_stage stage);
void allocator_mark_deleted(struct pods_allocator *a, struct allocated_executor *e);
bool allocator_adapts(const struct pods_allocator *a);
struct allocated_executor *allocator_add(struct pods_allocator *a, int32_t id, int32_t profile, int64_t now);

/* pods_allocator_round.c: delete what is too much or did not come, create what is missing. */
void allocator_round(struct pods_allocator *a, int64_t now);

/* Ask for the deletion of these, which count no more. @ids is sorted. */
void allocator_delete(struct pods_allocator *a, const int32_t *ids, int n, bool pending, int64_t now);

/* pods_allocator_claims.c */
/* Whether pods may be created as far as claims are concerned. False: they were asked for, or must become free. */
bool allocator_claims_ready(struct pods_allocator *a, int64_t now);

/* A claim for each of config.claims: the name of a free one, which is @e's from now on, or NULL. Owned, as its names.
 */
char **allocator_claims_take(struct pods_allocator *a, struct allocated_executor *e);
void allocator_claims_deinit(struct pods_allocator *a);
void executor_claims_clear(struct allocated_executor *e);
