/* Local directories: LocalDirsFeatureStepSuite. */
#include "kubernetes/pods/features/step_fixture.h"

static void mounts_new_directory_by_default(void **state)
{
        struct step_fixture f;
        step_begin(&f, KUBE_DRIVER, NULL);
        step_works(&f, &local_dirs_step);
        assert_json(spec_of(&f, "volumes"), "[{'name':'spark-local-dir-1','emptyDir':{}}]");
        assert_json(
                container_of_pod(&f, "volumeMounts"),
                "[{'name':'spark-local-dir-1','mountPath':'/var/data/spark-01234567-89ab-4def-8123-456789abcdef'}]");
        assert_string_equal(variable_of(&f, "SPARK_LOCAL_DIRS"),
                            "/var/data/spark-01234567-89ab-4def-8123-456789abcdef");
        step_end(&f);
}

static void mounts_named_directories(void **state)
{
        struct step_fixture f;
        step_begin(&f, KUBE_DRIVER, settings("spark.local.dir=/x", "spark.kubernetes.local.dirs.tmpfs=true"));
        strmap_set(&step_environment, "SPARK_LOCAL_DIRS", "/a,/b,");
        step_works(&f, &local_dirs_step);
        assert_json(spec_of(&f, "volumes"), "[{'name':'spark-local-dir-1','emptyDir':{'medium':'Memory'}},"
                                            "{'name':'spark-local-dir-2','emptyDir':{'medium':'Memory'}}]");
        assert_string_equal(variable_of(&f, "SPARK_LOCAL_DIRS"), "/a,/b");
        step_end(&f);
        step_begin(&f, KUBE_DRIVER, settings("spark.local.dir=/x"));
        step_works(&f, &local_dirs_step);
        assert_string_equal(variable_of(&f, "SPARK_LOCAL_DIRS"), "/x");
        step_end(&f);
}

static void uses_local_dir_volumes_of_user(void **state)
{
        struct step_fixture f;
        step_begin(&f, KUBE_EXECUTOR, settings("spark.local.dir=/x"));
        pod_add_mount(&f.pod, "spark-local-dir-disk", "/disk");
        pod_add_mount(&f.pod, "other", "/other");
        step_works(&f, &local_dirs_step);
        assert_null(spec_of(&f, "volumes"));
        assert_string_equal(variable_of(&f, "SPARK_LOCAL_DIRS"), "/disk");
        step_end(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(mounts_new_directory_by_default),
                cmocka_unit_test(mounts_named_directories),
                cmocka_unit_test(uses_local_dir_volumes_of_user),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
