/*
 * Spark 4's ExecutorAllocationManager.
 *
 * Spark checks every 100 ms. Here a tick is due only when its result can change (`dirty`, or a deadline), so that an
 * idle driver sleeps. The demand of a profile's stages is a sum that each event adjusts (recount), because every task
 * start checks whether tasks are pending.
 *
 * Invariants: a profile's demand is the sum of the counted demands of its stage attempts. After adjustment
 * min ≤ target ≤ max. The add timer runs while tasks are pending that arrived since it was last stopped. An attempt is
 * kept while it is submitted or has running tasks.
 *
 * Departures from Spark: Spark repeats a request that did not reach the cluster manager only if it changed a target,
 * not an initial one. In Spark a task that starts after its attempt ended counts as minus one pending task forever,
 * and a speculation reported after the end keeps the queue from ever being empty. Here such a task only counts as
 * running, and such a speculation is ignored. An ended attempt is not unschedulable any more.
 */
#include "sched/allocation/executor_allocation.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/queue.h"
#include "base/vec.h"
#include "sched/tasks/executors.h"

#include <limits.h>
#include <math.h>

#define LOG "ExecutorAllocationManager"

typedef VEC(uint64_t) bit_set;

struct host_hint {
        int host; /* number in executor_allocation.hosts */
        int tasks;
};

struct stage_attempt {
        int stage, attempt;
        int profile; /* -1 if it has running tasks but was never submitted */
        bool submitted;
        int n_tasks;
        int running;
        bit_set started; /* tasks with an attempt that started and did not fail */
        int n_started;
        bit_set speculative; /* tasks whose second attempt is pending */
        int n_speculative;
        bool unschedulable;
        struct sched_demand counted; /* its part of the profile's demand */
        int local_tasks;
        VEC(struct host_hint) hosts;
};

struct profile {
        int id, tasks_per_executor;
        int target, step;
        int before; /* the target that the cluster manager knows, until the request is answered */
        struct sched_demand demand;
        int local_tasks;
        VEC(struct host_demand) hosts;
};

struct executor_allocation {
        struct executor_allocation_config config;
        QUEUE(struct allocation_action) actions;
        struct allocation_action current; /* taken out last */
        struct executor_monitor *monitor;
        VEC(struct profile) profiles;
        VEC(struct stage_attempt *) attempts;
        struct name_index hosts; /* all preferred hosts of tasks */
        int n_submitted;
        int64_t add_time; /* INT64_MAX if no timer runs */
        bool initializing;
        bool told;                      /* the cluster manager got the last request */
        bool asked;                     /* a request is not answered yet */
        bool adjusts;                   /* it is that of executor_allocation_adjust */
        bool again;                     /* another request follows the answer */
        VEC(struct idle_executor) idle; /* to remove after the answer */
        VEC(int32_t) leaving;           /* executors of the removal that is not answered yet */
        bool dirty;                     /* an event occurred since the last tick */
        int64_t last_tick;
        int last_executors; /* their number at that time */
};

/* ------------------------------------------------------------------------------------------------- bit sets */

static bool bit_add(bit_set *set, int32_t index)
{
        size_t word = (size_t)index / 64;
        uint64_t bit = UINT64_C(1) << (index % 64);

        if (index < 0)
                return false;
        while (set->len <= word)
                vec_push(set, 0);
        if (set->data[word] & bit)
                return false;
        set->data[word] |= bit;
        return true;
}

static bool bit_remove(bit_set *set, int32_t index)
{
        size_t word = (size_t)index / 64;
        uint64_t bit = UINT64_C(1) << (index % 64);

        if (index < 0 || word >= set->len || !(set->data[word] & bit))
                return false;
        set->data[word] &= ~bit;
        return true;
}

/* ------------------------------------------------------------------------------------ profiles and attempts */

static struct profile *executor_allocation_profile_find(const struct executor_allocation *a, int id)
{
        for (size_t i = 0; i < a->profiles.len; i++)
                if (a->profiles.data[i].id == id)
                        return &a->profiles.data[i];
        return NULL;
}

