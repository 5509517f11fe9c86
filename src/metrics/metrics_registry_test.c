/* Metrics: rates, quantiles, decay, concurrent updates, sources. */
#include "metrics/metrics_registry.h"

#include "base/clock.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct metrics_snapshot seen;

static const struct metric_sample *seen_find(const char *name)
{
        for (size_t i = 0; i < seen.samples.len; i++)
                if (strcmp(seen.samples.data[i].name, name) == 0)
                        return &seen.samples.data[i];
        fail_msg("no metric %s", name);
        return NULL;
}

static void histogram_of_three_values_has_quantiles(void **state)
{
        struct metrics_registry *r = metrics_registry_new("app.1");
        struct metric_timer *h = metrics_registry_timer(r, "h", 0);
        for (int i = 1; i <= 3; i++)
                metric_timer_update(h, 10 * i, 0);
        metrics_registry_snapshot(r, 0, &seen);
        const struct metric_distribution *d = &seen_find("app.1.h")->distribution;
        assert_int_equal(d->min, 10);
        assert_int_equal(d->max, 30);
        assert_true(d->mean > 19.999 && d->mean < 20.001);
        assert_true(d->percentile[0] == 20 && d->percentile[1] == 30 && d->percentile[5] == 30);
        assert_true(d->stddev > 8.16 && d->stddev < 8.17);
        metrics_registry_free(r);
}

static void newer_values_outweigh_old_ones(void **state)
{
        struct metrics_registry *r = metrics_registry_new(NULL);
        struct metric_timer *h = metrics_registry_timer(r, "h", 0);
        int64_t now = 0;
        for (int i = 0; i < 10000; i++)
                metric_timer_update(h, 1, now);
        for (int i = 0; i < 10000; i++)
                metric_timer_update(h, 100, now += 100 * NS_PER_MS);
        /* More than an hour later, weights are rescaled. */
        metric_timer_update(h, 100, now + 7200 * NS_PER_SECOND);
        metrics_registry_snapshot(r, now, &seen);
        assert_true(seen_find("h")->distribution.percentile[0] == 100);
        assert_int_equal(seen_find("h")->value, 20001);
        metrics_registry_free(r);
}

static void meter_rates_follow_and_decay(void **state)
{
        struct metrics_registry *r = metrics_registry_new(NULL);
        struct metric_meter *m = metrics_registry_meter(r, "m", 0);
        int64_t now = 0;
        for (int i = 0; i < 600; i++)
                metric_meter_mark(m, 10, now += NS_PER_SECOND);
        metrics_registry_snapshot(r, now, &seen);
        const struct metric_rates *rates = &seen_find("m")->rates;
        assert_true(rates->m1 > 9.5 && rates->m1 < 10.5);
        assert_true(rates->mean > 9.99 && rates->mean < 10.01);
        assert_int_equal(seen_find("m")->value, 6000);
        metrics_registry_snapshot(r, now + 600 * NS_PER_SECOND, &seen);
        rates = &seen_find("m")->rates;
        assert_true(rates->m1 < 0.01 && rates->m15 > 4 && rates->m15 < 6);
        /* A clock that jumps by years costs a bounded number of ticks. */
        metrics_registry_snapshot(r, INT64_MAX / 2, &seen);
        assert_true(seen_find("m")->rates.m15 < 1e-9);
        metrics_registry_free(r);
}

static void *update_all(void *registry)
{
        struct metric_meter *m = metrics_registry_meter(registry, "m", 0);
        struct metric_timer *t = metrics_registry_timer(registry, "t", 0);
        for (int i = 0; i < 10000; i++) {
                metric_meter_mark(m, 1, now_ns());
                metric_timer_update(t, i, now_ns());
        }
        return NULL;
}

static void concurrent_updates_are_all_counted(void **state)
{
        struct metrics_registry *r = metrics_registry_new(NULL);
        pthread_t threads[4];
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                assert_int_equal(pthread_create(&threads[i], NULL, update_all, r), 0);
        for (int i = 0; i < 20; i++)
                metrics_registry_snapshot(r, now_ns(), &seen);
        for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
                pthread_join(threads[i], NULL);
        metrics_registry_snapshot(r, now_ns(), &seen);
        assert_int_equal(seen.samples.len, 2);
        assert_int_equal(seen_find("m")->value, 40000);
        assert_int_equal(seen_find("t")->value, 40000);
        assert_int_equal(seen_find("t")->distribution.min >= 0, 1);
        metrics_registry_free(r);
}

static void source_put(void *owner, struct metrics_snapshot *out)
{
        metrics_gauge(out, "BlockManager.memory.maxMem_MB", *(int *)owner);
}

static void sources_add_their_gauges(void **state)
{
        int value = 366;
        struct metrics_registry *r = metrics_registry_new("a.driver");
        metrics_registry_add_source(r, source_put, &value);
        metrics_registry_snapshot(r, 0, &seen);
        assert_int_equal(seen.samples.len, 1);
        assert_int_equal(seen_find("a.driver.BlockManager.memory.maxMem_MB")->value, 366);
        metrics_registry_free(r);
}

static void absent_metrics_take_updates(void **state)
{
        metric_meter_mark(NULL, 1, 0);
        metric_timer_update(NULL, 1, 0);
        metrics_registry_free(NULL);
}

static int seen_deinit(void **state)
{
        metrics_snapshot_deinit(&seen);
        return 0;
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(histogram_of_three_values_has_quantiles),
                cmocka_unit_test(newer_values_outweigh_old_ones),
                cmocka_unit_test(meter_rates_follow_and_decay),
                cmocka_unit_test(concurrent_updates_are_all_counted),
                cmocka_unit_test(sources_add_their_gauges),
                cmocka_unit_test(absent_metrics_take_updates),
        };
        return cmocka_run_group_tests(tests, NULL, seen_deinit);
}
