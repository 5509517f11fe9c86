/*
 * Task events as JSON; see task_json.h.
 *
 * Lines are written by copying literals and decimal numbers into memory reserved for the longest line without detail.
 * Only executor names, failures and updated blocks use the general writer. Numbers are non-negative (ids, counts,
 * times), but negative ones are written correctly too.
 */
#include "events/task_json.h"

#include "events/event_json.h"

#include "base/mem.h"
#include "text/json_string.h"

#include <inttypes.h>

/* More than the longest line without detail: 60 numbers of 20 digits, 37 accumulables of 250 bytes, the rest. */
#define LINE_ROOM 16384

#define PUT(p, literal) ((p) = task_json_put((p), (literal), sizeof(literal) - 1))
#define PUT_NUMBER(p, literal, value) ((p) = put_i64(task_json_put((p), (literal), sizeof(literal) - 1), (value)))

static inline char *task_json_put(char *p, const char *text, size_t n)
{
        memcpy(p, text, n);
        return p + n;
}

static inline char *put_i64(char *p, int64_t value)
{
        static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                                    "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                                    "8081828384858687888990919293949596979899";
        uint64_t u = (uint64_t)value;
        if (value < 0) {
                *p++ = '-';
                u = -u;
        }
        if (u < 10) {
                *p++ = (char)('0' + u);
                return p;
        }
        char digits[20];
        char *d = digits + sizeof(digits);
        for (; u >= 100; u /= 100)
                memcpy(d -= 2, pairs + u % 100 * 2, 2);
        if (u >= 10)
                memcpy(d -= 2, pairs + u * 2, 2);
        else
                *--d = (char)('0' + u);
        return task_json_put(p, d, (size_t)(digits + sizeof(digits) - d));
}

static char *task_json_begin(struct buf *b)
{
        buf_reserve(b, LINE_ROOM);
        return b->data + b->len;
}

static void task_json_commit(struct buf *b, const char *end)
{
        b->len = (size_t)(end - b->data);
        b->data[b->len] = 0;
}

/* ------------------------------------------------------------------------------------------ accumulables */

/*
 * The metrics that are accumulators of a stage, in the order of their ids. Metrics that our tasks never set (GC time,
 * push-based shuffle, …) keep their ids.
 */
struct json_accumulator {
        uint8_t id;     /* relative to the stage's first */
        uint8_t metric; /* index into struct task_metrics as an array of int64_t */
        uint8_t name_length;
        const char *name;
};
#define ACCUMULATOR(number, field, text)                                                                               \
        {                                                                                                              \
                number, offsetof(struct task_metrics, field) / sizeof(int64_t), sizeof(text) - 1, text                 \
        }
static const struct json_accumulator accumulators[] = {
        ACCUMULATOR(0, executor_deserialize_ms, "executorDeserializeTime"),
        ACCUMULATOR(1, executor_deserialize_cpu_ns, "executorDeserializeCpuTime"),
        ACCUMULATOR(2, executor_run_ms, "executorRunTime"),
        ACCUMULATOR(3, executor_cpu_ns, "executorCpuTime"),
        ACCUMULATOR(4, result_size, "resultSize"),
        ACCUMULATOR(6, result_serialization_ms, "resultSerializationTime"),
        ACCUMULATOR(7, memory_bytes_spilled, "memoryBytesSpilled"),
        ACCUMULATOR(8, disk_bytes_spilled, "diskBytesSpilled"),
        ACCUMULATOR(9, peak_execution_memory, "peakExecutionMemory"),
        ACCUMULATOR(13, shuffle_read.remote_blocks, "shuffle.read.remoteBlocksFetched"),
        ACCUMULATOR(14, shuffle_read.local_blocks, "shuffle.read.localBlocksFetched"),
        ACCUMULATOR(15, shuffle_read.remote_bytes, "shuffle.read.remoteBytesRead"),
        ACCUMULATOR(16, shuffle_read.remote_bytes_to_disk, "shuffle.read.remoteBytesReadToDisk"),
        ACCUMULATOR(17, shuffle_read.local_bytes, "shuffle.read.localBytesRead"),
        ACCUMULATOR(18, shuffle_read.fetch_wait_ms, "shuffle.read.fetchWaitTime"),
        ACCUMULATOR(19, shuffle_read.records, "shuffle.read.recordsRead"),
        ACCUMULATOR(28, shuffle_read.remote_requests_ms, "shuffle.read.remoteReqsDuration"),
        ACCUMULATOR(30, shuffle_write.bytes, "shuffle.write.bytesWritten"),
        ACCUMULATOR(31, shuffle_write.records, "shuffle.write.recordsWritten"),
        ACCUMULATOR(32, shuffle_write.write_ns, "shuffle.write.writeTime"),
        ACCUMULATOR(33, input_bytes, "input.bytesRead"),
        ACCUMULATOR(34, input_records, "input.recordsRead"),
        ACCUMULATOR(35, output_bytes, "output.bytesWritten"),
        ACCUMULATOR(36, output_records, "output.recordsWritten"),
};

