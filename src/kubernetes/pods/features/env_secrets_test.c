/* Environment variables from secrets: EnvSecretsFeatureStepSuite. */
#include "kubernetes/pods/features/step_fixture.h"

static void each_setting_becomes_secret_reference(void **state)
{
        struct step_fixture f;
        step_begin(&f, KUBE_DRIVER,
                   settings("spark.kubernetes.driver.secretKeyRef.username=store:name",
                            "spark.kubernetes.driver.secretKeyRef.PASSWORD=store:key:",
                            "spark.kubernetes.executor.secretKeyRef.other=x:y"));
        step_works(&f, &env_secrets_step);
        assert_json(container_of_pod(&f, "env"),
                    "[{'name':'PASSWORD','valueFrom':{'secretKeyRef':{'name':'store','key':'key'}}},"
                    "{'name':'username','valueFrom':{'secretKeyRef':{'name':'store','key':'name'}}}]");
        step_end(&f);
}

static void rejects_reference_without_two_parts(void **state)
{
        static const char sentence[] = "requirement failed: SecretKeyRef must be in the form name:key.";
        step_refuses(KUBE_DRIVER, settings("spark.kubernetes.driver.secretKeyRef.a=b"), &env_secrets_step, sentence);
        step_refuses(KUBE_DRIVER, settings("spark.kubernetes.driver.secretKeyRef.a=b:"), &env_secrets_step, sentence);
        step_refuses(KUBE_EXECUTOR, settings("spark.kubernetes.executor.secretKeyRef.a=b:c:d"), &env_secrets_step,
                     sentence);
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(each_setting_becomes_secret_reference),
                                           cmocka_unit_test(rejects_reference_without_two_parts)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
