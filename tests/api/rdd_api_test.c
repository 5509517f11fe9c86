/* Tests the public interface against its comments, on real contexts with local[2] and local[2,4]. */
#include "base/log.h"
#include "base/mem.h"
#include "unit/temp_dir.h"

#include <firesteel/firesteel.h>

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static fst_context *context(const char *master)
{
        fst_conf *conf = fst_conf_new();
        fst_conf_set(conf, "spark.master", master);
        fst_conf_set(conf, "spark.app.name", "test");
        fst_conf_set(conf, "spark.log.level", "OFF");
        return fst_context_new_conf(conf);
}

static int setup(void **state)
{
        *state = context("local[2,4]");
        return 0;
}

static int teardown(void **state)
{
        fst_context_stop(*state);
        return 0;
}

/* ---------------------------------------------------------------------------------------------- functions */

static int64_t twice(fst_task *task, int64_t x)
{
        return 2 * x;
}

static double half(fst_task *task, int64_t x)
{
        return (double)x / 2;
}

static bool even(fst_task *task, int64_t x)
{
        return x % 2 == 0;
}

static int repeat(fst_task *task, int64_t x, fst_out *out)
{
        for (int64_t i = 0; i < x; i++)
                fst_emit(out, x);
        return 0;
}

/* Text in a buffer of its own: the engine must copy it. */
static int spell(fst_task *task, int64_t x, fst_out *out)
{
        char text[32];
        snprintf(text, sizeof(text), "number %lld", (long long)x);
        fst_emit(out, text, x);
        return 0;
}

static int modulo(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x % *(const int *)fst_captured(task), x);
        return 0;
}

static int64_t negate_value(fst_task *task, int64_t x)
{
        return -x;
}

static int64_t greatest(fst_task *task, int64_t a, int64_t b)
{
        return a > b ? a : b;
}

static int longest(fst_task *task, fst_bytes a, fst_bytes b, fst_out *out)
{
        fst_emit(out, a.len > b.len || (a.len == b.len && fst_bytes_compare(a, b) < 0) ? a : b);
        return 0;
}

struct span {
        int64_t low, high;
};

static int make_span(fst_task *task, int64_t x, fst_out *out)
{
        struct span span = {x, x};
        fst_emit(out, x % 3, &span);
        return 0;
}

static int widen(fst_task *task, void *into, const void *with)
{
        struct span *a = into;
        const struct span *b = with;
        a->low = a->low < b->low ? a->low : b->low;
        a->high = a->high > b->high ? a->high : b->high;
        return 0;
}

static int sum_partition(fst_task *task, fst_iter *rows, fst_out *out)
{
        int64_t x, sum = 0;
        while (fst_next(rows, &x))
                sum += x;
        fst_emit(out, sum);
        return 0;
}

static int first_three(fst_task *task, fst_iter *rows, fst_out *out)
{
        int64_t x;
        for (int i = 0; i < 3 && fst_next(rows, &x); i++)
                fst_emit(out, x);
        return 0;
}

static int count_batch(fst_task *task, const fst_batch *batch, fst_out *out)
{
        fst_emit(out, (int64_t)batch->rows);
        return 0;
}

static int fail_once(fst_task *task, int64_t x)
{
        if (x == 77 && fst_task_attempt(task) == 0)
                return fst_fail(task, "unlucky %d", 77);
        return 0;
}

static int fail_always(fst_task *task, int64_t x)
{
        return x == 77 ? fst_fail(task, "never %d", 77) : 0;
}

static int emit_wrong_kind(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, 1.5);
        return 0;
}

static bool waits_for_stop;

static int wait_for_stop(fst_task *task, int64_t x)
{
        __atomic_store_n(&waits_for_stop, true, __ATOMIC_RELAXED);
        while (!fst_task_interrupted(task))
                usleep(1000);
        return 0;
}

/* --------------------------------------------------------------------------------------------- element-wise */