static struct profile *profile_add(struct executor_allocation *a, int id, int tasks_per_executor)
{
        vec_push(&a->profiles,
                 (struct profile){.id = id,
                                  .tasks_per_executor =
                                          tasks_per_executor > 0 ? tasks_per_executor : a->config.tasks_per_executor,
                                  .target = a->config.initial,
                                  .before = a->config.initial,
                                  .step = 1});
        return &a->profiles.data[a->profiles.len - 1];
}

/* Searches from the end, because callers usually need the newest. */
static struct stage_attempt *attempt_find(const struct executor_allocation *a, int stage, int attempt)
{
        for (size_t i = a->attempts.len; i-- > 0;)
                if (a->attempts.data[i]->stage == stage && a->attempts.data[i]->attempt == attempt)
                        return a->attempts.data[i];
        return NULL;
}

static struct stage_attempt *attempt_ensure(struct executor_allocation *a, int stage, int attempt)
{
        struct stage_attempt *at = attempt_find(a, stage, attempt);

        if (at)
                return at;
        at = new0(struct stage_attempt);
        at->stage = stage;
        at->attempt = attempt;
        at->profile = -1;
        vec_push(&a->attempts, at);
        return at;
}

static void attempt_clear(struct stage_attempt *at)
{
        vec_deinit(&at->hosts);
        vec_deinit(&at->started);
        vec_deinit(&at->speculative);
        at->n_started = at->n_speculative = at->n_tasks = at->local_tasks = 0;
}

static void attempt_free(struct stage_attempt *at)
{
        attempt_clear(at);
        free(at);
}

static void executor_allocation_recount(struct executor_allocation *a, struct stage_attempt *at)
{
        struct profile *p = executor_allocation_profile_find(a, at->profile);
        struct sched_demand now = {.pending = MAX(0, at->n_tasks - at->n_started),
                                   .speculative = at->n_speculative,
                                   .running = at->running,
                                   .unschedulable = at->unschedulable};

        a->dirty = true;
        if (!p)
                return;
        p->demand.pending += now.pending - at->counted.pending;
        p->demand.speculative += now.speculative - at->counted.speculative;
        p->demand.running += now.running - at->counted.running;
        p->demand.unschedulable += now.unschedulable - at->counted.unschedulable;
        at->counted = now;
}

static void drop_if_over(struct executor_allocation *a, struct stage_attempt *at)
{
        if (at->submitted || at->running > 0)
                return;
        for (size_t i = 0; i < a->attempts.len; i++)
                if (a->attempts.data[i] == at) {
                        a->attempts.data[i] = a->attempts.data[--a->attempts.len];
                        break;
                }
        attempt_free(at);
}

/* -------------------------------------------------------------------------------------------- the add timer */

static bool tasks_wait(const struct executor_allocation *a)
{
        for (size_t i = 0; i < a->profiles.len; i++)
                if (a->profiles.data[i].demand.pending > 0 || a->profiles.data[i].demand.speculative > 0)
                        return true;
        return false;
}

static void start_timer(struct executor_allocation *a, int64_t now)
{
        if (a->add_time == INT64_MAX && __builtin_add_overflow(now, a->config.backlog_timeout, &a->add_time))
                a->add_time = INT64_MAX;
}

static void stop_timer(struct executor_allocation *a)
{
        a->add_time = INT64_MAX;
        for (size_t i = 0; i < a->profiles.len; i++)
                a->profiles.data[i].step = 1;
}

/* ------------------------------------------------------------------------------------------------- requests */

