/* Helpers for tests of operators by key: pairs of small numbers, written and read as one number each. */
#pragma once

#include "base/mem.h"
#include "api/api_fixture.h"
#include "driver/backend/wire_fixture.h"
#include "rdd/rdd.h"

static inline int loud_setup(void **state)
{
        *state = api_context("local[2]", "spark.log.level", "ERROR", NULL);
        return 0;
}

/* (key, value) as one number: x → (x / 1000, x mod 1000) */
static inline int unfold(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x / 1000, x % 1000);
        return 0;
}

static inline fst_rdd *pairs_of(fst_context *sc, const int64_t *rows, size_t n, int partitions)
{
        return fst_map(fst_parallelize_n(sc, rows, n, partitions), unfold, FST_PAIR(I64, I64));
}
#define PAIRS(sc, partitions, ...)                                                                                     \
        pairs_of(sc, (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / 8, partitions)

static inline int by_value(const void *x, const void *y)
{
        int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
        return (a > b) - (a < b);
}

/* Checks that the sorted rows of an RDD of I64 are these. */
static inline void expect(fst_rdd *rdd, const int64_t *wanted, size_t n)
{
        fst_iter *rows;
        int64_t got[512], x;
        size_t at = 0;
        assert_int_equal(fst_collect(rdd, &rows), 0);
        while (fst_next(rows, &x)) {
                assert_true(at < 512);
                got[at++] = x;
        }
        qsort(got, at, sizeof(*got), by_value);
        for (size_t i = 0; i < MIN(at, n); i++)
                assert_int_equal(got[i], wanted[i]);
        assert_int_equal(at, n);
}
#define EXPECT(rdd, ...) expect(rdd, (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / 8)

static inline void expect_none(fst_rdd *rdd)
{
        int64_t n;
        assert_int_equal(fst_count(rdd, &n), 0);
        assert_int_equal(n, 0);
}

/* (key, value) → key × 1000 + value */
static inline int64_t fold(fst_task *task, int64_t key, int64_t value)
{
        return key * 1000 + value;
}

static inline fst_rdd *folded(fst_rdd *pairs)
{
        return fst_map(pairs, fold, FST_I64);
}

/* The largest number of shuffles between @rdd and @from; -1: @from is not an ancestor. */
static inline int shuffles_until(const fst_rdd *rdd, const fst_rdd *from)
{
        int below = rdd == from ? 0 : -1;
        for (int i = 0; i < rdd->n_parents && below < 0; i++)
                below = shuffles_until(rdd->parents[i], from);
        return below < 0 || rdd == from ? below : below + (rdd->op == RDD_SHUFFLED);
}

static inline bool never(fst_task *task, int64_t key, int64_t value)
{
        return false;
}

static inline int to_texts(fst_task *task, int64_t x, fst_out *out)
{
        char key[24], value[24];
        snprintf(key, sizeof(key), "%lld", (long long)x % 7);
        snprintf(value, sizeof(value), "%lld", (long long)x);
        fst_emit(out, key, value);
        return 0;
}

static inline int64_t check_texts(fst_task *task, fst_bytes key, fst_bytes value)
{
        char text[24] = {0};
        memcpy(text, value.data, MIN(value.len, sizeof(text) - 1));
        return key.len == 1 ? atoll(text) : -1;
}

static inline int64_t text_length(fst_task *task, fst_bytes value)
{
        return (int64_t)value.len;
}

/* Two digits for each value of each side; 99 separates the sides. */
static inline int both_sides(fst_task *task, int64_t key, fst_iter *a, fst_iter *b, fst_out *out)
{
        int64_t digits = key, x;
        while (fst_next(a, &x))
                digits = digits * 100 + x;
        digits = digits * 100 + 99;
        while (fst_next(b, &x))
                digits = digits * 100 + x;
        fst_emit(out, digits);
        return 0;
}

static inline void digits_of_sides(int64_t key, fst_iter *const *groups, int n, fst_out *out)
{
        int64_t digits = key, x;
        for (int k = 0; k < n; k++) {
                while (fst_next(groups[k], &x))
                        digits = digits * 100 + x;
                digits = digits * 100 + 99;
        }
        fst_emit(out, digits);
}

static inline int three_sides(fst_task *task, int64_t key, fst_iter *const *groups, fst_out *out)
{
        digits_of_sides(key, groups, 3, out);
        return 0;
}

struct mean {
        double sum;
        int64_t n;
};

static inline int add_to_mean(fst_task *task, void *so_far, int64_t value)
{
        struct mean *mean = so_far;
        mean->sum += (double)value;
        mean->n++;
        return value == 999 ? fst_fail(task, "999") : 0;
}

static inline int both_means(fst_task *task, void *a, const void *b)
{
        struct mean *mean = a, more;
        memcpy(&more, b, sizeof(more));
        mean->sum += more.sum;
        mean->n += more.n;
        return 0;
}

/* Runs the cases that take a context here and with lineage from the wire, and @more only here. Returns the number of
 * failures. */
static inline int pair_cases_run(const struct CMUnitTest *cases, size_t n, const struct CMUnitTest *more, size_t n_more)
{
        struct CMUnitTest here[64];
        int failed = 0;

        assert_true(n + n_more <= ARRAY_SIZE(here));
        memcpy(here, cases, n * sizeof(*cases));
        memcpy(here + n, more, n_more * sizeof(*more));
        failed = _cmocka_run_group_tests("here", here, n + n_more, NULL, NULL);
        local_backend_set_probe(&by_wire);
        failed += _cmocka_run_group_tests("by way of the wire", cases, n, NULL, NULL);
        local_backend_set_probe(NULL);
        return failed;
}
