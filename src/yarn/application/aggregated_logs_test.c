/* Files of aggregated logs: plain and compressed ones, long values in chunks, and damaged files. */
#include "yarn/application/aggregated_logs.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "io/codec/codec.h"
#include "io/fs/file_systems.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/aggregated_logs_test.XXXXXX";

/* ---------------------------------------------------------------------------------------------------------- writing */

static void put_number(struct buf *b, int64_t n)
{
        if (n >= -32 && n < 128) {
                buf_putc(b, (char)n);
                return;
        }
        if (n >= -20 * 256 && n < 20 * 256) {
                buf_putc(b, (char)((n >> 8) - 52));
                buf_putc(b, (char)n);
                return;
        }
        buf_putc(b, (char)(4 - 129)); /* four bytes */
        for (int shift = 24; shift >= 0; shift -= 8)
                buf_putc(b, (char)(n >> shift));
}

static void put_text(struct buf *b, const char *text)
{
        put_number(b, (int64_t)strlen(text));
        buf_puts(b, text);
}

static void put_utf(struct buf *b, const char *text)
{
        buf_putc(b, (char)(strlen(text) >> 8));
        buf_putc(b, (char)strlen(text));
        buf_puts(b, text);
}

static void put_log(struct buf *value, const char *name, const char *text)
{
        char number[32];
        snprintf(number, sizeof(number), "%zu", strlen(text));
        put_utf(value, name);
        put_utf(value, number);
        buf_puts(value, text);
}

/* A record whose value comes in chunks of @chunk bytes. */
static void put_record(struct buf *block, const char *key, const struct buf *value, size_t chunk)
{
        size_t done = 0;
        put_number(block, (int64_t)strlen(key) + 2);
        put_utf(block, key);
        for (; value->len - done > chunk; done += chunk) {
                put_number(block, -(int64_t)chunk);
                buf_append(block, value->data + done, chunk);
        }
        put_number(block, (int64_t)(value->len - done));
        buf_append(block, value->data + done, value->len - done);
}

static void save(const struct buf *text)
{
        FILE *f = fopen(path, "wb");
        assert_non_null(f);
        assert_int_equal(fwrite(text->data, 1, text->len, f), text->len);
        fclose(f);
}

/* The zlib stream of @text. */
static void compress_text(const struct buf *text, struct buf *out)
{
        const struct file_system *fs;
        struct open_file file = OPEN_FILE_INIT;
        _cleanup_free_ char *url = mem_printf("file:%s", path);
        struct encoder *e = encoder_new();
        char piece[4096];
        assert_int_equal(file_system_of(url, &fs, NULL), 0);
        assert_int_equal(fs->create(fs, url, &file, NULL), 0);
        assert_int_equal(encoder_start(e, CODEC_DEFLATE, &file, NULL), 0);
        assert_int_equal(encoder_write(e, text->data, text->len, NULL), 0);
        assert_int_equal(encoder_end(e, NULL), 0);
        encoder_free(e);
        assert_int_equal(fs->close(&file, NULL), 0);
        FILE *f = fopen(path, "rb");
        for (size_t n; (n = fread(piece, 1, sizeof(piece), f)) > 0;)
                buf_append(out, piece, n);
        fclose(f);
}

/* A file of one block with @records. */
static void build_file(const struct buf *records, const char *codec, struct buf *out)
{
        static const unsigned char magic[] = {0,    1,    0,    0,    0xd1, 0x11, 0xd3, 0x68, 0x91, 0xb5,
                                              0xd7, 0xb6, 0x39, 0xdf, 0x41, 0x40, 0x92, 0xba, 0xe1, 0x50};
        _cleanup_(buf_deinit) struct buf index = BUF_INIT, packed = BUF_INIT;
        const bool gz = strcmp(codec, "gz") == 0;
        if (gz)
                compress_text(records, out);
        else
                buf_append(out, records->data, records->len);
        const size_t block = out->len;
        put_text(&index, codec);
        put_number(&index, 1);
        put_number(&index, 0);
        put_number(&index, (int64_t)block);
        put_number(&index, (int64_t)records->len);
        if (gz)
                compress_text(&index, &packed);
        buf_append(out, gz ? packed.data : index.data, gz ? packed.len : index.len);
        const size_t meta = out->len;
        put_number(out, 2);
        put_text(out, "data:TFile.meta");
        put_text(out, "none");
        put_number(out, 0);
        put_number(out, 0);
        put_number(out, 0);
        put_text(out, "data:BCFile.index");
        put_text(out, codec);
        put_number(out, (int64_t)block);
        put_number(out, (int64_t)(meta - block));
        put_number(out, (int64_t)index.len);
        for (int shift = 56; shift >= 0; shift -= 8)
                buf_putc(out, (char)((uint64_t)meta >> shift));
        buf_append(out, magic, sizeof(magic));
}

