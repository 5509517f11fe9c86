/*
 * Cuts a log into lines and reads their events; see event_reader.h. task_reader.c reads those of tasks.
 *
 * A line is read in the buffer that holds it: its strings end where they lie. What needs more room, such as arrays,
 * lies in an arena that each line empties.
 */
#include "events/event_reader_internal.h"

#include "base/buf.h"
#include "base/mem.h"

#include <stdio.h>

enum { READER_PIECE = 64 << 10 };

/* ----------------------------------------------------------------------------------------------- executors */

struct executor_key {
        const char *id, *host;
};

static bool event_reader_executor_has_key(const void *object, const void *key)
{
        const struct executor_ref *x = object;
        const struct executor_key *k = key;
        return strcmp(x->id, k->id) == 0 && strcmp(x->host, k->host) == 0;
}

const struct executor_ref *event_reader_executor(struct event_reader *r, const char *id, const char *host)
{
        const struct executor_key key = {id, host};
        if (r->last_executor && event_reader_executor_has_key(r->last_executor, &key))
                return r->last_executor;
        uint64_t hash = object_hash_text(id);
        struct executor_ref *x = object_table_find(&r->executors, hash, event_reader_executor_has_key, &key);
        if (!x) {
                x = arena_alloc(&r->names, sizeof(*x));
                *x = (struct executor_ref){.id = arena_copy(&r->names, id, strlen(id)),
                                           .host = arena_copy(&r->names, host, strlen(host)),
                                           .address = ""};
                object_table_put(&r->executors, hash, x);
        }
        r->last_executor = x;
        return x;
}

/* ------------------------------------------------------------------------------------------------ events */

/* Begins an event: sets its type and the values of its missing fields. Returns the struct that the fields go to. */
#define BEGIN_EVENT(r, kind, ...)                                                                                      \
        ({                                                                                                             \
                (r)->event.type = EVENT_##kind;                                                                        \
                (r)->event.kind = (struct kind){__VA_ARGS__};                                                          \
                &(r)->event.kind;                                                                                      \
        })

/* Spark 3.1 has the new names of exclusion events and writes each event twice, with the old and the new name. */
static bool event_reader_version_has_excluded(const char *spark_version)
{
        int major = 0, minor = 0;
        return spark_version && sscanf(spark_version, "%d.%d", &major, &minor) == 2 &&
               (major > 3 || (major == 3 && minor >= 1));
}

static bool event_reader_read_log_start(struct event_reader *r, struct json_cursor *c)
{
        static const struct json_field fields[] = {JSON_FIELD(TEXT, struct log_start, spark_version, "Spark Version")};
        struct log_start *e = BEGIN_EVENT(r, log_start, .spark_version = "");
        if (!json_read_object(c, &JSON_FIELDS(fields), e, r))
                return false;
        r->has_excluded = event_reader_version_has_excluded(e->spark_version);
        return true;
}

static bool event_reader_read_application_start(struct event_reader *r, struct json_cursor *c)
{
        static const struct json_field fields[] = {
                JSON_FIELD(TEXT, struct application_start, name, "App Name"),
                JSON_FIELD(TEXT, struct application_start, id, "App ID"),
                JSON_FIELD(INT64, struct application_start, ms, "Timestamp"),
                JSON_FIELD(TEXT, struct application_start, user, "User"),
                JSON_FIELD(TEXT, struct application_start, attempt_id, "App Attempt ID"),
                JSON_FIELD_CALL(event_reader_read_map, offsetof(struct application_start, driver_logs), "Driver Logs"),
                JSON_FIELD_CALL(event_reader_read_map, offsetof(struct application_start, driver_attributes),
                                "Driver Attributes"),
        };
        return json_read_object(c, &JSON_FIELDS(fields),
                                BEGIN_EVENT(r, application_start, .name = "", .id = NULL, .user = ""), r);
}

static bool event_reader_read_application_end(struct event_reader *r, struct json_cursor *c)
{
        static const struct json_field fields[] = {
                JSON_FIELD(INT64, struct application_end, ms, "Timestamp"),
                JSON_FIELD(INT32, struct application_end, exit_code, "ExitCode"),
        };
        return json_read_object(c, &JSON_FIELDS(fields), BEGIN_EVENT(r, application_end, .exit_code = -1), r);
}

#define MAP_FIELD(type, member, name) JSON_FIELD_CALL(event_reader_read_map, offsetof(struct type, member), name)