/* @update 0: without that field, as in a completed stage. */
static char *task_json_put_accumulable(char *p, const struct task_json *t, const struct json_accumulator *a,
                                       int64_t update)
{
        PUT_NUMBER(p, "{\"ID\":", t->first_accumulator + a->id);
        PUT(p, ",\"Name\":\"internal.metrics.");
        p = task_json_put(p, a->name, a->name_length);
        *p++ = '"';
        if (update)
                PUT_NUMBER(p, ",\"Update\":", update);
        PUT_NUMBER(p, ",\"Value\":", t->sums[a->id]);
        return PUT(p, ",\"Internal\":true,\"Count Failed Values\":true},");
}

/* Adds a task's metrics to the sums and writes the changed ones. */
static char *task_json_put_updates(char *p, struct task_json *t, const struct task_metrics *m)
{
        const int64_t *values = (const int64_t *)m;
        char *start = p;
        for (size_t i = 0; i < ARRAY_SIZE(accumulators); i++) {
                const struct json_accumulator *a = &accumulators[i];
                int64_t update = values[a->metric];
                if (!update)
                        continue;
                t->sums[a->id] += update;
                p = task_json_put_accumulable(p, t, a, update);
        }
        return p > start ? p - 1 : p; /* without the last comma */
}

void task_json_accumulables(const struct task_json *t, struct buf *b)
{
        if (!t->accumulables)
                return;
        char *p = task_json_begin(b), *start = p;
        for (size_t i = 0; i < ARRAY_SIZE(accumulators); i++)
                if (t->sums[accumulators[i].id])
                        p = task_json_put_accumulable(p, t, &accumulators[i], 0);
        task_json_commit(b, p > start ? p - 1 : p);
}

/* -------------------------------------------------------------------------------------------------- info */

void task_json_init(struct task_json *t, int32_t stage_id, int32_t stage_attempt, int64_t first_accumulator,
                    bool accumulables)
{
        *t = (struct task_json){.stage_id = stage_id,
                                .stage_attempt = stage_attempt,
                                .first_accumulator = first_accumulator,
                                .accumulables = accumulables};
}

void task_json_deinit(struct task_json *t)
{
        buf_deinit(&t->executor_json);
        t->executor = NULL;
}

static void task_json_render_executor(struct task_json *t, const struct executor_ref *executor)
{
        buf_reset(&t->executor_json);
        buf_puts(&t->executor_json, ",\"Executor ID\":");
        json_put_string(&t->executor_json, executor->id);
        buf_puts(&t->executor_json, ",\"Host\":");
        json_put_string(&t->executor_json, executor->host);
        buf_puts(&t->executor_json, ",\"Locality\":\"");
        t->executor = executor;
}

/* From `"Task Info":{` to before `"Getting Result Time"`. */
static char *task_json_put_info(char *p, struct buf *b, struct task_json *t, const struct task_info *i)
{
        static const char *const localities[] = {"PROCESS_LOCAL", "NODE_LOCAL", "NO_PREF", "RACK_LOCAL", "ANY"};
        if (unlikely(t->executor != i->executor))
                task_json_render_executor(t, i->executor);
        PUT_NUMBER(p, "\"Task Info\":{\"Task ID\":", i->id);
        PUT_NUMBER(p, ",\"Index\":", i->index);
        PUT_NUMBER(p, ",\"Attempt\":", i->attempt);
        PUT_NUMBER(p, ",\"Partition ID\":", i->partition);
        PUT_NUMBER(p, ",\"Launch Time\":", i->launch_ms);
        /* Names may be long: reserve memory for the rest of the line again. */
        task_json_commit(b, p);
        buf_append(b, t->executor_json.data, t->executor_json.len);
        p = task_json_begin(b);
        const char *locality = localities[MIN(i->locality, (uint8_t)LOCALITY_ANY)];
        p = task_json_put(p, locality, strlen(locality));
        if (unlikely(i->speculative))
                return PUT(p, "\",\"Speculative\":true");
        return PUT(p, "\",\"Speculative\":false");
}

