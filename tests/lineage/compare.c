/* See compare.h. Rows are compared in order where the order is defined, else as a multiset. */
#include "compare.h"

#include "base/mem.h"
#include "build.h"
#include "functions.h"
#include "place.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static struct cell_room room, room2;

__attribute__((format(printf, 2, 3))) static bool wrong(struct verdict *v, const char *format, ...)
{
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(v->text, sizeof(v->text), format, arguments);
        va_end(arguments);
        return false;
}

static bool failed(struct verdict *v, int status)
{
        return wrong(v, "the action failed with status %d (%s)", status, strerror(-status));
}

static bool row_same(struct row a, struct row b)
{
        return row_compare(a, b) == 0;
}

static bool differs(struct verdict *v, const char *where, size_t at, const struct row *want, const struct row *have)
{
        char a[400] = "nothing", b[400] = "nothing";
        if (want)
                row_print(*want, a, sizeof(a));
        if (have)
                row_print(*have, b, sizeof(b));
        return wrong(v, "%s, row %zu: should be %s, is %s", where, at, a, b);
}

/* Compares rows in their order with the expected ones. */
static bool same_rows(struct plan *p, const struct rows *want, const struct rows *have, bool ordered, const char *where,
                      struct verdict *v)
{
        struct rows a = *want, b = *have;
        if (!ordered) {
                a = rows_sorted(p, want, true, false);
                b = rows_sorted(p, have, true, false);
        }
        for (size_t i = 0; i < MAX(a.n, b.n); i++)
                if (i >= a.n || i >= b.n || !row_same(a.at[i], b.at[i]))
                        return differs(v, where, i, i < a.n ? &a.at[i] : NULL, i < b.n ? &b.at[i] : NULL);
        return true;
}

static struct rows read_all(struct plan *p, fst_iter *iter, fst_type type)
{
        struct rows rows = {0};
        struct row row;
        while (read_row(iter, type, &row))
                rows_add(&p->arena, &rows, row_keep(&p->arena, row));
        return rows;
}

/* Compares partition by partition. @have has the rows of all, one after another. */
static bool same_table(struct plan *p, const struct table *t, const struct rows *have, struct verdict *v)
{
        size_t at = 0;
        for (int part = 0; part < t->n; part++) {
                char where[64];
                struct rows here = {.at = have->at + at, .n = MIN(t->parts[part].n, have->n - at)};
                snprintf(where, sizeof(where), "%zu rows of %zu, partition %d", have->n, t->rows, part);
                if (!same_rows(p, &t->parts[part], &here, t->ordered, where, v))
                        return false;
                at += here.n;
        }
        return at == have->n || differs(v, "behind the last partition", at, NULL, &have->at[at]);
}

bool compare_counts(fst_rdd *rdd, int64_t *counts, int n, struct verdict *v)
{
        fst_iter *iter;
        int r = fst_run_job(rdd, fn_rows_count(), FST_I64, NULL, 0, &iter), i = 0;
        if (r)
                return failed(v, r);
        for (int64_t count; fst_next(iter, &count); i++)
                if (i < n)
                        counts[i] = count;
        return i == n || wrong(v, "it has %d partitions, which should be %d", i, n);
}

/* --------------------------------------------------------------------------------------------------- results */

/* Memory for one value of any type, and the variable that an action gets for it. */
struct answer {
        struct build_value value;
        fst_type column;
};

static fst_variable variable(struct answer *a, fst_type column)
{
        fst_constant c = build_zero(column, &a->value);
        a->column = column;
        return column.key ? (fst_variable){(void *)c.at, c.size, c.kind} : FST_NO_VARIABLE;
}

static struct cell answered(const struct answer *a)
{
        switch (a->column.key) {
        case FST_KIND_NONE:
                return (struct cell){0};
        case FST_KIND_I64:
                return cell_i64(a->value.i64);
        case FST_KIND_F64:
                return cell_f64(a->value.f64);
        case FST_KIND_BYTES:
                return cell_bytes(a->value.bytes);
        default:
                return cell_fixed(a->value.fixed, a->column.key_size);
        }
}

