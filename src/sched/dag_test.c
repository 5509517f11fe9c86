#include "sched/sched_fixture.h"

static void one_stage_runs_all_partitions(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 2, 2);
        assert_int_equal(fix_submit(&f, fix_rdd(&f, 5)), 0);
        assert_int_equal(fix_count_running(&f), 4);
        for (int i = 0; i < 5; i++)
                fix_succeed(&f, 0, i);
        fix_expect(&f, "start 0\nsubmit 0.0\ncomplete 0.0\njob 0 succeeded\n");
        assert_int_equal(f.accepted, 5);
        assert_int_equal(f.jobs_removed, 1);
        fix_end(&f);
}

static void a_shuffle_makes_two_stages(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 1, 4);
        fix_submit(&f, fix_narrow(&f, fix_shuffle(&f, fix_narrow(&f, fix_rdd(&f, 2)), 3)));
        fix_expect(&f, "start 0\nsubmit 0.0\n");
        fix_succeed(&f, 0, 1);
        fix_expect(&f, "");
        fix_succeed(&f, 0, 0);
        fix_expect(&f, "complete 0.0\nsubmit 1.0\n");
        assert_int_equal(sched_map_outputs(f.s, 0)->available, 2);
        fix_drain(&f);
        fix_expect(&f, "complete 1.0\njob 0 succeeded\n");
        fix_end(&f);
}

static void a_task_is_retried_until_max_failures(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 1, 1);
        fix_submit(&f, fix_rdd(&f, 1));
        for (int i = 0; i < 4; i++) {
                assert_int_equal(f.jobs_ended, 0);
                assert_int_equal(f.tasks.data[i].launch.attempt, i);
                fix_fail(&f, 0, 0, "boom");
        }
        assert_string_equal(buf_text(&f.message),
                            "Job aborted due to stage failure: Task 0 in stage 0.0 failed 4 times, most recent "
                            "failure: Lost task 0.3 in stage 0.0 (TID 3) (host executor 0): boom");
        fix_expect(&f, "start 0\nsubmit 0.0\nfailed 0.0\njob 0 failed\n");
        assert_int_equal(fix_count_running(&f), 0);
        fix_end(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(one_stage_runs_all_partitions),
                cmocka_unit_test(a_shuffle_makes_two_stages),
                cmocka_unit_test(a_task_is_retried_until_max_failures),
        };

        return cmocka_run_group_tests_name("sched/dag", tests, NULL, NULL);
}
