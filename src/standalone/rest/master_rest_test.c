/* REST requests and answers as in Spark 4.3, over a real master's core. */
#include "standalone/rest/master_rest.h"

#include "conf/conf.h"
#include "standalone/rest/driver_validation.h"
#include "standalone/wire/standalone.pb-c.h"
#include "standalone/core/master_fixture.h"

#include "web/web_site_fixture.h"
#include "unit/cases.h"

#include <jansson.h>

#define NATIVE "\"appResource\":\"file:/apps/count.so\",\"mainClass\":\"main\","
#define REQUEST "{\"action\":\"CreateSubmissionRequest\",\"clientSparkVersion\":\"4.3.0\","

static struct {
        struct fst_conf conf;
        struct recorder recorder;
        struct master *master;
        struct master_rest *server;
        /* The driver of the last submission. */
        Firesteel__Standalone__DriverDescription *driver;
        /* With `hold`, replies wait for `flush`. */
        bool hold;
        rest_replied *replied;
        void *context;
        struct master_reply reply;
        /* The last answer. */
        int status, answers;
        char *json, *allow;
        json_t *root;
} t;

static const struct master *state_of(const struct master_server *master)
{
        return t.master;
}

static void reply(struct master_reply r, rest_replied *replied, void *context)
{
        if (t.hold) {
                t.reply = r;
                t.replied = replied;
                t.context = context;
                return;
        }
        replied(context, &r);
        master_reply_deinit(&r);
}

static void submit(struct master_server *master, const struct driver_spec *spec, rest_replied *replied, void *context)
{
        if (t.driver)
                protobuf_c_message_free_unpacked(&t.driver->base, NULL);
        t.driver = firesteel__standalone__driver_description__unpack(NULL, spec->body.size, spec->body.data);
        assert_string_equal(spec->main_class, t.driver->command->arguments[2]);
        assert_int_equal(spec->n_needs, t.driver->n_needs);
        reply(master_submit_driver(t.master, spec, 1000), replied, context);
}

static void kill_driver(struct master_server *master, const char *id, rest_replied *replied, void *context)
{
        reply(master_kill_driver(t.master, id, 1000), replied, context);
}

static void kill_all(struct master_server *master, rest_replied *replied, void *context)
{
        reply(master_kill_all_drivers(t.master, 1000), replied, context);
}

static void clear(struct master_server *master, rest_replied *replied, void *context)
{
        master_clear_completed(t.master);
        reply((struct master_reply){.success = true}, replied, context);
}

static const struct rest_master_ops ops = {state_of, submit, kill_driver, kill_all, clear};

static void start_server(void)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        if (master_rest_new(&t.conf, "spark://h:7077", &ops, NULL, &t.server, &error) < 0)
                fail_msg("%s", error_message(&error));
}

static int begin(void **state)
{
        memset(&t, 0, sizeof(t));
        conf_init(&t.conf);
        t.master = recorded_master(&t.recorder, &MASTER_CONFIG_DEFAULT);
        master_elected(t.master, NULL, 0, NULL, 0, NULL, 0, 1000);
        start_server();
        return 0;
}

static void forget_answer(void)
{
        json_decref(t.root);
        free(t.json);
        free(t.allow);
        t.root = NULL;
        t.json = t.allow = NULL;
}

static int end(void **state)
{
        forget_answer();
        if (t.driver)
                protobuf_c_message_free_unpacked(&t.driver->base, NULL);
        master_rest_free(t.server);
        master_free(t.master);
        recorder_deinit(&t.recorder);
        conf_deinit(&t.conf);
        return 0;
}

static void on_answered(void *context, int status, char *json, const char *allow)
{
        forget_answer();
        t.answers++;
        t.status = status;
        t.json = json;
        t.allow = allow ? mem_strdup(allow) : NULL;
        t.root = json_loads(json, 0, NULL);
        assert_non_null(t.root);
        assert_string_equal(json_string_value(json_object_get(t.root, "serverSparkVersion")), "4.3.0");
}

