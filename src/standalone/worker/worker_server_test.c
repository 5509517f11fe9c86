/* A worker and its masters: it registers, is refused, follows a new leader, and is decommissioned. */
#include "standalone/worker/worker_fixture.h"

#include "store/disk_dirs.h"

#include <dirent.h>
#include <sys/wait.h>

static void test_registers(void **state)
{
        struct cluster_fixture w;
        (void)state;
        cluster_fixture_open(&w);
        open_master(&w, LEADS);
        start_worker(&w, "-Dspark.worker.timeout=1");
        struct fake_master *m = &w.masters[0];
        wait_for(&w, m->heartbeats >= 3);
        assert_string_equal(buf_text(&m->heard), "register 4 cores 2048 MiB http://127.0.0.1:8081\nstate\n");
        const struct worker_view *v = worker_server_view(w.server);
        assert_true(v->connected);
        assert_string_equal(v->master_url, m->url);
        assert_int_equal(strncmp(v->id, "worker-20", 9), 0);
        cluster_fixture_close(&w);
        assert_int_equal(w.status, 0);
}

static void take_over(struct cluster_fixture *w, struct fake_master *m)
{
        Firesteel__Standalone__MasterChanged changed = FIRESTEEL__STANDALONE__MASTER_CHANGED__INIT;
        Firesteel__Standalone__Version version = standalone_version();
        changed.version = &version;
        changed.master_url = m->url;
        changed.master_web_ui = (char *)"";
        buf_reset(&m->heard);
        master_send(m, TYPE(MASTER_CHANGED), &changed.base);
        wait_for(w, master_heard(m, "state\n"));
}

/* Ends that no master has received are reported to the next one, before the running executors. */
static void test_master_is_lost(void **state)
{
        struct cluster_fixture w;
        (void)state;
        cluster_fixture_open(&w);
        open_master(&w, LEADS);
        open_master(&w, STANDS_BY);
        start_worker(&w, "");
        struct fake_master *m = &w.masters[0], *other = &w.masters[1];
        wait_for(&w, master_heard(m, "state\n") && other->ref);
        launch_executor(&w, m, &(struct launch){.executor = 0});
        launch_executor(&w, m, &(struct launch){.executor = 1});
        wait_for(&w, master_heard(m, "executor app-1/1 RUNNING\n"));
        kill_executor(m, "app-1", 1);
        rpc_env_flush(m->env);
        wait_for(&w, master_heard(m, "executor app-1/1 KILLED"));
        rpc_peer_close(m->worker, "the master is gone");
        m->role = SILENT;
        wait_for(&w, !worker_server_view(w.server)->connected);
        const struct worker_view *v = worker_server_view(w.server);
        assert_int_equal(v->executors.len, 1); /* running executors continue */
        pid_t pid = 0;
        /* The executor, the worker's only child, dies meanwhile. */
        _cleanup_free_ char *children = read_text("/proc/thread-self", "children");
        assert_int_equal(sscanf(children, "%d", &pid), 1);
        kill(pid, SIGKILL);
        wait_for(&w, worker_server_view(w.server)->executors.len == 0);
        take_over(&w, other);
        const char *told =
                strstr(buf_text(&other->heard), "executor app-1/0 EXITED (Command exited with code 137 (SIGKILL");
        assert_non_null(told);
        assert_true(told < strstr(buf_text(&other->heard), "state\n"));
        assert_false(master_heard(other, "app-1/1")); /* the old master has that report */
        assert_string_equal(worker_server_view(w.server)->master_url, other->url);
        cluster_fixture_close(&w);
}

/* A leader freezes after the report of a driver's end, and another leads. That one gets the report too, or it would
 * restart the driver. A late reply of the first master has no effect.
 */
static void test_news_reach_the_master_that_follows_a_frozen_one(void **state)
{
        struct cluster_fixture w;
        (void)state;
        cluster_fixture_open(&w);
        open_master(&w, LEADS);
        open_master(&w, STANDS_BY);
        start_worker(&w, "");
        struct fake_master *m = &w.masters[0], *other = &w.masters[1];
        _cleanup_free_ char *url = write_application(&w);
        wait_for(&w, master_heard(m, "state\n") && other->ref);
        m->frozen = other->frozen = true;
        launch_driver(m, &(struct driver){.id = "driver-1", .url = url, .arguments = {"ok"}, .supervise = true});
        wait_for(&w, master_heard(m, "driver driver-1 FINISHED ()\n"));
        take_over(&w, other);
        const char *told = strstr(buf_text(&other->heard), "driver driver-1 FINISHED ()\n");
        assert_non_null(told);
        assert_true(told < strstr(buf_text(&other->heard), "state\n"));
        master_thaw(m);
        wait_for(&w, other->n_calls == 1);
        /* The second ends before it has answered, and the first leads again. */
        rpc_peer_close(other->worker, "the master is gone");
        other->role = SILENT;
        wait_for(&w, !worker_server_view(w.server)->connected);
        take_over(&w, m);
        assert_non_null(strstr(buf_text(&m->heard), "driver driver-1 FINISHED ()\n"));
        /* It has replied, so the report is not sent again. */
        rpc_send(m->ref, TYPE(RECONNECT_WORKER), NULL, 0, NULL);
        buf_reset(&m->heard);
        wait_for(&w, master_heard(m, "state\n"));
        assert_false(master_heard(m, "driver-1"));
        master_thaw(other);
        cluster_fixture_close(&w);
}

static void answered(void *owner, struct rpc_answer *answer)
{
        *(bool *)owner = true;
}

static void closed(void *owner)
{
        *(bool *)owner = true;
}

