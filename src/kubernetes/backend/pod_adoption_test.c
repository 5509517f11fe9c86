/* The pods of an earlier driver's executors at a simulated API server: taken over, deleted, or left alone. */
#include "kubernetes/backend/pod_adoption.h"

#include "kubernetes/api/kube_client.h"
#include "kubernetes/api/kube_fixture.h"
#include "kubernetes/api/kube_names.h"
#include "kubernetes/api/pod_fixture.h"
#include "kubernetes/pods/features/step_fixture.h"

#define OWNER "{'apiVersion': 'batch/v1', 'kind': 'Job', 'name': 'saves', 'uid': 'u-1'}"

static struct kube_fixture api;
static struct kube_config config;
static struct kube_client *client;
static struct step_fixture made;
static json_t *owner;
static uv_loop_t loop;
static struct {
        int patches, deletions;
        char listed[512];    /* the target of the list */
        char deleted[1024];  /* the bodies of deletions */
        const char *refused; /* the method that is refused */
} seen;

/* Notes requests, and refuses those of a method. */
static enum kube_fault note(struct kube_fixture *fixture, const struct fixture_exchange *x)
{
        seen.patches += strcmp(x->method, "PATCH") == 0;
        seen.deletions += strcmp(x->method, "DELETE") == 0;
        if (strcmp(x->method, "GET") == 0)
                snprintf(seen.listed, sizeof(seen.listed), "%.511s", x->target);
        if (strcmp(x->method, "DELETE") == 0)
                strncat(seen.deleted, x->body, sizeof(seen.deleted) - strlen(seen.deleted) - 1);
        return seen.refused && strcmp(x->method, seen.refused) == 0 ? FAULT_REFUSED : FAULT_NONE;
}

static int set_up(void **state)
{
        memset(&seen, 0, sizeof(seen));
        kube_fixture_start(&api);
        api.fault = note;
        api.refusal = 403;
        api.refusal_headers = "Content-Type: application/json\r\n";
        api.refusal_text = "{\"kind\":\"Status\",\"code\":403,\"reason\":\"Forbidden\",\"message\":\"you may not\"}";
        config = KUBE_CONFIG_INIT;
        config.server = mem_strdup(api.http.url);
        config.namespace = mem_strdup("ns");
        config.request_timeout_ms = config.connect_timeout_ms = 60000;
        uv_loop_init(&loop);
        assert_int_equal(kube_client_new(&loop, &config, NULL, &client, NULL), 0);
        kube_client_set_pause(client, 1, 4);
        step_begin(&made, KUBE_EXECUTOR, settings("spark.driver.host=d", "spark.kubernetes.namespace=ns"));
        made.c.app_id = "app-2";
        owner = json_text(OWNER);
        made.c.lasting_owner = owner;
        made.c.executor_id = NULL;
        return 0;
}

static int tear_down(void **state)
{
        kube_client_free(client);
        assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
        assert_int_equal(uv_loop_close(&loop), 0);
        kube_config_deinit(&config);
        kube_fixture_stop(&api);
        step_end(&made);
        json_decref(owner);
        return 0;
}

/* An executor's pod of the earlier driver, whose profile is 7. */
static void put_pod(int id, const char *phase, bool leaving)
{
        _cleanup_json_ json_t *pod = pod_in(id, 7, phase);
        if (leaving)
                pod_leaving(pod);
        pthread_mutex_lock(&api.lock);
        kube_fixture_put(&api, pod);
        pthread_mutex_unlock(&api.lock);
}

static const json_t *metadata_at(int id)
{
        char name[32];
        snprintf(name, sizeof(name), "app-exec-%d", id);
        return json_object_get(json_object_get(api.pods, name), "metadata");
}

static const char *label_of(int id, const char *label)
{
        return json_string_value(json_object_get(json_object_get(metadata_at(id), "labels"), label));
}

static int adopt(struct expected_pod *expected, size_t n, bool delete_others, struct fst_error *error)
{
        return pod_adoption_run(&(struct pod_adoption){.client = client,
                                                       .namespace = "ns",
                                                       .conf = &made.c,
                                                       .journal = "0123abcd",
                                                       .delete_others = delete_others,
                                                       .expected = expected,
                                                       .n = n},
                                error);
}

static void marks_pods_by_the_place_of_the_journal(void **state)
{
        _cleanup_free_ char *a = pod_adoption_mark(&made.conf, "/journals", "app-1");
        assert_string_equal(conf_get_raw(&made.conf, "spark.kubernetes.executor.label.firesteel-journal"), a);
        _cleanup_free_ char *same = pod_adoption_mark(&made.conf, "/journals", "app-1");
        _cleanup_free_ char *other = pod_adoption_mark(&made.conf, "/journals", "app-2");
        _cleanup_free_ char *elsewhere = pod_adoption_mark(&made.conf, "/others", "app-1");
        assert_string_equal(a, same);
        assert_true(strlen(a) <= MAX_KUBE_LABEL);
        assert_string_not_equal(a, other);
        assert_string_not_equal(a, elsewhere);
}

