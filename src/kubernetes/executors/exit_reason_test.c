/* Reasons why executor pods end and wait. */
#include "kubernetes/executors/exit_reason.h"

#include "kubernetes/api/pod_fixture.h"
#include "unit/cases.h"

#include <string.h>

static const struct pod_rules rules = {.check_all = true};

static struct exit_reason reason_of(json_t *json)
{
        struct pod_state *pod;

        assert_int_equal(pod_state_read(json, &rules, &pod), 0);
        struct exit_reason r = exit_reason_of(pod, &rules, false);
        pod_state_unref(pod);
        json_decref(json);
        return r;
}

static void has(const char *text, const char *part)
{
        if (!strstr(text, part))
                fail_msg("\"%s\" is not in: %s", part, text);
}

static void keeps_whole_message_of_spark(void **state)
{
        json_t *pod = pod_failed(1, 0);

        json_object_set_new(json_object_get(pod, "status"), "reason", json_string("Evicted"));
        json_object_set_new(json_object_get(pod, "status"), "message",
                            json_string("The node was low on resource: ephemeral-storage."));
        struct exit_reason r = reason_of(pod);
        assert_string_equal(
                r.message,
                "\nThe executor with id 1 exited with exit code 1(generic, look at logs to clarify). Pod app-exec-1: "
                "node (unknown) evicted it because the node ran short of a resource: The node was low on "
                "resource: ephemeral-storage. Give executors a volume for spark.local.dir (spark.kubernetes.executor."
                "volumes.*.spark-local-dir-1.*), or request ephemeral storage in the pod template.\n"
                "The API gave the following brief reason: Evicted\n"
                "The API gave the following message: The node was low on resource: ephemeral-storage.\n\n"
                "The API gave the following container statuses:\n\n"
                "\n\t container name: spark-kubernetes-executor"
                "\n\t container image: k8s-spark"
                "\n\t container state: terminated"
                "\n\t container started at: 2026-11-22T08:40:00Z"
                "\n\t container finished at: 2026-11-22T08:41:00Z"
                "\n\t exit code: 1"
                "\n\t termination reason: Error"
                "\n\n"
                "\n\t container name: spark-executor-sidecar"
                "\n\t container image: k8s-spark-sidecar"
                "\n\t container state: terminated"
                "\n\t container started at: N/A"
                "\n\t container finished at: N/A"
                "\n\t exit code: 1"
                "\n\t termination reason: N/A"
                "\n      ");
        assert_int_equal(r.code, 1);
        assert_true(r.caused_by_app);
        assert_false(r.out_of_memory);
        exit_reason_deinit(&r);
}

static void describes_exit_codes_as_spark(void **state)
{
        static const struct {
                int code;
                const char *words;
        } cases[] = {
                {0, "0(success)"},
                {1, "1(generic, look at logs to clarify)"},
                {10, "10(Uncaught exception)"},
                {42, "42(Douglas Adams fan)"},
                {50, "50(Uncaught exception)"},
                {52, "52(JVM OOM)"},
                {53, "53(DiskStore failed to create temp dir)"},
                {126, "126(not executable - possibly perm or arch)"},
                {137, "137(SIGKILL, possible container OOM)"},
                {139, "139(SIGSEGV: that's unexpected)"},
                {143, "143(unexpected)"},
                {255, "255(exit-1, your guess is as good as mine)"},
                {-1, "-1(unexpected)"},
        };
        char text[64];

        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                assert_string_equal(exit_code_describe(cases[i].code, text, sizeof(text)), cases[i].words);
}

/* Returns a failed pod on node n1 whose Spark container has a limit of 1408Mi. */
static json_t *failed_with(const char *status)
{
        json_t *pod = pod_in(3, 0, "Failed"), *more = json_text("%s", status);

        json_object_set_new(json_object_get(pod, "spec"), "nodeName", json_string("n1"));
        json_object_set_new(json_object_get(pod, "spec"), "containers",
                            json_text("[{'name': 'spark-kubernetes-executor', 'resources': {'limits': {'memory':"
                                      " '1408Mi'}}}, {'name': 'proxy', 'resources': {'limits': {'memory': '64Mi'}}}]"));
        json_object_update(json_object_get(pod, "status"), more);
        json_decref(more);
        return pod;
}

