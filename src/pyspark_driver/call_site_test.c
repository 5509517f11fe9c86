/* Call sites as pyspark writes them. */
#include "base/mem.h"
#include "pyspark_driver/call_site.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void reads_operation_file_and_line(void **state)
{
        (void)state;
        char text[] = "reduceByKey at /home/me/at home.py:17", other[] = "collect at <stdin>:1";
        fst_site site;
        assert_true(call_site_parse(text, &site));
        assert_string_equal(site.operation, "reduceByKey");
        assert_string_equal(site.file, "/home/me/at home.py");
        assert_int_equal(site.line, 17);
        assert_true(call_site_parse(other, &site));
        assert_string_equal(site.file, "<stdin>");
}

static void refuses_text_without_line(void **state)
{
        (void)state;
        static const char *const cases[] = {
                "", "collect", "collect at", "a at b:", "a at b:x", "a at b:-1", "12:3 at b", "a at b:99999999999"};
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_free_ char *text = mem_strdup(cases[i]);
                fst_site site;
                assert_false(call_site_parse(text, &site));
        }
}

static void thread_has_the_site_that_was_set_last(void **state)
{
        (void)state;
        call_site_set("count at a.py:3");
        assert_string_equal(call_site("collect").operation, "count");
        assert_int_equal(call_site("collect").line, 3);
        call_site_set("not a site");
        assert_string_equal(call_site("collect").operation, "not a site");
        call_site_set(NULL);
        assert_string_equal(call_site("collect").operation, "collect");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reads_operation_file_and_line),
                cmocka_unit_test(refuses_text_without_line),
                cmocka_unit_test(thread_has_the_site_that_was_set_last),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
