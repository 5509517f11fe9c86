/* What is said of drivers that failed. */
#include "kubernetes/driver/driver_diagnosis.h"

#include "kubernetes/api/pod_fixture.h"

#define SPEC                                                                                                           \
        "'metadata': {'name': 'pi-driver', 'namespace': 'jobs'}, 'spec': {'initContainers': [{'name': 'init'}],"       \
        " 'containers': [{'name': 'spark', 'resources': {'limits': {'memory': '896Mi'}}}, {'name': 'other'}]}"

static void each_is_said(void **state)
{
        static const struct {
                const char *status, *said;
        } rows[] = {
                {"{'phase': 'Succeeded', 'containerStatuses': [{'name': 'spark', 'state': {'terminated': {'exitCode': 0}}}]}",
                 ""},
                {"{'phase': 'Failed', 'containerStatuses': [{'name': 'spark', 'state': {'terminated': {'exitCode': 7,"
                 " 'reason': 'Error'}}}, {'name': 'other', 'state': {'terminated': {'exitCode': 0}}}]}",
                 "Its container spark ended with exit code 7; its log says more: kubectl logs pi-driver "
                 "--namespace=jobs --container=spark"},
                {"{'phase': 'Failed', 'containerStatuses': [{'name': 'spark', 'state': {'terminated': {'exitCode': 137,"
                 " 'reason': 'OOMKilled'}}}]}",
                 "Its container spark used more memory than its limit of 896Mi and was killed (OOMKilled). Raise "
                 "spark.driver.memoryOverhead or spark.driver.memory"},
                {"{'phase': 'Failed', 'containerStatuses': [{'name': 'other', 'state': {'terminated': {'exitCode': 137,"
                 " 'reason': 'OOMKilled'}}}]}",
                 "Its container other was killed because its node had no memory left (OOMKilled)"},
                {"{'phase': 'Failed', 'initContainerStatuses': [{'name': 'init', 'state': {'terminated': {'exitCode':"
                 " 1}}}], 'containerStatuses': [{'name': 'spark', 'state': {'waiting': {'reason': 'PodInitializing'}}}]}",
                 "Its init container init ended with exit code 1; its log says more: kubectl logs pi-driver "
                 "--namespace=jobs --container=init"},
                {"{'phase': 'Failed', 'reason': 'Evicted', 'message': 'low on memory'}", "Evicted: low on memory"},
                {"{'phase': 'Failed'}", ""},
        };
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
                _cleanup_json_ json_t *pod = json_text("{" SPEC ", 'status': %s}", rows[i].status);
                _cleanup_(buf_deinit) struct buf out = BUF_INIT;
                driver_trouble_describe(pod, "spark", &out);
                assert_string_equal(buf_text(&out), rows[i].said);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(each_is_said)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
