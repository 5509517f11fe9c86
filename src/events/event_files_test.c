/* Tests the listing of event logs and streams of all codecs, growing logs included. */
#include "events/event_files.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/string_list.h"
#include "base/string_prefix.h"
#include "events/event_reader.h"
#include "io/codec/java_blocks.h"
#include "io/fs/local_fs.h"
#include "io/fs/path.h"
#include "unit/cases.h"
#include "unit/temp_dir.h"

#include <lz4.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include <cmocka.h>

/* Writes bytes to a file of the directory, whose subdirectories are made. */
static void test_write_file(const char *name, const void *data, size_t n, const char *mode)
{
        _cleanup_free_ char *path = temp_dir_path(name);
        char *slash = strrchr(path, '/');
        *slash = 0;
        assert_int_equal(make_dirs(path, 0755), 0);
        *slash = '/';
        FILE *file = fopen(path, mode);
        assert_non_null(file);
        assert_int_equal(fwrite(data, 1, n, file), n);
        assert_int_equal(fclose(file), 0);
}

static void test_write_text(const char *name, const char *text)
{
        test_write_file(name, text, strlen(text), "w");
}

static char *test_full_path(const char *name)
{
        return mem_printf("file:%s/%s", temp_dir, name);
}

/* ------------------------------------------------------------------------------------------------- codecs */

static void test_put_little(struct buf *out, uint32_t n)
{
        unsigned char bytes[] = {(unsigned char)n, (unsigned char)(n >> 8), (unsigned char)(n >> 16),
                                 (unsigned char)(n >> 24)};
        buf_append(out, bytes, sizeof(bytes));
}

static void test_put_big(struct buf *out, uint32_t n)
{
        unsigned char bytes[] = {(unsigned char)(n >> 24), (unsigned char)(n >> 16), (unsigned char)(n >> 8),
                                 (unsigned char)n};
        buf_append(out, bytes, sizeof(bytes));
}

static void test_put_lz4(struct buf *out, const char *text, size_t n, bool raw)
{
        char packed[4096];
        int size = raw ? (int)n : LZ4_compress_default(text, packed, (int)n, sizeof(packed));
        buf_append(out, "LZ4Block", 8);
        buf_putc(out, (char)((raw ? 0x10 : 0x20) | 5));
        test_put_little(out, (uint32_t)size);
        test_put_little(out, (uint32_t)n);
        test_put_little(out, XXH32(text, n, 0x9747b28cu) & 0x0fffffff);
        buf_append(out, raw ? text : packed, (size_t)size);
}

static void test_put_lz4_end(struct buf *out)
{
        buf_append(out, "LZ4Block\x15\0\0\0\0\0\0\0\0\0\0\0\0", 21);
}

/* A block of snappy: the size in groups of 7 bits, then one literal. @n is from 1 to 256. */
static void test_put_snappy(struct buf *out, const char *text, size_t n)
{
        test_put_big(out, (uint32_t)(n + (n < 128 ? 1 : 2) + (n <= 60 ? 1 : 2)));
        if (n >= 128)
                buf_putc(out, (char)(n | 0x80));
        buf_putc(out, (char)(n >= 128 ? n >> 7 : n));
        if (n > 60)
                buf_putc(out, (char)0xf0);
        buf_putc(out, (char)(n > 60 ? n - 1 : (n - 1) << 2));
        buf_append(out, text, n);
}

static void test_put_snappy_header(struct buf *out)
{
        buf_append(out, "\x82SNAPPY\0\0\0\0\1\0\0\0\1", 16);
}

/* Decodes with pieces of @piece bytes. Returns the problem, or NULL with the text in @out. */
static const char *test_decode(enum java_blocks_kind kind, const struct buf *in, size_t piece, struct buf *out)
{
        struct java_blocks *b;
        const char *problem = NULL;
        assert_int_equal(java_blocks_new(kind, &b, NULL), 0);
        for (size_t at = 0; at < in->len && !problem;) {
                size_t n = MIN(piece, in->len - at), got;
                char text[7];
                do {
                        size_t taken = n;
                        problem = java_blocks_step(b, (const unsigned char *)in->data + at, &taken, text, sizeof(text),
                                                   &got);
                        buf_append(out, text, got);
                        at += taken;
                        n -= taken;
                } while (!problem && (n > 0 || got > 0));
        }
        if (!problem && !java_blocks_between(b))
                problem = "truncated";
        java_blocks_free(b);
        return problem;
}

