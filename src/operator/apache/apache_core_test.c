/* The states of one application of spark.apache.org: each flow, as the API server stores it. */
#include "operator/apache/apache_core_fixture.h"

struct flow {
        struct apache_server s;
        char log[2000];   /* the states in the order in which they were stored */
        char times[2000]; /* of transitions: "SUBMITTED 5 3", ms since the creation and since the submission */
        int64_t deadline;
};

static void flow_begin(struct flow *f, const char *more)
{
        *f = (struct flow){0};
        apache_server_init(&f->s, apache_core_new(NULL), "pi", more);
}

static void flow_end(struct flow *f)
{
        apache_core_free(f->s.core);
        apache_server_deinit(&f->s);
}

static void flow_log(struct flow *f, const char *word)
{
        size_t n = strlen(f->log);
        snprintf(f->log + n, sizeof(f->log) - n, "%s%s", n ? " " : "", word);
}

static void flow_note_transition(struct flow *f, const struct apache_action *a)
{
        size_t n = strlen(f->times);
        snprintf(f->times + n, sizeof(f->times) - n, "%s%s>%s %lld %lld", n ? ", " : "", apache_state_name(a->before),
                 apache_state_name(a->to), (long long)a->since_created_ms, (long long)a->since_submitted_ms);
}

static void flow_add_running(void *owner, const char *labels, bool application, size_t executors)
{
        char *text = owner;
        sprintf(text, "%s %d %zu", labels, application, executors);
}

/* Returns what the metrics count as running. */
static const char *flow_running(const struct flow *f)
{
        static char text[100];
        *text = 0;
        apache_core_visit_running(f->s.core, flow_add_running, text);
        return text;
}

/* Performs everything that is due. */
static void flow_run(struct flow *f)
{
        struct apache_action a;
        bool more = true;
        while (more) {
                more = false;
                apache_server_show(&f->s);
                f->deadline = apache_core_reconcile(f->s.core, "jobs", "pi", f->s.now);
                while (apache_core_next_action(f->s.core, &a)) {
                        uint64_t version = 0;
                        enum apache_result r = apache_server_perform(&f->s, &a, &version);
                        if (a.kind == APACHE_WRITE_STATUS && r == APACHE_RESULT_OK)
                                flow_log(f, apache_state_name(a.transition.to));
                        else if (a.kind != APACHE_WRITE_STATUS && a.ticket)
                                flow_log(f, a.kind == APACHE_SUBMIT    ? "+"
                                            : a.kind == APACHE_RELEASE ? a.force ? "!" : "-"
                                            : a.kind == APACHE_DELETE  ? "deleted"
                                            : a.kind == APACHE_LET_GO  ? "let-go"
                                                                       : "?");
                        if (a.kind == APACHE_TRANSITION)
                                flow_note_transition(f, &a);
                        apache_core_done(f->s.core, "jobs", "pi", a.ticket, r, "quota exceeded", version, f->s.now);
                        more = more || (a.ticket && r != APACHE_RESULT_RETRY);
                        apache_action_deinit(&a);
                }
        }
}

static void flow_driver(struct flow *f, const char *status)
{
        apache_server_set_status(&f->s, f->s.driver, status);
        flow_run(f);
}

static void flow_wait(struct flow *f, int64_t ms)
{
        f->s.now += ms;
        flow_run(f);
}

/* Asserts what was done since the last call. */
static void flow_expect(struct flow *f, const char *log)
{
        assert_string_equal(f->log, log);
        *f->log = '\0';
}

static const char *flow_message(const struct flow *f)
{
        return json_text_or_empty(f->s.object, "status.currentState.message");
}

static void flow_start(struct flow *f, const char *more)
{
        flow_begin(f, more);
        flow_run(f);
        flow_driver(f, POD_READY);
        flow_expect(f, "Submitted + DriverRequested DriverStarted DriverReady RunningHealthy");
}

/* ------------------------------------------------------------------------------------------------------------ flows */

