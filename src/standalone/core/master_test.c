/* The master: placement, limits, drivers, loss, recovery. Covers Spark's MasterSuite and cases that it omits. */
#include "standalone/core/master_cases.h"
#include "unit/cases.h"

#include <stdlib.h>

/* Asserts the cores that an application gets on three workers of 10 cores and 4096 MiB. */
static void gives(bool spread, int64_t memory, int cores, int max, int limit, int a, int b, int c)
{
        struct master_config config = by_id;
        const char *ids[] = {"w1", "w2", "w3"};
        int expected[] = {a, b, c};

        config.spread_out_apps = spread;
        struct master *m = start_master(&config);
        struct app_spec spec = app_spec("a", memory, cores, max);

        spec.initial_executors = limit;
        for (int i = 0; i < 3; i++)
                add_worker(m, ids[i], i + 1, 10, 4096);
        add_app(m, &spec);
        master_schedule(m, 1);
        for (int i = 0; i < 3; i++)
                assert_int_equal(master_worker(m, ids[i])->cores_used, expected[i]);
        free_master(m);
}

static void executors_are_spread_or_packed(void **state)
{
        for (int spread = 0; spread < 2; spread++) {
                gives(spread, 1024, 0, 0, -1, 10, 10, 10);
                gives(spread, 3072, 0, 0, -1, 10, 10, 10);
                gives(spread, 1024, 2, 0, -1, 8, 8, 8); /* memory for four executors */
                gives(spread, 256, 2, 0, -1, 10, 10, 10);
                gives(spread, 256, 3, 0, -1, 9, 9, 9);
                gives(spread, 8192, 0, 0, -1, 0, 0, 0);
                gives(spread, 256, 11, 0, -1, 0, 0, 0);
                gives(spread, 256, 0, 0, 0, 0, 0, 0);
                gives(spread, 256, 0, 0, 2, 10, 10, 0);
                gives(spread, 256, 0, 0, 5, 10, 10, 10);
                gives(spread, 256, 4, 0, 5, 8, 8, 4);
        }
        gives(true, 1024, 0, 8, -1, 3, 3, 2);
        gives(false, 1024, 0, 8, -1, 8, 0, 0);
        gives(true, 1024, 0, 16, -1, 6, 5, 5);
        gives(false, 1024, 0, 16, -1, 10, 6, 0);
        gives(true, 256, 2, 4, -1, 2, 2, 0);
        gives(false, 256, 2, 4, -1, 4, 0, 0);
        gives(true, 256, 2, 20, -1, 8, 6, 6);
        gives(false, 256, 2, 20, -1, 10, 10, 0);
        gives(true, 256, 3, 20, -1, 6, 6, 6);
        gives(false, 256, 3, 20, -1, 9, 9, 0);
        gives(true, 256, 0, 16, 2, 8, 8, 0);
        gives(false, 256, 0, 16, 2, 10, 6, 0);
        gives(true, 256, 0, 16, 5, 6, 5, 5);
        gives(false, 256, 0, 16, 5, 10, 6, 0);
        gives(true, 256, 4, 0, 2, 4, 4, 0);
        gives(false, 256, 4, 0, 2, 8, 0, 0);
        gives(true, 256, 4, 16, 5, 8, 4, 4);
        gives(false, 256, 4, 16, 5, 8, 8, 0);
}

/* Workers of 5, 6, 7 cores and 1280, 5120, 3840 … MiB, and two executors of two cores. */
static void the_policy_selects(void **state)
{
        static const struct {
                enum worker_selection selection;
                bool spread;
                const char *launched;
        } cases[] = {
                {CORES_FREE_ASC, true, "w1 w2 "},   {CORES_FREE_ASC, false, "w1 w1 "},
                {CORES_FREE_DESC, true, "w3 w2 "},  {CORES_FREE_DESC, false, "w3 w3 "},
                {MEMORY_FREE_ASC, true, "w1 w3 "},  {MEMORY_FREE_ASC, false, "w1 w1 "},
                {MEMORY_FREE_DESC, true, "w2 w3 "}, {MEMORY_FREE_DESC, false, "w2 w2 "},
                {WORKER_BY_ID, true, "w1 w2 "},     {WORKER_BY_ID, false, "w1 w1 "},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: selection %d, spread %d, launched \"%s\"", i, cases[i].selection,
                           cases[i].spread, cases[i].launched ? cases[i].launched : "(none)");
                struct master_config config = by_id;
                struct app_spec spec = app_spec("a", 128, 2, 4);
                _cleanup_(buf_deinit) struct buf launched = BUF_INIT;

                config.selection = cases[i].selection;
                config.spread_out_apps = cases[i].spread;
                struct master *m = start_master(&config);

                add_worker(m, "w1", 1, 5, 1280);
                add_worker(m, "w2", 2, 6, 5120);
                add_worker(m, "w3", 3, 7, 3840);
                struct master_app *app = add_app(m, &spec);

                master_schedule(m, 1);
                for (int id = 0; id < 2; id++)
                        buf_printf(&launched, "%s ", master_executor(m, app, id)->worker->id);
                assert_string_equal(buf_text(&launched), cases[i].launched);
                free_master(m);
        }
}

