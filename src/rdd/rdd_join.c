/*
 * Building lineage of several parents: union and join.
 *
 * A join is narrow on both sides. Whatever is not partitioned as it wants gets a shuffle of its own below the join, so
 * what reads and what writes a shuffle is the same for all operators; a side joined with itself is shuffled once.
 * Spark's CoGroupedRDD depends on the shuffles directly: the stages are the same.
 *
 * The choice of partitioner is that of Spark's Partitioner.defaultPartitioner, but that a range partitioner of F64 keys
 * is never taken: it may part -0.0 from 0.0, which are one key here.
 */
#include "rdd/op.h"
#include "rdd/op_join.h"
#include "rdd/rdd_make.h"

#include "base/mem.h"

#include <limits.h>

/* --------------------------------------------------------------------------------------------------- union */

/* The partitioner that all of @rdds have, or NULL. */
static struct partitioner *common_partitioner(fst_rdd *const *rdds, size_t n)
{
        struct partitioner *first = n ? rdds[0]->partitioner : NULL;
        for (size_t i = 1; i < n && first; i++)
                if (!partitioner_equal(first, rdds[i]->partitioner))
                        return NULL;
        return first;
}

static void check_union(fst_rdd *rdd)
{
        for (int i = 0; i < rdd->n_parents; i++) {
                const fst_rdd *parent = rdd->parents[i];
                struct fst_error error = FST_ERROR_INIT;
                char a[64], b[64];
                if (parent->sc != rdd->sc) {
                        rdd_fail(rdd, -EINVAL, "union needs RDDs of one context");
                } else if (!fst_type_equal(parent->type, rdd->type)) {
                        bool sizes = fst_type_tag(parent->type) == fst_type_tag(rdd->type);
                        int r = error_set(&error, -EINVAL, "union needs RDDs of one type, but the rows are %s and %s%s",
                                          fst_type_name(rdd->type, a), fst_type_name(parent->type, b),
                                          sizes ? ", whose structs have different sizes" : "");
                        rdd_fail_with(rdd, r, &error);
                }
        }
}

FST_API fst_rdd *fst_union_all_at(fst_context *sc, fst_rdd *const *rdds, size_t n, fst_site site)
{
        fst_rdd *rdd =
                rdd_new_of(sc, RDD_UNION, n ? rdds[0]->type : FST_BYTES, rdds, (int)MIN(n, (size_t)INT_MAX), site);
        if (n == 0)
                return rdd_fail(rdd, -EINVAL, "a union of no RDDs has no type: give it one at least");
        check_union(rdd);
        rdd_depend_narrowly(rdd, false);
        rdd->partitioner = common_partitioner(rdds, n);
        rdd->unite.in_place = rdd->partitioner != NULL;
        return rdd;
}

FST_API fst_rdd *fst_union_at(fst_rdd *a, fst_rdd *b, fst_site site)
{
        return fst_union_all_at(a->sc, (fst_rdd *const[]){a, b}, 2, site);
}

/* ---------------------------------------------------------------------------------------------------- join */

/* Spark: less than an order of magnitude below @most, the greatest number of partitions. */
static bool is_enough(const struct partitioner *p, int most, int set)
{
        return (int64_t)p->partitions * 10 > most || (set ? set : most) <= p->partitions;
}

static struct partitioner *usable(const fst_rdd *rdd)
{
        struct partitioner *p = rdd->partitioner;
        return p && p->kind == PARTITIONER_RANGE && p->key.key == FST_KIND_F64 ? NULL : p;
}

/* What the join is placed by: a side's partitioner, or *@hash, which is made for it. NULL: a side cannot be planned. */
static struct partitioner *choose(fst_rdd *left, fst_rdd *right, int wanted, struct partitioner *hash)
{
        partitioner_init_hash(hash, MAX(wanted, 1), left->type);
        if (wanted > 0)
                return hash;
        if (rdd_plan(left) || rdd_plan(right))
                return NULL;
        struct partitioner *a = usable(left), *b = usable(right);
        struct partitioner *larger = a && b ? (b->partitions > a->partitions ? b : a) : a ? a : b;
        int most = MAX(left->lineage.partitions, right->lineage.partitions), set = rdd_parallelism_set(left->sc);
        if (larger && is_enough(larger, most, set))
                return larger;
        hash->partitions = set ? set : MAX(most, 1);
        return hash;
}

/* The RDD that owns a range partitioner. */
static fst_rdd *owner_of(struct partitioner *p)
{
        return container_of(p, fst_rdd, shuffle.partitioner);
}

/* @rdd placed by @p: itself if it is already. */
static fst_rdd *placed(fst_rdd *rdd, struct partitioner *p, fst_site site)
{
        if (partitioner_equal(rdd->partitioner, p))
                return rdd;
        fst_rdd *moved = rdd_new_of(rdd->sc, RDD_SHUFFLED, rdd->type, &rdd, 1, site);
        if (p->kind == PARTITIONER_HASH) {
                partitioner_init_hash(&moved->shuffle.partitioner, p->partitions, rdd->type);
                rdd_depend_on_shuffle(moved);
        } else {
                partitioner_init_range(&moved->shuffle.partitioner, p->partitions, rdd->type, p->order);
                moved->shuffle.like = owner_of(p);
                rdd_depend_on_shuffle(moved);
                moved->partitioner = p; /* it places alike, once it has its bounds */
        }
        return moved;
}

FST_API fst_rdd *fst_join_at(fst_rdd *left, fst_rdd *right, fst_fn f, fst_type type, int partitions, fst_site site)
{
        struct fst_error error = FST_ERROR_INIT;
        struct partitioner hash;
        fst_rdd *sides[] = {left, right};
        int r = 0;
        if (!left->status && !right->status) {
                if (left->sc != right->sc)
                        r = error_set(&error, -EINVAL, "join needs RDDs of one context");
                else if (partitions < 0)
                        r = error_set(&error, -EINVAL, "Number of partitions cannot be negative");
                else
                        r = join_check(left->type, right->type, &f, &error);
                struct partitioner *p = r ? NULL : choose(left, right, partitions, &hash);
                if (p) {
                        sides[JOIN_LEFT] = placed(left, p, site);
                        sides[JOIN_RIGHT] = left == right ? sides[JOIN_LEFT] : placed(right, p, site);
                }
        }
        fst_rdd *rdd = rdd_new_of(left->sc, RDD_JOINED, type, sides, 2, site);
        if (r)
                rdd_fail_with(rdd, r, &error);
        rdd_set_fn(rdd, &f);
        rdd_depend_narrowly(rdd, false);
        return rdd;
}