static char *task_json_put_stage(char *p, const struct task_json *t)
{
        PUT_NUMBER(p, ",\"Stage ID\":", t->stage_id);
        PUT_NUMBER(p, ",\"Stage Attempt ID\":", t->stage_attempt);
        *p++ = ',';
        return p;
}

void task_json_start(struct task_json *t, struct buf *b, const struct task_start *e)
{
        char *p = task_json_begin(b);
        PUT(p, "{\"Event\":\"SparkListenerTaskStart\"");
        p = task_json_put_info(task_json_put_stage(p, t), b, t, &e->info);
        PUT(p, ",\"Getting Result Time\":0,\"Finish Time\":0,\"Failed\":false,\"Killed\":false,"
               "\"Accumulables\":[]}}\n");
        task_json_commit(b, p);
}

void task_json_getting_result(struct task_json *t, struct buf *b, const struct task_getting_result *e)
{
        char *p = task_json_begin(b);
        PUT(p, "{\"Event\":\"SparkListenerTaskGettingResult\",");
        p = task_json_put_info(p, b, t, &e->info);
        PUT_NUMBER(p, ",\"Getting Result Time\":", e->getting_result_ms);
        PUT(p, ",\"Finish Time\":0,\"Failed\":false,\"Killed\":false,\"Accumulables\":[]}}\n");
        task_json_commit(b, p);
}

/* --------------------------------------------------------------------------------------------------- end */

static void task_json_text(struct buf *b, const char *prefix, const char *value)
{
        buf_puts(b, prefix);
        json_put_string(b, value ? value : "");
}

static void task_json_stack_trace(struct buf *b, const struct task_detail *d)
{
        buf_puts(b, ",\"Stack Trace\":[");
        for (size_t i = 0; i < d->n_stack; i++) {
                const struct stack_frame *f = &d->stack[i];
                task_json_text(b, i ? ",{\"Declaring Class\":" : "{\"Declaring Class\":", f->class_name);
                task_json_text(b, ",\"Method Name\":", f->function);
                buf_puts(b, ",\"File Name\":");
                json_put_string(b, f->file);
                buf_printf(b, ",\"Line Number\":%d}", f->line);
        }
        buf_putc(b, ']');
}

static void task_json_exception_failure(struct buf *b, const struct task_detail *d)
{
        const char *class_name = d->class_name ? d->class_name : "firesteel.TaskFailure";
        const char *description = d->description ? d->description : "";
        task_json_text(b, ",\"Class Name\":", class_name);
        task_json_text(b, ",\"Description\":", description);
        task_json_stack_trace(b, d);
        _cleanup_free_ char *full = mem_printf("%s: %s", class_name, description);
        task_json_text(b, ",\"Full Stack Trace\":", d->full_stack_trace ? d->full_stack_trace : full);
}

/*
 * Writes the metrics of a failed attempt, which their accumulators count, too: those that Spark sets before an attempt
 * fails, and the size of the result in any case. Spark's executors do not know the names of accumulators there, so
 * updates are texts and none is internal.
 */
static void task_json_failed_updates(struct buf *b, const struct task_json *t, const struct task_end *e)
{
        buf_puts(b, ",\"Accumulator Updates\":[");
        const int64_t *values = (const int64_t *)&e->metrics;
        const char *comma = "";
        for (size_t i = 0; i < ARRAY_SIZE(accumulators) && t->accumulables; i++) {
                const bool is_result_size = accumulators[i].id == 4;
                if (accumulators[i].id < 2 || accumulators[i].id == 3 ||
                    (!values[accumulators[i].metric] && !is_result_size))
                        continue;
                buf_printf(b,
                           "%s{\"ID\":%" PRId64 ",\"Update\":\"%" PRId64
                           "\",\"Internal\":false,\"Count Failed Values\":true}",
                           comma, t->first_accumulator + accumulators[i].id, values[accumulators[i].metric]);
                comma = ",";
        }
        buf_putc(b, ']');
}

