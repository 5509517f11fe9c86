/*
 * Compares cogroups with a plain reference: the rows of all sides as arrays, sorted with qsort and combined in nested
 * loops. Runs each mode with each kind of key, with enough memory and with so little that sides, and the rows of one
 * key, spill.
 */
#include "rdd/cogroup/cogroup_fixture.h"

#include "rdd/pipeline/key.h"

/* ------------------------------------------------------------------------------------------------------- joins */

#define MISSING (-1)

#define JOIN_FUNCTION(name, key_type, rank, left_type, right_type, left, right)                                        \
        static int name(fst_task *task, key_type key, left_type l, right_type r, fst_out *out)                         \
        {                                                                                                              \
                struct result_row s = {rank(key), left, right};                                                        \
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

/* Values as BYTES, which are not in the entries of an index. */
static int full_texts(fst_task *task, const void *key, const fst_bytes *l, const fst_bytes *r, fst_out *out)
{
        struct result_row s = {rank_of_fixed(key), MISSING, MISSING};
        if (l)
                memcpy(&s.a, l->data, sizeof(s.a));
        if (r)
                memcpy(&s.b, r->data, sizeof(s.b));
        fst_emit(out, &s);
        return 0;
}

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

typedef VEC(struct result_row) seen_rows;

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
                                        vec_push(to, ((struct result_row){l->data[i].rank, l->data[i].value, MISSING}));
                        continue;
                }
                if (right) {
                        for (; j < j_end; j++)
                                if (rights)
                                        vec_push(to, ((struct result_row){r->data[j].rank, MISSING, r->data[j].value}));
                        continue;
                }
                for (; i < i_end; i++)
                        for (size_t k = j; k < j_end; k++)
                                vec_push(to,
                                         ((struct result_row){l->data[i].rank, l->data[i].value, r->data[k].value}));
                j = j_end;
        }
}

/* A sum over all rows, which does not depend on their order. */
static uint64_t rows_digest(const struct result_row *rows, size_t n)
{
        uint64_t sum = 0;
        for (size_t i = 0; i < n; i++)
                sum += key_mix((uint64_t)rows[i].rank * 1000003 +
                               key_mix((uint64_t)rows[i].a * 1000003 + key_mix((uint64_t)rows[i].b + 17)));
        return sum;
}

/* Compares rows of any order: joins have none. */
static void expect_in_any_order(struct cogroup_fixture *f, const seen_rows *wanted)
{
        assert_int_equal(f->seen.len, wanted->len);
        assert_int_equal(rows_digest(f->seen.data, f->seen.len), rows_digest(wanted->data, wanted->len));
}

/* Runs a join whose side @built comes first. Its rows are a table in ample memory, and held like the others in little.
 */
static int run_streamed(struct op *op, const struct rows_of_side *rows, enum join_side built, bool streams)
{
        struct op *other;
        int r = op_begin(op);
        if (r == 0)
                r = push_side(cogroup_op_side(op, built), &rows[built]);
        if (r == 0)
                r = cogroup_op_stream(op, built, &other);
        if (r == 0) {
                assert_int_equal(other != cogroup_op_side(op, !built), streams);
                r = push_side(other, &rows[!built]);
        }
        if (r >= 0)
                r = op_end(op);
        if (r < 0)
                op_abandon(op);
        return r;
}

static struct rows_of_side rows_copy(const struct rows_of_side *rows)
{
        struct rows_of_side copy = {0};
        for (size_t i = 0; i < rows->len; i++)
                vec_push(&copy, rows->data[i]);
        return copy;
}

static void check_streams(struct cogroup_fixture *f, struct op *op, const struct rows_of_side *rows, bool streams,
                          const seen_rows *wanted)
{
        for (enum join_side built = JOIN_LEFT; built <= JOIN_RIGHT; built++) {
                if (!cogroup_op_can_stream(op, built))
                        continue;
                f->seen.len = 0;
                assert_int_equal(run_streamed(op, rows, built, streams), 0);
                expect_in_any_order(f, wanted);
        }
}

