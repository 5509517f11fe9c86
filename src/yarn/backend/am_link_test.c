/* The driver's endpoint for ApplicationMasters, with the messages of one over a real connection. */
#include "yarn/backend/am_link.h"

#include "base/buf.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "rpc/rpc.h"
#include "unit/cases.h"
#include "yarn/protocol/am.pb-c.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>

struct link_fixture {
        uv_loop_t loop;
        struct rpc_env *driver;
        struct fst_conf conf;
        struct executor_containers containers;
        struct am_link *link;
        struct buf seen; /* what the driver's side reported */
        struct buf told; /* what the ApplicationMaster got */
};

static void link_on_exited(void *owner, int32_t executor, int exit_status, bool caused_by_app, const char *reason)
{
        buf_printf(&((struct link_fixture *)owner)->seen, "exited %d %d %d %s\n", executor, exit_status, caused_by_app,
                   reason);
}

static void link_on_decommission(void *owner, int32_t executor, const char *host)
{
        buf_printf(&((struct link_fixture *)owner)->seen, "decommission %d %s\n", executor, host);
}

static void link_on_failed(void *owner, int exit_code, const char *message)
{
        buf_printf(&((struct link_fixture *)owner)->seen, "failed %d %s\n", exit_code, message);
}

static void link_on_lost(void *owner, const char *why)
{
        buf_puts(&((struct link_fixture *)owner)->seen, "lost\n");
}

static void link_on_replaced(void *owner)
{
        buf_puts(&((struct link_fixture *)owner)->seen, "replaced\n");
}

static const struct am_link_ops link_ops = {
        .executors = {.exited = link_on_exited, .decommission = link_on_decommission, .failed = link_on_failed},
        .lost = link_on_lost,
        .replaced = link_on_replaced};

static void link_on_answer(void *owner, struct rpc_answer *answer)
{
        struct link_fixture *f = owner;
        assert_int_equal(answer->status, 0);
        Firesteel__Yarn__AmConfig *config = firesteel__yarn__am_config__unpack(NULL, answer->len, answer->body);
        assert_non_null(config);
        for (size_t i = 0; i < config->n_properties; i++)
                buf_printf(&f->told, "%s=%s\n", config->properties[i]->key, config->properties[i]->value);
        for (size_t i = 0; i < config->n_files; i++)
                buf_printf(&f->told, "file %s %s %d %d%d\n", config->files[i]->link, config->files[i]->path,
                           (int)config->files[i]->size, config->files[i]->archive, config->files[i]->is_public);
        buf_printf(&f->told, "last %d\n", config->last_executor);
        for (size_t i = 0; i < config->targets->n_targets; i++)
                buf_printf(&f->told, "target %d %d\n", config->targets->targets[i]->profile,
                           config->targets->targets[i]->executors);
        for (size_t i = 0; i < config->excluded->n_hosts; i++)
                buf_printf(&f->told, "excluded %s\n", config->excluded->hosts[i]);
        firesteel__yarn__am_config__free_unpacked(config, NULL);
}

static void link_am_receive(void *owner, struct rpc_message *m)
{
        struct link_fixture *f = owner;
        if (m->type == FIRESTEEL__YARN__AM_TYPE__REQUEST_EXECUTORS) {
                Firesteel__Yarn__AmTargets *t = firesteel__yarn__am_targets__unpack(NULL, m->len, m->body);
                buf_printf(&f->told, "request %d %d %s:%d\n", t->targets[0]->profile, t->targets[0]->executors,
                           t->targets[0]->hosts[0]->host, t->targets[0]->hosts[0]->tasks);
                firesteel__yarn__am_targets__free_unpacked(t, NULL);
        } else if (m->type == FIRESTEEL__YARN__AM_TYPE__EXCLUDE_HOSTS) {
                Firesteel__Yarn__AmHosts *hosts = firesteel__yarn__am_hosts__unpack(NULL, m->len, m->body);
                buf_printf(&f->told, "exclude %zu %s\n", hosts->n_hosts, hosts->n_hosts ? hosts->hosts[0] : "none");
                firesteel__yarn__am_hosts__free_unpacked(hosts, NULL);
        } else {
                buf_printf(&f->told, "message %d\n", m->type);
        }
}

static const struct rpc_endpoint_class link_am_class = {.receive = link_am_receive};

static void link_turn(struct link_fixture *f, const struct buf *until, const char *text)
{
        for (int i = 0; i < 1000 && !strstr(buf_text(until), text); i++)
                uv_run(&f->loop, UV_RUN_ONCE);
        assert_non_null(strstr(buf_text(until), text));
}

