/* Drivers that send heartbeats, fall silent, end, and are too many. */
#include "shuffle/service/driver_heartbeats.h"

#include "base/error.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void silent_drivers_are_taken_once(void **state)
{
        struct driver_heartbeats w = DRIVER_HEARTBEATS_INIT;
        assert_int_equal(driver_heartbeats_heard(&w, "a", 100, 0, NULL), 1);
        assert_int_equal(driver_heartbeats_heard(&w, "b", 50, 0, NULL), 1);
        assert_int_equal(driver_heartbeats_heard(&w, "b", 50, 40, NULL), 0);
        assert_null(driver_heartbeats_take_silent(&w, 89));
        _cleanup_free_ char *first = driver_heartbeats_take_silent(&w, 99);
        assert_string_equal(first, "b");
        assert_null(driver_heartbeats_take_silent(&w, 99));
        _cleanup_free_ char *second = driver_heartbeats_take_silent(&w, 100);
        assert_string_equal(second, "a");
        assert_null(driver_heartbeats_take_silent(&w, INT64_MAX));
        assert_int_equal(driver_heartbeats_heard(&w, "a", 1, 200, NULL),
                         1); /* a driver that was only slow comes back */
        driver_heartbeats_deinit(&w);
}

static void ended_applications_are_not_silent(void **state)
{
        struct driver_heartbeats w = DRIVER_HEARTBEATS_INIT;
        assert_int_equal(driver_heartbeats_heard(&w, "a", 100, 0, NULL), 1);
        driver_heartbeats_forget(&w, "unknown");
        driver_heartbeats_forget(&w, "a");
        assert_null(driver_heartbeats_take_silent(&w, 1000));
        driver_heartbeats_deinit(&w);
}

static void rejects_invalid_timeouts_and_too_many_drivers(void **state)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct driver_heartbeats w = DRIVER_HEARTBEATS_INIT;
        assert_int_equal(driver_heartbeats_heard(&w, "a", 0, 5, NULL), -EINVAL);
        assert_int_equal(driver_heartbeats_heard(&w, "a", -1, 5, NULL), -EINVAL);
        assert_int_equal(driver_heartbeats_heard(&w, "a", INT64_MAX, 5, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "a has the invalid timeout"));
        for (int i = 0; i < MAX_WATCHED_DRIVERS; i++) {
                char name[24];
                snprintf(name, sizeof(name), "%d", i);
                assert_int_equal(driver_heartbeats_heard(&w, name, 10, i, NULL), 1);
        }
        assert_int_equal(driver_heartbeats_heard(&w, "more", 10, 0, NULL), -ENOSPC);
        assert_int_equal(driver_heartbeats_heard(&w, "7", 10, 0, NULL), 0);
        driver_heartbeats_deinit(&w);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(silent_drivers_are_taken_once),
                cmocka_unit_test(ended_applications_are_not_silent),
                cmocka_unit_test(rejects_invalid_timeouts_and_too_many_drivers),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