static bool same_cell(struct cell want, const struct answer *have, int status, struct verdict *v)
{
        if (status)
                return failed(v, status);
        struct row a = {.key = want}, b = {.key = answered(have)};
        return row_same(a, b) || differs(v, "the answer", 0, &a, &b);
}

static bool same_number(double want, double have, double relative, const char *what, struct verdict *v)
{
        if ((isnan(want) && isnan(have)) || want == have || fabs(want - have) <= relative * MAX(1.0, fabs(want)))
                return true;
        return wrong(v, "%s should be %.17g, is %.17g", what, want, have);
}

static bool empty_answer(struct plan *p, int status, struct verdict *v)
{
        p->failed = true;
        return status == -ENODATA || wrong(v, "the status of an action on no rows is %d", status);
}

/* ------------------------------------------------------------------------------------- what need not wait */

void compare_begin(fst_context *sc, struct plan *p, struct action *a)
{
        fst_rdd *rdd = p->nodes[a->node].rdd;
        if (a->act == ACT_FOREACH)
                a->deed.seen = fst_accumulator_i64(sc, NULL);
        if (!a->async)
                return;
        switch (a->act) {
        case ACT_COUNT:
                a->future = fst_count_async(rdd);
                break;
        case ACT_COLLECT:
                a->future = fst_collect_async(rdd);
                break;
        case ACT_TAKE:
                a->future = fst_take_async(rdd, a->n);
                break;
        default:
                a->future = a->whole ? fst_foreach_partition_async(rdd, fn_each_partition(&a->deed))
                                     : fst_foreach_async(rdd, fn_each(&a->deed));
        }
}

static int count(const struct action *a, fst_rdd *rdd, int64_t *n)
{
        return a->future ? fst_future_count(a->future, n) : fst_count(rdd, n);
}

static int collect(const struct action *a, fst_rdd *rdd, fst_iter **rows)
{
        return a->future ? fst_future_rows(a->future, rows) : fst_collect(rdd, rows);
}

static int take(const struct action *a, fst_rdd *rdd, fst_iter **rows)
{
        return a->future ? fst_future_rows(a->future, rows) : fst_take(rdd, a->n, rows);
}

static int foreach(const struct action *a, fst_rdd *rdd)
{
        return a->future  ? fst_future_wait(a->future)
               : a->whole ? fst_foreach_partition(rdd, fn_each_partition(&a->deed))
                          : fst_foreach(rdd, fn_each(&a->deed));
}

/* ------------------------------------------------------------------------------------------------- one for all */

static bool compare_counted(const struct node *n, const struct action *a, struct verdict *v)
{
        int64_t have;
        int r = count(a, n->rdd, &have);
        if (r)
                return failed(v, r);
        return (size_t)have == n->table.rows || wrong(v, "%" PRId64 " rows, not %zu", have, n->table.rows);
}

/* Successful tasks have counted each row once. Failed attempts do not count. */
static bool compare_seen(fst_context *sc, struct plan *p, const struct node *n, const struct action *a,
                         struct verdict *v)
{
        struct rows all = table_all(p, &n->table);
        fst_totals_i64 want = {.min = all.n ? INT64_MAX : 0, .max = all.n ? INT64_MIN : 0};
        int r = foreach(a, n->rdd);
        if (r)
                return failed(v, r);
        fst_totals_i64 have = fst_accumulator_totals_i64(sc, a->deed.seen);
        for (size_t i = 0; i < all.n; i++) {
                int64_t hash = (int64_t)row_hash(all.at[i]);
                want.count++;
                want.sum = (int64_t)((uint64_t)want.sum + (uint64_t)hash);
                want.min = MIN(want.min, hash);
                want.max = MAX(want.max, hash);
        }
        return memcmp(&want, &have, sizeof(want)) == 0 ||
               wrong(v,
                     "%" PRId64 " rows with the sum %" PRId64 " should be seen, but %" PRId64 " with %" PRId64 " were",
                     want.count, want.sum, have.count, have.sum);
}