static void check_joins(uint8_t kind, size_t pool)
{
        for (enum cogroup_mode mode = COGROUP_JOIN; mode <= COGROUP_FULL_JOIN; mode++) {
                struct cogroup_fixture f;
                seen_rows wanted = {0};
                fixture_init(&f, pool, true);
                fst_type type = fst_type_pair(key_type(kind), FST_I64);
                size_t many = pool == TIGHT ? 60000 : 3000;
                struct rows_of_side rows[] = {random_rows(kind, many, 20000, 0), random_rows(kind, many, 20000, 0)};
                struct rows_of_side unsorted[] = {rows_copy(&rows[0]), rows_copy(&rows[1])};
                struct op *op =
                        cogroup_new(&f, mode, (fst_type[]){type, type}, 2, f.sink.type, join_function(mode, kind));
                /* Runs twice, because an operator is used for several partitions. */
                for (int again = 0; again < 2; again++) {
                        f.seen.len = 0;
                        assert_int_equal(run_cogroup(op, rows, 2), 0);
                        if (pool == TIGHT)
                                assert_true(f.run.counters.disk_spilled > 0);
                        for (int k = 0; k < 2; k++)
                                sort_rows(&rows[k], kind);
                        wanted.len = 0;
                        reference_join(mode, &rows[0], &rows[1], &wanted);
                        expect_in_any_order(&f, &wanted);
                }
                check_streams(&f, op, unsorted, pool == AMPLE, &wanted);
                if (pool == AMPLE)
                        check_streams(&f, op, rows, false, &wanted); /* rows that come in order are merged */
                op_free(op);
                fixture_deinit(&f);
                vec_deinit(&wanted);
                for (int k = 0; k < 2; k++) {
                        vec_deinit(&rows[k]);
                        vec_deinit(&unsorted[k]);
                }
        }
}

static void joins_pair_all_rows_and_unmatched_rows(void **state)
{
        for_all_kinds(check_joins);
}

/* One key has nearly all rows of one side and many of the other: more than memory holds. */
static void outer_joins_with_a_skewed_key(void **state)
{
        struct cogroup_fixture f;
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
                expect_in_any_order(&f, &wanted);
                op_free(op);
        }
        assert_true(f.run.counters.disk_spilled > 0);
        fixture_deinit(&f);
        vec_deinit(&wanted);
        vec_deinit(&few);
        vec_deinit(&many);
}

/* So many rows that each side is partitioned, with a key that occurs often on both. */
static void check_partitioned_joins(uint8_t kind)
{
        struct cogroup_fixture f;
        seen_rows wanted = {0};
        fixture_init(&f, AMPLE, true);
        fst_type type = fst_type_pair(key_type(kind), kind == FST_KIND_FIXED ? FST_BYTES : FST_I64);
        struct rows_of_side rows[] = {random_rows(kind, 34000, 30000, 0), random_rows(kind, 36000, 30000, 0)};
        for (size_t i = 0; i < 400; i++)
                rows[i % 2].data[i * 40].rank = 7;
        fst_fn fn = kind == FST_KIND_FIXED ? FST_FN(full_texts) : join_function(COGROUP_FULL_JOIN, kind);
        struct op *op = cogroup_new(&f, COGROUP_FULL_JOIN, (fst_type[]){type, type}, 2, f.sink.type, fn);
        assert_int_equal(run_cogroup(op, rows, 2), 0);
        assert_int_equal(f.run.counters.disk_spilled, 0);
        for (int k = 0; k < 2; k++)
                sort_rows(&rows[k], kind);
        reference_join(COGROUP_FULL_JOIN, &rows[0], &rows[1], &wanted);
        expect_in_any_order(&f, &wanted);
        op_free(op);
        fixture_deinit(&f);
        vec_deinit(&wanted);
        vec_deinit(&rows[0]);
        vec_deinit(&rows[1]);
}

static void joins_sides_in_partitions(void **state)
{
        for (uint8_t kind = FST_KIND_I64; kind <= FST_KIND_FIXED; kind++)
                check_partitioned_joins(kind);
}

