/* Submissions against a scripted API server: tests the requests, their order, and the outcome. */
#include "submit/kubernetes/kube_submit.h"

#include "base/error.h"
#include "kubernetes/api/kube_fixture.h"
#include "submit/prepare/submission.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

static struct kube_fixture api;
static struct submission s;
static struct fst_error error;
static struct buf asked; /* "POST pods\n" of each request except watches */
static int status;

/* The failure that a test injects: the reply to requests that contain `refused`. */
static const char *refused;
static int refused_with;
static const char *ending; /* the pod's status in its second watch; NULL: none, "": deleted */
static json_t *maps;       /* bodies of applied and created objects, by path */

static const char *last_part(const char *path)
{
        static char text[128];
        const char *rest = strstr(path, "/namespaces/ns/");
        snprintf(text, sizeof(text), "%s", rest ? rest + strlen("/namespaces/ns/") : path);
        text[strcspn(text, "/?")] = '\0';
        return text;
}

static void live(struct kube_fixture *a)
{
        const char *name;
        json_t *pod;
        void *next;
        if (!ending || a->step++ != 1)
                return;
        json_object_foreach_safe(a->pods, next, name, pod)
        {
                if (!*ending) {
                        kube_fixture_remove(a, name);
                        continue;
                }
                json_object_set_new(pod, "status", json_loads(ending, JSON_DECODE_ANY, NULL));
                json_incref(pod);
                kube_fixture_put(a, pod);
                json_decref(pod);
        }
}

static enum kube_fault script(struct kube_fixture *a, const struct fixture_exchange *x)
{
        bool pods = strcmp(last_part(x->target), "pods") == 0, get = strcmp(x->method, "GET") == 0;
        if (get)
                live(a);
        else
                buf_printf(&asked, "%s %s\n", x->method, last_part(x->target));
        if (refused && strstr(x->target, refused) && strcmp(x->method, "DELETE") != 0) {
                a->refusal = refused_with;
                a->refusal_text = "{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"message\":\"it is forbidden: User "
                                  "\\\"me\\\" cannot patch resource \\\"services\\\" in API group \\\"\\\" in the "
                                  "namespace \\\"ns\\\"\"}";
                return FAULT_REFUSED;
        }
        if (pods)
                return FAULT_NONE;
        bool applied = strcmp(x->method, "PATCH") == 0, created = strcmp(x->method, "POST") == 0;
        if (applied)
                assert_non_null(strstr(x->target, "?fieldManager=firesteel&force=true"));
        if (applied || created)
                json_object_set_new(maps, last_part(x->target), json_loads(x->body, 0, NULL));
        a->refusal = applied || created ? 201 : 200;
        a->refusal_text = "{\"kind\":\"Any\",\"metadata\":{\"uid\":\"u-any\"}}";
        return FAULT_REFUSED;
}

static void set(const char *key, const char *value)
{
        strmap_set(&s.conf, key, value);
}

static int begin(void **state)
{
        static const char *const words[] = {"--primary-java-resource", "local:///pi.jar", "--main-class", "a.Pi"};
        kube_fixture_start(&api);
        api.fault = script;
        s = SUBMISSION_INIT;
        asked = BUF_INIT;
        maps = json_object();
        refused = ending = NULL;
        status = -1;
        s.main_class = mem_strdup(SUBMIT_CLASS_KUBERNETES);
        for (size_t i = 0; i < ARRAY_SIZE(words); i++)
                vec_push(&s.arguments, mem_strdup(words[i]));
        _cleanup_free_ char *master = mem_printf("k8s://%s", api.http.url);
        set("spark.master", master);
        set("spark.app.name", "pi");
        set("spark.kubernetes.namespace", "ns");
        set("spark.kubernetes.container.image", "spark:1");
        set("spark.kubernetes.report.interval", "5ms");
        setenv("KUBECONFIG", "/dev/null", 1);
        unsetenv("SPARK_CONF_DIR");
        unsetenv("HADOOP_CONF_DIR");
        return 0;
}

