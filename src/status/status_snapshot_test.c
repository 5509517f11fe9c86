/* Tests that a status survives as bytes, and that damaged bytes are refused. */
#include "status/diagnosis.h"
#include "status/status_snapshot.h"

#include "base/buf.h"
#include "base/mem.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <xxhash.h>

#include <cmocka.h>

#define STAGE_INFO                                                                                                          \
        "{\"Stage ID\":3,\"Stage Attempt ID\":0,\"Stage Name\":\"count at a.c:1\",\"Number of Tasks\":3,\"RDD Info\":[{"    \
        "\"RDD ID\":5,\"Name\":\"lines\",\"Scope\":\"{\\\"id\\\":\\\"2\\\",\\\"name\\\":\\\"map\\\",\\\"parent\\\":{"       \
        "\\\"id\\\":\\\"1\\\",\\\"name\\\":\\\"outer\\\"}}\",\"Callsite\":\"a.c:1\",\"Parent IDs\":[4],\"Storage Level\":{" \
        "\"Use Disk\":false,\"Use Memory\":true,\"Deserialized\":true,\"Replication\":1},\"Number of Partitions\":3}],"     \
        "\"Parent IDs\":[2],\"Details\":\"a.c:1\\nb.c:2\",\"Submission Time\":1000"
#define TASK_START(n)                                                                                                  \
        "{\"Event\":\"SparkListenerTaskStart\",\"Stage ID\":3,\"Stage Attempt ID\":0,\"Task Info\":" TASK_INFO(n) "}}"
#define TASK_INFO(n)                                                                                                   \
        "{\"Task ID\":" #n ",\"Index\":" #n                                                                            \
        ",\"Attempt\":0,\"Launch Time\":1100,\"Executor ID\":\"1\",\"Host\":\"h\","                                    \
        "\"Locality\":\"ANY\",\"Speculative\":false,\"Getting Result Time\":0"
#define TASK_END(n, reason)                                                                                                  \
        "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":3,\"Stage Attempt ID\":0,\"Task Type\":\"ResultTask\",\"Task "     \
        "End Reason\":" reason ",\"Task Info\":" TASK_INFO(                                                                  \
                n) ",\"Finish Time\":1700,\"Accumulables\":[{\"ID\":9,"                                                      \
                   "\"Name\":\"rows\",\"Update\":\"5\",\"Value\":\"7\"}]},\"Task Executor Metrics\":{\"JVMHeapMemory\":77}," \
                   "\"Task Metrics\":{\"Executor Run Time\":50" #n                                                           \
                   ",\"Input Metrics\":{\"Bytes Read\":2048,\"Records Read\":1}}}"