static void ask_as(const struct rest_call *headers, const char *method, const char *path, const char *body)
{
        struct rest_call call = *headers;
        call.method = method;
        call.path = path;
        call.body = body;
        call.body_len = strlen(body);
        int before = t.answers;
        rest_server_handle(master_rest_server(t.server), &call, on_answered, NULL);
        assert_int_equal(t.answers, before + !t.hold);
}

static void ask(const char *method, const char *path, const char *body)
{
        ask_as(&(struct rest_call){.content_type = "application/json"}, method, path, body);
}

static const char *text(const char *field)
{
        const char *value = json_string_value(json_object_get(t.root, field));
        return value ? value : "(none)";
}

static void assert_error(int status, const char *message)
{
        assert_int_equal(t.status, status);
        assert_string_equal(text("action"), "ErrorResponse");
        if (strncmp(text("message"), message, strlen(message)) != 0)
                fail_msg("\"%s\" does not begin with \"%s\"", text("message"), message);
}

static void create(const char *body)
{
        ask("POST", "/v1/submissions/create", body);
}

static const char *submitted(const char *properties)
{
        _cleanup_free_ char *body = mem_printf(REQUEST NATIVE "\"sparkProperties\":{%s}}", properties);
        create(body);
        assert_int_equal(t.status, 200);
        assert_true(json_is_true(json_object_get(t.root, "success")));
        return text("submissionId");
}

/* ------------------------------------------------------------------------------------------------------ tests */

static void paths_that_are_none(void **state)
{
        static const char please[] = " Please submit requests through http://[host]:[port]/v1/submissions/...";
        static const struct {
                const char *path, *message;
                int status;
        } cases[] = {
                {"/", "Missing protocol version.", 400},
                {"/v1", "Missing the /submissions prefix.", 400},
                {"/v1/", "Missing the /submissions prefix.", 400},
                {"/v1/submissions",
                 "Missing an action: please specify one of /create, /kill, /killall, /clear, /status, or /readyz.",
                 400},
                {"/v1/submissions/x",
                 "Missing an action: please specify one of /create, /kill, /killall, /clear, /status, or /readyz.",
                 400},
                {"/other/x", "Unknown protocol version 'other'.", 468},
                {"/v1/foo", "Unknown protocol version 'v1'.", 468},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: path \"%s\", message \"%s\", status %d", i,
                           cases[i].path ? cases[i].path : "(none)", cases[i].message ? cases[i].message : "(none)",
                           cases[i].status);
                _cleanup_free_ char *message = mem_printf("%s%s", cases[i].message, please);
                ask("GET", cases[i].path, "");
                assert_error(cases[i].status, message);
                assert_string_equal(text("highestProtocolVersion"), cases[i].status == 468 ? "v1" : "(none)");
        }
        ask("GET", "/v1/submissions/kill/x", "");
        assert_error(405, "HTTP method GET is not supported by this URL");
        assert_string_equal(t.allow, "POST");
        ask("POST", "/v1/submissions/status/x", "");
        assert_int_equal(t.status, 405);
        ask("GET", "/v1/submissions/status/a%2Fb", "");
        assert_int_equal(t.status, 400);
        ask("GET", "/v1/submissions/status/a%00b", "");
        assert_int_equal(t.status, 400);
        ask("POST", "/v1/submissions/kill/a%0d%0ab", "");
        assert_int_equal(t.status, 400);
        ask("GET", "/v1/submissions/status", "");
        assert_error(400, "Submission ID is missing in status request.");
        ask("POST", "/v1/submissions/kill/", "");
        assert_error(400, "Submission ID is missing in kill request.");
}

