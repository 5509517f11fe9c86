/*
 * Operators on RDDs with equal keys: joins, cogroup, flat_map_groups, group_by_key, group_by, subtract_by_key.
 *
 * A cogroup depends narrowly on all sides. A side without the right partitioner gets a shuffle of its own, so all
 * operators share one reader and one writer of shuffles. An RDD that is two sides is shuffled once. Spark's
 * CoGroupedRDD depends on the shuffles directly. The stages are the same.
 */
#include "rdd/default_partitioner.h"
#include "rdd/rdd_registry.h"
#include "rdd/rdd_wire_class.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "rdd/cogroup/op_cogroup.h"
#include "rdd/operators/rdd_broadcast_join.h"

#include <firesteel/pair.h>

/* ---------------------------------------------------------------------------------------------------- building */

static int cogroup_check_sides(enum cogroup_mode mode, fst_rdd *const *rdds, int n, const fst_fn *f, fst_type type,
                               int partitions, fst_site site, struct fst_error *error)
{
        fst_type types[MAX_COGROUP_SIDES] = {0};
        if (partitions < 0)
                return error_set(error, -EINVAL, "Number of partitions cannot be negative");
        for (int k = 0; k < n && k < MAX_COGROUP_SIDES; k++) {
                if (rdds[k]->sc != rdds[0]->sc)
                        return error_set(error, -EINVAL, "%s needs RDDs of one context", site.operation);
                types[k] = rdds[k]->type;
        }
        return cogroup_check(mode, site.operation, types, n, type, f, error);
}

/* Partitions all sides by @p. An RDD that is several sides is shuffled once. */
static void cogroup_place_sides(fst_rdd **rdds, int n, struct partitioner *p, fst_site site)
{
        fst_rdd *given[MAX_COGROUP_SIDES];
        memcpy(given, rdds, (size_t)n * sizeof(*rdds));
        for (int k = 0; k < n; k++) {
                int same = 0;
                while (given[same] != given[k])
                        same++;
                rdds[k] = same < k ? rdds[same] : rdd_placed(given[k], p, site);
        }
}

/* Builds a cogroup of @rdds, which are at least one. subtract_by_key uses the left side's partitioner. The others
 * choose one among the sides'. */
static fst_rdd *cogroup_rdd_new(enum cogroup_mode mode, fst_rdd *const *rdds, int n, const fst_fn *f, fst_type type,
                                int partitions, fst_site site)
{
        struct fst_error error = FST_ERROR_INIT;
        struct partitioner hash, *p = NULL;
        fst_rdd *sides[MAX_COGROUP_SIDES];
        int r = 0, room = MIN(n, MAX_COGROUP_SIDES), first = rdd_registry_next_id(rdds[0]->sc);
        bool sound = true;
        memcpy(sides, rdds, (size_t)room * sizeof(*rdds));
        for (int k = 0; k < room; k++)
                sound = sound && !rdds[k]->status;
        if (sound)
                r = cogroup_check_sides(mode, rdds, n, f, type, partitions, site, &error);
        if (sound && r == 0)
                p = mode == COGROUP_SUBTRACT ? rdd_own_partitioner(rdds[0], partitions, &hash)
                                             : rdd_choose_partitioner(rdds, n, partitions, &hash);
        if (p)
                cogroup_place_sides(sides, n, p, site);
        fst_rdd *rdd = rdd_new_of(rdds[0]->sc, RDD_COGROUP, type, sides, room, site);
        if (r)
                rdd_fail_with(rdd, r, &error);
        rdd->cogroup.mode = mode;
        if (cogroup_calls(mode))
                rdd_set_fn(rdd, f);
        rdd_depend_narrowly(rdd, !cogroup_calls(mode));
        return rdd_release_intermediates(rdd, first);
}

