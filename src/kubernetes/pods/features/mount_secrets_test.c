/* Secrets as files: MountSecretsFeatureStepSuite. */
#include "kubernetes/pods/features/step_fixture.h"

static void mounts_each_secret_as_volume(void **state)
{
        struct step_fixture f;
        step_begin(&f, KUBE_EXECUTOR,
                   settings("spark.kubernetes.executor.secrets.one=/a", "spark.kubernetes.executor.secrets.two=/b",
                            "spark.kubernetes.driver.secrets.three=/c"));
        step_works(&f, &mount_secrets_step);
        assert_json(spec_of(&f, "volumes"), "[{'name':'one-volume','secret':{'secretName':'one'}},"
                                            "{'name':'two-volume','secret':{'secretName':'two'}}]");
        assert_json(container_of_pod(&f, "volumeMounts"),
                    "[{'name':'one-volume','mountPath':'/a'},{'name':'two-volume','mountPath':'/b'}]");
        step_end(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(mounts_each_secret_as_volume)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