static void a_driver_is_submitted_seen_and_killed(void **state)
{
        _cleanup_free_ char *id = mem_strdup(submitted("\"spark.app.name\":\"a\""));
        _cleanup_free_ char *path = mem_printf("/v1/submissions/status/%s/more", id);
        _cleanup_free_ char *kill = mem_printf("/v1/submissions/kill/%s", id);
        assert_string_equal(text("action"), "CreateSubmissionResponse");
        ask("GET", path, "");
        assert_string_equal(text("action"), "SubmissionStatusResponse");
        assert_string_equal(text("driverState"), "SUBMITTED");
        assert_string_equal(text("submissionId"), id);
        assert_string_equal(text("workerId"), "(none)");
        ask("POST", kill, "");
        assert_string_equal(text("action"), "KillSubmissionResponse");
        assert_true(json_is_true(json_object_get(t.root, "success")));
        ask("GET", path, "");
        assert_string_equal(text("driverState"), "KILLED");
        ask("POST", kill, "");
        assert_true(json_is_false(json_object_get(t.root, "success")));
        _cleanup_free_ char *gone = mem_printf("Driver %s has already finished or does not exist", id);
        assert_string_equal(text("message"), gone);
        ask("POST", "/v1/submissions/clear", "");
        assert_string_equal(text("action"), "ClearResponse");
        assert_string_equal(text("message"), "");
        ask("GET", path, "");
        assert_true(json_is_false(json_object_get(t.root, "success")));
        assert_string_equal(text("driverState"), "(none)");
        ask("GET", "/v1/submissions/status/a%20b", "");
        assert_string_equal(text("submissionId"), "a b");
        ask("POST", "/v1/submissions/killall", "");
        assert_string_equal(text("action"), "KillAllSubmissionResponse");
        assert_string_equal(text("message"), "Kill request for all drivers submitted");
        ask("GET", "/v1/submissions/readyz", "");
        assert_string_equal(text("action"), "ReadyzResponse");
        assert_int_equal(t.status, 200);
}

static void an_answer_waits_for_the_master(void **state)
{
        t.hold = true;
        create(REQUEST NATIVE "\"sparkProperties\":{}}");
        assert_int_equal(t.answers, 0);
        t.replied(t.context, &t.reply);
        master_reply_deinit(&t.reply);
        assert_int_equal(t.answers, 1);
        assert_string_equal(text("action"), "CreateSubmissionResponse");
        /* Requests that the master never answers are freed with the server. */
        create(REQUEST NATIVE "\"sparkProperties\":{}}");
        master_reply_deinit(&t.reply);
        assert_int_equal(t.answers, 1);
}

