/*
 * Compares known and wanted executors, in Spark's order (ExecutorPodsAllocator.onNewSnapshots): gives up created pods
 * that never appeared, deletes excess ones, and creates missing ones within the limits on pods that are not running.
 *
 * Each change that time alone can cause has a deadline (timeout_at, excess_at, retry_at, create_at), so that a round
 * without work looks at no executor.
 */
#include "base/buf.h"
#include "kubernetes/executors/lifecycle_manager.h"
#include "kubernetes/executors/pods_allocator_state.h"

/* The retry interval of a deletion while the pod still exists. */
#define DELETE_RETRY (10 * NS_PER_SECOND)
#define MAX_LOGGED_IDS 50

typedef VEC(int32_t) id_list;

static int pods_allocator_reconcile_by_id(const void *a, const void *b)
{
        int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

        return x < y ? -1 : x > y;
}

static char *ids_text(const id_list *ids)
{
        struct buf text = BUF_INIT;

        for (size_t i = 0; i < ids->len && i < MAX_LOGGED_IDS; i++)
                buf_printf(&text, "%s%d", i ? "," : "", ids->data[i]);
        if (ids->len > MAX_LOGGED_IDS)
                buf_printf(&text, ", and %zu more", ids->len - MAX_LOGGED_IDS);
        return buf_steal(&text);
}

static void pods_delete(struct pods_allocator *a, const int32_t *ids, int n, bool pending)
{
        int32_t *copy = new_array(int32_t, (size_t)n);

        memcpy(copy, ids, (size_t)n * sizeof(*ids));
        pod_actions_push(a->actions, (struct pod_action){POD_ACTION_DELETE_MANY,
                                                         .delete_many = {.ids = copy, .n = n, .pending = pending}});
}

static void request_deletion(struct pods_allocator *a, const int32_t *ids, int n, bool pending)
{
        for (int i = 0; i < n; i += MAX_PODS_DELETE)
                pods_delete(a, ids + i, MIN(n - i, MAX_PODS_DELETE), pending);
}

void allocator_delete(struct pods_allocator *a, const int32_t *ids, int n, bool pending, int64_t now)
{
        for (int i = 0; i < n; i++) {
                struct allocated_executor *e = allocator_find(a, ids[i]);
                if (e->deleted)
                        continue;
                allocator_mark_deleted(a, e);
                e->retry_at = now + DELETE_RETRY;
                a->retry_at = MIN(a->retry_at, e->retry_at);
        }
        request_deletion(a, ids, n, pending);
}

/* Repeats deletions without effect: the request was lost, or the pod had started to run. */
static void retry_deletions(struct pods_allocator *a, int64_t now)
{
        id_list ids = {0};

        if (now < a->retry_at)
                return;
        a->retry_at = INT64_MAX;
        for (size_t i = 0; i < a->executors.len; i++) {
                struct allocated_executor *e = &a->executors.data[i];
                if (!e->deleted || e->leaving || e->stage == EXECUTOR_POD_ENDED)
                        continue;
                if (e->retry_at <= now) {
                        const struct pod_state *pod = a->pods ? pods_snapshot_get(a->pods, e->id) : NULL;
                        if (pod && !pod_state_kind_is_final(pod->kind))
                                vec_push(&ids, e->id);
                        e->retry_at = now + DELETE_RETRY;
                }
                a->retry_at = MIN(a->retry_at, e->retry_at);
        }
        request_deletion(a, ids.data, (int)ids.len, false);
        vec_deinit(&ids);
}

/* ------------------------------------------------------------------------------------------------------- lost pods */

static void log_lost_pods(struct pods_allocator *a, const id_list *ids, int64_t after)
{
        _cleanup_free_ char *text = ids_text(ids);

        allocator_log(
                a, LOG_WARN,
                "Executors with ids %s were not detected in the Kubernetes cluster after %lld ms despite the fact "
                "that a previous allocation attempt tried to create them. The executors may have been deleted but "
                "the application missed the deletion event.",
                text, (long long)(after / NS_PER_MS));
}

/* Whether to give up a created pod that no snapshot has: a full list lacks it, or it has timed out. */
static bool is_lost(const struct pods_allocator *a, const struct allocated_executor *e, int64_t now)
{
        int64_t full_at = a->pods ? a->pods->full_at : 0;

        return now - e->since > a->config.creation_timeout || (full_at && full_at - e->since > a->config.missing_delta);
}