static bool compare_reduced(struct plan *p, const struct node *n, const struct action *a, struct verdict *v)
{
        struct rows all = table_all(p, &n->table);
        bool compose = a->n == 2 && n->table.ordered && n->type.key == FST_KIND_I64, greater = a->n == 3;
        fst_fn f = compose ? fn_compose(&a->deed) : greater ? fn_greater(&a->deed) : fn_add(&a->deed);
        struct answer answer;
        fst_variable to = variable(&answer, n->type);
        int r = a->act == ACT_REDUCE ? fst_reduce_at(n->rdd, f, to, FST_HERE("reduce"))
                                     : fst_tree_reduce_at(n->rdd, f, a->n, to, FST_HERE("tree_reduce"));
        if (all.n == 0)
                return empty_answer(p, r, v);
        struct cell sum = all.at[0].key;
        for (size_t i = 1; i < all.n; i++) {
                struct cell x = all.at[i].key;
                sum = compose   ? cell_i64(deed_compose(sum.i64, x.i64))
                      : greater ? deed_greater(sum, x) ? sum : x
                                : cell_add(sum, x, i % 2 ? room.key : room2.key);
        }
        return same_cell(sum, &answer, r, v);
}

/* Makes a zero that is not neutral if it is a number. */
static bool compare_folded(struct plan *p, const struct node *n, const struct action *a, struct verdict *v)
{
        struct rows all = table_all(p, &n->table);
        struct build_value zero;
        struct answer answer;
        fst_constant from = build_zero(n->type, &zero);
        zero.i64 = 7;
        int r = fst_fold_at(n->rdd, from, fn_add(&a->deed), variable(&answer, n->type), FST_HERE("fold"));
        struct cell sum = cell_zero(n->type, room.key);
        for (size_t i = 0; i < all.n; i++)
                sum = cell_add(sum, all.at[i].key, i % 2 ? room.key : room2.key);
        if (n->type.key == FST_KIND_I64)
                sum.i64 = (int64_t)((uint64_t)sum.i64 + 7 * ((uint64_t)n->table.n + 1));
        if (n->type.key == FST_KIND_BYTES && n->table.n && !all.n) /* the sum of no rows is the number 0 */
                sum = cell_add(sum, sum, room.key);
        return same_cell(sum, &answer, r, v);
}

static bool compare_aggregated(struct plan *p, const struct node *n, const struct action *a, struct verdict *v)
{
        struct rows all = table_all(p, &n->table);
        struct deed_chain zero = DEED_CHAIN_ZERO, want = zero, have = zero;
        fst_fn take = fn_chain_take(&a->deed), join = fn_chain_join(&a->deed);
        int r = a->act == ACT_AGGREGATE ? fst_aggregate_at(n->rdd, FST_CONSTANT(&zero), take, join, FST_VARIABLE(&have),
                                                           FST_HERE("aggregate"))
                                        : fst_tree_aggregate_at(n->rdd, FST_CONSTANT(&zero), take, join, a->n,
                                                                FST_VARIABLE(&have), FST_HERE("tree_aggregate"));
        if (r)
                return failed(v, r);
        for (size_t i = 0; i < all.n; i++)
                deed_chain_take(&want, row_hash(all.at[i]));
        return (want.sum == have.sum && want.factor == have.factor) ||
               wrong(v, "the chain should be %" PRIu64 " %" PRIu64 ", is %" PRIu64 " %" PRIu64, want.factor, want.sum,
                     have.factor, have.sum);
}