#define SPARK_ENDED(code, reason)                                                                                      \
        "{'containerStatuses': [{'name': 'spark-kubernetes-executor', 'state': {'terminated': {'exitCode': " #code     \
        ", 'reason': '" reason "'}}}]}"

static void names_cause_and_remedy(void **state)
{
        static const struct {
                const char *status;
                bool caused_by_app, out_of_memory;
                const char *says[3];
        } cases[] = {
                {SPARK_ENDED(137, "OOMKilled"),
                 true,
                 true,
                 {"Pod app-exec-3: its container spark-kubernetes-executor on node n1 used more memory than its limit "
                  "of 1408Mi and was killed (OOMKilled).",
                  "spark.executor.memoryOverhead"}},
                {"{'containerStatuses': [{'name': 'proxy', 'state': {'terminated': {'exitCode': 137, 'reason':"
                 " 'OOMKilled'}}}, {'name': 'spark-kubernetes-executor', 'state': {'running': {}}}]}",
                 true,
                 true,
                 {"container proxy on node n1 used more memory than its limit of 64Mi",
                  "Raise that container's limit where it is defined", "exit code -1(unexpected)"}},
                {SPARK_ENDED(137, "Error"), true, false, {"killed (SIGKILL) within its own memory limit"}},
                {SPARK_ENDED(143, "Error"), true, false, {"it received SIGTERM"}},
                {SPARK_ENDED(52, "Error"), true, true, {"ran out of memory. Raise spark.executor.memory"}},
                {SPARK_ENDED(53, "Error"), true, false, {"the volume of spark.local.dir is full"}},
                {SPARK_ENDED(128, "StartError"), true, false, {"spark.kubernetes.executor.container.image"}},
                {SPARK_ENDED(3, "Error"), true, false, {"see the last lines of its log"}},
                {"{'reason': 'Evicted', 'message': 'The node was low on resource: memory.'}",
                 true,
                 false,
                 {"node n1 evicted it", "low on resource: memory. Let the executor's requests cover"}},
                {"{'conditions': [{'type': 'DisruptionTarget', 'status': 'True', 'reason': 'PreemptionByScheduler'}]}",
                 false,
                 false,
                 {"it was preempted", "priorityClassName"}},
                {"{'reason': 'NodeLost'}", false, false, {"node n1 was lost"}},
                {"{'reason': 'Terminated', 'message': 'Pod was terminated in response to imminent node shutdown.'}",
                 false,
                 false,
                 {"node n1 shut down", "spark.decommission.enabled=true"}},
                {"{'conditions': [{'type': 'DisruptionTarget', 'status': 'True', 'reason': 'EvictionByEvictionAPI'}]}",
                 false,
                 false,
                 {"node n1 was drained"}},
                {"{'reason': 'OutOfcpu', 'message': 'Node had no cpu'}",
                 false,
                 false,
                 {"node n1 had no room for it when it arrived (OutOfcpu)"}},
                {"{'reason': 'DeadlineExceeded'}", true, false, {"activeDeadlineSeconds"}},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: status \"%s\", caused_by_app %d, out_of_memory %d", i,
                           cases[i].status ? cases[i].status : "(none)", cases[i].caused_by_app,
                           cases[i].out_of_memory);
                struct exit_reason r = reason_of(failed_with(cases[i].status));
                for (int k = 0; k < 3 && cases[i].says[k]; k++)
                        has(r.message, cases[i].says[k]);
                if (r.caused_by_app != cases[i].caused_by_app || r.out_of_memory != cases[i].out_of_memory)
                        fail_msg("%s: %d, %d", cases[i].says[0], r.caused_by_app, r.out_of_memory);
                exit_reason_deinit(&r);
        }
}

