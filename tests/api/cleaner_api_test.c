/* Tests what the cleaner removes when RDDs are released (cached partitions, map outputs, checkpoints) and what it
 * keeps. */
#include "base/mem.h"
#include "base/fs.h"
#include "api/api_fixture.h"
#include "api/gate_fixture.h"
#include "driver/context.h"
#include "shuffle/shuffle_store.h"
#include "store/block_store.h"
#include "store/memory.h"
#include "unit/temp_dir.h"

static int keyed(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x % 10, x);
        return 0;
}

static size_t blocks(fst_context *sc)
{
        size_t n;
        free(block_store_list(sc->env.blocks, &n));
        return n;
}

static size_t outputs(fst_context *sc)
{
        size_t n;
        free(shuffle_store_list(sc->env.shuffles, &n));
        return n;
}

static fst_rdd *sums(fst_context *sc)
{
        return fst_reduce_by_key_n(fst_map(fst_range_n(sc, 0, 1000, 4), keyed, FST_PAIR(I64, I64)), fst_fn_sum, 3);
}

static void cleans_released_rdds(void **state)
{
        fst_context *sc = *state;
        int64_t n;
        fst_rdd *kept = fst_cache(sums(sc)), *below = fst_sort_by_key(kept, FST_ASCENDING);
        assert_int_equal(blocks(sc), 0);
        assert_int_equal(outputs(sc), 0);
        assert_int_equal(fst_count(below, &n), 0);
        assert_int_equal(blocks(sc), 3);
        size_t all = outputs(sc);
        assert_true(all >= 4 + 3);
        /* Kept, because another RDD is computed from it. */
        fst_release(kept);
        assert_int_equal(blocks(sc), 3);
        assert_int_equal(outputs(sc), all);
        assert_int_equal(fst_count(below, &n), 0);
        fst_release(below);
        /* Its parents were not released: only the map output of sums is removed. */
        assert_int_equal(blocks(sc), 0);
        assert_int_equal(outputs(sc), 0);
}

static int64_t minus(fst_task *task, int64_t x)
{
        return -x;
}

static int left_of(fst_task *task, int64_t key, int64_t left, int64_t right, fst_out *out)
{
        fst_emit(out, key, left);
        return 0;
}

/* The intermediate RDDs of a public function are removed with its result. */
static void cleans_intermediate_rdds(void **state)
{
        fst_context *sc = *state;
        int64_t n;
        fst_rdd *numbers = fst_range_n(sc, 0, 1000, 4), *pairs = fst_map(numbers, keyed, FST_PAIR(I64, I64));
        fst_rdd *made[] = {
                fst_sort_by(numbers, minus, FST_I64, FST_ASCENDING),
                fst_distinct(pairs),
                fst_group_by(numbers, minus, FST_I64),
                fst_subtract(pairs, pairs),
                fst_join(fst_reduce_by_key(pairs, fst_fn_sum), pairs, left_of, FST_PAIR(I64, I64)),
        };
        for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
                assert_int_equal(fst_count(made[i], &n), 0);
                assert_true(outputs(sc) > 0);
        }
        for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
                fst_release(made[i]);
        /* RDDs that the application itself created stay. */
        assert_int_equal(outputs(sc), 4);
}

static void iterations_leave_nothing_behind(void **state)
{
        fst_context *sc = *state;
        int64_t n;
        fst_rdd *ranks = fst_cache(sums(sc));
        assert_int_equal(fst_count(ranks, &n), 0);
        for (int round = 0; round < 50; round++) {
                int scope = fst_scope_begin(sc);
                fst_rdd *next = fst_cache(fst_reduce_by_key_n(fst_union(ranks, sums(sc)), fst_fn_sum, 3));
                assert_int_equal(fst_count(next, &n), 0);
                assert_int_equal(n, 10);
                fst_local_checkpoint(next);
                assert_int_equal(fst_count(next, &n), 0);
                fst_scope_end(sc, scope, next);
                fst_release(ranks);
                ranks = next;
                assert_int_equal(blocks(sc), 3);
                assert_int_equal(outputs(sc), 0);
        }
        fst_iter *rows;
        int64_t key, value, sum = 0;
        assert_int_equal(fst_collect(ranks, &rows), 0);
        while (fst_next(rows, &key, &value))
                sum += value;
        assert_int_equal(sum, 51 * 499500);
}

