/*
 * Decodes lineage from messages; see rdd_wire.h.
 *
 * All nodes are allocated in the reader's memory, which has a cap, and refer to strings and bytes of the messages
 * there. Operators trust lineage. Therefore a decoded node passes the checks of fst_map and the like, and a few more
 * that building a node makes unnecessary.
 */
#include "rdd/rdd_wire_class.h"

#include "rdd/struct_wire.h"
#include "store/storage_level.h"

#include <limits.h>

/* Limit of an RDD's partitions: a structure sized by them (a shuffle writer has a page for each) stays a fraction of a
 * task's memory. */
#define MAX_PARTITIONS (1 << 24)

int rdd_wire_too_big(struct fst_error *error)
{
        return error_set(error, -E2BIG, "it needs more memory than a message of its size may take");
}

int rdd_wire_bad(const fst_rdd *rdd, struct fst_error *error, const char *what)
{
        return error_set(error, -EBADMSG, "RDD %d (%s): %s", rdd->lineage.id, rdd->call_site, what);
}

static bool rdd_wire_read_none(const char *text)
{
        return !text || !*text;
}

/* ------------------------------------------------------------------------------------------------------- the type */

/* The size of a column: of FIXED @fixed, of BYTES the number of @structs, which NULL does not have. */
static int rdd_wire_kind_size(uint8_t kind, uint32_t fixed, const Firesteel__StructType *structs, uint32_t *size,
                              struct fst_error *error)
{
        *size = kind == FST_KIND_FIXED ? fixed : kind == FST_KIND_I64 || kind == FST_KIND_F64 ? 8 : 0;
        return kind == FST_KIND_BYTES ? struct_wire_decode(structs, size, error) : 0;
}

int rdd_wire_read_type(const fst_rdd *rdd, uint32_t kinds, uint32_t key_size, uint32_t value_size,
                       const Firesteel__StructType *key_struct, const Firesteel__StructType *value_struct,
                       fst_type *type, struct fst_error *error)
{
        *type = (fst_type){.key = (uint8_t)kinds, .value = (uint8_t)(kinds >> 8)};
        if (kinds > 0xffff)
                return rdd_wire_bad(rdd, error, "its type is unknown");
        int r = rdd_wire_kind_size(type->key, key_size, key_struct, &type->key_size, error);
        if (r == 0)
                r = rdd_wire_kind_size(type->value, value_size, value_struct, &type->value_size, error);
        if (r == 0)
                r = fst_type_check(*type, error);
        return r ? error_wrap(error, -EBADMSG, "RDD %d (%s)", rdd->lineage.id, rdd->call_site) : 0;
}

/* ------------------------------------------------------------------------------------------ checks for classes */

int rdd_wire_depend_on(struct rdd_wire_reader *reader, fst_rdd *rdd, int shuffle_id, int partitions,
                       struct fst_error *error)
{
        struct lineage_dep *dep = wire_array(reader->memory, 1, sizeof(*dep));
        if (!dep)
                return rdd_wire_too_big(error);
        *dep = (struct lineage_dep){.kind = LINEAGE_SHUFFLE,
                                    .child = &rdd->lineage,
                                    .shuffle_id = shuffle_id,
                                    .reduce_partitions = partitions};
        rdd->shuffle.id = shuffle_id;
        rdd->lineage.deps = dep;
        rdd->lineage.n_deps = 1;
        return 0;
}

int rdd_wire_bad_with(const fst_rdd *rdd, int r, struct fst_error *error)
{
        return r ? error_wrap(error, -EBADMSG, "RDD %d (%s)", rdd->lineage.id, rdd->call_site) : 0;
}

int rdd_wire_check_type(const fst_rdd *rdd, struct fst_error *error)
{
        return fst_type_equal(rdd->type, rdd_parent(rdd)->type)
                       ? 0
                       : rdd_wire_bad(rdd, error, "its type is not its parent's");
}

int rdd_wire_check_partitions(const fst_rdd *rdd, struct fst_error *error)
{
        for (int i = 0; i < rdd->n_parents; i++)
                if (rdd->parents[i]->lineage.partitions != rdd->lineage.partitions)
                        return rdd_wire_bad(rdd, error,
                                            rdd->n_parents == 1 ? "its partitions do not match its parent's"
                                                                : "its partitions do not match its parents'");
        return 0;
}

int rdd_wire_check_element(const fst_rdd *rdd, enum element_kind kind, fst_type out, struct fst_error *error)
{
        int r = rdd_wire_check_partitions(rdd, error);
        return r ? r : rdd_wire_bad_with(rdd, element_check(kind, rdd_parent(rdd)->type, out, &rdd->fn, error), error);
}

/* ------------------------------------------------------------------------------------------------------ one node */

static bool rdd_wire_parents_fit(const struct rdd_class *class, size_t n)
{
        return class->parents == RDD_ANY_PARENTS ? n > 0 || class == &rdd_union_class : n == (size_t) class->parents;
}

