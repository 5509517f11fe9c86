/* The patches of the webhook, field by field. */
#include "operator/render/pod_patch.h"

#include "operator/render/render_fixture.h"
#include "text/json.h"

static struct fst_error error;

/*
 * Patches a driver's or executor's pod with the Spark container and one toleration, and asserts that @path of the pod,
 * or of its Spark container if @path begins with "container.", is @expected.
 */
static void assert_patch(const char *more, bool driver, const char *path, const char *expected)
{
        struct field_problems warnings = {0};
        struct spark_application app;
        json_t *pod =
                fixture_json(driver ? "{'spec': {'containers': [{'name': 'x'}, {'name': 'spark-kubernetes-driver'}],"
                                      "'tolerations': [{'key': 'old'}], 'priority': 3}}"
                                    : "{'spec': {'containers': [{'name': 'executor'}], 'nodeSelector': {'a': '1'}}}");
        json_t *wanted = fixture_json(expected);
        fixture_read(more, &app);
        if (pod_patch_apply(&app, driver, pod, &warnings, &error) < 0)
                fail_msg("%s", error_message(&error));
        static const char prefix[] = "container.";
        const json_t *container = json_array_get(json_at(pod, "spec.containers"), driver ? 1 : 0);
        const json_t *found = strncmp(path, prefix, sizeof(prefix) - 1) == 0
                                      ? json_at(container, path + sizeof(prefix) - 1)
                                      : json_at(pod, path);
        if (!found || !json_equal(found, json_object_get(wanted, "v"))) {
                _cleanup_free_ char *text = json_dumps(pod, 0);
                fail_msg("%s: %s is not %s in %s", more, path, expected, text);
        }
        spark_application_deinit(&app);
        field_problems_deinit(&warnings);
        json_decref(wanted);
        json_decref(pod);
}

#define BOTH(fields, path, expected)                                                                                   \
        do {                                                                                                           \
                assert_patch(", 'driver': {" fields "}", true, path, expected);                                        \
                assert_patch(", 'executor': {" fields "}", false, path, expected);                                     \
        } while (0)

static void fields_of_both_pods(void **state)
{
        BOTH("'env': [{'name': 'A', 'value': '1'}]", "container.env", "{'v': [{'name': 'A', 'value': '1'}]}");
        BOTH("'envFrom': [{'prefix': 'x'}]", "container.envFrom", "{'v': [{'prefix': 'x'}]}");
        BOTH("'ports': [{'name': 'p', 'containerPort': 80, 'protocol': 'TCP'}]", "container.ports",
             "{'v': [{'name': 'p', 'containerPort': 80, 'protocol': 'TCP'}]}");
        BOTH("'hostNetwork': true", "spec.dnsPolicy", "{'v': 'ClusterFirstWithHostNet'}");
        BOTH("'hostNetwork': true", "spec.hostNetwork", "{'v': true}");
        BOTH("'hostAliases': [{'ip': '1.1.1.1', 'hostnames': ['a']}]", "spec.hostAliases",
             "{'v': [{'ip': '1.1.1.1', 'hostnames': ['a']}]}");
        BOTH("'initContainers': [{'name': 'i', 'image': 'b'}]", "spec.initContainers",
             "{'v': [{'name': 'i', 'image': 'b'}]}");
        BOTH("'dnsConfig': {'nameservers': ['1.1.1.1']}", "spec.dnsConfig", "{'v': {'nameservers': ['1.1.1.1']}}");
        BOTH("'priorityClassName': 'high'", "spec.priorityClassName", "{'v': 'high'}");
        BOTH("'schedulerName': 's'", "spec.schedulerName", "{'v': 's'}");
        BOTH("'affinity': {'nodeAffinity': {}}", "spec.affinity", "{'v': {'nodeAffinity': {}}}");
        BOTH("'securityContext': {'runAsUser': 1}", "container.securityContext", "{'v': {'runAsUser': 1}}");
        BOTH("'podSecurityContext': {'fsGroup': 1}", "spec.securityContext", "{'v': {'fsGroup': 1}}");
        BOTH("'terminationGracePeriodSeconds': 9", "spec.terminationGracePeriodSeconds", "{'v': 9}");
        BOTH("'lifecycle': {'preStop': {}}", "container.lifecycle", "{'v': {'preStop': {}}}");
        BOTH("'shareProcessNamespace': true", "spec.shareProcessNamespace", "{'v': true}");
        BOTH("'gpu': {'name': 'nvidia.com/gpu', 'quantity': 2}", "container.resources.limits",
             "{'v': {'nvidia.com/gpu': '2'}}");
        BOTH("'configMaps': [{'name': 'c', 'path': '/c'}]", "spec.volumes",
             "{'v': [{'name': 'c-vol', 'configMap': {'name': 'c'}}]}");
        BOTH("'configMaps': [{'name': 'c', 'path': '/c'}]", "container.volumeMounts",
             "{'v': [{'name': 'c-vol', 'mountPath': '/c', 'readOnly': true}]}");
}

static void fields_that_merge(void **state)
{
        assert_patch(", 'driver': {'tolerations': [{'key': 'new'}]}", true, "spec.tolerations",
                     "{'v': [{'key': 'old'}, {'key': 'new'}]}");
        assert_patch(", 'executor': {'nodeSelector': {'b': '2'}}", false, "spec.nodeSelector",
                     "{'v': {'a': '1', 'b': '2'}}");
        assert_patch(", 'driver': {'sidecars': [{'name': 'x'}, {'name': 's', 'image': 'i'}]}", true, "spec.containers",
                     "{'v': [{'name': 'x'}, {'name': 'spark-kubernetes-driver'}, {'name': 's', 'image': 'i'}]}");
        assert_patch(", 'batchScheduler': 'volcano', 'driver': {'schedulerName': 's'}", true, "spec.schedulerName",
                     "{'v': 'volcano'}");
        assert_patch(", 'driver': {'memoryLimit': '2g'}", true, "container.resources.limits",
                     "{'v': {'memory': '2Gi'}}");
}

