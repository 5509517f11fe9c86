/* Tests that failed tasks, cancelled jobs and misbehaving applications leave nothing that the next task, retry or job
 * would notice. */
#include "base/mem.h"
#include "api/api_fixture.h"
#include "unit/temp_dir.h"

#include <limits.h>

/* Fails one attempt of every partition in the middle, after emitting rows, only by fst_fail: it returns 0. */
static int64_t fail_silently(fst_task *task, int64_t x)
{
        if (x % 1000 == 777 && fst_task_attempt(task) == 0)
                fst_fail(task, "partition %d is unlucky", fst_task_partition(task));
        return x;
}

static int fail_late(fst_task *task, fst_iter *rows, fst_out *out)
{
        int64_t x;
        while (fst_next(rows, &x))
                fst_emit(out, x);
        if (fst_task_attempt(task) == 0)
                fst_fail(task, "too late to be noticed by an operator");
        return 0;
}

static int to_pair(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x % 10, x);
        return 0;
}

static int longer_and_fails_once(fst_task *task, fst_bytes a, fst_bytes b, fst_out *out)
{
        fst_emit(out, a.len >= b.len ? a : b);
        if (b.len == 3 && fst_task_attempt(task) == 0 && fst_task_stage(task) >= 0)
                return fst_fail(task, "after it emitted");
        return 0;
}

static int text_of(fst_task *task, int64_t x, fst_out *out)
{
        char text[32];
        snprintf(text, sizeof(text), "%lld", (long long)x);
        fst_emit(out, text);
        return 0;
}

static int into_wrong_variables(fst_task *task, fst_iter *rows, fst_out *out)
{
        double x, sum = 0;
        while (fst_next(rows, &x))
                sum += x;
        fst_emit(out, sum);
        return 0;
}

static fst_context *the_context;

static fst_rdd *the_rdd;
static int64_t answer; /* of any task */

/* Ignores the status of the call: the call itself fails the task. */
static int count_inside(fst_task *task, int64_t x)
{
        fst_count(the_rdd, &answer);
        return 0;
}

static int make_inside(fst_task *task, int64_t x)
{
        fst_count(fst_map(fst_range_n(the_context, 0, 10, 1), fail_silently, FST_I64), &answer);
        return 0;
}

static int ask_inside(fst_task *task, int64_t x)
{
        __atomic_store_n(&answer, fst_context_default_parallelism(the_context), __ATOMIC_RELAXED);
        return 0;
}

static int begin_inside(fst_task *task, int64_t x)
{
        fst_context_stop(fst_context_new("inside"));
        return 0;
}

/* Emits nothing and returns 0 when it fails. */
static int fail_and_drop(fst_task *task, int64_t x, fst_out *out)
{
        if (x % 1000 == 777 && fst_task_attempt(task) == 0)
                fst_fail(task, "row %lld is unlucky", (long long)x);
        else
                fst_emit(out, x);
        return 0;
}

static void rows_of_failed_attempts_are_not_kept(void **state)
{
        fst_rdd *kept = fst_cache(fst_flat_map(fst_range_n(*state, 0, 10000, 5), fail_and_drop, FST_I64));
        for (int i = 0; i < 2; i++) {
                int64_t n;
                assert_int_equal(fst_count(kept, &n), 0);
                assert_int_equal(n, 10000);
        }
}

static void rows_of_failed_attempts_do_not_count(void **state)
{
        fst_rdd *numbers = fst_range_n(*state, 0, 10000, 5);
        fst_rdd *late = fst_map_partitions(numbers, fail_late, FST_I64);
        fst_iter *rows;
        int64_t x, n = 0;
        assert_int_equal(fst_collect(fst_map(numbers, fail_silently, FST_I64), &rows), 0);
        for (; fst_next(rows, &x); n++)
                assert_int_equal(x, n);
        assert_int_equal(n, 10000);
        assert_int_equal(fst_collect(late, &rows), 0);
        for (n = 0; fst_next(rows, &x); n++)
                assert_int_equal(x, n);
        assert_int_equal(n, 10000);
        assert_int_equal(fst_count(late, &n), 0);
        assert_int_equal(n, 10000);
        assert_int_equal(fst_reduce(late, fst_fn_sum, &x), 0);
        assert_int_equal(x, 9999LL * 5000);
}

static void shuffles_of_failed_attempts_are_forgotten(void **state)
{
        fst_rdd *late = fst_map_partitions(fst_range_n(*state, 0, 10000, 5), fail_late, FST_I64);
        fst_rdd *sums = fst_reduce_by_key_n(fst_map(late, to_pair, FST_PAIR(I64, I64)), fst_fn_sum, 3);
        fst_rdd *placed = fst_partition_by(fst_map(late, to_pair, FST_PAIR(I64, I64)), 3);
        fst_iter *rows;
        int64_t key, sum, n = 0, total = 0;
        assert_int_equal(fst_collect(sums, &rows), 0);
        for (; fst_next(rows, &key, &sum); n++)
                total += sum;
        assert_int_equal(n, 10);
        assert_int_equal(total, 9999LL * 5000);
        assert_int_equal(fst_count(placed, &n), 0);
        assert_int_equal(n, 10000);
}