static const char *const lines[] = {
        "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"4.3.0\"}",
        "{\"Event\":\"SparkListenerResourceProfileAdded\",\"Resource Profile Id\":1,\"Executor Resource Requests\":{"
        "\"cores\":{\"Resource Name\":\"cores\",\"Amount\":2,\"Discovery Script\":\"\",\"Vendor\":\"\"}},\"Task Resource "
        "Requests\":{\"cpus\":{\"Resource Name\":\"cpus\",\"Amount\":1.5}}}",
        "{\"Event\":\"SparkListenerEnvironmentUpdate\",\"JVM Information\":{\"Java Home\":\"/j\"},\"Spark Properties\":{"
        "\"spark.a\":\"b\"},\"System Properties\":{\"c\":\"d\"},\"Classpath Entries\":{}}",
        "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"name\",\"App ID\":\"app-1\",\"Timestamp\":900,"
        "\"User\":\"me\",\"App Attempt ID\":\"2\"}",
        "{\"Event\":\"SparkListenerExecutorAdded\",\"Timestamp\":950,\"Executor ID\":\"1\",\"Executor Info\":{\"Host\":\"h\","
        "\"Total Cores\":3,\"Log Urls\":{\"stdout\":\"http://h/1\"}}}",
        "{\"Event\":\"SparkListenerBlockManagerAdded\",\"Block Manager ID\":{\"Executor ID\":\"1\",\"Host\":\"h\",\"Port\":7},"
        "\"Maximum Memory\":99,\"Timestamp\":960,\"Maximum Onheap Memory\":99,\"Maximum Offheap Memory\":0}",
        "{\"Event\":\"org.apache.spark.scheduler.SparkListenerMiscellaneousProcessAdded\",\"time\":970,\"processId\":\"am\",\"info\":{\"hostPort\":"
        "\"h:1\",\"cores\":1,\"logUrlInfo\":{\"stderr\":\"u\"}}}",
        "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":7,\"Submission Time\":990,\"Stage Infos\":[" STAGE_INFO
        "}],\"Stage IDs\":[3],\"Properties\":{\"spark.job.description\":\"what\",\"spark.jobGroup.id\":\"g\","
        "\"spark.job.tags\":\"x,y\"}}",
        "{\"Event\":\"SparkListenerStageSubmitted\",\"Stage Info\":" STAGE_INFO
        "},\"Properties\":{\"spark.job.description\":\"what\"}}",
        TASK_START(0),
        TASK_START(1),
        TASK_START(2),
        TASK_END(0, "{\"Reason\":\"Success\"}"),
        TASK_END(1, "{\"Reason\":\"ExceptionFailure\",\"Class Name\":\"X\",\"Description\":\"d\",\"Stack Trace\":[],"
                    "\"Full Stack Trace\":\"X: d\",\"Accumulator Updates\":[]}"),
        "{\"Event\":\"SparkListenerBlockUpdated\",\"Block Updated Info\":{\"Block Manager ID\":{\"Executor ID\":\"1\","
        "\"Host\":\"h\",\"Port\":7},\"Block ID\":\"rdd_5_0\",\"Storage Level\":{\"Use Disk\":false,\"Use Memory\":true,"
        "\"Deserialized\":true,\"Replication\":1},\"Memory Size\":10,\"Disk Size\":0}}",
        TASK_END(2, "{\"Reason\":\"TaskKilled\",\"Kill Reason\":\"bored\",\"Accumulator Updates\":[]}"),
        "{\"Event\":\"SparkListenerStageExecutorMetrics\",\"Executor ID\":\"1\",\"Stage ID\":3,\"Stage Attempt ID\":0,"
        "\"Executor Metrics\":{\"JVMHeapMemory\":88}}",
        "{\"Event\":\"SparkListenerStageCompleted\",\"Stage Info\":" STAGE_INFO
        ",\"Completion Time\":2000,\"Failure Reason\":\"bad luck\",\"Accumulables\":[{\"ID\":9,\"Name\":\"rows\","
        "\"Value\":\"7\"}]}}",
        "{\"Event\":\"SparkListenerJobEnd\",\"Job ID\":7,\"Completion Time\":2100,\"Job Result\":{\"Result\":\"JobFailed\","
        "\"Exception\":{\"Message\":\"it failed\",\"Stack Trace\":[]}}}",
        "{\"Event\":\"firesteel.NodeMetrics\",\"Executor ID\":\"1\",\"Timestamp\":1000,\"Heartbeats\":1,\"Busy CPU Time\":10,\"CPU Time\":20}",
        "{\"Event\":\"firesteel.NodeMetrics\",\"Executor ID\":\"1\",\"Timestamp\":1100,\"Heartbeats\":1,\"Busy CPU Time\":60,\"CPU Time\":120}",
        "{\"Event\":\"firesteel.NodeMetrics\",\"Executor ID\":\"1\",\"Timestamp\":1250,\"Heartbeats\":1,\"Busy CPU Time\":90,\"CPU Time\":180}",
        "{\"Event\":\"SparkListenerExecutorRemoved\",\"Timestamp\":2200,\"Executor ID\":\"1\",\"Removed Reason\":\"gone\"}",
        "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":2300,\"ExitCode\":3}",
};

static void snapshot_test_on_event(void *owner, const struct log_event *e)
{
        status_on_log_event(owner, e);
}

static void snapshot_test_on_damaged(void *owner, size_t line, const char *problem)
{
        fail_msg("line %zu: %s", line, problem);
}