static void first_come_first_served(void **state)
{
        struct master *m = start_master(&by_id);
        struct app_spec one = app_spec("one", 1024, 4, 8), two = app_spec("two", 1024, 4, 8);

        add_app(m, &one);
        add_app(m, &two);
        add_worker(m, "w1", 1, 12, 8192);
        recorder_expect(&rec, "registered one\nregistered two\nregistered w1\n");
        master_schedule(m, 1);
        recorder_expect(&rec, "launch one/0 on w1 4\nlaunch one/1 on w1 4\nlaunch two/0 on w1 4\n");
        master_schedule(m, 1);
        recorder_expect(&rec, "");

        /* freed capacity goes to the starved application, and it is notified */
        char *id = mem_strdup(m->apps.first->id);

        master_executor_changed(m, id, 0, EXECUTOR_RUNNING, NULL, NULL, 2);
        master_unregister_app(m, id, 2);
        recorder_expect(&rec, "updated one/0 RUNNING\nkill 1 on w1\nkill 0 on w1\nfinished one\n");
        master_schedule(m, 2);
        recorder_expect(&rec, "launch two/1 on w1 4\n");
        assert_string_equal(m->completed_apps.data[0]->id, id);
        assert_int_equal(m->completed_apps.data[0]->state, APP_FINISHED);
        assert_false(master_request_executors(m, id, NULL, 0, 3));
        assert_false(master_kill_executors(m, id, NULL, 0, 3));
        free(id);
        free_master(m);
}

static void resources_and_profiles(void **state)
{
        struct master *m = start_master(&by_id);
        static const char *const addresses[] = {"0", "1", "2"};
        struct resource_addresses gpus = {"gpu", addresses, 3};
        struct worker_spec w = worker_spec("w1", 1, 16, 16384);
        struct resource_need two = {"gpu", 2}, none = {"fpga", 1};
        struct app_spec spec = app_spec("a", 1024, 2, 0);

        w.resources = &gpus;
        w.n_resources = 1;
        master_register_worker(m, 1, &w, 1);
        spec.profile.needs = &two;
        spec.profile.n_needs = 1;
        struct master_app *app = add_app(m, &spec);

        master_schedule(m, 1);
        assert_int_equal(app->n_executors, 1); /* the third gpu is not enough for another executor */
        struct master_executor *e = master_executor(m, app, 0);
        struct worker_resource *r = &e->worker->resources[0];

        assert_int_equal(e->holds[0].n, 2);
        assert_true(r->used[0]);
        assert_true(r->used[1]);
        assert_true(!r->used[2]);
        assert_int_equal(r->free, 1);

        /* a second profile, launched after the default one, and a third that fits on no worker */
        struct executor_target targets[] = {
                {.profile = {.id = 2, .cores = 1, .memory = 512}, .executors = 3},
                {.profile = {.id = 1, .cores = 1, .memory = 512, .needs = &none, .n_needs = 1}, .executors = 1},
        };
        assert_true(master_request_executors(m, app->id, targets, 2, 2));
        master_schedule(m, 2);
        assert_int_equal(app_profile_by_id(app, 2)->executors, 3);
        assert_int_equal(app_profile_by_id(app, 1)->executors, 0);

        /* a lower target kills no executor until the application names some, which are not replaced */
        targets[0].executors = 1;
        master_request_executors(m, app->id, targets, 1, 3);
        master_schedule(m, 3);
        assert_int_equal(app_profile_by_id(app, 2)->executors, 3);
        buf_reset(recorder_update(&rec, &rec.said));
        assert_true(master_kill_executors(m, app->id, (int[]){1, 3, 77}, 3, 4));
        master_schedule(m, 4);
        recorder_expect(&rec, "kill 1 on w1\nkill 3 on w1\n");
        assert_non_null(
                strstr(buf_text(recorder_update(&rec, &rec.logged)), "attempted to kill non-existent executors: 77"));
        assert_int_equal(app_profile_by_id(app, 2)->executors, 1);
        assert_int_equal(master_worker(m, "w1")->cores_used, 3);

        /* the gpus are free again */
        master_kill_executors(m, app->id, (int[]){0}, 1, 5);
        assert_int_equal(r->free, 3);
        free_master(m);
}

