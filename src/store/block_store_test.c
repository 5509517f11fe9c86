/* Tests cached blocks. docs/suites.md, BlockManagerSuite, maps Spark's tests to these. */
#include "store/block_store.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "unit/temp_dir.h"

#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cmocka.h>

#define TYPE FST_PAIR(BYTES, I64)
#define MIB ((size_t)1 << 20)

static struct disk_dirs *dirs;
static struct memory_manager *memory, *off_heap;
static struct block_store *store;
static const struct block_asker task_a = {.task = &task_a}, task_b = {.task = &task_b};

static int setup(void **state)
{
        log_set_level(LOG_OFF);
        return temp_dir_make(NULL) == 0 ? disk_dirs_new(temp_dir, 4, &dirs, NULL) : -1;
}

static int teardown(void **state)
{
        disk_dirs_free(dirs);
        return rmdir(temp_dir); /* fails if a file is left */
}

static void start(size_t pool, double fraction)
{
        memory = memory_manager_new(pool, fraction);
        store = block_store_new(&(struct block_store_options){
                .memory = memory, .off_heap = off_heap, .dirs = dirs, .codec = CODEC_LZ4});
}

static void start_with_off_heap(size_t pool, size_t off_heap_pool)
{
        off_heap = memory_manager_new(off_heap_pool, 0.5);
        start(pool, 0.5);
}

static void stop(void)
{
        block_store_free(store);
        assert_int_equal(memory_manager_storage_used(memory), 0);
        assert_int_equal(memory_manager_execution_used(memory), 0);
        memory_manager_free(memory);
        if (off_heap)
                assert_int_equal(memory_manager_storage_used(off_heap), 0);
        memory_manager_free(steal(off_heap));
}

/* Returns row @i of block @id. */
static int64_t value_of(struct block_id id, uint64_t i)
{
        return (int64_t)(i * 31 + (uint64_t)id.rdd * 1000003 + (uint64_t)id.partition * 7919);
}

static size_t key_of(struct block_id id, uint64_t i, char *text)
{
        return (size_t)sprintf(text, "key-%d-%d-%llu", id.rdd, id.partition, (unsigned long long)i);
}

static int append_rows(struct block_writer *w, struct block_id id, uint64_t rows)
{
        static _Thread_local char texts[FST_BATCH_ROWS][48];
        static _Thread_local fst_bytes keys[FST_BATCH_ROWS];
        static _Thread_local int64_t values[FST_BATCH_ROWS];
        int result = 0;
        for (uint64_t at = 0; at < rows && result == 0;) {
                fst_batch b = {.type = TYPE, .key.bytes = keys, .value.i64 = values};
                for (; b.rows < FST_BATCH_ROWS && at < rows; at++, b.rows++) {
                        keys[b.rows] = (fst_bytes){texts[b.rows], key_of(id, at, texts[b.rows])};
                        values[b.rows] = value_of(id, at);
                }
                result = block_writer_append(w, &b, NULL);
        }
        return result;
}

/*
 * Reads a held block to its end. Returns the number of rows, or negative. Each row must be the one that append_rows
 * wrote.
 */
static int64_t read_rows(struct block *block, struct block_id id)
{
        struct block_reader reader;
        struct fst_error error = FST_ERROR_INIT;
        int64_t rows = 0;
        int r = block_reader_init(&reader, block, &error);
        if (r < 0) {
                error_deinit(&error);
                return r;
        }
        for (fst_batch b; (r = block_reader_next(&reader, &b, &error)) == 0 && b.rows;)
                for (uint32_t i = 0; i < b.rows; i++, rows++) {
                        char text[48];
                        size_t len = key_of(id, (uint64_t)rows, text);
                        if (b.value.i64[i] != value_of(id, (uint64_t)rows) || b.key.bytes[i].len != len ||
                            memcmp(b.key.bytes[i].data, text, len))
                                abort();
                }
        block_reader_deinit(&reader);
        error_deinit(&error);
        return r < 0 ? r : rows;
}

static void put(int rdd, int partition, enum fst_storage_level level, uint64_t rows)
{
        struct block_id id = {rdd, partition};
        struct block *block = NULL;
        struct block_writer *w = NULL;
        assert_int_equal(block_store_acquire(store, &task_a, id, level, TYPE, &block, &w), FST_BLOCK_E_COMPUTE);
        assert_false(block_store_contains(store, id));
        assert_int_equal(append_rows(w, id, rows), 0);
        assert_int_equal(block_writer_commit(w, NULL), 0);
        assert_true(block_store_contains(store, id));
}

