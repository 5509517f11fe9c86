/* See metrics_snapshot.h. */
#include "metrics/metrics_snapshot.h"

#include "text/json_string.h"
#include "text/number_format.h"

#include <ctype.h>

void metrics_snapshot_deinit(struct metrics_snapshot *m)
{
        for (size_t i = 0; i < m->samples.len; i++) {
                free(m->samples.data[i].name);
                free(m->samples.data[i].text);
        }
        vec_deinit(&m->samples);
}

void metrics_add(struct metrics_snapshot *m, const char *name, const struct metric_sample *sample)
{
        struct metric_sample copy = *sample;
        copy.text = mem_strdup_if(sample->text);
        copy.name = m->prefix && *m->prefix ? mem_printf("%s.%s", m->prefix, name) : mem_strdup(name);
        vec_push(&m->samples, copy);
}

void metrics_gauge(struct metrics_snapshot *m, const char *name, int64_t value)
{
        metrics_add(m, name, &(struct metric_sample){.kind = METRIC_GAUGE, .value = value});
}

void metrics_text(struct metrics_snapshot *m, const char *name, const char *value)
{
        metrics_add(m, name, &(struct metric_sample){.kind = METRIC_TEXT, .text = (char *)value});
}

void metrics_counter(struct metrics_snapshot *m, const char *name, int64_t count)
{
        metrics_add(m, name, &(struct metric_sample){.kind = METRIC_COUNTER, .value = count});
}

const char *metric_percentile_name(int i)
{
        static const char *const names[METRIC_PERCENTILES] = {"p50", "p75", "p95", "p98", "p99", "p999"};
        return names[i];
}

static int metrics_by_kind_and_name(const void *a, const void *b)
{
        const struct metric_sample *x = a, *y = b;
        int kinds = (int)(x->kind == METRIC_TEXT ? METRIC_GAUGE : x->kind) -
                    (int)(y->kind == METRIC_TEXT ? METRIC_GAUGE : y->kind);
        return kinds ? kinds : strcmp(x->name, y->name);
}

void metrics_sort(struct metrics_snapshot *m)
{
        if (m->samples.len > 1)
                qsort(m->samples.data, m->samples.len, sizeof(*m->samples.data), metrics_by_kind_and_name);
}

/* Java's form of a double. NaN and infinities are text in JSON. */
static void metrics_put_double(struct buf *out, double x)
{
        char text[NUMBER_F64_SIZE];
        buf_append(out, text, number_format_f64(text, x));
}

/* ----------------------------------------------------------------------------------------------------------- JSON */

#define NS_PER_JSON_UNIT 1e6

static void metrics_json_distribution(struct buf *out, const struct metric_sample *s)
{
        const struct metric_distribution *d = &s->distribution;
        double unit = s->kind == METRIC_TIMER ? NS_PER_JSON_UNIT : 1;
        const struct {
                const char *name;
                int64_t value;
        } ends[] = {{"min", d->min}, {"max", d->max}};
        for (int i = 1; i >= 0; i--) {
                buf_printf(out, ",\"%s\":", ends[i].name);
                if (s->kind == METRIC_TIMER)
                        metrics_put_double(out, (double)ends[i].value / unit);
                else
                        buf_printf(out, "%lld", (long long)ends[i].value);
                if (i == 1) {
                        buf_puts(out, ",\"mean\":");
                        metrics_put_double(out, d->mean / unit);
                }
        }
        for (int i = 0; i < METRIC_PERCENTILES; i++) {
                buf_printf(out, ",\"%s\":", metric_percentile_name(i));
                metrics_put_double(out, d->percentile[i] / unit);
        }
        buf_puts(out, ",\"stddev\":");
        metrics_put_double(out, d->stddev / unit);
}

static void metrics_json_rates(struct buf *out, const struct metric_rates *rates)
{
        buf_puts(out, ",\"m15_rate\":");
        metrics_put_double(out, rates->m15);
        buf_puts(out, ",\"m1_rate\":");
        metrics_put_double(out, rates->m1);
        buf_puts(out, ",\"m5_rate\":");
        metrics_put_double(out, rates->m5);
        buf_puts(out, ",\"mean_rate\":");
        metrics_put_double(out, rates->mean);
}

static void metrics_json_sample(struct buf *out, const struct metric_sample *s)
{
        json_put_string(out, s->name);
        if (s->kind == METRIC_GAUGE) {
                buf_printf(out, ":{\"value\":%lld}", (long long)s->value);
                return;
        }
        if (s->kind == METRIC_TEXT) {
                buf_puts(out, ":{\"value\":");
                json_put_string(out, s->text);
                buf_putc(out, '}');
                return;
        }
        buf_printf(out, ":{\"count\":%lld", (long long)s->value);
        if (s->kind == METRIC_HISTOGRAM || s->kind == METRIC_TIMER)
                metrics_json_distribution(out, s);
        if (s->kind == METRIC_METER || s->kind == METRIC_TIMER)
                metrics_json_rates(out, &s->rates);
        if (s->kind == METRIC_METER)
                buf_puts(out, ",\"units\":\"events/second\"");
        if (s->kind == METRIC_TIMER)
                buf_puts(out, ",\"duration_units\":\"milliseconds\",\"rate_units\":\"calls/second\"");
        buf_putc(out, '}');
}

