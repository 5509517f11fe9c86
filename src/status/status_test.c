/* The rules by which events become entities, one test for each, and random worlds; see status.h. */
#include "status/status.h"

#include "base/mem.h"
#include "unit/cases.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static const struct executor_ref one = {.id = "1", .host = "h1"}, two = {.id = "2", .host = "h2"};

static struct stage_info stage_info(int id, int attempt, int tasks)
{
        return (struct stage_info){.id = id, .attempt = attempt, .name = "map at a.c:1", .tasks = tasks};
}

static void start_job(struct status *s, int id, const struct stage_info *stages, size_t n)
{
        status_on_job_start(s, &(struct job_start){.id = id, .ms = 1000 + id, .stages = stages, .n_stages = n});
}

static struct status_stage *submit(struct status *s, int id, int attempt, int tasks)
{
        struct stage_info info = stage_info(id, attempt, tasks);
        info.submission_ms = 2000;
        status_on_stage_submitted(s, &(struct stage_submitted){.stage = info});
        return status_find_stage(s, id, attempt);
}

static void complete(struct status *s, int id, int attempt, int tasks, const char *failure)
{
        struct stage_info info = stage_info(id, attempt, tasks);
        info.submission_ms = 2000;
        info.completion_ms = 3000 + id;
        info.failure_reason = failure;
        status_on_stage_completed(s, &(struct stage_completed){.stage = info});
}

static struct task_info task(int64_t id, int stage, int index)
{
        return (struct task_info){.id = id,
                                  .launch_ms = 2000 + id,
                                  .executor = &one,
                                  .stage_id = stage,
                                  .index = index,
                                  .partition = index};
}

static void run(struct status *s, struct task_info info, enum task_state state, const struct task_detail *detail)
{
        status_on_task_start(s, &(struct task_start){.info = info});
        status_on_task_end(s,
                           &(struct task_end){.info = info,
                                              .finish_ms = info.launch_ms + 100,
                                              .state = (uint8_t)state,
                                              .detail = detail,
                                              .metrics = {.executor_run_ms = 90, .jvm_gc_ms = 1, .input_bytes = 10}});
}

/* A status with job 1 and its active stage 1 of @tasks tasks. */
static struct status *with_stage(int tasks)
{
        struct status *s = status_new(NULL);
        struct stage_info info = stage_info(1, 0, tasks);
        start_job(s, 1, &info, 1);
        submit(s, 1, 0, tasks);
        return s;
}

static void counts_each_reason_as_spark_does(void **state)
{
        static const struct task_detail killed = {.message = "another attempt succeeded"};
        static const struct task_detail denied = {.job_id = 1, .commit_partition = 2, .commit_attempt = 3};
        static const struct task_detail lost = {.executor_id = "1", .message = "gone"};
        static const struct task_detail failed = {
                .class_name = "E", .description = "d", .full_stack_trace = "E: d\n\tat f"};
        static const struct task_detail fetch = {.block_manager = {"2", "h2", 7},
                                                 .shuffle_id = 1,
                                                 .map_id = 5,
                                                 .map_index = INT_MIN,
                                                 .reduce_id = 4,
                                                 .message = "m"};
        static const struct task_detail again = {.reason = "Resubmitted"};
        struct status *s = with_stage(10);
        run(s, task(0, 1, 0), TASK_SUCCEEDED, NULL);
        run(s, task(1, 1, 1), TASK_KILLED, &killed);
        run(s, task(2, 1, 2), TASK_COMMIT_DENIED, &denied);
        run(s, task(3, 1, 3), TASK_EXECUTOR_LOST, &lost);
        run(s, task(4, 1, 4), TASK_FAILED, &failed);
        run(s, task(5, 1, 5), TASK_FETCH_FAILED, &fetch);
        run(s, task(6, 1, 0), TASK_FAILED, &again);
        const struct status_stage *stage = status_find_stage(s, 1, 0);
        const struct status_job *job = status_find_job(s, 1);
        assert_int_equal(stage->completed_tasks, 1);
        assert_int_equal(stage->killed_tasks, 2);
        assert_int_equal(stage->failed_tasks, 4);
        assert_int_equal(stage->active_tasks, 1); /* the resubmitted one: its first end is missing */
        assert_int_equal(job->completed_tasks, 1);
        assert_int_equal(job->killed_tasks, 2);
        assert_int_equal(job->failed_tasks, 4);
        assert_int_equal(job->completed_indices, 1);
        assert_int_equal(stage->killed.len, 2);
        assert_string_equal(stage->killed.data[0].reason, "another attempt succeeded");
        assert_string_equal(stage->killed.data[1].reason,
                            "TaskCommitDenied (Driver denied task commit) for job: 1, partition: 2, attemptNumber: 3");
        static const char *const errors[] = {
                NULL,
                "another attempt succeeded",
                "TaskCommitDenied (Driver denied task commit) for job: 1, partition: 2, attemptNumber: 3",
                "ExecutorLostFailure (executor 1 exited caused by one of the running tasks) Reason: gone",
                "E: d\n\tat f",
                "FetchFailed(BlockManagerId(2, h2, 7, None), shuffleId=1, mapIndex=Unknown, mapId=5, reduceId=4, "
                "message=\nm\n)",
                "Resubmitted (resubmitted due to lost executor)",
        };
        for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
                CASE_LABEL("task %zu", i);
                struct status_task t;
                status_get_task(s, stage, i, &t);
                assert_int_equal(t.id, i);
                if (errors[i])
                        assert_string_equal(t.note->error, errors[i]);
                else
                        assert_null(t.note);
        }
        /* Executors count killed tasks neither as completed nor as failed, and nothing of resubmitted ones twice. */
        const struct status_executor *x = status_find_executor(s, "1");
        assert_int_equal(x->total_tasks, 7);
        assert_int_equal(x->completed_tasks, 1);
        assert_int_equal(x->failed_tasks, 4);
        assert_int_equal(x->duration_ms, 700);
        assert_int_equal(x->gc_ms, 3); /* the success, the kill, the exception */
        status_free(s);
}

