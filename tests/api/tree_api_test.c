/* Tests tree_reduce and tree_aggregate: where the zero value counts (compared with genuine Spark), the order, and the
 * stages of the tree. */
#include "base/mem.h"
#include "api/api_fixture.h"
#include "driver/events/app_status.h"
#include "driver/context.h"

static int64_t add(fst_task *task, int64_t a, int64_t b)
{
        return a + b;
}

static int append_number(fst_task *task, fst_bytes so_far, int64_t x, fst_out *out)
{
        char text[4096];
        int n = snprintf(text, sizeof(text), "%.*s%lld,", (int)so_far.len, so_far.data, (long long)x);
        fst_bytes all = {text, (size_t)n};
        fst_emit(out, all);
        return 0;
}

static int append(fst_task *task, fst_bytes a, fst_bytes b, fst_out *out)
{
        char text[4096];
        memcpy(text, a.data, a.len);
        memcpy(text + a.len, b.data, b.len);
        fst_bytes both = {text, a.len + b.len};
        fst_emit(out, both);
        return 0;
}

struct tally {
        int64_t rows;
        double sum;
};

static int take_row(fst_task *task, void *so_far, int64_t x)
{
        struct tally *t = so_far;
        t->rows++;
        t->sum += (double)x;
        return 0;
}

static int join_tallies(fst_task *task, void *so_far, const void *other)
{
        struct tally *a = so_far;
        const struct tally *b = other;
        a->rows += b->rows;
        a->sum += b->sum;
        return 0;
}

static bool is_seven(fst_task *task, int64_t x)
{
        return x == 7;
}

static double to_f64(fst_task *task, int64_t x)
{
        return (double)x;
}

/* ---------------------------------------------------------------------------------------------------------- tests */

/* sc.parallelize(1 to 100, partitions).treeAggregate(1000)(_ + _, _ + _, depth) */
static void applies_zero_like_spark(void **state)
{
        static const struct {
                int partitions, depth, want;
        } cases[] = {
                {1, 1, 8050},   {1, 4, 8050},   {2, 2, 10050},   {3, 3, 12050},    {4, 2, 14050},    {8, 1, 22050},
                {8, 2, 24050},  {8, 3, 26050},  {9, 2, 27050},   {9, 4, 28050},    {16, 2, 42050},   {16, 3, 43050},
                {16, 4, 50050}, {25, 3, 66050}, {50, 4, 127050}, {100, 2, 216050}, {100, 4, 237050},
        };
        int64_t zero = 1000, sum;
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                fst_rdd *rdd = fst_range_n(*state, 1, 101, cases[i].partitions);
                assert_int_equal(fst_tree_aggregate(rdd, &zero, add, fst_fn_sum, cases[i].depth, &sum), 0);
                if (sum != cases[i].want)
                        fail_msg("%d partitions, depth %d: %lld, not %d", cases[i].partitions, cases[i].depth,
                                 (long long)sum, cases[i].want);
        }
}

static void keeps_order(void **state)
{
        char want[1000] = "";
        fst_bytes nothing = fst_bytes_of(""), text;
        for (int i = 0; i < 100; i++)
                snprintf(want + strlen(want), sizeof(want) - strlen(want), "%d,", i);
        for (int partitions = 1; partitions <= 33; partitions += 4)
                for (int depth = 1; depth <= 4; depth++) {
                        fst_rdd *rdd = fst_range_n(*state, 0, 100, partitions);
                        assert_int_equal(fst_tree_aggregate(rdd, &nothing, append_number, append, depth, &text), 0);
                        assert_string_equal(text.data, want);
                }
}

static void aggregates_every_type_in_a_tree(void **state)
{
        struct tally none = {0}, all;
        fst_rdd *rdd = fst_range_n(*state, 0, 1000, 20);
        int64_t most;
        double sum;
        assert_int_equal(fst_tree_aggregate(rdd, &none, take_row, join_tallies, 2, &all), 0);
        assert_true(all.rows == 1000 && all.sum == 499500);
        assert_int_equal(fst_tree_reduce(rdd, fst_fn_max, 3, &most), 0);
        assert_int_equal(most, 999);
        assert_int_equal(fst_tree_reduce(fst_map(rdd, to_f64, FST_F64), fst_fn_sum, 2, &sum), 0);
        assert_true(sum == 499500);
}

static void returns_zero_without_rows_in_a_tree(void **state)
{
        int64_t zero = 1, x = -1;
        fst_rdd *empty = fst_range_n(*state, 3, 3, 10);
        assert_refused(fst_tree_reduce(empty, add, 2, &x), -ENODATA, "empty collection");
        assert_int_equal(fst_tree_reduce(fst_filter(fst_range_n(*state, 0, 100, 20), is_seven), add, 2, &x), 0);
        assert_int_equal(x, 7);
        assert_refused(fst_tree_reduce(empty, add, 0, &x), -EINVAL,
                       "Depth must be greater than or equal to 1 but got 0.");
        assert_refused(fst_tree_aggregate(empty, &zero, add, add, -3, &x), -EINVAL, "but got -3.");
        assert_refused(fst_tree_aggregate(empty, &zero, add, append, 2, &x), -EINVAL, "append does not take");
}

/* Three stages for 27 partitions and depth 3: 27 → 9 → 3. */
static void builds_one_stage_for_each_level(void **state)
{
        fst_context *sc = api_context("local[2]", NULL);
        int64_t sum;
        assert_int_equal(fst_tree_reduce(fst_range_n(sc, 0, 1000, 27), add, 3, &sum), 0);
        assert_int_equal(sum, 499500);
        struct job_status job;
        while (!app_status_job(sc->app_status, 0, &job) || job.state == JOB_RUNNING)
                usleep(1000);
        assert_int_equal(job.completed_stages, 3);
        assert_int_equal(job.completed_tasks, 27 + 9 + 3);
        assert_int_equal(fst_context_stop(sc), 0);
}

int main(void)
{
        const struct CMUnitTest in_processes[] = {
                cmocka_unit_test(aggregates_every_type_in_a_tree),
                cmocka_unit_test(keeps_order),
        };
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(applies_zero_like_spark),
                cmocka_unit_test(keeps_order),
                cmocka_unit_test(aggregates_every_type_in_a_tree),
                cmocka_unit_test(returns_zero_without_rows_in_a_tree),
        };
        const struct CMUnitTest own_context[] = {cmocka_unit_test(builds_one_stage_for_each_level)};
        /*
         * Task processes must be started before the first thread.
         *
         */
        int failed = cmocka_run_group_tests(in_processes, api_setup_workers, api_teardown);
        failed += cmocka_run_group_tests(tests, api_setup_loud, api_teardown);
        return failed + cmocka_run_group_tests(own_context, NULL, NULL);
}