static void success_releases_the_driver(void **state)
{
        struct flow f;
        flow_begin(&f, "");
        flow_run(&f);
        flow_expect(&f, "Submitted + DriverRequested");
        flow_driver(&f, POD_STARTED);
        flow_expect(&f, "DriverStarted");
        flow_driver(&f, POD_READY);
        flow_expect(&f, "DriverReady RunningHealthy");
        assert_string_equal(flow_running(&f), "team=\"a\" 1 0");
        f.s.now += 7;
        flow_driver(&f, POD_ENDED(0));
        flow_expect(&f, "Succeeded - ResourceReleased");
        assert_string_equal(flow_running(&f), "");
        apache_server_drop_driver(&f.s, true);
        flow_run(&f);
        flow_expect(&f, "");
        assert_string_equal(f.times,
                            ">Submitted 5 0, Submitted>DriverRequested 5 0, DriverRequested>DriverStarted 5 0, "
                            "DriverStarted>DriverReady 5 0, DriverReady>RunningHealthy 5 0, "
                            "RunningHealthy>Succeeded 12 7, Succeeded>ResourceReleased 12 7");
        assert_true(f.deadline == INT64_MAX);
        const json_t *history = json_at(f.s.object, "status.stateTransitionHistory");
        assert_int_equal(json_object_size(history), 7);
        assert_string_equal(json_text_at(history, "0.currentStateSummary"), "Submitted");
        assert_string_equal(json_text_at(history, "6.currentStateSummary"), "ResourceReleased");
        assert_string_equal(json_text_at(history, "6.lastTransitionTime"), "2026-11-28T08:00:00.007Z");
        assert_int_equal(json_int_at(f.s.object, "status.currentAttemptSummary.attemptInfo.id"), 0);
        assert_null(json_at(f.s.object, "status.previousAttemptSummary"));
        flow_end(&f);
}

static void driver_that_ends_before_it_is_ready_has_succeeded(void **state)
{
        struct flow f;
        flow_begin(&f, "");
        flow_run(&f);
        flow_driver(&f, "{'phase': 'Succeeded'}");
        flow_expect(&f, "Submitted + DriverRequested Succeeded - ResourceReleased");
        flow_end(&f);
}

static void failure_records_the_pods_status(void **state)
{
        struct flow f;
        flow_start(&f, "");
        flow_driver(&f, "{'phase': 'Failed', 'containerStatuses': [{'name': 'spark-kubernetes-driver', 'state':"
                        "{'terminated': {'exitCode': 137, 'reason': 'OOMKilled'}}}]}");
        flow_expect(&f, "Failed - ResourceReleased");
        const json_t *failed = json_at(f.s.object, "status.stateTransitionHistory.5");
        assert_string_equal(json_text_at(failed, "lastObservedDriverStatus.phase"), "Failed");
        assert_non_null(strstr(json_text_at(failed, "message"), "raise spark.driver.memory"));
        flow_end(&f);
        flow_start(&f, "");
        flow_driver(&f, POD_ENDED(3));
        flow_expect(&f, "Failed - ResourceReleased");
        assert_string_equal(json_text_at(f.s.object, "status.stateTransitionHistory.5.message"),
                            "The driver failed with exit code 3.");
        flow_end(&f);
        flow_start(&f, "");
        flow_driver(&f, POD_EVICTED);
        flow_expect(&f, "DriverEvicted - ResourceReleased");
        flow_end(&f);
        flow_start(&f, "");
        flow_driver(&f, "{'phase': 'Running', 'containerStatuses': [{'name': 'spark-kubernetes-driver',"
                        "'restartCount': 1, 'ready': true}]}");
        flow_expect(&f, "Failed - ResourceReleased");
        flow_end(&f);
        flow_begin(&f, "");
        flow_run(&f);
        flow_driver(&f, "{'phase': 'Pending', 'initContainerStatuses': [{'state': {'terminated': {'exitCode': 1}}}]}");
        flow_expect(&f, "Submitted + DriverRequested Failed - ResourceReleased");
        flow_end(&f);
}

