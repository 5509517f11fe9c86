/* The columns of tasks: values come back after packing, and selection equals sorting. */
#include "status/columns/task_columns.h"

#include "base/mem.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static uint64_t random_state;
static uint64_t one_fails_of = 8;

static uint64_t next_random(void)
{
        random_state = random_state * 6364136223846793005u + 1442695040888963407u;
        return random_state >> 33;
}

/* A task as the tests remember it. */
struct known_task {
        struct task_end end;
        enum task_row_status status;
        bool removed;
};

static struct task_end make_end(int64_t id, int shape)
{
        struct task_end e = {.info = {.id = id,
                                      .launch_ms = 1700000000000 + id,
                                      .index = (int32_t)id % 700,
                                      .partition = (int32_t)id % 700,
                                      .attempt = (int32_t)(next_random() % 3),
                                      .locality = (uint8_t)(next_random() % 5),
                                      .speculative = next_random() % 9 == 0},
                             .state = next_random() % one_fails_of ? TASK_SUCCEEDED : TASK_FAILED};
        e.finish_ms = e.info.launch_ms + (int64_t)(next_random() % 5000);
        int64_t *values = (int64_t *)&e.metrics;
        for (size_t i = 0; i < sizeof(e.metrics) / sizeof(int64_t); i++)
                values[i] = shape == 0   ? (int64_t)(next_random() % 100)
                            : shape == 1 ? 7
                            : shape == 2 ? (int64_t)(next_random() << (next_random() % 30))
                                         : (int64_t)(470000000 + next_random() % 5000000);
        return e;
}

/* Fills @t with @n tasks, of which some run at the end. */
static struct known_task *fill(struct task_columns *t, size_t n, int shape, bool all_end)
{
        struct known_task *known = new_array(struct known_task, n);
        for (size_t i = 0; i < n; i++) {
                known[i].end = make_end((int64_t)(1000 + i * 2), shape);
                assert_int_equal(task_columns_start(t, &known[i].end.info, (uint32_t)(i % 3)), i);
        }
        for (size_t i = 0; i < n; i++) {
                struct known_task *k = &known[i];
                if (!all_end && i % 97 == 5)
                        continue;
                size_t row = task_columns_find(t, k->end.info.id);
                assert_int_equal(row, i);
                k->status = k->end.state == TASK_SUCCEEDED ? TASK_ROW_SUCCESS : TASK_ROW_FAILED;
                task_columns_end(t, row, &k->end, k->status);
        }
        task_columns_finish(t);
        return known;
}

static void check_values(const struct task_columns *t, const struct known_task *known, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                const struct known_task *k = &known[i];
                assert_int_equal(task_columns_is_removed(t, i), k->removed);
                if (k->removed)
                        continue;
                assert_int_equal(task_columns_value(t, i, TASK_ID), k->end.info.id);
                assert_int_equal(task_columns_value(t, i, TASK_LAUNCH), k->end.info.launch_ms);
                assert_int_equal(task_columns_value(t, i, TASK_EXECUTOR), i % 3);
                assert_int_equal(task_columns_value(t, i, TASK_STATUS), k->status);
                if (k->status == TASK_ROW_RUNNING)
                        continue;
                assert_int_equal(task_columns_value(t, i, TASK_DURATION), k->end.finish_ms - k->end.info.launch_ms);
                for (size_t m = 0; m < sizeof(k->end.metrics) / sizeof(int64_t); m++)
                        assert_int_equal(task_columns_value(t, i, (enum task_column)(TASK_METRICS + m)),
                                         ((const int64_t *)&k->end.metrics)[m]);
        }
}

static void returns_values_after_packing(void **state)
{
        static const size_t sizes[] = {1, 7, 1023, 1024, 1025, 5000};
        for (size_t i = 0; i < ARRAY_SIZE(sizes) * 4; i++) {
                CASE_LABEL("%zu tasks of shape %zu", sizes[i / 4], i % 4);
                struct task_columns t = {0};
                struct known_task *known = fill(&t, sizes[i / 4], (int)(i % 4), i & 1);
                check_values(&t, known, sizes[i / 4]);
                /* A task may end again after its chunk was packed. */
                known[0].end.metrics.result_size = 123456789012345;
                known[0].status = TASK_ROW_FAILED;
                task_columns_end(&t, 0, &known[0].end, TASK_ROW_FAILED);
                check_values(&t, known, sizes[i / 4]);
                free(known);
                task_columns_deinit(&t);
        }
}

