#include "store/page.h"

#include "base/error.h"
#include "base/vec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>
#include <cmocka.h>

/* A batch of random rows whose bytes end at the end of their allocations, so that ASan finds an over-read. */
struct random_batch {
        fst_batch batch;
        VEC(char *) texts;
};

static unsigned seed = 1;

static void fill_column(struct random_batch *b, fst_column *column, uint8_t kind, uint32_t size, size_t longest)
{
        if (kind == FST_KIND_NONE)
                return;
        if (kind != FST_KIND_BYTES) {
                column->fixed = mem_alloc((size_t)b->batch.rows * size);
                for (size_t i = 0; i < (size_t)b->batch.rows * size; i++)
                        column->fixed[i] = (char)rand_r(&seed);
                return;
        }
        column->bytes = mem_alloc(b->batch.rows * sizeof(fst_bytes));
        for (uint32_t r = 0; r < b->batch.rows; r++) {
                size_t len = (size_t)rand_r(&seed) % (longest + 1);
                if (rand_r(&seed) % 64 == 0)
                        len = (size_t)rand_r(&seed) % 5000;
                char *text = len ? mem_alloc(len) : NULL;
                for (size_t i = 0; i < len; i++)
                        text[i] = (char)rand_r(&seed);
                vec_push(&b->texts, text);
                column->bytes[r] = (fst_bytes){text, len};
        }
}

static void random_batch_init(struct random_batch *b, fst_type type, uint32_t rows, size_t longest)
{
        *b = (struct random_batch){.batch = {.rows = rows, .type = type}};
        fill_column(b, &b->batch.key, type.key, type.key_size, longest);
        fill_column(b, &b->batch.value, type.value, type.value_size, longest);
}

static void random_batch_deinit(struct random_batch *b)
{
        for (size_t i = 0; i < b->texts.len; i++)
                free(b->texts.data[i]);
        vec_deinit(&b->texts);
        free(b->batch.key.fixed);
        free(b->batch.value.fixed);
}

static void assert_field_equal(uint8_t kind, uint32_t size, fst_column a, uint32_t i, fst_column b, uint32_t j)
{
        if (kind == FST_KIND_NONE)
                return;
        if (kind == FST_KIND_BYTES) {
                assert_int_equal(a.bytes[i].len, b.bytes[j].len);
                if (a.bytes[i].len)
                        assert_memory_equal(a.bytes[i].data, b.bytes[j].data, a.bytes[i].len);
        } else {
                assert_memory_equal(a.fixed + (size_t)i * size, b.fixed + (size_t)j * size, size);
        }
}

static void assert_row_equal(const fst_batch *a, uint32_t i, const fst_batch *b, uint32_t j)
{
        assert_field_equal(a->type.key, a->type.key_size, a->key, i, b->key, j);
        assert_field_equal(a->type.value, a->type.value_size, a->value, i, b->value, j);
}

static fst_type types[24];
static size_t n_types;

static int list_types(void **state)
{
        const fst_type kinds[] = {FST_I64, FST_F64, FST_BYTES, FST_FIXED(3), FST_FIXED(40)};
        n_types = 0;
        for (int k = 0; k < 5; k++) {
                types[n_types++] = kinds[k];
                for (int v = 0; v < 5; v++)
                        if (n_types < ARRAY_SIZE(types) && !(k == 1 && v > 2))
                                types[n_types++] = fst_type_pair(kinds[k], kinds[v]);
        }
        return 0;
}

/* Writes a page in wire form and reads it into another page. */
static struct page *through_wire(const struct page *page)
{
        unsigned char header[PAGE_WIRE_HEADER];
        struct fst_error error = FST_ERROR_INIT;
        uint32_t bytes = 0, rows = 0;
        uint64_t checksum = 0;
        page_wire_header(page, header);
        assert_int_equal(page_wire_check(header, page->type, page->capacity, &bytes, &rows, &checksum, &error), 0);
        struct page *copy = NULL;
        assert_int_equal(page_new(NULL, page->type, bytes, &copy), 0);
        memcpy(copy->data, page->data, bytes);
        copy->used = bytes;
        copy->rows = rows;
        assert_int_equal(page_validate(copy, checksum, &error), 0);
        if (bytes > 0) {
                copy->data[(size_t)rand_r(&seed) % bytes] ^= 1;
                assert_int_equal(page_validate(copy, checksum, &error), -EBADMSG);
                error_deinit(&error);
                memcpy(copy->data, page->data, bytes);
        }
        return copy;
}

