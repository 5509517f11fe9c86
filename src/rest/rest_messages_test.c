/*
 * The messages of the REST protocol. The cases of Spark's SubmitRestProtocolSuite for clients: fields, validation,
 * JSON, and unusual values as Jackson reads them.
 */
#include "rest/rest_messages.h"

#include "base/error.h"
#include "base/mem.h"
#include "unit/cases.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

static char *sample_args[] = {"two slices", "a hint of cinnamon"};

static void sample_properties(struct strmap *p)
{
        static const char *const pairs[][2] = {
                {"spark.app.name", "SparkPie"},
                {"spark.jars", "mayonnaise.jar,ketchup.jar"},
                {"spark.files", "fireball.txt"},
                {"spark.archives", "fireballs.zip"},
                {"spark.driver.memory", "512m"},
                {"spark.driver.cores", "180"},
                {"spark.driver.extraJavaOptions", " -Dslices=5 -Dcolor=mostly_red"},
                {"spark.driver.extraClassPath", "food-coloring.jar"},
                {"spark.driver.extraLibraryPath", "pickle.jar"},
                {"spark.driver.supervise", "false"},
                {"spark.executor.memory", "256m"},
                {"spark.cores.max", "10000"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
                strmap_set(p, pairs[i][0], pairs[i][1]);
}

static void test_request(void **state)
{
        (void)state;
        _cleanup_(strmap_deinit) struct strmap properties = STRMAP_INIT, environment = STRMAP_INIT;
        sample_properties(&properties);
        strmap_set(&environment, "PATH", "/dev/null");
        struct rest_create c = {"honey-walnut-cherry.jar",
                                "org.apache.spark.examples.SparkPie",
                                sample_args,
                                2,
                                &properties,
                                &environment};
        assert_int_equal(rest_create_validate(&c, NULL), 0);
        _cleanup_free_ char *json = rest_create_json(&c);
        static const char begins[] = "{\n"
                                     "  \"action\" : \"CreateSubmissionRequest\",\n"
                                     "  \"appArgs\" : [ \"two slices\", \"a hint of cinnamon\" ],\n"
                                     "  \"appResource\" : \"honey-walnut-cherry.jar\",\n"
                                     "  \"clientSparkVersion\" : \"4.3.0\",\n"
                                     "  \"environmentVariables\" : {\n"
                                     "    \"PATH\" : \"/dev/null\"\n"
                                     "  },\n"
                                     "  \"mainClass\" : \"org.apache.spark.examples.SparkPie\",\n"
                                     "  \"sparkProperties\" : {\n"
                                     "    \"spark.app.name\" : \"SparkPie\",\n";
        assert_int_equal(strncmp(json, begins, strlen(begins)), 0);
        json_t *root = json_loads(json, 0, NULL), *read = json_object_get(root, "sparkProperties");
        assert_int_equal(json_object_size(root), 7);
        assert_int_equal(json_object_size(read), properties.count);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&properties, e));)
                assert_string_equal(json_string_value(json_object_get(read, e->key)), e->value);
        json_decref(root);
}

static void test_minimal_request(void **state)
{
        (void)state;
        struct strmap none = STRMAP_INIT;
        char *args[] = {"\"\\\n\x01/\xc3\xa9\xff", NULL};
        struct rest_create c = {"a.jar", NULL, args, 2, &none, &none};
        _cleanup_free_ char *json = rest_create_json(&c);
        assert_string_equal(json, "{\n  \"action\" : \"CreateSubmissionRequest\",\n"
                                  "  \"appArgs\" : [ \"\\\"\\\\\\n\\u0001/\xc3\xa9\xef\xbf\xbd\", null ],\n"
                                  "  \"appResource\" : \"a.jar\",\n"
                                  "  \"clientSparkVersion\" : \"4.3.0\",\n"
                                  "  \"environmentVariables\" : { },\n"
                                  "  \"sparkProperties\" : { }\n}");
        c.n_app_args = 0;
        _cleanup_free_ char *empty = rest_create_json(&c);
        assert_non_null(strstr(empty, "\"appArgs\" : [ ],\n"));
}

