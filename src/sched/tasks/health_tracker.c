/*
 * Spark's HealthTracker and TaskSetExcludelist, and TaskSchedulerImpl's handling of completely excluded task sets.
 *
 * Failures are few, so linear searches are fine. Invariant: an executor's (host's) excluded flag is set if and only if
 * it is listed in health_tracker.excluded.
 */
#include "sched/tasks/health_tracker.h"

#include "base/buf.h"
#include "base/log.h"
#include "sched/sched_recorder.h"
#include "sched/tasks/task_scheduler.h"

#define LOG "HealthTracker"

/* ------------------------------------------------------------------------------------------ one task set */

void set_exclusion_free(struct set_exclusion *x)
{
        if (!x)
                return;
        vec_deinit(&x->failures);
        vec_deinit(&x->executors);
        vec_deinit(&x->hosts);
        free(x);
}

static bool health_tracker_contains(const int32_t *list, size_t n, int32_t value)
{
        for (size_t i = 0; i < n; i++)
                if (list[i] == value)
                        return true;
        return false;
}

bool set_exclusion_allows(const struct set_exclusion *x, const struct executors *all, int executor)
{
        return !x || (!health_tracker_contains(x->executors.data, x->executors.len, executor) &&
                      !health_tracker_contains(x->hosts.data, x->hosts.len, all->at.data[executor].host));
}

bool set_exclusion_allows_task(const struct set_exclusion *x, const struct executors *all,
                               const struct exclusion_config *config, int32_t index, int executor)
{
        int on_executor = 0, on_host = 0;

        for (size_t i = 0; x && i < x->failures.len; i++) {
                const struct set_failure *f = &x->failures.data[i];

                if (f->index != index)
                        continue;
                if (f->executor == executor)
                        on_executor += f->count;
                if (all->at.data[f->executor].host == all->at.data[executor].host)
                        on_host += f->count;
        }
        return on_executor < config->max_task_attempts_per_executor && on_host < config->max_task_attempts_per_node;
}

static void health_tracker_announce(struct task_scheduler *ts, struct exclusion what)
{
        if (what.host)
                log_info(LOG, "%s host %s%s%s", what.lifted ? "Including" : "Excluding", what.host,
                         what.set ? " for stage " : "", what.set ? what.set->id : "");
        else
                log_info(LOG, "%s executor %s%s%s", what.lifted ? "Including" : "Excluding",
                         executors_at(&ts->executors, what.executor)->id, what.set ? " for stage " : "",
                         what.set ? what.set->id : "");
        if (ts->ops->excluded)
                ts->ops->excluded(ts->ops_owner, &what);
}

static void health_tracker_note_failure(struct set_exclusion *x, int32_t index, int executor, int64_t now)
{
        for (size_t i = 0; i < x->failures.len; i++) {
                struct set_failure *f = &x->failures.data[i];

                if (f->index != index || f->executor != executor)
                        continue;
                f->count++;
                f->time = now;
                return;
        }
        vec_push(&x->failures, (struct set_failure){.executor = executor, .index = index, .count = 1, .time = now});
}

void exclusion_failed(struct task_scheduler *ts, struct task_set *set, int32_t index, int executor)
{
        const struct exclusion_config *config = &ts->config.exclusion;
        int host = executors_at(&ts->executors, executor)->host, tasks = 0, excluded = 0;

        if (!config->stage && !config->application)
                return;
        if (!set->exclusion)
                set->exclusion = new0(struct set_exclusion);
        struct set_exclusion *x = set->exclusion;

        ts->exclusion_changed = true;
        health_tracker_note_failure(x, index, executor, ts->now);
        if (!config->stage)
                return;
        for (size_t i = 0; i < x->failures.len; i++)
                tasks += x->failures.data[i].executor == executor;
        if (tasks < config->stage_max_failed_tasks_per_executor ||
            health_tracker_contains(x->executors.data, x->executors.len, executor))
                return;
        vec_push(&x->executors, executor);
        health_tracker_announce(ts, (struct exclusion){.set = set, .executor = executor, .failures = tasks});
        for (size_t i = 0; i < x->executors.len; i++)
                excluded += executors_at(&ts->executors, x->executors.data[i])->host == host;
        if (excluded < config->stage_max_failed_executors_per_node ||
            health_tracker_contains(x->hosts.data, x->hosts.len, host))
                return;
        vec_push(&x->hosts, host);
        health_tracker_announce(ts, (struct exclusion){.set = set,
                                                       .executor = -1,
                                                       .host = ts->executors.hosts.data[host].name,
                                                       .failures = excluded});
}

/* ------------------------------------------------------------------------------------------ the application */

void health_tracker_init(struct health_tracker *h)
{
        *h = (struct health_tracker){.next_expiry = INT64_MAX};
}

void health_tracker_deinit(struct health_tracker *h)
{
        vec_deinit(&h->failures);
        vec_deinit(&h->excluded);
}