static void maps_and_reduces(void **state)
{
        fst_rdd *numbers = fst_range_n(*state, 0, 100000, 7);
        int64_t sum, count;
        double total;
        assert_int_equal(fst_reduce(fst_map(numbers, twice, FST_I64), fst_fn_sum, &sum), 0);
        assert_int_equal(sum, 99999LL * 100000);
        assert_int_equal(fst_reduce(fst_map(numbers, half, FST_F64), fst_fn_sum, &total), 0);
        assert_true(total == 99999.0 * 100000 / 4);
        assert_int_equal(fst_count(fst_filter(numbers, even), &count), 0);
        assert_int_equal(count, 50000);
        assert_int_equal(fst_reduce(numbers, greatest, &sum), 0);
        assert_int_equal(sum, 99999);
        assert_int_equal(fst_reduce(numbers, fst_fn_min, &sum), 0);
        assert_int_equal(sum, 0);
}

static void flat_map_emits_many_rows(void **state)
{
        int64_t count;
        assert_int_equal(fst_count(fst_flat_map(fst_range_n(*state, 0, 3000, 3), repeat, FST_I64), &count), 0);
        assert_int_equal(count, 2999LL * 3000 / 2);
}

static void emitted_text_is_copied(void **state)
{
        fst_iter *rows;
        fst_bytes text;
        int64_t x, seen = 0;
        char expected[32];
        assert_int_equal(fst_collect(fst_flat_map(fst_range_n(*state, 0, 5000, 3), spell, FST_PAIR(BYTES, I64)), &rows),
                         0);
        for (; fst_next(rows, &text, &x); seen++) {
                snprintf(expected, sizeof(expected), "number %lld", (long long)seen);
                assert_int_equal(x, seen);
                assert_int_equal(text.len, strlen(expected));
                assert_memory_equal(text.data, expected, text.len);
        }
        assert_int_equal(seen, 5000);
        assert_int_equal(fst_iter_status(rows), 0);
}

static void reads_partitions_by_iterator_and_batch(void **state)
{
        fst_rdd *numbers = fst_range_n(*state, 0, 10000, 4);
        int64_t sum, count;
        assert_int_equal(fst_reduce(fst_map_partitions(numbers, sum_partition, FST_I64), fst_fn_sum, &sum), 0);
        assert_int_equal(sum, 9999LL * 10000 / 2);
        assert_int_equal(fst_count(fst_map_partitions(numbers, sum_partition, FST_I64), &count), 0);
        assert_int_equal(count, 4);
        assert_int_equal(fst_count(fst_map_partitions(numbers, first_three, FST_I64), &count), 0);
        assert_int_equal(count, 12);
        assert_int_equal(fst_reduce(fst_map_partitions(numbers, count_batch, FST_I64), fst_fn_sum, &sum), 0);
        assert_int_equal(sum, 10000);
        /* The function is called for an empty partition, too. */
        assert_int_equal(fst_count(fst_map_partitions(fst_range_n(*state, 0, 0, 4), sum_partition, FST_I64), &count),
                         0);
        assert_int_equal(count, 4);
}

/* ------------------------------------------------------------------------------------------------- shuffles */

/* Emits all rows and one more. */
static int one_more(fst_task *task, fst_iter *rows, fst_out *out)
{
        int64_t x;
        while (fst_next(rows, &x))
                fst_emit(out, x);
        fst_emit(out, -1);
        return 0;
}

static int first_two(fst_task *task, fst_iter *rows, fst_out *out)
{
        int64_t x;
        for (int i = 0; i < 2 && fst_next(rows, &x); i++)
                fst_emit(out, x);
        return 0;
}

/* After a function stops reading, rows that the previous function still emits must not appear in the next partition. */
static void drops_rows_after_early_end(void **state)
{
        fst_context *sc = context("local[1]");
        fst_rdd *some = fst_map_partitions(fst_map_partitions(fst_range_n(sc, 0, 12, 3), one_more, FST_I64), first_two,
                                           FST_I64);
        fst_iter *rows;
        int64_t x, n = 0;
        assert_int_equal(fst_collect(some, &rows), 0);
        for (; fst_next(rows, &x); n++)
                assert_int_equal(x, n / 2 * 4 + n % 2);
        assert_int_equal(n, 6);
        assert_int_equal(fst_context_stop(sc), 0);
}

