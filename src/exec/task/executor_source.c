/* See executor_source.h. */
#include "exec/task/executor_source.h"

#include "base/clock.h"
#include "base/mem.h"
#include "exec/exec_env.h"
#include "exec/guard/process_tree.h"
#include "exec/slot.h"
#include "metrics/metrics_snapshot.h"
#include "store/memory.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

struct executor_source {
        const struct exec_env *env;
        int slots;
        bool tree;
        pthread_mutex_t lock; /* protects the fields below */
        int64_t active, completed;
        struct succeeded_tasks {
                int64_t n, run_ns, result_bytes;
                struct task_counters counters;
        } succeeded;
};

struct executor_source *executor_source_new(const struct exec_env *env, int slots, bool tree)
{
        struct executor_source *s = new0(struct executor_source);
        *s = (struct executor_source){.env = env, .slots = slots, .tree = tree};
        pthread_mutex_init(&s->lock, NULL);
        return s;
}

void executor_source_free(struct executor_source *s)
{
        if (!s)
                return;
        pthread_mutex_destroy(&s->lock);
        free(s);
}

void executor_source_began(struct executor_source *s)
{
        if (!s)
                return;
        pthread_mutex_lock(&s->lock);
        s->active++;
        pthread_mutex_unlock(&s->lock);
}

/* All fields are int64_t sums. */
static void task_counters_add(struct task_counters *to, const struct task_counters *c)
{
        enum { FIELDS = sizeof(*c) / sizeof(int64_t) };
        int64_t *sums = (int64_t *)to;
        const int64_t *values = (const int64_t *)c;
        for (size_t i = 0; i < FIELDS; i++)
                sums[i] += values[i];
}

void executor_source_ended(struct executor_source *s, const struct task_batch *run)
{
        struct succeeded_tasks sums = {0};
        if (!s)
                return;
        for (int i = 0; i < run->n; i++) {
                const struct slot_task *t = &run->tasks[i];
                if (t->state != TASK_SUCCEEDED)
                        continue;
                sums.n++;
                sums.run_ns += t->run_ns;
                sums.result_bytes += t->is_encoded ? (int64_t)t->encoded.len : (int64_t)t->result.bytes;
                task_counters_add(&sums.counters, &t->counters);
        }
        pthread_mutex_lock(&s->lock);
        s->active--;
        s->completed += run->n;
        s->succeeded.n += sums.n;
        s->succeeded.run_ns += sums.run_ns;
        s->succeeded.result_bytes += sums.result_bytes;
        task_counters_add(&s->succeeded.counters, &sums.counters);
        pthread_mutex_unlock(&s->lock);
}

void executor_source_put_tasks(void *source, struct metrics_snapshot *out)
{
        struct executor_source *s = source;
        pthread_mutex_lock(&s->lock);
        int64_t active = s->active, completed = s->completed;
        const struct succeeded_tasks sums = s->succeeded;
        pthread_mutex_unlock(&s->lock);
        const struct task_counters t = sums.counters;
        const struct {
                const char *name;
                int64_t value;
        } counters[] = {
                {"executor.bytesRead", t.input_bytes},
                {"executor.bytesWritten", t.output_bytes},
                {"executor.cpuTime", t.cpu_ns},
                {"executor.diskBytesSpilled", t.disk_spilled},
                {"executor.memoryBytesSpilled", t.memory_spilled},
                {"executor.recordsRead", t.input_records},
                {"executor.recordsWritten", t.output_records},
                {"executor.resultSize", sums.result_bytes},
                {"executor.runTime", sums.run_ns / NS_PER_MS},
                {"executor.shuffleBytesWritten", t.shuffle_write_bytes},
                {"executor.shuffleFetchWaitTime", t.shuffle_fetch_wait_ns / NS_PER_MS},
                {"executor.shuffleLocalBlocksFetched", t.shuffle_local_blocks},
                {"executor.shuffleLocalBytesRead", t.shuffle_local_bytes},
                {"executor.shuffleRecordsRead", t.shuffle_read_records},
                {"executor.shuffleRecordsWritten", t.shuffle_write_records},
                {"executor.shuffleRemoteBlocksFetched", t.shuffle_remote_blocks},
                {"executor.shuffleRemoteBytesRead", t.shuffle_remote_bytes},
                {"executor.shuffleRemoteReqsDuration", t.shuffle_remote_requests_ns / NS_PER_MS},
                {"executor.shuffleTotalBytesRead", t.shuffle_local_bytes + t.shuffle_remote_bytes},
                {"executor.shuffleWriteTime", t.shuffle_write_ns},
                {"executor.succeededTasks", sums.n},
        };
        for (size_t i = 0; i < ARRAY_SIZE(counters); i++)
                metrics_counter(out, counters[i].name, counters[i].value);
        metrics_gauge(out, "executor.threadpool.activeTasks", active);
        metrics_gauge(out, "executor.threadpool.completeTasks", completed);
        metrics_gauge(out, "executor.threadpool.startedTasks", completed + active);
        metrics_gauge(out, "executor.threadpool.currentPool_size", s->slots);
        metrics_gauge(out, "executor.threadpool.maxPool_size", s->slots);
}

void executor_source_put_cpu(void *source, struct metrics_snapshot *out)
{
        struct rusage u;
        getrusage(RUSAGE_SELF, &u);
        metrics_gauge(out, "JVMCPU.jvmCpuTime",
                      ((int64_t)u.ru_utime.tv_sec + u.ru_stime.tv_sec) * NS_PER_SECOND +
                              ((int64_t)u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000);
}

void executor_source_put_memory(void *source, struct metrics_snapshot *out)
{
        const struct executor_source *s = source;
        const struct exec_env *env = s->env;
        struct process_tree tree = {0};
        process_tree_read(getpid(), !s->tree, &tree);
        int64_t execution = (int64_t)memory_manager_execution_used(env->memory);
        int64_t storage = (int64_t)memory_manager_storage_used(env->memory);
        int64_t off_execution = env->off_heap ? (int64_t)memory_manager_execution_used(env->off_heap) : 0;
        int64_t off_storage = env->off_heap ? (int64_t)memory_manager_storage_used(env->off_heap) : 0;
        const struct {
                const char *name;
                int64_t value;
        } gauges[] = {
                {"ExecutorMetrics.OnHeapExecutionMemory", execution},
                {"ExecutorMetrics.OffHeapExecutionMemory", off_execution},
                {"ExecutorMetrics.OnHeapStorageMemory", storage},
                {"ExecutorMetrics.OffHeapStorageMemory", off_storage},
                {"ExecutorMetrics.OnHeapUnifiedMemory", execution + storage},
                {"ExecutorMetrics.OffHeapUnifiedMemory", off_execution + off_storage},
                {"ExecutorMetrics.ProcessTreeJVMVMemory", tree.jvm_virtual},
                {"ExecutorMetrics.ProcessTreeJVMRSSMemory", tree.jvm_resident},
                {"ExecutorMetrics.ProcessTreePythonVMemory", tree.python_virtual},
                {"ExecutorMetrics.ProcessTreePythonRSSMemory", tree.python_resident},
                {"ExecutorMetrics.ProcessTreeOtherVMemory", tree.other_virtual},
                {"ExecutorMetrics.ProcessTreeOtherRSSMemory", tree.other_resident},
        };
        for (size_t i = 0; i < ARRAY_SIZE(gauges); i++)
                metrics_gauge(out, gauges[i].name, gauges[i].value);
}
