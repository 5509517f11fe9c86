/* The slow path of fst_next; see firesteel/iter.h. */
#include "base/mem.h"
#include "rdd/pipeline/op.h"
#include "rdd/rdd_registry.h"

#include <firesteel/iter.h>

#include <errno.h>
#include <stdio.h>

/* Fails the task: the call at @file:@line does not match the type of @iter's rows. */
static void iter_mismatch(fst_iter *iter, uint32_t tag, uint64_t sizes, const char *file, int line)
{
        char have[64], wanted[64];
        _cleanup_free_ char *given =
                mem_printf("%s (%s:%d)", fst_access_name(tag, sizes, wanted), file_base_name(file), line);
        iter->status = -EINVAL;
        struct task_run *run = task_run_current();
        fst_type_name(iter->batch.type, have);
        if (run)
                task_run_fail(run, -EINVAL, "the rows are %s, but %s reads them with fst_next into variables for %s",
                              have, run->function ? run->function : "a function", given);
        else
                context_misused("the rows are %s, but fst_next was given variables for %s", have, given);
}

FST_API bool fst_iter_more(fst_iter *iter, uint32_t tag, uint64_t sizes, const char *file, int line)
{
        if (!iter && task_run_current())
                task_run_fail(task_run_current(), -EINVAL, "fst_next at %s:%d was given NULL instead of rows",
                              file_base_name(file), line);
        else if (!iter)
                context_misused("fst_next at %s:%d was given NULL instead of rows: an action that fails returns none",
                                file_base_name(file), line);
        if (!iter || iter->status)
                return false;
        if (iter->tag != tag || !fst_sizes_fit(sizes, iter->batch.type.key_size, iter->batch.type.value_size)) {
                iter_mismatch(iter, tag, sizes, file, line);
                return false;
        }
        return iter->refill(iter);
}
