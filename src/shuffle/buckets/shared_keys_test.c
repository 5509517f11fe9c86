/* Map outputs that share their keys: however they are read, each key comes with the sum of all its values. */
#include "shuffle/shuffle_writer.h"

#include "base/error.h"
#include "base/mem.h"
#include "rdd/aggregate/op_combine.h"
#include "rdd/pipeline/page_loan.h"
#include "rdd/pipeline/task_run.h"
#include "shuffle/shuffle_store.h"
#include "store/disk_dirs.h"
#include "store/page.h"
#include "store/spill.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum {
        PARTITIONS = 5,
        KEYS = 15500, /* of a task; the table grows when the keys of all tasks are in it */
        SHIFT = 200,  /* each task has this many keys that the one before had not, and lacks as many */
        TASKS = 5,
        ALL = KEYS + TASKS * SHIFT,
};

struct sharing {
        struct memory_manager *memory;
        struct spill_space space;
        struct shuffle_store *store;
        struct task_run run;
        fst_rdd shuffled;
        struct op *writer;
        struct shuffle_output *outputs[TASKS];
        int64_t expected[ALL], got[ALL];
        int times[ALL]; /* that a key came out of the reduce side */
        int ended, borrowed, values;
        size_t held; /* by the reduce task while its rows come out */
};

static struct sharing *now; /* of the test that runs */

static fst_bytes key_of(int number, char text[static 64])
{
        const char *form = number % 7 ? "k%d" : "a key that does not fit into a slot: k%d";
        return (fst_bytes){text, (size_t)snprintf(text, 64, form, number)};
}

static int number_of(fst_bytes key)
{
        const char *end = key.data + key.len, *digit = (const char *)memrchr(key.data, 'k', key.len) + 1;
        int number = 0;
        for (; digit < end; digit++)
                number = number * 10 + *digit - '0';
        assert_in_range(number, 0, ALL - 1);
        return number;
}

/* A task's rows: two of each key. */
static void sharing_feed(struct sharing *s, int task)
{
        static char text[FST_BATCH_ROWS][64];
        static fst_bytes keys[FST_BATCH_ROWS];
        static int64_t values[FST_BATCH_ROWS];
        for (int i = 0; i < 2 * KEYS;) {
                struct rows rows = {.batch = {.type = s->shuffled.type, .key.bytes = keys, .value.i64 = values}};
                for (; i < 2 * KEYS && rows.batch.rows < FST_BATCH_ROWS; i++) {
                        int number = task * SHIFT + i / 2;
                        memset(text[rows.batch.rows], 0, 64);
                        keys[rows.batch.rows] = key_of(number, text[rows.batch.rows]);
                        values[rows.batch.rows++] = 1 + number % 3;
                        s->expected[number] += 1 + number % 3;
                }
                assert_int_equal(s->writer->class->consume(s->writer, &rows), 0);
        }
}

static void sharing_init(struct sharing *s)
{
        struct fst_error error = FST_ERROR_INIT;
        *s = (struct sharing){.memory = memory_manager_new(512 << 20, 0.5)};
        now = s;
        assert_int_equal(disk_dirs_new("/tmp", 4, &s->space.dirs, &error), 0);
        s->store = shuffle_store_new(&s->space);
        s->shuffled = (fst_rdd){.type = FST_PAIR(BYTES, I64), .fn = fst_fn_sum};
        s->shuffled.shuffle.combine = true;
        partitioner_init_hash(&s->shuffled.shuffle.partitioner, PARTITIONS, s->shuffled.type);
        task_run_init(&s->run, s->memory, &s->space);
        s->writer = shuffle_writer_new(&s->run, &s->shuffled, s->store);
        shuffle_writer_stay_local(s->writer);
}

/* Runs the map tasks. */
static void sharing_write(struct sharing *s)
{
        for (int task = 0; task < TASKS; task++) {
                task_run_begin(&s->run, &(struct fst_task_info){0}, 1);
                assert_int_equal(s->writer->class->begin(s->writer), 0);
                sharing_feed(s, task);
                assert_int_equal(s->writer->class->end(s->writer), 0);
                s->outputs[task] = shuffle_writer_take(s->writer);
                assert_int_equal(s->outputs[task]->rows, KEYS);
                task_run_end(&s->run);
        }
}