static bool event_reader_read_environment_update(struct event_reader *r, struct json_cursor *c)
{
        static const struct json_field fields[] = {
                MAP_FIELD(environment_update, runtime, "JVM Information"),
                MAP_FIELD(environment_update, spark_properties, "Spark Properties"),
                MAP_FIELD(environment_update, hadoop_properties, "Hadoop Properties"),
                MAP_FIELD(environment_update, system_properties, "System Properties"),
                MAP_FIELD(environment_update, metrics_properties, "Metrics Properties"),
                MAP_FIELD(environment_update, classpath_entries, "Classpath Entries"),
        };
        return json_read_object(c, &JSON_FIELDS(fields), BEGIN_EVENT(r, environment_update, .runtime = NULL), r);
}

typedef VEC(struct profile_request) request_list;

struct profile_line {
        int32_t id;
        request_list requests;
        char of_executor, of_task; /* places of the two fields */
};

/* Reads the requests of executors or tasks behind those that the profile has. */
static bool event_reader_read_requests(struct json_cursor *c, struct profile_line *l, bool of_task, void *context)
{
        static const struct json_field fields[] = {
                JSON_FIELD(TEXT, struct profile_request, name, "Resource Name"),
                JSON_FIELD(DOUBLE, struct profile_request, amount, "Amount"),
                JSON_FIELD(TEXT, struct profile_request, discovery_script, "Discovery Script"),
                JSON_FIELD(TEXT, struct profile_request, vendor, "Vendor"),
        };
        static const struct json_fields table = JSON_FIELDS(fields);
        char *name = NULL;
        for (bool more = json_begin_members(c, &name); more; more = json_next_member(c, &name)) {
                vec_push(&l->requests, (struct profile_request){
                                               .name = name, .discovery_script = "", .vendor = "", .of_task = of_task});
                if (!json_read_object(c, &table, &l->requests.data[l->requests.len - 1], context))
                        break;
        }
        return !c->problem;
}

static bool event_reader_read_executor_requests(struct json_cursor *c, void *base, void *context)
{
        return event_reader_read_requests(c, container_of((char *)base, struct profile_line, of_executor), false,
                                          context);
}

static bool event_reader_read_task_requests(struct json_cursor *c, void *base, void *context)
{
        return event_reader_read_requests(c, container_of((char *)base, struct profile_line, of_task), true, context);
}

static bool event_reader_read_resource_profile_added(struct event_reader *r, struct json_cursor *c)
{
        static const struct json_field fields[] = {
                JSON_FIELD(INT32, struct profile_line, id, "Resource Profile Id"),
                JSON_FIELD_CALL(event_reader_read_executor_requests, offsetof(struct profile_line, of_executor),
                                "Executor Resource Requests"),
                JSON_FIELD_CALL(event_reader_read_task_requests, offsetof(struct profile_line, of_task),
                                "Task Resource Requests"),
        };
        struct profile_line l = {0};
        bool ok = json_read_object(c, &JSON_FIELDS(fields), &l, r);
        struct resource_profile_added *e = BEGIN_EVENT(r, resource_profile_added, .id = l.id);
        event_reader_store(r, &e->requests, l.requests.data, l.requests.len, sizeof(l.requests.data[0]));
        for (size_t i = 0; i < e->n_requests; i++) {
                const struct profile_request *q = &e->requests[i];
                if (q->of_task) {
                        if (strcmp(q->name, "cpus") == 0)
                                e->task_cpus = q->amount;
                } else if (strcmp(q->name, "cores") == 0) {
                        e->executor_cores = (int)q->amount;
                } else if (strcmp(q->name, "memory") == 0) {
                        e->executor_memory_mib = (int64_t)q->amount;
                } else if (strcmp(q->name, "offHeap") == 0) {
                        e->executor_offheap_mib = (int64_t)q->amount;
                }
        }
        vec_deinit(&l.requests);
        return ok;
}

