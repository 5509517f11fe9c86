/* See default_partitioner.h. */
#include "rdd/default_partitioner.h"

#include "base/mem.h"
#include "rdd/rdd_class.h"

#include <firesteel/pair.h>

int rdd_parallelism_set(fst_context *sc)
{
        const char *set = fst_context_conf(sc, "spark.default.parallelism");
        return set && *set ? fst_context_default_parallelism(sc) : 0;
}

/* As in Spark: @p has enough partitions if they are more than a tenth of @most, the greatest number. */
static bool partitioner_has_enough(const struct partitioner *p, int most, int set)
{
        return (int64_t)p->partitions * 10 > most || (set ? set : most) <= p->partitions;
}

static struct partitioner *default_partitioner_usable(const fst_rdd *rdd)
{
        struct partitioner *p = rdd->partitioner;
        return p && p->kind != PARTITIONER_HASH && p->key.key == FST_KIND_F64 ? NULL : p;
}

struct partitioner *rdd_choose_partitioner(fst_rdd *const *rdds, int n, int wanted, struct partitioner *hash)
{
        struct partitioner *larger = NULL;
        int most = 1, set = rdd_parallelism_set(rdds[0]->sc);
        partitioner_init_hash(hash, MAX(wanted, 1), rdds[0]->type);
        if (wanted > 0)
                return hash;
        for (int i = 0; i < n; i++) {
                if (rdd_plan(rdds[i]))
                        return NULL;
                struct partitioner *p = default_partitioner_usable(rdds[i]);
                if (p && (!larger || p->partitions > larger->partitions))
                        larger = p;
                most = MAX(most, rdds[i]->lineage.partitions);
        }
        if (larger && partitioner_has_enough(larger, most, set))
                return larger;
        hash->partitions = set ? set : most;
        return hash;
}

struct partitioner *rdd_own_partitioner(fst_rdd *rdd, int wanted, struct partitioner *hash)
{
        struct partitioner *p = default_partitioner_usable(rdd);
        partitioner_init_hash(hash, MAX(wanted, 1), rdd->type);
        if (wanted > 0)
                return hash;
        if (rdd_plan(rdd))
                return NULL;
        hash->partitions = MAX(rdd->lineage.partitions, 1);
        return p ? p : hash;
}

/* The RDD that owns the range partitioner @p. */
static fst_rdd *range_partitioner_owner(struct partitioner *p)
{
        return container_of(p, fst_rdd, shuffle.partitioner);
}

fst_rdd *rdd_placed(fst_rdd *rdd, struct partitioner *p, fst_site site)
{
        if (partitioner_equal(rdd->partitioner, p))
                return rdd;
        fst_rdd *moved = rdd_new(rdd->sc, RDD_SHUFFLED, rdd->type, rdd, site);
        if (p->kind == PARTITIONER_HASH) {
                partitioner_init_hash(&moved->shuffle.partitioner, p->partitions, rdd->type);
                rdd_depend_on_shuffle(moved);
        } else if (p->kind == PARTITIONER_MODULO) {
                moved->shuffle.partitioner = *p;
                rdd_depend_on_shuffle(moved);
        } else if (p->kind == PARTITIONER_FUNCTION) {
                moved->shuffle.partitioner = *p;
                rdd_set_fn(moved, &p->fn);
                moved->shuffle.partitioner.fn = moved->fn;
                rdd_depend_on_shuffle(moved);
        } else {
                partitioner_init_range(&moved->shuffle.partitioner, p->partitions, rdd->type, p->order);
                moved->shuffle.like = range_partitioner_owner(p);
                rdd_depend_on_shuffle(moved);
                moved->partitioner = p; /* it places alike once it has its bounds */
        }
        return moved;
}

FST_API fst_rdd *fst_preserves_partitioning(fst_rdd *rdd)
{
        rdd = rdd_given(rdd, rdd_site("preserves_partitioning"));
        struct partitioner *p = rdd_parent(rdd) ? rdd_parent(rdd)->partitioner : NULL;
        if (!rdd->status && (!rdd->class->chooses_keys || FST_SHAPE_FORM(rdd->fn.shape) == FST_FORM_NONE))
                return rdd_fail(rdd, -EINVAL, "preserves_partitioning needs an operator whose function emits keys");
        if (p && (p->key.key != rdd->type.key || p->key.key_size != rdd->type.key_size))
                return rdd_fail(rdd, -EINVAL,
                                "preserves_partitioning promises unchanged keys, but the function emits another key "
                                "type than the parent's");
        if (!rdd->status)
                rdd->partitioner = p;
        return rdd;
}
