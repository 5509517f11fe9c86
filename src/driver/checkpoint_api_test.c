/* Checkpoints: what is computed from is forgotten, what is read stays. */
#include "driver/api_fixture.h"
#include "rdd/rdd.h"

static int setup(void **state)
{
        *state = api_context("local[2]", "spark.log.level", "ERROR", NULL);
        return 0;
}

/* Counts how often it is called: local tasks run in this process. */
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

static void computed_once(void **state)
{
        int64_t n, sum;
        calls = 0;
        fst_rdd *kept = fst_local_checkpoint(fst_map(fst_range_n(*state, 0, 1000, 4), counted, FST_I64));
        fst_rdd *later = fst_map(kept, counted, FST_I64);
        assert_false(fst_is_checkpointed(kept));
        assert_int_equal(fst_count(kept, &n), 0);
        assert_true(fst_is_checkpointed(kept));
        assert_int_equal(calls, 1000);
        assert_int_equal(fst_reduce(later, fst_sum, &sum), 0);
        assert_int_equal(sum, 999 * 1000 / 2 + 2000);
        assert_int_equal(calls, 2000);
        /* What it was computed from is no dependency any more. */
        assert_int_equal(kept->lineage.n_deps, 1);
        assert_int_equal(kept->lineage.deps[0].parent->n_deps, 0);
}

static void all_partitions_are_there_after_take(void **state)
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
        assert_true(calls <= 1000 + 1024); /* the first partition may have been left early, and computed again */
}

static void behind_a_shuffle(void **state)
{
        int64_t n, sum;
        fst_rdd *sums = fst_reduce_by_key(fst_map(fst_range_n(*state, 0, 1000, 4), keyed, FST_PAIR(I64, I64)), fst_sum);
        assert_int_equal(fst_count(sums, &n), 0);
        fst_local_checkpoint(sums);
        /* A shuffle's reader, which others were built on before. */
        fst_rdd *again = fst_reduce_by_key(sums, fst_max);
        assert_int_equal(again->op, RDD_COMBINE);
        assert_int_equal(fst_count(again, &n), 0);
        assert_int_equal(n, 10);
        assert_true(fst_is_checkpointed(sums));
        assert_int_equal(fst_reduce(fst_map(again, counted_value, FST_I64), fst_sum, &sum), 0);
        assert_int_equal(sum, 499500);
}

static void the_nearest_first(void **state)
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

static void lost_blocks_are_told_of(void **state)
{
        int64_t n;
        fst_rdd *kept = fst_local_checkpoint(fst_map(fst_range_n(*state, 0, 10, 2), counted, FST_I64));
        assert_int_equal(fst_count(kept, &n), 0);
        fst_unpersist(kept);
        assert_refused(fst_count(kept, &n), -EIO, "Checkpoint block of partition");
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

/* Jobs that use an RDD while another thread's job has it checkpointed. */
static void among_threads(void **state)
{
        for (int round = 0; round < 20; round++) {
                fst_rdd *kept = fst_local_checkpoint(fst_reduce_by_key(
                        fst_map(fst_range_n(*state, 0, 1000, 4), keyed, FST_PAIR(I64, I64)), fst_sum));
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

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(computed_once, setup, api_teardown),
                cmocka_unit_test_setup_teardown(all_partitions_are_there_after_take, setup, api_teardown),
                cmocka_unit_test_setup_teardown(behind_a_shuffle, setup, api_teardown),
                cmocka_unit_test_setup_teardown(the_nearest_first, setup, api_teardown),
                cmocka_unit_test_setup_teardown(lost_blocks_are_told_of, setup, api_teardown),
                cmocka_unit_test_setup_teardown(among_threads, setup, api_teardown),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