static void an_application_that_only_fails_is_given_up(void **state)
{
        struct master_config config = by_id;
        struct app_spec spec = app_spec("a", 1024, 4, 4);
        int one = 1, zero = 0;

        config.max_executor_retries = 3;
        struct master *m = start_master(&config);

        add_worker(m, "w1", 1, 8, 8192);
        struct master_app *app = add_app(m, &spec);
        char *id = mem_strdup(app->id);

        for (int e = 0; e < 5; e++) { /* a normal exit does not count */
                master_schedule(m, 2);
                master_executor_changed(m, id, e, EXECUTOR_EXITED, NULL, &zero, 2);
        }
        assert_int_equal(app->retries, 0);
        for (int e = 5; e < 7; e++) {
                master_schedule(m, 2);
                master_executor_changed(m, id, e, EXECUTOR_FAILED, "no", NULL, 2);
        }
        master_schedule(m, 2);
        assert_int_equal(app->retries, 2);
        master_executor_changed(m, id, 7, EXECUTOR_RUNNING, NULL, NULL, 2); /* a running executor resets the count */
        assert_int_equal(app->retries, 0);
        for (int e = 7; e < 9; e++) {
                master_executor_changed(m, id, e, EXECUTOR_EXITED, "Command exited with code 1", &one, 2);
                master_schedule(m, 2);
        }
        buf_reset(recorder_update(&rec, &rec.said));
        master_executor_changed(m, id, 9, EXECUTOR_EXITED, "Command exited with code 1", &one, 3);
        recorder_expect(&rec, "updated a/9 EXITED (Command exited with code 1) 1\nended a FAILED\nfinished a\n");
        assert_null(master_app(m, id));
        assert_int_equal(m->completed_apps.data[0]->state, APP_FAILED);
        assert_int_equal(master_worker(m, "w1")->cores_used, 0);
        assert_non_null(strstr(buf_text(recorder_update(&rec, &rec.stored)), "-a app-"));
        free(id);
        free_master(m);
}

static void a_running_executor_keeps_a_failing_application(void **state)
{
        struct master_config config = by_id;
        struct app_spec spec = app_spec("a", 1024, 2, 4);

        for (int max = -1; max < 2; max += 2) { /* negative: never fails the application */
                config.max_executor_retries = max;
                struct master *m = start_master(&config);

                add_worker(m, "w1", 1, 8, 8192);
                struct master_app *app = add_app(m, &spec);

                master_schedule(m, 1);
                if (max > 0)
                        master_executor_changed(m, app->id, 0, EXECUTOR_RUNNING, NULL, NULL, 1);
                for (int e = 1; e < 30; e++) {
                        master_executor_changed(m, app->id, e, EXECUTOR_FAILED, NULL, NULL, 2);
                        master_schedule(m, 2);
                }
                assert_int_equal(m->n_apps, 1);
                assert_int_equal(app->n_executors, 2);
                /* an invalid transition is refused */
                master_executor_changed(m, app->id, 0, EXECUTOR_LAUNCHING, NULL, NULL, 2);
                assert_non_null(strstr(buf_text(recorder_update(&rec, &rec.logged)), "is illegal"));
                free_master(m);
        }
}

