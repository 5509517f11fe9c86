/* Batches of tasks add to the metrics of an executor. */
#include "exec/task/executor_source.h"

#include "base/mem.h"
#include "exec/exec_env.h"
#include "exec/slot.h"
#include "metrics/metrics_snapshot.h"
#include "store/memory.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static int64_t value_of(const struct metrics_snapshot *m, const char *name)
{
        for (size_t i = 0; i < m->samples.len; i++)
                if (strcmp(m->samples.data[i].name, name) == 0)
                        return m->samples.data[i].value;
        fail_msg("no metric %s", name);
        return -1;
}

static void only_successful_tasks_add_to_sums(void **state)
{
        static const struct {
                const char *name;
                int64_t value;
        } cases[] = {
                {"executor.succeededTasks", 2},
                {"executor.runTime", 7},
                {"executor.cpuTime", 20},
                {"executor.bytesRead", 200},
                {"executor.resultSize", 16},
                {"executor.shuffleTotalBytesRead", 14},
                {"executor.threadpool.activeTasks", 1},
                {"executor.threadpool.completeTasks", 3},
                {"executor.threadpool.startedTasks", 4},
                {"executor.threadpool.maxPool_size", 4},
        };
        struct exec_env env = {0};
        struct executor_source *s = executor_source_new(&env, 4, false);
        struct task_batch *run = new0(struct task_batch);
        struct metrics_snapshot m = METRICS_SNAPSHOT_INIT;
        run->n = 3;
        for (int i = 0; i < run->n; i++) {
                run->tasks[i].state = i == 1 ? TASK_FAILED : TASK_SUCCEEDED;
                run->tasks[i].run_ns = 3500000;
                run->tasks[i].result.bytes = 8;
                run->tasks[i].counters = (struct task_counters){
                        .cpu_ns = 10, .input_bytes = 100, .shuffle_local_bytes = 3, .shuffle_remote_bytes = 4};
        }
        executor_source_began(s);
        executor_source_began(s);
        executor_source_ended(s, run);
        executor_source_put_tasks(s, &m);
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%s", cases[i].name);
                assert_int_equal(value_of(&m, cases[i].name), cases[i].value);
        }
        metrics_snapshot_deinit(&m);
        executor_source_free(s);
        free(run);
}

static void memory_is_that_of_the_process(void **state)
{
        struct exec_env env = {.memory = memory_manager_new(1 << 20, 0.5)};
        struct executor_source *s = executor_source_new(&env, 1, true);
        struct metrics_snapshot m = METRICS_SNAPSHOT_INIT;
        executor_source_put_memory(s, &m);
        executor_source_put_cpu(s, &m);
        assert_true(value_of(&m, "ExecutorMetrics.ProcessTreeOtherRSSMemory") > 4096);
        assert_int_equal(value_of(&m, "ExecutorMetrics.OnHeapUnifiedMemory"), 0);
        assert_int_equal(value_of(&m, "ExecutorMetrics.OffHeapUnifiedMemory"), 0);
        assert_true(value_of(&m, "JVMCPU.jvmCpuTime") > 0);
        metrics_snapshot_deinit(&m);
        executor_source_free(s);
        memory_manager_free(env.memory);
}

static void no_source_counts_nothing(void **state)
{
        executor_source_began(NULL);
        executor_source_ended(NULL, NULL);
        executor_source_free(NULL);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(only_successful_tasks_add_to_sums),
                cmocka_unit_test(memory_is_that_of_the_process),
                cmocka_unit_test(no_source_counts_nothing),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