static bool event_reader_read_block_manager_added(struct event_reader *r, struct json_cursor *c)
{
        struct added_line {
                struct block_manager_added e;
                int64_t max_memory;
        };
        static const struct json_field fields[] = {
                JSON_FIELD_OBJECT(&event_reader_block_manager_fields, offsetof(struct added_line, e.manager),
                                  "Block Manager ID"),
                JSON_FIELD(INT64, struct added_line, max_memory, "Maximum Memory"),
                JSON_FIELD(INT64, struct added_line, e.ms, "Timestamp"),
                JSON_FIELD(INT64, struct added_line, e.max_on_heap_memory, "Maximum Onheap Memory"),
                JSON_FIELD(INT64, struct added_line, e.max_off_heap_memory, "Maximum Offheap Memory"),
        };
        struct added_line l = {.e = {.ms = -1, .max_on_heap_memory = -1, .manager = {"", "", 0}}};
        if (!json_read_object(c, &JSON_FIELDS(fields), &l, r))
                return false;
        if (l.e.max_on_heap_memory < 0) {
                l.e.is_unsplit = true;
                l.e.max_on_heap_memory = l.max_memory;
        }
        *BEGIN_EVENT(r, block_manager_added, .ms = 0) = l.e;
        return true;
}

static bool event_reader_read_block_manager_removed(struct event_reader *r, struct json_cursor *c)
{
        static const struct json_field fields[] = {
                JSON_FIELD_OBJECT(&event_reader_block_manager_fields, offsetof(struct block_manager_removed, manager),
                                  "Block Manager ID"),
                JSON_FIELD(INT64, struct block_manager_removed, ms, "Timestamp"),
        };
        return json_read_object(c, &JSON_FIELDS(fields),
                                BEGIN_EVENT(r, block_manager_removed, .ms = -1, .manager = {"", "", 0}), r);
}

/* Reads `{"gpu":{"name":"gpu","addresses":["0","1"]}}` into a map: gpu → "0,1". */
static bool event_reader_read_resources(struct json_cursor *c, void *base, void *context)
{
        struct strmap *map = event_reader_new_map(context);
        char *name = NULL, *member = NULL;
        _cleanup_(buf_deinit) struct buf list = BUF_INIT;
        if (!map)
                return json_skip_value(c);
        for (bool more = json_begin_members(c, &name); more; more = json_next_member(c, &name)) {
                buf_reset(&list);
                for (bool in = json_begin_members(c, &member); in; in = json_next_member(c, &member)) {
                        bool is_list = strcmp(member, "addresses") == 0;
                        if (!is_list && !json_skip_value(c))
                                break;
                        for (bool item = is_list && json_begin_array(c); item; item = json_next_element(c)) {
                                char *address = NULL;
                                if (!json_read_text(c, &address, NULL))
                                        break;
                                buf_puts(&list, list.len ? "," : "");
                                buf_puts(&list, address ? address : "");
                        }
                }
                if (c->problem)
                        break;
                strmap_set(map, name, buf_text(&list));
        }
        *(const struct strmap **)base = map;
        return !c->problem;
}

static bool event_reader_read_executor_added(struct event_reader *r, struct json_cursor *c)
{
        static const struct json_field info_fields[] = {
                JSON_FIELD(TEXT, struct executor_added, host, "Host"),
                JSON_FIELD(INT32, struct executor_added, total_cores, "Total Cores"),
                MAP_FIELD(executor_added, log_urls, "Log Urls"),
                MAP_FIELD(executor_added, attributes, "Attributes"),
                JSON_FIELD_CALL(event_reader_read_resources, offsetof(struct executor_added, resources), "Resources"),
                JSON_FIELD(INT32, struct executor_added, resource_profile, "Resource Profile Id"),
        };
        static const struct json_fields info_table = JSON_FIELDS(info_fields);
        static const struct json_field fields[] = {
                JSON_FIELD(INT64, struct executor_added, ms, "Timestamp"),
                JSON_FIELD(TEXT, struct executor_added, id, "Executor ID"),
                JSON_FIELD_OBJECT(&info_table, 0, "Executor Info"),
        };
        return json_read_object(c, &JSON_FIELDS(fields), BEGIN_EVENT(r, executor_added, .id = "", .host = ""), r);
}

static bool event_reader_read_executor_removed(struct event_reader *r, struct json_cursor *c)
{
        static const struct json_field fields[] = {
                JSON_FIELD(INT64, struct executor_removed, ms, "Timestamp"),
                JSON_FIELD(TEXT, struct executor_removed, id, "Executor ID"),
                JSON_FIELD(TEXT, struct executor_removed, reason, "Removed Reason"),
        };
        return json_read_object(c, &JSON_FIELDS(fields), BEGIN_EVENT(r, executor_removed, .id = "", .reason = ""), r);
}

/* A job of Spark before 1.2 names its stages by number only. */
struct job_line {
        struct job_start e;
        const int *stage_ids;
        size_t n_stage_ids;
};