static int rdd_wire_read_node(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdds, size_t index,
                              struct fst_error *error)
{
        fst_rdd *rdd = &rdds[index];
        rdd->lineage.id = m->id;
        rdd->lineage.partitions = m->partitions;
        rdd->lineage.storage_level = m->storage_level;
        rdd->call_site = m->call_site;
        rdd->lineage.call_site = m->call_site;
        rdd->site.operation = m->operation;
        rdd->name = rdd_wire_read_none(m->name) ? NULL : m->name;
        rdd->lineage.name = rdd->name ? rdd->name : m->operation;
        rdd->planned = true;
        rdd->op = (enum rdd_op)m->op;
        rdd->class = rdd_class_of((int)m->op);
        if (!rdd->class)
                return rdd_wire_bad(rdd, error, "its operator is unknown");
        if (m->partitions < 0 || m->partitions > MAX_PARTITIONS || !storage_level_valid(m->storage_level))
                return rdd_wire_bad(rdd, error, "its number of partitions or storage level is invalid");
        if (!rdd_wire_parents_fit(rdd->class, m->n_parents))
                return rdd_wire_bad(rdd, error, "it has the wrong number of parents for its operator");
        rdd->parents = wire_array(reader->memory, m->n_parents, sizeof(*rdd->parents));
        rdd->n_parents = (int)m->n_parents;
        if (!rdd->parents)
                return rdd_wire_too_big(error);
        for (size_t i = 0; i < m->n_parents; i++) {
                if (m->parents[i] >= index)
                        return rdd_wire_bad(rdd, error, "its parent does not precede it");
                rdd->parents[i] = &rdds[m->parents[i]];
        }
        int r = rdd_wire_read_type(rdd, m->kinds, m->key_size, m->value_size, m->key_struct, m->value_struct,
                                   &rdd->type, error);
        bool combines = rdd->op == RDD_SHUFFLED && m->shuffle && m->shuffle->combine;
        if (r == 0 && (rdd->class->wants_function || combines))
                r = m->function ? reader->function(reader, m->function, &rdd->fn, error)
                                : rdd_wire_bad(rdd, error, "its function is missing");
        return r ? r : rdd->class->decode(reader, m, rdd, error);
}

int rdd_wire_decode(struct rdd_wire_reader *reader, struct Firesteel__Rdd *const *messages, size_t n,
                    const fst_rdd **final, struct fst_error *error)
{
        if (n == 0)
                return error_set(error, -EBADMSG, "the list of RDDs is empty");
        fst_rdd *rdds = wire_array(reader->memory, n, sizeof(*rdds));
        if (!rdds)
                return rdd_wire_too_big(error);
        for (size_t i = 0; i < n; i++) {
                int r = rdd_wire_read_node(reader, messages[i], rdds, i, error);
                if (r)
                        return r;
        }
        *final = &rdds[n - 1];
        return 0;
}

/* ------------------------------------------------------------------------------------------------------ shuffles */

static int rdd_wire_read_bounds(struct rdd_wire_reader *reader, const Firesteel__ShuffleWrite *m, fst_rdd *rdd,
                                struct fst_error *error)
{
        struct partitioner *p = &rdd->shuffle.partitioner;
        bool whole = rdd->type.key == FST_KIND_BYTES || rdd->type.key == FST_KIND_FIXED;
        size_t n = whole ? m->n_bound_lengths : m->n_prefixes, at = 0;
        if (n >= (size_t)m->partitions)
                return rdd_wire_bad(rdd, error, "it has too many bounds for its partitions");
        p->n_bounds = (int)n;
        p->prefixes = m->prefixes;
        p->ready = true;
        if (!whole)
                return 0;
        p->prefixes = wire_array(reader->memory, n + 1, sizeof(*p->prefixes));
        p->bounds = wire_array(reader->memory, n + 1, sizeof(*p->bounds));
        if (!p->prefixes || !p->bounds)
                return rdd_wire_too_big(error);
        for (size_t i = 0; i < n; i++) {
                size_t len = m->bound_lengths[i];
                if (len > m->bounds.len - at || (rdd->type.key == FST_KIND_FIXED && len != rdd->type.key_size))
                        return rdd_wire_bad(rdd, error, "a bound has the wrong length");
                p->bounds[i] = len ? (fst_bytes){(const char *)m->bounds.data + at, len} : fst_bytes_of("");
                fst_column column = {.bytes = &p->bounds[i]};
                p->prefixes[i] = key_prefix(FST_BYTES, column, 0);
                at += len;
        }
        return 0;
}

