/* The distributions of the metrics of a stage's tasks; see page.h. */
#include "ui/pages/page.h"

#include "base/mem.h"

#include <inttypes.h>

/* A line of the table. */
static const struct summary_row {
        const char *name;
        enum task_column column;
        char unit;            /* 't' ms, 'n' ns, 'b' bytes */
        int second;           /* column of records; 0: none */
        bool always;          /* also if all values are 0 */
        const char *tool_tip; /* NULL: none */
} summary_rows[] = {
        {"Duration", TASK_METRIC(executor_run_ms), 't', 0, true, "Time in which the executor ran the task."},
        {"CPU Time", TASK_METRIC(executor_cpu_ns), 'n', 0, false, "CPU time of the task."},
        {"GC Time", TASK_METRIC(jvm_gc_ms), 't', 0, false, "Garbage collection while the task ran."},
        {"Scheduler Delay", TASK_SCHEDULER_DELAY, 't', 0, false,
         "Time outside of the executor's work: messages and queues."},
        {"Task Deserialization Time", TASK_METRIC(executor_deserialize_ms), 't', 0, false, "Decoding the task."},
        {"Result Serialization Time", TASK_METRIC(result_serialization_ms), 't', 0, false, "Encoding the result."},
        {"Getting Result Time", TASK_GETTING_RESULT_TIME, 't', 0, false, "The driver fetched a large result."},
        {"Peak Execution Memory", TASK_METRIC(peak_execution_memory), 'b', 0, false, NULL},
        {"Input Size / Records", TASK_METRIC(input_bytes), 'b', TASK_METRIC(input_records), false, NULL},
        {"Output Size / Records", TASK_METRIC(output_bytes), 'b', TASK_METRIC(output_records), false, NULL},
        {"Shuffle Read Blocked Time", TASK_METRIC(shuffle_read.fetch_wait_ms), 't', 0, false,
         "Waiting for shuffle blocks."},
        {"Shuffle Read Size / Records", TASK_SHUFFLE_READ_BYTES, 'b', TASK_METRIC(shuffle_read.records), false, NULL},
        {"Shuffle Remote Reads", TASK_METRIC(shuffle_read.remote_bytes), 'b', 0, false, NULL},
        {"Shuffle Write Size / Records", TASK_METRIC(shuffle_write.bytes), 'b', TASK_METRIC(shuffle_write.records),
         false, NULL},
        {"Shuffle Write Time", TASK_METRIC(shuffle_write.write_ns), 'n', 0, false, NULL},
        {"Spill (Memory)", TASK_METRIC(memory_bytes_spilled), 'b', 0, false, NULL},
        {"Spill (Disk)", TASK_METRIC(disk_bytes_spilled), 'b', 0, false, NULL},
};

/* Whether a column has values: the sum of the stage says so without reading them. */
static bool summary_has_values(const struct status_stage *stage, const struct summary_row *row)
{
        if (row->always || row->column == TASK_SCHEDULER_DELAY)
                return true;
        if (row->column == TASK_GETTING_RESULT_TIME)
                return true;
        if (row->column == TASK_SHUFFLE_READ_BYTES)
                return stage->metrics.shuffle_read.local_bytes || stage->metrics.shuffle_read.remote_bytes;
        return ((const int64_t *)&stage->metrics)[row->column - TASK_METRICS] != 0;
}

static void summary_put_value(struct ui_page *p, const struct summary_row *row, int64_t value, const int64_t *records)
{
        buf_puts(p->b, "<td class=n>");
        if (row->unit == 'b')
                page_put_bytes(p, value);
        else
                html_put(p->b, "%u", row->unit == 'n' ? value / 1000000 : value);
        if (records)
                html_put(p->b, " / %D", *records);
}

void page_put_summary(struct ui_page *p, const struct status_stage *stage)
{
        static const double quantiles[] = {0, 0.25, 0.5, 0.75, 1};
        enum { N = ARRAY_SIZE(quantiles) };
        const struct task_columns *t = &stage->columns;
        int64_t values[N], records[N];
        size_t n = task_columns_quantiles(t, TASK_DURATION, NULL, NULL, 0);
        if (!n) {
                buf_puts(p->b, "<p class=\"nothing\">No task has reported metrics yet.</p>\n");
                return;
        }
        _cleanup_free_ char *heading = mem_printf("Summary Metrics for %zu Completed Tasks", n);
        page_begin_section(p, "summary", heading, true);
        buf_puts(p->b,
                 "<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\">Metric</th>"
                 "<th class=\"number\" scope=\"col\">Min</th><th class=\"number\" scope=\"col\">25th percentile</th>"
                 "<th class=\"number\" scope=\"col\">Median</th><th class=\"number\" scope=\"col\">75th percentile"
                 "</th><th class=\"number\" scope=\"col\">Max</th></tr></thead>\n<tbody>\n");
        for (size_t i = 0; i < ARRAY_SIZE(summary_rows); i++) {
                const struct summary_row *row = &summary_rows[i];
                if (!summary_has_values(stage, row) || !task_columns_quantiles(t, row->column, quantiles, values, N) ||
                    (!row->always && !values[N - 1]))
                        continue;
                if (row->second)
                        task_columns_quantiles(t, (enum task_column)row->second, quantiles, records, N);
                html_put(p->b, row->tool_tip ? "<tr><th scope=\"row\" title=\"%s\">" : "<tr><th scope=\"row\">",
                         row->tool_tip);
                html_put(p->b, "%s</th>", row->name);
                for (int k = 0; k < N; k++)
                        summary_put_value(p, row, values[k], row->second ? &records[k] : NULL);
                buf_puts(p->b, "\n");
        }
        buf_puts(p->b, "</tbody>\n</table></div>\n");
        if (t->n_retained < t->n_rows)
                html_put(p->b,
                         "<p class=\"nothing\">Only %D of %D attempts are retained (spark.ui.retainedTasks).</p>\n",
                         (int64_t)t->n_retained, (int64_t)t->n_rows);
        page_end_section(p);
}
