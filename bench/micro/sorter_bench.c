/*
 * Measures the sorter with records of 100 bytes (random keys of 10 bytes) in pages that it adopts, and with numbers.
 * Prints the time of each part, the best of several rounds. Includes building the index, but not filling the pages.
 */
#include "bench.h"

#include "base/error.h"
#include "base/mem.h"
#include "rdd/sort/sorter.h"
#include "store/page.h"

#include <stdbool.h>

#define ROWS 5000000
#define ROUNDS 4

static void fill_bytes(struct page *page, uint64_t *random, bool pairs)
{
        unsigned char *at = page->data;
        uint32_t key_len = pairs ? 10 : 100, value_len = 90;
        size_t record = pairs ? 108 : 104;
        while (page->used + record <= page->capacity) {
                memcpy(at, &key_len, 4);
                at += 4;
                if (pairs) {
                        memcpy(at, &value_len, 4);
                        at += 4;
                }
                uint64_t x = bench_random(random), y = bench_random(random);
                for (int i = 0; i < 8; i++)
                        at[i] = (unsigned char)(' ' + (x >> (8 * i) & 255) * 95 / 256);
                at[8] = (unsigned char)(' ' + y % 95);
                at[9] = (unsigned char)(' ' + y / 95 % 95);
                memset(at + 10, 'x', 90);
                at += 100;
                page->used += (uint32_t)record;
                page->rows++;
        }
}

static void fill_i64(struct page *page, uint64_t *random)
{
        for (; page->used + 8 <= page->capacity; page->used += 8, page->rows++) {
                uint64_t x = bench_random(random);
                memcpy(page->data + page->used, &x, 8);
        }
}

static void measure(const char *name, fst_type type)
{
        struct memory_manager *manager = memory_manager_new((size_t)4 << 30, 0.5);
        struct sorter *s = sorter_new();
        double best = 1e9;
        for (int round = 0; round < ROUNDS; round++) {
                struct memory_task *task = memory_task_new(manager);
                struct sorter_options options = {.memory = task, .type = type, .order = FST_ASCENDING};
                uint64_t random = 3, check = 0, rows = 0;
                struct page *pages = NULL, *page;
                if (sorter_start(s, &options, NULL))
                        abort();
                for (uint64_t made = 0; made < ROWS; made += page->rows) {
                        if (page_new(NULL, type, 0, &page))
                                abort();
                        if (type.key == FST_KIND_I64)
                                fill_i64(page, &random);
                        else
                                fill_bytes(page, &random, type.value != FST_KIND_NONE);
                        page->next = pages;
                        pages = page;
                }
                fst_batch batch;
                struct page_cursor cursor;
                page_cursor_init(&cursor, type);
                double start = bench_now();
                while ((page = pages)) {
                        pages = page->next;
                        page->next = NULL;
                        page_cursor_start(&cursor, page);
                        while (page_cursor_next(&cursor, &batch))
                                if (sorter_add_batch(s, &batch, NULL))
                                        abort();
                        page_free(NULL, page);
                }
                double added = bench_now();
                page_cursor_deinit(&cursor);
                if (sorter_finish(s, NULL))
                        abort();
                double sorted = bench_now();
                while (sorter_next(s, &batch, NULL) == 0 && batch.rows) {
                        for (uint32_t i = 0; i < batch.rows; i++)
                                check += type.key == FST_KIND_I64 ? (uint64_t)batch.key.i64[i] & 1
                                                                  : batch.key.bytes[i].len;
                        rows += batch.rows;
                }
                double end = bench_now();
                if (rows < ROWS || check == 0)
                        abort();
                if (end - start < best) {
                        best = end - start;
                        printf("%-28s %.3f s: index %.3f, sort %.3f, output %.3f\n", name, end - start, added - start,
                               sorted - added, end - sorted);
                }
                sorter_reset(s);
                memory_task_free(task);
        }
        sorter_free(s);
        memory_manager_free(manager);
}

int main(void)
{
        bench_pin();
        measure("5 M lines of 100 bytes", FST_BYTES);
        measure("5 M pairs of 10 + 90 bytes", FST_PAIR(BYTES, BYTES));
        measure("5 M i64", FST_I64);
        return 0;
}