static void a_worker_is_lost_and_comes_back(void **state)
{
        struct master *m = start_master(&by_id);
        struct app_spec spec = app_spec("a", 1024, 0, 0);

        add_worker(m, "w1", 1, 4, 8192);
        add_worker(m, "w1b", 1, 4, 8192); /* at the same address */
        add_worker(m, "w2", 2, 4, 8192);
        add_app(m, &spec);
        master_schedule(m, 1);
        recorder_expect(&rec, "registered w1\nrefused 1: Attempted to re-register worker at same address: host:7001\n"
                              "registered w2\nregistered a\nlaunch a/0 on w1 4\nlaunch a/1 on w2 4\n");
        assert_int_equal(master_deadline(m), MS(60000) + 2);
        master_heartbeat(m, 2, "w2", MS(50000));
        assert_int_equal(master_deadline(m), MS(60000) + 2);
        master_tick(m, MS(60000) + 1);
        recorder_expect(&rec, "");
        master_tick(m, MS(60000) + 2);
        recorder_expect(&rec, "updated a/0 LOST (worker lost: Not receiving heartbeat for 60 seconds) of host\n"
                              "removed w1 for a: Not receiving heartbeat for 60 seconds\n");
        assert_int_equal(m->dead.first->state, WORKER_DEAD);

        /* it was only slow: it registers again, and the master kills its old executors */
        master_heartbeat(m, 7, "w1", MS(60100));
        master_heartbeat(m, 8, "stranger", MS(60100));
        recorder_expect(&rec, "reconnect 7\nreconnect 8\n");
        add_worker(m, "w1", 1, 4, 8192);
        assert_int_equal(m->n_dead, 0);
        struct executor_report old = {
                .app_id = m->apps.first->id, .id = 0, .cores = 4, .memory = 1024, .state = EXECUTOR_RUNNING};

        master_worker_state(m, 1, "w1", &old, 1, NULL, 0, MS(60101));
        master_schedule(m, MS(60101));
        recorder_expect(&rec, "registered w1\nkill 0 on w1\nlaunch a/2 on w1 4\n");

        /* the end of an old connection is ignored */
        struct worker_spec again = worker_spec("w1", 1, 4, 8192);

        master_register_worker(m, 11, &again, MS(60102));
        master_worker_disconnected(m, 1, "w1", MS(60103));
        recorder_expect(&rec, "registered w1 again\n");
        /* it lacks an executor that was launched meanwhile: lost, and placed again */
        master_worker_state(m, 11, "w1", NULL, 0, NULL, 0, MS(60104));
        master_schedule(m, MS(60104));
        recorder_expect(&rec, "updated a/2 LOST (the worker does not have it)\nlaunch a/3 on w1 4\n");
        master_worker_disconnected(m, 11, "w1", MS(60105));
        recorder_expect(&rec, "updated a/3 LOST (worker lost: host:7001 got disassociated) of host\n"
                              "removed w1 for a: host:7001 got disassociated\n");

        /* the reaper removes it */
        master_heartbeat(m, 2, "w2", MS(60000 * 4));
        assert_int_equal(m->n_dead, 1);
        master_tick(m, MS(60000 * 4 + 200));
        assert_int_equal(m->n_dead, 0);
        assert_int_equal(m->n_workers, 1);
        free_master(m);
}

static void an_application_that_lost_its_connection_may_come_back(void **state)
{
        (void)state;
        struct master_config config = by_id;
        config.app_timeout = NS_PER_SECOND;
        struct master *m = start_master(&config);
        struct app_spec spec = app_spec("a", 1024, 2, 4);

        add_worker(m, "w1", 1, 2, 8192);
        struct master_app *app = add_app(m, &spec);
        master_schedule(m, 2);
        buf_reset(recorder_update(&rec, &rec.said));
        master_app_disconnected(m, 100, app->id, MS(10));
        assert_int_equal(master_deadline(m), MS(1010));
        add_worker(m, "w2", 2, 2, 8192); /* nothing is launched for it meanwhile */
        master_executor_changed(m, app->id, 0, EXECUTOR_EXITED, NULL, NULL, MS(20));
        master_schedule(m, MS(20));
        recorder_expect(&rec, "registered w2\nupdated a/0 EXITED\n");

        spec.app_id = app->id;
        master_register_app(m, 101, &spec, MS(1009));
        assert_int_equal(m->n_lost_apps, 0);
        master_app_disconnected(m, 100, app->id, MS(1009)); /* the end of its old connection is ignored */
        master_tick(m, MS(1010));
        master_schedule(m, MS(1010));
        recorder_expect(&rec, "registered a again\nlaunch a/1 on w1 2\nlaunch a/2 on w2 2\n");

        /* too late */
        master_app_disconnected(m, 101, app->id, MS(2000));
        master_tick(m, MS(3000) - 1);
        assert_int_equal(m->n_apps, 1);
        master_tick(m, MS(3000));
        assert_int_equal(m->n_apps + m->n_lost_apps, 0);
        recorder_expect(&rec, "kill 2 on w2\nkill 1 on w1\nfinished a\n");

        /* another process at its address */
        spec.app_id = "";
        app = add_app(m, &spec);
        master_app_disconnected(m, 100, app->id, MS(3000));
        buf_reset(recorder_update(&rec, &rec.said));
        master_register_app(m, 102, &spec, MS(3001));
        recorder_expect(&rec, "finished a\nregistered a\n");
        assert_int_equal(m->n_apps, 1);
        assert_int_equal(m->n_lost_apps, 0);
        free_master(m);
}