static int64_t get(int rdd, int partition)
{
        struct block *block = block_store_find(store, (struct block_id){rdd, partition});
        if (!block)
                return -ENOENT;
        int64_t rows = read_rows(block, (struct block_id){rdd, partition});
        block_release(block);
        return rows;
}

static struct block_status status(int rdd, int partition)
{
        struct block_status s = {.level = FST_STORAGE_NONE};
        block_store_status(store, (struct block_id){rdd, partition}, &s);
        return s;
}

#define MIB_ROWS 38000 /* about 1 MiB of these rows */

static void a_block_is_read_as_it_was_written(void **state)
{
        start(16 * MIB, 0.5);
        put(1, 0, FST_STORAGE_MEMORY_ONLY, 5);
        put(1, 1, FST_STORAGE_MEMORY_AND_DISK, MIB_ROWS);
        put(1, 2, FST_STORAGE_DISK_ONLY, MIB_ROWS);
        put(1, 3, FST_STORAGE_DISK_ONLY, 0);
        put(1, 4, FST_STORAGE_MEMORY_ONLY, 0);
        assert_int_equal(get(1, 0), 5);
        assert_int_equal(get(1, 1), MIB_ROWS);
        assert_int_equal(get(1, 2), MIB_ROWS);
        assert_int_equal(get(1, 3), 0);
        assert_int_equal(get(1, 4), 0);
        assert_int_equal(get(1, 5), -ENOENT);
        assert_true(status(1, 0).memory_bytes < 300); /* a small block needs little memory */
        assert_true(status(1, 1).memory_bytes > MIB / 2);
        assert_int_equal(status(1, 1).disk_bytes, 0);
        assert_int_equal(status(1, 2).memory_bytes, 0);
        assert_true(status(1, 2).disk_bytes > 0);
        assert_int_equal(status(1, 2).rows, MIB_ROWS);
        assert_int_equal(block_store_memory_used(store), memory_manager_storage_used(memory));
        assert_int_equal(block_store_disk_used(store), status(1, 2).disk_bytes + status(1, 3).disk_bytes);
        struct block *block = NULL;
        struct block_writer *w = NULL;
        assert_int_equal(
                block_store_acquire(store, &task_b, (struct block_id){1, 0}, FST_STORAGE_MEMORY_ONLY, TYPE, &block, &w),
                0);
        block_release(block);
        assert_int_equal(block_store_remove_rdd(store, 1), 5);
        assert_int_equal(get(1, 0), -ENOENT);
        assert_int_equal(block_store_memory_used(store), 0);
        assert_int_equal(block_store_disk_used(store), 0);
        stop();
}

static void blocks_without_room_are_given_up_or_go_to_disk(void **state)
{
        start(2 * MIB, 0.5);
        struct block_id id = {1, 0};
        struct block *block = NULL;
        struct block_writer *w = NULL;
        block_store_acquire(store, &task_a, id, FST_STORAGE_MEMORY_ONLY, TYPE, &block, &w);
        assert_int_equal(append_rows(w, id, 4 * MIB_ROWS), FST_BLOCK_E_GIVEN_UP);
        assert_int_equal(memory_manager_storage_used(memory), 0);
        assert_int_equal(append_rows(w, id, 10), 0);
        assert_int_equal(block_writer_commit(w, NULL), FST_BLOCK_E_GIVEN_UP);
        assert_false(block_store_contains(store, id));
        put(1, 1, FST_STORAGE_MEMORY_AND_DISK, 4 * MIB_ROWS);
        assert_int_equal(status(1, 1).memory_bytes, 0);
        assert_int_equal(memory_manager_storage_used(memory), 0);
        assert_int_equal(get(1, 1), 4 * MIB_ROWS);
        stop();
}

static void acquire_again(int rdd, int partition, enum fst_storage_level level)
{
        struct block *block = NULL;
        struct block_writer *w = NULL;
        assert_int_equal(
                block_store_acquire(store, &task_b, (struct block_id){rdd, partition}, level, TYPE, &block, &w), 0);
        block_release(block);
}

