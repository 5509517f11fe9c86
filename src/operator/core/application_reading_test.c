/* Objects and pods as the API server sends them, read for the core. */
#include "operator/core/application_reading.h"

#include "operator/core/pod_observation.h"
#include "operator/resources/operator_fixture.h"

static json_t *object_with(const char *more, const char *metadata, const char *status)
{
        json_t *object = fixture_application(more), *extra = fixture_json(metadata), *s = fixture_json(status);
        json_object_update(json_object_get(object, "metadata"), extra);
        json_object_set_new(object, "status", s);
        json_decref(extra);
        return object;
}

static void reads_an_object(void **state)
{
        struct application_reading r;
        json_t *object = object_with(", 'restartPolicy': {'type': 'OnFailure', 'onFailureRetries': 3},"
                                     "'timeToLiveSeconds': 60, 'suspend': true, 'nonsense': 1",
                                     "{'resourceVersion': '77', 'generation': 4, 'creationTimestamp':"
                                     "'2026-11-28T08:00:00Z', 'deletionTimestamp': '2026-11-28T08:00:00Z'}",
                                     "{'applicationState': {'state': 'RUNNING'}, 'submissionID': 's'}");
        assert_true(application_reading_make(object, &r));
        const struct application_observation *o = &r.observation;
        assert_string_equal(o->namespace, "jobs");
        assert_string_equal(o->uid, "u-1");
        assert_int_equal(o->version, 77);
        assert_int_equal(o->generation, 4);
        assert_int_equal(o->created_ms, INT64_C(1795852800000));
        assert_true(o->leaving);
        assert_null(o->invalid);
        assert_int_equal(o->policy.restart, RESTART_ON_FAILURE);
        assert_int_equal(o->policy.failure_retries, 3);
        assert_int_equal(o->policy.submission_retries, -1);
        assert_int_equal(o->policy.failure_interval_s, 5);
        assert_int_equal(o->policy.time_to_live_s, 60);
        assert_true(o->policy.has_time_to_live && o->policy.suspend);
        assert_int_equal(o->status.state, APPLICATION_RUNNING);
        assert_string_equal(o->driver_pod, "pi-driver");
        assert_int_equal(r.problems.list.len, 1);
        application_reading_deinit(&r);
        json_decref(object);
}

static void partial_hash_leaves_out_some_fields(void **state)
{
        uint64_t whole[3], partial[3];
        static const char *const specs[] = {"", ", 'executor': {'nodeSelector': {'a': 'b'}}", ", 'image': 'x'"};
        for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
                struct application_reading r;
                json_t *object = fixture_application(specs[i]);
                assert_true(application_reading_make(object, &r));
                whole[i] = r.observation.policy.spec_hash;
                partial[i] = r.observation.policy.partial_hash;
                application_reading_deinit(&r);
                json_decref(object);
        }
        assert_true(whole[0] != whole[1] && whole[0] != whole[2]);
        assert_true(partial[0] == partial[1] && partial[0] != partial[2]);
}

static void invalid_objects_are_read(void **state)
{
        static const char *const specs[] = {", 'driver': 3", ", 'sparkConf': {'spark.master': 'x'}", ", 'type': 'C'"};
        for (size_t i = 0; i < ARRAY_SIZE(specs); i++) {
                struct application_reading r;
                json_t *object = fixture_application(specs[i]);
                assert_true(application_reading_make(object, &r));
                assert_non_null(r.observation.invalid);
                assert_true(r.observation.policy.spec_hash != 0);
                assert_string_equal(r.observation.driver_pod, "pi-driver");
                application_reading_deinit(&r);
                json_decref(object);
        }
        struct application_reading r;
        json_t *bare = fixture_json("{'metadata': {'name': 'p', 'namespace': 'n', 'uid': 'u'}}");
        assert_true(application_reading_make(bare, &r));
        assert_non_null(r.observation.invalid);
        application_reading_deinit(&r);
        json_decref(bare);
        json_t *object = fixture_json("{'metadata': {'name': 'x'}}");
        assert_false(application_reading_make(object, &r));
        application_reading_deinit(&r);
        json_decref(object);
}

/* Reads a driver's pod with this status. The caller must json_decref the pod. */
static json_t *pod_with(const char *role, const char *status, struct pod_observation *o)
{
        _cleanup_free_ char *text = mem_printf(
                "{'metadata': {'name': 'p', 'namespace': 'n', 'uid': 'u', 'resourceVersion': '9', 'labels':"
                "{'spark-role': '%s', 'sparkoperator.k8s.io/app-name': 'pi', 'sparkoperator.k8s.io/submission-id': 's',"
                "'spark-app-selector': 'spark-1'}, 'annotations': {'firesteel.dev/spec-hash': '00ff'},"
                "'ownerReferences': [{'kind': 'Pod', 'uid': 'x'}, {'kind': 'SparkApplication', 'uid': 'u-1'}]},"
                "'status': %s}",
                role, status);
        json_t *pod = fixture_json(text);
        assert_true(pod_observation_read(pod, o));
        return pod;
}