static void only_the_drivers_container_ends_the_application(void **state)
{
        struct flow f;
        flow_start(&f, "");
        flow_driver(&f, "{'phase': 'Running', 'conditions': [{'type': 'Ready', 'status': 'True'}], 'containerStatuses':"
                        "[{'name': 'sidecar', 'state': {'terminated': {'exitCode': 1}}},"
                        "{'name': 'spark-kubernetes-driver', 'ready': true}]}");
        flow_expect(&f, "");
        json_object_set_new(json_object_get(f.s.driver, "metadata"), "annotations",
                            json_pack("{s:s}", APACHE_ANNOTATION_CONTAINER, "sidecar"));
        flow_driver(&f, "{'phase': 'Running', 'containerStatuses': [{'name': 'sidecar', 'state': {'terminated':"
                        "{'exitCode': 1}}}, {'name': 'spark-kubernetes-driver', 'ready': true}]}");
        flow_expect(&f, "Failed - ResourceReleased");
        flow_end(&f);
        /* Without the name, each container counts. */
        flow_start(&f, "");
        flow_driver(&f, "{'phase': 'Running', 'containerStatuses': [{'name': 'x', 'ready': true},"
                        "{'name': 'y', 'state': {'terminated': {'exitCode': 0}}},"
                        "{'name': 'z', 'state': {'terminated': {'exitCode': 2}}}]}");
        flow_expect(&f, "Failed - ResourceReleased");
        flow_end(&f);
}

static void driver_whose_pod_is_gone_has_failed(void **state)
{
        struct flow f;
        flow_start(&f, "");
        apache_server_drop_driver(&f.s, true);
        flow_run(&f);
        flow_expect(&f, "? Failed ResourceReleased");
        assert_string_equal(json_text_at(f.s.object, "status.stateTransitionHistory.5.message"),
                            "The driver's pod pi-0-driver was deleted before its driver ended.");
        flow_end(&f);
        /* The watch is late: the API server has the pod. */
        flow_begin(&f, "");
        json_t *object = f.s.object;
        struct apache_core *late = apache_core_new(NULL);
        flow_run(&f);
        flow_expect(&f, "Submitted + DriverRequested");
        apache_core_free(f.s.core);
        f.s.core = late;
        struct apache_reading reading;
        assert_true(apache_reading_make(object, &reading));
        apache_core_observe(late, &reading.observation);
        apache_reading_deinit(&reading);
        assert_true(apache_core_reconcile(late, "jobs", "pi", f.s.now) == APACHE_START + 10000);
        f.s.now += 10000;
        struct apache_action a;
        apache_core_reconcile(late, "jobs", "pi", f.s.now);
        assert_true(apache_core_next_action(late, &a) && a.kind == APACHE_FIND_DRIVER);
        assert_string_equal(a.driver_pod, "pi-0-driver");
        assert_int_equal(apache_server_perform(&f.s, &a, NULL), APACHE_RESULT_OK);
        apache_core_done(late, "jobs", "pi", a.ticket, APACHE_RESULT_OK, NULL, 0, f.s.now);
        apache_action_deinit(&a);
        flow_driver(&f, POD_ENDED(0));
        flow_expect(&f, "Succeeded - ResourceReleased");
        flow_end(&f);
}

static void refused_submission_is_a_scheduling_failure(void **state)
{
        struct flow f;
        flow_begin(&f, ", 'applicationTolerations': {'restartConfig': {'restartPolicy': 'OnInfrastructureFailure',"
                       "'restartBackoffMillisForSchedulingFailure': 5000, 'maxRestartOnSchedulingFailure': 1}}");
        f.s.refuses = true;
        flow_run(&f);
        flow_expect(&f, "Submitted + SchedulingFailure ScheduledToRestart");
        assert_true(f.deadline == APACHE_START + 5000);
        assert_non_null(
                strstr(json_text_at(f.s.object, "status.previousAttemptSummary.stateTransitionHistory.1.message"),
                       "quota exceeded"));
        flow_wait(&f, 5000);
        flow_expect(&f, "+ SchedulingFailure ResourceReleased");
        assert_string_equal(flow_message(&f), "All 1 restarts after scheduling failures in succession are used up "
                                              "(maxRestartOnSchedulingFailure).");
        flow_end(&f);
}

static void invalid_application_fails_once(void **state)
{
        struct flow f;
        flow_begin(&f, ", 'deploymentMode': 'ClientMode', 'applicationTolerations':"
                       "{'restartConfig': {'restartPolicy': 'Always'}}");
        flow_run(&f);
        flow_expect(&f, "Submitted Failed ResourceReleased");
        assert_string_equal(json_text_at(f.s.object, "status.stateTransitionHistory.1.message"),
                            "Client mode is not supported yet.");
        flow_end(&f);
}

