/* Tests queries of an application about its context, RDDs, tasks, accumulators and futures. */
#include "base/mem.h"
#include "api/api_fixture.h"
#include "unit/temp_dir.h"

#include <sys/stat.h>

static int keyed(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x % 10, x);
        return 0;
}

static int by_parity(fst_task *task, int64_t key, int partitions)
{
        return (int)(key % 2) % partitions;
}

static int64_t partitions_of_stage(fst_task *task, int64_t x)
{
        return fst_task_partitions(task) * 100 + fst_task_cpus(task);
}

static int64_t wait_for_end(fst_task *task, int64_t x)
{
        while (!fst_task_interrupted(task))
                usleep(1000);
        return x;
}

static int64_t add_one(fst_task *task, int64_t x)
{
        fst_accumulate(task, *(const fst_accumulator *)fst_captured(task), 1);
        return x;
}

static fst_rdd *pairs(fst_context *sc)
{
        return fst_map(fst_range_n(sc, 0, 1000, 4), keyed, FST_PAIR(I64, I64));
}

static void reports_partitioners(void **state)
{
        fst_rdd *rdd = pairs(*state), *hashed = fst_partition_by(rdd, 3),
                *again = fst_reduce_by_key_n(rdd, fst_fn_sum, 3);
        fst_rdd *ranges = fst_sort_by_key(rdd, FST_ASCENDING), *own = fst_partition_by_function(rdd, 2, by_parity);
        assert_int_equal(fst_rdd_partitioner(rdd), FST_NO_PARTITIONER);
        assert_int_equal(fst_rdd_partitioner(hashed), FST_HASH_PARTITIONER);
        assert_int_equal(fst_rdd_partitioner(again), FST_HASH_PARTITIONER);
        assert_int_equal(fst_rdd_partitioner(ranges), FST_RANGE_PARTITIONER);
        assert_int_equal(fst_rdd_partitioner(own), FST_FUNCTION_PARTITIONER);
        assert_int_equal(fst_rdd_partitioner(fst_values(hashed)), FST_NO_PARTITIONER);
        assert_int_equal(fst_rdd_partitioner(fst_repartition(rdd, 3)), FST_NO_PARTITIONER);
        assert_true(fst_rdd_same_partitioner(hashed, again));
        assert_true(fst_rdd_same_partitioner(ranges, fst_filter_by_range(ranges, 1, 2)));
        assert_false(fst_rdd_same_partitioner(hashed, fst_partition_by(rdd, 4)));
        assert_false(fst_rdd_same_partitioner(hashed, own));
        assert_false(fst_rdd_same_partitioner(rdd, rdd));
}

static void reports_persisted_rdds(void **state)
{
        fst_context *sc = *state;
        fst_rdd *rdds[4] = {0}, *first = fst_range_n(sc, 0, 1000, 4), *second = pairs(sc);
        int64_t n;
        int before = fst_persisted_rdds(sc, NULL, 0);
        assert_int_equal(before, 0);
        assert_int_equal(fst_rdd_storage_level(first), FST_STORAGE_NONE);
        fst_persist(first, FST_STORAGE_MEMORY_AND_DISK);
        fst_persist(second, FST_STORAGE_DISK_ONLY);
        assert_int_equal(fst_rdd_storage_level(first), FST_STORAGE_MEMORY_AND_DISK);
        struct fst_storage_info in_memory, on_disk;
        assert_int_equal(fst_get_storage_info(first, &in_memory), 0);
        assert_int_equal(in_memory.cached_partitions, 0);
        assert_int_equal(fst_count(first, &n), 0);
        assert_int_equal(fst_count(second, &n), 0);
        assert_int_equal(fst_get_storage_info(first, &in_memory), 0);
        assert_int_equal(fst_get_storage_info(second, &on_disk), 0);
        assert_int_equal(in_memory.level, FST_STORAGE_MEMORY_AND_DISK);
        assert_int_equal(in_memory.cached_partitions, 4);
        assert_in_range(in_memory.memory_bytes, 8000, 1 << 20);
        assert_int_equal(in_memory.disk_bytes, 0);
        assert_int_equal(on_disk.level, FST_STORAGE_DISK_ONLY);
        assert_int_equal(on_disk.cached_partitions, 4);
        assert_int_equal(on_disk.memory_bytes, 0);
        assert_true(on_disk.disk_bytes > 0);
        assert_int_equal(fst_persisted_rdds(sc, rdds, 4), 2);
        assert_ptr_equal(rdds[0], first);
        assert_ptr_equal(rdds[1], second);
        assert_null(rdds[2]);
        rdds[1] = NULL;
        assert_int_equal(fst_persisted_rdds(sc, rdds, 1), 2);
        assert_null(rdds[1]);
        fst_unpersist_blocking(first);
        fst_unpersist_blocking(second);
        assert_int_equal(fst_get_storage_info(first, &in_memory), 0);
        assert_int_equal(in_memory.cached_partitions, 0);
        assert_int_equal(fst_get_storage_info(second, &on_disk), 0);
        assert_int_equal(on_disk.disk_bytes, 0);
        assert_int_equal(fst_persisted_rdds(sc, rdds, 4), 0);
}

