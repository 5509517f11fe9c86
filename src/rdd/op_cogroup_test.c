/*
 * Cogroups against a plain reference: the rows of all sides as arrays, sorted with qsort and met in nested loops. Each
 * mode with each kind of keys, with memory for all and with so little that sides, and the rows of one key, go to disk.
 */
#include "rdd/op_cogroup.h"

#include "base/mem.h"
#include "base/vec.h"
#include "store/memory.h"
#include "store/spill_space.h"

#include <firesteel/list.h>

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* As FST_KEYS, within which FST_FN cannot be used. */
#define KINDS(X)                                                                                                       \
        X(I64, i64, int64_t)                                                                                           \
        X(F64, f64, double)                                                                                            \
        X(BYTES, bytes, fst_bytes)                                                                                     \
        X(FIXED, fixed, const void *)

enum { AMPLE = 256 << 20, TIGHT = 5 << 20 };

/* ------------------------------------------------------------------------------------------------------- rows */

/* A key is a rank, by which keys are in order; 0 of F64 is written in two ways, of which -0.0 is the earlier. */
struct row {
        int64_t rank, number, value;
        bool negative;
};

struct rows_of_side {
        struct row *data;
        size_t len, cap;
};

/* What comes out: a rank and two numbers. */
struct seen {
        int64_t rank, a, b;
};

static uint64_t random_state;

static uint64_t random_below(uint64_t n)
{
        uint64_t z = random_state += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return (z ^ (z >> 31)) % n;
}

static fst_type key_type(uint8_t kind)
{
        static const fst_type types[] = {
                [FST_KIND_I64] = {.key = FST_KIND_I64, .key_size = 8},
                [FST_KIND_F64] = {.key = FST_KIND_F64, .key_size = 8},
                [FST_KIND_BYTES] = {.key = FST_KIND_BYTES},
                [FST_KIND_FIXED] = {.key = FST_KIND_FIXED, .key_size = 20},
        };
        return types[kind];
}

/* Keys by rank, and back: these are what functions are given. */
enum { NAN_RANK = 1000000 };

static double f64_of(const struct row *r)
{
        return r->rank == NAN_RANK ? NAN : r->rank == 0 && r->negative ? -0.0 : (double)r->rank;
}

static int64_t rank_of_i64(int64_t key)
{
        return key;
}

static int64_t rank_of_f64(double key)
{
        return isnan(key) ? NAN_RANK : (int64_t)key;
}

static int64_t rank_of_bytes(fst_bytes key)
{
        char digits[12] = {0};
        assert_true(key.len >= 9);
        memcpy(digits, key.data, 9);
        return atoll(digits) - 500;
}

static int64_t rank_of_fixed(const void *key)
{
        return rank_of_bytes((fst_bytes){key, 20});
}

/* Digits that sort as ranks do, and sometimes more than fits into a register or two. */
static size_t bytes_of(const struct row *r, char *to)
{
        size_t more = r->rank % 3 == 0 ? 30 : 0;
        char digits[24];
        snprintf(digits, sizeof(digits), "%09lld", (long long)r->rank + 500);
        memcpy(to, digits, 9);
        memset(to + 9, 'x', 11 + more);
        return 9 + more;
}

static struct rows_of_side random_rows(uint8_t kind, size_t n, int64_t ranks, int skew)
{
        struct rows_of_side rows = {0};
        vec_reserve(&rows, n);
        for (size_t i = 0; i < n; i++) {
                bool skewed = (int)random_below(100) < skew;
                int64_t rank = skewed ? 7 : (int64_t)random_below((uint64_t)ranks) - (kind == FST_KIND_F64 ? 10 : 0);
                if (kind == FST_KIND_F64 && random_below(50) == 0)
                        rank = NAN_RANK;
                rows.data[rows.len++] =
                        (struct row){rank, (int64_t)i, (int64_t)random_below(1000), random_below(2) == 0};
        }
        return rows;
}

static bool two_ways;

static int row_compare(const void *x, const void *y)
{
        const struct row *a = x, *b = y;
        if (a->rank != b->rank)
                return a->rank < b->rank ? -1 : 1;
        if (two_ways && a->rank == 0 && a->negative != b->negative)
                return a->negative ? -1 : 1;
        return a->number < b->number ? -1 : a->number > b->number;
}

static void sort_rows(struct rows_of_side *rows, uint8_t kind)
{
        two_ways = kind == FST_KIND_F64;
        if (rows->data)
                qsort(rows->data, rows->len, sizeof(*rows->data), row_compare);
}

/* ------------------------------------------------------------------------------------------------ the fixture */

struct fixture {
        struct memory_manager *manager;
        struct spill_space space;
        struct task_run run;
        struct op sink;
        VEC(struct seen) seen;
        size_t enough; /* rows; 0: the sink takes all */
};

static int see(struct op *op, const struct rows *in)
{
        struct fixture *f = container_of(op, struct fixture, sink);
        for (uint32_t i = 0; i < in->batch.rows; i++) {
                struct seen s;
                memcpy(&s, in->batch.key.fixed + i * sizeof(s), sizeof(s));
                vec_push(&f->seen, s);
        }
        return f->enough && f->seen.len >= f->enough ? OP_ENOUGH : 0;
}

