/*
 * Records and counts executors as Spark's ExecutorPodsAllocator (4.x) does: running executors, pending or created ones
 * that the scheduler knows, and those that it does not know. Only the last are ever deleted as excess. Differs from
 * Spark: an executor is one record from its request to its pod's end, and the counts change with it, so that a response
 * needs no pass over all executors.
 *
 * `stage` alone holds an executor's progress (allocator_move). `deleted` marks an unwanted pod.
 */
#include "kubernetes/executors/pods_allocator.h"

#include "base/error.h"
#include "kubernetes/executors/lifecycle_manager.h"
#include "kubernetes/executors/pods_allocator_state.h"

#include <limits.h>

#define ALLOCATION "spark.kubernetes.allocation."

int pods_allocator_config_check(const struct pods_allocator_config *c, struct fst_error *error)
{
        if (c->batch_size <= 0)
                return error_set(error, -EINVAL,
                                 ALLOCATION "batch.size: Allocation batch size should be a positive "
                                            "integer");
        if (c->batch_delay <= 100 * NS_PER_MS)
                return error_set(error, -EINVAL,
                                 ALLOCATION "batch.delay: Allocation batch delay must be greater than 0.1s.");
        if (c->maximum <= 0)
                return error_set(error, -EINVAL, ALLOCATION "maximum: Allocation maximum should be a positive integer");
        if (c->max_pending <= 0)
                return error_set(error, -EINVAL,
                                 ALLOCATION "maxPendingPods: Maximum number of pending pods should be "
                                            "a positive integer");
        if (c->max_pending_per_profile <= 0)
                return error_set(error, -EINVAL,
                                 ALLOCATION "maxPendingPodsPerRp: Maximum number of pending pods per rp id should be a "
                                            "positive integer");
        if (c->max_pending_per_profile != INT32_MAX && c->max_pending_per_profile > c->max_pending)
                return error_set(error, -EINVAL,
                                 "Maximum pending pods per resource profile ID (%d) must be less than or equal to "
                                 "maximum pending pods (%d).",
                                 c->max_pending_per_profile, c->max_pending);
        if (c->creation_timeout <= 0)
                return error_set(error, -EINVAL,
                                 ALLOCATION "executor.timeout: Allocation executor timeout must be a positive time "
                                            "value.");
        return 0;
}

struct pods_allocator *pods_allocator_new(const struct pods_allocator_config *config,
                                          struct lifecycle_manager *lifecycle, struct pod_actions *actions)
{
        struct pods_allocator *a = new0(struct pods_allocator);
        struct create_window_config window = config->window;

        a->config = *config;
        const int64_t delay = MIN(config->batch_delay, INT64_MAX / 10);
        a->config.creation_timeout = MAX(config->creation_timeout, delay * 5);
        a->lifecycle = lifecycle;
        a->actions = actions;
        a->timeout_at = a->excess_at = a->retry_at = a->create_at = INT64_MAX;
        a->last_round = INT64_MIN / 2;
        if (window.start == 0) {
                window = CREATE_WINDOW_DEFAULT;
                window.start = config->batch_size;
                window.seed = config->window.seed;
        }
        if (config->batch_size_set)
                window.start = window.most = config->batch_size;
        create_window_init(&a->window, &window);
        return a;
}

void pods_allocator_free(struct pods_allocator *a)
{
        if (!a)
                return;
        for (size_t i = 0; i < a->executors.len; i++)
                executor_claims_clear(&a->executors.data[i]);
        vec_deinit(&a->executors);
        vec_deinit(&a->profiles);
        allocator_claims_deinit(a);
        free(a->last_error);
        free(a);
}

bool allocator_adapts(const struct pods_allocator *a)
{
        return !a->config.batch_size_set;
}

bool allocator_is_idle(const struct pods_allocator *a)
{
        return !a->started || a->stopped || lifecycle_manager_gave_up(a->lifecycle);
}

/* ---------------------------------------------------------------------------------------------------- executors */

struct allocated_executor *allocator_find(const struct pods_allocator *a, int32_t id)
{
        size_t at = vec_place(&a->executors, id, id);

        if (at == a->executors.len || a->executors.data[at].id != id)
                return NULL;
        struct allocated_executor *e = &a->executors.data[at];
        return e->stage == EXECUTOR_POD_ENDED ? NULL : e;
}

static struct allocated_profile *pods_allocator_profile_find(const struct pods_allocator *a, int32_t id)
{
        for (size_t i = 0; i < a->profiles.len; i++)
                if (a->profiles.data[i].id == id)
                        return &a->profiles.data[i];
        return NULL;
}

static struct allocated_profile *profile_ensure(struct pods_allocator *a, int32_t id)
{
        struct allocated_profile *p = pods_allocator_profile_find(a, id);

