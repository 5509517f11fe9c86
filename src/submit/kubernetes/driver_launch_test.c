/* Launches that are stopped or lose replies: tests the remaining objects and the messages. */
#include "submit/kubernetes/driver_launch.h"

#include "base/error.h"
#include "submit/kubernetes/driver_plan.h"
#include "kubernetes/api/kube_client.h"
#include "kubernetes/api/kube_fixture.h"
#include "submit/prepare/submission.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct kube_fixture api;
static struct submission s;
static struct driver_plan plan;
static uv_loop_t loop;
static struct kube_client *client;
static struct driver_launch *launch;
static struct fst_error error;
static struct buf asked; /* "POST pods\n" of each request */
static bool over;
static int result;

/* The failure of the first request, or of all requests, whose method and path begin with this. */
static const char *faulty;
static enum kube_fault fault;
static int faults_left;
static bool services_exist;

static enum kube_fault script(struct kube_fixture *a, const struct fixture_exchange *x)
{
        const char *rest = strstr(x->target, "/namespaces/ns/");
        _cleanup_free_ char *what = mem_printf("%s %s", x->method, rest ? rest + strlen("/namespaces/ns/") : x->target);
        buf_printf(&asked, "%.*s\n", (int)strcspn(what, "?/"), what);
        if (faulty && text_starts_with(what, faulty) && faults_left-- > 0)
                return fault;
        if (strstr(x->target, "/pods"))
                return FAULT_NONE;
        a->refusal = strcmp(x->method, "DELETE") == 0 ? 200 : 201;
        a->refusal_text = "{\"kind\":\"Any\",\"metadata\":{\"uid\":\"u-any\"}}";
        if (services_exist && text_starts_with(what, "POST services")) {
                a->refusal = 409;
                a->refusal_text = "{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":\"AlreadyExists\"}";
        }
        return FAULT_REFUSED;
}

static int begin(void **state)
{
        static const char *const words[] = {"--primary-java-resource", "local:///pi.jar", "--main-class", "a.Pi"};
        kube_fixture_start(&api);
        api.fault = script;
        s = SUBMISSION_INIT;
        plan = DRIVER_PLAN_INIT;
        asked = BUF_INIT;
        faulty = NULL;
        services_exist = false;
        faults_left = 1 << 20;
        over = false;
        result = -1;
        s.main_class = mem_strdup(SUBMIT_CLASS_KUBERNETES);
        for (size_t i = 0; i < ARRAY_SIZE(words); i++)
                vec_push(&s.arguments, mem_strdup(words[i]));
        _cleanup_free_ char *master = mem_printf("k8s://%s", api.http.url);
        strmap_set(&s.conf, "spark.master", master);
        strmap_set(&s.conf, "spark.app.name", "pi");
        strmap_set(&s.conf, "spark.kubernetes.namespace", "ns");
        strmap_set(&s.conf, "spark.kubernetes.container.image", "spark:1");
        setenv("KUBECONFIG", "/dev/null", 1);
        unsetenv("HADOOP_CONF_DIR");
        return 0;
}

static int end(void **state)
{
        driver_launch_free(launch);
        kube_client_free(client);
        uv_run(&loop, UV_RUN_DEFAULT);
        uv_loop_close(&loop);
        kube_fixture_stop(&api);
        driver_plan_deinit(&plan);
        submission_deinit(&s);
        buf_deinit(&asked);
        error_deinit(&error);
        return 0;
}

static void on_done(void *owner, int r, const struct fst_error *why)
{
        over = true;
        result = r;
        if (r < 0)
                error_set(&error, r, "%s", error_message(why));
}

static void finish(void)
{
        while (!over)
                uv_run(&loop, UV_RUN_ONCE);
}

/* Makes plan and client. Sets the pause before a retry. */
static void prepare(int64_t pause_ms)
{
        assert_int_equal(driver_plan_read(&plan, &s, &error), 0);
        assert_int_equal(driver_plan_make(&plan, &error), 0);
        uv_loop_init(&loop);
        assert_int_equal(kube_client_new(&loop, &plan.server, NULL, &client, &error), 0);
        kube_client_set_pause(client, pause_ms, pause_ms);
}

static void start(int64_t pause_ms)
{
        prepare(pause_ms);
        launch = driver_launch_begin(client, &plan, on_done, NULL);
}

/* Continues a launch that ended with its pod. */
static void resume(void)
{
        prepare(1);
        json_t *pod = json_deep_copy(driver_plan_pod(&plan));
        json_object_set_new(json_object_get(pod, "metadata"), "uid", json_string("u-pod"));
        kube_fixture_put(&api, pod);
        launch = driver_launch_resume(client, &plan, pod, on_done, NULL);
        json_decref(pod);
        assert_false(over);
        finish();
}

static void wait_for_requests(int n)
{
        while (api.http.requests < n)
                uv_run(&loop, UV_RUN_NOWAIT);
}

enum { HOUR_MS = 3600000 };

