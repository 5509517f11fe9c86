/*
 * Pages of an application for `make check-web` (tests/web/check): prints the port, serves until standard input ends,
 * and says on standard output what buttons asked for.
 *
 *      ui_pages
 */
#include "ui/pages/pages.h"
#include "ui/ui_fixture.h"
#include "ui/ui_site.h"
#include "ui/ui_world.h"

#include "base/clock.h"
#include "base/error.h"
#include "conf/conf.h"
#include "metrics/metrics_snapshot.h"

#include <stdio.h>
#include <unistd.h>

static uv_loop_t loop;
static uv_poll_t input;
static struct ui_fixture fixture;

static void kill_job(struct app_view *view, int job)
{
        printf("kill job %d\n", job);
        fflush(stdout);
        app_view_write(view);
        status_on_job_end(view->status, &(struct job_end){.id = job, .ms = time_of_day_ms(), .failure = "killed"});
        app_view_written(view);
}

static void kill_stage(struct app_view *view, int stage)
{
        printf("kill stage %d\n", stage);
        fflush(stdout);
}

static bool ui_pages_threads(struct app_view *view, const char *executor, struct app_threads *out)
{
        static const char *const stack[] = {"parse+0x1c (words.so)", "map_run+0x80 (libfiresteel.so.4)"};
        const struct app_thread idle = {
                .id = 18, .name = "task-slot-1", .state = "WAITING", .wait = "futex", .function = "", .task_id = -1};
        vec_push(&out->list, (struct app_thread){.id = 17,
                                                 .name = "task-slot-0",
                                                 .state = "RUNNABLE",
                                                 .wait = "",
                                                 .function = "parse in words.so",
                                                 .task_id = 4,
                                                 .cpu_ms = 1250,
                                                 .stack = stack,
                                                 .n_stack = ARRAY_SIZE(stack)});
        vec_push(&out->list, idle);
        return true;
}

static void ui_pages_measure(struct app_view *view, struct metrics_snapshot *out)
{
        struct metric_sample timer = {.kind = METRIC_TIMER, .value = 1200};
        timer.rates.m1 = 17.5;
        timer.distribution.max = 9000000;
        timer.distribution.percentile[0] = 120000;
        metrics_add(out, "app-1.driver.DAGScheduler.messageProcessingTime", &timer);
        metrics_gauge(out, "app-1.driver.DAGScheduler.stage.runningStages", 1);
        metrics_gauge(out, "app-1.driver.LiveListenerBus.queue.appStatus.size", 12);
        metrics_counter(out, "app-1.driver.LiveListenerBus.numEventsPosted", 900);
}

static void on_input(uv_poll_t *handle, int status, int events)
{
        char bytes[64];
        if (read(0, bytes, sizeof(bytes)) <= 0)
                uv_stop(&loop);
}

int main(void)
{
        static const struct app_view_class class = {.kill_job = kill_job,
                                                    .kill_stage = kill_stage,
                                                    .threads = ui_pages_threads,
                                                    .source = ui_fixture_source,
                                                    .measure = ui_pages_measure};
        struct fst_error error = FST_ERROR_INIT;
        struct fst_conf conf;
        struct ui_site *site;
        conf_init(&conf);
        uv_loop_init(&loop);
        ui_fixture_begin(&fixture, true);
        fixture.view.class = &class;
        world_fill(fixture.status, time_of_day_ms() - WORLD_MS);
        const struct ui_site_options options = {.loop = &loop,
                                                .conf = &conf,
                                                .name = "SparkUI",
                                                .tls_space = "ui",
                                                .any_port = true,
                                                .source = &fixture.source,
                                                .serve_page = pages_serve};
        if (ui_site_new(&options, &site, &error) < 0) {
                fprintf(stderr, "ui_pages: %s\n", error_message(&error));
                return 1;
        }
        uv_poll_init(&loop, &input, 0);
        uv_poll_start(&input, UV_READABLE, on_input);
        printf("%d\n", ui_site_port(site));
        fflush(stdout);
        uv_run(&loop, UV_RUN_DEFAULT);
        uv_close((uv_handle_t *)&input, NULL);
        ui_site_free(site);
        uv_run(&loop, UV_RUN_DEFAULT);
        uv_loop_close(&loop);
        ui_fixture_end(&fixture);
        conf_deinit(&conf);
        return 0;
}