static void kill_excluded(struct task_scheduler *ts, int executor, const char *why)
{
        const struct exclusion_config *config = &ts->config.exclusion;

        if (!executors_alive(&ts->executors, executor))
                return;
        struct executor_kill kill = {executor, config->decommission, mem_strdup(why)};

        sched_note(ts, line, "= kill_executor %d %d %s", kill.executor, kill.decommission, kill.reason);
        queue_push(&ts->kills, kill);
}

static void exclude_host(struct task_scheduler *ts, int host, int failures, int64_t until)
{
        struct health_tracker *h = &ts->health;
        struct host *entry = &ts->executors.hosts.data[host];

        if (entry->excluded)
                return;
        vec_push(&h->excluded, (struct excluded_place){.executor = -1, .host = host, .until = until});
        h->next_expiry = MIN(h->next_expiry, until);
        executors_set_host_excluded(&ts->executors, host, true);
        health_tracker_announce(ts, (struct exclusion){.executor = -1, .host = entry->name, .failures = failures});
        for (int e = entry->executors; ts->config.exclusion.kill && e >= 0;
             e = executors_at(&ts->executors, e)->next_on)
                kill_excluded(ts, e, "its host is excluded");
}

static void exclude_executor(struct task_scheduler *ts, int executor, int failures)
{
        struct health_tracker *h = &ts->health;
        int64_t until = ts->now + ts->config.exclusion.timeout;
        int host = executors_at(&ts->executors, executor)->host, on_host = 0;

        if (executors_at(&ts->executors, executor)->excluded)
                return;
        vec_push(&h->excluded, (struct excluded_place){.executor = executor, .host = -1, .until = until});
        h->next_expiry = MIN(h->next_expiry, until);
        executors_set_excluded(&ts->executors, executor, true);
        ts->exclusion_changed = true;
        health_tracker_announce(ts, (struct exclusion){.executor = executor, .failures = failures});
        if (ts->config.exclusion.kill)
                kill_excluded(ts, executor, "it is excluded");
        for (size_t i = 0; i < h->excluded.len; i++)
                on_host += h->excluded.data[i].executor >= 0 &&
                           executors_at(&ts->executors, h->excluded.data[i].executor)->host == host;
        if (on_host >= ts->config.exclusion.max_failed_executors_per_node)
                exclude_host(ts, host, on_host, until);
}

/* Removes failures older than the timeout. */
static void drop_old_failures(struct health_tracker *h, int64_t before)
{
        size_t kept = 0;

        for (size_t i = 0; i < h->failures.len; i++)
                if (h->failures.data[i].time >= before)
                        h->failures.data[kept++] = h->failures.data[i];
        h->failures.len = kept;
}

static void forget_executor(struct health_tracker *h, int executor)
{
        size_t kept = 0;

        for (size_t i = 0; i < h->failures.len; i++)
                if (h->failures.data[i].executor != executor)
                        h->failures.data[kept++] = h->failures.data[i];
        h->failures.len = kept;
}

void health_tracker_set_succeeded(struct task_scheduler *ts, const struct task_set *set)
{
        struct health_tracker *h = &ts->health;
        const struct set_exclusion *x = set->exclusion;

        if (!x || !ts->config.exclusion.application)
                return;
        drop_old_failures(h, ts->now - ts->config.exclusion.timeout);
        for (size_t i = 0; i < x->failures.len; i++)
                vec_push(&h->failures, (struct app_failure){.executor = x->failures.data[i].executor,
                                                            .stage = set->stage_id,
                                                            .attempt = set->attempt,
                                                            .index = x->failures.data[i].index,
                                                            .time = x->failures.data[i].time});
        for (size_t i = 0; i < x->failures.len; i++) {
                int executor = x->failures.data[i].executor, total = 0;

                for (size_t k = 0; k < h->failures.len; k++)
                        total += h->failures.data[k].executor == executor;
                if (total < ts->config.exclusion.max_failed_tasks_per_executor)
                        continue;
                exclude_executor(ts, executor, total);
                forget_executor(h, executor);
        }
}

void health_tracker_fetch_failed(struct task_scheduler *ts, int executor)
{
        if (!ts->config.exclusion.application || !ts->config.exclusion.fetch_failure)
                return;
        if (ts->config.outputs_outlive_executors)
                exclude_host(ts, executors_at(&ts->executors, executor)->host, 1,
                             ts->now + ts->config.exclusion.timeout);
        else
                exclude_executor(ts, executor, 1);
}

