/* The cases of Spark's DAGSchedulerSuite and JobCancellationSuite for jobs, stages and shuffle outputs. */
#include "sched/sched_fixture.h"

#include "base/log.h"

/* ------------------------------------------------------------------------------------------------- plain jobs */

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

static void a_job_without_partitions_succeeds_at_once(void **state)
{
        struct fix f;
        int none[1];

        fix_begin(&f, NULL, 1, 1);
        struct job_spec spec = {.final = fix_rdd(&f, 3), .partitions = none, .n_partitions = 0};

        assert_int_equal(sched_submit_job(f.s, &spec, 0, NULL), 0);
        fix_expect(&f, "start 0\njob 0 succeeded\n");
        assert_int_equal(f.jobs_removed, 1);
        fix_end(&f);
}

static void a_partition_that_is_not_there_is_refused(void **state)
{
        struct fix f;
        struct fst_error error = FST_ERROR_INIT;
        int partitions[] = {1, 3};

        fix_begin(&f, NULL, 1, 1);
        struct job_spec spec = {.final = fix_rdd(&f, 3), .partitions = partitions, .n_partitions = 2};

        assert_int_equal(sched_submit_job(f.s, &spec, 0, &error), -EINVAL);
        assert_string_equal(error_message(&error),
                            "Attempting to access a non-existent partition: 3. Total number of partitions: 3");
        fix_expect(&f, "");
        error_deinit(&error);
        assert_int_equal(fix_submit(&f, spec.final), 0); /* the id was not consumed */
        fix_drain(&f);
        fix_end(&f);
}

static void a_job_on_some_partitions_runs_only_these(void **state)
{
        struct fix f;
        int partitions[] = {7, 2};

        fix_begin(&f, NULL, 1, 4);
        struct job_spec spec = {.final = fix_rdd(&f, 9), .partitions = partitions, .n_partitions = 2};

        sched_submit_job(f.s, &spec, 0, NULL);
        sched_revive(f.s, 0);
        assert_int_equal(f.tasks.len, 2);
        assert_int_equal(f.tasks.data[0].launch.partition, 7);
        assert_int_equal(f.tasks.data[0].launch.output, 0);
        assert_int_equal(f.tasks.data[1].launch.partition, 2);
        assert_int_equal(f.tasks.data[1].launch.output, 1);
        fix_drain(&f);
        fix_expect(&f, "start 0\nsubmit 0.0\ncomplete 0.0\njob 0 succeeded\n");
        fix_end(&f);
}

/* ---------------------------------------------------------------------------------------------------- graphs */

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

static void a_join_waits_for_both_sides(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 1, 8);
        struct lineage *join = fix_shuffle(&f, fix_rdd(&f, 2), 2);

        fix_depend(&f, join, LINEAGE_SHUFFLE, fix_shuffle(&f, fix_rdd(&f, 1), 1));
        fix_submit(&f, join);
        fix_expect(&f, "start 0\nsubmit 0.0\nsubmit 1.0\n");
        fix_succeed(&f, 1, 0);
        fix_expect(&f, "complete 1.0\nsubmit 2.0\n");
        fix_succeed(&f, 2, 0);
        fix_expect(&f, "complete 2.0\n");
        fix_succeed(&f, 0, 0);
        fix_succeed(&f, 0, 1);
        fix_expect(&f, "complete 0.0\nsubmit 3.0\n");
        fix_drain(&f);
        fix_expect(&f, "complete 3.0\njob 0 succeeded\n");
        fix_end(&f);
}

static void an_rdd_used_twice_is_one_stage(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 1, 8);
        struct lineage *shuffled = fix_shuffle(&f, fix_rdd(&f, 1), 2);
        struct lineage *both = fix_narrow(&f, shuffled);

        fix_depend(&f, both, LINEAGE_NARROW, shuffled);
        fix_submit(&f, both);
        assert_int_equal(f.s->next_stage_id, 2);
        fix_drain(&f);
        fix_expect(&f, "start 0\nsubmit 0.0\ncomplete 0.0\nsubmit 1.0\ncomplete 1.0\njob 0 succeeded\n");
        fix_end(&f);
}

