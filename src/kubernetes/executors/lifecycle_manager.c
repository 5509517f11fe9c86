/*
 * Keeps one record for each executor from its registration or its pod's end until `removed_memory` after its removal.
 * Spark keeps a cache of removed ids, a set of failed and a set of labelled ones, and asks the scheduler for the
 * others.
 *
 * Differs from Spark: Spark repeats a deletion whenever a snapshot still has the pod, and never if no event comes. Here
 * each deletion has a retry time. A registered executor without a pod is reported once.
 *
 * Invariant: next_at is at most every record's kill_at, cleanup_at and forget_at.
 */
#include "kubernetes/executors/lifecycle_manager.h"

#include "base/string_prefix.h"
#include "base/vec.h"

#include <string.h>

#define LOG "ExecutorPodsLifecycleManager"

#define lifecycle_log(m, level, ...) pod_actions_log((m)->actions, level, LOG, __VA_ARGS__)

/* The retry interval of deletions and labels, how long an old waiting reason is remembered, the maximum of reasons. */
#define RETRY_INTERVAL (10 * NS_PER_SECOND)
#define REASON_MEMORY (300 * NS_PER_SECOND)
#define MAX_REASONS 32

struct executor_record {
        int32_t id;
        bool registered, removed, failed, requested; /* requested: the driver has asked it to exit */
        int64_t registered_at;
        int64_t cleanup_at; /* when to delete (or label) its ended pod again; INT64_MAX: not requested */
        int64_t kill_at;    /* when to delete the pod of an executor that must exit; INT64_MAX: never */
        int64_t forget_at;  /* when to drop the record; INT64_MAX: registered, or not removed yet */
};

/* A reason why executors wait. */
struct waiting_reason {
        char *text;
        int n;
        int32_t first; /* the lowest executor id */
        int64_t seen;
};

struct lifecycle_manager {
        struct lifecycle_config config;
        char *container;
        struct pod_actions *actions;
        VEC(struct executor_record) records; /* by id */
        VEC(int64_t) failures;               /* times */
        VEC(struct waiting_reason) reasons;
        size_t first_failure; /* index of the oldest failure that counts */
        int64_t next_at;
        bool gave_up, saw_out_of_memory;
};

int lifecycle_max_failures(int executors)
{
        return MAX(3, executors > INT32_MAX / 2 ? INT32_MAX : 2 * executors);
}

struct lifecycle_manager *lifecycle_manager_new(const struct lifecycle_config *config, struct pod_actions *actions)
{
        struct lifecycle_manager *m = new0(struct lifecycle_manager);

        m->config = *config;
        m->container = config->rules.container ? mem_strdup(config->rules.container) : NULL;
        m->config.rules.container = m->container;
        m->actions = actions;
        m->next_at = INT64_MAX;
        return m;
}

void lifecycle_manager_free(struct lifecycle_manager *m)
{
        if (!m)
                return;
        for (size_t i = 0; i < m->reasons.len; i++)
                free(m->reasons.data[i].text);
        vec_deinit(&m->reasons);
        vec_deinit(&m->records);
        vec_deinit(&m->failures);
        free(m->container);
        free(m);
}

/* ------------------------------------------------------------------------------------------------------ records */

static struct executor_record *executor_record_find(struct lifecycle_manager *m, int32_t id)
{
        size_t at = vec_place(&m->records, id, id);

        return at < m->records.len && m->records.data[at].id == id ? &m->records.data[at] : NULL;
}

static struct executor_record *executor_record_ensure(struct lifecycle_manager *m, int32_t id)
{
        size_t at = vec_place(&m->records, id, id);

        if (at < m->records.len && m->records.data[at].id == id)
                return &m->records.data[at];
        vec_insert(&m->records, at,
                   (struct executor_record){
                           .id = id, .cleanup_at = INT64_MAX, .kill_at = INT64_MAX, .forget_at = INT64_MAX});
        return &m->records.data[at];
}

static void wake_at(struct lifecycle_manager *m, int64_t when)
{
        m->next_at = MIN(m->next_at, when);
}

static void forget_later(struct lifecycle_manager *m, struct executor_record *r, int64_t now)
{
        if (r->registered || !r->removed)
                return;
        r->forget_at = now + m->config.removed_memory;
        wake_at(m, r->forget_at);
}

void lifecycle_manager_registered(struct lifecycle_manager *m, int32_t id, int64_t now)
{
        struct executor_record *r = executor_record_ensure(m, id);

        r->registered = true;
        r->registered_at = now;
        r->forget_at = INT64_MAX;
}

