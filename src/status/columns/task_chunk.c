/* Chunks of rows: open ones, packing, reading; see task_chunk.h. */
#include "status/columns/task_chunk.h"

#include "base/mem.h"

struct task_chunk *task_chunk_new(size_t room)
{
        struct task_chunk *c = new0(struct task_chunk);
        c->room = (uint16_t)room;
        c->bytes = sizeof(*c);
        return c;
}

/* Bytes in use: an array for which a run had room may be left out. */
static size_t ended_run_bytes(const struct ended_run *run)
{
        return sizeof(*run) + (ENDED_COLUMNS + (size_t)__builtin_popcountll(run->varying) * run->n) * sizeof(int64_t);
}

static void task_chunk_free_started(struct task_chunk *c)
{
        free(c->started);
        c->started = NULL;
        c->n_started_runs = c->started_room = 0;
}

static void task_chunk_free_ended(struct task_chunk *c)
{
        for (struct ended_run *run; (run = c->ended);) {
                c->ended = run->next;
                free(run);
        }
        c->n_ended_runs = 0;
}

void task_chunk_empty(struct task_chunk *c)
{
        for (size_t i = 0; i < TASK_COLUMNS; i++) {
                free(c->open[i]);
                c->open[i] = NULL;
                c->base[i] = c->width[i] = 0;
        }
        task_chunk_free_started(c);
        task_chunk_free_ended(c);
        c->rising = 0;
        free(c->packed);
        c->packed = NULL;
        free(c->odd);
        c->odd = NULL;
        c->is_sealed = true;
        c->all_success = c->has_finish = false;
        c->bytes = sizeof(*c) + TASK_CHUNK_ROWS / 8;
}

void task_chunk_free(struct task_chunk *c)
{
        task_chunk_empty(c);
        free(c->removed);
        free(c);
}

static void task_chunk_fill(int64_t *to, size_t n, int64_t first, bool is_rising)
{
        uint64_t step = is_rising;
        for (size_t i = 0; i < n; i++, first = (int64_t)((uint64_t)first + step))
                to[i] = first;
}

void task_chunk_open_column(struct task_chunk *c, size_t column)
{
        size_t size = c->room * sizeof(int64_t);
        c->open[column] = column < TASK_STATUS ? mem_alloc(size) : mem_zero(size); /* starts set all values */
        c->bytes += c->room * sizeof(int64_t);
        if (column < TASK_STATUS || c->base[column] || task_chunk_is_rising(c, column))
                task_chunk_fill(c->open[column], c->n, c->base[column], task_chunk_is_rising(c, column));
        c->base[column] = 0;
        c->rising &= ~((uint64_t)1 << column);
}

struct column_run column_run_of(const struct task_event_batch *b, size_t column, size_t at)
{
        const int64_t *values = task_event_values(b, column);
        return (struct column_run){.first = task_event_value(b, column, at),
                                   .is_rising = task_event_is_rising(b, column),
                                   .values = values ? values + at : NULL};
}

void task_chunk_set_run(struct task_chunk *c, size_t row, size_t n, enum task_column column,
                        const struct column_run *run)
{
        if (!c->open[column]) {
                if (!run->values && run->first == task_chunk_expected(c, row, column) &&
                    (n == 1 || run->is_rising == task_chunk_is_rising(c, column)))
                        return;
                task_chunk_open_column(c, column);
        }
        if (run->values)
                memcpy(c->open[column] + row, run->values, n * sizeof(int64_t));
        else
                task_chunk_fill(c->open[column] + row, n, run->first, run->is_rising);
}

void task_chunk_set_started_run(struct task_chunk *c, size_t n, enum task_column column, struct column_run run)
{
        if (c->n == 0 && !c->open[column] && !run.values) {
                c->base[column] = run.first;
                if (run.is_rising && n > 1)
                        c->rising |= (uint64_t)1 << column;
        } else {
                task_chunk_set_run(c, c->n, n, column, &run);
        }
}

/* ------------------------------------------------------------------------------------------ rows that started */

/* The values of a column in a run. */
static struct column_run started_run_column(const struct started_run *run, size_t column)
{
        return (struct column_run){.first = run->first[column], .is_rising = run->rising >> column & 1};
}

