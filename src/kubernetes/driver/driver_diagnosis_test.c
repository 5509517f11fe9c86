/* Diagnoses of failed drivers. */
#include "kubernetes/driver/driver_diagnosis.h"

#include "kubernetes/api/pod_fixture.h"

#define SPEC                                                                                                           \
        "'metadata': {'name': 'pi-driver', 'namespace': 'jobs'}, 'spec': {'initContainers': [{'name': 'init'}],"       \
        " 'containers': [{'name': 'spark', 'resources': {'limits': {'memory': '896Mi'}}}, {'name': 'other'}]}"

#define CONTAINER(name, state) "{'name': '" name "', 'state': {'terminated': {" state "}}}"
#define DELETED                                                                                                        \
        "kubectl get events --namespace=jobs --field-selector=involvedObject.name=pi-driver shows its events of the last hour"

struct row {
        const char *label, *status, *text, *log_container;
        bool gone;
};

static void check_rows(const char *spec, const struct row *rows, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                _cleanup_json_ json_t *pod = json_text("{%s, 'status': %s}", spec, rows[i].status);
                struct driver_diagnosis d;
                driver_diagnosis_init(&d, pod, "spark", rows[i].gone);
                if (strcmp(buf_text(&d.text), rows[i].text) != 0)
                        fail_msg("%s: %s", rows[i].label, buf_text(&d.text));
                const char *log = rows[i].log_container;
                if (!log != !d.log_container || (log && strcmp(log, d.log_container) != 0))
                        fail_msg("%s: log of %s", rows[i].label, d.log_container);
                driver_diagnosis_deinit(&d);
        }
}

static void names_cause_and_log(void **state)
{
        static const struct row rows[] = {
                {"success", "{'phase': 'Succeeded', 'containerStatuses': [" CONTAINER("spark", "'exitCode': 0") "]}",
                 ""},
                {"exit code",
                 "{'phase': 'Failed', 'containerStatuses': [" CONTAINER(
                         "spark", "'exitCode': 7, 'reason': 'Error'") ", " CONTAINER("other", "'exitCode': 0") "]}",
                 "Its container spark ended with exit code 7", "spark"},
                {"exit codes of two",
                 "{'phase': 'Failed', 'containerStatuses': [" CONTAINER("other", "'exitCode': 143") ", " CONTAINER(
                         "spark", "'exitCode': 7") "]}",
                 "Its container other ended with exit code 143. Its container spark ended with exit code 7", "spark"},
                {"driver over its memory limit",
                 "{'phase': 'Failed', 'containerStatuses': [" CONTAINER("spark",
                                                                        "'exitCode': 137, 'reason': 'OOMKilled'") "]}",
                 "Its container spark used more memory than its limit of 896Mi and was killed (OOMKilled). Raise "
                 "spark.driver.memoryOverhead or spark.driver.memory"},
                {"side car without limit",
                 "{'phase': 'Failed', 'containerStatuses': [" CONTAINER("other",
                                                                        "'exitCode': 137, 'reason': 'OOMKilled'") "]}",
                 "Its container other was killed because its node had no memory left (OOMKilled)"},
                {"init container",
                 "{'phase': 'Failed', 'initContainerStatuses': [" CONTAINER(
                         "init",
                         "'exitCode': 1") "],"
                                          " 'containerStatuses': [{'name': 'spark', 'state': {'waiting': {'reason': 'PodInitializing'}}}]}",
                 "Its init container init ended with exit code 1", "init"},
                {"reason of the pod", "{'phase': 'Failed', 'reason': 'DeadlineExceeded', 'message': 'Too long.'}",
                 "DeadlineExceeded: Too long"},
                {"no reason", "{'phase': 'Failed'}", ""},
        };
        check_rows(SPEC, rows, ARRAY_SIZE(rows));
}

static void names_no_log_of_deleted_pod(void **state)
{
        static const struct row rows[] = {
                {"evicted for memory",
                 "{'phase': 'Failed', 'reason': 'Evicted', 'message': 'The node was low on memory. ', 'containerStatuses': [" CONTAINER(
                         "spark", "'exitCode': 137") "]}",
                 "Its node evicted it: The node was low on memory. Its log went with its containers. Request the memory "
                 "that the driver uses: raise spark.driver.memory or spark.driver.memoryOverhead"},
                {"evicted for its disk",
                 "{'phase': 'Failed', 'reason': 'Evicted', 'message': 'low on ephemeral-storage'}",
                 "Its node evicted it: low on ephemeral-storage. Its log went with its containers. Give the driver a volume "
                 "for spark.local.dir (spark.kubernetes.driver.volumes.*.spark-local-dir-1.*), or request ephemeral storage "
                 "in the pod template"},
                {"deleted while it ran", "{'phase': 'Running'}",
                 "It was deleted before it ended, and its log with it. " DELETED, NULL, true},
                {"preempted",
                 "{'phase': 'Running', 'conditions': [{'type': 'DisruptionTarget', 'status': 'True', 'reason': "
                 "'PreemptionByScheduler', 'message': 'preempting to accommodate a higher priority pod.'}]}",
                 "It was deleted before it ended, and its log with it. PreemptionByScheduler: preempting to accommodate a "
                 "higher priority pod. " DELETED,
                 NULL, true},
        };
        check_rows(SPEC, rows, ARRAY_SIZE(rows));
}

/* A node ends the containers of a deleted pod before the pod goes: its status is Failed then. */
static void reports_failed_deleted_pod_as_deleted(void **state)
{
        static const struct row row = {
                "ended by SIGTERM",
                "{'phase': 'Failed', 'containerStatuses': [" CONTAINER("spark", "'exitCode': 143") "]}",
                "It was deleted before it ended, and its log with it. " DELETED};
        check_rows(
                "'metadata': {'name': 'pi-driver', 'namespace': 'jobs', 'deletionTimestamp': '2026-01-01T00:00:00Z'}",
                &row, 1);
}

static void diagnoses_unknown_state(void **state)
{
        struct driver_diagnosis d;
        driver_diagnosis_init(&d, NULL, "spark", true);
        assert_string_equal(buf_text(&d.text), "It was deleted before it ended, and its log with it");
        driver_diagnosis_deinit(&d);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(names_cause_and_log),
                cmocka_unit_test(names_no_log_of_deleted_pod),
                cmocka_unit_test(reports_failed_deleted_pod_as_deleted),
                cmocka_unit_test(diagnoses_unknown_state),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
