/* Tests local properties and listeners of tasks: cases of TaskContextSuite, also in task processes. */
#include "base/mem.h"
#include "api/api_fixture.h"

/* Listeners write into accumulators, to which only successful tasks add, or into these variables. */
static int completed, failed, last_number; /* atomic; for contexts in which this process is the only executor */
static char order[64], told[256];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void forget(void)
{
        completed = failed = 0;
        order[0] = told[0] = 0;
}

static int note(fst_task *task, void *data)
{
        pthread_mutex_lock(&lock);
        completed++;
        strncat(order, data, sizeof(order) - strlen(order) - 1);
        pthread_mutex_unlock(&lock);
        return 0;
}

static int note_failure(fst_task *task, void *data, const char *message)
{
        pthread_mutex_lock(&lock);
        failed++;
        strncat(order, data, sizeof(order) - strlen(order) - 1);
        snprintf(told, sizeof(told), "%s", message);
        pthread_mutex_unlock(&lock);
        return 0;
}

static int fail_to_listen(fst_task *task, void *data)
{
        note(task, data);
        return fst_fail(task, "a listener has had enough");
}

static int add_more(fst_task *task, void *data)
{
        note(task, data);
        fst_task_on_completion(task, note, "+");
        return 0;
}

static int listen(fst_task *task, int64_t x)
{
        if (x == 0) {
                fst_task_on_completion(task, note, "1");
                fst_task_on_failure(task, note_failure, "a");
                fst_task_on_completion(task, note, "2");
                fst_task_on_failure(task, note_failure, "b");
        }
        return 0;
}

static int listen_and_fail(fst_task *task, int64_t x)
{
        listen(task, x);
        return x == 3 ? fst_fail(task, "three is too much") : 0;
}

static int listen_badly(fst_task *task, int64_t x)
{
        if (x > 0)
                return 0;
        fst_task_on_completion(task, note, "1");
        if (fst_task_attempt(task) == 0)
                fst_task_on_completion(task, fail_to_listen, "2");
        fst_task_on_completion(task, note, "3");
        return 0;
}

static int listen_more(fst_task *task, int64_t x)
{
        if (x == 0) {
                fst_task_on_completion(task, note, "1");
                fst_task_on_completion(task, add_more, "2");
        }
        return 0;
}

static int started;

static int listen_and_wait(fst_task *task, int64_t x)
{
        fst_task_on_completion(task, note, "1");
        __atomic_store_n(&started, 1, __ATOMIC_RELAXED);
        while (!fst_task_interrupted(task))
                usleep(500);
        return 0;
}

static void calls_listeners_in_reverse_order(void **state)
{
        forget();
        assert_int_equal(fst_foreach(fst_range_n(*state, 0, 10, 1), listen), 0);
        assert_string_equal(order, "21");
        assert_int_equal(failed, 0);
}

static void calls_failure_listeners_first(void **state)
{
        forget();
        assert_refused(fst_foreach(fst_range_n(*state, 0, 10, 1), listen_and_fail), -EIO, "three is too much");
        assert_string_equal(order, "ba21ba21ba21ba21"); /* four attempts */
        assert_non_null(strstr(told, "three is too much"));
}

static void failing_listener_fails_the_task(void **state)
{
        forget();
        assert_int_equal(fst_foreach(fst_range_n(*state, 0, 10, 1), listen_badly), 0);
        assert_string_equal(order, "32131"); /* all are called; the second attempt succeeds */
        assert_int_equal(failed, 0);
}

/* Its result must not count. */
static int listen_badly_pairs(fst_task *task, int64_t x, fst_out *out)
{
        if (x == 0 && fst_task_attempt(task) == 0)
                fst_task_on_completion(task, fail_to_listen, "");
        fst_emit(out, x % 3, (int64_t)1);
        return 0;
}

static void drops_results_after_failing_listener(void **state)
{
        fst_iter *rows;
        int64_t key, n, sum = 0;
        fst_rdd *pairs = fst_map(fst_range_n(*state, 0, 3000, 2), listen_badly_pairs, FST_PAIR(I64, I64));
        assert_int_equal(fst_collect(pairs, &rows), 0);
        while (fst_next(rows, &key, &n))
                sum += n;
        assert_int_equal(sum, 3000);
        assert_int_equal(fst_collect(fst_reduce_by_key(pairs, fst_fn_sum), &rows), 0);
        for (sum = 0; fst_next(rows, &key, &n);)
                sum += n;
        assert_int_equal(sum, 3000);
}

static void calls_listeners_added_by_listeners(void **state)
{
        forget();
        assert_int_equal(fst_foreach(fst_range_n(*state, 0, 10, 1), listen_more), 0);
        assert_string_equal(order, "2+1");
}