static int64_t column_run_value(const struct column_run *run, size_t i)
{
        return run->values ? run->values[i] : (int64_t)((uint64_t)run->first + (run->is_rising ? i : 0));
}

void task_chunk_start_run(struct task_chunk *c, const struct started_run *run)
{
        if (c->n_started_runs == c->started_room) {
                c->started_room = (uint8_t)MAX(c->started_room * 2, 2);
                c->started = mem_grow(c->started, c->started_room * sizeof(*c->started));
                c->bytes += (size_t)(c->started_room - c->n_started_runs) * sizeof(*c->started);
        }
        c->started[c->n_started_runs++] = *run;
}

void task_chunk_flush_started(struct task_chunk *c)
{
        struct started_run *runs = c->started;
        size_t n_runs = c->n_started_runs;
        uint16_t n = c->n;
        if (!runs)
                return;
        c->bytes -= c->started_room * sizeof(*runs);
        c->started = NULL;
        task_chunk_free_started(c);
        for (size_t i = 0; i < n_runs; i++) {
                c->n = runs[i].row;
                for (size_t column = 0; column < TASK_STATUS; column++)
                        task_chunk_set_started_run(c, runs[i].n, (enum task_column)column,
                                                   started_run_column(&runs[i], column));
        }
        c->n = n;
        free(runs);
}

/* Returns the run that holds a row. */
static const struct started_run *task_chunk_find_started(const struct task_chunk *c, size_t row)
{
        const struct started_run *run = c->started;
        while (row >= (size_t)run->row + run->n)
                run++;
        return run;
}

/* -------------------------------------------------------------------------------------------- rows that ended */

static bool task_column_is_ended(size_t column)
{
        return column >= TASK_STATUS && column < TASK_PUSH_METRICS;
}

/* The values of a column in a run: an array, or the same one for all. */
static struct column_run ended_run_column(const struct ended_run *run, size_t column)
{
        size_t place = column - TASK_STATUS;
        uint64_t bit = (uint64_t)1 << place;
        const int64_t *arrays = run->values + ENDED_COLUMNS;
        size_t before = (size_t)__builtin_popcountll(run->varying & (bit - 1));
        return (struct column_run){.first = run->values[place],
                                   .values = run->varying & bit ? arrays + before * run->n : NULL};
}

struct ended_run *task_chunk_find_ended(const struct task_chunk *c, size_t row)
{
        for (struct ended_run *run = c->ended; run; run = run->next)
                if (row - run->row < run->n)
                        return run;
        return NULL;
}

void task_chunk_flush_ended(struct task_chunk *c)
{
        struct ended_run *runs = c->ended;
        c->ended = NULL;
        for (struct ended_run *run = runs; run; run = run->next)
                for (size_t column = TASK_STATUS; column < TASK_PUSH_METRICS; column++) {
                        struct column_run values = ended_run_column(run, column);
                        task_chunk_set_run(c, run->row, run->n, (enum task_column)column, &values);
                }
        c->ended = runs;
        for (struct ended_run *run = runs; run; run = run->next)
                c->bytes -= ended_run_bytes(run);
        task_chunk_free_ended(c);
}

/* Adds the column that comes next to a run. @values has an element for each row. */
static void ended_run_put(struct ended_run *run, size_t column, const int64_t *values)
{
        size_t place = column - TASK_STATUS, i = 1;
        run->values[place] = values[0];
        run->filled |= (uint64_t)(values[0] != 0) << place;
        while (i < run->n && values[i] == values[0])
                i++;
        if (i == run->n)
                return;
        memcpy(run->values + ENDED_COLUMNS + (size_t)__builtin_popcountll(run->varying) * run->n, values,
               run->n * sizeof(int64_t));
        run->varying |= (uint64_t)1 << place;
        run->filled |= (uint64_t)1 << place;
}

/* The milliseconds from the launch to the fetch of a large result. */
static void task_chunk_put_fetch(struct ended_run *run, const struct task_event_batch *b, size_t at)
{
        int64_t ms[MAX_TASK_EVENT_BATCH];
        if (!b->values[TASK_EVENT_GETTING_RESULT] && !((b->varying | b->rising) >> TASK_EVENT_GETTING_RESULT & 1))
                return;
        for (size_t i = 0; i < run->n; i++) {
                int64_t began = task_event_value(b, TASK_EVENT_GETTING_RESULT, at + i);
                ms[i] = began ? began - task_event_value(b, TASK_EVENT_LAUNCH, at + i) : 0;
        }
        ended_run_put(run, TASK_GETTING_RESULT, ms);
}