static void existing_outputs_skip_their_stage(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 1, 4);
        struct lineage *shuffled = fix_shuffle(&f, fix_rdd(&f, 2), 2);

        fix_submit(&f, shuffled);
        fix_drain(&f);
        buf_reset(&f.log);
        fix_submit(&f, fix_narrow(&f, shuffled));
        fix_expect(&f, "start 1\nsubmit 3.0\n"); /* stage 2 is skipped */
        assert_int_equal(sched_job(f.s, 1)->n_stages, 2);
        assert_int_equal(sched_job(f.s, 1)->stages[0]->id, 2);
        assert_int_equal(sched_job(f.s, 1)->stages[0]->attempt, -1);
        fix_drain(&f);
        sched_unregister_shuffle(f.s, 0);
        assert_null(sched_map_outputs(f.s, 0));
        assert_int_equal(f.outputs_removed, 2);
        buf_reset(&f.log);
        fix_submit(&f, shuffled);
        fix_expect(&f, "start 2\nsubmit 4.0\n");
        fix_drain(&f);
        fix_end(&f);
}

static int cached_from;

static bool cached(const struct lineage *self, int partition)
{
        return partition >= cached_from;
}

static void only_what_is_cached_whole_cuts_the_graph(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 1, 4);
        struct lineage *shuffled = fix_shuffle(&f, fix_rdd(&f, 1), 2);

        shuffled->cached = cached;
        cached_from = 0;
        fix_submit(&f, fix_narrow(&f, shuffled));
        fix_expect(&f, "start 0\nsubmit 1.0\n");
        fix_drain(&f);
        buf_reset(&f.log);
        cached_from = 1;
        fix_submit(&f, fix_narrow(&f, shuffled));
        fix_expect(&f, "start 1\nsubmit 2.0\n");
        fix_drain(&f);
        fix_end(&f);
}

static void two_jobs_share_a_running_stage(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 1, 2);
        struct lineage *shuffled = fix_shuffle(&f, fix_rdd(&f, 2), 1);

        fix_submit(&f, shuffled);
        fix_submit(&f, fix_narrow(&f, shuffled));
        fix_expect(&f, "start 0\nsubmit 0.0\nstart 1\n");
        sched_cancel_job(f.s, 0, "by hand", f.now);
        assert_string_equal(buf_text(&f.message), "Job 0 cancelled by hand");
        fix_expect(&f, "job 0 cancelled\n"); /* the stage continues for job 1 */
        fix_drain(&f);
        fix_expect(&f, "complete 0.0\nsubmit 2.0\ncomplete 2.0\njob 1 succeeded\n");
        fix_end(&f);
}

static void a_failing_shared_stage_fails_both_jobs(void **state)
{
        struct fix f;
        struct sched_config config = SCHED_CONFIG_DEFAULT;

        config.max_failures = 1;
        fix_begin(&f, &config, 1, 2);
        struct lineage *shuffled = fix_shuffle(&f, fix_rdd(&f, 2), 1);

        fix_submit(&f, shuffled);
        fix_submit(&f, shuffled);
        buf_reset(&f.log);
        fix_fail(&f, 0, 1, "x");
        fix_expect(&f, "job 0 failed\nfailed 0.0\njob 1 failed\n");
        assert_true(f.tasks.data[0].killed);
        fix_drain(&f);
        assert_int_equal(f.jobs_removed, 2);
        fix_end(&f);
}

static void a_very_long_lineage_needs_no_deep_stack(void **state)
{
        enum { DEPTH = 20000 };
        struct fix f;

        fix_begin(&f, NULL, 1, 1);
        struct lineage *rdd = fix_rdd(&f, 1);

        for (int i = 0; i < DEPTH; i++)
                rdd = i % 2 ? fix_shuffle(&f, rdd, 1) : fix_narrow(&f, rdd);
        fix_submit(&f, rdd);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        assert_int_equal(f.accepted, DEPTH / 2 + 1);
        fix_end(&f);
}

/* -------------------------------------------------------------------------------------------------- failures */

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

