/*
 * See diagnosis_scan.h.
 *
 * Busy cores over time are counted in slices: a start counts in its slice for the rest of that slice, and for one core
 * in all later ones; an end takes the same away. Sums are exact, so that the order of tasks does not matter. Packed
 * chunks of tasks that ended within the time line are read as numbers of 32 bits.
 */
#include "status/diagnosis_scan.h"

#include "base/mem.h"
#include "status/columns/task_chunk.h"

enum { SLICE_BITS = 10, SLICES = 1 << SLICE_BITS, LINE_BITS = 21, SLICE_BANKS = 4 };

/* Starts minus ends in a slice, and the sum of their distances from its begin, in units of 1 / SLICES. */
struct scan_slice {
        int64_t n, distance;
};

struct scan_slices {
        unsigned shift;  /* a time of the line has `ms >> shift` units, */
        uint32_t length; /* and the line @length, at most 1 << LINE_BITS */
        /* Several banks, of which the sum counts: an addition need not wait for the one of the row before. */
        struct scan_slice banks[SLICE_BANKS][SLICES + 1];
};

/* ------------------------------------------------------------------------------------------------ time line */

static bool task_scan_counts(const struct task_scan *scan, const struct task_chunk *c, size_t row, int64_t launch)
{
        return launch > 0 && launch <= scan->end_ms && !task_chunk_is_removed(c, row);
}

/* The end of a task within the time line: running tasks, and killed ones that outlive their stage, end with it. */
static int64_t task_scan_end_of(const struct task_scan *scan, int64_t status, int64_t launch, int64_t duration)
{
        if (status < TASK_ROW_SUCCESS || duration > scan->end_ms - launch)
                return scan->end_ms;
        return launch + MAX(duration, (int64_t)0);
}

/* Finds the first launch and the last start of a first attempt. Returns false if there is no time line. */
static bool task_scan_bounds(struct task_scan *scan, const struct task_columns *t)
{
        int64_t launch[TASK_CHUNK_ROWS], attempt[TASK_CHUNK_ROWS];
        scan->begin_ms = INT64_MAX;
        for (size_t chunk = 0; chunk < t->n_chunks; chunk++) {
                const struct task_chunk *c = t->chunks[chunk];
                int64_t only;
                if (c->n_removed == c->n)
                        continue;
                if (c->is_sealed && !c->removed && c->base[TASK_LAUNCH] > 0 &&
                    c->greatest[TASK_LAUNCH] <= scan->end_ms && task_chunk_is_constant(c, TASK_ATTEMPT, &only) &&
                    only == 0) {
                        scan->n_seen += c->n;
                        scan->begin_ms = MIN(scan->begin_ms, c->base[TASK_LAUNCH]);
                        scan->last_start_ms = MAX(scan->last_start_ms, c->greatest[TASK_LAUNCH]);
                        continue;
                }
                task_chunk_read(c, TASK_LAUNCH, launch);
                task_chunk_read(c, TASK_ATTEMPT, attempt);
                for (size_t i = 0; i < c->n; i++) {
                        if (!task_scan_counts(scan, c, i, launch[i]))
                                continue;
                        scan->n_seen++;
                        scan->begin_ms = MIN(scan->begin_ms, launch[i]);
                        if (!attempt[i])
                                scan->last_start_ms = MAX(scan->last_start_ms, launch[i]);
                }
        }
        return scan->n_seen > 0 && scan->end_ms - scan->begin_ms < MAX_SCAN_MS;
}

/* --------------------------------------------------------------------------------------------------- slices */

static struct scan_slices *scan_slices_new(const struct task_scan *scan)
{
        struct scan_slices *s = new0(struct scan_slices);
        int64_t length = MAX(scan->end_ms - scan->begin_ms, (int64_t)1);
        while (length >> s->shift > 1 << LINE_BITS)
                s->shift++;
        s->length = (uint32_t)(length >> s->shift);
        return s;
}

/* The place of a time in the slices. */
struct scan_place {
        uint32_t slice, distance; /* distance < length */
};

/*
 * @per_unit: slices per unit, whose error makes a place at most one slice too early or too late. The compiler makes
 * vector operations of loops of this.
 */
static inline struct scan_place scan_place_of(uint32_t units, uint32_t length, float per_unit)
{
        uint32_t slice = (uint32_t)(int32_t)((float)units * per_unit);
        int32_t distance = (int32_t)((units << SLICE_BITS) - slice * length);
        uint32_t is_early = distance >= (int32_t)length, is_late = distance < 0;
        return (struct scan_place){slice + is_early - is_late,
                                   (uint32_t)distance + (is_late ? length : 0) - (is_early ? length : 0)};
}

static void scan_slices_add(struct scan_slices *s, uint64_t ms, int64_t n)
{
        const struct scan_place place =
                scan_place_of(MIN((uint32_t)(ms >> s->shift), s->length), s->length, (float)SLICES / (float)s->length);
        s->banks[0][place.slice].n += n;
        s->banks[0][place.slice].distance += n * place.distance;
}

