/*
 * Assigns tasks to free cores: Spark's resourceOffers.
 *
 * A round offers the executors of the queue, from the front, to the task set that comes first in its pools, one batch
 * at a time, so that tasks spread over executors. A set whose tasks may run anywhere takes the first executor. Any
 * other set searches the queue once for each locality level that delay scheduling allows, nearest first, and is parked
 * if it finds no executor. In the next round it checks only executors that have joined the queue since, unless its own
 * state has changed. So the cost of a round depends on the newly freed cores, not on all free cores.
 *
 * The wait for better locality restarts when a set has launched a task and rejected no core in the round (Spark 3.1),
 * or with each launch (legacy).
 */
#include "sched/tasks/task_scheduler.h"

#include "base/log.h"

#include <inttypes.h>

#define LOG "TaskSetManager"

/* ---------------------------------------------------------------------------------------------------- launch */

/* @first_id: of the first task. @takes_core: else the batch has released its core. */
static struct launched_batch *run_new(struct task_scheduler *ts, struct task_set *set, int executor, int64_t first_id,
                                      int n, bool takes_core)
{
        struct launched_batch *run = ts->spare_runs;
        struct sched_executor *e = executors_at(&ts->executors, executor);
        struct resource_share *shares;
        int max_shares;

        if (run)
                ts->spare_runs = run->next_on;
        else
                run = mem_zero(sizeof(*run));
        shares = run->shares;
        max_shares = run->max_shares;
        if (max_shares < set->profile->n_needs) {
                max_shares = set->profile->n_needs;
                shares = mem_grow(shares, (size_t)max_shares * sizeof(*shares));
        }
        *run = (struct launched_batch){.set = set,
                                       .executor = executor,
                                       .n = n,
                                       .left = n,
                                       .released = !takes_core,
                                       .first_id = first_id,
                                       .launched = ts->now,
                                       .progress = ts->now,
                                       .shares = shares,
                                       .max_shares = max_shares,
                                       .next_on = e->runs,
                                       .next_in_set = set->runs};
        if (e->runs)
                e->runs->prev_on = run;
        e->runs = run;
        if (set->runs)
                set->runs->prev_in_set = run;
        set->runs = run;
        if (takes_core)
                sched_profile_take(set->profile, e, shares);
        schedulable_running(&set->node, set->pool, 1);
        return run;
}

void task_scheduler_release_run(struct task_scheduler *ts, struct launched_batch *run)
{
        if (run->released)
                return;
        run->released = true;
        sched_profile_give(run->set->profile, executors_at(&ts->executors, run->executor), run->shares);
        executors_queue(&ts->executors, run->executor);
}

void task_scheduler_end_run(struct task_scheduler *ts, struct launched_batch *run)
{
        struct sched_executor *e = executors_at(&ts->executors, run->executor);
        struct task_set *set = run->set;

        *(run->prev_on ? &run->prev_on->next_on : &e->runs) = run->next_on;
        if (run->next_on)
                run->next_on->prev_on = run->prev_on;
        *(run->prev_in_set ? &run->prev_in_set->next_in_set : &set->runs) = run->next_in_set;
        if (run->next_in_set)
                run->next_in_set->prev_in_set = run->prev_in_set;
        task_scheduler_release_run(ts, run);
        schedulable_running(&set->node, set->pool, -1);
        run->next_on = ts->spare_runs;
        ts->spare_runs = run;
}

static void log_launch(const struct task_scheduler *ts, const struct task_set *set, const struct task_launch *run,
                       int n, int executor)
{
        const char *id = ts->executors.at.data[executor].id, *host = executors_host(&ts->executors, executor);

        if (n == 1)
                log_about(LOG_INFO, set->stage_id, run->task_id, LOG,
                          "Starting task %d.%d in stage %s (TID %" PRId64 ") (%s, executor %s, partition %d, %s)",
                          run->index, run->attempt, set->id, run->task_id, host, id, run->partition,
                          locality_name(run->locality));
        else
                log_about(LOG_INFO, set->stage_id, -1, LOG,
                          "Starting %d tasks %d.0 to %d.0 in stage %s (TID %" PRId64 " to %" PRId64
                          ") (%s, executor %s, %s)",
                          n, run[0].index, run[n - 1].index, set->id, run[0].task_id, run[n - 1].task_id, host, id,
                          locality_name(run->locality));
}

