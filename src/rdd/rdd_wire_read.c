/*
 * Lineage as messages: reading; see rdd_wire.h.
 *
 * Everything is made in the reader's memory, which has a cap, and refers to strings and bytes of the messages in it.
 * Operators trust lineage: a node is handed on only after the checks that fst_map and the like make, and a few that
 * building makes needless.
 */
#include "rdd/rdd_wire.h"

#include "base/mem.h"
#include "rdd/op.h"
#include "rdd/op_combine.h"
#include "rdd/op_element.h"
#include "rdd/op_join.h"
#include "rdd/op_key.h"
#include "rdd/slice.h"
#include "rpc/stage.pb-c.h"
#include "store/storage_level.h"

#include <limits.h>

/* Of an RDD: what is sized by it (a shuffle's writer has a page for each) stays a fraction of a task's memory. */
#define PARTITIONS_MOST (1 << 24)

int rdd_wire_too_big(struct fst_error *error)
{
        return error_set(error, -E2BIG, "it asks for more memory than a message of its size may");
}

static int bad(const fst_rdd *rdd, struct fst_error *error, const char *what)
{
        return error_set(error, -EBADMSG, "RDD %d (%s): %s", rdd->lineage.id, rdd->call_site, what);
}

static bool none(const char *text)
{
        return !text || !*text;
}

/* ------------------------------------------------------------------------------------------------------- the type */

static uint32_t size_of_kind(uint8_t kind, uint32_t fixed)
{
        return kind == FST_KIND_FIXED ? fixed : kind == FST_KIND_I64 || kind == FST_KIND_F64 ? 8 : 0;
}

static int read_type(const Firesteel__Rdd *m, fst_rdd *rdd, struct fst_error *error)
{
        fst_type type = {.key = (uint8_t)m->kinds, .value = (uint8_t)(m->kinds >> 8)};
        if (m->kinds > 0xffff)
                return bad(rdd, error, "it has a type that there is not");
        type.key_size = size_of_kind(type.key, m->key_size);
        type.value_size = size_of_kind(type.value, m->value_size);
        rdd->type = type;
        int r = fst_type_check(type, error);
        return r ? error_wrap(error, -EBADMSG, "RDD %d (%s)", rdd->lineage.id, rdd->call_site) : 0;
}

/* ------------------------------------------------------------------------------------------------------ sources */

static int read_text(struct rdd_wire_reader *reader, const Firesteel__TextSplits *m, fst_rdd *rdd,
                     struct fst_error *error)
{
        size_t n = (size_t)rdd->lineage.partitions, path = 0;
        if (!m || m->n_path != n || m->n_start != n || m->n_length != n || (m->n_codec && m->n_codec != n))
                return bad(rdd, error, "it has not one split for each partition");
        if (rdd->type.key != FST_KIND_BYTES || rdd->type.value)
                return bad(rdd, error, "lines of text are BYTES");
        struct input_split *splits = wire_array(reader->memory, n, sizeof(*splits));
        if (!splits)
                return rdd_wire_too_big(error);
        uint64_t total = 0;
        for (size_t i = 0; i < n; i++) {
                const struct input_split *before = i ? &splits[i - 1] : NULL;
                path += m->path[i];
                if (path >= m->n_paths || (m->n_codec && m->codec[i] > CODEC_GZIP))
                        return bad(rdd, error, "a split is of no file, or of no codec");
                bool same = before && m->path[i] == 0;
                splits[i].path = m->paths[path];
                splits[i].start = (uint64_t)m->start[i] + (same ? before->start + before->length : 0);
                splits[i].length = (uint64_t)m->length[i] + (before ? before->length : 0);
                splits[i].codec = m->n_codec ? (enum codec_kind)m->codec[i] : CODEC_NONE;
                if (splits[i].start > INT64_MAX || splits[i].length > INT64_MAX - splits[i].start)
                        return bad(rdd, error, "a split lies outside of any file");
                total += splits[i].length;
        }
        rdd->text.splits = (struct input_splits){.data = splits, .len = n, .cap = n, .bytes = total};
        return 0;
}