static void reads_pods(void **state)
{
        static const struct {
                const char *status;
                enum spark_pod_state phase;
                bool terminated;
                int exit_code;
        } cases[] = {
                {"{}", SPARK_POD_PENDING, false, 0},
                {"{'phase': 'Running'}", SPARK_POD_RUNNING, false, 0},
                {"{'phase': 'Unknown'}", SPARK_POD_UNKNOWN, false, 0},
                {"{'phase': 'Succeeded'}", SPARK_POD_COMPLETED, false, 0},
                /* A sidecar runs on. */
                {"{'phase': 'Running', 'containerStatuses': [{'name': 'side'}, {'name': 'spark-kubernetes-driver',"
                 "'state': {'terminated': {'exitCode': 0}}}]}",
                 SPARK_POD_COMPLETED, true, 0},
                /* A sidecar has failed, the driver has not. */
                {"{'phase': 'Failed', 'containerStatuses': [{'name': 'side', 'state': {'terminated': {'exitCode': 1}}},"
                 "{'name': 'spark-kubernetes-driver', 'state': {'terminated': {'exitCode': 0}}}]}",
                 SPARK_POD_COMPLETED, true, 0},
                {"{'phase': 'Failed', 'containerStatuses': [{'name': 'x', 'state': {'terminated': {'exitCode': 137,"
                 "'reason': 'OOMKilled'}}}]}",
                 SPARK_POD_FAILED, true, 137},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct pod_observation o;
                json_t *pod = pod_with("driver", cases[i].status, &o);
                assert_int_equal(o.phase, cases[i].phase);
                assert_int_equal(o.terminated, cases[i].terminated);
                assert_int_equal(o.exit_code, cases[i].exit_code);
                assert_string_equal(o.owner_uid, "u-1");
                assert_int_equal(o.spec_hash, 255);
                assert_int_equal(o.version, 9);
                json_decref(pod);
        }
}

static void reads_losses(void **state)
{
        static const struct {
                const char *status;
                enum pod_loss loss;
        } cases[] = {
                {"{'reason': 'Evicted', 'message': 'low on memory'}", POD_LOSS_EVICTED},
                {"{'conditions': [{'type': 'DisruptionTarget', 'status': 'True', 'reason': 'PreemptionByScheduler',"
                 "'message': 'm'}]}",
                 POD_LOSS_PREEMPTED},
                {"{'conditions': [{'type': 'DisruptionTarget', 'status': 'True', 'reason': 'DeletionByTaintManager'}]}",
                 POD_LOSS_NODE},
                {"{'reason': 'NodeLost'}", POD_LOSS_NODE},
                {"{'conditions': [{'type': 'DisruptionTarget', 'status': 'False', 'reason': 'PreemptionByScheduler'}]}",
                 POD_LOSS_NONE},
                {"{'reason': 'Other'}", POD_LOSS_NONE},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct pod_observation o;
                json_t *pod = pod_with("executor", cases[i].status, &o);
                assert_int_equal(o.loss, cases[i].loss);
                assert_int_equal(o.loss_message != NULL, o.loss != POD_LOSS_NONE);
                json_decref(pod);
        }
}

static void other_pods_are_ignored(void **state)
{
        static const char *const pods[] = {
                "{}", "{'metadata': {'name': 'p', 'namespace': 'n', 'labels': {'spark-role': 'driver'}}}",
                "{'metadata': {'name': 'p', 'namespace': 'n', 'labels': {'spark-role': 'master',"
                "'sparkoperator.k8s.io/app-name': 'pi'}}}",
                "{'metadata': {'name': 'p', 'namespace': 'n', 'labels': {'sparkoperator.k8s.io/app-name': 'pi'}}}"};
        for (size_t i = 0; i < ARRAY_SIZE(pods); i++) {
                struct pod_observation o;
                json_t *pod = fixture_json(pods[i]);
                assert_false(pod_observation_read(pod, &o));
                json_decref(pod);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reads_an_object),
                cmocka_unit_test(partial_hash_leaves_out_some_fields),
                cmocka_unit_test(invalid_objects_are_read),
                cmocka_unit_test(reads_pods),
                cmocka_unit_test(reads_losses),
                cmocka_unit_test(other_pods_are_ignored),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
