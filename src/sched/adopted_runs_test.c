/* Batches that an earlier driver launched become those of the next one (sched_adopt_run): whose they are, and whose not. */
#include "sched/sched_fixture.h"

#include "base/log.h"
#include "sched/sched_recorder.h"
#include "sched/simulator/sched_replay.h"

#define TASKS 6
#define FIRST_ID 1024 /* of this driver; the earlier one had lower ids */

static void adopting_begin(struct fix *f, int executors, int cores)
{
        struct sched_config config = SCHED_CONFIG_DEFAULT;

        config.first_task_id = FIRST_ID;
        fix_begin(f, &config, executors, cores);
}

/* Submits without offering cores, and returns the first task set. */
static struct task_set *adopting_submit(struct fix *f, struct lineage *rdd, const uint8_t *done)
{
        sched_submit_job(f->s, &(struct job_spec){.final = rdd, .done = done}, f->now, NULL);
        return sched_next_task_set(f->s, NULL);
}

static bool adopt(struct fix *f, struct task_set *set, int executor, int64_t id, const int32_t *outputs, int n)
{
        const struct sched_adoption adoption = {
                .executor = executor, .first_id = id, .outputs = outputs, .n = n, .takes_core = true};

        return sched_adopt_run(f->s, set, &adoption, f->now);
}

static void adopted_tasks_are_not_launched_and_count(void **state)
{
        struct fix f;

        adopting_begin(&f, 2, 2);
        struct task_set *set = adopting_submit(&f, fix_rdd(&f, TASKS), NULL);

        assert_true(adopt(&f, set, 1, 40, (const int32_t[]){1, 4}, 2));
        assert_int_equal(f.tasks.data[41].launch.output, 4);
        assert_int_equal(f.tasks.data[41].launch.attempt, 0);
        assert_int_equal(f.s->tasks.executors.at.data[1].free, 1);
        sched_revive(f.s, f.now);
        assert_int_equal(fix_count_running(&f), 2 + 3); /* two cores of the one, one of the other */
        fix_succeed_id(&f, 40);
        assert_int_equal(f.s->tasks.executors.at.data[1].free, 0); /* the batch has its core until all have ended */
        fix_succeed_id(&f, 41);
        fix_drain(&f);
        fix_expect(&f, "start 0\nsubmit 0.0\ncomplete 0.0\njob 0 succeeded\n");
        assert_int_equal(f.accepted, TASKS);
        assert_int_equal(f.tasks.len, FIRST_ID + TASKS - 2);
        fix_end(&f);
}

static void an_adopted_batch_may_be_on_a_disabled_executor_and_without_a_core(void **state)
{
        struct fix f;

        adopting_begin(&f, 1, 1);
        struct task_set *set = adopting_submit(&f, fix_rdd(&f, 3), NULL);

        sched_disable_executor(f.s, 0);
        assert_true(adopt(&f, set, 0, 7, &(int32_t){2}, 1));
        assert_false(adopt(&f, set, 0, 8, &(int32_t){1}, 1)); /* no core is left */
        const struct sched_adoption ended = {.executor = 0, .first_id = 8, .outputs = &(int32_t){1}, .n = 1};

        assert_true(sched_adopt_run(f.s, set, &ended, f.now));
        sched_revive(f.s, f.now);
        assert_int_equal(fix_count_running(&f), 2);
        fix_succeed_id(&f, 8);
        fix_succeed_id(&f, 7);
        assert_int_equal(fix_count_running(&f), 0);
        assert_int_equal(f.s->tasks.executors.at.data[0].free, 1);
        sched_enable_executor(f.s, 0);
        sched_revive(f.s, f.now);
        fix_drain(&f);
        assert_int_equal(f.jobs_ended, 1);
        fix_end(&f);
}