static bool event_reader_read_job_start(struct event_reader *r, struct json_cursor *c)
{
        static const struct json_field fields[] = {
                JSON_FIELD(INT32, struct job_line, e.id, "Job ID"),
                JSON_FIELD(INT64, struct job_line, e.ms, "Submission Time"),
                JSON_FIELD_CALL(event_reader_read_stages, offsetof(struct job_line, e.stages), "Stage Infos"),
                JSON_FIELD_CALL(event_reader_read_ids, offsetof(struct job_line, stage_ids), "Stage IDs"),
                JSON_FIELD_CALL(event_reader_read_map, offsetof(struct job_line, e.properties), "Properties"),
        };
        struct job_line l = {.e = {.ms = -1}};
        if (!json_read_object(c, &JSON_FIELDS(fields), &l, r))
                return false;
        if (!l.e.n_stages && l.n_stage_ids) {
                struct stage_info *stages = arena_alloc(&r->arena, l.n_stage_ids * sizeof(*stages));
                for (size_t i = 0; i < l.n_stage_ids; i++)
                        stages[i] = (struct stage_info){.id = l.stage_ids[i], .name = "unknown", .details = "unknown"};
                l.e.stages = stages;
                l.e.n_stages = l.n_stage_ids;
        }
        *BEGIN_EVENT(r, job_start, .id = 0) = l.e;
        return true;
}

static bool event_reader_read_job_end(struct event_reader *r, struct json_cursor *c)
{
        struct end_line {
                int32_t id;
                int64_t ms;
                char *result, *message;
        };
        static const struct json_field exception_fields[] = {JSON_FIELD(TEXT, struct end_line, message, "Message")};
        static const struct json_fields exception_table = JSON_FIELDS(exception_fields);
        static const struct json_field result_fields[] = {
                JSON_FIELD(TEXT, struct end_line, result, "Result"),
                JSON_FIELD_OBJECT(&exception_table, 0, "Exception"),
        };
        static const struct json_fields result_table = JSON_FIELDS(result_fields);
        static const struct json_field fields[] = {
                JSON_FIELD(INT32, struct end_line, id, "Job ID"),
                JSON_FIELD(INT64, struct end_line, ms, "Completion Time"),
                JSON_FIELD_OBJECT(&result_table, 0, "Job Result"),
        };
        struct end_line l = {.ms = -1};
        if (!json_read_object(c, &JSON_FIELDS(fields), &l, r))
                return false;
        bool failed = l.result && strcmp(l.result, "JobSucceeded") != 0;
        BEGIN_EVENT(r, job_end, .id = l.id, .ms = l.ms, .failure = !failed ? NULL : l.message ? l.message : "");
        return true;
}

static bool event_reader_read_stage_submitted(struct event_reader *r, struct json_cursor *c)
{
        static const struct json_field fields[] = {
                JSON_FIELD_OBJECT(&event_reader_stage_fields, offsetof(struct stage_submitted, stage), "Stage Info"),
                MAP_FIELD(stage_submitted, properties, "Properties"),
        };
        return json_read_object(c, &JSON_FIELDS(fields),
                                BEGIN_EVENT(r, stage_submitted, .stage = {.name = "", .details = ""}), r);
}

static bool event_reader_read_stage_completed(struct event_reader *r, struct json_cursor *c)
{
        static const struct json_field fields[] = {
                JSON_FIELD_OBJECT(&event_reader_stage_fields, offsetof(struct stage_completed, stage), "Stage Info")};
        return json_read_object(c, &JSON_FIELDS(fields),
                                BEGIN_EVENT(r, stage_completed, .stage = {.name = "", .details = ""}), r);
}

static bool event_reader_read_unpersist_rdd(struct event_reader *r, struct json_cursor *c)
{
        static const struct json_field fields[] = {JSON_FIELD(INT32, struct unpersist_rdd, rdd_id, "RDD ID")};
        return json_read_object(c, &JSON_FIELDS(fields), BEGIN_EVENT(r, unpersist_rdd, .rdd_id = -1), r);
}

