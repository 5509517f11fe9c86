/* Fuzz target: paths and queries of /api/v1, over an application with jobs, tasks and executors. The first line is the
 * path below /api/v1, the rest the query. */
#include "ui/ui_fixture.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct executor_ref executor = {.id = "1", .host = "h"};
static struct ui_fixture fixture;

static void fuzz_feed(struct status *s)
{
        struct stage_info stage = {.id = 3, .name = "count", .tasks = 4, .submission_ms = 1};
        status_on_executor_added(s, &(struct executor_added){.id = "1", .host = "h", .total_cores = 2});
        status_on_job_start(s, &(struct job_start){.id = 7, .ms = 1, .stages = &stage, .n_stages = 1});
        status_on_stage_submitted(s, &(struct stage_submitted){.stage = stage});
        for (int i = 0; i < 5; i++) {
                struct task_end e = {
                        .info = {.id = i, .launch_ms = i, .executor = &executor, .stage_id = 3, .index = i},
                        .finish_ms = 10 + i,
                        .state = i == 2 ? TASK_FAILED : TASK_SUCCEEDED};
                status_on_task_start(s, &(struct task_start){.info = e.info});
                if (i < 4)
                        status_on_task_end(s, &e);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static bool ready;
        if (!ready) {
                ui_fixture_begin(&fixture, true);
                fuzz_feed(fixture.status);
                ready = true;
        }
        const uint8_t *end = memchr(data, '\n', size);
        size_t n = end ? (size_t)(end - data) : size;
        _cleanup_free_ char *rest = mem_strndup((const char *)data, n);
        _cleanup_free_ char *query = end ? mem_strndup((const char *)end + 1, size - n - 1) : mem_strdup("");
        _cleanup_free_ char *path = mem_printf("/api/v1%s%s", *rest == '/' ? "" : "/", rest);
        ui_fixture_ask(&fixture, path, query);
        if (!fixture.answer.status || fixture.n_open != 0)
                abort();
        return 0;
}