static void a_worker_is_decommissioned(void **state)
{
        struct master_config config = by_id;
        struct app_spec spec = app_spec("a", 1024, 2, 2);

        config.max_executor_retries = 1;
        struct master *m = start_master(&config);

        add_worker(m, "w1", 1, 4, 8192);
        struct master_app *app = add_app(m, &spec);

        master_schedule(m, 1);
        add_worker(m, "w2", 2, 4, 8192);
        buf_reset(recorder_update(&rec, &rec.said));
        assert_int_equal(master_decommission_hosts(m, (const char *[]){"nobody"}, 1, 2), 0);
        master_decommission_worker(m, "w1", 2);
        master_decommission_worker(m, "w1", 2);
        master_schedule(m, 2);
        recorder_expect(&rec, "updated a/0 DECOMMISSIONED (worker decommissioned) of host\nlaunch a/1 on w2 2\n");
        assert_int_equal(master_worker(m, "w1")->cores_used, 2);
        assert_non_null(strstr(buf_text(recorder_update(&rec, &rec.stored)), "-w w1"));
        assert_non_null(strstr(buf_text(recorder_update(&rec, &rec.logged)), "as worker is already decommissioned"));

        /* an expected end: reported, not counted as a failure */
        master_executor_changed(m, app->id, 0, EXECUTOR_EXITED, NULL, NULL, 3);
        recorder_expect(&rec, "updated a/0 EXITED\n");
        assert_int_equal(app->retries, 0);
        assert_int_equal(master_worker(m, "w1")->cores_used, 0);
        assert_int_equal(master_decommission_hosts(m, (const char *[]){"x", "HOST"}, 2, 4), 2);
        free_master(m);
}

static void drivers_go_first_and_are_killed(void **state)
{
        struct master *m = start_master(&by_id);
        struct app_spec spec = app_spec("a", 1024, 0, 0);
        char *message;

        add_worker(m, "w1", 1, 4, 8192);
        add_app(m, &spec);
        struct master_reply one = submit_driver(m, "One", 2, false), big = submit_driver(m, "Big", 9, false);

        assert_true(one.success);
        assert_memory_equal(one.driver_id, "driver-", 7);
        assert_string_equal(strrchr(big.driver_id, '-'), "-0001");
        assert_non_null(strstr(one.message, "Driver successfully submitted as driver-"));
        buf_reset(recorder_update(&rec, &rec.said));
        master_schedule(m, 1);
        recorder_expect(&rec, "launch driver One on w1\nlaunch a/0 on w1 2\n");
        assert_string_equal(buf_text(recorder_update(&rec, &rec.logged)), ""); /* a busy worker may have room later */
        assert_int_equal(master_driver_status(m, one.driver_id, &message)->state, DRIVER_RUNNING);
        assert_null(message);

        struct master_reply killed = master_kill_driver(m, big.driver_id, 2); /* it is waiting: ended at once */

        assert_true(killed.success);
        assert_int_equal(master_driver_status(m, big.driver_id, &message)->state, DRIVER_KILLED);
        master_reply_deinit(&killed);
        killed = master_kill_driver(m, big.driver_id, 2);
        assert_false(killed.success);
        assert_non_null(strstr(killed.message, "has already finished or does not exist"));
        master_reply_deinit(&killed);
        killed = master_kill_all_drivers(m, 2);
        assert_string_equal(killed.message, "Kill request for all drivers submitted");
        assert_non_null(strstr(buf_text(recorder_update(&rec, &rec.said)), "kill driver driver-"));
        master_reply_deinit(&killed);
        assert_int_equal(m->n_drivers, 1); /* until its worker reports its end */
        master_driver_changed(m, one.driver_id, DRIVER_RUNNING, NULL, 3);
        assert_int_equal(m->n_drivers, 1);
        master_driver_changed(m, one.driver_id, DRIVER_KILLED, NULL, 3);
        assert_int_equal(m->n_drivers, 0);
        buf_reset(recorder_update(&rec, &rec.said));
        master_schedule(m, 3);
        recorder_expect(&rec, "launch a/1 on w1 2\n");
        master_clear_completed(m);
        assert_null(master_driver_status(m, one.driver_id, &message));
        assert_null(message);
        master_reply_deinit(&one);
        master_reply_deinit(&big);
        free_master(m);

        m = start_master(&by_id); /* idle workers, but none large enough */
        add_worker(m, "w1", 1, 4, 8192);
        big = submit_driver(m, "Big", 9, false);
        spec.profile.memory = 9000;
        add_app(m, &spec);
        master_schedule(m, 1);
        assert_non_null(strstr(buf_text(recorder_update(&rec, &rec.logged)), "Driver driver-"));
        assert_non_null(strstr(buf_text(recorder_update(&rec, &rec.logged)),
                               "requires more resource than any of Workers could have.\nApp"));
        master_reply_deinit(&big);
        free_master(m);
}