static void the_driver_is_what_was_asked_for(void **state)
{
        setenv("FIRESTEEL_TEST_HOME", "/home/x", 1);
        setenv("_SPARK_AUTH_SECRET", "hidden", 1);
        create(REQUEST NATIVE
               "\"appArgs\":[\"a\",2,true],\"environmentVariables\":{\"A\":\"{{FIRESTEEL_TEST_HOME}}\","
               "\"SPARK_LOCAL_IP\":\"1.2.3.4\",\"S\":\"{{_SPARK_AUTH_SECRET}}\",\"N\":\"{{NO_SUCH_VARIABLE}}\"},"
               "\"sparkProperties\":{\"spark.driver.cores\":\"2\",\"spark.driver.memory\":\"3g\","
               "\"spark.driver.supervise\":\"true\",\"spark.master\":\"spark://h:6066,i:6066\","
               "\"spark.driver.extraClassPath\":\"/a:/b::\",\"spark.driver.extraLibraryPath\":\"/c\","
               "\"spark.driver.extraJavaOptions\":\"-Da='b c' -Dd\",\"spark.driver.resource.gpu.amount\":\"2\"},"
               "\"tomato\":1,\"potato\":{\"a\":2},\"message\":null}");
        unsetenv("_SPARK_AUTH_SECRET");
        assert_int_equal(t.status, 200);
        const json_t *unknown = json_object_get(t.root, "unknownFields");
        assert_int_equal(json_array_size(unknown), 3);
        assert_string_equal(json_string_value(json_array_get(unknown, 0)), "tomato");
        assert_string_equal(json_string_value(json_array_get(unknown, 1)), "potato");
        assert_string_equal(json_string_value(json_array_get(unknown, 2)), "message");

        const Firesteel__Standalone__DriverDescription *d = t.driver;
        const Firesteel__Standalone__Command *c = d->command;
        assert_string_equal(d->jar_url, "file:/apps/count.so");
        assert_int_equal(d->cores, 2);
        assert_int_equal(d->memory, 3072);
        assert_true(d->supervise);
        assert_int_equal(d->n_needs, 1);
        assert_string_equal(d->needs[0]->name, "gpu");
        assert_int_equal(d->needs[0]->amount, 2);
        assert_string_equal(c->main_class, "org.apache.spark.deploy.worker.DriverWrapper");
        static const char *const arguments[] = {"{{WORKER_URL}}", "{{USER_JAR}}", "main", "a", "2", "true"};
        assert_int_equal(c->n_arguments, ARRAY_SIZE(arguments));
        for (size_t i = 0; i < ARRAY_SIZE(arguments); i++)
                assert_string_equal(c->arguments[i], arguments[i]);
        assert_int_equal(c->n_environment, 3);
        assert_string_equal(c->environment[0]->value, "/home/x");
        assert_string_equal(c->environment[1]->value, "{{_SPARK_AUTH_SECRET}}");
        assert_string_equal(c->environment[2]->value, "{{NO_SUCH_VARIABLE}}");
        assert_int_equal(c->n_class_path, 2);
        assert_string_equal(c->class_path[1], "/b");
        assert_int_equal(c->n_library_path, 1);
        assert_int_equal(c->n_java_options, 2);
        assert_string_equal(c->java_options[0], "-Da=b c");
        bool found = false;
        for (size_t i = 0; i < c->n_properties; i++)
                if (strcmp(c->properties[i]->key, "spark.master") == 0) {
                        found = true;
                        /* The REST servers' port became the masters' port. */
                        assert_string_equal(c->properties[i]->value, "spark://h:7077,i:7077");
                }
        assert_true(found);

        submitted("");
        assert_int_equal(t.driver->cores, 1);
        assert_int_equal(t.driver->memory, 1024);
        assert_false(t.driver->supervise);
        assert_string_equal(t.driver->command->properties[0]->value, "spark://h:7077");
}

static void malformed_requests(void **state)
{
        static const struct {
                const char *body, *message;
        } cases[] = {
                {"", "Malformed request: com.fasterxml.jackson.core.JsonParseException: "},
                {"{", "Malformed request: com.fasterxml.jackson.core.JsonParseException: "},
                {"[]",
                 "Malformed request: org.apache.spark.deploy.rest.SubmitRestMissingFieldException: Action field not "
                 "found in JSON:\n[]"},
                {"{\"action\":1}",
                 "Malformed request: org.apache.spark.deploy.rest.SubmitRestMissingFieldException: Action "
                 "field not found in JSON:\n{\"action\":1}"},
                {"{\"action\":\"Foo\"}", "Malformed request: java.lang.ClassNotFoundException: "
                                         "org.apache.spark.deploy.rest.Foo"},
                {"{\"action\":\"KillSubmissionResponse\"}",
                 "Received message of unexpected type KillSubmissionResponse."},
                {"{\"action\":\"CreateSubmissionRequest\"}",
                 "Malformed request: org.apache.spark.deploy.rest.SubmitRestProtocolException: Validation of message "
                 "CreateSubmissionRequest failed!"},
                {REQUEST "\"x\":1}", "Malformed request: org.apache.spark.deploy.rest.SubmitRestProtocolException: "
                                     "Validation of message CreateSubmissionRequest failed!"},
                {REQUEST "\"sparkProperties\":{}}",
                 "Malformed request: org.apache.spark.deploy.rest.SubmitRestProtocolException: Validation of message "
                 "CreateSubmissionRequest failed!"},
                {REQUEST NATIVE "\"sparkProperties\":{\"spark.driver.cores\":\"two\"}}",
                 "Malformed request: org.apache.spark.deploy.rest.SubmitRestProtocolException: Validation of message "
                 "CreateSubmissionRequest failed!"},
                {REQUEST "\"appResource\":\"file:/x.so\",\"sparkProperties\":{}}",
                 "Malformed request: org.apache.spark.deploy.rest.SubmitRestMissingFieldException: Main class is missing."},
                {REQUEST NATIVE "\"sparkProperties\":{},\"appArgs\":\"a\"}",
                 "Malformed request: com.fasterxml.jackson."},
                {REQUEST NATIVE "\"sparkProperties\":[]}", "Malformed request: com.fasterxml.jackson."},
                {REQUEST NATIVE "\"sparkProperties\":{\"a\":{}}}", "Malformed request: com.fasterxml.jackson."},
                {REQUEST NATIVE "\"sparkProperties\":{\"spark.driver.cores\":\"1.5\"}}",
                 "Malformed request: java.lang.NumberFormatException: For input string: \"1.5\""},
                {REQUEST NATIVE "\"sparkProperties\":{\"spark.driver.resource.gpu.amount\":\"x\"}}",
                 "Malformed request: java.lang.NumberFormatException: For input string: \"x\""},
                {REQUEST NATIVE "\"sparkProperties\":{\"spark.driver.extraJavaOptions\":\"'\"}}",
                 "Malformed request: spark.driver.extraJavaOptions"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: body \"%s\", message \"%s\"", i, cases[i].body ? cases[i].body : "(none)",
                           cases[i].message ? cases[i].message : "(none)");
                create(cases[i].body);
                assert_error(400, cases[i].message);
        }
        assert_null(t.driver);
}