static void a_fatal_failure_is_not_retried(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 1, 2);
        fix_submit(&f, fix_rdd(&f, 5));
        fix_status(&f, 0, TASK_FAILED_FATAL, "bad result", NULL);
        sched_revive(f.s, f.now);
        assert_string_equal(buf_text(&f.message), "Job aborted due to stage failure: Task 0.0 in stage 0.0 (TID 0) "
                                                  "cannot succeed, not retrying: bad result");
        assert_int_equal(f.tasks.len, 2);
        assert_true(f.tasks.data[1].killed);
        assert_int_equal(f.sets_removed, 0); /* one task still runs */
        fix_drain(&f);
        assert_int_equal(f.sets_removed, 1);
        fix_end(&f);
}

static void fetch_failure_runs_the_lost_map_task_again(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 2, 1);
        fix_submit(&f, fix_shuffle(&f, fix_rdd(&f, 2), 2));
        fix_succeed(&f, 0, 0);
        fix_succeed(&f, 0, 1);
        fix_succeed(&f, 1, 0);
        buf_reset(&f.log);
        int lost = f.tasks.data[1].executor;

        fix_fetch_failed(&f, 1, 1, 0, 1, lost);
        fix_expect(&f, "failed 1.0\n");
        assert_int_equal(sched_map_outputs(f.s, 0)->available, 1);
        assert_int_equal(sched_deadline(f.s), f.now + 200000000);
        fix_tick(&f);
        fix_expect(&f, "submit 0.1 1\n");
        fix_succeed(&f, 0, 0);
        fix_expect(&f, "complete 0.1\nsubmit 1.1 1\n"); /* the existing result is not computed again */
        fix_drain(&f);
        fix_expect(&f, "complete 1.1\njob 0 succeeded\n");
        assert_int_equal(sched_deadline(f.s), INT64_MAX);
        fix_end(&f);
}

static void a_fetch_failure_forgets_all_of_that_executor(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 2, 1);
        fix_submit(&f, fix_shuffle(&f, fix_rdd(&f, 4), 1));
        fix_drain(&f);
        int e = f.tasks.data[0].executor;

        fix_submit(&f, fix_narrow(&f, f.lineages.data[1]));
        fix_fetch_failed(&f, 3, 0, 0, 0, e);
        assert_int_equal(sched_map_outputs(f.s, 0)->available, 2);
        buf_reset(&f.log);
        fix_tick(&f);
        fix_expect(&f, f.tasks.data[2].executor == e ? "submit 2.0 0 2\n" : "submit 2.0 0 3\n");
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

static void a_late_fetch_failure_changes_nothing(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 1, 2);
        fix_submit(&f, fix_shuffle(&f, fix_rdd(&f, 2), 2));
        fix_succeed(&f, 0, 0);
        fix_succeed(&f, 0, 1);
        int64_t late = fix_running(&f, 1, 1);
        struct task_fetch fetch = {.shuffle_id = 0, .map_partition = 0, .executor = 0};

        fix_fetch_failed(&f, 1, 0, 0, 0, 0);
        fix_tick(&f);
        fix_succeed(&f, 0, 0);
        fix_succeed(&f, 0, 1);
        buf_reset(&f.log);
        fix_status(&f, late, TASK_FETCH_FAILED, "late", &fetch);
        fix_expect(&f, "");
        assert_true(map_outputs_complete(sched_map_outputs(f.s, 0)));
        assert_int_equal(sched_deadline(f.s), INT64_MAX);
        sched_revive(f.s, f.now);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

static void too_many_fetch_failures_in_a_row_abort(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 1, 1);
        fix_submit(&f, fix_shuffle(&f, fix_rdd(&f, 1), 1));
        for (int i = 0; i < 4; i++) {
                fix_succeed(&f, 0, 0);
                fix_fetch_failed(&f, 1, 0, 0, 0, 0);
                if (i < 3)
                        fix_tick(&f);
        }
        assert_string_equal(
                buf_text(&f.message),
                "Job aborted due to stage failure: ResultStage 1 (count at test.c:1) has failed the maximum "
                "allowable number of times: 4. Most recent failure reason:\nFetchFailed");
        assert_int_equal(sched_deadline(f.s), INT64_MAX);
        fix_end(&f);
}

