/* Tests redaction by key and by value, and the supported Java expressions. */
#include "conf/redact.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static void default_expression_hides_secrets(void **state)
{
        struct fst_conf conf;
        struct redactor r;
        conf_init(&conf);
        assert_int_equal(redactor_init(&r, &conf, NULL), 0);
        static const char *const hidden[] = {
                "spark.authenticate.secret", "spark.my.PassWord", "spark.my.sECret", "oauthToken",
                "fs.s3a.access.key",         "accessKey",         "AWS_CREDENTIALS"};
        for (size_t i = 0; i < ARRAY_SIZE(hidden); i++)
                assert_string_equal(redactor_value(&r, hidden[i], "x"), "*********(redacted)");
        const char *shown = "not hidden";
        assert_ptr_equal(redactor_value(&r, "spark.regular.property", shown), shown);
        assert_string_equal(redactor_value(&r, "sun.java.command", "submit --conf spark.x.PASSWORD=y"), REDACTED);
        redactor_deinit(&r);
        conf_deinit(&conf);
}

static void assert_match(const char *expression, const char *text, bool expected)
{
        regex_t compiled;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        if (redact_compile(&compiled, "k", expression, &error) < 0)
                fail_msg("%s", error_message(&error));
        bool found = regexec(&compiled, text, 0, NULL, 0) == 0;
        regfree(&compiled);
        if (found != expected)
                fail_msg("'%s' on '%s' gave %d", expression, text, found);
}

static void supports_common_java_expressions(void **state)
{
        assert_match("secret", "my.secret", true);
        assert_match("secret", "my.SECRET", false);
        assert_match("(?i)secret", "my.SECRET", true);
        assert_match("^a\\d{2,}$", "a123", true);
        assert_match("^a\\d{2,}$", "a1", false);
        assert_match("^\\D+$", "1", false);
        assert_match("(?:ab)+c", "ababc", true);
        assert_match("\\bkey\\b", "a key b", true);
        assert_match("\\bkey\\b", "monkeys", false);
        assert_match("^[\\d.]+$", "1.2", true);
        assert_match("a\\.b", "axb", false);
        assert_match("^[^\\s]+$", "a b", false);
}

static void rejects_other_expressions(void **state)
{
        static const char *const wrong[] = {"(",       "a(?=b)", "a(?<x>b)", "a*?",    "a++",    "a{2}?",
                                            "\\Qa\\E", "\\p{L}", "(a)\\1",   "[a&&b]", "[[a]b]", "[\\]a]",
                                            "a\\",     "[a",     "(?s)a",    "a(?i)b", "*a["};
        for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
                regex_t compiled;
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                if (redact_compile(&compiled, "spark.redaction.regex", wrong[i], &error) != -EINVAL)
                        fail_msg("'%s' was taken", wrong[i]);
                const char *start = "spark.redaction.regex should be a regular expression, but was ";
                assert_int_equal(strncmp(error_message(&error), start, strlen(start)), 0);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(default_expression_hides_secrets),
                cmocka_unit_test(supports_common_java_expressions),
                cmocka_unit_test(rejects_other_expressions),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