static bool event_reader_read_block_updated(struct event_reader *r, struct json_cursor *c)
{
        static const struct json_field block_fields[] = {
                JSON_FIELD_OBJECT(&event_reader_block_manager_fields, offsetof(struct block_updated, block.manager),
                                  "Block Manager ID"),
                JSON_FIELD(TEXT, struct block_updated, block.block_id, "Block ID"),
                JSON_FIELD_CALL(event_reader_read_level, offsetof(struct block_updated, block.level), "Storage Level"),
                JSON_FIELD(INT64, struct block_updated, block.memory_size, "Memory Size"),
                JSON_FIELD(INT64, struct block_updated, block.disk_size, "Disk Size"),
        };
        static const struct json_fields block_table = JSON_FIELDS(block_fields);
        static const struct json_field fields[] = {JSON_FIELD_OBJECT(&block_table, 0, "Block Updated Info")};
        return json_read_object(c, &JSON_FIELDS(fields),
                                BEGIN_EVENT(r, block_updated, .block = {.manager = {"", "", 0}, .block_id = ""}), r);
}

static bool event_reader_read_stage_executor_metrics(struct event_reader *r, struct json_cursor *c)
{
        static const struct json_field fields[] = {
                JSON_FIELD(TEXT, struct stage_executor_metrics, executor_id, "Executor ID"),
                JSON_FIELD(INT32, struct stage_executor_metrics, stage_id, "Stage ID"),
                JSON_FIELD(INT32, struct stage_executor_metrics, stage_attempt, "Stage Attempt ID"),
                JSON_FIELD_OBJECT(&event_reader_peak_fields, offsetof(struct stage_executor_metrics, peaks),
                                  "Executor Metrics"),
        };
        return json_read_object(c, &JSON_FIELDS(fields), BEGIN_EVENT(r, stage_executor_metrics, .executor_id = ""), r);
}

/* Reads the metrics of an executor in all stages: its own peaks. */
static bool event_reader_read_executor_peaks(struct json_cursor *c, void *base, void *context)
{
        static const struct json_field fields[] = {JSON_FIELD_OBJECT(
                &event_reader_peak_fields, offsetof(struct stage_executor_metrics, peaks), "Executor Metrics")};
        static const struct json_fields table = JSON_FIELDS(fields);
        struct executor_peaks *peaks = base;
        for (bool more = json_begin_array(c); more; more = json_next_element(c)) {
                struct stage_executor_metrics one = {.peaks = {{-1}}};
                if (!json_read_object(c, &table, &one, context))
                        return false;
                for (size_t i = 0; i < EXECUTOR_PEAKS; i++)
                        peaks->values[i] = MAX(peaks->values[i], one.peaks.values[i]);
        }
        return !c->problem;
}

static bool event_reader_read_executor_metrics(struct event_reader *r, struct json_cursor *c)
{
        static const struct json_field fields[] = {
                JSON_FIELD(TEXT, struct stage_executor_metrics, executor_id, "Executor ID"),
                JSON_FIELD_CALL(event_reader_read_executor_peaks, offsetof(struct stage_executor_metrics, peaks),
                                "Executor Metrics Updated"),
        };
        return json_read_object(
                c, &JSON_FIELDS(fields),
                BEGIN_EVENT(r, stage_executor_metrics, .executor_id = "", .stage_id = -1, .peaks = {{-1}}), r);
}

static bool event_reader_read_node_metrics(struct event_reader *r, struct json_cursor *c)
{
        static const struct json_field fields[] = {
                JSON_FIELD(TEXT, struct node_metrics, executor_id, "Executor ID"),
                JSON_FIELD(INT64, struct node_metrics, node.ms, "Timestamp"),
                JSON_FIELD(INT32, struct node_metrics, heartbeats, "Heartbeats"),
                JSON_FIELD(INT64, struct node_metrics, node.cpu_busy_ms, "Busy CPU Time"),
                JSON_FIELD(INT64, struct node_metrics, node.cpu_all_ms, "CPU Time"),
                JSON_FIELD(INT64, struct node_metrics, node.process_cpu_ms, "Process CPU Time"),
                JSON_FIELD(INT64, struct node_metrics, node.memory_total, "Total Memory"),
                JSON_FIELD(INT64, struct node_metrics, node.memory_available, "Available Memory"),
                JSON_FIELD(INT64, struct node_metrics, node.disk_read, "Disk Bytes Read"),
                JSON_FIELD(INT64, struct node_metrics, node.disk_written, "Disk Bytes Written"),
                JSON_FIELD(INT64, struct node_metrics, node.net_received, "Network Bytes Received"),
                JSON_FIELD(INT64, struct node_metrics, node.net_sent, "Network Bytes Sent"),
        };
        return json_read_object(c, &JSON_FIELDS(fields), BEGIN_EVENT(r, node_metrics, .executor_id = ""), r);
}