void health_tracker_expire(struct task_scheduler *ts)
{
        struct health_tracker *h = &ts->health;
        size_t kept = 0;

        if (h->next_expiry > ts->now)
                return;
        h->next_expiry = INT64_MAX;
        for (size_t i = 0; i < h->excluded.len; i++) {
                struct excluded_place place = h->excluded.data[i];

                if (place.until > ts->now) {
                        h->next_expiry = MIN(h->next_expiry, place.until);
                        h->excluded.data[kept++] = place;
                        continue;
                }
                if (place.executor >= 0)
                        executors_set_excluded(&ts->executors, place.executor, false);
                else
                        executors_set_host_excluded(&ts->executors, place.host, false);
                health_tracker_announce(
                        ts,
                        (struct exclusion){.executor = place.executor,
                                           .host = place.host >= 0 ? ts->executors.hosts.data[place.host].name : NULL,
                                           .lifted = true});
        }
        h->excluded.len = kept;
}

/* ---------------------------------------------------------------------------------- sets that can nowhere run */

/*
 * Returns a waiting task that no live executor may run, or -1. A set without executors does not become unschedulable,
 * but an unschedulable set stays so. Otherwise new executors on an excluded host would postpone its end again and
 * again.
 */
static int32_t health_tracker_nowhere(const struct task_scheduler *ts, const struct task_set *set)
{
        const struct executors *x = &ts->executors;
        int32_t index = set->n_waiting > 0 ? set->n : 0;
        bool any = false; /* executor of its profile */

        while (--index >= 0 && !task_set_waits(set, index))
                ;
        if (index < 0)
                return -1;
        for (size_t e = 0; e < x->at.len; e++) {
                if (!x->at.data[e].alive || !sched_profile_runs_on(set->profile, &x->at.data[e]))
                        continue;
                any = true;
                if (!x->at.data[e].excluded && !x->hosts.data[x->at.data[e].host].excluded &&
                    set_exclusion_allows(set->exclusion, x, (int)e) &&
                    set_exclusion_allows_task(set->exclusion, x, &ts->config.exclusion, index, (int)e))
                        return -1;
        }
        return any || set->abort_at < INT64_MAX ? index : -1;
}

static void abort_excluded(struct task_scheduler *ts, struct task_set *set, int32_t index)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;

        buf_printf(&text,
                   "\nAborting TaskSet %s because task %d (partition %d)\ncannot run anywhere due to node and executor "
                   "excludeOnFailure.\nMost recent failure:\n%s\n\nExcludeOnFailure behavior can be configured via "
                   "spark.excludeOnFailure.*.\n",
                   set->id, index, task_set_partition(set, index), set->last_failure ? set->last_failure : "");
        task_scheduler_give_up(ts, set, buf_text(&text));
}

static int idle_executor(const struct executors *x, const struct sched_profile *profile)
{
        for (size_t e = 0; e < x->at.len; e++)
                if (x->at.data[e].alive && !x->at.data[e].runs && sched_profile_runs_on(profile, &x->at.data[e]))
                        return (int)e;
        return -1;
}

static void set_unschedulable(struct task_scheduler *ts, struct task_set *set, int64_t until)
{
        bool was = set->abort_at < INT64_MAX;

        set->abort_at = until;
        if (ts->ops->unschedulable && was != (until < INT64_MAX))
                ts->ops->unschedulable(ts->ops_owner, set, until < INT64_MAX);
}

/* Returns true if @set was aborted, which changes the list of sets. */
static bool health_tracker_check_set(struct task_scheduler *ts, struct task_set *set)
{
        int32_t index =
                set->zombie || (!set->exclusion && ts->health.excluded.len == 0) ? -1 : health_tracker_nowhere(ts, set);

        if (index < 0) {
                set_unschedulable(ts, set, INT64_MAX);
                return false;
        }
        if (set->abort_at < INT64_MAX) {
                if (ts->now < set->abort_at)
                        return false;
        } else {
                int idle = idle_executor(&ts->executors, set->profile);

                if (idle >= 0 || ts->config.dynamic_allocation) {
                        if (idle >= 0)
                                kill_excluded(ts, idle, "no task of a task set may run anywhere");
                        set_unschedulable(ts, set, ts->now + ts->config.exclusion.unschedulable_timeout);
                        return false;
                }
        }
        abort_excluded(ts, set, index);
        return true;
}

void exclusion_check(struct task_scheduler *ts, bool launched)
{
        int64_t deadline = INT64_MAX;

        ts->exclusion_changed = false;
        if (launched)
                for (struct task_set *set = ts->first; set; set = set->next)
                        set_unschedulable(ts, set, INT64_MAX);
again:
        for (struct task_set *set = ts->first; set; set = set->next)
                if (set->launched_round != ts->round && health_tracker_check_set(ts, set))
                        goto again;
        /* a set that launched a task now, runs, or waits for requested executors, is checked again in the next
         * round */
        for (struct task_set *set = ts->first; set; set = set->next) {
                deadline = MIN(deadline, set->abort_at);
                ts->exclusion_changed |= !set->zombie && (set->exclusion || ts->health.excluded.len > 0);
        }
        ts->abort_deadline = deadline;
}
