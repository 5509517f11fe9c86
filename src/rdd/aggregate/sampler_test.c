/* Compares with the rows that genuine Spark 4.3 takes from 0 … 399 in four partitions, and with numbers of
 * java.util.Random. */
#include "rdd/aggregate/sampler.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

struct expected_sample {
        int rows;
        int64_t checksum; /* sum of (i + 1) × the i-th row */
        int64_t first[8];
};

static struct expected_sample take(const struct sampling_plan *plan)
{
        struct expected_sample t = {0};
        struct sampler s;
        for (int partition = 0; partition < 4; partition++) {
                sampler_begin(&s, plan, partition);
                for (int64_t row = partition * 100; row < partition * 100 + 100; row++)
                        for (uint32_t n = sampler_next(&s); n > 0; n--) {
                                if (t.rows < 8)
                                        t.first[t.rows] = row;
                                t.checksum += ++t.rows * row;
                        }
        }
        return t;
}

static void check(struct sampling_plan plan, struct expected_sample want)
{
        struct expected_sample got = take(&plan);
        assert_int_equal(got.rows, want.rows);
        for (int i = 0; i < 8; i++)
                assert_int_equal(got.first[i], want.first[i]);
        assert_int_equal(got.checksum, want.checksum);
}

static void takes_spark_rows_without_replacement(void **state)
{
        check((struct sampling_plan){.how = SAMPLING_ONCE, .fraction = 0.1, .seed = 42},
              (struct expected_sample){42, 255803, {12, 26, 38, 40, 41, 42, 47, 48}});
        check((struct sampling_plan){.how = SAMPLING_ONCE, .fraction = 0.7, .seed = 42},
              (struct expected_sample){287, 11117906, {0, 1, 2, 6, 8, 10, 11, 12}});
        check((struct sampling_plan){.how = SAMPLING_ONCE, .fraction = 0.05, .seed = -5},
              (struct expected_sample){22, 70358, {26, 33, 50, 73, 91, 103, 182, 187}});
}

static void takes_spark_rows_with_replacement(void **state)
{
        check((struct sampling_plan){.how = SAMPLING_REPLACED, .fraction = 0.3, .seed = 7},
              (struct expected_sample){130, 2350013, {7, 13, 14, 14, 15, 17, 19, 21}});
        check((struct sampling_plan){.how = SAMPLING_REPLACED, .fraction = 0.9, .seed = 7},
              (struct expected_sample){347, 15958514, {0, 3, 5, 6, 6, 6, 7, 7}});
        check((struct sampling_plan){.how = SAMPLING_REPLACED, .fraction = 2.5, .seed = -123456789012},
              (struct expected_sample){991, 130503943, {0, 0, 0, 0, 0, 1, 1, 1}});
}

static void splits_like_spark(void **state)
{
        check((struct sampling_plan){.how = SAMPLING_RANGE, .lower = 0, .upper = 1.0 / 6, .seed = 99},
              (struct expected_sample){65, 616704, {10, 13, 15, 28, 31, 41, 53, 64}});
        check((struct sampling_plan){.how = SAMPLING_RANGE, .lower = 1.0 / 6, .upper = 1.0 / 6 + 2.0 / 6, .seed = 99},
              (struct expected_sample){132, 2152095, {1, 2, 5, 11, 19, 26, 27, 29}});
        check((struct sampling_plan){.how = SAMPLING_RANGE, .lower = 0.5, .upper = 1, .seed = 99},
              (struct expected_sample){203, 5602588, {0, 3, 4, 6, 7, 8, 9, 12}});
}

static void takes_none_and_all(void **state)
{
        struct expected_sample none = take(&(struct sampling_plan){.how = SAMPLING_ONCE, .fraction = 0, .seed = 1});
        struct expected_sample all = take(&(struct sampling_plan){.how = SAMPLING_ONCE, .fraction = 1, .seed = 1});
        assert_int_equal(none.rows, 0);
        assert_int_equal(all.rows, 400);
        assert_int_equal(take(&(struct sampling_plan){.how = SAMPLING_REPLACED}).rows, 0);
}

/* 400 rows: the total stays within four standard deviations, 4 × sqrt(fraction × 400), of the expected number. */
static void takes_rows_many_times(void **state)
{
        static const int fractions[] = {39, 40, 100, 800, 20000};
        for (size_t i = 0; i < sizeof(fractions) / sizeof(fractions[0]); i++) {
                int64_t wanted = 400 * (int64_t)fractions[i];
                struct expected_sample t =
                        take(&(struct sampling_plan){.how = SAMPLING_REPLACED, .fraction = fractions[i], .seed = 7});
                assert_true((t.rows - wanted) * (t.rows - wanted) < 16 * wanted);
        }
}

static void draws_java_and_spark_numbers(void **state)
{
        assert_int_equal(java_random_long(42, 0), -5025562857975149833);
        assert_int_equal(java_random_long(42, 1), -5843495416241995736);
        /* Spark's repartition starts the rows of partitions 0, 1 … at these numbers plus one. */
        static const int begins[] = {4, 4, 4, 3, 4, 1, 1, 1}, begins_16[] = {4, 4, 0, 12, 10, 15, 13, 7};
        for (int i = 0; i < 8; i++) {
                assert_int_equal((xorshift_random_int(i, 5) + 1) % 5, begins[i]);
                assert_int_equal((xorshift_random_int(i, 16) + 1) % 16, begins_16[i]);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(takes_spark_rows_without_replacement),
                cmocka_unit_test(takes_spark_rows_with_replacement),
                cmocka_unit_test(splits_like_spark),
                cmocka_unit_test(takes_none_and_all),
                cmocka_unit_test(takes_rows_many_times),
                cmocka_unit_test(draws_java_and_spark_numbers),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
