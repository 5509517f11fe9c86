/*
 * The event log listener; see event_log.h. Runs on the bus's thread.
 *
 * Each stage attempt has a task_json, from its submission to its completion. Killed tasks may end after their stage, so
 * the last completed stages are kept. A task of a stage without a submission gets one too.
 */
#include "driver/events/event_log.h"

#include "events/task_json.h"

#include "base/error.h"
#include "base/hash_table.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "exec/guard/memory_limit.h"
#include "status/node_series.h"

#include <time.h>

#define COMPONENT "EventLoggingListener"
#define MAX_ENDED_STAGES 64
#define BATCH_BYTES ((size_t)128 << 10) /* collected before it is passed to the file */
#define FLUSH_MS 500                    /* the longest delay of a due flush on a bus that is never idle */

/* An executor's peak while a stage ran. */
struct peak {
        char *executor_id;
        struct executor_metrics metrics;
};

struct logged_stage {
        struct task_json json;
        bool completed;
        VEC(struct peak) peaks; /* of executors that ran its tasks, with options.executor_metrics */
};

/* An executor whose node is logged: each heartbeat at first, then fewer, as node_series.h keeps them. */
struct logged_node {
        char *executor_id;
        int64_t last_ms; /* of a heartbeat; 0: none yet */
        struct node_pace pace;
};

struct event_log {
        struct listener listener;
        struct event_log_options options;
        struct event_file *file; /* NULL: closed, or failed */
        char *path;
        struct buf line;
        VEC(struct logged_stage *) stages; /* in the order of submission */
        struct logged_stage *last;         /* of the latest task */
        VEC(struct logged_node *) nodes;
        struct object_table nodes_by_id;
        int64_t next_accumulator;
        int64_t events;
        bool flush_due;
        int64_t flush_due_ms;
};

static int64_t event_log_now_ms(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
        return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ------------------------------------------------------------------------------------------------ output */

static void event_log_give_up(struct event_log *log, struct fst_error *error)
{
        log_error(COMPONENT, "%s. No more events are logged, and the application continues", error_message(error));
        event_file_abandon(steal(log->file));
}

static void event_log_write_lines(struct event_log *log)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        if (log->file && event_file_write(log->file, log->line.data, log->line.len, &error) < 0)
                event_log_give_up(log, &error);
        buf_reset(&log->line);
}

static void event_log_flush(struct event_log *log)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        log->flush_due = false;
        if (log->file && event_file_flush(log->file, &error) < 0)
                event_log_give_up(log, &error);
}

/* Ends the line of an event. */
static void event_log_end_line(struct event_log *log, bool wants_flush)
{
        log->events++;
        event_log_write_lines(log);
        if (wants_flush && !log->flush_due) {
                log->flush_due = true;
                log->flush_due_ms = event_log_now_ms();
        }
}

static void event_log_flush_if_late(struct event_log *log)
{
        if (log->flush_due && event_log_now_ms() - log->flush_due_ms > FLUSH_MS)
                event_log_flush(log);
}

/* ------------------------------------------------------------------------------------------------ stages */

static void logged_stage_free(struct logged_stage *s)
{
        task_json_deinit(&s->json);
        for (size_t i = 0; i < s->peaks.len; i++)
                free(s->peaks.data[i].executor_id);
        vec_deinit(&s->peaks);
        free(s);
}

static struct peak *logged_stage_peak(struct logged_stage *s, const char *executor_id)
{
        for (size_t i = 0; i < s->peaks.len; i++)
                if (strcmp(s->peaks.data[i].executor_id, executor_id) == 0)
                        return &s->peaks.data[i];
        return NULL;
}

static void peak_raise(struct peak *p, const struct executor_metrics *m)
{
        p->metrics.execution_memory = MAX(p->metrics.execution_memory, m->execution_memory);
        p->metrics.storage_memory = MAX(p->metrics.storage_memory, m->storage_memory);
        p->metrics.resident_bytes = MAX(p->metrics.resident_bytes, m->resident_bytes);
}

/* A task's peak @execution_memory: its executor used at least as much. */
static void logged_stage_note_task(struct logged_stage *s, const struct task_info *info, int64_t execution_memory)
{
        struct peak *peak = logged_stage_peak(s, info->executor->id);
        if (!peak) {
                vec_push(&s->peaks, (struct peak){.executor_id = mem_strdup(info->executor->id)});
                peak = &s->peaks.data[s->peaks.len - 1];
        }
        peak_raise(peak, &(struct executor_metrics){.execution_memory = execution_memory});
}

static bool logged_stage_is(const struct logged_stage *s, int id, int attempt)
{
        return s->json.stage_id == id && s->json.stage_attempt == attempt;
}

