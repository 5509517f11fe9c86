#include "driver/events/app_status.h"

#include "driver/events/progress_bar.h"
#include "driver/events/scripted_application.h"

#include "base/mem.h"
#include "status/status.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

static void counts_jobs_stages_and_tasks(void **state)
{
        struct app_status *status = app_status_new(NULL);
        struct listener_bus *bus = listener_bus_new((struct listener_bus_options){0});
        listener_bus_add(bus, app_status_listener(status));
        listener_bus_start(bus);
        scripted_application_play(bus);
        assert_true(listener_bus_wait_until_empty(bus, 60000));

        struct stage_status stage;
        assert_true(app_status_stage(status, 0, 0, &stage));
        assert_int_equal(stage.state, STAGE_COMPLETE);
        assert_int_equal(stage.tasks, 4);
        assert_int_equal(stage.completed, 4);
        assert_int_equal(stage.failed, 1);
        assert_int_equal(stage.active, 0);
        assert_int_equal(stage.run_ms, 5 * 40);
        assert_int_equal(stage.longest_ms, 50);
        assert_int_equal(stage.input_records, 40);
        assert_int_equal(stage.shuffle_write_bytes, 1200);
        assert_true(app_status_stage(status, 2, 0, &stage));
        assert_int_equal(stage.state, STAGE_SKIPPED);
        assert_true(app_status_stage(status, 4, 0, &stage));
        assert_int_equal(stage.state, STAGE_FAILED);
        assert_int_equal(stage.killed, 1);
        assert_false(app_status_stage(status, 4, 1, &stage));

        struct job_status job;
        assert_true(app_status_job(status, 0, &job));
        assert_int_equal(job.state, JOB_SUCCEEDED);
        assert_int_equal(job.tasks, 7);
        assert_int_equal(job.completed_tasks, 7);
        assert_int_equal(job.failed_tasks, 1);
        assert_int_equal(job.completed_stages, 2);
        assert_true(app_status_job(status, 1, &job));
        assert_int_equal(job.skipped_stages, 1);
        assert_int_equal(job.skipped_tasks, 4);
        assert_int_equal(job.completed_tasks, 3);
        assert_true(app_status_job(status, 2, &job));
        assert_int_equal(job.state, JOB_FAILED);
        assert_int_equal(job.failed_stages, 1);
        assert_int_equal(job.killed_tasks, 1);
        assert_false(app_status_job(status, 3, &job));

        struct app_status_totals totals = app_status_totals(status);
        assert_int_equal(totals.completed_tasks, 11);
        assert_int_equal(totals.failed_tasks, 2);
        assert_int_equal(totals.succeeded_jobs, 2);
        assert_int_equal(totals.skipped_stages, 1);
        assert_int_equal(app_status_active_stages(status, &stage, 1), 0);
        listener_bus_free(bus);
        app_status_free(status);
}

static void start_stage(struct listener *l, int id, int tasks, int64_t ms)
{
        struct stage_info stage = {.id = id, .tasks = tasks};
        l->on_job_start(l, &(struct job_start){.id = id, .ms = ms, .stages = &stage, .n_stages = 1});
        stage.submission_ms = ms;
        l->on_stage_submitted(l, &(struct stage_submitted){.stage = stage});
}

static void end_stage(struct listener *l, int id, int tasks)
{
        struct stage_info stage = {.id = id, .tasks = tasks, .completion_ms = 1};
        l->on_stage_completed(l, &(struct stage_completed){.stage = stage});
        l->on_job_end(l, &(struct job_end){.id = id, .ms = 1});
}

static void start_task(struct listener *l, struct task_start start)
{
        _Alignas(struct task_event_batch) char bytes[512];
        struct task_event_batch *b = (struct task_event_batch *)bytes, head;
        task_event_batch_of_starts(&head, &start, 1);
        assert_true(task_event_batch_bytes(&head) <= sizeof(bytes));
        task_event_batch_put_starts(&head, &start, b);
        l->on_task_start_batch(l, b);
}

static void end_task(struct listener *l, struct task_end end)
{
        _Alignas(struct task_event_batch) char bytes[512];
        struct task_event_batch *b = (struct task_event_batch *)bytes, head;
        task_event_batch_of_ends(&head, &end, 1);
        assert_true(task_event_batch_bytes(&head) <= sizeof(bytes));
        task_event_batch_put_ends(&head, &end, b);
        l->on_task_end_batch(l, b);
}

static void start_and_end_tasks(struct listener *l, int stage, int starts, int ends)
{
        for (int i = 0; i < starts; i++)
                start_task(l, (struct task_start){{.stage_id = stage}});
        for (int i = 0; i < ends; i++)
                end_task(l, (struct task_end){.info = {.stage_id = stage}});
}

