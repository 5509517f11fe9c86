/* The state machine of SparkApplications: the genuine operator's table of one sync, and flows step by step. */
#include "operator/core/core_fixture.h"

/* ------------------------------------------------------------------------------------------------ the genuine table */

static void one_sync_as_in_the_genuine_operator(void **state)
{
        static const struct {
                enum application_state before;
                enum restart_type policy;
                int attempts;
                int64_t elapsed_s;
                enum application_state after;
        } rows[] = {
                {APPLICATION_NEW, RESTART_NEVER, 0, 0, APPLICATION_SUBMITTED},
                {APPLICATION_SUCCEEDING, RESTART_ALWAYS, 1, 0, APPLICATION_PENDING_RERUN},
                {APPLICATION_SUCCEEDING, RESTART_NEVER, 1, 0, APPLICATION_COMPLETED},
                {APPLICATION_PENDING_RERUN, RESTART_ALWAYS, 1, 0, APPLICATION_SUBMITTED},
                {APPLICATION_SUBMISSION_FAILED, RESTART_ALWAYS, 0, 2000, APPLICATION_SUBMISSION_FAILED},
                {APPLICATION_SUBMISSION_FAILED, RESTART_ALWAYS, 1, 2000, APPLICATION_SUBMITTED},
                {APPLICATION_FAILING, RESTART_ALWAYS, 1, 2000, APPLICATION_PENDING_RERUN},
                {APPLICATION_FAILING, RESTART_ALWAYS, 0, 2000, APPLICATION_FAILING},
                {APPLICATION_INVALIDATING, RESTART_NEVER, 1, 0, APPLICATION_PENDING_RERUN},
                {APPLICATION_FAILING, RESTART_ON_FAILURE, 2, 0, APPLICATION_FAILED},
                {APPLICATION_FAILING, RESTART_ON_FAILURE, 1, 0, APPLICATION_FAILING},
                {APPLICATION_FAILING, RESTART_ON_FAILURE, 1, 2000, APPLICATION_PENDING_RERUN},
                {APPLICATION_SUBMISSION_FAILED, RESTART_ON_FAILURE, 3, 0, APPLICATION_FAILED},
                {APPLICATION_SUBMISSION_FAILED, RESTART_ON_FAILURE, 1, 0, APPLICATION_SUBMISSION_FAILED},
                {APPLICATION_SUBMISSION_FAILED, RESTART_ON_FAILURE, 1, 2000, APPLICATION_SUBMITTED},
                {APPLICATION_FAILING, RESTART_NEVER, 1, 2000, APPLICATION_FAILED},
        };
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                struct core_fixture b;
                core_fixture_init(&b, NULL);
                core_fixture_on_failure(&b, 1, 2);
                b.policy.restart = rows[i].policy;
                b.stored.state = rows[i].before;
                b.stored.execution_attempts = b.stored.submission_attempts = rows[i].attempts;
                b.stored.last_submission_attempt_ms = NOW - rows[i].elapsed_s * S;
                core_fixture_observe(&b);
                /* An action, then the status. */
                for (int k = 0; k < 3 && b.stored.state == rows[i].before; k++)
                        core_fixture_step_with(&b, APPLICATION_RESULT_OK);
                if (b.stored.state != rows[i].after)
                        fail_msg("row %zu: %s instead of %s (%s)", i, application_state_name(b.stored.state),
                                 application_state_name(rows[i].after), b.log);
                core_fixture_deinit(&b);
        }
}

