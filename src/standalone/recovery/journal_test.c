/* Journals: written and read again, and read after every kind of damage at every offset. */
#include "standalone/recovery/journal.h"

#include "base/error.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A reader's calls as text, "+app a-1=one" for each record and "!" for each damage, and the last message. */
struct journal_seen {
        struct buf text;
        char message[512];
        int damaged, cut_off;
};

static void on_entry(void *context, enum master_record kind, const char *id, const void *data, size_t size)
{
        struct journal_seen *s = context;
        if (data)
                buf_printf(&s->text, "+%s %s=%.*s ", journal_kind_name(kind), id, (int)size, (const char *)data);
        else
                buf_printf(&s->text, "-%s %s ", journal_kind_name(kind), id);
}

static void on_damaged(void *context, const char *message, bool cut_off)
{
        struct journal_seen *s = context;
        buf_puts(&s->text, "! ");
        snprintf(s->message, sizeof(s->message), "%s", message);
        s->damaged++;
        s->cut_off += cut_off;
}

static void seen_deinit(struct journal_seen *s)
{
        buf_deinit(&s->text);
}

static int64_t read_all(struct journal_seen *s, const void *bytes, size_t size, struct fst_error *error)
{
        const struct journal_reader reader = {.entry = on_entry, .damaged = on_damaged, .context = s};
        return journal_read(bytes, size, "j", &reader, error);
}

static void store(struct buf *out, struct codec *codec, enum master_record kind, const char *id, const char *data)
{
        assert_int_equal(journal_put_store(out, codec, kind, id, data, strlen(data)), 0);
}

/* @ends are the ends of the entries. */
static void make(struct buf *out, size_t ends[4])
{
        buf_puts(out, JOURNAL_BEGINNING);
        store(out, NULL, MASTER_RECORD_APP, "a-1", "one");
        ends[0] = out->len;
        store(out, NULL, MASTER_RECORD_DRIVER, "d-1", "two");
        ends[1] = out->len;
        journal_put_remove(out, MASTER_RECORD_APP, "a-1");
        ends[2] = out->len;
        store(out, NULL, MASTER_RECORD_WORKER, "w-1", "three");
        ends[3] = out->len;
}

#define ALL "+app a-1=one +driver d-1=two -app a-1 +worker w-1=three "

static void what_was_written_is_read(void **state)
{
        static const enum codec_kind kinds[] = {CODEC_NONE, CODEC_LZ4, CODEC_ZSTD};
        size_t sizes[3];
        char large[5000];
        memset(large, 'x', sizeof(large) - 1);
        large[sizeof(large) - 1] = '\0';
        for (size_t i = 0; i < 3; i++) {
                _cleanup_(buf_deinit) struct buf out = BUF_INIT;
                _cleanup_(seen_deinit) struct journal_seen s = {0};
                struct codec codec;
                codec_init(&codec, kinds[i], 1);
                buf_puts(&out, JOURNAL_BEGINNING);
                store(&out, &codec, MASTER_RECORD_WORKER, "w-1", large);
                store(&out, &codec, MASTER_RECORD_APP, "a-1", "");
                store(&out, &codec, MASTER_RECORD_APP, "a/ü\n", "short");
                sizes[i] = out.len;
                assert_int_equal(read_all(&s, out.data, out.len, NULL), (int64_t)out.len);
                _cleanup_(buf_deinit) struct buf expected = BUF_INIT;
                buf_printf(&expected, "+worker w-1=%s +app a-1= +app a/ü\n=short ", large);
                assert_string_equal(buf_text(&s.text), buf_text(&expected));
                assert_int_equal(s.damaged, 0);
                codec_deinit(&codec);
        }
        assert_true(sizes[1] < sizes[0] / 10);
        assert_true(sizes[2] < sizes[0] / 10);
}

/* The format may not change without a new version number. */
static void its_bytes_are_these(void **state)
{
        static const unsigned char golden[] = {
                0xf5, 0x66, 0x73, 0x6a, 0x01, 0x01, 0x02, 0x00, 0x03, 0x00, 0x00, 0x00, 0x03,
                0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x4e, 0x23, 0x49, 0xac, 0x1a, 0xec,
                0x86, 0x7d, 0xdf, 0x46, 0x90, 0xc8, 0x64, 0x2d, 0x31, 0x74, 0x77, 0x6f, /* d-1two */
        };
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        store(&out, NULL, MASTER_RECORD_DRIVER, "d-1", "two");
        assert_int_equal(out.len, sizeof(golden));
        assert_memory_equal(out.data, golden, sizeof(golden));
}

static void nothing_is_a_journal_and_a_text_is_none(void **state)
{
        _cleanup_(seen_deinit) struct journal_seen s = {0};
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(read_all(&s, NULL, 0, NULL), 0);
        for (size_t n = 1; n < strlen(JOURNAL_BEGINNING); n++)
                assert_int_equal(read_all(&s, JOURNAL_BEGINNING, n, NULL), 0);
        assert_int_equal(read_all(&s, JOURNAL_BEGINNING, strlen(JOURNAL_BEGINNING), NULL),
                         (int64_t)strlen(JOURNAL_BEGINNING));
        assert_int_equal(read_all(&s, "root:x:0:0", 10, &error), -EBADMSG);
        assert_string_equal(error_message(&error), "j is not a journal of a Firesteel master");
        assert_string_equal(buf_text(&s.text), "");
        error_deinit(&error);
}

