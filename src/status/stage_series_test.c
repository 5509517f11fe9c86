/* The course of stages of known shape; see stage_series.h. */
#include "status/stage_series.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum { T0 = 1000000 };

static const struct executor_ref ref = {.id = "0", .host = "h0"};

/* A stage of 60 s that was submitted at T0. */
static struct status_stage *begin_stage(struct status **s)
{
        *s = status_new(NULL);
        struct stage_info info = {.id = 1, .name = "a", .tasks = 100, .submission_ms = T0};
        status_on_stage_submitted(*s, &(struct stage_submitted){.stage = info});
        return status_find_stage(*s, 1, 0);
}

static void end_stage(struct status *s)
{
        struct stage_info info = {.id = 1, .name = "a", .tasks = 100, .submission_ms = T0, .completion_ms = T0 + 60000};
        status_on_stage_completed(s, &(struct stage_completed){.stage = info});
}

static void run_task(struct status *s, int64_t id, int64_t launch, int64_t ms, enum task_state state)
{
        struct task_info info = {
                .id = id, .launch_ms = T0 + launch, .executor = &ref, .stage_id = 1, .index = (int32_t)id};
        status_on_task_start(s, &(struct task_start){.info = info});
        if (ms >= 0)
                status_on_task_end(s, &(struct task_end){.info = info,
                                                         .finish_ms = T0 + launch + ms,
                                                         .state = (uint8_t)state,
                                                         .metrics = {.input_bytes = 10, .output_bytes = 3}});
}

static void divides_the_time_into_slices(void **state)
{
        struct status *s;
        struct stage_series series;
        const struct status_stage *stage = begin_stage(&s);
        run_task(s, 0, 0, 10500, TASK_SUCCEEDED);     /* ends in slice 10 */
        run_task(s, 1, 0, 10100, TASK_SUCCEEDED);     /* also */
        run_task(s, 2, 20000, 500, TASK_FAILED);      /* within slice 20 */
        run_task(s, 3, 30000, 30000, TASK_SUCCEEDED); /* until the end */
        end_stage(s);
        stage_series_make(stage, 0, &series);
        assert_int_equal(series.n, 60);
        assert_int_equal(series.end_ms - series.begin_ms, 60000);
        assert_true(series.slices[5].running > 1.99 && series.slices[5].running < 2.01);
        assert_true(series.slices[10].running > 0.59 && series.slices[10].running < 0.61);
        assert_true(series.slices[15].running < 0.01);
        assert_true(series.slices[20].running > 0.49 && series.slices[20].running < 0.51);
        assert_true(series.slices[59].running > 0.99 && series.slices[59].running < 1.01);
        assert_int_equal(series.slices[10].ended, 2);
        assert_int_equal(series.slices[10].read_bytes, 20);
        assert_int_equal(series.slices[10].written_bytes, 6);
        assert_int_equal(series.slices[20].failed, 1);
        assert_int_equal(series.slices[59].ended, 1);
        assert_int_equal(series.slices[10].percentiles[2], 10500);
        /* The others are exact to 10 %. */
        assert_true(series.slices[10].percentiles[0] > 9400 && series.slices[10].percentiles[0] <= 10500);
        status_free(s);
}

static void a_running_stage_lasts_until_now(void **state)
{
        struct status *s;
        struct stage_series series;
        const struct status_stage *stage = begin_stage(&s);
        run_task(s, 0, 0, -1, TASK_SUCCEEDED);
        stage_series_make(stage, T0 + 30000, &series);
        assert_int_equal(series.end_ms, T0 + 30000);
        assert_true(series.slices[59].running > 0.99);
        assert_int_equal(series.slices[59].ended, 0);
        status_free(s);
}

static void nothing_ran(void **state)
{
        struct status *s;
        struct stage_series series;
        const struct status_stage *stage = begin_stage(&s);
        stage_series_make(stage, T0 + 30000, &series);
        assert_int_equal(series.n, 0);
        run_task(s, 0, 60000, 0, TASK_SUCCEEDED);
        end_stage(s);
        stage_series_make(stage, 0, &series);
        assert_int_equal(series.n, 0);
        status_free(s);
}

static void percentiles_are_close(void **state)
{
        struct status *s;
        struct stage_series series;
        const struct status_stage *stage = begin_stage(&s);
        for (int i = 1; i <= 1000; i++)
                run_task(s, i, 59990 - i * 50, i * 50, TASK_SUCCEEDED); /* all end in the last slice */
        end_stage(s);
        stage_series_make(stage, 0, &series);
        const int64_t *p = series.slices[59].percentiles;
        assert_int_equal(series.slices[59].ended, 1000);
        assert_true(p[0] > 25000 * 0.9 && p[0] < 25000 * 1.1);
        assert_true(p[1] > 47500 * 0.9 && p[1] < 47500 * 1.1);
        assert_int_equal(p[2], 50000);
        status_free(s);
}

static void a_large_stage_is_sampled(void **state)
{
        enum { TASKS = 600000 };
        struct status *s = status_new(&(struct status_options){.retained_tasks = TASKS});
        struct stage_series series;
        struct stage_info info = {.id = 1, .name = "a", .tasks = TASKS, .submission_ms = T0};
        int64_t ended = 0, bytes = 0;
        double running = 0;
        status_on_stage_submitted(s, &(struct stage_submitted){.stage = info});
        for (int i = 0; i < TASKS; i++)
                run_task(s, i, i / 10, 100, TASK_SUCCEEDED);
        end_stage(s);
        stage_series_make(status_find_stage(s, 1, 0), 0, &series);
        for (size_t i = 0; i < series.n; i++) {
                ended += series.slices[i].ended;
                bytes += series.slices[i].read_bytes;
                running += series.slices[i].running / (double)series.n;
        }
        assert_true(ended > TASKS * 0.99 && ended < TASKS * 1.01);
        assert_true((double)bytes > TASKS * 9.9 && (double)bytes < TASKS * 10.1);
        assert_true(running > 990 && running < 1010); /* 10 start in each ms and run 100 ms */
        assert_true(series.slices[30].percentiles[0] > 90 && series.slices[30].percentiles[0] <= 100);
        status_free(s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(divides_the_time_into_slices),
                cmocka_unit_test(a_running_stage_lasts_until_now),
                cmocka_unit_test(nothing_ran),
                cmocka_unit_test(percentiles_are_close),
                cmocka_unit_test(a_large_stage_is_sampled),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
