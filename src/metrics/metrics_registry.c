/*
 * See metrics_registry.h.
 *
 * The registry's lock guards the list and the sources, and is held during a snapshot. A metric has a lock of its own,
 * so that updates never wait for a snapshot of other metrics.
 */
#include "metrics/metrics_registry.h"

#include "base/clock.h"
#include "metrics/metrics_reservoir.h"

#include <math.h>
#include <pthread.h>

#define TICK_NS (5 * NS_PER_SECOND)
/* After so many ticks without a reader or an update a rate of 15 minutes is 0 in a double's precision. */
#define MAX_TICKS 10000

struct metric_meter {
        pthread_mutex_t lock;
        int64_t count, uncounted; /* atomic */
        int64_t started, ticked;  /* ticked is atomic */
        double rate[3];           /* m1, m5, m15, events a second */
        bool has_rate;
};

struct metric_histogram {
        pthread_mutex_t lock;
        int64_t count;
        struct metrics_reservoir reservoir;
};

struct metric_timer {
        struct metric_histogram histogram;
        struct metric_meter meter;
};

struct registered_metric {
        char *name;
        enum metric_kind kind;
        void *metric;
};

struct registered_source {
        metrics_source_fn *fn;
        void *owner;
};

struct metrics_registry {
        pthread_mutex_t lock;
        char *prefix;
        VEC(struct registered_metric) metrics;
        VEC(struct registered_source) sources;
};

struct metrics_registry *metrics_registry_new(const char *prefix)
{
        struct metrics_registry *r = new0(struct metrics_registry);
        r->prefix = mem_strdup_if(prefix);
        pthread_mutex_init(&r->lock, NULL);
        return r;
}

static void metric_histogram_deinit(struct metric_histogram *h)
{
        metrics_reservoir_deinit(&h->reservoir);
        pthread_mutex_destroy(&h->lock);
}

void metrics_registry_free(struct metrics_registry *r)
{
        if (!r)
                return;
        for (size_t i = 0; i < r->metrics.len; i++) {
                struct registered_metric *m = &r->metrics.data[i];
                struct metric_timer *timer = m->kind == METRIC_TIMER ? m->metric : NULL;
                pthread_mutex_destroy(timer ? &timer->meter.lock : &((struct metric_meter *)m->metric)->lock);
                if (timer)
                        metric_histogram_deinit(&timer->histogram);
                free(m->metric);
                free(m->name);
        }
        vec_deinit(&r->metrics);
        vec_deinit(&r->sources);
        pthread_mutex_destroy(&r->lock);
        free(r->prefix);
        free(r);
}

static void metric_histogram_init(struct metric_histogram *h, int64_t now)
{
        pthread_mutex_init(&h->lock, NULL);
        metrics_reservoir_init(&h->reservoir, now);
}

static void metric_meter_init(struct metric_meter *m, int64_t now)
{
        pthread_mutex_init(&m->lock, NULL);
        m->started = m->ticked = now;
}

static void *metric_new(enum metric_kind kind, int64_t now)
{
        if (kind == METRIC_METER) {
                struct metric_meter *m = new0(struct metric_meter);
                metric_meter_init(m, now);
                return m;
        }
        struct metric_timer *t = new0(struct metric_timer);
        metric_histogram_init(&t->histogram, now);
        metric_meter_init(&t->meter, now);
        return t;
}

static void *registry_find_or_create(struct metrics_registry *r, const char *name, enum metric_kind kind, int64_t now)
{
        void *found = NULL;
        pthread_mutex_lock(&r->lock);
        for (size_t i = 0; !found && i < r->metrics.len; i++)
                if (r->metrics.data[i].kind == kind && strcmp(r->metrics.data[i].name, name) == 0)
                        found = r->metrics.data[i].metric;
        if (!found) {
                found = metric_new(kind, now);
                vec_push(&r->metrics,
                         (struct registered_metric){.name = mem_strdup(name), .kind = kind, .metric = found});
        }
        pthread_mutex_unlock(&r->lock);
        return found;
}

struct metric_meter *metrics_registry_meter(struct metrics_registry *r, const char *name, int64_t now)
{
        return registry_find_or_create(r, name, METRIC_METER, now);
}

struct metric_timer *metrics_registry_timer(struct metrics_registry *r, const char *name, int64_t now)
{
        return registry_find_or_create(r, name, METRIC_TIMER, now);
}

