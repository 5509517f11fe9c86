/*
 * Spark's ExecutorMonitor.
 *
 * A driver with ten thousand executors queries it ten times a second, so it caches the result, and the time at which
 * the result changes by itself (next_timeout). An event that may change the result sets that time to "now".
 *
 * Invariants: a live executor's timeout follows from its state (each change calls update_timeout). While next_timeout
 * is in the future, timed_out has no executor that has more time or is not a candidate any more. Every count equals the
 * number of its trackers.
 *
 * Departures from Spark: in Spark an executor that receives map outputs from a decommissioned one keeps its old
 * deadline, and keeps outputs that no job needs until some job ends. A stage that two jobs share is forgotten when the
 * first one ends. A block reported after its executor's end brings the executor back. Executors are removed in the
 * order of their ids as text ("10" before "2"), here oldest first.
 */
#include "sched/allocation/executor_monitor.h"

#include "base/log.h"
#include "base/vec.h"
#include "sched/sched.h"

#include <stdio.h>

#define LOG "ExecutorMonitor"

#define NOT_IDLE INT64_MIN
#define REMOVED -1 /* in executor_monitor.place */

/* A sorted set of small numbers. Most insertions are at the end. */
typedef VEC(int32_t) int_set;

struct cached_rdd {
        int32_t rdd;
        int_set partitions;
};

struct tracker {
        int32_t executor;
        char *id; /* in the log; NULL: its index */
        int profile;
        int running;
        int64_t idle_since; /* NOT_IDLE while it runs tasks */
        int64_t timeout_at;
        bool timed_out; /* is in executor_monitor.timed_out */
        enum executor_leaving leaving;
        bool active_shuffle;
        int_set shuffles;
        VEC(struct cached_rdd) cached; /* none of them empty */
};

struct shuffle_use {
        int32_t shuffle;
        int_set jobs; /* running jobs that may read it */
};

/* The shuffle that a stage writes, while a job with the stage runs. */
struct stage_use {
        int32_t shuffle, jobs;
};

struct job_stages {
        int job;
        VEC(int32_t) stages;
};

struct profile_count {
        int profile;
        struct executor_count count;
};

struct executor_monitor {
        struct executor_monitor_config config;
        VEC(struct tracker *) trackers; /* of known executors, unordered */
        VEC(int32_t) place;             /* by executor: index in trackers + 1, 0 if unknown */
        VEC(struct profile_count) profiles;
        struct executor_count total;
        struct executor_removals removals;
        int64_t next_timeout; /* INT64_MIN: now */
        VEC(struct idle_executor) timed_out;
        VEC(struct shuffle_use) shuffles; /* by shuffle, ascending */
        VEC(struct stage_use) stages;     /* by stage, jobs is 0 for ended ones */
        VEC(struct job_stages) jobs;
};

/* ------------------------------------------------------------------------------------------------ int sets */