/* Returns the status after the first @n lines. */
static struct status *snapshot_test_status(size_t n)
{
        struct status *s = status_new(NULL);
        struct event_reader *reader = event_reader_new(&(struct event_reader_options){
                .on_event = snapshot_test_on_event, .on_damaged = snapshot_test_on_damaged, .owner = s});
        for (size_t i = 0; i < n; i++) {
                size_t room, length = strlen(lines[i]);
                char *to = event_reader_room(reader, &room);
                assert_true(length + 1 <= room);
                memcpy(to, lines[i], length);
                to[length] = '\n';
                event_reader_filled(reader, length + 1);
        }
        event_reader_end(reader, false);
        assert_int_equal(event_reader_counts(reader).unknown, 0);
        event_reader_free(reader);
        return s;
}

/* Collects the bytes of pieces without their checksums. */
static bool snapshot_test_put(void *owner, const void *piece, size_t size)
{
        buf_append(owner, (const char *)piece + sizeof(uint64_t), size - sizeof(uint64_t));
        return true;
}

/* Writes the bytes of @s without the checksums of pieces. */
static void snapshot_test_write(const struct status *s, struct buf *out)
{
        uint64_t size = status_snapshot_size(s);
        assert_true(status_snapshot_write(s, snapshot_test_put, out));
        size_t pieces = (out->len + STATUS_SNAPSHOT_PIECE - 9) / (STATUS_SNAPSHOT_PIECE - 8);
        assert_int_equal(size, out->len + 8 * pieces);
}

/* Bytes that are read in pieces of any size, which get right checksums. */
struct snapshot_test_source {
        const struct buf *bytes;
        size_t at, size; /* of a piece, without the checksum */
        uint64_t n;
        struct buf piece;
        uint64_t damaged; /* a piece with a wrong checksum */
};

static const void *snapshot_test_get(void *owner, size_t *size)
{
        struct snapshot_test_source *p = owner;
        size_t n = MIN(p->size, p->bytes->len - p->at);
        uint64_t checksum = XXH3_64bits_withSeed(p->bytes->data + p->at, n, p->n) ^ (p->n == p->damaged);
        p->n++;
        buf_deinit(&p->piece); /* a piece is not used after the next call */
        p->piece = BUF_INIT;
        buf_append(&p->piece, &checksum, sizeof(checksum));
        buf_append(&p->piece, p->bytes->data + p->at, n);
        p->at += n;
        *size = p->piece.len;
        return n ? p->piece.data : NULL;
}

static bool snapshot_test_open(void *owner, uint64_t piece)
{
        assert_int_equal(piece, 0); /* no stage is large */
        return true;
}

static void snapshot_test_close(void *owner)
{
}

static struct status *snapshot_test_read(const struct buf *bytes, size_t piece, uint64_t damaged)
{
        struct snapshot_test_source source = {.bytes = bytes, .size = piece, .damaged = damaged};
        const struct status_snapshot_source calls = {
                .open = snapshot_test_open, .get = snapshot_test_get, .close = snapshot_test_close, .owner = &source};
        struct status *s = status_snapshot_read(&calls);
        buf_deinit(&source.piece);
        return s;
}

/* Pieces as they were put, for a status with large stages. */
struct snapshot_test_store {
        VEC(struct buf) pieces;
        struct status_snapshot_source source;
        size_t at;
        int n_open, n_opened, n_lost;
};

static bool snapshot_test_store_put(void *owner, const void *piece, size_t size)
{
        struct snapshot_test_store *store = owner;
        struct buf copy = BUF_INIT;
        buf_append(&copy, piece, size);
        vec_push(&store->pieces, copy);
        return true;
}

static bool snapshot_test_store_open(void *owner, uint64_t piece)
{
        struct snapshot_test_store *store = owner;
        store->at = piece;
        store->n_open++;
        store->n_opened++;
        return true;
}

static const void *snapshot_test_store_get(void *owner, size_t *size)
{
        struct snapshot_test_store *store = owner;
        if (store->at == store->pieces.len)
                return NULL;
        const struct buf *piece = &store->pieces.data[store->at++];
        *size = piece->len;
        return piece->data;
}

static void snapshot_test_store_close(void *owner)
{
        ((struct snapshot_test_store *)owner)->n_open--;
}

static void snapshot_test_store_on_lost(void *owner)
{
        ((struct snapshot_test_store *)owner)->n_lost++;
}

