/* Gang scheduling of each scheduler, which is off by default. */
#include "kubernetes/pods/gang_scheduling.h"

#include "kubernetes/pods/driver_builder.h"
#include "kubernetes/pods/executor_builder.h"
#include "kubernetes/pods/features/step_fixture.h"

#define K "spark.kubernetes."
#define ON "spark.firesteel.kubernetes.gang.enabled=true"
#define SIZES                                                                                                          \
        "spark.executor.instances=3", K "executor.request.cores=500m", "spark.executor.memory=1g",                     \
                "spark.driver.memory=1g", "spark.driver.cores=2"
#define STEP "org.apache.spark.deploy.k8s.features.VolcanoFeatureStep"

static const json_t *annotation(struct spark_pod *pod, const char *name)
{
        return json_object_get(json_object_get(pod_metadata(pod), "annotations"), name);
}

static void annotates_task_groups_for_yunikorn(void **state)
{
        struct step_fixture f;
        struct driver_pod_spec driver;
        struct executor_pod_spec executor;
        step_begin(&f, KUBE_DRIVER,
                   settings(SIZES, ON, K "scheduler.name=yunikorn", "spark.firesteel.kubernetes.gang.timeout=90s",
                            K "driver.annotation.yunikorn.apache.org/app-id=mine"));
        if (driver_spec_build(&f.c, &driver, &f.error))
                fail_msg("%s", error_message(&f.error));
        assert_json(annotation(&driver.pod, "yunikorn.apache.org/app-id"), "'mine'");
        assert_json(annotation(&driver.pod, "yunikorn.apache.org/task-group-name"), "'spark-driver'");
        assert_json(annotation(&driver.pod, "yunikorn.apache.org/schedulingPolicyParameters"),
                    "'placeholderTimeoutInSeconds=90 gangSchedulingStyle=Hard'");
        json_t *groups =
                json_loads(json_string_value(annotation(&driver.pod, "yunikorn.apache.org/task-groups")), 0, NULL);
        assert_json(groups, "[{'name':'spark-driver','minMember':1,'minResource':{'memory':'1408Mi','cpu':'2'}},"
                            "{'name':'spark-executor','minMember':3,'minResource':{'cpu':'500m','memory':'1408Mi'}}]");
        json_decref(groups);
        driver_spec_deinit(&driver);
        step_end(&f);

        step_begin(&f, KUBE_EXECUTOR, settings(SIZES, ON, "spark.driver.host=d", K "scheduler.name=yunikorn"));
        assert_int_equal(executor_spec_build(&f.c, &executor, &f.error), 0);
        assert_json(annotation(&executor.pod, "yunikorn.apache.org/task-group-name"), "'spark-executor'");
        assert_json(annotation(&executor.pod, "yunikorn.apache.org/app-id"), "'app-1'");
        assert_null(annotation(&executor.pod, "yunikorn.apache.org/task-groups"));
        executor_spec_deinit(&executor);
        step_end(&f);
}

static void sets_min_resources_for_volcano(void **state)
{
        struct step_fixture f;
        struct driver_pod_spec driver;
        step_begin(&f, KUBE_DRIVER,
                   settings(SIZES, ON, K "scheduler.name=volcano", K "driver.pod.featureSteps=" STEP,
                            K "scheduler.volcano.podGroupTemplateJson={\"spec\":{\"queue\":\"q\"}}"));
        if (driver_spec_build(&f.c, &driver, &f.error))
                fail_msg("%s", error_message(&f.error));
        const json_t *spec = json_object_get(json_array_get(driver.pre_resources, 0), "spec");
        /* 2 + 3 × 0.5 cores, 4 × 1408 MiB */
        assert_json(spec, "{'queue':'q','minMember':1,'minResources':{'cpu':'3500m','memory':'5905580032'}}");
        driver_spec_deinit(&driver);
        step_end(&f);

        step_begin(&f, KUBE_DRIVER,
                   settings(SIZES, ON, K "scheduler.name=volcano", K "driver.pod.featureSteps=" STEP,
                            K "executor.request.cores=4e15", "spark.executor.instances=2000000000"));
        assert_int_equal(driver_spec_build(&f.c, &driver, &f.error), 0);
        spec = json_object_get(json_array_get(driver.pre_resources, 0), "spec");
        assert_json(json_object_get(json_object_get(spec, "minResources"), "cpu"), "'9223372036854775807m'");
        driver_spec_deinit(&driver);
        step_end(&f);

        step_begin(&f, KUBE_DRIVER, settings(SIZES, ON, K "scheduler.name=volcano"));
        assert_int_equal(driver_spec_build(&f.c, &driver, &f.error), -EINVAL);
        assert_non_null(strstr(error_message(&f.error), STEP));
        driver_spec_deinit(&driver);
        step_end(&f);
}

static void keeps_values_of_user(void **state)
{
        struct step_fixture f;
        struct driver_pod_spec driver;
        step_begin(&f, KUBE_DRIVER,
                   settings(SIZES, ON, K "scheduler.name=volcano", K "driver.pod.featureSteps=" STEP,
                            K
                            "scheduler.volcano.podGroupTemplateJson={\"spec\":{\"minMember\":4,\"minResources\":{}}}"));
        assert_int_equal(driver_spec_build(&f.c, &driver, &f.error), 0);
        assert_json(json_object_get(json_array_get(driver.pre_resources, 0), "spec"),
                    "{'minMember':4,'minResources':{}}");
        driver_spec_deinit(&driver);
        step_end(&f);

        step_begin(&f, KUBE_DRIVER, settings(SIZES, K "scheduler.name=yunikorn"));
        assert_int_equal(driver_spec_build(&f.c, &driver, &f.error), 0);
        assert_null(annotation(&driver.pod, "yunikorn.apache.org/task-groups"));
        driver_spec_deinit(&driver);
        step_end(&f);
}

static void reads_minimum_executors(void **state)
{
        struct step_fixture f;
        struct gang gang;
        step_begin(&f, KUBE_EXECUTOR, settings(SIZES, ON));
        assert_int_equal(gang_read(&f.conf, &gang, &f.error), 0);
        assert_true(gang.wanted);
        assert_int_equal(gang.executors, 3);
        assert_int_equal(gang.timeout_ms, 600000);
        strmap_set(&f.conf.set, "spark.dynamicAllocation.enabled", "true");
        strmap_set(&f.conf.set, "spark.dynamicAllocation.minExecutors", "1");
        assert_int_equal(gang_read(&f.conf, &gang, &f.error), 0);
        assert_int_equal(gang.executors, 1);
        step_end(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(annotates_task_groups_for_yunikorn),
                cmocka_unit_test(sets_min_resources_for_volcano),
                cmocka_unit_test(keeps_values_of_user),
                cmocka_unit_test(reads_minimum_executors),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