static bool event_reader_read_process_added(struct event_reader *r, struct json_cursor *c)
{
        static const struct json_field info_fields[] = {
                JSON_FIELD(TEXT, struct process_added, host_port, "hostPort"),
                JSON_FIELD(INT32, struct process_added, cores, "cores"),
                MAP_FIELD(process_added, log_urls, "logUrlInfo"),
        };
        static const struct json_fields info_table = JSON_FIELDS(info_fields);
        static const struct json_field fields[] = {
                JSON_FIELD(INT64, struct process_added, ms, "time"),
                JSON_FIELD(TEXT, struct process_added, id, "processId"),
                JSON_FIELD_OBJECT(&info_table, 0, "info"),
        };
        return json_read_object(c, &JSON_FIELDS(fields), BEGIN_EVENT(r, process_added, .id = "", .host_port = ""), r);
}

static bool event_reader_read_exclusion(struct event_reader *r, struct json_cursor *c, bool is_host, bool lifted)
{
        static const struct json_field fields[] = {
                JSON_FIELD(INT64, struct exclusion_changed, ms, "time"),
                JSON_FIELD(TEXT, struct exclusion_changed, id, "executorId"),
                JSON_FIELD(TEXT, struct exclusion_changed, id, "hostId"),
                JSON_FIELD(INT32, struct exclusion_changed, failures, "taskFailures"),
                JSON_FIELD(INT32, struct exclusion_changed, failures, "executorFailures"),
                JSON_FIELD(INT32, struct exclusion_changed, stage_id, "stageId"),
                JSON_FIELD(INT32, struct exclusion_changed, stage_attempt, "stageAttemptId"),
        };
        return json_read_object(c, &JSON_FIELDS(fields),
                                BEGIN_EVENT(r, exclusion_changed, .id = "", .is_host = is_host, .lifted = lifted,
                                            .stage_id = -1, .stage_attempt = -1),
                                r);
}

/* ----------------------------------------------------------------------------------------------- classes */

struct event_class {
        const char *name;
        bool (*read)(struct event_reader *r, struct json_cursor *c);
};

static const struct event_class event_classes[] = {
        {"SparkListenerTaskEnd", task_reader_end},
        {"SparkListenerTaskStart", task_reader_start},
        {"SparkListenerTaskGettingResult", task_reader_getting_result},
        {"SparkListenerStageSubmitted", event_reader_read_stage_submitted},
        {"SparkListenerStageCompleted", event_reader_read_stage_completed},
        {"SparkListenerJobStart", event_reader_read_job_start},
        {"SparkListenerJobEnd", event_reader_read_job_end},
        {"SparkListenerBlockUpdated", event_reader_read_block_updated},
        {"SparkListenerStageExecutorMetrics", event_reader_read_stage_executor_metrics},
        {"SparkListenerExecutorAdded", event_reader_read_executor_added},
        {"SparkListenerExecutorRemoved", event_reader_read_executor_removed},
        {"SparkListenerBlockManagerAdded", event_reader_read_block_manager_added},
        {"SparkListenerBlockManagerRemoved", event_reader_read_block_manager_removed},
        {"SparkListenerUnpersistRDD", event_reader_read_unpersist_rdd},
        {"SparkListenerLogStart", event_reader_read_log_start},
        {"SparkListenerApplicationStart", event_reader_read_application_start},
        {"SparkListenerApplicationEnd", event_reader_read_application_end},
        {"SparkListenerEnvironmentUpdate", event_reader_read_environment_update},
        {"SparkListenerResourceProfileAdded", event_reader_read_resource_profile_added},
        {"org.apache.spark.scheduler.SparkListenerMiscellaneousProcessAdded", event_reader_read_process_added},
        {"firesteel.NodeMetrics", event_reader_read_node_metrics},
        /* Known, and nothing shows them. */
        {"SparkListenerExecutorMetricsUpdate", event_reader_read_executor_metrics},
        {"org.apache.spark.scheduler.SparkListenerSpeculativeTaskSubmitted", NULL},
        {"org.apache.spark.scheduler.SparkListenerUnschedulableTaskSetAdded", NULL},
        {"org.apache.spark.scheduler.SparkListenerUnschedulableTaskSetRemoved", NULL},
};

/* Classes of other libraries, which log events of their own. */
static bool event_reader_is_foreign(const char *class_name)
{
        static const char *const prefixes[] = {"org.apache.spark.sql.", "org.apache.spark.streaming."};
        for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
                if (strncmp(class_name, prefixes[i], strlen(prefixes[i])) == 0)
                        return true;
        return false;
}

