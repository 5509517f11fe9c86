/* Rows by bucket of their keys: in pages, and from map tasks to a reduce task, in memory and from disk. */
#include "shuffle/buckets/bucket_page.h"

#include "base/error.h"
#include "base/mem.h"
#include "rdd/pipeline/key.h"
#include "rdd/pipeline/pipeline.h"
#include "shuffle/shuffle_reader.h"
#include "shuffle/shuffle_store.h"
#include "shuffle/shuffle_writer.h"
#include "store/disk_dirs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define PAIRS FST_PAIR(I64, I64)

/* Segments of 1 row, of SEGMENT_ROWS and of some between, by turns in three buckets. Those of bucket 1 are wide. */
static uint32_t page_fill(struct page *page, uint64_t *next)
{
        uint64_t keys[SEGMENT_ROWS], values[SEGMENT_ROWS];
        uint32_t segments = 0;
        for (;; segments++) {
                const uint32_t n = segments % 5 == 0 ? 1 : segments % 5 == 1 ? SEGMENT_ROWS : segments * 7 % 30 + 2;
                for (uint32_t i = 0; i < n; i++) {
                        keys[i] = segments % 3 == 1 ? ~(*next + i) : *next + i;
                        values[i] = key_mix(*next + i);
                }
                if (!bucket_page_add(page, segments % 3, keys, values, n))
                        return segments;
                *next += n;
        }
}

static void page_keeps_rows_of_each_bucket(void **state)
{
        static uint64_t keys[300], values[300];
        uint64_t rows = 0, seen = 0;
        struct page *page;
        assert_int_equal(page_new(NULL, PAIRS, 0, &page), 0);
        bucket_page_init(page);
        const uint32_t segments = page_fill(page, &rows);
        assert_int_equal(page->segments, segments);
        assert_int_equal(page->rows, rows);
        assert_true(page->used <= page->capacity);
        for (uint32_t bucket = 0; bucket < 4; bucket++) {
                uint64_t last = 0;
                for (uint32_t at = 0; at < page->segments;) {
                        const uint32_t n = bucket_page_read(page, bucket, &at, keys, values, ARRAY_SIZE(keys));
                        assert_true(n > 0 || at == page->segments);
                        for (uint32_t i = 0; i < n; i++, seen++) {
                                const uint64_t key = bucket == 1 ? ~keys[i] : keys[i];
                                assert_true(key >= last && key < rows && values[i] == key_mix(key));
                                last = key;
                        }
                }
        }
        assert_int_equal(seen, rows);
        page_free(NULL, page);
}

static void page_becomes_records(void **state)
{
        uint64_t rows = 0, seen = 0;
        struct page *page, *records;
        struct page_cursor cursor;
        fst_batch batch;
        uint32_t at = 0;
        int pages = 0;
        assert_int_equal(page_new(NULL, PAIRS, 0, &page), 0);
        assert_int_equal(page_new(NULL, PAIRS, 0, &records), 0);
        page_cursor_init(&cursor, PAIRS);
        bucket_page_init(page);
        page_fill(page, &rows);
        for (; bucket_page_to_records(page, &at, records); pages++) {
                page_cursor_start(&cursor, records);
                while (page_cursor_next(&cursor, &batch))
                        for (uint32_t i = 0; i < batch.rows; i++, seen++) {
                                assert_int_equal(batch.value.i64[i], (int64_t)key_mix(seen));
                                const uint64_t key = (uint64_t)batch.key.i64[i];
                                assert_true(key == seen || key == ~seen);
                        }
        }
        assert_int_equal(seen, rows);
        assert_in_range(pages, 1, BUCKET_PAGE_RECORD_PAGES);
        page_cursor_deinit(&cursor);
        page_free(NULL, records);
        page_free(NULL, page);
}

/* ------------------------------------------------------------------------------------------- a whole shuffle */

enum { PARTITIONS = 3, MAPS = 2, ROWS = 60000, KEYS = 1000000 };

struct small_shuffle {
        struct memory_manager *memory;
        struct spill_space space;
        struct shuffle_store *store;
        struct task_run run;
        fst_rdd shuffled;
        struct shuffle_reader_env env;
        int64_t *sums;  /* by key, which the reader subtracts */
        int8_t *bucket; /* of each key, plus one; 0: not seen */
};

static void map_task(struct small_shuffle *s, struct op *writer, int map, int64_t n)
{
        static int64_t keys[FST_BATCH_ROWS], values[FST_BATCH_ROWS];
        struct rows rows = {.batch = {.type = PAIRS, .key.i64 = keys, .value.i64 = values}};
        task_run_begin(&s->run, &(struct fst_task_info){.partition = map}, 1);
        assert_int_equal(writer->class->begin(writer), 0);
        for (int64_t i = 0; i < n; i++) {
                const uint64_t random = key_mix((uint64_t)(map * ROWS + i + 1));
                keys[rows.batch.rows] = (int64_t)(random % KEYS);
                values[rows.batch.rows++] = i;
                s->sums[random % KEYS] += i;
                if (rows.batch.rows < FST_BATCH_ROWS && i + 1 < n)
                        continue;
                assert_int_equal(writer->class->consume(writer, &rows), 0);
                rows.batch.rows = 0;
        }
        assert_int_equal(writer->class->end(writer), 0);
        struct shuffle_output *output = shuffle_writer_take(writer);
        assert_true((output->bucket_bits > 0) == (n > 0) && !output->file);
        shuffle_store_put(s->store, 0, map, map, output);
        s->env.inputs->maps[map] = (struct shuffle_map){.task_id = map};
        task_run_end(&s->run);
}

