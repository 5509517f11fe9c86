/* The driver's side of Celeborn's lifecycle manager journals a shuffle before its map tasks start. */
#include "celeborn/lifecycle/celeborn_driver.h"

#include "celeborn/lifecycle/lifecycle_journal.h"
#include "conf/conf.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Keeps the records that the scheduler's thread, which is the test's, appends. */
struct recorded_shuffles {
        pthread_t scheduler;
        int n;
        struct lifecycle_past_shuffle shuffles[4];
};

static void recorded_shuffles_append(void *owner, const void *record, size_t size, bool strict)
{
        struct recorded_shuffles *j = owner;
        struct lifecycle_past_shuffle shuffle;
        if (!pthread_equal(pthread_self(), j->scheduler) ||
            lifecycle_read_shuffle((fst_bytes){record, size}, &shuffle))
                return;
        assert_false(strict);
        assert_in_range(j->n, 0, 3);
        j->shuffles[j->n++] = shuffle;
}

static bool recorded_shuffles_may_remove(void *owner)
{
        return false; /* the thread ends at once: there is no master */
}

static void ignore_wake(void *owner)
{
}

/* The next driver looks for a shuffle that has an empty map output, for which no location was ever asked. */
static void shuffle_is_journaled_before_its_maps_start(void **state)
{
        struct recorded_shuffles journal = {.scheduler = pthread_self()};
        struct fst_error error = FST_ERROR_INIT;
        struct remote_shuffle_driver *driver = NULL;
        struct fst_conf conf;
        conf_init(&conf);
        conf_set(&conf, "spark.celeborn.master.endpoints", "127.0.0.1:1");
        const struct celeborn_driver_options options = {.conf = &conf,
                                                        .app_id = "app-1",
                                                        .wake = ignore_wake,
                                                        .journal = recorded_shuffles_append,
                                                        .may_remove = recorded_shuffles_may_remove,
                                                        .epoch = 1,
                                                        .owner = &journal};
        assert_int_equal(celeborn_driver_new(&options, &driver, &error), 0);
        driver->class->begin(driver, 7, 3, 5);
        assert_int_equal(journal.n, 1);
        assert_int_equal(journal.shuffles[0].shuffle, 7);
        assert_int_equal(journal.shuffles[0].maps, 3);
        assert_int_equal(journal.shuffles[0].partitions, 5);
        driver->class->begin(driver, 7, 3, 5); /* the same try */
        assert_int_equal(journal.n, 1);
        driver->class->begin(driver, 8, 1, 1);
        assert_int_equal(journal.n, 2);
        assert_int_equal(journal.shuffles[1].number, journal.shuffles[0].number + 1);
        driver->class->stop(driver);
        conf_deinit(&conf);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(shuffle_is_journaled_before_its_maps_start),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
