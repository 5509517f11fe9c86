/*
 * Reads task events of logs; see event_reader.h. They are nearly all of a log, so their fields are in the order of
 * Spark's writer, and the parts that most tasks leave empty cost little: the accumulables of Spark itself are skipped
 * without looking at them.
 */
#include "events/event_reader_internal.h"

#include <limits.h>

/* The content of a line of a task, in the form of its fields. */
struct task_line {
        struct task_info info;
        int64_t getting_result_ms, finish_ms;
        char *executor_id, *host, *locality, *type;
        bool failed, killed, has_metrics;
        struct accumulable_list accumulables;
        struct executor_peaks peaks;
        struct task_metrics metrics;
        struct push_read_metrics push_read;
        char *reason;
        struct task_detail detail;
        bool caused_by_app;
        const struct block_update *blocks;
        size_t n_blocks;
};

/* -------------------------------------------------------------------------------------------------- info */

static const struct json_field task_info_fields[] = {
        JSON_FIELD(INT64, struct task_line, info.id, "Task ID"),
        JSON_FIELD(INT32, struct task_line, info.index, "Index"),
        JSON_FIELD(INT32, struct task_line, info.attempt, "Attempt"),
        JSON_FIELD(INT32, struct task_line, info.partition, "Partition ID"),
        JSON_FIELD(INT64, struct task_line, info.launch_ms, "Launch Time"),
        JSON_FIELD(TEXT, struct task_line, executor_id, "Executor ID"),
        JSON_FIELD(TEXT, struct task_line, host, "Host"),
        JSON_FIELD(TEXT, struct task_line, locality, "Locality"),
        JSON_FIELD(BOOL, struct task_line, info.speculative, "Speculative"),
        JSON_FIELD(INT64, struct task_line, getting_result_ms, "Getting Result Time"),
        JSON_FIELD(INT64, struct task_line, finish_ms, "Finish Time"),
        JSON_FIELD(BOOL, struct task_line, failed, "Failed"),
        JSON_FIELD(BOOL, struct task_line, killed, "Killed"),
        JSON_FIELD_CALL(event_reader_read_accumulables, offsetof(struct task_line, accumulables), "Accumulables"),
};
static const struct json_fields task_info_table = JSON_FIELDS(task_info_fields);

static const struct json_field task_start_fields[] = {
        JSON_FIELD(INT32, struct task_line, info.stage_id, "Stage ID"),
        JSON_FIELD(INT32, struct task_line, info.stage_attempt, "Stage Attempt ID"),
        JSON_FIELD_OBJECT(&task_info_table, 0, "Task Info"),
};
static const struct json_fields task_start_table = JSON_FIELDS(task_start_fields);

static enum task_locality task_reader_locality(const char *name)
{
        static const char *const names[] = {"PROCESS_LOCAL", "NODE_LOCAL", "NO_PREF", "RACK_LOCAL"};
        for (size_t i = 0; name && i < ARRAY_SIZE(names); i++)
                if (strcmp(name, names[i]) == 0)
                        return (enum task_locality)i;
        return LOCALITY_ANY;
}

/* Completes the common part of a task's line. */
static bool task_reader_finish_info(struct event_reader *r, struct json_cursor *c, struct task_line *l)
{
        if (!l->executor_id || !l->host) {
                c->problem = "a task has no executor";
                return false;
        }
        l->info.executor = event_reader_executor(r, l->executor_id, l->host);
        l->info.locality = (uint8_t)task_reader_locality(l->locality);
        return true;
}

bool task_reader_start(struct event_reader *r, struct json_cursor *c)
{
        struct task_line l;
        memset(&l, 0, offsetof(struct task_line, peaks));
        l.info.partition = -1;
        if (!json_read_object(c, &task_start_table, &l, r) || !task_reader_finish_info(r, c, &l))
                return false;
        r->event.type = EVENT_task_start;
        r->event.task_start = (struct task_start){.info = l.info};
        return true;
}

bool task_reader_getting_result(struct event_reader *r, struct json_cursor *c)
{
        struct task_line l;
        memset(&l, 0, offsetof(struct task_line, peaks));
        l.info.partition = l.info.stage_id = -1; /* the line does not name its stage */
        if (!json_read_object(c, &task_start_table, &l, r) || !task_reader_finish_info(r, c, &l))
                return false;
        r->event.type = EVENT_task_getting_result;
        r->event.task_getting_result =
                (struct task_getting_result){.info = l.info, .getting_result_ms = l.getting_result_ms};
        return true;
}

/* ------------------------------------------------------------------------------------------------ reasons */

