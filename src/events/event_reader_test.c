/* Reading event logs: what the writers write comes back, and damaged, old and foreign lines do what event_reader.h
 * says. */
#include "events/event_reader.h"

#include "base/mem.h"
#include "events/event_json.h"
#include "events/task_json.h"
#include "unit/cases.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

struct reading {
        struct buf again; /* the events, written again */
        struct event_reader *reader;
        void (*check)(const struct log_event *e);
        int n_events, n_damaged, n_unknown;
        size_t damaged_line;
        char problem[100], unknown[200];
};

static void reading_write_task(struct buf *b, const struct log_event *e)
{
        struct task_json json;
        const struct task_info *info = &e->task_end.info; /* the first member of all three */
        task_json_init(&json, info->stage_id, info->stage_attempt, 0, false);
        if (e->type == EVENT_task_start)
                task_json_start(&json, b, &e->task_start);
        else if (e->type == EVENT_task_end)
                task_json_end(&json, b, &e->task_end);
        else
                task_json_getting_result(&json, b, &e->task_getting_result);
        task_json_deinit(&json);
}

static void reading_write(struct buf *b, const struct log_event *e)
{
        switch (e->type) {
        case EVENT_log_start:
                event_json_log_start(b);
                break;
        case EVENT_application_start:
                event_json_application_start(b, &e->application_start);
                break;
        case EVENT_application_end:
                event_json_application_end(b, &e->application_end);
                break;
        case EVENT_environment_update:
                event_json_environment_update(b, &e->environment_update, NULL);
                break;
        case EVENT_resource_profile_added:
                event_json_resource_profile_added(b, &e->resource_profile_added);
                break;
        case EVENT_block_manager_added:
                event_json_block_manager_added(b, &e->block_manager_added);
                break;
        case EVENT_block_manager_removed:
                event_json_block_manager_removed(b, &e->block_manager_removed);
                break;
        case EVENT_executor_added:
                event_json_executor_added(b, &e->executor_added);
                break;
        case EVENT_executor_removed:
                event_json_executor_removed(b, &e->executor_removed);
                break;
        case EVENT_exclusion_changed:
                event_json_exclusion_changed(b, &e->exclusion_changed);
                break;
        case EVENT_job_start:
                event_json_job_start(b, &e->job_start, NULL);
                break;
        case EVENT_job_end:
                event_json_job_end(b, &e->job_end);
                break;
        case EVENT_stage_submitted:
                event_json_stage_submitted(b, &e->stage_submitted, NULL);
                break;
        case EVENT_stage_completed:
                event_json_stage_completed(b, &e->stage_completed, "");
                break;
        case EVENT_unpersist_rdd:
                event_json_unpersist_rdd(b, &e->unpersist_rdd);
                break;
        case EVENT_block_updated:
                event_json_block_updated(b, &e->block_updated);
                break;
        case EVENT_task_start:
        case EVENT_task_end:
        case EVENT_task_getting_result:
                reading_write_task(b, e);
                break;
        case EVENT_stage_executor_metrics: {
                const int64_t *v = e->stage_executor_metrics.peaks.values;
                struct executor_metrics m = {v[PEAK_ON_HEAP_EXECUTION], v[PEAK_ON_HEAP_STORAGE],
                                             v[PEAK_OTHER_RESIDENT]};
                event_json_stage_executor_metrics(b, e->stage_executor_metrics.executor_id,
                                                  e->stage_executor_metrics.stage_id,
                                                  e->stage_executor_metrics.stage_attempt, &m);
                break;
        }
        case EVENT_node_metrics:
                event_json_node_metrics(b, e->node_metrics.executor_id, &e->node_metrics.node,
                                        e->node_metrics.heartbeats);
                break;
        default:
                fail_msg("an event of type %d", e->type);
        }
}

static void reading_on_event(void *owner, const struct log_event *e)
{
        struct reading *t = owner;
        t->n_events++;
        if (t->check)
                t->check(e);
        else
                reading_write(&t->again, e);
}

static void reading_on_damaged(void *owner, size_t line, const char *problem)
{
        struct reading *t = owner;
        t->n_damaged++;
        t->damaged_line = line;
        snprintf(t->problem, sizeof(t->problem), "%s", problem);
}

static void reading_on_unknown(void *owner, size_t line, const char *class_name)
{
        struct reading *t = owner;
        t->n_unknown++;
        snprintf(t->unknown, sizeof(t->unknown), "%s", class_name);
}

