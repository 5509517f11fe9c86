/*
 * The cases of Spark's TaskSetManagerSuite and TaskSchedulerImplSuite for locality: tasks run near their data, and wait
 * for it.
 */
#include "sched/tasks/offers_fixture.h"

static void tasks_go_where_their_data_is(void **state)
{
        struct fix f;

        offers_begin(&f, NULL);
        offers_add_executor(&f, "0", "h1", 1);
        offers_add_executor(&f, "1", "h1", 1);
        offers_add_executor(&f, "2", "h3", 1);
        offers_prefer(0, 2, NULL);
        offers_prefer(1, 1, NULL);
        offers_prefer(2, -1, "h1");
        fix_submit(&f, fix_rdd(&f, 3));
        assert_int_equal(f.tasks.len, 3);
        check_launch(&f, 0, 1, 1, LOCALITY_PROCESS_LOCAL);
        check_launch(&f, 1, 0, 2, LOCALITY_PROCESS_LOCAL);
        check_launch(&f, 2, 2, 0, LOCALITY_NODE_LOCAL);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

static void a_core_waits_for_each_level_in_turn(void **state)
{
        struct fix f;

        offers_begin(&f, NULL);
        offers_add_executor(&f, "0", "h1", 1);
        offers_add_executor(&f, "1", "h1", 1);
        offers_add_executor(&f, "2", "h2", 1);
        offers_add_executor(&f, "3", "h5", 1);
        for (int i = 0; i < 4; i++)
                offers_prefer(i, 0, NULL);
        fix_submit(&f, fix_rdd(&f, 4));
        assert_int_equal(f.tasks.len, 1); /* executor 0 has one core, the others are rejected */
        check_launch(&f, 0, 0, 0, LOCALITY_PROCESS_LOCAL);
        assert_int_equal(sched_deadline(f.s), 3 * (int64_t)SECOND);
        wait_until(&f, 3 * (int64_t)SECOND - 1);
        assert_int_equal(f.tasks.len, 1);
        wait_until(&f, 3 * (int64_t)SECOND);
        assert_int_equal(f.tasks.len, 2);
        check_launch(&f, 1, 1, 1, LOCALITY_NODE_LOCAL);
        wait_until(&f, 6 * (int64_t)SECOND);
        assert_int_equal(f.tasks.len, 3);
        check_launch(&f, 2, 2, 2, LOCALITY_RACK_LOCAL);
        wait_until(&f, 9 * (int64_t)SECOND);
        check_launch(&f, 3, 3, 3, LOCALITY_ANY);
        fix_drain(&f);
        fix_end(&f);
}

/* A live executor preferred by another task of the set makes no difference. */
static void nobody_waits_for_an_executor_that_is_gone(void **state)
{
        struct fix f;

        offers_begin(&f, NULL);
        offers_add_executor(&f, "0", "h1", 1);
        offers_add_executor(&f, "1", "h1", 1);
        offers_prefer(0, 0, NULL);
        offers_prefer(1, 1, NULL);
        fix_submit(&f, fix_rdd(&f, 2));
        assert_int_equal(f.tasks.len, 2);
        fix_succeed(&f, 0, 0);
        sched_executor_lost(f.s, 1, true, "killed", f.now);
        sched_revive(f.s, f.now);
        assert_int_equal(f.tasks.len, 3);
        check_launch(&f, 2, 1, 0, LOCALITY_NODE_LOCAL);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

static void a_round_without_rejects_begins_the_wait_anew(void **state)
{
        struct fix f;

        offers_begin(&f, NULL);
        offers_add_executor(&f, "0", "h1", 1);
        for (int i = 0; i < 5; i++)
                offers_prefer(i, 0, NULL);
        fix_submit(&f, fix_rdd(&f, 5));
        f.now = 2 * (int64_t)SECOND;
        fix_succeed(&f, 0, 0); /* no core is free: the wait restarts */
        offers_add_executor(&f, "1", "h5", 1);
        wait_until(&f, 4 * (int64_t)SECOND);
        assert_int_equal(f.tasks.len, 2);
        int64_t deadline = sched_deadline(f.s);

        assert_in_range(deadline, 5 * (int64_t)SECOND, 5 * (int64_t)SECOND + 10000);
        f.now = 4500000000;
        fix_succeed(&f, 0, 1); /* executor 1 is rejected in this round: the wait continues */
        assert_int_equal(sched_deadline(f.s), deadline);
        fix_drain(&f);
        fix_end(&f);
}

static void a_launch_resets_the_wait_in_legacy_mode(void **state)
{
        struct fix f;
        struct sched_config config = SCHED_CONFIG_DEFAULT;

        config.locality.legacy_reset = true;
        offers_begin(&f, &config);
        offers_add_executor(&f, "0", "h1", 1);
        offers_add_executor(&f, "1", "h5", 1);
        for (int i = 0; i < 5; i++)
                offers_prefer(i, 0, NULL);
        fix_submit(&f, fix_rdd(&f, 5));
        f.now = 2 * (int64_t)SECOND;
        fix_succeed(&f, 0, 0);
        assert_in_range(sched_deadline(f.s), 5 * (int64_t)SECOND, 5 * (int64_t)SECOND + 10000);
        fix_drain(&f);
        fix_end(&f);
}

static void tasks_without_preference_wait_for_nobody(void **state)
{
        struct fix f;

        offers_begin(&f, NULL);
        offers_add_executor(&f, "0", "h9", 1);
        offers_add_executor(&f, "1", "h1", 2);
        offers_prefer(0, 1, NULL); /* task 1 has no preference */
        fix_submit(&f, fix_rdd(&f, 2));
        assert_int_equal(f.tasks.len, 2);
        check_launch(&f, 0, 0, 1, LOCALITY_PROCESS_LOCAL);
        check_launch(&f, 1, 1, 0, LOCALITY_PROCESS_LOCAL);
        fix_drain(&f);
        fix_end(&f);
}

static void preferences_for_what_is_not_there_do_not_wait(void **state)
{
        struct fix f;

        offers_begin(&f, NULL);
        offers_add_executor(&f, "0", "h1", 2);
        offers_prefer(0, -1, "elsewhere");
        offers_prefer(1, -1, "elsewhere");
        fix_submit(&f, fix_rdd(&f, 2));
        assert_int_equal(f.tasks.len, 2);
        check_launch(&f, 0, 0, 0, LOCALITY_ANY);
        fix_drain(&f);
        fix_end(&f);
}

static void a_better_executor_that_joins_is_preferred(void **state)
{
        struct fix f;

        offers_begin(&f, NULL);
        offers_add_executor(&f, "0", "x", 1);
        offers_prefer(0, -1, "h1");
        offers_prefer(1, -1, "h1");
        offers_prefer(2, -1, "h1");
        fix_submit(&f, fix_rdd(&f, 3));
        assert_int_equal(f.tasks.len, 1); /* no executor on h1: runs anywhere */
        offers_add_executor(&f, "1", "h1", 1);
        sched_revive(f.s, f.now);
        check_launch(&f, 1, 1, 1, LOCALITY_NODE_LOCAL);
        fix_succeed(&f, 0, 0); /* an executor on h1 exists: waits */
        assert_int_equal(f.tasks.len, 2);
        sched_executor_lost(f.s, 1, false, "gone", f.now);
        sched_revive(f.s, f.now);
        assert_int_equal(f.tasks.len, 3);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

static void locations_are_looked_for_along_narrow_dependencies(void **state)
{
        struct fix f;

        offers_begin(&f, NULL);
        offers_add_executor(&f, "0", "h1", 4);
        offers_add_executor(&f, "1", "h5", 4);
        offers_prefer(0, 1, NULL);
        offers_prefer(2, 1, NULL);
        struct lineage *source = fix_rdd(&f, 4), *coalesced = fix_rdd(&f, 2);

        fix_depend(&f, coalesced, LINEAGE_NARROW, source);
        fix_submit(&f, fix_narrow(&f, coalesced));
        check_launch(&f, 0, 0, 1, LOCALITY_PROCESS_LOCAL);
        check_launch(&f, 1, 1, 1, LOCALITY_PROCESS_LOCAL);
        fix_drain(&f);
        fix_end(&f);
}

static void a_run_is_of_one_level(void **state)
{
        struct fix f;

        offers_begin(&f, NULL);
        offers_add_executor(&f, "0", "h1", 1);
        offers_add_executor(&f, "1", "h5", 1);
        f.run_ns = 1000;
        for (int i = 0; i < 16; i++)
                offers_prefer(i, i % 2, NULL);
        fix_submit(&f, fix_rdd(&f, 16));
        fix_drain(&f);
        for (size_t i = 0; i < f.tasks.len; i++) {
                assert_int_equal(f.tasks.data[i].executor, f.tasks.data[i].launch.index % 2);
                assert_int_equal(f.tasks.data[i].launch.locality, LOCALITY_PROCESS_LOCAL);
        }
        assert_int_equal(f.accepted, 16);
        assert_true(f.runs < 16);
        fix_end(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(tasks_go_where_their_data_is),
                cmocka_unit_test(a_core_waits_for_each_level_in_turn),
                cmocka_unit_test(nobody_waits_for_an_executor_that_is_gone),
                cmocka_unit_test(a_round_without_rejects_begins_the_wait_anew),
                cmocka_unit_test(a_launch_resets_the_wait_in_legacy_mode),
                cmocka_unit_test(tasks_without_preference_wait_for_nobody),
                cmocka_unit_test(preferences_for_what_is_not_there_do_not_wait),
                cmocka_unit_test(a_better_executor_that_joins_is_preferred),
                cmocka_unit_test(locations_are_looked_for_along_narrow_dependencies),
                cmocka_unit_test(a_run_is_of_one_level),
        };

        log_threshold = LOG_OFF;
        return cmocka_run_group_tests_name("sched/tasks/locality", tests, NULL, NULL);
}