static bool task_reader_read_frames(struct json_cursor *c, void *base, void *context)
{
        static const struct json_field fields[] = {
                JSON_FIELD(TEXT, struct stack_frame, class_name, "Declaring Class"),
                JSON_FIELD(TEXT, struct stack_frame, function, "Method Name"),
                JSON_FIELD(TEXT, struct stack_frame, file, "File Name"),
                JSON_FIELD(INT32, struct stack_frame, line, "Line Number"),
        };
        static const struct json_fields table = JSON_FIELDS(fields);
        struct event_reader *r = context;
        struct task_detail *d = base;
        VEC(struct stack_frame) frames = {0};
        for (bool more = json_begin_array(c); more; more = json_next_element(c)) {
                vec_push(&frames, (struct stack_frame){.class_name = "", .function = "", .line = -1});
                if (!json_read_object(c, &table, &frames.data[frames.len - 1], r))
                        break;
        }
        if (frames.len) {
                d->stack = memcpy(arena_alloc(&r->arena, frames.len * sizeof(frames.data[0])), frames.data,
                                  frames.len * sizeof(frames.data[0]));
                d->n_stack = frames.len;
        }
        vec_deinit(&frames);
        return !c->problem;
}

static const struct json_field task_reason_fields[] = {
        JSON_FIELD(TEXT, struct task_line, reason, "Reason"),
        JSON_FIELD(TEXT, struct task_line, detail.class_name, "Class Name"),
        JSON_FIELD(TEXT, struct task_line, detail.description, "Description"),
        JSON_FIELD_CALL(task_reader_read_frames, offsetof(struct task_line, detail), "Stack Trace"),
        JSON_FIELD(TEXT, struct task_line, detail.full_stack_trace, "Full Stack Trace"),
        JSON_FIELD_OBJECT(&event_reader_block_manager_fields, offsetof(struct task_line, detail.block_manager),
                          "Block Manager Address"),
        JSON_FIELD(INT32, struct task_line, detail.shuffle_id, "Shuffle ID"),
        JSON_FIELD(INT64, struct task_line, detail.map_id, "Map ID"),
        JSON_FIELD(INT32, struct task_line, detail.map_index, "Map Index"),
        JSON_FIELD(INT32, struct task_line, detail.reduce_id, "Reduce ID"),
        JSON_FIELD(TEXT, struct task_line, detail.message, "Message"),
        JSON_FIELD(TEXT, struct task_line, detail.message, "Kill Reason"),
        JSON_FIELD(TEXT, struct task_line, detail.executor_id, "Executor ID"),
        JSON_FIELD(BOOL, struct task_line, caused_by_app, "Exit Caused By App"),
        JSON_FIELD(TEXT, struct task_line, detail.message, "Loss Reason"),
        JSON_FIELD(INT32, struct task_line, detail.job_id, "Job ID"),
        JSON_FIELD(INT32, struct task_line, detail.commit_partition, "Partition ID"),
        JSON_FIELD(INT32, struct task_line, detail.commit_attempt, "Attempt Number"),
};
static const struct json_fields task_reason_table = JSON_FIELDS(task_reason_fields);

/* Sets the state and the defaults of older logs. */
static enum task_state task_reader_state(struct task_line *l)
{
        struct task_detail *d = &l->detail;
        const char *reason = l->reason ? l->reason : "UnknownReason";
        if (strcmp(reason, "Success") == 0)
                return TASK_SUCCEEDED;
        if (strcmp(reason, "ExceptionFailure") == 0)
                return TASK_FAILED;
        if (strcmp(reason, "FetchFailed") == 0) {
                d->message = d->message ? d->message : "Unknown reason";
                return TASK_FETCH_FAILED;
        }
        if (strcmp(reason, "TaskKilled") == 0) {
                d->message = d->message ? d->message : "unknown reason";
                return TASK_KILLED;
        }
        if (strcmp(reason, "TaskCommitDenied") == 0)
                return TASK_COMMIT_DENIED;
        if (strcmp(reason, "ExecutorLostFailure") == 0) {
                d->executor_id = d->executor_id ? d->executor_id : "Unknown";
                return l->caused_by_app ? TASK_EXECUTOR_LOST : TASK_PREEMPTED;
        }
        d->reason = reason;
        return TASK_FAILED;
}

/* ------------------------------------------------------------------------------------------------ metrics */