/* Rows that came with the stage, as parallelize keeps them. */
static int read_slices(struct rdd_wire_reader *reader, const Firesteel__Slices *m, fst_rdd *rdd,
                       struct fst_error *error)
{
        struct slice slice;
        if (!m || rdd->type.value)
                return bad(rdd, error, "it is no parallelize of one column");
        rdd->parallelize.count = m->rows;
        if (!m->rows || !m->data.len)
                return 0;
        int r = slice_open(&slice, rdd->type, m->rows, m->data.data, m->data.len, error);
        if (r)
                return error_wrap(error, r, "RDD %d (%s)", rdd->lineage.id, rdd->call_site);
        if (rdd->type.key != FST_KIND_BYTES) {
                rdd->parallelize.data = (void *)slice.column;
                return 0;
        }
        fst_bytes *rows = wire_array(reader->memory, m->rows, sizeof(*rows));
        fst_column column = {.bytes = rows};
        if (!rows)
                return rdd_wire_too_big(error);
        for (uint64_t at = 0; at < m->rows;)
                at += slice_next(&slice, FST_BATCH_ROWS, rows + at, &column);
        rdd->parallelize.data = rows;
        rdd->parallelize.bytes = (char *)slice.heap;
        rdd->parallelize.n_bytes = slice.heap_size;
        return 0;
}

static int read_range(const Firesteel__Range *m, fst_rdd *rdd, struct fst_error *error)
{
        if (!m || m->end < m->start || rdd->type.key != FST_KIND_I64 || rdd->type.value)
                return bad(rdd, error, "it is no range");
        rdd->range.start = m->start;
        rdd->range.end = m->end;
        return 0;
}

static int depend_on(struct rdd_wire_reader *reader, fst_rdd *rdd, int shuffle_id, int partitions,
                     struct fst_error *error)
{
        struct lineage_dep *dep = wire_array(reader->memory, 1, sizeof(*dep));
        if (!dep)
                return rdd_wire_too_big(error);
        *dep = (struct lineage_dep){.kind = LINEAGE_SHUFFLE,
                                    .child = &rdd->lineage,
                                    .shuffle_id = shuffle_id,
                                    .reduce_partitions = partitions};
        rdd->lineage.deps = dep;
        rdd->lineage.n_deps = 1;
        return 0;
}

/* The value column of pairs alone. */
static fst_type value_of(fst_type pair)
{
        return (fst_type){.key = pair.value, .key_size = pair.value_size};
}

static int check_combine(const fst_rdd *rdd, struct fst_error *error)
{
        if (!rdd->type.value)
                return bad(rdd, error, "only pairs are combined by key");
        int r = combine_check(value_of(rdd->type), &rdd->fn, error);
        return r ? error_wrap(error, -EBADMSG, "RDD %d (%s)", rdd->lineage.id, rdd->call_site) : 0;
}

static int read_shuffle(struct rdd_wire_reader *reader, const Firesteel__Shuffle *m, fst_rdd *rdd,
                        struct fst_error *error)
{
        if (!m)
                return bad(rdd, error, "it has no shuffle to read");
        rdd->shuffle.combine = m->combine;
        rdd->shuffle.sort = m->sort;
        rdd->shuffle.order = m->descending ? FST_DESCENDING : FST_ASCENDING;
        rdd->shuffle.partitioner.partitions = rdd->lineage.partitions;
        int r = m->combine ? check_combine(rdd, error) : 0;
        return r ? r : depend_on(reader, rdd, m->id, rdd->lineage.partitions, error);
}

/* ------------------------------------------------------------------------------------------------ narrow operators */

static int check_element(const fst_rdd *rdd, enum element_kind kind, fst_type out, struct fst_error *error)
{
        int r = element_check(kind, rdd_parent(rdd)->type, out, &rdd->fn, error);
        return r ? error_wrap(error, -EBADMSG, "RDD %d (%s)", rdd->lineage.id, rdd->call_site) : 0;
}

static int check_same(const fst_rdd *rdd, struct fst_error *error)
{
        return fst_type_equal(rdd->type, rdd_parent(rdd)->type) ? 0
                                                                : bad(rdd, error, "it has not the type of its parent");
}