void lifecycle_manager_unregistered(struct lifecycle_manager *m, int32_t id, int64_t now)
{
        struct executor_record *r = executor_record_find(m, id);

        if (!r || !r->registered)
                return;
        r->registered = false;
        forget_later(m, r, now);
}

/* --------------------------------------------------------------------------------------------------------- failures */

int lifecycle_manager_failures(struct lifecycle_manager *m, int64_t now)
{
        int64_t validity = m->config.failure_validity;

        while (validity > 0 && m->first_failure < m->failures.len &&
               m->failures.data[m->first_failure] < now - validity)
                m->first_failure++;
        if (m->first_failure > 1024 && m->first_failure > m->failures.len / 2) {
                m->failures.len -= m->first_failure;
                memmove(m->failures.data, m->failures.data + m->first_failure, m->failures.len * sizeof(int64_t));
                m->first_failure = 0;
        }
        return (int)(m->failures.len - m->first_failure);
}

static void check_failures(struct lifecycle_manager *m, int64_t now)
{
        if (m->gave_up || lifecycle_manager_failures(m, now) <= m->config.max_failures)
                return;
        m->gave_up = true;
        char *text = mem_printf("Max number of executor failures (%d) reached", m->config.max_failures);
        lifecycle_log(m, LOG_ERROR, "%s", text);
        pod_actions_push(m->actions,
                         (struct pod_action){POD_ACTION_STOP_APPLICATION,
                                             .stop = {.exit_code = LIFECYCLE_EXIT_FAILURES, .message = text}});
}

void lifecycle_manager_creation_failed(struct lifecycle_manager *m, int64_t now)
{
        vec_push(&m->failures, now);
        check_failures(m, now);
}

/* ------------------------------------------------------------------------------------------------------- ended pods */

/* Takes ownership of @reason's content. */
static void executor_remove(struct lifecycle_manager *m, int32_t id, struct exit_reason reason)
{
        if (reason.out_of_memory) {
                pod_actions_log(m->actions, LOG_WARN, "KubernetesClusterSchedulerBackend", "OOM is detected.");
                m->saw_out_of_memory = true;
        }
        pod_actions_push(m->actions,
                         (struct pod_action){POD_ACTION_REMOVE_EXECUTOR, .remove = {.id = id, .reason = reason}});
}

static void remove_from_scheduler(struct lifecycle_manager *m, const struct pod_state *pod, int64_t now)
{
        struct executor_record *r = executor_record_ensure(m, pod->id);

        if (r->removed)
                return;
        r->removed = true;
        bool was_registered = r->registered;
        forget_later(m, r, now);
        struct exit_reason reason = exit_reason_of(pod, &m->config.rules, r->requested);
        if (pod->kind == POD_SUCCEEDED && was_registered && !r->requested)
                lifecycle_log(
                        m, LOG_INFO,
                        "Snapshot reported succeeded executor with id %d, even though the application has not requested for "
                        "it to be removed.",
                        pod->id);
        else if (pod->kind == POD_SUCCEEDED)
                lifecycle_log(
                        m, LOG_DEBUG,
                        "Snapshot reported succeeded executor with id %d. Note that succeeded executors are unusual "
                        "unless Spark specifically informed the executor to exit.",
                        pod->id);
        else if (pod->kind == POD_FAILED && !was_registered)
                lifecycle_log(m, LOG_WARN, "An executor failed before it registered. %s", reason.message);
        executor_remove(m, pod->id, reason);
}

static void pod_delete(struct lifecycle_manager *m, struct pod_state *pod, bool log_first)
{
        pod_actions_push(m->actions, (struct pod_action){POD_ACTION_DELETE, .delete = {.pod = pod_state_ref(pod),
                                                                                       .log_first = log_first}});
}

static void remove_from_server(struct lifecycle_manager *m, struct pod_state *pod, int64_t now)
{
        struct executor_record *r = executor_record_ensure(m, pod->id);
        bool is_first = r->cleanup_at == INT64_MAX;

        if (!is_first && now < r->cleanup_at)
                return;
        if (m->config.delete_executors ? pod->leaving : pod->inactive)
                return;
        r->cleanup_at = now + RETRY_INTERVAL;
        wake_at(m, r->cleanup_at);
        if (m->config.delete_executors)
                pod_delete(m, pod, is_first && pod->kind == POD_FAILED);
        else {
                if (is_first)
                        lifecycle_log(m, LOG_DEBUG, "Marking executor %s as inactive since deletion is disabled.",
                                      pod->name);
                pod_actions_push(m->actions, (struct pod_action){POD_ACTION_LABEL_INACTIVE, .pod = pod_state_ref(pod)});
        }
}

