/*
 * Tests operators that select, number, pair and partition rows: sample, random_split, zip_with_index, zip,
 * zip_partitions, cartesian, repartition, partition_by of all kinds, sort_within_partitions. Comments mark rows that
 * come from Spark 4.3.
 */
#include "base/mem.h"
#include "api/api_fixture.h"

static int setup(void **state)
{
        *state = api_context("local[2]", "spark.log.level", "ERROR", NULL);
        return 0;
}

/* The sum of (i + 1) × the i-th collected number; *@n is their count. */
static int64_t checksum(fst_rdd *rdd, int64_t *n)
{
        fst_iter *rows;
        int64_t sum = 0, x;
        *n = 0;
        assert_int_equal(fst_collect(rdd, &rows), 0);
        while (fst_next(rows, &x))
                sum += ++*n * x;
        return sum;
}

static void samples_like_spark(void **state)
{
        fst_rdd *numbers = fst_range_n(*state, 0, 400, 4);
        int64_t n;
        assert_int_equal(checksum(fst_sample(numbers, false, 0.1, 42), &n), 255803);
        assert_int_equal(n, 42);
        assert_int_equal(checksum(fst_sample(numbers, true, 2.5, -123456789012), &n), 130503943);
        assert_int_equal(n, 991);
        /* The sample depends on the partition, not on its number in the job. */
        assert_int_equal(fst_count(fst_union(fst_range_n(*state, 0, 7, 3), fst_sample(numbers, false, 0.1, 42)), &n),
                         0);
        assert_int_equal(n, 49);
        assert_refused(fst_count(fst_sample(numbers, false, 1.5, 1), &n), -EINVAL, "must be on interval [0, 1]");
        assert_refused(fst_count(fst_sample(numbers, true, -1, 1), &n), -EINVAL,
                       "Fraction must be nonnegative, but got -1");
}

static int pair_with_text(fst_task *task, int64_t x, fst_out *out)
{
        char text[32];
        snprintf(text, sizeof(text), "row %lld", (long long)x);
        fst_emit(out, text, x);
        return 0;
}

static void splits_rows_at_random(void **state)
{
        double weights[] = {1, 2, 3};
        fst_rdd *splits[3];
        int64_t n, sums[] = {616704, 2152095, 5602588};
        fst_random_split(fst_range_n(*state, 0, 400, 4), weights, 3, 99, splits);
        for (int i = 0; i < 3; i++)
                assert_int_equal(checksum(splits[i], &n), sums[i]);
        /* Pairs with bytes: each is in exactly one part. */
        fst_random_split(fst_map(fst_range_n(*state, 0, 5000, 3), pair_with_text, FST_PAIR(BYTES, I64)), weights, 3, 5,
                         splits);
        int64_t total = 0;
        for (int i = 0; i < 3; i++, total += n)
                assert_int_equal(fst_count(splits[i], &n), 0);
        assert_int_equal(total, 5000);
        weights[1] = -1;
        fst_random_split(fst_range_n(*state, 0, 4, 1), weights, 3, 5, splits);
        assert_refused(fst_count(splits[0], &n), -EINVAL, "Weights must be nonnegative");
}

static bool every_third(fst_task *task, int64_t x)
{
        return x % 3 == 0;
}