/* Only pairs have a partitioner: as in Spark, a union of sorted rows concatenates them. */
static void union_of_sorted_rdds_concatenates(void **state)
{
        fst_rdd *sorted = fst_sort_by_n(fst_range_n(*state, 0, 4, 2), fst_fn_identity, FST_I64, FST_DESCENDING, 2);
        fst_rdd *both = fst_union(sorted, sorted);
        fst_iter *rows;
        int64_t x, n = 0;
        assert_int_equal(fst_rdd_partitions(both), 4);
        assert_int_equal(fst_collect(both, &rows), 0);
        for (; fst_next(rows, &x); n++)
                assert_int_equal(x, 3 - n % 4);
        assert_int_equal(n, 8);
}

static void reduces_by_key(void **state)
{
        int m = 10;
        fst_rdd *pairs = fst_map(fst_range_n(*state, 0, 1000, 5), FST_WITH(modulo, m), FST_PAIR(I64, I64));
        m = 3; /* the captured value is a copy */
        fst_iter *rows;
        int64_t key, sum, seen = 0;
        fst_rdd *sums = fst_reduce_by_key(pairs, fst_fn_sum);
        assert_int_equal(fst_rdd_partitions(sums), 5);
        assert_int_equal(fst_collect(sums, &rows), 0);
        for (; fst_next(rows, &key, &sum); seen += 1LL << (4 * key))
                assert_int_equal(sum, 49500 + 100 * key);
        assert_int_equal(seen, 0x1111111111);
        /* Already partitioned: a second reduce needs no shuffle. */
        assert_int_equal(fst_collect(fst_reduce_by_key(fst_map_values(sums, negate_value, FST_I64), fst_fn_max), &rows),
                         0);
        for (seen = 0; fst_next(rows, &key, &sum); seen++)
                assert_int_equal(sum, -(49500 + 100 * key));
        assert_int_equal(seen, 10);
}

static void reduces_structs_and_bytes(void **state)
{
        fst_iter *rows;
        int64_t key, seen = 0;
        const void *value;
        fst_rdd *spans = fst_map(fst_range_n(*state, 0, 1000, 5), make_span, FST_PAIR(I64, FIXED(sizeof(struct span))));
        assert_int_equal(fst_collect(fst_reduce_by_key_n(spans, widen, 2), &rows), 0);
        for (; fst_next(rows, &key, &value); seen++) {
                struct span span;
                memcpy(&span, value, sizeof(span));
                assert_int_equal(span.low, key);
                assert_int_equal(span.high, key == 0 ? 999 : key == 1 ? 997 : 998);
        }
        assert_int_equal(seen, 3);
        fst_bytes words[] = {fst_bytes_of("pear"), fst_bytes_of("apple"), fst_bytes_of("fig"), fst_bytes_of("grape")};
        fst_bytes word;
        assert_int_equal(fst_reduce(fst_parallelize_n(*state, words, 4, 3), longest, &word), 0);
        assert_int_equal(word.len, 5);
        assert_memory_equal(word.data, "apple", 5);
}

static void partitions_by_key_and_coalesces(void **state)
{
        int m = 100;
        fst_rdd *pairs = fst_map(fst_range_n(*state, 0, 1000, 5), FST_WITH(modulo, m), FST_PAIR(I64, I64));
        fst_rdd *placed = fst_partition_by(pairs, 8);
        int64_t count;
        assert_ptr_equal(fst_partition_by(placed, 8), placed);
        assert_int_equal(fst_count(placed, &count), 0);
        assert_int_equal(count, 1000);
        fst_rdd *fewer = fst_coalesce(placed, 3);
        assert_int_equal(fst_rdd_partitions(fewer), 3);
        assert_int_equal(fst_rdd_partitions(fst_coalesce(fewer, 30)), 3);
        assert_int_equal(fst_count(fewer, &count), 0);
        assert_int_equal(count, 1000);
}

static void takes_first_rows(void **state)
{
        fst_iter *rows;
        int64_t x, at = 0;
        static const int partitions[] = {1, 2, 100, 1000}, wanted[] = {0, 1, 3, 500, 501, 999, 1000};
        for (size_t i = 0; i < ARRAY_SIZE(partitions) * ARRAY_SIZE(wanted); i++) {
                int want = wanted[i % ARRAY_SIZE(wanted)];
                fst_rdd *from_1 = fst_range_n(*state, 1, 1000, partitions[i / ARRAY_SIZE(wanted)]);
                assert_int_equal(fst_take(from_1, want, &rows), 0);
                for (at = 0; fst_next(rows, &x); at++)
                        assert_int_equal(x, at + 1);
                assert_int_equal(at, MIN(want, 999));
        }
        at = 0;
        fst_rdd *numbers = fst_filter(fst_range_n(*state, 0, 100000, 50), even);
        assert_int_equal(fst_take(numbers, 5000, &rows), 0);
        for (; fst_next(rows, &x); at++)
                assert_int_equal(x, 2 * at);
        assert_int_equal(at, 5000);
        assert_int_equal(fst_take(numbers, 0, &rows), 0);
        assert_false(fst_next(rows, &x));
        assert_int_equal(fst_take(fst_range_n(*state, 0, 3, 5), 10, &rows), 0);
        for (at = 0; fst_next(rows, &x); at++)
                assert_int_equal(x, at);
        assert_int_equal(at, 3);
}

