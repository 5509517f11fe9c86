/* See evaluate.h. Each family of operators has a function, and evaluate_node selects one. */
#include "evaluate.h"

#include "base/mem.h"
#include "files.h"
#include "place.h"
#include "rdd/aggregate/sampler.h"

static struct cell_room room;

/* ------------------------------------------------------------------------------------------------------- sources */

static struct table source(struct plan *p, const struct node *n, const int64_t *cut)
{
        int parts = n->n || cut ? n->n : p->parallelism ? p->parallelism : p->cores;
        struct table t = table_new(p, parts);
        size_t end = 0;
        int part = -1;
        for (size_t i = 0; i < n->count; i++) {
                struct row r = n->operator== RANGE ? (struct row){.key = cell_i64(n->seed + (int64_t)i)}
                                                   : plan_source_row(p, n, i);
                while (i >= end && part < parts - 1) {
                        part++;
                        end = cut ? end + (size_t)cut[part] : n->count * (size_t)(part + 1) / (size_t)parts;
                }
                table_put(p, &t, part, r);
        }
        return t;
}

/* -------------------------------------------------------------------------------------------------- row by row */

static void add_made(struct plan *p, struct table *t, int part, const struct deed *d, uint64_t hash, struct cell key)
{
        for (uint32_t i = 0; i < deed_copies(d, hash); i++)
                table_put(p, t, part, row_keep(&p->arena, deed_row(d, hash, i, key, &room)));
}

static struct table row_by_row(struct plan *p, const struct node *n, const struct table *in)
{
        const struct deed *d = &n->deed;
        struct table t = table_new(p, in->n);
        t.ordered = in->ordered;
        if (n->operator== FILTER || n->operator== MAP_VALUES || n->operator== FLAT_MAP_VALUES)
                t.by = in->by;
        for (int part = 0; part < in->n; part++)
                for (size_t k = 0; k < in->parts[part].n; k++) {
                        struct row r = in->parts[part].at[k], made;
                        switch (n->operator) {
                        case FILTER:
                                if (deed_keeps(d, row_hash(r)))
                                        table_put(p, &t, part, r);
                                break;
                        case MAP_VALUES:
                        case FLAT_MAP_VALUES:
                                for (uint32_t i = 0; i < deed_copies(d, cell_hash(r.value)); i++) {
                                        made = deed_row(d, cell_hash(r.value), i, r.value, &room);
                                        made = row_keep(&p->arena, (struct row){.value = made.key});
                                        made.key = r.key;
                                        table_put(p, &t, part, made);
                                }
                                break;
                        case KEYS:
                                table_put(p, &t, part, (struct row){.key = r.key});
                                break;
                        case VALUES:
                                table_put(p, &t, part, (struct row){.key = r.value});
                                break;
                        case KEY_BY:
                                made = row_keep(&p->arena, deed_row(d, row_hash(r), 0, r.key, &room));
                                made.value = row_packed(p, r);
                                table_put(p, &t, part, made);
                                break;
                        default:
                                add_made(p, &t, part, d, row_hash(r), r.key);
                        }
                }
        return t;
}

static struct table numbers(struct plan *p, const struct node *n, const struct table *in)
{
        struct table t = table_new(p, in->n);
        int64_t next = 0;
        t.ordered = in->ordered;
        for (int part = 0; part < in->n; part++)
                for (size_t k = 0; k < in->parts[part].n; k++, next++) {
                        int64_t number = n->operator== ZIP_WITH_INDEX ? next : (int64_t)k * in->n + part;
                        struct row r = {row_packed(p, in->parts[part].at[k]), cell_i64(number)};
                        table_put(p, &t, part, r);
                }
        return t;
}

static struct table sampled(struct plan *p, const struct node *n, const struct table *in)
{
        struct sampling_plan how = {.how = n->operator== RANDOM_SPLIT ? SAMPLING_RANGE
                                           : n->variant               ? SAMPLING_REPLACED
                                                                      : SAMPLING_ONCE,
                                    .fraction = n->fraction,
                                    .lower = n->fraction,
                                    .upper = n->upper,
                                    .seed = n->seed};
        struct table t = table_new(p, in->n);
        t.by = in->by;
        for (int part = 0; part < in->n; part++) {
                struct sampler sampler;
                sampler_begin(&sampler, &how, part);
                for (size_t k = 0; k < in->parts[part].n; k++)
                        for (uint32_t times = sampler_next(&sampler); times > 0; times--)
                                table_put(p, &t, part, in->parts[part].at[k]);
        }
        return t;
}

