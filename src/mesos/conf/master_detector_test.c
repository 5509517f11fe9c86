/* Tests who leads, with an address and with a ZooKeeper in the process: elections, lost sessions, nodes of others. */
#include "mesos/conf/master_detector.h"

#include "base/mem.h"
#include "mesos/conf/mesos_master.h"
#include "process/loop_wait.h"
#include "standalone/recovery/zookeeper_fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define TIMEOUT_MS 30000

struct test_world {
        uv_loop_t loop;
        struct mesos_master master;
        struct master_detector *detector;
        char leader[64]; /* as last reported; "none" */
        int reports;
        const char *wanted;
        bool failed, closed;
};

static void on_leader(void *owner, const char *address)
{
        struct test_world *w = owner;

        snprintf(w->leader, sizeof(w->leader), "%s", address ? address : "none");
        w->reports++;
}

static void on_failed(void *owner, const char *message)
{
        struct test_world *w = owner;

        w->failed = true;
}

static const struct master_detector_ops ops = {.leader = on_leader, .failed = on_failed};

static void world_begin(struct test_world *w, const char *url)
{
        *w = (struct test_world){0};
        uv_loop_init(&w->loop);
        master_detector_zookeeper = &fake_ops;
        assert_int_equal(mesos_master_parse(url, &w->master, NULL), 0);
        w->detector = master_detector_new(&w->loop, &w->master, &ops, w);
}

static void world_on_closed(void *owner)
{
        struct test_world *w = owner;

        w->closed = true;
}

static void world_end(struct test_world *w)
{
        master_detector_free(w->detector, world_on_closed);
        uv_run(&w->loop, UV_RUN_DEFAULT);
        assert_true(w->closed);
        assert_int_equal(uv_loop_close(&w->loop), 0);
        mesos_master_deinit(&w->master);
        fake_reset();
}

static bool world_has_leader(void *owner)
{
        const struct test_world *w = owner;

        return strcmp(w->leader, w->wanted) == 0;
}

static void world_expect(struct test_world *w, const char *leader)
{
        w->wanted = leader;
        if (!loop_wait(&w->loop, world_has_leader, w, TIMEOUT_MS))
                fail_msg("the leader is \"%s\", not \"%s\"", w->leader, leader);
}

static void put_master(const char *name, int port)
{
        char text[200], path[100];

        snprintf(path, sizeof(path), "/mesos/%s", name);
        int n = snprintf(text, sizeof(text), "{\"address\":{\"hostname\":\"h\",\"ip\":\"10.0.0.7\",\"port\":%d}}",
                         port);
        pthread_mutex_lock(&fake.lock);
        fake_put(path, text, (size_t)n, NULL);
        pthread_mutex_unlock(&fake.lock);
}

static void remove_node(const char *path)
{
        pthread_mutex_lock(&fake.lock);
        fake_remove(fake_find(path));
        pthread_mutex_unlock(&fake.lock);
}

static void an_address_leads_once(void **state)
{
        struct test_world w;

        world_begin(&w, "h:5050");
        world_expect(&w, "h:5050");
        assert_int_equal(w.reports, 1);
        world_end(&w);
}

static void the_smallest_number_leads(void **state)
{
        struct test_world w;

        fake_put("/mesos", "", 0, NULL);
        put_master("json.info_0000000007", 7);
        put_master("json.info_0000000003", 3);
        put_master("info_0000000001", 1);
        fake_put("/mesos/log_replicas", "", 0, NULL);
        world_begin(&w, "zk://a:1/mesos");
        world_expect(&w, "10.0.0.7:3");
        put_master("json.info_0000000009", 9);
        remove_node("/mesos/json.info_0000000003");
        world_expect(&w, "10.0.0.7:7");
        remove_node("/mesos/json.info_0000000009");
        assert_int_equal(w.reports, 2);
        world_end(&w);
}

static void no_master_leads_until_one_comes(void **state)
{
        struct test_world w;

        world_begin(&w, "zk://a:1/mesos"); /* without the directory */
        world_expect(&w, "none");
        fake_put("/mesos", "", 0, NULL);
        put_master("json.info_0000000001", 1);
        world_expect(&w, "10.0.0.7:1");
        world_end(&w);
}

static void a_lost_session_keeps_the_leader(void **state)
{
        struct test_world w;

        fake_put("/mesos", "", 0, NULL);
        put_master("json.info_0000000001", 1);
        world_begin(&w, "zk://a:1/mesos");
        world_expect(&w, "10.0.0.7:1");
        pthread_mutex_lock(&fake.lock);
        fake_disconnect(fake.sessions[0]);
        fake_expire(fake.sessions[0]);
        fake_reconnect(fake.sessions[0]);
        pthread_mutex_unlock(&fake.lock);
        put_master("json.info_0000000002", 2);
        remove_node("/mesos/json.info_0000000001");
        world_expect(&w, "10.0.0.7:2");
        assert_int_equal(w.reports, 2);
        world_end(&w);
}

static void a_node_without_an_address_is_no_leader(void **state)
{
        struct test_world w;

        fake_put("/mesos", "", 0, NULL);
        fake_put("/mesos/json.info_0000000001", "{}", 2, NULL);
        world_begin(&w, "zk://a:1/mesos");
        world_expect(&w, "none");
        assert_false(w.failed);
        world_end(&w);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_address_leads_once),
                cmocka_unit_test(the_smallest_number_leads),
                cmocka_unit_test(no_master_leads_until_one_comes),
                cmocka_unit_test(a_lost_session_keeps_the_leader),
                cmocka_unit_test(a_node_without_an_address_is_no_leader),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
