/* Compares with java.net.URI of Java 17: accepted and rejected texts. */
#include "io/fs/uri.h"

#include "base/mem.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void assert_part(struct uri_part part, const char *expected)
{
        assert_int_equal(part.text != NULL, expected != NULL);
        if (!expected)
                return;
        _cleanup_free_ char *text = mem_strndup(part.text, part.len);
        assert_string_equal(text, expected);
}

static void parses_parts(void **state)
{
        static const struct {
                const char *text, *scheme, *authority, *path, *query, *fragment;
        } cases[] = {
                {"http://u@h:80/a%20b.jar?x=1&y#z", "http", "u@h:80", "/a%20b.jar", "x=1&y", "z"},
                {"hdfs:///a/b", "hdfs", NULL, "/a/b", NULL, NULL},
                {"file:/a#b?c", "file", NULL, "/a", NULL, "b?c"},
                {"a/b.zip#env", NULL, NULL, "a/b.zip", NULL, "env"},
                {"//h/x", NULL, "h", "/x", NULL, NULL},
                {"k8s://[fe80::1%eth0]:6443", "k8s", "[fe80::1%eth0]:6443", "", NULL, NULL},
                {"http://h?q[]", "http", "h", "", "q[]", NULL},
                {"\xc3\xa9.jar", NULL, NULL, "\xc3\xa9.jar", NULL, NULL},
                {"", NULL, NULL, "", NULL, NULL},
                {"x#", NULL, NULL, "x", NULL, ""},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL(
                        "%zu of cases: text \"%s\", scheme \"%s\", authority \"%s\", path \"%s\", query \"%s\", fragment \"%s\"",
                        i, cases[i].text ? cases[i].text : "(none)", cases[i].scheme ? cases[i].scheme : "(none)",
                        cases[i].authority ? cases[i].authority : "(none)", cases[i].path ? cases[i].path : "(none)",
                        cases[i].query ? cases[i].query : "(none)", cases[i].fragment ? cases[i].fragment : "(none)");
                struct uri u;
                assert_true(uri_parse(cases[i].text, &u));
                assert_part(u.scheme, cases[i].scheme);
                assert_part(u.authority, cases[i].authority);
                assert_part(u.path, cases[i].path);
                assert_part(u.query, cases[i].query);
                assert_part(u.fragment, cases[i].fragment);
                assert_false(u.opaque);
        }
        struct uri u;
        assert_true(uri_parse("local:x.jar", &u));
        assert_true(u.opaque);
        assert_true(uri_has_scheme(&u, "local"));
        assert_true(!u.path.text);
        assert_false(uri_has_scheme(&u, "loca"));
}

static void rejects_invalid_uris(void **state)
{
        static const char *const refused[] = {
                "a b.jar",     "x#a#b",      "http://h/%zz",   "http://h/a b", "http:", "://x",
                "1http://x",   "http://",    "a[1]",           "C:\\x",        "%4",    "a\"b",
                "http://[::1", "http://[]/", "http://[::1]x/", "a{b}",
        };
        struct uri u = {.opaque = true};
        for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
                if (uri_parse(refused[i], &u))
                        fail_msg("%s was taken", refused[i]);
        }
        assert_true(u.opaque);
}

static void quotes_and_decodes(void **state)
{
        struct buf out = BUF_INIT;
        uri_put_path(&out, "/a b/100%/#[x]/\xc3\xa9;,=");
        assert_string_equal(buf_text(&out), "/a%20b/100%25/%23%5Bx%5D/\xc3\xa9;,=");
        buf_reset(&out);
        uri_put_fragment(&out, "a b[c]%?");
        assert_string_equal(buf_text(&out), "a%20b[c]%25?");
        buf_deinit(&out);
        _cleanup_free_ char *text = uri_decode((struct uri_part){.text = "a%20b%4", .len = 7});
        assert_string_equal(text, "a b%4");
        _cleanup_free_ char *none = uri_decode((struct uri_part){0});
        assert_string_equal(none, "");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(parses_parts),
                cmocka_unit_test(rejects_invalid_uris),
                cmocka_unit_test(quotes_and_decodes),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
