/* Pages, JSON, metrics and forms of a master with objects of all kinds, some with hostile names. */
#include "standalone/pages/master_pages.h"

#include "conf/conf.h"
#include "standalone/core/master_fixture.h"
#include "standalone/pages/master_json.h"
#include "web/web_site_fixture.h"

#include <jansson.h>
#include <time.h>

#define NOW (5 * NS_PER_SECOND)
#define WALL 1795326077000

static struct {
        struct site_fixture f;
        struct fst_conf conf;
        struct recorder recorder;
        struct master *master;
        struct master_pages *pages;
        int decommissioned;
} t;

static const struct master *state_of(const struct master_server *m)
{
        return t.master;
}

static int64_t now(void)
{
        return NOW;
}

static bool kill_app(struct master_server *m, const char *id)
{
        return master_kill_app(t.master, id, NOW);
}

static void kill_driver(struct master_server *m, const char *id, void (*replied)(void *, const struct master_reply *),
                        void *context)
{
        struct master_reply reply = master_kill_driver(t.master, id, NOW);
        replied(context, &reply);
        master_reply_deinit(&reply);
}

static int decommission(struct master_server *m, const char *const *hosts, int n)
{
        int workers = master_decommission_hosts(t.master, hosts, n, NOW);
        t.decommissioned += workers;
        return workers;
}

static const struct master_pages_ops ops = {state_of, now, kill_app, kill_driver, decommission};

static void start(void)
{
        struct fst_error error = FST_ERROR_INIT;
        struct master_pages_options o = {.loop = &t.f.loop,
                                         .conf = &t.conf,
                                         .host = "127.0.0.1",
                                         .master_url = "spark://h:7077",
                                         .rest_url = "spark://h:6066",
                                         .ops = &ops};
        master_pages_free(t.pages);
        t.pages = NULL;
        if (master_pages_new(&o, &t.pages, &error) < 0)
                fail_msg("%s", error_message(&error));
}

/* The worker of Spark's own suite, twice, an application with <b> in its name, and a driver. */
static void fill(void)
{
        const char *const gpus[] = {"0", "1", "2"}, *const fpgas[] = {"3", "4", "5"};
        const struct resource_addresses resources[] = {{"gpu", gpus, 3}, {"fpga", fpgas, 3}};
        struct worker_spec w = {.id = "id",
                                .host = "host",
                                .port = 8080,
                                .web_ui = "http://publicAddress:80",
                                .cores = 4,
                                .memory = 1234,
                                .resources = resources,
                                .n_resources = 2};
        const struct resource_need need = {"gpu", 1};
        struct app_spec app = {.name = "<b>\"count\"",
                               .user = "ann&bob",
                               .ui_url = "javascript:alert(1)",
                               .address = "h:1",
                               .initial_executors = -1,
                               .profile = {.cores = 2, .memory = 100, .needs = &need, .n_needs = 1}};
        struct driver_spec driver = {.main_class = "Main<i>", .cores = 1, .memory = 64};
        master_register_worker(t.master, 1, &w, NOW);
        w.id = "id2";
        w.host = "host2";
        w.web_ui = "javascript:alert(2)";
        master_register_worker(t.master, 2, &w, NOW);
        master_register_app(t.master, 3, &app, NOW);
        struct master_reply reply = master_submit_driver(t.master, &driver, NOW);
        master_reply_deinit(&reply);
        master_schedule(t.master, NOW);
}

static int begin(void **state)
{
        struct master_config config = MASTER_CONFIG_DEFAULT;
        memset(&t, 0, sizeof(t));
        setenv("TZ", "UTC", 1);
        tzset();
        site_fixture_begin(&t.f);
        conf_init(&t.conf);
        config.wall_offset = ms_to_ns(WALL) - NOW;
        t.master = recorded_master(&t.recorder, &config);
        master_elected(t.master, NULL, 0, NULL, 0, NULL, 0, NOW);
        fill();
        start();
        return 0;
}

static int end(void **state)
{
        master_pages_free(t.pages);
        site_fixture_end(&t.f);
        master_free(t.master);
        recorder_deinit(&t.recorder);
        conf_deinit(&t.conf);
        return 0;
}

