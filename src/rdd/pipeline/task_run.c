/* The private state of an attempt; see task_run.h. Invariant: status != 0 exactly when error has a message. */
#include "rdd/pipeline/task_run.h"

#include "base/hash_table.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "store/memory.h"

#include <stdarg.h>
#include <stdio.h>

void task_run_init(struct task_run *run, struct memory_manager *memory_manager, const struct spill_space *spill)
{
        *run = (struct task_run){.memory_manager = memory_manager, .spill = spill};
        run->task.run = run;
        run->task.stopped = &run->stop;
}

void task_run_deinit(struct task_run *run)
{
        task_run_end(run);
        free(steal(run->broadcasts));
        run->broadcasts_room = 0;
        error_deinit(&run->error);
}

void task_run_begin(struct task_run *run, const struct fst_task_info *info, uint64_t seed)
{
        run->task.info = *info;
        run->task.captured = NULL;
        run->task.random_state =
                object_hash_number(object_hash_number(seed + (uint64_t)info->stage) + (uint64_t)info->partition);
        run->counters = (struct task_counters){0};
        __atomic_store_n(&run->records_read, 0, __ATOMIC_RELAXED);
        run->status = 0;
        run->fetch_failed = false;
        run->sample_scale = 1;
        run->barrier_epoch = 0;
        if (run->error.message)
                error_deinit(&run->error);
}

static _Thread_local struct task_run *current;

struct task_run *task_run_current(void)
{
        return current;
}

void task_run_set_current(struct task_run *run)
{
        current = run;
}

bool task_run_refuses(const char *what)
{
        if (!current)
                return false;
        const char *function = current->function;
        task_run_fail(current, -EDEADLK, "%s%s%s: " TASK_RUN_DRIVER_ONLY, function ? function : "",
                      function ? ": " : "", what);
        return true;
}

bool task_run_missing(const fst_task *task, const char *function)
{
        if (likely(task != NULL))
                return false;
        log_error("Executor", "%s was given NULL instead of a task", function);
        if (current)
                task_run_fail(current, -EINVAL, "%s was given NULL instead of a task", function);
        return true;
}

bool task_run_missing_argument(const fst_task *task, const void *argument, const char *function, const char *what)
{
        if (task_run_missing(task, function))
                return true;
        if (!argument)
                task_run_fail(task->run, -EINVAL, "%s was given NULL instead of %s", function, what);
        return !argument;
}

FST_API int fst_task_partitions(const fst_task *task)
{
        return task_run_missing(task, "fst_task_partitions") ? -EINVAL : task->run->partitions;
}

FST_API int fst_task_cpus(const fst_task *task)
{
        return task_run_missing(task, "fst_task_cpus") ? -EINVAL : task->run->cpus;
}

void task_run_end(struct task_run *run)
{
        task_run_release_shared(run);
        if (run->barrier_reply)
                task_run_release_barrier(run);
        if (!run->memory)
                return;
        run->counters.peak_memory = (int64_t)memory_task_peak(run->memory);
        memory_task_free(run->memory);
        run->memory = NULL;
}

/* Tasks of a barrier stage may wait for each other outside of fst_barrier_wait, by sockets or files. */
#define BARRIER_LONGEST_WAIT_NS INT64_C(10000000000)

struct memory_task *task_run_memory(struct task_run *run)
{
        if (!run->memory) {
                run->memory = memory_task_new(run->memory_manager);
                memory_task_set_gauge(run->memory, &run->held);
                if (run->barrier)
                        memory_task_set_longest_wait(run->memory, BARRIER_LONGEST_WAIT_NS);
        }
        /* Each task of a slot has its own flag. */
        memory_task_set_stopped(run->memory, run->task.stopped);
        return run->memory;
}

/*
 * A spill failed when another part of the task needed memory. It is the cause of later failures.
 *
 */
static int task_run_spill_failure(const struct task_run *run, const char **why)
{
        *why = NULL;
        return run->memory ? memory_task_failure(run->memory, why) : 0;
}

static int task_run_set_failure(struct task_run *run, int status, char *message)
{
        const char *why;
        if (run->status) {
                free(message);
                return run->status;
        }
        int spill = task_run_spill_failure(run, &why);
        if (spill && why) {
                free(message);
                message = mem_strdup(why);
                status = spill;
        }
        error_deinit(&run->error);
        run->error.message = message;
        return run->status = status < 0 ? status : -EIO;
}

int task_run_check(struct task_run *run)
{
        const char *why;
        int spill = run->status ? 0 : task_run_spill_failure(run, &why);
        return spill ? task_run_fail(run, spill, "writing to disk failed: %s", strerror(-spill)) : run->status;
}

int task_run_fail(struct task_run *run, int status, const char *format, ...)
{
        char *message = NULL;
        va_list args;
        va_start(args, format);
        if (vasprintf(&message, format, args) < 0)
                message = mem_strdup("out of memory");
        va_end(args);
        return task_run_set_failure(run, status, message);
}

int task_run_fail_by(struct task_run *run, int status, const char *function)
{
        if (run->status)
                return run->status;
        return task_run_set_failure(run, status,
                                    mem_printf("function %s returned %d", function ? function : "?", status));
}

int task_run_fail_with(struct task_run *run, int status, struct fst_error *error)
{
        return task_run_set_failure(run, status,
                                    error->message ? steal(error->message) : mem_strdup(strerror(-status)));
}

FST_API const char *fst_task_local_property(const fst_task *task, const char *key)
{
        if (task_run_missing_argument(task, key, "fst_task_local_property", "a key"))
                return NULL;
        return task->run->properties ? strmap_get(task->run->properties, key) : NULL;
}

FST_API int fst_fail(fst_task *task, const char *format, ...)
{
        if (task_run_missing(task, "fst_fail"))
                return -1;
        char *message = NULL;
        va_list args;
        va_start(args, format);
        if (vasprintf(&message, format, args) < 0)
                message = mem_strdup("out of memory");
        va_end(args);
        const char *function = task->run->function;
        task_run_set_failure(task->run, -EIO, function ? mem_printf("%s: %s", function, message) : mem_strdup(message));
        free(message);
        return -1;
}
