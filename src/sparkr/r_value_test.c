/* Tests requests and answers of R with the bytes that SparkR writes and reads. */
#include "sparkr/r_value.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define HEAD "\0\0\0\1\0\0\0\2A\0\0\0\0\2m\0"
#define READ(text, request) r_request_read(text, sizeof(text) - 1, &arena, request, &error)

static struct arena arena;
static struct fst_error error;

static int end_memory(void **state)
{
        arena_deinit(&arena);
        error_deinit(&error);
        return 0;
}

static void reads_call_with_each_kind_of_argument(void **state)
{
        struct r_request q;
        assert_int_equal(READ(HEAD "\0\0\0\10"
                                   "n"
                                   "i\0\0\0\7"
                                   "d\x3f\xe0\0\0\0\0\0\0"
                                   "b\0\0\0\1"
                                   "c\0\0\0\3ab\0"
                                   "r\0\0\0\2\0x"
                                   "j\0\0\0\0031"
                                   "2\0"
                                   "D\0\0\0\1\0",
                              &q),
                         0);
        assert_true(q.is_static);
        assert_string_equal(q.target, "A");
        assert_string_equal(q.member, "m");
        assert_int_equal(q.arguments.n, 8);
        const struct r_value *a = q.arguments.items;
        assert_int_equal(a[0].type, R_NULL);
        assert_int_equal(a[1].integer, 7);
        assert_true(a[2].number == 0.5);
        assert_int_equal(a[3].type, R_BOOL);
        assert_int_equal(a[3].integer, 1);
        assert_string_equal(a[4].bytes.data, "ab");
        assert_int_equal(a[5].bytes.len, 2);
        assert_int_equal(a[6].type, R_OBJECT);
        assert_string_equal(a[6].bytes.data, "12");
        assert_int_equal(a[7].bytes.len, 0);
}

static void reads_arrays_lists_and_environments(void **state)
{
        struct r_request q;
        assert_int_equal(READ(HEAD "\0\0\0\3"
                                   "aa\0\0\0\2i\0\0\0\1\0\0\0\5c\0\0\0\0"
                                   "l\0\0\0\2nb\0\0\0\0"
                                   "e\0\0\0\1ac\0\0\0\1\0\0\0\2k\0\0\0\0\1i\0\0\0\11",
                              &q),
                         -EBADMSG); /* an environment's names are an array without its letter */
        assert_int_equal(READ(HEAD "\0\0\0\3"
                                   "aa\0\0\0\2i\0\0\0\1\0\0\0\5c\0\0\0\0"
                                   "l\0\0\0\2nb\0\0\0\0"
                                   "e\0\0\0\1c\0\0\0\1\0\0\0\2k\0\0\0\0\1i\0\0\0\11",
                              &q),
                         0);
        const struct r_value *a = q.arguments.items;
        assert_int_equal(a[0].type, R_ARRAY);
        assert_int_equal(a[0].list.n, 2);
        assert_int_equal(a[0].list.items[0].list.items[0].integer, 5);
        assert_int_equal(a[0].list.items[1].list.n, 0);
        assert_int_equal(a[1].list.items[1].type, R_BOOL);
        assert_int_equal(a[2].list.n, 2);
        assert_string_equal(a[2].list.items[0].bytes.data, "k");
        assert_int_equal(a[2].list.items[1].integer, 9);
}

static void reads_environment_of_many_names(void **state)
{
        enum { NAMES = 1000 };
        struct r_request q;
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        buf_append(&text, HEAD "\0\0\0\2e", sizeof(HEAD "\0\0\0\2e") - 1);
        r_value_put_int(&text, NAMES);
        buf_putc(&text, 'c');
        r_value_put_int(&text, NAMES);
        for (int i = 0; i < NAMES; i++)
                buf_append(&text, "\0\0\0\2k", 6);
        r_value_put_int(&text, NAMES);
        for (int i = 0; i < NAMES; i++) {
                buf_putc(&text, 'i');
                r_value_put_int(&text, i);
        }
        buf_append(&text, "c\0\0\0\4end", 9);
        assert_int_equal(r_request_read(text.data, text.len, &arena, &q, &error), 0);
        assert_int_equal(q.arguments.items[0].list.n, 2 * NAMES);
        for (int i = 0; i < NAMES; i++) {
                assert_string_equal(q.arguments.items[0].list.items[2 * i].bytes.data, "k");
                assert_int_equal(q.arguments.items[0].list.items[2 * i + 1].integer, i);
        }
        assert_string_equal(q.arguments.items[1].bytes.data, "end");
}

