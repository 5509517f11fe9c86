/* The names that spark.shuffle.manager may have. */
#include "shuffle/shuffle_manager.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

/* Returns the lines that the driver of a local master logs for @key=@value, in a static buffer. */
static const char *local_warnings(const char *key, const char *value)
{
        static char text[1000];
        struct fst_conf conf;
        enum shuffle_manager manager;
        int saved = dup(2), pipes[2];
        assert_int_equal(pipe2(pipes, O_NONBLOCK | O_CLOEXEC), 0);
        conf_init(&conf);
        conf_set(&conf, key, value);
        assert_int_equal(shuffle_manager_read(&conf, &manager, NULL), 0);
        fflush(stderr);
        dup2(pipes[1], 2);
        shuffle_manager_warn_local(&conf, manager);
        dup2(saved, 2);
        close(saved);
        close(pipes[1]);
        ssize_t n = read(pipes[0], text, sizeof(text) - 1);
        close(pipes[0]);
        text[MAX(n, 0)] = '\0';
        conf_deinit(&conf);
        return text;
}

static void warns_of_stores_that_a_local_master_does_not_use(void **state)
{
        assert_non_null(
                strstr(local_warnings("spark.shuffle.manager", "celeborn"), "spark.shuffle.manager has no effect"));
        assert_non_null(strstr(local_warnings("spark.firesteel.shuffle.store", "file:///tmp"),
                               "spark.firesteel.shuffle.store has no effect with a local master"));
        assert_string_equal(local_warnings("spark.shuffle.manager", "sort"), "");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(accepts_the_names_of_sort),
                cmocka_unit_test(rejects_unknown_names),
                cmocka_unit_test(accepts_the_names_of_celeborn),
                cmocka_unit_test(warns_of_stores_that_a_local_master_does_not_use),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
