/* --kill and --status: their requests and output. */
#include "kubernetes/driver/kube_submit_operation.h"

#include "base/error.h"
#include "base/strmap.h"
#include "kubernetes/api/kube_fixture.h"
#include "kubernetes/api/kube_names.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct kube_fixture api;
static struct strmap conf;
static struct fst_error error;
static struct buf requests_seen;
static char *master, *output;

static enum kube_fault note(struct kube_fixture *a, const struct fixture_exchange *x)
{
        buf_printf(&requests_seen, "%s %s%s%s\n", x->method, x->target, x->body_len ? " " : "",
                   x->body_len ? x->body : "");
        return FAULT_NONE;
}

static void put(const char *name)
{
        json_t *pod = json_pack("{s:{s:s, s:s}}", "metadata", "name", name, "namespace", "ns");
        kube_fixture_put(&api, pod);
        json_decref(pod);
}

static int begin(void **state)
{
        kube_fixture_start(&api);
        api.fault = note;
        requests_seen = BUF_INIT;
        conf = STRMAP_INIT;
        master = mem_printf("k8s://%s", api.http.url);
        strmap_set(&conf, "spark.master", master);
        setenv("KUBECONFIG", "/dev/null", 1);
        put("app-1");
        put("app-2");
        put("other");
        return 0;
}

static int end(void **state)
{
        kube_fixture_stop(&api);
        buf_deinit(&requests_seen);
        strmap_deinit(&conf);
        error_deinit(&error);
        free(master);
        free(steal(output));
        return 0;
}

/* Fills the two names into @first. */
static char *show(const char *first, const char *id)
{
        _cleanup_free_ char *half = kube_replace(first, "<ID>", id);
        return kube_replace(half, "<MASTER>", master);
}

/* Runs the operation. `output` is its standard error after the first line, which names @id and the master. */
static int operate(int (*what)(const char *, const char *, const struct strmap *, struct fst_error *), const char *id,
                   const char *first)
{
        char text[4096];
        FILE *file = tmpfile();
        int before = dup(STDERR_FILENO);
        fflush(stderr);
        dup2(fileno(file), STDERR_FILENO);
        int r = what(master, id, &conf, &error);
        fflush(stderr);
        dup2(before, STDERR_FILENO);
        close(before);
        rewind(file);
        text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
        fclose(file);
        _cleanup_free_ char *line = *first ? show(first, id) : mem_strdup("");
        free(steal(output));
        if (r == 0 && !text_starts_with(text, line))
                fail_msg("%s", text);
        output = mem_strdup(r == 0 ? text + strlen(line) : text);
        return r;
}

#define KILL "Submitting a request to kill submission <ID> in <MASTER>. Grace period in secs: "
#define STATUS "Submitting a request for the status of submission <ID> in <MASTER>.\n"
#define BACKGROUND "\"propagationPolicy\":\"Background\",\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\"}\n"

static void kills_driver_by_exact_name(void **state)
{
        assert_int_equal(operate(kube_kill, "ns:app-1", KILL "not set.\n"), 0);
        assert_string_equal(output, "");
        assert_string_equal(buf_text(&requests_seen), "GET /api/v1/namespaces/ns/pods/app-1\n"
                                                      "DELETE /api/v1/namespaces/ns/pods/app-1 {" BACKGROUND);
        assert_int_equal(json_object_size(api.pods), 2);
}

static void kills_all_drivers_of_prefix(void **state)
{
        strmap_set(&conf, "spark.kubernetes.appKillPodDeletionGracePeriod", "2m");
        assert_int_equal(operate(kube_kill, "ns:app-*", KILL "120\n"), 0);
        assert_string_equal(output, "Deleting driver pod: app-1.\nDeleting driver pod: app-2.\n");
        assert_true(text_starts_with(buf_text(&requests_seen),
                                     "GET /api/v1/namespaces/ns/pods?labelSelector=spark-role%3Ddriver"));
        assert_non_null(strstr(buf_text(&requests_seen),
                               "DELETE /api/v1/namespaces/ns/pods/app-2 {\"gracePeriodSeconds\":120,"));
        assert_int_equal(json_object_size(api.pods), 1);
        assert_non_null(json_object_get(api.pods, "other"));
}