static void takes_few_bytes_for_a_task(void **state)
{
        struct task_columns t = {0};
        struct known_task *known = fill(&t, 10240, 1, true);
        size_t open = t.bytes;
        for (size_t i = 0; i < 10240; i++)
                assert_int_not_equal(task_columns_find(&t, known[i].end.info.id), SIZE_MAX);
        assert_true(open < 10240 * 20);
        free(known);
        task_columns_deinit(&t);
}

static int compare_values(const void *a, const void *b)
{
        int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
        return (x > y) - (x < y);
}

static int64_t column_of_end(const struct task_end *e, enum task_column column)
{
        const struct task_metrics *m = &e->metrics;
        switch (column) {
        case TASK_SHUFFLE_READ_BYTES:
                return m->shuffle_read.remote_bytes + m->shuffle_read.local_bytes;
        case TASK_BLOCKS_FETCHED:
                return m->shuffle_read.remote_blocks + m->shuffle_read.local_blocks;
        case TASK_SCHEDULER_DELAY:
                return MAX(e->finish_ms - e->info.launch_ms - m->executor_run_ms - m->executor_deserialize_ms -
                                   m->result_serialization_ms,
                           (int64_t)0);
        default:
                return m->executor_run_ms;
        }
}

/* Some chunks hold equal values, others many: both are read without unpacking rows. */
static void quantiles_of_successful_tasks_equal_those_of_sorted_values(void **state)
{
        static const double probabilities[] = {0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0};
        static const enum task_column columns[] = {TASK_SHUFFLE_READ_BYTES, TASK_BLOCKS_FETCHED, TASK_SCHEDULER_DELAY,
                                                   TASK_METRIC(executor_run_ms)};
        for (int shape = 0; shape < 4; shape++) {
                enum { N = 4096 };
                struct task_columns t = {0};
                struct task_end *ends = new_array(struct task_end, N);
                for (size_t i = 0; i < N; i++) {
                        ends[i] = make_end((int64_t)i, i / 1024 % 2 ? 1 : shape);
                        ends[i].state = TASK_SUCCEEDED;
                        task_columns_start(&t, &ends[i].info, 0);
                }
                for (size_t i = 0; i < N; i++)
                        task_columns_end(&t, i, &ends[i], TASK_ROW_SUCCESS);
                for (size_t c = 0; c < ARRAY_SIZE(columns); c++) {
                        CASE_LABEL("shape %d, column %zu", shape, c);
                        int64_t sorted[N], values[ARRAY_SIZE(probabilities)];
                        for (size_t i = 0; i < N; i++)
                                sorted[i] = column_of_end(&ends[i], columns[c]);
                        qsort(sorted, N, sizeof(sorted[0]), compare_values);
                        assert_int_equal(task_columns_quantiles(&t, columns[c], probabilities, values,
                                                                ARRAY_SIZE(probabilities)),
                                         N);
                        for (size_t q = 0; q < ARRAY_SIZE(probabilities); q++)
                                assert_int_equal(values[q], sorted[MIN((size_t)(probabilities[q] * N), (size_t)N - 1)]);
                }
                free(ends);
                task_columns_deinit(&t);
        }
}

