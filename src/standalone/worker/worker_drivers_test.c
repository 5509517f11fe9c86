/* Drivers on a worker: they run, end, are killed, and are restarted if supervised. */
#include "standalone/worker/worker_fixture.h"

#include "conf/properties.h"

#include <sys/stat.h>

static void test_drivers(void **state)
{
        struct cluster_fixture w;
        struct stat st;
        (void)state;
        struct fake_master *m = cluster_fixture_start(&w, "");
        _cleanup_free_ char *url = write_application(&w), *missing = mem_printf("file:%s/none.so", w.folder);
        launch_driver(m, &(struct driver){.id = "driver-1", .url = url, .arguments = {"ok", "two words"}});
        launch_driver(m, &(struct driver){.id = "driver-2", .url = url, .arguments = {"fail"}});
        launch_driver(m, &(struct driver){.id = "driver-3", .url = missing});
        launch_driver(m, &(struct driver){.id = "driver-4", .url = url, .class = "nothing"});
        launch_driver(m, &(struct driver){.id = "../5", .url = url});
        wait_for(&w, master_heard(m, "driver driver-1 ") && master_heard(m, "driver driver-2 ") &&
                             master_heard(m, "driver driver-3 ") && master_heard(m, "driver driver-4 ") &&
                             master_heard(m, "driver ../5 "));
        assert_true(master_heard(m, "driver driver-1 FINISHED ()\n"));
        assert_true(master_heard(m, "driver driver-2 FAILED (Command exited with code 3)\n"));
        assert_true(master_heard(m, "driver driver-3 ERROR ("));
        assert_true(master_heard(m, "none.so: No such file or directory)"));
        assert_true(master_heard(m, "driver driver-4 FAILED (Command exited with code 101: "));
        assert_true(master_heard(m, "driver ../5 ERROR (\"../5\" is not a valid driver id)"));
        const struct worker_view *v = worker_server_view(w.server);
        assert_int_equal(v->drivers.len, 0);
        assert_int_equal(v->cores_used, 0);
        assert_int_equal(v->finished_drivers.len, 5);
        _cleanup_free_ char *folder = mem_printf("%s/work/driver-1", w.folder);
        _cleanup_free_ char *out = read_text(folder, "stdout"), *err = read_text(folder, "stderr");
        _cleanup_free_ char *conf = read_text(folder, "driver.conf"), *path = mem_printf("%s/driver.conf", folder);
        assert_string_equal(out, "ok two words\n");
        assert_int_equal(strncmp(err, "Launch Command: \"firesteel\" \"driver\" ", 37), 0);
        assert_non_null(strstr(conf, "spark.some.key=\\ a \\\\ value\n"));
        struct strmap properties = {0};
        assert_int_equal(properties_load(&properties, path, NULL), 0);
        assert_string_equal(strmap_get(&properties, "spark.master"),
                            m->url); /* regardless of the submission's setting */
        strmap_deinit(&properties);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600); /* it may hold secrets of the application */
        cluster_fixture_close(&w);
}

static void test_driver_is_killed(void **state)
{
        struct cluster_fixture w;
        (void)state;
        struct fake_master *m = cluster_fixture_start(&w, "");
        _cleanup_free_ char *url = write_application(&w);
        _cleanup_free_ char *folder = mem_printf("%s/work/driver-1", w.folder), *out = mem_printf("%s/stdout", folder);
        struct stat st;
        launch_driver(m, &(struct driver){.id = "driver-1", .url = url, .arguments = {"wait"}, .supervise = true});
        /* Killed before it has started: */
        launch_driver(m, &(struct driver){.id = "driver-2", .url = url, .arguments = {"wait"}, .supervise = true});
        kill_driver(m, "driver-2");
        wait_for(&w, master_heard(m, "driver driver-2 KILLED ()"));
        uv_timer_t look; /* keeps the loop running */
        uv_timer_init(&w.loop, &look);
        uv_timer_start(&look, nothing, 10, 10);
        wait_for(&w, stat(out, &st) == 0 && st.st_size > 0);
        uv_close((uv_handle_t *)&look, NULL);
        buf_reset(&m->heard);
        rpc_send(m->ref, TYPE(RECONNECT_WORKER), NULL, 0, NULL);
        wait_for(&w, master_heard(m, "state driver-1\n"));
        kill_driver(m, "none");
        kill_driver(m, "driver-1");
        wait_for(&w, master_heard(m, "driver driver-1 KILLED ()"));
        cluster_fixture_close(&w);
}

/* A supervised driver is restarted a second after it fails, and succeeds. */
static void test_supervised_driver(void **state)
{
        struct cluster_fixture w;
        (void)state;
        struct fake_master *m = cluster_fixture_start(&w, "");
        _cleanup_free_ char *url = write_application(&w), *folder = mem_printf("%s/work/driver-1", w.folder);
        launch_driver(m, &(struct driver){.id = "driver-1", .url = url, .arguments = {"second"}, .supervise = true});
        wait_for(&w, master_heard(m, "driver driver-1 "));
        assert_true(master_heard(m, "driver driver-1 FINISHED ()"));
        _cleanup_free_ char *out = read_text(folder, "stdout");
        assert_string_equal(out, "second \nsecond \n");
        cluster_fixture_close(&w);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_drivers),
                cmocka_unit_test(test_driver_is_killed),
                cmocka_unit_test(test_supervised_driver),
        };
        signal(SIGPIPE, SIG_IGN);
        return cmocka_run_group_tests(tests, NULL, NULL);
}
