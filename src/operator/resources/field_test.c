/* Checks and reads objects against tables of fields. */
#include "operator/resources/operator_fixture.h"

/* Asserts that the problems of a spec with @more are exactly @messages, which end with NULL. */
static void assert_problems(const char *more, bool v1beta1, const char *const *messages)
{
        _cleanup_(field_problems_deinit) struct field_problems problems = {0};
        json_t *object = fixture_application(more);
        field_check(&spark_application_fields, "spec", json_object_get(object, "spec"), v1beta1, &problems);
        size_t n = 0;
        for (; messages[n]; n++) {
                assert_true(n < problems.list.len);
                assert_string_equal(problems.list.data[n].message, messages[n]);
        }
        if (problems.list.len > n)
                fail_msg("%s: another problem: %s", more, problems.list.data[n].message);
        json_decref(object);
}

#define PROBLEMS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void accepts_every_type(void **state)
{
        assert_problems(", 'arguments': ['1'], 'sparkConf': {'a': 'b'}, 'suspend': true, 'timeToLiveSeconds': 60,"
                        "'volumes': [{'name': 'x', 'emptyDir': {}}], 'nodeSelector': null,"
                        "'batchSchedulerOptions': {'resources': {'cpu': 1, 'memory': '1Gi'}},"
                        "'driverIngressOptions': [{'servicePort': 80, 'servicePortName': 'x'}]",
                        false, (const char *const[]){NULL});
}

static void reports_unknown_fields_with_a_suggestion(void **state)
{
        assert_problems(", 'imagePulPolicy': 'Always'", false,
                        PROBLEMS("spec.imagePulPolicy: unknown field; did you mean imagePullPolicy?"));
        assert_problems(", 'zzz': 1", false, PROBLEMS("spec.zzz: unknown field"));
        assert_problems(", 'volumes': [{'name': 'x', 'emptydir': {}}]", false,
                        PROBLEMS("spec.volumes[0].emptydir: unknown field"));
        assert_problems(", 'monitoring': {'exposeDriverMetrics': true, 'exposeExecutorMetrics': true, 'x': 1}", false,
                        PROBLEMS("spec.monitoring.x: unknown field"));
}

static void reports_invalid_values(void **state)
{
        assert_problems(", 'mode': 'local'", false, PROBLEMS("spec.mode: \"local\" is not one of cluster|client"));
        assert_problems(", 'pythonVersion': 3", false,
                        PROBLEMS("spec.pythonVersion: 3 is not a text; put it into quotes"));
        assert_problems(", 'suspend': 'yes'", false, PROBLEMS("spec.suspend: \"yes\" is not true or false"));
        assert_problems(", 'sparkConf': {'a': 1}", false,
                        PROBLEMS("spec.sparkConf[\"a\"]: 1 is not a text; put it into quotes"));
        assert_problems(", 'arguments': 'x'", false, PROBLEMS("spec.arguments: \"x\" is not a list"));
        assert_problems(", 'deps': []", false, PROBLEMS("spec.deps: [] is not an object"));
        assert_problems(", 'restartPolicy': {'onFailureRetries': -1}", false,
                        PROBLEMS("spec.restartPolicy.onFailureRetries: -1 is less than 0"));
        assert_problems(", 'dynamicAllocation': {'minExecutors': 3000000000}", false,
                        PROBLEMS("spec.dynamicAllocation.minExecutors: 3000000000 is not an integer of 32 bits"));
        assert_problems(", 'monitoring': {'exposeDriverMetrics': true, 'exposeExecutorMetrics': true,"
                        "'prometheus': {'jmxExporterJar': 'x', 'port': 80}}",
                        false, PROBLEMS("spec.monitoring.prometheus.port: 80 is less than 1024"));
        assert_problems(", 'dynamicAllocation': {'minExecutors': 1.5}", false,
                        PROBLEMS("spec.dynamicAllocation.minExecutors: 1.5 is not an integer"));
}

static void reports_missing_and_ineffective_fields(void **state)
{
        _cleanup_(field_problems_deinit) struct field_problems problems = {0};
        json_t *spec = fixture_json("{'driver': {'gpu': {'name': 'x'}}}");
        field_check(&spark_application_fields, "spec", spec, false, &problems);
        assert_int_equal(problems.list.len, 5);
        assert_string_equal(problems.list.data[0].message, "spec.driver.gpu.quantity: it is required");
        assert_string_equal(field_problems_fatal(&problems)->message, "spec.driver.gpu.quantity: it is required");
        json_decref(spec);
        assert_problems(", 'failureRetries': 3", false,
                        PROBLEMS("spec.failureRetries: it has no effect: use restartPolicy"));
}

static void versions_have_their_fields(void **state)
{
        assert_problems(", 'dynamicAllocation': {}", true,
                        PROBLEMS("spec.dynamicAllocation: only v1beta2 has this field"));
        assert_problems(", 'initContainerImage': 'x'", false,
                        PROBLEMS("spec.initContainerImage: only v1beta1 has this field"));
        assert_problems(", 'initContainerImage': 'x'", true,
                        PROBLEMS("spec.initContainerImage: it has no effect: the driver downloads its dependencies "
                                 "itself"));
}

static void limits_the_number_of_problems(void **state)
{
        _cleanup_(field_problems_deinit) struct field_problems problems = {0};
        json_t *spec = json_object();
        for (int i = 0; i < 1000; i++) {
                _cleanup_free_ char *name = mem_printf("x%d", i);
                json_object_set_new(spec, name, json_null());
        }
        field_check(&spark_application_fields, "spec", spec, false, &problems);
        assert_int_equal(problems.list.len, MAX_FIELD_PROBLEMS);
        json_decref(spec);
}

static void reads_absent_and_present_members(void **state)
{
        struct spark_application_spec spec = {0};
        json_t *object = fixture_application(", 'dynamicAllocation': {'enabled': false, 'maxExecutors': 0},"
                                             "'image': 3");
        field_read(&spark_application_fields, json_object_get(object, "spec"), &spec);
        assert_string_equal(spec.main_class, "Pi");
        assert_null(spec.image);
        assert_null(spec.monitoring.json);
        assert_non_null(spec.driver.json);
        assert_int_equal(spec.dynamic_allocation.enabled, FIELD_FALSE);
        assert_true(spec.dynamic_allocation.max_executors.set);
        assert_false(spec.dynamic_allocation.min_executors.set);
        assert_int_equal(spec.suspend, FIELD_UNSET);
        json_decref(object);
        field_read(&spark_application_fields, NULL, &spec);
        assert_null(spec.json);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(accepts_every_type),
                cmocka_unit_test(reports_unknown_fields_with_a_suggestion),
                cmocka_unit_test(reports_invalid_values),
                cmocka_unit_test(reports_missing_and_ineffective_fields),
                cmocka_unit_test(versions_have_their_fields),
                cmocka_unit_test(limits_the_number_of_problems),
                cmocka_unit_test(reads_absent_and_present_members),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