static void quantiles_equal_those_of_sorted_values(void **state)
{
        static const double probabilities[] = {0.5, 0, 0.05, 0.25, 0.75, 0.95, 1.0, 7};
        static const uint64_t failures[] = {8, 100}; /* many and few in each chunk */
        for (int k = 0; k < 8; k++) {
                int shape = k % 4;
                one_fails_of = failures[k / 4];
                CASE_LABEL("shape %d, one task of %d fails", shape, (int)one_fails_of);
                enum { N = 4000 };
                struct task_columns t = {0};
                struct known_task *known = fill(&t, N, shape, shape & 1);
                int64_t sorted[N], values[ARRAY_SIZE(probabilities)];
                size_t n = 0;
                for (size_t i = 0; i < N; i++)
                        if (known[i].status == TASK_ROW_SUCCESS)
                                sorted[n++] = known[i].end.metrics.executor_cpu_ns;
                qsort(sorted, n, sizeof(sorted[0]), compare_values);
                assert_int_equal(task_columns_quantiles(&t, TASK_METRIC(executor_cpu_ns), probabilities, values,
                                                        ARRAY_SIZE(probabilities)),
                                 n);
                for (size_t i = 0; i < ARRAY_SIZE(probabilities); i++)
                        assert_int_equal(values[i], sorted[MIN((size_t)(probabilities[i] * (double)n), n - 1)]);
                free(known);
                task_columns_deinit(&t);
        }
        one_fails_of = 8;
}

static void quantiles_follow_a_task_that_ends_again(void **state)
{
        static const double greatest[] = {1};
        enum { N = 2000 };
        struct task_columns t = {0};
        struct known_task *known = fill(&t, N, 1, true);
        int64_t value;
        size_t row = 0, n = task_columns_quantiles(&t, TASK_METRIC(result_size), greatest, &value, 1);
        while (known[row].status == TASK_ROW_SUCCESS)
                row++;
        known[row].end.metrics.result_size = 99;
        task_columns_end(&t, row, &known[row].end, TASK_ROW_SUCCESS);
        assert_int_equal(task_columns_quantiles(&t, TASK_METRIC(result_size), greatest, &value, 1), n + 1);
        assert_int_equal(value, 99);
        free(known);
        task_columns_deinit(&t);
}

/* With chunks of which all tasks succeeded, and with failures; few rows of a chunk, and many. */
static void pages_hold_the_given_rows_only(void **state)
{
        enum { N = 3000 };
        for (one_fails_of = 8; one_fails_of; one_fails_of = one_fails_of == 8 ? UINT64_MAX : 0) {
                struct task_columns t = {0};
                uint64_t only[N / 64 + 1] = {0};
                size_t rows[104];
                free(fill(&t, N, 0, true));
                only[0] = 1u << 5;
                only[40] = 1u << 7;
                struct task_page page = {.column = TASK_ID, .descending = true, .length = 8, .only = only};
                assert_int_equal(task_columns_page(&t, &page, rows), 2);
                assert_int_equal(rows[0], 40 * 64 + 7);
                assert_int_equal(rows[1], 5);
                only[1] = only[2] = ~(uint64_t)0;
                page.length = 104;
                page.offset = 26;
                page.descending = false;
                assert_int_equal(task_columns_page(&t, &page, rows), 104);
                assert_int_equal(rows[0], 64 + 25);
                assert_int_equal(rows[103], 40 * 64 + 7);
                task_columns_deinit(&t);
        }
        one_fails_of = 8;
}

struct sorted_row {
        int64_t key;
        size_t row;
};

static int compare_rows(const void *a, const void *b)
{
        const struct sorted_row *x = a, *y = b;
        if (x->key != y->key)
                return x->key < y->key ? -1 : 1;
        return (x->row > y->row) - (x->row < y->row);
}

static void pages_equal_those_of_sorted_rows(void **state)
{
        for (int shape = 0; shape < 4; shape++) {
                enum { N = 3000, LENGTH = 37 };
                struct task_columns t = {0};
                struct known_task *known = fill(&t, N, shape, false);
                struct sorted_row sorted[N];
                for (size_t i = 0; i < N; i++) {
                        int64_t v = known[i].end.metrics.executor_run_ms;
                        sorted[i] = (struct sorted_row){known[i].status == TASK_ROW_RUNNING   ? -1
                                                        : known[i].status == TASK_ROW_SUCCESS ? v
                                                                                              : -v - 1,
                                                        i};
                }
                qsort(sorted, N, sizeof(sorted[0]), compare_rows);
                for (size_t offset = 0; offset < N + LENGTH; offset += 13) {
                        CASE_LABEL("shape %d, offset %zu", shape, offset);
                        size_t rows[LENGTH], left = offset < N ? MIN((size_t)LENGTH, N - offset) : 0;
                        struct task_page page = {
                                .column = TASK_METRIC(executor_run_ms), .offset = offset, .length = LENGTH};
                        assert_int_equal(task_columns_page(&t, &page, rows), left);
                        for (size_t i = 0; i < left; i++)
                                assert_int_equal(rows[i], sorted[offset + i].row);
                        page.descending = true;
                        assert_int_equal(task_columns_page(&t, &page, rows), left);
                        for (size_t i = 0; i < left; i++)
                                assert_int_equal(rows[i], sorted[N - 1 - offset - i].row);
                }
                free(known);
                task_columns_deinit(&t);
        }
}

