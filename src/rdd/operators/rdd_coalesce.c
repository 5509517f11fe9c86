/* coalesce: fewer partitions without a shuffle. */
#include "rdd/rdd_build.h"
#include "rdd/rdd_wire_class.h"
#include "rdd/slice.h"

#include "base/mem.h"

FST_API fst_rdd *fst_coalesce_at(fst_rdd *parent, int partitions, fst_site site)
{
        parent = rdd_given(parent, site);
        fst_rdd *rdd = rdd_new(parent->sc, RDD_COALESCE, parent->type, parent, site);
        rdd_depend_narrowly(rdd, false);
        rdd->coalesce.count = partitions;
        if (partitions <= 0)
                rdd_fail(rdd, -EINVAL, "Number of partitions must be positive");
        return rdd;
}

static int coalesce_plan(fst_rdd *rdd)
{
        rdd->lineage.partitions = MIN(rdd->coalesce.count, rdd_parent(rdd)->lineage.partitions);
        return 0;
}

static int coalesce_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd,
                           struct fst_error *error)
{
        if (rdd->lineage.partitions > rdd_parent(rdd)->lineage.partitions)
                return rdd_wire_bad(rdd, error, "its parent has fewer partitions");
        return rdd_wire_check_type(rdd, error);
}

static int coalesce_feed(struct pipeline_node *node, int partition, struct op *to)
{
        uint64_t parents = (uint64_t)rdd_parent(node->rdd)->lineage.partitions;
        int at = (int)slice_start(parents, partition, node->rdd->lineage.partitions);
        int end = (int)slice_start(parents, partition + 1, node->rdd->lineage.partitions);
        int r = 0;
        for (; at < end && r == 0; at++)
                r = node_feed_parent(node, 0, at, to);
        return r;
}

const struct rdd_class rdd_coalesce_class = {
        .spark = "CoalescedRDD",
        .parents = 1,
        .passes_samples = true,
        .plan = coalesce_plan,
        .decode = coalesce_decode,
        .feed = coalesce_feed,
};