static void snapshot_test_store_write(struct snapshot_test_store *store, const struct status *s)
{
        uint64_t size = status_snapshot_size(s);
        *store = (struct snapshot_test_store){.source = {.open = snapshot_test_store_open,
                                                         .get = snapshot_test_store_get,
                                                         .close = snapshot_test_store_close,
                                                         .on_lost = snapshot_test_store_on_lost,
                                                         .owner = store}};
        assert_true(status_snapshot_write(s, snapshot_test_store_put, store));
        for (size_t i = 0; i < store->pieces.len; i++)
                size -= store->pieces.data[i].len;
        assert_int_equal(size, 0);
}

static void snapshot_test_store_deinit(struct snapshot_test_store *store)
{
        assert_int_equal(store->n_open, 0);
        for (size_t i = 0; i < store->pieces.len; i++)
                buf_deinit(&store->pieces.data[i]);
        vec_deinit(&store->pieces);
}

static void snapshot_test_stores_equal(const struct snapshot_test_store *a, const struct snapshot_test_store *b)
{
        assert_int_equal(a->pieces.len, b->pieces.len);
        for (size_t i = 0; i < a->pieces.len; i++) {
                assert_int_equal(a->pieces.data[i].len, b->pieces.data[i].len);
                assert_memory_equal(a->pieces.data[i].data, b->pieces.data[i].data, a->pieces.data[i].len);
        }
}

static void keeps_everything_at_each_moment(void **state)
{
        for (size_t n = 0; n <= ARRAY_SIZE(lines); n++) {
                CASE_LABEL("after %zu lines", n);
                _cleanup_(buf_deinit) struct buf first = BUF_INIT, second = BUF_INIT;
                struct status *s = snapshot_test_status(n);
                snapshot_test_write(s, &first);
                struct status *back = snapshot_test_read(&first, STATUS_SNAPSHOT_PIECE - 8, UINT64_MAX);
                assert_non_null(back);
                snapshot_test_write(back, &second);
                assert_int_equal(first.len, second.len);
                assert_memory_equal(first.data, second.data, first.len);
                status_free(s);
                status_free(back);
        }
}

/* Compares two statuses: the tasks by their values, as their chunks may be packed in other ways. */
static void snapshot_test_equal(struct status *a, struct status *b)
{
        _cleanup_(buf_deinit) struct buf first = BUF_INIT, second = BUF_INIT;
        assert_int_equal(a->stages.len, b->stages.len);
        for (size_t i = 0; i < a->stages.len; i++) {
                struct task_columns *x = &a->stages.data[i]->columns, *y = &b->stages.data[i]->columns;
                assert_int_equal(x->n_rows, y->n_rows);
                assert_int_equal(x->n_retained, y->n_retained);
                for (size_t row = 0; row < x->n_rows; row++) {
                        assert_int_equal(task_columns_is_removed(x, row), task_columns_is_removed(y, row));
                        for (int c = 0; c < TASK_COLUMNS && !task_columns_is_removed(x, row); c++)
                                assert_int_equal(task_columns_value(x, row, c), task_columns_value(y, row, c));
                }
                task_columns_deinit(x);
                task_columns_deinit(y);
        }
        snapshot_test_write(a, &first);
        snapshot_test_write(b, &second);
        assert_int_equal(first.len, second.len);
        assert_memory_equal(first.data, second.data, first.len);
}

/* Gives the lines from @from on to a status. */
static void snapshot_test_continue(struct status *s, size_t from)
{
        struct event_reader *reader = event_reader_new(&(struct event_reader_options){
                .on_event = snapshot_test_on_event, .on_damaged = snapshot_test_on_damaged, .owner = s});
        event_reader_resume(reader, s->application.spark_version);
        for (size_t i = from; i < ARRAY_SIZE(lines); i++) {
                size_t room, length = strlen(lines[i]);
                char *to = event_reader_room(reader, &room);
                assert_true(length + 1 <= room);
                memcpy(to, lines[i], length);
                to[length] = '\n';
                event_reader_filled(reader, length + 1);
        }
        event_reader_end(reader, false);
        event_reader_free(reader);
}