static void pages_hold_the_wanted_statuses(void **state)
{
        struct task_columns t = {0};
        struct known_task *known = fill(&t, 500, 0, false);
        size_t rows[500], n = 0;
        struct task_page page = {.column = TASK_ID, .length = 500, .statuses = 1u << TASK_ROW_FAILED};
        size_t found = task_columns_page(&t, &page, rows);
        for (size_t i = 0; i < 500; i++)
                if (known[i].status == TASK_ROW_FAILED)
                        assert_int_equal(rows[n++], i);
        assert_int_equal(found, n);
        free(known);
        task_columns_deinit(&t);
}

static int compare_ages(const void *a, const void *b)
{
        const struct known_task *x = *(struct known_task *const *)a, *y = *(struct known_task *const *)b;
        if (x->end.finish_ms != y->end.finish_ms)
                return x->end.finish_ms < y->end.finish_ms ? -1 : 1;
        return (x > y) - (x < y);
}

static void removes_the_oldest_ends_first(void **state)
{
        enum { N = 5000 };
        struct task_columns t = {0};
        struct known_task *known = fill(&t, N, 0, false), *ended[N];
        size_t n = 0, before = t.bytes;
        for (size_t i = 0; i < N; i++)
                if (known[i].status != TASK_ROW_RUNNING)
                        ended[n++] = &known[i];
        qsort(ended, n, sizeof(ended[0]), compare_ages);
        for (size_t done = 0; done < 4500; done += 500) {
                task_columns_remove_oldest(&t, 500, true, NULL, NULL);
                for (size_t i = 0; i < 500; i++)
                        ended[done + i]->removed = true;
                check_values(&t, known, N);
        }
        assert_int_equal(t.n_retained, 500);
        assert_int_equal(task_columns_find(&t, ended[0]->end.info.id), SIZE_MAX);
        /* Tasks that run still end. */
        task_columns_end(&t, 5, &known[5].end, TASK_ROW_SUCCESS);
        known[5].status = TASK_ROW_SUCCESS;
        check_values(&t, known, N);
        /* Without running ones kept, they go first. */
        task_columns_remove_oldest(&t, 1, false, NULL, NULL);
        known[5 + 97].removed = true;
        check_values(&t, known, N);
        assert_true(before > 0);
        free(known);
        task_columns_deinit(&t);
}

/* Whole chunks go at once where their times allow it: the rest is the same as if rows were compared one by one. */
static void removes_whole_chunks_and_the_rows_between(void **state)
{
        enum { N = 20000 };
        for (int64_t spread = 1; spread <= 4000; spread = spread * 5 + 1) {
                struct task_columns t = {0};
                struct known_task *known = new_array(struct known_task, N), **order = new_array(struct known_task *, N);
                for (size_t i = 0; i < N; i++) {
                        struct task_info info = {.id = (int64_t)i, .launch_ms = (int64_t)i / 300};
                        known[i].end = (struct task_end){.info = info, .state = TASK_SUCCEEDED};
                        known[i].end.finish_ms = info.launch_ms + (int64_t)(next_random() % (uint64_t)spread) / 50;
                        order[i] = &known[i];
                        task_columns_start(&t, &info, 0);
                }
                for (size_t i = 0; i < N; i++)
                        task_columns_end(&t, i, &known[i].end, TASK_ROW_SUCCESS);
                qsort(order, N, sizeof(order[0]), compare_ages);
                for (size_t done = 0, n = 700; done + n <= N; done += n, n = 1 + next_random() % 6000) {
                        task_columns_remove_oldest(&t, n, true, NULL, NULL);
                        for (size_t i = 0; i < n; i++)
                                order[done + i]->removed = true;
                        for (size_t i = 0; i < N; i++)
                                assert_int_equal(task_columns_is_removed(&t, i), known[i].removed);
                        assert_int_equal(t.n_retained, N - done - n);
                }
                free(known);
                free(order);
                task_columns_deinit(&t);
        }
}