static void running_job_counts_its_tasks(void **state)
{
        struct app_status *status = app_status_new(NULL);
        struct listener *l = app_status_listener(status);
        start_stage(l, 5, 10, 100);
        start_and_end_tasks(l, 5, 6, 4);
        struct job_status job;
        assert_true(app_status_job(status, 5, &job));
        assert_int_equal(job.state, JOB_RUNNING);
        assert_int_equal(job.active_stages, 1);
        assert_int_equal(job.active_tasks, 2);
        assert_int_equal(job.completed_tasks, 4);
        app_status_free(status);
}

static void records_added_and_removed_executors(void **state)
{
        static const struct executor_ref first = {"0", "a"};
        struct app_status *status = app_status_new(NULL);
        struct listener *l = app_status_listener(status);
        struct executor_status x[3];
        l->on_executor_added(l, &(struct executor_added){.id = "0", .host = "a", .ms = 5, .total_cores = 2});
        l->on_executor_added(l, &(struct executor_added){.id = "1", .host = "b", .ms = 6, .total_cores = 2});
        start_stage(l, 5, 10, 100);
        for (int i = 0; i < 3; i++)
                start_task(l, (struct task_start){{.stage_id = 5, .executor = &first}});
        end_task(l, (struct task_end){.info = {.stage_id = 5, .executor = &first, .launch_ms = 100},
                                      .finish_ms = 107,
                                      .metrics = {.peak_execution_memory = 9, .shuffle_write = {.bytes = 20}}});
        end_task(l, (struct task_end){.info = {.stage_id = 5, .executor = &first, .launch_ms = 100},
                                      .finish_ms = 103,
                                      .state = TASK_FAILED,
                                      .metrics = {.peak_execution_memory = 4, .shuffle_write = {.bytes = 1}}});
        l->on_speculative_submitted(l, &(struct speculative_submitted){.stage_id = 5});
        struct stage_status stage;
        assert_true(app_status_stage(status, 5, 0, &stage));
        assert_int_equal(stage.speculative, 1);
        /* An exclusion for one stage does not count as excluded, one of its host does. */
        l->on_exclusion_changed(l, &(struct exclusion_changed){.id = "0", .stage_id = 5});
        l->on_exclusion_changed(l, &(struct exclusion_changed){.id = "b", .is_host = true, .stage_id = -1});
        assert_int_equal(app_status_executors(status, x, 3), 2);
        assert_string_equal(x[0].id, "0");
        assert_int_equal(x[0].active_tasks, 1);
        assert_int_equal(x[0].completed_tasks, 1);
        assert_int_equal(x[0].failed_tasks, 1);
        assert_int_equal(x[0].duration_ms, 10);
        assert_int_equal(x[0].shuffle_write_bytes, 21);
        assert_int_equal(x[0].peak_memory, 9);
        assert_false(x[0].excluded);
        assert_true(x[1].excluded);
        for (int i = 0; i < 120; i++) {
                char id[16];
                snprintf(id, sizeof(id), "x%d", i);
                l->on_executor_added(l, &(struct executor_added){.id = id, .host = "c", .total_cores = 1});
                l->on_executor_removed(l, &(struct executor_removed){.id = id, .ms = 9, .reason = "gone"});
        }
        l->on_executor_removed(l, &(struct executor_removed){.id = "never", .ms = 9});
        assert_int_equal(app_status_executors(status, x, 3), 102);
        assert_true(x[0].is_active);
        assert_string_equal(x[2].id, "x20");
        assert_string_equal(x[2].removed_reason, "gone");
        app_status_free(status);
}

static void lists_active_stages_in_order_of_submission(void **state)
{
        struct app_status *status = app_status_new(NULL);
        struct listener *l = app_status_listener(status);
        start_stage(l, 1, 1, 300);
        start_stage(l, 2, 1, 100);
        start_stage(l, 3, 1, 400);
        start_stage(l, 4, 1, 200);
        struct stage_status out[4];
        assert_int_equal(app_status_active_stages(status, out, 4), 4);
        assert_int_equal(out[0].id, 2);
        assert_int_equal(out[1].id, 4);
        assert_int_equal(out[2].id, 1);
        assert_int_equal(out[3].id, 3);
        assert_int_equal(app_status_active_stages(status, out, 2), 2);
        assert_int_equal(out[0].id, 2);
        assert_int_equal(out[1].id, 4);
        end_stage(l, 2, 1);
        assert_int_equal(app_status_active_stages(status, out, 2), 2);
        assert_int_equal(out[0].id, 4);
        app_status_free(status);
}

