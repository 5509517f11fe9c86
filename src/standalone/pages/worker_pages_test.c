/* A worker's pages, JSON and metrics, and its logs for valid and hostile requests. */
#include "standalone/pages/worker_pages.h"

#include "conf/conf.h"
#include "standalone/pages/log_reader.h"
#include "web/web_site_fixture.h"
#include "unit/temp_dir.h"

#include <fcntl.h>
#include <jansson.h>
#include <sys/stat.h>
#include <zlib.h>

static struct {
        struct site_fixture f;
        struct fst_conf conf;
        struct worker_view view;
        struct worker_pages *pages;
        char folder[TEMP_DIR_SIZE], work[80];
} t;

static const struct worker_view *view_of(void *owner)
{
        return &t.view;
}

static const char *const gpu_addresses[] = {"0", "1"};
static const struct resource_addresses gpus = {"gpu", gpu_addresses, 2}, one_gpu = {"gpu", gpu_addresses, 1};

static struct worker_executor_state executor = {
        .app_id = "app-1",
        .app_name = "<b>name",
        .app_user = "ann",
        .id = 3,
        .cores = 2,
        .memory = 512,
        .state = EXECUTOR_RUNNING,
        .command = "Command(class,List(a),Map(),List(),List(),List())",
        .resources = (struct resource_addresses *)&one_gpu,
        .n_resources = 1,
};
static struct worker_executor_state ended = {
        .app_id = "app-1", .app_name = "x", .app_user = "bob", .id = 1, .state = EXECUTOR_EXITED};
static struct worker_driver_state driver = {
        .id = "driver-1", .main_class = "Main", .cores = 1, .memory = 64, .state = DRIVER_RUNNING};
static struct worker_driver_state failed = {
        .id = "driver-0", .main_class = "Main", .exception = "no <file>", .state = DRIVER_ERROR};

static void write_file(const char *name, const char *text)
{
        char path[200];
        snprintf(path, sizeof(path), "%s/%s", t.folder, name);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(text, f);
        fclose(f);
}

static void make_directory(const char *name)
{
        char path[200];
        snprintf(path, sizeof(path), "%s/%s", t.folder, name);
        assert_int_equal(mkdir(path, 0700), 0);
}

static void make_link(const char *target, const char *name)
{
        char path[200];
        snprintf(path, sizeof(path), "%s/%s", t.folder, name);
        assert_int_equal(symlink(target, path), 0);
}

static void start(void)
{
        struct fst_error error = FST_ERROR_INIT;
        struct worker_pages_options o = {
                .loop = &t.f.loop, .conf = &t.conf, .host = "127.0.0.1", .work_dir = t.work, .view = view_of};
        worker_pages_free(t.pages);
        t.pages = NULL;
        if (worker_pages_new(&o, &t.pages, &error) < 0)
                fail_msg("%s", error_message(&error));
}

static int begin(void **state)
{
        memset(&t, 0, sizeof(t));
        temp_dir_new(t.folder);
        make_directory("work");
        make_directory("work/app-1");
        make_directory("work/app-1/3");
        make_directory("work/driver-1");
        write_file("work/app-1/3/stdout", "0123456789<i>");
        write_file("work/app-1/3/stderr", "");
        write_file("secret", "hidden");
        snprintf(t.work, sizeof(t.work), "%s/work", t.folder);
        site_fixture_begin(&t.f);
        conf_init(&t.conf);
        t.view = (struct worker_view){.id = "worker-1",
                                      .host = "h",
                                      .port = 7078,
                                      .work_dir = t.work,
                                      .master_url = "spark://m:7077",
                                      .master_web_ui = "http://m:8080",
                                      .connected = true,
                                      .cores = 4,
                                      .cores_used = 3,
                                      .memory = 2048,
                                      .memory_used = 576,
                                      .resources = &gpus,
                                      .n_resources = 1};
        vec_push(&t.view.executors, &executor);
        vec_push(&t.view.finished_executors, &ended);
        vec_push(&t.view.drivers, &driver);
        vec_push(&t.view.finished_drivers, &failed);
        start();
        return 0;
}

static int end(void **state)
{
        char command[100];
        worker_pages_free(t.pages);
        site_fixture_end(&t.f);
        conf_deinit(&t.conf);
        vec_deinit(&t.view.executors);
        vec_deinit(&t.view.finished_executors);
        vec_deinit(&t.view.drivers);
        vec_deinit(&t.view.finished_drivers);
        snprintf(command, sizeof(command), "rm -rf %s", t.folder);
        assert_int_equal(system(command), 0);
        return 0;
}

static void get(const char *target)
{
        fixture_get(&t.f, worker_pages_port(t.pages), target);
}

static void assert_log(const char *query, const char *range, const char *text)
{
        _cleanup_free_ char *target = mem_printf("/log/?%s", query);
        _cleanup_free_ char *first = mem_printf("==== Bytes %s of %s/", range, t.work);
        get(target);
        assert_int_equal(t.f.status, 200);
        const char *second = strchr(t.f.body, '\n');
        if (strncmp(t.f.body, first, strlen(first)) != 0 || !second || strcmp(second + 1, text) != 0)
                fail_msg("%s: %s", query, t.f.body);
}