static void directories_of_configuration(void **state)
{
        assert_patch(", 'sparkConfigMap': 's', 'hadoopConfigMap': 'h'", true, "container.env",
                     "{'v': [{'name': 'HADOOP_CONF_DIR', 'value': '/etc/hadoop/conf'},"
                     "{'name': 'SPARK_CONF_DIR', 'value': '/etc/spark/conf'}]}");
        assert_patch(", 'sparkConfigMap': 's'", false, "spec.volumes",
                     "{'v': [{'name': 'spark-configmap-volume', 'configMap': {'name': 's'}}]}");
}

static void only_used_volumes_are_added(void **state)
{
        static const char more[] =
                ", 'volumes': [{'name': 'a', 'emptyDir': {}}, {'name': 'b', 'emptyDir': {}}, {'name':"
                "'spark-local-dir-1', 'emptyDir': {}}], 'driver': {'volumeMounts': [{'name': 'a', 'mountPath': '/1'},"
                "{'name': 'a', 'mountPath': '/2'}, {'name': 'spark-local-dir-1', 'mountPath': '/3'}, {'name': 'none',"
                "'mountPath': '/4'}]}";
        assert_patch(more, true, "spec.volumes", "{'v': [{'name': 'a', 'emptyDir': {}}]}");
        assert_patch(more, true, "container.volumeMounts",
                     "{'v': [{'name': 'a', 'mountPath': '/1'}, {'name': 'a', 'mountPath': '/2'}]}");
}

static void metrics_are_mounted_where_they_are_exposed(void **state)
{
        static const char more[] = ", 'monitoring': {'exposeDriverMetrics': true, 'exposeExecutorMetrics': false,"
                                   "'prometheus': {'jmxExporterJar': '/j.jar'}}";
        assert_patch(more, true, "spec.volumes",
                     "{'v': [{'name': 'pi-prom-conf-vol', 'configMap': {'name': 'pi-prom-conf'}}]}");
        assert_patch(more, true, "container.ports",
                     "{'v': [{'name': 'jmx-exporter', 'containerPort': 8090, 'protocol': 'TCP'}]}");
        assert_patch(more, false, "spec.nodeSelector", "{'v': {'a': '1'}}");
}

static void long_names_of_config_maps_are_hashed(void **state)
{
        assert_patch(", 'driver': {'configMaps': [{'name': 'a.b', 'path': '/c'}]}", true, "spec.volumes",
                     "{'v': [{'name': 'a-b-2e7336dc-vol', 'configMap': {'name': 'a.b'}}]}");
}

static void owners_differ(void **state)
{
        assert_patch("", true, "metadata.ownerReferences",
                     "{'v': [{'apiVersion': 'sparkoperator.k8s.io/v1beta2', 'kind': 'SparkApplication', 'name': 'pi',"
                     "'uid': 'u-1', 'controller': true, 'blockOwnerDeletion': true}]}");
        assert_patch("", false, "metadata.ownerReferences",
                     "{'v': [{'apiVersion': 'sparkoperator.k8s.io/v1beta2', 'kind': 'SparkApplication', 'name': 'pi',"
                     "'uid': 'u-1'}]}");
}

static void warns_of_fields_without_effect(void **state)
{
        struct field_problems warnings = {0};
        struct spark_application app;
        json_t *pod = fixture_json("{'spec': {'containers': [{'name': 'executor'}]}}");
        fixture_read(", 'executor': {'memoryLimit': '2g', 'gpu': {'name': '', 'quantity': 1}, 'volumeMounts':"
                     "[{'name': 'none', 'mountPath': '/x'}]}",
                     &app);
        assert_int_equal(pod_patch_apply(&app, false, pod, &warnings, &error), 0);
        assert_int_equal(warnings.list.len, 3);
        assert_string_equal(warnings.list.data[2].message,
                            "spec.executor.volumeMounts[0]: it has no effect: spec.volumes has no \"none\"");
        field_problems_deinit(&warnings);
        spark_application_deinit(&app);
        json_decref(pod);
}

static void refuses_invalid_pods(void **state)
{
        struct field_problems warnings = {0};
        struct spark_application app;
        json_t *pod = fixture_json("{'spec': {}}");
        fixture_read(", 'driver': {'memoryLimit': 'much'}", &app);
        assert_int_equal(pod_patch_apply(&app, true, pod, &warnings, &error), -EINVAL);
        assert_string_equal(error_message(&error),
                            "spec.driver.template: it has no container; name one spark-kubernetes-driver");
        json_object_set_new(json_object_get(pod, "spec"), "containers", json_pack("[{}]"));
        assert_int_equal(pod_patch_apply(&app, true, pod, &warnings, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "spec.driver.memoryLimit: \"much\""));
        spark_application_deinit(&app);
        json_decref(pod);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(fields_of_both_pods),
                cmocka_unit_test(fields_that_merge),
                cmocka_unit_test(directories_of_configuration),
                cmocka_unit_test(only_used_volumes_are_added),
                cmocka_unit_test(metrics_are_mounted_where_they_are_exposed),
                cmocka_unit_test(long_names_of_config_maps_are_hashed),
                cmocka_unit_test(owners_differ),
                cmocka_unit_test(warns_of_fields_without_effect),
                cmocka_unit_test(refuses_invalid_pods),
        };
        int failed = cmocka_run_group_tests(tests, NULL, NULL);
        error_deinit(&error);
        return failed;
}