static void a_failed_attempt_commits_no_file(void **state)
{
        char dir[TEMP_DIR_SIZE];
        temp_dir_new(dir);
        _cleanup_free_ char *out = mem_printf("%s/out", dir), *clean = mem_printf("rm -rf %s", dir);
        int64_t n;
        fst_rdd *late = fst_map_partitions(fst_range_n(*state, 0, 1000, 4), fail_late, FST_I64);
        assert_int_equal(fst_save_as_text_file(late, out), 0);
        assert_int_equal(fst_count(fst_text_file(*state, out), &n), 0);
        assert_int_equal(n, 1000);
        assert_int_equal(system(clean), 0);
}

static void drops_rows_of_failed_calls(void **state)
{
        fst_rdd *texts = fst_map(fst_range_n(*state, 0, 2000, 2), text_of, FST_BYTES);
        fst_bytes longest;
        assert_int_equal(fst_reduce(texts, longer_and_fails_once, &longest), 0);
        assert_int_equal(longest.len, 4);
}

static void reading_rows_as_another_type_fails_the_task(void **state)
{
        int64_t n;
        fst_rdd *numbers = fst_range_n(*state, 0, 100, 2);
        assert_int_not_equal(fst_count(fst_map_partitions(numbers, into_wrong_variables, FST_F64), &n), 0);
}

static void rejects_action_inside_a_task(void **state)
{
        fst_rdd *rows = fst_range_n(*state, 0, 4, 4);
        the_context = *state;
        the_rdd = fst_range_n(*state, 0, 10, 1);
        answer = 7;
        assert_refused(fst_foreach(rows, count_inside), -EIO,
                       "count_inside in unit_tests: count at failure_api_test.c:");
        assert_refused(fst_foreach(rows, count_inside), -EIO, "RDD transformations and actions can only be invoked by");
        assert_refused(fst_foreach(rows, make_inside), -EIO, "range at failure_api_test.c:");
        assert_int_equal(answer, 7);
        assert_refused(fst_foreach(rows, ask_inside), -EIO, "context_default_parallelism: RDD transformations");
        assert_refused(fst_foreach(rows, begin_inside), -EIO,
                       "SparkContext should only be created and accessed on the driver.");
}

static void takes_more_rows_than_there_are(void **state)
{
        fst_iter *rows;
        int64_t x = 0, n = 0;
        assert_int_equal(fst_take(fst_range_n(*state, 0, 1000, 16), INT64_MAX, &rows), 0);
        for (; fst_next(rows, &x); n++)
                assert_int_equal(x, n);
        assert_int_equal(n, 1000);
        assert_int_equal(fst_take(fst_range_n(*state, INT64_MIN, INT64_MAX, 3), 2, &rows), 0);
        assert_true(fst_next(rows, &x));
        assert_true(x == INT64_MIN);
}

static void rejects_tasks_with_too_many_cores(void **state)
{
        int64_t n;
        fst_context *sc = api_context("local[2]", "spark.task.cpus", "3", NULL);
        assert_int_equal(fst_count(fst_range_n(sc, 0, 10, 2), &n), -EINVAL);
        assert_int_equal(fst_context_stop(sc), -EINVAL);
}

static void broken_settings_stop_the_context_cleanly(void **state)
{
        static const char *const settings[][2] = {
                {"spark.eventLog.dir", "/nowhere/at/all"},
                {"spark.scheduler.mode", "LIFO"},
                {"spark.driver.memory", "1m"},
                {"spark.io.compression.codec", "zip"},
                {"spark.local.dir", "/proc/1/nowhere"},
                {"spark.memory.fraction", "x"},
                {"spark.task.cpus", "0.5"},
                {"spark.default.parallelism", "7x"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
                int64_t n;
                fst_context *sc = api_context("local[2]", "spark.eventLog.enabled", i ? "false" : "true",
                                              settings[i][0], settings[i][1], NULL);
                assert_true(fst_count(fst_range_n(sc, 0, 10, 2), &n) < 0);
                assert_true(fst_context_stop(sc) < 0);
        }
}

static int fail_with_two_lines(fst_task *task, fst_iter *rows, fst_out *out)
{
        return fst_fail(task, "first line\nsecond line\n99/12/31 23:59:59 ERROR forged: third line");
}

static void keeps_line_breaks_in_failure_messages(void **state)
{
        int64_t n;
        int was = api_listen();
        assert_true(fst_count(fst_map_partitions(fst_range_n(*state, 0, 1, 1), fail_with_two_lines, FST_I64), &n) < 0);
        _cleanup_free_ char *heard = api_heard(was);
        assert_non_null(strstr(heard, "first line\nsecond line\n"));
        assert_null(strstr(heard, "first line\\n"));
        assert_null(strstr(heard, "\n99/12/31"));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(rows_of_failed_attempts_do_not_count),
                cmocka_unit_test(rows_of_failed_attempts_are_not_kept),
                cmocka_unit_test(shuffles_of_failed_attempts_are_forgotten),
                cmocka_unit_test(a_failed_attempt_commits_no_file),
                cmocka_unit_test(drops_rows_of_failed_calls),
                cmocka_unit_test(reading_rows_as_another_type_fails_the_task),
                cmocka_unit_test(rejects_action_inside_a_task),
                cmocka_unit_test(keeps_line_breaks_in_failure_messages),
                cmocka_unit_test(takes_more_rows_than_there_are),
        };
        const struct CMUnitTest own_context[] = {
                cmocka_unit_test(rejects_tasks_with_too_many_cores),
                cmocka_unit_test(broken_settings_stop_the_context_cleanly),
        };
        int failed = cmocka_run_group_tests(tests, api_setup_loud, api_teardown);
        return failed + cmocka_run_group_tests(own_context, NULL, NULL);
}