/* Writes `"Task End Reason":{…}` of a task that did not succeed. */
static void task_json_failure(struct buf *b, const struct task_json *t, const struct task_end *e)
{
        static const struct task_detail nothing = {0};
        const struct task_detail *d = e->detail ? e->detail : &nothing;
        buf_printf(b, "\"Task End Reason\":{\"Reason\":\"%s\"", task_end_reason_name((enum task_state)e->state));
        switch ((enum task_state)e->state) {
        case TASK_FAILED:
        case TASK_FAILED_FATAL:
                task_json_exception_failure(b, d);
                task_json_failed_updates(b, t, e);
                break;
        case TASK_FETCH_FAILED:
                if (d->block_manager.host) {
                        buf_puts(b, ",\"Block Manager Address\":");
                        event_json_block_manager(b, &d->block_manager);
                }
                buf_printf(b, ",\"Shuffle ID\":%d,\"Map ID\":%" PRId64 ",\"Map Index\":%d,\"Reduce ID\":%d",
                           d->shuffle_id, d->map_id, d->map_index, d->reduce_id);
                task_json_text(b, ",\"Message\":", d->message);
                break;
        case TASK_KILLED:
                task_json_text(b, ",\"Kill Reason\":", d->message);
                task_json_failed_updates(b, t, e);
                break;
        case TASK_COMMIT_DENIED:
                buf_printf(b, ",\"Job ID\":%d,\"Partition ID\":%d,\"Attempt Number\":%d", d->job_id, e->info.partition,
                           e->info.attempt);
                break;
        case TASK_EXECUTOR_LOST:
        case TASK_PREEMPTED:
                task_json_text(b, ",\"Executor ID\":", d->executor_id ? d->executor_id : e->info.executor->id);
                buf_printf(b, ",\"Exit Caused By App\":%s", e->state == TASK_EXECUTOR_LOST ? "true" : "false");
                task_json_text(b, ",\"Loss Reason\":", d->message);
                break;
        case TASK_SUCCEEDED:
        case TASK_RUNNING:
                break;
        }
        buf_puts(b, "},");
}

static void task_json_updated_blocks(struct buf *b, const struct task_detail *d)
{
        for (size_t i = 0; i < d->n_updated_blocks; i++) {
                const struct block_update *u = &d->updated_blocks[i];
                task_json_text(b, i ? ",{\"Block ID\":" : "{\"Block ID\":", u->block_id);
                buf_puts(b, ",\"Status\":{\"Storage Level\":");
                event_json_block_level(b, u);
                buf_printf(b, ",\"Memory Size\":%" PRId64 ",\"Disk Size\":%" PRId64 "}}", u->memory_size, u->disk_size);
        }
}

static char *task_json_put_metrics(char *p, const struct task_metrics *m)
{
        PUT_NUMBER(p, "\"Executor Deserialize Time\":", m->executor_deserialize_ms);
        PUT_NUMBER(p, ",\"Executor Deserialize CPU Time\":", m->executor_deserialize_cpu_ns);
        PUT_NUMBER(p, ",\"Executor Run Time\":", m->executor_run_ms);
        PUT_NUMBER(p, ",\"Executor CPU Time\":", m->executor_cpu_ns);
        PUT_NUMBER(p, ",\"Peak Execution Memory\":", m->peak_execution_memory);
        PUT_NUMBER(p, ",\"Peak On Heap Execution Memory\":0,\"Peak Off Heap Execution Memory\":",
                   m->peak_execution_memory);
        PUT_NUMBER(p, ",\"Result Size\":", m->result_size);
        PUT_NUMBER(p, ",\"JVM GC Time\":", m->jvm_gc_ms);
        PUT_NUMBER(p, ",\"Result Serialization Time\":", m->result_serialization_ms);
        PUT_NUMBER(p, ",\"Memory Bytes Spilled\":", m->memory_bytes_spilled);
        PUT_NUMBER(p, ",\"Disk Bytes Spilled\":", m->disk_bytes_spilled);
        PUT_NUMBER(p, ",\"Shuffle Read Metrics\":{\"Remote Blocks Fetched\":", m->shuffle_read.remote_blocks);
        PUT_NUMBER(p, ",\"Local Blocks Fetched\":", m->shuffle_read.local_blocks);
        PUT_NUMBER(p, ",\"Fetch Wait Time\":", m->shuffle_read.fetch_wait_ms);
        PUT_NUMBER(p, ",\"Remote Bytes Read\":", m->shuffle_read.remote_bytes);
        PUT_NUMBER(p, ",\"Remote Bytes Read To Disk\":", m->shuffle_read.remote_bytes_to_disk);
        PUT_NUMBER(p, ",\"Local Bytes Read\":", m->shuffle_read.local_bytes);
        PUT_NUMBER(p, ",\"Total Records Read\":", m->shuffle_read.records);
        PUT_NUMBER(p, ",\"Remote Requests Duration\":", m->shuffle_read.remote_requests_ms);
        PUT_NUMBER(p,
                   ",\"Push Based Shuffle\":{\"Corrupt Merged Block Chunks\":0,"
                   "\"Merged Fetch Fallback Count\":0,\"Merged Remote Blocks Fetched\":0,"
                   "\"Merged Local Blocks Fetched\":0,\"Merged Remote Chunks Fetched\":0,"
                   "\"Merged Local Chunks Fetched\":0,\"Merged Remote Bytes Read\":0,\"Merged Local Bytes Read\":0,"
                   "\"Merged Remote Requests Duration\":0}},\"Shuffle Write Metrics\":{\"Shuffle Bytes Written\":",
                   m->shuffle_write.bytes);
        PUT_NUMBER(p, ",\"Shuffle Write Time\":", m->shuffle_write.write_ns);
        PUT_NUMBER(p, ",\"Shuffle Records Written\":", m->shuffle_write.records);
        PUT_NUMBER(p, "},\"Input Metrics\":{\"Bytes Read\":", m->input_bytes);
        PUT_NUMBER(p, ",\"Records Read\":", m->input_records);
        PUT_NUMBER(p, "},\"Output Metrics\":{\"Bytes Written\":", m->output_bytes);
        PUT_NUMBER(p, ",\"Records Written\":", m->output_records);
        return PUT(p, "},\"Updated Blocks\":[");
}