        if (p)
                return p;
        vec_push(&a->profiles, (struct allocated_profile){.id = id});
        size_t at = a->profiles.len - 1;
        for (; at > 0 && a->profiles.data[at - 1].id > id; at--)
                a->profiles.data[at] = a->profiles.data[at - 1];
        a->profiles.data[at] = (struct allocated_profile){.id = id};
        return &a->profiles.data[at];
}

static void pods_allocator_count(struct pods_allocator *a, const struct allocated_executor *e, int by)
{
        if (!e->deleted && e->stage < EXECUTOR_POD_TERMINATING)
                pods_allocator_profile_find(a, e->profile)->n[e->stage][e->known] += by;
}

/* Drops ended records once they are half of all. No pointer to an executor may be live. */
static void pods_allocator_drop_ended(struct pods_allocator *a)
{
        size_t n = 0;

        if (a->n_ended < 64 || (size_t)a->n_ended < a->executors.len / 2)
                return;
        for (size_t i = 0; i < a->executors.len; i++)
                if (a->executors.data[i].stage != EXECUTOR_POD_ENDED)
                        a->executors.data[n++] = a->executors.data[i];
        a->executors.len = n;
        a->n_ended = 0;
}

void allocator_move(struct pods_allocator *a, struct allocated_executor *e, enum executor_pod_stage stage)
{
        pods_allocator_count(a, e, -1);
        e->stage = stage;
        pods_allocator_count(a, e, 1);
        if (stage >= EXECUTOR_POD_PENDING)
                executor_claims_clear(e);
        a->n_ended += stage == EXECUTOR_POD_ENDED;
}

void allocator_mark_deleted(struct pods_allocator *a, struct allocated_executor *e)
{
        pods_allocator_count(a, e, -1);
        e->deleted = true;
}

struct allocated_executor *allocator_add(struct pods_allocator *a, int32_t id, int32_t profile, int64_t now)
{
        pods_allocator_drop_ended(a);
        size_t at = vec_place(&a->executors, id, id);
        struct allocated_executor e = {.id = id, .profile = profile, .since = now, .retry_at = INT64_MAX};

        profile_ensure(a, profile);
        if (at < a->executors.len && a->executors.data[at].id == id) {
                a->n_ended--; /* an executor that was given up has come back */
                a->executors.data[at] = e;
        } else {
                vec_insert(&a->executors, at, e);
        }
        a->last_id = MAX(a->last_id, id);
        pods_allocator_count(a, &a->executors.data[at], 1);
        return &a->executors.data[at];
}

/* ------------------------------------------------------------------------------------------------------------ start */

void pods_allocator_start(struct pods_allocator *a, int64_t now)
{
        a->started = true;
        a->driver_ready |= !a->config.wait_for_driver;
        a->driver_deadline = now + a->config.driver_timeout;
        allocator_reconcile(a, now);
}

void pods_allocator_driver_ready(struct pods_allocator *a, int64_t now)
{
        if (a->driver_ready)
                return;
        a->driver_ready = true;
        allocator_reconcile(a, now);
}

void pods_allocator_stop(struct pods_allocator *a)
{
        a->stopped = true;
}

void pods_allocator_set_target(struct pods_allocator *a, int32_t profile, int target, int64_t now)
{
        struct allocated_profile *p = profile_ensure(a, profile);

        if (p->target != target)
                p->deficit_logged = false;
        p->target = target;
        if (pods_allocator_outstanding(a) == 0)
                a->notified = true;
        if (a->notified || allocator_adapts(a))
                allocator_reconcile(a, now);
}

/* --------------------------------------------------------------------------------------------- creation responses */

static void wait_for_pod(struct pods_allocator *a, struct allocated_executor *e, int64_t now)
{
        e->since = now;
        allocator_move(a, e, EXECUTOR_POD_CREATED);
        a->timeout_at = MIN(a->timeout_at, now + a->config.creation_timeout + 1);
}

void pods_allocator_skip_ids(struct pods_allocator *a, int32_t last)
{
        a->last_id = MAX(a->last_id, last);
}

void pods_allocator_adopt(struct pods_allocator *a, int32_t id, int32_t profile, int64_t now)
{
        wait_for_pod(a, allocator_add(a, id, profile, now), now);
}

void pods_allocator_abandon(struct pods_allocator *a, int32_t id)
{
        struct allocated_executor *e = allocator_find(a, id);

        if (e && e->stage == EXECUTOR_POD_CREATED)
                allocator_move(a, e, EXECUTOR_POD_ENDED);
}

void pods_allocator_throttled(struct pods_allocator *a)
{
        create_window_throttled(&a->window);
}