static bool compare_extreme(struct plan *p, const struct node *n, const struct action *a, struct verdict *v)
{
        struct rows all = table_all(p, &n->table), sorted = rows_sorted(p, &all, false, a->act == ACT_MAX);
        struct answer answer;
        fst_variable to = variable(&answer, n->type);
        int r = a->act == ACT_MIN ? fst_min_at(n->rdd, to, FST_HERE("min")) : fst_max_at(n->rdd, to, FST_HERE("max"));
        return all.n ? same_cell(sorted.at[0].key, &answer, r, v) : empty_answer(p, r, v);
}

static double number_of(struct cell c)
{
        return c.kind == FST_KIND_I64 ? (double)c.i64 : c.f64;
}

static bool compare_sum(struct plan *p, const struct node *n, struct verdict *v)
{
        struct rows all = table_all(p, &n->table);
        struct answer answer;
        struct cell sum = cell_zero(n->type, NULL);
        int r = fst_sum_at(n->rdd, variable(&answer, n->type), FST_HERE("sum"));
        for (size_t i = 0; i < all.n; i++)
                sum = cell_add(sum, all.at[i].key, NULL);
        return same_cell(sum, &answer, r, v);
}

static bool compare_stats(struct plan *p, const struct node *n, struct verdict *v)
{
        struct rows all = table_all(p, &n->table);
        struct fst_statistics stats;
        double sum = 0, squares = 0, least = INFINITY, most = -INFINITY, mean;
        int r = fst_stats(n->rdd, &stats);
        if (r)
                return failed(v, r);
        for (size_t i = 0; i < all.n; i++) {
                double x = number_of(all.at[i].key);
                sum += x;
                least = MIN(least, x);
                most = MAX(most, x);
        }
        mean = all.n ? sum / (double)all.n : 0;
        for (size_t i = 0; i < all.n; i++)
                squares += pow(number_of(all.at[i].key) - mean, 2);
        return same_number((double)all.n, (double)stats.count, 0, "count", v) &&
               same_number(sum, stats.sum, 1e-9, "sum", v) && same_number(mean, stats.mean, 1e-9, "mean", v) &&
               same_number(least, stats.min, 0, "min", v) && same_number(most, stats.max, 0, "max", v) &&
               same_number(all.n ? squares / (double)all.n : (double)NAN, stats.variance, 1e-7, "variance", v) &&
               same_number(all.n > 1 ? squares / (double)(all.n - 1) : (double)NAN, stats.sample_variance, 1e-7,
                           "sample variance", v);
}

static bool compare_histogram(struct plan *p, const struct node *n, const struct action *a, struct verdict *v)
{
        struct rows all = table_all(p, &n->table);
        struct fst_buckets histogram;
        double bounds[12];
        for (int i = 0; i <= a->n; i++)
                bounds[i] = i == 0 ? -25 : bounds[i - 1] + 7 * i;
        int r = fst_histogram_by(n->rdd, bounds, a->n + 1, &histogram);
        if (r)
                return failed(v, r);
        for (int i = 0; i < a->n; i++) {
                int64_t count = 0;
                for (size_t k = 0; k < all.n; k++) {
                        double x = number_of(all.at[k].key);
                        count += x >= bounds[i] && (x < bounds[i + 1] || (i == a->n - 1 && x == bounds[i + 1]));
                }
                if (count != histogram.counts[i])
                        return wrong(v, "bucket %d should have %" PRId64 ", has %" PRId64, i, count,
                                     histogram.counts[i]);
        }
        return true;
}

/* ------------------------------------------------------------------------------------------------------ some rows */

static bool compare_collected(struct plan *p, const struct node *n, const struct action *a, struct verdict *v)
{
        fst_iter *iter;
        int r = collect(a, n->rdd, &iter), parts = fst_rdd_partitions(n->rdd);
        if (r)
                return failed(v, r);
        if (parts != n->table.n)
                return wrong(v, "it has %d partitions, which should be %d", parts, n->table.n);
        struct rows have = read_all(p, iter, n->type);
        return same_table(p, &n->table, &have, v);
}

