/* See metrics_lines.h. */
#include "metrics/metrics_lines.h"

#include "text/number_format.h"

#include <ctype.h>
#include <stdio.h>

struct metric_field {
        const char *name;
        bool whole; /* value is an integer */
        double value;
};

enum { METRIC_FIELDS = 15 };

/* The fields of a histogram, meter or timer. Returns their number. */
static int metric_fields(const struct metric_sample *s, struct metric_field *out)
{
        const struct metric_distribution *d = &s->distribution;
        bool timer = s->kind == METRIC_TIMER;
        double unit = timer ? 1e6 : 1;
        int n = 0;
        out[n++] = (struct metric_field){"count", true, (double)s->value};
        if (s->kind != METRIC_METER) {
                out[n++] = (struct metric_field){"max", !timer, (double)d->max / unit};
                out[n++] = (struct metric_field){"mean", false, d->mean / unit};
                out[n++] = (struct metric_field){"min", !timer, (double)d->min / unit};
                out[n++] = (struct metric_field){"stddev", false, d->stddev / unit};
                for (int i = 0; i < METRIC_PERCENTILES; i++)
                        out[n++] = (struct metric_field){metric_percentile_name(i), false, d->percentile[i] / unit};
        }
        if (s->kind != METRIC_HISTOGRAM) {
                out[n++] = (struct metric_field){"mean_rate", false, s->rates.mean};
                out[n++] = (struct metric_field){"m1_rate", false, s->rates.m1};
                out[n++] = (struct metric_field){"m5_rate", false, s->rates.m5};
                out[n++] = (struct metric_field){"m15_rate", false, s->rates.m15};
        }
        return n;
}

static void metric_put_value(struct buf *out, const struct metric_field *f)
{
        buf_printf(out, f->whole ? "%.0f" : "%2.2f", f->value);
}

/* A run of blanks becomes one '-'. */
static void metric_put_name(struct buf *out, const char *prefix, const char *name)
{
        const char *parts[] = {prefix, *prefix ? "." : "", name};
        for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
                for (const char *p = parts[i]; *p; p++)
                        if (!isspace((unsigned char)*p))
                                buf_putc(out, *p);
                        else if (p == parts[i] || !isspace((unsigned char)p[-1]))
                                buf_putc(out, '-');
}

/* How a protocol writes the rest of a line, after the name. */
struct metric_line_format {
        void (*put_number)(struct buf *out, const struct metric_sample *sample, int64_t seconds);
        void (*put_field)(struct buf *out, const struct metric_field *field, int number, int64_t seconds);
};

/* Writes a line for each gauge and counter, and one for each field of other metrics. Texts have none. */
static void metrics_put_lines(const struct metrics_snapshot *m, const struct metric_line_format *format,
                              const char *prefix, int64_t seconds, struct buf *out)
{
        struct metric_field fields[METRIC_FIELDS];
        for (size_t i = 0; i < m->samples.len; i++) {
                const struct metric_sample *s = &m->samples.data[i];
                if (s->kind == METRIC_TEXT)
                        continue;
                if (s->kind <= METRIC_COUNTER) {
                        metric_put_name(out, prefix, s->name);
                        format->put_number(out, s, seconds);
                        continue;
                }
                int n = metric_fields(s, fields);
                for (int k = 0; k < n; k++) {
                        metric_put_name(out, prefix, s->name);
                        format->put_field(out, &fields[k], k, seconds);
                }
        }
}

static void graphite_put_number(struct buf *out, const struct metric_sample *s, int64_t seconds)
{
        buf_printf(out, "%s %lld %lld\n", s->kind == METRIC_COUNTER ? ".count" : "", (long long)s->value,
                   (long long)seconds);
}

static void graphite_put_field(struct buf *out, const struct metric_field *field, int number, int64_t seconds)
{
        buf_printf(out, ".%s ", field->name);
        metric_put_value(out, field);
        buf_printf(out, " %lld\n", (long long)seconds);
}

void metrics_put_graphite(const struct metrics_snapshot *m, const char *prefix, int64_t seconds, struct buf *out)
{
        static const struct metric_line_format graphite = {graphite_put_number, graphite_put_field};
        metrics_put_lines(m, &graphite, prefix, seconds, out);
}

static void statsd_put_number(struct buf *out, const struct metric_sample *s, int64_t seconds)
{
        buf_printf(out, ":%lld|%c\n", (long long)s->value, s->kind == METRIC_COUNTER ? 'c' : 'g');
}