/* A damaged log may hold any times: the greatest launch plus the greatest duration need not be a number. */
static void removes_the_oldest_although_sums_of_bounds_overflow(void **state)
{
        enum { N = 3 * TASK_BLOCK_ROWS, N_REMOVED = 2000 };
        struct task_columns t = {0};
        struct known_task *known = new_array(struct known_task, N), *order[N];
        for (size_t i = 0; i < N; i++) {
                struct task_info info = {.id = (int64_t)i, .launch_ms = i % 700 == 3 ? INT64_MAX - 100 : (int64_t)i};
                known[i].end = (struct task_end){.info = info, .state = TASK_SUCCEEDED};
                known[i].end.finish_ms = info.launch_ms + (i % 500 == 7 ? INT64_MAX / 2 : (int64_t)(i % 50));
                order[i] = &known[i];
                task_columns_start(&t, &info, 0);
        }
        for (size_t i = 0; i < N; i++)
                task_columns_end(&t, i, &known[i].end, TASK_ROW_SUCCESS);
        qsort(order, N, sizeof(order[0]), compare_ages);
        task_columns_remove_oldest(&t, N_REMOVED, true, NULL, NULL);
        for (size_t i = 0; i < N_REMOVED; i++)
                order[i]->removed = true;
        for (size_t i = 0; i < N; i++)
                assert_int_equal(task_columns_is_removed(&t, i), known[i].removed);
        free(known);
        task_columns_deinit(&t);
}

static void finds_tasks_whose_ids_do_not_grow(void **state)
{
        struct task_columns t = {0};
        for (int64_t i = 0; i < 3000; i++)
                task_columns_start(&t, &(struct task_info){.id = i * 7919 % 3001}, 0);
        for (int64_t i = 0; i < 3000; i++)
                assert_int_equal(task_columns_find(&t, i * 7919 % 3001), i);
        assert_int_equal(task_columns_find(&t, 5000), SIZE_MAX);
        task_columns_deinit(&t);
}

/* ----------------------------------------------------------------------------------------------- many tasks */

enum { TASKS = 50000, LENGTH = 50 }; /* so many that a sample is taken */

static uint64_t random_below(uint64_t n)
{
        return next_random() % n;
}

static int64_t uniform_value(int i)
{
        return (int64_t)random_below(1000000);
}

static int64_t rising_value(int i)
{
        return 3 * (int64_t)i;
}

static int64_t falling_value(int i)
{
        return 1000000 - 3 * (int64_t)i;
}

static int64_t few_values(int i)
{
        return (int64_t)random_below(5) * 100000;
}

static int64_t mostly_zero_value(int i)
{
        return random_below(50) ? 0 : (int64_t)random_below(INT64_C(1) << 40);
}

/* A task is a million times as long as the others. */
static int64_t straggling_value(int i)
{
        return i == TASKS / 3 ? INT64_C(5000000000) : 5000 + (int64_t)random_below(2000);
}

/* Two groups far apart, each in few of a sample's buckets. */
static int64_t grouped_value(int i)
{
        return (i % 2 ? INT64_C(1) << 45 : 0) + (int64_t)random_below(3000);
}

static int64_t wide_value(int i)
{
        return (int64_t)(random_below(1u << 31) << random_below(32)) - (i % 3 ? 0 : INT64_C(1) << 62);
}

static int64_t equal_value(int i)
{
        return 7;
}

static const struct {
        const char *label;
        int64_t (*value)(int i);
} distributions[] = {
        {"uniform", uniform_value},
        {"rising", rising_value},
        {"falling", falling_value},
        {"few values", few_values},
        {"mostly zero", mostly_zero_value},
        {"a straggler", straggling_value},
        {"two groups", grouped_value},
        {"wide", wide_value},
        {"equal", equal_value},
};