static void get(const char *target)
{
        fixture_get(&t.f, master_pages_port(t.pages), target);
}

static void post(const char *target, const char *body)
{
        _cleanup_free_ char *head = mem_printf("POST %s HTTP/1.1\r\nHost: h:1\r\n", target);
        fixture_post(&t.f, master_pages_port(t.pages), head, body);
}

/* The same with the CSRF token of the site's forms. */
static void send_form(const char *target, const char *fields)
{
        get("/");
        const char *name = "name=\"csrfToken\" value=\"", *found = strstr(t.f.body, name);
        assert_non_null(found);
        _cleanup_free_ char *body = mem_printf("%s&csrfToken=%.32s", fields, found + strlen(name));
        post(target, body);
}

static json_t *json(const char *target)
{
        get(target);
        assert_int_equal(t.f.status, 200);
        json_t *root = json_loads(t.f.body, JSON_DECODE_ANY, NULL);
        if (!root)
                fail_msg("%s", t.f.body);
        return root;
}

static void assert_keys(const json_t *object, const char *keys)
{
        struct buf b = BUF_INIT;
        const char *key;
        json_t *value;
        json_object_foreach((json_t *)object, key, value) {
                buf_printf(&b, "%s%s", b.len ? " " : "", key);
        }
        assert_string_equal(buf_text(&b), keys);
        buf_deinit(&b);
}

static int64_t number(const json_t *object, const char *key)
{
        return json_integer_value(json_object_get(object, key));
}

static const char *text(const json_t *object, const char *key)
{
        return json_string_value(json_object_get(object, key));
}

/* ------------------------------------------------------------------------------------------------------ tests */

static void pages_show_everything_and_escape_it(void **state)
{
        static const char *const shown[] = {
                "Spark Master at spark://h:7077",
                "spark://h:6066 (cluster mode)",
                "2 Alive, 0 Dead",
                "8 Total, 7 Used",
                "<a href=\"http://publicAddress:80\">id</a>",
                "host:8080",
                "1234.0 MiB",
                "Workers <span class=\"count\">(2)",
                "Running Applications <span class=\"count\">(1)",
                "&lt;b&gt;&quot;count&quot;",
                "ann&amp;bob",
                "2026/11/22 05:41:17",
                "Main&lt;i&gt;",
                "action=\"/app/kill/\" method=\"POST\"",
                "action=\"/driver/kill/\"",
                "3 / 6 gpu",
                "1 gpu",
        };
        get("/");
        assert_int_equal(t.f.status, 200);
        assert_non_null(strstr(t.f.head, "Content-Type: text/html;charset=utf-8"));
        for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
                if (!fixture_says(&t.f, shown[i]))
                        fail_msg("%s is not in %s", shown[i], t.f.body);
        assert_false(fixture_says(&t.f, "<b>"));
        assert_false(fixture_says(&t.f, "<script"));
        assert_false(fixture_says(&t.f, "javascript:"));

        _cleanup_free_ char *app = mem_printf("/app/?appId=%s", t.master->apps.first->id);
        get(app);
        assert_int_equal(t.f.status, 200);
        assert_true(fixture_says(&t.f, "Application: &lt;b&gt;"));
        assert_true(fixture_says(&t.f, "Unlimited (6 granted)"));
        assert_true(fixture_says(&t.f, "Executor Summary <span class=\"count\">(3)"));
        _cleanup_free_ char *log = mem_printf("<a href=\"http://publicAddress:80/logPage/?appId=%s&amp;executorId=",
                                              t.master->apps.first->id);
        assert_true(fixture_says(&t.f, log));
        assert_true(fixture_says(&t.f, "gpu: [0]"));
        assert_false(fixture_says(&t.f, "javascript:"));
        get("/app/?appId=%3Cx%3E");
        assert_int_equal(t.f.status, 404);
        assert_true(fixture_says(&t.f, "No running application with ID &lt;x&gt;"));
        conf_set(&t.conf, "spark.my.password", "hidden");
        conf_set(&t.conf, "spark.my.note", "<seen>");
        get("/environment/");
        assert_true(fixture_says(&t.f, "&lt;seen&gt;"));
        assert_false(fixture_says(&t.f, "hidden"));
        get("/nowhere");
        assert_int_equal(t.f.status, 404);
}

