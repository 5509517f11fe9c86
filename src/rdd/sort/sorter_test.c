/* Compares the sorter with qsort. Rows carry their insertion number, which breaks ties in the reference. So the test
 * also checks the order of equal keys. */
#include "rdd/sort/sorter.h"

#include "base/error.h"
#include "base/mem.h"
#include "rdd/pipeline/page_loan.h"
#include "store/spill_space.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static uint64_t random_state;

static uint64_t random_u64(void)
{
        uint64_t z = random_state += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
}

/* ------------------------------------------------------------------------------------------------- reference */

struct sorter_row {
        char *bytes;
        size_t len;
        int64_t i64;
        double f64;
        int64_t number;
};

static uint8_t reference_kind;
static bool reference_descending;

/* A plain version of Java's Double.compare. */
static int compare_doubles(double a, double b)
{
        if (isnan(a) || isnan(b))
                return isnan(a) ? !isnan(b) : -1;
        if (a != b)
                return a < b ? -1 : 1;
        return (signbit(a) ? 0 : 1) - (signbit(b) ? 0 : 1);
}

static int row_compare(const void *x, const void *y)
{
        const struct sorter_row *a = x, *b = y;
        int r;
        if (reference_kind == FST_KIND_I64)
                r = (a->i64 > b->i64) - (a->i64 < b->i64);
        else if (reference_kind == FST_KIND_F64)
                r = compare_doubles(a->f64, b->f64);
        else
                r = fst_bytes_compare((fst_bytes){a->bytes, a->len}, (fst_bytes){b->bytes, b->len});
        if (reference_descending)
                r = -r;
        return r ? r : (a->number > b->number) - (a->number < b->number);
}

/* ----------------------------------------------------------------------------------------------- the fixture */

struct sorter_fixture {
        struct memory_manager *manager;
        struct memory_task *memory;
        struct spill_space space;
        struct sorter *s;
};

static void fixture_init(struct sorter_fixture *f, size_t pool, bool may_spill)
{
        struct fst_error error = FST_ERROR_INIT;
        *f = (struct sorter_fixture){.manager = memory_manager_new(pool, 0.5), .s = sorter_new()};
        f->memory = memory_task_new(f->manager);
        f->space.spill_codec = CODEC_LZ4;
        if (may_spill && disk_dirs_new("/tmp", 4, &f->space.dirs, &error) != 0)
                fail_msg("%s", error_message(&error));
        random_state = 1;
}

static void fixture_deinit(struct sorter_fixture *f)
{
        sorter_reset(f->s);
        assert_int_equal(memory_manager_execution_used(f->manager), 0);
        sorter_free(f->s);
        memory_task_free(f->memory);
        memory_manager_free(f->manager);
        disk_dirs_free(f->space.dirs);
}

static void start(struct sorter_fixture *f, fst_type type, enum fst_order order)
{
        struct fst_error error = FST_ERROR_INIT;
        struct sorter_options options = {
                .memory = f->memory, .type = type, .order = order, .spill = f->space.dirs ? &f->space : NULL};
        if (sorter_start(f->s, &options, &error) != 0)
                fail_msg("%s", error_message(&error));
}

static void add(struct sorter_fixture *f, const fst_batch *batch)
{
        struct fst_error error = FST_ERROR_INIT;
        if (sorter_add_batch(f->s, batch, &error) != 0)
                fail_msg("%s", error_message(&error));
}

static void expect(struct sorter_fixture *f, const struct sorter_row *rows, size_t n)
{
        struct fst_error error = FST_ERROR_INIT;
        fst_batch batch;
        size_t at = 0;
        if (sorter_finish(f->s, &error) != 0)
                fail_msg("%s", error_message(&error));
        for (;;) {
                if (sorter_next(f->s, &batch, &error) != 0)
                        fail_msg("%s", error_message(&error));
                if (!batch.rows)
                        break;
                for (uint32_t i = 0; i < batch.rows; i++, at++) {
                        const struct sorter_row *row = &rows[at];
                        assert_true(at < n);
                        assert_int_equal(batch.value.i64[i], row->number);
                        if (batch.type.key == FST_KIND_I64)
                                assert_int_equal(batch.key.i64[i], row->i64);
                        else if (batch.type.key == FST_KIND_F64)
                                assert_memory_equal(&batch.key.f64[i], &row->f64, sizeof(double));
                        else if (batch.type.key == FST_KIND_FIXED)
                                assert_memory_equal(batch.key.fixed + i * row->len, row->bytes, row->len);
                        else
                                assert_true(fst_bytes_equal(batch.key.bytes[i], (fst_bytes){row->bytes, row->len}));
                }
        }
        assert_int_equal(at, n);
        assert_int_equal(sorter_stats(f->s).rows, n);
}