static void retries_are_due_as_in_the_genuine_operator(void **state)
{
        static const struct {
                int64_t interval_s, since_s;
                int attempts;
                bool timed, due;
        } rows[] = {{-1, 100, 3, true, false},
                    {5, 100, 0, true, false},
                    {5, 100, 3, false, false},
                    {50, 100, 3, true, false},
                    {50, 151, 3, true, true}};
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                const struct application_policy p = {.failure_interval_s = rows[i].interval_s};
                const struct application_status s = {.state = APPLICATION_FAILING,
                                                     .submission_attempts = rows[i].attempts,
                                                     .last_submission_attempt_ms =
                                                             rows[i].timed ? NOW - rows[i].since_s * S : 0};
                assert_int_equal(application_retry_wait_ms(&p, &s, NOW) <= 0, rows[i].due);
        }
        /* A clock that was set back by an hour. */
        const struct application_policy p = {.failure_interval_s = 5};
        const struct application_status s = {
                .state = APPLICATION_FAILING, .submission_attempts = 1, .last_submission_attempt_ms = NOW};
        assert_int_equal(application_retry_wait_ms(&p, &s, NOW - 3600 * S), 0);
}

/* ------------------------------------------------------------------------------------------------------------ flows */

static void application_runs_to_its_end(void **state)
{
        struct core_fixture b;
        core_fixture_init(&b, NULL);
        core_fixture_observe(&b);
        core_fixture_run(&b);
        assert_log(&b, "submit SUBMITTED");
        assert_int_equal(b.stored.execution_attempts, 1);
        assert_int_equal(b.stored.submission_attempts, 1);
        assert_int_equal(b.stored.last_submission_attempt_ms, NOW);
        assert_int_equal(strlen(b.stored.submission_id), 36);
        assert_string_equal(b.stored.pod_name, "pi-driver");
        core_fixture_pod(&b, SPARK_POD_PENDING);
        core_fixture_run(&b);
        assert_log(&b, "expose SUBMITTED");
        assert_string_equal(b.stored.ui_service, "pi-ui-svc");
        core_fixture_pod(&b, SPARK_POD_RUNNING);
        core_fixture_run(&b);
        assert_log(&b, "RUNNING");
        assert_string_equal(b.stored.application_id, "spark-1");
        core_fixture_driver_ends(&b, 0, "Completed");
        b.now += 5 * S;
        core_fixture_run(&b);
        assert_log(&b, "SUCCEEDING COMPLETED");
        assert_int_equal(b.stored.termination_ms, NOW + 5 * S);
        core_fixture_deinit(&b);
}

static void failures_are_explained(void **state)
{
        struct core_fixture b;
        core_fixture_init(&b, NULL);
        core_fixture_observe(&b);
        core_fixture_run(&b);
        struct pod_observation o = core_fixture_driver(&b, SPARK_POD_PENDING);
        o.waiting = "Unschedulable";
        o.waiting_message = "0/3 nodes are available";
        application_core_observe_pod(b.core, &o);
        core_fixture_run(&b);
        assert_string_equal(b.stored.explanation, "the driver's pod waits: Unschedulable: 0/3 nodes are available");
        core_fixture_driver_ends(&b, 137, "OOMKilled");
        core_fixture_run(&b);
        assert_string_equal(b.stored.message, "driver container failed with ExitCode: 137, Reason: OOMKilled");
        assert_non_null(strstr(b.stored.explanation, "raise driver.memoryOverhead or driver.memory"));
        assert_int_equal(b.stored.state, APPLICATION_FAILED);
        core_fixture_deinit(&b);
}

static void failed_driver_is_retried_after_the_interval(void **state)
{
        struct core_fixture b;
        core_fixture_init(&b, NULL);
        core_fixture_on_failure(&b, 1, 1);
        core_fixture_observe(&b);
        core_fixture_run(&b);
        _cleanup_free_ char *first = mem_strdup(b.stored.submission_id);
        core_fixture_pod(&b, SPARK_POD_RUNNING);
        core_fixture_driver_ends(&b, 1, "Error");
        core_fixture_run(&b);
        assert_log(&b, "submit SUBMITTED FAILING");
        assert_int_equal(b.deadline, NOW + 100 * S);
        b.now += 100 * S;
        core_fixture_run(&b);
        assert_log(&b, "delete-pods PENDING_RERUN"); /* the pod is still there */
        assert_null(b.stored.pod_name);
        core_fixture_pod_removed(&b);
        core_fixture_run(&b);
        assert_log(&b, "submit SUBMITTED");
        assert_int_equal(b.stored.execution_attempts, 2);
        assert_int_equal(b.stored.submission_attempts, 2);
        assert_string_not_equal(b.stored.submission_id, first);
        core_fixture_deinit(&b);
}

