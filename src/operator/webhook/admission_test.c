/* Admission reviews: what is allowed, refused and warned of, and bodies that are no reviews. */
#include "operator/resources/operator_fixture.h"
#include "operator/webhook/admission.h"

#include "base/buf.h"
#include "text/json.h"

#define GROUP "{'group': 'sparkoperator.k8s.io', 'version': 'v1beta2'}"
#define APACHE "{'group': 'spark.apache.org', 'version': 'v1'}"

/* Returns the response for @object (stolen) and @old, which may be NULL (stolen). The caller owns it. */
static json_t *review_of(const char *group_text, const char *operation, json_t *object, json_t *old)
{
        struct fst_error error = FST_ERROR_INIT;
        json_t *group = fixture_json(group_text);
        json_t *question = json_pack("{s:s, s:s, s:{s:s, s:o, s:s, s:o, s:o*}}", "apiVersion", "admission.k8s.io/v1",
                                     "kind", "AdmissionReview", "request", "uid", "u-7", "kind", group, "operation",
                                     operation, "object", object, "oldObject", old);
        json_t *answer = admission_review(question, NULL, &error);
        if (!answer)
                fail_msg("%s", error_message(&error));
        json_decref(question);
        assert_string_equal(json_text_at(answer, "apiVersion"), "admission.k8s.io/v1");
        assert_string_equal(json_text_at(answer, "kind"), "AdmissionReview");
        assert_string_equal(json_text_at(answer, "response.uid"), "u-7");
        json_t *response = json_incref(json_object_get(answer, "response"));
        json_decref(answer);
        return response;
}

static json_t *review(const char *operation, json_t *object, json_t *old)
{
        return review_of(GROUP, operation, object, old);
}

static void assert_allowed(json_t *response)
{
        if (!json_is_true(json_object_get(response, "allowed")))
                fail_msg("refused: %s", json_text_or_empty(response, "status.message"));
        assert_null(json_object_get(response, "warnings"));
        json_decref(response);
}

static void assert_refused(json_t *response, const char *said)
{
        assert_true(json_is_false(json_object_get(response, "allowed")));
        assert_int_equal(json_int_at(response, "status.code"), 403);
        if (!strstr(json_text_or_empty(response, "status.message"), said))
                fail_msg("'%s' does not say '%s'", json_text_or_empty(response, "status.message"), said);
        json_decref(response);
}

static json_t *schedule(const char *members)
{
        _cleanup_free_ char *text =
                mem_printf("{'apiVersion': 'sparkoperator.k8s.io/v1beta2', 'kind': 'ScheduledSparkApplication',"
                           "'metadata': {'name': 'nightly', 'namespace': 'jobs'}, 'spec': {%s}}",
                           members);
        return fixture_json(text);
}

#define TEMPLATE                                                                                                         \
        "'template': {'type': 'Scala', 'sparkVersion': '4.0.0', 'mainApplicationFile': 'local:///a.jar', 'driver': {}, " \
        "'executor': {} %s}"

static json_t *schedule_of(const char *expression, const char *more)
{
        _cleanup_free_ char *template = mem_printf(TEMPLATE, more);
        _cleanup_free_ char *members = mem_printf("'schedule': '%s', %s", expression, template);
        return schedule(members);
}

static void test_applications_are_allowed(void **state)
{
        (void)state;
        assert_allowed(review("CREATE", fixture_application(""), NULL));
        assert_allowed(review("UPDATE", fixture_application(", 'image': 'x:2'"), fixture_application("")));
}

