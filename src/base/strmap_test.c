#include "base/strmap.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static void keeps_order_and_replaces_in_place(void **state)
{
        _cleanup_(strmap_deinit) struct strmap m = STRMAP_INIT;
        for (int i = 0; i < 100; i++) {
                char key[16];
                snprintf(key, sizeof(key), "k%d", 99 - i);
                strmap_set(&m, key, "a");
        }
        strmap_set(&m, "k99", "b");
        assert_int_equal(m.count, 100);
        assert_string_equal(strmap_next(&m, NULL)->key, "k99");
        assert_string_equal(strmap_get(&m, "k99"), "b");
        assert_null(strmap_get(&m, "k100"));
}

static void removed_entries_are_skipped_and_can_return(void **state)
{
        _cleanup_(strmap_deinit) struct strmap m = STRMAP_INIT;
        strmap_set(&m, "a", "1");
        strmap_set(&m, "b", "2");
        assert_true(strmap_remove(&m, "a"));
        assert_false(strmap_remove(&m, "a"));
        assert_null(strmap_get(&m, "a"));
        assert_string_equal(strmap_next(&m, NULL)->key, "b");
        assert_true(strmap_set_if_missing(&m, "a", "3"));
        assert_false(strmap_set_if_missing(&m, "a", "4"));
        assert_string_equal(strmap_get(&m, "a"), "3");
        assert_int_equal(m.count, 2);
}

static void sorts_by_key(void **state)
{
        _cleanup_(strmap_deinit) struct strmap m = STRMAP_INIT;
        strmap_set(&m, "b", "2");
        strmap_set(&m, "a", "1");
        _cleanup_free_ struct strmap_entry **sorted = strmap_sorted(&m);
        assert_string_equal(sorted[0]->key, "a");
        assert_string_equal(sorted[1]->key, "b");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(keeps_order_and_replaces_in_place),
                cmocka_unit_test(removed_entries_are_skipped_and_can_return),
                cmocka_unit_test(sorts_by_key),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
