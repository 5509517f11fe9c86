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
        for (size_t i = 0; i + 1 < NODE_POINTS; i += 2) {
                struct node_point both = {.ms = s->points[i + 1].ms};
                node_point_add(&both, &s->points[i], 0.5);
                node_point_add(&both, &s->points[i + 1], 0.5);
                s->points[i / 2] = both;
        }
}

enum { MAX_STEP = 1 << 24 };

bool node_pace_is_valid(const struct node_pace *pace)
{
        return pace->n <= NODE_POINTS && pace->step >= 0 && pace->step <= MAX_STEP && pace->n_pending >= 0 &&
               pace->n_pending <= pace->step;
}

bool node_pace_add(struct node_pace *pace, int heartbeats)
{
        pace->step = MAX(pace->step, 1);
        pace->n_pending += MIN(MAX(heartbeats, 1), (int)MAX_STEP);
        if (pace->n_pending < pace->step)
                return false;
        pace->n_pending = 0;
        if (pace->n == NODE_POINTS) {
                pace->n /= 2;
                pace->step = MIN(pace->step * 2, (int)MAX_STEP);
        }
        pace->n++;
        return true;
}

static void node_series_finish_point(struct node_series *s)
{
        struct node_point point = {.ms = s->last.ms};
        node_point_add(&point, &s->pending, 1 / (double)s->pending_ms);
        s->points[s->pace.n - 1] = point;
        s->pending = (struct node_point){0};
        s->pending_ms = 0;
}

void node_series_add(struct node_series *s, const struct node_counters *now, int heartbeats)
{
        const struct node_counters before = s->last;
        bool has_before = s->has_last;
        if (has_before && now->ms <= before.ms)
                return;
        s->last = *now;
        s->has_last = true;
        if (!has_before)
                return;
        /* Not more than counters of a damaged log make believable. */
        enum { MAX_PROCESSORS = 1 << 20 };
        double ms = (double)(now->ms - before.ms), all = node_growth(before.cpu_all_ms, now->cpu_all_ms);
        struct node_point p = {0};
        p.node_cpu = all > 0 ? (float)MIN(node_growth(before.cpu_busy_ms, now->cpu_busy_ms) / all, 1.0) : 0;
        p.process_cpu = (float)MIN(node_growth(before.process_cpu_ms, now->process_cpu_ms) / ms, MAX_PROCESSORS);
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
        bool is_full = s->pace.n == NODE_POINTS;
        if (!node_pace_add(&s->pace, heartbeats))
                return;
        if (is_full)
                node_series_halve(s);
        node_series_finish_point(s);
}

size_t node_series_get(const struct node_series *s, int64_t from_ms, int64_t to_ms,
                       struct node_point out[static NODE_POINTS])
{
        size_t n = 0;
        for (size_t i = 0; i < s->pace.n; i++)
                if (s->points[i].ms >= from_ms && s->points[i].ms <= to_ms)
                        out[n++] = s->points[i];
        return n;
}
