/* Tests persisted RDDs with several threads, evictions and early ends, and applications that stop while other threads
 * wait. */
#include "base/mem.h"
#include "api/api_fixture.h"

/* Functions of tasks count their calls here: this process is the only executor. */
static int calls;
static fst_rdd *dropped;

static int64_t counted(fst_task *task, int64_t x)
{
        __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
        return x;
}

static int called(void)
{
        return __atomic_exchange_n(&calls, 0, __ATOMIC_RELAXED);
}

static int to_pair(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x % 1000, x);
        return 0;
}

static enum { DROP_IDLE, DROP_WANTED, DROP_DONE, DROP_END } drop_state; /* atomic */

/* Waits until the driver has unpersisted the RDD. Only the driver may do so. */
static int64_t drop(fst_task *task, int64_t key, int64_t value)
{
        if (key == *(const int64_t *)fst_captured(task)) {
                __atomic_store_n(&drop_state, DROP_WANTED, __ATOMIC_RELEASE);
                while (__atomic_load_n(&drop_state, __ATOMIC_ACQUIRE) == DROP_WANTED)
                        usleep(100);
        }
        return value;
}

static void *drop_when_wanted(void *arg)
{
        for (int now; (now = __atomic_load_n(&drop_state, __ATOMIC_ACQUIRE)) != DROP_END; usleep(100))
                if (now == DROP_WANTED) {
                        fst_unpersist(dropped);
                        __atomic_store_n(&drop_state, DROP_DONE, __ATOMIC_RELEASE);
                }
        return NULL;
}

static int pass(fst_task *task, fst_iter *rows, fst_out *out)
{
        int64_t x;
        while (fst_next(rows, &x))
                fst_emit(out, x);
        return 0;
}

static int first_of_each(fst_task *task, fst_iter *rows, fst_out *out)
{
        int64_t x;
        if (fst_next(rows, &x))
                fst_emit(out, x);
        return 0;
}

static void computes_persisted_rows_once(void **state)
{
        int64_t n;
        fst_rdd *kept = fst_cache(fst_map(fst_range_n(*state, 0, 50000, 8), counted, FST_I64));
        called();
        for (int i = 0; i < 3; i++) {
                assert_int_equal(fst_count(kept, &n), 0);
                assert_int_equal(n, 50000);
        }
        assert_int_equal(called(), 50000);
        fst_unpersist(kept);
        assert_int_equal(fst_count(kept, &n), 0);
        assert_int_equal(called(), 50000);
}

/* As in Spark, a partition is computed and kept as a whole, however few of its rows are needed. */
static void keeps_partition_of_which_few_rows_are_taken(void **state)
{
        int64_t n, x;
        fst_iter *rows;
        fst_rdd *kept = fst_cache(fst_map(fst_range_n(*state, 0, 50000, 2), counted, FST_I64));
        called();
        assert_int_equal(fst_take(kept, 3000, &rows), 0);
        assert_int_equal(called(), 25000);
        for (n = 0; fst_next(rows, &x); n++)
                assert_int_equal(x, n);
        assert_int_equal(n, 3000);
        assert_int_equal(fst_count(fst_map_partitions(kept, first_of_each, FST_I64), &n), 0);
        assert_int_equal(n, 2);
        assert_int_equal(called(), 25000);
        assert_int_equal(fst_reduce(kept, fst_fn_sum, &x), 0);
        assert_int_equal(x, 49999LL * 25000);
        assert_int_equal(called(), 0);
}

/* What does not fit in memory is neither kept nor computed to its end. */
static void leaves_partition_that_does_not_fit(void **state)
{
        fst_context *sc = api_context("local[2]", "spark.driver.memory", "32m", NULL);
        fst_iter *rows;
        fst_rdd *kept = fst_persist(fst_map(fst_range_n(sc, 0, 10000000, 1), counted, FST_I64), FST_STORAGE_MEMORY_ONLY);
        called();
        assert_int_equal(fst_take(kept, 10, &rows), 0);
        assert_in_range(called(), 10, 9000000);
        assert_int_equal(fst_context_stop(sc), 0);
}