/* Recomputes the locality hints of all submitted attempts of a profile. Stages change rarely. */
static void update_hints_of(struct executor_allocation *a, struct profile *p)
{
        _cleanup_free_ int *tasks = new_array(int, a->hosts.names.len + 1);

        p->hosts.len = 0;
        p->local_tasks = 0;
        for (size_t i = 0; i < a->attempts.len; i++) {
                const struct stage_attempt *at = a->attempts.data[i];

                if (!at->submitted || at->profile != p->id)
                        continue;
                p->local_tasks += at->local_tasks;
                for (size_t k = 0; k < at->hosts.len; k++)
                        tasks[at->hosts.data[k].host] += at->hosts.data[k].tasks;
        }
        for (size_t i = 0; i < a->hosts.names.len; i++)
                if (tasks[i] > 0)
                        vec_push(&p->hosts, (struct host_demand){.host = a->hosts.names.data[i], .tasks = tasks[i]});
}

static void update_hints(struct executor_allocation *a)
{
        for (size_t i = 0; i < a->profiles.len; i++)
                update_hints_of(a, &a->profiles.data[i]);
}

static struct executor_request executor_allocation_request_of(const struct profile *p)
{
        return (struct executor_request){.profile = p->id,
                                         .target = p->target,
                                         .local_tasks = p->local_tasks,
                                         .hosts = p->hosts.data,
                                         .n_hosts = (int)p->hosts.len};
}

static struct executor_request request_copy(const struct profile *p)
{
        struct executor_request request = executor_allocation_request_of(p);
        struct host_demand *hosts = new_array(struct host_demand, p->hosts.len + 1);

        for (size_t i = 0; i < p->hosts.len; i++)
                hosts[i] = p->hosts.data[i]; /* the names stay as long as the allocation */
        request.hosts = hosts;
        return request;
}

static void request_push(struct executor_allocation *a)
{
        struct executor_request *profiles = new_array(struct executor_request, a->profiles.len);

        for (size_t i = 0; i < a->profiles.len; i++)
                profiles[i] = request_copy(&a->profiles.data[i]);
        a->asked = true;
        queue_push(&a->actions, (struct allocation_action){ALLOCATION_REQUEST, .request = {.profiles = profiles,
                                                                                           .n = (int)a->profiles.len}});
}

/* Requests the present targets. */
static void executor_allocation_request_total(struct executor_allocation *a)
{
        if (a->asked) {
                a->again = true;
                return;
        }
        for (size_t i = 0; i < a->profiles.len; i++)
                a->profiles.data[i].before = a->profiles.data[i].target;
        a->adjusts = false;
        request_push(a);
}

static int executor_allocation_needed(const struct executor_allocation *a, const struct profile *p)
{
        double tasks = (double)p->demand.pending + p->demand.speculative + p->demand.running;
        double need = ceil(tasks * a->config.ratio / p->tasks_per_executor);

        /* the second attempt of a task must run on another executor than the first */
        if (p->tasks_per_executor > 1 && need == 1 && p->demand.speculative > 0)
                need = 2;
        /* additional executors, because the tasks may not run on existing ones */
        if (p->demand.unschedulable > 0)
                need = MAX(need, executor_monitor_count(a->monitor, p->id).all +
                                         ceil(p->demand.unschedulable * a->config.ratio / p->tasks_per_executor));
        return need > INT_MAX ? INT_MAX : (int)need;
}

static void raise_target(struct executor_allocation *a, struct profile *p, int need)
{
        int64_t target = MAX(p->target, executor_monitor_count(a->monitor, p->id).all);

        if (p->target >= a->config.max) {
                log_debug(LOG, "Not adding executors because our current target total is already %d (limit %d)",
                          p->target, a->config.max);
                p->step = 1;
                return;
        }
        target = MIN(target + p->step, (int64_t)need);
        p->target = (int)MAX(MIN(target, (int64_t)a->config.max), (int64_t)a->config.min);
        if (p->target == p->before)
                p->step = 1;
}

