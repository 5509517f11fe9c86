/*
 * Measures /api/v1 with one stage of 1,000,000 tasks: milliseconds of CPU time and bytes for each resource of the
 * stage, and bytes of memory for each task.
 */
#include "bench.h"
#include "bench_task.h"

#include "ui/ui_fixture.h"

#include <stdio.h>
#include <time.h>

enum { TASKS = 1000000 };

static void bench_feed(struct status *s)
{
        static const struct task_detail failure = {.class_name = "firesteel.UserError", .description = "a bad row"};
        struct stage_info stage = {.id = 3, .name = "count at a.c:1", .tasks = TASKS, .submission_ms = 1};
        status_on_job_start(s, &(struct job_start){.id = 1, .ms = 1, .stages = &stage, .n_stages = 1});
        status_on_stage_submitted(s, &(struct stage_submitted){.stage = stage});
        for (int64_t id = 0; id < TASKS; id++) {
                struct task_end e = bench_task_end(id);
                e.finish_ms += (int64_t)(object_hash_number((uint64_t)id) % 17);
                e.detail = e.state == TASK_FAILED ? &failure : NULL;
                status_on_task_start(s, &(struct task_start){.info = e.info});
                status_on_task_end(s, &e);
        }
        stage.completion_ms = 2;
        status_on_stage_completed(s, &(struct stage_completed){.stage = stage});
}

static double bench_seconds(void)
{
        struct timespec t;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(void)
{
        static const char *const requests[][2] = {
                {"/stages", ""},
                {"/stages", "withSummaries=true"},
                {"/stages/3", "details=false"},
                {"/stages/3/0", "details=false&withSummaries=true"},
                {"/stages/3/0/taskSummary", ""},
                {"/stages/3/0/taskSummary", "quantiles=0,0.01,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,0.99,1"},
                {"/stages/3/0/taskList", ""},
                {"/stages/3/0/taskList", "offset=999900&length=100"},
                {"/stages/3/0/taskList", "sortBy=runtime&length=100"},
                {"/stages/3/0/taskList", "sortBy=-runtime&length=100"},
                {"/stages/3/0/taskList", "sortBy=runtime&offset=500000&length=100"},
                {"/stages/3/0/taskList", "status=failed&length=100"},
                {"/stages/3/0/taskTable", "columnNameToSort=Index"},
                {"/stages/3/0/taskTable", "columnNameToSort=Scheduler Delay"},
                {"/stages/3/0/taskTable", "columnNameToSort=Host"},
                {"/stages/3/0/taskTable", "columnNameToSort=ID"},
                {"/stages/3/0/taskTable", "columnNameToSort=Attempt"},
                {"/stages/3/0/taskTable", "columnNameToSort=Status"},
                {"/stages/3/0/taskTable", "columnNameToSort=Locality Level"},
                {"/stages/3/0/taskTable", "columnNameToSort=Executor ID"},
                {"/stages/3/0/taskTable", "columnNameToSort=Duration"},
                {"/stages/3/0/taskTable", "columnNameToSort=Task Deserialization Time"},
                {"/stages/3/0/taskTable", "columnNameToSort=GC Time"},
                {"/stages/3/0/taskTable", "columnNameToSort=Result Serialization Time"},
                {"/stages/3/0/taskTable", "columnNameToSort=Getting Result Time"},
                {"/stages/3/0/taskTable", "columnNameToSort=Peak Execution Memory"},
                {"/stages/3/0/taskTable", "columnNameToSort=Input Size / Records"},
                {"/stages/3/0/taskTable", "columnNameToSort=Output Size / Records"},
                {"/stages/3/0/taskTable", "columnNameToSort=Shuffle Read Fetch Wait Time"},
                {"/stages/3/0/taskTable", "columnNameToSort=Shuffle Remote Reads"},
                {"/stages/3/0/taskTable", "columnNameToSort=Write Time"},
                {"/stages/3/0/taskTable", "columnNameToSort=Shuffle Write Size / Records"},
                {"/stages/3/0/taskTable", "columnNameToSort=Spill (Memory)"},
                {"/stages/3/0/taskTable", "columnNameToSort=Spill (Disk)"},
                {"/stages/3/0/taskTable", "columnNameToSort=Accumulators"},
                {"/stages/3/0/taskTable", "columnNameToSort=Launch Time"},
                {"/stages/3/0/taskTable", "columnNameToSort=Errors"},
                {"/stages/3/0/taskTable", "columnNameToSort=Shuffle Read Size / Records"},
                {"/stages/3/0/taskTable", "columnNameToSort=Index&search[value]=bad row"},
                {"/stages/3/0/taskTable", "columnNameToSort=Index&search[value]=host-7"},
                {"/stages/3/0/taskTable", "columnNameToSort=Index&search[value]=777"},
                {"/stages/3/0", "taskStatus=failed"},
                {"/jobs", ""},
                {"/executors", ""},
        };
        struct ui_fixture f;
        ui_fixture_begin(&f, true);
        f.status->options.retained_tasks = 2 * TASKS;
        for (int i = 0; i < EXECUTORS; i++)
                bench_executors[i] = (struct executor_ref){.id = mem_printf("%d", i), .host = mem_printf("host-%d", i)};
        bench_feed(f.status);
        printf("%.1f bytes of memory a task\n", (double)status_task_bytes(f.status) / TASKS);
        for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
                char path[128], query[256];
                double best = 1e9;
                snprintf(path, sizeof(path), "/api/v1/applications/app-1%s", requests[i][0]);
                snprintf(query, sizeof(query), "%s%s", requests[i][1],
                         strstr(path, "taskTable") ? "&numTasks=1000000&order[0][dir]=desc&start=0&length=100" : "");
                for (int k = 0; k < 3; k++) {
                        double before = bench_seconds();
                        ui_fixture_ask(&f, path, query);
                        best = MIN(best, bench_seconds() - before);
                }
                printf("%7.1f ms %9zu bytes  %s?%s\n", best * 1e3, f.answer.body.len, requests[i][0], requests[i][1]);
                if (f.answer.status != 200)
                        printf("status %d: %s\n", f.answer.status, buf_text(&f.answer.body));
        }
        ui_fixture_end(&f);
        return 0;
}
