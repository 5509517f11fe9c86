/*
 * Writes Spark's JSON for the less frequent events; see event_json.h. event_log_test.c checks them against field lists
 * of genuine logs.
 */
#include "events/event_json.h"

#include "base/mem.h"
#include "store/storage_level.h"
#include "text/json_string.h"

#include <inttypes.h>
#include <stdio.h>

/* `,"name":"text"`, or with first `"name":"text"` */
static void event_json_field(struct buf *b, const char *prefix, const char *text)
{
        buf_puts(b, prefix);
        json_put_string(b, text);
}

void event_json_map(struct buf *b, const struct strmap *map, const struct event_json_redact *redact)
{
        buf_putc(b, '{');
        const char *separator = "";
        for (struct strmap_entry *e = NULL; map && (e = strmap_next(map, e));) {
                event_json_field(b, separator, e->key);
                bool hide = redact && redact->value;
                event_json_field(b, ":", hide ? redact->value(redact->context, e->key, e->value) : e->value);
                separator = ",";
        }
        buf_putc(b, '}');
}

static void event_json_ids(struct buf *b, const int *list, size_t n)
{
        buf_putc(b, '[');
        for (size_t i = 0; i < n; i++)
                buf_printf(b, i ? ",%d" : "%d", list[i]);
        buf_putc(b, ']');
}

static const char *event_json_bool(bool yes)
{
        return yes ? "true" : "false";
}

static void event_json_level(struct buf *b, struct storage_level l)
{
        buf_printf(b, "{\"Use Disk\":%s,\"Use Memory\":%s,\"Use Off Heap\":%s,\"Deserialized\":%s,\"Replication\":%d}",
                   event_json_bool(l.disk), event_json_bool(l.memory), event_json_bool(l.off_heap),
                   event_json_bool(l.deserialized), MAX(l.replicas, 1));
}

void event_json_storage_level(struct buf *b, enum fst_storage_level l)
{
        event_json_level(b, storage_levels[l]);
}

void event_json_block_level(struct buf *b, const struct block_update *block)
{
        event_json_level(b, storage_level_of_block(block->level, block->memory_size, block->disk_size));
}

void event_json_block_manager(struct buf *b, const struct block_manager_ref *m)
{
        event_json_field(b, "{\"Executor ID\":", m->executor_id);
        event_json_field(b, ",\"Host\":", m->host);
        buf_printf(b, ",\"Port\":%d}", m->port);
}

/* ------------------------------------------------------------------------------------------- application */

void event_json_log_start(struct buf *b)
{
        buf_puts(b, "{\"Event\":\"SparkListenerLogStart\",\"Spark Version\":\"" EVENT_JSON_SPARK_VERSION "\"}\n");
}

