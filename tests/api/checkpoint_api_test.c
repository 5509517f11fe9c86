/* Tests checkpoints: dependencies are dropped, and rows are read from the checkpoint. */
#include "base/mem.h"
#include "base/fs.h"
#include "api/api_fixture.h"
#include "rdd/rdd.h"
#include "unit/temp_dir.h"

static int setup(void **state)
{
        *state = api_context("local[2]", "spark.log.level", "ERROR", NULL);
        return 0;
}

/* Counts calls: local tasks run in this process. */
static int calls;

static int64_t counted(fst_task *task, int64_t x)
{
        __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
        return x + 1;
}

static int keyed(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x % 10, x);
        return 0;
}

static int64_t counted_value(fst_task *task, int64_t key, int64_t value)
{
        return value;
}

static int keyed_again(fst_task *task, int64_t key, int64_t value, fst_out *out)
{
        fst_emit(out, key + 100, value);
        return 0;
}

static void computes_checkpointed_rows_once(void **state)
{
        int64_t n, sum;
        calls = 0;
        fst_rdd *kept = fst_local_checkpoint(fst_map(fst_range_n(*state, 0, 1000, 4), counted, FST_I64));
        fst_rdd *later = fst_map(kept, counted, FST_I64);
        assert_false(fst_is_checkpointed(kept));
        assert_int_equal(fst_count(kept, &n), 0);
        assert_true(fst_is_checkpointed(kept));
        assert_int_equal(calls, 1000);
        assert_int_equal(fst_reduce(later, fst_fn_sum, &sum), 0);
        assert_int_equal(sum, 999 * 1000 / 2 + 2000);
        assert_int_equal(calls, 2000);
        /* The former dependencies are gone. */
        assert_int_equal(kept->lineage.n_deps, 1);
        assert_int_equal(kept->lineage.deps[0].parent->n_deps, 0);
}

static void take_computes_all_partitions(void **state)
{
        fst_iter *rows;
        int64_t n, x;
        calls = 0;
        fst_rdd *kept = fst_local_checkpoint(fst_map(fst_range_n(*state, 0, 1000, 8), counted, FST_I64));
        assert_int_equal(fst_take(kept, 1, &rows), 0);
        assert_true(fst_next(rows, &x));
        assert_true(fst_is_checkpointed(kept));
        assert_int_equal(fst_count(kept, &n), 0);
        assert_int_equal(n, 1000);
        assert_true(calls <= 1000 + 1024); /* the first partition may have been left early and computed again */
}

static void checkpoints_after_a_shuffle(void **state)
{
        int64_t n, sum;
        fst_rdd *sums = fst_reduce_by_key(fst_map(fst_range_n(*state, 0, 1000, 4), keyed, FST_PAIR(I64, I64)), fst_fn_sum);
        assert_int_equal(fst_count(sums, &n), 0);
        fst_local_checkpoint(sums);
        /* The reader of a shuffle on which other RDDs were built before. */
        fst_rdd *again = fst_reduce_by_key(sums, fst_fn_max);
        assert_int_equal(again->op, RDD_COMBINE);
        assert_int_equal(fst_count(again, &n), 0);
        assert_int_equal(n, 10);
        assert_true(fst_is_checkpointed(sums));
        assert_int_equal(fst_reduce(fst_map(again, counted_value, FST_I64), fst_fn_sum, &sum), 0);
        assert_int_equal(sum, 499500);
}

static void reads_nearest_checkpoint(void **state)
{
        int64_t n;
        fst_rdd *below = fst_local_checkpoint(fst_map(fst_range_n(*state, 0, 10, 2), counted, FST_I64));
        fst_rdd *above = fst_local_checkpoint(fst_map(below, counted, FST_I64));
        assert_int_equal(fst_count(fst_map(above, counted, FST_I64), &n), 0);
        assert_true(fst_is_checkpointed(above));
        assert_false(fst_is_checkpointed(below));

        below = fst_local_checkpoint(fst_map(fst_range_n(*state, 0, 10, 2), counted, FST_I64));
        above = fst_local_checkpoint(fst_map(below, counted, FST_I64));
        fst_set_local_property(*state, "spark.checkpoint.checkpointAllMarkedAncestors", "true");
        assert_int_equal(fst_count(above, &n), 0);
        fst_set_local_property(*state, "spark.checkpoint.checkpointAllMarkedAncestors", NULL);
        assert_true(fst_is_checkpointed(above));
        assert_true(fst_is_checkpointed(below));
}

