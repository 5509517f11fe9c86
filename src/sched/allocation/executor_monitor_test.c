/* The cases of Spark's ExecutorMonitorSuite with the test's own clock, and cases for the departures from Spark. */
#include "sched/allocation/executor_monitor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/log.h"

#define SECOND INT64_C(1000000000)
#define IDLE (60 * SECOND)
#define STORAGE (120 * SECOND)
#define SHUFFLE (240 * SECOND)

struct monitor_bench {
        struct executor_monitor *m;
        int64_t now;
};

static const struct executor_monitor_config with_service = {.idle = IDLE, .cached = STORAGE, .shuffle = SHUFFLE};
static const struct executor_monitor_config with_tracking = {
        .idle = IDLE, .cached = STORAGE, .shuffle = SHUFFLE, .shuffle_tracking = true};
static const struct executor_monitor_config service_keeps_rdds = {
        .idle = IDLE, .cached = STORAGE, .shuffle = SHUFFLE, .service_keeps_rdds = true};

static void bench_start(struct monitor_bench *b, const struct executor_monitor_config *config)
{
        *b = (struct monitor_bench){.m = executor_monitor_new(config)};
}

static void bench_end(struct monitor_bench *b)
{
        executor_monitor_free(b->m);
}

static void add(struct monitor_bench *b, int32_t executor)
{
        executor_monitor_added(b->m, executor, NULL, 0, b->now);
}

static void start(struct monitor_bench *b, int32_t executor)
{
        executor_monitor_task_started(b->m, executor, b->now);
}

static void end(struct monitor_bench *b, int32_t executor, int stage, bool succeeded)
{
        executor_monitor_task_ended(b->m, executor, stage, succeeded, b->now);
}

/* Returns whether @executor would have timed out at @when. */
static bool out_at(struct monitor_bench *b, int32_t executor, int64_t when)
{
        return executor_monitor_timeout(b->m, executor) <= when;
}

/* Returns the executors that have timed out now, as bits. */
static uint64_t out_now(struct monitor_bench *b)
{
        int n;
        const struct idle_executor *list = executor_monitor_timed_out(b->m, b->now, &n);
        uint64_t bits = 0;

        for (int i = 0; i < n; i++) {
                assert_true(i == 0 || list[i - 1].executor < list[i].executor);
                assert_int_equal(list[i].profile, executor_monitor_profile(b->m, list[i].executor));
                bits |= UINT64_C(1) << list[i].executor;
        }
        return bits;
}

#define BIT(n) (UINT64_C(1) << (n))

static void an_idle_executor_times_out(void **state)
{
        struct monitor_bench b;

        bench_start(&b, &with_service);
        add(&b, 1);
        assert_int_equal(executor_monitor_total(b.m).all, 1);
        assert_true(executor_monitor_is_idle(b.m, 1));
        assert_false(out_at(&b, 1, IDLE - 1));
        assert_true(out_at(&b, 1, IDLE));
        assert_int_equal(executor_monitor_count(b.m, 0).all, 1);
        assert_int_equal(executor_monitor_profile(b.m, 1), 0);
        assert_int_equal(executor_monitor_deadline(b.m), IDLE);
        bench_end(&b);
}

/* SPARK-4951, SPARK-26927 */
static void events_may_come_out_of_order(void **state)
{
        struct monitor_bench b;

        bench_start(&b, &with_service);
        start(&b, 1);
        assert_int_equal(executor_monitor_total(b.m).all, 1);
        assert_int_equal(executor_monitor_count(b.m, EXECUTOR_PROFILE_UNKNOWN).all, 1);
        add(&b, 1);
        assert_int_equal(executor_monitor_total(b.m).all, 1);
        assert_int_equal(executor_monitor_count(b.m, EXECUTOR_PROFILE_UNKNOWN).all, 0);
        assert_int_equal(executor_monitor_count(b.m, 0).all, 1);
        assert_int_equal(executor_monitor_profile(b.m, 1), 0);
        assert_false(executor_monitor_is_idle(b.m, 1));
        add(&b, 2);
        assert_int_equal(executor_monitor_count(b.m, 0).all, 2);
        assert_true(executor_monitor_removed(b.m, 2, NULL));
        assert_int_equal(executor_monitor_count(b.m, 0).all, 1);
        start(&b, 2); /* too late: the executor is removed */
        executor_monitor_rdd_block(b.m, 2, 1, 0, true, false);
        add(&b, 2);
        assert_int_equal(executor_monitor_total(b.m).all, 1);
        executor_monitor_reset(b.m);
        start(&b, 2);
        assert_int_equal(executor_monitor_total(b.m).all, 0);
        start(&b, 1);
        assert_int_equal(executor_monitor_total(b.m).all, 1);
        assert_false(executor_monitor_removed(b.m, 2, NULL));
        assert_true(executor_monitor_removed(b.m, 1, NULL));
        assert_int_equal(executor_monitor_total(b.m).all, 0);
        assert_int_equal(executor_monitor_count(b.m, 0).all, 0);
        bench_end(&b);
}

