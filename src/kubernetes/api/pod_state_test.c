/* Reads pods: Spark's ExecutorPodsSnapshotSuite and the further fields. */
#include "kubernetes/api/pod_fixture.h"
#include "kubernetes/executors/pods_snapshot.h"
#include "unit/cases.h"

static const struct pod_rules spark_container_only = {.check_all = false}, all_containers = {.check_all = true};

static enum pod_state_kind kind_of(json_t *pod, const struct pod_rules *rules)
{
        struct pod_state *s = NULL;

        assert_int_equal(pod_state_read(pod, rules, &s), 0);
        enum pod_state_kind kind = s->kind;
        pod_state_unref(s);
        json_decref(pod);
        return kind;
}

#define SPARK_AND_SIDECAR(spark, sidecar)                                                                              \
        "[{'name': 'spark-kubernetes-executor', 'state': " spark "}, {'name': 'sidecar', 'state': " sidecar "}]"
#define RUNS "{'running': {}}"
#define ENDED(code) "{'terminated': {'exitCode': " #code "}}"

static void maps_phase_to_state(void **state)
{
        static const struct {
                const char *phase;
                enum pod_state_kind kind;
        } cases[] = {
                {"Pending", POD_PENDING},       {"running", POD_RUNNING}, {"Succeeded", POD_SUCCEEDED},
                {"Failed", POD_FAILED},         {"UNKNOWN", POD_UNKNOWN}, {"Terminating", POD_TERMINATING},
                {"SomethingElse", POD_UNKNOWN},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                assert_int_equal(kind_of(pod_in(1, 0, cases[i].phase), &spark_container_only), cases[i].kind);
}

static void deletion_timestamp_deletes_pod_that_does_not_run(void **state)
{
        assert_int_equal(kind_of(pod_leaving(pod_in(1, 0, "Failed")), &all_containers), POD_DELETED);
        assert_int_equal(kind_of(pod_leaving(pod_in(1, 0, "Pending")), &all_containers), POD_DELETED);
        assert_int_equal(kind_of(pod_leaving(pod_in(1, 0, "Running")), &all_containers), POD_RUNNING);
        assert_int_equal(kind_of(pod_leaving(pod_in(1, 0, "Terminating")), &all_containers), POD_TERMINATING);
        assert_int_equal(kind_of(json_text("{'metadata': {'name': 'a', 'labels': {'spark-exec-id': '1'},"
                                           " 'deletionTimestamp': '2026-11-22T08:42:00Z'}}"),
                                 &all_containers),
                         POD_DELETED);
}

static void ended_spark_container_ends_pod(void **state)
{
        static const struct {
                const char *containers;
                enum pod_state_kind alone, with_all;
        } cases[] = {
                {SPARK_AND_SIDECAR(RUNS, RUNS), POD_RUNNING, POD_RUNNING},
                {SPARK_AND_SIDECAR(ENDED(0), RUNS), POD_SUCCEEDED, POD_SUCCEEDED},
                {SPARK_AND_SIDECAR(ENDED(3), RUNS), POD_FAILED, POD_FAILED},
                {SPARK_AND_SIDECAR(RUNS, ENDED(0)), POD_RUNNING, POD_RUNNING},
                {SPARK_AND_SIDECAR(RUNS, ENDED(1)), POD_RUNNING, POD_FAILED},
                {SPARK_AND_SIDECAR(ENDED(0), ENDED(1)), POD_SUCCEEDED, POD_FAILED},
                {SPARK_AND_SIDECAR("{}", "{'waiting': {'reason': 'ContainerCreating'}}"), POD_RUNNING, POD_RUNNING},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: containers \"%s\", alone %d, with_all %d", i,
                           cases[i].containers ? cases[i].containers : "(none)", cases[i].alone, cases[i].with_all);
                assert_int_equal(kind_of(pod_with_containers(pod_in(1, 0, "Running"), cases[i].containers),
                                         &spark_container_only),
                                 cases[i].alone);
                assert_int_equal(
                        kind_of(pod_with_containers(pod_in(1, 0, "Running"), cases[i].containers), &all_containers),
                        cases[i].with_all);
        }
        /* A sidecar that may be restarted does not end the pod. */
        json_t *again = pod_with_containers(pod_in(1, 0, "Running"), SPARK_AND_SIDECAR(RUNS, ENDED(1)));
        json_object_set_new(json_object_get(again, "spec"), "restartPolicy", json_string("Always"));
        assert_int_equal(kind_of(again, &all_containers), POD_RUNNING);
        /* A template names the Spark container. */
        const struct pod_rules named = {.container = "sidecar"};
        assert_int_equal(
                kind_of(pod_with_containers(pod_in(1, 0, "Running"), SPARK_AND_SIDECAR(RUNS, ENDED(0))), &named),
                POD_SUCCEEDED);
}

