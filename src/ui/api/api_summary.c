/*
 * Distributions: the quantiles of tasks' metrics, and of executors' sums, in a stage attempt; see api.h.
 *
 * A quantile q of n sorted values is the value at index min(floor(q * n), n - 1).
 */
#include "ui/api/api_internal.h"

/* ----------------------------------------------------------------------------------------------------- tasks */

struct api_distribution {
        const char *name;
        enum task_column column;
};

static void api_put_quantile_names(struct json_out *j, const struct api_quantiles *q)
{
        json_list(j, "quantiles");
        for (size_t i = 0; i < q->n; i++)
                json_double(j, NULL, q->values[i]);
        json_list_end(j);
}

static void api_put_columns(struct json_out *j, const struct task_columns *t, const struct api_quantiles *q,
                            const struct api_distribution *list, size_t n)
{
        int64_t values[API_MAX_QUANTILES];
        for (size_t i = 0; i < n; i++) {
                task_columns_quantiles(t, list[i].column, q->values, values, q->n);
                json_list(j, list[i].name);
                for (size_t k = 0; k < q->n; k++)
                        json_double(j, NULL, (double)values[k]);
                json_list_end(j);
        }
}

#define API_PUT_COLUMNS(...)                                                                                           \
        do {                                                                                                           \
                static const struct api_distribution list[] = {__VA_ARGS__};                                           \
                api_put_columns(j, t, q, list, ARRAY_SIZE(list));                                                      \
        } while (0)

static void api_put_shuffle_read_columns(struct json_out *j, const struct task_columns *t,
                                         const struct api_quantiles *q)
{
        json_begin_in(j, "shuffleReadMetrics");
        API_PUT_COLUMNS({"readBytes", TASK_SHUFFLE_READ_BYTES}, {"readRecords", TASK_METRIC(shuffle_read.records)},
                        {"remoteBlocksFetched", TASK_METRIC(shuffle_read.remote_blocks)},
                        {"localBlocksFetched", TASK_METRIC(shuffle_read.local_blocks)},
                        {"fetchWaitTime", TASK_METRIC(shuffle_read.fetch_wait_ms)},
                        {"remoteBytesRead", TASK_METRIC(shuffle_read.remote_bytes)},
                        {"remoteBytesReadToDisk", TASK_METRIC(shuffle_read.remote_bytes_to_disk)},
                        {"totalBlocksFetched", TASK_BLOCKS_FETCHED},
                        {"remoteReqsDuration", TASK_METRIC(shuffle_read.remote_requests_ms)});
        json_begin_in(j, "shufflePushReadMetricsDist");
        API_PUT_COLUMNS({"corruptMergedBlockChunks", TASK_PUSH_METRIC(corrupt_chunks)},
                        {"mergedFetchFallbackCount", TASK_PUSH_METRIC(fallbacks)},
                        {"remoteMergedBlocksFetched", TASK_PUSH_METRIC(remote_blocks)},
                        {"localMergedBlocksFetched", TASK_PUSH_METRIC(local_blocks)},
                        {"remoteMergedChunksFetched", TASK_PUSH_METRIC(remote_chunks)},
                        {"localMergedChunksFetched", TASK_PUSH_METRIC(local_chunks)},
                        {"remoteMergedBytesRead", TASK_PUSH_METRIC(remote_bytes)},
                        {"localMergedBytesRead", TASK_PUSH_METRIC(local_bytes)},
                        {"remoteMergedReqsDuration", TASK_PUSH_METRIC(remote_requests_ms)});
        json_end(j);
        json_end(j);
}