static void spec_change_restarts(void **state)
{
        struct core_fixture b;
        core_fixture_init(&b, NULL);
        core_fixture_observe(&b);
        core_fixture_run(&b);
        core_fixture_pod(&b, SPARK_POD_RUNNING);
        core_fixture_run(&b);
        assert_log(&b, "submit SUBMITTED RUNNING expose RUNNING");
        b.policy.spec_hash = 12;
        b.generation++;
        core_fixture_observe(&b);
        core_fixture_run(&b);
        assert_log(&b, "INVALIDATING delete-pods PENDING_RERUN");
        assert_int_equal(b.stored.execution_attempts, 0);
        assert_int_equal(b.stored.submission_attempts, 0);
        core_fixture_pod_removed(&b);
        core_fixture_run(&b);
        assert_log(&b, "submit SUBMITTED");
        assert_int_equal(b.stored.execution_attempts, 1);
        core_fixture_deinit(&b);
}

static void spec_change_is_seen_after_a_restart(void **state)
{
        struct core_fixture b;
        core_fixture_init(&b, NULL);
        b.stored.state = APPLICATION_RUNNING;
        status_text_set(&b.stored.submission_id, "s-1");
        core_fixture_pod(&b, SPARK_POD_RUNNING);
        b.policy.spec_hash = 12; /* the pod has 11 */
        core_fixture_observe(&b);
        core_fixture_run(&b);
        assert_log(&b, "INVALIDATING delete-pods PENDING_RERUN");
        core_fixture_deinit(&b);
}

static void metadata_and_time_to_live_restart_nothing(void **state)
{
        struct core_fixture b;
        core_fixture_init(&b, NULL);
        core_fixture_observe(&b);
        core_fixture_run(&b);
        core_fixture_pod(&b, SPARK_POD_RUNNING);
        core_fixture_run(&b);
        b.log[0] = '\0';
        b.policy.has_time_to_live = true;
        b.policy.time_to_live_s = 7;
        b.generation++;
        core_fixture_observe(&b);
        core_fixture_run(&b);
        assert_log(&b, "");
        core_fixture_deinit(&b);
}

/* Sequences that were seen with the genuine operator, with its counts of executions and submissions. */
static void states_and_counts_follow_as_in_the_genuine_operator(void **state)
{
        struct core_fixture b;
        core_fixture_init(&b, NULL);
        b.counts = b.exposes = true;
        core_fixture_on_failure(&b, 1, 1);
        core_fixture_observe(&b);
        core_fixture_run(&b);
        core_fixture_pod(&b, SPARK_POD_RUNNING);
        core_fixture_run(&b);
        assert_log(&b, "SUBMITTED(1,1) RUNNING(1,1)");
        core_fixture_driver_ends(&b, 1, "Error");
        b.now += 1000 * S;
        core_fixture_run(&b);
        core_fixture_pod_removed(&b);
        core_fixture_run(&b);
        assert_log(&b, "FAILING(1,1) PENDING_RERUN(1,1) SUBMITTED(2,2)");
        core_fixture_pod(&b, SPARK_POD_RUNNING);
        core_fixture_run(&b);
        assert_log(&b, "RUNNING(2,2)");
        b.policy.spec_hash = 12;
        b.generation++;
        core_fixture_observe(&b);
        core_fixture_run(&b);
        core_fixture_pod_removed(&b);
        core_fixture_run(&b);
        assert_log(&b, "INVALIDATING(2,2) PENDING_RERUN(0,0) SUBMITTED(1,1)");
        core_fixture_pod(&b, SPARK_POD_RUNNING);
        core_fixture_run(&b);
        assert_log(&b, "RUNNING(1,1)");
        b.policy.suspend = true;
        core_fixture_observe(&b);
        core_fixture_run(&b);
        core_fixture_pod_removed(&b);
        b.policy.suspend = false;
        core_fixture_observe(&b);
        core_fixture_run(&b);
        assert_log(&b, "SUSPENDING(1,1) SUSPENDED(1,1) RESUMING(1,1) SUBMITTED(2,2)");
        core_fixture_deinit(&b);
}