/* A new shuffle of a side, which spreads or copies the rows of heavy keys. */
static fst_rdd *skewed_side_new(fst_rdd *rdd, int partitions, enum join_side side, fst_site site)
{
        fst_rdd *moved = rdd_new(rdd->sc, RDD_SHUFFLED, rdd->type, rdd, site);
        partitioner_init_skewed(&moved->shuffle.partitioner, partitions, rdd->type, side);
        rdd_depend_on_shuffle(moved);
        moved->partitioner = NULL; /* rows of one key are in several partitions */
        return moved;
}

/*
 * Builds a join of valid RDDs that spreads heavy keys, which a job before the first one that needs the join finds
 * (driver/actions/skewed_keys.c). Only sides whose rows without a match take part, or are not wanted, can be spread:
 * the copies of the other side's rows would be without a match several times.
 */
static fst_rdd *skewed_join_rdd_new(enum cogroup_mode mode, fst_rdd *left, fst_rdd *right, const fst_fn *f,
                                    fst_type type, int partitions, fst_site site)
{
        static const uint32_t spread[] = {[COGROUP_JOIN] = 1 << JOIN_LEFT | 1 << JOIN_RIGHT,
                                          [COGROUP_LEFT_JOIN] = 1 << JOIN_LEFT,
                                          [COGROUP_RIGHT_JOIN] = 1 << JOIN_RIGHT};
        struct fst_error error = FST_ERROR_INIT;
        struct partitioner hash;
        fst_rdd *given[] = {left, right};
        const int first = rdd_registry_next_id(left->sc);
        const struct partitioner *p = NULL;
        if (cogroup_check_sides(mode, given, 2, f, type, partitions, site, &error) == 0)
                p = rdd_choose_partitioner(given, 2, partitions, &hash);
        error_deinit(&error);
        if (!p || p->partitions < 2) /* the join without heavy keys carries the error, or has nothing to spread */
                return cogroup_rdd_new(mode, given, 2, f, type, partitions, site);
        fst_rdd *sides[] = {skewed_side_new(left, p->partitions, JOIN_LEFT, site),
                            skewed_side_new(right, p->partitions, JOIN_RIGHT, site)};
        fst_rdd *rdd = rdd_new_of(left->sc, RDD_COGROUP, type, sides, 2, site);
        rdd->cogroup.mode = mode;
        rdd->cogroup.spread = spread[mode];
        rdd_set_fn(rdd, f);
        rdd_depend_narrowly(rdd, false);
        return rdd_release_intermediates(rdd, first);
}

static bool join_splits_heavy_keys(const fst_rdd *left, const fst_rdd *right)
{
        struct fst_error error = FST_ERROR_INIT;
        bool splits = false;
        if (conf_get_bool(rdd_registry_conf(left->sc), "spark.firesteel.join.splitHeavyKeys", &splits, &error))
                error_deinit(&error); /* the context has checked it */
        return splits && !left->partitioner && !right->partitioner;
}

/* Without @partitions, a small side may be broadcast. @skewed: heavy keys are spread otherwise. */
static fst_rdd *join_rdd_new(enum cogroup_mode mode, fst_rdd *left, fst_rdd *right, const fst_fn *f, fst_type type,
                             int partitions, bool skewed, fst_site site)
{
        enum join_side small;
        left = rdd_given(left, site);
        right = rdd_given(right, site);
        const bool valid = !left->status && !right->status && left->sc == right->sc;
        if (valid && partitions == 0 && broadcast_join_pays(mode, left, right, &small))
                return broadcast_join_rdd_new(mode, left, right, small, f, type, site);
        if (valid && (skewed || (partitions == 0 && join_splits_heavy_keys(left, right))))
                return skewed_join_rdd_new(mode, left, right, f, type, partitions, site);
        return cogroup_rdd_new(mode, (fst_rdd *[]){left, right}, 2, f, type, partitions, site);
}

