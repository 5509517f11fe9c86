/*
 * Measures the cost of events: the producer's side of the listener bus, the status, and rendering, compressing and
 * writing the event log. Prints nanoseconds of CPU time per task, for its start and its end together.
 */
#include "bench.h"

#include "base/mem.h"
#include "driver/events/app_status.h"
#include "driver/events/event_log.h"
#include "events/task_json.h"

#include <stdlib.h>
#include <unistd.h>

enum { BATCH = 256, ROUNDS = 2000 };

static const struct executor_ref executor = {"driver", "localhost"};
static struct task_start starts[BATCH];
static struct task_end ends[BATCH];

static double thread_seconds(void)
{
        struct timespec t;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double process_seconds(void)
{
        struct timespec t;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void next_batch(int64_t *id)
{
        for (int i = 0; i < BATCH; i++, (*id)++) {
                starts[i].info = (struct task_info){.id = *id,
                                                    .launch_ms = 1700000000000 + *id / 100,
                                                    .executor = &executor,
                                                    .index = (int32_t)*id,
                                                    .partition = (int32_t)*id};
                ends[i] = (struct task_end){.info = starts[i].info,
                                            .finish_ms = starts[i].info.launch_ms + 1,
                                            .metrics = {.executor_run_ms = *id & 1,
                                                        .executor_cpu_ns = 1000 + *id % 977,
                                                        .executor_deserialize_cpu_ns = 300,
                                                        .result_size = 8}};
        }
}

static void report(const char *what, double seconds)
{
        printf("%-50s %7.0f ns a task\n", what, seconds * 1e9 / ((double)BATCH * ROUNDS));
}

/* Posts the events of all tasks and measures only that. Returns the processor time of all threads. */
static double post_all(const char *what, struct listener *listener)
{
        struct listener_bus *bus = listener_bus_new((struct listener_bus_options){0});
        if (listener)
                listener_bus_add(bus, listener);
        listener_bus_start(bus);
        struct stage_info stage = {.name = "bench", .tasks = BATCH * ROUNDS, .submission_ms = 1};
        listener_bus_post_job_start(bus, &(struct job_start){.ms = 1, .stages = &stage, .n_stages = 1});
        listener_bus_post_stage_submitted(bus, &(struct stage_submitted){.stage = stage});
        double producer = 0, making = 0, before = process_seconds();
        int64_t id = 0;
        for (int i = 0; i < ROUNDS; i++) {
                double t0 = thread_seconds();
                next_batch(&id);
                double t1 = thread_seconds();
                listener_bus_post_task_starts(bus, starts, BATCH);
                listener_bus_post_task_ends(bus, ends, BATCH);
                making += t1 - t0;
                producer += thread_seconds() - t1;
        }
        listener_bus_free(bus);
        double all = process_seconds() - before - making;
        printf("%s\n", what);
        report("  posting", producer);
        report("  all threads", all);
        return all;
}

static void bench_rendering(bool accumulables)
{
        struct task_json json;
        struct buf line = BUF_INIT;
        task_json_init(&json, 0, 0, 0, accumulables);
        double seconds = 0;
        size_t bytes = 0;
        int64_t id = 0;
        for (int i = 0; i < ROUNDS; i++) {
                next_batch(&id);
                double t0 = thread_seconds();
                for (int k = 0; k < BATCH; k++) {
                        task_json_start(&json, &line, &starts[k]);
                        task_json_end(&json, &line, &ends[k]);
                        if (line.len > 128 << 10) {
                                bytes += line.len;
                                buf_reset(&line);
                        }
                }
                seconds += thread_seconds() - t0;
        }
        report(accumulables ? "rendering, with accumulables" : "rendering, without accumulables", seconds);
        printf("  %zu bytes a task\n", bytes / ((size_t)BATCH * ROUNDS));
        task_json_deinit(&json);
        buf_deinit(&line);
}

static void bench_log(const char *what, const char *dir, enum event_codec codec)
{
        struct event_log_options options = event_log_defaults();
        options.file.dir = dir;
        options.file.app_id = "bench";
        options.file.codec = codec;
        options.file.rolling = false;
        options.file.overwrite = true;
        struct event_log *log;
        if (event_log_open(&log, &options, NULL) < 0)
                abort();
        post_all(what, event_log_listener(log));
        _cleanup_free_ char *path = mem_strdup(event_log_path(log));
        event_log_free(log);
        unlink(path);
}

int main(void)
{
        char dir[] = "/tmp/events_bench.XXXXXX";
        if (!mkdtemp(dir))
                return 1;
        bench_rendering(false);
        bench_rendering(true);
        post_all("bus without listeners", NULL);
        struct app_status *status = app_status_new(NULL);
        post_all("bus and status", app_status_listener(status));
        app_status_free(status);
        bench_log("bus and event log, plain", dir, EVENT_CODEC_NONE);
        bench_log("bus and event log, lz4", dir, EVENT_CODEC_LZ4);
        bench_log("bus and event log, zstd", dir, EVENT_CODEC_ZSTD);
        rmdir(dir);
        return 0;
}