static struct ended_run *task_chunk_add_ended(struct task_chunk *c, size_t row, size_t n, size_t n_arrays)
{
        struct ended_run *run = mem_alloc(sizeof(*run) + (ENDED_COLUMNS + n_arrays * n) * sizeof(int64_t));
        *run = (struct ended_run){.next = c->ended, .row = row, .n = n};
        c->ended = run;
        c->n_ended_runs++;
        return run;
}

void task_chunk_end_run(struct task_chunk *c, size_t row, size_t n, const struct task_event_batch *b, size_t at,
                        const struct task_event_durations *durations)
{
        uint32_t varying = b->varying >> TASK_EVENT_METRICS;
        size_t n_arrays = !durations->are_equal + 1; /* 1: the fetch */
        for (uint32_t bits = varying; bits; bits &= bits - 1)
                n_arrays++;
        struct ended_run *run = task_chunk_add_ended(c, row, n, n_arrays);
        run->values[TASK_STATUS - TASK_STATUS] = TASK_ROW_SUCCESS;
        run->values[TASK_HAS_METRICS - TASK_STATUS] = 1;
        run->values[TASK_DURATION - TASK_STATUS] = durations->ms[0];
        run->values[TASK_GETTING_RESULT - TASK_STATUS] = 0;
        memcpy(&run->values[TASK_METRICS - TASK_STATUS], &b->values[TASK_EVENT_METRICS], sizeof(struct task_metrics));
        for (size_t k = 0; k < ENDED_COLUMNS; k++)
                run->filled |= (uint64_t)(run->values[k] != 0) << k;
        if (!durations->are_equal)
                ended_run_put(run, TASK_DURATION, durations->ms + at);
        task_chunk_put_fetch(run, b, at);
        for (uint32_t bits = varying; bits; bits &= bits - 1) {
                size_t k = (size_t)__builtin_ctz(bits);
                ended_run_put(run, TASK_METRICS + k, task_event_values(b, TASK_EVENT_METRICS + k) + at);
        }
        c->bytes += ended_run_bytes(run);
        if (c->n_ended_runs > MAX_ENDED_RUNS)
                task_chunk_flush_ended(c);
}

void task_chunk_end_row(struct task_chunk *c, size_t row, const int64_t *values)
{
        struct ended_run *run = task_chunk_add_ended(c, row, 1, 0);
        memcpy(run->values, values, ENDED_COLUMNS * sizeof(int64_t));
        for (size_t k = 0; k < ENDED_COLUMNS; k++)
                run->filled |= (uint64_t)(values[k] != 0) << k;
        c->bytes += ended_run_bytes(run);
}

void task_chunk_grow(struct task_chunk *c, size_t room)
{
        for (size_t i = 0; i < TASK_COLUMNS; i++) {
                if (!c->open[i])
                        continue;
                c->open[i] = mem_grow(c->open[i], room * sizeof(int64_t));
                memset(c->open[i] + c->room, 0, (room - c->room) * sizeof(int64_t));
                c->bytes += (room - c->room) * sizeof(int64_t);
        }
        c->room = (uint16_t)room;
}

static uint8_t task_chunk_width(uint64_t range)
{
        if (range == 0)
                return 0;
        return range <= UINT8_MAX ? 1 : range <= UINT16_MAX ? 2 : range <= UINT32_MAX ? 4 : 8;
}