static void jars_are_refused_with_the_reason(void **state)
{
        static const char jar[] =
                REQUEST "\"appResource\":\"file:/a/App.JAR?x\",\"mainClass\":\"M\",\"sparkProperties\":{}}";
        create(jar);
        assert_error(400, "App.JAR");
        assert_non_null(strstr(text("message"), "App.JAR cannot run on this cluster: its master is Firesteel's"));
        assert_non_null(strstr(text("message"), "spark.firesteel.standalone.jvm=local"));
        assert_null(t.driver);
        create(REQUEST "\"appResource\":\"file:/a/app.py\",\"mainClass\":\"M\",\"sparkProperties\":{}}");
        assert_non_null(
                strstr(text("message"), "app.py cannot run on this cluster: a driver in cluster mode is a shared"));
        conf_set(&t.conf, "spark.firesteel.standalone.jvm", "local");
        create(jar);
        assert_true(json_is_true(json_object_get(t.root, "success")));
        assert_string_equal(t.driver->jar_url, "file:/a/App.JAR?x");
}

static void names_decide_what_a_driver_is(void **state)
{
        static const struct {
                const char *url;
                int result;
        } cases[] = {
                {"file:/a/app.so", 0},
                {"app.so", 0},
                {"hdfs://h/x.y/libapp.so.1.2?a=.jar", 0},
                {"file:/a/app.jar", -ENOTSUP},
                {"app.so/x", -ENOTSUP},
                {"app.soup", -ENOTSUP},
                {"app.so.jar", -ENOTSUP},
                {"", -ENOTSUP},
                {"app.so.1x", -ENOTSUP},
                {"a.so.so", 0},
                {"app.sofa.so", 0},
                {"s3a://b/k.jar#app.so", -ENOTSUP},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: url \"%s\", result %d", i, cases[i].url ? cases[i].url : "(none)",
                           cases[i].result);
                enum driver_kind kind = DRIVER_JVM;
                assert_int_equal(driver_check(cases[i].url, &t.conf, &kind, NULL), cases[i].result);
                assert_int_equal(kind, cases[i].result ? DRIVER_JVM : DRIVER_NATIVE);
        }
}