static void skips_stages_that_were_not_submitted(void **state)
{
        struct status *s = status_new(NULL);
        struct stage_info stages[] = {stage_info(1, 0, 5), stage_info(2, 0, 3)};
        start_job(s, 1, stages, 2);
        const struct status_job *job = status_find_job(s, 1);
        assert_int_equal(job->tasks, 8);
        submit(s, 2, 0, 3);
        assert_int_equal(job->active_stages, 1);
        complete(s, 2, 0, 3, NULL);
        status_on_job_end(s, &(struct job_end){.id = 1, .ms = 5000});
        assert_int_equal(job->state, STATUS_JOB_SUCCEEDED);
        assert_int_equal(job->completed_stages, 1);
        assert_int_equal(job->skipped_stages, 1);
        assert_int_equal(job->skipped_tasks, 5);
        assert_int_equal(job->active_stages, 0);
        assert_int_equal(status_find_stage(s, 1, 0)->state, STATUS_STAGE_SKIPPED);
        assert_int_equal(status_find_stage(s, 2, 0)->state, STATUS_STAGE_COMPLETE);
        status_free(s);
}

static void a_stage_submitted_again_leaves_the_completed_ones(void **state)
{
        struct status *s = with_stage(2);
        const struct status_job *job = status_find_job(s, 1);
        run(s, task(0, 1, 0), TASK_SUCCEEDED, NULL);
        run(s, task(1, 1, 1), TASK_SUCCEEDED, NULL);
        complete(s, 1, 0, 2, NULL);
        assert_int_equal(job->completed_stages, 1);
        submit(s, 1, 1, 1);
        assert_int_equal(job->completed_stages, 0);
        struct task_info again = task(2, 1, 1);
        again.stage_attempt = 1;
        run(s, again, TASK_SUCCEEDED, NULL);
        complete(s, 1, 1, 1, NULL);
        assert_int_equal(job->completed_stages, 1);
        assert_int_equal(job->completed_indices, 2);
        assert_int_equal(status_find_stage(s, 1, 1)->indices.n, 1);
        complete(s, 1, 1, 1, NULL); /* the event again changes nothing */
        assert_int_equal(job->completed_stages, 1);
        status_free(s);
}