static void deleted_pod_does_not_blame_application(void **state)
{
        struct exit_reason r = reason_of(pod_leaving(pod_in(1, 0, "Failed")));
        assert_string_equal(r.message, "The executor with id 1 was deleted by a user or the framework.");
        assert_false(r.caused_by_app);
        assert_int_equal(r.code, EXIT_CODE_UNKNOWN);
        exit_reason_deinit(&r);

        r = reason_of(pod_leaving(failed_with("{'conditions': [{'type': 'DisruptionTarget', 'status': 'True', 'reason':"
                                              " 'DeletionByTaintManager'}]}")));
        has(r.message, "was deleted by a user or the framework. Pod app-exec-3: node n1 was lost");
        exit_reason_deinit(&r);
}

static void waits_for(const char *status, const char *words)
{
        _cleanup_json_ json_t *json = pod_in(1, 0, "Pending");
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        struct pod_state *pod;

        json_object_set_new(json, "status", json_text("%s", status));
        assert_int_equal(pod_state_read(json, &rules, &pod), 0);
        assert_int_equal(waiting_reason_describe(pod, &text), words != NULL);
        if (words)
                has(buf_text(&text), words);
        pod_state_unref(pod);
}

static void describes_waiting_pods(void **state)
{
        waits_for("{'phase': 'Pending'}", NULL);
        waits_for(
                "{'phase': 'Pending', 'conditions': [{'type': 'PodScheduled', 'status': 'False', 'reason':"
                " 'Unschedulable', 'message': '0/3 nodes are available: 3 Insufficient cpu. '}]}",
                "Unschedulable: 0/3 nodes are available: 3 Insufficient cpu. An executor requests spark.executor.cores");
        waits_for("{'phase': 'Pending', 'conditions': [{'type': 'PodScheduled', 'status': 'False', 'reason':"
                  " 'Unschedulable', 'message': 'pod has unbound immediate PersistentVolumeClaims. '}]}",
                  "PersistentVolumeClaims. A claim that it mounts is not bound yet");
#define WAITING(reason, message)                                                                                       \
        "{'phase': 'Pending', 'containerStatuses': [{'name': 'c', 'state': {'waiting': {'reason': '" reason            \
        "', 'message': '" message "'}}}]}"
        waits_for(WAITING("ImagePullBackOff", "Back-off pulling image x"),
                  "container c: ImagePullBackOff: Back-off pulling image x. Check the image's name");
        waits_for(WAITING("ErrImagePull", "denied"), "spark.kubernetes.container.image.pullSecrets");
        waits_for(WAITING("CreateContainerConfigError", "secret s not found"),
                  "secret s not found. Check that its config maps and secrets exist");
        waits_for(WAITING("CrashLoopBackOff", "back-off"), "kubectl logs");
        waits_for(WAITING("SomethingNew", "why"), "container c: SomethingNew: why.");
}

static void names_driver_keys_for_drivers(void **state)
{
        _cleanup_json_ json_t *status = json_text(WAITING("ErrImagePull", "denied"));
        struct pod_wait wait = pod_wait_read(status), none = {0};
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        assert_false(pod_wait_describe(&none, "driver", &out));
        assert_true(pod_wait_describe(&wait, "driver", &out));
        assert_non_null(strstr(buf_text(&out), "container c: ErrImagePull: denied. Check the image's name "
                                               "(spark.kubernetes.driver.container.image"));
        buf_reset(&out);
        wait = (struct pod_wait){.reason = "Unschedulable"};
        assert_true(pod_wait_describe(&wait, "driver", &out));
        assert_string_equal(buf_text(&out),
                            "Unschedulable. The driver requests spark.driver.cores (or spark.kubernetes.driver.request."
                            "cores), spark.driver.memory and spark.driver.memoryOverhead on one node: request less, or "
                            "add nodes.");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(keeps_whole_message_of_spark),
                cmocka_unit_test(describes_exit_codes_as_spark),
                cmocka_unit_test(names_cause_and_remedy),
                cmocka_unit_test(deleted_pod_does_not_blame_application),
                cmocka_unit_test(describes_waiting_pods),
                cmocka_unit_test(names_driver_keys_for_drivers),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