static struct table piped(struct plan *p, const struct table *in)
{
        struct table t = table_new(p, in->n);
        t.ordered = in->ordered;
        for (int part = 0; part < in->n; part++)
                for (size_t k = 0; k < in->parts[part].n; k++) {
                        char text[MAX_CELL_TEXT];
                        struct row line = {.key = cell_text(in->parts[part].at[k].key, text)};
                        table_put(p, &t, part, row_keep(&p->arena, line));
                }
        return t;
}

/* --------------------------------------------------------------------------------------- partition by partition */

static struct table partitions(struct plan *p, const struct node *n, const struct table *in)
{
        const struct deed *d = &n->deed;
        struct table t = table_new(p, in->n);
        t.ordered = in->ordered;
        if (d->keep_key)
                t.by = in->by;
        for (int part = 0; part < in->n; part++) {
                uint64_t begin = n->operator== MAP_PARTITIONS_WITH_INDEX ? (uint64_t)part + 1 : 0;
                struct deed_summary summary = {begin, 0};
                for (size_t k = 0; k < in->parts[part].n && !deed_has_seen_enough(d, &summary); k++) {
                        struct row r = in->parts[part].at[k];
                        deed_see(d, &summary, r);
                        add_made(p, &t, part, d, row_hash(r), r.key);
                }
                if (!d->keep_key) {
                        struct row last = deed_row(d, deed_summary_hash(summary), 0, (struct cell){0}, &room);
                        table_put(p, &t, part, row_keep(&p->arena, last));
                }
        }
        return t;
}

static uint64_t see_side(const struct deed *d, uint64_t hash, const struct rows *rows, bool values)
{
        struct deed_summary summary = {0};
        for (size_t i = 0; i < rows->n && !deed_has_seen_enough(d, &summary); i++)
                deed_see(d, &summary, values ? (struct row){.key = rows->at[i].value} : rows->at[i]);
        return mix(hash, deed_summary_hash(summary));
}

static struct table zipped_partitions(struct plan *p, const struct node *n, const struct table *const *in)
{
        struct table t = table_new(p, in[0]->n);
        for (int part = 0; part < t.n; part++) {
                uint64_t hash = 0;
                for (int k = 0; k < n->n_parents; k++)
                        hash = see_side(&n->deed, hash, &in[k]->parts[part], false);
                add_made(p, &t, part, &n->deed, hash, (struct cell){0});
        }
        return t;
}

/* The output of each partition depends on all of them. */
static struct table gathered(struct plan *p, const struct node *n, const struct table *in)
{
        struct table t = table_new(p, in->n);
        uint64_t hashes[MAX_GATHERED];
        for (int part = 0; part < in->n; part++)
                hashes[part] = see_side(&n->deed, 0, &in->parts[part], false);
        for (int part = 0; part < in->n; part++)
                add_made(p, &t, part, &n->deed, deed_gather(part, hashes, in->n), (struct cell){0});
        return t;
}

static struct table zipped(struct plan *p, const struct table *const *in)
{
        struct table t = table_new(p, in[0]->n);
        for (int part = 0; part < t.n; part++)
                for (size_t k = 0; k < in[0]->parts[part].n; k++)
                        table_put(p, &t, part,
                                  (struct row){in[0]->parts[part].at[k].key, in[1]->parts[part].at[k].key});
        return t;
}

static struct table cartesian(struct plan *p, const struct table *const *in)
{
        struct table t = table_new(p, in[0]->n * in[1]->n);
        t.ordered = in[0]->ordered && in[1]->ordered;
        for (int part = 0; part < t.n; part++) {
                const struct rows *a = &in[0]->parts[part / in[1]->n], *b = &in[1]->parts[part % in[1]->n];
                for (size_t i = 0; i < a->n; i++)
                        for (size_t k = 0; k < b->n && !table_is_full(p, &t); k++)
                                table_put(p, &t, part, (struct row){a->at[i].key, b->at[k].key});
        }
        return t;
}

static struct table glommed(struct plan *p, const struct table *in)
{
        struct table t = table_new(p, in->n);
        for (int part = 0; part < in->n; part++) {
                struct list list = {0};
                for (size_t k = 0; k < in->parts[part].n; k++)
                        list_add(&p->arena, &list, in->parts[part].at[k]);
                table_put(p, &t, part, (struct row){.key = list_cell(&list)});
        }
        return t;
}

