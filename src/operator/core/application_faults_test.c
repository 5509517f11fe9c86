/* Requests that are refused or lost, and operators that start late: exposure, groups, status writes. */
#include "operator/core/core_fixture.h"

static void corrected_application_is_submitted_after_a_restart(void **state)
{
        for (int corrected = 0; corrected <= 1; corrected++) {
                struct core_fixture b;
                core_fixture_init(&b, NULL);
                b.stored = (struct application_status){
                        .state = APPLICATION_FAILED, .reason = mem_strdup("Invalid"), .observed_generation = 1};
                b.generation = corrected ? 2 : 1; /* of an operator that accepts more, the generation is the same */
                core_fixture_observe(&b);
                core_fixture_run(&b);
                assert_log(&b, corrected ? "INVALIDATING delete-pods PENDING_RERUN submit SUBMITTED" : "");
                core_fixture_deinit(&b);
        }
}

static void exposure_does_not_delay_the_driver(void **state)
{
        struct core_fixture b;
        core_fixture_init(&b, NULL);
        core_fixture_observe(&b);
        core_fixture_run(&b);
        core_fixture_pod(&b, SPARK_POD_PENDING);
        core_fixture_step_with(&b, APPLICATION_RESULT_RETRY);
        assert_log(&b, "submit SUBMITTED expose");
        core_fixture_step_with(&b, APPLICATION_RESULT_OK);
        core_fixture_step_with(&b, APPLICATION_RESULT_OK);
        assert_log(&b, "SUBMITTED");
        assert_true(b.deadline > b.now && b.deadline < b.now + S);
        core_fixture_pod(&b, SPARK_POD_RUNNING);
        core_fixture_run(&b);
        assert_log(&b, "RUNNING");
        b.now += S;
        core_fixture_step_with(&b, APPLICATION_RESULT_FAILED);
        core_fixture_run(&b);
        assert_log(&b, "expose");
        assert_non_null(strstr(b.events, "failed to expose the driver of SparkApplication pi: reason"));
        assert_null(b.stored.ui_service);
        core_fixture_driver_ends(&b, 0, "Completed");
        core_fixture_run(&b);
        assert_log(&b, "SUCCEEDING COMPLETED");
        core_fixture_deinit(&b);
}

static void submission_exposes(void **state)
{
        struct core_fixture b;
        core_fixture_init(&b, NULL);
        b.exposes = true;
        core_fixture_observe(&b);
        core_fixture_run(&b);
        core_fixture_pod(&b, SPARK_POD_PENDING);
        core_fixture_run(&b);
        assert_log(&b, "submit SUBMITTED"); /* one write has all of it */
        assert_string_equal(b.stored.ui_service, "pi-ui-svc");
        assert_string_equal(b.stored.application_id, "spark-1");
        core_fixture_deinit(&b);
        core_fixture_init(&b, NULL);
        b.exposes = true;
        b.expose_error = "services are forbidden";
        core_fixture_observe(&b);
        core_fixture_run(&b);
        core_fixture_pod(&b, SPARK_POD_RUNNING);
        core_fixture_run(&b);
        assert_log(&b, "submit SUBMITTED RUNNING");
        assert_non_null(strstr(b.events, "services are forbidden"));
        core_fixture_deinit(&b);
}

/* A core that starts later exposes a driver whose objects are missing, and looks at no other. */
static void missing_exposure_is_made_after_a_restart(void **state)
{
        static const struct {
                enum application_state stored;
                bool ui_service, named, asks;
                const char *log;
        } rows[] = {
                {APPLICATION_RUNNING, true, true, false, ""},
                {APPLICATION_RUNNING, true, false, false, "expose RUNNING"},
                {APPLICATION_SUBMITTED, true, true, true, "RUNNING"},
                {APPLICATION_SUBMITTED, true, false, false, "RUNNING expose RUNNING"},
                {APPLICATION_SUBMITTED, false, false, false, "RUNNING"},
                {APPLICATION_SUBMITTED, false, false, true, "RUNNING expose RUNNING"},
                {APPLICATION_RUNNING, false, false, true, "expose RUNNING"},
                {APPLICATION_RUNNING, false, false, false, ""},
        };
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                struct core_fixture b;
                core_fixture_init(&b, &(struct application_core_options){.ui_service = rows[i].ui_service});
                b.policy.exposes_driver = rows[i].asks;
                b.stored = (struct application_status){.state = rows[i].stored,
                                                       .submission_id = mem_strdup("id"),
                                                       .application_id = mem_strdup("spark-1"),
                                                       .ui_service = rows[i].named ? mem_strdup("pi-ui-svc") : NULL};
                core_fixture_observe(&b);
                core_fixture_pod(&b, SPARK_POD_RUNNING);
                core_fixture_run(&b);
                assert_log(&b, rows[i].log);
                core_fixture_deinit(&b);
        }
}

static void group_is_deleted_before_the_end(void **state)
{
        struct core_fixture b;
        core_fixture_init(&b, &(struct application_core_options){.batch_schedulers = true});
        b.policy.batch_scheduler = true;
        core_fixture_observe(&b);
        core_fixture_run(&b);
        core_fixture_driver_ends(&b, 0, "Completed");
        core_fixture_step_with(&b, APPLICATION_RESULT_OK);
        core_fixture_step_with(&b, APPLICATION_RESULT_RETRY);
        assert_log(&b, "submit SUBMITTED SUCCEEDING clean-up");
        b.now += S;
        core_fixture_step_with(&b, APPLICATION_RESULT_RETRY);
        assert_log(&b, "clean-up");
        b.now += S;
        core_fixture_run(&b);
        assert_log(&b, "clean-up COMPLETED");
        core_fixture_deinit(&b);
        core_fixture_init(
                &b, &(struct application_core_options){.batch_schedulers = true, .default_batch_scheduler = true});
        b.stored.state = APPLICATION_FAILING;
        core_fixture_observe(&b);
        core_fixture_step_with(&b, APPLICATION_RESULT_FAILED);
        core_fixture_run(&b);
        assert_log(&b, "clean-up FAILED");
        assert_non_null(strstr(b.events, "SparkApplicationCleanUpFailed"));
        core_fixture_deinit(&b);
}