/* Numbers @rows and sorts them by a key of @type, in both orders. */
static void sort_case(struct sorter_fixture *f, fst_type type, struct sorter_row *rows, size_t n)
{
        struct sorter_row *copy = mem_alloc(MAX(n, (size_t)1) * sizeof(*copy));
        char *fixed = mem_alloc(FST_BATCH_ROWS * (size_t)MAX(type.key_size, 1u));
        type.value = FST_KIND_I64;
        type.value_size = 8;
        for (size_t i = 0; i < n; i++)
                rows[i].number = (int64_t)i;
        for (int descending = 0; descending < 2; descending++) {
                fst_bytes bytes[FST_BATCH_ROWS];
                int64_t i64[FST_BATCH_ROWS], numbers[FST_BATCH_ROWS];
                double f64[FST_BATCH_ROWS];
                fst_column key = {.bytes = bytes};
                if (type.key == FST_KIND_I64)
                        key.i64 = i64;
                else if (type.key == FST_KIND_F64)
                        key.f64 = f64;
                else if (type.key == FST_KIND_FIXED)
                        key.fixed = fixed;
                start(f, type, descending ? FST_DESCENDING : FST_ASCENDING);
                for (size_t done = 0; done < n;) {
                        uint32_t count = (uint32_t)MIN(n - done, (size_t)1 + random_u64() % FST_BATCH_ROWS);
                        for (uint32_t i = 0; i < count; i++) {
                                const struct sorter_row *row = &rows[done + i];
                                bytes[i] = (fst_bytes){row->bytes, row->len};
                                i64[i] = row->i64;
                                f64[i] = row->f64;
                                numbers[i] = row->number;
                                if (type.key == FST_KIND_FIXED)
                                        memcpy(fixed + i * type.key_size, row->bytes, type.key_size);
                        }
                        add(f, &(fst_batch){.rows = count, .type = type, .key = key, .value.i64 = numbers});
                        done += count;
                }
                memcpy(copy, rows, n * sizeof(*rows));
                reference_kind = type.key;
                reference_descending = descending;
                qsort(copy, n, sizeof(*copy), row_compare);
                expect(f, copy, n);
                sorter_reset(f->s);
        }
        free(fixed);
        free(copy);
}

/* Rows with keys of @shortest … @longest bytes: the first @common bytes are equal, the others are @letters letters. */
static struct sorter_row *bytes_rows(size_t n, size_t shortest, size_t longest, size_t common, unsigned letters)
{
        struct sorter_row *rows = mem_zero_array(MAX(n, (size_t)1), sizeof(*rows));
        for (size_t i = 0; i < n; i++) {
                rows[i].len = shortest + random_u64() % (longest - shortest + 1);
                rows[i].bytes = mem_alloc(MAX(rows[i].len, (size_t)1));
                for (size_t j = 0; j < rows[i].len; j++)
                        rows[i].bytes[j] = j < common ? 'c' : (char)(random_u64() % letters);
        }
        return rows;
}

static void rows_free(struct sorter_row *rows, size_t n)
{
        for (size_t i = 0; i < n; i++)
                free(rows[i].bytes);
        free(rows);
}

static void bytes_case(struct sorter_fixture *f, size_t n, size_t shortest, size_t longest, size_t common,
                       unsigned letters)
{
        struct sorter_row *rows = bytes_rows(n, shortest, longest, common, letters);
        sort_case(f, FST_BYTES, rows, n);
        rows_free(rows, n);
}