static void numbers_rows(void **state)
{
        fst_iter *rows;
        int64_t x, i, want = 0;
        fst_rdd *some = fst_filter(fst_range_n(*state, 0, 10000, 7), every_third);
        assert_int_equal(fst_collect(fst_zip_with_index(some), &rows), 0);
        for (; fst_next(rows, &x, &i); want++) {
                assert_int_equal(i, want);
                assert_int_equal(x, 3 * want);
        }
        assert_int_equal(want, 3334);

        assert_int_equal(fst_collect(fst_zip_with_index(fst_range_n(*state, 0, 10, 1)), &rows), 0);
        for (want = 0; fst_next(rows, &x, &i); want++)
                assert_true(x == want && i == want);
        assert_int_equal(want, 10);
        /* Through a shuffle (SPARK-4433). */
        assert_int_equal(fst_count(fst_repartition(fst_zip_with_index(fst_range_n(*state, 0, 10, 2)), 4), &i), 0);
        assert_int_equal(i, 10);

        /* Partition p of n: p, p + n, … */
        assert_int_equal(fst_collect(fst_zip_with_unique_id(fst_range_n(*state, 0, 7, 3)), &rows), 0);
        static const int64_t ids[] = {0, 3, 1, 4, 2, 5, 8};
        for (want = 0; fst_next(rows, &x, &i); want++)
                assert_int_equal(i, ids[want]);
        assert_int_equal(want, 7);

        /* Pairs are encoded as bytes. An RDD of one partition needs no counting. One without partitions has no rows. */
        fst_bytes row = {0};
        fst_rdd *pairs = fst_map(fst_range_n(*state, 5, 8, 1), pair_with_text, FST_PAIR(BYTES, I64));
        assert_int_equal(fst_collect(fst_zip_with_index(pairs), &rows), 0);
        assert_true(fst_next(rows, &row, &i));
        assert_int_equal(row.len, 4 + 5 + 8);
        assert_memory_equal(row.data + 4, "row 5", 5);
}

static void numbers_rows_again(void **state)
{
        fst_iter *rows;
        int64_t i, want = 0;
        fst_bytes row = {0};
        fst_rdd *twice = fst_zip_with_index(fst_zip_with_index(fst_range_n(*state, 0, 100, 4)));
        assert_int_equal(fst_collect(twice, &rows), 0);
        for (; fst_next(rows, &row, &i); want++)
                assert_int_equal(i, want);
        assert_int_equal(want, 100);
}

static int64_t half(fst_task *task, int64_t x)
{
        return x / 2;
}

static double as_double(fst_task *task, int64_t x)
{
        return (double)x;
}

static void zips_rows(void **state)
{
        fst_iter *rows;
        int64_t a, b, n = 0;
        double d;
        fst_rdd *numbers = fst_range_n(*state, 0, 10000, 3);
        assert_int_equal(fst_collect(fst_zip(numbers, fst_map(numbers, half, FST_I64)), &rows), 0);
        for (; fst_next(rows, &a, &b); n++)
                assert_true(a == n && b == n / 2);
        assert_int_equal(n, 10000);
        /* Zipped rows are copied from their source, which may be the same RDD on both sides. */
        assert_int_equal(fst_take(fst_zip(numbers, numbers), 3, &rows), 0);
        for (n = 0; fst_next(rows, &a, &b); n++)
                assert_true(a == n && b == n);
        assert_int_equal(n, 3);
        assert_int_equal(fst_collect(fst_zip(fst_map(numbers, as_double, FST_F64), numbers), &rows), 0);
        assert_true(fst_next(rows, &d, &a));

        assert_refused(fst_count(fst_zip(numbers, fst_range_n(*state, 0, 10000, 2)), &n), -EINVAL,
                       "Can't zip RDDs with unequal numbers of partitions: List(3, 2)");
        assert_refused(fst_count(fst_zip(numbers, fst_range_n(*state, 0, 9999, 3)), &n), -EIO,
                       "Can only zip RDDs with same number of elements in each partition");
        assert_refused(fst_count(fst_zip(numbers, fst_range_n(*state, 0, 10002, 3)), &n), -EIO,
                       "Can only zip RDDs with same number of elements in each partition");
        assert_refused(fst_count(fst_zip(fst_zip(numbers, numbers), numbers), &n), -EINVAL,
                       "zip pairs rows of one column, but was given PAIR(I64, I64)");
}

