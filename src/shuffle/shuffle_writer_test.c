/* Which rows a map task combines. */
#include "shuffle/shuffle_writer.h"

#include "base/error.h"
#include "base/mem.h"
#include "rdd/pipeline/key.h"
#include "rdd/pipeline/task_run.h"
#include "shuffle/buckets/bucket_page.h"
#include "shuffle/shuffle_store.h"
#include "store/disk_dirs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { PARTITIONS = 3 };

struct writer_case {
        int64_t rows, keys; /* row i has the key i % keys, or a random one, and the value i */
        size_t pool;        /* bytes */
        bool local, random;
        int64_t fresh; /* from this row on, each has another key; 0: none has */
};

static int64_t case_key(const struct writer_case *c, int64_t row)
{
        if (c->fresh && row >= c->fresh)
                return c->keys + row - c->fresh;
        return (int64_t)((c->random ? key_mix((uint64_t)row + 1) : (uint64_t)row) % (uint64_t)c->keys);
}

static void writer_feed(struct op *writer, const struct writer_case *c)
{
        static int64_t keys[FST_BATCH_ROWS], values[FST_BATCH_ROWS];
        struct rows rows = {.batch = {.type = FST_PAIR(I64, I64), .key.i64 = keys, .value.i64 = values}};
        for (int64_t i = 0; i < c->rows; i++) {
                keys[rows.batch.rows] = case_key(c, i);
                values[rows.batch.rows++] = i;
                if (rows.batch.rows < FST_BATCH_ROWS && i + 1 < c->rows)
                        continue;
                assert_int_equal(writer->class->consume(writer, &rows), 0);
                rows.batch.rows = 0;
        }
}

static void add_records(struct page_cursor *cursor, const struct page *page, int64_t *sums)
{
        fst_batch batch;
        page_cursor_start(cursor, page);
        while (page_cursor_next(cursor, &batch))
                for (uint32_t i = 0; i < batch.rows; i++)
                        sums[batch.key.i64[i]] += batch.value.i64[i];
}

static void add_segments(struct page_cursor *cursor, const struct page *page, int64_t *sums)
{
        struct page *records;
        uint32_t segment = 0;
        assert_int_equal(page_new(NULL, page->type, 0, &records), 0);
        while (bucket_page_to_records(page, &segment, records))
                add_records(cursor, records, sums);
        page_free(NULL, records);
}

/* Checks that the rows of all partitions have the sums of the input. */
static void check_output(const struct shuffle_output *output, const struct writer_case *c)
{
        const int64_t keys = c->keys + (c->fresh ? c->rows - c->fresh : 0);
        int64_t *sums = new_array(int64_t, (size_t)keys);
        struct page_cursor cursor;
        page_cursor_init(&cursor, output->type);
        for (int p = 0; p < PARTITIONS; p++) {
                const struct page *last = shuffle_output_at(output, p)->last;
                for (const struct page *page = last->next;; page = page->next) {
                        (page->segments ? add_segments : add_records)(&cursor, page, sums);
                        if (page == last)
                                break;
                }
        }
        page_cursor_deinit(&cursor);
        for (int64_t i = 0; i < c->rows; i++)
                sums[case_key(c, i)] -= i;
        for (int64_t key = 0; key < keys; key++)
                assert_int_equal(sums[key], 0);
        free(sums);
}

/* Writes the rows of @c and returns the number of rows of the output, twice: a writer serves many tasks. */
static uint64_t rows_written(struct writer_case c)
{
        struct memory_manager *memory = memory_manager_new(c.pool, 0.5);
        const struct spill_space space = {0};
        struct shuffle_store *store = shuffle_store_new(&space);
        struct task_run run;
        fst_rdd shuffled = {.type = FST_PAIR(I64, I64), .fn = fst_fn_sum};
        uint64_t written[2];
        shuffled.shuffle.combine = true;
        partitioner_init_hash(&shuffled.shuffle.partitioner, PARTITIONS, shuffled.type);
        task_run_init(&run, memory, &space);
        struct op *writer = shuffle_writer_new(&run, &shuffled, store);
        if (c.local)
                shuffle_writer_stay_local(writer);
        for (int task = 0; task < 2; task++) {
                task_run_begin(&run, &(struct fst_task_info){0}, 1);
                assert_int_equal(writer->class->begin(writer), 0);
                writer_feed(writer, &c);
                assert_int_equal(writer->class->end(writer), 0);
                struct shuffle_output *output = shuffle_writer_take(writer);
                check_output(output, &c);
                written[task] = output->rows;
                shuffle_output_unref(output);
                task_run_end(&run);
        }
        op_free(writer);
        task_run_deinit(&run);
        partitioner_deinit(&shuffled.shuffle.partitioner);
        shuffle_store_free(store);
        memory_manager_free(memory);
        assert_int_equal(written[0], written[1]);
        return written[0];
}

