/* Tests rates, bounded memory, and counters that go back. */
#include "status/node_series.h"

#include "base/mem.h"

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
                node_series_add(&s, &c);
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
                node_series_add(&s, &c);
                assert_true(s.n <= NODE_POINTS);
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
        node_series_add(&s, &c);
        node_series_add(&s, &c);
        c = sample(1000, 4000, 0);
        node_series_add(&s, &c);
        assert_int_equal(node_series_get(&s, 0, INT64_MAX, points), 0);
        c = (struct node_counters){.ms = 3000};
        node_series_add(&s, &c);
        assert_int_equal(node_series_get(&s, 0, INT64_MAX, points), 1);
        assert_float_equal(points[0].node_cpu, 0, 0);
        assert_float_equal(points[0].disk_bytes, 0, 0);
        assert_float_equal(points[0].memory, 0, 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(computes_rates_between_heartbeats),
                                           cmocka_unit_test(keeps_the_whole_time_in_bounded_memory),
                                           cmocka_unit_test(ignores_old_heartbeats_and_counters_that_go_back)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