static const struct op_class see_class = {"see", .consume = see};

static void fixture_init(struct fixture *f, size_t pool, bool may_spill)
{
        struct fst_error error = FST_ERROR_INIT;
        *f = (struct fixture){.manager = memory_manager_new(pool, 0)};
        f->space.spill_codec = CODEC_LZ4;
        if (may_spill && disk_dirs_new("/tmp", 4, &f->space.dirs, &error) != 0)
                fail_msg("%s", error_message(&error));
        task_run_init(&f->run, f->manager, may_spill ? &f->space : NULL);
        task_run_begin(&f->run, &(struct fst_task_info){0}, 1);
        op_init(&f->sink, &see_class, &f->run, FST_FIXED(sizeof(struct seen)));
        random_state = 1;
}

static void fixture_deinit(struct fixture *f)
{
        task_run_end(&f->run);
        assert_int_equal(memory_manager_execution_used(f->manager), 0);
        task_run_deinit(&f->run);
        memory_manager_free(f->manager);
        disk_dirs_free(f->space.dirs);
        vec_deinit(&f->seen);
}

static struct op *cogroup_new(struct fixture *f, enum cogroup_mode mode, const fst_type *sides, int n, fst_type out,
                              fst_fn fn)
{
        struct fst_error error = FST_ERROR_INIT;
        fn.name = fn.name ? fn.name : "none";
        if (cogroup_check(mode, "cogroup", sides, n, out, &fn, &error))
                fail_msg("%s", error_message(&error));
        struct op *op = cogroup_op_new(&f->run, mode, sides, n, out, &fn);
        op->next = &f->sink;
        return op;
}

/* Rows in batches, whose memory goes after each. */
static int push_side(struct op *side, const struct rows_of_side *rows)
{
        fst_type type = side->type;
        enum { MOST = 500 };
        int64_t *values = new_array(int64_t, MOST);
        char *fixed = new_array(char, MOST * 60);
        fst_bytes *keys = new_array(fst_bytes, MOST), *texts = new_array(fst_bytes, MOST);
        int r = op_begin(side);
        for (size_t at = 0; at < rows->len && r == 0;) {
                uint32_t n = (uint32_t)MIN(rows->len - at, (size_t)(1 + at % MOST));
                struct rows in = {.batch = {.rows = n, .type = type}};
                for (uint32_t i = 0; i < n; i++) {
                        const struct row *row = &rows->data[at + i];
                        values[i] = row->value;
                        texts[i] = (fst_bytes){(char *)&values[i], sizeof(values[i])};
                        switch (type.key) {
                        case FST_KIND_I64:
                                ((int64_t *)fixed)[i] = row->rank;
                                break;
                        case FST_KIND_F64:
                                ((double *)fixed)[i] = f64_of(row);
                                break;
                        case FST_KIND_BYTES:
                                keys[i] = (fst_bytes){fixed + (size_t)i * 60, bytes_of(row, fixed + (size_t)i * 60)};
                                break;
                        default:
                                bytes_of(row, fixed + (size_t)i * 20);
                        }
                }
                in.batch.key.fixed = type.key == FST_KIND_BYTES ? (char *)keys : fixed;
                in.batch.value.i64 = type.value == FST_KIND_BYTES ? (int64_t *)texts : values;
                r = side->class->consume(side, &in);
                at += n;
        }
        free(values);
        free(fixed);
        free(keys);
        free(texts);
        return r;
}

static int run_cogroup(struct op *op, const struct rows_of_side *rows, int n)
{
        int r = op_begin(op);
        for (int k = 0; k < n && r == 0; k++)
                r = push_side(cogroup_op_side(op, k), &rows[k]);
        if (r >= 0)
                r = op_end(op);
        if (r < 0)
                op_abandon(op);
        return r;
}

static void expect(struct fixture *f, const struct seen *wanted, size_t n)
{
        assert_int_equal(f->seen.len, n);
        for (size_t i = 0; i < n; i++)
                if (memcmp(&f->seen.data[i], &wanted[i], sizeof(*wanted)))
                        fail_msg("row %zu is (%lld: %lld, %lld), not (%lld: %lld, %lld)", i,
                                 (long long)f->seen.data[i].rank, (long long)f->seen.data[i].a,
                                 (long long)f->seen.data[i].b, (long long)wanted[i].rank, (long long)wanted[i].a,
                                 (long long)wanted[i].b);
}

/* What goes to disk is the same for all kinds, but for bytes. */
static void for_all_kinds(void (*check)(uint8_t kind, size_t pool))
{
        for (uint8_t kind = FST_KIND_I64; kind <= FST_KIND_FIXED; kind++) {
                check(kind, AMPLE);
                if (kind == FST_KIND_F64 || kind == FST_KIND_BYTES)
                        check(kind, TIGHT);
        }
}

/* ------------------------------------------------------------------------------------------------------- joins */

#define MISSING (-1)