struct seen {
        int64_t partitions, first_stage, last_stage;
};

static int merge_seen(fst_task *task, void *into, const void *from)
{
        struct seen *a = into;
        const struct seen *b = from;
        a->partitions += b->partitions;
        a->first_stage = MIN(a->first_stage, b->first_stage);
        a->last_stage = MAX(a->last_stage, b->last_stage);
        return 0;
}

/* Rows only in the last partition. */
static int only_of_the_last(fst_task *task, int partition, fst_iter *rows, fst_out *out)
{
        struct seen *seen = fst_accumulator_state(task, *(const fst_accumulator *)fst_captured(task));
        *seen = (struct seen){1, fst_task_stage(task), fst_task_stage(task)};
        if (partition == 9)
                fst_emit(out, partition);
        return 0;
}

/* One partition, then four times as many as before, and so on, or by configuration (SPARK-40211). */
static void take_scales_up_by_configuration(void **state)
{
        static const struct {
                const char *first, *factor;
                int jobs;
        } cases[] = {{"1", "4", 3}, {"10", "4", 1}, {"5", "4", 2}, {"1", "100", 2}, {"1", "2", 4}};
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                fst_conf *conf = fst_conf_new();
                fst_conf_set(conf, "spark.master", "local[2]");
                fst_conf_set(conf, "spark.app.name", "test");
                fst_conf_set(conf, "spark.log.level", "OFF");
                fst_conf_set(conf, "spark.rdd.limit.initialNumPartitions", cases[i].first);
                fst_conf_set(conf, "spark.rdd.limit.scaleUpFactor", cases[i].factor);
                fst_context *sc = fst_context_new_conf(conf);
                struct seen none = {.first_stage = INT64_MAX, .last_stage = -1}, seen;
                fst_accumulator all = fst_accumulator_own(sc, "seen", &none, merge_seen);
                fst_rdd *numbers = fst_range_n(sc, 0, 10, 10);
                fst_iter *rows;
                int64_t x = 0;
                assert_int_equal(
                        fst_take(fst_map_partitions_with_index(numbers, FST_WITH(only_of_the_last, all), FST_I64), 1,
                                 &rows),
                        0);
                assert_true(fst_next(rows, &x) && x == 9 && !fst_next(rows, &x));
                assert_int_equal(fst_accumulator_read(sc, all, &seen), 0);
                assert_int_equal(seen.partitions, 10);
                assert_int_equal(seen.last_stage - seen.first_stage + 1, cases[i].jobs);
                assert_int_equal(fst_context_stop(sc), 0);
        }
}

/* --------------------------------------------------------------------------------------------------- failure */

static void retries_failed_task(void **state)
{
        assert_int_equal(fst_foreach(fst_range_n(*state, 0, 100, 10), fail_once), 0);
        assert_true(fst_foreach(fst_range_n(*state, 0, 100, 10), fail_always) < 0);
        assert_int_equal(fst_foreach(fst_range_n(*state, 0, 100, 10), fail_once), 0);
}

static void fails_job_without_retries(void **state)
{
        fst_context *sc = context("local[2]");
        assert_true(fst_foreach(fst_range_n(sc, 0, 100, 10), fail_once) < 0);
        assert_true(fst_context_stop(sc) < 0);
}