/* Reads a column of an open chunk. */
static void task_chunk_read_open(const struct task_chunk *c, size_t column, int64_t *values)
{
        if (c->started && column < TASK_STATUS) {
                for (size_t i = 0; i < c->n_started_runs; i++) {
                        struct column_run part = started_run_column(&c->started[i], column);
                        task_chunk_fill(values + c->started[i].row, c->started[i].n, part.first, part.is_rising);
                }
                return;
        }
        if (c->open[column])
                memcpy(values, c->open[column], c->n * sizeof(int64_t));
        else
                task_chunk_fill(values, c->n, c->base[column], task_chunk_is_rising(c, column));
        for (const struct ended_run *run = c->ended; run && task_column_is_ended(column); run = run->next) {
                struct column_run part = ended_run_column(run, column);
                if (part.values)
                        memcpy(values + run->row, part.values, run->n * sizeof(int64_t));
                else
                        task_chunk_fill(values + run->row, run->n, part.first, false);
        }
}

#define COLUMN_WIDEN                                                                                                   \
        do {                                                                                                           \
                int64_t least = b->least, greatest = b->greatest;                                                      \
                for (size_t i = 0; i < n; i++) {                                                                       \
                        least = MIN(least, values[i]);                                                                 \
                        greatest = MAX(greatest, values[i]);                                                           \
                }                                                                                                      \
                *b = (struct column_bounds){least, greatest};                                                          \
        } while (0)

#ifdef __x86_64__
/* The compiler makes four comparisons at once of the loop, which the least common processor cannot. */
__attribute__((target("avx2"))) static void column_bounds_widen_avx2(struct column_bounds *b, const int64_t *values,
                                                                     size_t n)
{
        COLUMN_WIDEN;
}
#endif

void column_bounds_widen(struct column_bounds *b, const int64_t *values, size_t n)
{
#ifdef __x86_64__
        if (n >= 16 && __builtin_cpu_supports("avx2")) {
                column_bounds_widen_avx2(b, values, n);
                return;
        }
#endif
        COLUMN_WIDEN;
}

static void column_bounds_widen_by_run(struct column_bounds *b, const struct column_run *run, size_t n)
{
        int64_t last = column_run_value(run, n - 1);
        if (run->values) {
                column_bounds_widen(b, run->values, n);
                return;
        }
        b->least = MIN(b->least, run->first);
        b->greatest = MAX(b->greatest, last);
}

/* Finds the least and the greatest value of a column that starts fill, of a chunk whose rows started in runs. */
static struct column_bounds task_chunk_bounds_of_starts(const struct task_chunk *c, size_t column)
{
        struct column_bounds b = {c->started->first[column], c->started->first[column]};
        for (size_t i = 0; i < c->n_started_runs; i++) {
                struct column_run part = started_run_column(&c->started[i], column);
                column_bounds_widen_by_run(&b, &part, c->started[i].n);
        }
        return b;
}

/* Finds the least and the greatest value of a column of an open chunk. */
static struct column_bounds task_chunk_bounds(const struct task_chunk *c, size_t column)
{
        int64_t read[TASK_CHUNK_ROWS];
        const int64_t *values = c->open[column];
        bool has_runs = c->ended && task_column_is_ended(column);
        struct column_bounds b = {c->base[column], c->base[column]};
        size_t covered = 0;
        if (c->started && column < TASK_STATUS)
                return task_chunk_bounds_of_starts(c, column);
        if (values) {
                if (has_runs) {
                        task_chunk_read_open(c, column, read);
                        values = read;
                }
                b = (struct column_bounds){values[0], values[0]};
                column_bounds_widen(&b, values, c->n);
                return b;
        }
        if (task_chunk_is_rising(c, column))
                b.greatest += c->n - 1;
        for (const struct ended_run *run = c->ended; run && has_runs; run = run->next)
                covered += run->n;
        if (has_runs && covered == c->n) /* the base is the value of no row */
                b.least = b.greatest = c->ended->values[column - TASK_STATUS];
        for (const struct ended_run *run = c->ended; run && has_runs; run = run->next) {
                struct column_run part = ended_run_column(run, column);
                column_bounds_widen_by_run(&b, &part, run->n);
        }
        return b;
}

/* Three loops, which the compiler can vectorise. */
#define PACK(type)                                                                                                     \
        do {                                                                                                           \
                type *packed = (type *)to + row;                                                                       \
                const int64_t *from = run->values;                                                                     \
                uint64_t first = (uint64_t)run->first - base;                                                          \
                if (from)                                                                                              \
                        for (size_t i = 0; i < n; i++)                                                                 \
                                packed[i] = (type)((uint64_t)from[i] - base);                                          \
                else if (run->is_rising)                                                                               \
                        for (size_t i = 0; i < n; i++)                                                                 \
                                packed[i] = (type)(first + i);                                                         \
                else                                                                                                   \
                        for (size_t i = 0; i < n; i++)                                                                 \
                                packed[i] = (type)first;                                                               \
        } while (0)