static void partial_restart_excepts_fields(void **state)
{
        struct core_fixture b;
        core_fixture_init(&b, &(struct application_core_options){.partial_restart = true});
        core_fixture_observe(&b);
        core_fixture_run(&b);
        core_fixture_pod(&b, SPARK_POD_RUNNING);
        core_fixture_run(&b);
        b.log[0] = '\0';
        b.policy.spec_hash = 12;
        core_fixture_observe(&b);
        core_fixture_run(&b);
        assert_log(&b, "");
        b.policy.partial_hash = 8;
        core_fixture_observe(&b);
        core_fixture_run(&b);
        assert_log(&b, "INVALIDATING delete-pods PENDING_RERUN");
        core_fixture_deinit(&b);
}

static void suspension_and_resumption(void **state)
{
        struct core_fixture b;
        core_fixture_init(&b, NULL);
        core_fixture_observe(&b);
        core_fixture_run(&b);
        core_fixture_pod(&b, SPARK_POD_RUNNING);
        core_fixture_run(&b);
        assert_log(&b, "submit SUBMITTED RUNNING expose RUNNING");
        b.policy.suspend = true;
        core_fixture_observe(&b);
        core_fixture_run(&b);
        assert_log(&b, "SUSPENDING delete-pods SUSPENDED");
        core_fixture_pod_removed(&b);
        core_fixture_run(&b);
        assert_log(&b, "");
        b.policy.suspend = false;
        core_fixture_observe(&b);
        core_fixture_run(&b);
        assert_log(&b, "RESUMING submit SUBMITTED");
        assert_int_equal(b.stored.execution_attempts, 2);
        core_fixture_deinit(&b);
}

static void new_suspended_application_is_not_submitted(void **state)
{
        struct core_fixture b;
        core_fixture_init(&b, NULL);
        b.policy.suspend = true;
        core_fixture_observe(&b);
        core_fixture_run(&b);
        assert_log(&b, "SUSPENDING delete-pods SUSPENDED");
        core_fixture_deinit(&b);
}

static void time_to_live_deletes(void **state)
{
        struct core_fixture b;
        core_fixture_init(&b, NULL);
        b.stored.state = APPLICATION_COMPLETED;
        b.stored.termination_ms = NOW;
        b.policy.has_time_to_live = true;
        b.policy.time_to_live_s = 60;
        core_fixture_observe(&b);
        core_fixture_run(&b);
        assert_log(&b, "");
        assert_int_equal(b.deadline, NOW + 60 * S);
        b.now += 60 * S;
        core_fixture_run(&b);
        assert_log(&b, "delete");
        core_fixture_deinit(&b);
        core_fixture_init(&b, &(struct application_core_options){.default_time_to_live_s = 5});
        b.stored.state = APPLICATION_FAILED;
        b.stored.termination_ms = NOW - 5 * S;
        core_fixture_observe(&b);
        core_fixture_run(&b);
        assert_log(&b, "delete");
        core_fixture_deinit(&b);
}

/* An operator whose clock was ahead has written the time of the end. */
static void time_to_live_counts_from_the_first_look_at_a_future_end(void **state)
{
        struct core_fixture b;
        core_fixture_init(&b, NULL);
        b.stored.state = APPLICATION_COMPLETED;
        b.stored.termination_ms = NOW + 86400 * S;
        b.policy.has_time_to_live = true;
        b.policy.time_to_live_s = 60;
        core_fixture_observe(&b);
        core_fixture_run(&b);
        assert_int_equal(b.deadline, NOW + 60 * S);
        b.now -= 3600 * S; /* the clock is set back */
        core_fixture_run(&b);
        assert_int_equal(b.deadline, b.now + 60 * S);
        b.now += 60 * S;
        core_fixture_run(&b);
        assert_log(&b, "delete");
        core_fixture_deinit(&b);
}

