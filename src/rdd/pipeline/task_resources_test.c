/* Tests custom resources of tasks, and rejection of invalid texts. */
#include "rdd/pipeline/task_resources.h"

#include "rdd/pipeline/task_run.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void reads_addresses_in_tasks(void **state)
{
        const char *const gpus[] = {"0", "", "3"}, *const none[] = {NULL};
        struct task_resources r = {0};
        struct task_run run;
        const char *found[1];
        task_run_init(&run, NULL, NULL);
        assert_int_equal(fst_task_resource(&run.task, "gpu", found, 1), 0);
        task_resources_put(&r, "fpga", none, 0);
        task_resources_put(&r, "", gpus, 3);
        task_resources_put(&r, "gpu", gpus, 3);
        run.resources = &r;
        assert_int_equal(fst_task_resource(&run.task, "gpu", found, 1), 2); /* more addresses than room */
        assert_string_equal(found[0], "0");
        assert_int_equal(fst_task_resource(&run.task, "fpga", found, 1), 0);
        assert_int_equal(fst_task_resource(&run.task, "0", found, 1), 0); /* an address is not a name */
        task_resources_deinit(&r);
        task_run_deinit(&run);
}

static void rejects_invalid_texts(void **state)
{
        static const char good[] = "gpu\0"
                                   "0\0";
        struct task_resources r = {0};
        const char *name, *addresses[4];
        size_t at = 0;
        int n;
        assert_int_equal(task_resources_set(&r, good, sizeof(good)), 0);
        assert_true(task_resources_next(&r, &at, &name, addresses, 4, &n));
        assert_string_equal(name, "gpu");
        assert_int_equal(n, 1);
        assert_false(task_resources_next(&r, &at, &name, addresses, 4, &n));
        for (size_t len = 1; len < sizeof(good); len++)
                assert_int_equal(task_resources_set(&r, good, len), -EBADMSG);
        assert_int_equal(task_resources_set(&r, "\0\0\0", 3), -EBADMSG);
        at = 0;
        assert_false(task_resources_next(&r, &at, &name, addresses, 4, &n));
        assert_int_equal(task_resources_set(&r, "", 0), 0);
        task_resources_deinit(&r);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reads_addresses_in_tasks),
                cmocka_unit_test(rejects_invalid_texts),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