static void names_a_job_after_its_last_stage(void **state)
{
        struct status *s = status_new(NULL);
        struct stage_info stages[] = {stage_info(4, 0, 1), stage_info(3, 0, 1)};
        stages[0].name = "collect at b.c:2";
        _cleanup_(strmap_deinit) struct strmap properties = STRMAP_INIT;
        strmap_set(&properties, "spark.jobGroup.id", "group");
        strmap_set(&properties, "spark.job.description", "what it does");
        strmap_set(&properties, "spark.job.tags", "a,b");
        strmap_set(&properties, "spark.scheduler.pool", "fast");
        status_on_job_start(
                s, &(struct job_start){.id = 1, .ms = 5, .stages = stages, .n_stages = 2, .properties = &properties});
        const struct status_job *job = status_find_job(s, 1);
        assert_string_equal(job->name, "collect at b.c:2");
        assert_string_equal(job->group, "group");
        assert_string_equal(job->description, "what it does");
        assert_int_equal(job->tags.len, 2);
        assert_string_equal(job->tags.data[1], "b");
        assert_string_equal(status_find_stage(s, 3, 0)->pool, "default");
        status_on_stage_submitted(s, &(struct stage_submitted){.stage = stages[1], .properties = &properties});
        assert_string_equal(status_find_stage(s, 3, 0)->pool, "fast");
        assert_string_equal(status_find_stage(s, 3, 0)->description, "what it does");
        assert_int_equal(s->pools.data[0].stages.len, 1);
        complete(s, 3, 0, 1, "failed");
        assert_int_equal(s->pools.data[0].stages.len, 0);
        assert_int_equal(job->failed_stages, 1);
        status_free(s);
}

static void retains_the_newest_jobs_and_stages(void **state)
{
        struct status *s = status_new(&(struct status_options){.retained_jobs = 20, .retained_stages = 30});
        for (int i = 0; i < 200; i++) {
                struct stage_info stages[] = {stage_info(2 * i, 0, 1), stage_info(2 * i + 1, 0, 1)};
                start_job(s, i, stages, 2);
                submit(s, 2 * i + 1, 0, 1);
                complete(s, 2 * i + 1, 0, 1, NULL);
                status_on_job_end(s, &(struct job_end){.id = i, .ms = 10000 + i});
                assert_true(s->jobs.len <= 20);
                assert_true(s->stages.len <= 30);
        }
        assert_null(status_find_job(s, 100));
        assert_non_null(status_find_job(s, 199));
        assert_non_null(status_find_stage(s, 399, 0));
        assert_int_equal(s->totals.succeeded_jobs, 200);
        assert_int_equal(s->totals.completed_stages, 200);
        assert_int_equal(s->totals.skipped_stages, 200);
        /* Skipped stages have no completion time and go first. */
        for (size_t i = 0; i < s->stages.len; i++)
                assert_true(s->stages.data[i]->state != STATUS_STAGE_SKIPPED || s->stages.data[i]->id >= 300);
        status_free(s);
}

static void sums_keep_removed_tasks(void **state)
{
        struct status *s = status_new(&(struct status_options){.retained_tasks = 100, .is_live = true});
        struct stage_info info = stage_info(1, 0, 5000);
        start_job(s, 1, &info, 1);
        submit(s, 1, 0, 5000);
        for (int i = 0; i < 5000; i++)
                run(s, task(i, 1, i), i % 10 ? TASK_SUCCEEDED : TASK_FAILED, NULL);
        const struct status_stage *stage = status_find_stage(s, 1, 0);
        int64_t value;
        assert_int_equal(stage->metrics.executor_run_ms, 5000 * 90);
        assert_int_equal(stage->completed_tasks, 4500);
        assert_true(stage->columns.n_retained <= 100);
        assert_true(task_columns_quantiles(&stage->columns, TASK_DURATION, (const double[]){0.5}, &value, 1) <= 100);
        assert_int_equal(value, 100);
        assert_true(stage->notes.len <= 100);
        status_free(s);
}

static void executors_come_and_go(void **state)
{
        struct status *s = status_new(&(struct status_options){.retained_dead_executors = 10});
        _cleanup_(strmap_deinit) struct strmap logs = STRMAP_INIT;
        strmap_set(&logs, "stdout", "http://h/x");
        status_on_block_manager_added(
                s, &(struct block_manager_added){.manager = {"driver", "d", 5}, .max_on_heap_memory = 9});
        for (int i = 0; i < 30; i++) {
                char id[8];
                snprintf(id, sizeof(id), "%d", i);
                status_on_executor_added(
                        s,
                        &(struct executor_added){.id = id, .host = "h1", .ms = i, .total_cores = 4, .log_urls = &logs});
                status_on_executor_removed(s, &(struct executor_removed){.id = id, .ms = 100 + i, .reason = "killed"});
        }
        assert_int_equal(s->executors.len, 11);
        assert_null(status_find_executor(s, "19"));
        const struct status_executor *x = status_find_executor(s, "29");
        assert_false(x->is_active);
        assert_string_equal(x->removed_reason, "killed");
        assert_string_equal(strmap_get(&x->logs, "stdout"), "http://h/x");
        assert_int_equal(x->max_tasks, 4);
        const struct status_executor *driver = status_find_executor(s, "driver");
        assert_int_equal(driver->cores, 0);
        assert_string_equal(driver->host_port, "d:5");
        assert_true(driver->has_memory_info);
        status_free(s);
}

