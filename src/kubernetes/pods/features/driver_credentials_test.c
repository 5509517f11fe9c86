/* Credentials of the driver: DriverKubernetesCredentialsFeatureStepSuite. */
#include "kubernetes/pods/features/step_fixture.h"
#include "unit/temp_dir.h"

#define A "spark.kubernetes.authenticate.driver."

static void uses_service_account_without_credentials(void **state)
{
        struct step_fixture f;
        step_begin(&f, KUBE_DRIVER, settings(A "serviceAccountName=spark"));
        step_works(&f, &driver_credentials_step);
        assert_json(spec_of(&f, "serviceAccount"), "'spark'");
        assert_json(spec_of(&f, "serviceAccountName"), "'spark'");
        assert_int_equal(f.properties.count, 0);
        assert_int_equal(json_array_size(f.resources), 0);
        step_end(&f);
}

static void passes_mounted_credentials_to_driver(void **state)
{
        struct step_fixture f;
        step_begin(&f, KUBE_DRIVER,
                   settings(A "mounted.oauthTokenFile=/token", A "mounted.clientKeyFile=/key",
                            A "mounted.clientCertFile=/cert", A "mounted.caCertFile=/ca"));
        step_works(&f, &driver_credentials_step);
        assert_property(&f, A "mounted.oauthTokenFile", "/token");
        assert_property(&f, A "mounted.caCertFile", "/ca");
        assert_null(spec_of(&f, "volumes"));
        assert_int_equal(json_array_size(f.resources), 0);
        step_end(&f);
}

static void mounts_submission_credentials_as_secret(void **state)
{
        struct step_fixture f;
        _cleanup_free_ char *ca = temp_dir_write("ca.pem", "the ca");
        _cleanup_free_ char *key = temp_dir_write("key.pem", "the key");
        _cleanup_free_ char *ca_setting = mem_printf(A "caCertFile=%s", ca);
        _cleanup_free_ char *key_setting = mem_printf(A "clientKeyFile=%s", key);
        step_begin(&f, KUBE_DRIVER,
                   settings(A "oauthToken=token", ca_setting, key_setting, A "serviceAccountName=spark"));
        step_works(&f, &driver_credentials_step);
        assert_property(&f, A "oauthToken", "<present_but_redacted>");
        assert_property(&f, A "mounted.oauthTokenFile", "/mnt/secrets/spark-kubernetes-credentials/oauth-token");
        assert_property(&f, A "mounted.caCertFile", "/mnt/secrets/spark-kubernetes-credentials/ca-cert");
        assert_property(&f, A "mounted.clientKeyFile", "/mnt/secrets/spark-kubernetes-credentials/client-key");
        assert_null(strmap_get(&f.properties, A "mounted.clientCertFile"));
        assert_null(spec_of(&f, "serviceAccount"));
        assert_json(spec_of(&f, "volumes"), "[{'name':'kubernetes-credentials','secret':{'secretName':"
                                            "'pi-0123456789abcdef-kubernetes-credentials'}}]");
        assert_json(container_of_pod(&f, "volumeMounts"),
                    "[{'name':'kubernetes-credentials','mountPath':'/mnt/secrets/spark-kubernetes-credentials'}]");
        assert_json(f.resources,
                    "[{'apiVersion':'v1','kind':'Secret','immutable':true,'metadata':{'name':"
                    "'pi-0123456789abcdef-kubernetes-credentials'},'data':{'oauth-token':'dG9rZW4=','ca-cert':"
                    "'dGhlIGNh','client-key':'dGhlIGtleQ=='}}]");
        step_end(&f);
}

static void rejects_missing_file(void **state)
{
        step_refuses(
                KUBE_DRIVER, settings(A "caCertFile=/no/such/ca"), &driver_credentials_step,
                "requirement failed: Driver CA cert file provided at /no/such/ca does not exist or is not a file.");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(uses_service_account_without_credentials),
                cmocka_unit_test(passes_mounted_credentials_to_driver),
                cmocka_unit_test(mounts_submission_credentials_as_secret),
                cmocka_unit_test(rejects_missing_file),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