/* The cluster manager accepted the new targets. */
static void targets_taken(struct executor_allocation *a, int64_t now)
{
        for (size_t i = 0; i < a->profiles.len; i++) {
                struct profile *p = &a->profiles.data[i];
                int64_t delta = (int64_t)p->target - p->before;

                if (delta > 0) {
                        log_info(LOG,
                                 "Requesting %lld new executor%s because tasks are backlogged (new desired total will "
                                 "be %d for resource profile id: %d)",
                                 (long long)delta, delta > 1 ? "s" : "", p->target, p->id);
                        p->step = delta == p->step ? (int)MIN(2 * delta, (int64_t)INT_MAX) : 1;
                        if (__builtin_add_overflow(now, a->config.sustained_timeout, &a->add_time))
                                a->add_time = INT64_MAX;
                } else if (delta < 0) {
                        log_debug(LOG,
                                  "Lowering target number of executors to %d (previously %d for resource profile id: "
                                  "%d) because not all requested executors are actually needed",
                                  p->target, p->before, p->id);
                }
        }
}

void executor_allocation_adjust(struct executor_allocation *a, int64_t now)
{
        bool grow = a->add_time != INT64_MAX && now >= a->add_time, changed = !a->told;

        if (a->asked)
                return;
        for (size_t i = 0; i < a->profiles.len; i++) {
                struct profile *p = &a->profiles.data[i];
                int need = executor_allocation_needed(a, p);

                p->before = p->target;
                if (a->initializing)
                        continue;
                if (need < p->target) {
                        p->target = MAX(need, a->config.min);
                        p->step = 1;
                } else if (grow) {
                        raise_target(a, p, need);
                }
                changed = changed || p->target != p->before;
        }
        if (!changed)
                return;
        a->adjusts = true;
        request_push(a);
}

/* ------------------------------------------------------------------------------------------------- removals */

/* The number of executors of a profile that remain, while candidates are picked. */
struct remaining {
        int profile, executors;
};

static struct remaining *remaining_of(struct remaining *list, int *n, const struct executor_monitor *m, int profile)
{
        struct executor_count count;

        for (int i = 0; i < *n; i++)
                if (list[i].profile == profile)
                        return &list[i];
        count = executor_monitor_count(m, profile);
        list[*n] = (struct remaining){profile, count.all - count.killed - count.decommissioned};
        return &list[(*n)++];
}

/* Returns whether one more executor of the profile may be removed. */
static bool executor_allocation_spare(const struct executor_allocation *a, const struct idle_executor *e, int executors)
{
        int target = executor_allocation_target(a, e->profile);
        const char *limit = executors - 1 < a->config.min ? "minimum number of executor limit"
                            : executors - 1 < target      ? "number of executor target"
                                                          : NULL;
        char number[12];

        if (limit)
                log_debug(LOG, "Not removing idle executor %s because there are only %d executor(s) left (%s %d)",
                          executor_monitor_id(a->monitor, e->executor, number), executors, limit,
                          executors - 1 < a->config.min ? a->config.min : target);
        return !limit;
}

static void list_executors(const struct executor_allocation *a, struct buf *out, const int32_t *executors, int n)
{
        char number[12];

        for (int i = 0; i < n; i++)
                buf_printf(out, "%s%s", i > 0 ? "," : "", executor_monitor_id(a->monitor, executors[i], number));
}

static void ask_to_remove(struct executor_allocation *a, const int32_t *executors, int n)
{
        int32_t *copy = new_array(int32_t, (size_t)n);

        memcpy(copy, executors, (size_t)n * sizeof(*copy));
        a->leaving.len = 0;
        for (int i = 0; i < n; i++)
                vec_push(&a->leaving, executors[i]);
        queue_push(&a->actions, (struct allocation_action){
                                        ALLOCATION_REMOVE,
                                        .remove = {.executors = copy, .n = n, .decommission = a->config.decommission}});
        executor_allocation_request_total(a); /* so that removed executors have not lowered a target */
}

void executor_allocation_removed(struct executor_allocation *a, const int32_t *executors, int n)
{
        _cleanup_(buf_deinit) struct buf names = BUF_INIT;

        a->dirty = a->dirty || (size_t)n < a->leaving.len;
        if (n == 0) {
                list_executors(a, &names, a->leaving.data, (int)a->leaving.len);
                log_warn(LOG,
                         "Unable to reach the cluster manager to kill executor/s %s or no executor eligible to kill!",
                         buf_text(&names));
                return;
        }
        if (a->config.decommission)
                executor_monitor_decommissioned(a->monitor, executors, n);
        else
                executor_monitor_killed(a->monitor, executors, n);
        list_executors(a, &names, executors, n);
        log_info(LOG, "Executors %s removed due to idle timeout.", buf_text(&names));
}