static void every_type_survives_page_and_wire(void **state)
{
        for (size_t t = 0; t < n_types; t++) {
                struct random_batch b;
                random_batch_init(&b, types[t], 1 + (uint32_t)rand_r(&seed) % FST_BATCH_ROWS, 40);
                struct page_cursor cursor;
                page_cursor_init(&cursor, types[t]);
                uint32_t checked = 0;
                for (uint32_t first = 0; first < b.batch.rows;) {
                        struct page *page = NULL;
                        assert_int_equal(page_new(NULL, types[t], page_record_size(&b.batch, first), &page), 0);
                        uint32_t before = first;
                        size_t used = 0;
                        first += page_append(page, &b.batch, first);
                        for (uint32_t r = before; r < first; r++)
                                used += page_record_size(&b.batch, r);
                        assert_int_equal(used, page->used);
                        assert_int_equal(page->rows, first - before);
                        struct page *copy = through_wire(page);
                        page_free(NULL, page);
                        page_cursor_start(&cursor, copy);
                        for (fst_batch out; page_cursor_next(&cursor, &out);)
                                for (uint32_t r = 0; r < out.rows; r++)
                                        assert_row_equal(&out, r, &b.batch, checked++);
                        page_free(NULL, copy);
                }
                assert_int_equal(checked, b.batch.rows);
                page_cursor_deinit(&cursor);
                random_batch_deinit(&b);
        }
}

static void append_fills_the_page_and_returns_the_rows(void **state)
{
        for (size_t t = 0; t < n_types; t++) {
                struct random_batch b;
                random_batch_init(&b, types[t], FST_BATCH_ROWS, 100);
                struct page *page = NULL, *single = NULL;
                page_new(NULL, types[t], 0, &page);
                page_new(NULL, types[t], 0, &single);
                uint32_t done;
                do {
                        done = page_append(page, &b.batch, 0);
                        for (uint32_t r = 0; r < done; r++)
                                assert_true(page_append_row(single, &b.batch, r));
                } while (done == FST_BATCH_ROWS);
                assert_false(page_append_row(single, &b.batch, done));
                assert_true(page->used + page_record_size(&b.batch, done) > PAGE_CAPACITY);
                assert_int_equal(single->rows, page->rows);
                assert_int_equal(single->used, page->used);
                assert_memory_equal(single->data, page->data, page->used);
                page_free(NULL, single);
                page_free(NULL, page);
                random_batch_deinit(&b);
        }
}

static void an_oversized_record_has_a_page_to_itself(void **state)
{
        struct memory_manager *m = memory_manager_new(16u << 20, 0.5);
        struct memory_task *task = memory_task_new(m);
        struct memory_consumer c;
        memory_consumer_init(&c, task, "test", NULL);
        size_t len = 3u << 20;
        char *text = mem_zero(len);
        text[len - 1] = 'x';
        fst_bytes key = {text, len};
        int64_t value = 7;
        fst_batch b = {.rows = 1, .type = FST_PAIR(BYTES, I64), .key.bytes = &key, .value.i64 = &value};
        struct page *page = NULL;
        assert_int_equal(page_new(&c, b.type, page_record_size(&b, 0), &page), 0);
        assert_true(page->block > len);
        assert_int_equal(memory_manager_execution_used(m), page->block);
        assert_int_equal(page_append(page, &b, 0), 1);
        assert_int_equal(page_append(page, &b, 0), 0);
        struct page_cursor cursor;
        page_cursor_init(&cursor, b.type);
        page_cursor_start(&cursor, page);
        fst_batch out;
        assert_true(page_cursor_next(&cursor, &out));
        assert_row_equal(&out, 0, &b, 0);
        assert_false(page_cursor_next(&cursor, &out));
        page_cursor_deinit(&cursor);
        page_free(&c, page);
        page_free(&c, NULL);
        page = NULL;
        assert_int_equal(page_new(&c, b.type, 64u << 20, &page), FST_MEMORY_E_DENIED);
        assert_int_equal(page_new(&c, b.type, (size_t)5 << 30, &page), -EMSGSIZE);
        assert_null(page);
        assert_int_equal(memory_manager_execution_used(m), 0);
        memory_consumer_deinit(&c);
        memory_task_free(task);
        memory_manager_free(m);
        free(text);
}