/* Drops the oldest completed stages beyond MAX_ENDED_STAGES. */
static void event_log_trim_stages(struct event_log *log)
{
        size_t completed = 0, to = 0;
        for (size_t i = 0; i < log->stages.len; i++)
                completed += log->stages.data[i]->completed;
        if (completed <= MAX_ENDED_STAGES * 2)
                return;
        for (size_t i = 0; i < log->stages.len; i++) {
                struct logged_stage *s = log->stages.data[i];
                if (s->completed && completed > MAX_ENDED_STAGES) {
                        completed--;
                        logged_stage_free(s);
                } else {
                        log->stages.data[to++] = s;
                }
        }
        log->stages.len = to;
        log->last = NULL;
}

static struct logged_stage *event_log_get_stage(struct event_log *log, int id, int attempt)
{
        if (log->last && logged_stage_is(log->last, id, attempt))
                return log->last;
        for (size_t i = log->stages.len; i-- > 0;)
                if (logged_stage_is(log->stages.data[i], id, attempt))
                        return log->last = log->stages.data[i];
        event_log_trim_stages(log);
        struct logged_stage *s = new0(struct logged_stage);
        task_json_init(&s->json, id, attempt, log->next_accumulator, log->options.accumulables);
        log->next_accumulator += TASK_JSON_ACCUMULATORS;
        vec_push(&log->stages, s);
        return log->last = s;
}

/* ------------------------------------------------------------------------------------------------ events */

static struct event_log *event_log_of(struct listener *l)
{
        return container_of(l, struct event_log, listener);
}

#define PLAIN(kind)                                                                                                    \
        static void on_##kind(struct listener *l, const struct kind *e)                                                \
        {                                                                                                              \
                struct event_log *log = event_log_of(l);                                                               \
                if (!log->file)                                                                                        \
                        return;                                                                                        \
                event_json_##kind(&log->line, e);                                                                      \
                event_log_end_line(log, true);                                                                         \
        }
PLAIN(application_start)
PLAIN(application_end)
PLAIN(resource_profile_added)
PLAIN(block_manager_added)
PLAIN(block_manager_removed)
PLAIN(executor_added)
PLAIN(exclusion_changed)
PLAIN(job_end)
PLAIN(unpersist_rdd)
PLAIN(block_updated)

static bool logged_node_has_id(const void *node, const void *id)
{
        return strcmp(((const struct logged_node *)node)->executor_id, id) == 0;
}

static struct logged_node *event_log_find_node(struct event_log *log, const char *executor_id)
{
        return object_table_find(&log->nodes_by_id, object_hash_text(executor_id), logged_node_has_id, executor_id);
}

static void logged_node_free(struct logged_node *node)
{
        free(node->executor_id);
        free(node);
}

static void event_log_drop_node(struct event_log *log, struct logged_node *node)
{
        object_table_remove(&log->nodes_by_id, object_hash_text(node->executor_id), node);
        for (size_t i = 0; i < log->nodes.len; i++)
                if (log->nodes.data[i] == node) {
                        log->nodes.data[i] = log->nodes.data[--log->nodes.len];
                        break;
                }
        logged_node_free(node);
}

/* Writes the counters that end a point of the node's series, so that a log grows with the logarithm of time. */
static void event_log_write_node(struct event_log *log, const char *executor_id, const struct node_counters *now)
{
        struct logged_node *node = event_log_find_node(log, executor_id);
        if (!node) {
                node = new0(struct logged_node);
                node->executor_id = mem_strdup(executor_id);
                object_table_put(&log->nodes_by_id, object_hash_text(executor_id), node);
                vec_push(&log->nodes, node);
        }
        if (now->ms <= node->last_ms)
                return;
        bool is_first = !node->last_ms;
        int heartbeats = is_first ? 1 : node->pace.n_pending + 1;
        node->last_ms = now->ms;
        if (!is_first && !node_pace_add(&node->pace, 1))
                return;
        event_json_node_metrics(&log->line, executor_id, now, heartbeats);
        event_log_end_line(log, false);
}

static void on_executor_removed(struct listener *l, const struct executor_removed *e)
{
        struct event_log *log = event_log_of(l);
        struct logged_node *node = event_log_find_node(log, e->id);
        if (node)
                event_log_drop_node(log, node);
        if (!log->file)
                return;
        event_json_executor_removed(&log->line, e);
        event_log_end_line(log, true);
}

static void on_executor_metrics_update(struct listener *l, const struct executor_metrics_update *e)
{
        struct event_log *log = event_log_of(l);
        if (log->file && e->node.ms > 0)
                event_log_write_node(log, e->executor_id, &e->node);
        for (size_t i = 0; i < log->stages.len && log->options.executor_metrics; i++) {
                struct logged_stage *s = log->stages.data[i];
                struct peak *peak = s->completed ? NULL : logged_stage_peak(s, e->executor_id);
                if (peak)
                        peak_raise(peak, &e->metrics);
        }
}