static void reports_checkpoints(void **state)
{
        fst_context *sc = *state;
        char dir[TEMP_DIR_SIZE], command[64];
        int64_t n;
        fst_rdd *rdd = fst_map(fst_range_n(sc, 0, 10, 2), keyed, FST_PAIR(I64, I64));
        assert_null(fst_checkpoint_dir(sc));
        temp_dir_new(dir);
        assert_int_equal(fst_set_checkpoint_dir(sc, dir), 0);
        assert_non_null(strstr(fst_checkpoint_dir(sc), dir));
        fst_checkpoint(rdd);
        assert_int_equal(fst_count(rdd, &n), 0);
        assert_non_null(strstr(fst_checkpoint_file(rdd), fst_checkpoint_dir(sc)));
        assert_non_null(strstr(fst_to_debug_string(rdd), "\n |  ReliableCheckpointRDD["));
        fst_rdd *local = fst_local_checkpoint(pairs(sc));
        fst_checkpoint(local); /* stays local */
        assert_int_equal(fst_count(local, &n), 0);
        assert_true(fst_is_checkpointed(local));
        assert_null(fst_checkpoint_file(local));
        assert_non_null(strstr(fst_to_debug_string(local), "\n |  LocalCheckpointRDD["));
        snprintf(command, sizeof(command), "rm -r %s", dir);
        assert_int_equal(system(command), 0);
}

static void description_tells_what_is_cached(void **state)
{
        fst_context *sc = *state;
        int64_t n;
        fst_rdd *rdd =
                fst_persist(fst_map(fst_range_n(sc, 0, 10, 2), keyed, FST_PAIR(I64, I64)), FST_STORAGE_MEMORY_ONLY_SER);
        assert_null(strstr(fst_to_debug_string(rdd), "CachedPartitions"));
        assert_int_equal(fst_count(rdd, &n), 0);
        const char *text = fst_to_debug_string(rdd), *second = strchr(text, '\n'), *third = strchr(second + 1, '\n');
        const char *cached = "\n |       CachedPartitions: 2; MemorySize: ";
        assert_int_equal(strncmp(second, cached, strlen(cached)), 0);
        assert_non_null(strstr(second, "; DiskSize: 0.0 B\n |  ParallelCollectionRDD["));
        assert_non_null(
                strstr(third, "[Memory Serialized 1x Replicated]")); /* of the RDD that was asked, as in Spark */
        text = fst_to_debug_string(fst_values(rdd));
        assert_non_null(strstr(text, "\n |      CachedPartitions: 2; "));
        assert_null(strstr(text, "Replicated]"));
}

static void tasks_report_their_stage(void **state)
{
        int64_t n;
        assert_int_equal(fst_max(fst_map(fst_range_n(*state, 0, 10, 7), partitions_of_stage, FST_I64), &n), 0);
        assert_int_equal(n, 7 * 100 + 1);
        fst_rdd *rows = fst_coalesce(fst_map(fst_range_n(*state, 0, 10, 6), partitions_of_stage, FST_I64), 3);
        assert_int_equal(fst_min(rows, &n), 0);
        assert_int_equal(n, 3 * 100 + 1);
}

static void reports_properties_of_context(void **state)
{
        fst_context *sc = *state;
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        assert_in_range(fst_context_start_time(sc), (now.tv_sec - 600) * 1000, (now.tv_sec + 1) * 1000);
        assert_true(strlen(fst_context_user(sc)) > 0);
        assert_string_equal(fst_version(), FIRESTEEL_VERSION);
}