/* A checkpoint changes an RDD with blocks in memory to a level with disk. The next reader applies it. */
static void blocks_get_disk_with_their_rdd(void **state)
{
        start(4 * MIB, 0.5);
        put(1, 0, FST_STORAGE_MEMORY_ONLY, MIB_ROWS);
        put(2, 0, FST_STORAGE_MEMORY_ONLY_SER, MIB_ROWS);
        put(3, 0, FST_STORAGE_MEMORY_ONLY, MIB_ROWS);
        acquire_again(1, 0, FST_STORAGE_MEMORY_AND_DISK);
        acquire_again(2, 0, FST_STORAGE_MEMORY_AND_DISK_SER);
        acquire_again(3, 0, FST_STORAGE_MEMORY_ONLY);
        assert_int_equal(status(1, 0).level, FST_STORAGE_MEMORY_AND_DISK);
        assert_int_equal(status(2, 0).level, FST_STORAGE_MEMORY_AND_DISK_SER);
        assert_int_equal(status(3, 0).level, FST_STORAGE_MEMORY_ONLY);
        put(4, 0, FST_STORAGE_MEMORY_ONLY, 4 * MIB_ROWS - 20000);
        assert_int_equal(status(1, 0).memory_bytes, 0);
        assert_int_equal(get(1, 0), MIB_ROWS);
        assert_int_equal(get(2, 0), MIB_ROWS);
        assert_int_equal(get(3, 0), -ENOENT);
        stop();
}

static void serialized_levels_take_less_memory(void **state)
{
        start(8 * MIB, 0.5);
        put(1, 0, FST_STORAGE_MEMORY_ONLY, 2 * MIB_ROWS);
        put(2, 0, FST_STORAGE_MEMORY_ONLY_SER, 2 * MIB_ROWS);
        put(3, 0, FST_STORAGE_MEMORY_AND_DISK_SER_2, 100);
        put(4, 0, FST_STORAGE_MEMORY_ONLY_SER, 0);
        assert_true(status(1, 0).memory_bytes > 2 * status(2, 0).memory_bytes);
        assert_true(status(2, 0).memory_bytes > MIB / 4);
        assert_true(status(3, 0).memory_bytes < 8192);
        assert_int_equal(status(2, 0).rows, 2 * MIB_ROWS);
        for (int i = 0; i < 2; i++) {
                assert_int_equal(get(1, 0), 2 * MIB_ROWS);
                assert_int_equal(get(2, 0), 2 * MIB_ROWS);
                assert_int_equal(get(3, 0), 100);
                assert_int_equal(get(4, 0), 0);
        }
        assert_int_equal(block_store_memory_used(store), memory_manager_storage_used(memory));
        stop();
}

static void packed_blocks_go_to_disk_unchanged(void **state)
{
        start(4 * MIB, 0.5);
        put(1, 0, FST_STORAGE_MEMORY_AND_DISK_SER, 4 * MIB_ROWS);
        size_t packed = status(1, 0).memory_bytes;
        put(2, 0, FST_STORAGE_MEMORY_ONLY, 4 * MIB_ROWS - 20000);
        assert_int_equal(status(1, 0).memory_bytes, 0);
        assert_in_range(status(1, 0).disk_bytes, packed - PAGE_BLOCK, packed);
        assert_int_equal(get(1, 0), 4 * MIB_ROWS);
        /* A block that outgrows memory continues on disk or is given up. */
        put(3, 0, FST_STORAGE_MEMORY_AND_DISK_SER, 30 * MIB_ROWS);
        assert_true(status(3, 0).disk_bytes > 4 * MIB);
        assert_int_equal(get(3, 0), 30 * MIB_ROWS);
        struct block_id id = {4, 0};
        struct block *block = NULL;
        struct block_writer *w = NULL;
        assert_int_equal(block_store_acquire(store, &task_a, id, FST_STORAGE_MEMORY_ONLY_SER, TYPE, &block, &w),
                         FST_BLOCK_E_COMPUTE);
        assert_int_equal(append_rows(w, id, 30 * MIB_ROWS), FST_BLOCK_E_GIVEN_UP);
        assert_int_equal(block_writer_commit(w, NULL), FST_BLOCK_E_GIVEN_UP);
        assert_int_equal(get(4, 0), -ENOENT);
        stop();
}