static void sharing_deinit(struct sharing *s)
{
        for (int task = 0; task < TASKS; task++)
                shuffle_output_unref(s->outputs[task]);
        op_free(s->writer);
        assert_int_equal(memory_manager_storage_used(s->memory), 0);
        assert_int_equal(memory_manager_execution_used(s->memory), 0);
        task_run_deinit(&s->run);
        partitioner_deinit(&s->shuffled.shuffle.partitioner);
        shuffle_store_free(s->store);
        memory_manager_free(s->memory);
        disk_dirs_free(s->space.dirs);
}

static int collect_consume(struct op *op, const struct rows *in)
{
        now->held = memory_manager_execution_used(now->memory);
        for (uint32_t i = 0; i < in->batch.rows; i++) {
                int number = number_of(in->batch.key.bytes[i]);
                now->got[number] += in->batch.value.i64[i];
                now->times[number]++;
        }
        return 0;
}

static const struct op_class collect_class = {"collect", .consume = collect_consume};

static void loan_end(struct page_loan *loan)
{
        now->ended++;
}

/* Feeds a page to @op: lends it if @lend, and else reads its rows. */
static void sharing_feed_page(struct sharing *s, struct op *op, const struct page *page, bool lend)
{
        struct page_loan loan = {.end = loan_end};
        struct page_cursor cursor;
        struct rows rows = {0};
        uint32_t n = 0;
        s->values += page->keys != NULL;
        int r = lend ? op->class->borrow(op, page, &loan) : OP_NOT_BORROWED;
        s->borrowed += r == 0;
        if (r == 0)
                return;
        assert_int_equal(r, OP_NOT_BORROWED);
        page_cursor_init(&cursor, page->type);
        page_cursor_start(&cursor, page);
        for (; page_cursor_next(&cursor, &rows.batch); n += rows.batch.rows)
                assert_int_equal(op->class->consume(op, &rows), 0);
        assert_int_equal(n, page->rows);
        page_cursor_deinit(&cursor);
}

static void sharing_feed_output(struct sharing *s, struct op *op, const struct shuffle_output *o, int partition,
                                bool lend)
{
        const struct shuffle_partition *at = shuffle_output_at(o, partition);
        struct fst_error error = FST_ERROR_INIT;
        struct codec codec;
        codec_init(&codec, CODEC_NONE, 0);
        for (uint32_t e = at->extents; e; e = o->extents[e - 1].next) {
                struct page *page;
                assert_int_equal(spill_read_page(o->file, o->extents[e - 1].offset, o->extents[e - 1].length, &codec,
                                                 NULL, &page, &error),
                                 0);
                sharing_feed_page(s, op, page, lend);
                page_free(NULL, page);
        }
        codec_deinit(&codec);
        for (const struct page *page = at->last ? at->last->next : NULL; page;
             page = page == at->last ? NULL : page->next)
                sharing_feed_page(s, op, page, lend);
}

/* Runs the reduce tasks, and compares their rows. */
static void sharing_check(struct sharing *s, bool lend)
{
        memset(s->got, 0, sizeof(s->got));
        memset(s->times, 0, sizeof(s->times));
        s->values = s->borrowed = s->ended = 0;
        for (int p = 0; p < PARTITIONS; p++) {
                struct op collect = {0};
                op_init(&collect, &collect_class, &s->run, s->shuffled.type);
                struct op *op = combine_op_new(&s->run, s->shuffled.type, &s->shuffled.fn);
                op->next = &collect;
                task_run_begin(&s->run, &(struct fst_task_info){0}, 1);
                assert_int_equal(op_begin(op), 0);
                for (int task = 0; task < TASKS; task++)
                        sharing_feed_output(s, op, s->outputs[task], p, lend);
                assert_int_equal(op_end(op), 0);
                task_run_end(&s->run);
                op_free(op);
                op_deinit(&collect);
        }
        for (int number = 0; number < ALL; number++) {
                assert_int_equal(s->times[number], number < KEYS + (TASKS - 1) * SHIFT);
                assert_int_equal(s->got[number], s->expected[number]);
        }
        assert_int_equal(s->ended, s->borrowed);
}

