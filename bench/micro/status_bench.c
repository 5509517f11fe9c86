/*
 * Measures the status core with one stage of 1,000,000 tasks, first without keeping single tasks: nanoseconds for each
 * start and end, bytes for each task, and milliseconds for the quantiles of all columns, for sorted pages, the
 * diagnosis and the series, and for pages of the application: the first request, and the fastest of some more.
 */
#include "bench.h"
#include "bench_task.h"

#include "base/mem.h"
#include "status/diagnosis.h"
#include "status/stage_series.h"
#include "status/status.h"
#include "ui/api/api.h"
#include "ui/pages/pages.h"

#include <stdio.h>

enum { TASKS = 1000000, BATCH = 256, REQUESTS = 6 };

static double bench_seconds(void)
{
        struct timespec t;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void bench_feed(struct status *s)
{
        static struct task_end ends[BATCH];
        double seconds = 0;
        struct stage_info stage = {.id = 3, .name = "count at a.c:1", .tasks = TASKS, .submission_ms = 1699999999000};
        status_on_job_start(s, &(struct job_start){.id = 1, .ms = 1, .stages = &stage, .n_stages = 1});
        status_on_stage_submitted(s, &(struct stage_submitted){.stage = stage});
        for (int64_t id = 0; id < TASKS; id += BATCH) {
                for (int i = 0; i < BATCH; i++) {
                        ends[i] = bench_task_end(id + i);
                        ends[i].finish_ms += 5;
                }
                double before = bench_seconds();
                for (int i = 0; i < BATCH; i++)
                        status_on_task_start(s, &(struct task_start){.info = ends[i].info});
                for (int i = 0; i < BATCH; i++)
                        status_on_task_end(s, &ends[i]);
                seconds += bench_seconds() - before;
        }
        stage.completion_ms = ends[BATCH - 1].finish_ms;
        status_on_stage_completed(s, &(struct stage_completed){.stage = stage});
        printf("start and end: %.0f ns a task, %.1f bytes a task\n", seconds * 1e9 / TASKS,
               (double)status_task_bytes(s) / TASKS);
}

/* The source of the one application. */
struct bench_source {
        struct app_source source;
        struct app_view *view;
};

static int bench_source_open(struct app_source *source, const char *id, const char *attempt, struct app_view **out,
                             struct fst_error *error)
{
        (void)id, (void)attempt, (void)error;
        *out = container_of(source, struct bench_source, source)->view;
        return 0;
}

static void bench_source_release(struct app_source *source, struct app_view *view)
{
        (void)source, (void)view;
}

static void bench_page(struct app_view *view, const char *path, const char *query,
                       void (*serve)(const struct ui_request *, struct ui_answer *))
{
        static const struct app_source_class source_class = {.open = bench_source_open,
                                                             .release = bench_source_release};
        struct bench_source source = {.source = {.class = &source_class}, .view = view};
        struct form form = FORM_INIT;
        double seconds[REQUESTS];
        size_t n_bytes = 0;
        form_parse(&form, query, strlen(query));
        const struct ui_request q = {.method = "GET",
                                     .path = path,
                                     .query = &form,
                                     .base = "",
                                     .site = "",
                                     .source = &source.source,
                                     .view = view};
        for (int i = 0; i < REQUESTS; i++) {
                struct ui_answer answer = {0};
                double before = bench_seconds();
                serve(&q, &answer);
                seconds[i] = bench_seconds() - before;
                n_bytes = answer.body.len;
                ui_answer_deinit(&answer);
        }
        double best = seconds[1];
        for (int i = 2; i < REQUESTS; i++)
                best = MIN(best, seconds[i]);
        printf("page %s?%s: %.1f ms, then %.1f ms, %zu bytes\n", path, query, seconds[0] * 1e3, best * 1e3, n_bytes);
        form_deinit(&form);
}

static void bench_pages(struct status *s)
{
        static const struct app_view_class view_class = {0};
        static const char *const texts[] = {"7", "777", "host-3", "-"};
        struct app_view view;
        app_view_init(&view, &view_class, s, NULL);
        bench_page(&view, "/stages/stage", "id=3&attempt=0", pages_serve);
        bench_page(&view, "/stages/stage", "id=3&attempt=0&task.sort=Duration&task.desc=true", pages_serve);
        bench_page(&view, "/stages/stage", "id=3&attempt=0&task.sort=Host", pages_serve);
        bench_page(&view, "/stages/stage",
                   "id=3&attempt=0&task.eventTimelinePageNumber=5000&task.eventTimelinePageSize=100", pages_serve);
        bench_page(&view, "/stages", "", pages_serve);
        bench_page(&view, "/jobs/job", "id=1", pages_serve);
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                _cleanup_free_ char *query = mem_printf("numTasks=%d&columnNameToSort=Index&order[0][dir]=asc&start=0&"
                                                        "length=20&search[value]=%s",
                                                        TASKS, texts[i]);
                bench_page(&view, "/api/v1/applications/app/stages/3/0/taskTable", query, api_serve);
        }
        app_view_deinit(&view);
}

int main(void)
{
        static const double probabilities[] = {0.05, 0.25, 0.5, 0.75, 0.95};
        for (int i = 0; i < EXECUTORS; i++)
                bench_executors[i] = (struct executor_ref){.id = mem_printf("%d", i), .host = mem_printf("host-%d", i)};
        struct status *sums = status_new(&(struct status_options){.without_details = true, .is_live = true});
        bench_feed(sums);
        status_free(sums);
        struct status *s = status_new(&(struct status_options){.retained_tasks = 2 * TASKS, .is_live = true});
        bench_feed(s);
        const struct status_stage *stage = status_find_stage(s, 3, 0);
        int64_t values[ARRAY_SIZE(probabilities)], sum = 0;
        double before = bench_seconds();
        for (int column = TASK_DURATION; column < TASK_ALL_COLUMNS; column++) {
                task_columns_quantiles(&stage->columns, (enum task_column)column, probabilities, values,
                                       ARRAY_SIZE(probabilities));
                sum += values[2];
        }
        printf("five quantiles of all %d columns: %.1f ms\n", TASK_ALL_COLUMNS - TASK_DURATION,
               (bench_seconds() - before) * 1e3);
        for (int i = 0; i < 3; i++) {
                const struct task_page page = {.column = i == 2 ? TASK_SCHEDULER_DELAY : TASK_METRIC(executor_run_ms),
                                               .descending = i == 0,
                                               .offset = i == 1 ? 500000 : 0,
                                               .length = 100};
                size_t rows[100];
                before = bench_seconds();
                size_t n = task_columns_page(&stage->columns, &page, rows);
                struct status_task task;
                for (size_t k = 0; k < n; k++)
                        status_get_task(s, stage, rows[k], &task);
                printf("sorted page %d: %.1f ms\n", i, (bench_seconds() - before) * 1e3);
        }
        struct stage_diagnosis diagnosis;
        before = bench_seconds();
        diagnose_stage(s, stage, s->last_event_ms, &diagnosis);
        printf("diagnosis: %.1f ms\n", (bench_seconds() - before) * 1e3);
        struct stage_series *series = new0(struct stage_series);
        before = bench_seconds();
        stage_series_make(stage, s->last_event_ms, series);
        printf("series: %.1f ms\n", (bench_seconds() - before) * 1e3);
        free(series);
        bench_pages(s);
        status_free(s);
        return sum == 42;
}
