/* Row offsets of partitions for zip_with_index: a job counts the rows of all partitions but the last. */
#include "driver/actions/preliminary_jobs.h"

#include "base/mem.h"
#include "driver/actions/actions.h"
#include "exec/actions/action_kinds.h"

struct counts_job {
        struct action action;
        uint64_t *counts; /* by output */
};

static int counts_merge(struct action *action, int output, struct task_result *result, struct fst_error *error)
{
        container_of(action, struct counts_job, action)->counts[output] = (uint64_t)result->number;
        return 0;
}

bool partition_offsets_ready(const fst_rdd *rdd)
{
        return rdd->op != RDD_INDEXED || rdd->index.unique || __atomic_load_n(&rdd->index.starts, __ATOMIC_ACQUIRE);
}

int partition_offsets_compute(fst_rdd *rdd, fst_site site, struct fst_error *error)
{
        fst_rdd *parent = rdd_parent(rdd);
        int n = parent->lineage.partitions;
        uint64_t *starts = new_array(uint64_t, (size_t)n + 1);
        _cleanup_free_ int *partitions = new_array(int, (size_t)n);
        struct counts_job job = {.action = {.class = &count_action_class, .type = parent->type, .merge = counts_merge},
                                 .counts = starts + 1};
        for (int i = 0; i < n; i++)
                partitions[i] = i;
        int r = n > 1 ? action_run_job(parent, &job.action, partitions, n - 1, site, error) : 0;
        if (r) {
                free(starts);
                return r;
        }
        for (int i = 1; i < n; i++)
                starts[i] += starts[i - 1];
        __atomic_store_n(&rdd->index.starts, starts, __ATOMIC_RELEASE);
        return 0;
}