/* One row: the numbers of rows on both sides, and the first text. */
static int sizes(fst_task *task, fst_iter *numbers, fst_iter *texts, fst_out *out)
{
        int64_t x, value, n = 0, m = 0;
        fst_bytes text = {0};
        while (fst_next(texts, &text, &value))
                if (m++ == 0)
                        fst_emit(out, text, -1);
        while (fst_next(numbers, &x))
                n++;
        fst_emit(out, "numbers", n);
        fst_emit(out, "texts", m);
        return 0;
}

static int alternate(fst_task *task, fst_iter *const *parts, fst_out *out)
{
        int64_t x;
        for (bool more = true; more;) {
                more = false;
                for (int i = 0; i < 3; i++)
                        if (fst_next(parts[i], &x)) {
                                fst_emit(out, x);
                                more = true;
                        }
        }
        return 0;
}

static int wrong_variables(fst_task *task, fst_iter *a, fst_iter *b, fst_out *out)
{
        double x;
        while (fst_next(a, &x))
                fst_emit(out, 1);
        return 0;
}

static void zips_partitions(void **state)
{
        fst_iter *rows;
        int64_t n, x, count = 0;
        fst_bytes text = {0};
        fst_rdd *numbers = fst_range_n(*state, 0, 3000, 2);
        fst_rdd *texts = fst_map(fst_range_n(*state, 100, 5100, 2), pair_with_text, FST_PAIR(BYTES, I64));
        assert_int_equal(fst_collect(fst_zip_partitions(numbers, texts, sizes, FST_PAIR(BYTES, I64)), &rows), 0);
        static const int64_t want[] = {-1, 1500, 2500, -1, 1500, 2500};
        for (; fst_next(rows, &text, &n); count++)
                assert_int_equal(n, want[count]);
        assert_int_equal(count, 6);

        fst_rdd *three[] = {numbers, fst_range_n(*state, 10000, 10004, 2), numbers};
        assert_int_equal(fst_take(fst_zip_partitions_all(*state, three, 3, alternate, FST_I64), 9, &rows), 0);
        static const int64_t turns[] = {0, 10000, 0, 1, 10001, 1, 2, 2, 3};
        for (count = 0; fst_next(rows, &x); count++)
                assert_int_equal(x, turns[count]);
        assert_int_equal(count, 9);

        assert_refused(fst_count(fst_zip_partitions(numbers, numbers, wrong_variables, FST_I64), &n), -EIO,
                       "wrong_variables");
        assert_refused(fst_count(fst_zip_partitions(numbers, numbers, alternate, FST_I64), &n), -EINVAL,
                       "two iterators");
        assert_refused(fst_count(fst_zip_partitions_all(*state, three, 0, alternate, FST_I64), &n), -EINVAL,
                       "1 to 64 RDDs, not 0");
}

static void crosses_rows(void **state)
{
        fst_iter *rows;
        int64_t a, b, n = 0;
        fst_rdd *left = fst_range_n(*state, 0, 6, 2), *right = fst_range_n(*state, 0, 4, 2);
        fst_rdd *product = fst_cartesian(left, right);
        assert_int_equal(fst_rdd_partitions(product), 4);
        /* Spark's order. */
        static const int64_t want[][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}, {0, 2}, {0, 3}};
        assert_int_equal(fst_take(product, 8, &rows), 0);
        for (; fst_next(rows, &a, &b); n++)
                assert_true(a == want[n][0] && b == want[n][1]);
        assert_int_equal(n, 8);

        /* More rows than a batch on either side; bytes. */
        fst_bytes text = {0};
        int64_t value, sum = 0;
        fst_rdd *texts = fst_map(fst_range_n(*state, 0, 3000, 1), half, FST_I64);
        assert_int_equal(fst_count(fst_cartesian(texts, fst_range_n(*state, 0, 1500, 3)), &n), 0);
        assert_int_equal(n, 4500000);
        fst_bytes words[] = {fst_bytes_of("a"), fst_bytes_of("bc"), fst_bytes_of("def")};
        assert_int_equal(fst_collect(fst_cartesian(fst_parallelize_n(*state, words, 3, 1), texts), &rows), 0);
        for (n = 0; fst_next(rows, &text, &value); n++)
                sum += (int64_t)text.len * value;
        assert_int_equal(n, 9000);
        assert_int_equal(sum, 6 * 2 * (1499 * 1500 / 2));
        assert_int_equal(fst_count(fst_cartesian(left, fst_range_n(*state, 0, 0, 2)), &n), 0);
        assert_int_equal(n, 0);
}

