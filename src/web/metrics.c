/* See metrics.h. */
#include "web/metrics.h"

#include "text/json_string.h"

#include <ctype.h>

void metrics_deinit(struct metrics *m)
{
        for (size_t i = 0; i < m->gauges.len; i++) {
                free(m->gauges.data[i].name);
                free(m->gauges.data[i].text);
        }
        vec_deinit(&m->gauges);
}

void metrics_gauge(struct metrics *m, const char *name, int64_t value)
{
        vec_push(&m->gauges, (struct metric){.name = mem_strdup(name), .value = value});
}

void metrics_text(struct metrics *m, const char *name, const char *value)
{
        vec_push(&m->gauges, (struct metric){.name = mem_strdup(name), .text = mem_strdup(value)});
}

static int metrics_by_name(const void *a, const void *b)
{
        return strcmp(((const struct metric *)a)->name, ((const struct metric *)b)->name);
}

static void metrics_sort(struct metrics *m)
{
        if (m->gauges.len > 1)
                qsort(m->gauges.data, m->gauges.len, sizeof(*m->gauges.data), metrics_by_name);
}

void metrics_put_json(struct metrics *m, struct buf *out)
{
        metrics_sort(m);
        buf_puts(out, "{\"version\":\"4.0.0\",\"gauges\":{");
        for (size_t i = 0; i < m->gauges.len; i++) {
                const struct metric *g = &m->gauges.data[i];
                buf_puts(out, i ? "," : "");
                json_put_string(out, g->name);
                buf_puts(out, ":{\"value\":");
                if (g->text)
                        json_put_string(out, g->text);
                else
                        buf_printf(out, "%lld", (long long)g->value);
                buf_putc(out, '}');
        }
        buf_puts(out, "},\"counters\":{},\"histograms\":{},\"meters\":{},\"timers\":{}}");
}

void metrics_put_prometheus(struct metrics *m, struct buf *out)
{
        static const char *const suffixes[] = {"Number", "Value"};
        metrics_sort(m);
        for (size_t i = 0; i < m->gauges.len; i++) {
                const struct metric *g = &m->gauges.data[i];
                for (size_t k = 0; !g->text && k < ARRAY_SIZE(suffixes); k++) {
                        buf_puts(out, "metrics_");
                        for (const char *p = g->name; *p; p++)
                                buf_putc(out, isalnum((unsigned char)*p) ? *p : '_');
                        buf_printf(out, "_%s{type=\"gauges\"} %lld\n", suffixes[k], (long long)g->value);
                }
        }
}