/* Two containers with three logs, one of them long. */
static void build_logs(const char *codec, size_t chunk, struct buf *out)
{
        _cleanup_(buf_deinit) struct buf records = BUF_INIT, value = BUF_INIT, text = BUF_INIT;
        for (int i = 0; i < 20000; i++)
                buf_printf(&text, "line %d\n", i);
        buf_append(&value, "\0\0\0\1", 4);
        put_record(&records, "VERSION", &value, chunk);
        buf_reset(&value);
        put_log(&value, "stderr", buf_text(&text));
        put_log(&value, "stdout", "");
        put_record(&records, "container_1_0001_01_000001", &value, chunk);
        buf_reset(&value);
        put_log(&value, "std\x1b[31m", "red");
        put_record(&records, "container_1_0001_01_000002", &value, chunk);
        build_file(&records, codec, out);
}

/* A number of @size bytes, big-endian. */
static void put_be(struct buf *b, uint64_t n, int size)
{
        for (int shift = 8 * (size - 1); shift >= 0; shift -= 8)
                buf_putc(b, (char)(n >> shift));
}

/* An object of Java whose class has @fields: their types and names, "Jsize". Their values follow. */
static void put_object(struct buf *b, const char *class, int flags, const char *const *fields, int n)
{
        buf_puts(b, "sr");
        put_utf(b, class);
        put_be(b, 1, 8);
        buf_putc(b, (char)flags);
        put_be(b, (uint64_t)n, 2);
        for (int i = 0; i < n; i++) {
                buf_putc(b, fields[i][0]);
                put_utf(b, fields[i] + 1);
                if (fields[i][0] != 'L')
                        continue;
                buf_putc(b, 't');
                put_utf(b, "Ljava/lang/Object;");
        }
        buf_puts(b, "xp");
}

static void put_string(struct buf *b, const char *text)
{
        buf_putc(b, 't');
        put_utf(b, text);
}

/* A list or map: its items follow, then 'x'. */
static void put_collection(struct buf *b)
{
        put_object(b, "java.util.ArrayList", 3, NULL, 0);
}

/* IndexedFormat with one round of aggregation: two logs of a container. */
static void build_indexed(const char *codec, size_t mark, struct buf *out)
{
        static const char *const of_log[] = {"JfileCompressedSize", "JfileSize", "JstartIndex", "LcontainerId",
                                             "LfileName"};
        static const char *const of_index[] = {"LcompressName", "LlogMetas"}, *const of_round[] = {"LlogMetas"};
        static const char *const names[] = {"stderr", "std\x1b[31m"};
        char marks[40];
        _cleanup_(buf_deinit) struct buf index = BUF_INIT;
        for (size_t i = 0; i < sizeof(marks); i++)
                marks[i] = (char)('0' + i);
        buf_append(out, marks, mark);
        buf_puts(&index, "\xac\xed");
        put_be(&index, 5, 2);
        put_object(&index, "IndexedLogsMeta", 2, of_index, 2);
        put_string(&index, codec);
        put_collection(&index);
        put_object(&index, "IndexedPerAggregationLogMeta", 2, of_round, 1);
        put_collection(&index);
        put_string(&index, "container_1_0001_01_000001");
        put_collection(&index);
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
                _cleanup_(buf_deinit) struct buf text = BUF_INIT;
                const size_t start = out->len;
                for (int k = 0; k < (i ? 1 : 20000); k++)
                        buf_puts(&text, "abc");
                if (strcmp(codec, "gz") == 0)
                        compress_text(&text, out);
                else
                        buf_append(out, text.data, text.len);
                put_object(&index, "IndexedFileLogMeta", 2, of_log, 5);
                put_be(&index, out->len - start, 8);
                put_be(&index, text.len, 8);
                put_be(&index, start, 8);
                put_string(&index, "container_1_0001_01_000001");
                put_string(&index, names[i]);
        }
        buf_puts(&index, "xxx");
        buf_append(out, index.data, index.len);
        put_be(out, index.len, 4);
        buf_append(out, marks, mark);
}