/* Records larger than a page: their frames span several pages. */
static void large_records_are_packed(void **state)
{
        enum { LONG = 700000 };
        start(16 * MIB, 0.5);
        struct block_id id = {1, 0};
        struct block *block = NULL;
        struct block_writer *w = NULL;
        char *bytes = mem_alloc(LONG);
        for (int i = 0; i < LONG; i++)
                bytes[i] = (char)(i * 2654435761u >> 13);
        assert_int_equal(block_store_acquire(store, &task_a, id, FST_STORAGE_OFF_HEAP, TYPE, &block, &w),
                         FST_BLOCK_E_COMPUTE);
        block_writer_abort(w);
        assert_int_equal(block_store_acquire(store, &task_a, id, FST_STORAGE_MEMORY_AND_DISK_SER, TYPE, &block, &w),
                         FST_BLOCK_E_COMPUTE);
        for (int64_t i = 0; i < 5; i++) {
                fst_bytes key = {bytes, i == 3 ? 10 : LONG - (size_t)i};
                fst_batch b = {.type = TYPE, .rows = 1, .key.bytes = &key, .value.i64 = &i};
                assert_int_equal(block_writer_append(w, &b, NULL), 0);
        }
        assert_int_equal(block_writer_commit(w, NULL), 0);
        assert_true(status(1, 0).memory_bytes > 4 * LONG);
        for (int round = 0; round < 2; round++) { /* in memory, then on disk */
                struct block_reader reader;
                fst_batch b;
                int64_t i = 0;
                block = block_store_find(store, id);
                assert_int_equal(block_reader_init(&reader, block, NULL), 0);
                for (; block_reader_next(&reader, &b, NULL) == 0 && b.rows; i += b.rows)
                        for (uint32_t k = 0; k < b.rows; k++) {
                                assert_int_equal(b.value.i64[k], i + k);
                                assert_int_equal(b.key.bytes[k].len, i + k == 3 ? 10 : LONG - i - k);
                                assert_memory_equal(b.key.bytes[k].data, bytes, b.key.bytes[k].len);
                        }
                assert_int_equal(i, 5);
                block_reader_deinit(&reader);
                block_release(block);
                block_store_evict(store, 16 * MIB);
                assert_int_equal(status(1, 0).memory_bytes, 0);
        }
        free(bytes);
        stop();
}

static void off_heap_blocks_use_their_own_memory(void **state)
{
        start_with_off_heap(4 * MIB, 2 * MIB);
        put(1, 0, FST_STORAGE_MEMORY_ONLY, 3 * MIB_ROWS);
        put(2, 0, FST_STORAGE_OFF_HEAP, 3 * MIB_ROWS);
        size_t first = status(2, 0).memory_bytes;
        assert_true(first > 0);
        assert_int_equal(memory_manager_storage_used(off_heap), first);
        assert_int_equal(memory_manager_storage_used(memory), status(1, 0).memory_bytes);
        put(3, 0, FST_STORAGE_OFF_HEAP, 6 * MIB_ROWS); /* evicts (2, 0) to disk; (1, 0) is not affected */
        assert_int_equal(status(2, 0).memory_bytes, 0);
        assert_true(status(3, 0).memory_bytes > 0);
        assert_int_equal(get(1, 0), 3 * MIB_ROWS);
        put(4, 0, FST_STORAGE_MEMORY_ONLY, 3 * MIB_ROWS); /* and the other way round */
        assert_int_equal(get(1, 0), -ENOENT);
        assert_true(status(3, 0).memory_bytes > 0);
        assert_int_equal(get(2, 0), 3 * MIB_ROWS);
        assert_int_equal(get(3, 0), 6 * MIB_ROWS);
        stop();
        /* Without off-heap memory such blocks are on disk, as in Spark. */
        start(4 * MIB, 0.5);
        put(2, 0, FST_STORAGE_OFF_HEAP, MIB_ROWS);
        assert_int_equal(status(2, 0).memory_bytes, 0);
        assert_true(status(2, 0).disk_bytes > 0);
        assert_int_equal(get(2, 0), MIB_ROWS);
        stop();
}

static void evicts_the_least_recently_used_block_of_other_rdds(void **state)
{
        start(4 * MIB, 0.5);
        put(1, 0, FST_STORAGE_MEMORY_ONLY, MIB_ROWS);
        put(2, 0, FST_STORAGE_MEMORY_AND_DISK, MIB_ROWS);
        put(3, 0, FST_STORAGE_MEMORY_ONLY, MIB_ROWS);
        assert_int_equal(get(1, 0), MIB_ROWS); /* order of use: 2, 3, 1 */
        struct block *held = block_store_find(store, (struct block_id){3, 0});
        put(4, 0, FST_STORAGE_MEMORY_ONLY, 2 * MIB_ROWS);
        assert_true(status(2, 0).disk_bytes > 0);
        assert_true(status(2, 0).memory_bytes == 0);
        assert_int_equal(get(2, 0), MIB_ROWS);
        /* Blocks of the same RDD and blocks being read stay, so only (1, 0) can be evicted for the next one. */
        struct block_id id = {4, 1};
        struct block *block = NULL;
        struct block_writer *w = NULL;
        block_store_acquire(store, &task_a, id, FST_STORAGE_MEMORY_ONLY, TYPE, &block, &w);
        assert_int_equal(append_rows(w, id, 3 * MIB_ROWS), FST_BLOCK_E_GIVEN_UP);
        block_writer_abort(w);
        assert_false(block_store_contains(store, (struct block_id){1, 0}));
        assert_true(block_store_contains(store, (struct block_id){4, 0}));
        assert_int_equal(read_rows(held, (struct block_id){3, 0}), MIB_ROWS);
        block_release(held);
        stop();
}