/* Stores the resources of the batch for the launch message in ts->launch_resources. */
static const struct task_resource *describe_resources(struct task_scheduler *ts, const struct launched_batch *run)
{
        const struct sched_profile *p = run->set->profile;

        if (p->n_needs == 0)
                return NULL;
        if (ts->max_launch_resources < p->n_needs) {
                ts->max_launch_resources = p->n_needs;
                ts->launch_resources =
                        mem_grow(ts->launch_resources, (size_t)p->n_needs * sizeof(*ts->launch_resources));
        }
        for (int i = 0; i < p->n_needs; i++)
                ts->launch_resources[i] =
                        (struct task_resource){.name = ts->executors.resource_names.names.data[p->needs[i].resource],
                                               .n = run->shares[i].n,
                                               .addresses = run->shares[i].names,
                                               .amount = run->shares[i].amount};
        return ts->launch_resources;
}

/* @adopted: the attempts of the tasks in the task table, from @first_id on; NULL: they get their ids here. */
static void offers_launch_run(struct task_scheduler *ts, struct launched_batch *run, const int32_t *indexes,
                              struct task_attempt *adopted, enum task_locality locality, bool speculative)
{
        struct task_launch launches[SCHED_MAX_RUN];
        struct task_set *set = run->set;
        const struct task_resource *resources = describe_resources(ts, run);
        const int executor = run->executor, n = run->n;

        for (int i = 0; i < n; i++) {
                struct task_slot *slot = &set->slots[indexes[i]];
                int64_t id = run->first_id + i;
                struct task_attempt *a = adopted ? &adopted[i] : task_table_add(&ts->tasks, &id);

                *a = (struct task_attempt){.run = run, .index = indexes[i], .number = slot->attempts};
                launches[i] = (struct task_launch){.task_id = id,
                                                   .index = indexes[i],
                                                   .partition = task_set_partition(set, indexes[i]),
                                                   .output = task_set_output(set, indexes[i]),
                                                   .attempt = slot->attempts,
                                                   .locality = (uint8_t)locality,
                                                   .speculative = speculative,
                                                   .crash_suspect = slot->crash_suspect,
                                                   .resources = resources,
                                                   .n_resources = set->profile->n_needs};
                slot->attempts++;
                set->n_waiting -= slot->copies++ == 0;
        }
        set->n_running += n;
        set->launched_round = ts->round;
        set->nearest = MIN(set->nearest, locality);
        if (LOG_INFO <= log_threshold)
                log_launch(ts, set, launches, n, executor);
        ts->ops->launch(ts->ops_owner, executor, set, launches, n);
}

static void offers_launch(struct task_scheduler *ts, struct task_set *set, int executor, const int32_t *indexes, int n,
                          enum task_locality locality, bool speculative)
{
        executors_unqueue(&ts->executors, executor);
        struct launched_batch *run = run_new(ts, set, executor, ts->tasks.next_id, n, true);

        offers_launch_run(ts, run, indexes, NULL, locality, speculative);
        executors_queue(&ts->executors, executor);
}

/* The indexes of the tasks for @outputs. Returns false if one of them does not wait for its first attempt. */
static bool offers_find_waiting(const struct task_set *set, const int32_t *outputs, int n, int32_t *indexes)
{
        for (int i = 0; i < n; i++) {
                indexes[i] = task_set_index(set, outputs[i]);
                if (indexes[i] < 0 || !task_set_waits(set, indexes[i]) || set->slots[indexes[i]].attempts > 0)
                        return false;
                for (int k = 0; k < i; k++)
                        if (indexes[k] == indexes[i])
                                return false;
        }
        return true;
}

bool task_scheduler_adopt(struct task_scheduler *ts, struct task_set *set, const struct sched_adoption *adoption,
                          int64_t now)
{
        int32_t indexes[SCHED_MAX_RUN];
        const int executor = adoption->executor, n = adoption->n;

        ts->now = now;
        if (set->zombie || !set->pool || set->barrier || set->stage->indeterminate || n < 1 || n > SCHED_MAX_RUN ||
            set->profile->n_needs > 0 || !executors_alive(&ts->executors, executor))
                return false;
        struct sched_executor *e = executors_at(&ts->executors, executor);

        if (e->lent || !sched_profile_runs_on(set->profile, e) ||
            (adoption->takes_core && !sched_profile_fits(set->profile, e)) ||
            !offers_find_waiting(set, adoption->outputs, n, indexes))
                return false;
        struct task_attempt *attempts = task_table_adopt(&ts->tasks, adoption->first_id, n);

        if (!attempts)
                return false;
        executors_unqueue(&ts->executors, executor);
        offers_launch_run(ts, run_new(ts, set, executor, adoption->first_id, n, adoption->takes_core), indexes, attempts,
                          LOCALITY_PROCESS_LOCAL, false);
        executors_queue(&ts->executors, executor);
        return true;
}

