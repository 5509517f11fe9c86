/* SparkApplications of spark.apache.org: what is read and refused, and the names that follow. */
#include "operator/apache/apache_fixture.h"

static struct fst_error error;

static void reads_every_field(void **state)
{
        struct apache_application app;
        apache_fixture_read(
                ", 'jars': 'a.jar', 'pyFiles': 'a.py', 'sparkRFiles': 'a.R', 'files': 'f', 'proxyUser': 'u',"
                "'driverArgs': ['1'], 'sparkConf': {'a': 'b'}, 'deploymentMode': 'ClusterMode',"
                "'driverSpec': {'podTemplateSpec': {'spec': {}}}, 'executorSpec': {'podTemplateSpec': {}},"
                "'configMapSpecs': [{'name': 'm', 'data': {'k': 'v'}}],"
                "'applicationTolerations': {'restartConfig': {'restartPolicy': 'OnInfrastructureFailure',"
                "'maxRestartAttempts': 9223372036854775807, 'maxRestartOnSchedulingFailure': 1},"
                "'applicationTimeoutConfig': {'driverStartTimeoutMillis': 0},"
                "'instanceConfig': {'minExecutors': 3}, 'resourceRetainPolicy': 'OnFailure',"
                "'ttlAfterStopMillis': 10000}",
                &app);
        const struct apache_toleration_fields *t = &app.spec.tolerations;
        assert_string_equal(app.spec.files, "f");
        assert_string_equal(app.spec.proxy_user, "u");
        assert_string_equal(app.spec.versions.spark, "4.2.0");
        assert_non_null(app.spec.driver.template);
        assert_non_null(app.spec.executor.template);
        assert_string_equal(t->restart.policy, "OnInfrastructureFailure");
        assert_true(t->restart.max_attempts.value == INT64_MAX);
        assert_int_equal(t->restart.max_on_scheduling_failure.value, 1);
        assert_true(t->timeouts.driver_start_ms.set && t->timeouts.driver_start_ms.value == 0);
        assert_int_equal(t->instances.min.value, 3);
        assert_string_equal(t->retain_policy, "OnFailure");
        assert_int_equal(t->ttl_ms.value, 10000);
        assert_false(t->retain_ms.set);
        assert_string_equal(apache_application_conf(&app, "a"), "b");
        apache_application_deinit(&app);
}

/* Asserts that @object is refused with a message that has @part. Steals it. */
static void assert_unread(json_t *object, const char *part)
{
        struct apache_application app;
        assert_int_equal(apache_application_read(object, &app, NULL, &error), -EINVAL);
        if (!strstr(error_message(&error), part))
                fail_msg("\"%s\" is not in \"%s\"", part, error_message(&error));
        apache_application_deinit(&app);
        error_deinit(&error);
        json_decref(object);
}

static void refuses_what_the_definition_refuses(void **state)
{
        assert_unread(fixture_application(""), "sparkoperator.k8s.io/v1beta2\": use spark.apache.org/v1");
        assert_unread(fixture_json("{'apiVersion': 'spark.apache.org/v1', 'kind': 'Pod'}"), "the kind \"Pod\"");
        assert_unread(fixture_json("{'apiVersion': 'spark.apache.org/v1', 'kind': 'SparkApplication'}"), "has no spec");
        assert_unread(fixture_json("{'apiVersion': 'spark.apache.org/v1', 'kind': 'SparkApplication', 'spec': {}}"),
                      "spec.runtimeVersions: it is required");
        assert_unread(apache_fixture_object(", 'sparkConf': {'spark.executor.instances': 3}"),
                      "spec.sparkConf[\"spark.executor.instances\"]: 3 is not a text");
        assert_unread(apache_fixture_object(", 'applicationTolerations': {'resourceRetainPolicy': 'Sometimes'}"),
                      "\"Sometimes\" is not one of Always|Never|OnFailure");
        assert_unread(apache_fixture_object(", 'configMapSpecs': [{}]"), "spec.configMapSpecs[0].name: it is required");
        assert_unread(
                apache_fixture_object(", 'driverServiceIngressList': [{'serviceMetadata': {}, 'serviceSpec': {}}]"),
                "spec.driverServiceIngressList[0].ingressMetadata: it is required");
}