static bool compare_iterated(struct plan *p, const struct node *n, struct verdict *v)
{
        fst_iter *iter;
        int r = fst_to_local_iterator(n->rdd, &iter);
        if (r)
                return failed(v, r);
        struct rows have = read_all(p, iter, n->type);
        return fst_iter_status(iter) ? failed(v, fst_iter_status(iter)) : same_table(p, &n->table, &have, v);
}

/* Checks that each row exists, and occurs no more often than in the input, except with replacement (@again). */
static bool some_rows(struct plan *p, const struct rows *of, const struct rows *rows, bool again, struct verdict *v)
{
        struct rows all = rows_sorted(p, of, true, false), have = rows_sorted(p, rows, true, false);
        for (size_t i = 0, k = 0; i < have.n; i++) {
                while (k < all.n && row_compare(all.at[k], have.at[i]) < 0)
                        k++;
                if (k == all.n || !row_same(all.at[k], have.at[i]))
                        return differs(v, "of all rows", i, NULL, &have.at[i]);
                k += !again;
        }
        return true;
}

static bool compare_taken(struct plan *p, const struct node *n, const struct action *a, struct verdict *v)
{
        struct rows all = table_all(p, &n->table);
        fst_iter *iter;
        int r = take(a, n->rdd, &iter);
        if (r)
                return failed(v, r);
        struct rows have = read_all(p, iter, n->type);
        size_t want = MIN(all.n, (size_t)a->n);
        if (have.n != want)
                return wrong(v, "%zu rows were taken, not %zu", have.n, want);
        if (!n->table.ordered)
                return some_rows(p, &all, &have, false, v);
        all.n = want;
        return same_rows(p, &all, &have, true, "what was taken", v);
}

static bool compare_first(struct plan *p, const struct node *n, struct verdict *v)
{
        struct rows all = table_all(p, &n->table);
        struct answer key, value;
        fst_variable to = variable(&key, type_key(n->type)), to_value = variable(&value, type_value(n->type));
        int r = fst_first_at(n->rdd, to, to_value, FST_HERE("first"));
        if (all.n == 0)
                return empty_answer(p, r, v);
        return same_cell(all.at[0].key, &key, r, v) && same_cell(all.at[0].value, &value, r, v);
}

static bool compare_ordered(struct plan *p, const struct node *n, const struct action *a, struct verdict *v)
{
        struct rows all = table_all(p, &n->table);
        bool top = a->act == ACT_TOP;
        fst_iter *iter;
        int r = top ? fst_top(n->rdd, a->n, &iter) : fst_take_ordered(n->rdd, a->n, &iter);
        if (r)
                return failed(v, r);
        struct rows have = read_all(p, iter, n->type), want = rows_sorted(p, &all, true, top);
        want.n = MIN(want.n, (size_t)a->n);
        return same_rows(p, &want, &have, true, "in order", v);
}

static bool compare_ordered_by(struct plan *p, const struct node *n, const struct action *a, struct verdict *v)
{
        struct rows all = table_all(p, &n->table), keyed = {0}, want = {0};
        bool down = a->n % 2;
        fst_iter *iter;
        int r = fst_take_ordered_by(n->rdd, a->n, fn_rows(&a->deed), a->deed.into,
                                    down ? FST_DESCENDING : FST_ASCENDING, &iter);
        if (r)
                return failed(v, r);
        for (size_t i = 0; i < all.n; i++) {
                struct row row = deed_row(&a->deed, row_hash(all.at[i]), 0, all.at[i].key, &room);
                row.value = cell_i64((int64_t)i);
                rows_add(&p->arena, &keyed, row_keep(&p->arena, row));
        }
        keyed = rows_sorted(p, &keyed, false, down);
        for (size_t i = 0; i < MIN(keyed.n, (size_t)a->n); i++)
                rows_add(&p->arena, &want, all.at[keyed.at[i].value.i64]);
        struct rows have = read_all(p, iter, n->type);
        return same_rows(p, &want, &have, true, "in the order of keys", v);
}