static int rdd_wire_read_heavy_keys(struct rdd_wire_reader *reader, const Firesteel__ShuffleWrite *m, fst_rdd *rdd,
                                    struct fst_error *error)
{
        struct partitioner *p = &rdd->shuffle.partitioner;
        struct heavy_keys *heavy = &p->heavy;
        const uint32_t partitions = (uint32_t)m->partitions;
        const size_t n = m->n_heavy_keys;
        if (m->side > JOIN_RIGHT || n > MAX_HEAVY_KEYS(partitions))
                return rdd_wire_bad(rdd, error, "it has too many heavy keys, or an unknown side");
        partitioner_init_skewed(p, m->partitions, rdd->type, (enum join_side)m->side);
        heavy->n = (uint32_t)n;
        heavy->keys = wire_array(reader->memory, n + 1, sizeof(*heavy->keys));
        heavy->slots = wire_array(reader->memory, heavy_keys_slots(n), sizeof(*heavy->slots));
        if (!heavy->keys || !heavy->slots)
                return rdd_wire_too_big(error);
        for (size_t i = 0; i < n; i++) {
                const Firesteel__HeavyKey *key = m->heavy_keys[i];
                if (key->parts < 2 || key->parts > partitions || key->start >= partitions || key->spread > JOIN_RIGHT ||
                    (i && key->hash <= heavy->keys[i - 1].hash))
                        return rdd_wire_bad(rdd, error, "a heavy key is invalid");
                heavy->keys[i] = (struct heavy_key){key->hash, key->start, key->parts, (enum join_side)key->spread};
        }
        heavy_keys_index(heavy);
        p->ready = true;
        return rdd->type.value ? 0 : rdd_wire_bad(rdd, error, "its partitioner needs pairs");
}

static int rdd_wire_read_partitioner(struct rdd_wire_reader *reader, const Firesteel__ShuffleWrite *m, fst_rdd *rdd,
                                     struct fst_error *error)
{
        struct partitioner *p = &rdd->shuffle.partitioner;
        fst_fn place;
        int r;
        switch (m->placed) {
        case PARTITIONER_HASH:
                partitioner_init_hash(p, m->partitions, rdd->type);
                return 0;
        case PARTITIONER_RANGE:
                partitioner_init_range(p, m->partitions, rdd->type, m->descending ? FST_DESCENDING : FST_ASCENDING);
                return rdd_wire_read_bounds(reader, m, rdd, error);
        case PARTITIONER_FUNCTION:
                r = m->place ? reader->function(reader, m->place, &place, error)
                             : rdd_wire_bad(rdd, error, "its function is missing");
                if (r)
                        return r;
                partitioner_init_function(p, m->partitions, rdd->type, &place);
                return rdd_wire_bad_with(rdd, partitioner_check_function(rdd->type, &place, error), error);
        case PARTITIONER_MODULO:
                partitioner_init_modulo(p, m->partitions, 0);
                return rdd->type.key == FST_KIND_I64 && rdd->type.value
                               ? 0
                               : rdd_wire_bad(rdd, error, "its partitioner needs I64 keys");
        case PARTITIONER_SKEWED:
                return rdd_wire_read_heavy_keys(reader, m, rdd, error);
        case PARTITIONER_ROUND_ROBIN:
                partitioner_init_round_robin(p, m->partitions);
                return 0;
        default:
                return rdd_wire_bad(rdd, error, "its partitioner is unknown");
        }
}

int rdd_wire_decode_shuffle(struct rdd_wire_reader *reader, const struct Firesteel__ShuffleWrite *m, fst_type type,
                            const fst_rdd **shuffled, struct fst_error *error)
{
        fst_rdd *rdd = wire_array(reader->memory, 1, sizeof(*rdd));
        if (!rdd)
                return rdd_wire_too_big(error);
        rdd->lineage.id = m->rdd;
        rdd->lineage.partitions = m->partitions;
        rdd->lineage.name = rdd->lineage.call_site = rdd->call_site = m->call_site;
        rdd->site.operation = m->call_site;
        rdd->op = RDD_SHUFFLED;
        rdd->class = rdd_class_of(RDD_SHUFFLED);
        rdd->type = type;
        rdd->planned = true;
        rdd->shuffle.combine = m->combine;
        if (m->partitions < 1 || m->partitions > MAX_PARTITIONS)
                return rdd_wire_bad(rdd, error, "a shuffle has an invalid number of partitions");
        int r = rdd_wire_read_partitioner(reader, m, rdd, error);
        if (r == 0 && m->combine && m->placed != PARTITIONER_HASH)
                r = rdd_wire_bad(rdd, error, "combined rows need a hash partitioner");
        if (r == 0 && m->combine)
                r = m->function ? reader->function(reader, m->function, &rdd->fn, error)
                                : rdd_wire_bad(rdd, error, "its function is missing");
        if (r == 0 && m->combine && m->combiner)
                r = rdd_wire_decode_values(reader, m->combiner, type, rdd, error);
        if (r == 0 && m->combine)
                r = rdd_wire_check_combine(rdd, error);
        if (r == 0)
                r = rdd_wire_depend_on(reader, rdd, m->shuffle, m->partitions, error);
        if (r == 0)
                *shuffled = rdd;
        return r;
}