static void goes_on_as_if_it_had_not_been_away(void **state)
{
        for (size_t n = 0; n <= ARRAY_SIZE(lines); n++) {
                CASE_LABEL("after %zu lines", n);
                _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
                struct status *s = snapshot_test_status(n), *whole = snapshot_test_status(ARRAY_SIZE(lines));
                snapshot_test_write(s, &bytes);
                status_free(s);
                s = snapshot_test_read(&bytes, STATUS_SNAPSHOT_PIECE - 8, UINT64_MAX);
                assert_non_null(s);
                snapshot_test_continue(s, n);
                snapshot_test_equal(whole, s);
                status_free(s);
                status_free(whole);
        }
}

/* Tasks of a large stage start and end, and old ones go, before and after the status was away. */
static void goes_on_with_large_stages(void **state)
{
        enum { TASKS = 12000 };
        static const struct executor_ref executor = {.id = "1", .host = "h"};
        static const size_t cuts[] = {0, 1, 700, 2048, 5000, 11999, TASKS};
        for (size_t k = 0; k < ARRAY_SIZE(cuts); k++) {
                CASE_LABEL("after %zu tasks", cuts[k]);
                struct snapshot_test_store store = {0};
                struct status *both[2];
                for (int broken = 0; broken < 2; broken++) {
                        struct status *s = status_new(&(struct status_options){.retained_tasks = 4000});
                        struct stage_info stage = {.id = 1, .name = "s", .tasks = TASKS, .submission_ms = 1};
                        status_on_stage_submitted(s, &(struct stage_submitted){.stage = stage});
                        for (size_t i = 0; i <= TASKS + 50; i++) {
                                if (broken && i == cuts[k]) {
                                        snapshot_test_store_write(&store, s);
                                        status_free(s);
                                        s = status_snapshot_read(&store.source);
                                        assert_non_null(s);
                                }
                                struct task_info info = {.id = (int64_t)i,
                                                         .launch_ms = 1000 + (int64_t)i,
                                                         .executor = &executor,
                                                         .stage_id = 1,
                                                         .index = (int)i};
                                if (i < TASKS)
                                        status_on_task_start(s, &(struct task_start){.info = info});
                                if (i < 50 || i % 977 == 3)
                                        continue;
                                info.id -= 50; /* fifty tasks run */
                                info.index -= 50;
                                info.launch_ms -= 50;
                                struct task_end end = {.info = info,
                                                       .finish_ms = 2000 + 3 * (int64_t)(i * i % 9973),
                                                       .state = TASK_SUCCEEDED};
                                end.metrics.executor_run_ms = (int64_t)i * 77 % 1000;
                                status_on_task_end(s, &end);
                        }
                        both[broken] = s;
                }
                snapshot_test_equal(both[0], both[1]);
                status_free(both[0]);
                status_free(both[1]);
                snapshot_test_store_deinit(&store);
        }
}

static void restores_entities(void **state)
{
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
        struct status *s = snapshot_test_status(ARRAY_SIZE(lines));
        snapshot_test_write(s, &bytes);
        status_free(s);
        s = snapshot_test_read(&bytes, STATUS_SNAPSHOT_PIECE - 8, UINT64_MAX);
        assert_string_equal(s->application.attempt_id, "2");
        assert_string_equal(strmap_get(&s->application.spark_properties, "spark.a"), "b");
        const struct status_job *job = status_find_job(s, 7);
        assert_string_equal(job->description, "what");
        assert_string_equal(job->failure, "it failed");
        assert_int_equal(job->tags.len, 2);
        const struct status_stage *stage = status_find_stage(s, 3, 0);
        assert_ptr_equal(stage->jobs.data[0].job, job);
        assert_string_equal(stage->failure, "bad luck");
        assert_string_equal(stage->rdds.data[0].outer_scope->name, "outer");
        assert_int_equal(stage->peaks.values[0], 88);
        struct status_task task;
        status_get_task(s, stage, task_columns_find(&stage->columns, 1), &task);
        assert_string_equal(task.host, "h");
        assert_string_equal(task.note->error, "X: d");
        assert_string_equal(task.note->accumulables[0].value, "7");
        assert_int_equal(task.metrics.executor_run_ms, 501);
        assert_string_equal(status_find_executor(s, "1")->removed_reason, "gone");
        const struct node_series *node = status_find_executor(s, "1")->node;
        assert_int_equal(node->pace.n, 2);
        assert_int_equal(node->points[1].ms, 1250);
        assert_float_equal(node->points[1].node_cpu, 0.5, 1e-6);
        assert_string_equal(s->processes.data[0]->id, "am");
        assert_true(s->profiles.data[0].task_cpus == 1.5);
        status_free(s);
}