static void group_that_nobody_deletes_ends_the_application(void **state)
{
        struct core_fixture b;
        core_fixture_init(&b, &(struct application_core_options){.batch_schedulers = true});
        b.policy.batch_scheduler = true;
        b.stored.state = APPLICATION_SUCCEEDING;
        core_fixture_observe(&b);
        for (int i = 0; i < 8; i++, b.now += 60 * S)
                core_fixture_step_with(&b, APPLICATION_RESULT_RETRY);
        core_fixture_run(&b);
        assert_int_equal(b.stored.state, APPLICATION_COMPLETED);
        core_fixture_deinit(&b);
}

/* Ended applications need no request after a restart. */
static void ended_applications_are_quiet(void **state)
{
        struct core_fixture b;
        core_fixture_init(
                &b, &(struct application_core_options){.batch_schedulers = true, .default_batch_scheduler = true});
        b.stored.state = APPLICATION_COMPLETED;
        core_fixture_observe(&b);
        core_fixture_run(&b);
        assert_log(&b, "");
        core_fixture_deinit(&b);
}

static void pods_are_found_by_name(void **state)
{
        struct core_fixture b;
        bool driver;
        core_fixture_init(&b, NULL);
        core_fixture_observe(&b);
        core_fixture_run(&b);
        core_fixture_pod(&b, SPARK_POD_RUNNING);
        struct pod_observation o = core_fixture_driver(&b, SPARK_POD_RUNNING);
        o.is_driver = false;
        o.name = "e0";
        application_core_observe_pod(b.core, &o);
        assert_string_equal(application_core_pod_owner(b.core, "jobs", "pi-driver", "d-1", &driver), "pi");
        assert_true(driver);
        assert_null(application_core_pod_owner(b.core, "jobs", "pi-driver", "d-0", &driver));
        assert_null(application_core_pod_owner(b.core, "other", "pi-driver", "d-1", &driver));
        assert_string_equal(application_core_pod_owner(b.core, "jobs", "e0", "any", &driver), "pi");
        assert_false(driver);
        application_core_pod_removed(b.core, &o);
        assert_null(application_core_pod_owner(b.core, "jobs", "e0", "any", &driver));
        core_fixture_pod_removed(&b);
        assert_null(application_core_pod_owner(b.core, "jobs", "pi-driver", "d-1", &driver));
        core_fixture_deinit(&b);
}

/* The server carried the write out, its answer was lost, and the watch shows the object. */
static void event_follows_a_write_without_an_answer(void **state)
{
        struct core_fixture b;
        struct application_action action;
        core_fixture_init(&b, NULL);
        core_fixture_observe(&b);
        core_fixture_step_with(&b, APPLICATION_RESULT_OK);
        application_core_reconcile(b.core, "jobs", "pi", b.now);
        assert_true(application_core_next_action(b.core, &action));
        application_status_copy(&b.stored, &action.status);
        application_core_done(b.core, "jobs", "pi", action.ticket,
                              &(struct application_answer){.result = APPLICATION_RESULT_RETRY}, b.now);
        application_action_deinit(&action);
        assert_false(application_core_next_action(b.core, &action));
        core_fixture_observe(&b);
        assert_true(application_core_next_action(b.core, &action));
        assert_string_equal(action.event_reason, "SparkApplicationSubmitted");
        application_action_deinit(&action);
        assert_true(application_core_next_action(b.core, &action));
        assert_int_equal(action.kind, APPLICATION_TRANSITION);
        assert_int_equal(action.since_created_ms, 0);
        application_action_deinit(&action);
        b.now += S;
        core_fixture_run(&b);
        assert_log(&b, "submit"); /* and no second write */
        core_fixture_deinit(&b);
}

static void condition_tells_when_its_status_changed(void **state)
{
        struct core_fixture b;
        core_fixture_init(&b, NULL);
        core_fixture_observe(&b);
        core_fixture_run(&b);
        assert_int_equal(b.stored.transition_ms, NOW);
        b.now += S;
        core_fixture_pod(&b, SPARK_POD_RUNNING);
        core_fixture_run(&b);
        assert_int_equal(b.stored.transition_ms, NOW + S);
        b.now += S;
        core_fixture_driver_ends(&b, 0, "Completed");
        core_fixture_run(&b);
        assert_int_equal(b.stored.state, APPLICATION_COMPLETED);
        assert_int_equal(b.stored.transition_ms, NOW + S);
        core_fixture_deinit(&b);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(corrected_application_is_submitted_after_a_restart),
                cmocka_unit_test(exposure_does_not_delay_the_driver),
                cmocka_unit_test(submission_exposes),
                cmocka_unit_test(missing_exposure_is_made_after_a_restart),
                cmocka_unit_test(group_is_deleted_before_the_end),
                cmocka_unit_test(group_that_nobody_deletes_ends_the_application),
                cmocka_unit_test(ended_applications_are_quiet),
                cmocka_unit_test(pods_are_found_by_name),
                cmocka_unit_test(event_follows_a_write_without_an_answer),
                cmocka_unit_test(condition_tells_when_its_status_changed),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
