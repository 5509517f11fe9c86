/*
 * The state of one stage attempt: a slot of eight bytes for each task, a cursor over tasks that were never launched,
 * and a stack of tasks to launch again. task_scheduler.c makes the decisions (offers, failures, zombies).
 *
 * Batches. A status message per task would cost more than a short task, so a core gets several short tasks at once.
 * The first tasks of a set are launched alone, because their duration is unknown. After that a batch holds enough work
 * to make the message cheap, and shrinks towards the end (guided self-scheduling), so that no core works on a long
 * batch while the others are idle.
 *
 * Invariants: n_succeeded is the number of slots that are done. A task is launched only if its slot is neither done nor
 * has a running attempt.
 */
#include "sched/tasks/task_set.h"

#include "base/mem.h"

#include <stdio.h>

struct task_set *task_set_new(struct stage *stage, struct job *job, int attempt, int32_t *outputs, int n)
{
        struct task_set *set = new0(struct task_set);

        set->stage = stage;
        set->job = job;
        set->stage_id = stage->id;
        set->attempt = attempt;
        set->n = n;
        set->outputs = outputs;
        set->refs = 1;
        set->cursor = -1;
        set->n_waiting = n;
        set->abort_at = INT64_MAX;
        set->node.weight = 1;
        set->node.priority = job->id;
        set->node.stage_id = stage->id;
        set->node.attempt = attempt;
        set->slots = new_array(struct task_slot, (size_t)MAX(n, 1));
        pending_tasks_init(&set->pending, n);
        snprintf(set->id, sizeof(set->id), "%d.%d", stage->id, attempt);
        return set;
}

struct task_set *task_set_ref(struct task_set *set)
{
        set->refs++;
        return set;
}

bool task_set_unref(struct task_set *set)
{
        return --set->refs == 0;
}

void task_set_free(struct task_set *set)
{
        if (!set)
                return;
        pending_tasks_deinit(&set->pending);
        locality_free(set->locality);
        speculation_free(set->speculation);
        set_exclusion_free(set->exclusion);
        free(set->last_failure);
        free(set->slots);
        free(set->outputs);
        free(set);
}

int task_set_index(const struct task_set *set, int output)
{
        int low = 0, high = set->n - 1;

        if (!set->outputs)
                return output >= 0 && output < set->n ? output : -1;
        while (low <= high) {
                int middle = low + (high - low) / 2;

                if (set->outputs[middle] == output)
                        return middle;
                if (set->outputs[middle] < output)
                        low = middle + 1;
                else
                        high = middle - 1;
        }
        return -1;
}

int task_set_run_limit(const struct task_set *set, int64_t target, int slots, int max)
{
        int64_t limit = max;
        int64_t left = set->locality ? set->n_waiting : (int64_t)set->pending.n - set->pending.next;
        int64_t share = (left + 2 * (int64_t)slots - 1) / (2 * MAX((int64_t)slots, 1));

        if (set->measured == 0)
                return 1;
        limit = MIN(limit, 2 * set->measured);
        if (set->mean_ns > 0)
                limit = MIN(limit, target / set->mean_ns);
        limit = MIN(limit, share);
        return (int)MAX(limit, 1);
}

void task_set_measure(struct task_set *set, int64_t ns)
{
        if (ns < 0)
                ns = 0;
        if (set->measured++ == 0)
                set->mean_ns = ns;
        else
                set->mean_ns += (ns - set->mean_ns) / 8;
}

int task_set_take(struct task_set *set, int max, int32_t *indexes)
{
        int count = 0;

        while (count < max) {
                bool retry;
                int32_t index = pending_tasks_take(&set->pending, &retry);

                if (index < 0)
                        break;
                if (!task_set_waits(set, index))
                        continue;
                indexes[count++] = index;
                if (retry)
                        break;
        }
        return count;
}

int task_set_take_first(struct task_set *set, int max, int32_t *indexes)
{
        int count = 0;

        while (count < max && set->pending.next < set->pending.n) {
                int32_t index = set->pending.next++;

                /* tasks that ran before are listed as retries */
                if (task_set_waits(set, index) && set->slots[index].attempts == 0)
                        indexes[count++] = index;
        }
        return count;
}