static void an_excluded_node_excludes_all_but_the_driver(void **state)
{
        struct status *s = with_stage(2);
        status_on_executor_added(s, &(struct executor_added){.id = "driver", .host = "h1"});
        status_on_executor_added(s, &(struct executor_added){.id = "1", .host = "h1"});
        status_on_executor_added(s, &(struct executor_added){.id = "2", .host = "h2"});
        status_on_exclusion_changed(s, &(struct exclusion_changed){.is_host = true, .id = "h1", .stage_id = -1});
        assert_true(status_find_executor(s, "1")->excluded);
        assert_false(status_find_executor(s, "2")->excluded);
        assert_false(status_find_executor(s, "driver")->excluded);
        status_on_exclusion_changed(s, &(struct exclusion_changed){.id = "2", .stage_id = 1});
        assert_int_equal(status_find_executor(s, "2")->excluded_in_stages.len, 1);
        complete(s, 1, 0, 2, NULL); /* a stage's exclusion ends with it */
        assert_int_equal(status_find_executor(s, "2")->excluded_in_stages.len, 0);
        status_on_exclusion_changed(
                s, &(struct exclusion_changed){.is_host = true, .id = "h1", .stage_id = -1, .lifted = true});
        assert_false(status_find_executor(s, "1")->excluded);
        status_free(s);
}

static void update_block(struct status *s, const char *executor, const char *block, enum fst_storage_level level,
                         int64_t memory, int64_t disk)
{
        status_on_block_updated(s, &(struct block_updated){{.manager = {executor, "h", 1},
                                                            .block_id = block,
                                                            .level = level,
                                                            .memory_size = memory,
                                                            .disk_size = disk}});
}

static void follows_the_blocks_of_rdds(void **state)
{
        struct status *s = status_new(NULL);
        const struct rdd_info rdd = {.id = 7, .name = "words", .level = FST_STORAGE_MEMORY_AND_DISK, .partitions = 4};
        struct stage_info info = stage_info(1, 0, 1);
        info.rdds = &rdd;
        info.n_rdds = 1;
        start_job(s, 1, &info, 1);
        assert_null(status_find_rdd(s, 7)); /* not before the stage is submitted */
        status_on_stage_submitted(s, &(struct stage_submitted){.stage = info});
        status_on_block_manager_added(
                s, &(struct block_manager_added){.manager = {"1", "h1", 5}, .max_on_heap_memory = 1000});
        status_on_block_manager_added(
                s, &(struct block_manager_added){.manager = {"2", "h2", 5}, .max_on_heap_memory = 1000});
        update_block(s, "1", "rdd_7_0", FST_STORAGE_MEMORY_AND_DISK, 100, 0);
        update_block(s, "2", "rdd_7_0", FST_STORAGE_MEMORY_AND_DISK, 100, 0);
        update_block(s, "1", "rdd_7_3", FST_STORAGE_DISK_ONLY, 0, 50);
        update_block(s, "1", "rdd_7_x", FST_STORAGE_DISK_ONLY, 0, 50);
        const struct status_rdd *r = status_find_rdd(s, 7);
        assert_string_equal(r->level, "Disk Memory Deserialized 1x Replicated");
        assert_int_equal(r->cached.len, 2);
        assert_int_equal(r->memory_used, 200);
        assert_string_equal(r->cached.data[0].level, "Memory Deserialized 1x Replicated");
        assert_int_equal(r->cached.data[0].executors.len, 2);
        assert_int_equal(r->distributions.len, 2);
        assert_int_equal(status_find_executor(s, "1")->memory_used, 100);
        update_block(s, "1", "rdd_7_0", FST_STORAGE_NONE, 0, 0);
        assert_int_equal(r->cached.data[0].executors.len, 1);
        status_on_executor_removed(s, &(struct executor_removed){.id = "2", .ms = 1});
        assert_int_equal(r->cached.len, 1);
        status_on_unpersist_rdd(s, &(struct unpersist_rdd){.rdd_id = 7});
        assert_null(status_find_rdd(s, 7));
        status_free(s);
}