#define AMPLE ((size_t)1 << 30)

static void moves_local_rows_of_many_keys_uncombined(void **state)
{
        assert_int_equal(rows_written((struct writer_case){300000, 250000, AMPLE, true}), 300000);
}

/* Combining all rows would leave some 95,200 or 63,200. */
static void tells_many_random_keys_by_few_rows(void **state)
{
        assert_in_range(rows_written((struct writer_case){100000, 1000000, AMPLE, true, true}), 99700, 99999);
        assert_in_range(rows_written((struct writer_case){100000, 100000, AMPLE, true, true}), 62500, 63900);
}

static void combines_rows_that_leave_the_process(void **state)
{
        assert_int_equal(rows_written((struct writer_case){300000, 250000, AMPLE, false}), 250000);
}

static void combines_if_memory_is_small(void **state)
{
        assert_int_equal(rows_written((struct writer_case){300000, 250000, 128 << 20, true}), 250000);
}

static void combines_few_keys_from_the_first_row(void **state)
{
        assert_int_equal(rows_written((struct writer_case){300000, 50000, AMPLE, true}), 50000);
}

/* From some 400,000 rows on, there are two of each key. */
static void combines_again_when_keys_repeat(void **state)
{
        uint64_t rows = rows_written((struct writer_case){1000000, 200000, AMPLE, true});
        assert_in_range(rows, 550000, 650000);
}

/* The table of the first rows that repeat is given up again: the next ones are moved by bucket too. */
static void moves_rows_by_bucket_when_keys_repeat_no_more(void **state)
{
        const struct writer_case c = {1000000, 200000, AMPLE, true, .fresh = 450000};
        assert_in_range(rows_written(c), 900000, 1000000);
}

/* Each of two outputs takes more than half of the storage that execution may not claim. */
static void older_outputs_make_room(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        const struct writer_case c = {.rows = 160000, .keys = 160000};
        struct memory_manager *memory = memory_manager_new(8 << 20, 0.5);
        struct spill_space space = {0};
        assert_int_equal(disk_dirs_new("/tmp", 4, &space.dirs, &error), 0);
        struct shuffle_store *store = shuffle_store_new(&space);
        struct shuffle_output *outputs[2];
        struct task_run run;
        fst_rdd shuffled = {.type = FST_PAIR(I64, I64)};
        partitioner_init_hash(&shuffled.shuffle.partitioner, PARTITIONS, shuffled.type);
        task_run_init(&run, memory, &space);
        struct op *writer = shuffle_writer_new(&run, &shuffled, store);
        for (int task = 0; task < 2; task++) {
                task_run_begin(&run, &(struct fst_task_info){0}, 1);
                assert_int_equal(writer->class->begin(writer), 0);
                writer_feed(writer, &c);
                assert_int_equal(writer->class->end(writer), 0);
                outputs[task] = shuffle_writer_take(writer);
                if (task == 0)
                        assert_true(outputs[0]->memory > 2 << 20 && !outputs[0]->file);
                task_run_end(&run);
        }
        assert_true(outputs[0]->file && outputs[0]->memory == 0);
        assert_true(outputs[1]->memory > 2 << 20 && !outputs[1]->file);
        check_output(outputs[1], &c);
        shuffle_output_unref(outputs[0]);
        shuffle_output_unref(outputs[1]);
        op_free(writer);
        task_run_deinit(&run);
        partitioner_deinit(&shuffled.shuffle.partitioner);
        shuffle_store_free(store);
        memory_manager_free(memory);
        disk_dirs_free(space.dirs);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(moves_local_rows_of_many_keys_uncombined),
                cmocka_unit_test(tells_many_random_keys_by_few_rows),
                cmocka_unit_test(combines_rows_that_leave_the_process),
                cmocka_unit_test(combines_if_memory_is_small),
                cmocka_unit_test(combines_few_keys_from_the_first_row),
                cmocka_unit_test(combines_again_when_keys_repeat),
                cmocka_unit_test(moves_rows_by_bucket_when_keys_repeat_no_more),
                cmocka_unit_test(older_outputs_make_room),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