static void restores_many_tasks(void **state)
{
        static const struct executor_ref executor = {.id = "1", .host = "h"};
        struct status *s = status_new(&(struct status_options){.retained_tasks = 4000});
        struct stage_submitted submitted = {.stage = {.id = 1, .name = "s", .tasks = 9000, .submission_ms = 1}};
        status_on_stage_submitted(s, &submitted);
        for (int64_t i = 0; i < 9000; i++) {
                struct task_info info = {
                        .id = i, .launch_ms = 1000 + i, .executor = &executor, .stage_id = 1, .index = (int)i};
                status_on_task_start(s, &(struct task_start){.info = info});
                if (i % 100 == 3 && i > 8000)
                        continue; /* it never ends */
                struct task_end end = {.info = info, .finish_ms = 2000 + 3 * i, .state = TASK_SUCCEEDED};
                end.metrics.executor_run_ms = i * 77;
                status_on_task_end(s, &end);
        }
        struct snapshot_test_store first, second;
        snapshot_test_store_write(&first, s);
        struct status *back = status_snapshot_read(&first.source);
        assert_non_null(back);
        const struct status_stage *a = s->stages.data[0], *b = back->stages.data[0];
        static const double halves[] = {0, 0.5, 1};
        int64_t of_a[3], of_b[3];
        assert_int_equal(task_columns_quantiles(&a->columns, TASK_METRIC(executor_run_ms), halves, of_a, 3),
                         task_columns_quantiles(&b->columns, TASK_METRIC(executor_run_ms), halves, of_b, 3));
        assert_memory_equal(of_a, of_b, sizeof(of_a));
        for (size_t row = 0; row < a->columns.n_rows; row++) {
                assert_int_equal(task_columns_is_removed(&a->columns, row), task_columns_is_removed(&b->columns, row));
                if (!task_columns_is_removed(&a->columns, row))
                        for (int c = 0; c < TASK_COLUMNS; c++)
                                assert_int_equal(task_columns_value(&a->columns, row, c),
                                                 task_columns_value(&b->columns, row, c));
        }
        snapshot_test_store_write(&second, back);
        snapshot_test_stores_equal(&first, &second);
        status_free(s);
        status_free(back);
        snapshot_test_store_deinit(&first);
        snapshot_test_store_deinit(&second);
}

/* Summaries leave failed tasks out, also after a restart. */
static void restores_which_tasks_have_failed(void **state)
{
        enum { TASKS = 40000 };
        static const struct executor_ref executor = {.id = "1", .host = "h"};
        static const double most[] = {1};
        struct status *s = status_new(&(struct status_options){.retained_tasks = TASKS});
        struct stage_info stage = {.id = 1, .name = "s", .tasks = TASKS, .submission_ms = 1};
        status_on_stage_submitted(s, &(struct stage_submitted){.stage = stage});
        for (int i = 0; i < TASKS; i++) {
                struct task_info info = {
                        .id = i, .launch_ms = 1000 + i, .executor = &executor, .stage_id = 1, .index = i};
                struct task_end end = {.info = info, .finish_ms = 2000 + i, .state = TASK_SUCCEEDED};
                end.metrics.executor_run_ms = 10 + i % 50;
                if (i % 100 == 3) {
                        end.state = TASK_FAILED;
                        end.metrics.executor_run_ms = 1000;
                }
                status_on_task_start(s, &(struct task_start){.info = info});
                status_on_task_end(s, &end);
        }
        struct snapshot_test_store store;
        snapshot_test_store_write(&store, s);
        struct status *back = status_snapshot_read(&store.source);
        assert_non_null(back);
        int64_t value;
        assert_int_equal(
                task_columns_quantiles(&back->stages.data[0]->columns, TASK_METRIC(executor_run_ms), most, &value, 1),
                TASKS - TASKS / 100);
        assert_int_equal(value, 59);
        status_free(s);
        status_free(back);
        snapshot_test_store_deinit(&store);
}

static const int stage_tasks[] = {5000, 9000, 10};