/* Returns whether this is a new failure. */
static bool lifecycle_manager_on_state(struct lifecycle_manager *m, struct pod_state *pod, int64_t now)
{
        if (!pod_state_kind_is_final(pod->kind))
                return false;
        struct executor_record *r = executor_record_ensure(m, pod->id);
        bool is_failure = pod->kind == POD_FAILED && !r->failed;
        if (is_failure) {
                r->failed = true;
                vec_push(&m->failures, now);
        }
        if (pod->inactive)
                return is_failure;
        remove_from_scheduler(m, pod, now);
        if (pod->kind != POD_DELETED)
                remove_from_server(m, pod, now);
        return is_failure;
}

/* Finds registered executors without a pod, although a full list came after their registration. */
static void find_missing(struct lifecycle_manager *m, const struct pods_snapshot *pods, int64_t now)
{
        VEC(struct executor_record) missing = {0};
        int64_t wall = m->config.wall_offset;

        for (size_t i = 0; i < m->records.len; i++) {
                struct executor_record *r = &m->records.data[i];
                if (!r->registered || r->removed || pods->full_at - r->registered_at <= m->config.missing_delta ||
                    pods_snapshot_get(pods, r->id))
                        continue;
                r->removed = true;
                vec_push(&missing, *r);
        }
        for (size_t i = 0; i < missing.len; i++) {
                const struct executor_record *r = &missing.data[i];
                struct exit_reason reason = {.code = EXIT_CODE_UNKNOWN};
                reason.message = mem_printf(
                        "The executor with ID %d (registered at %lld ms) was not found in the cluster at the polling "
                        "time (%lld ms) which is after the accepted detect delta time (%lld ms) configured by "
                        "`spark.kubernetes.executor.missingPodDetectDelta`. The executor may have been deleted but the "
                        "driver missed the deletion event. Marking this executor as failed.",
                        r->id, (long long)((r->registered_at + wall) / NS_PER_MS),
                        (long long)((pods->full_at + wall) / NS_PER_MS),
                        (long long)(m->config.missing_delta / NS_PER_MS));
                lifecycle_log(m, LOG_DEBUG, "%s", reason.message);
                executor_remove(m, r->id, reason);
        }
        vec_deinit(&missing);
}

/* ----------------------------------------------------------------------------------------------------- waiting pods */

/* Returns the index of the pod's reason, or -1 if there are too many reasons. */
static int waiting_reason_ensure(struct lifecycle_manager *m, const struct pod_state *pod)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;

        waiting_reason_describe(pod, &text);
        for (size_t i = 0; i < m->reasons.len; i++)
                if (strcmp(m->reasons.data[i].text, buf_text(&text)) == 0)
                        return (int)i;
        if (m->reasons.len == MAX_REASONS)
                return -1;
        vec_push(&m->reasons, (struct waiting_reason){.text = buf_steal(&text), .seen = -1});
        return (int)m->reasons.len - 1;
}

static bool has_same_waiting_reason(const struct pod_state *a, const struct pod_state *b)
{
        return text_equals(a->waiting, b->waiting) && text_equals(a->waiting_message, b->waiting_message) &&
               text_equals(a->waiting_container, b->waiting_container);
}

static void count_reasons(struct lifecycle_manager *m, const struct pods_snapshot *pods)
{
        const struct pod_state *before = NULL;
        int at = -1;

        for (size_t i = 0; i < m->reasons.len; i++)
                m->reasons.data[i].n = 0;
        for (size_t i = 0; i < pods->places.len; i++) {
                const struct pod_state *pod = pods->places.data[i].pod;
                if (!pod || !pod->waiting || pod->leaving)
                        continue;
                if (!before || !has_same_waiting_reason(before, pod)) /* thousands may wait for the same reason */
                        at = waiting_reason_ensure(m, pod);
                before = pod;
                if (at >= 0 && m->reasons.data[at].n++ == 0)
                        m->reasons.data[at].first = pod->id;
        }
}

static void forget_reasons(struct lifecycle_manager *m, int64_t now)
{
        size_t n = 0;

        for (size_t i = 0; i < m->reasons.len; i++) {
                if (m->reasons.data[i].seen < now - REASON_MEMORY)
                        free(m->reasons.data[i].text);
                else
                        m->reasons.data[n++] = m->reasons.data[i];
        }
        m->reasons.len = n;
}