static void test_applications_are_refused(void **state)
{
        (void)state;
        static const struct {
                const char *more, *said;
        } cases[] = {
                {", 'sparkConf': {'spark.master': 'yarn'}",
                 "sparkConf key \"spark.master\" is not allowed: this value is managed by the operator"},
                {", 'sparkConf': {'spark.kubernetes.namespace': 'other'}",
                 "must equal the application namespace \"jobs\""},
                {", 'mode': 'clustre'", "spec.mode"},
                {", 'arguments': 'one'", "spec.arguments"},
                {", 'nodeSelector': {'a': 'b'}, 'driver': {'nodeSelector': {'a': 'b'}}",
                 "node selector cannot be defined at both"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                assert_refused(review("CREATE", fixture_application(cases[i].more), NULL), cases[i].said);
                assert_refused(review("UPDATE", fixture_application(cases[i].more), fixture_application("")),
                               cases[i].said);
        }
        json_t *object = fixture_application("");
        json_object_set_new(json_object_get(object, "metadata"), "name", json_string("Pi"));
        assert_refused(review("CREATE", object, NULL), "invalid SparkApplication name \"Pi\"");
}

static void test_what_is_not_asked_is_allowed(void **state)
{
        (void)state;
        static const char wrong[] = ", 'mode': 'clustre'";
        /* The spec does not change, as when a finalizer or the status does. */
        assert_allowed(review("UPDATE", fixture_application(wrong), fixture_application(wrong)));
        assert_allowed(review("DELETE", fixture_application(wrong), NULL));
        json_t *leaving = fixture_application(wrong);
        json_object_set_new(json_object_get(leaving, "metadata"), "deletionTimestamp",
                            json_string("2026-01-01T00:00:00Z"));
        assert_allowed(review("UPDATE", leaving, fixture_application("")));
        assert_allowed(review("CREATE", fixture_json("{'kind': 'Pod', 'spec': 3}"), NULL));
        assert_allowed(review("CREATE", json_null(), NULL));
}

static void test_unknown_fields_are_warned_of(void **state)
{
        (void)state;
        json_t *response = review("CREATE", fixture_application(", 'drivr': {}, 'failureRetries': 3"), NULL);
        assert_true(json_is_true(json_object_get(response, "allowed")));
        const json_t *warnings = json_object_get(response, "warnings");
        assert_int_equal(json_array_size(warnings), 2);
        for (size_t i = 0; i < 2; i++) {
                const char *text = json_string_value(json_array_get(warnings, i));
                assert_true(strstr(text, "spec.drivr") || strstr(text, "spec.failureRetries"));
        }
        json_decref(response);
}

static void test_warnings_are_short_and_few(void **state)
{
        (void)state;
        _cleanup_(buf_deinit) struct buf more = BUF_INIT;
        for (int i = 0; i < 40; i++) {
                buf_printf(&more, ", 'x%d", i);
                for (int k = 0; k < 300; k++)
                        buf_puts(&more, "ä");
                buf_puts(&more, "': 1");
        }
        json_t *response = review("CREATE", fixture_application(buf_text(&more)), NULL);
        const json_t *warnings = json_object_get(response, "warnings");
        assert_int_equal(json_array_size(warnings), 15);
        assert_in_range(json_string_length(json_array_get(warnings, 0)), 240, 250);
        json_decref(response);
}

static void test_schedules(void **state)
{
        (void)state;
        assert_allowed(review("CREATE", schedule_of("CRON_TZ=UTC 0 3 * * MON-FRI", ""), NULL));
        assert_refused(review("CREATE", schedule_of("0 25 * * *", ""), NULL),
                       "spec.schedule: end of range (25) above maximum (23)");
        assert_refused(review("CREATE", schedule_of("CRON_TZ=Mars/Base @daily", ""), NULL), "Mars/Base");
        assert_refused(
                review("CREATE", schedule_of("CRON_TZ=UTC @daily", ", 'sparkConf': {'spark.master': 'yarn'}"), NULL),
                "sparkConf key \"spark.master\" is not allowed");
        assert_refused(review("CREATE", schedule_of("CRON_TZ=UTC @daily", ", 'mode': 'x'"), NULL),
                       "spec.template.mode");
        assert_refused(review("CREATE", schedule("'schedule': '@daily'"), NULL), "spec.template");
}

static void test_what_is_no_review(void **state)
{
        (void)state;
        static const char *const bodies[] = {
                "{}",
                "[]",
                "{'kind': 'AdmissionReview'}",
                "{'kind': 'AdmissionReview', 'apiVersion': 'admission.k8s.io/v1', 'request': {'uid': 3}}",
                "{'kind': 'AdmissionReview', 'apiVersion': 'admission.k8s.io/v1beta1', 'request': {'uid': 'u'}}",
                "{'kind': 'Pod', 'apiVersion': 'v1', 'request': {'uid': 'u'}}"};
        for (size_t i = 0; i < ARRAY_SIZE(bodies); i++) {
                struct fst_error error = FST_ERROR_INIT;
                json_t *body = fixture_json(bodies[i]);
                assert_null(admission_review(body, NULL, &error));
                assert_non_null(strstr(error_message(&error), "AdmissionReview"));
                error_deinit(&error);
                json_decref(body);
        }
}

/* Returns an object of spark.apache.org whose spec has @more. */
static json_t *apache_object(const char *kind, const char *more)
{
        _cleanup_free_ char *text = mem_printf(
                "{'apiVersion': 'spark.apache.org/v1', 'kind': '%s', 'metadata': {'name': 'pi', 'namespace': "
                "'jobs'}, 'spec': {'runtimeVersions': {'sparkVersion': '4.2.0'}, "
                "'sparkConf': {'spark.kubernetes.container.image': 'spark:4'} %s}}",
                kind, more);
        return fixture_json(text);
}

#define WORKERS(min)                                                                                                   \
        ", 'clusterTolerations': {'instanceConfig': {'initWorkers': 1, 'minWorkers': " #min ", 'maxWorkers': 1}}"

#define MAIN ", 'mainClass': 'Pi'"

static void test_kinds_of_spark_apache_org_are_checked(void **state)
{
        (void)state;
        assert_allowed(review_of(APACHE, "CREATE", apache_object("SparkApplication", MAIN), NULL));
        assert_refused(review_of(APACHE, "CREATE",
                                 apache_object("SparkApplication", MAIN ", 'deploymentMode': 'ClientMode'"), NULL),
                       "Client mode is not supported yet.");
        assert_refused(review_of(APACHE, "UPDATE",
                                 apache_object("SparkApplication", MAIN ", 'applicationTolerations': "
                                                                        "{'resourceRetainPolicy': 'Sometimes'}"),
                                 apache_object("SparkApplication", MAIN)),
                       "is not one of Always|Never|OnFailure");
        assert_allowed(review_of(APACHE, "CREATE", apache_object("SparkCluster", WORKERS(1)), NULL));
        assert_refused(review_of(APACHE, "CREATE", apache_object("SparkCluster", WORKERS(2)), NULL),
                       "are not in order");
        assert_allowed(review_of(APACHE, "CREATE", apache_object("ScheduledSparkApplication", ""), NULL));
        /* The group decides, not what the object says of itself. */
        assert_refused(review_of(GROUP, "CREATE", apache_object("SparkApplication", MAIN), NULL),
                       "spark.apache.org/v1");
        json_t *response = review_of(APACHE, "CREATE", apache_object("SparkApplication", MAIN ", 'jar': 'x'"), NULL);
        assert_true(json_is_true(json_object_get(response, "allowed")));
        assert_string_equal(json_string_value(json_array_get(json_object_get(response, "warnings"), 0)),
                            "spec.jar: unknown field");
        json_decref(response);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_applications_are_allowed),
                cmocka_unit_test(test_applications_are_refused),
                cmocka_unit_test(test_what_is_not_asked_is_allowed),
                cmocka_unit_test(test_unknown_fields_are_warned_of),
                cmocka_unit_test(test_warnings_are_short_and_few),
                cmocka_unit_test(test_schedules),
                cmocka_unit_test(test_kinds_of_spark_apache_org_are_checked),
                cmocka_unit_test(test_what_is_no_review),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
