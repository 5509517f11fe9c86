/*
 * Lineage as messages: writing; see rdd_wire.h. Reading is in rdd_wire_read.c.
 *
 * Nodes are listed parents first, so that whoever reads them has met every parent when its child comes, and nothing can
 * be its own ancestor. A node that is reached in several ways is listed once.
 */
#include "rdd/rdd_wire.h"

#include "base/buf.h"
#include "base/mem.h"
#include "rdd/rdd_walk.h"
#include "rdd/slice.h"
#include "rpc/stage.pb-c.h"

/* Messages only read the strings that they are given, but are not declared so. */
static char *text_of(const char *text)
{
        return (char *)(text ? text : "");
}

/* ------------------------------------------------------------------------------------------------------ one node */

static Firesteel__TextSplits *encode_text(struct rdd_wire_writer *w, const struct input_splits *splits)
{
        Firesteel__TextSplits *text = arena_alloc(&w->arena, sizeof(*text));
        size_t n = splits->len;
        bool packed = false;
        firesteel__text_splits__init(text);
        text->paths = arena_alloc(&w->arena, n * sizeof(*text->paths));
        text->path = arena_alloc(&w->arena, n * sizeof(*text->path));
        text->start = arena_alloc(&w->arena, n * sizeof(*text->start));
        text->length = arena_alloc(&w->arena, n * sizeof(*text->length));
        text->codec = arena_alloc(&w->arena, n * sizeof(*text->codec));
        for (size_t i = 0; i < n; i++) {
                const struct input_split *split = &splits->data[i], *before = i ? split - 1 : NULL;
                bool same = before && (before->path == split->path || strcmp(before->path, split->path) == 0);
                if (!same)
                        text->paths[text->n_paths++] = text_of(split->path);
                text->path[i] = i && !same;
                text->start[i] = (int64_t)(split->start - (same ? before->start + before->length : 0));
                text->length[i] = (int64_t)(split->length - (before ? before->length : 0));
                text->codec[i] = split->codec;
                packed |= split->codec != 0;
        }
        text->n_path = text->n_start = text->n_length = n;
        text->n_codec = packed ? n : 0;
        return text;
}

static int encode_slices(struct rdd_wire_writer *w, const fst_rdd *rdd, Firesteel__Slices **out,
                         struct fst_error *error)
{
        Firesteel__Slices *slices = arena_alloc(&w->arena, sizeof(*slices));
        _cleanup_(buf_deinit) struct buf data = BUF_INIT;
        /* Of a decoded RDD whose rows are at the driver none are here. */
        size_t size = rdd->parallelize.data ? slice_size(rdd) : SIZE_MAX;
        firesteel__slices__init(slices);
        slices->rows = rdd->parallelize.count;
        if (rdd->parallelize.count && size <= w->inline_left) {
                int r = slice_encode(rdd, -1, &data, error);
                if (r)
                        return r;
                w->inline_left -= size;
                slices->data.data = (uint8_t *)arena_copy(&w->arena, data.data, data.len);
                slices->data.len = data.len;
        }
        *out = slices;
        return 0;
}

static Firesteel__Range *encode_range(struct rdd_wire_writer *w, const fst_rdd *rdd)
{
        Firesteel__Range *range = arena_alloc(&w->arena, sizeof(*range));
        firesteel__range__init(range);
        range->start = rdd->range.start;
        range->end = rdd->range.end;
        return range;
}

static Firesteel__Shuffle *encode_read(struct rdd_wire_writer *w, const fst_rdd *rdd)
{
        Firesteel__Shuffle *shuffle = arena_alloc(&w->arena, sizeof(*shuffle));
        firesteel__shuffle__init(shuffle);
        shuffle->id = rdd->lineage.deps[0].shuffle_id;
        shuffle->combine = rdd->shuffle.combine;
        shuffle->sort = rdd->shuffle.sort;
        shuffle->descending = rdd->shuffle.order == FST_DESCENDING;
        return shuffle;
}

static bool has_function(const fst_rdd *rdd)
{
        return FST_SHAPE_FORM(rdd->fn.shape) != FST_FORM_NONE;
}