static void corrects_counts_after_lost_ends(void **state)
{
        struct status *s = with_stage(3);
        run(s, task(0, 1, 0), TASK_SUCCEEDED, NULL);
        status_on_task_start(s, &(struct task_start){.info = task(1, 1, 1)}); /* its end is lost */
        struct task_end end = {.info = task(2, 1, 2), .finish_ms = 5000};     /* its start is lost */
        status_on_task_end(s, &end);
        complete(s, 1, 0, 3, NULL);
        const struct status_stage *stage = status_find_stage(s, 1, 0);
        assert_int_equal(s->totals.unknown_ends, 1);
        status_on_application_end(s, &(struct application_end){.ms = 9000, .exit_code = 0});
        assert_int_equal(stage->active_tasks, 0);
        assert_int_equal(status_find_job(s, 1)->active_tasks, 0);
        assert_int_equal(status_find_executor(s, "1")->active_tasks, 0);
        assert_int_equal(s->totals.lost_ends, stage->lost_ends);
        status_free(s);
}

/* An application that ends while killed tasks run logs some of their ends after its own, and others never. */
static void counts_ends_after_the_application(void **state)
{
        static const struct task_detail lost = {.message = "the application ended"};
        struct status *s = with_stage(3);
        struct task_info copy = task(2, 1, 1);
        copy.speculative = true;
        for (int i = 0; i < 2; i++)
                status_on_task_start(s, &(struct task_start){.info = task(i, 1, i)});
        status_on_task_start(s, &(struct task_start){.info = copy});
        complete(s, 1, 0, 3, "cancelled");
        status_on_job_end(s, &(struct job_end){.id = 1, .ms = 8000, .failure = "cancelled"});
        status_on_application_end(s, &(struct application_end){.ms = 9000, .exit_code = 0});
        const struct status_stage *stage = status_find_stage(s, 1, 0);
        assert_int_equal(stage->lost_ends, 3);
        assert_int_equal(stage->speculation.active, 0);
        struct task_end end = {.info = task(0, 1, 0), .state = TASK_EXECUTOR_LOST, .finish_ms = 9001, .detail = &lost};
        status_on_task_end(s, &end);
        assert_int_equal(stage->lost_ends, 2);
        assert_int_equal(s->totals.lost_ends, 2);
        assert_int_equal(stage->active_tasks, 0);
        assert_int_equal(status_find_job(s, 1)->active_tasks, 0);
        assert_int_equal(status_find_job(s, 1)->failed_tasks, 1);
        end.info = task(1, 1, 1);
        status_on_task_end(s, &end);
        end.info = copy;
        status_on_task_end(s, &end);
        assert_int_equal(stage->lost_ends, 0);
        assert_int_equal(s->totals.lost_ends, 0);
        assert_int_equal(status_find_job(s, 1)->failed_tasks, 3);
        status_free(s);
}

static void counts_resubmitted_task_as_ended_once(void **state)
{
        static const struct task_detail resubmitted = {.reason = "Resubmitted"};
        struct status *s = with_stage(3);
        run(s, task(0, 1, 0), TASK_SUCCEEDED, NULL);
        for (int i = 1; i < 3; i++)
                status_on_task_start(s, &(struct task_start){.info = task(i, 1, i)});
        struct task_end end = {.info = task(0, 1, 0), .state = TASK_FAILED, .finish_ms = 5000, .detail = &resubmitted};
        status_on_task_end(s, &end);
        const struct status_stage *stage = status_find_stage(s, 1, 0);
        assert_int_equal(stage->active_tasks, 2);
        assert_int_equal(stage->executors.data[0].active_tasks, 2);
        assert_int_equal(status_find_job(s, 1)->active_tasks, 2);
        assert_int_equal(status_find_executor(s, "1")->active_tasks, 2);
        status_free(s);
}

/* Only the event that its output was lost says that the task succeeded. */
static void shows_resubmitted_task_without_end_as_successful(void **state)
{
        static const struct task_detail resubmitted = {.reason = "Resubmitted"};
        struct status *s = with_stage(2);
        struct status_task shown;
        run(s, task(0, 1, 0), TASK_FAILED, &resubmitted);
        const struct status_stage *stage = status_find_stage(s, 1, 0);
        status_get_task(s, stage, 0, &shown);
        assert_int_equal(shown.status, TASK_ROW_SUCCESS);
        assert_int_equal(stage->failed_tasks, 1);
        status_free(s);
}