struct scatter_test {
        VEC(struct page *) full[100]; /* by partition */
        int calls;
};

static int scatter_full(void *owner, uint32_t partition, size_t record, struct page **open)
{
        struct scatter_test *s = owner;
        if (++s->calls % 5 == 0)
                return FST_MEMORY_E_DENIED;
        struct page *page = NULL;
        assert_int_equal(page_new(NULL, (fst_type){0}, record, &page), 0);
        page->capacity = record > 20000 ? page->capacity : 20000; /* makes pages fill up soon */
        *open = page;
        vec_push(&s->full[partition], page);
        return 0;
}

static void scatter_keeps_order_within_partitions_and_resumes(void **state)
{
        for (size_t t = 0; t < n_types; t++) {
                struct scatter_test s = {0};
                struct random_batch b;
                uint32_t n_open = t % 2 ? 7 : 100;
                struct page *open[100] = {0};
                uint32_t partition[FST_BATCH_ROWS], first = 0;
                random_batch_init(&b, types[t], FST_BATCH_ROWS, 50);
                for (uint32_t r = 0; r < FST_BATCH_ROWS; r++)
                        partition[r] = (uint32_t)rand_r(&seed) % n_open;
                int r;
                while ((r = page_scatter(&b.batch, partition, &first, open, n_open, scatter_full, &s)))
                        assert_int_equal(r, FST_MEMORY_E_DENIED);
                assert_int_equal(first, FST_BATCH_ROWS);
                struct page_cursor cursor;
                page_cursor_init(&cursor, types[t]);
                for (uint32_t p = 0; p < n_open; p++) {
                        uint32_t at = 0;
                        for (size_t i = 0; i < s.full[p].len; i++) {
                                page_cursor_start(&cursor, s.full[p].data[i]);
                                for (fst_batch out; page_cursor_next(&cursor, &out);)
                                        for (uint32_t j = 0; j < out.rows; j++) {
                                                while (partition[at] != p)
                                                        at++;
                                                assert_row_equal(&out, j, &b.batch, at++);
                                        }
                                page_free(NULL, s.full[p].data[i]);
                        }
                        while (at < FST_BATCH_ROWS)
                                assert_int_not_equal(partition[at++], p);
                        vec_deinit(&s.full[p]);
                }
                page_cursor_deinit(&cursor);
                random_batch_deinit(&b);
        }
}

static void a_shrunk_page_holds_the_same_rows(void **state)
{
        int64_t numbers[] = {1, 2, 3};
        fst_batch b = {.rows = 3, .type = FST_I64, .key.i64 = numbers};
        struct page *page = NULL;
        page_new(NULL, b.type, 0, &page);
        page_append(page, &b, 0);
        page = page_shrink(page);
        assert_true(page->block < 256);
        assert_int_equal(page_append(page, &b, 0), 0);
        struct page_cursor cursor;
        fst_batch out;
        page_cursor_init(&cursor, b.type);
        page_cursor_start(&cursor, page);
        assert_true(page_cursor_next(&cursor, &out));
        assert_int_equal(out.rows, 3);
        assert_int_equal(out.key.i64[2], 3);
        page_cursor_deinit(&cursor);
        page_free(NULL, page);
}

static void has_the_documented_wire_bytes(void **state)
{
        fst_bytes key = {"ab", 2};
        int64_t value = 258;
        fst_batch b = {.rows = 1, .type = FST_PAIR(BYTES, I64), .key.bytes = &key, .value.i64 = &value};
        struct page *page = NULL;
        page_new(NULL, b.type, 0, &page);
        page_append(page, &b, 0);
        const unsigned char record[] = {2, 0, 0, 0, 'a', 'b', 2, 1, 0, 0, 0, 0, 0, 0};
        assert_int_equal(page->used, sizeof(record));
        assert_memory_equal(page->data, record, sizeof(record));
        unsigned char header[PAGE_WIRE_HEADER];
        page_wire_header(page, header);
        const unsigned char golden[] = {'F', 'S', 'P', '1', 3, 1, 0, 0, 0,  0, 0, 0,
                                        8,   0,   0,   0,   1, 0, 0, 0, 14, 0, 0, 0};
        assert_memory_equal(header, golden, sizeof(golden));
        page_free(NULL, page);
}

