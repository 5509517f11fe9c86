/* A diagnosis as one line; see diagnosis.h. */
#include "status/diagnosis.h"

#include "base/mem.h"

#include <inttypes.h>

void diagnosis_put_duration(struct buf *out, int64_t ms)
{
        if (ms < 1000)
                buf_printf(out, "%" PRId64 " ms", ms);
        else if (ms < 60000)
                buf_printf(out, "%.1f s", (double)ms / 1e3);
        else if (ms < 3600000)
                buf_printf(out, "%.1f min", (double)ms / 6e4);
        else
                buf_printf(out, "%.1f h", (double)ms / 3.6e6);
}

void diagnosis_put_bytes(struct buf *out, int64_t bytes)
{
        static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
        double value = (double)bytes;
        size_t unit = 0;
        for (; value >= 1024 && unit + 1 < ARRAY_SIZE(units); unit++)
                value /= 1024;
        buf_printf(out, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

void diagnosis_put_error(struct buf *out, const char *error, size_t max)
{
        size_t whole = error ? strcspn(error, "\r\n") : 0, n = MIN(whole, max);
        while (n < whole && n > 0 && ((unsigned char)error[n] & 0xc0) == 0x80)
                n--; /* not within a character */
        if (n)
                buf_append(out, error, n);
        if (n < whole)
                buf_puts(out, "...");
}

const char *diagnosis_limit_name(enum diagnosis_limit limit)
{
        static const char *const names[] = {
                [LIMIT_UNKNOWN] = "",
                [LIMIT_COMPUTING] = "computing",
                [LIMIT_CORES] = "waiting for cores",
                [LIMIT_SKEW] = "skew",
                [LIMIT_STRAGGLERS] = "slow tasks",
                [LIMIT_SLOW_HOST] = "one slow host",
                [LIMIT_ATTEMPTS] = "failed attempts",
                [LIMIT_FETCH] = "fetch wait",
                [LIMIT_WRITE] = "shuffle write",
                [LIMIT_GC] = "garbage collection",
                [LIMIT_OUTSIDE] = "waits outside the CPU",
                [LIMIT_BUSY_HOST] = "waiting for the CPU of a busy host",
                [LIMIT_CPU_OR_LOCKS] = "waiting for the CPU of a busy host, or for locks and input",
                [LIMIT_OVERHEAD] = "overhead of tasks",
                [LIMIT_SPILL] = "spill",
                [LIMIT_PARTITIONS] = "few partitions",
                [LIMIT_FAILED] = "failed",
        };
        return names[limit];
}

const char *diagnosis_part_name(enum diagnosis_part part)
{
        static const char *const names[] = {
                [DIAGNOSIS_COMPUTING] = "computing",
                [DIAGNOSIS_CORES] = "waiting for cores",
                [DIAGNOSIS_UNEVEN] = "idle cores behind the last start",
                [DIAGNOSIS_ATTEMPTS] = "attempts that did not succeed",
                [DIAGNOSIS_FETCH] = "waiting for shuffle blocks",
                [DIAGNOSIS_WRITE] = "writing shuffle blocks",
                [DIAGNOSIS_GC] = "garbage collection",
                [DIAGNOSIS_OUTSIDE] = "waiting outside the CPU",
                [DIAGNOSIS_DESERIALIZE] = "decoding tasks",
                [DIAGNOSIS_RESULTS] = "encoding and fetching results",
                [DIAGNOSIS_SCHEDULER] = "scheduler delay",
        };
        return names[part];
}

/* Appends a text with conversions of printf, and %T a duration, %B a size, each of type int64_t. */
static void diagnosis_put(struct buf *out, const char *format, ...)
{
        va_list args;
        va_start(args, format);
        for (const char *p = format; *p; p++) {
                if (*p != '%') {
                        buf_putc(out, *p);
                        continue;
                }
                switch (*++p) {
                case 'T':
                        diagnosis_put_duration(out, va_arg(args, int64_t));
                        break;
                case 'B':
                        diagnosis_put_bytes(out, va_arg(args, int64_t));
                        break;
                case 'D':
                        buf_printf(out, "%" PRId64, va_arg(args, int64_t));
                        break;
                case 'f': /* of the share: per cent */
                        buf_printf(out, "%.0f", va_arg(args, double) * 100);
                        break;
                case 'x': /* times */
                        buf_printf(out, "%.1f", va_arg(args, double));
                        break;
                case 's':
                        buf_puts(out, va_arg(args, const char *));
                        break;
                default:
                        buf_putc(out, *p);
                        break;
                }
        }
        va_end(args);
}

/* "partition 7 ran 42.0 s, 8.4 times the median of 5.0 s" */
static void diagnosis_put_longest(const struct stage_diagnosis *d, struct buf *out)
{
        diagnosis_put(out, "partition %D ran %T", (int64_t)d->longest[0].partition, d->longest[0].duration_ms);
        if (d->median_ms > 0)
                diagnosis_put(out, ", %x times the median of %T",
                              (double)d->longest[0].duration_ms / (double)d->median_ms, d->median_ms);
        if (d->longest_bytes || d->mean_bytes)
                diagnosis_put(out, ", and read %B (mean %B)", d->longest_bytes, d->mean_bytes);
        else if (d->longest_records || d->mean_records)
                diagnosis_put(out, ", and read %D records (mean %D)", d->longest_records, d->mean_records);
        for (size_t i = 1; i < d->n_longest && d->longest[i].duration_ms > 2 * d->median_ms; i++)
                diagnosis_put(out, i == 1 ? "; then partitions %D (%T)" : ", %D (%T)", (int64_t)d->longest[i].partition,
                              d->longest[i].duration_ms);
}

static void diagnosis_put_part(const struct stage_diagnosis *d, enum diagnosis_part part, struct buf *out)
{
        if (d->parts_ms[part] > 0)
                diagnosis_put(out, ", %s %T", diagnosis_part_name(part), d->parts_ms[part]);
}

/* "tasks had the CPU for 5.1 s of 32.7 s; shuffle read 30.0 MiB". Bytes that are 0 are left out. */
static void diagnosis_put_waits(const struct task_metrics *m, const struct stage_diagnosis *d,
                                enum diagnosis_limit limit, struct buf *out)
{
        const struct {
                const char *name;
                int64_t bytes;
        } moved[] = {{"input", m->input_bytes},
                     {"output", m->output_bytes},
                     {"shuffle read", m->shuffle_read.local_bytes + m->shuffle_read.remote_bytes},
                     {"shuffle write", m->shuffle_write.bytes},
                     {"spill", m->disk_bytes_spilled}};
        const char *separator = "; ";
        diagnosis_put(out, "tasks had the CPU for %T of %T", m->executor_cpu_ns / 1000000, m->executor_run_ms);
        if (d->node_cpu >= 0)
                diagnosis_put(out, ", and their hosts used %f %% of all processors", d->node_cpu);
        for (size_t i = 0; i < ARRAY_SIZE(moved); i++) {
                if (moved[i].bytes <= 0)
                        continue;
                diagnosis_put(out, "%s%s %B", separator, moved[i].name, moved[i].bytes);
                separator = ", ";
        }
        if (limit == LIMIT_BUSY_HOST)
                diagnosis_put(out, "; give executors fewer cores, or find out what else runs there");
        else if (limit == LIMIT_CPU_OR_LOCKS)
                diagnosis_put(out, "; look at the load of the node: fewer cores per executor help if it is busy");
}

/* Returns the error of the attempt that started first among those that failed, or that of the stage, or NULL. */
static const char *diagnosis_first_error(const struct status_stage *stage)
{
        const struct status_task_note *first = NULL;
        for (size_t i = 0; i < stage->notes.len; i++) {
                const struct status_task_note *note = &stage->notes.data[i];
                if (note->error && (!first || note->row < first->row) &&
                    task_columns_value(&stage->columns, note->row, TASK_STATUS) == TASK_ROW_FAILED)
                        first = note;
        }
        return first ? first->error : stage->failure;
}

/* "4 attempts failed, the first: division by zero" */
static void diagnosis_put_failure(const struct status_stage *stage, struct buf *out)
{
        enum { MAX_ERROR = 160 };
        const char *error = diagnosis_first_error(stage);
        if (stage->failed_tasks > 0)
                diagnosis_put(out, "%D attempt%s failed%s", stage->failed_tasks, stage->failed_tasks == 1 ? "" : "s",
                              !error                     ? ""
                              : stage->failed_tasks == 1 ? ": "
                                                         : ", the first: ");
        diagnosis_put_error(out, error ? error : stage->failed_tasks > 0 ? NULL : "the log has no reason", MAX_ERROR);
}

static void diagnosis_put_reason(const struct status_stage *stage, const struct stage_diagnosis *d,
                                 enum diagnosis_limit limit, struct buf *out)
{
        const struct task_metrics *m = &stage->metrics;
        switch (limit) {
        case LIMIT_UNKNOWN:
        case DIAGNOSIS_LIMITS:
                break;
        case LIMIT_COMPUTING:
                diagnosis_put(out, "up to %x cores were busy", d->slots);
                if (d->cores > 0)
                        diagnosis_put(out, " of %D", (int64_t)d->cores);
                if (d->median_ms >= 0)
                        diagnosis_put(out, ", the median task ran %T", d->median_ms);
                break;
        case LIMIT_CORES:
                diagnosis_put(out, "%T passed for want of cores before the last of %D tasks started",
                              d->parts_ms[DIAGNOSIS_CORES], (int64_t)stage->tasks);
                if (d->cores > 0)
                        diagnosis_put(out, " (%D cores in all%s)", (int64_t)d->cores,
                                      d->shared ? ", shared with other stages" : "");
                break;
        case LIMIT_SKEW:
        case LIMIT_STRAGGLERS:
                diagnosis_put_longest(d, out);
                diagnosis_put(out, "; idle cores cost %T", d->parts_ms[DIAGNOSIS_UNEVEN]);
                break;
        case LIMIT_SLOW_HOST:
                diagnosis_put(out, "a task took %T on %s and %T elsewhere on average, with no more data",
                              d->slow_host_ms, d->slow_host, d->other_hosts_ms);
                break;
        case LIMIT_ATTEMPTS:
                diagnosis_put(out, "%D attempts did not succeed and took %T of %T of tasks", d->n_failed, d->failed_ms,
                              d->task_ms);
                break;
        case LIMIT_FETCH:
                diagnosis_put(out, "tasks waited %T of %T for shuffle blocks, %B of %B from other hosts",
                              m->shuffle_read.fetch_wait_ms, d->task_ms, m->shuffle_read.remote_bytes,
                              m->shuffle_read.remote_bytes + m->shuffle_read.local_bytes);
                break;
        case LIMIT_WRITE:
                diagnosis_put(out, "tasks wrote %B of shuffle blocks in %T of %T", m->shuffle_write.bytes,
                              m->shuffle_write.write_ns / 1000000, d->task_ms);
                break;
        case LIMIT_GC:
                diagnosis_put(out, "tasks stood still for %T of %T", m->jvm_gc_ms, d->task_ms);
                break;
        case LIMIT_OUTSIDE:
        case LIMIT_BUSY_HOST:
        case LIMIT_CPU_OR_LOCKS:
                diagnosis_put_waits(m, d, limit, out);
                break;
        case LIMIT_OVERHEAD:
                diagnosis_put(out, "the median task took %T", MAX(d->median_ms, (int64_t)0));
                diagnosis_put_part(d, DIAGNOSIS_SCHEDULER, out);
                diagnosis_put_part(d, DIAGNOSIS_DESERIALIZE, out);
                diagnosis_put_part(d, DIAGNOSIS_RESULTS, out);
                break;
        case LIMIT_SPILL:
                diagnosis_put(out, "%B were spilled to disk", m->disk_bytes_spilled);
                if (m->memory_bytes_spilled > 0)
                        diagnosis_put(out, " (%B in memory)", m->memory_bytes_spilled);
                diagnosis_put(out, ", while %B were read",
                              m->input_bytes + m->shuffle_read.local_bytes + m->shuffle_read.remote_bytes);
                break;
        case LIMIT_FAILED:
                diagnosis_put_failure(stage, out);
                break;
        case LIMIT_PARTITIONS:
                diagnosis_put(out, "%D tasks for %D cores", (int64_t)stage->tasks,
                              MAX(d->cores, (int64_t)(d->slots + 0.5)));
                if (d->parts_ms[DIAGNOSIS_UNEVEN] > 0)
                        diagnosis_put(out, "; idle cores cost %T after the last start", d->parts_ms[DIAGNOSIS_UNEVEN]);
                break;
        }
}

void stage_diagnosis_put(const struct status_stage *stage, const struct stage_diagnosis *d, struct buf *out)
{
        if (d->limit == LIMIT_UNKNOWN)
                return;
        buf_puts(out, diagnosis_limit_name(d->limit));
        if (d->limit != LIMIT_FAILED)
                diagnosis_put(out, " (%f %%)", d->share);
        buf_puts(out, ": ");
        diagnosis_put_reason(stage, d, d->limit, out);
        for (size_t i = 0; i < d->n_further; i++) {
                diagnosis_put(out, "; also %s (%f %%): ", diagnosis_limit_name(d->further[i].limit),
                              d->further[i].share);
                diagnosis_put_reason(stage, d, d->further[i].limit, out);
        }
        if (d->n_seen < d->n_tasks)
                diagnosis_put(out, " (from %D of %D attempts)", d->n_seen, d->n_tasks);
}
