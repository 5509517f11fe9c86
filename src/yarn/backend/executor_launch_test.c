/* Launch contexts of executors: the command survives YARN's shell, the environment and the credentials are Spark's. */
#include "yarn/backend/executor_launch.h"

#include "base/mem.h"
#include "conf/conf.h"
#include "process/command.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static const struct yarn_launch launch = {
        .container = {.application = {.cluster_timestamp = 1700000000000, .id = 7}, .attempt = 1, .id = 12},
        .executor = 11,
        .profile = 3,
        .host = "node1",
        .node_http_address = "node1:8042"};

struct launch_fixture {
        struct fst_conf conf;
        struct local_resources resources;
        struct hadoop_credentials credentials;
        struct yarn_conf yarn_conf;
        struct executor_launch out;
};

static void launch_fixture_add_program(struct launch_fixture *f, const char *path)
{
        local_resources_add_copy(&f->resources, &(struct local_resource){.link = (char *)"__firesteel__",
                                                                         .path = (char *)path,
                                                                         .size = 5,
                                                                         .modified_ms = 77,
                                                                         .archive = true,
                                                                         .is_public = true});
}

static void launch_fixture_fill(struct launch_fixture *f)
{
        if (!f->resources.list.len)
                launch_fixture_add_program(f, "hdfs://nn:9000/user/me/x.tar.gz");
        executor_launch_fill(&f->out,
                             &(struct executor_launch_options){.conf = &f->conf,
                                                               .driver_url = "spark://CoarseGrainedScheduler@h:1",
                                                               .app_id = "application_1700000000000_0007",
                                                               .user = "me",
                                                               .staging_dir = "hdfs://nn:9000/s",
                                                               .yarn_conf = &f->yarn_conf,
                                                               .resources = &f->resources,
                                                               .credentials = &f->credentials,
                                                               .view_acl = "me,ann ",
                                                               .modify_acl = "me ops",
                                                               .cores = 4},
                             &launch);
}

static void launch_fixture_end(struct launch_fixture *f)
{
        executor_launch_deinit(&f->out);
        local_resources_deinit(&f->resources);
        hadoop_credentials_deinit(&f->credentials);
        conf_deinit(&f->conf);
}

/* YARN joins the words with blanks. */
static void assert_command(const struct launch_fixture *f, const char *expected)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        for (size_t i = 0; i < f->out.message.n_command; i++)
                buf_printf(&text, "%s%s", i ? " " : "", f->out.message.command[i]);
        assert_string_equal(buf_text(&text), expected);
}

static const char *launch_variable(const struct launch_fixture *f, const char *name)
{
        for (size_t i = 0; i < f->out.message.n_environment; i++)
                if (strcmp(f->out.message.environment[i]->key, name) == 0)
                        return f->out.message.environment[i]->value;
        return NULL;
}

static void test_command(void **state)
{
        struct launch_fixture f = {0};
        conf_init(&f.conf);
        conf_set(&f.conf, "spark.authenticate", "true");
        conf_set(&f.conf, "spark.authenticate.secret", "hush");
        conf_set(&f.conf, "spark.app.name", "not a key for the start");
        launch_fixture_fill(&f);
        assert_command(&f, "LD_LIBRARY_PATH='{{PWD}}/__firesteel__/lib' exec __firesteel__/bin/firesteel executor "
                           "--driver-url 'spark://CoarseGrainedScheduler@h:1' --executor-id '11' --hostname 'node1' "
                           "--cores '4' --app-id 'application_1700000000000_0007' --resourceProfileId '3' "
                           "--conf 'spark.authenticate=true' 1> <LOG_DIR>/stdout 2> <LOG_DIR>/stderr");
        launch_fixture_end(&f);
}

static void test_application_master(void **state)
{
        struct launch_fixture f = {0};
        conf_init(&f.conf);
        conf_set(&f.conf, "spark.authenticate", "true");
        conf_set(&f.conf, "spark.authenticate.secret", "hush");
        conf_set(&f.conf, "spark.executorEnv.A", "1");
        hadoop_credentials_add_secret(&f.credentials, HADOOP_SECRET_OF_SPARK, "hush", 4);
        launch_fixture_add_program(&f, "hdfs://nn:9000/x.tar.gz");
        am_launch_fill(&f.out,
                       &(struct executor_launch_options){
                               .conf = &f.conf, .user = "me", .resources = &f.resources, .credentials = &f.credentials},
                       "driver:41000");
        assert_command(&f, "LD_LIBRARY_PATH='{{PWD}}/__firesteel__/lib' exec __firesteel__/bin/firesteel yarn-am "
                           "--arg 'driver:41000' --conf 'spark.authenticate=true' 1> <LOG_DIR>/stdout "
                           "2> <LOG_DIR>/stderr");
        assert_string_equal(launch_variable(&f, "SPARK_USER"), "me");
        assert_string_equal(launch_variable(&f, "SASL_PATH"), "{{PWD}}/__firesteel__/lib/sasl2");
        assert_null(launch_variable(&f, "A"));
        assert_int_equal(f.out.message.n_local_resources, 1);
        assert_true(f.out.message.tokens.len > 10);
        launch_fixture_end(&f);
}