static bool task_reader_read_blocks(struct json_cursor *c, void *base, void *context)
{
        static const struct json_field status_fields[] = {
                JSON_FIELD_CALL(event_reader_read_level, offsetof(struct block_update, level), "Storage Level"),
                JSON_FIELD(INT64, struct block_update, memory_size, "Memory Size"),
                JSON_FIELD(INT64, struct block_update, disk_size, "Disk Size"),
        };
        static const struct json_fields status_table = JSON_FIELDS(status_fields);
        static const struct json_field fields[] = {
                JSON_FIELD(TEXT, struct block_update, block_id, "Block ID"),
                JSON_FIELD_OBJECT(&status_table, 0, "Status"),
        };
        static const struct json_fields table = JSON_FIELDS(fields);
        struct event_reader *r = context;
        struct task_line *l = container_of((const struct block_update **)base, struct task_line, blocks);
        VEC(struct block_update) blocks = {0};
        for (bool more = json_begin_array(c); more; more = json_next_element(c)) {
                vec_push(&blocks, (struct block_update){.block_id = ""});
                if (!json_read_object(c, &table, &blocks.data[blocks.len - 1], r))
                        break;
        }
        if (blocks.len) {
                l->blocks = memcpy(arena_alloc(&r->arena, blocks.len * sizeof(blocks.data[0])), blocks.data,
                                   blocks.len * sizeof(blocks.data[0]));
                l->n_blocks = blocks.len;
        }
        vec_deinit(&blocks);
        return !c->problem;
}

#define METRIC(member, name) JSON_FIELD(INT64, struct task_line, metrics.member, name)
#define PUSH_METRIC(member, name) JSON_FIELD(INT64, struct task_line, push_read.member, name)

static const struct json_field push_read_fields[] = {
        PUSH_METRIC(corrupt_chunks, "Corrupt Merged Block Chunks"),
        PUSH_METRIC(fallbacks, "Merged Fetch Fallback Count"),
        PUSH_METRIC(remote_blocks, "Merged Remote Blocks Fetched"),
        PUSH_METRIC(local_blocks, "Merged Local Blocks Fetched"),
        PUSH_METRIC(remote_chunks, "Merged Remote Chunks Fetched"),
        PUSH_METRIC(local_chunks, "Merged Local Chunks Fetched"),
        PUSH_METRIC(remote_bytes, "Merged Remote Bytes Read"),
        PUSH_METRIC(local_bytes, "Merged Local Bytes Read"),
        PUSH_METRIC(remote_requests_ms, "Merged Remote Requests Duration"),
};
static const struct json_fields push_read_table = JSON_FIELDS(push_read_fields);

static const struct json_field shuffle_read_fields[] = {
        METRIC(shuffle_read.remote_blocks, "Remote Blocks Fetched"),
        METRIC(shuffle_read.local_blocks, "Local Blocks Fetched"),
        METRIC(shuffle_read.fetch_wait_ms, "Fetch Wait Time"),
        METRIC(shuffle_read.remote_bytes, "Remote Bytes Read"),
        METRIC(shuffle_read.remote_bytes_to_disk, "Remote Bytes Read To Disk"),
        METRIC(shuffle_read.local_bytes, "Local Bytes Read"),
        METRIC(shuffle_read.records, "Total Records Read"),
        METRIC(shuffle_read.remote_requests_ms, "Remote Requests Duration"),
        JSON_FIELD_OBJECT(&push_read_table, 0, "Push Based Shuffle"),
};
static const struct json_fields shuffle_read_table = JSON_FIELDS(shuffle_read_fields);

static const struct json_field shuffle_write_fields[] = {
        METRIC(shuffle_write.bytes, "Shuffle Bytes Written"),
        METRIC(shuffle_write.write_ns, "Shuffle Write Time"),
        METRIC(shuffle_write.records, "Shuffle Records Written"),
};
static const struct json_fields shuffle_write_table = JSON_FIELDS(shuffle_write_fields);

static const struct json_field input_fields[] = {
        METRIC(input_bytes, "Bytes Read"),
        METRIC(input_records, "Records Read"),
};
static const struct json_fields input_table = JSON_FIELDS(input_fields);

static const struct json_field output_fields[] = {
        METRIC(output_bytes, "Bytes Written"),
        METRIC(output_records, "Records Written"),
};
static const struct json_fields output_table = JSON_FIELDS(output_fields);