/* Three stages, the last one with few tasks. */
static struct status *snapshot_test_stages(void)
{
        static const struct executor_ref executor = {.id = "1", .host = "h"};
        struct status *s = status_new(NULL);
        for (int id = 0; id < 3; id++) {
                struct stage_submitted submitted = {
                        .stage = {.id = id, .name = "s", .tasks = stage_tasks[id], .submission_ms = 1}};
                status_on_stage_submitted(s, &submitted);
                for (int i = 0; i < stage_tasks[id]; i++) {
                        struct task_info info = {.id = id * 10000 + i,
                                                 .launch_ms = 1000 + i,
                                                 .executor = &executor,
                                                 .stage_id = id,
                                                 .index = i};
                        struct task_end end = {.info = info, .finish_ms = 2000 + i * i % 999, .state = TASK_SUCCEEDED};
                        status_on_task_start(s, &(struct task_start){.info = info});
                        status_on_task_end(s, &end);
                }
        }
        return s;
}

static void reads_tasks_of_large_stage_when_needed(void **state)
{
        struct status *s = snapshot_test_stages();
        struct snapshot_test_store store;
        snapshot_test_store_write(&store, s);
        status_free(s);
        s = status_snapshot_read(&store.source);
        assert_non_null(s);
        assert_int_equal(store.n_opened, 1);
        for (size_t i = 0; i < 3; i++) {
                assert_int_equal(s->stages.data[i]->columns.n_rows, stage_tasks[i]);
                assert_int_equal(s->stages.data[i]->columns.loader != NULL, i < 2);
        }
        assert_int_equal(task_columns_value(&s->stages.data[2]->columns, 9, TASK_INDEX), 9);
        assert_int_equal(store.n_opened, 1);
        assert_int_equal(task_columns_value(&s->stages.data[1]->columns, 8999, TASK_INDEX), 8999);
        assert_int_equal(store.n_opened, 2);
        assert_non_null(s->stages.data[0]->columns.loader);
        assert_int_equal(task_columns_find(&s->stages.data[0]->columns, 4999), 4999);
        assert_int_equal(store.n_opened, 3);
        assert_int_equal(task_columns_find(&s->stages.data[1]->columns, 10001), 1);
        assert_int_equal(store.n_opened, 3);
        assert_int_equal(store.n_lost, 0);
        status_free(s);
        snapshot_test_store_deinit(&store);
}

/* Each function that reads tasks finds none in a stage whose tasks are lost. */
static void shows_no_tasks_if_they_are_lost(void **state)
{
        for (int function = 0; function < 6; function++) {
                CASE_LABEL("function %d", function);
                struct status *s = snapshot_test_stages();
                struct snapshot_test_store store;
                snapshot_test_store_write(&store, s);
                status_free(s);
                s = status_snapshot_read(&store.source);
                assert_non_null(s);
                const struct task_columns *t = &s->stages.data[1]->columns;
                struct buf *last = &store.pieces.data[store.pieces.len - 1];
                last->data[last->len - 1] ^= 1;
                int64_t values[TASK_BLOCK_ROWS];
                const struct task_page page = {.column = TASK_DURATION, .length = 1};
                struct stage_diagnosis diagnosis;
                size_t row;
                switch (function) {
                case 0:
                        assert_int_equal(task_columns_find(t, 10000), SIZE_MAX);
                        break;
                case 1:
                        assert_int_equal(task_columns_value(t, 5, TASK_INDEX), 0);
                        break;
                case 2:
                        assert_int_equal(task_columns_read(t, TASK_BLOCK_ROWS, TASK_INDEX, values), 0);
                        break;
                case 3:
                        assert_int_equal(task_columns_page(t, &page, &row), 0);
                        break;
                case 4:
                        assert_int_equal(task_columns_quantiles(t, TASK_DURATION, NULL, NULL, 0), 0);
                        break;
                default:
                        diagnose_stage(s, s->stages.data[1], 9000, &diagnosis);
                        assert_int_equal(diagnosis.n_seen, 0);
                }
                assert_int_equal(store.n_lost, 1);
                assert_int_equal(t->n_rows, 0);
                assert_int_equal(task_columns_value(&s->stages.data[0]->columns, 4999, TASK_INDEX), 4999);
                assert_int_equal(store.n_lost, 1);
                status_free(s);
                snapshot_test_store_deinit(&store);
        }
}