static void json_has_sparks_names(void **state)
{
        json_t *root = json("/json/");
        assert_keys(root,
                    "url workers aliveworkers cores coresused memory memoryused resources resourcesused activeapps "
                    "completedapps activedrivers completeddrivers status");
        assert_int_equal(number(root, "cores"), 8);
        assert_int_equal(number(root, "memory"), 2468);
        assert_int_equal(number(root, "aliveworkers"), 2);
        assert_string_equal(text(root, "status"), "ALIVE");
        const json_t *worker = json_array_get(json_object_get(root, "workers"), 0);
        assert_keys(worker,
                    "id host port webuiaddress cores coresused coresfree memory memoryused memoryfree resources "
                    "resourcesused resourcesfree state lastheartbeat");
        assert_int_equal(number(worker, "lastheartbeat"), WALL);
        const json_t *gpu = json_object_get(json_object_get(worker, "resources"), "gpu");
        assert_string_equal(text(gpu, "name"), "gpu");
        assert_int_equal(json_array_size(json_object_get(gpu, "addresses")), 3);
        const json_t *app = json_array_get(json_object_get(root, "activeapps"), 0);
        assert_keys(app, "id starttime name cores user memoryperexecutor memoryperslave resourcesperexecutor "
                         "resourcesperslave submitdate state duration");
        assert_string_equal(text(app, "name"), "<b>\"count\"");
        assert_string_equal(text(app, "submitdate"), "Sun Nov 22 05:41:17 UTC 2026");
        assert_int_equal(number(app, "starttime"), WALL);
        const json_t *driver = json_array_get(json_object_get(root, "activedrivers"), 0);
        assert_keys(driver, "id starttime state cores memory resources submitdate worker mainclass");
        assert_string_equal(text(driver, "starttime"), "1795326077000");
        json_decref(root);

        root = json("/json/workers");
        assert_keys(root, "workers");
        json_decref(root);
        root = json("/json/foo");
        assert_string_equal(text(root, "foo"), "");
        json_decref(root);
        root = json("/json/clusterutilization");
        assert_keys(root, "waitingDrivers cores coresused coresutilization memory memoryused memoryutilization");
        assert_int_equal(number(root, "coresutilization"), 87);
        json_decref(root);
        _cleanup_free_ char *one = mem_printf("/app/json/?appId=%s", t.master->apps.first->id);
        root = json(one);
        assert_string_equal(text(root, "id"), t.master->apps.first->id);
        json_decref(root);
        root = json("/app/json/?appId=none");
        assert_true(json_is_null(root));
        json_decref(root);
}

static void metrics_have_sparks_names(void **state)
{
        json_t *root = json("/metrics/master/json/");
        const json_t *gauges = json_object_get(root, "gauges");
        assert_keys(gauges, "master.aliveWorkers master.apps master.waitingApps master.workers");
        json_decref(root);
        root = json("/metrics/applications/json");
        gauges = json_object_get(root, "gauges");
        assert_keys(gauges,
                    "application.<b>\"count\".1795326077000.cores application.<b>\"count\".1795326077000.runtime_ms "
                    "application.<b>\"count\".1795326077000.status");
        json_decref(root);
        get("/metrics/master/prometheus");
        assert_true(fixture_says(&t.f, "metrics_master_aliveWorkers_Value{type=\"gauges\"} 2\n"));
        get("/metrics/applications/prometheus/");
        assert_true(
                fixture_says(&t.f, "metrics_application__b__count__1795326077000_cores_Number{type=\"gauges\"} 6\n"));
}

