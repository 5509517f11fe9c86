/*
 * Measures the reader of event logs: MB and events for each second of CPU time of one thread, from memory. Without
 * arguments it reads lines that the event log writes; with a file, that file, which is not compressed, many times.
 */
#include "bench.h"

#include "base/mem.h"
#include "events/event_reader.h"
#include "events/task_json.h"

#include <stdio.h>
#include <stdlib.h>

static int64_t checksum;

static void on_event(void *owner, const struct log_event *e)
{
        checksum += e->type == EVENT_task_end ? e->task_end.metrics.executor_cpu_ns : 1;
}

static double thread_seconds(void)
{
        struct timespec t;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void make_log(struct buf *log, bool accumulables)
{
        static const struct executor_ref executor = {"12", "worker-12.example.com", "", 0};
        struct task_json json;
        task_json_init(&json, 3, 0, 1000, accumulables);
        for (int i = 0; i < 20000; i++) {
                struct task_end end = {
                        .info = {.id = i + 1000000,
                                 .launch_ms = 1700000000000 + i,
                                 .executor = &executor,
                                 .stage_id = 3,
                                 .index = i,
                                 .partition = i},
                        .finish_ms = 1700000000500 + i,
                        .metrics = {.executor_run_ms = 480 + i % 17,
                                    .executor_cpu_ns = 470000000 + i,
                                    .executor_deserialize_ms = 3,
                                    .executor_deserialize_cpu_ns = 2000000,
                                    .result_size = 1500,
                                    .input_bytes = 134217728,
                                    .input_records = 100000 + i,
                                    .shuffle_write = {.bytes = 3000000, .records = 1000, .write_ns = 99999}}};
                task_json_start(&json, log, &(struct task_start){.info = end.info});
                task_json_end(&json, log, &end);
        }
        task_json_deinit(&json);
}

static int load_log(struct buf *log, const char *path)
{
        FILE *f = fopen(path, "r");
        if (!f)
                return -1;
        for (size_t n = 1; n > 0; log->len += n) {
                buf_reserve(log, 1 << 20);
                n = fread(log->data + log->len, 1, 1 << 20, f);
        }
        fclose(f);
        return 0;
}

static void read_log(const char *what, const struct buf *log)
{
        enum { PIECE = 256 << 10, BYTES = 1 << 30 };
        struct event_reader *r = event_reader_new(&(struct event_reader_options){.on_event = on_event});
        double before = thread_seconds();
        for (size_t done = 0; done < BYTES; done += log->len)
                for (size_t at = 0; at < log->len;) {
                        size_t room, n;
                        char *to = event_reader_room(r, &room);
                        n = MIN(MIN(room, (size_t)PIECE), log->len - at);
                        memcpy(to, log->data + at, n);
                        event_reader_filled(r, n);
                        at += n;
                }
        event_reader_end(r, false);
        double seconds = thread_seconds() - before;
        struct event_reader_counts c = event_reader_counts(r);
        printf("%-44s %7.0f MB/s %8.0f events/ms, %zu damaged, %zu unknown, %.0f bytes a line\n", what,
               (double)c.bytes / seconds / 1e6, (double)c.events / seconds / 1e3, c.damaged, c.unknown,
               (double)c.bytes / (double)c.lines);
        event_reader_free(r);
}

int main(int argc, char **argv)
{
        struct buf log = BUF_INIT;
        if (argc > 1) {
                if (load_log(&log, argv[1]) < 0)
                        return 1;
                read_log(argv[1], &log);
        } else {
                make_log(&log, false);
                read_log("tasks without accumulables", &log);
                buf_reset(&log);
                make_log(&log, true);
                read_log("tasks with accumulables", &log);
        }
        buf_deinit(&log);
        return checksum == 42;
}
