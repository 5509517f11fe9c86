/* Members by path: present, absent, of another type, and in values that are not objects. */
#include "text/json.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

static json_t *tree;

static int load(void **state)
{
        tree = json_pack("{s:{s:s, s:i, s:[i, {s:s}, {s:s, s:i}, {s:i}]}, s:n}", "a", "text", "x", "n", 7, "list", 1,
                         "name", "p", "name", "q", "n", 1, "name", 5, "null");
        return tree ? 0 : -1;
}

static int unload(void **state)
{
        json_decref(tree);
        return 0;
}

static void reads_members_by_path(void **state)
{
        static const struct {
                const char *label, *path, *text;
                json_int_t number;
                bool there;
        } rows[] = {
                {"string", "a.text", "x", 0, true},
                {"integer", "a.n", NULL, 7, true},
                {"object", "a", NULL, 0, true},
                {"null", "null", NULL, 0, true},
                {"absent", "a.other", NULL, 0, false},
                {"below an absent member", "b.text", NULL, 0, false},
                {"below a string", "a.text.more", NULL, 0, false},
                {"below a list", "a.list.name", NULL, 0, false},
                {"empty path", "", NULL, 0, false},
        };
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                print_message("%s\n", rows[i].label);
                assert_int_equal(json_at(tree, rows[i].path) != NULL, rows[i].there);
                assert_int_equal(json_int_at(tree, rows[i].path), rows[i].number);
                assert_string_equal(json_text_or_empty(tree, rows[i].path), rows[i].text ? rows[i].text : "");
                assert_int_equal(json_text_at(tree, rows[i].path) != NULL, rows[i].text != NULL);
        }
        assert_null(json_at(NULL, "a.text"));
        assert_string_equal(json_text_or_empty(NULL, "a"), "");
}

static void finds_objects_in_lists(void **state)
{
        const json_t *list = json_at(tree, "a.list");
        assert_int_equal(json_int_at(json_find_named(list, "q"), "n"), 1);
        assert_ptr_equal(json_find(list, "name", "p"), json_array_get(list, 1));
        assert_null(json_find_named(list, "5"));
        assert_null(json_find_named(list, NULL));
        assert_null(json_find(list, "other", "p"));
        assert_null(json_find_named(json_at(tree, "a"), "p"));
        assert_null(json_find_named(NULL, "p"));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reads_members_by_path),
                cmocka_unit_test(finds_objects_in_lists),
        };
        return cmocka_run_group_tests(tests, load, unload);
}