static struct block_status heard[16];
static int n_heard;

static void hear(void *owner, const struct block_status *s)
{
        heard[n_heard++] = *s;
}

static void execution_takes_memory_from_blocks(void **state)
{
        start(4 * MIB, 0.25);
        n_heard = 0;
        block_store_set_observer(store, hear, NULL);
        put(1, 0, FST_STORAGE_MEMORY_AND_DISK, MIB_ROWS);
        put(1, 1, FST_STORAGE_MEMORY_ONLY, MIB_ROWS);
        put(1, 2, FST_STORAGE_MEMORY_ONLY, MIB_ROWS / 2);
        assert_int_equal(n_heard, 3);
        struct memory_task *task = memory_task_new(memory);
        struct memory_consumer c;
        memory_consumer_init(&c, task, "test", NULL);
        assert_int_equal(memory_acquire(&c, 3 * MIB), 0);
        assert_true(memory_manager_storage_used(memory) <= MIB);
        assert_int_equal(n_heard, 5);
        assert_int_equal(heard[3].id.partition, 0);
        assert_true(heard[3].disk_bytes > 0);
        assert_int_equal(heard[4].id.partition, 1);
        assert_int_equal(heard[4].level, FST_STORAGE_NONE);
        assert_int_equal(get(1, 0), MIB_ROWS);
        assert_int_equal(get(1, 1), -ENOENT);
        assert_int_equal(get(1, 2), MIB_ROWS / 2);
        memory_task_free(task);
        assert_true(block_store_remove(store, (struct block_id){1, 0}));
        assert_false(block_store_remove(store, (struct block_id){1, 0}));
        assert_int_equal(n_heard, 6);
        assert_int_equal(heard[5].level, FST_STORAGE_NONE);
        stop();
}

static void remove_partition_1(void *owner, const struct block_status *s)
{
        if (s->id.partition == 0)
                (void)block_store_remove(owner, (struct block_id){1, 1});
}

/* Another thread may remove a block that was chosen for eviction before its turn comes. */
static void a_victim_is_removed_before_its_turn(void **state)
{
        start(4 * MIB, 0.25);
        for (int i = 0; i < 3; i++)
                put(1, i, FST_STORAGE_MEMORY_ONLY, MIB_ROWS / 2);
        block_store_set_observer(store, remove_partition_1, store);
        assert_true(block_store_evict(store, 4 * MIB) > 0);
        assert_int_equal(memory_manager_storage_used(memory), 0);
        for (int i = 0; i < 3; i++)
                assert_int_equal(get(1, i), -ENOENT);
        stop();
}

struct second {
        struct block_id id;
        atomic_int result; /* 1 + the result of acquire */
        struct block *block;
        struct block_writer *writer;
};

static void *second_run(void *argument)
{
        struct second *s = argument;
        int r = block_store_acquire(store, &task_b, s->id, FST_STORAGE_MEMORY_ONLY, TYPE, &s->block, &s->writer);
        atomic_store(&s->result, 1 + r);
        return NULL;
}

static void a_second_task_waits_and_then_reads_or_computes(void **state)
{
        start(4 * MIB, 0.5);
        for (int commits = 0; commits < 2; commits++) {
                struct second s = {.id = {1, commits}};
                struct block *block = NULL;
                struct block_writer *w = NULL, *again = NULL;
                pthread_t thread;
                assert_int_equal(block_store_acquire(store, &task_a, s.id, FST_STORAGE_MEMORY_ONLY, TYPE, &block, &w),
                                 FST_BLOCK_E_COMPUTE);
                assert_int_equal(
                        block_store_acquire(store, &task_a, s.id, FST_STORAGE_MEMORY_ONLY, TYPE, &block, &again),
                        FST_BLOCK_E_BYPASS);
                assert_int_equal(pthread_create(&thread, NULL, second_run, &s), 0);
                assert_int_equal(append_rows(w, s.id, 100), 0);
                usleep(20000);
                assert_int_equal(atomic_load(&s.result), 0);
                if (commits)
                        assert_int_equal(block_writer_commit(w, NULL), 0);
                else
                        block_writer_abort(w);
                pthread_join(thread, NULL);
                assert_int_equal(s.result, 1 + (commits ? 0 : FST_BLOCK_E_COMPUTE));
                if (commits) {
                        assert_int_equal(read_rows(s.block, s.id), 100);
                        block_release(s.block);
                } else {
                        block_writer_abort(s.writer);
                        block_writer_abort(NULL);
                }
        }
        stop();
}