static void refuses_damaged_requests(void **state)
{
        struct r_request q;
        static const char whole[] = HEAD "\0\0\0\2ai\0\0\0\2\0\0\0\1\0\0\0\2c\0\0\0\2x\0";
        assert_int_equal(READ(whole, &q), 0);
        for (size_t n = 0; n < sizeof(whole) - 1; n++)
                assert_int_equal(r_request_read(whole, n, &arena, &q, &error), -EBADMSG);
        assert_int_equal(READ(HEAD "\0\0\0\0x", &q), -EBADMSG);
        assert_int_equal(READ(HEAD "\0\0\0\1x", &q), -EBADMSG);
        assert_int_equal(READ(HEAD "\0\0\0\1ai\177\377\377\377\0\0\0\0", &q), -EBADMSG);
        assert_int_equal(READ(HEAD "\0\0\0\1an\177\377\377\377", &q), -EBADMSG);
        assert_int_equal(READ(HEAD "\0\0\0\1ai\377\377\377\377", &q), -EBADMSG);
        assert_int_equal(READ(HEAD "\0\0\0\1c\0\0\0\0", &q), -EBADMSG);
        assert_int_equal(READ(HEAD "\0\0\0\1c\0\0\0\3\0x\0", &q), -EBADMSG);
        assert_int_equal(READ(HEAD "\377\377\377\377", &q), -EBADMSG);
        assert_non_null(strstr(error_message(&error), "a request of R is invalid"));
}

static void refuses_deep_lists(void **state)
{
        struct r_request q;
        _cleanup_(buf_deinit) struct buf deep = BUF_INIT;
        buf_append(&deep, HEAD "\0\0\0\1", sizeof(HEAD "\0\0\0\1") - 1);
        for (int i = 0; i < 100; i++)
                buf_append(&deep, "l\0\0\0\1", 5);
        buf_putc(&deep, 'n');
        assert_int_equal(r_request_read(deep.data, deep.len, &arena, &q, &error), -EBADMSG);
        assert_non_null(strstr(error_message(&error), "too deep"));
}

static void assert_answer(const struct r_value *value, const char *expected, size_t len)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        r_answer_put(&out, value);
        assert_int_equal(out.len, len);
        assert_memory_equal(out.data, expected, len);
}
#define ASSERT_ANSWER(value, text) assert_answer(value, text, sizeof(text) - 1)

static void writes_answers(void **state)
{
        struct r_value text = r_value_string(&arena, "ab"), null = r_value_string(&arena, NULL);
        struct r_value numbers[] = {r_value_int(1), r_value_int(2)};
        struct r_value array = {.type = R_ARRAY, .list = {numbers, 2}};
        struct r_value texts = {.type = R_ARRAY, .list = {&text, 1}};
        struct r_value pair[] = {text, r_value_bool(true)};
        struct r_value map = {.type = R_MAP, .list = {pair, 2}};
        struct r_value none = {.type = R_ARRAY};
        ASSERT_ANSWER(&null, "\0\0\0\0n");
        ASSERT_ANSWER(&text, "\0\0\0\0c\0\0\0\2ab");
        ASSERT_ANSWER(&array, "\0\0\0\0ai\0\0\0\2\0\0\0\1\0\0\0\2");
        ASSERT_ANSWER(&texts, "\0\0\0\0l\0\0\0\1c\0\0\0\2ab");
        ASSERT_ANSWER(&map, "\0\0\0\0e\0\0\0\1\0\0\0\2abb\0\0\0\1");
        ASSERT_ANSWER(&none, "\0\0\0\0ac\0\0\0\0");
}

static void writes_errors_and_signs_of_life(void **state)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        r_answer_put_waiting(&out);
        r_answer_put_error(&out, "no");
        assert_int_equal(out.len, 14);
        assert_memory_equal(out.data, "\0\0\0\1\377\377\377\377\0\0\0\2no", 14);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_teardown(reads_call_with_each_kind_of_argument, end_memory),
                cmocka_unit_test_teardown(reads_arrays_lists_and_environments, end_memory),
                cmocka_unit_test_teardown(reads_environment_of_many_names, end_memory),
                cmocka_unit_test_teardown(refuses_damaged_requests, end_memory),
                cmocka_unit_test_teardown(refuses_deep_lists, end_memory),
                cmocka_unit_test_teardown(writes_answers, end_memory),
                cmocka_unit_test(writes_errors_and_signs_of_life),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
