/* Numbers of several distributions against the C library's sort, and the memory that they take. */
#include "rdd/sort/number_buckets.h"

#include "base/mem.h"
#include "rdd/sort/number_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Adds numbers in batches of many sizes. Returns how many pages they take. */
static size_t add_numbers(struct number_buckets *b, const uint64_t *numbers, size_t n)
{
        size_t pages = 0;
        for (size_t at = 0, batch = 1; at < n; batch = batch % 1024 + 97) {
                size_t some = MIN(batch, n - at), added = number_buckets_add(b, numbers + at, some);
                at += added;
                if (added < some) {
                        struct page *page;
                        assert_int_equal(page_new(NULL, FST_I64, 0, &page), 0);
                        number_buckets_give(b, page);
                        pages++;
                }
        }
        assert_int_equal(number_buckets_count(b), n);
        return pages;
}

static void expect_sorted(struct number_buckets *b, uint64_t *wanted, size_t n, int distribution)
{
        size_t at = 0, some;
        const uint64_t *sorted;
        qsort(wanted, n, sizeof(*wanted), number_compare);
        for (; (sorted = number_buckets_next(b, &some)); at += some)
                if (at + some > n || memcmp(sorted, wanted + at, some * sizeof(*wanted)) != 0)
                        fail_msg("%zu numbers of distribution %d: from %zu on", n, distribution, at);
        assert_int_equal(at, n);
        assert_null(number_buckets_next(b, &some));
}

static void sorts_all_distributions(void **state)
{
        static const size_t sizes[] = {0, 1, 247, 248, 249, 16384, 16385, 100000};
        struct number_buckets *b = number_buckets_new();
        for (size_t s = 0; s < ARRAY_SIZE(sizes); s++)
                for (enum number_distribution d = 0; d < DISTRIBUTIONS; d++) {
                        size_t n = sizes[s];
                        _cleanup_free_ uint64_t *numbers = new_array(uint64_t, n + 1);
                        for (size_t i = 0; i < n; i++)
                                numbers[i] = number_of(d, i, n);
                        add_numbers(b, numbers, n);
                        expect_sorted(b, numbers, n, d);
                        page_list_free(NULL, number_buckets_clear(b));
                }
        number_buckets_free(b);
}

static uint64_t numbers_sum(const uint64_t *numbers, size_t n)
{
        uint64_t sum = 0;
        for (size_t i = 0; i < n; i++)
                sum += numbers[i] * (numbers[i] | 1);
        return sum;
}

static void expect_order_and_sum(struct number_buckets *b, uint64_t sum, size_t n)
{
        uint64_t last = 0;
        const uint64_t *sorted;
        for (size_t some; (sorted = number_buckets_next(b, &some)); n -= some) {
                sum -= numbers_sum(sorted, some);
                for (size_t i = 0; i < some; last = sorted[i++])
                        if (sorted[i] < last)
                                fail_msg("%lu is after %lu", (unsigned long)sorted[i], (unsigned long)last);
        }
        assert_int_equal(n, 0);
        assert_int_equal(sum, 0);
}

/* The range is divided while numbers come. Numbers of few ranges are split when they are read. */
static void sorts_more_than_a_million(void **state)
{
        enum { MANY = 1100000 };
        static const enum number_distribution distributions[] = {RANDOM, LATE_OUTLIERS, POWERS};
        struct number_buckets *b = number_buckets_new();
        uint64_t *numbers = new_array(uint64_t, MANY);
        for (size_t d = 0; d < ARRAY_SIZE(distributions); d++) {
                for (size_t i = 0; i < MANY; i++)
                        numbers[i] = number_of(distributions[d], i, MANY);
                size_t bytes = add_numbers(b, numbers, MANY) * PAGE_BLOCK;
                assert_true(bytes < MANY * sizeof(*numbers) * 11 / 10 + ((size_t)9 << 20));
                expect_order_and_sum(b, numbers_sum(numbers, MANY), MANY);
                page_list_free(NULL, number_buckets_clear(b));
        }
        free(numbers);
        number_buckets_free(b);
}

/* A task may end at any time. */
static void clears_while_it_is_read(void **state)
{
        enum { MANY = 100000 };
        struct number_buckets *b = number_buckets_new();
        uint64_t *numbers = new_array(uint64_t, MANY);
        size_t n;
        for (size_t i = 0; i < MANY; i++)
                numbers[i] = number_of(POWERS, i, MANY);
        for (int reads = 0; reads < 4; reads++) {
                add_numbers(b, numbers, MANY);
                for (int i = 0; i < reads; i++)
                        assert_non_null(number_buckets_next(b, &n));
                page_list_free(NULL, number_buckets_clear(b));
                assert_int_equal(number_buckets_count(b), 0);
        }
        add_numbers(b, numbers, MANY);
        expect_sorted(b, numbers, MANY, POWERS);
        page_list_free(NULL, number_buckets_clear(b));
        free(numbers);
        number_buckets_free(b);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(sorts_all_distributions),
                cmocka_unit_test(sorts_more_than_a_million),
                cmocka_unit_test(clears_while_it_is_read),
        };
        return cmocka_run_group_tests_name("number buckets", tests, NULL, NULL);
}