/* Both sides fit, but there is no memory for a table: the sides are sorted, although nothing is on disk. */
static void joins_without_memory_for_a_table(void **state)
{
        struct cogroup_fixture f;
        seen_rows wanted = {0};
        struct memory_consumer rest;
        fixture_init(&f, AMPLE, true);
        struct rows_of_side rows[] = {random_rows(FST_KIND_I64, 30000, 20000, 0),
                                      random_rows(FST_KIND_I64, 30000, 20000, 0)};
        fst_type type = FST_PAIR(I64, I64);
        struct op *op = cogroup_new(&f, COGROUP_LEFT_JOIN, (fst_type[]){type, type}, 2, f.sink.type,
                                    join_function(COGROUP_LEFT_JOIN, FST_KIND_I64));
        assert_int_equal(op_begin(op), 0);
        for (int k = 0; k < 2; k++)
                assert_int_equal(push_side(cogroup_op_side(op, k), &rows[k]), 0);
        memory_consumer_init(&rest, f.run.memory, "rest", NULL);
        size_t left = AMPLE - memory_manager_execution_used(f.manager);
        enum { FOR_ONE_KEY = 256 << 10 }; /* less than the table needs */
        assert_int_equal(memory_acquire(&rest, left - FOR_ONE_KEY), 0);
        assert_int_equal(op_end(op), 0);
        assert_int_equal(f.run.counters.disk_spilled, 0);
        memory_consumer_deinit(&rest);
        for (int k = 0; k < 2; k++)
                sort_rows(&rows[k], FST_KIND_I64);
        reference_join(COGROUP_LEFT_JOIN, &rows[0], &rows[1], &wanted);
        cogroup_expect(&f, wanted.data, wanted.len); /* in order */
        op_free(op);
        fixture_deinit(&f);
        vec_deinit(&wanted);
        vec_deinit(&rows[0]);
        vec_deinit(&rows[1]);
}

static void joins_end_when_downstream_has_enough(void **state)
{
        struct cogroup_fixture f;
        fixture_init(&f, AMPLE, true);
        f.enough = 10;
        struct rows_of_side rows[] = {random_rows(FST_KIND_I64, 30000, 20000, 0),
                                      random_rows(FST_KIND_I64, 30000, 20000, 0)};
        fst_type type = FST_PAIR(I64, I64);
        struct op *op = cogroup_new(&f, COGROUP_JOIN, (fst_type[]){type, type}, 2, f.sink.type,
                                    join_function(COGROUP_JOIN, FST_KIND_I64));
        assert_int_equal(run_cogroup(op, rows, 2), OP_ENOUGH);
        assert_true(f.seen.len <= FST_BATCH_ROWS);
        op_free(op);
        fixture_deinit(&f);
        vec_deinit(&rows[0]);
        vec_deinit(&rows[1]);
}

/* ------------------------------------------------------------------------------------------------------ groups */

/* A number that depends on the values seen and their order. */
static int64_t digest(int64_t so_far, int64_t value)
{
        return (int64_t)((uint64_t)so_far * 31 + (uint64_t)value + 1);
}

