/* Forms and paths, valid and hostile. */
#include "text/percent.h"
#include "web/form.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static bool parse(struct form *f, const char *text)
{
        *f = FORM_INIT;
        return form_parse(f, text, strlen(text));
}

static void decodes_fields(void **state)
{
        struct form f;
        assert_true(parse(&f, "appId=app-1&logType=a+b%2Bc&x&=y&&x=2&%41=%zz%4"));
        assert_int_equal(f.fields.len, 6);
        assert_string_equal(form_get(&f, "appId"), "app-1");
        assert_string_equal(form_get(&f, "logType"), "a b+c");
        assert_string_equal(form_get(&f, "x"), "");
        assert_string_equal(form_get(&f, ""), "y");
        assert_string_equal(form_get(&f, "A"), "%zz%4");
        assert_null(form_get(&f, "a"));
        form_deinit(&f);
}

static void rejects_nul_and_too_many_fields(void **state)
{
        struct form f;
        struct buf many = BUF_INIT;
        assert_false(parse(&f, "a=1&b=%00"));
        assert_int_equal(f.fields.len, 0);
        form_deinit(&f);
        for (int i = 0; i <= FORM_MOST_FIELDS; i++)
                buf_puts(&many, "&a=1");
        assert_false(parse(&f, buf_text(&many)));
        form_deinit(&f);
        buf_deinit(&many);
}

static void parses_whole_numbers_only(void **state)
{
        struct form f;
        int64_t n = 7;
        assert_true(parse(&f, "a=-12&b=x&c=1x&d=99999999999999999999&e=%201&f="));
        assert_int_equal(form_get_int(&f, "none", &n), 0);
        assert_int_equal(form_get_int(&f, "b", &n), -1);
        assert_int_equal(form_get_int(&f, "c", &n), -1);
        assert_int_equal(form_get_int(&f, "d", &n), -1);
        assert_int_equal(form_get_int(&f, "e", &n), -1);
        assert_int_equal(form_get_int(&f, "f", &n), -1);
        assert_int_equal(n, 7);
        assert_int_equal(form_get_int(&f, "a", &n), 1);
        assert_int_equal(n, -12);
        form_deinit(&f);
}

static void decodes_encoded_text(void **state)
{
        struct buf encoded = BUF_INIT, decoded = BUF_INIT;
        percent_encode(&encoded, "a b/c&d=\xc3\xa9%+\"'<>", "");
        assert_string_equal(buf_text(&encoded), "a%20b%2Fc%26d%3D%C3%A9%25%2B%22%27%3C%3E");
        assert_true(form_put_decoded(&decoded, buf_text(&encoded), encoded.len));
        assert_string_equal(buf_text(&decoded), "a b/c&d=\xc3\xa9%+\"'<>");
        buf_reset(&decoded);
        assert_false(form_put_decoded(&decoded, "a%00b", 5));
        buf_deinit(&encoded);
        buf_deinit(&decoded);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(decodes_fields),
                cmocka_unit_test(rejects_nul_and_too_many_fields),
                cmocka_unit_test(parses_whole_numbers_only),
                cmocka_unit_test(decodes_encoded_text),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