/* The event follows that of the submission. A pod that waits gets none. */
static void driver_that_runs_before_its_submission_ends_is_told(void **state)
{
        for (int runs = 0; runs <= 1; runs++) {
                struct core_fixture b;
                struct application_action action;
                core_fixture_init(&b, NULL);
                core_fixture_observe(&b);
                application_core_reconcile(b.core, "jobs", "pi", b.now);
                assert_true(application_core_next_action(b.core, &action));
                assert_int_equal(action.kind, APPLICATION_SUBMIT);
                struct pod_observation pod = core_fixture_driver(&b, SPARK_POD_PENDING);
                pod.submission_id = action.submission_id;
                application_core_observe_pod(b.core, &pod);
                pod.phase = SPARK_POD_RUNNING;
                pod.version = ++b.driver_version;
                if (runs)
                        application_core_observe_pod(b.core, &pod);
                core_fixture_perform(&b, &action, APPLICATION_RESULT_OK);
                application_action_deinit(&action);
                core_fixture_run(&b);
                assert_log(&b, runs ? "submit SUBMITTED RUNNING expose RUNNING" : "submit SUBMITTED expose SUBMITTED");
                assert_string_equal(
                        b.events, runs ? "SparkApplicationSubmitted: SparkApplication pi was submitted successfully\n"
                                         "SparkDriverRunning: Driver pi-driver is running\n"
                                       : "SparkApplicationSubmitted: SparkApplication pi was submitted successfully\n");
                core_fixture_deinit(&b);
        }
}

static void submission_failure_is_retried(void **state)
{
        struct core_fixture b;
        core_fixture_init(&b, NULL);
        core_fixture_on_failure(&b, 1, 1);
        core_fixture_observe(&b);
        core_fixture_step_with(&b, APPLICATION_RESULT_FAILED);
        core_fixture_run(&b);
        assert_log(&b, "submit SUBMISSION_FAILED");
        assert_string_equal(b.stored.message, "failed to submit spark application: failed to run spark-submit: reason");
        assert_int_equal(b.stored.submission_attempts, 1);
        assert_int_equal(b.stored.execution_attempts, 0);
        assert_int_equal(b.deadline, NOW + 100 * S);
        b.now += 100 * S;
        core_fixture_step_with(&b, APPLICATION_RESULT_CONFLICT);
        core_fixture_run(&b);
        assert_log(&b, "submit SUBMISSION_FAILED FAILED");
        assert_string_equal(b.stored.message,
                            "failed to submit spark application: failed to run spark-submit: driver pod already exist");
        core_fixture_deinit(&b);
}

static void unanswered_submission_is_repeated_with_its_id(void **state)
{
        struct core_fixture b;
        core_fixture_init(&b, NULL);
        core_fixture_observe(&b);
        struct application_action first, second;
        application_core_reconcile(b.core, "jobs", "pi", b.now);
        assert_true(application_core_next_action(b.core, &first));
        application_core_done(b.core, "jobs", "pi", first.ticket,
                              &(struct application_answer){.result = APPLICATION_RESULT_RETRY}, b.now);
        int64_t again = application_core_reconcile(b.core, "jobs", "pi", b.now);
        assert_true(again > b.now && again < b.now + S);
        application_core_reconcile(b.core, "jobs", "pi", again);
        assert_true(application_core_next_action(b.core, &second));
        assert_string_equal(first.submission_id, second.submission_id);
        application_action_deinit(&first);
        application_action_deinit(&second);
        core_fixture_deinit(&b);
}

static void interrupted_submission_is_completed(void **state)
{
        struct core_fixture b;
        struct application_action action;
        core_fixture_init(&b, NULL);
        core_fixture_observe(&b);
        application_core_reconcile(b.core, "jobs", "pi", b.now);
        assert_true(application_core_next_action(b.core, &action));
        assert_int_equal(action.kind, APPLICATION_SUBMIT);
        /* The operator dies here. Another one finds the pod and a status without it. */
        application_core_free(b.core);
        b.core = application_core_new(NULL);
        struct pod_observation o = core_fixture_driver(&b, SPARK_POD_PENDING);
        o.submission_id = action.submission_id;
        application_core_observe_pod(b.core, &o);
        core_fixture_observe(&b);
        application_core_synced(b.core);
        core_fixture_run(&b);
        assert_log(&b, "finish SUBMITTED expose SUBMITTED");
        assert_string_equal(b.stored.submission_id, action.submission_id);
        assert_int_equal(b.stored.submission_attempts, 1);
        application_action_deinit(&action);
        core_fixture_deinit(&b);
}