static void prints_status_of_pod_without_status(void **state)
{
        assert_int_equal(operate(kube_status, "ns:other", STATUS), 0);
        assert_string_equal(output,
                            "Application status (driver): \n\t pod name: other\n\t namespace: ns\n\t labels: N/A\n"
                            "\t pod uid: N/A\n\t creation time: N/A\n\t service account name: N/A\n\t volumes: N/A\n"
                            "\t node name: N/A\n\t start time: N/A\n\t phase: N/A\n\t container status: N/A\n");
}

/* Spark's output for the same pod. */
static void prints_status_as_spark(void **state)
{
        json_t *pod = json_loads(
                "{\"metadata\":{\"name\":\"app-2\",\"namespace\":\"ns\",\"uid\":\"u\",\"labels\":{\"spark-role\":\"driver\","
                "\"a\":\"b\"},\"creationTimestamp\":\"2026-01-02T03:04:05Z\"},\"spec\":{\"serviceAccountName\":\"sa\","
                "\"nodeName\":\"node-1\",\"volumes\":[{\"name\":\"v1\"},{\"name\":\"v2\"}]},\"status\":{\"phase\":"
                "\"Failed\",\"startTime\":\"2026-01-02T03:04:06Z\",\"containerStatuses\":[{\"name\":\"c\",\"image\":"
                "\"spark:4.3\",\"state\":{\"terminated\":{\"startedAt\":\"2026-01-02T03:04:07Z\",\"finishedAt\":"
                "\"2026-01-02T04:04:07Z\",\"exitCode\":137,\"reason\":\"OOMKilled\"}}},{\"name\":\"side\",\"image\":"
                "\"spark:4.3\",\"state\":{}}]}}",
                0, NULL);
        assert_non_null(pod);
        kube_fixture_put(&api, pod);
        json_decref(pod);
        assert_int_equal(operate(kube_status, "ns:app-2", STATUS), 0);
        assert_string_equal(
                output,
                "Application status (driver): \n\t pod name: app-2\n\t namespace: ns\n\t labels: spark-role -> driver, a -> "
                "b\n\t pod uid: u\n\t creation time: 2026-01-02T03:04:05Z\n\t service account name: sa\n\t volumes: v1, "
                "v2\n\t node name: node-1\n\t start time: 2026-01-02T03:04:06Z\n\t phase: Failed\n\t container status: "
                "\n\t\t container name: c\n\t\t container image: spark:4.3\n\t\t container state: terminated\n\t\t "
                "container started at: 2026-01-02T03:04:07Z\n\t\t container finished at: 2026-01-02T04:04:07Z\n\t\t exit "
                "code: 137\n\t\t termination reason: OOMKilled\n\n\n\t\t container name: side\n\t\t container image: "
                "spark:4.3\n\t\t container state: N/A\n");
}

static void prints_not_found_for_unknown_driver(void **state)
{
        assert_int_equal(operate(kube_status, "ns:none", STATUS), 0);
        assert_string_equal(output, "Application not found.\n");
        assert_int_equal(operate(kube_kill, "ns:none*", KILL "not set.\n"), 0);
        assert_string_equal(output, "No applications found.\n");
        assert_null(strstr(buf_text(&requests_seen), "DELETE"));
}

static void rejects_invalid_id_without_request(void **state)
{
        assert_int_equal(operate(kube_kill, "ns:", ""), -EINVAL);
        assert_int_equal(operate(kube_status, ":x", ""), -EINVAL);
        strmap_set(&conf, "spark.kubernetes.appKillPodDeletionGracePeriod", "soon");
        assert_int_equal(operate(kube_kill, "ns:app-1", ""), -EINVAL);
        assert_non_null(strstr(error_message(&error), "It should be a/an 'time in SECONDS' value. SQLSTATE: 22022"));
        assert_int_equal(api.http.requests, 0);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)
        const struct CMUnitTest tests[] = {
                CASE(kills_driver_by_exact_name),
                CASE(kills_all_drivers_of_prefix),
                CASE(prints_status_of_pod_without_status),
                CASE(prints_not_found_for_unknown_driver),
                CASE(prints_status_as_spark),
                CASE(rejects_invalid_id_without_request),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
