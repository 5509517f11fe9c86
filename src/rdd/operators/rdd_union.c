/* union: the rows of several RDDs. */
#include "rdd/rdd_build.h"
#include "rdd/rdd_registry.h"
#include "rdd/rdd_wire_class.h"

#include "base/mem.h"

#include <limits.h>

/* The partitioner that all of @rdds share, or NULL. */
static struct partitioner *union_common_partitioner(fst_rdd *const *rdds, size_t n)
{
        struct partitioner *first = n ? rdds[0]->partitioner : NULL;
        for (size_t i = 1; i < n && first; i++)
                if (!partitioner_equal(first, rdds[i]->partitioner))
                        return NULL;
        return first;
}

static void union_check(fst_rdd *rdd)
{
        for (int i = 0; i < rdd->n_parents; i++) {
                const fst_rdd *parent = rdd->parents[i];
                struct fst_error error = FST_ERROR_INIT;
                char a[64], b[64];
                if (parent->sc != rdd->sc) {
                        rdd_fail(rdd, -EINVAL, "union needs RDDs of one context");
                } else if (!fst_type_equal(parent->type, rdd->type)) {
                        bool sizes = fst_type_tag(fst_type_seen(parent->type)) == fst_type_tag(rdd->type);
                        int r = error_set(&error, -EINVAL, "union needs RDDs of one type, but the rows are %s and %s%s",
                                          fst_type_name(rdd->type, a), fst_type_name(parent->type, b),
                                          sizes ? ", whose structs have different sizes" : "");
                        rdd_fail_with(rdd, r, &error);
                }
        }
}

FST_API fst_rdd *fst_union_all_at(fst_context *sc, fst_rdd *const *rdds, size_t n, fst_site site)
{
        fst_rdd *missing = rdd_first_given(rdds, n, site);
        if (missing)
                return missing;
        sc = context_given(sc, site);
        fst_rdd *rdd =
                rdd_new_of(sc, RDD_UNION, n ? rdds[0]->type : FST_BYTES, rdds, (int)MIN(n, (size_t)INT_MAX), site);
        union_check(rdd);
        rdd_depend_narrowly(rdd, false);
        rdd->partitioner = union_common_partitioner(rdds, n);
        rdd->unite.in_place = rdd->partitioner != NULL;
        return rdd;
}

FST_API fst_rdd *fst_union_at(fst_rdd *a, fst_rdd *b, fst_site site)
{
        a = rdd_given(a, site);
        b = rdd_given(b, site);
        return fst_union_all_at(a->sc, (fst_rdd *const[]){a, b}, 2, site);
}

static int union_plan(fst_rdd *rdd)
{
        int64_t n = 0;
        for (int i = 0; i < rdd->n_parents; i++)
                n += rdd->parents[i]->lineage.partitions;
        if (n > INT_MAX)
                rdd_fail(rdd, -EINVAL, "union has too many partitions: coalesce its RDDs first");
        rdd->lineage.partitions = rdd->unite.in_place ? rdd_parent(rdd)->lineage.partitions : (int)MIN(n, INT_MAX);
        return rdd->status;
}

static int union_encode(struct rdd_wire_writer *w, const fst_rdd *rdd, Firesteel__Rdd *m, struct fst_error *error)
{
        m->in_place = rdd->unite.in_place;
        return 0;
}

static int union_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd, struct fst_error *error)
{
        int64_t sum = 0;
        bool alike = true;
        for (int i = 0; i < rdd->n_parents; i++) {
                if (!fst_type_equal(rdd->type, rdd->parents[i]->type))
                        return rdd_wire_bad(rdd, error, "its type is not its parents'");
                sum += rdd->parents[i]->lineage.partitions;
                alike &= rdd->parents[i]->lineage.partitions == rdd->lineage.partitions;
        }
        if (m->in_place ? !alike || rdd->n_parents == 0 : sum != rdd->lineage.partitions)
                return rdd_wire_bad(rdd, error, "its partitions do not match its parents'");
        rdd->unite.in_place = m->in_place;
        return 0;
}

static int union_feed(struct pipeline_node *node, int partition, struct op *to)
{
        const fst_rdd *rdd = node->rdd;
        if (rdd->unite.in_place) {
                int r = 0;
                for (int k = 0; k < rdd->n_parents && r == 0; k++)
                        r = node_feed_parent(node, k, partition, to);
                return r;
        }
        int k = 0;
        for (; partition >= rdd->parents[k]->lineage.partitions; k++)
                partition -= rdd->parents[k]->lineage.partitions;
        node_forget_idle(node, k);
        return node_feed_parent(node, k, partition, to);
}

const struct rdd_class rdd_union_class = {
        .spark = "UnionRDD",
        .parents = RDD_ANY_PARENTS,
        .plan = union_plan,
        .encode = union_encode,
        .decode = union_decode,
        .feed = union_feed,
};
