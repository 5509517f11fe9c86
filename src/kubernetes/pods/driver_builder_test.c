/* Whole drivers: KubernetesDriverBuilderSuite, and Client.run. */
#include "kubernetes/pods/driver_builder.h"
#include "kubernetes/driver/driver_objects.h"
#include "unit/temp_dir.h"
#include "kubernetes/pods/features/step_fixture.h"

static void kinds(json_t *objects, char *out, size_t size)
{
        json_t *object;
        size_t i, n = 0;
        json_array_foreach(objects, i, object)
                n += (size_t)snprintf(out + n, size - n, "%s%s", i ? " " : "",
                                      json_string_value(json_object_get(object, "kind")));
}

static void objects_come_in_order(void **state)
{
        struct step_fixture f;
        json_t *objects = NULL;
        size_t pod_at = 0;
        char list[256];
        step_begin(&f, KUBE_DRIVER,
                   settings("spark.kubernetes.driver.pod.featureSteps="
                            "org.apache.spark.deploy.k8s.features.VolcanoFeatureStep"));
        assert_int_equal(driver_objects_make(&f.c, &objects, &pod_at, &f.error), 0);
        assert_int_equal(pod_at, 1);
        kinds(objects, list, sizeof(list));
        assert_string_equal(list, "PodGroup Pod Service NetworkPolicy ConfigMap");
        assert_null(json_object_get(json_object_get(json_array_get(objects, 2), "metadata"), "ownerReferences"));
        json_decref(objects);
        assert_int_equal(driver_objects_sent(&f.c, "u-1", &objects, &f.error), 0);
        kinds(objects, list, sizeof(list));
        assert_string_equal(list, "PodGroup Pod PodGroup Service NetworkPolicy ConfigMap");
        assert_json(json_object_get(json_object_get(json_array_get(objects, 3), "metadata"), "ownerReferences"),
                    "[{'apiVersion':'v1','controller':true,'kind':'Pod','name':'pi-0123456789abcdef-driver','uid':"
                    "'u-1'}]");
        json_decref(objects);
        step_end(&f);
}

static void final_pod_has_container_and_files(void **state)
{
        struct step_fixture f;
        struct driver_pod_spec spec;
        json_t *pod = NULL, *map = NULL;
        free(temp_dir_write("log4j2.properties", "x"));
        step_begin(&f, KUBE_DRIVER, settings("spark.kubernetes.namespace=jobs"));
        strmap_set(&step_environment, "SPARK_CONF_DIR", temp_dir);
        assert_int_equal(driver_spec_build(&f.c, &spec, &f.error), 0);
        assert_int_equal(driver_spec_finish(&f.c, &spec, &pod, &map, &f.error), 0);
        const json_t *container = json_array_get(json_object_get(json_object_get(pod, "spec"), "containers"), 0);
        const json_t *volumes = json_object_get(json_object_get(pod, "spec"), "volumes");
        assert_json(json_object_get(container, "name"), "'spark-kubernetes-driver'");
        assert_json(json_array_get(json_object_get(container, "volumeMounts"), 1),
                    "{'name':'spark-conf-volume-driver','mountPath':'/opt/spark/conf'}");
        assert_json(json_array_get(volumes, 1),
                    "{'name':'spark-conf-volume-driver','configMap':{'name':'spark-drv-0123456789abcdef-conf-map',"
                    "'items':[{'key':'log4j2.properties','path':'log4j2.properties','mode':420},"
                    "{'key':'spark.properties','path':'spark.properties','mode':420}]}}");
        assert_json(json_object_get(map, "metadata"),
                    "{'name':'spark-drv-0123456789abcdef-conf-map','namespace':'jobs'}");
        assert_json(json_object_get(json_object_get(map, "data"), "spark.kubernetes.namespace"), "'jobs'");
        assert_non_null(strstr(json_string_value(json_object_get(json_object_get(map, "data"), "spark.properties")),
                               "\nspark.app.id=app-1\n"));
        json_decref(pod);
        json_decref(map);
        driver_spec_deinit(&spec);
        step_end(&f);
}

static void excludes_steps_and_rejects_unknown_ones(void **state)
{
        struct step_fixture f;
        struct driver_pod_spec spec;
        step_begin(&f, KUBE_DRIVER,
                   settings("spark.kubernetes.driver.pod.excludedFeatureSteps="
                            "org.apache.spark.deploy.k8s.features.DriverServiceFeatureStep,"
                            "org.apache.spark.deploy.k8s.features.NetworkPolicyFeatureStep"));
        assert_int_equal(driver_spec_build(&f.c, &spec, &f.error), 0);
        assert_int_equal(json_array_size(spec.resources), 0);
        driver_spec_deinit(&spec);
        step_end(&f);
        step_begin(&f, KUBE_DRIVER, settings("spark.kubernetes.driver.pod.featureSteps=no.such.Step"));
        assert_int_equal(driver_spec_build(&f.c, &spec, &f.error), -EINVAL);
        assert_int_equal(strncmp(error_message(&f.error), "Failed to initialize feature step: no.such.Step, ", 49), 0);
        driver_spec_deinit(&spec);
        step_end(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(objects_come_in_order),
                cmocka_unit_test(final_pod_has_container_and_files),
                cmocka_unit_test(excludes_steps_and_rejects_unknown_ones),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
