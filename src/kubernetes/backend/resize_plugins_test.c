/* The resize plugins with a fake API server, a fake metrics server and fake claims. */
#include "kubernetes/backend/resize_plugins.h"

#include "kubernetes/api/kube_client.h"
#include "kubernetes/api/kube_fixture.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "driver/plugins.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MEMORY "spark.plugins=" PLUGIN_EXECUTOR_RESIZE
#define CLAIMS "spark.plugins=x.Y, " PLUGIN_EXECUTOR_PVC_RESIZE

static struct kube_fixture api;
static struct kube_config config;
static struct kube_client *client;
static struct resize_plugins *plugins;
static struct fst_conf conf;
static uv_loop_t loop;
static char text[512]; /* of the response in `refusal_text` */

static struct {
        const char *usage;    /* of the first executor's memory; NULL: no metrics */
        const char *capacity; /* of the claim */
        int64_t storage;      /* that the claim requests */
        int refuse;           /* status of patches; 0: 200 */
        int metrics, claims, patches;
        char target[2048], body[512], type[64];
        double disk;
} server;

/* Answers requests that the fixture does not implement: metrics, claims and their patches. */
static enum kube_fault on_request(struct kube_fixture *f, const struct fixture_exchange *x)
{
        bool patch = strcmp(x->method, "PATCH") == 0;
        f->refusal = 200;
        f->refusal_headers = "Content-Type: application/json\r\n";
        f->refusal_text = text;
        if (patch) {
                server.patches++;
                snprintf(server.target, sizeof(server.target), "%s", x->target);
                snprintf(server.body, sizeof(server.body), "%.511s", x->body);
                const char *type = strcasestr(x->head, "content-type: ");
                sscanf(type ? type : "", "%*s %63s", server.type);
                f->refusal = server.refuse ? server.refuse : 200;
                snprintf(text, sizeof(text), "{}");
        } else if (strstr(x->target, "/apis/metrics.k8s.io/v1beta1/namespaces/ns/pods/p-exec-1")) {
                server.metrics++;
                f->refusal = server.usage ? 200 : 404;
                snprintf(text, sizeof(text),
                         "{\"containers\": [{\"name\": \"side\", \"usage\": {\"memory\": \"9Gi\"}},"
                         " {\"name\": \"spark-kubernetes-executor\", \"usage\": {\"memory\": \"%s\"}}]}",
                         server.usage ? server.usage : "");
        } else if (strstr(x->target, "/persistentvolumeclaims/claim-1")) {
                server.claims++;
                snprintf(text, sizeof(text),
                         "{\"spec\": {\"resources\": {\"requests\": {\"storage\": \"%lld\"}}},"
                         " \"status\": {\"capacity\": {\"storage\": \"%s\"}}}",
                         (long long)server.storage, server.capacity);
        } else {
                return FAULT_NONE;
        }
        return FAULT_REFUSED;
}

static double disk_usage(void *owner, const char *executor_id)
{
        return strcmp(executor_id, "1") == 0 ? server.disk : -1;
}

static void add_pod(void)
{
        static const char pod[] =
                "{\"metadata\": {\"name\": \"p-exec-1\", \"labels\": {\"spark-exec-id\": \"1\"}}, \"spec\": {"
                " \"volumes\": [{\"name\": \"v\", \"persistentVolumeClaim\": {\"claimName\": \"claim-1\"}},"
                "  {\"name\": \"e\", \"emptyDir\": {}}], \"containers\": [{\"name\": \"side\"},"
                "  {\"name\": \"spark-kubernetes-executor\", \"resources\": {\"limits\": {\"memory\": \"1000Mi\"}},"
                "   \"volumeMounts\": [{\"name\": \"v\"}, {\"name\": \"e\"}, {\"name\": \"v\"}]}]}}";
        json_t *object = json_loads(pod, 0, NULL);
        assert_non_null(object);
        pthread_mutex_lock(&api.lock);
        kube_fixture_put(&api, object);
        pthread_mutex_unlock(&api.lock);
        json_decref(object);
}

