#include "conf/master_url.h"

#include "base/error.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static struct master_url parsed(const char *text)
{
        struct master_url url;
        assert_int_equal(master_url_parse(text, 6, &url, NULL), 0);
        return url;
}

static void local_masters_have_threads_and_failures(void **state)
{
        static const struct {
                const char *text;
                int threads, max_failures;
        } cases[] = {
                {"local", 1, 1},       {"local[1]", 1, 1},       {"local[12]", 12, 1},
                {"local[*]", 6, 1},    {"local[3,4]", 3, 4},     {"local[*,2]", 6, 2},
                {"local[3, 4]", 3, 4}, {"local[ * , 2 ]", 6, 2}, {"local[007]", 7, 1},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                struct master_url url = parsed(cases[i].text);
                assert_int_equal(url.kind, MASTER_LOCAL);
                assert_int_equal(url.threads, cases[i].threads);
                assert_int_equal(url.max_failures, cases[i].max_failures);
        }
}

static void clusters_are_told_apart(void **state)
{
        struct master_url url = parsed("local-cluster[2, 3,1024]");
        assert_int_equal(url.kind, MASTER_LOCAL_CLUSTER);
        assert_int_equal(url.executors, 2);
        assert_int_equal(url.cores, 3);
        assert_int_equal(url.memory_mib, 1024);
        assert_int_equal(parsed("spark://a:1,b:2").kind, MASTER_SPARK);
        assert_int_equal(parsed("yarn").kind, MASTER_YARN);
        assert_int_equal(parsed("yarn-cluster").kind, MASTER_YARN);
        assert_int_equal(parsed("mesos://zk://a:2181/mesos").kind, MASTER_MESOS);
        assert_int_equal(parsed("k8s://https://h:6443").kind, MASTER_K8S);
        assert_string_equal(master_kind_name(MASTER_K8S), "k8s");
}

static void what_cannot_be_is_refused(void **state)
{
        static const char *const bad[] = {
                "",
                "Local",
                "local[",
                "local[]",
                "local[0]",
                "local[-1]",
                "local[2",
                "local[2]x",
                "local[2,]",
                "local[,2]",
                "local[2,*]",
                "local[2,0]",
                "local[2,3,4]",
                "local[2.5]",
                "local[99999999999]",
                "local[2147483648]",
                "localhost",
                "local-cluster",
                "local-cluster[1,2]",
                "local-cluster[0,1,1]",
                "local-cluster[1,1,1]]",
                "spark://",
                "spark",
                "mesos://",
                "k8s://",
                "k8s",
                "yarn-foo",
                "yarn ",
                "http://h:1",
        };
        for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
                struct master_url url = {.threads = 77};
                struct fst_error error = FST_ERROR_INIT;
                assert_int_equal(master_url_parse(bad[i], 6, &url, &error), -EINVAL);
                assert_int_equal(url.threads, 77);
                if (!strstr(error.message, bad[i]))
                        fail_msg("%s: %s", bad[i], error.message);
                error_deinit(&error);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(local_masters_have_threads_and_failures),
                cmocka_unit_test(clusters_are_told_apart),
                cmocka_unit_test(what_cannot_be_is_refused),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
