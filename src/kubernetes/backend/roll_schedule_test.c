#include "kubernetes/backend/roll_schedule.h"

#include "base/mem.h"
#include "driver/events/app_status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void summaries_name_the_driver(void **state)
{
        (void)state;
        static const struct {
                const char *id;
                int32_t summary_id;
        } cases[] = {{"driver", -1}, {"1", 1}, {"27", 27}};
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct executor_status x = {.is_active = true, .completed_tasks = 3, .failed_tasks = 2};
                strcpy(x.id, cases[i].id);
                struct roll_summary summary = roll_summary_of(&x);
                assert_int_equal(summary.id, cases[i].summary_id);
                assert_int_equal(summary.total_tasks, 5);
        }
}

static void rolling_passes_over_the_driver(void **state)
{
        (void)state;
        struct executor_status driver = {.id = "driver", .is_active = true};
        struct executor_status executor = {.id = "4", .is_active = true, .added_ms = 1000};
        const struct roll_summary both[] = {roll_summary_of(&driver), roll_summary_of(&executor)};
        assert_int_equal(roll_choose(both, 2, ROLL_ID, 0), 4);
        assert_int_equal(roll_choose(both, 1, ROLL_ID, 0), -1);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(summaries_name_the_driver),
                cmocka_unit_test(rolling_passes_over_the_driver),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