void event_json_application_start(struct buf *b, const struct application_start *e)
{
        event_json_field(b, "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":", e->name);
        event_json_field(b, ",\"App ID\":", e->id);
        buf_printf(b, ",\"Timestamp\":%" PRId64, e->ms);
        event_json_field(b, ",\"User\":", e->user);
        if (e->attempt_id)
                event_json_field(b, ",\"App Attempt ID\":", e->attempt_id);
        if (e->driver_logs && e->driver_logs->count) {
                buf_puts(b, ",\"Driver Logs\":");
                event_json_map(b, e->driver_logs, NULL);
        }
        if (e->driver_attributes && e->driver_attributes->count) {
                buf_puts(b, ",\"Driver Attributes\":");
                event_json_map(b, e->driver_attributes, NULL);
        }
        buf_puts(b, "}\n");
}

void event_json_application_end(struct buf *b, const struct application_end *e)
{
        buf_printf(b, "{\"Event\":\"SparkListenerApplicationEnd\",\"Timestamp\":%" PRId64, e->ms);
        if (e->exit_code >= 0)
                buf_printf(b, ",\"ExitCode\":%d", e->exit_code);
        buf_puts(b, "}\n");
}

void event_json_environment_update(struct buf *b, const struct environment_update *e,
                                   const struct event_json_redact *redact)
{
        buf_puts(b, "{\"Event\":\"SparkListenerEnvironmentUpdate\",\"JVM Information\":");
        event_json_map(b, e->runtime, redact);
        buf_puts(b, ",\"Spark Properties\":");
        event_json_map(b, e->spark_properties, redact);
        buf_puts(b, ",\"Hadoop Properties\":");
        event_json_map(b, e->hadoop_properties, redact);
        buf_puts(b, ",\"System Properties\":");
        event_json_map(b, e->system_properties, redact);
        buf_puts(b, ",\"Metrics Properties\":");
        event_json_map(b, e->metrics_properties, redact);
        buf_puts(b, ",\"Classpath Entries\":");
        event_json_map(b, e->classpath_entries, NULL);
        buf_puts(b, "}\n");
}

static void event_json_requests(struct buf *b, const struct profile_request *requests, size_t n, bool of_task)
{
        bool any = false;
        for (size_t i = 0; i < n; i++) {
                const struct profile_request *q = &requests[i];
                if (q->of_task != of_task)
                        continue;
                buf_puts(b, any ? "," : "");
                any = true;
                json_put_string(b, q->name);
                event_json_field(b, ":{\"Resource Name\":", q->name);
                if (of_task) { /* as Java writes a double */
                        buf_printf(b,
                                   q->amount == (double)(int64_t)q->amount ? ",\"Amount\":%.1f}" : ",\"Amount\":%.16g}",
                                   q->amount);
                        continue;
                }
                buf_printf(b, ",\"Amount\":%" PRId64, (int64_t)q->amount);
                event_json_field(b, ",\"Discovery Script\":", q->discovery_script ? q->discovery_script : "");
                event_json_field(b, ",\"Vendor\":", q->vendor ? q->vendor : "");
                buf_putc(b, '}');
        }
}

void event_json_resource_profile_added(struct buf *b, const struct resource_profile_added *e)
{
        const struct profile_request known[] = {{"cores", e->executor_cores, "", "", false},
                                                {"memory", (double)e->executor_memory_mib, "", "", false},
                                                {"offHeap", (double)e->executor_offheap_mib, "", "", false},
                                                {"cpus", e->task_cpus, "", "", true}};
        const struct profile_request *requests = e->requests ? e->requests : known;
        size_t n = e->requests ? e->n_requests : ARRAY_SIZE(known);
        buf_printf(b,
                   "{\"Event\":\"SparkListenerResourceProfileAdded\",\"Resource Profile Id\":%d,"
                   "\"Executor Resource Requests\":{",
                   e->id);
        event_json_requests(b, requests, n, false);
        buf_puts(b, "},\"Task Resource Requests\":{");
        event_json_requests(b, requests, n, true);
        buf_puts(b, "}}\n");
}

void event_json_block_manager_added(struct buf *b, const struct block_manager_added *e)
{
        buf_puts(b, "{\"Event\":\"SparkListenerBlockManagerAdded\",\"Block Manager ID\":");
        event_json_block_manager(b, &e->manager);
        buf_printf(b,
                   ",\"Maximum Memory\":%" PRId64 ",\"Timestamp\":%" PRId64 ",\"Maximum Onheap Memory\":%" PRId64
                   ",\"Maximum Offheap Memory\":%" PRId64 "}\n",
                   e->max_on_heap_memory + e->max_off_heap_memory, e->ms, e->max_on_heap_memory,
                   e->max_off_heap_memory);
}

void event_json_block_manager_removed(struct buf *b, const struct block_manager_removed *e)
{
        buf_puts(b, "{\"Event\":\"SparkListenerBlockManagerRemoved\",\"Block Manager ID\":");
        event_json_block_manager(b, &e->manager);
        buf_printf(b, ",\"Timestamp\":%" PRId64 "}\n", e->ms);
}

void event_json_executor_added(struct buf *b, const struct executor_added *e)
{
        buf_printf(b, "{\"Event\":\"SparkListenerExecutorAdded\",\"Timestamp\":%" PRId64, e->ms);
        event_json_field(b, ",\"Executor ID\":", e->id);
        event_json_field(b, ",\"Executor Info\":{\"Host\":", e->host);
        buf_printf(b, ",\"Total Cores\":%d,\"Log Urls\":", e->total_cores);
        event_json_map(b, e->log_urls, NULL);
        buf_puts(b, ",\"Attributes\":");
        event_json_map(b, e->attributes, NULL);
        buf_printf(b, ",\"Resources\":{},\"Resource Profile Id\":%d}}\n", e->resource_profile);
}

void event_json_executor_removed(struct buf *b, const struct executor_removed *e)
{
        buf_printf(b, "{\"Event\":\"SparkListenerExecutorRemoved\",\"Timestamp\":%" PRId64, e->ms);
        event_json_field(b, ",\"Executor ID\":", e->id);
        event_json_field(b, ",\"Removed Reason\":", e->reason ? e->reason : "");
        buf_puts(b, "}\n");
}

/*
 * Firesteel has no JVM heap: execution and storage memory take the fields of the heap, and the process is neither a JVM
 * nor Python.
 */
void event_json_stage_executor_metrics(struct buf *b, const char *executor_id, int stage_id, int stage_attempt,
                                       const struct executor_metrics *peaks)
{
        buf_puts(b, "{\"Event\":\"SparkListenerStageExecutorMetrics\"");
        event_json_field(b, ",\"Executor ID\":", executor_id);
        buf_printf(
                b,
                ",\"Stage ID\":%d,\"Stage Attempt ID\":%d,\"Executor Metrics\":{\"JVMHeapMemory\":0,"
                "\"JVMOffHeapMemory\":0,\"OnHeapExecutionMemory\":%" PRId64 ",\"OffHeapExecutionMemory\":0,"
                "\"OnHeapStorageMemory\":%" PRId64 ",\"OffHeapStorageMemory\":0,\"OnHeapUnifiedMemory\":%" PRId64
                ",\"OffHeapUnifiedMemory\":0,\"DirectPoolMemory\":0,\"MappedPoolMemory\":0,"
                "\"ProcessTreeJVMVMemory\":0,\"ProcessTreeJVMRSSMemory\":0,\"ProcessTreePythonVMemory\":0,"
                "\"ProcessTreePythonRSSMemory\":0,\"ProcessTreeOtherVMemory\":0,\"ProcessTreeOtherRSSMemory\":%" PRId64
                ",\"MinorGCCount\":0,\"MinorGCTime\":0,\"MajorGCCount\":0,\"MajorGCTime\":0,\"TotalGCTime\":0,"
                "\"ConcurrentGCCount\":0,\"ConcurrentGCTime\":0}}\n",
                stage_id, stage_attempt, peaks->execution_memory, peaks->storage_memory,
                peaks->execution_memory + peaks->storage_memory, peaks->resident_bytes);
}

void event_json_node_metrics(struct buf *b, const char *executor_id, const struct node_counters *node, int heartbeats)
{
        buf_puts(b, "{\"Event\":\"firesteel.NodeMetrics\"");
        event_json_field(b, ",\"Executor ID\":", executor_id);
        buf_printf(b,
                   ",\"Timestamp\":%" PRId64 ",\"Heartbeats\":%d,\"Busy CPU Time\":%" PRId64 ",\"CPU Time\":%" PRId64
                   ",\"Process CPU Time\":%" PRId64 ",\"Total Memory\":%" PRId64 ",\"Available Memory\":%" PRId64
                   ",\"Disk Bytes Read\":%" PRId64 ",\"Disk Bytes Written\":%" PRId64
                   ",\"Network Bytes Received\":%" PRId64 ",\"Network Bytes Sent\":%" PRId64 "}\n",
                   node->ms, heartbeats, node->cpu_busy_ms, node->cpu_all_ms, node->process_cpu_ms, node->memory_total,
                   node->memory_available, node->disk_read, node->disk_written, node->net_received, node->net_sent);
}

/* In Jackson's form, because Spark's JsonProtocol does not name this class. */
static void event_json_exclusion_line(struct buf *b, const struct exclusion_changed *e, const char *word)
{
        bool stage = e->stage_id >= 0;
        buf_printf(b, "{\"Event\":\"org.apache.spark.scheduler.SparkListener%s%s%s\",\"time\":%" PRId64 ",\"%s\":",
                   e->is_host ? "Node" : "Executor", word, stage ? "ForStage" : "", e->ms,
                   e->is_host ? "hostId" : "executorId");
        json_put_string(b, e->id);
        if (!e->lifted)
                buf_printf(b, ",\"%s\":%d", e->is_host ? "executorFailures" : "taskFailures", e->failures);
        if (stage)
                buf_printf(b, ",\"stageId\":%d,\"stageAttemptId\":%d", e->stage_id, e->stage_attempt);
        buf_puts(b, "}\n");
}

void event_json_exclusion_changed(struct buf *b, const struct exclusion_changed *e)
{
        event_json_exclusion_line(b, e, e->lifted ? "Unblacklisted" : "Blacklisted");
        event_json_exclusion_line(b, e, e->lifted ? "Unexcluded" : "Excluded");
}

/* -------------------------------------------------------------------------------------- jobs and stages */

static void event_json_rdd_info(struct buf *b, const struct rdd_info *r)
{
        static const char *const determinism[] = {"DETERMINATE", "UNORDERED", "INDETERMINATE"};
        buf_printf(b, "{\"RDD ID\":%d", r->id);
        event_json_field(b, ",\"Name\":", r->name);
        if (r->scope) {
                /* JSON text in a JSON string, so the name is escaped twice. */
                _cleanup_(buf_deinit) struct buf scope = BUF_INIT;
                buf_printf(&scope, "{\"id\":\"%d\",\"name\":", r->scope_id);
                json_put_string(&scope, r->scope);
                buf_putc(&scope, '}');
                event_json_field(b, ",\"Scope\":", scope.data);
        }
        event_json_field(b, ",\"Callsite\":", r->call_site ? r->call_site : "");
        buf_puts(b, ",\"Parent IDs\":");
        event_json_ids(b, r->parent_ids, r->n_parents);
        buf_puts(b, ",\"Storage Level\":");
        event_json_storage_level(b, r->level);
        buf_printf(b,
                   ",\"Barrier\":%s,\"DeterministicLevel\":\"%s\",\"Number of Partitions\":%d,"
                   "\"Number of Cached Partitions\":%d,\"Memory Size\":%" PRId64 ",\"Disk Size\":%" PRId64 "}",
                   event_json_bool(r->barrier), determinism[r->determinism], r->partitions, r->cached_partitions,
                   r->memory_size, r->disk_size);
}

static void event_json_stage_info(struct buf *b, const struct stage_info *s, const char *accumulables)
{
        buf_printf(b, "{\"Stage ID\":%d,\"Stage Attempt ID\":%d", s->id, s->attempt);
        event_json_field(b, ",\"Stage Name\":", s->name);
        buf_printf(b, ",\"Number of Tasks\":%d,\"RDD Info\":[", s->tasks);
        for (size_t i = 0; i < s->n_rdds; i++) {
                buf_puts(b, i ? "," : "");
                event_json_rdd_info(b, &s->rdds[i]);
        }
        buf_puts(b, "],\"Parent IDs\":");
        event_json_ids(b, s->parent_ids, s->n_parents);
        event_json_field(b, ",\"Details\":", s->details ? s->details : s->name);
        if (s->submission_ms)
                buf_printf(b, ",\"Submission Time\":%" PRId64, s->submission_ms);
        if (s->completion_ms)
                buf_printf(b, ",\"Completion Time\":%" PRId64, s->completion_ms);
        if (s->failure_reason)
                event_json_field(b, ",\"Failure Reason\":", s->failure_reason);
        buf_puts(b, ",\"Accumulables\":[");
        buf_puts(b, accumulables);
        buf_printf(b, "],\"Resource Profile Id\":%d,\"Shuffle Push Enabled\":false,\"Shuffle Push Mergers Count\":0}",
                   s->resource_profile);
}

void event_json_job_start(struct buf *b, const struct job_start *e, const struct event_json_redact *redact)
{
        buf_printf(b,
                   "{\"Event\":\"SparkListenerJobStart\",\"Job ID\":%d,\"Submission Time\":%" PRId64
                   ",\"Stage Infos\":[",
                   e->id, e->ms);
        for (size_t i = 0; i < e->n_stages; i++) {
                buf_puts(b, i ? "," : "");
                event_json_stage_info(b, &e->stages[i], "");
        }
        buf_puts(b, "],\"Stage IDs\":[");
        for (size_t i = 0; i < e->n_stages; i++)
                buf_printf(b, i ? ",%d" : "%d", e->stages[i].id);
        buf_puts(b, "],\"Properties\":");
        event_json_map(b, e->properties, redact);
        buf_puts(b, "}\n");
}

void event_json_job_end(struct buf *b, const struct job_end *e)
{
        buf_printf(b,
                   "{\"Event\":\"SparkListenerJobEnd\",\"Job ID\":%d,\"Completion Time\":%" PRId64
                   ",\"Job Result\":{\"Result\":",
                   e->id, e->ms);
        if (e->failure) {
                event_json_field(b, "\"JobFailed\",\"Exception\":{\"Message\":", e->failure);
                buf_puts(b, ",\"Stack Trace\":[]}}}\n");
        } else {
                buf_puts(b, "\"JobSucceeded\"}}\n");
        }
}

void event_json_stage_submitted(struct buf *b, const struct stage_submitted *e, const struct event_json_redact *redact)
{
        buf_puts(b, "{\"Event\":\"SparkListenerStageSubmitted\",\"Stage Info\":");
        event_json_stage_info(b, &e->stage, "");
        buf_puts(b, ",\"Properties\":");
        event_json_map(b, e->properties, redact);
        buf_puts(b, "}\n");
}

void event_json_stage_completed(struct buf *b, const struct stage_completed *e, const char *accumulables)
{
        buf_puts(b, "{\"Event\":\"SparkListenerStageCompleted\",\"Stage Info\":");
        event_json_stage_info(b, &e->stage, accumulables);
        buf_puts(b, "}\n");
}

/* ----------------------------------------------------------------------------------------------- storage */

void event_json_unpersist_rdd(struct buf *b, const struct unpersist_rdd *e)
{
        buf_printf(b, "{\"Event\":\"SparkListenerUnpersistRDD\",\"RDD ID\":%d}\n", e->rdd_id);
}

void event_json_block_updated(struct buf *b, const struct block_updated *e)
{
        buf_puts(b, "{\"Event\":\"SparkListenerBlockUpdated\",\"Block Updated Info\":{\"Block Manager ID\":");
        event_json_block_manager(b, &e->block.manager);
        event_json_field(b, ",\"Block ID\":", e->block.block_id);
        buf_puts(b, ",\"Storage Level\":");
        event_json_block_level(b, &e->block);
        buf_printf(b, ",\"Memory Size\":%" PRId64 ",\"Disk Size\":%" PRId64 "}}\n", e->block.memory_size,
                   e->block.disk_size);
}