static void missing_driver_fails_after_the_grace_period(void **state)
{
        struct core_fixture b;
        core_fixture_init(&b, NULL);
        core_fixture_observe(&b);
        core_fixture_run(&b);
        assert_int_equal(b.deadline, NOW + 10 * S);
        b.now += 10 * S;
        core_fixture_run(&b);
        assert_log(&b, "submit SUBMITTED find FAILING FAILED");
        assert_string_equal(b.stored.message, "driver pod not found");
        core_fixture_deinit(&b);
}

static void driver_that_a_watch_has_not_shown_is_looked_for(void **state)
{
        struct core_fixture b;
        core_fixture_init(&b, NULL);
        core_fixture_observe(&b);
        core_fixture_run(&b);
        b.driver_exists = true; /* the watch is broken */
        b.now += 10 * S;
        core_fixture_run(&b);
        assert_log(&b, "submit SUBMITTED find RUNNING expose RUNNING");
        core_fixture_deinit(&b);
}

/* A pod of an interrupted submission was deleted, and the watch shows that before it shows its successor. */
static void driver_that_was_replaced_is_looked_for(void **state)
{
        struct core_fixture b;
        core_fixture_init(&b, NULL);
        core_fixture_observe(&b);
        core_fixture_run(&b);
        core_fixture_pod(&b, SPARK_POD_RUNNING);
        core_fixture_run(&b);
        core_fixture_pod_removed(&b);
        b.driver_exists = true;
        core_fixture_run(&b);
        assert_log(&b, "submit SUBMITTED RUNNING expose RUNNING find");
        core_fixture_pod_removed(&b);
        b.driver_exists = false;
        core_fixture_run(&b);
        assert_log(&b, "find FAILING FAILED");
        core_fixture_deinit(&b);
}

static void lost_driver_uses_up_no_retry(void **state)
{
        struct core_fixture b;
        core_fixture_init(&b, NULL);
        core_fixture_on_failure(&b, 0, 0);
        core_fixture_observe(&b);
        core_fixture_run(&b);
        struct pod_observation o = core_fixture_driver(&b, SPARK_POD_FAILED);
        o.loss = POD_LOSS_PREEMPTED;
        o.loss_message = "pod x";
        application_core_observe_pod(b.core, &o);
        core_fixture_run(&b);
        assert_log(&b, "submit SUBMITTED FAILING delete-pods PENDING_RERUN");
        assert_string_equal(b.stored.explanation, "the driver's pod was preempted by one of higher priority: pod x");
        assert_int_equal(b.stored.execution_attempts, 0);
        core_fixture_pod_removed(&b);
        core_fixture_run(&b);
        assert_log(&b, "submit SUBMITTED");
        assert_int_equal(b.stored.execution_attempts, 1);
        core_fixture_pod(&b, SPARK_POD_RUNNING);
        core_fixture_driver_ends(&b, 1, "Error");
        core_fixture_run(&b);
        assert_int_equal(b.stored.state, APPLICATION_FAILED);
        core_fixture_deinit(&b);
}

static void sidecars_do_not_prolong(void **state)
{
        struct core_fixture b;
        core_fixture_init(&b, NULL);
        core_fixture_observe(&b);
        core_fixture_run(&b);
        struct pod_observation o =
                core_fixture_driver(&b, SPARK_POD_COMPLETED); /* the pod runs, its container has ended */
        o.terminated = true;
        application_core_observe_pod(b.core, &o);
        core_fixture_run(&b);
        assert_log(&b, "submit SUBMITTED SUCCEEDING COMPLETED");
        core_fixture_deinit(&b);
}