static void stop_does_not_wait_for_unreachable_server(void **state)
{
        faulty = "POST pods";
        fault = FAULT_CLOSE;
        start(HOUR_MS);
        wait_for_requests(1);
        driver_launch_stop(launch);
        finish();
        assert_int_equal(result, FST_LAUNCH_E_STOPPED);
        assert_null(driver_launch_pod(launch));
}

static void stop_at_once_sends_nothing(void **state)
{
        start(HOUR_MS);
        driver_launch_stop(launch);
        finish();
        assert_int_equal(result, FST_LAUNCH_E_STOPPED);
        assert_int_equal(api.http.requests, 0);
}

/* The pod is created, its reply is lost, and the launch does not wait for a retry. */
static void deletes_pod_after_lost_reply(void **state)
{
        static const char *const names[] = {NULL, "mine"};
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                if (i) {
                        end(NULL);
                        begin(NULL);
                        strmap_set(&s.conf, "spark.kubernetes.driver.pod.name", names[i]);
                }
                faulty = "POST pods";
                fault = FAULT_LOST;
                start(HOUR_MS);
                wait_for_requests(1);
                driver_launch_stop(launch);
                finish();
                assert_int_equal(result, FST_LAUNCH_E_STOPPED);
                assert_int_equal(api.creations, 1);
                assert_int_equal(json_object_size(api.pods), 0);
        }
}

static void keeps_existing_pod_of_same_name(void **state)
{
        strmap_set(&s.conf, "spark.kubernetes.driver.pod.name", "taken");
        json_t *other = json_pack("{s:{s:s, s:s, s:{s:s}}}", "metadata", "name", "taken", "uid", "other", "labels",
                                  "spark-app-selector", "spark-other");
        kube_fixture_put(&api, other);
        json_decref(other);
        faulty = "POST pods";
        fault = FAULT_LOST;
        faults_left = 1;
        start(1);
        finish();
        assert_int_equal(result, -EEXIST);
        assert_int_equal(json_object_size(api.pods), 1);
        assert_null(strstr(buf_text(&asked), "DELETE"));
}

/* The conflict is not the pod's, so that no caller takes it for an earlier submission of the same driver. */
static void reports_existing_object_of_another_owner(void **state)
{
        services_exist = true;
        start(1);
        finish();
        assert_int_equal(result, -EINVAL);
        assert_non_null(strstr(error_message(&error), "Service pi-"));
        assert_int_equal(json_object_size(api.pods), 0);
}

/* A reply that is lost in the last allowed attempt. */
static void deletes_objects_after_lost_replies(void **state)
{
        faulty = "POST services";
        fault = FAULT_CLOSE;
        start(1);
        finish();
        assert_true(result < 0);
        assert_non_null(
                strstr(error_message(&error), "an object that the driver's pod needs cannot be created: Service pi-"));
        assert_int_equal(json_object_size(api.pods), 0);
        assert_non_null(strstr(buf_text(&asked), "DELETE pods\n"));
        assert_non_null(strstr(buf_text(&asked), "DELETE services\n"));
        assert_non_null(strstr(buf_text(&asked), "DELETE configmaps\n"));
        assert_null(driver_launch_pod(launch));
}

static void stop_after_pod_completes_launch(void **state)
{
        start(HOUR_MS);
        while (!driver_launch_pod(launch))
                uv_run(&loop, UV_RUN_ONCE);
        driver_launch_stop(launch);
        finish();
        assert_int_equal(result, 0);
        assert_non_null(driver_launch_pod(launch));
        assert_int_equal(json_object_size(api.pods), 1);
        assert_non_null(strstr(buf_text(&asked), "POST services\n"));
        assert_non_null(strstr(buf_text(&asked), "POST configmaps\n"));
}

static void resumed_launch_creates_missing_objects(void **state)
{
        services_exist = true;
        resume();
        assert_int_equal(result, 0);
        assert_string_equal(
                json_string_value(json_object_get(json_object_get(driver_launch_pod(launch), "metadata"), "uid")),
                "u-pod");
        assert_null(strstr(buf_text(&asked), "POST pods\n"));
        assert_null(strstr(buf_text(&asked), "DELETE"));
        assert_non_null(strstr(buf_text(&asked), "POST services\n"));
        assert_non_null(strstr(buf_text(&asked), "POST configmaps\n"));
}

static void resumed_launch_that_fails_deletes_its_pod(void **state)
{
        faulty = "POST configmaps";
        fault = FAULT_CLOSE;
        resume();
        assert_true(result < 0);
        assert_int_equal(json_object_size(api.pods), 0);
        assert_non_null(strstr(buf_text(&asked), "DELETE services\n"));
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)
        const struct CMUnitTest tests[] = {
                CASE(stop_does_not_wait_for_unreachable_server),
                CASE(stop_at_once_sends_nothing),
                CASE(deletes_pod_after_lost_reply),
                CASE(keeps_existing_pod_of_same_name),
                CASE(reports_existing_object_of_another_owner),
                CASE(deletes_objects_after_lost_replies),
                CASE(stop_after_pod_completes_launch),
                CASE(resumed_launch_creates_missing_objects),
                CASE(resumed_launch_that_fails_deletes_its_pod),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
