/* Frames and fields: every prefix of a journal gives the records of its complete frames, and damage ends the reading.
 */
#include "base/error.h"
#include "base/mem.h"
#include "journal/fields.h"
#include "journal/frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define FRAMES 5

struct journal {
        struct buf bytes;
        size_t ends[FRAMES + 1]; /* of the first line and of each frame */
};

/* Frame i has i + 1 records; record k of it has the kind k and the content "i.k". */
static void journal_build(struct journal *j)
{
        *j = (struct journal){0};
        buf_puts(&j->bytes, JOURNAL_FIRST_LINE);
        j->ends[0] = j->bytes.len;
        for (int i = 0; i < FRAMES; i++) {
                _cleanup_(buf_deinit) struct buf body = BUF_INIT;
                unsigned char header[JOURNAL_FRAME_HEADER];
                for (int k = 0; k <= i; k++) {
                        size_t place = journal_record_begin(&body, (uint8_t)k);
                        buf_printf(&body, "%d.%d", i, k);
                        journal_record_end(&body, place);
                }
                journal_frame_header(body.data, body.len, header);
                buf_append(&j->bytes, header, sizeof(header));
                buf_append(&j->bytes, body.data, body.len);
                j->ends[i + 1] = j->bytes.len;
        }
}

static int count_record(void *context, uint8_t kind, const void *content, size_t size)
{
        int *n = context, frame = 0, before = 0;
        char expected[32];
        while (before + frame + 1 <= *n)
                before += ++frame;
        snprintf(expected, sizeof(expected), "%d.%d", frame, *n - before);
        assert_int_equal(kind, *n - before);
        assert_int_equal(size, strlen(expected));
        assert_memory_equal(content, expected, size);
        ++*n;
        return 0;
}

static void every_prefix_gives_its_complete_frames(void **state)
{
        struct journal j;
        journal_build(&j);
        for (size_t size = 0; size <= j.bytes.len; size++) {
                struct journal_extent extent;
                int frames = 0, records = 0;
                char *copy = mem_alloc(size + 1); /* so that ASan sees a read beyond the end */
                memcpy(copy, j.bytes.data, size);
                while (frames < FRAMES && j.ends[frames + 1] <= size)
                        frames++;
                assert_int_equal(journal_read_frames(copy, size, "j", count_record, &records, &extent, NULL), 0);
                free(copy);
                assert_int_equal(records, frames * (frames + 1) / 2);
                assert_int_equal(extent.good, size < j.ends[0] ? 0 : j.ends[frames]);
                assert_int_equal(extent.end, size == 0 || extent.good == size ? JOURNAL_COMPLETE : JOURNAL_TORN);
        }
        buf_deinit(&j.bytes);
}

static void a_changed_byte_ends_the_reading_at_its_frame(void **state)
{
        struct journal j;
        journal_build(&j);
        for (size_t at = j.ends[0]; at < j.bytes.len; at++) {
                struct journal_extent extent;
                int frame = 0, records = 0;
                while (j.ends[frame + 1] <= at)
                        frame++;
                j.bytes.data[at] ^= 0x20;
                assert_int_equal(
                        journal_read_frames(j.bytes.data, j.bytes.len, "j", count_record, &records, &extent, NULL), 0);
                j.bytes.data[at] ^= 0x20;
                assert_int_equal(records, frame * (frame + 1) / 2);
                assert_int_equal(extent.good, j.ends[frame]);
                assert_int_not_equal(extent.end, JOURNAL_COMPLETE);
        }
        buf_deinit(&j.bytes);
}

static int count_only(void *context, uint8_t kind, const void *content, size_t size)
{
        ++*(int *)context;
        return 0;
}

static void rejects_files_that_are_no_journal(void **state)
{
        static const char newer[] = "Firesteel driver journal, version 2. Not a text: do not edit.\n",
                          other[] = "hello";
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct journal_extent extent;
        int records = 0;
        assert_int_equal(journal_read_frames(newer, strlen(newer), "j", count_only, &records, &extent, &error),
                         -EPROTONOSUPPORT);
        assert_non_null(strstr(error_message(&error), "j is of a version"));
        assert_int_equal(journal_read_frames(other, strlen(other), "j", count_only, &records, &extent, &error),
                         -EBADMSG);
        assert_string_equal(error_message(&error), "j is not a journal of a Firesteel driver");
        assert_int_equal(records, 0);
}

static void fields_are_read_as_written(void **state)
{
        static const uint64_t numbers[] = {0, 1, 127, 128, 300, UINT32_MAX, UINT64_MAX};
        _cleanup_(buf_deinit) struct buf b = BUF_INIT;
        for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
                fields_put_number(&b, numbers[i]);
        fields_put_text(&b, "text");
        fields_put_text(&b, NULL);
        fields_put_bytes(&b, "a\0b", 3);
        struct field_reader f = fields_of(b.data, b.len);
        for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
                assert_true(fields_take_number(&f) == numbers[i]);
        _cleanup_free_ char *text = fields_take_text(&f), *empty = fields_take_text(&f);
        fst_bytes bytes = fields_take_bytes(&f);
        assert_string_equal(text, "text");
        assert_string_equal(empty, "");
        assert_int_equal(bytes.len, 3);
        assert_memory_equal(bytes.data, "a\0b", 3);
        assert_true(fields_are_complete(&f));
        for (size_t size = 0; size < b.len; size++) {
                f = fields_of(b.data, size);
                for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
                        fields_take_number(&f);
                free(fields_take_text(&f));
                free(fields_take_text(&f));
                fields_take_bytes(&f);
                assert_false(fields_are_complete(&f));
        }
}

static void rejects_fields_beyond_their_limits(void **state)
{
        static const unsigned char long_number[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1};
        struct field_reader f = fields_of(long_number, sizeof(long_number));
        assert_int_equal(fields_take_number(&f), 0);
        assert_true(f.bad);
        f = fields_of("\x05", 1);
        assert_int_equal(fields_take_limited(&f, 4), 0);
        assert_true(f.bad);
        f = fields_of("\x03"
                      "a\0b",
                      4);
        _cleanup_free_ char *text = fields_take_text(&f);
        assert_string_equal(text, "");
        assert_true(f.bad);
        f = fields_of("\x7F"
                      "a",
                      2);
        assert_int_equal(fields_take_bytes(&f).len, 0);
        assert_true(f.bad);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(every_prefix_gives_its_complete_frames),
                cmocka_unit_test(a_changed_byte_ends_the_reading_at_its_frame),
                cmocka_unit_test(rejects_files_that_are_no_journal),
                cmocka_unit_test(fields_are_read_as_written),
                cmocka_unit_test(rejects_fields_beyond_their_limits),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
