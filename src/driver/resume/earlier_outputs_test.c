/* Which map outputs of an earlier driver a job goes on with. */
#include "driver/resume/earlier_outputs.h"

#include "sched/sched.h"
#include "shuffle/remote_shuffle.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Shuffle 7 has ended with three maps. */
static bool takes_maps(const struct remote_shuffle_driver *driver, int shuffle, int *maps)
{
        (void)driver;
        *maps = 3;
        return shuffle != 7;
}

static const struct remote_shuffle_driver_class with_ends = {.takes_maps = takes_maps}, without_ends = {0};

static void outputs_of_an_ended_shuffle_count_only_together(void **state)
{
        const struct remote_shuffle_driver store = {&with_ends};
        struct earlier_output part[] = {{.shuffle_id = 2, .map_partition = 4},
                                        {.shuffle_id = 7, .map_partition = 0},
                                        {.shuffle_id = 7, .map_partition = 2},
                                        {.shuffle_id = 9, .map_partition = 5}};
        struct earlier_output all[] = {{.shuffle_id = 7, .map_partition = 0},
                                       {.shuffle_id = 7, .map_partition = 1},
                                       {.shuffle_id = 7, .map_partition = 2}};
        assert_int_equal(earlier_outputs_drop_incomplete(part, 4, &store), 2);
        assert_int_equal(part[0].map_partition, 4);
        assert_int_equal(part[1].map_partition, 5);
        assert_int_equal(earlier_outputs_drop_incomplete(all, 3, &store), 3);
        assert_int_equal(all[1].map_partition, 1);
}

static void outputs_of_other_stores_count_alone(void **state)
{
        const struct remote_shuffle_driver store = {&without_ends};
        struct earlier_output one[] = {{.shuffle_id = 7, .map_partition = 1}};
        assert_int_equal(earlier_outputs_drop_incomplete(one, 1, &store), 1);
        assert_int_equal(earlier_outputs_drop_incomplete(one, 1, NULL), 1);
        assert_int_equal(earlier_outputs_drop_incomplete(NULL, 0, NULL), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(outputs_of_an_ended_shuffle_count_only_together),
                cmocka_unit_test(outputs_of_other_stores_count_alone),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
