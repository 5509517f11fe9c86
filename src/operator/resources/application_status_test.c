/* Reads and writes the status of SparkApplications. */
#include "operator/resources/application_status.h"

#include "operator/resources/operator_fixture.h"
#include "text/json.h"

static void writes_what_it_reads(void **state)
{
        json_t *json = fixture_json(
                "{'sparkApplicationId': 'spark-1', 'submissionID': 's-1', 'lastSubmissionAttemptTime':"
                "'2026-11-28T08:00:00Z', 'terminationTime': null, 'driverInfo': {'podName': 'pi-driver',"
                "'webUIServiceName': 'pi-ui-svc', 'webUIPort': 4040, 'webUIAddress': '10.0.0.1:4040'},"
                "'applicationState': {'state': 'RUNNING'}, 'executorState': {'pi-exec-1': 'RUNNING', 'pi-exec-2':"
                "'FAILED'}, 'executionAttempts': 1, 'submissionAttempts': 2}");
        struct application_status s, again, copy = {0};
        application_status_read(json, &s);
        assert_int_equal(s.state, APPLICATION_RUNNING);
        assert_int_equal(s.last_submission_attempt_ms, INT64_C(1795852800000));
        assert_int_equal(s.termination_ms, 0);
        assert_int_equal(s.n_executors, 2);
        json_t *written = application_status_json(&s, 3);
        json_t *without = json_copy(written);
        json_object_del(without, "conditions");
        json_object_del(without, "observedGeneration");
        assert_true(json_equal(without, json));
        assert_string_equal(json_text_at(json_array_get(json_object_get(written, "conditions"), 0), "status"), "True");
        application_status_read(written, &again);
        status_text_set(&s.reason, "RUNNING"); /* an absent reason is written as the state's name */
        s.transition_ms = again.transition_ms;
        assert_true(application_status_equal(&s, &again));
        application_status_copy(&copy, &s);
        assert_true(application_status_equal(&s, &copy));
        assert_true(application_status_set_executor(&copy, "pi-exec-2", SPARK_POD_COMPLETED));
        assert_false(application_status_equal(&s, &copy));
        application_status_deinit(&s);
        application_status_deinit(&again);
        application_status_deinit(&copy);
        json_decref(written);
        json_decref(without);
        json_decref(json);
}

static void reads_an_absent_or_strange_status(void **state)
{
        static const char *const texts[] = {"{}", "{'applicationState': 3, 'executorState': [], 'driverInfo': 'x'}",
                                            "{'executionAttempts': -5, 'executorState': {'a': 1}}"};
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                struct application_status s;
                json_t *json = fixture_json(texts[i]);
                application_status_read(json, &s);
                assert_int_equal(s.state, APPLICATION_NEW);
                assert_int_equal(s.execution_attempts, 0);
                assert_int_equal(s.n_executors, 0);
                application_status_deinit(&s);
                json_decref(json);
        }
        struct application_status s;
        application_status_read(NULL, &s);
        assert_int_equal(s.state, APPLICATION_NEW);
        application_status_deinit(&s);
}

static void every_state_has_a_name(void **state)
{
        for (int i = 0; i < N_APPLICATION_STATES; i++)
                assert_int_equal(application_state_parse(application_state_name((enum application_state)i)), i);
        assert_int_equal(application_state_parse("NONSENSE"), APPLICATION_UNKNOWN);
        for (int i = SPARK_POD_PENDING; i <= SPARK_POD_UNKNOWN; i++)
                assert_int_equal(spark_pod_state_parse(spark_pod_state_name((enum spark_pod_state)i)), i);
}

static void executors_stay_sorted(void **state)
{
        struct application_status s = {0};
        static const char *const names[] = {"b", "a", "d", "c", "b"};
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                assert_int_equal(application_status_set_executor(&s, names[i], SPARK_POD_RUNNING), i < 4);
        assert_int_equal(s.n_executors, 4);
        for (size_t i = 0; i < s.n_executors; i++)
                assert_int_equal(s.executors[i].pod[0], 'a' + (char)i);
        application_status_deinit(&s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(writes_what_it_reads),
                cmocka_unit_test(reads_an_absent_or_strange_status),
                cmocka_unit_test(every_state_has_a_name),
                cmocka_unit_test(executors_stay_sorted),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