static int both(fst_task *task, void *a, const void *b)
{
        *(int64_t *)a += *(const int64_t *)b;
        return 0;
}

static int into(fst_task *task, void *a, int64_t x)
{
        *(int64_t *)a += x;
        return 0;
}

static int refuses(fst_task *task, void *a, int64_t x)
{
        return fst_fail(task, "not this");
}

/* Actions that shuffle create RDDs of their own. These are removed with the action, also when it fails. */
static void actions_leave_nothing_behind(void **state)
{
        struct sum {
                int64_t n;
        } zero = {0}, sum;
        fst_context *sc = *state;
        fst_rdd *numbers = fst_range_n(sc, 0, 1000, 9), *pairs = fst_map(numbers, keyed, FST_PAIR(I64, I64));
        fst_map *counts;
        int64_t n;
        size_t before = outputs(sc);
        assert_int_equal(fst_count_by_value(numbers, &counts), 0);
        assert_int_equal(fst_map_count(counts), 1000);
        assert_int_equal(outputs(sc), before);
        assert_int_equal(fst_count_by_key(pairs, &counts), 0);
        assert_int_equal(fst_map_count(counts), 10);
        assert_int_equal(outputs(sc), before);
        assert_ptr_equal(sc->registry.rdds, pairs); /* the newest remaining RDD */
        assert_int_equal(fst_take_sample(numbers, false, 10, 1, &(fst_iter *){NULL}), 0);
        assert_ptr_equal(sc->registry.rdds, pairs);
        assert_int_equal(fst_tree_reduce(numbers, fst_fn_sum, 3, &n), 0);
        assert_int_equal(n, 499500);
        assert_int_equal(fst_tree_aggregate(numbers, &zero, into, both, 2, &sum), 0);
        assert_int_equal(sum.n, 499500);
        assert_int_equal(outputs(sc), before);
        assert_true(fst_tree_aggregate(numbers, &zero, refuses, both, 2, &sum) < 0);
        assert_int_equal(outputs(sc), before);
        /* The action's arguments stay. */
        fst_rdd *kept = fst_cache(sums(sc));
        assert_int_equal(fst_count_by_key(kept, &counts), 0);
        assert_int_equal(blocks(sc), 3);
        assert_int_equal(outputs(sc), before + 4);
        fst_release(kept);
}

static void keeps_everything_without_reference_tracking(void **state)
{
        fst_context *sc = api_context("local[2]", "spark.cleaner.referenceTracking", "false", NULL);
        int64_t n;
        fst_rdd *kept = fst_cache(sums(sc));
        assert_int_equal(fst_count(kept, &n), 0);
        int scope = fst_scope_begin(sc);
        fst_scope_end(sc, scope, NULL);
        fst_release(kept);
        assert_int_equal(blocks(sc), 3);
        assert_int_equal(outputs(sc), 4);
        assert_int_equal(fst_context_stop(sc), 0);
}

static void cleans_checkpoints_if_configured(void **state)
{
        for (int clean = 0; clean < 2; clean++) {
                char dir[TEMP_DIR_SIZE];
                temp_dir_new(dir);
                fst_context *sc = api_context("local[2]", "spark.cleaner.referenceTracking.cleanCheckpoints",
                                              clean ? "true" : "false", NULL);
                int64_t n;
                assert_int_equal(fst_set_checkpoint_dir(sc, dir), 0);
                fst_rdd *kept = fst_checkpoint(fst_map(fst_range_n(sc, 0, 10, 2), keyed, FST_PAIR(I64, I64)));
                fst_rdd *below = fst_reduce_by_key(kept, fst_fn_sum);
                assert_int_equal(fst_count(below, &n), 0);
                char *file = strdup(fst_checkpoint_file(kept) + strlen("file:"));
                fst_release(kept);
                assert_int_equal(access(file, F_OK), 0);
                fst_release(below);
                assert_int_equal(access(file, F_OK), clean ? -1 : 0);
                free(file);
                assert_int_equal(fst_context_stop(sc), 0);
                remove_tree(dir);
        }
}