/* ------------------------------------------------------------------------------- tasks for an executor */

static bool task_allowed(const struct task_scheduler *ts, const struct task_set *set, int32_t index, int executor)
{
        return !set->exclusion || !ts->config.exclusion.stage ||
               set_exclusion_allows_task(set->exclusion, &ts->executors, &ts->config.exclusion, index, executor);
}

/*
 * Takes a batch of up to @max tasks that may run on @executor from the end of @list. Drops tasks that are not pending
 * any more, and keeps those that may not run on @executor.
 */
static int take_listed(struct task_scheduler *ts, struct task_set *set, index_list *list, int executor, int max,
                       int32_t *indexes)
{
        int count = 0;

        for (size_t i = list->len; i-- > 0 && count < max;) {
                int32_t index = list->data[i];
                bool first = set->slots[index].attempts == 0;

                if (task_set_waits(set, index)) {
                        if (!task_allowed(ts, set, index, executor))
                                continue;
                        if (count > 0 && !first)
                                break; /* a retry runs alone */
                        indexes[count++] = index;
                        if (!first)
                                max = 1;
                }
                memmove(&list->data[i], &list->data[i + 1], (list->len - i - 1) * sizeof(*list->data));
                list->len--;
        }
        return count;
}

static int take_any(struct task_scheduler *ts, struct task_set *set, int executor, int max, int32_t *indexes)
{
        int n = take_listed(ts, set, (index_list *)&set->pending.retries, executor, max, indexes);

        return n > 0 ? n : task_set_take_first(set, max, indexes);
}

/* Returns a slow task whose second attempt may run on @executor at @level, or -1. */
static int32_t take_slow(struct task_scheduler *ts, struct task_set *set, int executor, enum task_locality level)
{
        struct speculation *s = set->speculation;
        size_t kept = 0;
        int32_t taken = -1;

        for (size_t i = 0; s && i < s->slow.len; i++) {
                struct slow_task slow = s->slow.data[i];
                const struct task_slot *slot = &set->slots[slow.index];

                if (slot->done || slot->copies != 1)
                        continue; /* ended, or failed and pending again */
                if (taken < 0 && slow.host != executors_at(&ts->executors, executor)->host &&
                    locality_of(set->locality, &ts->executors, slow.index, executor) <= level &&
                    task_allowed(ts, set, slow.index, executor))
                        taken = slow.index;
                else
                        s->slow.data[kept++] = slow;
        }
        if (s)
                s->slow.len = kept;
        return taken;
}

/* Launches one batch of @set on @executor: tasks listed at exactly @level, or slow ones up to it. */
static bool try_executor(struct task_scheduler *ts, struct task_set *set, int executor, enum task_locality level)
{
        int32_t indexes[SCHED_MAX_RUN];
        struct locality *l = set->locality;
        int max = task_set_run_limit(set, ts->config.run_target, set->profile->slots, ts->config.max_run);
        int n = 0;

        if (executors_at(&ts->executors, executor)->lent)
                max = 1;
        if (!sched_profile_fits(set->profile, executors_at(&ts->executors, executor)) ||
            (ts->config.exclusion.stage && !set_exclusion_allows(set->exclusion, &ts->executors, executor)))
                return false;
        if (level == LOCALITY_ANY) {
                n = take_any(ts, set, executor, max, indexes);
        } else {
                index_list *list = locality_list(l, &ts->executors, level, executor);

                n = list ? take_listed(ts, set, list, executor, max, indexes) : 0;
        }
        /* a task without preference counts as nearest */
        enum task_locality told = !l || level == LOCALITY_NO_PREF ? LOCALITY_PROCESS_LOCAL : level;

        if (n > 0) {
                offers_launch(ts, set, executor, indexes, n, told, false);
                return true;
        }
        indexes[0] = take_slow(ts, set, executor, level);
        if (indexes[0] < 0)
                return false;
        /* Its level may be nearer than this pass's. */
        told = locality_of(l, &ts->executors, indexes[0], executor);
        if (told == LOCALITY_NO_PREF)
                told = LOCALITY_PROCESS_LOCAL;
        log_info(LOG, "Launching speculative attempt of task %d in stage %s", indexes[0], set->id);
        offers_launch(ts, set, executor, indexes, 1, told, true);
        return true;
}

/* -------------------------------------------------------------------------------------- cores for a task set */