static void only_allowed_resources(void **state)
{
        conf_set(&t.conf, "spark.master.rest.allowedAppResourcePatterns", "file:/opt/.*, hdfs://[a-z]+/apps/.*");
        master_rest_free(t.server);
        start_server();
        static const struct {
                const char *url;
                bool taken;
        } cases[] = {
                {"file:/opt/a.so", true},
                {"hdfs://nn/apps/a.so", true},
                {"file:/tmp/file:/opt/a.so", false},
                {"file:/etc/a.so", false},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: url \"%s\", taken %d", i, cases[i].url ? cases[i].url : "(none)",
                           cases[i].taken);
                _cleanup_free_ char *body = mem_printf(
                        REQUEST "\"appResource\":\"%s\",\"mainClass\":\"main\",\"sparkProperties\":{}}", cases[i].url);
                create(body);
                if (cases[i].taken)
                        assert_string_equal(text("action"), "CreateSubmissionResponse");
                else
                        assert_error(400, "Malformed request: org.apache.spark.deploy.rest.SubmitRestMissingField"
                                          "Exception: Valid application jar path is required");
        }
        struct master_rest *other = NULL;
        struct fst_error error = FST_ERROR_INIT;
        conf_set(&t.conf, "spark.master.rest.allowedAppResourcePatterns", "file:(?!/etc).*");
        assert_true(master_rest_new(&t.conf, "spark://h:1", &ops, NULL, &other, &error) < 0);
        assert_non_null(strstr(error_message(&error), "allowedAppResourcePatterns"));
        error_deinit(&error);
}

static void a_standby_says_so(void **state)
{
        master_free(t.master);
        t.master = recorded_master(&t.recorder, &MASTER_CONFIG_DEFAULT);
        create(REQUEST NATIVE "\"sparkProperties\":{}}");
        assert_string_equal(text("message"),
                            "Current state is not alive: STANDBY. Can only accept driver submissions in ALIVE state.");
        ask("POST", "/v1/submissions/kill/d", "");
        assert_string_equal(text("message"),
                            "Current state is not alive: STANDBY. Can only kill drivers in ALIVE state.");
        ask("GET", "/v1/submissions/status/d", "");
        assert_string_equal(text("message"),
                            "Exception from the cluster:\njava.lang.Exception: Current state is not alive: "
                            "STANDBY. Can only request driver status in ALIVE state.");
        ask("GET", "/v1/submissions/readyz", "");
        assert_error(503, "Master is not ready.");
}

static void accepts_only_callers_with_the_token(void **state)
{
        static const struct {
                const char *authorization, *method, *path;
                int status;
        } cases[] = {
                {NULL, "POST", "/v1/submissions/killall", 401},
                {NULL, "GET", "/v1/submissions/status/driver-1", 401},
                {NULL, "GET", "/v1/submissions/unknown", 401},
                {"Bearer", "POST", "/v1/submissions/killall", 401},
                {"Bearer ", "POST", "/v1/submissions/killall", 401},
                {"Bearer 0pen-Sesame", "POST", "/v1/submissions/killall", 401},
                {"Bearer Open-Sesam", "POST", "/v1/submissions/killall", 401},
                {"Bearer Open-Sesame2", "POST", "/v1/submissions/killall", 401},
                {"Basic Open-Sesame", "POST", "/v1/submissions/killall", 401},
                {"Open-Sesame", "POST", "/v1/submissions/killall", 401},
                {"Bearer Open-Sesame", "POST", "/v1/submissions/killall", 200},
                {"bearer  Open-Sesame", "GET", "/v1/submissions/status/driver-1", 200},
                {NULL, "GET", "/v1/submissions/readyz", 200},
        };
        master_rest_free(t.server);
        conf_set(&t.conf, "spark.firesteel.rest.token", "Open-Sesame");
        start_server();
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: authorization \"%s\", method \"%s\", path \"%s\", status %d", i,
                           cases[i].authorization ? cases[i].authorization : "(none)",
                           cases[i].method ? cases[i].method : "(none)", cases[i].path ? cases[i].path : "(none)",
                           cases[i].status);
                ask_as(&(struct rest_call){.authorization = cases[i].authorization}, cases[i].method, cases[i].path,
                       "");
                if (t.status != cases[i].status)
                        fail_msg("%s %s with \"%s\": status %d, not %d", cases[i].method, cases[i].path,
                                 cases[i].authorization ? cases[i].authorization : "(none)", t.status, cases[i].status);
        }
        ask_as(&(struct rest_call){0}, "POST", "/v1/submissions/killall", "");
        assert_error(401,
                     "The request has no valid token: set spark.firesteel.rest.token to the token of this master.");
}