static void drops_oldest_jobs_and_stages(void **state)
{
        const struct status_options limits = {.retained_jobs = 20, .retained_stages = 20, .is_live = true};
        struct app_status *status = app_status_new(&limits);
        struct listener *l = app_status_listener(status);
        start_stage(l, 0, 1, 1); /* runs until the end and is kept */
        for (int i = 1; i <= 1000; i++) {
                start_stage(l, i, 1, 100 + i);
                start_and_end_tasks(l, i, 1, 1);
                end_stage(l, i, 1);
        }
        struct stage_status stage;
        struct job_status job;
        assert_true(app_status_stage(status, 0, 0, &stage));
        assert_true(app_status_job(status, 0, &job));
        assert_false(app_status_stage(status, 900, 0, &stage));
        assert_false(app_status_job(status, 900, &job));
        assert_true(app_status_stage(status, 990, 0, &stage));
        assert_true(app_status_job(status, 990, &job));
        assert_int_equal(job.completed_tasks, 1);
        assert_int_equal(app_status_totals(status).completed_tasks, 1000);
        app_status_free(status);
}

/* ------------------------------------------------------------------------------------------ progress bar */

static void renders_bars_like_spark(void **state)
{
        _cleanup_(buf_deinit) struct buf line = BUF_INIT;
        struct stage_status stages[] = {{.id = 0, .tasks = 16, .completed = 3, .active = 2},
                                        {.id = 12, .tasks = 4, .completed = 4},
                                        {.id = 13, .tasks = 0}};
        progress_bar_render(&line, stages, 1, 50);
        assert_string_equal(buf_text(&line), "[Stage 0:=====>                      (3 + 2) / 16]");
        assert_int_equal(line.len, 50);
        buf_reset(&line);
        progress_bar_render(&line, stages, 2, 60);
        assert_string_equal(buf_text(&line), "[Stage 0:=>      (3 + 2) / 16][Stage 12:========(4 + 0) / 4]");
        buf_reset(&line);
        progress_bar_render(&line, stages, 3, 20); /* no room for bars */
        assert_string_equal(buf_text(&line), "[Stage 0:(3 + 2) / 16][Stage 12:(4 + 0) / 4][Stage 13:(0 + 0) / 0]");
}

static pthread_mutex_t drawn_lock = PTHREAD_MUTEX_INITIALIZER;
static char drawn[200];
static int drawings;

static void draw(const char *text)
{
        pthread_mutex_lock(&drawn_lock);
        snprintf(drawn, sizeof(drawn), "%s", text);
        drawings++;
        pthread_mutex_unlock(&drawn_lock);
}

static bool wait_for_drawing(const char *text)
{
        bool found = false;
        for (int i = 0; i < 12000 && !found; i++) {
                usleep(5000);
                pthread_mutex_lock(&drawn_lock);
                found = strcmp(drawn, text) == 0;
                pthread_mutex_unlock(&drawn_lock);
        }
        return found;
}

static void bar_is_drawn_and_erased(void **state)
{
        struct app_status *status = app_status_new(NULL);
        struct listener *l = app_status_listener(status);
        struct progress_bar_options options = {.interval_ms = 5, .first_delay_ms = 30, .show = draw, .width = 30};
        struct progress_bar *bar = progress_bar_start(status, options);
        start_stage(l, 0, 4, (int64_t)time(NULL) * 1000 - 60000);
        start_and_end_tasks(l, 0, 2, 1);
        assert_true(wait_for_drawing("[Stage 0:==>      (1 + 1) / 4]"));
        int64_t now = (int64_t)time(NULL) * 1000;
        start_stage(l, 1, 4, now + 3600000); /* too young to show */
        start_and_end_tasks(l, 0, 3, 3);
        assert_true(wait_for_drawing("[Stage 0:=========(4 + 1) / 4]"));
        end_stage(l, 0, 4);
        progress_bar_finish_all(bar);
        pthread_mutex_lock(&drawn_lock);
        assert_string_equal(drawn, "");
        pthread_mutex_unlock(&drawn_lock);
        progress_bar_stop(bar);
        progress_bar_stop(NULL);
        progress_bar_finish_all(NULL);
        app_status_free(status);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(counts_jobs_stages_and_tasks),
                cmocka_unit_test(running_job_counts_its_tasks),
                cmocka_unit_test(records_added_and_removed_executors),
                cmocka_unit_test(lists_active_stages_in_order_of_submission),
                cmocka_unit_test(drops_oldest_jobs_and_stages),
                cmocka_unit_test(renders_bars_like_spark),
                cmocka_unit_test(bar_is_drawn_and_erased),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
