/* Kerberos in driver pods: KerberosConfDriverFeatureStepSuite. */
#include "kubernetes/pods/features/step_fixture.h"
#include "unit/temp_dir.h"

#define B "spark.kubernetes.kerberos."
#define KRB5_MOUNT "[{'name':'krb5-file','mountPath':'/etc/krb5.conf','subPath':'krb5.conf'}]"

static void mounts_krb5_conf(void **state)
{
        struct step_fixture f;
        step_begin(&f, KUBE_DRIVER, settings(B "krb5.configMapName=theirs"));
        step_works(&f, &kerberos_conf_driver_step);
        assert_json(spec_of(&f, "volumes"), "[{'name':'krb5-file','configMap':{'name':'theirs'}}]");
        assert_json(container_of_pod(&f, "volumeMounts"), KRB5_MOUNT);
        assert_int_equal(json_array_size(f.resources), 0);
        step_end(&f);
        _cleanup_free_ char *path = temp_dir_write("krb5.conf", "some data");
        _cleanup_free_ char *setting = mem_printf(B "krb5.path=%s", path);
        step_begin(&f, KUBE_DRIVER, settings(setting));
        step_works(&f, &kerberos_conf_driver_step);
        assert_json(spec_of(&f, "volumes"), "[{'name':'krb5-file','configMap':{'name':'pi-0123456789abcdef-krb5-file',"
                                            "'items':[{'key':'krb5.conf','path':'krb5.conf'}]}}]");
        assert_json(f.resources, "[{'apiVersion':'v1','kind':'ConfigMap','immutable':true,'metadata':{'name':"
                                 "'pi-0123456789abcdef-krb5-file'},'data':{'krb5.conf':'some data'}}]");
        step_end(&f);
}

static void uploads_local_keytab(void **state)
{
        struct step_fixture f;
        _cleanup_free_ char *path = temp_dir_write("keytab.bin", "some data");
        _cleanup_free_ char *setting = mem_printf("spark.kerberos.keytab=%s", path);
        step_begin(&f, KUBE_DRIVER, settings(setting, "spark.kerberos.principal=alice"));
        step_works(&f, &kerberos_conf_driver_step);
        assert_property(&f, "spark.kerberos.keytab", "/mnt/secrets/kerberos-keytab/keytab.bin");
        assert_json(spec_of(&f, "volumes"), "[{'name':'kerberos-keytab','secret':{'secretName':"
                                            "'pi-0123456789abcdef-kerberos-keytab'}}]");
        assert_json(f.resources, "[{'apiVersion':'v1','kind':'Secret','immutable':true,'metadata':{'name':"
                                 "'pi-0123456789abcdef-kerberos-keytab'},'data':{'keytab.bin':'c29tZSBkYXRh'}}]");
        step_end(&f);
        step_begin(&f, KUBE_DRIVER, settings("spark.kerberos.keytab=local:/k", "spark.kerberos.principal=alice"));
        step_works(&f, &kerberos_conf_driver_step);
        assert_null(spec_of(&f, "volumes"));
        assert_int_equal(f.properties.count, 0);
        step_end(&f);
}

static void mounts_token_secret(void **state)
{
        struct step_fixture f;
        step_begin(&f, KUBE_DRIVER, settings(B "tokenSecret.name=tokens", B "tokenSecret.itemKey=data"));
        step_works(&f, &kerberos_conf_driver_step);
        assert_json(spec_of(&f, "volumes"), "[{'name':'hadoop-secret','secret':{'secretName':'tokens'}}]");
        assert_string_equal(variable_of(&f, "HADOOP_TOKEN_FILE_LOCATION"), "/mnt/secrets/hadoop-credentials/data");
        step_end(&f);
}

static void rejects_incomplete_settings(void **state)
{
        step_refuses(
                KUBE_DRIVER, settings("spark.kerberos.principal=alice"), &kerberos_conf_driver_step,
                "requirement failed: If a Kerberos principal is specified you must also specify a Kerberos keytab");
        step_refuses(
                KUBE_DRIVER, settings("spark.kerberos.keytab=/k"), &kerberos_conf_driver_step,
                "requirement failed: If a Kerberos keytab is specified you must also specify a Kerberos principal");
        step_refuses(KUBE_DRIVER, settings(B "tokenSecret.name=tokens"), &kerberos_conf_driver_step,
                     "requirement failed: If a secret storing a Kerberos Delegation Token is specified you must also "
                     "specify the item-key where the data is stored");
        step_refuses(
                KUBE_DRIVER, settings(B "krb5.path=/a", B "krb5.configMapName=b"), &kerberos_conf_driver_step,
                "requirement failed: Do not specify both a Krb5 local file and the ConfigMap as the creation of an "
                "additional ConfigMap, when one is already specified, is extraneous");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(mounts_krb5_conf),
                cmocka_unit_test(uploads_local_keytab),
                cmocka_unit_test(mounts_token_secret),
                cmocka_unit_test(rejects_incomplete_settings),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