static void action_reports_invalid_lineage(void **state)
{
        fst_rdd *numbers = fst_range(*state, 0, 10);
        int64_t count;
        double wrong;
        fst_bytes text;
        fst_iter *rows;
        assert_int_equal(fst_count(fst_map(numbers, longest, FST_BYTES), &count), -EINVAL);
        assert_int_equal(fst_count(fst_reduce_by_key(numbers, fst_fn_sum), &count), -EINVAL);
        assert_int_equal(fst_reduce(numbers, fst_fn_sum, &wrong), -EINVAL);
        assert_int_equal(fst_count(fst_text_file(*state, "/nowhere/at/all"), &count), -ENOENT);
        assert_int_equal(fst_reduce(fst_range_n(*state, 0, 0, 2), fst_fn_sum, &count), -ENODATA);
        assert_true(fst_count(fst_map(numbers, emit_wrong_kind, FST_BYTES), &count) < 0);
        assert_true(fst_count(fst_map(numbers, repeat, FST_I64), &count) < 0);
        assert_int_equal(fst_collect(numbers, &rows), 0);
        assert_false(fst_next(rows, &text));
        assert_int_equal(fst_iter_status(rows), -EINVAL);
}

/* A group without a running job cannot be cancelled. */
static void *cancel_running_group(void *sc)
{
        while (!__atomic_load_n(&waits_for_stop, __ATOMIC_RELAXED))
                usleep(1000);
        fst_cancel_job_group(sc, "slow");
        return NULL;
}

static void cancels_job_group(void **state)
{
        pthread_t thread;
        fst_set_local_property(*state, "spark.jobGroup.id", "slow");
        assert_int_equal(pthread_create(&thread, NULL, cancel_running_group, *state), 0);
        assert_int_equal(fst_foreach(fst_range_n(*state, 0, 4, 4), wait_for_stop), -ECANCELED);
        pthread_join(thread, NULL);
        fst_set_local_property(*state, "spark.jobGroup.id", NULL);
        assert_int_equal(fst_foreach(fst_range_n(*state, 0, 100, 10), fail_once), 0);
}

static void reports_invalid_configuration(void **state)
{
        fst_context *sc = context("local[0]");
        int64_t count;
        assert_true(fst_count(fst_range_n(sc, 0, 10, 2), &count) < 0);
        assert_true(fst_context_stop(sc) < 0);
}

/* ------------------------------------------------------------------------------------------------------ files */

static void round_trips_text_files(void **state)
{
        char dir[TEMP_DIR_SIZE];
        temp_dir_new(dir);
        _cleanup_free_ char *out = mem_printf("%s/out", dir);
        _cleanup_free_ char *clean = mem_printf("rm -rf %s", dir);
        int64_t count;
        struct stat st;
        assert_int_equal(
                fst_save_as_text_file(fst_flat_map(fst_range_n(*state, 0, 5000, 3), spell, FST_PAIR(BYTES, I64)), out),
                0);
        _cleanup_free_ char *success = mem_printf("%s/_SUCCESS", out);
        assert_int_equal(stat(success, &st), 0);
        assert_int_equal(fst_count(fst_text_file(*state, out), &count), 0);
        assert_int_equal(count, 5000);
        assert_int_equal(fst_save_as_text_file(fst_range_n(*state, 0, 10, 1), out), -EEXIST);
        assert_int_equal(system(clean), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(maps_and_reduces),
                cmocka_unit_test(flat_map_emits_many_rows),
                cmocka_unit_test(emitted_text_is_copied),
                cmocka_unit_test(reads_partitions_by_iterator_and_batch),
                cmocka_unit_test(reduces_by_key),
                cmocka_unit_test(reduces_structs_and_bytes),
                cmocka_unit_test(partitions_by_key_and_coalesces),
                cmocka_unit_test(takes_first_rows),
                cmocka_unit_test(retries_failed_task),
                cmocka_unit_test(action_reports_invalid_lineage),
                cmocka_unit_test(cancels_job_group),
                cmocka_unit_test(round_trips_text_files),
        };
        const struct CMUnitTest own_context[] = {
                cmocka_unit_test(take_scales_up_by_configuration),
                cmocka_unit_test_setup_teardown(union_of_sorted_rdds_concatenates, setup, teardown),
                cmocka_unit_test(drops_rows_after_early_end),
                cmocka_unit_test(fails_job_without_retries),
                cmocka_unit_test(reports_invalid_configuration),
        };
        int failed = cmocka_run_group_tests(tests, setup, teardown);
        return failed + cmocka_run_group_tests(own_context, NULL, NULL);
}