static void counts_speculative_attempts(void **state)
{
        static const struct task_detail killed = {.message = "another attempt succeeded"};
        struct status *s = with_stage(2);
        struct task_info copy = task(1, 1, 0);
        copy.speculative = true;
        copy.executor = &two;
        run(s, task(0, 1, 0), TASK_SUCCEEDED, NULL);
        run(s, copy, TASK_KILLED, &killed);
        const struct status_stage *stage = status_find_stage(s, 1, 0);
        assert_int_equal(stage->speculation.tasks, 1);
        assert_int_equal(stage->speculation.killed, 1);
        assert_int_equal(stage->speculation.active, 0);
        assert_int_equal(stage->executors.len, 2);
        assert_int_equal(stage->executors.data[1].killed_tasks, 1);
        status_free(s);
}

/* ------------------------------------------------------------------------------------------------ random worlds */

static uint64_t world_state;

static int world_random(int n)
{
        world_state = world_state * 6364136223846793005u + 1442695040888963407u;
        return (int)((world_state >> 33) % (uint64_t)n);
}

static void world_task_event(struct status *s)
{
        static const char *const ids[] = {"driver", "0", "1", "2", "3"};
        static struct executor_ref refs[ARRAY_SIZE(ids)];
        int n = world_random((int)ARRAY_SIZE(ids));
        refs[n] = (struct executor_ref){.id = ids[n], .host = "h"};
        struct accumulable acc = {.id = 5, .name = "acc", .update = "1", .value = "2"};
        struct executor_peaks peaks = {{7, 8, 9}};
        struct task_detail detail = {.message = "m",
                                     .reason = world_random(9) ? NULL : "Resubmitted",
                                     .accumulables = &acc,
                                     .n_accumulables = (size_t)world_random(2),
                                     .peaks = world_random(3) ? NULL : &peaks};
        struct task_info info = {.id = world_random(3000),
                                 .launch_ms = world_random(10000),
                                 .executor = &refs[n],
                                 .stage_id = world_random(12),
                                 .stage_attempt = world_random(2),
                                 .index = world_random(50) - 1,
                                 .locality = (uint8_t)world_random(9),
                                 .speculative = world_random(2)};
        if (world_random(2))
                status_on_task_start(s, &(struct task_start){.info = info});
        else if (world_random(20))
                status_on_task_end(s, &(struct task_end){.info = info,
                                                         .finish_ms = world_random(20000),
                                                         .state = (uint8_t)world_random(TASK_RUNNING + 1),
                                                         .presence = (uint8_t)world_random(3),
                                                         .detail = world_random(2) ? &detail : NULL,
                                                         .metrics = {.executor_run_ms = world_random(1000)}});
        else
                status_on_task_getting_result(s, &(struct task_getting_result){info, world_random(10000)});
}

static void world_rare_event(struct status *s)
{
        char id[8], block[24];
        snprintf(id, sizeof(id), "%d", world_random(4));
        snprintf(block, sizeof(block), "rdd_%d_%d", world_random(3), world_random(9));
        struct rdd_info rdd = {.id = world_random(3), .name = "r", .level = FST_STORAGE_MEMORY_ONLY, .partitions = 9};
        struct stage_info stages[2] = {stage_info(world_random(12), world_random(2), world_random(60)),
                                       stage_info(world_random(12), 0, world_random(60))};
        stages[0].rdds = &rdd;
        stages[0].n_rdds = 1;
        stages[0].submission_ms = world_random(1000);
        stages[0].completion_ms = world_random(2000);
        stages[0].failure_reason = world_random(4) ? NULL : "failed";
        switch (world_random(11)) {
        case 0:
                status_on_job_start(s, &(struct job_start){.id = world_random(30),
                                                           .ms = 1,
                                                           .stages = stages,
                                                           .n_stages = (size_t)world_random(3)});
                break;
        case 1:
                status_on_job_end(
                        s, &(struct job_end){.id = world_random(30), .ms = 2, .failure = world_random(2) ? "f" : NULL});
                break;
        case 2:
                status_on_stage_submitted(s, &(struct stage_submitted){.stage = stages[0]});
                break;
        case 3:
                status_on_stage_completed(s, &(struct stage_completed){.stage = stages[0]});
                break;
        case 4:
                status_on_executor_added(s, &(struct executor_added){.id = id, .host = "h", .ms = 1, .total_cores = 2});
                break;
        case 5:
                status_on_executor_removed(
                        s, &(struct executor_removed){.id = id, .ms = world_random(100), .reason = "x"});
                break;
        case 6:
                update_block(s, id, block, (enum fst_storage_level)world_random(FST_STORAGE_OFF_HEAP + 1),
                             world_random(100), world_random(100));
                break;
        case 7:
                status_on_unpersist_rdd(s, &(struct unpersist_rdd){.rdd_id = world_random(3)});
                break;
        case 8:
                status_on_exclusion_changed(s, &(struct exclusion_changed){.is_host = world_random(2),
                                                                           .id = world_random(2) ? id : "h",
                                                                           .stage_id = world_random(12) - 1,
                                                                           .lifted = world_random(2)});
                break;
        case 9:
                status_on_stage_executor_metrics(
                        s, &(struct stage_executor_metrics){.executor_id = id, .stage_id = world_random(12)});
                break;
        default:
                status_on_application_end(s, &(struct application_end){.ms = 1});
                break;
        }
}