static void the_end_of_an_application_concerns_who_had_it(void **state)
{
        struct master *m = start_master(&by_id);
        struct app_spec spec = app_spec("a", 100, 1, 1);

        add_worker(m, "w1", 1, 4, 8192);
        add_worker(m, "w2", 2, 4, 8192);
        add_worker(m, "w3", 3, 4, 8192);
        struct master_app *app = add_app(m, &spec);

        master_schedule(m, 1); /* on w1 only */
        for (int i = 0; i < 3; i++)
                assert_true(app_concerns(app, m->alive.data[i])); /* no worker has sent a report yet */
        master_worker_only_own(m, "w1", true);
        master_worker_only_own(m, "w2", true);
        master_worker_only_own(m, "w3", false); /* it has a shuffle service */
        assert_true(app_concerns(app, master_worker(m, "w1")));
        assert_false(app_concerns(app, master_worker(m, "w2")));
        assert_true(app_concerns(app, master_worker(m, "w3")));
        master_worker_keeps(m, "w2", app->id); /* from before this master led */
        master_worker_keeps(m, "w2", "none");
        assert_true(app_concerns(app, master_worker(m, "w2")));
        int status = 1;
        master_executor_changed(m, app->id, 0, EXECUTOR_EXITED, NULL, &status, 2);
        assert_true(app_concerns(app, master_worker(m, "w1"))); /* its files are still there */
        master_unregister_app(m, app->id, 3);
        free_master(m);
}

static void executors_that_no_worker_can_hold_are_told(void **state)
{
        static const char *const boards[] = {"0", "1"};
        struct resource_addresses gpus = {.name = "gpu", .addresses = boards, .n = 2};
        struct resource_need many = {.name = "gpu", .amount = 3};
        struct master_config config = by_id;
        struct master *m = start_master(&config);
        struct app_spec large = app_spec("large", 9000, 64, 0), wide = app_spec("wide", 100, 1, 0),
                        fits = app_spec("fits", 8192, 4, 0);
        struct worker_spec second = worker_spec("w2", 2, 8, 1024);

        add_app(m, &large);
        master_schedule(m, 1);
        recorder_expect(&rec, "registered large\n"); /* without workers the sizes are unknown */
        add_worker(m, "w1", 1, 4, 8192);
        master_schedule(m, 1);
        recorder_expect(
                &rec,
                "registered w1\n"
                "large: No worker can ever hold an executor of 64 cores and 9000 MiB of memory: the only worker, w1, "
                "has 4 cores and 8192 MiB of memory. Set spark.executor.cores to at most 4 and spark.executor.memory "
                "to at most 8192m, or start a larger worker.\n");
        second.resources = &gpus;
        second.n_resources = 1;
        master_register_worker(m, 2, &second, 1);
        master_schedule(m, 1);
        recorder_expect(&rec, "registered w2\n"); /* the notice is sent once */
        wide.profile.needs = &many;
        wide.profile.n_needs = 1;
        add_app(m, &wide);
        master_schedule(m, 1);
        recorder_expect(
                &rec,
                "registered wide\n"
                "wide: No worker can ever hold an executor of 1 core, 100 MiB of memory and 3 gpu: of 2 workers w2 "
                "comes nearest, with 8 cores, 1024 MiB of memory and 2 gpu. Set spark.executor.resource.gpu.amount "
                "to at most 2, or start a larger worker.\n");
        add_app(m, &fits);
        add_app(m, &(struct app_spec){.name = "later",
                                      .address = "later",
                                      .initial_executors = -1,
                                      .profile = {.cores = 4, .memory = 8192}});
        master_schedule(m, 1);
        recorder_expect(&rec, "registered fits\nregistered later\nlaunch fits/0 on w1 4\n"); /* an application that only
                                                                                     waits its turn gets no notice */
        free_master(m);

        config.default_cores = 2;
        m = start_master(&config);
        add_worker(m, "w1", 1, 4, 8192);
        large = app_spec("large", 100, 4, 0);
        add_app(m, &large);
        master_schedule(m, 1);
        recorder_expect(
                &rec,
                "registered w1\nregistered large\n"
                "large: No executor can be started: each is to have 4 cores, and the application may have 2 cores "
                "(spark.deploy.defaultCores of the master, without spark.cores.max). Set spark.cores.max to at least "
                "4, or spark.executor.cores to at most 2.\n");
        free_master(m);
}

