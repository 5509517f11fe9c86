/* The executors of an application against a simulated API server. */
#include "kubernetes/backend/kube_executor_backend.h"

#define HTTP_FIXTURE_CONNECTIONS 4096

#include "kubernetes/pods/features/step_fixture.h"
#include "kubernetes/api/kube_client.h"
#include "kubernetes/api/kube_fixture.h"
#include "kubernetes/backend/pod_requests.h"

#define FAST                                                                                                           \
        "spark.driver.host=d", "spark.kubernetes.namespace=ns", "spark.kubernetes.executor.podNamePrefix=p",           \
                "spark.kubernetes.executor.eventProcessingInterval=1ms",                                               \
                "spark.kubernetes.allocation.batch.delay=101ms"

static struct kube_fixture api;
static struct kube_config config;
static struct kube_client *client;
static struct kube_executors *executors;
static struct step_fixture made;
static const char *driver_pod;
static uv_loop_t loop;

static struct {
        int removed, given_up, exit_code;
        int32_t last;
        char reason[1024];
} seen;

static void on_removed(void *owner, int32_t id, const struct exit_reason *reason)
{
        seen.removed++;
        seen.last = id;
        snprintf(seen.reason, sizeof(seen.reason), "%s", reason->message);
        kube_executors_unregistered(executors, id); /* at once, as the driver does */
}

static void on_given_up(void *owner, int exit_code, const char *message)
{
        seen.given_up++;
        seen.exit_code = exit_code;
        snprintf(seen.reason, sizeof(seen.reason), "%s", message);
}

static const struct kube_executors_ops ops = {.removed = on_removed, .given_up = on_given_up};

static int make(const char *const *conf)
{
        step_begin(&made, KUBE_EXECUTOR, conf);
        const struct kube_executors_options options = {.client = client,
                                                       .namespace = "ns",
                                                       .app_id = "app-1",
                                                       .conf = &made.c,
                                                       .settings = &made.conf,
                                                       .driver_pod = driver_pod};
        return kube_executors_new(&options, &ops, NULL, &executors, &made.error);
}

static void begin(int target, const char *const *conf)
{
        if (make(conf))
                fail_msg("%s", error_message(&made.error));
        kube_executors_set_target(executors, 0, target);
        kube_executors_start(executors);
}

static int set_up(void **state)
{
        memset(&seen, 0, sizeof(seen));
        driver_pod = NULL;
        kube_fixture_start(&api);
        config = KUBE_CONFIG_INIT;
        config.server = mem_strdup(api.http.url);
        config.namespace = mem_strdup("ns");
        config.request_timeout_ms = config.connect_timeout_ms = 60000;
        uv_loop_init(&loop);
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(kube_client_new(&loop, &config, NULL, &client, &error), 0);
        kube_client_set_pause(client, 1, 4);
        return 0;
}

static int tear_down(void **state)
{
        kube_executors_free(steal(executors));
        kube_client_free(client);
        assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
        assert_int_equal(uv_loop_close(&loop), 0);
        kube_config_deinit(&config);
        kube_fixture_stop(&api);
        step_end(&made);
        return 0;
}

/* ------------------------------------------------------------------------------------------------------ the cluster */

static json_t *pod_of(int id)
{
        char name[32];
        snprintf(name, sizeof(name), "p-exec-%d", id);
        return json_object_get(api.pods, name);
}

static bool has(int id)
{
        pthread_mutex_lock(&api.lock);
        bool found = pod_of(id) != NULL;
        pthread_mutex_unlock(&api.lock);
        return found;
}

static size_t count(void)
{
        pthread_mutex_lock(&api.lock);
        size_t n = json_object_size(api.pods);
        pthread_mutex_unlock(&api.lock);
        return n;
}

static void set_status(int id, json_t *status)
{
        pthread_mutex_lock(&api.lock);
        json_t *pod = json_deep_copy(pod_of(id));
        json_object_set_new(pod, "status", status);
        kube_fixture_put(&api, pod);
        json_decref(pod);
        pthread_mutex_unlock(&api.lock);
}

