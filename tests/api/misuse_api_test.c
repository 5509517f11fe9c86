/* Tests invalid handles: of a stopped context, a released RDD, a second context, or never set. Each call reports the
 * mistake, the running context returns -EINVAL when it stops, and nothing crashes. */
#include "base/mem.h"
#include "api/api_fixture.h"

static fst_context *loud(void)
{
        return api_context("local[2]", "spark.log.level", "ERROR", NULL);
}

static int64_t add_to(fst_task *task, int64_t x)
{
        fst_accumulate(task, *(const fst_accumulator *)fst_captured(task), x);
        return x;
}

static int64_t size_of(fst_task *task, int64_t x)
{
        return (int64_t)fst_broadcast_value(task, *(const fst_broadcast *)fst_captured(task)).len;
}

static void refuses_second_context(void **state)
{
        fst_context *first = loud(), *second;
        int64_t n = 7;
        int was = api_listen();
        second = loud();
        _cleanup_free_ char *heard = api_heard(was);
        assert_non_null(strstr(heard, "SPARK-2243"));
        assert_non_null(strstr(heard, "created at: context_new_conf at api_fixture.h:"));
        assert_int_equal(fst_count(fst_range(second, 0, 10), &n), -EALREADY);
        assert_int_equal(n, 7);
        assert_int_equal(fst_broadcast_bytes(second, "B", 1).id, 0);
        assert_int_equal(fst_accumulator_i64(second, "b").id, 0);
        assert_int_equal(fst_context_stop(second), -EALREADY);
        assert_int_equal(fst_count(fst_range(first, 0, 10), &n), 0);
        assert_int_equal(n, 10);
        assert_int_equal(fst_context_stop(first), 0);
}

static void gives_place_to_next_context(void **state)
{
        for (int i = 0; i < 3; i++) {
                fst_context *sc = api_context(i == 1 ? "nonsense" : "local[2]", NULL);
                assert_int_equal(fst_context_stop(sc) == 0, i != 1);
        }
}

/* What was read of the configuration before the error is freed, which only LeakSanitizer shows. */
static void refuses_task_resources_without_executor_resources(void **state)
{
        int was = api_listen();
        fst_context *sc = api_context("local-cluster[1,1,512]", "spark.log.level", "ERROR",
                                      "spark.task.resource.gpu.amount", "1", NULL);
        _cleanup_free_ char *heard = api_heard(was);
        assert_non_null(strstr(heard, "No executor resource configs"));
        assert_int_equal(fst_context_stop(sc), -EINVAL);
}

static void refuses_handles_of_stopped_context(void **state)
{
        fst_context *sc = loud();
        fst_broadcast old = fst_broadcast_bytes(sc, "AAAA", 4), fresh;
        fst_accumulator counter = fst_accumulator_i64(sc, "old"), other;
        int64_t n;
        assert_int_equal(fst_context_stop(sc), 0);
        sc = loud();
        fresh = fst_broadcast_bytes(sc, "BBBB", 4);
        other = fst_accumulator_i64(sc, "new");
        fst_rdd *rows = fst_range(sc, 0, 10);
        assert_int_not_equal(old.id, fresh.id);
        assert_refused(fst_count(fst_map(rows, FST_WITH(size_of, old), FST_I64), &n) < 0, true, "was destroyed, or never");
        assert_refused(fst_count(fst_map(rows, FST_WITH(add_to, counter), FST_I64), &n) < 0, true,
                       "which this application does not have");
        assert_refused(fst_accumulator_sum_i64(sc, counter), 0, "this context has no accumulator of integers");
        assert_refused(fst_broadcast_value(sc, old).data != NULL, false, "broadcast variable");
        assert_int_equal(fst_count(fst_map(rows, FST_WITH(add_to, other), FST_I64), NULL), 0);
        assert_int_equal(fst_accumulator_sum_i64(sc, other), 45);
        assert_true(fst_context_stop(sc) < 0);
}

static void names_stopped_context(void **state)
{
        fst_context *sc = loud();
        fst_rdd *rows = fst_range(sc, 0, 10);
        fst_iter *iter;
        fst_map *map;
        fst_future *future = fst_count_async(rows);
        int64_t n = 7;
        assert_int_equal(fst_collect(rows, &iter), 0);
        assert_true(fst_next(iter, &n));
        assert_int_equal(fst_count_by_value(rows, &map), 0);
        fst_iter *entries = fst_map_rows(map);
        assert_int_equal(fst_context_stop(sc), 0);
        n = 7;
        assert_refused(fst_context_stop(sc), -EINVAL, "Cannot call methods on a stopped SparkContext: context_stop");
        assert_refused(fst_count(rows, &n), -EINVAL, "was given an RDD that does not exist");
        assert_refused(fst_count(fst_range(sc, 0, 10), &n), -EINVAL, "SparkContext: range at misuse_api_test.c:");
        assert_refused(fst_future_wait(future), -EINVAL, "future_wait was given a future that does not exist");
        assert_refused(fst_map_count(map), -EINVAL, "map_count was given a map that does not exist");
        assert_refused(fst_next(iter, &n), false, "rows of a context that fst_context_stop has ended");
        assert_int_equal(fst_iter_status(iter), -EINVAL);
        assert_refused(fst_next(entries, &n, &n), false, "rows of a context that fst_context_stop has ended");
        assert_int_equal(n, 7);
}

static void names_released_rdd(void **state)
{
        fst_context *sc = loud();
        fst_rdd *kept = fst_range(sc, 0, 10), *gone = fst_range(sc, 0, 20);
        int64_t n = 7;
        fst_release(gone);
        assert_int_equal(fst_count(kept, &n), 0);
        assert_refused(fst_count(gone, &n), -EINVAL, "was given an RDD that does not exist: its context was stopped, it "
                                                     "was released");
        assert_int_equal(fst_context_stop(sc), -EINVAL);
}

static void refuses_configuration_of_another_context(void **state)
{
        fst_conf *conf = fst_conf_new();
        fst_conf_set(conf, "spark.master", "local[2]");
        fst_conf_set(conf, "spark.app.name", "test");
        fst_conf_set(conf, "spark.log.level", "ERROR");
        fst_conf_set(conf, "spark.default.parallelism", "7");
        fst_conf_set(conf, "spark.default.parallelism", NULL);
        fst_context *sc = fst_context_new_conf(conf);
        assert_int_equal(fst_context_default_parallelism(sc), 2);
        assert_refused(fst_context_stop(fst_context_new_conf(conf)), -EINVAL, "the configuration does not exist");
        assert_refused((fst_conf_free(conf), 0), 0, "belongs to a context");
        assert_int_equal(fst_context_stop(sc), 0);
        assert_refused((fst_conf_set(conf, "a", "b"), 0), 0, "conf_set was given a configuration that does not exist");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(refuses_second_context),
                cmocka_unit_test(gives_place_to_next_context),
                cmocka_unit_test(refuses_task_resources_without_executor_resources),
                cmocka_unit_test(refuses_handles_of_stopped_context),
                cmocka_unit_test(names_stopped_context),
                cmocka_unit_test(names_released_rdd),
                cmocka_unit_test(refuses_configuration_of_another_context),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