static void what_is_not_wanted_is_refused(void **state)
{
        const uint8_t done[TASKS] = {0, 0, 0, 1, 0, 0};
        struct fix f;

        adopting_begin(&f, 2, 4);
        struct task_set *set = adopting_submit(&f, fix_rdd(&f, TASKS), done);

        assert_false(adopt(&f, set, 0, 10, (const int32_t[]){2, 3}, 2)); /* 3 is done */
        assert_false(adopt(&f, set, 0, 10, (const int32_t[]){2, 2}, 2));
        assert_false(adopt(&f, set, 0, 10, &(int32_t){TASKS}, 1));
        assert_false(adopt(&f, set, 0, 10, NULL, 0));
        assert_false(adopt(&f, set, 0, -1, &(int32_t){2}, 1));
        assert_false(adopt(&f, set, 0, FIRST_ID, &(int32_t){2}, 1)); /* an id of this driver */
        assert_false(adopt(&f, set, 9, 10, &(int32_t){2}, 1));
        assert_true(adopt(&f, set, 0, 10, (const int32_t[]){0, 1}, 2));
        assert_false(adopt(&f, set, 1, 11, &(int32_t){2}, 1)); /* the id is taken */
        assert_false(adopt(&f, set, 1, 9, (const int32_t[]){2, 4}, 2));
        assert_false(adopt(&f, set, 1, 20, &(int32_t){1}, 1)); /* another copy runs: a speculative one */
        sched_executor_lost(f.s, 1, false, NULL, f.now);
        assert_false(adopt(&f, set, 1, 20, &(int32_t){2}, 1));
        sched_revive(f.s, f.now);
        fix_drain(&f);
        assert_int_equal(f.accepted, TASKS - 1);
        fix_end(&f);
}

static void barrier_and_indeterminate_stages_adopt_nothing(void **state)
{
        for (int barrier = 0; barrier < 2; barrier++) {
                struct fix f;

                adopting_begin(&f, 1, TASKS);
                struct lineage *rdd = fix_rdd(&f, TASKS);

                rdd->barrier = barrier;
                rdd->indeterminate = !barrier;
                assert_false(adopt(&f, adopting_submit(&f, rdd, NULL), 0, 1, &(int32_t){0}, 1));
                sched_revive(f.s, f.now);
                fix_drain(&f);
                fix_end(&f);
        }
}

static void an_adopted_task_that_ends_without_success_runs_again(void **state)
{
        struct fix f;

        adopting_begin(&f, 2, 2);
        struct task_set *set = adopting_submit(&f, fix_rdd(&f, 2), NULL);

        assert_true(adopt(&f, set, 0, 3, &(int32_t){0}, 1));
        assert_true(adopt(&f, set, 1, 5, &(int32_t){1}, 1));
        sched_revive(f.s, f.now);
        assert_int_equal(fix_count_running(&f), 2);
        fix_status(&f, 3, TASK_KILLED, "its driver has died", NULL);
        sched_executor_lost(f.s, 1, false, NULL, f.now);
        assert_int_equal(f.lost, 1);
        sched_revive(f.s, f.now);
        assert_int_equal(f.tasks.len, FIRST_ID + 2);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

static void collect_trace(void *owner, const char *lines, size_t len)
{
        buf_append(owner, lines, len);
}

static void a_trace_with_adopted_batches_replays(void **state)
{
        _cleanup_(buf_deinit) struct buf trace = BUF_INIT;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct sched_replay_report report;
        struct fix f;

        adopting_begin(&f, 0, 0);
        sched_record(f.s, (struct sched_trace_sink){.write = collect_trace, .owner = &trace});
        sched_add_executor(f.s, "0", "host", 2, f.now);
        struct task_set *set = adopting_submit(&f, fix_rdd(&f, TASKS), NULL);

        assert_true(adopt(&f, set, 0, 40, (const int32_t[]){1, 4}, 2));
        sched_revive(f.s, f.now);
        fix_drain(&f);
        fix_end(&f);
        assert_non_null(strstr(buf_text(&trace), "\nadopt_run 0 0 0 0 40 1 1 4\n= launch 0 0.0 40 "));
        if (sched_replay(trace.data, trace.len, 1 << 20, &report, &error))
                fail_msg("%s", error_message(&error));
        assert_int_equal(report.jobs, 1);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(adopted_tasks_are_not_launched_and_count),
                cmocka_unit_test(an_adopted_batch_may_be_on_a_disabled_executor_and_without_a_core),
                cmocka_unit_test(what_is_not_wanted_is_refused),
                cmocka_unit_test(barrier_and_indeterminate_stages_adopt_nothing),
                cmocka_unit_test(an_adopted_task_that_ends_without_success_runs_again),
                cmocka_unit_test(a_trace_with_adopted_batches_replays),
        };

        log_threshold = LOG_OFF;
        return cmocka_run_group_tests_name("sched/adopted_runs", tests, NULL, NULL);
}
