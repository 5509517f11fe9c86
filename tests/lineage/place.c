/* See place.h. */
#include "place.h"

#include "base/mem.h"
#include "rdd/aggregate/hash.h"
#include "rdd/cogroup/skewed_placer.h"

struct table table_new(struct plan *p, int partitions)
{
        struct table t = {.n = partitions, .ordered = true};
        t.parts = arena_alloc(&p->arena, (size_t)MAX(partitions, 1) * sizeof(*t.parts));
        memset(t.parts, 0, (size_t)MAX(partitions, 1) * sizeof(*t.parts));
        return t;
}

bool table_is_full(const struct plan *p, const struct table *t)
{
        return t->rows > p->most_rows;
}

void table_put(struct plan *p, struct table *t, int partition, struct row r)
{
        if (table_is_full(p, t))
                return;
        rows_add(&p->arena, &t->parts[partition], r);
        t->rows++;
}

static uint64_t engine_hash(struct cell key)
{
        fst_batch one = {.rows = 1, .type = {.key = key.kind, .key_size = (uint32_t)key.bytes.len}};
        uint64_t hash;
        if (key.kind == FST_KIND_I64)
                one.key.i64 = &key.i64;
        else if (key.kind == FST_KIND_F64)
                one.key.f64 = &key.f64;
        else if (key.kind == FST_KIND_BYTES)
                one.key.bytes = &key.bytes;
        else
                one.key.fixed = (char *)key.bytes.data;
        hash_keys(&one, &hash);
        return hash;
}

int placement_of(const struct plan *p, struct placement by, struct cell key)
{
        if (by.how == BY_HASH)
                return (int)hash_partition(engine_hash(key), (uint32_t)by.n);
        return deed_place(&(struct deed){.number = by.which}, key, by.n);
}

struct table table_placed(struct plan *p, const struct table *t, struct placement by)
{
        if (placement_equal(t->by, by))
                return *t;
        struct table placed = table_new(p, by.n);
        placed.ordered = t->ordered;
        placed.by = by;
        for (int i = 0; i < t->n; i++)
                for (size_t k = 0; k < t->parts[i].n; k++)
                        table_put(p, &placed, placement_of(p, by, t->parts[i].at[k].key), t->parts[i].at[k]);
        return placed;
}

/* ---------------------------------------------------------------------------------------------------- skewed joins */

bool table_is_sampled_whole(const struct table *t)
{
        for (int i = 0; i < t->n; i++)
                if (t->parts[i].n > 8000 / (size_t)t->n) /* driver/actions/skewed_keys.c */
                        return false;
        return true;
}

static fst_type engine_type(struct cell cell)
{
        return cell.kind == FST_KIND_I64     ? FST_I64
               : cell.kind == FST_KIND_F64   ? FST_F64
               : cell.kind == FST_KIND_BYTES ? FST_BYTES
                                             : FST_FIXED(cell.bytes.len);
}

static fst_column engine_column(struct cell *cell)
{
        switch (cell->kind) {
        case FST_KIND_I64:
                return (fst_column){.i64 = &cell->i64};
        case FST_KIND_F64:
                return (fst_column){.f64 = &cell->f64};
        case FST_KIND_BYTES:
                return (fst_column){.bytes = &cell->bytes};
        default:
                return (fst_column){.fixed = (char *)cell->bytes.data};
        }
}

static struct table table_placed_skewed(struct plan *p, const struct table *in, const struct partitioner *partitioner)
{
        struct skewed_placer *placer = new0(struct skewed_placer);
        struct table placed = table_new(p, partitioner->partitions);
        uint32_t out[FST_BATCH_ROWS];
        fst_batch copies;
        for (int i = 0; i < in->n; i++) {
                skewed_placer_begin(placer, partitioner, i);
                for (size_t k = 0; k < in->parts[i].n; k++) {
                        struct row row = in->parts[i].at[k];
                        fst_batch one = {.rows = 1, .key = engine_column(&row.key), .value = engine_column(&row.value)};
                        one.type = fst_type_pair(engine_type(row.key), engine_type(row.value));
                        skewed_placer_place(placer, &one, out);
                        table_put(p, &placed, (int)out[0], row);
                        while (skewed_placer_next_copies(placer, &copies, out))
                                for (uint32_t c = 0; c < copies.rows; c++)
                                        table_put(p, &placed, (int)out[c], row);
                }
        }
        skewed_placer_deinit(placer);
        free(placer);
        return placed;
}

