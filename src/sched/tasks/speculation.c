/*
 * Spark's checkSpeculatableTasks: when enough tasks of a set have succeeded, a task that runs longer than a multiple of
 * their median gets a second attempt on another host, unless it reads as fast as the others and only has more input.
 *
 * Tasks that wait in a batch behind a slow one have been launched, so they count as slow and get second attempts by the
 * same rule. The running time of the first one counts from the end of the task before it.
 */
#include "sched/tasks/speculation.h"

#include "base/log.h"
#include "sched/tasks/task_scheduler.h"

#define LOG "TaskSetManager"

/* --------------------------------------------------------------------------------------------------- median */

typedef VEC(int64_t) heap;

/* A heap with the largest (@sign 1) or smallest (-1) on top. */
static void heap_push(heap *h, int64_t value, int sign)
{
        size_t i = h->len;

        vec_push(h, value);
        for (; i > 0 && sign * h->data[(i - 1) / 2] < sign * value; i = (i - 1) / 2)
                h->data[i] = h->data[(i - 1) / 2];
        h->data[i] = value;
}

static int64_t heap_pop(heap *h, int sign)
{
        int64_t top = h->data[0], last = h->data[--h->len];
        size_t i = 0;

        for (size_t child; (child = 2 * i + 1) < h->len; i = child) {
                if (child + 1 < h->len && sign * h->data[child + 1] > sign * h->data[child])
                        child++;
                if (sign * h->data[child] <= sign * last)
                        break;
                h->data[i] = h->data[child];
        }
        if (h->len > 0)
                h->data[i] = last;
        return top;
}

void median_add(struct median *m, int64_t value)
{
        heap *low = (heap *)&m->low, *high = (heap *)&m->high;

        if (low->len == 0 || value <= low->data[0])
                heap_push(low, value, 1);
        else
                heap_push(high, value, -1);
        if (low->len > high->len + 1)
                heap_push(high, heap_pop(low, 1), -1);
        else if (high->len > low->len)
                heap_push(low, heap_pop(high, -1), 1);
}

int64_t median_get(const struct median *m)
{
        if (m->low.len == 0)
                return 0;
        if (m->low.len > m->high.len)
                return m->low.data[0];
        return m->low.data[0] + (m->high.data[0] - m->low.data[0]) / 2;
}

void median_deinit(struct median *m)
{
        vec_deinit(&m->low);
        vec_deinit(&m->high);
}

/* ---------------------------------------------------------------------------------------------------- life */

struct speculation *speculation_new(void)
{
        return new0(struct speculation);
}

void speculation_free(struct speculation *s)
{
        if (!s)
                return;
        median_deinit(&s->durations);
        vec_deinit(&s->slow);
        free(s->rates);
        free(s);
}

void speculation_succeeded(struct speculation *s, const struct speculation_config *config, int64_t run_ns,
                           int64_t records)
{
        median_add(&s->durations, MAX(run_ns, (int64_t)0));
        if (!config->efficiency)
                return;
        s->records += records;
        s->run_ns += run_ns;
}

void speculation_progress(struct speculation *s, int n, int32_t index, int64_t records, int64_t run_ns)
{
        if (!s->rates)
                s->rates = new_array(double, (size_t)n);
        s->rates[index] = run_ns > 0 ? (double)records / (double)run_ns : 0;
}

void speculation_attempt_ended(struct speculation *s, int32_t index)
{
        if (s->rates)
                s->rates[index] = 0;
}

/* --------------------------------------------------------------------------------------------------- check */

/* Returns whether a task that ran long enough is slow: false if it reads fast and is below the maximum time. */
static bool speculation_inefficient(const struct speculation *s, const struct speculation_config *config, int32_t index,
                                    int64_t elapsed, double threshold)
{
        double average = s->run_ns > 0 ? (double)s->records / (double)s->run_ns : 0;
        double rate = s->rates ? s->rates[index] : 0;

        if (!config->efficiency || average <= 0 || (double)elapsed > threshold * config->long_run_factor)
                return true;
        return rate < average * config->rate_multiplier;
}

static bool speculation_listed(const struct speculation *s, int32_t index)
{
        for (size_t i = 0; i < s->slow.len; i++)
                if (s->slow.data[i].index == index)
                        return true;
        return false;
}

static void check_run(struct task_scheduler *ts, struct task_set *set, const struct launched_batch *run,
                      double threshold, bool by_efficiency)
{
        struct speculation *s = set->speculation;
        bool first = true;

        for (int64_t id = run->first_id; id < run->first_id + run->n; id++) {
                const struct task_attempt *a = task_table_find(&ts->tasks, id);

                if (!a || a->run != run)
                        continue;
                int64_t elapsed = ts->now - (first ? run->progress : run->launched);
                const struct task_slot *slot = &set->slots[a->index];

                first = false;
                if (slot->done || slot->copies != 1 || (double)elapsed <= threshold ||
                    speculation_listed(s, a->index) ||
                    (by_efficiency &&
                     !speculation_inefficient(s, &ts->config.speculation, a->index, elapsed, threshold)))
                        continue;
                vec_push(&s->slow, (struct slow_task){a->index, executors_at(&ts->executors, run->executor)->host});
                log_about(LOG_INFO, set->stage_id, id, LOG,
                          "Marking task %d in stage %s (on %s) as speculatable because it ran more than %.0f ms(%zu "
                          "speculatable tasks in this taskset now)",
                          a->index, set->id, executors_host(&ts->executors, run->executor), threshold / 1e6,
                          s->slow.len);
                if (ts->ops->speculative_submitted)
                        ts->ops->speculative_submitted(ts->ops_owner, set, a->index);
        }
}

static void speculation_check_set(struct task_scheduler *ts, struct task_set *set)
{
        const struct speculation_config *config = &ts->config.speculation;
        struct speculation *s = set->speculation;
        size_t finished = s->durations.low.len + s->durations.high.len, before = s->slow.len;
        double enough = MAX((double)(int64_t)(config->quantile * set->n), 1.0);
        double threshold, least = (double)config->min_runtime;

        if (set->n == 1 && config->threshold <= 0)
                return;
        if ((double)finished >= enough)
                threshold = MAX(config->multiplier * (double)median_get(&s->durations), least);
        else if (config->threshold > 0 && set->n <= set->profile->slots_of_one)
                threshold = MAX((double)config->threshold, least);
        else
                return;
        for (struct launched_batch *run = set->runs; run; run = run->next_in_set)
                check_run(ts, set, run, threshold, (double)finished >= enough);
        if (s->slow.len > before)
                task_scheduler_has_work(ts, set);
}

void speculation_check(struct task_scheduler *ts, int64_t now)
{
        ts->now = now;
        for (struct task_set *set = ts->first; set; set = set->next)
                if (!set->zombie && !set->barrier && set->speculation)
                        speculation_check_set(ts, set);
}