static void reading_init(struct reading *t, void (*check)(const struct log_event *e))
{
        *t = (struct reading){.check = check};
        t->reader = event_reader_new(&(struct event_reader_options){.on_event = reading_on_event,
                                                                    .on_damaged = reading_on_damaged,
                                                                    .on_unknown = reading_on_unknown,
                                                                    .owner = t,
                                                                    .max_line = 1 << 20});
}

static void reading_deinit(struct reading *t)
{
        event_reader_free(t->reader);
        buf_deinit(&t->again);
}

/* Passes @n bytes in pieces of at most @piece bytes. */
static void reading_feed(struct reading *t, const char *text, size_t n, size_t piece)
{
        while (n) {
                size_t room, part = MIN(n, piece);
                char *to = event_reader_room(t->reader, &room);
                part = MIN(part, room);
                memcpy(to, text, part);
                event_reader_filled(t->reader, part);
                text += part;
                n -= part;
        }
}

/* Reads a log and ends it. */
static struct event_reader_counts reading_read(struct reading *t, const char *text)
{
        reading_feed(t, text, strlen(text), 1000);
        event_reader_end(t->reader, false);
        return event_reader_counts(t->reader);
}

/* ------------------------------------------------------------------------------------------------ round trip */

static const struct executor_ref round_executor = {.id = "7", .host = "h\xc3\xb6st \"a\""};

static struct task_end round_task_end(enum task_state state, const struct task_detail *detail)
{
        struct task_end e = {.info = {.id = 12345678901,
                                      .launch_ms = 1700000000123,
                                      .executor = &round_executor,
                                      .stage_id = 3,
                                      .stage_attempt = 1,
                                      .index = 17,
                                      .attempt = 2,
                                      .partition = 18,
                                      .locality = LOCALITY_RACK_LOCAL,
                                      .speculative = true},
                             .getting_result_ms = 1700000000200,
                             .finish_ms = 1700000000456,
                             .kind = TASK_SHUFFLE_MAP,
                             .state = (uint8_t)state,
                             .detail = detail};
        int64_t *values = (int64_t *)&e.metrics;
        for (size_t i = 0; i < sizeof(e.metrics) / sizeof(int64_t); i++)
                values[i] = (int64_t)(i * i * 1000 + 1);
        return e;
}

static void round_write_tasks(struct buf *b)
{
        static const struct stack_frame frames[] = {{"words.so", "split", "words.c", 4}, {"words.so", "run", NULL, -1}};
        static const struct block_update blocks[] = {
                {.block_id = "rdd_3_0", .level = FST_STORAGE_MEMORY_ONLY, .memory_size = 100},
                {.block_id = "rdd_3_1", .level = FST_STORAGE_DISK_ONLY, .disk_size = 7}};
        static const struct task_detail detail = {.class_name = "firesteel.UserError",
                                                  .description = "line 7\n\tis \\ \"text\" \x01",
                                                  .full_stack_trace = "firesteel.UserError: line 7",
                                                  .stack = frames,
                                                  .n_stack = 2,
                                                  .message = "another attempt \xe2\x82\xac",
                                                  .block_manager = {"4", "there", 4711},
                                                  .shuffle_id = 1,
                                                  .map_id = 99,
                                                  .map_index = 9,
                                                  .reduce_id = 2,
                                                  .executor_id = "4",
                                                  .job_id = 5,
                                                  .updated_blocks = blocks,
                                                  .n_updated_blocks = 2};
        struct task_json json;
        task_json_init(&json, 3, 1, 0, false);
        struct task_end e = round_task_end(TASK_SUCCEEDED, NULL);
        task_json_start(&json, b, &(struct task_start){.info = e.info});
        task_json_end(&json, b, &e);
        for (int state = TASK_FAILED; state < TASK_RUNNING; state++) {
                e = round_task_end((enum task_state)state, &detail);
                if (state != TASK_FAILED_FATAL) /* which the log calls as TASK_FAILED */
                        task_json_end(&json, b, &e);
        }
        task_json_getting_result(&json, b,
                                 &(struct task_getting_result){.info = e.info, .getting_result_ms = 1700000000200});
        task_json_deinit(&json);
}