static void a_changed_byte_costs_one_record(void **state)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        size_t ends[4];
        static const char *const without[] = {
                "! +driver d-1=two -app a-1 +worker w-1=three ",
                "+app a-1=one ! -app a-1 +worker w-1=three ",
                "+app a-1=one +driver d-1=two ! +worker w-1=three ",
                "+app a-1=one +driver d-1=two -app a-1 ! ",
        };
        make(&out, ends);
        for (size_t i = strlen(JOURNAL_BEGINNING); i < out.len; i++) {
                for (int bit = 0; bit < 8; bit++) {
                        _cleanup_(seen_deinit) struct journal_seen s = {0};
                        int entry = 0;
                        while (i >= ends[entry])
                                entry++;
                        out.data[i] ^= (char)(1 << bit);
                        int64_t end = read_all(&s, out.data, out.len, NULL);
                        out.data[i] ^= (char)(1 << bit);
                        assert_string_equal(buf_text(&s.text), without[entry]);
                        assert_int_equal(end, (int64_t)ends[entry == 3 ? 2 : 3]);
                }
        }
        /* A damaged first line loses no record. */
        for (size_t i = 0; i < strlen(JOURNAL_BEGINNING); i++) {
                _cleanup_(seen_deinit) struct journal_seen s = {0};
                out.data[i] ^= 1;
                assert_int_equal(read_all(&s, out.data, out.len, NULL), (int64_t)out.len);
                out.data[i] ^= 1;
                assert_string_equal(buf_text(&s.text), "! " ALL);
        }
}

static void damage_is_named(void **state)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        _cleanup_(seen_deinit) struct journal_seen s = {0};
        size_t ends[4];
        make(&out, ends);
        out.data[ends[1] - 1] ^= 1;
        read_all(&s, out.data, out.len, NULL);
        char expected[256];
        snprintf(expected, sizeof(expected),
                 "j: skipped bytes %zu to %zu (driver d-1): the record is damaged (its checksum is wrong)", ends[0],
                 ends[1]);
        assert_string_equal(s.message, expected);
        assert_int_equal(s.cut_off, 0);
}

static void what_was_cut_off_is_left_out(void **state)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        size_t ends[4], begin = strlen(JOURNAL_BEGINNING);
        make(&out, ends);
        for (size_t n = begin; n <= out.len; n++) {
                _cleanup_(seen_deinit) struct journal_seen s = {0};
                size_t whole = begin;
                for (int i = 0; i < 4; i++)
                        if (ends[i] <= n)
                                whole = ends[i];
                assert_int_equal(read_all(&s, out.data, n, NULL), (int64_t)whole);
                assert_int_equal(s.damaged, whole != n);
                assert_int_equal(s.cut_off, whole != n);
        }
}

static void a_hole_between_records_is_stepped_over(void **state)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        _cleanup_(seen_deinit) struct journal_seen s = {0};
        size_t ends[4];
        make(&out, ends);
        memset(out.data + ends[0] + 5, 0, ends[2] - ends[0] - 5); /* a block that never reached the disk */
        assert_int_equal(read_all(&s, out.data, out.len, NULL), (int64_t)out.len);
        assert_string_equal(buf_text(&s.text), "+app a-1=one ! +worker w-1=three ");
        assert_int_equal(s.cut_off, 0);
}

static void one_record_alone(void **state)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        _cleanup_(seen_deinit) struct journal_seen s = {0};
        const struct journal_reader reader = {.entry = on_entry, .damaged = on_damaged, .context = &s};
        struct fst_error error = FST_ERROR_INIT;
        store(&out, NULL, MASTER_RECORD_APP, "a-1", "one");
        assert_int_equal(journal_read_one(out.data, out.len, "n", &reader, NULL), 0);
        assert_string_equal(buf_text(&s.text), "+app a-1=one ");
        assert_int_equal(journal_read_one(out.data, out.len - 1, "n", &reader, &error), -EBADMSG);
        assert_string_equal(error_message(&error), "n is a damaged record of a Firesteel master");
        assert_int_equal(journal_read_one("\xac\xed\0\5sr", 6, "n", &reader, &error), -EBADMSG);
        assert_string_equal(error_message(&error), "n is not a record of a Firesteel master");
        error_deinit(&error);
        buf_reset(&out);
        journal_put_remove(&out, MASTER_RECORD_APP, "a-1");
        assert_int_equal(journal_read_one(out.data, out.len, "n", &reader, NULL), -EBADMSG);
}

static void what_is_too_large_is_refused(void **state)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        assert_int_equal(journal_put_store(&out, NULL, MASTER_RECORD_APP, "a-1", "x", MAX_JOURNAL_DATA + 1), -E2BIG);
        assert_int_equal(journal_put_store(&out, NULL, MASTER_RECORD_APP, "", "x", 1), -E2BIG);
        assert_int_equal(out.len, 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_was_written_is_read),
                cmocka_unit_test(its_bytes_are_these),
                cmocka_unit_test(nothing_is_a_journal_and_a_text_is_none),
                cmocka_unit_test(a_changed_byte_costs_one_record),
                cmocka_unit_test(damage_is_named),
                cmocka_unit_test(what_was_cut_off_is_left_out),
                cmocka_unit_test(a_hole_between_records_is_stepped_over),
                cmocka_unit_test(one_record_alone),
                cmocka_unit_test(what_is_too_large_is_refused),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