/* Returns the position of @value, or where to insert it. */
static size_t set_place(const int_set *set, int32_t value)
{
        size_t low = 0, high = set->len;

        if (high > 0 && set->data[high - 1] < value)
                return high;
        while (low < high) {
                size_t middle = (low + high) / 2;

                if (set->data[middle] < value)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

static bool set_add(int_set *set, int32_t value)
{
        size_t at = set_place(set, value);

        if (at < set->len && set->data[at] == value)
                return false;
        vec_push(set, value);
        memmove(set->data + at + 1, set->data + at, (set->len - 1 - at) * sizeof(*set->data));
        set->data[at] = value;
        return true;
}

static bool set_remove(int_set *set, int32_t value)
{
        size_t at = set_place(set, value);

        if (at >= set->len || set->data[at] != value)
                return false;
        set->len--;
        memmove(set->data + at, set->data + at + 1, (set->len - at) * sizeof(*set->data));
        return true;
}

/* ----------------------------------------------------------------------------------------------- executors */

static struct tracker *tracker_find(const struct executor_monitor *m, int32_t executor)
{
        if (executor < 0 || (size_t)executor >= m->place.len || m->place.data[executor] <= 0)
                return NULL;
        return m->trackers.data[m->place.data[executor] - 1];
}

/* An index is never used again. */
static bool is_removed(const struct executor_monitor *m, int32_t executor)
{
        return executor < 0 || ((size_t)executor < m->place.len && m->place.data[executor] == REMOVED);
}

static void cached_free(struct tracker *t, size_t at)
{
        vec_deinit(&t->cached.data[at].partitions);
        t->cached.data[at] = t->cached.data[--t->cached.len];
}

static void tracker_free(struct tracker *t)
{
        while (t->cached.len > 0)
                cached_free(t, t->cached.len - 1);
        vec_deinit(&t->cached);
        vec_deinit(&t->shuffles);
        free(t->id);
        free(t);
}

static struct executor_count *profile_count(struct executor_monitor *m, int profile)
{
        for (size_t i = 0; i < m->profiles.len; i++)
                if (m->profiles.data[i].profile == profile)
                        return &m->profiles.data[i].count;
        vec_push(&m->profiles, (struct profile_count){.profile = profile});
        return &m->profiles.data[m->profiles.len - 1].count;
}

static void count_one(struct executor_count *count, const struct tracker *t, int step)
{
        count->all += step;
        count->killed += t->leaving == EXECUTOR_KILLED ? step : 0;
        count->decommissioned += t->leaving == EXECUTOR_DECOMMISSIONED ? step : 0;
}

/* Call it with -1 before and with 1 after a change of profile or of leaving. */
static void count_tracker(struct executor_monitor *m, const struct tracker *t, int step)
{
        count_one(profile_count(m, t->profile), t, step);
        count_one(&m->total, t, step);
}

static struct tracker *tracker_ensure(struct executor_monitor *m, int32_t executor, int profile)
{
        struct tracker *t = tracker_find(m, executor);

        if (!t) {
                t = new0(struct tracker);
                t->executor = executor;
                t->profile = profile;
                t->idle_since = NOT_IDLE;
                t->timeout_at = INT64_MAX;
                while (m->place.len <= (size_t)executor)
                        vec_push(&m->place, 0);
                vec_push(&m->trackers, t);
                m->place.data[executor] = (int32_t)m->trackers.len;
                count_tracker(m, t, 1);
        } else if (t->profile == EXECUTOR_PROFILE_UNKNOWN && profile != EXECUTOR_PROFILE_UNKNOWN) {
                count_tracker(m, t, -1);
                t->profile = profile;
                count_tracker(m, t, 1);
        }
        return t;
}

/* Returns the tracker of a reported executor, or NULL if the executor has ended. */
static struct tracker *tracker_of_news(struct executor_monitor *m, int32_t executor)
{
        if (is_removed(m, executor))
                return NULL;
        return tracker_ensure(m, executor, EXECUTOR_PROFILE_UNKNOWN);
}

/* -------------------------------------------------------------------------------------------------- timeouts */

static int64_t timeout_of(const struct executor_monitor *m, const struct tracker *t)
{
        int64_t timeout = m->config.idle, deadline;

        if (t->idle_since == NOT_IDLE)
                return INT64_MAX;
        if (t->cached.len > 0)
                timeout = MAX(timeout, m->config.cached);
        if (t->shuffles.len > 0)
                timeout = MAX(timeout, m->config.shuffle);
        return __builtin_add_overflow(t->idle_since, timeout, &deadline) ? INT64_MAX : deadline;
}

static void update_timeout(struct executor_monitor *m, struct tracker *t)
{
        int64_t before = t->timeout_at;

        t->timeout_at = timeout_of(m, t);
        if (t->timed_out && t->timeout_at > before)
                m->next_timeout = INT64_MIN;
        else
                m->next_timeout = MIN(m->next_timeout, t->timeout_at);
}

static void update_running(struct executor_monitor *m, struct tracker *t, int step, int64_t now)
{
        t->running = MAX(0, t->running + step);
        t->idle_since = t->running == 0 ? now : NOT_IDLE;
        update_timeout(m, t);
}

static int executor_monitor_by_executor(const void *a, const void *b)
{
        int32_t x = ((const struct idle_executor *)a)->executor, y = ((const struct idle_executor *)b)->executor;

        return (x > y) - (x < y);
}

const struct idle_executor *executor_monitor_timed_out(struct executor_monitor *m, int64_t now, int *n)
{
        if (now >= m->next_timeout) {
                m->next_timeout = INT64_MAX;
                m->timed_out.len = 0;
                for (size_t i = 0; i < m->trackers.len; i++) {
                        struct tracker *t = m->trackers.data[i];
                        bool candidate = t->leaving == EXECUTOR_STAYS && !t->active_shuffle;

                        t->timed_out = candidate && t->timeout_at <= now && t->timeout_at < INT64_MAX;
                        if (t->timed_out)
                                vec_push(&m->timed_out, (struct idle_executor){t->executor, t->profile});
                        else if (candidate)
                                m->next_timeout = MIN(m->next_timeout, t->timeout_at);
                }
                if (m->timed_out.len > 1)
                        qsort(m->timed_out.data, m->timed_out.len, sizeof(*m->timed_out.data),
                              executor_monitor_by_executor);
        }
        *n = (int)m->timed_out.len;
        return m->timed_out.data;
}

/* ---------------------------------------------------------------------------------------------------- events */

struct executor_monitor *executor_monitor_new(const struct executor_monitor_config *config)
{
        struct executor_monitor *m = new0(struct executor_monitor);

        m->config = *config;
        m->next_timeout = INT64_MAX;
        return m;
}

void executor_monitor_reset(struct executor_monitor *m)
{
        for (size_t i = 0; i < m->trackers.len; i++) {
                m->place.data[m->trackers.data[i]->executor] = 0;
                tracker_free(m->trackers.data[i]);
        }
        m->trackers.len = 0;
        m->profiles.len = 0;
        m->total = (struct executor_count){0};
        m->timed_out.len = 0;
        m->next_timeout = INT64_MAX;
}

void executor_monitor_free(struct executor_monitor *m)
{
        if (!m)
                return;
        executor_monitor_reset(m);
        for (size_t i = 0; i < m->shuffles.len; i++)
                vec_deinit(&m->shuffles.data[i].jobs);
        for (size_t i = 0; i < m->jobs.len; i++)
                vec_deinit(&m->jobs.data[i].stages);
        vec_deinit(&m->trackers);
        vec_deinit(&m->place);
        vec_deinit(&m->profiles);
        vec_deinit(&m->timed_out);
        vec_deinit(&m->shuffles);
        vec_deinit(&m->stages);
        vec_deinit(&m->jobs);
        free(m);
}

const char *executor_monitor_id(const struct executor_monitor *m, int32_t executor, char number[static 12])
{
        const struct tracker *t = tracker_find(m, executor);

        if (t && t->id)
                return t->id;
        snprintf(number, 12, "%d", executor);
        return number;
}

void executor_monitor_added(struct executor_monitor *m, int32_t executor, const char *id, int profile, int64_t now)
{
        char number[12];
        struct tracker *t;

        if (is_removed(m, executor))
                return;
        t = tracker_ensure(m, executor, profile);
        free(t->id);
        t->id = id ? mem_strdup(id) : NULL;
        update_running(m, t, 0, now);
        log_info(LOG, "New executor %s has registered (new total is %d)", executor_monitor_id(m, executor, number),
                 m->total.all);
}

static void count_removal(struct executor_removals *r, const struct tracker *t, const char *reason)
{
        if (reason && (strcmp(reason, LOSS_DECOMMISSIONED) == 0 ||
                       strncmp(reason, LOSS_DECOMMISSION, sizeof(LOSS_DECOMMISSION) - 1) == 0))
                r->gracefully_decommissioned++;
        else if (t->leaving == EXECUTOR_DECOMMISSIONED)
                r->decommission_unfinished++;
        else if (t->leaving == EXECUTOR_KILLED)
                r->driver_killed++;
        else
                r->exited_unexpectedly++;
}

bool executor_monitor_removed(struct executor_monitor *m, int32_t executor, const char *reason)
{
        struct tracker *t = tracker_find(m, executor), *last;
        const struct executor_removals *r = &m->removals;
        char number[12];

        if (!t)
                return false;
        count_removal(&m->removals, t, reason);
        count_tracker(m, t, -1);
        m->next_timeout = INT64_MIN;
        log_info(LOG,
                 "Executor %s is removed. Remove reason statistics: (gracefully decommissioned: %lld, "
                 "decommission unfinished: %lld, driver killed: %lld, unexpectedly exited: %lld).",
                 executor_monitor_id(m, executor, number), (long long)r->gracefully_decommissioned,
                 (long long)r->decommission_unfinished, (long long)r->driver_killed, (long long)r->exited_unexpectedly);
        last = m->trackers.data[--m->trackers.len];
        m->trackers.data[m->place.data[executor] - 1] = last;
        m->place.data[last->executor] = m->place.data[executor];
        m->place.data[executor] = REMOVED;
        tracker_free(t);
        return true;
}

static void set_leaving(struct executor_monitor *m, const int32_t *executors, int n, enum executor_leaving leaving)
{
        for (int i = 0; i < n; i++) {
                struct tracker *t = tracker_find(m, executors[i]);

                if (!t)
                        continue;
                count_tracker(m, t, -1);
                t->leaving = leaving;
                count_tracker(m, t, 1);
        }
        m->next_timeout = INT64_MIN;
}

void executor_monitor_killed(struct executor_monitor *m, const int32_t *executors, int n)
{
        set_leaving(m, executors, n, EXECUTOR_KILLED);
}

void executor_monitor_decommissioned(struct executor_monitor *m, const int32_t *executors, int n)
{
        set_leaving(m, executors, n, EXECUTOR_DECOMMISSIONED);
}

void executor_monitor_task_started(struct executor_monitor *m, int32_t executor, int64_t now)
{
        struct tracker *t = tracker_of_news(m, executor);

        if (t)
                update_running(m, t, 1, now);
}

void executor_monitor_rdd_block(struct executor_monitor *m, int32_t executor, int rdd, int partition, bool in_memory,
                                bool on_disk)
{
        bool keeps = on_disk ? !m->config.service_keeps_rdds : in_memory;
        struct tracker *t = tracker_find(m, executor);
        size_t at = 0;

        if (!t && !keeps)
                return;
        t = tracker_of_news(m, executor);
        while (t && at < t->cached.len && t->cached.data[at].rdd != rdd)
                at++;
        if (!t)
                return;
        if (keeps) {
                if (at == t->cached.len)
                        vec_push(&t->cached, (struct cached_rdd){.rdd = rdd});
                set_add(&t->cached.data[at].partitions, partition);
        } else if (at < t->cached.len && set_remove(&t->cached.data[at].partitions, partition) &&
                   t->cached.data[at].partitions.len == 0) {
                cached_free(t, at);
        }
        update_timeout(m, t);
}

void executor_monitor_rdd_unpersisted(struct executor_monitor *m, int rdd)
{
        for (size_t i = 0; i < m->trackers.len; i++) {
                struct tracker *t = m->trackers.data[i];

                for (size_t k = t->cached.len; k-- > 0;)
                        if (t->cached.data[k].rdd == rdd)
                                cached_free(t, k);
                update_timeout(m, t);
        }
}

/* -------------------------------------------------------------------------------------------------- shuffles */

static size_t shuffle_place(const struct executor_monitor *m, int32_t shuffle)
{
        size_t low = 0, high = m->shuffles.len;

        while (low < high) {
                size_t middle = (low + high) / 2;

                if (m->shuffles.data[middle].shuffle < shuffle)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

static struct shuffle_use *shuffle_find(const struct executor_monitor *m, int32_t shuffle)
{
        size_t at = shuffle_place(m, shuffle);

        return at < m->shuffles.len && m->shuffles.data[at].shuffle == shuffle ? &m->shuffles.data[at] : NULL;
}

static struct shuffle_use *shuffle_ensure(struct executor_monitor *m, int32_t shuffle)
{
        size_t at = shuffle_place(m, shuffle);

        if (at == m->shuffles.len || m->shuffles.data[at].shuffle != shuffle) {
                vec_push(&m->shuffles, (struct shuffle_use){0});
                memmove(m->shuffles.data + at + 1, m->shuffles.data + at,
                        (m->shuffles.len - 1 - at) * sizeof(*m->shuffles.data));
                m->shuffles.data[at] = (struct shuffle_use){.shuffle = shuffle};
        }
        return &m->shuffles.data[at];
}

static bool shuffle_active(const struct executor_monitor *m, int32_t shuffle)
{
        const struct shuffle_use *use = shuffle_find(m, shuffle);

        return use && use->jobs.len > 0;
}

/* Updates @t after a change of its shuffles, or of the shuffles in use. */
static void update_shuffles(struct executor_monitor *m, struct tracker *t)
{
        bool active = false;

        for (size_t i = 0; i < t->shuffles.len && !active; i++)
                active = shuffle_active(m, t->shuffles.data[i]);
        if (active != t->active_shuffle)
                m->next_timeout = INT64_MIN;
        t->active_shuffle = active;
        update_timeout(m, t);
}

static void update_all_shuffles(struct executor_monitor *m)
{
        for (size_t i = 0; i < m->trackers.len; i++)
                if (m->trackers.data[i]->shuffles.len > 0)
                        update_shuffles(m, m->trackers.data[i]);
}

void executor_monitor_task_ended(struct executor_monitor *m, int32_t executor, int stage, bool succeeded, int64_t now)
{
        struct tracker *t = tracker_find(m, executor);

        if (!t)
                return;
        if (m->config.shuffle_tracking && succeeded && stage >= 0 && (size_t)stage < m->stages.len &&
            m->stages.data[stage].jobs > 0 && set_add(&t->shuffles, m->stages.data[stage].shuffle))
                update_shuffles(m, t);
        update_running(m, t, -1, now);
}

void executor_monitor_shuffle_block(struct executor_monitor *m, int32_t executor, int shuffle)
{
        struct tracker *t = m->config.shuffle_tracking ? tracker_of_news(m, executor) : NULL;

        if (t && set_add(&t->shuffles, shuffle))
                update_shuffles(m, t);
}

void executor_monitor_shuffle_removed(struct executor_monitor *m, int shuffle)
{
        struct shuffle_use *use = m->config.shuffle_tracking ? shuffle_find(m, shuffle) : NULL;

        if (!m->config.shuffle_tracking)
                return;
        if (use) {
                size_t at = (size_t)(use - m->shuffles.data);

                vec_deinit(&use->jobs);
                m->shuffles.len--;
                memmove(use, use + 1, (m->shuffles.len - at) * sizeof(*use));
        }
        for (size_t i = 0; i < m->trackers.len; i++)
                if (set_remove(&m->trackers.data[i]->shuffles, shuffle))
                        update_shuffles(m, m->trackers.data[i]);
}

void executor_monitor_job_started(struct executor_monitor *m, int job, const struct shuffle_stage *stages, int n)
{
        struct job_stages *entry;
        bool reused = false;

        if (!m->config.shuffle_tracking || n == 0)
                return;
        vec_push(&m->jobs, (struct job_stages){.job = job});
        entry = &m->jobs.data[m->jobs.len - 1];
        for (int i = 0; i < n; i++) {
                reused = reused || shuffle_find(m, stages[i].shuffle);
                set_add(&shuffle_ensure(m, stages[i].shuffle)->jobs, job);
                while (m->stages.len <= (size_t)stages[i].stage)
                        vec_push(&m->stages, (struct stage_use){.shuffle = -1});
                m->stages.data[stages[i].stage].shuffle = stages[i].shuffle;
                m->stages.data[stages[i].stage].jobs++;
                vec_push(&entry->stages, stages[i].stage);
        }
        if (reused)
                update_all_shuffles(m);
}

void executor_monitor_job_ended(struct executor_monitor *m, int job)
{
        bool unused = false;
        size_t at = 0;

        while (at < m->jobs.len && m->jobs.data[at].job != job)
                at++;
        if (at == m->jobs.len)
                return;
        for (size_t i = 0; i < m->jobs.data[at].stages.len; i++) {
                struct stage_use *stage = &m->stages.data[m->jobs.data[at].stages.data[i]];
                struct shuffle_use *use = shuffle_find(m, stage->shuffle);

                stage->jobs--;
                if (use && set_remove(&use->jobs, job))
                        unused = unused || use->jobs.len == 0;
        }
        vec_deinit(&m->jobs.data[at].stages);
        m->jobs.data[at] = m->jobs.data[--m->jobs.len];
        if (unused)
                update_all_shuffles(m);
}

/* ----------------------------------------------------------------------------------------------------- looks */

int64_t executor_monitor_deadline(const struct executor_monitor *m)
{
        return m->next_timeout;
}

bool executor_monitor_is_idle(const struct executor_monitor *m, int32_t executor)
{
        const struct tracker *t = tracker_find(m, executor);

        return t && t->idle_since != NOT_IDLE && !t->active_shuffle;
}

int64_t executor_monitor_timeout(const struct executor_monitor *m, int32_t executor)
{
        return executor_monitor_is_idle(m, executor) ? tracker_find(m, executor)->timeout_at : INT64_MAX;
}

enum executor_leaving executor_monitor_leaving(const struct executor_monitor *m, int32_t executor)
{
        const struct tracker *t = tracker_find(m, executor);

        return t ? t->leaving : EXECUTOR_STAYS;
}

int executor_monitor_profile(const struct executor_monitor *m, int32_t executor)
{
        const struct tracker *t = tracker_find(m, executor);

        return t ? t->profile : EXECUTOR_PROFILE_UNKNOWN;
}

struct executor_count executor_monitor_count(const struct executor_monitor *m, int profile)
{
        for (size_t i = 0; i < m->profiles.len; i++)
                if (m->profiles.data[i].profile == profile)
                        return m->profiles.data[i].count;
        return (struct executor_count){0};
}

struct executor_count executor_monitor_total(const struct executor_monitor *m)
{
        return m->total;
}

struct executor_removals executor_monitor_removals(const struct executor_monitor *m)
{
        return m->removals;
}
