/* Executors on a worker: they run, end, are killed, or fail to start. */
#include "standalone/worker/worker_fixture.h"

/* An executor without a driver ends by itself. Its output is in its directory. */
static void test_executor_that_fails(void **state)
{
        struct cluster_fixture w;
        (void)state;
        struct fake_master *m = cluster_fixture_start(&w, "");
        launch_executor(&w, m,
                        &(struct launch){.executor = 7, .driver_url = "spark://CoarseGrainedScheduler@127.0.0.1:1"});
        wait_for(&w, master_heard(m, "executor app-1/7 EXITED (Command exited with code 1) 1\n"));
        assert_true(master_heard(m, "executor app-1/7 RUNNING\n"));
        const struct worker_view *v = worker_server_view(w.server);
        assert_int_equal(v->executors.len, 0);
        assert_int_equal(v->cores_used, 0);
        assert_int_equal(v->finished_executors.len, 1);
        const struct worker_executor_state *x = v->finished_executors.data[0];
        _cleanup_free_ char *err = read_text(x->directory, "stderr"), *out = read_text(x->directory, "stdout");
        assert_int_equal(strncmp(err, "Spark Executor Command: \"firesteel\" \"executor\" \"--driver-url\"", 60), 0);
        assert_non_null(strstr(err, "\"--executor-id\" \"7\" \"--hostname\" \"127.0.0.1\" \"--cores\" \"2\""));
        assert_non_null(strstr(err, "Connection refused"));
        assert_string_equal(out, "");
        assert_int_equal(strncmp(x->command, "Command(org.apache.spark.executor.CoarseGrained", 47), 0);
        cluster_fixture_close(&w);
}

static void test_executor_is_killed(void **state)
{
        struct cluster_fixture w;
        (void)state;
        struct fake_master *m = cluster_fixture_start(&w, "");
        launch_executor(&w, m, &(struct launch){.executor = 0});
        launch_executor(&w, m, &(struct launch){.executor = 1});
        wait_for(&w, master_heard(m, "executor app-1/1 RUNNING\n"));
        assert_int_equal(worker_server_view(w.server)->cores_used, 4);
        assert_int_equal(worker_server_view(w.server)->memory_used, 1024);
        kill_executor(m, "app-1", 5);
        kill_executor(m, "app-1", 0);
        wait_for(&w, master_heard(m, "executor app-1/0 KILLED (Executor app-1/0 was killed)"));
        assert_int_equal(worker_server_view(w.server)->executors.len, 1);
        assert_int_equal(worker_server_view(w.server)->cores_used, 2);
        /* The other one ends with the worker. */
        cluster_fixture_close(&w);
}

static void test_launches_that_cannot_be(void **state)
{
        struct cluster_fixture w;
        (void)state;
        struct fake_master *m = cluster_fixture_start(&w, "");
        launch_executor(&w, m, &(struct launch){.executor = 0, .main_class = "org.example.Other"});
        launch_executor(&w, m, &(struct launch){.executor = 1, .app_id = "../app"});
        _cleanup_free_ char *taken = mem_printf("%s/work/app-2", w.folder);
        FILE *f = fopen(taken, "we");
        assert_non_null(f);
        fclose(f);
        launch_executor(&w, m, &(struct launch){.executor = 2, .app_id = "app-2"});
        wait_for(&w, master_heard(m, "executor app-2/2"));
        assert_true(
                master_heard(m, "executor app-1/0 FAILED (executors of class \"org.example.Other\" cannot run here"));
        assert_true(master_heard(m, "executor ../app/1 FAILED (\"../app\" is not a valid application id)"));
        assert_true(master_heard(m, "executor app-2/2 FAILED (Failed to create directory "));
        assert_int_equal(worker_server_view(w.server)->executors.len, 0);
        cluster_fixture_close(&w);
}

/* Only the leading master can start executors. */
static void test_strangers_give_no_orders(void **state)
{
        struct cluster_fixture w;
        struct rpc_ref *ref;
        struct fst_error error = FST_ERROR_INIT;
        size_t size;
        (void)state;
        cluster_fixture_open(&w);
        open_master(&w, LEADS);
        open_master(&w, STANDS_BY);
        start_worker(&w, "");
        wait_for(&w, master_heard(&w.masters[0], "state\n") && w.masters[1].ref);
        _cleanup_free_ void *body = pack_launch(&w, &w.masters[0], &(struct launch){.executor = 3}, &size);
        /* A standby over the worker's connection, then a peer that connects to the worker. */
        assert_int_equal(rpc_send(w.masters[1].ref, TYPE(LAUNCH_EXECUTOR), body, size, NULL), 0);
        assert_int_equal(rpc_env_ref(w.masters[1].env, worker_server_url(w.server), &ref, &error), 0);
        Firesteel__Standalone__MasterChanged changed = FIRESTEEL__STANDALONE__MASTER_CHANGED__INIT;
        changed.master_url = w.masters[0].url;
        changed.master_web_ui = (char *)"";
        assert_int_equal(rpc_send_packed(ref, TYPE(MASTER_CHANGED), &changed.base, NULL), 0);
        assert_int_equal(rpc_send(ref, TYPE(LAUNCH_EXECUTOR), body, size, NULL), 0);
        /* The leader's own command comes last and is the only one carried out. */
        launch_executor(&w, &w.masters[0], &(struct launch){.executor = 4, .main_class = "none"});
        wait_for(&w, master_heard(&w.masters[0], "executor app-1/4"));
        assert_false(master_heard(&w.masters[0], "app-1/3"));
        assert_int_equal(worker_server_view(w.server)->executors.len, 0);
        rpc_ref_unref(ref);
        cluster_fixture_close(&w);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_executor_that_fails),
                cmocka_unit_test(test_executor_is_killed),
                cmocka_unit_test(test_launches_that_cannot_be),
                cmocka_unit_test(test_strangers_give_no_orders),
        };
        signal(SIGPIPE, SIG_IGN);
        return cmocka_run_group_tests(tests, NULL, NULL);
}