#define FIND_PLACES                                                                                                    \
        do {                                                                                                           \
                const float per_unit = (float)SLICES / (float)length;                                                  \
                for (size_t i = 0; i < n; i++) {                                                                       \
                        uint32_t units = ms[i] >> shift;                                                               \
                        units = units < length ? units : length;                                                       \
                        const struct scan_place place = scan_place_of(units, length, per_unit);                        \
                        slices[i] = place.slice;                                                                       \
                        distances[i] = place.distance;                                                                 \
                }                                                                                                      \
        } while (0)

#ifdef __x86_64__
__attribute__((target("avx2"))) static void scan_find_places_avx2(const uint32_t *restrict ms, size_t n, unsigned shift,
                                                                  uint32_t length, uint32_t *restrict slices,
                                                                  uint32_t *restrict distances)
{
        FIND_PLACES;
}
#endif

static void scan_find_places(const uint32_t *restrict ms, size_t n, unsigned shift, uint32_t length,
                             uint32_t *restrict slices, uint32_t *restrict distances)
{
#ifdef __x86_64__
        if (__builtin_cpu_supports("avx2")) {
                scan_find_places_avx2(ms, n, shift, length, slices, distances);
                return;
        }
#endif
        FIND_PLACES;
}

/* Adds @sign for each of at most TASK_CHUNK_ROWS times. */
static void scan_slices_add_all(struct scan_slices *s, const uint32_t *ms, size_t n, int64_t sign)
{
        uint32_t slices[TASK_CHUNK_ROWS], distances[TASK_CHUNK_ROWS];
        scan_find_places(ms, n, s->shift, s->length, slices, distances);
        for (size_t i = 0; i < n; i++) {
                struct scan_slice *slice = &s->banks[i % SLICE_BANKS][slices[i]];
                slice->n += sign;
                slice->distance += sign * (int64_t)distances[i];
        }
}

/* Returns the most cores that were busy in one slice of the time. */
static double scan_slices_most(const struct scan_slices *s)
{
        double most = 0;
        int64_t running = 0;
        for (size_t i = 0; i < SLICES; i++) {
                int64_t distance = 0;
                for (size_t bank = 0; bank < SLICE_BANKS; bank++) {
                        running += s->banks[bank][i].n;
                        distance += s->banks[bank][i].distance;
                }
                most = MAX(most, (double)running - (double)distance / (double)s->length);
        }
        return most;
}

/* ---------------------------------------------------------------------------------------------------- chunks */

static void task_scan_add_long(struct task_scan *scan, const struct diagnosis_task *task)
{
        size_t at = scan->n_longest;
        if (at == DIAGNOSIS_LONG_TASKS && task->duration_ms <= scan->longest[at - 1].duration_ms)
                return;
        if (at < DIAGNOSIS_LONG_TASKS)
                scan->n_longest++;
        else
                at--;
        for (; at > 0 && scan->longest[at - 1].duration_ms < task->duration_ms; at--)
                scan->longest[at] = scan->longest[at - 1];
        scan->longest[at] = *task;
}

/* True if a task of this duration is among the longest so far. */
static bool task_scan_is_long(const struct task_scan *scan, int64_t duration)
{
        return scan->n_longest < DIAGNOSIS_LONG_TASKS || duration > scan->longest[DIAGNOSIS_LONG_TASKS - 1].duration_ms;
}

/* Reads any chunk, row by row. */
static void task_scan_chunk(struct task_scan *scan, struct scan_slices *slices, const struct task_columns *t,
                            size_t chunk)
{
        const struct task_chunk *c = t->chunks[chunk];
        int64_t launch[TASK_CHUNK_ROWS], status[TASK_CHUNK_ROWS], duration[TASK_CHUNK_ROWS], result[TASK_CHUNK_ROWS];
        int64_t none;
        task_chunk_read(c, TASK_LAUNCH, launch);
        task_chunk_read(c, TASK_STATUS, status);
        task_chunk_read(c, TASK_DURATION, duration);
        bool no_results = task_chunk_is_constant(c, TASK_GETTING_RESULT_TIME, &none);
        if (!no_results)
                task_chunk_read(c, TASK_GETTING_RESULT_TIME, result);
        for (size_t i = 0; i < c->n; i++) {
                if (!task_scan_counts(scan, c, i, launch[i]))
                        continue;
                int64_t end = task_scan_end_of(scan, status[i], launch[i], duration[i]);
                scan->busy_ms += end - launch[i];
                if (launch[i] < scan->last_start_ms)
                        scan->busy_starting_ms += MIN(end, scan->last_start_ms) - launch[i];
                scan->result_ms += no_results ? 0 : result[i];
                scan_slices_add(slices, (uint64_t)(launch[i] - scan->begin_ms), 1);
                scan_slices_add(slices, (uint64_t)(end - scan->begin_ms), -1);
                if (status[i] > TASK_ROW_SUCCESS) {
                        scan->failed_ms += end - launch[i];
                        scan->n_failed++;
                } else if (task_scan_is_long(scan, end - launch[i])) {
                        task_scan_add_long(scan, &(struct diagnosis_task){.row = chunk * TASK_CHUNK_ROWS + i,
                                                                          .duration_ms = end - launch[i]});
                }
        }
}