static void reports_fields_without_effect(void **state)
{
        _cleanup_(field_problems_deinit) struct field_problems problems = {0};
        struct apache_application app;
        json_t *object = apache_fixture_object(", 'pyFile': 'x', 'applicationTolerations': {'applicationTimeoutConfig':"
                                               "{'terminationRequeuePeriodMillis': 1}}");
        assert_int_equal(apache_application_read(object, &app, &problems, &error), 0);
        assert_int_equal(problems.list.len, 2);
        assert_string_equal(problems.list.data[0].message, "spec.pyFile: unknown field; did you mean pyFiles?");
        assert_non_null(strstr(problems.list.data[1].message, "terminationRequeuePeriodMillis: it has no effect"));
        apache_application_deinit(&app);
        json_decref(object);
}

/* Asserts that the application with @more is invalid, with exactly that @message. */
static void assert_invalid(const char *more, const char *message)
{
        struct apache_application app;
        apache_fixture_read(more, &app);
        assert_int_equal(apache_application_validate(&app, &error), -EINVAL);
        assert_string_equal(error_message(&error), message);
        error_deinit(&error);
        apache_application_deinit(&app);
}

static void refuses_invalid_applications(void **state)
{
        struct apache_application app;
        apache_fixture_read("", &app);
        assert_int_equal(apache_application_validate(&app, &error), 0);
        apache_application_deinit(&app);
        assert_invalid(", 'deploymentMode': 'ClientMode'", "Client mode is not supported yet.");
        assert_invalid(", 'mainClass': ''",
                       "spec.mainClass: it is required without spec.jars, spec.pyFiles and spec.sparkRFiles");
        assert_invalid(", 'driverHttpRouteList': [{'serviceMetadata': {'name': 's'}, 'serviceSpec': {},"
                       "'httpRouteMetadata': {'name': 'r'}, 'httpRouteSpec': {'parentRefs': []}}]",
                       "driverHttpRouteList[0].httpRouteSpec.parentRefs is required.");
        assert_invalid(", 'driverGrpcRouteList': [{'serviceMetadata': {}, 'serviceSpec': {}, 'grpcRouteMetadata': {}}]",
                       "driverGrpcRouteList[0].serviceMetadata.name is required.");
        assert_invalid(
                ", 'sparkConf': {'spark.kubernetes.driver.podTemplateFile': '/etc/shadow'}",
                "sparkConf key \"spark.kubernetes.driver.podTemplateFile\" is not allowed: it would read a file of "
                "the operator; use spec.driverSpec.podTemplateSpec");
        assert_invalid(", 'sparkConf': {'spark.kubernetes.authenticate.driver.oauthTokenFile': '/run/token'}",
                       "sparkConf key \"spark.kubernetes.authenticate.driver.oauthTokenFile\" is not allowed: it would "
                       "read a file of the operator; mount a secret or a config map of the application");
}

static void names_follow_from_name_and_attempt(void **state)
{
        struct apache_application app;
        apache_fixture_read("", &app);
        app.attempt = 3;
        app.name = "pi.x";
        _cleanup_free_ char *id = apache_application_id(&app), *pod = apache_attempt_driver_pod(id, NULL);
        assert_string_equal(id, "pi.x-3");
        assert_string_equal(pod, "pi-x-3-driver");
        app.name = "a-name-of-more-than-forty-six-characters-which-is-long";
        _cleanup_free_ char *cut = apache_application_id(&app);
        assert_int_equal(strlen(cut), 46);
        assert_memory_equal(cut, "a-name-of-mor-", 14);
        app.attempt = 4;
        _cleanup_free_ char *next = apache_application_id(&app);
        assert_string_not_equal(cut, next);
        apache_application_deinit(&app);

        apache_fixture_read(", 'sparkConf': {'spark.app.id': 'own'}", &app);
        _cleanup_free_ char *own = apache_application_id(&app), *mine = apache_attempt_driver_pod(own, "mine");
        assert_string_equal(own, "own");
        assert_string_equal(mine, "mine");
        apache_application_deinit(&app);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reads_every_field),
                cmocka_unit_test(refuses_what_the_definition_refuses),
                cmocka_unit_test(reports_fields_without_effect),
                cmocka_unit_test(refuses_invalid_applications),
                cmocka_unit_test(names_follow_from_name_and_attempt),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