static void refuses_invalid_tokens(void **state)
{
        static const char *const tokens[] = {"", "two words", "a\r\nX: y", "\xc3\xa4"};
        struct master_rest *server;
        for (size_t i = 0; i < ARRAY_SIZE(tokens); i++) {
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                conf_set(&t.conf, "spark.firesteel.rest.token", tokens[i]);
                if (master_rest_new(&t.conf, "spark://h:1", &ops, NULL, &server, &error) != -EINVAL)
                        fail_msg("the token \"%s\" is accepted", tokens[i]);
                assert_non_null(strstr(error_message(&error), "spark.firesteel.rest.token is not a valid token"));
        }
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        conf_set(&t.conf, "spark.firesteel.rest.token", "good");
        conf_set(&t.conf, "spark.master.rest.filters", "org.apache.spark.ui.JWSFilter");
        conf_set(&t.conf, "spark.org.apache.spark.ui.JWSFilter.param.secretKey",
                 "dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0dGVzdHRlc3Q=");
        assert_int_equal(master_rest_new(&t.conf, "spark://h:1", &ops, NULL, &server, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "set only one of them"));
}

static void refuses_posts_that_browsers_can_send(void **state)
{
        static const struct {
                const char *label, *content_type, *origin, *body;
                int status;
        } cases[] = {
                {"spark-submit --kill", NULL, NULL, "", 200},
                {"JSON", "application/json", NULL, "", 200},
                {"JSON with a parameter", "Application/JSON; charset=utf-8", NULL, "{}", 200},
                {"a form", "application/x-www-form-urlencoded", NULL, "a=b", 415},
                {"an empty form", "application/x-www-form-urlencoded", NULL, "", 415},
                {"plain text", "text/plain", NULL, "{}", 415},
                {"a longer type", "application/jsonp", NULL, "{}", 415},
                {"no type", NULL, NULL, "{}", 415},
                {"a script of another page", NULL, "http://evil.example", "", 403},
                {"a script of another page with JSON", "application/json", "http://evil.example", "{}", 403},
                {"a sandboxed page", "application/json", "null", "{}", 403},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: label \"%s\", content_type \"%s\", origin \"%s\", body \"%s\", status %d", i,
                           cases[i].label ? cases[i].label : "(none)",
                           cases[i].content_type ? cases[i].content_type : "(none)",
                           cases[i].origin ? cases[i].origin : "(none)", cases[i].body ? cases[i].body : "(none)",
                           cases[i].status);
                struct rest_call headers = {.content_type = cases[i].content_type, .origin = cases[i].origin};
                ask_as(&headers, "POST", "/v1/submissions/killall", cases[i].body);
                if (t.status != cases[i].status)
                        fail_msg("%s: status %d, not %d", cases[i].label, t.status, cases[i].status);
        }
        ask_as(&(struct rest_call){.origin = "http://evil.example"}, "GET", "/v1/submissions/readyz", "");
        assert_int_equal(t.status, 200);
}

static void refuses_variables_of_the_dynamic_linker(void **state)
{
        static const char *const names[] = {"LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "LD_"};
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                _cleanup_free_ char *body =
                        mem_printf(REQUEST NATIVE "\"sparkProperties\":{\"spark.app.name\":\"x\"},"
                                                  "\"environmentVariables\":{\"SPARK_X\":\"1\",\"%s\":\"/x.so\"}}",
                                   names[i]);
                _cleanup_free_ char *message =
                        mem_printf("Malformed request: org.apache.spark.deploy.rest.SubmitRestProtocolException: "
                                   "environmentVariables may not set %s for the dynamic linker",
                                   names[i]);
                create(body);
                assert_error(400, message);
        }
        create(REQUEST NATIVE "\"sparkProperties\":{\"spark.app.name\":\"x\"},"
                              "\"environmentVariables\":{\"OLD_LD_PRELOAD\":\"1\"}}");
        assert_int_equal(t.status, 200);
}