void pods_allocator_created(struct pods_allocator *a, int32_t id, int64_t now)
{
        struct allocated_executor *e = allocator_find(a, id);

        create_window_answered(&a->window, CREATE_DONE, 0, now);
        if (a->last_error && !a->window.settling) {
                allocator_log(a, LOG_INFO, "The API server creates executor pods again.");
                free(steal(a->last_error));
        }
        if (e && e->stage == EXECUTOR_POD_REQUESTED)
                wait_for_pod(a, e, now);
        allocator_reconcile(a, now);
}

/* Logs a refusal once, and again when the message changes. */
static void log_refusal(struct pods_allocator *a, enum log_level level, const char *what, const char *message)
{
        const char *words = message ? message : "no reason was given";

        if (a->last_error && strcmp(a->last_error, words) == 0)
                return;
        allocator_log(a, level, "%s: %s", what, words);
        free(a->last_error);
        a->last_error = mem_strdup(words);
}

static void pods_allocator_give_up(struct pods_allocator *a, struct allocated_executor *e)
{
        a->claims_made -= e->new_claims;
        e->new_claims = 0;
        allocator_move(a, e, EXECUTOR_POD_ENDED);
}

static void creation_failed(struct pods_allocator *a, int32_t id, const char *message, int64_t now)
{
        allocator_log(a, LOG_ERROR, "Failed to create the pod of executor %d: %s", id,
                      message ? message : "no reason was given");
        lifecycle_manager_creation_failed(a->lifecycle, now);
}

static void pods_allocator_failed(struct pods_allocator *a, struct allocated_executor *e, enum create_outcome outcome,
                                  const char *message, int64_t now)
{
        int32_t id = e->id;

        switch (outcome) {
        case CREATE_DONE:
                break;
        case CREATE_SLOW_DOWN:
                pods_allocator_give_up(a, e);
                break;
        case CREATE_QUOTA:
                log_refusal(a, LOG_WARN,
                            "No more executor pods until the namespace has room. Requests are repeated at growing "
                            "intervals. Raise the quota, or request fewer or smaller executors",
                            message);
                pods_allocator_give_up(a, e);
                break;
        case CREATE_UNKNOWN:
                log_refusal(a, LOG_WARN, "No response to the creation of an executor pod, waiting for the pod",
                            message);
                wait_for_pod(a, e, now);
                break;
        case CREATE_REFUSED:
                pods_allocator_give_up(a, e);
                creation_failed(a, id, message, now);
                break;
        case CREATE_CLAIM_FAILED:
                a->claims_made -= e->new_claims;
                e->new_claims = 0;
                if (e->stage == EXECUTOR_POD_REQUESTED)
                        wait_for_pod(a, e, now);
                allocator_delete(a, &id, 1, false, now);
                creation_failed(a, id, message, now);
                break;
        }
}

void pods_allocator_create_failed(struct pods_allocator *a, int32_t id, enum create_outcome outcome,
                                  int64_t retry_after, const char *message, int64_t now)
{
        struct allocated_executor *e = allocator_find(a, id);

        create_window_answered(&a->window, outcome, retry_after, now);
        if (e && (e->stage == EXECUTOR_POD_REQUESTED ||
                  outcome == CREATE_CLAIM_FAILED)) /* else its pod was seen meanwhile */
                pods_allocator_failed(a, e, outcome, message, now);
        allocator_reconcile(a, now);
}

/* --------------------------------------------------------------------------------------------------- snapshots */

static enum executor_pod_stage pods_allocator_stage_of(const struct pod_state *pod)
{
        return pod->kind == POD_PENDING   ? EXECUTOR_POD_PENDING
               : pod->kind == POD_RUNNING ? EXECUTOR_POD_RUNNING
                                          : EXECUTOR_POD_TERMINATING;
}

/*
 * A pod without a record was given up, or is not ours. The former is deleted. The latter counts as ours, and its id is
 * not used again. With deletion off no pod is deleted, as in Spark.
 */
static void adopt_unknown_pod(struct pods_allocator *a, const struct pod_state *pod, int64_t now)
{
        bool is_unwanted = pod->id <= a->last_id && a->config.delete_executors;

        if (pod_state_kind_is_final(pod->kind))
                return;
        struct allocated_executor *e = allocator_add(a, pod->id, pod->profile, now);
        if (pod->created)
                e->since = ms_to_ns(pod->created) - a->config.wall_offset;
        e->leaving = pod->leaving;
        allocator_move(a, e, pods_allocator_stage_of(pod));
        if (!is_unwanted)
                return;
        allocator_log(a, LOG_WARN, "The pod %s of executor %d exists although the executor was given up: deleting it.",
                      pod->name, pod->id);
        allocator_delete(a, &pod->id, 1, false, now);
}

