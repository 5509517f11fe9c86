/*
 * Rows of two RDDs with equal keys: join.
 *
 * A join is narrow on both sides. Whatever is not partitioned as it wants gets a shuffle of its own below the join, so
 * what reads and what writes a shuffle is the same for all operators; a side joined with itself is shuffled once.
 * Spark's CoGroupedRDD depends on the shuffles directly: the stages are the same.
 *
 * The choice of partitioner is that of Spark's Partitioner.defaultPartitioner, but that a range partitioner of F64 keys
 * is never taken: it may part -0.0 from 0.0, which are one key here.
 */
#include "rdd/rdd_make.h"
#include "rdd/rdd_wire_class.h"

#include "base/mem.h"
#include "rdd/op_join.h"

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

static int join_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd, struct fst_error *error)
{
        const fst_rdd *left = rdd->parents[JOIN_LEFT], *right = rdd->parents[JOIN_RIGHT];
        int r = rdd_wire_check_partitions(rdd, error);
        return r ? r : rdd_wire_bad_with(rdd, join_check(left->type, right->type, &rdd->fn, error), error);
}

static struct op *join_new(const fst_rdd *rdd, struct task_run *run)
{
        return join_op_new(run, rdd->parents[JOIN_LEFT]->type, rdd->parents[JOIN_RIGHT]->type, rdd->type, &rdd->fn);
}

static int join_feed(struct node *node, int partition, struct op *to)
{
        int r = 0;
        for (int k = 0; k < 2 && r == 0; k++) {
                struct op *side = join_op_side(node->op, (enum join_side)k);
                r = op_begin(side);
                if (r == 0)
                        r = node_feed_parent(node, k, partition, side);
        }
        return r;
}

const struct rdd_class rdd_joined_class = {
        .spark = "CoGroupedRDD",
        .parents = 2,
        .wants_function = true,
        .decode = join_decode,
        .op_new = join_new,
        .feed = join_feed,
};