FST_API fst_rdd *fst_join_at(fst_rdd *left, fst_rdd *right, fst_fn f, fst_type type, int partitions, fst_site site)
{
        return join_rdd_new(COGROUP_JOIN, left, right, &f, type, partitions, false, site);
}

FST_API fst_rdd *fst_left_outer_join_at(fst_rdd *left, fst_rdd *right, fst_fn f, fst_type type, int partitions,
                                        fst_site site)
{
        return join_rdd_new(COGROUP_LEFT_JOIN, left, right, &f, type, partitions, false, site);
}

FST_API fst_rdd *fst_right_outer_join_at(fst_rdd *left, fst_rdd *right, fst_fn f, fst_type type, int partitions,
                                         fst_site site)
{
        return join_rdd_new(COGROUP_RIGHT_JOIN, left, right, &f, type, partitions, false, site);
}

FST_API fst_rdd *fst_skewed_join_at(fst_rdd *left, fst_rdd *right, fst_fn f, fst_type type, int partitions,
                                    fst_site site)
{
        return join_rdd_new(COGROUP_JOIN, left, right, &f, type, partitions, true, site);
}

FST_API fst_rdd *fst_skewed_left_outer_join_at(fst_rdd *left, fst_rdd *right, fst_fn f, fst_type type, int partitions,
                                               fst_site site)
{
        return join_rdd_new(COGROUP_LEFT_JOIN, left, right, &f, type, partitions, true, site);
}

FST_API fst_rdd *fst_skewed_right_outer_join_at(fst_rdd *left, fst_rdd *right, fst_fn f, fst_type type, int partitions,
                                                fst_site site)
{
        return join_rdd_new(COGROUP_RIGHT_JOIN, left, right, &f, type, partitions, true, site);
}

FST_API fst_rdd *fst_full_outer_join_at(fst_rdd *left, fst_rdd *right, fst_fn f, fst_type type, int partitions,
                                        fst_site site)
{
        left = rdd_given(left, site);
        right = rdd_given(right, site);
        return cogroup_rdd_new(COGROUP_FULL_JOIN, (fst_rdd *[]){left, right}, 2, &f, type, partitions, site);
}

FST_API fst_rdd *fst_cogroup_at(fst_rdd *a, fst_rdd *b, fst_fn f, fst_type type, int partitions, fst_site site)
{
        a = rdd_given(a, site);
        b = rdd_given(b, site);
        return cogroup_rdd_new(COGROUP_GROUPS, (fst_rdd *[]){a, b}, 2, &f, type, partitions, site);
}

FST_API fst_rdd *fst_cogroup_all_at(fst_context *sc, fst_rdd *const *rdds, size_t n, fst_fn f, fst_type type,
                                    int partitions, fst_site site)
{
        fst_rdd *missing = rdd_first_given(rdds, n, site);
        if (missing)
                return missing;
        sc = context_given(sc, site);
        if (n > 0)
                return cogroup_rdd_new(COGROUP_GROUPS, rdds, (int)MIN(n, (size_t)MAX_COGROUP_SIDES + 1), &f, type,
                                       partitions, site);
        fst_rdd *rdd = rdd_new(sc, RDD_COGROUP, type, NULL, site);
        return rdd_fail(rdd, -EINVAL, "a cogroup needs at least one RDD");
}

FST_API fst_rdd *fst_flat_map_groups_at(fst_rdd *pairs, fst_fn f, fst_type type, int partitions, fst_site site)
{
        pairs = rdd_given(pairs, site);
        return cogroup_rdd_new(COGROUP_GROUPS, &pairs, 1, &f, type, partitions, site);
}

FST_API fst_rdd *fst_subtract_by_key_at(fst_rdd *left, fst_rdd *right, int partitions, fst_site site)
{
        left = rdd_given(left, site);
        right = rdd_given(right, site);
        return cogroup_rdd_new(COGROUP_SUBTRACT, (fst_rdd *[]){left, right}, 2, NULL, left->type, partitions, site);
}

