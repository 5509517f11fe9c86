/* Recovery of a new leader from stored records: see master_recovery.c. */
#include "standalone/core/master_cases.h"

#include <stdlib.h>

static void what_was_stored_is_recovered(void **state)
{
        struct master *m = recorded_master(&rec, &by_id);
        struct app_record apps[] = {{.id = "app-1", .spec = app_spec("a", 1024, 2, 4)},
                                    {.id = "app-2", .spec = app_spec("gone", 1024, 2, 4)}};
        struct driver_record drivers[] = {
                {.id = "d-runs", .launched = true, .spec = {.main_class = "Runs", .cores = 1}},
                {.id = "d-lost", .launched = true, .spec = {.main_class = "Lost", .cores = 1}},
                {.id = "d-super", .launched = true, .spec = {.main_class = "Super", .cores = 1, .supervise = true}},
                {.id = "d-waits", .launched = false, .spec = {.main_class = "Waits", .cores = 1}},
        };
        struct worker_spec workers[] = {worker_spec("w1", 1, 8, 8192), worker_spec("w2", 2, 8, 8192)};
        char *message;

        /* a standby master registers no peers */
        master_register_worker(m, 5, &workers[0], 1);
        master_register_app(m, 6, &apps[0].spec, 1);
        struct master_reply refused = submit_driver(m, "X", 1, false);

        assert_false(refused.success);
        assert_string_equal(refused.message,
                            "Current state is not alive: STANDBY. Can only accept driver submissions in ALIVE state.");
        master_reply_deinit(&refused);
        assert_int_equal(master_deadline(m), INT64_MAX);
        recorder_expect(&rec, "standby 5\nstandby 6\n");

        master_elected(m, apps, 2, drivers, 4, workers, 2, MS(1000));
        assert_int_equal(m->status, MASTER_RECOVERING);
        recorder_expect(&rec, "changed a\nchanged gone\nchanged w1\nchanged w2\n");
        assert_null(master_driver_status(m, "d-runs", &message));
        assert_string_equal(message,
                            "Current state is not alive: RECOVERING. Can only request driver status in ALIVE state.");
        free(message);

        /* the worker reports twice, and unknown applications leave no state */
        struct executor_report executors[] = {
                {.app_id = "app-1", .id = 4, .cores = 2, .memory = 1024, .state = EXECUTOR_RUNNING},
                {.app_id = "app-0", .id = 0, .cores = 2, .memory = 1024, .state = EXECUTOR_RUNNING},
        };
        struct driver_report runs = {.id = "d-runs"}, stranger = {.id = "d-stranger"};

        master_worker_state(m, 11, "w1", executors, 2, &runs, 1, MS(1001));
        recorder_expect(&rec, "kill 0 on w1\n");
        master_worker_state(m, 11, "w1", executors, 1, &stranger, 1, MS(1002)); /* now without the driver: */
        recorder_expect(&rec, "kill driver d-stranger on w1\n");
        assert_int_equal(master_worker(m, "w1")->cores_used, 3); /* not a loss, because it was adopted later */
        master_app_changed(m, 12, "app-1", NULL, 0, 9, MS(1003));
        master_schedule(m, MS(1003));
        recorder_expect(&rec, "");
        assert_int_equal(master_deadline(m), MS(61000));
        master_tick(m, MS(61000) - 1);
        assert_int_equal(m->status, MASTER_RECOVERING);

        master_heartbeat(m, 11, "w1", MS(50000));
        master_tick(m, MS(61000));
        assert_int_equal(m->status, MASTER_ALIVE);
        recorder_expect(&rec, "removed w2 for a: Not responding for recovery\nfinished gone\n");
        master_schedule(m, MS(61000));
        recorder_expect(&rec, "launch driver Waits on w1\nlaunch driver Super on w1\nlaunch a/9 on w1 2\n");
        assert_int_equal(master_driver_status(m, "d-runs", &message)->state, DRIVER_RUNNING);
        assert_int_equal(master_driver_status(m, "d-lost", &message)->state, DRIVER_ERROR);
        assert_int_equal(master_driver_status(m, "d-super", &message)->state, DRIVER_RUNNING);
        assert_string_not_equal(master_driver_status(m, "d-super", &message)->id, "d-super");
        assert_int_equal(master_app(m, "app-1")->state, APP_RUNNING);
        master_revoked(m, MS(61001));
        recorder_expect(&rec, "leadership lost\n");
        free_master(m);
}

static void recovery_ends_when_all_have_answered(void **state)
{
        struct driver_record driver = {.id = "d", .launched = true, .spec = {.main_class = "D"}};
        struct worker_spec w = worker_spec("w1", 1, 8, 8192), restarted = worker_spec("w9", 1, 4, 4096);

        struct master *m = recorded_master(&rec, &by_id); /* no peers to wait for */
        master_elected(m, NULL, 0, &driver, 1, NULL, 0, 1);
        assert_int_equal(m->status, MASTER_ALIVE);
        assert_int_equal(m->n_drivers, 0);
        free_master(m);

        m = recorded_master(&rec, &by_id); /* the worker was restarted meanwhile */
        master_elected(m, NULL, 0, NULL, 0, &w, 1, 1);
        master_register_worker(m, 3, &restarted, 2);
        assert_null(master_worker(m, "w1"));
        assert_int_equal(master_worker(m, "w9")->state, WORKER_ALIVE);
        master_tick(m, 3);
        assert_int_equal(m->status, MASTER_ALIVE);
        free_master(m);

        m = recorded_master(&rec, &by_id); /* the registration does not report executors yet */
        master_elected(m, NULL, 0, NULL, 0, &w, 1, 1);
        master_register_worker(m, 3, &w, 2);
        assert_int_equal(m->status, MASTER_RECOVERING);
        master_worker_state(m, 3, "w1", NULL, 0, NULL, 0, 3);
        assert_int_equal(m->status, MASTER_ALIVE);
        recorder_expect(&rec, "changed w1\nregistered w1 again\n");
        free_master(m);
}

/* The leader ended before it sent the recorded id: the application registers as a new one. */
static void an_application_that_was_never_told_its_id_is_recovered(void **state)
{
        struct master *m = recorded_master(&rec, &by_id);
        struct app_record app = {.id = "app-1", .spec = app_spec("a", 1024, 2, 4)};
        struct app_spec again = app.spec;
        master_elected(m, &app, 1, NULL, 0, NULL, 0, 1);
        assert_int_equal(m->status, MASTER_RECOVERING);
        master_register_app(m, 3, &again, 2);
        recorder_expect(&rec, "changed a\nregistered a again\n");
        assert_int_equal(m->status, MASTER_ALIVE);
        assert_int_equal(master_app(m, "app-1")->peer, 3);
        free_master(m);

        m = recorded_master(&rec, &by_id); /* it registers with its id */
        again.app_id = "app-1";
        master_elected(m, &app, 1, NULL, 0, NULL, 0, 1);
        master_register_app(m, 3, &again, 2);
        assert_int_equal(m->status, MASTER_RECOVERING);
        master_app_changed(m, 3, "app-1", NULL, 0, 1, 3);
        assert_int_equal(m->status, MASTER_ALIVE);
        recorder_expect(&rec, "changed a\nregistered a again\n");
        free_master(m);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_was_stored_is_recovered),
                cmocka_unit_test(recovery_ends_when_all_have_answered),
                cmocka_unit_test(an_application_that_was_never_told_its_id_is_recovered),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
