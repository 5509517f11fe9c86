/*
 * Broadcast joins: joins of an RDD with a small one, without a shuffle.
 *
 * The node has two parents, but depends only on the large one, its first. A job before the first one that needs the
 * node collects the rows of the small one (driver/actions/broadcast_rows.c).
 *
 * Differs from Spark: its RDDs have no such join. Spark SQL has.
 */
#include "rdd/operators/rdd_broadcast_join.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "rdd/cogroup/op_broadcast_join.h"
#include "rdd/known_size.h"
#include "rdd/rdd_build.h"
#include "rdd/rdd_registry.h"
#include "rdd/rdd_wire_class.h"
#include "rdd/struct_wire.h"

#include <firesteel/pair.h>

/* ---------------------------------------------------------------------------------------------------- building */

static int broadcast_join_check(enum cogroup_mode mode, const fst_rdd *left, const fst_rdd *right, const fst_fn *f,
                                fst_type type, fst_site site, struct fst_error *error)
{
        if (left->sc != right->sc)
                return error_set(error, -EINVAL, "%s needs RDDs of one context", site.operation);
        return cogroup_check(mode, site.operation, (fst_type[]){left->type, right->type}, 2, type, f, error);
}

fst_rdd *broadcast_join_rdd_new(enum cogroup_mode mode, fst_rdd *left, fst_rdd *right, enum join_side small,
                                const fst_fn *f, fst_type type, fst_site site)
{
        struct fst_error error = FST_ERROR_INIT;
        fst_rdd *parents[] = {small == JOIN_RIGHT ? left : right, small == JOIN_RIGHT ? right : left};
        int r = left->status || right->status ? 0 : broadcast_join_check(mode, left, right, f, type, site, &error);
        fst_rdd *rdd = rdd_new_of(left->sc, RDD_BROADCAST_JOIN, type, parents, 2, site);
        if (r)
                rdd_fail_with(rdd, r, &error);
        rdd->broadcast_join.mode = mode;
        rdd->broadcast_join.small = (struct broadcast_side){.side = small, .type = parents[1]->type};
        rdd_set_fn(rdd, f);
        rdd_depend_narrowly(rdd, false);
        rdd->lineage.n_deps = 1;
        return rdd;
}

/* The most bytes that a side is broadcast with, unasked: half of what a job may return, because tasks count more than
 * their rows. The context has checked the keys. */
static int64_t broadcast_join_limit(const struct fst_conf *conf)
{
        struct fst_error error = FST_ERROR_INIT;
        int64_t threshold = 0, max_result = 0;
        if (conf_get_bytes(conf, "spark.firesteel.join.broadcastThreshold", &threshold, &error) ||
            conf_get_bytes(conf, "spark.driver.maxResultSize", &max_result, &error)) {
                error_deinit(&error);
                return 0;
        }
        return max_result ? MIN(threshold, max_result / 2) : threshold;
}

bool broadcast_join_pays(enum cogroup_mode mode, const fst_rdd *left, const fst_rdd *right, enum join_side *small)
{
        const int64_t limit = broadcast_join_limit(rdd_registry_conf(left->sc));
        const int64_t bytes[] = {rdd_known_size(left).bytes, rdd_known_size(right).bytes};
        const fst_rdd *const sides[] = {left, right};
        *small = bytes[JOIN_LEFT] < bytes[JOIN_RIGHT] ? JOIN_LEFT : JOIN_RIGHT;
        if (!broadcast_join_fits(mode, *small))
                *small = !*small;
        return limit > 0 && broadcast_join_fits(mode, *small) && bytes[*small] <= limit && bytes[!*small] > limit &&
               !sides[!*small]->partitioner;
}

FST_API fst_rdd *fst_broadcast_join_at(fst_rdd *left, fst_rdd *small, fst_fn f, fst_type type, fst_site site)
{
        left = rdd_given(left, site);
        small = rdd_given(small, site);
        return broadcast_join_rdd_new(COGROUP_JOIN, left, small, JOIN_RIGHT, &f, type, site);
}