void tables_placed_skewed(struct plan *p, const struct table *const in[2], int n, uint32_t sides,
                          struct table placed[2])
{
        struct heavy_samples samples[2];
        struct heavy_keys heavy;
        for (int side = 0; side < 2; side++) {
                samples[side] = (struct heavy_samples){new_array(struct heavy_sample, in[side]->rows), 0};
                for (int i = 0; i < in[side]->n; i++)
                        for (size_t k = 0; k < in[side]->parts[i].n; k++)
                                samples[side].keys[samples[side].n++] =
                                        (struct heavy_sample){engine_hash(in[side]->parts[i].at[k].key), 1};
        }
        heavy_keys_choose(&heavy, samples, n, sides);
        for (int side = 0; side < 2; side++) {
                struct partitioner partitioner;
                partitioner_init_skewed(&partitioner, n, FST_I64, side);
                partitioner_set_heavy_keys(&partitioner, &heavy);
                placed[side] = table_placed_skewed(p, in[side], &partitioner);
                partitioner_deinit(&partitioner);
                free(samples[side].keys);
        }
        heavy_keys_deinit(&heavy);
}

/* ------------------------------------------------------------------------------------------------------- in order */

struct numbered {
        struct row row;
        size_t at;
};

static int compare_numbers(size_t a, size_t b)
{
        return (a > b) - (a < b);
}

static int by_key(const void *a, const void *b)
{
        const struct numbered *x = a, *y = b;
        int order = cell_order(x->row.key, y->row.key);
        return order ? order : compare_numbers(x->at, y->at);
}

static int by_key_down(const void *a, const void *b)
{
        const struct numbered *x = a, *y = b;
        int order = cell_order(y->row.key, x->row.key);
        return order ? order : compare_numbers(x->at, y->at);
}

static int by_row(const void *a, const void *b)
{
        const struct numbered *x = a, *y = b;
        int order = row_order(x->row, y->row);
        return order ? order : compare_numbers(x->at, y->at);
}

static int by_row_down(const void *a, const void *b)
{
        const struct numbered *x = a, *y = b;
        int order = row_order(y->row, x->row);
        return order ? order : compare_numbers(x->at, y->at);
}

struct rows rows_sorted(struct plan *p, const struct rows *rows, bool whole, bool descending)
{
        struct rows sorted = {0};
        if (rows->n == 0)
                return sorted;
        struct numbered *all = mem_alloc(rows->n * sizeof(*all));
        for (size_t i = 0; i < rows->n; i++)
                all[i] = (struct numbered){rows->at[i], i};
        qsort(all, rows->n, sizeof(*all),
              whole        ? descending ? by_row_down : by_row
              : descending ? by_key_down
                           : by_key);
        for (size_t i = 0; i < rows->n; i++)
                rows_add(&p->arena, &sorted, all[i].row);
        free(all);
        return sorted;
}

struct rows table_all(struct plan *p, const struct table *t)
{
        struct rows all = {0};
        for (int i = 0; i < t->n; i++)
                for (size_t k = 0; k < t->parts[i].n; k++)
                        rows_add(&p->arena, &all, t->parts[i].at[k]);
        return all;
}

bool rows_are_unique(struct plan *p, const struct rows *rows)
{
        struct rows sorted = rows_sorted(p, rows, false, false);
        for (size_t i = 1; i < sorted.n; i++)
                if (cell_compare(sorted.at[i - 1].key, sorted.at[i].key) == 0)
                        return false;
        return true;
}

struct groups groups_of(struct plan *p, const struct table *const *tables, int n, int partition)
{
        struct groups g = {.n = n};
        for (int k = 0; k < n; k++)
                g.sides[k] = rows_sorted(p, &tables[k]->parts[partition], false, false);
        return g;
}

bool groups_next(struct groups *g)
{
        int least = -1;
        for (int k = 0; k < g->n; k++)
                if (g->at[k] < g->sides[k].n &&
                    (least < 0 || cell_compare(g->sides[k].at[g->at[k]].key, g->sides[least].at[g->at[least]].key) < 0))
                        least = k;
        if (least < 0)
                return false;
        g->key = g->sides[least].at[g->at[least]].key;
        for (int k = 0; k < g->n; k++) {
                g->group[k] = (struct rows){.at = g->sides[k].at + g->at[k]};
                for (; g->at[k] < g->sides[k].n && cell_compare(g->sides[k].at[g->at[k]].key, g->key) == 0; g->at[k]++)
                        g->group[k].n++;
        }
        return true;
}

struct cell row_packed(struct plan *p, struct row r)
{
        struct list list = {0};
        if (!r.value.kind)
                return r.key;
        list_add(&p->arena, &list, r);
        return list_cell(&list);
}