static void log_waiting_reasons(struct lifecycle_manager *m, const struct pods_snapshot *pods, int64_t now)
{
        count_reasons(m, pods);
        for (size_t i = 0; i < m->reasons.len; i++) {
                struct waiting_reason *r = &m->reasons.data[i];
                if (r->n && r->seen < 0 && r->n == 1)
                        lifecycle_log(m, LOG_WARN, "Executor %d waits: %s", r->first, r->text);
                else if (r->n && r->seen < 0)
                        lifecycle_log(m, LOG_WARN, "%d executors wait (%d and others): %s", r->n, r->first, r->text);
                if (r->n)
                        r->seen = now;
        }
        forget_reasons(m, now);
}

/* ----------------------------------------------------------------------------------------------------------- events */

void lifecycle_manager_snapshot(struct lifecycle_manager *m, const struct pods_batch *batch, int64_t now)
{
        int n_failed = 0;
        bool waits = m->reasons.len > 0;

        if (m->gave_up)
                return;
        for (size_t i = 0; i < batch->n_changes; i++) {
                n_failed += lifecycle_manager_on_state(m, batch->changes[i], now);
                waits |= batch->changes[i]->waiting != NULL;
        }
        if (n_failed)
                lifecycle_log(m, LOG_WARN, "%d new failed executors.", n_failed);
        if (waits)
                log_waiting_reasons(m, batch->pods, now);
        if (batch->full)
                find_missing(m, batch->pods, now);
        check_failures(m, now);
}

void lifecycle_manager_decommissioned(struct lifecycle_manager *m, int32_t id)
{
        struct executor_record *r = executor_record_find(m, id);

        if (r)
                r->requested = true;
}

void lifecycle_manager_killed(struct lifecycle_manager *m, const int32_t *ids, int n, int64_t now)
{
        for (int i = 0; i < n; i++) {
                struct executor_record *r = executor_record_ensure(m, ids[i]);
                r->requested = true;
                r->kill_at = MIN(r->kill_at, now + m->config.kill_grace);
                wake_at(m, r->kill_at);
        }
}

/* Deletes the pod. Returns whether it still existed. */
static bool kill_running_pod(struct lifecycle_manager *m, struct executor_record *r, struct pod_state *pod, int64_t now)
{
        r->kill_at = INT64_MAX;
        if (pod && (pod->leaving || pod_state_kind_is_final(pod->kind)))
                return false;
        if (!pod && r->removed)
                return false;
        r->kill_at = now + RETRY_INTERVAL; /* repeat until it is gone; a pod that was not seen yet may still come */
        if (pod)
                pod_delete(m, pod, false);
        return pod != NULL;
}

int64_t lifecycle_manager_deadline(const struct lifecycle_manager *m)
{
        return m->gave_up ? INT64_MAX : m->next_at;
}

void lifecycle_manager_tick(struct lifecycle_manager *m, const struct pods_snapshot *pods, int64_t now)
{
        size_t n = 0;
        int n_due = 0, n_killed = 0;

        if (m->gave_up || now < m->next_at)
                return;
        m->next_at = INT64_MAX;
        for (size_t i = 0; i < m->records.len; i++) {
                struct executor_record *r = &m->records.data[i];
                struct pod_state *pod = pods_snapshot_get(pods, r->id);
                if (r->kill_at <= now) {
                        n_due++;
                        n_killed += kill_running_pod(m, r, pod, now);
                }
                if (r->cleanup_at <= now) {
                        if (pod && pod_state_kind_is_final(pod->kind) && !pod->leaving && !pod->inactive)
                                remove_from_server(m, pod, now);
                        if (r->cleanup_at <= now)
                                r->cleanup_at = INT64_MAX - 1; /* requested, and nothing is left to request */
                }
                if (r->forget_at <= now && !pod)
                        continue;
                if (r->forget_at <= now)
                        r->forget_at = now + m->config.removed_memory;
                wake_at(m, r->kill_at);
                wake_at(m, r->forget_at);
                if (r->cleanup_at < INT64_MAX - 1)
                        wake_at(m, r->cleanup_at);
                m->records.data[n++] = *r;
        }
        m->records.len = n;
        if (n_killed)
                lifecycle_log(
                        m, LOG_INFO,
                        "Forcefully deleting %d pods (out of %d) that are still running after graceful shutdown period.",
                        n_killed, n_due);
}

size_t lifecycle_manager_size(const struct lifecycle_manager *m)
{
        return m->records.len;
}

bool lifecycle_manager_gave_up(const struct lifecycle_manager *m)
{
        return m->gave_up;
}

bool lifecycle_manager_saw_out_of_memory(const struct lifecycle_manager *m)
{
        return m->saw_out_of_memory;
}
