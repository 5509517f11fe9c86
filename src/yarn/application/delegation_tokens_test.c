/* The file systems of which an application needs tokens, the renewer, and what a submission gets. The namenode is
 * simulated here; `make check-yarn-kerberos` runs against a real one. */
#include "yarn/application/delegation_tokens.h"

#include "base/error.h"
#include "conf/conf.h"
#include "hadoop/credentials.h"
#include "io/fs/hdfs_tokens.h"
#include "net/http/http_fixture.h"
#include "unit/cases.h"
#include "yarn/conf/yarn_conf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static struct http_fixture server;
static struct fst_error error;
static struct fst_conf conf;
static struct yarn_conf yarn;
static struct buf asked;
static int renewals_refused; /* to come */

static const char *no_variable(const char *name)
{
        return NULL;
}

/* A namenode that gives tokens; they live for 5 s. */
static void serve(struct fixture_exchange *x)
{
        struct hadoop_token token = {.kind = "", .service = ""};
        buf_printf(&asked, "%s %.*s\n", x->method, (int)strcspn(x->target, "&"), x->target);
        const char *renewer = strstr(x->target, "&renewer=");
        if (!renewer && strstr(x->target, "op=CANCEL"))
                return fixture_answer(x, 200, "", "");
        if (!renewer && renewals_refused-- > 0)
                return fixture_answer(x, 403, "", "{\"RemoteException\": {\"message\": \"not the renewer\"}}");
        if (!renewer)
                return fixture_answer(x, 200, "", "{\"long\": 1763530419746}");
        buf_printf(&asked, "%.*s\n", (int)strcspn(renewer + 1, "&"), renewer + 1);
        buf_append(&token.identifier, "\0\5alice\2rm\0\x8a\1\x9a\x9a\x9a\x9a\x9a\x8a\1\x9b\0\0\0\0\1\2", 27);
        buf_puts(&token.password, "secret");
        _cleanup_free_ char *text = hadoop_token_to_text(&token);
        _cleanup_free_ char *body = mem_printf("{\"Token\": {\"urlString\": \"%s\"}}", text);
        fixture_answer(x, 200, "", body);
        buf_deinit(&token.identifier);
        buf_deinit(&token.password);
}

/* The roots, joined with blanks. Owned. */
static char *roots_of(void)
{
        _cleanup_(string_list_deinit) struct string_list roots = {0};
        struct buf text = BUF_INIT;
        assert_int_equal(delegation_tokens_roots(&conf, &yarn, &roots, &error), 0);
        for (size_t i = 0; i < roots.len; i++)
                buf_printf(&text, "%s%s", i ? " " : "", roots.data[i]);
        return buf_steal(&text);
}

static void lists_the_file_systems_that_need_tokens(void **state)
{
        static const struct {
                const char *first, *nameservices, *staging, *access, *roots;
        } cases[] = {
                {"hdfs://nn:9000", "", "", "", "hdfs://nn:9000/"},
                {"hdfs://nn:9000/", "", "hdfs://nn:9000/stage", "hdfs://nn:9000/a, hdfs://other/b",
                 "hdfs://nn:9000/ hdfs://other/"},
                {"hdfs://depot", "depot, far", "", "", "hdfs://depot/ hdfs://far/"},
                {"hdfs://depot", "depot,far", "", "webhdfs://nn:9870/x", "webhdfs://nn:9870/ hdfs://depot/"},
                {"file:///", "", "/stage", "file:///x", ""},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("fs.defaultFS %s, access %s", cases[i].first, cases[i].access);
                hadoop_conf_set(&yarn.hadoop, "fs.defaultFS", cases[i].first);
                hadoop_conf_set(&yarn.hadoop, "dfs.nameservices", cases[i].nameservices);
                conf_set(&conf, "spark.yarn.stagingDir", cases[i].staging);
                conf_set(&conf, "spark.kerberos.access.hadoopFileSystems", cases[i].access);
                _cleanup_free_ char *roots = roots_of();
                assert_string_equal(roots, cases[i].roots);
        }
        _cleanup_(string_list_deinit) struct string_list roots = {0};
        conf_set(&conf, "spark.kerberos.access.hadoopFileSystems", "nn:9000");
        assert_int_equal(delegation_tokens_roots(&conf, &yarn, &roots, &error), 0); /* "nn" is a scheme */
        conf_set(&conf, "spark.kerberos.access.hadoopFileSystems", "/x");
        assert_int_equal(delegation_tokens_roots(&conf, &yarn, &roots, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "\"/x\""));
        conf_set(&conf, "spark.kerberos.access.hadoopFileSystems", "");
        hadoop_conf_set(&yarn.hadoop, "dfs.nameservices", "");
}