void executor_allocation_remove(struct executor_allocation *a, const struct idle_executor *executors, int n)
{
        _cleanup_free_ struct remaining *remaining = new_array(struct remaining, (size_t)n + 1);
        _cleanup_free_ int32_t *picked = new_array(int32_t, (size_t)n + 1);
        int n_picked = 0, n_profiles = 0;
        char number[12];

        for (int i = 0; i < n; i++) {
                struct remaining *left;

                if (executors[i].profile == EXECUTOR_PROFILE_UNKNOWN) {
                        log_warn(LOG, "Not removing executor %s because the ResourceProfile was UNKNOWN!",
                                 executor_monitor_id(a->monitor, executors[i].executor, number));
                        continue;
                }
                left = remaining_of(remaining, &n_profiles, a->monitor, executors[i].profile);
                if (!executor_allocation_spare(a, &executors[i], left->executors))
                        continue;
                picked[n_picked++] = executors[i].executor;
                left->executors--;
        }
        if (n_picked > 0)
                ask_to_remove(a, picked, n_picked);
}

/* The second half of a tick: the cluster manager knows the targets. */
static void remove_idle(struct executor_allocation *a)
{
        if (a->asked || a->idle.len == 0)
                return;
        executor_allocation_remove(a, a->idle.data, (int)a->idle.len);
        a->idle.len = 0;
}

void executor_allocation_requested(struct executor_allocation *a, bool reached, int64_t now)
{
        a->asked = false;
        a->told = reached;
        if (reached)
                targets_taken(a, now);
        else if (a->adjusts)
                log_warn(LOG, "Unable to reach the cluster manager to request more executors!");
        for (size_t i = 0; !reached && i < a->profiles.len; i++)
                a->profiles.data[i].target = a->profiles.data[i].before;
        if (a->again) {
                a->again = false;
                executor_allocation_request_total(a);
        }
        remove_idle(a);
}

void executor_allocation_tick(struct executor_allocation *a, int64_t now)
{
        const struct idle_executor *idle;
        int n;

        if (a->asked)
                return;
        a->dirty = false;
        a->last_tick = now;
        a->last_executors = executor_monitor_total(a->monitor).all;
        idle = executor_monitor_timed_out(a->monitor, now, &n);
        if (n > 0)
                a->initializing = false;
        a->idle.len = 0;
        for (int i = 0; i < n; i++)
                vec_push(&a->idle, idle[i]);
        executor_allocation_adjust(a, now);
        remove_idle(a);
}

int64_t executor_allocation_deadline(const struct executor_allocation *a)
{
        int64_t deadline = executor_monitor_deadline(a->monitor), soon = a->last_tick + EXECUTOR_ALLOCATION_INTERVAL;

        if (a->asked)
                return INT64_MAX;
        if (a->last_tick == INT64_MIN)
                return INT64_MIN;
        /* an expired timer that could not add executors waits for an event */
        if (!a->initializing && a->add_time > a->last_tick)
                deadline = MIN(deadline, a->add_time);
        if (a->dirty || !a->told || executor_monitor_total(a->monitor).all != a->last_executors)
                deadline = MIN(deadline, soon);
        return deadline == INT64_MAX ? deadline : MAX(deadline, soon);
}

/* --------------------------------------------------------------------------------------------------- events */

static void allocation_action_deinit(struct allocation_action *action)
{
        if (action->kind == ALLOCATION_REQUEST) {
                for (int i = 0; i < action->request.n; i++)
                        free((void *)action->request.profiles[i].hosts);
                free(action->request.profiles);
        } else {
                free(action->remove.executors);
        }
        *action = (struct allocation_action){0};
}