static int partition_number(fst_task *task, int partition, fst_iter *rows, fst_out *out)
{
        int64_t x;
        while (fst_next(rows, &x))
                fst_emit(out, partition, x);
        return 0;
}

static void repartitions_like_spark(void **state)
{
        fst_iter *rows;
        int64_t p, x;
        /* The partitions that Spark's repartition gives to 0, 100, 200 … of eight partitions with 100 rows each. */
        static const int of_5[] = {4, 4, 4, 3, 4, 1, 1, 1}, of_16[] = {4, 4, 0, 12, 10, 15, 13, 7};
        fst_rdd *numbers = fst_range_n(*state, 0, 800, 8);
        for (int n = 5; n <= 16; n += 11) {
                fst_rdd *dealt = fst_repartition(numbers, n);
                assert_int_equal(fst_rdd_partitions(dealt), n);
                assert_int_equal(
                        fst_collect(fst_map_partitions_with_index(dealt, partition_number, FST_PAIR(I64, I64)), &rows),
                        0);
                int64_t count = 0;
                for (; fst_next(rows, &p, &x); count++)
                        if (x % 100 == 0)
                                assert_int_equal(p, (n == 5 ? of_5 : of_16)[x / 100]);
                assert_int_equal(count, 800);
        }
        assert_refused(fst_count(fst_repartition(numbers, 0), &x), -EINVAL, "Number of partitions must be positive");
}

struct places {
        int64_t from;
};

static int by_hundreds(fst_task *task, int64_t key, int partitions)
{
        const struct places *places = fst_captured(task);
        return (int)((key - places->from) / 100) % partitions;
}

static int beyond(fst_task *task, int64_t key, int partitions)
{
        return partitions;
}

static int by_first_byte(fst_task *task, fst_bytes key, int partitions)
{
        return key.data[0] % partitions;
}

static int keyed(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, 999 - x, x);
        return 0;
}

static int key_and_partition(fst_task *task, int partition, fst_iter *rows, fst_out *out)
{
        int64_t key, value, last = INT64_MIN;
        while (fst_next(rows, &key, &value)) {
                if (key < last)
                        return fst_fail(task, "%lld after %lld", (long long)key, (long long)last);
                last = key;
                fst_emit(out, key, partition);
        }
        return 0;
}