static void set_cursor(struct executors *x, struct task_set *set, int executor)
{
        if (set->cursor >= 0)
                executors_at(x, set->cursor)->cursors--;
        set->cursor = executor;
        if (executor >= 0)
                executors_at(x, executor)->cursors++;
}

/* Returns the first executor of the queue that @set has not checked in earlier rounds. */
static int first_unseen(const struct executors *x, uint64_t seen)
{
        int found = -1;

        if (seen == 0)
                return x->first;
        for (int e = x->last; e >= 0 && x->at.data[e].seq > seen; e = x->at.data[e].prev)
                found = e;
        return found;
}

static void begin_round(struct task_scheduler *ts, struct task_set *set)
{
        set->round = ts->round;
        set->pass = 0;
        set->nearest = LOCALITY_ANY;
        if (set->locality)
                locality_refresh(set->locality, &ts->executors);
        if (set->seen_membership != ts->executors.membership)
                set->seen = 0;
        set->seen_membership = ts->executors.membership;
        vec_push(&ts->executors.cursors, set);
        set_cursor(&ts->executors, set, first_unseen(&ts->executors, set->seen));
}

/* Stores the level of the current pass, or of the next one that delay scheduling allows. Returns false if none. */
static bool pass_level(struct task_scheduler *ts, struct task_set *set, enum task_locality *level)
{
        struct locality *l = set->locality;

        if (!l) {
                *level = LOCALITY_ANY;
                return set->pass == 0;
        }
        enum task_locality allowed = locality_allowed(l, set, &ts->executors, &ts->config.locality, ts->now);

        if (allowed > set->seen_level) {
                set->seen = 0; /* check all executors again */
                set_cursor(&ts->executors, set, ts->executors.first);
        }
        set->seen_level = allowed;
        while (set->pass < l->n_levels && l->levels[set->pass] > allowed && l->levels[set->pass] != LOCALITY_NO_PREF)
                set->pass++;
        if (set->pass == l->n_levels)
                return false;
        *level = l->levels[set->pass];
        return true;
}

/* Launches one batch of @set. Returns false if no executor is left for it in this round. */
static bool offers_search(struct task_scheduler *ts, struct task_set *set)
{
        struct executors *x = &ts->executors;
        enum task_locality level;

        if (set->round != ts->round)
                begin_round(ts, set);
        while (pass_level(ts, set, &level)) {
                while (set->cursor >= 0) {
                        int executor = set->cursor;

                        set_cursor(x, set, executors_at(x, executor)->next);
                        if (!try_executor(ts, set, executor, level))
                                continue;
                        if (ts->config.locality.legacy_reset && set->locality && level != LOCALITY_NO_PREF)
                                locality_reset(set->locality, level, ts->now);
                        if (set->cursor < 0 && executors_at(x, executor)->queued)
                                set_cursor(x, set, executor); /* its next core is at the end of the queue */
                        return true;
                }
                set->pass++;
                set_cursor(x, set, first_unseen(x, set->seen));
        }
        set->seen = x->next_seq;
        return false;
}

/* --------------------------------------------------------------------------------------------- barrier stages */

/* Returns how many tasks of @set fit on the executor now. */
static int room_for(const struct task_scheduler *ts, const struct task_set *set, int executor)
{
        const struct sched_executor *e = &ts->executors.at.data[executor];

        if (ts->config.exclusion.stage && !set_exclusion_allows(set->exclusion, &ts->executors, executor))
                return 0;
        return sched_profile_room_on(set->profile, e);
}

/* Launches all tasks of a barrier set, each as near as possible. Returns false if they do not all fit. */
static bool launch_barrier(struct task_scheduler *ts, struct task_set *set)
{
        struct executors *x = &ts->executors;
        VEC(int) where = {0}, room = {0};
        int total = 0, at = 0;

        for (int e = x->first; e >= 0; e = x->at.data[e].next) {
                vec_push(&where, e);
                vec_push(&room, room_for(ts, set, e));
                total += room.data[room.len - 1];
        }
        if (total < set->n) {
                log_info(LOG,
                         "Skip current round of resource offers for barrier stage %d because the barrier taskSet "
                         "requires %d slots, while the total number of available slots is %d.",
                         set->stage_id, set->n, total);
        } else {
                int *executors = new_array(int, (size_t)set->n);

                for (int i = 0; i < set->n; i++) {
                        executors[i] = -1;
                        for (size_t k = 0; set->locality && k < where.len && executors[i] < 0; k++)
                                if (room.data[k] > 0 &&
                                    locality_of(set->locality, x, i, where.data[k]) <= LOCALITY_NODE_LOCAL) {
                                        executors[i] = where.data[k];
                                        room.data[k]--;
                                }
                }
                for (int i = 0; i < set->n; i++)
                        for (; executors[i] < 0; at = (at + 1) % (int)where.len)
                                if (room.data[at] > 0) {
                                        executors[i] = where.data[at];
                                        room.data[at]--;
                                }
                if (ts->ops->barrier_launching)
                        ts->ops->barrier_launching(ts->ops_owner, set, executors, set->n);
                for (int32_t i = 0; i < set->n; i++)
                        offers_launch(ts, set, executors[i], &i, 1, locality_of(set->locality, x, i, executors[i]),
                                      false);
                set->pending.next = set->pending.n;
                free(executors);
        }
        vec_deinit(&where);
        vec_deinit(&room);
        return total >= set->n;
}