static void reads_pieces_of_any_size(void **state)
{
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
        struct status *s = snapshot_test_status(ARRAY_SIZE(lines));
        snapshot_test_write(s, &bytes);
        status_free(s);
        for (size_t piece = 1; piece < 200; piece++) {
                CASE_LABEL("pieces of %zu bytes", piece);
                _cleanup_(buf_deinit) struct buf again = BUF_INIT;
                s = snapshot_test_read(&bytes, piece, UINT64_MAX);
                assert_non_null(s);
                snapshot_test_write(s, &again);
                assert_int_equal(bytes.len, again.len);
                assert_memory_equal(bytes.data, again.data, bytes.len);
                status_free(s);
        }
}

static bool snapshot_test_refuse(void *owner, const void *piece, size_t size)
{
        ++*(int *)owner;
        return false;
}

static void ends_when_a_piece_is_refused(void **state)
{
        int n = 0;
        struct status *s = snapshot_test_status(ARRAY_SIZE(lines));
        assert_false(status_snapshot_write(s, snapshot_test_refuse, &n));
        assert_int_equal(n, 1);
        status_free(s);
}

/* The head ends with the length of the stream. */
enum { LENGTH_AT = 24, HEAD = 32 };

static void refuses_damage(void **state)
{
        enum { PIECE = 100 };
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
        struct status *s = snapshot_test_status(ARRAY_SIZE(lines));
        snapshot_test_write(s, &bytes);
        status_free(s);
        const size_t length = bytes.len;
        for (uint64_t i = 0; i * PIECE < length; i++)
                assert_null(snapshot_test_read(&bytes, PIECE, i));
        for (bytes.len = 0; bytes.len < length; bytes.len += 3)
                assert_null(snapshot_test_read(&bytes, PIECE, UINT64_MAX));
        bytes.len = length;
        buf_putc(&bytes, 0);
        assert_null(snapshot_test_read(&bytes, bytes.len, UINT64_MAX));
        bytes.len = length;
        /* With a right checksum: nothing is read beyond the end, whatever lengths say. */
        for (size_t i = HEAD; i + 4 <= bytes.len; i++) {
                char old[4];
                memcpy(old, bytes.data + i, 4);
                memset(bytes.data + i, 0x7f, 4);
                status_free(snapshot_test_read(&bytes, i % 2 ? PIECE : bytes.len, UINT64_MAX));
                memcpy(bytes.data + i, old, 4);
        }
        for (size_t i = 0; i < LENGTH_AT; i++) { /* another magic, version, columns, sizes */
                bytes.data[i] ^= 1;
                assert_null(snapshot_test_read(&bytes, bytes.len, UINT64_MAX));
                bytes.data[i] ^= 1;
        }
}

/* A bool of the options, which lie at the front, is neither 0 nor 1. */
static void refuses_bool_of_2(void **state)
{
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
        struct status *s = snapshot_test_status(ARRAY_SIZE(lines));
        const size_t at = HEAD + 4 * sizeof(s->options.retained_jobs);
        snapshot_test_write(s, &bytes);
        for (int value = 0; value <= 2; value++) {
                bytes.data[at] = (char)value;
                struct status *back = snapshot_test_read(&bytes, bytes.len, UINT64_MAX);
                assert_int_equal(back != NULL, value < 2);
                if (back)
                        assert_int_equal(back->options.is_live, value);
                status_free(back);
        }
        status_free(s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(keeps_everything_at_each_moment),
                cmocka_unit_test(goes_on_as_if_it_had_not_been_away),
                cmocka_unit_test(goes_on_with_large_stages),
                cmocka_unit_test(restores_entities),
                cmocka_unit_test(restores_many_tasks),
                cmocka_unit_test(restores_which_tasks_have_failed),
                cmocka_unit_test(reads_tasks_of_large_stage_when_needed),
                cmocka_unit_test(shows_no_tasks_if_they_are_lost),
                cmocka_unit_test(reads_pieces_of_any_size),
                cmocka_unit_test(ends_when_a_piece_is_refused),
                cmocka_unit_test(refuses_damage),
                cmocka_unit_test(refuses_bool_of_2),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
