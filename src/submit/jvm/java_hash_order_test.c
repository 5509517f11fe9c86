/* HashMap's order. A JVM printed the expected values. */
#include "submit/jvm/java_hash_order.h"

#include "base/mem.h"

/* cmocka's header needs these before it */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

static void test_hashes(void **state)
{
        (void)state;
        assert_int_equal(java_string_hash(""), 0);
        assert_int_equal(java_string_hash("a"), 97);
        assert_int_equal(java_string_hash("spark.driver.memory"), -778619850);
        assert_int_equal(java_string_hash("é€"), 15587);
        assert_int_equal(java_string_hash("\U0001F600"), 1772899);
        assert_int_equal(java_string_hash("\xff\xc3"), 2097056);
}

static void check_order(int n, size_t expected, const char *order)
{
        _cleanup_(strmap_deinit) struct strmap m = STRMAP_INIT;
        char text[512] = "", key[32];
        for (int i = 0; i < n; i++) {
                snprintf(key, sizeof(key), "spark.key.%d", i * 37);
                strmap_set(&m, key, "");
        }
        _cleanup_free_ struct strmap_entry **entries = java_map_order(&m, expected);
        for (int i = 0; i < n; i++)
                snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ", entries[i]->key + 10);
        assert_string_equal(text, order);
}

static void test_orders(void **state)
{
        (void)state;
        check_order(0, 0, "");
        check_order(12, 0, "333 222 111 259 37 148 407 296 185 0 74 370 ");
        check_order(13, 0, "333 222 111 259 37 148 444 407 0 296 185 74 370 "); /* the table has grown */
        check_order(40, 0,
                    "740 222 1258 1036 666 37 148 962 444 1332 407 703 888 629 0 925 1184 185 481 333 "
                    "111 1369 777 1443 259 1147 555 1221 851 814 999 518 1406 1110 1295 296 592 1073 74 370 ");
        check_order(3, 3, "37 0 74 ");
        check_order(7, 1, "222 111 37 148 185 0 74 ");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_hashes),
                cmocka_unit_test(test_orders),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