static void executors_are_tracked(void **state)
{
        struct core_fixture b;
        core_fixture_init(&b, &(struct application_core_options){.max_tracked_executors = 2});
        core_fixture_observe(&b);
        core_fixture_run(&b);
        core_fixture_pod(&b, SPARK_POD_RUNNING);
        core_fixture_run(&b);
        for (int i = 0; i < 3; i++) {
                char name[] = {'e', (char)('0' + i), '\0'};
                struct pod_observation o = core_fixture_driver(&b, i == 1 ? SPARK_POD_COMPLETED : SPARK_POD_RUNNING);
                o.is_driver = false;
                o.name = name;
                application_core_observe_pod(b.core, &o);
        }
        struct pod_observation foreign = core_fixture_driver(&b, SPARK_POD_RUNNING);
        foreign.is_driver = false;
        foreign.name = "a";
        foreign.submission_id = "other";
        application_core_observe_pod(b.core, &foreign);
        core_fixture_run(&b);
        assert_int_equal(b.stored.n_executors, 2);
        assert_int_equal(b.stored.executors[0].state, SPARK_POD_RUNNING);
        assert_int_equal(b.stored.executors[1].state, SPARK_POD_COMPLETED);
        struct pod_observation gone = core_fixture_driver(&b, SPARK_POD_RUNNING);
        gone.is_driver = false;
        gone.name = "e0";
        assert_true(application_core_pod_removed(b.core, &gone));
        gone.name = "e1";
        assert_true(application_core_pod_removed(b.core, &gone));
        core_fixture_run(&b);
        assert_int_equal(b.stored.executors[0].state, SPARK_POD_UNKNOWN);
        assert_int_equal(b.stored.executors[1].state, SPARK_POD_COMPLETED);
        core_fixture_driver_ends(&b, 0, NULL);
        core_fixture_run(&b);
        assert_int_equal(b.stored.state, APPLICATION_COMPLETED);
        assert_int_equal(b.stored.executors[0].state, SPARK_POD_COMPLETED);
        core_fixture_deinit(&b);
}

static void deleted_object_is_not_submitted(void **state)
{
        struct core_fixture b;
        core_fixture_init(&b, NULL);
        b.leaving = true;
        core_fixture_observe(&b);
        core_fixture_run(&b);
        assert_log(&b, "");
        core_fixture_deinit(&b);
        core_fixture_init(&b, NULL);
        core_fixture_observe(&b);
        core_fixture_run(&b);
        core_fixture_pod(&b, SPARK_POD_RUNNING);
        core_fixture_run(&b);
        b.log[0] = '\0';
        b.leaving = true;
        core_fixture_observe(&b);
        core_fixture_run(&b);
        assert_log(&b, "delete-pods");
        core_fixture_deinit(&b);
}

static void invalid_application_fails_until_it_is_corrected(void **state)
{
        struct core_fixture b;
        core_fixture_init(&b, NULL);
        b.invalid = "spec.driver: it is required";
        core_fixture_observe(&b);
        core_fixture_run(&b);
        assert_log(&b, "FAILED");
        assert_string_equal(b.stored.message, "spec.driver: it is required");
        b.invalid = NULL;
        b.policy.spec_hash = 12;
        core_fixture_observe(&b);
        core_fixture_run(&b);
        assert_log(&b, "INVALIDATING delete-pods PENDING_RERUN submit SUBMITTED");
        core_fixture_deinit(&b);
}

static void foreign_pod_is_left_alone(void **state)
{
        struct core_fixture b;
        core_fixture_init(&b, NULL);
        core_fixture_observe(&b);
        struct pod_observation o = core_fixture_driver(&b, SPARK_POD_RUNNING);
        o.owner_uid = "someone else";
        application_core_observe_pod(b.core, &o);
        core_fixture_step_with(&b, APPLICATION_RESULT_CONFLICT);
        core_fixture_run(&b);
        assert_log(&b, "submit SUBMISSION_FAILED FAILED");
        core_fixture_deinit(&b);
}

