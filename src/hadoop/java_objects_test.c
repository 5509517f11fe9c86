/* Java's serialized objects: a stream written by Java 17, and damaged ones. */
#include "hadoop/java_objects.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* An ArrayList of -7, "text", a HashMap of "key" to the same "text", TimeUnit.SECONDS, null and the list itself. */
static const char list_hex[] =
        "aced0005737200136a6176612e7574696c2e41727261794c6973747881d21d99c7619d03000149000473697a65787000000006770400000006"
        "737200116a6176612e6c616e672e496e746567657212e2a0a4f781873802000149000576616c7565787200106a6176612e6c616e672e4e756d"
        "62657286ac951d0b94e08b0200007870fffffff974000474657874737200116a6176612e7574696c2e486173684d61700507dac1c31660d103"
        "000246000a6c6f6164466163746f724900097468726573686f6c6478703f4000000000000c770800000010000000017400036b657971007e00"
        "05787e72001d6a6176612e7574696c2e636f6e63757272656e742e54696d65556e697400000000000000001200007872000e6a6176612e6c61"
        "6e672e456e756d000000000000000012000078707400075345434f4e44537071007e000178";

static void unhex(const char *hex, struct buf *out)
{
        for (; *hex; hex += 2) {
                const char digits[] = {hex[0], hex[1], '\0'};
                buf_putc(out, (char)strtol(digits, NULL, 16));
        }
}

static void java_s_own_stream_is_read(void **state)
{
        _cleanup_(arena_deinit) struct arena arena = ARENA_INIT;
        _cleanup_(buf_deinit) struct buf stream = BUF_INIT;
        const struct java_object *list;
        unhex(list_hex, &stream);
        assert_int_equal(java_object_read(&arena, stream.data, stream.len, &list, NULL), 0);
        assert_string_equal(list->class_name, "java.util.ArrayList");
        assert_int_equal(java_object_number(list, "size"), 6);
        assert_int_equal(list->n_items, 6);
        assert_int_equal(java_object_number(list->items[0].object, "value"), -7);
        assert_string_equal(list->items[1].text, "text");
        const struct java_object *map = list->items[2].object;
        assert_string_equal(map->class_name, "java.util.HashMap");
        assert_int_equal(map->n_items, 2);
        assert_string_equal(map->items[0].text, "key");
        assert_ptr_equal(map->items[1].text, list->items[1].text);
        assert_int_equal(list->items[3].kind, JAVA_TEXT);
        assert_string_equal(list->items[3].text, "SECONDS");
        assert_int_equal(list->items[4].kind, JAVA_NULL);
        assert_ptr_equal(list->items[5].object, list);
        assert_null(java_object_at(list, "size"));
        assert_null(java_object_text(list, "none"));
        assert_int_equal(java_object_number(NULL, "size"), -1);
}

static int read_hex(const char *hex, struct fst_error *error)
{
        _cleanup_(arena_deinit) struct arena arena = ARENA_INIT;
        _cleanup_(buf_deinit) struct buf stream = BUF_INIT;
        const struct java_object *object;
        unhex(hex, &stream);
        return java_object_read(&arena, stream.data, stream.len, &object, error);
}

static void damaged_streams_are_errors(void **state)
{
        _cleanup_(buf_deinit) struct buf stream = BUF_INIT;
        unhex(list_hex, &stream);
        for (size_t at = 0; at < stream.len; at++) {
                _cleanup_(arena_deinit) struct arena arena = ARENA_INIT;
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                const struct java_object *object;
                assert_int_equal(java_object_read(&arena, stream.data, at, &object, &error), -EBADMSG);
                error_deinit(&error);
                const char before = stream.data[at];
                stream.data[at] = (char)(before ^ 0xff);
                const int r = java_object_read(&arena, stream.data, stream.len, &object, &error);
                assert_true(r == 0 || ((r == -EBADMSG || r == -ENOTSUP) && error.message));
                stream.data[at] = before;
        }
}

static void misuse_is_named(void **state)
{
        static const struct {
                const char *hex, *message;
                int status;
        } rows[] = {
                {"aced000574000161", "its first value is not an object", -EBADMSG},
                {"aced000571007e0000", "refers to an unknown object", -EBADMSG},
                /* class A: its superclass is itself */
                {"aced000573720001410000000000000000020000"
                 "7871007e0000",
                 "its own superclass", -EBADMSG},
                {"aced0005757200025b49000000000000000002000078700000000100000000", "an array", -ENOTSUP},
                {"aced00057372000141000000000000000004000078707078", "a class that writes itself", -ENOTSUP},
                {"aced000573720001410000000000000000020001510001617870", "unknown type", -EBADMSG},
        };
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                assert_int_equal(read_hex(rows[i].hex, &error), rows[i].status);
                assert_non_null(strstr(error_message(&error), rows[i].message));
        }
}

static void nesting_has_a_limit(void **state)
{
        _cleanup_(arena_deinit) struct arena arena = ARENA_INIT;
        _cleanup_(buf_deinit) struct buf stream = BUF_INIT;
        const struct java_object *object;
        unhex("aced0005", &stream);
        for (int i = 0; i < 100000; i++) /* each object is the first item of the one before */
                unhex(i ? "7371007e0000"
                        : "73720001410000000000000000030000"
                          "7870",
                      &stream);
        assert_int_equal(java_object_read(&arena, stream.data, stream.len, &object, NULL), -EBADMSG);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(java_s_own_stream_is_read),
                cmocka_unit_test(damaged_streams_are_errors),
                cmocka_unit_test(misuse_is_named),
                cmocka_unit_test(nesting_has_a_limit),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