static void restart_begins_an_attempt_after_its_backoff(void **state)
{
        struct flow f;
        flow_start(&f, ", 'applicationTolerations': {'restartConfig': {'restartPolicy': 'OnFailure',"
                       "'maxRestartAttempts': 1, 'restartBackoffMillisForFailure': 7000}}");
        flow_driver(&f, POD_ENDED(1));
        flow_expect(&f, "Failed - ScheduledToRestart");
        assert_true(f.deadline == APACHE_START + 7000);
        const json_t *status = json_object_get(f.s.object, "status");
        assert_int_equal(json_object_size(json_at(status, "stateTransitionHistory")), 1);
        assert_string_equal(json_text_at(status, "stateTransitionHistory.6.currentStateSummary"), "ScheduledToRestart");
        assert_int_equal(json_object_size(json_at(status, "previousAttemptSummary.stateTransitionHistory")), 6);
        assert_int_equal(json_int_at(status, "previousAttemptSummary.attemptInfo.id"), 0);
        assert_int_equal(json_int_at(status, "currentAttemptSummary.attemptInfo.id"), 1);
        assert_int_equal(json_int_at(status, "currentAttemptSummary.attemptInfo.restartCounter"), 1);
        assert_int_equal(json_int_at(status, "currentAttemptSummary.attemptInfo.failureRestartCounter"), 1);
        apache_server_drop_driver(&f.s, true);
        flow_wait(&f, 6999);
        flow_expect(&f, "");
        flow_wait(&f, 1);
        flow_expect(&f, "+ DriverRequested");
        assert_string_equal(json_text_at(f.s.driver, "metadata.name"), "pi-1-driver");
        flow_driver(&f, POD_ENDED(1));
        flow_expect(&f, "Failed - ResourceReleased");
        assert_string_equal(flow_message(&f), "All 1 restarts are used up (maxRestartAttempts).");
        flow_end(&f);
}

