/* Tests broadcast variables through the public interface, in one process. */
#include "api/api_fixture.h"

struct point {
        double x, y;
};

struct shared {
        fst_broadcast table, point;
};

static int64_t look_up(fst_task *task, int64_t i)
{
        const struct shared *s = fst_captured(task);
        fst_bytes table = fst_broadcast_value(task, s->table);
        fst_bytes again = fst_broadcast_value(task, s->table);
        fst_bytes point = fst_broadcast_value(task, s->point);
        if (!table.data || !point.data || again.data != table.data)
                return -1;
        return ((const int64_t *)(const void *)table.data)[i] +
               (int64_t)((const struct point *)(const void *)point.data)->y;
}

static int64_t total(fst_rdd *rdd)
{
        int64_t sum = -1;
        int r = fst_reduce(rdd, fst_fn_sum, &sum);
        return r ? r : sum;
}

static void tasks_read_values(void **state)
{
        fst_context *sc = *state;
        int64_t *table = malloc(100000 * sizeof(*table));
        for (int64_t i = 0; i < 100000; i++)
                table[i] = i * 3;
        struct point point = {1, 2};
        struct shared s = {fst_broadcast_bytes(sc, table, 100000 * sizeof(*table)), fst_broadcast_struct(sc, &point)};
        free(table);
        assert_int_equal(total(fst_map(fst_range_n(sc, 0, 100000, 7), FST_WITH(look_up, s), FST_I64)),
                         3LL * 99999 * 100000 / 2 + 200000);
        fst_bytes here = fst_broadcast_value(sc, s.point);
        assert_memory_equal(here.data, &point, sizeof(point));
        assert_ptr_equal(fst_broadcast_value(sc, s.point).data, here.data);
        fst_broadcast_unpersist(sc, s.table);
        assert_int_equal(total(fst_map(fst_range_n(sc, 0, 10, 2), FST_WITH(look_up, s), FST_I64)), 3 * 45 + 20);
}

static void broadcasts_empty_value(void **state)
{
        fst_broadcast nothing = fst_broadcast_bytes(*state, "", 0);
        fst_bytes value = fst_broadcast_value((fst_context *)*state, nothing);
        assert_int_equal(value.len, 0);
        assert_non_null(value.data);
}

static int heard_setup(void **state)
{
        *state = api_context("local[2]", "spark.log.level", "ERROR", "spark.driver.memory", "32m", NULL);
        return 0;
}

static void rejects_invalid_handles(void **state)
{
        fst_context *sc = *state;
        struct point point = {1, 2};
        struct shared s = {{0}, fst_broadcast_struct(sc, &point)};
        fst_rdd *range = fst_range_n(sc, 0, 10, 2);
        int64_t sum;
#define run fst_reduce(fst_map(range, FST_WITH(look_up, s), FST_I64), fst_fn_sum, &sum)
        assert_refused(run, -EIO, "unknown broadcast variable");
        s.table = (fst_broadcast){55, 10};
        assert_refused(run, -EIO, "was destroyed, or never existed");
        s.table = (fst_broadcast){s.point.id, 10};
        assert_refused(run, -EIO, "has 16 bytes, not 10");
        s.table = fst_broadcast_bytes(sc, "0123456789", 10);
        fst_bytes held = fst_broadcast_value(sc, s.point);
        assert_non_null(held.data);
        fst_broadcast_destroy(sc, s.point);
        fst_broadcast_destroy(sc, s.point);
        assert_refused(run, -EIO, "was destroyed, or never existed");
}

/* A value larger than memory is stored in files and read from there. */
static void reads_values_larger_than_memory(void **state)
{
        fst_context *sc = *state;
        fst_broadcast variables[12];
        char *data = malloc(3 << 20);
        for (int i = 0; i < 12; i++) {
                memset(data, 'a' + i, 3 << 20);
                variables[i] = fst_broadcast_bytes(sc, data, 3 << 20);
                assert_true(variables[i].id > 0);
        }
        free(data);
        for (int i = 0; i < 12; i++) {
                fst_bytes value = fst_broadcast_value(sc, variables[i]);
                assert_int_equal(value.data[0], 'a' + i);
                assert_int_equal(value.data[value.len - 1], 'a' + i);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(tasks_read_values, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(broadcasts_empty_value, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(rejects_invalid_handles, heard_setup, api_teardown),
                cmocka_unit_test_setup_teardown(reads_values_larger_than_memory, heard_setup, api_teardown),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
