/* Reads YAML as JSON and rejects invalid documents. */
#include "text/yaml.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct fst_error error;

static json_t *parse(const char *text)
{
        json_t *tree = NULL;
        int r = yaml_parse(text, strlen(text), &tree, &error);
        if (r < 0)
                print_message("%s\n", error_message(&error));
        assert_int_equal(r, 0);
        return tree;
}

/* Asserts that @yaml reads as @json. */
static void assert_means(const char *yaml, const char *json)
{
        json_t *want = json_loads(json, JSON_DECODE_ANY, NULL), *got = parse(yaml);
        assert_non_null(want);
        if (!json_equal(want, got)) {
                _cleanup_free_ char *text = json_dumps(got, JSON_ENCODE_ANY);
                fail_msg("%s\nis %s\nnot %s", yaml, text, json);
        }
        json_decref(want);
        json_decref(got);
}

static void assert_refused(const char *yaml, int code, const char *message)
{
        json_t *tree = (json_t *)1;
        assert_int_equal(yaml_parse(yaml, strlen(yaml), &tree, &error), code);
        assert_ptr_equal(tree, (json_t *)1);
        if (!strstr(error_message(&error), message))
                fail_msg("%s: %s", yaml, error_message(&error));
}

/* Each row was checked against Spark's client. */
static void scalars_have_the_types_of_json(void **state)
{
        static const char *const texts[] = {"yes",  "on",    "010",        "0o10", "0x1F",  "~",    "True",  "1_000",
                                            "+5",   ".5",    "2001-01-01", "TRUE", "Null",  "0b11", "-.INF", "00",
                                            "tRue", "-0x1F", "1:30",       "-.5",  "+.inf", "1e",   "08",    "0x"};
        static const char *const others[][2] = {
                {"1e3", "1000.0"},    {"null", "null"},     {"", "null"},
                {"-0", "0"},          {"1.", "1.0"},        {"0.10", "0.1"},
                {"1E-2", "0.01"},     {"-12", "-12"},       {"1.e+3", "1000.0"},
                {"12e03", "12000.0"}, {"true", "true"},     {"'1'", "\"1\""},
                {"\"\"", "\"\""},     {"!!str 1", "\"1\""}, {"!!int \"3\"", "3"},
                {"!!float 3", "3.0"}, {"! 3", "\"3\""},     {"12345678901234567890", "12345678901234567890.0"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                _cleanup_free_ char *yaml = mem_printf("a: %s", texts[i]),
                                    *json = mem_printf("{\"a\":\"%s\"}", texts[i]);
                assert_means(yaml, json);
        }
        for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
                _cleanup_free_ char *yaml = mem_printf("a: %s", others[i][0]),
                                    *json = mem_printf("{\"a\":%s}", others[i][1]);
                assert_means(yaml, json);
        }
}

static void reads_nested_collections(void **state)
{
        assert_means("", "null");
        assert_means("# nothing\n", "null");
        assert_means("{\"a\": [1, 2.5, \"x\", null, {}, []]}", "{\"a\":[1,2.5,\"x\",null,{},[]]}");
        assert_means("a:\n- b: 1\n  c:\n  - d\n-\n  - e\n", "{\"a\":[{\"b\":1,\"c\":[\"d\"]},[\"e\"]]}");
        assert_means("1: x\ntrue: y\n'null': z\n", "{\"1\":\"x\",\"true\":\"y\",\"null\":\"z\"}");
        assert_means("a: |\n  x\n   y\n\n  z\nb: >\n  f\n  g\nc: |-\n  k\n",
                     "{\"a\":\"x\\n y\\n\\nz\\n\",\"b\":\"f g\\n\",\"c\":\"k\"}");
        assert_means("a: \"\\u00e9\\x41\\n\\t\\U0001F600\"\n", "{\"a\":\"éA\\n\\t😀\"}");
        assert_means("a: 'b: c #d'\ne: \"trailing \"\nf: 'key:'\n",
                     "{\"a\":\"b: c #d\",\"e\":\"trailing \",\"f\":\"key:\"}");
        assert_means("\"\\u007f\\u0085\\ufeff\": \"\\u0001\"\n", "{\"\\u007f\\u0085\\ufeff\":\"\\u0001\"}");
        assert_means("just text", "\"just text\"");
        assert_means("- 1\n- - 2\n", "[1,[2]]");
        assert_means("%YAML 1.1\n---\na: yes\n", "{\"a\":\"yes\"}");
        assert_means("a: 1\n---\n", "{\"a\":1}");
}