static void test_java_blocks_round_trip(void **state)
{
        static const char text[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabcdefghij";
        for (int kind = JAVA_BLOCKS_LZ4; kind <= JAVA_BLOCKS_SNAPPY; kind++) {
                _cleanup_(buf_deinit) struct buf in = BUF_INIT;
                if (kind == JAVA_BLOCKS_LZ4) {
                        test_put_lz4(&in, text, 50, false);
                        test_put_lz4(&in, text + 50, 8, true);
                        test_put_lz4_end(&in);
                        test_put_lz4(&in, text, 5, true); /* another stream */
                } else {
                        test_put_snappy_header(&in);
                        test_put_snappy(&in, text, 50);
                        test_put_snappy(&in, text + 50, 8);
                        test_put_snappy_header(&in);
                        test_put_snappy(&in, text, 5);
                }
                for (size_t piece = 1; piece <= in.len; piece += 3) {
                        CASE_LABEL("kind %d, pieces of %zu", kind, piece);
                        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
                        assert_null(test_decode(kind, &in, piece, &out));
                        assert_int_equal(out.len, 63);
                        assert_memory_equal(out.data, text, 58);
                        assert_memory_equal(out.data + 58, text, 5);
                }
                /* Any changed or missing byte is an error, or leaves less text. */
                for (size_t i = 0; i < in.len; i++) {
                        CASE_LABEL("kind %d, byte %zu damaged", kind, i);
                        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
                        in.data[i] ^= 0x41;
                        const char *problem = test_decode(kind, &in, 64, &out);
                        if (kind == JAVA_BLOCKS_LZ4 && i % 21 != 8)
                                assert_true(problem || out.len == 63);
                        in.data[i] ^= 0x41;
                }
        }
}

static void test_java_blocks_refuses_damage(void **state)
{
        _cleanup_(buf_deinit) struct buf in = BUF_INIT, out = BUF_INIT;
        test_put_lz4(&in, "hello hello hello", 17, true);
        in.data[21] = 'j';
        assert_string_equal(test_decode(JAVA_BLOCKS_LZ4, &in, 9, &out), "a block has a wrong checksum");
        in.data[21] = 'h';
        assert_string_equal((in.len--, test_decode(JAVA_BLOCKS_LZ4, &in, 9, &out)), "truncated");
        in.data[12] = 0x7f; /* a size of 2 GB */
        assert_string_equal(test_decode(JAVA_BLOCKS_LZ4, &in, 9, &out), "a block has invalid sizes");
        in.data[0] = 'X';
        assert_non_null(strstr(test_decode(JAVA_BLOCKS_LZ4, &in, 9, &out), "LZ4Block"));
        assert_non_null(strstr(test_decode(JAVA_BLOCKS_SNAPPY, &in, 9, &out), "header"));
        assert_int_equal(out.len, 0);
}

/* ------------------------------------------------------------------------------------------------- listing */

static void test_lists_logs_of_a_directory(void **state)
{
        test_write_text("list/app-1", "x");
        test_write_text("list/app-2_1.zstd.inprogress", "xy");
        test_write_text("list/.hidden", "x");
        test_write_text("list/empty", "");
        test_write_text("list/other/file", "x");
        test_write_text("list/eventlog_v2_app-3_2/appstatus_app-3_2.inprogress", "");
        test_write_text("list/eventlog_v2_app-3_2/events_10_app-3_2.zstd", "12345");
        test_write_text("list/eventlog_v2_app-3_2/events_2_app-3_2.zstd", "123");
        test_write_text("list/eventlog_v2_app-3_2/events_1_app-3_2.zstd", "1");
        test_write_text("list/eventlog_v2_app-3_2/events_2_app-3_2.zstd.compact", "12");
        test_write_text("list/eventlog_v2_app-4/events_1_app-4", "no status");
        test_write_text("list/eventlog_v2_app-5/appstatus_app-5", "");
        _cleanup_free_ char *path = test_full_path("list"), *missing = test_full_path("nothing");
        struct event_log_list list = {0};
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(event_log_list_directory(&local_fs, path, &list, NULL, &error), 0);
        assert_int_equal(list.len, 3);
        assert_string_equal(list.data[0].name, "app-1");
        assert_true(list.data[0].is_complete && !list.data[0].is_rolling);
        assert_int_equal(list.data[0].size, 1);
        assert_true(list.data[0].modified_ms > 0);
        assert_string_equal(list.data[1].name, "app-2_1");
        assert_false(list.data[1].is_complete);
        const struct event_log_info *rolling = &list.data[2];
        assert_string_equal(rolling->name, "app-3_2");
        assert_true(rolling->is_rolling && !rolling->is_complete);
        assert_int_equal(rolling->files.len, 2);
        assert_true(rolling->files.data[0].is_compacted);
        assert_int_equal(rolling->files.data[0].number, 2);
        assert_int_equal(rolling->files.data[1].number, 10);
        assert_int_equal(rolling->size, 7);
        assert_int_equal(event_log_list_directory(&local_fs, missing, &list, NULL, &error), -ENOENT);
        event_log_list_deinit(&list);
        error_deinit(&error);
}

/* The local file system, as a user sees it who may not list one rolling log. */
static int refusing_fs_list(const struct file_system *fs, const char *path, struct file_list *out,
                            struct fst_error *error)
{
        (void)fs;
        return strstr(path, "eventlog_v2_app-2") ? error_set(error, -EACCES, "cannot list %s: Permission denied", path)
                                                 : local_fs.list(&local_fs, path, out, error);
}

static void names_rolling_logs_that_cannot_be_listed(void **state)
{
        struct file_system fs = local_fs;
        fs.list = refusing_fs_list;
        test_write_text("refused/eventlog_v2_app-1/appstatus_app-1", "");
        test_write_text("refused/eventlog_v2_app-1/events_1_app-1", "1");
        test_write_text("refused/eventlog_v2_app-2/events_1_app-2", "1");
        test_write_text("refused/eventlog_v2_app-3/appstatus_app-3", "");
        _cleanup_free_ char *path = test_full_path("refused");
        _cleanup_(string_list_deinit) struct string_list unreadable = {0};
        struct event_log_list list = {0};
        assert_int_equal(event_log_list_directory(&fs, path, &list, &unreadable, NULL), 0);
        assert_int_equal(list.len, 1);
        assert_int_equal(unreadable.len, 1);
        assert_non_null(strstr(unreadable.data[0], "eventlog_v2_app-2: Permission denied"));
        assert_int_equal(event_log_list_directory(&fs, path, &list, NULL, NULL), 0);
        event_log_list_deinit(&list);
}

static void test_codec_of_names(void **state)
{
        static const struct {
                const char *name;
                enum event_log_codec codec;
        } cases[] = {
                {"file:/l/app-1", EVENT_LOG_PLAIN},
                {"file:/l.zstd/app-1.inprogress", EVENT_LOG_PLAIN},
                {"file:/l/app-1.zstd", EVENT_LOG_ZSTD},
                {"file:/l/app-1.zstd.inprogress", EVENT_LOG_ZSTD},
                {"file:/l/events_1_app-1.lz4.compact", EVENT_LOG_LZ4},
                {"file:/l/app-1.snappy", EVENT_LOG_SNAPPY},
                {"file:/l/app-1.lzf", EVENT_LOG_LZF},
                {"file:/l/.zstd", EVENT_LOG_PLAIN},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%s", cases[i].name);
                assert_int_equal(event_log_codec_of(cases[i].name), cases[i].codec);
        }
}

/* ------------------------------------------------------------------------------------------------- streams */

struct test_log {
        struct event_log_info log;
        struct event_reader *reader;
        struct event_log_stream *stream;
        struct fst_error error;
        int64_t sum; /* of the times of the events */
};

static void test_log_on_event(void *owner, const struct log_event *e)
{
        struct test_log *t = owner;
        if (e->type == EVENT_application_start)
                t->sum += e->application_start.ms;
}

static void test_log_open(struct test_log *t, const char *name)
{
        _cleanup_free_ char *path = test_full_path(name);
        *t = (struct test_log){0};
        t->reader = event_reader_new(&(struct event_reader_options){.on_event = test_log_on_event, .owner = t});
        assert_int_equal(event_log_look_up(&local_fs, path, &t->log, &t->error), 0);
        t->stream = event_log_stream_new(&local_fs, t->reader);
}

static void test_log_look_again(struct test_log *t, const char *name)
{
        _cleanup_free_ char *path = test_full_path(name);
        event_log_deinit(&t->log);
        assert_int_equal(event_log_look_up(&local_fs, path, &t->log, &t->error), 0);
}

static int test_log_read(struct test_log *t)
{
        bool ended = false;
        int r = 0;
        while (r == 0 && !ended)
                r = event_log_stream_read(t->stream, &t->log, 10, &ended, &t->error);
        return r;
}

static void test_log_close(struct test_log *t)
{
        event_log_stream_free(t->stream);
        event_reader_free(t->reader);
        event_log_deinit(&t->log);
        error_deinit(&t->error);
}

/* Appends the line of an event with the time @ms. */
static void test_put_line(struct buf *out, int ms)
{
        buf_printf(out,
                   "{\"Event\":\"SparkListenerApplicationStart\",\"App Name\":\"n\",\"App ID\":\"a\",\"Timestamp\":%d,"
                   "\"User\":\"u\"}\n",
                   ms);
}

static void test_put_lzf_block(struct buf *out, bool compressed, const char *packed, size_t n, size_t size)
{
        buf_append(out, "ZV", 2);
        buf_putc(out, compressed);
        buf_putc(out, (char)(n >> 8));
        buf_putc(out, (char)n);
        if (compressed) {
                buf_putc(out, (char)(size >> 8));
                buf_putc(out, (char)size);
        }
        buf_append(out, packed, n);
}

/* The first half stored, then four blanks as a byte and two references, then the rest in runs of literals. */
static void test_put_lzf(struct buf *out, const char *text, size_t n)
{
        _cleanup_(buf_deinit) struct buf rest = BUF_INIT;
        size_t half = strcspn(text, ":") + 1;
        test_put_lzf_block(out, false, text, half, half);
        test_put_lzf_block(out, true, "\0 \x20\0", 4, 4);
        test_put_lzf_block(out, true, "\0 \xe0\1\0", 5, 11);
        for (size_t at = half; at < n; at += 32) {
                size_t run = MIN(n - at, (size_t)32);
                buf_putc(&rest, (char)(run - 1));
                buf_append(&rest, text + at, run);
        }
        test_put_lzf_block(out, true, rest.data, rest.len, n - half);
}

static void test_put_packed(struct buf *out, enum event_log_codec codec, const struct buf *text)
{
        char packed[4096];
        switch (codec) {
        case EVENT_LOG_ZSTD:
                buf_append(out, packed, ZSTD_compress(packed, sizeof(packed), text->data, text->len, 1));
                break;
        case EVENT_LOG_LZ4:
                test_put_lz4(out, text->data, text->len, false);
                test_put_lz4_end(out);
                break;
        case EVENT_LOG_SNAPPY:
                test_put_snappy_header(out);
                test_put_snappy(out, text->data, text->len);
                break;
        case EVENT_LOG_LZF:
                test_put_lzf(out, text->data, text->len);
                break;
        default:
                buf_append(out, text->data, text->len);
        }
}

/* A file is read, cut at each byte while it grows, and read on when it is complete. */
static void test_streams_of_growing_files(void **state)
{
        static const struct {
                const char *growing, *complete;
                enum event_log_codec codec;
        } cases[] = {
                {"grow/a.inprogress", "grow/a", EVENT_LOG_PLAIN},
                {"grow/a.zstd.inprogress", "grow/a.zstd", EVENT_LOG_ZSTD},
                {"grow/a.lz4.inprogress", "grow/a.lz4", EVENT_LOG_LZ4},
                {"grow/a.snappy.inprogress", "grow/a.snappy", EVENT_LOG_SNAPPY},
                {"grow/a.lzf.inprogress", "grow/a.lzf", EVENT_LOG_LZF},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                _cleanup_(buf_deinit) struct buf packed = BUF_INIT, line = BUF_INIT;
                for (int ms = 1; ms <= 100; ms *= 10) {
                        buf_reset(&line);
                        test_put_line(&line, ms);
                        test_put_packed(&packed, cases[i].codec, &line);
                }
                for (size_t cut = 1; cut < packed.len; cut += 5) {
                        CASE_LABEL("%s, %zu of %zu bytes", cases[i].growing, cut, packed.len);
                        struct test_log t;
                        test_write_file(cases[i].growing, packed.data, cut, "w");
                        test_log_open(&t, cases[i].growing);
                        assert_int_equal(test_log_read(&t), 0);
                        assert_true(t.sum <= 111);
                        _cleanup_free_ char *from = temp_dir_path(cases[i].growing),
                                            *to = temp_dir_path(cases[i].complete);
                        test_write_file(cases[i].growing, packed.data + cut, packed.len - cut, "a");
                        assert_int_equal(rename(from, to), 0);
                        test_log_look_again(&t, cases[i].complete);
                        assert_true(t.log.is_complete);
                        assert_int_equal(test_log_read(&t), 0);
                        event_reader_end(t.reader, false);
                        assert_int_equal(t.sum, 111);
                        assert_int_equal(event_reader_counts(t.reader).damaged, 0);
                        test_log_close(&t);
                }
        }
}

static void test_stream_of_a_truncated_file(void **state)
{
        _cleanup_(buf_deinit) struct buf packed = BUF_INIT, line = BUF_INIT;
        test_put_line(&line, 1);
        test_put_packed(&packed, EVENT_LOG_ZSTD, &line);
        test_write_file("cut.zstd", packed.data, packed.len - 3, "w");
        struct test_log t;
        test_log_open(&t, "cut.zstd");
        assert_int_equal(test_log_read(&t), -EBADMSG);
        test_log_close(&t);
        static const struct {
                const char *data;
                size_t size;
                const char *problem;
        } blocks[] = {{"x", 1, "truncated"},
                      {"xxxxx", 5, "a block does not begin as those of lzf"},
                      {"ZV\2\0\1x", 6, "a block does not begin as those of lzf"},
                      {"ZV\1\0\2\0\2\1a", 9, "a block cannot be decompressed"},        /* too few literals */
                      {"ZV\1\0\4\0\5\0a\x20\1", 11, "a block cannot be decompressed"}, /* before the beginning */
                      {"ZV\1\0\4\0\7\0a\x40\0", 11, "a block cannot be decompressed"}, /* too short */
                      {"ZV\1\0\0\0\1", 7, "a block has invalid sizes"}};
        for (size_t i = 0; i < ARRAY_SIZE(blocks); i++) {
                CASE_LABEL("block %zu", i);
                test_write_file("a.lzf", blocks[i].data, blocks[i].size, "w");
                test_log_open(&t, "a.lzf");
                assert_int_equal(test_log_read(&t), -EBADMSG);
                assert_non_null(strstr(error_message(&t.error), blocks[i].problem));
                test_log_close(&t);
        }
}

static void test_stream_of_a_rolling_log(void **state)
{
        struct test_log t;
        _cleanup_(buf_deinit) struct buf line = BUF_INIT;
        test_write_text("roll/appstatus_a.inprogress", "");
        test_put_line(&line, 1);
        test_write_text("roll/events_1_a", line.data);
        line.data[20] = 0;
        test_write_text("roll/events_2_a", line.data);
        test_log_open(&t, "roll");
        assert_int_equal(test_log_read(&t), 0);
        assert_int_equal(t.sum, 1);
        /* The second file grows, and a third one begins. */
        line.data[20] = '"';
        buf_reset(&line);
        test_put_line(&line, 10);
        test_write_text("roll/events_2_a", line.data);
        test_write_text("roll/events_3_a", line.data);
        test_log_look_again(&t, "roll");
        assert_int_equal(test_log_read(&t), 0);
        assert_int_equal(t.sum, 21);
        /* Compaction replaces the file that was read. */
        _cleanup_free_ char *third = temp_dir_path("roll/events_3_a"),
                            *fourth = temp_dir_path("roll/events_4_a.compact");
        assert_int_equal(rename(third, fourth), 0);
        test_log_look_again(&t, "roll");
        assert_int_equal(test_log_read(&t), -ESTALE);
        test_log_close(&t);
}

static void test_stream_begins_at_the_tail(void **state)
{
        struct test_log t;
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        for (int ms = 1; ms <= 1000; ms *= 10)
                test_put_line(&text, ms);
        test_write_text("tail", text.data);
        test_log_open(&t, "tail");
        assert_false(event_log_stream_seek_tail(t.stream, &t.log, 1 << 20));
        assert_true(event_log_stream_seek_tail(t.stream, &t.log, 250));
        assert_int_equal(test_log_read(&t), 0);
        assert_int_equal(t.sum, 1100);
        assert_int_equal(event_reader_counts(t.reader).damaged, 0);
        test_log_close(&t);
}

/* A stream goes on where another one was, also in the middle of a line. */
static void test_stream_resumes(void **state)
{
        struct test_log t;
        struct event_log_position position, wrong;
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        test_put_line(&text, 1);
        size_t line = text.len;
        test_put_line(&text, 10);
        test_put_line(&text, 100);
        test_write_text("resume/appstatus_a.inprogress", "");
        test_write_text("resume/events_1_a", text.data);
        test_write_file("resume/events_2_a", text.data, line + line / 2, "w");
        test_log_open(&t, "resume");
        assert_false(event_log_stream_position(t.stream, &position)); /* nothing was read */
        assert_int_equal(test_log_read(&t), 0);
        assert_int_equal(t.sum, 112);
        assert_true(event_log_stream_position(t.stream, &position));
        assert_int_equal(position.number, 2);
        assert_int_equal(position.text, line);
        test_log_close(&t);
        test_write_text("resume/events_2_a", text.data);
        test_log_open(&t, "resume");
        assert_true(event_log_stream_resume(t.stream, &t.log, &position));
        assert_int_equal(test_log_read(&t), 0);
        assert_int_equal(t.sum, 110);
        assert_true(event_log_stream_position(t.stream, &position));
        assert_int_equal(position.text, text.len);
        test_log_close(&t);
        /* The log is read from its beginning after a refusal. */
        for (int i = 0; i < 5; i++) {
                CASE_LABEL("wrong position %d", i);
                wrong = position;
                wrong.number += i == 0 ? 5 : 0;
                wrong.text += i == 1;
                wrong.checksum ^= i == 2;
                wrong.head += i == 3 ? 1 : i == 4 ? 1 << 30 : 0;
                test_log_open(&t, "resume");
                assert_false(event_log_stream_resume(t.stream, &t.log, &wrong));
                assert_int_equal(test_log_read(&t), 0);
                assert_int_equal(t.sum, 222);
                test_log_close(&t);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_java_blocks_round_trip),    cmocka_unit_test(test_java_blocks_refuses_damage),
                cmocka_unit_test(test_lists_logs_of_a_directory), cmocka_unit_test(names_rolling_logs_that_cannot_be_listed),
                cmocka_unit_test(test_codec_of_names),
                cmocka_unit_test(test_streams_of_growing_files),  cmocka_unit_test(test_stream_of_a_truncated_file),
                cmocka_unit_test(test_stream_of_a_rolling_log),   cmocka_unit_test(test_stream_begins_at_the_tail),
                cmocka_unit_test(test_stream_resumes),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
