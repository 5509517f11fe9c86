#include "mesos/tasks/executor_data.h"

#include "base/buf.h"
#include "base/error.h"
#include "conf/conf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void round_trip_keeps_address_and_startup_settings(void **state)
{
        struct fst_conf driver, executor;
        struct buf data = BUF_INIT;
        const char *url;

        conf_init(&driver);
        conf_init(&executor);
        conf_set(&driver, "spark.rpc.askTimeout", "7s");
        conf_set(&driver, "spark.app.name", "not needed");
        conf_set(&driver, "spark.authenticate.secret", "hidden");
        executor_data_write(&data, "spark://CoarseGrainedScheduler@h:1", &driver);
        assert_int_equal(executor_data_read((uint8_t *)data.data, data.len, &url, &executor, NULL), 0);
        assert_string_equal(url, "spark://CoarseGrainedScheduler@h:1");
        assert_string_equal(conf_get_raw(&executor, "spark.rpc.askTimeout"), "7s");
        assert_null(conf_get_raw(&executor, "spark.app.name"));
        assert_null(conf_get_raw(&executor, "spark.authenticate.secret"));
        buf_deinit(&data);
        conf_deinit(&driver);
        conf_deinit(&executor);
}

static void refuses(const char *bytes, size_t len)
{
        struct fst_conf conf;
        struct fst_error error = FST_ERROR_INIT;
        const char *url = NULL;

        conf_init(&conf);
        assert_int_equal(executor_data_read((const uint8_t *)bytes, len, &url, &conf, &error), -EBADMSG);
        assert_null(url);
        error_deinit(&error);
        conf_deinit(&conf);
}

static void refuses_data_of_others(void **state)
{
        refuses("", 0);
        refuses("driver-url", 10);
        refuses("driver-url\0", 11);
        refuses("driver-url\0\0", 12);
        refuses("a\0b\0", 4);
        refuses("driver-url\0spark://x\0key\0", 25);
        refuses("\xac\xed\0\5ur", 6);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(round_trip_keeps_address_and_startup_settings),
                cmocka_unit_test(refuses_data_of_others),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