static int check_map_values(const fst_rdd *rdd, struct fst_error *error)
{
        fst_type in = rdd_parent(rdd)->type;
        if (!rdd->type.value || rdd->type.key != in.key || rdd->type.key_size != in.key_size)
                return bad(rdd, error, "map_values keeps keys");
        return check_element(rdd, ELEMENT_MAP_VALUES, rdd->type, error);
}

static int check_map_partitions(const fst_rdd *rdd, struct fst_error *error)
{
        if (FST_SHAPE_FORM(rdd->fn.shape) == FST_FORM_ITER)
                return 0;
        return check_element(rdd, ELEMENT_BATCHES, rdd->type, error);
}

static int check_key_by(const fst_rdd *rdd, struct fst_error *error)
{
        fst_type key = {.key = rdd->type.key, .key_size = rdd->type.key_size};
        if (!fst_type_equal(value_of(rdd->type), key_op_value(rdd_parent(rdd)->type)))
                return bad(rdd, error, "the rows that it puts keys to are not its parent's");
        return check_element(rdd, ELEMENT_MAP, key, error);
}

static int check_values(const fst_rdd *rdd, struct fst_error *error)
{
        if (!fst_type_equal(value_of(rdd_parent(rdd)->type), key_op_value(rdd->type)))
                return bad(rdd, error, "its rows are not its parent's values");
        return 0;
}

static int check_narrow(const fst_rdd *rdd, struct fst_error *error)
{
        if (rdd->op == RDD_COALESCE ? rdd->lineage.partitions > rdd_parent(rdd)->lineage.partitions
                                    : rdd->lineage.partitions != rdd_parent(rdd)->lineage.partitions)
                return bad(rdd, error, "it has not the partitions of its parent");
        switch (rdd->op) {
        case RDD_MAP:
                return check_element(rdd, ELEMENT_MAP, rdd->type, error);
        case RDD_FLAT_MAP:
                return check_element(rdd, ELEMENT_FLAT_MAP, rdd->type, error);
        case RDD_FILTER: {
                int r = check_same(rdd, error);
                return r ? r : check_element(rdd, ELEMENT_FILTER, rdd->type, error);
        }
        case RDD_MAP_VALUES:
                return check_map_values(rdd, error);
        case RDD_MAP_PARTITIONS:
                return check_map_partitions(rdd, error);
        case RDD_KEY_BY:
                return check_key_by(rdd, error);
        case RDD_VALUES:
                return check_values(rdd, error);
        case RDD_COMBINE: {
                int r = check_same(rdd, error);
                return r ? r : check_combine(rdd, error);
        }
        default:
                return check_same(rdd, error);
        }
}

/* ------------------------------------------------------------------------------------------------- several parents */

static int read_union(const Firesteel__Rdd *m, fst_rdd *rdd, struct fst_error *error)
{
        int64_t sum = 0;
        bool alike = true;
        for (int i = 0; i < rdd->n_parents; i++) {
                if (!fst_type_equal(rdd->type, rdd->parents[i]->type))
                        return bad(rdd, error, "it has not the type of its parents");
                sum += rdd->parents[i]->lineage.partitions;
                alike &= rdd->parents[i]->lineage.partitions == rdd->lineage.partitions;
        }
        if (m->in_place ? !alike : sum != rdd->lineage.partitions)
                return bad(rdd, error, "it has not the partitions of its parents");
        rdd->unite.in_place = m->in_place;
        return 0;
}

static int check_join(const fst_rdd *rdd, struct fst_error *error)
{
        const fst_rdd *left = rdd->parents[JOIN_LEFT], *right = rdd->parents[JOIN_RIGHT];
        if (left->lineage.partitions != rdd->lineage.partitions || right->lineage.partitions != rdd->lineage.partitions)
                return bad(rdd, error, "it has not the partitions of its parents");
        int r = join_check(left->type, right->type, &rdd->fn, error);
        return r ? error_wrap(error, -EBADMSG, "RDD %d (%s)", rdd->lineage.id, rdd->call_site) : 0;
}

/* ------------------------------------------------------------------------------------------------------ one node */