static void run_pod(int id)
{
        set_status(id, json_pack("{s:s}", "phase", "Running"));
        kube_executors_registered(executors, id);
}

static void fail_pod(int id, int code)
{
        set_status(id,
                   json_pack("{s:s, s:[{s:s, s:{s:{s:i, s:s}}}]}", "phase", "Failed", "containerStatuses", "name",
                             "spark-kubernetes-executor", "state", "terminated", "exitCode", code, "reason", "Error"));
}

#define run_until(condition)                                                                                           \
        while (!(condition))                                                                                           \
        uv_run(&loop, UV_RUN_ONCE)

static int faults_left; /* like fault_method, under the server's lock */
static const char *fault_method;

static enum kube_fault refuse(struct kube_fixture *server, const struct fixture_exchange *x)
{
        if (faults_left == 0 || strcmp(x->method, fault_method) != 0)
                return FAULT_NONE;
        faults_left -= faults_left > 0;
        return FAULT_REFUSED;
}

static bool faults_remain(void)
{
        pthread_mutex_lock(&api.lock);
        bool remain = faults_left > 0;
        pthread_mutex_unlock(&api.lock);
        return remain;
}

static void refuse_next(int n, const char *method, int status, const char *text)
{
        pthread_mutex_lock(&api.lock);
        faults_left = n;
        fault_method = method;
        api.refusal = status;
        api.refusal_headers = "Content-Type: application/json\r\n";
        api.refusal_text = text;
        api.fault = refuse;
        pthread_mutex_unlock(&api.lock);
}

/* ---------------------------------------------------------------------------------------------------------- tests */

static void replaces_failed_executors(void **state)
{
        begin(2, settings(FAST));
        run_until(count() == 2);
        run_pod(1);
        run_pod(2);
        fail_pod(1, 3);
        run_until(!has(1) && has(3) && kube_executors_refuse(executors, 1));
        assert_int_equal(seen.removed, 1);
        assert_int_equal(seen.last, 1);
        assert_non_null(strstr(seen.reason, "The executor with id 1 exited with exit code 3"));
        assert_false(kube_executors_refuse(executors, 2));
        kube_executors_stop(executors);
        run_until(kube_executors_drained(executors));
        assert_int_equal(count(), 0);
        assert_int_equal(seen.given_up, 0);
}

static void lower_target_kills_executors(void **state)
{
        begin(3, settings(FAST, "spark.kubernetes.dynamicAllocation.deleteGracePeriod=1ms",
                          "spark.kubernetes.executor.decommissionLabel=going"));
        run_until(count() == 3);
        for (int id = 1; id <= 3; id++)
                run_pod(id);
        run_until(kube_executors_running(executors) == 3);
        kube_executors_set_target(executors, 0, 2);
        refuse_next(-1, "DELETE", 500, "{}"); /* the label comes first */
        kube_executors_kill(executors, 2);
        pthread_mutex_lock(&api.lock);
        const json_t *labels = NULL;
        while (!json_object_get(labels, "going")) {
                pthread_mutex_unlock(&api.lock);
                uv_run(&loop, UV_RUN_ONCE);
                pthread_mutex_lock(&api.lock);
                labels = json_object_get(json_object_get(pod_of(2), "metadata"), "labels");
        }
        api.fault = NULL;
        pthread_mutex_unlock(&api.lock);
        run_until(!has(2));
        run_until(seen.removed == 1);
        assert_int_equal(seen.last, 2);
        assert_int_equal(count(), 2);
}

static void waits_for_quota(void **state)
{
        refuse_next(1, "POST", 403,
                    "{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"code\":403,\"message\":\"pods \\\"p-exec-1\\\" is "
                    "forbidden: exceeded quota: few, requested: pods=1, used: pods=2, limited: pods=2\"}");
        begin(1, settings(FAST));
        run_until(count() == 1);
        assert_false(faults_remain());
        assert_int_equal(seen.given_up, 0);
}