/* The number of values read of each group depends on its key: all, the first few, or none. */
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
        struct result_row s = {.rank = rank};
        int64_t of[MAX_COGROUP_SIDES];
        /* Reads the last side first: no order may be assumed. */
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
        size_t at[MAX_COGROUP_SIDES] = {0};
        for (;;) {
                int64_t rank = INT64_MAX;
                for (int k = 0; k < n; k++)
                        if (at[k] < rows[k].len)
                                rank = MIN(rank, rows[k].data[at[k]].rank);
                if (rank == INT64_MAX)
                        return;
                struct result_row s = {.rank = rank, .b = n};
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
        struct cogroup_fixture f;
        seen_rows wanted = {0};
        struct rows_of_side rows[5];
        fst_type types[5];
        fixture_init(&f, pool, true);
        for (int k = 0; k < n; k++) {
                /* Side 3 is empty. */
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
        cogroup_expect(&f, wanted.data, wanted.len);
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

static void groups_may_be_read_partially(void **state)
{
        for_all_kinds(check_groups);
}

static int first_of_each(fst_task *task, int64_t key, fst_iter *values, fst_out *out)
{
        struct result_row s = {key, -1, 0};
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
        struct cogroup_fixture f;
        fixture_init(&f, TIGHT, true);
        struct rows_of_side rows = random_rows(FST_KIND_I64, 100000, 100, 90);
        fst_type type = FST_PAIR(I64, I64);
        struct op *op = cogroup_new(&f, COGROUP_GROUPS, &type, 1, f.sink.type, fn);
        task_run_set_current(&f.run);
        int r = run_cogroup(op, &rows, 1);
        task_run_set_current(NULL);
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

static void group_functions_fail_with_their_message(void **state)
{
        expect_failure(FST_FN(refuses), 0, "not 3");
        expect_failure(FST_FN(first_of_each), -EINVAL,
                       "the rows are I64, but first_of_each reads them with fst_next "
                       "into variables for F64 (op_cogroup_test.c:");
        expect_failure(FST_FN(stops), -ECANCELED, "cancelled");
}

static void groups_end_when_downstream_has_enough(void **state)
{
        struct cogroup_fixture f;
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

/* ------------------------------------------------------------------------------------------------------- filters */

struct keep_sink {
        struct op op;
        struct rows_of_side rows;
        uint8_t kind;
};

static int keep(struct op *op, const struct rows *in)
{
        struct keep_sink *sink = container_of(op, struct keep_sink, op);
        for (uint32_t i = 0; i < in->batch.rows; i++)
                vec_push(&sink->rows, ((struct side_row){.rank = rank_in(&in->batch, i),
                                                         .value = in->batch.type.value ? in->batch.value.i64[i] : 0}));
        return 0;
}

static const struct op_class keep_class = {"keep", .consume = keep};

static bool has_rank(const struct rows_of_side *rows, int64_t rank)
{
        struct side_row wanted = {.rank = rank, .number = -1, .negative = true};
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
        struct cogroup_fixture f;
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
        uint64_t wanted = 0, seen = 0;
        for (size_t i = 0; i < rows[0].len; i++) {
                const struct side_row *row = &rows[0].data[i];
                bool both = has_rank(&rows[1], row->rank), again = i > 0 && rows[0].data[i - 1].rank == row->rank;
                if (mode == COGROUP_SUBTRACT ? both : !both || again)
                        continue;
                wanted += key_mix((uint64_t)row->rank * 1000003 + (left.value ? (uint64_t)row->value : 0));
                n++;
        }
        for (size_t i = 0; i < sink.rows.len; i++)
                seen += key_mix((uint64_t)sink.rows.data[i].rank * 1000003 +
                                (left.value ? (uint64_t)sink.rows.data[i].value : 0));
        assert_int_equal(sink.rows.len, n);
        assert_int_equal(seen, wanted); /* in any order */
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

static void filters_rows_by_keys_of_the_other_side(void **state)
{
        for_all_kinds(check_keeps);
}

/* ---------------------------------------------------------------------------------------------- invalid cogroups */

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

static void rejects_types_that_do_not_fit(void **state)
{
        fst_type pair = FST_PAIR(I64, I64);
        refused(COGROUP_JOIN, pair, FST_I64, FST_FN(inner_i64), "it needs pairs on both sides");
        refused(COGROUP_JOIN, pair, FST_PAIR(F64, I64), FST_FN(inner_i64), "it needs keys of one type on both sides");
        refused(COGROUP_JOIN, pair, FST_PAIR(I64, F64), FST_FN(inner_i64), "takes PAIR(I64, I64) on the right");
        refused(COGROUP_JOIN, pair, pair, FST_FN(left_i64), "in it it is never missing");
        refused(COGROUP_LEFT_JOIN, pair, pair, FST_FN(inner_i64), "in it it may be missing: make the parameter a");
        refused(COGROUP_RIGHT_JOIN, pair, pair, FST_FN(left_i64), "takes the left value itself");
        refused(COGROUP_FULL_JOIN, pair, pair, FST_FN(left_i64), "takes the left value itself");
        refused(COGROUP_JOIN, pair, pair, FST_FN(two_i64), "is not a function that it can call");
        refused(COGROUP_GROUPS, pair, pair, FST_FN(one_i64), "is not a function that it of 2 RDDs can call");
        refused(COGROUP_GROUPS, pair, pair, FST_FN(two_bytes), "takes keys of BYTES, but the rows are PAIR(I64, I64)");
        refused(COGROUP_SUBTRACT, pair, FST_BYTES, (fst_fn){0}, "it needs keys of one type");
        refused(COGROUP_LISTS, pair, pair, (fst_fn){0}, "it makes rows of PAIR(I64, BYTES), not of I64");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(joins_pair_all_rows_and_unmatched_rows),
                cmocka_unit_test(outer_joins_with_a_skewed_key),
                cmocka_unit_test(joins_sides_in_partitions),
                cmocka_unit_test(joins_without_memory_for_a_table),
                cmocka_unit_test(joins_end_when_downstream_has_enough),
                cmocka_unit_test(groups_may_be_read_partially),
                cmocka_unit_test(group_functions_fail_with_their_message),
                cmocka_unit_test(groups_end_when_downstream_has_enough),
                cmocka_unit_test(filters_rows_by_keys_of_the_other_side),
                cmocka_unit_test(rejects_types_that_do_not_fit),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