void metrics_put_json(struct metrics_snapshot *m, struct buf *out)
{
        static const struct {
                const char *name;
                enum metric_kind kind;
        } kinds[] = {{"gauges", METRIC_GAUGE},
                     {"counters", METRIC_COUNTER},
                     {"histograms", METRIC_HISTOGRAM},
                     {"meters", METRIC_METER},
                     {"timers", METRIC_TIMER}};
        metrics_sort(m);
        buf_puts(out, "{\"version\":\"4.0.0\"");
        size_t at = 0;
        for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
                buf_printf(out, ",\"%s\":{", kinds[k].name);
                for (size_t first = at; at < m->samples.len; at++) {
                        const struct metric_sample *s = &m->samples.data[at];
                        if ((s->kind == METRIC_TEXT ? METRIC_GAUGE : s->kind) != kinds[k].kind)
                                break;
                        buf_puts(out, at > first ? "," : "");
                        metrics_json_sample(out, s);
                }
                buf_putc(out, '}');
        }
        buf_putc(out, '}');
}

/* ----------------------------------------------------------------------------------------------------- Prometheus */

static void metrics_prometheus_key(struct buf *out, const struct metric_sample *s, const char *suffix, const char *type)
{
        buf_puts(out, "metrics_");
        for (const char *p = s->name; *p; p++)
                buf_putc(out, isalnum((unsigned char)*p) ? *p : '_');
        buf_printf(out, "_%s{type=\"%s\"} ", suffix, type);
}

static void metrics_prometheus_int(struct buf *out, const struct metric_sample *s, const char *suffix, const char *type,
                                   int64_t value)
{
        metrics_prometheus_key(out, s, suffix, type);
        buf_printf(out, "%lld\n", (long long)value);
}

static void metrics_prometheus_double(struct buf *out, const struct metric_sample *s, const char *suffix,
                                      const char *type, double value)
{
        metrics_prometheus_key(out, s, suffix, type);
        metrics_put_double(out, value);
        buf_putc(out, '\n');
}

static void metrics_prometheus_distribution(struct buf *out, const struct metric_sample *s, const char *type)
{
        static const char *const names[METRIC_PERCENTILES] = {"50thPercentile", "75thPercentile", "95thPercentile",
                                                              "98thPercentile", "99thPercentile", "999thPercentile"};
        const struct metric_distribution *d = &s->distribution;
        metrics_prometheus_int(out, s, "Count", type, s->value);
        metrics_prometheus_int(out, s, "Max", type, d->max);
        metrics_prometheus_double(out, s, "Mean", type, d->mean);
        metrics_prometheus_int(out, s, "Min", type, d->min);
        for (int i = 0; i < METRIC_PERCENTILES; i++)
                metrics_prometheus_double(out, s, names[i], type, d->percentile[i]);
        metrics_prometheus_double(out, s, "StdDev", type, d->stddev);
}

static void metrics_prometheus_sample(struct buf *out, const struct metric_sample *s)
{
        switch (s->kind) {
        case METRIC_GAUGE:
                metrics_prometheus_int(out, s, "Number", "gauges", s->value);
                metrics_prometheus_int(out, s, "Value", "gauges", s->value);
                break;
        case METRIC_COUNTER:
                metrics_prometheus_int(out, s, "Count", "counters", s->value);
                break;
        case METRIC_HISTOGRAM:
                metrics_prometheus_distribution(out, s, "histograms");
                break;
        case METRIC_METER:
                metrics_prometheus_int(out, s, "Count", "counters", s->value);
                metrics_prometheus_double(out, s, "MeanRate", "counters", s->rates.mean);
                metrics_prometheus_double(out, s, "OneMinuteRate", "counters", s->rates.m1);
                metrics_prometheus_double(out, s, "FiveMinuteRate", "counters", s->rates.m5);
                metrics_prometheus_double(out, s, "FifteenMinuteRate", "counters", s->rates.m15);
                break;
        case METRIC_TIMER:
                metrics_prometheus_distribution(out, s, "timers");
                metrics_prometheus_double(out, s, "FifteenMinuteRate", "timers", s->rates.m15);
                metrics_prometheus_double(out, s, "FiveMinuteRate", "timers", s->rates.m5);
                metrics_prometheus_double(out, s, "OneMinuteRate", "timers", s->rates.m1);
                metrics_prometheus_double(out, s, "MeanRate", "timers", s->rates.mean);
                break;
        case METRIC_TEXT:
        case METRIC_KINDS:
                break;
        }
}

void metrics_put_prometheus(struct metrics_snapshot *m, struct buf *out)
{
        metrics_sort(m);
        for (size_t i = 0; i < m->samples.len; i++)
                metrics_prometheus_sample(out, &m->samples.data[i]);
}
