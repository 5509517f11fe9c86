/* Whole executors: KubernetesExecutorBuilderSuite. */
#include "kubernetes/pods/executor_builder.h"
#include "kubernetes/pods/features/step_fixture.h"

#define HOST "spark.driver.host=svc.ns.svc"

static void builds_pod_and_claims(void **state)
{
        struct step_fixture f;
        struct executor_pod_spec spec;
        step_begin(&f, KUBE_EXECUTOR,
                   settings(HOST, "spark.kubernetes.executor.volumes.persistentVolumeClaim.d.mount.path=/d",
                            "spark.kubernetes.executor.volumes.persistentVolumeClaim.d.options.claimName=OnDemand",
                            "spark.kubernetes.executor.volumes.persistentVolumeClaim.d.options.storageClass=s",
                            "spark.kubernetes.executor.volumes.persistentVolumeClaim.d.options.sizeLimit=1Gi"));
        assert_int_equal(executor_spec_build(&f.c, &spec, &f.error), 0);
        assert_int_equal(json_array_size(spec.resources), 1);
        json_t *pod = executor_spec_pod(&spec);
        const json_t *containers = json_object_get(json_object_get(pod, "spec"), "containers");
        assert_int_equal(json_array_size(containers), 1);
        assert_json(json_object_get(json_array_get(containers, 0), "args"), "['executor']");
        assert_null(spec_of(&f, "containers"));
        json_decref(pod);
        executor_spec_deinit(&spec);
        step_end(&f);
}

static void builds_one_config_map_for_all_executors(void **state)
{
        struct step_fixture f;
        json_t *map = NULL;
        step_begin(&f, KUBE_EXECUTOR, settings(HOST, "spark.kubernetes.namespace=jobs"));
        assert_int_equal(executor_config_map(&f.c, &map, &f.error), 0);
        assert_json(map, "{'apiVersion':'v1','kind':'ConfigMap','immutable':true,'metadata':{'name':"
                         "'spark-exec-0123456789abcdef-conf-map','namespace':'jobs','labels':{'spark-app-selector':"
                         "'app-1','spark-role':'executor'}},'data':{'spark.kubernetes.namespace':'jobs',"
                         "'spark.properties':'#Java properties built from Kubernetes config map with name: "
                         "spark-exec-0123456789abcdef-conf-map\\nspark.kubernetes.namespace=jobs\\n'}}");
        json_decref(map);
        strmap_set(&f.conf.set, "spark.kubernetes.executor.disableConfigMap", "true");
        assert_int_equal(executor_config_map(&f.c, &map, &f.error), 0);
        assert_null(map);
        step_end(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(builds_pod_and_claims),
                cmocka_unit_test(builds_one_config_map_for_all_executors),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
