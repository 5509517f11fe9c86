/* The names that spark.shuffle.manager may have. */
#include "shuffle/shuffle_manager.h"

#include "base/error.h"
#include "conf/conf.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Returns the status for @name (NULL: the key is not set). A refusal names the value and the names that exist. */
static int manager_named(const char *name)
{
        struct fst_conf conf;
        struct fst_error error = FST_ERROR_INIT;
        enum shuffle_manager manager = (enum shuffle_manager)99;
        conf_init(&conf);
        if (name)
                conf_set(&conf, "spark.shuffle.manager", name);
        int r = shuffle_manager_read(&conf, &manager, &error);
        if (r == 0) {
                assert_int_equal(manager, SHUFFLE_MANAGER_SORT);
        } else {
                assert_int_equal((int)manager, 99);
                assert_non_null(strstr(error_message(&error), name));
                assert_non_null(strstr(error_message(&error), "sort, tungsten-sort or org.apache.spark.shuffle.sort."));
        }
        error_deinit(&error);
        conf_deinit(&conf);
        return r;
}

static void accepts_the_names_of_sort(void **state)
{
        assert_int_equal(manager_named(NULL), 0);
        assert_int_equal(manager_named("sort"), 0);
        assert_int_equal(manager_named("SORT"), 0);
        assert_int_equal(manager_named("tungsten-sort"), 0);
        assert_int_equal(manager_named("org.apache.spark.shuffle.sort.SortShuffleManager"), 0);
}

static void rejects_unknown_names(void **state)
{
        assert_int_equal(manager_named("hash"), -EINVAL);
        assert_int_equal(manager_named("sorted"), -EINVAL);
        assert_int_equal(manager_named("org.apache.spark.shuffle.sort.sortshufflemanager"), -EINVAL);
        assert_int_equal(manager_named("com.example.ShuffleManager"), -EINVAL);
}

static void says_that_celeborn_is_not_supported_yet(void **state)
{
        assert_int_equal(manager_named("celeborn"), -ENOTSUP);
        assert_int_equal(manager_named("org.apache.spark.shuffle.celeborn.SparkShuffleManager"), -ENOTSUP);
        assert_int_equal(manager_named("org.apache.spark.shuffle.celeborn.RssShuffleManager"), -ENOTSUP);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(accepts_the_names_of_sort),
                cmocka_unit_test(rejects_unknown_names),
                cmocka_unit_test(says_that_celeborn_is_not_supported_yet),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