static void policies_decide_which_ends_restart(void **state)
{
        static const struct {
                const char *policy, *pod, *log;
        } cases[] = {
                {"Never", POD_ENDED(1), "Failed - ResourceReleased"},
                {"Always", POD_ENDED(0), "Succeeded - ScheduledToRestart"},
                {"Always", POD_ENDED(1), "Failed - ScheduledToRestart"},
                {"OnFailure", POD_ENDED(0), "Succeeded - ResourceReleased"},
                {"OnFailure", POD_EVICTED, "DriverEvicted - ScheduledToRestart"},
                {"OnInfrastructureFailure", POD_ENDED(1), "Failed - ResourceReleased"},
                {"OnInfrastructureFailure", POD_EVICTED, "DriverEvicted - ResourceReleased"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_free_ char *more = mem_printf(
                        ", 'applicationTolerations': {'restartConfig': {'restartPolicy': '%s'}}", cases[i].policy);
                struct flow f;
                flow_start(&f, more);
                flow_driver(&f, cases[i].pod);
                flow_expect(&f, cases[i].log);
                flow_end(&f);
        }
}

static void timeouts_end_an_attempt(void **state)
{
        struct flow f;
        flow_begin(&f, ", 'applicationTolerations': {'applicationTimeoutConfig': {'driverStartTimeoutMillis': 100}}");
        flow_run(&f);
        flow_driver(&f, "{'phase': 'Pending', 'conditions': [{'type': 'PodScheduled', 'status': 'False', 'reason':"
                        "'Unschedulable', 'message': '0/3 nodes are available'}]}");
        flow_wait(&f, 100);
        flow_expect(&f, "Submitted + DriverRequested");
        flow_wait(&f, 1);
        flow_expect(&f, "DriverStartTimedOut - ResourceReleased");
        const json_t *timed_out = json_at(f.s.object, "status.stateTransitionHistory.2");
        assert_string_equal(json_text_at(timed_out, "lastObservedDriverStatus.phase"), "Pending");
        assert_non_null(strstr(json_text_at(timed_out, "message"), "0/3 nodes are available"));
        flow_end(&f);
        flow_begin(&f, ", 'applicationTolerations': {'applicationTimeoutConfig': {'driverReadyTimeoutMillis': 100}}");
        flow_run(&f);
        flow_driver(&f, POD_STARTED);
        flow_wait(&f, 101);
        flow_expect(&f, "Submitted + DriverRequested DriverStarted DriverReadyTimedOut - ResourceReleased");
        flow_end(&f);
        flow_begin(&f, ", 'applicationTolerations': {'instanceConfig': {'initExecutors': 2},"
                       "'applicationTimeoutConfig': {'executorStartTimeoutMillis': 100}}");
        flow_run(&f);
        flow_driver(&f, POD_READY);
        apache_server_set_executors(&f.s, 1);
        flow_run(&f);
        flow_wait(&f, 101);
        flow_expect(&f, "Submitted + DriverRequested DriverStarted DriverReady InitializedBelowThresholdExecutors "
                        "ExecutorsStartTimedOut - ResourceReleased");
        flow_end(&f);
        flow_begin(&f, ", 'applicationTolerations': {'applicationTimeoutConfig': {'driverStartTimeoutMillis': 0}}");
        flow_run(&f);
        flow_wait(&f, 1000000000);
        flow_expect(&f, "Submitted + DriverRequested");
        flow_end(&f);
}

static void executors_decide_how_it_runs(void **state)
{
        struct flow f;
        flow_begin(&f, ", 'applicationTolerations': {'instanceConfig': {'initExecutors': 2, 'minExecutors': 1,"
                       "'maxExecutors': 3}}");
        flow_run(&f);
        flow_driver(&f, POD_READY);
        flow_expect(&f, "Submitted + DriverRequested DriverStarted DriverReady");
        static const struct {
                int n;
                const char *log;
        } steps[] = {
                {1, "InitializedBelowThresholdExecutors"},
                {2, "RunningWithPartialCapacity"},
                {3, "RunningHealthy"},
                {1, "RunningWithPartialCapacity"},
                {0, "RunningWithBelowThresholdExecutors"},
                {3, "RunningHealthy"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
                apache_server_set_executors(&f.s, steps[i].n);
                flow_run(&f);
                flow_expect(&f, steps[i].log);
        }
        flow_driver(&f, POD_ENDED(0));
        flow_expect(&f, "Succeeded - ResourceReleased");
        flow_end(&f);
        flow_begin(&f, ", 'sparkConf': {'spark.dynamicAllocation.enabled': 'true'},"
                       "'applicationTolerations': {'instanceConfig': {'initExecutors': 1, 'maxExecutors': 3}}");
        flow_run(&f);
        flow_driver(&f, POD_READY);
        apache_server_set_executors(&f.s, 1);
        flow_run(&f);
        flow_expect(&f, "Submitted + DriverRequested DriverStarted DriverReady RunningHealthy");
        flow_end(&f);
}

static void retained_resources_go_later(void **state)
{
        struct flow f;
        flow_start(&f, ", 'applicationTolerations': {'resourceRetainPolicy': 'OnFailure',"
                       "'resourceRetainDurationMillis': 1000, 'ttlAfterStopMillis': 5000}");
        flow_driver(&f, POD_ENDED(1));
        flow_expect(&f, "Failed TerminatedWithoutReleaseResources");
        flow_wait(&f, 1000);
        flow_expect(&f, "");
        flow_wait(&f, 1);
        flow_expect(&f, "- ResourceReleased");
        flow_wait(&f, 3999);
        flow_expect(&f, "");
        flow_wait(&f, 1);
        flow_expect(&f, "deleted");
        flow_end(&f);
        flow_start(&f, ", 'applicationTolerations': {'resourceRetainPolicy': 'OnFailure'}");
        flow_driver(&f, POD_ENDED(0));
        flow_expect(&f, "Succeeded - ResourceReleased");
        flow_end(&f);
        flow_start(&f, ", 'applicationTolerations': {'resourceRetainPolicy': 'Always',"
                       "'restartConfig': {'restartPolicy': 'OnFailure', 'maxRestartAttempts': 0}}");
        flow_driver(&f, POD_ENDED(1));
        flow_expect(&f, "Failed TerminatedWithoutReleaseResources");
        flow_wait(&f, 1000000000);
        flow_expect(&f, "");
        assert_non_null(f.s.driver);
        flow_end(&f);
}

static void ended_application_is_deleted_after_its_time(void **state)
{
        struct flow f;
        flow_start(&f, ", 'applicationTolerations': {'ttlAfterStopMillis': 10000}");
        flow_driver(&f, POD_ENDED(0));
        flow_expect(&f, "Succeeded - ResourceReleased");
        assert_true(f.deadline == APACHE_START + 10001);
        flow_wait(&f, 10001);
        flow_expect(&f, "deleted");
        assert_null(f.s.object);
        flow_end(&f);
}

static void driver_that_does_not_go_is_forced(void **state)
{
        struct flow f;
        flow_start(&f, ", 'applicationTolerations': {'applicationTimeoutConfig':"
                       "{'forceTerminationGracePeriodMillis': 2000}}");
        flow_driver(&f, POD_ENDED(0));
        flow_expect(&f, "Succeeded - ResourceReleased");
        flow_wait(&f, 2001);
        flow_expect(&f, "!");
        assert_null(f.s.driver);
        flow_end(&f);
}

static void long_attempt_begins_the_count_anew(void **state)
{
        struct flow f;
        flow_start(&f, ", 'applicationTolerations': {'restartConfig': {'restartPolicy': 'Always',"
                       "'maxRestartAttempts': 1, 'restartBackoffMillis': 0, 'restartCounterResetMillis': 60000}}");
        for (int i = 1; i < 4; i++) {
                f.s.now += 60000;
                flow_driver(&f, POD_ENDED(0));
                apache_server_drop_driver(&f.s, true);
                flow_wait(&f, 1000);
                flow_driver(&f, POD_READY);
                assert_int_equal(json_int_at(f.s.object, "status.currentAttemptSummary.attemptInfo.id"), i);
                assert_int_equal(json_int_at(f.s.object, "status.currentAttemptSummary.attemptInfo.restartCounter"), 1);
        }
        f.s.now += 30000;
        *f.log = '\0';
        flow_driver(&f, POD_ENDED(0));
        flow_expect(&f, "Succeeded - ResourceReleased");
        flow_end(&f);
}

static void successes_end_a_succession_of_failures(void **state)
{
        static const int codes[] = {1, 1, 0, 1, 1, 1};
        struct flow f;
        flow_start(&f, ", 'applicationTolerations': {'restartConfig': {'restartPolicy': 'Always',"
                       "'maxRestartAttempts': 100, 'maxRestartOnFailure': 2, 'restartBackoffMillis': 0}}");
        for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
                *f.log = '\0';
                flow_driver(&f, codes[i] ? POD_ENDED(1) : POD_ENDED(0));
                if (i + 1 == ARRAY_SIZE(codes))
                        break;
                apache_server_drop_driver(&f.s, true);
                flow_wait(&f, 1000);
                assert_string_equal(apache_server_state(&f.s), "DriverRequested");
        }
        flow_expect(&f, "Failed - ResourceReleased");
        assert_string_equal(flow_message(&f), "All 2 restarts after failures in succession are used up "
                                              "(maxRestartOnFailure).");
        flow_end(&f);
}

static void unknown_state_is_a_failure(void **state)
{
        struct flow f;
        flow_begin(&f, "");
        json_object_set_new(f.s.object, "status", fixture_json("{'currentState': {'currentStateSummary': 'X'}}"));
        flow_run(&f);
        flow_expect(&f, "Failed ResourceReleased");
        flow_end(&f);
}

static void leaving_application_is_left_alone(void **state)
{
        struct flow f;
        flow_start(&f, "");
        json_object_set_new(json_object_get(f.s.object, "metadata"), "deletionTimestamp", json_string("now"));
        apache_server_touch(&f.s, f.s.object);
        flow_driver(&f, POD_ENDED(0));
        flow_expect(&f, "");
        flow_end(&f);
}

/* Its finalizer would keep an object for ever. One of somebody else does not matter. */
static void finalizer_of_apaches_operator_is_removed_from_a_leaving_object(void **state)
{
        static const struct {
                const char *finalizers, *log;
        } rows[] = {
                {"['x/y', 'sparkapplications.spark.apache.org/finalizer']", "let-go"},
                {"['x/y']", ""},
        };
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                struct flow f;
                flow_start(&f, "");
                json_t *metadata = json_object_get(f.s.object, "metadata");
                json_object_set_new(metadata, "finalizers", fixture_json(rows[i].finalizers));
                apache_server_touch(&f.s, f.s.object);
                flow_run(&f);
                flow_expect(&f, "");
                json_object_set_new(metadata, "deletionTimestamp", json_string("now"));
                apache_server_touch(&f.s, f.s.object);
                flow_run(&f);
                flow_expect(&f, rows[i].log);
                flow_end(&f);
        }
}