static void round_write_stages(struct buf *b)
{
        static const int rdd_parents[] = {2, 3};
        static const struct rdd_info rdds[] = {
                {.id = 4,
                 .name = "counts",
                 .call_site = "map at words.c:11",
                 .scope = "map \"x\"",
                 .scope_id = 4,
                 .parent_ids = rdd_parents,
                 .n_parents = 2,
                 .level = FST_STORAGE_MEMORY_AND_DISK_SER_2,
                 .barrier = true,
                 .determinism = RDD_INDETERMINATE,
                 .partitions = 9,
                 .cached_partitions = 2,
                 .memory_size = 1000,
                 .disk_size = 2000},
                {.id = 3, .name = "text", .call_site = "x", .level = FST_STORAGE_OFF_HEAP}};
        struct stage_info stage = {.id = 3,
                                   .attempt = 1,
                                   .name = "collect at words.c:12",
                                   .tasks = 9,
                                   .rdds = rdds,
                                   .n_rdds = 2,
                                   .parent_ids = (const int[]){1, 2},
                                   .n_parents = 2,
                                   .details = "collect at words.c:12\nmain"};
        _cleanup_(strmap_deinit) struct strmap properties = STRMAP_INIT;
        strmap_set(&properties, "spark.jobGroup.id", "a \"group\"");
        strmap_set(&properties, "empty", "");
        event_json_job_start(
                b,
                &(struct job_start){
                        .id = 8, .ms = 1700000000001, .stages = &stage, .n_stages = 1, .properties = &properties},
                NULL);
        stage.submission_ms = 1700000000002;
        event_json_stage_submitted(b, &(struct stage_submitted){stage, &properties}, NULL);
        stage.completion_ms = 1700000000003;
        stage.failure_reason = "it\nfailed";
        event_json_stage_completed(b, &(struct stage_completed){stage}, "");
        event_json_stage_executor_metrics(b, "7", 3, 1, &(struct executor_metrics){10, 20, 30});
        event_json_node_metrics(b, "7", &(struct node_counters){1700000000003, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 2);
        event_json_job_end(b, &(struct job_end){.id = 8, .ms = 1700000000004, .failure = "Job aborted: \"x\""});
        event_json_job_end(b, &(struct job_end){.id = 9, .ms = 1700000000005});
}

static void round_write_application(struct buf *b)
{
        _cleanup_(strmap_deinit) struct strmap map = STRMAP_INIT;
        strmap_set(&map, "stdout", "http://h/stdout?x=\\y");
        strmap_set(&map, "\xc3\xa4", "2");
        const struct block_manager_ref manager = {"driver", "localhost", 40000};
        event_json_log_start(b);
        event_json_resource_profile_added(b, &(struct resource_profile_added){.id = 2,
                                                                              .executor_cores = 3,
                                                                              .executor_memory_mib = 1024,
                                                                              .executor_offheap_mib = 5,
                                                                              .task_cpus = 2});
        event_json_executor_added(
                b, &(struct executor_added){
                           .id = "7", .host = "h", .ms = 5, .total_cores = 4, .log_urls = &map, .attributes = &map});
        event_json_block_manager_added(
                b, &(struct block_manager_added){
                           .manager = manager, .ms = 6, .max_on_heap_memory = 400 << 20, .max_off_heap_memory = 7});
        event_json_environment_update(b,
                                      &(struct environment_update){.runtime = &map,
                                                                   .spark_properties = &map,
                                                                   .hadoop_properties = &map,
                                                                   .classpath_entries = &map},
                                      NULL);
        event_json_application_start(
                b,
                &(struct application_start){.name = "app", .id = "local-1", .ms = 4, .user = "me", .attempt_id = "1"});
        event_json_block_updated(b, &(struct block_updated){{.manager = manager,
                                                             .block_id = "rdd_1_2",
                                                             .level = FST_STORAGE_MEMORY_ONLY_SER_2,
                                                             .memory_size = 300}});
        event_json_block_updated(b, &(struct block_updated){{.manager = manager, .block_id = "rdd_1_3"}});
        event_json_unpersist_rdd(b, &(struct unpersist_rdd){.rdd_id = 4});
        event_json_block_manager_removed(b, &(struct block_manager_removed){.manager = manager, .ms = 7});
        event_json_executor_removed(b, &(struct executor_removed){.id = "7", .ms = 8, .reason = "lost: \xe2\x82\xac"});
        for (int i = 0; i < 8; i++)
                event_json_exclusion_changed(b, &(struct exclusion_changed){.ms = 9,
                                                                            .is_host = i & 1,
                                                                            .id = "7",
                                                                            .failures = i & 4 ? 0 : 3,
                                                                            .stage_id = i & 2 ? 3 : -1,
                                                                            .stage_attempt = i & 2 ? 1 : -1,
                                                                            .lifted = i & 4});
        event_json_application_end(b, &(struct application_end){.ms = 10, .exit_code = 3});
        event_json_application_end(b, &(struct application_end){.ms = 10, .exit_code = -1});
}

static void returns_every_event_as_written(void **state)
{
        static const size_t pieces[] = {1 << 20, 1000, 7, 1};
        _cleanup_(buf_deinit) struct buf log = BUF_INIT;
        round_write_application(&log);
        round_write_stages(&log);
        round_write_tasks(&log);
        for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
                CASE_LABEL("pieces of %zu bytes", pieces[i]);
                struct reading t;
                reading_init(&t, NULL);
                reading_feed(&t, log.data, log.len, pieces[i]);
                event_reader_end(t.reader, false);
                struct event_reader_counts counts = event_reader_counts(t.reader);
                assert_int_equal(t.n_damaged, 0);
                assert_int_equal(counts.ignored, 8); /* the old names of exclusion */
                assert_int_equal(counts.lines, counts.events + counts.ignored);
                assert_string_equal(t.again.data, log.data);
                reading_deinit(&t);
        }
}