/* --------------------------------------------------------------------------------------------------------- updates */

static void metric_histogram_update(struct metric_histogram *h, int64_t value, int64_t now)
{
        pthread_mutex_lock(&h->lock);
        h->count++;
        metrics_reservoir_update(&h->reservoir, value, now);
        pthread_mutex_unlock(&h->lock);
}

/* Updates the rates for each 5 s that have passed. */
static void metric_meter_tick(struct metric_meter *m, int64_t now)
{
        static const double minutes[] = {1, 5, 15};
        if (now - __atomic_load_n(&m->ticked, __ATOMIC_RELAXED) <= TICK_NS)
                return;
        pthread_mutex_lock(&m->lock);
        int64_t ticks = (now - m->ticked) / TICK_NS;
        for (int64_t t = 0; t < MIN(ticks, MAX_TICKS); t++) {
                int64_t n = __atomic_exchange_n(&m->uncounted, 0, __ATOMIC_RELAXED);
                double rate = (double)n / ((double)TICK_NS / NS_PER_SECOND);
                for (size_t i = 0; i < ARRAY_SIZE(minutes); i++) {
                        double alpha = 1 - exp(-5.0 / 60.0 / minutes[i]);
                        m->rate[i] = m->has_rate ? m->rate[i] + alpha * (rate - m->rate[i]) : rate;
                }
                m->has_rate = true;
        }
        __atomic_store_n(&m->ticked, m->ticked + ticks * TICK_NS, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&m->lock);
}

void metric_meter_mark(struct metric_meter *m, int64_t n, int64_t now)
{
        if (!m)
                return;
        metric_meter_tick(m, now);
        __atomic_add_fetch(&m->count, n, __ATOMIC_RELAXED);
        __atomic_add_fetch(&m->uncounted, n, __ATOMIC_RELAXED);
}

void metric_timer_update(struct metric_timer *t, int64_t duration_ns, int64_t now)
{
        if (!t || duration_ns < 0)
                return;
        metric_histogram_update(&t->histogram, duration_ns, now);
        metric_meter_mark(&t->meter, 1, now);
}

/* ------------------------------------------------------------------------------------------------------- snapshots */

void metrics_registry_add_source(struct metrics_registry *r, metrics_source_fn *fn, void *owner)
{
        pthread_mutex_lock(&r->lock);
        vec_push(&r->sources, (struct registered_source){fn, owner});
        pthread_mutex_unlock(&r->lock);
}

static void metric_histogram_read(struct metric_histogram *h, struct metric_sample *out)
{
        pthread_mutex_lock(&h->lock);
        out->value = h->count;
        metrics_reservoir_read(&h->reservoir, &out->distribution);
        pthread_mutex_unlock(&h->lock);
}

static void metric_meter_read(struct metric_meter *m, int64_t now, struct metric_sample *out)
{
        metric_meter_tick(m, now);
        pthread_mutex_lock(&m->lock);
        out->value = __atomic_load_n(&m->count, __ATOMIC_RELAXED);
        double seconds = (double)(now - m->started) / NS_PER_SECOND;
        out->rates = (struct metric_rates){.mean = seconds > 0 ? (double)out->value / seconds : 0,
                                           .m1 = m->rate[0],
                                           .m5 = m->rate[1],
                                           .m15 = m->rate[2]};
        pthread_mutex_unlock(&m->lock);
}

void metrics_registry_snapshot(struct metrics_registry *r, int64_t now, struct metrics_snapshot *out)
{
        metrics_snapshot_deinit(out);
        out->prefix = r->prefix;
        pthread_mutex_lock(&r->lock);
        for (size_t i = 0; i < r->sources.len; i++)
                r->sources.data[i].fn(r->sources.data[i].owner, out);
        for (size_t i = 0; i < r->metrics.len; i++) {
                const struct registered_metric *m = &r->metrics.data[i];
                struct metric_sample sample = {.kind = m->kind};
                struct metric_timer *timer = m->kind == METRIC_TIMER ? m->metric : NULL;
                metric_meter_read(timer ? &timer->meter : m->metric, now, &sample);
                if (timer)
                        metric_histogram_read(&timer->histogram, &sample);
                metrics_add(out, m->name, &sample);
        }
        pthread_mutex_unlock(&r->lock);
        metrics_sort(out);
}