static const char no_list[] =
        "{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"code\":403,\"message\":\"pods is forbidden: User \\\"alice\\\" cannot "
        "list resource \\\"pods\\\" in API group \\\"\\\" in the namespace \\\"ns\\\"\",\"details\":{\"kind\":\"pods\"}}";

/* The server's response while it loads RBAC. */
static void retries_403_of_fresh_server(void **state)
{
        refuse_next(2, "GET", 403, no_list);
        begin(1, settings(FAST));
        run_until(count() == 1);
        run_pod(1);
        run_until(kube_executors_running(executors) == 1);
        refuse_next(5, "GET", 403, no_list);
        fail_pod(1, 1);
        run_until(has(2));
        assert_int_equal(seen.given_up, 0);
}

static void gives_up_after_repeated_403(void **state)
{
        refuse_next(-1, "GET", 403, no_list);
        begin(1, settings(FAST));
        run_until(seen.given_up);
        assert_int_equal(seen.exit_code, 1);
        assert_non_null(strstr(seen.reason, "alice"));
        assert_non_null(strstr(seen.reason, "kubectl create rolebinding"));
}

static void too_many_failures_stop_application(void **state)
{
        begin(1, settings(FAST, "spark.executor.maxNumFailures=2"));
        for (int id = 1; !seen.given_up; id++) {
                run_until(has(id) || seen.given_up);
                if (has(id))
                        fail_pod(id, 1);
                run_until(!has(id) || seen.given_up);
        }
        assert_int_equal(seen.given_up, 1);
        assert_int_equal(seen.exit_code, 11);
}

static void works_with_lists_instead_of_watch(void **state)
{
        begin(1, settings(FAST, "spark.kubernetes.executor.enableApiWatcher=false",
                          "spark.kubernetes.executor.apiPollingInterval=5ms"));
        run_until(count() == 1);
        run_pod(1);
        fail_pod(1, 1);
        run_until(has(2));
        assert_int_equal(seen.removed, 1);
        assert_int_equal(api.watches, 0);
}

static void keeps_ended_pods_without_delete_on_termination(void **state)
{
        begin(1, settings(FAST, "spark.kubernetes.executor.deleteOnTermination=false"));
        run_until(count() == 1);
        run_pod(1);
        fail_pod(1, 1);
        const json_t *inactive = NULL;
        while (!inactive) {
                uv_run(&loop, UV_RUN_ONCE);
                pthread_mutex_lock(&api.lock);
                inactive = json_object_get(json_object_get(json_object_get(pod_of(1), "metadata"), "labels"),
                                           "spark-exec-inactive");
                pthread_mutex_unlock(&api.lock);
        }
        run_until(has(2));
        kube_executors_stop(executors);
        run_until(kube_executors_drained(executors));
        assert_int_equal(count(), 2);
}

static void deletes_pod_created_after_stop(void **state)
{
        refuse_next(2, "POST", 503, "{}");
        begin(1, settings(FAST));
        while (faults_remain())
                uv_run(&loop, UV_RUN_ONCE);
        kube_executors_stop(executors); /* while the client retries the creation */
        run_until(kube_executors_drained(executors));
        assert_int_equal(api.creations, 1);
        assert_int_equal(count(), 0);
}

static struct buf requests_seen; /* "log ", "delete " */

static enum kube_fault log_is_late(struct kube_fixture *server, const struct fixture_exchange *x)
{
        bool log = strstr(x->target, "/log") != NULL;
        if (log || (strcmp(x->method, "DELETE") == 0 && strstr(x->target, "/pods")))
                buf_puts(&requests_seen, log ? "log " : "delete ");
        return log && server->step++ == 0 ? FAULT_REFUSED : FAULT_NONE;
}

static void reads_log_of_failed_pod_before_final_deletion(void **state)
{
        begin(1, settings(FAST));
        run_until(count() == 1);
        run_pod(1);
        run_until(kube_executors_running(executors) == 1);
        refuse_next(0, "", 503, "{}");
        pthread_mutex_lock(&api.lock);
        api.fault = log_is_late;
        pthread_mutex_unlock(&api.lock);
        fail_pod(1, 3);
        run_until(seen.removed == 1);
        kube_executors_stop(executors);
        run_until(kube_executors_drained(executors));
        assert_true(text_starts_with(buf_text(&requests_seen), "log log delete "));
        assert_int_equal(count(), 0);
        buf_deinit(&requests_seen);
}