static bool op_of(const Firesteel__Rdd *m, enum rdd_op *op)
{
        static const enum rdd_op ops[] = {
                [FIRESTEEL__OPERATOR__TEXT_FILE] = RDD_TEXT_FILE,
                [FIRESTEEL__OPERATOR__PARALLELIZE] = RDD_PARALLELIZE,
                [FIRESTEEL__OPERATOR__RANGE] = RDD_RANGE,
                [FIRESTEEL__OPERATOR__MAP] = RDD_MAP,
                [FIRESTEEL__OPERATOR__FLAT_MAP] = RDD_FLAT_MAP,
                [FIRESTEEL__OPERATOR__FILTER] = RDD_FILTER,
                [FIRESTEEL__OPERATOR__MAP_VALUES] = RDD_MAP_VALUES,
                [FIRESTEEL__OPERATOR__MAP_PARTITIONS] = RDD_MAP_PARTITIONS,
                [FIRESTEEL__OPERATOR__KEY_BY] = RDD_KEY_BY,
                [FIRESTEEL__OPERATOR__VALUES] = RDD_VALUES,
                [FIRESTEEL__OPERATOR__COALESCE] = RDD_COALESCE,
                [FIRESTEEL__OPERATOR__SHUFFLED] = RDD_SHUFFLED,
                [FIRESTEEL__OPERATOR__COMBINE] = RDD_COMBINE,
                [FIRESTEEL__OPERATOR__UNION] = RDD_UNION,
                [FIRESTEEL__OPERATOR__JOIN] = RDD_JOINED,
        };
        if ((int)m->op <= FIRESTEEL__OPERATOR__NONE || (size_t)m->op >= ARRAY_SIZE(ops))
                return false;
        *op = ops[m->op];
        return true;
}

static bool parents_fit(enum rdd_op op, size_t n)
{
        switch (op) {
        case RDD_TEXT_FILE:
        case RDD_PARALLELIZE:
        case RDD_RANGE:
        case RDD_SHUFFLED:
                return n == 0;
        case RDD_UNION:
                return n > 0;
        case RDD_JOINED:
                return n == 2;
        default:
                return n == 1;
        }
}

static bool wants_function(const fst_rdd *rdd)
{
        switch (rdd->op) {
        case RDD_MAP:
        case RDD_FLAT_MAP:
        case RDD_FILTER:
        case RDD_MAP_VALUES:
        case RDD_MAP_PARTITIONS:
        case RDD_KEY_BY:
        case RDD_COMBINE:
        case RDD_JOINED:
                return true;
        default:
                return false;
        }
}

static int read_source(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd, struct fst_error *error)
{
        switch (rdd->op) {
        case RDD_TEXT_FILE:
                return read_text(reader, m->text, rdd, error);
        case RDD_PARALLELIZE:
                return read_slices(reader, m->slices, rdd, error);
        case RDD_RANGE:
                return read_range(m->range, rdd, error);
        default:
                return read_shuffle(reader, m->shuffle, rdd, error);
        }
}

static int read_node(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdds, size_t index,
                     struct fst_error *error)
{
        fst_rdd *rdd = &rdds[index];
        rdd->lineage.id = m->id;
        rdd->lineage.partitions = m->partitions;
        rdd->lineage.storage_level = m->storage_level;
        rdd->call_site = m->call_site;
        rdd->lineage.call_site = m->call_site;
        rdd->site.operation = m->operation;
        rdd->name = none(m->name) ? NULL : m->name;
        rdd->lineage.name = rdd->name ? rdd->name : m->operation;
        rdd->planned = true;
        if (!op_of(m, &rdd->op))
                return bad(rdd, error, "it has an operator that is not known here");
        if (m->partitions < 0 || m->partitions > PARTITIONS_MOST || !storage_level_valid(m->storage_level))
                return bad(rdd, error, "it has a number of partitions or a storage level that cannot be");
        if (!parents_fit(rdd->op, m->n_parents))
                return bad(rdd, error, "it has not as many parents as its operator takes");
        rdd->parents = wire_array(reader->memory, m->n_parents, sizeof(*rdd->parents));
        rdd->n_parents = (int)m->n_parents;
        if (!rdd->parents)
                return rdd_wire_too_big(error);
        for (size_t i = 0; i < m->n_parents; i++) {
                if (m->parents[i] >= index)
                        return bad(rdd, error, "its parent does not come before it");
                rdd->parents[i] = &rdds[m->parents[i]];
        }
        int r = read_type(m, rdd, error);
        bool combines = rdd->op == RDD_SHUFFLED && m->shuffle && m->shuffle->combine;
        if (r == 0 && (wants_function(rdd) || combines))
                r = m->function ? reader->function(reader, m->function, &rdd->fn, error)
                                : bad(rdd, error, "its function is missing");
        if (r)
                return r;
        if (rdd->op == RDD_UNION)
                return read_union(m, rdd, error);
        if (rdd->op == RDD_JOINED)
                return check_join(rdd, error);
        return m->n_parents ? check_narrow(rdd, error) : read_source(reader, m, rdd, error);
}