static void a_zombies_success_is_not_computed_again(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 2, 2);
        fix_submit(&f, fix_shuffle(&f, fix_rdd(&f, 1), 3));
        fix_succeed(&f, 0, 0);
        fix_fetch_failed(&f, 1, 0, 0, 0, -1);
        fix_tick(&f);
        fix_succeed(&f, 0, 0);
        buf_reset(&f.log);
        assert_int_equal(f.s->tasks.last->n, 3); /* attempt 1.1 has all three */
        for (size_t i = 0; i < f.tasks.len; i++)
                if (f.tasks.data[i].stage == 1 && f.tasks.data[i].stage_attempt == 0 && !f.tasks.data[i].ended)
                        fix_status(&f, (int64_t)i, TASK_SUCCEEDED, NULL, NULL);
        assert_int_equal(f.s->tasks.last->n_succeeded, 2);
        sched_revive(f.s, f.now);
        fix_drain(&f);
        assert_int_equal(f.accepted, 2 + 3);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

/* ------------------------------------------------------------------------------------------ lost executors */

static void lost_outputs_of_a_running_map_stage_are_made_again(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 2, 1);
        fix_submit(&f, fix_shuffle(&f, fix_rdd(&f, 4), 1));
        fix_succeed(&f, 0, 0); /* on executor 0, which takes task 2 */
        sched_executor_lost(f.s, 0, false, "killed", f.now);
        sched_revive(f.s, f.now);
        assert_int_equal(f.lost, 1);
        assert_int_equal(f.outputs_removed, 1);
        buf_reset(&f.log);
        for (int i = 0; i < 4; i++)
                for (size_t k = 0; k < f.tasks.len; k++)
                        if (!f.tasks.data[k].ended && f.tasks.data[k].stage == 0)
                                fix_succeed(&f, 0, f.tasks.data[k].launch.index);
        fix_expect(&f, "complete 0.0\nsubmit 1.0\n");
        assert_int_equal(f.tasks.len, 4 + 2 + 1);
        fix_drain(&f);
        fix_end(&f);
}

/* A decommissioned executor moves its outputs: none is computed again, and readers learn the new location. */
static void outputs_that_were_moved_outlive_their_maker(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 2, 1);
        struct lineage *shuffled = fix_shuffle(&f, fix_rdd(&f, 4), 1);

        fix_submit(&f, shuffled);
        fix_succeed(&f, 0, 0); /* on executor 0, which takes task 2 */
        const struct map_outputs *outputs = sched_map_outputs(f.s, 0);
        uint64_t handle = outputs->at[0].handle;
        assert_int_equal(outputs->at[0].executor, 0);
        sched_decommission_executor(f.s, 0, false);
        assert_false(sched_move_output(f.s, 0, 0, handle + 1, 0, 1)); /* of another attempt */
        assert_false(sched_move_output(f.s, 0, 1, handle, 0, 1));     /* of another partition */
        assert_false(sched_move_output(f.s, 0, 9, handle, 0, 1));
        assert_false(sched_move_output(f.s, 5, 0, handle, 0, 1));
        assert_false(sched_move_output(f.s, 0, 0, handle, 1, 0)); /* from without, to decommissioned */
        assert_false(sched_move_output(f.s, 0, 0, handle, 0, 7));
        uint64_t epoch = outputs->epoch;
        assert_true(sched_move_output(f.s, 0, 0, handle, 0, 1));
        assert_false(sched_move_output(f.s, 0, 0, handle, 0, 1));
        assert_int_equal(outputs->at[0].executor, 1);
        assert_int_not_equal(outputs->epoch, epoch);
        sched_executor_lost(f.s, 0, false, LOSS_DECOMMISSIONED, f.now);
        assert_int_equal(f.outputs_removed, 0);
        sched_revive(f.s, f.now);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        assert_int_equal(f.tasks.len, 4 + 1 + 1); /* task 2 again, which ran there */
        sched_executor_lost(f.s, 1, false, "gone", f.now);
        assert_int_equal(f.outputs_removed, 4);
        fix_end(&f);
}

