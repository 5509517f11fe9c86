/* Tasks: single ones, lists, the table of the stage page; see api.h. */
#include "ui/api/api_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

static const char *const api_row_states[] = {[TASK_ROW_RUNNING] = "RUNNING",
                                             [TASK_ROW_GETTING_RESULT] = "GET RESULT",
                                             [TASK_ROW_SUCCESS] = "SUCCESS",
                                             [TASK_ROW_FAILED] = "FAILED",
                                             [TASK_ROW_KILLED] = "KILLED"};

const char *api_task_status_name(enum task_row_status status)
{
        return api_row_states[status];
}

bool api_get_task_statuses(struct api_call *c, const char *name, uint32_t *statuses)
{
        static const char *const names[] = {"RUNNING", "KILLED", "FAILED", "SUCCESS", "UNKNOWN"};
        static const uint32_t rows[] = {1u << TASK_ROW_RUNNING, 1u << TASK_ROW_KILLED, 1u << TASK_ROW_FAILED,
                                        1u << TASK_ROW_SUCCESS, 1u << 31};
        uint32_t bits;
        if (!api_get_set(c, name, names, ARRAY_SIZE(names), &bits))
                return false;
        *statuses = 0;
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                *statuses |= bits >> i & 1 ? rows[i] : 0;
        return true;
}

/* ----------------------------------------------------------------------------------------------------- a task */

static void api_put_push_metrics(struct json_out *j, const struct push_read_metrics *p)
{
        json_begin_in(j, "shufflePushReadMetrics");
        json_int(j, "corruptMergedBlockChunks", p->corrupt_chunks);
        json_int(j, "mergedFetchFallbackCount", p->fallbacks);
        json_int(j, "remoteMergedBlocksFetched", p->remote_blocks);
        json_int(j, "localMergedBlocksFetched", p->local_blocks);
        json_int(j, "remoteMergedChunksFetched", p->remote_chunks);
        json_int(j, "localMergedChunksFetched", p->local_chunks);
        json_int(j, "remoteMergedBytesRead", p->remote_bytes);
        json_int(j, "localMergedBytesRead", p->local_bytes);
        json_int(j, "remoteMergedReqsDuration", p->remote_requests_ms);
        json_end(j);
}

static void api_put_task_metrics(struct json_out *j, const struct status_task *t)
{
        const struct task_metrics *m = &t->metrics;
        json_begin_in(j, "taskMetrics");
        api_put_run_metrics(j, m);
        json_begin_in(j, "inputMetrics");
        json_int(j, "bytesRead", m->input_bytes);
        json_int(j, "recordsRead", m->input_records);
        json_end(j);
        json_begin_in(j, "outputMetrics");
        json_int(j, "bytesWritten", m->output_bytes);
        json_int(j, "recordsWritten", m->output_records);
        json_end(j);
        json_begin_in(j, "shuffleReadMetrics");
        json_int(j, "remoteBlocksFetched", m->shuffle_read.remote_blocks);
        json_int(j, "localBlocksFetched", m->shuffle_read.local_blocks);
        json_int(j, "fetchWaitTime", m->shuffle_read.fetch_wait_ms);
        json_int(j, "remoteBytesRead", m->shuffle_read.remote_bytes);
        json_int(j, "remoteBytesReadToDisk", m->shuffle_read.remote_bytes_to_disk);
        json_int(j, "localBytesRead", m->shuffle_read.local_bytes);
        json_int(j, "recordsRead", m->shuffle_read.records);
        json_int(j, "remoteReqsDuration", m->shuffle_read.remote_requests_ms);
        api_put_push_metrics(j, &t->push_metrics);
        json_end(j);
        json_begin_in(j, "shuffleWriteMetrics");
        json_int(j, "bytesWritten", m->shuffle_write.bytes);
        json_int(j, "writeTime", m->shuffle_write.write_ns);
        json_int(j, "recordsWritten", m->shuffle_write.records);
        json_end(j);
        json_end(j);
}

static void api_get_row(const struct api_call *c, const struct status_stage *stage, size_t row, struct status_task *t)
{
        status_get_task(c->s, stage, row, t);
        if (t->duration_ms < 0)
                t->duration_ms = MAX(c->now_ms - t->launch_ms, (int64_t)0);
}

static void api_put_task_head(struct json_out *j, const struct status_task *t)
{
        json_int(j, "taskId", t->id);
        json_int(j, "index", t->index);
        json_int(j, "attempt", t->attempt);
        json_int(j, "partitionId", t->partition);
        api_put_date(j, "launchTime", t->launch_ms);
        if (t->getting_result_ms > 0)
                api_put_date(j, "resultFetchStart", t->getting_result_ms);
        if (t->duration_ms > 0) /* as Spark: a task of 0 ms has none */
                json_int(j, "duration", t->duration_ms);
        json_text(j, "executorId", t->executor_id);
        json_text(j, "host", t->host);
        json_text(j, "status", api_row_states[t->status]);
        json_text(j, "taskLocality", locality_name(t->locality));
        json_bool(j, "speculative", t->speculative);
}

void api_put_task(struct api_call *c, const char *name, const struct status_stage *stage, size_t row)
{
        static const struct strmap no_logs = {0};
        struct json_out *j = &c->json;
        struct status_task t;
        api_get_row(c, stage, row, &t);
        json_begin_in(j, name);
        api_put_task_head(j, &t);
        api_put_accumulables(j, t.note ? t.note->accumulables : NULL, t.note ? t.note->n_accumulables : 0);
        if (t.note && t.note->error)
                json_text(j, "errorMessage", t.note->error);
        if (t.has_metrics)
                api_put_task_metrics(j, &t);
        const struct status_executor *x = status_find_executor(c->s, t.executor_id);
        api_put_map(j, "executorLogs", x ? &x->logs : &no_logs);
        json_int(j, "schedulerDelay", t.scheduler_delay_ms);
        json_int(j, "gettingResultTime", t.getting_result_time_ms);
        json_end(j);
}

bool api_put_tasks(struct api_call *c, const struct status_stage *stage, uint32_t statuses, size_t *row)
{
        const struct task_columns *t = &stage->columns;
        for (; *row < t->n_rows; ++*row) {
                if (api_piece_is_full(c))
                        return false;
                if (task_columns_is_removed(t, *row))
                        continue;
                if (statuses && !(statuses >> task_columns_value(t, *row, TASK_STATUS) & 1))
                        continue;
                char name[24];
                snprintf(name, sizeof(name), "%" PRId64, task_columns_value(t, *row, TASK_ID));
                api_put_task(c, name, stage, *row);
        }
        return true;
}