#define JOIN_FUNCTION(name, key_type, rank, left_type, right_type, left, right)                                        \
        static int name(fst_task *task, key_type key, left_type l, right_type r, fst_out *out)                         \
        {                                                                                                              \
                struct seen s = {rank(key), left, right};                                                              \
                fst_emit(out, &s);                                                                                     \
                return 0;                                                                                              \
        }
#define JOIN_FUNCTIONS(kind, suffix, type)                                                                             \
        JOIN_FUNCTION(inner_##suffix, type, rank_of_##suffix, int64_t, int64_t, l, r)                                  \
        JOIN_FUNCTION(left_##suffix, type, rank_of_##suffix, int64_t, const int64_t *, l, r ? *r : MISSING)            \
        JOIN_FUNCTION(right_##suffix, type, rank_of_##suffix, const int64_t *, int64_t, l ? *l : MISSING, r)           \
        JOIN_FUNCTION(full_##suffix, type, rank_of_##suffix, const int64_t *, const int64_t *, l ? *l : MISSING,       \
                      r ? *r : MISSING)
KINDS(JOIN_FUNCTIONS)

static fst_fn join_function(enum cogroup_mode mode, uint8_t kind)
{
#define JOINS_OF(k, suffix, type)                                                                                      \
        if (kind == FST_KIND_##k)                                                                                      \
                return mode == COGROUP_JOIN         ? FST_FN(inner_##suffix)                                           \
                       : mode == COGROUP_LEFT_JOIN  ? FST_FN(left_##suffix)                                            \
                       : mode == COGROUP_RIGHT_JOIN ? FST_FN(right_##suffix)                                           \
                                                    : FST_FN(full_##suffix);
        KINDS(JOINS_OF)
        return (fst_fn){0};
}

static size_t run_of(const struct rows_of_side *rows, size_t at)
{
        size_t to = at;
        while (to < rows->len && rows->data[to].rank == rows->data[at].rank)
                to++;
        return to;
}

typedef VEC(struct seen) seen_rows;

static void reference_join(enum cogroup_mode mode, const struct rows_of_side *l, const struct rows_of_side *r,
                           seen_rows *to)
{
        bool lefts = mode == COGROUP_LEFT_JOIN || mode == COGROUP_FULL_JOIN;
        bool rights = mode == COGROUP_RIGHT_JOIN || mode == COGROUP_FULL_JOIN;
        for (size_t i = 0, j = 0; i < l->len || j < r->len;) {
                size_t i_end = i < l->len ? run_of(l, i) : i, j_end = j < r->len ? run_of(r, j) : j;
                bool left = j == r->len || (i < l->len && l->data[i].rank < r->data[j].rank);
                bool right = i == l->len || (j < r->len && r->data[j].rank < l->data[i].rank);
                if (left) {
                        for (; i < i_end; i++)
                                if (lefts)
                                        vec_push(to, ((struct seen){l->data[i].rank, l->data[i].value, MISSING}));
                        continue;
                }
                if (right) {
                        for (; j < j_end; j++)
                                if (rights)
                                        vec_push(to, ((struct seen){r->data[j].rank, MISSING, r->data[j].value}));
                        continue;
                }
                for (; i < i_end; i++)
                        for (size_t k = j; k < j_end; k++)
                                vec_push(to, ((struct seen){l->data[i].rank, l->data[i].value, r->data[k].value}));
                j = j_end;
        }
}

static void check_joins(uint8_t kind, size_t pool)
{
        for (enum cogroup_mode mode = COGROUP_JOIN; mode <= COGROUP_FULL_JOIN; mode++) {
                struct fixture f;
                seen_rows wanted = {0};
                fixture_init(&f, pool, true);
                fst_type type = fst_type_pair(key_type(kind), FST_I64);
                size_t many = pool == TIGHT ? 60000 : 3000;
                struct rows_of_side rows[] = {random_rows(kind, many, 20000, 0), random_rows(kind, many, 20000, 0)};
                struct op *op =
                        cogroup_new(&f, mode, (fst_type[]){type, type}, 2, f.sink.type, join_function(mode, kind));
                /* Twice, as an operator is used for several partitions. */
                for (int again = 0; again < 2; again++) {
                        f.seen.len = 0;
                        assert_int_equal(run_cogroup(op, rows, 2), 0);
                        if (pool == TIGHT)
                                assert_true(f.run.counters.disk_spilled > 0);
                        for (int k = 0; k < 2; k++)
                                sort_rows(&rows[k], kind);
                        wanted.len = 0;
                        reference_join(mode, &rows[0], &rows[1], &wanted);
                        expect(&f, wanted.data, wanted.len);
                }
                op_free(op);
                fixture_deinit(&f);
                vec_deinit(&wanted);
                vec_deinit(&rows[0]);
                vec_deinit(&rows[1]);
        }
}

static void joins_give_all_pairs_of_rows_and_what_has_none(void **state)
{
        for_all_kinds(check_joins);
}

/* One key has nearly all rows of one side, and of the other some: more than memory holds. */
static void outer_joins_of_a_skewed_key(void **state)
{
        struct fixture f;
        seen_rows wanted = {0};
        fixture_init(&f, TIGHT, true);
        struct rows_of_side few = random_rows(FST_KIND_I64, 60, 300, 5),
                            many = random_rows(FST_KIND_I64, 200000, 300, 98);
        for (int swapped = 0; swapped < 2; swapped++) {
                fst_type type = FST_PAIR(I64, I64);
                struct rows_of_side rows[] = {swapped ? many : few, swapped ? few : many};
                struct op *op = cogroup_new(&f, COGROUP_FULL_JOIN, (fst_type[]){type, type}, 2, f.sink.type,
                                            join_function(COGROUP_FULL_JOIN, FST_KIND_I64));
                f.seen.len = wanted.len = 0;
                assert_int_equal(run_cogroup(op, rows, 2), 0);
                for (int k = 0; k < 2; k++)
                        sort_rows(&rows[k], FST_KIND_I64);
                reference_join(COGROUP_FULL_JOIN, &rows[0], &rows[1], &wanted);
                expect(&f, wanted.data, wanted.len);
                op_free(op);
        }
        assert_true(f.run.counters.disk_spilled > 0);
        fixture_deinit(&f);
        vec_deinit(&wanted);
        vec_deinit(&few);
        vec_deinit(&many);
}

/* ------------------------------------------------------------------------------------------------------ groups */

/* A number that says which values were seen, and in which order. */
static int64_t digest(int64_t so_far, int64_t value)
{
        return (int64_t)((uint64_t)so_far * 31 + (uint64_t)value + 1);
}

/* How much is read of each group depends on its key: all, the first few, nothing. */
static size_t limit_of(int64_t rank)
{
        return rank % 3 == 0 ? SIZE_MAX : rank % 3 == 1 ? 3 : 0;
}

static int64_t read_some(fst_iter *values, size_t most)
{
        int64_t x, sum = 0;
        for (size_t i = 0; i < most && fst_next(values, &x); i++)
                sum = digest(sum, x);
        return sum;
}

static void read_groups(fst_iter *const *groups, int n, int64_t rank, fst_out *out)
{
        struct seen s = {.rank = rank};
        int64_t of[COGROUP_SIDES_MOST];
        /* The last side first, so that nobody takes an order for granted. */
        for (int k = n; k-- > 0;)
                of[k] = read_some(groups[k], limit_of(rank + k));
        for (int k = 0; k < n; k++)
                s.a = digest(s.a, of[k]);
        s.b = n;
        fst_emit(out, &s);
}

#define GROUP_FUNCTIONS(kind, suffix, type)                                                                            \
        static int one_##suffix(fst_task *task, type key, fst_iter *values, fst_out *out)                              \
        {                                                                                                              \
                read_groups(&values, 1, rank_of_##suffix(key), out);                                                   \
                return 0;                                                                                              \
        }                                                                                                              \
        static int two_##suffix(fst_task *task, type key, fst_iter *a, fst_iter *b, fst_out *out)                      \
        {                                                                                                              \
                read_groups((fst_iter *[]){a, b}, 2, rank_of_##suffix(key), out);                                      \
                return 0;                                                                                              \
        }                                                                                                              \
        static int all_##suffix(fst_task *task, type key, fst_iter *const *groups, fst_out *out)                       \
        {                                                                                                              \
                read_groups(groups, 5, rank_of_##suffix(key), out);                                                    \
                return 0;                                                                                              \
        }
KINDS(GROUP_FUNCTIONS)

static fst_fn group_function(int n, uint8_t kind)
{
#define GROUPS_OF(k, suffix, type)                                                                                     \
        if (kind == FST_KIND_##k)                                                                                      \
                return n == 1 ? FST_FN(one_##suffix) : n == 2 ? FST_FN(two_##suffix) : FST_FN(all_##suffix);
        KINDS(GROUPS_OF)
        return (fst_fn){0};
}

static void reference_groups(const struct rows_of_side *rows, int n, seen_rows *to)
{
        size_t at[COGROUP_SIDES_MOST] = {0};
        for (;;) {
                int64_t rank = INT64_MAX;
                for (int k = 0; k < n; k++)
                        if (at[k] < rows[k].len)
                                rank = MIN(rank, rows[k].data[at[k]].rank);
                if (rank == INT64_MAX)
                        return;
                struct seen s = {.rank = rank, .b = n};
                for (int k = 0; k < n; k++) {
                        int64_t sum = 0;
                        size_t most = limit_of(rank + k), i = 0;
                        for (; at[k] < rows[k].len && rows[k].data[at[k]].rank == rank; at[k]++)
                                if (i++ < most)
                                        sum = digest(sum, rows[k].data[at[k]].value);
                        s.a = digest(s.a, sum);
                }
                vec_push(to, s);
        }
}

static void check_group(uint8_t kind, size_t pool, int n, int skew)
{
        struct fixture f;
        seen_rows wanted = {0};
        struct rows_of_side rows[5];
        fst_type types[5];
        fixture_init(&f, pool, true);
        for (int k = 0; k < n; k++) {
                /* Side 3 has no rows. */
                size_t many = k == 3 ? 0 : pool == TIGHT ? 150000 / (size_t)n : 4000;
                rows[k] = random_rows(kind, many, k == 1 ? 50 : 3000, skew);
                types[k] = fst_type_pair(key_type(kind), FST_I64);
        }
        struct op *op = cogroup_new(&f, COGROUP_GROUPS, types, n, f.sink.type, group_function(n, kind));
        assert_int_equal(run_cogroup(op, rows, n), 0);
        if (pool == TIGHT)
                assert_true(f.run.counters.disk_spilled > 0);
        for (int k = 0; k < n; k++)
                sort_rows(&rows[k], kind);
        reference_groups(rows, n, &wanted);
        expect(&f, wanted.data, wanted.len);
        op_free(op);
        fixture_deinit(&f);
        vec_deinit(&wanted);
        for (int k = 0; k < n; k++)
                vec_deinit(&rows[k]);
}

static void check_groups(uint8_t kind, size_t pool)
{
        check_group(kind, pool, 1, 0);
        check_group(kind, pool, 2, 60);
        check_group(kind, pool, 5, 10);
}

static void groups_are_read_as_far_as_one_likes(void **state)
{
        for_all_kinds(check_groups);
}

static int first_of_each(fst_task *task, int64_t key, fst_iter *values, fst_out *out)
{
        struct seen s = {key, -1, 0};
        double x;
        while (fst_next(values, &x))
                s.b++;
        fst_emit(out, &s);
        return 0;
}

static int refuses(fst_task *task, int64_t key, fst_iter *values, fst_out *out)
{
        return key == 3 ? fst_fail(task, "not %lld", (long long)key) : 0;
}

static int stops(fst_task *task, int64_t key, fst_iter *values, fst_out *out)
{
        int64_t x;
        if (key == 7)
                *(int *)task->stopped = 1;
        while (fst_next(values, &x))
                ;
        return 0;
}

static void expect_failure(fst_fn fn, int status, const char *message)
{
        struct fixture f;
        fixture_init(&f, TIGHT, true);
        struct rows_of_side rows = random_rows(FST_KIND_I64, 100000, 100, 90);
        fst_type type = FST_PAIR(I64, I64);
        struct op *op = cogroup_new(&f, COGROUP_GROUPS, &type, 1, f.sink.type, fn);
        int r = run_cogroup(op, &rows, 1);
        assert_true(r < 0);
        if (status)
                assert_int_equal(r, status);
        assert_int_equal(f.run.status, r);
        if (!strstr(error_message(&f.run.error), message))
                fail_msg("\"%s\" is not in: %s", message, error_message(&f.run.error));
        op_free(op);
        fixture_deinit(&f);
        vec_deinit(&rows);
}

static void functions_of_groups_fail_with_their_reason(void **state)
{
        expect_failure(FST_FN(refuses), 0, "not 3");
        expect_failure(FST_FN(first_of_each), -EINVAL,
                       "the values are I64, but first_of_each reads them with fst_next "
                       "into variables for F64");
        expect_failure(FST_FN(stops), -ECANCELED, "cancelled");
}

static void groups_end_when_enough_was_seen(void **state)
{
        struct fixture f;
        fixture_init(&f, AMPLE, true);
        f.enough = 10;
        struct rows_of_side rows = random_rows(FST_KIND_I64, 50000, 20000, 0);
        fst_type type = FST_PAIR(I64, I64);
        struct op *op = cogroup_new(&f, COGROUP_GROUPS, &type, 1, f.sink.type, FST_FN(one_i64));
        assert_int_equal(run_cogroup(op, &rows, 1), OP_ENOUGH);
        assert_in_range(f.seen.len, 10, 3000);
        op_free(op);
        fixture_deinit(&f);
        vec_deinit(&rows);
}

/* ------------------------------------------------------------------------------------------------ rows that stay */

struct keep_sink {
        struct op op;
        struct rows_of_side rows;
        uint8_t kind;
};

static int64_t rank_in(const fst_batch *b, uint32_t i)
{
        switch (b->type.key) {
        case FST_KIND_I64:
                return rank_of_i64(b->key.i64[i]);
        case FST_KIND_F64:
                return rank_of_f64(b->key.f64[i]);
        case FST_KIND_BYTES:
                return rank_of_bytes(b->key.bytes[i]);
        default:
                return rank_of_fixed(b->key.fixed + i * b->type.key_size);
        }
}

static int keep(struct op *op, const struct rows *in)
{
        struct keep_sink *sink = container_of(op, struct keep_sink, op);
        for (uint32_t i = 0; i < in->batch.rows; i++)
                vec_push(&sink->rows, ((struct row){.rank = rank_in(&in->batch, i),
                                                    .value = in->batch.type.value ? in->batch.value.i64[i] : 0}));
        return 0;
}

static const struct op_class keep_class = {"keep", .consume = keep};

static bool has_rank(const struct rows_of_side *rows, int64_t rank)
{
        struct row wanted = {.rank = rank, .number = -1, .negative = true};
        size_t low = 0, high = rows->len;
        while (low < high) {
                size_t middle = (low + high) / 2;
                if (row_compare(&rows->data[middle], &wanted) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low < rows->len && rows->data[low].rank == rank;
}

static void check_keep(uint8_t kind, size_t pool, enum cogroup_mode mode, fst_type left, fst_type right)
{
        struct fixture f;
        fixture_init(&f, pool, true);
        size_t many = pool == TIGHT ? 100000 : 5000;
        struct rows_of_side rows[] = {random_rows(kind, many, 5000, 10), random_rows(kind, many / 20, 5000, 0)};
        struct keep_sink sink = {.kind = kind};
        op_init(&sink.op, &keep_class, &f.run, left);
        struct op *op = cogroup_new(&f, mode, (fst_type[]){left, right}, 2, left, (fst_fn){0});
        op->next = &sink.op;
        assert_int_equal(run_cogroup(op, rows, 2), 0);
        for (int k = 0; k < 2; k++)
                sort_rows(&rows[k], kind);
        size_t n = 0;
        for (size_t i = 0; i < rows[0].len; i++) {
                const struct row *row = &rows[0].data[i];
                bool both = has_rank(&rows[1], row->rank), again = i > 0 && rows[0].data[i - 1].rank == row->rank;
                if (mode == COGROUP_SUBTRACT ? both : !both || again)
                        continue;
                assert_true(n < sink.rows.len);
                assert_int_equal(sink.rows.data[n].rank, row->rank);
                if (left.value)
                        assert_int_equal(sink.rows.data[n].value, row->value);
                n++;
        }
        assert_int_equal(sink.rows.len, n);
        assert_true(n > 0);
        op_free(op);
        op_deinit(&sink.op);
        fixture_deinit(&f);
        vec_deinit(&sink.rows);
        vec_deinit(&rows[0]);
        vec_deinit(&rows[1]);
}

static void check_keeps(uint8_t kind, size_t pool)
{
        fst_type key = key_type(kind), pair = fst_type_pair(key, FST_I64);
        check_keep(kind, pool, COGROUP_SUBTRACT, pair, fst_type_pair(key, FST_BYTES));
        check_keep(kind, pool, COGROUP_SUBTRACT, key, key);
        check_keep(kind, pool, COGROUP_INTERSECT, key, key);
}

static void rows_stay_by_what_the_other_side_has(void **state)
{
        for_all_kinds(check_keeps);
}

/* ------------------------------------------------------------------------------------------------------- lists */

struct list_sink {
        struct op op;
        const struct rows_of_side *rows; /* sorted */
        size_t at;
        fst_type elements;
};

/* Lists of values, which are I64, or these in BYTES. */
static int check_list(struct op *op, const struct rows *in)
{
        struct list_sink *sink = container_of(op, struct list_sink, op);
        const struct rows_of_side *rows = sink->rows;
        for (uint32_t i = 0; i < in->batch.rows; i++) {
                assert_true(sink->at < rows->len);
                int64_t rank = rows->data[sink->at].rank;
                fst_bytes bytes = in->batch.value.bytes[i];
                assert_int_equal(rank_in(&in->batch, i), rank);
                size_t end = run_of(rows, sink->at);
                assert_int_equal(fst_list_count(bytes, sink->elements), end - sink->at);
                fst_list list = fst_list_of(bytes, sink->elements);
                for (; sink->at < end; sink->at++) {
                        int64_t x = 0;
                        if (sink->elements.key == FST_KIND_BYTES) {
                                fst_bytes value = {0};
                                assert_true(fst_list_next(&list, &value));
                                assert_int_equal(value.len, 8);
                                memcpy(&x, value.data, 8);
                        } else {
                                assert_true(fst_list_next(&list, &x));
                        }
                        assert_int_equal(x, rows->data[sink->at].value);
                }
                assert_int_equal(list.end - list.at, 0);
        }
        return 0;
}

static const struct op_class list_class = {"list", .consume = check_list};

static void check_lists_of(uint8_t kind, size_t pool, fst_type value, size_t n, int64_t ranks, int skew)
{
        struct fixture f;
        fixture_init(&f, pool, true);
        struct rows_of_side rows = random_rows(kind, n, ranks, skew), sorted = {0};
        fst_type type = fst_type_pair(key_type(kind), value), lists = fst_type_pair(type, FST_BYTES);
        vec_reserve(&sorted, rows.len + 1);
        if (rows.len)
                memcpy(sorted.data, rows.data, rows.len * sizeof(*rows.data));
        sorted.len = rows.len;
        sort_rows(&sorted, kind);
        struct list_sink sink = {.rows = &sorted, .elements = value};
        op_init(&sink.op, &list_class, &f.run, lists);
        struct op *op = cogroup_new(&f, COGROUP_LISTS, &type, 1, lists, (fst_fn){0});
        op->next = &sink.op;
        if (run_cogroup(op, &rows, 1) != 0)
                fail_msg("%s", error_message(&f.run.error));
        assert_int_equal(sink.at, sorted.len);
        op_free(op);
        op_deinit(&sink.op);
        fixture_deinit(&f);
        vec_deinit(&rows);
        vec_deinit(&sorted);
}

static void check_lists(uint8_t kind, size_t pool)
{
        size_t many = pool == TIGHT ? 150000 : 20000;
        check_lists_of(kind, pool, FST_I64, many, 30000, 10);
        check_lists_of(kind, pool, FST_BYTES, many, 100, 20);
        check_lists_of(kind, pool, FST_I64, 0, 1, 0);
}

static void lists_have_the_values_of_a_key_in_order(void **state)
{
        for_all_kinds(check_lists);
}

/* One key with values for half of the task's memory, among as many others, and in rows that just fit into it. */
static void lists_may_take_half_of_the_memory(void **state)
{
        size_t values = TIGHT / sizeof(int64_t) / 2;
        check_lists_of(FST_KIND_I64, TIGHT, FST_I64, values, 1, 100);
        check_lists_of(FST_KIND_I64, TIGHT, FST_I64, values * 2, 1000, 49);
        check_lists_of(FST_KIND_I64, TIGHT, FST_I64, values / 4, 1, 100);
}

/* Nobody else's blocks have to go for few rows, however large the share of the task is. */
static void lists_of_few_rows_take_little_memory(void **state)
{
        struct fixture f;
        fixture_init(&f, (size_t)1 << 30, true);
        struct rows_of_side rows = random_rows(FST_KIND_I64, 1000, 100, 0);
        fst_type type = FST_PAIR(I64, I64), lists = FST_PAIR(I64, BYTES);
        struct list_sink sink = {.rows = &rows, .elements = FST_I64};
        struct op *op = cogroup_new(&f, COGROUP_LISTS, &type, 1, lists, (fst_fn){0});
        sort_rows(&rows, FST_KIND_I64);
        op_init(&sink.op, &list_class, &f.run, lists);
        op->next = &sink.op;
        assert_int_equal(run_cogroup(op, &rows, 1), 0);
        assert_in_range(memory_task_peak(task_run_memory(&f.run)), 1000 * 16, 8 << 20);
        op_free(op);
        op_deinit(&sink.op);
        fixture_deinit(&f);
        vec_deinit(&rows);
}

/* A consumer of the task's that has nothing to give, and is asked whenever memory is short. */
struct stingy {
        struct memory_consumer consumer;
        int asked;
};

static int refuse(struct memory_consumer *consumer, size_t want, struct fst_error *error)
{
        container_of(consumer, struct stingy, consumer)->asked++;
        return 0;
}

/* Values of a few bytes each, of one key, that just fit: what is left of the memory is not asked for one by one. */
static void lists_grow_in_few_steps(void **state)
{
        struct fixture f;
        struct stingy other = {0};
        fixture_init(&f, TIGHT, true);
        memory_consumer_init(&other.consumer, task_run_memory(&f.run), "other", refuse);
        assert_int_equal(memory_acquire(&other.consumer, 4096), 0);
        struct rows_of_side rows = random_rows(FST_KIND_I64, 220000, 1, 0);
        fst_type type = FST_PAIR(I64, BYTES);
        struct list_sink sink = {.rows = &rows, .elements = FST_BYTES};
        struct op *op = cogroup_new(&f, COGROUP_LISTS, &type, 1, type, (fst_fn){0});
        sort_rows(&rows, FST_KIND_I64);
        op_init(&sink.op, &list_class, &f.run, type);
        op->next = &sink.op;
        if (run_cogroup(op, &rows, 1) != 0)
                fail_msg("%s", error_message(&f.run.error));
        assert_int_equal(sink.at, rows.len);
        assert_in_range(other.asked, 1, 300);
        op_free(op);
        op_deinit(&sink.op);
        memory_consumer_deinit(&other.consumer);
        fixture_deinit(&f);
        vec_deinit(&rows);
}

static void lists_that_do_not_fit_say_what_to_do(void **state)
{
        struct fixture f;
        fixture_init(&f, TIGHT, true);
        struct rows_of_side rows = random_rows(FST_KIND_I64, 900000, 1000, 95);
        fst_type type = FST_PAIR(I64, I64), lists = FST_PAIR(I64, BYTES);
        struct op *op = cogroup_new(&f, COGROUP_LISTS, &type, 1, lists, (fst_fn){0});
        struct list_sink sink = {.rows = &rows, .elements = FST_I64};
        sort_rows(&rows, FST_KIND_I64);
        op_init(&sink.op, &list_class, &f.run, lists);
        op->next = &sink.op;
        assert_int_equal(run_cogroup(op, &rows, 1), -ENOMEM);
        assert_non_null(strstr(error_message(&f.run.error), "fst_flat_map_groups reads them one after another"));
        op_free(op);
        op_deinit(&sink.op);
        fixture_deinit(&f);
        vec_deinit(&rows);
}

/* Elements of every type, one after another as functions may write them too. */
static void lists_are_read_by_type(void **state)
{
        char text[] = {3, 0, 0, 0, 2, 0, 0, 0, 'o', 'n', 'e', 'i', 'n', 0, 0, 0, 0, 1, 0, 0, 0, 'x'};
        fst_list list = fst_list_of((fst_bytes){text, sizeof(text)}, FST_PAIR(BYTES, BYTES));
        fst_bytes key, value;
        int64_t i = 4711, got;
        double d = 0.5;
        char pair[24];
        const void *fixed;
        assert_true(fst_list_next(&list, &key, &value));
        assert_memory_equal(key.data, "one", key.len);
        assert_int_equal(value.len, 2);
        assert_true(fst_list_next(&list, &key, &value));
        assert_int_equal(key.len, 0);
        assert_memory_equal(value.data, "x", value.len);
        assert_false(fst_list_next(&list, &key, &value));
        assert_int_equal(fst_list_status(&list), 0);
        assert_int_equal(fst_list_count((fst_bytes){text, sizeof(text)}, FST_PAIR(BYTES, BYTES)), 2);

        memcpy(pair + 1, &i, 8);
        memcpy(pair + 9, &d, 8);
        memcpy(pair + 17, "fixed", 6);
        list = fst_list_of((fst_bytes){pair + 1, 16}, FST_PAIR(I64, F64));
        assert_true(fst_list_next(&list, &got, &d));
        assert_int_equal(got, 4711);
        assert_true(d == 0.5);
        list = fst_list_of((fst_bytes){pair + 17, 6}, FST_FIXED(6));
        assert_true(fst_list_next(&list, &fixed));
        assert_string_equal(fixed, "fixed");

        /* What is cut off, and what is of another type, ends with a status. */
        list = fst_list_of((fst_bytes){text, 10}, FST_PAIR(BYTES, BYTES));
        assert_false(fst_list_next(&list, &key, &value));
        assert_int_equal(fst_list_status(&list), -EBADMSG);
        list = fst_list_of((fst_bytes){text, 10}, FST_PAIR(BYTES, BYTES));
        assert_false(fst_list_next(&list, &got));
        assert_int_equal(fst_list_status(&list), -EINVAL);
        list = fst_list_of((fst_bytes){text, 2}, FST_BYTES);
        assert_false(fst_list_next(&list, &key));
        assert_int_equal(fst_list_status(&list), -EBADMSG);
}

/* ------------------------------------------------------------------------------------------------------ refusals */

static void refused(enum cogroup_mode mode, fst_type left, fst_type right, fst_fn fn, const char *message)
{
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(cogroup_check(mode, "it", (fst_type[]){left, right}, mode == COGROUP_LISTS ? 1 : 2,
                                       mode == COGROUP_SUBTRACT ? left : FST_I64, &fn, &error),
                         -EINVAL);
        if (!strstr(error_message(&error), message))
                fail_msg("\"%s\" is not in: %s", message, error_message(&error));
        error_deinit(&error);
}

static void what_does_not_go_together_is_refused(void **state)
{
        fst_type pair = FST_PAIR(I64, I64);
        refused(COGROUP_JOIN, pair, FST_I64, FST_FN(inner_i64), "it needs pairs on both sides");
        refused(COGROUP_JOIN, pair, FST_PAIR(F64, I64), FST_FN(inner_i64), "it needs keys of one type on both sides");
        refused(COGROUP_JOIN, pair, FST_PAIR(I64, F64), FST_FN(inner_i64), "takes PAIR(I64, I64) on the right");
        refused(COGROUP_JOIN, pair, pair, FST_FN(left_i64), "in it it is never missing");
        refused(COGROUP_LEFT_JOIN, pair, pair, FST_FN(inner_i64), "in it there may be none: make the parameter a");
        refused(COGROUP_RIGHT_JOIN, pair, pair, FST_FN(left_i64), "takes the left value as it is");
        refused(COGROUP_FULL_JOIN, pair, pair, FST_FN(left_i64), "takes the left value as it is");
        refused(COGROUP_JOIN, pair, pair, FST_FN(two_i64), "is not a function that it can call");
        refused(COGROUP_GROUPS, pair, pair, FST_FN(one_i64), "is not a function that it of 2 RDDs can call");
        refused(COGROUP_GROUPS, pair, pair, FST_FN(two_bytes), "takes keys of BYTES, but the rows are PAIR(I64, I64)");
        refused(COGROUP_SUBTRACT, pair, FST_BYTES, (fst_fn){0}, "it needs keys of one type");
        refused(COGROUP_LISTS, pair, pair, (fst_fn){0}, "it makes rows of PAIR(I64, BYTES), not of I64");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(joins_give_all_pairs_of_rows_and_what_has_none),
                cmocka_unit_test(outer_joins_of_a_skewed_key),
                cmocka_unit_test(groups_are_read_as_far_as_one_likes),
                cmocka_unit_test(functions_of_groups_fail_with_their_reason),
                cmocka_unit_test(groups_end_when_enough_was_seen),
                cmocka_unit_test(rows_stay_by_what_the_other_side_has),
                cmocka_unit_test(lists_have_the_values_of_a_key_in_order),
                cmocka_unit_test(lists_may_take_half_of_the_memory),
                cmocka_unit_test(lists_of_few_rows_take_little_memory),
                cmocka_unit_test(lists_grow_in_few_steps),
                cmocka_unit_test(lists_that_do_not_fit_say_what_to_do),
                cmocka_unit_test(lists_are_read_by_type),
                cmocka_unit_test(what_does_not_go_together_is_refused),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