/* The first VALUE_COLUMNS of them depend on the distribution. */
static const enum task_column columns[] = {TASK_METRIC(executor_cpu_ns), TASK_SHUFFLE_READ_BYTES, TASK_SCHEDULER_DELAY,
                                           TASK_INDEX, TASK_DURATION};
enum { VALUE_COLUMNS = 2 };

struct large_stage {
        struct task_columns columns;
        struct task_end *ends;
};

/* Some thousand tasks run on one executor only. */
static uint32_t large_stage_executor(int i)
{
        return i > TASKS / 2 && i < TASKS / 2 + 3000 ? 4 : (uint32_t)i * 5 % 7;
}

/* The order of the executors' names. */
static const int64_t executor_ranks[] = {3, 0, 5, 1, 6, 2, 2};

/* Every @fails-th task has failed; 0: none. */
static void large_stage_init(struct large_stage *s, int64_t (*value)(int i), int fails)
{
        *s = (struct large_stage){.ends = new_array(struct task_end, TASKS)};
        for (int i = 0; i < TASKS; i++) {
                struct task_end *e = &s->ends[i];
                int64_t v = value(i);
                *e = (struct task_end){.info = {.id = i, .index = TASKS - i, .launch_ms = 1700000000000 + i / 10},
                                       .state = fails && i % fails == 3 ? TASK_FAILED : TASK_SUCCEEDED,
                                       .metrics = {.executor_cpu_ns = v,
                                                   .executor_run_ms = (int64_t)random_below(3000),
                                                   .shuffle_read = {.remote_bytes = v / 2, .local_bytes = i % 10}}};
                e->finish_ms = e->info.launch_ms + 10 + (int64_t)random_below(9000);
                task_columns_start(&s->columns, &e->info, large_stage_executor(i));
                task_columns_end(&s->columns, (size_t)i, e,
                                 e->state == TASK_SUCCEEDED ? TASK_ROW_SUCCESS : TASK_ROW_FAILED);
        }
        task_columns_finish(&s->columns);
}

static void large_stage_deinit(struct large_stage *s)
{
        task_columns_deinit(&s->columns);
        free(s->ends);
}

static int64_t large_stage_value(const struct task_end *e, enum task_column column)
{
        switch ((int)column) {
        case TASK_SCHEDULER_DELAY:
                return MAX(e->finish_ms - e->info.launch_ms - e->metrics.executor_run_ms, (int64_t)0);
        case TASK_SHUFFLE_READ_BYTES:
                return e->metrics.shuffle_read.remote_bytes + e->metrics.shuffle_read.local_bytes;
        case TASK_INDEX:
                return e->info.index;
        case TASK_DURATION:
                return e->finish_ms - e->info.launch_ms;
        default:
                return e->metrics.executor_cpu_ns;
        }
}

/* The value by which a page sorts. */
static int64_t large_stage_order(const struct task_end *e, enum task_column column)
{
        if (column == TASK_EXECUTOR)
                return executor_ranks[large_stage_executor((int)e->info.id)];
        int64_t value = large_stage_value(e, column);
        if (e->state == TASK_SUCCEEDED || column == TASK_INDEX || column == TASK_DURATION ||
            column == TASK_SCHEDULER_DELAY)
                return value;
        return column == TASK_SHUFFLE_READ_BYTES ? -value - 2 : -value - 1;
}

static void check_quantiles(const struct large_stage *s, enum task_column column, int64_t *sorted)
{
        static const double probabilities[] = {0, 0.0001, 0.05, 0.25, 0.5, 0.75, 0.95, 0.9999, 1};
        int64_t values[ARRAY_SIZE(probabilities)];
        size_t n = 0;
        for (int i = 0; i < TASKS; i++)
                if (s->ends[i].state == TASK_SUCCEEDED)
                        sorted[n++] = large_stage_value(&s->ends[i], column);
        qsort(sorted, n, sizeof(*sorted), compare_values);
        assert_int_equal(task_columns_quantiles(&s->columns, column, NULL, NULL, 0), n);
        assert_int_equal(task_columns_quantiles(&s->columns, column, probabilities, values, ARRAY_SIZE(probabilities)),
                         n);
        for (size_t q = 0; q < ARRAY_SIZE(probabilities); q++)
                if (values[q] != sorted[MIN((size_t)(probabilities[q] * (double)n), n - 1)])
                        fail_msg("column %d, quantile %f: %lld instead of %lld", column, probabilities[q],
                                 (long long)values[q],
                                 (long long)sorted[MIN((size_t)(probabilities[q] * (double)n), n - 1)]);
}