static void test_environment(void **state)
{
        struct launch_fixture f = {0};
        conf_init(&f.conf);
        conf_set(&f.conf, "spark.executorEnv.A", "1");
        conf_set(&f.conf, "spark.executorEnv.SPARK_USER", "other");
        launch_fixture_fill(&f);
        assert_string_equal(launch_variable(&f, "A"), "1");
        assert_string_equal(launch_variable(&f, "SPARK_USER"), "other");
        assert_string_equal(launch_variable(&f, "SPARK_YARN_STAGING_DIR"), "hdfs://nn:9000/s");
        assert_string_equal(launch_variable(&f, "SPARK_LOG_URL_STDERR"),
                            "http://node1:8042/node/containerlogs/container_1700000000000_0007_01_000012/me/"
                            "stderr?start=-4096");
        assert_string_equal(launch_variable(&f, "SPARK_LOG_URL_STDOUT"),
                            "http://node1:8042/node/containerlogs/container_1700000000000_0007_01_000012/me/"
                            "stdout?start=-4096");
        static const char *const attributes[][2] = {
                {"HTTP_SCHEME", "http://"},
                {"NM_HOST", "node1"},
                {"NM_PORT", "-1"},
                {"NM_HTTP_PORT", "8042"},
                {"NM_HTTP_ADDRESS", "node1:8042"},
                {"CLUSTER_ID", ""},
                {"CONTAINER_ID", "container_1700000000000_0007_01_000012"},
                {"USER", "me"},
                {"LOG_FILES", "stderr,stdout"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(attributes); i++) {
                _cleanup_free_ char *name = mem_printf("SPARK_EXECUTOR_ATTRIBUTE_%s", attributes[i][0]);
                assert_string_equal(launch_variable(&f, name), attributes[i][1]);
        }
        assert_int_equal(f.out.message.n_environment, 5 + ARRAY_SIZE(attributes));
        launch_fixture_end(&f);
}

static void test_files_and_credentials(void **state)
{
        struct launch_fixture f = {0};
        struct hadoop_credentials read = {0};
        conf_init(&f.conf);
        hadoop_credentials_add_secret(&f.credentials, HADOOP_SECRET_OF_SPARK, "hush", 4);
        launch_fixture_fill(&f);
        assert_int_equal(f.out.message.n_acls, 2);
        assert_int_equal(f.out.message.acls[0]->access, 1);
        assert_string_equal(f.out.message.acls[0]->acl, "me,ann ");
        assert_int_equal(f.out.message.acls[1]->access, 2);
        assert_string_equal(f.out.message.acls[1]->acl, "me ops");
        const Firesteel__Yarn__LocalResource *r = f.out.message.local_resources[0]->value;
        assert_string_equal(f.out.message.local_resources[0]->key, "__firesteel__");
        assert_string_equal(r->resource->scheme, "hdfs");
        assert_string_equal(r->resource->host, "nn");
        assert_int_equal(r->resource->port, 9000);
        assert_string_equal(r->resource->file, "/user/me/x.tar.gz");
        assert_int_equal(r->size, 5);
        assert_int_equal(r->timestamp, 77);
        assert_int_equal(r->type, 1);
        assert_int_equal(r->visibility, 1);
        assert_int_equal(hadoop_credentials_read(&read, f.out.message.tokens.data, f.out.message.tokens.len, NULL), 0);
        assert_string_equal(buf_text(hadoop_credentials_secret(&read, "sparkCookie")), "hush");
        hadoop_credentials_deinit(&read);
        launch_fixture_fill(&f); /* again, for another container */
        assert_int_equal(f.out.message.n_local_resources, 1);
        launch_fixture_end(&f);
}

static void test_local_path(void **state)
{
        struct launch_fixture f = {0};
        conf_init(&f.conf);
        launch_fixture_add_program(&f, "file:/data/x.tar.gz");
        executor_launch_fill(&f.out,
                             &(struct executor_launch_options){.conf = &f.conf,
                                                               .driver_url = "u",
                                                               .app_id = "a",
                                                               .user = "me",
                                                               .yarn_conf = &f.yarn_conf,
                                                               .resources = &f.resources,
                                                               .credentials = &f.credentials,
                                                               .cores = 1},
                             &launch);
        const Firesteel__Yarn__Url *url = f.out.message.local_resources[0]->value->resource;
        assert_string_equal(url->scheme, "file");
        assert_null(url->host);
        assert_string_equal(url->file, "/data/x.tar.gz");
        assert_null(launch_variable(&f, "SPARK_YARN_STAGING_DIR"));
        launch_fixture_end(&f);
}

/* The NodeManager pastes a command into `exec /bin/bash -c "…"`. */
static void test_quoting(void **state)
{
        static const char *const texts[] = {
                "plain", "two words", "it's", "\"q\" $HOME `x` \\ \\\\n", "a{{PWD}}b}}", "<LOG_DIR>", "", "'", "$(x)"};
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                _cleanup_(buf_deinit) struct buf output = BUF_INIT;
                _cleanup_free_ char *quoted = container_command_quote(texts[i]);
                _cleanup_free_ char *script = mem_printf("exec /bin/bash -c \"printf %%s %s\"", quoted);
                char *words[] = {(char *)"/bin/bash", (char *)"-c", script, NULL};
                int status;
                assert_null(strstr(quoted, "{{"));
                assert_null(strstr(quoted, "}}"));
                assert_null(strstr(quoted, "<LOG_DIR>"));
                assert_int_equal(command_run(&(struct command){.words = words, .captured = &output}, &status), 0);
                assert_int_equal(status, 0);
                assert_string_equal(buf_text(&output), texts[i]);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_command),    cmocka_unit_test(test_environment),
                cmocka_unit_test(test_local_path), cmocka_unit_test(test_files_and_credentials),
                cmocka_unit_test(test_quoting),    cmocka_unit_test(test_application_master),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