/* Splits `…SparkListenerNodeUnexcludedForStage`. Returns false for other classes. */
static bool event_reader_parse_exclusion(const char *name, bool *is_host, bool *lifted, bool *is_old)
{
        static const char package[] = "org.apache.spark.scheduler.SparkListener";
        if (strncmp(name, package, sizeof(package) - 1) != 0)
                return false;
        name += sizeof(package) - 1;
        *is_host = strncmp(name, "Node", 4) == 0;
        if (!*is_host && strncmp(name, "Executor", 8) != 0)
                return false;
        name += *is_host ? 4 : 8;
        *lifted = strncmp(name, "Un", 2) == 0;
        name += *lifted ? 2 : 0;
        const char *words[] = {*lifted ? "excluded" : "Excluded", *lifted ? "blacklisted" : "Blacklisted"};
        for (int i = 0; i < 2; i++) {
                size_t length = strlen(words[i]);
                if (strncmp(name, words[i], length) != 0)
                        continue;
                *is_old = i == 1;
                return name[length] == 0 || strcmp(name + length, "ForStage") == 0;
        }
        return false;
}

static void event_reader_count_unknown(struct event_reader *r, const char *class_name)
{
        r->counts.unknown++;
        for (size_t i = 0; i < r->unknown.len; i++)
                if (strcmp(r->unknown.data[i], class_name) == 0)
                        return;
        if (r->unknown.len >= 1000)
                return; /* a log of random names is not remembered for ever */
        vec_push(&r->unknown, arena_copy(&r->names, class_name, strlen(class_name)));
        if (r->options.on_unknown)
                r->options.on_unknown(r->options.owner, r->counts.lines, class_name);
}

/* Reads the fields of an event. Returns false for a damaged line. */
static bool event_reader_read_class(struct event_reader *r, const char *name, struct json_cursor *c)
{
        bool ok = false, is_host, lifted, is_old;
        size_t i = 0;
        while (i < ARRAY_SIZE(event_classes) && strcmp(event_classes[i].name, name) != 0)
                i++;
        if (i < ARRAY_SIZE(event_classes) && event_classes[i].read) {
                ok = event_classes[i].read(r, c);
        } else if (i < ARRAY_SIZE(event_classes) || event_reader_is_foreign(name)) {
                r->counts.ignored++;
                return true;
        } else if (!event_reader_parse_exclusion(name, &is_host, &lifted, &is_old)) {
                event_reader_count_unknown(r, name);
                return true;
        } else if (is_old && r->has_excluded) {
                r->counts.ignored++;
                return true;
        } else {
                ok = event_reader_read_exclusion(r, c, is_host, lifted);
        }
        if (!ok)
                return false;
        if (!json_at_end(c)) {
                c->problem = "more text follows the event";
                return false;
        }
        r->counts.events++;
        r->options.on_event(r->options.owner, &r->event);
        return true;
}

/* ------------------------------------------------------------------------------------------------- lines */

/* Finds the class of an event whose first field is another. Reads a copy, because reading changes the text. */
static bool event_reader_find_class(struct event_reader *r, struct json_cursor *c, char **name)
{
        size_t length = (size_t)(c->end - c->at);
        char *text = arena_alloc(&r->arena, length + JSON_CURSOR_SLACK), *member = NULL;
        memcpy(text, c->at, length);
        memset(text + length, 0, JSON_CURSOR_SLACK);
        struct json_cursor copy = {.at = text, .end = text + length};
        for (bool more = json_begin_members(&copy, &member); more; more = json_next_member(&copy, &member)) {
                if (strcmp(member, "Event") == 0)
                        return json_read_text(&copy, name, NULL) && *name;
                if (!json_skip_value(&copy))
                        break;
        }
        c->problem = copy.problem ? copy.problem : "the line is not an event";
        return false;
}

static bool event_reader_read_event(struct event_reader *r, struct json_cursor *c)
{
        static const char head[] = "{\"Event\":\"";
        char *name = NULL;
        if (likely(memcmp(c->at, head, sizeof(head) - 1) == 0)) {
                c->at += sizeof(head) - 2;
                if (!json_read_text(c, &name, NULL))
                        return false;
                /* The rest of the line becomes an object of its own. */
                if (*c->at == ',') {
                        *c->at = '{';
                } else if (*c->at == '}') {
                        char *text = arena_copy(&r->arena, name, strlen(name));
                        name = text;
                        *--c->at = '{';
                } else {
                        c->problem = "a comma or } was expected";
                        return false;
                }
        } else if (!event_reader_find_class(r, c, &name)) {
                if (!c->problem)
                        c->problem = "the line is not an event";
                return false;
        }
        return event_reader_read_class(r, name, c);
}