static void buttons_end_things(void **state)
{
        _cleanup_free_ char *app = mem_printf("id=%s&terminate=true", t.master->apps.first->id);
        _cleanup_free_ char *wrong = mem_printf("%s&csrfToken=00112233445566778899aabbccddeeff", app);
        _cleanup_free_ char *no = mem_printf("id=%s", t.master->apps.first->id);
        _cleanup_free_ char *driver = mem_printf("terminate=true&id=%s", t.master->drivers.first->id);
        get("/app/kill/");
        assert_int_equal(t.f.status, 405);
        post("/app/kill/", app);
        assert_int_equal(t.f.status, 403);
        assert_true(fixture_says(&t.f, "Missing or invalid CSRF token"));
        post("/app/kill/", wrong);
        assert_int_equal(t.f.status, 403);
        send_form("/app/kill/", no);
        assert_int_equal(t.f.status, 302);
        send_form("/app/kill/", "id=nobody&terminate=true");
        assert_int_equal(t.f.status, 302);
        assert_int_equal(t.master->n_apps, 1);
        send_form("/app/kill/", app);
        assert_int_equal(t.f.status, 302);
        assert_int_equal(t.master->n_apps, 0);
        assert_int_equal(t.master->completed_apps.data[0]->state, APP_KILLED);
        send_form("/driver/kill/", driver);
        assert_int_equal(t.f.status, 302);
        assert_non_null(strstr(buf_text(recorder_update(&t.recorder, &t.recorder.said)), "kill driver"));
        get("/");
        assert_true(fixture_says(&t.f, "KILLED"));
}

static void rights_decide_about_buttons(void **state)
{
        _cleanup_free_ char *app = mem_printf("id=%s&terminate=true", t.master->apps.first->id);
        _cleanup_free_ char *driver = mem_printf("id=%s&terminate=true", t.master->drivers.first->id);
        size_t before = recorder_update(&t.recorder, &t.recorder.said)->len;
        conf_set(&t.conf, "spark.ui.killEnabled", "false");
        conf_set(&t.conf, "spark.decommission.enabled", "true");
        start();
        get("/");
        assert_false(fixture_says(&t.f, "/kill/"));
        post("/app/kill/", app);
        assert_int_equal(t.f.status, 403);
        post("/driver/kill/", driver);
        assert_int_equal(t.f.status, 403);
        conf_set(&t.conf, "spark.ui.killEnabled", "true");
        conf_set(&t.conf, "spark.acls.enable", "true");
        conf_set(&t.conf, "spark.ui.view.acls", "*");
        start();
        get("/");
        assert_int_equal(t.f.status, 200);
        assert_false(fixture_says(&t.f, "/kill/"));
        post("/app/kill/", app);
        assert_int_equal(t.f.status, 403);
        post("/driver/kill/", driver);
        assert_int_equal(t.f.status, 403);
        post("/workers/kill/", "host=host");
        assert_int_equal(t.f.status, 403);
        conf_set(&t.conf, "spark.ui.view.acls", "");
        start();
        static const char *const paths[] = {"/",
                                            "/json/",
                                            "/json/workers",
                                            "/app/?appId=x",
                                            "/app/json/?appId=x",
                                            "/environment/",
                                            "/metrics/master/json",
                                            "/metrics/master/prometheus",
                                            "/metrics/applications/json",
                                            "/metrics/applications/prometheus",
                                            "/static/firesteel.css",
                                            "/nowhere"};
        for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
                get(paths[i]);
                assert_int_equal(t.f.status, 403);
        }
        assert_int_equal(t.master->n_apps, 1);
        assert_int_equal(t.decommissioned, 0);
        assert_int_equal(recorder_update(&t.recorder, &t.recorder.said)->len, before);
}

static void workers_are_decommissioned(void **state)
{
        post("/workers/kill/", "host=host");
        assert_int_equal(t.f.status, 404); /* not enabled */
        conf_set(&t.conf, "spark.decommission.enabled", "true");
        start();
        get("/workers/kill/");
        assert_int_equal(t.f.status, 405);
        post("/workers/kill/", "host=other");
        assert_int_equal(t.f.status, 404);
        post("/workers/kill/", "host=HOST&host=other");
        assert_int_equal(t.f.status, 200);
        assert_int_equal(t.decommissioned, 1);
        conf_set(&t.conf, "spark.master.ui.decommission.allow.mode", "DENY");
        start();
        post("/workers/kill/", "host=host2");
        assert_int_equal(t.f.status, 403);
        assert_int_equal(t.decommissioned, 1);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, begin, end)
        const struct CMUnitTest tests[] = {
                CASE(pages_show_everything_and_escape_it), CASE(json_has_sparks_names),
                CASE(metrics_have_sparks_names),           CASE(buttons_end_things),
                CASE(rights_decide_about_buttons),         CASE(workers_are_decommissioned),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