static void test_request_validation(void **state)
{
        (void)state;
        static const struct {
                const char *key, *value, *type; /* NULL: it is valid */
        } cases[] = {
                {"spark.driver.cores", "one hundred feet", "numeric"},
                {"spark.driver.supervise", "nope, never", "boolean"},
                {"spark.cores.max", "two men", "numeric"},
                {"spark.driver.memory", "lots", "memory"},
                {"spark.executor.memory", "1.5g", "memory"},
                {"spark.driver.cores", "", "numeric"},
                {"spark.driver.cores", "1x", "numeric"},
                {"spark.driver.cores", "0x10", "numeric"},
                {"spark.driver.cores", "inf", "numeric"},
                {"spark.driver.cores", "nan", "numeric"},
                {"spark.driver.cores", "-", "numeric"},
                {"spark.driver.supervise", " true", "boolean"},
                {"spark.driver.cores", " 2.5e1d ", NULL},
                {"spark.driver.cores", "0x1p3", NULL},
                {"spark.driver.cores", "-NaN", NULL},
                {"spark.cores.max", ".5f", NULL},
                {"spark.driver.supervise", "TRUE", NULL},
                {"spark.driver.memory", "1024", NULL},
                {"spark.executor.memory", "2G", NULL},
        };
        struct rest_create c = {.app_resource = "a.jar"};
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: key \"%s\", value \"%s\", type \"%s\"", i,
                           cases[i].key ? cases[i].key : "(none)", cases[i].value ? cases[i].value : "(none)",
                           cases[i].type ? cases[i].type : "(none)");
                _cleanup_(strmap_deinit) struct strmap p = STRMAP_INIT;
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                strmap_set(&p, cases[i].key, cases[i].value);
                c.properties = &p;
                assert_int_equal(rest_create_validate(&c, &error), cases[i].type ? -EINVAL : 0);
                if (cases[i].type) {
                        _cleanup_free_ char *says = mem_printf(
                                "Validation of message CreateSubmissionRequest failed! Property '%s' expected "
                                "%s value: actual was '%s'.",
                                cases[i].key, cases[i].type, cases[i].value);
                        assert_string_equal(error.message, says);
                }
        }
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct strmap none = STRMAP_INIT;
        c = (struct rest_create){.properties = &none};
        assert_int_equal(rest_create_validate(&c, &error), -EINVAL);
        assert_string_equal(error.message, "Validation of message CreateSubmissionRequest failed! 'appResource' is "
                                           "missing in message CreateSubmissionRequest.");
        c = (struct rest_create){.app_resource = "a.jar"};
        assert_int_equal(rest_create_validate(&c, &error), -EINVAL);
        assert_string_equal(error.message,
                            "Validation of message CreateSubmissionRequest failed! No Spark properties set!");
}

static void test_environment(void **state)
{
        (void)state;
        char *env[] = {"PATH=/bin",
                       "SPARK_VAR=1",
                       "SPARK_HOME=/x",
                       "SPARK_CONF_DIR=/y",
                       "SPARK_ENV_LOADED=1",
                       "SPARK_EMPTY=",
                       "SPARK_LOCAL_IP=1.2.3.4",
                       "MESOS_VAR=2",
                       "SPARK_LOCAL_HOSTNAME=h",
                       "SPARK_NOTHING",
                       "NOT_SPARK_X=1",
                       NULL};
        _cleanup_(strmap_deinit) struct strmap now = STRMAP_INIT, older = STRMAP_INIT;
        rest_environment(env, NULL, &now);
        assert_int_equal(now.count, 2);
        assert_string_equal(strmap_get(&now, "SPARK_VAR"), "1");
        assert_string_equal(strmap_get(&now, "SPARK_EMPTY"), "");
        rest_environment(env, "3.5", &older);
        assert_int_equal(older.count, 5);
        assert_string_equal(strmap_get(&older, "SPARK_LOCAL_IP"), "1.2.3.4");
        assert_string_equal(strmap_get(&older, "SPARK_LOCAL_HOSTNAME"), "h");
        assert_string_equal(strmap_get(&older, "MESOS_VAR"), "2");
}