/* ---------------------------------------------------------------------------------------------------------- reading */

struct collected {
        struct buf text;
        const char *only; /* NULL: all names */
        uint64_t bytes;
};

static bool collect_begin(void *owner, const struct aggregated_log *log)
{
        struct collected *c = owner;
        if (c->only && strcmp(c->only, log->name) != 0)
                return false;
        buf_printf(&c->text, "[%s %s %llu]", log->container, log->name, (unsigned long long)log->length);
        return true;
}

static int collect_data(void *owner, const char *data, size_t n)
{
        struct collected *c = owner;
        c->bytes += n;
        if (n < 10)
                buf_append(&c->text, data, n);
        return 0;
}

static int collect_end(void *owner)
{
        struct collected *c = owner;
        buf_putc(&c->text, ';');
        return 0;
}

static int collect_refuse(void *owner, const char *data, size_t n)
{
        return -ENOSPC;
}

static const struct aggregated_logs_ops collect_ops = {
        .begin = collect_begin, .data = collect_data, .end = collect_end};

static int read_file(const struct buf *bytes, const struct aggregated_logs_ops *ops, struct collected *c,
                     struct fst_error *error)
{
        const struct file_system *fs;
        struct open_file file = OPEN_FILE_INIT;
        _cleanup_free_ char *url = mem_printf("file:%s", path);
        save(bytes);
        assert_int_equal(file_system_of(url, &fs, NULL), 0);
        assert_int_equal(fs->open(fs, url, &file, NULL), 0);
        const int r = aggregated_logs_read(&file, ops, c, error);
        fs->close(&file, NULL);
        return r;
}

static void logs_are_passed_in_order(void **state)
{
        static const char *const codecs[] = {"none", "gz"};
        static const size_t chunks[] = {1, 100, 1 << 20};
        for (size_t i = 0; i < ARRAY_SIZE(codecs); i++) {
                for (size_t k = 0; k < ARRAY_SIZE(chunks); k++) {
                        _cleanup_(buf_deinit) struct buf file = BUF_INIT;
                        struct collected c = {.text = BUF_INIT};
                        build_logs(codecs[i], chunks[k], &file);
                        assert_int_equal(read_file(&file, &collect_ops, &c, NULL), 0);
                        assert_int_equal(c.bytes, 208890 + 3);
                        assert_non_null(strstr(buf_text(&c.text), "[container_1_0001_01_000001 stderr 208890]"));
                        assert_non_null(strstr(buf_text(&c.text), ";[container_1_0001_01_000001 stdout 0];"));
                        buf_deinit(&c.text);
                }
        }
}

static void indexed_files_are_read(void **state)
{
        static const char *const codecs[] = {"none", "gz"};
        static const size_t marks[] = {32, 36};
        for (size_t i = 0; i < ARRAY_SIZE(codecs); i++)
                for (size_t k = 0; k < ARRAY_SIZE(marks); k++) {
                        _cleanup_(buf_deinit) struct buf file = BUF_INIT;
                        struct collected c = {.text = BUF_INIT};
                        build_indexed(codecs[i], marks[k], &file);
                        assert_int_equal(read_file(&file, &collect_ops, &c, NULL), 0);
                        assert_int_equal(c.bytes, 60000 + 3);
                        assert_non_null(strstr(buf_text(&c.text), "[container_1_0001_01_000001 stderr 60000]"));
                        assert_non_null(strstr(buf_text(&c.text), ";[container_1_0001_01_000001 std?[31m 3]abc;"));
                        buf_deinit(&c.text);
                }
}