#define CLAIM "spark.kubernetes.executor.volumes.persistentVolumeClaim.d."
#define CLAIM_TEXT(name)                                                                                               \
        "{\"metadata\": {\"name\": \"" name "\", \"creationTimestamp\": \"2020-01-01T00:00:00Z\"}, \"spec\": "         \
        "{\"storageClassName\": \"s\", \"resources\": {\"requests\": {\"storage\": \"1Gi\"}}}}"

/* One claim is free. Others may be created. */
static enum kube_fault one_claim_is_free(struct kube_fixture *server, const struct fixture_exchange *x)
{
        if (!strstr(x->target, "/persistentvolumeclaims"))
                return FAULT_NONE;
        const bool is_post = strcmp(x->method, "POST") == 0;
        server->refusal = is_post ? 201 : 200;
        server->refusal_headers = "Content-Type: application/json\r\n";
        server->refusal_text = is_post ? CLAIM_TEXT("new") : "{\"items\": [" CLAIM_TEXT("left-behind") "]}";
        server->step += is_post;
        return FAULT_REFUSED;
}

static int mounts_of(const char *claim)
{
        const char *name;
        const json_t *pod, *volume;
        size_t i;
        int n = 0;
        pthread_mutex_lock(&api.lock);
        json_object_foreach(api.pods, name, pod)
                json_array_foreach(json_object_get(json_object_get(pod, "spec"), "volumes"), i, volume) {
                        const char *its = json_string_value(
                                json_object_get(json_object_get(volume, "persistentVolumeClaim"), "claimName"));
                        n += its && strcmp(its, claim) == 0;
                }
        pthread_mutex_unlock(&api.lock);
        return n;
}

static void mounts_free_claim_once_and_creates_others(void **state)
{
        api.fault = one_claim_is_free;
        driver_pod = "driver";
        begin(3,
              settings(FAST, CLAIM "mount.path=/d", CLAIM "options.claimName=OnDemand", CLAIM "options.storageClass=s",
                       CLAIM "options.sizeLimit=1Gi", "spark.kubernetes.driver.service.publishNotReadyAddresses=true"));
        run_until(count() == 3);
        run_until(api.step == 2);
        assert_int_equal(mounts_of("left-behind"), 1);
        assert_int_equal(seen.given_up + seen.removed, 0);
}

static void reports_pods_that_cannot_be_built(void **state)
{
        assert_int_equal(make(settings(FAST, "spark.executor.memory=lots")), -EINVAL);
        assert_non_null(error_message(&made.error));
        executors = NULL;
        step_end(&made);
        assert_int_equal(make(settings(FAST, "spark.kubernetes.executor.enableApiWatcher=false",
                                       "spark.kubernetes.executor.enableApiPolling=false")),
                         -EINVAL);
        assert_non_null(strstr(error_message(&made.error), "needs one of them to see its executors"));
        executors = NULL;
        step_end(&made);
        assert_int_equal(make(settings(FAST, "spark.kubernetes.allocation.pods.allocator=statefulset")), -ENOTSUP);
        assert_non_null(strstr(error_message(&made.error), "statefulset"));
        executors = NULL;
}

#define test(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
        const struct CMUnitTest tests[] = {
                test(replaces_failed_executors),
                test(lower_target_kills_executors),
                test(waits_for_quota),
                test(retries_403_of_fresh_server),
                test(gives_up_after_repeated_403),
                test(too_many_failures_stop_application),
                test(works_with_lists_instead_of_watch),
                test(keeps_ended_pods_without_delete_on_termination),
                test(deletes_pod_created_after_stop),
                test(mounts_free_claim_once_and_creates_others),
                test(reports_pods_that_cannot_be_built),
                test(reads_log_of_failed_pod_before_final_deletion),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