static const struct json_field task_metric_fields[] = {
        METRIC(executor_deserialize_ms, "Executor Deserialize Time"),
        METRIC(executor_deserialize_cpu_ns, "Executor Deserialize CPU Time"),
        METRIC(executor_run_ms, "Executor Run Time"),
        METRIC(executor_cpu_ns, "Executor CPU Time"),
        METRIC(peak_execution_memory, "Peak Execution Memory"),
        JSON_FIELD_CALL(NULL, 0, "Peak On Heap Execution Memory"),
        JSON_FIELD_CALL(NULL, 0, "Peak Off Heap Execution Memory"),
        METRIC(result_size, "Result Size"),
        METRIC(jvm_gc_ms, "JVM GC Time"),
        METRIC(result_serialization_ms, "Result Serialization Time"),
        METRIC(memory_bytes_spilled, "Memory Bytes Spilled"),
        METRIC(disk_bytes_spilled, "Disk Bytes Spilled"),
        JSON_FIELD_OBJECT(&shuffle_read_table, 0, "Shuffle Read Metrics"),
        JSON_FIELD_OBJECT(&shuffle_write_table, 0, "Shuffle Write Metrics"),
        JSON_FIELD_OBJECT(&input_table, 0, "Input Metrics"),
        JSON_FIELD_OBJECT(&output_table, 0, "Output Metrics"),
        JSON_FIELD_CALL(task_reader_read_blocks, offsetof(struct task_line, blocks), "Updated Blocks"),
};
static const struct json_fields task_metric_table = JSON_FIELDS(task_metric_fields);

static bool task_reader_read_metrics(struct json_cursor *c, void *base, void *context)
{
        struct task_line *l = container_of((struct task_metrics *)base, struct task_line, metrics);
        l->has_metrics = *c->at != 'n'; /* null */
        return json_read_object(c, &task_metric_table, l, context);
}

static const struct json_field task_end_fields[] = {
        JSON_FIELD(INT32, struct task_line, info.stage_id, "Stage ID"),
        JSON_FIELD(INT32, struct task_line, info.stage_attempt, "Stage Attempt ID"),
        JSON_FIELD(TEXT, struct task_line, type, "Task Type"),
        JSON_FIELD_OBJECT(&task_reason_table, 0, "Task End Reason"),
        JSON_FIELD_OBJECT(&task_info_table, 0, "Task Info"),
        JSON_FIELD_OBJECT(&event_reader_peak_fields, offsetof(struct task_line, peaks), "Task Executor Metrics"),
        JSON_FIELD_CALL(task_reader_read_metrics, offsetof(struct task_line, metrics), "Task Metrics"),
};
static const struct json_fields task_end_table = JSON_FIELDS(task_end_fields);

static bool task_reader_all_zero(const void *data, size_t size)
{
        const int64_t *values = data;
        int64_t any = 0;
        for (size_t i = 0; i < size / sizeof(*values); i++)
                any |= values[i];
        return any == 0;
}

/* Returns the uncommon part of a task's end, or NULL if it has none. */
static const struct task_detail *task_reader_detail(struct event_reader *r, struct task_line *l, enum task_state state)
{
        struct task_detail *d = &l->detail;
        d->updated_blocks = l->blocks;
        d->n_updated_blocks = l->n_blocks;
        d->accumulables = l->accumulables.list;
        d->n_accumulables = l->accumulables.n;
        if (!task_reader_all_zero(&l->peaks, sizeof(l->peaks)))
                d->peaks = memcpy(arena_alloc(&r->arena, sizeof(l->peaks)), &l->peaks, sizeof(l->peaks));
        if (!task_reader_all_zero(&l->push_read, sizeof(l->push_read)))
                d->push_read =
                        memcpy(arena_alloc(&r->arena, sizeof(l->push_read)), &l->push_read, sizeof(l->push_read));
        if (likely(state == TASK_SUCCEEDED && !d->peaks && !d->push_read && !d->n_updated_blocks && !d->n_accumulables))
                return NULL;
        return memcpy(arena_alloc(&r->arena, sizeof(*d)), d, sizeof(*d));
}

bool task_reader_end(struct event_reader *r, struct json_cursor *c)
{
        struct task_line l;
        memset(&l, 0, sizeof(l));
        l.info.partition = -1;
        l.detail.map_index = INT_MIN;
        l.detail.job_id = l.detail.commit_partition = l.detail.commit_attempt = -1;
        l.caused_by_app = true;
        if (!json_read_object(c, &task_end_table, &l, r) || !task_reader_finish_info(r, c, &l))
                return false;
        enum task_state state = task_reader_state(&l);
        r->event.type = EVENT_task_end;
        r->event.task_end = (struct task_end){
                .info = l.info,
                .getting_result_ms = l.getting_result_ms,
                .finish_ms = l.finish_ms,
                .kind = l.type && strcmp(l.type, "ShuffleMapTask") == 0 ? TASK_SHUFFLE_MAP : TASK_RESULT,
                .state = (uint8_t)state,
                .presence = l.has_metrics ? METRICS_PRESENT : METRICS_ABSENT,
                .metrics = l.metrics,
                .detail = task_reader_detail(r, &l, state),
        };
        return true;
}