static void partitions_rows_by_function(void **state)
{
        fst_iter *rows;
        int64_t key, p, n = 0, last = -1;
        struct places places = {.from = 0};
        fst_rdd *pairs = fst_map(fst_range_n(*state, 0, 1000, 4), keyed, FST_PAIR(I64, I64));
        fst_rdd *placed = fst_partition_by_function(pairs, 5, FST_WITH(by_hundreds, places));
        fst_rdd *sorted = fst_sort_within_partitions(placed, FST_ASCENDING);
        assert_int_equal(
                fst_collect(fst_map_partitions_with_index(sorted, key_and_partition, FST_PAIR(I64, I64)), &rows), 0);
        for (; fst_next(rows, &key, &p); n++)
                assert_int_equal(p, key / 100 % 5);
        assert_int_equal(n, 1000);
        /* The same function with equal captured values is the same partitioner; with other values it is not. */
        assert_ptr_equal(fst_partition_by_function(placed, 5, FST_WITH(by_hundreds, places)), placed);
        places.from = 50;
        assert_ptr_not_equal(fst_partition_by_function(placed, 5, FST_WITH(by_hundreds, places)), placed);

        assert_refused(fst_count(fst_partition_by_function(pairs, 3, beyond), &n), -EIO,
                       "placed a key in partition 3 of 3");
        assert_refused(fst_count(fst_partition_by_function(pairs, 3, by_first_byte), &n), -EINVAL,
                       "does not place keys that are I64");

        fst_rdd *ranges = fst_partition_by_range(pairs, 4, FST_DESCENDING);
        assert_int_equal(fst_collect(fst_map_partitions_with_index(fst_sort_within_partitions(ranges, FST_ASCENDING),
                                                                   key_and_partition, FST_PAIR(I64, I64)),
                                     &rows),
                         0);
        int64_t least[4] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX}, most[4] = {-1, -1, -1, -1};
        for (n = 0; fst_next(rows, &key, &p); n++) {
                least[p] = MIN(least[p], key);
                most[p] = MAX(most[p], key);
        }
        assert_int_equal(n, 1000);
        for (int i = 0; i < 3; i++)
                assert_true(least[i] > most[i + 1]);

        fst_rdd *both = fst_repartition_and_sort_within_partitions(pairs, 3, FST_ASCENDING);
        assert_int_equal(fst_collect(fst_map_partitions_with_index(both, key_and_partition, FST_PAIR(I64, I64)), &rows),
                         0);
        for (n = 0; fst_next(rows, &key, &p); n++)
                last = key;
        assert_int_equal(n, 1000);
        assert_true(last >= 0);
}

static void gloms_partitions(void **state)
{
        fst_iter *rows;
        fst_bytes list = {0}, text = {0};
        int64_t x = 0, n = 0, next = 0;
        assert_int_equal(fst_collect(fst_glom(fst_range_n(*state, 0, 100000, 3)), &rows), 0);
        for (; fst_next(rows, &list); n++)
                for (fst_list l = fst_list_of(list, FST_I64); fst_list_next(&l, &x); next++)
                        assert_int_equal(x, next);
        assert_int_equal(n, 3);
        assert_int_equal(next, 100000);

        fst_rdd *pairs = fst_map(fst_range_n(*state, 0, 5, 7), pair_with_text, FST_PAIR(BYTES, I64));
        assert_int_equal(fst_collect(fst_glom(pairs), &rows), 0);
        for (n = next = 0; fst_next(rows, &list); n++)
                for (fst_list l = fst_list_of(list, FST_PAIR(BYTES, I64)); fst_list_next(&l, &text, &x); next++) {
                        assert_int_equal(x, next);
                        assert_int_equal(text.len, 5);
                }
        assert_int_equal(n, 7);
        assert_int_equal(next, 5);
}

static int64_t text_length(fst_task *task, fst_bytes text)
{
        return (int64_t)text.len;
}