FST_API fst_rdd *fst_group_by_key_at(fst_rdd *pairs, int partitions, fst_site site)
{
        pairs = rdd_given(pairs, site);
        return cogroup_rdd_new(COGROUP_LISTS, &pairs, 1, NULL, fst_type_pair(pairs->type, FST_BYTES), partitions, site);
}

/* Without @partitions, uses as many as the rows' partitioner has, but not the partitioner: it places by other keys. */
FST_API fst_rdd *fst_group_by_at(fst_rdd *rows, fst_fn key, fst_type key_type, int partitions, fst_site site)
{
        rows = rdd_given(rows, site);
        struct partitioner hash;
        const struct partitioner *p =
                rows->status || partitions ? NULL : rdd_choose_partitioner(&rows, 1, partitions, &hash);
        int first = rdd_registry_next_id(rows->sc);
        fst_rdd *keyed = rdd_key_by(rows, &key, key_type, site);
        fst_rdd *groups = cogroup_rdd_new(rows->type.value ? COGROUP_ELEMENTS : COGROUP_LISTS, &keyed, 1, NULL,
                                          fst_type_pair(key_type, FST_BYTES), p ? p->partitions : partitions, site);
        return rdd_release_intermediates(groups, first);
}

/* ------------------------------------------------------------------------------------------------ whole rows */

/* Builds intersect or subtract on whole rows, pairs packed into one column: the selected rows of @a. */
static fst_rdd *whole_rows_rdd_new(enum cogroup_mode mode, fst_rdd *a, fst_rdd *b, int partitions, fst_site site)
{
        struct fst_error error = FST_ERROR_INIT;
        char x[64], y[64];
        if (!a->status && !b->status && !fst_type_equal(a->type, b->type)) {
                error_set(&error, -EINVAL, "%s needs RDDs of one type, but the rows are %s and %s", site.operation,
                          fst_type_name(a->type, x), fst_type_name(b->type, y));
                return rdd_fail_with(rdd_new_of(a->sc, RDD_COGROUP, a->type, (fst_rdd *[]){a, b}, 2, site), -EINVAL,
                                     &error);
        }
        int first = rdd_registry_next_id(a->sc);
        fst_rdd *sides[] = {rdd_packed(a, site), a == b ? NULL : rdd_packed(b, site)};
        sides[1] = sides[1] ? sides[1] : sides[0];
        fst_rdd *kept = cogroup_rdd_new(mode, sides, 2, NULL, sides[0]->type, partitions, site);
        kept->partitioner = NULL; /* as in Spark: only pairs have a partitioner */
        return rdd_release_intermediates(rdd_unpacked(kept, a->type, site), first);
}

/* Spark uses whole rows as keys without values: the partitioner of pairs only gives the number of partitions. */
FST_API fst_rdd *fst_subtract_at(fst_rdd *a, fst_rdd *b, int partitions, fst_site site)
{
        a = rdd_given(a, site);
        b = rdd_given(b, site);
        struct partitioner hash;
        const struct partitioner *p = a->status || partitions ? NULL : rdd_own_partitioner(a, 0, &hash);
        return whole_rows_rdd_new(COGROUP_SUBTRACT, a, b, p ? p->partitions : partitions, site);
}

FST_API fst_rdd *fst_intersection_at(fst_rdd *a, fst_rdd *b, int partitions, fst_site site)
{
        a = rdd_given(a, site);
        b = rdd_given(b, site);
        int n = partitions;
        if (n == 0 && !a->status && !b->status && !rdd_plan(a) && !rdd_plan(b)) {
                int set = rdd_parallelism_set(a->sc), most = MAX(a->lineage.partitions, b->lineage.partitions);
                n = set ? set : MAX(1, most);
        }
        return whole_rows_rdd_new(COGROUP_INTERSECT, a, b, n, site);
}

/* ------------------------------------------------------------------------------------------------- the class */