/* A writer may wait for execution memory, so a task that holds some must not wait for the writer. */
static void a_task_that_holds_memory_does_not_wait_for_a_writer(void **state)
{
        start(4 * MIB, 0.5);
        struct block_id id = {1, 0};
        struct block_asker holder = {.task = &holder, .holds_memory = true};
        struct block *block = NULL;
        struct block_writer *w = NULL, *none = NULL;
        assert_int_equal(block_store_acquire(store, &task_a, id, FST_STORAGE_MEMORY_ONLY, TYPE, &block, &w),
                         FST_BLOCK_E_COMPUTE);
        assert_int_equal(block_store_acquire(store, &holder, id, FST_STORAGE_MEMORY_ONLY, TYPE, &block, &none),
                         FST_BLOCK_E_BYPASS);
        assert_null(none);
        assert_int_equal(append_rows(w, id, 10), 0);
        assert_int_equal(block_writer_commit(w, NULL), 0);
        assert_int_equal(block_store_acquire(store, &holder, id, FST_STORAGE_MEMORY_ONLY, TYPE, &block, &none), 0);
        block_release(block);
        stop();
}

static void *stop_soon(void *flag)
{
        usleep(10000);
        __atomic_store_n((int *)flag, 1, __ATOMIC_RELAXED);
        return NULL;
}

static void a_killed_task_stops_waiting(void **state)
{
        start(4 * MIB, 0.5);
        struct block_id id = {1, 0};
        int flag = 0;
        struct block_asker stopped = {.task = &stopped, .stopped = &flag};
        struct block *block = NULL;
        struct block_writer *w = NULL, *none = NULL;
        pthread_t thread;
        assert_int_equal(block_store_acquire(store, &task_a, id, FST_STORAGE_MEMORY_ONLY, TYPE, &block, &w),
                         FST_BLOCK_E_COMPUTE);
        assert_int_equal(pthread_create(&thread, NULL, stop_soon, &flag), 0);
        assert_int_equal(block_store_acquire(store, &stopped, id, FST_STORAGE_MEMORY_ONLY, TYPE, &block, &none),
                         -ECANCELED);
        pthread_join(thread, NULL);
        block_writer_abort(w);
        stop();
}

static void unpersist_lets_readers_and_writers_end(void **state)
{
        start(4 * MIB, 0.5);
        struct block_id id = {1, 0};
        struct block *block = NULL;
        struct block_writer *w = NULL;
        put(1, 0, FST_STORAGE_DISK_ONLY, MIB_ROWS);
        struct block *held = block_store_find(store, id);
        assert_int_equal(block_store_remove_rdd(store, 1), 1);
        put(1, 0, FST_STORAGE_DISK_ONLY, 10); /* the old one's file still exists */
        assert_int_equal(read_rows(held, id), MIB_ROWS);
        assert_int_equal(get(1, 0), 10);
        block_release(held);
        assert_int_equal(get(1, 0), 10);
        id.partition = 1;
        block_store_acquire(store, &task_a, id, FST_STORAGE_MEMORY_ONLY, TYPE, &block, &w);
        assert_int_equal(append_rows(w, id, 10), 0);
        assert_int_equal(block_store_remove_rdd(store, 1), 1);
        assert_int_equal(append_rows(w, id, 10), 0);
        assert_int_equal(block_writer_commit(w, NULL), FST_BLOCK_E_GIVEN_UP);
        assert_false(block_store_contains(store, id));
        stop();
}

static void a_damaged_block_is_found_and_removed(void **state)
{
        start(4 * MIB, 0.5);
        put(7, 3, FST_STORAGE_DISK_ONLY, MIB_ROWS);
        _cleanup_free_ char *pattern = mem_printf("%s/*/*/rdd_7_3", temp_dir);
        glob_t found;
        assert_int_equal(glob(pattern, 0, NULL, &found), 0);
        int fd = open(found.gl_pathv[0], O_WRONLY | O_CLOEXEC);
        assert_int_equal(pwrite(fd, "damage", 6, 20000), 6);
        close(fd);
        globfree(&found);
        assert_int_equal(get(7, 3), -EBADMSG);
        assert_int_equal(get(7, 3), -ENOENT);
        put(7, 3, FST_STORAGE_DISK_ONLY, 10);
        assert_int_equal(get(7, 3), 10);
        stop();
}