void task_json_end(struct task_json *t, struct buf *b, const struct task_end *e)
{
        char *p = task_json_begin(b);
        PUT(p, "{\"Event\":\"SparkListenerTaskEnd\"");
        p = task_json_put_stage(p, t);
        if (e->kind == TASK_RESULT)
                PUT(p, "\"Task Type\":\"ResultTask\",");
        else
                PUT(p, "\"Task Type\":\"ShuffleMapTask\",");
        bool killed = e->state == TASK_KILLED;
        if (likely(e->state == TASK_SUCCEEDED)) {
                PUT(p, "\"Task End Reason\":{\"Reason\":\"Success\"},");
        } else {
                task_json_commit(b, p);
                task_json_failure(b, t, e);
                p = task_json_begin(b);
        }
        p = task_json_put_info(p, b, t, &e->info);
        PUT_NUMBER(p, ",\"Getting Result Time\":", e->getting_result_ms);
        PUT_NUMBER(p, ",\"Finish Time\":", e->finish_ms);
        if (likely(e->state == TASK_SUCCEEDED))
                PUT(p, ",\"Failed\":false,\"Killed\":false,\"Accumulables\":[");
        else if (killed)
                PUT(p, ",\"Failed\":false,\"Killed\":true,\"Accumulables\":[");
        else
                PUT(p, ",\"Failed\":true,\"Killed\":false,\"Accumulables\":[");
        if (t->accumulables && task_end_has_metrics(e) && !killed)
                p = task_json_put_updates(p, t, &e->metrics);
        PUT(p, "]},\"Task Executor Metrics\":{\"JVMHeapMemory\":0,\"JVMOffHeapMemory\":0,\"OnHeapExecutionMemory\":0,"
               "\"OffHeapExecutionMemory\":0,\"OnHeapStorageMemory\":0,\"OffHeapStorageMemory\":0,"
               "\"OnHeapUnifiedMemory\":0,\"OffHeapUnifiedMemory\":0,\"DirectPoolMemory\":0,\"MappedPoolMemory\":0,"
               "\"ProcessTreeJVMVMemory\":0,\"ProcessTreeJVMRSSMemory\":0,\"ProcessTreePythonVMemory\":0,"
               "\"ProcessTreePythonRSSMemory\":0,\"ProcessTreeOtherVMemory\":0,\"ProcessTreeOtherRSSMemory\":0,"
               "\"MinorGCCount\":0,\"MinorGCTime\":0,\"MajorGCCount\":0,\"MajorGCTime\":0,\"TotalGCTime\":0,"
               "\"ConcurrentGCCount\":0,\"ConcurrentGCTime\":0}");
        if (unlikely(!task_end_has_metrics(e))) {
                PUT(p, "}\n");
                task_json_commit(b, p);
                return;
        }
        PUT(p, ",\"Task Metrics\":{");
        p = task_json_put_metrics(p, &e->metrics);
        if (unlikely(e->detail && e->detail->n_updated_blocks)) {
                task_json_commit(b, p);
                task_json_updated_blocks(b, e->detail);
                p = task_json_begin(b);
        }
        PUT(p, "]}}\n");
        task_json_commit(b, p);
}
