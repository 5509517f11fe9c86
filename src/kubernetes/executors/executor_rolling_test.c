/* Spark's ExecutorRollPluginSuite. */
#include "kubernetes/executors/executor_rolling.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define EXECUTOR(id_, add, failed, total, duration, gc)                                                                \
        {                                                                                                              \
                .id = (id_), .add_time = INT64_C(1639300000000) + (add), .failed_tasks = (failed),                     \
                .total_tasks = (total), .total_duration = (duration), .total_gc_time = (gc),                           \
                .total_shuffle_write = 10, .disk_used = 10                                                             \
        }

#define LAST_POLICY ROLL_OUTLIER_NO_FALLBACK

enum { N = 10 };

static const struct roll_summary suite[N + 1] = {
        EXECUTOR(-1, 0, 1, 1, 100, 1),    /* the driver */
        EXECUTOR(1, 1000, 0, 1, 100, 20), /* smallest id */
        EXECUTOR(2, 0, 0, 1, 100, 20),    /* added first */
        EXECUTOR(3, 2000, 0, 1, 100, 40), /* most garbage collection */
        EXECUTOR(4, 3000, 0, 4, 400, 20), /* longest in all */
        EXECUTOR(5, 3000, 5, 1, 100, 20), /* most failures */
        EXECUTOR(6, 3000, 0, 2, 300, 20), /* longest on average */
        {.id = 7, .add_time = INT64_C(1639300001000)},
        EXECUTOR(8, 1000, 4, 2, 280, 30),
        EXECUTOR(10, 1000, 4, 2, 280, 30),
};

static void chooses_none_without_eligible_executor(void **state)
{
        for (enum roll_policy p = 0; p <= LAST_POLICY; p++) {
                assert_int_equal(roll_choose(NULL, 0, p, 0), -1);
                assert_int_equal(roll_choose(suite, 1, p, 0), -1); /* the driver */
                assert_int_equal(roll_choose(suite, N, p, 1000), -1);
        }
}

static void single_executor_is_chosen_except_by_outlier_policy(void **state)
{
        for (enum roll_policy p = 0; p < ROLL_OUTLIER_NO_FALLBACK; p++)
                assert_int_equal(roll_choose(suite + 1, 1, p, 0), 1);
        assert_int_equal(roll_choose(suite + 1, 1, ROLL_OUTLIER_NO_FALLBACK, 0), -1);
}

static void each_policy_chooses_its_executor(void **state)
{
        assert_int_equal(roll_choose(suite, N, ROLL_ID, 0), 1);
        assert_int_equal(roll_choose(suite + 2, N - 2, ROLL_ID, 0), 2);
        assert_int_equal(roll_choose(suite, N, ROLL_ADD_TIME, 0), 2);
        assert_int_equal(roll_choose(suite, N, ROLL_TOTAL_GC_TIME, 0), 3);
        assert_int_equal(roll_choose(suite, N, ROLL_TOTAL_DURATION, 0), 4);
        assert_int_equal(roll_choose(suite, N, ROLL_FAILED_TASKS, 0), 5);
        assert_int_equal(roll_choose(suite, N, ROLL_AVERAGE_DURATION, 0), 6);
        assert_int_equal(roll_choose(suite, N, ROLL_OUTLIER, 0), 4);
        assert_int_equal(roll_choose(suite, N, ROLL_OUTLIER_NO_FALLBACK, 0), -1);
        assert_int_equal(roll_choose(suite, N, ROLL_DISK_USED, 0), 10); /* the last among equals */
        assert_int_equal(roll_choose(suite, N, ROLL_TOTAL_DURATION, 3), 4);
        assert_int_equal(roll_choose(suite, N, ROLL_ID, 2), 4);
}

/* Asserts the choice of an outlier policy among the suite's executors and another one. */
static void chooses_outlier(struct roll_summary e, enum roll_policy same_as)
{
        struct roll_summary all[N + 1];

        memcpy(all, suite, sizeof(suite));
        all[N] = e;
        int32_t expected = roll_choose(all, N + 1, same_as, 0);
        assert_int_equal(expected, e.id);
        assert_int_equal(roll_choose(all, N + 1, ROLL_OUTLIER, 0), expected);
        assert_int_equal(roll_choose(all, N + 1, ROLL_OUTLIER_NO_FALLBACK, 0), expected);
}

static void chooses_outlier_of_every_dimension(void **state)
{
        struct roll_summary e = {
                .id = 9999, .failed_tasks = 3, .total_tasks = 1, .total_duration = 300, .total_gc_time = 20};
        chooses_outlier(e, ROLL_AVERAGE_DURATION);
        e = (struct roll_summary){.id = 9999, .failed_tasks = 3, .total_tasks = 1000, .total_duration = 1000};
        chooses_outlier(e, ROLL_TOTAL_DURATION);
        e = (struct roll_summary){
                .id = 9999, .failed_tasks = 3, .total_tasks = 1, .total_duration = 100, .total_gc_time = 1000};
        chooses_outlier(e, ROLL_TOTAL_GC_TIME);
        e.total_gc_time = 20;
        e.failed_tasks = 100;
        chooses_outlier(e, ROLL_FAILED_TASKS);
        e.failed_tasks = 0;
        e.peak_heap = 1000;
        chooses_outlier(e, ROLL_PEAK_JVM_ONHEAP_MEMORY);
        e.peak_heap = 0;
        e.peak_off_heap = 1000;
        chooses_outlier(e, ROLL_PEAK_JVM_OFFHEAP_MEMORY);
        e.peak_off_heap = 0;
        e.total_shuffle_write = 1000;
        chooses_outlier(e, ROLL_TOTAL_SHUFFLE_WRITE);
        e.total_shuffle_write = 0;
        e.disk_used = 1000;
        chooses_outlier(e, ROLL_DISK_USED);
}

static void parses_policy_names(void **state)
{
        enum roll_policy policy = ROLL_ID;

        for (enum roll_policy p = 0; p <= LAST_POLICY; p++) {
                assert_int_equal(roll_policy_parse(roll_policy_name(p), &policy), 0);
                assert_int_equal(policy, p);
        }
        assert_int_equal(roll_policy_parse("OLDEST", &policy), -1);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(chooses_none_without_eligible_executor),
                cmocka_unit_test(single_executor_is_chosen_except_by_outlier_policy),
                cmocka_unit_test(each_policy_chooses_its_executor),
                cmocka_unit_test(chooses_outlier_of_every_dimension),
                cmocka_unit_test(parses_policy_names),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