static void reports_lost_blocks(void **state)
{
        int64_t n;
        fst_rdd *kept = fst_local_checkpoint(fst_map(fst_range_n(*state, 0, 10, 2), counted, FST_I64));
        assert_int_equal(fst_count(kept, &n), 0);
        fst_unpersist(kept);
        assert_refused(fst_count(kept, &n), -EIO, "Checkpoint block of partition");
}

/* ------------------------------------------------------------------------------------------------ storage levels */

static int level_of(const fst_rdd *rdd)
{
        return rdd->lineage.storage_level;
}

/* LocalCheckpointSuite: with every level, set before or after, rows evicted from memory go to disk. */
static void adds_disk_to_storage_levels(void **state)
{
        static const int levels[][2] = {
                {FST_STORAGE_NONE, FST_STORAGE_MEMORY_AND_DISK},
                {FST_STORAGE_MEMORY_ONLY, FST_STORAGE_MEMORY_AND_DISK},
                {FST_STORAGE_MEMORY_ONLY_2, FST_STORAGE_MEMORY_AND_DISK_2},
                {FST_STORAGE_MEMORY_ONLY_SER, FST_STORAGE_MEMORY_AND_DISK_SER},
                {FST_STORAGE_MEMORY_ONLY_SER_2, FST_STORAGE_MEMORY_AND_DISK_SER_2},
                {FST_STORAGE_MEMORY_AND_DISK, FST_STORAGE_MEMORY_AND_DISK},
                {FST_STORAGE_MEMORY_AND_DISK_2, FST_STORAGE_MEMORY_AND_DISK_2},
                {FST_STORAGE_DISK_ONLY, FST_STORAGE_DISK_ONLY},
                {FST_STORAGE_DISK_ONLY_3, FST_STORAGE_DISK_ONLY_3},
                {FST_STORAGE_OFF_HEAP, FST_STORAGE_OFF_HEAP},
        };
        for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
                for (int before = 0; before < 2; before++) {
                        int64_t n;
                        fst_rdd *kept = fst_map(fst_range_n(*state, 0, 1000, 4), counted, FST_I64);
                        if (before)
                                fst_persist(kept, levels[i][0]);
                        fst_local_checkpoint(kept);
                        if (!before)
                                fst_persist(kept, levels[i][0]);
                        assert_int_equal(level_of(kept), levels[i][1]);
                        calls = 0;
                        for (int k = 0; k < 3; k++) {
                                assert_int_equal(fst_count(kept, &n), 0);
                                assert_int_equal(n, 1000);
                                assert_true(fst_is_checkpointed(kept));
                        }
                        assert_int_equal(calls, 1000);
                }
}

static int64_t accumulated(fst_task *task, int64_t x)
{
        fst_accumulate(task, *(const fst_accumulator *)fst_captured(task), 1);
        return x + 1;
}

static void outlives_memory(const char *isolation)
{
        fst_context *sc = api_context("local[2]", "spark.driver.memory", "32m", "spark.firesteel.task.isolation",
                                      isolation, NULL);
        int64_t n, x;
        fst_accumulator computed = fst_accumulator_i64(sc, "computed");
        fst_rdd *kept = fst_cache(fst_map(fst_range_n(sc, 0, 1000000, 4), FST_WITH(accumulated, computed), FST_I64));
        assert_int_equal(fst_count(kept, &n), 0);
        assert_int_equal(fst_accumulator_sum_i64(sc, computed), 1000000);
        fst_local_checkpoint(kept);
        assert_int_equal(fst_count(kept, &n), 0);
        assert_true(fst_is_checkpointed(kept));
        for (int i = 0; i < 3; i++) /* 40 MB each, of which 19 MB fit */
                assert_int_equal(fst_count(fst_cache(fst_range_n(sc, 0, 5000000, 10)), &n), 0);
        assert_int_equal(fst_reduce(kept, fst_fn_sum, &x), 0);
        assert_int_equal(x, 1000000LL * 1000001 / 2);
        assert_int_equal(fst_accumulator_sum_i64(sc, computed), 1000000);
        assert_int_equal(fst_context_stop(sc), 0);
}