static void link_fixture_begin(struct link_fixture *f)
{
        struct rpc_options options;
        *f = (struct link_fixture){0};
        uv_loop_init(&f->loop);
        conf_init(&f->conf);
        conf_set(&f->conf, "spark.yarn.queue", "q");
        conf_set(&f->conf, "spark.authenticate.secret", "hush");
        conf_set(&f->conf, "spark.hadoop.a", "set");
        f->containers.conf = &f->conf;
        hadoop_conf_set(&f->containers.yarn_conf.hadoop, "a", "from a file");
        hadoop_conf_set(&f->containers.yarn_conf.hadoop, "yarn.resourcemanager.hostname", "rm");
        f->containers.driver_url = mem_strdup("spark://CoarseGrainedScheduler@h:1");
        f->containers.user = mem_strdup("me");
        f->containers.staging_dir = mem_strdup("");
        static const struct local_resource files[] = {
                {.link = (char *)"__firesteel__",
                 .path = (char *)"hdfs://nn/x",
                 .size = 7,
                 .archive = true,
                 .is_public = true},
                {.link = (char *)"keytab", .path = (char *)"hdfs://nn/k", .driver_only = true},
                {.link = (char *)"data.txt", .path = (char *)"hdfs://nn/y", .size = 3}};
        for (size_t i = 0; i < ARRAY_SIZE(files); i++)
                local_resources_add_copy(&f->containers.resources, &files[i]);
        rpc_options_init(&options);
        options.name = "driver";
        assert_int_equal(rpc_env_new(&f->loop, &options, &f->driver, NULL), 0);
        assert_int_equal(rpc_env_listen(f->driver, "127.0.0.1", "127.0.0.1", 0, 0, NULL), 0);
        assert_int_equal(am_link_new(f->driver, &f->containers, &link_ops, f, &f->link, NULL), 0);
}

/* An ApplicationMaster that registers. */
static struct rpc_env *link_connect(struct link_fixture *f, struct rpc_ref **driver)
{
        _cleanup_free_ char *url = mem_printf("spark://YarnScheduler@%s", rpc_env_address(f->driver));
        Firesteel__Yarn__RegisterAm question = FIRESTEEL__YARN__REGISTER_AM__INIT;
        struct rpc_options options;
        struct rpc_env *env;
        rpc_options_init(&options);
        options.name = "am";
        buf_reset(&f->told);
        assert_int_equal(rpc_env_new(&f->loop, &options, &env, NULL), 0);
        assert_int_equal(rpc_env_register(env, "YarnAM", &link_am_class, f, NULL), 0);
        assert_int_equal(rpc_env_ref(env, url, driver, NULL), 0);
        assert_int_equal(rpc_ask_packed(*driver, FIRESTEEL__YARN__AM_TYPE__REGISTER_AM, &question.base, NULL, 0,
                                        link_on_answer, f),
                         0);
        link_turn(f, &f->told, "last ");
        return env;
}

static void link_fixture_end(struct link_fixture *f)
{
        am_link_close(f->link);
        rpc_env_close(f->driver, 0, NULL, NULL);
        uv_run(&f->loop, UV_RUN_DEFAULT);
        am_link_free(f->link);
        assert_int_equal(uv_loop_close(&f->loop), 0);
        executor_containers_deinit(&f->containers);
        conf_deinit(&f->conf);
        buf_deinit(&f->seen);
        buf_deinit(&f->told);
}

static void link_send_exited(struct rpc_ref *driver, int executor)
{
        Firesteel__Yarn__AmExecutorExited exited = FIRESTEEL__YARN__AM_EXECUTOR_EXITED__INIT;
        exited.executor = executor;
        exited.exit_status = 137;
        exited.caused_by_app = true;
        exited.reason = (char *)"killed";
        rpc_send_packed(driver, FIRESTEEL__YARN__AM_TYPE__EXECUTOR_EXITED, &exited.base, NULL);
}

static void sends_configuration_and_requests(void **state)
{
        struct link_fixture f;
        struct rpc_ref *driver;
        const struct yarn_host_tasks host = {.host = "n1", .tasks = 4};
        link_fixture_begin(&f);
        am_link_request(f.link, &(struct yarn_target){.total = 2});
        am_link_request(f.link, &(struct yarn_target){.profile = 1, .total = 9});
        am_link_request(f.link, &(struct yarn_target){.total = 3}); /* replaces the first one */
        assert_false(am_link_is_connected(f.link));
        struct rpc_env *am = link_connect(&f, &driver);
        assert_true(am_link_is_connected(f.link));
        assert_string_equal(
                buf_text(&f.told),
                "spark.yarn.queue=q\nspark.hadoop.a=set\nspark.hadoop.yarn.resourcemanager.hostname=rm\n"
                "file __firesteel__ hdfs://nn/x 7 11\nfile data.txt hdfs://nn/y 3 00\nlast 0\ntarget 0 3\ntarget 1 9\n");
        am_link_request(f.link, &(struct yarn_target){.total = 5, .hosts = &host, .n_hosts = 1});
        link_turn(&f, &f.told, "request 0 5 n1:4\n");
        am_link_kill(f.link, 1);
        link_turn(&f, &f.told, "message 21\n");
        assert_true(am_link_finish(f.link, YARN_FINAL_SUCCEEDED, ""));
        link_turn(&f, &f.told, "message 22\n");
        rpc_ref_unref(driver);
        rpc_env_close(am, 0, NULL, NULL);
        link_turn(&f, &f.seen, "lost\n");
        assert_false(am_link_finish(f.link, YARN_FINAL_SUCCEEDED, ""));
        link_fixture_end(&f);
}