static void statsd_put_field(struct buf *out, const struct metric_field *field, int number, int64_t seconds)
{
        buf_printf(out, ".%s:", field->name);
        metric_put_value(out, field);
        buf_puts(out, number ? "|ms\n" : "|g\n");
}

void metrics_put_statsd(const struct metrics_snapshot *m, const char *prefix, struct buf *out)
{
        static const struct metric_line_format statsd = {statsd_put_number, statsd_put_field};
        metrics_put_lines(m, &statsd, prefix, 0, out);
}

void metrics_put_log(const struct metrics_snapshot *m, struct buf *out)
{
        static const char *const types[METRIC_KINDS] = {"GAUGE", "GAUGE", "COUNTER", "HISTOGRAM", "METER", "TIMER"};
        struct metric_field fields[METRIC_FIELDS];
        for (size_t i = 0; i < m->samples.len; i++) {
                const struct metric_sample *s = &m->samples.data[i];
                buf_printf(out, "type=%s, name=%s", types[s->kind], s->name);
                if (s->kind == METRIC_TEXT)
                        buf_printf(out, ", value=%s", s->text);
                else if (s->kind <= METRIC_COUNTER)
                        buf_printf(out, ", %s=%lld", s->kind == METRIC_COUNTER ? "count" : "value",
                                   (long long)s->value);
                int n = s->kind <= METRIC_COUNTER ? 0 : metric_fields(s, fields);
                for (int k = 0; k < n; k++) {
                        buf_printf(out, ", %s=", fields[k].name);
                        metric_put_value(out, &fields[k]);
                }
                if (s->kind == METRIC_METER || s->kind == METRIC_TIMER)
                        buf_puts(out, ", rate_unit=events/second");
                buf_puts(out, s->kind == METRIC_TIMER ? ", duration_unit=milliseconds\n" : "\n");
        }
}

/* ------------------------------------------------------------------------------------------------------- console */

static void console_put_row(struct buf *out, const char *name, const char *sign, const struct metric_field *f,
                            const char *unit)
{
        buf_printf(out, "%*s %s ", 19 - (int)strlen(sign), name, sign);
        metric_put_value(out, f);
        buf_printf(out, "%s%s\n", *unit ? " " : "", unit);
}

static void console_put_fields(struct buf *out, const struct metric_sample *s)
{
        /* In the order of the report. */
        static const struct {
                const char *field, *name, *sign;
        } rows[] = {
                {"count", "count", "="},
                {"mean_rate", "mean rate", "="},
                {"m1_rate", "1-minute rate", "="},
                {"m5_rate", "5-minute rate", "="},
                {"m15_rate", "15-minute rate", "="},
                {"min", "min", "="},
                {"max", "max", "="},
                {"mean", "mean", "="},
                {"stddev", "stddev", "="},
                {"p50", "median", "="},
                {"p75", "75%", "<="},
                {"p95", "95%", "<="},
                {"p98", "98%", "<="},
                {"p99", "99%", "<="},
                {"p999", "99.9%", "<="},
        };
        struct metric_field fields[METRIC_FIELDS];
        int n = metric_fields(s, fields);
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
                for (int k = 0; k < n; k++) {
                        if (strcmp(fields[k].name, rows[i].field) != 0)
                                continue;
                        const char *unit = "";
                        if (strstr(rows[i].field, "rate"))
                                unit = s->kind == METRIC_TIMER ? "calls/second" : "events/second";
                        else if (s->kind == METRIC_TIMER && i > 0)
                                unit = "milliseconds";
                        console_put_row(out, rows[i].name, rows[i].sign, &fields[k], unit);
                }
}

static void console_put_banner(struct buf *out, const char *title, char fill)
{
        size_t start = out->len;
        buf_puts(out, title);
        buf_putc(out, ' ');
        while (out->len - start < 80)
                buf_putc(out, fill);
        buf_putc(out, '\n');
}

void metrics_put_console(const struct metrics_snapshot *m, const char *when, struct buf *out)
{
        static const char *const titles[METRIC_KINDS] = {"-- Gauges",     "-- Gauges", "-- Counters",
                                                         "-- Histograms", "-- Meters", "-- Timers"};
        const char *title = NULL;
        console_put_banner(out, when, '=');
        for (size_t i = 0; i < m->samples.len; i++) {
                const struct metric_sample *s = &m->samples.data[i];
                if (!title || strcmp(title, titles[s->kind]) != 0) {
                        title = titles[s->kind];
                        buf_putc(out, '\n');
                        console_put_banner(out, title, '-');
                }
                buf_printf(out, "%s\n", s->name);
                if (s->kind == METRIC_TEXT)
                        buf_printf(out, "%18s = %s\n", "value", s->text);
                else if (s->kind <= METRIC_COUNTER)
                        buf_printf(out, "%18s = %lld\n", s->kind == METRIC_COUNTER ? "count" : "value",
                                   (long long)s->value);
                else
                        console_put_fields(out, s);
        }
        buf_puts(out, "\n\n");
}