static int cogroup_sides_of(const fst_rdd *rdd, fst_type *types)
{
        for (int k = 0; k < rdd->n_parents && k < MAX_COGROUP_SIDES; k++)
                types[k] = rdd->parents[k]->type;
        return rdd->n_parents;
}

static int cogroup_encode(struct rdd_wire_writer *w, const fst_rdd *rdd, Firesteel__Rdd *m, struct fst_error *error)
{
        m->cogroup = (uint32_t)rdd->cogroup.mode;
        return 0;
}

static int cogroup_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd,
                          struct fst_error *error)
{
        fst_type types[MAX_COGROUP_SIDES];
        if (m->cogroup >= COGROUP_MODES)
                return rdd_wire_bad(rdd, error, "its cogroup mode is unknown");
        rdd->cogroup.mode = (int)m->cogroup;
        if (cogroup_calls(m->cogroup)) {
                int r = m->function ? reader->function(reader, m->function, &rdd->fn, error)
                                    : rdd_wire_bad(rdd, error, "its function is missing");
                if (r)
                        return r;
        }
        int r = rdd_wire_check_partitions(rdd, error), n = cogroup_sides_of(rdd, types);
        return r ? r
                 : rdd_wire_bad_with(rdd,
                                     cogroup_check((enum cogroup_mode)m->cogroup, rdd->site.operation, types, n,
                                                   rdd->type, &rdd->fn, error),
                                     error);
}

static struct op *cogroup_new(const fst_rdd *rdd, struct task_run *run)
{
        fst_type types[MAX_COGROUP_SIDES];
        int n = cogroup_sides_of(rdd, types);
        return cogroup_op_new(run, (enum cogroup_mode)rdd->cogroup.mode, types, n, rdd->type, &rdd->fn);
}

static int cogroup_feed_side(struct pipeline_node *node, enum join_side side, int partition, struct op *to)
{
        int r = op_begin(to);
        return r ? r : node_feed_parent(node, side, partition, to);
}

/*
 * The rows of the other side than @built follow and may stream. Cached rows stream rather than others: they need no
 * memory to be made.
 */
static int cogroup_feed_stream(struct pipeline_node *node, enum join_side built, int partition)
{
        struct op *other;
        int r = cogroup_feed_side(node, built, partition, cogroup_op_side(node->op, built));
        if (r == 0)
                r = cogroup_op_stream(node->op, built, &other);
        return r ? r : cogroup_feed_side(node, !built, partition, other);
}

static bool cogroup_parent_is_cached(const struct pipeline_node *node, enum join_side side)
{
        return node->rdd->parents[side]->lineage.storage_level != 0;
}

static int cogroup_feed(struct pipeline_node *node, int partition, struct op *to)
{
        int r = 0;
        const bool cached_right = node->rdd->n_parents == 2 && cogroup_parent_is_cached(node, JOIN_RIGHT) &&
                                  !cogroup_parent_is_cached(node, JOIN_LEFT);
        if (cached_right && cogroup_op_can_stream(node->op, JOIN_LEFT))
                return cogroup_feed_stream(node, JOIN_LEFT, partition);
        if (cogroup_op_can_stream(node->op, JOIN_RIGHT))
                return cogroup_feed_stream(node, JOIN_RIGHT, partition);
        for (int k = 0; k < node->rdd->n_parents && r == 0; k++) {
                struct op *side = cogroup_op_side(node->op, k);
                r = op_begin(side);
                if (r == 0)
                        r = node_feed_parent(node, k, partition, side);
        }
        return r;
}

const struct rdd_class rdd_cogroup_class = {
        .spark = "CoGroupedRDD",
        .parents = RDD_ANY_PARENTS,
        .chooses_keys = true,
        .encode = cogroup_encode,
        .decode = cogroup_decode,
        .op_new = cogroup_new,
        .feed = cogroup_feed,
};