/* Writing a message that was read gives Spark's text again. */
static void test_answers(void **state)
{
        (void)state;
        static const struct {
                enum rest_kind kind;
                const char *json;
        } cases[] = {
                {REST_CREATE, "{\n  \"action\" : \"CreateSubmissionResponse\",\n  \"serverSparkVersion\" : \"1.2.3\",\n"
                              "  \"submissionId\" : \"driver_123\",\n  \"success\" : true\n}"},
                {REST_CREATE,
                 "{\n  \"action\" : \"CreateSubmissionResponse\",\n  \"message\" : \"no \\\"workers\\\"\",\n"
                 "  \"serverSparkVersion\" : \"1.2.3\",\n  \"success\" : false,\n"
                 "  \"unknownFields\" : [ \"tomato\", \"potato\" ]\n}"},
                {REST_KILL, "{\n  \"action\" : \"KillSubmissionResponse\",\n  \"serverSparkVersion\" : \"1.2.3\",\n"
                            "  \"submissionId\" : \"driver_123\",\n  \"success\" : true\n}"},
                {REST_STATUS, "{\n  \"action\" : \"SubmissionStatusResponse\",\n  \"driverState\" : \"RUNNING\",\n"
                              "  \"serverSparkVersion\" : \"1.2.3\",\n  \"submissionId\" : \"driver_123\",\n"
                              "  \"success\" : true,\n  \"workerHostPort\" : \"1.2.3.4:7780\",\n"
                              "  \"workerId\" : \"worker_123\"\n}"},
                {REST_ERROR, "{\n  \"action\" : \"ErrorResponse\",\n  \"highestProtocolVersion\" : \"v1\",\n"
                             "  \"message\" : \"Field not found in submit request: X\",\n"
                             "  \"serverSparkVersion\" : \"1.2.3\"\n}"},
                {REST_KILL_ALL, "{\n  \"action\" : \"KillAllSubmissionResponse\",\n"
                                "  \"serverSparkVersion\" : \"1.2.3\",\n  \"success\" : true\n}"},
                {REST_READYZ, "{\n  \"action\" : \"ReadyzResponse\",\n  \"serverSparkVersion\" : \"1.2.3\",\n"
                              "  \"success\" : true,\n  \"unknownFields\" : [ ]\n}"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: kind %d, json \"%s\"", i, cases[i].kind,
                           cases[i].json ? cases[i].json : "(none)");
                _cleanup_(rest_answer_deinit) struct rest_answer a = REST_ANSWER_INIT;
                assert_int_equal(rest_answer_parse(&a, cases[i].json, strlen(cases[i].json), NULL), 0);
                assert_int_equal(a.kind, cases[i].kind);
                _cleanup_free_ char *json = rest_answer_json(&a);
                assert_string_equal(json, cases[i].json);
        }
}

static void test_reads_replies_as_jackson(void **state)
{
        (void)state;
        static const char json[] =
                " {\"submissionId\":17,\"action\":\"KillSubmissionResponse\",\"success\":\"True\","
                "\"serverSparkVersion\":true,\"message\":null,\"workerId\":\"w\",\"new\":{\"a\":[1]}}\n";
        _cleanup_(rest_answer_deinit) struct rest_answer a = REST_ANSWER_INIT;
        assert_int_equal(rest_answer_parse(&a, json, strlen(json), NULL), 0);
        assert_string_equal(a.submission_id, "17");
        assert_string_equal(a.server_spark_version, "true");
        assert_int_equal(a.success, REST_TRUE);
        assert_null(a.message);
        assert_null(a.worker_id); /* belongs to a status, not to this reply */
        assert_false(rest_answer_from_backup(&a));
        a.message = mem_strdup("Current state is not alive: STANDBY. Can only kill drivers in ALIVE state.");
        assert_true(rest_answer_from_backup(&a));
}