/* Not in Spark's log. */
static void on_speculative_submitted(struct listener *l, const struct speculative_submitted *e)
{
}

static void on_unschedulable_changed(struct listener *l, const struct unschedulable_changed *e)
{
}

#define REDACTED(kind, wants_flush)                                                                                    \
        static void on_##kind(struct listener *l, const struct kind *e)                                                \
        {                                                                                                              \
                struct event_log *log = event_log_of(l);                                                               \
                if (!log->file)                                                                                        \
                        return;                                                                                        \
                event_json_##kind(&log->line, e, &log->options.redact);                                                \
                event_log_end_line(log, wants_flush);                                                                  \
        }
REDACTED(environment_update, false)
REDACTED(job_start, true)

static void on_stage_submitted(struct listener *l, const struct stage_submitted *e)
{
        struct event_log *log = event_log_of(l);
        if (!log->file)
                return;
        event_log_get_stage(log, e->stage.id, e->stage.attempt);
        event_json_stage_submitted(&log->line, e, &log->options.redact);
        event_log_end_line(log, false);
}

/* A local master's executor is this process, which sends no heartbeats. */
static void logged_stage_note_driver(struct logged_stage *s)
{
        struct peak *peak = logged_stage_peak(s, "driver");
        if (peak)
                peak_raise(peak, &(struct executor_metrics){.resident_bytes = process_resident_bytes()});
}

static void logged_stage_write_peaks(struct event_log *log, struct logged_stage *s)
{
        if (!log->options.executor_metrics)
                return;
        logged_stage_note_driver(s);
        for (size_t i = 0; i < s->peaks.len; i++, log->events++)
                event_json_stage_executor_metrics(&log->line, s->peaks.data[i].executor_id, s->json.stage_id,
                                                  s->json.stage_attempt, &s->peaks.data[i].metrics);
}

static void on_stage_completed(struct listener *l, const struct stage_completed *e)
{
        struct event_log *log = event_log_of(l);
        if (!log->file)
                return;
        struct logged_stage *s = event_log_get_stage(log, e->stage.id, e->stage.attempt);
        _cleanup_(buf_deinit) struct buf accumulables = BUF_INIT;
        task_json_accumulables(&s->json, &accumulables);
        logged_stage_write_peaks(log, s);
        event_json_stage_completed(&log->line, e, buf_text(&accumulables));
        s->completed = true;
        event_log_end_line(log, true);
}

static void on_task_getting_result(struct listener *l, const struct task_getting_result *e)
{
        struct event_log *log = event_log_of(l);
        if (!log->file)
                return;
        struct logged_stage *s = event_log_get_stage(log, e->info.stage_id, e->info.stage_attempt);
        task_json_getting_result(&s->json, &log->line, e);
        event_log_end_line(log, false);
}

#define TASKS(kind, write, peak)                                                                                       \
        static void on_##kind##s(struct listener *l, const struct kind *batch, size_t n)                               \
        {                                                                                                              \
                struct event_log *log = event_log_of(l);                                                               \
                for (size_t i = 0; i < n && log->file; i++) {                                                          \
                        const struct task_info *info = &batch[i].info;                                                 \
                        struct logged_stage *s = event_log_get_stage(log, info->stage_id, info->stage_attempt);        \
                        write(&s->json, &log->line, &batch[i]);                                                        \
                        if (log->options.executor_metrics)                                                             \
                                logged_stage_note_task(s, info, peak);                                                 \
                        log->events++;                                                                                 \
                        if (log->line.len >= BATCH_BYTES || i + 1 == n)                                                \
                                event_log_write_lines(log);                                                            \
                }                                                                                                      \
                event_log_flush_if_late(log);                                                                          \
        }
TASKS(task_start, task_json_start, 0)
TASKS(task_end, task_json_end, batch[i].metrics.peak_execution_memory)

static void event_log_on_idle(struct listener *l)
{
        struct event_log *log = event_log_of(l);
        if (log->flush_due)
                event_log_flush(log);
}

static void event_log_on_stop(struct listener *l)
{
        struct event_log *log = event_log_of(l);
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        if (log->file && event_file_close(steal(log->file), &error) < 0)
                log_error(COMPONENT, "%s; the event log stays marked as in progress", error_message(&error));
}

/* --------------------------------------------------------------------------------------------- start and end */

struct event_log_options event_log_defaults(void)
{
        return (struct event_log_options){
                .file = {.dir = "/tmp/spark-events",
                         .codec = EVENT_CODEC_ZSTD,
                         .zstd_level = 1,
                         .lz4_block_size = 32 << 10,
                         .snappy_block_size = 32 << 10,
                         .buffer_size = 100 << 10,
                         .rolling = true,
                         .max_file_size = 128 << 20},
                .accumulables = true,
        };
}