struct other {
        fst_context *sc;
        fst_rdd *rdd;
        int status;
        int64_t n;
};

static void *count_often(void *arg)
{
        struct other *o = arg;
        for (int i = 0; i < 50 && !o->status; i++)
                o->status = fst_count(o->rdd, &o->n);
        return NULL;
}

/* Jobs of other threads lose nothing. */
static void keeps_rdds_of_other_threads_jobs(void **state)
{
        fst_context *sc = *state;
        struct other other = {.sc = sc, .rdd = fst_cache(sums(sc))};
        pthread_t thread;
        int64_t n;
        pthread_create(&thread, NULL, count_often, &other);
        for (int i = 0; i < 50; i++) {
                fst_rdd *mine = fst_cache(sums(sc));
                assert_int_equal(fst_count(mine, &n), 0);
                assert_int_equal(n, 10);
                fst_release(mine);
        }
        pthread_join(thread, NULL);
        assert_int_equal(other.status, 0);
        assert_int_equal(other.n, 10);
        assert_int_equal(fst_count(other.rdd, &n), 0);
        assert_int_equal(blocks(sc), 3);
}

static int gated(fst_task *task, int64_t x, fst_out *out)
{
        if (x == 0)
                gate_pass(task);
        fst_emit(out, x % 10, x);
        return 0;
}

/* The RDDs are released while a task of the future's map stage runs, and other tasks have written their outputs. */
static void keeps_rdds_of_futures(void **state)
{
        fst_context *sc = *state;
        int64_t n = -1;
        gate_close();
        int scope = fst_scope_begin(sc);
        fst_rdd *sum = fst_reduce_by_key_n(fst_map(fst_range_n(sc, 0, 100, 4), gated, FST_PAIR(I64, I64)), fst_fn_sum, 3);
        fst_future *future = fst_count_async(fst_cache(sum));
        gate_await(1);
        while (outputs(sc) < 3)
                usleep(500);
        fst_scope_end(sc, scope, NULL);
        assert_int_equal(outputs(sc), 3);
        gate_open();
        assert_int_equal(fst_future_count(future, &n), 0);
        assert_int_equal(n, 10);
        /* the future was the last that needed them, and the wait for it cleans */
        assert_int_equal(outputs(sc), 0);
        assert_int_equal(blocks(sc), 0);
}

static int named(fst_task *task, int64_t x, fst_out *out)
{
        char text[32];
        snprintf(text, sizeof(text), "name %d", (int)(x % 6000));
        fst_emit(out, text, 1);
        return 0;
}

/* Slots keep the keys of map outputs for their next tasks, but not if none come. */
static void idle_slots_hold_no_storage(void **state)
{
        fst_context *sc = *state;
        int64_t n;
        fst_rdd *names = fst_map(fst_range_n(sc, 0, 12 * 12000, 12), named, FST_PAIR(BYTES, I64));
        fst_rdd *sum = fst_reduce_by_key_n(names, fst_fn_sum, 1); /* its only task is of one of the slots */
        assert_int_equal(fst_count(sum, &n), 0);
        assert_int_equal(n, 6000);
        assert_true(memory_manager_storage_used(sc->env.memory) > 0);
        fst_release(sum);
        assert_int_equal(outputs(sc), 0);
        for (int i = 0; i < 1000 && memory_manager_storage_used(sc->env.memory) > 0; i++)
                usleep(10000);
        assert_int_equal(memory_manager_storage_used(sc->env.memory), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(cleans_released_rdds, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(cleans_intermediate_rdds, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(iterations_leave_nothing_behind, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(actions_leave_nothing_behind, api_setup, api_teardown),
                cmocka_unit_test(keeps_everything_without_reference_tracking),
                cmocka_unit_test(cleans_checkpoints_if_configured),
                cmocka_unit_test_setup_teardown(keeps_rdds_of_other_threads_jobs, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(keeps_rdds_of_futures, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(idle_slots_hold_no_storage, api_setup, api_teardown),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