static void stored_status_conflict_is_resolved(void **state)
{
        struct core_fixture b;
        core_fixture_init(&b, NULL);
        core_fixture_observe(&b);
        core_fixture_step_with(&b, APPLICATION_RESULT_OK); /* submitted */
        core_fixture_step_with(&b, APPLICATION_RESULT_CONFLICT);
        assert_log(&b, "submit SUBMITTED");
        core_fixture_observe(&b); /* the object as another client wrote it: new */
        b.now += S;
        core_fixture_run(&b);
        assert_log(&b, "submit SUBMITTED");
        assert_int_equal(b.stored.submission_attempts, 1);
        core_fixture_deinit(&b);
}

static void events_follow_stored_states(void **state)
{
        struct core_fixture b;
        struct application_action action;
        core_fixture_init(&b, NULL);
        core_fixture_observe(&b);
        core_fixture_step_with(&b, APPLICATION_RESULT_OK);
        application_core_reconcile(b.core, "jobs", "pi", b.now);
        assert_true(application_core_next_action(b.core, &action));
        assert_int_equal(action.kind, APPLICATION_WRITE_STATUS);
        assert_false(application_core_next_action(b.core, &action));
        application_core_done(b.core, "jobs", "pi", action.ticket, &(struct application_answer){.version = 9}, b.now);
        application_action_deinit(&action);
        assert_true(application_core_next_action(b.core, &action));
        assert_int_equal(action.kind, APPLICATION_EVENT);
        assert_string_equal(action.event_reason, "SparkApplicationSubmitted");
        assert_string_equal(action.message, "SparkApplication pi was submitted successfully");
        application_action_deinit(&action);
        assert_true(application_core_next_action(b.core, &action));
        assert_int_equal(action.kind, APPLICATION_TRANSITION);
        assert_int_equal(action.to, APPLICATION_SUBMITTED);
        application_action_deinit(&action);
        assert_int_equal(application_core_count(b.core, APPLICATION_SUBMITTED), 1);
        core_fixture_deinit(&b);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(one_sync_as_in_the_genuine_operator),
                cmocka_unit_test(retries_are_due_as_in_the_genuine_operator),
                cmocka_unit_test(application_runs_to_its_end),
                cmocka_unit_test(failures_are_explained),
                cmocka_unit_test(failed_driver_is_retried_after_the_interval),
                cmocka_unit_test(spec_change_restarts),
                cmocka_unit_test(spec_change_is_seen_after_a_restart),
                cmocka_unit_test(metadata_and_time_to_live_restart_nothing),
                cmocka_unit_test(states_and_counts_follow_as_in_the_genuine_operator),
                cmocka_unit_test(partial_restart_excepts_fields),
                cmocka_unit_test(suspension_and_resumption),
                cmocka_unit_test(new_suspended_application_is_not_submitted),
                cmocka_unit_test(time_to_live_deletes),
                cmocka_unit_test(time_to_live_counts_from_the_first_look_at_a_future_end),
                cmocka_unit_test(driver_that_runs_before_its_submission_ends_is_told),
                cmocka_unit_test(submission_failure_is_retried),
                cmocka_unit_test(unanswered_submission_is_repeated_with_its_id),
                cmocka_unit_test(interrupted_submission_is_completed),
                cmocka_unit_test(missing_driver_fails_after_the_grace_period),
                cmocka_unit_test(driver_that_was_replaced_is_looked_for),
                cmocka_unit_test(driver_that_a_watch_has_not_shown_is_looked_for),
                cmocka_unit_test(lost_driver_uses_up_no_retry),
                cmocka_unit_test(sidecars_do_not_prolong),
                cmocka_unit_test(executors_are_tracked),
                cmocka_unit_test(deleted_object_is_not_submitted),
                cmocka_unit_test(invalid_application_fails_until_it_is_corrected),
                cmocka_unit_test(foreign_pod_is_left_alone),
                cmocka_unit_test(stored_status_conflict_is_resolved),
                cmocka_unit_test(events_follow_stored_states),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