/* -------------------------------------------------------------------------------------------- genuine and old logs */

static void check_genuine_task(const struct log_event *e)
{
        const struct task_end *t = &e->task_end;
        if (e->type == EVENT_stage_executor_metrics) { /* of an executor: the greatest of its stages */
                assert_string_equal(e->stage_executor_metrics.executor_id, "driver");
                assert_int_equal(e->stage_executor_metrics.stage_id, -1);
                assert_int_equal(e->stage_executor_metrics.peaks.values[0], 9);
                assert_int_equal(e->stage_executor_metrics.peaks.values[PEAK_MINOR_GCS], 5);
                return;
        }
        assert_int_equal(e->type, EVENT_task_end);
        assert_int_equal(t->state, TASK_SUCCEEDED);
        assert_int_equal(t->presence, METRICS_PRESENT);
        assert_int_equal(t->metrics.jvm_gc_ms, 17);
        assert_non_null(t->detail);
        assert_int_equal(t->detail->n_accumulables, 1);
        assert_string_equal(t->detail->accumulables[0].name, "lines");
        assert_string_equal(t->detail->accumulables[0].update, "10");
        assert_string_equal(t->detail->accumulables[0].value, "[1,2]");
        assert_int_equal(t->detail->peaks->values[0], 123);
        assert_int_equal(t->detail->peaks->values[22], 5);
        assert_int_equal(t->detail->push_read->local_chunks, 4);
        assert_int_equal(t->info.partition, -1);
}

static void reads_what_only_spark_writes(void **state)
{
        struct reading t;
        reading_init(&t, check_genuine_task);
        reading_read(
                &t,
                "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":1,\"Stage Attempt ID\":0,\"Task Type\":\"ResultTask\","
                "\"Task End Reason\":{\"Reason\":\"Success\"},\"Task Info\":{\"Task ID\":1,\"Index\":0,\"Attempt\":0,"
                "\"Launch Time\":5,\"Executor ID\":\"1\",\"Host\":\"h\",\"Locality\":\"ANY\",\"Speculative\":false,"
                "\"Getting Result Time\":0,\"Finish Time\":9,\"Failed\":false,\"Killed\":false,\"Accumulables\":["
                "{\"ID\":1,\"Name\":\"internal.metrics.x\",\"Update\":1,\"Value\":2,\"Internal\":true},"
                "{\"ID\":2,\"Name\":\"internal.metrics.}\",\"Value\":[{}],\"Internal\":true},"
                "{\"ID\":3,\"Name\":\"rows\",\"Value\":\"3\",\"Internal\":false,\"Metadata\":\"sql\"},"
                "{\"ID\":4,\"Name\":\"lines\",\"Update\":\"10\",\"Value\":[1,2],\"Internal\":false}]},"
                "\"Task Executor Metrics\":{\"JVMHeapMemory\":123,\"ConcurrentGCTime\":5},"
                "\"Task Metrics\":{\"JVM GC Time\":17,\"Shuffle Read Metrics\":{\"Push Based Shuffle\":"
                "{\"Merged Local Chunks Fetched\":4}}}}\n"
                "{\"Event\":\"SparkListenerExecutorMetricsUpdate\",\"Executor ID\":\"driver\",\"Metrics Updated\":[],"
                "\"Executor Metrics Updated\":[{\"Stage ID\":-1,\"Stage Attempt ID\":-1,\"Executor Metrics\":"
                "{\"JVMHeapMemory\":9,\"MinorGCCount\":4}},{\"Executor Metrics\":{\"JVMHeapMemory\":7,"
                "\"MinorGCCount\":5}}]}\n");
        assert_int_equal(t.n_damaged, 0);
        assert_int_equal(t.n_events, 2);
        reading_deinit(&t);
}