static void rejects_pods_that_are_not_executors(void **state)
{
        static const char *const others[] = {
                "{}",
                "[]",
                "{'metadata': {'name': 'a'}}",
                "{'metadata': {'name': 'a', 'labels': {'spark-exec-id': 'EXECID'}}}",
                "{'metadata': {'name': 'a', 'labels': {'spark-exec-id': '-1'}}}",
                "{'metadata': {'name': 'a', 'labels': {'spark-exec-id': '99999999999'}}}",
                "{'metadata': {'name': 'a', 'labels': {'spark-exec-id': 3}}}",
                "{'metadata': {'labels': {'spark-exec-id': '3'}}}",
        };
        for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
                _cleanup_json_ json_t *pod = json_text("%s", others[i]);
                struct pod_state *s = NULL;
                assert_int_equal(pod_state_read(pod, &all_containers, &s), FST_POD_E_NO_EXECUTOR);
                assert_null(s);
        }
}

static void keeps_all_fields_in_one_block(void **state)
{
        _cleanup_json_ json_t *pod = json_text(
                "{'metadata': {'name': 'app-exec-7', 'uid': 'u7', 'resourceVersion': '812',"
                "  'creationTimestamp': '2026-11-22T08:42:01Z', 'labels': {'spark-exec-id': '7',"
                "  'spark-exec-resourceprofile-id': '3'}},"
                " 'spec': {'nodeName': 'n1', 'containers': [{'name': 'x'}, {'name': 'spark-kubernetes-executor',"
                "  'resources': {'limits': {'memory': '1408Mi'}}}], 'volumes': [{'name': 'a', 'emptyDir': {}},"
                "  {'name': 'b', 'persistentVolumeClaim': {'claimName': 'pvc-1'}},"
                "  {'name': 'c', 'persistentVolumeClaim': {'claimName': 'pvc-2'}}]},"
                " 'status': {'phase': 'Failed', 'reason': 'Evicted', 'message': 'low on memory', 'conditions':"
                "  [{'type': 'DisruptionTarget', 'status': 'True', 'reason': 'TerminationByKubelet', 'message': 'm'}],"
                "  'containerStatuses': [{'name': 'spark-kubernetes-executor', 'image': 'i', 'state': {'terminated':"
                "  {'exitCode': 137, 'reason': 'OOMKilled', 'startedAt': 's', 'finishedAt': 'f'}}}]}}");
        struct pod_state *s;

        assert_int_equal(pod_state_read(pod, &all_containers, &s), 0);
        assert_int_equal(s->id, 7);
        assert_int_equal(s->profile, 3);
        assert_int_equal(s->version, 812);
        assert_true(s->created == INT64_C(1795336921000));
        assert_string_equal(s->name, "app-exec-7");
        assert_string_equal(s->uid, "u7");
        assert_string_equal(s->node, "n1");
        assert_string_equal(s->reason, "Evicted");
        assert_string_equal(s->message, "low on memory");
        assert_string_equal(s->disruption, "TerminationByKubelet");
        assert_string_equal(s->disruption_message, "m");
        assert_int_equal(s->n_claims, 2);
        assert_string_equal(s->claims[1], "pvc-2");
        assert_int_equal(s->n_containers, 1);
        assert_string_equal(s->containers[0].memory_limit, "1408Mi");
        assert_string_equal(s->containers[0].reason, "OOMKilled");
        assert_string_equal(s->containers[0].finished, "f");
        assert_int_equal(s->exit_code, 137);
        assert_true(s->ended);
        assert_true(!s->leaving);
        assert_true(!s->inactive);
        assert_null(s->waiting);

        struct pod_state *gone = pod_state_deleted(s);
        assert_int_equal(gone->kind, POD_DELETED);
        assert_string_equal(gone->name, "app-exec-7");
        assert_string_equal(gone->disruption, "TerminationByKubelet");
        assert_int_equal(gone->exit_code, 137);
        assert_false(pod_state_same(gone, s));

        struct pod_state *same;
        json_object_set_new(json_object_get(pod, "metadata"), "resourceVersion", json_string("813"));
        assert_int_equal(pod_state_read(pod, &all_containers, &same), 0);
        assert_true(pod_state_same(s, same));
        pod_state_unref(s);
        pod_state_unref(gone);
        pod_state_unref(same);
}

