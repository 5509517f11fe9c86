/* Tests properties files. The expected results are those of Spark 4.3, whose reader was compared on random files. */
#include "conf/properties.h"

#include "base/error.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

/* Returns the entries of @text as "[key]=[value]" one after another. */
static char *entries(const char *text)
{
        _cleanup_(strmap_deinit) struct strmap m = STRMAP_INIT;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        if (properties_parse(&m, "test", text, strlen(text), &error) < 0)
                fail_msg("%s", error_message(&error));
        char *all = mem_strdup("");
        for (struct strmap_entry *e = NULL; (e = strmap_next(&m, e));) {
                char *more = mem_printf("%s[%s]=[%s]", all, e->key, e->value);
                free(all);
                all = more;
        }
        return all;
}

static void assert_read(const char *text, const char *expected)
{
        _cleanup_free_ char *found = entries(text);
        assert_string_equal(found, expected);
}

static void assert_refused(const char *text, size_t length, const char *expected)
{
        _cleanup_(strmap_deinit) struct strmap m = STRMAP_INIT;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(properties_parse(&m, "x.properties", text, length, &error), -EINVAL);
        assert_int_equal(m.count, 0);
        if (!strstr(error_message(&error), expected))
                fail_msg("got: %s", error_message(&error));
}

static void key_ends_at_blank_equals_or_colon(void **state)
{
        assert_read("a b", "[a]=[b]");
        assert_read("a=b", "[a]=[b]");
        assert_read("a:b", "[a]=[b]");
        assert_read("  a \t=  b c  ", "[a]=[b c]");
        assert_read("a = = b", "[a]=[= b]");
        assert_read("a::b", "[a]=[:b]");
        assert_read("a", "[a]=[]");
        assert_read("=b", "[]=[b]");
        assert_read("a\\ b\\=c\\:d=e", "[a b=c:d]=[e]");
        assert_read("a 1\na 2\n", "[a]=[2]");
}

static void skips_comments_and_blank_lines(void **state)
{
        assert_read("# x\n! y\n\n  \t# z\na=1 # no comment\n", "[a]=[1 # no comment]");
        assert_read("# never joined \\\na=1", "[a]=[1]");
        assert_read("", "");
        assert_read("# only", "");
}

static void joins_lines_after_backslash(void **state)
{
        assert_read("a=1\r\nb=2\rc=3\n", "[a]=[1][b]=[2][c]=[3]");
        assert_read("a=1,\\\n   2,\\\r\n\t3", "[a]=[1,2,3]");
        assert_read("a=1\\\\\nb=2", "[a]=[1\\][b]=[2]");
        assert_read("ke\\\n  y = v", "[key]=[v]");
        assert_read("key \\\n = v", "[key]=[v]");
        assert_read("a=1\\\n# part of it", "[a]=[1# part of it]");
        assert_read("a=1\\\n\nb=2", "[a]=[1][b]=[2]");
        assert_read("a=1\\", "[a]=[1]");
        assert_read("\\\n# a comment after all\na=1", "[a]=[1]");
}

static void replaces_escapes(void **state)
{
        assert_read("a=\\u0041\\u00e9\\u20AC\\x\\\"", "[a]=[A\xc3\xa9\xe2\x82\xacx\"]");
        assert_read("a=1\\t2\\f3", "[a]=[1\t2\f3]");
        assert_read("a=\\uD83D\\uDE00", "[a]=[\xf0\x9f\x98\x80]");
        assert_read("\xc3\xa9=\xe2\x82\xac", "[\xc3\xa9]=[\xe2\x82\xac]");
        assert_read("\xef\xbb\xbf"
                    "a=1",
                    "[a]=[1]");
}

static void trims_values_except_line_ends(void **state)
{
        assert_read("a=\\  b \\ ", "[a]=[b]");
        assert_read("a=\\t\\u0020b\\t", "[a]=[b]");
        assert_read("spark.line=\\n", "[spark.line]=[\n]");
        assert_read("a=\\r\\n ", "[a]=[\r\n]");
        assert_read("\\ a=b", "[ a]=[b]");
}

static void errors_name_the_line(void **state)
{
#define REFUSED(text, expected) assert_refused(text, sizeof(text) - 1, expected)
        REFUSED("a=1\nb=\\u12g4\n", "x.properties: line 2: malformed \\uXXXX");
        REFUSED("a=\\u12", "line 1: malformed \\uXXXX");
        REFUSED("a=1\\\n2\nb=\\uD83D", "line 3: \\uD800 to \\uDFFF");
        REFUSED("a=\\uDE00", "pairs");
        REFUSED("a=\\uD83Dx", "pairs");
        REFUSED("a=\\uD83D\\u0041", "pairs");
        REFUSED("a=\\u0000", "\\u0000");
        REFUSED("a=1\0", "NUL byte");
        REFUSED("\n\na=\xff", "line 3: not UTF-8");
        REFUSED("a=\xc3", "not UTF-8");
        REFUSED("a=\xed\xa0\x80", "not UTF-8");
}

static void errors_name_unreadable_files(void **state)
{
        _cleanup_(strmap_deinit) struct strmap m = STRMAP_INIT;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(properties_load(&m, "/nowhere/x.properties", &error), -ENOENT);
        assert_string_equal(error_message(&error), "Properties file /nowhere/x.properties does not exist");
        assert_int_equal(properties_load(&m, "/", &error), -EINVAL);
        assert_string_equal(error_message(&error), "Properties file / is not a normal file");
        char path[] = "/tmp/properties_test.XXXXXX";
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        assert_int_equal(write(fd, "a=1\nb 2", 7), 7);
        close(fd);
        strmap_set(&m, "kept", "yes");
        assert_int_equal(properties_load(&m, path, &error), 0);
        unlink(path);
        assert_string_equal(strmap_get(&m, "b"), "2");
        assert_string_equal(strmap_get(&m, "kept"), "yes");
        assert_int_equal(m.count, 3);
}

static void written_entries_parse_to_the_same(void **state)
{
        static const char *const pairs[][2] = {{"spark.a", "plain"},
                                               {"spark.b c", "= : # ! kept"},
                                               {"#spark:d=e", "C:\\path\\n"},
                                               {"spark.f", "two\nlines\tand\rmore\f."},
                                               {"spark.g", ""},
                                               {"spark.h", "\xc3\xa9\xe2\x82\xac"}};
        struct buf text = BUF_INIT;
        struct strmap map = STRMAP_INIT;
        (void)state;
        for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
                properties_put(&text, pairs[i][0], pairs[i][1]);
        assert_int_equal(properties_parse(&map, "test", text.data, text.len, NULL), 0);
        assert_int_equal(map.count, ARRAY_SIZE(pairs));
        for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
                assert_string_equal(strmap_get(&map, pairs[i][0]), pairs[i][1]);
        buf_deinit(&text);
        strmap_deinit(&map);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(key_ends_at_blank_equals_or_colon),
                cmocka_unit_test(skips_comments_and_blank_lines),
                cmocka_unit_test(joins_lines_after_backslash),
                cmocka_unit_test(replaces_escapes),
                cmocka_unit_test(trims_values_except_line_ends),
                cmocka_unit_test(errors_name_the_line),
                cmocka_unit_test(errors_name_unreadable_files),
                cmocka_unit_test(written_entries_parse_to_the_same),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