static void numbers_case(struct sorter_fixture *f, size_t n)
{
        static const double special[] = {0.0, -0.0, NAN, INFINITY, -INFINITY, 1, -1, 5e-324, -5e-324, 1.5};
        static const int64_t extreme[] = {INT64_MIN, INT64_MAX, 0, -1, 1, INT64_MIN + 1};
        struct sorter_row *rows = mem_zero_array(MAX(n, (size_t)1), sizeof(*rows));
        for (size_t i = 0; i < n; i++) {
                uint64_t x = random_u64();
                rows[i].i64 = i % 3 == 0 ? extreme[x % 6] : i % 3 == 1 ? (int64_t)x : (int64_t)(x % 100) - 50;
                rows[i].f64 = i % 3 == 0   ? special[x % 10]
                              : i % 3 == 1 ? ldexp((double)(int64_t)x, -40)
                                           : (double)(x % 7);
        }
        sort_case(f, FST_I64, rows, n);
        sort_case(f, FST_F64, rows, n);
        free(rows);
}

static void all_kinds(struct sorter_fixture *f, size_t n)
{
        numbers_case(f, n);
        bytes_case(f, n, 0, 20, 0, 256);
        bytes_case(f, n, 7, 9, 0, 2);    /* lengths around the prefix */
        bytes_case(f, n, 0, 17, 0, 1);   /* zeros of many lengths */
        bytes_case(f, n, 15, 17, 12, 3); /* equal prefixes */
        bytes_case(f, n, 12, 12, 12, 1); /* all equal */
        bytes_case(f, n, 0, 100, 70, 4);
        bytes_case(f, n, 0, 0, 0, 1); /* all empty */
        for (uint32_t size = 1; size <= 33; size = size * 2 + 1) {
                struct sorter_row *rows = bytes_rows(n, size, size, size / 2, 3);
                sort_case(f, FST_FIXED(size), rows, n);
                rows_free(rows, n);
        }
}

static void sorts_in_memory(void **state)
{
        static const size_t sizes[] = {0, 1, 2, 19, 20, 21, 22, 100, 1023, 1024, 1025, 5000};
        struct sorter_fixture f;
        fixture_init(&f, 256 << 20, false);
        for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
                all_kinds(&f, sizes[i]);
        assert_int_equal(sorter_stats(f.s).spills, 0);
        bytes_case(&f, 200000, 0, 12, 0, 100);
        fixture_deinit(&f);
}

/* Each key is a prefix of the next: they separate one at a time. */
static void sorts_keys_that_are_prefixes_of_the_next(void **state)
{
        enum { ROWS = 700 };
        struct sorter_fixture f;
        struct sorter_row *rows = mem_zero_array(ROWS, sizeof(*rows));
        fixture_init(&f, 256 << 20, false);
        for (size_t i = 0; i < ROWS; i++) {
                size_t steps = (i * 397) % ROWS;
                rows[i].len = steps * 8 + 8;
                rows[i].bytes = mem_zero(rows[i].len);
                rows[i].bytes[rows[i].len - 1] = 1;
        }
        sort_case(&f, FST_BYTES, rows, ROWS);
        for (size_t i = 0; i < ROWS; i++)
                rows[i].bytes[rows[i].len - 1] = 0;
        sort_case(&f, FST_BYTES, rows, ROWS);
        rows_free(rows, ROWS);
        fixture_deinit(&f);
}

/* Rows in order, or all but one, at any position. */
static void detects_rows_in_order(void **state)
{
        enum { ROWS = 30000 };
        for (int spill = 0; spill < 2; spill++) {
                struct sorter_fixture f;
                fixture_init(&f, spill ? 16 * PAGE_BLOCK : 256 << 20, true);
                struct sorter_row *rows = bytes_rows(ROWS, 9, 40, 8, 5);
                for (size_t i = 0; i < ROWS; i++)
                        rows[i].i64 = (int64_t)(i / 3);
                reference_kind = FST_KIND_BYTES;
                reference_descending = false;
                qsort(rows, ROWS, sizeof(*rows), row_compare);
                sort_case(&f, FST_BYTES, rows, ROWS);
                sort_case(&f, FST_I64, rows, ROWS);
                static const size_t places[] = {1, 1023, 17000, ROWS - 1};
                for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
                        struct sorter_row late = rows[places[i]];
                        rows[places[i]] = rows[places[i] / 2];
                        rows[places[i] / 2] = late;
                        sort_case(&f, FST_BYTES, rows, ROWS);
                        sort_case(&f, FST_I64, rows, ROWS);
                }
                rows_free(rows, ROWS);
                fixture_deinit(&f);
        }
}

