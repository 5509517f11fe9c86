/* Applications with a journal, whose drivers are killed: they wait for the next driver with their executors. */
#include "standalone/core/master_cases.h"

#include <stdlib.h>

static struct app_spec resumable(const char *address, int epoch, const char *id)
{
        struct app_spec spec = app_spec("a", 1024, 2, 4);

        spec.address = address;
        spec.resume_id = id;
        spec.resume = (struct app_resume){epoch, NS_PER_SECOND, "token"};
        return spec;
}

static void the_next_driver_gets_the_executors_of_a_killed_one(void **state)
{
        struct master *m = start_master(&by_id);
        struct app_spec first = resumable("one", 1, ""), next;

        add_worker(m, "w1", 1, 2, 8192);
        add_worker(m, "w2", 2, 2, 8192);
        struct master_app *app = add_app(m, &first);
        _cleanup_free_ char *id = mem_strdup(app->id);
        master_schedule(m, 2);
        buf_reset(recorder_update(&rec, &rec.said));
        buf_reset(recorder_update(&rec, &rec.stored));

        /* The master keeps the executors, starts none, and does not fail the application when they end. */
        master_app_disconnected(m, 100, id, MS(10));
        assert_string_equal(app_state_name(app->state), "WAITING_FOR_DRIVER");
        assert_int_equal(master_deadline(m), MS(1010));
        for (int i = 0; i < 20; i++)
                master_executor_changed(m, id, 1, EXECUTOR_EXITED, NULL, NULL, MS(20));
        master_schedule(m, MS(20));
        recorder_expect(&rec, "updated a/1 EXITED\n");
        assert_int_equal(app->n_executors, 1);

        /* The next one registers with another command at another address. Ids are not used again. */
        next = resumable("two", 2, id);
        next.profile.body = (struct master_body){"new", 3};
        master_register_app(m, 200, &next, MS(1009));
        master_tick(m, MS(1010));
        master_schedule(m, MS(1010));
        recorder_expect(&rec, "registered a\nlaunch a/2 on w2 2\n");
        assert_string_equal(buf_text(&rec.stored), "+a app-19700101000000-0000\n+a app-19700101000000-0000\n"
                                                   "+a app-19700101000000-0000\n");
        assert_ptr_equal(master_app(m, id), app);
        assert_int_equal(app->state, APP_RUNNING);
        assert_int_equal(app->n_executors, 2);
        assert_string_equal(app->address, "two");
        assert_memory_equal(app_profile_by_id(app, 0)->body, "new", 3);

        /* The first one, at its end or waking up, has no effect; nor has one that does not know the token. */
        master_app_disconnected(m, 100, id, MS(1020));
        first.app_id = id;
        master_register_app(m, 101, &first, MS(1021));
        recorder_expect(&rec, "superseded 101 of a\n");
        next = resumable("three", 3, id);
        next.resume.token = "guess";
        master_register_app(m, 300, &next, MS(1022));
        recorder_expect(&rec, "registered a\n");
        assert_int_equal(m->n_apps, 2);
        assert_int_equal(app->peer, 200);
        master_unregister_app(m, m->apps.last->id, MS(1022));
        buf_reset(recorder_update(&rec, &rec.said));

        /* A driver that is still connected is superseded. */
        next.resume.token = "token";
        master_register_app(m, 301, &next, MS(1023));
        recorder_expect(&rec, "superseded 200 of a\nkill 2 on w2\nkill 0 on w1\nregistered a\n");
        master_schedule(m, MS(1023));
        recorder_expect(&rec, "launch a/3 on w1 2\nlaunch a/4 on w2 2\n");
        master_app_disconnected(m, 200, id, MS(1024));
        assert_int_equal(app->peer, 301);

        /* Without a next driver the application ends, and a later one gets another id and unused executor ids. */
        master_app_disconnected(m, 301, id, MS(2000));
        master_tick(m, MS(3000));
        recorder_expect(&rec, "kill 4 on w2\nkill 3 on w1\nfinished a\n");
        next = resumable("four", 4, id);
        next.next_executor = 5;
        master_register_app(m, 400, &next, MS(3001));
        master_schedule(m, MS(3001));
        recorder_expect(&rec, "registered a\nlaunch a/5 on w1 2\nlaunch a/6 on w2 2\n");
        assert_string_not_equal(m->apps.last->id, id);
        free_master(m);
}