static int encode_node(struct rdd_wire_writer *w, const fst_rdd *rdd, Firesteel__Rdd *m, struct fst_error *error)
{
        static const Firesteel__Operator operators[] = {
                [RDD_TEXT_FILE] = FIRESTEEL__OPERATOR__TEXT_FILE,
                [RDD_PARALLELIZE] = FIRESTEEL__OPERATOR__PARALLELIZE,
                [RDD_RANGE] = FIRESTEEL__OPERATOR__RANGE,
                [RDD_MAP] = FIRESTEEL__OPERATOR__MAP,
                [RDD_FLAT_MAP] = FIRESTEEL__OPERATOR__FLAT_MAP,
                [RDD_FILTER] = FIRESTEEL__OPERATOR__FILTER,
                [RDD_MAP_VALUES] = FIRESTEEL__OPERATOR__MAP_VALUES,
                [RDD_MAP_PARTITIONS] = FIRESTEEL__OPERATOR__MAP_PARTITIONS,
                [RDD_KEY_BY] = FIRESTEEL__OPERATOR__KEY_BY,
                [RDD_VALUES] = FIRESTEEL__OPERATOR__VALUES,
                [RDD_COALESCE] = FIRESTEEL__OPERATOR__COALESCE,
                [RDD_SHUFFLED] = FIRESTEEL__OPERATOR__SHUFFLED,
                [RDD_COMBINE] = FIRESTEEL__OPERATOR__COMBINE,
                [RDD_UNION] = FIRESTEEL__OPERATOR__UNION,
                [RDD_JOINED] = FIRESTEEL__OPERATOR__JOIN,
        };
        fst_type type = rdd->type;
        m->id = rdd->lineage.id;
        m->op = (size_t)rdd->op < ARRAY_SIZE(operators) ? operators[rdd->op] : FIRESTEEL__OPERATOR__NONE;
        if (m->op == FIRESTEEL__OPERATOR__NONE)
                return error_set(error, -EINVAL, "%s has no form in which executors could be told of it",
                                 rdd->call_site);
        m->kinds = (uint32_t)type.key | (uint32_t)type.value << 8;
        m->key_size = type.key == FST_KIND_FIXED ? type.key_size : 0;
        m->value_size = type.value == FST_KIND_FIXED ? type.value_size : 0;
        m->partitions = rdd->lineage.partitions;
        m->storage_level = __atomic_load_n(&rdd->lineage.storage_level, __ATOMIC_RELAXED);
        m->operation = text_of(rdd->site.operation);
        m->call_site = text_of(rdd->call_site);
        m->name = text_of(__atomic_load_n(&rdd->name, __ATOMIC_ACQUIRE));
        switch (rdd->op) {
        case RDD_TEXT_FILE:
                m->text = encode_text(w, &rdd->text.splits);
                break;
        case RDD_RANGE:
                m->range = encode_range(w, rdd);
                break;
        case RDD_SHUFFLED:
                m->shuffle = encode_read(w, rdd);
                break;
        case RDD_UNION:
                m->in_place = rdd->unite.in_place;
                break;
        case RDD_PARALLELIZE: {
                int r = encode_slices(w, rdd, &m->slices, error);
                if (r)
                        return r;
                break;
        }
        default:
                break;
        }
        return has_function(rdd) ? w->function(w, &rdd->fn, &m->function, error) : 0;
}

/* Parents that are computed in the same task: a shuffle's are not. */
static void encode_parents(struct rdd_wire_writer *w, const struct rdd_walk *walk, const fst_rdd *rdd,
                           Firesteel__Rdd *m)
{
        if (rdd->op == RDD_SHUFFLED)
                return;
        m->n_parents = (size_t)rdd->n_parents;
        m->parents = arena_alloc(&w->arena, m->n_parents * sizeof(*m->parents));
        for (int i = 0; i < rdd->n_parents; i++)
                m->parents[i] = rdd_walk_index(walk, rdd->parents[i]);
}

int rdd_wire_encode(struct rdd_wire_writer *w, const fst_rdd *final, struct Firesteel__Rdd ***rdds, size_t *n,
                    struct fst_error *error)
{
        struct rdd_walk walk;
        int r = 0;
        rdd_walk_init(&walk, (fst_rdd *) final, RDD_WALK_STAGE);
        Firesteel__Rdd *all = arena_alloc(&w->arena, walk.n * sizeof(*all));
        Firesteel__Rdd **list = arena_alloc(&w->arena, walk.n * sizeof(*list));
        for (uint32_t i = 0; i < walk.n && r == 0; i++) {
                list[i] = &all[i];
                firesteel__rdd__init(list[i]);
                encode_parents(w, &walk, walk.rdds[i], list[i]);
                r = encode_node(w, walk.rdds[i], list[i], error);
        }
        if (r == 0) {
                *rdds = list;
                *n = walk.n;
        }
        rdd_walk_deinit(&walk);
        return r;
}

/* -------------------------------------------------------------------------------------------------------- shuffles */

static void encode_bounds(struct rdd_wire_writer *w, const struct partitioner *p, Firesteel__ShuffleWrite *m)
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

int rdd_wire_encode_shuffle(struct rdd_wire_writer *w, const fst_rdd *shuffled, struct Firesteel__ShuffleWrite **out,
                            struct fst_error *error)
{
        Firesteel__ShuffleWrite *m = arena_alloc(&w->arena, sizeof(*m));
        const struct partitioner *p = &shuffled->shuffle.partitioner;
        firesteel__shuffle_write__init(m);
        m->rdd = shuffled->lineage.id;
        m->shuffle = shuffled->lineage.deps[0].shuffle_id;
        m->partitions = p->partitions;
        m->combine = shuffled->shuffle.combine;
        m->range = p->kind == PARTITIONER_RANGE;
        m->descending = p->order == FST_DESCENDING;
        m->call_site = text_of(shuffled->call_site);
        if (m->range) {
                if (!partitioner_ready(p))
                        return error_set(error, -EINVAL, "the bounds of %s are not known yet", shuffled->call_site);
                encode_bounds(w, p, m);
        }
        int r = m->combine ? w->function(w, &shuffled->fn, &m->function, error) : 0;
        if (r == 0)
                *out = m;
        return r;
}