static void spills_and_merges(void **state)
{
        struct sorter_fixture f;
        fixture_init(&f, 16 * PAGE_BLOCK, true);
        bytes_case(&f, 150000, 10, 90, 0, 100);
        bytes_case(&f, 50000, 0, 40, 20, 3);
        bytes_case(&f, 60000, 100, 100, 100, 1);
        fixture_deinit(&f);

        fixture_init(&f, 16 * PAGE_BLOCK, true);
        f.space.spill_codec = CODEC_NONE;
        all_kinds(&f, 40000);
        numbers_case(&f, 400000); /* whole rows in the index */
        assert_true(sorter_stats(f.s).spills > 1);
        fixture_deinit(&f);
}

/* With so little memory runs are merged in several rounds. */
static void merges_in_rounds(void **state)
{
        struct sorter_fixture f;
        fixture_init(&f, 5 * PAGE_BLOCK + 300000, true);
        bytes_case(&f, 30000, 50, 150, 4, 7);
        start(&f, FST_BYTES, FST_ASCENDING);
        struct sorter_row *rows = bytes_rows(5000, 1000, 2000, 0, 256);
        for (size_t i = 0; i < 5000; i++)
                add(&f,
                    &(fst_batch){.rows = 1, .type = FST_BYTES, .key.bytes = &(fst_bytes){rows[i].bytes, rows[i].len}});
        assert_true(sorter_stats(f.s).spills > 2);
        assert_true(sorter_stats(f.s).spilled_bytes > 0);
        sorter_reset(f.s); /* before all rows are read */
        rows_free(rows, 5000);
        fixture_deinit(&f);
}

static void sorts_records_larger_than_a_page(void **state)
{
        struct sorter_fixture f;
        fixture_init(&f, 24 * PAGE_BLOCK, true);
        bytes_case(&f, 60, 100, 900000, 3, 256);
        fixture_deinit(&f);
}

static void fails_without_memory_and_disk(void **state)
{
        struct sorter_fixture f;
        struct fst_error error = FST_ERROR_INIT;
        int64_t keys[FST_BATCH_ROWS] = {0};
        fst_batch batch = {.rows = FST_BATCH_ROWS, .type = FST_I64, .key.i64 = keys};
        int r = 0;
        fixture_init(&f, 16 * PAGE_BLOCK, false);
        start(&f, FST_I64, FST_ASCENDING);
        for (int i = 0; i < 1000 && !r; i++)
                r = sorter_add_batch(f.s, &batch, &error);
        assert_int_equal(r, -ENOMEM);
        assert_non_null(strstr(error_message(&error), "spark.executor.memory"));
        error_deinit(&error);
        fixture_deinit(&f);
}

/* Another consumer of the task takes the memory: the rows are written, and read back. */
static void writes_runs_when_others_need_memory(void **state)
{
        struct sorter_fixture f;
        struct memory_consumer other;
        struct sorter_row *rows = bytes_rows(20000, 10, 100, 0, 256), *copy = mem_alloc(20000 * sizeof(*copy));
        fixture_init(&f, 32 * PAGE_BLOCK, true);
        memory_consumer_init(&other, f.memory, "other", NULL);
        start(&f, FST_PAIR(BYTES, I64), FST_ASCENDING);
        for (int64_t i = 0; i < 20000; i++) {
                rows[i].number = i;
                add(&f, &(fst_batch){.rows = 1,
                                     .type = FST_PAIR(BYTES, I64),
                                     .key.bytes = &(fst_bytes){rows[i].bytes, rows[i].len},
                                     .value.i64 = &i});
                if (i == 15000)
                        while (sorter_stats(f.s).spills == 0)
                                assert_int_equal(memory_acquire(&other, PAGE_BLOCK), 0);
        }
        assert_true(sorter_stats(f.s).spills > 0);
        memory_consumer_deinit(&other);
        memcpy(copy, rows, 20000 * sizeof(*copy));
        reference_kind = FST_KIND_BYTES;
        reference_descending = false;
        qsort(copy, 20000, sizeof(*copy), row_compare);
        expect(&f, copy, 20000);
        free(copy);
        rows_free(rows, 20000);
        fixture_deinit(&f);
}