static void removes_a_block_without_its_file(void **state)
{
        start(4 * MIB, 0.5);
        put(7, 3, FST_STORAGE_DISK_ONLY, MIB_ROWS);
        _cleanup_free_ char *command = mem_printf("rm -f %s/blockmgr-*/*/rdd_7_3", temp_dir);
        assert_int_equal(system(command), 0);
        assert_int_equal(get(7, 3), -ENOENT); /* opening fails */
        assert_false(block_store_contains(store, (struct block_id){7, 3}));
        put(7, 3, FST_STORAGE_DISK_ONLY, 10);
        assert_int_equal(get(7, 3), 10);
        stop();
}

/* Partitions of one RDD do not evict each other: the first ones stay, and those without room are not cached. */
static void partitions_of_one_rdd_stay(void **state)
{
        enum { ROWS = MIB_ROWS / 4 * 5 };
        start(4 * MIB, 0.5);
        for (int p = 0; p < 3; p++)
                put(1, p, FST_STORAGE_MEMORY_ONLY, ROWS);
        struct block_id id = {1, 3};
        struct block *block = NULL;
        struct block_writer *w = NULL;
        block_store_acquire(store, &task_a, id, FST_STORAGE_MEMORY_ONLY, TYPE, &block, &w);
        assert_int_equal(append_rows(w, id, ROWS), FST_BLOCK_E_GIVEN_UP);
        assert_int_equal(block_writer_commit(w, NULL), FST_BLOCK_E_GIVEN_UP);
        put(1, 4, FST_STORAGE_MEMORY_AND_DISK, ROWS); /* beside them, on disk */
        assert_int_equal(status(1, 4).memory_bytes, 0);
        for (int p = 0; p < 5; p++)
                assert_int_equal(get(1, p), p == 3 ? -ENOENT : (int64_t)ROWS);
        /* For another RDD they are evicted in order of use, so far by number. Use (1, 0) again. */
        assert_int_equal(get(1, 0), ROWS);
        put(2, 0, FST_STORAGE_MEMORY_ONLY, ROWS);
        assert_int_equal(get(1, 1), -ENOENT);
        assert_int_equal(get(1, 0), ROWS);
        assert_int_equal(get(1, 2), ROWS);
        stop();
}

/* A block larger than all memory is not cached, and evicts no block that is being read. */
static void an_overly_large_block_is_not_kept(void **state)
{
        start(4 * MIB, 0.5);
        put(1, 0, FST_STORAGE_MEMORY_ONLY, MIB_ROWS);
        struct block *held = block_store_find(store, (struct block_id){1, 0});
        struct block_id id = {2, 0};
        struct block *block = NULL;
        struct block_writer *w = NULL;
        block_store_acquire(store, &task_a, id, FST_STORAGE_MEMORY_ONLY, TYPE, &block, &w);
        assert_int_equal(append_rows(w, id, 5 * MIB_ROWS), FST_BLOCK_E_GIVEN_UP);
        assert_int_equal(memory_manager_storage_used(memory), status(1, 0).memory_bytes); /* at once */
        assert_int_equal(block_writer_commit(w, NULL), FST_BLOCK_E_GIVEN_UP);
        block_release(held);
        put(2, 0, FST_STORAGE_MEMORY_AND_DISK, 5 * MIB_ROWS);
        assert_int_equal(status(2, 0).memory_bytes, 0);
        assert_int_equal(get(2, 0), 5 * MIB_ROWS);
        stop();
}

static void a_full_disk_loses_only_the_block(void **state)
{
        start(4 * MIB, 0.5);
        struct rlimit before, limit;
        signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &before);
        limit = before;
        limit.rlim_cur = 10000;
        setrlimit(RLIMIT_FSIZE, &limit);
        put(1, 0, FST_STORAGE_MEMORY_AND_DISK, 2 * MIB_ROWS);
        put(2, 0, FST_STORAGE_MEMORY_ONLY,
            3 * MIB_ROWS); /* (1, 0) must leave memory and cannot go to disk: it is dropped */
        assert_int_equal(get(1, 0), -ENOENT);
        assert_int_equal(get(2, 0), 3 * MIB_ROWS);
        struct block_id id = {3, 0};
        struct block *block = NULL;
        struct block_writer *w = NULL;
        struct fst_error error = FST_ERROR_INIT;
        block_store_acquire(store, &task_a, id, FST_STORAGE_DISK_ONLY, TYPE, &block, &w);
        assert_int_equal(append_rows(w, id, 100 * MIB_ROWS), -EFBIG);
        assert_int_equal(block_writer_commit(w, &error), -EIO);
        assert_false(block_store_contains(store, id));
        error_deinit(&error);
        setrlimit(RLIMIT_FSIZE, &before);
        signal(SIGXFSZ, SIG_DFL);
        stop();
}