static void check_old_values(const struct log_event *e)
{
        switch (e->type) {
        case EVENT_block_manager_added:
                assert_int_equal(e->block_manager_added.ms, -1);
                assert_true(e->block_manager_added.is_unsplit);
                assert_int_equal(e->block_manager_added.max_on_heap_memory, 500);
                break;
        case EVENT_job_start:
                assert_int_equal(e->job_start.ms, -1);
                assert_int_equal(e->job_start.n_stages, 2);
                assert_string_equal(e->job_start.stages[1].name, "unknown");
                assert_int_equal(e->job_start.stages[1].id, 4);
                assert_int_equal(e->job_start.stages[1].tasks, 0);
                break;
        case EVENT_job_end:
                assert_int_equal(e->job_end.ms, -1);
                assert_null(e->job_end.failure);
                break;
        case EVENT_stage_completed:
                assert_int_equal(e->stage_completed.stage.attempt, 0);
                assert_string_equal(e->stage_completed.stage.details, "");
                break;
        case EVENT_task_end:
                assert_int_equal(e->task_end.presence, METRICS_ABSENT);
                if (e->task_end.state == TASK_FETCH_FAILED) {
                        assert_string_equal(e->task_end.detail->message, "Unknown reason");
                        assert_int_equal(e->task_end.detail->map_index, INT_MIN);
                } else if (e->task_end.state == TASK_EXECUTOR_LOST) {
                        assert_string_equal(e->task_end.detail->executor_id, "Unknown");
                } else if (e->task_end.state == TASK_COMMIT_DENIED) {
                        assert_int_equal(e->task_end.detail->job_id, -1);
                        assert_int_equal(e->task_end.detail->commit_attempt, -1);
                } else {
                        assert_string_equal(e->task_end.detail->reason, "Resubmitted");
                }
                break;
        case EVENT_exclusion_changed:
                assert_true(e->exclusion_changed.is_host);
                assert_string_equal(e->exclusion_changed.id, "h1");
                break;
        default:
                fail_msg("an event of type %d", e->type);
        }
}

#define OLD_TASK_END(reason)                                                                                           \
        "{\"Event\":\"SparkListenerTaskEnd\",\"Stage ID\":1,\"Task End Reason\":{\"Reason\":\"" reason "\"},"          \
        "\"Task Info\":{\"Task ID\":1,\"Index\":0,\"Attempt\":0,\"Launch Time\":5,\"Executor ID\":\"1\",\"Host\":\"h\"}}\n"

static void gives_missing_fields_the_values_of_spark(void **state)
{
        struct reading t;
        reading_init(&t, check_old_values);
        reading_read(
                &t,
                "{\"Event\":\"SparkListenerBlockManagerAdded\",\"Block Manager ID\":{\"Executor ID\":\"1\",\"Host\":\"h\","
                "\"Port\":5},\"Maximum Memory\":500}\n"
                "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":1,\"Stage IDs\":[3,4]}\n"
                "{\"Event\":\"SparkListenerJobEnd\",\"Job ID\":1,\"Job Result\":{\"Result\":\"JobSucceeded\"}}\n"
                "{\"Event\":\"SparkListenerStageCompleted\",\"Stage Info\":{\"Stage ID\":3,\"Number of Tasks\":2}}\n" OLD_TASK_END(
                        "FetchFailed") OLD_TASK_END("ExecutorLostFailure") OLD_TASK_END("TaskCommitDenied")
                        OLD_TASK_END(
                                "Resubmitted") "{\"Event\":\"org.apache.spark.scheduler.SparkListenerNodeBlacklisted\",\"time\":1,\"hostId\":\"h1\","
                                               "\"executorFailures\":2}\n");
        assert_int_equal(t.n_damaged, 0);
        assert_int_equal(t.n_events, 9);
        reading_deinit(&t);
}