/* The upstream operator holds all of the task's memory and cannot free it. */
static void sorts_while_upstream_holds_all_memory(void **state)
{
        enum { ROWS = 30000 };
        struct sorter_fixture f;
        struct memory_consumer other;
        struct sorter_row *rows = bytes_rows(ROWS, 0, 3, 0, 256), *large = bytes_rows(6, 300000, 600000, 0, 256);
        fixture_init(&f, 16 * PAGE_BLOCK, true);
        memory_consumer_init(&other, f.memory, "other", NULL);
        for (int i = 0; i < 6; i++) {
                free(rows[i * 5000 + 77].bytes);
                rows[i * 5000 + 77] = large[i];
        }
        start(&f, FST_PAIR(BYTES, I64), FST_ASCENDING);
        while (memory_acquire(&other, 4096) == 0)
                ;
        for (int64_t i = 0; i < ROWS; i++) {
                rows[i].number = i;
                add(&f, &(fst_batch){.rows = 1,
                                     .type = FST_PAIR(BYTES, I64),
                                     .key.bytes = &(fst_bytes){rows[i].bytes, rows[i].len},
                                     .value.i64 = &i});
        }
        assert_true(sorter_stats(f.s).spills > 6);
        memory_consumer_deinit(&other);
        reference_kind = FST_KIND_BYTES;
        reference_descending = false;
        qsort(rows, ROWS, sizeof(*rows), row_compare);
        expect(&f, rows, ROWS);
        free(large);
        rows_free(rows, ROWS);
        fixture_deinit(&f);
}

struct test_loan {
        struct page_loan loan;
        int *ended;
};

static void test_loan_end(struct page_loan *loan)
{
        struct test_loan *self = container_of(loan, struct test_loan, loan);
        ++*self->ended;
        free(self);
}

/* Lends a page, or adds its rows. Returns whether it was borrowed. */
static bool lend(struct sorter_fixture *f, const struct page *page, int *ended)
{
        struct fst_error error = FST_ERROR_INIT;
        struct test_loan *loan = new0(struct test_loan);
        *loan = (struct test_loan){{.end = test_loan_end}, ended};
        int r = sorter_borrow_page(f->s, page, &loan->loan, &error);
        if (r == 0)
                return true;
        assert_int_equal(r, FST_SORTER_E_NOT_BORROWED);
        free(loan);
        struct page_cursor cursor;
        page_cursor_init(&cursor, page->type);
        page_cursor_start(&cursor, page);
        for (fst_batch batch; page_cursor_next(&cursor, &batch);)
                add(f, &batch);
        page_cursor_deinit(&cursor);
        return false;
}

/* Some pages are lent, and the rows of others are added. Writing a run ends the loans. */
static void sorts_borrowed_pages(void **state)
{
        enum { ROWS = 12000 };
        const fst_type type = FST_PAIR(BYTES, I64);
        for (int spill = 0; spill < 2; spill++) {
                struct sorter_fixture f;
                fixture_init(&f, spill ? 5 * PAGE_BLOCK : 256 << 20, true);
                struct sorter_row *rows = bytes_rows(ROWS, 0, 200, 0, 3);
                struct page *pages = NULL, *page = NULL;
                int borrowed = 0, ended = 0;
                start(&f, type, FST_ASCENDING);
                for (int64_t i = 0; i < ROWS; i++) {
                        rows[i].number = i;
                        fst_batch row = {.rows = 1,
                                         .type = type,
                                         .key.bytes = &(fst_bytes){rows[i].bytes, rows[i].len},
                                         .value.i64 = &i};
                        if (i % 3000 < 500) { /* between pages */
                                if (page)
                                        borrowed += lend(&f, page, &ended);
                                page = NULL;
                                add(&f, &row);
                                continue;
                        }
                        if (!page || !page_append_row(page, &row, 0)) {
                                if (page)
                                        borrowed += lend(&f, page, &ended);
                                assert_int_equal(page_new(NULL, type, 0, &page), 0);
                                page->next = pages;
                                pages = page;
                                assert_true(page_append_row(page, &row, 0));
                        }
                }
                borrowed += lend(&f, page, &ended);
                assert_true(borrowed > 4);
                if (spill)
                        assert_true(ended > 0);
                else
                        assert_int_equal(ended, 0);
                reference_kind = FST_KIND_BYTES;
                reference_descending = false;
                qsort(rows, ROWS, sizeof(*rows), row_compare);
                expect(&f, rows, ROWS);
                sorter_reset(f.s);
                assert_int_equal(ended, borrowed);
                rows_free(rows, ROWS);
                page_list_free(NULL, pages);
                fixture_deinit(&f);
        }
}