static void anchors_are_copied_and_merged(void **state)
{
        assert_means("a: &x {b: 1, c: [2]}\nd: *x\n", "{\"a\":{\"b\":1,\"c\":[2]},\"d\":{\"b\":1,\"c\":[2]}}");
        assert_means("a: &x {b: 1, c: 2}\nd:\n  b: 3\n  <<: *x\n", "{\"a\":{\"b\":1,\"c\":2},\"d\":{\"b\":3,\"c\":2}}");
        assert_means("a: &x {b: 1}\ne: &y {b: 2, f: 5}\nd:\n  <<: [*x, *y]\n",
                     "{\"a\":{\"b\":1},\"e\":{\"b\":2,\"f\":5},\"d\":{\"b\":1,\"f\":5}}");
        assert_means("a: &x 1\nb: &x 2\nc: *x\n", "{\"a\":1,\"b\":2,\"c\":2}");
        assert_means("<<: 1\n", "{\"<<\":1}");
        /* A copied anchor value can change without the original. */
        json_t *tree = parse("a: &x {b: 1}\nc: *x\n");
        json_object_set_new(json_object_get(tree, "c"), "b", json_integer(2));
        assert_int_equal(json_integer_value(json_object_get(json_object_get(tree, "a"), "b")), 1);
        json_decref(tree);
        assert_refused("a: &x [*x]\n", -EINVAL, "line 1: no anchor &x precedes *x");
        assert_refused("a: &x 1\n---\nb: *x\n", -EINVAL, "no anchor &x");
}

/* A key that is longer than YAML's short form allows. */
static void keys_may_be_long(void **state)
{
        _cleanup_(buf_deinit) struct buf key = BUF_INIT;
        while (key.len < 3000)
                buf_puts(&key, "key ");
        _cleanup_free_ char *json = mem_printf("[{\"%s\":{\"a\":[1]}}]", buf_text(&key)),
                            *yaml = mem_printf("- ? \"%s\"\n  : {a: [1]}\n", buf_text(&key));
        assert_means(yaml, json);
}

static void documents(void **state)
{
        json_t *all = NULL;
        const char *text = "---\na: 1\n---\n---\n- 2\n...\n";
        assert_int_equal(yaml_parse_all(text, strlen(text), &all, &error), 0);
        assert_int_equal(json_array_size(all), 2);
        json_decref(all);
        assert_refused(text, -EINVAL, "2 documents instead of one");
}

static void rejects_invalid_documents(void **state)
{
        assert_refused("a: 1\nb: 2\na: 3\n", -EINVAL, "line 3: duplicate key \"a\"");
        assert_refused("? [a]\n: b\n", -EINVAL, "line 1: a key must be a text");
        assert_refused("? {a: 1}\n: b\n", -EINVAL, "line 1: a key must be a text");
        assert_refused("a: !foo 1\n", -EINVAL, "line 1: unknown tag !foo");
        assert_refused("a: !!python/object:os.system {}\n", -EINVAL, "unknown tag");
        assert_refused("a: !!map []\n", -EINVAL, "unknown tag");
        assert_refused("a: !!int x\n", -EINVAL, "line 1: \"x\" is not a valid !!int");
        assert_refused("a: .inf\n", -EINVAL, "line 1: the number .inf is too large");
        assert_refused("a: 1e400\n", -EINVAL, "the number 1e400 is too large");
        assert_refused("a: \"\\0\"\n", -EINVAL, "a text with a NUL character");
        assert_refused("a: \"b\n", -EINVAL, "line 2: ");
        assert_refused("a: [1\n", -EINVAL, "line 2: ");
        assert_refused("a: \xff\n", -EINVAL, "line 1: ");
        assert_refused("a: b\n  c: d\n", -EINVAL, "line 2: ");
}

static void rejects_documents_beyond_limits(void **state)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        for (int i = 0; i <= YAML_MAX_DEPTH; i++)
                buf_putc(&text, '[');
        assert_refused(buf_text(&text), -EFBIG, "nested deeper than 64");
        buf_reset(&text);
        buf_puts(&text, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for (int i = 1; i < 10; i++) {
                buf_printf(&text, "a%d: &a%d [", i, i);
                for (int j = 0; j < 10; j++)
                        buf_printf(&text, "*a%d,", i - 1);
                buf_puts(&text, "]\n");
        }
        assert_refused(buf_text(&text), -EFBIG, "line 6: more than 200000 values, copies of anchors included");
        buf_reset(&text);
        for (int i = 0; i <= YAML_MAX_ANCHORS; i++)
                buf_printf(&text, "- &a%d 1\n", i);
        assert_refused(buf_text(&text), -EFBIG, "line 1001: more than 1000 anchors");
        buf_reset(&text);
        while (text.len <= YAML_MAX_BYTES)
                buf_puts(&text, "# a comment of no interest, many times\n");
        assert_refused(buf_text(&text), -EFBIG, "more than 4194304 bytes of YAML");
}

static int end(void **state)
{
        error_deinit(&error);
        return 0;
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(scalars_have_the_types_of_json),
                cmocka_unit_test(reads_nested_collections),
                cmocka_unit_test(anchors_are_copied_and_merged),
                cmocka_unit_test(keys_may_be_long),
                cmocka_unit_test(documents),
                cmocka_unit_test(rejects_invalid_documents),
                cmocka_unit_test(rejects_documents_beyond_limits),
        };
        return cmocka_run_group_tests(tests, NULL, end);
}