static void an_application_keeps_waiting_when_another_process_has_its_port(void **state)
{
        struct master *m = start_master(&by_id);
        struct app_spec first = resumable("one", 1, ""), other = app_spec("b", 1024, 2, 4), next;

        struct master_app *app = add_app(m, &first);
        _cleanup_free_ char *id = mem_strdup(app->id);
        master_app_disconnected(m, 100, id, MS(10));
        other.address = "one";
        master_register_app(m, 101, &other, MS(20));
        assert_int_equal(m->n_apps, 2);
        next = resumable("two", 2, id);
        master_register_app(m, 102, &next, MS(30));
        recorder_expect(&rec, "registered a\nregistered b\nregistered a\n");
        assert_int_equal(m->n_apps, 2);
        assert_int_equal(app->peer, 102);
        assert_int_equal(m->n_lost_apps, 0);
        free_master(m);
}

struct resume_record_case {
        bool waiting;
        int next_executor;
};

static const struct resume_record_case waited = {true, 7}, ran = {false, 1000};

/* Elects a master with the record of an application, and a worker that still has its executor 3. */
static struct master *elect_with_record(const struct resume_record_case *c, const struct app_spec *spec)
{
        struct master *m = recorded_master(&rec, &by_id);
        struct worker_spec worker = worker_spec("w1", 1, 8, 8192);
        struct app_record record = {
                .id = "app-1", .waiting = c->waiting, .next_executor = c->next_executor, .spec = *spec};
        struct executor_report executor = {
                .app_id = "app-1", .id = 3, .cores = 2, .memory = 1024, .state = EXECUTOR_RUNNING};

        master_elected(m, &record, 1, NULL, 0, &worker, 1, MS(1000));
        master_worker_state(m, 11, "w1", &executor, 1, NULL, 0, MS(1001));
        return m;
}

static void a_new_leader_keeps_an_application_that_waits(void **state)
{
        struct app_spec first = resumable("one", 1, ""), next = resumable("two", 2, "app-1");
        struct master *m = elect_with_record(&waited, &first);

        recorder_expect(&rec, "changed w1\n"); /* no driver is asked, and the recovery does not wait for one */
        assert_int_equal(m->status, MASTER_ALIVE);
        assert_int_equal(master_app(m, "app-1")->state, APP_WAITING_FOR_DRIVER);
        assert_int_equal(master_deadline(m), MS(2000));
        master_register_app(m, 12, &next, MS(1500));
        master_schedule(m, MS(1500));
        recorder_expect(&rec, "registered a\nlaunch a/7 on w1 2\n");
        free_master(m);

        m = elect_with_record(&waited, &first); /* no driver comes */
        master_tick(m, MS(2000));
        recorder_expect(&rec, "changed w1\nkill 3 on w1\nfinished a\n");
        assert_int_equal(m->n_apps + m->n_lost_apps, 0);
        free_master(m);
}

static void a_driver_that_dies_with_the_leader_is_followed(void **state)
{
        struct app_spec first = resumable("one", 1, ""), next = resumable("two", 2, "app-1");
        struct master *m = elect_with_record(&ran, &first);

        recorder_expect(&rec, "changed a\nchanged w1\n");
        assert_int_equal(m->status, MASTER_RECOVERING);
        master_register_app(m, 12, &next, MS(1500)); /* before the recovery is over */
        assert_int_equal(m->status, MASTER_ALIVE);
        master_schedule(m, MS(1500));
        recorder_expect(&rec, "registered a\nlaunch a/1000 on w1 2\n");
        free_master(m);

        m = elect_with_record(&ran, &first);
        master_heartbeat(m, 11, "w1", MS(50000));
        master_tick(m, MS(61000)); /* its driver has not answered: the next one may */
        assert_int_equal(m->status, MASTER_ALIVE);
        assert_int_equal(master_app(m, "app-1")->state, APP_WAITING_FOR_DRIVER);
        assert_int_equal(master_app(m, "app-1")->n_executors, 1);
        master_register_app(m, 12, &next, MS(61999));
        master_tick(m, MS(62000));
        master_schedule(m, MS(62000));
        recorder_expect(&rec, "changed a\nchanged w1\nregistered a\nlaunch a/1000 on w1 2\n");
        free_master(m);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_next_driver_gets_the_executors_of_a_killed_one),
                cmocka_unit_test(an_application_keeps_waiting_when_another_process_has_its_port),
                cmocka_unit_test(a_new_leader_keeps_an_application_that_waits),
                cmocka_unit_test(a_driver_that_dies_with_the_leader_is_followed),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