FST_API fst_rdd *fst_broadcast_left_outer_join_at(fst_rdd *left, fst_rdd *small, fst_fn f, fst_type type, fst_site site)
{
        left = rdd_given(left, site);
        small = rdd_given(small, site);
        return broadcast_join_rdd_new(COGROUP_LEFT_JOIN, left, small, JOIN_RIGHT, &f, type, site);
}

/* ------------------------------------------------------------------------------------------------- on the wire */

static int broadcast_join_encode(struct rdd_wire_writer *w, const fst_rdd *rdd, Firesteel__Rdd *message,
                                 struct fst_error *error)
{
        const struct broadcast_side *small = &rdd->broadcast_join.small;
        if (!__atomic_load_n(&rdd->broadcast_join.ready, __ATOMIC_ACQUIRE))
                return error_set(error, -EINVAL, "the small side of %s is not collected yet", rdd->call_site);
        Firesteel__BroadcastJoin *m = arena_alloc(&w->arena, sizeof(*m));
        firesteel__broadcast_join__init(m);
        m->mode = (uint32_t)rdd->broadcast_join.mode;
        m->side = small->side;
        m->kinds = (uint32_t)small->type.key | (uint32_t)small->type.value << 8;
        m->key_size = small->type.key == FST_KIND_FIXED ? small->type.key_size : 0;
        m->value_size = small->type.value == FST_KIND_FIXED ? small->type.value_size : 0;
        m->key_struct = struct_wire_encode(&w->arena, small->type.key, small->type.key_size);
        m->value_struct = struct_wire_encode(&w->arena, small->type.value, small->type.value_size);
        m->rows = small->rows;
        m->variable = small->variable;
        m->size = small->size;
        message->broadcast_join = m;
        return 0;
}

static int broadcast_join_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *message, fst_rdd *rdd,
                                 struct fst_error *error)
{
        const Firesteel__BroadcastJoin *m = message->broadcast_join;
        if (!m || m->side > JOIN_RIGHT || m->mode >= COGROUP_MODES ||
            !broadcast_join_fits((enum cogroup_mode)m->mode, (enum join_side)m->side))
                return rdd_wire_bad(rdd, error, "its join is unknown");
        if (m->rows > MAX_BROADCAST_ROWS || m->size > INT64_MAX || (m->rows > 0) != (m->variable > 0))
                return rdd_wire_bad(rdd, error, "its small side has an invalid size");
        struct broadcast_side *small = &rdd->broadcast_join.small;
        *small = (struct broadcast_side){
                .side = (enum join_side)m->side, .rows = m->rows, .variable = m->variable, .size = m->size};
        rdd->broadcast_join.mode = (int)m->mode;
        int r = rdd_wire_read_type(rdd, m->kinds, m->key_size, m->value_size, m->key_struct, m->value_struct,
                                   &small->type, error);
        if (r == 0)
                r = rdd_wire_check_partitions(rdd, error);
        if (r)
                return r;
        fst_type large = rdd_parent(rdd)->type;
        const fst_type sides[] = {m->side == JOIN_LEFT ? small->type : large,
                                  m->side == JOIN_LEFT ? large : small->type};
        return rdd_wire_bad_with(
                rdd,
                cogroup_check((enum cogroup_mode)m->mode, rdd->site.operation, sides, 2, rdd->type, &rdd->fn, error),
                error);
}

/* ---------------------------------------------------------------------------------------------------- in tasks */

static struct op *broadcast_join_new(const fst_rdd *rdd, struct task_run *run)
{
        return broadcast_join_op_new(run, (enum cogroup_mode)rdd->broadcast_join.mode, rdd_parent(rdd)->type,
                                     &rdd->broadcast_join.small, rdd->type, &rdd->fn);
}

const struct rdd_class rdd_broadcast_join_class = {
        .spark = "MapPartitionsRDD",
        .parents = 1,
        .wants_function = true,
        .chooses_keys = true,
        .encode = broadcast_join_encode,
        .decode = broadcast_join_decode,
        .op_new = broadcast_join_new,
};
