/* Tests the framing of event streams: every cut of a stream gives the same records, and invalid lengths are named. */
#include "mesos/protocol/recordio.h"

#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

struct collector {
        struct buf text; /* "[record]" for each */
        int left;        /* fail at this record; negative: never */
};

static int on_record(void *owner, const uint8_t *record, size_t len)
{
        struct collector *c = owner;

        buf_putc(&c->text, '[');
        buf_append(&c->text, record, len);
        buf_putc(&c->text, ']');
        return c->left-- == 0 ? -ECANCELED : 0;
}

static void every_cut_gives_the_same_records(void **state)
{
        const char stream[] = "5\nhello0\n12\nhello\n world3\nabc0\n";
        const size_t len = sizeof(stream) - 1;

        for (size_t first = 0; first <= len; first++)
                for (size_t second = first; second <= len; second++) {
                        struct recordio r = RECORDIO_INIT;
                        struct collector c = {.left = -1};
                        const size_t cuts[] = {0, first, second, len};
                        for (int i = 0; i < 3; i++)
                                assert_int_equal(
                                        recordio_feed(&r, stream + cuts[i], cuts[i + 1] - cuts[i], on_record, &c, NULL),
                                        0);
                        assert_string_equal(buf_text(&c.text), "[hello][][hello\n world][abc][]");
                        buf_deinit(&c.text);
                        recordio_deinit(&r);
                }
}

static void invalid_lengths_are_named(void **state)
{
        static const struct {
                const char *stream;
                int status;
                const char *message;
        } cases[] = {
                {"<html>", -EPROTO, "byte 0x3c"},
                {"\nabc", -EPROTO, "byte 0x0a"},
                {"-1\n", -EPROTO, "byte 0x2d"},
                {"3 \n", -EPROTO, "byte 0x20"},
                {"67108865\n", -EMSGSIZE, "more than 64 MiB"},
                {"00000000001\n", -EMSGSIZE, "more than 64 MiB"},
                {"18446744073709551617\n", -EMSGSIZE, "more than 64 MiB"},
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
                struct recordio r = RECORDIO_INIT;
                struct collector c = {.left = -1};
                struct fst_error error = FST_ERROR_INIT;
                assert_int_equal(recordio_feed(&r, cases[i].stream, strlen(cases[i].stream), on_record, &c, &error),
                                 cases[i].status);
                assert_non_null(strstr(error_message(&error), cases[i].message));
                assert_int_equal(c.text.len, 0);
                error_deinit(&error);
                recordio_deinit(&r);
        }
}

static void a_long_record_takes_no_memory_before_it_arrives(void **state)
{
        struct recordio r = RECORDIO_INIT;
        struct collector c = {.left = -1};

        assert_int_equal(recordio_feed(&r, "67108864\nabc", 12, on_record, &c, NULL), 0);
        assert_true(r.partial.cap < 4096);
        recordio_deinit(&r);
}

static void a_failing_sink_ends_the_feeding(void **state)
{
        struct recordio r = RECORDIO_INIT;
        struct collector c = {.left = 1};

        assert_int_equal(recordio_feed(&r, "1\na1\nb1\nc", 9, on_record, &c, NULL), -ECANCELED);
        assert_string_equal(buf_text(&c.text), "[a][b]");
        recordio_reset(&r);
        c.left = -1;
        assert_int_equal(recordio_feed(&r, "1\nd", 3, on_record, &c, NULL), 0);
        assert_string_equal(buf_text(&c.text), "[a][b][d]");
        buf_deinit(&c.text);
        recordio_deinit(&r);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(every_cut_gives_the_same_records),
                cmocka_unit_test(invalid_lengths_are_named),
                cmocka_unit_test(a_long_record_takes_no_memory_before_it_arrives),
                cmocka_unit_test(a_failing_sink_ends_the_feeding),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