static struct table united(struct plan *p, const struct node *n, const struct table *const *in)
{
        bool in_place = true;
        int parts = 0, from = 0;
        for (int k = 0; k < n->n_parents; k++) {
                in_place = in_place && placement_equal(in[0]->by, in[k]->by);
                parts += in[k]->n;
        }
        struct table t = table_new(p, in_place ? in[0]->n : parts);
        if (in_place)
                t.by = in[0]->by;
        for (int k = 0; k < n->n_parents; k++) {
                t.ordered = t.ordered && in[k]->ordered;
                for (int part = 0; part < in[k]->n; part++)
                        for (size_t i = 0; i < in[k]->parts[part].n; i++)
                                table_put(p, &t, from + part, in[k]->parts[part].at[i]);
                from += in_place ? 0 : in[k]->n;
        }
        return t;
}

static struct table repartitioned(struct plan *p, const struct node *n, const struct table *in)
{
        struct table t = table_new(p, n->n);
        for (int part = 0; part < in->n; part++) {
                int to = n->n > 1 ? xorshift_random_int(part, n->n) : 0;
                for (size_t k = 0; k < in->parts[part].n; k++) {
                        to = (to + 1) % n->n;
                        table_put(p, &t, to, in->parts[part].at[k]);
                }
        }
        return t;
}

static struct table coalesced(struct plan *p, const struct node *n, const struct table *in)
{
        struct table t = table_new(p, MIN(n->n, in->n));
        t.ordered = in->ordered;
        for (int part = 0; part < t.n; part++)
                for (int from = part * in->n / t.n; from < (part + 1) * in->n / t.n; from++)
                        for (size_t k = 0; k < in->parts[from].n; k++)
                                table_put(p, &t, part, in->parts[from].at[k]);
        return t;
}

/* -------------------------------------------------------------------------------------------------------- order */

bool table_is_keyed(const struct table *t)
{
        struct plan scratch = {0};
        bool unique = true;
        for (int part = 0; part < t->n && !t->ordered && unique; part++)
                unique = rows_are_unique(&scratch, &t->parts[part]);
        arena_deinit(&scratch.arena);
        return unique;
}

static struct table sorted_within(struct plan *p, const struct node *n, const struct table *in)
{
        struct table t = table_new(p, in->n);
        t.by = in->by;
        t.ordered = table_is_keyed(in) || !n->type.value;
        t.rows = in->rows;
        for (int part = 0; part < in->n; part++)
                t.parts[part] = rows_sorted(p, &in->parts[part], false, n->descending);
        return t;
}

/* Keys that a function makes of rows, as pairs of a key and the row's number in @all. */
static struct rows keyed_by(struct plan *p, const struct node *n, const struct rows *all)
{
        struct rows keyed = {0};
        for (size_t i = 0; i < all->n; i++) {
                struct row r = deed_row(&n->deed, row_hash(all->at[i]), 0, all->at[i].key, &room);
                r.value = cell_i64((int64_t)i);
                rows_add(&p->arena, &keyed, row_keep(&p->arena, r));
        }
        return keyed;
}

