/* See memory_budget.h. */
#include "exec/guard/memory_budget.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "exec/guard/memory_limit.h"
#include "store/memory.h"
#include "store/page.h"

#include <inttypes.h>

#define MIN_OVERHEAD ((int64_t)64 << 20)
#define MAX_OVERHEAD ((int64_t)384 << 20)
#define RAISED_PAGES 4 /* of a task, in a pool that had less than one */

int64_t memory_budget_of_group(int64_t limit, int processes)
{
        int64_t part = limit / MAX(processes, 1);
        int64_t overhead = MIN(part / 8, MAX_OVERHEAD);
        overhead = MAX(overhead, MIN_OVERHEAD);
        return part - MIN(overhead, part / 2);
}

int64_t memory_budget_overhead(int64_t heap, int64_t overhead, int processes)
{
        struct memory_limit *limit = memory_limit_new(&(struct memory_limit_options){.processes = processes});
        int64_t group = memory_limit_group(limit);
        memory_limit_free(limit);
        if (group == INT64_MAX)
                return overhead;
        int64_t part = group / MAX(processes, 1), left = part - heap;
        left = MAX(left, INT64_C(0));
        return MIN(overhead, left);
}

void memory_budget_raise_pool(struct memory_manager *memory, int tasks, const char *key)
{
        size_t pool = memory_manager_pool(memory), least = (size_t)MAX(tasks, 1) * PAGE_BLOCK;
        if (pool >= least)
                return;
        memory_manager_set_pool(memory, RAISED_PAGES * least);
        log_warn("MemoryManager",
                 "%s and spark.memory.fraction leave %zu KiB for the rows of %d running tasks, which get %zu KiB: raise "
                 "%s or spark.memory.fraction, or run fewer tasks at a time",
                 key, pool >> 10, tasks, (RAISED_PAGES * least) >> 10, key);
}

int memory_budget_read(const struct fst_conf *conf, const char *key, int processes, struct memory_budget *budget,
                       struct fst_error *error)
{
        int64_t configured;
        int r = conf_get_bytes(conf, key, &configured, error);
        if (r)
                return r;
        struct memory_limit *limit = memory_limit_new(&(struct memory_limit_options){.processes = processes});
        int64_t group = memory_limit_group(limit), fits = configured;
        if (group != INT64_MAX)
                fits = MIN(configured, memory_budget_of_group(group, processes));
        if (fits < configured && conf_contains(conf, key))
                log_warn(
                        "MemoryManager",
                        "%s is %" PRId64 " MiB, but %s allows %" PRId64 " MiB%s: only %" PRId64
                        " MiB are used, and tasks spill to disk sooner. Raise the limit of the group, or make %s smaller",
                        key, configured >> 20, memory_limit_group_name(limit), group >> 20,
                        processes > 1 ? " to all processes of the application" : "", fits >> 20, key);
        else if (fits < configured)
                log_info("MemoryManager",
                         "%s allows %" PRId64 " MiB%s: %" PRId64 " MiB are used instead of the %" PRId64
                         " MiB that %s is by default",
                         memory_limit_group_name(limit), group >> 20,
                         processes > 1 ? " to all processes of the application" : "", fits >> 20, configured >> 20,
                         key);
        memory_limit_free(limit);
        *budget = (struct memory_budget){fits, group != INT64_MAX};
        return 0;
}