/* Packs @n values from @row on. @to is aligned to 8. */
static void task_chunk_pack_run(const struct task_chunk *c, size_t column, uint64_t base, const struct column_run *run,
                                size_t row, size_t n, char *to)
{
        switch (c->width[column]) {
        case 1:
                PACK(uint8_t);
                break;
        case 2:
                PACK(uint16_t);
                break;
        case 4:
                PACK(uint32_t);
                break;
        default:
                PACK(uint64_t);
                break;
        }
}

static void task_chunk_pack_column(const struct task_chunk *c, size_t column, int64_t least, char *to)
{
        int64_t read[TASK_CHUNK_ROWS];
        struct column_run all = {.values = c->open[column]};
        size_t covered = 0;
        for (size_t i = 0; i < c->n_started_runs && column < TASK_STATUS; i++) {
                struct column_run part = started_run_column(&c->started[i], column);
                task_chunk_pack_run(c, column, (uint64_t)least, &part, c->started[i].row, c->started[i].n, to);
                covered += c->started[i].n;
        }
        for (const struct ended_run *run = c->ended; run && !all.values && task_column_is_ended(column);
             run = run->next) {
                struct column_run part = ended_run_column(run, column);
                task_chunk_pack_run(c, column, (uint64_t)least, &part, run->row, run->n, to);
                covered += run->n;
        }
        if (covered == c->n)
                return;
        if (!all.values || (c->ended && task_column_is_ended(column))) {
                task_chunk_read_open(c, column, read);
                all.values = read;
        }
        task_chunk_pack_run(c, column, (uint64_t)least, &all, 0, c->n, to);
}

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "task_chunk_get reads the low bytes of values first"
#endif

void task_chunk_list_odd(struct task_chunk *c)
{
        uint16_t odd[TASK_CHUNK_ROWS];
        int64_t status[TASK_CHUNK_ROWS], has_metrics[TASK_CHUNK_ROWS];
        c->n_odd = 0;
        if (c->all_success)
                return;
        task_chunk_read_stored(c, TASK_STATUS, status);
        task_chunk_read_stored(c, TASK_HAS_METRICS, has_metrics);
        for (size_t row = 0; row < c->n; row++)
                if (status[row] != TASK_ROW_SUCCESS || !has_metrics[row])
                        odd[c->n_odd++] = (uint16_t)row;
        c->odd = new_array(uint16_t, c->n_odd);
        memcpy(c->odd, odd, c->n_odd * sizeof(*odd));
}

/* Returns a bit for each column that may have other values than zero. */
static uint64_t task_chunk_filled_columns(const struct task_chunk *c)
{
        uint64_t filled = ((uint64_t)1 << TASK_STATUS) - 1;
        _Static_assert(TASK_COLUMNS <= 64, "a bit for each column");
        for (const struct ended_run *run = c->ended; run; run = run->next)
                filled |= run->filled << TASK_STATUS;
        for (size_t i = TASK_STATUS; i < TASK_COLUMNS; i++)
                filled |= (uint64_t)(c->open[i] != NULL) << i;
        return filled;
}