static void tasks_keep_an_executor_busy(void **state)
{
        struct monitor_bench b;

        bench_start(&b, &with_service);
        add(&b, 1);
        start(&b, 1);
        assert_false(executor_monitor_is_idle(b.m, 1));
        for (int i = 2; i <= 10; i++) {
                start(&b, 1);
                end(&b, 1, 1, true);
                assert_false(executor_monitor_is_idle(b.m, 1));
                assert_false(out_at(&b, 1, INT64_MAX - 1));
        }
        b.now = 5 * SECOND;
        end(&b, 1, 1, true);
        assert_true(executor_monitor_is_idle(b.m, 1));
        assert_int_equal(out_now(&b), 0);
        assert_false(out_at(&b, 1, IDLE));
        assert_true(out_at(&b, 1, b.now + IDLE));
        bench_end(&b);
}

static void stored_blocks_give_more_time(void **state)
{
        struct monitor_bench b;

        bench_start(&b, &with_service);
        add(&b, 1);
        assert_true(out_at(&b, 1, IDLE));
        executor_monitor_rdd_block(b.m, 1, 1, 0, true, false);
        assert_true(executor_monitor_is_idle(b.m, 1));
        assert_false(out_at(&b, 1, IDLE));
        assert_true(out_at(&b, 1, STORAGE));
        executor_monitor_rdd_block(b.m, 1, 1, 0, false, false);
        assert_true(out_at(&b, 1, IDLE));
        start(&b, 1);
        executor_monitor_rdd_block(b.m, 1, 1, 0, true, false);
        assert_false(executor_monitor_is_idle(b.m, 1));
        executor_monitor_rdd_block(b.m, 1, 1, 0, false, false);
        assert_false(executor_monitor_is_idle(b.m, 1));
        assert_false(out_at(&b, 1, INT64_MAX - 1));
        bench_end(&b);
}

static void every_stored_block_is_known(void **state)
{
        struct monitor_bench b;

        bench_start(&b, &with_service);
        add(&b, 1);
        executor_monitor_rdd_block(b.m, 1, 1, 0, true, false);
        executor_monitor_rdd_block(b.m, 1, 1, 1, true, false);
        executor_monitor_rdd_block(b.m, 1, 2, 0, true, false);
        executor_monitor_rdd_block(b.m, 1, 1, 1, false, false);
        executor_monitor_rdd_block(b.m, 1, 1, 1, false, false); /* reported twice */
        assert_false(out_at(&b, 1, IDLE));
        assert_true(out_at(&b, 1, STORAGE));
        executor_monitor_rdd_unpersisted(b.m, 1);
        assert_false(out_at(&b, 1, IDLE));
        assert_true(out_at(&b, 1, STORAGE));
        /* the time runs since it became idle, not since its blocks were removed */
        b.now = IDLE;
        assert_int_equal(out_now(&b), 0);
        executor_monitor_rdd_unpersisted(b.m, 2);
        assert_int_equal(out_now(&b), BIT(1));
        bench_end(&b);
}