/* True if all tasks of a chunk ended within a time line whose milliseconds are numbers of 32 bits. */
static bool task_scan_is_within(const struct task_scan *scan, const struct task_chunk *c)
{
        int64_t none;
        return c->is_sealed && !c->removed && c->base[TASK_LAUNCH] > 0 && c->base[TASK_DURATION] >= 0 &&
               c->greatest[TASK_LAUNCH] <= scan->end_ms &&
               c->greatest[TASK_DURATION] <= scan->end_ms - c->greatest[TASK_LAUNCH] &&
               scan->end_ms - scan->begin_ms <= INT32_MAX && task_chunk_is_constant(c, TASK_GETTING_RESULT_TIME, &none);
}

/* Sums the time of tasks until @limit. */
#define SUM_UNTIL                                                                                                      \
        do {                                                                                                           \
                uint64_t sum = 0;                                                                                      \
                for (size_t i = 0; i < n; i++) {                                                                       \
                        int32_t end = (int32_t)ends[i] < limit ? (int32_t)ends[i] : limit;                             \
                        int32_t time = end - (int32_t)launches[i];                                                     \
                        sum += (uint32_t)(time > 0 ? time : 0);                                                        \
                }                                                                                                      \
                return (int64_t)sum;                                                                                   \
        } while (0)

#ifdef __x86_64__
__attribute__((target("avx2"))) static int64_t scan_sum_until_avx2(const uint32_t *launches, const uint32_t *ends,
                                                                   size_t n, int32_t limit)
{
        SUM_UNTIL;
}
#endif

static int64_t scan_sum_until(const uint32_t *launches, const uint32_t *ends, size_t n, int32_t limit)
{
#ifdef __x86_64__
        if (__builtin_cpu_supports("avx2"))
                return scan_sum_until_avx2(launches, ends, n, limit);
#endif
        SUM_UNTIL;
}

/* Enters the tasks of a chunk that did not succeed. */
static void task_scan_odd_rows(struct task_scan *scan, const struct task_chunk *c)
{
        for (size_t i = 0; i < c->n_odd; i++) {
                if (task_chunk_get(c, c->odd[i], TASK_STATUS) == TASK_ROW_SUCCESS)
                        continue;
                scan->failed_ms += task_chunk_get(c, c->odd[i], TASK_DURATION);
                scan->n_failed++;
        }
}

/* Reads a chunk of tasks that ended within the time line. */
static void task_scan_chunk_within(struct task_scan *scan, struct scan_slices *slices, const struct task_columns *t,
                                   size_t chunk)
{
        const struct task_chunk *c = t->chunks[chunk];
        uint32_t launches[TASK_CHUNK_ROWS], ends[TASK_CHUNK_ROWS];
        task_chunk_read_narrow(c, TASK_LAUNCH, scan->begin_ms, launches);
        task_chunk_read_narrow(c, TASK_DURATION, 0, ends);
        if (task_scan_is_long(scan, c->greatest[TASK_DURATION]))
                for (size_t i = 0; i < c->n; i++)
                        if (task_scan_is_long(scan, ends[i]) && task_chunk_get(c, i, TASK_STATUS) <= TASK_ROW_SUCCESS)
                                task_scan_add_long(scan, &(struct diagnosis_task){.row = chunk * TASK_CHUNK_ROWS + i,
                                                                                  .duration_ms = ends[i]});
        for (size_t i = 0; i < c->n; i++)
                ends[i] += launches[i];
        scan->busy_ms += scan_sum_until(launches, ends, c->n, INT32_MAX);
        if (scan->last_start_ms > c->base[TASK_LAUNCH])
                scan->busy_starting_ms +=
                        scan_sum_until(launches, ends, c->n, (int32_t)(scan->last_start_ms - scan->begin_ms));
        scan_slices_add_all(slices, launches, c->n, 1);
        scan_slices_add_all(slices, ends, c->n, -1);
        task_scan_odd_rows(scan, c);
}

bool task_scan_run(struct task_scan *scan, const struct task_columns *t)
{
        task_columns_need(t);
        if (!task_scan_bounds(scan, t))
                return false;
        struct scan_slices *slices = scan_slices_new(scan);
        for (size_t chunk = 0; chunk < t->n_chunks; chunk++) {
                if (task_scan_is_within(scan, t->chunks[chunk]))
                        task_scan_chunk_within(scan, slices, t, chunk);
                else if (t->chunks[chunk]->n_removed < t->chunks[chunk]->n)
                        task_scan_chunk(scan, slices, t, chunk);
        }
        for (size_t i = 0; i < scan->n_longest; i++) {
                int64_t index = task_columns_value(t, scan->longest[i].row, TASK_INDEX);
                int64_t partition = index + task_columns_value(t, scan->longest[i].row, TASK_PARTITION);
                scan->longest[i].partition = (int)(partition >= 0 ? partition : index); /* old logs have none */
        }
        scan->slots = MAX(scan_slices_most(slices), 1.0);
        free(slices);
        return true;
}