static int end(void **state)
{
        kube_fixture_stop(&api);
        submission_deinit(&s);
        buf_deinit(&asked);
        json_decref(maps);
        error_deinit(&error);
        return 0;
}

static void assert_says(const char *part)
{
        if (!strstr(error_message(&error), part))
                fail_msg("%s", error_message(&error));
}

/* Requests after the pod run at the same time, so the test ignores their order. */
static void assert_created(void)
{
        assert_true(text_starts_with(buf_text(&asked), "POST pods\n"));
        assert_non_null(strstr(buf_text(&asked), "POST services\n"));
        assert_non_null(strstr(buf_text(&asked), "POST configmaps\n"));
        assert_non_null(strstr(buf_text(&asked), "POST networkpolicies\n"));
        assert_null(strstr(buf_text(&asked), "DELETE"));
        assert_int_equal(json_object_size(api.pods), 1);
}

static void submits_without_waiting(void **state)
{
        set("spark.kubernetes.submission.waitAppCompletion", "false");
        if (kube_submit(&s, &status, &error) != 0)
                fail_msg("%s", error_message(&error));
        assert_int_equal(status, 0);
        assert_created();
        assert_int_equal(api.lists + api.watches, 0);
        const json_t *map = json_object_get(maps, "configmaps");
        const json_t *owner = json_array_get(json_object_get(json_object_get(map, "metadata"), "ownerReferences"), 0);
        assert_string_equal(json_string_value(json_object_get(owner, "uid")), "uid-1");
        assert_string_equal(json_string_value(json_object_get(owner, "kind")), "Pod");
}

#define CONTAINER(code)                                                                                                \
        "\"containerStatuses\":[{\"name\":\"spark-kubernetes-driver\",\"state\":{\"terminated\":{\"exitCode\":" code   \
        ",\"reason\":\"Error\"}}}]"

static void exits_with_status_of_driver(void **state)
{
        static const struct {
                const char *status;
                int code;
        } ends[] = {{"{\"phase\":\"Succeeded\"," CONTAINER("0") "}", 0},
                    {"{\"phase\":\"Failed\"," CONTAINER("3") "}", 3},
                    {"{\"phase\":\"Failed\"," CONTAINER("256") "}", 1},
                    {"{\"phase\":\"Failed\",\"reason\":\"Evicted\"}", 1},
                    {"", 1}};
        for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
                CASE_LABEL("%zu of ends: status \"%s\", code %d", i, ends[i].status ? ends[i].status : "(none)",
                           ends[i].code);
                if (i)
                        begin(NULL);
                ending = ends[i].status;
                if (kube_submit(&s, &status, &error) != 0)
                        fail_msg("%s", error_message(&error));
                assert_int_equal(status, ends[i].code);
                assert_true(api.watches > 0);
                assert_true(text_starts_with(buf_text(&asked), "POST pods\nPOST "));
                assert_null(strstr(buf_text(&asked), "DELETE"));
                if (i + 1 < ARRAY_SIZE(ends))
                        end(NULL);
        }
}

/* Returns the log of kube_submit, which waits for a driver that ends with @ending_status. */
static char *wait_and_read_log(const char *ending_status)
{
        struct buf log = BUF_INIT;
        char piece[4096];
        FILE *file = tmpfile();
        int before = dup(STDERR_FILENO);
        ending = ending_status;
        dup2(fileno(file), STDERR_FILENO);
        int r = kube_submit(&s, &status, &error);
        dup2(before, STDERR_FILENO);
        close(before);
        rewind(file);
        for (size_t n; (n = fread(piece, 1, sizeof(piece), file)) > 0;)
                buf_append(&log, piece, n);
        fclose(file);
        if (r != 0)
                fail_msg("%s", error_message(&error));
        return buf_steal(&log);
}

static void failed_driver_log_is_shown_last(void **state)
{
        _cleanup_free_ char *log = wait_and_read_log("{\"phase\":\"Failed\"," CONTAINER("3") "}");
        const char *last =
                strstr(log, "Its container spark-kubernetes-driver ended with exit code 3. The last lines of "
                            "its log:\na line of the log");
        assert_non_null(last);
        assert_true(last > strstr(log, " finished\n"));
}