/* ----------------------------------------------------------------------------------------------------------- CSV */

void metrics_put_csv_header(enum metric_kind kind, struct buf *out)
{
        struct metric_field fields[METRIC_FIELDS];
        if (kind <= METRIC_COUNTER) {
                buf_puts(out, kind == METRIC_COUNTER ? "t,count\n" : "t,value\n");
                return;
        }
        int n = metric_fields(&(struct metric_sample){.kind = kind}, fields);
        buf_putc(out, 't');
        for (int k = 0; k < n; k++)
                buf_printf(out, ",%s", fields[k].name);
        buf_printf(out, "%s%s\n", kind == METRIC_HISTOGRAM ? "" : ",rate_unit",
                   kind == METRIC_TIMER ? ",duration_unit" : "");
}

void metrics_put_csv(const struct metric_sample *s, int64_t seconds, struct buf *out)
{
        struct metric_field fields[METRIC_FIELDS];
        buf_printf(out, "%lld", (long long)seconds);
        if (s->kind == METRIC_TEXT)
                buf_printf(out, ",%s", s->text);
        else if (s->kind <= METRIC_COUNTER)
                buf_printf(out, ",%lld", (long long)s->value);
        int n = s->kind <= METRIC_COUNTER ? 0 : metric_fields(s, fields);
        for (int k = 0; k < n; k++)
                buf_printf(out, fields[k].whole ? ",%.0f" : ",%f", fields[k].value);
        if (s->kind == METRIC_METER || s->kind == METRIC_TIMER)
                buf_puts(out, s->kind == METRIC_METER ? ",events/second" : ",calls/second,milliseconds");
        buf_putc(out, '\n');
}

/* ----------------------------------------------------------------------------------------------------- pushgateway */

static void exposition_put_name(struct buf *out, const char *name)
{
        if (isdigit((unsigned char)*name))
                buf_putc(out, '_');
        for (const char *p = name; *p; p++)
                buf_putc(out, isalnum((unsigned char)*p) || *p == ':' ? *p : '_');
}

static void exposition_put_line(struct buf *out, const struct metric_sample *s, const char *suffix, const char *labels,
                                const char *quantile, double value, int64_t ms)
{
        char text[NUMBER_F64_SIZE];
        exposition_put_name(out, s->name);
        buf_puts(out, suffix);
        if (*labels || *quantile)
                buf_printf(out, "{%s%s%s}", labels, *labels && *quantile ? "," : "", quantile);
        buf_putc(out, ' ');
        buf_append(out, text, number_format_f64(text, value));
        if (ms >= 0)
                buf_printf(out, " %lld", (long long)ms);
        buf_putc(out, '\n');
}

void metrics_put_exposition(const struct metrics_snapshot *m, const char *labels, int64_t ms, struct buf *out)
{
        static const char *const types[METRIC_KINDS] = {"gauge", "", "gauge", "summary", "counter", "summary"};
        static const char *const quantiles[METRIC_PERCENTILES] = {"0.5", "0.75", "0.95", "0.98", "0.99", "0.999"};
        for (size_t i = 0; i < m->samples.len; i++) {
                const struct metric_sample *s = &m->samples.data[i];
                const char *suffix = s->kind == METRIC_METER ? "_total" : "";
                if (s->kind == METRIC_TEXT)
                        continue;
                buf_puts(out, "# HELP ");
                exposition_put_name(out, s->name);
                buf_printf(out, "%s A %s of Firesteel.\n# TYPE ", suffix, types[s->kind]);
                exposition_put_name(out, s->name);
                buf_printf(out, "%s %s\n", suffix, types[s->kind]);
                if (s->kind != METRIC_HISTOGRAM && s->kind != METRIC_TIMER) {
                        exposition_put_line(out, s, suffix, labels, "", (double)s->value, ms);
                        continue;
                }
                for (int k = 0; k < METRIC_PERCENTILES; k++) {
                        char quantile[32];
                        snprintf(quantile, sizeof(quantile), "quantile=\"%s\"", quantiles[k]);
                        exposition_put_line(out, s, "", labels, quantile,
                                            s->distribution.percentile[k] / (s->kind == METRIC_TIMER ? 1e9 : 1), ms);
                }
                exposition_put_line(out, s, "_count", labels, "", (double)s->value, ms);
        }
}