void task_chunk_seal(struct task_chunk *c)
{
        int64_t bases[TASK_COLUMNS]; /* c->base still belongs to the open columns */
        uint64_t filled = task_chunk_filled_columns(c);
        size_t bytes = 0;
        for (size_t i = 0; i < TASK_COLUMNS; i++) {
                struct column_bounds b = {0, 0};
                if (filled >> i & 1)
                        b = task_chunk_bounds(c, i);
                bases[i] = b.least;
                c->greatest[i] = b.greatest;
                c->width[i] = task_chunk_width((uint64_t)b.greatest - (uint64_t)b.least);
                bytes = (bytes + 7) & ~(size_t)7;
                c->place[i] = (uint32_t)bytes;
                bytes += (size_t)c->width[i] * c->n;
        }
        c->all_success = c->width[TASK_STATUS] == 0 && bases[TASK_STATUS] == TASK_ROW_SUCCESS &&
                         c->width[TASK_HAS_METRICS] == 0 && bases[TASK_HAS_METRICS];
        task_chunk_list_odd(c);
        c->packed = mem_alloc(bytes + 8);
        for (size_t i = 0; i < TASK_COLUMNS; i++) {
                if (c->width[i])
                        task_chunk_pack_column(c, i, bases[i], c->packed + c->place[i]);
                free(c->open[i]);
                c->open[i] = NULL;
        }
        task_chunk_free_started(c);
        task_chunk_free_ended(c);
        memcpy(c->base, bases, sizeof(bases));
        c->rising = 0;
        c->is_sealed = true;
        c->room = c->n;
        c->bytes = sizeof(*c) + bytes + 8 + (c->odd ? c->n_odd * sizeof(*c->odd) : 0) +
                   (c->removed ? TASK_CHUNK_ROWS / 8 : 0);
}

void task_chunk_unseal(struct task_chunk *c)
{
        for (size_t i = 0; i < TASK_COLUMNS; i++) {
                if (!c->width[i] && !c->base[i])
                        continue;
                int64_t *values = new_array(int64_t, c->n);
                task_chunk_read(c, (enum task_column)i, values);
                c->open[i] = values;
        }
        memset(c->base, 0, sizeof(c->base)); /* all columns with values have arrays */
        free(c->packed);
        c->packed = NULL;
        free(c->odd);
        c->odd = NULL;
        c->is_sealed = c->all_success = c->has_finish = false;
        c->bytes = sizeof(*c) + (size_t)c->n * sizeof(int64_t) * TASK_COLUMNS;
}

int64_t task_chunk_get(const struct task_chunk *c, size_t row, enum task_column column)
{
        if (!c->is_sealed && c->started && column < TASK_STATUS) {
                const struct started_run *run = task_chunk_find_started(c, row);
                struct column_run part = started_run_column(run, column);
                return column_run_value(&part, row - run->row);
        }
        if (!c->is_sealed) {
                const struct ended_run *run = task_column_is_ended(column) ? task_chunk_find_ended(c, row) : NULL;
                if (run) {
                        struct column_run part = ended_run_column(run, column);
                        return part.values ? part.values[row - run->row] : part.first;
                }
                return c->open[column] ? c->open[column][row] : task_chunk_expected(c, row, column);
        }
        uint64_t value = 0;
        memcpy(&value, c->packed + c->place[column] + row * c->width[column], c->width[column]);
        return (int64_t)((uint64_t)c->base[column] + value);
}

#define UNPACK(type)                                                                                                   \
        do {                                                                                                           \
                const type *from = (const type *)(c->packed + c->place[column]);                                       \
                for (size_t i = 0; i < n; i++)                                                                         \
                        values[i] = (int64_t)((uint64_t)c->base[column] + from[i * step]);                             \
        } while (0)

/* Inlined with a step of 1, it has loops that the compiler can vectorise. */
static inline void task_chunk_unpack(const struct task_chunk *c, enum task_column column, size_t step, size_t n,
                                     int64_t *values)
{
        switch (c->width[column]) {
        case 0:
                for (size_t i = 0; i < n; i++)
                        values[i] = c->base[column];
                break;
        case 1:
                UNPACK(uint8_t);
                break;
        case 2:
                UNPACK(uint16_t);
                break;
        case 4:
                UNPACK(uint32_t);
                break;
        default:
                UNPACK(uint64_t);
                break;
        }
}

void task_chunk_read_stored(const struct task_chunk *c, enum task_column column, int64_t *values)
{
        if (c->is_sealed)
                task_chunk_unpack(c, column, 1, c->n, values);
        else
                task_chunk_read_open(c, column, values);
}

size_t task_chunk_read_each(const struct task_chunk *c, enum task_column column, size_t step, int64_t *values)
{
        size_t n = (c->n + step - 1) / step;
        if (c->is_sealed) {
                task_chunk_unpack(c, column, step, n, values);
                return n;
        }
        task_chunk_read_open(c, column, values);
        for (size_t i = 0; i < n; i++)
                values[i] = values[i * step];
        return n;
}