static void lost_outputs_are_made_again_by_the_next_job(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 2, 1);
        struct lineage *shuffled = fix_shuffle(&f, fix_rdd(&f, 2), 1);

        fix_submit(&f, shuffled);
        fix_drain(&f);
        buf_reset(&f.log);
        uint64_t epoch = sched_map_outputs(f.s, 0)->epoch;

        sched_executor_lost(f.s, 1, false, "gone", f.now);
        assert_int_not_equal(sched_map_outputs(f.s, 0)->epoch, epoch);
        fix_submit(&f, shuffled);
        fix_expect(&f, "start 1\nsubmit 2.0 1\n");
        fix_drain(&f);
        fix_expect(&f, "complete 2.0\nsubmit 3.0\ncomplete 3.0\njob 1 succeeded\n");
        fix_end(&f);
}

static void a_shuffle_service_keeps_outputs(void **state)
{
        struct fix f;
        struct sched_config config = SCHED_CONFIG_DEFAULT;

        config.outputs_outlive_executors = true;
        fix_begin(&f, &config, 2, 1);
        fix_submit(&f, fix_shuffle(&f, fix_rdd(&f, 3), 1));
        fix_succeed(&f, 0, 0);
        sched_executor_lost(f.s, 0, false, "gone", f.now);
        sched_revive(f.s, f.now);
        assert_int_equal(sched_map_outputs(f.s, 0)->available, 1);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        assert_int_equal(f.outputs_removed, 0);
        fix_end(&f);
}

static void stored_outputs_survive_every_executor_and_host(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 2, 1);
        f.stored = MAP_OUTPUT_STORED;
        fix_submit(&f, fix_shuffle(&f, fix_rdd(&f, 3), 1));
        fix_succeed(&f, 0, 0);
        fix_succeed(&f, 0, 1);
        sched_executor_lost(f.s, 0, true, "killed", f.now);
        sched_host_lost(f.s, "host0", "worker lost", f.now);
        sched_host_lost(f.s, "host1", "worker lost", f.now);
        assert_int_equal(sched_map_outputs(f.s, 0)->available, 2);
        sched_revive(f.s, f.now);
        fix_succeed(&f, 0, 2);
        assert_true(map_outputs_complete(sched_map_outputs(f.s, 0)));
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        assert_int_equal(f.outputs_removed, 0);
        fix_end(&f);
}

static void an_output_that_is_stored_later_survives_a_late_failure(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 2, 1);
        fix_submit(&f, fix_shuffle(&f, fix_rdd(&f, 2), 1));
        fix_succeed(&f, 0, 0);
        fix_succeed(&f, 0, 1);
        const struct map_outputs *outputs = sched_map_outputs(f.s, 0);
        uint64_t handle = outputs->at[0].handle, stored = handle | MAP_OUTPUT_STORED;
        int maker = outputs->at[0].executor;
        assert_false(sched_store_output(f.s, 0, 0, handle + 1, maker, stored)); /* of another attempt */
        assert_false(sched_store_output(f.s, 0, 7, handle, maker, stored));
        assert_false(sched_store_output(f.s, 4, 0, handle, maker, stored));
        assert_false(sched_store_output(f.s, 0, 0, handle, 1 - maker, stored));
        assert_false(sched_store_output(f.s, 0, 0, handle, 9, stored));
        assert_true(sched_store_output(f.s, 0, 0, handle, maker, stored));
        assert_int_equal(outputs->at[0].handle, stored);
        fix_fetch_failed(&f, 1, 0, 0, 0, maker); /* it looked for the output at the executor */
        sched_executor_lost(f.s, maker, false, LOSS_DECOMMISSIONED, f.now);
        assert_int_equal(outputs->at[0].handle, stored);
        fix_tick(&f);
        sched_revive(f.s, f.now);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

static void a_failed_fetch_loses_the_stored_outputs_of_their_writer(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 2, 1);
        f.stored = MAP_OUTPUT_STORED;
        fix_submit(&f, fix_shuffle(&f, fix_rdd(&f, 4), 1));
        for (int i = 0; i < 4; i++)
                fix_succeed(&f, 0, i);
        const struct map_outputs *outputs = sched_map_outputs(f.s, 0);
        int writer = outputs->at[1].executor, others = 0;
        for (int i = 0; i < 4; i++)
                others += outputs->at[i].executor != writer;
        fix_fetch_failed(&f, 1, 0, 0, 1, writer);
        assert_int_equal(outputs->available, others);
        fix_tick(&f);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

