/* URLs of logs by patterns and attributes. */
#include "history/history_log_urls.h"

#include "base/buf.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void fills_attributes(void **state)
{
        static const struct {
                const char *pattern, *urls; /* NULL: an attribute is missing */
        } cases[] = {
                {"http://h/{{CLUSTER_ID}}/{{USER}}", "log=http://h/c1/ann;"},
                {"http://h/{{USER}}/{{FILE_NAME}}?a={{USER}}",
                 "stdout=http://h/ann/stdout?a=ann;stderr=http://h/ann/stderr?a=ann;"},
                {"http://h/fixed", "log=http://h/fixed;"},
                {"http://h/{{NOTHING}}", NULL},
                {"http://h/{{LOG_FILES}}", NULL}, /* only through FILE_NAME */
                {"{{}}{{USER}{{US ER}}{{{USER}}}", "log={{}}{{USER}{{US ER}}{ann};"},
        };
        struct strmap attributes = STRMAP_INIT;
        strmap_set(&attributes, "CLUSTER_ID", "c1");
        strmap_set(&attributes, "USER", "ann");
        strmap_set(&attributes, "LOG_FILES", "stdout,,stderr");
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_(buf_deinit) struct buf text = BUF_INIT;
                struct strmap urls = STRMAP_INIT;
                bool done = history_log_urls_apply(cases[i].pattern, &attributes, &urls);
                for (struct strmap_entry *e = NULL; (e = strmap_next(&urls, e));)
                        buf_printf(&text, "%s=%s;", e->key, e->value);
                assert_int_equal(done, cases[i].urls != NULL);
                assert_string_equal(buf_text(&text), cases[i].urls ? cases[i].urls : "");
                strmap_deinit(&urls);
        }
        strmap_deinit(&attributes);
}

static void needs_list_of_files(void **state)
{
        struct strmap attributes = STRMAP_INIT, urls = STRMAP_INIT;
        assert_false(history_log_urls_apply("{{FILE_NAME}}", &attributes, &urls));
        strmap_set(&attributes, "LOG_FILES", "");
        assert_true(history_log_urls_apply("{{FILE_NAME}}", &attributes, &urls));
        assert_null(strmap_next(&urls, NULL));
        strmap_deinit(&attributes);
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(fills_attributes), cmocka_unit_test(needs_list_of_files)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