/* An operator whose clock was ahead has written the states. */
static void future_states_count_from_the_first_look(void **state)
{
        struct flow f;
        flow_start(&f, ", 'applicationTolerations': {'resourceRetainPolicy': 'Always',"
                       "'resourceRetainDurationMillis': 1000, 'ttlAfterStopMillis': 5000}");
        f.s.now += 86400000;
        flow_driver(&f, POD_ENDED(0));
        flow_expect(&f, "Succeeded TerminatedWithoutReleaseResources");
        apache_core_free(f.s.core); /* another operator begins, whose clock is right */
        f.s.core = apache_core_new(NULL);
        f.s.now -= 86400000;
        flow_run(&f);
        flow_wait(&f, 1001);
        flow_expect(&f, "- ResourceReleased");
        flow_wait(&f, 5001);
        flow_expect(&f, "deleted");
        flow_end(&f);
}

static void reads_histories_of_apaches_operator(void **state)
{
        struct apache_status s;
        json_t *json = fixture_json(
                "{'currentState': {'currentStateSummary': 'RunningHealthy', 'lastTransitionTime':"
                "'2026-11-28T08:00:09.123456Z'}, 'stateTransitionHistory': {"
                "'9': {'currentStateSummary': 'DriverReady', 'lastTransitionTime': '2026-11-28T08:00:05Z'},"
                "'10': {'currentStateSummary': 'RunningHealthy', 'lastTransitionTime': '2026-11-28T08:00:09.123456Z'},"
                "'7': {'currentStateSummary': 'ScheduledToRestart', 'lastTransitionTime': '2026-11-28T08:00:01Z'}},"
                "'previousAttemptSummary': {'attemptInfo': {'id': 0}, 'stateTransitionHistory': {'6':"
                "{'currentStateSummary': 'DriverEvicted'}}}, 'currentAttemptSummary': {'attemptInfo': {'id': 1,"
                "'restartCounter': 1, 'failureRestartCounter': 1, 'schedulingFailureRestartCounter': 0}}}");
        apache_status_read(json, &s);
        assert_int_equal(s.state, APACHE_RUNNING_HEALTHY);
        assert_true(s.transition_ms == APACHE_START + 9123);
        assert_int_equal(s.entry, 10);
        assert_true(s.before_ms == APACHE_START + 5000);
        assert_true(s.attempt_began_ms == APACHE_START + 1000);
        assert_true(s.restarted);
        assert_int_equal(s.before, APACHE_DRIVER_EVICTED);
        assert_int_equal(s.attempt.id, 1);
        json_decref(json);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(success_releases_the_driver),
                cmocka_unit_test(driver_that_ends_before_it_is_ready_has_succeeded),
                cmocka_unit_test(failure_records_the_pods_status),
                cmocka_unit_test(only_the_drivers_container_ends_the_application),
                cmocka_unit_test(driver_whose_pod_is_gone_has_failed),
                cmocka_unit_test(refused_submission_is_a_scheduling_failure),
                cmocka_unit_test(invalid_application_fails_once),
                cmocka_unit_test(restart_begins_an_attempt_after_its_backoff),
                cmocka_unit_test(policies_decide_which_ends_restart),
                cmocka_unit_test(finalizer_of_apaches_operator_is_removed_from_a_leaving_object),
                cmocka_unit_test(future_states_count_from_the_first_look),
                cmocka_unit_test(timeouts_end_an_attempt),
                cmocka_unit_test(executors_decide_how_it_runs),
                cmocka_unit_test(retained_resources_go_later),
                cmocka_unit_test(ended_application_is_deleted_after_its_time),
                cmocka_unit_test(driver_that_does_not_go_is_forced),
                cmocka_unit_test(long_attempt_begins_the_count_anew),
                cmocka_unit_test(successes_end_a_succession_of_failures),
                cmocka_unit_test(unknown_state_is_a_failure),
                cmocka_unit_test(leaving_application_is_left_alone),
                cmocka_unit_test(reads_histories_of_apaches_operator),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
