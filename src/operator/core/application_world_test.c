/* 300 random worlds (application_world.h). FIRESTEEL_TEST_SEED runs one. */
#include "operator/core/application_world.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define WORLDS 300

static void world_comes_to_rest(uint64_t seed)
{
        struct application_world_options o = application_world_faults;
        struct application_world_result result;
        o.seed = seed;
        application_world_run(&o, &result);
        if (result.violation)
                fail_msg("seed %llu: %s", (unsigned long long)seed, result.violation);
        assert_true(result.submissions > 0 && result.status_writes > result.submissions);
}

static void worlds_come_to_rest(void **state)
{
        const char *seed = getenv("FIRESTEEL_TEST_SEED");
        for (uint64_t i = 0; !seed && i < WORLDS; i++)
                world_comes_to_rest(i);
        if (seed)
                world_comes_to_rest(strtoull(seed, NULL, 10));
}

/* Each application takes one submission and at most four writes: SUBMITTED, RUNNING, SUCCEEDING, COMPLETED. */
static void world_without_faults_writes_each_state_once(void **state)
{
        const struct application_world_options o = {.applications = 100, .steps = 400, .driver_ends = 0.05};
        struct application_world_result result;
        application_world_run(&o, &result);
        assert_null(result.violation);
        assert_int_equal(result.submissions, 100);
        assert_in_range(result.status_writes, 300, 400);
        assert_int_equal(result.requests, result.submissions + result.status_writes);
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(worlds_come_to_rest),
                                           cmocka_unit_test(world_without_faults_writes_each_state_once)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