static void event_reader_report(struct event_reader *r, const char *problem)
{
        r->counts.damaged++;
        if (r->options.on_damaged)
                r->options.on_damaged(r->options.owner, r->counts.lines, problem);
}

/* Reads the line at @text, behind which JSON_CURSOR_SLACK bytes may be read. Empty lines are no damage. */
static void event_reader_read_line(struct event_reader *r, char *text, size_t length)
{
        struct json_cursor c = {.at = text, .end = text + length};
        text[length] = 0;
        r->counts.lines++;
        if (json_at_end(&c))
                return;
        arena_reset(&r->arena);
        for (size_t i = 0; i < r->n_maps; i++)
                strmap_deinit(&r->maps[i]);
        r->n_maps = 0;
        if (r->options.on_line) { /* reading changes the text */
                buf_reset(&r->line);
                buf_append(&r->line, text, length);
        }
        if (!event_reader_read_event(r, &c))
                event_reader_report(r, c.problem ? c.problem : "the line is not an event");
        if (r->options.on_line)
                r->options.on_line(r->options.owner, buf_text(&r->line), r->line.len);
}

char *event_reader_room(struct event_reader *r, size_t *room)
{
        if (r->begin > 0) {
                memmove(r->data, r->data + r->begin, r->len - r->begin);
                r->len -= r->begin;
                r->begin = 0;
        }
        if (r->cap - r->len < READER_PIECE) {
                size_t cap = MAX(r->cap * 2, (size_t)4 * READER_PIECE);
                char *data = mem_try_grow(r->data, cap + JSON_CURSOR_SLACK);
                if (!data) { /* drop the line, and report it at its end */
                        r->skips_line = true;
                        r->len = 0;
                } else {
                        r->data = data;
                        r->cap = cap;
                }
        }
        *room = r->cap - r->len;
        return r->data + r->len;
}

void event_reader_filled(struct event_reader *r, size_t n)
{
        size_t from = r->len;
        r->len += n;
        r->counts.bytes += n;
        memset(r->data + r->len, 0, JSON_CURSOR_SLACK);
        for (char *end; (end = memchr(r->data + from, '\n', r->len - from));) {
                size_t next = (size_t)(end - r->data) + 1;
                if (unlikely(r->skips_line)) {
                        r->skips_line = false;
                        r->counts.lines++;
                        event_reader_report(r, "the line is too long");
                } else {
                        event_reader_read_line(r, r->data + r->begin, next - 1 - r->begin);
                }
                r->begin = from = next;
        }
        if (r->len - r->begin > r->options.max_line) {
                r->skips_line = true;
                r->len = r->begin;
        }
}

void event_reader_end(struct event_reader *r, bool is_growing)
{
        if (r->skips_line || (r->len > r->begin && !is_growing)) {
                if (r->skips_line) {
                        r->counts.lines++;
                        event_reader_report(r, "the line is too long");
                } else {
                        event_reader_read_line(r, r->data + r->begin, r->len - r->begin);
                }
        }
        r->skips_line = false;
        r->begin = r->len = 0;
}

void event_reader_resume(struct event_reader *r, const char *spark_version)
{
        r->has_excluded = event_reader_version_has_excluded(spark_version);
}

size_t event_reader_pending(const struct event_reader *r)
{
        return r->skips_line ? SIZE_MAX : r->len - r->begin;
}

struct event_reader_counts event_reader_counts(const struct event_reader *r)
{
        return r->counts;
}

struct event_reader *event_reader_new(const struct event_reader_options *options)
{
        struct event_reader *r = new0(struct event_reader);
        r->options = *options;
        r->options.max_line = options->max_line ? options->max_line : (size_t)256 << 20;
        return r;
}

void event_reader_free(struct event_reader *r)
{
        if (!r)
                return;
        for (size_t i = 0; i < r->n_maps; i++)
                strmap_deinit(&r->maps[i]);
        arena_deinit(&r->arena);
        arena_deinit(&r->names);
        object_table_deinit(&r->executors);
        vec_deinit(&r->unknown);
        buf_deinit(&r->line);
        free(r->data);
        free(r);
}
