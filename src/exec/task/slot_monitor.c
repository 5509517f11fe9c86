/*
 * See slot_monitor.h. Above the memory limit, cached data is evicted first, then the task with the most memory is
 * failed.
 */
#include "exec/task/slot_monitor.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "exec/exec_env.h"
#include "exec/guard/memory_guard.h"
#include "exec/guard/memory_limit.h"
#include "exec/slot.h"
#include "exec/task/task_reaper.h"
#include "shuffle/shuffle_store.h"
#include "store/block_store.h"
#include "store/memory.h"
#include "store/page.h"
#include "store/range_cache.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>

#define LOOK_NS INT64_C(250000000)
#define LOOK_OFTEN_NS INT64_C(20000000)  /* interval when less than an eighth of the limit is left */
#define LOOK_AT_ONCE_NS INT64_C(4000000) /* interval when touching allocated memory would exceed the limit */
enum { TIMEOUT = 8 };                    /* checks that a task has to end */

struct slot_monitor {
        struct slot_monitor_options o;
        struct memory_limit *limit;
        struct task_reaper *reaper; /* NULL: disabled */
        int64_t next_check;
};

/* --------------------------------------------------------------------------------------------------- the reaper */

static void describe_task(void *owner, int slot, int64_t task_id, bool stack, char *text, unsigned size)
{
        struct slot_monitor *w = owner;
        struct slot_activity a;
        slot_activity(w->o.slots[slot], &a);
        if (a.task_id != task_id)
                snprintf(text, size, "It waits in slot %d for the tasks before it", slot);
        else if (a.process_pid)
                snprintf(text, size, "It is in %s, in task process %d", a.function[0] ? a.function : "the engine",
                         a.process_pid);
        else
                snprintf(text, size, "It is in %s, on thread %d", a.function[0] ? a.function : "the engine", a.thread);
}

static bool kill_task_process(void *owner, int slot, int64_t task_id)
{
        struct slot_monitor *w = owner;
        if (!slot_is_isolated(w->o.slots[slot]))
                return false;
        slot_kill(w->o.slots[slot], task_id, true);
        return true;
}

static void reaper_end_executor(void *owner, const char *reason)
{
        struct slot_monitor *w = owner;
        w->o.end_executor(w->o.owner, reason);
}

static const struct task_reaper_ops reaper_ops = {
        .describe = describe_task, .kill_worker = kill_task_process, .end_executor = reaper_end_executor};

void slot_monitor_killed(struct slot_monitor *w, int slot, int64_t task_id, int64_t now)
{
        task_reaper_killed(w->reaper, slot, task_id, now);
}

void slot_monitor_ended(struct slot_monitor *w, int64_t task_id)
{
        task_reaper_ended(w->reaper, task_id);
}

/* ------------------------------------------------------------------------------------------------------- memory */

static void evict_storage(struct slot_monitor *w, int64_t used, int64_t excess)
{
        size_t freed = w->o.env->blocks ? block_store_evict(w->o.env->blocks, (size_t)excess) : 0;
        if (freed < (size_t)excess && w->o.env->shuffles)
                freed += shuffle_store_evict(w->o.env->shuffles, (size_t)excess - freed);
        page_pool_trim();
        range_cache_shed(0);
        malloc_trim(0);
        log_warn("Executor", "%" PRId64 " MiB of memory are in use, and %s allows %" PRId64 " MiB: freed %zu MiB",
                 used >> 20, memory_limit_origin(w->limit), memory_limit_bytes(w->limit) >> 20, freed >> 20);
}

