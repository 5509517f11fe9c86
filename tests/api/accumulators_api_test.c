/* Tests accumulators through the public interface: which updates count. */
#include "api/api_fixture.h"

struct shared {
        fst_accumulator a, b;
        int fail_partition;
};

static bool add(fst_task *task, int64_t x)
{
        const struct shared *s = fst_captured(task);
        fst_accumulate(task, s->a, x);
        return true;
}

static int64_t count_of(fst_rdd *rdd)
{
        int64_t count;
        int r = fst_count(rdd, &count);
        return r < 0 ? r : count;
}

static void adds_integers(void **state)
{
        fst_context *sc = *state;
        struct shared s = {fst_accumulator_i64(sc, "sum")};
        assert_int_equal(count_of(fst_filter(fst_range_n(sc, -3, 1000, 7), FST_WITH(add, s))), 1003);
        fst_totals_i64 t = fst_accumulator_totals_i64(sc, s.a);
        assert_int_equal(t.count, 1003);
        assert_int_equal(t.sum, 999 * 1000 / 2 - 6);
        assert_int_equal(t.min, -3);
        assert_int_equal(t.max, 999);
        assert_true(fst_accumulator_sum_f64(sc, s.a) == 999 * 1000 / 2 - 6);
        fst_accumulator_reset(sc, s.a);
        assert_int_equal(fst_accumulator_totals_i64(sc, s.a).count, 0);
}

static bool add_half(fst_task *task, int64_t x)
{
        const struct shared *s = fst_captured(task);
        fst_accumulate(task, s->a, (double)x / 2);
        fst_accumulate(task, s->b, 1);
        return false;
}

static void adds_floats(void **state)
{
        fst_context *sc = *state;
        struct shared s = {fst_accumulator_f64(sc, NULL), fst_accumulator_f64(sc, "ones")};
        assert_int_equal(count_of(fst_filter(fst_range_n(sc, 0, 100, 3), FST_WITH(add_half, s))), 0);
        assert_true(fst_accumulator_sum_f64(sc, s.a) == 99 * 100 / 4.0);
        assert_true(fst_accumulator_totals_f64(sc, s.a).max == 49.5);
        assert_true(fst_accumulator_sum_f64(sc, s.b) == 100);
}

/* The first attempt of a partition adds and then fails: its updates must not count. */
static int add_and_fail(fst_task *task, fst_iter *rows, fst_out *out)
{
        const struct shared *s = fst_captured(task);
        for (int64_t x; fst_next(rows, &x);)
                fst_accumulate(task, s->a, 1);
        if (fst_task_attempt(task) == 0 && fst_task_partition(task) == s->fail_partition)
                return fst_fail(task, "once");
        fst_emit(out, fst_task_partition(task));
        return 0;
}

static void failed_attempts_do_not_count(void **state)
{
        fst_context *sc = *state;
        struct shared s = {fst_accumulator_i64(sc, "rows"), .fail_partition = 2};
        assert_int_equal(count_of(fst_map_partitions(fst_range_n(sc, 0, 100, 5), FST_WITH(add_and_fail, s), FST_I64)),
                         5);
        assert_int_equal(fst_accumulator_sum_i64(sc, s.a), 100);
}

static int pair(fst_task *task, int64_t x, fst_out *out)
{
        const struct shared *s = fst_captured(task);
        fst_accumulate(task, s->a, 1);
        fst_emit(out, x % 10, x);
        return 0;
}

/* Updates of map tasks count, too. A second job skips the map tasks. */
static void counts_map_tasks_once(void **state)
{
        fst_context *sc = *state;
        struct shared s = {fst_accumulator_i64(sc, "mapped")};
        fst_rdd *sums =
                fst_reduce_by_key(fst_map(fst_range_n(sc, 0, 1000, 4), FST_WITH(pair, s), FST_PAIR(I64, I64)), fst_fn_sum);
        assert_int_equal(count_of(sums), 10);
        assert_int_equal(fst_accumulator_sum_i64(sc, s.a), 1000);
        assert_int_equal(count_of(sums), 10);
        assert_int_equal(fst_accumulator_sum_i64(sc, s.a), 1000);
}

/* An application's accumulator: the smallest and the greatest multiple of three, and a set of last digits. */
struct seen {
        uint64_t digits;
        int64_t most;
};

static int see(fst_task *task, int64_t x)
{
        const struct shared *s = fst_captured(task);
        struct seen *seen = fst_accumulator_state(task, s->a);
        if (!seen)
                return -1;
        seen->digits |= (uint64_t)1 << (x % 10);
        if (x > seen->most)
                seen->most = x;
        return 0;
}

static int unite(fst_task *task, void *into, const void *from)
{
        struct seen *a = into;
        const struct seen *b = from;
        a->digits |= b->digits;
        if (b->most > a->most)
                a->most = b->most;
        return 0;
}

static int disagree(fst_task *task, void *into, const void *from)
{
        return fst_fail(task, "these two do not go together");
}

static void merges_application_states(void **state)
{
        fst_context *sc = *state;
        struct seen zero = {.most = -1}, got;
        struct shared s = {fst_accumulator_own(sc, "seen", &zero, unite)};
        assert_int_equal(fst_foreach(fst_range_n(sc, 3, 9, 4), FST_WITH(see, s)), 0);
        assert_int_equal(fst_accumulator_read(sc, s.a, &got), 0);
        assert_int_equal(got.digits, 0x1f8);
        assert_int_equal(got.most, 8);
        fst_accumulator_reset(sc, s.a);
        assert_int_equal(fst_accumulator_read(sc, s.a, &got), 0);
        assert_int_equal(got.most, -1);

        s.a = fst_accumulator_own(sc, "quarrel", &zero, disagree);
        assert_refused(fst_foreach(fst_range_n(sc, 0, 9, 2), FST_WITH(see, s)), -EIO, "these two do not go together");
}

static int set_up_heard(void **state)
{
        *state = api_context("local[2]", "spark.log.level", "ERROR", NULL);
        return 0;
}

static void rejects_invalid_handles(void **state)
{
        fst_context *sc = *state;
        struct shared s = {{0}};
        fst_rdd *range = fst_range_n(sc, 0, 10, 2);
        assert_refused((int)count_of(fst_filter(range, FST_WITH(add, s))), -EIO, "unknown accumulator");
        s.a = (fst_accumulator){77, FST_ACCUMULATOR_I64, sizeof(fst_totals_i64)};
        assert_refused((int)count_of(fst_filter(range, FST_WITH(add, s))), -EIO, "accumulator 77");
        s.a = fst_accumulator_i64(sc, NULL);
        s.b = s.a;
        assert_refused((int)count_of(fst_filter(range, FST_WITH(add_half, s))), -EIO, "takes integers, not floats");
        assert_refused(fst_foreach(range, FST_WITH(see, s)), -EIO, "not an accumulator of your own");
        assert_int_equal(fst_accumulator_sum_i64(sc, s.a), 0);
        struct seen zero = {0};
        assert_refused((int)fst_accumulator_own_of(sc, "?", &zero, sizeof(zero), fst_fn_sum).id, 0,
                       "does not combine states");
        assert_refused((int)fst_accumulator_own_of(sc, "?", &zero, 1 << 20, FST_FN(unite)).id, 0, "1 to 65536 bytes");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(adds_integers, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(adds_floats, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(failed_attempts_do_not_count, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(counts_map_tasks_once, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(merges_application_states, set_up_heard, api_teardown),
                cmocka_unit_test_setup_teardown(rejects_invalid_handles, set_up_heard, api_teardown),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
