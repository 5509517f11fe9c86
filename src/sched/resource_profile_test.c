/* Cases of Spark's ResourceProfileSuite and of DAGSchedulerSuite for merged profiles. */
#include "sched/resource_profile.h"

#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct fst_resource_profile *profile_of(int cores, double executor_gpus, double cpus, double gpus)
{
        struct profile_amount executor[] = {{"gpu", executor_gpus}, {PROFILE_CORES, cores}},
                              task[] = {{"cpus", cpus}, {"gpu", gpus}};

        return resource_profile_new(7, executor, cores ? 2 : 0, task, gpus > 0 ? 2 : 1, 1);
}

static int tasks_of(struct fst_resource_profile *p, const struct fst_resource_profile *executors,
                    struct fst_error *error)
{
        int tasks = -1;
        int r = resource_profile_tasks_per_executor(p, executors ? executors : p, 0, &tasks, error);

        resource_profile_free(p);
        return r ? r : tasks;
}

static void counts_tasks_by_the_scarcest_resource(void **state)
{
        assert_int_equal(tasks_of(profile_of(8, 2, 2, 0), NULL, NULL), 4);
        assert_int_equal(tasks_of(profile_of(8, 2, 1, 1), NULL, NULL), 2);
        assert_int_equal(tasks_of(profile_of(8, 2, 1, 0.25), NULL, NULL), 8);
        assert_int_equal(tasks_of(profile_of(8, 3, 1, 2), NULL, NULL), 1);
}

static void a_task_profile_uses_executors_of_another_one(void **state)
{
        struct fst_resource_profile *executors = profile_of(4, 4, 1, 0), *tasks = profile_of(0, 0, 2, 3);

        assert_true(tasks->task_only);
        assert_int_equal(tasks->needs.cpus, 2);
        assert_int_equal(tasks->needs.n_requests, 1);
        assert_true(tasks->needs.requests[0].amount == 3 * RESOURCE_ONE);
        assert_int_equal(tasks_of(tasks, executors, NULL), 1);
        resource_profile_free(executors);
}

static void refuses_executors_that_can_run_no_task(void **state)
{
        struct fst_error error = FST_ERROR_INIT;

        assert_true(tasks_of(profile_of(1, 1, 2, 0), NULL, &error) < 0);
        assert_string_equal(error_message(&error), "The number of cores per executor (=1) has to be >= the number of "
                                                   "cpus per task = 2.");
        error_deinit(&error);
        assert_true(tasks_of(profile_of(4, 1, 1, 2), NULL, &error) < 0);
        assert_string_equal(error_message(&error), "The executor resource: gpu, amount: 1 needs to be >= the task "
                                                   "resource request amount of 2.0");
        error_deinit(&error);
        assert_true(tasks_of(profile_of(0, 0, 1, 1), NULL, &error) < 0);
        assert_string_equal(error_message(&error), "No executor resource configs were specified for the following task "
                                                   "configs: gpu");
        error_deinit(&error);
}

static void merges_to_the_larger_amounts(void **state)
{
        struct fst_resource_profile *a = profile_of(4, 1, 1, 0.5), *b = profile_of(2, 3, 2, 0.25);
        struct fst_resource_profile *c = resource_profile_merge(9, a, b, 1), *d = resource_profile_merge(10, b, a, 1);

        assert_int_equal(resource_profile_amount(c, PROFILE_CORES, 0), 4);
        assert_int_equal(resource_profile_amount(c, "gpu", 0), 3);
        assert_true(resource_profile_of_task(c, "gpu")->amount == 0.5);
        assert_int_equal(c->needs.cpus, 2);
        assert_true(resource_profile_equal(c, d));
        assert_false(resource_profile_equal(a, b));
        resource_profile_free(a);
        resource_profile_free(b);
        resource_profile_free(c);
        resource_profile_free(d);
}

static void the_last_amount_of_a_name_counts(void **state)
{
        struct profile_amount executor[] = {{PROFILE_CORES, 1}, {PROFILE_CORES, 3}};
        struct fst_resource_profile *p = resource_profile_new(1, executor, 2, NULL, 0, 4);

        assert_int_equal(p->n_executor, 1);
        assert_int_equal(resource_profile_amount(p, PROFILE_CORES, 0), 3);
        assert_int_equal(p->needs.cpus, 4);
        resource_profile_free(p);
}

static void changes_the_configuration_of_executors(void **state)
{
        struct strmap properties = STRMAP_INIT;
        struct profile_amount executor[] = {{PROFILE_MEMORY, 2048}, {PROFILE_CORES, 3}, {"fpga", 2, "/find", "acme"}};
        struct fst_resource_profile *p = resource_profile_new(1, executor, 3, NULL, 0, 2);

        strmap_set(&properties, "spark.executor.memory", "1g");
        strmap_set(&properties, "spark.executor.resource.gpu.amount", "4");
        strmap_set(&properties, "spark.task.resource.gpu.amount", "1");
        strmap_set(&properties, "spark.app.name", "x");
        resource_profile_apply(p, &properties);
        assert_string_equal(strmap_get(&properties, "spark.executor.memory"), "2048m");
        assert_string_equal(strmap_get(&properties, "spark.executor.cores"), "3");
        assert_string_equal(strmap_get(&properties, "spark.task.cpus"), "2");
        assert_string_equal(strmap_get(&properties, "spark.executor.resource.fpga.amount"), "2");
        assert_string_equal(strmap_get(&properties, "spark.executor.resource.fpga.discoveryScript"), "/find");
        assert_string_equal(strmap_get(&properties, "spark.executor.resource.fpga.vendor"), "acme");
        assert_null(strmap_get(&properties, "spark.executor.resource.gpu.amount"));
        assert_null(strmap_get(&properties, "spark.task.resource.gpu.amount"));
        assert_string_equal(strmap_get(&properties, "spark.app.name"), "x");
        strmap_deinit(&properties);
        resource_profile_free(p);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(counts_tasks_by_the_scarcest_resource),
                cmocka_unit_test(a_task_profile_uses_executors_of_another_one),
                cmocka_unit_test(refuses_executors_that_can_run_no_task),
                cmocka_unit_test(merges_to_the_larger_amounts),
                cmocka_unit_test(the_last_amount_of_a_name_counts),
                cmocka_unit_test(changes_the_configuration_of_executors),
        };

        return cmocka_run_group_tests_name("sched/resource_profile", tests, NULL, NULL);
}