static const char *ranges(struct plan *p, int i, const struct table *in, const int64_t *cut, struct table *out)
{
        const struct node *n = &p->nodes[i];
        struct rows all = table_all(p, in), keys = n->operator== SORT_BY ? keyed_by(p, n, &all) : all;
        struct table t = table_new(p, node_cut_partitions(p, i));
        size_t at = 0;
        t.ordered = in->ordered ||
                    n->operator== SORT_ROWS ||(n->operator!= PARTITION_BY_RANGE && rows_are_unique(p, &keys));
        if (n->operator!= SORT_BY && n->operator!= SORT_ROWS)
                t.by = (struct placement){BY_RANGE, t.n, (uint64_t)i};
        if (n->operator== PARTITION_BY_RANGE) /* numbers, which restore the order */
                for (size_t k = 0; k < keys.n; k++)
                        keys.at[k].value = cell_i64((int64_t)k);
        struct rows original = n->operator== PARTITION_BY_RANGE ? table_all(p, in) : all;
        keys = rows_sorted(p, &keys, false, n->descending);
        for (int part = 0; part < t.n; part++) {
                size_t begin = at;
                if (cut[part] < 0 || (size_t)cut[part] > keys.n - at)
                        return "it has more rows than it should";
                at += (size_t)cut[part];
                if (at > begin && at < keys.n && cell_order(keys.at[at - 1].key, keys.at[at].key) == 0)
                        return "rows of one key are in two partitions";
                struct rows range = {.at = keys.at + begin, .n = at - begin};
                if (n->operator== PARTITION_BY_RANGE) {
                        struct rows swapped = {0};
                        for (size_t k = 0; k < range.n; k++)
                                rows_add(&p->arena, &swapped, (struct row){range.at[k].value, range.at[k].key});
                        range = rows_sorted(p, &swapped, false, false);
                        for (size_t k = 0; k < range.n; k++)
                                table_put(p, &t, part, original.at[range.at[k].key.i64]);
                } else {
                        for (size_t k = 0; k < range.n; k++)
                                table_put(p, &t, part,
                                          n->operator== SORT_BY ? all.at[range.at[k].value.i64] : range.at[k]);
                }
        }
        *out = t;
        return at == keys.n ? NULL : "it has fewer rows than it should";
}

/* --------------------------------------------------------------------------------------------------- whole rows */

static struct table whole_rows(struct plan *p, const struct table *in, int n)
{
        struct table t = table_new(p, n);
        for (int part = 0; part < in->n; part++)
                for (size_t k = 0; k < in->parts[part].n; k++) {
                        struct row r = in->parts[part].at[k];
                        int to = placement_of(p, (struct placement){BY_HASH, n, 0}, row_packed(p, r));
                        table_put(p, &t, to, r);
                }
        return t;
}