static void *cancel(void *sc)
{
        while (!__atomic_load_n(&started, __ATOMIC_RELAXED))
                usleep(500);
        fst_cancel_all_jobs(sc);
        return NULL;
}

static void calls_listeners_of_cancelled_task(void **state)
{
        pthread_t thread;
        forget();
        fst_context *sc = api_context("local[2]", "spark.log.level", "OFF", NULL);
        assert_int_equal(pthread_create(&thread, NULL, cancel, sc), 0);
        assert_int_equal(fst_foreach(fst_range_n(sc, 0, 1, 1), listen_and_wait), -ECANCELED);
        pthread_join(thread, NULL);
        fst_context_stop(sc); /* this ends the task at the latest */
        assert_string_equal(order, "1");
}

/* ------------------------------------------------------------------------------------------------- local properties */

static int64_t number_of(fst_task *task, int64_t x)
{
        const char *number = fst_task_local_property(task, "my.number");
        return fst_task_local_property(task, "not.there") ? -1 : number ? atoi(number) : 0;
}

static int64_t number_at(fst_rdd *rdd)
{
        int64_t sum = -2;
        assert_int_equal(fst_sum(rdd, &sum), 0);
        return sum;
}

static void *other_thread(void *arg)
{
        fst_context *sc = arg;
        fst_set_local_property(sc, "my.number", "100");
        last_number = (int)number_at(fst_map(fst_range_n(sc, 0, 4, 2), number_of, FST_I64));
        return NULL;
}

static int pair_number(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x % 2, number_of(task, x));
        return 0;
}

static int64_t value_of(fst_task *task, int64_t key, int64_t value)
{
        return value;
}

static void tasks_see_local_properties_of_their_job(void **state)
{
        fst_context *sc = *state;
        pthread_t thread;
        fst_rdd *numbers = fst_map(fst_range_n(sc, 0, 4, 2), number_of, FST_I64);
        assert_int_equal(number_at(numbers), 0);
        fst_set_local_property(sc, "my.number", "7");
        assert_int_equal(number_at(numbers), 28);
        assert_int_equal(pthread_create(&thread, NULL, other_thread, sc), 0);
        pthread_join(thread, NULL);
        assert_int_equal(last_number, 400);
        assert_int_equal(number_at(numbers), 28);
        /* also in the map stage */
        assert_int_equal(
                number_at(fst_map(
                        fst_reduce_by_key(fst_map(fst_range_n(sc, 0, 6, 3), pair_number, FST_PAIR(I64, I64)), fst_fn_sum),
                        value_of, FST_I64)),
                42);
        fst_set_local_property(sc, "my.number", NULL);
        assert_int_equal(number_at(numbers), 0);
}

static int count_ending(fst_task *task, void *data)
{
        fst_accumulate(task, *(const fst_accumulator *)data, 1);
        free(data);
        return 0;
}

static int listen_in_process(fst_task *task, fst_iter *rows)
{
        fst_accumulator *ended = malloc(sizeof(*ended));
        *ended = *(const fst_accumulator *)fst_captured(task);
        fst_task_on_completion(task, count_ending, ended);
        return 0;
}

static void calls_listeners_in_every_task_environment(void **state)
{
        fst_accumulator ended = fst_accumulator_i64(*state, "ended");
        assert_int_equal(fst_foreach_partition(fst_range_n(*state, 0, 10, 5), FST_WITH(listen_in_process, ended)), 0);
        assert_int_equal(fst_accumulator_sum_i64(*state, ended), 5);
}

int main(void)
{
        const struct CMUnitTest in_processes[] = {
                cmocka_unit_test(tasks_see_local_properties_of_their_job),
                cmocka_unit_test(calls_listeners_in_every_task_environment),
                cmocka_unit_test(drops_results_after_failing_listener),
        };
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(calls_listeners_in_reverse_order),
                cmocka_unit_test(calls_failure_listeners_first),
                cmocka_unit_test(failing_listener_fails_the_task),
                cmocka_unit_test(drops_results_after_failing_listener),
                cmocka_unit_test(calls_listeners_added_by_listeners),
                cmocka_unit_test(tasks_see_local_properties_of_their_job),
                cmocka_unit_test(calls_listeners_in_every_task_environment),
        };
        const struct CMUnitTest own_context[] = {cmocka_unit_test(calls_listeners_of_cancelled_task)};
        /* Task processes must be started before the first thread. */
        int failures = cmocka_run_group_tests(in_processes, api_setup_workers, api_teardown);
        failures += cmocka_run_group_tests(tests, api_setup_loud, api_teardown);
        return failures + cmocka_run_group_tests(own_context, NULL, NULL);
}