bool api_put_task_distributions(struct api_call *c, const char *name, const struct status_stage *stage,
                                const struct api_quantiles *q)
{
        struct json_out *j = &c->json;
        const struct task_columns *t = &stage->columns;
        if (task_columns_quantiles(t, TASK_STATUS, NULL, NULL, 0) == 0)
                return false;
        json_begin_in(j, name);
        api_put_quantile_names(j, q);
        API_PUT_COLUMNS({"duration", TASK_DURATION}, {"executorDeserializeTime", TASK_METRIC(executor_deserialize_ms)},
                        {"executorDeserializeCpuTime", TASK_METRIC(executor_deserialize_cpu_ns)},
                        {"executorRunTime", TASK_METRIC(executor_run_ms)},
                        {"executorCpuTime", TASK_METRIC(executor_cpu_ns)}, {"resultSize", TASK_METRIC(result_size)},
                        {"jvmGcTime", TASK_METRIC(jvm_gc_ms)},
                        {"resultSerializationTime", TASK_METRIC(result_serialization_ms)},
                        {"gettingResultTime", TASK_GETTING_RESULT_TIME}, {"schedulerDelay", TASK_SCHEDULER_DELAY},
                        {"peakExecutionMemory", TASK_METRIC(peak_execution_memory)},
                        {"memoryBytesSpilled", TASK_METRIC(memory_bytes_spilled)},
                        {"diskBytesSpilled", TASK_METRIC(disk_bytes_spilled)});
        json_begin_in(j, "inputMetrics");
        API_PUT_COLUMNS({"bytesRead", TASK_METRIC(input_bytes)}, {"recordsRead", TASK_METRIC(input_records)});
        json_end(j);
        json_begin_in(j, "outputMetrics");
        API_PUT_COLUMNS({"bytesWritten", TASK_METRIC(output_bytes)}, {"recordsWritten", TASK_METRIC(output_records)});
        json_end(j);
        api_put_shuffle_read_columns(j, t, q);
        json_begin_in(j, "shuffleWriteMetrics");
        API_PUT_COLUMNS({"writeBytes", TASK_METRIC(shuffle_write.bytes)},
                        {"writeRecords", TASK_METRIC(shuffle_write.records)},
                        {"writeTime", TASK_METRIC(shuffle_write.write_ns)});
        json_end(j);
        json_end(j);
        return true;
}

/* ------------------------------------------------------------------------------------------------- executors */

static int api_value_compare(const void *a, const void *b)
{
        const int64_t *x = a, *y = b;
        return (*x > *y) - (*x < *y);
}

/* Sorts the values, and writes their quantiles. */
static void api_put_value_quantiles(struct json_out *j, const char *name, int64_t *values, size_t n,
                                    const struct api_quantiles *q)
{
        qsort(values, n, sizeof(*values), api_value_compare);
        json_list(j, name);
        for (size_t i = 0; n > 0 && i < q->n; i++) {
                double at = MAX(q->values[i], 0.0) * (double)n;
                json_double(j, NULL, (double)values[at < (double)n ? (size_t)at : n - 1]);
        }
        json_list_end(j);
}

bool api_put_executor_distributions(struct api_call *c, const char *name, const struct status_stage *stage,
                                    const struct api_quantiles *q)
{
#define API_EXECUTOR_FIELD(member) offsetof(struct status_executor_stage, member)
        static const struct {
                const char *name;
                size_t at;
        } fields[] = {
                {"taskTime", API_EXECUTOR_FIELD(task_ms)},
                {"failedTasks", API_EXECUTOR_FIELD(failed_tasks)},
                {"succeededTasks", API_EXECUTOR_FIELD(succeeded_tasks)},
                {"killedTasks", API_EXECUTOR_FIELD(killed_tasks)},
                {"inputBytes", API_EXECUTOR_FIELD(input_bytes)},
                {"inputRecords", API_EXECUTOR_FIELD(input_records)},
                {"outputBytes", API_EXECUTOR_FIELD(output_bytes)},
                {"outputRecords", API_EXECUTOR_FIELD(output_records)},
                {"shuffleRead", API_EXECUTOR_FIELD(shuffle_read_bytes)},
                {"shuffleReadRecords", API_EXECUTOR_FIELD(shuffle_read_records)},
                {"shuffleWrite", API_EXECUTOR_FIELD(shuffle_write_bytes)},
                {"shuffleWriteRecords", API_EXECUTOR_FIELD(shuffle_write_records)},
                {"memoryBytesSpilled", API_EXECUTOR_FIELD(memory_bytes_spilled)},
                {"diskBytesSpilled", API_EXECUTOR_FIELD(disk_bytes_spilled)},
        };
        struct json_out *j = &c->json;
        const size_t n = stage->executors.len;
        size_t with_peaks = 0;
        if (n == 0)
                return false;
        int64_t *values = new_array(int64_t, n);
        json_begin_in(j, name);
        api_put_quantile_names(j, q);
        for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
                for (size_t k = 0; k < n; k++)
                        values[k] = *(const int64_t *)((const char *)&stage->executors.data[k] + fields[i].at);
                api_put_value_quantiles(j, fields[i].name, values, n, q);
        }
        json_begin_in(j, "peakMemoryMetrics");
        for (size_t i = 0; i < EXECUTOR_PEAKS; i++) {
                with_peaks = 0;
                for (size_t k = 0; k < n; k++)
                        if (stage->executors.data[k].peaks)
                                values[with_peaks++] = stage->executors.data[k].peaks->values[i];
                api_put_value_quantiles(j, executor_peak_names[i], values, with_peaks, q);
        }
        json_end(j);
        json_end(j);
        free(values);
        return true;
}