static void lists_files(void **state)
{
        fst_context *sc = *state;
        char path[] = "/tmp/firesteel-test-XXXXXX", dir[TEMP_DIR_SIZE], named[128], archive[64];
        static const char nothing[1024]; /* an empty tar file */
        const char *names[2] = {0};
        close(mkstemp(path));
        temp_dir_new(dir);
        assert_int_equal(fst_list_files(sc, names, 2), 0);
        assert_int_equal(fst_add_file(sc, path), 0);
        snprintf(archive, sizeof(archive), "%s/data.tar", dir);
        snprintf(named, sizeof(named), "%s#things", archive);
        FILE *file = fopen(archive, "w");
        assert_non_null(file);
        assert_int_equal(fwrite(nothing, sizeof(nothing), 1, file), 1);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(fst_add_archive(sc, named), 0);
        assert_int_equal(fst_list_files(sc, names, 2), 1);
        assert_string_equal(names[0], strrchr(path, '/') + 1);
        assert_int_equal(fst_list_archives(sc, names, 2), 1);
        assert_string_equal(names[0], "things");
        assert_non_null(fst_file(sc, names[0]));
        assert_int_equal(unlink(path) | unlink(archive) | rmdir(dir), 0);
}

static void sets_and_resets_accumulators(void **state)
{
        fst_context *sc = *state;
        fst_accumulator whole = fst_accumulator_i64(sc, "whole"), real = fst_accumulator_f64(sc, NULL);
        int64_t n;
        assert_string_equal(fst_accumulator_name(sc, whole), "whole");
        assert_null(fst_accumulator_name(sc, real));
        assert_null(fst_accumulator_name(sc, (fst_accumulator){0}));
        fst_accumulator_set_i64(sc, whole, 40);
        fst_accumulator_set_f64(sc, real, 2.5);
        assert_int_equal(fst_count(fst_map(fst_range_n(sc, 0, 2, 2), FST_WITH(add_one, whole), FST_I64), &n), 0);
        assert_int_equal(fst_count(fst_map(fst_range_n(sc, 0, 2, 2), FST_WITH(add_one, real), FST_I64), &n), 0);
        assert_int_equal(fst_accumulator_sum_i64(sc, whole), 42);
        assert_int_equal(fst_accumulator_totals_i64(sc, whole).count, 2);
        assert_true(fst_accumulator_sum_f64(sc, real) == 4.5);
        fst_accumulator_set_i64(sc, real, 3);
        assert_true(fst_accumulator_sum_f64(sc, real) == 3);
}

struct ending {
        fst_future *future;
        int pipe[2];
        int64_t count;
};

static void note_end(fst_future *future, int status, void *data)
{
        struct ending *ending = data;
        char byte = status == 0 ? 'y' : status == -ECANCELED ? 'c' : 'n';
        assert_ptr_equal(future, ending->future);
        if (status == 0)
                status = fst_future_count(future, &ending->count);
        assert_int_equal(write(ending->pipe[1], &byte, 1), 1);
}

static char heard(struct ending *ending)
{
        char byte = 0;
        assert_int_equal(read(ending->pipe[0], &byte, 1), 1);
        return byte;
}

static void calls_completion_callbacks(void **state)
{
        struct ending ending;
        assert_int_equal(pipe(ending.pipe), 0);
        ending.future = fst_count_async(fst_range_n(*state, 0, 1000, 4));
        fst_future_on_complete(ending.future, note_end, &ending);
        assert_int_equal(heard(&ending), 'y');
        assert_int_equal(ending.count, 1000);
        assert_int_equal(fst_future_wait(ending.future), 0);
        fst_future_on_complete(ending.future, note_end, &ending); /* too late: called at once */
        assert_int_equal(heard(&ending), 'y');

        ending.future = fst_count_async(fst_map(fst_range_n(*state, 0, 1, 1), wait_for_end, FST_I64));
        fst_future_on_complete(ending.future, note_end, &ending);
        fst_future_on_complete(ending.future, note_end, &ending);
        fst_future_cancel(ending.future);
        assert_int_equal(heard(&ending), 'c');
        assert_int_equal(heard(&ending), 'c');
        close(ending.pipe[0]);
        close(ending.pipe[1]);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(reports_partitioners, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(reports_persisted_rdds, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(reports_checkpoints, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(description_tells_what_is_cached, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(tasks_report_their_stage, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(reports_properties_of_context, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(lists_files, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(sets_and_resets_accumulators, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(calls_completion_callbacks, api_setup, api_teardown),
        };
        const struct CMUnitTest in_processes[] = {
                cmocka_unit_test(tasks_report_their_stage),
                cmocka_unit_test(reports_persisted_rdds),
        };
        /* Task processes must be started before the first thread. */
        int failed = cmocka_run_group_tests_name("in worker processes", in_processes, api_setup_workers, api_teardown);
        return failed + cmocka_run_group_tests_name("in threads", tests, NULL, NULL);
}