static void check_waiting(const char *status, const char *waiting, const char *message, const char *container)
{
        _cleanup_json_ json_t *pod = pod_in(1, 0, "Pending");
        struct pod_state *s;

        json_object_set_new(pod, "status", json_text("%s", status));
        assert_int_equal(pod_state_read(pod, &all_containers, &s), 0);
        if (waiting) {
                assert_string_equal(s->waiting, waiting);
                assert_string_equal(s->waiting_message, message);
                if (container)
                        assert_string_equal(s->waiting_container, container);
                else
                        assert_null(s->waiting_container);
        } else
                assert_null(s->waiting);
        pod_state_unref(s);
}

static void reads_waiting_reason(void **state)
{
        check_waiting("{'phase': 'Pending'}", NULL, NULL, NULL);
        check_waiting("{'phase': 'Pending', 'conditions': [{'type': 'PodScheduled', 'status': 'False', 'reason':"
                      " 'Unschedulable', 'message': '0/3 nodes are available: 3 Insufficient cpu.'}]}",
                      "Unschedulable", "0/3 nodes are available: 3 Insufficient cpu.", NULL);
        check_waiting("{'phase': 'Pending', 'conditions': [{'type': 'PodScheduled', 'status': 'True'}],"
                      " 'containerStatuses': [{'name': 'a', 'state': {'waiting': {'reason': 'ContainerCreating'}}},"
                      " {'name': 'b', 'state': {'waiting': {'reason': 'ErrImagePull', 'message': 'not found'}}}]}",
                      "ErrImagePull", "not found", "b");
        check_waiting("{'phase': 'Pending', 'initContainerStatuses': [{'name': 'init', 'state': {'waiting': {'reason':"
                      " 'CrashLoopBackOff', 'message': 'back-off'}}}], 'containerStatuses': [{'name': 'a', 'state':"
                      " {'waiting': {'reason': 'PodInitializing'}}}]}",
                      "CrashLoopBackOff", "back-off", "init");
        check_waiting("{'phase': 'Pending', 'containerStatuses': [{'name': 'a', 'state': {'waiting': {'reason':"
                      " 'ContainerCreating'}}}]}",
                      NULL, NULL, NULL);
}

static void parses_server_times(void **state)
{
        assert_true(pod_time_read("1970-01-01T00:00:01Z") == 1000);
        assert_true(pod_time_read("1970-01-01T00:00:01.250000Z") == 1250);
        assert_true(pod_time_read("1970-01-01T02:00:01.5+02:00") == 1500);
        assert_true(pod_time_read("1969-12-31T22:30:00-01:30") == 0);
        assert_true(pod_time_read("yesterday") == 0);
        assert_true(pod_time_read("1970-01-01T00:00:01") == 0);
        assert_true(pod_time_read(NULL) == 0);
}