static void outputs_share_keys(void **state)
{
        static struct sharing s;
        sharing_init(&s);
        sharing_write(&s);
        sharing_check(&s, true);
        assert_int_equal(s.values, (TASKS - 1) * PARTITIONS);
        assert_int_equal(s.borrowed, s.values);
        sharing_check(&s, false);
        assert_int_equal(s.borrowed, 0);
        sharing_deinit(&s);
}

/* Operators downstream may have the memory of sums that are in the table. */
static void sums_give_way_to_rows(void **state)
{
        static struct sharing s;
        sharing_init(&s);
        sharing_write(&s);
        sharing_check(&s, false);
        const size_t without = s.held;
        sharing_check(&s, true);
        assert_true(s.borrowed > 0);
        assert_int_equal(s.held, without);
        sharing_deinit(&s);
}

/* On disk, rows are records again. */
static void outputs_move_to_disk(void **state)
{
        static struct sharing s;
        struct fst_error error = FST_ERROR_INIT;
        sharing_init(&s);
        sharing_write(&s);
        for (int task = 1; task < TASKS; task += 2) {
                struct shuffle_output *o = s.outputs[task];
                size_t freed = 0;
                assert_int_equal(shuffle_output_to_disk(o, &s.space, &freed, &error), 0);
                assert_int_equal(shuffle_output_finish(o, &error), 0);
                assert_int_equal(freed, o->memory);
                assert_int_equal(o->pages, 0);
        }
        sharing_check(&s, true);
        assert_int_equal(s.values, (TASKS - 3) * PARTITIONS);
        sharing_deinit(&s);
}

/* Sums that could become 0 are not kept beside the table. */
static void large_sums_are_rows(void **state)
{
        static struct sharing s;
        sharing_init(&s);
        sharing_write(&s);
        for (int task = 1; task < 4; task++) {
                const struct page *page = shuffle_output_at(s.outputs[task], 0)->last->next;
                while (!page->keys)
                        page = page->next;
                uint32_t i = 0;
                while (page_values(page)[i] == 0)
                        i++;
                page_values(page)[i] += (int64_t)1 << 62;
                uint64_t *expected = (uint64_t *)&s.expected[number_of(page_values_keys(page)[i])];
                *expected += (uint64_t)1 << 62;
        }
        sharing_check(&s, true);
        assert_int_equal(s.borrowed, s.values - 3);
        sharing_deinit(&s);
}

/* Without memory for values, rows are records. */
static void memory_is_scarce(void **state)
{
        static struct sharing s;
        sharing_init(&s);
        const size_t region = memory_manager_pool(s.memory) / 2;
        assert_true(memory_acquire_fixed_storage(s.memory, region));
        sharing_write(&s);
        memory_release_storage(s.memory, region);
        sharing_check(&s, true);
        assert_int_equal(s.values, 0);
        sharing_deinit(&s);
}

/* A reduce task that fails leaves no sums. */
static void abandoned_sums_are_freed(void **state)
{
        static struct sharing s;
        sharing_init(&s);
        sharing_write(&s);
        struct op *op = combine_op_new(&s.run, s.shuffled.type, &s.shuffled.fn);
        task_run_begin(&s.run, &(struct fst_task_info){0}, 1);
        assert_int_equal(op_begin(op), 0);
        sharing_feed_output(&s, op, s.outputs[2], 0, true);
        assert_int_equal(s.borrowed, 1);
        op_abandon(op);
        task_run_end(&s.run);
        assert_int_equal(memory_manager_execution_used(s.memory), 0);
        op_free(op);
        sharing_check(&s, true);
        sharing_deinit(&s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(outputs_share_keys),       cmocka_unit_test(outputs_move_to_disk),
                cmocka_unit_test(large_sums_are_rows),      cmocka_unit_test(memory_is_scarce),
                cmocka_unit_test(abandoned_sums_are_freed), cmocka_unit_test(sums_give_way_to_rows),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