static void give_up_lost(struct pods_allocator *a, int64_t now)
{
        id_list ids = {0};
        int64_t waited = INT64_MAX;

        if (now < a->timeout_at)
                return;
        a->timeout_at = INT64_MAX;
        for (size_t i = 0; i < a->executors.len; i++) {
                struct allocated_executor *e = &a->executors.data[i];
                if (e->stage != EXECUTOR_POD_CREATED || (e->known && !e->deleted))
                        continue;
                if (!is_lost(a, e, now)) {
                        a->timeout_at = MIN(a->timeout_at, e->since + a->config.creation_timeout + 1);
                        continue;
                }
                if (!e->deleted) {
                        vec_push(&ids, e->id);
                        waited = MIN(waited, now - e->since);
                }
                allocator_move(a, e, EXECUTOR_POD_ENDED);
        }
        if (ids.len) {
                log_lost_pods(a, &ids, waited > a->config.creation_timeout ? a->config.creation_timeout : waited);
                if (a->config.delete_executors)
                        request_deletion(a, ids.data, (int)ids.len, false);
        }
        vec_deinit(&ids);
}

/* ----------------------------------------------------------------------------------------------------- excess pods */

static int running_of(const struct allocated_profile *p)
{
        return p->n[EXECUTOR_POD_RUNNING][0] + p->n[EXECUTOR_POD_RUNNING][1];
}

static int not_running_of(const struct allocated_profile *p)
{
        int n = 0;

        for (enum executor_pod_stage s = EXECUTOR_POD_REQUESTED; s <= EXECUTOR_POD_PENDING; s++)
                n += p->n[s][0] + p->n[s][1];
        return n;
}

/* Collects up to @most executors of a profile in @stage that the scheduler does not know, idle beyond the timeout. */
static void pick_idle(struct pods_allocator *a, const struct allocated_profile *p, enum executor_pod_stage stage,
                      int most, id_list *ids, int64_t now)
{
        for (size_t i = 0; i < a->executors.len; i++) {
                const struct allocated_executor *e = &a->executors.data[i];
                if (e->profile != p->id || e->stage != stage || e->known || e->deleted)
                        continue;
                if (now - e->since <= a->config.idle_timeout)
                        a->excess_at = MIN(a->excess_at, e->since + a->config.idle_timeout + 1);
                else if (most-- > 0)
                        vec_push(ids, e->id);
        }
}

static void delete_excess(struct pods_allocator *a, const struct allocated_profile *p, int64_t now)
{
        int excess = running_of(p) + not_running_of(p) - p->target;
        id_list ids = {0};

        if (excess <= 0)
                return;
        pick_idle(a, p, EXECUTOR_POD_CREATED, excess, &ids, now);
        pick_idle(a, p, EXECUTOR_POD_PENDING, excess - (int)ids.len, &ids, now);
        if (ids.len) {
                qsort(ids.data, ids.len, sizeof(ids.data[0]), pods_allocator_reconcile_by_id);
                _cleanup_free_ char *text = ids_text(&ids);
                allocator_log(a, LOG_INFO, "Deleting %zu excess pod requests (%s).", ids.len, text);
                allocator_delete(a, ids.data, (int)ids.len, true, now);
        }
        vec_deinit(&ids);
}

/* ---------------------------------------------------------------------------------------------------- missing pods */

void pods_split_slots(int n, int slots, int *out)
{
        for (int i = 0; i < n; i++)
                out[i] = slots / n + (i < slots % n);
}

/* Whether pods are created for recovery: always, or after an executor ran out of memory. */
static bool is_recovering(const struct pods_allocator *a)
{
        return a->config.recovery > 0 || (a->config.recovery < 0 && lifecycle_manager_saw_out_of_memory(a->lifecycle));
}

static void pod_create(struct pods_allocator *a, struct allocated_executor *e)
{
        create_window_sent(&a->window);
        pod_actions_push(a->actions,
                         (struct pod_action){POD_ACTION_CREATE, .create = {.id = e->id,
                                                                           .profile = e->profile,
                                                                           .recovery = is_recovering(a),
                                                                           .claims = allocator_claims_take(a, e),
                                                                           .n_claims = a->config.n_claims}});
}

/* Requests up to @n executors and returns how many. */
static int pods_allocator_reconcile_request(struct pods_allocator *a, int32_t profile, int n, int64_t now)
{
        for (int i = 0; i < n; i++) {
                if (a->last_id + 1 >= a->config.maximum) {
                        if (!a->limit_logged)
                                allocator_log(a, LOG_ERROR,
                                              "Exceed the pod creation limit: %d. No more executors are created: "
                                              "raise spark.kubernetes.allocation.maximum.",
                                              a->config.maximum);
                        a->limit_logged = true;
                        return i;
                }
                if (!allocator_claims_ready(a, now))
                        return i;
                pod_create(a, allocator_add(a, a->last_id + 1, profile, now));
        }
        return n;
}

