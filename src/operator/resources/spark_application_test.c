/* Reads, completes and validates SparkApplications. */
#include "operator/resources/operator_fixture.h"

#include "text/json.h"

static struct fst_error error;

/* Reads an application whose spec has @more. The caller must deinit @app. */
static void read_application(const char *more, struct spark_application *app)
{
        json_t *object = fixture_application(more);
        int r = spark_application_read(object, app, NULL, &error);
        if (r < 0)
                fail_msg("%s", error_message(&error));
        json_decref(object);
}

static void assert_refused(const char *more, const char *message)
{
        struct spark_application app;
        json_t *object = fixture_application(more);
        int r = spark_application_read(object, &app, NULL, &error);
        if (r == 0)
                r = spark_application_validate(&app, &error);
        assert_int_equal(r, -EINVAL);
        assert_string_equal(error_message(&error), message);
        spark_application_deinit(&app);
        json_decref(object);
}

static void sets_defaults(void **state)
{
        struct spark_application app;
        read_application("", &app);
        assert_string_equal(app.spec.mode, "cluster");
        assert_string_equal(app.spec.restart_policy.type, "Never");
        assert_false(app.spec.restart_policy.on_failure_retry_interval.set);
        assert_int_equal(app.spec.driver.pod.cores.value, 1);
        assert_string_equal(app.spec.driver.pod.memory, "1g");
        assert_int_equal(app.spec.executor.instances.value, 1);
        assert_string_equal(app.spec.executor.pod.memory, "1g");
        spark_application_deinit(&app);
        read_application(", 'restartPolicy': {'type': 'OnFailure'}, 'dynamicAllocation': {'enabled': true}", &app);
        assert_int_equal(app.spec.restart_policy.on_failure_retry_interval.value, 5);
        assert_int_equal(app.spec.restart_policy.on_submission_failure_retry_interval.value, 5);
        assert_false(app.spec.executor.instances.set);
        assert_int_equal(app.spec.dynamic_allocation.shuffle_tracking_enabled, FIELD_TRUE);
        spark_application_deinit(&app);
}

static void leaves_what_the_configuration_sets(void **state)
{
        struct spark_application app;
        read_application(", 'sparkConf': {'spark.driver.cores': '2', 'spark.driver.memory': '2g',"
                         "'spark.executor.cores': '2', 'spark.executor.memory': '3g', 'spark.executor.instances': '4'}",
                         &app);
        assert_false(app.spec.driver.pod.cores.set);
        assert_null(app.spec.driver.pod.memory);
        assert_false(app.spec.executor.pod.cores.set);
        assert_null(app.spec.executor.pod.memory);
        assert_false(app.spec.executor.instances.set);
        spark_application_deinit(&app);
}