/* Partitions cached only in memory before the checkpoint was requested must survive, too. */
static void keeps_earlier_cached_partitions(void **state)
{
        outlives_memory("none");
}

static void keeps_earlier_cached_partitions_of_task_processes(void **state)
{
        outlives_memory("process");
}

/* Rows unpersisted before the checkpoint was written would be lost with their dependencies. */
static void keeps_dependencies_until_checkpointed(void **state)
{
        int64_t n;
        fst_rdd *numbers = fst_local_checkpoint(fst_map(fst_range_n(*state, 0, 10, 2), counted, FST_I64));
        fst_unpersist(numbers);
        assert_refused(fst_count(numbers, &n), -EINVAL, "then unpersisted");
        fst_persist(numbers, FST_STORAGE_MEMORY_ONLY);
        assert_int_equal(fst_count(numbers, &n), 0);
        assert_int_equal(n, 10);
        assert_true(fst_is_checkpointed(numbers));
}

struct counting {
        fst_rdd *rdd;
        int64_t n;
        int status;
};

static void *count_it(void *arg)
{
        struct counting *c = arg;
        c->status = fst_count(c->rdd, &c->n);
        return NULL;
}

/* Jobs use an RDD while another thread's job checkpoints it. */
static void checkpoints_while_other_threads_run_jobs(void **state)
{
        for (int round = 0; round < 20; round++) {
                fst_rdd *kept = fst_local_checkpoint(fst_reduce_by_key(
                        fst_map(fst_range_n(*state, 0, 1000, 4), keyed, FST_PAIR(I64, I64)), fst_fn_sum));
                struct counting counts[4];
                pthread_t threads[4];
                for (int i = 0; i < 4; i++) {
                        counts[i] = (struct counting){
                                .rdd = fst_union(kept, fst_map(kept, keyed_again, FST_PAIR(I64, I64)))};
                        pthread_create(&threads[i], NULL, count_it, &counts[i]);
                }
                for (int i = 0; i < 4; i++) {
                        pthread_join(threads[i], NULL);
                        assert_int_equal(counts[i].status, 0);
                        assert_int_equal(counts[i].n, 20);
                }
                assert_true(fst_is_checkpointed(kept));
        }
}

static int text_row(fst_task *task, int64_t x, fst_out *out)
{
        char text[64];
        snprintf(text, sizeof(text), "%0*lld", (int)(x % 50 + 1), (long long)x);
        fst_emit(out, text, x);
        return 0;
}

