/* Tests how much memory an index keeps from one task to the next. */
#include "rdd/sort/sort_index.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const struct record_order order = {.type = {.key = FST_KIND_I64, .key_size = 8}};

/* Runs a task that adds @rows rows to the index. */
static void run_task(struct memory_manager *m, struct sort_index *ix, size_t rows)
{
        struct memory_task *task = memory_task_new(m);
        struct memory_consumer consumer;
        int64_t keys[FST_BATCH_ROWS] = {0};
        fst_batch batch = {.type = order.type, .key.i64 = keys};
        memory_consumer_init(&consumer, task, "sort", NULL);
        sort_index_start(ix, order, &consumer);
        for (size_t n = 0; n < rows; n += batch.rows) {
                batch.rows = (uint32_t)MIN(rows - n, (size_t)FST_BATCH_ROWS);
                assert_int_equal(sort_index_reserve(ix, batch.rows), 0);
                sort_index_add_rows(ix, &batch, 0, batch.rows);
        }
        sort_index_release(ix);
        memory_consumer_deinit(&consumer);
        memory_task_free(task);
}

static void keeps_smallest_index_for_tiny_partitions(void **state)
{
        struct memory_manager *m = memory_manager_new(64 << 20, 0.5);
        struct sort_index ix = {0};
        run_task(m, &ix, 1);
        const struct sort_entry *first = ix.entries;
        assert_non_null(first);
        for (int i = 0; i < 10; i++) {
                run_task(m, &ix, 1);
                assert_ptr_equal(ix.entries, first);
        }
        sort_index_free(&ix);
        memory_manager_free(m);
}

static void shrinks_for_small_partitions(void **state)
{
        struct memory_manager *m = memory_manager_new(64 << 20, 0.5);
        struct sort_index ix = {0};
        run_task(m, &ix, 500000);
        assert_true(ix.mapped >= 500000);
        run_task(m, &ix, 1);
        run_task(m, &ix, 1);
        assert_true(ix.mapped < 10000);
        sort_index_free(&ix);
        memory_manager_free(m);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(keeps_smallest_index_for_tiny_partitions),
                cmocka_unit_test(shrinks_for_small_partitions),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