static void shuffle_init(struct small_shuffle *s)
{
        *s = (struct small_shuffle){.shuffled = {.type = PAIRS, .fn = fst_fn_sum}};
        s->memory = memory_manager_new((size_t)1 << 30, 0.5);
        assert_int_equal(disk_dirs_new("/tmp", 4, &s->space.dirs, NULL), 0);
        s->store = shuffle_store_new(&s->space);
        s->shuffled.shuffle.combine = true;
        s->sums = new_array(int64_t, KEYS);
        s->bucket = new_array(int8_t, KEYS);
        partitioner_init_hash(&s->shuffled.shuffle.partitioner, PARTITIONS, PAIRS);
        task_run_init(&s->run, s->memory, &s->space);
        s->env = (struct shuffle_reader_env){.inputs = new0(struct shuffle_inputs),
                                             .n_inputs = 1,
                                             .locations = new_array(struct shuffle_location, 1),
                                             .n_locations = 1,
                                             .store = s->store,
                                             .space = &s->space};
        *s->env.inputs = (struct shuffle_inputs){.n = MAPS + 1, .maps = new_array(struct shuffle_map, MAPS + 1)};
        struct op *writer = shuffle_writer_new(&s->run, &s->shuffled, s->store);
        shuffle_writer_stay_local(writer);
        for (int map = 0; map <= MAPS; map++) /* one has no rows */
                map_task(s, writer, map, map == 1 ? 0 : ROWS);
        op_free(writer);
}

static void shuffle_deinit(struct small_shuffle *s)
{
        for (int64_t key = 0; key < KEYS; key++)
                assert_int_equal(s->sums[key], 0);
        shuffle_reader_env_deinit(&s->env);
        task_run_deinit(&s->run);
        partitioner_deinit(&s->shuffled.shuffle.partitioner);
        shuffle_store_free(s->store);
        assert_int_equal(memory_manager_execution_used(s->memory), 0);
        assert_int_equal(memory_manager_storage_used(s->memory), 0);
        memory_manager_free(s->memory);
        disk_dirs_free(s->space.dirs);
        free(s->sums);
        free(s->bucket);
}

static void subtract_rows(struct small_shuffle *s, const fst_batch *batch)
{
        for (uint32_t i = 0; i < batch->rows; i++)
                s->sums[batch->key.i64[i]] -= batch->value.i64[i];
}

static struct shuffle_input *reader_begin(struct small_shuffle *s, int partition)
{
        struct shuffle_input *in = NULL;
        task_run_begin(&s->run, &(struct fst_task_info){.partition = partition}, 1);
        assert_int_equal(shuffle_reader_source.open(&s->env, &s->run, 0, partition, PAIRS, &in), 0);
        return in;
}

static void reads_the_rows_of_a_key_in_one_bucket(void **state)
{
        struct small_shuffle s;
        shuffle_init(&s);
        for (int p = 0; p < PARTITIONS; p++) {
                struct shuffle_input *in = reader_begin(&s, p);
                fst_batch batch;
                const uint32_t n = shuffle_reader_source.buckets(in);
                assert_in_range(n, 2, 64);
                for (uint32_t b = 0; b < n; b++)
                        for (;;) {
                                shuffle_reader_source.next_of(in, b, &batch);
                                if (batch.rows == 0)
                                        break;
                                for (uint32_t i = 0; i < batch.rows; i++) {
                                        int8_t *bucket = &s.bucket[batch.key.i64[i]];
                                        assert_true(*bucket == 0 || *bucket == (int8_t)(b + 1));
                                        *bucket = (int8_t)(b + 1);
                                }
                                subtract_rows(&s, &batch);
                        }
                assert_int_equal(s.run.counters.shuffle_local_blocks, MAPS);
                assert_true(s.run.counters.shuffle_local_bytes > 0);
                shuffle_reader_source.close(in);
                task_run_end(&s.run);
        }
        shuffle_deinit(&s);
}

/* One output on disk, the other one in memory. */
static void reads_output_by_output_if_one_is_on_disk(void **state)
{
        struct small_shuffle s;
        struct page_cursor cursor;
        shuffle_init(&s);
        page_cursor_init(&cursor, PAIRS);
        assert_true(shuffle_store_evict(s.store, 1) > 0);
        for (int p = 0; p < PARTITIONS; p++) {
                struct shuffle_input *in = reader_begin(&s, p);
                const struct page *page;
                fst_batch batch;
                assert_int_equal(shuffle_reader_source.buckets(in), 0);
                while (shuffle_reader_source.next(in, &page) == 0 && page) {
                        page_cursor_start(&cursor, page);
                        while (page_cursor_next(&cursor, &batch))
                                subtract_rows(&s, &batch);
                }
                assert_int_equal(s.run.status, 0);
                shuffle_reader_source.close(in);
                task_run_end(&s.run);
        }
        page_cursor_deinit(&cursor);
        shuffle_deinit(&s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(page_keeps_rows_of_each_bucket),
                cmocka_unit_test(page_becomes_records),
                cmocka_unit_test(reads_the_rows_of_a_key_in_one_bucket),
                cmocka_unit_test(reads_output_by_output_if_one_is_on_disk),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