static void test_rejects_invalid_replies(void **state)
{
        (void)state;
        static const struct {
                const char *json;
                int code;
                const char *says; /* begins with */
        } cases[] = {
                {"", -EBADMSG, "Malformed response received from server: Action field not found in JSON:\n"},
                {" \n", -EBADMSG, "Malformed response received from server: Action field not found in JSON:\n"},
                {"<html>", -EBADMSG, "Malformed response received from server: "},
                {"{\"action\":\"KillSubmissionResponse\"", -EBADMSG, "Malformed response received from server: "},
                {"[]", -EBADMSG, "Malformed response received from server: Action field not found in JSON:\n[]"},
                {"{\"action\":7}", -EBADMSG,
                 "Malformed response received from server: Action field not found in JSON:\n{\"action\":7}"},
                {"{\"action\":\"Cake\"}", -ENOMSG, "Exception while waiting for response: unknown message type 'Cake'"},
                {"{\"action\":\"CreateSubmissionRequest\"}", -EBADMSG,
                 "Malformed response received from server: Message received from server was not a response:\n"},
                {"{\"action\":\"CreateSubmissionResponse\",\"serverSparkVersion\":\"1\"}", -EBADMSG,
                 "Malformed response received from server: Validation of message CreateSubmissionResponse failed! "
                 "'success' is missing in message CreateSubmissionResponse."},
                {"{\"action\":\"SubmissionStatusResponse\",\"success\":true}", -EBADMSG,
                 "Malformed response received from server: Validation of message SubmissionStatusResponse failed! "
                 "'serverSparkVersion' is missing in message SubmissionStatusResponse."},
                {"{\"action\":\"KillSubmissionResponse\",\"serverSparkVersion\":\"1\",\"success\":true}", -EBADMSG,
                 "Malformed response received from server: Validation of message KillSubmissionResponse failed! "
                 "'submissionId' is missing in message KillSubmissionResponse."},
                {"{\"action\":\"ErrorResponse\",\"serverSparkVersion\":\"1\"}", -EBADMSG,
                 "Malformed response received from server: Validation of message ErrorResponse failed! 'message' is "
                 "missing in message ErrorResponse."},
                {"{\"action\":\"ErrorResponse\",\"serverSparkVersion\":\"1\",\"message\":[]}", -EBADMSG,
                 "Malformed response received from server: expected a text in the field message"},
                {"{\"action\":\"KillSubmissionResponse\",\"success\":\"maybe\"}", -EBADMSG,
                 "Malformed response received from server: expected a boolean in the field success"},
                {"{\"action\":\"KillSubmissionResponse\",\"success\":true,\"unknownFields\":\"x\"}", -EBADMSG,
                 "Malformed response received from server: expected a list of texts in the field unknownFields"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: json \"%s\", code %d, says \"%s\"", i,
                           cases[i].json ? cases[i].json : "(none)", cases[i].code,
                           cases[i].says ? cases[i].says : "(none)");
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                struct rest_answer a = REST_ANSWER_INIT;
                assert_int_equal(rest_answer_parse(&a, cases[i].json, strlen(cases[i].json), &error), cases[i].code);
                if (strncmp(error.message, cases[i].says, strlen(cases[i].says)) != 0)
                        assert_string_equal(error.message, cases[i].says);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_request),
                cmocka_unit_test(test_minimal_request),
                cmocka_unit_test(test_request_validation),
                cmocka_unit_test(test_environment),
                cmocka_unit_test(test_answers),
                cmocka_unit_test(test_reads_replies_as_jackson),
                cmocka_unit_test(test_rejects_invalid_replies),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