static void each_executor_has_its_own_time(void **state)
{
        struct monitor_bench b;

        bench_start(&b, &with_service);
        add(&b, 1); /* until 60 s */
        b.now = 30 * SECOND;
        add(&b, 2);
        executor_monitor_rdd_block(b.m, 2, 1, 0, true, false); /* until 150 s */
        assert_false(out_at(&b, 2, b.now + IDLE));
        b.now = 60 * SECOND;
        add(&b, 3); /* until 120 s */
        assert_int_equal(out_now(&b), BIT(1));
        assert_int_equal(executor_monitor_deadline(b.m), 120 * SECOND);
        executor_monitor_rdd_block(b.m, 3, 1, 0, true, false); /* until 180 s */
        assert_false(out_at(&b, 3, b.now + IDLE));
        b.now = 140 * SECOND;
        assert_int_equal(out_now(&b), BIT(1));
        executor_monitor_rdd_block(b.m, 3, 1, 0, false, false);
        assert_int_equal(out_now(&b), BIT(1) | BIT(3));
        b.now = 150 * SECOND - 1;
        assert_int_equal(out_now(&b), BIT(1) | BIT(3));
        b.now++;
        assert_int_equal(out_now(&b), BIT(1) | BIT(2) | BIT(3));
        bench_end(&b);
}

/* SPARK-27677 */
static void blocks_that_the_service_serves_do_not_count(void **state)
{
        struct monitor_bench b;

        bench_start(&b, &with_service);
        add(&b, 1);
        executor_monitor_rdd_block(b.m, 1, 1, 0, false, true);
        assert_false(out_at(&b, 1, IDLE));
        assert_true(out_at(&b, 1, STORAGE));
        bench_end(&b);

        bench_start(&b, &service_keeps_rdds);
        add(&b, 1);
        executor_monitor_rdd_block(b.m, 1, 1, 0, true, false);
        executor_monitor_rdd_block(b.m, 1, 1, 1, true, false);
        assert_false(out_at(&b, 1, IDLE));
        executor_monitor_rdd_block(b.m, 1, 1, 0, false, true);
        assert_false(out_at(&b, 1, IDLE));
        assert_true(out_at(&b, 1, STORAGE));
        executor_monitor_rdd_block(b.m, 1, 1, 1, false, true);
        assert_true(out_at(&b, 1, IDLE));
        executor_monitor_rdd_block(b.m, 1, 1, 1, true, true); /* in memory again, but still on disk */
        assert_true(out_at(&b, 1, IDLE));
        bench_end(&b);
}

static void those_asked_to_go_are_no_candidates(void **state)
{
        struct monitor_bench b;

        bench_start(&b, &with_service);
        add(&b, 1);
        add(&b, 2);
        executor_monitor_added(b.m, 3, NULL, 1, b.now);
        b.now = IDLE;
        assert_int_equal(out_now(&b), BIT(1) | BIT(2) | BIT(3));
        assert_int_equal(executor_monitor_total(b.m).killed, 0);
        executor_monitor_killed(b.m, (int32_t[]){1, 40}, 2);
        assert_int_equal(out_now(&b), BIT(2) | BIT(3));
        assert_int_equal(executor_monitor_total(b.m).killed, 1);
        assert_int_equal(executor_monitor_leaving(b.m, 1), EXECUTOR_KILLED);
        assert_int_equal(executor_monitor_leaving(b.m, 2), EXECUTOR_STAYS);
        assert_int_equal(out_now(&b), BIT(2) | BIT(3));
        start(&b, 2);
        assert_int_equal(out_now(&b), BIT(3));
        executor_monitor_killed(b.m, (int32_t[]){3}, 1);
        assert_int_equal(executor_monitor_total(b.m).killed, 2);
        assert_int_equal(executor_monitor_count(b.m, 0).killed, 1);
        assert_int_equal(executor_monitor_count(b.m, 1).killed, 1);
        end(&b, 2, 1, true);
        assert_int_equal(out_now(&b), 0);
        b.now += IDLE;
        assert_int_equal(out_now(&b), BIT(2));
        executor_monitor_decommissioned(b.m, (int32_t[]){2}, 1);
        assert_int_equal(executor_monitor_total(b.m).decommissioned, 1);
        assert_int_equal(executor_monitor_leaving(b.m, 2), EXECUTOR_DECOMMISSIONED);
        assert_int_equal(out_now(&b), 0);
        bench_end(&b);
}