static bool compare_sampled(struct plan *p, const struct node *n, const struct action *a, struct verdict *v)
{
        struct rows all = table_all(p, &n->table);
        bool again = a->n % 3 == 0;
        fst_iter *iter;
        int r = fst_take_sample(n->rdd, again, a->n, (int64_t)p->seed, &iter);
        if (r)
                return failed(v, r);
        struct rows have = read_all(p, iter, n->type);
        size_t want = all.n == 0 ? 0 : again ? (size_t)a->n : MIN(all.n, (size_t)a->n);
        if (have.n != want)
                return wrong(v, "%zu rows were drawn, not %zu", have.n, want);
        return some_rows(p, &all, &have, again, v);
}

static bool compare_job(struct plan *p, const struct node *n, const struct action *a, struct verdict *v)
{
        int chosen[] = {a->n % n->table.n, a->n / 7 % n->table.n, a->n % n->table.n};
        fst_iter *iter;
        int r = fst_run_job(n->rdd, fn_rows_count(), FST_I64, chosen, 3, &iter), i = 0;
        if (r)
                return failed(v, r);
        for (int64_t count; fst_next(iter, &count); i++)
                if (i < 3 && (size_t)count != n->table.parts[chosen[i]].n)
                        return wrong(v, "partition %d has %" PRId64 " rows, not %zu", chosen[i], count,
                                     n->table.parts[chosen[i]].n);
        return i == 3 || wrong(v, "3 partitions were asked for, %d answered", i);
}

/* ---------------------------------------------------------------------------------------------------------- by key */

/* Compares keys with their values: @per_key of the rows of each key, which are sorted. */
static struct rows by_key(struct plan *p, const struct rows *rows,
                          struct cell (*per_key)(struct plan *p, const struct row *at, size_t n))
{
        struct rows same = {0}, keys = {0};
        for (size_t i = 0; i < rows->n; i++) {
                struct row r = rows->at[i];
                if (r.key.kind == FST_KIND_F64 && r.key.f64 == 0)
                        r.key.f64 = 0; /* -0.0 and 0.0 are one key, in any order */
                rows_add(&p->arena, &same, r);
        }
        struct rows sorted = rows_sorted(p, &same, false, false);
        for (size_t i = 0, end; i < sorted.n; i = end) {
                for (end = i; end < sorted.n && cell_compare(sorted.at[i].key, sorted.at[end].key) == 0;)
                        end++;
                rows_add(&p->arena, &keys, (struct row){sorted.at[i].key, per_key(p, &sorted.at[i], end - i)});
        }
        return keys;
}

static struct cell number_of_rows(struct plan *p, const struct row *at, size_t n)
{
        return cell_i64((int64_t)n);
}

static struct cell last_of_rows(struct plan *p, const struct row *at, size_t n)
{
        return at[n - 1].value;
}

static struct cell sum_of_rows(struct plan *p, const struct row *at, size_t n)
{
        struct cell sum = at[0].value;
        for (size_t i = 1; i < n; i++)
                sum = cell_add(sum, at[i].value, i % 2 ? room.key : room2.key);
        return row_keep(&p->arena, (struct row){.key = sum}).key;
}