/* Tasks on threads cache, read, unpersist and take execution memory at random in a pool that is too small. */
static void *churn(void *argument)
{
        unsigned seed = (unsigned)(uintptr_t)argument;
        const struct block_asker me = {.task = &me};
        for (int i = 0; i < 150; i++) {
                struct block_id id = {rand_r(&seed) % 3, rand_r(&seed) % 6};
                uint64_t rows = 5000u * (unsigned)(1 + (id.rdd + id.partition) % 4);
                enum fst_storage_level level = (enum fst_storage_level)(1 + (id.rdd + id.partition) % 3);
                struct block *block = NULL;
                struct block_writer *w = NULL;
                int r = block_store_acquire(store, &me, id, level, TYPE, &block, &w);
                if (r == 0) {
                        if (read_rows(block, id) != (int64_t)rows)
                                abort();
                        block_release(block);
                } else if (rand_r(&seed) % 8 == 0) {
                        append_rows(w, id, rows / 2);
                        block_writer_abort(w);
                } else {
                        if (append_rows(w, id, rows) < 0 || block_writer_commit(w, NULL) < 0)
                                abort();
                }
                if (rand_r(&seed) % 16 == 0)
                        block_store_remove_rdd(store, id.rdd);
                if (rand_r(&seed) % 4 == 0) {
                        struct memory_task *task = memory_task_new(memory);
                        struct memory_consumer c;
                        memory_consumer_init(&c, task, "churn", NULL);
                        for (int j = 0; j < 4; j++)
                                memory_acquire(&c, 1 + (size_t)rand_r(&seed) % 400000);
                        memory_task_free(task);
                }
        }
        return NULL;
}

static void many_tasks_churn(void **state)
{
        start(3 * MIB, 0.3);
        pthread_t threads[4];
        for (uintptr_t i = 0; i < 4; i++)
                assert_int_equal(pthread_create(&threads[i], NULL, churn, (void *)(i + 1)), 0);
        for (int i = 0; i < 4; i++)
                pthread_join(threads[i], NULL);
        assert_int_equal(block_store_memory_used(store), memory_manager_storage_used(memory));
        for (int rdd = 0; rdd < 3; rdd++)
                block_store_remove_rdd(store, rdd);
        assert_int_equal(block_store_memory_used(store), 0);
        assert_int_equal(block_store_disk_used(store), 0);
        stop();
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_block_is_read_as_it_was_written),
                cmocka_unit_test(blocks_without_room_are_given_up_or_go_to_disk),
                cmocka_unit_test(blocks_get_disk_with_their_rdd),
                cmocka_unit_test(serialized_levels_take_less_memory),
                cmocka_unit_test(packed_blocks_go_to_disk_unchanged),
                cmocka_unit_test(large_records_are_packed),
                cmocka_unit_test(off_heap_blocks_use_their_own_memory),
                cmocka_unit_test(partitions_of_one_rdd_stay),
                cmocka_unit_test(an_overly_large_block_is_not_kept),
                cmocka_unit_test(removes_a_block_without_its_file),
                cmocka_unit_test(evicts_the_least_recently_used_block_of_other_rdds),
                cmocka_unit_test(execution_takes_memory_from_blocks),
                cmocka_unit_test(a_victim_is_removed_before_its_turn),
                cmocka_unit_test(a_second_task_waits_and_then_reads_or_computes),
                cmocka_unit_test(a_task_that_holds_memory_does_not_wait_for_a_writer),
                cmocka_unit_test(a_killed_task_stops_waiting),
                cmocka_unit_test(unpersist_lets_readers_and_writers_end),
                cmocka_unit_test(a_damaged_block_is_found_and_removed),
                cmocka_unit_test(many_tasks_churn),
                cmocka_unit_test(a_full_disk_loses_only_the_block),
        };
        return cmocka_run_group_tests(tests, setup, teardown);
}