static void drops_the_token_from_the_driver(void **state)
{
        submitted("\"spark.app.name\":\"x\",\"spark.firesteel.rest.token\":\"Open-Sesame\"");
        for (size_t i = 0; i < t.driver->command->n_properties; i++)
                assert_string_not_equal(t.driver->command->properties[i]->key, "spark.firesteel.rest.token");
}

/* Over a connection: requests that are too large, and clients without a token. */
static void strangers_are_kept_out(void **state)
{
        struct site_fixture f;
        struct fst_error error = FST_ERROR_INIT;
        master_rest_free(t.server);
        conf_set(&t.conf, "spark.master.rest.maxRequestBodySize", "1k");
        conf_set(&t.conf, "spark.master.rest.port", "0");
        start_server();
        site_fixture_begin(&f);
        assert_int_equal(rest_server_listen(master_rest_server(t.server), &f.loop, "127.0.0.1", &error), 0);
        int port = rest_server_port(master_rest_server(t.server));
        fixture_get(&f, port, "/v1/submissions/status/d-1?x");
        assert_int_equal(f.status, 200);
        assert_non_null(strstr(f.head, "Content-Type: application/json;charset=utf-8"));
        assert_true(fixture_says(&f, "\"submissionId\" : \"d-1\""));
        _cleanup_free_ char *large = mem_printf("%02000d", 1);
        fixture_post(&f, port, "POST /v1/submissions/create HTTP/1.1\r\nHost: h\r\n", large);
        assert_int_equal(f.status, 413);
        assert_true(fixture_says(&f, "The request body exceeds the maximum allowed size (1024 bytes). Adjust "
                                     "spark.master.rest.maxRequestBodySize to change the limit."));
        master_rest_free(t.server);
        conf_set(&t.conf, "spark.master.rest.filters", "com.example.Filter");
        assert_true(master_rest_new(&t.conf, "spark://h:1", &ops, NULL, &t.server, &error) < 0);
        assert_non_null(strstr(error_message(&error), "spark.master.rest.filters: com.example.Filter"));
        error_deinit(&error);
        conf_set(&t.conf, "spark.master.rest.filters", "org.apache.spark.ui.JWSFilter");
        conf_set(&t.conf, "spark.org.apache.spark.ui.JWSFilter.param.secretKey",
                 "dGVzdHRlc3R0ZXN0dGVzdHRlc3R0ZXN0dGVzdHRlc3Q=");
        start_server();
        assert_int_equal(rest_server_listen(master_rest_server(t.server), &f.loop, "127.0.0.1", &error), 0);
        fixture_get(&f, rest_server_port(master_rest_server(t.server)), "/v1/submissions/readyz");
        assert_int_equal(f.status, 403);
        assert_true(fixture_says(&f, "Authorization header is missing."));
        fixture_post(&f, rest_server_port(master_rest_server(t.server)),
                     "POST /v1/submissions/killall HTTP/1.1\r\nHost: h\r\n", "");
        assert_int_equal(f.status, 403);
        master_rest_free(t.server);
        t.server = NULL;
        site_fixture_end(&f);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)
        const struct CMUnitTest tests[] = {
                CASE(paths_that_are_none),
                CASE(a_driver_is_submitted_seen_and_killed),
                CASE(an_answer_waits_for_the_master),
                CASE(the_driver_is_what_was_asked_for),
                CASE(malformed_requests),
                CASE(jars_are_refused_with_the_reason),
                CASE(names_decide_what_a_driver_is),
                CASE(only_allowed_resources),
                CASE(a_standby_says_so),
                CASE(accepts_only_callers_with_the_token),
                CASE(refuses_invalid_tokens),
                CASE(refuses_posts_that_browsers_can_send),
                CASE(refuses_variables_of_the_dynamic_linker),
                CASE(drops_the_token_from_the_driver),
                CASE(strangers_are_kept_out),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