static void damaged_indexed_files_are_errors(void **state)
{
        _cleanup_(buf_deinit) struct buf file = BUF_INIT;
        build_indexed("none", 32, &file);
        for (size_t at = 0; at<file.len; at += file.len - at> 1200 ? 997 : 1) {
                struct fst_error error = FST_ERROR_INIT;
                struct collected c = {.text = BUF_INIT};
                const char before = file.data[at];
                file.data[at] = (char)(before ^ 0xff);
                const int r = read_file(&file, &collect_ops, &c, &error);
                assert_true(r == 0 || ((r == -EBADMSG || r == -ENOTSUP) && error.message));
                file.data[at] = before;
                error_deinit(&error);
                buf_deinit(&c.text);
        }
}

static void unwanted_logs_are_passed_over(void **state)
{
        _cleanup_(buf_deinit) struct buf file = BUF_INIT;
        struct collected c = {.text = BUF_INIT, .only = "std?[31m"}; /* control characters are replaced */
        build_logs("none", 1000, &file);
        assert_int_equal(read_file(&file, &collect_ops, &c, NULL), 0);
        assert_string_equal(buf_text(&c.text), "[container_1_0001_01_000002 std?[31m 3]red;");
        buf_deinit(&c.text);
}

static void the_receiver_ends_the_reading(void **state)
{
        _cleanup_(buf_deinit) struct buf file = BUF_INIT;
        struct aggregated_logs_ops ops = collect_ops;
        struct collected c = {.text = BUF_INIT};
        ops.data = collect_refuse;
        build_logs("gz", 1000, &file);
        assert_int_equal(read_file(&file, &ops, &c, NULL), -ENOSPC);
        buf_deinit(&c.text);
}

static void damaged_files_are_errors(void **state)
{
        _cleanup_(buf_deinit) struct buf file = BUF_INIT;
        build_logs("none", 4000, &file);
        for (size_t at = 0; at<file.len; at += file.len - at> 500 ? 997 : 1) {
                struct fst_error error = FST_ERROR_INIT;
                struct collected c = {.text = BUF_INIT};
                const char before = file.data[at];
                file.data[at] = (char)(before ^ 0xff);
                const int r = read_file(&file, &collect_ops, &c, &error);
                assert_true(r == 0 || r == -EBADMSG || r == -ENOTSUP);
                assert_true(r == 0 || error.message);
                file.data[at] = before;
                error_deinit(&error);
                buf_deinit(&c.text);
        }
        for (size_t len = 0; len < 200; len++) {
                struct fst_error error = FST_ERROR_INIT;
                struct collected c = {.text = BUF_INIT};
                struct buf head = {.data = file.data, .len = len};
                assert_int_equal(read_file(&head, &collect_ops, &c, &error), -EBADMSG);
                error_deinit(&error);
                buf_deinit(&c.text);
        }
}

static void another_compression_is_named(void **state)
{
        _cleanup_(buf_deinit) struct buf file = BUF_INIT;
        struct fst_error error = FST_ERROR_INIT;
        struct collected c = {.text = BUF_INIT};
        build_logs("lzo", 1000, &file);
        assert_int_equal(read_file(&file, &collect_ops, &c, &error), -ENOTSUP);
        assert_non_null(strstr(error_message(&error), "\"lzo\", which Firesteel does not read"));
        error_deinit(&error);
        buf_reset(&file);
        build_indexed("lzo", 32, &file);
        assert_int_equal(read_file(&file, &collect_ops, &c, &error), -ENOTSUP);
        assert_non_null(strstr(error_message(&error), "\"lzo\", which Firesteel does not read"));
        error_deinit(&error);
        buf_deinit(&c.text);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(logs_are_passed_in_order),         cmocka_unit_test(unwanted_logs_are_passed_over),
                cmocka_unit_test(the_receiver_ends_the_reading),    cmocka_unit_test(damaged_files_are_errors),
                cmocka_unit_test(another_compression_is_named),     cmocka_unit_test(indexed_files_are_read),
                cmocka_unit_test(damaged_indexed_files_are_errors),
        };
        const int fd = mkstemp(path);
        if (fd < 0)
                return 1;
        close(fd);
        const int failed = cmocka_run_group_tests(tests, NULL, NULL);
        unlink(path);
        return failed;
}