/* A worker that has lost its master shows each master the nonce that it got with the announcement. */
static void test_called(void **state)
{
        struct cluster_fixture w;
        struct rpc_ref *ref;
        struct fst_error error = FST_ERROR_INIT;
        bool arrived = false;
        (void)state;
        struct fake_master *m = cluster_fixture_start(&w, "");
        struct rpc_options options;
        struct rpc_env *caller;
        rpc_options_init(&options);
        options.name = STANDALONE_MASTER_ENV;
        assert_int_equal(rpc_env_new(&w.loop, &options, &caller, NULL), 0);
        assert_int_equal(rpc_env_ref(caller, worker_server_url(w.server), &ref, &error), 0);
        Firesteel__Standalone__MasterChanged changed = FIRESTEEL__STANDALONE__MASTER_CHANGED__INIT;
        changed.master_url = (char *)"spark://elsewhere:7077";
        changed.nonce = (char *)"good morning";
        assert_int_equal(rpc_send_packed(ref, TYPE(MASTER_CHANGED), &changed.base, NULL), 0);
        assert_int_equal(rpc_ask(ref, TYPE(STANDALONE_NONE), NULL, 0, NULL, 0, answered, &arrived), 0);
        wait_for(&w, arrived);
        assert_true(worker_server_view(w.server)->connected); /* keeps the worker running */
        buf_reset(&m->heard);
        rpc_send(m->ref, TYPE(RECONNECT_WORKER), NULL, 0, NULL);
        wait_for(&w, master_heard(m, "state\n"));
        assert_string_equal(buf_text(&m->heard),
                            "register 4 cores 2048 MiB http://127.0.0.1:8081 good morning\nstate\n");
        rpc_ref_unref(ref);
        arrived = false;
        rpc_env_close(caller, 0, closed, &arrived);
        wait_for(&w, arrived);
        cluster_fixture_close(&w);
}

static int folders_in(const char *path)
{
        int n = 0;
        DIR *d = opendir(path);
        assert_non_null(d);
        for (struct dirent *e; (e = readdir(d));)
                n += *e->d_name != '.';
        closedir(d);
        return n;
}

/* Files of a killed worker are removed before the first executor starts. Those of a live one stay. */
static void test_sweeps(void **state)
{
        struct cluster_fixture w;
        struct fst_error error = FST_ERROR_INIT;
        struct disk_dirs *living, *killed;
        (void)state;
        cluster_fixture_open(&w);
        _cleanup_free_ char *local = mem_printf("%s/local", w.folder);
        assert_int_equal(disk_dirs_for_executors(local, &living, &error), 0);
        pid_t child = fork();
        if (child == 0)
                _exit(disk_dirs_for_executors(local, &killed, &error));
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        assert_int_equal(folders_in(local), 2);
        open_master(&w, LEADS);
        start_worker(&w, "");
        assert_int_equal(folders_in(local), 1);
        assert_int_equal(access(disk_dirs_root(living, 0), F_OK), 0);
        disk_dirs_free(living);
        wait_for(&w, master_heard(&w.masters[0], "state\n"));
        cluster_fixture_close(&w);
}

static void test_reconnects(void **state)
{
        struct cluster_fixture w;
        (void)state;
        struct fake_master *m = cluster_fixture_start(&w, "");
        launch_executor(&w, m, &(struct launch){.executor = 0});
        wait_for(&w, master_heard(m, "executor app-1/0 RUNNING\n"));
        buf_reset(&m->heard);
        rpc_send(m->ref, TYPE(RECONNECT_WORKER), NULL, 0, NULL);
        wait_for(&w, master_heard(m, "state"));
        assert_string_equal(buf_text(&m->heard),
                            "register 4 cores 2048 MiB http://127.0.0.1:8081\nstate app-1/0 RUNNING\n");
        cluster_fixture_close(&w);
}

static void test_refused(void **state)
{
        (void)state;
        for (int i = 0; i < 2; i++) {
                struct cluster_fixture w;
                cluster_fixture_open(&w);
                open_master(&w, i ? OTHER_VERSION : REFUSES);
                start_worker(&w, "");
                wait_for(&w, w.ended);
                assert_int_equal(w.status, 1);
                cluster_fixture_close(&w);
        }
}

static void test_decommission(void **state)
{
        struct cluster_fixture w;
        (void)state;
        struct fake_master *m = cluster_fixture_start(&w, "-Dspark.decommission.enabled=true");
        launch_executor(&w, m, &(struct launch){.executor = 0});
        wait_for(&w, master_heard(m, "executor app-1/0 RUNNING\n"));
        worker_server_decommission(w.server);
        wait_for(&w, master_heard(m, "decommissioning\n"));
        assert_true(worker_server_view(w.server)->decommissioned);
        launch_executor(&w, m, &(struct launch){.executor = 1});
        kill_executor(m, "app-1", 0);
        wait_for(&w, worker_server_view(w.server)->executors.len == 0);
        assert_false(master_heard(m, "app-1/1"));
        cluster_fixture_close(&w);
}

static void test_decommission_is_not_enabled(void **state)
{
        struct cluster_fixture w;
        (void)state;
        cluster_fixture_start(&w, "");
        worker_server_decommission(w.server);
        assert_false(worker_server_view(w.server)->decommissioned);
        cluster_fixture_close(&w);
        assert_int_equal(w.status, 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_registers),
                cmocka_unit_test(test_master_is_lost),
                cmocka_unit_test(test_news_reach_the_master_that_follows_a_frozen_one),
                cmocka_unit_test(test_called),
                cmocka_unit_test(test_sweeps),
                cmocka_unit_test(test_reconnects),
                cmocka_unit_test(test_refused),
                cmocka_unit_test(test_decommission),
                cmocka_unit_test(test_decommission_is_not_enabled),
        };
        signal(SIGPIPE, SIG_IGN);
        return cmocka_run_group_tests(tests, NULL, NULL);
}