static void persists_rows_of_iterators(void **state)
{
        int64_t n, x;
        fst_rdd *numbers = fst_map(fst_range_n(*state, 0, 50000, 8), counted, FST_I64);
        fst_rdd *kept = fst_cache(fst_map_partitions(numbers, pass, FST_I64));
        fst_rdd *fewer = fst_coalesce(fst_map_partitions(kept, pass, FST_I64), 3);
        called();
        for (int i = 0; i < 2; i++) {
                assert_int_equal(fst_count(fewer, &n), 0);
                assert_int_equal(n, 50000);
                assert_int_equal(fst_reduce(fewer, fst_fn_sum, &x), 0);
                assert_int_equal(x, 49999LL * 25000);
        }
        assert_int_equal(called(), 50000);
}

/* Blocks that exist when the job begins may be gone when its tasks run. */
static void recomputes_blocks_lost_during_a_job(void **state)
{
        int64_t n, key = 500;
        pthread_t driver;
        assert_int_equal(pthread_create(&driver, NULL, drop_when_wanted, NULL), 0);
        for (int order = 0; order < 2; order++) {
                fst_rdd *pairs = fst_map(fst_range_n(*state, 0, 20000, 4), to_pair, FST_PAIR(I64, I64));
                fst_rdd *kept = fst_cache(fst_reduce_by_key_n(pairs, fst_fn_sum, 16));
                if (order)
                        assert_int_equal(fst_count(kept, &n), 0);
                dropped = kept;
                assert_int_equal(fst_count(fst_map(kept, FST_WITH(drop, key), FST_I64), &n), 0);
                assert_int_equal(n, 1000);
        }
        __atomic_store_n(&drop_state, DROP_END, __ATOMIC_RELEASE);
        pthread_join(driver, NULL);
}

struct counting {
        fst_rdd *rdd;
        int64_t n;
        int status;
};

static void *count_it(void *arg)
{
        struct counting *c = arg;
        for (int i = 0; i < 10 && !c->status; i++) {
                int64_t n;
                c->status = fst_count(c->rdd, &n);
                c->n += n;
        }
        return NULL;
}

static void two_threads_share_persisted_rows(void **state)
{
        fst_rdd *pairs = fst_map(fst_range_n(*state, 0, 50000, 6), to_pair, FST_PAIR(I64, I64));
        fst_rdd *kept = fst_cache(fst_reduce_by_key_n(pairs, fst_fn_sum, 7));
        struct counting all[3] = {{.rdd = kept}, {.rdd = fst_coalesce(kept, 2)}};
        int64_t never = -1;
        pthread_t threads[3];
        all[2].rdd = fst_map(kept, FST_WITH(drop, never), FST_I64);
        for (int i = 0; i < 3; i++)
                assert_int_equal(pthread_create(&threads[i], NULL, count_it, &all[i]), 0);
        for (int i = 0; i < 20; i++) {
                usleep(200);
                fst_unpersist(kept);
                fst_rdd_set_name(kept, i % 2 ? "kept" : "dropped");
                fst_cache(kept);
        }
        for (int i = 0; i < 3; i++) {
                pthread_join(threads[i], NULL);
                assert_int_equal(all[i].status, 0);
                assert_int_equal(all[i].n, 10000);
        }
}

/* 40 MB of rows, of which 19 MB fit. */
static void persists_more_than_memory(void **state)
{
        static const enum fst_storage_level levels[] = {FST_STORAGE_MEMORY_ONLY, FST_STORAGE_MEMORY_AND_DISK, FST_STORAGE_DISK_ONLY,
                                                        FST_STORAGE_OFF_HEAP};
        fst_context *sc = api_context("local[2]", "spark.driver.memory", "32m", NULL);
        for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
                int64_t n, x;
                fst_rdd *kept = fst_persist(fst_map(fst_range_n(sc, 0, 5000000, 10), counted, FST_I64), levels[i]);
                called();
                assert_int_equal(fst_count(kept, &n), 0);
                assert_int_equal(n, 5000000);
                assert_int_equal(fst_reduce(kept, fst_fn_sum, &x), 0);
                assert_int_equal(x, 4999999LL * 2500000);
                if (levels[i] == FST_STORAGE_MEMORY_ONLY)
                        assert_in_range(called(), 5000001, 10000000);
                else
                        assert_int_equal(called(), 5000000);
        }
        assert_int_equal(fst_context_stop(sc), 0);
}