static void checkpoints_into_files(void **state)
{
        char dir[TEMP_DIR_SIZE];
        int64_t n, x = 0, want = 0;
        fst_iter *rows;
        fst_bytes text = {0};
        temp_dir_new(dir);
        fst_rdd *numbers = fst_range_n(*state, 0, 10, 3);
        assert_refused(fst_count(fst_checkpoint(fst_map(numbers, counted, FST_I64)), &n), -EINVAL,
                       "Checkpoint directory has not been set in the SparkContext");
        assert_int_equal(fst_set_checkpoint_dir(*state, dir), 0);

        calls = 0;
        fst_rdd *written = fst_checkpoint(fst_map(fst_range_n(*state, 0, 100000, 4), counted, FST_I64));
        assert_null(fst_checkpoint_file(written));
        assert_int_equal(fst_count(written, &n), 0);
        assert_int_equal(calls, 200000); /* for the action, and for the files */
        assert_true(fst_is_checkpointed(written));
        assert_non_null(strstr(fst_checkpoint_file(written), dir));
        assert_int_equal(fst_collect(written, &rows), 0);
        for (; fst_next(rows, &x); want++)
                assert_int_equal(x, want + 1);
        assert_int_equal(want, 100000);
        assert_int_equal(calls, 200000);

        /* Pairs with bytes, partitions without rows, and a partitioner that stays known. */
        fst_rdd *placed = fst_partition_by(fst_map(fst_range_n(*state, 0, 100, 2), text_row, FST_PAIR(BYTES, I64)), 8);
        fst_checkpoint(placed);
        assert_int_equal(fst_count(placed, &n), 0);
        assert_int_equal(n, 100);
        assert_int_equal(fst_count(placed, &n), 0);
        assert_int_equal(n, 100);
        assert_int_equal(fst_rdd_partitions(placed), 8);
        assert_ptr_equal(fst_partition_by(placed, 8), placed);
        assert_int_equal(fst_reduce_by_key_n(placed, fst_fn_sum, 8)->op, RDD_COMBINE);
        assert_int_equal(fst_take(placed, 1, &rows), 0);
        assert_true(fst_next(rows, &text, &x));
        assert_int_equal(text.len, MAX(x % 50 + 1, x > 9 ? 2 : 1));

        /* Rows of a persisted RDD are not computed again for writing. */
        calls = 0;
        fst_rdd *kept = fst_checkpoint(fst_cache(fst_map(fst_range_n(*state, 0, 1000, 4), counted, FST_I64)));
        assert_int_equal(fst_count(kept, &n), 0);
        assert_int_equal(calls, 1000);
        fst_unpersist(kept);
        assert_int_equal(fst_count(kept, &n), 0);
        assert_int_equal(n, 1000);
        assert_int_equal(calls, 1000);
        /* Later requests do not move a written checkpoint. */
        assert_ptr_equal(fst_local_checkpoint(written), written);
        assert_non_null(fst_checkpoint_file(written));
        assert_string_equal(fst_checkpoint_file(fst_checkpoint(placed)), fst_checkpoint_file(placed));
        assert_int_equal(fst_count(written, &n), 0);
        assert_int_equal(n, 100000);
        /* A requested local checkpoint stays local, before and after it is written. */
        fst_rdd *local = fst_local_checkpoint(fst_map(fst_range_n(*state, 0, 1000, 4), counted, FST_I64));
        for (int i = 0; i < 2; i++) {
                assert_ptr_equal(fst_checkpoint(local), local);
                assert_int_equal(fst_count(local, &n), 0);
                assert_int_equal(n, 1000);
                assert_true(fst_is_checkpointed(local));
                assert_null(fst_checkpoint_file(local));
        }
        remove_tree(dir);
        assert_refused(fst_count(kept, &n), -EIO, "part-0000");
}

/* Fails the first attempt of each partition of the writing job after it has written everything. */
static int fail_late(fst_task *task, fst_iter *rows, fst_out *out)
{
        int64_t x;
        while (fst_next(rows, &x))
                fst_emit(out, x);
        if (fst_task_attempt(task) == 0 && __atomic_load_n(&calls, __ATOMIC_RELAXED) > 0)
                return fst_fail(task, "partition %d is unlucky", fst_task_partition(task));
        return fst_iter_status(rows);
}

/* SPARK-31484: files of an earlier attempt do not matter. SPARK-48268: a setting names the directory. */
static void rewrites_files_of_failed_attempts(void **state)
{
        char dir[TEMP_DIR_SIZE];
        temp_dir_new(dir);
        fst_context *sc = api_context("local[2,4]", "spark.checkpoint.dir", dir, NULL);
        int64_t n, sum = 0;
        fst_rdd *written = fst_checkpoint(fst_map_partitions(fst_range_n(sc, 0, 1000, 4), fail_late, FST_I64));
        calls = 1;
        assert_int_equal(fst_count(written, &n), 0);
        assert_int_equal(n, 1000);
        assert_true(fst_is_checkpointed(written));
        assert_non_null(strstr(fst_checkpoint_file(written), dir));
        assert_int_equal(fst_reduce(written, fst_fn_sum, &sum), 0);
        assert_int_equal(sum, 999 * 1000 / 2);
        assert_int_equal(fst_context_stop(sc), 0);
        remove_tree(dir);
}

/* @text without line numbers: "map at a.c:12" becomes "map at a.c:". The caller owns it. */
static char *without_lines(const char *text)
{
        char *copy = calloc(strlen(text) + 1, 1), *to = copy;
        for (const char *p = text; *p;) {
                *to++ = *p++;
                if (to - copy >= 3 && memcmp(to - 3, ".c:", 3) == 0)
                        while (*p >= '0' && *p <= '9')
                                p++;
        }
        return copy;
}

static void assert_told(fst_rdd *rdd, const char *want)
{
        char *told = without_lines(fst_to_debug_string(rdd));
        assert_string_equal(told, want);
        free(told);
}