static void a_failed_fetch_blames_the_executor_but_not_a_writer_to_a_store(void **state)
{
        for (int stored = 0; stored < 2; stored++) {
                struct fix f;
                struct sched_config config = SCHED_CONFIG_DEFAULT;

                config.exclusion.application = config.exclusion.fetch_failure = true;
                fix_begin(&f, &config, 2, 1);
                f.stored = stored ? MAP_OUTPUT_STORED : 0;
                fix_submit(&f, fix_shuffle(&f, fix_rdd(&f, 2), 2));
                fix_succeed(&f, 0, 0);
                fix_succeed(&f, 0, 1);
                int writer = sched_map_outputs(f.s, 0)->at[1].executor;
                fix_fetch_failed(&f, 1, 0, 0, 1, writer);
                assert_int_equal(sched_executor_excluded(f.s, writer), !stored);
                fix_fetch_failed(&f, 1, 1, 0, 1, writer); /* the output is unregistered already */
                assert_int_equal(sched_executor_excluded(f.s, writer), !stored);
                fix_tick(&f);
                fix_drain(&f);
                assert_int_equal(f.result, JOB_SUCCEEDED);
                fix_end(&f);
        }
}

/* The host's outputs are lost with it. They are computed again at once by a running stage, else by the next job. */
static void a_service_that_is_gone_loses_outputs(void **state)
{
        struct fix f;
        struct sched_config config = SCHED_CONFIG_DEFAULT;

        config.outputs_outlive_executors = true;
        fix_begin(&f, &config, 2, 1);
        struct lineage *shuffled = fix_shuffle(&f, fix_rdd(&f, 3), 1);

        fix_submit(&f, shuffled);
        fix_succeed(&f, 0, 0);
        int maker = sched_map_outputs(f.s, 0)->at[0].executor;
        _cleanup_free_ char *host = mem_strdup(sched_executor_host(f.s, maker));

        sched_executor_lost(f.s, maker, false, "worker lost", f.now);
        assert_int_equal(f.outputs_removed, 0);
        sched_host_lost(f.s, host, "worker lost", f.now);
        assert_int_equal(f.outputs_removed, 1);
        sched_add_executor(f.s, "next", "elsewhere", 1, f.now);
        sched_revive(f.s, f.now);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        assert_int_equal(sched_map_outputs(f.s, 0)->available, 3);
        buf_reset(&f.log);
        sched_host_lost(f.s, "elsewhere", "worker lost", f.now);
        int lost = 3 - sched_map_outputs(f.s, 0)->available;

        assert_true(lost > 0);
        int before = (int)f.tasks.len;

        fix_submit(&f, shuffled);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        assert_int_equal((int)f.tasks.len, before + lost + 1);
        assert_null(strstr(buf_text(&f.log), "failed"));
        fix_end(&f);
}

/* --------------------------------------------------------------------------------------------- cancellation */

static void cancelling_a_job_kills_its_tasks(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 1, 2);
        fix_submit(&f, fix_shuffle(&f, fix_rdd(&f, 3), 1));
        assert_int_equal(sched_cancel_job(f.s, 0, NULL, f.now), 1);
        assert_int_equal(sched_cancel_job(f.s, 0, NULL, f.now), 0);
        assert_int_equal(sched_cancel_job(f.s, 77, NULL, f.now), 0);
        fix_expect(&f, "start 0\nsubmit 0.0\nfailed 0.0\njob 0 cancelled\n");
        assert_string_equal(buf_text(&f.message), "Job 0 cancelled");
        assert_true(f.tasks.data[0].killed);
        assert_true(f.tasks.data[1].killed);
        assert_int_equal(f.jobs_removed, 0);
        fix_drain(&f);
        assert_int_equal(f.tasks.len, 2);
        assert_int_equal(f.jobs_removed, 1);
        fix_end(&f);
}