/* Every level: computed once, read back unchanged, removed when it is unpersisted. */
static void persists_at_every_level(void **state)
{
        for (int level = FST_STORAGE_MEMORY_ONLY; level <= FST_STORAGE_OFF_HEAP; level++) {
                int64_t n, x;
                fst_rdd *kept = fst_persist(fst_map(fst_range_n(*state, 0, 300000, 4), counted, FST_I64), level);
                called();
                for (int i = 0; i < 2; i++) {
                        assert_int_equal(fst_count(kept, &n), 0);
                        assert_int_equal(n, 300000);
                        assert_int_equal(fst_reduce(kept, fst_fn_sum, &x), 0);
                        assert_int_equal(x, 299999LL * 150000);
                }
                assert_int_equal(called(), 300000);
                fst_unpersist(kept);
                assert_int_equal(fst_count(kept, &n), 0);
                assert_int_equal(called(), 300000);
        }
}

static void rejects_second_storage_level(void **state)
{
        int64_t n;
        fst_rdd *numbers = fst_range_n(*state, 0, 10, 2);
        fst_persist(numbers, FST_STORAGE_NONE); /* NONE does not count as a level */
        fst_persist(numbers, FST_STORAGE_MEMORY_ONLY_SER);
        fst_persist(numbers, FST_STORAGE_MEMORY_ONLY_SER);
        fst_unpersist(numbers);
        fst_persist(numbers, FST_STORAGE_DISK_ONLY);
        assert_int_equal(fst_count(numbers, &n), 0);
        static const int refused[] = {FST_STORAGE_NONE, FST_STORAGE_MEMORY_ONLY, FST_STORAGE_DISK_ONLY_2, FST_STORAGE_OFF_HEAP, 77, -1};
        for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
                fst_rdd *kept = fst_persist(fst_range_n(*state, 0, 10, 2), FST_STORAGE_DISK_ONLY);
                assert_int_equal(fst_count(fst_persist(kept, refused[i]), &n), -EINVAL);
        }
}

static int wait_for_stop(fst_task *task, int64_t x)
{
        __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
        while (!fst_task_interrupted(task))
                usleep(1000);
        return 0;
}

static void *run_for_ever(void *arg)
{
        struct counting *c = arg;
        c->status = fst_foreach(c->rdd, wait_for_stop);
        return NULL;
}

static void stopping_cancels_the_jobs_of_other_threads(void **state)
{
        int jobs[2];
        fst_context *sc = api_context("local[2]", NULL);
        struct counting all[2] = {{.rdd = fst_range_n(sc, 0, 4, 4)}, {.rdd = fst_range_n(sc, 0, 4, 4)}};
        pthread_t threads[2];
        called();
        for (int i = 0; i < 2; i++)
                assert_int_equal(pthread_create(&threads[i], NULL, run_for_ever, &all[i]), 0);
        while (__atomic_load_n(&calls, __ATOMIC_RELAXED) < 2 || fst_active_jobs(sc, jobs, 2) < 2)
                usleep(1000);
        fst_context_stop(sc);
        for (int i = 0; i < 2; i++) {
                pthread_join(threads[i], NULL);
                assert_true(all[i].status < 0);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(computes_persisted_rows_once),
                cmocka_unit_test(keeps_partition_of_which_few_rows_are_taken),
                cmocka_unit_test(persists_rows_of_iterators),
                cmocka_unit_test(recomputes_blocks_lost_during_a_job),
                cmocka_unit_test(two_threads_share_persisted_rows),
                cmocka_unit_test(persists_at_every_level),
                cmocka_unit_test(rejects_second_storage_level),
        };
        const struct CMUnitTest own_context[] = {
                cmocka_unit_test(persists_more_than_memory),
                cmocka_unit_test(leaves_partition_that_does_not_fit),
                cmocka_unit_test(stopping_cancels_the_jobs_of_other_threads),
        };
        int failed = cmocka_run_group_tests(tests, api_setup, api_teardown);
        return failed + cmocka_run_group_tests(own_context, NULL, NULL);
}