static bool is_candidate(const struct pods_allocator *a, const struct allocated_profile *p)
{
        /* Spark waits until the last batch is in a snapshot. */
        if (!allocator_adapts(a) && (p->n[EXECUTOR_POD_REQUESTED][0] || p->n[EXECUTOR_POD_CREATED][0]))
                return false;
        return running_of(p) + not_running_of(p) < p->target;
}

static int missing_of(const struct pods_allocator *a, const struct allocated_profile *p)
{
        int missing = p->target - running_of(p) - not_running_of(p);

        return MIN(missing, a->config.max_pending_per_profile - not_running_of(p));
}

static void allocator_log_request(struct pods_allocator *a, struct allocated_profile *p, int n, int share)
{
        if (p->deficit_logged && allocator_adapts(a))
                return; /* logged at its start */
        p->deficit_logged = true;
        allocator_log(
                a, LOG_INFO,
                "Going to request %d executors from Kubernetes for ResourceProfile Id: %d, target: %d, known: %d, "
                "sharedSlotFromPendingPods: %d.",
                n, p->id, p->target, running_of(p) + not_running_of(p), share);
}

/* Distributes @slots over the profiles that miss executors. Returns the number of requests. */
static int create_within(struct pods_allocator *a, int slots, int64_t now)
{
        VEC(size_t) candidates = {0};
        int made = 0;

        for (size_t i = 0; i < a->profiles.len; i++) {
                if (is_candidate(a, &a->profiles.data[i]))
                        vec_push(&candidates, i);
                else
                        a->profiles.data[i].deficit_logged = false;
        }
        int *shares = candidates.len ? new_array(int, candidates.len) : NULL;
        if (shares)
                pods_split_slots((int)candidates.len, slots, shares);
        for (size_t i = 0; i < candidates.len; i++) {
                struct allocated_profile *p = &a->profiles.data[candidates.data[i]];
                int missing = missing_of(a, p), n = MIN(missing, shares[i]);
                if (!allocator_adapts(a))
                        n = MIN(n, a->config.batch_size);
                if (n <= 0)
                        continue;
                allocator_log_request(a, p, allocator_adapts(a) ? missing : n, shares[i]);
                made += pods_allocator_reconcile_request(a, p->id, n, now);
        }
        free(shares);
        vec_deinit(&candidates);
        return made;
}

static int room_for_pending(const struct pods_allocator *a)
{
        int64_t room = a->config.max_pending;

        for (size_t i = 0; i < a->profiles.len; i++)
                room -= not_running_of(&a->profiles.data[i]);
        return (int)MAX(room, 0);
}

/* Whether a profile misses executors that only time holds back. */
static bool pods_allocator_reconcile_wants_more(const struct pods_allocator *a)
{
        for (size_t i = 0; i < a->profiles.len; i++)
                if (is_candidate(a, &a->profiles.data[i]) && missing_of(a, &a->profiles.data[i]) > 0)
                        return room_for_pending(a) > 0;
        return false;
}

static bool driver_is_ready(struct pods_allocator *a, int64_t now)
{
        if (!a->driver_ready && now >= a->driver_deadline) {
                a->driver_ready = true;
                allocator_log(a, LOG_WARN, "The driver's pod is not ready after %lld ms: creating executors anyway.",
                              (long long)(a->config.driver_timeout / NS_PER_MS));
        }
        return a->driver_ready;
}

static void create_missing(struct pods_allocator *a, int64_t now)
{
        a->create_at = INT64_MAX;
        if (!pods_allocator_reconcile_wants_more(a)) {
                a->notified = false;
                create_within(a, 0, now); /* clears deficit_logged */
                return;
        }
        if (!driver_is_ready(a, now)) {
                a->create_at = a->driver_deadline;
                return;
        }
        int64_t pause_ends = create_window_deadline(&a->window, now);
        if (pause_ends != INT64_MAX) {
                a->create_at = pause_ends;
                return;
        }
        if (allocator_adapts(a)) {
                int slots;
                do
                        slots = MIN(room_for_pending(a), create_window_room(&a->window, now));
                while (slots > 0 && create_within(a, slots, now) > 0);
                return;
        }
        if (!a->notified && now - a->last_round < a->config.batch_delay) {
                a->create_at = a->last_round + a->config.batch_delay;
                return;
        }
        if (create_within(a, room_for_pending(a), now) > 0) {
                a->last_round = now;
                a->notified = false;
                if (pods_allocator_reconcile_wants_more(a))
                        a->create_at = now + a->config.batch_delay;
        }
}

void allocator_reconcile(struct pods_allocator *a, int64_t now)
{
        if (allocator_is_idle(a))
                return;
        give_up_lost(a, now);
        retry_deletions(a, now);
        a->excess_at = INT64_MAX;
        for (size_t i = 0; i < a->profiles.len; i++)
                delete_excess(a, &a->profiles.data[i], now);
        create_missing(a, now);
}