static void unreadable_driver_log_is_referred_to(void **state)
{
        refused = "/log?";
        refused_with = 403;
        _cleanup_free_ char *log = wait_and_read_log("{\"phase\":\"Failed\"," CONTAINER("3") "}");
        assert_non_null(strstr(log, "ended with exit code 3. For its log: kubectl logs pi-"));
        assert_non_null(strstr(log, "(this client cannot read it: "));
}

static void deleted_driver_refers_to_no_log(void **state)
{
        _cleanup_free_ char *log = wait_and_read_log("");
        assert_non_null(strstr(log, "It was deleted before it ended, and its log with it. kubectl get events "));
        assert_null(strstr(log, "kubectl logs"));
        assert_int_equal(status, 1);
}

static void refused_service_deletes_all_objects(void **state)
{
        refused = "/services";
        refused_with = 403;
        assert_int_equal(kube_submit(&s, &status, &error), -EACCES);
        assert_says("Service pi-");
        assert_says("kubectl create rolebinding");
        assert_non_null(strstr(buf_text(&asked), "DELETE pods\n"));
        assert_non_null(strstr(buf_text(&asked), "DELETE configmaps\n"));
        assert_null(strstr(buf_text(&asked), "DELETE services\n"));
        assert_int_equal(json_object_size(api.pods), 0);
}

static void rejects_existing_pod_name(void **state)
{
        set("spark.kubernetes.driver.pod.name", "taken");
        set("spark.kubernetes.driver.pod.featureSteps", "org.apache.spark.deploy.k8s.features.VolcanoFeatureStep");
        json_t *other = json_pack("{s:{s:s, s:s}}", "metadata", "name", "taken", "uid", "other");
        kube_fixture_put(&api, other);
        json_decref(other);
        assert_int_equal(kube_submit(&s, &status, &error), -EEXIST);
        assert_says("pod taken already exists in namespace ns: run kubectl delete pod taken --namespace=ns");
        assert_string_equal(buf_text(&asked), "PATCH podgroups\nPOST pods\nDELETE podgroups\n");
        assert_int_equal(json_object_size(api.pods), 1);
}

static void pod_owns_objects_created_before_it(void **state)
{
        set("spark.kubernetes.submission.waitAppCompletion", "false");
        set("spark.kubernetes.driver.pod.featureSteps", "org.apache.spark.deploy.k8s.features.VolcanoFeatureStep");
        if (kube_submit(&s, &status, &error) != 0)
                fail_msg("%s", error_message(&error));
        assert_true(text_starts_with(buf_text(&asked), "PATCH podgroups\nPOST pods\n"));
        const json_t *group = json_object_get(maps, "podgroups");
        assert_int_equal(json_array_size(json_object_get(json_object_get(group, "metadata"), "ownerReferences")), 1);
}

static void rejects_invalid_settings_before_sending(void **state)
{
        set("spark.kubernetes.submission.waitAppCompletion", "maybe");
        assert_int_equal(kube_submit(&s, &status, &error), -EINVAL);
        assert_says("It should be a/an 'boolean' value.");
        set("spark.kubernetes.submission.waitAppCompletion", "true");
        strmap_remove(&s.conf, "spark.kubernetes.container.image");
        assert_true(kube_submit(&s, &status, &error) < 0);
        assert_says("Must specify the driver container image");
        assert_int_equal(api.http.requests, 0);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)
        const struct CMUnitTest tests[] = {
                CASE(submits_without_waiting),
                CASE(exits_with_status_of_driver),
                CASE(failed_driver_log_is_shown_last),
                CASE(unreadable_driver_log_is_referred_to),
                CASE(deleted_driver_refers_to_no_log),
                CASE(refused_service_deletes_all_objects),
                CASE(rejects_existing_pod_name),
                CASE(pod_owns_objects_created_before_it),
                CASE(rejects_invalid_settings_before_sending),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
