/* See barrier_chain.h. An RDD is a barrier RDD if it was created as one or depends narrowly on one. */
#include "rdd/barrier_chain.h"

#include "base/mem.h"
#include "rdd/rdd_visit.h"

static const char chain_refusal[] =
        "[SPARK-24820][SPARK-24821]: Barrier execution mode does not allow the following pattern of RDD chain within a "
        "barrier stage: 1. Ancestor RDDs that have different number of partitions from the resulting RDD (union, "
        "coalesce, take): collect the rows instead of taking some, or write them to a shuffle first. 2. An RDD that "
        "depends on multiple barrier RDDs.";

static const char allocation_refusal[] =
        "[SPARK-24942]: Barrier execution mode does not support dynamic resource allocation for now. You can disable "
        "dynamic resource allocation by setting Spark conf \"spark.dynamicAllocation.enabled\" to \"false\".";

static bool barrier_chain_reads_shuffle(const struct rdd_visit *walk, uint32_t i)
{
        return walk->rdds[i]->op == RDD_SHUFFLED && !walk->sources[i];
}

/* The walk lists parents first, so one pass finds all barrier RDDs. */
static void barrier_chain_mark(const struct rdd_visit *walk, bool *barrier)
{
        for (uint32_t i = 0; i < walk->n; i++) {
                int n;
                fst_rdd *const *parents = rdd_visit_parents(walk, i, &n);
                barrier[i] = walk->rdds[i]->lineage.barrier && !walk->sources[i];
                for (int k = 0; k < n && !barrier_chain_reads_shuffle(walk, i); k++)
                        barrier[i] |= barrier[rdd_visit_index(walk, parents[k])];
        }
}

static bool barrier_chain_stage_allowed(const struct rdd_visit *all, const bool *barrier, fst_rdd *last, int tasks)
{
        struct rdd_visit stage;
        bool possible = true;
        if (!barrier[rdd_visit_index(all, last)])
                return true;
        rdd_visit_init(&stage, last, RDD_VISIT_STAGE);
        for (uint32_t i = 0; i < stage.n && possible; i++) {
                int n, barriers = 0;
                fst_rdd *const *parents = rdd_visit_parents(all, rdd_visit_index(all, stage.rdds[i]), &n);
                for (int k = 0; k < n; k++)
                        barriers += barrier[rdd_visit_index(all, parents[k])];
                possible = stage.rdds[i]->lineage.partitions == tasks && barriers <= 1;
        }
        rdd_visit_deinit(&stage);
        return possible;
}

static bool barrier_chain_has_barrier(const struct rdd_visit *walk, const bool *barrier)
{
        for (uint32_t i = 0; i < walk->n; i++)
                if (barrier[i])
                        return true;
        return false;
}

const char *barrier_chain_refusal(fst_rdd *final, int tasks, bool dynamic_allocation)
{
        struct rdd_visit walk;
        const char *refusal = NULL;
        bool any = false, possible = true;
        rdd_visit_init(&walk, final, RDD_VISIT_ALL);
        for (uint32_t i = 0; i < walk.n; i++)
                any |= walk.rdds[i]->lineage.barrier;
        bool *barrier = any ? new_array(bool, walk.n) : NULL;
        if (any) {
                barrier_chain_mark(&walk, barrier);
                possible = barrier_chain_stage_allowed(&walk, barrier, final, tasks);
                if (dynamic_allocation && barrier_chain_has_barrier(&walk, barrier))
                        refusal = allocation_refusal;
        }
        for (uint32_t i = 0; any && i < walk.n && possible; i++) {
                fst_rdd *parent = rdd_parent(walk.rdds[i]);
                if (barrier_chain_reads_shuffle(&walk, i))
                        possible = barrier_chain_stage_allowed(&walk, barrier, parent, parent->lineage.partitions);
        }
        free(barrier);
        rdd_visit_deinit(&walk);
        if (!refusal && !possible)
                refusal = chain_refusal;
        return refusal;
}
