/* Hadoop's configuration in driver pods: HadoopConfDriverFeatureStepSuite. */
#include "kubernetes/pods/features/step_fixture.h"
#include "unit/temp_dir.h"

#define MAP "spark.kubernetes.executor.hadoopConfigMapName"
#define MOUNT "[{'name':'hadoop-properties','mountPath':'/opt/hadoop/conf'}]"

static void mounts_existing_config_map(void **state)
{
        struct step_fixture f;
        step_begin(&f, KUBE_DRIVER, settings("spark.kubernetes.hadoop.configMapName=theirs"));
        step_works(&f, &hadoop_conf_driver_step);
        assert_json(spec_of(&f, "volumes"), "[{'name':'hadoop-properties','configMap':{'name':'theirs'}}]");
        assert_json(container_of_pod(&f, "volumeMounts"), MOUNT);
        assert_string_equal(variable_of(&f, "HADOOP_CONF_DIR"), "/opt/hadoop/conf");
        assert_property(&f, MAP, "theirs");
        assert_int_equal(json_array_size(f.resources), 0);
        step_end(&f);
}

static void builds_config_map_from_hadoop_conf_dir(void **state)
{
        struct step_fixture f;
        _cleanup_free_ char *core = temp_dir_write("core-site.xml", "some data");
        _cleanup_free_ char *hdfs = temp_dir_write("hdfs-site.xml", "some more");
        step_begin(&f, KUBE_DRIVER, NULL);
        strmap_set(&step_environment, "HADOOP_CONF_DIR", temp_dir);
        step_works(&f, &hadoop_conf_driver_step);
        assert_json(
                spec_of(&f, "volumes"),
                "[{'name':'hadoop-properties','configMap':{'name':'pi-0123456789abcdef-hadoop-config','items':"
                "[{'key':'core-site.xml','path':'core-site.xml'},{'key':'hdfs-site.xml','path':'hdfs-site.xml'}]}}]");
        assert_property(&f, MAP, "pi-0123456789abcdef-hadoop-config");
        assert_json(f.resources,
                    "[{'apiVersion':'v1','kind':'ConfigMap','immutable':true,'metadata':{'name':"
                    "'pi-0123456789abcdef-hadoop-config'},'data':{'core-site.xml':'some data','hdfs-site.xml':"
                    "'some more'}}]");
        step_end(&f);
}

static void rejects_map_with_hadoop_conf_dir(void **state)
{
        struct step_fixture f;
        step_begin(&f, KUBE_DRIVER, settings("spark.kubernetes.hadoop.configMapName=theirs"));
        strmap_set(&step_environment, "HADOOP_CONF_DIR", temp_dir);
        assert_int_equal(step_run(&f, &hadoop_conf_driver_step), -EINVAL);
        assert_string_equal(error_message(&f.error),
                            "requirement failed: Do not specify both the `HADOOP_CONF_DIR` in your ENV and the "
                            "ConfigMap as the creation of an additional ConfigMap, when one is already specified is "
                            "extraneous");
        step_end(&f);
}

static void adds_nothing_without_hadoop_conf(void **state)
{
        struct step_fixture f;
        step_begin(&f, KUBE_DRIVER, NULL);
        step_works(&f, &hadoop_conf_driver_step);
        assert_null(spec_of(&f, "volumes"));
        assert_null(container_of_pod(&f, "env"));
        assert_int_equal(f.properties.count, 0);
        step_end(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(mounts_existing_config_map),
                cmocka_unit_test(builds_config_map_from_hadoop_conf_dir),
                cmocka_unit_test(rejects_map_with_hadoop_conf_dir),
                cmocka_unit_test(adds_nothing_without_hadoop_conf),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