static bool compare_map(struct plan *p, const struct node *n, const struct action *a, struct verdict *v)
{
        struct rows all = table_all(p, &n->table), want;
        fst_type value = a->act == ACT_COUNT_BY_KEY || a->act == ACT_COUNT_BY_VALUE ? FST_I64 : type_value(n->type);
        fst_map *map;
        int r;
        switch (a->act) {
        case ACT_COUNT_BY_KEY:
                want = by_key(p, &all, number_of_rows);
                r = fst_count_by_key(n->rdd, &map);
                break;
        case ACT_COUNT_BY_VALUE:
                want = by_key(p, &all, number_of_rows);
                r = fst_count_by_value(n->rdd, &map);
                break;
        case ACT_COLLECT_AS_MAP:
                want = by_key(p, &all, last_of_rows);
                r = fst_collect_as_map(n->rdd, &map);
                break;
        default:
                want = by_key(p, &all, sum_of_rows);
                r = fst_reduce_by_key_locally(n->rdd, fn_add(&a->deed), &map);
        }
        if (r)
                return failed(v, r);
        struct rows have = read_all(p, fst_map_rows(map), fst_type_pair(n->type, value));
        if (fst_map_count(map) != (int64_t)have.n)
                return wrong(v, "a map of %" PRId64 " keys has %zu", fst_map_count(map), have.n);
        return same_rows(p, &want, &have, false, "the map", v);
}

static bool compare_found(struct plan *p, const struct node *n, const struct action *a, struct verdict *v)
{
        struct rows all = table_all(p, &n->table), want = {0};
        struct cell key = all.at[(size_t)a->n % all.n].key;
        bool ordered = n->table.ordered;
        fst_iter *iter;
        if (a->n % 8 == 0)
                key = cell_make(type_key(n->type), (uint64_t)a->n, 0, room.key);
        fst_key asked = key.kind == FST_KIND_I64     ? fst_key_i64(key.i64)
                        : key.kind == FST_KIND_F64   ? fst_key_f64(key.f64)
                        : key.kind == FST_KIND_BYTES ? fst_key_bytes(key.bytes)
                                                     : fst_key_fixed(key.bytes.data);
        int r = fst_lookup_at(n->rdd, asked, &iter, FST_HERE("lookup"));
        if (r)
                return failed(v, r);
        for (size_t i = 0; i < all.n; i++)
                if (cell_compare(all.at[i].key, key) == 0)
                        rows_add(&p->arena, &want, (struct row){.key = all.at[i].value});
        struct rows have = read_all(p, iter, type_value(n->type));
        return same_rows(p, &want, &have, ordered, "what was found", v);
}

static bool compare_about(struct plan *p, const struct node *n, struct verdict *v)
{
        struct rows all = table_all(p, &n->table), sorted = rows_sorted(p, &all, true, false);
        int64_t have, want = 0;
        int r = fst_count_approx_distinct(n->rdd, 0.05, &have);
        for (size_t i = 0; i < sorted.n; i++)
                want += i == 0 || row_compare(sorted.at[i - 1], sorted.at[i]) != 0;
        if (r)
                return failed(v, r);
        return llabs(have - want) <= 2 + want * 3 / 10 ||
               wrong(v, "%" PRId64 " different rows are taken for about %" PRId64, want, have);
}

/* ------------------------------------------------------------------------------------------------------- files */

static bool compare_lines(const struct rows *rows, FILE *file, int part, struct verdict *v)
{
        char *line = NULL, text[MAX_CELL_TEXT];
        size_t room_of_line = 0;
        ssize_t len;
        for (size_t i = 0; i < rows->n; i++) {
                fst_bytes want = cell_text(rows->at[i].key, text).bytes;
                len = getline(&line, &room_of_line, file);
                if (len != (ssize_t)want.len + 1 || memcmp(line, want.data, want.len) != 0) {
                        wrong(v, "part %d, line %zu: should be %.*s, is %.*s", part, i, (int)want.len, want.data,
                              (int)MAX(len, 0), line);
                        free(line);
                        return false;
                }
        }
        len = getline(&line, &room_of_line, file);
        free(line);
        return len < 0 || wrong(v, "part %d has more than %zu lines", part, rows->n);
}