static void pipes_rows(void **state)
{
        fst_iter *rows;
        fst_bytes text = {0};
        int64_t n = 0, sum;
        fst_rdd *numbers = fst_range_n(*state, 0, 300000, 3);
        fst_rdd *pairs = fst_map(fst_range_n(*state, 7, 9, 1), pair_with_text, FST_PAIR(BYTES, I64));
        assert_int_equal(fst_reduce(fst_map(fst_pipe(numbers, "cat"), text_length, FST_I64), fst_fn_sum, &sum), 0);
        assert_int_equal(sum, 10 + 90 * 2 + 900 * 3 + 9000 * 4 + 90000 * 5 + 200000 * 6);
        assert_int_equal(fst_collect(fst_pipe(pairs, "  tr  a-z \tA-Z "), &rows), 0);
        assert_true(fst_next(rows, &text));
        assert_int_equal(text.len, 9);
        assert_memory_equal(text.data, "(ROW 7,7)", 9);

        /* Programs that print before they read, stop reading, do not end their lines, and do not terminate. */
        const char *words[] = {"sh", "-c", "echo \"$GREETING\"; head -n 1 >/dev/null; printf last", NULL};
        const char *environment[] = {"GREETING=good morning", NULL};
        assert_int_equal(fst_collect(fst_pipe_with(numbers, words, environment), &rows), 0);
        for (; fst_next(rows, &text); n++) {
                assert_int_equal(text.len, n % 2 ? 4 : 12);
                assert_memory_equal(text.data, n % 2 ? "last" : "good morning", text.len);
        }
        assert_int_equal(n, 6);
        assert_int_equal(fst_take(fst_pipe(numbers, "yes"), 5000, &rows), 0);
        for (n = 0; fst_next(rows, &text); n++)
                assert_true(text.len == 1 && text.data[0] == 'y');
        assert_int_equal(n, 5000);

        /* A line longer than the read buffer, while input is written and at its end. */
        const char *talking[] = {"sh", "-c", "head -c 3000000 /dev/zero; cat >/dev/null; head -c 2000000 /dev/zero",
                                 NULL};
        assert_int_equal(
                fst_reduce(fst_map(fst_pipe_with(numbers, talking, NULL), text_length, FST_I64), fst_fn_sum, &sum), 0);
        assert_int_equal(sum, 3 * 5000000);

        const char *failing[] = {"sh", "-c", "cat > /dev/null; exit 3", NULL},
                   *dying[] = {"sh", "-c", "kill -9 $$", NULL};
        assert_refused(fst_count(fst_pipe_with(numbers, failing, NULL), &n), -EIO,
                       "Subprocess exited with status 3. Command ran: sh -c cat > /dev/null; exit 3");
        assert_refused(fst_count(fst_pipe_with(numbers, dying, NULL), &n), -EIO, "Subprocess was ended by signal 9");
        assert_refused(fst_count(fst_pipe(numbers, "no-such-program -x"), &n), -EIO,
                       "Cannot run program \"no-such-program\": No such file or directory");
        assert_refused(fst_count(fst_pipe(numbers, "  "), &n), -EINVAL, "pipe needs a command");
}

/* With little memory. */
static void spills_rows(void **state)
{
        fst_context *sc = api_context("local[2]", "spark.driver.memory", "32m", "spark.memory.fraction", "0.1", NULL);
        int64_t n;
        fst_rdd *many = fst_range_n(sc, 0, 2000000, 2);
        assert_int_equal(fst_count(fst_zip(many, many), &n), 0);
        assert_int_equal(n, 2000000);
        assert_int_equal(fst_count(fst_cartesian(fst_range_n(sc, 0, 4, 1), many), &n), 0);
        assert_int_equal(n, 8000000);
        fst_rdd *three[] = {many, many, many};
        assert_int_equal(fst_count(fst_zip_partitions_all(sc, three, 3, alternate, FST_I64), &n), 0);
        assert_int_equal(n, 6000000);
        assert_int_equal(fst_count(fst_glom(many), &n), -EIO); /* one partition is larger than a task's memory */
        assert_int_equal(fst_context_stop(sc), -EIO);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(samples_like_spark, setup, api_teardown),
                cmocka_unit_test_setup_teardown(splits_rows_at_random, setup, api_teardown),
                cmocka_unit_test_setup_teardown(numbers_rows, setup, api_teardown),
                cmocka_unit_test_setup_teardown(numbers_rows_again, setup, api_teardown),
                cmocka_unit_test_setup_teardown(zips_rows, setup, api_teardown),
                cmocka_unit_test_setup_teardown(zips_partitions, setup, api_teardown),
                cmocka_unit_test_setup_teardown(crosses_rows, setup, api_teardown),
                cmocka_unit_test_setup_teardown(repartitions_like_spark, setup, api_teardown),
                cmocka_unit_test_setup_teardown(partitions_rows_by_function, setup, api_teardown),
                cmocka_unit_test_setup_teardown(gloms_partitions, setup, api_teardown),
                cmocka_unit_test_setup_teardown(pipes_rows, setup, api_teardown),
                cmocka_unit_test(spills_rows),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