static int event_log_read_codec(struct event_log_options *o, const struct fst_conf *conf, struct fst_error *error)
{
        bool compress = false;
        int64_t level = 0, block_size = 0, snappy_block_size = 0;
        _cleanup_free_ char *name = NULL;
        int r = conf_get_bool(conf, "spark.eventLog.compress", &compress, error);
        if (r == 0)
                r = conf_get_string(conf, "spark.eventLog.compression.codec", &name, error);
        if (r == 0)
                r = conf_get_int(conf, "spark.io.compression.zstd.level", &level, error);
        if (r == 0)
                r = conf_get_bytes(conf, "spark.io.compression.lz4.blockSize", &block_size, error);
        if (r == 0)
                r = conf_get_bytes(conf, "spark.io.compression.snappy.blockSize", &snappy_block_size, error);
        if (r < 0)
                return r;
        o->file.snappy_block_size = (size_t)MAX(snappy_block_size, (int64_t)0);
        o->file.zstd_level = (int)level;
        o->file.lz4_block_size = (size_t)MAX(block_size, (int64_t)0);
        o->file.codec = EVENT_CODEC_NONE;
        return compress ? event_codec_parse(name, &o->file.codec, error) : 0;
}

int event_log_read_conf(struct event_log_options *options, const struct fst_conf *conf, struct fst_error *error)
{
        struct event_log_options o = *options;
        const struct {
                const char *key;
                bool *value;
        } flags[] = {{"spark.eventLog.overwrite", &o.file.overwrite},
                     {"spark.eventLog.rolling.enabled", &o.file.rolling},
                     {"spark.eventLog.logBlockUpdates.enabled", &o.block_updates},
                     {"spark.eventLog.logStageExecutorMetrics", &o.executor_metrics},
                     {"spark.eventLog.includeTaskMetricsAccumulators", &o.accumulables}};
        int64_t buffer = 0;
        int r = 0;
        for (size_t i = 0; i < ARRAY_SIZE(flags) && r == 0; i++)
                r = conf_get_bool(conf, flags[i].key, flags[i].value, error);
        if (r == 0)
                r = conf_get_bytes(conf, "spark.eventLog.buffer.kb", &buffer, error);
        if (r == 0)
                r = conf_get_bytes(conf, "spark.eventLog.rolling.maxFileSize", &o.file.max_file_size, error);
        if (r == 0)
                r = event_log_read_codec(&o, conf, error);
        char *dir = NULL;
        if (r == 0)
                r = conf_get_string(conf, "spark.eventLog.dir", &dir, error);
        if (r < 0)
                return r;
        o.file.buffer_size = (size_t)MIN(MAX(buffer, (int64_t)1024), (int64_t)16 << 20);
        o.file.dir = dir;
        *options = o;
        return 0;
}

int event_log_open(struct event_log **out, const struct event_log_options *options, struct fst_error *error)
{
        struct event_file *file = NULL;
        int r = event_file_open(&file, &options->file, error);
        if (r < 0)
                return r;
        struct event_log *log = new0(struct event_log);
        log->options = *options;
        log->options.file = (struct event_file_options){0}; /* the caller owns its strings */
        log->file = file;
        log->path = mem_strdup(event_file_path(file));
        log->listener = (struct listener){
                .name = COMPONENT,
#define CALLBACK(kind) .on_##kind = on_##kind,
                EVENT_KINDS(CALLBACK)
#undef CALLBACK
                        .on_task_starts = on_task_starts,
                .on_task_ends = on_task_ends,
                .on_idle = event_log_on_idle,
                .on_stop = event_log_on_stop,
        };
        if (!options->block_updates)
                log->listener.on_block_updated = NULL;
        event_json_log_start(&log->line);
        event_log_end_line(log, true);
        event_log_flush(log);
        log_info(COMPONENT, "Logging events to %s", log->path);
        *out = log;
        return 0;
}

struct listener *event_log_listener(struct event_log *log)
{
        return &log->listener;
}

const char *event_log_path(const struct event_log *log)
{
        return log->path;
}

int64_t event_log_events(const struct event_log *log)
{
        return log->events;
}

void event_log_free(struct event_log *log)
{
        if (!log)
                return;
        event_log_on_stop(&log->listener);
        for (size_t i = 0; i < log->stages.len; i++)
                logged_stage_free(log->stages.data[i]);
        vec_deinit(&log->stages);
        for (size_t i = 0; i < log->nodes.len; i++)
                logged_node_free(log->nodes.data[i]);
        vec_deinit(&log->nodes);
        object_table_deinit(&log->nodes_by_id);
        buf_deinit(&log->line);
        free(log->path);
        free(log);
}
