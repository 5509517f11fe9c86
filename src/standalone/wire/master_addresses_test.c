/* URLs of masters. */
#include "standalone/wire/master_addresses.h"

#include "base/error.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void reads_each_address(void **state)
{
        _cleanup_(string_list_deinit) struct string_list list = {0};
        string_list_add(&list, "before");
        assert_int_equal(master_addresses_parse("spark://a:7077,[::1]:1,10.0.0.1:65535", &list, NULL), 0);
        assert_int_equal(list.len, 4);
        assert_string_equal(list.data[0], "before");
        assert_string_equal(list.data[1], "a:7077");
        assert_string_equal(list.data[2], "[::1]:1");
        assert_string_equal(list.data[3], "10.0.0.1:65535");
}

static void rejects_malformed_urls(void **state)
{
        static const char *const urls[] = {"",
                                           "spark",
                                           "http://a:1",
                                           "spark://",
                                           "spark://a",
                                           "spark://:1",
                                           "spark://a:0",
                                           "spark://a:65536",
                                           "spark://a:1,",
                                           "spark://a:1,,b:1",
                                           "spark://a:1/x",
                                           "spark://1.2. 3.4:1234",
                                           "spark://u@a:1",
                                           "spark://a:1?x=1",
                                           "spark://a:1#x",
                                           "spark:a:1",
                                           "spark://a:1, b:1"};
        for (size_t i = 0; i < ARRAY_SIZE(urls); i++) {
                _cleanup_(string_list_deinit) struct string_list list = {0};
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                if (master_addresses_parse(urls[i], &list, &error) != -EINVAL || list.len > 0)
                        fail_msg("'%s' was read", urls[i]);
                if (!strstr(error_message(&error), "Invalid master URL: "))
                        fail_msg("'%s': %s", urls[i], error_message(&error));
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reads_each_address),
                cmocka_unit_test(rejects_malformed_urls),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
