/* Pods for Palantir's scheduler. */
#include "kubernetes/pods/driver_builder.h"
#include "kubernetes/pods/executor_builder.h"
#include "kubernetes/pods/features/step_fixture.h"

#define NAME "spark.kubernetes.scheduler.name=spark-scheduler"

static void annotations_are(enum kube_language language, const char *const *conf, const char *expected)
{
        struct step_fixture f;
        struct driver_pod_spec spec;
        step_begin(&f, KUBE_DRIVER, conf);
        f.c.language = language;
        f.c.resource = "local:///opt/a";
        if (driver_spec_build(&f.c, &spec, &f.error))
                fail_msg("%s", error_message(&f.error));
        const json_t *metadata = json_object_get(spec.pod.pod, "metadata");
        assert_json(json_object_get(metadata, "annotations"), expected);
        assert_json(json_object_get(json_object_get(metadata, "labels"), "spark-app-id"), "'app-1'");
        driver_spec_deinit(&spec);
        step_end(&f);
}

static void annotates_driver_with_all_resources(void **state)
{
        annotations_are(KUBE_JAVA, settings(NAME),
                        "{'spark-driver-cpu':'1','spark-driver-mem':'1408Mi','spark-executor-cpu':'1',"
                        "'spark-executor-mem':'1408Mi','spark-executor-count':'2'}");
        annotations_are(KUBE_PYTHON,
                        settings(NAME, "spark.driver.memory=2g", "spark.executor.memory=10g", "spark.executor.cores=4",
                                 "spark.executor.instances=8", "spark.executor.pyspark.memory=1g",
                                 "spark.kubernetes.driver.request.cores=500m"),
                        "{'spark-driver-cpu':'500m','spark-driver-mem':'2867Mi','spark-executor-cpu':'4',"
                        "'spark-executor-mem':'15360Mi','spark-executor-count':'8'}");
        annotations_are(
                KUBE_JAVA,
                settings(NAME, "spark.dynamicAllocation.enabled=true", "spark.dynamicAllocation.minExecutors=3",
                         "spark.kubernetes.executor.request.cores=1500m", "spark.executor.resource.gpu.amount=2",
                         "spark.executor.resource.gpu.vendor=nvidia.com", "spark.driver.resource.gpu.amount=1",
                         "spark.driver.resource.gpu.vendor=nvidia.com"),
                "{'spark-driver-cpu':'1','spark-driver-mem':'1408Mi','spark-driver-nvidia.com/gpu':'1',"
                "'spark-executor-cpu':'1500m','spark-executor-mem':'1408Mi','spark-executor-nvidia.com/gpu':'2',"
                "'spark-dynamic-allocation-enabled':'true','spark-dynamic-allocation-min-executor-count':'3',"
                "'spark-dynamic-allocation-max-executor-count':'2147483647'}");
}

static void keeps_values_of_user(void **state)
{
        annotations_are(KUBE_JAVA,
                        settings(NAME, "spark.kubernetes.driver.annotation.spark-executor-mem=9Gi",
                                 "spark.kubernetes.driver.annotation.spark-executor-count=5"),
                        "{'spark-driver-cpu':'1','spark-driver-mem':'1408Mi','spark-executor-cpu':'1',"
                        "'spark-executor-mem':'9Gi','spark-executor-count':'5'}");
}

#define REQUIRED(terms)                                                                                                \
        "{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':" terms "}}}"

static void an_executor_has_label_and_affinity(void **state)
{
        struct step_fixture f;
        struct executor_pod_spec spec;
        step_begin(&f, KUBE_EXECUTOR,
                   settings(NAME, "spark.kubernetes.node.selector.instance-group=batch", "spark.driver.host=h"));
        if (executor_spec_build(&f.c, &spec, &f.error))
                fail_msg("%s", error_message(&f.error));
        const json_t *metadata = json_object_get(spec.pod.pod, "metadata");
        assert_null(json_object_get(metadata, "annotations"));
        assert_json(json_object_get(json_object_get(metadata, "labels"), "spark-app-id"), "'app-1'");
        assert_json(json_object_get(json_object_get(spec.pod.pod, "spec"), "affinity"),
                    REQUIRED("[{'matchExpressions':[{'key':'instance-group','operator':'In','values':['batch']}]}]"));
        executor_spec_deinit(&spec);
        step_end(&f);
}

static void adds_selectors_to_every_affinity_term(void **state)
{
        struct step_fixture f;
        json_error_t at;
        step_begin(&f, KUBE_EXECUTOR, NULL);
        json_decref(f.pod.pod);
        f.pod.pod = json_loads(
                "{\"spec\":{\"schedulerName\":\"spark-scheduler\",\"nodeSelector\":{\"g\":\"a\",\"h\":\"b\"},"
                "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
                "\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"g\",\"operator\":\"Exists\"}]},"
                "{}]}}}}}",
                0, &at);
        step_works(&f, &spark_scheduler_step);
        assert_json(spec_of(&f, "affinity"), REQUIRED("[{'matchExpressions':[{'key':'g','operator':'Exists'},"
                                                      "{'key':'h','operator':'In','values':['b']}]},"
                                                      "{'matchExpressions':[{'key':'g','operator':'In','values':['a']},"
                                                      "{'key':'h','operator':'In','values':['b']}]}]"));
        step_end(&f);
}

static void ignores_other_schedulers(void **state)
{
        struct step_fixture f;
        step_begin(&f, KUBE_DRIVER, NULL);
        kube_put(pod_spec(&f.pod), "schedulerName", "volcano");
        step_works(&f, &spark_scheduler_step);
        assert_json(f.pod.pod, "{'apiVersion':'v1','kind':'Pod','metadata':{},'spec':{'schedulerName':'volcano'}}");
        step_end(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(annotates_driver_with_all_resources),
                cmocka_unit_test(keeps_values_of_user),
                cmocka_unit_test(an_executor_has_label_and_affinity),
                cmocka_unit_test(adds_selectors_to_every_affinity_term),
                cmocka_unit_test(ignores_other_schedulers),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