static void adopts_expected_pods_and_deletes_others(void **state)
{
        struct expected_pod expected[] = {{.id = 1}, {.id = 3}, {.id = 4}, {.id = 9}};
        put_pod(1, "Running", false);
        put_pod(2, "Running", false); /* not expected */
        put_pod(3, "Failed", false);  /* it has ended */
        put_pod(4, "Running", true);  /* it is being deleted */
        assert_int_equal(adopt(expected, ARRAY_SIZE(expected), true, NULL), 0);
        assert_true(expected[0].found);
        assert_false(expected[1].found || expected[2].found || expected[3].found);
        assert_int_equal(seen.patches, 1);
        assert_int_equal(seen.deletions, 2);
        assert_string_equal(label_of(1, KUBE_LABEL_APP_ID), "app-2");
        assert_string_equal(label_of(1, KUBE_LABEL_EXECUTOR_ID), "1");
        assert_string_equal(label_of(1, KUBE_LABEL_PROFILE_ID), "7");
        const json_t *owners = json_object_get(metadata_at(1), "ownerReferences");
        assert_int_equal(json_array_size(owners), 1);
        assert_string_equal(json_string_value(json_object_get(json_array_get(owners, 0), "name")), "saves");
        assert_null(metadata_at(2));
        assert_null(metadata_at(3));
        assert_string_equal(label_of(4, KUBE_LABEL_APP_ID), "testapp");
        assert_non_null(strstr(seen.listed, "firesteel-journal%3D0123abcd"));
        assert_non_null(strstr(seen.listed, "spark-role%3Dexecutor"));
        assert_non_null(strstr(seen.deleted, "\"uid\":\"uid-2\"")); /* not later pods of the same names */
        assert_non_null(strstr(seen.deleted, "\"uid\":\"uid-3\""));
}

static void leaves_other_pods_if_they_are_kept(void **state)
{
        struct expected_pod expected[] = {{.id = 1}};
        put_pod(1, "Pending", false);
        put_pod(2, "Running", false);
        assert_int_equal(adopt(expected, 1, false, NULL), 0);
        assert_true(expected[0].found);
        assert_int_equal(seen.deletions, 0);
        assert_string_equal(label_of(2, KUBE_LABEL_APP_ID), "testapp");
}

static void finds_nothing_without_pods(void **state)
{
        struct expected_pod expected[] = {{.id = 1}};
        assert_int_equal(adopt(expected, 1, true, NULL), 0);
        assert_false(expected[0].found);
        assert_int_equal(adopt(NULL, 0, true, NULL), 0);
        assert_int_equal(seen.patches + seen.deletions, 0);
}

static void reads_a_list_of_several_pages(void **state)
{
        struct expected_pod expected[700];
        for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
                expected[i] = (struct expected_pod){.id = (int32_t)i + 1};
                put_pod((int)i + 1, "Running", false);
        }
        assert_int_equal(adopt(expected, ARRAY_SIZE(expected), true, NULL), 0);
        for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
                assert_true(expected[i].found);
        assert_int_equal(seen.patches, ARRAY_SIZE(expected));
}

static void fails_if_pods_cannot_be_listed(void **state)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct expected_pod expected[] = {{.id = 1}};
        put_pod(1, "Running", false);
        seen.refused = "GET";
        assert_true(adopt(expected, 1, true, &error) < 0);
        assert_non_null(strstr(error_message(&error), "executor pods cannot be listed: "));
        assert_non_null(strstr(error_message(&error), "you may not"));
        assert_false(expected[0].found);
}

static void goes_on_without_a_pod_that_cannot_be_changed(void **state)
{
        struct expected_pod expected[] = {{.id = 1}};
        put_pod(1, "Running", false);
        seen.refused = "PATCH";
        assert_int_equal(adopt(expected, 1, true, NULL), 0);
        assert_false(expected[0].found);
        assert_string_equal(label_of(1, KUBE_LABEL_APP_ID), "testapp");
}

static void goes_on_if_a_pod_cannot_be_deleted(void **state)
{
        struct expected_pod expected[] = {{.id = 1}};
        put_pod(1, "Running", false);
        put_pod(2, "Running", false);
        seen.refused = "DELETE";
        assert_int_equal(adopt(expected, 1, true, NULL), 0);
        assert_true(expected[0].found);
        assert_non_null(metadata_at(2));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(marks_pods_by_the_place_of_the_journal, set_up, tear_down),
                cmocka_unit_test_setup_teardown(adopts_expected_pods_and_deletes_others, set_up, tear_down),
                cmocka_unit_test_setup_teardown(leaves_other_pods_if_they_are_kept, set_up, tear_down),
                cmocka_unit_test_setup_teardown(finds_nothing_without_pods, set_up, tear_down),
                cmocka_unit_test_setup_teardown(reads_a_list_of_several_pages, set_up, tear_down),
                cmocka_unit_test_setup_teardown(fails_if_pods_cannot_be_listed, set_up, tear_down),
                cmocka_unit_test_setup_teardown(goes_on_without_a_pod_that_cannot_be_changed, set_up, tear_down),
                cmocka_unit_test_setup_teardown(goes_on_if_a_pod_cannot_be_deleted, set_up, tear_down),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