#define HERE " at checkpoint_api_test.c:"
#define LEVEL " [Disk Memory Deserialized 1x Replicated]"

/* Spark's description of the same lineage. */
static void prints_lineage_as_spark(void **state)
{
        int64_t n;
        fst_rdd *pairs = fst_map(fst_range_n(*state, 0, 20, 12), keyed, FST_PAIR(I64, I64));
        fst_rdd *placed = fst_partition_by(pairs, 3);
        fst_rdd *both = fst_union(placed, fst_sort_by_key(pairs, FST_ASCENDING));
        fst_rdd *dealt = fst_persist(fst_repartition(both, 2), FST_STORAGE_MEMORY_AND_DISK);
        fst_rdd_set_name(both, "both");
        /* Each line has the storage level of the RDD that was asked for. */
        assert_told(dealt, "(2) ShuffledRDD[5] at repartition" HERE LEVEL "\n"
                           " +-(15) both UnionRDD[4] at union" HERE LEVEL "\n"
                           "    |   ShuffledRDD[2] at partition_by" HERE LEVEL "\n"
                           "    +-(12) MapPartitionsRDD[1] at map" HERE LEVEL "\n"
                           "       |   ParallelCollectionRDD[0] at range" HERE LEVEL "\n"
                           "    |   ShuffledRDD[3] at sort_by_key" HERE LEVEL "\n"
                           "    +-(12) MapPartitionsRDD[1] at map" HERE LEVEL "\n"
                           "       |   ParallelCollectionRDD[0] at range" HERE LEVEL);
        fst_local_checkpoint(dealt);
        assert_int_equal(fst_count(dealt, &n), 0);
        char *told = without_lines(fst_to_debug_string(dealt));
        assert_non_null(strstr(told, "\n |  LocalCheckpointRDD["));
        assert_null(strstr(told, "UnionRDD"));
        free(told);
}

static size_t lines_of(fst_rdd *rdd)
{
        size_t n = 1;
        for (const char *p = fst_to_debug_string(rdd); *p; p++)
                n += *p == '\n';
        return n;
}

/* Lineage that doubles in each iteration is printed in reasonable time. */
static void prints_lineage_with_many_paths(void **state)
{
        fst_rdd *rdd = fst_map(fst_range_n(*state, 0, 2, 1), keyed, FST_PAIR(I64, I64));
        for (int round = 0; round < 3; round++)
                rdd = fst_union(rdd, rdd);
        assert_int_equal(lines_of(rdd), 1 + 2 + 4 + 2 * 8); /* completely, as in Spark */
        for (int round = 0; round < 60; round++)
                rdd = fst_coalesce(fst_union(rdd, rdd), 1);
        assert_in_range(lines_of(rdd), 10000, 10300);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(computes_checkpointed_rows_once, setup, api_teardown),
                cmocka_unit_test_setup_teardown(take_computes_all_partitions, setup, api_teardown),
                cmocka_unit_test_setup_teardown(checkpoints_after_a_shuffle, setup, api_teardown),
                cmocka_unit_test_setup_teardown(reads_nearest_checkpoint, setup, api_teardown),
                cmocka_unit_test_setup_teardown(reports_lost_blocks, setup, api_teardown),
                cmocka_unit_test_setup_teardown(checkpoints_into_files, setup, api_teardown),
                cmocka_unit_test(rewrites_files_of_failed_attempts),
                cmocka_unit_test_setup_teardown(adds_disk_to_storage_levels, setup, api_teardown),
                cmocka_unit_test(keeps_earlier_cached_partitions),
                cmocka_unit_test_setup_teardown(keeps_dependencies_until_checkpointed, setup, api_teardown),
                cmocka_unit_test_setup_teardown(prints_lineage_as_spark, setup, api_teardown),
                cmocka_unit_test_setup_teardown(prints_lineage_with_many_paths, setup, api_teardown),
                cmocka_unit_test_setup_teardown(checkpoints_while_other_threads_run_jobs, setup, api_teardown),
        };
        /* Task processes must be started before the first thread. */
        const struct CMUnitTest in_processes[] = {cmocka_unit_test(keeps_earlier_cached_partitions_of_task_processes)};
        int failed = cmocka_run_group_tests(in_processes, NULL, NULL);
        return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