static void passes_excluded_hosts_on_to_each_attempt(void **state)
{
        static const char *const hosts[] = {"bad1", "bad2"};
        struct link_fixture f;
        struct rpc_ref *driver;
        link_fixture_begin(&f);
        am_link_exclude(f.link, hosts, 2); /* before there is one */
        struct rpc_env *am = link_connect(&f, &driver);
        assert_non_null(strstr(buf_text(&f.told), "excluded bad1\nexcluded bad2\n"));
        am_link_exclude(f.link, hosts + 1, 1);
        link_turn(&f, &f.told, "exclude 1 bad2\n");
        am_link_exclude(f.link, NULL, 0);
        link_turn(&f, &f.told, "exclude 0 none\n");
        rpc_ref_unref(driver);
        rpc_env_close(am, 0, NULL, NULL);
        link_fixture_end(&f);
}

static void reports_what_becomes_of_executors(void **state)
{
        struct link_fixture f;
        struct rpc_ref *driver;
        Firesteel__Yarn__AmDecommission decommission = FIRESTEEL__YARN__AM_DECOMMISSION__INIT;
        Firesteel__Yarn__AmFailed failed = FIRESTEEL__YARN__AM_FAILED__INIT;
        link_fixture_begin(&f);
        struct rpc_env *am = link_connect(&f, &driver);
        link_send_exited(driver, 4);
        decommission.executor = 2;
        decommission.host = (char *)"n2";
        rpc_send_packed(driver, FIRESTEEL__YARN__AM_TYPE__EXECUTOR_DECOMMISSION, &decommission.base, NULL);
        rpc_send(driver, FIRESTEEL__YARN__AM_TYPE__EXECUTOR_EXITED, "\xff", 1, NULL); /* damaged: ignored */
        rpc_send(driver, 99, NULL, 0, NULL);
        failed.exit_code = 11;
        failed.message = (char *)"enough";
        rpc_send_packed(driver, FIRESTEEL__YARN__AM_TYPE__APPLICATION_FAILED, &failed.base, NULL);
        link_turn(&f, &f.seen, "enough\n");
        assert_string_equal(buf_text(&f.seen), "exited 4 137 1 killed\ndecommission 2 n2\nfailed 11 enough\n");
        rpc_ref_unref(driver);
        rpc_env_close(am, 0, NULL, NULL);
        link_fixture_end(&f);
}

/* The second attempt gets the ids after those of the first one, whose messages no longer count. */
static void lets_another_attempt_take_over(void **state)
{
        struct link_fixture f;
        struct rpc_ref *first_driver, *second_driver;
        link_fixture_begin(&f);
        struct rpc_env *first = link_connect(&f, &first_driver);
        link_send_exited(first_driver, 4);
        link_turn(&f, &f.seen, "exited 4");
        am_link_saw(f.link, 6);
        buf_reset(&f.seen);
        struct rpc_env *second = link_connect(&f, &second_driver);
        assert_non_null(strstr(buf_text(&f.told), "last 6\n"));
        assert_string_equal(buf_text(&f.seen), "replaced\n");
        link_send_exited(first_driver, 8);
        rpc_env_flush(first);
        rpc_ref_unref(first_driver);
        rpc_env_close(first, 100, NULL, NULL);
        for (int i = 0; i < 20; i++)
                uv_run(&f.loop, UV_RUN_NOWAIT);
        link_send_exited(second_driver, 9);
        link_turn(&f, &f.seen, "exited 9");
        assert_null(strstr(buf_text(&f.seen), "exited 8"));
        assert_null(strstr(buf_text(&f.seen), "lost"));
        assert_true(am_link_is_connected(f.link));
        rpc_ref_unref(second_driver);
        rpc_env_close(second, 0, NULL, NULL);
        link_fixture_end(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(sends_configuration_and_requests),
                cmocka_unit_test(passes_excluded_hosts_on_to_each_attempt),
                cmocka_unit_test(reports_what_becomes_of_executors),
                cmocka_unit_test(lets_another_attempt_take_over),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