static void world_check(const struct status *s)
{
        assert_true(s->jobs.len <= 8 + 30); /* running jobs are not removed */
        for (size_t i = 0; i < s->stages.len; i++) {
                const struct status_stage *stage = s->stages.data[i];
                int64_t active = 0, killed = 0;
                assert_true(stage->columns.n_retained <= 40);
                assert_true(stage->active_tasks >= 0);
                assert_int_equal(status_find_stage(s, stage->id, stage->attempt) == stage, 1);
                for (size_t k = 0; k < stage->executors.len; k++)
                        active += stage->executors.data[k].active_tasks;
                for (size_t k = 0; k < stage->killed.len; k++)
                        killed += stage->killed.data[k].n;
                assert_true(killed <= stage->killed_tasks);
                assert_true(active >= 0);
                for (size_t row = 0; row < stage->columns.n_rows; row++) {
                        struct status_task t;
                        if (task_columns_is_removed(&stage->columns, row))
                                continue;
                        status_get_task(s, stage, row, &t);
                        assert_non_null(t.executor_id);
                }
                for (size_t k = 0; k < stage->notes.len; k++)
                        assert_false(task_columns_is_removed(&stage->columns, stage->notes.data[k].row));
        }
        for (size_t i = 0; i < s->executors.len; i++) {
                assert_true(s->executors.data[i]->active_tasks >= 0);
                assert_true(s->executors.data[i]->memory_used >= 0);
        }
        for (size_t i = 0; i < s->rdds.len; i++)
                for (size_t k = 0; k < s->rdds.data[i]->cached.len; k++)
                        assert_true(s->rdds.data[i]->cached.data[k].executors.len > 0);
}

static void random_worlds_keep_the_invariants(void **state)
{
        for (int seed = 1; seed <= 60; seed++) {
                CASE_LABEL("seed %d", seed);
                world_state = (uint64_t)seed;
                struct status *s = status_new(&(struct status_options){.retained_jobs = 8,
                                                                       .retained_stages = 6,
                                                                       .retained_tasks = 40,
                                                                       .retained_dead_executors = 3,
                                                                       .is_live = seed & 1});
                for (int i = 0; i < 3000; i++) {
                        if (world_random(20))
                                world_task_event(s);
                        else
                                world_rare_event(s);
                        if (i % 100 == 0)
                                world_check(s);
                }
                world_check(s);
                status_free(s);
        }
}

static void a_success_whose_output_was_lost_stays(void **state)
{
        const struct task_detail resubmitted = {.reason = "Resubmitted"};
        struct status *s = status_new(&(struct status_options){.is_live = true});
        struct task_end e = {.info = task(1, 3, 0), .finish_ms = 2101, .state = TASK_SUCCEEDED};
        struct status_task t;
        submit(s, 3, 0, 2);
        e.metrics.executor_run_ms = 70;
        status_on_task_start(s, &(struct task_start){.info = e.info});
        status_on_task_end(s, &e);
        e.state = TASK_FAILED;
        e.presence = METRICS_ABSENT;
        e.detail = &resubmitted;
        status_on_task_end(s, &e);
        const struct status_stage *stage = status_find_stage(s, 3, 0);
        status_get_task(s, stage, 0, &t);
        assert_int_equal(t.status, TASK_ROW_SUCCESS);
        assert_int_equal(t.metrics.executor_run_ms, 70);
        assert_null(t.note);
        assert_int_equal(stage->failed_tasks, 1);
        assert_int_equal(stage->executors.data[0].task_ms, e.finish_ms - e.info.launch_ms);
        status_free(s);
}