static void groups_tags_and_stages_are_cancelled_by_name(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 1, 1);
        struct lineage *rdd = fix_rdd(&f, 1);

        fix_submit_with(&f, rdd, "spark.jobGroup.id", "g");
        fix_submit_with(&f, rdd, "spark.jobGroup.id", "h");
        fix_submit_with(&f, rdd, "spark.jobGroup.id", "g");
        fix_submit_with(&f, rdd, "spark.job.tags", "abc,x,ab");
        fix_submit_with(&f, rdd, "spark.job.tags", "xx");
        fix_submit(&f, rdd);
        assert_int_equal(sched_cancel_group(f.s, "g", NULL, f.now), 2);
        assert_string_equal(buf_text(&f.message), "Job 2 cancelled part of cancelled job group g");
        assert_int_equal(sched_cancel_tag(f.s, "x", NULL, f.now), 1);
        assert_string_equal(buf_text(&f.message), "Job 3 cancelled part of cancelled job tag x");
        assert_int_equal(sched_cancel_stage(f.s, 4, NULL, f.now), 1);
        assert_string_equal(buf_text(&f.message), "Job 4 cancelled because Stage 4 was cancelled");
        assert_int_equal(sched_cancel_all(f.s, f.now), 2);
        assert_string_equal(buf_text(&f.message), "Job 5 cancelled as part of cancellation of all jobs");
        fix_drain(&f);
        assert_int_equal(f.jobs_removed, 6);
        fix_end(&f);
}

static void jobs_that_never_ended_are_released(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 1, 2);
        struct lineage *shuffled = fix_shuffle(&f, fix_rdd(&f, 2), 1);

        fix_submit(&f, shuffled);
        fix_succeed(&f, 0, 0);
        fix_submit(&f, shuffled);
        sched_cancel_job(f.s, 1, NULL, f.now);
        int ended = f.jobs_ended;
        int outputs = f.outputs_removed;

        fix_end(&f);
        assert_int_equal(f.jobs_ended, ended);
        assert_int_equal(f.outputs_removed, outputs + 1);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(one_stage_runs_all_partitions),
                cmocka_unit_test(a_job_without_partitions_succeeds_at_once),
                cmocka_unit_test(a_partition_that_is_not_there_is_refused),
                cmocka_unit_test(a_job_on_some_partitions_runs_only_these),
                cmocka_unit_test(a_shuffle_makes_two_stages),
                cmocka_unit_test(a_join_waits_for_both_sides),
                cmocka_unit_test(an_rdd_used_twice_is_one_stage),
                cmocka_unit_test(existing_outputs_skip_their_stage),
                cmocka_unit_test(only_what_is_cached_whole_cuts_the_graph),
                cmocka_unit_test(two_jobs_share_a_running_stage),
                cmocka_unit_test(a_failing_shared_stage_fails_both_jobs),
                cmocka_unit_test(a_very_long_lineage_needs_no_deep_stack),
                cmocka_unit_test(a_task_is_retried_until_max_failures),
                cmocka_unit_test(a_fatal_failure_is_not_retried),
                cmocka_unit_test(fetch_failure_runs_the_lost_map_task_again),
                cmocka_unit_test(a_fetch_failure_forgets_all_of_that_executor),
                cmocka_unit_test(a_late_fetch_failure_changes_nothing),
                cmocka_unit_test(too_many_fetch_failures_in_a_row_abort),
                cmocka_unit_test(a_zombies_success_is_not_computed_again),
                cmocka_unit_test(lost_outputs_of_a_running_map_stage_are_made_again),
                cmocka_unit_test(outputs_that_were_moved_outlive_their_maker),
                cmocka_unit_test(stored_outputs_survive_every_executor_and_host),
                cmocka_unit_test(an_output_that_is_stored_later_survives_a_late_failure),
                cmocka_unit_test(a_failed_fetch_loses_the_stored_outputs_of_their_writer),
                cmocka_unit_test(a_failed_fetch_blames_the_executor_but_not_a_writer_to_a_store),
                cmocka_unit_test(lost_outputs_are_made_again_by_the_next_job),
                cmocka_unit_test(a_shuffle_service_keeps_outputs),
                cmocka_unit_test(a_service_that_is_gone_loses_outputs),
                cmocka_unit_test(cancelling_a_job_kills_its_tasks),
                cmocka_unit_test(groups_tags_and_stages_are_cancelled_by_name),
                cmocka_unit_test(jobs_that_never_ended_are_released),
        };

        log_threshold = LOG_OFF;
        return cmocka_run_group_tests_name("sched/dag", tests, NULL, NULL);
}