static void map_outputs_that_jobs_need_keep_their_executor(void **state)
{
        const struct shuffle_stage first = {1, 0}, second = {3, 1}, third = {5, 1};
        struct monitor_bench b;

        bench_start(&b, &with_tracking);
        executor_monitor_job_started(b.m, 1, &first, 1);
        executor_monitor_job_started(b.m, 2, &second, 1);
        add(&b, 1);
        assert_true(out_at(&b, 1, IDLE));
        start(&b, 1);
        end(&b, 1, 1, false); /* it failed without an output */
        assert_true(out_at(&b, 1, IDLE));
        start(&b, 1);
        end(&b, 1, 1, true);
        assert_false(out_at(&b, 1, SHUFFLE));
        start(&b, 1);
        end(&b, 1, 3, true);
        assert_false(out_at(&b, 1, SHUFFLE));

        executor_monitor_job_ended(b.m, 1);
        assert_false(executor_monitor_is_idle(b.m, 1));
        executor_monitor_job_ended(b.m, 2);
        assert_true(executor_monitor_is_idle(b.m, 1));
        assert_false(out_at(&b, 1, IDLE));
        assert_false(out_at(&b, 1, STORAGE));
        assert_true(out_at(&b, 1, SHUFFLE));

        /* another job reads the second shuffle, so the executor stays without tasks */
        b.now = SHUFFLE;
        assert_int_equal(out_now(&b), BIT(1));
        executor_monitor_job_started(b.m, 3, &third, 1);
        assert_false(executor_monitor_is_idle(b.m, 1));
        assert_int_equal(out_now(&b), 0);
        executor_monitor_job_ended(b.m, 3);
        assert_int_equal(out_now(&b), BIT(1));

        executor_monitor_shuffle_removed(b.m, 0);
        assert_false(out_at(&b, 1, IDLE));
        executor_monitor_shuffle_removed(b.m, 1);
        assert_true(out_at(&b, 1, IDLE));
        bench_end(&b);
}

/* SPARK-28839 */
static void with_a_service_shuffles_do_not_matter(void **state)
{
        const struct shuffle_stage stage = {1, 0};
        struct monitor_bench b;

        bench_start(&b, &with_service);
        executor_monitor_job_started(b.m, 1, &stage, 1);
        add(&b, 1);
        start(&b, 1);
        end(&b, 1, 1, true);
        executor_monitor_shuffle_block(b.m, 1, 0);
        assert_true(out_at(&b, 1, IDLE));
        executor_monitor_shuffle_removed(b.m, 0);
        executor_monitor_job_ended(b.m, 1);
        assert_true(out_at(&b, 1, IDLE));
        bench_end(&b);
}

static void jobs_at_a_time_keep_their_own_executors(void **state)
{
        const struct shuffle_stage first = {1, 0}, second = {3, 1};
        struct monitor_bench b;

        bench_start(&b, &with_tracking);
        add(&b, 1);
        add(&b, 2);
        executor_monitor_job_started(b.m, 1, &first, 1);
        executor_monitor_job_started(b.m, 2, &second, 1);
        start(&b, 1);
        end(&b, 1, 1, true);
        assert_false(out_at(&b, 1, IDLE));
        assert_true(out_at(&b, 2, IDLE));
        start(&b, 2);
        end(&b, 2, 3, true);
        assert_false(out_at(&b, 2, IDLE));
        executor_monitor_job_ended(b.m, 1);
        assert_true(executor_monitor_is_idle(b.m, 1));
        assert_false(executor_monitor_is_idle(b.m, 2));
        executor_monitor_job_ended(b.m, 2);
        assert_true(executor_monitor_is_idle(b.m, 2));
        assert_false(out_at(&b, 1, IDLE));
        assert_false(out_at(&b, 2, IDLE));
        executor_monitor_shuffle_removed(b.m, 0);
        executor_monitor_shuffle_removed(b.m, 1);
        b.now = IDLE;
        assert_int_equal(out_now(&b), BIT(1) | BIT(2));
        bench_end(&b);
}

/* SPARK-28455 */
static void a_time_past_the_end_of_time_is_never(void **state)
{
        struct executor_monitor_config config = with_tracking;
        const struct shuffle_stage stage = {1, 0};
        struct monitor_bench b;

        config.shuffle = INT64_MAX;
        bench_start(&b, &config);
        executor_monitor_job_started(b.m, 1, &stage, 1);
        b.now = 1000 * SECOND;
        add(&b, 1);
        start(&b, 1);
        end(&b, 1, 1, true);
        executor_monitor_job_ended(b.m, 1);
        assert_true(executor_monitor_is_idle(b.m, 1));
        assert_false(out_at(&b, 1, INT64_MAX - 1));
        b.now = INT64_MAX;
        assert_int_equal(out_now(&b), 0);
        bench_end(&b);
}

