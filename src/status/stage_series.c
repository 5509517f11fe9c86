/* See stage_series.h. */
#include "status/stage_series.h"

#include "base/mem.h"
#include "status/columns/task_chunk.h"

enum { STEPS = 8, BUCKETS = STEPS * 48 }; /* of durations: eight for each power of two */
enum { MAX_SAMPLES = 100000 };            /* of larger stages, every second, third, … task counts twice, … */
#define MAX_SERIES_MS ((int64_t)1 << 40)  /* sums do not overflow */

struct series_work {
        size_t step; /* of the rows that are read */
        double differences[SERIES_SLICES + 1];
        uint32_t counts[SERIES_SLICES][BUCKETS];
        int64_t longest[SERIES_SLICES];
};

static size_t series_bucket(int64_t ms)
{
        if (ms < STEPS)
                return (size_t)MAX(ms, (int64_t)0);
        int power = 63 - __builtin_clzll((uint64_t)ms);
        size_t bucket = (size_t)(power - 2) * STEPS + (size_t)((ms >> (power - 3)) & (STEPS - 1));
        return MIN(bucket, (size_t)BUCKETS - 1);
}

/* The middle of a bucket. */
static int64_t series_bucket_ms(size_t bucket)
{
        if (bucket < STEPS)
                return (int64_t)bucket;
        size_t shift = bucket / STEPS - 1;
        int64_t low = (int64_t)(STEPS + bucket % STEPS) << shift;
        return low + ((int64_t)1 << shift) / 2;
}

static bool series_bounds(const struct status_stage *stage, int64_t now_ms, struct stage_series *out)
{
        int64_t launch[TASK_CHUNK_ROWS];
        out->end_ms = status_stage_is_live(stage) ? now_ms : stage->completion_ms;
        out->begin_ms = INT64_MAX;
        for (size_t chunk = 0; chunk < stage->columns.n_chunks; chunk++) {
                const struct task_chunk *c = stage->columns.chunks[chunk];
                if (c->n_removed == c->n)
                        continue;
                if (c->is_sealed && !c->removed && c->base[TASK_LAUNCH] > 0) {
                        out->begin_ms = MIN(out->begin_ms, c->base[TASK_LAUNCH]);
                        continue;
                }
                task_chunk_read(c, TASK_LAUNCH, launch);
                for (size_t i = 0; i < c->n; i++)
                        if (!task_chunk_is_removed(c, i) && launch[i] > 0)
                                out->begin_ms = MIN(out->begin_ms, launch[i]);
        }
        return out->begin_ms < out->end_ms && out->end_ms - out->begin_ms < MAX_SERIES_MS;
}

/* Adds the time of a task to the slices that it covers. */
static void series_add_running(struct stage_series *s, struct series_work *w, double from, double to)
{
        double weight = (double)w->step;
        size_t first = MIN((size_t)from, s->n - 1), last = MIN((size_t)to, s->n - 1);
        if (first == last) {
                s->slices[first].running += weight * (to - from);
                return;
        }
        s->slices[first].running += weight * ((double)(first + 1) - from);
        s->slices[last].running += weight * (to - (double)last);
        w->differences[first + 1] += weight;
        w->differences[last] -= weight;
}

/* Adds the values of the rows that are read to @sums. */
static void series_add_column(const struct task_chunk *c, enum task_column column, size_t step, int64_t *sums)
{
        int64_t values[TASK_CHUNK_ROWS], same;
        if (task_chunk_is_constant(c, column, &same) && same == 0)
                return;
        for (size_t i = 0, n = task_chunk_read_each(c, column, step, values); i < n; i++)
                sums[i] += values[i];
}

static void series_add_chunk(struct stage_series *s, struct series_work *w, const struct task_chunk *c)
{
        int64_t launch[TASK_CHUNK_ROWS], status[TASK_CHUNK_ROWS], duration[TASK_CHUNK_ROWS];
        int64_t read[TASK_CHUNK_ROWS], written[TASK_CHUNK_ROWS];
        double per_ms = (double)s->n / (double)(s->end_ms - s->begin_ms);
        int64_t step = (int64_t)w->step;
        memset(read, 0, sizeof(read));
        memset(written, 0, sizeof(written));
        size_t n = task_chunk_read_each(c, TASK_LAUNCH, w->step, launch);
        task_chunk_read_each(c, TASK_STATUS, w->step, status);
        task_chunk_read_each(c, TASK_DURATION, w->step, duration);
        series_add_column(c, TASK_METRIC(input_bytes), w->step, read);
        series_add_column(c, TASK_METRIC(shuffle_read.remote_bytes), w->step, read);
        series_add_column(c, TASK_METRIC(shuffle_read.local_bytes), w->step, read);
        series_add_column(c, TASK_METRIC(output_bytes), w->step, written);
        series_add_column(c, TASK_METRIC(shuffle_write.bytes), w->step, written);
        for (size_t i = 0; i < n; i++) {
                if (task_chunk_is_removed(c, i * w->step) || launch[i] < s->begin_ms || launch[i] > s->end_ms)
                        continue;
                bool runs = status[i] < TASK_ROW_SUCCESS;
                int64_t ms = runs ? s->end_ms - launch[i] : MIN(MAX(duration[i], (int64_t)0), s->end_ms - launch[i]);
                double from = (double)(launch[i] - s->begin_ms) * per_ms, to = from + (double)ms * per_ms;
                series_add_running(s, w, from, MIN(to, (double)s->n));
                if (runs)
                        continue;
                size_t at = MIN((size_t)to, s->n - 1);
                struct series_slice *slice = &s->slices[at];
                slice->ended += step;
                slice->failed += status[i] != TASK_ROW_SUCCESS ? step : 0;
                slice->read_bytes += step * read[i];
                slice->written_bytes += step * written[i];
                if (status[i] != TASK_ROW_SUCCESS)
                        continue;
                w->counts[at][series_bucket(ms)]++;
                w->longest[at] = MAX(w->longest[at], ms);
        }
}

static int64_t series_percentile(const uint32_t *counts, int64_t n, int per_cent)
{
        int64_t wanted = n * per_cent / 100, seen = 0;
        for (size_t i = 0; i < BUCKETS; i++) {
                seen += counts[i];
                if (seen > wanted)
                        return series_bucket_ms(i);
        }
        return 0;
}

void stage_series_make(const struct status_stage *stage, int64_t now_ms, struct stage_series *out)
{
        double running = 0;
        *out = (struct stage_series){0};
        task_columns_need(&stage->columns);
        if (!series_bounds(stage, now_ms, out))
                return;
        struct series_work *w = new0(struct series_work);
        w->step = 1 + stage->columns.n_retained / MAX_SAMPLES;
        out->n = (size_t)MIN(out->end_ms - out->begin_ms, (int64_t)SERIES_SLICES);
        for (size_t chunk = 0; chunk < stage->columns.n_chunks; chunk++)
                if (stage->columns.chunks[chunk]->n_removed < stage->columns.chunks[chunk]->n)
                        series_add_chunk(out, w, stage->columns.chunks[chunk]);
        for (size_t i = 0; i < out->n; i++) {
                struct series_slice *slice = &out->slices[i];
                int64_t n = (slice->ended - slice->failed) / (int64_t)w->step;
                running += w->differences[i];
                slice->running += running;
                slice->percentiles[0] = MIN(series_percentile(w->counts[i], n, 50), w->longest[i]);
                slice->percentiles[1] = MIN(series_percentile(w->counts[i], n, 95), w->longest[i]);
                slice->percentiles[2] = w->longest[i];
        }
        free(w);
}