/* Fails the task with the most memory, with a message, before the kernel kills the process and all its tasks. */
static void fail_largest(struct slot_monitor *w, int64_t used)
{
        struct slot_activity largest = {.task_id = -1}, a;
        int slot = -1;
        for (int i = 0; i < w->o.n; i++) {
                slot_activity(w->o.slots[i], &a);
                if (a.task_id < 0 || (slot >= 0 && a.memory <= largest.memory))
                        continue;
                largest = a;
                slot = i;
        }
        if (slot < 0)
                return;
        _cleanup_free_ char *message = mem_printf(
                "task %" PRId64 "%s%s fails because memory is short: it holds %" PRId64
                " MiB, and this executor %" PRId64 " MiB, of the %" PRId64 " MiB that %s allows; %s",
                largest.task_id, largest.function[0] ? " in " : "", largest.function, largest.memory >> 20, used >> 20,
                memory_limit_bytes(w->limit) >> 20, memory_limit_origin(w->limit), w->o.memory_remedy);
        log_error("Executor", "%s", message);
        slot_fail(w->o.slots[slot], largest.task_id, message);
}

/* Ends the process, because nothing else helps in time. */
static void end_process(struct slot_monitor *w, int64_t used)
{
        struct slot_activity a;
        const char *function = "";
        for (int i = 0; i < w->o.n && !*function; i++) {
                slot_activity(w->o.slots[i], &a);
                if (a.task_id >= 0)
                        function = a.function;
        }
        _cleanup_free_ char *message =
                mem_printf("Exit before the kernel kills this process: %" PRId64 " MiB of the %" PRId64
                           " MiB that %s allows are in use%s%s; %s",
                           used >> 20, memory_limit_bytes(w->limit) >> 20, memory_limit_origin(w->limit),
                           *function ? ", in " : "", function, w->o.memory_remedy);
        log_error("Executor", "%s", message);
        w->o.end_for_memory(w->o.owner, message);
}

/* Returns the time of the next check. */
static int64_t look_at_memory(struct slot_monitor *w, int64_t now)
{
        int64_t used, excess;
        enum memory_verdict verdict = memory_limit_check(w->limit, TIMEOUT, &used, &excess);
        if (verdict == MEMORY_LIMIT_EVICT)
                evict_storage(w, used, excess);
        else if (verdict == MEMORY_LIMIT_FAIL)
                fail_largest(w, used);
        else if (verdict == MEMORY_LIMIT_END)
                end_process(w, used);
        int64_t room = memory_guard_update();
        if (memory_limit_group(w->limit) == INT64_MAX)
                return now + LOOK_NS;
        if (memory_guard_pending() > room)
                return now + LOOK_AT_ONCE_NS;
        return now + (room < memory_limit_group(w->limit) / 8 ? LOOK_OFTEN_NS : LOOK_NS);
}

/* ---------------------------------------------------------------------------------------------------- interface */

int slot_monitor_new(const struct slot_monitor_options *options, struct slot_monitor **watch, struct fst_error *error)
{
        struct slot_monitor *w = new0(struct slot_monitor);
        w->o = *options;
        int r = task_reaper_new(options->conf, &reaper_ops, w, &w->reaper, error);
        if (r) {
                free(w);
                return r;
        }
        w->o.conf = NULL;
        if (!w->o.memory_remedy)
                w->o.memory_remedy =
                        "raise spark.executor.memory or spark.executor.memoryOverhead (and the limit of the control "
                        "group, if that is lower), or run fewer tasks at a time (spark.executor.cores)";
        w->limit = memory_limit_new(
                &(struct memory_limit_options){.configured = options->memory_limit, .processes = options->processes});
        memory_guard_start(w->limit, w->o.n ? (int64_t)memory_manager_pool(options->env->memory) : 0);
        *watch = w;
        return 0;
}

void slot_monitor_free(struct slot_monitor *w)
{
        if (!w)
                return;
        memory_guard_stop(w->limit);
        memory_limit_free(w->limit);
        task_reaper_free(w->reaper);
        free(w);
}

int64_t slot_monitor_tick(struct slot_monitor *w, int64_t now)
{
        if (w->next_check <= now)
                w->next_check = look_at_memory(w, now);
        if (task_reaper_deadline(w->reaper) <= now)
                task_reaper_tick(w->reaper, now);
        int64_t reaper = task_reaper_deadline(w->reaper);
        return MIN(w->next_check, reaper);
}