static void check_scope(const struct log_event *e)
{
        const struct rdd_info *rdd = e->stage_submitted.stage.rdds;
        assert_string_equal(rdd->scope, "map");
        assert_int_equal(rdd->scope_id, 3);
        assert_string_equal(rdd->outer_scope->name, "Exchange");
        assert_string_equal(rdd->outer_scope->parent->id, "1");
        assert_null(rdd->outer_scope->parent->parent);
}

static void reads_nested_scopes(void **state)
{
        struct reading t;
        reading_init(&t, check_scope);
        reading_read(
                &t,
                "{\"Event\":\"SparkListenerStageSubmitted\",\"Stage Info\":{\"Stage ID\":3,\"RDD Info\":[{\"RDD ID\":1,"
                "\"Scope\":\"{\\\"id\\\":\\\"3\\\",\\\"name\\\":\\\"map\\\",\\\"parent\\\":{\\\"id\\\":\\\"2\\\","
                "\\\"name\\\":\\\"Exchange\\\",\\\"parent\\\":{\\\"id\\\":\\\"1\\\",\\\"name\\\":\\\"W\\\"}}}\"}]}}");
        assert_int_equal(t.n_events, 1);
        reading_deinit(&t);
}

static void reads_fields_in_any_order(void **state)
{
        struct reading t;
        reading_init(&t, NULL);
        reading_read(&t, " { \"Timestamp\" : 5 , \"new\" : [ {\"a\":\"}\"} , \"\\\"\" ], \"ExitCode\":1,\n");
        reading_read(&t,
                     "{\"ExitCode\" : 1, \"new\" : [{\"a\":\"}\\\"\"}, 1.5e3 , null], \"Timestamp\" : 5, \"Event\" : "
                     "\"SparkListenerApplicationEnd\" } \r\n");
        assert_int_equal(t.n_events, 1);
        assert_int_equal(t.n_damaged, 1);
        assert_string_equal(t.again.data,
                            "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":5,\"ExitCode\":1}\n");
        reading_deinit(&t);
}

static void check_spaced_attributes(const struct log_event *e)
{
        assert_string_equal(strmap_get(e->executor_added.attributes, "NAME"), "a");
        assert_string_equal(strmap_get(e->executor_added.attributes, "NUMBER"), "1");
}

static void reads_maps_with_blanks(void **state)
{
        struct reading t;
        reading_init(&t, check_spaced_attributes);
        reading_read(
                &t,
                "{\"Event\": \"SparkListenerExecutorAdded\", \"Timestamp\": 1, \"Executor ID\": \"1\", \"Executor "
                "Info\": {\"Host\": \"h\", \"Total Cores\": 1, \"Attributes\": {\"NAME\": \"a\", \"NUMBER\" :\t1}}}\n");
        assert_int_equal(t.n_events, 1);
        reading_deinit(&t);
}

/* ------------------------------------------------------------------------------------------------ damage */

#define GOOD "{\"Event\":\"SparkListenerUnpersistRDD\",\"RDD ID\":1}\n"