/* ------------------------------------------------------------------------------------------------------ tests */

static void pages_show_everything_and_escape_it(void **state)
{
        static const char *const shown[] = {
                "Spark Worker at h:7078",
                "<a href=\"http://m:8080\">",
                "spark://m:7077",
                "4 (3 Used)",
                "2.0 GiB (576.0 MiB Used)",
                "Running Executors <span class=\"count\">(1)",
                "Name: &lt;b&gt;name",
                "Finished Executors <span class=\"count\">(1)",
                "Running Drivers",
                "no &lt;file&gt;",
                "gpu: [0, 1]",
                "/logPage/?appId=app-1&amp;executorId=3&amp;logType=stderr",
        };
        get("/");
        assert_int_equal(t.f.status, 200);
        for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
                if (!fixture_says(&t.f, shown[i]))
                        fail_msg("%s is not in %s", shown[i], t.f.body);
        assert_false(fixture_says(&t.f, "<b>"));
        get("/nowhere");
        assert_int_equal(t.f.status, 404);
        fixture_post(&t.f, worker_pages_port(t.pages), "POST / HTTP/1.1\r\nHost: h\r\n", "");
        assert_int_equal(t.f.status, 405);
}

static void json_and_metrics_have_sparks_names(void **state)
{
        struct buf keys = BUF_INIT;
        const char *key;
        json_t *value;
        get("/json/");
        json_t *root = json_loads(t.f.body, 0, NULL);
        json_object_foreach(root, key, value) {
                buf_printf(&keys, "%s ", key);
        }
        const json_t *e = json_array_get(json_object_get(root, "executors"), 0);
        json_object_foreach((json_t *)e, key, value) {
                buf_printf(&keys, "%s ", key);
        }
        json_object_foreach(json_object_get(e, "appdesc"), key, value) {
                buf_printf(&keys, "%s ", key);
        }
        assert_string_equal(
                buf_text(&keys),
                "id masterurl masterwebuiurl cores coresused memory memoryused resources resourcesused executors "
                "finishedexecutors id memory resources appid appdesc name cores memoryperexecutor "
                "resourcesperexecutor memoryperslave resourcesperslave user command ");
        assert_true(json_is_integer(json_object_get(e, "id")));
        const json_t *used = json_object_get(json_object_get(root, "resourcesused"), "gpu");
        assert_int_equal(json_array_size(json_object_get(used, "addresses")), 1);
        json_decref(root);
        buf_deinit(&keys);
        get("/metrics/json/");
        root = json_loads(t.f.body, 0, NULL);
        assert_int_equal(json_integer_value(json_object_get(
                                 json_object_get(json_object_get(root, "gauges"), "worker.memFree_MB"), "value")),
                         1472);
        json_decref(root);
        get("/metrics/prometheus");
        assert_true(fixture_says(&t.f, "metrics_worker_coresFree_Value{type=\"gauges\"} 1\n"));
}

static void logs_come_in_pieces(void **state)
{
        assert_log("appId=app-1&executorId=3&logType=stdout", "0-13 of 13", "0123456789<i>");
        assert_log("appId=app-1&executorId=3&logType=stdout&byteLength=4", "9-13 of 13", "9<i>");
        assert_log("appId=app-1&executorId=3&logType=stdout&offset=2&byteLength=3", "2-5 of 13", "234");
        assert_log("appId=app-1&executorId=3&logType=stdout&offset=99", "13-13 of 13", "");
        assert_log("appId=app-1&executorId=3&logType=stdout&offset=-5&byteLength=2", "0-2 of 13", "01");
        assert_log("appId=app-1&executorId=3&logType=stderr", "0-0 of 0", "");
        assert_log("driverId=driver-1&logType=stdout", "0-0 of 0", "");
        get("/logPage/?appId=app-1&executorId=3&logType=stdout&offset=2&byteLength=9");
        assert_true(fixture_says(&t.f, "stdout log page for app-1/3"));
        assert_true(fixture_says(&t.f, "Showing 9 Bytes: 2 - 11 of 13"));
        assert_true(fixture_says(&t.f, "<pre>23456789&lt;</pre>"));
        assert_true(fixture_says(&t.f, "offset=0&amp;byteLength=9\">Older"));
        assert_true(fixture_says(&t.f, "offset=11&amp;byteLength=9\">Newer"));
}

static void rolled_files_are_one_log(void **state)
{
        char path[200];
        write_file("work/app-1/3/stdout--2026-11-22--05-41", "first,");
        write_file("work/app-1/3/stdout-not-rolled", "no");
        snprintf(path, sizeof(path), "%s/app-1/3/stdout--2026-11-21--00-00.gz", t.work);
        gzFile gz = gzopen(path, "wb");
        assert_int_equal(gzwrite(gz, "zipped,", 7), 7);
        gzclose(gz);
        assert_log("appId=app-1&executorId=3&logType=stdout", "0-26 of 26", "zipped,first,0123456789<i>");
        assert_log("appId=app-1&executorId=3&logType=stdout&offset=3&byteLength=6", "3-9 of 26", "ped,fi");
        /* A file with the name of a compressed one but other contents yields no text. */
        write_file("work/app-1/3/stdout--2026-11-20--00-00.gz", "this is not what gzip has written at all");
        get("/log/?appId=app-1&executorId=3&logType=stdout&offset=0");
        assert_int_equal(t.f.status, 200);
}