const struct allocation_action *executor_allocation_next_action(struct executor_allocation *a)
{
        allocation_action_deinit(&a->current);
        return queue_pop(&a->actions, &a->current) ? &a->current : NULL;
}

struct executor_allocation *executor_allocation_new(const struct executor_allocation_config *config)
{
        struct executor_allocation *a = new0(struct executor_allocation);

        a->config = *config;
        a->monitor = executor_monitor_new(&config->monitor);
        a->add_time = INT64_MAX;
        a->initializing = a->told = true;
        a->last_tick = INT64_MIN;
        profile_add(a, 0, 0);
        return a;
}

void executor_allocation_free(struct executor_allocation *a)
{
        if (!a)
                return;
        while (executor_allocation_next_action(a))
                ;
        queue_deinit(&a->actions);
        vec_deinit(&a->idle);
        vec_deinit(&a->leaving);
        for (size_t i = 0; i < a->attempts.len; i++)
                attempt_free(a->attempts.data[i]);
        for (size_t i = 0; i < a->profiles.len; i++)
                vec_deinit(&a->profiles.data[i].hosts);
        vec_deinit(&a->attempts);
        vec_deinit(&a->profiles);
        name_index_deinit(&a->hosts);
        executor_monitor_free(a->monitor);
        free(a);
}

void executor_allocation_start(struct executor_allocation *a)
{
        executor_allocation_request_total(a);
}

void executor_allocation_reset(struct executor_allocation *a)
{
        a->add_time = INT64_MIN;
        for (size_t i = 0; i < a->profiles.len; i++) {
                a->profiles.data[i].target = a->profiles.data[i].before = a->config.initial;
                a->profiles.data[i].step = 1;
        }
        executor_monitor_reset(a->monitor);
        a->told = false;
        a->again = a->asked;
        a->idle.len = 0;
}

static void take_hints(struct executor_allocation *a, struct stage_attempt *at, const struct stage_demand *stage)
{
        VEC(int) tasks = {0}; /* by host */

        for (int i = 0; stage->places && i < stage->n_tasks; i++) {
                at->local_tasks += stage->places[i].n > 0;
                for (int k = 0; k < stage->places[i].n; k++) {
                        bool added;
                        int host = name_index_add(&a->hosts, stage->places[i].hosts[k], &added);

                        while (tasks.len <= (size_t)host)
                                vec_push(&tasks, 0);
                        tasks.data[host]++;
                }
        }
        for (size_t i = 0; i < tasks.len; i++)
                if (tasks.data[i] > 0)
                        vec_push(&at->hosts, (struct host_hint){.host = (int)i, .tasks = tasks.data[i]});
        vec_deinit(&tasks);
}

void executor_allocation_stage_submitted(struct executor_allocation *a, const struct stage_demand *stage, int64_t now)
{
        struct stage_attempt *at = attempt_ensure(a, stage->stage, stage->attempt);
        bool added = !executor_allocation_profile_find(a, stage->profile);

        a->initializing = false;
        a->n_submitted += !at->submitted;
        attempt_clear(at);
        at->submitted = true;
        at->n_tasks = stage->n_tasks;
        at->profile = stage->profile;
        if (added)
                profile_add(a, stage->profile, stage->tasks_per_executor);
        take_hints(a, at, stage);
        executor_allocation_recount(a, at);
        update_hints(a);
        start_timer(a, now);
        if (added && a->config.initial > 0)
                executor_allocation_request_total(a);
}

void executor_allocation_stage_completed(struct executor_allocation *a, int stage, int attempt)
{
        struct stage_attempt *at = attempt_find(a, stage, attempt);

        if (!at || !at->submitted)
                return;
        at->submitted = at->unschedulable = false;
        a->n_submitted--;
        attempt_clear(at);
        executor_allocation_recount(a, at);
        drop_if_over(a, at);
        update_hints(a);
        if (a->n_submitted == 0)
                stop_timer(a);
}