static void history_gives_lost_tasks_zero_metrics(void **state)
{
        static const struct {
                const char *label;
                bool is_live, has_metrics;
        } rows[] = {{"live", true, false}, {"history", false, true}};
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                CASE_LABEL("%s", rows[i].label);
                struct status *s = status_new(&(struct status_options){.is_live = rows[i].is_live});
                struct status_task t;
                submit(s, 3, 0, 2);
                run(s, task(1, 3, 0), TASK_EXECUTOR_LOST, NULL);
                status_get_task(s, status_find_stage(s, 3, 0), 0, &t);
                assert_int_equal(t.has_metrics, rows[i].has_metrics);
                status_free(s);
        }
}

static void knows_peaks_only_from_executors_that_reported(void **state)
{
        struct status *s = status_new(NULL);
        struct task_detail unknown = {.peaks = &(struct executor_peaks){{-1}}};
        submit(s, 3, 0, 2);
        run(s, task(1, 3, 0), TASK_SUCCEEDED, &unknown);
        struct status_executor *x = status_find_executor(s, "1");
        const struct status_stage *stage = status_find_stage(s, 3, 0);
        assert_false(x->has_peaks);
        assert_false(stage->has_peaks);
        assert_null(stage->executors.data[0].peaks);
        run(s, task(2, 3, 1), TASK_SUCCEEDED, NULL); /* all zero, as in old logs */
        assert_true(x->has_peaks);
        assert_true(stage->has_peaks);
        assert_non_null(stage->executors.data[0].peaks);
        status_free(s);
}

static void the_driver_of_an_ended_application_lasted_as_long(void **state)
{
        struct status *s = status_new(NULL);
        status_on_application_start(s, &(struct application_start){.id = "a", .name = "a", .user = "u", .ms = 1000});
        status_on_block_manager_added(s, &(struct block_manager_added){.manager = {"driver", "h", 1}, .ms = 1001});
        struct stage_executor_metrics metrics = {.executor_id = "driver", .stage_id = -1};
        metrics.peaks.values[PEAK_TOTAL_GC_MS] = 70;
        status_on_stage_executor_metrics(s, &metrics);
        status_on_application_end(s, &(struct application_end){.ms = 5000});
        assert_int_equal(status_find_executor(s, "driver")->duration_ms, 4000);
        assert_int_equal(status_find_executor(s, "driver")->gc_ms, 70);
        status_free(s);
}

static void dead_executors_stay_excluded_in_stages(void **state)
{
        struct status *s = status_new(NULL);
        submit(s, 3, 0, 2);
        status_on_executor_added(s, &(struct executor_added){.id = "1", .host = "h1", .ms = 1});
        status_on_executor_added(s, &(struct executor_added){.id = "2", .host = "h2", .ms = 1});
        for (int i = 1; i <= 2; i++)
                status_on_exclusion_changed(s, &(struct exclusion_changed){.id = i == 1 ? "1" : "2", .stage_id = 3});
        status_on_executor_removed(s, &(struct executor_removed){.id = "1", .ms = 2, .reason = "lost"});
        complete(s, 3, 0, 2, NULL);
        assert_int_equal(status_find_executor(s, "1")->excluded_in_stages.len, 1);
        assert_int_equal(status_find_executor(s, "2")->excluded_in_stages.len, 0);
        status_free(s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(counts_each_reason_as_spark_does),
                cmocka_unit_test(skips_stages_that_were_not_submitted),
                cmocka_unit_test(a_stage_submitted_again_leaves_the_completed_ones),
                cmocka_unit_test(names_a_job_after_its_last_stage),
                cmocka_unit_test(retains_the_newest_jobs_and_stages),
                cmocka_unit_test(sums_keep_removed_tasks),
                cmocka_unit_test(executors_come_and_go),
                cmocka_unit_test(an_excluded_node_excludes_all_but_the_driver),
                cmocka_unit_test(follows_the_blocks_of_rdds),
                cmocka_unit_test(corrects_counts_after_lost_ends),
                cmocka_unit_test(counts_ends_after_the_application),
                cmocka_unit_test(counts_resubmitted_task_as_ended_once),
                cmocka_unit_test(shows_resubmitted_task_without_end_as_successful),
                cmocka_unit_test(counts_speculative_attempts),
                cmocka_unit_test(random_worlds_keep_the_invariants),
                cmocka_unit_test(a_success_whose_output_was_lost_stays),
                cmocka_unit_test(history_gives_lost_tasks_zero_metrics),
                cmocka_unit_test(knows_peaks_only_from_executors_that_reported),
                cmocka_unit_test(the_driver_of_an_ended_application_lasted_as_long),
                cmocka_unit_test(dead_executors_stay_excluded_in_stages),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
