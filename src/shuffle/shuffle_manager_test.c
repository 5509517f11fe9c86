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
static int manager_named(const char *name, enum shuffle_manager expected)
{
        struct fst_conf conf;
        struct fst_error error = FST_ERROR_INIT;
        enum shuffle_manager manager = (enum shuffle_manager)99;
        conf_init(&conf);
        if (name)
                conf_set(&conf, "spark.shuffle.manager", name);
        int r = shuffle_manager_read(&conf, &manager, &error);
        if (r == 0) {
                assert_int_equal(manager, expected);
        } else {
                assert_int_equal((int)manager, 99);
                assert_non_null(strstr(error_message(&error), name));
                assert_non_null(strstr(error_message(&error),
                                       "sort, celeborn, tungsten-sort or org.apache.spark.shuffle.sort."));
        }
        error_deinit(&error);
        conf_deinit(&conf);
        return r;
}

static void accepts_the_names_of_sort(void **state)
{
        assert_int_equal(manager_named(NULL, SHUFFLE_MANAGER_SORT), 0);
        assert_int_equal(manager_named("sort", SHUFFLE_MANAGER_SORT), 0);
        assert_int_equal(manager_named("SORT", SHUFFLE_MANAGER_SORT), 0);
        assert_int_equal(manager_named("tungsten-sort", SHUFFLE_MANAGER_SORT), 0);
        assert_int_equal(manager_named("org.apache.spark.shuffle.sort.SortShuffleManager", SHUFFLE_MANAGER_SORT), 0);
}

static void rejects_unknown_names(void **state)
{
        assert_int_equal(manager_named("hash", SHUFFLE_MANAGER_SORT), -EINVAL);
        assert_int_equal(manager_named("sorted", SHUFFLE_MANAGER_SORT), -EINVAL);
        assert_int_equal(manager_named("org.apache.spark.shuffle.sort.sortshufflemanager", SHUFFLE_MANAGER_SORT),
                         -EINVAL);
        assert_int_equal(manager_named("com.example.ShuffleManager", SHUFFLE_MANAGER_SORT), -EINVAL);
}

static void accepts_the_names_of_celeborn(void **state)
{
        assert_int_equal(manager_named("Celeborn", SHUFFLE_MANAGER_CELEBORN), 0);
        assert_int_equal(
                manager_named("org.apache.spark.shuffle.celeborn.SparkShuffleManager", SHUFFLE_MANAGER_CELEBORN), 0);
        assert_int_equal(manager_named("org.apache.spark.shuffle.celeborn.RssShuffleManager", SHUFFLE_MANAGER_CELEBORN),
                         0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(accepts_the_names_of_sort),
                cmocka_unit_test(rejects_unknown_names),
                cmocka_unit_test(accepts_the_names_of_celeborn),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