static void check_pages(const struct large_stage *s, enum task_column column, struct sorted_row *sorted)
{
        static const size_t offsets[] = {0, 1, 777, TASKS / 2, TASKS - LENGTH - 1, TASKS - 3};
        size_t rows[LENGTH];
        for (int i = 0; i < TASKS; i++)
                sorted[i] = (struct sorted_row){large_stage_order(&s->ends[i], column), (size_t)i};
        qsort(sorted, TASKS, sizeof(*sorted), compare_rows);
        for (size_t k = 0; k < 2 * ARRAY_SIZE(offsets); k++) {
                const struct task_page page = {.column = column,
                                               .offset = offsets[k / 2],
                                               .length = LENGTH,
                                               .descending = k % 2,
                                               .rank = column == TASK_EXECUTOR ? executor_ranks : NULL};
                size_t n = MIN((size_t)LENGTH, TASKS - page.offset);
                assert_int_equal(task_columns_page(&s->columns, &page, rows), n);
                for (size_t i = 0; i < n; i++) {
                        size_t at = page.descending ? TASKS - 1 - page.offset - i : page.offset + i;
                        if (rows[i] != sorted[at].row)
                                fail_msg("column %d, page %zu%s: row %zu instead of %zu at %zu", column, page.offset,
                                         page.descending ? " descending" : "", rows[i], sorted[at].row, i);
                }
        }
}

static void selections_of_many_tasks_equal_sorting(void **state)
{
        static const int failures[] = {0, 700, 3}; /* none, few in each chunk, and many */
        int64_t *values = new_array(int64_t, TASKS);
        struct sorted_row *rows = new_array(struct sorted_row, TASKS);
        for (size_t i = 0; i < ARRAY_SIZE(distributions) * ARRAY_SIZE(failures); i++) {
                struct large_stage s;
                const bool first = i < ARRAY_SIZE(failures); /* distribution */
                CASE_LABEL("%s, of %d tasks one fails", distributions[i / ARRAY_SIZE(failures)].label,
                           failures[i % ARRAY_SIZE(failures)]);
                large_stage_init(&s, distributions[i / ARRAY_SIZE(failures)].value, failures[i % ARRAY_SIZE(failures)]);
                for (size_t c = 0; c < (first ? ARRAY_SIZE(columns) : VALUE_COLUMNS); c++) {
                        check_quantiles(&s, columns[c], values);
                        check_pages(&s, columns[c], rows);
                }
                if (first)
                        check_pages(&s, TASK_EXECUTOR, rows);
                large_stage_deinit(&s);
        }
        free(values);
        free(rows);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(returns_values_after_packing),
                cmocka_unit_test(takes_few_bytes_for_a_task),
                cmocka_unit_test(quantiles_equal_those_of_sorted_values),
                cmocka_unit_test(quantiles_follow_a_task_that_ends_again),
                cmocka_unit_test(pages_hold_the_given_rows_only),
                cmocka_unit_test(quantiles_of_successful_tasks_equal_those_of_sorted_values),
                cmocka_unit_test(selections_of_many_tasks_equal_sorting),
                cmocka_unit_test(pages_equal_those_of_sorted_rows),
                cmocka_unit_test(pages_hold_the_wanted_statuses),
                cmocka_unit_test(removes_the_oldest_ends_first),
                cmocka_unit_test(removes_whole_chunks_and_the_rows_between),
                cmocka_unit_test(removes_the_oldest_although_sums_of_bounds_overflow),
                cmocka_unit_test(finds_tasks_whose_ids_do_not_grow),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
