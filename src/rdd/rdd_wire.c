/*
 * Encodes lineage into messages; see rdd_wire.h. rdd_wire_read.c decodes them.
 *
 * Nodes are listed parents first, so the decoder knows every parent before its child and a node cannot be its own
 * ancestor. A node with several paths is listed once.
 */
#include "rdd/rdd_wire_class.h"

#include "base/mem.h"
#include "rdd/struct_wire.h"
#include "rdd/rdd_visit.h"

/* ------------------------------------------------------------------------------------------------------ one node */

static bool rdd_wire_has_function(const fst_rdd *rdd)
{
        return FST_SHAPE_FORM(rdd->fn.shape) != FST_FORM_NONE;
}

static int rdd_wire_encode_node(struct rdd_wire_writer *w, const fst_rdd *rdd, bool checkpointed, Firesteel__Rdd *m,
                                struct fst_error *error)
{
        fst_type type = rdd->type;
        m->id = rdd->lineage.id;
        m->op = checkpointed ? FIRESTEEL__OPERATOR__CHECKPOINTED : (Firesteel__Operator)rdd->op;
        m->kinds = (uint32_t)type.key | (uint32_t)type.value << 8;
        m->key_size = type.key == FST_KIND_FIXED ? type.key_size : 0;
        m->value_size = type.value == FST_KIND_FIXED ? type.value_size : 0;
        m->key_struct = struct_wire_encode(&w->arena, type.key, type.key_size);
        m->value_struct = struct_wire_encode(&w->arena, type.value, type.value_size);
        m->partitions = rdd->lineage.partitions;
        m->storage_level = __atomic_load_n(&rdd->lineage.storage_level, __ATOMIC_RELAXED);
        m->operation = rdd_wire_text(rdd->site.operation);
        m->call_site = rdd_wire_text(rdd->call_site);
        m->name = rdd_wire_text(__atomic_load_n(&rdd->name, __ATOMIC_ACQUIRE));
        if (checkpointed)
                return 0;
        if (rdd->class->encode) {
                int r = rdd->class->encode(w, rdd, m, error);
                if (r)
                        return r;
        }
        int r = rdd_wire_has_function(rdd) ? w->function(w, &rdd->fn, &m->function, error) : 0;
        return r ? error_wrap(error, r, "%s", rdd->call_site) : 0;
}

/* Encodes the parents computed in the same task. Those behind a shuffle are not. */
static void rdd_wire_encode_parents(struct rdd_wire_writer *w, const struct rdd_visit *walk, uint32_t i,
                                    Firesteel__Rdd *m)
{
        int n;
        fst_rdd *const *parents = rdd_visit_parents(walk, i, &n);
        m->n_parents = (size_t)n;
        m->parents = arena_alloc(&w->arena, m->n_parents * sizeof(*m->parents));
        for (int k = 0; k < n; k++)
                m->parents[k] = rdd_visit_index(walk, parents[k]);
}

int rdd_wire_encode(struct rdd_wire_writer *w, const fst_rdd *final, struct Firesteel__Rdd ***rdds, size_t *n,
                    struct fst_error *error)
{
        struct rdd_visit walk;
        int r = 0;
        rdd_visit_init(&walk, (fst_rdd *) final, RDD_VISIT_STAGE);
        Firesteel__Rdd *all = arena_alloc(&w->arena, walk.n * sizeof(*all));
        Firesteel__Rdd **list = arena_alloc(&w->arena, walk.n * sizeof(*list));
        for (uint32_t i = 0; i < walk.n && r == 0; i++) {
                list[i] = &all[i];
                firesteel__rdd__init(list[i]);
                rdd_wire_encode_parents(w, &walk, i, list[i]);
                r = rdd_wire_encode_node(w, walk.rdds[i], walk.sources[i] != NULL, list[i], error);
        }
        if (r == 0) {
                *rdds = list;
                *n = walk.n;
        }
        rdd_visit_deinit(&walk);
        return r;
}

/* -------------------------------------------------------------------------------------------------------- shuffles */

static void rdd_wire_encode_bounds(struct rdd_wire_writer *w, const struct partitioner *p, Firesteel__ShuffleWrite *m)
{
        size_t n = (size_t)p->n_bounds, total = 0;
        if (!p->bounds) {
                m->n_prefixes = n;
                m->prefixes = p->prefixes;
                return;
        }
        m->n_bound_lengths = n;
        m->bound_lengths = arena_alloc(&w->arena, n * sizeof(*m->bound_lengths));
        for (size_t i = 0; i < n; i++) {
                m->bound_lengths[i] = (uint32_t)p->bounds[i].len;
                total += p->bounds[i].len;
        }
        m->bounds.data = arena_alloc(&w->arena, total);
        for (size_t i = 0; i < n; i++) {
                if (p->bounds[i].len)
                        memcpy(m->bounds.data + m->bounds.len, p->bounds[i].data, p->bounds[i].len);
                m->bounds.len += p->bounds[i].len;
        }
}

static void rdd_wire_encode_heavy_keys(struct rdd_wire_writer *w, const struct partitioner *p,
                                       Firesteel__ShuffleWrite *m)
{
        m->side = p->side;
        m->n_heavy_keys = p->heavy.n;
        m->heavy_keys = arena_alloc(&w->arena, p->heavy.n * sizeof(*m->heavy_keys));
        Firesteel__HeavyKey *keys = arena_alloc(&w->arena, p->heavy.n * sizeof(*keys));
        for (uint32_t i = 0; i < p->heavy.n; i++) {
                const struct heavy_key *key = &p->heavy.keys[i];
                firesteel__heavy_key__init(&keys[i]);
                keys[i].hash = key->hash;
                keys[i].start = key->start;
                keys[i].parts = key->parts;
                keys[i].spread = key->spread;
                m->heavy_keys[i] = &keys[i];
        }
}

int rdd_wire_encode_shuffle(struct rdd_wire_writer *w, const fst_rdd *shuffled, struct Firesteel__ShuffleWrite **out,
                            struct fst_error *error)
{
        Firesteel__ShuffleWrite *m = arena_alloc(&w->arena, sizeof(*m));
        const struct partitioner *p = &shuffled->shuffle.partitioner;
        firesteel__shuffle_write__init(m);
        m->rdd = shuffled->lineage.id;
        m->shuffle = shuffled->shuffle.id;
        m->partitions = p->partitions;
        m->combine = shuffled->shuffle.combine;
        m->placed = p->kind;
        m->descending = p->order == FST_DESCENDING;
        m->call_site = rdd_wire_text(shuffled->call_site);
        if (p->kind == PARTITIONER_RANGE) {
                if (!partitioner_ready(p))
                        return error_set(error, -EINVAL, "the bounds of %s are not known yet", shuffled->call_site);
                rdd_wire_encode_bounds(w, p, m);
        }
        if (p->kind == PARTITIONER_SKEWED) {
                if (!partitioner_ready(p))
                        return error_set(error, -EINVAL, "the heavy keys of %s are not known yet", shuffled->call_site);
                rdd_wire_encode_heavy_keys(w, p, m);
        }
        int r = m->combine ? w->function(w, &shuffled->fn, &m->function, error) : 0;
        if (r == 0 && p->kind == PARTITIONER_FUNCTION)
                r = w->function(w, &p->fn, &m->place, error);
        if (r)
                return error_wrap(error, r, "%s", shuffled->call_site);
        if (r == 0 && m->combine && shuffled->values)
                r = rdd_wire_encode_values(w, shuffled, &m->combiner, error);
        if (r == 0)
                *out = m;
        return r;
}