static bool rows_have(const struct rows *sorted, struct row r)
{
        size_t low = 0, high = sorted->n;
        while (low < high) {
                size_t middle = (low + high) / 2;
                if (row_compare(sorted->at[middle], r) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < sorted->n && row_compare(sorted->at[low], r) == 0;
}

static struct table distinct(struct plan *p, const struct node *n, const struct table *in)
{
        int parts = n->n ? n->n : MAX(in->n, 1);
        bool in_place = n->type.value && in->by.how && parts == in->n;
        struct table from = in_place ? *in : whole_rows(p, in, parts), t = table_new(p, parts);
        t.ordered = false;
        if (in_place)
                t.by = in->by;
        for (int part = 0; part < parts; part++) {
                struct rows sorted = rows_sorted(p, &from.parts[part], true, false);
                for (size_t k = 0; k < sorted.n; k++)
                        if (k == 0 || row_compare(sorted.at[k - 1], sorted.at[k]) != 0)
                                table_put(p, &t, part, sorted.at[k]);
        }
        return t;
}

static struct table set_operation(struct plan *p, const struct node *n, const struct table *const *in)
{
        bool both = n->operator== INTERSECTION;
        int parts = n->n;
        if (!parts && both)
                parts = p->parallelism ? p->parallelism : MAX(MAX(in[0]->n, in[1]->n), 1);
        else if (!parts) /* placed as its left side, but F64 keys only by hash */
                parts = MAX(in[0]->n, 1);
        struct table a = whole_rows(p, in[0], parts), b = whole_rows(p, in[1], parts), t = table_new(p, parts);
        t.ordered = false;
        for (int part = 0; part < parts; part++) {
                struct rows left = rows_sorted(p, &a.parts[part], true, false);
                struct rows right = rows_sorted(p, &b.parts[part], true, false);
                for (size_t k = 0; k < left.n; k++) {
                        bool there = rows_have(&right, left.at[k]);
                        bool first = k == 0 || row_compare(left.at[k - 1], left.at[k]) != 0;
                        if (both ? there && first : !there)
                                table_put(p, &t, part, left.at[k]);
                }
        }
        return t;
}

/* -------------------------------------------------------------------------------------------------- key by key */

/* The rule of include/firesteel/pair.h. F64 keys never use ranges and functions. */
struct placement evaluate_placement(const struct plan *p, const int *parents, int n_parents, int n)
{
        struct placement most_of = {0};
        int most = 1;
        for (int k = 0; k < n_parents && !n; k++) {
                const struct node *parent = &p->nodes[parents[k]];
                struct placement by = parent->table.by;
                most = MAX(most, parent->table.n);
                if (by.how && (by.how == BY_HASH || parent->type.key != FST_KIND_F64) && by.n > most_of.n)
                        most_of = by;
        }
        int wanted = p->parallelism ? p->parallelism : most;
        if (most_of.how && (most_of.n * 10 > most || wanted <= most_of.n))
                return most_of;
        return (struct placement){BY_HASH, n ? n : wanted, 0};
}

/* Combines the values of a key. */
static struct cell reduced(struct plan *p, const struct node *n, const struct rows *group)
{
        const struct deed *d = &n->deed;
        bool adds = n->operator== AGGREGATE_BY_KEY || n->operator== COMBINE_BY_KEY;
        struct cell sum = group->at[0].value;
        size_t k = 1;
        if (n->operator!= REDUCE_BY_KEY) {
                sum = row_keep(&p->arena, (struct row){.key = cell_zero(type_value(n->type), room.key)}).key;
                k = 0;
        }
        for (; k < group->n; k++) {
                struct cell x = group->at[k].value, was = sum;
                if (n->operator== REDUCE_BY_KEY && n->variant == 1)
                        sum = deed_greater(sum, x) ? sum : x;
                else if (n->operator== REDUCE_BY_KEY && n->variant >= 3)
                        sum = (cell_compare(sum, x) < 0) == (n->variant == 3) ? x : sum;
                else
                        sum = adds ? cell_add_number(was, cell_hash(x), k % 2 ? room.key : room.value)
                                   : cell_add(was, x, k % 2 ? room.key : room.value);
        }
        (void)d;
        return row_keep(&p->arena, (struct row){.key = sum}).key;
}

static struct table combined(struct plan *p, const struct node *n, const struct table *in)
{
        struct table placed = table_placed(p, in, evaluate_placement(p, n->parents, 1, n->n));
        const struct table *sides[] = {&placed};
        struct table t = table_new(p, placed.n);
        t.by = placed.by;
        t.ordered = false;
        for (int part = 0; part < t.n; part++) {
                struct groups g = groups_of(p, sides, 1, part);
                while (groups_next(&g))
                        table_put(p, &t, part, (struct row){g.key, reduced(p, n, &g.group[0])});
        }
        return t;
}

static struct table lists(struct plan *p, const struct node *n, const struct table *in, const struct rows *all)
{
        const struct table *sides[] = {in};
        struct table t = table_new(p, in->n);
        t.by = in->by;
        for (int part = 0; part < t.n; part++) {
                struct groups g = groups_of(p, sides, 1, part);
                while (groups_next(&g)) {
                        struct list list = {0};
                        for (size_t k = 0; k < g.group[0].n; k++) {
                                struct cell value = g.group[0].at[k].value;
                                list_add(&p->arena, &list, all ? all->at[value.i64] : (struct row){.key = value});
                        }
                        table_put(p, &t, part, (struct row){g.key, list_cell(&list)});
                }
        }
        return t;
}

static struct table grouped_by(struct plan *p, const struct node *n, const struct table *in)
{
        struct rows all = table_all(p, in), keyed = keyed_by(p, n, &all);
        int parts = n->n ? n->n : evaluate_placement(p, n->parents, 1, 0).n;
        struct table one = {.n = 1, .parts = &keyed, .ordered = in->ordered};
        struct table placed = table_placed(p, &one, (struct placement){BY_HASH, parts, 0});
        return lists(p, n, &placed, &all);
}

static void join_group(struct plan *p, const struct node *n, const struct groups *g, int part, struct table *t,
                       size_t *calls)
{
        const struct row missing[] = {{{0}, {0}}};
        const struct rows none = {.at = (struct row *)missing, .n = 1};
        bool left_missing = n->operator== RIGHT_OUTER_JOIN || n->operator== FULL_OUTER_JOIN;
        bool right_missing = n->operator== LEFT_OUTER_JOIN || n->operator== FULL_OUTER_JOIN;
        const struct rows *left = g->group[0].n == 0 && left_missing ? &none : &g->group[0];
        const struct rows *right = g->group[1].n == 0 && right_missing ? &none : &g->group[1];
        *calls += left->n * right->n;
        if (*calls > 4 * p->most_rows) /* few combinations make a row */
                t->rows = p->most_rows + 1;
        for (size_t i = 0; i < left->n; i++)
                for (size_t k = 0; k < right->n && !table_is_full(p, t); k++)
                        add_made(p, t, part, &n->deed, deed_hash_joined(g->key, left->at[i].value, right->at[k].value),
                                 g->key);
}

/* Each partition of the left side with all rows of the right one. */
static struct table broadcast_joined(struct plan *p, const struct node *n, const struct table *const *in)
{
        struct rows all = table_all(p, in[1]);
        struct table t = table_new(p, in[0]->n);
        size_t calls = 0;
        t.ordered = false;
        for (int part = 0; part < t.n; part++) {
                const struct table left = {.n = 1, .parts = &in[0]->parts[part]}, right = {.n = 1, .parts = &all};
                const struct table *sides[] = {&left, &right};
                struct groups g = groups_of(p, sides, 2, 0);
                while (groups_next(&g) && !table_is_full(p, &t))
                        if (g.group[0].n)
                                join_group(p, n, &g, part, &t, &calls);
        }
        return t;
}

static struct table skewed_joined(struct plan *p, const struct node *n, const struct table *const *in)
{
        const uint32_t sides = n->operator== JOIN ? 3 : n->operator== LEFT_OUTER_JOIN ? 1 : 2;
        const int parts = evaluate_placement(p, n->parents, 2, n->n).n;
        struct table placed[2], t = table_new(p, parts);
        const struct table *all[] = {&placed[0], &placed[1]};
        size_t calls = 0;
        tables_placed_skewed(p, in, parts, sides, placed);
        t.ordered = false;
        if (table_is_full(p, &placed[0]) || table_is_full(p, &placed[1])) /* of copies */
                t.rows = p->most_rows + 1;
        for (int part = 0; part < parts; part++) {
                struct groups g = groups_of(p, all, 2, part);
                while (groups_next(&g) && !table_is_full(p, &t))
                        join_group(p, n, &g, part, &t, &calls);
        }
        return t;
}

static struct table cogrouped(struct plan *p, const struct node *n, const struct table *const *in)
{
        if (node_is_broadcast_join(n))
                return broadcast_joined(p, n, in);
        if (node_is_skewed_join(n))
                return skewed_joined(p, n, in);
        struct table placed[NODE_PARENTS];
        const struct table *sides[NODE_PARENTS];
        struct placement by = n->operator== SUBTRACT_BY_KEY ? evaluate_placement(p, n->parents, 1, n->n)
                                                            : evaluate_placement(p, n->parents, n->n_parents, n->n);
        if (n->operator== SUBTRACT_BY_KEY && !n->n) /* as the left side, independent of the parallelism */
                by = in[0]->by.how && (in[0]->by.how == BY_HASH || n->type.key != FST_KIND_F64)
                             ? in[0]->by
                             : (struct placement){BY_HASH, MAX(in[0]->n, 1), 0};
        for (int k = 0; k < n->n_parents; k++) {
                placed[k] = table_placed(p, in[k], by);
                sides[k] = &placed[k];
        }
        if (n->operator== GROUP_BY_KEY)
                return lists(p, n, sides[0], NULL);
        struct table t = table_new(p, by.n);
        if (n->deed.keep_key || n->operator== SUBTRACT_BY_KEY)
                t.by = by;
        /* One call for a key makes a result that does not depend on an unknown order. Joins and subtractions have none. */
        t.ordered = n->operator== COGROUP || n->operator== FLAT_MAP_GROUPS;
        size_t calls = 0;
        for (int part = 0; part < t.n; part++) {
                struct groups g = groups_of(p, sides, n->n_parents, part);
                while (groups_next(&g) && !table_is_full(p, &t)) {
                        uint64_t hash = cell_hash(g.key);
                        switch (n->operator) {
                        case SUBTRACT_BY_KEY:
                                for (size_t k = 0; k < g.group[0].n && g.group[1].n == 0; k++)
                                        table_put(p, &t, part, g.group[0].at[k]);
                                break;
                        case COGROUP:
                        case FLAT_MAP_GROUPS:
                                for (int k = 0; k < n->n_parents; k++)
                                        hash = see_side(&n->deed, hash, &g.group[k], true);
                                add_made(p, &t, part, &n->deed, hash, g.key);
                                break;
                        default:
                                join_group(p, n, &g, part, &t, &calls);
                        }
                }
        }
        return t;
}

/* --------------------------------------------------------------------------------------------------- all of them */

bool node_is_cut(const struct node *n)
{
        switch (n->operator) {
        case SORT_BY:
        case SORT_ROWS:
        case SORT_BY_KEY:
        case PARTITION_BY_RANGE:
                return true;
        default:
                return node_reads_files(n);
        }
}

int node_cut_partitions(const struct plan *p, int i)
{
        const struct node *n = &p->nodes[i];
        return n->n ? n->n : n->n_parents ? MAX(p->nodes[n->parents[0]].table.n, 1) : 1;
}

static const char *read_again(struct plan *p, const struct node *n, const struct table *in, const int64_t *cut,
                              struct table *out)
{
        struct rows all = files_rows(p, n, in);
        struct table t = table_new(p, n->n);
        size_t k = 0;
        for (int part = 0; part < n->n; part++)
                for (int64_t i = 0; i < cut[part]; i++) {
                        if (k == all.n)
                                return "more rows were read than were saved";
                        table_put(p, &t, part, all.at[k++]);
                }
        *out = t;
        return k == all.n ? NULL : "fewer rows were read than were saved";
}

static struct table evaluate(struct plan *p, struct node *n, const struct table *const *in)
{
        switch (n->operator) {
        case MAP:
        case MAP_TO_NUMBER:
        case FLAT_MAP:
        case FILTER:
        case MAP_VALUES:
        case FLAT_MAP_VALUES:
        case KEYS:
        case VALUES:
        case KEY_BY:
        case MAP_BATCHES:
                return row_by_row(p, n, in[0]);
        case MAP_PARTITIONS:
        case MAP_PARTITIONS_WITH_INDEX:
                return partitions(p, n, in[0]);
        case UNION:
                return united(p, n, in);
        case REPARTITION:
                return repartitioned(p, n, in[0]);
        case BARRIER: {
                struct table made = gathered(p, n, in[0]);
                return repartitioned(p, n, &made);
        }
        case COALESCE:
                return coalesced(p, n, in[0]);
        case SAMPLE:
        case RANDOM_SPLIT:
                return sampled(p, n, in[0]);
        case ZIP_WITH_INDEX:
        case ZIP_WITH_UNIQUE_ID:
                return numbers(p, n, in[0]);
        case ZIP:
                return zipped(p, in);
        case ZIP_PARTITIONS:
                return zipped_partitions(p, n, in);
        case CARTESIAN:
                return cartesian(p, in);
        case SORT_WITHIN_PARTITIONS:
                return sorted_within(p, n, in[0]);
        case PIPE:
                return piped(p, in[0]);
        case GROUP_BY:
                return grouped_by(p, n, in[0]);
        case DISTINCT:
                return distinct(p, n, in[0]);
        case INTERSECTION:
        case SUBTRACT:
                return set_operation(p, n, in);
        case GLOM:
                return glommed(p, in[0]);
        case REDUCE_BY_KEY:
        case FOLD_BY_KEY:
        case AGGREGATE_BY_KEY:
        case COMBINE_BY_KEY:
                return combined(p, n, in[0]);
        case PARTITION_BY:
                return table_placed(p, in[0], (struct placement){BY_HASH, n->n, 0});
        case PARTITION_BY_FUNCTION:
                return table_placed(p, in[0], (struct placement){BY_FUNCTION, n->n, n->deed.number});
        case PLACE_AND_SORT: {
                struct table placed = table_placed(p, in[0], (struct placement){BY_HASH, n->n, 0});
                return sorted_within(p, n, &placed);
        }
        default:
                return cogrouped(p, n, in);
        }
}

const char *evaluate_node(struct plan *p, int i, const int64_t *cut)
{
        struct node *n = &p->nodes[i];
        const struct table *in[NODE_PARENTS];
        const char *wrong = NULL;
        for (int k = 0; k < n->n_parents; k++)
                in[k] = &p->nodes[n->parents[k]].table;
        if (n->operator== RANGE || n->operator== PARALLELIZE || n->operator== TEXT_FILE || n->operator== BINARY_RECORDS)
                n->table = source(p, n, cut);
        else if (node_reads_files(n))
                wrong = read_again(p, n, in[0], cut, &n->table);
        else if (node_is_cut(n))
                wrong = ranges(p, i, in[0], cut, &n->table);
        else
                n->table = evaluate(p, n, in);
        return wrong ? wrong : table_is_full(p, &n->table) ? "" : NULL;
}