static bool compare_saved(const struct plan *p, const struct node *n, const struct action *a, const char *folder,
                          struct verdict *v)
{
        _cleanup_free_ char *path = mem_printf("%s/%" PRIu64 "-%d-text", folder, p->seed, (int)(a - p->actions));
        int r = fst_save_as_text_file(n->rdd, path);
        if (r)
                return failed(v, r);
        for (int part = 0; part < n->table.n; part++) {
                _cleanup_free_ char *name = mem_printf("%s/part-%05d", path, part);
                FILE *file = fopen(name, "re");
                if (!file)
                        return wrong(v, "%s: %m", name);
                bool good = compare_lines(&n->table.parts[part], file, part, v);
                fclose(file);
                if (!good)
                        return false;
        }
        return true;
}

/* -------------------------------------------------------------------------------------------------- all of them */

static bool compare_poisoned(struct plan *p, const struct action *a, struct verdict *v)
{
        const struct node *n = &p->nodes[a->node], *parent = &p->nodes[n->parents[0]];
        bool fails = false;
        int64_t rows;
        fst_iter *iter;
        int r = a->act == ACT_COUNT ? count(a, n->rdd, &rows) : collect(a, n->rdd, &iter);
        for (int part = 0; part < parent->table.n; part++)
                for (size_t k = 0; k < parent->table.parts[part].n; k++)
                        fails = fails ||
                                deed_fails(&n->deed, row_hash(parent->table.parts[part].at[k]), DEED_POISON - 1);
        p->failed = p->failed || fails;
        if (fails)
                return r < 0 || wrong(v, "a task that fails for good did not fail the job");
        return r == 0 || failed(v, r);
}

bool compare_action(fst_context *sc, struct plan *p, const struct action *a, const char *folder, struct verdict *v)
{
        const struct node *n = &p->nodes[a->node];
        bool empty;
        int r;
        if (p->poisoned)
                return compare_poisoned(p, a, v);
        switch (a->act) {
        case ACT_COLLECT:
                return compare_collected(p, n, a, v);
        case ACT_COUNT:
                return compare_counted(n, a, v);
        case ACT_IS_EMPTY:
                r = fst_is_empty(n->rdd, &empty);
                return r ? failed(v, r) : empty == (n->table.rows == 0) || wrong(v, "is_empty is %d", empty);
        case ACT_TAKE:
                return compare_taken(p, n, a, v);
        case ACT_FIRST:
                return compare_first(p, n, v);
        case ACT_REDUCE:
        case ACT_TREE_REDUCE:
                return compare_reduced(p, n, a, v);
        case ACT_FOLD:
                return compare_folded(p, n, a, v);
        case ACT_AGGREGATE:
        case ACT_TREE_AGGREGATE:
                return compare_aggregated(p, n, a, v);
        case ACT_MIN:
        case ACT_MAX:
                return compare_extreme(p, n, a, v);
        case ACT_SUM:
                return compare_sum(p, n, v);
        case ACT_STATS:
                return compare_stats(p, n, v);
        case ACT_HISTOGRAM:
                return compare_histogram(p, n, a, v);
        case ACT_TOP:
        case ACT_TAKE_ORDERED:
                return compare_ordered(p, n, a, v);
        case ACT_TAKE_ORDERED_BY:
                return compare_ordered_by(p, n, a, v);
        case ACT_COUNT_APPROX_DISTINCT:
                return compare_about(p, n, v);
        case ACT_LOOKUP:
                return compare_found(p, n, a, v);
        case ACT_TAKE_SAMPLE:
                return compare_sampled(p, n, a, v);
        case ACT_RUN_JOB:
                return compare_job(p, n, a, v);
        case ACT_TO_LOCAL_ITERATOR:
                return compare_iterated(p, n, v);
        case ACT_FOREACH:
                return compare_seen(sc, p, n, a, v);
        case ACT_SAVE_AS_TEXT_FILE:
                return compare_saved(p, n, a, folder, v);
        default:
                return compare_map(p, n, a, v);
        }
}
