#include "conf/master_url.h"

#include "base/error.h"
#include "base/mem.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <cmocka.h>

static void reads_threads_and_failures_of_local_masters(void **state)
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
                CASE_LABEL("%zu of cases: text \"%s\", threads %d, max_failures %d", i,
                           cases[i].text ? cases[i].text : "(none)", cases[i].threads, cases[i].max_failures);
                struct master_url url;
                assert_int_equal(local_master_parse(cases[i].text, 6, &url, NULL), 0);
                assert_int_equal(url.threads, cases[i].threads);
                assert_int_equal(url.max_failures, cases[i].max_failures);
        }
}

static void reads_the_numbers_of_a_local_cluster(void **state)
{
        struct master_url url;
        assert_int_equal(local_cluster_master_parse("local-cluster[2, 3,1024]", 6, &url, NULL), 0);
        assert_int_equal(url.executors, 2);
        assert_int_equal(url.cores, 3);
        assert_int_equal(url.memory_mib, 1024);
}

static void rejects_malformed_local_masters(void **state)
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
        };
        for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
                struct master_url url = {.threads = 77};
                struct fst_error error = FST_ERROR_INIT;
                bool cluster = strncmp(bad[i], "local-cluster", 13) == 0;
                int r = cluster ? local_cluster_master_parse(bad[i], 6, &url, &error)
                                : local_master_parse(bad[i], 6, &url, &error);
                if (r != -EINVAL || url.threads != 77 || !strstr(error.message, bad[i]))
                        fail_msg("'%s': %d, %s", bad[i], r, error_message(&error));
                error_deinit(&error);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reads_threads_and_failures_of_local_masters),
                cmocka_unit_test(reads_the_numbers_of_a_local_cluster),
                cmocka_unit_test(rejects_malformed_local_masters),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