/* Departures from Spark. */
static void what_two_jobs_share_stays_known(void **state)
{
        const struct shuffle_stage stage = {1, 0};
        struct monitor_bench b;

        bench_start(&b, &with_tracking);
        executor_monitor_job_started(b.m, 1, &stage, 1);
        executor_monitor_job_started(b.m, 2, &stage, 1);
        add(&b, 1);
        add(&b, 2);
        executor_monitor_job_ended(b.m, 1);
        start(&b, 1);
        end(&b, 1, 1, true);
        assert_false(executor_monitor_is_idle(b.m, 1));
        executor_monitor_job_ended(b.m, 2);
        assert_true(executor_monitor_is_idle(b.m, 1));
        /* outputs that no job needs, moved to another executor, get their timeout and no more */
        executor_monitor_shuffle_block(b.m, 2, 0);
        assert_false(out_at(&b, 2, IDLE));
        assert_true(out_at(&b, 2, SHUFFLE));
        bench_end(&b);
}

/* SPARK-33763 */
static void ways_to_go_are_counted(void **state)
{
        struct executor_removals r;
        struct monitor_bench b;

        bench_start(&b, &with_service);
        for (int32_t e = 1; e <= 5; e++)
                add(&b, e);
        executor_monitor_killed(b.m, (int32_t[]){1}, 1);
        executor_monitor_decommissioned(b.m, (int32_t[]){2, 3}, 2);
        executor_monitor_removed(b.m, 1, "driver requested exit");
        executor_monitor_removed(b.m, 2, "Finished decommissioning");
        executor_monitor_removed(b.m, 3, "stopped before gracefully finished");
        executor_monitor_removed(b.m, 4, "this will be an unexpected exit");
        executor_monitor_removed(b.m, 5, "Executor decommission: spark scale down");
        r = executor_monitor_removals(b.m);
        assert_int_equal(r.driver_killed, 1);
        assert_int_equal(r.gracefully_decommissioned, 2);
        assert_int_equal(r.decommission_unfinished, 1);
        assert_int_equal(r.exited_unexpectedly, 1);
        bench_end(&b);
}

static void a_reset_forgets_executors_but_no_jobs(void **state)
{
        const struct shuffle_stage stage = {1, 0};
        struct monitor_bench b;

        bench_start(&b, &with_tracking);
        executor_monitor_job_started(b.m, 1, &stage, 1);
        add(&b, 1);
        b.now = IDLE;
        assert_int_equal(out_now(&b), BIT(1));
        executor_monitor_reset(b.m);
        assert_int_equal(executor_monitor_total(b.m).all, 0);
        assert_int_equal(out_now(&b), 0);
        assert_int_equal(executor_monitor_deadline(b.m), INT64_MAX);
        add(&b, 1);
        start(&b, 1);
        end(&b, 1, 1, true);
        assert_false(executor_monitor_is_idle(b.m, 1));
        bench_end(&b);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_idle_executor_times_out),
                cmocka_unit_test(events_may_come_out_of_order),
                cmocka_unit_test(tasks_keep_an_executor_busy),
                cmocka_unit_test(stored_blocks_give_more_time),
                cmocka_unit_test(every_stored_block_is_known),
                cmocka_unit_test(each_executor_has_its_own_time),
                cmocka_unit_test(blocks_that_the_service_serves_do_not_count),
                cmocka_unit_test(those_asked_to_go_are_no_candidates),
                cmocka_unit_test(map_outputs_that_jobs_need_keep_their_executor),
                cmocka_unit_test(with_a_service_shuffles_do_not_matter),
                cmocka_unit_test(jobs_at_a_time_keep_their_own_executors),
                cmocka_unit_test(a_time_past_the_end_of_time_is_never),
                cmocka_unit_test(what_two_jobs_share_stays_known),
                cmocka_unit_test(ways_to_go_are_counted),
                cmocka_unit_test(a_reset_forgets_executors_but_no_jobs),
        };

        log_threshold = LOG_OFF;
        return cmocka_run_group_tests_name("sched/allocation/executor_monitor", tests, NULL, NULL);
}
