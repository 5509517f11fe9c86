/* Writes YAML that reads back as the same tree. */
#include "text/yaml_writer.h"

#include "base/error.h"
#include "base/mem.h"
#include "text/yaml.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void assert_round_trip(const json_t *json)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        struct fst_error error = FST_ERROR_INIT;
        json_t *again = NULL;
        yaml_write(&out, json);
        if (yaml_parse(buf_text(&out), out.len, &again, &error) < 0)
                fail_msg("%s\n%s", error_message(&error), buf_text(&out));
        if (!json_equal(json, again)) {
                _cleanup_free_ char *text = json_dumps(again, JSON_ENCODE_ANY);
                fail_msg("%s\nreads as %s", buf_text(&out), text);
        }
        json_decref(again);
}

static void writes_block_style(void **state)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        json_t *json =
                json_pack("{s:s,s:{s:[{s:s,s:i},s],s:{},s:[]},s:s,s:s,s:b}", "kind", "Pod", "spec", "list", "name", "a",
                          "port", 80, "x y", "map", "none", "version", "3", "text", "one\n\ntwo\n", "on", 1);
        yaml_write(&out, json);
        assert_string_equal(buf_text(&out), "kind: Pod\n"
                                            "spec:\n"
                                            "  list:\n"
                                            "  - name: a\n"
                                            "    port: 80\n"
                                            "  - x y\n"
                                            "  map: {}\n"
                                            "  none: []\n"
                                            "version: \"3\"\n"
                                            "text: |\n"
                                            "  one\n"
                                            "\n"
                                            "  two\n"
                                            "\"on\": true\n");
        assert_round_trip(json);
        json_decref(json);
}

static void quotes_what_yaml_might_change(void **state)
{
        static const char *const texts[] = {
                "",       " ",        "a ",      " a",      "null",   "~",         "True",      "no",
                "1",      "1e3",      "0x1F",    "-",       "- a",    "a: b",      "a:",        "a:b",
                "#x",     "a #b",     "\"q\"",   "'q'",     "[a]",    "{a}",       "*a",        "&a",
                "!a",     "%a",       "@a",      "`a",      "|",      ">",         "a\nb",      "a\nb\n",
                "\na\n",  "a\n\nb\n", " a\nb\n", "a \nb\n", "\t",     "a\tb\nc\n", "\x7f",      "\xc2\x85\xc2\x9b",
                "\uffff", "\ufffe",   "\ufeff",  "\ufffd",  "\u2028", "\xc3\xa9",  "é\nü\n",    "2001-1-1",
                "=",      "<<",       "a, b",    "?",       "/opt/x", "_x",        "k8s://h:1", "a\n b\n",
                "---",    "a\r\nb\n", "a  b",    "a\n\n"};
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                json_t *json = json_pack("{s:s,s:[s,[s,[]],{s:s}]}", "key", texts[i], texts[i], texts[i], texts[i],
                                         texts[i], texts[i]);
                assert_round_trip(json);
                json_decref(json);
        }
}

static void writes_nested_lists(void **state)
{
        json_t *json = json_loads("[[1, [2.5, {\"a\": [[], {}, [{\"b\": null}]]}]], [], {}, true]", 0, NULL);
        assert_round_trip(json);
        json_decref(json);
        json = json_object();
        assert_round_trip(json);
        json_decref(json);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(writes_block_style),
                cmocka_unit_test(quotes_what_yaml_might_change),
                cmocka_unit_test(writes_nested_lists),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