static void nothing_leads_out_of_the_work_directory(void **state)
{
        static const char *const queries[] = {
                "driverId=..&logType=secret",
                "driverId=..&logType=stdout",
                "driverId=.&logType=stdout",
                "driverId=&logType=stdout",
                "driverId=app-1%2F3&logType=stdout",
                "driverId=..%2F..%2F..%2Fetc&logType=passwd",
                "appId=..&executorId=..&logType=stdout",
                "appId=app-1&executorId=..%2Fapp-1%2F3&logType=stdout",
                "appId=app-1&executorId=3&logType=..%2F..%2F..%2Fsecret",
                "appId=app-1&executorId=3&logType=stdout--2026-11-22--05-41",
                "appId=%2Fetc&executorId=&logType=stdout",
                "driverId=linked&logType=stdout",
                "driverId=planted&logType=stdout",
                "driverId=planted&logType=stderr",
        };
        make_directory("elsewhere");
        write_file("elsewhere/stdout", "hidden");
        make_link("../elsewhere", "work/linked");
        make_directory("work/planted");
        make_link("../../secret", "work/planted/stdout");
        make_link("../../secret", "work/planted/stderr--2026");
        char fifo[200];
        snprintf(fifo, sizeof(fifo), "%s/planted/stderr", t.work);
        assert_int_equal(mkfifo(fifo, 0600), 0); /* opening it would block */
        write_file("work/app-1/3/stdout--2026-11-22--05-41", "rolled");
        for (size_t i = 0; i < ARRAY_SIZE(queries); i++) {
                static const char *const pages[] = {"log", "logPage"};
                for (size_t k = 0; k < ARRAY_SIZE(pages); k++) {
                        _cleanup_free_ char *target = mem_printf("/%s/?%s", pages[k], queries[i]);
                        get(target);
                        assert_true(t.f.status == 200 || t.f.status == 400);
                        assert_false(fixture_says(&t.f, "hidden"));
                        assert_false(fixture_says(&t.f, "0123456789"));
                        assert_false(fixture_says(&t.f, "root:"));
                        assert_false(fixture_says(&t.f, "rolled<"));
                }
        }
        get("/log/?driverId=none&logType=stdout");
        assert_true(fixture_says(&t.f, "Error: invalid log directory "));
        get("/log/?driverId=driver-1&logType=passwd");
        assert_true(fixture_says(&t.f, "Error: Log type must be one of stderr, stdout"));
        get("/log/?logType=stdout");
        assert_int_equal(t.f.status, 400);
        assert_true(fixture_says(&t.f, "Request must specify either application or driver identifiers"));
        get("/log/?driverId=driver-1&logType=stdout&offset=abc");
        assert_int_equal(t.f.status, 400);
        get("/log/?driverId=driver-1&logType=stdout&byteLength=-5");
        assert_int_equal(t.f.status, 400);
        get("/../../etc/passwd");
        assert_int_equal(t.f.status, 404);
}

static void who_may_not_look_sees_nothing(void **state)
{
        static const char *const paths[] = {"/",
                                            "/json/",
                                            "/metrics/json",
                                            "/metrics/prometheus",
                                            "/log/?appId=app-1&executorId=3&logType=stdout",
                                            "/logPage/?appId=app-1&executorId=3&logType=stdout"};
        conf_set(&t.conf, "spark.acls.enable", "true");
        start();
        for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
                get(paths[i]);
                assert_int_equal(t.f.status, 403);
                assert_false(fixture_says(&t.f, "0123456789"));
        }
}

static void pages_may_go_while_a_log_is_read(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        int fd = socket_connect("127.0.0.1", worker_pages_port(t.pages), -1, NULL, &error);
        static const char request[] = "GET /log/?appId=app-1&executorId=3&logType=stdout HTTP/1.1\r\nHost: h\r\n\r\n";
        assert_true(fd >= 0);
        assert_int_equal(send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL), sizeof(request) - 1);
        for (int i = 0; i < 3; i++)
                uv_run(&t.f.loop, UV_RUN_NOWAIT);
        worker_pages_free(t.pages);
        t.pages = NULL;
        close(fd); /* closing the loop waits for reads in progress */
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)
        const struct CMUnitTest tests[] = {
                CASE(pages_show_everything_and_escape_it),
                CASE(json_and_metrics_have_sparks_names),
                CASE(logs_come_in_pieces),
                CASE(rolled_files_are_one_log),
                CASE(nothing_leads_out_of_the_work_directory),
                CASE(who_may_not_look_sees_nothing),
                CASE(pages_may_go_while_a_log_is_read),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