static int set_up(void **state)
{
        memset(&server, 0, sizeof(server));
        server.usage = "950Mi";
        server.storage = 1000;
        server.capacity = "1000";
        server.disk = 0.6;
        kube_fixture_start(&api);
        api.fault = on_request;
        add_pod();
        config = KUBE_CONFIG_INIT;
        config.server = mem_strdup(api.http.url);
        config.namespace = mem_strdup("ns");
        config.request_timeout_ms = config.connect_timeout_ms = 60000;
        uv_loop_init(&loop);
        conf_init(&conf);
        assert_int_equal(kube_client_new(&loop, &config, NULL, &client, NULL), 0);
        kube_client_set_pause(client, 1, 4);
        return 0;
}

static int tear_down(void **state)
{
        resize_plugins_end(steal(plugins));
        kube_client_free(client);
        assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
        assert_int_equal(uv_loop_close(&loop), 0);
        kube_config_deinit(&config);
        kube_fixture_stop(&api);
        conf_deinit(&conf);
        return 0;
}

static void begin(const char *const *settings)
{
        for (; *settings; settings++) {
                const char *equals = strchr(*settings, '=');
                _cleanup_free_ char *key = mem_strndup(*settings, (size_t)(equals - *settings));
                conf_set(&conf, key, equals + 1);
        }
        const struct resize_plugins_options options = {
                .client = client, .conf = &conf, .namespace = "ns", .app_id = "app-1", .disk_usage = disk_usage};
        assert_int_equal(resize_plugins_begin(&options, &plugins, NULL), 0);
}

#define BEGIN(...) begin((const char *const[]){__VA_ARGS__, NULL})

/* Turns the loop until *@number is at least @wanted. */
static void run_until(const int *number, int wanted)
{
        for (;;) {
                pthread_mutex_lock(&api.lock);
                bool reached = *number >= wanted;
                pthread_mutex_unlock(&api.lock);
                if (reached)
                        return;
                uv_run(&loop, UV_RUN_ONCE);
        }
}

/* Runs @more rounds of the plugin and checks that it patches nothing. */
static void expect_no_patch(const int *asked, int more)
{
        run_until(asked, *asked + more);
        assert_int_equal(server.patches, 0);
}

static void memory_above_threshold_raises_limit_and_request(void **state)
{
        BEGIN(MEMORY, "spark.kubernetes.executor.resizeInterval=1ms");
        run_until(&server.patches, 1);
        assert_string_equal(server.target, "/api/v1/namespaces/ns/pods/p-exec-1/resize");
        assert_string_equal(server.type, "application/strategic-merge-patch+json");
        json_t *patch = json_loads(server.body, 0, NULL),
               *wanted = json_loads(
                       "{\"spec\": {\"containers\": [{\"name\": \"spark-kubernetes-executor\", \"resources\":"
                       " {\"limits\": {\"memory\": \"1153433600\"}, \"requests\": {\"memory\": \"1153433600\"}}}]}}",
                       0, NULL);
        assert_true(json_equal(patch, wanted)); /* 1000 MiB and a tenth */
        json_decref(patch);
        json_decref(wanted);
        assert_int_equal(server.claims, 0);
}

static void memory_follows_threshold_and_factor(void **state)
{
        server.usage = "600Mi";
        BEGIN(MEMORY, "spark.kubernetes.executor.resizeInterval=1ms", "spark.kubernetes.executor.resizeThreshold=0.5",
              "spark.kubernetes.executor.resizeFactor=1");
        run_until(&server.patches, 1);
        assert_non_null(strstr(server.body, "\"2097152000\""));
}

static void memory_below_threshold_stays(void **state)
{
        server.usage = "900Mi"; /* not more than the threshold */
        BEGIN(MEMORY, "spark.kubernetes.executor.resizeInterval=1ms");
        expect_no_patch(&server.metrics, 5);
}

static void memory_without_metrics_stays(void **state)
{
        server.usage = NULL;
        BEGIN(MEMORY, "spark.kubernetes.executor.resizeInterval=1ms");
        expect_no_patch(&server.metrics, 5);
}

static void refused_memory_is_tried_again(void **state)
{
        server.refuse = 422;
        BEGIN(MEMORY, "spark.kubernetes.executor.resizeInterval=1ms");
        run_until(&server.patches, 3);
}