static void long_texts_are_cut_between_characters(void **state)
{
        char text[1100];
        struct pod_state *s;

        memset(text, 'x', sizeof(text));
        memcpy(text + 1023, "\xc3\xa4", 2); /* the length limit falls into this character */
        text[sizeof(text) - 1] = '\0';
        _cleanup_json_ json_t *pod = pod_in(1, 0, "Failed");
        json_object_set_new(json_object_get(pod, "status"), "message", json_string(text));
        assert_int_equal(pod_state_read(pod, &all_containers, &s), 0);
        assert_int_equal(strlen(s->message), 1023);
        pod_state_unref(s);
}

static struct pod_state *read_pod(json_t *pod)
{
        struct pod_state *s;

        assert_int_equal(pod_state_read(pod, &all_containers, &s), 0);
        json_decref(pod);
        return s;
}

static void put(struct pods_snapshot *pods, json_t *pod)
{
        struct pod_state *s = read_pod(pod);

        pods_snapshot_set(pods, s);
        pod_state_unref(s);
}

static void updates_add_new_pods_and_replace_those_of_the_same_id(void **state)
{
        struct pods_snapshot pods = {0};

        put(&pods, pod_in(1, 0, "Pending"));
        put(&pods, pod_in(3, 0, "Running"));
        put(&pods, pod_in(2, 0, "Pending"));
        put(&pods, pod_failed(1, 0));
        assert_int_equal(pods.n, 3);
        assert_int_equal(pods_snapshot_get(&pods, 1)->kind, POD_FAILED);
        assert_int_equal(pods_snapshot_get(&pods, 2)->kind, POD_PENDING);
        assert_null(pods_snapshot_get(&pods, 4));
        assert_ptr_equal(pods_snapshot_named(&pods, "app-exec-3"), pods_snapshot_get(&pods, 3));
        assert_null(pods_snapshot_named(&pods, "other-exec-3"));
        assert_true(pods_snapshot_remove(&pods, 2));
        assert_false(pods_snapshot_remove(&pods, 2));
        assert_false(pods_snapshot_remove(&pods, 9));
        int seen = 0;
        for (const struct pod_state *p = NULL; (p = pods_snapshot_next(&pods, p));)
                seen = seen * 10 + p->id;
        assert_int_equal(seen, 13);
        pods_snapshot_deinit(&pods);
}

static void snapshot_holds_thousands_of_pods(void **state)
{
        struct pods_snapshot pods = {0};

        for (int id = 1; id <= 3000; id++)
                put(&pods, pod_in(id, 0, "Running"));
        for (int id = 1; id <= 3000; id++)
                if (id % 100)
                        assert_true(pods_snapshot_remove(&pods, id));
        assert_int_equal(pods.n, 30);
        assert_true(pods.places.len <= 60);
        for (int id = 1; id <= 3000; id++)
                assert_int_equal(pods_snapshot_get(&pods, id) != NULL, id % 100 == 0);
        pods_snapshot_deinit(&pods);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(maps_phase_to_state),
                cmocka_unit_test(deletion_timestamp_deletes_pod_that_does_not_run),
                cmocka_unit_test(ended_spark_container_ends_pod),
                cmocka_unit_test(rejects_pods_that_are_not_executors),
                cmocka_unit_test(keeps_all_fields_in_one_block),
                cmocka_unit_test(reads_waiting_reason),
                cmocka_unit_test(parses_server_times),
                cmocka_unit_test(long_texts_are_cut_between_characters),
                cmocka_unit_test(updates_add_new_pods_and_replace_those_of_the_same_id),
                cmocka_unit_test(snapshot_holds_thousands_of_pods),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
