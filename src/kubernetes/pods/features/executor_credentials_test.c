/* The executors' service account: ExecutorKubernetesCredentialsFeatureStepSuite. */
#include "kubernetes/pods/features/step_fixture.h"

#define A "spark.kubernetes.authenticate."

static void account_is(const char *const *conf, const char *of_template, const char *account)
{
        struct step_fixture f;
        step_begin(&f, KUBE_EXECUTOR, conf);
        kube_put(pod_spec(&f.pod), "serviceAccount", of_template);
        step_works(&f, &executor_credentials_step);
        const char *found = json_string_value(spec_of(&f, "serviceAccount"));
        if (account)
                assert_string_equal(found, account);
        else
                assert_null(found);
        if (account && !of_template)
                assert_string_equal(json_string_value(spec_of(&f, "serviceAccountName")), account);
        step_end(&f);
}

static void executor_account_falls_back_to_driver_account(void **state)
{
        account_is(NULL, NULL, NULL);
        account_is(settings(A "driver.serviceAccountName=driver"), NULL, "driver");
        account_is(settings(A "executor.serviceAccountName=executor"), NULL, "executor");
        account_is(settings(A "driver.serviceAccountName=driver", A "executor.serviceAccountName=executor"), NULL,
                   "executor");
        account_is(settings(A "executor.serviceAccountName=executor"), "template", "template");
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(executor_account_falls_back_to_driver_account)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