/* ------------------------------------------------------------------------------------------------------ rounds */

/* Returns whether the tasks may run on the first executor of the queue. */
static bool is_simple(const struct task_scheduler *ts, const struct task_set *set)
{
        return !set->locality && !set->exclusion && !set->barrier && ts->executors.profiles.len == 1 &&
               set->profile->n_needs == 0 &&
               sched_profile_runs_on(set->profile, &ts->executors.at.data[ts->executors.first]) &&
               (!set->speculation || set->speculation->slow.len == 0);
}

/* Returns false if no task was launched. */
static bool offers_offer(struct task_scheduler *ts, struct task_set *set)
{
        int32_t indexes[SCHED_MAX_RUN];

        if (set->barrier)
                return launch_barrier(ts, set);
        if (unlikely(!is_simple(ts, set)))
                return offers_search(ts, set);
        int limit = task_set_run_limit(set, ts->config.run_target, set->profile->slots, ts->config.max_run);
        int n = task_set_take(set, limit, indexes);

        if (n > 0)
                offers_launch(ts, set, ts->executors.first, indexes, n, LOCALITY_PROCESS_LOCAL, false);
        return n > 0;
}

/* Ends the round for @set: restarts its locality wait if allowed, and updates its deadline. */
static void end_round(struct task_scheduler *ts, struct task_set *set)
{
        struct locality *l = set->locality;
        bool rejects;

        set_cursor(&ts->executors, set, -1);
        if (!l)
                return;
        rejects = set->n_waiting > 0 && ts->executors.first >= 0 && l->levels[l->current] < LOCALITY_ANY;
        if (rejects)
                ts->locality_deadline = MIN(ts->locality_deadline, locality_deadline(l, &ts->config.locality));
        else if (!ts->config.locality.legacy_reset && set->launched_round == ts->round)
                locality_reset(l, set->nearest, ts->now);
}

static void offers_unpark(struct task_scheduler *ts)
{
        for (size_t i = 0; i < ts->parked.len; i++) {
                struct task_set *set = ts->parked.data[i];

                set->parked = false;
                if (!set->zombie && task_set_has_work(set))
                        schedulable_activate(&set->node, set->pool);
        }
        ts->parked.len = 0;
}

void task_scheduler_has_work(struct task_scheduler *ts, struct task_set *set)
{
        set->seen = 0;
        if (!set->zombie && !set->parked && set->pool && task_set_has_work(set))
                schedulable_activate(&set->node, set->pool);
}

static void offers_park(struct task_scheduler *ts, struct task_set *set)
{
        set->parked = true;
        vec_push(&ts->parked, set);
        schedulable_deactivate(&set->node);
}

void task_scheduler_revive(struct task_scheduler *ts, int64_t now)
{
        struct schedulable *node;
        bool launched = false;

        ts->now = now;
        ts->round++;
        health_tracker_expire(ts);
        if (ts->executors.first >= 0 && ts->parked.len > 0)
                offers_unpark(ts);
        ts->locality_deadline = INT64_MAX;
        while (ts->executors.first >= 0 && (node = pool_pick(ts->root))) {
                struct task_set *set = container_of(node, struct task_set, node);

                if (!offers_offer(ts, set))
                        offers_park(ts, set);
                else if (!task_set_has_work(set))
                        schedulable_deactivate(node);
        }
        for (size_t i = 0; i < ts->executors.cursors.len; i++)
                end_round(ts, ts->executors.cursors.data[i]);
        ts->executors.cursors.len = 0;
        if (ts->exclusion_changed || ts->abort_deadline < INT64_MAX) {
                for (struct task_set *set = ts->first; set; set = set->next)
                        launched |= set->launched_round == ts->round;
                exclusion_check(ts, launched);
        }
}
