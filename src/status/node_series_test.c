/* Tests rates, bounded memory, and counters that go back. */
#include "status/node_series.h"

#include "base/mem.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct node_counters sample(int64_t ms, int64_t busy, int64_t disk)
{
        return (struct node_counters){.ms = ms,
                                      .cpu_busy_ms = busy,
                                      .cpu_all_ms = ms * 4,
                                      .process_cpu_ms = ms / 2,
                                      .memory_total = 1000,
                                      .memory_available = 250,
                                      .disk_read = disk,
                                      .net_sent = ms * 10};
}

static void computes_rates_between_heartbeats(void **state)
{
        struct node_series s = {0};
        struct node_point points[NODE_POINTS];
        for (int i = 1; i <= 3; i++) {
                struct node_counters c = sample(i * 1000, i * 2000, i * 500000);
                node_series_add(&s, &c, 1);
        }
        assert_int_equal(node_series_get(&s, 0, INT64_MAX, points), 2);
        assert_int_equal(points[0].ms, 2000);
        assert_float_equal(points[1].node_cpu, 0.5, 1e-6);
        assert_float_equal(points[1].process_cpu, 0.5, 1e-6);
        assert_float_equal(points[1].memory, 0.75, 1e-6);
        assert_float_equal(points[1].disk_bytes, 500000, 1);
        assert_float_equal(points[1].net_bytes, 10000, 1);
        assert_int_equal(node_series_get(&s, 2500, 3000, points), 1);
        assert_int_equal(node_series_get(&s, 3001, INT64_MAX, points), 0);
}

static void keeps_the_whole_time_in_bounded_memory(void **state)
{
        struct node_series s = {0};
        struct node_point points[NODE_POINTS];
        for (int64_t i = 1; i <= 100000; i++) {
                struct node_counters c = sample(i * 10000, i * 10000, i * 10000);
                node_series_add(&s, &c, 1);
                assert_true(s.pace.n <= NODE_POINTS);
        }
        size_t n = node_series_get(&s, 0, INT64_MAX, points);
        assert_true(n >= NODE_POINTS / 2);
        assert_true(points[0].ms < 100000 * INT64_C(10000) / 25);
        for (size_t i = 0; i < n; i++) {
                assert_float_equal(points[i].node_cpu, 0.25, 1e-3);
                assert_float_equal(points[i].disk_bytes, 1000, 10);
                assert_true(i == 0 || points[i].ms > points[i - 1].ms);
        }
}

static void ignores_old_heartbeats_and_counters_that_go_back(void **state)
{
        struct node_series s = {0};
        struct node_point points[NODE_POINTS];
        struct node_counters c = sample(2000, 8000, 1 << 30);
        node_series_add(&s, &c, 1);
        node_series_add(&s, &c, 1);
        c = sample(1000, 4000, 0);
        node_series_add(&s, &c, 1);
        assert_int_equal(node_series_get(&s, 0, INT64_MAX, points), 0);
        c = (struct node_counters){.ms = 3000};
        node_series_add(&s, &c, 1);
        assert_int_equal(node_series_get(&s, 0, INT64_MAX, points), 1);
        assert_float_equal(points[0].node_cpu, 0, 0);
        assert_float_equal(points[0].disk_bytes, 0, 0);
        assert_float_equal(points[0].memory, 0, 0);
}

/* An event log holds only the heartbeats that end a point. */
static void is_the_same_from_heartbeats_that_end_points(void **state)
{
        struct node_series all = {0}, some = {0};
        struct node_point expected[NODE_POINTS], points[NODE_POINTS];
        struct node_pace pace = {0};
        int written = 0;
        for (int i = 1; i <= 5000; i++) {
                struct node_counters c = sample(i * 10000, i * 10000 + i % 7 * 1000, i * 1000);
                int heartbeats = i == 1 ? 1 : pace.n_pending + 1;
                node_series_add(&all, &c, 1);
                if (i > 1 && !node_pace_add(&pace, 1))
                        continue;
                node_series_add(&some, &c, heartbeats);
                written++;
        }
        size_t n = node_series_get(&all, 0, INT64_MAX, expected);
        assert_int_equal(node_series_get(&some, 0, INT64_MAX, points), n);
        assert_in_range(written, 200, 300);
        for (size_t i = 0; i < n; i++) {
                assert_int_equal(points[i].ms, expected[i].ms);
                assert_float_equal(points[i].node_cpu, expected[i].node_cpu, 1e-4);
                assert_float_equal(points[i].disk_bytes, expected[i].disk_bytes, 1);
        }
}

static void bears_any_numbers_of_a_damaged_log(void **state)
{
        struct node_series s = {0};
        for (int i = 0; i < 20000; i++) {
                const struct node_counters c = {
                        .ms = i + 1, .cpu_all_ms = INT64_MAX, .process_cpu_ms = i % 2 ? INT64_MAX : INT64_MIN};
                node_series_add(&s, &c, i % 3 ? INT_MAX : INT_MIN);
                assert_true(node_pace_is_valid(&s.pace));
        }
        for (size_t i = 0; i < s.pace.n; i++)
                assert_true(s.points[i].process_cpu <= 1 << 20);
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(computes_rates_between_heartbeats),
                                           cmocka_unit_test(keeps_the_whole_time_in_bounded_memory),
                                           cmocka_unit_test(ignores_old_heartbeats_and_counters_that_go_back),
                                           cmocka_unit_test(is_the_same_from_heartbeats_that_end_points),
                                           cmocka_unit_test(bears_any_numbers_of_a_damaged_log)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