static void names_the_driver_pod(void **state)
{
        static const struct {
                const char *more, *name;
        } cases[] = {
                {"", "pi-driver"},
                {", 'sparkConf': {'spark.kubernetes.driver.pod.name': 'x'}", "x"},
                {", 'sparkConf': {'spark.kubernetes.driver.pod.name': 'x'}, 'driver': {'podName': 'y'}", "y"},
                {", 'driver': {'podName': ''}", "pi-driver"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct spark_application app;
                read_application(cases[i].more, &app);
                _cleanup_free_ char *name = spark_application_driver_pod(&app);
                assert_string_equal(name, cases[i].name);
                spark_application_deinit(&app);
        }
}

static void security_contexts_of_pod_and_container_differ(void **state)
{
        struct spark_application app;
        json_t *object = fixture_application(
                ", 'driver': {'securityContext': {'runAsUser': 7}, 'podSecurityContext': {'fsGroup': 8}},"
                "'executor': {'securityContext': {'runAsUser': 9}}");
        assert_int_equal(spark_application_read(object, &app, NULL, &error), 0);
        assert_int_equal(json_int_at(app.spec.driver.pod.security_context, "runAsUser"), 7);
        assert_int_equal(json_int_at(app.spec.driver.pod.pod_security_context, "fsGroup"), 8);
        assert_int_equal(json_int_at(app.spec.executor.pod.security_context, "runAsUser"), 9);
        assert_null(app.spec.executor.pod.pod_security_context);
        spark_application_deinit(&app);
        json_decref(object);
}

static void converts_v1beta1(void **state)
{
        struct spark_application app;
        json_t *object = fixture_application(", 'driver': {'cores': 0.1, 'securityContext': {'runAsUser': 7}},"
                                             "'executor': {'cores': 2, 'instances': 3, 'coreRequest': '1'}");
        json_object_set_new(object, "apiVersion", json_string("sparkoperator.k8s.io/v1beta1"));
        assert_int_equal(spark_application_read(object, &app, NULL, &error), 0);
        assert_int_equal(app.spec.driver.pod.cores.value, 1);
        assert_string_equal(app.spec.driver.pod.core_request, "100m");
        assert_int_equal(app.spec.executor.pod.cores.value, 2);
        assert_string_equal(app.spec.executor.pod.core_request, "1");
        assert_int_equal(json_int_at(app.spec.driver.pod.pod_security_context, "runAsUser"), 7);
        assert_null(app.spec.driver.pod.security_context);
        assert_string_equal(json_text_at(app.object, "apiVersion"), "sparkoperator.k8s.io/v1beta2");
        /* The original is unchanged. */
        assert_string_equal(json_text_at(object, "apiVersion"), "sparkoperator.k8s.io/v1beta1");
        spark_application_deinit(&app);
        json_decref(object);
}

static void rejects_other_kinds_and_versions(void **state)
{
        static const struct {
                const char *text, *message;
        } cases[] = {
                {"{}", "the object has the kind \"\": a SparkApplication is needed"},
                {"{'kind': 'Pod', 'apiVersion': 'v1'}",
                 "the object has the kind \"Pod\": a SparkApplication is needed"},
                {"{'kind': 'SparkApplication', 'apiVersion': 'sparkoperator.k8s.io/v1'}",
                 "SparkApplication has the version \"sparkoperator.k8s.io/v1\": use sparkoperator.k8s.io/v1beta2 (or "
                 "v1beta1)"},
                {"{'kind': 'SparkApplication', 'apiVersion': 'sparkoperator.k8s.io/v1beta2', 'spec': 3}",
                 "the SparkApplication has no spec"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct spark_application app;
                json_t *object = fixture_json(cases[i].text);
                assert_int_equal(spark_application_read(object, &app, NULL, &error), -EINVAL);
                assert_string_equal(error_message(&error), cases[i].message);
                spark_application_deinit(&app);
                json_decref(object);
        }
}

static void refuses_what_the_webhook_refuses(void **state)
{
        assert_refused(", 'nodeSelector': {'a': 'b'}, 'driver': {'nodeSelector': {'a': 'b'}}",
                       "node selector cannot be defined at both SparkApplication and Driver/Executor");
        assert_refused(", 'sparkVersion': '2.4.8', 'driver': {'template': {}}",
                       "pod template feature requires Spark version 3.0.0 or higher");
        assert_refused(", 'driverIngressOptions': [{'servicePort': 1, 'servicePortName': 'x'}]",
                       "DriverIngressOptions has empty IngressURLFormat");
        assert_refused(", 'driverIngressOptions': [{'servicePort': 1, 'servicePortName': 'x', 'ingressURLFormat': 'a'},"
                       "{'servicePort': 1, 'servicePortName': 'y', 'ingressURLFormat': 'b'}]",
                       "DriverIngressOptions has duplicate ServicePort: 1");
        assert_refused(", 'driverIngressOptions': [{'servicePort': 1, 'servicePortName': 'x', 'ingressURLFormat': 'a'},"
                       "{'servicePort': 2, 'servicePortName': 'y', 'ingressURLFormat': 'a'}]",
                       "DriverIngressOptions has duplicate IngressURLFormat: a");
        assert_refused(", 'sparkConf': {'spark.master': 'local'}",
                       "sparkConf key \"spark.master\" is not allowed: this value is managed by the operator");
        assert_refused(", 'sparkConf': {'spark.kubernetes.authenticate.driver.oauthTokenFile': '/x'}",
                       "sparkConf key \"spark.kubernetes.authenticate.driver.oauthTokenFile\" is not allowed: "
                       "authentication credentials are managed by the operator");
        assert_refused(", 'sparkConf': {'spark.kubernetes.kerberos.krb5.path': '/var/run/secrets/token'}",
                       "sparkConf key \"spark.kubernetes.kerberos.krb5.path\" is not allowed: it would read a file of "
                       "the operator; mount a secret or a config map of the application");
        assert_refused(", 'sparkConf': {'spark.kerberos.keytab': '/x'}",
                       "sparkConf key \"spark.kerberos.keytab\" is not allowed: it would read a file of the operator; "
                       "mount a secret or a config map of the application");
        assert_refused(", 'sparkConf': {'spark.kubernetes.authenticate.driver.clientKeyFile': '/x'}",
                       "sparkConf key \"spark.kubernetes.authenticate.driver.clientKeyFile\" is not allowed: it would "
                       "read a file of the operator; mount a secret or a config map of the application");
        assert_refused(", 'sparkConf': {'spark.kubernetes.namespace': 'other'}",
                       "sparkConf key \"spark.kubernetes.namespace\" is not allowed: must equal the application "
                       "namespace \"jobs\", got \"other\"");
        assert_refused(", 'driver': {'cores': 0}", "spec.driver.cores: 0 is less than 1");
}

static void refuses_names_that_services_cannot_have(void **state)
{
        static const char *const names[] = {"1pi",
                                            "pi-",
                                            "Pi",
                                            "a.b",
                                            "",
                                            "../x",
                                            "a123456789012345678901234567890123456789012345678901234567890123"};
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                struct spark_application app;
                json_t *object = fixture_application("");
                json_object_set_new(json_object_get(object, "metadata"), "name", json_string(names[i]));
                assert_int_equal(spark_application_read(object, &app, NULL, &error), 0);
                assert_int_equal(spark_application_validate(&app, &error), -EINVAL);
                assert_non_null(strstr(error_message(&error), "invalid SparkApplication name"));
                spark_application_deinit(&app);
                json_decref(object);
        }
}

static void hash_follows_the_meaning(void **state)
{
        static const char *const same[] = {"{'a': 1, 'b': ['x', 'y']}", "{'b': ['x', 'y'], 'a': 1, 'suspend': true}",
                                           "{'b': ['x', 'y'], 'a': 1.0, 'timeToLiveSeconds': 3, 'c': null}"};
        static const char *const others[] = {"{'a': 2, 'b': ['x', 'y']}",
                                             "{'a': 1, 'b': ['y', 'x']}",
                                             "{'a': 1, 'b': ['x', 'y'], 'c': {}}",
                                             "{'a': '1', 'b': ['x', 'y']}",
                                             "{'b': 1, 'a': ['x', 'y']}",
                                             "{'a': true, 'b': ['x', 'y']}",
                                             "{'a': 1, 'b': ['xy']}",
                                             "{'a': 1, 'b': ['x', 'y', {'suspend': true}]}"};
        uint64_t hash = 0;
        for (size_t i = 0; i < ARRAY_SIZE(same); i++) {
                json_t *json = fixture_json(same[i]);
                if (i > 0)
                        assert_true(hash == spark_spec_hash(json));
                hash = spark_spec_hash(json);
                json_decref(json);
        }
        for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
                json_t *json = fixture_json(others[i]);
                if (hash == spark_spec_hash(json))
                        fail_msg("%s has the same hash", others[i]);
                json_decref(json);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(sets_defaults),
                cmocka_unit_test(leaves_what_the_configuration_sets),
                cmocka_unit_test(names_the_driver_pod),
                cmocka_unit_test(converts_v1beta1),
                cmocka_unit_test(security_contexts_of_pod_and_container_differ),
                cmocka_unit_test(rejects_other_kinds_and_versions),
                cmocka_unit_test(refuses_what_the_webhook_refuses),
                cmocka_unit_test(refuses_names_that_services_cannot_have),
                cmocka_unit_test(hash_follows_the_meaning),
        };
        int failed = cmocka_run_group_tests(tests, NULL, NULL);
        error_deinit(&error);
        return failed;
}
