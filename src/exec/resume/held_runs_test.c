/* Ended batches that wait for a driver: found once, dropped beyond the limit. */
#include "exec/resume/held_runs.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static struct held_run make_run(int64_t first_id, int n, size_t bytes)
{
        struct held_run run = {.first_id = first_id, .n = n, .shuffle = -1, .outputs = new_array(int32_t, (size_t)n)};
        for (size_t i = 0; i < bytes; i++)
                buf_putc(&run.status, 'x');
        return run;
}

static bool add(struct held_runs *h, int64_t first_id, int n, size_t bytes)
{
        struct held_run run = make_run(first_id, n, bytes);
        return held_runs_add(h, &run);
}

static void a_run_is_taken_once(void **state)
{
        struct held_runs h = {0};
        struct held_run run;
        assert_false(held_runs_take(&h, 0, &run));
        assert_true(add(&h, 10, 3, 5));
        assert_true(add(&h, 20, 1, 7));
        assert_true(held_runs_has_task(&h, 12));
        assert_false(held_runs_has_task(&h, 13));
        assert_false(held_runs_has_task(&h, 9));
        assert_false(held_runs_take(&h, 11, &run)); /* not its first task */
        assert_true(held_runs_take(&h, 10, &run));
        assert_int_equal(run.status.len, 5);
        held_run_deinit(&run);
        assert_false(held_runs_take(&h, 10, &run));
        assert_false(held_runs_has_task(&h, 12));
        assert_int_equal(h.bytes, 7);
        held_runs_deinit(&h);
}

static void statuses_beyond_the_limit_are_dropped(void **state)
{
        struct held_runs h = {.limit = 10};
        struct held_run run;
        assert_true(add(&h, 1, 1, 6));
        assert_false(add(&h, 2, 1, 5));
        assert_true(add(&h, 3, 1, 4));
        assert_false(held_runs_has_task(&h, 2));
        assert_true(held_runs_take(&h, 1, &run));
        held_run_deinit(&run);
        assert_true(add(&h, 4, 1, 6)); /* there is room again */
        assert_false(add(&h, 5, 1, 11));
        held_runs_deinit(&h);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_run_is_taken_once),
                cmocka_unit_test(statuses_beyond_the_limit_are_dropped),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
