/*
 * Chooses the executor to replace: ExecutorRollDriverPlugin.choose. Among equals the policies that take the largest
 * choose the last one, as Spark does (it sorts and reverses). ID and ADD_TIME choose the first. An outlier exceeds the
 * mean by more than two standard deviations, in single precision as in Spark.
 */
#include "kubernetes/executors/executor_rolling.h"

#include "base/mem.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const char *const names[] = {
        [ROLL_ID] = "ID",
        [ROLL_ADD_TIME] = "ADD_TIME",
        [ROLL_TOTAL_GC_TIME] = "TOTAL_GC_TIME",
        [ROLL_TOTAL_DURATION] = "TOTAL_DURATION",
        [ROLL_AVERAGE_DURATION] = "AVERAGE_DURATION",
        [ROLL_FAILED_TASKS] = "FAILED_TASKS",
        [ROLL_PEAK_JVM_ONHEAP_MEMORY] = "PEAK_JVM_ONHEAP_MEMORY",
        [ROLL_PEAK_JVM_OFFHEAP_MEMORY] = "PEAK_JVM_OFFHEAP_MEMORY",
        [ROLL_TOTAL_SHUFFLE_WRITE] = "TOTAL_SHUFFLE_WRITE",
        [ROLL_DISK_USED] = "DISK_USED",
        [ROLL_OUTLIER] = "OUTLIER",
        [ROLL_OUTLIER_NO_FALLBACK] = "OUTLIER_NO_FALLBACK",
};

int roll_policy_parse(const char *name, enum roll_policy *policy)
{
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                if (strcmp(names[i], name) == 0) {
                        *policy = (enum roll_policy)i;
                        return 0;
                }
        return -1;
}

const char *roll_policy_name(enum roll_policy policy)
{
        return names[policy];
}

typedef double measure(const struct roll_summary *e);

static double of_id(const struct roll_summary *e)
{
        return e->id;
}

static double of_add_time(const struct roll_summary *e)
{
        return (double)e->add_time;
}

static double of_gc_time(const struct roll_summary *e)
{
        return (double)e->total_gc_time;
}

static double of_duration(const struct roll_summary *e)
{
        return (double)e->total_duration;
}

static double of_average(const struct roll_summary *e)
{
        return (float)e->total_duration / (float)MAX(1, e->total_tasks);
}

/* Spark rounds the average to an integer when it looks for outliers. */
static double of_whole_average(const struct roll_summary *e)
{
        return (double)(e->total_duration / MAX(1, e->total_tasks));
}

static double of_failed(const struct roll_summary *e)
{
        return e->failed_tasks;
}

static double of_heap(const struct roll_summary *e)
{
        return (double)e->peak_heap;
}

static double of_off_heap(const struct roll_summary *e)
{
        return (double)e->peak_off_heap;
}

static double of_shuffle_write(const struct roll_summary *e)
{
        return (double)e->total_shuffle_write;
}

static double of_disk(const struct roll_summary *e)
{
        return (double)e->disk_used;
}

/* Whether an executor may be chosen. */
static bool is_eligible(const struct roll_summary *e, int min_tasks)
{
        return e->id >= 0 && e->total_tasks >= min_tasks;
}

static int32_t first_least(const struct roll_summary *executors, int n, int min_tasks, measure *of)
{
        const struct roll_summary *best = NULL;

        for (int i = 0; i < n; i++)
                if (is_eligible(&executors[i], min_tasks) && (!best || of(&executors[i]) < of(best)))
                        best = &executors[i];
        return best ? best->id : -1;
}

static int32_t last_greatest(const struct roll_summary *executors, int n, int min_tasks, measure *of)
{
        const struct roll_summary *best = NULL;

        for (int i = 0; i < n; i++)
                if (is_eligible(&executors[i], min_tasks) && (!best || of(&executors[i]) >= of(best)))
                        best = &executors[i];
        return best ? best->id : -1;
}

static int32_t executor_rolling_outlier(const struct roll_summary *executors, int n, int min_tasks, measure *of)
{
        float sum = 0, squares = 0;
        int count = 0;

        for (int i = 0; i < n; i++)
                if (is_eligible(&executors[i], min_tasks)) {
                        sum += (float)of(&executors[i]);
                        count++;
                }
        if (count == 0)
                return -1;
        float mean = sum / (float)count;
        for (int i = 0; i < n; i++)
                if (is_eligible(&executors[i], min_tasks)) {
                        float off = (float)of(&executors[i]) - mean;
                        squares += off * off;
                }
        double limit = 2 * sqrt((double)(squares / (float)count));
        const struct roll_summary *best = NULL;
        for (int i = 0; i < n; i++)
                if (is_eligible(&executors[i], min_tasks) && (double)((float)of(&executors[i]) - mean) > limit &&
                    (!best || (float)of(&executors[i]) >= (float)of(best)))
                        best = &executors[i];
        return best ? best->id : -1;
}

static int32_t first_outlier(const struct roll_summary *executors, int n, int min_tasks)
{
        static measure *const dimensions[] = {of_duration, of_gc_time,       of_failed, of_heap,
                                              of_off_heap, of_shuffle_write, of_disk};
        int32_t id = executor_rolling_outlier(executors, n, MAX(min_tasks, 1), of_whole_average);

        for (size_t i = 0; i < ARRAY_SIZE(dimensions) && id < 0; i++)
                id = executor_rolling_outlier(executors, n, min_tasks, dimensions[i]);
        return id;
}

int32_t roll_choose(const struct roll_summary *executors, int n, enum roll_policy policy, int min_tasks)
{
        static measure *const measures[] = {
                [ROLL_ID] = of_id,
                [ROLL_ADD_TIME] = of_add_time,
                [ROLL_TOTAL_GC_TIME] = of_gc_time,
                [ROLL_TOTAL_DURATION] = of_duration,
                [ROLL_AVERAGE_DURATION] = of_average,
                [ROLL_FAILED_TASKS] = of_failed,
                [ROLL_PEAK_JVM_ONHEAP_MEMORY] = of_heap,
                [ROLL_PEAK_JVM_OFFHEAP_MEMORY] = of_off_heap,
                [ROLL_TOTAL_SHUFFLE_WRITE] = of_shuffle_write,
                [ROLL_DISK_USED] = of_disk,
                [ROLL_OUTLIER] = of_duration,
        };

        if (policy == ROLL_ID || policy == ROLL_ADD_TIME)
                return first_least(executors, n, min_tasks, measures[policy]);
        if (policy == ROLL_OUTLIER || policy == ROLL_OUTLIER_NO_FALLBACK) {
                int32_t id = first_outlier(executors, n, min_tasks);
                if (id >= 0 || policy == ROLL_OUTLIER_NO_FALLBACK)
                        return id;
        }
        return last_greatest(executors, n, min_tasks, measures[policy]);
}
