/* See node_series.h. */
#include "status/node_series.h"

#include "base/mem.h"

/* Counters that went back (another machine, a restart) count as no use. */
static double node_growth(int64_t from, int64_t to)
{
        return to > from ? (double)to - (double)from : 0;
}

static void node_point_add(struct node_point *sum, const struct node_point *p, double weight)
{
        sum->node_cpu += (float)(p->node_cpu * weight);
        sum->process_cpu += (float)(p->process_cpu * weight);
        sum->memory += (float)(p->memory * weight);
        sum->disk_bytes += (float)(p->disk_bytes * weight);
        sum->net_bytes += (float)(p->net_bytes * weight);
}

/* Makes one point of each two. */
static void node_series_halve(struct node_series *s)
{
        for (size_t i = 0; i + 1 < s->n; i += 2) {
                struct node_point both = {.ms = s->points[i + 1].ms};
                node_point_add(&both, &s->points[i], 0.5);
                node_point_add(&both, &s->points[i + 1], 0.5);
                s->points[i / 2] = both;
        }
        s->n /= 2;
        s->step *= 2;
}

static void node_series_finish_point(struct node_series *s)
{
        struct node_point point = {.ms = s->last.ms};
        node_point_add(&point, &s->pending, 1 / (double)s->pending_ms);
        if (s->n == NODE_POINTS)
                node_series_halve(s);
        s->points[s->n++] = point;
        s->pending = (struct node_point){0};
        s->pending_ms = 0;
        s->n_pending = 0;
}

void node_series_add(struct node_series *s, const struct node_counters *now)
{
        const struct node_counters before = s->last;
        bool has_before = s->has_last;
        if (has_before && now->ms <= before.ms)
                return;
        s->step = MAX(s->step, 1);
        s->last = *now;
        s->has_last = true;
        if (!has_before)
                return;
        double ms = (double)(now->ms - before.ms), all = node_growth(before.cpu_all_ms, now->cpu_all_ms);
        struct node_point p = {0};
        p.node_cpu = all > 0 ? (float)MIN(node_growth(before.cpu_busy_ms, now->cpu_busy_ms) / all, 1.0) : 0;
        p.process_cpu = (float)(node_growth(before.process_cpu_ms, now->process_cpu_ms) / ms);
        if (now->memory_total > 0)
                p.memory = (float)(node_growth(now->memory_available, now->memory_total) / (double)now->memory_total);
        p.disk_bytes = (float)((node_growth(before.disk_read, now->disk_read) +
                                node_growth(before.disk_written, now->disk_written)) *
                               1000 / ms);
        p.net_bytes = (float)((node_growth(before.net_received, now->net_received) +
                               node_growth(before.net_sent, now->net_sent)) *
                              1000 / ms);
        node_point_add(&s->pending, &p, ms);
        s->pending_ms += now->ms - before.ms;
        if (++s->n_pending >= s->step)
                node_series_finish_point(s);
}

size_t node_series_get(const struct node_series *s, int64_t from_ms, int64_t to_ms,
                       struct node_point out[static NODE_POINTS])
{
        size_t n = 0;
        for (size_t i = 0; i < s->n; i++)
                if (s->points[i].ms >= from_ms && s->points[i].ms <= to_ms)
                        out[n++] = s->points[i];
        return n;
}