static void names_the_renewer(void **state)
{
        static const char *const cases[][3] = {
                {"rm/_HOST@R", "Master.example.com:8032", "rm/master.example.com@R"},
                {"rm/h@R", "master:8032", "rm/h@R"},
                {"yarn@R", "master:8032", "yarn@R"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                hadoop_conf_set(&yarn.hadoop, "yarn.resourcemanager.principal", cases[i][0]);
                hadoop_conf_set(&yarn.hadoop, "yarn.resourcemanager.address", cases[i][1]);
                _cleanup_free_ char *renewer = delegation_tokens_renewer(&yarn, &error);
                assert_string_equal(renewer, cases[i][2]);
        }
        hadoop_conf_set(&yarn.hadoop, "yarn.resourcemanager.principal", "");
        assert_null(delegation_tokens_renewer(&yarn, &error));
        assert_non_null(strstr(error_message(&error), "yarn.resourcemanager.principal"));
        hadoop_conf_set(&yarn.hadoop, "yarn.resourcemanager.principal", "rm/h@R");
}

static void fetches_tokens_for_the_renewer(void **state)
{
        _cleanup_(hadoop_credentials_deinit) struct hadoop_credentials c = {0};
        _cleanup_free_ char *first = mem_printf("webhdfs://127.0.0.1:%d", server.port);
        _cleanup_free_ char *second = mem_printf("webhdfs://localhost:%d/x", server.port);
        int64_t interval;
        hadoop_conf_set(&yarn.hadoop, "fs.defaultFS", first);
        conf_set(&conf, "spark.yarn.stagingDir", "");
        conf_set(&conf, "spark.kerberos.access.hadoopFileSystems", second);
        conf_set(&conf, "spark.kerberos.renewal.exclude.hadoopFileSystems", "webhdfs://localhost/");
        buf_reset(&asked);
        assert_int_equal(delegation_tokens_fetch(&conf, &yarn, &c, &error), 0);
        assert_string_equal(buf_text(&asked), "GET /webhdfs/v1/?op=GETDELEGATIONTOKEN\nrenewer=\n"
                                              "GET /webhdfs/v1/?op=GETDELEGATIONTOKEN\nrenewer=rm%2Fh%40R\n");
        assert_int_equal(c.tokens.len, 1); /* one service */
        assert_int_equal(delegation_tokens_issued(&c), 0x19a9a9a9a9a);
        buf_reset(&asked);
        assert_int_equal(delegation_tokens_interval(&conf, &yarn, &interval, &error), 0);
        assert_int_equal(interval, 1763530419746 - 0x19a9a9a9a9a);
        /* Tokens that only show the interval are cancelled, those of each file system. */
        const char *cancelled = strstr(buf_text(&asked), "PUT /webhdfs/v1/?op=CANCELDELEGATIONTOKEN\n");
        assert_non_null(cancelled);
        assert_non_null(strstr(cancelled + 1, "PUT /webhdfs/v1/?op=CANCELDELEGATIONTOKEN\n"));
        interval = 0;
        renewals_refused = 1; /* the other file system renews its tokens */
        assert_int_equal(delegation_tokens_interval(&conf, &yarn, &interval, &error), 0);
        assert_int_equal(interval, 1763530419746 - 0x19a9a9a9a9a);
        renewals_refused = 2;
        assert_int_equal(delegation_tokens_interval(&conf, &yarn, &interval, &error), -ENODATA);
        renewals_refused = 0;
        hadoop_conf_set(&yarn.hadoop, "fs.defaultFS", "file:///");
        conf_set(&conf, "spark.kerberos.access.hadoopFileSystems", "");
        assert_int_equal(delegation_tokens_interval(&conf, &yarn, &interval, &error), -ENODATA);
        hadoop_credentials_deinit(&c);
        c = (struct hadoop_credentials){0};
        assert_int_equal(delegation_tokens_issued(&c), INT64_MAX);
}

static void names_the_remedy_without_a_ticket(void **state)
{
        _cleanup_(hadoop_credentials_deinit) struct hadoop_credentials c = {0};
        setenv("KRB5CCNAME", "FILE:/nonexistent/cache", 1);
        assert_int_equal(delegation_tokens_of_submission(&conf, &yarn, NULL, &c, &error), -EACCES);
        assert_non_null(strstr(error_message(&error), "kinit"));
        conf_set(&conf, "spark.security.credentials.hadoopfs.enabled", "false");
        assert_int_equal(delegation_tokens_of_submission(&conf, &yarn, NULL, &c, &error), 0);
        conf_set(&conf, "spark.security.credentials.hadoopfs.enabled", "true");
        assert_int_equal(delegation_tokens_of_submission(&conf, &yarn, "/nonexistent/tokens", &c, &error), -ENOENT);
        hadoop_conf_set(&yarn.hadoop, "hadoop.security.authentication", "simple");
        assert_int_equal(delegation_tokens_of_submission(&conf, &yarn, NULL, &c, &error), 0);
        assert_int_equal(c.tokens.len, 0);
        hadoop_conf_set(&yarn.hadoop, "hadoop.security.authentication", "kerberos");
}

static int start(void **state)
{
        http_fixture_start(&server, serve);
        conf_init(&conf);
        hadoop_conf_init(&yarn.hadoop, no_variable);
        hadoop_conf_set(&yarn.hadoop, "hadoop.security.authentication", "kerberos");
        return 0;
}

static int stop(void **state)
{
        hadoop_conf_deinit(&yarn.hadoop);
        conf_deinit(&conf);
        http_fixture_stop(&server);
        buf_deinit(&asked);
        error_deinit(&error);
        return 0;
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(lists_the_file_systems_that_need_tokens),
                cmocka_unit_test(names_the_renewer),
                cmocka_unit_test(fetches_tokens_for_the_renewer),
                cmocka_unit_test(names_the_remedy_without_a_ticket),
        };
        return cmocka_run_group_tests(tests, start, stop);
}