/* Adds numbers without values and reads them once: @keys in the order in which they were added. */
static void sort_numbers_alone(struct sorter_fixture *f, fst_type type, enum fst_order order, const int64_t *keys,
                               size_t n)
{
        struct fst_error error = FST_ERROR_INIT;
        struct sorter_row *rows = mem_zero_array(n, sizeof(*rows));
        struct sorter_options options = {
                .memory = f->memory, .type = type, .order = order, .is_read_once = true, .spill = &f->space};
        assert_int_equal(sorter_start(f->s, &options, &error), 0);
        for (size_t i = 0; i < n; i++) {
                rows[i].i64 = keys[i];
                memcpy(&rows[i].f64, &keys[i], sizeof(keys[i]));
        }
        for (size_t at = 0; at < n; at += 1000)
                add(f, &(fst_batch){.rows = (uint32_t)MIN(n - at, (size_t)1000),
                                    .type = type,
                                    .key.i64 = (int64_t *)keys + at});
        reference_kind = type.key;
        reference_descending = order == FST_DESCENDING;
        qsort(rows, n, sizeof(*rows), row_compare);
        assert_int_equal(sorter_finish(f->s, &error), 0);
        size_t at = 0;
        for (fst_batch batch; sorter_next(f->s, &batch, &error) == 0 && batch.rows; at += batch.rows)
                for (uint32_t i = 0; i < batch.rows; i++) {
                        const struct sorter_row *row = &rows[at + i];
                        assert_memory_equal(&batch.key.i64[i],
                                            type.key == FST_KIND_I64 ? (const void *)&row->i64 : &row->f64,
                                            sizeof(int64_t));
                }
        assert_int_equal(at, n);
        assert_int_equal(sorter_stats(f->s).rows, n);
        sorter_reset(f->s);
        assert_int_equal(memory_manager_execution_used(f->manager), 0);
        free(rows);
}

static void sorts_numbers_without_values(void **state)
{
        enum { ROWS = 80000 };
        static const size_t pools[] = {256 << 20, 7 * PAGE_BLOCK, 3 * PAGE_BLOCK};
        int64_t *keys = mem_alloc(ROWS * sizeof(*keys)), *doubles = mem_alloc(ROWS * sizeof(*doubles));
        for (size_t p = 0; p < ARRAY_SIZE(pools); p++) {
                struct sorter_fixture f;
                fixture_init(&f, pools[p], true);
                for (size_t i = 0; i < ROWS; i++) {
                        uint64_t random = random_u64();
                        double x = i % 7 ? (double)(int64_t)random : i % 2 ? -0.0 : NAN;
                        keys[i] = i % 3 ? (int64_t)random : (int64_t)(random % 100) - 50;
                        memcpy(&doubles[i], &x, sizeof(x));
                }
                for (enum fst_order order = FST_ASCENDING; order <= FST_DESCENDING; order++) {
                        sort_numbers_alone(&f, FST_I64, order, keys, ROWS);
                        assert_true((sorter_stats(f.s).spills > 1) == (p > 0));
                }
                sort_numbers_alone(&f, FST_F64, FST_ASCENDING, doubles, ROWS);
                fixture_deinit(&f);
        }
        free(keys);
        free(doubles);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(sorts_in_memory),
                cmocka_unit_test(sorts_keys_that_are_prefixes_of_the_next),
                cmocka_unit_test(spills_and_merges),
                cmocka_unit_test(merges_in_rounds),
                cmocka_unit_test(sorts_records_larger_than_a_page),
                cmocka_unit_test(fails_without_memory_and_disk),
                cmocka_unit_test(writes_runs_when_others_need_memory),
                cmocka_unit_test(sorts_while_upstream_holds_all_memory),
                cmocka_unit_test(detects_rows_in_order),
                cmocka_unit_test(sorts_borrowed_pages),
                cmocka_unit_test(sorts_numbers_without_values),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