static void claim_above_threshold_grows_once(void **state)
{
        BEGIN(CLAIMS, "spark.kubernetes.executor.pvc.resizeInterval=1ms",
              "spark.kubernetes.executor.pvc.resizeFactor=0.5");
        run_until(&server.patches, 1);
        assert_string_equal(server.target, "/api/v1/namespaces/ns/persistentvolumeclaims/claim-1");
        assert_string_equal(server.type, "application/strategic-merge-patch+json");
        assert_string_equal(server.body, "{\"spec\":{\"resources\":{\"requests\":{\"storage\":\"1500\"}}}}");
        run_until(&server.claims, server.claims + 4); /* the server still shows the old size */
        assert_int_equal(server.patches, 1);
        assert_int_equal(server.metrics, 0);
        server.storage = 1500;
        server.capacity = "1500";
        run_until(&server.patches, 2);
        assert_non_null(strstr(server.body, "\"2250\""));
}

static void claim_that_is_being_resized_is_left_alone(void **state)
{
        server.capacity = "999";
        BEGIN(CLAIMS, "spark.kubernetes.executor.pvc.resizeInterval=1ms");
        expect_no_patch(&server.claims, 5);
}

static void claim_that_cannot_grow_is_not_tried_again(void **state)
{
        server.refuse = 403;
        BEGIN(CLAIMS, "spark.kubernetes.executor.pvc.resizeInterval=1ms");
        run_until(&server.patches, 1);
        run_until(&api.lists, api.lists + 5);
        assert_int_equal(server.patches, 1);
}

static void claim_of_an_executor_without_report_stays(void **state)
{
        server.disk = -1;
        BEGIN(CLAIMS, "spark.kubernetes.executor.pvc.resizeInterval=1ms");
        run_until(&api.lists, 5);
        assert_int_equal(server.claims, 0);
        server.disk = 0.5; /* not more than the threshold */
        run_until(&api.lists, 10);
        assert_int_equal(server.claims, 0);
}

static void plugins_without_interval_name_or_direct_allocator_do_not_start(void **state)
{
        BEGIN("spark.kubernetes.executor.resizeInterval=1ms");
        assert_null(plugins);
        BEGIN(MEMORY, "spark.kubernetes.executor.resizeInterval=0");
        assert_null(plugins);
        BEGIN(CLAIMS, "spark.kubernetes.executor.pvc.resizeInterval=0");
        assert_null(plugins);
        BEGIN(MEMORY, "spark.kubernetes.executor.resizeInterval=1s",
              "spark.kubernetes.allocation.pods.allocator=statefulset");
        assert_null(plugins);
}

static void invalid_values_are_refused(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        const struct resize_plugins_options options = {.client = client, .conf = &conf};
        conf_set(&conf, "spark.kubernetes.executor.pvc.resizeFactor", "much");
        assert_int_equal(resize_plugins_begin(&options, &plugins, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "spark.kubernetes.executor.pvc.resizeFactor"));
        assert_null(plugins);
        error_deinit(&error);
}

static void the_end_cancels_what_runs(void **state)
{
        BEGIN("spark.plugins=" PLUGIN_EXECUTOR_RESIZE "," PLUGIN_EXECUTOR_PVC_RESIZE,
              "spark.kubernetes.executor.resizeInterval=1ms", "spark.kubernetes.executor.pvc.resizeInterval=1ms");
        run_until(&api.lists, 2);
        resize_plugins_end(steal(plugins));
        while (kube_client_pending(client))
                uv_run(&loop, UV_RUN_ONCE);
}

#define test(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
        const struct CMUnitTest tests[] = {
                test(memory_above_threshold_raises_limit_and_request),
                test(memory_follows_threshold_and_factor),
                test(memory_below_threshold_stays),
                test(memory_without_metrics_stays),
                test(refused_memory_is_tried_again),
                test(claim_above_threshold_grows_once),
                test(claim_that_is_being_resized_is_left_alone),
                test(claim_that_cannot_grow_is_not_tried_again),
                test(claim_of_an_executor_without_report_stays),
                test(plugins_without_interval_name_or_direct_allocator_do_not_start),
                test(invalid_values_are_refused),
                test(the_end_cancels_what_runs),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
