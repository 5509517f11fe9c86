/* Tests the stream of an R worker with the bytes that SparkR's worker.R reads and writes. */
#include "r/r_stream.h"

#include "base/buf.h"
#include "base/mem.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define BYTES(text) ((fst_bytes){(text), sizeof(text) - 1})

static void assert_bytes(const struct buf *out, const char *expected, size_t len)
{
        assert_int_equal(out->len, len);
        assert_memory_equal(out->data, expected, len);
}

static void writes_head_with_broadcasts(void **state)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        struct r_broadcast broadcast = {.id = 5, .value = BYTES("xyz")};
        struct r_head head = {.partition = 2,
                              .deserializer = R_FORM_BYTE,
                              .serializer = R_FORM_STRING,
                              .packages = BYTES("P"),
                              .function = BYTES("FN"),
                              .broadcasts = &broadcast,
                              .n_broadcasts = 1,
                              .buckets = -1};
        static const char expected[] = "\0\0\0\2"
                                       "\0\0\0\5byte\0"
                                       "\0\0\0\7string\0"
                                       "\0\0\0\1P"
                                       "\0\0\0\2FN"
                                       "\0\0\0\1\0\0\0\5\0\0\0\3xyz"
                                       "\377\377\377\377"
                                       "\0\0\0\0"
                                       "\0\0\0\1";
        r_stream_put_head(&out, &head);
        r_stream_put_flag(&out, true);
        assert_bytes(&out, expected, sizeof(expected) - 1);
}

static void writes_rows_of_each_form(void **state)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        r_stream_put_row(&out, BYTES("ab"), R_FORM_BYTE);
        r_stream_put_row(&out, BYTES(""), R_FORM_BYTE);
        r_stream_put_row(&out, BYTES("ab"), R_FORM_STRING);
        r_stream_put_row(&out, BYTES(""), R_FORM_STRING);
        r_stream_put_row(&out, BYTES("ab"), R_FORM_ROW);
        assert_bytes(&out, "\0\0\0\2ab\0\0\0\0ab\n\nab", 16);
}

/* Reads an item from each prefix of @data: none of them may look complete. */
static struct r_item read_whole(enum r_answer answer, const char *data, size_t len)
{
        struct r_item item;
        for (size_t n = 0; n < len; n++) {
                assert_int_equal(r_stream_read_item(answer, data, n, &item), 0);
                assert_int_equal(item.kind, R_ITEM_PART);
                assert_true(item.size > n && item.size <= len);
        }
        assert_int_equal(r_stream_read_item(answer, data, len, &item), 0);
        assert_int_equal(item.size, len);
        return item;
}

static void reads_rows_of_each_answer(void **state)
{
        struct r_item item = read_whole(R_ANSWER_BYTES, "\0\0\0\3a\0c", 7);
        assert_int_equal(item.kind, R_ITEM_ROW);
        assert_int_equal(item.row.len, 3);
        assert_memory_equal(item.row.data, "a\0c", 3);

        item = read_whole(R_ANSWER_LINES, "\0\0\0\3ab\0", 7);
        assert_int_equal(item.kind, R_ITEM_ROW);
        assert_int_equal(item.row.len, 2);
        assert_memory_equal(item.row.data, "ab", 2);

        item = read_whole(R_ANSWER_LINES, "\0\0\0\1\0", 5);
        assert_int_equal(item.row.len, 0);

        item = read_whole(R_ANSWER_SHUFFLED, "\0\0\0\2\0\0\0\7\0\0\0\2ab", 14);
        assert_int_equal(item.kind, R_ITEM_ROW);
        assert_int_equal(item.bucket, 7);
        assert_int_equal(item.row.len, 2);
        assert_memory_equal(item.row.data, "ab", 2);
}

static void reads_times_and_end(void **state)
{
        static const char times[] = "\377\377\377\377"
                                    "\x40\x00\0\0\0\0\0\0"
                                    "\x3f\xe0\0\0\0\0\0\0"
                                    "\0\0\0\0\0\0\0\0"
                                    "\0\0\0\0\0\0\0\0"
                                    "\0\0\0\0\0\0\0\0"
                                    "\x3f\xf0\0\0\0\0\0\0";
        struct r_item item = read_whole(R_ANSWER_BYTES, times, sizeof(times) - 1);
        assert_int_equal(item.kind, R_ITEM_TIMES);
        assert_true(item.times[R_TIME_BOOT] == 2.0 && item.times[R_TIME_INIT] == 0.5 &&
                    item.times[R_TIME_OUTPUT] == 1.0);
        item = read_whole(R_ANSWER_SHUFFLED, "\0\0\0\0", 4);
        assert_int_equal(item.kind, R_ITEM_END);
}

static void refuses_items_that_no_worker_sends(void **state)
{
        struct r_item item;
        assert_int_equal(r_stream_read_item(R_ANSWER_BYTES, "\377\377\377\376", 4, &item), -EBADMSG);
        assert_int_equal(r_stream_read_item(R_ANSWER_SHUFFLED, "\0\0\0\3abcd", 8, &item), -EBADMSG);
        assert_int_equal(r_stream_read_item(R_ANSWER_SHUFFLED, "\0\0\0\2\377\0\0\0\0\0\0\0", 12, &item), -EBADMSG);
        assert_int_equal(r_stream_read_item(R_ANSWER_SHUFFLED, "\0\0\0\2\0\0\0\0\377\0\0\0", 12, &item), -EBADMSG);
        assert_int_equal(r_stream_read_item(R_ANSWER_LINES, "\0\0\0\2ab", 6, &item), -EBADMSG);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(writes_head_with_broadcasts),        cmocka_unit_test(writes_rows_of_each_form),
                cmocka_unit_test(reads_rows_of_each_answer),          cmocka_unit_test(reads_times_and_end),
                cmocka_unit_test(refuses_items_that_no_worker_sends),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
