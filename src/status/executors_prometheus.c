/* See executors_prometheus.h. */
#include "status/executors_prometheus.h"

#include "base/string_prefix.h"
#include "status/status.h"
#include "text/number_format.h"

#include <inttypes.h>
#include <stdio.h>

static void executor_label_put(struct buf *out, const char *name, const char *value)
{
        buf_printf(out, "%s=\"", name);
        for (const char *p = value ? value : ""; *p; p++) {
                if (*p == '"' || *p == '\\')
                        buf_putc(out, '\\');
                if (*p == '\n')
                        buf_puts(out, "\\n");
                else
                        buf_putc(out, *p);
        }
        buf_putc(out, '"');
}

static void executor_line_put(struct buf *out, const char *name, const char *suffix, const struct buf *labels,
                              int64_t value)
{
        buf_printf(out, "metrics_executor_%s%s", name, suffix);
        buf_append(out, labels->data, labels->len);
        buf_printf(out, " %" PRId64 "\n", value);
}

static void executor_seconds_put(struct buf *out, const char *name, const char *suffix, const struct buf *labels,
                                 int64_t ms)
{
        char text[NUMBER_F64_SIZE];
        buf_printf(out, "metrics_executor_%s%s", name, suffix);
        buf_append(out, labels->data, labels->len);
        buf_putc(out, ' ');
        buf_append(out, text, number_format_f64(text, (double)ms * 0.001)); /* as Spark, not / 1000 */
        buf_putc(out, '\n');
}

/* Counts and times of collections are counters, all others are sizes. */
static void executor_peaks_put(struct buf *out, const struct executor_peaks *peaks, const struct buf *labels)
{
        for (int i = 0; i < EXECUTOR_PEAKS; i++) {
                const char *name = executor_peak_names[i];
                if (text_ends_with(name, "GCCount"))
                        executor_line_put(out, name, "_total", labels, peaks->values[i]);
                else if (strcmp(name, "TotalGCTime") == 0)
                        continue; /* Spark does not write it here */
                else if (text_ends_with(name, "GCTime"))
                        executor_seconds_put(out, name, "_seconds_total", labels, peaks->values[i]);
                else
                        executor_line_put(out, name, "_bytes", labels, peaks->values[i]);
        }
}

static void executor_lines_put(const struct status_executor *x, struct buf *out, const struct buf *labels)
{
        const struct {
                const char *name, *suffix;
                int64_t value;
                bool is_ms;
        } rows[] = {
                {"rddBlocks", "", x->rdd_blocks, false},
                {"memoryUsed", "_bytes", x->memory_used, false},
                {"diskUsed", "_bytes", x->disk_used, false},
                {"totalCores", "", x->cores, false},
                {"maxTasks", "", x->max_tasks, false},
                {"activeTasks", "", x->active_tasks, false},
                {"failedTasks", "_total", x->failed_tasks, false},
                {"completedTasks", "_total", x->completed_tasks, false},
                {"totalTasks", "_total", x->total_tasks, false},
                {"totalDuration", "_seconds_total", x->duration_ms, true},
                {"totalGCTime", "_seconds_total", x->gc_ms, true},
                {"totalInputBytes", "_bytes_total", x->input_bytes, false},
                {"totalShuffleRead", "_bytes_total", x->shuffle_read_bytes, false},
                {"totalShuffleWrite", "_bytes_total", x->shuffle_write_bytes, false},
                {"maxMemory", "_bytes", x->max_memory, false},
                {"usedOnHeapStorageMemory", "_bytes", x->used_on_heap, false},
                {"usedOffHeapStorageMemory", "_bytes", x->used_off_heap, false},
                {"totalOnHeapStorageMemory", "_bytes", x->max_on_heap, false},
                {"totalOffHeapStorageMemory", "_bytes", x->max_off_heap, false},
        };
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
                if (rows[i].is_ms)
                        executor_seconds_put(out, rows[i].name, rows[i].suffix, labels, rows[i].value);
                else
                        executor_line_put(out, rows[i].name, rows[i].suffix, labels, rows[i].value);
        if (x->has_peaks)
                executor_peaks_put(out, &x->peaks, labels);
}

void executors_prometheus_put(const struct status *s, const char *version, const char *revision, struct buf *out)
{
        buf_puts(out, "spark_info{");
        executor_label_put(out, "version", version);
        buf_puts(out, ", ");
        executor_label_put(out, "revision", revision);
        buf_puts(out, "} 1.0\n");
        for (size_t i = 0; i < s->executors.len; i++) {
                const struct status_executor *x = s->executors.data[i];
                _cleanup_(buf_deinit) struct buf labels = BUF_INIT;
                if (!x->is_active)
                        continue;
                buf_putc(&labels, '{');
                executor_label_put(&labels, "application_id", s->application.id);
                buf_puts(&labels, ", ");
                executor_label_put(&labels, "application_name", s->application.name);
                buf_puts(&labels, ", ");
                executor_label_put(&labels, "executor_id", x->id);
                buf_putc(&labels, '}');
                executor_lines_put(x, out, &labels);
        }
}