static void pods_allocator_on_state(struct pods_allocator *a, const struct pod_state *pod, int64_t now)
{
        struct allocated_executor *e = allocator_find(a, pod->id);

        if (!e)
                adopt_unknown_pod(a, pod, now);
        else {
                e->leaving = pod->leaving;
                if (e->stage != pods_allocator_stage_of(pod))
                        allocator_move(a, e, pods_allocator_stage_of(pod));
        }
}

static void pods_allocator_on_gone(struct pods_allocator *a, int32_t id, int64_t now)
{
        struct allocated_executor *e = allocator_find(a, id);

        if (e && !pods_snapshot_get(a->pods, id))
                allocator_move(a, e, EXECUTOR_POD_ENDED);
        create_window_freed(&a->window, now);
}

void pods_allocator_snapshot(struct pods_allocator *a, const struct pods_batch *batch, int64_t now)
{
        a->pods = batch->pods;
        a->news |= batch->news > 0;
        for (size_t i = 0; i < batch->n_changes; i++) {
                const struct pod_state *pod = batch->changes[i];
                pods_allocator_on_state(a, pod, now);
                if (pod_state_kind_is_final(pod->kind))
                        create_window_freed(&a->window, now); /* a quota no longer counts it */
        }
        for (size_t i = 0; i < batch->n_gone; i++)
                pods_allocator_on_gone(a, batch->gone[i], now);
        if (batch->full)
                a->timeout_at = MIN(a->timeout_at, now);
        allocator_reconcile(a, now);
}

void pods_allocator_known(struct pods_allocator *a, int32_t id, bool known, int64_t now)
{
        struct allocated_executor *e = allocator_find(a, id);

        if (!e || e->known == known)
                return;
        pods_allocator_count(a, e, -1);
        e->known = known;
        pods_allocator_count(a, e, 1);
        if (!known && e->stage == EXECUTOR_POD_CREATED)
                a->timeout_at = MIN(a->timeout_at, e->since + a->config.creation_timeout + 1);
}

/* -------------------------------------------------------------------------------------------------------- time */

int64_t pods_allocator_deadline(const struct pods_allocator *a)
{
        int64_t first = MIN(a->timeout_at, a->excess_at);

        first = MIN(first, a->retry_at);
        if (allocator_is_idle(a))
                return INT64_MAX;
        return MIN(first, a->create_at);
}

void pods_allocator_tick(struct pods_allocator *a, int64_t now)
{
        if (pods_allocator_deadline(a) <= now)
                allocator_reconcile(a, now);
}

/* ---------------------------------------------------------------------------------------------------------- queries */

bool pods_allocator_is_excluded(const struct pods_allocator *a, int32_t id)
{
        const struct allocated_executor *e = allocator_find(a, id);

        return e ? e->deleted : id <= a->last_id;
}

struct pods_allocator_counts pods_allocator_counts(const struct pods_allocator *a, int32_t profile)
{
        struct pods_allocator_counts c = {0};

        for (size_t i = 0; i < a->profiles.len; i++) {
                const struct allocated_profile *p = &a->profiles.data[i];
                if (profile >= 0 && p->id != profile)
                        continue;
                c.target += p->target;
                c.requested += p->n[EXECUTOR_POD_REQUESTED][0] + p->n[EXECUTOR_POD_REQUESTED][1];
                c.created += p->n[EXECUTOR_POD_CREATED][0] + p->n[EXECUTOR_POD_CREATED][1];
                c.pending += p->n[EXECUTOR_POD_PENDING][0] + p->n[EXECUTOR_POD_PENDING][1];
                c.running += p->n[EXECUTOR_POD_RUNNING][0] + p->n[EXECUTOR_POD_RUNNING][1];
                c.known_created += p->n[EXECUTOR_POD_REQUESTED][1] + p->n[EXECUTOR_POD_CREATED][1];
                c.known_pending += p->n[EXECUTOR_POD_PENDING][1];
        }
        return c;
}

int pods_allocator_outstanding(const struct pods_allocator *a)
{
        int n = 0;

        for (size_t i = 0; i < a->profiles.len; i++)
                for (enum executor_pod_stage s = EXECUTOR_POD_REQUESTED; s <= EXECUTOR_POD_PENDING; s++)
                        n += a->profiles.data[i].n[s][0];
        return n;
}

int pods_allocator_in_flight(const struct pods_allocator *a)
{
        return a->window.in_flight;
}

int32_t pods_allocator_last_id(const struct pods_allocator *a)
{
        return a->last_id;
}

int pods_allocator_claims_made(const struct pods_allocator *a)
{
        return a->claims_made;
}

size_t pods_allocator_size(const struct pods_allocator *a)
{
        return a->executors.len;
}