static void a_supervised_driver_is_launched_again(void **state)
{
        struct master_config config = by_id;

        config.max_drivers = 2;
        struct master *m = start_master(&config);

        add_worker(m, "w1", 1, 4, 8192);
        struct master_reply yes = submit_driver(m, "Yes", 1, true), no = submit_driver(m, "No", 1, false),
                            third = submit_driver(m, "T", 1, true);

        master_schedule(m, 1);
        add_worker(m, "w2", 2, 4, 8192);
        buf_reset(recorder_update(&rec, &rec.said));
        master_schedule(m, 1);
        recorder_expect(&rec, ""); /* only two may run */
        master_worker_disconnected(m, 1, "w1", 2);
        master_schedule(m, 2);
        recorder_expect(&rec, "launch driver T on w2\nlaunch driver Yes on w2\n");
        char *message;

        assert_string_equal(master_driver_status(m, yes.driver_id, &message)->worker_id, "w2");
        assert_int_equal(master_driver_status(m, no.driver_id, &message)->state, DRIVER_ERROR);
        assert_string_equal(strrchr(m->drivers.last->id, '-'), "-0003");
        /* reports about the first driver do not touch the second */
        master_driver_changed(m, yes.driver_id, DRIVER_FINISHED, NULL, 3);
        assert_int_equal(m->n_drivers, 2);

        /* The submission still finds its driver after the second launch, and after its end. */
        add_worker(m, "w3", 3, 4, 8192);
        master_worker_disconnected(m, 2, "w2", 4);
        assert_int_equal(master_driver_status(m, yes.driver_id, &message)->state, DRIVER_SUBMITTED);
        master_schedule(m, 4);
        buf_reset(recorder_update(&rec, &rec.said));
        struct master_reply killed = master_kill_driver(m, yes.driver_id, 5);
        recorder_expect(&rec, "kill driver driver-19700101000000-0004 on w3\n");
        assert_true(killed.success);
        master_driver_changed(m, "driver-19700101000000-0004", DRIVER_KILLED, NULL, 6);
        assert_int_equal(master_driver_status(m, yes.driver_id, &message)->state, DRIVER_KILLED);
        assert_int_equal(master_driver_status(m, third.driver_id, &message)->state, DRIVER_RUNNING);
        master_reply_deinit(&killed);
        master_reply_deinit(&yes);
        master_reply_deinit(&no);
        master_reply_deinit(&third);
        free_master(m);
}

