/* Hadoop's configuration in executor pods: HadoopConfExecutorFeatureStepSuite. */
#include "kubernetes/pods/features/step_fixture.h"

static void mounts_config_map_of_driver(void **state)
{
        struct step_fixture f;
        step_begin(&f, KUBE_EXECUTOR, settings("spark.kubernetes.executor.hadoopConfigMapName=theirs"));
        step_works(&f, &hadoop_conf_executor_step);
        assert_json(spec_of(&f, "volumes"), "[{'name':'hadoop-properties','configMap':{'name':'theirs'}}]");
        assert_string_equal(variable_of(&f, "HADOOP_CONF_DIR"), "/opt/hadoop/conf");
        step_end(&f);
        step_begin(&f, KUBE_EXECUTOR, NULL);
        step_works(&f, &hadoop_conf_executor_step);
        assert_null(spec_of(&f, "volumes"));
        step_end(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(mounts_config_map_of_driver)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