int rdd_wire_decode(struct rdd_wire_reader *reader, struct Firesteel__Rdd *const *messages, size_t n,
                    const fst_rdd **final, struct fst_error *error)
{
        if (n == 0)
                return error_set(error, -EBADMSG, "it has no RDD");
        fst_rdd *rdds = wire_array(reader->memory, n, sizeof(*rdds));
        if (!rdds)
                return rdd_wire_too_big(error);
        for (size_t i = 0; i < n; i++) {
                int r = read_node(reader, messages[i], rdds, i, error);
                if (r)
                        return r;
        }
        *final = &rdds[n - 1];
        return 0;
}

/* ------------------------------------------------------------------------------------------------------- writing */

static int read_bounds(struct rdd_wire_reader *reader, const Firesteel__ShuffleWrite *m, fst_rdd *rdd,
                       struct fst_error *error)
{
        struct partitioner *p = &rdd->shuffle.partitioner;
        bool whole = rdd->type.key == FST_KIND_BYTES || rdd->type.key == FST_KIND_FIXED;
        size_t n = whole ? m->n_bound_lengths : m->n_prefixes, at = 0;
        if (n >= (size_t)m->partitions)
                return bad(rdd, error, "it has more bounds than partitions");
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
                        return bad(rdd, error, "a bound has another length than it says");
                p->bounds[i] = (fst_bytes){(const char *)m->bounds.data + at, len};
                fst_column column = {.bytes = &p->bounds[i]};
                p->prefixes[i] = key_prefix(FST_BYTES, column, 0);
                at += len;
        }
        return 0;
}

int rdd_wire_decode_shuffle(struct rdd_wire_reader *reader, const struct Firesteel__ShuffleWrite *m, fst_type type,
                            const fst_rdd **shuffled, struct fst_error *error)
{
        fst_rdd *rdd = wire_array(reader->memory, 1, sizeof(*rdd));
        enum fst_order order = m->descending ? FST_DESCENDING : FST_ASCENDING;
        if (!rdd)
                return rdd_wire_too_big(error);
        rdd->lineage.id = m->rdd;
        rdd->lineage.partitions = m->partitions;
        rdd->lineage.name = rdd->lineage.call_site = rdd->call_site = m->call_site;
        rdd->site.operation = m->call_site;
        rdd->op = RDD_SHUFFLED;
        rdd->type = type;
        rdd->planned = true;
        rdd->shuffle.combine = m->combine;
        if (m->partitions < 1 || m->partitions > PARTITIONS_MOST)
                return bad(rdd, error, "a shuffle is written for a number of partitions that cannot be");
        if (m->range)
                partitioner_init_range(&rdd->shuffle.partitioner, m->partitions, type, order);
        else
                partitioner_init_hash(&rdd->shuffle.partitioner, m->partitions, type);
        int r = m->range ? read_bounds(reader, m, rdd, error) : 0;
        if (r == 0 && m->combine)
                r = m->function ? reader->function(reader, m->function, &rdd->fn, error)
                                : bad(rdd, error, "its function is missing");
        if (r == 0 && m->combine)
                r = check_combine(rdd, error);
        if (r == 0)
                r = depend_on(reader, rdd, m->shuffle, m->partitions, error);
        if (r == 0)
                *shuffled = rdd;
        return r;
}
