/* Reads lists at once and in pieces of every size, with the same result. */
#include "text/json_array_stream.h"

#include "base/error.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static int take(void *owner, json_t *item)
{
        json_array_append(owner, item);
        return json_object_get(item, "stop") ? 77 : 0;
}

/* Reads @text in pieces of @piece. Sets 0 with items and rest as one text, or the error code. */
static int read_it(const char *text, size_t piece, char **out)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        json_t *items = json_array(), *rest = NULL;
        struct json_items reader = {.item = take, .owner = items};
        size_t len = strlen(text);
        int r = 0;
        for (size_t at = 0; at < len && r == 0; at += piece)
                r = json_items_feed(&reader, text + at, MIN(piece, len - at), &error);
        if (r == 0)
                r = json_items_end(&reader, &rest, &error);
        assert_true(r >= 0 || error.message);
        if (r == 0) {
                json_t *both = json_pack("{s:o, s:o}", "items", items, "rest", rest);
                *out = json_dumps(both, JSON_COMPACT | JSON_SORT_KEYS);
                json_decref(both);
        } else {
                json_decref(items);
        }
        json_items_deinit(&reader);
        return r;
}

static void assert_reads(const char *text, const char *want)
{
        for (size_t piece = 1; piece <= strlen(text); piece++) {
                _cleanup_free_ char *got = NULL;
                assert_int_equal(read_it(text, piece, &got), 0);
                assert_string_equal(got, want);
        }
}

static void lists(void **state)
{
        assert_reads(
                "{\"kind\":\"PodList\",\"metadata\":{\"items\":[{\"x\":1}],\"c\":\"a\"},\"items\":[{\"a\":[1,{}]}, "
                "{\"b\":\"}]\\\"\"}\n],\"z\":[{}]}",
                "{\"items\":[{\"a\":[1,{}]},{\"b\":\"}]\\\"\"}],\"rest\":{\"items\":[],\"kind\":\"PodList\","
                "\"metadata\":{\"c\":\"a\",\"items\":[{\"x\":1}]},\"z\":[{}]}}");
        assert_reads("{\"items\":[]}", "{\"items\":[],\"rest\":{\"items\":[]}}");
        assert_reads("{\"items\":null}", "{\"items\":[],\"rest\":{\"items\":null}}");
        assert_reads("{\"a\":\"items\",\"b\":[{}]}", "{\"items\":[],\"rest\":{\"a\":\"items\",\"b\":[{}]}}");
        assert_reads("{\"kind\":\"Status\",\"code\":410}",
                     "{\"items\":[],\"rest\":{\"code\":410,\"kind\":\"Status\"}}");
}

static void rejects_other_json_than_lists(void **state)
{
        static const struct {
                const char *text;
                int code;
        } cases[] = {{"{\"items\":[{\"a\":1}", -EPROTO},
                     {"", -EPROTO},
                     {"}", -EPROTO},
                     {"{\"items\":[1]}", -EPROTO},
                     {"{\"items\":[{a}]}", -EPROTO},
                     {"{\"items\":[{\"stop\":1},{}]}", 77},
                     {"hello", -EPROTO}};
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                for (size_t piece = 1; piece <= strlen(cases[i].text) + 1; piece++) {
                        char *out = NULL;
                        assert_int_equal(read_it(cases[i].text, piece, &out), cases[i].code);
                }
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(lists), cmocka_unit_test(rejects_other_json_than_lists)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
