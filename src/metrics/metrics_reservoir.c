/* See metrics_reservoir.h. */
#include "metrics/metrics_reservoir.h"

#include "base/clock.h"
#include "base/hash_table.h"

#include <math.h>

#define DECAY_PER_SECOND 0.015
#define RESCALE_NS (3600 * NS_PER_SECOND)

void metrics_reservoir_init(struct metrics_reservoir *r, int64_t now)
{
        *r = (struct metrics_reservoir){.start = now, .random = (uint64_t)(uintptr_t)r};
}

void metrics_reservoir_deinit(struct metrics_reservoir *r)
{
        free(r->heap);
        r->heap = NULL;
}

static void reservoir_sink_root(struct metrics_reservoir *r)
{
        for (size_t at = 0, child; (child = 2 * at + 1) < r->n; at = child) {
                if (child + 1 < r->n && r->heap[child + 1].priority < r->heap[child].priority)
                        child++;
                if (r->heap[at].priority <= r->heap[child].priority)
                        return;
                struct reservoir_value moved = r->heap[at];
                r->heap[at] = r->heap[child];
                r->heap[child] = moved;
        }
}

static void reservoir_raise_last(struct metrics_reservoir *r)
{
        for (size_t at = r->n - 1; at > 0;) {
                size_t parent = (at - 1) / 2;
                if (r->heap[parent].priority <= r->heap[at].priority)
                        return;
                struct reservoir_value moved = r->heap[at];
                r->heap[at] = r->heap[parent];
                r->heap[parent] = moved;
                at = parent;
        }
}

/* Weights grow without bound. Once an hour they are made relative to a new start. */
static void reservoir_rescale(struct metrics_reservoir *r, int64_t now)
{
        double factor = exp(-DECAY_PER_SECOND * (double)(now - r->start) / NS_PER_SECOND);
        for (size_t i = 0; i < r->n; i++) {
                r->heap[i].priority *= factor;
                r->heap[i].weight *= factor;
        }
        r->start = now;
        if (factor == 0)
                r->n = 0;
}

void metrics_reservoir_update(struct metrics_reservoir *r, int64_t value, int64_t now)
{
        if (!r->heap)
                r->heap = new_array(struct reservoir_value, RESERVOIR_SIZE);
        if (now - r->start >= RESCALE_NS)
                reservoir_rescale(r, now);
        double weight = exp(DECAY_PER_SECOND * (double)(now - r->start) / NS_PER_SECOND);
        r->random += 0x9e3779b97f4a7c15u;
        double uniform = ((double)(object_hash_number(r->random) >> 11) + 0.5) / 9007199254740992.0;
        struct reservoir_value added = {.priority = weight / uniform, .weight = weight, .value = value};
        if (r->n < RESERVOIR_SIZE) {
                r->heap[r->n++] = added;
                reservoir_raise_last(r);
        } else if (r->heap[0].priority < added.priority) {
                r->heap[0] = added;
                reservoir_sink_root(r);
        }
}

static int reservoir_by_value(const void *a, const void *b)
{
        const struct reservoir_value *x = a, *y = b;
        return (x->value > y->value) - (x->value < y->value);
}

void metrics_reservoir_read(const struct metrics_reservoir *r, struct metric_distribution *out)
{
        static const double quantiles[METRIC_PERCENTILES] = {0.5, 0.75, 0.95, 0.98, 0.99, 0.999};
        struct reservoir_value sorted[RESERVOIR_SIZE];
        double sum = 0, before = 0, variance = 0;
        *out = (struct metric_distribution){0};
        if (!r->n)
                return;
        memcpy(sorted, r->heap, r->n * sizeof(*sorted));
        qsort(sorted, r->n, sizeof(*sorted), reservoir_by_value);
        for (size_t i = 0; i < r->n; i++)
                sum += sorted[i].weight;
        out->min = sorted[0].value;
        out->max = sorted[r->n - 1].value;
        /* The value at a quantile is the last one with no more weight before it. */
        for (size_t i = 0; i < r->n; i++) {
                double share = sum > 0 ? sorted[i].weight / sum : 1.0 / (double)r->n;
                for (int k = 0; k < METRIC_PERCENTILES; k++)
                        if (before <= quantiles[k])
                                out->percentile[k] = (double)sorted[i].value;
                out->mean += share * (double)sorted[i].value;
                before += share;
        }
        for (size_t i = 0; r->n > 1 && i < r->n; i++) {
                double distance = (double)sorted[i].value - out->mean;
                variance += (sum > 0 ? sorted[i].weight / sum : 1.0 / (double)r->n) * distance * distance;
        }
        out->stddev = sqrt(variance);
}