static void rejects_invalid_headers(void **state)
{
        struct page *page = NULL;
        page_new(NULL, FST_I64, 0, &page);
        unsigned char header[PAGE_WIRE_HEADER];
        page_wire_header(page, header);
        struct fst_error error = FST_ERROR_INIT;
        uint32_t bytes = 77, rows = 77;
        uint64_t sum = 77;
        assert_int_equal(page_wire_check(header, FST_F64, 100, &bytes, &rows, &sum, &error), -EBADMSG);
        assert_non_null(strstr(error_message(&error), "another type"));
        header[20] = 101;
        assert_int_equal(page_wire_check(header, FST_I64, 100, &bytes, &rows, &sum, &error), -EBADMSG);
        assert_non_null(strstr(error_message(&error), "too large"));
        header[0] = 0;
        assert_int_equal(page_wire_check(header, FST_I64, 200, &bytes, &rows, &sum, &error), -EBADMSG);
        assert_non_null(strstr(error_message(&error), "not a page"));
        assert_int_equal(bytes + rows + sum, 3 * 77);
        error_deinit(&error);
        page_free(NULL, page);
}

static void rejects_records_beyond_the_page(void **state)
{
        struct page *page = NULL;
        struct fst_error error = FST_ERROR_INIT;
        page_new(NULL, FST_PAIR(BYTES, BYTES), 0, &page);
        const uint32_t lengths[] = {2, UINT32_MAX};
        memcpy(page->data, lengths, 8);
        page->used = 12;
        page->rows = 1;
        assert_int_equal(page_validate(page, XXH3_64bits(page->data, 12), &error), -EBADMSG);
        page->rows = 2; /* more rows than bytes */
        memset(page->data, 0, 12);
        assert_int_equal(page_validate(page, XXH3_64bits(page->data, 12), &error), -EBADMSG);
        page->used = 16;
        memset(page->data, 0, 16);
        assert_int_equal(page_validate(page, XXH3_64bits(page->data, 16), &error), 0);
        error_deinit(&error);
        page_free(NULL, page);
}

static void gives_a_patient_consumer_one_page_when_no_task_runs(void **state)
{
        struct memory_manager *m = memory_manager_new(2 * PAGE_BLOCK, 0.5);
        struct memory_task *holder = memory_task_new(m), *task = memory_task_new(m);
        struct memory_consumer all, c;
        struct page *page = NULL, *second = NULL;
        fst_type type = {.key = FST_KIND_BYTES};
        memory_consumer_init(&all, holder, "all", NULL);
        memory_consumer_init(&c, task, "read", NULL);
        assert_int_equal(memory_acquire(&all, 2 * PAGE_BLOCK), 0);
        memory_task_rest(holder, true);
        assert_int_equal(page_new(&c, type, 100, &page), FST_MEMORY_E_DENIED);
        c.patient = true;
        assert_int_equal(page_new(&c, type, 2 * PAGE_BLOCK, &page), FST_MEMORY_E_DENIED);
        assert_int_equal(page_new(&c, type, 100, &page), 0);
        assert_int_equal(c.held, 0);
        page_free(&c, page);
        memory_release(&all, PAGE_BLOCK);
        assert_int_equal(page_new(&c, type, 100, &second), 0);
        assert_int_equal(c.held, PAGE_BLOCK);
        page_free(&c, second);
        assert_int_equal(c.held, 0);
        memory_task_rest(holder, false);
        memory_task_free(task);
        memory_task_free(holder);
        memory_manager_free(m);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(every_type_survives_page_and_wire),
                cmocka_unit_test(append_fills_the_page_and_returns_the_rows),
                cmocka_unit_test(an_oversized_record_has_a_page_to_itself),
                cmocka_unit_test(scatter_keeps_order_within_partitions_and_resumes),
                cmocka_unit_test(a_shrunk_page_holds_the_same_rows),
                cmocka_unit_test(has_the_documented_wire_bytes),
                cmocka_unit_test(rejects_invalid_headers),
                cmocka_unit_test(gives_a_patient_consumer_one_page_when_no_task_runs),
                cmocka_unit_test(rejects_records_beyond_the_page),
        };
        return cmocka_run_group_tests(tests, list_types, NULL);
}