void executor_allocation_unschedulable(struct executor_allocation *a, int stage, int attempt, bool yes, int64_t now)
{
        struct stage_attempt *at = attempt_find(a, stage, attempt);

        if (!at || !at->submitted)
                return;
        at->unschedulable = yes;
        executor_allocation_recount(a, at);
        if (yes)
                start_timer(a, now);
}

void executor_allocation_speculative(struct executor_allocation *a, int stage, int attempt, int32_t index, int64_t now)
{
        struct stage_attempt *at = attempt_find(a, stage, attempt);

        if (!at || !at->submitted)
                return;
        at->n_speculative += bit_add(&at->speculative, index);
        executor_allocation_recount(a, at);
        start_timer(a, now);
}

void executor_allocation_task_started(struct executor_allocation *a, const struct task_event *task, int64_t now)
{
        struct stage_attempt *at = attempt_ensure(a, task->stage, task->attempt);

        executor_monitor_task_started(a->monitor, task->executor, now);
        at->running++;
        if (at->submitted && task->speculative)
                at->n_speculative -= bit_remove(&at->speculative, task->index);
        else if (at->submitted)
                at->n_started += bit_add(&at->started, task->index);
        executor_allocation_recount(a, at);
        if (!tasks_wait(a))
                stop_timer(a);
}

void executor_allocation_task_ended(struct executor_allocation *a, const struct task_event *task, enum task_state state,
                                    int64_t now)
{
        struct stage_attempt *at = attempt_find(a, task->stage, task->attempt);

        executor_monitor_task_ended(a->monitor, task->executor, task->stage, state == TASK_SUCCEEDED, now);
        a->dirty = true;
        if (at)
                at->running = MAX(0, at->running - 1);
        if (state == TASK_SUCCEEDED) {
                /* the second attempt is no longer needed */
                if (at && at->submitted)
                        at->n_speculative -= bit_remove(&at->speculative, task->index);
        } else if (state != TASK_KILLED) {
                /* the task is pending again */
                if (!tasks_wait(a))
                        start_timer(a, now);
                if (at && at->submitted && !task->speculative)
                        at->n_started -= bit_remove(&at->started, task->index);
        }
        if (!at)
                return;
        executor_allocation_recount(a, at);
        drop_if_over(a, at);
}

/* ----------------------------------------------------------------------------------------------------- looks */

struct executor_monitor *executor_allocation_monitor(struct executor_allocation *a)
{
        return a->monitor;
}

int executor_allocation_target(const struct executor_allocation *a, int profile)
{
        const struct profile *p = executor_allocation_profile_find(a, profile);

        return p ? p->target : 0;
}

int executor_allocation_step(const struct executor_allocation *a, int profile)
{
        const struct profile *p = executor_allocation_profile_find(a, profile);

        return p ? p->step : 0;
}

int executor_allocation_need(const struct executor_allocation *a, int profile)
{
        const struct profile *p = executor_allocation_profile_find(a, profile);

        return p ? executor_allocation_needed(a, p) : 0;
}

struct sched_demand executor_allocation_demand(const struct executor_allocation *a, int profile)
{
        const struct profile *p = executor_allocation_profile_find(a, profile);

        return p ? p->demand : (struct sched_demand){0};
}

int64_t executor_allocation_add_time(const struct executor_allocation *a)
{
        return a->add_time;
}

struct executor_allocation_sums executor_allocation_sums(const struct executor_allocation *a)
{
        struct executor_allocation_sums sums = {0};

        for (size_t i = 0; i < a->profiles.len; i++) {
                sums.to_add += a->profiles.data[i].step;
                sums.target += a->profiles.data[i].target;
                sums.need += executor_allocation_needed(a, &a->profiles.data[i]);
        }
        return sums;
}

bool executor_allocation_request(const struct executor_allocation *a, int profile, struct executor_request *request)
{
        const struct profile *p = executor_allocation_profile_find(a, profile);

        if (p)
                *request = executor_allocation_request_of(p);
        return p != NULL;
}