static void ids_and_retained(void **state)
{
        struct master_config config = by_id;
        struct app_spec spec = app_spec("My  App", 1024, 1, 1);
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;

        setenv("TZ", "UTC", 1);
        config.app_number_modulo = 1000;
        config.wall_offset = 1698796800 * NS_PER_SECOND; /* 2023-11-01 */
        struct master *m = start_master(&config);

        m->next_app = 998;
        for (int i = 0; i < 30; i++) {
                char name[16], expected[64];

                snprintf(name, sizeof(name), "app%d", i);
                snprintf(expected, sizeof(expected), "app-20231101000000-%04d", (998 + i) % 1000);
                spec.name = spec.address = name;
                struct master_app *app = add_app(m, &spec);

                assert_string_equal(app->id, expected);
                master_unregister_app(m, expected, 1);
                struct master_reply d = submit_driver(m, "D", 1, false);

                master_driver_changed(m, d.driver_id, DRIVER_FAILED, "why", 1);
                master_reply_deinit(&d);
        }
        assert_int_equal(m->completed_apps.len, 20); /* at 20, two are removed for one new one: 19, 20 in turn */
        assert_int_equal(m->completed_drivers.len, 20);
        assert_string_equal(m->completed_drivers.data[0]->exception, "why");
        assert_string_equal(m->completed_apps.data[19]->name, "app29");

        /* the same address again keeps its id */
        spec.name = spec.address = "twice";
        add_app(m, &spec);
        buf_reset(recorder_update(&rec, &rec.said));
        master_register_app(m, 200, &spec, 2);
        recorder_expect(&rec, "registered twice again\n");
        assert_int_equal(m->n_apps, 1);
        master_app_disconnected(m, 100, m->apps.first->id, 3); /* its old connection */
        assert_int_equal(m->n_apps, 1);
        assert_true(master_kill_app(m, m->apps.first->id, 3));
        recorder_expect(&rec, "ended twice KILLED\nfinished twice\n");
        free_master(m);

        config.app_name_as_id = true;
        m = start_master(&config);
        spec.name = "My  App";
        assert_string_equal(add_app(m, &spec)->id, "myapp");
        spec.address = "elsewhere";
        assert_string_equal(add_app(m, &spec)->id, "app-20231101000000-0000");
        free_master(m);

        config.app_number_modulo = 999;
        assert_int_equal(master_config_check(&config, &error), -EINVAL);
        config.app_number_modulo = 0;
        config.driver_id_pattern = "d %s";
        assert_int_equal(master_config_check(&config, &error), -EINVAL);
        assert_string_equal(error_message(&error),
                            "'d %s' in spark.deploy.driverIdPattern is invalid: Whitespace is not allowed.");
        config.driver_id_pattern = "d";
        config.default_cores = 0;
        assert_int_equal(master_config_check(&config, &error), -EINVAL);
}

static void dead_workers_may_be_kept_for_ever(void **state)
{
        struct master_config config = by_id;

        config.reaper_iterations = INT32_MAX; /* this many timeouts overflow 64 bits */
        struct master *m = start_master(&config);
        add_worker(m, "w1", 1, 8, 8192);
        master_tick(m, MS(60000) + 2);
        assert_int_equal(m->n_dead, 1);
        assert_int_equal(master_deadline(m), INT64_MAX);
        master_tick(m, INT64_MAX / 2);
        assert_int_equal(m->n_dead, 1);
        free_master(m);
}

static void actions_outlive_what_the_master_forgets(void **state)
{
        struct master_config config = by_id;
        struct app_spec app = app_spec("a", 1024, 4, 4);

        config.retained_apps = 1;
        struct master *m = start_master(&config);
        add_worker(m, "w1", 1, 8, 8192);
        for (int i = 0; i < 3; i++) { /* no action is taken out meanwhile */
                master_register_app(m, 2, &app, 1);
                master_schedule(m, 1);
                assert_true(master_kill_app(m, m->apps.first->id, 1));
        }
        master_worker_disconnected(m, 1, "w1", 2);
        master_tick(m, MS(1000000));
        master_clear_completed(m);
        assert_int_equal(m->n_workers + m->n_dead + m->n_apps, 0);
        assert_int_equal(m->buried.len, 3 + 1);
#define ONE "registered a\nlaunch a/0 on w1 4\nkill 0 on w1\nended a KILLED\nfinished a\n"
        recorder_expect(&rec, "registered w1\n" ONE ONE ONE);
        assert_int_equal(m->buried.len, 0);
        free_master(m);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(executors_are_spread_or_packed),
                cmocka_unit_test(the_policy_selects),
                cmocka_unit_test(first_come_first_served),
                cmocka_unit_test(resources_and_profiles),
                cmocka_unit_test(an_application_that_only_fails_is_given_up),
                cmocka_unit_test(a_running_executor_keeps_a_failing_application),
                cmocka_unit_test(a_worker_is_lost_and_comes_back),
                cmocka_unit_test(an_application_that_lost_its_connection_may_come_back),
                cmocka_unit_test(a_worker_is_decommissioned),
                cmocka_unit_test(drivers_go_first_and_are_killed),
                cmocka_unit_test(the_end_of_an_application_concerns_who_had_it),
                cmocka_unit_test(executors_that_no_worker_can_hold_are_told),
                cmocka_unit_test(a_supervised_driver_is_launched_again),
                cmocka_unit_test(ids_and_retained),
                cmocka_unit_test(dead_workers_may_be_kept_for_ever),
                cmocka_unit_test(actions_outlive_what_the_master_forgets),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
