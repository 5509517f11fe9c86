/* sort_within_partitions: sorts each partition by key, without a shuffle. */
#include "rdd/rdd_build.h"
#include "rdd/rdd_wire_class.h"

#include "rdd/sort/op_sort.h"

FST_API fst_rdd *fst_sort_within_partitions_at(fst_rdd *parent, enum fst_order order, fst_site site)
{
        parent = rdd_given(parent, site);
        fst_rdd *rdd = rdd_new(parent->sc, RDD_SORTED_WITHIN, parent->type, parent, site);
        rdd->sorted_within = order;
        rdd_depend_narrowly(rdd, true);
        return rdd;
}

static int sorted_encode(struct rdd_wire_writer *w, const fst_rdd *rdd, Firesteel__Rdd *m, struct fst_error *error)
{
        m->descending = rdd->sorted_within == FST_DESCENDING;
        return 0;
}

static int sorted_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd, struct fst_error *error)
{
        rdd->sorted_within = m->descending ? FST_DESCENDING : FST_ASCENDING;
        int r = rdd_wire_check_partitions(rdd, error);
        return r ? r : rdd_wire_check_type(rdd, error);
}

static struct op *sorted_op_new(const fst_rdd *rdd, struct task_run *run)
{
        return sort_op_new(run, rdd->type, rdd->sorted_within);
}

const struct rdd_class rdd_sorted_within_class = {
        .spark = "MapPartitionsRDD",
        .parents = 1,
        .encode = sorted_encode,
        .decode = sorted_decode,
        .op_new = sorted_op_new,
};