static void reports_damaged_lines_and_reads_the_others(void **state)
{
        static const struct {
                const char *line, *problem;
        } cases[] = {
                {"{\"Event\":\"SparkListenerUnpersistRDD\",\"RDD ID\":01}", "a number has a leading zero"},
                {"{\"Event\":\"SparkListenerUnpersistRDD\",\"RDD ID\":99999999999}", "a number is out of range"},
                {"{\"Event\":\"SparkListenerUnpersistRDD\",\"RDD ID\":9223372036854775808}",
                 "a number is out of range"},
                {"{\"Event\":\"SparkListenerUnpersistRDD\",\"RDD ID\":\"1\"}", "a number was expected"},
                {"{\"Event\":\"SparkListenerUnpersistRDD\",\"RDD ID\":1", "a comma or } was expected"},
                {"{\"Event\":\"SparkListenerUnpersistRDD\",\"RDD ID\":1}}", "more text follows the event"},
                {"{\"Event\":\"SparkListenerUnpersistRDD\",\"RDD", "a string does not end"},
                {"{\"Event\":\"SparkListenerUnpersistRDD", "a string does not end"},
                {"{\"Event\":\"SparkListenerUnpersistRDD\"", "a comma or } was expected"},
                {"{\"Event\":\"SparkListenerExecutorRemoved\",\"Executor ID\":\"\\x\"}",
                 "a string has an invalid escape or does not end"},
                {"{\"Event\":\"SparkListenerTaskStart\",\"Stage ID\":1}", "a task has no executor"},
                {"{\"a\":1}", "the line is not an event"},
                {"java.lang.OutOfMemoryError", "an object was expected"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%s", cases[i].line);
                _cleanup_free_ char *log = mem_printf(GOOD "\n%s\n" GOOD, cases[i].line);
                struct reading t;
                reading_init(&t, NULL);
                struct event_reader_counts counts = reading_read(&t, log);
                assert_int_equal(counts.damaged, 1);
                assert_int_equal(t.damaged_line, 3);
                assert_string_equal(t.problem, cases[i].problem);
                assert_string_equal(t.again.data, GOOD GOOD);
                reading_deinit(&t);
        }
}

static void takes_no_prefix_of_a_line_for_an_event(void **state)
{
        _cleanup_(buf_deinit) struct buf log = BUF_INIT;
        round_write_tasks(&log);
        char *first = strchr(log.data, '\n') + 1;
        size_t length = (size_t)(strchr(first, '\n') - first);
        for (size_t n = 1; n < length; n++) {
                struct reading t;
                reading_init(&t, NULL);
                reading_feed(&t, first, n, 1 << 20);
                event_reader_end(t.reader, false);
                assert_int_equal(t.n_events, 0);
                assert_int_equal(t.n_damaged, 1);
                reading_deinit(&t);
        }
}

static void ignores_the_beginning_of_a_line_that_is_being_written(void **state)
{
        struct reading t;
        reading_init(&t, NULL);
        reading_feed(&t, GOOD "{\"Event\":\"Spar", sizeof(GOOD) + 13, 1 << 20);
        event_reader_end(t.reader, true);
        assert_int_equal(t.n_events, 1);
        assert_int_equal(t.n_damaged, 0);
        reading_deinit(&t);
}

static void drops_lines_that_are_too_long(void **state)
{
        struct reading t;
        _cleanup_(buf_deinit) struct buf log = BUF_INIT;
        buf_puts(&log, GOOD "{\"Event\":\"SparkListenerExecutorRemoved\",\"Removed Reason\":\"");
        for (int i = 0; i < 300000; i++)
                buf_puts(&log, "abcdefgh");
        buf_puts(&log, "\"}\n" GOOD);
        reading_init(&t, NULL);
        reading_feed(&t, log.data, log.len, 60000);
        event_reader_end(t.reader, false);
        assert_int_equal(t.n_events, 2);
        assert_int_equal(t.n_damaged, 1);
        assert_int_equal(t.damaged_line, 2);
        assert_string_equal(t.problem, "the line is too long");
        reading_deinit(&t);
}

static void names_each_unknown_class_once(void **state)
{
        struct reading t;
        reading_init(&t, NULL);
        struct event_reader_counts counts = reading_read(
                &t, "{\"Event\":\"com.example.Progress\",\"x\":1}\n{\"Event\":\"com.example.Progress\",\"x\":2}\n"
                    "{\"Event\":\"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart\",\"x\":1}\n" GOOD);
        assert_int_equal(counts.unknown, 2);
        assert_int_equal(t.n_unknown, 1);
        assert_string_equal(t.unknown, "com.example.Progress");
        assert_int_equal(counts.ignored, 1);
        assert_int_equal(counts.damaged, 0);
        assert_int_equal(t.n_events, 1);
        reading_deinit(&t);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(returns_every_event_as_written),
                cmocka_unit_test(reads_what_only_spark_writes),
                cmocka_unit_test(gives_missing_fields_the_values_of_spark),
                cmocka_unit_test(reads_nested_scopes),
                cmocka_unit_test(reads_fields_in_any_order),
                cmocka_unit_test(reads_maps_with_blanks),
                cmocka_unit_test(reports_damaged_lines_and_reads_the_others),
                cmocka_unit_test(takes_no_prefix_of_a_line_for_an_event),
                cmocka_unit_test(ignores_the_beginning_of_a_line_that_is_being_written),
                cmocka_unit_test(drops_lines_that_are_too_long),
                cmocka_unit_test(names_each_unknown_class_once),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
